//! A file that other programs open, change and close beside Weir: the last one that closes a file takes its log away.

use crate::support::{Folder, Weir, body};
use rusqlite::Connection;
use std::path::Path;
use std::process::Command;

fn ask(weir: &Weir, query: &str) -> String {
    weir.post("/v1/graphql", &[], body(query).as_bytes()).text().to_owned()
}

/// What another program prints that runs `script` on the file, with SQLite as Python has it: it opens the file, and closes it.
fn run_beside(file: &Path, script: &str) -> String {
    let text = format!("import sqlite3, sys\nit = sqlite3.connect(sys.argv[1])\n{script}\nit.close()");
    let run = Command::new("python3").args(["-c", &text]).arg(file).output().expect("python3 runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("it is UTF-8")
}

fn read_names(file: &Path) -> Vec<String> {
    let script = "for row in it.execute('SELECT name FROM boat ORDER BY id').fetchall(): print(row[0])";
    run_beside(file, script).lines().map(str::to_owned).collect()
}

/// Asks from many sides at once, so that further connections are opened.
fn ask_at_once(weir: &Weir) {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert!(ask(weir, "{ boat(limit: 1) { id } }").contains(r#""data""#)));
        }
    });
}

fn change_by_turns(journal: &str) {
    let folder = Folder::new();
    let file = folder.file("fleet.db");
    let begin = Connection::open(&file).expect("SQLite makes a file");
    begin
        .execute_batch(&format!(
            "PRAGMA journal_mode = {journal}; CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT)"
        ))
        .expect("the statements are right");
    drop(begin);
    let weir = Weir::serving(&format!("sqlite:{}", file.display()));
    let mut names: Vec<String> = Vec::new();
    for round in 0..6 {
        // Weir writes, and others read and leave.
        let name = format!("by weir {round}");
        let insert = format!(
            "mutation {{ insert_boat_one(object: {{id: {}, name: \"{name}\"}}) {{ id }} }}",
            round * 2
        );
        assert!(ask(&weir, &insert).contains(r#""insert_boat_one":{"id""#));
        names.push(name);
        ask_at_once(&weir);
        assert_eq!(read_names(&file), names, "{journal}, round {round}: the change is in the file");
        // Another process writes and leaves.
        let name = format!("by another {round}");
        run_beside(
            &file,
            &format!("it.execute(\"INSERT INTO boat VALUES ({}, '{name}')\")\nit.commit()", round * 2 + 1),
        );
        names.push(name);
        let listed = names.iter().map(|it| format!(r#"{{"name":"{it}"}}"#)).collect::<Vec<_>>().join(",");
        let expected = format!(r#"{{"data":{{"boat":[{listed}]}}}}"#);
        assert_eq!(
            ask(&weir, "{ boat(order_by: {id: asc}) { name } }"),
            expected,
            "{journal}, round {round}"
        );
    }
    drop(weir);
    assert_eq!(read_names(&file), names, "{journal}: nothing is lost in the end");
}

#[test]
fn no_change_is_lost_while_others_open_and_close_a_file_with_a_log() {
    change_by_turns("WAL");
}

#[test]
fn no_change_is_lost_while_others_open_and_close_a_file_with_a_journal() {
    change_by_turns("DELETE");
}
