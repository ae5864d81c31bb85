//! Subscriptions to native types over real sockets: every transport, rules of the caller, the end of a token.

use crate::live::{read_until, stream};
use crate::native_auth::{serve_types, token, token_by};
use crate::sockets::{ACK, NEW, begin, hear, read_close_code, say, socket};
use crate::support::{Folder, Weir, body, message};
use crate::upstream_kit::{Upstream, answers};
use std::time::{SystemTime, UNIX_EPOCH};

const NOTES: &str = r#"type Note @withSubscription @auth(
  query: { rule: "query($LOGIN: String!) { queryNote(filter: { owner: { eq: $LOGIN } }) { text } }" }
) {
  text: String! @id
  owner: String @search(by: [hash])
}
# Dgraph.Authorization {"VerificationKey":"secret","Header":"X-Auth","Namespace":"notes","Algo":"HS256"}
"#;

const SETTINGS: &str =
    "admin_secret: hush\nthreads: 1\nlimits: {socket_init_s: 60}\nlive: {poll_ms: 3600000}\n";
const QUERY: &str = "subscription { queryNote(order: {asc: text}) { text } }";

fn change(weir: &Weir, mutation: &str) {
    let answer = weir.post("/graphql", &[("x-weir-admin-secret", "hush")], body(mutation).as_bytes());
    assert!(!answer.text().contains("errors"), "{}", answer.text());
}

fn give(weir: &Weir, text: &str, owner: &str) {
    change(
        weir,
        &format!(
            r#"mutation {{ updateNote(input: {{filter: {{text: {{eq: "{text}"}}}}, set: {{owner: "{owner}"}}}}) {{ numUids }} }}"#
        ),
    );
}

