//! Tokens and rules of a native source over real sockets: the example of `docs/sources/native/auth.md`.

use crate::support::{Folder, Weir, body};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

const BOATS: &str = r#"type Boat @auth(
  query: { or: [
    { rule: "{ $ROLE: { eq: \"HARBOURMASTER\" } }" }
    { rule: "query($LOGIN: String!) { queryBoat { crew(filter: { login: { eq: $LOGIN } }) { login } } }" }
  ] }
  delete: { rule: "{ $ROLE: { eq: \"HARBOURMASTER\" } }" }
) {
  reg: String! @id
  tons: Int
  crew: [Crew]
}
type Crew { login: String! @id }
# Dgraph.Authorization {"VerificationKey":"secret","Header":"X-Harbour-Auth","Namespace":"https://harbour.example/claims","Algo":"HS256"}
"#;

pub(crate) fn token(claims: &str) -> String {
    token_by("secret", claims)
}

pub(crate) fn token_by(secret: &str, claims: &str) -> String {
    let signed =
        format!("{}.{}", URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256"}"#), URL_SAFE_NO_PAD.encode(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

pub(crate) fn serve_types(more: &str, sdl: &str) -> Weir {
    served_all(more, &[("boats", "", sdl)])
}

/// Serves native sources: name, more keys, and text of each.
fn served_all(more: &str, sources: &[(&str, &str, &str)]) -> Weir {
    let folder = Folder::new();
    let mut yaml = "listen: 127.0.0.1:0\nsources:\n".to_owned();
    for (name, keys, sdl) in sources {
        let file = folder.write(&format!("{name}.graphql"), sdl);
        let path = file.to_str().expect("it is UTF-8");
        yaml.push_str(&format!("  - name: {name}\n    native: {path}\n{keys}"));
    }
    yaml.push_str(more);
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

fn ask(weir: &Weir, headers: &[(&str, &str)], query: &str) -> String {
    let answer = weir.post("/graphql", headers, body(query).as_bytes());
    answer.text().to_owned()
}

const FILL: &str = r#"mutation { addBoat(input: [{ reg: "A1", tons: 5, crew: [{ login: "ann" }] }, { reg: "B2", tons: 7, crew: [{ login: "bob" }] }]) { numUids } }"#;
const ALL: &str = r#"{"data":{"queryBoat":[{"reg":"A1"},{"reg":"B2"}]}}"#;

#[test]
fn tokens_of_the_line_decide_what_is_seen() {
    let weir = serve_types("admin_secret: hush\n", BOATS);
    let admin = ("x-weir-admin-secret", "hush");
    assert_eq!(ask(&weir, &[admin], FILL), r#"{"data":{"addBoat":{"numUids":4}}}"#);
    let boats = "{ queryBoat { reg } }";
    let ann = token(r#"{"https://harbour.example/claims":{"LOGIN":"ann"}}"#);
    let master = format!("Bearer {}", token(r#"{"ROLE":"HARBOURMASTER"}"#));
    let old = token(r#"{"ROLE":"HARBOURMASTER","exp":1}"#);
    assert_eq!(ask(&weir, &[("x-harbour-auth", &ann)], boats), r#"{"data":{"queryBoat":[{"reg":"A1"}]}}"#);
    assert_eq!(ask(&weir, &[("x-harbour-auth", &master)], boats), ALL);
    assert_eq!(ask(&weir, &[], boats), r#"{"data":{"queryBoat":[]}}"#);
    assert_eq!(ask(&weir, &[admin], boats), ALL);
    // A secret decides alone.
    assert_eq!(ask(&weir, &[admin, ("x-harbour-auth", &ann)], boats), ALL);
    let denied = ask(&weir, &[("x-weir-admin-secret", "husk"), ("x-harbour-auth", &master)], boats);
    assert!(denied.contains("ACCESS_DENIED"), "{denied}");
    let expired = ask(&weir, &[("x-harbour-auth", &old)], boats);
    assert!(
        expired.contains("couldn't rewrite query queryBoat because unable to parse jwt token:"),
        "{expired}"
    );
    assert!(expired.contains(r#""data":{"queryBoat":[]}"#), "{expired}");
    let malformed = ask(&weir, &[("x-harbour-auth", "Bearer")], boats);
    assert!(malformed.contains("invalid Bearer-formatted header value for JWT (Bearer)"), "{malformed}");
    assert!(!malformed.contains("\"data\""), "{malformed}");
    let delete = "mutation { deleteBoat(filter: {}) { msg numUids } }";
    let none = r#"{"data":{"deleteBoat":{"msg":"No nodes were deleted","numUids":0}}}"#;
    assert_eq!(ask(&weir, &[("x-harbour-auth", &ann)], delete), none);
    let two = r#"{"data":{"deleteBoat":{"msg":"Deleted","numUids":2}}}"#;
    assert_eq!(ask(&weir, &[("x-harbour-auth", &master)], delete), two);
}

#[test]
fn a_closed_line_lets_nobody_in_without_a_token() {
    let closed = BOATS.replace("\"Algo\"", "\"ClosedByDefault\":true,\"Algo\"");
    let weir = serve_types("admin_secret: hush\n", &closed);
    let crew = "{ queryCrew { login } }";
    let answer = ask(&weir, &[], crew);
    let words = "couldn't rewrite query queryCrew because a valid JWT is required but was not provided";
    assert!(answer.contains(words) && answer.contains(r#""data":{"queryCrew":[]}"#), "{answer}");
    assert_eq!(ask(&weir, &[("x-harbour-auth", &token("{}"))], crew), r#"{"data":{"queryCrew":[]}}"#);
}

#[test]
fn on_an_open_server_whoever_sends_a_token_is_its_holder() {
    let weir = serve_types("", BOATS);
    assert_eq!(ask(&weir, &[], FILL), r#"{"data":{"addBoat":{"numUids":4}}}"#);
    assert_eq!(ask(&weir, &[], "{ queryBoat { reg } }"), ALL);
    let bob = token(r#"{"LOGIN":"bob"}"#);
    let seen = ask(&weir, &[("x-harbour-auth", &bob)], "{ queryBoat { reg } }");
    assert_eq!(seen, r#"{"data":{"queryBoat":[{"reg":"B2"}]}}"#);
}

const LOGS: &str = r#"type Log @auth(query: { rule: "query($LOGIN: String!) { queryLog(filter: { by: { eq: $LOGIN } }) { line } }" }) {
  line: String! @id
  by: String @search(by: [hash])
}
# Dgraph.Authorization {"VerificationKey":"other","Header":"X-Log-Auth","Namespace":"logs","Algo":"HS256"}
"#;
const NOTES: &str = r#"type Note @auth(query: { rule: "query($LOGIN: String!) { queryNote(filter: { by: { eq: $LOGIN } }) { text } }" }) {
  text: String! @id
  by: String @search(by: [hash])
}
"#;

#[test]
fn each_source_reads_the_token_of_its_own_line() {
    let weir =
        served_all("admin_secret: hush\n", &[("boats", "", BOATS), ("logs", "", LOGS), ("notes", "", NOTES)]);
    let admin = ("x-weir-admin-secret", "hush");
    ask(&weir, &[admin], FILL);
    for (ty, field) in [("Log", "line"), ("Note", "text")] {
        let add = format!(
            r#"mutation {{ add{ty}(input: [{{ {field}: "1", by: "ann" }}, {{ {field}: "2", by: "bob" }}]) {{ numUids }} }}"#
        );
        assert!(!ask(&weir, &[admin], &add).contains("errors"));
    }
    let all = "{ queryBoat { reg } queryLog { line } queryNote { text } }";
    let seen = |boats: &[&str], logs: &[&str]| {
        let list = |key: &str, of: &[&str]| {
            of.iter().map(|it| format!(r#"{{"{key}":"{it}"}}"#)).collect::<Vec<_>>().join(",")
        };
        format!(
            r#"{{"data":{{"queryBoat":[{}],"queryLog":[{}],"queryNote":[]}}}}"#,
            list("reg", boats),
            list("line", logs)
        )
    };
    let boats = |login: &str| token(&format!(r#"{{"LOGIN":"{login}"}}"#));
    let logs = |login: &str| token_by("other", &format!(r#"{{"logs":{{"LOGIN":"{login}"}}}}"#));
    let both = |one: &str, other: &str| {
        ask(&weir, &[("x-harbour-auth", &boats(one)), ("x-log-auth", &logs(other))], all)
    };
    assert_eq!(both("ann", "bob"), seen(&["A1"], &["2"]));
    assert_eq!(both("bob", "ann"), seen(&["B2"], &["1"]));
    assert_eq!(ask(&weir, &[("x-harbour-auth", &boats("ann"))], all), seen(&["A1"], &[]));
    assert_eq!(ask(&weir, &[("x-log-auth", &logs("ann"))], all), seen(&[], &["1"]));
    // A token under the header of another source is none of its own; that source alone refuses it.
    let swapped = ask(&weir, &[("x-harbour-auth", &boats("ann")), ("x-log-auth", &boats("ann"))], all);
    assert!(
        swapped.contains("couldn't rewrite query queryLog because unable to parse jwt token"),
        "{swapped}"
    );
    assert!(
        swapped.contains(r#""data":{"queryBoat":[{"reg":"A1"}],"queryLog":[],"queryNote":[]}"#),
        "{swapped}"
    );
}

#[test]
fn answers_kept_for_the_holder_of_a_token_are_nobody_else_s() {
    let weir = serve_types("admin_secret: hush\n", BOATS);
    ask(&weir, &[("x-weir-admin-secret", "hush")], FILL);
    let kept = "query @cacheControl(maxAge: 60) { queryBoat { reg } }";
    for _ in 0..3 {
        for (login, reg) in [("ann", "A1"), ("bob", "B2")] {
            let own = token(&format!(r#"{{"LOGIN":"{login}"}}"#));
            let answer = ask(&weir, &[("x-harbour-auth", &own)], kept);
            assert_eq!(answer, format!(r#"{{"data":{{"queryBoat":[{{"reg":"{reg}"}}]}}}}"#));
        }
        assert_eq!(ask(&weir, &[], kept), r#"{"data":{"queryBoat":[]}}"#);
    }
}

#[test]
fn denials_are_told_where_the_configuration_says_so() {
    let sdl = BOATS
        .replace("  delete:", "  add: { rule: \"{ $ROLE: { eq: \\\"HARBOURMASTER\\\" } }\" }\n  delete:");
    let add = |weir: &Weir, reg: &str| {
        let add = format!(r#"mutation {{ addBoat(input: [{{ reg: "{reg}" }}]) {{ numUids }} }}"#);
        ask(weir, &[("x-harbour-auth", &token(r#"{"LOGIN":"ann"}"#))], &add)
    };
    let weir = served_all("admin_secret: hush\n", &[("boats", "", &sdl)]);
    assert_eq!(add(&weir, "A1"), r#"{"data":{"addBoat":null}}"#);
    let weir = served_all("admin_secret: hush\n", &[("boats", "    tell_denials: true\n", &sdl)]);
    let told = add(&weir, "A1");
    assert!(told.contains("authorization failed") && told.contains(r#""code":"PERMISSION""#), "{told}");
    ask(&weir, &[("x-weir-admin-secret", "hush")], FILL);
    let taken = add(&weir, "B2");
    assert!(taken.contains("id B2 already exists") && taken.contains(r#""code":"PERMISSION""#), "{taken}");
}

#[test]
fn the_plan_of_a_caller_reads_the_claims_that_the_admin_assumes() {
    let weir = serve_types("admin_secret: hush\n", BOATS);
    let explain = |claims: &str| {
        let body = format!(r#"{{"query":"{{ queryBoat {{ reg }} }}","role":"user","claims":{claims}}}"#);
        weir.post("/v1/explain", &[("x-weir-admin-secret", "hush")], body.as_bytes()).text().to_owned()
    };
    assert!(explain(r#"{"LOGIN":"ann"}"#).contains("exists("), "{}", explain(r#"{"LOGIN":"ann"}"#));
    assert!(explain("{}").contains("policy: false"), "{}", explain("{}"));
}
