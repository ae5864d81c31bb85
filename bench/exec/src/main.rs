//! Measures execution alone against other Rust libraries, in one run: in process, plan or document ready, JSON text out.
//!
//! `bench-exec FIXTURES ANSWERS [part of a row's name]` reads `mid.graphql` (32 types), `big.graphql` (1,200 types),
//! `bench.graphql` and the operations, as `bench/exec/gen.py` writes them, and prints a table in nanoseconds per field of the
//! answer. Weir's answers are written into the folder ANSWERS; those of rivals to lists and chains have to be equal.
//! Contenders take turns within each pass, so that what the machine does besides hurts all alike; where the system tells it
//! (Linux), time is the thread's own on the processor. `BENCH_PASSES` is the number of passes.

use bench_exec::ours::Values;
use bench_exec::resolvers::{self, Kind};
use bench_exec::{
    Contender, apollo, async_graphql, data_of, fields_of, fixture, juniper, juniper_harbour, unfolded, weir,
};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// As in the product; all contenders have it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TURN: Duration = Duration::from_millis(40);

/// The contenders of a row: Weir, and the rivals that can do it.
type Contenders = [Option<Contender>; 4];

/// What a row asks of its contenders.
#[derive(Clone, Copy)]
struct Terms<'r> {
    /// The most nanoseconds per field that Weir may take.
    bar: Option<f64>,
    /// The file of Weir's answer.
    file: Option<&'r str>,
    /// True if all answers have to be equal. Introspection differs by what libraries say of themselves.
    is_same: bool,
}

struct Bench {
    fixtures: String,
    answers: String,
    only: String,
    passes: usize,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next();
    let (Some(fixtures), Some(answers)) = (next(), next()) else {
        panic!("usage: bench-exec FIXTURES ANSWERS [part of a row's name]")
    };
    std::fs::create_dir_all(&answers).unwrap_or_else(|error| panic!("{answers}: {error}"));
    let passes = std::env::var("BENCH_PASSES").ok().and_then(|it| it.parse().ok()).unwrap_or(9);
    let bench = Bench { fixtures, answers, only: next().unwrap_or_default(), passes };
    println!(
        "| ns per field | fields | Weir | bar | async-graphql 7.2 | ratio | apollo-compiler 1.33 | ratio | juniper 0.18 | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    lists(&bench);
    chains(&bench);
    introspection(&bench);
    if "a request whose plan is cached".contains(&bench.only) {
        let hit = weir(&bench.read("bench"), "{ __typename }", Values::Records);
        let time = bench.times(&[Some(hit)])[0].unwrap_or_default();
        println!(
            "\nA request whose plan is cached, `{{ __typename }}`: {} ns (bar: 1,000).",
            time.as_nanos()
        );
    }
}

fn lists(bench: &Bench) {
    let sdl = bench.read("bench");
    for (row, file, bar) in [("list 1,000 x 10", "list", 10.0), ("nested 100 x 10 x 10", "nested", 8.0)] {
        let query = &*bench.read(&format!("q_{file}"));
        let rivals = |weir: Contender| -> Contenders {
            [
                Some(weir),
                Some(async_graphql::lists(query)),
                Some(apollo::contender(&sdl, query)),
                Some(juniper::lists(query)),
            ]
        };
        for (values, said) in
            [(Values::Records, ""), (Values::Rows, ", by rows"), (Values::Trees, ", from trees")]
        {
            let is_first = values == Values::Records;
            let terms = Terms { bar: is_first.then_some(bar), file: is_first.then_some(file), is_same: true };
            bench.measure(&format!("{row}{said}"), terms, || rivals(weir(&sdl, query, values)));
        }
        for kind in Kind::ALL {
            // Section 4 of the bars is about the list.
            let bar = kind.bar().filter(|_| file == "list");
            let terms = Terms { bar, file: None, is_same: true };
            bench.measure(&format!("{row}, {}", kind.name()), terms, || {
                rivals(resolvers::contender(query, kind))
            });
        }
    }
}

fn chains(bench: &Bench) {
    let (sdl, query) = (bench.read("bench"), bench.read("q_chain"));
    let terms = Terms { file: Some("chain"), is_same: true, bar: None };
    bench.measure("20 lazy chains of 50", terms, || {
        [
            Some(resolvers::contender(&query, Kind::AsyncBatch)),
            Some(async_graphql::lists(&query)),
            Some(apollo::lazy(&sdl, &query)),
            Some(juniper::lazy(&query)),
        ]
    });
}

fn introspection(bench: &Bench) {
    let folded = bench.read("introspection");
    let unfolded = unfolded(&folded);
    for (row, name, bar) in [("32 types", "mid", 6.0), ("1,200 types", "big", 9.0)] {
        let sdl = bench.read(name);
        let file = format!("introspection-{name}");
        for (query, said) in [(&*unfolded, ""), (&*folded, ", folded")] {
            let is_first = said.is_empty();
            let terms =
                Terms { bar: is_first.then_some(bar), file: is_first.then_some(&*file), is_same: false };
            bench.measure(&format!("introspection of {row}{said}"), terms, || {
                [
                    Some(weir(&sdl, query, Values::Records)),
                    Some(async_graphql::introspection(&sdl, &folded)),
                    Some(apollo::contender(&sdl, &folded)),
                    // Its types are Rust's, so somebody had to write them: only the smaller schema's were.
                    (name == "mid").then(|| juniper_harbour::introspection(&folded)),
                ]
            });
        }
    }
}

/// Processor time of this thread.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

impl Bench {
    fn read(&self, name: &str) -> String {
        fixture(&self.fixtures, name)
    }

