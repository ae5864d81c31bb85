//! Checks joins and gets them ready: the arguments of the target become values in which the parent's fields are numbers.
//!
//! Source: `docs/joins.md`.

use super::root_types::{KINDS, namespace_type};
use super::{ComposeError, Join};
use crate::source::{Ids, Source};
use std::collections::HashMap;
use std::sync::Arc;
use weir_language::ast::{Argument, Definition, Document, List, OperationKind, Selection, ValueKind};
use weir_language::coerce::{self, Reading, Settings};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::{FieldId, InputId, Schema, TypeId, TypeKind};
use weir_language::value::{Node, Values};

/// Stand-in for `$this.` while GraphQL's grammar parses the arguments.
const THIS: &str = "this__";

/// A join, its names resolved.
#[derive(Debug)]
pub(crate) struct Joined {
    /// Place of the source that answers.
    pub(crate) source: u16,
    /// The type of the graph that holds the target: the query root, or that of the source's namespace.
    pub(crate) root: TypeId,
    /// Root field that answers the join.
    pub(crate) target: FieldId,
    /// Key fields of the parent type, by `Node::Parent` number.
    pub(crate) keys: Vec<FieldId>,
    /// Arguments of the target and places in `values`.
    pub(crate) arguments: Vec<(InputId, u32)>,
    /// The arguments' values.
    pub(crate) values: Values,
    /// Arguments of the new field, with the target's arguments that they replace.
    inputs: Vec<(InputId, InputId)>,
}

impl Joined {
    /// The target's argument for an argument of the new field.
    pub(crate) fn target_input(&self, input: InputId) -> InputId {
        self.inputs.iter().find(|it| it.0 == input).map_or(input, |it| it.1)
    }
}

/// Prefix of a field of the parent in the arguments.
const WRITTEN: &str = "$this.";

