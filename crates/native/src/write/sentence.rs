//! The few kinds of statements that mutations are made of, each text rendered once.
//!
//! **Invariant:** a text depends on the layout alone; what a client sends is bound.
//!
//! **Cost:** one lookup per statement; at most [`SENTENCES_MAX`] texts are kept, all forgotten when there are more.

use crate::layout::{Database, Layout};
use crate::store::ddl::is_virtual;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, PoisonError, RwLock};
use weir_relational::catalog::{Catalog, ColumnId, TableId};
use weir_sql::exec::program::Sentence;

/// So many texts are kept.
const SENTENCES_MAX: usize = 4096;

/// Some columns of a table.
pub(super) type ColumnIds = SmallVec<[ColumnId; 8]>;

/// A kind of statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Numbers for new objects: on PostgreSQL as many as are bound, on SQLite the first that is free.
    NewIds,
    /// On SQLite: as many numbers as are bound are not free any more. As one statement with the one above it would need a
    /// table of its own for what it returns.
    TakeIds,
    /// Columns of some rows.
    Find { table: TableId, shown: ColumnIds, rows: Rows },
    /// One row more.
    Insert { table: TableId, columns: ColumnIds },
    /// One row more, unless it is there.
    Keep { table: TableId, columns: ColumnIds },
    /// New values for some rows.
    Change { table: TableId, set: ColumnIds, rows: Rows },
    /// Some rows less.
    Erase { table: TableId, rows: Rows },
}

/// Condition on rows: one column equals the bound value, and others equal theirs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Rows {
    pub(super) by: ColumnId,
    /// Many numbers of objects are bound, not one.
    pub(super) many: bool,
    pub(super) and: SmallVec<[(ColumnId, Same); 2]>,
}

impl Rows {
    /// Those where `column` is what is bound.
    pub(super) fn by(column: ColumnId) -> Self {
        Self { by: column, many: false, and: SmallVec::new() }
    }
}

/// Comparison of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Same {
    Equal,
    Different,
}

/// The texts of one store.
#[derive(Debug)]
pub(super) struct Sentences {
    pub(super) database: Database,
    known: RwLock<HashMap<Kind, Arc<Sentence>, foldhash::fast::RandomState>>,
}

impl Sentences {
    pub(super) fn new(database: Database) -> Self {
        Self { database, known: RwLock::default() }
    }

    /// The text of `kind`.
    pub(super) fn get(&self, layout: &Layout, kind: Kind) -> Arc<Sentence> {
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&kind) {
            return Arc::clone(known);
        }
        let made = Arc::new(render(self.database, layout, &kind));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= SENTENCES_MAX {
            known.clear();
        }
        Arc::clone(known.entry(kind).or_insert(made))
    }
}

/// True if rows of `table` are in an index that is a separate table, with one of the columns `set` if those are given.
fn is_indexed(database: Database, layout: &Layout, table: TableId, set: Option<&ColumnIds>) -> bool {
    layout
        .indexes
        .iter()
        .filter(|it| it.table == table && is_virtual(database, it.kind))
        .any(|it| set.is_none_or(|set| it.columns.iter().any(|column| set.contains(column))))
}

fn render(database: Database, layout: &Layout, kind: &Kind) -> Sentence {
    let mut writer = Writer { database, catalog: &layout.relations.catalog, sql: String::new(), bound: 0 };
    let indexed = match kind {
        Kind::NewIds | Kind::TakeIds | Kind::Find { .. } => false,
        Kind::Insert { table, .. } | Kind::Keep { table, .. } | Kind::Erase { table, .. } => {
            is_indexed(database, layout, *table, None)
        }
        Kind::Change { table, set, .. } => is_indexed(database, layout, *table, Some(set)),
    };
    let width = match kind {
        Kind::NewIds => {
            writer.sql.push_str(match database {
                Database::Sqlite => "SELECT next_id FROM weir_store",
                Database::Postgres => "SELECT nextval('weir_ids') FROM generate_series(1, $1::bigint)",
            });
            1
        }
        Kind::TakeIds => {
            writer.sql.push_str("UPDATE weir_store SET next_id = next_id + $1");
            0
        }
        Kind::Find { table, shown, rows } => {
            writer.sql.push_str("SELECT ");
            writer.columns(*table, shown);
            writer.sql.push_str(" FROM ");
            writer.table(*table);
            writer.rows(*table, rows);
            shown.len()
        }
        Kind::Insert { table, columns } => {
            writer.insert(*table, columns);
            0
        }
        Kind::Keep { table, columns } => {
            writer.insert(*table, columns);
            writer.sql.push_str(" ON CONFLICT DO NOTHING");
            0
        }
        Kind::Change { table, set, rows } => {
            writer.sql.push_str("UPDATE ");
            writer.table(*table);
            for (at, column) in set.iter().enumerate() {
                writer.sql.push_str(if at == 0 { " SET " } else { ", " });
                writer.column(*table, *column);
                writer.sql.push_str(" = ");
                writer.placeholder();
            }
            writer.rows(*table, rows);
            0
        }
        Kind::Erase { table, rows } => {
            writer.sql.push_str("DELETE FROM ");
            writer.table(*table);
            writer.rows(*table, rows);
            0
        }
    };
    Sentence::new(writer.sql, width, indexed)
}

/// Writes one text.
struct Writer<'c> {
    database: Database,
    catalog: &'c Catalog,
    sql: String,
    bound: usize,
}

impl Writer<'_> {
    fn name(&mut self, name: &str) {
        let _ = write!(self.sql, "\"{}\"", name.replace('"', "\"\""));
    }

    fn table(&mut self, table: TableId) {
        let table = self.catalog.table(table);
        if self.database == Database::Postgres && !table.schema.is_empty() {
            self.name(&table.schema);
            self.sql.push('.');
        }
        self.name(&table.name);
    }

    fn column(&mut self, table: TableId, column: ColumnId) {
        let catalog = self.catalog;
        self.name(&catalog.table(table).column(column).name);
    }

    fn columns(&mut self, table: TableId, columns: &[ColumnId]) {
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                self.sql.push_str(", ");
            }
            self.column(table, *column);
        }
    }

    fn placeholder(&mut self) {
        self.bound += 1;
        let _ = write!(self.sql, "${}", self.bound);
    }

    fn insert(&mut self, table: TableId, columns: &[ColumnId]) {
        self.sql.push_str("INSERT INTO ");
        self.table(table);
        self.sql.push_str(" (");
        self.columns(table, columns);
        self.sql.push_str(") VALUES (");
        for at in 0..columns.len() {
            if at > 0 {
                self.sql.push_str(", ");
            }
            self.placeholder();
        }
        self.sql.push(')');
    }

    fn rows(&mut self, table: TableId, rows: &Rows) {
        self.sql.push_str(" WHERE ");
        self.column(table, rows.by);
        match (rows.many, self.database) {
            (false, _) => {
                self.sql.push_str(" = ");
                self.placeholder();
            }
            (true, Database::Sqlite) => {
                self.sql.push_str(" IN (SELECT value FROM json_each(");
                self.placeholder();
                self.sql.push_str("))");
            }
            (true, Database::Postgres) => {
                self.sql.push_str(" = ANY (");
                self.placeholder();
                self.sql.push_str("::bigint[])");
            }
        }
        for (column, same) in &rows.and {
            self.sql.push_str(" AND ");
            self.column(table, *column);
            self.sql.push_str(match same {
                Same::Equal => " = ",
                Same::Different => " <> ",
            });
            self.placeholder();
        }
    }
}
