//! Subscriptions of a remote schema: one WebSocket to its server for each subscription of a client, by `graphql-transport-ws`.
//!
//! The socket is read by who waits for the next result, so a slow client slows the server down, and nothing is buffered but one message.
//! Dropped, the subscription closes the socket.
//!
//! **Invariant:** what was begun ends with the server's `complete`, with its errors, or with [`RemoteEvent::Lost`]; it is never begun
//! again, as results in between would be missing.
//!
//! Source: <https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md>.

use super::{DEPTH_MAX, GraphqlLink};
use crate::call::{CallError, Peer, ServiceStream, may_be_sent_to};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{SinkExt, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, SEC_WEBSOCKET_PROTOCOL};
use http::{HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use weir_language::json::{Json, JsonRef};
use weir_language::string_value::write_json;

const SUBPROTOCOL: &str = "graphql-transport-ws";

/// Silence after which the server is asked for a sign of life, and then the time for it.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// A message of a server's subscription.
#[derive(Debug)]
pub(super) enum RemoteEvent {
    /// The body of a result.
    Result(Bytes),
    /// There is no answer: the server cannot be reached, refuses the socket, or closed it before the end.
    Lost(String),
    /// The server did not take the subscription in time.
    Late,
}

/// A subscription that is not begun.
pub(super) struct Opening {
    pub(super) link: Arc<GraphqlLink>,
    /// Headers of the handshake and of the login.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// Text and variables of the operation, as JSON.
    pub(super) operation: Vec<u8>,
}

type Socket = WebSocketStream<ServiceStream>;

enum Stage {
    Opening(Box<Opening>),
    Open(Box<Socket>),
    Over,
}

/// A step of the protocol.
enum SocketStep {
    Acknowledged,
    Result(Bytes),
    /// The last result.
    End(Bytes),
    Complete,
    Nothing,
}

/// The events of a subscription, which begins when the first is asked for.
pub(super) fn events(opening: Opening) -> BoxStream<'static, RemoteEvent> {
    let first = Stage::Opening(Box::new(opening));
    stream::unfold(first, |stage| async move {
        let mut socket = match stage {
            Stage::Over => return None,
            Stage::Open(socket) => socket,
            Stage::Opening(opening) => {
                let within = opening.link.server.policy.timeout;
                match timeout(within, begin(*opening)).await {
                    Ok(Ok(socket)) => Box::new(socket),
                    Ok(Err(words)) => return Some((RemoteEvent::Lost(words), Stage::Over)),
                    Err(_) => return Some((RemoteEvent::Late, Stage::Over)),
                }
            }
        };
        loop {
            match next(&mut socket).await {
                Ok(SocketStep::Result(body)) => {
                    return Some((RemoteEvent::Result(body), Stage::Open(socket)));
                }
                Ok(SocketStep::End(body)) => return Some((RemoteEvent::Result(body), Stage::Over)),
                Ok(SocketStep::Complete) => return None,
                Ok(SocketStep::Acknowledged | SocketStep::Nothing) => {}
                Err(words) => return Some((RemoteEvent::Lost(words), Stage::Over)),
            }
        }
    })
    .boxed()
}

