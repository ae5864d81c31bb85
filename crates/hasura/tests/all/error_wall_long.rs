//! No condition runs so long on a large value of a hidden row that its request is timed out: the time grows with the stored value times
//! the argument, and a request may have many of them.
//!
//! One database has rows with large values that the role does not see, the other has none. Each request is answered alike, within a time
//! that what is seen takes a small part of, and that the hidden values would exceed many times.

use crate::answer_kit::whole;
use crate::policy_kit::runtime;
use crate::role_kit::side::{Database, Side, caller_with};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use weir_engine::engine::Request;
use weir_hasura::model::{ModelOptions, Track};
use weir_language::json::Json;
use weir_metadata::document::table::TableEntry;

/// The time of a request.
const PATIENCE: Duration = Duration::from_secs(10);

const SESSION: &[(&str, &str)] = &[("x-hasura-user-id", "1")];

const TABLES: &str = "
CREATE TABLE harbour (id INTEGER PRIMARY KEY, open BOOLEAN NOT NULL);
CREATE TABLE boat (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, harbour_id INTEGER NOT NULL, name TEXT, doc JSONB);
";

const POSTGRES: &str = "
CREATE EXTENSION intarray;
ALTER TABLE boat ALTER doc TYPE jsonb USING doc::jsonb, ADD list text[], ADD numbers integer[];
INSERT INTO harbour VALUES (1, true), (2, false);
INSERT INTO boat VALUES (1, 1, 1, 'open', '[1, 2]', '{a}', '{1}');
";

const SQLITE: &str = "
INSERT INTO harbour VALUES (1, 1), (2, 0);
INSERT INTO boat VALUES (1, 1, 1, 'open', '[1, 2]');
";

/// Numbers of a large array; as many items are looked for.
const LARGE: usize = 60_000;

/// Texts of a large array, and the most that a list of a request holds nearly.
const TEXTS: usize = 400_000;
const LISTED: usize = 9_000;

/// Blanks in a long text.
const BLANKS: usize = 20_000;

fn hidden(database: Database) -> String {
    let blanks = " ".repeat(BLANKS);
    let prose = "the old man told the crew to go ashore at once ".repeat(4_000);
    let objects = |count: usize| -> String {
        let all: Vec<String> = (0..count).map(|it| format!("{{\"a\": {it}}}")).collect();
        format!("[{}]", all.join(", "))
    };
    match database {
        Database::Sqlite => {
            format!("INSERT INTO boat VALUES (2, 2, 2, 'lo{blanks}end', '{}')", objects(LARGE / 2))
        }
        Database::Postgres => format!(
            "INSERT INTO boat SELECT 2, 2, 2, 'lo{prose}', jsonb_agg(g) FILTER (WHERE g <= {LARGE}), \
             array_agg('x' || g), array[1, null] FROM generate_series(1, {TEXTS}) AS g"
        ),
    }
}

fn serve(database: Database) -> Side {
    let filters = [
        ("eq", json!({"owner": {"_eq": "X-Hasura-User-Id"}})),
        ("sub", json!({"harbour": {"open": {"_eq": true}}})),
    ];
    let permission = |(role, filter): &(&str, Value)| json!({"role": role, "permission": {"columns": "*", "filter": filter}});
    let link =
        json!({"manual_configuration": {"remote_table": "harbour", "column_mapping": {"harbour_id": "id"}}});
    let tables = json!([
        {"table": "harbour"},
        {"table": "boat", "object_relationships": [{"name": "harbour", "using": link}],
         "select_permissions": filters.each_ref().map(permission)},
    ]);
    let tables: Vec<TableEntry> = serde_json::from_value(tables).unwrap();
    let model = ModelOptions { track: Track::Listed, tables: &tables, ..ModelOptions::default() };
    let more = if database == Database::Sqlite { SQLITE } else { POSTGRES };
    Side::serve(database, &[TABLES, more].concat(), model, &[])
}

/// So many root fields, each with `condition` on rows whose name fits `$n`.
fn fields(count: usize, condition: &str) -> String {
    let field = |at: usize| {
        let condition = condition.replace("FIELD", &at.to_string());
        format!("b{at}: boat(where: {{_and: [{{name: {{_like: $n}}}}, {condition}]}}) {{ id }} ")
    };
    (0..count).map(field).collect()
}

