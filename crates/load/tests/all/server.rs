//! A small server of GraphQL subscriptions over WebSocket and server-sent events.

use crate::service_kit::reply;
use futures_util::{SinkExt, StreamExt};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request as Upgrade, Response as Accepted};

/// A server whose mutations are pushed to its subscribers; it ends with this.
pub(crate) struct PushServer {
    pub address: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

impl PushServer {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (changes, _) = broadcast::channel(100_000);
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(connection(socket, changes.clone()));
            }
        });
        Self { address, _runtime: runtime }
    }
}

/// The connection's kind is in its head: an upgrade, a stream of events, or mutations.
async fn connection(mut socket: tokio::net::TcpStream, changes: broadcast::Sender<String>) {
    let mut peeked = [0; 4096];
    let Ok(length) = socket.peek(&mut peeked).await else { return };
    let head = String::from_utf8_lossy(&peeked[..length]).to_ascii_lowercase();
    if head.contains("upgrade: websocket") {
        return over_websocket(socket, changes.subscribe()).await;
    }
    if head.contains("text/event-stream") {
        let mut changes = changes.subscribe();
        let start = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n:\n\n";
        let mut sent = socket.write_all(start.as_bytes()).await;
        while let (Ok(()), Ok(change)) = (sent, changes.recv().await) {
            sent = socket.write_all(format!("event: next\ndata: {}\n\n", push(&change)).as_bytes()).await;
        }
        return;
    }
    let mut buffer = Vec::new();
    while let Ok(1..) = socket.read_buf(&mut buffer).await {
        // Variables end the body: `…"variables":{"n":7}}`.
        if !buffer.ends_with(b"}}") {
            continue;
        }
        let body = String::from_utf8_lossy(&buffer);
        let change = body.rsplit(':').next().unwrap_or_default().trim_end_matches('}').to_owned();
        buffer.clear();
        // Without subscribers nobody is told.
        drop(changes.send(change));
        if socket.write_all(&reply(200, "", r#"{"data":{"set":true}}"#)).await.is_err() {
            return;
        }
    }
}

fn push(change: &str) -> String {
    format!(r#"{{"data":{{"score":{{"value":{change}}}}}}}"#)
}

async fn over_websocket(socket: tokio::net::TcpStream, mut changes: broadcast::Receiver<String>) {
    #[expect(clippy::result_large_err, reason = "the signature is the library's")]
    let accept = |upgrade: &Upgrade, mut accepted: Accepted| {
        let asked = upgrade.headers()["sec-websocket-protocol"].clone();
        accepted.headers_mut().insert("sec-websocket-protocol", asked);
        Ok(accepted)
    };
    let Ok(mut socket) = tokio_tungstenite::accept_hdr_async(socket, accept).await else { return };
    for (expected, reply) in [
        ("connection_init", Some(r#"{"type":"ping"}"#)),
        ("pong", Some(r#"{"type":"connection_ack"}"#)),
        ("subscribe", None),
    ] {
        let Some(Ok(Message::Text(text))) = socket.next().await else { return };
        assert!(text.contains(expected), "{text}, expected {expected}");
        if let Some(reply) = reply {
            socket.send(Message::text(reply)).await.expect("the client is there");
        }
    }
    while let Ok(change) = changes.recv().await {
        let next = format!(r#"{{"id":"1","type":"next","payload":{}}}"#, push(&change));
        if socket.send(Message::text(next)).await.is_err() {
            return;
        }
    }
}
