//! An argument is given once.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Argument-Uniqueness>

use super::repeated;
use crate::ast::{Argument, List};
use crate::span::Span;
use crate::validate::context::Context;

/// Reports each argument of `list` that is given again.
pub(in crate::validate) fn arguments(cx: &mut Context<'_>, list: List<Argument>) {
    if list.len() < 2 {
        return;
    }
    let names: Vec<Span> = cx.document.list(list).iter().map(|argument| argument.name).collect();
    repeated(cx.document, &names, |group| {
        let message = format!("There can be only one argument named \"{}\".", cx.quoted(group[0]));
        cx.report(group, message);
    });
}
