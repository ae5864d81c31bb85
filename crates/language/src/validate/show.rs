//! A literal as messages show it: a leaf as it is written, cut where it would flood the answer; of lists and objects only that they
//! are one.
//!
//! Values beside a mistake are left out: they may be passwords, and messages are logged and shown to people.

use crate::ast::{Document, ValueId, ValueKind};
use crate::coerce::{list_mark, object_mark};

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
        | ValueKind::Enum => super::context::Quoted(document.str(value.span)).to_string(),
    }
}
