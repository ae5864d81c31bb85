//! Files with the traits of real programs: every table is asked everything, and compared with plain SQL. A table that cannot be read or
//! served takes nothing else away.

use crate::kit::{Served, serve_file};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value as Stored;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A file that a program made.
struct File {
    /// Statements of the program, which has functions of its own.
    sql: &'static str,
    /// Tables and views that are served.
    served: &'static [&'static str],
    /// Those of them that need a collation that only the program has.
    unreadable: &'static [&'static str],
    /// Columns with such a collation in tables that can be read.
    collated: &'static [&'static str],
    /// Words of the warnings, each of one.
    warnings: &'static [&'static str],
}

/// Flash cards: a collation of the program's own, numbers in columns of texts and the other way round.
const CARDS: File = File {
    sql: "CREATE TABLE notetypes (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE unicase, config BLOB NOT NULL);
        CREATE UNIQUE INDEX notetypes_name ON notetypes (name);
        CREATE TABLE tags (tag TEXT NOT NULL PRIMARY KEY COLLATE unicase, usn INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE notes (id INTEGER PRIMARY KEY, mid INT NOT NULL, sfld INTEGER_OR_TEXT, flags TEXT, data BLOB, UNIQUE (mid, sfld));
        CREATE INDEX notes_flags ON notes (flags COLLATE unicase);
        INSERT INTO notetypes VALUES (1, 'Basic', x'0a00'), (2, 'basic 2', 'plain');
        INSERT INTO tags VALUES ('Ab', -1), ('b', 0);
        INSERT INTO notes VALUES (1, 1, 5, 'x', ''), (2, 1, 'five', 'X', x''), (3, 2, NULL, NULL, NULL);",
    served: &["notes", "notetypes", "tags"],
    unreadable: &["tags"],
    collated: &["notetypes.name"],
    warnings: &["index `notetypes_name` of `notetypes` cannot be used", "index `notes_flags` of `notes` cannot be used"],
};

/// Vectors under an index whose entries are elsewhere, and a view over it.
const VECTORS: File = File {
    sql: "CREATE TABLE m (id INTEGER PRIMARY KEY, t TEXT, v F32_BLOB(3));
        INSERT INTO m VALUES (1, 'one', x'0000803f'), (2, 'two', NULL);
        CREATE INDEX m_idx ON m (libsql_vector_idx(v)) WHERE id < 0 /* elsewhere */;
        CREATE INDEX m_t ON m (t);
        CREATE VIEW titles AS SELECT id, t FROM m;
        CREATE VIEW again AS SELECT id FROM titles;
        CREATE TABLE other (id INTEGER PRIMARY KEY, m INT REFERENCES m (id));
        INSERT INTO other VALUES (1, 1), (2, 2);",
    served: &["m", "other"],
    unreadable: &[],
    collated: &[],
    warnings: &[
        "`m`: index `m_idx` of `m` cannot be used",
        "`again`: the view is left out",
        "`titles`: the view is left out",
    ],
};

/// Books: functions of the program in triggers and views, strings in double quotes.
const BOOKS: File = File {
    sql: "CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT \"Unknown\" COLLATE NOCASE, sort TEXT COLLATE NOCASE,
            timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, series_index REAL NOT NULL DEFAULT 1.0, has_cover BOOL DEFAULT 0, last_modified TIMESTAMP NOT NULL DEFAULT '2000-01-01 00:00:00+00:00');
        CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, UNIQUE (name));
        CREATE TABLE books_authors_link (id INTEGER PRIMARY KEY, book INTEGER NOT NULL, author INTEGER NOT NULL, UNIQUE (book, author));
        INSERT INTO books (id, title, has_cover) VALUES (1, 'A', 1), (2, 'b', 'false'), (3, 'C', 'True');
        INSERT INTO authors VALUES (1, 'Ann'), (2, 'ben');
        INSERT INTO books_authors_link VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1);
        CREATE TRIGGER books_insert AFTER INSERT ON books BEGIN UPDATE books SET sort = title_sort(NEW.title) WHERE id = NEW.id; END;
        CREATE TRIGGER authors_check BEFORE UPDATE ON authors WHEN NEW.name = \"\" BEGIN SELECT RAISE(ABORT, 'empty'); END;
        CREATE VIEW meta AS SELECT id, title, (SELECT group_concat(a.name) FROM authors AS a JOIN books_authors_link AS l ON a.id = l.author WHERE l.book = books.id) AS authors FROM books;
        CREATE VIEW sorted AS SELECT id, title_sort(title) AS key FROM books;
        CREATE VIEW lost AS SELECT * FROM nowhere;",
    served: &["authors", "books", "books_authors_link", "meta"],
    unreadable: &[],
    collated: &[],
    warnings: &["`lost`: its columns cannot be read", "`sorted`: its columns cannot be read"],
};

