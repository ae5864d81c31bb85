//! Automatic persisted queries over real sockets: texts that clients store by their hash, in the process and in Redis.

use crate::persisted::{ADA, TRANSPORTS, Transport, USER, ask, serve};
use crate::redis_kit::Redis;
use crate::support::{Folder, Weir, until};
use weir_transport::document_id::text_hash;

const POST: Transport = Transport::Post("/graphql");

/// Members of a request with the hash of `text`, and with the text if `is_whole`.
fn members(text: &str, is_whole: bool) -> String {
    let persisted = serde_json::json!({ "version": 1, "sha256Hash": text_hash(text), "miss": is_whole });
    let extensions = serde_json::json!({ "persistedQuery": persisted });
    if is_whole {
        serde_json::json!({ "query": text, "extensions": extensions }).to_string()
    } else {
        serde_json::json!({ "extensions": extensions }).to_string()
    }
}

/// A text of its own for each number.
fn text(number: usize) -> String {
    format!("query Q{number} {{ pet_by_pk(id: 1) {{ name }} }}")
}

#[test]
fn every_transport_stores_a_text_and_finds_it() {
    let weir = serve(Folder::new(), "{}");
    for (number, transport) in TRANSPORTS.into_iter().enumerate() {
        let text = text(number);
        let answer = ask(&weir, transport, &USER, &members(&text, false));
        assert!(answer.contains("PersistedQueryNotFound"), "{transport:?}: {answer}");
        let answer = ask(&weir, transport, &USER, &members(&text, true));
        assert!(answer.contains(ADA), "{transport:?}: {answer}");
        for other in TRANSPORTS {
            let answer = ask(&weir, other, &USER, &members(&text, false));
            assert!(answer.contains(ADA), "{transport:?}, then {other:?}: {answer}");
        }
    }
    let metrics = weir.get("/metrics", &[USER[0]]);
    let count = TRANSPORTS.len();
    for line in [
        format!("weir_document_lookups_total{{result=\"registered\"}} {count}"),
        format!("weir_document_lookups_total{{result=\"unknown\"}} {count}"),
    ] {
        assert!(metrics.text().contains(&line), "{line}: {}", metrics.text());
    }
}

#[test]
fn a_text_that_does_not_run_is_not_stored() {
    let weir = serve(Folder::new(), "{}");
    for text in ["{ nothing }", "{ pet", "query A { pet { id } } query B { pet { id } }"] {
        for is_whole in [true, false] {
            let answer = ask(&weir, POST, &USER, &members(text, is_whole));
            assert_eq!(answer.contains("PersistedQueryNotFound"), !is_whole, "{text}: {answer}");
        }
    }
    // Upper-case digits are another identifier.
    let text = text(0);
    assert!(ask(&weir, POST, &USER, &members(&text, true)).contains(ADA));
    let upper = members(&text, false).replace(&text_hash(&text), &text_hash(&text).to_ascii_uppercase());
    assert!(ask(&weir, POST, &USER, &upper).contains("PersistedQueryNotFound"));
}

#[test]
fn a_text_that_a_role_may_not_send_is_not_stored() {
    let operations = "{allow_list: true, collections: [{name: web, definition: {queries: [{name: one, query: '{ pet { id } }'}]}}], allowlist: [{collection: web}]}";
    let weir = serve(Folder::new(), operations);
    let text = text(0);
    assert!(ask(&weir, POST, &USER, &members(&text, true)).contains("query is not allowed"));
    assert!(ask(&weir, POST, &USER, &members(&text, false)).contains("PersistedQueryNotFound"));
    // What the admin stores is still no document of the list.
    assert!(ask(&weir, POST, &USER[..1], &members(&text, true)).contains(ADA));
    assert!(ask(&weir, POST, &USER, &members(&text, false)).contains("query is not allowed"));
    assert!(ask(&weir, POST, &USER[..1], &members(&text, false)).contains(ADA));
}

#[test]
fn texts_outlive_a_reload_and_end_with_the_setting() {
    let weir = serve(Folder::new(), "{}");
    let text = text(0);
    assert!(ask(&weir, POST, &USER, &members(&text, true)).contains(ADA));
    assert_eq!(weir.post("/v1/reload", &USER[..1], b"").status, 200);
    assert!(ask(&weir, POST, &USER, &members(&text, false)).contains(ADA));
    let file = weir.folder().file("weir.yaml");
    let yaml = crate::support::read(&file)
        .replace("operations: {}", "operations: {persisted: {apq: {enabled: false}}}");
    weir.folder().write("weir.yaml", &yaml);
    assert_eq!(weir.post("/v1/reload", &USER[..1], b"").status, 200);
    assert!(ask(&weir, POST, &USER, &members(&text, false)).contains("PersistedQueryNotSupported"));
    assert!(ask(&weir, POST, &USER, &members(&text, true)).contains(ADA));
}

/// Serves the pets beside a Redis.
fn serve_with_redis(redis: &Redis) -> Weir {
    let port = redis.port;
    let settings = format!("{{}}\ncache: {{redis: \"redis://127.0.0.1:{port}\", redis_ms_max: 2000}}");
    serve(Folder::new(), &settings)
}

#[test]
fn processes_share_texts_by_redis_and_trust_none_of_it() {
    let redis = Redis::start();
    let one = serve_with_redis(&redis);
    let other = serve_with_redis(&redis);
    let text = text(0);
    // Until Redis is reached, a text stays in its process.
    let mut number = 0;
    until("a text is shared", || {
        number += 1;
        let text = self::text(number);
        assert!(ask(&one, POST, &USER, &members(&text, true)).contains(ADA));
        std::iter::repeat_n((), 20).any(|()| ask(&other, POST, &USER, &members(&text, false)).contains(ADA))
    });
    let metrics = other.get("/metrics", &USER[..1]);
    assert!(
        !metrics.text().contains("weir_document_lookups_total{result=\"shared\"} 0"),
        "{}",
        metrics.text()
    );
    // A text under the hash of another is found by nobody.
    assert!(redis.overwrite("weir:d*", "{ pet { id } }") > 0);
    let third = serve_with_redis(&redis);
    let mut later = 1000;
    until("the third process reads what is shared", || {
        later += 1;
        assert!(ask(&one, POST, &USER, &members(&self::text(later), true)).contains(ADA));
        ask(&third, POST, &USER, &members(&self::text(later), false)).contains(ADA)
    });
    for number in 1..=number {
        let answer = ask(&third, POST, &USER, &members(&self::text(number), false));
        assert!(answer.contains("PersistedQueryNotFound"), "{answer}");
    }
    drop(redis);
    let answer = ask(&one, POST, &USER, &members(&text, true));
    assert!(answer.contains(ADA), "{answer}");
    assert!(ask(&one, POST, &USER, &members(&text, false)).contains(ADA));
}