fn notes(texts: &[&str]) -> String {
    let notes: Vec<String> = texts.iter().map(|it| format!(r#"{{"text":"{it}"}}"#)).collect();
    format!(r#"{{"data":{{"queryNote":[{}]}}}}"#, notes.join(","))
}

fn serve_notes() -> Weir {
    let weir = serve_types(SETTINGS, NOTES);
    change(
        &weir,
        r#"mutation { addNote(input: [{text: "a", owner: "ann"}, {text: "b", owner: "bob"}]) { numUids } }"#,
    );
    weir
}

#[test]
fn results_follow_the_rules_of_the_caller_over_every_transport() {
    let weir = serve_notes();
    let ann = token(r#"{"LOGIN":"ann"}"#);
    for (subprotocol, kind) in [(NEW, "next"), ("graphql-ws", "data")] {
        let mut socket = socket(&weir, "/graphql", subprotocol);
        say(&mut socket, &format!(r#"{{"type":"connection_init","payload":{{"X-Auth":"{ann}"}}}}"#));
        assert_eq!(hear(&mut socket), ACK);
        say(&mut socket, &begin(subprotocol, "1", &body(QUERY)));
        let told = |texts: &[&str]| format!(r#"{{"type":"{kind}","id":"1","payload":{}}}"#, notes(texts));
        assert_eq!(hear(&mut socket), told(&["a"]));
        give(&weir, "b", "ann");
        assert_eq!(hear(&mut socket), told(&["a", "b"]));
        give(&weir, "b", "bob");
        assert_eq!(hear(&mut socket), told(&["a"]));
        // An object of somebody else is not told, however it changes.
        give(&weir, "a", "bob");
        assert_eq!(hear(&mut socket), told(&[]));
        give(&weir, "b", "cyd");
        give(&weir, "b", "bob");
        give(&weir, "a", "ann");
        assert_eq!(hear(&mut socket), told(&["a"]));
    }
    let apollo = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json";
    for accept in ["text/event-stream", apollo] {
        let headers = [("content-type", "application/json"), ("accept", accept), ("x-auth", ann.as_str())];
        let raw = message("POST", "/graphql", &headers, Some(body(QUERY).as_bytes()));
        let (head, mut reader) = stream(&weir, &raw);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        read_until(&mut reader, &notes(&["a"]));
        give(&weir, "b", "ann");
        read_until(&mut reader, &notes(&["a", "b"]));
        give(&weir, "b", "bob");
        read_until(&mut reader, &notes(&["a"]));
    }
}

#[test]
fn a_subscription_with_an_invalid_token_ends_at_once() {
    let weir = serve_notes();
    let wrong = token_by("another", r#"{"LOGIN":"ann"}"#);
    for subprotocol in [NEW, "graphql-ws"] {
        let mut socket = socket(&weir, "/graphql", subprotocol);
        say(&mut socket, &format!(r#"{{"type":"connection_init","payload":{{"X-Auth":"{wrong}"}}}}"#));
        assert_eq!(hear(&mut socket), ACK);
        say(&mut socket, &begin(subprotocol, "1", &body(QUERY)));
        let refused = hear(&mut socket);
        assert!(refused.contains("INVALID_TOKEN") && !refused.contains("queryNote\":["), "{refused}");
        match subprotocol {
            NEW => assert!(refused.starts_with(r#"{"type":"error","id":"1""#), "{refused}"),
            _ => assert_eq!(hear(&mut socket), r#"{"type":"complete","id":"1"}"#),
        }
        // The socket goes on: its next operation is answered.
        say(&mut socket, &begin(subprotocol, "2", &body("{ queryNote { text } }")));
        assert!(hear(&mut socket).contains("INVALID_TOKEN"));
    }
    let apollo = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json";
    for (accept, end) in [("text/event-stream", "event: complete"), (apollo, "--graphql--")] {
        let headers = [("content-type", "application/json"), ("accept", accept), ("x-auth", wrong.as_str())];
        let answer = weir.post("/graphql", &headers[1..], body(QUERY).as_bytes());
        let text = answer.text();
        assert!(text.contains("INVALID_TOKEN") && text.contains(end), "{text}");
    }
}

#[test]
fn the_end_of_a_token_ends_what_it_showed() {
    let weir = serve_notes();
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later").as_secs();
    let brief = token(&format!(r#"{{"LOGIN":"ann","exp":{}}}"#, now_s + 3));
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, &format!(r#"{{"type":"connection_init","payload":{{"X-Auth":"{brief}"}}}}"#));
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "1", &body(QUERY)));
    assert!(hear(&mut socket).contains(&notes(&["a"])));
    assert_eq!(read_close_code(&mut socket), 4403);
}

#[test]
fn a_custom_query_with_the_directive_is_asked_again() {
    let known = |word: &str| {
        answers(&format!(
            "- {{ask: GET /word, answer: {word}}}\n- {{ask: GET /word?of=A1, answer: {word}}}\n"
        ))
    };
    let upstream = Upstream::start(known("one"));
    let folder = Folder::new();
    let field = |name: &str, asked: &str, more: &str| {
        format!(
            "  {name}: String @custom(http: {{url: \"http://{}/word{asked}\", method: GET}}){more}\n",
            upstream.address
        )
    };
    let sdl = format!(
        "type Boat @withSubscription {{ reg: String! @id\n{} }}\ntype Query {{\n{}{}}}\n",
        field("motto", "?of=$reg", ""),
        field("word", "", " @withSubscription"),
        field("once", "", "")
    );
    let types = folder.write("boats.graphql", &sdl);
    let yaml = format!(
        "listen: 127.0.0.1:0\nthreads: 1\nlimits: {{socket_init_s: 60}}\nlive: {{poll_ms: 20}}\nsources:\n  - {{name: boats, native: {}}}\n",
        types.display()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    assert!(
        !weir.query(r#"mutation { addBoat(input: [{reg: "A1"}]) { numUids } }"#).text().contains("errors")
    );
    let begun = |query: &str| {
        let mut socket = socket(&weir, "/graphql", NEW);
        say(&mut socket, r#"{"type":"connection_init"}"#);
        assert_eq!(hear(&mut socket), ACK);
        say(&mut socket, &begin(NEW, "1", &body(query)));
        socket
    };
    let mut word = begun("subscription { word }");
    let mut boat = begun("subscription { getBoat(reg: \"A1\") { motto } }");
    for said in ["one", "two"] {
        upstream.set(known(said));
        assert!(hear(&mut word).contains(&format!(r#"{{"data":{{"word":"{said}"}}}}"#)));
        assert!(hear(&mut boat).contains(&format!(r#"{{"data":{{"getBoat":{{"motto":"{said}"}}}}}}"#)));
    }
    let refused = hear(&mut begun("subscription { once }"));
    assert!(refused.contains(r#""type":"error""#) && refused.contains("once"), "{refused}");
}
