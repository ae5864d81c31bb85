//! The answers of every example of a server, over real sockets: GraphQL over HTTP, files, events and parts.
//!
//! The binary that has this module says by `addresses` which servers are asked.

#[path = "../../../transport/tests/requests_kit/mod.rs"]
mod requests_kit;

use super::addresses;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A response: status, head in lower case, body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

/// The body that was sent in chunks. Source: RFC 9112, section 7.1.
fn unchunked(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((length, rest)) = chunks.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("the length of a chunk");
        let (chunk, rest) = rest.split_at(length);
        body.push_str(chunk);
        chunks = rest.strip_prefix("\r\n").expect("the end of a chunk");
    }
    body
}

/// Sends a request to `address`. With HTTP/1.0 the answer ends with the connection. Some servers send chunks all the same.
fn send(address: SocketAddr, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let mut request = format!("{method} {target} HTTP/1.0\r\ncontent-length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).expect("the server reads the head");
    // A server that refuses a body may close before it has read it.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).expect("an answer in UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
    let head = head.to_ascii_lowercase();
    let is_chunked = head.contains("transfer-encoding: chunked");
    Answer { status, head, body: if is_chunked { unchunked(body) } else { body.to_owned() } }
}

/// All servers answer `expected`.
fn check(method: &str, target: &str, headers: &[(&str, &str)], body: &[u8], expected: (u16, &str)) {
    for address in addresses() {
        let Answer { status, body, .. } = send(*address, method, target, headers, body);
        assert_eq!((status, &*body), expected, "{method} {target} {headers:?}");
    }
}

const JSON: (&str, &str) = ("content-type", "application/json");
const TELLING: (&str, &str) = ("accept", "application/graphql-response+json");

#[test]
fn a_post_is_answered_with_its_variables_and_headers() {
    let body = br#"{"query": "query Q($no: Boolean!) { agent users @skip(if: $no) { name posts { title } } } query R { __typename }",
        "variables": {"no": false}, "operationName": "Q"}"#;
    let expected = r#"{"data":{"agent":"test","users":[{"name":"Ada","posts":[{"title":"post 0 of Ada"}]},{"name":"Bob","posts":[{"title":"post 1 of Bob"}]}]}}"#;
    check("POST", "/graphql", &[JSON, ("user-agent", "test")], body, (200, expected));
}

