//! Finds the tables of which a plan uses one row, by its primary key: a change of any other row does not concern it.
//!
//! **Invariant:** a table is confined only if the plan scans it once, for the row with the key, and no action of a foreign key leads back to it.
//!
//! **Cost:** planning only: one walk over the plan.

use super::effects::touched_tables;
use crate::catalog::{Catalog, ColumnId, ColumnType, Follow, Table, TableId};
use crate::plan::operators::Comparison;
use crate::plan::write::{Assign, Change};
use crate::plan::{Expr, Filter, Parameter, Plan, Reader};

/// A table of which a plan uses one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfinedTable {
    pub table: TableId,
    /// The values of the columns of its primary key, in the order of the key.
    pub key: Vec<Parameter>,
}

/// The tables of which `plan` uses one row.
pub fn row_keys(catalog: &Catalog, plan: &Plan) -> Vec<ConfinedTable> {
    if !plan.functions.is_empty() || !plan.lookups.is_empty() {
        return Vec::new();
    }
    let scanned = plan.clone().scanned_tables();
    let is_once = |table: TableId| scanned.iter().filter(|it| **it == table).count() == 1;
    let queries = plan.levels.iter().map(|it| &it.query).filter(|it| it.nest.is_empty() && it.call.is_none());
    let read = queries.filter_map(|it| Some((it.scan.table(), key(catalog, it.scan.table(), &it.filter)?)));
    let changed = plan.changes.iter().filter_map(|it| changed_row(catalog, it));
    let all: Vec<_> = read.chain(changed).collect();
    let confined = all.into_iter().filter(|it| is_once(it.0));
    confined.map(|(table, key)| ConfinedTable { table, key }).collect()
}

/// The table and key of a change of one row, if nothing leads from there to other rows of the table.
fn changed_row(catalog: &Catalog, change: &Change) -> Option<(TableId, Vec<Parameter>)> {
    let filter = match change {
        Change::Update(update) => {
            let key = catalog.table(update.scan.table()).primary_key.as_ref()?;
            let sets = |it: &(ColumnId, Assign)| key.columns.contains(&it.0);
            (!update.set.iter().any(sets)).then_some(&update.filter)?
        }
        Change::Delete(delete) => &delete.filter,
        Change::Insert(_) | Change::Call(_) => return None,
    };
    let table = change.table();
    let reached = touched_tables(catalog, vec![table], std::slice::from_ref(change))?;
    let acts = |it: &crate::catalog::ForeignKey| {
        it.target == table && (it.on_delete, it.on_update) != (Follow::Nothing, Follow::Nothing)
    };
    let is_alone =
        reached.iter().all(|it| *it == table) && !catalog.table(table).foreign_keys.iter().any(acts);
    is_alone.then(|| key(catalog, table, filter)).flatten().map(|key| (table, key))
}

/// The values that `filter` wants of all columns of the primary key, if equal values have equal texts.
fn key(catalog: &Catalog, table: TableId, filter: &Filter) -> Option<Vec<Parameter>> {
    let conditions = match filter {
        Filter::All(conditions) => conditions.as_slice(),
        one => std::slice::from_ref(one),
    };
    let key = catalog.table(table).primary_key.as_ref()?;
    let value = |column: &ColumnId| {
        conditions.iter().find_map(|condition| match condition {
            Filter::Compare { of: Expr::Column(of), by: Comparison::Eq, with } if of == column => {
                let found = catalog.table(table).column(*column);
                let ty = match &with.reader {
                    Reader::Column(ty) => ty,
                    // The number of an object.
                    Reader::Id => &found.ty,
                    _ => return None,
                };
                (has_one_text(ty) && !found.folds).then(|| with.clone())
            }
            _ => None,
        })
    };
    key.columns.iter().map(value).collect()
}

/// True if equal values of the table's primary key have equal texts, so that the text identifies the row.
pub fn has_certain_key(table: &Table) -> bool {
    let is_certain = |it: &ColumnId| has_one_text(&table.column(*it).ty) && !table.column(*it).folds;
    table.primary_key.as_ref().is_some_and(|it| it.columns.iter().all(is_certain))
}

/// True for types whose equal values have one text.
const fn has_one_text(ty: &ColumnType) -> bool {
    matches!(
        ty,
        ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt | ColumnType::Text | ColumnType::Uuid
    )
}
