//! Services whose settings come from outside of their text, and what a server says of them while it ends.

mod support;
mod upstream_kit;

use serde_json::{Value, json};
use std::process::Command;
use support::{Folder, Weir, command, until};
use upstream_kit::{Upstream, answers};

/// All that may be set is.
const TEXT: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@graphql"])
  @source(name: "a", http: {baseURL: "{$env.WEIR_TEST_BASE ?? $config.base}/v1/", headers: [{name: "X-Region", value: "eu"}, {name: "X-Key", value: "{$env.WEIR_TEST_KEY ?? 'none'}"}]})
type Query { of: String @connect(source: "a", http: {GET: "/of"}, selection: "$.of") }
"#;

const KNOWN: &str = "
- {ask: GET /v1/of, when: {x-region: eu, x-key: none}, answer: {of: by config}}
- {ask: GET /v1/of, when: {x-region: eu, x-key: hush}, answer: {of: by env}}
- {ask: GET /else/of, when: {x-region: us, x-key: none}, answer: {of: by weir.yaml}}
";

/// Serves [`TEXT`] by a configuration that has `source` beside its name and file.
fn serve(source: &str, change: impl FnOnce(&mut Command)) -> Weir {
    let folder = Folder::new();
    folder.write("services.graphql", TEXT);
    let source = format!("  - name: s\n    file: services.graphql\n    {source}\n");
    let yaml = format!("listen: 127.0.0.1:0\nsources:\n{source}");
    let file = folder.write("weir.yaml", &yaml);
    let mut command = command();
    change(command.arg("serve").arg(file));
    Weir::run(&mut command, folder)
}

fn of(weir: &Weir) -> Value {
    weir.query("{ of }").json()["data"]["of"].clone()
}

#[test]
fn a_base_url_and_headers_come_from_settings_and_can_be_replaced() {
    let upstream = Upstream::start(answers(KNOWN));
    let base = format!("http://{}", upstream.address);
    assert_eq!(of(&serve(&format!("config: {{base: '{base}'}}"), |_| ())), json!("by config"));
    let by_env =
        serve("env: [WEIR_TEST_BASE, WEIR_TEST_KEY]\n    config: {base: 'http://127.0.0.1:1'}", |it| {
            it.env("WEIR_TEST_BASE", &base).env("WEIR_TEST_KEY", "hush");
        });
    assert_eq!(of(&by_env), json!("by env"));
    let own = "config: {base: 'http://127.0.0.1:1'}
    services:
      a:
        base_url: ${WEIR_TEST_OTHER}/else
        headers: {x-region: us}";
    let replaced = serve(own, |it| {
        it.env("WEIR_TEST_OTHER", &base);
    });
    assert_eq!(of(&replaced), json!("by weir.yaml"));
}

#[test]
fn what_is_wrong_with_settings_is_told_with_its_place_and_without_its_value() {
    let check = |source: &str, environment: Option<&str>, expected: &str| {
        let folder = Folder::new();
        folder.write("services.graphql", TEXT);
        let yaml = format!("sources:\n  - {{name: s, file: services.graphql, {source}}}\n");
        let file = folder.write("weir.yaml", &yaml);
        let mut command = command();
        environment.map(|it| command.env("WEIR_TEST_BASE", it));
        let checked = command.arg("check").arg(file).output().expect("the binary runs");
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(!checked.status.success() && said.contains(expected), "{source}: {said}");
        assert!(!said.contains("s3cret"), "{said}");
    };
    check("ca: null", None, "services.graphql:4:63: `$config.base` has no value");
    let unused = "config: {base: 'http://unused'}";
    check(unused, Some("s3cret:80"), "with its settings put in this is no base URL");
    check(unused, Some("https://a:s3cret@b"), "with its settings put in this is no base URL");
    check(
        "env: [OTHER]",
        Some("http://a"),
        "`$env.WEIR_TEST_BASE` may not be read: add `WEIR_TEST_BASE` to `env`",
    );
    let based = "config: {base: 'http://a'}";
    check(
        &format!("{based}, services: {{b: {{base_url: 'http://b'}}}}"),
        None,
        "`services.b` in the configuration: the text has no `@source` of that name",
    );
    check(
        &format!("{based}, services: {{a: {{base_url: 's3cret'}}}}"),
        None,
        "`services.a.base_url` in the configuration is no base URL",
    );
    check(
        &format!("{based}, services: {{a: {{headers: {{host: x}}}}}}"),
        None,
        "`host` is no name of a header that may be sent",
    );
}

