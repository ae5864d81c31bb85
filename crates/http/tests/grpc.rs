//! A gRPC server behind the graph: a real one, whose messages are made by the description that the graph is made by.

#[path = "../../engine/tests/kit/mod.rs"]
mod kit;
mod wire_kit;

use bytes::{Buf, BufMut, Bytes};
use kit::{Documents, answer, engine_of};
use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Request, Response, Status};
use weir_engine::compose::Join;
use weir_engine::engine::Engine;
use weir_engine::source::Source;
use weir_http::call::Policy;
use weir_http::grpc::{self, GrpcSource};
use weir_http::shaped::{OpenError, Passed, PassedValue, Server};

fn description() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/grpc/shop.proto")
}

/// Bytes as they are: the messages are the business of the service.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;
    fn encoder(&mut self) -> Self {
        Self
    }
    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;
    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;
    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

/// What the service was asked: method, message as JSON, and what came with it.
type Log = Arc<Mutex<Vec<String>>>;

#[derive(Clone)]
struct Shop {
    pool: DescriptorPool,
    log: Log,
}

impl tonic::server::NamedService for Shop {
    const NAME: &'static str = "weir.shop.Shop";
}

impl Shop {
    fn message(&self, name: &str, value: Value) -> Vec<u8> {
        let descriptor = self.pool.get_message_by_name(&format!("weir.shop.{name}")).unwrap();
        DynamicMessage::deserialize(descriptor, value).unwrap().encode_to_vec()
    }

    fn ask(&self, method: &str, request: Request<Bytes>) -> Result<Vec<u8>, Status> {
        let service = self.pool.get_service_by_name("weir.shop.Shop").unwrap();
        let descriptor = service.methods().find(|it| it.name() == method).unwrap();
        let has_deadline = request.metadata().contains_key("grpc-timeout");
        let user = request.metadata().get("x-user").map_or("", |it| it.to_str().unwrap()).to_owned();
        let asked = DynamicMessage::decode(descriptor.input(), request.into_inner()).unwrap();
        let asked = serde_json::to_value(&asked).unwrap();
        self.log.lock().unwrap().push(format!("{method} {asked} {has_deadline} {user}"));
        match (method, asked["id"].as_str().unwrap_or_default()) {
            ("GetProduct", "9007199254740993") => Err(Status::not_found("row 7 of db.internal")),
            ("GetProduct", "8") => Err(Status::unavailable("db.internal is down")),
            ("GetProduct", "7") => Err(Status::resource_exhausted("")),
            ("GetProduct", id) => Ok(self.message("Product", product(id))),
            ("ListProducts", _) => Ok(self
                .message("ProductList", json!({"products": [product("1"), {"id": "2"}], "total": {"x": 2}}))),
            ("Buy", _) => Ok(Vec::new()),
            _ => Err(Status::unimplemented("")),
        }
    }
}

fn product(id: &str) -> Value {
    json!({"id": id, "name": "Lamp", "price": 1.5, "region": "EU", "tags": ["a", "b\u{e9}"], "image": "AAE=",
        "made": "2026-11-21T20:00:00Z", "maker": {"name": "Ann", "best": {"id": "5"}}, "stock": 7})
}

struct Asked(Shop, String);

impl tonic::server::UnaryService<Bytes> for Asked {
    type Response = Vec<u8>;
    type Future = std::future::Ready<Result<Response<Vec<u8>>, Status>>;
    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        std::future::ready(self.0.ask(&self.1, request).map(Response::new))
    }
}

/// The shop by tonic's server, and what it was asked.
fn serve() -> (std::net::SocketAddr, Log) {
    let mut compiler = protox::Compiler::new([description().parent().unwrap()]).unwrap();
    let pool = compiler.include_imports(true).open_file(description()).unwrap().descriptor_pool();
    let log = Log::default();
    let shop = Shop { pool, log: Arc::clone(&log) };
    let address = wire_kit::listen(move |socket| {
        let shop = shop.clone();
        async move {
            let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let shop = shop.clone();
                async move {
                    let method = request.uri().path().rsplit('/').next().unwrap().to_owned();
                    let mut server = tonic::server::Grpc::new(Raw);
                    let request = request.map(Body::new);
                    Ok::<_, std::convert::Infallible>(server.unary(Asked(shop, method), request).await)
                }
            });
            let executor = hyper_util::rt::TokioExecutor::new();
            let connection = hyper::server::conn::http2::Builder::new(executor);
            connection
                .serve_connection(hyper_util::rt::TokioIo::new(socket), service)
                .await
                .unwrap_or_default();
        }
    });
    (address, log)
}

fn source(address: std::net::SocketAddr) -> Arc<dyn Source> {
    let value = PassedValue::Fixed(http::HeaderValue::from_static("ada"));
    let server = Server {
        name: "shop".into(),
        url: format!("http://{address}").parse().unwrap(),
        ca: None,
        prefix: "".into(),
        headers: vec![Passed { name: "x-user".parse().unwrap(), value }],
        policy: Policy { retries: 0, ..Policy::USUAL },
    };
    Arc::new(GrpcSource::open(server, &description()).unwrap())
}

fn gateway(address: std::net::SocketAddr) -> Engine {
    engine_of(vec![source(address)], &[])
}

