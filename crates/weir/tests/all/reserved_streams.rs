//! Single connections of graphql-sse: one stream of events for all operations of a client.

use crate::live::{read_until, rename, stream};
use crate::sockets::patient;
use crate::support::{Weir, body, message};

const JSON: (&str, &str) = ("content-type", "application/json");
const TOKEN: &str = "x-graphql-event-stream-token";

/// The answer to a request with these headers and the body.
fn ask(weir: &Weir, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> (u16, String) {
    let answer = weir.raw(&message(method, path, headers, body.map(str::as_bytes)));
    (answer.status, answer.text().to_string())
}

fn reserve(weir: &Weir) -> String {
    let (status, token) = ask(weir, "PUT", "/graphql", &[], None);
    assert_eq!((status, token.len()), (201, 32), "{token}");
    token
}

fn operation(id: &str, query: &str) -> String {
    let asked = body(query);
    format!("{},\"extensions\":{{\"operationId\":\"{id}\"}}}}", asked.trim_end_matches('}'))
}

#[test]
fn the_results_of_all_operations_go_to_one_stream() {
    let weir = patient("");
    let token = reserve(&weir);
    let headers = [(TOKEN, token.as_str()), JSON];
    let accept = ("accept", "text/event-stream");
    // An operation that comes before the stream is open waits for it.
    let query = operation("q", "{ pet_by_pk(id: 1) { name } }");
    assert_eq!(ask(&weir, "POST", "/graphql", &headers, Some(&query)), (202, String::new()));
    let (head, mut events) = stream(&weir, &message("GET", "/graphql", &[(TOKEN, &token), accept], None));
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
    let first =
        "event: next\ndata: {\"id\":\"q\",\"payload\":{\"data\":{\"pet_by_pk\":{\"name\":\"Ada\"}}}}\n\n";
    read_until(&mut events, first);
    read_until(&mut events, "event: complete\ndata: {\"id\":\"q\"}\n\n");

    let live = |id: &str| operation(id, "subscription { pet_by_pk(id: 1) { name } }");
    let told = |id: &str, name: &str| {
        format!(
            "data: {{\"id\":\"{id}\",\"payload\":{{\"data\":{{\"pet_by_pk\":{{\"name\":\"{name}\"}}}}}}}}\n\n"
        )
    };
    assert_eq!(ask(&weir, "POST", "/graphql", &headers, Some(&live("a"))).0, 202);
    read_until(&mut events, &told("a", "Ada"));
    assert_eq!(ask(&weir, "POST", "/graphql", &headers, Some(&live("a"))).0, 409);
    rename(&weir, "Eve");
    read_until(&mut events, &told("a", "Eve"));
    // A stopped operation says nothing more, and its id is free.
    let stop = format!("/graphql?operationId=a&token={token}");
    assert_eq!(ask(&weir, "DELETE", &stop, &[], None).0, 200);
    rename(&weir, "Zoe");
    assert_eq!(ask(&weir, "POST", "/graphql", &headers, Some(&live("b"))).0, 202);
    let seen = read_until(&mut events, &told("b", "Zoe"));
    assert!(!seen.contains("\"id\":\"a\""), "{seen}");
    // The stream takes its token and operations with it.
    drop(events);
    crate::support::until("the token is gone", || {
        ask(&weir, "POST", "/graphql", &headers, Some(&live("c"))).0 == 404
    });
}

#[test]
fn what_is_wrong_with_a_stream_or_an_operation_is_said_at_once() {
    let weir = patient("");
    let token = reserve(&weir);
    let headers = [(TOKEN, token.as_str()), JSON];
    let check = |method, path: &str, headers: &[(&str, &str)], body: Option<&str>, status, part: &str| {
        let (found, text) = ask(&weir, method, path, headers, body);
        assert!(found == status && text.contains(part), "{method} {path}: {found} {text}");
    };
    let accept = ("accept", "text/event-stream");
    check("PUT", "/graphql", &[(TOKEN, &token)], None, 409, "reserved already");
    check("POST", "/graphql", &headers, Some(&body("{ __typename }")), 400, "extensions.operationId");
    check("POST", "/graphql", &headers, Some(&operation("1", "{ nothing }")), 400, "nothing");
    check("POST", "/graphql", &headers, Some(&operation("1", "{")), 400, "Syntax Error");
    check("POST", "/graphql", &headers, Some("[]"), 400, "JSON object");
    check("POST", "/graphql", &[(TOKEN, "0"), JSON], Some(&operation("1", "{ __typename }")), 404, "PUT");
    check("DELETE", &format!("/graphql?token={token}"), &[], None, 400, "operationId");
    check("DELETE", "/graphql?token=0&operationId=1", &[], None, 404, "PUT");
    // A token that nobody has reserved asks for a stream of its own.
    let own = "/graphql?query=%7B__typename%7D&token=0";
    check("GET", own, &[accept], None, 200, "event: next\ndata: {\"data\"");
    let (_, mut events) = stream(&weir, &message("GET", &format!("/graphql?token={token}"), &[accept], None));
    read_until(&mut events, ":\n\n");
    check("GET", &format!("/graphql?token={token}"), &[accept], None, 409, "open already");
    check("PUT", "/v1/graphql", &[], None, 405, "");
}

#[test]
fn a_stream_is_of_the_session_that_reserved_it() {
    let weir = Weir::with_settings("admin_secret: the secret of the test\nauth: {unauthorized_role: guest}");
    let secret = ("x-hasura-admin-secret", "the secret of the test");
    let (status, token) = ask(&weir, "PUT", "/graphql", &[secret], None);
    assert_eq!(status, 201);
    let asked = operation("1", "{ __typename }");
    let other = [(TOKEN, token.as_str()), JSON];
    assert_eq!(ask(&weir, "POST", "/graphql", &other, Some(&asked)).0, 404);
    let same = [(TOKEN, token.as_str()), JSON, secret];
    assert_eq!(ask(&weir, "POST", "/graphql", &same, Some(&asked)).0, 202);
    let wrong = [(TOKEN, token.as_str()), JSON, ("x-hasura-admin-secret", "no")];
    assert_eq!(ask(&weir, "POST", "/graphql", &wrong, Some(&asked)).0, 401);
}
