//! The ledger of events: whoever is killed, every committed change is told, none that was not, and twice only by a kill.
//!
//! Behind the kills comes a quiet time, in which each change is told once, and by a server that makes one call at a time in the order of
//! commit. A ledger is worth what it sees: with a broken capture, and with a lost lock, it has to fail.
//!
//! Three parties are killed in turn without warning: servers, the database (with SQLite the program that writes), the receiver. The
//! receiver and the writer are this binary in another role. `make soak` kills more often (`WEIR_EVENT_KILLS`).

use crate::cluster_kit::{self, Cluster};
use crate::events_kit::{SHOP, Store, trigger, write_shop};
use crate::port_kit::free_port;
use crate::support::{Folder, Weir};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest wait for anything here: an owner that is gone is missed after ten seconds.
const PATIENCE: Duration = Duration::from_secs(90);
/// Events of a server that are called or whose outcomes are not recorded: as many can be doubled by one kill.
const IN_WORK_MAX: usize = 600;
/// Changes of the quiet time, each committed by itself.
const QUIET: usize = 400;
/// The same for a server that makes one call at a time.
const QUIET_IN_ORDER: usize = 100;
/// Calls that come between two kills.
const CALLS_PER_KILL: usize = 40;

const ROLE: &str = "WEIR_LEDGER_ROLE";

fn kills() -> usize {
    std::env::var("WEIR_EVENT_KILLS").map_or(5, |it| it.parse().expect("WEIR_EVENT_KILLS is a number"))
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::yield_now();
    }
}

/// Another process of this binary; killed with the test.
struct Program(Child);

impl Program {
    fn start(role: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this binary is there"));
        command.args(["--exact", "events_ledger::plays_its_role", "--nocapture"]).env(ROLE, role);
        command
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self(command.spawn().expect("it starts"))
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.0.id().to_string()]).status();
        assert!(status.is_ok_and(|it| it.success()), "the signal can be sent");
    }

    fn kill(&mut self) {
        // One that has ended is as it should be.
        let _ = self.0.kill();
        self.0.wait().expect("it ends");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The other roles of this binary. Without one this is no test.
#[test]
fn plays_its_role() {
    let variable = |name: &str| std::env::var(name).expect("the role has it");
    match std::env::var(ROLE).as_deref() {
        Ok("receiver") => receive(&variable("LEDGER_PORT"), Path::new(&variable("LEDGER_FILE"))),
        Ok("writer") => write_rows(Path::new(&variable("LEDGER_DATABASE"))),
        Ok(other) => panic!("there is no role `{other}`"),
        Err(_) => {}
    }
}

/// Notes each call in the ledger, then answers it.
fn receive(port: &str, ledger: &Path) {
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).expect("the port is free");
    for socket in listener.incoming().flatten() {
        let ledger = OpenOptions::new().append(true).create(true).open(ledger).expect("it is opened");
        std::thread::spawn(move || drop(receive_from(socket, ledger)));
    }
}

fn receive_from(socket: TcpStream, mut ledger: std::fs::File) -> std::io::Result<()> {
    let mut socket = BufReader::new(socket);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if socket.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().unwrap_or_default();
                }
                None if line.trim_end().is_empty() => break,
                Some(_) | None => {}
            }
        }
        let mut body = vec![0; length];
        socket.read_exact(&mut body)?;
        let body: Value = serde_json::from_slice(&body)?;
        ledger.write_all(format!("{}\n", body["event"]["data"]["new"]["id"]).as_bytes())?;
        write!(socket.get_mut(), "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
    }
}

/// Largest number of events that the writer lets wait.
const BACKLOG_MAX: i64 = 200;

/// Writes rows of a file of SQLite's until it is killed, as fast as they are delivered.
fn write_rows(path: &Path) {
    let connection = rusqlite::Connection::open(path).expect("it is opened");
    connection.busy_timeout(Duration::from_secs(30)).expect("it is set");
    loop {
        let sql = "SELECT count(*) FROM hdb_event_log WHERE delivered = 0";
        let backlog: rusqlite::Result<i64> = connection.query_row(sql, [], |row| row.get(0));
        if backlog.is_ok_and(|it| it > BACKLOG_MAX) {
            std::thread::yield_now();
            continue;
        }
        // A lock that lasts is no reason to end.
        let _ = connection.execute("INSERT INTO orders (status) VALUES ('new')", []);
    }
}

