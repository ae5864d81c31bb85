//! Columns of SQLite that hold one value in several ways: conditions, filters of roles, orders, groups and relationships agree with what
//! is read of them, and writes keep the way that is there.

use crate::kit::{Served, serve, serve_as};
use crate::role_kit::side::{ask, caller_with};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Request;
use weir_engine::source::Protocol;
use weir_hasura::model::ModelOptions;
use weir_metadata::document::table::TableEntry;

/// Asks in turn; each answer whole.
#[track_caller]
fn check(served: &Served, asked: &[(&str, &str)]) {
    for (query, expected) in asked {
        assert_eq!(served.ask(query, ""), *expected, "{query}");
    }
}

const TASKS: &str = "CREATE TABLE todo (id INTEGER PRIMARY KEY, done BOOLEAN, n INT DEFAULT 0);
    INSERT INTO todo (id, done) VALUES (1, 't'), (2, 'f'), (3, 'true'), (4, 0), (5, 1), (6, 'FALSE'), (7, NULL);
    CREATE TABLE state (done BOOLEAN PRIMARY KEY, word TEXT);
    INSERT INTO state VALUES ('true', 'ready'), (0, 'open');";

const ENTRIES: &str = r#"[
  {"table": "todo",
   "object_relationships": [{"name": "state", "using": {"manual_configuration": {"remote_table": "state", "column_mapping": {"done": "done"}}}}],
   "select_permissions": [
     {"role": "open", "permission": {"columns": ["id", "done"], "filter": {"done": {"_neq": true}}, "allow_aggregations": true}},
     {"role": "listed", "permission": {"columns": ["id", "done"], "filter": {"done": {"_nin": [true]}}}},
     {"role": "negated", "permission": {"columns": ["id", "done"], "filter": {"_not": {"done": {"_eq": true}}}}},
     {"role": "claimed", "permission": {"columns": ["id", "done"], "filter": {"done": {"_eq": "x-hasura-done"}}}}],
   "update_permissions": [{"role": "open", "permission": {"columns": ["n"], "filter": {"done": {"_neq": true}}}}],
   "delete_permissions": [{"role": "open", "permission": {"filter": {"done": {"_ne": true}}}}]},
  {"table": "state",
   "array_relationships": [{"name": "todos", "using": {"manual_configuration": {"remote_table": "todo", "column_mapping": {"done": "done"}}}}]}
]"#;

fn todos() -> Served {
    let tables: Vec<TableEntry> = serde_json::from_str(ENTRIES).unwrap();
    serve_as(TASKS, ModelOptions { tables: &tables, ..ModelOptions::default() }, &[])
}

#[test]
fn an_upsert_finds_the_row_whose_key_is_stored_in_another_way() {
    let types = ["uuid", "BOOLEAN", "BLOB", "ANY", "TEXT", "VARCHAR(40)"];
    for declared in types {
        let served = serve(&format!(
            "CREATE TABLE t (id {declared} PRIMARY KEY NOT NULL, v INT);
             INSERT INTO t VALUES ('0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001', 1), (x'0b5a1f3466c14a2c8a5e27d1b0a0c002', 2), ('true', 3), ('F', 4), (x'41', 5), ('\\x42', 6), (7, 7);"
        ));
        let answer: serde_json::Value = serde_json::from_str(&served.ask("{ t { id v } }", "")).unwrap();
        let rows = served.plain("SELECT json_group_array(v) FROM t").as_array().unwrap().len();
        for row in answer["data"]["t"].as_array().into_iter().flatten().filter(|it| !it["id"].is_null()) {
            let text = format!(
                "mutation {{ a: insert_t_one(object: {{id: {}, v: 9}}, on_conflict: {{constraint: t_pkey, update_columns: [v]}}) {{ id v }} }}",
                row["id"]
            );
            let expected = format!("{{\"data\":{{\"a\":{{\"id\":{},\"v\":9}}}}}}", row["id"]);
            assert_eq!(served.ask(&text, ""), expected, "{declared}");
        }
        let left = served.plain("SELECT json_group_array(v) FROM t").as_array().unwrap().len();
        assert_eq!(left, rows, "{declared}: {answer}");
    }
}

