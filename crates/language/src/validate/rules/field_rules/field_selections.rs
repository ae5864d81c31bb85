//! A field exists on the type it is selected on.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Field-Selections>

use crate::ids::TypeId;
use crate::suggest;
use crate::syntax::ast::Field;
use crate::type_system::TypeKind;
use crate::validate::rule_context::Context;
use std::cmp::Ordering;

/// Reports `field`, which `parent` does not have.
#[cold]
pub(in crate::validate) fn report_unknown(cx: &mut Context<'_>, field: &Field, parent: TypeId) {
    let suggestion = if cx.options.suggestions { suggestion(cx, field, parent) } else { String::new() };
    let message = format!(
        "Cannot query field \"{}\" on type \"{}\".{suggestion}",
        cx.quoted_text(field.name),
        cx.schema.type_name(parent)
    );
    cx.report(&[field.span], message);
}

fn suggestion(cx: &Context<'_>, field: &Field, parent: TypeId) -> String {
    let types = types_with(cx, cx.document.str(field.name), parent);
    if !types.is_empty() {
        return suggest::did_you_mean("to use an inline fragment on ", &types);
    }
    cx.suggestion(field.name, cx.schema.fields(parent).map(|it| cx.schema.field_name(it)))
}

/// For an abstract `parent` without a field `name`: its possible types that have the field, interfaces of many first.
fn types_with<'s>(cx: &Context<'s>, name: &str, parent: TypeId) -> Vec<&'s str> {
    let schema = cx.schema;
    match schema.ty(parent).kind {
        TypeKind::Interface | TypeKind::Union => {}
        TypeKind::Scalar(_) | TypeKind::Object | TypeKind::Enum | TypeKind::Input { .. } => {
            return Vec::new();
        }
    }
    let mut counts: Vec<(TypeId, u32)> = Vec::new();
    for possible in schema.possible_types(parent) {
        if schema.field_by_name(possible, name).is_none() {
            continue;
        }
        counts.push((possible, 1));
        for interface in schema.interfaces(possible) {
            if schema.field_by_name(interface, name).is_some() {
                match counts.iter_mut().find(|(known, _)| *known == interface) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((interface, 1)),
                }
            }
        }
    }
    let is_below = |sub: TypeId, above: TypeId| schema.interfaces(sub).any(|it| it == above);
    counts.sort_by(|a, b| {
        b.1.cmp(&a.1).then_with(|| match () {
            () if is_below(b.0, a.0) => Ordering::Less,
            () if is_below(a.0, b.0) => Ordering::Greater,
            () => suggest::natural(schema.type_name(a.0), schema.type_name(b.0)),
        })
    });
    counts.into_iter().map(|(id, _)| schema.type_name(id)).collect()
}

#[cfg(test)]
mod tests {
    use crate::validate::tests::check;

    #[test]
    fn fields_exist_on_the_type_they_are_selected_on() {
        check(
            "{ artist(id: 1) { nickname } }",
            &["1:19 Cannot query field \"nickname\" on type \"Artist\". Did you mean \"name\"?"],
        );
        check(
            "{ artist(id: 1) { name: nickname } }",
            &["1:19 Cannot query field \"nickname\" on type \"Artist\". Did you mean \"name\"?"],
        );
        check("{ named { id name } }", &[]);
        check(
            "{ artist(id: 1) { __schema { types { name } } } }",
            &["1:19 Cannot query field \"__schema\" on type \"Artist\"."],
        );
    }

    #[test]
    fn abstract_types_propose_the_types_that_have_the_field() {
        check(
            "{ node(id: 1) { name } }",
            &[
                "1:17 Cannot query field \"name\" on type \"Node\". Did you mean to use an inline fragment on \"Named\", \"Album\", or \"Artist\"?",
            ],
        );
        check(
            "{ owner { title } }",
            &[
                "1:11 Cannot query field \"title\" on type \"Owner\". Did you mean to use an inline fragment on \"Label\"?",
            ],
        );
    }
}
