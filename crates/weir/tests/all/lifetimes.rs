//! Cache headers of answers with data of services, and the callers that share a cached answer.

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
        assert_eq!(self.upstream.asked().len(), calls, "{query}");
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
    let (upstream, folder) = (Upstream::start(answers(KNOWN)), Folder::new());
    folder.pets();
    let text = BESIDE.replace("http://upstream", &format!("http://{}", upstream.address));
    folder.write("services.graphql", &text);
    let weir = Weir::by_file(&folder.write("weir.yaml", BESIDE_CONFIG), folder);
    let answer = weir.query("{ bare { name } }");
    assert_eq!(answer.json()["data"]["bare"]["name"], "all");
    let seconds = answer.header("x-ttl").and_then(|it| it.parse::<u32>().ok());
    assert!(seconds.is_some_and(|it| (45..=60).contains(&it)), "{answer:?}");
    assert!(weir.query("{ bare { name } }").header("x-weir-cache").is_some_and(|it| it.starts_with("hit")));
    assert_eq!(upstream.asked().len(), 1);
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
