//! Reads the schema of a GraphQL server by introspection.
//!
//! Source: GraphQL specification, section 4.

use super::DEPTH_MAX;
use super::GraphqlLink;
use super::forward::HEADERS;
use crate::passthrough::OpenError;
use bytes::Bytes;
use std::time::Duration;
use weir_language::json::{Json, JsonRef};
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{ScalarReader, Schema, builtin};

/// Introspection query. Seven levels of wrapped types are what clients commonly request.
const QUESTION: &str = r#"{"query":"{__schema{queryType{name}mutationType{name}subscriptionType{name}types{kind name description fields(includeDeprecated:true){name description isDeprecated deprecationReason args{...i}type{...t}}inputFields{...i}interfaces{name}enumValues(includeDeprecated:true){name description isDeprecated deprecationReason}possibleTypes{name}}}}fragment i on __InputValue{name description defaultValue type{...t}}fragment t on __Type{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name}}}}}}}"}"#;

/// Timeout of introspection.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Requests the schema of a server.
/// # Errors
/// The server does not answer, or not with a schema.
pub(super) async fn ask(link: &GraphqlLink) -> Result<Schema, OpenError> {
    let mut ask =
        link.server.post(link.path.clone(), Bytes::from_static(QUESTION.as_bytes()), &HEADERS, None);
    ask.timeout = Some(TIMEOUT);
    link.server.pass(&weir_engine::source::NoHeaders, None, &mut ask.headers);
    let answer = link.upstream.call(&ask).await.map_err(|it| OpenError::Unavailable(it.to_string()))?;
    let json = Json::parse(&answer.body, DEPTH_MAX).map_err(|error| {
        OpenError::Unavailable(format!("status {}, and the body is no JSON: {error}", answer.status.as_u16()))
    })?;
    let schema = json.root().get("data").and_then(|it| it.get("__schema"));
    let schema = schema.filter(|it| it.is_object()).ok_or_else(|| {
        let first = json.root().get("errors").and_then(|it| it.items().next());
        let words = first.and_then(|it| it.get("message")).and_then(JsonRef::as_str).unwrap_or_default();
        OpenError::Unavailable(format!("the server does not tell its schema: {words}"))
    })?;
    read(schema, &link.server.prefix)
}

/// Builds a schema from `__schema`, with `prefix` before the names of types and root fields.
fn read(told: JsonRef<'_>, prefix: &str) -> Result<Schema, OpenError> {
    let mut reader = SchemaReader { builder: SchemaBuilder::new(), prefix, roots: [None, None, None] };
    for (at, key) in ["queryType", "mutationType", "subscriptionType"].into_iter().enumerate() {
        reader.roots[at] = told.get(key).map(|it| text(it, "name")).filter(|it| !it.is_empty());
    }
    for ty in told.get("types").into_iter().flat_map(JsonRef::items) {
        reader.ty(ty);
    }
    // Subscriptions of the server are not forwarded.
    for (at, root) in reader.roots.clone().into_iter().take(2).enumerate() {
        let Some(root) = root else { continue };
        let name = reader.name(&root);
        let id = reader.builder.reference(&name);
        match at {
            0 => reader.builder.query(id),
            _ => reader.builder.mutation(id),
        };
    }
    reader.builder.build().map_err(|errors| {
        let first = errors.first().map_or("", |it| &it.message);
        OpenError::Unfit(format!("the server's schema is not sound: {first}"))
    })
}

struct SchemaReader<'p> {
    builder: SchemaBuilder,
    prefix: &'p str,
    /// Names of the root types of queries, mutations and subscriptions.
    roots: [Option<String>; 3],
}

/// The string under `key`; empty if absent.
fn text(of: JsonRef<'_>, key: &str) -> String {
    of.get(key).and_then(JsonRef::as_str).map_or_else(String::new, Into::into)
}

impl SchemaReader<'_> {
    /// Name of a server's type in Weir's schema.
    fn name(&self, name: &str) -> String {
        if builtin::is_built_in_name(name) { name.to_owned() } else { format!("{}{name}", self.prefix) }
    }

    fn ty(&mut self, ty: JsonRef<'_>) {
        let own = text(ty, "name");
        if builtin::is_built_in_name(&own) || self.roots[2].as_ref() == Some(&own) {
            return;
        }
        let name = self.name(&own);
        let words = text(ty, "description");
        let is_root = self.roots.iter().flatten().any(|it| *it == own);
        let list = |key| ty.get(key).into_iter().flat_map(JsonRef::items);
        match text(ty, "kind").as_str() {
            "SCALAR" => drop(self.builder.scalar(&name, &words, ScalarReader::Json)),
            "OBJECT" => drop(self.builder.object(&name, &words)),
            "INTERFACE" => drop(self.builder.interface(&name, &words)),
            "UNION" => {
                self.builder.union(&name, &words);
                for member in list("possibleTypes") {
                    let member = self.name(&text(member, "name"));
                    let member = self.builder.reference(&member);
                    self.builder.member(member);
                }
            }
            "ENUM" => {
                self.builder.enumeration(&name, &words);
                for value in list("enumValues") {
                    self.builder.enum_value(&text(value, "name"), &text(value, "description"));
                    self.read_deprecation(value);
                }
            }
            "INPUT_OBJECT" => {
                self.builder.input_object(&name, &words);
                for field in list("inputFields") {
                    let ty = self.type_of(field);
                    self.builder.input_field(&text(field, "name"), &text(field, "description"), ty);
                    self.default(field);
                }
            }
            kind => tracing::warn!(kind, "a GraphQL server has a type of a kind that is not known"),
        }
        for interface in list("interfaces") {
            let interface = self.name(&text(interface, "name"));
            let interface = self.builder.reference(&interface);
            self.builder.implement(interface);
        }
        for field in list("fields") {
            self.field(field, is_root);
        }
    }

    fn field(&mut self, field: JsonRef<'_>, is_root: bool) {
        let prefix = if is_root { self.prefix } else { "" };
        let ty = self.type_of(field);
        self.builder.field(&format!("{prefix}{}", text(field, "name")), &text(field, "description"), ty);
        self.read_deprecation(field);
        for argument in field.get("args").into_iter().flat_map(JsonRef::items) {
            let ty = self.type_of(argument);
            self.builder.argument(&text(argument, "name"), &text(argument, "description"), ty);
            self.default(argument);
        }
    }

    fn type_of(&mut self, of: JsonRef<'_>) -> weir_language::schema::TypeRef {
        let mut before = String::new();
        let mut after = String::new();
        let mut next = of.get("type");
        while let Some(ty) = next.filter(|it| it.is_object()) {
            match text(ty, "kind").as_str() {
                "NON_NULL" => after.insert(0, '!'),
                "LIST" => {
                    before.push('[');
                    after.insert(0, ']');
                }
                _ => before.push_str(&self.name(&text(ty, "name"))),
            }
            next = ty.get("ofType");
        }
        self.builder.type_ref(&format!("{before}{after}"))
    }

    fn read_deprecation(&mut self, of: JsonRef<'_>) {
        if of.get("isDeprecated").and_then(JsonRef::as_bool) == Some(true) {
            self.builder.deprecate(&text(of, "deprecationReason"));
        }
    }

    fn default(&mut self, of: JsonRef<'_>) {
        if let Some(literal) = of.get("defaultValue").and_then(JsonRef::as_str) {
            self.builder.default(&literal);
        }
    }
}
