//! Introspection through the whole engine: every fact of section 4 of the specification, folded and per request.

use futures_util::FutureExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Body, Engine, Request, Settings};
use weir_engine::memory::Memory;
use weir_engine::source::Protocol;
use weir_language::json::Json;
use weir_language::schema::Schema;

const SDL: &str = r#"
"About \"boats\""
schema { query: Query mutation: Write }
"Reads"
type Query implements Named & Root {
  name: String!
  boats(limit: Int! = 10, old: Int @deprecated(reason: "Gone")): [[Boat!]]!
  lost: Boat @deprecated
}
type Write { push(input: Filter): Int }
interface Root { name: String! }
interface Named implements Root { name: String! }
type Boat { kind: Kind }
type Raft { kind: Kind }
union Craft = Boat | Raft
enum Kind { BIG SMALL @deprecated(reason: "Too \"small\"") }
input Filter @oneOf { kind: Kind note: String }
input Plain { kind: Kind = BIG  old: Int @deprecated }
scalar Moment @specifiedBy(url: "https://example.org/moment")
directive @mark(at: Int = 1) repeatable on FIELD | QUERY
"#;

fn engine() -> Engine {
    engine_of(SDL)
}

fn engine_of(sdl: &str) -> Engine {
    engine_with(sdl, Settings::STANDARD)
}

fn engine_with(sdl: &str, settings: Settings) -> Engine {
    let schema = Arc::new(Schema::from_sdl(sdl).unwrap());
    let source = Memory::new("memory", schema);
    let Ok(graph) = Graph::compose(vec![Arc::new(source)], &[]) else { panic!("one source is a graph") };
    Engine::new(graph, settings)
}

fn answer(query: &str, variables: &str) -> String {
    let json = Json::parse(variables.as_bytes(), 100).unwrap();
    let request = Request {
        variables: Some(json.root()),
        ..Request::new(query, Instant::now() + Duration::from_secs(60))
    };
    answer_by(&engine(), request)
}

fn answer_by(engine: &Engine, request: Request<'_>) -> String {
    match engine.execute(request, &engine.caller(&Identity::admin())).now_or_never().unwrap().body {
        Body::Whole(bytes) => String::from_utf8(bytes).unwrap(),
        Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("nothing streams here"),
    }
}

/// Below `__type(name: …)`, with the name as a literal (folded) and as a variable (written per request).
fn check(name: &str, selections: &str, expected: &str) {
    let expected = format!("{{\"data\":{{\"__type\":{expected}}}}}");
    assert_eq!(answer(&format!("{{ __type(name: \"{name}\") {selections} }}"), "{}"), expected);
    let query = format!("query ($name: String!) {{ __type(name: $name) {selections} }}");
    assert_eq!(answer(&query, &format!("{{\"name\": \"{name}\"}}")), expected);
}

#[test]
fn the_schema_names_its_roots_and_directives() {
    let query = r"{ __schema { __typename description queryType { name } mutationType { n: name } subscriptionType { name }
        directives { name isRepeatable locations args { name defaultValue } } } }";
    let answer = answer(query, "{}");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let schema = &answer["data"]["__schema"];
    assert_eq!(schema["__typename"], "__Schema");
    assert_eq!(schema["description"], "About \"boats\"");
    assert_eq!(schema["queryType"]["name"], "Query");
    assert_eq!(schema["mutationType"]["n"], "Write");
    assert!(schema["subscriptionType"].is_null());
    let directives = schema["directives"].as_array().unwrap();
    let names: Vec<&str> = directives.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["skip", "include", "deprecated", "specifiedBy", "oneOf", "defer", "stream", "mark"]);
    let mark = serde_json::json!({
        "name": "mark", "isRepeatable": true, "locations": ["QUERY", "FIELD"],
        "args": [{ "name": "at", "defaultValue": "1" }],
    });
    assert_eq!(directives[7], mark);
}

