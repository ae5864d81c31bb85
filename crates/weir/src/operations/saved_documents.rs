//! Collections with their documents as operators read them: where each is written, who may run it, and its identifiers.
//!
//! **Cost:** a name and a hash per document; texts stand in the store of documents.

use super::{ListOrigin, Lists};
use crate::config::Config;
use std::collections::HashMap;
use weir_metadata::document::api::AllowlistScope;
use weir_transport::document_id::text_hash;
use weir_transport::document_store::DocumentStore;

/// A collection.
#[derive(Debug)]
pub(crate) struct SavedCollection {
    pub(crate) name: String,
    /// `metadata`, `settings` or `file`.
    pub(crate) origin: &'static str,
    /// The first file of documents.
    pub(crate) file: Option<String>,
    /// Entries of the allow list; nothing where nobody but the admin may run its documents.
    pub(crate) scopes: Vec<Option<AllowlistScope>>,
    /// Name and hash of each document.
    pub(crate) queries: Vec<(String, String)>,
}

/// The collections of `lists`.
pub(super) fn collections(lists: &[Lists<'_>], config: &Config) -> Vec<SavedCollection> {
    let mut found = Vec::new();
    for list in lists {
        for (at, collection) in list.collections.iter().enumerate() {
            let (origin, file) = match list.origin {
                ListOrigin::Metadata => ("metadata", None),
                ListOrigin::Settings => ("settings", None),
                ListOrigin::Files(files) => {
                    let file = config.operations.persisted.files.get(files[at]);
                    ("file", file.map(|it| it.path.display().to_string()))
                }
            };
            let entries =
                lists.iter().flat_map(|it| it.allow_list).filter(|it| it.collection == collection.name);
            let queries = collection.definition.queries.iter();
            found.push(SavedCollection {
                name: collection.name.clone(),
                origin,
                file,
                scopes: entries.map(|it| it.scope.clone()).collect(),
                queries: queries.map(|it| (it.name.clone(), text_hash(&it.query))).collect(),
            });
        }
    }
    found
}

/// Identifiers by the text that they mean, each list sorted.
pub(crate) fn identifiers(documents: &DocumentStore) -> HashMap<&str, Vec<&str>> {
    let mut found: HashMap<&str, Vec<&str>> = HashMap::new();
    for (id, document) in documents.identified() {
        found.entry(&document.text).or_default().push(id);
    }
    found.values_mut().for_each(|it| it.sort_unstable());
    found
}
