//! Asks with the clients that cynic generated: tables, native types, Relay.

use cynic::http::ReqwestExt;
use cynic::{GraphQlResponse, MutationBuilder, Operation, QueryBuilder, SubscriptionBuilder};
use futures_util::StreamExt;
use graphql_ws_client::Client;
use std::error::Error;
use std::fmt::Debug;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;

/// Declares a module with what was generated of the schema `$name`.
macro_rules! generated {
    ($name:ident, $text:literal) => {
        #[allow(dead_code, non_snake_case)]
        mod $name {
            include!(concat!(env!("OUT_DIR"), "/", $text, ".rs"));

            #[cynic::schema($text)]
            pub mod schema {}
        }
    };
}

generated!(tables, "tables");
generated!(native, "native");
generated!(relay, "relay");

/// A number of the database.
#[derive(cynic::Scalar, Clone, Debug)]
#[cynic(graphql_type = "numeric", schema_module = "tables::schema")]
pub struct Price(pub f64);

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Prints what an answer holds; one with errors ends the program.
fn show<T: Debug>(name: &str, answer: GraphQlResponse<T>) -> Outcome<()> {
    if let Some(errors) = answer.errors {
        return Err(format!("{name}: {errors:?}").into());
    }
    println!("{name} {:?}", answer.data.ok_or("no data")?);
    Ok(())
}

async fn ask<T, V>(name: &str, url: &str, operation: Operation<T, V>) -> Outcome<()>
where
    T: Debug + serde::de::DeserializeOwned + 'static,
    V: serde::Serialize,
{
    show(name, reqwest::Client::new().post(url).run_graphql(operation).await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let urls: Vec<String> = std::env::args().skip(1).collect();
    let [tables, native, relay] = &urls[..] else { return Err("three addresses".into()) };
    ask_tables(tables).await?;
    ask_native(native).await?;
    ask_relay(relay).await
}

async fn ask_tables(url: &str) -> Outcome<()> {
    use tables::{AddArtist, AddArtistVariables, AlbumsOf, AlbumsOfVariables, ArtistInsertInput, WatchArtist, WatchArtistVariables};
    ask("tables", url, AlbumsOf::build(AlbumsOfVariables { name: "AC/DC", limit: Some(1) })).await?;
    let object = ArtistInsertInput { artist_id: Some(9003), name: Some("cynic"), artist__albums: None };
    ask("tables", url, AddArtist::build(AddArtistVariables { object })).await?;
    let mut request = url.replacen("http", "ws", 1).into_client_request()?;
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("graphql-transport-ws"));
    let (socket, _) = tokio_tungstenite::connect_async(request).await?;
    let mut events = Client::build(socket).subscribe(WatchArtist::build(WatchArtistVariables { id: 9003 })).await?;
    show("tables", events.next().await.ok_or("no event")??)
}

async fn ask_native(url: &str) -> Outcome<()> {
    use native::{AddCountry, AddCountryInput, AddCountryVariables, CitiesOf, CitiesOfVariables, CityRef};
    let city = CityRef { cid: None, id: Some("cy1"), name: Some("First"), country: None, restaurants: None };
    let input = vec![AddCountryInput { id: "cy", name: "Cynic", cities: Some(vec![Some(city)]) }];
    ask("native", url, AddCountry::build(AddCountryVariables { input })).await?;
    ask("native", url, CitiesOf::build(CitiesOfVariables { id: "cy" })).await
}

async fn ask_relay(url: &str) -> Outcome<()> {
    use relay::{AddGenre, AddGenreVariables, AlbumPage, AlbumPageVariables, GenreInsertInput};
    let object = GenreInsertInput { genre_id: Some(903), name: Some("cynic"), genre__tracks: None };
    ask("relay", url, AddGenre::build(AddGenreVariables { object })).await?;
    ask("relay", url, AlbumPage::build(AlbumPageVariables { first: 2, after: None })).await
}
