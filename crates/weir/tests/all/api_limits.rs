//! Hasura's `api_limits` over real sockets: each limit, roles, and commands that change them while the server runs.

use crate::persisted::{TRANSPORTS, USER, ask};
use crate::support::{Answer, Folder, Weir, body};
use serde_json::{Value, json};

const SECRET: (&str, &str) = USER[0];
const STAFF: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "staff")];
const ONE: &str = "{ pet_by_pk(id: 1) { name } }";
const ADA: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#;

/// Serves the pets and their owners by metadata without limits.
fn serve() -> Weir {
    let folder = Folder::new();
    let file = folder.pets();
    let database = rusqlite::Connection::open(file).expect("it is there");
    let script = "CREATE TABLE toy (id INTEGER PRIMARY KEY, pet_id INTEGER REFERENCES pet(id));
        INSERT INTO toy VALUES (1, 1);
        CREATE VIEW slow AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0;";
    database.execute_batch(script).expect("the statements are right");
    let permission = |columns: &str| {
        ["user", "staff"]
            .map(|role| format!("{{role: {role}, permission: {{columns: {columns}, filter: {{}}}}}}"))
            .join(", ")
    };
    let metadata = format!(
        "version: 3
sources:
- name: default
  kind: sqlite
  configuration:
    connection_info: {{database_url: sqlite:pets.db}}
  tables:
  - table: pet
    select_permissions: [{pet}]
    array_relationships:
    - {{name: toys, using: {{foreign_key_constraint_on: {{table: toy, column: pet_id}}}}}}
  - table: toy
    select_permissions: [{toy}]
    object_relationships:
    - {{name: pet, using: {{foreign_key_constraint_on: pet_id}}}}
  - table: slow
    select_permissions: [{slow}]
",
        pet = permission("[id, name]"),
        toy = permission("[id, pet_id]"),
        slow = permission("[x]")
    );
    folder.write("metadata.yaml", &metadata);
    let file =
        folder.write("weir.yaml", "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata.yaml\n");
    Weir::by_file(&file, folder)
}

