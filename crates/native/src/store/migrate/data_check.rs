//! Questions to the old tables, which decide if the data allows a change, and the names that stand in them.

use crate::layout::Storage;
use crate::model::{FieldId, Model};
use crate::store::Types;
use crate::store::ddl::quote_identifier;
use weir_relational::catalog::{ColumnId, TableId};

/// Consequence of the rows that a data check finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Data is lost: the first column counts the values. The name is what the operator has to allow.
    Lost(String),
    /// Data prevents the change: the first column names some of it. With the reason and a remedy.
    Forbidden {
        what: String,
        mend: String,
        /// True if the first column has object numbers, which messages show as clients know them.
        by_id: bool,
    },
    /// Blocking data: the first column names objects with long texts, whose words may be too many for an index.
    Wordy {
        /// The texts of the object `$1`.
        texts: String,
        /// The field, for people.
        name: String,
    },
}

/// A question to the old tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataCheck {
    pub(super) sql: String,
    pub(super) verdict: Verdict,
}

/// A difference between two models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) words: String,
    pub(super) questions: Vec<DataCheck>,
}

/// Maximum number of conflicting rows in a message.
pub(super) const NAMED_MAX: usize = 3;

/// The field as people call it: an inherited one by its interface.
pub(super) fn field_name(model: &Model, id: FieldId) -> String {
    let field = model.field(id);
    let owner = model.field(field.inherited_from.unwrap_or(id)).owner;
    format!("{}.{}", model.ty(owner).name, field.name)
}

/// A table's name and one of its columns, quoted.
pub(super) fn place(types: &Types, table: TableId, column: ColumnId) -> (String, String) {
    let table = types.layout.relations.catalog.table(table);
    (quote_identifier(&table.name), quote_identifier(&table.column(column).name))
}

/// Storage of a scalar field's values: table, the column of their objects' numbers, the column of the values.
pub(super) fn values(types: &Types, id: FieldId) -> Option<(String, String, String)> {
    let owner = types.model.field(id).owner;
    let table = types.layout.tables[owner.index()];
    let of_object = |column: ColumnId| {
        let (name, value) = place(types, table, column);
        (name, place(types, table, types.layout.ids[owner.index()]).1, value)
    };
    match &types.layout.fields[id.index()] {
        Storage::Values { table, owner, value, .. } => {
            let (name, value) = place(types, *table, *value);
            Some((name, place(types, *table, *owner).1, value))
        }
        single => single.columns().first().copied().map(of_object),
    }
}
