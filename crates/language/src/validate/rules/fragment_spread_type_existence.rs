//! Types that fragments and variables name exist.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragment-Spread-Type-Existence>

use crate::ast::Name;
use crate::validate::context::Context;

/// Reports the type `name`, which the schema does not have.
#[cold]
pub(in crate::validate) fn unknown(cx: &mut Context<'_>, name: Name) {
    let known = cx.schema.types.iter().map(|ty| cx.schema.str(ty.name));
    let suggestion = cx.suggestion(name, known);
    let message = format!("Unknown type \"{}\".{suggestion}", cx.quoted(name));
    cx.report(&[name], message);
}
