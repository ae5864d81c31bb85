//! Subscribers that read nothing, or are gone: what waits for them has a bound, they are cut off, and others go on.

use crate::live::stream;
use crate::sockets::{ACK, INIT, NEW, begin, hear, patient, say, socket};
use crate::support::{Folder, Weir, body, message, until};
use socket2::{Domain, SockRef, Socket, Type};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Command;
use tokio_tungstenite::tungstenite::WebSocket;

/// Bytes that the system takes for a client that does not read. It rounds this up.
const RECEIVE_BYTES: usize = 16 * 1024;
const JSON: (&str, &str) = ("content-type", "application/json");
const TRANSPORTS: [&str; 2] = ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"];
const CHANGES: u32 = 60;

/// Notes of 10 kB; the text of the first is a number, which changes.
fn notes(count: u32, limits: &str) -> Weir {
    let folder = Folder::new();
    let database = rusqlite::Connection::open(folder.file("notes.db")).expect("SQLite makes a file");
    let sql = format!(
        "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
         INSERT INTO note SELECT i, CASE i WHEN 1 THEN '0' ELSE replace(hex(zeroblob(5000)), '0', 'n') END FROM n"
    );
    database.execute_batch(&sql).expect("the statements are right");
    let yaml = format!(
        "listen: 127.0.0.1:0\nthreads: 1\nlimits: {{socket_init_s: 60, {limits}}}\nsources: [{{name: notes, url: notes.db}}]\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

/// The subscription to the first `count` notes.
fn list(count: u32) -> String {
    body(&format!("subscription {{ note(order_by: {{id: asc}}, limit: {count}) {{ text }} }}"))
}

/// The number that a result of [`list`] begins with; nothing in what is no result.
fn number(text: &str) -> Option<u32> {
    text.split_once(r#""note":[{"text":""#)?.1.split('"').next()?.parse().ok()
}

fn change(weir: &Weir, number: u32) {
    let mutation = format!(
        "mutation {{ update_note_by_pk(pk_columns: {{id: 1}}, _set: {{text: \"{number}\"}}) {{ id }} }}"
    );
    assert_eq!(weir.query(&mutation).text(), r#"{"data":{"update_note_by_pk":{"id":1}}}"#);
}

fn subscribe(weir: &Weir, operation: &str) -> WebSocket<TcpStream> {
    let mut socket = socket(weir, "/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "a", operation));
    socket
}

fn has_little_room(socket: &TcpStream) {
    SockRef::from(socket).set_recv_buffer_size(RECEIVE_BYTES).expect("it is a TCP socket");
}

/// Clients of `operation` that have read nothing of it, over each transport: what gives the next result as text.
fn slow_clients(weir: &Weir, operation: &str) -> Vec<Box<dyn FnMut() -> String>> {
    let mut socket = subscribe(weir, operation);
    has_little_room(socket.get_ref());
    let mut clients: Vec<Box<dyn FnMut() -> String>> = vec![Box::new(move || hear(&mut socket))];
    for accept in TRANSPORTS {
        let raw = message("POST", "/graphql", &[JSON, ("accept", accept)], Some(operation.as_bytes()));
        let (_, mut reader) = stream(weir, &raw);
        has_little_room(reader.get_ref());
        clients.push(Box::new(move || next_line(&mut reader)));
    }
    clients
}

/// The next line with a result.
fn next_line(reader: &mut BufReader<TcpStream>) -> String {
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).expect("there is more") > 0, "the stream ended");
        if line.contains(r#""data":"#) {
            return line;
        }
    }
}

/// The value of a metric without labels.
pub(crate) fn metric(weir: &Weir, name: &str) -> u64 {
    let page = weir.get("/metrics", &[]);
    let line = page.text().lines().find_map(|it| it.strip_prefix(&format!("{name} "))?.parse().ok());
    line.unwrap_or_else(|| panic!("{name} is not in {}", page.text()))
}

/// Memory of the server, in kilobytes.
fn memory_kb(weir: &Weir) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", weir.child.id())).expect("it runs");
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).expect("it has memory");
    line.trim().trim_end_matches(" kB").parse().expect("it is a number")
}

/// Makes so many changes, each of which `fast` sees before the next.
fn change_all(weir: &Weir, fast: &mut WebSocket<TcpStream>, changes: u32) {
    for at in 1..=changes {
        change(weir, at);
        assert_eq!(number(&hear(fast)), Some(at));
    }
}