#[test]
fn directives_that_do_not_work_are_unknown() {
    let settings = Settings { incremental_delivery: false, ..Settings::STANDARD };
    let engine = engine_with(SDL, settings);
    let ask = |query| answer_by(&engine, Request::new(query, Instant::now() + Duration::from_secs(60)));
    let listed = ask("{ __schema { directives { name } } }");
    assert!(listed.contains("oneOf") && !listed.contains("defer") && !listed.contains("stream"), "{listed}");
    for query in ["{ ... @defer { name } }", "{ boats @stream { kind } }"] {
        let refused = ask(query);
        assert!(refused.contains("Unknown directive"), "{refused}");
        assert!(!refused.contains("Did you mean"), "{refused}");
    }
}

#[test]
fn all_types_are_listed_with_the_built_in_ones() {
    let answer = answer("{ __schema { types { name kind } } }", "{}");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let types = answer["data"]["__schema"]["types"].as_array().unwrap();
    for (name, kind) in [
        ("Int", "SCALAR"),
        ("__Type", "OBJECT"),
        ("__TypeKind", "ENUM"),
        ("Query", "OBJECT"),
        ("Craft", "UNION"),
        ("Named", "INTERFACE"),
        ("Filter", "INPUT_OBJECT"),
        ("Moment", "SCALAR"),
    ] {
        assert!(types.contains(&serde_json::json!({ "name": name, "kind": kind })), "{name}");
    }
}

