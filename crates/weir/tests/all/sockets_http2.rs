//! WebSockets as streams of HTTP/2. Source: RFC 8441.

use crate::live::rename;
use crate::sockets::{ACK, INIT, NEW, begin, patient};
use crate::support::{Weir, body};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2::SendRequest;
use hyper::ext::Protocol;
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

const PET: &str = r#"{"query":"subscription { pet_by_pk(id: 1) { name } }"}"#;

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// A connection whose server has said that it knows sockets, which it does with its first frame.
async fn connect(weir: &Weir) -> SendRequest<Empty<Bytes>> {
    let socket = tokio::net::TcpStream::connect(weir.address).await.expect("the server accepts");
    let (mut send, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket))
            .await
            .expect("it is HTTP/2");
    tokio::spawn(connection);
    assert_eq!(ask(&mut send, Method::GET, "/livez", None, &[]).await.status(), 200);
    send
}

async fn ask(
    send: &mut SendRequest<Empty<Bytes>>,
    method: Method,
    path: &str,
    protocol: Option<&'static str>,
    headers: &[(&str, &str)],
) -> Response<hyper::body::Incoming> {
    let mut request = Request::builder().method(method).uri(format!("http://localhost{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Empty::new()).expect("it is well formed");
    if let Some(protocol) = protocol {
        request.extensions_mut().insert(Protocol::from_static(protocol));
    }
    send.send_request(request).await.expect("it is answered")
}

async fn socket(send: &mut SendRequest<Empty<Bytes>>, path: &str, subprotocol: &str) -> Socket {
    let headers = [("sec-websocket-version", "13"), ("sec-websocket-protocol", subprotocol)];
    let answer = ask(send, Method::CONNECT, path, Some("websocket"), &headers).await;
    assert_eq!(answer.status(), 200, "{answer:?}");
    assert_eq!(answer.headers()["sec-websocket-protocol"], subprotocol);
    let stream = hyper::upgrade::on(answer).await.expect("the stream is a socket");
    let mut socket = WebSocketStream::from_raw_socket(TokioIo::new(stream), Role::Client, None).await;
    say(&mut socket, INIT).await;
    assert_eq!(hear(&mut socket).await, ACK);
    socket
}

async fn say(socket: &mut Socket, text: &str) {
    socket.send(Message::text(text)).await.expect("it is sent");
}

async fn hear(socket: &mut Socket) -> String {
    loop {
        match socket.next().await.expect("the socket is open").expect("there is a message") {
            Message::Text(text) => return text.as_str().to_owned(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("it starts").block_on(test);
}

#[test]
fn sockets_share_a_connection_with_requests() {
    let weir = patient("");
    run(async {
        let mut send = connect(&weir).await;
        let mut first = socket(&mut send, "/graphql", NEW).await;
        let mut second = socket(&mut send, "/v1/graphql", "graphql-ws").await;
        say(&mut first, &begin(NEW, "a", PET)).await;
        say(&mut second, &begin("graphql-ws", "b", PET)).await;
        for name in ["Ada", "Eve", "Ada"] {
            if !hear(&mut first).await.contains(name) || !hear(&mut second).await.contains(name) {
                panic!("{name} was not told");
            }
            let next = if name == "Eve" { "Ada" } else { "Eve" };
            let rename = || rename(&weir, next);
            tokio::task::block_in_place(rename);
        }
        let answer = ask(&mut send, Method::GET, "/livez", None, &[]).await;
        assert_eq!(answer.into_body().collect().await.expect("it is whole").to_bytes(), "ok\n");
        // One ends, the other goes on.
        first.close(None).await.expect("it is closed");
        assert!(hear(&mut second).await.contains("Eve"));
        say(&mut second, &begin("graphql-ws", "c", &body("{ __typename }"))).await;
        assert!(hear(&mut second).await.contains("query_root"));
    });
}

/// A path, the protocol that is asked for, headers; the status and words of the answer.
type Refused<'c> = (&'c str, &'static str, &'c [(&'c str, &'c str)], u16, &'c str);

#[test]
fn a_stream_that_is_no_socket_is_refused_in_words() {
    let weir = patient("");
    let sound = [("sec-websocket-version", "13"), ("sec-websocket-protocol", NEW)];
    let foreign = [sound[0], sound[1], ("origin", "http://evil.example")];
    let cases: [Refused<'_>; 6] = [
        ("/graphql", "websocket", &sound[1..], 400, "the version of WebSockets that is spoken is 13"),
        ("/graphql", "websocket", &sound[..1], 400, "a WebSocket needs `sec-websocket-protocol"),
        ("/graphql", "websocket", &foreign, 403, "web pages of this origin may not open a socket"),
        ("/livez", "websocket", &sound, 400, "WebSockets are taken at /graphql and /v1/graphql"),
        ("/nowhere", "websocket", &sound, 404, "NOT_FOUND"),
        ("/graphql", "connect-udp", &sound, 405, "METHOD_NOT_ALLOWED"),
    ];
    run(async {
        let mut send = connect(&weir).await;
        for (path, protocol, headers, status, words) in cases {
            let answer = ask(&mut send, Method::CONNECT, path, Some(protocol), headers).await;
            assert_eq!(answer.status(), status, "{path} {protocol}");
            let text = answer.into_body().collect().await.expect("the body is whole").to_bytes();
            assert!(String::from_utf8_lossy(&text).contains(words), "{path}: {text:?}");
        }
        // The connection goes on.
        let mut socket = socket(&mut send, "/graphql", NEW).await;
        say(&mut socket, &begin(NEW, "a", PET)).await;
        assert!(hear(&mut socket).await.contains("Ada"));
    });
}

#[test]
fn a_server_that_stops_says_so_on_each_socket() {
    let weir = patient("drain_s: 60");
    run(async {
        let mut send = connect(&weir).await;
        let mut idle = socket(&mut send, "/graphql", NEW).await;
        let mut live = socket(&mut send, "/graphql", NEW).await;
        say(&mut live, &begin(NEW, "a", PET)).await;
        assert!(hear(&mut live).await.contains("Ada"));
        weir.signal("-TERM");
        for socket in [&mut live, &mut idle] {
            let code = loop {
                match socket.next().await {
                    Some(Ok(Message::Close(frame))) => break frame.map(|it| u16::from(it.code)),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    other => panic!("{other:?}"),
                }
            };
            assert_eq!(code, Some(1001));
        }
    });
}