    /// Prints one row.
    fn measure(&self, row: &str, terms: Terms<'_>, contenders: impl FnOnce() -> Contenders) {
        if !row.contains(&self.only) {
            return;
        }
        let contenders = contenders();
        let mut fields = [0; 4];
        let mut expected = None;
        for (contender, fields) in contenders.iter().zip(&mut fields) {
            let Some(contender) = contender else { continue };
            let answer = contender();
            let data = data_of(row, &answer);
            *fields = fields_of(&data);
            if let Some(expected) = &expected {
                assert!(!terms.is_same || data == *expected, "{row}: the answers differ");
                continue;
            }
            if let Some(file) = terms.file {
                let path = format!("{}/{file}.json", self.answers);
                std::fs::write(&path, &answer).unwrap_or_else(|error| panic!("{path}: {error}"));
            }
            expected = Some(data);
        }
        drop(expected);
        let ns = self.times(&contenders);
        let ns =
            ns.iter().zip(fields).map(|(time, fields)| time.map(|it| it.as_nanos() as f64 / fields as f64));
        let ns: Vec<Option<f64>> = ns.collect();
        let weir = ns[0].unwrap_or_default();
        let bar = terms.bar.map_or(String::new(), |bar| format!("{bar}"));
        print!("| {row} | {} | {weir:.2} | {bar} |", fields[0]);
        for rival in &ns[1..] {
            match rival {
                Some(ns) => print!(" {ns:.0} | {:.0} x |", ns / weir),
                None => print!("  |  |"),
            }
        }
        println!();
    }

    /// The median time of one call of each contender.
    fn times(&self, contenders: &[Option<Contender>]) -> Vec<Option<Duration>> {
        let mut samples: Vec<Vec<Duration>> = vec![Vec::new(); contenders.len()];
        for _ in 0..self.passes {
            for (contender, samples) in contenders.iter().zip(&mut samples) {
                let Some(contender) = contender else { continue };
                // The first call tidies up memory that the contender before has freed, so it is not counted.
                black_box(contender());
                let (begun, worked, mut calls) = (Instant::now(), processor_time(), 0);
                while calls == 0 || begun.elapsed() < TURN {
                    black_box(contender());
                    calls += 1;
                }
                let worked = worked.and_then(|before| processor_time()?.checked_sub(before));
                samples.push(worked.unwrap_or(begun.elapsed()) / calls);
            }
        }
        let median = |mut samples: Vec<Duration>| {
            samples.sort();
            samples.get(samples.len() / 2).copied()
        };
        samples.into_iter().map(median).collect()
    }
}
