//! Services behind a running server: whose answers are whose, what is called how often, what a changed file does.

use crate::redis_kit::Redis;
use crate::support::{Folder, Weir, body, command, until};
use crate::upstream_kit;
use crate::upstream_kit::{Upstream, answers};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::PathBuf;
use std::thread;

const LINKS: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache", "@cacheTag", "@policy", "@join"])
"#;

/// Three services that know who asks by the same header: one says nothing of caching, one keeps what may be kept, one
/// keeps each user's own.
const USERS: &str = r#"
  @source(name: "plain", http: {baseURL: "http://upstream", headers: [{name: "Authorization", from: "Authorization"}]})
  @source(name: "kept", http: {baseURL: "http://upstream/kept", headers: [{name: "Authorization", from: "Authorization"}]})
  @source(name: "keyed", http: {baseURL: "http://upstream/keyed", headers: [{name: "X-User", from: "Authorization"}]})
  @cache(source: "kept", default: 60)
  @cache(source: "keyed", default: 60, scope: PRIVATE, key: ["authorization"])
type Query {
  plain: User @connect(source: "plain", http: {GET: "/me"}, selection: "name")
  kept: User @connect(source: "kept", http: {GET: "/me"}, selection: "name")
  keyed: User @connect(source: "keyed", http: {GET: "/me"}, selection: "name")
  read: User @connect(source: "plain", http: {GET: "/me/{$request.headers.authorization}"}, selection: "name")
  orders: [Order] @connect(source: "plain", http: {GET: "/orders"}, selection: "id")
}
type User { name: String }
type Order
  @connect(source: "keyed", http: {GET: "/items", queryParams: "id: $batch.id"}, batch: {maxSize: 10}, selection: "id of") {
  id: Int!
  of: String
}
"#;

fn user_answers() -> String {
    let of = |user: &str| {
        format!(
            "- {{ask: GET /me, when: {{authorization: {user}}}, answer: {{name: {user}}}}}
- {{ask: GET /kept/me, when: {{authorization: {user}}}, answer: {{name: {user}}}}}
- {{ask: GET /keyed/me, when: {{x-user: {user}}}, answer: {{name: {user}}}}}
- {{ask: GET /me/{user}, answer: {{name: {user}}}}}
- {{ask: GET /keyed/items?id=1&id=2, when: {{x-user: {user}}}, answer: [{{id: 2, of: {user}}}, {{id: 1, of: {user}}}]}}
"
        )
    };
    let orders = "- {ask: GET /orders, answer: [{id: 1}, {id: 2}]}\n";
    format!("{}{}{orders}", of("ada"), of("bob"))
}

/// Serves `sdl` over a service with these answers.
fn serve(sdl: &str, known: &str) -> (Upstream, Weir, PathBuf) {
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    let file = folder.write("services.graphql", &text(sdl, &upstream));
    let target = file.display().to_string();
    let weir = Weir::start(&["serve", &target, "--listen", "127.0.0.1:0"], folder);
    (upstream, weir, file)
}

fn text(sdl: &str, upstream: &Upstream) -> String {
    format!("{LINKS}{sdl}").replace("http://upstream", &format!("http://{}", upstream.address))
}

fn ask_as(weir: &Weir, user: &str, query: &str) -> Value {
    weir.post("/graphql", &[("authorization", user)], body(query).as_bytes()).json()
}

fn lines(upstream: &Upstream) -> Vec<String> {
    upstream.take_requests().into_iter().map(|it| it.line).collect()
}

