//! Triggers in files of SQLite's: what they write, and that no write fails by them.

use rusqlite::Connection;
use rusqlite::limits::Limit;
use serde_json::{Value, json};
use weir_events::capture::sqlite::{create_tables, reconcile};
use weir_events::capture::{CaptureDifference, Leftovers};
use weir_events::trigger::CapturedTrigger;
use weir_metadata::document::event_trigger::EventTriggerEntry;
use weir_metadata::document::table::TableName;

/// A trigger of the table `table`, of a definition in JSON.
pub(crate) fn trigger(table: &str, name: &str, definition: Value) -> CapturedTrigger {
    let mut entry = json!({
        "name": name, "definition": definition, "webhook": "http://shop.test/",
        "retry_conf": { "interval_sec": 1, "num_retries": 0 },
    });
    if let Some(ordered) = entry["definition"].as_object_mut().and_then(|it| it.remove("ordered")) {
        entry["ordered"] = ordered;
    }
    let entry: EventTriggerEntry = serde_json::from_value(entry).expect("it is an entry");
    let (schema, table) = table.split_once('.').unwrap_or(("", table));
    let mut name = TableName::Name(table.to_owned());
    if !schema.is_empty() {
        name.in_schema(schema);
    }
    CapturedTrigger::new(&name, &entry)
}

/// All operations and columns.
pub(crate) fn all() -> Value {
    json!({ "insert": { "columns": "*" }, "update": { "columns": "*" }, "delete": { "columns": "*" } })
}

fn open(sql: &str) -> Connection {
    let connection = Connection::open_in_memory().expect("it is opened");
    connection.execute_batch(sql).expect("the tables are made");
    connection
}

fn make(connection: &mut Connection, triggers: &[CapturedTrigger]) -> CaptureDifference {
    reconcile(connection, triggers, Leftovers::Drop).expect("the triggers are made")
}

/// Events so far: name of the trigger, and payload.
fn events(connection: &Connection) -> Vec<(String, Value)> {
    let mut statement = connection
        .prepare("SELECT trigger_name, payload FROM hdb_event_log ORDER BY weir_seq")
        .expect("there is a log");
    let rows = statement.query_map([], |row| {
        let payload = String::from_utf8_lossy(row.get_ref(1)?.as_bytes()?).into_owned();
        Ok((row.get(0)?, payload))
    });
    let rows: Vec<(String, String)> = rows.expect("it is asked").map(|it| it.expect("a row")).collect();
    let parse = |text: String| serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    rows.into_iter().map(|(name, payload)| (name, parse(payload))).collect()
}

/// Operations of the events so far.
fn operations(connection: &Connection) -> Vec<String> {
    let operation = |(_, payload): (String, Value)| payload["op"].as_str().expect("a word").to_owned();
    events(connection).into_iter().map(operation).collect()
}

#[test]
fn rows_are_told_with_their_values_from_before_and_after() {
    let mut connection =
        open("CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT, \"a b\" REAL, paid BOOLEAN, more JSON)");
    let made = make(&mut connection, &[trigger("boat", "told", all())]);
    assert_eq!(
        made.made,
        ["notify_hasura_told_DELETE", "notify_hasura_told_INSERT", "notify_hasura_told_UPDATE"]
    );
    connection
        .execute_batch(
            "INSERT INTO boat VALUES (1, 'Ada''s \"x\"', 0.1, 1, '{\"a\": [1.50]}'); UPDATE boat SET name = 'B' WHERE id = 1; DELETE FROM boat",
        )
        .expect("rows are written");
    let old = json!({ "id": 1, "name": "Ada's \"x\"", "a b": 0.1, "paid": true, "more": { "a": [1.5] } });
    let mut new = old.clone();
    new["name"] = json!("B");
    let event = |op: &str, old: &Value, new: &Value| json!({ "op": op, "data": { "old": old, "new": new }, "session_variables": null, "trace_context": null });
    let expected = [
        event("INSERT", &Value::Null, &old),
        event("UPDATE", &old, &new),
        event("DELETE", &new, &Value::Null),
    ];
    let found: Vec<Value> = events(&connection).into_iter().map(|it| it.1).collect();
    assert_eq!(found, expected);
    let id: String =
        connection.query_row("SELECT id FROM hdb_event_log LIMIT 1", [], |row| row.get(0)).expect("an id");
    assert_eq!((id.len(), &id[14..15]), (36, "4"), "{id}");
    assert!(make(&mut connection, &[trigger("boat", "told", all())]).is_empty());
}