fn run(weir: &Weir, name: &str, args: &Value) {
    let command = json!({ "type": name, "args": args });
    let answer = weir.post("/v1/metadata", &[SECRET], command.to_string().as_bytes());
    assert_eq!((answer.status, answer.text()), (200, r#"{"message":"success"}"#));
}

fn post(weir: &Weir, path: &str, role: &[(&str, &str)], query: &str) -> Answer {
    weir.post(path, role, body(query).as_bytes())
}

/// Checks status and code on both endpoints.
fn check(weir: &Weir, role: &[(&str, &str)], query: &str, codes: Option<[(u16, &str); 2]>) {
    for (at, path) in ["/graphql", "/v1/graphql"].into_iter().enumerate() {
        let answer = post(weir, path, role, query);
        match codes {
            Some(codes) => {
                assert_eq!((answer.status, answer.code().as_str()), codes[at], "{path} {query}: {answer:?}");
            }
            None => assert!(answer.text().starts_with("{\"data\":"), "{path} {query}: {answer:?}"),
        }
    }
}

#[test]
fn depth_and_nodes_are_those_of_the_role_and_take_effect_at_once() {
    let weir = serve();
    let deep = "{ pet { toys { pet { name } } } }";
    let wide = "{ a: pet { name } b: pet { name } c: pet { name } }";
    let introspection = "{ __schema { types { fields { type { ofType { name } } } } } }";
    check(&weir, &USER, deep, None);
    let limits = json!({ "depth_limit": { "global": 2, "per_role": { "staff": 3 } }, "node_limit": { "global": 10, "per_role": { "staff": 2 } } });
    run(&weir, "set_api_limits", &limits);
    let too_deep = Some([(200, "LIMIT_DEPTH"), (200, "depth-limit-exceeded")]);
    check(&weir, &USER, deep, too_deep);
    check(&weir, &USER, "{ pet { ...F } } fragment F on pet { toys { pet { name } } }", too_deep);
    check(&weir, &USER, "{ pet { toys { id } } }", None);
    check(&weir, &USER, introspection, None);
    let too_wide = Some([(200, "LIMIT_NODES"), (200, "node-limit-exceeded")]);
    check(&weir, &STAFF, wide, too_wide);
    check(&weir, &STAFF, deep, too_wide);
    check(&weir, &USER, wide, None);
    for query in [deep, wide] {
        check(&weir, &[SECRET], query, None);
    }
    for transport in TRANSPORTS {
        let answer = ask(&weir, transport, &USER, &body(deep));
        assert!(answer.contains("the operation has depth 3, 2 are allowed"), "{transport:?}: {answer}");
    }
    run(&weir, "remove_api_limits", &json!({}));
    check(&weir, &USER, deep, None);
    check(&weir, &STAFF, wide, None);
}

#[test]
fn limits_hold_for_the_operation_that_runs_whatever_is_wrong_beside_it() {
    let weir = serve();
    run(&weir, "set_api_limits", &json!({ "depth_limit": { "global": 2 }, "node_limit": { "global": 9 } }));
    let ask_all = |text: &str, said: &str| {
        let members = json!({ "query": text, "operationName": "A" }).to_string();
        for transport in TRANSPORTS {
            let answer = ask(&weir, transport, &USER, &members);
            assert!(answer.contains(said) && !answer.contains("Ada"), "{transport:?} {text}: {answer}");
        }
    };
    for beside in [
        "query B { ...No }",
        "query B { ...F } fragment F on query_root { ...F }",
        "fragment F on query_root { ...G } fragment G on query_root { ...F }",
        "query B { pet { name } } fragment F on pet { ...No }",
        "query B { pet { name } } type T { a: Int }",
        "query A { ...No }",
    ] {
        for kind in ["query", "subscription"] {
            let text = format!("{kind} A {{ pet {{ toys {{ pet {{ name }} }} }} }} {beside}");
            ask_all(&text, "the operation has depth 3, 2 are allowed");
        }
        let nodes: String = (0..10).map(|number| format!("a{number}: pet {{ name }} ")).collect();
        ask_all(&format!("query A {{ {nodes} }} {beside}"), "the operation has 10 nodes, 9 are allowed");
    }
    // An operation without a measure is refused by the validation.
    for text in [
        "query A { pet { toys { pet { name } } } ...No } query B { pet { name } }",
        "query A { ...F } query B { pet { name } } fragment F on query_root { pet { toys { pet { name } } } ...F }",
        "query B { pet { toys { pet { name } } } } query C { ...No }",
        "query A { pet { name } } query A { pet { toys { pet { name } } } } query B { ...No }",
        "query A { ...F } query B { ...No } fragment F on query_root { pet { toys { pet { name } } } } fragment F on query_root { pet { name } }",
    ] {
        ask_all(text, "\"message\"");
    }
}

#[test]
fn parameters_that_count_nobody_apart_are_refused() {
    let weir = serve();
    for (params, role) in
        [(json!("foo"), false), (json!(["x-hasura-user-id", "authorization"]), false), (json!(7), true)]
    {
        let rate = json!({ "max_reqs_per_min": 5, "unique_params": params });
        let (limits, place) = if role {
            let limits = json!({ "global": { "max_reqs_per_min": 5 }, "per_role": { "staff": rate } });
            (limits, "per_role.staff")
        } else {
            (json!({ "global": rate }), "global")
        };
        let command = json!({ "type": "set_api_limits", "args": { "rate_limit": limits } });
        let answer = weir.post("/v1/metadata", &[SECRET], command.to_string().as_bytes());
        assert_eq!(
            (answer.status, answer.json()["code"].as_str()),
            (400, Some("parse-failed")),
            "{answer:?}"
        );
        let path = format!("$.args.rate_limit.{place}.unique_params");
        assert!(
            answer.text().contains(&path) && answer.text().contains("`unique_params` is `IP`"),
            "{answer:?}"
        );
    }
    let exported = weir.post("/v1/metadata", &[SECRET], br#"{"type":"export_metadata","args":{}}"#);
    assert!(!exported.text().contains("api_limits"), "{exported:?}");
}

#[test]
fn requests_of_a_minute_are_counted_over_every_transport_and_across_changes() {
    let weir = serve();
    let count = TRANSPORTS.len();
    let rate = |count: usize| {
        json!({ "rate_limit": {
            "global": { "max_reqs_per_min": count, "unique_params": ["x-hasura-user-id"] },
            "per_role": { "staff": { "max_reqs_per_min": 0 } }
        } })
    };
    // Changes of the metadata and refusals take less than a minute, and what came in it counts for a whole one.
    run(&weir, "set_api_limits", &rate(count));
    check(&weir, &STAFF, ONE, Some([(429, "LIMIT_RATE"), (200, "rate-limit-exceeded")]));
    let user = [USER[0], USER[1], ("x-hasura-user-id", "7")];
    for transport in TRANSPORTS {
        let answer = ask(&weir, transport, &user, &body(ONE));
        assert!(answer.contains(ADA), "{transport:?}: {answer}");
    }
    let refused = post(&weir, "/v1/graphql", &user, ONE);
    assert_eq!((refused.status, refused.code().as_str()), (200, "rate-limit-exceeded"));
    assert!(
        refused
            .header("ratelimit-policy")
            .is_some_and(|it| it.starts_with(&format!("\"api_limits\";q={count};w=60;")))
    );
    assert!(refused.header("retry-after").is_some());
    // Another user has a minute of its own; the admin has none.
    assert_eq!(post(&weir, "/v1/graphql", &[USER[0], USER[1], ("x-hasura-user-id", "8")], ONE).text(), ADA);
    assert_eq!(post(&weir, "/v1/graphql", &[SECRET], ONE).text(), ADA);
    run(&weir, "set_api_limits", &rate(count + 1));
    assert_eq!(post(&weir, "/v1/graphql", &user, ONE).text(), ADA);
    assert_eq!(post(&weir, "/v1/graphql", &user, ONE).code(), "rate-limit-exceeded");
    let mut off = rate(0);
    off["disabled"] = true.into();
    run(&weir, "set_api_limits", &off);
    assert_eq!(post(&weir, "/v1/graphql", &user, ONE).text(), ADA);
}

#[test]
fn lists_are_as_long_as_the_role_may_send() {
    let weir = serve();
    run(&weir, "set_api_limits", &json!({ "batch_limit": { "global": 2, "per_role": { "staff": 3 } } }));
    let list = |path: &str, role: &[(&str, &str)], count: usize| {
        let items = vec![body(ONE); count].join(",");
        weir.post(path, role, format!("[{items}]").as_bytes())
    };
    for path in ["/graphql", "/v1/graphql"] {
        assert_eq!(list(path, &USER, 2).text(), format!("[{ADA},{ADA}]"));
        assert_eq!(list(path, &STAFF, 3).status, 200);
        assert!(list(path, &[SECRET], 9).text().contains(ADA));
    }
    let answer = list("/graphql", &USER, 3);
    assert_eq!((answer.status, answer.code().as_str()), (400, "LIMIT_BATCH"));
    let answer = list("/v1/graphql", &USER, 3);
    assert_eq!((answer.status, answer.code().as_str()), (200, "batch-limit-exceeded"));
    assert_eq!(list("/v1/graphql", &STAFF, 4).code(), "batch-limit-exceeded");
}

#[test]
fn an_operation_ends_with_the_time_of_its_role() {
    let weir = serve();
    run(&weir, "set_api_limits", &json!({ "time_limit": { "global": 1 } }));
    let slow = "{ slow { x } }";
    assert_eq!(post(&weir, "/graphql", &USER, slow).code(), "SOURCE_TIMEOUT");
    assert_eq!(post(&weir, "/v1/graphql", &USER, slow).code(), "timeout");
    assert_eq!(post(&weir, "/v1/graphql", &USER, ONE).text(), ADA);
}
