//! Tables whose definitions hold nothing that SQLite could fail to compute: columns with their types, keys and references, and no
//! expression, collation or trigger. Statements on them need no trial.
//!
//! **Invariant:** in doubt a table is not plain, and is tried.
//!
//! **Cost:** one statement, and one look at each definition.

use super::catalog_texts::text;
use super::sql_names::{find_key_list, find_names, find_token_end};
use hashbrown::{HashMap, HashSet};
use rusqlite::{Connection, Result};
use weir_relational::catalog::{Catalog, ColumnId, Table, TableKind};

/// Words of a table's definition that begin an expression or name a collation.
const WORDS: [&str; 4] = ["AS", "CHECK", "COLLATE", "GENERATED"];

/// Most columns of a plain table, far below the limits of SQLite's statements.
const COLUMNS_MAX: usize = 500;

/// Table that `AUTOINCREMENT` needs.
const SEQUENCE: &str = "CREATE TABLE sqlite_sequence(name,seq)";

/// Facts of one table's definition.
#[derive(Default)]
struct Definition {
    is_plain: bool,
    needs_sequence: bool,
    /// Tables that its references name, in lower case.
    targets: Vec<String>,
}

/// The definitions of all tables of a database, by their names in lower case.
pub(crate) struct PlainDefinitions {
    tables: HashMap<String, Definition>,
    /// Tables with an index or trigger that is not plain, in lower case.
    odd: HashSet<String>,
    has_sequence: bool,
}

impl PlainDefinitions {
    /// Reads the definitions of `connection`'s database `main`.
    /// # Errors
    /// The database cannot be read.
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let mut statement = connection.prepare("SELECT type, tbl_name, sql FROM main.sqlite_schema")?;
        let mut rows = statement.query([])?;
        let mut found = Self { tables: HashMap::new(), odd: HashSet::new(), has_sequence: false };
        while let Some(row) = rows.next()? {
            let name = text(row, 1)?.to_ascii_lowercase();
            let sql = text(row, 2)?;
            match text(row, 0)?.as_str() {
                "table" => {
                    found.has_sequence |= sql == SEQUENCE;
                    found.tables.insert(name, Definition::of(&sql));
                }
                // The index of a key has no statement; its collations are those of the columns.
                "index" if sql.is_empty() || is_plain_index(&sql) => {}
                _ => _ = found.odd.insert(name),
            }
        }
        Ok(found)
    }

    /// True if the table called `name` and its indexes hold no expression and no collation, and it has no trigger. Its references may be
    /// wrong.
    pub(crate) fn is_plain(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let is_plain = |it: &Definition| it.is_plain && (self.has_sequence || !it.needs_sequence);
        self.tables.get(&name).is_some_and(is_plain) && !self.odd.contains(&name)
    }

    /// By table of `catalog`: true if SQLite prepares every statement that reads or writes its rows. References are part of that: what is
    /// done to the rows of a table is done to those that refer to them.
    pub(crate) fn find_sound_tables(&self, catalog: &Catalog) -> Vec<bool> {
        let tables = &catalog.tables;
        if self.tables.keys().any(|it| it.trim().is_empty()) {
            // Such a name is not found in a definition.
            return vec![false; tables.len()];
        }
        let plain: Vec<bool> = tables.iter().map(|it| self.is_plain(&it.name)).collect();
        let places: HashMap<String, usize> =
            tables.iter().enumerate().map(|(at, it)| (it.name.to_ascii_lowercase(), at)).collect();
        let mut sound: Vec<bool> = tables
            .iter()
            .zip(&plain)
            .map(|(table, is_plain)| {
                let is_known = table.kind == TableKind::Table && !table.has_broken_index && !table.acts;
                let targets = table.foreign_keys.iter().all(|it| {
                    let target = &tables[it.target.0 as usize];
                    plain[it.target.0 as usize] && is_key(target, &it.target_columns)
                });
                *is_plain && is_known && targets && table.columns.len() <= COLUMNS_MAX
            })
            .collect();
        for (at, table) in tables.iter().enumerate() {
            let targets = self.targets(&table.name);
            // A reference that is not in the catalog is wrong, for its own table and for the one that it names.
            if targets.len() != table.foreign_keys.len() {
                sound[at] = false;
                targets.iter().filter_map(|it| places.get(it)).for_each(|it| sound[*it] = false);
            }
        }
        // A table that is not in the catalog may refer to one that is.
        let others = self.tables.iter().filter(|it| !places.contains_key(it.0));
        for target in others.flat_map(|it| &it.1.targets).filter_map(|it| places.get(it)) {
            sound[*target] = false;
        }
        spread_to_targets(catalog, &mut sound);
        sound
    }

    fn targets(&self, name: &str) -> &[String] {
        self.tables.get(&name.to_ascii_lowercase()).map_or(&[], |it| &it.targets)
    }
}

