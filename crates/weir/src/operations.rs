//! Operations of the operator: query collections, persisted documents, the allow list, and REST endpoints.
//!
//! They are in Hasura's metadata, or in the block `operations` of weir.yaml, or both; files of persisted documents are collections too.
//!
//! **Invariant:** an entry that does not fit keeps no other from being served, and is told.

pub(crate) mod allow_list;
mod automatic;
pub(crate) mod endpoint_path;
pub(crate) mod endpoint_variables;
pub(crate) mod known_documents;
pub(crate) mod openapi;
pub(crate) mod persisted;
pub(crate) mod saved_documents;
pub(crate) mod saved_endpoint;
#[cfg(feature = "mcp")]
pub(crate) mod tools;
#[cfg(not(feature = "mcp"))]
#[path = "operations/tools/absent.rs"]
pub(crate) mod tools;

use crate::config::{Config, Rate};
use crate::sources::Misfit;
use allow_list::{AllowList, Scope};
use automatic::AutomaticDocuments;
use known_documents::KnownDocuments;
use persisted::PersistedDocuments;
use saved_documents::SavedCollection;
use saved_endpoint::{Endpoints, SavedEndpoint};
use std::collections::{HashMap, HashSet};
use tools::catalog::{SavedQuery, ToolCatalog};
use weir_engine::source::Protocol;
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::Schema;
use weir_language::validate::{self, Options};
use weir_metadata::Step;
use weir_metadata::document::api::{AllowlistEntry, NamedQuery, QueryCollection, RestEndpoint};
use weir_transport::document_id::text_hash;
use weir_transport::document_store::{DocumentStore, StoredDocument};

/// Lists of one document.
struct Lists<'c> {
    collections: &'c [QueryCollection],
    allow_list: &'c [AllowlistEntry],
    endpoints: &'c [RestEndpoint],
    origin: ListOrigin<'c>,
}

/// Where lists are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListOrigin<'c> {
    Metadata,
    /// The block `operations`.
    Settings,
    /// Files of documents, with the place of each collection's file in the block.
    Files(&'c [usize]),
}

/// The operations of one configuration.
#[derive(Debug)]
pub(crate) struct SavedOperations {
    /// `None`: every operation is allowed.
    pub(crate) allow_list: Option<AllowList>,
    pub(crate) endpoints: Endpoints,
    /// Collections, for operators.
    pub(crate) collections: Vec<SavedCollection>,
    /// Documents by identifier: those of files, and all queries of collections by their hash.
    pub(crate) documents: DocumentStore,
    /// Texts that clients stored.
    pub(crate) automatic: Option<AutomaticDocuments>,
    /// Operations that agents may call.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only agents read it"))]
    pub(crate) tools: ToolCatalog,
    /// Documents that rates read; none if no rate does.
    pub(crate) known: KnownDocuments,
}

/// Queries by collection and name.
type Queries<'c> = HashMap<(&'c str, &'c str), &'c NamedQuery>;

/// Lists of the metadata, those of weir.yaml, and those of files.
fn lists<'c>(config: &'c Config, persisted: &'c PersistedDocuments) -> Vec<Lists<'c>> {
    let described = config.described.as_ref().map(|it| &it.loaded.document);
    let described = described.map(|it| Lists {
        collections: &it.query_collections,
        allow_list: &it.allowlist,
        endpoints: &it.rest_endpoints,
        origin: ListOrigin::Metadata,
    });
    let own = &config.operations;
    let own = Lists {
        collections: &own.collections,
        allow_list: &own.allowlist,
        endpoints: &own.rest_endpoints,
        origin: ListOrigin::Settings,
    };
    let of_files = Lists {
        collections: &persisted.collections,
        allow_list: &[],
        endpoints: &[],
        origin: ListOrigin::Files(&persisted.file_of_collection),
    };
    described.into_iter().chain([own, of_files]).collect()
}

/// Roles that may not introspect.
pub(crate) fn without_introspection(config: &Config) -> Vec<Box<str>> {
    let described = config.described.as_ref().map(|it| &it.loaded.document.graphql_schema_introspection);
    let described = described.into_iter().flat_map(|it| &it.disabled_for_roles);
    let own = &config.operations.introspection_disabled_for_roles;
    described.chain(own).map(|it| it.as_str().into()).collect()
}