#[test]
fn what_is_one_users_never_reaches_another() {
    let (_upstream, weir, _) = serve(USERS, &user_answers());
    let query = "{ plain { name } kept { name } keyed { name } read { name } orders { of } }";
    let own = |user: &str| {
        let name = json!({"name": user});
        let orders = json!([{"of": user}, {"of": user}]);
        json!({"data": {"plain": name, "kept": name, "keyed": name, "read": name, "orders": orders}})
    };
    // One after the other, so that the second comes upon what the first left; then at once, so that they meet in flight.
    for user in ["ada", "bob", "ada"] {
        assert_eq!(ask_as(&weir, user, query), own(user));
    }
    thread::scope(|scope| {
        for user in ["ada", "bob"].repeat(4) {
            let weir = &weir;
            let own = &own;
            scope.spawn(move || {
                for _ in 0..10 {
                    assert_eq!(ask_as(weir, user, query), own(user));
                }
            });
        }
    });
    // A caller without credentials gets no cached answer of a caller with credentials.
    let nobody = weir.query("{ plain { name } kept { name } keyed { name } orders { of } }").json();
    let orders = json!([{"of": null}, {"of": null}]);
    assert_eq!(nobody["data"], json!({"plain": null, "kept": null, "keyed": null, "orders": orders}));
}

const PUBLIC: &str = r#"
  @source(name: "s", http: {baseURL: "http://upstream", headers: [{name: "X-Tongue", from: "x-tongue"}]})
  @cache(source: "s", default: 600)
type Query {
  match(id: Int!): Match @connect(source: "s", http: {GET: "/matches/{$args.id}"}, selection: "id name")
}
type Match { id: Int! name: String }
"#;

#[test]
fn what_is_public_is_asked_once_however_many_want_it() {
    let (upstream, weir, _) = serve(PUBLIC, "- {ask: GET /matches/1, answer: {id: 1, name: Final}}\n");
    thread::scope(|scope| {
        for _ in 0..8 {
            let weir = &weir;
            scope.spawn(move || {
                let answer = weir.query("{ a: match(id: 1) { name } b: match(id: 1) { id } }").json();
                assert_eq!(answer, json!({"data": {"a": {"name": "Final"}, "b": {"id": 1}}}));
            });
        }
    });
    assert_eq!(lines(&upstream), ["GET /matches/1"]);
    // A header that is passed on makes another call of it, for each of its values.
    for tongue in ["en", "de", "en", "de"] {
        weir.post("/graphql", &[("x-tongue", tongue)], body("{ match(id: 1) { name } }").as_bytes());
    }
    assert_eq!(lines(&upstream).len(), 2);
}

#[test]
fn a_list_too_long_for_single_calls_is_refused_before_the_first() {
    let sdl = r#"
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query { items: [Item] @connect(source: "s", http: {GET: "/items"}, selection: "id") }
type Item {
  id: Int!
  left: Int @connect(source: "s", http: {GET: "/left/{$this.id}"}, selection: "$")
  must: Int! @connect(source: "s", http: {GET: "/left/{$this.id}"}, selection: "$")
}
"#;
    let items: Vec<Value> = (0..1001).map(|id| json!({"id": id})).collect();
    let (upstream, weir, _) = serve(sdl, &format!("- {{ask: GET /items, answer: {}}}\n", json!(items)));
    let answer = weir.query("{ items { left } }");
    assert_eq!(answer.code(), "LIMIT_CALLS");
    assert_eq!(answer.json()["data"]["items"][1000], json!({"left": null}));
    let must = weir.query("{ items { must } }").json();
    assert_eq!(must["data"]["items"], json!(vec![Value::Null; 1001]));
    // It is said often enough, not a thousand times.
    for answer in [answer.json(), must] {
        let paths: Vec<_> =
            answer["errors"].as_array().into_iter().flatten().map(|it| it["path"][1].clone()).collect();
        assert_eq!(paths, (0..50).map(Value::from).collect::<Vec<_>>());
    }
    assert_eq!(lines(&upstream), ["GET /items", "GET /items"]);
}

#[test]
fn a_changed_file_is_served_and_a_broken_one_is_not() {
    let known = "- {ask: GET /matches/1, answer: {id: 1, name: Final, status: LIVE}}\n";
    let (upstream, weir, file) = serve(PUBLIC, known);
    assert_eq!(weir.query("{ match(id: 1) { id } }").json()["data"]["match"]["id"], 1);
    let with_status = PUBLIC
        .replace("id name\"", "id name status\"")
        .replace("name: String }", "name: String status: String }");
    std::fs::write(&file, text(&with_status, &upstream)).expect("the file can be written");
    until("the new field is served", || {
        weir.query("{ match(id: 1) { status } }").json()["data"]["match"]["status"] == "LIVE"
    });
    std::fs::write(
        &file,
        text(&with_status.replace("source: \"s\", http", "source: \"x\", http"), &upstream),
    )
    .expect("the file can be written");
    until("the mistake is told", || weir.log().contains("services.graphql:8:"));
    assert_eq!(weir.query("{ match(id: 1) { status } }").json()["data"]["match"]["status"], "LIVE");
}

