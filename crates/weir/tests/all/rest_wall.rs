//! REST endpoints tell nothing of hidden rows: two servers with the same endpoints and permissions, one of all rows and one without
//! those that the role does not see, give equal answers, whatever condition comes with the request.

use crate::postgres_kit::database;
use crate::support::{Folder, Weir, message};
use serde_json::{Value, json};

const TABLES: &str = "
CREATE TABLE note (id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL, person_id INTEGER NOT NULL REFERENCES person (id), body TEXT, doc JSONB, size INTEGER);
";

const PEOPLE: &str = "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO person VALUES (1, 'ann'), (2, 'bob');
CREATE TABLE seen (note_id INTEGER PRIMARY KEY);";

/// The view fails on a document that is none, and the other on a division.
const VIEWS: [&str; 2] = [
    "CREATE VIEW share AS SELECT id, owner_id, json_extract(doc, '$.a') AS part FROM note;",
    "CREATE VIEW share AS SELECT id, owner_id, 100 / size AS part FROM note;",
];

const SEEN: &str =
    "INSERT INTO note VALUES (1, 1, 1, 'b c', '{\"a\": 2}', 3), (3, 1, 2, 'note', '{\"a\": 1}', 1);
INSERT INTO seen VALUES (1), (3);";

/// A text with which a lone escape ends, one on which a pattern takes very many steps, and documents that are none.
fn write_hidden_rows(is_sqlite: bool) -> String {
    let long = format!("{}b", "a".repeat(60));
    let doc = if is_sqlite { "{\"a\": " } else { "{\"a\": 0}" };
    format!(
        "INSERT INTO note VALUES (2, 2, 1, 'secret', '{doc}', 0), (4, 2, 2, '{long}', '{doc}', 0), (6, 2, 2, 's\\', '{doc}', 0);"
    )
}

/// Name, methods and text of each endpoint.
const ENDPOINTS: [(&str, &str, &str); 7] = [
    (
        "like",
        "GET, POST",
        "query ($text: String!) { note(where: {body: {_like: $text}}, order_by: {id: asc}) { id body } }",
    ),
    (
        "regex",
        "GET, POST",
        "query ($text: String!) { note_aggregate(where: {body: {_regex: $text}}) { aggregate { count } } }",
    ),
    (
        "where",
        "POST",
        "query ($where: note_bool_exp!) { note(where: $where, order_by: {id: asc}, limit: 1) { id body } }",
    ),
    (
        "people",
        "POST",
        "query ($where: note_bool_exp!) { person(where: {_not: {notes: $where}}, order_by: {id: asc}) { id notes(where: $where) { id } } }",
    ),
    (
        "view",
        "POST",
        "query ($part: Int!) { share(where: {part: {_gt: $part}}, order_by: [{part: asc}, {id: asc}]) { id part } }",
    ),
    (
        "change",
        "POST",
        "mutation ($where: note_bool_exp!) { update_note(where: $where, _set: {size: 3}) { affected_rows } }",
    ),
    (
        "remove",
        "POST",
        "mutation ($where: note_bool_exp!) { delete_note(where: {_and: [$where, {id: {_lt: 0}}]}) { affected_rows } }",
    ),
];

const TEXTS: [&str; 9] =
    ["secre\\", "%\\", "s\\\\\\", "b%", "(", "^(a|aa)+\\1c$", "((a*)*)*\\1b", "^b", "[z-a]"];

fn list_conditions(is_sqlite: bool) -> Vec<Value> {
    let mut conditions = Vec::new();
    for text in TEXTS {
        for operator in ["_like", "_nilike", "_regex", "_niregex", "_similar"] {
            conditions.push(json!({"body": {operator: text}}));
        }
    }
    conditions.push(json!({"doc": {"_has_key": "a"}}));
    conditions.push(json!({"_not": {"doc": {"_contains": {"a": 2}}}}));
    if !is_sqlite {
        conditions.push(json!({"doc": {"_cast": {"String": {"_similar": "%\\"}}}}));
    }
    conditions
}

