//! What every relational source makes of a piece before it compiles it.

use super::compile::Ask;
use super::form::{objects, structural};
use crate::api::meaning::Api;
use crate::catalog::TableId;
use crate::model::Model;
use weir_engine::source::{Accent, FieldError, Piece, PlanError, Tag};

impl Ask {
    /// What `piece` asks.
    pub(crate) fn of(piece: &Piece<'_>, api: &Api) -> Self {
        let structural = structural(piece, api);
        Self {
            set: piece.set,
            fields: piece.fields.to_vec(),
            accent: piece.accent,
            objects: objects(&structural, piece, api),
            structural,
        }
    }
}

/// The names of `tables`; of all that are tracked while that depends on the variables of a request.
pub(crate) fn tags(model: &Model, tables: Option<Vec<TableId>>) -> Vec<Tag> {
    let mut tables = tables.unwrap_or_else(|| {
        let tracked = model.tables.iter().enumerate().filter(|it| it.1.is_some());
        tracked.map(|it| TableId(it.0 as u32)).collect()
    });
    tables.sort_unstable();
    tables.dedup();
    let tag = |table: &TableId| {
        let table = model.catalog.table(*table);
        Tag(format!("{}.{}", table.schema, table.name).into())
    };
    tables.iter().map(tag).collect()
}

/// Children in other sources would need the rows of a mutation as tables, which are read while the transaction is still
/// open.
pub(crate) fn no_foreign_below(piece: &Piece<'_>) -> PlanError {
    let code = match piece.accent {
        Accent::Spec => "NOT_SUPPORTED",
        Accent::Hasura => "not-supported",
    };
    let message = "a mutation cannot select fields of another source yet: ask for them in a query".into();
    let error = FieldError { code, message, hasura_path: None };
    PlanError { error, field: piece.fields.first().copied().unwrap_or(0) }
}
