//! Reads the catalog of a SQLite database, by its pragmas as tables.
//!
//! Only the database `main`. Left out: tables of SQLite itself, the row of [`crate::session_row`], virtual tables and the shadow tables behind them.
//! Invalid objects (a view over a missing table, a foreign key without a target) are left out with a warning.
//! SQLite keeps no names of constraints, so they are made up as PostgreSQL would: `Album_pkey`,
//! `Album_<columns>_key`, `Album_<columns>_fkey`.
//!
//! **Cost:** eight statements, one more per table, one per table with an index and one per table with a reference; a few microseconds
//! per table.

mod arbiters;
mod broken_indexes;
pub(crate) mod catalog_texts;
pub mod check_clauses;
pub(crate) mod plain_definitions;
mod sql_names;

use crate::introspect::catalog_texts::text;
use hashbrown::HashMap;
use rusqlite::{Connection, Row};
use weir_relational::catalog::{
    Catalog, Column, ColumnId, EnumTableValue, Follow, ForeignKey, Placement, Table, TableId, TableKind,
    UniqueKey, Warning,
};
use weir_relational::dialect::sqlite_type::{Integers, column_type, storage};
use weir_relational::quoting::quote_identifier;

/// Choices of a SQLite source that change its catalog.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqliteOptions {
    /// Width of integers.
    pub integers: Integers,
}

/// Reads the catalog of `connection`'s database `main`.
/// # Errors
/// The database cannot be read at all.
pub fn read(
    connection: &Connection,
    options: SqliteOptions,
) -> Result<(Catalog, Vec<Warning>), rusqlite::Error> {
    let catalog = Catalog { default_schema: "main", ..Catalog::default() };
    let mut reading = Reading { catalog, ..Reading::default() };
    reading.tables(connection)?;
    reading.columns(connection, options.integers)?;
    reading.broken_indexes(connection)?;
    reading.drop_empty();
    reading.triggers(connection)?;
    reading.unique_keys(connection)?;
    reading.indexed_columns(connection)?;
    reading.foreign_keys(connection)?;
    Ok((reading.catalog, reading.warnings))
}

const TABLES: &str = "SELECT name, type, strict FROM pragma_table_list \
    WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
    AND name NOT IN ('hdb_event_log', 'hdb_event_invocation_logs', 'hdb_event_log_cleanups', 'hdb_event_source') \
    AND NOT (lower(name) IN ('hdb_session', 'hdb_trace') AND type = 'table' AND ncol = 1) ORDER BY name COLLATE BINARY";

/// The pragma lists the columns in their order.
const COLUMNS: &str = "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk, hidden \
    FROM pragma_table_xinfo(?1, 'main')";

const TRIGGERS: &str = "SELECT tbl_name, sql FROM main.sqlite_schema WHERE type = 'trigger' \
    AND substr(name, 1, 14) <> 'notify_hasura_'";

/// Columns of unique indexes, and of keys of tables without row numbers, which the schema does not list. SQLite itself writes the first
/// words of a definition; the index of a key has none.
const INDEXES: &str = "SELECT t.name, l.origin, l.seq, x.name FROM main.sqlite_schema t, \
    pragma_index_list(t.name, 'main') l, pragma_index_xinfo(l.name, 'main') x \
    WHERE t.type = 'table' AND (t.name IN (SELECT tbl_name FROM main.sqlite_schema WHERE type = 'index' \
    AND (sql IS NULL OR substr(sql, 1, 19) = 'CREATE UNIQUE INDEX')) OR instr(lower(t.sql), 'rowid') > 0) \
    AND l.\"unique\" AND NOT l.partial AND x.key \
    ORDER BY t.name COLLATE BINARY, l.seq DESC, x.seqno";

const INDEXED: &str = "SELECT DISTINCT t.name, x.name FROM main.sqlite_schema t, \
    pragma_index_list(t.name, 'main') l, pragma_index_xinfo(l.name, 'main') x \
    WHERE t.type = 'table' AND (t.name IN (SELECT tbl_name FROM main.sqlite_schema WHERE type = 'index') \
    OR instr(lower(t.sql), 'rowid') > 0) \
    AND NOT l.partial AND x.key AND x.name IS NOT NULL";