#[test]
fn what_is_kept_is_not_given_under_other_settings() {
    let sdl = r#"
  @source(name: "s", http: {baseURL: "http://upstream", headers: [{name: "X-Region", value: "{$config.region}"}]})
  @cache(source: "s", default: 600)
type Query { teams: [Team] @connect(source: "s", http: {GET: "/teams"}, selection: "id") }
type Team @connect(source: "s", http: {GET: "/of", queryParams: "id: $batch.id"}, batch: {maxSize: 5}, selection: "id region") {
  id: Int!
  region: String
}
"#;
    let of = |region: &str| {
        format!(
            "- {{ask: GET /of?id=1, when: {{x-region: {region}}}, answer: [{{id: 1, region: {region}}}]}}\n"
        )
    };
    let known = format!("- {{ask: GET /teams, answer: [{{id: 1}}]}}\n{}{}", of("eu"), of("us"));
    let upstream = Upstream::start(answers(&known));
    let folder = Folder::new();
    folder.write("services.graphql", &text(sdl, &upstream));
    let yaml = |region: &str| {
        let source = format!("{{name: s, file: services.graphql, config: {{region: {region}}}}}");
        format!("listen: 127.0.0.1:0\nsources: [{source}]\n")
    };
    let file = folder.write("weir.yaml", &yaml("eu"));
    let weir = Weir::by_file(&file, folder);
    let region = || weir.query("{ teams { region } }").json()["data"]["teams"][0]["region"].clone();
    assert_eq!((region(), region()), (json!("eu"), json!("eu")));
    std::fs::write(&file, yaml("us")).expect("the file can be written");
    until("the other region is asked", || region() == "us");
    assert_eq!(lines(&upstream), ["GET /of?id=1", "GET /of?id=1", "GET /teams", "GET /teams"]);
}

#[test]
fn settings_that_are_not_set_have_what_stands_behind_them() {
    let sdl = r#"
  @source(name: "s", http: {baseURL: "http://upstream", headers: [{name: "X-Region", value: "{$config.region ?? 'eu'}"}]})
type Query {
  of: String @connect(source: "s", selection: "$.of"
    http: {GET: "/of/{$env.WEIR_TEST_UNSET ?? 'all'}", queryParams: "at: $($env.WEIR_TEST_UNSET ?? $config.at ?? 1) no: $($config.no ?? null)"})
}
"#;
    let (_upstream, weir, _) =
        serve(sdl, "- {ask: GET /of/all?at=1, when: {x-region: eu}, answer: {of: all}}\n");
    assert_eq!(weir.query("{ of }").json(), json!({"data": {"of": "all"}}));
}

#[test]
fn mistakes_are_told_with_their_places() {
    let folder = Folder::new();
    let check = |sdl: &str, expected: &str| {
        let file = folder.write("services.graphql", &format!("{LINKS}{sdl}"));
        let checked = command().arg("check").arg(&file).output().expect("the binary runs");
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(!checked.status.success() && said.contains(expected), "{said}");
    };
    check(&PUBLIC.replace("->first", "").replace("id name\"", "id name->nope\""), "services.graphql:8:");
    let unset = PUBLIC.replace("{$args.id}", "{$env.WEIR_TEST_UNSET}");
    let column = unset.lines().find_map(|it| it.find("$env.")).expect("it stands in a line") + 1;
    let expected = format!(":{column}: `$env.WEIR_TEST_UNSET` has no value");
    check(&unset, &expected);
    // A default at one place does not apply at another.
    check(
        &unset.replace("{$env", "{$env.WEIR_TEST_UNSET ?? 'x'}/{$env"),
        "`$env.WEIR_TEST_UNSET` has no value: the environment has no `WEIR_TEST_UNSET`; set it, or write `$env.WEIR_TEST_UNSET ?? 'value'`",
    );
    check(
        &format!(
            "{PUBLIC}\nextend type Album {{ m: Int @connect(source: \"s\", http: {{GET: \"/a/{{$this.id}}\"}}, selection: \"$\") }}"
        ),
        "adds the field `Album.m`: no other source has an object type of that name",
    );
    check(
        &PUBLIC.replace(
            "type Match { ",
            "type Match { other: Match @join(field: \"nope\", arguments: \"(id: $this.id)\") ",
        ),
        "`@join(field: \"nope\")`: no source has a query field of that name",
    );
}

