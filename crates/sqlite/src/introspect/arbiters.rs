//! Keys that an upsert may name: the primary key, unique constraints, and unique indexes of some rows, over expressions or of another
//! collation.
//!
//! `ON CONFLICT (e)` names any unique index over the column `e`, whatever its collation; of several SQLite takes the youngest. So where
//! a table has several over the same columns, each is named with its collations. A key has the collations of its columns; an index of
//! others has its own name.
//!
//! **Cost:** three statements for each table with a unique index.

use crate::introspect::catalog_texts::text;
use crate::introspect::sql_names::{find_key_list, find_names};
use rusqlite::{Connection, Result};
use weir_relational::catalog::{Arbiter, ColumnId, ConflictTarget, Table};
use weir_relational::quoting::quote_identifier;

struct UniqueIndex {
    name: String,
    /// Text of the `CREATE INDEX` statement; empty for a constraint, which has none.
    sql: String,
    is_partial: bool,
    /// Columns, none for an expression, and their collations.
    keys: Vec<(Option<ColumnId>, String)>,
}

const KEYS: &str = "SELECT l.name, s.sql, l.partial, x.name, x.coll \
    FROM pragma_index_list(?1, 'main') l JOIN pragma_index_xinfo(l.name, 'main') x \
    LEFT JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = l.name \
    WHERE l.\"unique\" AND x.key ORDER BY l.seq DESC, x.seqno";

/// Lets upserts name the keys of `table`.
pub(crate) fn offer_keys(connection: &Connection, table: &mut Table) -> Result<()> {
    table.offer_all_keys();
    let indexes = read_unique_indexes(connection, table)?;
    if indexes.is_empty() {
        return Ok(());
    }
    let own: Vec<String> =
        table.columns.iter().map(|it| find_collation(connection, table, &it.name)).collect();
    let has_own = |it: &UniqueIndex| {
        let is_own = |(column, collation): &(Option<ColumnId>, String)| {
            column.is_some_and(|it| own[it.0 as usize].eq_ignore_ascii_case(collation))
        };
        !it.is_partial && it.keys.iter().all(is_own)
    };
    let mut arbiters = std::mem::take(&mut table.arbiters);
    arbiters.retain_mut(|arbiter| {
        let covering: Vec<&UniqueIndex> = indexes.iter().filter(|it| it.is_over(&arbiter.columns)).collect();
        match covering.iter().find(|it| has_own(it)) {
            Some(it) if covering.len() > 1 => arbiter.target = ConflictTarget::Index(it.target(table)),
            Some(_) => {}
            // The primary key of most tables is no index.
            None => return covering.is_empty(),
        }
        true
    });
    for index in indexes.iter().filter(|it| !has_own(it)) {
        let target = ConflictTarget::Index(index.target(table));
        arbiters.push(Arbiter { name: index.name.clone(), columns: index.columns(table), target });
    }
    table.arbiters = arbiters;
    Ok(())
}

fn read_unique_indexes(connection: &Connection, table: &Table) -> Result<Vec<UniqueIndex>> {
    let mut statement = connection.prepare_cached(KEYS)?;
    let mut rows = statement.query([&table.name])?;
    let mut indexes: Vec<UniqueIndex> = Vec::new();
    while let Some(row) = rows.next()? {
        // An expression has no name, and no column either.
        let name = text(row, 0)?;
        let column = text(row, 3)?;
        let at = table.columns.iter().position(|it| it.name.eq_ignore_ascii_case(&column));
        let key = (at.map(|at| ColumnId(at as u32)), text(row, 4)?);
        match indexes.last_mut() {
            Some(index) if index.name == name => index.keys.push(key),
            _ => {
                let sql = text(row, 1)?;
                let is_partial = row.get(2)?;
                indexes.push(UniqueIndex { name, sql, is_partial, keys: vec![key] });
            }
        }
    }
    Ok(indexes)
}

/// The collation of a column, in which its values are compared.
fn find_collation(connection: &Connection, table: &Table, column: &str) -> String {
    let found = connection.column_metadata(Some("main"), table.name.as_str(), column);
    let name = found.ok().and_then(|it| it.1).and_then(|it| it.to_str().ok());
    name.unwrap_or("BINARY").to_owned()
}

impl UniqueIndex {
    /// True for all rows and these columns, in any order: `ON CONFLICT` with them may mean it.
    fn is_over(&self, columns: &[ColumnId]) -> bool {
        let has = |it: &ColumnId| self.keys.iter().any(|key| key.0 == Some(*it));
        !self.is_partial && self.keys.len() == columns.len() && columns.iter().all(has)
    }

