//! A share of the queries goes to a canary too: which ones, with which headers, and what becomes of its answers.

use crate::persisted::{Transport, ask};
use crate::support::{Folder, Weir, body, until};
use crate::upstream_kit::{Asked, Upstream};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};

const ONE: &str = "query One($id: Int!) { pet_by_pk(id: $id) { name } }";
const ANSWER: &str = r#"{"data": {"pet_by_pk": {"name": "Ada"}}}"#;

/// Serves the pets; `settings` are those of the mirror at `canary` beside `share: 1`.
fn serve(canary: SocketAddr, settings: &str) -> Weir {
    Weir::with_settings(&format!("threads: 1\nmirror: {{url: \"http://{canary}\", share: 1, {settings}}}"))
}

fn canary(answer: &'static str) -> Upstream {
    Upstream::start_with(move |_| (200, answer.to_owned()))
}

/// A request for Ada's name.
fn one() -> String {
    json!({ "query": ONE, "operationName": "One", "variables": { "id": 1 } }).to_string()
}

/// Requests that `canary` gets, once there are `count`.
fn mirrored(canary: &Upstream, count: usize) -> Vec<Asked> {
    let mut all = Vec::new();
    until("the canary is asked", || {
        all.extend(canary.take_requests());
        all.len() >= count
    });
    assert_eq!(all.len(), count, "{all:?}");
    all
}

fn page(weir: &Weir) -> Value {
    weir.get("/admin/mirror", &[]).json()
}

/// Waits until `count` requests had this outcome.
fn await_outcome(weir: &Weir, outcome: &str, count: u64) {
    until(outcome, || page(weir)["requests"][outcome].as_u64() >= Some(count));
    let line = format!("weir_mirror_requests_total{{outcome=\"{outcome}\"}} {count}");
    let metrics = weir.get("/metrics", &[]);
    assert!(metrics.text().lines().any(|it| it == line), "{line} is not in\n{}", metrics.text());
}

#[test]
fn queries_are_mirrored_over_each_endpoint_with_their_text() {
    let canary = canary(ANSWER);
    let weir = serve(canary.address, "timeout_ms: 600000");
    for (transport, line) in [
        (Transport::Post("/graphql"), "POST /graphql"),
        (Transport::Get, "POST /graphql"),
        (Transport::List("/graphql"), "POST /graphql"),
        (Transport::Events("/graphql"), "POST /graphql"),
        (Transport::Post("/v1/graphql"), "POST /v1/graphql"),
        (Transport::List("/v1/graphql"), "POST /v1/graphql"),
        (Transport::Socket("/graphql", crate::sockets::NEW), "POST /graphql"),
    ] {
        let answer = ask(&weir, transport, &[("x-request-id", "r-1")], &one());
        assert!(answer.contains("Ada"), "{transport:?}: {answer}");
        let [asked] = &mirrored(&canary, 1)[..] else { panic!("one request") };
        assert_eq!(asked.line, line, "{transport:?}");
        let sent: Value = serde_json::from_str(&asked.body).expect("it is JSON");
        assert_eq!(sent, serde_json::from_str::<Value>(&one()).expect("it is JSON"), "{transport:?}");
    }
    await_outcome(&weir, "equal", 7);
    assert_eq!(page(&weir)["differences"], json!([]));
}

#[test]
fn the_canary_gets_the_text_of_a_document_that_a_client_names_by_its_identifier() {
    let canary = canary(ANSWER);
    let folder = Folder::new();
    folder.pets();
    folder.write("documents.json", &json!({ "a": ONE }).to_string());
    let yaml = format!(
        "mirror: {{url: \"http://{}\", share: 1, timeout_ms: 600000}}\noperations: {{persisted: {{files: [{{path: documents.json}}]}}}}",
        canary.address
    );
    let weir = Weir::in_folder(folder, &yaml);
    let by_id = json!({ "documentId": "a", "variables": { "id": 1 } }).to_string();
    for transport in [Transport::Post("/graphql"), Transport::Get, Transport::Post("/v1/graphql")] {
        assert!(ask(&weir, transport, &[], &by_id).contains("Ada"), "{transport:?}");
        let sent: Value = serde_json::from_str(&mirrored(&canary, 1)[0].body).expect("it is JSON");
        assert_eq!(sent, json!({ "query": ONE, "variables": { "id": 1 } }), "{transport:?}");
    }
}

#[test]
fn nothing_is_mirrored_that_changes_data_was_refused_or_was_mirrored_before() {
    let canary = canary(ANSWER);
    let weir = serve(canary.address, "timeout_ms: 600000");
    let insert = |id: u32| {
        body(&format!("mutation {{ insert_pet_one(object: {{id: {id}, name: \"Eve\"}}) {{ id }} }}"))
    };
    for (transport, id) in [
        (Transport::Post("/graphql"), 11),
        (Transport::Post("/v1/graphql"), 12),
        (Transport::List("/v1/graphql"), 13),
        (Transport::Socket("/graphql", crate::sockets::NEW), 14),
    ] {
        let answer = ask(&weir, transport, &[], &insert(id));
        assert!(answer.contains(&format!("\"id\":{id}")), "{transport:?}: {answer}");
    }
    // Of two operations the named one counts.
    let both = json!({ "query": "query A { pet { id } } mutation B { delete_pet(where: {id: {_eq: 11}}) { affected_rows } }", "operationName": "B" });
    assert!(weir.post("/graphql", &[], both.to_string().as_bytes()).text().contains("\"affected_rows\":1"));
    assert!(weir.query("{ nothing }").text().contains("errors"));
    assert!(weir.post("/graphql", &[("x-weir-mirror", "1")], one().as_bytes()).text().contains("Ada"));
    assert!(weir.post("/v1/graphql", &[("X-Weir-Mirror", "any")], one().as_bytes()).text().contains("Ada"));
    // Requests are mirrored in their order: if one of those above was, the canary has it beside this one.
    assert!(weir.post("/graphql", &[], one().as_bytes()).text().contains("Ada"));
    let asked = mirrored(&canary, 1);
    assert!(asked[0].body.contains("pet_by_pk"), "{asked:?}");
    await_outcome(&weir, "equal", 1);
}

