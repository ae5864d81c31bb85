//! A store on a disk that fails: every write and every sync of a mutation fails once, and what is found afterwards, in this
//! process, after its end and after a loss of power, is the mutation whole or nothing of it.

mod faulty_disk_kit;
mod shelf_kit;
mod support;

use faulty_disk_kit::{Disk, Fault, install};
use shelf_kit::{Book, Change, Shelf, TYPES, check_sound, open};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::Folder;
use tokio::runtime::Runtime;
use weir::Weir;
use weir_engine::source::Protocol;

/// All that there is belongs to this writer.
const LETTER: char = 'a';

/// So many bits of a log flip, one at a time.
const FLIPS: usize = 200;

/// A store that is open, and what it should hold.
struct Bench {
    weir: Weir,
    runtime: Runtime,
    folder: Folder,
    store: PathBuf,
    shelf: Shelf,
}

/// Every kind of change, each of which the next ones need.
fn changes() -> Vec<Change> {
    let name = |text: &str| format!("{LETTER}-{text}");
    let book = |title: &str, genres: &[&str]| Book {
        title: title.into(),
        genres: genres.iter().map(|it| name(it)).collect(),
        tags: genres.iter().map(|it| (*it).to_owned()).collect(),
        ..Book::default()
    };
    let books = vec![
        (name("1"), book("the first of them", &["sea", "war"])),
        (name("2"), book("the second of them", &["sea"])),
    ];
    let more = vec![(name("3"), book("the third of them", &["war", "love"]))];
    vec![
        Change::Add { author: name("ada"), books },
        Change::Add { author: name("bob"), books: more },
        Change::Follow { book: name("1"), sequel: name("2") },
        Change::Move { author: name("bob"), book: name("1") },
        Change::Follow { book: name("3"), sequel: name("2") },
        Change::Rename { book: name("1"), title: "found by other words".into() },
        Change::Leave { book: name("2"), genre: name("sea") },
        Change::DropBook(name("3")),
        Change::DropAuthor(name("bob")),
    ]
}

impl Bench {
    fn new() -> Self {
        let folder = Folder::new();
        let file = folder.write("shelf.graphql", TYPES);
        let weir = Weir::open(&file.display().to_string()).expect("a store can be made");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("one starts");
        let store = folder.file("shelf.weir.db");
        Self { weir, runtime, folder, store, shelf: Shelf::default() }
    }

    fn ask(&self, request: &str) -> serde_json::Value {
        let deadline = Instant::now() + Duration::from_secs(30);
        let asked = self.weir.execute_as(request, "{}", None, Protocol::GraphqlOverHttp, deadline);
        let answer = self.runtime.block_on(asked).expect("it is a request");
        serde_json::from_slice(&answer).expect("an answer is JSON")
    }

    /// Does `change`; the code of what went wrong.
    fn change(&mut self, change: &Change) -> Option<String> {
        let answer = self.ask(&change.request());
        if answer.get("errors").is_none() {
            change.apply(&mut self.shelf);
            return None;
        }
        let code = answer["errors"][0]["extensions"]["code"].as_str().unwrap_or_default();
        Some(code.to_owned())
    }

    /// Requests and other processes see the acknowledged changes only.
    fn check_now(&self) {
        let answer = self.ask("{ queryBook { code prequel { code } } }");
        let books = answer["data"]["queryBook"].as_array().unwrap_or_else(|| panic!("{answer}")).len();
        assert_eq!(books, self.shelf.books.len());
        assert_eq!(Shelf::read(&open(&self.store), LETTER), self.shelf);
    }

    /// A process that starts after this one has died, or after the machine lost power, finds the acknowledged changes, and
    /// `pending` whole or not at all.
    fn check_afterwards(&self, disk: &Disk, pending: Option<&Change>) {
        let mut after = self.shelf.clone();
        pending.iter().for_each(|it| it.apply(&mut after));
        let left = Folder::new();
        for found in [
            copy_as_if_died(&self.store, &left.0),
            disk.lose_power(&self.store, &left.0).expect("a file can be written"),
        ] {
            let found = open(&found);
            check_sound(&found);
            let found = Shelf::read(&found, LETTER);
            assert!(found == self.shelf || found == after, "{pending:?} was half done: {found:#?}");
        }
    }
}

