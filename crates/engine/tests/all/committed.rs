//! The errors of a mutation say which of its root fields stand.

use crate::kit::{Documents, engine, run, text};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Join;
use weir_engine::engine::{Body, Engine, IncrementForm, Request};
use weir_engine::source::{FieldError, PathError, Protocol, SourceError, Step};

const PETS: &str = "
    type Pet { id: Int!  owner: Int! }
    type Query { pet(id: Int!): Pet }
    type Mutation { add(id: Int!): Pet  drop(id: Int!): Pet  sure(id: Int!): Pet! }";

const PEOPLE: &str = "
    type Person { name: String! }
    type Query { person(id: Int!): Person  known(id: Int!): Person! }
    type Mutation { bill(id: Int!): Person }";

fn failed(code: &'static str) -> FieldError {
    FieldError { code, message: "no".into(), hasura_path: None, extensions: None }
}

/// Answers `field`. Each number from 100 on fails in a way of its own.
fn resolve(field: &str, arguments: &Value) -> Result<Value, SourceError> {
    let id = arguments["id"].as_i64().unwrap_or(0);
    let rejected = |code| SourceError::Rejected { error: failed(code), field: None };
    match id {
        0..100 if matches!(field, "person" | "known" | "bill") => Ok(json!({"name": "Ann"})),
        0..100 => Ok(json!({"id": id, "owner": id})),
        100 => Err(rejected("UNIQUE_VIOLATION")),
        101 => Err(rejected("WRITE_UNANSWERED")),
        102 => Err(rejected("WRITE_UNCONFIRMED")),
        103 => {
            let path = vec![Step::Field(0), Step::Field(1)];
            Err(SourceError::Undone(vec![PathError {
                error: failed("INT_RANGE"),
                path,
                field: 1,
                is_undone: true,
            }]))
        }
        104 => Err(SourceError::Busy),
        // Its row is not to be found.
        107 => Ok(Value::Null),
        // Its owner is not to be found.
        _ => Ok(json!({"id": id, "owner": 104})),
    }
}

fn served(name: &'static str) -> Engine {
    let join = |name: &str| Join {
        on: "Pet".into(),
        name: name.into(),
        description: String::new(),
        source: "people".into(),
        target: name.into(),
        arguments: "(id: $this.owner)".into(),
    };
    let sources = [Documents::new(name, PETS, resolve), Documents::new("people", PEOPLE, resolve)];
    engine(&sources, &[join("person"), join("known")])
}

/// By each error: its path, its code, and what stands.
async fn told(engine: &Engine, protocol: Protocol, fields: &str) -> Vec<(String, String, Value)> {
    let answer = text(run(engine, protocol, &format!("mutation {{ {fields} }}"), "{}").await);
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    let told = errors.iter().map(|error| {
        let extensions = &error["extensions"];
        let place = if error["path"].is_null() { &extensions["path"] } else { &error["path"] };
        let code = extensions["code"].as_str().expect("a code").to_owned();
        (place.to_string(), code, extensions["committed"].clone())
    });
    told.collect()
}

