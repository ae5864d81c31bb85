//! A subgraph of a federation over a running server: text, entities, and callers who try to get round permissions.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, command};
use crate::upstream_kit::Upstream;
use rusqlite::Connection;
use serde_json::{Value, json};

const ADMIN: [(&str, &str); 1] = [("x-hasura-admin-secret", "hush")];
const GATEWAY: [(&str, &str); 2] = [ADMIN[0], ("x-hasura-role", "gateway")];
const CLERK: [(&str, &str); 2] = [ADMIN[0], ("x-hasura-role", "clerk")];
const BLIND: [(&str, &str); 2] = [ADMIN[0], ("x-hasura-role", "blind")];

const ENTITIES: &str = "query ($r: [_Any!]!) { _entities(representations: $r) { __typename ... on track { id name } ... on seat { line number price } } }";

/// Tables with a key of one column, of two, and without permissions.
fn tables(folder: &Folder) {
    let script =
        "CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT NOT NULL, cost INTEGER, owner TEXT NOT NULL);
        INSERT INTO track VALUES (1, 'Alpha', 5, 'clerk'), (2, 'Beta', 6, 'clerk'), (3, 'Gamma', 7, 'boss');
        CREATE TABLE seat (line TEXT, number INTEGER, price INTEGER, PRIMARY KEY (line, number));
        INSERT INTO seat VALUES ('A', 1, 10), ('A', 2, 20), ('B', 1, 30);
        CREATE TABLE vault (id INTEGER PRIMARY KEY, code TEXT);
        INSERT INTO vault VALUES (1, 'xyz');
        CREATE TABLE plain (id INTEGER PRIMARY KEY, word TEXT);
        INSERT INTO plain VALUES (1, 'plain');";
    let database = Connection::open(folder.file("shop.db")).expect("it is made");
    database.execute_batch(script).expect("the statements are right");
}

const METADATA: &str = "version: 3
sources:
- name: default
  kind: sqlite
  configuration:
    connection_info: {database_url: sqlite:shop.db}
  tables:
  - table: track
    apollo_federation_config: {enable: v1}
    select_permissions:
    - {role: gateway, permission: {columns: [id, name], filter: {}}}
    - {role: clerk, permission: {columns: [id, name], filter: {owner: {_eq: clerk}}}}
    - {role: blind, permission: {columns: [name], filter: {}}}
  - table: seat
    apollo_federation_config: {enable: v1}
    select_permissions:
    - {role: gateway, permission: {columns: '*', filter: {}, query_root_fields: []}}
    - {role: blind, permission: {columns: [number, price], filter: {}}}
  - table: vault
    apollo_federation_config: {enable: v1}
  - table: plain
    select_permissions:
    - {role: gateway, permission: {columns: '*', filter: {}}}
";

