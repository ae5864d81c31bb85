//! Cost of the reading operations of the published benchmark without HTTP: engine, source and SQLite in one thread.
//!
//! `cargo bench -p weir-hasura --bench chinook`: best of several rounds, nanoseconds. With an operation's name and a number
//! of runs (`-- join 1000`) it runs just that, to be counted by callgrind.

#[path = "../../engine/tests/answer_kit/mod.rs"]
mod answer_kit;
#[path = "../tests/file_kit/mod.rs"]
mod file_kit;
#[path = "../tests/kit/mod.rs"]
mod kit;

use kit::{CHINOOK, Served, serve};
use std::hint::black_box;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Request;

const OPERATIONS: [(&str, &str); 4] = [
    ("constant", "{ __typename }"),
    ("by_pk", "{ Album_by_pk(AlbumId: 1) { Title AlbumId } }"),
    ("list", "{ Album(limit: 100) { AlbumId Title ArtistId } }"),
    (
        "join",
        "{ Album(limit: 30) { Title Album_Artist { Artist_Albums { Title } } Album_Tracks { AlbumId Composer Name } } }",
    ),
];

/// Answers `query` `runs` times, one after the other.
async fn run(served: &Served, query: &str, runs: u32) {
    for _ in 0..runs {
        black_box(served.engine.execute(request(query), &served.engine.caller(&Identity::admin())).await);
    }
}

fn request(query: &str) -> Request<'_> {
    Request::new(query, Instant::now() + Duration::from_secs(60))
}

fn main() {
    let served = serve(CHINOOK);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let words: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if let [name, runs] = &words[..] {
        let (_, query) = OPERATIONS.iter().find(|it| it.0 == name).expect("the name of an operation");
        let runs: u32 = runs.parse().expect("a number of runs");
        return runtime.block_on(run(&served, query, runs));
    }
    for (name, query) in OPERATIONS {
        let mut best = Duration::MAX;
        for _ in 0..20 {
            let started = Instant::now();
            runtime.block_on(run(&served, query, 1000));
            best = best.min(started.elapsed() / 1000);
        }
        println!("{name:<10} {:>9} ns", best.as_nanos());
    }
}
