//! Members begin in one state, whoever writes meanwhile.

use super::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn file(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("weir-same-state-{name}-{}.db", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch("CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (0)").unwrap();
    path
}

fn read(connection: &Connection) -> i64 {
    connection.query_row("SELECT x FROM a", [], |row| row.get(0)).unwrap()
}

/// What each of `members` members read, if they agreed.
fn gather(path: &Path, members: u32) -> Option<Vec<i64>> {
    let meeting = Arc::new(SameState::default());
    let join = |_| {
        let meeting = Arc::clone(&meeting);
        let connection = Connection::open(path).unwrap();
        std::thread::spawn(move || {
            let is_in = meeting.join(&connection);
            assert_eq!(connection.is_autocommit(), !is_in);
            is_in.then(|| read(&connection))
        })
    };
    let threads: Vec<_> = (0..members).map(join).collect();
    let agreed = meeting.agree(&Connection::open(path).unwrap(), members);
    let states: Option<Vec<i64>> = threads.into_iter().map(|it| it.join().unwrap()).collect();
    assert_eq!(states.is_some(), agreed);
    states
}

#[test]
fn members_read_one_state_while_another_connection_commits() {
    let path = file("commits");
    let is_over = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let path = path.clone();
        let is_over = Arc::clone(&is_over);
        move || {
            let connection = Connection::open(path).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                connection.execute("UPDATE a SET x = x + 1", []).unwrap();
            }
        }
    });
    for _ in 0..200 {
        if let Some(states) = gather(&path, 3) {
            assert!(states.iter().all(|it| *it == states[0]), "{states:?}");
        }
    }
    is_over.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    // Nobody writes any more.
    assert!(gather(&path, 3).is_some());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn without_one_of_them_no_member_goes_on() {
    let path = file("missing");
    let meeting = Arc::new(SameState::default());
    let connection = Connection::open(&path).unwrap();
    let idle = Connection::open(&path).unwrap();
    let member = std::thread::spawn({
        let meeting = Arc::clone(&meeting);
        move || (meeting.join(&connection), connection.is_autocommit())
    });
    assert!(!meeting.agree(&idle, 2));
    assert_eq!(member.join().unwrap(), (false, true));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_member_that_cannot_read_ends_the_meeting() {
    let path = file("closed");
    let meeting = Arc::new(SameState::default());
    let closed = Connection::open_in_memory().unwrap();
    closed.execute_batch("BEGIN").unwrap();
    let idle = Connection::open(&path).unwrap();
    let member = std::thread::spawn({
        let meeting = Arc::clone(&meeting);
        move || meeting.join(&closed)
    });
    assert!(!meeting.agree(&idle, 1));
    assert!(!member.join().unwrap());
    std::fs::remove_file(path).unwrap();
}