#[test]
fn an_object_has_fields_and_interfaces() {
    check(
        "Query",
        "{ kind description possibleTypes { name } }",
        r#"{"kind":"OBJECT","description":"Reads","possibleTypes":null}"#,
    );
    check("Query", "{ interfaces { name } }", r#"{"interfaces":[{"name":"Named"},{"name":"Root"}]}"#);
    check("Query", "{ fields { name } }", r#"{"fields":[{"name":"name"},{"name":"boats"}]}"#);
    check("Boat", "{ interfaces { name } ofType { name } }", r#"{"interfaces":[],"ofType":null}"#);
}

#[test]
fn what_is_deprecated_is_shown_when_asked_for() {
    check(
        "Query",
        "{ fields(includeDeprecated: true) { name isDeprecated deprecationReason } }",
        r#"{"fields":[{"name":"name","isDeprecated":false,"deprecationReason":null},{"name":"boats","isDeprecated":false,"deprecationReason":null},{"name":"lost","isDeprecated":true,"deprecationReason":"No longer supported"}]}"#,
    );
    check("Kind", "{ enumValues { name } }", r#"{"enumValues":[{"name":"BIG"}]}"#);
    check(
        "Kind",
        "{ enumValues(includeDeprecated: true) { name deprecationReason } }",
        r#"{"enumValues":[{"name":"BIG","deprecationReason":null},{"name":"SMALL","deprecationReason":"Too \"small\""}]}"#,
    );
    check(
        "Plain",
        "{ inputFields { name defaultValue } }",
        r#"{"inputFields":[{"name":"kind","defaultValue":"BIG"}]}"#,
    );
    let query =
        "query ($all: Boolean!) { __type(name: \"Kind\") { enumValues(includeDeprecated: $all) { name } } }";
    assert_eq!(
        answer(query, "{\"all\": true}"),
        r#"{"data":{"__type":{"enumValues":[{"name":"BIG"},{"name":"SMALL"}]}}}"#
    );
    assert_eq!(answer(query, "{\"all\": false}"), r#"{"data":{"__type":{"enumValues":[{"name":"BIG"}]}}}"#);
}

#[test]
fn wrapped_types_are_chains() {
    check(
        "Query",
        "{ fields { type { kind name ofType { kind ofType { kind ofType { kind ofType { kind name ofType { kind } } } } } } } }",
        r#"{"fields":[{"type":{"kind":"NON_NULL","name":null,"ofType":{"kind":"SCALAR","ofType":null}}},{"type":{"kind":"NON_NULL","name":null,"ofType":{"kind":"LIST","ofType":{"kind":"LIST","ofType":{"kind":"NON_NULL","ofType":{"kind":"OBJECT","name":"Boat","ofType":null}}}}}}]}"#,
    );
    check(
        "Query",
        "{ fields { args { name defaultValue type { kind fields { name } isOneOf specifiedByURL } } } }",
        r#"{"fields":[{"args":[]},{"args":[{"name":"limit","defaultValue":"10","type":{"kind":"NON_NULL","fields":null,"isOneOf":null,"specifiedByURL":null}}]}]}"#,
    );
}

#[test]
fn abstract_types_scalars_and_inputs_have_what_is_theirs() {
    check(
        "Craft",
        "{ fields { name } possibleTypes { name } }",
        r#"{"fields":null,"possibleTypes":[{"name":"Boat"},{"name":"Raft"}]}"#,
    );
    check(
        "Root",
        "{ interfaces { name } possibleTypes { name } }",
        r#"{"interfaces":[],"possibleTypes":[{"name":"Query"}]}"#,
    );
    check(
        "Moment",
        "{ specifiedByURL isOneOf }",
        r#"{"specifiedByURL":"https://example.org/moment","isOneOf":null}"#,
    );
    check("Filter", "{ isOneOf enumValues { name } }", r#"{"isOneOf":true,"enumValues":null}"#);
    check("Plain", "{ isOneOf }", r#"{"isOneOf":false}"#);
    check("Nowhere", "{ name }", "null");
}

#[test]
fn conditions_and_fragments_hold_inside() {
    let query = "query ($yes: Boolean!) { __type(name: \"Boat\") { name ...F @include(if: $yes) } } \
                 fragment F on __Type { kind again: name __typename }";
    assert_eq!(
        answer(query, "{\"yes\": true}"),
        r#"{"data":{"__type":{"name":"Boat","kind":"OBJECT","again":"Boat","__typename":"__Type"}}}"#
    );
    assert_eq!(answer(query, "{\"yes\": false}"), r#"{"data":{"__type":{"name":"Boat"}}}"#);
    let many = "query ($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!, $e: Boolean!) { __type(name: \"Boat\") { \
                name @include(if: $a) kind @skip(if: $b) description @include(if: $c) a: name @include(if: $d) \
                b: name @include(if: $e) } }";
    assert_eq!(
        answer(many, r#"{"a": true, "b": true, "c": false, "d": false, "e": true}"#),
        r#"{"data":{"__type":{"name":"Boat","b":"Boat"}}}"#
    );
}

#[test]
fn a_folded_answer_of_megabytes_stays_in_the_plan_cache() {
    let mut sdl = String::from("type Query { name: String }\n");
    let words = "w".repeat(100);
    for ty in 0..300 {
        let fields: String = (0..40).map(|field| format!("\"{words}\" f{field}: [Query!]! ")).collect();
        sdl.push_str(&format!("type T{ty} {{ {fields} }}\n"));
    }
    let engine = engine_of(&sdl);
    let query = "{ __schema { types { name fields { name description type { kind name ofType { kind name ofType { kind } } } } } } }";
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    let first = engine.execute(request, &engine.caller(&Identity::admin())).now_or_never().unwrap();
    let Body::Whole(bytes) = first.body else { panic!("nothing streams here") };
    assert!(bytes.len() > 2 << 20, "{} bytes", bytes.len());
    let second = engine.execute(request, &engine.caller(&Identity::admin())).now_or_never().unwrap();
    assert!(!first.timing.plan_hit && second.timing.plan_hit);
    let Body::Whole(again) = second.body else { panic!("nothing streams here") };
    assert!(bytes == again);
}

#[test]
fn the_same_introspection_under_two_names_is_answered_twice() {
    for (query, variables) in [
        ("{ a: __type(name: \"Boat\") { name } b: __type(name: \"Boat\") { name } }", "{}"),
        (
            "query ($n: String!) { a: __type(name: $n) { name } b: __type(name: $n) { name } }",
            "{\"n\": \"Boat\"}",
        ),
    ] {
        assert_eq!(answer(query, variables), r#"{"data":{"a":{"name":"Boat"},"b":{"name":"Boat"}}}"#);
    }
    let expected = r#"{"data":{"long":{"queryType":{"name":"Query"}},"s":{"queryType":{"name":"Query"}}}}"#;
    assert_eq!(
        answer("{ long: __schema { queryType { name } } s: __schema { queryType { name } } }", "{}"),
        expected
    );
}

/// The names of listed types of a schema, and the value of `__type` for each built-in number and identifier.
fn listed(sdl: &str) -> (Vec<String>, Vec<bool>) {
    let engine = engine_of(sdl);
    let ask = |query: &str| -> serde_json::Value {
        let request = Request::new(query, Instant::now() + Duration::from_secs(60));
        let caller = engine.caller(&Identity::admin());
        match engine.execute(request, &caller).now_or_never().unwrap().body {
            Body::Whole(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("nothing streams here"),
        }
    };
    let all = ask("{ __schema { types { name } } }");
    let types = all["data"]["__schema"]["types"].as_array().unwrap();
    let names = types.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    let is_type =
        |name| !ask(&format!("{{ __type(name: \"{name}\") {{ name }} }}"))["data"]["__type"].is_null();
    (names, ["Int", "Float", "ID", "String", "Boolean"].map(is_type).to_vec())
}

#[test]
fn numbers_and_identifiers_are_listed_where_something_refers_to_them() {
    let check = |sdl: &str, expected: [bool; 3]| {
        let (names, are_types) = listed(sdl);
        let has = ["Int", "Float", "ID"].map(|it| names.iter().any(|name| name == it));
        assert_eq!(has, expected, "{sdl}: {names:?}");
        assert_eq!((&are_types[..3], &are_types[3..]), (&expected[..], &[true, true][..]), "{sdl}");
    };
    // The argument of `@stream` is an `Int`.
    check("type Query { a: String }", [true, false, false]);
    check("type Query { a: [[Float!]!]! }", [true, true, false]);
    check("type Query { a(by: ID): String }", [true, false, true]);
    check("type Query { a(by: By): String } input By { id: ID! ratio: Float }", [true, true, true]);
    check("interface Node { id: ID! } type Query implements Node { id: ID! }", [true, false, true]);
    check("directive @d(by: Float) on FIELD type Query { a: String }", [true, true, false]);
}

const DEPRECATED: &str = r#"
directive @old @deprecated(reason: "use `@new`") on FIELD
directive @new on FIELD | DIRECTIVE_DEFINITION
extend directive @new @deprecated
directive @kept @new on FIELD
type Query { a: String }
"#;

#[test]
fn directives_can_be_deprecated() {
    let engine = engine_of(DEPRECATED);
    let ask = |query: &str| -> serde_json::Value {
        let request = Request::new(query, Instant::now() + Duration::from_secs(60));
        let caller = engine.caller(&Identity::admin());
        match engine.execute(request, &caller).now_or_never().unwrap().body {
            Body::Whole(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Body::Shared(_) | Body::Stream { .. } | Body::Increments { .. } => panic!("nothing streams here"),
        }
    };
    let names = |answer: &serde_json::Value| -> Vec<String> {
        let directives = answer["data"]["__schema"]["directives"].as_array().unwrap();
        directives.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let shown = names(&ask("{ __schema { directives { name } } }"));
    assert!(shown.contains(&"kept".to_owned()) && !shown.contains(&"old".to_owned()), "{shown:?}");
    let all = ask(
        "{ __schema { directives(includeDeprecated: true) { name isDeprecated deprecationReason locations } } }",
    );
    let of = |name: &str| {
        let directives = all["data"]["__schema"]["directives"].as_array().unwrap();
        directives.iter().find(|it| it["name"] == name).unwrap().clone()
    };
    assert_eq!(of("old")["deprecationReason"], "use `@new`");
    assert_eq!(of("new")["isDeprecated"], true);
    assert_eq!(of("new")["locations"], serde_json::json!(["FIELD", "DIRECTIVE_DEFINITION"]));
    assert_eq!(of("kept")["isDeprecated"], false);
    // Clients of older editions read these.
    let built_in = of("deprecated");
    assert!(!built_in["locations"].as_array().unwrap().contains(&"DIRECTIVE_DEFINITION".into()));
}

/// A schema with so many types, each with a description of so many bytes.
fn many_types(types: usize, description_bytes: usize) -> String {
    let words = "x".repeat(description_bytes);
    let one = |at: usize| format!("\"{words}\" type T{at} {{ next: T{at} other(at: Int): [T0!]! }}\n");
    let types: String = (0..types).map(one).collect();
    format!("type Query {{ a: T0 }}\n{types}")
}

/// All bytes of the answer of `engine`, and the sizes of its parts.
async fn collect_parts(engine: &Engine, query: &str, protocol: Protocol) -> (String, Vec<usize>) {
    let request = Request { protocol, ..Request::new(query, Instant::now() + Duration::from_secs(60)) };
    let Body::Stream { mut head, mut rest } =
        engine.execute(request, &engine.caller(&Identity::admin())).await.body
    else {
        panic!("a stream was expected");
    };
    let mut sizes = vec![head.len()];
    while let Some(part) = rest.recv().await {
        let part = part.expect("the answer is whole");
        sizes.push(part.len());
        head.extend(part);
    }
    (String::from_utf8(head).unwrap(), sizes)
}

const LONG: &str = "query ($old: Boolean = false) { before: __typename __schema { queryType { name } types { name description
    fields(includeDeprecated: $old) { name type { kind ofType { name } } } } directives { name } }
    __type(name: \"T1\") { name } after: __typename }";

#[test]
fn a_long_answer_leaves_in_parts_and_has_the_bytes_of_a_whole_one() {
    let engine = engine_of(&many_types(3000, 50));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for protocol in [Protocol::GraphqlOverHttp, Protocol::Hasura] {
        let request = Request { protocol, ..Request::new(LONG, Instant::now() + Duration::from_secs(60)) };
        // Without a runtime nothing can stream.
        let whole = answer_by(&engine, request);
        let (text, sizes) = runtime.block_on(collect_parts(&engine, LONG, protocol));
        assert!(text == whole, "{} and {} bytes", text.len(), whole.len());
        let held_back = Settings::STANDARD.hold_back_bytes;
        assert!(whole.len() > 2 * held_back && sizes.len() > 4, "{sizes:?}");
        assert!(sizes.iter().all(|it| *it < held_back + 10_000), "{sizes:?}");
    }
}

#[test]
fn members_that_repeat_each_other_are_held_back() {
    let engine = engine_of(&many_types(3000, 50));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let query = "query ($old: Boolean = false) { a: __schema { types { name description fields(includeDeprecated: $old) { name } } }
        b: __schema { types { name description fields(includeDeprecated: $old) { name } } } }";
    let request = || Request::new(query, Instant::now() + Duration::from_secs(60));
    let whole = answer_by(&engine, request());
    let again = runtime.block_on(async { answer_by(&engine, request()) });
    assert!(whole.len() > 2 * Settings::STANDARD.hold_back_bytes && whole == again);
}

#[test]
fn a_constant_answer_that_is_too_long_is_no_part_of_its_plan() {
    let engine = engine_of(&many_types(5000, 4000));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let query = "{ __schema { types { name description } } }";
    let (text, sizes) = runtime.block_on(collect_parts(&engine, query, Protocol::GraphqlOverHttp));
    assert!(text.len() > 20_000_000 && sizes.len() > 100, "{}", text.len());
    // So the plan is small enough to be kept.
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    let again = runtime.block_on(engine.execute(request, &engine.caller(&Identity::admin())));
    assert!(again.timing.plan_hit);
}
