//! Operations of the operator: query collections, the allow list, and REST endpoints.
//!
//! They are in Hasura's metadata, or in the block `operations` of weir.yaml, or both.
//!
//! **Invariant:** an entry that does not fit keeps no other from being served, and is told.

pub(crate) mod allow_list;
pub(crate) mod endpoint_path;
pub(crate) mod endpoint_variables;
pub(crate) mod openapi;
pub(crate) mod saved_endpoint;

use crate::config::Config;
use crate::sources::Misfit;
use allow_list::{AllowList, Scope};
use saved_endpoint::{Endpoints, SavedEndpoint};
use std::collections::HashMap;
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::Schema;
use weir_language::validate::{self, Options};
use weir_metadata::Step;
use weir_metadata::document::api::{AllowlistEntry, NamedQuery, QueryCollection, RestEndpoint};

/// Lists of one document.
struct Lists<'c> {
    collections: &'c [QueryCollection],
    allow_list: &'c [AllowlistEntry],
    endpoints: &'c [RestEndpoint],
    is_metadata: bool,
}

/// The operations of one configuration.
#[derive(Debug)]
pub(crate) struct SavedOperations {
    /// `None`: every operation is allowed.
    pub(crate) allow_list: Option<AllowList>,
    pub(crate) endpoints: Endpoints,
}

/// Queries by collection and name.
type Queries<'c> = HashMap<(&'c str, &'c str), &'c NamedQuery>;

/// Lists of the metadata, then those of weir.yaml.
fn lists(config: &Config) -> Vec<Lists<'_>> {
    let described = config.described.as_ref().map(|it| &it.loaded.document);
    let described = described.map(|it| Lists {
        collections: &it.query_collections,
        allow_list: &it.allowlist,
        endpoints: &it.rest_endpoints,
        is_metadata: true,
    });
    let own = &config.operations;
    let own = Lists {
        collections: &own.collections,
        allow_list: &own.allowlist,
        endpoints: &own.rest_endpoints,
        is_metadata: false,
    };
    described.into_iter().chain([own]).collect()
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
    /// A name is used twice.
    pub(crate) fn new(config: &Config, schema: Option<&Schema>) -> Result<(Self, Vec<Misfit>), String> {
        let lists = lists(config);
        let mut misfits = Vec::new();
        let mut queries = Queries::new();
        let mut names = HashMap::new();
        for list in &lists {
            for (at, collection) in list.collections.iter().enumerate() {
                if names.insert(collection.name.as_str(), ()).is_some() {
                    let name = &collection.name;
                    return Err(format!("two collections of queries are called `{name}`: rename one"));
                }
                for (number, query) in collection.definition.queries.iter().enumerate() {
                    let path = list.path(
                        "query_collections",
                        at,
                        &["definition".into(), "queries".into(), number.into()],
                    );
                    let checked = check(query, schema, config);
                    if !matches!(checked, Err(QueryFault::Syntax(_))) {
                        queries.insert((collection.name.as_str(), query.name.as_str()), query);
                    }
                    if let Err(QueryFault::Syntax(reason) | QueryFault::Misfit(reason)) = checked {
                        misfits.push(list.misfit(path, format!("in query \"{}\": {reason}", query.name)));
                    }
                }
            }
        }
        let allow_list = config.operations.allow_list.then(|| allow_list(&lists, &queries, config));
        for list in &lists {
            for (at, entry) in
                list.allow_list.iter().enumerate().filter(|it| !names.contains_key(it.1.collection.as_str()))
            {
                let reason = format!(
                    "the collection `{}` does not exist, so nothing of it is allowed",
                    entry.collection
                );
                misfits
                    .push(Misfit { is_served: true, ..list.misfit(list.path("allowlist", at, &[]), reason) });
            }
        }
        let endpoints = endpoints(&lists, &queries, &mut misfits);
        Ok((Self { allow_list, endpoints }, misfits))
    }
}

/// Endpoints of all lists.
fn endpoints(lists: &[Lists<'_>], queries: &Queries<'_>, misfits: &mut Vec<Misfit>) -> Endpoints {
    let mut found = Vec::new();
    for list in lists {
        for (at, entry) in list.endpoints.iter().enumerate() {
            let path = list.path("rest_endpoints", at, &[]);
            match SavedEndpoint::read(entry, queries) {
                Ok(endpoint) => found.push((endpoint, path, list.is_metadata)),
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
    /// Path of an entry in its document.
    fn path(&self, list: &str, at: usize, below: &[Step]) -> Vec<Step> {
        let list = if self.is_metadata {
            vec![list.into()]
        } else {
            vec!["operations".into(), own_key(list).into()]
        };
        list.into_iter().chain([at.into()]).chain(below.iter().cloned()).collect()
    }
    fn misfit(&self, path: Vec<Step>, reason: String) -> Misfit {
        Misfit { is_metadata: self.is_metadata, path, reason, is_served: false }
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