impl SavedOperations {
    /// Reads the operations of `config`. `schema` is the admin's; `None` if sources are missing.
    /// # Errors
    /// A name is used twice, or a file of documents cannot be read.
    pub(crate) fn new(config: &Config, schema: Option<&Schema>) -> Result<(Self, Vec<Misfit>), String> {
        let persisted = persisted::read_files(&config.operations.persisted)?;
        let lists = lists(config, &persisted);
        let mut misfits: Vec<Misfit> = persisted.notes.iter().map(|(at, it)| file_misfit(*at, it)).collect();
        let queries = checked_queries(&lists, schema, config, &mut misfits)?;
        let allow_list = config.operations.allow_list.then(|| allow_list(&lists, &queries, config));
        misfits.extend(unknown_collections(&lists));
        let endpoints = endpoints(&lists, &queries, &mut misfits);
        let (tools, notes) =
            ToolCatalog::new(&config.operations.mcp, queries_for_tools(config, &lists, &endpoints));
        misfits.extend(unknown_tool_collections(config, &lists));
        misfits.extend(notes.into_iter().map(tool_misfit));
        let collected = collected_documents(&lists);
        let known = known_documents(&queries, config);
        let collections = saved_documents::collections(&lists, config);
        let mut documents = persisted.documents;
        for document in collected {
            // A manifest may name a document by the hash of another text, and keeps it.
            let _ = documents.add(&text_hash(&document.text), document);
        }
        let automatic = AutomaticDocuments::new(config)?;
        Ok((Self { allow_list, endpoints, collections, documents, automatic, tools, known }, misfits))
    }

    /// True if `role`, which is not the admin, may send `text`.
    pub(crate) fn allows(&self, text: &str, role: &str) -> bool {
        self.allow_list.as_ref().is_none_or(|it| it.allows(text, role))
    }

    /// Takes over what clients stored under the configuration before.
    pub(crate) fn keep_texts_of(&mut self, before: &Self) {
        if let Some((own, before)) = self.automatic.as_mut().zip(before.automatic.as_ref()) {
            own.keep_texts_of(before);
        }
    }
}

/// All queries of all lists that are GraphQL; what is wrong with others is added to `misfits`.
/// # Errors
/// A name of a collection is used twice.
fn checked_queries<'c>(
    lists: &[Lists<'c>],
    schema: Option<&Schema>,
    config: &Config,
    misfits: &mut Vec<Misfit>,
) -> Result<Queries<'c>, String> {
    let mut queries = Queries::new();
    let mut names = HashSet::new();
    for list in lists {
        for (at, collection) in list.collections.iter().enumerate() {
            if !names.insert(collection.name.as_str()) {
                let name = &collection.name;
                return Err(format!("two collections of queries are called `{name}`: rename one"));
            }
            for (number, query) in collection.definition.queries.iter().enumerate() {
                let checked = check(query, schema, config);
                if !matches!(checked, Err(QueryFault::Syntax(_))) {
                    queries.insert((collection.name.as_str(), query.name.as_str()), query);
                }
                if let Err(QueryFault::Syntax(reason) | QueryFault::Misfit(reason)) = checked {
                    misfits.push(list.query_misfit(
                        at,
                        number,
                        format!("in query \"{}\": {reason}", query.name),
                    ));
                }
            }
        }
    }
    Ok(queries)
}

/// The documents that rates of `config` read.
fn known_documents(queries: &Queries<'_>, config: &Config) -> KnownDocuments {
    let is_read = config.limits.rates.iter().any(Rate::reads_documents);
    let read = queries.iter().filter(|_| is_read).map(|(at, query)| (at.1, query.query.as_str()));
    KnownDocuments::new(read, config.limits.document())
}

/// Entries of the allow list that name a collection which does not exist.
fn unknown_collections(lists: &[Lists<'_>]) -> Vec<Misfit> {
    let names: HashSet<&str> =
        lists.iter().flat_map(|it| it.collections).map(|it| it.name.as_str()).collect();
    let mut found = Vec::new();
    for list in lists {
        let entries = list.allow_list.iter().enumerate();
        for (at, entry) in entries.filter(|it| !names.contains(it.1.collection.as_str())) {
            let reason =
                format!("the collection `{}` does not exist, so nothing of it is allowed", entry.collection);
            found.push(Misfit { is_served: true, ..list.misfit(list.path("allowlist", at, &[]), reason) });
        }
    }
    found
}

/// Documents of collections that are written in the configuration.
fn collected_documents(lists: &[Lists<'_>]) -> Vec<StoredDocument> {
    let own = lists.iter().filter(|it| !matches!(it.origin, ListOrigin::Files(_)));
    let queries = own.flat_map(|it| it.collections).flat_map(|it| &it.definition.queries);
    queries.filter_map(|it| persisted::to_stored(&it.query).ok()).collect()
}

/// Queries that may be tools: those of endpoints, then those of the collections that the configuration names.
fn queries_for_tools<'c>(
    config: &'c Config,
    lists: &'c [Lists<'c>],
    endpoints: &'c Endpoints,
) -> impl Iterator<Item = SavedQuery<'c>> {
    let settings = &config.operations.mcp;
    let of_endpoints = endpoints.all().iter().filter(|_| settings.rest_endpoints).map(|it| SavedQuery {
        name: &it.name,
        text: &it.query,
        comment: it.comment.as_deref(),
        protocol: Protocol::Hasura,
    });
    let is_named = |name: &String| settings.collections.as_ref().is_none_or(|it| it.contains(name));
    let of_lists = lists.iter().flat_map(move |list| {
        // Documents of Hasura's metadata were written for its endpoint.
        let protocol = if list.is_metadata() { Protocol::Hasura } else { Protocol::GraphqlOverHttp };
        let named = list.collections.iter().filter(move |it| is_named(&it.name));
        named.flat_map(|it| &it.definition.queries).map(move |it| SavedQuery {
            name: &it.name,
            text: &it.query,
            comment: None,
            protocol,
        })
    });
    of_endpoints.chain(of_lists)
}