#[test]
fn a_description_becomes_types_and_fields() {
    let sdl = grpc::sdl(&description(), "").unwrap();
    let expected = std::fs::read_to_string(description().with_extension("graphql")).unwrap();
    assert_eq!(sdl, expected);
    let prefixed = grpc::sdl(&description(), "shop_").unwrap();
    assert!(
        prefixed.contains("shop_getProduct(id: BigInt") && prefixed.contains("type shop_Product {"),
        "{prefixed}"
    );
}

#[tokio::test]
async fn messages_are_answers_and_arguments_messages() {
    let (address, log) = serve();
    let gateway = gateway(address);
    let query = "query ($f: ListRequest_FilterInput) {
        getProduct(id: 3) { id name price region tags image made stock maker { name best { id maker { name } } } __typename }
        listProducts(filter: $f, regions: [US, EU]) { products { id name region tags maker { name } } total } }";
    let text = answer(
        &gateway,
        query,
        r#"{"f": {"text": "x", "not": {"min": 2.5}, "since": "2026-01-01T00:00:00Z"}}"#,
    )
    .await;
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        json!({"data": {
            "getProduct": {"id": 3, "name": "Lamp", "price": 1.5, "region": "EU", "tags": ["a", "b\u{e9}"], "image": "AAE=",
                "made": "2026-11-21T20:00:00Z", "stock": 7,
                "maker": {"name": "Ann", "best": {"id": 5, "maker": null}}, "__typename": "Product"},
            "listProducts": {"products": [
                {"id": 1, "name": "Lamp", "region": "EU", "tags": ["a", "b\u{e9}"], "maker": {"name": "Ann"}},
                {"id": 2, "name": "", "region": "NOWHERE", "tags": [], "maker": null}], "total": {"x": 2}}
        }}),
        "{text}"
    );
    let mut asked = log.lock().unwrap().clone();
    asked.sort();
    assert_eq!(
        asked,
        [
            r#"GetProduct {"id":"3"} true ada"#,
            r#"ListProducts {"filter":{"text":"x","not":{"min":2.5},"since":"2026-01-01T00:00:00Z"},"regions":["US","EU"]} true ada"#,
        ]
    );
}

#[tokio::test]
async fn a_status_is_an_error_with_a_code_and_without_the_servers_words() {
    let (address, log) = serve();
    let gateway = gateway(address);
    let query = "{ a: getProduct(id: 9007199254740993) { id } b: getProduct(id: 8) { id } c: getProduct(id: 7) { id } d: getProduct(id: 1) { id } }";
    let text = answer(&gateway, query, "{}").await;
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(said["data"], json!({"a": null, "b": null, "c": null, "d": {"id": 1}}));
    let errors: Vec<_> = said["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["path"][0], &it["extensions"]["code"]))
        .collect();
    let expected = [("a", "SOURCE_REFUSED"), ("b", "SOURCE_UNAVAILABLE"), ("c", "POOL_TIMEOUT")];
    assert_eq!(
        errors,
        expected.map(|(path, code)| (json!(path), json!(code))).each_ref().map(|it| (&it.0, &it.1))
    );
    assert!(!text.contains("db.internal"), "{text}");
    let text = answer(&gateway, "{ listProducts(filter: {since: \"soon\"}) { total } }", "{}").await;
    assert!(text.contains("BAD_USER_INPUT") && text.contains(r#""data":{"listProducts":null}"#), "{text}");
    assert_eq!(log.lock().unwrap().len(), 4, "what does not fit is not sent");
}

#[tokio::test]
async fn mutations_run_in_order_and_keys_are_asked_once_each() {
    let (address, log) = serve();
    let sales = Documents::new("sales", "type Query { sales: [Sale] } type Sale { of: Int }", |_, _| {
        Ok(json!([{"of": 1}, {"of": 2}, {"of": 1}, {"of": 8}, {"of": null}]))
    });
    let join = Join {
        on: "Sale".into(),
        name: "product".into(),
        description: String::new(),
        source: "shop".into(),
        target: "getProduct".into(),
        arguments: "(id: $this.of)".into(),
    };
    let gateway = engine_of(vec![sales as Arc<dyn Source>, source(address)], &[join]);
    let text = answer(&gateway, "{ sales { product { id } } }", "{}").await;
    assert!(text.ends_with(r#""data":{"sales":[{"product":{"id":1}},{"product":{"id":2}},{"product":{"id":1}},{"product":null},{"product":null}]}}"#), "{text}");
    assert_eq!(log.lock().unwrap().len(), 3);
    log.lock().unwrap().clear();
    let text = answer(&gateway, "mutation { a: buy(id: 1, count: 2) b: buy(id: 2) }", "{}").await;
    assert_eq!(text, r#"{"data":{"a":true,"b":true}}"#);
    assert_eq!(*log.lock().unwrap(), [r#"Buy {"id":"1","count":2} true ada"#, r#"Buy {"id":"2"} true ada"#]);
}

#[test]
fn a_description_that_cannot_be_read_is_told() {
    let server = |description: &Path| match grpc::sdl(description, "") {
        Ok(sdl) => sdl,
        Err(OpenError::Unavailable(words) | OpenError::Unfit(words)) => words,
    };
    assert!(server(Path::new("nowhere.proto")).contains("nowhere.proto"));
    assert!(server(&description().with_extension("graphql")).contains("shop.graphql"));
}
