//! A subscription has one root field, which is no introspection and depends on no condition.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Single-Root-Field>

use crate::ids::TypeId;
use crate::span::Span;
use crate::syntax::ast::{Directive, Field, List, Selection};
use crate::type_system::TypeKind;
use crate::validate::ValidOperation;
use crate::validate::rule_context::Context;
use crate::validate::valid::NONE;

/// Root fields of a subscription.
#[derive(Default)]
struct Collected<'a> {
    /// Number of the response key of each field, and the field.
    fields: Vec<(u32, &'a Field)>,
    /// `@skip` and `@include`.
    conditions: Vec<Span>,
}

/// Holds the root of a subscription against the rule.
pub(in crate::validate) fn operation(cx: &mut Context<'_>, operation: &ValidOperation) {
    if operation.root.0 == NONE {
        return;
    }
    let name = if operation.ast.name.is_empty() {
        "Anonymous Subscription".to_owned()
    } else {
        format!("Subscription \"{}\"", cx.quoted_text(operation.ast.name))
    };
    let found = collect(cx, operation);
    if !found.conditions.is_empty() {
        let message =
            format!("{name} must not use `@skip` or `@include` directives in the top level selection.");
        cx.report(&found.conditions, message);
        return;
    }
    let Some(&(first, _)) = found.fields.first() else {
        let description =
            operation.ast.description.map_or(operation.ast.span.start, |id| cx.document.value(id).span.end);
        let after = operation.ast.name.end.max(description);
        let after = cx.document.list(operation.ast.variables).last().map_or(after, |last| last.span.end);
        let place = cx.brace(after, &[], cx.document.list(operation.ast.directives));
        cx.report(&[place], format!("{name} must select one top level field."));
        return;
    };
    let extra: Vec<Span> =
        found.fields.iter().filter(|(key, _)| *key != first).map(|&(_, field)| field.span).collect();
    if !extra.is_empty() {
        cx.report(&extra, format!("{name} must select only one top level field."));
    }
    let mut meta = found.fields;
    meta.retain(|(_, field)| cx.document.str(field.name).starts_with("__"));
    meta.sort_by_key(|&(key, _)| key);
    for group in meta.chunk_by(|a, b| a.0 == b.0) {
        let spans: Vec<Span> = group.iter().map(|(_, field)| field.span).collect();
        cx.report(&spans, format!("{name} must not select an introspection top level field."));
    }
}

/// Collects as execution does, each fragment once, but without knowing variables.
fn collect<'a>(cx: &Context<'a>, operation: &ValidOperation) -> Collected<'a> {
    let mut found = Collected::default();
    let mut seen = vec![false; cx.tables.fragments.len()];
    let mut stack = vec![operation.ast.selections.range()];
    while let Some(range) = stack.last_mut() {
        let Some(at) = range.next() else {
            stack.pop();
            continue;
        };
        let target = cx.tables.selections[at].target;
        match &cx.document.selections[at] {
            Selection::Field(field) => {
                if !conditions(cx, field.directives, &mut found) {
                    found.fields.push((cx.tables.selections[at].key, field));
                }
            }
            Selection::Inline(inline) => {
                if !conditions(cx, inline.directives, &mut found) && applies(cx, operation.root, target) {
                    stack.push(inline.selections.range());
                }
            }
            Selection::Spread(spread) => {
                if conditions(cx, spread.directives, &mut found) || target == NONE {
                    continue;
                }
                let fragment = cx.tables.fragments[target as usize];
                if !std::mem::replace(&mut seen[target as usize], true)
                    && applies(cx, operation.root, fragment.on.0)
                {
                    stack.push(fragment.ast.selections.range());
                }
            }
        }
    }
    found
}

/// Notes a `@skip` or `@include` among `list`; whether there was one.
fn conditions(cx: &Context<'_>, list: List<Directive>, found: &mut Collected<'_>) -> bool {
    let before = found.conditions.len();
    let is_condition = |directive: &&Directive| matches!(cx.document.str(directive.name), "skip" | "include");
    let spans = cx.document.list(list).iter().filter(is_condition).take(1).map(|directive| directive.span);
    found.conditions.extend(spans);
    found.conditions.len() > before
}

/// True if objects of type `root` are of the type `condition`.
fn applies(cx: &Context<'_>, root: TypeId, condition: u32) -> bool {
    if condition == root.0 {
        return true;
    }
    condition != NONE
        && match cx.schema.ty(TypeId(condition)).kind {
            TypeKind::Interface | TypeKind::Union => {
                cx.schema.possible_types(TypeId(condition)).any(|it| it == root)
            }
            TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Enum | TypeKind::Input { .. } => false,
        }
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn a_subscription_has_one_root_field_however_often_it_is_written() {
        check(
            "subscription { sold { id } played { id } }",
            &["1:28 Anonymous Subscription must select only one top level field."],
        );
        check(
            "subscription S { ...F }\nfragment F on Subscription { sold { id } ...G }\nfragment G on Subscription { played { id } }",
            &["3:30 Subscription \"S\" must select only one top level field."],
        );
        check("subscription S { sold { id } ...F }\nfragment F on Subscription { sold { name } }", &[]);
    }

    #[test]
    fn conditions_and_introspection_have_no_place_at_the_root() {
        check(
            "subscription S($no: Boolean!) { ...F @skip(if: $no) }\nfragment F on Subscription { sold { id } }",
            &[
                "1:38 Subscription \"S\" must not use `@skip` or `@include` directives in the top level selection.",
            ],
        );
        check(
            "subscription S { name: __typename }",
            &["1:18 Subscription \"S\" must not select an introspection top level field."],
        );
        check("subscription S($yes: Boolean!) { sold { id @include(if: $yes) } }", &[]);
    }
}
