//! A store in SQLite. Indexes of words and boxes are virtual tables, which triggers keep up to date whoever writes.

use super::{Extension, Reserve, SideIndex, StoreDialect};
use crate::catalog::ColumnType;
use crate::dialect::sqlite::Sqlite;
use crate::plan::ddl::{ColumnSource, Index, IndexKind, Numbers, TableDefinition};
use crate::quoting::{all, literal, quote_identifier};

/// The columns of an index of boxes, after `id`: least and greatest longitude, least and greatest latitude.
const BOX_COLUMNS: [&str; 4] = ["west", "east", "south", "north"];

/// Events that an index's triggers are for.
const TRIGGERS: [&str; 3] = ["insert", "delete", "update"];

/// The tokenizer of words: letters, digits, and the marks on them.
const WORDS: &str = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'";

/// Pages that are cached during a load, in KiB.
const CACHE_KIB: i64 = 256 << 10;

impl StoreDialect for Sqlite {
    fn schema(&self) -> &'static str {
        "main"
    }

    fn session_schema(&self) -> Option<&'static str> {
        None
    }

    fn type_declaration(&self, ty: &ColumnType) -> (&'static str, u32) {
        let name = match ty {
            ColumnType::Int | ColumnType::BigInt | ColumnType::Boolean => "INTEGER",
            ColumnType::Double => "REAL",
            _ => "TEXT",
        };
        (name, 0)
    }

    fn tree_bytes_max(&self) -> Option<usize> {
        None
    }

    fn enforces_references(&self) -> bool {
        false
    }

    fn booleans_are_numbers(&self) -> bool {
        true
    }

    fn table_end(&self, table: &TableDefinition) -> &'static str {
        if table.key.is_empty() { " STRICT" } else { " STRICT, WITHOUT ROWID" }
    }

    fn refers_inline(&self) -> bool {
        true
    }

    fn column_source(&self, _source: &ColumnSource) -> String {
        String::new()
    }

    fn drop_end(&self) -> &'static str {
        ""
    }

    fn create_index(&self, index: &Index, _beside: bool) -> Vec<String> {
        let name = quote_identifier(&index.name);
        let table_name = quote_identifier(&index.table);
        let cells = all(&index.columns);
        let words = |tokenizer: &str| {
            let tokenizer = literal(tokenizer);
            let made = format!(
                "CREATE VIRTUAL TABLE {name} USING fts5({cells}, content='', contentless_delete=1, tokenize={tokenizer})"
            );
            with_triggers(made, index)
        };
        match index.kind {
            // Texts of any length are equal in a tree.
            IndexKind::Tree | IndexKind::Prefix => {
                vec![format!("CREATE INDEX {name} ON {table_name} ({cells})")]
            }
            IndexKind::Unique => vec![format!("CREATE UNIQUE INDEX {name} ON {table_name} ({cells})")],
            IndexKind::Terms => words(WORDS),
            IndexKind::Fulltext => words(&format!("porter {WORDS}")),
            IndexKind::Trigrams => words("trigram case_sensitive 1"),
            IndexKind::Boxes => {
                let columns = BOX_COLUMNS.join(", ");
                with_triggers(format!("CREATE VIRTUAL TABLE {name} USING rtree(id, {columns})"), index)
            }
        }
    }

    fn drop_index(&self, index: &Index) -> Vec<String> {
        let name = quote_identifier(&index.name);
        if !self.index_is_table(index.kind) {
            return vec![format!("DROP INDEX IF EXISTS {name}")];
        }
        let triggers = TRIGGERS.iter().map(|it| format!("DROP TRIGGER IF EXISTS {}", trigger(index, it)));
        triggers.chain([format!("DROP TABLE {name}")]).collect()
    }

    fn index_is_table(&self, kind: IndexKind) -> bool {
        match kind {
            IndexKind::Tree | IndexKind::Prefix | IndexKind::Unique => false,
            IndexKind::Terms | IndexKind::Fulltext | IndexKind::Trigrams | IndexKind::Boxes => true,
        }
    }

    fn fill_index(&self, index: &Index) -> Option<String> {
        let key = row_key(index);
        let first = quote_identifier(&index.columns[0]);
        self.index_is_table(index.kind).then(|| {
            format!(
                "INSERT OR REPLACE INTO {} ({}) SELECT {key}, {} FROM (SELECT * FROM {} WHERE {key} > $1 ORDER BY {key} \
                 LIMIT $2) WHERE {first} IS NOT NULL",
                quote_identifier(&index.name),
                index_columns(index),
                folded_cells(index),
                quote_identifier(&index.table),
            )
        })
    }

    fn refill_index(&self, index: &Index, owner: &str) -> Option<String> {
        let key = row_key(index);
        let first = quote_identifier(&index.columns[0]);
        has_words(index).then(|| {
            format!(
                "INSERT OR REPLACE INTO {} ({}) SELECT {key}, {} FROM {} WHERE {} IN (SELECT value FROM json_each($1)) \
                 AND {first} GLOB '*[^ -~]*'",
                quote_identifier(&index.name),
                index_columns(index),
                folded_cells(index),
                quote_identifier(&index.table),
                quote_identifier(owner),
            )
        })
    }

    fn side_index(&self, index: &Index) -> Option<SideIndex> {
        if !self.index_is_table(index.kind) {
            return None;
        }
        let name = quote_identifier(&index.name);
        let table_name = quote_identifier(&index.table);
        let key = row_key(index);
        let first = quote_identifier(&index.columns[0]);
        let is_box = index.kind == IndexKind::Boxes;
        let width = if is_box { BOX_COLUMNS.len() } else { 1 };
        let marks = vec!["?"; width + 1].join(", ");
        let cells = folded_cells(index);
        let put =
            |verb: &str| format!("{verb} INTO {name} ({}) VALUES ({marks})", index_columns(index)).into();
        Some(SideIndex {
            name: index.name.as_str().into(),
            table: index.table.as_str().into(),
            read: format!("SELECT {cells} FROM {table_name} WHERE {key} = ?1 AND {first} IS NOT NULL").into(),
            width,
            // Boxes look for the number anyway.
            add: put(if is_box { "INSERT OR REPLACE" } else { "INSERT" }),
            put: put("INSERT OR REPLACE"),
            remove: format!("DELETE FROM {name} WHERE {} = ?1", key_name(index)).into(),
        })
    }

    fn word_abilities(&self) -> Option<&'static str> {
        None
    }

    fn extension(&self, _kind: IndexKind) -> Option<Extension> {
        None
    }

    fn continue_identity(&self, _table: &str, _column: &str) -> Option<String> {
        None
    }

    fn check_references(&self, table: &str) -> Option<String> {
        Some(format!("PRAGMA foreign_key_check({})", quote_identifier(table)))
    }

    fn suspend_references(&self) -> Option<[&'static str; 2]> {
        Some(["PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys = ON"])
    }

    fn create_numbers(&self, _numbers: &Numbers) -> Option<String> {
        None
    }

    /// Two statements, because a single one would need a temporary table for its rows.
    fn reserve(&self, numbers: &Numbers) -> Vec<Reserve> {
        let Numbers { table, column, .. } = numbers;
        let next = Reserve { sql: format!("SELECT {column} FROM {table}"), width: 1, binds_count: false };
        let taken = format!("UPDATE {table} SET {column} = {column} + $1");
        vec![next, Reserve { sql: taken, width: 0, binds_count: true }]
    }

    fn advance(&self, numbers: &Numbers) -> String {
        let Numbers { table, column, .. } = numbers;
        format!("UPDATE {table} SET {column} = max({column}, $1 + 1)")
    }

    fn now(&self) -> &'static str {
        "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
    }

    fn now_micros(&self) -> &'static str {
        "unixepoch('now') * 1000000"
    }

    fn float_text(&self, cell: &str) -> String {
        format!("weir_float_text({cell})")
    }

    fn boolean_text(&self, cell: &str) -> String {
        format!("CASE {cell} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END")
    }

    fn json_list(&self, value: &str, rows: &str, order: &str) -> String {
        format!("(SELECT json_group_array(v) FROM (SELECT {value} AS v FROM {rows} ORDER BY {order}))")
    }

    fn has_table(&self) -> &'static str {
        "SELECT count(*) FROM sqlite_schema WHERE name = $1"
    }

    fn any_table(&self) -> &'static str {
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 1"
    }

    /// Servers look at it before they write.
    fn announce_version(&self, number: i64) -> Option<String> {
        Some(format!("PRAGMA user_version = {number}"))
    }

    fn begin_reading(&self) -> &'static str {
        "BEGIN"
    }

    fn before_load(&self) -> Vec<String> {
        vec![
            // A load checks references itself.
            "PRAGMA foreign_keys = OFF".to_owned(),
            // A power cut may undo the last parcels, but with their marks, so the rest is consistent.
            "PRAGMA synchronous = NORMAL".into(),
            format!("PRAGMA cache_size = -{CACHE_KIB}"),
            "PRAGMA wal_autocheckpoint = 16384".into(),
        ]
    }

    fn backup_hint(&self) -> &'static str {
        "copy the file"
    }

    fn after_load(&self, _tables: &[&str]) -> Vec<String> {
        vec!["PRAGMA wal_checkpoint(TRUNCATE)".to_owned()]
    }
}

