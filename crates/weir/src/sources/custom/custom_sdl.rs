//! Generates the SDL of services for `@custom` fields.
//!
//! Values never stand in it: variables become `$args`, `$this` and `$batch`, secrets `$config`. What was written in the types is
//! quoted twice: as a text of a selection, and that as a string of GraphQL.

use std::fmt::Write;
use weir_language::json::quote;
use weir_language::span::Location;
use weir_native::custom::{
    CustomField, CustomRequest, Customs, HeaderPair, Owner, RemoteOperation, Template, UrlPart,
};

const LINK: &str =
    "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.4\", import: [\"@connect\"])";

/// Error message of a failed service: the first of its `errors`.
const ERRORS: &str = "{message: \"$.errors->first.message\"}";

/// SDL of services with the origin of its lines.
#[derive(Debug)]
pub(crate) struct Translation {
    pub(crate) text: String,
    /// Per line: location in the types.
    places: Vec<Location>,
}

impl Translation {
    /// Location in the types from which line `line` was generated.
    pub(crate) fn place(&self, line: u32) -> Location {
        let found = (line as usize).checked_sub(1).and_then(|it| self.places.get(it));
        found.copied().unwrap_or(Location { line: 1, column: 1 })
    }

    fn line(&mut self, line: &str, place: Location) {
        self.text.push_str(line);
        self.text.push('\n');
        self.places.push(place);
    }
}

/// Name of the setting for the secret at `at`.
pub(crate) fn setting(at: usize) -> String {
    format!("secret{at}")
}

/// Generates the SDL.
pub(crate) fn translate(customs: &Customs) -> Translation {
    let start = Location { line: 1, column: 1 };
    let mut made = Translation { text: String::new(), places: Vec::new() };
    made.line(LINK, start);
    let mut owners: Vec<&Owner> = Vec::new();
    for field in &customs.fields {
        if !owners.contains(&&field.owner) {
            owners.push(&field.owner);
        }
    }
    for owner in owners {
        let extend = if matches!(owner, Owner::Type(_)) { "extend " } else { "" };
        made.line(&format!("{extend}type {} {{", owner.name()), start);
        for field in customs.fields.iter().filter(|it| it.owner == *owner) {
            made.line(&format!("  {} {}", field.signature, connect(field, customs)), field.place);
        }
        made.line("}", start);
    }
    for definition in &customs.definitions {
        made.line(&definition.text, definition.place);
    }
    made
}

/// Where the variables of a field's templates come from.
#[derive(Clone, Copy)]
enum VariableRoot {
    Args,
    This,
    /// One object of a batch.
    Item,
}

impl VariableRoot {
    fn path(self, name: &str) -> String {
        match self {
            Self::Args => format!("$args.{name}"),
            Self::This => format!("$this.{name}"),
            Self::Item => format!("@.{name}"),
        }
    }
}

fn connect(field: &CustomField, customs: &Customs) -> String {
    let request = &field.request;
    let from = if matches!(field.owner, Owner::Type(_)) { VariableRoot::This } else { VariableRoot::Args };
    let (url, params) = url(request, from);
    let mut http = format!("{}: {}", request.method, string(&url));
    let headers = headers(request, customs);
    if !headers.is_empty() {
        let _ = write!(http, ", headers: [{}]", headers.join(", "));
    }
    if !params.is_empty() {
        let _ = write!(http, ", queryParams: {}", string(&params.join(" ")));
    }
    let body = match (&request.graphql, &request.body) {
        (Some(operation), body) => Some(operation_body(operation, body.as_ref(), request.is_batch, from)),
        (None, Some(body)) if request.is_batch => {
            let names = variables(body);
            Some(format!("$($batch {{ {} }})->map({})", names.join(" "), value(body, VariableRoot::Item)))
        }
        (None, Some(body)) => Some(format!("$({})", value(body, from))),
        (None, None) => None,
    };
    if let Some(body) = body {
        let _ = write!(http, ", body: {}", string(&body));
    }
    let (selection, graphql) = match &request.graphql {
        Some(operation) => {
            let field = string(&operation.field);
            (format!("$.data.{}", operation.field), format!(", graphql: {field}"))
        }
        None => ("$".to_owned(), String::new()),
    };
    let selection = string(&selection);
    format!("@connect(http: {{{http}}}, selection: {selection}{graphql}, errors: {ERRORS})")
}

