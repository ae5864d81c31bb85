//! Commands on a SQLite file of another program: they leave it as it is, and tell what is in it.

use crate::support::{self, Folder, command};
use rusqlite::Connection;
use std::path::Path;
use std::process::Stdio;

/// A file of visits in microseconds, whose program has a function of its own.
fn visits(folder: &Folder) -> String {
    let path = folder.file("visits.db");
    let database = Connection::open(&path).expect("SQLite makes a file");
    database
        .execute_batch(
            "CREATE TABLE visit (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, hits INT);
             INSERT INTO visit VALUES (1, 13350000000000000, 3);
             CREATE TABLE page (id INTEGER PRIMARY KEY, title TEXT);
             CREATE TRIGGER page_in AFTER INSERT ON page BEGIN SELECT page_hash(new.title); END;",
        )
        .expect("the statements are right");
    format!("sqlite:{}", path.display())
}

/// Runs a command: its status, its output and its complaints.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command().args(arguments).stderr(Stdio::piped()).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn commands_leave_a_file_as_it_is_while_another_program_reads_it() {
    let folder = Folder::new();
    let target = visits(&folder);
    let path = folder.file("visits.db");
    let before = std::fs::read(&path).expect("it was made");
    let other = Connection::open(&path).expect("it opens");
    other.execute_batch("BEGIN; SELECT * FROM visit").expect("it is there");
    let proposed = folder.file("proposed.yaml");
    let proposed = proposed.to_str().expect("it is UTF-8");
    for arguments in [
        &["check", &target][..],
        &["schema", &target],
        &["explain", "{ visit { id } }", &target],
        &["init", proposed, "--url", &target],
    ] {
        let (code, out, words) = run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {out}{words}");
        assert_eq!(std::fs::read(&path).expect("it is there"), before, "{arguments:?}");
    }
}

#[test]
fn check_and_init_look_at_the_data() {
    let folder = Folder::new();
    let target = visits(&folder);
    let (code, _, words) = run(&["check", &target]);
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("integers of more than 32 bits in `visit.at`: INT_RANGE"), "{words}");
    assert!(words.contains("set `integers: bigint`") && !words.contains("visit.hits"), "{words}");
    assert!(words.contains("`page`: its rows cannot be inserted: no such function: page_hash"), "{words}");
    let proposed = folder.file("proposed.yaml");
    let file = proposed.to_str().expect("it is UTF-8");
    assert_eq!(run(&["init", file, "--url", &target]).0, Some(0));
    assert!(support::read(&proposed).contains("\n    integers: bigint\n"));
    let (code, _, words) = run(&["check", file]);
    assert!(code == Some(0) && !words.contains("32 bits"), "{words}");
    // Where all integers fit, none is proposed.
    let narrow = folder.file("narrow.yaml");
    let pets = format!("sqlite:{}", folder.pets().display());
    assert_eq!(run(&["init", narrow.to_str().expect("it is UTF-8"), "--url", &pets]).0, Some(0));
    assert!(!support::read(Path::new(&narrow)).contains("\n    integers: bigint\n"));
}
