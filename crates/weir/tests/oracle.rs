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

#[test]
fn golden_answers_equal_plain_sql_written_by_hand() {
    let connection = chinook();
    let folder = root().join("tests/golden/chinook");
    let mut compared = 0;
    for entry in fs::read_dir(&folder).expect("the suite is in the tree") {
        let path = entry.expect("an entry can be read").path();
        let Some(name) = path.to_str().and_then(|it| it.strip_suffix(".oracle.sql")) else { continue };
        let sql = fs::read_to_string(&path).expect("an oracle is text");
        let expected: String = connection
            .query_row(&sql, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected: Value = serde_json::from_str(&expected).expect("an oracle gives JSON");
        let answer =
            fs::read_to_string(format!("{name}.json")).unwrap_or_else(|_| panic!("{name}.json is missing"));
        let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert_eq!(answer["data"], expected, "{name}");
        compared += 1;
    }
    assert!(compared >= 60, "only {compared} oracles were found");
}