/// Tables with a unique index, be it that of a key. A table without row numbers is the index of its key, which the schema does not list.
const WITH_UNIQUE_INDEX: &str = "SELECT tbl_name FROM main.sqlite_schema WHERE type = 'index' \
    AND (sql IS NULL OR substr(sql, 1, 19) = 'CREATE UNIQUE INDEX') \
    UNION SELECT name FROM main.sqlite_schema WHERE type = 'table' AND instr(lower(sql), 'rowid') > 0";

const FOREIGN_KEYS: &str = "SELECT t.name, f.id, f.\"table\", f.\"from\", f.\"to\", f.on_delete, f.on_update \
    FROM main.sqlite_schema t, \
    pragma_foreign_key_list(t.name, 'main') f WHERE t.type = 'table' AND instr(lower(t.sql), 'references') > 0 \
    ORDER BY t.name COLLATE BINARY, f.id DESC, f.seq";

/// The values of an enum table, in the order of their names: its key and, where it has one, its other column.
/// # Errors
/// Errors of the database.
pub fn enum_values(connection: &Connection, table: &Table) -> Result<Vec<EnumTableValue>, String> {
    let key = table.primary_key.as_ref().and_then(|key| key.columns.first().copied());
    let key = key.ok_or("it has no primary key")?;
    let comment = table.columns.iter().find(|column| column.name != table.column(key).name);
    let comment =
        comment.map_or("''".into(), |column| format!("coalesce(t0.{}, '')", quote_identifier(&column.name)));
    let key = format!("t0.{}", quote_identifier(&table.column(key).name));
    let table = quote_identifier(&table.name);
    let read = || {
        let sql =
            format!("SELECT {key}, {comment} FROM main.{table} AS t0 WHERE {key} IS NOT NULL ORDER BY 1");
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut values = Vec::new();
        while let Some(row) = rows.next()? {
            values.push(EnumTableValue { value: text(row, 0)?, comment: text(row, 1)? });
        }
        Ok::<_, rusqlite::Error>(values)
    };
    read().map_err(|error| error.to_string())
}

/// The catalog read so far.
#[derive(Default)]
struct Reading {
    catalog: Catalog,
    warnings: Vec<Warning>,
    /// Names in lower case, as SQLite does not mind the case of names.
    places: HashMap<String, TableId>,
    /// Parallel to the tables: the columns of the primary key.
    primary: Vec<Vec<ColumnId>>,
    /// Parallel to the tables until columns are read: true for a `STRICT` table, whose columns hold the declared types.
    strict: Vec<bool>,
}

