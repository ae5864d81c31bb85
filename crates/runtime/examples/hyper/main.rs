//! A library schema behind plain hyper.
//!
//! `cargo run -p weir-runtime --example hyper`, then
//! `curl http://127.0.0.1:8080/graphql -H 'content-type: application/json' -d '{"query":"{ users { name posts { title } } }"}'`.

#[path = "../served/mod.rs"]
mod served;
mod service;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("POST to http://{}/graphql", listener.local_addr()?);
    service::accept(listener, served::schema()?).await?;
    Ok(())
}
