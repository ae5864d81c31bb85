//! Long answers of a native store: they leave as they are made, wait for who reads them, and end with him.

use crate::support;
use crate::support::{Folder, Weir, body, command, message, until};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Dishes, and bytes of each one's note: an answer of about 100 MB.
const DISHES: usize = 10_000;
const NOTE_BYTES: usize = 10_000;
/// Memory that one answer of any length may take, beside the pages of its database. One cook has 10 MB of dishes, which are
/// gathered, written to memory that doubles while it grows, and partly kept by the allocator for the next.
const GROWTH_KB_MAX: u64 = 64 * 1024;

const TYPES: &str = "type Dish { id: ID!, name: String! @search(by: [hash]), note: String, cook: Cook }\n\
                     type Cook { name: String! @id, dishes: [Dish] @hasInverse(field: cook) }\n";
const NESTED: &str = "{ queryCook { name dishes { name note } } }";

/// A store of ten cooks with all the dishes, served.
fn kitchen() -> Weir {
    let folder = Folder::new();
    folder.write("shop.graphql", TYPES);
    let mut cooks = String::new();
    for id in 1..=10 {
        writeln!(cooks, "{{\"__id\":{id},\"name\":\"cook {id}\"}}").expect("a string takes all");
    }
    let note = "n".repeat(NOTE_BYTES);
    let mut dishes = String::new();
    for at in 0..DISHES {
        let id = 100 + at;
        let cook = 1 + at % 10;
        writeln!(dishes, "{{\"id\":{id},\"name\":\"dish {at}\",\"note\":\"{note}\",\"cook\":\"{cook:#x}\"}}")
            .expect("a string takes all");
    }
    for (name, text) in [("Cook.ndjson", &cooks), ("Dish.ndjson", &dishes)] {
        folder.write(name, text);
    }
    let import = ["import", "Cook.ndjson", "Dish.ndjson", "--into", "shop.graphql"];
    for arguments in [&["migrate", "shop.graphql"] as &[&str], &import] {
        let done = command().current_dir(&folder.0).args(arguments).output().expect("the binary starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let yaml = "listen: 127.0.0.1:0\nlimits: {write_s: 2}\nsources: [{name: shop, native: shop.graphql}]\n";
    let file = folder.write("weir.yaml", yaml);
    Weir::by_file(&file, folder)
}

/// Asks and reads nothing yet.
fn ask(weir: &Weir, query: &str) -> TcpStream {
    let mut socket = weir.connect();
    let headers = [("content-type", "application/json"), ("connection", "close")];
    let raw = message("POST", "/graphql", &headers, Some(body(query).as_bytes()));
    socket.write_all(&raw).expect("it is sent");
    socket
}

/// Memory of the server that is nobody else's and in no file, in kB.
fn anonymous_kb(weir: &Weir) -> u64 {
    let status = support::read(format!("/proc/{}/status", weir.child.id()).as_ref());
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:"));
    let digits = line.and_then(|it| it.split_whitespace().next()).expect("the kernel says so");
    digits.parse().expect("a number")
}

fn connections(weir: &Weir) -> Option<u64> {
    let page = weir.get("/metrics", &[]);
    page.text().lines().find_map(|it| it.strip_prefix("weir_connections ")?.parse().ok())
}

/// A connection on which the answer has begun.
fn begin_answer(weir: &Weir) -> TcpStream {
    let mut socket = ask(weir, NESTED);
    let mut first = [0; 12];
    socket.read_exact(&mut first).expect("it begins at once");
    assert_eq!(&first, b"HTTP/1.1 200");
    socket
}

#[test]
fn a_long_answer_waits_for_its_reader_and_takes_little_memory() {
    let weir = kitchen();
    assert_eq!(weir.query(r#"{ getCook(name: "cook 1") { name } }"#).status, 200);
    let before_kb = anonymous_kb(&weir);
    let mut socket = ask(&weir, NESTED);
    let mut all = Vec::new();
    let mut most_kb = before_kb;
    let mut piece = vec![0; 1 << 20];
    loop {
        let len = socket.read(&mut piece).expect("it goes on");
        if len == 0 {
            break;
        }
        all.extend_from_slice(&piece[..len]);
        most_kb = most_kb.max(anonymous_kb(&weir));
    }
    let grown_kb = most_kb - before_kb;
    assert!(all.len() > DISHES * NOTE_BYTES, "{} bytes", all.len());
    assert!(all.starts_with(b"HTTP/1.1 200") && all.ends_with(b"0\r\n\r\n"), "it is whole");
    assert!(grown_kb < GROWTH_KB_MAX, "{grown_kb} kB for {} bytes", all.len());
}

#[test]
fn a_reader_that_leaves_or_stops_frees_what_answered_him() {
    let weir = kitchen();
    for _ in 0..8 {
        drop(begin_answer(&weir));
    }
    until("those who left are gone", || connections(&weir) == Some(1));
    // These stay and read nothing more: they are cut off.
    let lazy: Vec<TcpStream> = (0..4).map(|_| begin_answer(&weir)).collect();
    let add = r#"mutation { addDish(input: [{name: "late"}]) { numUids } }"#;
    assert!(weir.query(add).text().contains(r#""numUids":1"#));
    until("those who do not read are cut off", || connections(&weir) == Some(1));
    for mut socket in lazy {
        let mut rest = Vec::new();
        // The bytes in the sockets' buffers still arrive.
        let _ = socket.read_to_end(&mut rest);
        assert!(!rest.ends_with(b"0\r\n\r\n"), "the answer came whole");
    }
    assert!(weir.query(r#"{ queryDish(filter: {name: {eq: "late"}}) { name } }"#).text().contains("late"));
}
