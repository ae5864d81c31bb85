//! Answers of an engine to one caller, as texts.

#![allow(dead_code, unreachable_pub, reason = "every test that has it uses a part of it")]

use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Request};
use weir_engine::source::Protocol;
use weir_language::json::Json;

/// All of a body, also of one that is streamed.
pub async fn gather(body: Body) -> Vec<u8> {
    match body {
        Body::Whole(bytes) => bytes,
        Body::Shared(bytes) => bytes.into(),
        Body::Increments { .. } => panic!("nothing is asked for in parts"),
        Body::Stream { mut head, mut rest } => {
            while let Some(chunk) = rest.recv().await {
                head.extend(chunk.expect("the source lives"));
            }
            head
        }
    }
}

/// A body that is so small that nothing of it is streamed.
pub fn whole(body: Body) -> String {
    let bytes = match body {
        Body::Whole(bytes) => bytes,
        Body::Shared(bytes) => bytes.into(),
        Body::Stream { .. } | Body::Increments { .. } => panic!("so small an answer is streamed"),
    };
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// The body of the answer to `query`, within a minute; `variables` is JSON or empty.
pub async fn execute(
    engine: &Engine,
    identity: &Identity,
    protocol: Protocol,
    (query, variables): (&str, &str),
) -> Body {
    let json = (!variables.is_empty()).then(|| Json::parse(variables.as_bytes(), 400).expect("JSON"));
    let request = Request {
        variables: json.as_ref().map(Json::root),
        protocol,
        ..Request::new(query, Instant::now() + Duration::from_secs(60))
    };
    engine.execute(request, &engine.caller(identity)).await.body
}

/// The answer to `query` by the rules of GraphQL over HTTP.
pub async fn ask(engine: &Engine, identity: &Identity, query: &str) -> String {
    let body = execute(engine, identity, Protocol::GraphqlOverHttp, (query, "")).await;
    String::from_utf8(gather(body).await).expect("JSON is UTF-8")
}

/// The answer to `query`, of which nothing may be streamed.
pub async fn ask_whole(engine: &Engine, identity: &Identity, query: &str) -> String {
    whole(execute(engine, identity, Protocol::GraphqlOverHttp, (query, "")).await)
}
