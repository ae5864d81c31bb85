//! WebSocket handshake: over HTTP/1.1 the connection becomes the socket, over HTTP/2 one stream does.
//!
//! **Invariant:** a page of an origin that may not call gets no socket.
//!
//! Sources: RFC 6455, section 4; RFC 8441.

use super::SocketConnection;
use crate::server::connection::guarded_io::TimedIo;
use crate::server::connection::head_guard::{has_upgrade, is_websocket};
use crate::server::connection::unread::StreamTask;
use crate::server::connection::websocket_terms::{SocketApi, WebSocketTerms};
use crate::server::request::answer::Answer;
use crate::server::request::answer::refusal::Refusal;
use crate::server::request::answer::response_body::ResponseBody;
use crate::server::request::client_headers::copy_headers;
use crate::server::request::context::RequestContext;
use crate::server::telemetry::metrics::{Endpoint, Verdict};
use hyper::ext::Protocol;
use hyper::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Response, StatusCode, Version};
use hyper_util::rt::TokioIo;
use std::rc::Rc;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use weir_transport::socket::Subprotocol;

/// Length of `sec-websocket-key`: 16 bytes in base64. Source: RFC 6455, section 4.1.
const KEY_BYTES: usize = 24;

/// True if the head asks for a WebSocket.
pub(crate) fn is_offered(head: &Parts) -> bool {
    let headers = &head.headers;
    let is_upgrade = || {
        headers.contains_key(UPGRADE)
            && headers.get_all(UPGRADE).iter().any(|it| is_websocket(it.as_bytes()))
            && headers.get_all(CONNECTION).iter().any(|it| has_upgrade(it.as_bytes()))
    };
    if head.version == Version::HTTP_2 { is_extended_connect(head) } else { is_upgrade() }
}

/// True for an HTTP/2 head that asks for a WebSocket, which replaces the GET of HTTP/1.1. Source: RFC 8441, section 5.
pub(crate) fn is_extended_connect(head: &Parts) -> bool {
    let protocol = || head.extensions.get::<Protocol>();
    head.method == Method::CONNECT && protocol().is_some_and(|it| it.as_str() == "websocket")
}

/// Headers irrelevant to operations. They would occupy memory as long as the socket is open.
const OF_THE_HANDSHAKE: [HeaderName; 6] = [
    CONNECTION,
    UPGRADE,
    SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION,
];

/// Accepts a WebSocket, on Relay's API if `is_relay`, or refuses it.
pub(crate) fn accept(
    context: &RequestContext,
    head: &Parts,
    endpoint: Endpoint,
    is_relay: bool,
) -> Result<Answer, Refusal> {
    let headers = &head.headers;
    let is_stream = head.version == Version::HTTP_2;
    if !is_stream && (head.method != Method::GET || head.version != Version::HTTP_11) {
        return Err(upgrade_refusal(
            "a WebSocket begins with a GET in HTTP/1.1, or with a CONNECT in HTTP/2",
        ));
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|it| it != "13") {
        return Err(upgrade_refusal("the version of WebSockets that is spoken is 13"));
    }
    // HTTP/2 has no key; the method suffices.
    let key = headers.get(SEC_WEBSOCKET_KEY).filter(|it| it.len() == KEY_BYTES);
    if key.is_none() && !is_stream {
        return Err(upgrade_refusal("a WebSocket needs `sec-websocket-key`, 16 bytes in base64"));
    }
    if !context.generation.cors.may_call(head) {
        let message = "web pages of this origin may not open a socket; `cors.origins` names those that may";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "ACCESS_DENIED", message));
    }
    let Some(subprotocol) = Subprotocol::choose(headers, endpoint.dialect()) else {
        let message =
            "a WebSocket needs `sec-websocket-protocol: graphql-transport-ws`, or the older `graphql-ws`";
        return Err(upgrade_refusal(message));
    };
    let mut own = copy_headers(headers);
    OF_THE_HANDSHAKE.iter().for_each(|name| drop(own.remove(name)));
    let api = SocketApi { subprotocol, endpoint, is_relay };
    let terms = WebSocketTerms::new(api, own, &context.generation.config.limits);
    let mut response = Response::new(ResponseBody::empty());
    let answer = response.headers_mut();
    // A protocol may be chosen only if the client offered some.
    if headers.contains_key(SEC_WEBSOCKET_PROTOCOL) {
        answer.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(subprotocol.name()));
    }
    if let Some(key) = key.filter(|_| !is_stream) {
        answer.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
        let accepted = HeaderValue::from_maybe_shared(bytes::Bytes::from(derive_accept_key(key.as_bytes())));
        answer.insert(SEC_WEBSOCKET_ACCEPT, accepted.unwrap_or(HeaderValue::from_static("")));
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        context.watched.agree(terms);
    } else if let Some(upgrade) = head.extensions.get::<OnUpgrade>() {
        serve_stream(context, upgrade.clone(), terms);
    }
    Ok(Answer { response, endpoint, verdict: Verdict::Executed, execution: None })
}

fn upgrade_refusal(message: &'static str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "UPGRADE_NOT_SUPPORTED", message)
}

/// Serves a stream of HTTP/2 after the response to its head. It has timeouts of its own, and counts as a request in flight of its
/// connection.
fn serve_stream(context: &RequestContext, upgrade: OnUpgrade, terms: WebSocketTerms) {
    let worker = Rc::clone(&context.worker);
    let connection = Rc::clone(&context.watched);
    let peer = context.peer;
    let task = StreamTask::current();
    tokio::task::spawn_local(async move {
        let _in_flight = connection.begin_socket();
        let watched = worker.clock.watch_stream(&connection);
        // The upgrade fails if the client is gone.
        if let Ok(stream) = upgrade.await {
            let sender = task.and_then(|it| it.take_child());
            let stream = TimedIo::of_stream(TokioIo::new(stream), Rc::clone(&watched));
            let connection = SocketConnection { worker: &worker, watched: &watched, peer };
            super::serve(stream, Vec::new(), terms, connection).await;
            if let Some(sender) = sender {
                watched.leave_stream(sender);
            }
        }
    });
}
