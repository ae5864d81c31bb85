//! WebSockets over real sockets: the handshake, both subprotocols, what breaks them, and their end.

use crate::auth::{JWT, token};
use crate::live::stream;
use crate::support::{Weir, body, config, message, until};
use std::net::TcpStream;
use tokio_tungstenite::tungstenite::client::client_with_config;
use tokio_tungstenite::tungstenite::handshake::HandshakeError;
use tokio_tungstenite::tungstenite::http::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket};

pub(crate) const NEW: &str = "graphql-transport-ws";
pub(crate) const OLD: &str = "graphql-ws";
pub(crate) const INIT: &str = r#"{"type":"connection_init"}"#;
pub(crate) const ACK: &str = r#"{"type":"connection_ack"}"#;

/// A socket and the answer to its handshake.
pub(crate) type Opened = (WebSocket<TcpStream>, Response<Option<Vec<u8>>>);

/// A server that waits long for `connection_init`, as a busy machine may need it.
pub(crate) fn patient(yaml: &str) -> Weir {
    let limits = ["socket_init_s: 60", yaml].join(", ");
    Weir::with_settings(&format!("threads: 1\nlimits: {{{limits}}}"))
}

/// A handshake with these headers, and the answer to it.
pub(crate) fn open(weir: &Weir, path: &str, headers: &[(&str, &str)]) -> Result<Opened, (u16, String)> {
    let mut request = Request::builder()
        .uri(format!("ws://{}{path}", weir.address))
        .header("host", weir.address.to_string())
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    match client_with_config(request.body(()).expect("it is a request"), weir.connect(), None) {
        Ok(opened) => Ok(opened),
        Err(HandshakeError::Failure(Error::Http(answer))) => {
            let body = answer.body().as_deref().unwrap_or_default();
            Err((answer.status().as_u16(), String::from_utf8_lossy(body).into_owned()))
        }
        Err(other) => panic!("{other}"),
    }
}

pub(crate) fn socket(weir: &Weir, path: &str, subprotocol: &str) -> WebSocket<TcpStream> {
    let (socket, answer) =
        open(weir, path, &[("sec-websocket-protocol", subprotocol)]).unwrap_or_else(|it| panic!("{it:?}"));
    assert_eq!(answer.headers()["sec-websocket-protocol"], subprotocol);
    assert_eq!(answer.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    socket
}

#[test]
fn the_chosen_protocol_is_named_in_the_letters_that_clients_look_for() {
    let weir = patient("");
    let headers = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-protocol", NEW),
    ];
    for path in ["/graphql", "/v1/graphql"] {
        let (head, _) = stream(&weir, &message("GET", path, &headers, None));
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains("\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n"), "{head}");
    }
    // A refused one is any other answer.
    let (head, _) = stream(&weir, &message("GET", "/graphql", &headers[..4], None));
    assert!(head.starts_with("HTTP/1.1 400 ") && head.contains("content-type: "), "{head}");
}

pub(crate) fn say(socket: &mut WebSocket<TcpStream>, text: &str) {
    socket.send(Message::text(text)).expect("it is sent");
}

