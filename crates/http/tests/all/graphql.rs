//! A GraphQL server behind the graph: what is selected is passed on, and comes back as if the server had been asked itself.

use crate::kit::{Documents, answer, engine_of};
use crate::wire_kit;
use crate::wire_kit::{Service, User, ask, listen};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use weir_engine::compose::Join;
use weir_engine::engine::Engine;
use weir_engine::source::{Source, SourceError};
use weir_http::cache::{Cache, Clock, Overruled};
use weir_http::call::{CallPolicy, Protocol, TlsFiles};
use weir_http::graphql::GraphqlSource;
use weir_http::passthrough::{ForwardedHeader, ForwardedValue, OpenError, Server};
use weir_http::sdl::CacheRule;

const SHOP: &str = r#"
    type Query { product(id: ID!, in: [Region!] = [EU], by: Filter): Product  products(first: Int! = 2): [Product!]!
        broken: Int  things: [Thing]  partly: [Product]  shelf: [[Int]] }
    type Mutation { buy(id: ID!): Int }
    enum Region { EU US }
    input Filter { min: Float  text: String = "any"  not: Filter  tags: [String] }
    interface Named { name: String! }
    "Something on sale"
    type Product implements Named { id: ID!  name: String!  price(in: Region = EU): Float  maker: Maker  asked: Any }
    type Maker implements Named { name: String!  country: String @deprecated(reason: "gone") }
    union Thing = Product | Maker
    scalar Any"#;

fn product(id: &str, asked: &Value) -> Value {
    json!({"__typename": "Product", "id": id, "name": format!("Product {id} \"\u{e9}\""), "price": 1.50, "asked": asked,
        "maker": {"__typename": "Maker", "name": "Ann", "country": null}})
}

fn shop() -> Arc<Documents> {
    Documents::new("shop", SHOP, |field, arguments| match field {
        "product" if arguments["id"] == "none" => Ok(Value::Null),
        "product" => Ok(product(arguments["id"].as_str().unwrap(), arguments)),
        "products" => {
            let first = arguments["first"].as_u64().unwrap();
            Ok((0..first).map(|it| product(&it.to_string(), arguments)).collect())
        }
        "things" => Ok(json!([product("7", &json!(null)), {"__typename": "Maker", "name": "Bob"}, null])),
        "partly" => Ok(json!([product("1", &json!(1)), {"__typename": "Product", "id": "2", "name": null}])),
        "shelf" => Ok(json!([[1, 2], [], null, [3, null]])),
        "buy" => Ok(json!(1)),
        _ => Err(SourceError::Busy),
    })
}

/// The shop as a server: what was sent to it, and where it is.
struct Served {
    address: SocketAddr,
    sent: Arc<Mutex<Vec<(String, String)>>>,
    /// Cache headers of its answers.
    says: Arc<Mutex<Option<(&'static str, &'static str)>>>,
}

fn serve() -> Served {
    let engine = Arc::new(engine_of(vec![shop() as Arc<dyn Source>], &[]));
    let sent = Arc::<Mutex<Vec<(String, String)>>>::default();
    let says = Arc::<Mutex<Option<(&'static str, &'static str)>>>::default();
    let log = Arc::clone(&sent);
    let header = Arc::clone(&says);
    let address = listen(move |socket| {
        let engine = Arc::clone(&engine);
        let log = Arc::clone(&log);
        let header = Arc::clone(&header);
        async move {
            let service = hyper::service::service_fn(move |request: http::Request<Incoming>| {
                let engine = Arc::clone(&engine);
                let log = Arc::clone(&log);
                let header = Arc::clone(&header);
                async move {
                    let mut reply = reply(&engine, &log, request).await;
                    if let Some((name, value)) = *header.lock().unwrap() {
                        reply.headers_mut().insert(name, value.parse().unwrap());
                    }
                    Ok::<_, std::convert::Infallible>(reply)
                }
            });
            let connection = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            connection.serve_connection(TokioIo::new(socket), service).await.unwrap_or_default();
        }
    });
    Served { address, sent, says }
}

