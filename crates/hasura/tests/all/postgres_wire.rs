//! The wire against a real PostgreSQL: being let in, batches, merging, sessions, cancelling.

use crate::cluster_kit::client::{ask, by_pk, one_lane, pool, show, shown, soon, text, values};
use crate::cluster_kit::shared;
use futures_util::future::join_all;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};
use weir_postgres::{
    Error, Format, Isolation, Parameters, Pool, Purpose, Session, Settings, Statement, Transaction,
};
use weir_relational::dialect::flavour::Flavour;

/// Polls once.
fn waits(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

async fn who(settings: Settings) -> String {
    let sql = "SELECT current_user || coalesce((SELECT ' by TLS' FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl), '')";
    let pool = Pool::new(settings);
    match ask(&pool, sql).await {
        // Only the beginning: the rest is the library's words.
        failed if failed.starts_with("PostgreSQL ") => "refused".into(),
        other => other,
    }
}

#[tokio::test]
async fn every_way_of_authentication_is_known() {
    for (user, expected) in [
        ("scram:pa%3Ass%20w%C3%B6rd", "scram by TLS"),
        ("scram:wrong", "refused"),
        ("scram", "refused"),
        ("md5:digest", "md5 by TLS"),
        ("clear:clear", "clear by TLS"),
        ("nobody", "refused"),
    ] {
        assert_eq!(who(shared().settings(user, "")).await, expected, "{user}");
    }
}

#[tokio::test]
async fn encryption_is_as_strict_as_asked() {
    let cluster = shared();
    let root = format!("sslrootcert={}", cluster.file("ca.crt").display());
    let certificate = cluster.file("certified.crt");
    let key = cluster.file("certified.key");
    let client = format!("sslcert={}&sslkey={}", certificate.display(), key.display());
    for (user, parameters, expected) in [
        ("postgres", "sslmode=disable", "postgres"),
        ("postgres", "sslmode=allow", "postgres"),
        ("encrypted", "sslmode=allow", "encrypted by TLS"),
        ("bare", "sslmode=prefer", "bare"),
        ("bare", "sslmode=require", "refused"),
        ("encrypted", "sslmode=disable", "refused"),
        ("encrypted", "sslmode=require", "encrypted by TLS"),
        ("encrypted", &format!("sslmode=verify-ca&{root}"), "encrypted by TLS"),
        ("encrypted", &format!("sslmode=verify-full&{root}"), "refused"),
        ("encrypted", &format!("host=localhost&sslmode=verify-full&{root}"), "encrypted by TLS"),
        ("encrypted", &format!("sslmode=verify-ca&sslrootcert={}", certificate.display()), "refused"),
        ("certified", "sslmode=require", "refused"),
        ("certified", &format!("sslmode=require&{client}"), "certified by TLS"),
    ] {
        assert_eq!(who(cluster.settings(user, parameters)).await, expected, "{user} {parameters}");
    }
}

#[tokio::test]
async fn a_unix_socket_and_a_second_host_lead_there_too() {
    let cluster = shared();
    let socket = format!("host={}", cluster.folder.display());
    assert_eq!(who(cluster.settings("postgres", &socket)).await, "postgres");
    let dead = crate::port_kit::free_port();
    let two = format!("host=127.0.0.1,127.0.0.1&port={dead},{}&sslmode=disable", cluster.port);
    assert_eq!(who(cluster.settings("postgres", &two)).await, "postgres");
    for (target, expected) in [
        ("read-write", "postgres"),
        ("primary", "postgres"),
        ("prefer-standby", "postgres"),
        ("standby", "refused"),
        ("read-only", "refused"),
    ] {
        let parameters = format!("sslmode=disable&target_session_attrs={target}");
        assert_eq!(who(cluster.settings("postgres", &parameters)).await, expected, "{target}");
    }
}

#[tokio::test]
async fn a_session_has_the_settings_that_reading_relies_on() {
    let pool = pool();
    let sql = "SELECT string_agg(current_setting(n), ' ' ORDER BY n) FROM unnest(ARRAY['application_name', 'DateStyle', \
               'IntervalStyle', 'client_encoding', 'extra_float_digits', 'jit', 'statement_timeout']) AS n";
    assert_eq!(ask(&pool, sql).await, "ISO, MDY postgres weir UTF8 1 off 20s");
    let facts = pool.facts().expect("a connection was made");
    assert_eq!(facts.flavour, Flavour::Postgres);
    assert!(!facts.is_pooled && !facts.in_recovery && facts.version >= 130_000, "{facts:?}");
}

#[tokio::test]
async fn equal_statements_that_wait_are_sent_once() {
    let pool = pool();
    let statement = text("SELECT count(*) FROM thing WHERE id > $1::int4", &[23]);
    let ten = (0..10).map(|_| pool.read(&statement, values(&["990"]), soon()));
    let answers: Vec<String> = join_all(ten).await.into_iter().map(shown).collect();
    assert_eq!(answers, vec!["10"; 10]);
    assert_eq!((pool.counts().batches, pool.counts().statements), (1, 1));
}

#[tokio::test]
async fn one_row_statements_that_wait_are_merged() {
    let pool = pool();
    let statement = by_pk();
    let keys = ["3", "1", "5000", "3", "2"];
    let answers = join_all(keys.map(|it| pool.read(&statement, values(&[it]), soon()))).await;
    let answers: Vec<String> = answers.into_iter().map(shown).collect();
    assert_eq!(answers, ["thing 3", "thing 1", "", "thing 3", "thing 2"]);
    assert_eq!((pool.counts().batches, pool.counts().statements), (1, 1));
}

#[tokio::test]
async fn of_merged_statements_only_the_one_to_blame_fails() {
    let pool = pool();
    let statement = by_pk();
    let answers = join_all(["1", "x", "2"].map(|it| pool.read(&statement, values(&[it]), soon()))).await;
    let answers: Vec<String> = answers.into_iter().map(shown).collect();
    assert_eq!(answers, ["thing 1", "22P02", "thing 2"]);
}

#[tokio::test]
async fn an_error_in_a_batch_is_no_neighbours() {
    let pool = pool();
    let divide = text("SELECT 12 / $1::int4", &[23]);
    let other = text("SELECT nothing FROM nowhere", &[]);
    for _ in 0..2 {
        let reads = ["1", "0", "2", "0", "3"].map(|it| pool.read(&divide, values(&[it]), soon()));
        let (answers, failed) = tokio::join!(join_all(reads), pool.read(&other, Parameters::new(), soon()));
        let answers: Vec<String> = answers.into_iter().map(shown).collect();
        assert_eq!(answers, ["12", "22012", "6", "22012", "4"]);
        assert_eq!(shown(failed), "42P01");
    }
}

#[tokio::test]
async fn more_than_one_batch_holds_are_all_answered() {
    let pool = pool();
    let statement = text("SELECT $1::int4 * 2", &[23]);
    let keys: Vec<String> = (0..300).map(|it| it.to_string()).collect();
    let answers = join_all(keys.iter().map(|it| pool.read(&statement, values(&[it]), soon()))).await;
    for (at, answer) in answers.into_iter().enumerate() {
        assert_eq!(shown(answer), (2 * at).to_string());
    }
}

#[tokio::test]
async fn large_values_go_both_ways_at_once() {
    let pool = pool();
    let statement = text("SELECT $1::text || 'x'", &[25]);
    let large: Vec<String> = (0..24).map(|it| it.to_string().repeat(500_000)).collect();
    let answers = join_all(large.iter().map(|it| pool.read(&statement, values(&[it]), soon()))).await;
    for (answer, sent) in answers.into_iter().zip(&large) {
        assert!(shown(answer) == format!("{sent}x"), "a value of {} bytes came back as another", sent.len());
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused_and_its_neighbours_answered() {
    let mut settings = one_lane(shared().settings("postgres", ""));
    settings.limits.answer_bytes_max = 10_000;
    let pool = Pool::new(settings);
    let many = "SELECT repeat('x', 1000) FROM generate_series(1, 1000)";
    let one = "SELECT repeat('x', 1000000)";
    let answers =
        tokio::join!(ask(&pool, "SELECT 1"), ask(&pool, many), ask(&pool, one), ask(&pool, "SELECT 2"));
    let too_large = "the answer is larger than 10000 bytes";
    assert_eq!(answers, ("1".into(), too_large.into(), too_large.into(), "2".into()));
}

#[tokio::test]
async fn a_connection_keeps_only_so_many_statements() {
    let mut settings = one_lane(shared().settings("postgres", ""));
    settings.limits.statements_max = 3;
    let pool = Pool::new(settings);
    let statements: Vec<_> = (0..7).map(|it| text(&format!("SELECT {it}"), &[])).collect();
    for _ in 0..3 {
        for (at, statement) in statements.iter().enumerate() {
            let answer = pool.read(statement, Parameters::new(), soon()).await;
            assert_eq!(shown(answer), at.to_string());
        }
    }
    assert_eq!(ask(&pool, "SELECT count(*) FROM pg_prepared_statements").await, "3");
}

#[tokio::test]
async fn a_column_of_another_type_than_planned_is_not_read() {
    let pool = pool();
    let formats = [Format::Binary];
    let statement = Statement::new("SELECT 1::int8", [], formats, [23], None);
    let (failed, other) =
        tokio::join!(pool.read(&statement, Parameters::new(), soon()), ask(&pool, "SELECT 'still here'"));
    assert_eq!((shown(failed).as_str(), other.as_str()), ("0A000", "still here"));
}

#[tokio::test]
async fn too_many_that_wait_are_refused_at_once() {
    let mut settings = one_lane(shared().settings("postgres", ""));
    settings.limits.waiting_max = 2;
    let pool = Pool::new(settings);
    let answers = tokio::join!(ask(&pool, "SELECT 1"), ask(&pool, "SELECT 2"), ask(&pool, "SELECT 3"));
    let busy = "too many statements or sessions wait already";
    assert_eq!(answers, ("1".into(), "2".into(), busy.into()));
}

#[tokio::test]
async fn a_statement_that_is_slow_ends_at_its_deadline() {
    let mut settings = one_lane(shared().settings("postgres", ""));
    settings.limits.statement_timeout = Duration::from_millis(300);
    let pool = Pool::new(settings);
    let slow = text("SELECT pg_sleep(60)::text", &[]);
    let deadline = Instant::now() + Duration::from_millis(100);
    assert!(matches!(pool.read(&slow, Parameters::new(), deadline).await, Err(Error::Timeout)));
    assert_eq!(shown(pool.read(&slow, Parameters::new(), soon()).await), "57014");
    assert_eq!(ask(&pool, "SELECT 'free again'").await, "free again");
}

/// Asks until the answer is as expected.
async fn until(pool: &Pool, sql: &str, expected: &str) {
    let deadline = soon();
    while ask(pool, sql).await != expected {
        assert!(Instant::now() < deadline, "{sql} never gives {expected}");
    }
}

#[tokio::test]
async fn a_statement_that_takes_long_leaves_the_lane_and_is_stopped_when_nobody_waits() {
    let pool = pool();
    let mut slow = Box::pin(ask(&pool, "SELECT 'left' FROM pg_sleep(600)"));
    assert!(waits(slow.as_mut()));
    // The first goes with the slow one and is held up, the others come later.
    for at in 0..3 {
        assert_eq!(ask(&pool, &format!("SELECT {at}")).await, at.to_string());
    }
    let runs = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%''le_t'' FROM pg_sleep%' AND state = 'active'";
    assert_eq!(ask(&pool, runs).await, "1");
    assert!(waits(slow.as_mut()));
    drop(slow);
    until(&pool, runs, "0").await;
}

/// PostgreSQL holds back what it has answered until a batch ends, unless it is told otherwise.
#[tokio::test]
async fn who_is_asked_in_one_batch_before_a_slow_one_does_not_wait_for_it() {
    let pool = pool();
    let mut quick = Box::pin(ask(&pool, "SELECT 'quick'"));
    let mut slow = Box::pin(ask(&pool, "SELECT 'slow' FROM pg_sleep(600)"));
    assert!(waits(quick.as_mut()) && waits(slow.as_mut()));
    assert_eq!(quick.await, "quick");
    assert!(waits(slow.as_mut()));
}

#[tokio::test]
async fn a_statement_that_left_the_lane_is_answered_when_it_is_done() {
    let pool = pool();
    let waiting = "SELECT 'done' FROM pg_sleep(0.3)";
    let failing = "SELECT 1 / count(*)::int - 1 / 0 FROM pg_sleep(0.3)";
    let answers = tokio::join!(ask(&pool, waiting), ask(&pool, "SELECT 'behind'"), ask(&pool, failing));
    assert_eq!(answers, ("done".into(), "behind".into(), "22012".into()));
    assert_eq!(ask(&pool, "SELECT 'after'").await, "after");
}

#[tokio::test]
async fn a_slow_statement_runs_on_sessions_until_it_is_short_again() {
    let pool = pool();
    let statement = text("SELECT pg_sleep($1::float8)::text", &[701]);
    let run =
        async |seconds: &str| assert_eq!(shown(pool.read(&statement, values(&[seconds]), soon()).await), "");
    let deadline = soon();
    while pool.counts().sessions_idle == 0 {
        assert!(Instant::now() < deadline, "it stays on the lane");
        run("0.2").await;
    }
    let sent = pool.counts().statements;
    run("0").await;
    assert_eq!(pool.counts().statements, sent, "it is still run alone");
    while pool.counts().statements == sent {
        assert!(Instant::now() < deadline, "it never comes back");
        run("0").await;
    }
}

#[tokio::test]
async fn statements_that_the_server_forgot_are_prepared_again() {
    let pool = pool();
    let statement = by_pk();
    for forget in ["SELECT 1", "DEALLOCATE ALL", "DISCARD ALL"] {
        ask(&pool, forget).await;
        let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
        session.push(&text(forget, &[]), &Parameters::new());
        session.flush(soon()).await.unwrap();
        drop(session);
        let lost = "26000";
        let read = shown(pool.read(&statement, values(&["1"]), soon()).await);
        assert_eq!(read, if forget == "SELECT 1" { "thing 1" } else { lost }, "{forget}");
        assert_eq!(shown(pool.read(&statement, values(&["1"]), soon()).await), "thing 1");
        let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
        session.push(&statement, &values(&["2"]));
        if let Err(error) = session.flush(soon()).await {
            assert!(error.is_retryable() && error.sqlstate().as_ref() == Some(b"26000"), "{error}");
        }
        drop(session);
        let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
        session.push(&statement, &values(&["2"]));
        assert_eq!(show(&session.flush(soon()).await.unwrap()[0]), "thing 2");
    }
}

#[tokio::test]
async fn where_a_name_is_taken_statements_have_none() {
    let pool = pool();
    let statement = by_pk();
    let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
    session.push(&text(&format!("PREPARE s{} AS SELECT 0", statement.id), &[]), &Parameters::new());
    session.flush(soon()).await.unwrap();
    session.push(&statement, &values(&["1"]));
    let error = session.flush(soon()).await.unwrap_err();
    assert!(error.is_retryable() && error.sqlstate().as_ref() == Some(b"42P05"), "{error}");
    drop(session);
    for _ in 0..2 {
        assert_eq!(shown(pool.read(&statement, values(&["1"]), soon()).await), "thing 1");
        let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
        session.push(&statement, &values(&["2"]));
        session.push(&text("SELECT count(*)::text FROM pg_prepared_statements", &[]), &Parameters::new());
        let answers = session.flush(soon()).await.unwrap();
        assert_eq!([show(&answers[0]), show(&answers[1])], ["thing 2", "0"]);
    }
}

#[tokio::test]
async fn what_nobody_waits_for_is_not_sent() {
    let pool = pool();
    ask(&pool, "SELECT 1").await;
    let statement = text("SELECT 'unwanted'", &[]);
    let read = pool.read(&statement, Parameters::new(), soon());
    // Polled once, then dropped: it waits in the queue.
    let mut read = Box::pin(read);
    assert!(waits(read.as_mut()));
    drop(read);
    ask(&pool, "SELECT 2").await;
    assert_eq!(pool.counts().statements, 2);
}

#[tokio::test]
async fn a_transaction_is_one_round_trip_and_all_or_nothing() {
    let pool = pool();
    let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
    session.begin(Transaction::ReadWrite(Isolation::ReadCommitted));
    session.push(
        &text("CREATE TABLE once (id int4 PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)", &[]),
        &Parameters::new(),
    );
    let insert = text("INSERT INTO once VALUES ($1), ($2) RETURNING id", &[23, 23]);
    session.push(&insert, &values(&["1", "2"]));
    session.commit();
    let rows = session.flush(soon()).await.unwrap();
    assert_eq!(
        rows.iter().map(|it| (show(it), it.affected)).collect::<Vec<_>>(),
        [(String::new(), 0), ("1|2".into(), 2)]
    );
    // The second statement fails: the first is undone.
    session.begin(Transaction::ReadWrite(Isolation::Serializable));
    session.push(&insert, &values(&["3", "4"]));
    session.push(&insert, &values(&["x", "5"]));
    session.commit();
    let failed = session.flush(soon()).await;
    assert!(matches!(failed, Err(Error::Database { statement: 1, .. })), "{failed:?}");
    session.rollback().await;
    // The commit fails: the constraint is deferred.
    let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
    session.begin(Transaction::ReadWrite(Isolation::RepeatableRead));
    session.push(&insert, &values(&["6", "1"]));
    session.commit();
    let failed = session.flush(soon()).await;
    assert!(matches!(failed, Err(Error::Database { statement: 1, .. })), "{failed:?}");
    drop(session);
    assert_eq!(ask(&pool, "SELECT count(*) FROM once").await, "2");
    assert_eq!(pool.counts().sessions_idle, 1);
}

#[tokio::test]
async fn a_session_that_is_dropped_in_a_transaction_is_rolled_back_and_used_again() {
    let mut settings = shared().settings("postgres", "application_name=dropped");
    settings.limits.sessions_max = 1;
    let pool = Pool::new(settings);
    let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
    session.begin(Transaction::ReadWrite(Isolation::ReadCommitted));
    let process = text("SELECT pg_backend_pid() || ' ' || (now() = statement_timestamp())", &[]);
    session.push(&process, &Parameters::new());
    let before = show(&session.flush(soon()).await.unwrap()[0]);
    drop(session);
    let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
    session.push(&process, &Parameters::new());
    session.push(
        &text("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dropped'", &[]),
        &Parameters::new(),
    );
    let rows = session.flush(soon()).await.unwrap();
    assert_eq!((show(&rows[0]).split(' ').next(), show(&rows[1]).as_str()), (before.split(' ').next(), "1"));
}

#[tokio::test]
async fn a_session_that_is_dropped_while_the_server_works_stops_it() {
    let mut settings = shared().settings("postgres", "");
    settings.limits.sessions_max = 1;
    // A busy machine takes its time to stop the statement.
    settings.limits.wait_max = Duration::from_secs(60);
    let pool = Pool::new(settings);
    let mut session = pool.session(Purpose::Read, soon()).await.unwrap();
    session.begin(Transaction::Snapshot);
    session.push(&text("SELECT 'abandoned' FROM pg_sleep(600)", &[]), &Parameters::new());
    let mut flush = Box::pin(session.flush(soon()));
    assert!(waits(flush.as_mut()));
    drop(flush);
    drop(session);
    let mut session = pool.session(Purpose::Read, soon()).await.unwrap();
    let works = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%abandon_d%' AND state = 'active' AND pid <> pg_backend_pid()";
    // The server is told to stop; its process takes its time to be gone from the list.
    let deadline = soon();
    loop {
        session.push(&text(works, &[]), &Parameters::new());
        let working = show(&session.flush(soon()).await.unwrap()[0]);
        if working == "0" {
            break;
        }
        assert!(Instant::now() < deadline, "{working} statements still work");
    }
    assert_eq!(pool.counts().sessions_idle, 0);
}

#[tokio::test]
async fn after_its_deadline_a_statement_is_stopped_and_the_session_lives() {
    let pool = pool();
    let mut session = pool.session(Purpose::Write, soon()).await.unwrap();
    session.push(&text("SELECT pg_sleep(600)::text", &[]), &Parameters::new());
    let stopped = session.flush(Instant::now() + Duration::from_millis(100)).await;
    assert!(matches!(stopped, Err(Error::Timeout)), "{stopped:?}");
    session.push(&text("SELECT 'alive'", &[]), &Parameters::new());
    assert_eq!(show(&session.flush(soon()).await.unwrap()[0]), "alive");
}

/// The process at the server that answers a session of this thread.
async fn backend(session: &mut Session) -> String {
    session.push(&text("SELECT pg_backend_pid()::text", &[]), &Parameters::new());
    let rows = session.flush(soon()).await.expect("it answers");
    rows.iter().map(show).collect()
}

#[tokio::test]
async fn a_session_that_another_thread_borrowed_stays_its_own_threads() {
    let mut settings = shared().settings("postgres", "");
    settings.limits.sessions_max = 2;
    let pool = Pool::new(settings);
    let session = async || pool.session(Purpose::Read, soon()).await.expect("a session");
    let mut one = session().await;
    let mut two = session().await;
    let pids = (backend(&mut one).await, backend(&mut two).await);
    drop(one);
    drop(two);
    // No more may be opened, so another thread takes the one that was used last.
    let there = Arc::clone(&pool);
    let borrowed = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut session = there.session(Purpose::Read, soon()).await.expect("a session");
            backend(&mut session).await
        })
    });
    assert_eq!(borrowed.await.expect("no panic"), pids.1);
    assert_eq!(backend(&mut session().await).await, pids.1);
}

