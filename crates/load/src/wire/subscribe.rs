//! Subscriptions: GraphQL over WebSocket (`graphql-transport-ws`) and server-sent events.

use super::connect::{Dialer, Stream};
use super::http2::into_http;
use super::{ANSWER_BYTES_MAX, HttpRequest, WireError};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::header::{ACCEPT, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

/// An open subscription.
pub(crate) enum Subscription {
    Websocket(Box<WebSocketStream<Box<dyn Stream>>>),
    Sse(Incoming, Vec<u8>),
}

/// A message of the protocol.
#[derive(Deserialize)]
struct Told<'m> {
    #[serde(rename = "type")]
    kind: &'m str,
    #[serde(borrow, default)]
    payload: Option<&'m RawValue>,
}

const WS: &str = "graphql-transport-ws";

/// Subscribes over a WebSocket; `request` has the path, the headers and the JSON of the operation.
pub(crate) async fn websocket(dialer: &Dialer, request: HttpRequest) -> Result<Subscription, WireError> {
    let wrong = |cause: tokio_tungstenite::tungstenite::Error| WireError::new("connect", cause);
    let scheme = if dialer.target.is_tls { "wss" } else { "ws" };
    let url = format!("{scheme}://{}{}", dialer.target.authority(), request.path);
    let mut upgrade = url.into_client_request().map_err(wrong)?;
    for (name, value) in request.headers {
        if name != http::header::CONTENT_TYPE {
            upgrade.headers_mut().insert(name, value);
        }
    }
    upgrade.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(WS));
    let (mut socket, _) = client_async(upgrade, dialer.dial().await?).await.map_err(wrong)?;
    socket.send(Message::text("{\"type\":\"connection_init\"}")).await.map_err(wrong)?;
    loop {
        let Some(message) = socket.next().await else {
            return Err(WireError::new("closed", "the server closed the socket before it acknowledged it"));
        };
        let Message::Text(text) = message.map_err(wrong)? else { continue };
        match serde_json::from_str::<Told<'_>>(&text) {
            Ok(Told { kind: "connection_ack", .. }) => break,
            Ok(Told { kind: "ping", .. }) => {
                socket.send(Message::text("{\"type\":\"pong\"}")).await.map_err(wrong)?;
            }
            Ok(_) | Err(_) => return Err(WireError::new("protocol", text)),
        }
    }
    let payload = String::from_utf8_lossy(&request.body);
    let subscribe = format!("{{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":{payload}}}");
    socket.send(Message::text(subscribe)).await.map_err(wrong)?;
    Ok(Subscription::Websocket(Box::new(socket)))
}

/// Subscribes by a request whose answer is a stream of events.
pub(crate) async fn sse(dialer: &Dialer, mut request: HttpRequest) -> Result<Subscription, WireError> {
    let wrong = |cause: hyper::Error| WireError::new("connect", cause);
    request.headers.push((ACCEPT, HeaderValue::from_static("text/event-stream")));
    let stream = TokioIo::new(dialer.dial().await?);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.map_err(wrong)?;
    tokio::spawn(async { drop(connection.await) });
    let request = into_http(request, dialer, "")?;
    let answer = sender.send_request(request).await.map_err(wrong)?;
    if !answer.status().is_success() {
        return Err(WireError::new("status", answer.status()));
    }
    Ok(Subscription::Sse(answer.into_body(), Vec::new()))
}

impl Subscription {
    /// The next pushed result; nothing once the server has completed the subscription.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, WireError> {
        match self {
            Self::Websocket(socket) => next_message(socket).await,
            Self::Sse(body, buffer) => next_event(body, buffer).await,
        }
    }
}

async fn next_message(socket: &mut WebSocketStream<Box<dyn Stream>>) -> Result<Option<Bytes>, WireError> {
    let wrong = |cause: tokio_tungstenite::tungstenite::Error| WireError::new("closed", cause);
    loop {
        let Some(message) = socket.next().await else {
            return Err(WireError::new("closed", "the server closed the socket"));
        };
        let text = match message.map_err(wrong)? {
            Message::Text(text) => text,
            Message::Close(frame) => {
                let reason = frame.map_or_else(String::new, |it| format!("{} {}", it.code, it.reason));
                return Err(WireError::new("closed", format!("the server closed the socket: {reason}")));
            }
            _ => continue,
        };
        let told: Told<'_> =
            serde_json::from_str(&text).map_err(|cause| WireError::new("protocol", cause))?;
        match (told.kind, told.payload) {
            ("next", Some(payload)) => return Ok(Some(Bytes::copy_from_slice(payload.get().as_bytes()))),
            ("complete", _) => return Ok(None),
            ("ping", _) => socket.send(Message::text("{\"type\":\"pong\"}")).await.map_err(wrong)?,
            ("error", payload) => {
                return Err(WireError::new("graphql", payload.map_or("", RawValue::get)));
            }
            _ => {}
        }
    }
}

async fn next_event(body: &mut Incoming, buffer: &mut Vec<u8>) -> Result<Option<Bytes>, WireError> {
    loop {
        while let Some(end) = event_end(buffer) {
            let event: Vec<u8> = buffer.drain(..end).collect();
            match read_event(&String::from_utf8_lossy(&event)) {
                (Some("complete"), _) => return Ok(None),
                (_, data) if !data.is_empty() => return Ok(Some(data.into())),
                _ => {}
            }
        }
        if buffer.len() > ANSWER_BYTES_MAX {
            return Err(WireError::new("protocol", "an event is too long"));
        }
        match body.frame().await {
            None => return Ok(None),
            Some(frame) => {
                let frame = frame.map_err(|cause| WireError::new("closed", cause))?;
                if let Ok(data) = frame.into_data() {
                    buffer.extend(data.iter().filter(|it| **it != b'\r'));
                }
            }
        }
    }
}

fn event_end(buffer: &[u8]) -> Option<usize> {
    memchr::memmem::find(buffer, b"\n\n").map(|at| at + 2)
}

/// The kind of an event and its data.
fn read_event(text: &str) -> (Option<&str>, String) {
    let mut kind = None;
    let mut data = String::new();
    for line in text.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => kind = Some(value),
            "data" => {
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(value);
            }
            _ => {}
        }
    }
    (kind, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_kind_and_lines_of_data() {
        assert_eq!(
            read_event("event: next\ndata: {\"a\":\ndata: 1}\n\n"),
            (Some("next"), "{\"a\":\n1}".into())
        );
        assert_eq!(read_event(": keep alive\n\n"), (None, String::new()));
        assert_eq!(event_end(b"data: 1\n\nrest"), Some(9));
        assert_eq!(event_end(b"data: 1\n"), None);
    }
}