fn trigger(index: &Index, on: &str) -> String {
    quote_identifier(&format!("{}_{on}", index.name))
}

/// The column by which a separate index knows a row of its table.
fn row_key(index: &Index) -> String {
    index.key.as_deref().map_or_else(|| "rowid".into(), quote_identifier)
}

/// The column by which a separate index knows a row.
fn key_name(index: &Index) -> &'static str {
    if index.kind == IndexKind::Boxes { "id" } else { "rowid" }
}

/// The values that an index holds of a row, each column behind `prefix`.
fn cells(index: &Index, prefix: &str) -> String {
    let name = |at: usize| format!("{prefix}{}", quote_identifier(&index.columns[at]));
    match (index.kind == IndexKind::Boxes, index.columns.len()) {
        (true, 2) => [name(0), name(0), name(1), name(1)].join(", "),
        // The layout has the least of both before the greatest of both.
        (true, _) => [name(0), name(2), name(1), name(3)].join(", "),
        (false, _) => name(0),
    }
}

/// True if an index holds words.
fn has_words(index: &Index) -> bool {
    matches!(index.kind, IndexKind::Terms | IndexKind::Fulltext)
}

/// The values that the server puts into an index: words in the form in which they are compared. Triggers have no function for it,
/// because any program may write.
fn folded_cells(index: &Index) -> String {
    let cells = cells(index, "");
    if has_words(index) { format!("weir_words({cells})") } else { cells }
}

