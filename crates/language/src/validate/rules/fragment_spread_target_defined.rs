//! A spread names a fragment of the document.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Fragment-Spread-Target-Defined>

use crate::ast::Spread;
use crate::validate::context::Context;

/// Reports a spread of nothing.
#[cold]
pub(in crate::validate) fn unknown(cx: &mut Context<'_>, spread: &Spread) {
    cx.report(&[spread.name], format!("Unknown fragment \"{}\".", cx.quoted(spread.name)));
}
