//! Files that others made: what their triggers, views and generated columns do, and what a file looks like before and after the first
//! write.

use crate::answer_kit::ask_whole;
use crate::file_kit::DatabaseFile;
use crate::kit::{Served, engine, serve, serve_as, serve_file};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use serde_json::{Value, json};
use std::sync::Arc;
use weir_engine::caller::Identity;
use weir_engine::engine::Engine;
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{SqliteSourceOptions, open_sqlite};
use weir_sqlite::connection::Tuning;
use weir_sqlite::introspect::SqliteOptions;

/// A view that is written by triggers, tables that it reads, and one that refers to it.
const DOOR: &str = r#"
    CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, secret TEXT);
    CREATE TABLE note(id INTEGER PRIMARY KEY, person_id INT REFERENCES person, text TEXT);
    CREATE VIEW t0 AS SELECT id, name, secret FROM person;
    CREATE TRIGGER t0_update INSTEAD OF UPDATE ON t0 BEGIN UPDATE person SET name = new.name, secret = new.secret WHERE id = old.id; END;
    CREATE TRIGGER t0_delete INSTEAD OF DELETE ON t0 BEGIN DELETE FROM note WHERE person_id = old.id; DELETE FROM person WHERE id = old.id; END;
    INSERT INTO person VALUES (1, 'Ann', 'a'), (2, 'Ben', NULL), (3, 'Cid', 'c'), (4, 'Dan', 'd');
    INSERT INTO note VALUES (1, 1, 'x'), (2, 2, 'y'), (3, 2, 'z');"#;

fn door() -> Served {
    let entries = json!([
        {"table": "person"},
        {"table": "note"},
        {"table": "t0", "configuration": {"custom_name": "door"}, "array_relationships": [
            {"name": "notes", "using": {"manual_configuration": {"remote_table": "note", "column_mapping": {"id": "person_id"}}}}]},
    ]);
    let entries: Vec<_> = serde_json::from_value(entries).unwrap();
    serve_as(DOOR, ModelOptions { tables: &entries, ..ModelOptions::default() }, &[])
}

#[test]
fn views_with_triggers_are_changed_by_any_condition() {
    let served = door();
    for (query, expected) in [
        (
            r#"mutation { update_door(where: {id: {_eq: 1}}, _set: {name: "Anna"}) { affected_rows returning { id name notes { text } } } }"#,
            r#"{"update_door":{"affected_rows":1,"returning":[{"id":1,"name":"Anna","notes":[{"text":"x"}]}]}}"#,
        ),
        (
            r#"mutation { update_door(where: {notes: {text: {_in: ["y", "z"]}}}, _set: {secret: "s"}) { affected_rows returning { name secret } } }"#,
            r#"{"update_door":{"affected_rows":1,"returning":[{"name":"Ben","secret":"s"}]}}"#,
        ),
        (
            r#"mutation { update_door(where: {_not: {notes: {}}, notes_aggregate: {count: {predicate: {_eq: 0}}}, secret: {_regex: "[c-d]"}}, _set: {name: "both"}) { affected_rows } }"#,
            r#"{"update_door":{"affected_rows":2}}"#,
        ),
        (
            r#"mutation { update_door_many(updates: [{where: {name: {_like: "b%"}}, _set: {secret: null}}, {where: {}, _set: {name: "all"}}]) { affected_rows } }"#,
            r#"{"update_door_many":[{"affected_rows":2},{"affected_rows":4}]}"#,
        ),
        (
            r#"mutation { delete_door(where: {_or: [{notes: {text: {_eq: "x"}}}, {id: {_gt: 3}}]}) { affected_rows returning { id name } } }"#,
            r#"{"delete_door":{"affected_rows":2,"returning":[{"id":1,"name":"all"},{"id":4,"name":"all"}]}}"#,
        ),
        (
            "{ person(order_by: {id: asc}) { id name secret } }",
            r#"{"person":[{"id":2,"name":"all","secret":"s"},{"id":3,"name":"all","secret":null}]}"#,
        ),
    ] {
        assert_eq!(served.ask(query, ""), format!("{{\"data\":{expected}}}"), "{query}");
    }
}