impl Reading {
    fn tables(&mut self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let mut statement = connection.prepare(TABLES)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name = text(row, 0)?;
            let ty = text(row, 1)?;
            if ty == "virtual" {
                self.warn(name, "virtual tables are not served".into());
                continue;
            }
            let view = ty == "view";
            self.strict.push(row.get(2)?);
            self.catalog.tables.push(Table {
                schema: "main".into(),
                name,
                kind: if view { TableKind::View } else { TableKind::Table },
                columns: Vec::new(),
                primary_key: None,
                unique_keys: Vec::new(),
                arbiters: Vec::new(),
                foreign_keys: Vec::new(),
                comment: String::new(),
                insertable: !view,
                updatable: !view,
                deletable: !view,
                rows_estimate: None,
                is_whole: true,
                acts: false,
                acts_late: false,
                has_broken_index: false,
                placement: Placement::Local,
            });
        }
        Ok(())
    }

    fn columns(&mut self, connection: &Connection, integers: Integers) -> Result<(), rusqlite::Error> {
        let mut statement = connection.prepare(COLUMNS)?;
        let mut tables = std::mem::take(&mut self.catalog.tables);
        let strict = std::mem::take(&mut self.strict);
        for (table, is_strict) in tables.iter_mut().zip(strict) {
            let mut primary: Vec<(i64, ColumnId)> = Vec::new();
            let read = (|| {
                let mut rows = statement.query([&table.name])?;
                while let Some(row) = rows.next()? {
                    let hidden: i64 = row.get(5)?;
                    if hidden == 1 {
                        continue;
                    }
                    let place: i64 = row.get(4)?;
                    if place > 0 {
                        primary.push((place, ColumnId(table.columns.len() as u32)));
                    }
                    let derived = hidden == 2 || table.kind == TableKind::View;
                    table.columns.push(Column { derived, ..column(row, hidden, integers, is_strict)? });
                }
                Ok::<_, rusqlite::Error>(())
            })();
            if let Err(error) = read {
                table.columns.clear();
                self.warn(table.name.clone(), format!("its columns cannot be read: {error}"));
            }
            table.columns.shrink_to_fit();
            primary.sort_unstable();
            self.primary.push(primary.into_iter().map(|(_, column)| column).collect());
        }
        self.catalog.tables = tables;
        Ok(())
    }

    /// Marks the tables with an index that cannot be used, and leaves out the views that read them: in a view no index can be
    /// forbidden.
    fn broken_indexes(&mut self, connection: &Connection) -> Result<(), rusqlite::Error> {
        for index in broken_indexes::find(connection)? {
            for at in 0..self.catalog.tables.len() {
                let table = &mut self.catalog.tables[at];
                let place = table.name.clone();
                let reason =
                    format!("index `{}` of `{}` cannot be used: {}", index.name, index.table, index.cause);
                if table.kind == TableKind::View {
                    if broken_indexes::reads(connection, &place, &index.table)? {
                        table.columns.clear();
                        self.warn(place, format!("the view is left out, as it could lose rows: {reason}"));
                    }
                } else if table.name == index.table {
                    table.has_broken_index = true;
                    self.warn(place, format!("{reason}; rows are read without indexes"));
                }
            }
        }
        Ok(())
    }

    /// Removes tables without columns and renumbers the ids.
    fn drop_empty(&mut self) {
        let mut primary = std::mem::take(&mut self.primary).into_iter();
        self.catalog.tables.retain(|table| {
            let keys = primary.next();
            let keep = !table.columns.is_empty();
            self.primary.extend(keys.filter(|_| keep));
            keep
        });
        for (at, table) in self.catalog.tables.iter_mut().enumerate() {
            self.places.insert(table.name.to_ascii_lowercase(), TableId(at as u32));
            let columns = self.primary[at].clone();
            if !columns.is_empty() {
                table.primary_key = Some(UniqueKey { name: format!("{}_pkey", table.name), columns });
            }
        }
    }

    /// A view can be written as far as triggers say how, and a write to a table that has some does more than it says.
    fn triggers(&mut self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let mut statement = connection.prepare(TRIGGERS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some(at) = self.place(&text(row, 0)?) else { continue };
            let table = &mut self.catalog.tables[at.0 as usize];
            (table.acts, table.acts_late) = (true, true);
            match instead_of(&text(row, 1)?) {
                Some(Event::Insert) => table.insertable = true,
                Some(Event::Update) => table.updatable = true,
                Some(Event::Delete) => table.deletable = true,
                None => {}
            }
        }
        Ok(())
    }

    fn unique_keys(&mut self, connection: &Connection) -> Result<(), rusqlite::Error> {
        // A table whose primary key has no index of its own keeps it in the rowid.
        let mut indexed = vec![false; self.catalog.tables.len()];
        let mut keys: Vec<(TableId, i64, Vec<Option<ColumnId>>)> = Vec::new();
        let mut statement = connection.prepare(INDEXES)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some(at) = self.place(&text(row, 0)?) else { continue };
            if text(row, 1)? == "pk" {
                indexed[at.0 as usize] = true;
                continue;
            }
            let index: i64 = row.get(2)?;
            // An expression has no name.
            let name: Option<String> = row.get(3)?;
            let column = name.and_then(|name| self.column(at, &name));
            match keys.last_mut() {
                Some(key) if key.0 == at && key.1 == index => key.2.push(column),
                _ => keys.push((at, index, vec![column])),
            }
        }
        for (at, _, columns) in keys {
            if let Some(columns) = columns.into_iter().collect::<Option<Vec<_>>>() {
                self.add_unique_key(at, columns);
            }
        }
        let with_unique_index = self.find_tables_with_unique_index(connection)?;
        for (at, table) in self.catalog.tables.iter_mut().enumerate() {
            if let (Some(key), false) = (&table.primary_key, indexed[at]) {
                let column = &mut table.columns[key.columns[0].0 as usize];
                column.has_default = true;
                column.nullable = false;
            }
            if with_unique_index[at] {
                arbiters::offer_keys(connection, table)?;
            } else {
                table.offer_all_keys();
            }
        }
        Ok(())
    }

    /// By table: whether it has a unique index.
    fn find_tables_with_unique_index(&self, connection: &Connection) -> Result<Vec<bool>, rusqlite::Error> {
        let mut with_index = vec![false; self.catalog.tables.len()];
        let mut statement = connection.prepare(WITH_UNIQUE_INDEX)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(at) = self.place(&text(row, 0)?) {
                with_index[at.0 as usize] = true;
            }
        }
        Ok(with_index)
    }

    /// Marks generated columns with an index: their values were computed at write time, so reading them cannot fail.
    fn indexed_columns(&mut self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let mut tables = self.catalog.tables.iter().filter(|it| it.kind == TableKind::Table);
        if !tables.any(|it| it.columns.iter().any(|it| it.derived)) {
            return Ok(());
        }
        let mut statement = connection.prepare(INDEXED)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let table = text(row, 0)?;
            let name = text(row, 1)?;
            let Some(at) = self.place(&table) else { continue };
            if let Some(column) = self.column(at, &name) {
                self.catalog.tables[at.0 as usize].columns[column.0 as usize].derived = false;
            }
        }
        Ok(())
    }

    /// Adds a key unless one of the same columns is there.
    fn add_unique_key(&mut self, at: TableId, columns: Vec<ColumnId>) {
        let table = &mut self.catalog.tables[at.0 as usize];
        let mut keys = table.unique_keys.iter().chain(&table.primary_key);
        if !keys.any(|key| key.columns == columns) {
            let name = generate_name(table, &columns, "key");
            table.unique_keys.push(UniqueKey { name, columns });
        }
    }

    fn foreign_keys(&mut self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let mut keys: Vec<Reference> = Vec::new();
        let mut statement = connection.prepare(FOREIGN_KEYS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some(at) = self.place(&text(row, 0)?) else { continue };
            let id: i64 = row.get(1)?;
            let pair = (text(row, 3)?, row.get(4)?);
            match keys.last_mut() {
                Some(key) if key.at == at && key.id == id => key.pairs.push(pair),
                _ => {
                    let target = text(row, 2)?;
                    let pairs = vec![pair];
                    let deleted = text(row, 5)?;
                    let updated = text(row, 6)?;
                    let on_delete = follow(&deleted, Follow::Delete);
                    let on_update = follow(&updated, Follow::Update);
                    keys.push(Reference { at, id, target, pairs, on_delete, on_update });
                }
            }
        }
        for key in keys {
            match self.resolve(&key) {
                Ok(found) => self.catalog.tables[key.at.0 as usize].foreign_keys.push(found),
                Err(reason) => {
                    let place = self.catalog.tables[key.at.0 as usize].name.clone();
                    self.warn(place, reason);
                }
            }
        }
        Ok(())
    }

    fn resolve(&self, key: &Reference) -> Result<ForeignKey, String> {
        let wanted = &key.target;
        let target = self
            .place(wanted)
            .filter(|at| self.catalog.tables[at.0 as usize].kind == TableKind::Table)
            .ok_or_else(|| format!("a foreign key refers to table `{wanted}`, which is not there"))?;
        let missing = |table: &str, column: &str| {
            format!("a foreign key to `{wanted}` names column `{column}`, which `{table}` does not have")
        };
        let table = &self.catalog.tables[key.at.0 as usize];
        let primary = &self.primary[target.0 as usize];
        let implicit = key.pairs.iter().all(|(_, to)| to.is_none());
        if implicit && primary.len() != key.pairs.len() {
            return Err(format!(
                "a foreign key refers to the primary key of `{wanted}`, which has another width"
            ));
        }
        let mut columns = Vec::new();
        let mut target_columns = Vec::new();
        for (at, (from, to)) in key.pairs.iter().enumerate() {
            columns.push(self.column(key.at, from).ok_or_else(|| missing(&table.name, from))?);
            target_columns.push(match to {
                None => primary[at],
                Some(to) => self.column(target, to).ok_or_else(|| missing(wanted, to))?,
            });
        }
        if !self.catalog.tables[target.0 as usize].is_unique(&target_columns) {
            return Err(format!(
                "a foreign key refers to columns of `{wanted}` that are no key of it: a row may have several parents, and SQLite \
                 writes none; an `array_relationships` entry can relate them"
            ));
        }
        Ok(ForeignKey {
            name: generate_name(table, &columns, "fkey"),
            columns,
            target,
            target_columns,
            holds: true,
            enforced: false,
            deferrable: false,
            on_delete: key.on_delete,
            on_update: key.on_update,
        })
    }

    fn place(&self, name: &str) -> Option<TableId> {
        self.places.get(name.to_ascii_lowercase().as_str()).copied()
    }

    fn column(&self, at: TableId, name: &str) -> Option<ColumnId> {
        let columns = &self.catalog.tables[at.0 as usize].columns;
        let found = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))?;
        Some(ColumnId(found as u32))
    }

    fn warn(&mut self, place: String, reason: String) {
        self.warnings.push(Warning::new(place, reason));
    }
}

