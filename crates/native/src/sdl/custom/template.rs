//! Texts within `@custom`: a body, `{ reg: $reg, kind: "boat" }`, and a remote operation.
//!
//! Both are GraphQL, so the language reads them.

use super::super::SdlReader;
use super::Scope;
use crate::custom::{RemoteOperation, Template, TypeUse};
use weir_language::ast::{Definition, Document, Field, OperationKind, Selection, ValueId, ValueKind};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::span::Span;

impl<'d> SdlReader<'d> {
    /// Reads a body; names of its variables go to `used`.
    pub(super) fn body(
        &mut self,
        text: &str,
        span: Span,
        scope: &Scope<'d>,
        used: &mut Vec<String>,
    ) -> Option<Template> {
        let whole = format!("{{ body(is: {text}) }}");
        let Ok(document) = parser::parse(&whole, &Limits::STANDARD) else {
            self.complain(span, "`body` is an object or a list, as in `{ reg: $reg, kind: \"boat\" }`");
            return None;
        };
        let argument = only_field(&document).and_then(|it| match document.list(it.arguments) {
            [only] => Some(only.value),
            _ => None,
        });
        let Some(value) = argument else {
            self.complain(span, "`body` is one object or list");
            return None;
        };
        let mut names = Vec::new();
        let template = template(&document, value, &mut names);
        for name in names {
            self.variable(scope, &name, span);
            used.push(name);
        }
        Some(template)
    }

    /// Reads a remote operation.
    pub(super) fn operation(&mut self, text: &str, span: Span) -> Option<RemoteOperation> {
        let wrong = |reader: &mut Self, message: &str| {
            reader.complain(span, format!("`graphql`: {message}"));
            None
        };
        let document = match parser::parse(text, &Limits::STANDARD) {
            Ok(document) => document,
            Err(error) => return wrong(self, &error.message),
        };
        let [Definition::Operation(operation)] = document.definitions.as_slice() else {
            return wrong(self, "write one operation, as in `query($reg: String!) { inspect(reg: $reg) }`");
        };
        if operation.kind == OperationKind::Subscription || !document.str(operation.name).is_empty() {
            return wrong(self, "it is a query or mutation without a name");
        }
        let Some(field) = only_field(&document) else {
            return wrong(self, "it has one field");
        };
        let is_bare = document.str(field.alias).is_empty()
            && document.list(field.directives).is_empty()
            && document.list(operation.directives).is_empty()
            && !field.braces;
        if !is_bare {
            return wrong(self, "its field has no alias, directive or selection: the client's is put in");
        }
        let variables = document.list(operation.variables).iter().map(|it| {
            let ty = TypeUse { name: document.str(it.ty.name).to_owned(), wraps: it.ty.wraps };
            (document.str(it.name).to_owned(), ty)
        });
        let arguments = document.list(field.arguments).iter().map(|it| {
            let variable = match document.value(it.value).kind {
                ValueKind::Variable(name) => Some(document.str(name).to_owned()),
                _ => None,
            };
            (document.str(it.name).to_owned(), variable)
        });
        Some(RemoteOperation {
            kind: operation.kind,
            text: text[..field.span.end as usize].trim_start().to_owned(),
            field: document.str(field.name).to_owned(),
            variables: variables.collect(),
            arguments: arguments.collect(),
        })
    }
}

/// The only field of the only operation.
fn only_field(document: &Document<'_>) -> Option<Field> {
    let [Definition::Operation(operation)] = document.definitions.as_slice() else { return None };
    match document.list(operation.selections) {
        [Selection::Field(field)] => Some(*field),
        _ => None,
    }
}

/// A value as a template; names of its variables go to `names`. Depth is that of the parser.
fn template(document: &Document<'_>, id: ValueId, names: &mut Vec<String>) -> Template {
    let value = document.value(id);
    match value.kind {
        ValueKind::Variable(name) => {
            let name = document.str(name).to_owned();
            names.push(name.clone());
            Template::Variable(name)
        }
        ValueKind::Int | ValueKind::Float | ValueKind::Boolean(_) | ValueKind::Null => {
            Template::Constant(document.str(value.span).to_owned())
        }
        ValueKind::String { .. } | ValueKind::Block | ValueKind::Enum => {
            Template::Text(document.string(id).into_owned())
        }
        ValueKind::List(items) => {
            let items = items.range().map(|at| template(document, ValueId(at as u32), names));
            Template::List(items.collect())
        }
        ValueKind::Object(members) => {
            let members = document.list(members).iter();
            let member =
                members.map(|it| (document.str(it.name).to_owned(), template(document, it.value, names)));
            Template::Object(member.collect())
        }
    }
}
