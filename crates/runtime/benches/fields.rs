//! Time per answer field through resolvers of each kind: list 1,000 x 10, nested 100 x 10 x 10, and introspection.
//!
//! `cargo bench -p weir-runtime --bench fields`. Plans are cached; best of several rounds, in nanoseconds.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_runtime::{Context, Request, Schema, async_batch, batch, each, leaf, leaf_ref, record, root};

struct Item {
    id: i32,
    name: String,
    price: f64,
    stock: i32,
    active: bool,
    children: Vec<Child>,
}
record!(Item { id, name, price, stock, active, children });

struct Child {
    items: Vec<Leaf>,
}
record!(Child { items });

struct Leaf {
    id: i32,
}
record!(Leaf { id });

const SDL: &str = "
type Query { items: [Item!]!  tree: [Item!]! }
type Item {
  id: Int! name: String! price: Float! stock: Int! active: Boolean! children: [Child!]!
  l0: Int! l1: String! l2: Float! l3: Boolean! l4: Int!
  b0: Int! b1: Int! e0: Int! a0: Int!
}
type Child { items: [Leaf!]! }
type Leaf { id: Int! }
";

fn items(rows: i32, children: i32) -> Arc<Vec<Item>> {
    let child = |_| Child { items: (0..children).map(|id| Leaf { id }).collect() };
    let item = |id: i32| Item {
        id,
        name: format!("item number {id}"),
        price: f64::from(id) * 1.25,
        stock: id * 7,
        active: id % 2 == 0,
        children: (0..children).map(child).collect(),
    };
    Arc::new((0..rows).map(item).collect())
}

fn schema() -> Schema {
    let list = items(1000, 0);
    let tree = items(100, 10);
    let ids = |items: &[&Item]| items.iter().map(|it| it.id).collect::<Vec<_>>();
    let builder = Schema::builder(SDL)
        .resolve("Query.items", root(move |_: &(), _: &Context| Arc::clone(&list)))
        .resolve("Query.tree", root(move |_: &(), _: &Context| Arc::clone(&tree)))
        .resolve("Item.l0", leaf(|item: &Item| item.id))
        .resolve("Item.l1", leaf_ref(|item: &Item| item.name.as_str()))
        .resolve("Item.l2", leaf(|item: &Item| item.price))
        .resolve("Item.l3", leaf(|item: &Item| item.active))
        .resolve("Item.l4", leaf(|item: &Item| item.stock))
        .resolve("Item.b0", batch(move |items: &[&Item], _: &(), _: &Context| ids(items)))
        .resolve("Item.b1", batch(move |items: &[&Item], _: &(), _: &Context| ids(items)))
        .resolve("Item.e0", each(|item: &Item, _: &(), _: &Context| item.id))
        .resolve(
            "Item.a0",
            async_batch(move |items: &[&Item], _: &(), _: &Context| {
                let ids = ids(items);
                async move { ids }
            }),
        );
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

fn measure(name: &str, schema: &Schema, query: &str, fields: usize) {
    /// Short rounds, of which one is undisturbed even on a machine that does something else.
    const ROUNDS: u32 = 4;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut best = Duration::MAX;
    for _ in 0..400 {
        let started = Instant::now();
        runtime.block_on(async {
            for _ in 0..ROUNDS {
                black_box(schema.execute(Request::new(query)).await);
            }
        });
        best = best.min(started.elapsed() / ROUNDS);
    }
    let nanos = best.as_nanos() as f64;
    println!("{name:<52} {nanos:>10.0} ns {:>8.2} ns/field", nanos / fields as f64);
}

fn main() {
    let schema = schema();
    let twice = "id name price stock active a: id b: name c: price d: stock e: active";
    measure("list 1,000 x 10, fields of the record", &schema, &format!("{{ items {{ {twice} }} }}"), 10_000);
    let leaves = "l0 l1 l2 l3 l4 a: l0 b: l1 c: l2 d: l3 e: l4";
    measure("list 1,000 x 10, leaf resolvers", &schema, &format!("{{ items {{ {leaves} }} }}"), 10_000);
    let mixed = "id name price stock active l0 l1 l2 b0";
    measure("list 1,000 x 9, of which one batch", &schema, &format!("{{ items {{ {mixed} }} }}"), 9_000);
    measure("list 1,000 x 2 batches", &schema, "{ items { b0 b1 } }", 2_000);
    measure("list 1,000 x 1 each", &schema, "{ items { e0 } }", 1_000);
    measure("list 1,000 x 1 async batch", &schema, "{ items { a0 } }", 1_000);
    measure("nested 100 x 10 x 10", &schema, "{ tree { children { items { id } } } }", 11_200);
    measure("one field", &schema, "{ items { __typename } }", 1_000);
}
