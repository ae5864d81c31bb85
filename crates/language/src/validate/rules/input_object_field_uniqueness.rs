//! A field of an object literal is given once.
//!
//! Source: <https://spec.graphql.org/September2025/#sec-Input-Object-Field-Uniqueness>

use super::repeated;
use crate::ast::{List, ObjectField};
use crate::span::Span;
use crate::validate::context::Context;

/// Reports each field of `fields` that is given again.
pub(in crate::validate) fn object(cx: &mut Context<'_>, fields: List<ObjectField>) {
    if fields.len() < 2 {
        return;
    }
    let names: Vec<Span> = cx.document.list(fields).iter().map(|field| field.name).collect();
    repeated(cx.document, &names, |group| {
        for &again in &group[1..] {
            let message = format!("There can be only one input field named \"{}\".", cx.quoted(again));
            cx.report(&[group[0], again], message);
        }
    });
}