#[test]
fn services_that_share_everything_of_an_anonymous_call_say_so() {
    let text = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache"])
  @source(name: "a", http: {baseURL: "http://upstream", headers: [{name: "Authorization", from: "Authorization"}]})
  @cache(source: "a", default: 60)
type Query {
  shop: String @connect(source: "a", http: {GET: "/shop"}, selection: "$.name")
  stores: String @connect(source: "a", http: {GET: "/stores"}, selection: "$.name") @cache(ignore: ["no-store", "private"], default: 30)
  plain: String @connect(source: "a", http: {GET: "/stores"}, selection: "$.name")
}
"#;
    let known = "
- {ask: GET /shop, answer: {name: open}}
- {ask: GET /stores, headers: {cache-control: 'private, no-store, max-age=0', expires: '0'}, answer: {name: two}}
";
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    let text = text.replace("http://upstream", &format!("http://{}", upstream.address));
    let file = folder.write("services.graphql", &text).display().to_string();
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
    let ask = |user: Option<&str>, query: &str| {
        let headers: Vec<_> = user.iter().map(|it| ("authorization", *it)).collect();
        let answer = weir.post("/graphql", &headers, support::body(query).as_bytes());
        let words = answer.header("cache-control").unwrap_or_default().to_owned();
        let kind = words.split_once("max-age=").map_or(words.clone(), |it| it.0.to_owned());
        (kind, answer.header("vary").unwrap_or_default().to_owned(), upstream.asked().len())
    };
    let read = |also: &str| format!("x-hasura-role{also}");
    // Callers without the header share their answers with each other only.
    assert_eq!(ask(None, "{ shop }"), ("public,".into(), read(", authorization"), 1));
    assert_eq!(ask(None, "{ shop }"), ("public,".into(), read(", authorization"), 0));
    assert_eq!(ask(None, "{ a: shop }"), ("public,".into(), read(", authorization"), 0));
    assert_eq!(ask(Some("ada"), "{ shop }"), ("private,".into(), read(", authorization"), 1));
    assert_eq!(ask(Some("ada"), "{ shop }"), ("private,".into(), read(", authorization"), 1));
    // A header set at one field applies to this field only.
    assert_eq!(ask(None, "{ stores }"), ("public,".into(), read(", authorization"), 1));
    assert_eq!(ask(None, "{ a: stores }").2, 0);
    assert_eq!(ask(None, "{ plain }"), ("no-store".into(), String::new(), 1));
    assert_eq!(ask(None, "{ plain }").2, 1);
    assert_eq!(ask(Some("ada"), "{ stores }").0, "private,");
    assert_eq!(ask(None, "{ stores }").2, 0);
}

#[test]
fn a_failure_is_logged_with_its_request_and_its_reason() {
    let text = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "a", http: {baseURL: "http://upstream"})
type Query {
  comma: [Int] @connect(source: "a", http: {GET: "/comma"}, selection: "$")
  twice: Int @connect(source: "a", http: {GET: "/twice"}, selection: "$.a")
  down: Int @connect(source: "a", http: {GET: "/down"}, selection: "$")
  gone: Int @connect(http: {GET: "http://127.0.0.1:1/"}, selection: "$")
}
"#;
    let known = "
- {ask: GET /comma, headers: {content-type: text/json}, text: '[1,]'}
- {ask: GET /twice, text: '{\"a\":1,\"a\":2}'}
- {ask: GET /down, status: 503, text: '{}'}
";
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    let text = text.replace("http://upstream", &format!("http://{}", upstream.address));
    let file = folder.write("services.graphql", &text).display().to_string();
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
    let at = upstream.address.to_string();
    let check = |query: &str, address: &str, expected: &[&str]| {
        let id = format!("find-{}", query.len());
        weir.post("/graphql", &[("x-request-id", &id)], support::body(query).as_bytes());
        let line =
            || weir.log().lines().find(|it| it.contains(&id) && it.contains("a service")).map(str::to_owned);
        until("the failure is logged", || line().is_some());
        let line = line().unwrap_or_default();
        for part in [&[&*format!("address={address}"), "took_ms="], expected].concat() {
            assert!(line.contains(part), "{part} in {line}");
        }
    };
    check("{ comma }", &at, &["attempts=1", "trailing comma before byte 3 (Content-Type: text/json)"]);
    check("{ twice  }", &at, &["duplicate key at byte 8"]);
    check("{ down     }", &at, &["attempts=2", "status=503"]);
    check("{ gone       }", "127.0.0.1:1", &["attempts=2", "the service cannot be reached"]);
}

#[test]
fn probes_are_told_before_the_listener_closes() {
    let mut weir = Weir::configured("limits: {drain_delay_s: 3600}\n");
    assert_eq!(weir.get("/readyz", &[]).status, 200);
    weir.signal("-TERM");
    until("it wants no more requests", || weir.get("/readyz", &[]).status == 503);
    assert_eq!(weir.query("{ pet { id } }").json()["data"]["pet"][0]["id"], 1);
    assert_eq!(weir.get("/livez", &[]).status, 200);
    weir.signal("-TERM");
    assert_eq!(weir.child.wait().expect("it ends").code(), Some(130), "a second signal ends it at once");
    let mut weir = Weir::configured("limits: {drain_delay_s: 0}\n");
    weir.signal("-TERM");
    assert_eq!(weir.child.wait().expect("it ends").code(), Some(0));
}
