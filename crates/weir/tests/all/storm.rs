//! Storms of mutations over one store: its server is killed again and again, two servers write at once, a copy is made meanwhile.
//! An acknowledged change is in the store; any other is there whole or not at all.
//!
//! `make soak` kills more often (`WEIR_KILLS`).

use crate::shelf_kit::{Change, Dice, Shelf, TYPES, check_sound, open};
use crate::support::{Folder, Weir, body, command, connect, message};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// First letters of the names of the concurrent writers.
const LETTERS: [char; 6] = ['a', 'b', 'c', 'd', 'e', 'f'];
/// At most so many mutations are acknowledged before the server is killed.
const ACKNOWLEDGED_MAX: usize = 60;

/// One who writes: what is there of his, and what may be there too because he heard nothing of it.
struct Writer {
    letter: char,
    dice: Dice,
    number: usize,
    shelf: Shelf,
    pending: Option<Change>,
    /// The writer's objects after each change since the storm began.
    history: Vec<Shelf>,
}

/// Those who write, `seed` being where their dice begin.
fn writers(seed: u64) -> Vec<Writer> {
    let writer = |&letter: &char| Writer {
        letter,
        dice: Dice(seed ^ (u64::from(u32::from(letter)) << 32)),
        number: 0,
        shelf: Shelf::default(),
        pending: None,
        history: vec![Shelf::default()],
    };
    LETTERS.iter().map(writer).collect()
}

/// Sends `request`; the body of the answer, or nothing if the server is gone.
fn exchange(socket: &mut BufReader<TcpStream>, request: &str) -> Option<Vec<u8>> {
    let bytes =
        message("POST", "/graphql", &[("content-type", "application/json")], Some(body(request).as_bytes()));
    socket.get_mut().write_all(&bytes).ok()?;
    let mut length = None;
    let mut line = String::new();
    loop {
        line.clear();
        if socket.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok(),
            Some(_) => {}
            None if line.trim_end().is_empty() => break,
            None => {}
        }
    }
    let mut answer = vec![0; length.expect("a mutation's answer has a length")];
    socket.read_exact(&mut answer).ok()?;
    Some(answer)
}

impl Writer {
    /// Changes one thing after another, at most `count`, until the server is gone.
    fn storm(&mut self, address: SocketAddr, count: usize, acknowledged: &Sender<()>) {
        let mut socket = BufReader::new(connect(address));
        self.history = vec![self.shelf.clone()];
        for _ in 0..count {
            self.number += 1;
            let change = Change::next(&mut self.dice, &self.shelf, self.letter, self.number);
            let answer = exchange(&mut socket, &change.request());
            let Some(answer) = answer else {
                self.pending = Some(change);
                return;
            };
            let answer: serde_json::Value = serde_json::from_slice(&answer).expect("an answer is JSON");
            assert!(answer.get("errors").is_none(), "{answer} to {}", change.request());
            change.apply(&mut self.shelf);
            self.history.push(self.shelf.clone());
            // The receiver has killed the server by now, or is about to receive another acknowledgement.
            let _ = acknowledged.send(());
        }
    }

    /// Takes note of what became of what was pending.
    fn check(&mut self, found: Shelf, seed: u64) {
        let mut after = self.shelf.clone();
        self.pending.iter().for_each(|it| it.apply(&mut after));
        assert!(
            found == self.shelf || found == after,
            "seed {seed}: acknowledged was {:#?}\npending was {:?}\nfound was {found:#?}",
            self.shelf,
            self.pending
        );
        self.pending = None;
        self.shelf = found;
    }
}