/// Runs `work` on a thread of its own, with which the connections end that it keeps, and waits until no file is open.
fn apart<T: Send>(disk: &Disk, work: impl FnOnce() -> T + Send) -> T {
    let done = std::thread::scope(|scope| scope.spawn(work).join());
    let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    disk.settle();
    done
}

/// The store as it would be found if this process died now.
fn copy_as_if_died(store: &Path, folder: &Path) -> PathBuf {
    let found = folder.join("died.db");
    for ending in ["", "-wal"] {
        let with = |path: &Path| PathBuf::from(format!("{}{ending}", path.display()));
        std::fs::copy(with(store), with(&found)).expect("a file can be copied");
    }
    found
}

/// Fails every write of every change once, until the change is done without one.
fn check_writes(fault: Fault, code: &str) {
    let disk = install();
    let mut bench = Bench::new();
    let mut failures = 0;
    for change in changes() {
        for at in 1.. {
            disk.fail(fault, at, false);
            let wrong = bench.change(&change);
            let has_failed = disk.has_failed();
            disk.mend();
            assert_eq!(wrong.as_deref(), has_failed.then_some(code), "write {at} of {change:?}");
            bench.check_now();
            bench.check_afterwards(&disk, wrong.is_some().then_some(&change));
            if !has_failed {
                break;
            }
            failures += 1;
        }
    }
    assert!(failures > 50, "only {failures} writes failed");
}

#[test]
fn a_write_that_fails_undoes_its_mutation_and_no_other() {
    check_writes(Fault::Write, "SOURCE_UNAVAILABLE");
}

#[test]
fn a_write_that_is_torn_undoes_its_mutation_and_no_other() {
    check_writes(Fault::HalfWrite, "SOURCE_UNAVAILABLE");
}

#[test]
fn a_full_disk_refuses_mutations_until_there_is_room() {
    check_writes(Fault::Full, "STORE_FULL");
}

#[test]
fn on_a_full_disk_reads_go_on() {
    let disk = install();
    let mut bench = Bench::new();
    let changes = changes();
    assert_eq!(bench.change(&changes[0]), None);
    disk.fail(Fault::Full, 1, true);
    for _ in 0..3 {
        assert_eq!(bench.change(&changes[1]).as_deref(), Some("STORE_FULL"));
        bench.check_now();
    }
    let refused = bench.ask(&changes[1].request());
    let message = refused["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("disk is full: make room on it, then send the mutation again"), "{refused}");
    disk.mend();
    assert_eq!(bench.change(&changes[1]), None);
    bench.check_now();
}

#[test]
fn a_store_that_cannot_be_made_on_a_full_disk_says_how_to_mend_it() {
    let disk = install();
    let folder = Folder::new();
    let file = folder.write("shelf.graphql", TYPES);
    disk.fail(Fault::Full, 1, true);
    let opened = Weir::open(&file.display().to_string());
    disk.mend();
    let words = opened.err().map(|it| it.to_string()).unwrap_or_default();
    assert!(words.contains("the disk is full: make room on it, then try again"), "{words}");
    assert!(Weir::open(&file.display().to_string()).is_ok());
    disk.settle();
}

#[test]
fn an_acknowledged_mutation_survives_a_loss_of_power() {
    let disk = install();
    let mut bench = Bench::new();
    for change in changes() {
        assert_eq!(bench.change(&change), None);
        bench.check_afterwards(&disk, None);
    }
}

#[test]
fn a_bit_that_flips_in_the_log_leaves_the_store_of_an_earlier_moment() {
    let _disk = install();
    let mut bench = Bench::new();
    let mut moments = vec![bench.shelf.clone()];
    for change in changes() {
        assert_eq!(bench.change(&change), None);
        moments.push(bench.shelf.clone());
    }
    let left = Folder::new();
    let log = PathBuf::from(format!("{}-wal", copy_as_if_died(&bench.store, &left.0).display()));
    let bytes = std::fs::read(&log).expect("the log is there");
    let mut seen = BTreeSet::new();
    for at in (0..bytes.len()).step_by(bytes.len() / FLIPS) {
        let found = copy_as_if_died(&bench.store, &left.0);
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&log, flipped).expect("a file can be written");
        let found = open(&found);
        check_sound(&found);
        let found = Shelf::read(&found, LETTER);
        let moment = moments.iter().position(|it| *it == found);
        seen.insert(moment.unwrap_or_else(|| panic!("byte {at} of the log made up {found:#?}")));
    }
    // Those at the front cost everything, those at the end next to nothing.
    assert!(seen.contains(&0) && seen.len() > 3, "only moments {seen:?}");
}

