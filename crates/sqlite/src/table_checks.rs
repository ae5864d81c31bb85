//! Checks the tables of a file before they are served: whether statements on them can be prepared, and how wide integers are.
//!
//! **Cost:** up to five statements are prepared, and not run, for each table whose definition holds more than columns, keys and
//! references. The look at integers reads whole tables, for as long as
//! the connection's watch lets it.

use crate::introspect::plain_definitions::PlainDefinitions;
use rusqlite::{Connection, Error, Result};
use weir_relational::catalog::{Catalog, Column, ColumnType, Table, TableKind, Warning};
use weir_relational::quoting::quote_identifier;

/// Something that cannot be done with the rows of a table.
struct Refusal {
    /// `read`, `sorted`, `inserted` and the like.
    verbs: Vec<&'static str>,
    /// SQLite's words.
    cause: String,
}

/// Warnings of the tables that SQLite does not read or write: what the file needs is missing. `connection` may write: else SQLite passes
/// over what a write computes.
pub fn warn_of_refusals(connection: &Connection, catalog: &Catalog) -> Vec<Warning> {
    let warning = |table: &Table, refusal: Refusal| {
        let reason = format!("its rows cannot be {}: {}", refusal.verbs.join(", "), refusal.cause);
        Warning::new(table.name.clone(), reason)
    };
    // A definition that cannot be read is tried.
    let sound =
        PlainDefinitions::read(connection).map(|it| it.find_sound_tables(catalog)).unwrap_or_default();
    let tables = catalog.tables.iter().enumerate();
    tables
        .filter(|(at, _)| !sound.get(*at).is_some_and(|it| *it))
        .map(|(_, table)| table)
        .flat_map(|it| find_refusals(connection, it).into_iter().map(move |refusal| warning(it, refusal)))
        .collect()
}

/// Prepares the statements that plans use on `table`, and returns the ones that SQLite refuses.
fn find_refusals(connection: &Connection, table: &Table) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = Vec::new();
    for (verb, sql) in write_statements(table) {
        let Err(error) = connection.prepare(&sql) else { continue };
        let cause = take_words(error);
        match refusals.iter_mut().find(|it| it.cause == cause) {
            Some(refusal) => refusal.verbs.push(verb),
            None => refusals.push(Refusal { verbs: vec![verb], cause }),
        }
    }
    refusals
}

fn write_statements(table: &Table) -> Vec<(&'static str, String)> {
    let name = quote_identifier(&table.name);
    let columns: Vec<String> = table.columns.iter().map(|it| quote_identifier(&it.name)).collect();
    let of_alias = columns.iter().map(|it| format!("t0.{it}")).collect::<Vec<_>>().join(", ");
    let unindexed = if table.has_broken_index { " NOT INDEXED" } else { "" };
    let from = format!("SELECT {of_alias} FROM {name} AS t0{unindexed}");
    let mut statements = vec![("read", from.clone()), ("sorted", format!("{from} ORDER BY {of_alias}"))];
    let given: Vec<&str> =
        columns.iter().zip(&table.columns).filter(|it| !it.1.generated).map(|it| it.0.as_str()).collect();
    let as_table = if table.kind == TableKind::View { "" } else { " AS t0" };
    if table.insertable {
        let nulls = vec!["NULL"; given.len()].join(", ");
        let rows = if given.is_empty() {
            "DEFAULT VALUES".to_owned()
        } else {
            format!("({}) VALUES ({nulls})", given.join(", "))
        };
        statements.push(("inserted", format!("INSERT INTO {name}{as_table} {rows}")));
    }
    if table.updatable && !given.is_empty() {
        let set = given.iter().map(|it| format!("{it} = NULL")).collect::<Vec<_>>().join(", ");
        statements.push(("updated", format!("UPDATE {name}{as_table}{unindexed} SET {set}")));
    }
    if table.deletable {
        statements.push(("deleted", format!("DELETE FROM {name}{as_table}{unindexed}")));
    }
    statements
}

/// SQLite's words without the statement.
fn take_words(error: Error) -> String {
    match error {
        Error::SqlInputError { msg, .. } => msg,
        Error::SqliteFailure(_, Some(words)) => words,
        other => other.to_string(),
    }
}

/// The columns of `Int` that hold integers of more than 32 bits, as `table.column`. A table that cannot be read, or not in the time
/// that the connection's watch lets it, is passed over.
pub fn find_wide_integers(connection: &Connection, catalog: &Catalog) -> Vec<String> {
    let mut wide = Vec::new();
    for table in &catalog.tables {
        let is_int = |it: &&Column| matches!(it.ty, ColumnType::Int | ColumnType::SmallInt);
        let columns: Vec<&str> = table.columns.iter().filter(is_int).map(|it| it.name.as_str()).collect();
        for columns in columns.chunks(VALUES_MAX) {
            let found = has_wide(connection, table, columns).unwrap_or_default();
            let found = columns.iter().zip(found).filter(|it| it.1 == Some(true));
            wide.extend(found.map(|(column, _)| format!("{}.{column}", table.name)));
        }
    }
    wide
}

/// Maximum number of values computed by one statement; SQLite allows twice as many.
const VALUES_MAX: usize = 1000;