/// Keys of two columns: the form of a value is that of the row with the whole key, not that of another row with the value.
#[test]
fn an_upsert_finds_the_row_with_its_whole_key() {
    for (declared, key) in [
        ("TEXT", "PRIMARY KEY (a, b)"),
        ("uuid", "PRIMARY KEY (a, b)"),
        ("TEXT", "UNIQUE (b, a)"),
        ("BLOB", "PRIMARY KEY (a, b)"),
    ] {
        let served = serve(&format!(
            "CREATE TABLE t (a {declared} NOT NULL, b INT NOT NULL, v INT, {key});
             INSERT INTO t VALUES (x'0b5a1f3466c14a2c8a5e27d1b0a0c002', 1, 0), ('\\x0b5a1f3466c14a2c8a5e27d1b0a0c002', 2, 0),
               ('0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c002', 3, 0), (x'0b5a1f3466c14a2c8a5e27d1b0a0c002', 4, 0), ('\\x41', 5, 0), (x'41', 6, 0);"
        ));
        let constraint = if key.starts_with("PRIMARY") { "t_pkey" } else { "t_b_a_key" };
        let answer: serde_json::Value = serde_json::from_str(&served.ask("{ t { a b } }", "")).unwrap();
        let rows = answer["data"]["t"].as_array().unwrap();
        assert_eq!(rows.len(), 6, "{answer}");
        for row in rows {
            let text = format!(
                "mutation {{ a: insert_t(objects: [{{a: {}, b: {}, v: 9}}], on_conflict: {{constraint: {constraint}, update_columns: [v]}}) {{ affected_rows }} }}",
                row["a"], row["b"]
            );
            assert_eq!(served.ask(&text, ""), r#"{"data":{"a":{"affected_rows":1}}}"#, "{declared} {key}");
        }
        let left = served.plain("SELECT json_group_array(v) FROM t");
        assert_eq!(left, serde_json::json!([9, 9, 9, 9, 9, 9]), "{declared} {key}");
    }
}

/// The row of an upsert has the form of the one that is there, in other columns too; several rows of one request each have their own.
#[test]
fn upserts_of_bytes_in_columns_of_texts_keep_their_forms() {
    let served = serve(
        "CREATE TABLE t (id TEXT PRIMARY KEY, name TEXT, alias TEXT);
         CREATE UNIQUE INDEX t_alias ON t (alias COLLATE NOCASE) WHERE name <> 'x';
         INSERT INTO t VALUES (x'41', x'42', x'43'), ('\\x44', '\\x45', '\\x46'), ('plain', 'b', 'c');
         CREATE TABLE c (id INTEGER PRIMARY KEY, t_id TEXT REFERENCES t (id));",
    );
    let objects = r#"[{id: "\\x41", name: "\\x4a"}, {id: "\\x44", name: "\\x4b"}, {id: "plain", name: "\\x4c"}, {id: "new", name: "d"}, {id: "\\x4d"}]"#;
    let upsert = format!(
        "mutation {{ insert_t(objects: {objects}, on_conflict: {{constraint: t_pkey, update_columns: [name]}}) {{ affected_rows }} }}"
    );
    let by_alias = r#"mutation { insert_t(objects: [{id: "other", name: "y", alias: "\\x43"}], on_conflict: {constraint: t_alias, update_columns: [name]}) { returning { id name } } }"#;
    let references = r#"mutation { insert_c(objects: [{id: 1, t_id: "\\x41"}, {id: 2, t_id: "\\x44"}, {id: 3, t_id: "plain"}, {id: 4, t_id: "\\x4d"}]) { returning { id c_t { name } } } }"#;
    check(
        &served,
        &[
            (&upsert, r#"{"data":{"insert_t":{"affected_rows":5}}}"#),
            (
                references,
                r#"{"data":{"insert_c":{"returning":[{"id":1,"c_t":{"name":"\\x4a"}},{"id":2,"c_t":{"name":"\\x4b"}},{"id":3,"c_t":{"name":"\\x4c"}},{"id":4,"c_t":{"name":null}}]}}}"#,
            ),
            (by_alias, r#"{"data":{"insert_t":{"returning":[{"id":"\\x41","name":"y"}]}}}"#),
        ],
    );
    assert_eq!(
        served.plain(
            "SELECT json_group_array(typeof(id) || ' ' || typeof(name)) FROM (SELECT * FROM t ORDER BY rowid)"
        ),
        serde_json::json!(["blob text", "text text", "text text", "text text", "text null"])
    );
    assert_eq!(
        served.plain("SELECT json_group_array(typeof(t_id)) FROM c"),
        serde_json::json!(["blob", "text", "text", "text"])
    );
}

#[test]
fn a_reference_is_set_in_the_way_in_which_the_key_is_stored() {
    let served = serve(
        "CREATE TABLE t (id uuid PRIMARY KEY);
         INSERT INTO t VALUES ('0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001'), (x'0b5a1f3466c14a2c8a5e27d1b0a0c002');
         CREATE TABLE c (id INTEGER PRIMARY KEY, t_id uuid REFERENCES t (id));
         INSERT INTO c VALUES (1, x'0b5a1f3466c14a2c8a5e27d1b0a0c002'), (2, '0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001');",
    );
    for (id, key) in [(1, 1), (2, 2), (1, 2), (2, 1)] {
        let key = format!("0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c00{key}");
        let set = format!(
            "mutation {{ update_c_by_pk(pk_columns: {{id: {id}}}, _set: {{t_id: \"{key}\"}}) {{ t_id }} }}"
        );
        check(&served, &[(&set, &format!(r#"{{"data":{{"update_c_by_pk":{{"t_id":"{key}"}}}}}}"#))]);
        let parents = format!("SELECT json_array(count(*)) FROM c JOIN t ON t.id = c.t_id WHERE c.id = {id}");
        assert_eq!(served.plain(&parents), serde_json::json!([1]), "{set}");
    }
}

#[test]
fn conditions_on_truths_agree_with_what_is_read() {
    check(
        &todos(),
        &[
            (
                "{ todo(where: {done: {_eq: true}}) { id done } }",
                r#"{"data":{"todo":[{"id":1,"done":true},{"id":3,"done":true},{"id":5,"done":true}]}}"#,
            ),
            (
                "{ todo(where: {done: {_neq: true}}) { id } }",
                r#"{"data":{"todo":[{"id":2},{"id":4},{"id":6}]}}"#,
            ),
            (
                "{ todo(where: {done: {_in: [false]}}) { id } }",
                r#"{"data":{"todo":[{"id":2},{"id":4},{"id":6}]}}"#,
            ),
            (
                "{ todo(where: {done: {_nin: [false]}}) { id } }",
                r#"{"data":{"todo":[{"id":1},{"id":3},{"id":5}]}}"#,
            ),
            (
                "{ todo(where: {done: {_gt: false}}) { id } }",
                r#"{"data":{"todo":[{"id":1},{"id":3},{"id":5}]}}"#,
            ),
            (
                "{ todo(where: {_not: {done: {_lte: false}}}) { id } }",
                r#"{"data":{"todo":[{"id":1},{"id":3},{"id":5}]}}"#,
            ),
            ("{ todo(where: {done: {_is_null: true}}) { id } }", r#"{"data":{"todo":[{"id":7}]}}"#),
        ],
    );
}

#[test]
fn orders_groups_relationships_and_writes_of_truths_agree_with_what_is_read() {
    check(
        &todos(),
        &[
            (
                "{ todo(order_by: [{done: desc}, {id: asc}]) { id } }",
                r#"{"data":{"todo":[{"id":7},{"id":1},{"id":3},{"id":5},{"id":2},{"id":4},{"id":6}]}}"#,
            ),
            (
                "{ todo(distinct_on: done, order_by: [{done: asc}, {id: desc}]) { id } }",
                r#"{"data":{"todo":[{"id":6},{"id":5},{"id":7}]}}"#,
            ),
            (
                "{ todo_group_by(by: done, order_by: {count: asc}) { key { done } aggregate { count max { id } } } }",
                r#"{"data":{"todo_group_by":[{"key":{"done":null},"aggregate":{"count":1,"max":{"id":7}}},{"key":{"done":false},"aggregate":{"count":3,"max":{"id":6}}},{"key":{"done":true},"aggregate":{"count":3,"max":{"id":5}}}]}}"#,
            ),
            (
                "{ todo_aggregate { aggregate { one: count(columns: done, distinct: true) two: count(columns: [done, n], distinct: true) } } }",
                r#"{"data":{"todo_aggregate":{"aggregate":{"one":2,"two":3}}}}"#,
            ),
            (
                "{ state(order_by: {word: asc}) { done todos(order_by: {id: asc}) { id } } }",
                r#"{"data":{"state":[{"done":false,"todos":[{"id":2},{"id":4},{"id":6}]},{"done":true,"todos":[{"id":1},{"id":3},{"id":5}]}]}}"#,
            ),
            (
                "{ todo(where: {state: {word: {_eq: \"ready\"}}}) { id state { word } } }",
                r#"{"data":{"todo":[{"id":1,"state":{"word":"ready"}},{"id":3,"state":{"word":"ready"}},{"id":5,"state":{"word":"ready"}}]}}"#,
            ),
            ("{ state_by_pk(done: true) { word } }", r#"{"data":{"state_by_pk":{"word":"ready"}}}"#),
            (
                "mutation { update_todo(where: {done: {_eq: true}}, _set: {done: false}) { returning { id done } } }",
                r#"{"data":{"update_todo":{"returning":[{"id":1,"done":false},{"id":3,"done":false},{"id":5,"done":false}]}}}"#,
            ),
            (
                "mutation { delete_todo(where: {done: {_neq: true}}) { affected_rows } }",
                r#"{"data":{"delete_todo":{"affected_rows":6}}}"#,
            ),
        ],
    );
}

#[test]
fn a_filter_of_a_role_lets_through_what_it_shows() {
    let served = todos();
    let open = r#"[{"id":2,"done":false},{"id":4,"done":false},{"id":6,"done":false}]"#;
    // A row without a truth is no other than true, as in Hasura.
    let read = "{ todo(where: {done: {_is_null: false}}, order_by: {id: asc}) { id done } }";
    for (role, session) in [
        ("open", &[][..]),
        ("listed", &[]),
        ("claimed", &[("x-hasura-done", "f")]),
        ("claimed", &[("x-hasura-done", "false")]),
    ] {
        for protocol in [Protocol::Hasura, Protocol::GraphqlOverHttp] {
            let found = ask(&served.engine, &caller_with(role, false, session), read, protocol);
            assert_eq!(found, format!(r#"{{"data":{{"todo":{open}}}}}"#), "{role}");
        }
    }
    let found = ask(&served.engine, &caller_with("negated", false, &[]), read, Protocol::Hasura);
    assert!(!found.contains("true"), "{found}");
    for (operation, expected) in [
        (
            "{ todo_aggregate { aggregate { count } } }",
            r#"{"data":{"todo_aggregate":{"aggregate":{"count":4}}}}"#,
        ),
        ("{ todo_by_pk(id: 3) { id } }", r#"{"data":{"todo_by_pk":null}}"#),
        (
            "mutation { update_todo(where: {}, _set: {n: 1}) { affected_rows } }",
            r#"{"data":{"update_todo":{"affected_rows":4}}}"#,
        ),
        (
            "mutation { delete_todo(where: {}) { affected_rows } }",
            r#"{"data":{"delete_todo":{"affected_rows":4}}}"#,
        ),
    ] {
        let found = ask(&served.engine, &caller_with("open", false, &[]), operation, Protocol::Hasura);
        assert_eq!(found, expected, "{operation}");
    }
    assert_eq!(served.plain("SELECT json_group_array(id) FROM todo"), serde_json::json!([1, 3, 5]));
}

/// The plan that SQLite makes for the first statement of `query`.
fn plan(served: &Served, query: &str) -> String {
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    let explained =
        served.engine.explain(request, &served.engine.caller(&Identity::admin())).expect("it can be planned");
    let sql = explained.steps[0].1.lines().find(|it| it.starts_with("SELECT")).unwrap();
    // A connection without our functions plans the same with others in their place.
    let mut sql = sql.to_owned();
    while let Some(at) = sql.find("weir_") {
        let end = at + sql[at..].find('(').unwrap();
        sql.replace_range(at..end, "lower");
    }
    let mut statement = served.beside.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut rows = statement.raw_query();
    let mut steps: Vec<String> = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get(3).unwrap());
    }
    steps.join("; ")
}

#[test]
fn equalities_keep_their_indexes() {
    let served = serve(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT, u UUID UNIQUE, done BOOLEAN, raw BLOB, any, at INT);
         CREATE INDEX a_name ON a (name, at); CREATE INDEX a_done ON a (done); CREATE INDEX a_raw ON a (raw); CREATE INDEX a_any ON a (any);
         CREATE TABLE k (u UUID PRIMARY KEY) WITHOUT ROWID;",
    );
    for (query, step) in [
        ("{ a_by_pk(id: 1) { name } }", "SEARCH t0 USING INTEGER PRIMARY KEY (rowid=?)"),
        // The index gives the order too: one form is looked for.
        (
            "{ a(where: {name: {_eq: \"x\"}}, order_by: {at: asc}) { id } }",
            "SEARCH t0 USING COVERING INDEX a_name (name=?)",
        ),
        (
            "{ a(where: {u: {_eq: \"x\"}}) { id } }",
            "SEARCH t0 USING COVERING INDEX sqlite_autoindex_a_1 (u=?)",
        ),
        ("{ a(where: {done: {_eq: true}}) { name } }", "SEARCH t0 USING INDEX a_done (done=?)"),
        ("{ a(where: {done: {_in: [true]}}) { name } }", "SEARCH t0 USING INDEX a_done (done=?)"),
        ("{ a(where: {raw: {_eq: \"x\"}}) { name } }", "SEARCH t0 USING INDEX a_raw (raw=?)"),
        ("{ a(where: {any: {_eq: \"x\"}}) { name } }", "SEARCH t0 USING INDEX a_any (any=?)"),
        ("{ k_by_pk(u: \"x\") { u } }", "SEARCH t0 USING PRIMARY KEY (u=?)"),
    ] {
        let plan = plan(&served, query);
        assert!(plan.starts_with(step) && !plan.contains("TEMP B-TREE"), "{query}: {plan}");
    }
}

const USERS: &str = "CREATE TABLE user (id UUID PRIMARY KEY, name TEXT);
         INSERT INTO user VALUES (x'0b5a1f3466c14a2c8a5e27d1b0a0c001', x'41'), (x'ff', '\\x41'), ('0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c009', 'b');
         CREATE TABLE post (id INTEGER PRIMARY KEY, user_id UUID REFERENCES user (id));
         INSERT INTO post VALUES (1, x'0b5a1f3466c14a2c8a5e27d1b0a0c001');";

#[test]
fn bytes_in_columns_of_texts_are_found() {
    let served = serve(USERS);
    let id = "0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001";
    check(
        &served,
        &[
            (
                "{ user(order_by: {id: asc}) { id name } }",
                &format!(
                    r#"{{"data":{{"user":[{{"id":"{id}","name":"\\x41"}},{{"id":"0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c009","name":"b"}},{{"id":"\\xff","name":"\\x41"}}]}}}}"#
                ),
            ),
            (
                &format!("{{ user_by_pk(id: \"{id}\") {{ name }} }}"),
                r#"{"data":{"user_by_pk":{"name":"\\x41"}}}"#,
            ),
            (
                r#"{ user_by_pk(id: "\\x0b5a1f3466c14a2c8a5e27d1b0a0c001") { name } }"#,
                r#"{"data":{"user_by_pk":{"name":"\\x41"}}}"#,
            ),
            (
                r#"{ user_aggregate(where: {name: {_eq: "\\x41"}}) { aggregate { count } } }"#,
                r#"{"data":{"user_aggregate":{"aggregate":{"count":2}}}}"#,
            ),
            (
                r#"{ user_aggregate(where: {name: {_in: ["\\x41", "b"]}}) { aggregate { count } } }"#,
                r#"{"data":{"user_aggregate":{"aggregate":{"count":3}}}}"#,
            ),
            (
                r#"{ user(where: {name: {_like: "\\\\x4%"}, id: {_neq: "\\xff"}}) { name } }"#,
                r#"{"data":{"user":[{"name":"\\x41"}]}}"#,
            ),
        ],
    );
}

#[test]
fn bytes_in_columns_of_texts_are_kept() {
    let served = serve(USERS);
    let id = "0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c001";
    check(
        &served,
        &[
            // A new row has the form of the key that it refers to.
            (
                &format!(
                    "mutation {{ insert_post_one(object: {{id: 2, user_id: \"{id}\"}}) {{ id user_id post_user {{ name }} }} }}"
                ),
                &format!(
                    r#"{{"data":{{"insert_post_one":{{"id":2,"user_id":"{id}","post_user":{{"name":"\\x41"}}}}}}}}"#
                ),
            ),
            (
                r#"mutation { update_user_by_pk(pk_columns: {id: "\\xff"}, _set: {id: "0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c0ff", name: "\\x42"}) { id name } }"#,
                r#"{"data":{"update_user_by_pk":{"id":"0b5a1f34-66c1-4a2c-8a5e-27d1b0a0c0ff","name":"\\x42"}}}"#,
            ),
        ],
    );
    assert_eq!(
        served.plain("SELECT json_group_array(typeof(id) || ' ' || typeof(name)) FROM user"),
        serde_json::json!(["blob blob", "blob text", "text text"])
    );
    assert_eq!(
        served.plain("SELECT json_group_array(typeof(user_id)) FROM post"),
        serde_json::json!(["blob", "blob"])
    );
}

#[test]
fn documents_are_read_and_kept_in_any_form() {
    let served = serve(
        "CREATE TABLE d (id INTEGER PRIMARY KEY, doc JSONB);
         INSERT INTO d VALUES (1, '{\"a\": 1}'), (2, CAST('{\"a\": 1}' AS BLOB)), (3, jsonb('{\"a\": 1.0}')), (4, x'ffff')",
    );
    check(
        &served,
        &[
            (
                "{ d(where: {id: {_lt: 4}}) { doc } }",
                r#"{"data":{"d":[{"doc":{"a": 1}},{"doc":{"a": 1}},{"doc":{"a":1.0}}]}}"#,
            ),
            ("{ d(where: {doc: {_eq: {a: 1}}}) { id } }", r#"{"data":{"d":[{"id":1},{"id":2},{"id":3}]}}"#),
            (
                "{ d(where: {doc: {_contains: {a: 1}}}) { id } }",
                r#"{"data":{"d":[{"id":1},{"id":2},{"id":3}]}}"#,
            ),
            (
                "{ d(where: {id: {_lt: 4}, doc: {_has_key: \"a\"}}) { id doc(path: \"a\") } }",
                r#"{"data":{"d":[{"id":1,"doc":1},{"id":2,"doc":1},{"id":3,"doc":1.0}]}}"#,
            ),
            (
                "{ d(where: {doc: {_cast: {String: {_like: \"%a%\"}}}}) { id } }",
                r#"{"data":{"d":[{"id":1},{"id":2},{"id":3}]}}"#,
            ),
            (
                "{ d_group_by(by: doc, order_by: {count: desc}, limit: 1) { aggregate { count } } }",
                r#"{"data":{"d_group_by":[{"aggregate":{"count":3}}]}}"#,
            ),
            (
                "mutation { update_d(where: {id: {_lt: 4}}, _append: {doc: {b: 2}}) { returning { doc } } }",
                r#"{"data":{"update_d":{"returning":[{"doc":{"a":1,"b":2}},{"doc":{"a":1,"b":2}},{"doc":{"a":1.0,"b":2}}]}}}"#,
            ),
            (
                "mutation { update_d(where: {id: {_lt: 4}}, _set: {doc: [1]}) { returning { doc } } }",
                r#"{"data":{"update_d":{"returning":[{"doc":[1]},{"doc":[1]},{"doc":[1]}]}}}"#,
            ),
        ],
    );
    assert!(served.ask("{ d(where: {id: {_eq: 4}}) { doc } }", "").contains("INVALID_VALUE"));
    assert_eq!(
        served.plain("SELECT json_array(group_concat(typeof(doc)), sum(doc = jsonb('[1]')), sum(doc = CAST('[1]' AS BLOB))) FROM d WHERE id < 4"),
        serde_json::json!(["text,blob,blob", 1, 1])
    );
}

#[test]
fn columns_without_a_type_are_numbers_in_their_order_and_keep_their_class() {
    let served = serve(
        "CREATE TABLE u (id INTEGER PRIMARY KEY, v);
         INSERT INTO u VALUES (1, 10), (2, '9'), (3, 9.5), (4, 'ten'), (5, x'0a'), (6, 9.0);
         CREATE VIEW totals AS SELECT v AS name, count(*) * 10 AS number FROM u GROUP BY v",
    );
    check(
        &served,
        &[
            (
                "{ u(order_by: [{v: asc}, {id: asc}]) { v } }",
                r#"{"data":{"u":[{"v":"9"},{"v":"9"},{"v":"9.5"},{"v":"10"},{"v":"\\x0a"},{"v":"ten"}]}}"#,
            ),
            (
                "{ u(where: {v: {_gt: \"9\"}}, order_by: {v: asc}) { id } }",
                r#"{"data":{"u":[{"id":3},{"id":1},{"id":5},{"id":4}]}}"#,
            ),
            ("{ u(where: {v: {_eq: \"9\"}}) { id } }", r#"{"data":{"u":[{"id":2},{"id":6}]}}"#),
            (
                "{ u_aggregate { aggregate { count(columns: v, distinct: true) } } }",
                r#"{"data":{"u_aggregate":{"aggregate":{"count":5}}}}"#,
            ),
            (
                "{ totals(where: {number: {_eq: \"10\"}}, limit: 1) { number } }",
                r#"{"data":{"totals":[{"number":"10"}]}}"#,
            ),
            (
                "mutation { a: update_u(where: {id: {_in: [1, 3, 6]}}, _set: {v: \"7\"}) { affected_rows } b: update_u(where: {id: {_eq: 2}}, _set: {v: \"7\"}) { affected_rows } c: update_u(where: {id: {_eq: 5}}, _set: {v: \"\\\\x0b\"}) { affected_rows } }",
                r#"{"data":{"a":{"affected_rows":3},"b":{"affected_rows":1},"c":{"affected_rows":1}}}"#,
            ),
        ],
    );
    assert_eq!(
        served.plain("SELECT json_group_array(typeof(v)) FROM (SELECT v FROM u ORDER BY id)"),
        serde_json::json!(["integer", "text", "real", "text", "blob", "real"])
    );
}