/// Fails sync `at`, counted from the first change: what is left, and the change that it failed.
fn fail_sync(disk: &Disk, at: u64) -> (Folder, Shelf, Option<Change>) {
    let mut bench = Bench::new();
    disk.fail(Fault::Sync, at, false);
    let mut changes = changes().into_iter();
    let pending = changes.find(|it| match bench.change(it).as_deref() {
        None => false,
        Some(code) => {
            assert_eq!(code, "WRITE_UNCONFIRMED", "sync {at} at {it:?}");
            true
        }
    });
    assert_eq!(pending.is_some(), disk.has_failed());
    // The next sync would succeed, and what this one was to keep may be gone all the same.
    if let (Some(_), Some(late)) = (&pending, changes.next()) {
        assert_eq!(bench.change(&late).as_deref(), Some("WRITES_STOPPED"));
    }
    bench.check_now();
    bench.check_afterwards(disk, pending.as_ref());
    (bench.folder, bench.shelf, pending)
}

/// Fails sync `at` and opens the store again; whether there was such a sync.
fn check_sync(disk: &Disk, at: u64) -> bool {
    let (folder, shelf, pending) = apart(disk, || fail_sync(disk, at));
    let mut after = shelf.clone();
    pending.iter().for_each(|it| it.apply(&mut after));
    apart(disk, || {
        let weir = Weir::open(&folder.file("shelf.graphql").display().to_string());
        assert!(weir.is_ok(), "the store opens again");
        let store = open(&folder.file("shelf.weir.db"));
        check_sound(&store);
        let found = Shelf::read(&store, LETTER);
        assert!(found == shelf || found == after, "{pending:?} was half done: {found:#?}");
    });
    pending.is_some()
}

#[test]
fn after_a_sync_that_failed_nothing_is_written_until_the_store_is_opened_anew() {
    let disk = install();
    let failures = (1..).take_while(|at| check_sync(&disk, *at)).count();
    assert!(failures >= changes().len(), "only {failures} syncs failed");
}

/// Makes a store in a folder where write or sync `at` fails; whether one did.
fn check_making(disk: &Disk, fault: Fault, at: u64) -> bool {
    let folder = Folder::new();
    let place = weir_native::store::Place::Sqlite(folder.file("shelf.weir.db"));
    let types =
        weir_native::store::Types::read(TYPES, weir_native::layout::Database::Sqlite).expect("sound types");
    disk.fail(fault, at, false);
    let made = weir_native::store::open_and_migrate(&place, &types);
    let has_failed = disk.has_failed();
    disk.mend();
    disk.settle();
    assert!(has_failed || made.is_ok(), "{made:?}");
    let again = weir_native::store::open_and_migrate(&place, &types);
    assert!(again.is_ok(), "{fault:?} {at}: {again:?}");
    check_sound(&open(&folder.file("shelf.weir.db")));
    disk.settle();
    has_failed
}

#[test]
fn a_store_whose_making_failed_can_be_made_again() {
    let disk = install();
    for fault in [Fault::HalfWrite, Fault::Full, Fault::Sync] {
        let failures = (1..).take_while(|at| check_making(&disk, fault, *at)).count();
        assert!(failures > 1, "{failures} times {fault:?}");
    }
}
