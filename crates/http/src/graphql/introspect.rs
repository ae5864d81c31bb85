//! Reads the schema of a GraphQL server by introspection.
//!
//! Source: GraphQL specification, section 4.

mod fixed_inputs;

use super::DEPTH_MAX;
use super::GraphqlLink;
use super::forward::HEADERS;
use super::lookups::{OpenRest, ResolvedLookup, RestType, Told};
use super::server_names::ServerNames;
use crate::passthrough::{FieldLookup, KEY_PREFIX, Naming, OpenError};
use bytes::Bytes;
use std::time::Duration;
use weir_language::json::{Json, JsonRef};
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{ScalarReader, Schema, TypeRef, builtin};

/// Introspection query. Seven levels of wrapped types are what clients commonly request.
const QUESTION: &str = r#"{"query":"{__schema{queryType{name}mutationType{name}subscriptionType{name}types{kind name description fields(includeDeprecated:true){name description isDeprecated deprecationReason args{...i}type{...t}}inputFields{...i}interfaces{name}enumValues(includeDeprecated:true){name description isDeprecated deprecationReason}possibleTypes{name}}}}fragment i on __InputValue{name description defaultValue type{...t}}fragment t on __Type{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name}}}}}}}"}"#;

/// Timeout of introspection.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Treatment of a server's subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subscriptions {
    /// The source has them.
    Passed,
    /// The source has none.
    Dropped,
}

/// The schema of a server, as names and fields of the source.
pub(super) struct Introspected {
    pub(super) schema: Schema,
    pub(super) names: ServerNames,
    pub(super) lookups: Vec<ResolvedLookup>,
    pub(super) rest_types: Vec<RestType>,
    /// Lookups that do not fit: their places, and why.
    pub(super) faults: Vec<(usize, String)>,
}

/// Requests what the server tells about its schema: the body of its answer.
/// # Errors
/// The server does not answer, or not with a schema.
pub(super) async fn ask(link: &GraphqlLink) -> Result<Bytes, OpenError> {
    let mut ask =
        link.server.post(link.path.clone(), Bytes::from_static(QUESTION.as_bytes()), &HEADERS, None);
    ask.timeout = Some(TIMEOUT);
    link.server.pass(&weir_engine::source::NoHeaders, None, &mut ask.headers);
    let answer = link.upstream.call(&ask).await.map_err(|it| OpenError::Unavailable(it.to_string()))?;
    let json = Json::parse(&answer.body, DEPTH_MAX).map_err(|error| {
        OpenError::Unavailable(format!("status {}, and the body is no JSON: {error}", answer.status.as_u16()))
    })?;
    if told_schema(&json).is_none() {
        let first = json.root().get("errors").and_then(|it| it.items().next());
        let words = first.and_then(|it| it.get("message")).and_then(JsonRef::as_str).unwrap_or_default();
        return Err(OpenError::Unavailable(format!("the server does not tell its schema: {words}")));
    }
    Ok(answer.body)
}

/// The JSON of `body` with all members and items in one order, as servers may tell the same schema in several.
pub(super) fn in_order(body: &[u8]) -> Option<String> {
    let json = Json::parse(body, DEPTH_MAX).ok()?;
    Some(sort(json.root()))
}

/// The recursion is as deep as the text, which was read with a bound.
fn sort(value: JsonRef<'_>) -> String {
    let (open, close, mut parts): (_, _, Vec<String>) = if value.is_array() {
        ('[', ']', value.items().map(sort).collect())
    } else if value.is_object() {
        ('{', '}', value.members().map(|(name, value)| format!("{name}:{}", sort(value))).collect())
    } else {
        return value.raw().to_owned();
    };
    parts.sort_unstable();
    format!("{open}{}{close}", parts.join(","))
}

fn told_schema<'t>(json: &'t Json<'t>) -> Option<JsonRef<'t>> {
    let schema = json.root().get("data").and_then(|it| it.get("__schema"));
    schema.filter(|it| it.is_object())
}

/// Builds the schema of the source from the body of an answer to the introspection query.
/// # Errors
/// The names that it would have make no sound schema.
pub(super) fn read(
    body: &[u8],
    naming: &Naming,
    lookups: &[FieldLookup],
    subscriptions: Subscriptions,
) -> Result<Introspected, OpenError> {
    let unfit = |words: String| OpenError::Unfit(format!("the server's schema is not sound: {words}"));
    let json = Json::parse(body, DEPTH_MAX).map_err(|error| unfit(error.to_string()))?;
    let told = told_schema(&json).ok_or_else(|| unfit("there is none".into()))?;
    let names = ServerNames::default();
    let builder = SchemaBuilder::new();
    let mut reader = SchemaReader {
        builder,
        naming,
        names,
        roots: [None, None, None],
        subscriptions,
        rest_types: Vec::new(),
        rest_names: Vec::new(),
    };
    for (at, key) in ["queryType", "mutationType", "subscriptionType"].into_iter().enumerate() {
        reader.roots[at] = told.get(key).map(|it| text(it, "name")).filter(|it| !it.is_empty());
    }
    let told = Told { schema: told };
    // Some servers have mutations and do not say so.
    let is_object = |it: &JsonRef<'_>| text(*it, "kind") == "OBJECT";
    if reader.roots[1].is_none() && told.ty("Mutation").as_ref().is_some_and(is_object) {
        reader.roots[1] = Some("Mutation".into());
    }
    for ty in told.schema.get("types").into_iter().flat_map(JsonRef::items) {
        reader.ty(ty);
    }
    let (lookups, faults) = reader.lookups(told, lookups);
    let passed = if subscriptions == Subscriptions::Passed { 3 } else { 2 };
    for (at, root) in reader.roots.clone().into_iter().take(passed).enumerate() {
        let Some(root) = root else { continue };
        let name = reader.name(&root);
        let id = reader.builder.reference(&name);
        match at {
            0 => reader.builder.query(id),
            1 => reader.builder.mutation(id),
            _ => reader.builder.subscription(id),
        };
    }
    let schema = reader
        .builder
        .build()
        .map_err(|errors| unfit(errors.first().map_or_else(String::new, |it| it.message.clone())))?;
    let mut lookups = lookups;
    let SchemaReader { names, rest_types, .. } = reader;
    lookups.iter_mut().for_each(|it| it.find_fields(&schema, &names));
    Ok(Introspected { schema, names, lookups, rest_types, faults })
}