#[tokio::test]
async fn sessions_are_bounded_and_so_is_the_wait_for_one() {
    let mut settings = shared().settings("postgres", "");
    settings.limits.sessions_max = 1;
    settings.limits.wait_max = Duration::from_millis(50);
    let pool = Pool::new(settings);
    let session = pool.session(Purpose::Read, soon()).await.unwrap();
    assert!(matches!(pool.session(Purpose::Read, soon()).await, Err(Error::Busy)));
    drop(session);
    assert!(pool.session(Purpose::Read, soon()).await.is_ok());
}

#[tokio::test]
async fn a_long_answer_comes_in_parts() {
    let pool = pool();
    let mut session = pool.session(Purpose::Read, soon()).await.unwrap();
    let statement = text("SELECT i FROM generate_series(1, $1::int4) AS i", &[23]);
    session.begin(Transaction::Snapshot);
    session.stream(&statement, &values(&["100000"]), None, soon()).await.unwrap();
    let mut parts = 0;
    let mut next = 1;
    while let Some(rows) = session.part().await.unwrap() {
        parts += 1;
        assert!(rows.bytes_len() <= 128 << 10, "a part of {} bytes", rows.bytes_len());
        for row in rows.iter() {
            let value = row.column(0).flatten().unwrap();
            assert_eq!(value, next.to_string().as_bytes());
            next += 1;
        }
    }
    assert_eq!(next, 100_001);
    assert!(parts > 10, "{parts} parts");
    session.rollback().await;
    assert_eq!(pool.counts().sessions_idle, 1);
}

