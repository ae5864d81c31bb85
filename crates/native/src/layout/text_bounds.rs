//! The lengths of texts: a tree holds whole texts up to a number of bytes.

use super::Database;
use crate::model::{Field, FieldKind, Model, Scalar, Search};

/// By field: maximum bytes of a text that a tree holds whole, alone or with other columns.
pub(super) fn bytes_max(model: &Model, database: Database) -> Vec<Option<usize>> {
    let is_text = |field: &Field| field.kind == FieldKind::Scalar(Scalar::String);
    let tree_bytes_max = database.store_dialect().tree_bytes_max();
    let one = |field: &Field| {
        let bytes_max = tree_bytes_max.filter(|_| is_text(field))?;
        let is_whole = field.is_list || field.key.is_some() || field.search.contains(&Search::Exact);
        let together = model.ty(field.owner).unique.iter();
        let texts = together
            .filter(|key| key.iter().any(|it| std::ptr::eq(model.field(*it), field)))
            .map(|key| key.iter().filter(|it| is_text(model.field(**it))).count());
        texts.chain(is_whole.then_some(1)).max().map(|it| bytes_max / it)
    };
    model.fields.iter().map(one).collect()
}
