//! The catalog of SQLite databases: everyday ones, odd ones, broken ones.

use rusqlite::Connection;
use weir_relational::catalog::{Catalog, ColumnType, Table, UniqueKey};
use weir_relational::dialect::sqlite_type::Integers;
use weir_sqlite::introspect::{SqliteOptions, read};

fn catalog(sql: &str) -> (Catalog, Vec<String>) {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    let (catalog, warnings) = read(&connection, SqliteOptions::default()).unwrap();
    (catalog, warnings.iter().map(ToString::to_string).collect())
}

fn names(table: &Table, key: &UniqueKey) -> String {
    let columns: Vec<&str> = key.columns.iter().map(|&column| table.column(column).name.as_str()).collect();
    format!("{}({})", key.name, columns.join(","))
}

/// One line per table and column, one per key.
fn written(catalog: &Catalog) -> String {
    let mut out = String::new();
    for table in &catalog.tables {
        let can = [(table.insertable, " insert"), (table.updatable, " update"), (table.deletable, " delete")];
        let can: String = can.iter().filter(|(can, _)| *can).map(|(_, word)| *word).collect();
        out.push_str(&format!("{:?} {}{can}\n", table.kind, table.name));
        for column in &table.columns {
            let marks = [
                (!column.nullable, " not null"),
                (column.has_default, " default"),
                (column.generated, " generated"),
            ];
            let marks: String = marks.iter().filter(|(mark, _)| *mark).map(|(_, word)| *word).collect();
            out.push_str(&format!("  {} {:?}{marks}\n", column.name, column.ty));
        }
        for key in table.primary_key.iter().chain(&table.unique_keys) {
            out.push_str(&format!("  {}\n", names(table, key)));
        }
        for key in &table.foreign_keys {
            let target = &catalog.tables[key.target.0 as usize];
            let pairs: Vec<String> = std::iter::zip(&key.columns, &key.target_columns)
                .map(|(&ours, &theirs)| format!("{}={}", table.column(ours).name, target.column(theirs).name))
                .collect();
            out.push_str(&format!("  {} {} {}\n", key.name, target.name, pairs.join(",")));
        }
    }
    out
}

fn check(sql: &str, expected: &str, expected_warnings: &[&str]) {
    let (catalog, warnings) = catalog(sql);
    let expected: Vec<&str> = expected.lines().map(|line| line.trim_end()).collect();
    assert_eq!(written(&catalog).trim_end(), expected.join("\n").trim(), "{sql}");
    assert_eq!(warnings, expected_warnings, "{sql}");
}

#[test]
fn an_integer_primary_key_is_filled_and_never_null() {
    check(
        "CREATE TABLE a(id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', flag BOOLEAN);",
        "Table a insert update delete\n  id Int not null default\n  name Text not null default\n  flag Boolean\n  \
         a_pkey(id)",
        &[],
    );
}

#[test]
fn other_primary_keys_are_what_they_are_declared() {
    check(
        "CREATE TABLE a(id INT PRIMARY KEY); CREATE TABLE b(y TEXT, x TEXT, PRIMARY KEY(x, y)) WITHOUT ROWID;
         CREATE TABLE c(x INTEGER);",
        "Table a insert update delete\n  id Int\n  a_pkey(id)\nTable b insert update delete\n  y Text not null\n  \
         x Text not null\n  b_pkey(x,y)\nTable c insert update delete\n  x Int",
        &[],
    );
}

#[test]
fn unique_indexes_count_unless_partial_or_over_expressions() {
    check(
        "CREATE TABLE a(x INTEGER UNIQUE, y TEXT, z TEXT, UNIQUE(y, x));
         CREATE UNIQUE INDEX one ON a(z COLLATE NOCASE); CREATE UNIQUE INDEX two ON a(lower(y));
         CREATE UNIQUE INDEX three ON a(x, z) WHERE x > 1; CREATE INDEX four ON a(z, x);
         CREATE UNIQUE INDEX five ON a(x, lower(z));",
        "Table a insert update delete\n  x Int\n  y Text\n  z Text\n  a_x_key(x)\n  a_y_x_key(y,x)\n  a_z_key(z)",
        &[],
    );
}

#[test]
fn foreign_keys_are_composite_implicit_and_blind_to_case() {
    check(
        "CREATE TABLE a(x INTEGER, y INTEGER, PRIMARY KEY(x, y));
         CREATE TABLE b(p INTEGER, q INTEGER, parent INTEGER REFERENCES b(ROW), row INTEGER PRIMARY KEY,
           FOREIGN KEY(q, p) REFERENCES A, FOREIGN KEY(p, q) REFERENCES a(X, y));",
        "Table a insert update delete\n  x Int\n  y Int\n  a_pkey(x,y)\nTable b insert update delete\n  p Int\n  \
         q Int\n  parent Int\n  row Int not null default\n  b_pkey(row)\n  b_parent_fkey b parent=row\n  \
         b_q_p_fkey a q=x,p=y\n  b_p_q_fkey a p=x,q=y",
        &[],
    );
}