struct SchemaReader<'n> {
    builder: SchemaBuilder,
    naming: &'n Naming,
    names: ServerNames,
    /// Names of the root types of queries, mutations and subscriptions.
    roots: [Option<String>; 3],
    subscriptions: Subscriptions,
    /// Types made for relationships, and the names that they were to have.
    rest_types: Vec<RestType>,
    rest_names: Vec<String>,
}

/// The string under `key`; empty if absent.
fn text(of: JsonRef<'_>, key: &str) -> String {
    of.get(key).and_then(JsonRef::as_str).map_or_else(String::new, Into::into)
}

impl<'n> SchemaReader<'n> {
    /// Name of a server's type in Weir's schema.
    fn name(&self, name: &str) -> String {
        self.naming.type_name(name, self.is_root(name))
    }

    fn is_root(&self, name: &str) -> bool {
        self.roots.iter().flatten().any(|it| it == name)
    }

    fn ty(&mut self, ty: JsonRef<'_>) {
        let own = text(ty, "name");
        let is_dropped = self.subscriptions == Subscriptions::Dropped && self.roots[2].as_ref() == Some(&own);
        if builtin::is_built_in_name(&own) || is_dropped {
            return;
        }
        let name = self.name(&own);
        let words = text(ty, "description");
        if name != own {
            let id = self.builder.reference(&name);
            self.names.types.insert(id, own.as_str().into());
        }
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
            self.field(field, &own);
        }
    }

    fn field(&mut self, field: JsonRef<'_>, parent: &str) {
        let own = text(field, "name");
        let name = self.naming.field_name(parent, &own, self.is_root(parent));
        let ty = self.type_of(field);
        let id = self.builder.field(&name, &text(field, "description"), ty);
        if name != own {
            self.names.fields.insert(id, own.into());
        }
        self.read_deprecation(field);
        self.arguments(field, &[]);
    }

    /// Adds the arguments of `field`; of those that a relationship sets what is left open.
    fn arguments(&mut self, field: JsonRef<'_>, fixed: &[(String, OpenRest)]) {
        for argument in field.get("args").into_iter().flat_map(JsonRef::items) {
            let name = text(argument, "name");
            let rest = fixed.iter().find(|it| it.0 == name).map(|it| &it.1);
            if matches!(rest, Some(OpenRest::Nothing)) {
                continue;
            }
            let ty = self.open_type(argument, rest);
            self.builder.argument(&name, &text(argument, "description"), ty);
            if rest.is_none() {
                self.default(argument);
            }
        }
    }

    /// Adds the fields that joins ask.
    fn lookups(
        &mut self,
        told: Told<'_>,
        lookups: &[FieldLookup],
    ) -> (Vec<ResolvedLookup>, Vec<(usize, String)>) {
        let root = self.roots[0].clone().unwrap_or_default();
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        for (at, lookup) in lookups.iter().enumerate() {
            match told.resolve(lookup, &root) {
                // Types stand before the fields of the join root.
                Ok((steps, last)) => found.push((lookup, steps, last, self.rests(told, lookup, last))),
                Err(reason) => faults.push((at, reason)),
            }
        }
        let mut resolved = Vec::new();
        for (lookup, steps, last, rests) in found {
            if resolved.is_empty() {
                self.builder.join_root();
            }
            let ty = self.type_of(last);
            let field = self.builder.field(&lookup.name, "", ty);
            self.arguments(last, &rests);
            let key = self.builder.type_ref("String");
            for number in 0..lookup.keys.len() {
                self.builder.argument(&format!("{KEY_PREFIX}{number}"), "", key);
            }
            resolved.push(ResolvedLookup { field, steps });
        }
        (resolved, faults)
    }

    /// The arguments of the last field of `lookup` that clients may give.
    fn rests(&mut self, told: Told<'_>, lookup: &FieldLookup, last: JsonRef<'_>) -> Vec<(String, OpenRest)> {
        let fixed = lookup.steps.last().map_or(&[][..], |it| &it.arguments);
        let rests = fixed.iter().map(|(name, value)| {
            let mut arguments = last.get("args").into_iter().flat_map(JsonRef::items);
            let argument = arguments.find(|it| text(*it, "name") == *name);
            let rest = argument.map_or(OpenRest::Nothing, |it| self.rest(told, it, value, &lookup.label));
            (name.clone(), rest)
        });
        rests.collect()
    }

    fn type_of(&mut self, of: JsonRef<'_>) -> TypeRef {
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