#[test]
fn clients_do_not_learn_where_a_service_is() {
    // It hangs up on everyone.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || listener.incoming().for_each(drop));
    let folder = Folder::new();
    let sdl = format!("{LINKS}{PUBLIC}").replace("http://upstream", &format!("http://{address}"));
    let file = folder.write("services.graphql", &sdl).display().to_string();
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
    let answer = weir.query("{ match(id: 1) { name } }");
    assert_eq!((answer.status, answer.code().as_str()), (200, "SOURCE_UNAVAILABLE"));
    assert!(
        !answer.text().contains(&address.to_string()) && !answer.text().contains("matches"),
        "{}",
        answer.text()
    );
    until("the operator is told", || weir.log().contains("s Query.match"));
}

#[test]
fn explain_shows_the_calls_and_makes_none() {
    let (upstream, _weir, file) = serve(PUBLIC, "[]");
    let explained =
        command().args(["explain", "{ match(id: 1) { name } }"]).arg(&file).output().expect("it runs");
    let said = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(said.ends_with("-- services\ns: GET /matches/{$args.id}\n"), "{said}");
    assert_eq!(lines(&upstream), Vec::<String>::new());
}

fn shows(weir: &Weir, line: &str) -> bool {
    weir.get("/metrics", &[]).text().lines().any(|it| it == line)
}

#[test]
fn servers_share_what_services_answered_and_serve_on_when_redis_is_gone() {
    let upstream = Upstream::start(answers(
        "- {ask: GET /me, headers: {x-ttl: '600'}, answer: {name: ada}}\n\
         - {ask: GET /you, headers: {x-ttl: '600'}, answer: {name: bob}}\n",
    ));
    let sdl = r#"
      @source(name: "s", http: {baseURL: "http://upstream"})
      @cache(source: "s", freshness: ["X-TTL"])
    type Query {
      me: User @connect(source: "s", http: {GET: "/me"}, selection: "name")
      you: User @connect(source: "s", http: {GET: "/you"}, selection: "name")
    }
    type User { name: String }
    "#;
    let redis = Redis::start();
    let weir = || {
        let folder = Folder::new();
        folder.write("services.graphql", &text(sdl, &upstream));
        let cache =
            format!("{{redis: 'redis://127.0.0.1:{}', namespace: shop, redis_ms_max: 10000}}", redis.port);
        let yaml = format!(
            "listen: 127.0.0.1:0\ncache: {cache}\nsources:\n  - {{name: s, file: services.graphql}}\n"
        );
        let file = folder.write("weir.yaml", &yaml);
        Weir::by_file(&file, folder)
    };
    let one = weir();
    let other = weir();
    for weir in [&one, &other] {
        until("Redis is connected", || shows(weir, "weir_cache_redis_connected 1"));
    }
    assert_eq!(one.query("{ me { name } }").json(), json!({"data": {"me": {"name": "ada"}}}));
    until("the answer is written", || shows(&one, "weir_cache_redis_written_total 1"));
    assert_eq!(other.query("{ me { name } }").json(), json!({"data": {"me": {"name": "ada"}}}));
    assert_eq!(lines(&upstream), ["GET /me"]);
    let found = r#"weir_cache_answers_total{source="s",connector="Query.me",outcome="hit_remote"} 1"#;
    assert!(shows(&other, found), "{}", other.get("/metrics", &[]).text());
    drop(redis);
    until("Redis is missed", || shows(&other, "weir_cache_redis_connected 0"));
    let both = json!({"data": {"me": {"name": "ada"}, "you": {"name": "bob"}}});
    assert_eq!(other.query("{ me { name } you { name } }").json(), both);
    assert_eq!(lines(&upstream), ["GET /you"]);
}