/// Rows that the calls in the ledger tell, in the order of the calls.
fn read_ledger(path: &Path) -> Vec<i64> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.split_inclusive('\n').filter_map(|it| it.strip_suffix('\n'));
    lines.map(|it| it.parse().expect("a number")).collect()
}

/// Calls by the row that they tell.
fn count_calls(calls: &[i64]) -> BTreeMap<i64, usize> {
    let mut counts = BTreeMap::new();
    for row in calls {
        *counts.entry(*row).or_default() += 1;
    }
    counts
}

/// Compares the calls of a quiet time with its changes: each is told once, and where calls come one by one in their order.
fn check_quiet(calls: &[i64], changes: &[i64], is_in_order: bool) -> Result<(), String> {
    let told = count_calls(calls);
    let lost = changes.iter().filter(|it| !told.contains_key(it)).count();
    let doubled = told.values().filter(|it| **it > 1).count();
    if lost > 0 || doubled > 0 || told.len() != changes.len() {
        return Err(format!("of {} changes {lost} were not told, {doubled} more than once", changes.len()));
    }
    match calls.iter().zip(changes).find(|(call, change)| call != change) {
        Some((call, change)) if is_in_order => Err(format!("{call} was told in the place of {change}")),
        Some(_) | None => Ok(()),
    }
}

/// Compares the ledger with the rows that are there.
fn check_ledger(ledger: &Path, rows: &BTreeSet<i64>, kills: usize) {
    let told = count_calls(&read_ledger(ledger));
    let lost: Vec<&i64> = rows.iter().filter(|it| !told.contains_key(it)).collect();
    let made_up: Vec<&i64> = told.keys().filter(|it| !rows.contains(it)).collect();
    assert!(lost.is_empty(), "{} of {} changes were not told: {lost:?}", lost.len(), rows.len());
    assert!(made_up.is_empty(), "changes were told that were not committed: {made_up:?}");
    let doubles: usize = told.values().map(|it| it - 1).sum();
    println!("{} changes, {doubles} told twice, {kills} kills", rows.len());
    assert!(doubles <= kills * IN_WORK_MAX, "{doubles} doubles by {kills} kills");
}

struct Parties {
    ledger: PathBuf,
    port: u16,
    receiver: Program,
}

impl Parties {
    fn new(folder: &Folder) -> Self {
        let ledger = folder.file("ledger");
        let port = free_port();
        let receiver = start_receiver(port, &ledger);
        Self { ledger, port, receiver }
    }

    fn triggers(&self) -> Value {
        let mut told = trigger("told", &format!("http://127.0.0.1:{}/", self.port));
        told["retry_conf"] = json!({ "num_retries": 100_000, "interval_sec": 1, "timeout_sec": 5 });
        told["definition"] = json!({ "insert": { "columns": "*" } });
        json!([told])
    }

    /// Waits until some calls have come since `before`.
    fn await_calls(&self, before: usize) {
        let wanted = before + CALLS_PER_KILL;
        until("calls come", || self.count() >= wanted);
    }

    fn count(&self) -> usize {
        read_ledger(&self.ledger).len()
    }

    /// Waits until all `changes` are told behind the first `before` calls and nothing waits, and compares.
    fn check_quiet(
        &self,
        before: usize,
        changes: &[i64],
        is_in_order: bool,
        is_idle: impl Fn() -> bool,
    ) -> Result<(), String> {
        until("all is delivered", || self.count() >= before + changes.len() && is_idle());
        check_quiet(&read_ledger(&self.ledger)[before..], changes, is_in_order)
    }

    fn kill_receiver(&mut self) {
        self.receiver.kill();
        self.receiver = start_receiver(self.port, &self.ledger);
    }
}