#[tokio::test]
async fn each_error_says_what_stands() {
    for name in ["pets", "finished"] {
        let engine = served(name);
        for (fields, path, code, committed) in [
            ("add(id: 1) { id } drop(id: 100) { id }", r#"["add"]"#, "UNIQUE_VIOLATION", Value::Null),
            ("add(id: 1) { id } bill(id: 100) { name }", r#"["bill"]"#, "UNIQUE_VIOLATION", json!(["add"])),
            (
                "a: add(id: 1) { id } bill(id: 104) { name } b: add(id: 2) { id }",
                r#"["bill"]"#,
                "POOL_TIMEOUT",
                json!(["a", "b"]),
            ),
            ("add(id: 100) { id } bill(id: 1) { name }", r#"["add"]"#, "UNIQUE_VIOLATION", json!(["bill"])),
            (
                "add(id: 101) { id } drop(id: 1) { id }",
                r#"["add"]"#,
                "WRITE_UNANSWERED",
                json!(["add", "drop"]),
            ),
            ("add(id: 102) { id }", r#"["add"]"#, "WRITE_UNCONFIRMED", json!([])),
            ("bill(id: 1) { name } add(id: 102) { id }", r#"["add"]"#, "WRITE_UNCONFIRMED", json!(["bill"])),
            ("add(id: 103) { id }", r#"["add","id"]"#, "INT_RANGE", Value::Null),
            ("bill(id: 1) { name } sure(id: 100) { id }", r#"["sure"]"#, "UNIQUE_VIOLATION", json!(["bill"])),
        ] {
            let found = told(&engine, Protocol::GraphqlOverHttp, fields).await;
            assert_eq!(found, [(path.to_owned(), code.to_owned(), committed)], "{name}: {fields}");
        }
        let hasura =
            told(&engine, Protocol::Hasura, "bill(id: 1) { name } add(id: 102) { id } drop(id: 1) { id }")
                .await;
        let place = r#""$.selectionSet.add""#.to_owned();
        assert_eq!(hasura, [(place, "unexpected".to_owned(), json!(["bill"]))]);
    }
}

/// A null that came back from a change, where none may be, does not say that the change was not made.
#[tokio::test]
async fn a_root_field_whose_value_does_not_fit_stands() {
    let engine = served("finished");
    let fields = "drop(id: 1) { id } sure(id: 107) { id }";
    let found = told(&engine, Protocol::GraphqlOverHttp, fields).await;
    let expected = (r#"["sure"]"#.to_owned(), "NULL_FOR_NON_NULL".to_owned(), json!(["drop", "sure"]));
    assert_eq!(found, [expected]);
}

/// Fields of another source below the changed rows are read once the mutation is committed, and undo nothing.
#[tokio::test]
async fn a_field_of_another_source_that_fails_leaves_the_mutation() {
    let engine = served("pets");
    let fields = "add(id: 105) { id person { name } } drop(id: 1) { id }";
    for (protocol, code) in [(Protocol::GraphqlOverHttp, "POOL_TIMEOUT"), (Protocol::Hasura, "unexpected")] {
        let found = told(&engine, protocol, fields).await;
        assert_eq!((found[0].1.as_str(), &found[0].2), (code, &json!(["add", "drop"])), "{found:?}");
    }
}

/// A value of another source that is missing is null where it belongs, whatever its type says there, and takes back nothing.
#[tokio::test]
async fn a_null_of_another_source_stays_in_its_place() {
    for name in ["pets", "finished"] {
        let engine = served(name);
        for (fields, data, committed) in [
            (
                "add(id: 105) { id known { name } } drop(id: 1) { id }",
                json!({"add": {"id": 105, "known": null}, "drop": {"id": 1}}),
                json!(["add", "drop"]),
            ),
            (
                "sure(id: 105) { id known { name } } drop(id: 1) { id }",
                json!({"sure": {"id": 105, "known": null}, "drop": {"id": 1}}),
                json!(["sure", "drop"]),
            ),
            (
                "bill(id: 1) { name } first: sure(id: 1) { id } sure(id: 105) { known { name } }",
                json!({"bill": {"name": "Ann"}, "first": {"id": 1}, "sure": {"known": null}}),
                json!(["bill", "first", "sure"]),
            ),
            (
                "sure(id: 105) { known { name } } bill(id: 100) { name }",
                json!({"sure": {"known": null}, "bill": null}),
                json!(["sure"]),
            ),
        ] {
            for protocol in [Protocol::GraphqlOverHttp, Protocol::Hasura] {
                let answer = text(run(&engine, protocol, &format!("mutation {{ {fields} }}"), "{}").await);
                let answer: Value = serde_json::from_str(&answer).expect("JSON");
                let errors = answer["errors"].as_array().expect("errors");
                assert!(
                    errors.iter().all(|it| it["extensions"]["committed"] == committed),
                    "{name} {protocol:?} {fields}: {answer}"
                );
                let expected = if protocol == Protocol::Hasura { &Value::Null } else { &data };
                assert_eq!(answer["data"], *expected, "{name} {protocol:?} {fields}");
            }
        }
    }
}

/// The parts of an answer to a mutation.
async fn ask_in_parts(engine: &Engine, fields: &str, form: IncrementForm) -> Vec<Value> {
    let query = format!("mutation {{ {fields} }}");
    let request =
        Request { increments: Some(form), ..Request::new(&query, Instant::now() + Duration::from_secs(5)) };
    let Body::Increments { first, mut rest } =
        engine.execute(request, &engine.caller(&Identity::admin())).await.body
    else {
        panic!("{fields}: it comes in parts")
    };
    let mut parts: Vec<Value> = vec![serde_json::from_slice(&first).expect("JSON")];
    while let Some(part) = rest.recv().await {
        parts.push(serde_json::from_slice(&part.expect("a part")).expect("JSON"));
    }
    parts
}

/// The errors of all parts, wherever in a part they stand.
fn collect_errors(value: &Value, out: &mut Vec<Value>) {
    match value {
        Value::Object(members) => {
            out.extend(members.get("errors").and_then(Value::as_array).into_iter().flatten().cloned());
            members.iter().filter(|it| it.0 != "errors").for_each(|it| collect_errors(it.1, out));
        }
        Value::Array(items) => items.iter().for_each(|it| collect_errors(it, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A field that comes late below the rows of a mutation fails after it was done, and after its first part was sent.
#[tokio::test]
async fn a_late_field_of_another_source_that_fails_leaves_the_mutation() {
    for name in ["pets", "finished"] {
        let engine = served(name);
        for (fields, committed) in [
            ("add(id: 105) { id ... @defer { person { name } } } drop(id: 1) { id }", json!(["add", "drop"])),
            (
                "a: add(id: 105) { id ... @defer { known { name } } } bill(id: 1) { name }",
                json!(["a", "bill"]),
            ),
            ("sure(id: 105) { id ... @defer { known { name } } }", json!(["sure"])),
            (
                "sure(id: 105) { id ... @defer { person { name } } } drop(id: 106) { ... @defer { known { name } } id }",
                json!(["sure", "drop"]),
            ),
            // A root field that failed at its own place is in no list, in the first part as in the later ones.
            ("add(id: 105) { id ... @defer { person { name } } } bill(id: 100) { name }", json!(["add"])),
        ] {
            for form in [IncrementForm::Ids, IncrementForm::Paths] {
                let parts = ask_in_parts(&engine, fields, form).await;
                let mut errors = Vec::new();
                parts.iter().for_each(|it| collect_errors(it, &mut errors));
                let late = parts[1..].iter().any(|it| it.to_string().contains("POOL_TIMEOUT"));
                assert!(late, "{name} {fields}: {parts:?}");
                for error in &errors {
                    assert_eq!(error["extensions"]["committed"], committed, "{name} {fields}: {parts:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_query_commits_nothing() {
    let engine = served("pets");
    let answer = text(run(&engine, Protocol::GraphqlOverHttp, "{ pet(id: 100) { id } }", "{}").await);
    assert!(answer.contains("UNIQUE_VIOLATION") && !answer.contains("committed"), "{answer}");
}
