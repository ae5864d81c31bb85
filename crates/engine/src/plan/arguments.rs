//! Arguments of a field as values: literals coerced, variables as numbers, defaults filled in.
//!
//! Source: GraphQL specification, section 6.4.1 (CoerceArgumentValues).

use super::build::Question;
use super::cut::copy;
use super::shape::{Shape, ShapeArgument};
use crate::errors::Failure;
use smallvec::SmallVec;
use weir_language::ast::{ValueId, ValueKind};
use weir_language::coerce;
use weir_language::schema::{FieldId, InputId, TypeRef, builtin};
use weir_language::value::Node;

/// Arguments as they were given.
pub(crate) type Given = SmallVec<[(InputId, ValueId); 8]>;

/// Appends the arguments of `field` to `shape`, in the order of their definition; says where they are and how many.
pub(crate) fn push(
    question: &Question<'_>,
    field: FieldId,
    mut given: Given,
    shape: &mut Shape,
) -> Result<(u32, u32), Vec<Failure>> {
    let schema = question.graph.schema();
    let start = shape.arguments.len() as u32;
    given.sort_unstable_by_key(|it| it.0);
    let mut given = given.into_iter().peekable();
    for input in schema.arguments(field) {
        match given.next_if(|it| it.0 == input) {
            Some((_, value)) => push_given(question, input, value, shape)?,
            None => {
                if let Some(default) = schema.input(input).default {
                    let value = copy(&schema.defaults, default.value as usize, &mut shape.literals);
                    shape.arguments.push(ShapeArgument { input, value, default: None });
                }
            }
        }
    }
    Ok((start, shape.arguments.len() as u32 - start))
}

fn push_given(
    question: &Question<'_>,
    input: InputId,
    value: ValueId,
    shape: &mut Shape,
) -> Result<(), Vec<Failure>> {
    let schema = question.graph.schema();
    let number = |name: &str| question.types.number(name);
    let ty = schema.input(input).ty;
    let literals = &mut shape.literals;
    let value = match plain(question, value, ty) {
        Some(node) => {
            literals.nodes.push(node);
            literals.nodes.len() as u32 - 1
        }
        None => coerce::literal(schema, question.document, value, ty, question.coercion, &number, literals)
            .map_err(|errors| errors.into_iter().map(Failure::text).collect::<Vec<_>>())?,
    };
    let default = match (literals.nodes[value as usize], schema.input(input).default) {
        (Node::Variable(number), Some(default)) if question.may_be_absent(number) => {
            Some(copy(&schema.defaults, default.value as usize, literals))
        }
        _ => None,
    };
    shape.arguments.push(ShapeArgument { input, value, default });
    Ok(())
}

/// Variables that may be null though they stand where null cannot: the variable or the place has a default. With
/// the place, for words.
pub(crate) fn must_not_be_null(question: &Question<'_>, shape: &Shape) -> Vec<(u32, InputId)> {
    let mut found = Vec::new();
    if question.types.variables.iter().all(|it| it.ty.is_non_null()) {
        return found;
    }
    let mut note = |input: InputId, node: Node| {
        if let Node::Variable(number) = node {
            let may_be_null = !question.types.variables[number as usize].ty.is_non_null();
            if may_be_null && question.graph.schema().input(input).ty.is_non_null() {
                found.push((number, input));
            }
        }
    };
    let nodes = &shape.literals.nodes;
    for argument in &shape.arguments {
        note(argument.input, nodes[argument.value as usize]);
    }
    for pair in nodes.windows(2) {
        if let Node::Key(input) = pair[0] {
            note(input, pair[1]);
        }
    }
    found
}

/// The value, if it is a variable or a small integer where one is taken: most are.
fn plain(question: &Question<'_>, at: ValueId, ty: TypeRef) -> Option<Node> {
    let value = question.document.value(at);
    match value.kind {
        ValueKind::Variable(_) => question.selected.variable(at).map(Node::Variable),
        ValueKind::Int if ty.base == builtin::INT && !ty.wraps.is_list() => {
            let int: i32 = question.document.str(value.span).parse().ok()?;
            Some(Node::Int(int.into()))
        }
        ValueKind::Int
        | ValueKind::Float
        | ValueKind::String { .. }
        | ValueKind::Block
        | ValueKind::Boolean(_)
        | ValueKind::Null
        | ValueKind::Enum
        | ValueKind::List(_)
        | ValueKind::Object(_) => None,
    }
}
