//! The HTTP surface over real sockets: methods, media types, bodies, limits, gates.

use crate::requests_kit;
use crate::support::{Answer, Weir, body, message};
use std::io::{BufReader, Read, Write};

const ADA: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#;
const ASK: &str = "{ pet_by_pk(id: 1) { name } }";
const TELLING: (&str, &str) = ("accept", "application/graphql-response+json");

fn check(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
}

#[test]
fn a_query_is_answered_by_post_and_by_get() {
    let weir = Weir::pets(&[]);
    check(&weir.query(ASK), 200, ADA);
    check(&weir.get("/graphql?query=%7B%20pet_by_pk(id:1)%20%7B%20name%20%7D%7D", &[]), 200, ADA);
    let path =
        "/graphql?query=query(%24id:Int!)%7Bpet_by_pk(id:%24id)%7Bname%7D%7D&variables=%7B%22id%22:1%7D";
    check(&weir.get(path, &[]), 200, ADA);
    check(&weir.post("/v1/graphql", &[], body(ASK).as_bytes()), 200, ADA);
}

#[test]
fn the_media_type_decides_the_status_of_a_refusal() {
    let weir = Weir::pets(&[]);
    let wrong = body("{ nothing }");
    let json = weir.post("/graphql", &[], wrong.as_bytes());
    check(&json, 200, "GRAPHQL_VALIDATION_FAILED");
    assert_eq!(json.header("content-type"), Some("application/json; charset=utf-8"));
    let telling = weir.post("/graphql", &[TELLING], wrong.as_bytes());
    check(&telling, 400, "GRAPHQL_VALIDATION_FAILED");
    assert_eq!(telling.header("content-type"), Some("application/graphql-response+json; charset=utf-8"));
    assert!(telling.json().get("data").is_none());
    check(
        &weir.post("/v1/graphql", &[], wrong.as_bytes()),
        200,
        "field 'nothing' not found in type: 'query_root'",
    );
    check(&weir.post("/graphql", &[("accept", "image/png")], wrong.as_bytes()), 406, "NOT_ACCEPTABLE");
}

#[test]
fn an_answer_to_a_get_says_what_a_cache_has_to_compare() {
    let weir = Weir::pets(&[]);
    let answer = weir.get("/graphql?query=%7B__typename%7D", &[]);
    assert_eq!((answer.status, answer.header("vary")), (200, Some("accept, accept-encoding, origin")));
}

/// `{ pet_by_pk(id: 1) { name } }`, to be kept for a minute, as a GET.
const KEPT: &str = "/graphql?query=query%20%40cached(ttl%3A60)%7Bpet_by_pk(id%3A1)%7Bname%7D%7D";

#[test]
fn an_answer_that_is_kept_is_shown_until_a_mutation_changes_it() {
    let weir = Weir::pets(&[]);
    let check = |from: &str, name: &str| {
        let answer = weir.get(KEPT, &[]);
        check(&answer, 200, name);
        assert!(answer.header("x-weir-cache").is_some_and(|it| it.starts_with(from)), "{answer:?}");
        assert!(
            answer.header("cache-control").is_some_and(|it| it.starts_with("public,max-age=")),
            "{answer:?}"
        );
    };
    check("miss", "Ada");
    check("hit", "Ada");
    weir.query("mutation { update_pet_by_pk(pk_columns: {id: 1}, _set: {name: \"Eve\"}) { id } }");
    check("miss", "Eve");
    check("hit", "Eve");
    let page = weir.get("/metrics", &[]);
    let page = page.text();
    assert!(page.contains("weir_cache_responses_total{result=\"hit\"} 2"), "{page}");
}