/// Places: shapes as blobs under declarations with `INT` in them, tables of an extension, keys to no key.
const PLACES: File = File {
    sql: "CREATE TABLE sites (fid INTEGER PRIMARY KEY, geom POINT, area MULTIPOINT, height FLOATING POINT, \"größe\" DOUBLE, kind \"UNSIGNED BIG INT\", visits INTEGER UNSIGNED);
        INSERT INTO sites VALUES (1, x'4750', x'4750', 1.5, 2.5, 9000000000, 3), (2, NULL, NULL, 2, NULL, NULL, NULL);
        CREATE TABLE layers (name TEXT, fid INT REFERENCES sites (fid), other INT REFERENCES sites (kind), gone INT REFERENCES missing (id));
        INSERT INTO layers VALUES ('a', 1, NULL, NULL), ('b', 2, NULL, NULL);
        CREATE VIRTUAL TABLE words USING fts5 (text);
        CREATE TRIGGER sites_empty AFTER INSERT ON sites WHEN ST_IsEmpty(NEW.geom) BEGIN DELETE FROM layers; END;",
    served: &["layers", "sites"],
    unreadable: &[],
    collated: &[],
    warnings: &[
        "are no key of it",
        "a foreign key refers to table `missing`",
        "virtual tables are not served",
        "`sites.größe`: its name is no GraphQL name: it is called `grosse`",
    ],
};

/// Mapped objects: keys as bytes, documents in blobs, truths as texts, generated columns, untyped and odd declarations.
const OBJECTS: File = File {
    sql: "CREATE TABLE users (id uuid_text NOT NULL PRIMARY KEY, active BOOLEAN, profile JSON, joined DATETIME, balance NUMERIC, note,
            full TEXT GENERATED ALWAYS AS (upper(joined)) VIRTUAL, size INT GENERATED ALWAYS AS (length(profile)) STORED);
        INSERT INTO users VALUES (x'0b5a1f3466c14a2c8a5e27d1b0a0c001', 't', CAST('{\"a\": 1}' AS BLOB), 1700000000, '1.50', 5),
            (x'0b5a1f3466c14a2c8a5e27d1b0a0c002', 'false', jsonb('[1]'), '2024-01-01', 2, 'five'), ('0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c003', 1, '{}', 2459580.5, NULL, x'05'),
            ('none', NULL, NULL, NULL, NULL, NULL);
        CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id uuid_text REFERENCES users (id) ON DELETE CASCADE, raw VARBINARY, at TIMESTAMP, flags STRING);
        INSERT INTO posts VALUES (1, x'0b5a1f3466c14a2c8a5e27d1b0a0c001', x'01', 0, '007'), (2, '0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c003', 'text', 1.5, 'x'), (3, NULL, NULL, NULL, NULL);
        CREATE TABLE settings (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID;
        INSERT INTO settings VALUES ('theme', 'dark'), (x'00', x'ff');
        CREATE TABLE pairs (a TEXT, b INT, c ANY, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID;
        INSERT INTO pairs VALUES ('x', 1, 1.0), ('x', 2, 'y'), ('y', 1, x'0102');
        CREATE TABLE facts (subject TEXT, object TEXT, weight REAL DEFAULT 0.5, CHECK (weight >= 0));
        INSERT INTO facts (subject, object) VALUES ('a', 'b'), ('a', NULL);
        CREATE VIEW counts AS SELECT user_id, count(*) AS n, max(at) AS last FROM posts GROUP BY user_id;",
    served: &["counts", "facts", "pairs", "posts", "settings", "users"],
    unreadable: &[],
    collated: &[],
    warnings: &[],
};

/// Makes the file as the program does, with its functions. Its collation is written into the schema afterwards, and the condition that
/// kept an index empty is taken out of it.
fn make(beside: &Connection, file: &File) {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for name in ["libsql_vector_idx", "title_sort", "ST_IsEmpty"] {
        beside.create_scalar_function(name, 1, flags, |context| context.get::<Stored>(0)).unwrap();
    }
    beside.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, true).unwrap();
    beside.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    beside.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    beside.execute_batch(&file.sql.replace("COLLATE unicase", "COLLATE NOCASE /* unicase */")).unwrap();
    beside
        .execute_batch(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOCASE /* unicase */', 'unicase'), 'WHERE id < 0 /* elsewhere */', '');",
        )
        .unwrap();
    beside.execute_batch("PRAGMA writable_schema = OFF").unwrap();
}

