//! Saved operations over real sockets: the allow list, REST endpoints, introspection by role.

use crate::support::{Answer, Folder, Weir, body, command};
use std::io::{Read, Write};

/// Pets that the role `user` sees, but for Cyd; saved queries, endpoints, and roles without introspection.
const YAML: &str = r#"
admin_secret: hush
operations:
  allow_list: false
  introspection_disabled_for_roles: [user]
  collections:
    - name: pets
      definition:
        queries:
          - {name: one, query: "query One($id: Int!) { pet_by_pk(id: $id) { id name } }"}
          - {name: named, query: "query ($name: String, $limit: Int = 1) { pet(where: {name: {_eq: $name}}, limit: $limit) { id } }"}
          - {name: all, query: "query All { pet(order_by: {id: asc}) { id name } }"}
          - {name: add, query: "mutation ($id: Int!, $name: String!) { insert_pet_one(object: {id: $id, name: $name}) { name } }"}
          - {name: flag, query: "query ($with: Boolean!) { pet(limit: 1) { id name @include(if: $with) } }"}
          - {name: listed, query: "query ($ids: [Int!]) { pet(where: {id: {_in: $ids}}) { id } }"}
          - {name: bare, query: "{ pet { id } }"}
          - {name: two, query: "query A { pet { id } } query B { pet { id } }"}
          - {name: lost, query: "query { cat { id } }"}
    - name: captains
      definition: {queries: [{name: ids, query: "query Ids { pet { id } }"}]}
  allowlist:
    - {collection: pets}
    - {collection: captains, scope: {global: false, roles: [captain]}}
    - {collection: nowhere}
  rest_endpoints:
    - {name: one, url: "pet/:id", methods: [GET, POST], definition: {query: {collection_name: pets, query_name: one}}}
    - {name: clash, url: "pet/7", methods: [GET], definition: {query: {collection_name: pets, query_name: all}}}
    - {name: named, url: "named", methods: [GET, POST, PUT], definition: {query: {collection_name: pets, query_name: named}}}
    - {name: all, url: "all/pets", methods: [GET], definition: {query: {collection_name: pets, query_name: all}}, comment: "Every pet."}
    - {name: add, url: "add/:id", methods: [POST, PUT], definition: {query: {collection_name: pets, query_name: add}}}
    - {name: flag, url: "flag", methods: [GET], definition: {query: {collection_name: pets, query_name: flag}}}
    - {name: listed, url: "listed", methods: [GET, POST], definition: {query: {collection_name: pets, query_name: listed}}}
    - {name: bare, url: "bare", methods: [GET], definition: {query: {collection_name: pets, query_name: bare}}}
    - {name: two, url: "two", methods: [GET], definition: {query: {collection_name: pets, query_name: two}}}
    - {name: none, url: "none", methods: [GET], definition: {query: {collection_name: pets, query_name: nothing}}}
    - {name: empty, url: "a//b", methods: [GET], definition: {query: {collection_name: pets, query_name: all}}}
"#;

/// The source of the pets, with permissions.
const SOURCES: &str = "sources:
  - name: pets
    url: sqlite:pets.db
    tables:
      - table: pet
        select_permissions:
          - {role: user, permission: {columns: [id, name], filter: {id: {_lt: 3}}}}
          - {role: captain, permission: {columns: [id], filter: {}}}
";

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
const USER: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "user")];
const CAPTAIN: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "captain")];

/// Serves the pets by `yaml`.
fn serve_operations(yaml: &str) -> Weir {
    let folder = Folder::new();
    folder.pets();
    let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\n{SOURCES}{yaml}"));
    Weir::by_file(&file, folder)
}

fn call(weir: &Weir, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
    weir.raw(&crate::support::message(method, path, headers, body.map(str::as_bytes)))
}

/// Checks status and body.
fn check(answer: &Answer, status: u16, expected: &str) {
    assert_eq!((answer.status, answer.text()), (status, expected));
}

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const ONE: &str = r#"{"pet_by_pk":{"id":1,"name":"Ada"}}"#;
const ID: &str = r#"{"pet":[{"id":1}]}"#;

/// Method, path, content type, body; status and answer.
type Call = (
    &'static str,
    &'static str,
    Option<(&'static str, &'static str)>,
    Option<&'static str>,
    u16,
    &'static str,
);