    /// The text that names this index alone.
    fn target(&self, table: &Table) -> String {
        let sql = self.sql.as_str();
        let (open, close) = find_key_list(sql);
        let plain: Option<Vec<String>> = self
            .keys
            .iter()
            .map(|(column, collation)| {
                let name = quote_identifier(&table.column((*column)?).name);
                Some(format!("{name} COLLATE {}", quote_identifier(collation)))
            })
            .collect();
        match plain {
            Some(keys) if self.is_partial => format!("({}){}", keys.join(", "), &sql[close..]),
            Some(keys) => format!("({})", keys.join(", ")),
            None => sql[open..].to_owned(),
        }
    }

    /// Columns of the index. For expressions and conditions, all columns that they name.
    fn columns(&self, table: &Table) -> Vec<ColumnId> {
        let plain: Option<Vec<ColumnId>> = self.keys.iter().map(|it| it.0).collect();
        if let Some(columns) = plain.filter(|_| !self.is_partial) {
            return columns;
        }
        let named = find_names(&self.sql[find_key_list(&self.sql).0..]);
        let is_named = |name: &str| named.iter().any(|it| it.eq_ignore_ascii_case(name));
        let columns = table.columns.iter().enumerate().filter(|it| is_named(&it.1.name));
        columns.map(|(at, _)| ColumnId(at as u32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::introspect::{SqliteOptions, read};

    /// The keys of the table `u` that an upsert may name, each with its columns and its text.
    fn check(sql: &str, expected: &[(&str, &str, &str)]) {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
        let table = catalog.table(catalog.find("", "u").unwrap());
        let names = |it: &Arbiter| {
            it.columns.iter().map(|it| table.column(*it).name.as_str()).collect::<Vec<_>>().join(" ")
        };
        let text = |it: &Arbiter| match &it.target {
            ConflictTarget::Columns | ConflictTarget::Constraint => String::new(),
            ConflictTarget::Index(text) => text.clone(),
        };
        let found: Vec<_> = table.arbiters.iter().map(|it| (it.name.clone(), names(it), text(it))).collect();
        let expected: Vec<_> =
            expected.iter().map(|it| (it.0.to_owned(), it.1.to_owned(), it.2.to_owned())).collect();
        assert_eq!(found, expected, "{sql}");
    }

    #[test]
    fn keys_are_named_by_their_columns() {
        check(
            "CREATE TABLE u (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT COLLATE NOCASE, c INT, UNIQUE (b, c))",
            &[("u_pkey", "id", ""), ("u_a_key", "a", ""), ("u_b_c_key", "b c", "")],
        );
        check("CREATE TABLE u (a TEXT PRIMARY KEY, b INT) WITHOUT ROWID", &[("u_pkey", "a", "")]);
    }

    #[test]
    fn the_key_of_a_table_without_rowids_has_an_index() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE u (y TEXT, x TEXT, PRIMARY KEY (x, y)) WITHOUT ROWID")
            .unwrap();
        let (catalog, _) = read(&connection, SqliteOptions::default()).unwrap();
        assert!(catalog.tables[0].columns.iter().all(|it| !it.has_default && !it.nullable));
    }

    #[test]
    fn an_index_of_another_collation_is_another_key() {
        let binary = "CREATE UNIQUE INDEX u_binary ON u (e)";
        let folded = "CREATE UNIQUE INDEX u_folded ON u (e COLLATE NOCASE)";
        let of_binary = ("u_e_key", "e", "(\"e\" COLLATE \"BINARY\")");
        let of_folded = ("u_folded", "e", "(\"e\" COLLATE \"NOCASE\")");
        let table = "CREATE TABLE u (id INTEGER PRIMARY KEY, e TEXT)";
        for indexes in [[binary, folded], [folded, binary]] {
            check(&format!("{table}; {}", indexes.join(";")), &[("u_pkey", "id", ""), of_binary, of_folded]);
        }
        check(&format!("{table}; {folded}"), &[("u_pkey", "id", ""), of_folded]);
        check(&format!("{table}; {binary}"), &[("u_pkey", "id", ""), ("u_e_key", "e", "")]);
    }

    #[test]
    fn indexes_of_expressions_and_of_some_rows_have_their_own_names() {
        check(
            "CREATE TABLE u (id INTEGER PRIMARY KEY, e TEXT, \"f g\" TEXT, z INT, h TEXT);
             CREATE UNIQUE INDEX \"folded (e)\" ON u (lower(e) DESC, z);
             CREATE UNIQUE INDEX living ON u (e) /* e(h) */ WHERE z IS NULL AND [f g] <> 'x('')';
             CREATE UNIQUE INDEX both ON \"u\"(e || 'h', \"f g\") WHERE \"z\" > 5",
            &[
                ("u_pkey", "id", ""),
                ("folded (e)", "e z", "(lower(e) DESC, z)"),
                (
                    "living",
                    "e f g z",
                    "(\"e\" COLLATE \"BINARY\") /* e(h) */ WHERE z IS NULL AND [f g] <> 'x('')'",
                ),
                ("both", "e f g z h", "(e || 'h', \"f g\") WHERE \"z\" > 5"),
            ],
        );
    }
}
