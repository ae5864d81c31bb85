//! Patterns, documents and lists on their way in: which half of one is asked, and which are refused before a row is read.
//!
//! **Cost:** one pass over a pattern.

use super::KEY;
use crate::exec::bindings::{Bindings, Found, Refused};
use crate::exec::pattern_checks::refuse;
use std::borrow::Cow;
use weir_language::value::Node;
use weir_postgres::statement::Buffer;
use weir_relational::plan::Judged;
use weir_relational::plan::operators::Comparison;
use weir_relational::values::plain_pattern::{self, Half, Notation};

/// Keeps a half of the argument that `out` holds from `start` on; false if the half is null.
pub(super) fn keep_half((half, notation): (Half, Notation), start: usize, out: &mut Buffer) -> bool {
    let whole = std::str::from_utf8(&out[start..]).unwrap_or_default();
    let kept = match plain_pattern::half(whole, half, notation) {
        Some(Cow::Borrowed(kept)) if kept.len() == whole.len() => return true,
        kept => kept.map(Cow::into_owned),
    };
    out.truncate(start);
    out.extend_from_slice(kept.as_deref().unwrap_or_default().as_bytes());
    kept.is_some()
}

/// The one thing that breaks a pattern of `LIKE`; other patterns are judged by the statement.
pub(crate) fn judge<'r>(judged: &'r Judged, bindings: &Bindings<'r>) -> Result<(), Refused> {
    let is_like = matches!(judged.by, Comparison::Like | Comparison::Ilike);
    let text = match bindings.find(&judged.with, KEY) {
        Found::Given(given) => match given.node() {
            Node::Text(span) => given.str(span),
            _ => return Ok(()),
        },
        Found::Text(text) => text,
        Found::Key(..) | Found::Shown(_) | Found::Above => return Ok(()),
    };
    if is_like && plain_pattern::ends_in_escape(text) {
        refuse(bindings, plain_pattern::ENDS_IN_ESCAPE)
    } else {
        Ok(())
    }
}
