//! Tables that a plan node shows, and tables that a mutation may change: more than its statements name.
//!
//! Rows that refer to others go or change with them, triggers and rules do as they like, and a view stands for tables that it
//! does not name. Where that cannot be known it is all tables.
//!
//! **Invariant:** whatever a mutation changes in tables of the catalog, it shares a table with every read that shows it.
//!
//! **Cost:** planning only; a change follows what refers to a table's rows, or to a column of it, once, so circles end.

use crate::catalog::{Catalog, ColumnId, Follow, ForeignKey, TableId, TableKind};
use crate::plan::write::{Assign, Change};
use hashbrown::HashSet;

/// Tables read or changed by statements that name the tables `stated` and make `changes`; `None`: any table.
pub fn touched_tables(
    catalog: &Catalog,
    mut stated: Vec<TableId>,
    changes: &[Change],
) -> Option<Vec<TableId>> {
    if changes.is_empty() {
        // A view reads tables that the statement does not name.
        let known = stated.iter().all(|it| catalog.table(*it).kind == TableKind::Table);
        return known.then_some(stated);
    }
    stated.extend(changed_tables(catalog, changes)?);
    Some(stated)
}

/// Events of a table's rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Event {
    /// Rows are added.
    Insert,
    /// Rows are removed.
    Delete,
    /// Rows get another value in this column.
    Update(ColumnId),
}

/// All tables that `changes` may change; `None`: any.
fn changed_tables(catalog: &Catalog, changes: &[Change]) -> Option<Vec<TableId>> {
    let mut reached: HashSet<(TableId, Event)> = HashSet::new();
    let mut waiting = Vec::new();
    for change in changes {
        waiting.extend(events(change)?.into_iter().map(|it| (change.table(), it)));
    }
    while let Some((at, event)) = waiting.pop() {
        if !reached.insert((at, event)) {
            continue;
        }
        let table = catalog.table(at);
        if table.kind != TableKind::Table || table.acts {
            return None;
        }
        for (owner, table) in catalog.tables.iter().enumerate() {
            let owner = TableId(owner as u32);
            for key in table.foreign_keys.iter().filter(|it| it.target == at) {
                match follow(catalog, key, event) {
                    Follow::Nothing => {}
                    Follow::Delete => waiting.push((owner, Event::Delete)),
                    Follow::Update => {
                        waiting.extend(key.columns.iter().map(|it| (owner, Event::Update(*it))));
                    }
                }
            }
        }
    }
    Some(reached.into_iter().map(|it| it.0).collect())
}

/// Events that `change` itself causes in its table; `None` if unknown.
fn events(change: &Change) -> Option<Vec<Event>> {
    let column = |it: &(ColumnId, Assign)| Event::Update(it.0);
    match change {
        Change::Insert(insert) => {
            let conflict = insert.conflict.iter();
            let updated = conflict.clone().flat_map(|it| &it.update).map(|it| Event::Update(*it));
            let preset = conflict.flat_map(|it| &it.presets).map(column);
            Some(updated.chain(preset).chain([Event::Insert]).collect())
        }
        Change::Update(update) => Some(update.set.iter().map(column).collect()),
        Change::Delete(_) => Some(vec![Event::Delete]),
        Change::Call(_) => None,
    }
}

/// Action on rows with `key` when the event happens to the rows they refer to.
fn follow(catalog: &Catalog, key: &ForeignKey, event: Event) -> Follow {
    match event {
        Event::Insert => Follow::Nothing,
        Event::Delete => key.on_delete,
        Event::Update(column) => {
            let target = catalog.table(key.target);
            // A generated column changes with any other.
            let changes = |it: &ColumnId| *it == column || target.column(*it).generated;
            if key.target_columns.iter().any(changes) { key.on_update } else { Follow::Nothing }
        }
    }
}