#[test]
fn a_slow_client_of_a_live_query_gets_the_newest_result_over_every_transport() {
    let weir = notes(100, "write_s: 600");
    let mut slow = slow_clients(&weir, &list(100));
    let mut fast = subscribe(&weir, &list(100));
    assert_eq!(number(&hear(&mut fast)), Some(0));
    let before_kb = memory_kb(&weir);
    change_all(&weir, &mut fast, CHANGES);
    let grown_kb = memory_kb(&weir).saturating_sub(before_kb);
    // All results for the three slow ones would be 180 MB.
    assert!(grown_kb < 64_000, "{grown_kb} kB more");
    for next in &mut slow {
        let mut seen = vec![number(&next()).expect("a result")];
        while seen.last() != Some(&CHANGES) {
            seen.push(number(&next()).expect("a result"));
        }
        assert!(seen.is_sorted_by(|one, other| one < other), "{seen:?}");
        assert!(seen.len() < CHANGES as usize / 2, "most were skipped: {seen:?}");
    }
}

#[test]
fn a_slow_client_of_a_stream_gets_every_row_once_and_batches_are_not_read_ahead() {
    let weir = notes(1000, "write_s: 600");
    let operation =
        body("subscription { note_stream(batch_size: 20, cursor: {initial_value: {id: 0}}) { id text } }");
    let mut slow = slow_clients(&weir, &operation);
    let mut fast = subscribe(&weir, &operation);
    let ids = |text: &str| {
        let parts = text.split(r#"{"id":"#).skip(1);
        parts
            .map(|it| it.split(',').next().unwrap_or_default().parse().expect("a number"))
            .collect::<Vec<u32>>()
    };
    let all = |next: &mut dyn FnMut() -> String| {
        let mut seen = Vec::new();
        while seen.len() < 1000 {
            seen.extend(ids(&next()));
        }
        assert!(seen.iter().copied().eq(1..=1000), "{seen:?}");
    };
    all(&mut || hear(&mut fast));
    // 50 batches of 200 kB for the fast one, and for each slow one as many as sockets hold.
    let reads = metric(&weir, "weir_live_reads_total");
    assert!(reads < 50 + 3 * 25, "{reads} batches were read");
    slow.iter_mut().for_each(|next| all(next.as_mut()));
}

/// So many files may this process and that of `weir` have open together, if the system lets them have 5,000 sockets and some.
fn sockets_max(weir: &Weir) -> usize {
    const WANTED: usize = 5_000;
    /// Of other tests beside this, and of the server itself.
    const OTHERS: usize = 1_000;
    let limits = std::fs::read_to_string("/proc/self/limits").expect("the system has limits");
    let line = limits.lines().find_map(|it| it.strip_prefix("Max open files")).expect("one of files");
    let most: usize = line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1 << 20);
    for process in [std::process::id(), weir.child.id()] {
        let mut raise = Command::new("prlimit");
        raise.args(["--pid", &process.to_string(), &format!("--nofile={most}:")]);
        assert!(raise.status().expect("util-linux has it").success(), "{most} files");
    }
    most.min(WANTED + OTHERS) - OTHERS
}

/// A client that says all at once, and will read nothing, not even the answer to its handshake.
fn deaf(weir: &Weir, operation: &str) -> Socket {
    let socket = Socket::new(Domain::for_address(weir.address), Type::STREAM, None).expect("there is room");
    socket.set_recv_buffer_size(RECEIVE_BYTES).expect("it is a TCP socket");
    socket.connect(&weir.address.into()).expect("it listens");
    let mut all = format!(
        "GET /graphql HTTP/1.1\r\nhost: {}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: {NEW}\r\n\r\n",
        weir.address
    )
    .into_bytes();
    for text in [INIT.to_owned(), begin(NEW, "a", operation)] {
        // A whole text, masked by zeros.
        let length = text.len() as u16;
        match length {
            0..126 => all.extend([0x81, 0x80 | length as u8]),
            _ => all.extend([&[0x81, 0x80 | 126][..], &length.to_be_bytes()].concat()),
        }
        all.extend([0; 4]);
        all.extend(text.as_bytes());
    }
    (&socket).write_all(&all).expect("it is short");
    socket
}

#[test]
fn thousands_of_sockets_that_never_read_share_what_waits_for_them_and_others_go_on() {
    let weir = notes(3, "write_s: 600");
    let count = sockets_max(&weir);
    let operation = list(3);
    let mut lazy = Vec::with_capacity(count);
    let subscribed_now = || metric(&weir, "weir_subscriptions") as usize;
    while lazy.len() < count {
        let more = 500.min(count - lazy.len());
        lazy.extend((0..more).map(|_| deaf(&weir, &operation)));
        until("they are subscribed", || subscribed_now() == lazy.len());
    }
    let mut fast = subscribe(&weir, &operation);
    assert_eq!(number(&hear(&mut fast)), Some(0));
    let before_kb = memory_kb(&weir);
    change_all(&weir, &mut fast, 30);
    assert_eq!((subscribed_now(), metric(&weir, "weir_live_operations")), (count + 1, 1));
    assert!(metric(&weir, "weir_connections") as usize > count);
    assert_eq!(
        weir.query("{ note_by_pk(id: 1) { text } }").text(),
        r#"{"data":{"note_by_pk":{"text":"30"}}}"#
    );
    let grown_kb = memory_kb(&weir).saturating_sub(before_kb) as usize;
    // One result has 20 kB, of which no socket has a copy.
    assert!(grown_kb < count * 8, "{grown_kb} kB more for {count} sockets");
    drop(lazy);
    until("those who left are gone", || subscribed_now() == 1);
    change(&weir, 1000);
    assert_eq!(number(&hear(&mut fast)), Some(1000));
}

