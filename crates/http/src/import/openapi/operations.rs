//! Converts operations to root fields: name, arguments, request, response.

use super::answer::{self, AnswerKind};
use super::body;
use super::document::{Document, is_true, text};
use super::graphql_names::{self, TakenNames};
use super::parameters::{Argument, RequestParts};
use super::servers::{ServerAddress, UNKNOWN_HOST};
use super::types::{Types, first_line};
use crate::template::{self, Request};
use http::Method;
use serde_json::Value;

/// Methods that a path item names directly.
const METHODS: [&str; 9] = ["get", "query", "put", "post", "delete", "patch", "options", "head", "trace"];

/// Root fields of the generated SDL.
pub(super) struct Operations<'d> {
    pub types: Types<'d>,
    pub reading: Vec<Operation>,
    pub writing: Vec<Operation>,
    /// Operations that were left out, with reasons.
    pub left_out: Vec<String>,
}

/// One root field.
pub(super) struct Operation {
    pub name: String,
    pub description: Option<String>,
    pub deprecated: bool,
    pub arguments: Vec<Argument>,
    pub method: String,
    /// Base URL, if it differs from the description's.
    pub base: Option<String>,
    /// Path with `{$args.…}` placeholders.
    pub path: String,
    pub query: Vec<String>,
    pub headers: Vec<(String, String)>,
    pub body: Option<String>,
    pub ty: String,
    pub selection: String,
}

impl<'d> Operations<'d> {
    /// Reads the operations of `document`, which comes from `origin`.
    pub(super) fn read(document: &'d Document, origin: &str) -> Self {
        let mut all = Self {
            types: Types::new(document),
            reading: Vec::new(),
            writing: Vec::new(),
            left_out: Vec::new(),
        };
        let base = ServerAddress::of(document, origin).url;
        let mut given = [TakenNames::default(), TakenNames::default()];
        for (path, item) in document.members(&["paths"]) {
            let Some(item) = document.resolve(item) else {
                all.left_out.push(format!("{path}: its reference cannot be followed"));
                continue;
            };
            for method in METHODS {
                let Some(operation) = item.value.get(method) else { continue };
                let source = OperationSource { document, path, method, item: item.value, operation };
                all.add(&source, &mut given, &base, origin);
            }
            for method in members(item.value, "additionalOperations").map(|it| it.0) {
                all.left_out.push(format!("{method} {path}: a method that no call has"));
            }
        }
        for (name, _) in document.members(&["webhooks"]) {
            all.left_out.push(format!("webhook {name}: the service makes this call"));
        }
        all
    }

    fn add(
        &mut self,
        source: &OperationSource<'d>,
        [reading, writing]: &mut [TakenNames; 2],
        base: &str,
        origin: &str,
    ) {
        let shown = format!("{} {}", source.method.to_uppercase(), source.path);
        if matches!(source.method, "options" | "head" | "trace") {
            return self.left_out.push(format!("{shown}: answers without a body"));
        }
        let is_reading = source.is_reading();
        let (given, operations) =
            if is_reading { (reading, &mut self.reading) } else { (writing, &mut self.writing) };
        match source.read(&mut self.types, given) {
            Ok(operation) => {
                let own = source.base(origin).filter(|it| it != base);
                operations.push(Operation { base: own, ..operation });
            }
            Err(why) => self.left_out.push(format!("{shown}: {why}")),
        }
    }
}

fn members<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    value.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// An operation being converted.
struct OperationSource<'d> {
    document: &'d Document,
    path: &'d str,
    method: &'d str,
    item: &'d Value,
    operation: &'d Value,
}

impl<'d> OperationSource<'d> {
    /// True if the method is safe. Source: RFC 9110, section 9.2.1; OpenAPI 3.2 (QUERY).
    fn is_reading(&self) -> bool {
        matches!(self.method, "get" | "query")
    }