#[test]
fn values_are_valid_json_whatever_is_stored() {
    let mut connection =
        open("CREATE TABLE a (i BIGINT, r REAL, t TEXT, j JSON, n NUMERIC, b BLOB, u UUID, o BOOLEAN)");
    make(&mut connection, &[trigger("a", "told", all())]);
    let values = [
        "NULL",
        "1",
        "-9223372036854775808",
        "0.1 + 0.2",
        "19.99",
        "9e999",
        "-9e999",
        "0.0",
        "-0.0",
        "1e-300",
        "1.5e300",
        "''",
        "'a'",
        "'{a:1,}'",
        "'{\"a\":1,\"a\":2}'",
        "'[1,'",
        "'1.50'",
        "'true'",
        "x'00'",
        "x'01'",
        "x'0B'",
        "x'1335'",
        "x'1C00'",
        "x'000102030405060708090a0b0c0d0e0f'",
        "CAST(x'ff61' AS TEXT)",
        "char(0, 31, 127, 8232)",
        "json('{\"b\":1}')",
        "json_array(1)",
        "2",
        "'t'",
    ];
    for value in values {
        let list = [value; 8].join(", ");
        connection.execute_batch(&format!("INSERT INTO a VALUES ({list})")).expect(value);
    }
    connection
        .execute_batch("UPDATE a SET t = coalesce(t, '') || 'x'; DELETE FROM a")
        .expect("rows are written");
    let found = events(&connection);
    assert_eq!(found.len(), 3 * values.len());
    let told = |at: usize| found[at].1["data"]["new"].clone();
    let number = |text: &str| -> Value { serde_json::from_str(text).expect("a number") };
    assert_eq!(told(2)["i"], number("-9223372036854775808"));
    assert_eq!(told(3)["r"].as_f64(), Some(0.1 + 0.2));
    assert_eq!(told(4)["r"].to_string(), "19.99");
    assert_eq!((&told(5)["r"], &told(6)["r"]), (&json!("Infinity"), &json!("-Infinity")));
    assert_eq!(told(9)["r"].as_f64(), Some(1e-300));
    assert_eq!((&told(13)["j"], &told(13)["t"]), (&json!("{a:1,}"), &json!("{a:1,}")));
    assert_eq!((&told(15)["j"], &told(17)["o"]), (&json!("[1,"), &json!(true)));
    assert_eq!((&told(18)["b"], &told(18)["j"]), (&json!("\\x00"), &json!("\\x00")));
    assert_eq!(told(23)["u"], json!("00010203-0405-0607-0809-0a0b0c0d0e0f"));
    assert_eq!((&told(26)["t"], &told(26)["j"]), (&json!("{\"b\":1}"), &json!({ "b": 1 })));
}

#[test]
fn updates_fire_by_listened_columns_whatever_their_collation() {
    let mut connection = open(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, any, other TEXT, g AS (name || '!')); INSERT INTO a (id, name, any) VALUES (1, 'a', 1)",
    );
    make(
        &mut connection,
        &[trigger("a", "told", json!({ "update": { "columns": ["name", "any"], "payload": ["id"] } }))],
    );
    let check = |sql: &str, expected: usize| {
        connection.execute_batch("DELETE FROM hdb_event_log").expect("it is emptied");
        connection.execute_batch(sql).expect(sql);
        assert_eq!(events(&connection).len(), expected, "{sql}");
    };
    check("UPDATE a SET other = 'x'", 0);
    check("UPDATE a SET name = 'a'", 0);
    check("UPDATE a SET name = 'A'", 1);
    check("UPDATE a SET any = 1.0", 1);
    check("UPDATE a SET any = NULL", 1);
    check("UPDATE a SET any = NULL", 0);
    check("INSERT INTO a (id, name) VALUES (1, 'b') ON CONFLICT DO UPDATE SET name = excluded.name", 1);
    check("INSERT OR IGNORE INTO a (id, name) VALUES (1, 'b')", 0);
    let payload = events(&connection);
    assert!(payload.is_empty());
}