fn serve(url: &str, filter: &str) -> Weir {
    let permission =
        format!("{{role: user, permission: {{columns: '*', filter: {filter}, allow_aggregations: true}}}}");
    let change = format!("{{role: user, permission: {{columns: '*', filter: {filter}}}}}");
    let all = "{role: user, permission: {columns: '*', filter: {}}}";
    let mut yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n  - name: main\n    url: \"{url}\"\n    tables:
      - {{table: person, select_permissions: [{all}], array_relationships: [{{name: notes, using: {{foreign_key_constraint_on: {{table: note, column: person_id}}}}}}]}}
      - {{table: note, select_permissions: [{permission}], update_permissions: [{change}], delete_permissions: [{{role: user, permission: {{filter: {filter}}}}}]}}
      - {{table: share, select_permissions: [{permission}]}}
operations:\n  collections:\n    - name: all\n      definition:\n        queries:\n"
    );
    for (name, _, text) in ENDPOINTS {
        yaml.push_str(&format!("          - {{name: {name}, query: {}}}\n", Value::from(text)));
    }
    yaml.push_str("  rest_endpoints:\n");
    for (name, methods, _) in ENDPOINTS {
        yaml.push_str(&format!(
            "    - {{name: {name}, url: {name}, methods: [{methods}], definition: {{query: {{collection_name: all, query_name: {name}}}}}}}\n"
        ));
    }
    let folder = Folder::new();
    Weir::by_file(&folder.write("weir.yaml", &yaml), folder)
}

const USER: [(&str, &str); 4] = [
    ("x-hasura-admin-secret", "hush"),
    ("x-hasura-role", "user"),
    ("x-hasura-user-id", "1"),
    ("content-type", "application/json"),
];

fn encode(text: &str) -> String {
    text.bytes().map(|it| format!("%{it:02X}")).collect()
}

/// All requests: method, path and body.
fn list_requests(is_sqlite: bool) -> Vec<(&'static str, String, Value)> {
    let mut requests = Vec::new();
    for (name, methods, query) in ENDPOINTS {
        let path = format!("/api/rest/{name}");
        if query.contains("$text") {
            for text in TEXTS {
                requests.push(("POST", path.clone(), json!({"text": text})));
                if methods.contains("GET") {
                    requests.push(("GET", format!("{path}?text={}", encode(text)), Value::Null));
                }
            }
        } else if query.contains("$where") {
            requests.extend(
                list_conditions(is_sqlite).into_iter().map(|it| ("POST", path.clone(), json!({"where": it}))),
            );
        } else {
            requests.push(("POST", path, json!({"part": 0})));
        }
    }
    requests
}

fn compare(is_sqlite: bool, urls: [&str; 2]) {
    let exists = format!(
        "{{_exists: {{_table: {{schema: {}, name: seen}}, _where: {{note_id: {{_ceq: [\"$\", id]}}}}}}}}",
        if is_sqlite { "main" } else { "public" }
    );
    for filter in ["{owner_id: {_eq: X-Hasura-User-Id}}", exists.as_str()] {
        let servers = urls.map(|it| serve(it, filter));
        let mut answered = 0;
        let mut refused = 0;
        for (method, path, body) in list_requests(is_sqlite) {
            let bytes = body.to_string();
            let bytes = (method == "POST").then_some(bytes.as_bytes());
            let [found, expected] = servers.each_ref().map(|it| {
                let answer = it.raw(&message(method, &path, &USER, bytes));
                (answer.status, answer.text().to_owned())
            });
            assert_eq!(found, expected, "{filter}: {method} {path} {body}");
            *if expected.0 == 200 { &mut answered } else { &mut refused } += 1;
        }
        assert!(answered > 50 && refused > 50, "{answered} answered, {refused} refused");
    }
}

#[test]
fn endpoints_tell_nothing_of_hidden_rows_on_sqlite() {
    let folder = Folder::new();
    let urls = [true, false].map(|is_whole| {
        let file = folder.file(&format!("{is_whole}.db"));
        let connection = rusqlite::Connection::open(&file).expect("SQLite makes a file");
        let more = if is_whole { write_hidden_rows(true) } else { String::new() };
        let sql = [PEOPLE, TABLES, VIEWS[0], SEEN, &more].concat();
        connection.execute_batch(&sql).expect("the statements are right");
        format!("sqlite:{}", file.display())
    });
    compare(true, urls.each_ref().map(String::as_str));
}

#[test]
fn endpoints_tell_nothing_of_hidden_rows_on_postgres() {
    let databases = [write_hidden_rows(false), String::new()]
        .map(|more| database(&[PEOPLE, TABLES, VIEWS[1], SEEN, &more].concat()));
    let urls = databases.each_ref().map(crate::postgres_kit::Database::url);
    compare(false, urls.each_ref().map(String::as_str));
}
