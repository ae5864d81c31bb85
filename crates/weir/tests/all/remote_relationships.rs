//! Relationships of the metadata between tables of two databases: boats in a file of SQLite, harbours in PostgreSQL.

use crate::postgres_kit::{Database, database};
use crate::support::{Answer, Folder, Weir, body, command};
use serde_json::{Value, json};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

const BOATS: &str = "CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT NOT NULL, harbour_code TEXT, berth INTEGER, secret TEXT);
    INSERT INTO boat VALUES (1, 'Argo', 'HH', 1, 'x'), (2, 'Fram', 'HH', 2, 'y'), (3, 'Beagle', 'XX', 1, 'z'),
      (4, 'Vega', NULL, NULL, NULL), (5, 'Gjoa', 'KI', 7, NULL)";

const HARBOURS: &str = "CREATE TABLE harbour (code text PRIMARY KEY, name text NOT NULL, depth int, hidden boolean NOT NULL DEFAULT false);
    INSERT INTO harbour VALUES ('HH', 'Hamburg', 15, false), ('KI', 'Kiel', 12, true), ('RO', 'Rostock', 14, false);
    CREATE TABLE berth (harbour text NOT NULL, number int NOT NULL, length numeric, PRIMARY KEY (harbour, number));
    INSERT INTO berth VALUES ('HH', 1, 10.50), ('HH', 2, 20), ('KI', 7, 30)";

fn relationship(name: &str, kind: &str, source: &str, table: &str, mapping: &Value) -> Value {
    json!({ "name": name, "definition": { "to_source": { "relationship_type": kind, "source": source,
        "table": table, "field_mapping": mapping } } })
}

/// The metadata of both databases; `boat` and `harbour` are members of those tables.
fn document(file: &str, url: &str, boat: Value, harbour: Value) -> Value {
    let table = |name: &str, members: Value| {
        let mut entry = json!({ "table": name });
        for (key, value) in members.as_object().expect("they are members") {
            entry[key] = value.clone();
        }
        entry
    };
    let connection = |url: &str| json!({ "connection_info": { "database_url": url } });
    let berth = json!({ "select_permissions": [select("user", &["number"], json!({}))] });
    json!({ "version": 3, "sources": [
        { "name": "fleet", "kind": "sqlite", "configuration": connection(file), "tables": [table("boat", boat)] },
        { "name": "shore", "kind": "postgres", "configuration": connection(url),
          "tables": [table("harbour", harbour), table("berth", berth)] },
    ] })
}

fn select(role: &str, columns: &[&str], filter: Value) -> Value {
    json!({ "role": role, "permission": { "columns": columns, "filter": filter } })
}

/// The relationships in both directions, with permissions of the role `user`.
fn usual_members() -> [Value; 2] {
    let boat = json!({
        "configuration": { "column_config": { "harbour_code": { "custom_name": "port" } } },
        "remote_relationships": [
            relationship("harbour", "object", "shore", "harbour", &json!({ "harbour_code": "code" })),
            relationship("berths", "array", "shore", "berth", &json!({ "harbour_code": "harbour" })),
            relationship("berth_of", "object", "shore", "berth", &json!({ "harbour_code": "harbour", "berth": "number" })),
            relationship("by_secret", "object", "shore", "harbour", &json!({ "secret": "code" })),
        ],
        "select_permissions": [select("user", &["id", "name", "harbour_code"], json!({})), select("blind", &["id"], json!({}))],
    });
    let harbour = json!({
        "remote_relationships": [
            relationship("boats", "array", "fleet", "boat", &json!({ "code": "harbour_code" })),
            relationship("one_boat", "object", "fleet", "boat", &json!({ "code": "harbour_code" })),
        ],
        "select_permissions": [select("user", &["name"], json!({ "hidden": { "_eq": false } }))],
    });
    [boat, harbour]
}

struct Scene {
    weir: Weir,
    _database: Database,
}

