//! Relay's form of the API: connections, identifiers, errors, and what a role sees of them, on both databases.

use crate::fleet_kit::{Fleet, ann, both, on_postgres};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use weir_engine::caller::Identity;
use weir_engine::source::Protocol;
use weir_hasura::model::{ModelOptions, Track};
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::table::TableEntry;

const FLEET: &str = "
    CREATE TABLE harbour (country TEXT NOT NULL, code TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (country, code));
    CREATE TABLE boat (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT, price INTEGER,
        country TEXT NOT NULL, code TEXT NOT NULL, FOREIGN KEY (country, code) REFERENCES harbour (country, code)
    );
    CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT NOT NULL, boat_id INTEGER REFERENCES boat (id));
    CREATE TABLE note (boat_id INTEGER REFERENCES boat (id), text TEXT);
    INSERT INTO harbour VALUES ('de', 'HH', 'Hamburg'), ('no', 'OSL', 'Oslo');
    INSERT INTO boat VALUES (1, 'Ada', 'ann', 10, 'de', 'HH'), (2, 'Bel', 'ben', NULL, 'de', 'HH'),
        (3, 'Cid', 'ann', 30, 'no', 'OSL'), (4, 'Dot', NULL, 5, 'no', 'OSL');
    INSERT INTO crew VALUES (1, 'Zoe', 1), (2, 'Yan', 1), (3, 'Xia', 3);
    INSERT INTO note VALUES (1, 'leaks');
";

const TABLES: &str = r#"[
  {"table": "harbour",
   "array_relationships": [{"name": "boats", "using": {"foreign_key_constraint_on": {"table": "boat", "columns": ["country", "code"]}}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["country", "code", "name"], "filter": {}}},
     {"role": "clerk", "permission": {"columns": ["code", "name"], "filter": {}}}]},
  {"table": "boat",
   "object_relationships": [{"name": "harbour", "using": {"foreign_key_constraint_on": ["country", "code"]}}],
   "array_relationships": [
     {"name": "crews", "using": {"foreign_key_constraint_on": {"table": "crew", "column": "boat_id"}}},
     {"name": "notes", "using": {"foreign_key_constraint_on": {"table": "note", "column": "boat_id"}}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name", "owner"], "filter": {"owner": {"_eq": "x-hasura-user"}}}},
     {"role": "clerk", "permission": {"columns": ["id", "name", "price"], "filter": {}, "query_root_fields": ["select_by_pk"]}},
     {"role": "guest", "permission": {"columns": ["name"], "filter": {}}},
     {"role": "keys", "permission": {"columns": ["id"], "filter": {}}},
     {"role": "later", "permission": {"columns": ["id", "name"], "filter": {"id": {"_gt": 2}}, "limit": 1}},
     {"role": "capped", "permission": {"columns": ["id", "name"], "filter": {}, "limit": 2}}],
   "insert_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name", "country", "code"], "check": {}, "set": {"owner": "x-hasura-user"}}}]},
  {"table": "crew",
   "select_permissions": [{"role": "sailor", "permission": {"columns": ["id", "name"], "filter": {"name": {"_neq": "Yan"}}}}]},
  {"table": "note", "select_permissions": []}
]"#;

fn ships() -> [Fleet; 2] {
    let tables: Vec<TableEntry> = serde_json::from_str(TABLES).unwrap();
    let of = |name: &str, roles: [&str; 2]| InheritedRole {
        role_name: name.into(),
        role_set: roles.map(Into::into).to_vec(),
    };
    let inherited = [of("mixed", ["sailor", "guest"]), of("seer", ["sailor", "keys"])];
    let options = ModelOptions {
        track: Track::Listed,
        tables: &tables,
        inherited_roles: &inherited,
        ..ModelOptions::default()
    };
    both(FLEET, options).map(Fleet::in_relay_form)
}

fn encode(json: &str) -> String {
    STANDARD.encode(json)
}

/// An identifier as PostgreSQL prints the list; `schema` is that of the database.
fn id(ship: &Fleet, rest: &str) -> String {
    let schema = if ship.is_postgres() { "public" } else { "main" };
    encode(&format!("[1, \"{schema}\", {rest}]"))
}

