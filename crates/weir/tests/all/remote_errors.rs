//! Errors of remote schemas: all that a server says reaches the client, at the client's places.

use crate::remote_kit::{PAYMENTS, Scene, introspect, operations, payments, server, url};
use crate::upstream_kit::Upstream;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Two errors, one of them below aliases, and one that says no place.
fn two_errors(text: &str, _: &Value) -> (u16, Value) {
    let errors = json!([
        { "message": "no name", "path": ["r0_0", "owner", "name"], "extensions": { "code": "GONE", "hint": [1] } },
        { "message": "no total", "path": ["r0_0", "total"], "locations": [{ "line": 1, "column": 9 }] },
        { "message": "and more" }
    ]);
    // A field alone has an answer, if it is not `bill`.
    let is_bills = !text.contains("bill(") && text.contains("ledger");
    let bill = json!({ "id": 3, "f1": 3 });
    let data = if is_bills { json!({ "r0_0": { "bill": bill, "f2": bill } }) } else { Value::Null };
    let body = if is_bills { json!({ "data": data }) } else { json!({ "data": data, "errors": errors }) };
    (500, body)
}

#[test]
fn all_errors_of_a_server_are_passed_on_with_their_places() {
    let upstream = server(PAYMENTS, two_errors);
    let customization = json!({ "root_fields_namespace": "pay",
        "field_names": [{ "parent_type": "Bill", "mapping": { "owner": "who" } }] });
    for (members, namespace) in [(json!({}), ""), (json!({ "customization": customization }), "\"pay\",")] {
        let scene = Scene::start(json!([payments(&upstream, members)]), json!({}), &[]);
        let owner = if namespace.is_empty() { "owner" } else { "who" };
        let query = format!("{{ mine: bill(id: 1) {{ sum: total of: {owner} {{ name }} }} }}");
        let query = if namespace.is_empty() { query } else { format!("{{ pay {query} }}") };
        let first = format!(
            r#"{{"message":"no name","path":[{namespace}"mine","of","name"],"extensions":{{"code":"GONE","hint":[1]}}}}"#
        );
        let second = format!(r#"{{"message":"no total","path":[{namespace}"mine","sum"]}}"#);
        let expected = format!(r#"{{"errors":[{first},{second},{{"message":"and more"}}]}}"#);
        assert_eq!(scene.ask("user", &query), expected, "{}", scene.weir.log());
        let answer: Value =
            serde_json::from_str(&scene.ask_with("/graphql", &[("x-hasura-role", "user")], &query))
                .expect("it is JSON");
        let errors = answer["errors"].as_array().expect("there are errors");
        let words: Vec<&str> = errors.iter().filter_map(|it| it["message"].as_str()).collect();
        assert_eq!(words, ["no name", "no total", "and more"], "{answer}");
        assert_eq!(errors[0]["extensions"], json!({ "code": "GONE", "hint": [1] }));
        assert_eq!(errors[1]["extensions"], json!({ "code": "SOURCE_REFUSED" }));
        let path = errors[0]["path"].to_string();
        assert_eq!(path, format!(r#"[{namespace}"mine","of","name"]"#));
        assert_eq!(
            errors[2]["path"].as_array().map(Vec::len),
            Some(if namespace.is_empty() { 1 } else { 2 })
        );
    }
}

#[test]
fn a_field_that_is_not_to_blame_keeps_its_data_over_graphql() {
    let upstream = server(PAYMENTS, |text, _| {
        let good = json!({ "bill": { "id": 3 } });
        if text.contains("fail") {
            let data = if text.contains("ledger") { json!({ "r1_0": good }) } else { Value::Null };
            let errors =
                json!([{ "message": "one", "path": ["r0_0"] }, { "message": "two", "path": ["r0_0"] }]);
            return (200, json!({ "data": data, "errors": errors }));
        }
        (200, json!({ "data": { "r0_0": good } }))
    });
    let scene = Scene::start(json!([payments(&upstream, json!({}))]), json!({}), &[]);
    let query = "{ a: fail ledger { bill(id: 3) { id } } }";
    let answer: Value =
        serde_json::from_str(&scene.ask_with("/graphql", &[("x-hasura-role", "user")], query))
            .expect("it is JSON");
    assert_eq!(answer["data"], json!({ "a": null, "ledger": { "bill": { "id": 3 } } }), "{answer}");
    let words: Vec<_> = answer["errors"].as_array().into_iter().flatten().map(|it| &it["message"]).collect();
    assert_eq!(words, ["one", "two"], "{answer}");
    assert_eq!(answer["errors"][1]["path"], json!(["a"]));
    operations(&upstream);
    // Hasura's protocol has errors or data.
    let answer = scene.ask("user", query);
    assert_eq!(
        answer,
        r#"{"errors":[{"message":"one","path":["a"]},{"message":"two","path":["a"]}]}"#,
        "{}",
        scene.weir.log()
    );
}

#[test]
fn a_mutation_that_fails_is_not_repeated() {
    let upstream = server(PAYMENTS, |_, _| {
        (200, json!({ "errors": [{ "message": "no money" }, { "message": "no bill", "path": ["r1_0"] }] }))
    });
    let scene = Scene::start(json!([payments(&upstream, json!({}))]), json!({}), &[]);
    for path in ["/graphql", "/v1/graphql"] {
        let answer = scene.ask_with(path, &[], "mutation { pay(id: 1) { id } again: pay(id: 2) { id } }");
        assert!(answer.contains("no money") && answer.contains("no bill"), "{answer}");
        assert_eq!(operations(&upstream).len(), 1);
    }
}

#[test]
fn data_that_is_prioritized_hides_all_errors() {
    let upstream = server(PAYMENTS, |_, variables| {
        let errors = json!([{ "message": "one" }, { "message": "two" }]);
        let data = if variables["v0"] == 1 { json!({ "r0_0": { "id": 1 } }) } else { Value::Null };
        (200, json!({ "errors": errors, "data": data }))
    });
    let switch = [("HASURA_GRAPHQL_REMOTE_SCHEMA_PRIORITIZE_DATA", "true")];
    let scene = Scene::start(json!([payments(&upstream, json!({}))]), json!({}), &switch);
    for path in ["/graphql", "/v1/graphql"] {
        let answer = scene.ask_with(path, &[], "{ bill(id: 1) { id } }");
        assert_eq!(answer, r#"{"data":{"bill":{"id":1}}}"#);
        let answer = scene.ask_with(path, &[], "{ bill(id: 2) { id } }");
        assert!(answer.contains("\"one\"") && answer.contains("\"two\""), "{answer}");
    }
}

/// Held while a server is to hang.
static GATE: Mutex<()> = Mutex::new(());

/// A server whose answer depends on the field that is asked for.
fn moody_server() -> Upstream {
    Upstream::start_with(|asked| {
        let sent: Value = serde_json::from_str(&asked.body).expect("it is JSON");
        let text = sent["query"].as_str().expect("it is a text");
        let bill = json!({ "data": { "r0_0": { "id": 7 } } }).to_string();
        match text {
            _ if text.contains("__schema") => (200, introspect(PAYMENTS, text)),
            _ if text.contains("ledger") => {
                drop(GATE.lock());
                (200, bill)
            }
            _ if text.contains("fail") => (200, "<html>busy</html>".to_owned()),
            _ if text.contains("bills") => (500, "<html>broken</html>".to_owned()),
            _ => (500, bill),
        }
    })
}

/// A server that tells its schema, and is gone when the result is called.
fn leaving_server() -> (SocketAddr, impl FnOnce()) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    let is_gone = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_gone);
    let served = std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            if seen.load(Ordering::SeqCst) {
                return;
            }
            let mut reader = BufReader::new(&socket);
            let mut length = 0;
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|it| it > 2) {
                let lower = line.to_ascii_lowercase();
                let value = lower.strip_prefix("content-length:").map(str::trim);
                length = value.and_then(|it| it.parse().ok()).unwrap_or(length);
                line.clear();
            }
            let mut sent = vec![0; length];
            reader.read_exact(&mut sent).expect("the request is whole");
            let sent: Value = serde_json::from_slice(&sent).expect("it is JSON");
            let body = introspect(PAYMENTS, sent["query"].as_str().expect("it is a text"));
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let text = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            (&socket).write_all(text.as_bytes()).expect("it is written");
        }
    });
    let leave = move || {
        is_gone.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(address));
        served.join().expect("it ends");
    };
    (address, leave)
}

