//! Subscriptions to fields of services over real sockets: what asks the services again, and what does not.

use crate::live::{read_until, stream};
use crate::redis_kit::Redis;
use crate::sockets::{ACK, INIT, NEW, begin, hear, say, socket};
use crate::support::{Weir, body, command, message, until};
use crate::upstream_kit::{Upstream, answers};
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::WebSocket;

/// Players with their pets, which are rows of the database, and scores, of which nobody says how long they hold.
const SDL: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache", "@cacheTag", "@cacheControl", "@join"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query {
  player(id: Int!): Player @connect(source: "s", http: {GET: "/players/{$args.id}"}, selection: "id name petId") @cacheTag(format: "player-{$args.id}")
  brief: Brief @connect(source: "s", http: {GET: "/brief"}, selection: "word") @cacheControl(maxAge: 1)
  bare: Brief @connect(source: "s", http: {GET: "/bare"}, selection: "word")
}
type Mutation {
  rename(id: Int!): Player @connect(source: "s", http: {POST: "/players/{$args.id}"}, selection: "id name petId") @cacheTag(format: "player-{$args.id}")
}
type Player { id: Int! name: String petId: Int pet: pet @join(field: "pet_by_pk", arguments: "(id: $this.petId)") }
type Brief { word: String }
"#;

fn list_answers(name: &str, word: &str) -> String {
    format!(
        "- {{ask: GET /players/7, headers: {{cache-control: max-age=3600}}, answer: {{id: 7, name: {name}, petId: 1}}}}
- {{ask: GET /players/8, headers: {{cache-control: max-age=3600}}, answer: {{id: 8, name: Ann, petId: 2}}}}
- {{ask: POST /players/7, answer: {{id: 7, name: {name}, petId: 1}}}}
- {{ask: GET /brief, answer: {{word: {word}}}}}
- {{ask: GET /bare, answer: {{word: {word}}}}}
"
    )
}

/// A server of the services of `upstream` and of a database.
fn serve(upstream: &Upstream, settings: &str) -> Weir {
    Weir::with_services(SDL, upstream.address, &format!("limits: {{socket_init_s: 60}}\n{settings}"))
}

