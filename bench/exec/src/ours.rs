//! Weir's side: whole requests through the engine, plan cached, sources in memory.

use crate::data::{GROUPS, Group, ITEMS, Item, Row, Section};
use futures_util::FutureExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::{Memory, Value};
use weir_engine::record;
use weir_language::limits::Limits;
use weir_language::schema::Schema;

record!(Item { id, name, title, price, stock, active, rating, sku, views, note });
record!(Row { id, name, value });
record!(Section { id, name, rows });
record!(Group { id, name, sections });

/// The origin of the lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Structs, written by their own code.
    Records,
    /// Structs, by way of columns.
    Rows,
    /// Trees whose types are found out while writing.
    Trees,
}

pub fn engine(sdl: &str, values: Values) -> Engine {
    let schema = Schema::from_sdl(sdl).unwrap_or_else(|errors| panic!("{errors:?}"));
    let source = Memory::new("memory", Arc::new(schema));
    let source = if values == Values::Trees {
        let (items, groups) = (Arc::new(item_trees()), Arc::new(group_trees()));
        source.field("items", move |_| Arc::clone(&items)).field("groups", move |_| Arc::clone(&groups))
    } else {
        source.field("items", |_| ITEMS.as_slice()).field("groups", |_| GROUPS.as_slice())
    };
    let source = if values == Values::Rows { source.always_rows() } else { source };
    let graph = Graph::compose(vec![Arc::new(source)], &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let settings = Settings { limits: Limits::NONE, plan_cache_bytes_max: 64 << 20, ..Settings::STANDARD };
    Engine::new(graph, settings)
}

pub fn answer(engine: &Engine, query: &str) -> Vec<u8> {
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    let response = engine
        .execute(request, &engine.caller(&Identity::admin()))
        .now_or_never()
        .expect("memory answers at once");
    match response.body {
        Body::Whole(bytes) => bytes,
        Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("memory answers whole"),
    }
}

fn text(text: &str) -> Value {
    Value::text(text)
}

fn optional(value: Option<Value>) -> Value {
    value.unwrap_or_default()
}

fn item_trees() -> Vec<Value> {
    let tree = |item: &Item| {
        Value::object(
            "Item",
            [
                ("id", text(&item.id)),
                ("name", text(&item.name)),
                ("title", optional(item.title.as_deref().map(text))),
                ("price", Value::Float(item.price)),
                ("stock", Value::Int(item.stock.into())),
                ("active", Value::Bool(item.active)),
                ("rating", optional(item.rating.map(Value::Float))),
                ("sku", text(&item.sku)),
                ("views", Value::Int(item.views.into())),
                ("note", optional(item.note.as_deref().map(text))),
            ],
        )
    };
    ITEMS.iter().map(tree).collect()
}

fn group_trees() -> Vec<Value> {
    let row = |row: &Row| {
        let fields =
            [("id", text(&row.id)), ("name", text(&row.name)), ("value", Value::Int(row.value.into()))];
        Value::object("Row", fields)
    };
    let section = |section: &Section| {
        let rows = Value::List(section.rows.iter().map(row).collect());
        Value::object("Section", [("id", text(&section.id)), ("name", text(&section.name)), ("rows", rows)])
    };
    let group = |group: &Group| {
        let sections = Value::List(group.sections.iter().map(section).collect());
        Value::object("Group", [("id", text(&group.id)), ("name", text(&group.name)), ("sections", sections)])
    };
    GROUPS.iter().map(group).collect()
}
