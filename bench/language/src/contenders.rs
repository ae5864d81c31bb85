//! The libraries, each behind one closure per kind of work. Each fails loudly if it refuses the text.

use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Outcome, Request, Settings};
use weir_engine::memory::Memory;
use weir_language::json::Json;
use weir_language::limits::Limits;
use weir_language::parser::parse;
use weir_language::schema::Schema;
use weir_language::validate::{Options, validate};

/// A measured task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Text to document.
    Parse,
    /// Text to checked document.
    Validate,
    /// Text to a plan, and with it to an answer whose root fields are all null.
    Plan,
    /// SDL to a checked schema.
    Schema,
}

impl Work {
    pub fn text(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Validate => "parse + validate",
            Self::Plan => "parse + validate + plan + answer",
            Self::Schema => "schema of",
        }
    }
}

/// Does the work once.
pub type Contender = Box<dyn FnMut()>;

/// Weir, apollo-compiler, bluejay, graphql-query; `None` for what a library cannot do.
pub fn all(work: Work, schema: &'static str, text: &'static str) -> Vec<Option<Contender>> {
    match work {
        Work::Parse => vec![
            Some(Box::new(move || drop(black_box(parse(text, &Limits::NONE).expect("parses"))))),
            Some(Box::new(move || drop(black_box(apollo_compiler::ast::Document::parse(text, "q").expect("parses"))))),
            Some(Box::new(move || bluejay_parse(text))),
            Some(Box::new(move || graphql_query_parse(text))),
        ],
        Work::Validate => vec![Some(weir_validate(schema, text)), Some(apollo_validate(schema, text)), Some(bluejay_validate(schema, text)), None],
        Work::Plan => vec![Some(weir_answer(schema, text)), None, None, None],
        Work::Schema => vec![
            Some(Box::new(move || drop(black_box(Schema::from_sdl(text).expect("valid"))))),
            Some(Box::new(move || drop(black_box(apollo_compiler::Schema::parse_and_validate(text, "s").expect("valid"))))),
            Some(Box::new(move || bluejay_schema(text))),
            None,
        ],
    }
}

fn weir_validate(schema: &str, text: &'static str) -> Contender {
    let schema = Schema::from_sdl(schema).expect("valid");
    let options = Options {
        limits: Limits::NONE,
        suggestions: false,
        edition_2026: false,
        subscriptions_beside: false,
    };
    Box::new(move || {
        let document = parse(text, &options.limits).expect("parses");
        drop(black_box(validate(&schema, &document, &options).expect("valid")));
    })
}

/// A request of which nothing is known yet: the plan cache has no room. No root field has a resolver.
fn weir_answer(schema: &str, text: &'static str) -> Contender {
    let source = Memory::new("big", Arc::new(Schema::from_sdl(schema).expect("valid")));
    let graph = Graph::compose(vec![Arc::new(source)], &[]).expect("one source");
    let settings = Settings { limits: Limits::NONE, plan_cache_bytes_max: 0, suggestions: false, ..Settings::STANDARD };
    let engine = Engine::new(graph, settings);
    let caller = engine.caller(&Identity::admin());
    Box::new(move || {
        let variables = Json::parse(br#"{"id":"1"}"#, 2).expect("JSON");
        let request = Request { variables: Some(variables.root()), ..Request::new(text, Instant::now() + Duration::from_secs(60)) };
        let mut response = pin!(engine.execute(request, &caller));
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(response) = response.as_mut().poll(&mut context) else { panic!("nothing to wait for") };
        assert!(!response.timing.plan_hit && response.outcome == Outcome::Executed);
        drop(black_box(response));
    })
}

fn graphql_query_parse(text: &str) {
    use graphql_query::ast::{ASTContext, Document, ParseNode};
    let arena = ASTContext::new();
    black_box(Document::parse(&arena, text).expect("parses"));
}

fn apollo_validate(schema: &str, text: &'static str) -> Contender {
    let schema = apollo_compiler::Schema::parse_and_validate(schema, "s").expect("valid");
    Box::new(move || {
        let document = apollo_compiler::ExecutableDocument::parse_and_validate(&schema, text, "q");
        drop(black_box(document.expect("valid")));
    })
}

fn bluejay_parse(text: &str) {
    use bluejay_parser::ast::{Parse, executable::ExecutableDocument};
    let document: ExecutableDocument = ExecutableDocument::parse(text).result.expect("parses");
    drop(black_box(document));
}

fn bluejay_schema(text: &str) {
    use bluejay_parser::ast::definition::{DefinitionDocument, SchemaDefinition};
    use bluejay_parser::ast::Parse;
    let document: DefinitionDocument = DefinitionDocument::parse(text).result.expect("parses");
    drop(black_box(SchemaDefinition::try_from(&document).ok().expect("valid")));
}

fn bluejay_validate(schema: &'static str, text: &'static str) -> Contender {
    use bluejay_parser::ast::definition::{DefinitionDocument, SchemaDefinition};
    use bluejay_parser::ast::{Parse, executable::ExecutableDocument};
    use bluejay_validator::executable::{Cache, document::BuiltinRulesValidator};
    let document: &'static DefinitionDocument =
        Box::leak(Box::new(DefinitionDocument::parse(schema).result.expect("parses")));
    let schema: &'static SchemaDefinition =
        Box::leak(Box::new(SchemaDefinition::try_from(document).ok().expect("valid")));
    Box::new(move || {
        let document: ExecutableDocument = ExecutableDocument::parse(text).result.expect("parses");
        let cache = Cache::new(&document, schema);
        let errors = BuiltinRulesValidator::validate(&document, schema, &cache).into_iter().count();
        assert_eq!(black_box(errors), 0);
    })
}
