//! Checks positions and labels of `@defer` and `@stream`.
//!
//! Source: the specification's draft on incremental delivery, section 5.7; words and places of graphql-js 17.

use crate::ids::{FieldId, TypeId};
use crate::span::Span;
use crate::syntax::ast::{Directive, List, ValueKind};
use crate::type_system::builtin;
use crate::validate::rule_context::Context;
use crate::validate::rules::coordinate;
use std::borrow::Cow;
use std::collections::HashMap;

/// Holds the directives of a selection on `parent` against the rules of one place; `field` is the field, if it is one.
pub(in crate::validate) fn selection(
    cx: &mut Context<'_>,
    list: List<Directive>,
    parent: Option<TypeId>,
    field: Option<FieldId>,
) {
    for at in list.range() {
        let id = cx.tables.directives[at];
        if id != builtin::DEFER.0 && id != builtin::STREAM.0 {
            continue;
        }
        cx.incremental.push(at as u32);
        root(cx, at, parent);
        if let Some(field) = field.filter(|_| id == builtin::STREAM.0)
            && !cx.schema.field_type(field).wraps.is_list()
        {
            let message = format!(
                "Directive \"@stream\" cannot be used on non-list field \"{}\".",
                coordinate(cx, field)
            );
            cx.report(&[cx.document.directives[at].span], message);
        }
    }
}

/// Reports the directive at `at` if `parent` is the root of mutations or of subscriptions.
fn root(cx: &mut Context<'_>, at: usize, parent: Option<TypeId>) {
    let Some(parent) = parent else { return };
    let kinds = [
        ("mutation", crate::syntax::ast::OperationKind::Mutation),
        ("subscription", crate::syntax::ast::OperationKind::Subscription),
    ];
    for (kind, operation) in kinds {
        if cx.schema.root(operation) == Some(parent) {
            let name = if cx.tables.directives[at] == builtin::DEFER.0 { "Defer" } else { "Stream" };
            let on = cx.schema.type_name(parent);
            let message = format!("{name} directive cannot be used on root {kind} type \"{on}\".");
            cx.report(&[cx.document.directives[at].span], message);
        }
    }
}

/// Reports directives that are not switched off in a subscription and the fragments it reaches.
pub(in crate::validate) fn subscription(cx: &mut Context<'_>, operation: Span, fragments: &[Span]) {
    if cx.incremental.is_empty() {
        return;
    }
    let mut found: Vec<u32> = Vec::new();
    for definition in std::iter::once(&operation).chain(fragments) {
        let start = |at: &u32| cx.document.directives[*at as usize].span.start;
        let from = cx.incremental.partition_point(|at| start(at) < definition.start);
        let inside = cx.incremental[from..].iter().take_while(|at| start(at) < definition.end);
        found.extend(inside.filter(|at| is_on(cx, **at as usize)));
    }
    found.sort_unstable();
    for at in found {
        let directive = &cx.document.directives[at as usize];
        let name = cx.document.str(directive.name);
        let span = directive.span;
        let title = if name == "defer" { "Defer" } else { "Stream" };
        let message = format!(
            "{title} directive not supported on subscription operations. Disable `@{name}` by setting the `if` argument to `false`."
        );
        cx.report(&[span], message);
    }
}

/// False if the directive at `at` has a condition that is `false` or a variable.
fn is_on(cx: &Context<'_>, at: usize) -> bool {
    let arguments = cx.document.list(cx.document.directives[at].arguments);
    let condition = arguments.iter().find(|it| cx.document.str(it.name) == "if");
    condition.is_none_or(|it| match cx.document.value(it.value).kind {
        ValueKind::Boolean(is) => is,
        ValueKind::Variable(_) => false,
        _ => true,
    })
}

/// Labels are texts, each once in the document.
pub(in crate::validate) fn labels(cx: &mut Context<'_>) {
    let mut known: HashMap<Cow<'_, str>, Span, foldhash::fast::RandomState> = HashMap::default();
    for at in std::mem::take(&mut cx.incremental) {
        let directive = &cx.document.directives[at as usize];
        let arguments = cx.document.list(directive.arguments);
        let Some(label) = arguments.iter().find(|it| cx.document.str(it.name) == "label") else { continue };
        if !matches!(cx.document.value(label.value).kind, ValueKind::String { .. } | ValueKind::Block) {
            let name = cx.document.str(directive.name);
            let message = format!("Argument \"@{name}(label:)\" must be a static string.");
            cx.report(&[directive.span], message);
            continue;
        }
        let text = cx.document.string(label.value);
        match known.get(&text) {
            Some(&first) => {
                let message = "Value for arguments \"defer(label:)\" and \"stream(label:)\" must be unique across all Defer/Stream directive usages.";
                cx.report(&[first, directive.span], message.to_owned());
            }
            None => {
                known.insert(text, directive.span);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn labels_are_texts_that_differ() {
        check("{ ... @defer(label: \"a\") { __typename } ... @defer(label: \"b\") { __typename } }", &[]);
        check(
            "{ ... @defer(label: \"a\") { __typename } ...F } fragment F on Query { ... @defer(label: \"\"\"a\"\"\") { __typename } }",
            &[
                "1:7 1:74 Value for arguments \"defer(label:)\" and \"stream(label:)\" must be unique across all Defer/Stream directive usages.",
            ],
        );
        check(
            "query ($l: String) { ... @defer(label: $l) { __typename } }",
            &["1:26 Argument \"@defer(label:)\" must be a static string."],
        );
    }

    #[test]
    fn roots_of_mutations_and_subscriptions_take_none() {
        check(
            "mutation { ... @defer { __typename } }",
            &["1:16 Defer directive cannot be used on root mutation type \"Mutation\"."],
        );
        check(
            "subscription { sold { ... @defer { id } ... @defer(if: false) { id } } }",
            &[
                "1:27 Defer directive not supported on subscription operations. Disable `@defer` by setting the `if` argument to `false`.",
            ],
        );
        check(
            "subscription ($d: Boolean!) { sold { ...F ... @defer(if: $d) { id } } } fragment F on Album { ... @defer { id } }",
            &[
                "1:99 Defer directive not supported on subscription operations. Disable `@defer` by setting the `if` argument to `false`.",
            ],
        );
    }

    #[test]
    fn a_stream_is_a_list() {
        check("{ artist(id: 1) { albums @stream(initialCount: 1, label: \"x\") { id } } }", &[]);
        check(
            "{ artist(id: 1) { best @stream { id } } }",
            &["1:24 Directive \"@stream\" cannot be used on non-list field \"Artist.best\"."],
        );
        check(
            "{ artist(id: 1) { albums @stream { id } albums { id } } }",
            &[
                "1:19 1:41 Fields \"albums\" conflict because they have differing stream directives. Use different aliases on the fields to fetch both if this was intentional.",
            ],
        );
    }
}
