//! Subscriptions over real sockets: both subprotocols, events, parts; what ends them.

use crate::sockets::{ACK, INIT, NEW, begin, hear, patient, read_close_code, say, socket};
use crate::support::{Answer, Weir, body, message, until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

const PET: &str =
    r#"{"query":"subscription ($id: Int!) { pet_by_pk(id: $id) { name } }","variables":{"id":1}}"#;

fn check(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
}

pub(crate) fn rename(weir: &Weir, name: &str) {
    let mutation = format!(
        r#"mutation {{ update_pet_by_pk(pk_columns: {{id: 1}}, _set: {{name: \"{name}\"}}) {{ id }} }}"#
    );
    check(&weir.post("/graphql", &[], format!(r#"{{"query":"{mutation}"}}"#).as_bytes()), 200, r#""id":1"#);
}

fn pet(name: &str) -> String {
    format!(r#"{{"data":{{"pet_by_pk":{{"name":"{name}"}}}}}}"#)
}

#[test]
fn results_follow_changes_over_both_subprotocols() {
    let weir = patient("");
    for path in ["/graphql", "/v1/graphql"] {
        for (subprotocol, kind, stop) in [(NEW, "next", "complete"), ("graphql-ws", "data", "stop")] {
            let mut socket = socket(&weir, path, subprotocol);
            say(&mut socket, INIT);
            assert_eq!(hear(&mut socket), ACK);
            say(&mut socket, &begin(subprotocol, "a", PET));
            let told = |name: &str| format!(r#"{{"type":"{kind}","id":"a","payload":{}}}"#, pet(name));
            assert_eq!(hear(&mut socket), told("Ada"));
            for name in ["Eve", "Zoe", "Ada"] {
                rename(&weir, name);
                assert_eq!(hear(&mut socket), told(name));
            }
            // Beside it queries go on, and a stopped subscription says nothing more.
            say(&mut socket, &format!(r#"{{"type":"{stop}","id":"a"}}"#));
            say(&mut socket, &begin(subprotocol, "b", r#"{"query":"{ __typename }"}"#));
            assert!(hear(&mut socket).contains("query_root"));
            assert_eq!(hear(&mut socket), r#"{"type":"complete","id":"b"}"#);
            rename(&weir, "Eve");
            say(&mut socket, &begin(subprotocol, "a", PET));
            assert_eq!(hear(&mut socket), told("Eve"));
            rename(&weir, "Ada");
            assert_eq!(hear(&mut socket), told("Ada"));
        }
    }
}

#[test]
fn what_is_refused_ends_the_operation_and_not_the_socket() {
    let weir = patient("");
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    for (query, words) in [
        ("subscription { pet { name } one: pet { id } }", "must select only one top level field"),
        ("subscription { pets { name } }", "pets"),
        ("subscription {", "Syntax Error"),
    ] {
        say(&mut socket, &begin(NEW, "1", &body(query)));
        let error = hear(&mut socket);
        assert!(error.starts_with(r#"{"type":"error","id":"1","#) && error.contains(words), "{error}");
    }
    say(&mut socket, &begin(NEW, "1", PET));
    assert!(hear(&mut socket).contains("Ada"));
}

/// A request that is answered by a stream, its head read.
pub(crate) fn stream(weir: &Weir, raw: &[u8]) -> (String, BufReader<TcpStream>) {
    let mut socket = weir.connect();
    socket.write_all(raw).expect("it is sent");
    let mut reader = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).expect("the head comes") > 0, "{head}");
    }
    (head, reader)
}

/// Reads on until `text` was there.
pub(crate) fn read_until(reader: &mut BufReader<TcpStream>, text: &str) -> String {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(text) {
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap_or_else(|it| panic!("{it}: {}", String::from_utf8_lossy(&seen)));
        seen.push(byte[0]);
    }
    String::from_utf8(seen).expect("it is UTF-8")
}

/// A request, the media type of its answer, and the bytes for a name.
type StreamCase<'c> = (Vec<u8>, &'c str, &'c dyn Fn(&str) -> String);

#[test]
fn events_and_parts_come_as_the_results_do() {
    let weir = patient("");
    let query = "subscription%7Bpet_by_pk(id:1)%7Bname%7D%7D";
    let json = ("content-type", "application/json");
    let post = |path, accept| message("POST", path, &[json, ("accept", accept)], Some(PET.as_bytes()));
    let apollo = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json";
    let event = |name: &str| format!("event: next\ndata: {}\n\n", pet(name));
    let part = |name: &str| format!("{{\"payload\":{}}}\r\n--graphql", pet(name));
    let cases: [StreamCase<'_>; 6] = [
        (post("/graphql", "text/event-stream"), "text/event-stream; charset=utf-8", &event),
        (
            message("GET", &format!("/graphql?query={query}"), &[("accept", "text/event-stream")], None),
            "text/event-stream; charset=utf-8",
            &event,
        ),
        (
            post(
                "/graphql",
                "application/graphql-response+json, application/json, text/event-stream, multipart/mixed",
            ),
            "text/event-stream; charset=utf-8",
            &event,
        ),
        (post("/v1/graphql", "text/event-stream"), "text/event-stream; charset=utf-8", &event),
        (post("/graphql", apollo), "multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0", &part),
        (post("/v1/graphql", apollo), "multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0", &part),
    ];
    for (raw, media, told) in cases {
        let (head, mut reader) = stream(&weir, &raw);
        assert!(
            head.starts_with("HTTP/1.1 200") && head.contains(&format!("content-type: {media}")),
            "{head}"
        );
        read_until(&mut reader, &told("Ada"));
        rename(&weir, "Eve");
        read_until(&mut reader, &told("Eve"));
        rename(&weir, "Ada");
        read_until(&mut reader, &told("Ada"));
    }
    until("streams that nobody reads any more end", || {
        weir.get("/metrics", &[]).text().contains("weir_subscriptions 0")
    });
}

#[test]
fn a_client_that_reads_events_alone_gets_answers_and_errors_as_events() {
    let weir = Weir::pets(&[]);
    let events = [("accept", "text/event-stream")];
    for path in ["/graphql", "/v1/graphql"] {
        let answer = weir.post(path, &events, body("{ pet_by_pk(id: 1) { name } }").as_bytes());
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("text/event-stream; charset=utf-8"))
        );
        let whole = format!("event: next\ndata: {}\n\nevent: complete\ndata:\n\n", pet("Ada"));
        assert_eq!(answer.text(), whole, "{path}");
        let refused = weir.post(path, &events, body("{ pets }").as_bytes());
        assert!(refused.text().starts_with("event: next\ndata: {\"errors\":["), "{}", refused.text());
    }
    let by_get =
        weir.get("/graphql?query=mutation%7Bdelete_pet(where:%7B%7D)%7Baffected_rows%7D%7D", &events);
    assert!(by_get.text().contains("METHOD_NOT_ALLOWED"), "{}", by_get.text());
    check(&weir.query("{ pet_by_pk(id: 1) { name } }"), 200, "Ada");
    let secret = Weir::pets(&["--admin-secret", "hush"]);
    check(&secret.post("/graphql", &events, body("{ __typename }").as_bytes()), 401, "ACCESS_DENIED");
}

#[test]
fn a_server_that_ends_says_so_and_closes() {
    let weir = patient("");
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "1", PET));
    assert!(hear(&mut socket).contains("Ada"));
    weir.signal("-TERM");
    assert_eq!(read_close_code(&mut socket), 1001);
}

/// Adds the pets `from..=to`.
fn add(weir: &Weir, from: u32, to: u32) {
    let objects: Vec<String> = (from..=to).map(|id| format!(r#"{{id: {id}, name: \"Dot\"}}"#)).collect();
    let objects = objects.join(", ");
    let mutation =
        format!(r#"{{"query":"mutation {{ insert_pet(objects: [{objects}]) {{ affected_rows }} }}"}}"#);
    check(&weir.post("/graphql", &[], mutation.as_bytes()), 200, "affected_rows");
}

/// A stream of pets behind `after`.
fn pets_after(after: u32) -> String {
    let query = "subscription ($after: Int!) { pet_stream(batch_size: 2, cursor: {initial_value: {id: $after}}) { id } }";
    format!(r#"{{"query":"{query}","variables":{{"after":{after}}}}}"#)
}

#[test]
fn a_stream_gives_every_row_once_also_to_a_client_that_comes_again() {
    let weir = patient("");
    for (path, subprotocol, kind, at) in
        [("/graphql", NEW, "next", 100), ("/v1/graphql", "graphql-ws", "data", 200)]
    {
        let told = |ids: &[u32]| {
            let rows: Vec<String> = ids.iter().map(|id| format!(r#"{{"id":{id}}}"#)).collect();
            let rows = rows.join(",");
            format!(r#"{{"type":"{kind}","id":"a","payload":{{"data":{{"pet_stream":[{rows}]}}}}}}"#)
        };
        let streaming = |after: u32| {
            let mut socket = socket(&weir, path, subprotocol);
            say(&mut socket, INIT);
            assert_eq!(hear(&mut socket), ACK);
            say(&mut socket, &begin(subprotocol, "a", &pets_after(after)));
            socket
        };
        add(&weir, at, at + 4);
        let mut socket = streaming(at - 1);
        for batch in [[at, at + 1].as_slice(), &[at + 2, at + 3], &[at + 4]] {
            assert_eq!(hear(&mut socket), told(batch));
        }
        add(&weir, at + 5, at + 7);
        assert_eq!(hear(&mut socket), told(&[at + 5, at + 6]));
        // A new socket goes on behind the last row that came.
        drop(socket);
        let mut socket = streaming(at + 6);
        assert_eq!(hear(&mut socket), told(&[at + 7]));
    }
}

#[test]
fn a_stream_goes_on_under_the_next_generation() {
    let weir = patient("");
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    add(&weir, 100, 101);
    say(&mut socket, &begin(NEW, "a", &pets_after(99)));
    let told = |row: u32| format!(r#"{{"data":{{"pet_stream":[{{"id":{row}}}"#);
    assert!(hear(&mut socket).contains(&told(100)));
    for row in 102..105 {
        check(&weir.post("/v1/reload", &[], b""), 200, "generation");
        add(&weir, row, row);
        let heard = hear(&mut socket);
        assert!(heard.contains(&told(row)), "{heard}");
    }
}

#[test]
fn a_function_that_changes_data_is_called_whenever_its_subscription_is_read() {
    let database = crate::postgres_kit::database(
        "CREATE TABLE counter (id int PRIMARY KEY, n int); INSERT INTO counter VALUES (1, 0);
         CREATE FUNCTION tick() RETURNS SETOF counter LANGUAGE sql VOLATILE AS 'UPDATE counter SET n = n + 1 RETURNING *'",
    );
    let folder = crate::support::Folder::new();
    let yaml = format!(
        "listen: 127.0.0.1:0\nlive: {{poll_ms: 100}}\nsources: [{{name: default, url: \"{}\", functions: [{{function: tick, configuration: {{exposed_as: query}}}}]}}]\n",
        database.url()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let mut socket = socket(&weir, "/v1/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "a", &body("subscription { tick { n } }")));
    for n in 1..=3 {
        let expected = format!(r#"{{"type":"next","id":"a","payload":{{"data":{{"tick":[{{"n":{n}}}]}}}}}}"#);
        assert_eq!(hear(&mut socket), expected);
    }
}
