//! Pages of operators about a running server: saved documents, samples of operations, live queries. Tests of who may read them, and that they hold no values.

use crate::sockets::{ACK, NEW, begin, hear, say, socket};
use crate::support::{Answer, Folder, Weir, body};
use serde_json::{Value, json};

const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");
const USER: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "user")];

const YAML: &str = r#"listen: 127.0.0.1:0
admin_secret: hush
sources:
  - name: pets
    url: sqlite:pets.db
    tables:
      - table: pet
        select_permissions:
          - {role: user, permission: {columns: [id, name], filter: {}}}
operations:
  allow_list: false
  persisted:
    files: [{path: web.json, collection: web}]
  collections:
    - name: staff
      definition:
        queries:
          - {name: by_id, query: "query ById($id: Int!) { pet_by_pk(id: $id) { name } }"}
          - {name: broken, query: "{"}
  allowlist:
    - {collection: staff, scope: {global: false, roles: [user]}}
  rest_endpoints:
    - {name: pet, url: "pet/:id", methods: [GET], definition: {query: {collection_name: staff, query_name: by_id}}}
"#;

fn serve() -> Weir {
    let folder = Folder::new();
    folder.pets();
    let many: serde_json::Map<String, Value> = (0..150)
        .map(|it| (format!("id{it:03}"), json!(format!("query Doc{it:03} {{ pet {{ id }} }}"))))
        .collect();
    folder.write("web.json", &Value::Object(many).to_string());
    let file = folder.write("weir.yaml", YAML);
    Weir::by_file(&file, folder)
}

fn ask(weir: &Weir, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    weir.post(path, headers, body.to_string().as_bytes())
}