fn serve_with(more: &str) -> Weir {
    let folder = Folder::new();
    tables(&folder);
    folder.write("metadata.yaml", METADATA);
    let yaml = format!("listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata.yaml\n{more}\n");
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

fn serve() -> Weir {
    serve_with("federation: {role: gateway}")
}

fn post(weir: &Weir, role: &[(&str, &str)], query: &str, variables: &Value) -> Answer {
    weir.post("/graphql", role, json!({ "query": query, "variables": variables }).to_string().as_bytes())
}

/// The entities of `representations`, and the paths and messages of errors.
fn entities(weir: &Weir, role: &[(&str, &str)], representations: &Value) -> (Value, Vec<String>) {
    let answer = post(weir, role, ENTITIES, &json!({ "r": representations }));
    let json = answer.json();
    let errors = json["errors"].as_array().cloned().unwrap_or_default();
    let errors =
        errors.iter().map(|it| format!("{} {}", it["path"], it["message"].as_str().unwrap_or_default()));
    (json["data"]["_entities"].clone(), errors.collect())
}

fn text(weir: &Weir, role: &[(&str, &str)]) -> String {
    let json = post(weir, role, "{ _service { sdl __typename } }", &json!({})).json();
    json["data"]["_service"]["sdl"].as_str().unwrap_or_else(|| panic!("{json}")).to_owned()
}

#[test]
fn the_text_is_what_its_role_sees_and_only_that() {
    let weir = serve();
    let sdl = text(&weir, &GATEWAY);
    assert_eq!(sdl, text(&weir, &ADMIN), "the admin reads the text of the role");
    assert!(
        sdl.starts_with(
            "extend schema @link(url: \"https://specs.apollo.dev/federation/v2.3\", import: [\"@key\"])\n"
        ),
        "{sdl}"
    );
    for part in
        ["type track @key(fields: \"id\") {", "type seat @key(fields: \"line number\") {", "type plain {"]
    {
        assert!(sdl.contains(part), "{part}\n{sdl}");
    }
    for hidden in [
        "cost",
        "owner",
        "vault",
        "_entities",
        "_service",
        "_Any",
        "_Entity",
        "@cached",
        "__Joins",
        "entity_",
    ] {
        assert!(!sdl.contains(hidden), "{hidden}\n{sdl}");
    }
    let mentions = |role: &[(&str, &str)]| {
        let answer = post(&weir, role, "{ __type(name: \"query_root\") { fields { name } } }", &json!({}));
        answer.text().contains("_service")
    };
    assert_eq!(
        [mentions(&GATEWAY), mentions(&CLERK), mentions(&BLIND), mentions(&ADMIN)],
        [true, false, false, true]
    );
    for role in [&CLERK, &BLIND] {
        let answer = post(&weir, role, "{ _service { sdl } }", &json!({}));
        assert!(answer.text().contains("_service") && !answer.text().contains("extend schema"), "{answer:?}");
    }
}

#[test]
fn without_the_setting_nothing_of_it_is_there() {
    let weir = serve_with("");
    for query in ["{ _service { sdl } }", "{ _entities(representations: []) { __typename } }"] {
        let answer = post(&weir, &ADMIN, query, &json!({}));
        assert!(
            answer.text().contains("Cannot query field") || answer.text().contains("not found"),
            "{answer:?}"
        );
    }
}

#[test]
fn entities_keep_order_duplicates_and_gaps() {
    let weir = serve();
    let representations = json!([
        { "__typename": "track", "id": 2 },
        { "__typename": "seat", "line": "B", "number": 1, "noise": { "deep": [1] } },
        { "__typename": "track", "id": 9 },
        { "__typename": "track", "id": 1, "name": "forged" },
        { "__typename": "seat", "line": "B", "number": 2 },
        { "__typename": "track", "id": 2 },
    ]);
    let beta = json!({ "__typename": "track", "id": 2, "name": "Beta" });
    let expected = json!([
        beta,
        { "__typename": "seat", "line": "B", "number": 1, "price": 30 },
        null,
        { "__typename": "track", "id": 1, "name": "Alpha" },
        null,
        beta,
    ]);
    assert_eq!(entities(&weir, &GATEWAY, &representations), (expected, vec![]));
    assert_eq!(entities(&weir, &GATEWAY, &json!([])), (json!([]), vec![]));
    let many: Vec<Value> = (0..1000).map(|it| json!({ "__typename": "track", "id": it % 5 })).collect();
    let (found, errors) = entities(&weir, &GATEWAY, &json!(many));
    let names = found.as_array().map(|it| it.iter().filter(|it| !it.is_null()).count());
    assert_eq!((names, errors.len()), (Some(600), 0));
}

#[test]
fn several_fields_literals_and_bare_names_are_answered() {
    let weir = serve();
    let query = "query Op($a: [_Any!]!, $n: Boolean! = true) {
        _v0: _entities(representations: $a) { ... on track { title: name @include(if: $n) } }
        _v1: _entities(representations: [{__typename: \"seat\", line: \"A\", number: 2}]) { ... on seat { price } }
        bare: _entities(representations: $a) { __typename }
        track { id } }";
    let variables = json!({ "a": [{ "__typename": "track", "id": 3 }, { "__typename": "track", "id": 4 }] });
    let json = post(&weir, &GATEWAY, query, &variables).json();
    assert_eq!(
        json["data"],
        json!({
            "_v0": [{ "title": "Gamma" }, null],
            "_v1": [{ "price": 20 }],
            "bare": [{ "__typename": "track" }, null],
            "track": [{ "id": 1 }, { "id": 2 }, { "id": 3 }],
        }),
        "{json}"
    );
    let json = post(
        &weir,
        &GATEWAY,
        "query ($a: [_Any!]!) { _entities(representations: $a) { ... on track { name } } }",
        &json!({ "a": [{ "__typename": "seat", "line": "A", "number": 1 }] }),
    )
    .json();
    assert_eq!(json["data"]["_entities"], json!([null]));
    assert_eq!(json["errors"][0]["message"], "representations[0]: nothing of `seat` is selected.", "{json}");
}

#[test]
fn a_wrong_representation_spoils_no_other() {
    let weir = serve();
    let cases = [
        (json!({ "__typename": "track", "id": "1" }), "`id` of `track` has to be an integer of 32 bits"),
        (json!({ "__typename": "track", "id": 1.0 }), "`id` of `track` has to be an integer of 32 bits"),
        (
            json!({ "__typename": "track", "id": 4294967297_i64 }),
            "`id` of `track` has to be an integer of 32 bits",
        ),
        (json!({ "__typename": "track", "id": [1] }), "`id` of `track` has to be an integer of 32 bits"),
        (json!({ "__typename": "track", "id": null }), "`track` needs the fields of a key: `id`"),
        (json!({ "__typename": "track", "name": "Alpha" }), "`track` needs the fields of a key: `id`"),
        (json!({ "__typename": "seat", "line": "A" }), "`seat` needs the fields of a key: `line number`"),
        (
            json!({ "__typename": "seat", "line": "A\u{0}", "number": 1 }),
            "`line` of `seat` has to be a text without NUL",
        ),
        (json!({ "__typename": "plain", "id": 1 }), "\"plain\" is no type that can be found here by a key"),
        (json!({ "__typename": "vault", "id": 1 }), "\"vault\" is no type that can be found here by a key"),
        (
            json!({ "__typename": "nonsense", "id": 1 }),
            "\"nonsense\" is no type that can be found here by a key",
        ),
        (json!({ "id": 1 }), "it has to be an object with `__typename`"),
        (json!(7), "it has to be an object with `__typename`"),
    ];
    for (wrong, message) in cases {
        let good = json!({ "__typename": "track", "id": 1 });
        let (found, errors) = entities(&weir, &GATEWAY, &json!([good, wrong, good]));
        let alpha = json!({ "__typename": "track", "id": 1, "name": "Alpha" });
        assert_eq!(found, json!([alpha, null, alpha]), "{wrong}");
        assert_eq!(errors, [format!("[\"_entities\",1] representations[1]: {message}.")], "{wrong}");
    }
    let digits = format!(
        r#"{{"query":"query ($r: [_Any!]!) {{ _entities(representations: $r) {{ ... on track {{ name }} }} }}","variables":{{"r":[{{"__typename":"track","id":{}}}]}}}}"#,
        "9".repeat(4000)
    );
    let answer = weir.post("/graphql", &GATEWAY, digits.as_bytes());
    assert!(answer.text().contains("has to be an integer of 32 bits"), "{answer:?}");
}

#[test]
fn permissions_hold_for_rows_keys_and_types() {
    let weir = serve();
    let all = json!([{ "__typename": "track", "id": 1 }, { "__typename": "track", "id": 3 }, { "__typename": "track", "id": 99 }]);
    let query = "query ($r: [_Any!]!) { _entities(representations: $r) { ... on track { name } } }";
    // A hidden row is as one that is not there.
    let answer = post(&weir, &CLERK, query, &json!({ "r": all }));
    assert_eq!(answer.text(), r#"{"data":{"_entities":[{"name":"Alpha"},null,null]}}"#);
    // A role that does not see the key cannot ask by it, though it sees the rows.
    let answer = post(&weir, &BLIND, query, &json!({ "r": [all[0]] }));
    let json = answer.json();
    assert_eq!(json["data"]["_entities"], json!([null]), "{json}");
    assert_eq!(
        json["errors"][0]["message"],
        "representations[0]: \"track\" is no type that can be found here by a key."
    );
    // A part of a key is no key.
    let query = "query ($r: [_Any!]!) { _entities(representations: $r) { ... on seat { price } } }";
    let answer =
        post(&weir, &BLIND, query, &json!({ "r": [{ "__typename": "seat", "line": "A", "number": 1 }] }));
    assert_eq!(answer.json()["data"]["_entities"], json!([null]), "{answer:?}");
    // Hidden fields and types do not exist, and the same words are for what never existed.
    for (role, query) in [
        (
            &GATEWAY,
            "{ _entities(representations: [{__typename: \"track\", id: 1}]) { ... on track { cost } } }",
        ),
        (
            &GATEWAY,
            "{ _entities(representations: [{__typename: \"vault\", id: 1}]) { ... on vault { code } } }",
        ),
        (
            &CLERK,
            "{ _entities(representations: [{__typename: \"seat\", line: \"A\", number: 1}]) { ... on seat { price } } }",
        ),
        (&GATEWAY, "{ entity_0(key0: 1) { name } }"),
    ] {
        let answer = post(&weir, role, query, &json!({}));
        assert!(answer.json()["data"].is_null() && !answer.code().is_empty(), "{query} {answer:?}");
    }
    let nobody = post(&weir, &[], "{ _entities(representations: []) { __typename } }", &json!({}));
    assert!(!nobody.text().contains("\"data\":{"), "{nobody:?}");
}

#[test]
fn limits_and_the_allow_list_count_entities_as_any_field() {
    let weir = serve_with("federation: {role: gateway, representations_max: 3}\nlimits: {depth_max: 2}");
    let key = json!({ "__typename": "track", "id": 1 });
    let query = "query ($r: [_Any!]!) { _entities(representations: $r) { ... on track { name } } }";
    assert_eq!(post(&weir, &GATEWAY, query, &json!({ "r": [key, key, key] })).code(), "");
    let answer = post(&weir, &GATEWAY, query, &json!({ "r": [key, key, key, key] }));
    assert_eq!(answer.code(), "LIMIT_REPRESENTATIONS", "{answer:?}");
    let weir = serve_with("federation: {role: gateway}\noperations: {allow_list: true}");
    let answer = post(&weir, &GATEWAY, query, &json!({ "r": [key] }));
    assert!(!answer.code().is_empty() && answer.json()["data"].is_null(), "{answer:?}");
    let answer = post(&weir, &GATEWAY, "{ _service { sdl } }", &json!({}));
    assert!(!answer.text().contains("extend schema"), "{answer:?}");
    // Where only stored documents are served, a gateway's texts are none.
    let weir = serve_with("federation: {role: gateway}\noperations: {persisted: {require_id: true}}");
    let answer = post(&weir, &GATEWAY, query, &json!({ "r": [key] }));
    assert_eq!(answer.code(), "PERSISTED_QUERY_ID_REQUIRED", "{answer:?}");
    // A rate counts requests, whatever the number of representations.
    let weir = serve_with(
        "federation: {role: gateway}\nlimits: {rates: [{name: few, requests: 2, window_s: 3600, burst: 2}]}",
    );
    let codes: Vec<String> =
        (0..3).map(|_| post(&weir, &GATEWAY, query, &json!({ "r": [key, key] })).code()).collect();
    assert_eq!(codes, ["", "", "LIMIT_RATE"]);
}

#[test]
fn texts_of_gateways_are_answered() {
    let weir = serve();
    let track = json!({ "__typename": "track", "id": 1 });
    let apollo = "query GetReviews__tracks__1($representations:[_Any!]!$n:Boolean=true){_entities(representations:$representations){...on track{name@include(if:$n)}}}";
    let answer = post(&weir, &GATEWAY, apollo, &json!({ "representations": [track, track] }));
    assert_eq!(answer.text(), r#"{"data":{"_entities":[{"name":"Alpha"},{"name":"Alpha"}]}}"#);
    let hive = "query Reviews($_v0_representations:[_Any!]!,$_v1_representations:[_Any!]!){_v0__entities:_entities(representations:$_v0_representations){__typename ...on track{name}}_v1__entities:_entities(representations:$_v1_representations){__typename ...on seat{price}}}";
    let variables = json!({ "_v0_representations": [track], "_v1_representations": [{ "__typename": "seat", "line": "A", "number": 1 }] });
    let answer = post(&weir, &GATEWAY, hive, &variables);
    assert_eq!(
        answer.text(),
        r#"{"data":{"_v0__entities":[{"__typename":"track","name":"Alpha"}],"_v1__entities":[{"__typename":"seat","price":10}]}}"#
    );
}

#[test]
fn a_check_tells_mistakes_of_the_setting() {
    let run = |setting: &str| {
        let folder = Folder::new();
        tables(&folder);
        folder.write("metadata.yaml", METADATA);
        let file = folder.write("weir.yaml", &format!("metadata: metadata.yaml\n{setting}\n"));
        let ran = command().arg("check").arg(&file).output().expect("it runs");
        let said = [ran.stdout, ran.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
        (ran.status.success(), said)
    };
    let (is_sound, said) = run("federation: {role: gateway}");
    assert!(
        is_sound && !said.contains("sees nothing") && !said.contains("live: source `federation`"),
        "{said}"
    );
    let (is_sound, said) = run("federation: {role: gatway}");
    assert!(
        is_sound && said.contains("the role `gatway` sees nothing, and so the subgraph is empty"),
        "{said}"
    );
    for (max, is_right) in [("0", false), ("1", true), ("10000", true), ("10001", false), ("-1", false)] {
        let (is_sound, said) = run(&format!("federation: {{role: gateway, representations_max: {max}}}"));
        assert_eq!(is_sound, is_right, "{max}: {said}");
        assert!(is_right || said.contains("representations_max"), "{max}: {said}");
    }
    let (is_sound, said) = run("limits: {cost: {weights: {track: -1}}}");
    assert!(!is_sound && said.contains("a weight is a whole number that is not negative"), "{said}");
}

#[test]
fn metadata_commands_switch_a_table_on_and_off() {
    let weir = serve();
    let set = |config: Value| {
        let args = json!({ "source": "default", "table": "plain", "apollo_federation_config": config });
        let command = json!({ "type": "sqlite_set_apollo_federation_config", "args": args });
        weir.post("/v1/metadata", &ADMIN, command.to_string().as_bytes())
    };
    let key = "type plain @key(fields: \"id\") {";
    let answer = set(json!({ "enable": "v1" }));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(text(&weir, &ADMIN).contains(key));
    let answer = set(json!(null));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(!text(&weir, &ADMIN).contains(key));
    assert_eq!(set(json!({ "enable": "v2" })).status, 400);
}

#[test]
fn native_types_are_found_by_id_and_by_each_key() {
    let folder = Folder::new();
    let types = folder.write("shop.graphql", "type Dish { id: ID!  code: String! @id  name: String }");
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nfederation: {{role: admin}}\nsources:\n  - {{name: main, native: {}}}\n",
        types.display()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let sdl = text(&weir, &ADMIN);
    assert!(sdl.contains("type Dish @key(fields: \"id\") @key(fields: \"code\") {"), "{sdl}");
    let add = "mutation { addDish(input: [{code: \"a\", name: \"Soup\"}, {code: \"b\", name: \"Pie\"}]) { dish { id } } }";
    let json = post(&weir, &ADMIN, add, &json!({})).json();
    let id = json["data"]["addDish"]["dish"][1]["id"].as_str().unwrap_or_else(|| panic!("{json}")).to_owned();
    let query = "query ($r: [_Any!]!) { _entities(representations: $r) { ... on Dish { name code } } }";
    let variables = json!({ "r": [
        { "__typename": "Dish", "code": "a" }, { "__typename": "Dish", "id": id }, { "__typename": "Dish", "code": "z" },
        { "__typename": "Dish", "id": "0xffff" }, { "__typename": "Dish", "id": "abc" },
    ] });
    let json = post(&weir, &ADMIN, query, &variables).json();
    let expected = json!([{ "name": "Soup", "code": "a" }, { "name": "Pie", "code": "b" }, null, null, null]);
    assert_eq!(json["data"]["_entities"], expected, "{json}");
    assert_eq!(json["errors"].as_array().map(Vec::len), Some(1), "{json}");
}

#[test]
fn services_are_found_by_their_entity_fields() {
    let upstream = Upstream::start_with(|asked| {
        let id = asked.line.rsplit('/').next().unwrap_or_default().to_owned();
        if id == "9" {
            (404, "{}".to_owned())
        } else {
            (200, json!({ "id": id, "name": format!("P{id}") }).to_string())
        }
    });
    let sdl = "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.2\", import: [\"@connect\"])
type Query { product(id: ID!): Product @connect(http: {GET: \"http://upstream/products/{$args.id}\"}, selection: \"id name\", entity: true) }
type Product { id: ID! name: String }";
    let yaml = "admin_secret: hush\nfederation: {role: admin}";
    let weir = Weir::with_services(sdl, upstream.address, yaml);
    let text = text(&weir, &ADMIN);
    assert!(text.contains("type Product @key(fields: \"id\") {"), "{text}");
    assert!(text.contains("type pet @key(fields: \"id\") {"), "tables without metadata are entities: {text}");
    let query = "query ($r: [_Any!]!) { _entities(representations: $r) { ... on Product { name } ... on pet { pet: name } } }";
    let variables = json!({ "r": [
        { "__typename": "Product", "id": "4" }, { "__typename": "pet", "id": 1 }, { "__typename": "Product", "id": 4 },
    ] });
    let json = post(&weir, &ADMIN, query, &variables).json();
    assert_eq!(
        json["data"]["_entities"],
        json!([{ "name": "P4" }, { "pet": "Ada" }, { "name": "P4" }]),
        "{json}"
    );
    let mut asked: Vec<String> = upstream.take_requests().into_iter().map(|it| it.line).collect();
    asked.dedup();
    assert_eq!(asked, ["GET /products/4"]);
}

/// Keys of several types; two tables whose keys other subgraphs write in forms of their own.
const KEYS: &str = "CREATE TABLE big (id int8 PRIMARY KEY, word text);
INSERT INTO big VALUES (9007199254740993, 'large'), (-5, 'small');
CREATE TABLE tagged (id uuid PRIMARY KEY, word text);
INSERT INTO tagged VALUES ('00000000-0000-0000-0000-00000000000a', 'ten');
CREATE TABLE pair (code text, size smallint, word text, PRIMARY KEY (code, size));
INSERT INTO pair VALUES ('NULL', 1, 'one'), ('{\"x\"}', -2, 'two');
CREATE TABLE priced (price numeric PRIMARY KEY, word text);
INSERT INTO priced VALUES (12345678901234567890.10, 'dear');
CREATE TABLE timed (day date PRIMARY KEY, word text);";

#[test]
fn keys_of_postgresql_are_one_statement_for_each_type() {
    let database = database(KEYS);
    let folder = Folder::new();
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nfederation: {{role: admin}}\nsources:\n  - {{name: main, url: '{}'}}\n",
        database.url()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let text = text(&weir, &ADMIN);
    assert!(
        text.contains("type pair @key(fields: \"code size\") {") && text.contains("type timed {"),
        "{text}"
    );
    let query = "query ($r: [_Any!]!) { _entities(representations: $r) {
        ... on big { word } ... on tagged { word } ... on pair { word } ... on priced { word } } }";
    let representations = json!([
        { "__typename": "big", "id": 9007199254740993_i64 }, { "__typename": "tagged", "id": "00000000-0000-0000-0000-00000000000A" },
        { "__typename": "big", "id": "9007199254740993" }, { "__typename": "pair", "code": "NULL", "size": 1 },
        { "__typename": "pair", "code": "{\"x\"}", "size": -2 }, { "__typename": "big", "id": "-5" },
        { "__typename": "tagged", "id": "00000000-0000-0000-0000-00000000000b" }, { "__typename": "priced", "price": "12345678901234567890.1" },
        { "__typename": "tagged", "id": "ten" }, { "__typename": "pair", "code": "NULL", "size": 70000 },
        { "__typename": "priced", "price": "1e400" }, { "__typename": "big", "id": "9223372036854775808" },
    ]);
    let variables = json!({ "r": representations });
    let json = post(&weir, &ADMIN, query, &variables).json();
    let words = ["large", "ten", "large", "one", "two", "small", "", "dear", "", "", "", ""];
    let expected = words.map(|it| if it.is_empty() { Value::Null } else { json!({ "word": it }) });
    assert_eq!(json["data"]["_entities"], json!(expected), "{json}");
    let failed =
        json["errors"].as_array().map(|all| all.iter().map(|it| it["path"][1].clone()).collect::<Vec<_>>());
    assert_eq!(failed, Some(vec![json!(8), json!(9), json!(10), json!(11)]), "{json}");
    let asked = json!({ "query": { "query": query, "variables": variables } }).to_string();
    let answer = weir.post("/v1/graphql/explain", &ADMIN, asked.as_bytes());
    let steps = answer.json();
    let of_database = steps.as_array().map(|all| all.iter().filter(|it| it["field"] != "federation").count());
    assert_eq!(of_database, Some(4), "{steps}");
}

#[test]
fn types_with_a_connect_are_asked_in_one_batch() {
    let upstream = Upstream::start_with(|asked| {
        let ids = asked.line.rsplit('=').next().unwrap_or_default().replace("%2C", ",");
        let items = ids
            .split(',')
            .filter(|it| *it != "9")
            .map(|it| json!({ "id": it, "name": format!("P{it}"), "maker": { "name": "M" } }));
        (200, json!(items.collect::<Vec<_>>()).to_string())
    });
    let sdl = "extend schema @link(url: \"https://specs.apollo.dev/connect/v0.2\", import: [\"@connect\"])
type Query { none: String @connect(http: {GET: \"http://upstream/none\"}, selection: \"$\") }
type Product @connect(http: {GET: \"http://upstream/products?ids={$batch.id->joinNotNull(',')}\"}, selection: \"id name maker { name }\") {
  id: ID! name: String maker: Maker }
type Maker { name: String }";
    let weir = Weir::with_services(sdl, upstream.address, "admin_secret: hush\nfederation: {role: admin}");
    let text = text(&weir, &ADMIN);
    assert!(text.contains("type Product @key(fields: \"id\") {"), "{text}");
    let query = "query ($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Product { again: id id name maker { name } } } }";
    let ids = ["1", "2", "9", "1"];
    let variables = json!({ "r": ids.map(|id| json!({ "__typename": "Product", "id": id })) });
    let json = post(&weir, &ADMIN, query, &variables).json();
    let expected = ids.map(|id| {
        let is_there = id != "9";
        let name = is_there.then(|| format!("P{id}"));
        let maker = is_there.then(|| json!({ "name": "M" }));
        json!({ "__typename": "Product", "again": id, "id": id, "name": name, "maker": maker })
    });
    assert_eq!(json["data"]["_entities"], json!(expected), "{json}");
    let asked = upstream.take_requests();
    let lines: Vec<&str> = asked.iter().map(|it| it.line.as_str()).collect();
    assert_eq!(lines, ["GET /products?ids=1%2C2%2C9"]);
    assert!(asked[0].headers.iter().any(|it| it.0 == "x-request-id"), "a batch has the id of the request");
    let query = "query ($r: [_Any!]!) { _entities(representations: $r) { ... on Product { id } } }";
    let json = post(&weir, &ADMIN, query, &variables).json();
    assert_eq!(json["data"]["_entities"][0], json!({ "id": "1" }), "{json}");
    assert_eq!(upstream.take_requests().len(), 0, "the key alone needs no call");
}

#[test]
fn an_entity_costs_as_an_object_and_rules_of_services_stay() {
    let folder = Folder::new();
    tables(&folder);
    folder.write("metadata.yaml", METADATA);
    let service = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cost", "@listSize"])
  @source(name: "s", http: {baseURL: "http://127.0.0.1:9"})
type Query {
  words(first: Int): [Word] @listSize(slicingArguments: ["first"]) @connect(source: "s", http: {GET: "/"}, selection: "w")
}
type Word @cost(weight: 2) { w: String }
"#;
    folder.write("words.graphql", service);
    let yaml = "listen: 127.0.0.1:0
admin_secret: hush
metadata: metadata.yaml
federation: {role: gateway}
sources: [{name: words, file: words.graphql}]
limits: {cost: {max: 4, roles: {gateway: 4, admin: 4}}}
";
    let weir = Weir::by_file(&folder.write("weir.yaml", yaml), folder);
    let refused = |role: &[(&str, &str)], query: &str, variables: &Value| {
        let answer = post(&weir, role, query, variables);
        answer.json()["errors"][0]["extensions"]["cost"]["estimated"].as_u64().unwrap_or(0)
    };
    let tracks = |count: usize| vec![json!({ "__typename": "track", "id": 1 }); count];
    let field = "{ ... on track { id } }";
    for count in [0, 1, 4, 5, 900] {
        let expected = if count > 4 { count as u64 } else { 0 };
        let whole = format!("query ($r: [_Any!]!) {{ _entities(representations: $r) {field} }}");
        assert_eq!(refused(&GATEWAY, &whole, &json!({ "r": tracks(count) })), expected, "{count}");
        let each =
            format!("query ($a: _Any!) {{ _entities(representations: [{}]) {field} }}", "$a ".repeat(count));
        assert_eq!(refused(&GATEWAY, &each, &json!({ "a": tracks(1)[0] })), expected, "{count} variables");
    }
    assert_eq!(refused(&ADMIN, "{ words(first: 3) { w } }", &json!({})), 6);
    assert_eq!(refused(&ADMIN, "{ words(first: 2) { w } }", &json!({})), 0);
}
