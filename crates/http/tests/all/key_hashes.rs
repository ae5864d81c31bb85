//! A key of a batch is hashed at most twice on its way: among the keys of its level, unless they are ascending numbers, and as the key of
//! its answer.

use crate::served_kit::engine;
use crate::wire_kit::{self, Service};
use std::fmt::Write;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Engine, Request};
use weir_engine::keys::hashed_by_this_thread;

const SDL: &str = r#"
extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache"])
  @source(name: "s", http: {baseURL: "http://upstream"})
  @cache(source: "s", default: 3600)
type Query { games: [Game] @connect(source: "s", http: {GET: "/games"}, selection: "home: {id: home} away: {id: away}") }
type Game { home: Team away: Team }
type Team
  @connect(source: "s", http: {GET: "/teams", queryParams: "id: $batch.id"}, batch: {maxSize: 5000}, selection: "id name") {
  id: Int!
  name: String
}
"#;

/// The order of the teams in the games.
#[derive(Clone, Copy, Debug)]
enum Order {
    Ascending,
    Descending,
}

impl Order {
    /// The teams at home in as many games, then those away, as far as they are asked for.
    fn teams(self, games: usize, keys_per_game: usize) -> Vec<usize> {
        let side = |side: usize| -> Vec<usize> {
            let teams = side * games..(side + 1) * games;
            match self {
                Self::Ascending => teams.collect(),
                Self::Descending => teams.rev().collect(),
            }
        };
        (0..keys_per_game).flat_map(side).collect()
    }
}

/// As many games, each between two teams of its own.
fn games(games: usize, order: Order) -> String {
    let teams = order.teams(games, 2);
    let game = |at: usize| format!(r#"{{"home":{},"away":{}}}"#, teams[at], teams[games + at]);
    format!("[{}]", (0..games).map(game).collect::<Vec<_>>().join(","))
}

/// The teams in the order they are asked for: those of other orders are found by a hash more.
fn teams(teams: &[usize]) -> String {
    let mut text = String::from("[");
    for (at, id) in teams.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, r#"{comma}{{"id":{id},"name":"team {id}"}}"#).unwrap();
    }
    text + "]"
}

/// Number of keys that a request hashes.
async fn count_hashes(engine: &Engine, query: &str) -> u64 {
    let before = hashed_by_this_thread();
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    engine.execute(request, &engine.caller(&Identity::admin())).await;
    hashed_by_this_thread() - before
}

/// Keys hashed for each of the keys of a batch: by requests that miss the cache, and that hit it.
async fn check(query: &str, keys_per_game: usize, order: Order, expected: (u64, u64)) {
    /// Games of the smaller and the larger request.
    const GAMES: [usize; 2] = [100, 300];
    let mut seen = Vec::new();
    for count in GAMES {
        let service = Service::start(move |nth| {
            let body = match nth {
                0 => games(count, order),
                _ => teams(&order.teams(count, keys_per_game)),
            };
            wire_kit::answer("200 OK", "", &body)
        });
        let engine = engine(SDL, &service);
        let missed = count_hashes(&engine, query).await;
        // Another text, so that the answer is not found whole.
        let hit = count_hashes(&engine, &format!("{query} #")).await;
        assert_eq!(service.calls(), 2, "the games, and one batch");
        seen.push((missed, hit));
    }
    let keys = ((GAMES[1] - GAMES[0]) * keys_per_game) as u64;
    let per_key = ((seen[1].0 - seen[0].0).div_ceil(keys), (seen[1].1 - seen[0].1).div_ceil(keys));
    assert_eq!(per_key, expected, "{query}, {order:?}: {seen:?}");
}

#[tokio::test]
async fn a_key_of_a_batch_is_hashed_twice_and_one_of_ascending_numbers_once() {
    let query = "{ games { home { name } } }";
    check(query, 1, Order::Descending, (2, 2)).await;
    check(query, 1, Order::Ascending, (1, 1)).await;
}

#[tokio::test]
async fn so_is_a_key_that_several_fields_may_want() {
    let query = "{ games { home { name } away { name } } }";
    check(query, 2, Order::Descending, (2, 2)).await;
    check(query, 2, Order::Ascending, (1, 1)).await;
}
