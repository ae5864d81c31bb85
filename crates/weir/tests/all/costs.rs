//! Costs of operations over real sockets: what databases and native types know of their lists, every transport, lists of requests,
//! who sees the cost, and long answers.

use crate::live::stream;
use crate::persisted::{ADA, JSON, TRANSPORTS, USER, ask};
use crate::support::{Answer, Folder, Weir, body, command, message};
use serde_json::{Value, json};

const SECRET: (&str, &str) = USER[0];
const STAFF: [(&str, &str); 2] = [SECRET, ("x-hasura-role", "staff")];
const COST: (&str, &str) = ("x-weir-cost", "show");
const ONE: &str = r#"{"query":"query One { pet_by_pk(id: 1) { name } }"}"#;

/// Serves pets and their toys; `user` sees five pets at most. The endpoint `one` and the tool `One` run a query.
fn limited(cost: &str) -> Weir {
    let folder = Folder::new();
    let file = folder.pets();
    let database = rusqlite::Connection::open(file).expect("it is there");
    let script = "CREATE TABLE toy (id INTEGER PRIMARY KEY, pet_id INTEGER REFERENCES pet(id));
        INSERT INTO toy VALUES (1, 1);";
    database.execute_batch(script).expect("the statements are right");
    let sources = "listen: 127.0.0.1:0
admin_secret: hush
sources:
  - name: pets
    url: sqlite:pets.db
    tables:
      - table: pet
        select_permissions:
          - {role: user, permission: {columns: [id, name], filter: {}, limit: 5}}
          - {role: staff, permission: {columns: [id, name], filter: {}, allow_aggregations: true}}
        array_relationships:
          - {name: toys, using: {foreign_key_constraint_on: {table: toy, column: pet_id}}}
      - table: toy
        select_permissions:
          - {role: user, permission: {columns: [id], filter: {}}}
          - {role: staff, permission: {columns: [id], filter: {}}}
operations: {mcp: {enabled: true}, collections: [{name: c, definition: {queries: [{name: One, query: \"query One { pet_by_pk(id: 1) { name } }\"}]}}],
  rest_endpoints: [{name: one, url: one, methods: [GET], definition: {query: {collection_name: c, query_name: One}}}]}
";
    let file = folder.write("weir.yaml", &format!("{sources}limits: {{cost: {{{cost}}}}}\n"));
    Weir::by_file(&file, folder)
}

fn post(weir: &Weir, headers: &[(&str, &str)], query: &str) -> Answer {
    weir.post("/graphql", headers, body(query).as_bytes())
}

/// Estimate and actual cost of an operation that runs.
#[track_caller]
fn costs(weir: &Weir, role: &[(&str, &str)], query: &str) -> (u64, u64) {
    let answer = post(weir, &[role, &[COST]].concat(), query).json();
    let cost = &answer["extensions"]["cost"];
    let number = |name: &str| cost[name].as_u64().unwrap_or_else(|| panic!("{query}: {answer}"));
    (number("estimated"), number("actual"))
}

/// True for an answer of any transport that refuses an operation for its cost.
fn is_refused(answer: &str) -> bool {
    let code = answer.contains("COST_ESTIMATED_TOO_EXPENSIVE") || answer.contains("cost-limit-exceeded");
    code && answer.contains("the operation may cost 1, 0 are allowed") && !answer.contains("Ada")
}

#[test]
fn lists_of_tables_know_their_sizes() {
    let weir = limited("shown_to: [user, staff]");
    let check = |role: &[(&str, &str)], query: &str, estimated: u64| {
        assert_eq!(costs(&weir, role, query).0, estimated, "{query}");
    };
    check(&USER, "{ pet_by_pk(id: 1) { name } }", 1);
    // The permission's limit, and 100 where there is none.
    check(&USER, "{ pet { name } }", 5);
    check(&STAFF, "{ pet { name } }", 100);
    check(&USER, "{ pet(limit: 3) { name } }", 3);
    check(&USER, "{ pet(limit: 50) { name } }", 5);
    check(&STAFF, "{ pet(limit: 50) { name } }", 50);
    // Two objects of the condition.
    check(&STAFF, "{ pet(where: {id: {_eq: 1}}, limit: 2) { name } }", 4);
    check(&STAFF, "{ pet(limit: 2) { toys(limit: 3) { id } } }", 8);
    check(&STAFF, "{ pet(limit: 2) { toys { id } } }", 202);
    // The aggregate, its numbers, and three nodes.
    check(&STAFF, "{ pet_aggregate(limit: 3) { aggregate { count } nodes { name } } }", 5);
    let admin = [SECRET];
    // 10, two objects, the response, and two rows.
    let insert = "mutation { insert_pet(objects: [{id: 70, name: \"a\"}, {id: 71, name: \"b\"}]) { affected_rows returning { id } } }";
    assert_eq!(costs(&weir, &admin, insert), (15, 15));
    let delete = "mutation { delete_pet(where: {id: {_gte: 70}}) { returning { id } } }";
    assert_eq!(costs(&weir, &admin, delete), (113, 15));
    check(&admin, "mutation { insert_pet_one(object: {id: 72, name: \"c\"}) { id } }", 12);
    let variables = json!({
        "query": "query ($n: Int, $w: pet_bool_exp) { pet(limit: $n, where: $w) { name } }",
        "variables": {"n": 2, "w": {"_or": [{"id": {"_eq": 1}}, {"id": {"_eq": 2}}]}},
    });
    let answer = weir.post("/graphql", &[STAFF[0], STAFF[1], COST], variables.to_string().as_bytes());
    assert_eq!(answer.json()["extensions"]["cost"]["estimated"], 5 + 2, "{answer:?}");
}

#[test]
fn relay_and_streams_are_limited_too() {
    let weir = limited("max: 8, shown_to: [staff]");
    let relay = |query: &str| weir.post("/v1beta1/relay", &STAFF, body(query).as_bytes());
    // The connection, and for each edge itself and its node.
    let within = relay("{ pet_connection(first: 3) { edges { node { name } } } }");
    assert!(within.text().starts_with("{\"data\":"), "{within:?}");
    let over = relay("{ pet_connection(first: 4) { edges { node { name } } } }");
    assert_eq!(over.code(), "cost-limit-exceeded");
    assert!(over.text().contains("\"estimated\":9,\"max\":8"), "{over:?}");
    let live = "subscription { pet_stream(batch_size: 9, cursor: {initial_value: {id: 0}}) { name } }";
    let events = [STAFF[0], STAFF[1], JSON, ("accept", "text/event-stream")];
    let answer = message("POST", "/v1/graphql", &events, Some(body(live).as_bytes()));
    let (head, mut reader) = stream(&weir, &answer);
    assert!(head.contains("200 OK"), "{head}");
    crate::live::read_until(&mut reader, "cost-limit-exceeded");
}

#[test]
fn every_transport_refuses_before_the_database_is_asked() {
    let weir = limited("max: 0");
    for transport in TRANSPORTS {
        let answer = ask(&weir, transport, &USER, ONE);
        assert!(is_refused(&answer), "{transport:?}: {answer}");
    }
    let rest = weir.get("/api/rest/one", &USER);
    assert_eq!(rest.json()["code"], "cost-limit-exceeded", "{rest:?}");
    let parts = ("accept", "multipart/mixed;deferSpec=20220824, application/json");
    let parts = weir.post("/graphql", &[USER[0], USER[1], parts], ONE.as_bytes());
    assert!(is_refused(parts.text()), "{parts:?}");
    let live = body("subscription { pet_by_pk(id: 1) { name } }");
    let accept = ("accept", "multipart/mixed;subscriptionSpec=1.0, application/json");
    let live =
        weir.raw(&message("POST", "/graphql", &[USER[0], USER[1], JSON, accept], Some(live.as_bytes())));
    assert!(is_refused(live.text()), "{live:?}");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "one", "arguments": {}}});
    let accept = ("accept", "application/json, text/event-stream");
    let tool = weir.post("/mcp", &[USER[0], USER[1], accept], call.to_string().as_bytes());
    assert!(tool.text().contains("isError\":true") && is_refused(&tool.text().replace('\\', "")), "{tool:?}");
    let (status, json) = ("application/graphql-response+json", "application/json");
    for (accept, expected) in [(status, 400), (json, 200)] {
        let answer = weir.post("/graphql", &[USER[0], USER[1], ("accept", accept)], ONE.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (expected, "COST_ESTIMATED_TOO_EXPENSIVE"));
        assert!(!answer.text().contains("hint"), "no permission is missing: {answer:?}");
    }
    // The admin has no limit, introspection no cost.
    assert_eq!(post(&weir, &[SECRET], "{ pet_by_pk(id: 1) { name } }").text(), ADA);
    assert!(post(&weir, &USER, "{ __schema { queryType { name } } }").text().starts_with("{\"data\":"));
    let metrics = weir.get("/metrics", &[SECRET]);
    let count = |name: &str| -> u64 {
        let line = metrics.text().lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("{name}: {}", metrics.text()))
    };
    assert!(count("weir_cost_over_limit_total") >= TRANSPORTS.len() as u64);
    assert_eq!(count("weir_cost_actual_total"), 1);
}

#[test]
fn limits_that_are_only_measured_refuse_nothing() {
    let weir = limited("mode: measure, max: 0");
    assert_eq!(post(&weir, &USER, "{ pet_by_pk(id: 1) { name } }").text(), ADA);
    let metrics = weir.get("/metrics", &[SECRET]);
    for line in ["weir_cost_operations_total 1", "weir_cost_over_limit_total 1", "weir_cost_actual_total 1"] {
        assert!(metrics.text().contains(line), "{}", metrics.text());
    }
}

#[test]
fn the_requests_of_a_list_may_cost_as_much_as_one() {
    let weir = limited("max: 2, roles: {staff: 300}");
    let list = format!("[{ONE},{ONE},{ONE}]");
    for path in ["/graphql", "/v1/graphql"] {
        let answer = weir.post(path, &USER, list.as_bytes());
        let answers = answer.json();
        let ada = &serde_json::from_str::<serde_json::Value>(ADA).expect("it is JSON");
        let served = |at: usize| answers[at] == *ada;
        assert_eq!([served(0), served(1), served(2)], [true, true, false], "{answer:?}");
        assert!(answer.text().contains("after 2 of earlier requests in the list"), "{answer:?}");
        assert!(!weir.post(path, &STAFF, list.as_bytes()).text().contains("errors"));
    }
}

#[test]
fn only_those_who_may_see_the_cost() {
    let weir = limited("max: 9, shown_to: [staff]");
    let query = "{ pet_by_pk(id: 1) { name } }";
    let shown = json!({"estimated": 1, "max": 9, "actual": 1});
    let cost = |headers: &[(&str, &str)]| post(&weir, headers, query).json()["extensions"]["cost"].clone();
    assert_eq!(cost(&[STAFF[0], STAFF[1], COST]), shown);
    assert_eq!(cost(&STAFF), Value::Null);
    assert_eq!(cost(&[USER[0], USER[1], COST]), Value::Null);
    assert_eq!(cost(&[SECRET, COST]), json!({"estimated": 1, "actual": 1}));
    // A cache that answers without the cost keeps none with it.
    let get = |headers: &[(&str, &str)]| {
        weir.get("/graphql?query=query%20@cached(ttl:60)%7Bpet_by_pk(id:1)%7Bname%7D%7D", headers)
    };
    let is_kept = |it: &Answer| it.header("cache-control").is_some_and(|it| it.contains("max-age="));
    let told = get(&[STAFF[0], STAFF[1], COST]);
    assert!(told.text().contains("\"cost\"") && !is_kept(&told), "{told:?}");
    let plain = get(&STAFF);
    assert!(plain.text() == ADA && is_kept(&plain), "{plain:?}");
    let again = get(&[STAFF[0], STAFF[1], COST]);
    assert_eq!(again.json()["extensions"]["cost"], shown);
}

#[test]
fn a_long_answer_is_measured_while_it_is_sent() {
    let weir = limited("shown_to: [staff]");
    let script = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 30000)
        INSERT INTO pet (id, name) SELECT x + 1000, '{\"[' || x FROM n; SELECT 1;";
    let database = rusqlite::Connection::open(weir.folder().file("pets.db")).expect("it is there");
    database.execute_batch(script).expect("the statement is right");
    let count: i64 = database.query_row("SELECT count(*) FROM pet", (), |row| row.get(0)).expect("a number");
    let count = count.unsigned_abs();
    assert_eq!(costs(&weir, &STAFF, "{ pet { id name } }"), (100, count));
    assert_eq!(costs(&weir, &STAFF, "{ a: pet { name } b: pet { n: name } }"), (200, 2 * count));
    let metrics = weir.get("/metrics", &[SECRET]);
    assert!(metrics.text().contains(&format!("weir_cost_actual_total {}", 3 * count)), "{}", metrics.text());
}

