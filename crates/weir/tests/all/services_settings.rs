//! Services whose settings come from outside of their text, and what a server says of them while it ends.

use crate::support;
use crate::support::{Folder, Weir, command, until};
use crate::upstream_kit::{Upstream, answers};
use serde_json::{Value, json};
use std::process::Command;

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

/// `weir check` refuses [`TEXT`] with these words if `source` stands beside its name and file.
#[track_caller]
fn check_refusal(source: &str, environment: Option<&str>, expected: &str) {
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
}

#[test]
fn what_is_wrong_with_settings_is_told_with_its_place_and_without_its_value() {
    let check = check_refusal;
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
        "`services.a.base_url` in the configuration: this is no base URL: write it as `https://host/path`",
    );
    check(
        &format!("{based}, services: {{a: {{headers: {{host: x}}}}}}"),
        None,
        "`services.a.headers.host` in the configuration: header `host` belongs to the connection",
    );
    for (tls, expected) in [
        ("{certificate: a.pem}", "`tls`: `certificate` needs `key`; name both"),
        ("{key: a.key}", "`tls`: `key` needs `certificate`; name both"),
        ("{certificate: a.pem, key: a.key}", "a client certificate is shown to `https` alone"),
    ] {
        check(&format!("{based}, services: {{a: {{tls: {tls}}}}}"), None, expected);
    }
    check(
        "config: {base: 'https://a'}, services: {a: {tls: {certificate: a.pem, key: a.key}}}",
        None,
        "a.pem cannot be used: ",
    );
    let unknown = format!("{based}, services: {{a: {{queryParams: x}}}}");
    check(&unknown, None, "unknown key `queryParams`; did you mean");
}

#[test]
fn what_is_wrong_with_a_replacement_is_told_by_its_key() {
    let at = "services.graphql:4:3: `services.a.";
    for (own, expected) in [
        ("path: '$.x'", "path` in the configuration: there is no answer yet"),
        ("path: '$(['", "path` in the configuration: "),
        ("path: '$([[1]])'", "path` in the configuration: this is a list or an object"),
        ("query_params: '$([1])'", "query_params` in the configuration: parameters have names"),
        ("is_success: '$args.a'", "is_success` in the configuration: `$args` is known on fields only"),
        ("errors: {message: '$.a->firsst'}", "errors.message` in the configuration: there is no method"),
        (
            "headers: {a: '{s3cret'}",
            "headers.a` in the configuration: byte 1 begins nothing that can be read",
        ),
        ("headers: {a: '{$config.list}'}", "headers.a` in the configuration: this is a list"),
        ("headers: {a: '{$args.a}'}", "headers.a` in the configuration: `$args` is known on fields only"),
        ("base_url: 'http://{$config.list}'", "base_url` in the configuration: a setting that stands in it"),
    ] {
        let config = "config: {base: 'http://a', list: [1]}";
        check_refusal(&format!("{config}, services: {{a: {{{own}}}}}"), None, &format!("{at}{expected}"));
    }
    check_refusal(
        "services: {a: {base_url: 'http://{$config.host}'}}",
        None,
        "services.graphql:4:3: `$config.host` has no value",
    );
}

/// Each of its settings is a number, a boolean, a list, an object, or a text that looks like one of these.
const TYPED: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@graphql"])
  @source(name: "a", http: {baseURL: "{$config.unused}", path: "$.wrong", queryParams: "q: $env.UNUSED_IN_TESTS",
    headers: [{name: "X-Key", value: "{$config.unused}"}]}, isSuccess: "$.wrong", errors: {message: "$.wrong"})
type Query { of: Of @connect(source: "a", http: {GET: "/of"}, selection: "$") }
type Mutation { all: Boolean @connect(source: "a", http: {POST: "/all", body: "$config.all"}, selection: "$.ok") }
scalar Of
"#;

#[test]
fn every_string_of_a_source_is_replaced_and_settings_keep_their_types() {
    let known = "
- {ask: GET /v1/t1/10/of?page=2&on=true&ids=1&ids=2, when: {x-key: k-007, x-user: ann}, answer: {ok: true, a: 1}}
- {ask: POST /v1/t1/10/all?page=2&on=true&ids=1&ids=2, status: 503, answer: {ok: false, why: closed}}
";
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    folder.write("services.graphql", TYPED);
    let yaml = format!(
        "listen: 127.0.0.1:0
sources:
  - name: s
    file: services.graphql
    env: [WEIR_TEST_TENANT, WEIR_TEST_KEY]
    config:
      host: {{name: '{}'}}
      page: 2
      is_on: true
      ids: [1, 2]
      shop: 10
      all:
        n: 1.10
        big: 12345678901234567890123
        s: '1'
        plain: 007
        no: no
        of: ${{WEIR_TEST_NUMBER}}
        none: null
        l: [{{x: -1e2}}]
    services:
      a:
        base_url: http://{{$config.host.name}}/v1
        path: $([$env.WEIR_TEST_TENANT, $config.shop])
        query_params: \"page: $config.page on: $config.is_on ids: $config.ids\"
        headers:
          x-key: 'k-{{$env.WEIR_TEST_KEY}}'
          x-user: \"{{$request.headers.'x-user'}}\"
        is_success: $.ok->eq($config.is_on)
        errors: {{message: $.why, extensions: 'page: $config.page'}}
",
        upstream.address
    );
    let file = folder.write("weir.yaml", &yaml);
    let mut command = command();
    command.env("WEIR_TEST_TENANT", "t1").env("WEIR_TEST_KEY", "007").env("WEIR_TEST_NUMBER", "3.50");
    let weir = Weir::run(command.arg("serve").arg(file), folder);
    let ask =
        |query: &str| weir.post("/graphql", &[("x-user", "ann")], support::body(query).as_bytes()).json();
    assert_eq!(ask("{ of }"), json!({"data": {"of": {"ok": true, "a": 1}}}));
    upstream.take_requests();
    let all = ask("mutation { all }");
    assert_eq!(all["errors"][0]["message"], "closed");
    assert_eq!(all["errors"][0]["extensions"]["page"], 2);
    let asked = upstream.take_requests();
    assert_eq!(
        asked[0].body,
        r#"{"n":1.10,"big":12345678901234567890123,"s":"1","plain":"007","no":"no","of":"3.50","none":null,"l":[{"x":-1e2}]}"#
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
        (kind, answer.header("vary").unwrap_or_default().to_owned(), upstream.take_requests().len())
    };
    let read = |also: &str| format!("x-hasura-role, x-weir-role{also}");
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
    let mut weir = Weir::with_settings("limits: {drain_delay_s: 3600}\n");
    let ready = weir.get("/readyz", &[]);
    assert_eq!((ready.status, ready.header("connection")), (200, None));
    weir.signal("-TERM");
    until("it wants no more requests", || weir.get("/readyz", &[]).status == 503);
    let answer = weir.query("{ pet { id } }");
    assert_eq!(answer.json()["data"]["pet"][0]["id"], 1);
    assert_eq!(answer.header("connection"), Some("close"), "the client goes elsewhere with its next request");
    assert_eq!(weir.get("/livez", &[]).status, 200);
    weir.signal("-TERM");
    assert_eq!(weir.child.wait().expect("it ends").code(), Some(130), "a second signal ends it at once");
    let mut weir = Weir::with_settings("limits: {drain_delay_s: 0}\n");
    weir.signal("-TERM");
    assert_eq!(weir.child.wait().expect("it ends").code(), Some(0));
}