fn asked(ship: &Fleet, identity: &Identity, query: &str, variables: &str) -> Value {
    serde_json::from_str(&ship.ask_with(identity, query, variables, Protocol::GraphqlOverHttp)).unwrap()
}

#[track_caller]
fn check(ship: &Fleet, role: Option<&str>, query: &str, expected: &Value) {
    let identity = role.map_or_else(Identity::admin, ann);
    assert_eq!(asked(ship, &identity, query, "{}"), json!({ "data": expected }), "{role:?}: {query}");
}

#[test]
fn rows_have_identifiers_and_are_found_by_them() {
    for ship in ships() {
        let one = id(&ship, "\"boat\", 1");
        let hamburg = id(&ship, "\"harbour\", \"de\", \"HH\"");
        let query = "{ boat_connection(first: 1) { edges { cursor node { id harbour { id name } } } } }";
        check(
            &ship,
            None,
            query,
            &json!({"boat_connection": {"edges": [
                {"cursor": encode("{\"id\" : 1}"), "node": {"id": one, "harbour": {"id": hamburg, "name": "Hamburg"}}}
            ]}}),
        );
        for (id, expected) in [
            (&one, json!({"__typename": "boat", "id": one, "name": "Ada"})),
            (&hamburg, json!({"__typename": "harbour", "id": hamburg})),
        ] {
            let query = format!("{{ node(id: \"{id}\") {{ __typename id ... on boat {{ name }} }} }}");
            check(&ship, None, &query, &json!({ "node": expected }));
            let query = "query ($id: ID!) { node(id: $id) { __typename id ... on boat { name } } }";
            let found = asked(&ship, &Identity::admin(), query, &json!({ "id": id }).to_string());
            assert_eq!(found, json!({ "data": { "node": expected } }));
        }
        let missing = id(&ship, "\"boat\", 99");
        check(&ship, None, &format!("{{ node(id: \"{missing}\") {{ id }} }}"), &json!({ "node": null }));
    }
}

#[test]
fn array_relationships_are_lists_and_connections() {
    for ship in ships() {
        check(
            &ship,
            None,
            "{ harbour_connection { edges { node { name boats(order_by: {id: asc}) { name } boats_connection(last: 1) { \
             edges { node { name crews_connection { pageInfo { hasNextPage } edges { node { name } } } } } \
             pageInfo { hasPreviousPage hasNextPage } } } } } }",
            &json!({"harbour_connection": {"edges": [
                {"node": {"name": "Hamburg", "boats": [{"name": "Ada"}, {"name": "Bel"}], "boats_connection": {
                    "edges": [{"node": {"name": "Bel", "crews_connection": {"pageInfo": {"hasNextPage": false}, "edges": []}}}],
                    "pageInfo": {"hasPreviousPage": true, "hasNextPage": false}}}},
                {"node": {"name": "Oslo", "boats": [{"name": "Cid"}, {"name": "Dot"}], "boats_connection": {
                    "edges": [{"node": {"name": "Dot", "crews_connection": {"pageInfo": {"hasNextPage": false}, "edges": []}}}],
                    "pageInfo": {"hasPreviousPage": true, "hasNextPage": false}}}},
            ]}}),
        );
        // A table without a key has no connection, and no identifiers.
        check(
            &ship,
            None,
            "{ boat_connection(where: {id: {_eq: 1}}) { edges { node { notes { __typename text } } } } }",
            &json!({"boat_connection": {"edges": [{"node": {"notes": [{"__typename": "note", "text": "leaks"}]}}]}}),
        );
        for field in ["note_connection", "boat", "boat_by_pk", "boat_aggregate", "boat_group_by"] {
            ship.refuse(
                "sailor",
                &format!("{{ {field} {{ __typename }} }}"),
                "not found in type: 'query_root'",
            );
        }
    }
}

#[test]
fn cursors_of_an_order_through_relationships_are_nested() {
    for ship in ships() {
        let query = "{ boat_connection(first: 1, order_by: [{harbour: {name: desc}}, {crews_aggregate: {count: desc}}, \
                     {price: asc}]) { edges { cursor node { name } } } }";
        let cursor = encode(
            r#"{"harbour" : {"name" : "Oslo"}, "crews_aggregate" : {"count" : 1}, "price" : 30, "id" : 3}"#,
        );
        let edges = json!([{ "cursor": cursor, "node": { "name": "Cid" } }]);
        check(&ship, None, query, &json!({ "boat_connection": { "edges": edges } }));
    }
}

