//! The documents that the operator knows, as rates read them: queries of all collections, those of files of documents among them.
//!
//! A document is known whatever its layout: texts are compared by their normal form, as the allow list does. What clients store themselves is
//! not known, because they choose it.
//!
//! **Cost:** one hash of a text that was found before; any other text is parsed. Nothing where no rate reads documents.

use super::allow_list::{Form, TEXTS_BYTES_MAX, TextBytes, form};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use weir_language::limits::Limits;

/// Place of a known document.
pub(crate) type DocumentPlace = u32;

/// Known documents.
pub(crate) struct KnownDocuments {
    forms: Vec<Form>,
    places: HashMap<Form, DocumentPlace>,
    names: HashMap<Box<str>, Vec<DocumentPlace>>,
    /// Cache of texts that were found.
    found: Cache<Box<str>, DocumentPlace, TextBytes>,
    limits: Limits,
}

impl std::fmt::Debug for KnownDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KnownDocuments").field("documents", &self.forms.len()).finish_non_exhaustive()
    }
}

impl KnownDocuments {
    /// The documents `named`, each a name and a text. Requests are parsed within `limits`.
    pub(super) fn new<'d>(named: impl Iterator<Item = (&'d str, &'d str)>, limits: Limits) -> Self {
        let mut known = Self {
            forms: Vec::new(),
            places: HashMap::new(),
            names: HashMap::new(),
            found: Cache::with_weighter(1024, TEXTS_BYTES_MAX, TextBytes),
            limits,
        };
        for (name, text) in named {
            let Some(form) = form(text, &Limits::NONE) else { continue };
            let place = *known.places.entry(form).or_insert_with(|| {
                known.forms.push(form);
                known.forms.len() as DocumentPlace - 1
            });
            known.names.entry(name.into()).or_default().push(place);
        }
        known
    }

    /// The document that `text` is.
    pub(crate) fn find(&self, text: &str) -> Option<DocumentPlace> {
        if self.forms.is_empty() {
            return None;
        }
        if let Some(place) = self.found.get(text) {
            return Some(place);
        }
        let place = *self.places.get(&form(text, &self.limits)?)?;
        self.found.insert(text.into(), place);
        Some(place)
    }

    /// The documents called `name`.
    pub(crate) fn called(&self, name: &str) -> &[DocumentPlace] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Bytes that tell the document at `place` from any other, in every process.
    pub(crate) fn form(&self, place: DocumentPlace) -> &[u8] {
        self.forms.get(place as usize).map_or(&[], <[u8; 32]>::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_known_in_any_layout_and_under_each_of_its_names() {
        let named = [
            ("a", "query A { boat { name } }"),
            ("again", "query A { boat { name }, }"),
            ("b", "{ crew { id } }"),
            ("broken", "{"),
        ];
        let known = KnownDocuments::new(named.into_iter(), Limits::STANDARD);
        for (text, expected) in [
            ("query A { boat { name } }", Some(0)),
            ("query A { boat { name } } # a", Some(0)),
            ("{ crew { id } }", Some(1)),
            ("{ crew { other: id } }", None),
            ("{", None),
        ] {
            assert_eq!([known.find(text), known.find(text)], [expected; 2], "{text}");
        }
        assert_eq!(
            (known.called("a"), known.called("again"), known.called("b")),
            (&[0][..], &[0][..], &[1][..])
        );
        assert_eq!(known.called("broken"), [0; 0]);
        assert!(known.form(0) != known.form(1) && known.form(0).len() == 32);
        assert_eq!(known.found.len(), 3, "only known texts are kept");
    }
}
