//! The engine and a naive executor of the specification must give the same bytes, whatever the schema, data and query.

mod executor;
mod generate;
mod records;

use executor::Sent;
use futures_util::FutureExt;
use generate::{Dice, Schemas, Split};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::{Memory, Object, Value};
use weir_engine::source::Source;
use weir_language::json::Json;
use weir_language::limits::Limits;
use weir_language::parser::Edition;
use weir_language::schema::Schema;
use weir_language::{parser, validate};

fn settings() -> Settings {
    Settings { limits: Limits::NONE, ..Settings::STANDARD }
}

/// Interface of the engine to the data.
#[derive(Clone, Copy, Debug)]
enum By {
    /// The source writes the response itself.
    Bytes,
    /// The source gives rows.
    Rows,
    /// Lists of objects that are alike are records, which the source writes itself.
    RecordBytes,
    /// Lists of objects that are alike are records, which the source gives as rows.
    RecordRows,
    /// One field hangs below and comes from a source of its own.
    Join,
}

fn memory(schema: &Arc<Schema>, root: &Object) -> Memory {
    let mut source = Memory::new("memory", Arc::clone(schema));
    for (name, value) in &root.fields {
        let value = Arc::new(value.clone());
        source = source.field(name, move |_| Arc::clone(&value));
    }
    source
}

/// An engine over `root`; none if there is no field to be joined.
fn engine(schema: &Arc<Schema>, split: &Option<Split>, root: &Object, by: By) -> Option<Engine> {
    let (sources, joins): (Vec<Arc<dyn Source>>, Vec<Join>) = match by {
        By::Bytes => (vec![Arc::new(memory(schema, root))], vec![]),
        By::Rows => (vec![Arc::new(memory(schema, root).always_rows())], vec![]),
        By::RecordBytes => (vec![Arc::new(memory(schema, &records::with_records(root)))], vec![]),
        By::RecordRows => {
            (vec![Arc::new(memory(schema, &records::with_records(root)).always_rows())], vec![])
        }
        By::Join => {
            let Split { rest, asked, field } = split.as_ref()?;
            let mut values = HashMap::new();
            fields_by_key(&Value::Object(root.clone()), field, &mut values);
            let asked = Memory::new("asked", Arc::clone(asked)).field("asked", move |call| {
                match call.argument("key") {
                    Some(Value::Text(key)) => values[&key].clone(),
                    other => panic!("{other:?} is no key"),
                }
            });
            let join = Join {
                on: "Ada".into(),
                name: field.clone(),
                description: String::new(),
                source: "asked".into(),
                target: "asked".into(),
                arguments: "(key: $this.key)".into(),
            };
            (vec![Arc::new(memory(rest, root)), Arc::new(asked)], vec![join])
        }
    };
    match Graph::compose(sources, &joins) {
        Ok(graph) => Some(Engine::new(graph, settings())),
        Err(errors) => panic!("{errors:?}"),
    }
}

/// The value of `field` of every object with a key.
fn fields_by_key(value: &Value, field: &str, found: &mut HashMap<Arc<str>, Value>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| fields_by_key(item, field, found)),
        Value::Object(object) => {
            if let Value::Text(key) = object.get("key") {
                found.insert(Arc::clone(key), object.get(field).clone());
            }
            object.fields.iter().for_each(|(_, value)| fields_by_key(value, field, found));
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Json(_)
        | Value::Records(_)
        | Value::Error(_) => {}
    }
}

fn answer(engine: &Engine, query: &str, sent: &Sent) -> String {
    let variables = serde_json::to_string(sent).unwrap();
    let json = Json::parse(variables.as_bytes(), 100).unwrap();
    let request = Request {
        variables: Some(json.root()),
        ..Request::new(query, Instant::now() + Duration::from_secs(60))
    };
    let response = engine
        .execute(request, &engine.caller(&Identity::admin()))
        .now_or_never()
        .expect("memory answers at once");
    match response.body {
        Body::Whole(bytes) => String::from_utf8(bytes).unwrap(),
        Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("memory does not stream"),
    }
}

/// Every byte must be the same, however many variables steer what is asked.
fn check(words: &[u16], variables: usize) {
    let mut dice = Dice::new(words);
    let Schemas { whole: schema, split } = generate::schemas(&mut dice);
    let asked = generate::operation(&schema, &mut dice, variables);
    let root = generate::data(&schema, &mut dice);
    let document = parser::parse_edition(&asked.text, &Limits::NONE, Edition::September2026);
    let document = document.expect("the text is well formed");
    let options = validate::Options {
        limits: Limits::NONE,
        suggestions: true,
        edition_2026: true,
        subscriptions_beside: false,
    };
    if let Err(errors) = validate::validate(&schema, &document, &options) {
        panic!("{errors:?}\n{}", asked.text);
    }
    let expected = executor::execute(&schema, &document, &asked.sent, &root);
    for by in [By::Bytes, By::Rows, By::RecordBytes, By::RecordRows, By::Join] {
        let Some(engine) = engine(&schema, &split, &root, by) else { continue };
        if matches!(by, By::Join) && expected.contains("was given a value of another type") {
            // These words name the field of the source that gave the value.
            continue;
        }
        // The second time the plan is in the cache.
        for _ in 0..2 {
            let answered = answer(&engine, &asked.text, &asked.sent);
            if answered != expected {
                let same = answered.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
                let from = |text: &str| {
                    String::from_utf8_lossy(&text.as_bytes()[same.saturating_sub(60)..]).into_owned()
                };
                panic!(
                    "by {by:?}\nengine: {}\nnaive:  {}\n{}\n{:?}\n{root:?}",
                    from(&answered),
                    from(&expected),
                    asked.text,
                    asked.sent
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_answers_as_the_specification_says(words in prop::collection::vec(any::<u16>(), 300..5000)) {
        check(&words, 4);
    }

    #[test]
    fn many_steering_variables_change_nothing(words in prop::collection::vec(any::<u16>(), 300..5000)) {
        check(&words, 8);
    }
}
