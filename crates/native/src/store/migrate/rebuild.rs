//! The definitions of a migration in their order, derived from the difference of each table.
//!
//! Pairs of edges that move are taken aside first; then views, indexes and tables that are not kept go; names change;
//! tables and columns come; tables that have to be are written anew; what was taken aside is put in place; keys, indexes
//! and views follow.
//!
//! **Invariant:** after them the tables are those of a store that was made with the new text.

use super::edge_moves;
use super::renames::Renames;
use super::table_diff::{self, CellSource, How, TableDiff};
use crate::layout::{Index, IndexKind};
use crate::store::ddl::quote_identifier;
use crate::store::{Types, ddl};
use weir_relational::catalog::{TableId, TableKind};
use weir_relational::plan::ddl::Definition;

/// Steps of a rebuild.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// In one transaction, in this order.
    pub(super) definitions: Vec<Definition>,
    /// New indexes of tables that may have rows, by place in the new layout, and what those tables are called now; the
    /// rest is made with the definitions.
    pub(super) indexes: Vec<(usize, String)>,
    /// After the indexes.
    pub(super) views: Vec<Definition>,
    /// Tables whose references have to be checked before the end.
    pub(super) touched: Vec<String>,
}

/// Everything that makes the tables of `old` those of `new`.
pub(super) fn plan_rebuild(old: &Types, new: &Types) -> Work {
    let renames = Renames { old: &old.model, new: &new.model };
    let mut it = Rebuild { old, new, all: table_diff::tables(old, new, renames), out: Vec::new() };
    let (aside, placed) = edge_moves::moves(old, new, renames);
    let views = ddl::views(new);
    if aside.is_empty() && placed.is_empty() && it.is_nothing() && views == ddl::views(old) {
        return Work::default();
    }
    it.out.extend(aside);
    it.drop_views();
    it.drop_indexes();
    it.drop_tables();
    it.rename_tables();
    it.rename_columns();
    it.create_tables();
    it.add_columns();
    it.fill(TableRole::Values);
    it.rewrite_tables();
    it.fill(TableRole::Registry);
    it.out.extend(placed);
    it.add_references();
    it.restore_triggers();
    let touched = it.all.iter().filter(|it| it.how != How::Kept).map(|it| name(new, it.new)).collect();
    let mut indexes = Vec::new();
    for (at, index) in new.layout.indexes.iter().enumerate() {
        if it.find_old_index(index).is_some() {
            continue;
        }
        match it.diff_of(index.table).old.filter(|_| it.diff_of(index.table).how != How::Created) {
            None => it.out.push(Definition::CreateIndex(ddl::index(&new.layout, index))),
            Some(before) => indexes.push((at, name(old, before))),
        }
    }
    Work { definitions: it.out, indexes, views, touched }
}

/// Purpose of a table that is filled from others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableRole {
    Values,
    Registry,
}

struct Rebuild<'t> {
    old: &'t Types,
    new: &'t Types,
    all: Vec<TableDiff>,
    out: Vec<Definition>,
}

fn name(types: &Types, table: TableId) -> String {
    types.layout.relations.catalog.table(table).name.clone()
}

