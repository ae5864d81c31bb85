//! A fragment can apply where it is spread: some object is of both types.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragment-Spread-Is-Possible>

use crate::ids::TypeId;
use crate::syntax::ast::{Inline, Spread};
use crate::type_system::{SchemaView, TypeKind};
use crate::validate::rule_context::Context;

/// Holds a spread of a fragment on `on` against the type around it.
pub(in crate::validate) fn check_spread(cx: &mut Context<'_>, spread: &Spread, on: TypeId, parent: TypeId) {
    if !overlap(cx, on, parent) {
        let message =
            format!("Fragment \"{}\" {}", cx.quoted_text(spread.name), cannot(cx.schema, on, parent));
        cx.report(&[spread.span], message);
    }
}

/// Holds an inline fragment on `on` against the type around it.
pub(in crate::validate) fn inline(cx: &mut Context<'_>, inline: &Inline, on: TypeId, parent: TypeId) {
    if !overlap(cx, on, parent) {
        cx.report(&[inline.span], format!("Fragment {}", cannot(cx.schema, on, parent)));
    }
}

#[cold]
fn cannot(schema: SchemaView<'_>, on: TypeId, parent: TypeId) -> String {
    let on = schema.type_name(on);
    let parent = schema.type_name(parent);
    format!("cannot be spread here as objects of type \"{parent}\" can never be of type \"{on}\".")
}

/// True if some object is of both types. Cached, because the lists of a large schema are long.
fn overlap(cx: &mut Context<'_>, a: TypeId, b: TypeId) -> bool {
    if a == b {
        return true;
    }
    let is_object = |id| matches!(cx.schema.ty(id).kind, TypeKind::Object);
    if is_object(a) && is_object(b) {
        return false;
    }
    let schema = cx.schema;
    *cx.overlaps.entry((a, b)).or_insert_with(|| {
        let mut possible = vec![false; schema.types_len()];
        if schema.ty(a).kind == TypeKind::Object {
            possible[a.index()] = true;
        }
        for id in schema.possible_types(a) {
            possible[id.index()] = true;
        }
        (schema.ty(b).kind == TypeKind::Object && possible[b.index()])
            || schema.possible_types(b).any(|id| possible[id.index()])
    })
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn some_object_is_of_both_types() {
        check("{ find(by: { id: 1 }) { ... on Node { __typename } } }", &[]);
        check(
            "{ artist(id: 1) { ...F } }\nfragment F on Album { __typename }",
            &[
                "1:19 Fragment \"F\" cannot be spread here as objects of type \"Artist\" can never be of type \"Album\".",
            ],
        );
        check(
            "{ track { ... on Owner { __typename } } }",
            &[
                "1:11 Fragment cannot be spread here as objects of type \"Track\" can never be of type \"Owner\".",
            ],
        );
        check(
            "{ node { ...F } }\nfragment F on Box { __typename }",
            &[
                "1:10 Fragment \"F\" cannot be spread here as objects of type \"Node\" can never be of type \"Box\".",
            ],
        );
    }
}
