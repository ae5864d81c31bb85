// Asks with the classes that graphql-java-codegen generated: tables, native types, Relay.
package kit;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.kobylynskyi.graphql.codegen.model.graphql.GraphQLOperationRequest;
import com.kobylynskyi.graphql.codegen.model.graphql.GraphQLRequest;
import com.kobylynskyi.graphql.codegen.model.graphql.GraphQLResponseProjection;
import com.kobylynskyi.graphql.codegen.model.graphql.GraphQLResult;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import kit.of_native.*;
import kit.of_relay.AlbumConnectionResponseProjection;
import kit.of_relay.AlbumEdgeResponseProjection;
import kit.of_relay.Album_connectionQueryRequest;
import kit.of_relay.Album_connectionQueryResponse;
import kit.of_relay.GenreResponseProjection;
import kit.of_relay.Genre_insert_input;
import kit.of_relay.Insert_Genre_oneMutationRequest;
import kit.of_relay.Insert_Genre_oneMutationResponse;
import kit.of_relay.PageInfoResponseProjection;
import kit.of_tables.*;

public class Main {
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    // Names as they are in the schema, which may begin with a capital.
    static final ObjectMapper MAPPER = new ObjectMapper().setVisibility(PropertyAccessor.FIELD, Visibility.ANY)
        .setVisibility(PropertyAccessor.GETTER, Visibility.NONE).setVisibility(PropertyAccessor.SETTER, Visibility.NONE)
        .setVisibility(PropertyAccessor.IS_GETTER, Visibility.NONE).disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    /** What the answer to a request holds; one with errors ends the program. */
    static <T extends GraphQLResult<?>> T read(String name, String text, Class<T> type) throws Exception {
        T result = MAPPER.readValue(text, type);
        if (result.hasErrors() || result.getData() == null) {
            throw new IllegalStateException(name + ": " + text);
        }
        System.out.println(name + " " + result.getData());
        return result;
    }

    static <T extends GraphQLResult<?>> T ask(String name, String url, GraphQLOperationRequest request, GraphQLResponseProjection fields, Class<T> type)
        throws Exception {
        String body = new GraphQLRequest(request, fields).toHttpJsonBody();
        HttpRequest post = HttpRequest.newBuilder(URI.create(url)).header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        return read(name, CLIENT.send(post, HttpResponse.BodyHandlers.ofString()).body(), type);
    }