#[test]
fn a_session_is_told_if_it_is_json() {
    let mut connection = open("CREATE TABLE a (id INTEGER PRIMARY KEY)");
    make(&mut connection, &[trigger("a", "told", all())]);
    for value in ["NULL", "'{\"x-hasura-role\":\"user\"}'", "'{a:1}'", "''", "7"] {
        connection
            .execute_batch(&format!("DELETE FROM hdb_session; INSERT INTO hdb_session VALUES ({value}); INSERT INTO a DEFAULT VALUES"))
            .expect(value);
    }
    let found: Vec<Value> =
        events(&connection).into_iter().map(|it| it.1["session_variables"].clone()).collect();
    assert_eq!(found, [Value::Null, json!({ "x-hasura-role": "user" }), Value::Null, Value::Null, json!(7)]);
}

#[test]
fn no_clause_of_a_statement_loses_an_event() {
    let mut connection = open("CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT UNIQUE)");
    make(&mut connection, &[trigger("a", "told", all())]);
    connection
        .execute_batch(
            "INSERT OR IGNORE INTO a VALUES (1, 'a'); INSERT OR REPLACE INTO a VALUES (2, 'b'); INSERT OR REPLACE INTO a VALUES (1, 'c'); \
             UPDATE OR REPLACE a SET name = 'b' WHERE id = 1; INSERT OR FAIL INTO a VALUES (3, 'd'); DELETE FROM a WHERE id = 3",
        )
        .expect("rows are written");
    assert_eq!(operations(&connection), ["INSERT", "INSERT", "INSERT", "UPDATE", "INSERT", "DELETE"]);
    connection.execute_batch("BEGIN; INSERT INTO a VALUES (9, 'z'); ROLLBACK").expect("it is undone");
    assert_eq!(events(&connection).len(), 6);
}

#[test]
fn tables_with_many_columns_are_told_in_programs_with_old_limits() {
    let columns: Vec<String> = (0..300).map(|at| format!("c{at} TEXT")).collect();
    let mut connection = open(&format!("CREATE TABLE a ({})", columns.join(", ")));
    make(&mut connection, &[trigger("a", "told", all())]);
    connection.set_limit(Limit::SQLITE_LIMIT_FUNCTION_ARG, 127).expect("it is set");
    connection
        .execute_batch("INSERT INTO a (c299) VALUES ('x'); UPDATE a SET c0 = 'y'")
        .expect("rows are written");
    let found = events(&connection);
    assert_eq!((found.len(), &found[1].1["data"]["new"]["c299"]), (2, &json!("x")));
    let columns: Vec<String> = (0..900).map(|at| format!("c{at} TEXT")).collect();
    let mut connection = open(&format!("CREATE TABLE b ({})", columns.join(", ")));
    let made = make(&mut connection, &[trigger("b", "told", all())]);
    assert!(made.failed[0].1.contains("list those that are told by `payload`"), "{:?}", made.failed);
}

