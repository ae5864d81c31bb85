//! Checks operations of `@custom` fields against the schemas of their GraphQL servers.
//!
//! A server that cannot be asked is no reason not to serve: its fields are then called unchecked, which is told. Types may be
//! stricter there than here: an answer may be non-null, an argument nullable.

use super::custom_sdl;
use std::path::Path;
use std::sync::Arc;
use weir_engine::source::Source;
use weir_http::cache::Cache;
use weir_http::graphql::GraphqlSource;
use weir_http::passthrough::{OpenError, Server};
use weir_http::source::{Options, RemoteServer};
use weir_language::error::Error;
use weir_language::schema::{Schema, TypeKind, TypeRef};
use weir_language::validate;
use weir_native::custom::{CustomField, Customs, RemoteOperation, TypeUse};

/// Introspects the servers of all remote operations with `ask`, and checks the operations. Returns warnings.
/// # Errors
/// Operations and types that a server does not have, with the locations of their directives.
pub(crate) fn check(
    path: &Path,
    customs: &Customs,
    cache: &Arc<Cache>,
    ask: &dyn Fn(Server) -> Result<GraphqlSource, OpenError>,
) -> Result<Vec<String>, String> {
    let mut errors = Vec::new();
    let mut notes = Vec::new();
    let mut known: Vec<(String, Result<Arc<Schema>, OpenError>)> = Vec::new();
    for field in &customs.fields {
        let Some(operation) = field.request.graphql.as_ref().filter(|_| field.request.is_introspected) else {
            continue;
        };
        let text = server(field, customs);
        if !known.iter().any(|it| it.0 == text) {
            let server = open_server(&text, customs, cache);
            let asked = server.and_then(ask).map(|it| Arc::clone(it.schema()));
            known.push((text.clone(), asked));
        }
        let place = format!("{}:{}:{}", path.display(), field.place.line, field.place.column);
        for (_, asked) in known.iter().filter(|it| it.0 == text) {
            match asked {
                Ok(schema) => {
                    let found = Checking { schema, customs, field, operation, errors: Vec::new() }.all();
                    errors.extend(found.iter().map(|it| format!("{place}: {it}")));
                }
                Err(OpenError::Unavailable(why)) => {
                    notes.push(format!(
                        "{place}: the remote schema cannot be read, so the call is unchecked: {why}"
                    ));
                }
                Err(OpenError::Unfit(why)) => {
                    errors.push(format!("{place}: the remote schema is none: {why}"))
                }
            }
        }
    }
    if errors.is_empty() { Ok(notes) } else { Err(errors.join("\n")) }
}

/// SDL of the server of `field`, with the headers for introspection.
fn server(field: &CustomField, customs: &Customs) -> String {
    let request = &field.request;
    let mut url = request.url.origin.clone();
    for segment in &request.url.path {
        if let weir_native::custom::UrlPart::Fixed(segment) = segment {
            url.push('/');
            url.push_str(segment);
        }
    }
    let headers: Vec<String> =
        request.introspection.iter().map(|it| custom_sdl::secret_header(it, customs)).collect();
    format!(
        "extend schema @link(url: \"https://weir.example/spec/v1\", import: [\"@graphql\", \"@policy\"]) \
         @graphql(url: {}, headers: [{}]) @policy(source: \"graphql\", timeout: 5000, retries: 0)\n",
        custom_sdl::string(&url),
        headers.join(", ")
    )
}

/// The server that the SDL names.
fn open_server(text: &str, customs: &Customs, cache: &Arc<Cache>) -> Result<Server, OpenError> {
    let config = super::secrets(customs);
    let services = Default::default();
    let none = |_: &str| None;
    let options = Options {
        name: "introspection",
        cache: Arc::clone(cache),
        config: &config,
        env: &none,
        env_allowed: None,
        services: &services,
        ca: None,
        embedding: None,
    };
    let told = |mistakes: Vec<weir_http::sdl::Mistake>| {
        OpenError::Unfit(mistakes.into_iter().map(|it| it.message).collect::<Vec<_>>().join("; "))
    };
    let source = weir_http::source::open(text, "introspection", &options).map_err(told)?;
    let servers = source.servers("introspection").map_err(told)?;
    let server = servers.into_iter().find_map(|it| match it {
        RemoteServer::Graphql(server, _) => Some(server),
        RemoteServer::Grpc(..) => None,
    });
    server.ok_or_else(|| OpenError::Unfit("no server is named".into()))
}

/// One field, with the schema of its server.
struct Checking<'c> {
    schema: &'c Schema,
    customs: &'c Customs,
    field: &'c CustomField,
    operation: &'c RemoteOperation,
    errors: Vec<String>,
}

impl Checking<'_> {
    fn all(mut self) -> Vec<String> {
        let schema = self.schema;
        let name = &self.operation.field;
        let root = schema.root(self.operation.kind);
        let remote = root.and_then(|it| schema.field_by_name(it, name)).map(|it| schema.field(it).ty);
        let refused = refused(schema, self.operation, remote);
        self.errors
            .extend(refused.iter().map(|it| format!("the remote schema refuses `graphql`: {}", it.message)));
        let Some(remote) = remote else { return self.errors };
        let expected = if self.field.request.is_batch {
            TypeUse {
                wraps: self.field.ty.wraps.list().unwrap_or(self.field.ty.wraps),
                name: self.field.ty.name.clone(),
            }
        } else {
            self.field.ty.clone()
        };
        self.gives(name, &expected, remote);
        self.types();
        self.errors
    }

    /// Checks a result: `expected` is the declared type, `found` the server's.
    fn gives(&mut self, of: &str, expected: &TypeUse, found: TypeRef) {
        let is_same = self.schema.type_name(found.base) == expected.name;
        if !is_same || !expected.wraps.accepts(found.wraps) {
            let found = self.schema.type_text(found);
            self.errors.push(format!("`{of}` is `{expected}` here and `{found}` in the remote schema"));
        }
    }

    /// Checks all remote types that the field returns, at any depth.
    fn types(&mut self) {
        let mut seen = Vec::new();
        let mut open = vec![self.field.ty.name.clone()];
        while let Some(name) = open.pop() {
            if seen.contains(&name) {
                continue;
            }
            let found = self.customs.definitions.iter().find(|it| it.name == name && it.is_remote);
            seen.push(name.clone());
            let Some(definition) = found else { continue };
            let remote = self.schema.type_by_name(&name);
            let remote = remote.filter(|it| self.schema.ty(*it).kind == TypeKind::Object);
            let Some(remote) = remote else {
                if !definition.fields.is_empty() {
                    self.errors.push(format!("the remote schema has no type `{name}`"));
                }
                continue;
            };
            for (field, ty) in &definition.fields {
                open.push(ty.name.clone());
                match self.schema.field_by_name(remote, field) {
                    Some(found) => {
                        let found = self.schema.field(found).ty;
                        self.gives(&format!("{name}.{field}"), ty, found);
                    }
                    None => self.errors.push(format!("`{name}` has no field `{field}` in the remote schema")),
                }
            }
        }
    }
}

/// Errors of the operation by the schema. Its field, which gives `ty`, selects nothing but the name of a type: what clients select is
/// checked by the types that they see.
fn refused(schema: &Schema, operation: &RemoteOperation, ty: Option<TypeRef>) -> Vec<Error> {
    let is_leaf = |it: TypeRef| matches!(schema.ty(it.base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
    let selected = if ty.is_none_or(is_leaf) { "" } else { " { __typename }" };
    let text = format!("{}{selected} }}", operation.text);
    validate::check_text(schema, &text).err().unwrap_or_default()
}
