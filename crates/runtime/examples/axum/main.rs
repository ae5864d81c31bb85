//! A library schema behind axum.
//!
//! `cargo run -p weir-runtime --example axum`, then
//! `curl http://127.0.0.1:8080/graphql -H 'content-type: application/json' -d '{"query":"{ users { name posts { title } } }"}'`.

mod router;
#[path = "../served/mod.rs"]
mod served;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("POST to http://{}/graphql", listener.local_addr()?);
    axum::serve(listener, router::router(served::schema()?)).await?;
    Ok(())
}