/// True if `answered` is the value `stored`, as far as can be said without its type.
fn is_given(answered: &Value, stored: &Stored) -> bool {
    let text = answered.as_str().map_or_else(|| answered.to_string(), str::to_owned);
    match stored {
        Stored::Null => answered.is_null(),
        Stored::Integer(0) if answered.is_boolean() => *answered == json!(false),
        Stored::Integer(1) if answered.is_boolean() => *answered == json!(true),
        Stored::Integer(number) => text == number.to_string(),
        Stored::Real(number) => text.parse() == Ok(*number),
        Stored::Text(stored) if answered.is_boolean() => stored.to_lowercase().starts_with(&text[..1]),
        Stored::Text(stored) => {
            text == *stored
                || serde_json::from_str(stored).is_ok_and(|it: Value| it == *answered)
                || is_hex(&text, stored.as_bytes())
        }
        Stored::Blob(bytes) => {
            let document = serde_json::from_slice(bytes).is_ok_and(|it: Value| it == *answered);
            // `jsonb('[1]')` is the only one of these.
            document || is_hex(&text, bytes) || (*answered == json!([1]) && bytes == b"\x2b\x131")
        }
    }
}

/// True for `\x…` or the digits of a UUID.
fn is_hex(text: &str, bytes: &[u8]) -> bool {
    let digits: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
    text.strip_prefix("\\x") == Some(&digits) || (bytes.len() == 16 && text.replace('-', "") == digits)
}

struct Asking {
    served: Served,
}

impl Asking {
    fn data(&self, query: &str) -> Value {
        let answer: Value = serde_json::from_str(&self.served.ask(query, "")).unwrap();
        assert!(answer.get("errors").is_none(), "{query}: {answer}");
        answer["data"].clone()
    }

    /// The fields of a table's type that are its columns, and the others.
    fn fields(&self, table: &str) -> (Vec<String>, Vec<String>) {
        let text = format!(
            "{{ __type(name: \"{table}\") {{ fields {{ name args {{ name }} type {{ kind ofType {{ kind ofType {{ kind }} }} }} }} }} }}"
        );
        let data = self.data(&text);
        let mut columns = Vec::new();
        let mut others = Vec::new();
        for field in data["__type"]["fields"].as_array().unwrap() {
            let name = field["name"].as_str().unwrap().to_owned();
            let is_leaf = field["type"].to_string().contains("SCALAR");
            if is_leaf { columns.push(name) } else { others.push(name) }
        }
        (columns, others)
    }

