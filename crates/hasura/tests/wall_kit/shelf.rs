//! A source beside the database. Its rows lead to rows of the database by joins, so a walled table is fetched by keys of
//! another source too.

use std::sync::Arc;
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::{Engine, Settings};
use weir_engine::memory::{Memory, Value};
use weir_engine::source::Source;
use weir_language::schema::Schema;

/// The root field of the source, as a focus of random operations.
pub const SHELF: &str = "shelf";

const SDL: &str = "type Query { shelf: [Slot!]! } type Slot { number: Int text: String key: ID }";
/// Numbers of keys, the last of which no row has.
const NUMBERS: i64 = 9;

fn slot(number: i64) -> Value {
    let text = ["a", "b", "c", "b c"][number as usize % 4];
    let fields = [
        ("number", Value::Int(number)),
        ("text", Value::text(text)),
        ("key", Value::text(&format!("0x{number:x}"))),
    ];
    Value::object("Slot", fields)
}

/// An engine over `source` and the shelf, whose slots have a field for each of `joins`: a root field of the source and
/// the arguments that it takes from the slot.
pub fn engine(source: Arc<dyn Source>, joins: &[(&str, &str)]) -> Engine {
    let shelf = Memory::new(SHELF, Arc::new(Schema::from_sdl(SDL).expect("sound types")));
    let empty = Value::object("Slot", [("number", Value::Null)]);
    let shelf = shelf.field(SHELF, move |_| {
        Value::List((1..=NUMBERS).map(slot).chain([empty.clone(), slot(1)]).collect())
    });
    let join = |(target, arguments): &(&str, &str)| Join {
        on: "Slot".into(),
        name: format!("to_{target}"),
        description: String::new(),
        source: source.name().into(),
        target: (*target).into(),
        arguments: (*arguments).into(),
    };
    let joins: Vec<Join> = joins.iter().map(join).collect();
    let graph = Graph::compose(vec![source, Arc::new(shelf)], &joins);
    let settings = Settings { responses_bytes_max: 8 << 20, ..Settings::STANDARD };
    Engine::new(graph.unwrap_or_else(|errors| panic!("{errors:?}")), settings)
}
