//! Posts and the match centre by async-graphql: axum before it, reqwest behind it, a DataLoader per field and request where a field
//! is asked once for each of its parents. PORT, UPSTREAM and BATCH (one call for all users of the posts) are set by who measures.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::dataloader::{DataLoader, Loader};
use async_graphql::{
    ComplexObject, Context, EmptyMutation, EmptySubscription, Object, Result, Schema, SimpleObject,
};
use async_graphql_axum::{GraphQLRequest, GraphQLResponse};
use axum::{Router, extract::State, routing::post};
use serde::{Deserialize, de::DeserializeOwned};

#[global_allocator]
static ALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Clone)]
struct Api {
    http: reqwest::Client,
    base: Arc<str>,
    batched: bool,
}

impl Api {
    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Arc<reqwest::Error>> {
        let url = format!("{}{path}", self.base);
        let rsp = self.http.get(url).send().await?.error_for_status()?;
        Ok(rsp.json().await?)
    }

    async fn by_ids<T: DeserializeOwned>(
        &self,
        path: &str,
        ids: &[i32],
    ) -> Result<Vec<T>, Arc<reqwest::Error>> {
        let query: Vec<String> = ids.iter().map(|i| format!("id={i}")).collect();
        self.get(&format!("{path}?{}", query.join("&"))).await
    }
}

macro_rules! by_id_loader {
    ($loader:ident, $value:ty, $path:literal) => {
        struct $loader(Api);
        impl Loader<i32> for $loader {
            type Value = $value;
            type Error = Arc<reqwest::Error>;
            async fn load(&self, ids: &[i32]) -> Result<HashMap<i32, $value>, Self::Error> {
                let rows: Vec<$value> = self.0.by_ids($path, ids).await?;
                Ok(rows.into_iter().map(|r| (r.id, r)).collect())
            }
        }
    };
}

by_id_loader!(Users, User, "/users");
by_id_loader!(Players, Player, "/players");

struct PostUsers(Api);

impl Loader<i32> for PostUsers {
    type Value = User;
    type Error = Arc<reqwest::Error>;
    async fn load(&self, ids: &[i32]) -> Result<HashMap<i32, User>, Self::Error> {
        let rows: Vec<User> = if self.0.batched {
            self.0.by_ids("/users", ids).await?
        } else {
            let each = ids.iter().map(|i| async move { self.0.get::<User>(&format!("/users/{i}")).await });
            futures_util::future::try_join_all(each).await?
        };
        Ok(rows.into_iter().map(|r| (r.id, r)).collect())
    }
}

struct Query;

#[Object]
impl Query {
    async fn greet(&self) -> &str {
        "Hello World!"
    }
    async fn posts(&self, ctx: &Context<'_>) -> Result<Vec<Post>> {
        Ok(api(ctx).get("/posts").await?)
    }
    #[graphql(name = "match")]
    async fn match_(&self, ctx: &Context<'_>, id: i32) -> Result<Match> {
        Ok(api(ctx).get(&format!("/matches/{id}")).await?)
    }
    async fn me(&self, ctx: &Context<'_>, id: i32) -> Result<User> {
        Ok(api(ctx).get(&format!("/users/{id}")).await?)
    }
}

fn api<'a>(ctx: &Context<'a>) -> &'a Api {
    ctx.data_unchecked()
}

#[derive(SimpleObject, Deserialize)]
#[graphql(complex)]
#[serde(rename_all = "camelCase")]
struct Post {
    id: i32,
    user_id: i32,
    title: String,
    body: String,
}

#[ComplexObject]
impl Post {
    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>> {
        Ok(ctx.data_unchecked::<DataLoader<PostUsers>>().load_one(self.user_id).await?)
    }
}

#[derive(SimpleObject, Deserialize, Clone)]
#[graphql(complex)]
struct User {
    id: i32,
    name: String,
    username: String,
    email: String,
    phone: Option<String>,
    website: Option<String>,
    avatar: Option<String>,
    city: Option<String>,
    level: Option<i32>,
}

#[ComplexObject]
impl User {
    async fn wallet(&self, ctx: &Context<'_>) -> Result<Wallet> {
        Ok(api(ctx).get(&format!("/users/{}/wallet", self.id)).await?)
    }
}

#[derive(SimpleObject, Deserialize)]
struct Wallet {
    currency: String,
    balance: f64,
    winnings: f64,
    bonus: i32,
}

#[derive(SimpleObject, Deserialize)]
#[graphql(complex)]
#[serde(rename_all = "camelCase")]
struct Match {
    id: i32,
    name: String,
    status: String,
    start_time: String,
    format: String,
    venue: String,
    home_team_id: i32,
    away_team_id: i32,
    squad: Vec<Slot>,
}