/// Operations with a name's pattern `$n`, and their other variable.
fn operations(database: Database) -> Vec<(String, Value)> {
    let looked_for = vec![LARGE; LARGE];
    let texts = vec![format!("x{TEXTS}"); LISTED];
    let all_of = |types: &str, fields: String| format!("query ($n: String!{types}) {{ {fields} }}");
    match database {
        Database::Sqlite => {
            let blanks = " ".repeat(3_900);
            let likes = |it: usize| format!("{{name: {{_like: \"%{blanks}x{it}\"}}}}");
            let likes: Vec<String> = (0..400).map(likes).collect();
            let objects: Vec<Value> = (0..LARGE / 2).map(|it| json!({"a": it, "b": 1})).collect();
            vec![
                (all_of("", fields(1, &format!("{{_or: [{}]}}", likes.join(", ")))), Value::Null),
                (all_of(", $x: jsonb", fields(1, "{doc: {_contains: $x}}")), json!(objects)),
                (all_of(", $x: jsonb", fields(1, "{_not: {doc: {_contained_in: $x}}}")), json!(objects)),
            ]
        }
        Database::Postgres => {
            let heavy = "(.*)(e|o)(.*)(a|e)(.{100}|.{90}o)(.{100}|.{99}e)#FIELD";
            let regexes = (0..45).map(|it| format!("{{name: {{_regex: \"{heavy}_{it}\"}}}}"));
            let regexes: Vec<String> = regexes.collect();
            vec![
                (all_of(", $x: jsonb!", fields(3, "{doc: {_contains: $x}}")), json!(looked_for)),
                (all_of(", $x: jsonb!", fields(3, "{_not: {doc: {_contained_in: $x}}}")), json!(looked_for)),
                (all_of(", $x: [String!]!", fields(3, "{list: {_contains: $x}}")), json!(texts)),
                (all_of(", $x: [String!]!", fields(3, "{list: {_contained_in: $x}}")), json!(texts)),
                (all_of(", $x: [String!]!", fields(3, "{doc: {_has_keys_any: $x}}")), json!(texts)),
                (all_of(", $x: [String!]!", fields(3, "{doc: {_has_keys_all: $x}}")), json!(texts)),
                (all_of("", fields(21, &format!("{{_or: [{}]}}", regexes.join(", ")))), Value::Null),
                (all_of(", $x: [Int!]!", fields(1, "{numbers: {_contains: $x}}")), json!([1])),
                (all_of(", $x: [Int!]!", fields(1, "{_not: {numbers: {_contained_in: $x}}}")), json!([1])),
            ]
        }
    }
}

fn answer(side: &Side, role: &str, operation: &str, variables: &Value) -> String {
    let text = variables.to_string();
    let json = Json::parse(text.as_bytes(), 9).unwrap();
    let request =
        Request { variables: Some(json.root()), ..Request::new(operation, Instant::now() + PATIENCE) };
    let caller = side.engine.caller(&caller_with(role, false, SESSION));
    whole(runtime().block_on(side.engine.execute(request, &caller)).body)
}

fn compare(database: Database) {
    let mut sides = [serve(database), serve(database)];
    (sides[0].beside)(&hidden(database));
    let mut told = Vec::new();
    for (operation, variable) in operations(database) {
        for role in ["eq", "sub"] {
            for name in ["lo%", "lx%", "op%"] {
                let variables = match &variable {
                    Value::Null => json!({"n": name}),
                    x => json!({"n": name, "x": x}),
                };
                let [fat, thin] = sides.each_ref().map(|it| answer(it, role, &operation, &variables));
                assert!(!thin.contains("\"errors\""), "{operation:.200}\n{thin:.300}");
                if fat != thin {
                    told.push(format!("{role} {name}: {operation:.200}\n  {fat:.200}\n  {thin:.200}"));
                }
            }
        }
    }
    assert!(told.is_empty(), "{}\n{}", told.len(), told.join("\n"));
}

#[test]
fn large_hidden_values_take_no_time_on_sqlite() {
    compare(Database::Sqlite);
}

#[test]
fn large_hidden_values_take_no_time_on_postgres() {
    compare(Database::Postgres);
}
