//! Sources whose root fields stand in one field of the graph's roots.

use crate::postgres_kit::database;
use crate::support::{Answer, Folder, Weir, body};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

/// A configuration with two sources of pets, of which the second has a namespace.
fn yaml([first, second]: [&str; 2]) -> String {
    format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\ninherited_roles: []\nsources:\n- {{name: plain, url: \"{first}\", group_by: false}}\n\
         - name: fleet\n  url: \"{second}\"\n  group_by: false\n  customization: {{root_fields: {{namespace: fleet, prefix: my_}}, \
         type_names: {{prefix: fleet_}}}}\n  tables:\n  - table: pet\n    select_permissions:\n    - role: user\n      \
         permission: {{columns: [id, name], filter: {{id: {{_lt: 3}}}}, query_root_fields: [select]}}\n"
    )
}

/// Serves two files.
fn serve_namespaces() -> Weir {
    let folder = Folder::new();
    folder.pets();
    let connection = rusqlite::Connection::open(folder.file("fleet.db")).expect("SQLite makes a file");
    connection.execute_batch(PETS).expect("the statements are right");
    let file = folder.write("weir.yaml", &yaml(["pets.db", "fleet.db"]));
    Weir::by_file(&file, folder)
}

const PETS: &str = "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE); INSERT INTO pet VALUES (1, 'Eve'), (2, 'Fay'), (3, 'Gus')";

fn ask(weir: &Weir, path: &str, query: &str) -> Answer {
    weir.post(path, &[SECRET], body(query).as_bytes())
}

fn check(answer: &Answer, expected: &str) {
    assert_eq!(answer.text(), expected);
}

/// Reads, writes and fails in the namespace.
fn behaves(weir: &Weir) {
    let read = "{ pet_by_pk(id: 1) { name } a: fleet { __typename my_pet(order_by: {id: asc}, limit: 1) { id __typename } } \
                fleet { x: my_pet_by_pk(id: 2) { name } my_pet_by_pk(id: 2) { name } my_pet_aggregate { aggregate { count } } } }";
    let answer = r#"{"data":{"pet_by_pk":{"name":"Ada"},"a":{"__typename":"fleet_query","my_pet":[{"id":1,"__typename":"fleet_pet"}]},"fleet":{"x":{"name":"Fay"},"my_pet_by_pk":{"name":"Fay"},"my_pet_aggregate":{"aggregate":{"count":3}}}}}"#;
    for path in ["/graphql", "/v1/graphql"] {
        check(&ask(weir, path, read), answer);
    }
    let skipped = r#"query q($no: Boolean = false) { fleet { my_pet @include(if: $no) { id } } pet_by_pk(id: 1) { id } }"#;
    check(&ask(weir, "/graphql", skipped), r#"{"data":{"fleet":{},"pet_by_pk":{"id":1}}}"#);
    let write = "mutation { a: fleet { my_insert_pet_one(object: {id: 7, name: \"Hal\"}) { id } my_delete_pet_by_pk(id: 7) { name } } \
                 insert_pet_one(object: {id: 8, name: \"Ivy\"}) { id } fleet { __typename my_update_pet(where: {id: {_eq: 3}}, _set: {name: \"Gil\"}) { affected_rows } } }";
    check(
        &ask(weir, "/graphql", write),
        r#"{"data":{"a":{"my_insert_pet_one":{"id":7},"my_delete_pet_by_pk":{"name":"Hal"}},"insert_pet_one":{"id":8},"fleet":{"__typename":"fleet_mutation_frontend","my_update_pet":{"affected_rows":1}}}}"#,
    );
    // Neither member of the run is done.
    let broken = "mutation { fleet { one: my_insert_pet_one(object: {id: 9, name: \"Jon\"}) { id } two: my_insert_pet_one(object: {id: 1, name: \"Kim\"}) { id } } }";
    let failed = ask(weir, "/graphql", broken).json();
    assert_eq!(failed["errors"][0]["path"], serde_json::json!(["fleet", "two"]), "{failed}");
    let failed = ask(weir, "/v1/graphql", broken).json();
    assert_eq!(
        failed["errors"][0]["extensions"]["path"], "$.selectionSet.fleet.selectionSet.two.args.object",
        "{failed}"
    );
    check(
        &ask(weir, "/graphql", "{ fleet { my_pet_by_pk(id: 9) { id } } }"),
        r#"{"data":{"fleet":{"my_pet_by_pk":null}}}"#,
    );
}

#[test]
fn a_namespace_holds_the_root_fields_of_its_source() {
    behaves(&serve_namespaces());
}

#[test]
fn a_namespace_holds_the_root_fields_of_a_server() {
    let sql = PETS.replace("INTEGER", "int");
    let databases = [database(&sql.replace("Eve", "Ada")), database(&sql)];
    let folder = Folder::new();
    let file = folder.write("weir.yaml", &yaml([&databases[0].url(), &databases[1].url()]));
    behaves(&Weir::by_file(&file, folder));
}

#[test]
fn a_role_sees_of_a_namespace_what_it_may_ask() {
    let weir = serve_namespaces();
    let as_user = |query: &str| {
        weir.post("/graphql", &[SECRET, ("x-hasura-role", "user")], body(query).as_bytes()).text().to_owned()
    };
    assert_eq!(
        as_user("{ fleet { my_pet { id } } }"),
        r#"{"data":{"fleet":{"my_pet":[{"id":1},{"id":2}]}}}"#
    );
    let seen = as_user(
        "{ __type(name: \"fleet_query\") { fields { name } } m: __type(name: \"fleet_mutation_frontend\") { name } \
         __schema { queryType { fields { name type { kind ofType { name } } } } } }",
    );
    assert_eq!(
        seen,
        r#"{"data":{"__type":{"fields":[{"name":"my_pet"}]},"m":null,"__schema":{"queryType":{"fields":[{"name":"fleet","type":{"kind":"NON_NULL","ofType":{"name":"fleet_query"}}}]}}}}"#
    );
    let nobody = weir.post(
        "/graphql",
        &[SECRET, ("x-hasura-role", "nobody")],
        body("{ fleet { __typename } }").as_bytes(),
    );
    assert!(nobody.text().contains("Cannot query field"), "{}", nobody.text());
}

#[test]
fn a_long_answer_in_a_namespace_leaves_in_parts() {
    let folder = Folder::new();
    let connection = rusqlite::Connection::open(folder.file("long.db")).expect("SQLite makes a file");
    let rows = "CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
                WHERE i < 20000) INSERT INTO word SELECT i, hex(randomblob(20)) FROM n";
    connection.execute_batch(rows).expect("the statements are right");
    drop(connection);
    let yaml = "listen: 127.0.0.1:0\nsources:\n- name: long\n  url: long.db\n  customization: {root_fields: {namespace: long}}\n";
    let file = folder.write("weir.yaml", yaml);
    let weir = Weir::by_file(&file, folder);
    for query in ["{ long { word { id text } } }", "{ long { word { id text } __typename } end: __typename }"]
    {
        let answer = weir.query(query).json();
        let words = answer["data"]["long"]["word"].as_array().map(Vec::len);
        assert_eq!(words, Some(20_000), "{:?}", answer["errors"]);
    }
}
