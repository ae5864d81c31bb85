//! The engine and a naive executor of the specification must give the same bytes, whatever the schema, data and query.

mod executor;
mod generate;

use futures_util::FutureExt;
use generate::Dice;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::compose::Graph;
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::{Memory, Object};
use weir_engine::source::{Accent, Caller};
use weir_language::json::Json;
use weir_language::limits::Limits;
use weir_language::schema::Schema;
use weir_language::{parser, validate};

const SETTINGS: Settings = Settings {
    limits: Limits::NONE,
    plan_cache_bytes_max: 1 << 20,
    introspection: true,
    suggestions: true,
    edition_2026: false,
    hold_back_bytes: 1 << 18,
};

/// What the engine answers from `root`, written by the source itself or by way of rows.
fn engine(schema: &Arc<Schema>, root: &Object, as_rows: bool) -> Engine {
    let mut source = Memory::new("memory", Arc::clone(schema));
    for (name, value) in &root.fields {
        let value = Arc::new(value.clone());
        source = source.field(name, move |_| Arc::clone(&value));
    }
    let source = if as_rows { source.always_rows() } else { source };
    let Ok(graph) = Graph::compose(vec![Arc::new(source)], &[]) else { panic!("one source is a graph") };
    Engine::new(graph, SETTINGS)
}

fn answer(engine: &Engine, query: &str, sent: &HashMap<String, bool>) -> String {
    let variables = serde_json::to_string(sent).unwrap();
    let json = Json::parse(variables.as_bytes(), 100).unwrap();
    let request = Request {
        query,
        operation_name: None,
        variables: Some(json.root()),
        accent: Accent::Spec,
        queries_only: false,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let response = engine.execute(request, &Caller::Admin).now_or_never().expect("memory answers at once");
    match response.body {
        Body::Whole(bytes) => String::from_utf8(bytes).unwrap(),
        Body::Stream { .. } => panic!("memory does not stream"),
    }
}

/// With few steering variables every byte must be the same. With many a plan is not made for each of their states, and a
/// field merged from several places stands where it was first written: then order is left aside.
fn check(words: &[u16], variables: usize) {
    let mut dice = Dice::new(words);
    let schema = Arc::new(generate::schema(&mut dice));
    let asked = generate::operation(&schema, &mut dice, variables);
    let root = generate::data(&schema, &mut dice);
    let document = parser::parse(&asked.text, &Limits::NONE).expect("the text is well formed");
    let options = validate::Options { limits: Limits::NONE, suggestions: true, edition_2026: false };
    if let Err(errors) = validate::validate(&schema, &document, &options) {
        panic!("{errors:?}\n{}", asked.text);
    }
    let expected = executor::execute(&schema, &document, &asked.sent, &root);
    for as_rows in [false, true] {
        let engine = engine(&schema, &root, as_rows);
        // The second time the plan is in the cache.
        for _ in 0..2 {
            let answered = answer(&engine, &asked.text, &asked.sent);
            if answered != expected && (variables <= 4 || facts(&answered) != facts(&expected)) {
                let same = answered.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
                let from = |text: &str| {
                    String::from_utf8_lossy(&text.as_bytes()[same.saturating_sub(60)..]).into_owned()
                };
                panic!(
                    "as rows: {as_rows}\nengine: {}\nnaive:  {}\n{}\n{:?}\n{root:?}",
                    from(&answered),
                    from(&expected),
                    asked.text,
                    asked.sent
                );
            }
        }
    }
}

/// An answer without the order of members and errors, and without the places of errors in the text.
fn facts(answer: &str) -> (serde_json::Value, Vec<String>) {
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let errors = answer["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut errors: Vec<String> =
        errors.iter().map(|it| format!("{}{}", it["path"], it["message"])).collect();
    errors.sort_unstable();
    // Which of several failing members raises first depends on the order.
    let errors = if answer["data"].is_null() { Vec::new() } else { errors };
    (answer["data"].clone(), errors)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_answers_as_the_specification_says(words in prop::collection::vec(any::<u16>(), 300..5000)) {
        check(&words, 4);
    }

    #[test]
    fn many_steering_variables_change_nothing_but_order(words in prop::collection::vec(any::<u16>(), 300..5000)) {
        check(&words, 8);
    }
}