#[test]
fn a_client_that_has_the_answer_already_gets_no_body() {
    let weir = Weir::pets(&[]);
    let first = weir.get(KEPT, &[]);
    let tag = first.header("etag").expect("the answer lives").to_owned();
    let again = weir.get(KEPT, &[("if-none-match", &tag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), Some(&*tag));
    assert!(again.header("cache-control").is_some());
    weir.query("mutation { update_pet_by_pk(pk_columns: {id: 1}, _set: {name: \"Eve\"}) { id } }");
    assert_eq!(weir.get(KEPT, &[("if-none-match", &tag)]).status, 200);
}

#[test]
fn only_the_right_methods_pass() {
    let weir = Weir::pets(&[]);
    for (path, others, methods) in [
        ("/graphql", &["PATCH", "TRACE"][..], "GET, POST, PUT, DELETE"),
        ("/v1/graphql", &["PUT", "DELETE", "PATCH", "TRACE"][..], "GET, POST"),
    ] {
        for method in others {
            let answer = weir.raw(&message(method, path, &[], Some(b"{}")));
            assert_eq!((answer.status, answer.header("allow")), (405, Some(methods)), "{method} {path}");
        }
        assert_eq!(weir.raw(&message("OPTIONS", path, &[], None)).header("allow"), Some(methods));
    }
    let hasura = weir.get("/v1/graphql?query=%7B__typename%7D", &[]);
    check(&hasura, 404, r#""path":"$","error":"resource does not exist","code":"not-found""#);
    check(&hasura, 404, "a GET is answered at /graphql");
    let mutation = weir.get("/graphql?query=mutation%7B__typename%7D", &[]);
    check(&mutation, 405, "send a mutation by POST");
    assert_eq!(mutation.header("allow"), Some("POST"));
    check(&weir.get("/nothing", &[]), 404, "NOT_FOUND");
    check(&weir.get("/console/..%2f..%2fetc%2fpasswd", &[]), 404, "NOT_FOUND");
    check(&weir.get("/console/../../etc/passwd", &[]), 404, "NOT_FOUND");
}

#[test]
fn a_body_that_is_no_request_is_refused_with_words() {
    let weir = Weir::pets(&[]);
    for (bytes, part) in [
        (&b""[..], "the body is empty"),
        (b"null", "must be a JSON object"),
        (b"\"x\"", "must be a JSON object"),
        (b"7", "must be a JSON object"),
        (b"{\"query\":\"{__typename}\"} {}", "not valid JSON"),
        (b"{\"query\":\"{__typename}\"}\n{\"query\":\"{__typename}\"}", "not valid JSON"),
        (b"{\"query\":\"{a}\",\"query\":\"{b}\"}", "duplicate key"),
        (b"{\"query\":\"\xff\"}", "invalid UTF-8"),
        (b"{\"query\":\"\xc0\x80\"}", "invalid UTF-8"),
        (b"\xfe\xff\x00{\x00}", "invalid UTF-8"),
        (b"{\"query\":\"\\ud800\"}", "lone surrogate"),
        (b"{\"query\":{}}", "`query` must be a string"),
        (b"{\"query\":\"{__typename}\",\"operationName\":1}", "`operationName` must be a string"),
        (b"{\"query\":\"{__typename}\",\"variables\":[1]}", "`variables` must be an object"),
    ] {
        check(&weir.post("/graphql", &[], bytes), 400, part);
    }
    check(&weir.post("/graphql", &[], b"\xef\xbb\xbf{\"query\":\"{__typename}\"}"), 200, "query_root");
}

#[test]
fn nesting_in_json_is_refused_whether_closed_or_not() {
    let weir = Weir::pets(&[]);
    for depth in [9_000, 100_000] {
        let open = format!("{{\"query\":\"{{__typename}}\",\"variables\":{{\"x\":{}", "[".repeat(depth));
        check(&weir.post("/graphql", &[], open.as_bytes()), 400, "nested too deep");
        let closed = format!("{open}{}}}}}", "]".repeat(depth));
        check(&weir.post("/graphql", &[], closed.as_bytes()), 400, "nested too deep");
        let elsewhere = closed.replace("variables", "extensions");
        check(&weir.post("/graphql", &[], elsewhere.as_bytes()), 400, "nested too deep");
    }
    check(&weir.query("{__typename}"), 200, "query_root");
}

#[test]
fn a_post_has_to_be_json_in_utf_8() {
    let weir = Weir::pets(&[]);
    let text = body(ASK);
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/json; charset=latin1",
    ] {
        let raw = message("POST", "/graphql", &[("content-type", content_type)], Some(text.as_bytes()));
        check(&weir.raw(&raw), 415, "UNSUPPORTED_MEDIA_TYPE");
    }
    check(&weir.raw(&message("POST", "/graphql", &[], Some(text.as_bytes()))), 415, "UNSUPPORTED_MEDIA_TYPE");
}

#[test]
fn on_hasura_s_address_a_body_is_json_whatever_it_is_called_but_not_from_a_page() {
    let weir = Weir::pets(&[]);
    let text = body(ASK);
    let ask =
        |headers: &[(&str, &str)]| weir.raw(&message("POST", "/v1/graphql", headers, Some(text.as_bytes())));
    check(&ask(&[]), 200, ADA);
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/graphql+json"] {
        let content_type = ("content-type", content_type);
        check(&ask(&[content_type]), 200, ADA);
        check(&ask(&[content_type, ("origin", "http://localhost")]), 200, ADA);
        check(&ask(&[content_type, ("origin", "http://evil.com")]), 415, "UNSUPPORTED_MEDIA_TYPE");
        check(&ask(&[content_type, ("origin", "null")]), 415, "UNSUPPORTED_MEDIA_TYPE");
    }
    check(&ask(&[("origin", "http://evil.com")]), 415, "UNSUPPORTED_MEDIA_TYPE");
    check(&ask(&[("content-type", "application/json"), ("origin", "http://evil.com")]), 200, ADA);
}