/// For each of `columns`, true if a row has an integer of more than 32 bits there; `None` for a table without rows.
fn has_wide(connection: &Connection, table: &Table, columns: &[&str]) -> Result<Vec<Option<bool>>> {
    let is_wide = |column: &&str| {
        let of = format!("t0.{}", quote_identifier(column));
        format!("max(typeof({of}) = 'integer' AND {of} NOT BETWEEN -2147483648 AND 2147483647)")
    };
    let values: Vec<String> = columns.iter().map(is_wide).collect();
    // An index may lack rows.
    let unindexed = if table.kind == TableKind::View { "" } else { " NOT INDEXED" };
    let sql = format!("SELECT {} FROM {} AS t0{unindexed}", values.join(", "), quote_identifier(&table.name));
    connection.prepare(&sql)?.query_row([], |row| (0..columns.len()).map(|at| row.get(at)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::introspect::{SqliteOptions, read};

    const TABLES: &str = "PRAGMA foreign_keys = on; PRAGMA writable_schema = on;
        CREATE TABLE well (id INTEGER PRIMARY KEY, n INT, doubled INT AS (n * 2), t TEXT CHECK (t <> \"\"));
        CREATE TABLE empty (id INTEGER PRIMARY KEY AUTOINCREMENT);
        CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT);
        CREATE TABLE child (id INTEGER PRIMARY KEY, code TEXT REFERENCES parent (code));
        CREATE TABLE orphan (id INTEGER PRIMARY KEY, up INT REFERENCES gone (id));
        CREATE TABLE collated (id INTEGER PRIMARY KEY, t TEXT COLLATE NOCASE);
        CREATE TABLE checked (t TEXT);
        CREATE TRIGGER checked_in AFTER INSERT ON checked WHEN new.t REGEXP 'a' BEGIN SELECT 1; END;
        CREATE VIEW door AS SELECT id, t FROM well;
        CREATE TRIGGER door_to INSTEAD OF UPDATE ON door BEGIN UPDATE well SET t = shape(new.t) WHERE id = old.id; END;
        CREATE TRIGGER door_out INSTEAD OF DELETE ON door BEGIN DELETE FROM well WHERE id = old.id AND t <> \"\"; END;
        UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'unicase');
        PRAGMA writable_schema = reset;";

    #[test]
    fn each_table_says_what_cannot_be_done_with_it() {
        let connection = Connection::open_in_memory().unwrap();
        connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DQS_DDL, true).unwrap();
        connection.execute_batch(TABLES).unwrap();
        let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
        let warnings = warn_of_refusals(&connection, &catalog);
        let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let mismatch = "foreign key mismatch - \"child\" referencing \"parent\"";
        assert_eq!(
            told,
            [
                "`checked`: its rows cannot be inserted: no such function: REGEXP".to_owned(),
                format!("`child`: its rows cannot be inserted, updated, deleted: {mismatch}"),
                "`collated`: its rows cannot be sorted: no such collation sequence: unicase".into(),
                "`door`: its rows cannot be updated: no such function: shape".into(),
                "`orphan`: its rows cannot be inserted, updated, deleted: no such table: main.gone".into(),
                format!("`parent`: its rows cannot be updated, deleted: {mismatch}"),
            ]
        );
    }

    #[test]
    fn tables_that_are_not_tried_would_pass() {
        let more = [
            TABLES,
            "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, \"check it\" TEXT NOT NULL, UNIQUE (id, \"check it\"));
             CREATE TABLE b (a INT REFERENCES a ON UPDATE SET NULL, [c d] ANY, PRIMARY KEY (a)) STRICT, WITHOUT ROWID;
             CREATE UNIQUE INDEX i ON a (\"check it\" DESC)",
            "CREATE TABLE p (a INT, b INT, PRIMARY KEY (a, b)); CREATE TABLE c (x INT, y INT, FOREIGN KEY (y, x) REFERENCES p);
             CREATE TABLE e (x INT, FOREIGN KEY (x) REFERENCES p)",
        ];
        for (sql, count) in more.into_iter().zip([1, 2, 1]) {
            let connection = Connection::open_in_memory().unwrap();
            connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DQS_DDL, true).unwrap();
            connection.pragma_update(None, "foreign_keys", true).unwrap();
            connection.execute_batch(sql).unwrap();
            let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
            let sound = PlainDefinitions::read(&connection).unwrap().find_sound_tables(&catalog);
            let sound: Vec<&Table> =
                catalog.tables.iter().zip(sound).filter(|it| it.1).map(|it| it.0).collect();
            let names: Vec<&str> = sound.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names.len(), count, "{names:?}");
            assert!(sound.iter().all(|it| find_refusals(&connection, it).is_empty()), "{names:?}");
        }
    }

    #[test]
    fn wide_integers_are_found_whatever_else_is_stored() {
        let connection = Connection::open_in_memory().unwrap();
        let tables = "CREATE TABLE a (id INTEGER PRIMARY KEY, n INT, m SMALLINT, t TEXT, big BIGINT);
            INSERT INTO a VALUES (1, 2147483647, -2147483649, '9000000000', 9000000000), (2, -2147483648, NULL, NULL, NULL), (3, 'x', 5.5, 1, 1);
            CREATE TABLE \"b \"\"c\" (\"x y\" INTEGER); INSERT INTO \"b \"\"c\" VALUES (NULL), (2147483648);
            CREATE TABLE none (n INT); CREATE VIEW v AS SELECT m FROM a;";
        connection.execute_batch(tables).unwrap();
        let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
        assert_eq!(find_wide_integers(&connection, &catalog), ["a.m", "b \"c.x y", "v.m"]);
    }
}
