//! The warm path allocates a fixed number of times per request, whatever the number of rows and fields.
//!
//! A binary of its own, so that nothing else allocates while it counts.

#[path = "../../engine/tests/counting/mod.rs"]
mod counting;

use futures_util::FutureExt;
use std::sync::Arc;
use weir_runtime::{Context, Request, Schema, batch, input, leaf, leaf_option_ref, leaf_ref, record, root};

struct Item {
    id: i32,
    name: String,
    note: Option<String>,
    parts: Vec<Part>,
}
record!(Item { id, name, parts });

struct Part {
    name: String,
}
record!(Part { name });

struct Rows {
    rows: i32,
}
input!(Rows { rows });

fn items(rows: usize) -> Arc<Vec<Item>> {
    let part = |number| Part { name: format!("part {number}") };
    let item = |row: usize| Item {
        id: row as i32,
        name: format!("item {row}"),
        note: (!row.is_multiple_of(3)).then(|| "a \"note\"".to_owned()),
        parts: (0..3).map(part).collect(),
    };
    Arc::new((0..rows).map(item).collect())
}

fn schema() -> Schema {
    let sdl = "type Query { items(rows: Int!): [Item!]! }
        type Item { id: Int! name: String! parts: [Part!]! note: String size: Float! label: String! rank: Int! }
        type Part { name: String! }";
    let few = items(10);
    let many = items(1000);
    let builder = Schema::builder(sdl)
        .resolve(
            "Query.items",
            root(move |rows: &Rows, _: &Context| Arc::clone(if rows.rows == 10 { &few } else { &many })),
        )
        .resolve("Item.note", leaf_option_ref(|item: &Item| item.note.as_deref()))
        .resolve("Item.size", leaf(|item: &Item| f64::from(item.id) / 2.0))
        .resolve("Item.label", leaf_ref(|item: &Item| item.name.as_str()))
        .resolve(
            "Item.rank",
            batch(|items: &[&Item], _: &(), _: &Context| items.iter().map(|it| it.id).collect::<Vec<_>>()),
        );
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

/// Allocations of one request and the bytes of its answer.
fn run(schema: &Schema, query: &str) -> (usize, usize) {
    let (allocations, response) = counting::count(|| schema.execute(Request::new(query)).now_or_never());
    let response = response.expect("synchronous resolvers answer at once");
    assert!(response.is_ok(), "{}", response.text());
    (allocations, response.body.len())
}

fn warm(schema: &Schema, query: &str) -> (usize, usize) {
    for _ in 0..3 {
        run(schema, query);
    }
    run(schema, query)
}

/// Allocations of a request on a cached plan: those of the engine, and the values and contexts of the steps.
const MOST: usize = 24;

#[test]
fn fields_and_rows_of_leaves_allocate_nothing() {
    let schema = schema();
    let all = "{ id name note size label parts { name } }";
    let (few, few_bytes) = warm(&schema, &format!("{{ items(rows: 10) {all} }}"));
    let (many, many_bytes) = warm(&schema, &format!("{{ items(rows: 1000) {all} }}"));
    assert!(many_bytes > 90 * few_bytes, "{few_bytes} and {many_bytes} bytes");
    assert_eq!(few, many);
    let (one, _) = warm(&schema, "{ items(rows: 1000) { id } }");
    assert_eq!(one, many);
    assert!(many <= MOST, "{many} allocations");
}

#[test]
fn a_batch_allocates_per_step_and_growth_but_not_per_row() {
    let schema = schema();
    let (few, _) = warm(&schema, "{ items(rows: 10) { id rank } }");
    let (many, _) = warm(&schema, "{ items(rows: 1000) { id rank } }");
    // A hundred times the rows double some buffers a few times more.
    assert!(many < few + 40, "{few} and {many} allocations");
}