#[ComplexObject]
impl Match {
    async fn teams(&self, ctx: &Context<'_>) -> Result<Vec<Team>> {
        Ok(api(ctx).by_ids("/teams", &[self.home_team_id, self.away_team_id]).await?)
    }
    async fn score(&self, ctx: &Context<'_>) -> Result<Score> {
        Ok(api(ctx).get(&format!("/matches/{}/score", self.id)).await?)
    }
    async fn contests(&self, ctx: &Context<'_>) -> Result<Vec<Contest>> {
        Ok(api(ctx).get(&format!("/matches/{}/contests", self.id)).await?)
    }
    async fn leaderboard(&self, ctx: &Context<'_>) -> Result<Vec<Entry>> {
        Ok(api(ctx).get(&format!("/matches/{}/leaderboard", self.id)).await?)
    }
    async fn my_teams(&self, ctx: &Context<'_>, user: i32) -> Result<Vec<MyTeam>> {
        Ok(api(ctx).get(&format!("/users/{user}/matches/{}/teams", self.id)).await?)
    }
}

#[derive(SimpleObject, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Team {
    id: i32,
    name: String,
    short_name: String,
    flag: String,
    colour: String,
    rank: i32,
}

#[derive(SimpleObject, Deserialize)]
#[graphql(complex)]
#[serde(rename_all = "camelCase")]
struct Slot {
    slot: i32,
    captain: bool,
    player_id: i32,
}

#[ComplexObject]
impl Slot {
    async fn player(&self, ctx: &Context<'_>) -> Result<Option<Player>> {
        Ok(ctx.data_unchecked::<DataLoader<Players>>().load_one(self.player_id).await?)
    }
}

#[derive(SimpleObject, Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
struct Player {
    id: i32,
    name: String,
    country: String,
    role: String,
    credits: f64,
    selected_by: f64,
    points: i32,
    image_url: String,
    recent_form: Vec<i32>,
    is_playing: bool,
}

#[derive(SimpleObject, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Score {
    summary: String,
    required_rate: f64,
    innings: Vec<Innings>,
}

#[derive(SimpleObject, Deserialize)]
struct Innings {
    number: i32,
    runs: i32,
    wickets: i32,
    overs: f64,
    extras: i32,
    batters: Vec<Batter>,
}

#[derive(SimpleObject, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Batter {
    player_id: i32,
    runs: i32,
    balls: i32,
    fours: i32,
    sixes: i32,
    how_out: String,
}

#[derive(SimpleObject, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contest {
    id: i32,
    name: String,
    prize_pool: i32,
    entry_fee: i32,
    spots: i32,
    spots_left: i32,
    guaranteed: bool,
    multi_entry: i32,
    winners: i32,
    first_prize: i32,
    tag: String,
    prizes: Vec<Prize>,
}

#[derive(SimpleObject, Deserialize)]
struct Prize {
    from: i32,
    to: i32,
    amount: i32,
}

#[derive(SimpleObject, Deserialize)]
#[graphql(complex)]
#[serde(rename_all = "camelCase")]
struct Entry {
    rank: i32,
    points: f64,
    team_number: i32,
    user_id: i32,
}

#[ComplexObject]
impl Entry {
    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>> {
        Ok(ctx.data_unchecked::<DataLoader<Users>>().load_one(self.user_id).await?)
    }
}

#[derive(SimpleObject, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MyTeam {
    id: i32,
    name: String,
    captain_id: i32,
    vice_captain_id: i32,
    points: f64,
    credits: f64,
    rank: i32,
}

type Gql = Schema<Query, EmptyMutation, EmptySubscription>;

async fn graphql(State((schema, api)): State<(Gql, Api)>, req: GraphQLRequest) -> GraphQLResponse {
    let req = req
        .into_inner()
        .data(DataLoader::new(PostUsers(api.clone()), tokio::spawn))
        .data(DataLoader::new(Users(api.clone()), tokio::spawn))
        .data(DataLoader::new(Players(api), tokio::spawn));
    schema.execute(req).await.into()
}

#[tokio::main]
async fn main() {
    let api = Api {
        http: reqwest::Client::builder()
            .pool_max_idle_per_host(512)
            .tcp_nodelay(true)
            .tcp_keepalive(Duration::from_secs(60))
            .build()
            .expect("client"),
        base: std::env::var("UPSTREAM").expect("UPSTREAM is set").into(),
        batched: std::env::var("BATCH").is_ok_and(|v| v == "1"),
    };
    let port: u16 = std::env::var("PORT").expect("PORT is set").parse().expect("PORT is a number");
    let schema = Schema::build(Query, EmptyMutation, EmptySubscription).data(api.clone()).finish();
    let app = Router::new().route("/graphql", post(graphql)).with_state((schema, api));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.expect("bind");
    axum::serve(listener, app).await.expect("serve");
}
