//! A literal as messages show it: a leaf as it is written, cut where it would flood the answer; of lists and objects only that they
//! are one.
//!
//! Values beside a mistake are left out: they may be passwords, and messages are logged and shown to people.

use crate::coerce::{list_mark, object_mark};
use crate::syntax::ast::{Document, ValueId, ValueKind};
use std::fmt;

/// `value` as text.
pub(super) fn value(document: &Document<'_>, value: ValueId) -> String {
    let value = document.value(value);
    match value.kind {
        ValueKind::List(items) => list_mark(items.is_empty()).to_owned(),
        ValueKind::Object(fields) => object_mark(fields.is_empty()).to_owned(),
        ValueKind::Variable(_)
        | ValueKind::Int
        | ValueKind::Float
        | ValueKind::String { .. }
        | ValueKind::Block
        | ValueKind::Boolean(_)
        | ValueKind::Null
        | ValueKind::Enum => Quoted(document.str(value.span)).to_string(),
    }
}

/// Bytes of one name or value that a message repeats.
const QUOTED_BYTES_MAX: usize = 1000;

/// A client's text in a message, cut where it would flood the answer.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.len() <= QUOTED_BYTES_MAX {
            return f.write_str(self.0);
        }
        let end = (0..=QUOTED_BYTES_MAX).rev().find(|&at| self.0.is_char_boundary(at)).unwrap_or(0);
        f.write_str(&self.0[..end])?;
        f.write_str("...")
    }
}