impl Rebuild<'_> {
    fn diff_of(&self, table: TableId) -> &TableDiff {
        // Every stored table is in the list, and an index is on a stored table.
        self.all.iter().find(|it| it.new == table).unwrap_or(&self.all[0])
    }

    fn is_nothing(&self) -> bool {
        let kept = self.all.iter().all(|it| it.how == How::Kept);
        let tables = ddl::stored_tables(&self.old.layout).count() == self.all.len();
        let indexes = self.new.layout.indexes.iter().all(|it| self.find_old_index(it).is_some());
        kept && tables && indexes && self.new.layout.indexes.len() == self.old.layout.indexes.len()
    }

    /// The old index that can stay in place of `index`.
    fn find_old_index(&self, index: &Index) -> Option<&Index> {
        let diff = self.diff_of(index.table);
        let old = &self.old.layout;
        let new = &self.new.layout;
        let names = |layout: &crate::layout::Layout, index: &Index| {
            let table = layout.relations.catalog.table(index.table);
            (table.name.clone(), ddl::columns(table, &index.columns))
        };
        let is_same = |was: &&Index| {
            Some(was.table) == diff.old
                && (was.name.as_str(), was.kind) == (index.name.as_str(), index.kind)
                && names(old, was) == names(new, index)
        };
        let found = old.indexes.iter().find(is_same)?;
        let is_carried = |at: usize| matches!(diff.cells[index.columns[at].0 as usize], CellSource::Same(_));
        let survives = match diff.how {
            How::Kept | How::Altered => true,
            How::Rewritten => ddl::is_virtual(self.new.kind, index.kind),
            How::Created => false,
        };
        (survives && (0..index.columns.len()).all(is_carried)).then_some(found)
    }

    fn drop_views(&mut self) {
        let views = ddl::views(self.old).len();
        let tables = self.old.layout.relations.catalog.tables.iter().filter(|it| it.kind == TableKind::View);
        // A view over nothing was never made.
        self.out.extend(
            tables
                .take(if views == 0 { 0 } else { usize::MAX })
                .map(|it| Definition::DropView(it.name.clone())),
        );
    }

    fn drop_indexes(&mut self) {
        let kept: Vec<String> = self
            .new
            .layout
            .indexes
            .iter()
            .filter_map(|it| Some(self.find_old_index(it)?.name.clone()))
            .collect();
        let gone = self.old.layout.indexes.iter().filter(|it| !kept.contains(&it.name));
        self.out.extend(gone.map(|it| Definition::DropIndex(ddl::index(&self.old.layout, it))));
    }

    fn drop_tables(&mut self) {
        let stays = |id: TableId| self.all.iter().any(|it| it.old == Some(id) && it.how != How::Created);
        let gone = ddl::stored_tables(&self.old.layout).filter(|(id, _)| !stays(*id));
        self.out.extend(gone.map(|(_, table)| Definition::DropTable(table.name.clone())));
    }

    /// Renames tables. A table whose new name another table still has gets a temporary name first.
    fn rename_tables(&mut self) {
        let mut second = Vec::new();
        for it in self.all.iter().filter(|it| it.how != How::Created) {
            let Some(old) = it.old else { continue };
            let was = name(self.old, old);
            let is = name(self.new, it.new);
            if was == is {
                continue;
            }
            let taken = ddl::stored_tables(&self.old.layout).any(|(_, table)| table.name == is);
            let temporary_name = format!("weir_name_{}", self.out.len());
            if taken {
                self.out.push(Definition::RenameTable { from: was, to: temporary_name.clone() });
                second.push(Definition::RenameTable { from: temporary_name, to: is });
            } else {
                self.out.push(Definition::RenameTable { from: was, to: is })
            }
        }
        self.out.extend(second);
    }

    fn rename_columns(&mut self) {
        let mut second = Vec::new();
        for it in self.all.iter().filter(|it| it.how == How::Altered) {
            let Some(old) = it.old else { continue };
            let old = self.old.layout.relations.catalog.table(old);
            let new = self.new.layout.relations.catalog.table(it.new);
            let rename = |from: &str, to: &str| {
                let from = from.to_owned();
                let to = to.to_owned();
                Definition::RenameColumn { table: new.name.clone(), from, to }
            };
            for (cell, column) in it.cells.iter().zip(&new.columns) {
                let CellSource::Same(was) = cell else { continue };
                let was = &old.column(*was).name;
                if *was == column.name {
                    continue;
                }
                let temporary_name = format!("weir_name_{}", self.out.len());
                if old.find(&column.name).is_some() {
                    self.out.push(rename(was, &temporary_name));
                    second.push(rename(&temporary_name, &column.name));
                } else {
                    self.out.push(rename(was, &column.name))
                }
            }
        }
        self.out.extend(second);
    }

    fn create_tables(&mut self) {
        for it in self.all.iter().filter(|it| it.how == How::Created) {
            let table = ddl::table(&self.new.layout, it.new, &name(self.new, it.new));
            self.out.push(Definition::CreateTable(table));
        }
    }

    fn add_columns(&mut self) {
        for it in self.all.iter().filter(|it| it.how == How::Altered) {
            let table = name(self.new, it.new);
            for (at, _) in it.cells.iter().enumerate().filter(|it| *it.1 == CellSource::Empty) {
                let column = weir_relational::catalog::ColumnId(at as u32);
                let column = ddl::column(&self.new.layout, it.new, column);
                self.out.push(Definition::AddColumn { table: table.clone(), column });
            }
        }
    }

    fn fill(&mut self, role: TableRole) {
        let is_registry = |id: TableId| self.new.layout.tables.contains(&id);
        let wanted = |it: &&TableDiff| is_registry(it.new) == (role == TableRole::Registry);
        self.out.extend(self.all.iter().filter(wanted).flat_map(|it| it.fill.clone()));
    }

    fn rewrite_tables(&mut self) {
        let rewritten: Vec<TableDiff> =
            self.all.iter().filter(|it| it.how == How::Rewritten).cloned().collect();
        for it in rewritten {
            let Some(old) = it.old else { continue };
            let old = self.old.layout.relations.catalog.table(old);
            let new = self.new.layout.relations.catalog.table(it.new);
            let aside = format!("weir_new_{}", self.out.len());
            let table = new.name.clone();
            let pairs: Vec<(String, String)> = it
                .cells
                .iter()
                .zip(&new.columns)
                .filter_map(|(cell, column)| match cell {
                    CellSource::Same(was) => {
                        Some((column.name.clone(), quote_identifier(&old.column(*was).name)))
                    }
                    CellSource::Made(value) => Some((column.name.clone(), value.clone())),
                    CellSource::Empty => None,
                })
                .collect();
            let (columns, values): (Vec<String>, Vec<String>) = pairs.into_iter().unzip();
            let select = format!("SELECT {} FROM {}", values.join(", "), quote_identifier(&table));
            let created = ddl::table(&self.new.layout, it.new, &aside);
            self.out.extend([
                Definition::CreateTable(created),
                Definition::Copy { into: aside.clone(), columns, select },
                Definition::DropTable(table.clone()),
                Definition::RenameTable { from: aside, to: table },
            ]);
            self.continue_identity(it.new);
        }
    }

    /// A column that the database fills goes on counting where the old table was.
    fn continue_identity(&mut self, id: TableId) {
        let table = self.new.layout.relations.catalog.table(id);
        let is_list = !self.new.layout.tables.contains(&id);
        let filled = table.columns.iter().find(|it| is_list && (it.has_default || it.generated));
        self.out.extend(filled.map(|column| Definition::ContinueIdentity {
            table: table.name.clone(),
            column: column.name.clone(),
        }));
    }

    /// References that went with their tables, or were never there; not those that are a part of their tables.
    fn add_references(&mut self) {
        let is_new = |id: TableId| matches!(self.diff_of(id).how, How::Created | How::Rewritten);
        let mut missing = Vec::new();
        for it in &self.all {
            let table = self.new.layout.relations.catalog.table(it.new);
            for (key, reference) in table.foreign_keys.iter().zip(ddl::references(&self.new.layout, it.new)) {
                let is_added =
                    key.columns.iter().any(|column| it.cells[column.0 as usize] == CellSource::Empty);
                if is_new(it.new) || is_new(key.target) || is_added {
                    missing.push(reference);
                }
            }
        }
        self.out.extend(missing);
    }

    /// Recreates triggers: they vanish with a table that is rewritten, while the word and box indexes that they maintain stay.
    fn restore_triggers(&mut self) {
        for index in &self.new.layout.indexes {
            let is_rewritten = self.diff_of(index.table).how == How::Rewritten;
            if is_rewritten && index.kind != IndexKind::Unique && self.find_old_index(index).is_some() {
                self.out.push(Definition::RestoreIndex(ddl::index(&self.new.layout, index)));
            }
        }
    }
}
