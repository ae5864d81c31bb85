//! Measures parsing, validation and schema building against other Rust libraries, in one run.
//!
//! `bench-language FIXTURES` reads `big.graphql` (a schema of 1,200 types) and `small`, `medium` and `large.graphql`
//! (operations of 169 B, 2 KB and 95 KB over it), as `bench/exec/gen.py` writes them, and prints a table.
//! Times are CPU time. Contenders take turns within each pass, so that what the machine does besides hurts all alike.

mod contenders;

use contenders::{Contender, Work};
use cpu_time::ThreadTime;
use std::time::Duration;

/// As in the product; all contenders have it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PASSES: usize = 25;
const TURN: Duration = Duration::from_millis(10);

fn main() {
    let folder = std::env::args().nth(1).expect("usage: bench-language FIXTURES [part of a row's name]");
    let only = std::env::args().nth(2).unwrap_or_default();
    let read = |name: &str| {
        let path = format!("{folder}/{name}.graphql");
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let schema = read("big").leak();
    println!("| work | bytes | Weir | bar | apollo-compiler 1.33 | bluejay 0.5 | graphql-query 1.0 |");
    println!("|---|---|---|---|---|---|---|");
    let texts = ["small", "medium", "large"].map(|name| (name, &*read(name).leak()));
    for work in [Work::Parse, Work::Validate, Work::Plan, Work::Schema] {
        let inputs = if work == Work::Schema { vec![("1,200 types", &*schema)] } else { texts.to_vec() };
        for (name, text) in inputs {
            let row = format!("{} {name}", work.text());
            if row.contains(&only) {
                let mut contenders = contenders::all(work, schema, text);
                print_row(&row, work, text, &times(&mut contenders));
            }
        }
    }
}

/// The CPU time of one call of each contender in its best pass, as others on the machine only ever add to it; none if
/// it cannot do the work.
fn times(contenders: &mut [Option<Contender>]) -> Vec<Option<Duration>> {
    let mut samples: Vec<Vec<Duration>> = vec![Vec::new(); contenders.len()];
    for pass in 0..=PASSES {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            let Some(run) = contender else { continue };
            let (begun, mut calls) = (ThreadTime::now(), 0);
            while begun.elapsed() < TURN {
                run();
                calls += 1;
            }
            // The first pass warms up.
            if pass > 0 {
                samples.push(begun.elapsed() / calls);
            }
        }
    }
    samples.iter().map(|samples| samples.iter().min().copied()).collect()
}

fn print_row(name: &str, work: Work, text: &str, times: &[Option<Duration>]) {
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let Some(ours) = times[0] else { return println!("| {name} | {} | not there |", text.len()) };
    let rate = text.len() as f64 / us(ours);
    let (own, bar) = match work {
        Work::Parse => (format!("{:.2} µs, {rate:.0} MB/s", us(ours)), "200 MB/s".to_owned()),
        Work::Validate => (format!("{:.2} µs", us(ours)), "-".to_owned()),
        Work::Plan => {
            let bar = match text.len() {
                0..1_000 => "4 µs",
                1_000..10_000 => "35 µs",
                _ => "3,000 µs",
            };
            (format!("{:.2} µs", us(ours)), bar.to_owned())
        }
        Work::Schema => (format!("{:.0} µs", us(ours)), "10,000 µs".to_owned()),
    };
    let rivals = times[1..].iter().map(|time| match time {
        Some(time) => format!("{:.2} µs ({:.1} x)", us(*time), us(*time) / us(ours)),
        None => "-".to_owned(),
    });
    println!("| {name} | {} | {own} | {bar} | {} |", text.len(), rivals.collect::<Vec<_>>().join(" | "));
}
