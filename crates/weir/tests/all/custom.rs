//! `@custom` fields of a native source over real sockets: `weir serve types.graphql` and a service, nothing else.

use crate::postgres_kit::database;
use crate::support::{Folder, Weir, body, command, until};
use crate::upstream_kit::{Upstream, answers};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::thread;

const BOATS: &str = r#"
type Boat {
  reg: String! @id
  tons: Int
  fee: Int @custom(http: {url: "http://upstream/fees/$reg", method: GET, forwardHeaders: ["Authorization"]})
  rating: Rating @custom(http: {url: "http://upstream/ratings", method: POST, mode: BATCH, body: "{ boat: $reg, tons: $tons }"})
}
type Rating @remote { stars: Int }
type Query {
  me: String @custom(http: {url: "http://upstream/me", method: GET, forwardHeaders: ["Authorization"], secretHeaders: ["Api-Key:key"]})
  port(name: String!): String @custom(http: {url: "http://upstream/ports/$name", method: GET})
}
type Mutation {
  pay(reg: String!, amount: Int): String @custom(http: {url: "http://upstream/pay/$reg", method: PUT, body: "{ amount: $amount }"})
}
# Dgraph.Secret key "hush"
"#;

fn list_answers() -> String {
    let of = |user: &str| {
        format!(
            "- {{ask: GET /me, when: {{authorization: {user}, api-key: hush}}, answer: {user}}}
- {{ask: GET /fees/A1, when: {{authorization: {user}}}, answer: {}}}
",
            user.len()
        )
    };
    let rest = "- {ask: POST /ratings, answer: [{stars: 4}]}\n- {ask: PUT /pay/A1, answer: paid}\n";
    format!("{}{}{rest}", of("ada"), of("brian"))
}

fn text(sdl: &str, upstream: &Upstream) -> String {
    sdl.replace("http://upstream", &format!("http://{}", upstream.address))
}

fn serve(sdl: &str, known: &str) -> (Upstream, Weir, PathBuf) {
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    let file = folder.write("boats.graphql", &text(sdl, &upstream));
    let target = file.display().to_string();
    let weir = Weir::start(&["serve", &target, "--listen", "127.0.0.1:0"], folder);
    let filled = weir.query(r#"mutation { addBoat(input: [{reg: "A1"}]) { numUids } }"#).json();
    assert_eq!(filled, json!({"data": {"addBoat": {"numUids": 1}}}));
    (upstream, weir, file)
}

fn ask_as(weir: &Weir, user: &str, query: &str) -> Value {
    weir.post("/graphql", &[("authorization", user)], body(query).as_bytes()).json()
}

fn lines(upstream: &Upstream) -> Vec<String> {
    upstream.take_requests().into_iter().map(|it| it.line).collect()
}

#[test]
fn what_is_one_users_never_reaches_another() {
    let (_upstream, weir, _) = serve(BOATS, &list_answers());
    let query = "{ me queryBoat { reg fee rating { stars } } }";
    let own = |user: &str| {
        let boat = json!({"reg": "A1", "fee": user.len(), "rating": {"stars": 4}});
        json!({"data": {"me": user, "queryBoat": [boat]}})
    };
    for user in ["ada", "brian", "ada"] {
        assert_eq!(ask_as(&weir, user, query), own(user));
    }
    thread::scope(|scope| {
        for user in ["ada", "brian"].repeat(4) {
            let weir = &weir;
            let own = &own;
            scope.spawn(move || (0..10).for_each(|_| assert_eq!(ask_as(weir, user, query), own(user))));
        }
    });
    assert_eq!(weir.query("{ me }").json()["data"], json!({"me": null}));
}

#[test]
fn values_stay_one_segment_and_the_host_is_nobodys_choice() {
    let (upstream, weir, _) = serve(BOATS, &list_answers());
    for (name, expected) in [
        ("../admin", "GET /ports/..%2Fadmin"),
        ("a/../../b", "GET /ports/a%2F..%2F..%2Fb"),
        ("?a=b", "GET /ports/%3Fa%3Db"),
        ("#", "GET /ports/%23"),
        ("%2f", "GET /ports/%252f"),
        ("a\r\nX: y", "GET /ports/a%0D%0AX%3A%20y"),
        ("@evil.host", "GET /ports/%40evil.host"),
        ("169.254.169.254", "GET /ports/169.254.169.254"),
        ("http://evil.host/", "GET /ports/http%3A%2F%2Fevil.host%2F"),
    ] {
        let query = json!({"query": "query($n: String!) { port(name: $n) }", "variables": {"n": name}});
        weir.post("/graphql", &[], query.to_string().as_bytes());
        assert_eq!(lines(&upstream), [expected], "{name}");
    }
    for name in ["", ".", ".."] {
        let query = json!({"query": "query($n: String!) { port(name: $n) }", "variables": {"n": name}});
        let answer = weir.post("/graphql", &[], query.to_string().as_bytes()).json();
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{name}");
    }
    assert_eq!(lines(&upstream), [""; 0]);
    // Only headers that the text names are sent on, and the id of the request.
    weir.post("/graphql", &[("cookie", "a=b"), ("x-forwarded-for", "1.1.1.1")], body("{ me }").as_bytes());
    let asked = upstream.take_requests();
    let names: Vec<&str> = asked[0].headers.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, ["api-key", "x-request-id"]);
    assert_eq!(asked[0].headers[0].1, "hush");
}