/// True if `columns` are those of a key, all and no other: SQLite takes no reference to more.
fn is_key(table: &Table, columns: &[ColumnId]) -> bool {
    let mut keys = table.primary_key.iter().chain(&table.unique_keys);
    keys.any(|it| it.columns.len() == columns.len() && it.columns.iter().all(|key| columns.contains(key)))
}

/// Makes the tables unsound that unsound ones refer to: a change of a row reaches those that refer to it.
fn spread_to_targets(catalog: &Catalog, sound: &mut [bool]) {
    let mut pending: Vec<usize> = (0..sound.len()).filter(|at| !sound[*at]).collect();
    while let Some(at) = pending.pop() {
        for key in &catalog.tables[at].foreign_keys {
            let target = key.target.0 as usize;
            if std::mem::replace(&mut sound[target], false) {
                pending.push(target);
            }
        }
    }
}

impl Definition {
    fn of(sql: &str) -> Self {
        let mut names = find_names(sql);
        names.retain(|it| !it.trim().is_empty());
        let has = |word: &str| names.iter().any(|it| it.eq_ignore_ascii_case(word));
        let targets = names.windows(2).filter(|it| it[0].eq_ignore_ascii_case("REFERENCES"));
        let targets: Vec<String> = targets.map(|it| it[1].to_ascii_lowercase()).collect();
        // `SET DEFAULT` of a reference computes the default of a column.
        let sets_default = has("SET") && has("DEFAULT");
        // SQLite folds the case of ASCII letters alone.
        let is_plain = sql.is_ascii() && !WORDS.iter().any(|it| has(it)) && !sets_default;
        Self { is_plain, needs_sequence: has("AUTOINCREMENT"), targets }
    }
}

/// True if `sql`, a CREATE INDEX, lists columns and says at most in which direction.
pub(crate) fn is_plain_index(sql: &str) -> bool {
    let (open, close) = find_key_list(sql);
    let ends_there = sql[close..].trim().is_empty();
    if !sql.is_ascii() || !ends_there || open + 1 >= close {
        return false;
    }
    sql[open + 1..close - 1].split(',').all(is_plain_key)
}