#[test]
fn a_header_that_decides_stands_once() {
    let weir = Weir::pets(&["--admin-secret", "hush"]);
    let text = body(ASK);
    let own = [("content-type", "application/json"), ("x-weir-admin-secret", "hush")];
    for path in ["/graphql", "/v1/graphql", "/v1/explain"] {
        let ask = |more: &[(&str, &str)]| {
            let headers = [&own, more].concat();
            weir.raw(&message("POST", path, &headers, Some(text.as_bytes())))
        };
        check(&ask(&[("accept", "*/*"), ("accept", "application/json")]), 200, "");
        for twice in [
            ("content-type", "text/plain"),
            ("content-type", "application/json"),
            ("x-weir-admin-secret", "hush"),
            ("X-Weir-Admin-Secret", "other"),
        ] {
            let answer = ask(&[twice]);
            check(&answer, 400, "is there twice");
            assert_eq!((answer.code().as_str(), answer.header("connection")), ("BAD_REQUEST", Some("close")));
        }
        check(&ask(&[("authorization", "a"), ("authorization", "b")]), 400, "`authorization` is there twice");
        let origins = [("origin", "http://localhost"), ("origin", "http://evil.com")];
        check(&ask(&origins), 400, "`origin` is there twice");
    }
}

#[test]
fn a_body_may_be_the_operation_itself() {
    let weir = Weir::pets(&[]);
    let ask = |address: &str, content_type: &str, text: &[u8]| {
        weir.raw(&message("POST", address, &[("content-type", content_type)], Some(text)))
    };
    check(&ask("/graphql", "application/graphql", ASK.as_bytes()), 200, ADA);
    check(&ask("/graphql", "application/graphql; charset=utf-8", ASK.as_bytes()), 200, ADA);
    check(&ask("/graphql", "application/graphql", b"{ nothing }"), 200, "GRAPHQL_VALIDATION_FAILED");
    check(&ask("/graphql", "application/graphql", b"{ \xff }"), 400, "BAD_REQUEST");
    check(
        &ask("/graphql", "application/graphql; charset=latin1", ASK.as_bytes()),
        415,
        "UNSUPPORTED_MEDIA_TYPE",
    );
    check(&ask("/v1/graphql", "application/graphql", ASK.as_bytes()), 200, "invalid-json");
}