#[test]
fn mutations_call_once_and_tell_what_fails() {
    let (upstream, weir, _) = serve(BOATS, &list_answers());
    let pay = |reg: &str| weir.query(&format!("mutation {{ pay(reg: \"{reg}\", amount: 3) }}")).json();
    assert_eq!(pay("A1"), json!({"data": {"pay": "paid"}}));
    let asked = upstream.take_requests();
    assert_eq!((asked[0].line.as_str(), asked[0].body.as_str()), ("PUT /pay/A1", r#"{"amount":3}"#));
    let failed = pay("B2");
    assert_eq!((&failed["data"], &failed["errors"][0]["path"]), (&json!({"pay": null}), &json!(["pay"])));
    assert_eq!(failed["errors"][0]["extensions"]["code"], "SOURCE_REFUSED");
}

#[test]
fn a_changed_text_is_served_and_a_wrong_one_is_not() {
    let (upstream, weir, file) = serve(BOATS, &list_answers());
    upstream.set(answers("- {ask: GET /news, answer: ahoy}"));
    let more = BOATS.replace(
        "  port(name",
        "  news: String @custom(http: {url: \"http://upstream/news\", method: GET})\n  port(name",
    );
    let changed = weir.post("/admin/schema", &[], text(&more, &upstream).as_bytes());
    assert!(changed.text().contains("\"code\":\"Success\""), "{}", changed.text());
    assert_eq!(weir.query("{ news }").json(), json!({"data": {"news": "ahoy"}}));
    // A mistake that only the services can know is reported at the directive, before anything is changed.
    let wrong = more.replace("\"Authorization\"", "\"X-Hasura-User\"");
    let refused = weir.post("/admin/schema", &[], text(&wrong, &upstream).as_bytes());
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.text().contains("boats.graphql:5:12: "), "{}", refused.text());
    assert_eq!(weir.query("{ news }").json(), json!({"data": {"news": "ahoy"}}));
    std::fs::write(&file, text(&BOATS.replace("port(name", "harbour(name"), &upstream))
        .expect("it is written");
    until("the file is read again", || weir.query("{ __typename news }").text().contains("Cannot query"));
}

#[test]
fn a_wrong_text_is_told_by_check() {
    let folder = Folder::new();
    let file = folder.write(
        "boats.graphql",
        &BOATS.replace("PUT", "GET").replace("method: GET, forward", "method: PUT, forward"),
    );
    let ran = command().args(["check", &file.display().to_string()]).output().expect("it runs");
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success());
    assert!(told.contains("boats.graphql:5:12: PUT changes something"), "{told}");
    let file = folder.write("good.graphql", BOATS);
    let ran = command().args(["check", &file.display().to_string()]).output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

fn token(claims: &str) -> String {
    let signed =
        format!("{}.{}", URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256"}"#), URL_SAFE_NO_PAD.encode(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, b"secret"), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[test]
fn rules_guard_the_fields_of_their_types_and_a_closed_line_all_of_them() {
    let closed = BOATS
        .replace("type Boat {", "type Boat @auth(query: {rule: \"{ $ROLE: { eq: \\\"MASTER\\\" } }\"}) {")
        + "# Dgraph.Authorization {\"VerificationKey\":\"secret\",\"Header\":\"X-Auth\",\"Namespace\":\"ns\",\"Algo\":\"HS256\",\"ClosedByDefault\":true}\n";
    let upstream = Upstream::start(answers(
        "- {ask: POST /ratings, answer: [{stars: 4}]}\n- {ask: GET /ports/a, answer: open}",
    ));
    let folder = Folder::new();
    let file = folder.write("boats.graphql", &text(&closed, &upstream));
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n  - name: boats\n    native: {}\n",
        file.display()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let ask =
        |headers: &[(&str, &str)], query: &str| weir.post("/graphql", headers, body(query).as_bytes()).json();
    let admin = ("x-weir-admin-secret", "hush");
    ask(&[admin], r#"mutation { addBoat(input: [{reg: "A1"}]) { numUids } }"#);
    let boats = "{ queryBoat { rating { stars } } }";
    let master = token(r#"{"ROLE":"MASTER"}"#);
    let other = token(r#"{"ROLE":"GUEST"}"#);
    assert_eq!(ask(&[("x-auth", &other)], boats), json!({"data": {"queryBoat": []}}));
    assert_eq!(lines(&upstream), [""; 0]);
    assert_eq!(
        ask(&[("x-auth", &master)], boats),
        json!({"data": {"queryBoat": [{"rating": {"stars": 4}}]}})
    );
    upstream.take_requests();
    for headers in [&[][..], &[("x-auth", "nonsense")][..]] {
        let refused = ask(headers, "{ p: port(name: \"a\") }");
        let message = refused["errors"][0]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("couldn't rewrite query p because "), "{refused}");
        assert_eq!(refused["data"], json!({"p": null}));
    }
    assert_eq!(lines(&upstream), [""; 0]);
    assert_eq!(ask(&[("x-auth", &other)], "{ port(name: \"a\") }"), json!({"data": {"port": "open"}}));
}

const INSPECTIONS: &str =
    "type Inspection { reg: String! @id passed: Boolean notes: [Note] } type Note { text: String! @id }";

const INSPECTED: &str = r#"
type Boat {
  reg: String! @id
  inspection: Inspection @custom(http: {url: "http://upstream/graphql", method: POST, graphql: "query($reg: String!) { getInspection(reg: $reg) }"})
}
type Inspection @remote { passed: Boolean notes: [Note] }
type Note @remote { text: String! }
"#;

/// Changes of [`INSPECTED`], and why the remote schema does not fit then.
const MISTAKES: [(&str, &str, &str); 6] = [
    (
        "passed: Boolean",
        "passed: Int",
        "`Inspection.passed` is `Int` here and `Boolean` in the remote schema",
    ),
    ("text: String!", "text: String! more: Int", "`Note` has no field `more` in the remote schema"),
    (
        "getInspection(reg",
        "getInspektion(reg",
        "the remote schema refuses `graphql`: Cannot query field \"getInspektion\" on type \"Query\".",
    ),
    (
        "$reg: String!",
        "$reg: String",
        "the remote schema refuses `graphql`: Variable \"$reg\" of type \"String\" used in position expecting type \"String!\".",
    ),
    (
        "getInspection(reg: $reg)",
        "getInspection(rg: $reg)",
        "the remote schema refuses `graphql`: Unknown argument \"rg\" on field \"Query.getInspection\".",
    ),
    (
        "getInspection(reg: $reg)",
        "getInspection(reg: {a: $reg})",
        "the remote schema refuses `graphql`: String cannot represent a non string value: an object",
    ),
];

#[test]
fn remote_operations_are_those_of_the_remote_schema() {
    let folder = Folder::new();
    let file = folder.write("inspections.graphql", INSPECTIONS).display().to_string();
    let remote = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
    remote.query(r#"mutation { addInspection(input: [{reg: "A1", passed: true, notes: [{text: "dry"}]}]) { numUids } }"#);
    let text = |sdl: &str| sdl.replace("http://upstream", &format!("http://{}", remote.address));
    let checked = |sdl: &str| {
        let folder = Folder::new();
        let file = folder.write("boats.graphql", &text(sdl));
        let ran = command().args(["check", &file.display().to_string()]).output().expect("it runs");
        (ran.status.success(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    for (from, to, expected) in MISTAKES {
        let (is_sound, told) = checked(&INSPECTED.replace(from, to));
        assert!(!is_sound && told.contains(expected) && told.contains("boats.graphql:4:26: "), "{told}");
    }
    let unchecked = INSPECTED
        .replace("passed: Boolean", "passed: Int")
        .replace("(reg: $reg) }\"", "(reg: $reg) }\", skipIntrospection: true");
    assert!(checked(&unchecked).0);
    let gone = INSPECTED.replace("http://upstream", "http://127.0.0.1:1");
    let (is_sound, told) = checked(&gone);
    assert!(
        is_sound && told.contains("the remote schema cannot be read, so the call is unchecked"),
        "{told}"
    );
    let folder = Folder::new();
    let file = folder.write("boats.graphql", &text(INSPECTED)).display().to_string();
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
    weir.query(r#"mutation { addBoat(input: [{reg: "A1"}, {reg: "B2"}]) { numUids } }"#);
    let answer = weir.query("{ queryBoat { reg inspection { ok: passed notes { text } } } }").json();
    let dry = json!({"ok": true, "notes": [{"text": "dry"}]});
    let boats = json!([{"reg": "A1", "inspection": dry}, {"reg": "B2", "inspection": null}]);
    assert_eq!(answer, json!({"data": {"queryBoat": boats}}));
}

#[test]
fn stores_in_postgres_give_the_same_keys() {
    let database = database("");
    let upstream = Upstream::start(answers(
        "- {ask: POST /ratings, answer: [{stars: 1}, {stars: 2}, {stars: 3}]}\n- {ask: GET /fees/A1, answer: 7}\n",
    ));
    let folder = Folder::new();
    let file = folder.write("boats.graphql", &text(BOATS, &upstream)).display().to_string();
    let weir = Weir::start(&["serve", &file, "--store", &database.url(), "--listen", "127.0.0.1:0"], folder);
    weir.query(
        r#"mutation { addBoat(input: [{reg: "A1"}, {reg: "B2", tons: 5}, {reg: "C3"}]) { numUids } }"#,
    );
    let answer = weir
        .query("{ queryBoat(order: {asc: reg}) { rating { stars } } getBoat(reg: \"A1\") { fee } }")
        .json();
    let boats: Vec<Value> = (1..4).map(|stars| json!({"rating": {"stars": stars}})).collect();
    assert_eq!(answer, json!({"data": {"queryBoat": boats, "getBoat": {"fee": 7}}}));
    let sent =
        upstream.take_requests().into_iter().find(|it| it.line == "POST /ratings").expect("it was asked");
    assert_eq!(sent.body, r#"[{"boat":"A1","tons":null},{"boat":"B2","tons":5},{"boat":"C3","tons":null}]"#);
}

#[test]
fn the_example_is_sound() {
    let sdl = crate::support::read(std::path::Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/harbour/harbour.graphql"
    )));
    let folder = Folder::new();
    let file = folder.write("harbour.graphql", &sdl).display().to_string();
    let ran = command().args(["check", &file]).output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn an_empty_answer_is_null_and_a_missing_value_is_sent_as_null() {
    let known = "- {ask: GET /ports/kiel, text: \"\"}\n- {ask: POST /ratings, answer: [{stars: 4}]}\n";
    let (upstream, weir, _) = serve(BOATS, known);
    assert_eq!(weir.query(r#"{ port(name: "kiel") }"#).json(), json!({"data": {"port": null}}));
    let rated = weir.query("{ queryBoat { rating { stars } } }").json();
    assert_eq!(rated, json!({"data": {"queryBoat": [{"rating": {"stars": 4}}]}}));
    let sent =
        upstream.take_requests().into_iter().find(|it| it.line == "POST /ratings").expect("it is asked");
    assert_eq!(sent.body, r#"[{"boat":"A1","tons":null}]"#);
}
