//! The examples of servers answer over real sockets. The example with actix-web is a package of its own with the same tests.

#[path = "../examples/axum/router.rs"]
mod axum_router;
mod over_http;
#[path = "../examples/served/mod.rs"]
mod served;
#[path = "../examples/hyper/service.rs"]
mod service;

use std::net::SocketAddr;
use std::sync::OnceLock;
use tokio::net::TcpListener;

/// Serves the example's schema by axum and by plain hyper.
fn addresses() -> &'static [SocketAddr] {
    static ADDRESSES: OnceLock<[SocketAddr; 2]> = OnceLock::new();
    ADDRESSES.get_or_init(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let schema = || served::schema().expect("the schema is sound");
                let bind = || async { TcpListener::bind("127.0.0.1:0").await.expect("a free port") };
                let axum = bind().await;
                let hyper = bind().await;
                let address = |it: &TcpListener| it.local_addr().expect("a bound listener has an address");
                sender.send([address(&axum), address(&hyper)]).expect("the test waits");
                let router = axum_router::router(schema());
                tokio::spawn(async move { axum::serve(axum, router).await });
                service::accept(hyper, schema()).await.expect("connections are accepted");
            });
        });
        receiver.recv().expect("the servers start")
    })
}