    /// All rows of a table by plain SQL, with the columns in this order.
    fn plain_rows(&self, table: &str, columns: &[String]) -> Vec<Vec<Stored>> {
        let names: Vec<String> =
            columns.iter().map(|it| format!("\"{}\"", it.replace("grosse", "größe"))).collect();
        let from = format!("SELECT {} FROM \"{table}\"", names.join(", "));
        let mut statement = self.served.beside.prepare(&from).unwrap();
        let rows = statement.query_map([], |row| (0..columns.len()).map(|at| row.get(at)).collect());
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// Every column alone and all together, counts, groups, orders, conditions and keys.
    fn check(&self, table: &str, collated: &[&str]) {
        let (columns, others) = self.fields(table);
        let plain = self.plain_rows(table, &columns);
        let all = columns.join(" ");
        let rows = self.data(&format!("{{ a: {table} {{ {all} }} }}"))["a"].as_array().unwrap().clone();
        assert_eq!(rows.len(), plain.len(), "{table}");
        let given = |row: &Value, of: &[Stored]| {
            columns.iter().zip(of).all(|(column, stored)| is_given(&row[column], stored))
        };
        for stored in &plain {
            assert!(rows.iter().any(|it| given(it, stored)), "{table}: {stored:?} is none of {rows:?}");
        }
        let count = self.data(&format!("{{ a: {table}_aggregate {{ aggregate {{ count }} }} }}"));
        assert_eq!(count["a"]["aggregate"]["count"], json!(plain.len()), "{table}");
        for (at, column) in columns.iter().enumerate() {
            if collated.contains(&&*format!("{table}.{column}")) {
                continue;
            }
            let data = self.data(&format!(
                "{{ alone: {table} {{ {column} }} sorted: {table}(order_by: {{{column}: asc}}) {{ {column} }} \
                 nulls: {table}(where: {{{column}: {{_is_null: true}}}}) {{ {column} }} \
                 groups: {table}_group_by(by: [{column}]) {{ key {{ {column} }} aggregate {{ count }} }} \
                 count: {table}_aggregate {{ aggregate {{ count(columns: [{column}]) }} }} }}"
            ));
            let nulls = plain.iter().filter(|it| it[at] == Stored::Null).count();
            for (key, expected) in [("alone", plain.len()), ("sorted", plain.len()), ("nulls", nulls)] {
                assert_eq!(data[key].as_array().unwrap().len(), expected, "{table}.{column} {key}");
            }
            assert_eq!(data["count"]["aggregate"]["count"], json!(plain.len() - nulls), "{table}.{column}");
            let groups = data["groups"].as_array().unwrap();
            let grouped: u64 = groups.iter().map(|it| it["aggregate"]["count"].as_u64().unwrap()).sum();
            assert_eq!(grouped, plain.len() as u64, "{table}.{column}");
            let keys: BTreeSet<String> = groups.iter().map(|it| it["key"].to_string()).collect();
            assert_eq!(keys.len(), groups.len(), "{table}.{column}: {groups:?}");
            let values: BTreeSet<String> = rows.iter().map(|it| it[column].to_string()).collect();
            for value in &values {
                self.check_value(table, column, value, &rows);
            }
        }
        for other in others.iter().filter(|it| !it.ends_with("_aggregate") && !it.ends_with("_group_by")) {
            let data = self.data(&format!("{{ a: {table} {{ {other} {{ __typename }} }} }}"));
            assert_eq!(data["a"].as_array().unwrap().len(), plain.len(), "{table}.{other}");
        }
    }

    /// A value finds the rows that have it.
    fn check_value(&self, table: &str, column: &str, value: &str, rows: &[Value]) {
        if value == "null" {
            return;
        }
        let scalar = self.data(&format!(
            "{{ __type(name: \"{table}\") {{ fields {{ name type {{ name ofType {{ name }} }} }} }} }}"
        ));
        let fields = scalar["__type"]["fields"].as_array().unwrap();
        let ty = &fields.iter().find(|it| it["name"] == *column).unwrap()["type"];
        let scalar = ty["name"].as_str().or(ty["ofType"]["name"].as_str()).unwrap();
        let text = format!(
            "query ($v: {scalar}!) {{ a: {table}(where: {{{column}: {{_eq: $v}}}}) {{ {column} }} }}"
        );
        let found: Value =
            serde_json::from_str(&self.served.ask(&text, &format!("{{\"v\": {value}}}"))).unwrap();
        let texts = rows.iter().map(|it| it[column].to_string());
        let expected = texts.filter(|it| it == value).count();
        let found = found["data"]["a"]
            .as_array()
            .map_or_else(|| panic!("{table}.{column} {value}: {found}"), Vec::len);
        assert_eq!(found, expected, "{table}.{column} {value}");
    }
}

#[track_caller]
fn check(file: &File) {
    let (served, warnings) = serve_file(&|beside| make(beside, file));
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    for words in file.warnings {
        assert_eq!(warnings.iter().filter(|it| it.contains(words)).count(), 1, "{words}: {warnings:#?}");
    }
    let asking = Asking { served };
    let root = asking.data("{ __type(name: \"query_root\") { fields { name } } }");
    let root: BTreeSet<&str> =
        root["__type"]["fields"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let tables: Vec<&str> =
        root.iter().copied().filter(|it| root.contains(&*format!("{it}_aggregate"))).collect();
    assert_eq!(tables, file.served, "{warnings:#?}");
    for table in file.served.iter().filter(|it| !file.unreadable.contains(it)) {
        asking.check(table, file.collated);
    }
    for table in file.unreadable {
        let answer = asking.served.ask(&format!("{{ a: {table} {{ __typename }} }}"), "");
        assert!(answer.contains("\"errors\""), "{answer}");
    }
}

#[test]
fn cards_have_a_collation_of_their_program() {
    check(&CARDS);
}

#[test]
fn vectors_lose_no_row_by_their_index() {
    check(&VECTORS);
}

#[test]
fn books_have_functions_in_triggers_and_views() {
    check(&BOOKS);
}

#[test]
fn places_have_shapes_and_odd_keys() {
    check(&PLACES);
}

#[test]
fn objects_have_bytes_documents_and_truths_in_any_form() {
    check(&OBJECTS);
}
