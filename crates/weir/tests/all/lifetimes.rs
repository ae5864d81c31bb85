//! Cache headers of answers with data of services, and the callers that share a cached answer.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, body};
use crate::upstream_kit::{Upstream, answers};
use serde_json::{Value, json};

/// One that everyone may ask, and one that knows who asks.
const SDL: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cacheControl"])
  @source(name: "open", http: {baseURL: "http://upstream"})
  @source(name: "own", http: {baseURL: "http://upstream", headers: [{name: "Authorization", from: "Authorization"}]})
  @source(name: "crumbs", http: {baseURL: "http://upstream", headers: [{name: "Cookie", from: "x-who"}]})
  @source(name: "apart", http: {baseURL: "http://upstream", headers: [{name: "X-Who", from: "x-who"}]})
type Query {
  crumbs: Thing @connect(source: "crumbs", http: {GET: "/crumbs"}, selection: "name") @cacheControl(maxAge: 60)
  whose: Thing @connect(source: "apart", http: {GET: "/whose"}, selection: "name") @cacheControl(maxAge: 60)
  bare: Thing @connect(source: "open", http: {GET: "/bare"}, selection: "name")
  hinted: Thing @connect(source: "open", http: {GET: "/bare"}, selection: "name") @cacheControl(maxAge: 60)
  apart: Thing @connect(source: "open", http: {GET: "/bare"}, selection: "name") @cacheControl(maxAge: 60, scope: PRIVATE)
  inner: Thing @connect(source: "open", http: {GET: "/inner"}, selection: "name")
  strict: Thing @connect(source: "open", http: {GET: "/strict"}, selection: "name")
  never: Thing @connect(source: "open", http: {GET: "/never"}, selection: "name") @cacheControl(maxAge: 60)
  own: Thing @connect(source: "own", http: {GET: "/me"}, selection: "name") @cacheControl(maxAge: 60)
}
type Thing { name: String }
"#;