/// A socket on which one operation has begun.
fn subscribe(weir: &Weir, query: &str) -> WebSocket<TcpStream> {
    let mut socket = socket(weir, "/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "1", &body(query)));
    socket
}

struct Scene {
    upstream: Upstream,
    weir: Weir,
}

impl Scene {
    fn new(poll_ms: u32) -> Self {
        let upstream = Upstream::start(answers(&list_answers("Bob", "one")));
        let weir = serve(&upstream, &format!("live: {{poll_ms: {poll_ms}}}"));
        Self { upstream, weir }
    }

    fn subscribe(&self, query: &str) -> WebSocket<TcpStream> {
        subscribe(&self.weir, query)
    }

    fn lines(&self) -> Vec<String> {
        self.upstream.take_requests().into_iter().map(|it| it.line).collect()
    }
}

#[track_caller]
fn hears(socket: &mut WebSocket<TcpStream>, data: &str) {
    assert_eq!(hear(socket), format!(r#"{{"type":"next","id":"1","payload":{{"data":{{{data}}}}}}}"#));
}

/// So long that nothing of these tests comes by it.
const NEVER_MS: u32 = 3_600_000;

#[test]
fn tags_and_joined_rows_wake_a_field_of_a_service() {
    let scene = Scene::new(NEVER_MS);
    let player = |id: u32| format!("subscription {{ player(id: {id}) {{ name pet {{ name }} }} }}");
    let told = |name: &str, pet: &str| format!(r#""player":{{"name":"{name}","pet":{{"name":"{pet}"}}}}"#);
    let mut one = scene.subscribe(&player(7));
    let mut two = scene.subscribe(&player(8));
    hears(&mut one, &told("Bob", "Ada"));
    hears(&mut two, &told("Ann", "Bob"));
    assert_eq!(scene.lines(), ["GET /players/7", "GET /players/8"]);
    // A mutation of the service, by a tag with a value.
    scene.upstream.set(answers(&list_answers("Ben", "one")));
    assert!(scene.weir.query("mutation { rename(id: 7) { id } }").text().contains("7"));
    hears(&mut one, &told("Ben", "Ada"));
    // An operator, of a change that was made elsewhere.
    scene.upstream.set(answers(&list_answers("Bea", "one")));
    scene.weir.post("/v1/invalidate", &[], br#"{"tags": ["player-7"]}"#);
    hears(&mut one, &told("Bea", "Ada"));
    assert!(!scene.lines().contains(&"GET /players/8".to_owned()), "the other player was not asked for");
    // A row of the database, for which the service is not asked again.
    scene.weir.query(r#"mutation { update_pet_by_pk(pk_columns: {id: 2}, _set: {name: "Kit"}) { id } }"#);
    hears(&mut two, &told("Ann", "Kit"));
    assert_eq!(scene.lines(), Vec::<String>::new());
}

#[test]
fn a_change_at_another_weir_wakes_a_subscription_also_when_redis_was_gone_meanwhile() {
    let upstream = Upstream::start(answers(&list_answers("Bob", "one")));
    let redis = Redis::start();
    let port = redis.port;
    let settings = format!(
        "live: {{poll_ms: {NEVER_MS}}}\ncache: {{redis: 'redis://127.0.0.1:{port}', namespace: live, redis_ms_max: 10000}}"
    );
    let both = [serve(&upstream, &settings), serve(&upstream, &settings)];
    let connected = |is: bool| {
        let line = format!("weir_cache_redis_connected {}", u8::from(is));
        let shows = |weir: &Weir| weir.get("/metrics", &[]).text().lines().any(|it| it == line);
        until("Redis is there, or missed", || both.iter().all(shows));
    };
    connected(true);
    let rename = |to: &str| {
        upstream.set(answers(&list_answers(to, "one")));
        assert!(both[0].query("mutation { rename(id: 7) { id } }").text().contains("7"));
    };
    let mut player = subscribe(&both[1], "subscription { player(id: 7) { name } }");
    hears(&mut player, r#""player":{"name":"Bob"}"#);
    rename("Ben");
    hears(&mut player, r#""player":{"name":"Ben"}"#);
    drop(redis);
    connected(false);
    rename("Bea");
    let _redis = Redis::start_on(port, &[]);
    hears(&mut player, r#""player":{"name":"Bea"}"#);
}

#[test]
fn the_end_of_a_lifetime_asks_again() {
    let scene = Scene::new(NEVER_MS);
    let mut brief = scene.subscribe("subscription { brief { word } }");
    hears(&mut brief, r#""brief":{"word":"one"}"#);
    scene.upstream.set(answers(&list_answers("Bob", "two")));
    hears(&mut brief, r#""brief":{"word":"two"}"#);
}

#[test]
fn what_has_no_lifetime_is_asked_for_at_intervals() {
    let scene = Scene::new(20);
    // Over server-sent events, as over sockets.
    let events = [("content-type", "application/json"), ("accept", "text/event-stream")];
    let query = body("subscription { bare { word } }");
    let (head, mut events) =
        stream(&scene.weir, &message("POST", "/graphql", &events, Some(query.as_bytes())));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let told =
        |word: &str| format!("event: next\ndata: {{\"data\":{{\"bare\":{{\"word\":\"{word}\"}}}}}}\n\n");
    read_until(&mut events, &told("one"));
    for word in ["two", "three"] {
        scene.upstream.set(answers(&list_answers("Bob", word)));
        read_until(&mut events, &told(word));
    }
    // A service that fails is an error, and asked again.
    scene.upstream.set(answers("- {ask: GET /bare, status: 500, answer: {}}\n"));
    read_until(&mut events, "\"errors\":");
    scene.upstream.set(answers(&list_answers("Bob", "one")));
    read_until(&mut events, &told("one"));
}

#[test]
fn a_joined_row_that_another_program_changes_is_seen() {
    let scene = Scene::new(NEVER_MS);
    let mut pet = scene.subscribe("subscription { player(id: 7) { pet { name } } }");
    hears(&mut pet, r#""player":{"pet":{"name":"Ada"}}"#);
    rusqlite::Connection::open(scene.weir.folder().file("pets.db"))
        .and_then(|it| it.execute("UPDATE pet SET name = 'Eve' WHERE id = 1", []))
        .expect("another program changes it");
    hears(&mut pet, r#""player":{"pet":{"name":"Eve"}}"#);
}

#[test]
fn the_schema_has_the_subscriptions_and_the_check_says_what_tells() {
    let scene = Scene::new(1000);
    let fields = scene.weir.query("{ __schema { subscriptionType { name fields { name } } } }").json();
    let root = &fields["data"]["__schema"]["subscriptionType"];
    assert_eq!(root["name"], "subscription_root");
    let names: Vec<&str> =
        root["fields"].as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(
        names,
        ["pet", "pet_by_pk", "pet_aggregate", "pet_group_by", "pet_stream", "player", "brief", "bare"]
    );
    let checked =
        command().arg("check").arg(scene.weir.folder().file("weir.yaml")).output().expect("it runs");
    let words = String::from_utf8_lossy(&checked.stdout).into_owned();
    for line in [
        "live: source `main`: own changes at once; others: the version of the file is looked at every 25 ms\n",
        "live: source `services`: own changes at once; others: when an answer's lifetime ends or a tag is purged; answers without a lifetime are asked for again every 1000 ms, and `Cache-Control` or `@cacheControl` gives them one\n",
        "live: other Weirs: as others; with one `cache.redis` for all they tell their changes at once\n",
    ] {
        assert!(words.contains(line), "{line} is not in {words}");
    }
}
