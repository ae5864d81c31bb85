//! A request that names a stored document allocates nothing before the engine has it, whatever the length of its text.
//!
//! A binary of its own, so that nothing else allocates while it counts.

#[path = "../../engine/tests/counting/mod.rs"]
mod counting;

use counting::count;
use weir_language::json::{Json, JsonBuffer};
use weir_transport::document_id::{DocumentText, text_hash};
use weir_transport::document_store::{DocumentStore, Resolution, StoredDocument};
use weir_transport::parameters::{NamedRequest, params};

#[test]
fn a_known_identifier_allocates_no_more_than_a_text() {
    let text = format!("query Long {{ {} }}", "album ".repeat(1000));
    let mut store = DocumentStore::default();
    let operation_name = Some("Long".into());
    let document = StoredDocument { text: text.as_str().into(), operation_name };
    store.add("long", document).expect("it is the only one");
    let by_text = format!(r#"{{"query":"{text}","operationName":"Long","variables":{{"a":1}}}}"#);
    let by_id = r#"{"documentId":"long","operationName":"Long","variables":{"a":1}}"#.to_owned();
    let hash = format!(r#"{{"persistedQuery":{{"version":1,"sha256Hash":"{}"}}}}"#, text_hash(&text));
    let by_hash = format!(r#"{{"operationName":"Long","variables":{{"a":1}},"extensions":{hash}}}"#);
    let mut buffer = JsonBuffer::default();
    for body in [&by_text, &by_id, &by_hash] {
        let json = Json::parse_in(buffer, body.as_bytes(), 9).expect("it is JSON");
        let (allocations, found) = count(|| {
            let request = NamedRequest::read(json.root(), &[]).expect("it is a request");
            match store.resolve(request) {
                Resolution::Stored(params) => params,
                Resolution::Unknown(_) => params(json.root()).expect("it has a text"),
                Resolution::OtherText => panic!("{body} names a document"),
            }
        });
        assert_eq!((allocations, found.query.len()), (0, text.len()), "{body}");
        assert_eq!(matches!(found.query, DocumentText::Stored(_)), body != &by_text);
        drop(found);
        buffer = json.into_buffer();
    }
}
