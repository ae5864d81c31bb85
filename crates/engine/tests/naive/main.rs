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
        let value = value.clone();
        source = source.field(name, move |_| value.clone());
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

fn check(words: &[u16]) {
    let mut dice = Dice::new(words);
    let schema = Arc::new(generate::schema(&mut dice));
    let asked = generate::operation(&schema, &mut dice);
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
            assert_eq!(answered, expected, "as rows: {as_rows}\n{}\n{:?}\n{root:?}", asked.text, asked.sent);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_answers_as_the_specification_says(words in prop::collection::vec(any::<u16>(), 0..1500)) {
        check(&words);
    }
}