fn start_receiver(port: u16, ledger: &Path) -> Program {
    let ledger = ledger.display().to_string();
    let receiver =
        Program::start("receiver", &[("LEDGER_PORT", &port.to_string()), ("LEDGER_FILE", &ledger)]);
    until("the receiver listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    receiver
}

/// A server of the metadata in `folder`.
fn serve(folder: &Path) -> Weir {
    Weir::start(&["serve", &folder.join("weir.yaml").display().to_string()], Folder::new())
}

/// A server that makes one call at a time.
fn serve_one_by_one(folder: &Path) -> Weir {
    let mut command = crate::support::command();
    command.arg("serve").arg(folder.join("weir.yaml")).env("WEIR_EVENTS_HTTP_POOL_SIZE", "1");
    Weir::run(&mut command, Folder::new())
}

fn write_settings(folder: &Folder) {
    folder.write("weir.yaml", "listen: 127.0.0.1:0\nthreads: 1\nadmin_secret: hush\nmetadata: metadata\n");
}

/// A cluster with the shop, parties, and metadata of it in `folder`.
fn prepare_postgres(folder: &Folder) -> (Cluster, Parties) {
    let mut cluster = Cluster::new();
    cluster.start();
    cluster.sql(&SHOP.replace("id INTEGER PRIMARY KEY", "id serial PRIMARY KEY"));
    let parties = Parties::new(folder);
    let store = Store::Sqlite(PathBuf::new());
    write_shop(folder, &store, &parties.triggers());
    let sources = folder.file("metadata/databases/databases.yaml");
    let text = std::fs::read_to_string(&sources).expect("it is there");
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", cluster.port);
    std::fs::write(
        &sources,
        text.replace("\"sqlite:\"", &format!("\"{url}\""))
            .replace("\"kind\":\"sqlite\"", "\"kind\":\"postgres\""),
    )
    .expect("it is written");
    write_settings(folder);
    (cluster, parties)
}

/// True if no event waits and none is in work.
fn is_idle(cluster: &Cluster) -> bool {
    cluster.sql("SELECT count(*) FROM hdb_catalog.event_log WHERE NOT delivered OR locked IS NOT NULL") == "0"
}

/// Rows of orders, in their order.
fn rows_of(cluster: &Cluster) -> Vec<i64> {
    cluster.sql("SELECT id FROM orders ORDER BY id").lines().map(|it| it.parse().expect("a number")).collect()
}

/// Commits changes one by one while nobody is killed, and compares.
fn be_quiet(cluster: &Cluster, parties: &Parties, is_in_order: bool) -> Result<(), String> {
    let known = rows_of(cluster).len();
    let before = parties.count();
    cluster.sql(&QUIET_INSERT.repeat(if is_in_order { QUIET_IN_ORDER } else { QUIET }));
    let changes = rows_of(cluster).split_off(known);
    parties.check_quiet(before, &changes, is_in_order, || is_idle(cluster))
}

/// One change of the quiet time.
const QUIET_INSERT: &str = "BEGIN; INSERT INTO orders (status) VALUES ('quiet'); COMMIT; ";

#[test]
fn nothing_is_lost_on_postgresql_whoever_is_killed() {
    let folder = Folder::new();
    let (mut cluster, mut parties) = prepare_postgres(&folder);
    let mut servers = [serve(&folder.0), serve(&folder.0)];
    let ends = AtomicBool::new(false);
    let port = cluster.port.to_string();
    let kills = kills();
    std::thread::scope(|scope| {
        scope.spawn(|| write_by_psql(&port, &ends));
        for round in 0..kills {
            for party in 0..3 {
                let before = parties.count();
                match party {
                    0 => servers[round % 2] = replace_server(&mut servers[round % 2], &folder.0),
                    1 => {
                        cluster.signal("-KILL");
                        cluster.stop();
                        cluster.start();
                    }
                    _ => parties.kill_receiver(),
                }
                parties.await_calls(before);
            }
        }
        ends.store(true, Ordering::Relaxed);
    });
    until("all is delivered", || is_idle(&cluster));
    check_ledger(&parties.ledger, &rows_of(&cluster).into_iter().collect(), 3 * kills);
    assert_eq!(cluster.sql("SELECT count(*) FROM hdb_catalog.event_log WHERE error"), "0");
    assert_eq!(be_quiet(&cluster, &parties, false), Ok(()));
    drop(servers);
    let _server = serve_one_by_one(&folder.0);
    assert_eq!(be_quiet(&cluster, &parties, true), Ok(()));
}

#[test]
fn a_ledger_sees_a_lost_lock_and_a_broken_capture() {
    let folder = Folder::new();
    let (cluster, mut parties) = prepare_postgres(&folder);
    let _servers = [serve(&folder.0), serve(&folder.0)];
    assert_eq!(be_quiet(&cluster, &parties, false), Ok(()));
    let (known, before) = (rows_of(&cluster).len(), parties.count());
    parties.receiver.signal("-STOP");
    cluster.sql(&QUIET_INSERT.repeat(10));
    let in_work = "SELECT count(*) FROM hdb_catalog.event_log WHERE locked IS NOT NULL";
    until("events are in work", || cluster.sql(in_work) == "10");
    cluster.sql("UPDATE hdb_catalog.event_log SET locked = NULL, weir_owner = NULL WHERE locked IS NOT NULL");
    until("others have them, too", || cluster.sql(in_work) == "10");
    parties.receiver.signal("-CONT");
    until("the calls come", || parties.count() >= before + 20 && is_idle(&cluster));
    let words = check_quiet(&read_ledger(&parties.ledger)[before..], &rows_of(&cluster)[known..], false)
        .expect_err("a lost lock is seen");
    assert_eq!(words, "of 10 changes 0 were not told, 10 more than once");
    parties.kill_receiver();
    let known = rows_of(&cluster).len();
    let before = parties.count();
    cluster.sql("ALTER TABLE orders DISABLE TRIGGER USER; INSERT INTO orders (status) VALUES ('lost'); ALTER TABLE orders ENABLE TRIGGER USER; INSERT INTO orders (status) VALUES ('told')");
    until("all is delivered", || parties.count() > before && is_idle(&cluster));
    let words = check_quiet(&read_ledger(&parties.ledger)[before..], &rows_of(&cluster)[known..], false)
        .expect_err("a broken capture is seen");
    assert_eq!(words, "of 2 changes 1 were not told, 0 more than once");
}

#[test]
fn calls_that_are_not_in_their_order_are_seen() {
    let changes: Vec<i64> = (0..300).collect();
    assert_eq!(check_quiet(&changes, &changes, true), Ok(()));
    let late: Vec<i64> = (1..300).chain([0]).collect();
    assert_eq!(check_quiet(&late, &changes, false), Ok(()));
    assert_eq!(check_quiet(&late, &changes, true), Err("1 was told in the place of 0".into()));
}

/// Kills a server and starts another one.
fn replace_server(server: &mut Weir, folder: &Path) -> Weir {
    server.child.kill().expect("it is killed");
    server.child.wait().expect("it ends");
    serve(folder)
}

/// Inserts rows, a few in each transaction, however often the database goes away.
fn write_by_psql(port: &str, ends: &AtomicBool) {
    while !ends.load(Ordering::Relaxed) {
        let mut psql = cluster_kit::command(cluster_kit::bin("psql"));
        psql.args(["-Xq", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-d", "postgres"]);
        psql.args(["-c", "INSERT INTO orders (status) SELECT 'new' FROM generate_series(1, 5)"]);
        // The table says which of them were committed.
        let _ = psql.stderr(Stdio::null()).output();
    }
}

#[test]
fn nothing_is_lost_on_sqlite_whoever_is_killed() {
    let folder = Folder::new();
    let mut parties = Parties::new(&folder);
    let store = crate::events_kit::sqlite_shop(&folder);
    write_shop(&folder, &store, &parties.triggers());
    write_settings(&folder);
    let mut servers = [serve(&folder.0), serve(&folder.0)];
    let database = folder.file("shop.db").display().to_string();
    let write = || Program::start("writer", &[("LEDGER_DATABASE", &database)]);
    let mut writer = write();
    let kills = kills();
    for round in 0..kills {
        for party in 0..3 {
            let before = parties.count();
            match party {
                0 => servers[round % 2] = replace_server(&mut servers[round % 2], &folder.0),
                1 => {
                    writer.kill();
                    writer = write();
                }
                _ => parties.kill_receiver(),
            }
            parties.await_calls(before);
        }
    }
    writer.kill();
    let is_idle = || store.texts("SELECT count(*) FROM hdb_event_log WHERE delivered = 0") == ["0"];
    until("all is delivered", is_idle);
    let rows = || -> Vec<i64> {
        let rows = store.texts("SELECT id FROM orders ORDER BY id");
        rows.iter().map(|it| it.parse().expect("a number")).collect()
    };
    let known = rows();
    check_ledger(&parties.ledger, &known.iter().copied().collect(), 3 * kills);
    let before = parties.count();
    let insert = "INSERT INTO orders (status) VALUES ('quiet'); ";
    store.run(&insert.repeat(QUIET));
    assert_eq!(parties.check_quiet(before, &rows()[known.len()..], false, is_idle), Ok(()));
    drop(servers);
    let _server = serve_one_by_one(&folder.0);
    let (known, before) = (rows().len(), parties.count());
    store.run(&insert.repeat(QUIET_IN_ORDER));
    assert_eq!(parties.check_quiet(before, &rows()[known..], true, is_idle), Ok(()));
}