async fn reply(
    engine: &Engine,
    log: &Mutex<Vec<(String, String)>>,
    request: http::Request<Incoming>,
) -> http::Response<Full<Bytes>> {
    let user = request.headers().get("x-user").map_or("", |it| it.to_str().unwrap()).to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let variables = body.get("variables").map_or("{}".into(), Value::to_string);
    let query = body["query"].as_str().unwrap();
    if variables.contains("\"refuse\"") {
        return http::Response::builder().status(503).body(Full::default()).unwrap();
    }
    if !query.contains("__schema") {
        log.lock().unwrap().push((query.to_owned(), format!("{variables}{user}")));
    }
    http::Response::new(Full::new(answer(engine, query, &variables).await.into()))
}

fn server(address: SocketAddr, prefix: &str) -> Server {
    Server {
        name: "shop".into(),
        url: format!("http://{address}/graphql").parse().unwrap(),
        tls: TlsFiles::default(),
        prefix: prefix.into(),
        headers: Vec::new(),
        protocol: Protocol::Negotiated,
        policy: CallPolicy { retries: 0, ..CallPolicy::USUAL },
        deadline_header: None,
        cache: wire_kit::cache(&Clock::new_simulated()),
        cache_rule: None,
        tag: "shop".into(),
        type_tags: Vec::new(),
        audience: None,
        remote: None,
    }
}

/// `@cache(source:)` without further arguments.
const RULE: CacheRule = CacheRule {
    cache_control: Vec::new(),
    default_s: None,
    stale_s: None,
    stale_if_error_s: None,
    jitter_percent: 0,
    negative_s: 0,
    private: false,
    public: false,
    key: Vec::new(),
    post: false,
    overruled: Overruled { no_store: false, no_cache: false, private: false },
};

/// A shop, its gateway by a server with `change`, and the gateway's cache and clock.
struct Kept {
    served: Served,
    cache: Arc<Cache>,
    clock: Clock,
    gateway: Engine,
}

impl Kept {
    async fn new(change: impl FnOnce(&mut Server)) -> Self {
        let served = serve();
        let clock = Clock::new_simulated();
        let cache = wire_kit::cache(&clock);
        let mut server = Server { cache: Arc::clone(&cache), ..server(served.address, "") };
        server.deadline_header = Some("x-left".parse().unwrap());
        change(&mut server);
        let source = GraphqlSource::open(server).await.unwrap();
        let gateway = engine_of(vec![Arc::new(source)], &[]);
        Self { served, cache, clock, gateway }
    }

    /// The same, passing on a header of the client's.
    async fn passing(name: &'static str, change: impl FnOnce(&mut Server)) -> Self {
        Self::new(|server| {
            let passed = |to: &str| ForwardedHeader {
                name: to.parse().unwrap(),
                value: ForwardedValue::From(name.into()),
            };
            server.headers = vec![passed(name), passed("x-user")];
            change(server);
        })
        .await
    }

    /// Asks as `user`; how often the shop was asked for that, and what is told of the answer.
    async fn check(&self, user: &'static str, query: &str, calls: usize, told: Option<(bool, u64)>) {
        let (text, said) = ask(&self.gateway, User(user), query).await;
        assert_eq!(self.served.sent.lock().unwrap().drain(..).count(), calls, "{user} {query}: {text}");
        assert_eq!(said, told, "{user} {query}: {text}");
    }
}

/// The graph in front of the shop.
async fn gateway(address: SocketAddr, prefix: &str) -> Engine {
    let source = GraphqlSource::open(server(address, prefix)).await.unwrap();
    engine_of(vec![Arc::new(source)], &[])
}