/// A service of one user, who can be renamed; what it says lives for ten minutes.
const RENAMED: &str = r#"
  @source(name: "s", http: {baseURL: "http://upstream"})
  @cache(source: "s", freshness: ["X-TTL"])
type Query {
  me: User @connect(source: "s", http: {GET: "/me"}, selection: "name")
  crowd: User @connect(source: "s", http: {GET: "/crowd"}, selection: "name") @cacheTag(format: "crowd")
}
type Mutation {
  rename: User @connect(source: "s", http: {POST: "/me"}, selection: "name")
  shout: User @connect(source: "s", http: {POST: "/crowd"}, selection: "name") @cacheTag(format: "crowd")
}
type User { name: String }
"#;

/// Answers of the service of [`RENAMED`]: its current name, and `status` for a mutation.
fn renamed_answers(name: &str, status: u16) -> Vec<upstream_kit::Answer> {
    let one = |ask: &str, status| {
        format!("- {{ask: {ask}, status: {status}, headers: {{x-ttl: '600'}}, answer: {{name: {name}}}}}\n")
    };
    let changes = one("POST /me", status) + &one("POST /crowd", status);
    answers(&(one("GET /me", 200) + &one("GET /crowd", 200) + &changes))
}

#[test]
fn a_change_is_seen_at_once_unless_the_service_refused_it() {
    let (upstream, weir, _) = serve(RENAMED, "[]");
    upstream.set(renamed_answers("ada", 200));
    let name = |of: &str| {
        let answer = weir.query(&format!("{{ {of} {{ name }} }}"));
        let kept = answer.header("x-weir-cache").expect("it is in dev mode").starts_with("hit");
        (answer.json()["data"][of]["name"].as_str().expect("it has a name").to_owned(), kept)
    };
    let check = |of: &str, expected: &str, kept: bool| assert_eq!(name(of), (expected.to_owned(), kept));
    for kept in [false, true] {
        check("me", "ada", kept);
        check("crowd", "ada", kept);
    }
    // A mutation refused with 403 invalidates nothing; any other status may have changed all data.
    for (status, seen) in [(403, "ada"), (200, "c200"), (500, "c500")] {
        upstream.set(renamed_answers(&format!("c{status}"), status));
        weir.query("mutation { rename { name } }");
        for of in ["me", "crowd"] {
            check(of, seen, status == 403);
        }
    }
    // A field that says what it changes changes nothing else.
    upstream.set(renamed_answers("dee", 200));
    weir.query("mutation { shout { name } }");
    check("me", "c500", true);
    check("crowd", "dee", false);
    // Whoever changes it elsewhere says so by name: of a tag, or of the service.
    upstream.set(renamed_answers("eve", 200));
    let say = |text: &str| weir.post("/v1/invalidate", &[], text.as_bytes());
    assert_eq!(say(r#"{"tags": ["crowd", "nothing"]}"#).text(), r#"{"invalidated":2}"#);
    check("me", "c500", true);
    check("crowd", "eve", false);
    assert_eq!(say(r#"{"tags": ["s"]}"#).text(), r#"{"invalidated":1}"#);
    check("me", "eve", false);
    for wrong in ["{}", r#"{"tags": []}"#, r#"{"tags": "s"}"#, r#"{"tags": ["s", ""]}"#, r#"{"tags": [1]}"#] {
        assert_eq!((say(wrong).status, say(wrong).code().as_str()), (400, "BAD_REQUEST"), "{wrong}");
    }
}

#[test]
fn what_one_server_changes_is_seen_by_the_others_also_when_redis_was_gone_meanwhile() {
    let upstream = Upstream::start(renamed_answers("ada", 200));
    let redis = Redis::start();
    let shelf = Folder::new();
    let pets = shelf.pets().display().to_string();
    let port = redis.port;
    let weir = || {
        let folder = Folder::new();
        folder.write("services.graphql", &text(RENAMED, &upstream));
        let cache = format!("{{redis: 'redis://127.0.0.1:{port}', namespace: shop, redis_ms_max: 10000}}");
        let sources = format!("[{{name: s, file: services.graphql}}, {{name: pets, url: '{pets}'}}]");
        let yaml = format!("listen: 127.0.0.1:0\ncache: {cache}\nsources: {sources}\n");
        let file = folder.write("weir.yaml", &yaml);
        Weir::by_file(&file, folder)
    };
    let both = [weir(), weir()];
    let connected = |is: bool| {
        let line = format!("weir_cache_redis_connected {}", u8::from(is));
        until("Redis is there, or missed", || both.iter().all(|it| shows(it, &line)));
    };
    connected(true);
    const NAMES: &str = "query @cached(ttl: 600) { me { name } pet_by_pk(id: 1) { name } }";
    let names = |weir: &Weir| {
        let answer = weir.query(NAMES).json();
        let name = |of: &str| answer["data"][of]["name"].as_str().expect("it has a name").to_owned();
        (name("me"), name("pet_by_pk"))
    };
    let change = |to: &str| {
        upstream.set(renamed_answers(to, 200));
        let pet = format!("update_pet_by_pk(pk_columns: {{id: 1}}, _set: {{name: \"{to}\"}}) {{ id }}");
        let changed = both[0].query(&format!("mutation {{ rename {{ name }} {pet} }}")).json();
        assert_eq!(changed["errors"], Value::Null);
        assert_eq!(names(&both[0]), (to.to_owned(), to.to_owned()), "who changes it sees it at once");
    };
    let sees = |to: &str| until("the other sees it", || names(&both[1]) == (to.to_owned(), to.to_owned()));
    for weir in &both {
        assert_eq!(names(weir), ("ada".to_owned(), "Ada".to_owned()));
        assert!(weir.query(NAMES).header("x-weir-cache").is_some_and(|it| it.starts_with("hit")));
    }
    change("bob");
    sees("bob");
    drop(redis);
    connected(false);
    change("cyd");
    assert_eq!(names(&both[1]), ("bob".to_owned(), "bob".to_owned()), "nobody can tell");
    let _redis = Redis::start_on(port, &[]);
    sees("cyd");
}

/// Players by their ids, one by one and in batches.
const SQUAD: &str = r#"
  @source(name: "s", http: {baseURL: "http://upstream"})
  @cache(source: "s", freshness: ["X-TTL"])
type Query {
  squad: [Player] @connect(source: "s", http: {GET: "/squad"}, selection: "id")
  player(id: Int!): Player @connect(source: "s", http: {GET: "/player/{$args.id}"}, selection: "id name")
    @cacheTag(format: "player-{$args.id}")
  same(id: Int!): Player @connect(source: "s", http: {GET: "/player/{$args.id}"}, selection: "id name")
}
type Mutation {
  score(id: Int): Int @connect(source: "s", http: {POST: "/score"}, selection: "$") @cacheTag(format: "player-{$args.id}")
}
type Player
  @connect(source: "s", http: {GET: "/players", queryParams: "id: $batch.id"}, batch: {maxSize: 10}, selection: "id name")
  @cacheTag(format: "player-{$key.id}") {
  id: Int!
  name: String
}
"#;

#[test]
fn a_change_of_one_entity_makes_no_other_old() {
    let one = |ask: &str, answer: &str| {
        format!("- {{ask: '{ask}', headers: {{x-ttl: '600'}}, answer: {answer}}}\n")
    };
    let both = "[{id: 1, name: a}, {id: 2, name: b}]";
    let known = [
        one("GET /squad", "[{id: 1}, {id: 2}]"),
        one("GET /players?id=1&id=2", both),
        one("GET /players?id=2", "[{id: 2, name: b}]"),
        one("GET /player/1", "{id: 1, name: a}"),
        one("GET /player/2", "{id: 2, name: b}"),
        one("POST /score", "7"),
    ];
    let (upstream, weir, _) = serve(SQUAD, &known.concat());
    const ALL: &str =
        "{ squad { name } a: player(id: 1) { name } b: player(id: 2) { name } same(id: 2) { name } }";
    let check = |calls: &[&str]| {
        let answer = weir.query(ALL);
        let a = json!({"name": "a"});
        let b = json!({"name": "b"});
        assert_eq!(answer.json(), json!({"data": {"squad": [a, b], "a": a, "b": b, "same": b}}));
        assert_eq!(lines(&upstream), calls);
        let again = weir.query(ALL);
        assert!(again.header("x-weir-cache").is_some_and(|it| it.starts_with("hit")), "{again:?}");
    };
    let all = ["GET /player/1", "GET /player/2", "GET /player/2", "GET /players?id=1&id=2", "GET /squad"];
    check(&all);
    let change = |text: &str| {
        assert_eq!(weir.query(text).json(), json!({"data": {"score": 7}}));
        assert_eq!(lines(&upstream), ["POST /score"]);
    };
    // One field makes the same call and has no tag: its answer is another, and stays.
    change("mutation { score(id: 2) }");
    check(&["GET /player/2", "GET /players?id=2"]);
    change("mutation { score(id: 7) }");
    check(&[]);
    // A mutation without tags invalidates all answers of the service.
    change("mutation { score }");
    check(&all);
    let say = |tag: &str| weir.post("/v1/invalidate", &[], json!({"tags": [tag]}).to_string().as_bytes());
    assert_eq!(say("player-2").status, 200);
    check(&["GET /player/2", "GET /players?id=2"]);
}

#[test]
fn a_redis_behind_tls_is_spoken_to_if_it_can_be_trusted() {
    let folder = Folder::new();
    let redis = Redis::start_private(&folder);
    let trusted = folder.file("redis.crt");
    let serve = |trusted: Option<&PathBuf>| {
        let folder = Folder::new();
        folder.write("services.graphql", &format!("{LINKS}{PUBLIC}").replace("upstream", "127.0.0.1:1"));
        let redis = format!("rediss://localhost:{}", redis.port);
        let source = "{name: s, file: services.graphql}";
        let yaml = format!("listen: 127.0.0.1:0\ncache: {{redis: '{redis}'}}\nsources: [{source}]\n");
        let file = folder.write("weir.yaml", &yaml);
        let mut command = command();
        command.arg("serve").arg(&file).envs(trusted.map(|it| ("SSL_CERT_FILE", it)));
        Weir::run(&mut command, folder)
    };
    let is_connected = |weir: &Weir| shows(weir, "weir_cache_redis_connected 1");
    let weir = serve(Some(&trusted));
    until("Redis is connected", || is_connected(&weir));
    let stranger = serve(None);
    until("it is told", || stranger.log().contains("second level cannot be reached"));
    assert!(!is_connected(&stranger), "{}", stranger.log());
}

#[test]
fn what_one_service_keeps_is_not_anothers_though_both_call_the_same() {
    const TWICE: &str = r#"
  @source(name: "live", http: {baseURL: "http://upstream"})
  @source(name: "slow", http: {baseURL: "http://upstream"})
  @cache(source: "slow", default: 60)
type Query {
  live: User @connect(source: "live", http: {GET: "/me"}, selection: "name")
  slow: User @connect(source: "slow", http: {GET: "/me"}, selection: "name")
}
type User { name: String }
"#;
    let (upstream, weir, _) = serve(TWICE, "- {ask: GET /me, answer: {name: ada}}\n");
    let calls = |query: &str| {
        assert_eq!(weir.query(query).json()["errors"], Value::Null);
        lines(&upstream).len()
    };
    let asked =
        ["{ slow { name } }", "{ slow { name } }", "{ live { name } }", "{ live { name } }"].map(calls);
    assert_eq!(asked, [1, 0, 1, 1]);
}
