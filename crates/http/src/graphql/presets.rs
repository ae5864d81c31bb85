//! Values that a permission sets: `@preset(value:, static:)` on arguments and input fields of a role's schema.
//!
//! A text `x-hasura-…` that is not static is a session variable, read by the type of its place.

use crate::passthrough::client_error;
use weir_engine::caller::{Caller, SESSION_PREFIX};
use weir_engine::source::{FieldError, Protocol};
use weir_language::ast::{Directive, Document, List, ValueId, ValueKind};
use weir_language::json::is_number;
use weir_language::schema::{ScalarReader, Schema, TypeKind, TypeRef, builtin};
use weir_language::string_value::write_json;

/// A value that a permission sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Preset {
    /// JSON.
    Constant(String),
    /// A session variable, by its name in lower case.
    Session { variable: String, form: PresetForm },
    /// An input object all of whose fields are set.
    Object(Vec<(String, Self)>),
}

/// The form in which a session variable is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PresetForm {
    /// A number of GraphQL's `Int`.
    Int,
    /// A number.
    Float,
    /// `true` or `false`.
    Boolean,
    /// One of these values.
    Enum(Vec<String>),
    Text,
}

impl PresetForm {
    fn of(schema: &Schema, ty: TypeRef) -> Self {
        match schema.ty(ty.base).kind {
            TypeKind::Scalar(ScalarReader::Int) if ty.base == builtin::INT => Self::Int,
            TypeKind::Scalar(ScalarReader::Float) if ty.base == builtin::FLOAT => Self::Float,
            TypeKind::Scalar(ScalarReader::Boolean) if ty.base == builtin::BOOLEAN => Self::Boolean,
            TypeKind::Enum => {
                let values = schema.ty(ty.base).members.range();
                Self::Enum(values.map(|at| schema.str(schema.enum_values[at].name).to_owned()).collect())
            }
            TypeKind::Scalar(_)
            | TypeKind::Object
            | TypeKind::Interface
            | TypeKind::Union
            | TypeKind::Input { .. } => Self::Text,
        }
    }

    /// The JSON of `text`; `None` if it does not fit.
    fn read(&self, text: &str) -> Option<String> {
        match self {
            Self::Int => text.parse::<i32>().ok().map(|it| it.to_string()),
            Self::Float => is_number(text.as_bytes()).then(|| text.to_owned()),
            Self::Boolean => ["true", "false"].contains(&text).then(|| text.to_owned()),
            Self::Enum(values) if !values.iter().any(|it| it == text) => None,
            Self::Enum(_) | Self::Text => {
                let mut out = String::new();
                write_json(text, &mut out);
                Some(out)
            }
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Int => "Int",
            Self::Float => "Float",
            Self::Boolean => "Boolean",
            Self::Enum(_) => "Enum",
            Self::Text => "String",
        }
    }

    fn misfit(&self, text: &str) -> String {
        match self {
            Self::Enum(_) => format!("{text} is not one of the values of the enum"),
            _ => format!("{text} cannot be coerced into an {} value", self.name()),
        }
    }
}

impl Preset {
    /// The preset among `directives`, for a place of type `ty`.
    /// # Errors
    /// It does not fit.
    pub(super) fn read(
        document: &Document<'_>,
        directives: List<Directive>,
        schema: &Schema,
        ty: TypeRef,
    ) -> Result<Option<Self>, String> {
        let named = |it: &&Directive| document.str(it.name) == "preset";
        let Some(directive) = document.list(directives).iter().find(named) else { return Ok(None) };
        let argument = |name: &str| {
            let mut arguments = document.list(directive.arguments).iter();
            arguments.find(|it| document.str(it.name) == name).map(|it| it.value)
        };
        let value = argument("value").ok_or("the directive @preset needs the argument \"value\"")?;
        let is_static =
            argument("static").is_some_and(|it| matches!(document.value(it).kind, ValueKind::Boolean(true)));
        let form = PresetForm::of(schema, ty);
        let text = document.string(value);
        let is_text = matches!(document.value(value).kind, ValueKind::String { .. } | ValueKind::Block);
        let lower = text.to_ascii_lowercase();
        if is_text && !is_static && lower.starts_with(SESSION_PREFIX) {
            if ty.wraps.is_list() || matches!(schema.ty(ty.base).kind, TypeKind::Input { .. }) {
                return Err(format!(
                    "{text} is a session variable, which can be no list and no input object"
                ));
            }
            return Ok(Some(Self::Session { variable: lower, form }));
        }
        constant(document, value, schema, ty).map(|it| Some(Self::Constant(it)))
    }

