//! Endpoints: paths below `/api/rest/` that run a query of a collection.

use super::Queries;
use super::endpoint_path::Template;
use super::endpoint_variables::Declared;
use weir_language::ast::{Definition, OperationKind};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_metadata::document::api::{Method, RestEndpoint};

/// One endpoint.
#[derive(Clone, Debug)]
pub(crate) struct SavedEndpoint {
    pub(crate) name: String,
    /// True if the metadata have it, false if `operations` of weir.yaml does.
    pub(crate) is_metadata: bool,
    pub(crate) comment: Option<String>,
    pub(crate) template: Template,
    pub(crate) url: String,
    pub(crate) methods: Vec<Method>,
    pub(crate) query: String,
    pub(crate) is_mutation: bool,
    pub(crate) variables: Vec<Declared>,
}

/// The name of a method.
pub(crate) const fn method_name(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
    }
}

impl SavedEndpoint {
    /// Reads an entry.
    /// # Errors
    /// Hasura's message for the mistake.
    pub(super) fn read(
        entry: &RestEndpoint,
        queries: &Queries<'_>,
        is_metadata: bool,
    ) -> Result<Self, String> {
        let template = Template::read(&entry.url)?;
        let stored = &entry.definition.query;
        let query = queries.get(&(stored.collection_name.as_str(), stored.query_name.as_str()));
        let query = query.ok_or_else(|| {
            let query = &stored.query_name;
            let collection = &stored.collection_name;
            format!("query with name \"{query}\" does not exist in the collection \"{collection}\"")
        })?;
        let name = &query.name;
        let document = parser::parse(&query.query, &Limits::NONE).map_err(|it| it.message.clone())?;
        let operation = match document.definitions.as_slice() {
            [Definition::Operation(operation)] => operation,
            _ => return Err(format!("query with name {name} has multiple definitions.")),
        };
        if document.str(operation.span).starts_with('{') {
            return Err(format!("query with name {name} has no keyword `query` or `mutation`."));
        }
        if operation.kind == OperationKind::Subscription {
            return Err(format!("query with name {name} is a subscription"));
        }
        let variables: Vec<Declared> =
            document.list(operation.variables).iter().map(|it| Declared::new(&document, it)).collect();
        Ok(Self {
            name: entry.name.clone(),
            is_metadata,
            comment: entry.comment.clone(),
            template,
            url: entry.url.clone(),
            methods: entry.methods.clone(),
            query: query.query.clone(),
            is_mutation: operation.kind == OperationKind::Mutation,
            variables,
        })
    }

    /// Warnings: paths that also match one of `others`, GET for a mutation, unknown variables in the path.
    pub(super) fn conflicts<'e>(&self, others: impl Iterator<Item = &'e Self>) -> Vec<String> {
        let shares = |it: &&Self| it.methods.iter().any(|method| self.methods.contains(method));
        let both = others.filter(shares).filter(|it| it.template.overlaps(&self.template));
        let mut found: Vec<String> =
            both.map(|it| format!("Ambiguous URL paths: {}, {}", it.url, self.url)).collect();
        if self.is_mutation && self.methods.contains(&Method::Get) {
            found.push("a GET runs a mutation: caches and prefetching browsers may run it unasked".into());
        }
        let unknown =
            self.template.variables().filter(|it| self.variables.iter().all(|own| own.name != **it));
        found.extend(
            unknown.map(|it| format!("the path has the variable `{it}`, which the query does not declare")),
        );
        found
    }
}

/// Result of routing a path and method.
#[derive(Debug)]
pub(crate) enum Found<'e> {
    /// One endpoint, with the path variables.
    One(&'e SavedEndpoint, Vec<(&'e str, String)>),
    /// Several endpoints.
    Several,
    /// The path matches endpoints with other methods, which are listed.
    OtherMethods(String),
    /// No endpoint.
    Nothing,
}

/// All endpoints.
#[derive(Debug, Default)]
pub(crate) struct Endpoints(Vec<SavedEndpoint>);

impl Endpoints {
    pub(crate) fn new(all: Vec<SavedEndpoint>) -> Self {
        Self(all)
    }

    /// All endpoints, in configuration order.
    pub(crate) fn all(&self) -> &[SavedEndpoint] {
        &self.0
    }

    /// The endpoint for `path`, the undecoded part after `/api/rest/`.
    pub(crate) fn find(&self, path: &str, method: &str) -> Found<'_> {
        let mut fitting =
            self.0.iter().filter_map(|it| it.template.fit(path).map(|found| (it, found))).peekable();
        if fitting.peek().is_none() {
            return Found::Nothing;
        }
        let mut one = None;
        let mut methods = Vec::new();
        for (endpoint, variables) in fitting {
            methods.extend_from_slice(&endpoint.methods);
            if endpoint.methods.iter().any(|it| method_name(*it) == method) {
                if one.is_some() {
                    return Found::Several;
                }
                one = Some((endpoint, variables));
            }
        }
        match one {
            Some((endpoint, variables)) => Found::One(endpoint, variables),
            None => {
                methods.sort_unstable();
                methods.dedup();
                let names: Vec<&str> = methods.into_iter().map(method_name).collect();
                Found::OtherMethods(names.join(", "))
            }
        }
    }
}