#[test]
fn broken_foreign_keys_are_left_out_with_the_reason() {
    check(
        "CREATE TABLE a(x INTEGER REFERENCES gone(id), y INTEGER REFERENCES b(gone), z INTEGER REFERENCES b);
         CREATE TABLE b(x INTEGER, y INTEGER, PRIMARY KEY(x, y));",
        "Table a insert update delete\n  x Int\n  y Int\n  z Int\nTable b insert update delete\n  x Int\n  y Int\n  \
         b_pkey(x,y)",
        &[
            "`a`: a foreign key refers to table `gone`, which is not there",
            "`a`: a foreign key to `b` names column `gone`, which `b` does not have",
            "`a`: a foreign key refers to the primary key of `b`, which has another width",
        ],
    );
}

#[test]
fn a_view_is_written_as_far_as_triggers_say_how() {
    check(
        "CREATE TABLE a(x INTEGER, t DATETIME);
         CREATE VIEW plain AS SELECT x, t, x + 1 AS y FROM a;
         CREATE VIEW rich AS SELECT x FROM a;
         CREATE TRIGGER \"instead of delete\" /* instead of delete */ INSTEAD OF INSERT ON rich
           BEGIN INSERT INTO a(x) VALUES (new.x); END;
         CREATE TRIGGER instead instead OF update OF x ON rich BEGIN SELECT 1; END;",
        "Table a insert update delete\n  x Int\n  t Timestamp\nView plain\n  x Int\n  t Timestamp\n  y Text\n\
         View rich insert update\n  x Int",
        &[],
    );
}

#[test]
fn internal_virtual_and_broken_things_are_left_out() {
    let connection = "CREATE TABLE a(x INTEGER PRIMARY KEY AUTOINCREMENT); CREATE VIRTUAL TABLE f USING fts5(body);
        CREATE TABLE b(x INTEGER); CREATE VIEW v AS SELECT x FROM b; DROP TABLE b; CREATE TABLE sqliteish(x INTEGER);";
    check(
        connection,
        "Table a insert update delete\n  x Int not null default\n  a_pkey(x)\nTable sqliteish insert update delete\n  \
         x Int",
        &["`f`: virtual tables are not served", "`v`: its columns cannot be read: no such table: main.b"],
    );
}

#[test]
fn generated_columns_are_known() {
    check(
        "CREATE TABLE a(x INTEGER, y INTEGER GENERATED ALWAYS AS (x * 2) STORED, z INTEGER AS (x + 1));",
        "Table a insert update delete\n  x Int\n  y Int generated\n  z Int generated",
        &[],
    );
}

#[test]
fn odd_names_survive() {
    let long = "l".repeat(70);
    check(
        &format!(
            "CREATE TABLE \"it's \"\"odd\"\"\"(\"select\" INTEGER PRIMARY KEY, \"🎵\" TEXT UNIQUE, \"1st\" {long});
             CREATE TABLE {long}(\"a b\" INTEGER REFERENCES \"it's \"\"odd\"\"\");"
        ),
        &format!(
            "Table it's \"odd\" insert update delete\n  select Int not null default\n  🎵 Text\n  \
             1st Other(\"{long}\")\n  it's \"odd\"_pkey(select)\n  it's \"odd\"_🎵_key(🎵)\n\
             Table {long} insert update delete\n  a b Int\n  {long}_a b_fkey it's \"odd\" a b=select"
        ),
        &[],
    );
}

#[test]
fn integers_widen_on_demand() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE a(x INTEGER, y SMALLINT, z TEXT)").unwrap();
    let (catalog, _) = read(&connection, SqliteOptions { integers: Integers::BigInt }).unwrap();
    let types: Vec<&ColumnType> = catalog.tables[0].columns.iter().map(|column| &column.ty).collect();
    assert_eq!(types, [&ColumnType::BigInt, &ColumnType::BigInt, &ColumnType::Text]);
}

#[test]
fn chinook_is_read_whole() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(include_str!("../../../../examples/chinook/chinook.sql")).unwrap();
    let (catalog, warnings) = read(&connection, SqliteOptions::default()).unwrap();
    assert_eq!(warnings, []);
    let names: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Album",
            "Artist",
            "Customer",
            "Employee",
            "Genre",
            "Invoice",
            "InvoiceLine",
            "MediaType",
            "Playlist",
            "PlaylistTrack",
            "Track"
        ]
    );
    assert_eq!(catalog.tables.iter().map(|table| table.foreign_keys.len()).sum::<usize>(), 11);
    assert_eq!(catalog.table(catalog.find("main", "Track").unwrap()).columns[8].ty, ColumnType::Numeric);
}
