//! Actions of Hasura's metadata: what a handler is asked, what a client gets, who may call, on all addresses.

use crate::support::{Answer, Folder, PATIENCE, Weir, body, command, until};
use crate::upstream_kit::{Asked, Upstream, answers};
use serde_json::{Value, json};
use std::net::TcpListener;

pub(crate) const SECRET: (&str, &str) = ("x-hasura-admin-secret", "hush");

const DATABASES: &str = "- name: default
  kind: sqlite
  configuration:
    connection_info: {database_url: sqlite:../pets.db}
  tables:
  - table: pet
    select_permissions: [{role: user, permission: {columns: [id, name], filter: {id: {_lte: 2}}}}]
";

pub(crate) const SDL: &str = "
type Mutation {
  place_order(order: OrderIn!, note: String): Order
  keep(value: Any, kinds: [Kind!], when: timestamptz, id: uuid): Any
  settle(n: Int): Int!
}
type Query {
  rates: [Float!]
  order(id: uuid!): Order
  secret: String
}
input OrderIn { sku: String! n: Int = 1 }
type Order { id: uuid! buyer_id: Int kind: Kind lines: [Line!]! total: numeric }
type Line { sku: String! amount: Float of: Order }
scalar Any
enum Kind { SMALL LARGE }
";

pub(crate) const YAML: &str = "
actions:
- name: place_order
  definition:
    kind: synchronous
    handler: '{{SHOP_URL}}/orders'
    forward_client_headers: true
    headers: [{name: X-Key, value_from_env: SHOP_KEY}, {name: X-Of, value: 'shop-{{SHOP_KEY}}'}, {name: content-type, value: text/plain}]
    timeout: 20
  permissions: [{role: user}, {role: guest}]
  comment: Place an order
- name: keep
  definition: {kind: synchronous, handler: '{{SHOP_URL}}/keep'}
  permissions: [{role: user}]
- name: settle
  definition: {kind: synchronous, handler: '{{SHOP_URL}}/settle'}
  permissions: [{role: user}]
- name: rates
  definition: {kind: '', handler: '{{SHOP_URL}}/rates'}
  permissions: [{role: user}]
- name: order
  definition: {kind: '', handler: '{{SHOP_URL}}/order'}
  permissions: [{role: user}]
- name: secret
  definition: {kind: '', handler: '{{SHOP_URL}}/secret', headers: [{name: X-Key, value_from_env: SHOP_NONE}]}
custom_types:
  objects: [{name: Order}]
";

const COLLECTIONS: &str = "- name: all
  definition:
    queries:
    - {name: place, query: 'mutation ($sku: String!) { place_order(order: {sku: $sku}) { id } }'}
    - {name: rates, query: 'query { rates }'}
";

const ENDPOINTS: &str = "- {name: place, url: place, methods: [POST], definition: {query: {collection_name: all, query_name: place}}}
- {name: rates, url: rates, methods: [GET], definition: {query: {collection_name: all, query_name: rates}}}
";

pub(crate) const ORDER: &str =
    r#"{"id":"1b","lines":[{"sku":"a","amount":1.50}],"buyer_id":4,"kind":"LARGE","more":true}"#;