#[test]
fn operation_names_are_resolved_or_refused() {
    let weir = Weir::pets(&[]);
    let ask = |name: &str| {
        let text = format!(
            r#"{{"query":"query A {{ __typename }} query B {{ b: __typename }}","operationName":{name}}}"#
        );
        weir.post("/graphql", &[TELLING], text.as_bytes())
    };
    check(&ask("\"B\""), 200, r#"{"b":"query_root"}"#);
    check(&ask("null"), 400, "OPERATION_RESOLUTION_FAILURE");
    check(&ask("\"C\""), 400, "OPERATION_RESOLUTION_FAILURE");
    check(&ask("7"), 400, "`operationName` must be a string");
    check(&ask("\"\""), 400, "OPERATION_RESOLUTION_FAILURE");
}

#[test]
fn an_empty_operation_name_is_none() {
    let weir = Weir::pets(&[]);
    let ask = format!(r#"{{"query":"{ASK}","operationName":"","variables":{{}}}}"#);
    check(&weir.post("/graphql", &[TELLING], ask.as_bytes()), 200, ADA);
    check(&weir.post("/v1/graphql", &[], ask.as_bytes()), 200, ADA);
    check(&weir.post("/v1/graphql", &[], format!("[{ask}]").as_bytes()), 200, &format!("[{ADA}]"));
    check(&weir.post("/v1/explain", &[], ask.as_bytes()), 200, "steps");
    check(&weir.get("/graphql?query=%7B__typename%7D&operationName=", &[]), 200, "query_root");
}

#[test]
fn an_answer_is_compressed_as_any_client_can_read_it() {
    let weir = Weir::with_settings("compression: {bytes_min: 10}");
    let coding = |accepted: &str| {
        let answer = weir.post("/graphql", &[("accept-encoding", accepted)], body("{__typename}").as_bytes());
        answer.header("content-encoding").map(String::from)
    };
    for (accepted, expected) in [
        ("gzip, deflate, br, zstd", Some("br")),
        ("gzip, deflate, zstd", Some("gzip")),
        ("zstd, gzip;q=0.9, br;q=0.9", Some("zstd")),
        ("*", Some("gzip")),
        ("deflate", None),
    ] {
        assert_eq!(coding(accepted).as_deref(), expected, "{accepted}");
    }
}

#[test]
fn a_persisted_query_is_answered_with_the_words_clients_look_for() {
    let weir = Weir::with_settings("operations: {persisted: {apq: {enabled: false}}}");
    let text = br#"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}"#;
    check(&weir.post("/graphql", &[], text), 200, "PersistedQueryNotSupported");
    check(&weir.post("/graphql", &[TELLING], text), 400, "PERSISTED_QUERY_NOT_SUPPORTED");
    let empty = br#"{"query":"","extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}"#;
    check(&weir.post("/graphql", &[], empty), 200, "PersistedQueryNotSupported");
    let get = "/graphql?query=&extensions=%7B%22persistedQuery%22:%7B%22sha256Hash%22:%2200%22%7D%7D";
    check(&weir.get(get, &[TELLING]), 400, "PERSISTED_QUERY_NOT_SUPPORTED");
    check(&weir.post("/graphql", &[], br#"{"documentId":"a"}"#), 200, "PersistedQueryNotSupported");
}

#[test]
fn a_text_under_the_hash_of_another_is_refused() {
    let weir = Weir::pets(&[]);
    let own = "1029604aafc94552fcdc9342b224b4b804854ec6818da73686f79a84a7a2ca9e";
    let send = |hash: &str| {
        let hash = format!(r#""extensions":{{"persistedQuery":{{"version":1,"sha256Hash":{hash}}}}}"#);
        format!(r#"{{"query":"{ASK}",{hash}}}"#)
    };
    let right = send(&format!("\"{own}\""));
    check(&weir.post("/graphql", &[], right.as_bytes()), 200, ADA);
    check(&weir.post("/v1/graphql", &[], right.as_bytes()), 200, ADA);
    // An identifier that is no hash says nothing about the text.
    check(&weir.post("/graphql", &[TELLING], send("\"Albums\"").as_bytes()), 200, ADA);
    for hash in [format!("\"{}\"", own.replace('1', "2")), "7".into(), "\"\"".into()] {
        let wrong = send(&hash);
        let message = r#""message":"provided sha does not match query""#;
        check(&weir.post("/graphql", &[], wrong.as_bytes()), 200, message);
        check(&weir.post("/graphql", &[TELLING], wrong.as_bytes()), 400, "PERSISTED_QUERY_MISMATCH");
        check(&weir.post("/v1/graphql", &[], wrong.as_bytes()), 200, message);
        check(&weir.post("/v1/graphql", &[], format!("[{right},{wrong}]").as_bytes()), 200, message);
    }
    let hash = "0".repeat(64);
    let get = format!(
        "/graphql?query=%7B__typename%7D&extensions=%7B%22persistedQuery%22:%7B%22sha256Hash%22:%22{hash}%22%7D%7D"
    );
    check(&weir.get(&get, &[TELLING]), 400, "PERSISTED_QUERY_MISMATCH");
}

#[test]
fn a_subscription_is_answered_as_what_it_is() {
    let weir = Weir::pets(&[]);
    let ask = body("subscription { pet { name } }");
    let words = r#""message":"a subscription has many results: ask over a WebSocket, or with `accept: text/event-stream`""#;
    let answer = weir.post("/graphql", &[TELLING], ask.as_bytes());
    check(&answer, 400, "SUBSCRIPTIONS_UNSUPPORTED");
    check(&answer, 400, words);
    let protocol = r#""extensions":{"path":"$","code":"not-supported"}"#;
    check(&weir.post("/v1/graphql", &[], ask.as_bytes()), 200, &format!("{words},{protocol}"));
    let by_get = weir.get("/graphql?query=subscription%7Bpet%7Bname%7D%7D", &[]);
    check(&by_get, 405, "METHOD_NOT_ALLOWED");
    check(&by_get, 405, "a subscription by GET needs `accept: text/event-stream`");
    let two = r#"{"query":"subscription S { pet { name } } query Q { __typename }","operationName":"Q"}"#;
    let answer = r#"{"data":{"__typename":"query_root"}}"#;
    check(&weir.post("/graphql", &[TELLING], two.as_bytes()), 200, answer);
    check(&weir.post("/v1/graphql", &[], two.as_bytes()), 200, answer);
    let get = "/graphql?query=subscription%20S%7Bpet%7Bname%7D%7D%20query%20Q%7B__typename%7D&operationName=";
    check(&weir.get(&format!("{get}Q"), &[]), 200, answer);
    check(&weir.get(&format!("{get}S"), &[]), 405, "METHOD_NOT_ALLOWED");
    check(&weir.post("/graphql", &[TELLING], two.replace("\"Q\"", "\"S\"").as_bytes()), 400, words);
}

#[test]
fn requests_are_read_as_by_the_library() {
    let weir = Weir::pets(&[]);
    requests_kit::check_requests("PERSISTED_QUERY_NOT_FOUND", |(method, target, headers, body)| {
        let answer = weir.raw(&message(method, target, headers, (method == "POST").then_some(body)));
        (answer.status, answer.text().to_owned())
    });
}

#[test]
fn a_list_of_requests_is_answered_in_order() {
    let weir = Weir::pets(&[]);
    let one = body(ASK);
    let wrong = body("{ nothing }");
    let answer = weir.post("/v1/graphql", &[], format!("[{one},{wrong},[],{one}]").as_bytes());
    let list = answer.json();
    assert_eq!((answer.status, list.as_array().map(Vec::len)), (200, Some(4)), "{list}");
    assert_eq!(list[0], list[3]);
    assert_eq!(list[1]["errors"][0]["extensions"]["code"], "validation-failed");
    assert!(list[2]["errors"].is_array());
    let eleven = format!("[{}]", [one.as_str(); 11].join(","));
    check(&weir.post("/v1/graphql", &[], eleven.as_bytes()), 400, "LIMIT_BATCH");
    for accept in [TELLING, ("accept", "*/*")] {
        let answer = weir.post("/graphql", &[accept], format!("[{one},{wrong},[],{one}]").as_bytes());
        let list = answer.json();
        assert_eq!((answer.status, list.as_array().map(Vec::len)), (200, Some(4)), "{list}");
        assert_eq!(list[0].to_string(), ADA);
        assert_eq!(list[0], list[3]);
        assert_eq!(list[1]["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
        assert_eq!(list[2]["errors"][0]["extensions"]["code"], "BAD_REQUEST");
    }
    check(&weir.post("/v1/graphql", &[], b"[]"), 200, "[]");
    let subscription = body("subscription { pet { name } }");
    check(&weir.post("/graphql", &[], format!("[{subscription}]").as_bytes()), 200, "errors");
    check(&weir.get("/v1/graphql?query=%7B__typename%7D", &[]), 404, "resource does not exist");
    let single = Weir::with_settings("limits: {batch_max: 1}");
    check(&single.post("/graphql", &[], format!("[{one},{one}]").as_bytes()), 400, "LIMIT_BATCH");
}

#[test]
fn the_client_s_order_decides_between_equal_weights() {
    let weir = Weir::pets(&[]);
    let ask = |accept: &str| weir.post("/graphql", &[("accept", accept)], body("{ nothing }").as_bytes());
    let json = ask("application/json, application/graphql-response+json");
    assert_eq!((json.status, json.header("content-type")), (200, Some("application/json; charset=utf-8")));
    let telling = ask("application/graphql-response+json, application/json");
    assert_eq!(
        (telling.status, telling.header("content-type")),
        (400, Some("application/graphql-response+json; charset=utf-8"))
    );
}

#[test]
fn hasura_s_address_always_answers_200_in_hasura_s_words() {
    let weir = Weir::pets(&[]);
    let ask = |bytes: &[u8]| weir.post("/v1/graphql", &[], bytes);
    check(&ask(b"{"), 200, r#""extensions":{"path":"$","code":"invalid-json"}"#);
    check(&ask(b"{}"), 200, "key \\\"query\\\" not found");
    let role = weir.post("/v1/graphql", &[("x-hasura-role", "user")], body(ASK).as_bytes());
    check(&role, 200, "field 'pet_by_pk' not found in type: 'query_root'");
    check(
        &weir.post("/graphql", &[("x-hasura-role", "user")], body(ASK).as_bytes()),
        200,
        "GRAPHQL_VALIDATION_FAILED",
    );
}

#[test]
fn an_oversized_request_is_refused_unread() {
    let weir = Weir::pets(&[]);
    let announced = b"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 10000000000\r\n\r\n";
    check(&weir.raw(announced), 413, "LIMIT_BODY");
    let mut chunked = b"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let chunk = [b"10000\r\n".to_vec(), vec![b' '; 0x1_0000], b"\r\n".to_vec()].concat();
    (0..40).for_each(|_| chunked.extend_from_slice(&chunk));
    check(&weir.raw(&chunked), 413, "LIMIT_BODY");
    check(&weir.get(&format!("/graphql?query={}", "a".repeat(9000)), &[]), 414, "LIMIT_URL");
    let get = "GET /graphql HTTP/1.1\r\nhost: localhost\r\n";
    check(&weir.raw(format!("{get}cookie: {}\r\n\r\n", "a".repeat(1_000_000)).as_bytes()), 431, "LIMIT_HEAD");
    check(&weir.raw(format!("{get}{}\r\n", "a: b\r\n".repeat(10_000)).as_bytes()), 431, "LIMIT_HEAD");
    check(
        &weir.raw(format!("{get}{}\r\n", "a: b\r\n".repeat(101)).as_bytes()),
        431,
        "more than 100 header lines",
    );
    check(&weir.raw(format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(64 * 1024)).as_bytes()), 414, "LIMIT_URL");
    check(&weir.get("/metrics", &[]), 200, r#"weir_limit_refusals_total{limit="LIMIT_HEAD"} 3"#);
    check(&weir.query("{__typename}"), 200, "query_root");
}

/// Sends `raw` with another request behind it, which must not be answered: the connection ends after the first answer.
fn check_refusal(weir: &Weir, raw: &[u8]) -> Answer {
    let mut socket = weir.connect();
    socket.write_all(&[raw, &message("GET", "/livez", &[], None)].concat()).expect("it is sent");
    let mut answers = BufReader::new(socket);
    let answer = Answer::read(&mut answers);
    assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
    let mut rest = Vec::new();
    assert_eq!(answers.read_to_end(&mut rest).ok(), Some(0), "{}", String::from_utf8_lossy(&rest));
    answer
}

#[test]
fn what_was_asked_before_a_broken_head_is_answered() {
    let weir = Weir::pets(&[]);
    let mut socket = weir.connect();
    let ask =
        message("POST", "/graphql", &[("content-type", "application/json")], Some(body(ASK).as_bytes()));
    socket.write_all(&[ask.repeat(3), b"nonsense\r\n\r\n".to_vec()].concat()).expect("it is sent");
    let mut answers = BufReader::new(socket);
    for _ in 0..3 {
        check(&Answer::read(&mut answers), 200, ADA);
    }
    check(&Answer::read(&mut answers), 400, "the head cannot be read");
}

#[test]
fn a_request_may_come_in_any_number_of_pieces() {
    let weir = Weir::pets(&[]);
    let mut socket = weir.connect();
    let text = body(ASK);
    let chunked = format!(
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n\
         5;x=y\r\n{}\r\n{:x}\r\n{}\r\n0\r\na: b\r\n\r\n",
        &text[..5],
        text.len() - 5,
        &text[5..]
    );
    let whole = message("POST", "/graphql", &[("content-type", "application/json")], Some(text.as_bytes()));
    let mut answers = BufReader::new(socket.try_clone().expect("a socket can be shared"));
    for request in [chunked.as_bytes(), &whole, chunked.as_bytes()] {
        for byte in request.chunks(3) {
            socket.write_all(byte).expect("it is sent");
        }
        check(&Answer::read(&mut answers), 200, ADA);
    }
}

#[test]
fn a_request_that_two_readers_would_read_differently_is_refused() {
    let weir = Weir::pets(&[]);
    let post = "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    for (rest, part) in [
        ("content-length: 2\r\ncontent-length: 3\r\n\r\n{}", "length is given twice"),
        ("content-length: 2\r\ncontent-length: 2\r\n\r\n{}", "length is given twice"),
        ("content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "length is given twice"),
        ("transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n", "length is given twice"),
        ("transfer-encoding: xchunked\r\n\r\n0\r\n\r\n", "the only transfer coding"),
        ("content-length: -1\r\n\r\n", "is no number"),
        ("content-length: 2\n\r\n{}", "CR LF"),
        ("content-length: 2\r\n\n{}", "CR LF"),
        ("a b: c\r\n\r\n", "the head cannot be read"),
        ("a: b\r\n c\r\n\r\n", "the head cannot be read"),
    ] {
        let answer = check_refusal(&weir, format!("{post}{rest}").as_bytes());
        check(&answer, 400, part);
        assert_eq!(answer.code(), "BAD_REQUEST");
    }
    check(&check_refusal(&weir, b"\x16\x03\x01\x02\x00"), 400, "BAD_REQUEST");
    let ask = body("{__typename}");
    for coding in ["gzip, chunked", "chunked, chunked", "identity, chunked"] {
        let rest = format!("transfer-encoding: {coding}\r\n\r\n{:x}\r\n{ask}\r\n0\r\n\r\n", ask.len());
        check(&check_refusal(&weir, format!("{post}{rest}").as_bytes()), 400, "the only transfer coding");
    }
    check(&weir.raw(b"GET /livez HTTP/1.1\r\n\r\n"), 400, "`host`");
    check(&weir.raw(b"GET /livez HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n"), 400, "`host`");
}

#[test]
fn a_web_page_cannot_reach_the_server_under_a_name_of_its_own() {
    let weir = Weir::pets(&[]);
    let headers = [("host", "evil.com"), ("content-type", "application/json")];
    let text = body(ASK);
    check(&weir.raw(&message("POST", "/graphql", &headers, Some(text.as_bytes()))), 421, "MISDIRECTED");
    let secret = Weir::pets(&["--admin-secret", "hush"]);
    let headers = [headers[0], headers[1], ("x-weir-admin-secret", "hush")];
    check(&secret.raw(&message("POST", "/graphql", &headers, Some(text.as_bytes()))), 200, ADA);
}

#[test]
fn many_requests_share_a_connection() {
    let weir = Weir::pets(&[]);
    let mut socket = weir.connect();
    let ask =
        message("POST", "/graphql", &[("content-type", "application/json")], Some(body(ASK).as_bytes()));
    // All at once: pipelined.
    socket.write_all(&ask.repeat(20)).expect("it is sent");
    let mut answers = BufReader::new(socket);
    let ids: std::collections::HashSet<String> = (0..20)
        .map(|_| {
            let answer = Answer::read(&mut answers);
            check(&answer, 200, ADA);
            answer.header("x-request-id").expect("there is an id").to_string()
        })
        .collect();
    assert_eq!(ids.len(), 20);
}

#[test]
fn a_request_id_is_taken_over_if_it_is_harmless() {
    let weir = Weir::pets(&[]);
    let id =
        |sent: &str| weir.get("/livez", &[("x-request-id", sent)]).header("x-request-id").map(String::from);
    assert_eq!(id("abc-123").as_deref(), Some("abc-123"));
    assert_ne!(id("a b").as_deref(), Some("a b"));
    assert_ne!(id(&"a".repeat(200)).map(|it| it.len()), Some(200));
}

#[test]
fn probes_version_and_metrics_answer() {
    let weir = Weir::pets(&[]);
    check(&weir.get("/livez", &[]), 200, "ok");
    check(&weir.get("/readyz", &[]), 200, "ok");
    check(&weir.get("/healthz", &[]), 200, "OK");
    check(&weir.get("/v1/version", &[]), 200, env!("CARGO_PKG_VERSION"));
    check(&weir.get("/v1/version", &[]), 200, r#"{"version":"v2."#);
    check(&weir.get("/hasura/healthz", &[]), 200, "OK");
    let mut socket = weir.connect();
    socket.write_all(&message("HEAD", "/livez", &[("connection", "close")], None)).expect("it is sent");
    let mut head = String::new();
    socket.read_to_string(&mut head).expect("the server closes");
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
    check(&weir.query(ASK), 200, ADA);
    let page = weir.get("/metrics", &[]);
    check(&page, 200, r#"weir_requests_total{door="graphql",verdict="executed"}"#);
    check(&page, 200, "weir_stage_duration_seconds_bucket");
    check(&page, 200, "# TYPE weir_requests_total counter\n");
}

#[test]
fn explain_shows_plan_and_sql_without_running() {
    let weir = Weir::pets(&[]);
    let answer = weir.post("/v1/explain", &[], body(ASK).as_bytes());
    check(&answer, 200, "steps");
    let json = answer.json();
    assert!(json["plan"].as_str().is_some_and(|it| !it.is_empty()), "{json}");
    assert!(json["steps"][0]["text"].as_str().is_some_and(|it| it.contains("SELECT")), "{json}");
    check(&weir.post("/v1/explain", &[], body("{ nothing }").as_bytes()), 400, "Cannot query field");
}

#[test]
fn stage_times_are_told_in_dev_mode() {
    let weir = Weir::pets(&[]);
    let answer = weir.query("query Timed { pet { id } }");
    let timing = answer.header("server-timing").expect("the listener is on loopback").to_string();
    assert!(timing.contains("execute;dur=") && timing.contains("total;dur="), "{timing}");
}

#[test]
fn browsers_that_ask_for_an_icon_get_one() {
    for weir in [Weir::pets(&[]), Weir::pets(&["--admin-secret", "hush"])] {
        let icon = weir.get("/favicon.ico", &[]);
        check(&icon, 200, "<svg");
        assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
    }
}
