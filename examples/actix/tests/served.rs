//! The example answers over real sockets as the other examples of servers do.

#[path = "../../../crates/runtime/tests/over_http/mod.rs"]
mod over_http;
#[path = "../../../crates/runtime/examples/served/mod.rs"]
mod served;
#[path = "../src/service.rs"]
mod service;

use actix_web::web::Data;
use actix_web::{App, HttpServer};
use std::net::SocketAddr;
use std::sync::OnceLock;

/// Serves the example's schema.
fn addresses() -> &'static [SocketAddr] {
    static ADDRESSES: OnceLock<Vec<SocketAddr>> = OnceLock::new();
    ADDRESSES.get_or_init(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async {
                let schema = Data::from(served::schema().expect("the schema is sound"));
                let app = move || App::new().app_data(schema.clone()).configure(service::routes);
                let server = HttpServer::new(app).workers(1).bind("127.0.0.1:0").expect("a free port");
                sender.send(server.addrs()).expect("the test waits");
                server.run().await.expect("the server runs");
            });
        });
        receiver.recv().expect("the server starts")
    })
}