/// A foreign key by names.
struct Reference {
    at: TableId,
    id: i64,
    target: String,
    /// Ours, theirs. Theirs is absent where the primary key is meant.
    pairs: Vec<(String, Option<String>)>,
    on_delete: Follow,
    on_update: Follow,
}

/// Action `action` of a foreign key, where `CASCADE` is `cascade`.
fn follow(action: &str, cascade: Follow) -> Follow {
    match action {
        "CASCADE" => cascade,
        "SET NULL" | "SET DEFAULT" => Follow::Update,
        _ => Follow::Nothing,
    }
}

fn column(
    row: &Row<'_>,
    hidden: i64,
    integers: Integers,
    is_strict: bool,
) -> Result<Column, rusqlite::Error> {
    let declared = text(row, 1)?;
    let ty = column_type(&declared, integers);
    Ok(Column {
        name: text(row, 0)?,
        storage: storage(&declared, &ty, is_strict),
        ty,
        declared,
        oid: 0,
        nullable: row.get::<_, i64>(2)? == 0,
        has_default: row.get(3)?,
        generated: hidden != 0,
        insertable: true,
        updatable: true,
        derived: false,
        folds: false,
        by_prefix: false,
        is_loose: !is_strict,
        comment: String::new(),
    })
}

fn generate_name(table: &Table, columns: &[ColumnId], suffix: &str) -> String {
    let mut name = table.name.clone();
    for column in columns {
        name.push('_');
        name.push_str(&table.columns[column.0 as usize].name);
    }
    name.push('_');
    name.push_str(suffix);
    name
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Insert,
    Update,
    Delete,
}