#[test]
fn a_get_asks_queries_alone() {
    let target = "/graphql?query=query(%24no:Boolean!)%7Busers%20@skip(if:%24no)%7Bid%7D%7D&variables=%7B%22no%22:false%7D";
    check("GET", target, &[], b"", (200, r#"{"data":{"users":[{"id":0},{"id":1}]}}"#));
    let refused = r#"{"errors":[{"message":"a GET can only run queries; send a mutation by POST","extensions":{"code":"METHOD_NOT_ALLOWED"}}]}"#;
    check("GET", "/graphql?query=mutation%7Bping%7D", &[], b"", (405, refused));
    let events = [("accept", "text/event-stream")];
    check("GET", "/graphql?query=mutation%7Bping%7D", &events, b"", (405, refused));
    let nothing = r#"{"errors":[{"message":"`query` is missing: send {\"query\": \"{ … }\"}","extensions":{"code":"BAD_REQUEST"}}]}"#;
    check("GET", "/graphql", &[], b"", (400, nothing));
}

#[test]
fn the_status_is_that_of_the_media_type() {
    for address in addresses() {
        let ask = |accept: &[(&str, &str)], query: &str| {
            let body = format!(r#"{{"query": "{query}"}}"#);
            let headers: Vec<_> = accept.iter().copied().chain([JSON]).collect();
            let answer = send(*address, "POST", "/graphql", &headers, body.as_bytes());
            let media = answer.head.split("content-type: ").nth(1).and_then(|it| it.split(';').next());
            (answer.status, media.expect("a media type").to_owned())
        };
        assert_eq!(ask(&[], "{ agent }"), (200, "application/json".into()));
        assert_eq!(ask(&[TELLING], "{ agent }"), (200, "application/graphql-response+json".into()));
        assert_eq!(ask(&[], "{ nothing }"), (200, "application/json".into()));
        assert_eq!(ask(&[TELLING], "{ nothing }"), (400, "application/graphql-response+json".into()));
        assert_eq!(ask(&[TELLING], "subscription { ping }").0, 400);
        assert_eq!(ask(&[("accept", "text/html")], "{ agent }").0, 406);
    }
}

#[test]
fn what_is_no_request_is_refused() {
    let status = |method: &str, headers: &[(&str, &str)], body: &[u8], expected: u16| {
        for address in addresses() {
            assert_eq!(send(*address, method, "/graphql", headers, body).status, expected, "{headers:?}");
        }
    };
    status("POST", &[JSON], b"{", 400);
    status("POST", &[JSON], b"{}", 400);
    status("POST", &[JSON], br#"{"query": "{ agent }", "variables": 1}"#, 400);
    status("POST", &[], br#"{"query": "{ agent }"}"#, 415);
    status("POST", &[("content-type", "text/plain")], br#"{"query": "{ agent }"}"#, 415);
    status("PUT", &[JSON], br#"{"query": "{ agent }"}"#, 405);
    let long = format!(r#"{{"query": "{{ agent }}", "extensions": "{}"}}"#, "x".repeat(1 << 20));
    status("POST", &[JSON], long.as_bytes(), 413);
    for address in addresses() {
        assert_eq!(send(*address, "POST", "/other", &[JSON], b"{}").status, 404);
    }
}

#[test]
fn a_subscription_is_a_stream_of_events() {
    let expected = "event: next\ndata: {\"data\":{\"ping\":1}}\n\nevent: next\ndata: {\"data\":{\"ping\":2}}\n\nevent: complete\ndata:\n\n";
    let events = [JSON, ("accept", "text/event-stream")];
    check("POST", "/graphql", &events, br#"{"query": "subscription { ping }"}"#, (200, expected));
    check("GET", "/graphql?query=subscription%7Bping%7D", &events[1..], b"", (200, expected));
    let once = "event: next\ndata: {\"data\":{\"agent\":null}}\n\nevent: complete\ndata:\n\n";
    check("POST", "/graphql", &events, br#"{"query": "{ agent }"}"#, (200, once));
}

#[test]
fn deferred_fragments_are_parts() {
    let accept =
        [JSON, ("accept", "multipart/mixed;deferSpec=20220824, application/json"), ("user-agent", "a")];
    let body = br#"{"query": "{ agent ... @defer { users { posts { title } } } }"}"#;
    let part = "\r\ncontent-type: application/json\r\n\r\n";
    let first = r#"{"data":{"agent":"a"},"hasNext":true}"#;
    let users = r#"[{"posts":[{"title":"post 0 of Ada"}]},{"posts":[{"title":"post 1 of Bob"}]}]"#;
    let late = format!(r#"{{"incremental":[{{"path":[],"data":{{"users":{users}}}}}],"hasNext":false}}"#);
    let expected = format!("\r\n---{part}{first}\r\n---{part}{late}\r\n-----\r\n");
    check("POST", "/graphql", &accept, body, (200, &expected));
    check("POST", "/graphql", &accept, br#"{"query": "{ agent }"}"#, (200, r#"{"data":{"agent":"a"}}"#));
}

#[test]
fn a_subscription_that_is_refused_is_one_result() {
    let events = [JSON, ("accept", "text/event-stream")];
    let expected = "event: next\ndata: {\"errors\":[";
    for address in addresses() {
        let answer = send(*address, "POST", "/graphql", &events, br#"{"query": "subscription { nothing }"}"#);
        assert_eq!(answer.status, 200);
        assert!(answer.body.starts_with(expected), "{}", answer.body);
        assert!(answer.body.ends_with("\n\nevent: complete\ndata:\n\n"), "{}", answer.body);
    }
}

#[test]
fn a_subscription_in_parts_is_what_a_client_of_apollo_takes() {
    let accept = [JSON, ("accept", "multipart/mixed;subscriptionSpec=1.0, application/json")];
    let part = "\r\ncontent-type: application/json\r\n\r\n";
    let result = |ping: u8| format!("{part}{{\"payload\":{{\"data\":{{\"ping\":{ping}}}}}}}\r\n--graphql");
    let expected = format!("\r\n--graphql{}{}--\r\n", result(1), result(2));
    check("POST", "/graphql", &accept, br#"{"query": "subscription { ping }"}"#, (200, &expected));
    check("POST", "/graphql", &accept, br#"{"query": "{ agent }"}"#, (200, r#"{"data":{"agent":null}}"#));
}

#[test]
fn requests_are_read_as_by_every_server() {
    for address in addresses() {
        requests_kit::check_requests("PERSISTED_QUERY_NOT_SUPPORTED", |(method, target, headers, body)| {
            let Answer { status, body, .. } = send(*address, method, target, headers, body);
            (status, body)
        });
    }
}

#[test]
fn a_list_of_requests_is_answered_in_order() {
    let list = br#"[{"query": "{ agent }"}, {"query": "{ nothing }"}, {}, {"query": "{ users { id } }"}]"#;
    for address in addresses() {
        let answer = send(*address, "POST", "/graphql", &[JSON, ("user-agent", "b")], list);
        assert_eq!(answer.status, 200);
        let parts = [
            r#"[{"data":{"agent":"b"}},{"errors":"#,
            "`query` is missing",
            r#",{"data":{"users":[{"id":0},{"id":1}]}}]"#,
        ];
        assert!(answer.body.starts_with(parts[0]) && answer.body.ends_with(parts[2]), "{}", answer.body);
        assert!(answer.body.contains(parts[1]), "{}", answer.body);
        let long = format!("[{}]", [r#"{"query": "{ agent }"}"#; 11].join(","));
        let refused = send(*address, "POST", "/graphql", &[JSON], long.as_bytes());
        assert_eq!((refused.status, refused.body.contains("LIMIT_BATCH")), (400, true), "{}", refused.body);
        assert_eq!(send(*address, "POST", "/graphql", &[JSON], b"[]").status, 400);
        let telling = send(*address, "POST", "/graphql", &[JSON, TELLING], list);
        assert!(telling.head.contains("content-type: application/graphql-response+json"), "{}", telling.head);
    }
}

#[test]
fn a_body_may_be_the_operation_and_a_hash_is_checked() {
    let text = [("content-type", "application/graphql")];
    check("POST", "/graphql", &text, b"{ agent }", (200, r#"{"data":{"agent":null}}"#));
    let hashed = |hash: &str| {
        format!(
            r#"{{"query": "{{ agent }}", "extensions": {{"persistedQuery": {{"version": 1, "sha256Hash": "{hash}"}}}}}}"#
        )
    };
    for address in addresses() {
        let other = send(*address, "POST", "/graphql", &[JSON], hashed(&"0".repeat(64)).as_bytes());
        assert_eq!(
            (other.status, other.body.contains("PERSISTED_QUERY_MISMATCH")),
            (200, true),
            "{}",
            other.body
        );
        let alone = br#"{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "00"}}}"#;
        let alone = send(*address, "POST", "/graphql", &[JSON, TELLING], alone);
        assert_eq!(
            (alone.status, alone.body.contains("PersistedQueryNotSupported")),
            (400, true),
            "{}",
            alone.body
        );
    }
}

/// A form of fields: name, file name, content.
fn form(fields: &[(&str, Option<&str>, &str)]) -> Vec<u8> {
    let mut out = String::new();
    for (name, file, content) in fields {
        out.push_str(&format!("--limit\r\ncontent-disposition: form-data; name=\"{name}\""));
        if let Some(file) = file {
            out.push_str(&format!("; filename=\"{file}\"\r\ncontent-type: text/plain"));
        }
        out.push_str(&format!("\r\n\r\n{content}\r\n"));
    }
    out.push_str("--limit--\r\n");
    out.into_bytes()
}

const FORM: (&str, &str) = ("content-type", "multipart/form-data; boundary=limit");
const PREFLIGHT: (&str, &str) = ("graphql-preflight", "1");
const STORE: &str = r#"{"query": "mutation ($file: Upload!) { store(file: $file) { name bytes } }", "variables": {"file": null}}"#;
const ALBUM: &str = r#"{"query": "mutation ($album: Album!) { storeAlbum(album: $album) { name bytes } }", "variables": {"album": {"title": "t", "images": [null, null, null]}}}"#;

#[test]
fn files_stand_in_variables_lists_and_input_objects() {
    let one = form(&[
        ("operations", None, STORE),
        ("map", None, r#"{"0": ["variables.file"]}"#),
        ("0", Some("a.txt"), "hello"),
    ]);
    check(
        "POST",
        "/graphql",
        &[FORM, PREFLIGHT],
        &one,
        (200, r#"{"data":{"store":{"name":"a.txt","bytes":5}}}"#),
    );
    let map = r#"{"a": ["variables.album.images.0", "variables.album.images.2"]}"#;
    let album = form(&[("operations", None, ALBUM), ("map", None, map), ("a", Some("b.txt"), "xy")]);
    let expected = r#"{"data":{"storeAlbum":[{"name":"b.txt","bytes":2},{"name":"b.txt","bytes":2},{"name":"t","bytes":0}]}}"#;
    check("POST", "/graphql", &[FORM, PREFLIGHT], &album, (200, expected));
    let apollo = [FORM, ("apollo-require-preflight", "true")];
    check("POST", "/graphql", &apollo, &one, (200, r#"{"data":{"store":{"name":"a.txt","bytes":5}}}"#));
}

#[test]
fn forms_that_break_the_convention_are_refused() {
    let refused = |fields: &[(&str, Option<&str>, &str)], status: u16, message: &str| {
        for address in addresses() {
            let answer = send(*address, "POST", "/graphql", &[FORM, PREFLIGHT], &form(fields));
            assert_eq!(answer.status, status, "{message}: {}", answer.body);
            assert!(answer.body.contains(message), "{message}: {}", answer.body);
        }
    };
    let operations = ("operations", None, STORE);
    let file = ("0", Some("a"), "x");
    let map = ("map", None, r#"{"0": ["variables.file"]}"#);
    refused(&[map, operations, file], 400, "the field `operations` has to come before `map`");
    refused(&[operations, file, map], 400, "the field `map` has to come before `0`");
    refused(&[operations], 400, "the request has no field `map`");
    refused(&[operations, map], 400, "the request has no file `0`");
    refused(&[operations, map, file, file], 400, "the file `0` comes twice");
    refused(&[operations, map, file, ("1", Some("b"), "y")], 400, "`map` does not name the file `1`");
    let other = |map| [operations, ("map", None, map), file];
    refused(
        &other(r#"{"0": ["variables.nothing"]}"#),
        400,
        "the variables have nothing at `variables.nothing`",
    );
    refused(&other(r#"{"0": ["query"]}"#), 400, "the path `query` does not lead into the variables");
    refused(&other(r#"{"0": ["variables.file", "variables.file"]}"#), 400, "two files have the path");
    refused(&other(r#"{"0": []}"#), 400, "`map` has no list of paths for `0`");
    refused(&other(r#"{"0": "variables.file"}"#), 400, "`map` has no list of paths for `0`");
    refused(&other("[]"), 400, "`map` is no JSON object");
    refused(&other(r#"{"0": ["variables.file"], "0": ["variables.file"]}"#), 400, "duplicate key");
    let filled = STORE.replace(r#""file": null"#, r#""file": "x""#);
    refused(&[("operations", None, &*filled), map, file], 400, "`variables.file` is not null");
    let batch = format!("[{STORE}]");
    refused(&[("operations", None, &*batch), map, file], 400, "`operations` is a list");
}

#[test]
fn files_are_bounded_and_need_a_header_that_forms_cannot_set() {
    let map = ("map", None, r#"{"0": ["variables.file"]}"#);
    let fields = [("operations", None, STORE), map, ("0", Some("a"), "x")];
    for address in addresses() {
        let without = send(*address, "POST", "/graphql", &[FORM], &form(&fields));
        assert_eq!(without.status, 400);
        assert!(without.body.contains("GraphQL-Preflight"), "{}", without.body);
        let send = |fields: &[(&str, Option<&str>, &str)]| {
            send(*address, "POST", "/graphql", &[FORM, PREFLIGHT], &form(fields))
        };
        let long = "x".repeat(1025);
        let found = send(&[fields[0], map, ("0", Some("a"), &*long)]);
        assert_eq!(
            (found.status, found.body.contains("the field `0` has more than 1024 bytes")),
            (413, true)
        );
        let longest = "x".repeat(1024);
        assert_eq!(send(&[fields[0], map, ("0", Some("a"), &*longest)]).status, 200);
        let paths = r#"{"0": ["variables.a.0", "variables.a.1", "variables.a.2", "variables.a.3"]}"#;
        assert_eq!(send(&[fields[0], ("map", None, paths)]).status, 413);
        let total = "x".repeat(5000);
        assert_eq!(send(&[("operations", None, STORE), ("map", None, &*total)]).status, 413);
    }
}

#[test]
fn a_text_of_a_client_is_no_file() {
    let body = STORE.replace(r#""file": null"#, r#""file": "weir-upload:0""#);
    for address in addresses() {
        let answer = send(*address, "POST", "/graphql", &[JSON], body.as_bytes());
        assert!(answer.body.contains("`file`: it is no file of the request"), "{}", answer.body);
    }
}