#[tokio::test]
async fn a_stream_tells_what_fails_on_the_way() {
    let pool = pool();
    let mut session = pool.session(Purpose::Read, soon()).await.unwrap();
    let statement = text("SELECT 1 / (50000 - i) FROM generate_series(1, 100000) AS i", &[]);
    session.stream(&statement, &Parameters::new(), None, soon()).await.unwrap();
    let failed = loop {
        match session.part().await {
            Ok(rows) => assert!(rows.is_some(), "the stream ends without its error"),
            Err(error) => break error,
        }
    };
    assert_eq!(failed.sqlstate().as_ref(), Some(b"22012"));
    assert!(matches!(session.part().await, Ok(None)));
}

#[tokio::test]
async fn connections_that_rest_too_long_are_closed_and_made_anew() {
    let mut settings = one_lane(shared().settings("postgres", "application_name=resting"));
    settings.limits.idle_max = Some(Duration::from_millis(30));
    let pool = Pool::new(settings);
    assert_eq!(ask(&pool, "SELECT 'a'").await, "a");
    drop(pool.session(Purpose::Write, soon()).await.unwrap());
    let beside = self::pool();
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'resting'";
    let until = soon();
    while ask(&beside, count).await != "0" {
        assert!(Instant::now() < until, "they stay");
    }
    assert_eq!(pool.counts().sessions_idle, 0);
    assert_eq!(ask(&pool, "SELECT 'b'").await, "b");
    drop(pool.session(Purpose::Write, soon()).await.unwrap());
    let until = soon();
    while pool.counts().sessions_idle > 0 {
        assert!(Instant::now() < until, "it stays");
        tokio::task::yield_now().await;
    }
}
