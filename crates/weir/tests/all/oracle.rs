//! The golden answers against plain SQL written by hand: each `name.oracle.sql` beside a golden case gives the expected
//! `data` as one JSON text by SQLite's own JSON functions, and must equal the `data` of `name.json`.
//!
//! So an answer that was blessed by mistake fails here.

use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn chinook() -> Connection {
    let connection = Connection::open_in_memory().expect("SQLite opens in memory");
    let seed =
        fs::read_to_string(root().join("examples/chinook/chinook.sql")).expect("the seed is in the tree");
    connection.execute_batch(&seed).expect("the seed loads");
    connection
}

/// True if an answer equals an oracle's. SQLite's JSON functions give text for a nested subquery, and 15 digits of a float.
fn same(answer: &Value, oracle: &Value) -> bool {
    match (answer, oracle) {
        (Value::Object(_) | Value::Array(_), Value::String(text)) => {
            serde_json::from_str(text).is_ok_and(|inner| same(answer, &inner))
        }
        (Value::Object(answer), Value::Object(oracle)) => {
            let keys = answer.keys().eq(oracle.keys());
            keys && answer.iter().zip(oracle).all(|((_, a), (_, b))| same(a, b))
        }
        (Value::Array(answer), Value::Array(oracle)) => {
            answer.len() == oracle.len() && answer.iter().zip(oracle).all(|(a, b)| same(a, b))
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let a = a.as_f64().unwrap_or(f64::NAN);
            let b = b.as_f64().unwrap_or(f64::NAN);
            (a - b).abs() <= 1e-14 * a.abs().max(b.abs())
        }
        (answer, oracle) => answer == oracle,
    }
}

#[test]
fn golden_answers_equal_plain_sql_written_by_hand() {
    let connection = chinook();
    let mut compared = 0;
    let mut paths = vec![root().join("tests/golden/chinook")];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("the suite is in the tree");
            paths.extend(entries.map(|it| it.expect("an entry can be read").path()));
            continue;
        }
        let Some(name) = path.to_str().and_then(|it| it.strip_suffix(".oracle.sql")) else { continue };
        let sql = fs::read_to_string(&path).expect("an oracle is text");
        let expected: String = connection
            .query_row(&sql, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected: Value = serde_json::from_str(&expected).expect("an oracle gives JSON");
        let answer =
            fs::read_to_string(format!("{name}.json")).unwrap_or_else(|_| panic!("{name}.json is missing"));
        let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert!(same(&answer["data"], &expected), "{name}: {} instead of {expected}", answer["data"]);
        compared += 1;
    }
    assert!(compared >= 60, "only {compared} oracles were found");
}
