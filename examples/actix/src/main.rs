//! A library schema behind actix-web.
//!
//! `cargo run --manifest-path examples/actix/Cargo.toml`, then
//! `curl http://127.0.0.1:8080/graphql -H 'content-type: application/json' -d '{"query":"{ users { name posts { title } } }"}'`.

#[path = "../../../crates/runtime/examples/served/mod.rs"]
mod served;
mod service;

use actix_web::web::Data;
use actix_web::{App, HttpServer};

#[actix_web::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Data::from(served::schema()?);
    let app = move || App::new().app_data(schema.clone()).configure(service::routes);
    let server = HttpServer::new(app).bind("127.0.0.1:8080")?;
    println!("POST to http://127.0.0.1:8080/graphql");
    server.run().await?;
    Ok(())
}