#[test]
fn triggers_follow_definitions_and_tables() {
    let mut connection = open("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT * FROM a");
    let told = trigger("a", "told", all());
    make(&mut connection, std::slice::from_ref(&told));
    connection.execute_batch("ALTER TABLE a ADD COLUMN name TEXT").expect("it is altered");
    let followed = make(&mut connection, std::slice::from_ref(&told));
    assert_eq!((followed.made.len(), followed.replaced.len(), followed.dropped.len()), (0, 3, 0));
    let one = trigger("a", "told", json!({ "insert": { "columns": "*" } }));
    assert_eq!(make(&mut connection, std::slice::from_ref(&one)).dropped.len(), 2);
    let rebuilt = "DROP VIEW v; CREATE TABLE b (id INTEGER PRIMARY KEY); DROP TABLE a; ALTER TABLE b RENAME TO a; CREATE VIEW v AS SELECT * FROM a";
    connection.execute_batch(rebuilt).expect("it is rebuilt");
    assert_eq!(make(&mut connection, std::slice::from_ref(&one)).made, ["notify_hasura_told_INSERT"]);
    let wrong = [
        (trigger("v", "w", all()), "\"v\" is no table on which triggers can stand"),
        (trigger("nobody", "w", all()), "\"nobody\" is no table on which triggers can stand"),
        (
            trigger("a", "w", json!({ "update": { "columns": ["gone"] } })),
            "column \"gone\" does not exist in table \"a\"",
        ),
        (
            trigger("a", "w", json!({ "insert": { "columns": "*", "payload": ["gone"] } })),
            "column \"gone\" does not exist in table \"a\"",
        ),
    ];
    for (wrong, words) in wrong {
        let made = make(&mut connection, &[one.clone(), wrong]);
        assert_eq!(made.failed, [("w".to_owned(), words.to_owned())]);
    }
    let kept = reconcile(&mut connection, &[], Leftovers::Keep).expect("nothing is done");
    assert!(kept.is_empty(), "{kept:?}");
    assert_eq!(make(&mut connection, &[]).dropped, ["notify_hasura_told_INSERT"]);
}

#[test]
fn ordered_events_carry_the_key_of_their_row() {
    let mut connection =
        open("CREATE TABLE a (b TEXT, a INTEGER, c TEXT, PRIMARY KEY (a, b)); CREATE TABLE bare (a TEXT)");
    let mut definition = all();
    definition["ordered"] = json!(true);
    make(&mut connection, &[trigger("a", "told", definition.clone())]);
    connection
        .execute_batch("INSERT INTO a VALUES ('x', 1, 'c'); UPDATE a SET a = 2; DELETE FROM a")
        .expect("written");
    let mut statement =
        connection.prepare("SELECT weir_key FROM hdb_event_log ORDER BY weir_seq").expect("a log");
    let keys: Vec<String> =
        statement.query_map([], |row| row.get(0)).expect("asked").map(|it| it.expect("a key")).collect();
    assert_eq!(keys, ["[1,\"x\"]", "[1,\"x\"]", "[2,\"x\"]"]);
    drop(statement);
    let made = make(&mut connection, &[trigger("bare", "told", definition)]);
    assert_eq!(made.failed[0].1, "`ordered` needs a primary key, and the table \"bare\" has none");
}

#[test]
fn pending_events_are_found_by_their_index() {
    let connection = open("");
    create_tables(&connection).expect("the tables are made");
    let sql = format!(
        "EXPLAIN QUERY PLAN SELECT weir_seq FROM hdb_event_log WHERE {} AND trigger_name = ?1 AND weir_seq > ?2 ORDER BY weir_seq LIMIT ?3",
        weir_events::capture::sqlite::FIRST
    );
    let plan: String = connection.query_row(&sql, (1, 2, 3), |row| row.get(3)).expect("a plan");
    assert!(plan.contains("USING INDEX hdb_event_log_first (trigger_name=? AND weir_seq>?)"), "{plan}");
    let sql = format!(
        "EXPLAIN QUERY PLAN SELECT weir_seq FROM hdb_event_log WHERE {} AND trigger_name = ?1 AND next_retry_at <= ?2 ORDER BY next_retry_at LIMIT ?3",
        weir_events::capture::sqlite::AGAIN
    );
    let plan: String = connection.query_row(&sql, (1, 2, 3), |row| row.get(3)).expect("a plan");
    assert!(
        plan.contains("hdb_event_log_again (trigger_name=? AND next_retry_at>? AND next_retry_at<?)"),
        "{plan}"
    );
}