/// Event of the `INSTEAD OF` trigger `sql`.
fn instead_of(sql: &str) -> Option<Event> {
    let mut words = Words { rest: sql };
    let mut before = "";
    while let Some(word) = words.next() {
        if before.eq_ignore_ascii_case("instead") && word.eq_ignore_ascii_case("of") {
            let event = words.next()?;
            let events = [("insert", Event::Insert), ("update", Event::Update), ("delete", Event::Delete)];
            return events.iter().find(|(name, _)| event.eq_ignore_ascii_case(name)).map(|&(_, event)| event);
        }
        before = word;
    }
    None
}

/// Iterates over the bare words of a statement, skipping quoted parts and comments.
struct Words<'s> {
    rest: &'s str,
}

impl<'s> Iterator for Words<'s> {
    type Item = &'s str;
    fn next(&mut self) -> Option<&'s str> {
        loop {
            let rest = self.rest;
            let first = rest.chars().next()?;
            let skip = |open: usize, end: &str| {
                rest[open..].find(end).map_or(rest.len(), |at| open + at + end.len())
            };
            let len = match first {
                '"' | '\'' | '`' => skip(1, &rest[..1]),
                '[' => skip(1, "]"),
                '-' if rest.starts_with("--") => skip(2, "\n"),
                '/' if rest.starts_with("/*") => skip(2, "*/"),
                c if c.is_alphanumeric() || c == '_' || c == '$' => {
                    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
                    let (word, rest) = rest.split_at(end.unwrap_or(rest.len()));
                    self.rest = rest;
                    return Some(word);
                }
                c => c.len_utf8(),
            };
            self.rest = &rest[len..];
        }
    }
}