/// The services, none of which names a lifetime.
const KNOWN: &str = "
- {ask: GET /bare, answer: {name: all}}
- {ask: GET /inner, headers: {cdn-cache-control: max-age=60, cache-control: \"private, max-age=60\"}, answer: {name: all}}
- {ask: GET /strict, headers: {cache-control: \"max-age=60, proxy-revalidate\"}, answer: {name: all}}
- {ask: GET /never, headers: {cache-control: no-cache}, answer: {name: all}}
- {ask: GET /crumbs, when: {cookie: ada}, answer: {name: ada}}
- {ask: GET /crumbs, when: {cookie: bob}, answer: {name: bob}}
- {ask: GET /whose, when: {x-who: ada}, answer: {name: ada}}
- {ask: GET /whose, when: {x-who: bob}, answer: {name: bob}}
- {ask: GET /me, when: {authorization: ada}, answer: {name: ada}}
- {ask: GET /me, when: {authorization: bob}, answer: {name: bob}}
";

struct Scene {
    upstream: Upstream,
    weir: Weir,
}

impl Scene {
    fn new() -> Self {
        let upstream = Upstream::start(answers(KNOWN));
        let folder = Folder::new();
        let text = SDL.replace("http://upstream", &format!("http://{}", upstream.address));
        let file = folder.write("services.graphql", &text).display().to_string();
        let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
        Self { upstream, weir }
    }

    fn ask(&self, user: &str, query: &str) -> Answer {
        self.weir.post("/graphql", &[("authorization", user), ("x-who", user)], body(query).as_bytes())
    }

    /// Has two users ask twice: what each is told, and how often the service is asked for that.
    #[track_caller]
    fn check(&self, query: &str, name: impl Fn(&str) -> Value, told: &str, calls: usize) {
        for user in ["ada", "bob", "ada", "bob"] {
            let answer = self.ask(user, query);
            let fields = answer.json()["data"].clone();
            assert!(
                fields.as_object().is_some_and(|it| it.values().all(|it| it["name"] == name(user))),
                "{fields}"
            );
            // A number is drawn for each answer, unless the operation asked for it.
            let words = answer.header("cache-control").unwrap_or_default();
            let kind = words.split_once("max-age=").map_or(words, |it| it.0);
            let seconds = answer.header("x-ttl").and_then(|it| it.parse::<u32>().ok());
            let expected =
                told.split_once("max-age=").map_or((told, 0), |it| (it.0, it.1.parse().unwrap_or(0)));
            assert_eq!(kind, expected.0, "{query}: {words}");
            assert!(
                seconds.is_some_and(|it| (expected.1 * 3 / 4..=expected.1).contains(&it)),
                "{query}: {seconds:?}"
            );
        }
        assert_eq!(self.upstream.take_requests().len(), calls, "{query}");
    }
}

#[test]
fn what_names_no_lifetime_has_the_one_that_a_hint_or_the_operation_gives_it() {
    let scene = Scene::new();
    let all = |_: &str| json!("all");
    scene.check("{ bare { name } }", all, "no-store", 4);
    scene.check("{ hinted { name } }", all, "public,max-age=60", 1);
    scene.check("query @cached(ttl: 30) { bare { name } }", all, "public,max-age=30", 1);
    scene.check("{ bare { name } hinted { name } }", all, "no-store", 4);
    // Kept for all here, and by nobody else.
    scene.check("{ inner { name } }", all, "no-store", 1);
    // A field that forbids caching makes the answer `no-store`.
    scene.check("{ never { name } }", all, "no-store", 4);
    scene.check("query @cached(ttl: 30) { never { name } }", all, "no-store", 4);
}

#[test]
fn what_is_for_one_user_stays_so_whatever_hints_and_operations_say() {
    let scene = Scene::new();
    scene.check("{ own { name } }", |user| json!(user), "no-store", 4);
    scene.check("query @cached(ttl: 30) { own { name } }", |user| json!(user), "no-store", 4);
    scene.check("{ apart { name } }", |_| json!("all"), "private,max-age=60", 4);
}

#[test]
fn what_a_credential_takes_part_in_is_told_as_private_and_kept_for_its_user() {
    let scene = Scene::new();
    let own = |user: &str| json!(user);
    scene.check("{ crumbs { name } }", own, "private,max-age=60", 2);
    // A header that is no credential separates callers by `Vary`.
    scene.check("{ whose { name } }", own, "public,max-age=60", 2);
    let vary = scene.ask("ada", "{ whose { name } }").header("vary").unwrap_or_default().to_owned();
    assert!(vary.split(", ").any(|it| it == "x-who"), "{vary}");
}

/// Services with hints at their root types, beside a database whose roots have other names.
const BESIDE: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cacheControl"])
  @source(name: "open", http: {baseURL: "http://upstream"})
type Query {
  bare: Thing @connect(source: "open", http: {GET: "/bare"}, selection: "name") @cacheControl(maxAge: 60)
}
type Mutation {
  touch: Thing @connect(source: "open", http: {POST: "/bare"}, selection: "name") @cacheControl(maxAge: 60)
}
type Thing { name: String }
"#;

const BESIDE_CONFIG: &str = "listen: 127.0.0.1:0
sources: [{name: s, file: services.graphql}, {name: pets, url: 'sqlite:pets.db'}]
";

#[test]
fn hints_at_root_types_hold_beside_a_database() {
    let upstream = Upstream::start(answers(KNOWN));
    let folder = Folder::new();
    folder.pets();
    let text = BESIDE.replace("http://upstream", &format!("http://{}", upstream.address));
    folder.write("services.graphql", &text);
    let weir = Weir::by_file(&folder.write("weir.yaml", BESIDE_CONFIG), folder);
    let answer = weir.query("{ bare { name } }");
    assert_eq!(answer.json()["data"]["bare"]["name"], "all");
    let seconds = answer.header("x-ttl").and_then(|it| it.parse::<u32>().ok());
    assert!(seconds.is_some_and(|it| (45..=60).contains(&it)), "{answer:?}");
    assert!(weir.query("{ bare { name } }").header("x-weir-cache").is_some_and(|it| it.starts_with("hit")));
    assert_eq!(upstream.take_requests().len(), 1);
}

#[test]
fn what_a_service_lets_nobody_show_once_it_is_over_is_told_so() {
    let scene = Scene::new();
    let told = |query: &str| scene.ask("ada", query).header("cache-control").unwrap_or_default().to_owned();
    // Made, and kept.
    for query in ["{ strict { name } }"; 2] {
        let told = told(query);
        assert!(told.starts_with("public,max-age=") && told.ends_with(",must-revalidate"), "{query}: {told}");
    }
    assert!(!told("{ hinted { name } }").contains("revalidate"));
}

const BOATS: &str =
    "CREATE TABLE boat (id INTEGER PRIMARY KEY, owner TEXT); INSERT INTO boat VALUES (1, '1'), (2, '2')";

/// Boats of their owners behind roles, as the database at `url`, and a service that is told who asks.
fn serve_boats(url: &str) -> (Upstream, Weir) {
    let folder = Folder::new();
    let (kind, table) = if url.starts_with("sqlite:") {
        ("sqlite", json!("boat"))
    } else {
        ("postgres", json!({ "schema": "public", "name": "boat" }))
    };
    let query = "query boats @cached { boat { id } }";
    let metadata = json!({
        "version": 3,
        "sources": [{
            "name": "fleet", "kind": kind,
            "configuration": { "connection_info": { "database_url": url } },
            "tables": [{ "table": table, "select_permissions": [{ "role": "user", "permission": {
                "columns": ["id"], "filter": { "owner": { "_eq": "X-Hasura-User-Id" } } } }] }],
        }],
        "query_collections": [{ "name": "all", "definition": { "queries": [{ "name": "boats", "query": query }] } }],
        "rest_endpoints": [{ "name": "boats", "url": "boats", "methods": ["GET"],
            "definition": { "query": { "collection_name": "all", "query_name": "boats" } } }],
    });
    folder.write("metadata.json", &metadata.to_string());
    let upstream = Upstream::start(answers(KNOWN));
    let text = format!(
        r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "open", http: {{baseURL: "http://{}", headers: [{{name: "x-team", value: "{{$claims.'team'}}"}}]}})
type Query {{ hinted: Thing @connect(source: "open", http: {{GET: "/bare"}}, selection: "name") }}
type Thing {{ name: String }}
"#,
        upstream.address
    );
    folder.write("services.graphql", &text);
    let yaml = "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata.json\nsources: [{name: s, file: services.graphql}]\n";
    let weir = Weir::by_file(&folder.write("weir.yaml", yaml), folder);
    (upstream, weir)
}

#[test]
fn a_private_cache_is_told_each_session_header_that_a_policy_reads() {
    let folder = Folder::new();
    let file = folder.file("fleet.db");
    rusqlite::Connection::open(&file).and_then(|it| it.execute_batch(BOATS)).expect("SQLite makes a file");
    check_session_headers(&format!("sqlite:{}", file.display()));
    check_session_headers(&database(BOATS).url());
}

fn check_session_headers(url: &str) {
    let (_upstream, weir) = serve_boats(url);
    let asked = |path: &str, role: &str| {
        let session = [
            ("x-hasura-admin-secret", "hush"),
            ("x-hasura-role", role),
            ("x-hasura-user-id", "1"),
            ("x-hasura-team", "t"),
        ];
        let answer = weir.get(path, &session);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
        (header("cache-control"), header("vary"))
    };
    let boats = "query=query%20@cached%20%7B%20boat%20%7B%20id%20%7D%20%7D";
    for path in [&format!("/graphql?{boats}"), "/api/rest/boats"] {
        let (told, vary) = asked(path, "user");
        assert_eq!(told, "private,max-age=60", "{path}");
        for name in
            ["x-hasura-role", "x-weir-role", "x-hasura-user-id", "x-weir-user-id", "x-hasura-admin-secret"]
        {
            assert!(vary.split(", ").any(|it| it == name), "{path}: {vary}");
        }
        // A policy that reads none of it names none.
        assert!(!vary.contains("team") && !asked(path, "admin").1.contains("user-id"), "{path}: {vary}");
    }
    let page = "query=query%20@cached%20%7B%20boat_connection%20%7B%20edges%20%7B%20node%20%7B%20id%20%7D%20%7D%20%7D%20%7D";
    let session = [("x-hasura-admin-secret", "hush"), ("x-hasura-role", "user"), ("x-hasura-user-id", "1")];
    let relay = weir.get(&format!("/v1beta1/relay?{page}"), &session);
    let is_kept = relay.header("cache-control").is_some_and(|it| it.contains("max-age"));
    assert!(!is_kept || relay.header("vary").is_some_and(|it| it.contains("x-weir-user-id")), "{relay:?}");
    let hinted = "query=query%20@cached%20%7B%20hinted%20%7B%20name%20%7D%20%7D";
    let (told, vary) = asked(&format!("/graphql?{hinted}"), "user");
    assert!(told.starts_with("private,max-age="), "{told}");
    assert!(vary.contains("x-hasura-team, x-weir-team"), "{vary}");
}