/// Checks what a server that was killed has left: by SQL, and by the API.
fn check_left(writers: &mut [Writer], store: &Path, weir: &Weir, seed: u64) {
    let opened = open(store);
    check_sound(&opened);
    for writer in writers.iter_mut() {
        writer.check(Shelf::read(&opened, writer.letter), seed);
    }
    let request = "{ queryBook { code author { books { code } } genres { books { code } } prequel { sequel { code } } } }";
    let answer = weir.query(request).json();
    let books = answer["data"]["queryBook"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(books.len(), writers.iter().map(|it| it.shelf.books.len()).sum::<usize>());
    for book in books {
        let own = |of: &serde_json::Value| {
            let there =
                of["books"].as_array().is_some_and(|it| it.iter().any(|it| it["code"] == book["code"]));
            assert!(there, "an edge of {book} leads one way only");
        };
        book["author"].as_object().into_iter().for_each(|_| own(&book["author"]));
        book["genres"].as_array().into_iter().flatten().for_each(own);
        if book["prequel"].is_object() {
            assert_eq!(book["prequel"]["sequel"]["code"], book["code"], "an edge leads one way only");
        }
    }
}

#[test]
fn what_was_acknowledged_survives_every_kill_and_nothing_is_half_done() {
    let kills = std::env::var("WEIR_KILLS").map_or(50, |it| it.parse().expect("WEIR_KILLS is a number"));
    let seed = std::env::var("WEIR_SEED").map_or(0x5eed, |it| it.parse().expect("WEIR_SEED is a number"));
    let (_folder, file, store) = types();
    let serve = || Weir::serving(&file.display().to_string());
    let mut dice = Dice(seed);
    let mut writers = writers(seed);
    let mut slowest = Duration::ZERO;
    let mut acknowledged = 0;
    let mut pending = 0;
    for _ in 0..kills {
        let begun = Instant::now();
        let weir = serve();
        slowest = slowest.max(begun.elapsed());
        let address = weir.address;
        check_left(&mut writers, &store, &weir, seed);
        let (tell, told) = channel();
        let enough = 1 + dice.roll(ACKNOWLEDGED_MAX);
        std::thread::scope(|scope| {
            for writer in &mut writers {
                let tell = tell.clone();
                scope.spawn(move || writer.storm(address, usize::MAX, &tell));
            }
            drop(tell);
            acknowledged += told.iter().take(enough).count();
            // By a signal that it cannot hear.
            drop(weir);
        });
        pending += writers.iter().filter(|it| it.pending.is_some()).count();
    }
    check_left(&mut writers, &store, &serve(), seed);
    println!(
        "{kills} kills, {acknowledged} mutations waited for, {pending} cut off; the slowest start took {slowest:?}"
    );
    assert!(acknowledged >= kills, "the storms were storms");
}

/// A folder with the types, and the file of their store.
fn types() -> (Folder, std::path::PathBuf, std::path::PathBuf) {
    let folder = Folder::new();
    let file = folder.write("shelf.graphql", TYPES);
    let store = folder.file("shelf.weir.db");
    (folder, file, store)
}

#[test]
fn two_servers_may_write_to_one_store() {
    let (_folder, file, store) = types();
    let servers = [0, 1].map(|_| Weir::serving(&file.display().to_string()));
    let mut writers = writers(0xb07);
    std::thread::scope(|scope| {
        for (at, writer) in writers.iter_mut().enumerate() {
            let address = servers[at % 2].address;
            scope.spawn(move || writer.storm(address, 30, &channel().0));
        }
    });
    assert!(writers.iter().all(|it| it.pending.is_none() && it.history.len() == 31));
    servers.iter().for_each(|it| check_left(&mut writers, &store, it, 0xb07));
}

#[test]
fn a_server_whose_store_got_other_types_writes_nothing_until_it_has_read_them() {
    let (folder, file, store) = types();
    let weir = Weir::serving(&file.display().to_string());
    let add = r#"mutation { addAuthor(input: [{name: "Ada"}]) { numUids } }"#;
    assert_eq!(weir.query(add).text(), r#"{"data":{"addAuthor":{"numUids":1}}}"#);
    // By a file that the server does not watch.
    let other = folder.write("other.graphql", &format!("{TYPES}type Shop {{ name: String! @id }}"));
    let mut migrate = command();
    migrate.arg("migrate").arg(other).arg("--store").arg(&store);
    assert!(migrate.output().expect("the binary starts").status.success());
    assert_eq!(weir.query(&add.replace("Ada", "Bob")).code(), "SCHEMA_CHANGED");
    assert_eq!(weir.query("{ queryAuthor { name } }").text(), r#"{"data":{"queryAuthor":[{"name":"Ada"}]}}"#);
}

#[test]
fn a_copy_made_in_a_storm_is_the_store_of_one_moment() {
    let (folder, file, store) = types();
    let weir = Weir::serving(&file.display().to_string());
    let mut writers = writers(0xc0b1);
    let copies = std::thread::scope(|scope| {
        let (tell, told) = channel();
        for writer in &mut writers {
            let tell = tell.clone();
            let address = weir.address;
            scope.spawn(move || writer.storm(address, 40, &tell));
        }
        drop(tell);
        let save = |copy: String| {
            assert!(told.iter().take(20).count() == 20, "the storm goes on");
            let copy = folder.file(&copy);
            let saved = command().arg("backup").arg(&copy).arg(&file).output().expect("the binary starts");
            assert!(saved.status.success(), "{}", String::from_utf8_lossy(&saved.stderr));
            copy
        };
        (0..3).map(|at| save(format!("copy{at}.db"))).collect::<Vec<_>>()
    });
    for copy in &copies {
        let copy = open(copy);
        check_sound(&copy);
        for writer in &writers {
            let found = Shelf::read(&copy, writer.letter);
            assert!(writer.history.contains(&found), "the copy has of {} {found:#?}", writer.letter);
        }
    }
    drop(weir);
    std::fs::copy(&copies[2], &store).expect("a file can be copied");
    for ending in ["-wal", "-shm"] {
        let beside = store.with_extension(format!("db{ending}"));
        assert!(!beside.exists() || std::fs::remove_file(beside).is_ok());
    }
    let weir = Weir::serving(&file.display().to_string());
    assert!(weir.query("{ queryBook { code } }").text().starts_with(r#"{"data":{"queryBook":[{"code":"#));
}

/// Serves a store of which `trouble` has made something else.
fn check_refused(trouble: fn(&Path), part: &str) {
    let (_folder, file, store) = types();
    drop(Weir::serving(&file.display().to_string()));
    trouble(&store);
    let output = command().arg("serve").arg(&file).args(["--listen", "127.0.0.1:0"]).output();
    let output = output.expect("the binary starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains(part), "{words}");
}

#[test]
fn a_store_that_is_none_is_not_served() {
    let later = |store: &Path| {
        open(store).execute_batch("UPDATE weir_store SET format = 9").expect("the statement is right");
    };
    check_refused(later, "the store has format 9, this Weir knows 3");
    let other =
        |store: &Path| std::fs::write(store, "no database ".repeat(1000)).expect("a file can be written");
    check_refused(other, "shelf.weir.db: file is not a database");
    let torn = |store: &Path| {
        let mut bytes = std::fs::read(store).expect("a file can be read");
        bytes[100..4096].fill(0xa5);
        std::fs::write(store, bytes).expect("a file can be written");
        std::fs::remove_file(store.with_extension("db-wal")).expect("the server was killed");
    };
    check_refused(torn, "shelf.weir.db: database disk image is malformed");
}