#[test]
fn a_client_that_never_reads_is_cut_off_over_every_transport() {
    let weir = notes(100, "write_s: 2");
    let lazy = slow_clients(&weir, &list(100));
    let mut fast = subscribe(&weir, &list(100));
    assert_eq!(number(&hear(&mut fast)), Some(0));
    let mut at = 0;
    until("they are cut off", || {
        at += 1;
        change(&weir, at);
        assert_eq!(number(&hear(&mut fast)), Some(at));
        metric(&weir, "weir_subscriptions") == 1
    });
    drop(lazy);
}

#[test]
fn a_flood_of_subscribe_is_answered_by_the_limit_and_others_go_on() {
    const ASKED: usize = 2000;
    let weir = patient("socket_operations_max: 10, socket_messages_per_second: 1000000");
    let name = |id: u32| body(&format!("subscription {{ pet_by_pk(id: {id}) {{ name }} }}"));
    let mut other = subscribe(&weir, &name(2));
    assert!(hear(&mut other).contains("Bob"));
    let mut flood = socket(&weir, "/graphql", NEW);
    say(&mut flood, INIT);
    assert_eq!(hear(&mut flood), ACK);
    let mut results = 0;
    let mut refused = 0;
    for at in 0..ASKED {
        say(&mut flood, &begin(NEW, &format!("s{at}"), &name(1)));
        // Its answers are read in between, or it would be one that never reads.
        let heard = hear(&mut flood);
        results += usize::from(heard.contains("Ada"));
        refused += usize::from(heard.contains("LIMIT_OPERATIONS"));
        if at % 500 == 0 {
            say(&mut other, &begin(NEW, "q", &body("{ pet_by_pk(id: 3) { name } }")));
            assert!(hear(&mut other).contains("Cyd"));
            assert_eq!(hear(&mut other), r#"{"type":"complete","id":"q"}"#);
        }
    }
    assert_eq!((results, refused), (10, ASKED - 10));
    assert_eq!((metric(&weir, "weir_subscriptions"), metric(&weir, "weir_live_operations")), (11, 2));
    drop(flood);
    until("they end with their socket", || metric(&weir, "weir_subscriptions") == 1);
}

#[test]
fn a_flood_whose_answers_nobody_reads_stops_by_itself() {
    let weir = patient("socket_operations_max: 10, socket_messages_per_second: 1000000, write_s: 2");
    let name = body("subscription { pet_by_pk(id: 1) { name } }");
    let mut flood = socket(&weir, "/graphql", NEW);
    has_little_room(flood.get_ref());
    let before_kb = memory_kb(&weir);
    let writer = std::thread::spawn(move || {
        // Until the server has closed the connection.
        let mut sent = vec![flood.send(INIT.into()).is_ok()];
        while sent.last() == Some(&true) {
            sent.push(flood.send(begin(NEW, &format!("s{}", sent.len()), &name).into()).is_ok());
        }
        sent.len()
    });
    until("it is cut off", || {
        assert_eq!(weir.query("{ pet_by_pk(id: 3) { name } }").status, 200, "others are answered");
        writer.is_finished()
    });
    writer.join().expect("it ends by the server");
    assert!(memory_kb(&weir).saturating_sub(before_kb) < 64_000);
    until("its subscriptions have ended", || metric(&weir, "weir_subscriptions") == 0);
}

#[test]
fn a_subscriber_that_is_silent_as_if_gone_ends_and_one_that_answers_pings_stays() {
    let weir = Weir::with_settings("threads: 1\nlimits: {idle_s: 2}");
    let name = body("subscription { pet_by_pk(id: 1) { name } }");
    let gone: Vec<_> = (0..20).map(|_| subscribe(&weir, &name)).collect();
    let mut here = subscribe(&weir, &name);
    assert!(hear(&mut here).contains("Ada"));
    let reader = std::thread::spawn(move || (hear(&mut here), here));
    until("those who answer no ping end", || metric(&weir, "weir_subscriptions") == 1);
    // This test's own request, and the one that stays.
    until("their connections are closed", || metric(&weir, "weir_connections") == 2);
    crate::live::rename(&weir, "Eve");
    let (heard, _here) = reader.join().expect("it reads");
    assert!(heard.contains("Eve"), "{heard}");
    drop(gone);
}