#[tokio::test]
async fn the_answer_is_what_the_server_itself_would_say() {
    let served = serve();
    let direct = engine_of(vec![shop() as Arc<dyn Source>], &[]);
    let gateway = gateway(served.address, "").await;
    for (query, variables) in [
        ("{ product(id: 3) { name id __typename maker { name country } } }", "{}"),
        (
            "query ($id: ID!) { a: product(id: $id) { asked } b: product(id: \"x\") { n: name m: name } }",
            r#"{"id": 5}"#,
        ),
        (
            "query ($r: [Region!]) { product(id: 1, in: $r) { asked price price2: price(in: US) } }",
            r#"{"r": ["US", "EU"]}"#,
        ),
        ("query ($r: [Region!]) { product(id: 1, in: $r) { asked } }", "{}"),
        (
            "query ($t: String, $f: Filter) { a: product(id: 1, by: {min: 1.5, not: {text: $t, tags: [$t]}}) { asked } b: product(id: 1, by: $f) { asked } }",
            r#"{"t": null, "f": {"text": "quote \" \n", "not": {}}}"#,
        ),
        ("query ($n: Int) { products(first: $n) { id } }", "{}"),
        ("{ products(first: 3) { ...on Named { name } maker { __typename } } shelf }", "{}"),
        (
            "{ things { __typename ...on Product { id price } ...on Named { name } ...on Maker { country } } }",
            "{}",
        ),
        ("{ product(id: \"none\") { id } again: product(id: \"none\") { id } }", "{}"),
        (
            "{ __type(name: \"Product\") { description fields(includeDeprecated: true) { name args { name defaultValue type { name } } } } }",
            "{}",
        ),
        (
            "{ __type(name: \"Filter\") { inputFields { name defaultValue type { name ofType { name } } } } }",
            "{}",
        ),
    ] {
        assert_eq!(
            answer(&gateway, query, variables).await,
            answer(&direct, query, variables).await,
            "{query}"
        );
    }
}

/// A graph of `count` sales, each of the product that `of` names, which `source` answers for.
fn sales_of_products(
    source: GraphqlSource,
    count: usize,
    of: impl Fn(usize) -> String + Send + Sync + 'static,
    arguments: &str,
) -> Engine {
    let sales =
        Documents::new("sales", "type Query { sales: [Sale] } type Sale { of: String }", move |_, _| {
            Ok((0..count).map(|it| json!({"of": of(it)})).collect())
        });
    let join = Join {
        on: "Sale".into(),
        name: "product".into(),
        description: String::new(),
        source: "shop".into(),
        target: "product".into(),
        arguments: arguments.into(),
    };
    engine_of(vec![sales as Arc<dyn Source>, Arc::new(source)], &[join])
}