#[test]
fn texts_in_double_quotes_are_the_files_alone() {
    let (served, warnings) = serve_file(&|beside| {
        beside.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, true).unwrap();
        beside
            .execute_batch(
                r#"CREATE TABLE a (id INTEGER PRIMARY KEY, kind TEXT DEFAULT "usual", n INT);
                CREATE VIEW marked AS SELECT id, "mark" AS mark FROM a;
                CREATE TRIGGER a_in AFTER INSERT ON a WHEN new.kind = "odd" BEGIN UPDATE a SET kind = "was odd" WHERE id = new.id; END;
                CREATE TRIGGER a_not BEFORE INSERT ON a WHEN new.n < 0 BEGIN SELECT RAISE(ABORT, "n must be positive"); END;
                INSERT INTO a VALUES (1, 'x', 1);"#,
            )
            .unwrap();
    });
    assert!(warnings.is_empty(), "{warnings:?}");
    let insert = |object: &str| format!("mutation {{ insert_a_one(object: {{{object}}}) {{ id }} }}");
    assert_eq!(served.ask(&insert(r#"kind: "odd", n: 2"#), ""), r#"{"data":{"insert_a_one":{"id":2}}}"#);
    let refused = served.ask(&insert("n: -1"), "");
    assert!(refused.contains("n must be positive") && refused.contains("CONSTRAINT_VIOLATION"), "{refused}");
    let rows =
        r#"{"data":{"a":[{"kind":"x"},{"kind":"was odd"}],"marked":[{"mark":"mark"},{"mark":"mark"}]}}"#;
    assert_eq!(served.ask("{ a(order_by: {id: asc}) { kind } marked { mark } }", ""), rows);
    // A column that is gone is an error everywhere, and not a text of its name.
    served
        .beside
        .execute_batch("DROP TRIGGER a_in; DROP TRIGGER a_not; ALTER TABLE a DROP COLUMN kind")
        .unwrap();
    for query in [
        "{ a { kind } }",
        r#"{ a(where: {kind: {_eq: "kind"}}) { id } }"#,
        "{ a(order_by: {kind: asc}) { id } }",
        "{ a(distinct_on: kind) { id } }",
        "{ a_aggregate { aggregate { max { kind } } } }",
        "{ a_group_by(by: [kind]) { key { kind } } }",
        "mutation { update_a(where: {}, _set: {n: 5}) { returning { kind } } }",
        r#"mutation { update_a(where: {kind: {_eq: "kind"}}, _set: {n: 5}) { affected_rows } }"#,
        r#"mutation { update_a(where: {}, _set: {kind: "k"}) { affected_rows } }"#,
        r#"mutation { insert_a_one(object: {kind: "k"}) { id } }"#,
        "mutation { insert_a_one(object: {n: 5}) { kind } }",
        "mutation { delete_a(where: {}) { returning { kind } } }",
    ] {
        let answer = served.ask(query, "");
        assert!(answer.contains(r#""code":"SCHEMA_CHANGED""#), "{query}: {answer}");
    }
    assert_eq!(served.ask("{ a { n } }", ""), r#"{"data":{"a":[{"n":1},{"n":2}]}}"#);
}

#[test]
fn generated_columns_compute_with_the_usual_functions() {
    let served = serve(
        "CREATE TABLE p (id INTEGER PRIMARY KEY, x REAL NOT NULL, y REAL NOT NULL, length REAL AS (sqrt(pow(x, 2) + pow(y, 2))) STORED,
            angle REAL AS (round(degrees(atan2(y, x)), 3)), whole INT AS (floor(x)), l REAL AS (log2(exp(0) * 8)));",
    );
    let query = "mutation { insert_p_one(object: {x: 3, y: 4}) { length angle whole l } }";
    let expected = r#"{"data":{"insert_p_one":{"length":5,"angle":53.13,"whole":3,"l":3}}}"#;
    assert_eq!(served.ask(query, ""), expected);
}

#[test]
fn what_the_file_lacks_is_told_when_it_is_opened_and_asked() {
    let (served, warnings) = serve_file(&|beside| {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        beside.create_scalar_function("regexp", 2, flags, |_| Ok(true)).unwrap();
        beside
            .execute_batch(
                "CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT); CREATE TABLE child (id INTEGER PRIMARY KEY, code TEXT REFERENCES parent (code));
                CREATE TABLE orphan (id INTEGER PRIMARY KEY, up INT REFERENCES gone (id));
                CREATE TABLE shape (id INTEGER PRIMARY KEY, form TEXT CHECK (form REGEXP '^[a-z]+$'));
                INSERT INTO parent VALUES (1, 'a');",
            )
            .unwrap();
    });
    let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    for words in [
        "`shape`: its rows cannot be inserted, updated: unknown function",
        "`orphan`: its rows cannot be inserted",
    ] {
        assert!(told.iter().any(|it| it.contains(words)), "{words}: {told:#?}");
    }
    let of_program = "the database's file needs the function `REGEXP` of the program that made it";
    let no_key = "a foreign key of the database's file refers to columns that are no key";
    for (query, words) in [
        (r#"mutation { insert_shape_one(object: {form: "a"}) { id } }"#, of_program),
        (r#"mutation { insert_child_one(object: {code: "a"}) { id } }"#, no_key),
        (r#"mutation { delete_parent(where: {}) { affected_rows } }"#, no_key),
        ("mutation { insert_orphan_one(object: {up: 1}) { id } }", "names a table that is not there"),
    ] {
        let answer: Value = serde_json::from_str(&served.ask(query, "")).unwrap();
        let error = &answer["errors"][0];
        assert_eq!(error["extensions"]["code"], "DATABASE_ERROR", "{query}: {answer}");
        assert!(error["message"].as_str().unwrap().contains(words), "{query}: {answer}");
    }
    assert_eq!(served.ask("{ parent { code } }", ""), r#"{"data":{"parent":[{"code":"a"}]}}"#);
}

#[test]
fn a_sum_over_what_is_no_number_is_the_clients_to_know() {
    let served = serve(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, n BIGINT, f NUMERIC); INSERT INTO a VALUES (1, 'five', 'six'), (2, 5, 6);",
    );
    for field in ["sum { n }", "sum { f }", "avg { n }", "avg { f }", "stddev { f }", "variance { n }"] {
        let answer = served.ask(&format!("{{ a_aggregate {{ aggregate {{ {field} }} }} }}"), "");
        assert!(answer.contains(r#""code":"INVALID_VALUE""#), "{field}: {answer}");
    }
    let numbers = "{ a_aggregate(where: {id: {_eq: 2}}) { aggregate { sum { n f } avg { n f } } } }";
    let sums = r#"{"data":{"a_aggregate":{"aggregate":{"sum":{"n":5,"f":6},"avg":{"n":5,"f":6}}}}}"#;
    assert_eq!(served.ask(numbers, ""), sums);
    let none = "{ a_aggregate(where: {id: {_eq: 9}}) { aggregate { sum { f } avg { f } } } }";
    assert_eq!(
        served.ask(none, ""),
        r#"{"data":{"a_aggregate":{"aggregate":{"sum":{"f":null},"avg":{"f":null}}}}}"#
    );
}

/// A file in the folder of tests, gone at the end.
struct File(DatabaseFile);

impl File {
    fn new(sql: &str) -> Self {
        let file = Self(DatabaseFile::new());
        file.beside().execute_batch(sql).unwrap();
        file
    }

    fn beside(&self) -> Connection {
        self.0.open()
    }

    fn serve(&self, busy_ms: u32) -> Engine {
        let tuning = Tuning { busy_ms, ..Tuning::USUAL };
        let options =
            SqliteSourceOptions { catalog: SqliteOptions::default(), model: ModelOptions::default(), tuning };
        let source = open_sqlite("main", &self.0.0, options).unwrap().source;
        engine(&Arc::new(source), 256 << 10, &[])
    }

    fn has_log(&self) -> bool {
        // The format's versions: 2 with a log, 1 without.
        std::fs::read(&self.0.0).unwrap()[18] == 2
    }
}

fn ask(engine: &Engine, query: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(ask_whole(engine, &Identity::admin(), query))
}

const ONE: &str = "CREATE TABLE a (id INTEGER PRIMARY KEY, n INT); INSERT INTO a VALUES (1, 1);";
const INCREMENT: &str = "mutation { update_a(where: {}, _inc: {n: 1}) { returning { n } } }";

#[test]
fn a_file_has_no_log_before_the_first_write() {
    let file = File::new(ONE);
    let before = std::fs::read(&file.0.0).unwrap();
    let engine = file.serve(5000);
    assert_eq!(ask(&engine, "{ a { n } }"), r#"{"data":{"a":[{"n":1}]}}"#);
    assert!(ask(&engine, "mutation { insert_a_one(object: {id: \"x\"}) { id } }").contains("errors"));
    assert_eq!(std::fs::read(&file.0.0).unwrap(), before, "nothing was written");
    assert_eq!(ask(&engine, INCREMENT), r#"{"data":{"update_a":{"returning":[{"n":2}]}}}"#);
    assert!(file.has_log());
    assert_eq!(ask(&engine, "{ a { n } }"), r#"{"data":{"a":[{"n":2}]}}"#);
}

#[test]
fn a_file_that_another_program_reads_is_served_at_once() {
    let file = File::new(ONE);
    let other = file.beside();
    other.execute_batch("BEGIN; SELECT * FROM a").unwrap();
    let engine = file.serve(100);
    assert_eq!(ask(&engine, "{ a { n } }"), r#"{"data":{"a":[{"n":1}]}}"#);
    let busy = ask(&engine, INCREMENT);
    assert!(busy.contains("POOL_TIMEOUT"), "{busy}");
    assert_eq!(ask(&engine, "{ a { n } }"), r#"{"data":{"a":[{"n":1}]}}"#);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(ask(&engine, INCREMENT), r#"{"data":{"update_a":{"returning":[{"n":2}]}}}"#);
    other.execute_batch("BEGIN; SELECT * FROM a").unwrap();
    assert_eq!(ask(&engine, INCREMENT), r#"{"data":{"update_a":{"returning":[{"n":3}]}}}"#);
}
