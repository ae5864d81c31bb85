//! Input of one field that runs by itself: its arguments, and the keys of its parents.

use super::DEPTH_MAX;
use crate::library::{FieldEntry, Library};
use weir_engine::rows::{Column, Data, Texts};
use weir_language::ast::Definition;
use weir_language::coerce::{Reading, Settings, VariableTypes};
use weir_language::json::{Json, JsonRef};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::{FieldId, InputId};
use weir_language::value::{Node, Values, Variables};

/// Arguments of one run, coerced.
pub(super) struct CoercedArguments {
    pub(super) literals: Values,
    pub(super) variables: Variables,
    /// By field of the arguments' Rust type.
    pub(super) slots: Vec<Option<(u32, Option<u32>)>>,
}

/// The arguments as variables of an operation that has them all.
pub(super) fn coerce(
    library: &Library,
    field: FieldId,
    entry: &FieldEntry,
    arguments: &str,
) -> Result<CoercedArguments, String> {
    let schema = &*library.schema;
    let tape =
        Json::parse(arguments.as_bytes(), DEPTH_MAX).map_err(|error| format!("the arguments: {error}"))?;
    let inputs: Vec<InputId> = schema.arguments(field).collect();
    let known = |name: &str| inputs.iter().any(|it| schema.input_name(*it) == name);
    if let Some((name, _)) = tape.root().members().find(|it| !known(&it.0)) {
        return Err(format!("`{}` has no argument `{name}`", schema.field_name(field)));
    }
    let definitions = inputs.iter().map(|it| {
        let ty = schema.type_text(schema.input(*it).ty);
        let input = schema.input(*it);
        // An argument with a default may be absent.
        let ty = if input.default.is_some() { ty.trim_end_matches('!') } else { &ty };
        format!("${}: {ty}", schema.input_name(*it))
    });
    let definitions: Vec<String> = definitions.collect();
    let list = if definitions.is_empty() { String::new() } else { format!("({})", definitions.join(", ")) };
    let text = format!("query {list} {{ __typename }}");
    let document = parser::parse(&text, &Limits::NONE).map_err(|error| error.message)?;
    let Some(Definition::Operation(operation)) = document.definitions.first() else {
        return Err("the arguments have no operation".into());
    };
    let settings = Settings::new(Reading::Strict, &Limits::NONE);
    let words = |errors: Vec<weir_language::error::Error>| {
        errors.into_iter().map(|it| it.message).collect::<Vec<_>>().join("\n")
    };
    let types = VariableTypes::new(schema, &document, operation.variables, settings, &[]).map_err(words)?;
    let mut variables = Variables::default();
    let coerced = types.coerce(schema, Some(tape.root()), settings, &mut variables);
    coerced.map_err(|errors| words(errors.into_iter().map(|it| it.error).collect()))?;
    let mut literals = Values::default();
    let slots = library.parts.shapes.fields(entry.shape).iter().map(|shape| {
        let number = inputs.iter().position(|it| *it == shape.input)? as u32;
        let value = literals.nodes.len() as u32;
        literals.nodes.push(Node::Variable(number));
        let default = schema.input(shape.input).default.map(|it| {
            let at = literals.nodes.len() as u32;
            literals.push_copy(&schema.defaults, it.value as usize);
            at
        });
        Some((value, default))
    });
    let slots = slots.collect();
    Ok(CoercedArguments { literals, variables, slots })
}

/// Keys of parents, each the text of a JSON object, as the columns `names`.
/// # Errors
/// A text is no JSON, or its members are others than `names`.
pub(super) fn key_columns(names: &[Box<str>], parents: &[&str]) -> Result<Vec<Column>, String> {
    let tapes = parents.iter().map(|it| Json::parse(it.as_bytes(), DEPTH_MAX));
    let tapes = tapes.collect::<Result<Vec<_>, _>>().map_err(|error| format!("the keys: {error}"))?;
    let is_known = |name: &str| names.iter().any(|it| **it == *name);
    let mut members = tapes.iter().flat_map(|it| it.root().members());
    if let Some((name, _)) = members.find(|it| !is_known(&it.0)) {
        return Err(format!("`{name}` is no key: they are `{}`", names.join("`, `")));
    }
    let column = |name: &str| {
        let values = tapes.iter().map(|it| it.root().get(name).filter(|it| !it.is_null()));
        let values: Option<Vec<JsonRef<'_>>> = values.collect();
        values.map(|it| key_column(&it)).ok_or_else(|| format!("a parent has no key `{name}`"))
    };
    names.iter().map(|it| column(it)).collect()
}

/// Numbers, if all are integers, truth values, or texts.
fn key_column(values: &[JsonRef<'_>]) -> Column {
    let numbers: Option<Vec<i64>> = values.iter().map(|it| it.as_number()?.parse().ok()).collect();
    let booleans: Option<Vec<bool>> = values.iter().map(|it| it.as_bool()).collect();
    let texts = || {
        let mut texts = Texts::default();
        values.iter().for_each(|it| texts.push(it.as_str().as_deref().unwrap_or(it.raw()).as_bytes()));
        Data::Text(texts)
    };
    let data = numbers.map(Data::Int).or(booleans.map(Data::Bool)).unwrap_or_else(texts);
    Column { data, ..Column::default() }
}
