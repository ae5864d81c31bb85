//! A shop that speaks gRPC by tonic's server; its messages are made by the description that a graph is made by.
#![allow(dead_code, reason = "every test that has it uses a part of it")]

use crate::wire_kit;
use bytes::{Buf, BufMut, Bytes};
use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Request, Response, Status};

/// The file that describes it.
pub(crate) fn description() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/grpc/shop.proto").into()
}

/// The file of a service whose methods take and give types of protobuf's own, and answer what they get.
pub(crate) fn known_types() -> PathBuf {
    description().with_file_name("known.proto")
}

/// The compiled description.
pub(crate) fn compile_pool() -> DescriptorPool {
    pool(description())
}

fn pool(file: PathBuf) -> DescriptorPool {
    let mut compiler = protox::Compiler::new([file.parent().unwrap()]).unwrap();
    compiler.include_imports(true).open_file(file).unwrap().descriptor_pool()
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

/// Calls of the service: method, message as JSON, and metadata.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

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

/// Answers the call of a method.
type Play = Arc<dyn Fn(&str, Request<Bytes>) -> Result<Vec<u8>, Status> + Send + Sync>;

struct Asked(Play, String);

impl tonic::server::UnaryService<Bytes> for Asked {
    type Response = Vec<u8>;
    type Future = std::future::Ready<Result<Response<Vec<u8>>, Status>>;
    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        std::future::ready((self.0)(&self.1, request).map(Response::new))
    }
}

/// The shop by tonic's server, and what it was asked.
pub(crate) fn serve() -> (std::net::SocketAddr, Log) {
    let log = Log::default();
    let shop = Shop { pool: compile_pool(), log: Arc::clone(&log) };
    (serve_by(Arc::new(move |method, request| shop.ask(method, request))), log)
}

/// The service of [`known_types`], and the messages that it was sent, as JSON.
pub(crate) fn serve_known_types() -> (std::net::SocketAddr, Log) {
    let log = Log::default();
    let pool = pool(known_types());
    let asked = Arc::clone(&log);
    let play = move |method: &str, request: Request<Bytes>| {
        let service = pool.get_service_by_name("weir.known.Known").unwrap();
        let descriptor = service.methods().find(|it| it.name() == method).unwrap();
        let message = DynamicMessage::decode(descriptor.input(), request.into_inner()).unwrap();
        asked.lock().unwrap().push(serde_json::to_string(&message).unwrap());
        Ok(if method == "SetNothing" { Vec::new() } else { message.encode_to_vec() })
    };
    (serve_by(Arc::new(play)), log)
}

fn serve_by(play: Play) -> std::net::SocketAddr {
    wire_kit::listen(move |socket| {
        let play = Arc::clone(&play);
        async move {
            let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let play = Arc::clone(&play);
                async move {
                    let method = request.uri().path().rsplit('/').next().unwrap().to_owned();
                    let mut server = tonic::server::Grpc::new(Raw);
                    let request = request.map(Body::new);
                    Ok::<_, std::convert::Infallible>(server.unary(Asked(play, method), request).await)
                }
            });
            let executor = hyper_util::rt::TokioExecutor::new();
            let connection = hyper::server::conn::http2::Builder::new(executor);
            connection
                .serve_connection(hyper_util::rt::TokioIo::new(socket), service)
                .await
                .unwrap_or_default();
        }
    })
}
