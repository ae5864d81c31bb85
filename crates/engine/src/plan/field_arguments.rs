//! Arguments of a field as values: literals coerced, variables as numbers, defaults filled in.
//!
//! Source: GraphQL specification, section 6.4.1 (CoerceArgumentValues).

use super::plan_context::PlanContext;
use crate::answer::output_plan::{OutputArgument, OutputPlan};
use crate::errors::Failure;
use smallvec::SmallVec;
use weir_language::ast::{Argument, Directive, List, ValueId, ValueKind};
use weir_language::coerce;
use weir_language::schema::{DirectiveId, FieldId, InputId, TypeRef, builtin};
use weir_language::value::Node;

/// Arguments as they were given.
pub(crate) type GivenArguments = SmallVec<[(InputId, ValueId); 8]>;

/// Appends the arguments of `field`, the member `output` gets next, in the order of their definition; says where they are
/// and how many.
pub(crate) fn push(
    context: &PlanContext<'_>,
    field: FieldId,
    mut given: GivenArguments,
    output: &mut OutputPlan,
    never_null: &mut Vec<NeverNull>,
) -> Result<(u32, u32), Vec<Failure>> {
    let schema = context.graph.schema();
    let start = output.arguments.len() as u32;
    given.sort_unstable_by_key(|it| it.0);
    let mut given = given.into_iter().peekable();
    for input in schema.arguments(field) {
        match given.next_if(|it| it.0 == input) {
            Some((_, value)) => push_given(context, input, value, output, never_null)?,
            None => {
                if let Some(default) = schema.input(input).default {
                    let value = output.literals.nodes.len() as u32;
                    output.literals.push_copy(&schema.defaults, default.value as usize);
                    output.arguments.push(OutputArgument { input, value, default: None });
                }
            }
        }
    }
    Ok((start, output.arguments.len() as u32 - start))
}

/// Appends the arguments of the directives on a field that are not the specification's own, as if they were the field's:
/// that is how sources see them. Those that were not given are null, so that each directive with arguments is seen.
pub(crate) fn push_directives(
    context: &PlanContext<'_>,
    lists: impl Iterator<Item = List<Directive>>,
    output: &mut OutputPlan,
    never_null: &mut Vec<NeverNull>,
) -> Result<(), Vec<Failure>> {
    let schema = context.graph.schema();
    let document = context.document;
    let mut seen: SmallVec<[DirectiveId; 2]> = SmallVec::new();
    for directive in lists.flat_map(|list| document.list(list)) {
        let id = schema.directive_by_name(document.str(directive.name)).filter(|it| !seen.contains(it));
        let Some(id) = id.filter(|it| !schema.directives[it.index()].built_in) else { continue };
        seen.push(id);
        for at in schema.directives[id.index()].arguments.range() {
            let input = InputId(at as u32);
            let named = |it: &&Argument| document.str(it.name) == schema.input_name(input);
            match document.list(directive.arguments).iter().find(named) {
                Some(given) => push_given(context, input, given.value, output, never_null)?,
                None => {
                    output.literals.nodes.push(Node::Null);
                    let value = output.literals.nodes.len() as u32 - 1;
                    output.arguments.push(OutputArgument { input, value, default: None });
                }
            }
        }
    }
    Ok(())
}

fn push_given(
    context: &PlanContext<'_>,
    input: InputId,
    given: ValueId,
    output: &mut OutputPlan,
    found: &mut Vec<NeverNull>,
) -> Result<(), Vec<Failure>> {
    let schema = context.graph.schema();
    let number = |value| context.number(value);
    let ty = schema.input(input).ty;
    let coercion = if schema.input(input).is_wide { context.coercion.wide() } else { context.coercion };
    let literals = &mut output.literals;
    let value = match plain(context, given, ty) {
        Some(node) => {
            literals.nodes.push(node);
            literals.nodes.len() as u32 - 1
        }
        None => coerce::literal(context.view, context.document, given, ty, coercion, &number, literals)
            .map_err(|errors| errors.into_iter().map(Failure::text).collect::<Vec<_>>())?,
    };
    let default = match (literals.nodes[value as usize], schema.input(input).default) {
        (Node::Variable(number), Some(default)) if context.may_be_absent(number) => {
            let copied = literals.nodes.len() as u32;
            literals.push_copy(&schema.defaults, default.value as usize);
            Some(copied)
        }
        _ => None,
    };
    output.arguments.push(OutputArgument { input, value, default });
    if context.has_nullable {
        never_null(context, output, given, found);
    }
    Ok(())
}

/// A place that takes no null and the variable that stands there, which may be null: one of them has a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeverNull {
    /// The number of the variable.
    pub variable: u32,
    /// The argument or input field.
    pub input: InputId,
    /// Type of the place: of `input` or of an item of it.
    pub ty: TypeRef,
    /// The member whose argument it is or is in: a place in [`OutputPlan::fields`].
    pub field: u32,
    /// Byte of the operation's text where the argument's value begins.
    pub offset: u32,
}

/// Appends such places in the last argument of `output` to `found`.
fn never_null(context: &PlanContext<'_>, output: &OutputPlan, value: ValueId, found: &mut Vec<NeverNull>) {
    let Some(argument) = output.arguments.last() else { return };
    let schema = context.graph.schema();
    let typed = |input: InputId| (input, schema.input(input).ty);
    // The member is pushed after its arguments.
    let field = output.fields.len() as u32;
    let offset = context.document.value(value).span.start;
    // Open lists: where they end, and what each item is for. In objects a key says it.
    let mut lists: Vec<(usize, InputId, TypeRef)> = Vec::new();
    let mut expected = Some(typed(argument.input));
    let start = argument.value as usize;
    for at in start..output.literals.end(start) {
        while lists.last().is_some_and(|it| it.0 <= at) {
            lists.pop();
        }
        let node = output.literals.nodes[at];
        if let Node::Key(input) = node {
            expected = Some(typed(input));
            continue;
        }
        let Some((input, ty)) = expected.take().or_else(|| lists.last().map(|it| (it.1, it.2))) else {
            continue;
        };
        if let Node::List { end, .. } = node {
            lists.extend(ty.item().map(|item| (end as usize, input, item)));
        } else if let Node::Variable(variable) = node
            && ty.is_non_null()
            && context.may_be_null(variable)
        {
            found.push(NeverNull { variable, input, ty, field, offset });
        }
    }
}

/// The value, if it is a variable or a small integer where one is taken: most are.
fn plain(context: &PlanContext<'_>, at: ValueId, ty: TypeRef) -> Option<Node> {
    let value = context.document.value(at);
    match value.kind {
        ValueKind::Variable(_) => context.selected.variable(at).map(Node::Variable),
        ValueKind::Int if ty.base == builtin::INT && !ty.wraps.is_list() => {
            let int: i32 = context.document.str(value.span).parse().ok()?;
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