/// The next text.
pub(crate) fn hear(socket: &mut WebSocket<TcpStream>) -> String {
    loop {
        match socket.read().expect("there is a message") {
            Message::Text(text) => return text.as_str().to_owned(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// The code with which the server closes.
pub(crate) fn read_close_code(socket: &mut WebSocket<TcpStream>) -> u16 {
    loop {
        match socket.read() {
            Ok(Message::Close(frame)) => return frame.map_or(1005, |it| CloseCode::into(it.code)),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// The message that begins an operation.
pub(crate) fn begin(subprotocol: &str, id: &str, payload: &str) -> String {
    let kind = if subprotocol == NEW { "subscribe" } else { "start" };
    format!(r#"{{"id":"{id}","type":"{kind}","payload":{payload}}}"#)
}

#[test]
fn queries_and_mutations_are_answered_as_by_post() {
    let weir = patient("");
    let mut next_id = 10;
    for path in ["/graphql", "/v1/graphql"] {
        for (subprotocol, kind) in [(NEW, "next"), (OLD, "data")] {
            next_id += 1;
            let mut socket = socket(&weir, path, subprotocol);
            say(&mut socket, INIT);
            assert_eq!(hear(&mut socket), ACK);
            let mut ask = |payload: &str| {
                say(&mut socket, &begin(subprotocol, "é\\\"1", payload));
                (hear(&mut socket), hear(&mut socket))
            };
            let insert = format!(
                r#"{{"query":"mutation ($id: Int!) {{ insert_pet_one(object: {{id: $id, name: \"Dot\"}}) {{ id }} }}","variables":{{"id":{next_id}}}}}"#
            );
            let complete = r#"{"type":"complete","id":"é\"1"}"#.to_owned();
            let said = |data: &str| format!(r#"{{"type":"{kind}","id":"é\"1","payload":{{"data":{data}}}}}"#);
            assert_eq!(
                ask(&insert),
                (said(&format!(r#"{{"insert_pet_one":{{"id":{next_id}}}}}"#)), complete.clone())
            );
            let query = format!(
                r#"{{"operationName":"B","query":"query A {{ __typename }} query B {{ pet_by_pk(id: {next_id}) {{ name }} }}"}}"#
            );
            assert_eq!(ask(&query), (said(r#"{"pet_by_pk":{"name":"Dot"}}"#), complete));
        }
    }
    // Two handshakes, and two operations over each socket.
    let metrics = weir.get("/metrics", &[]);
    for part in [r#"door="graphql",verdict="executed"} 6"#, r#"door="v1_graphql",verdict="executed"} 6"#] {
        assert!(metrics.text().contains(part), "{part} is not in {}", metrics.text());
    }
}

#[test]
fn what_is_wrong_with_an_operation_is_its_own_error_and_the_socket_goes_on() {
    let weir = patient("");
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    for (payload, part) in [
        (r#"{"query":"{ nothing }"}"#, "GRAPHQL_VALIDATION_FAILED"),
        (r#"{"query":"{"}"#, "GRAPHQL_PARSE_FAILED"),
        (r#"{"query":"{ pet { id } }","variables":[]}"#, "`variables` must be an object"),
    ] {
        say(&mut socket, &begin(NEW, "1", payload));
        let error = hear(&mut socket);
        assert!(
            error.starts_with(r#"{"type":"error","id":"1","payload":[{"#) && error.contains(part),
            "{error}"
        );
    }
    say(&mut socket, &begin(NEW, "1", r#"{"query":"{ __typename }"}"#));
    assert!(hear(&mut socket).contains(r#"{"__typename":"query_root"}"#));
}

/// `connection_init` with these headers.
fn login(headers: &str) -> String {
    format!(r#"{{"type":"connection_init","payload":{{"headers":{{{headers}}}}}}}"#)
}

#[test]
fn a_socket_s_caller_is_who_its_login_says() {
    let weir = Weir::with_settings(&format!("{JWT}\nlimits: {{socket_init_s: 60}}"));
    let ada = r#"{"query":"{ pet_by_pk(id: 1) { name } }"}"#;
    let asked = |path: &str, headers: &str| {
        let mut socket = socket(&weir, path, NEW);
        say(&mut socket, &login(headers));
        assert_eq!(hear(&mut socket), ACK);
        say(&mut socket, &begin(NEW, "1", ada));
        hear(&mut socket)
    };
    for path in ["/graphql", "/v1/graphql"] {
        let admin = asked(path, r#""X-Hasura-Admin-Secret":"hush""#);
        assert_eq!(admin, r#"{"type":"next","id":"1","payload":{"data":{"pet_by_pk":{"name":"Ada"}}}}"#);
        // The role of the token has no permissions, and the token says who it is whatever other headers say.
        let user = format!(r#""authorization":"Bearer {}","x-hasura-role":"user""#, token(&["user"], ""));
        let error = asked(path, &user);
        assert!(error.starts_with(r#"{"type":"error""#) && error.contains("pet_by_pk"), "{error}");
        for wrong in ["", r#""x-hasura-admin-secret":"husk""#, r#""authorization":"Bearer x""#] {
            let mut new = socket(&weir, path, NEW);
            say(&mut new, &login(wrong));
            assert_eq!(read_close_code(&mut new), 4403, "{wrong}");
            let mut old = socket(&weir, path, OLD);
            say(&mut old, &login(wrong));
            assert!(hear(&mut old).starts_with(r#"{"type":"connection_error","payload":"#));
            assert_eq!(read_close_code(&mut old), if path == "/graphql" { 1011 } else { 4400 });
        }
        let mut socket = socket(&weir, path, NEW);
        say(&mut socket, &login(r#""a":1"#));
        assert_eq!(read_close_code(&mut socket), 4400);
    }
    // Headers of the handshake count, too.
    let headers = [("sec-websocket-protocol", NEW), ("x-weir-admin-secret", "hush")];
    let (mut socket, _) = open(&weir, "/graphql", &headers).expect("it is agreed");
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
}

#[test]
fn a_socket_ends_with_its_token() {
    let weir = Weir::with_settings(&format!("{JWT}\nlimits: {{socket_init_s: 60}}"));
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is later").as_secs();
    let soon = token(&["admin"], &format!(r#","exp":{}"#, now + 2));
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, &login(&format!(r#""authorization":"Bearer {soon}""#)));
    assert_eq!(hear(&mut socket), ACK);
    assert_eq!(read_close_code(&mut socket), 4403);
}

#[test]
fn a_login_is_held_against_the_settings_that_serve() {
    let weir = Weir::with_settings("admin_secret: old\nlimits: {socket_init_s: 60}");
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, &login(r#""x-weir-admin-secret":"old""#));
    assert_eq!(hear(&mut socket), ACK);
    let ask = begin(NEW, "1", r#"{"query":"{ __typename }"}"#);
    say(&mut socket, &ask);
    assert!(hear(&mut socket).contains("query_root"));
    assert!(hear(&mut socket).contains("complete"));
    weir.folder().write("weir.yaml", &config("admin_secret: new\nlimits: {socket_init_s: 60}"));
    weir.signal("-HUP");
    until("the new secret counts", || {
        weir.post("/graphql", &[("x-weir-admin-secret", "new")], body("{ __typename }").as_bytes()).status
            == 200
    });
    say(&mut socket, &ask);
    assert_eq!(read_close_code(&mut socket), 4403);
}

#[test]
fn what_comes_before_the_handshake_is_answered_is_not_lost() {
    use std::io::{Read, Write};
    let weir = patient("");
    let mut raw = weir.connect();
    let mut frame = vec![0x81, 0x80 | INIT.len() as u8, 0, 0, 0, 0];
    frame.extend_from_slice(INIT.as_bytes());
    let head = format!(
        "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\nGET /graphql HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: {NEW}\r\n\r\n"
    );
    raw.write_all(&[head.as_bytes(), &frame].concat()).expect("it is sent");
    let mut all = Vec::new();
    let mut some = [0; 1024];
    while !all.ends_with(ACK.as_bytes()) {
        let read = raw.read(&mut some).expect("there is more");
        assert!(read > 0, "{}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&some[..read]);
    }
}

#[test]
fn a_handshake_that_cannot_be_is_refused_with_words() {
    let weir = Weir::pets(&[]);
    let refused = |path: &str, headers: &[(&str, &str)], status: u16, part: &str| {
        let (found, words) = open(&weir, path, headers).map(|_| ()).expect_err(part);
        assert!(found == status && words.contains(part), "{found} {words}");
    };
    let new = ("sec-websocket-protocol", NEW);
    for path in ["/graphql", "/v1/graphql"] {
        refused(path, &[("sec-websocket-protocol", "mqtt")], 400, "graphql-transport-ws");
        refused(path, &[new, ("origin", "http://evil.com")], 403, "ACCESS_DENIED");
        refused(path, &[new, ("origin", "null")], 403, "ACCESS_DENIED");
        for origin in ["http://localhost:3000", &format!("http://{}", weir.address)] {
            assert!(open(&weir, path, &[new, ("origin", origin)]).is_ok(), "{origin}");
        }
    }
    refused("/graphql", &[], 400, "UPGRADE_NOT_SUPPORTED");
    refused("/console/", &[new], 400, "WebSockets are taken at /graphql and /v1/graphql");
    refused("/nothing", &[new], 404, "NOT_FOUND");
    for method in ["POST", "OPTIONS"] {
        let headers = [("connection", "Upgrade"), ("upgrade", "websocket")];
        let answer = weir.raw(&message(method, "/graphql", &headers, None));
        assert_eq!((answer.status, answer.header("connection")), (400, Some("close")), "{method}");
    }
    // Old clients of Hasura offer nothing, and a client must not be told what it did not offer.
    let (mut socket, answer) = open(&weir, "/v1/graphql", &[]).expect("the older protocol is spoken");
    assert!(!answer.headers().contains_key("sec-websocket-protocol"));
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
}

#[test]
fn what_breaks_the_protocol_is_told_by_its_code() {
    let weir = patient("socket_message_bytes_max: 1000");
    let subscribe = r#"{"id":"1","type":"subscribe","payload":{"query":"{a}"}}"#;
    let long = format!(r#"{{"type":"ping","payload":{{"a":"{}"}}}}"#, "a".repeat(2_000_000));
    for (messages, code) in [
        (vec![Message::text(INIT), Message::text(INIT)], 4429),
        (vec![Message::text(subscribe)], 4401),
        (vec![Message::text("[]")], 4400),
        (vec![Message::text(r#"{"type":"connection_init","payload":"#)], 4400),
        (vec![Message::binary(INIT)], 4400),
        (vec![Message::text(&*long)], 1009),
    ] {
        let mut socket = socket(&weir, "/graphql", NEW);
        for message in messages {
            // The server may close before it has all.
            let _ = socket.send(message);
        }
        assert_eq!(read_close_code(&mut socket), code);
    }
    let hasty = Weir::with_settings("limits: {socket_init_s: 1}");
    assert_eq!(read_close_code(&mut socket(&hasty, "/graphql", NEW)), 4408);
    let mut old = socket(&weir, "/graphql", OLD);
    say(&mut old, "nonsense");
    assert!(hear(&mut old).contains("connection_error"));
    say(&mut old, r#"{"type":"connection_terminate"}"#);
    assert_eq!(read_close_code(&mut old), 1000);
}

#[test]
fn frames_that_break_their_rules_close_the_socket() {
    use std::io::Write;
    let weir = patient("");
    for (frame, code) in [
        // Without a mask; a control frame of 126 bytes; a reserved bit; no UTF-8.
        (&b"\x81\x02{}"[..], 1002),
        (&[&b"\x89\xfe\x00\x7e\0\0\0\0"[..], &[b'a'; 126]].concat(), 1002),
        (b"\xc1\x82\0\0\0\0{}", 1002),
        (b"\x81\x82\0\0\0\0\xff\xfe", 1007),
    ] {
        let mut socket = socket(&weir, "/graphql", NEW);
        socket.get_mut().write_all(frame).expect("it is sent");
        assert_eq!(read_close_code(&mut socket), code, "{frame:?}");
    }
}

#[test]
fn a_flood_of_messages_is_slowed_down_and_answered() {
    let weir = patient("socket_messages_per_second: 20");
    let mut socket = socket(&weir, "/graphql", NEW);
    for _ in 0..50 {
        say(&mut socket, r#"{"type":"ping"}"#);
    }
    for _ in 0..50 {
        assert_eq!(hear(&mut socket), r#"{"type":"pong"}"#);
    }
}

#[test]
fn a_silent_client_is_asked_for_a_sign_of_life_and_cut_off_without_one() {
    use std::io::Read;
    let weir = Weir::with_settings("limits: {idle_s: 2}");
    let mut silent = socket(&weir, "/graphql", OLD);
    let mut bytes = Vec::new();
    // The end of the connection is the end of the wait. A reset is one, too.
    let _ = silent.get_mut().read_to_end(&mut bytes);
    let ping = b"\x89\x00";
    assert!(bytes.starts_with(ping), "{bytes:?}");
    assert_eq!(weir.query("{__typename}").status, 200);
}

#[test]
fn sockets_count_as_connections_and_are_told_when_the_server_ends() {
    let mut weir = patient("connections_max: 3");
    let mut sockets: Vec<_> = (0..2).map(|_| socket(&weir, "/graphql", NEW)).collect();
    for it in &mut sockets {
        say(it, INIT);
        assert_eq!(hear(it), ACK);
    }
    let page = weir.get("/metrics", &[]);
    assert!(page.text().contains("weir_connections 3\n"), "{}", page.text());
    weir.signal("-TERM");
    for it in &mut sockets {
        assert_eq!(read_close_code(it), 1001);
    }
    until("the server ends", || weir.child.try_wait().expect("it can be asked").is_some());
}
