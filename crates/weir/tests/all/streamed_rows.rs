//! Long lists of a database with `@stream`: parts leave while the statement still runs.

use crate::postgres_kit::database;
use crate::sockets::{ACK, NEW, begin, hear, say, socket};
use crate::support::{Folder, Weir, body, message, until};
use serde_json::{Value, json};
use std::io::{Read, Write};

/// Notes, and a view whose statement fails when it comes to the row 15,000.
const SQLITE: &str = r#"CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO note SELECT i, '{"a": "note ' || i || '"}' FROM n;
    UPDATE note SET text = 'no JSON' WHERE id = 15000;
    CREATE VIEW risky AS SELECT id, json_extract(text, '$.a') AS a FROM note"#;

/// The same, and 2,000 pages of 10 kB: more than sockets and channels hold.
const POSTGRES: &str = "CREATE TABLE note (id int PRIMARY KEY, text text NOT NULL);
    INSERT INTO note SELECT i, 'note ' || i FROM generate_series(1, 20000) i;
    CREATE VIEW risky AS SELECT id, 100 / (15000 - id) AS a FROM note;
    CREATE TABLE page AS SELECT i AS id, repeat('p', 10000) AS text FROM generate_series(1, 2000) i";

const NOTES: &str = "{ note(order_by: {id: asc}) @stream(initialCount: 3, label: \"n\") { id text } }";
const RISKY: &str = "{ risky @stream(initialCount: 1) { id a } }";

const ACCEPTS: [&str; 4] = [
    "multipart/mixed;deferSpec=20220824",
    "multipart/mixed;incrementalSpec=v0.2",
    "text/event-stream",
    "text/event-stream;incrementalSpec=v0.2",
];

/// The notes in SQLite, served.
fn sqlite() -> Weir {
    let folder = Folder::new();
    let file = folder.file("notes.db");
    let database = rusqlite::Connection::open(&file).expect("SQLite makes a file");
    database.execute_batch(SQLITE).expect("the statements are right");
    let url = format!("sqlite:{}", file.display());
    Weir::start(&["serve", &url, "--listen", "127.0.0.1:0"], folder)
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The parts of the answer to `query`, over HTTP.
fn parts(weir: &Weir, accept: &str, query: &str) -> Vec<Value> {
    let answer = weir.post("/graphql", &[("accept", accept)], body(query).as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    let lines = answer.text().lines().map(|it| it.strip_prefix("data: ").unwrap_or(it));
    let parts = lines.filter(|it| it.starts_with('{'));
    parts.inspect(|it| assert!(it.len() < 80_000, "a part has {} bytes", it.len())).map(read).collect()
}

/// The same, over a WebSocket.
fn messages(weir: &Weir, accept: &str, query: &str) -> Vec<Value> {
    let mut socket = socket(weir, "/graphql", NEW);
    let login = json!({"type": "connection_init", "payload": {"headers": {"accept": accept}}});
    say(&mut socket, &login.to_string());
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "a", &body(query)));
    let mut parts = Vec::new();
    loop {
        let message = read(&hear(&mut socket));
        if message["type"] == "complete" {
            return parts;
        }
        parts.push(message["payload"].clone());
    }
}

/// The answers to `query` on all transports and in both forms.
fn answers(weir: &Weir, query: &str) -> Vec<Vec<Value>> {
    let http = ACCEPTS.iter().map(|it| parts(weir, it, query));
    http.chain(ACCEPTS[..2].iter().map(|it| messages(weir, it, query))).collect()
}

/// The items of all parts, those of the list `name` in the first part included.
fn items(parts: &[Value], name: &str) -> Vec<Value> {
    assert_eq!(parts[0]["hasNext"], true);
    let mut items = parts[0]["data"][name].as_array().expect("it is a list").clone();
    let entries = parts[1..].iter().flat_map(|it| it["incremental"].as_array().into_iter().flatten());
    for entry in entries {
        if entry["path"].is_array() {
            assert_eq!(entry["path"], json!([name, items.len()]));
        }
        items.extend(entry["items"].as_array().into_iter().flatten().cloned());
    }
    let ended = parts.iter().position(|it| it["hasNext"] == false);
    assert_eq!(ended, Some(parts.len() - 1), "the last part says that it is the last");
    items
}

fn check_whole_list(weir: &Weir) {
    let whole = weir.query(&NOTES.replace(" @stream(initialCount: 3, label: \"n\")", "")).json();
    let whole = whole["data"]["note"].as_array().expect("it is a list");
    assert_eq!(whole.len(), 20_000);
    for parts in answers(weir, NOTES) {
        assert_eq!(parts[0]["data"]["note"].as_array().map(Vec::len), Some(3));
        assert!(parts.len() > 10, "{} parts", parts.len());
        assert!(items(&parts, "note") == *whole, "all parts together are the list");
    }
}

/// The first part leaves before the row that fails is read, or it would have the error.
fn check_failing_list(weir: &Weir) {
    for parts in answers(weir, RISKY) {
        assert_eq!(parts[0]["data"]["risky"].as_array().map(Vec::len), Some(1));
        assert!(parts[0].get("errors").is_none(), "{}", parts[0]);
        let ids: Vec<i64> = items(&parts, "risky").iter().filter_map(|it| it["id"].as_i64()).collect();
        assert!(ids.len() > 1000 && ids.len() < 15_000, "{} items", ids.len());
        assert!(ids.iter().zip(1..).all(|(id, expected)| *id == expected), "{ids:?}");
        let last = &parts[parts.len() - 1];
        let entry = if last["completed"][0].is_null() {
            last["incremental"].as_array().and_then(|it| it.last()).expect("the list ends")
        } else {
            &last["completed"][0]
        };
        assert_eq!(entry["errors"][0]["path"], json!(["risky"]), "{last}");
        assert_eq!(entry["items"], Value::Null);
    }
}

#[test]
fn a_list_of_sqlite_leaves_while_it_is_read() {
    check_whole_list(&sqlite());
}

#[test]
fn a_list_of_postgresql_leaves_while_it_is_read() {
    let database = database(POSTGRES);
    check_whole_list(&Weir::serving(&database.url()));
}

#[test]
fn a_statement_of_sqlite_that_fails_in_the_middle_ends_the_list() {
    check_failing_list(&sqlite());
}

#[test]
fn a_statement_of_postgresql_that_fails_in_the_middle_ends_the_list() {
    let database = database(POSTGRES);
    check_failing_list(&Weir::serving(&database.url()));
}

#[test]
fn a_client_that_does_not_read_holds_the_statement_back_and_ends_it_when_it_goes() {
    let database = database(POSTGRES);
    let weir = Weir::serving(&database.url());
    let reading = || {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                   AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%page%'";
        database.run(sql).trim().to_owned()
    };
    let headers = [("content-type", "application/json"), ("accept", ACCEPTS[1])];
    let query = body("{ page @stream(initialCount: 1) { id text } }");
    let mut socket = weir.connect();
    socket.write_all(&message("POST", "/graphql", &headers, Some(query.as_bytes()))).expect("it is sent");
    until("the statement runs", || reading() == "1");
    // 20 MB do not fit on the way: the statement would be over if they were held in memory.
    let mut head = [0; 4096];
    socket.read_exact(&mut head).expect("the first part comes");
    assert_eq!(reading(), "1");
    drop(socket);
    until("the statement ends with its client", || reading() == "0");
}
