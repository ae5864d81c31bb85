//! A library schema behind plain hyper.
//!
//! `cargo run -p weir-runtime --example hyper`, then
//! `curl http://127.0.0.1:8080/graphql -H 'content-type: application/json' -d '{"query":"{ users { name posts { title } } }"}'`.

#[path = "../served/mod.rs"]
mod served;
mod service;

use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::sync::Arc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = served::schema()?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("POST to http://{}/graphql", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let schema = Arc::clone(&schema);
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| {
                let schema = Arc::clone(&schema);
                async move { Ok::<_, Infallible>(service::serve(&schema, request).await) }
            });
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            // A connection that breaks is the client's own affair.
            drop(server.serve_connection(TokioIo::new(stream), service).await);
        });
    }
}