/// Checks what the admin and a user are told where there is no answer.
fn check_exception(scene: &Scene, query: &str, url: &str, cause: &str) {
    let message = format!("HTTP exception occurred while sending the request to \"{url}\"");
    let internal = json!({ "type": "http_exception", "message": cause });
    for (role, internal) in [("admin", Some(internal)), ("user", None)] {
        let answer: Value = serde_json::from_str(&scene.ask(role, query)).expect("it is JSON");
        let mut extensions = json!({ "path": "$", "code": "remote-schema-error" });
        if let Some(internal) = internal {
            extensions["internal"] = internal;
        }
        let expected = json!({ "errors": [{ "message": message, "extensions": extensions }] });
        assert_eq!(answer, expected, "{role}: {}", scene.weir.log());
    }
}

#[test]
fn a_server_that_is_gone_is_told_in_hasuras_words() {
    let (address, leave) = leaving_server();
    let base = format!("http://{address}");
    let entry = json!({ "name": "payments", "definition": { "url": "{{PAY}}/graphql" } });
    let scene = Scene::start(json!([entry]), json!({}), &[("PAY", &base)]);
    leave();
    // The address is told as the metadata has it, without the variable's value.
    check_exception(&scene, "{ bill(id: 1) { id } }", "{{PAY}}/graphql", "Connection failure");
    let answer = scene.ask("admin", "mutation { pay(id: 1) { id } }");
    assert!(answer.contains("remote-schema-error"), "{answer}");
    let answer = scene.ask_with("/graphql", &[], "{ bill(id: 1) { id } }");
    assert!(answer.contains("SOURCE_UNAVAILABLE") && !answer.contains("HTTP exception"), "{answer}");
}

#[test]
fn a_server_without_a_sound_answer_is_told_in_hasuras_words() {
    let upstream = moody_server();
    let switch = [("HASURA_GRAPHQL_ADMIN_INTERNAL_ERRORS", "true")];
    let scene =
        Scene::start(json!([payments(&upstream, json!({ "timeout_seconds": 1 }))]), json!({}), &switch);
    let held = GATE.lock().expect("no test panics with it");
    check_exception(&scene, "{ ledger { bill(id: 1) { id } } }", &url(&upstream), "Response timeout");
    drop(held);
    for query in ["{ fail }", "{ bills { id } }"] {
        let answer = scene.ask("admin", query);
        let expected = r#"{"errors":[{"message":"Invalid JSON in response from remote","extensions":{"path":"$","code":"remote-schema-error"}}]}"#;
        assert_eq!(answer, expected, "{query}");
    }
    // The status counts for nothing.
    scene.check("user", "{ bill(id: 7) { id } }", r#"{"bill":{"id":7}}"#);
}