/// Opens the socket, logs in and sends the operation.
async fn begin(opening: Opening) -> Result<Socket, String> {
    let Opening { link, headers, operation } = opening;
    let Some(sockets) = &link.sockets else { return Err("the server has no subscriptions".into()) };
    let headers: Vec<_> = headers.into_iter().filter(|it| is_sent(&it.0)).collect();
    // The handshake goes over the stream that is open already, so the scheme and the host only name it.
    let authority = link.server.url.authority().map_or("", |it| it.as_str());
    let mut request =
        format!("ws://{authority}{}", link.path).into_client_request().map_err(|it| it.to_string())?;
    for (name, value) in &headers {
        request.headers_mut().append(name.clone(), value.clone());
    }
    request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    let stream = sockets.open_stream().await.map_err(|it: CallError| it.to_string())?;
    let bytes_max = Some(link.server.policy.body_bytes_max);
    let limits = WebSocketConfig::default().max_message_size(bytes_max).max_frame_size(bytes_max);
    let opened = client_async_with_config(request, stream, Some(limits)).await;
    let (mut socket, _) = opened.map_err(|it| it.to_string())?;
    send(&mut socket, login(&headers)).await?;
    while !matches!(next(&mut socket).await?, SocketStep::Acknowledged) {}
    let mut subscribe = String::from("{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":");
    subscribe.push_str(&String::from_utf8_lossy(&operation));
    subscribe.push('}');
    send(&mut socket, subscribe).await?;
    Ok(socket)
}

/// True for headers of a call that a handshake may have.
fn is_sent(name: &HeaderName) -> bool {
    let is_of_body = *name == CONTENT_TYPE || *name == ACCEPT;
    may_be_sent_to(Peer::Webhook, name) && !is_of_body && !name.as_str().starts_with("sec-websocket-")
}

/// The message of the login. Servers such as Hasura read the headers there that others read of the handshake.
fn login(headers: &[(HeaderName, HeaderValue)]) -> String {
    let mut out = String::from("{\"type\":\"connection_init\",\"payload\":{\"headers\":{");
    let mut between = "";
    for (at, (name, value)) in headers.iter().enumerate() {
        let Ok(value) = value.to_str() else { continue };
        if headers[..at].iter().any(|it| it.0 == name) {
            continue;
        }
        out.push_str(between);
        write_json(name.as_str(), &mut out);
        out.push(':');
        write_json(value, &mut out);
        between = ",";
    }
    out.push_str("}}}");
    out
}

async fn send(socket: &mut Socket, text: String) -> Result<(), String> {
    socket.send(Message::text(text)).await.map_err(|it| it.to_string())
}

/// The next step. Cancelled, it loses nothing.
async fn next(socket: &mut Socket) -> Result<SocketStep, String> {
    let message = match timeout(SILENCE_MAX, socket.next()).await {
        Ok(message) => message,
        Err(_) => {
            socket.send(Message::Ping(Bytes::new())).await.map_err(|it| it.to_string())?;
            timeout(SILENCE_MAX, socket.next()).await.map_err(|_| "the server is silent")?
        }
    };
    let text = match message.transpose().map_err(|it: SocketError| it.to_string())? {
        Some(Message::Text(text)) => text,
        Some(Message::Close(frame)) => {
            let words = frame.map_or_else(String::new, |it| format!(": {} {}", it.code, it.reason));
            return Err(format!("the server closed the socket{words}"));
        }
        Some(_) => return Ok(SocketStep::Nothing),
        None => return Err("the server closed the socket".into()),
    };
    let told = read(&text)?;
    if let SocketStep::Nothing = told
        && is_ping(&text)
    {
        send(socket, "{\"type\":\"pong\"}".into()).await?;
    }
    Ok(told)
}

fn kind_of<'t>(json: &'t Json<'t>) -> Option<std::borrow::Cow<'t, str>> {
    json.root().get("type").and_then(JsonRef::as_str)
}

fn is_ping(text: &str) -> bool {
    Json::parse(text.as_bytes(), DEPTH_MAX).is_ok_and(|it| kind_of(&it).as_deref() == Some("ping"))
}

fn read(text: &str) -> Result<SocketStep, String> {
    let json = Json::parse(text.as_bytes(), DEPTH_MAX).map_err(|it| format!("a message is no JSON: {it}"))?;
    let payload = json.root().get("payload").map_or("null", JsonRef::raw);
    let told = match kind_of(&json).as_deref() {
        Some("connection_ack") => SocketStep::Acknowledged,
        Some("next") => SocketStep::Result(Bytes::copy_from_slice(payload.as_bytes())),
        Some("error") => SocketStep::End(Bytes::from(format!("{{\"errors\":{payload}}}"))),
        Some("complete") => SocketStep::Complete,
        Some(_) | None => SocketStep::Nothing,
    };
    Ok(told)
}