/// Offsets of the parent's fields in `arguments`, outside of strings and comments. The parser reports syntax errors.
fn places(arguments: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(rest) = arguments.get(at..).filter(|it| !it.is_empty()) {
        at += if let Some(text) = rest.strip_prefix("\"\"\"") {
            3 + string_end(text, "\"\"\"", "\\\"\"\"")
        } else if let Some(text) = rest.strip_prefix('"') {
            1 + string_end(text, "\"", "\\\"")
        } else if rest.starts_with('#') {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            if rest.starts_with(WRITTEN) {
                places.push(at);
            }
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    places
}

/// Length of a string whose text begins here and ends with `end`, in bytes; `escaped` does not end it.
fn string_end(text: &str, end: &str, escaped: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) {
        if rest.starts_with(end) {
            return at + end.len();
        }
        at += match rest.strip_prefix('\\').and_then(|it| it.chars().next()) {
            Some(_) if rest.starts_with(escaped) => escaped.len(),
            // A block string has no escapes but `\"""`.
            Some(next) if end.len() == 1 => 1 + next.len_utf8(),
            Some(_) | None => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    text.len()
}

/// The fields of the parent that the arguments of a join name, in order.
pub fn join_keys(arguments: &str) -> impl Iterator<Item = &str> {
    places(arguments).into_iter().map(|at| {
        let rest = &arguments[at + WRITTEN.len()..];
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// The arguments as a document of their own, `$this.x` written as `$this__x`.
fn document_text(arguments: &str) -> String {
    let mut text = String::from("{target");
    let mut from = 0;
    for at in places(arguments) {
        text.push_str(&arguments[from..at]);
        text.push('$');
        text.push_str(THIS);
        from = at + WRITTEN.len();
    }
    text.push_str(&arguments[from..]);
    text.push('}');
    text
}

/// The arguments of the only field of the only operation.
fn arguments_of(document: &Document<'_>) -> Option<List<Argument>> {
    match document.definitions.as_slice() {
        [Definition::Operation(operation)] if operation.kind == OperationKind::Query => {
            match document.list(operation.selections) {
                [Selection::Field(field)] if !field.braces => Some(field.arguments),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Names of the target's arguments that a join gives. What cannot be read gives none; [`resolve`] says why.
pub(super) fn argument_names(arguments: &str) -> Vec<String> {
    let text = document_text(arguments);
    let Ok(document) = parser::parse(&text, &Limits::STANDARD) else { return Vec::new() };
    let Some(list) = arguments_of(&document) else { return Vec::new() };
    document.list(list).iter().map(|it| document.str(it.name).to_owned()).collect()
}

/// The field called `name` that joins may ask in the schema of a source: one for joins alone, else one of the query root.
pub(super) fn find_target(schema: &Schema, name: &str) -> Option<FieldId> {
    let of_joins = schema.join_roots.iter().find_map(|&it| schema.field_by_name(it, name));
    of_joins.or_else(|| schema.field_by_name(schema.query, name))
}

/// The graph's type that holds the field `target` of `source`, whose ids are `ids`, and the field there.
fn graph_target(
    schema: &Schema,
    source: &Arc<dyn Source>,
    ids: &Ids,
    target: &str,
) -> Option<(TypeId, FieldId)> {
    let own = find_target(source.schema(), target)?;
    let parent = source.schema().field(own).parent;
    if source.schema().join_roots.contains(&parent) {
        let root = schema.join_roots.iter().find(|it| ids.has_type(**it) && ids.ty(**it) == parent);
        return root.and_then(|&it| Some((it, schema.field_by_name(it, target)?)));
    }
    let own_root = |name: &str| schema.type_by_name(&namespace_type(name, OperationKind::Query));
    let root = source.namespace().and_then(own_root).unwrap_or(schema.query);
    Some((root, schema.field_by_name(root, target)?))
}

/// Finds what `join` names in the merged `schema`, whose ids by source are `ids`.
pub(super) fn resolve(
    schema: &Schema,
    (sources, ids): (&[Arc<dyn Source>], &[Ids]),
    join: &Join,
) -> Result<(FieldId, Joined), ComposeError> {
    let wrong = |reason: String| ComposeError::Join {
        place: format!("{}.{}", join.on, join.name),
        reason: reason.replace(THIS, "this."),
    };
    let source = sources.iter().position(|it| it.name() == join.source);
    let source = source.ok_or_else(|| wrong(format!("there is no source `{}`", join.source)))?;
    let on = schema.type_by_name(&join.on).filter(|&it| schema.ty(it).kind == TypeKind::Object);
    let on = on.ok_or_else(|| wrong(format!("there is no object type `{}`", join.on)))?;
    let is_namespace = sources
        .iter()
        .filter_map(|it| it.namespace())
        .any(|name| KINDS.iter().any(|&kind| namespace_type(name, kind) == join.on));
    if is_namespace || [Some(schema.query), schema.mutation, schema.subscription].contains(&Some(on)) {
        return Err(wrong("joins hang on types, not on roots".into()));
    }
    let (root, target) = graph_target(schema, &sources[source], &ids[source], &join.target)
        .ok_or_else(|| wrong(format!("source `{}` has no query field `{}`", join.source, join.target)))?;
    let field = schema.field_by_name(on, &join.name);
    let field = field.ok_or_else(|| wrong(format!("field `{}` was not added", join.name)))?;
    let joined = resolve_arguments(schema, (source, root, target), (on, Some(field)), join).map_err(wrong)?;
    Ok((field, joined))
}

/// Finds what the lookup `join` of the source at `at` names in the merged `schema`. It adds no field to its type.
pub(super) fn resolve_lookup(
    schema: &Schema,
    (at, source, ids): (usize, &Arc<dyn Source>, &Ids),
    join: &Join,
) -> Result<(TypeId, Joined), ComposeError> {
    let wrong = |reason: String| ComposeError::Join { place: join.on.clone(), reason };
    let on = schema.type_by_name(&join.on).filter(|&it| schema.ty(it).kind == TypeKind::Object);
    let on = on.ok_or_else(|| wrong(format!("there is no object type `{}`", join.on)))?;
    let (root, target) = graph_target(schema, source, ids, &join.target)
        .ok_or_else(|| wrong(format!("source `{}` has no query field `{}`", join.source, join.target)))?;
    let joined = resolve_arguments(schema, (at, root, target), (on, None), join).map_err(wrong)?;
    Ok((on, joined))
}

/// Reads the arguments of a join on the type `on`, which may add `field` to it, to the field `target` in `root` of the source at `source`.
fn resolve_arguments(
    schema: &Schema,
    (source, root, target): (usize, TypeId, FieldId),
    (on, field): (TypeId, Option<FieldId>),
    join: &Join,
) -> Result<Joined, String> {
    let text = document_text(&join.arguments);
    let document = parser::parse(&text, &Limits::STANDARD)
        .map_err(|error| format!("arguments `{}`: {}", join.arguments, error.message))?;
    let list = arguments_of(&document)
        .ok_or_else(|| format!("arguments `{}` are no argument list", join.arguments))?;
    let (keys, names) = keys(schema, &document, on)?;
    let (arguments, values) = values(schema, &document, list, target, &names)?;
    let inputs = field.into_iter().flat_map(|it| schema.arguments(it)).filter_map(|own| {
        let target = schema.input_by_name(schema.field(target).arguments, schema.input_name(own))?;
        Some((own, target))
    });
    let inputs: Vec<_> = inputs.collect();
    let missing = schema.arguments(target).find(|&it| {
        let input = schema.input(it);
        let given = arguments.iter().any(|argument| argument.0 == it) || inputs.iter().any(|own| own.1 == it);
        input.ty.is_non_null() && input.default.is_none() && !given
    });
    if let Some(missing) = missing {
        return Err(format!("argument `{}` of `{}` is missing", schema.input_name(missing), join.target));
    }
    Ok(Joined { source: source as u16, root, target, keys, arguments, values, inputs })
}

/// The fields of `on` that are named `$this.…`, and their numbers by the name of the variable.
fn keys<'d>(
    schema: &Schema,
    document: &'d Document<'_>,
    on: TypeId,
) -> Result<(Vec<FieldId>, HashMap<&'d str, u32>), String> {
    let mut keys = Vec::new();
    let mut names = HashMap::new();
    for value in &document.values {
        let ValueKind::Variable(name) = value.kind else { continue };
        let name = document.str(name);
        let Some(field) = name.strip_prefix(THIS) else {
            return Err(format!("`${name}` is no field of the parent: write `$this.{name}`"));
        };
        if names.contains_key(name) {
            continue;
        }
        let ty = schema.type_name(on);
        let id = schema.field_by_name(on, field).ok_or_else(|| format!("`{ty}` has no field `{field}`"))?;
        let found = schema.field(id);
        let is_leaf = matches!(schema.ty(found.ty.base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
        if !is_leaf || found.ty.wraps.is_list() {
            return Err(format!("`{ty}.{field}` is no single scalar"));
        }
        names.insert(name, keys.len() as u32);
        keys.push(id);
    }
    if keys.is_empty() {
        return Err("no argument depends on the parent: name one of its fields as `$this.field`".into());
    }
    Ok((keys, names))
}

type JoinArguments = (Vec<(InputId, u32)>, Values);

fn values(
    schema: &Schema,
    document: &Document<'_>,
    list: List<Argument>,
    target: FieldId,
    names: &HashMap<&str, u32>,
) -> Result<JoinArguments, String> {
    let mut values = Values::default();
    let mut arguments = Vec::new();
    let settings = Settings::new(Reading::Strict, &Limits::STANDARD);
    let number = |value| match document.value(value).kind {
        ValueKind::Variable(name) => names.get(document.str(name)).copied(),
        _ => None,
    };
    for argument in document.list(list) {
        let name = document.str(argument.name);
        let input = schema
            .input_by_name(schema.field(target).arguments, name)
            .ok_or_else(|| format!("`{}` has no argument `{name}`", schema.field_name(target)))?;
        let ty = schema.input(input).ty;
        let place = coerce::literal(schema, document, argument.value, ty, settings, &number, &mut values)
            .map_err(|errors| errors.first().map_or_else(String::new, |it| it.message.clone()))?;
        arguments.push((input, place));
    }
    for node in &mut values.nodes {
        if let Node::Variable(number) = *node {
            *node = Node::Parent(number);
        }
    }
    Ok((arguments, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, expected: &str) {
        assert_eq!(document_text(arguments), expected);
    }

    #[test]
    fn fields_of_the_parent_become_variables_but_not_inside_strings() {
        check("(id: $this.artistId)", "{target(id: $this__artistId)}");
        check(
            r#"(where: {a: {_eq: $this.x}, b: "$this.y \" $this.z"})"#,
            r#"{target(where: {a: {_eq: $this__x}, b: "$this.y \" $this.z"})}"#,
        );
        check("", "{target}");
    }

    #[test]
    fn the_keys_of_a_join_are_what_stands_outside_of_strings_and_comments() {
        let check = |arguments: &str, expected: &[&str]| {
            assert_eq!(join_keys(arguments).collect::<Vec<_>>(), expected, "{arguments}");
            let text = document_text(arguments);
            let keys = expected.len();
            assert_eq!(text.matches("$this__").count(), keys, "{text}");
        };
        check("(id: $this.id, by: {a: [$this.b_2]})", &["id", "b_2"]);
        check(r#"(text: "of $this.none", id: $this.id)"#, &["id"]);
        check(r#"(text: "\\", id: $this.id)"#, &["id"]);
        check(r#"(text: "\" $this.none \"", id: $this.id)"#, &["id"]);
        check(r#"(text: """of "$this.none" and \""" $this.none """, id: $this.id)"#, &["id"]);
        check("(# $this.none \"\n id: $this.id)", &["id"]);
        check("(text: \"\u{e9} $this.none\", id: $this.id, \u{e9})", &["id"]);
        check("(text: \"open $this.none", &[]);
        check("(id: $that.id)", &[]);
    }
}