    /// Base URL of its own server or its path's server.
    fn base(&self, origin: &str) -> Option<String> {
        let own = ServerAddress::first_own(self.operation, origin)
            .or_else(|| ServerAddress::first_own(self.item, origin));
        own.map(|it| it.url)
    }

    fn read(&self, types: &mut Types<'d>, given: &mut TakenNames) -> Result<Operation, String> {
        let name = self.name();
        let mut request = RequestParts::default();
        for parameter in self.parameters() {
            let found =
                self.document.resolve(parameter).ok_or("a parameter's reference cannot be followed")?;
            request.parameter(found.value, &name, types)?;
        }
        body::read(self.document, self.operation, &mut request, &name, types)?;
        let path = self.path_of(&mut request)?;
        let answered = answer::read(self.document, self.operation, &name, types)?;
        let (ty, selection) = match answered.kind {
            AnswerKind::Done => ("Boolean".to_string(), "$(true)".to_string()),
            AnswerKind::Text => ("String".to_string(), "$".to_string()),
            AnswerKind::Json(shape) => match types.selection(&shape) {
                Some(selection) => (shape.ty, selection),
                None => {
                    types.notes.push(format!("the answer of `{name}` has too many fields; it is JSON"));
                    (types.json().ty, "$".to_string())
                }
            },
        };
        let accept = answered.accept.map(|it| ("Accept".to_owned(), it));
        Ok(Operation {
            name: given.fresh(name),
            description: first_line(self.operation),
            deprecated: is_true(self.operation, "deprecated"),
            method: self.method.to_uppercase(),
            base: None,
            path,
            headers: request.take_headers().into_iter().chain(accept).collect(),
            arguments: request.arguments,
            query: request.query,
            body: request.body,
            ty,
            selection,
        })
    }

    /// Name from `operationId`, else from method and path: `petsByPetId`, `createPets`.
    fn name(&self) -> String {
        if let Some(id) = text(self.operation, "operationId").filter(|it| !it.is_empty()) {
            return graphql_names::field(id);
        }
        let verb = match self.method {
            "post" => "create",
            "put" => "replace",
            "patch" => "update",
            "delete" => "delete",
            "query" => "query",
            _ => "",
        };
        let words: Vec<String> = self
            .path
            .split('/')
            .filter(|it| !it.is_empty())
            .map(|it| it.strip_prefix('{').map_or_else(|| it.to_string(), |name| format!("by {name}")))
            .collect();
        graphql_names::field(&format!("{verb} {}", words.join(" ")))
    }

    /// Parameters of the path, overridden by those of the operation.
    fn parameters(&self) -> Vec<&'d Value> {
        let list = |of: &'d Value| of.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let key = |it: &'d Value| {
            let value = self.document.resolve(it).map_or(it, |it| it.value);
            (text(value, "name"), text(value, "in"))
        };
        let own: Vec<&Value> = list(self.operation).collect();
        let above = list(self.item).filter(|it| !own.iter().any(|mine| key(mine) == key(it)));
        above.chain(own.iter().copied()).collect()
    }

    fn path_of(&self, request: &mut RequestParts) -> Result<String, String> {
        let mut out = String::new();
        let mut rest = self.path;
        while let Some(start) = rest.find('{') {
            let end = rest[start..].find('}').ok_or("its path has a `{` without `}`")? + start;
            let name = &rest[start + 1..end];
            let known = request.path.iter().find(|it| it.0 == name).map(|it| it.1.clone());
            let placed =
                known.unwrap_or_else(|| format!("{{$args.{}}}", request.argument(name, "ID!", None)));
            out.push_str(&format!("{}{placed}", &rest[..start]));
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        // A fragment only distinguishes paths within the description, so it is removed.
        let path = out.split('#').next().unwrap_or(&out).to_string();
        let base = template::Base::parse(UNKNOWN_HOST)?;
        Request::read(Method::GET, &base, &path).map_err(|wrong| format!("its path: {}", wrong.message))?;
        Ok(path)
    }
}