    /// Appends its JSON for `caller`.
    /// # Errors
    /// The session variable is missing, or does not fit.
    pub(super) fn write(
        &self,
        caller: &Caller,
        protocol: Protocol,
        out: &mut String,
    ) -> Result<(), FieldError> {
        let code = |hasura, own| if protocol == Protocol::Hasura { hasura } else { own };
        match self {
            Self::Constant(json) => out.push_str(json),
            Self::Object(members) => {
                out.push('{');
                for (at, (name, member)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    write_json(name, out);
                    out.push(':');
                    member.write(caller, protocol, out)?;
                }
                out.push('}');
            }
            Self::Session { variable, form } => {
                let text = caller.claims().variable(variable).ok_or_else(|| {
                    let words = format!("\"{variable}\" session variable expected, but not found");
                    client_error(code("not-found", "SESSION_VARIABLE_MISSING"), &words)
                })?;
                let json = form.read(text).ok_or_else(|| {
                    client_error(code("validation-failed", "BAD_USER_INPUT"), &form.misfit(text))
                })?;
                out.push_str(&json);
            }
        }
        Ok(())
    }
}

/// The JSON of a literal at a place of type `ty`. The recursion is as deep as the literal, which the operator wrote.
fn constant(document: &Document<'_>, id: ValueId, schema: &Schema, ty: TypeRef) -> Result<String, String> {
    let value = document.value(id);
    let text = document.string(id);
    let form = PresetForm::of(schema, ty);
    match value.kind {
        ValueKind::Null if ty.is_non_null() => Err("null is no value of a non-null type".into()),
        ValueKind::Null => Ok("null".into()),
        ValueKind::Variable(_) => Err("a preset has no variables".into()),
        ValueKind::List(items) => {
            let item = ty.item().ok_or("a list is no value of this type")?;
            let items = items.range().map(|at| constant(document, ValueId(at as u32), schema, item));
            Ok(format!("[{}]", items.collect::<Result<Vec<_>, _>>()?.join(",")))
        }
        _ if ty.item().is_some() => {
            let item = ty.item().unwrap_or(ty);
            Ok(format!("[{}]", constant(document, id, schema, item)?))
        }
        ValueKind::Object(fields) => {
            let run = match schema.ty(ty.base).kind {
                TypeKind::Input { .. } => schema.ty(ty.base).members,
                _ => return Err("an object is no value of this type".into()),
            };
            let members = document.list(fields).iter().map(|it| {
                let name = document.str(it.name);
                let input = schema.input_by_name(run, name);
                let input = input.ok_or_else(|| format!("field \"{name}\" is not found"))?;
                let mut out = String::new();
                write_json(name, &mut out);
                out.push(':');
                out.push_str(&constant(document, it.value, schema, schema.input(input).ty)?);
                Ok(out)
            });
            Ok(format!("{{{}}}", members.collect::<Result<Vec<_>, String>>()?.join(",")))
        }
        _ if matches!(schema.ty(ty.base).kind, TypeKind::Input { .. }) => {
            Err(format!("{text} is no input object"))
        }
        ValueKind::Int | ValueKind::Float if form == PresetForm::Text && !is_texty(ty) => {
            Ok(text.into_owned())
        }
        ValueKind::Boolean(_) if form == PresetForm::Text && !is_texty(ty) => Ok(text.into_owned()),
        ValueKind::Int
        | ValueKind::Float
        | ValueKind::Boolean(_)
        | ValueKind::String { .. }
        | ValueKind::Block
        | ValueKind::Enum => form.read(&text).ok_or_else(|| form.misfit(&text)),
    }
}

/// True for the built-in scalars whose JSON is a text.
fn is_texty(ty: TypeRef) -> bool {
    ty.base == builtin::STRING || ty.base == builtin::ID
}
