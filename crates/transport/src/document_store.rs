//! Stored documents by identifier.
//!
//! **Invariant:** an identifier means one text, whoever asks; what a caller may do with it is decided where texts are.
//!
//! **Cost:** one look into a table per request with an identifier; nothing is parsed, copied or allocated.

use crate::document_id::{DocumentText, SentId, document_key, text_hash};
use crate::parameters::{NamedRequest, Params};
use std::collections::HashMap;
use std::sync::Arc;

/// A document that was stored ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The text.
    pub text: Arc<str>,
    /// Name of its operation, if it has one operation.
    pub operation_name: Option<Box<str>>,
}

/// Documents by identifier.
#[derive(Debug, Default)]
pub struct DocumentStore {
    documents: Vec<StoredDocument>,
    /// Places in `documents`.
    by_key: HashMap<Box<str>, u32>,
}

/// Text or identifier of a document that a request names.
#[derive(Debug)]
pub enum Resolution<'t> {
    /// A stored document.
    Stored(Params<'t>),
    /// The text beside the identifier is not the stored one.
    OtherText,
    /// It has no identifier, or an unknown one.
    Unknown(NamedRequest<'t>),
}

impl DocumentStore {
    /// Adds `document` under `id` and under the hash of its text.
    /// # Errors
    /// Another text has the identifier.
    pub fn add(&mut self, id: &str, document: StoredDocument) -> Result<(), String> {
        let key = document_key(id);
        let hash = text_hash(&document.text);
        if self.find(key).is_some_and(|it| it.text != document.text) {
            return Err(format!("two documents have the identifier `{id}`"));
        }
        let place = match self.by_key.get(&*hash) {
            Some(place) if self.documents[*place as usize].text == document.text => *place,
            // Another document has the hash as its identifier, which keeps it.
            Some(_) | None => {
                let place = self.documents.len() as u32;
                self.documents.push(document);
                self.by_key.entry(hash.into()).or_insert(place);
                place
            }
        };
        self.by_key.entry(key.into()).or_insert(place);
        Ok(())
    }

    /// True if there is no document.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// All documents, in the order in which they were added.
    pub fn documents(&self) -> &[StoredDocument] {
        &self.documents
    }

    /// Each identifier, without a prefix, with its document; in no order.
    pub fn identified(&self) -> impl Iterator<Item = (&str, &StoredDocument)> {
        self.by_key.iter().map(|(id, at)| (&**id, &self.documents[*at as usize]))
    }

    /// The document with an identifier, which has no prefix.
    pub fn find(&self, key: &str) -> Option<&StoredDocument> {
        self.by_key.get(key).map(|it| &self.documents[*it as usize])
    }

    /// Looks up the document that `request` names.
    pub fn resolve<'t>(&self, mut request: NamedRequest<'t>) -> Resolution<'t> {
        let Some(stored) = request.id.as_ref().and_then(SentId::key).and_then(|it| self.find(it)) else {
            return Resolution::Unknown(request);
        };
        if request.sent_text().is_some_and(|it| *it != *stored.text) {
            return Resolution::OtherText;
        }
        // A document of one operation has one plan, whether or not its client names the operation.
        let is_only = |it: &str| stored.operation_name.as_deref() == Some(it);
        if request.operation_name.as_deref().is_some_and(is_only) {
            request.operation_name = None;
        }
        Resolution::Stored(request.with_text(DocumentText::Stored(Arc::clone(&stored.text))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_language::json::Json;

    fn document(text: &str, name: Option<&str>) -> StoredDocument {
        StoredDocument { text: text.into(), operation_name: name.map(Into::into) }
    }

    fn store() -> DocumentStore {
        let mut store = DocumentStore::default();
        store.add("a", document("query A { a }", Some("A"))).expect("it is new");
        store.add("sha256:b", document("{ b }", None)).expect("it is new");
        store
    }

    /// Text and operation name of a request; nothing if it is unknown.
    fn check(body: &str, expected: Option<Result<(&str, Option<&str>), ()>>) {
        let json = Json::parse(body.as_bytes(), 9).expect("it is JSON");
        let request = NamedRequest::read(json.root(), &[]).expect("it is a request");
        let store = store();
        let found = match store.resolve(request) {
            Resolution::Stored(params) => {
                Some(Ok((params.query.to_string(), params.operation_name.map(|it| it.into_owned()))))
            }
            Resolution::OtherText => Some(Err(())),
            Resolution::Unknown(_) => None,
        };
        let expected = expected.map(|it| it.map(|(text, name)| (text.to_owned(), name.map(str::to_owned))));
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn a_document_is_found_by_identifier_and_hash() {
        let a = "query A { a }";
        check(r#"{"documentId":"a"}"#, Some(Ok((a, None))));
        check(r#"{"documentId":"a","operationName":"A"}"#, Some(Ok((a, None))));
        check(r#"{"documentId":"a","operationName":"B"}"#, Some(Ok((a, Some("B")))));
        check(&format!(r#"{{"documentId":"sha256:{}"}}"#, text_hash(a)), Some(Ok((a, None))));
        check(r#"{"documentId":"b"}"#, Some(Ok(("{ b }", None))));
        check(r#"{"documentId":"sha256:b"}"#, Some(Ok(("{ b }", None))));
        check(r#"{"documentId":"A"}"#, None);
        check(r#"{"query":"query A { a }"}"#, None);
    }

    #[test]
    fn a_text_beside_an_identifier_is_the_stored_one() {
        check(r#"{"documentId":"b","query":"{ b }"}"#, Some(Ok(("{ b }", None))));
        check(r#"{"documentId":"b","query":""}"#, Some(Ok(("{ b }", None))));
        check(r#"{"documentId":"b","query":"{b}"}"#, Some(Err(())));
        check(r#"{"documentId":"c","query":"{b}"}"#, None);
    }

    #[test]
    fn an_identifier_has_one_text() {
        let mut store = store();
        assert_eq!(store.add("c", document("{ b }", None)), Ok(()));
        assert_eq!(store.documents().len(), 2);
        assert!(store.add("sha256:a", document("{ c }", None)).is_err());
        // A manifest may name a document by whatever it likes, also by the hash of another.
        let hash = text_hash("{ d }");
        assert_eq!(store.add(&hash, document("{ e }", None)), Ok(()));
        assert_eq!(store.add("d", document("{ d }", None)), Ok(()));
        let text = |key: &str| store.find(key).map(|it| &*it.text);
        assert_eq!((text(&hash), text("d"), text("c")), (Some("{ e }"), Some("{ d }"), Some("{ b }")));
    }
}
