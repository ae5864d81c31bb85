//! Measures execution alone against other Rust libraries, in one run: in process, plan or document ready, JSON text out.
//!
//! `bench-exec FIXTURES [part of a row's name]` reads `mid.graphql` (32 types), `big.graphql` (1,200 types) and
//! `bench.graphql`, as `bench/exec/gen.py` writes them, and prints a table in nanoseconds per field of the answer.
//! Contenders take turns within each pass, so that what the machine does besides hurts all alike; where the system tells it
//! (Linux), time is the thread's own on the processor.

mod apollo;
mod async_graphql;
mod data;
mod ours;

use ours::Values;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// As in the product; all contenders have it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PASSES: usize = 9;
const TURN: Duration = Duration::from_millis(40);

type Contender = Box<dyn Fn() -> Vec<u8>>;

const ITEMS: &str = "{ items { id name title price stock active rating sku views note } }";
const GROUPS: &str = "{ groups { id name sections { id name rows { id name value } } } }";
/// The query of graphql-js' `getIntrospectionQuery()`.
const INTROSPECTION: &str = include_str!("introspection.graphql");

fn main() {
    let folder = std::env::args().nth(1).expect("usage: bench-exec FIXTURES [part of a row's name]");
    let only = std::env::args().nth(2).unwrap_or_default();
    let read = |name: &str| {
        let path = format!("{folder}/{name}.graphql");
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    println!(
        "| ns per field | fields | Weir | bar | async-graphql 7.2 | ratio | apollo-compiler 1.33 | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let bench = read("bench");
    let weir = |sdl: &str, query: &str, values: Values| -> Contender {
        let (engine, query) = (ours::engine(sdl, values), query.to_owned());
        Box::new(move || ours::answer(&engine, &query))
    };
    // With a variable in it, introspection cannot be folded into the plan: every request writes it anew.
    let unfolded = INTROSPECTION
        .replace("query IntrospectionQuery", "query IntrospectionQuery($all: Boolean! = true)")
        .replace("includeDeprecated: true", "includeDeprecated: $all");
    for (row, query, bar) in [("list 1,000 x 10", ITEMS, 10.0), ("nested 100 x 10 x 10", GROUPS, 8.0)] {
        for (values, said) in
            [(Values::Records, ""), (Values::Rows, ", by rows"), (Values::Trees, ", from trees")]
        {
            let bar = (values == Values::Records).then_some(bar);
            measure(&format!("{row}{said}"), &only, bar, || {
                [weir(&bench, query, values), async_graphql::lists(query), apollo::contender(&bench, query)]
            });
        }
    }
    for (row, file, bar) in [("32 types", "mid", 6.0), ("1,200 types", "big", 9.0)] {
        let sdl = read(file);
        for (query, said, bar) in [(&*unfolded, "", Some(bar)), (INTROSPECTION, ", folded", None)] {
            measure(&format!("introspection of {row}{said}"), &only, bar, || {
                let rivals = INTROSPECTION;
                [
                    weir(&sdl, query, Values::Records),
                    async_graphql::introspection(&sdl, rivals),
                    apollo::contender(&sdl, rivals),
                ]
            });
        }
    }
    let hit = weir(&bench, "{ __typename }", Values::Records);
    if "a request whose plan is cached".contains(&only) {
        let time = times(&[hit])[0];
        println!(
            "\nA request whose plan is cached, `{{ __typename }}`: {} ns (bar: 1,000).",
            time.as_nanos()
        );
    }
}

/// Processor time of this thread.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Prints one row.
fn measure(row: &str, only: &str, bar: Option<f64>, contenders: impl FnOnce() -> [Contender; 3]) {
    if !row.contains(only) {
        return;
    }
    let contenders = contenders();
    let fields: Vec<usize> = contenders.iter().map(|it| fields_of(row, &it())).collect();
    let times = times(&contenders);
    let ns: Vec<f64> =
        times.iter().zip(&fields).map(|(time, &fields)| time.as_nanos() as f64 / fields as f64).collect();
    let bar = bar.map_or(String::new(), |bar| format!("{bar}"));
    println!(
        "| {row} | {} | {:.2} | {bar} | {:.0} | {:.0} x | {:.0} | {:.0} x |",
        fields[0],
        ns[0],
        ns[1],
        ns[1] / ns[0],
        ns[2],
        ns[2] / ns[0]
    );
}

/// The number of members in an answer, which has to be without errors.
fn fields_of(row: &str, answer: &[u8]) -> usize {
    fn count(value: &serde_json::Value) -> usize {
        match value {
            serde_json::Value::Array(items) => items.iter().map(count).sum(),
            serde_json::Value::Object(members) => members.values().map(|it| 1 + count(it)).sum(),
            _ => 0,
        }
    }
    let answer: serde_json::Value = serde_json::from_slice(answer).expect("an answer is JSON");
    let errors = answer["errors"].as_array().map_or(0, Vec::len);
    assert_eq!(errors, 0, "{row}: {}", answer["errors"][0]);
    count(&answer["data"])
}

/// The median time of one call of each contender.
fn times(contenders: &[Contender]) -> Vec<Duration> {
    let mut samples: Vec<Vec<Duration>> = vec![Vec::new(); contenders.len()];
    for _ in 0..PASSES {
        for (contender, samples) in contenders.iter().zip(&mut samples) {
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
    samples
        .into_iter()
        .map(|mut samples| {
            samples.sort();
            samples[PASSES / 2]
        })
        .collect()
}