impl Scene {
    fn start([boat, harbour]: [Value; 2]) -> Self {
        let folder = Folder::new();
        let file = folder.file("fleet.db");
        let connection = rusqlite::Connection::open(&file).expect("SQLite makes a file");
        connection.execute_batch(BOATS).expect("the statements are right");
        let database = database(HARBOURS);
        let url = format!("sqlite:{}", file.display());
        let document = document(&url, &database.url(), boat, harbour);
        folder.write("metadata.json", &document.to_string());
        let yaml = "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata.json\n";
        let weir = Weir::by_file(&folder.write("weir.yaml", yaml), folder);
        Self { weir, _database: database }
    }

    fn ask(&self, path: &str, role: &str, query: &str) -> String {
        let answer: Answer = self.weir.post(path, &[SECRET, ("x-hasura-role", role)], body(query).as_bytes());
        answer.text().to_owned()
    }

    #[track_caller]
    fn check(&self, role: &str, query: &str, expected: &str) {
        for path in ["/graphql", "/v1/graphql"] {
            let answer = self.ask(path, role, query);
            assert_eq!(answer, format!("{{\"data\":{expected}}}"), "{query}\n{}", self.weir.log());
        }
    }

    /// `query` has a part that does not exist for the role.
    #[track_caller]
    fn check_hidden(&self, role: &str, query: &str, field: &str) {
        let answer = self.ask("/graphql", role, query);
        assert!(answer.contains(&format!("Cannot query field \\\"{field}\\\"")), "{query}: {answer}");
    }
}

#[test]
fn rows_of_two_databases_lead_to_each_other() {
    let scene = Scene::start(usual_members());
    scene.check(
        "admin",
        "{ boat(order_by: {id: asc}) { name harbour { name depth } } }",
        r#"{"boat":[{"name":"Argo","harbour":{"name":"Hamburg","depth":15}},{"name":"Fram","harbour":{"name":"Hamburg","depth":15}},{"name":"Beagle","harbour":null},{"name":"Vega","harbour":null},{"name":"Gjoa","harbour":{"name":"Kiel","depth":12}}]}"#,
    );
    scene.check(
        "admin",
        "{ harbour(order_by: {code: desc}) { code boats(order_by: {id: desc}) { id } one_boat { __typename } } }",
        r#"{"harbour":[{"code":"RO","boats":[],"one_boat":null},{"code":"KI","boats":[{"id":5}],"one_boat":{"__typename":"boat"}},{"code":"HH","boats":[{"id":2},{"id":1}],"one_boat":{"__typename":"boat"}}]}"#,
    );
    // A list has the arguments of any other, for each parent; a null key gives null.
    scene.check(
        "admin",
        "{ boat(order_by: {id: asc}, where: {id: {_in: [1, 3, 4, 5]}}) { berths(where: {number: {_gt: 1}}, order_by: {number: desc}, limit: 1) { number length } } }",
        r#"{"boat":[{"berths":[{"number":2,"length":20}]},{"berths":[]},{"berths":null},{"berths":[{"number":7,"length":30}]}]}"#,
    );
    scene.check(
        "admin",
        "{ boat(order_by: {id: asc}, limit: 4) { a: berths(distinct_on: number, order_by: {number: asc}, offset: 1) { number } berths_aggregate(where: {number: {_lt: 3}}) { aggregate { count sum { number } } nodes { number } } } }",
        r#"{"boat":[{"a":[{"number":2}],"berths_aggregate":{"aggregate":{"count":2,"sum":{"number":3}},"nodes":[{"number":1},{"number":2}]}},{"a":[{"number":2}],"berths_aggregate":{"aggregate":{"count":2,"sum":{"number":3}},"nodes":[{"number":1},{"number":2}]}},{"a":[],"berths_aggregate":{"aggregate":{"count":0,"sum":{"number":null}},"nodes":[]}},{"a":null,"berths_aggregate":null}]}"#,
    );
    // Several columns, and a way there and back.
    scene.check(
        "admin",
        "{ boat(order_by: {id: asc}) { id berth_of { length } } }",
        r#"{"boat":[{"id":1,"berth_of":{"length":10.50}},{"id":2,"berth_of":{"length":20}},{"id":3,"berth_of":null},{"id":4,"berth_of":null},{"id":5,"berth_of":{"length":30}}]}"#,
    );
    scene.check(
        "admin",
        "{ boat_by_pk(id: 1) { harbour { boats(order_by: {id: asc}) { name harbour { code } } boats_aggregate { aggregate { max { id } } } } } }",
        r#"{"boat_by_pk":{"harbour":{"boats":[{"name":"Argo","harbour":{"code":"HH"}},{"name":"Fram","harbour":{"code":"HH"}}],"boats_aggregate":{"aggregate":{"max":{"id":2}}}}}}"#,
    );
}

