//! A server that is killed at random points of a storm of mutations, again and again over one store: what was acknowledged is
//! there when it serves again, what was not is there whole or not at all.
//!
//! `make soak` does the same more often (`WEIR_KILLS`).

mod shelf_kit;
mod support;

use shelf_kit::{Change, Dice, Shelf, TYPES, check_sound, open};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use support::{Folder, Weir, body, connect, message};

/// Who writes at once, and how their names begin.
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
}

/// Sends `request`; the body of the answer, or nothing if the server is gone.
fn exchange(socket: &mut BufReader<TcpStream>, request: &str) -> Option<Vec<u8>> {
    let bytes =
        message("POST", "/graphql", &[("content-type", "application/json")], Some(body(request).as_bytes()));
    socket.get_mut().write_all(&bytes).ok()?;
    let (mut length, mut line) = (None, String::new());
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
    /// Changes one thing after another until the server is gone.
    fn storm(&mut self, address: SocketAddr, acknowledged: &Sender<()>) {
        let mut socket = BufReader::new(connect(address));
        loop {
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
            // Who listens has killed the server by now, or is about to hear of another.
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
fn check_left(writers: &mut [Writer], store: &Path, address: SocketAddr, seed: u64) {
    let opened = open(store);
    check_sound(&opened);
    for writer in writers.iter_mut() {
        writer.check(Shelf::read(&opened, writer.letter), seed);
    }
    let mut socket = BufReader::new(connect(address));
    let request = "{ queryBook { code author { books { code } } genres { books { code } } prequel { sequel { code } } } }";
    let answer = exchange(&mut socket, request).expect("it serves");
    let answer: serde_json::Value = serde_json::from_slice(&answer).expect("an answer is JSON");
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
    let folder = Folder::new();
    let file = folder.write("shelf.graphql", TYPES);
    let store = folder.file("shelf.weir.db");
    let serve = || Weir::serving(&file.display().to_string());
    let mut dice = Dice(seed);
    let mut writers: Vec<Writer> = LETTERS
        .iter()
        .map(|&letter| Writer {
            letter,
            dice: Dice(seed ^ (u64::from(u32::from(letter)) << 32)),
            number: 0,
            shelf: Shelf::default(),
            pending: None,
        })
        .collect();
    let (mut slowest, mut acknowledged, mut pending) = (Duration::ZERO, 0, 0);
    for _ in 0..kills {
        let begun = Instant::now();
        let weir = serve();
        slowest = slowest.max(begun.elapsed());
        let address = weir.address;
        check_left(&mut writers, &store, address, seed);
        let (tell, told) = channel();
        let enough = 1 + dice.roll(ACKNOWLEDGED_MAX);
        std::thread::scope(|scope| {
            for writer in &mut writers {
                let tell = tell.clone();
                scope.spawn(move || writer.storm(address, &tell));
            }
            drop(tell);
            acknowledged += told.iter().take(enough).count();
            // By a signal that it cannot hear.
            drop(weir);
        });
        pending += writers.iter().filter(|it| it.pending.is_some()).count();
    }
    check_left(&mut writers, &store, serve().address, seed);
    println!(
        "{kills} kills, {acknowledged} mutations waited for, {pending} cut off; the slowest start took {slowest:?}"
    );
    assert!(acknowledged >= kills, "the storms were storms");
}