/// Collections of `operations.mcp` that do not exist.
fn unknown_tool_collections(config: &Config, lists: &[Lists<'_>]) -> Vec<Misfit> {
    let named = config.operations.mcp.collections.iter().flatten();
    let exists = |name: &String| lists.iter().flat_map(|it| it.collections).any(|it| it.name == *name);
    named
        .filter(|it| !exists(it))
        .map(|it| tool_misfit(format!("the collection `{it}` does not exist, so it has no tools")))
        .collect()
}

/// A note about the tools of agents, which are served.
fn tool_misfit(reason: String) -> Misfit {
    let path = vec!["operations".into(), "mcp".into()];
    Misfit { is_metadata: false, path, reason, is_served: true }
}

/// A note about the file at `at`, which is served.
fn file_misfit(at: usize, reason: &str) -> Misfit {
    let path = vec!["operations".into(), "persisted".into(), "files".into(), at.into()];
    Misfit { is_metadata: false, path, reason: reason.to_owned(), is_served: true }
}

/// Endpoints of all lists.
fn endpoints(lists: &[Lists<'_>], queries: &Queries<'_>, misfits: &mut Vec<Misfit>) -> Endpoints {
    let mut found = Vec::new();
    for list in lists {
        for (at, entry) in list.endpoints.iter().enumerate() {
            let path = list.path("rest_endpoints", at, &[]);
            match SavedEndpoint::read(entry, queries, list.is_metadata()) {
                Ok(endpoint) => found.push((endpoint, path, list.is_metadata())),
                Err(reason) => misfits.push(list.misfit(path, reason)),
            }
        }
    }
    for (at, (endpoint, path, is_metadata)) in found.iter().enumerate() {
        let others = found[..at].iter().map(|it| &it.0);
        for reason in endpoint.conflicts(others) {
            misfits.push(Misfit { is_metadata: *is_metadata, path: path.clone(), reason, is_served: true });
        }
    }
    Endpoints::new(found.into_iter().map(|it| it.0).collect())
}

impl Lists<'_> {
    fn is_metadata(&self) -> bool {
        self.origin == ListOrigin::Metadata
    }
    /// Path of an entry in its document.
    fn path(&self, list: &str, at: usize, below: &[Step]) -> Vec<Step> {
        let list = if self.is_metadata() {
            vec![list.into()]
        } else {
            vec!["operations".into(), own_key(list).into()]
        };
        list.into_iter().chain([at.into()]).chain(below.iter().cloned()).collect()
    }
    fn misfit(&self, path: Vec<Step>, reason: String) -> Misfit {
        Misfit { is_metadata: self.is_metadata(), path, reason, is_served: false }
    }
    /// Mistake in a query of the collection at `at`.
    fn query_misfit(&self, at: usize, number: usize, reason: String) -> Misfit {
        if let ListOrigin::Files(files) = self.origin {
            return file_misfit(files[at], &reason);
        }
        let below = ["definition".into(), "queries".into(), number.into()];
        self.misfit(self.path("query_collections", at, &below), reason)
    }
}

/// Key under `operations` for a list of the metadata.
fn own_key(list: &str) -> &str {
    if list == "query_collections" { "collections" } else { list }
}

/// A reason for which a query of a collection is not served.
enum QueryFault {
    /// It is not GraphQL: neither the allow list nor an endpoint knows it.
    Syntax(String),
    /// It does not fit the schema.
    Misfit(String),
}

/// Validates a query of a collection against `schema`.
fn check(query: &NamedQuery, schema: Option<&Schema>, config: &Config) -> Result<(), QueryFault> {
    let document = parser::parse(&query.query, &Limits::NONE)
        .map_err(|error| QueryFault::Syntax(format!("it is no GraphQL: {}", error.message)))?;
    let Some(schema) = schema else { return Ok(()) };
    let limits = config.limits.document();
    let options = Options { limits, suggestions: true, edition_2026: false, subscriptions_beside: false };
    validate::validate(schema, &document, &options).map(drop).map_err(|errors| {
        let words: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
        QueryFault::Misfit(words.join("; "))
    })
}

/// Allow list of all lists.
fn allow_list(lists: &[Lists<'_>], queries: &Queries<'_>, config: &Config) -> AllowList {
    let mut documents = Vec::new();
    for entry in lists.iter().flat_map(|it| it.allow_list) {
        let scope = match &entry.scope {
            Some(scope) if !scope.global => {
                Scope { is_global: false, roles: scope.roles.clone().unwrap_or_default() }
            }
            Some(_) | None => Scope { is_global: true, roles: Vec::new() },
        };
        let of_entry = queries.iter().filter(|it| it.0.0 == entry.collection);
        documents.extend(of_entry.map(|it| (it.1.query.as_str(), scope.clone())));
    }
    AllowList::new(documents.into_iter(), config.limits.document())
}