#[test]
fn one_statement_has_the_keys_of_all_parents() {
    let scene = Scene::start(usual_members());
    let explained = scene.weir.post(
        "/v1/graphql/explain",
        &[SECRET],
        json!({ "query": { "query": "{ boat { harbour { name } } }" } }).to_string().as_bytes(),
    );
    assert!(explained.text().contains("unnest"), "{}", explained.text());
}

#[test]
fn the_permission_of_the_target_decides_and_the_keys_have_to_be_seen() {
    let scene = Scene::start(usual_members());
    // A hidden row is none, a hidden column does not exist, the code of a harbour need not be seen.
    scene.check(
        "user",
        "{ boat(order_by: {id: asc}) { harbour { name } berths(order_by: {number: asc}) { number } } }",
        r#"{"boat":[{"harbour":{"name":"Hamburg"},"berths":[{"number":1},{"number":2}]},{"harbour":{"name":"Hamburg"},"berths":[{"number":1},{"number":2}]},{"harbour":null,"berths":[]},{"harbour":null,"berths":null},{"harbour":null,"berths":[{"number":7}]}]}"#,
    );
    scene.check_hidden("user", "{ boat { harbour { depth } } }", "depth");
    let argument = scene.ask("/graphql", "user", "{ boat { berths(where: {length: {_gt: 1}}) { number } } }");
    assert!(argument.contains("unknown field \\\"length\\\""), "{argument}");
    // Aggregates need their permission; a field whose key is hidden would reveal it.
    scene.check_hidden("user", "{ boat { berths_aggregate { aggregate { count } } } }", "berths_aggregate");
    scene.check_hidden("user", "{ boat { by_secret { name } } }", "by_secret");
    scene.check_hidden("user", "{ boat { berth_of { number } } }", "berth_of");
    scene.check_hidden("user", "{ harbour { boats { name } } }", "boats");
    scene.check_hidden("blind", "{ boat { harbour { name } } }", "harbour");
    scene.check_hidden("blind", "{ boat { berths { number } } }", "berths");
    let fields =
        "{ __type(name: \"boat\") { fields { name type { kind name ofType { name } } args { name } } } }";
    assert_eq!(
        scene.ask("/graphql", "user", fields),
        r#"{"data":{"__type":{"fields":[{"name":"id","type":{"kind":"NON_NULL","name":null,"ofType":{"name":"Int"}},"args":[]},{"name":"name","type":{"kind":"NON_NULL","name":null,"ofType":{"name":"String"}},"args":[]},{"name":"port","type":{"kind":"SCALAR","name":"String","ofType":null},"args":[]},{"name":"harbour","type":{"kind":"OBJECT","name":"harbour","ofType":null},"args":[]},{"name":"berths","type":{"kind":"LIST","name":null,"ofType":{"name":null}},"args":[{"name":"distinct_on"},{"name":"limit"},{"name":"offset"},{"name":"order_by"},{"name":"where"}]}]}}}"#
    );
}

#[test]
fn nobody_sees_or_asks_the_way_into_a_table() {
    let scene = Scene::start(usual_members());
    for role in ["admin", "user", "blind"] {
        let names =
            scene.ask("/graphql", role, "{ __schema { types { name fields { name args { name } } } } }");
        for part in ["__Joins", "remote_relationships", "key0"] {
            assert!(!names.contains(part), "{role}: {part} is in {names}");
        }
        let lookup = "sources_0_tables_0_remote_relationships_0";
        for query in [
            format!("{{ {lookup}(key0: \"HH\") {{ name }} }}"),
            "{ ... on __Joins0 { __typename } }".to_owned(),
            "{ __type(name: \"__Joins0\") { name } }".to_owned(),
            "{ boat { harbour(key0: \"KI\") { name } } }".to_owned(),
            "{ boat { berths(key0: \"KI\") { number } } }".to_owned(),
        ] {
            let answer = scene.ask("/graphql", role, &query);
            let is_nothing = answer == r#"{"data":{"__type":null}}"# || answer.contains("\"errors\"");
            assert!(is_nothing && !answer.contains("Kiel") && !answer.contains("Did you mean"), "{answer}");
        }
    }
    let sdl = scene.weir.get("/schema.graphql", &[SECRET]);
    assert!(!sdl.text().contains("__Joins"), "{}", sdl.text());
}