/// Writes a project whose actions are `yaml` and `sdl`.
pub(crate) fn write_project(folder: &Folder, yaml: &str, sdl: &str) {
    folder.pets();
    let files = [
        ("version.yaml", "version: 3\n"),
        ("databases/databases.yaml", DATABASES),
        ("actions.yaml", yaml),
        ("actions.graphql", sdl),
        ("query_collections.yaml", COLLECTIONS),
        ("rest_endpoints.yaml", ENDPOINTS),
        ("inherited_roles.yaml", "- {role_name: clerk, role_set: [user]}\n"),
    ];
    for (name, text) in files {
        let path = folder.file("metadata").join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    let yaml = "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata\n";
    folder.write("weir.yaml", yaml);
}

/// Serves a project whose handlers are at `shop`.
pub(crate) fn serve_project(shop: &str, yaml: &str, sdl: &str, variables: &[(&str, &str)]) -> Weir {
    let folder = Folder::new();
    write_project(&folder, yaml, sdl);
    let mut command = command();
    command.arg("serve").arg(folder.file("weir.yaml")).env("SHOP_URL", shop).env("SHOP_KEY", "k1");
    command.env_remove("HASURA_GRAPHQL_DEV_MODE").envs(variables.iter().copied());
    Weir::run(&mut command, folder)
}

pub(crate) struct Shop {
    pub(crate) upstream: Upstream,
    pub(crate) weir: Weir,
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(variables: &[(&str, &str)]) -> Self {
        let upstream = Upstream::start(Vec::new());
        let weir = serve_project(&format!("http://{}", upstream.address), YAML, SDL, variables);
        Self { upstream, weir }
    }

    /// Answers `path` with `status` and `text` from now on.
    pub(crate) fn answer(&self, path: &str, status: u16, text: &str) {
        self.upstream
            .set(answers(&format!("- {{ask: POST {path}, status: {status}, text: {}}}", json!(text))));
    }

    pub(crate) fn ask_at(&self, path: &str, role: &str, query: &str) -> Answer {
        let headers = [SECRET, ("x-hasura-role", role), ("x-hasura-user-id", "4")];
        self.weir.post(path, &headers, body(query).as_bytes())
    }

    pub(crate) fn ask(&self, role: &str, query: &str) -> Answer {
        self.ask_at("/v1/graphql", role, query)
    }

    pub(crate) fn check(&self, query: &str, expected: &str) {
        assert_eq!(self.ask("user", query).text(), expected, "{query}");
    }

    /// Checks what a user gets if the handler of `order` answers `text`, on both addresses.
    pub(crate) fn check_order(&self, text: &str, selection: &str, message: &str) {
        self.answer("/order", 200, text);
        let query = format!("{{ order(id: \"1b\") {{ {selection} }} }}");
        let expected = json!({ "errors": [{ "message": message, "extensions": { "path": "$", "code": "unexpected" } }] });
        let answer = self.ask("user", &query);
        assert_eq!((answer.status, answer.json()), (200, expected), "{text}");
    }

    pub(crate) fn requests(&self) -> Vec<Asked> {
        self.upstream.take_requests()
    }
}

fn body_of(asked: &Asked) -> Value {
    serde_json::from_str(&asked.body).expect("it is JSON")
}

#[test]
fn a_handler_gets_what_hasura_sends() {
    let shop = Shop::new();
    shop.answer("/orders", 200, ORDER);
    let query = "mutation($o: OrderIn!) { done: place_order(order: $o) { number: id lines { amount sku } kind buyer_id total } }";
    let request = json!({ "query": query, "variables": { "o": { "sku": "a", "n": null } } });
    let headers = [
        SECRET,
        ("x-hasura-role", "user"),
        ("x-hasura-user-id", "4"),
        ("cookie", "a=b"),
        ("x-own", "mine"),
        ("x-key", "of the client"),
        ("origin", "http://127.0.0.1"),
    ];
    let answer = shop.weir.post("/v1/graphql", &headers, request.to_string().as_bytes());
    assert_eq!(
        answer.text(),
        r#"{"data":{"done":{"number":"1b","lines":[{"amount":1.50,"sku":"a"}],"kind":"LARGE","buyer_id":4,"total":null}}}"#
    );
    let asked = shop.requests();
    let [only] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(only.line, "POST /orders");
    let expected = json!({
        "action": { "name": "place_order" },
        "input": { "order": { "sku": "a", "n": null } },
        "session_variables": { "x-hasura-role": "user", "x-hasura-user-id": "4" },
        "request_query": query,
    });
    assert_eq!(body_of(only), expected);
    let header = |name: &str| {
        let values: Vec<&str> =
            only.headers.iter().filter(|it| it.0 == name).map(|it| it.1.as_str()).collect();
        values.join("; ")
    };
    // Of one name the client's goes, then the default one, then the configured one.
    assert_eq!(header("x-key"), "of the client");
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(header("x-of"), "shop-k1");
    assert_eq!(header("cookie"), "a=b");
    assert_eq!(header("x-own"), "mine");
    assert_eq!(header("x-forwarded-origin"), "http://127.0.0.1");
    assert_eq!(header("x-forwarded-host"), "localhost");
    assert!(!only.headers.iter().any(|it| it.0.starts_with("x-hasura-")), "{:?}", only.headers);
}

#[test]
fn configured_headers_go_first_if_a_variable_says_so() {
    let shop = Shop::with(&[("HASURA_GRAPHQL_CONFIGURED_HEADER_PRECEDENCE", "true")]);
    shop.answer("/orders", 200, ORDER);
    let headers = [SECRET, ("x-hasura-role", "user"), ("x-key", "of the client")];
    let query = body("mutation { place_order(order: {sku: \"a\"}) { id } }");
    shop.weir.post("/v1/graphql", &headers, query.as_bytes());
    let asked = shop.requests();
    let has = |name: &str, value: &str| asked[0].headers.contains(&(name.to_owned(), value.to_owned()));
    assert!(has("x-key", "k1") && has("content-type", "text/plain"), "{:?}", asked[0].headers);
}

#[test]
fn arguments_are_written_as_they_were_given() {
    let shop = Shop::new();
    shop.answer("/keep", 200, r#"{"any":[1.50,"x",{"deep":null}]}"#);
    let query =
        "mutation { keep(value: {a: [1.50, true]}, kinds: [SMALL, LARGE], when: \"2026-01-01\", id: null) }";
    shop.check(query, r#"{"data":{"keep":{"any":[1.50,"x",{"deep":null}]}}}"#);
    let asked = shop.requests();
    let input = &body_of(&asked[0])["input"];
    let expected = json!({ "value": { "a": [1.5, true] }, "kinds": ["SMALL", "LARGE"], "when": "2026-01-01", "id": null });
    assert_eq!(*input, expected);
    assert!(asked[0].body.contains("1.50"), "{}", asked[0].body);
    // Without forwarding no header of the client goes along.
    assert!(
        asked[0].headers.iter().all(|it| ["content-type", "traceparent", "x-request-id"].contains(&&*it.0)),
        "{:?}",
        asked[0].headers
    );
    shop.check("mutation { keep }", r#"{"data":{"keep":{"any":[1.50,"x",{"deep":null}]}}}"#);
    assert_eq!(body_of(&shop.requests()[0])["input"], json!({}));
}

#[test]
fn roles_see_and_call_what_they_are_permitted() {
    let shop = Shop::new();
    shop.answer("/orders", 200, ORDER);
    let query = "mutation { place_order(order: {sku: \"a\"}) { id } }";
    let done = r#"{"data":{"place_order":{"id":"1b"}}}"#;
    for role in ["user", "guest", "clerk", "admin"] {
        assert_eq!(shop.ask(role, query).text(), done, "{role}");
    }
    let admin = body_of(shop.requests().last().expect("it was asked"));
    assert_eq!(admin["session_variables"], json!({ "x-hasura-role": "admin", "x-hasura-user-id": "4" }));
    let nothing = r#"{"errors":[{"message":"no mutations exist","extensions":{"path":"$","code":"validation-failed"}}]}"#;
    assert_eq!(shop.ask("stranger", query).text(), nothing);
    let hidden = r#"{"errors":[{"message":"field 'settle' not found in type: 'mutation_root'","extensions":{"path":"$.selectionSet.settle","code":"validation-failed"}}]}"#;
    assert_eq!(shop.ask("guest", "mutation { settle }").text(), hidden);
    // Only the admin has an action without permissions.
    assert!(shop.ask("user", "{ secret }").text().contains("field 'secret' not found"));
    // Without the secret the headers of a session mean nothing.
    let forged = [("x-hasura-role", "user"), ("x-hasura-user-id", "4")];
    let answer = shop.weir.post("/v1/graphql", &forged, body(query).as_bytes());
    assert!(answer.text().contains("access-denied"), "{}", answer.text());
    let wrong = [("x-hasura-admin-secret", "wrong"), ("x-hasura-role", "user")];
    assert!(shop.weir.post("/v1/graphql", &wrong, body(query).as_bytes()).text().contains("access-denied"));
    assert_eq!(shop.requests().len(), 0);
}

#[test]
fn introspection_shows_types_and_descriptions_and_no_handlers() {
    let shop = Shop::new();
    let query = "{ __type(name: \"mutation_root\") { fields { name description type { name } args { name type { kind ofType { name } } } } } }";
    let shown = shop.ask("guest", query).text().to_owned();
    let expected = concat!(
        r#"{"data":{"__type":{"fields":[{"name":"place_order","description":"Place an order","type":{"name":"Order"},"#,
        r#""args":[{"name":"note","type":{"kind":"SCALAR","ofType":null}},{"name":"order","type":{"kind":"NON_NULL","ofType":{"name":"OrderIn"}}}]}]}}}"#
    );
    assert_eq!(shown, expected);
    // A role does not see the types of other actions.
    assert_eq!(shop.ask("guest", "{ __type(name: \"Any\") { name } }").text(), r#"{"data":{"__type":null}}"#);
    assert!(
        shop.ask("user", "{ __type(name: \"OrderIn\") { inputFields { name defaultValue } } }")
            .text()
            .contains(r#"{"name":"n","defaultValue":null}"#)
    );
}

#[test]
fn a_variable_of_a_header_is_read_at_each_call() {
    let shop = Shop::new();
    let answer = shop.ask("admin", "{ secret }");
    let expected = r#"{"errors":[{"message":"environment variable 'SHOP_NONE' not set","extensions":{"path":"$","code":"not-found"}}]}"#;
    assert_eq!(answer.text(), expected);
}

#[test]
fn a_handler_that_is_not_there_is_an_error_without_its_address() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has one");
    drop(listener);
    let weir = serve_project(&format!("http://{address}"), YAML, SDL, &[]);
    let headers = [SECRET, ("x-hasura-role", "user")];
    let answer = weir.post("/v1/graphql", &headers, body("{ rates }").as_bytes());
    let expected = r#"{"errors":[{"message":"http exception when calling webhook","extensions":{"path":"$","code":"unexpected"}}]}"#;
    assert_eq!(answer.text(), expected);
    let admin = weir.post("/v1/graphql", &[SECRET], body("{ rates }").as_bytes());
    assert!(!admin.text().contains(&address.port().to_string()), "{}", admin.text());
    assert_eq!(admin.json()["errors"][0]["extensions"]["internal"]["error"]["type"], "http_exception");
}

#[test]
fn a_handler_that_does_not_answer_ends_at_its_timeout() {
    // The connection is accepted by the system, and nobody reads it.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has one");
    let yaml = "actions:\n- {name: rates, definition: {kind: '', handler: '{{SHOP_URL}}/rates', timeout: 1}, permissions: [{role: user}]}\n";
    let weir = serve_project(&format!("http://{address}"), yaml, "type Query { rates: [Float!] }", &[]);
    let begun = std::time::Instant::now();
    let answer = weir.post("/v1/graphql", &[SECRET, ("x-hasura-role", "user")], body("{ rates }").as_bytes());
    assert!(answer.text().contains("http exception when calling webhook"), "{}", answer.text());
    assert!(begun.elapsed() < PATIENCE);
    drop(listener);
}

#[test]
fn a_huge_answer_is_refused() {
    let shop = Shop::new();
    shop.answer("/keep", 200, &format!("\"{}\"", "a".repeat(11 << 20)));
    shop.check(
        "mutation { keep }",
        r#"{"errors":[{"message":"http exception when calling webhook","extensions":{"path":"$","code":"unexpected"}}]}"#,
    );
}

#[test]
fn cookies_of_all_handlers_reach_the_client() {
    let shop = Shop::new();
    let with_cookie = |path: &str, name: &str, text: &str| {
        format!(
            "- {{ask: POST {path}, headers: {{set-cookie: {name}=1, x-own: no}}, text: {}}}\n",
            json!(text)
        )
    };
    let both = with_cookie("/rates", "a", "[1]") + &with_cookie("/order", "b", ORDER);
    shop.upstream.set(answers(&both));
    for path in ["/v1/graphql", "/graphql"] {
        let answer = shop.ask_at(path, "user", "{ rates order(id: \"1b\") { id } }");
        let mut cookies: Vec<&str> =
            answer.headers.iter().filter(|it| it.0 == "set-cookie").map(|it| it.1.as_str()).collect();
        cookies.sort_unstable();
        assert_eq!(cookies, ["a=1", "b=1"], "{path}");
        assert_eq!(answer.header("x-own"), None);
    }
}

#[test]
fn mutations_run_in_order_and_end_with_the_first_failure() {
    let shop = Shop::new();
    let both =
        "- {ask: POST /settle, status: 400, text: '{\"message\":\"no\"}'}\n- {ask: POST /keep, text: '1'}\n";
    shop.upstream.set(answers(both));
    let query = "mutation { first: keep second: settle third: keep }";
    assert!(shop.ask("user", query).text().contains(r#""message":"no""#));
    let lines: Vec<String> = shop.requests().into_iter().map(|it| it.line).collect();
    assert_eq!(lines, ["POST /keep", "POST /settle"]);
    // Equal fields are calls of their own.
    shop.check("mutation { a: keep b: keep }", r#"{"data":{"a":1,"b":1}}"#);
    assert_eq!(shop.requests().len(), 2);
}

#[test]
fn an_answer_that_does_not_fit_ends_a_mutation_too() {
    let shop = Shop::new();
    let both = "- {ask: POST /orders, text: '{\"id\":\"1b\",\"lines\":[{\"sku\":7}]}'}\n- {ask: POST /keep, text: '1'}\n";
    shop.upstream.set(answers(both));
    let query = "mutation { place_order(order: {sku: \"a\"}) { lines { sku } } keep }";
    let answer = shop.ask("user", query);
    assert!(
        answer.text().contains("got scalar String for the action webhook response, expecting String"),
        "{}",
        answer.text()
    );
    assert_eq!(shop.requests().len(), 1);
}

#[test]
fn endpoints_answer_with_the_handler_s_status() {
    let shop = Shop::new();
    let headers = [SECRET, ("x-hasura-role", "user")];
    let place = |status: u16, text: &str| {
        shop.answer("/orders", status, text);
        let answer = shop.weir.post("/api/rest/place", &headers, br#"{"sku":"a"}"#);
        (answer.status, answer.text().to_owned())
    };
    assert_eq!(place(200, ORDER), (200, r#"{"place_order":{"id":"1b"}}"#.to_owned()));
    let refused = r#"{"error":"no","path":"$","code":"stock"}"#;
    assert_eq!(place(422, r#"{"message":"no","code":"stock"}"#), (422, refused.to_owned()));
    let refused = r#"{"error":"no","path":"$","code":"unexpected"}"#;
    assert_eq!(place(409, r#"{"message":"no"}"#), (409, refused.to_owned()));
    let refused = r#"{"error":"no","path":"$","code":"stock","extensions":{"n":1}}"#;
    assert_eq!(
        place(400, r#"{"message":"no","code":"stock","extensions":{"n":1}}"#),
        (400, refused.to_owned())
    );
    let failed = r#"{"error":"internal error","path":"$","code":"unexpected"}"#;
    assert_eq!(place(503, r#"{"message":"no"}"#), (500, failed.to_owned()));
    let failed = r#"{"error":"key \"message\" not found","path":"$","code":"parse-failed"}"#;
    assert_eq!(place(404, "{}"), (400, failed.to_owned()));
    shop.answer("/rates", 200, "[1]");
    assert_eq!(shop.weir.get("/api/rest/rates", &headers).text(), r#"{"rates":[1]}"#);
}

#[test]
fn relay_has_mutations_of_actions_alone() {
    let shop = Shop::new();
    shop.answer("/orders", 200, ORDER);
    let relay = |query: &str| shop.ask_at("/v1beta1/relay", "user", query).text().to_owned();
    let query = "mutation { place_order(order: {sku: \"a\"}) { id } }";
    assert_eq!(relay(query), r#"{"data":{"place_order":{"id":"1b"}}}"#);
    assert!(relay("{ rates }").contains("field 'rates' not found in type: 'query_root'"));
    assert!(relay("{ pet_connection { edges { node { name } } } }").contains("Ada"));
}

#[test]
fn subscriptions_have_no_query_actions() {
    let shop = Shop::new();
    let query = "{ __type(name: \"subscription_root\") { fields { name } } }";
    let shown = shop.ask("admin", query).text().to_owned();
    assert!(shown.contains("pet_by_pk") && !shown.contains("rates"), "{shown}");
}

#[test]
fn the_log_has_a_line_of_each_call_without_its_body() {
    let shop = Shop::new();
    shop.answer("/keep", 200, "\"answered\"");
    shop.check("mutation { keep(value: \"asked for\") }", r#"{"data":{"keep":"answered"}}"#);
    until("the call is logged", || shop.weir.log().contains("action-handler-log"));
    let log = shop.weir.log();
    let line = log.lines().find(|it| it.contains("action-handler-log")).unwrap_or_default();
    assert!(line.contains("keep") && line.contains("mutation-synchronous"), "{log}");
    assert!(
        !line.contains("asked for") && !line.contains("answered") && !line.contains("127.0.0.1"),
        "{line}"
    );
}
