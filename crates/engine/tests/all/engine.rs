//! The engine as a whole: answers, errors over both protocols, plans kept.

use crate::kit;
use crate::kit::{Documents, answer, engine, run, settings, text};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Outcome, Request};
use weir_engine::source::{FieldError, Protocol, Source, SourceError};
use weir_language::ast::OperationKind;

const SDL: &str = "
    type Album { id: Int!  title: String!  next: Album }
    input Filter { id: Int  title: String }
    enum Colour { RED GREEN }
    type Query { album(id: Int!): Album  sure(id: Int!): Album!  albums(where: Filter, colour: Colour, ids: [Int!]): [Album!]!  refused: Int }
    type Mutation { add(title: String!): Album  drop(id: Int!): Album! }";

fn resolve(field: &str, arguments: &Value) -> Result<Value, SourceError> {
    let album =
        |id: i64| json!({"id": id, "title": format!("Album {id}"), "next": {"id": id + 1, "title": null}});
    let id = arguments["id"].as_i64().unwrap_or(0);
    let rejected = || {
        let error = FieldError {
            code: "constraint-violation",
            message: "no".into(),
            hasura_path: None,
            extensions: None,
        };
        Err(SourceError::Rejected { error, field: None })
    };
    match (field, id) {
        (_, 1) => Ok(album(1)),
        (_, 2) => Ok(Value::Null),
        (_, 3) => panic!("a mistake"),
        (_, 4) => Err(SourceError::Unavailable("host db.example is gone".into())),
        (_, 5) => rejected(),
        ("albums", _) => Ok(json!([album(1), album(2)])),
        _ => Ok(album(id)),
    }
}

fn zoo() -> (Arc<Documents>, Engine) {
    let source = Documents::new("zoo", SDL, resolve);
    let engine = engine(&[Arc::clone(&source)], &[]);
    (source, engine)
}

#[track_caller]
fn check(protocol: Protocol, query: &str, variables: &str, expected: &str) {
    let (_, engine) = zoo();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let answer = text(runtime.block_on(run(&engine, protocol, query, variables)));
    assert_eq!(answer, expected);
}

