//! Counts the allocations of one introspection of 32 types, for the table in the form of graphql-ruby's own benchmark.
//!
//! `allocations FIXTURES` prints a line per contender: its name, the fields of its answer, its allocations. A binary of its own,
//! as counting takes time.

#[path = "../../../../crates/engine/tests/counting/mod.rs"]
mod counting;

use bench_exec::ours::Values;
use bench_exec::{
    Contender, apollo, async_graphql, data_of, fields_of, fixture, juniper_harbour, unfolded, weir,
};

fn main() {
    let folder = std::env::args().nth(1).expect("usage: allocations FIXTURES");
    let (sdl, query) = (fixture(&folder, "mid"), fixture(&folder, "introspection"));
    let contenders: [(&str, Contender); 5] = [
        ("Weir", weir(&sdl, &unfolded(&query), Values::Records)),
        ("Weir, folded", weir(&sdl, &query, Values::Records)),
        ("async-graphql", async_graphql::introspection(&sdl, &query)),
        ("apollo-compiler", apollo::contender(&sdl, &query)),
        ("juniper", juniper_harbour::introspection(&query)),
    ];
    for (name, contender) in contenders {
        // What is kept from request to request is made by the first.
        contender();
        let (allocations, answer) = counting::count(&contender);
        println!("{name}\t{}\t{allocations}", fields_of(&data_of(name, &answer)));
    }
}