/// Checks a wrong relationship of boats: what `weir check` says, and that the rest is served.
#[track_caller]
fn check_left_out(entry: Value, expected: &str) {
    let [mut boat, harbour] = usual_members();
    boat["remote_relationships"].as_array_mut().expect("it is a list").push(entry);
    let scene = Scene::start([boat, harbour]);
    let output = command()
        .args(["check", "--metadata", "metadata.json"])
        .current_dir(scene.weir.folder().file(""))
        .output()
        .expect("it runs");
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(expected), "{expected} is not in {said}");
    scene.check(
        "admin",
        "{ boat_by_pk(id: 5) { harbour { name } } }",
        r#"{"boat_by_pk":{"harbour":{"name":"Kiel"}}}"#,
    );
    let inconsistent =
        scene.weir.post("/v1/metadata", &[SECRET], br#"{"type":"get_inconsistent_metadata","args":{}}"#);
    let objects = &inconsistent.json()["inconsistent_objects"];
    assert_eq!(objects.as_array().map(Vec::len), Some(1), "{objects}");
    assert_eq!(objects[0]["type"], "remote_relationship", "{objects}");
}

#[test]
fn a_relationship_that_does_not_resolve_is_left_out_alone() {
    let code = json!({ "harbour_code": "code" });
    check_left_out(
        relationship("other", "object", "nowhere", "harbour", &code),
        r#"in table "boat": in relationship "other": source with name "nowhere" does not exist"#,
    );
    check_left_out(
        relationship("other", "object", "shore", "harbor", &code),
        r#"in table "boat": in relationship "other": there is no table `harbor`; did you mean `harbour`?"#,
    );
    check_left_out(
        relationship("other", "object", "shore", "harbour", &json!({ "harbour_code": "kode" })),
        r#"in relationship "other": `harbour` has no column `kode`"#,
    );
    check_left_out(
        relationship("other", "object", "shore", "harbour", &json!({ "harbor": "code" })),
        r#"in relationship "other": `boat` has no field `harbor`"#,
    );
    check_left_out(
        relationship("name", "object", "shore", "harbour", &code),
        r#"in relationship "name": there is another field called `name`"#,
    );
}