#[test]
fn data_without_errors_is_all_there_is() {
    check(
        Protocol::GraphqlOverHttp,
        "{ album(id: 1) { title } }",
        "{}",
        r#"{"data":{"album":{"title":"Album 1"}}}"#,
    );
    check(Protocol::Hasura, "{ album(id: 2) { title } }", "null", r#"{"data":{"album":null}}"#);
    check(Protocol::GraphqlOverHttp, "{ __typename }", "{}", r#"{"data":{"__typename":"Query"}}"#);
    check(Protocol::GraphqlOverHttp, "{ album(id: 1) @skip(if: true) { id } }", "{}", r#"{"data":{}}"#);
}

#[test]
fn a_source_that_finishes_its_own_bytes_answers_alike() {
    let source = Documents::new("finished", SDL, resolve);
    let engine = engine(&[source], &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let ask = |query: &str| runtime.block_on(answer(&engine, query, "{}"));
    assert_eq!(
        ask("{ a: album(id: 1) { id } b: album(id: 2) { id } }"),
        r#"{"data":{"a":{"id":1},"b":null}}"#
    );
    assert_eq!(
        ask("{ a: album(id: 1) { id } __typename long_name: album(id: 1) { id } b: album(id: 2) { id } }"),
        r#"{"data":{"a":{"id":1},"__typename":"Query","long_name":{"id":1},"b":null}}"#
    );
}

#[test]
fn a_client_says_how_long_caches_may_keep_an_answer_that_is_whole() {
    let sdl = format!("directive @cacheControl(maxAge: Int!) on QUERY {SDL}");
    let engine = engine(&[Documents::new("kept", &sdl, resolve)], &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let keep_s = |query: &str, variables: &str| {
        let lifetime = runtime.block_on(run(&engine, Protocol::GraphqlOverHttp, query, variables)).lifetime;
        lifetime.map(|it| it.cache_control.remaining_ms.div_ceil(1000))
    };
    assert_eq!(keep_s("query @cacheControl(maxAge: 60) { album(id: 1) { id } }", "{}"), Some(60));
    assert_eq!(keep_s("query @cacheControl(maxAge: -1) { album(id: 1) { id } }", "{}"), Some(0));
    let by_variable = "query ($n: Int! = 5) @cacheControl(maxAge: $n) { album(id: 1) { id } }";
    assert_eq!(keep_s(by_variable, r#"{"n": 7}"#), Some(7));
    assert_eq!(keep_s(by_variable, "{}"), Some(5));
    assert_eq!(keep_s("{ album(id: 1) { id } }", "{}"), None);
    assert_eq!(keep_s("query @cacheControl(maxAge: 60) { album(id: 4) { id } }", "{}"), Some(0));
    assert_eq!(keep_s("query @cacheControl(maxAge: 60) { nothing }", "{}"), None);
}

#[test]
fn nulls_bubble_to_the_nearest_member_that_may_be_null() {
    check(
        Protocol::GraphqlOverHttp,
        "{ album(id: 1) { id next { title } } }",
        "{}",
        r#"{"errors":[{"message":"Cannot return null for non-nullable field Album.title.","locations":[{"line":1,"column":28}],"path":["album","next","title"],"extensions":{"code":"NULL_FOR_NON_NULL"}}],"data":{"album":{"id":1,"next":null}}}"#,
    );
    check(
        Protocol::GraphqlOverHttp,
        "{ a: album(id: 1) { id } sure(id: 2) { id } }",
        "{}",
        r#"{"errors":[{"message":"Cannot return null for non-nullable field Query.sure.","locations":[{"line":1,"column":26}],"path":["sure"],"extensions":{"code":"NULL_FOR_NON_NULL"}}],"data":null}"#,
    );
}

#[test]
fn a_source_that_fails_fails_its_members_and_tells_clients_nothing_of_itself() {
    check(
        Protocol::GraphqlOverHttp,
        "{ album(id: 4) { id } }",
        "{}",
        r#"{"errors":[{"message":"The source is unavailable.","locations":[{"line":1,"column":3}],"path":["album"],"extensions":{"code":"SOURCE_UNAVAILABLE"}}],"data":{"album":null}}"#,
    );
    check(
        Protocol::GraphqlOverHttp,
        "{ album(id: 3) { id } }",
        "{}",
        r#"{"errors":[{"message":"Internal error.","locations":[{"line":1,"column":3}],"path":["album"],"extensions":{"code":"INTERNAL"}}],"data":{"album":null}}"#,
    );
    check(
        Protocol::Hasura,
        "{ a: album(id: 4) { id } }",
        "{}",
        r#"{"errors":[{"message":"The source is unavailable.","extensions":{"path":"$.selectionSet.a","code":"unexpected"}}]}"#,
    );
}

#[test]
fn a_mutation_that_is_rolled_back_is_null_in_all_its_members() {
    check(
        Protocol::GraphqlOverHttp,
        r#"mutation { add(title: "x") { id } b: drop(id: 5) { id } }"#,
        "{}",
        r#"{"errors":[{"message":"no","locations":[{"line":1,"column":12}],"path":["add"],"extensions":{"code":"constraint-violation"}}],"data":null}"#,
    );
    check(
        Protocol::Hasura,
        "mutation { b: drop(id: 5) { id } }",
        "{}",
        r#"{"errors":[{"message":"no","extensions":{"path":"$.selectionSet.b","code":"constraint-violation"}}]}"#,
    );
}

#[test]
fn what_is_not_valid_is_refused_in_the_words_of_its_accent() {
    let both = |query: &str, variables: &str, spec: &str, hasura: &str| {
        check(Protocol::GraphqlOverHttp, query, variables, &format!(r#"{{"errors":[{spec}]}}"#));
        check(Protocol::Hasura, query, variables, &format!(r#"{{"errors":[{hasura}]}}"#));
    };
    both(
        "{ album(id: 1) { x } }",
        "{}",
        r#"{"message":"Cannot query field \"x\" on type \"Album\".","locations":[{"line":1,"column":18}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}"#,
        r#"{"message":"field 'x' not found in type: 'Album'","extensions":{"path":"$.selectionSet.album.selectionSet.x","code":"validation-failed"}}"#,
    );
    both(
        "{ a: albums(limit: 1) { id } }",
        "{}",
        r#"{"message":"Unknown argument \"limit\" on field \"Query.albums\".","locations":[{"line":1,"column":13}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}"#,
        r#"{"message":"'albums' has no argument named 'limit'","extensions":{"path":"$.selectionSet.a","code":"validation-failed"}}"#,
    );
    both(
        "{ albums { ...F } } fragment F on Album { nope }",
        "{}",
        r#"{"message":"Cannot query field \"nope\" on type \"Album\".","locations":[{"line":1,"column":43}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}"#,
        r#"{"message":"field 'nope' not found in type: 'Album'","extensions":{"path":"$.selectionSet.albums.selectionSet.F.selectionSet.nope","code":"validation-failed"}}"#,
    );
    both(
        "{ albums ",
        "{}",
        r#"{"message":"Syntax Error: Expected Name, found <EOF>.","locations":[{"line":1,"column":10}],"extensions":{"code":"GRAPHQL_PARSE_FAILED"}}"#,
        r#"{"message":"not a valid graphql query","extensions":{"path":"$.query","code":"validation-failed"}}"#,
    );
    both(
        "query ($id: Int!) { album(id: $id) { id } }",
        "{}",
        r#"{"message":"Variable \"$id\" of required type \"Int!\" was not provided.","locations":[{"line":1,"column":8}],"extensions":{"code":"BAD_USER_INPUT"}}"#,
        r#"{"message":"expecting a value for non-nullable variable: \"id\"","extensions":{"path":"$","code":"validation-failed"}}"#,
    );
    both(
        "{ refused }",
        "{}",
        r#"{"message":"not here","locations":[{"line":1,"column":3}],"extensions":{"code":"NOT_SUPPORTED"}}"#,
        r#"{"message":"not here","extensions":{"path":"$.selectionSet.refused","code":"unexpected"}}"#,
    );
}

#[test]
fn hasura_paths_go_into_arguments() {
    check(
        Protocol::Hasura,
        "{ x: albums(where: {title: [5]}) { id } }",
        "{}",
        r#"{"errors":[{"message":"expected a string for type 'String', but found a list","extensions":{"path":"$.selectionSet.x.args.where.title","code":"validation-failed"}}]}"#,
    );
    check(
        Protocol::Hasura,
        "{ albums(where: {nope: 5}) { id } }",
        "{}",
        r#"{"errors":[{"message":"field 'nope' not found in type: 'Filter'","extensions":{"path":"$.selectionSet.albums.args.where","code":"validation-failed"}}]}"#,
    );
}

#[test]
fn under_hasuras_accent_strings_stand_for_numbers_and_variables_may_be_unused() {
    check(
        Protocol::Hasura,
        r#"query ($unused: Int, $id: Int!) { a: album(id: "1") { id } b: album(id: $id) { id } }"#,
        r#"{"id": "2"}"#,
        r#"{"data":{"a":{"id":1},"b":null}}"#,
    );
    check(
        Protocol::Hasura,
        "{ albums(colour: BLUE) { id } }",
        "{}",
        r#"{"errors":[{"message":"expected one of the values ['GREEN', 'RED'] for type 'Colour', but found 'BLUE'","extensions":{"path":"$.selectionSet.albums.args.colour","code":"validation-failed"}}]}"#,
    );
}

#[test]
fn null_past_a_default_fails_its_field_alone() {
    let query = "query ($id: Int = 1) { one: album(id: 1) { id } album(id: $id) { id } }";
    check(Protocol::GraphqlOverHttp, query, "{}", r#"{"data":{"one":{"id":1},"album":{"id":1}}}"#);
    check(
        Protocol::GraphqlOverHttp,
        query,
        r#"{"id": null}"#,
        r#"{"errors":[{"message":"Argument \"id\" of non-null type \"Int!\" must not be null.","locations":[{"line":1,"column":49}],"path":["album"],"extensions":{"code":"BAD_USER_INPUT"}}],"data":{"one":{"id":1},"album":null}}"#,
    );
    check(
        Protocol::Hasura,
        query,
        r#"{"id": null}"#,
        r#"{"errors":[{"message":"null value found for non-nullable type: \"Int!\"","extensions":{"path":"$.selectionSet.album.args.id","code":"validation-failed"}}]}"#,
    );
}

#[test]
fn null_in_a_list_past_a_default_takes_a_field_that_may_not_be_null_along() {
    let query = "query ($id: Int = 1) { albums(ids: [2, $id]) { id } }";
    check(Protocol::GraphqlOverHttp, query, "{}", r#"{"data":{"albums":[{"id":1},{"id":2}]}}"#);
    check(
        Protocol::GraphqlOverHttp,
        query,
        r#"{"id": null}"#,
        r#"{"errors":[{"message":"Argument \"ids\" of non-null type \"Int!\" must not be null.","locations":[{"line":1,"column":24}],"path":["albums"],"extensions":{"code":"BAD_USER_INPUT"}}],"data":null}"#,
    );
}

#[test]
fn null_does_not_steer_past_a_default() {
    let refused = |query: &str, variable: &str| {
        let column = query.find(&format!("if: {variable})")).expect("it is there") + 5;
        format!(
            r#"{{"errors":[{{"message":"Argument \"if\" of non-null type \"Boolean!\" must not be null.","locations":[{{"line":1,"column":{column}}}],"extensions":{{"code":"BAD_USER_INPUT"}}}}]}}"#
        )
    };
    for directive in ["skip", "include"] {
        let query = format!(
            "query ($s: Boolean = true) {{ album(id: 1) {{ id ...on Album @{directive}(if: $s) {{ title }} }} }}"
        );
        check(Protocol::GraphqlOverHttp, &query, r#"{"s": null}"#, &refused(&query, "$s"));
    }
    let query = "query ($s: Boolean = true) { album(id: 1) { id title @skip(if: $s) } }";
    check(Protocol::GraphqlOverHttp, query, "{}", r#"{"data":{"album":{"id":1}}}"#);
    let many: String = (0..6).map(|it| format!("$s{it}: Boolean = true ")).collect();
    let fields: String = (0..6).map(|it| format!("t{it}: title @skip(if: $s{it}) ")).collect();
    let query = format!("query ({many}) {{ album(id: 1) {{ id {fields} }} }}");
    check(Protocol::GraphqlOverHttp, &query, "{}", r#"{"data":{"album":{"id":1}}}"#);
    check(Protocol::GraphqlOverHttp, &query, r#"{"s3": null}"#, &refused(&query, "$s3"));
}

#[test]
fn null_does_no_harm_in_what_is_left_out() {
    let answered = r#"{"data":{"album":{"id":1}}}"#;
    for left_out in ["@skip(if: $out) @include(if: $s)", "@include(if: $s) @skip(if: $out)"] {
        let query = format!(
            "query ($out: Boolean!, $s: Boolean = true) {{ album(id: 1) {{ id title {left_out} }} }}"
        );
        check(Protocol::GraphqlOverHttp, &query, r#"{"out": true, "s": null}"#, answered);
    }
    let query = "query ($in: Boolean!, $s: Boolean = true) {
        album(id: 1) { id ... @include(if: $in) { title @skip(if: $s) } }
    }";
    check(Protocol::GraphqlOverHttp, query, r#"{"in": false, "s": null}"#, answered);
    let query = "query ($in: Boolean!, $id: Int = 1) { album(id: 1) { id } other: album(id: $id) @include(if: $in) { id } }";
    check(Protocol::GraphqlOverHttp, query, r#"{"in": false, "id": null}"#, answered);
}

#[tokio::test]
async fn introspection_can_be_switched_off() {
    let source = Documents::new("zoo", SDL, resolve);
    let graph =
        Graph::compose(vec![source as Arc<dyn Source>], &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let engine = Engine::new(graph, kit::Settings { introspection: false, ..settings() });
    assert_eq!(
        answer(&engine, "{ __typename __schema { queryType { name } } }", "{}").await,
        r#"{"errors":[{"message":"GraphQL introspection has been disabled, but the requested query contained the field \"__schema\".","locations":[{"line":1,"column":14}],"extensions":{"code":"INTROSPECTION_DISABLED"}}]}"#
    );
    assert_eq!(answer(&engine, "{ __typename }", "{}").await, r#"{"data":{"__typename":"Query"}}"#);
}

fn request<'r>(query: &'r str, operation_name: Option<&'r str>) -> Request<'r> {
    let deadline = Instant::now() + Duration::from_secs(5);
    Request {
        query,
        operation_name,
        variables: None,
        protocol: Protocol::GraphqlOverHttp,
        queries_only: false,
        increments: None,
        shows_cost: false,
        spent: None,
        headers: &weir_engine::source::NoHeaders,
        deadline,
    }
}

#[tokio::test]
async fn the_operation_that_is_named_is_run() {
    let (_, engine) = zoo();
    let query = "query A { a: __typename } mutation B { b: __typename }";
    let ask = async |name| engine.execute(request(query, name), &engine.caller(&Identity::admin())).await;
    assert_eq!(text(ask(Some("A")).await), r#"{"data":{"a":"Query"}}"#);
    assert_eq!(text(ask(Some("B")).await), r#"{"data":{"b":"Mutation"}}"#);
    let unknown = ask(Some("C")).await;
    assert_eq!(unknown.outcome, Outcome::Refused);
    assert_eq!(
        text(unknown),
        r#"{"errors":[{"message":"Unknown operation named \"C\".","extensions":{"code":"OPERATION_RESOLUTION_FAILURE"}}]}"#
    );
    assert_eq!(ask(None).await.outcome, Outcome::Refused);
}

#[tokio::test]
async fn where_only_queries_may_run_a_mutation_does_not() {
    let (source, engine) = zoo();
    let query = r#"mutation { add(title: "x") { id } }"#;
    let only = Request { queries_only: true, ..request(query, None) };
    let response = engine.execute(only, &engine.caller(&Identity::admin())).await;
    assert_eq!(response.outcome, Outcome::MethodNotAllowed(OperationKind::Mutation));
    assert!(source.asked().is_empty());
    assert_eq!(
        engine.execute(request(query, None), &engine.caller(&Identity::admin())).await.outcome,
        Outcome::Executed
    );
}

#[tokio::test]
async fn a_source_that_is_silent_is_given_up_at_the_deadline() {
    let source = Arc::new(kit::silent::Silent::new(SDL));
    let graph =
        Graph::compose(vec![source as Arc<dyn Source>], &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let engine = Engine::new(graph, settings());
    let request = Request { deadline: Instant::now(), ..request("{ album(id: 1) { id } }", None) };
    let response = engine.execute(request, &engine.caller(&Identity::admin())).await;
    assert_eq!(
        text(response),
        r#"{"errors":[{"message":"The source did not answer in time.","locations":[{"line":1,"column":3}],"path":["album"],"extensions":{"code":"SOURCE_TIMEOUT"}}],"data":{"album":null}}"#
    );
}

#[tokio::test]
async fn a_known_text_is_neither_parsed_nor_planned_again() {
    let (source, engine) = zoo();
    let query = "query ($id: Int!) { album(id: $id) { title } }";
    for round in 0..3 {
        let response = run(&engine, Protocol::GraphqlOverHttp, query, r#"{"id": 1}"#).await;
        let timing = response.timing;
        assert_eq!(timing.plan_hit, round > 0);
        if timing.plan_hit {
            assert_eq!(timing.parse + timing.validate + timing.plan, Duration::ZERO);
        }
    }
    assert_eq!(engine.plan_cache().built, 1);
    assert_eq!(source.prepared.load(std::sync::atomic::Ordering::Relaxed), 1);
    run(&engine, Protocol::Hasura, query, r#"{"id": 1}"#).await;
    assert_eq!(engine.plan_cache().built, 2, "the protocol is part of the key");
}

#[tokio::test]
async fn structural_variables_keep_one_plan() {
    let (source, engine) = zoo();
    let query = "query ($w: Filter) { albums(where: $w) { id } }";
    for variables in [r#"{"w": {"id": 9}}"#, r#"{"w": {"title": "a", "id": 9}}"#, r#"{"w": null}"#, "{}"] {
        run(&engine, Protocol::GraphqlOverHttp, query, variables).await;
    }
    assert_eq!(engine.plan_cache().built, 1);
    assert_eq!(
        source.asked(),
        [
            r#"albums{"where":{"id":9}}"#,
            r#"albums{"where":{"id":9,"title":"a"}}"#,
            r#"albums{"where":null}"#,
            "albums{}"
        ]
    );
}

#[tokio::test]
async fn steering_variables_make_a_plan_per_state() {
    let (_, engine) = zoo();
    let query = "query ($a: Boolean!) { album(id: 1) { id @include(if: $a) title } }";
    for _ in 0..3 {
        let with = answer(&engine, query, r#"{"a": true}"#).await;
        assert_eq!(with, r#"{"data":{"album":{"id":1,"title":"Album 1"}}}"#);
        let without = answer(&engine, query, r#"{"a": false}"#).await;
        assert_eq!(without, r#"{"data":{"album":{"title":"Album 1"}}}"#);
    }
    assert_eq!(engine.plan_cache().built, 2);
}

#[tokio::test]
async fn a_prepared_text_is_known_to_its_first_caller() {
    let (_, engine) = zoo();
    let admin = engine.caller(&Identity::admin());
    let prepare = |text: &str| {
        let deadline = Instant::now() + Duration::from_secs(60);
        engine.prepare(Request::new(text, deadline), &admin).ok()
    };
    // The variables of a document are not there yet.
    let plain = "query ($id: Int!) { album(id: $id) { title } }";
    let steered =
        "query ($a: Boolean!, $b: Boolean!) { album(id: 1) { id @include(if: $a) title @skip(if: $b) } }";
    assert_eq!((prepare(plain), prepare(steered)), (Some(1), Some(4)));
    assert_eq!((prepare(plain), prepare("{ nope }"), prepare("{ refused }")), (Some(0), None, None));
    let built = engine.plan_cache().built;
    for (text, variables) in [
        (plain, r#"{"id": 1}"#),
        (steered, r#"{"a": true, "b": false}"#),
        (steered, r#"{"a": true, "b": true}"#),
    ] {
        let response = run(&engine, Protocol::GraphqlOverHttp, text, variables).await;
        assert!(response.timing.plan_hit, "{text} {variables}");
    }
    assert_eq!(engine.plan_cache().built, built);
}

#[tokio::test]
async fn what_is_not_valid_is_not_kept() {
    let (_, engine) = zoo();
    for _ in 0..3 {
        answer(&engine, "{ nope }", "{}").await;
        answer(&engine, "{ refused }", "{}").await;
    }
    assert_eq!(engine.plan_cache().entries, 0);
}

#[tokio::test]
async fn hot_plans_survive_a_flood_of_texts_that_come_once() {
    const HOT: usize = 20;
    let source = Documents::new("zoo", SDL, resolve);
    let graph =
        Graph::compose(vec![source as Arc<dyn Source>], &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let engine = Engine::new(graph, kit::Settings { plan_cache_bytes_max: 1 << 20, ..settings() });
    let hot = |at: usize| format!("{{ hot{at}: album(id: 1) {{ id title }} }}");
    for _ in 0..3 {
        for at in 0..HOT {
            answer(&engine, &hot(at), "{}").await;
        }
    }
    for at in 0..5_000 {
        answer(&engine, &format!("{{ cold{at}: album(id: 1) {{ id }} }}"), "{}").await;
        if at % 10 == 0 {
            answer(&engine, &hot(at / 10 % HOT), "{}").await;
        }
    }
    let before = engine.plan_cache();
    assert!(before.bytes <= 1 << 20, "{before:?}");
    for at in 0..HOT {
        answer(&engine, &hot(at), "{}").await;
    }
    let rebuilt = engine.plan_cache().built - before.built;
    assert!(rebuilt <= 1, "{rebuilt} of {HOT} hot plans were pushed out");
}

/// Asks a new engine for `query` twice: on which threads pieces were prepared, as whether it was the one that asks.
#[track_caller]
fn check_place(query: &str, variables: &str, expected: &[bool]) {
    let (source, engine) = zoo();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let first = text(runtime.block_on(run(&engine, Protocol::GraphqlOverHttp, query, variables)));
    let again = text(runtime.block_on(run(&engine, Protocol::GraphqlOverHttp, query, variables)));
    assert_eq!(first, again, "{query}");
    let here = std::thread::current().id();
    let on: Vec<bool> = source.prepared_on.lock().unwrap().iter().map(|it| *it == here).collect();
    assert_eq!(on, expected, "{query} gives {first}");
}

#[test]
fn a_new_text_that_may_take_long_is_planned_on_another_thread() {
    let long = "#".repeat(1024);
    check_place("{ album(id: 1) { title } }", "{}", &[true]);
    check_place(&format!("{{ album(id: 1) {{ title }} }} {long}"), "{}", &[false]);
    // A document whose `@skip` or `@include` reads variables has a plan per state of them, and another for nulls.
    let steered = format!("query ($s: Boolean!) {{ album(id: 1) {{ id title @skip(if: $s) }} }} {long}");
    check_place(&steered, r#"{"s": true}"#, &[false]);
    let fragments = format!("{{ album(id: 1) {{ ...A }} }} fragment A on Album {{ title }} {}", &long[..256]);
    check_place(&fragments, "{}", &[false]);
    // Of a text that is refused nothing is kept.
    check_place(&format!("{{ album(id: 1) {{ nothing }} }} {long}"), "{}", &[]);
    check_place(&format!("query ($s: Int!) {{ album(id: $s) {{ id }} }} {long}"), r#"{"s": "x"}"#, &[false]);
}
