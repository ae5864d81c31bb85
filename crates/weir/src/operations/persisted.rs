//! Persisted documents: files of documents that clients name by identifier.
//!
//! The documents of a file are a collection like any other, so the allow list and its roles decide about them.
//!
//! **Invariant:** a file that cannot be read keeps a configuration from being served, so the previous one stays in service.

mod manifest;
mod read_documents;

use crate::config::{Persisted, PersistedFile};
use manifest::FileDocument;
use read_documents::DocumentReader;
use std::collections::HashMap;
use std::path::PathBuf;
use weir_language::ast::Definition;
use weir_language::limits::Limits;
use weir_language::parser;
use weir_metadata::document::api::{NamedQuery, QueryCollection, QueryList};
use weir_transport::document_store::{DocumentStore, StoredDocument};

/// Documents and collections of all files.
#[derive(Debug, Default)]
pub(super) struct PersistedDocuments {
    /// Collections, each with the place of its first file in the configuration.
    pub(super) collections: Vec<QueryCollection>,
    pub(super) file_of_collection: Vec<usize>,
    /// Documents by identifier.
    pub(super) documents: DocumentStore,
    /// Notes about files, each with its place in the configuration.
    pub(super) notes: Vec<(usize, String)>,
}

/// Files that are read, for a watch.
pub(crate) fn find_files(settings: &Persisted) -> Vec<PathBuf> {
    settings.files.iter().flat_map(|it| read_documents::list_files(&it.path)).collect()
}

/// The stored form of `text`.
/// # Errors
/// It is no GraphQL, or has no operation.
pub(super) fn to_stored(text: &str) -> Result<StoredDocument, String> {
    let document = parser::parse(text, &Limits::NONE).map_err(|it| it.message.clone())?;
    let mut operations = document.definitions.iter().filter_map(|it| match it {
        Definition::Operation(operation) => Some(document.str(operation.name)),
        Definition::Fragment(_) | Definition::Schema(_) | Definition::Type(_) | Definition::Directive(_) => {
            None
        }
    });
    let first = operations.next().ok_or("it has no operation")?;
    let is_only = operations.next().is_none();
    let operation_name = Some(first).filter(|it| is_only && !it.is_empty()).map(Into::into);
    Ok(StoredDocument { text: text.into(), operation_name })
}

/// Reads the files of `settings`.
/// # Errors
/// A file cannot be read, holds what is no document, or has an identifier for two texts.
pub(super) fn read_files(settings: &Persisted) -> Result<PersistedDocuments, String> {
    let mut found = PersistedDocuments::default();
    let mut reader = DocumentReader::new(settings);
    for (at, file) in settings.files.iter().enumerate() {
        let fail = |reason: String| format!("{}: {reason}", file.path.display());
        let documents = reader.read(&file.path)?;
        if documents.is_empty() {
            let words = "holds no document: GraphQL Code Generator writes such a file for some values of `documentMode`";
            found.notes.push((at, format!("{} {words}", file.path.display())));
        }
        add_documents(&mut found, at, file, documents).map_err(fail)?;
    }
    Ok(found)
}

/// Name of the collection of `file`.
fn collection_name(file: &PersistedFile) -> String {
    let stem = || file.path.file_stem().map(|it| it.to_string_lossy().into_owned());
    file.collection.clone().or_else(stem).unwrap_or_default()
}

/// Adds the documents of `file`, which stands at `at` in the configuration.
fn add_documents(
    found: &mut PersistedDocuments,
    at: usize,
    file: &PersistedFile,
    documents: Vec<FileDocument>,
) -> Result<(), String> {
    let name = collection_name(file);
    let place = match found.collections.iter().position(|it| it.name == name) {
        Some(place) => place,
        None => {
            found.collections.push(QueryCollection {
                name,
                comment: None,
                definition: QueryList { queries: Vec::new() },
            });
            found.file_of_collection.push(at);
            found.collections.len() - 1
        }
    };
    let PersistedDocuments { collections, documents: store, notes, .. } = found;
    let queries = &mut collections[place].definition.queries;
    let mut texts: HashMap<String, String> =
        queries.iter().map(|it| (it.name.clone(), it.query.clone())).collect();
    let mut repeated = Vec::new();
    for FileDocument { id, name, text } in documents {
        let fail = |reason: String| format!("the document `{id}`: {reason}");
        let stored = to_stored(&text).map_err(|it| fail(format!("it is no GraphQL: {it}")))?;
        let named = name.or_else(|| stored.operation_name.as_deref().map(str::to_owned));
        store.add(&id, stored).map_err(fail)?;
        // A name that several texts have is no name: such a text is called by its identifier.
        let name = match named {
            Some(name) => match texts.get(&name) {
                Some(known) if *known == text => continue,
                Some(_) => {
                    repeated.push(name);
                    find_free_name(id, &texts)
                }
                None => name,
            },
            None => find_free_name(id, &texts),
        };
        texts.insert(name.clone(), text.clone());
        queries.push(NamedQuery { name, query: text });
    }
    if let Some(first) = repeated.first() {
        let count = repeated.len();
        notes.push((
            at,
            format!(
                "{}: {count} documents have the name of another, such as `{first}`: old ones that Relay never removes, or another \
                 version under its name",
                file.path.display()
            ),
        ));
    }
    Ok(())
}

/// `id`, or where a document has it as its name, `id` with a number.
fn find_free_name(id: String, texts: &HashMap<String, String>) -> String {
    let numbered = (2..).map(|it| format!("{id} ({it})"));
    let mut names = std::iter::once(id.clone()).chain(numbered);
    names.find(|it| !texts.contains_key(it)).unwrap_or(id)
}

#[cfg(test)]
mod tests;
