//! A PostgreSQL that takes its time, for measurements: `slow_postgres LISTEN PORT MILLISECONDS` listens on one port of this machine,
//! and lets each statement for the server on the other take so long.

#[path = "../tests/slow_kit/mod.rs"]
mod slow_kit;

use slow_kit::SlowServer;
use std::time::Duration;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<u16> = std::env::args().skip(1).map(|it| it.parse()).collect::<Result<_, _>>()?;
    let [listen, port, millis] = numbers[..] else {
        return Err("usage: slow_postgres LISTEN PORT MILLISECONDS".into());
    };
    let listener = TcpListener::bind(("127.0.0.1", listen)).await?;
    let _server = SlowServer::listen(listener, port, Duration::from_millis(u64::from(millis)));
    std::future::pending().await
}