const CALLS: &[Call] = &[
    ("GET", "pet/1", None, None, 200, ONE),
    ("GET", "pet/%31", None, None, 200, ONE),
    ("POST", "pet/1", None, None, 200, ONE),
    ("POST", "pet/1", Some(JSON), Some(r#"{"id":2}"#), 200, ONE),
    ("GET", "named?name=Ada", None, None, 200, ID),
    ("GET", "named?name=A%64a&limit=5", None, None, 200, ID),
    ("POST", "named", Some(JSON), Some(r#"{"name":"Ada"}"#), 200, ID),
    ("POST", "named", Some(FORM), Some("name=Ada&limit="), 200, ID),
    ("PUT", "named?name=Ada", None, Some("[1]"), 200, ID),
    ("GET", "flag?with", None, None, 200, r#"{"pet":[{"id":1,"name":"Ada"}]}"#),
    ("GET", "flag?with=false", None, None, 200, ID),
    ("POST", "listed", Some(JSON), Some(r#"{"ids":[1]}"#), 200, ID),
    ("POST", "add/9", Some(JSON), Some(r#"{"name":"Zoe"}"#), 200, r#"{"insert_pet_one":{"name":"Zoe"}}"#),
    (
        "GET",
        "named?nome=Ada",
        None,
        None,
        400,
        r#"{"error":"Unexpected variable nome","path":"$","code":"bad-request"}"#,
    ),
    (
        "POST",
        "named",
        Some(JSON),
        Some(r#"{"nome":1}"#),
        400,
        r#"{"error":"Unexpected variable nome","path":"$","code":"bad-request"}"#,
    ),
    (
        "GET",
        "listed?ids=1,2",
        None,
        None,
        400,
        r#"{"error":"List variables are not currently supported in URL or Query parameters. (Variable ids, with value \"1,2\")","path":"$","code":"bad-request"}"#,
    ),
    (
        "GET",
        "pet/7",
        None,
        None,
        500,
        r#"{"error":"Multiple endpoints match request","path":"$","code":"unexpected"}"#,
    ),
    (
        "DELETE",
        "pet/1",
        None,
        None,
        405,
        r#"{"error":"Allowed methods: GET, POST","path":"$","code":"method-not-allowed"}"#,
    ),
    ("GET", "nothing", None, None, 404, r#"{"error":"Endpoint not found","path":"$","code":"not-found"}"#),
    ("GET", "bare", None, None, 404, r#"{"error":"Endpoint not found","path":"$","code":"not-found"}"#),
    ("GET", "two", None, None, 404, r#"{"error":"Endpoint not found","path":"$","code":"not-found"}"#),
];

#[test]
fn endpoints_run_saved_queries() {
    let weir = serve_operations(YAML);
    for (method, path, kind, body, status, expected) in CALLS {
        let method = *method;
        let path = *path;
        let kind = *kind;
        let body = *body;
        let status = *status;
        let expected = *expected;
        let headers: Vec<_> = kind.into_iter().chain([SECRET]).collect();
        let answer = call(&weir, method, &format!("/api/rest/{path}"), &headers, body);
        assert_eq!((answer.status, answer.text()), (status, expected), "{method} {path}");
    }
    let text = call(&weir, "GET", "/api/rest/pet/seven", &[SECRET], None);
    assert_eq!(
        (text.status, text.json()["code"].as_str()),
        (400, Some("validation-failed")),
        "{}",
        text.text()
    );
    let missing = call(&weir, "POST", "/api/rest/add/10", &[SECRET], None);
    assert!(
        missing.status == 400 && missing.text().contains("expecting a value for non-nullable variable"),
        "{}",
        missing.text()
    );
    for method in ["HEAD", "OPTIONS"] {
        let close = ("connection", "close");
        let mut socket = weir.connect();
        let sent = crate::support::message(method, "/api/rest/pet/1", &[SECRET, close], None);
        socket.write_all(&sent).expect("it is sent");
        let mut head = String::new();
        socket.read_to_string(&mut head).expect("the server closes");
        assert!(head.starts_with("HTTP/1.1 400"), "{method}: {head}");
    }
}

#[test]
fn a_long_answer_is_the_data_alone_too() {
    let weir = serve_operations(YAML);
    let database = rusqlite::Connection::open(weir.folder().file("pets.db")).expect("SQLite opens it");
    let more = "INSERT INTO pet SELECT value, 'pet ' || value FROM (WITH RECURSIVE n(value) AS (SELECT 10 UNION ALL SELECT value + 1 FROM n WHERE value < 60000) SELECT value FROM n)";
    database.execute_batch(more).expect("the statement is right");
    let answer = weir.get("/api/rest/all/pets", &[SECRET]);
    assert_eq!((answer.status, answer.header("transfer-encoding")), (200, Some("chunked")));
    let pets = answer.json();
    let pets = pets["pet"].as_array().expect("it is the list");
    assert_eq!((pets.len(), pets[0]["name"].as_str()), (59_994, Some("Ada")));
}

#[test]
fn endpoints_know_callers_and_roles() {
    let weir = serve_operations(YAML);
    check(
        &weir.get("/api/rest/pet/1", &[]),
        401,
        r#"{"error":"\"x-hasura-admin-secret\"/\"x-hasura-access-key\" required, but not found","path":"$","code":"access-denied"}"#,
    );
    check(&weir.get("/api/rest/pet/3", &USER), 200, r#"{"pet_by_pk":null}"#);
    check(&weir.get("/api/rest/pet/2", &USER), 200, r#"{"pet_by_pk":{"id":2,"name":"Bob"}}"#);
    let hidden = weir.get("/api/rest/pet/2", &CAPTAIN);
    assert_eq!((hidden.status, hidden.json()["code"].as_str()), (400, Some("validation-failed")));
    let other = weir.get("/api/rest/pet/2", &[SECRET, ("x-hasura-role", "nobody")]);
    assert_eq!(other.status, 400, "{}", other.text());
}

#[test]
fn pages_of_other_origins_start_no_endpoint_unasked() {
    let folder = Folder::new();
    folder.pets();
    let yaml = YAML.replace("admin_secret: hush\n", "");
    let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\n{SOURCES}{yaml}"));
    let weir = Weir::by_file(&file, folder);
    let evil = ("origin", "http://evil.example");
    let answer = call(&weir, "POST", "/api/rest/add/9?name=a", &[evil], None);
    assert_eq!((answer.status, answer.json()["code"].as_str()), (403, Some("access-denied")));
    assert_eq!(call(&weir, "POST", "/api/rest/add/9?name=a", &[], None).status, 200);
}

#[test]
fn the_allow_list_compares_documents_on_every_way_in() {
    let weir = serve_operations(&YAML.replace("allow_list: false", "allow_list: true"));
    let refused = r#"{"errors":[{"message":"query is not allowed","extensions":{"path":"$","code":"validation-failed"}}]}"#;
    let ask =
        |headers: &[(&str, &str)], query: &str| weir.post("/v1/graphql", headers, body(query).as_bytes());
    let all = "query All { pet(order_by: {id: asc}) { id name } }";
    let expected = r#"{"data":{"pet":[{"id":1,"name":"Ada"},{"id":2,"name":"Bob"}]}}"#;
    for _ in 0..2 {
        check(&ask(&USER, all), 200, expected);
        check(&ask(&USER, "query All{pet(order_by:{id:asc}){id,name}} # more"), 200, expected);
    }
    let typed = ask(&USER, "query All { pet(order_by: {id: asc}) { __typename id name } __typename }");
    assert!(typed.text().contains(r#""__typename":"pet""#), "{}", typed.text());
    for query in [
        "query Other { pet(order_by: {id: asc}) { id name } }",
        "{ __schema { queryType { name } } }",
        "query Ids { pet { id } }",
    ] {
        check(&ask(&USER, query), 200, refused);
    }
    assert!(ask(&CAPTAIN, "query Ids { pet { id __typename } }").text().contains("\"data\""));
    assert!(ask(&[SECRET], "{ pet { name } }").text().contains("\"data\""));
    assert_eq!(ask(&USER, "{ pet {").code(), "validation-failed");
    let get = weir.get("/graphql?query=%7Bpet%7Bname%7D%7D", &USER);
    assert_eq!((get.code(), get.text().contains("query is not allowed")), ("QUERY_NOT_ALLOWED".into(), true));
    let list = format!("[{},{}]", body(all), body("{ pet { name } }"));
    check(&weir.post("/v1/graphql", &USER, list.as_bytes()), 200, &format!("[{expected},{refused}]"));
    check(
        &weir.get("/api/rest/all/pets", &USER),
        200,
        r#"{"pet":[{"id":1,"name":"Ada"},{"id":2,"name":"Bob"}]}"#,
    );
    let alpha = weir.post("/v1alpha1/graphql", &USER, body("{ pet { name } }").as_bytes());
    check(&alpha, 400, refused);
}

#[test]
fn the_older_address_tells_errors_by_the_status_too() {
    let weir = serve_operations(YAML);
    let twice = "mutation { insert_pet_one(object: {id: 1, name: \"Eve\"}) { id } }";
    let ask = |path: &str, query: &str| weir.post(path, &[SECRET], body(query).as_bytes());
    let older = ask("/v1alpha1/graphql", twice);
    let newer = ask("/v1/graphql", twice);
    assert_eq!((older.status, newer.status, older.code()), (400, 200, "constraint-violation".into()));
    assert_eq!(older.text(), newer.text());
    assert_eq!(ask("/v1alpha1/graphql", "{ pet_by_pk(id: 1) { name } }").status, 200);
}

#[test]
fn an_endpoint_s_query_has_to_be_allowed_too() {
    let yaml =
        YAML.replace("allow_list: false", "allow_list: true").replace("    - {collection: pets}\n", "");
    let weir = serve_operations(&yaml);
    check(
        &weir.get("/api/rest/all/pets", &USER),
        400,
        r#"{"error":"query is not allowed","path":"$","code":"validation-failed"}"#,
    );
    assert_eq!(weir.get("/api/rest/all/pets", &[SECRET]).status, 200);
}

#[test]
fn the_environment_switches_the_allow_list() {
    let folder = Folder::new();
    folder.pets();
    let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\n{SOURCES}{YAML}"));
    let mut with = command();
    with.args(["serve".as_ref(), file.as_os_str()]).env("HASURA_GRAPHQL_ENABLE_ALLOWLIST", "true");
    let weir = Weir::run(&mut with, folder);
    let answer = weir.post("/v1/graphql", &USER, body("{ pet { name } }").as_bytes());
    assert!(answer.text().contains("query is not allowed"), "{}", answer.text());
}

#[test]
fn introspection_is_off_for_the_roles_that_are_named() {
    let weir = serve_operations(YAML);
    let ask = |door: &str, headers: &[(&str, &str)]| {
        weir.post(door, headers, body("{ __schema { queryType { name } } }").as_bytes())
    };
    check(
        &ask("/v1/graphql", &USER),
        200,
        r#"{"errors":[{"message":"field '__schema' not found in type: 'query_root'","extensions":{"path":"$.selectionSet.__schema","code":"validation-failed"}}]}"#,
    );
    assert_eq!(ask("/graphql", &USER).code(), "INTROSPECTION_DISABLED");
    for headers in [&CAPTAIN[..], &[SECRET]] {
        assert!(ask("/v1/graphql", headers).text().contains("query_root"));
    }
    let typename = weir.post("/v1/graphql", &USER, body("{ __typename }").as_bytes());
    check(&typename, 200, r#"{"data":{"__typename":"query_root"}}"#);
}

#[test]
fn what_does_not_fit_is_told_by_check() {
    let folder = Folder::new();
    folder.pets();
    let file = folder.write("weir.yaml", &format!("{SOURCES}{YAML}"));
    let output = command().args(["check".as_ref(), file.as_os_str()]).output().expect("weir runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in [
        "weir.yaml:26:13: operations.collections[0].definition.queries[8]: in query \"lost\": ",
        "operations.allowlist[2]: the collection `nowhere` does not exist",
        "operations.rest_endpoints[1]: Ambiguous URL paths: pet/:id, pet/7",
        "operations.rest_endpoints[7]: query with name bare has no keyword",
        "operations.rest_endpoints[8]: query with name two has multiple definitions.",
        "operations.rest_endpoints[9]: query with name \"nothing\" does not exist in the collection \"pets\"",
        "operations.rest_endpoints[10]: Empty segments or unnamed variables are not allowed: a//b",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    assert!(!output.status.success());
    let broken = YAML.replace("{ cat { id } }", "{ cat { id }");
    let file = folder.write("weir.yaml", &format!("{SOURCES}{broken}"));
    let output = command().args(["check".as_ref(), file.as_os_str()]).output().expect("weir runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("in query \"lost\": it is no GraphQL"), "{told}");
}

#[test]
fn a_role_is_explained_with_its_claims() {
    let folder = Folder::new();
    folder.pets();
    let sources = SOURCES.replace("{id: {_lt: 3}}", "{id: {_eq: X-Hasura-User-Id}}");
    let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\nadmin_secret: hush\n{sources}"));
    let explain = |more: &[&str]| {
        let mut command = command();
        command.args(["explain".as_ref(), "{ pet { id } }".as_ref(), file.as_os_str()]).args(more);
        let output = command.output().expect("weir runs");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let admin = explain(&[]);
    let user = explain(&["--role", "user", "--claims", r#"{"x-hasura-user-id": "7"}"#]);
    assert!(admin.contains("SELECT") && user.contains("SELECT") && admin != user, "{admin}\n{user}");
    assert!(explain(&["--role", "nobody"]).contains("GRAPHQL_VALIDATION_FAILED"));
    assert!(explain(&["--claims", "[1]"]).contains("--claims"));
    assert!(explain(&["--claims", r#"{"x-hasura-user-id": 7}"#]).contains("has to be a text"));
    let weir = Weir::by_file(&file, folder);
    let ask = |more: &str| {
        weir.post("/v1/explain", &[SECRET], format!(r#"{{"query":"{{ pet {{ id }} }}"{more}}}"#).as_bytes())
    };
    assert_eq!(ask("").status, 200);
    assert_ne!(ask("").text(), ask(r#","role":"user","claims":{"x-hasura-user-id":"7"}"#).text());
    assert_eq!(ask(r#","role":"nobody""#).status, 400);
    assert_eq!(ask(r#","role":7"#).status, 400);
}

#[test]
fn the_openapi_document_is_whole() {
    let weir = serve_operations(YAML);
    assert_eq!(weir.get("/api/swagger/json", &[]).status, 401);
    check(
        &weir.get("/api/swagger/json", &USER),
        400,
        r#"{"error":"restricted access : admin only","path":"$","code":"access-denied"}"#,
    );
    let answer = weir.get("/api/swagger/json", &[SECRET]);
    let document = answer.json();
    assert_eq!((answer.status, document["openapi"].as_str()), (200, Some("3.0.0")), "{}", answer.text());
    assert_eq!(document["info"]["title"], "Rest Endpoints");
    let paths = document["paths"].as_object().expect("there are paths");
    assert!(paths.contains_key("/api/rest/pet/{id}") && paths.contains_key("/api/rest/all/pets"));
    let mut operations = 0;
    for (path, item) in paths {
        for (method, operation) in item.as_object().expect("a path has operations") {
            operations += 1;
            assert!(["get", "post", "put", "patch", "delete"].contains(&method.as_str()), "{method}");
            let parameters = operation["parameters"].as_array().expect("there is a list");
            let mut in_path: Vec<String> = Vec::new();
            for parameter in parameters {
                assert!(
                    parameter["name"].is_string() && parameter["schema"]["type"].is_string(),
                    "{parameter}"
                );
                if parameter["in"] == "path" {
                    assert_eq!(parameter["required"], true);
                    in_path.push(format!("{{{}}}", parameter["name"].as_str().expect("it is a text")));
                }
            }
            assert_eq!(path.matches('{').count(), in_path.len(), "{path}");
            assert!(in_path.iter().all(|it| path.contains(it)), "{path}");
            assert!(operation["responses"]["200"]["content"]["application/json"]["schema"].is_object());
            assert!(method != "get" || operation.get("requestBody").is_none());
        }
    }
    assert_eq!(operations, 12);
    let text = answer.text();
    for part in text.split("\"$ref\":\"").skip(1) {
        let name = part.split('"').next().and_then(|it| it.strip_prefix("#/components/schemas/"));
        assert!(name.is_some_and(|it| document["components"]["schemas"][it].is_object()), "{name:?}");
    }
    let all = &document["paths"]["/api/rest/all/pets"]["get"];
    assert!(all["description"].as_str().is_some_and(|it| it.starts_with("Every pet.\n")), "{all}");
    let pet = &all["responses"]["200"]["content"]["application/json"]["schema"]["properties"]["pet"];
    assert_eq!(
        (pet["type"].as_str(), pet["items"]["properties"]["name"]["$ref"].as_str()),
        (Some("array"), Some("#/components/schemas/String"))
    );
}