#[tokio::test]
async fn all_root_fields_are_one_operation_without_a_value_in_its_text() {
    let served = serve();
    let gateway = gateway(served.address, "").await;
    let query = "{ a: product(id: \"7\") { id } products(first: 1) { maker { name } } }";
    let text = answer(&gateway, query, "{}").await;
    assert_eq!(text, r#"{"data":{"a":{"id":"7"},"products":[{"maker":{"name":"Ann"}}]}}"#);
    let sent = served.sent.lock().unwrap().clone();
    let [(operation, variables)] = &sent[..] else { panic!("{sent:?}") };
    assert!(
        operation.starts_with("query($v0:ID!,$v1:[Region!],$v2:Int!){ r0_0:product(id:$v0,in:$v1){"),
        "{operation}"
    );
    assert_eq!(variables, r#"{"v0":"7","v1":["EU"],"v2":1}"#);
}

#[tokio::test]
async fn a_prefix_stands_before_types_and_root_fields_here_and_not_there() {
    let served = serve();
    let gateway = gateway(served.address, "shop_").await;
    let query =
        "query ($r: [shop_Region!]) { shop_product(id: 1, in: $r) { __typename name maker { __typename } }
        shop_things { ...on shop_Maker { name } } }";
    let text = answer(&gateway, query, r#"{"r": "US"}"#).await;
    assert_eq!(
        text,
        r#"{"data":{"shop_product":{"__typename":"shop_Product","name":"Product 1 \"é\"","maker":{"__typename":"shop_Maker"}},"shop_things":[{},{"name":"Bob"},null]}}"#
    );
}

#[tokio::test]
async fn errors_stand_where_the_server_says() {
    let served = serve();
    let gateway = gateway(served.address, "").await;
    let text = answer(&gateway, "{ a: partly { name } shelf }", "{}").await;
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        said["data"],
        json!({"a": [{"name": "Product 1 \"\u{e9}\""}, null], "shelf": [[1, 2], [], null, [3, null]]})
    );
    let words = "Cannot return null for non-nullable field Product.name.";
    let place = json!([{"line": 1, "column": 3}]);
    let expected = json!([{"message": words, "locations": place, "path": ["a", 1], "extensions": {"code": "SOURCE_REFUSED"}}]);
    assert_eq!(said["errors"], expected);
    let text = answer(&gateway, "{ b: broken }", "{}").await;
    assert!(
        text.contains(r#""path":["b"],"extensions":{"code":"SOURCE_REFUSED"}}],"data":{"b":null}}"#),
        "{text}"
    );
}

#[tokio::test]
async fn the_keys_of_a_level_are_one_operation() {
    let served = serve();
    let mut server = server(served.address, "");
    let name = "x-user".parse().unwrap();
    let value = ForwardedValue::Fixed(http::HeaderValue::from_static("ada"));
    server.headers.push(ForwardedHeader { name, value });
    let source = GraphqlSource::open(server).await.unwrap();
    let of = |it: usize| if it.is_multiple_of(2) { "none".into() } else { it.to_string() };
    let gateway = sales_of_products(source, 250, of, "(id: $this.of, by: {text: \"a\"})");
    let text = answer(&gateway, "{ sales { product { id asked } } }", "{}").await;
    let said: Value = serde_json::from_str(&text).unwrap();
    let sale = |at: usize| said["data"]["sales"][at]["product"].clone();
    assert_eq!(sale(0), Value::Null, "{text}");
    assert_eq!(sale(249)["id"], "249");
    assert_eq!(sale(1)["asked"], json!({"id": "1", "in": ["EU"], "by": {"text": "a"}}));
    let mut sent = served.sent.lock().unwrap().clone();
    sent.sort();
    assert_eq!(sent.len(), 3, "126 keys, fifty in each");
    let first = "query($v0:[Region!],$v1_0:ID!,$v1_1:ID!,";
    assert!(sent.iter().all(|(text, variables)| text.starts_with(first) && variables.ends_with("}ada")));
    let last = " r0_49:product(in:$v0,id:$v1_49,by:$v2){ id asked}}";
    assert_eq!(sent.iter().filter(|(text, _)| text.ends_with(last)).count(), 2, "{}", sent[2].0);
}

#[tokio::test]
async fn members_have_aliases_only_where_names_do_not_tell_them_apart() {
    let served = serve();
    let gateway = gateway(served.address, "").await;
    let query = "{ product(id: 1) { name: id price price2: price(in: US) maker { country } } things { ...on Product { id } } }";
    let text = answer(&gateway, query, "{}").await;
    let said = r#"{"data":{"product":{"name":"1","price":1.5,"price2":1.5,"maker":{"country":null}},"things":[{"id":"7"},{},null]}}"#;
    assert_eq!(text, said);
    let sent = served.sent.lock().unwrap().clone();
    for asked in
        ["{ id price(in:$v2) f", ":price(in:$v3) maker{ country}}", "things{t:__typename ...on Product{ f"]
    {
        assert!(sent[0].0.contains(asked), "{asked} is not in {}", sent[0].0);
    }
}

#[tokio::test]
async fn an_operation_that_fails_takes_no_other_along() {
    let served = serve();
    let source = GraphqlSource::open(server(served.address, "")).await.unwrap();
    let of = |it: usize| if it == 60 { "refuse".into() } else { it.to_string() };
    let gateway = sales_of_products(source, 120, of, "(id: $this.of)");
    let text = answer(&gateway, "{ sales { product { id } } }", "{}").await;
    let said: Value = serde_json::from_str(&text).unwrap();
    let sales = said["data"]["sales"].as_array().unwrap();
    let lost: Vec<usize> = (0..120).filter(|&it| sales[it]["product"].is_null()).collect();
    assert_eq!(lost, (50..100).collect::<Vec<_>>(), "the fifty keys of one operation");
    let errors = said["errors"].as_array().unwrap();
    assert_eq!((errors.len(), &errors[0]["path"]), (50, &json!(["sales", 50, "product"])));
    assert!(errors.iter().all(|it| it["extensions"]["code"] == "SOURCE_UNAVAILABLE"), "{text}");
}

#[tokio::test]
async fn a_mutation_is_passed_on_once() {
    let served = serve();
    let gateway = gateway(served.address, "").await;
    assert_eq!(
        answer(&gateway, "mutation { a: buy(id: 1) b: buy(id: 2) }", "{}").await,
        r#"{"data":{"a":1,"b":1}}"#
    );
    let sent = served.sent.lock().unwrap().clone();
    assert_eq!(sent[0].0, "mutation($v0:ID!,$v1:ID!){ r0_0:buy(id:$v0) r1_0:buy(id:$v1)}");
    assert_eq!(sent.len(), 1);
}

#[tokio::test]
async fn a_server_that_is_down_or_none_is_told_apart_from_one_that_is_unsound() {
    let gone = std::net::SocketAddr::from(([127, 0, 0, 1], crate::port_kit::free_port()));
    let check = async |address, expected: &str| {
        let words = match GraphqlSource::open(server(address, "")).await {
            Ok(_) => "open".to_owned(),
            Err(OpenError::Unavailable(words)) => format!("unavailable: {words}"),
            Err(OpenError::Unfit(words)) => format!("unfit: {words}"),
        };
        assert!(words.contains(expected), "{words}");
    };
    check(gone, "unavailable: the service cannot be reached").await;
    let page = Service::start(|_| wire_kit::answer("404 Not Found", "", "<html>"));
    check(page.address, "unavailable: status 404, and the body is no JSON").await;
    let shy =
        Service::start(|_| wire_kit::answer("200 OK", "", r#"{"errors":[{"message":"no introspection"}]}"#));
    check(shy.address, "unavailable: the server does not tell its schema: no introspection").await;
    let odd = r#"{"data":{"__schema":{"queryType":{"name":"Query"},"types":[]}}}"#;
    let odd = Service::start(move |_| wire_kit::answer("200 OK", "", odd));
    check(odd.address, "unfit: the server's schema is not sound").await;
}

const ONE: &str = "{ product(id: 1) { name } }";

#[tokio::test]
async fn what_a_server_answers_is_kept_as_it_says_or_as_the_text_says() {
    let kept = Kept::new(|_| {}).await;
    kept.check("", ONE, 1, Some((true, 0))).await;
    kept.check("", ONE, 1, Some((true, 0))).await;
    *kept.served.says.lock().unwrap() = Some(("cache-control", "public, max-age=60"));
    kept.check("", ONE, 1, Some((true, 60))).await;
    kept.clock.advance_ms(20_000);
    kept.check("", ONE, 0, Some((true, 40))).await;
    kept.check("", "{ product(id: 2) { name } }", 1, Some((true, 60))).await;
    kept.clock.advance_ms(40_000);
    kept.check("", ONE, 1, Some((true, 60))).await;
    let rule = CacheRule { cache_control: vec!["x-ttl".into()], default_s: Some(9), ..RULE };
    let ruled = Kept::new(|it| it.cache_rule = Some(rule)).await;
    ruled.check("", ONE, 1, Some((true, 9))).await;
    ruled.check("", ONE, 0, Some((true, 9))).await;
    *ruled.served.says.lock().unwrap() = Some(("x-ttl", "3"));
    ruled.check("", "{ product(id: 2) { name } }", 1, Some((true, 3))).await;
    let never = Kept::new(|it| it.cache_rule = Some(CacheRule { default_s: Some(0), ..RULE })).await;
    never.check("", ONE, 1, Some((true, 0))).await;
    never.check("", ONE, 1, Some((true, 0))).await;
}

#[tokio::test]
async fn an_answer_with_errors_is_not_kept() {
    let kept = Kept::new(|it| it.cache_rule = Some(CacheRule { default_s: Some(9), ..RULE })).await;
    for query in ["{ partly { name } }", "{ broken }", "{ product(id: \"refuse\") { name } }"] {
        kept.check("", query, usize::from(!query.contains("refuse")), Some((false, 0))).await;
        kept.check("", query, usize::from(!query.contains("refuse")), Some((false, 0))).await;
    }
}

#[tokio::test]
async fn what_one_user_is_answered_is_never_anothers() {
    // By the rules of HTTP an answer to an `Authorization` is the asker's own, and nobody waits for it.
    let rule = CacheRule { default_s: Some(9), ..RULE };
    let alone = Kept::passing("authorization", |it| it.cache_rule = Some(rule.clone())).await;
    for user in ["ada", "bob", "ada"] {
        alone.check(user, ONE, 1, Some((false, 9))).await;
    }
    let both = tokio::join!(ask(&alone.gateway, User("ada"), ONE), ask(&alone.gateway, User("ada"), ONE),);
    assert_eq!(both.0, both.1);
    assert_eq!(alone.served.sent.lock().unwrap().drain(..).count(), 2, "nobody waits for another's");
    // A cookie stands in the key; what is told is private all the same.
    let cookies = Kept::passing("cookie", |it| it.cache_rule = Some(rule.clone())).await;
    for (user, calls) in [("ada", 1), ("bob", 1), ("ada", 0), ("bob", 0)] {
        cookies.check(user, ONE, calls, Some((false, 9))).await;
    }
    // Callers without a credential share answers.
    for (kept, calls) in [(&cookies, 1), (&cookies, 0), (&alone, 1), (&alone, 0)] {
        kept.check("", ONE, calls, Some((true, 9))).await;
    }
    // Headers that are no credentials keep answers apart, and those may be kept by whoever looks at them.
    let clients = Kept::passing("x-client", |it| it.cache_rule = Some(rule.clone())).await;
    for (user, calls) in [("ada", 1), ("bob", 1), ("ada", 0), ("bob", 0)] {
        clients.check(user, ONE, calls, Some((true, 9))).await;
    }
    let own = CacheRule { private: true, key: vec!["x-client".into()], ..rule };
    let keyed = Kept::new(|it| it.cache_rule = Some(own)).await;
    for (user, calls) in [("ada", 1), ("bob", 1), ("ada", 0), ("", 1), ("", 1)] {
        keyed.check(user, ONE, calls, Some((false, 9))).await;
    }
}

#[tokio::test]
async fn equal_operations_in_flight_are_one() {
    let kept = Kept::passing("x-client", |_| {}).await;
    let query = "{ products(first: 1) { id } }";
    let of = |user| ask(&kept.gateway, User(user), query);
    let _ = tokio::join!(of("ada"), of("ada"), of("bob"), of("ada"));
    let mut sent: Vec<String> = kept.served.sent.lock().unwrap().drain(..).map(|it| it.1).collect();
    sent.sort();
    assert_eq!(sent, [r#"{"v0":1}ada"#, r#"{"v0":1}bob"#]);
}

#[tokio::test]
async fn a_mutation_and_a_tag_make_old_what_is_kept_of_the_server() {
    let rule = CacheRule { default_s: Some(60), ..RULE };
    let kept = Kept::new(|it| {
        it.cache_rule = Some(rule);
        it.type_tags = vec![("Maker".into(), "makers".into())];
    })
    .await;
    let plain = ONE;
    let made = "{ product(id: 1) { maker { name } } things { __typename } }";
    let both = async |calls| {
        kept.check("", plain, calls, Some((true, 60))).await;
        kept.check("", made, calls, Some((true, 60))).await;
    };
    both(1).await;
    both(0).await;
    kept.cache.invalidate("makers");
    kept.check("", plain, 0, Some((true, 60))).await;
    kept.check("", made, 1, Some((true, 60))).await;
    kept.cache.invalidate("shop");
    both(1).await;
    kept.check("", "mutation { buy(id: 1) }", 1, None).await;
    both(1).await;
    both(0).await;
}
