// Asks with the clients that Apollo Kotlin's compiler generated: tables, native types, Relay.

import com.apollographql.apollo.ApolloClient
import com.apollographql.apollo.api.ApolloResponse
import com.apollographql.apollo.api.Operation
import com.apollographql.apollo.api.Optional
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import of_kotlin.of_native.AddCountryMutation
import of_kotlin.of_native.CitiesOfQuery
import of_kotlin.of_native.type.AddCountryInput
import of_kotlin.of_native.type.CityRef
import of_kotlin.of_relay.AddGenreMutation
import of_kotlin.of_relay.AlbumPageQuery
import of_kotlin.of_relay.type.Genre_insert_input
import of_kotlin.of_tables.AddArtistMutation
import of_kotlin.of_tables.AlbumsOfQuery
import of_kotlin.of_tables.WatchArtistSubscription
import of_kotlin.of_tables.type.Artist_insert_input

fun <D : Operation.Data> show(name: String, response: ApolloResponse<D>) = println("$name ${response.dataOrThrow()}")

fun main(addresses: Array<String>) {
    val (tables, native, relay) = addresses
    runBlocking {
        val client = ApolloClient.Builder().serverUrl(tables).webSocketServerUrl(tables.replace("http", "ws")).build()
        show("tables", client.query(AlbumsOfQuery("AC/DC", Optional.present(1))).execute())
        val artist = Artist_insert_input(ArtistId = Optional.present(9004), Name = Optional.present("apollo"))
        show("tables", client.mutation(AddArtistMutation(artist)).execute())
        show("tables", client.subscription(WatchArtistSubscription(9004)).toFlow().first())
        // The models in Java, sent by the same runtime.
        show("tables", client.query(of_java.of_tables.AlbumsOfQuery("AC/DC", Optional.present(1))).execute())
        client.close()
        val types = ApolloClient.Builder().serverUrl(native).build()
        val city = CityRef(id = Optional.present("ap1"), name = Optional.present("First"))
        val country = AddCountryInput(id = "ap", name = "Apollo", cities = Optional.present(listOf(city)))
        show("native", types.mutation(AddCountryMutation(listOf(country))).execute())
        show("native", types.query(CitiesOfQuery("ap")).execute())
        show("native", types.query(of_java.of_native.CitiesOfQuery("ap")).execute())
        types.close()
        val pages = ApolloClient.Builder().serverUrl(relay).build()
        val genre = Genre_insert_input(GenreId = Optional.present(904), Name = Optional.present("apollo"))
        show("relay", pages.mutation(AddGenreMutation(genre)).execute())
        show("relay", pages.query(AlbumPageQuery(2)).execute())
        show("relay", pages.query(of_java.of_relay.AlbumPageQuery(2, Optional.absent())).execute())
        pages.close()
    }
}