/// Identifiers that nobody was given.
#[test]
fn forged_identifiers_are_refused() {
    for ship in ships() {
        let schema = if ship.is_postgres() { "public" } else { "main" };
        let admin = Identity::admin();
        for (text, words) in [
            (String::new(), "it is not base64 of JSON"),
            ("garbage".into(), "it is not base64 of JSON"),
            (encode("{"), "it is not base64 of JSON"),
            (encode("[]"), "unexpected GUID format, found empty list"),
            (encode("[3]"), "unsupported GUID version: 3"),
            (encode("[\"boat\"]"), "unexpected GUID format, needs to start with a version number"),
            (
                encode("[1]"),
                "GUID version 1: expecting schema name, table name and at least one column value",
            ),
            (encode(&format!("[1, \"{schema}\", \"x';--\", 1]")), "no such table found: "),
            (encode(&format!("[1, \"{schema}\", \"note\", 1]")), "no such table found: "),
            (
                encode(&format!("[1, \"{schema}\", \"harbour\", \"de\"]")),
                "primary key columns ['code'] are missing",
            ),
            (encode(&format!("[1, \"{schema}\", \"boat\", 1, 9]")), "unexpected column values [9]"),
            (
                encode(&format!("[1, \"{schema}\", \"boat\", \"1' OR 1=1 --\"]")),
                "value of column 'id' in node id: ",
            ),
            (encode(&format!("[1, \"{schema}\", \"boat\", null]")), "value of column 'id' in node id: "),
            (
                encode(&format!("[1, \"{schema}\", \"boat\", 99999999999999999999]")),
                "value of column 'id' in node id: ",
            ),
        ] {
            let variables = json!({ "id": text }).to_string();
            let by_variable = ("query ($id: ID!) { node(id: $id) { id } }".to_owned(), variables);
            let by_literal = (format!("{{ node(id: {}) {{ id }} }}", json!(text)), "{}".to_owned());
            for (query, variables) in [by_variable, by_literal] {
                let answer = ship.ask_with(&admin, &query, &variables, Protocol::GraphqlOverHttp);
                assert!(answer.contains("INVALID_CURSOR"), "{text}: {answer}");
                let answer = ship.ask_with(&admin, &query, &variables, Protocol::Hasura);
                let value: Value = serde_json::from_str(&answer).unwrap();
                let error = &value["errors"][0];
                assert!(error["message"].as_str().unwrap().contains(words), "{text}: {answer}");
                assert_eq!(error["extensions"]["path"], json!("$.selectionSet.node.args.id"), "{text}");
            }
        }
    }
}

/// Cursors that nobody was given.
#[test]
fn forged_cursors_are_refused() {
    for ship in ships() {
        let admin = Identity::admin();
        for text in [
            String::new(),
            "garbage".into(),
            encode("[1]"),
            encode("{}"),
            encode("{\"id\" : \"1 OR 1=1\"}"),
            encode("{\"id\" : null}"),
            encode("{\"id\" : 1.5}"),
            encode("{\"id\" : 99999999999}"),
            encode("{\"id\" : 1, \"name\" : \"Ada\"}"),
            encode("{\"name\" : \"Ada\"}"),
            encode("{\"id'; --\" : 1}"),
        ] {
            for side in ["after", "before"] {
                let query = format!(
                    "query ($c: String) {{ boat_connection({side}: $c) {{ edges {{ node {{ id }} }} }} }}"
                );
                let variables = json!({ "c": text }).to_string();
                let answer = ship.ask_with(&admin, &query, &variables, Protocol::GraphqlOverHttp);
                assert!(answer.contains("INVALID_CURSOR"), "{side} {text}: {answer}");
                let answer = ship.ask_with(&admin, &query, &variables, Protocol::Hasura);
                assert!(answer.contains("\"code\":\"validation-failed\""), "{side} {text}: {answer}");
                assert!(answer.contains("cursor is invalid"), "{side} {text}: {answer}");
            }
        }
        // A cursor of another order.
        let other = encode("{\"id\" : 1}");
        let query = format!(
            "{{ boat_connection(after: \"{other}\", order_by: {{name: asc}}) {{ edges {{ node {{ id }} }} }} }}"
        );
        ship.refuse("sailor", &query, "cursor is invalid");
    }
}