#[test]
fn the_canary_gets_credentials_only_where_the_configuration_names_their_headers() {
    let sent = [
        ("authorization", "Bearer hush"),
        ("cookie", "session=hush"),
        ("x-hasura-role", "hush"),
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("x-request-id", "r-7"),
    ];
    for (settings, expected) in
        [("timeout_ms: 600000", None), ("timeout_ms: 600000, headers: [Authorization]", Some("Bearer hush"))]
    {
        let canary = canary(ANSWER);
        let weir = serve(canary.address, settings);
        assert!(weir.post("/graphql", &sent[..2], one().as_bytes()).text().contains("Ada"));
        let asked = mirrored(&canary, 1);
        let header = |name: &str| asked[0].headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
        assert_eq!((header("authorization"), header("x-weir-mirror")), (expected, Some("1")), "{asked:?}");
        assert_eq!((header("cookie"), header("x-hasura-admin-secret")), (None, None), "{asked:?}");
        assert!(weir.post("/graphql", &sent[3..], one().as_bytes()).text().contains("Ada"));
        let asked = mirrored(&canary, 1);
        let header = |name: &str| asked[0].headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
        assert_eq!(
            (header("x-request-id"), header("traceparent")),
            (Some("r-7"), Some(sent[3].1)),
            "{asked:?}"
        );
    }
}

#[test]
fn differences_are_counted_and_shown_without_values() {
    let canary = canary(r#"{"data": {"pet_by_pk": {"name": ["hush"]}}}"#);
    let weir = serve(canary.address, "timeout_ms: 600000");
    let answer = weir.post("/graphql", &[("x-request-id", "r-2")], one().as_bytes());
    assert_eq!(answer.json(), serde_json::from_str::<Value>(ANSWER).expect("it is JSON"));
    await_outcome(&weir, "different", 1);
    let page = page(&weir);
    let mut sample = page["differences"][0].clone();
    assert!(sample["at_ms"].as_u64() > Some(0));
    sample["at_ms"] = Value::Null;
    let expected = json!({ "at_ms": null, "operation": "One", "request_id": "r-2", "path": "/data/pet_by_pk/name", "ours": "string", "theirs": "list" });
    assert_eq!(sample, expected);
    assert!(!page.to_string().contains("Ada") && !page.to_string().contains("hush"));
    assert!(!weir.log().contains("hush"), "{}", weir.log());
}

#[test]
fn a_status_and_garbage_are_differences() {
    let garbage = Upstream::start_with(|asked| match asked.line.as_str() {
        "POST /graphql" => (200, "<html>".to_owned()),
        _ => (500, ANSWER.to_owned()),
    });
    let weir = serve(garbage.address, "timeout_ms: 600000");
    for (path, expected) in [("/graphql", ""), ("/v1/graphql", "status")] {
        assert!(weir.post(path, &[], one().as_bytes()).text().contains("Ada"));
        until("a sample", || page(&weir)["differences"][0]["path"] == expected);
    }
    await_outcome(&weir, "different", 2);
}

#[test]
fn a_canary_that_is_gone_changes_no_answer() {
    let gone = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("there is a port");
    let weir = serve(gone, "timeout_ms: 600000");
    for path in ["/graphql", "/v1/graphql"] {
        assert!(weir.post(path, &[], one().as_bytes()).text().contains("Ada"));
    }
    await_outcome(&weir, "failed", 2);
    assert!(weir.log().contains("the mirror did not answer"), "{}", weir.log());
}

#[test]
fn a_canary_that_never_answers_holds_up_nothing_and_what_waits_is_bounded() {
    // Connections are accepted, and never read.
    let silent = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = silent.local_addr().expect("it listens");
    let weir = serve(address, "timeout_ms: 600000, calls_max: 2, bytes_max: 2000");
    for _ in 0..50 {
        assert!(weir.post("/graphql", &[], one().as_bytes()).text().contains("Ada"));
    }
    until("what is too much is dropped", || page(&weir)["requests"]["dropped"].as_u64() >= Some(40));
    let weir = serve(address, "timeout_ms: 50");
    // A request that waited for its whole time is dropped, as on a busy machine; another one is called.
    until("a call ends with its time", || {
        assert!(weir.post("/graphql", &[], one().as_bytes()).text().contains("Ada"));
        page(&weir)["requests"]["failed"].as_u64() >= Some(1)
    });
}

#[test]
fn a_share_of_none_mirrors_nothing_and_a_long_answer_is_not_compared() {
    let canary = canary(ANSWER);
    let yaml = |share: u8| {
        format!(
            "cache: {{hold_back_bytes: 1}}\nmirror: {{url: \"http://{}\", share: {share}}}",
            canary.address
        )
    };
    let weir = Weir::with_settings(&yaml(0));
    assert!(weir.query("{ pet { name } }").text().contains("Ada"));
    let weir = Weir::with_settings(&yaml(1));
    assert!(weir.query("{ pet { name } }").text().contains("Ada"));
    until("it is counted", || {
        page(&weir)["requests"].as_object().is_some_and(|it| it.values().any(|it| *it != 0))
    });
    let outcomes = page(&weir)["requests"].clone();
    assert_eq!(outcomes["streamed"], 1, "{outcomes}");
    assert_eq!(canary.take_requests().len(), 0);
}