/// Facts of the manual about SQLite's triggers, which Weir cannot change.
#[test]
fn what_triggers_do_not_see_and_the_order_of_others_are_known() {
    let mut connection = open(
        "PRAGMA foreign_keys = on; CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a ON DELETE CASCADE)",
    );
    make(&mut connection, &[trigger("a", "parent", all()), trigger("b", "child", all())]);
    let check = |connection: &Connection, sql: &str, expected: &[&str]| {
        connection.execute_batch("DELETE FROM hdb_event_log").expect("it is emptied");
        connection.execute_batch(sql).expect(sql);
        let name =
            |(name, payload): (String, Value)| format!("{name} {}", payload["op"].as_str().expect("a word"));
        assert_eq!(events(connection).into_iter().map(name).collect::<Vec<_>>(), expected, "{sql}");
    };
    check(
        &connection,
        "INSERT INTO a VALUES (1, 'a'); INSERT INTO b VALUES (7, 1)",
        &["parent INSERT", "child INSERT"],
    );
    check(&connection, "REPLACE INTO a VALUES (1, 'b')", &["child DELETE", "parent INSERT"]);
    check(
        &connection,
        "PRAGMA recursive_triggers = on; REPLACE INTO a VALUES (1, 'c'); PRAGMA recursive_triggers = off",
        &["parent DELETE", "parent INSERT"],
    );
    connection.execute_batch("INSERT INTO b VALUES (8, 1)").expect("it is written");
    check(&connection, "DELETE FROM a", &["child DELETE", "parent DELETE"]);
    let (rows, total) = (connection.total_changes(), |it: &Connection| it.total_changes());
    check(&connection, "INSERT INTO a VALUES (5, 'a')", &["parent INSERT"]);
    assert_eq!((connection.changes(), connection.last_insert_rowid()), (1, 5));
    // One row, its event, and the event that was removed before.
    assert_eq!(total(&connection) - rows, 2 + 2);
    connection
        .execute_batch(
            "CREATE TRIGGER newer AFTER INSERT ON a BEGIN UPDATE a SET name = 'z' WHERE id = NEW.id; END",
        )
        .expect("it is made");
    check(&connection, "INSERT INTO a VALUES (6, 'a')", &["parent UPDATE", "parent INSERT"]);
    connection
        .execute_batch("CREATE TRIGGER newest AFTER INSERT ON a BEGIN SELECT raise(IGNORE); END")
        .expect("it is made");
    check(&connection, "INSERT INTO a VALUES (7, 'a')", &[]);
}

/// Programs have the library that they were built with. Python's is often older than ours; it has to run the very same text.
#[test]
fn other_programs_run_the_triggers() {
    let folder = std::env::temp_dir().join(format!("weir-events-python-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("a.db");
    let mut connection = Connection::open(&file).expect("it is opened");
    connection.execute_batch("CREATE TABLE a (id INTEGER PRIMARY KEY, r REAL, t TEXT, j JSON, b BLOB, o BOOLEAN, g AS (t || '!'))").expect("made");
    make(&mut connection, &[trigger("a", "told", all())]);
    drop(connection);
    let program = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nfor v in [(0.1,'é','{\"a\":[1.0]}',b'\\x00\\xff',1),(0.1+0.2,'{a:1}','{a:1,}',b'',0),\
                   (float('inf'),None,'',None,2)]:\n  c.execute('INSERT INTO a(r,t,j,b,o) VALUES (?,?,?,?,?)', v)\nc.execute('UPDATE a SET t=t||1'); c.execute('DELETE FROM a'); c.commit(); print(sqlite3.sqlite_version)\n";
    let ran = std::process::Command::new("python3").arg("-c").arg(program).arg(&file).output();
    if let Ok(output) = ran {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let connection = Connection::open(&file).expect("it is opened");
        let found = events(&connection);
        assert_eq!(found.len(), 8, "{found:?}");
        let expected =
            json!({ "id": 1, "r": 0.1, "t": "é", "j": { "a": [1.0] }, "b": "\\x00ff", "o": true, "g": "é!" });
        assert_eq!(found[0].1["data"]["new"], expected);
        assert_eq!(found[1].1["data"]["new"]["r"].as_f64(), Some(0.1 + 0.2));
        assert_eq!(found[2].1["data"]["new"]["r"], json!("Infinity"));
    }
    std::fs::remove_dir_all(&folder).expect("it is removed");
}