/// The columns of an index of words or boxes, its key first.
fn index_columns(index: &Index) -> String {
    if index.kind == IndexKind::Boxes {
        format!("id, {}", BOX_COLUMNS.join(", "))
    } else {
        format!("rowid, {}", quote_identifier(&index.columns[0]))
    }
}

fn with_triggers(made: String, index: &Index) -> Vec<String> {
    let name = quote_identifier(&index.name);
    let table_name = quote_identifier(&index.table);
    let key = row_key(index);
    let first = quote_identifier(&index.columns[0]);
    let columns = index_columns(index);
    let put = format!("INSERT OR REPLACE INTO {name} ({columns}) SELECT new.{key}, {}", cells(index, "new."));
    let remove = format!("DELETE FROM {name} WHERE {} = old.{key}", key_name(index));
    let changed = all(&index.columns);
    vec![
        made,
        format!(
            "CREATE TRIGGER {} AFTER INSERT ON {table_name} WHEN new.{first} IS NOT NULL BEGIN {put}; END",
            trigger(index, "insert")
        ),
        format!(
            "CREATE TRIGGER {} AFTER DELETE ON {table_name} WHEN old.{first} IS NOT NULL BEGIN {remove}; END",
            trigger(index, "delete")
        ),
        format!(
            "CREATE TRIGGER {} AFTER UPDATE OF {changed} ON {table_name} BEGIN {remove}; {put} WHERE new.{first} IS NOT NULL; END",
            trigger(index, "update")
        ),
    ]
}
