//! Counts by operation: the page, the metrics, the log.

use crate::support::{Weir, body, until};
use serde_json::{Value, json};

const SECRET: &[(&str, &str)] = &[("x-hasura-admin-secret", "the secret of the test")];

fn serve() -> Weir {
    Weir::with_settings("admin_secret: the secret of the test\nlog: {access: true, slow_ms: 0}")
}

fn usage(weir: &Weir) -> Value {
    weir.get("/admin/operations", SECRET).json()
}

/// The operation called `name`.
fn operation(usage: &Value, name: &str) -> Value {
    let operations = usage["operations"].as_array().expect("a list");
    let mut found = operations.iter().filter(|it| it["name"] == *name);
    let operation = found.next().unwrap_or_else(|| panic!("{name} is not in {usage}")).clone();
    assert!(found.next().is_none(), "{name} is there twice in {usage}");
    operation
}

#[test]
fn executions_are_counted_by_operation_and_by_field() {
    let weir = serve();
    let ask = |text: &str| weir.post("/graphql", SECRET, body(text).as_bytes()).text().to_owned();
    for _ in 0..3 {
        assert!(ask("query CountedPets { pet(limit: 1) { name } }").contains("name"));
    }
    assert!(ask("query CountedPets { pet { nothing } }").contains("errors"));
    ask("mutation CountedInsert { insert_pet(objects: [{id: 1}, {id: 1}]) { affected_rows } }");
    let usage = usage(&weir);
    let pets = operation(&usage, "CountedPets");
    let insert = operation(&usage, "CountedInsert");
    let told = |it: &Value| json!([it["kind"], it["count"], it["errors"], it["planned"]]);
    assert_eq!(told(&pets), json!(["query", 3, 0, 1]), "{pets}");
    assert_eq!(told(&insert), json!(["mutation", 1, 1, 1]), "{insert}");
    assert!(
        pets["p50_us"].as_u64() > Some(0) && pets["p99_us"].as_u64() >= pets["p50_us"].as_u64(),
        "{pets}"
    );
    let count = |coordinate: &str| usage["fields"][coordinate].clone();
    assert_eq!(count("query_root.pet"), 3, "{usage}");
    assert_eq!(count("query_root.pet(limit:)"), 3);
    assert_eq!(count("pet.name"), 3);
    assert_eq!(count("mutation_root.insert_pet(objects:)"), 1);
    assert_eq!(count("pet.id"), Value::Null);
}

#[test]
fn metrics_and_logs_name_the_operation() {
    let weir = serve();
    weir.post("/graphql", SECRET, body("query LoggedPets { pet { name } }").as_bytes());
    let hash = operation(&usage(&weir), "LoggedPets")["hash"].as_str().expect("a text").to_owned();
    let line = format!("weir_operation_duration_seconds_count{{operation=\"LoggedPets\",hash=\"{hash}\"}} 1");
    let page = weir.get("/metrics", SECRET);
    let page = page.text();
    assert!(page.lines().any(|it| it == line), "{line} is not in\n{page}");
    let named = format!("operation=\"LoggedPets\" hash=\"{hash}\"");
    let has = |target: &str| weir.log().lines().any(|it| it.contains(target) && it.contains(&named));
    until("both logs name the operation", || has("weir::access") && has("weir::slow"));
}

#[test]
fn only_operators_see_what_is_asked() {
    let weir = serve();
    assert_eq!(weir.get("/admin/operations", &[]).status, 401);
    let other = [SECRET[0], ("x-hasura-role", "user")];
    assert_eq!(weir.get("/admin/operations", &other).status, 403);
}
