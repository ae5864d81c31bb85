//! Tokens and rules of a native source over real sockets: the example of `docs/sources/native.md`.

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

fn token(claims: &str) -> String {
    let signed =
        format!("{}.{}", URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256"}"#), URL_SAFE_NO_PAD.encode(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, b"secret"), signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn served(more: &str, sdl: &str) -> Weir {
    let folder = Folder::new();
    let file = folder.write("boats.graphql", sdl);
    let yaml = format!(
        "listen: 127.0.0.1:0\nsources:\n  - name: boats\n    native: {}\n{more}",
        file.to_str().expect("it is UTF-8")
    );
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
    let weir = served("admin_secret: hush\n", BOATS);
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
    let weir = served("admin_secret: hush\n", &closed);
    let crew = "{ queryCrew { login } }";
    let answer = ask(&weir, &[], crew);
    let words = "couldn't rewrite query queryCrew because a valid JWT is required but was not provided";
    assert!(answer.contains(words) && answer.contains(r#""data":{"queryCrew":[]}"#), "{answer}");
    assert_eq!(ask(&weir, &[("x-harbour-auth", &token("{}"))], crew), r#"{"data":{"queryCrew":[]}}"#);
}

#[test]
fn on_an_open_server_whoever_sends_a_token_is_its_holder() {
    let weir = served("", BOATS);
    assert_eq!(ask(&weir, &[], FILL), r#"{"data":{"addBoat":{"numUids":4}}}"#);
    assert_eq!(ask(&weir, &[], "{ queryBoat { reg } }"), ALL);
    let bob = token(r#"{"LOGIN":"bob"}"#);
    let seen = ask(&weir, &[("x-harbour-auth", &bob)], "{ queryBoat { reg } }");
    assert_eq!(seen, r#"{"data":{"queryBoat":[{"reg":"B2"}]}}"#);
}