#[test]
fn arguments_that_contradict_each_other_are_refused() {
    for ship in ships() {
        let cursor = encode("{\"id\" : 1}");
        for (arguments, words) in [
            ("first: 1, last: 1".to_owned(), "\\\"first\\\" and \\\"last\\\" are not allowed at once"),
            (
                format!("after: \"{cursor}\", before: \"{cursor}\""),
                "\\\"after\\\" and \\\"before\\\" are not allowed at once",
            ),
            ("first: -1".to_owned(), "expected a non-negative 32-bit integer"),
            ("last: -1".to_owned(), "expected a non-negative 32-bit integer"),
        ] {
            ship.refuse(
                "sailor",
                &format!("{{ boat_connection({arguments}) {{ edges {{ node {{ id }} }} }} }}"),
                words,
            );
        }
        let query = "query ($n: Int, $c: String) { boat_connection(first: $n, last: null, after: $c) { edges { node { name } } } }";
        let found = asked(&ship, &Identity::admin(), query, "{\"n\": null}");
        assert_eq!(found["data"]["boat_connection"]["edges"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn an_empty_page_has_no_ends() {
    for ship in ships() {
        for arguments in ["first: 0", "last: 0", "where: {id: {_eq: 99}}"] {
            check(
                &ship,
                None,
                &format!(
                    "{{ boat_connection({arguments}) {{ pageInfo {{ startCursor endCursor hasNextPage hasPreviousPage }} \
                     edges {{ cursor }} }} }}"
                ),
                &json!({"boat_connection": {"pageInfo": {"startCursor": "", "endCursor": "", "hasNextPage": false,
                    "hasPreviousPage": false}, "edges": []}}),
            );
        }
    }
}

#[test]
fn a_role_sees_its_rows_alone() {
    for ship in ships() {
        let sailor = Some("sailor");
        let query = "{ boat_connection { edges { node { id name crews_connection { edges { node { name } } } } } \
                     pageInfo { hasNextPage hasPreviousPage } } }";
        let node = |number: u32, name: &str, crew: &str| {
            json!({"node": {"id": id(&ship, &format!("\"boat\", {number}")), "name": name,
                "crews_connection": {"edges": [{"node": {"name": crew}}]}}})
        };
        check(
            &ship,
            sailor,
            query,
            &json!({"boat_connection": {"edges": [node(1, "Ada", "Zoe"), node(3, "Cid", "Xia")],
                "pageInfo": {"hasNextPage": false, "hasPreviousPage": false}}}),
        );
        // Rows that are hidden are not around a page either.
        let behind = encode("{\"id\" : 3}");
        check(
            &ship,
            sailor,
            &format!(
                "{{ boat_connection(before: \"{behind}\") {{ edges {{ node {{ name }} }} pageInfo {{ hasNextPage }} }} }}"
            ),
            &json!({"boat_connection": {"edges": [{"node": {"name": "Ada"}}], "pageInfo": {"hasNextPage": true}}}),
        );
        let filtered = id(&ship, "\"boat\", 2");
        check(&ship, sailor, &format!("{{ node(id: \"{filtered}\") {{ id }} }}"), &json!({ "node": null }));
        let own = id(&ship, "\"boat\", 1");
        check(&ship, sailor, &format!("{{ node(id: \"{own}\") {{ id }} }}"), &json!({"node": {"id": own}}));
        check(
            &ship,
            Some("capped"),
            "{ boat_connection(first: 5) { edges { node { name } } pageInfo { hasNextPage } } }",
            &json!({"boat_connection": {"edges": [{"node": {"name": "Ada"}}, {"node": {"name": "Bel"}}],
                "pageInfo": {"hasNextPage": false}}}),
        );
        // Rows that are hidden take no place of those that the limit leaves.
        check(
            &ship,
            Some("later"),
            "{ boat_connection { edges { node { name } } pageInfo { hasNextPage } } }",
            &json!({"boat_connection": {"edges": [{"node": {"name": "Cid"}}], "pageInfo": {"hasNextPage": false}}}),
        );
        let second = encode("{\"id\" : 2}");
        check(
            &ship,
            Some("capped"),
            &format!("{{ boat_connection(after: \"{second}\") {{ edges {{ node {{ name }} }} }} }}"),
            &json!({"boat_connection": {"edges": []}}),
        );
    }
}

/// A role without the whole primary key has no cursors and no identifiers, as they would tell it.
#[test]
fn what_a_role_may_not_read_is_in_no_text() {
    for ship in ships() {
        for (role, query, words) in [
            (
                "guest",
                "{ boat_connection { edges { node { name } } } }",
                "field 'boat_connection' not found in type",
            ),
            ("guest", "{ node(id: \"x\") { id } }", "field 'node' not found in type"),
            (
                "mixed",
                "{ boat_connection { edges { node { name } } } }",
                "field 'boat_connection' not found in type",
            ),
            (
                "clerk",
                "{ boat_connection { edges { node { name } } } }",
                "field 'boat_connection' not found in type",
            ),
            (
                "clerk",
                "{ harbour_connection { edges { node { name } } } }",
                "field 'harbour_connection' not found",
            ),
            (
                "sailor",
                "{ boat_connection { edges { node { price } } } }",
                "field 'price' not found in type: 'boat'",
            ),
            ("sailor", "{ boat_connection(order_by: {price: asc}) { edges { cursor } } }", "price"),
            ("sailor", "{ boat_connection(where: {price: {_gt: 1}}) { edges { cursor } } }", "price"),
            ("sailor", "{ boat_connection(distinct_on: price) { edges { cursor } } }", "price"),
            (
                "sailor",
                "{ boat_connection { edges { node { notes { text } } } } }",
                "field 'notes' not found",
            ),
            ("capped", "{ node(id: \"x\") { ... on harbour { name } } }", "harbour"),
            ("clerk", "{ node(id: \"x\") { ... on harbour { id } } }", ""),
        ] {
            ship.refuse(role, query, words);
        }
    }
}

#[test]
fn tables_that_a_role_does_not_see_are_no_nodes() {
    for ship in ships() {
        // The identifier of a hidden table is told from none that does not exist.
        for of in ["harbour\", \"de\", \"HH\"", "crew\", 1", "nothing\", 1"] {
            let name = of.split('"').next().unwrap();
            let query = format!("{{ node(id: \"{}\") {{ id }} }}", id(&ship, &format!("\"{of}")));
            let schema = if ship.is_postgres() { "" } else { "main." };
            ship.refuse(
                "capped",
                &query,
                &format!("invalid node id: no such table found: \\\"{schema}{name}\\\""),
            );
        }
        // The clerk sees harbours without their whole key: they are no nodes.
        let nodes = "{ __type(name: \"Node\") { possibleTypes { name } fields { name } } harbour: __type(name: \"harbour\") { \
                     interfaces { name } fields { name } } }";
        check(
            &ship,
            Some("clerk"),
            nodes,
            &json!({"__type": {"possibleTypes": [{"name": "boat"}], "fields": [{"name": "id"}]},
                "harbour": {"interfaces": [], "fields": [{"name": "code"}, {"name": "name"}, {"name": "boats"},
                    {"name": "boats_connection"}]}}),
        );
    }
}

#[test]
fn mutations_give_rows_of_this_form() {
    for ship in ships() {
        let made = id(&ship, "\"boat\", 9");
        let hamburg = id(&ship, "\"harbour\", \"de\", \"HH\"");
        let identity = ann("sailor");
        let query = "mutation { insert_boat(objects: {id: 9, name: \"Eve\", country: \"de\", code: \"HH\"}) { affected_rows \
                     returning { id name owner harbour { id } crews_connection { edges { cursor } pageInfo { endCursor } } } } \
                     insert_boat_one(object: {id: 10, name: \"Fay\", country: \"de\", code: \"HH\"}) { id } }";
        let found = asked(&ship, &identity, query, "{}");
        assert_eq!(
            found,
            json!({"data": {"insert_boat": {"affected_rows": 1, "returning": [
                {"id": made, "name": "Eve", "owner": "ann", "harbour": {"id": hamburg},
                 "crews_connection": {"edges": [], "pageInfo": {"endCursor": ""}}}]},
                "insert_boat_one": {"id": id(&ship, "\"boat\", 10")}}})
        );
        let query = "mutation { update_boat_by_pk(pk_columns: {id: 9}, _set: {name: \"Eva\"}) { id name } \
                     delete_boat(where: {id: {_eq: 9}}) { returning { id } } }";
        let found = asked(&ship, &Identity::admin(), query, "{}");
        assert_eq!(
            found,
            json!({"data": {"update_boat_by_pk": {"id": made, "name": "Eva"}, "delete_boat": {"returning": [{"id": made}]}}})
        );
    }
}

/// Source: the specification of Relay, "Cursor Connections" and "Global Object Identification".
#[test]
fn the_schema_is_that_of_relay() {
    for ship in ships() {
        let of = "fields { name args { name type { name kind ofType { name } } } type { kind name ofType { kind name ofType { kind name \
                  ofType { kind name } } } } }";
        let query = format!(
            "{{ connection: __type(name: \"boatConnection\") {{ {of} }} edge: __type(name: \"boatEdge\") {{ {of} }} \
             info: __type(name: \"PageInfo\") {{ {of} }} node: __type(name: \"Node\") {{ kind {of} }} \
             root: __type(name: \"query_root\") {{ {of} }} boat: __type(name: \"boat\") {{ interfaces {{ name }} }} }}"
        );
        let found = asked(&ship, &Identity::admin(), &query, "{}");
        let types = &found["data"];
        let field = |ty: &str, name: &str| -> Value {
            let fields = types[ty]["fields"].as_array().unwrap();
            fields
                .iter()
                .find(|it| it["name"] == name)
                .unwrap_or_else(|| panic!("{ty}.{name}: {found}"))
                .clone()
        };
        let non_null = |of: Value| json!({"kind": "NON_NULL", "name": null, "ofType": of});
        let is = |ty: &Value, kind: &str, name: &str| {
            assert_eq!((&ty["kind"], &ty["name"]), (&json!(kind), &json!(name)), "{ty}");
        };
        let page_info = field("connection", "pageInfo")["type"].clone();
        assert_eq!(page_info["kind"], "NON_NULL");
        is(&page_info["ofType"], "OBJECT", "PageInfo");
        let edges = field("connection", "edges")["type"].clone();
        is(&edges["ofType"]["ofType"]["ofType"], "OBJECT", "boatEdge");
        is(&field("edge", "node")["type"]["ofType"], "OBJECT", "boat");
        for (name, ty) in [
            ("hasNextPage", "Boolean"),
            ("hasPreviousPage", "Boolean"),
            ("startCursor", "String"),
            ("endCursor", "String"),
        ] {
            let scalar = json!({"kind": "SCALAR", "name": ty, "ofType": null});
            assert_eq!(field("info", name)["type"], non_null(scalar), "{name}");
        }
        assert_eq!(types["node"]["kind"], "INTERFACE");
        is(&field("node", "id")["type"]["ofType"], "SCALAR", "ID");
        is(&field("root", "node")["type"], "INTERFACE", "Node");
        let arguments = field("root", "boat_connection")["args"].clone();
        let names: Vec<&str> =
            arguments.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["after", "before", "distinct_on", "first", "last", "order_by", "where"]);
        assert_eq!(types["boat"]["interfaces"], json!([{"name": "Node"}]));
        let roots = types["root"]["fields"].as_array().unwrap().iter();
        let mut roots: Vec<&str> = roots.map(|it| it["name"].as_str().unwrap()).collect();
        roots.sort_unstable();
        assert_eq!(roots, ["boat_connection", "crew_connection", "harbour_connection", "node"]);
    }
}

/// Walks forth by pages of one row; gives the values of `field` and the cursors, decoded.
fn walk(
    ship: &Fleet,
    identity: &Identity,
    root: &str,
    order: &str,
    field: &str,
) -> (Vec<Value>, Vec<String>) {
    let mut values = Vec::new();
    let mut cursors = Vec::new();
    let mut after = Value::Null;
    loop {
        let query = format!(
            "query ($c: String) {{ {root}(first: 1, after: $c, order_by: {order}) {{ edges {{ cursor node {{ {field} }} }} \
             pageInfo {{ hasNextPage }} }} }}"
        );
        let found = asked(ship, identity, &query, &json!({ "c": after }).to_string());
        let page = &found["data"][root];
        let edge = &page["edges"][0];
        values.push(edge["node"][field].clone());
        after = edge["cursor"].clone();
        let text = after.as_str().unwrap_or_else(|| panic!("{query}: {found}"));
        cursors.push(String::from_utf8(STANDARD.decode(text).unwrap()).unwrap());
        if page["pageInfo"]["hasNextPage"] != json!(true) || values.len() > 20 {
            return (values, cursors);
        }
    }
}

#[test]
fn a_cell_that_is_hidden_is_null_in_cursors_and_in_the_order() {
    for ship in ships() {
        let (names, cursors) =
            walk(&ship, &ann("seer"), "boat_connection", "{name: desc_nulls_last}", "name");
        assert_eq!(names, [json!("Cid"), json!("Ada"), Value::Null, Value::Null]);
        assert_eq!(
            cursors,
            [
                r#"{"name" : "Cid", "id" : 3}"#,
                r#"{"name" : "Ada", "id" : 1}"#,
                r#"{"name" : null, "id" : 2}"#,
                r#"{"name" : null, "id" : 4}"#,
            ]
        );
    }
}

/// Values of types whose texts only PostgreSQL reads.
#[test]
fn cursors_hold_values_of_every_type() {
    let ship = on_postgres(
        "CREATE TABLE log (
             code uuid PRIMARY KEY, at timestamptz, day date, amount numeric, big bigint, flag boolean, note jsonb, span interval, n int
         );
         INSERT INTO log VALUES
             ('00000000-0000-0000-0000-000000000003', '2024-01-01 10:00:00.123456+00', '2024-02-29', 1.0, 9007199254740993, true, '{\"a\": 1}', '1 day', 1),
             ('00000000-0000-0000-0000-000000000001', '2024-01-01 10:00:00.123457+02', '0044-03-15 BC', 1.00, 9007199254740992, false, '[1]', '24 hours', 2),
             ('00000000-0000-0000-0000-000000000002', NULL, 'infinity', 'NaN', -1, NULL, 'null', NULL, 3),
             ('00000000-0000-0000-0000-000000000004', 'infinity', NULL, 0.1, NULL, true, NULL, '-1 year', 4);",
        ModelOptions::default(),
    )
    .in_relay_form();
    let admin = Identity::admin();
    for column in ["code", "at", "day", "amount", "big", "flag", "note", "span"] {
        for direction in ["asc", "desc_nulls_last"] {
            let rows = format!(
                "{{ log_connection(order_by: {{{column}: {direction}}}) {{ edges {{ node {{ n }} }} }} }}"
            );
            let all = asked(&ship, &admin, &rows, "{}");
            let all = all["data"]["log_connection"]["edges"].as_array().unwrap_or_else(|| panic!("{all}"));
            let all: Vec<Value> = all.iter().map(|it| it["node"]["n"].clone()).collect();
            let order = format!("{{{column}: {direction}}}");
            assert_eq!(walk(&ship, &admin, "log_connection", &order, "n").0, all, "{column} {direction}");
        }
    }
    for (column, value) in [("day", "\"no day\""), ("at", "\"2024-13-01\""), ("span", "\"1 parsec\"")] {
        let cursor = encode(&format!(
            "{{\"{column}\" : {value}, \"code\" : \"00000000-0000-0000-0000-000000000001\"}}"
        ));
        let query = format!(
            "{{ log_connection(after: \"{cursor}\", order_by: {{{column}: asc}}) {{ edges {{ cursor }} }} }}"
        );
        let answer = ship.ask_with(&admin, &query, "{}", Protocol::GraphqlOverHttp);
        assert!(answer.contains("INVALID_CURSOR"), "{column}: {answer}");
    }
}