#[test]
fn rows_that_a_mutation_returns_lead_to_the_other_database() {
    let scene = Scene::start(usual_members());
    let done = |query: &str, expected: &str| {
        for (path, harbour) in [("/graphql", "HH"), ("/v1/graphql", "KI")] {
            let name = if harbour == "HH" { "Hamburg" } else { "Kiel" };
            let query = query.replace("$HARBOUR", harbour);
            let answer = scene.ask(path, "admin", &query);
            let expected = expected.replace("$NAME", name);
            assert_eq!(answer, format!("{{\"data\":{expected}}}"), "{query}\n{}", scene.weir.log());
        }
    };
    done(
        "mutation { insert_boat(objects: [{name: \"A\", port: \"$HARBOUR\"}, {name: \"B\"}]) { affected_rows returning { name harbour { name } } } }",
        r#"{"insert_boat":{"affected_rows":2,"returning":[{"name":"A","harbour":{"name":"$NAME"}},{"name":"B","harbour":null}]}}"#,
    );
    done(
        "mutation { insert_boat_one(object: {name: \"C\", port: \"$HARBOUR\"}) { name harbour { name } berths(order_by: {number: asc}, limit: 0) { number } } }",
        r#"{"insert_boat_one":{"name":"C","harbour":{"name":"$NAME"},"berths":[]}}"#,
    );
    done(
        "mutation { update_boat_by_pk(pk_columns: {id: 1}, _set: {port: \"$HARBOUR\"}) { harbour { name } } none: update_boat_by_pk(pk_columns: {id: 99}, _set: {port: \"HH\"}) { harbour { name } } }",
        r#"{"update_boat_by_pk":{"harbour":{"name":"$NAME"}},"none":null}"#,
    );
    done(
        "mutation { update_boat_many(updates: [{where: {id: {_eq: 2}}, _set: {port: \"$HARBOUR\"}}, {where: {id: {_eq: 98}}, _set: {name: \"x\"}}]) { affected_rows returning { id harbour { name } } } }",
        r#"{"update_boat_many":[{"affected_rows":1,"returning":[{"id":2,"harbour":{"name":"$NAME"}}]},{"affected_rows":0,"returning":[]}]}"#,
    );
    done(
        "mutation { delete_boat(where: {name: {_eq: \"C\"}, port: {_eq: \"$HARBOUR\"}}) { affected_rows returning { harbour { name } } } }",
        r#"{"delete_boat":{"affected_rows":1,"returning":[{"harbour":{"name":"$NAME"}}]}}"#,
    );
    // From PostgreSQL, one statement or several.
    for path in ["/graphql", "/v1/graphql"] {
        let answer = scene.ask(path, "admin", "mutation { update_harbour_by_pk(pk_columns: {code: \"HH\"}, _set: {depth: 16}) { depth boats(order_by: {id: asc}, where: {id: {_lte: 2}}) { id } } insert_harbour(objects: [{code: \"X1\", name: \"X\"}]) { affected_rows returning { boats { id } } } delete_harbour(where: {code: {_eq: \"X1\"}}) { returning { code boats { id } } } }");
        assert!(
            answer.contains(r#""update_harbour_by_pk":{"depth":16,"boats":["#),
            "{answer}\n{}",
            scene.weir.log()
        );
        assert!(
            answer.ends_with(r#""insert_harbour":{"affected_rows":1,"returning":[{"boats":[]}]},"delete_harbour":{"returning":[{"code":"X1","boats":[]}]}}}"#),
            "{answer}"
        );
    }
}

#[test]
fn a_mutation_that_fails_leaves_no_trace_below_it() {
    let [mut boat, mut harbour] = usual_members();
    boat["insert_permissions"] = json!([{ "role": "user", "permission": { "check": { "name": { "_neq": "bad" } }, "columns": ["name", "harbour_code"] } }]);
    harbour["insert_permissions"] = json!([{ "role": "user", "permission": { "check": { "name": { "_neq": "bad" } }, "columns": ["code", "name"] } }]);
    harbour["select_permissions"] =
        json!([select("user", &["code", "name"], json!({ "hidden": { "_eq": false } }))]);
    let scene = Scene::start([boat, harbour]);
    for path in ["/graphql", "/v1/graphql"] {
        for query in [
            "mutation { insert_boat(objects: [{name: \"good\", port: \"HH\"}, {name: \"bad\"}]) { returning { harbour { name } } } }",
            "mutation { insert_harbour(objects: [{code: \"G\", name: \"good\"}, {code: \"B\", name: \"bad\"}]) { returning { boats { id } } } }",
        ] {
            let answer = scene.ask(path, "user", query);
            assert!(
                answer.contains("check constraint of an insert/update permission has failed"),
                "{answer}"
            );
        }
    }
    scene.check(
        "admin",
        "{ boat(where: {name: {_eq: \"good\"}}) { id } harbour(where: {name: {_eq: \"good\"}}) { code } }",
        r#"{"boat":[],"harbour":[]}"#,
    );
    // The permission of the target and of the keys holds.
    for path in ["/graphql", "/v1/graphql"] {
        let answer = scene.ask(path, "user", "mutation { insert_boat(objects: [{name: \"kiel\", port: \"KI\"}, {name: \"hh\", port: \"HH\"}]) { returning { harbour { name } } } }");
        assert_eq!(
            answer,
            r#"{"data":{"insert_boat":{"returning":[{"harbour":null},{"harbour":{"name":"Hamburg"}}]}}}"#,
            "{}",
            scene.weir.log()
        );
        let answer = scene.ask(
            path,
            "user",
            "mutation { insert_boat(objects: [{name: \"x\"}]) { returning { by_secret { name } } } }",
        );
        assert!(answer.contains("by_secret") && answer.contains("errors"), "{answer}");
    }
}