/// True if `key` is the name of a column, with or without a direction.
fn is_plain_key(key: &str) -> bool {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < key.len() {
        let end = find_token_end(key, at);
        let token = key[at..end].trim();
        if !token.is_empty() {
            tokens.push(token);
        }
        at = end;
    }
    let is_name = |it: &str| {
        let quotes = [('"', '"'), ('`', '`'), ('[', ']')];
        let inner = quotes.iter().find_map(|(open, close)| it.strip_prefix(*open)?.strip_suffix(*close));
        inner.is_some_and(|it| !it.contains(['"', '`', '[', ']']))
            || it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    let is_direction = |it: &str| it.eq_ignore_ascii_case("ASC") || it.eq_ignore_ascii_case("DESC");
    match tokens.as_slice() {
        [name] => is_name(name),
        [name, direction] => is_name(name) && is_direction(direction),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::introspect::{SqliteOptions, read};

    /// Tables of `sql` that are sound.
    fn check(sql: &str, expected: &[&str]) {
        let connection = Connection::open_in_memory().unwrap();
        connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DQS_DDL, true).unwrap();
        connection.execute_batch(sql).unwrap();
        let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
        let sound = PlainDefinitions::read(&connection).unwrap().find_sound_tables(&catalog);
        let names = catalog.tables.iter().zip(sound).filter(|it| it.1).map(|it| it.0.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), expected, "{sql}");
    }

    #[test]
    fn columns_keys_and_references_need_no_trial() {
        check(
            "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, \"check it\" TEXT NOT NULL DEFAULT (lower('X')), UNIQUE (id, \"check it\"));
             CREATE TABLE b (a INT REFERENCES \"a\" ON DELETE CASCADE, [c] TEXT, FOREIGN KEY (a) REFERENCES a (id));
             CREATE INDEX \"b (a)\" ON b (a DESC, \"c\");",
            &["a", "b"],
        );
    }

    #[test]
    fn what_is_computed_is_tried() {
        for odd in [
            "CREATE TABLE o (id INT CHECK (id > 0))",
            "CREATE TABLE o (id INT, d INT AS (id + 1))",
            "CREATE TABLE o (id TEXT COLLATE NOCASE)",
            "CREATE TABLE o (\u{e9} INT)",
            "CREATE TABLE o (id INT); CREATE INDEX i ON o (id COLLATE NOCASE)",
            "CREATE TABLE o (id INT); CREATE INDEX i ON o (id + 1)",
            "CREATE TABLE o (id INT); CREATE INDEX i ON o (abs(id), id)",
            "CREATE TABLE o (id INT); CREATE INDEX i ON o (id) WHERE id > 1",
            "CREATE TABLE o (id INT); CREATE INDEX i ON o ('id')",
            "CREATE TABLE o (id INT); CREATE INDEX i ON o (\"a,\"||abs(id))",
            "CREATE TABLE o (id INT); CREATE TRIGGER t AFTER INSERT ON o BEGIN SELECT 1; END",
            "CREATE TABLE a (id INT PRIMARY KEY); CREATE VIEW o AS SELECT id FROM a; DROP TABLE a; CREATE TABLE plain (id INT)",
        ] {
            let sound: &[&str] = if odd.contains("plain") { &["plain"] } else { &[] };
            check(odd, sound);
        }
    }

    #[test]
    fn a_name_of_blanks_is_not_looked_for() {
        check("CREATE TABLE a (id INT); CREATE TABLE \" \" (id INT)", &[]);
    }

    #[test]
    fn a_table_is_tried_with_those_that_refer_to_it() {
        let tables = "CREATE TABLE a (id INTEGER PRIMARY KEY, up INT REFERENCES a (id));
            CREATE TABLE b (id INTEGER PRIMARY KEY, a INT REFERENCES a (id));
            CREATE TABLE alone (id INTEGER PRIMARY KEY);";
        check(&format!("{tables} CREATE TABLE c (b INT REFERENCES b (id))"), &["a", "alone", "b", "c"]);
        // The change of a row of `a` reaches `b`, and from there `c`.
        check(&format!("{tables} CREATE TABLE c (b INT REFERENCES b (id), n INT CHECK (n > 0))"), &["alone"]);
        // A table that refers to one that is tried itself has the index of that one to find.
        let odd = "CREATE TABLE c (id INTEGER PRIMARY KEY, t TEXT COLLATE NOCASE)";
        check(&format!("{tables} {odd}; CREATE TABLE d (c INT REFERENCES c (id))"), &["a", "alone", "b"]);
        // References that are wrong.
        check(&format!("{tables} CREATE TABLE c (b INT REFERENCES gone (id))"), &["a", "alone", "b"]);
        check(&format!("{tables} CREATE TABLE c (b INT REFERENCES b (a))"), &["alone"]);
        let more_than_a_key = "CREATE TABLE c (x INT, y INT, FOREIGN KEY (x, y) REFERENCES b (a, id))";
        check(&format!("{tables} {more_than_a_key}"), &["alone"]);
    }
}