    /** The first event of a subscription: the generator has no transport of its own. */
    static String watch(String url, String body) throws Exception {
        CompletableFuture<String> acknowledgement = new CompletableFuture<>();
        CompletableFuture<String> event = new CompletableFuture<>();
        WebSocket.Listener listener = new WebSocket.Listener() {
            final StringBuilder message = new StringBuilder();

            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean isLast) {
                socket.request(1);
                message.append(data);
                if (!isLast) {
                    return null;
                }
                String text = message.toString();
                message.setLength(0);
                try {
                    String type = MAPPER.readTree(text).get("type").textValue();
                    if (type.equals("connection_ack")) {
                        acknowledgement.complete(text);
                        return null;
                    }
                    event.complete(type.equals("next") ? MAPPER.readTree(text).get("payload").toString() : text);
                } catch (Exception it) {
                    event.completeExceptionally(it);
                }
                return null;
            }

            @Override
            public void onError(WebSocket socket, Throwable error) {
                acknowledgement.completeExceptionally(error);
                event.completeExceptionally(error);
            }
        };
        WebSocket socket = CLIENT.newWebSocketBuilder().subprotocols("graphql-transport-ws").buildAsync(URI.create(url), listener).join();
        socket.sendText("{\"type\":\"connection_init\"}", true).join();
        // Sent from here and not from the listener: an answer can be heard before its message counts as sent, and one message at a time may be.
        acknowledgement.get(30, TimeUnit.SECONDS);
        socket.sendText("{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":" + body + "}", true).join();
        String text = event.get(30, TimeUnit.SECONDS);
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
        return text;
    }

    static void askTables(String url) throws Exception {
        TrackResponseProjection tracks = new TrackResponseProjection().Name().UnitPrice();
        AlbumResponseProjection albums = new AlbumResponseProjection().AlbumId().Title().Album_Tracks(new AlbumAlbum_TracksParametrizedInput()
            .limit(2).order_by(List.of(Track_order_by.builder().setTrackId(Order_by.asc).build())), tracks);
        ArtistResponseProjection artists = new ArtistResponseProjection().ArtistId().Name().Artist_Albums(new ArtistArtist_AlbumsParametrizedInput()
            .limit(1).order_by(List.of(Album_order_by.builder().setAlbumId(Order_by.asc).build())), albums);
        Artist_bool_exp named = Artist_bool_exp.builder().setName(String_comparison_exp.builder().set_eq("AC/DC").build()).build();
        ArtistQueryResponse found = ask("tables", url, ArtistQueryRequest.builder().setWhere(named).build(), artists, ArtistQueryResponse.class);
        System.out.println("tables price " + found.Artist().get(0).getArtist_Albums().get(0).getAlbum_Tracks().get(0).getUnitPrice());
        ArtistResponseProjection fields = new ArtistResponseProjection().ArtistId().Name();
        Artist_insert_input artist = Artist_insert_input.builder().setArtistId(9005).setName("graphql-java \"5.10\"").build();
        ask("tables", url, Insert_Artist_oneMutationRequest.builder().setObject(artist).build(), fields, Insert_Artist_oneMutationResponse.class);
        Artist_by_pkSubscriptionRequest watched = Artist_by_pkSubscriptionRequest.builder().setArtistId(9005).build();
        String event = watch(url.replaceFirst("http", "ws"), new GraphQLRequest(watched, fields).toHttpJsonBody());
        read("tables", event, Artist_by_pkSubscriptionResponse.class);
    }

    static void askNative(String url) throws Exception {
        AddCountryInput country = AddCountryInput.builder().setId("gj").setName("Graphql-Java")
            .setCities(List.of(CityRef.builder().setId("gj1").setName("First").build())).build();
        AddCountryPayloadResponseProjection made = new AddCountryPayloadResponseProjection().numUids().country(new CountryResponseProjection().name());
        ask("native", url, AddCountryMutationRequest.builder().setInput(List.of(country)).setUpsert(true).build(), made, AddCountryMutationResponse.class);
        CountryCitiesParametrizedInput byName = new CountryCitiesParametrizedInput().order(CityOrder.builder().setAsc(CityOrderable.name).build());
        CountryResponseProjection fields = new CountryResponseProjection().name().cities(byName, new CityResponseProjection().id().name());
        CountryFilter filter = CountryFilter.builder().setId(StringHashFilter.builder().setEq("gj").build()).build();
        ask("native", url, QueryCountryQueryRequest.builder().setFilter(filter).build(), fields, QueryCountryQueryResponse.class);
    }

    static void askRelay(String url) throws Exception {
        Genre_insert_input genre = Genre_insert_input.builder().setGenreId(905).setName("graphql-java").build();
        GenreResponseProjection made = new GenreResponseProjection().id().Name();
        ask("relay", url, Insert_Genre_oneMutationRequest.builder().setObject(genre).build(), made, Insert_Genre_oneMutationResponse.class);
        kit.of_relay.Album_order_by order = kit.of_relay.Album_order_by.builder().setAlbumId(kit.of_relay.Order_by.asc).build();
        AlbumConnectionResponseProjection page = new AlbumConnectionResponseProjection()
            .pageInfo(new PageInfoResponseProjection().hasNextPage().endCursor())
            .edges(new AlbumEdgeResponseProjection().cursor().node(new kit.of_relay.AlbumResponseProjection().id().Title()));
        Album_connectionQueryRequest first = Album_connectionQueryRequest.builder().setFirst(2).setOrder_by(List.of(order)).build();
        ask("relay", url, first, page, Album_connectionQueryResponse.class);
    }

    public static void main(String[] addresses) throws Exception {
        askTables(addresses[0]);
        askNative(addresses[1]);
        askRelay(addresses[2]);
    }
}