/// URL with its path, and the query parameters whose values may be missing.
fn url(request: &CustomRequest, from: VariableRoot) -> (String, Vec<String>) {
    let slot = |part: &UrlPart| match part {
        UrlPart::Fixed(text) => text.clone(),
        UrlPart::Variable { name, is_list: true } => {
            format!("{{{}->joinNotNull(',')}}", from.path(name))
        }
        UrlPart::Variable { name, is_list: false } => format!("{{{}}}", from.path(name)),
    };
    let url = &request.url;
    let mut text = url.origin.clone();
    for segment in url.path.iter() {
        text.push('/');
        text.push_str(&slot(segment));
    }
    let mut between = '?';
    let mut params = Vec::new();
    for (name, part) in &url.query {
        match part {
            UrlPart::Variable { name: variable, .. } if !name.contains(['%', '+']) => {
                params.push(format!("{}: {}", word(name), from.path(variable)));
            }
            UrlPart::Variable { .. } | UrlPart::Fixed(_) => {
                let _ = write!(text, "{between}{name}={}", slot(part));
                between = '&';
            }
        }
    }
    (text, params)
}

fn headers(request: &CustomRequest, customs: &Customs) -> Vec<String> {
    let forwarded = request
        .forwarded
        .iter()
        .map(|HeaderPair { remote, local }| format!("{{name: {}, from: {}}}", string(remote), string(local)));
    let secret = request.secret.iter().map(|pair| secret_header(pair, customs));
    forwarded.chain(secret).collect()
}

/// A header whose value is a secret.
pub(crate) fn secret_header(HeaderPair { remote, local }: &HeaderPair, customs: &Customs) -> String {
    let at = customs.secrets.iter().position(|it| it.0 == *local).unwrap_or_default();
    format!("{{name: {}, value: {}}}", string(remote), string(&format!("{{$config.{}}}", setting(at))))
}

/// Body `{query, variables}` for a GraphQL server.
fn operation_body(
    operation: &RemoteOperation,
    body: Option<&Template>,
    is_batch: bool,
    from: VariableRoot,
) -> String {
    let query = format!("[{}, $selection, \" }}\"]->joinNotNull(\"\")", word(&operation.text));
    let mut members = Vec::new();
    for (name, _) in &operation.variables {
        let value = match (is_batch, body) {
            (true, Some(body)) => format!("$batch {{ {} }}", variables(body).join(" ")),
            _ => from.path(name),
        };
        members.push(format!("{}: {value}", word(name)));
    }
    format!("$({{\"query\": {query}, \"variables\": {{{}}}}})", members.join(", "))
}

/// Distinct variable names of a template.
fn variables(template: &Template) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let mut open: Vec<&Template> = vec![template];
    while let Some(template) = open.pop() {
        match template {
            Template::Variable(name) if !names.contains(&name.as_str()) => names.push(name),
            Template::Variable(_) | Template::Constant(_) | Template::Text(_) => {}
            Template::List(items) => open.extend(items.iter().rev()),
            Template::Object(members) => open.extend(members.iter().rev().map(|it| &it.1)),
        }
    }
    names
}

/// A template as an expression of the mapping language. Recursion is bounded by the parser of types.
fn value(template: &Template, from: VariableRoot) -> String {
    match template {
        Template::Constant(text) => text.clone(),
        Template::Text(text) => word(text),
        Template::Variable(name) => from.path(name),
        Template::List(items) => {
            let items: Vec<String> = items.iter().map(|it| value(it, from)).collect();
            format!("[{}]", items.join(", "))
        }
        Template::Object(members) => {
            let member = |(name, it): &(String, Template)| format!("{}: {}", word(name), value(it, from));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A quoted text of the mapping language.
fn word(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// A GraphQL string literal.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::new();
    quote(text, &mut out);
    out
}
