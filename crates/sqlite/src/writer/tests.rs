//! Groups of jobs that fail, are late or are interrupted: what is written, and what each is told.

use super::*;

fn writer() -> Writer {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE a (x INTEGER PRIMARY KEY)").unwrap();
    Writer::new("test", connection, Duration::from_secs(60), None).unwrap()
}

fn committer(connection: Connection, watch: Arc<Watch>) -> Committer {
    Committer::new(connection, watch, &Arc::default(), &Arc::default(), None)
}

fn own(error: Error) -> Error {
    error
}

fn later(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

/// Inserts each of `values` as a job of its own, all waiting at once; answers as text.
fn check(values: &[i64], expected: &[&str]) {
    let writer = writer();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let insert = |value: i64| {
        writer.submit(later(60), None::<&str>, own, move |connection| {
            let done = connection.execute("INSERT INTO a VALUES (?1)", [value]);
            done.map_err(Error::Sqlite)
        })
    };
    let waiting: Vec<_> = values.iter().map(|&value| insert(value)).collect();
    let shown: Vec<String> = waiting
        .into_iter()
        .map(|it| match runtime.block_on(it) {
            Ok(rows) => rows.to_string(),
            Err(error) => error.to_string(),
        })
        .collect();
    assert_eq!(shown, expected);
    let count = writer.submit(later(60), None::<&str>, own, |connection| {
        let count = connection.query_row("SELECT count(*) FROM a", [], |row| row.get::<_, i64>(0));
        count.map_err(Error::Sqlite)
    });
    let inserted = expected.iter().filter(|it| **it == "1").count() as i64;
    assert_eq!(runtime.block_on(count).unwrap(), inserted);
}

/// Does each statement as a job of one group; answers as text.
fn check_group(deadlines: [Instant; 2], statements: [&'static str; 2], expected: [&str; 2]) {
    let mut connection = Connection::open_in_memory().unwrap();
    let tables = "PRAGMA foreign_keys = on; CREATE TABLE a (x INTEGER PRIMARY KEY); \
         CREATE TABLE b (y REFERENCES a (x) DEFERRABLE INITIALLY DEFERRED)";
    connection.execute_batch(tables).unwrap();
    let watch = Watch::attach(&mut connection, Duration::from_secs(60)).unwrap();
    let mut receivers = Vec::new();
    let mut group: Vec<Box<dyn Job>> = Vec::new();
    for (sql, deadline) in statements.into_iter().zip(deadlines) {
        let (sender, receiver) = oneshot::channel();
        let work = move |connection: &Connection| {
            let done = connection.execute(sql, []);
            done.map_err(Error::Sqlite)
        };
        group.push(Box::new(Work {
            session: None::<&str>,
            work,
            failed: own,
            result: None,
            sender,
            deadline,
        }));
        receivers.push(receiver);
    }
    committer(connection, watch).commit(group);
    let shown: Vec<String> = receivers
        .into_iter()
        .map(|it| match it.blocking_recv().unwrap() {
            Ok(rows) => rows.to_string(),
            Err(error) => error.to_string(),
        })
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn a_deferred_constraint_fails_only_the_job_that_broke_it() {
    let words = "FOREIGN KEY constraint failed";
    let statements = ["INSERT INTO b VALUES (9)", "INSERT INTO a VALUES (1)"];
    check_group([later(60), later(60)], statements, [words, "1"]);
}

#[test]
fn a_job_that_is_too_late_to_run_again_is_not_told_that_it_was_done() {
    // The second job fails its group; when the first could run again its time is over.
    let endless =
        "INSERT INTO a WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
    let soon = Instant::now() + Duration::from_millis(100);
    let late = Error::Timeout.to_string();
    check_group([soon, soon], ["INSERT INTO a VALUES (1)", endless], [&late, "interrupted"]);
}

#[test]
fn a_failing_job_undoes_only_itself() {
    let failure = "UNIQUE constraint failed: a.x";
    check(&[1, 2, 1, 3], &["1", "1", failure, "1"]);
    // The failing ones of a group that has savepoints, and one that is alone.
    check(&[1, 1, 2, 2, 1, 3], &["1", failure, "1", failure, failure, "1"]);
    check_group(
        [later(60), later(60)],
        ["INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (1)"],
        ["1", failure],
    );
}

#[test]
fn a_job_that_is_interrupted_does_not_take_others_with_it() {
    let writer = writer();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let run = |sql: &'static str, deadline| {
        writer.submit(deadline, None::<&str>, own, move |connection| {
            let done = connection.execute(sql, []);
            done.map_err(Error::Sqlite)
        })
    };
    let before = run("INSERT INTO a VALUES (1)", later(60));
    let endless =
        "INSERT INTO a WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
    let long = run(endless, Instant::now() + Duration::from_millis(50));
    let after = run("INSERT INTO a VALUES (2)", later(60));
    assert_eq!(runtime.block_on(before).unwrap(), 1);
    assert!(
        matches!(runtime.block_on(long), Err(Error::Sqlite(error)) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted))
    );
    assert_eq!(runtime.block_on(after).unwrap(), 1);
    let rest = run("DELETE FROM a", later(60));
    assert_eq!(runtime.block_on(rest).unwrap(), 2);
}

/// Changes by a job to the table `kept`, which accepts every row, and to `a`, which holds 0.
#[derive(Clone, Copy, Debug)]
enum Act {
    Keep(i64),
    /// Keeps a row, then breaks a key.
    KeepAndFail,
    /// Keeps a row, then has SQLite take the transaction back.
    KeepAndRollBack,
    /// Keeps a row, then reads until its time is over.
    KeepAndReadOn,
    KeepAndPanic,
}

fn act(act: Act, connection: &Connection) -> rusqlite::Result<()> {
    let keep = |number: i64| connection.execute("INSERT INTO kept VALUES (?1)", [number]).map(drop);
    let then = |sql: &str| connection.prepare_cached(sql)?.query([])?.next().map(drop);
    match act {
        Act::Keep(number) => keep(number),
        Act::KeepAndFail => keep(-1).and_then(|()| then("INSERT INTO a VALUES (0) RETURNING x")),
        Act::KeepAndRollBack => keep(-2).and_then(|()| then("INSERT OR ROLLBACK INTO a VALUES (0)")),
        Act::KeepAndReadOn => keep(-3).and_then(|()| {
            then("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n")
        }),
        Act::KeepAndPanic => keep(-4).map(|()| panic!("a job that panics")),
    }
}

#[test]
fn whatever_fails_in_a_group_its_neighbours_are_written_once() {
    use Act::{Keep, KeepAndFail, KeepAndPanic, KeepAndReadOn, KeepAndRollBack};
    let failing = [KeepAndFail, KeepAndRollBack, KeepAndReadOn, KeepAndPanic];
    let pairs = failing.iter().flat_map(|one| failing.map(|other| (*one, other)));
    for (one, other) in pairs {
        let mut connection = Connection::open_in_memory().unwrap();
        let tables =
            "CREATE TABLE a (x INTEGER PRIMARY KEY); INSERT INTO a VALUES (0); CREATE TABLE kept (x)";
        connection.execute_batch(tables).unwrap();
        let watch = Watch::attach(&mut connection, Duration::from_secs(60)).unwrap();
        let mut committer = committer(connection, watch);
        // The second group has savepoints from the start; the third is alone.
        for acts in [vec![Keep(1), one, Keep(2), other, Keep(3)], vec![one, Keep(4), other], vec![one]] {
            let mut group: Vec<Box<dyn Job>> = Vec::new();
            let mut waiting: Vec<_> = Vec::new();
            for does in acts {
                let (sender, receiver) = oneshot::channel();
                let work = move |connection: &Connection| act(does, connection).map_err(Error::Sqlite);
                let deadline = match does {
                    KeepAndReadOn => Instant::now() + Duration::from_millis(20),
                    Keep(_) | KeepAndFail | KeepAndRollBack | KeepAndPanic => later(60),
                };
                group.push(Box::new(Work {
                    session: None::<&str>,
                    work,
                    failed: own,
                    result: None,
                    sender,
                    deadline,
                }));
                waiting.push((does, receiver));
            }
            committer.commit(group);
            for (does, receiver) in waiting {
                let told = receiver.blocking_recv().unwrap();
                assert_eq!(told.is_ok(), matches!(does, Keep(_)), "{does:?} beside {one:?} and {other:?}");
            }
            assert!(committer.connection.is_autocommit());
        }
        let kept = "SELECT group_concat(x) FROM (SELECT x FROM kept ORDER BY x)";
        let kept = committer.connection.query_row(kept, [], |row| row.get::<_, String>(0));
        assert_eq!(kept.unwrap(), "1,2,3,4", "{one:?} and {other:?}");
    }
}

#[test]
fn the_first_write_is_no_change_by_others() {
    let path = std::env::temp_dir().join(format!("weir-first-write-{}.db", std::process::id()));
    let mut connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE a (x INTEGER PRIMARY KEY)").unwrap();
    let other = Connection::open(&path).unwrap();
    let watch = Watch::attach(&mut connection, Duration::from_secs(60)).unwrap();
    let mut committer = committer(connection, watch);
    let look = |committer: &Committer| {
        let (sender, receiver) = oneshot::channel();
        committer.look(vec![sender]);
        receiver.blocking_recv().unwrap()
    };
    let before = look(&committer);
    let (sender, receiver) = oneshot::channel();
    let work =
        |connection: &Connection| connection.execute("INSERT INTO a VALUES (1)", []).map_err(Error::Sqlite);
    committer.commit(vec![Box::new(Work {
        session: None::<&str>,
        work,
        failed: own,
        result: None,
        sender,
        deadline: later(60),
    })]);
    assert_eq!(receiver.blocking_recv().unwrap().unwrap(), 1);
    let mode: String = other.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    assert_eq!(look(&committer), before);
    other.execute("INSERT INTO a VALUES (2)", []).unwrap();
    assert_ne!(look(&committer), before);
    drop((other, committer));
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
}