#[test]
fn saved_documents_are_told_page_by_page_with_their_identifiers() {
    let weir = serve();
    let page = |asked: Value| {
        let answer = ask(&weir, "/admin/documents", &[SECRET], &asked);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    let first = page(json!({}));
    assert_eq!((&first["total"], &first["next"]), (&json!(151), &json!(100)));
    assert_eq!(first["documents"][0]["name"], "by_id", "what is no GraphQL is no document");
    assert_eq!(
        (&first["documents"][1]["ids"], &first["documents"][1]["collection"]),
        (&json!(["id000"]), &json!("web"))
    );
    let second = page(json!({"after": 100}));
    assert_eq!((second["documents"].as_array().map(Vec::len), &second["next"]), (Some(51), &Value::Null));
    let found = page(json!({"search": "ID07"}));
    assert_eq!((&found["total"], &found["documents"][9]["name"]), (&json!(10), &json!("Doc079")));
    let collections = first["collections"].as_array().expect("a list");
    let origins: Vec<_> = collections.iter().map(|it| (&it["name"], &it["origin"], &it["allowed"])).collect();
    let allowed = json!({"global": false, "roles": ["user"]});
    assert_eq!(
        origins,
        [(&json!("staff"), &json!("settings"), &allowed), (&json!("web"), &json!("file"), &Value::Null)]
    );
    let endpoint = &first["endpoints"][0];
    assert_eq!((&endpoint["url"], &endpoint["methods"]), (&json!("pet/:id"), &json!(["GET"])));
    assert_eq!(endpoint["variables"][0]["type"], "Int");
    assert_eq!((&first["allow_list"], &first["agents"]), (&json!(false), &json!(false)));
    let wrong = ask(&weir, "/admin/documents", &[SECRET], &json!({"after": -1}));
    assert_eq!(wrong.status, 400, "{}", wrong.text());
}

#[test]
fn samples_tell_errors_and_the_slowest_without_values() {
    let weir = serve();
    let text = r#"query Find { pet(where: {name: {_eq: "Zachary"}, id: {_gt: 77123}}) { id } }"#;
    ask(&weir, "/graphql", &USER, &json!({"query": text}));
    let failing = json!({"query": "mutation Twice($id: Int!) { insert_pet_one(object: {id: $id, name: \"Zachary\"}) { id } }", "variables": {"id": 1}});
    for _ in 0..2 {
        let answer = ask(&weir, "/graphql", &[SECRET], &failing);
        assert!(answer.text().contains("errors"), "{}", answer.text());
    }
    let operations = weir.raw(&crate::support::message("GET", "/admin/operations", &[SECRET], None)).json();
    let samples = |name: &str| {
        let all = operations["operations"].as_array().expect("a list");
        let found =
            all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name}: {operations}"));
        let asked = json!({"name": name, "hash": found["hash"]});
        let answer = ask(&weir, "/admin/operations/samples", &[SECRET], &asked);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(!answer.text().contains("Zachary") && !answer.text().contains("77123"), "{}", answer.text());
        answer.json()
    };
    let find = samples("Find");
    assert_eq!(find["text"], r#"query Find { pet(where: {name: {_eq: ""}, id: {_gt: 0}}) { id } }"#);
    let twice = samples("Twice");
    let error = &twice["errors"][0];
    assert_eq!((&error["count"], &error["path"]), (&json!(2), &json!("insert_pet_one")), "{twice}");
    assert!(error["code"].as_str().is_some_and(|it| !it.is_empty()), "{twice}");
    if let Some(slowest) = twice["slowest"].as_object() {
        assert_eq!(slowest["role"], "admin");
        assert!(slowest["steps"][0]["text"].as_str().is_some_and(|it| it.contains("INSERT")), "{twice}");
    }
    let unknown = ask(&weir, "/admin/operations/samples", &[SECRET], &json!({"hash": "no"}));
    assert_eq!(unknown.status, 404, "{}", unknown.text());
}

#[test]
fn live_queries_are_told_by_operation_and_role() {
    let weir = serve();
    let subscribe = |headers: &[(&str, &str)], id: u32| {
        let headers: Value = headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let mut socket = socket(&weir, "/graphql", NEW);
        say(&mut socket, &json!({"type": "connection_init", "payload": {"headers": headers}}).to_string());
        assert_eq!(hear(&mut socket), ACK);
        let operation = json!({"query": "subscription Watch($id: Int!) { pet_by_pk(id: $id) { name } }", "variables": {"id": id}});
        say(&mut socket, &begin(NEW, "a", &operation.to_string()));
        hear(&mut socket);
        socket
    };
    let sockets =
        [subscribe(&USER, 1), subscribe(&USER, 1), subscribe(&USER, 77123), subscribe(&[SECRET], 1)];
    let live = weir.raw(&crate::support::message("GET", "/admin/live", &[SECRET], None));
    assert!(!live.text().contains("77123"), "{}", live.text());
    let live = live.json();
    let groups = live["groups"].as_array().expect("a list");
    let counts: Vec<_> = groups
        .iter()
        .map(|it| {
            (
                it["operation"]["name"].as_str(),
                it["role"].as_str(),
                it["subscriptions"].as_u64(),
                it["members"].as_u64(),
                it["cohorts"].as_u64(),
            )
        })
        .collect();
    let watch = Some("Watch");
    assert_eq!(
        counts,
        [(watch, Some("user"), Some(3), Some(2), Some(1)), (watch, Some("admin"), Some(1), Some(1), Some(1))]
    );
    assert_eq!(live["pushes"].as_array().map(Vec::len), Some(3));
    assert_eq!((&live["sources"][0]["name"], &live["sources"][0]["members"]), (&json!("pets"), &json!(3)));
    assert_eq!(live["sources"][0]["tells"], "reported");
    drop(sockets);
}

#[test]
fn memory_caches_and_queues_are_told() {
    let weir = serve();
    ask(&weir, "/graphql", &USER, &json!({"query": "{ pet { id } }"}));
    let state = weir.raw(&crate::support::message("GET", "/admin/state", &[SECRET], None)).json();
    assert!(state["memory"]["resident_bytes"].as_u64() > Some(1 << 20), "{state}");
    assert!(state["plans"]["entries"].as_u64() >= Some(1), "{state}");
    assert!(state["plans"]["bytes"].as_u64() <= state["plans"]["bytes_max"].as_u64(), "{state}");
    let gauges = state["sources"][0]["gauges"].as_array().expect("a list");
    assert!(gauges.iter().any(|it| it["name"] == "mutations waiting" && it["value"] == 0), "{state}");
}

#[test]
fn nobody_but_an_operator_reads_them() {
    let weir = serve();
    let asked = body("{ __typename }");
    for (method, path) in [
        ("POST", "/admin/documents"),
        ("POST", "/admin/operations/samples"),
        ("POST", "/admin/services/check"),
        ("GET", "/admin/live"),
        ("GET", "/admin/mirror"),
        ("GET", "/admin/state"),
        ("GET", "/admin/services"),
    ] {
        for headers in [&[][..], &[("x-hasura-admin-secret", "husk")], &USER, &[("x-hasura-role", "admin")]] {
            let mut headers = headers.to_vec();
            headers.push(("content-type", "application/json"));
            let sent = (method == "POST").then_some(asked.as_bytes());
            let answer = weir.raw(&crate::support::message(method, path, &headers, sent));
            assert!(matches!(answer.status, 401 | 403), "{path} {headers:?}: {}", answer.text());
        }
    }
    let apart = Weir::pets(&["--admin-listen", "127.0.0.1:0"]);
    assert_eq!(ask(&apart, "/admin/documents", &[], &json!({})).status, 404);
}