#[test]
fn weights_of_the_configuration_and_of_native_types_count() {
    let folder = Folder::new();
    folder.pets();
    folder.write(
        "dishes.graphql",
        "type Dish @cost(weight: 3) { id: ID! name: String! parts: [Part] @listSize(assumedSize: 4) }
         type Part { id: ID! name: String @cost(weight: \"0.5\") }",
    );
    let cost = "weights: {pet: 7, Query.getDish: 2, \"query_root.pet(limit:)\": 4}, lists: {Query.pet: {assumed_size: 20}}";
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_secret: hush\nsources:\n  - {{name: pets, url: sqlite:pets.db}}\n  - {{name: dishes, native: dishes.graphql}}\nlimits: {{cost: {{{cost}}}}}\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    let cost = |query: &str| costs(&weir, &[SECRET], query);
    assert_eq!(cost("{ pet { name } }").0, 140);
    assert_eq!(cost("{ pet(limit: 2) { name } }").0, 18);
    // 2 * (3 + 4 * 1.5).
    assert_eq!(cost("{ queryDish(first: 2) { parts { name } } }"), (18, 0));
    let add = "mutation { addDish(input: [{name: \"a\", parts: [{name: \"b\"}]}]) { dish { name parts { name } } } }";
    // 10, two objects of input, the payload, a dish, and its parts: 1.5 each.
    assert_eq!(cost(add), (10 + 2 + 1 + 3 + 6, 10 + 2 + 1 + 3 + 2));
    assert_eq!(cost("{ queryDish { parts { name } } }"), (100 * 9, 5));
}

#[test]
fn entries_that_fit_nothing_are_told() {
    let folder = Folder::new();
    folder.pets();
    let check = |cost: &str| {
        let yaml = format!(
            "listen: 127.0.0.1:0\nsources: [{{name: pets, url: pets.db}}]\nlimits: {{cost: {{{cost}}}}}\n"
        );
        let file = folder.write("weir.yaml", &yaml);
        let checked = command().arg("check").arg(file).output().expect("it runs");
        String::from_utf8_lossy(&checked.stderr).into_owned()
    };
    let told = check("weights: {cat: 1}");
    assert!(told.contains("`cat`: the schema has no such place, so the entry does not count"), "{told}");
    let told = check("lists: {Query.pet_by_pk: {assumed_size: 2}}");
    assert!(told.contains("`Query.pet_by_pk`: the field is no list: write `sizedFields`"), "{told}");
    let told = check("weights: {pet: \"-1\"}");
    assert!(told.contains("the weight of `pet` is no number of at most three decimals"), "{told}");
    assert_eq!(check("weights: {pet: 2}, lists: {Query.pet: {assumed_size: 2}}"), "");
}
