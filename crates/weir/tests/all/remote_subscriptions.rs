//! Subscriptions of remote schemas: passed through over both subprotocols and as events, as the caller's role, to their end.

use crate::auth::token;
use crate::live::{read_until, stream};
use crate::remote_kit::{SECRET, Scene, introspect};
use crate::sockets::{ACK, NEW, OLD, begin, hear, say, socket};
use crate::support::{Folder, PATIENCE, Weir, body, message, until};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept_hdr};

/// A Weir with ships, each seen by its owner.
fn sea() -> Weir {
    let folder = Folder::new();
    let file = folder.file("sea.db");
    let connection = rusqlite::Connection::open(&file).expect("SQLite makes a file");
    let ships = "CREATE TABLE ship (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT);
        INSERT INTO ship VALUES (1, 'Argo', '4'), (2, 'Fram', '5'), (3, 'Vega', '5')";
    connection.execute_batch(ships).expect("the statements are right");
    let permission =
        json!({ "columns": ["id", "name", "owner"], "filter": { "owner": { "_eq": "X-Hasura-User-Id" } } });
    let table =
        json!({ "table": "ship", "select_permissions": [{ "role": "user", "permission": permission }] });
    let url = format!("sqlite:{}", file.display());
    let document = json!({ "version": 3, "sources": [{ "name": "sea", "kind": "sqlite",
        "configuration": { "connection_info": { "database_url": url } }, "tables": [table] }] });
    folder.write("metadata.json", &document.to_string());
    let yaml = "listen: 127.0.0.1:0\nadmin_secret: hush\nmetadata: metadata.json\n";
    Weir::by_file(&folder.write("weir.yaml", yaml), folder)
}

/// The remote schema of `address`.
fn remote(address: SocketAddr, customization: Value, members: Value) -> Value {
    let definition = json!({ "url": format!("http://{address}/v1/graphql"), "customization": customization,
        "headers": [{ "name": "x-hasura-admin-secret", "value": "hush" }] });
    let mut entry = json!({ "name": "sea", "definition": definition });
    for (key, value) in members.as_object().into_iter().flatten() {
        entry[key] = value.clone();
    }
    entry
}

fn prefixed() -> Value {
    json!({ "type_names": { "prefix": "Sea" } })
}

fn rename(sea: &Weir, id: u32, name: &str) {
    let text = format!(
        "mutation {{ update_ship_by_pk(pk_columns: {{id: {id}}}, _set: {{name: \"{name}\"}}) {{ id }} }}"
    );
    let answer = sea.post("/v1/graphql", &[SECRET], body(&text).as_bytes());
    assert!(answer.text().contains("\"id\""), "{}", answer.text());
}

/// The login of a user.
fn login(user: &str) -> String {
    let headers =
        json!({ "x-hasura-admin-secret": "hush", "x-hasura-role": "user", "x-hasura-user-id": user });
    json!({ "type": "connection_init", "payload": { "headers": headers } }).to_string()
}

fn has_no_subscriptions(weir: &Weir) -> bool {
    weir.get("/metrics", &[SECRET]).text().contains("weir_subscriptions 0\n")
}

/// Asks `text` as a stream of events, of which each has what `told` makes of a name.
fn check_events(sea: &Weir, scene: &Scene, text: &str, told: &dyn Fn(&str) -> String) {
    let headers = [
        SECRET,
        ("x-hasura-role", "user"),
        ("x-hasura-user-id", "4"),
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
    ];
    for path in ["/v1/graphql", "/graphql"] {
        let (head, mut reader) =
            stream(&scene.weir, &message("POST", path, &headers, Some(body(text).as_bytes())));
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let event = |name: &str| format!("event: next\ndata: {}\n\n", told(name));
        read_until(&mut reader, &event("Argo"));
        rename(sea, 1, "Terror");
        read_until(&mut reader, &event("Terror"));
        rename(sea, 1, "Argo");
        read_until(&mut reader, &event("Argo"));
        drop(reader);
        until("the server has no subscription any more", || {
            rename(sea, 1, "Argo");
            has_no_subscriptions(sea)
        });
    }
}

#[test]
fn results_of_the_server_come_over_every_transport_as_the_callers_role() {
    let sea = sea();
    let names = json!({ "root_fields_namespace": "sea", "type_names": { "prefix": "Sea" },
        "field_names": [{ "parent_type": "ship", "mapping": { "name": "title" } }] });
    let texts = [
        (
            prefixed(),
            "subscription { mine: ship(order_by: {id: asc}) { called: name __typename } }",
            "{SHIPS}",
        ),
        (
            names,
            "subscription { sea { mine: ship(order_by: {id: asc}) { called: title __typename } } }",
            "{\"sea\":{SHIPS}}",
        ),
    ];
    for (customization, text, shape) in texts {
        let scene = Scene::start(json!([remote(sea.address, customization, json!({}))]), json!({}), &[]);
        let told = |name: &str| {
            let ships = format!(r#""mine":[{{"called":"{name}","__typename":"Seaship"}}]"#);
            format!("{{\"data\":{}}}", shape.replace("SHIPS", &ships))
        };
        for (path, subprotocol, kind, stop) in [
            ("/v1/graphql", NEW, "next", "complete"),
            ("/graphql", NEW, "next", "complete"),
            ("/v1/graphql", OLD, "data", "stop"),
        ] {
            let mut socket = socket(&scene.weir, path, subprotocol);
            say(&mut socket, &login("4"));
            assert_eq!(hear(&mut socket), ACK);
            say(&mut socket, &begin(subprotocol, "a", &body(text)));
            let next = |name: &str| format!(r#"{{"type":"{kind}","id":"a","payload":{}}}"#, told(name));
            assert_eq!(hear(&mut socket), next("Argo"), "{}", scene.weir.log());
            // Events of others do not come.
            rename(&sea, 2, "Endurance");
            for name in ["Terror", "Argo"] {
                rename(&sea, 1, name);
                assert_eq!(hear(&mut socket), next(name));
            }
            say(&mut socket, &format!(r#"{{"type":"{stop}","id":"a"}}"#));
            until("the server has no subscription any more", || has_no_subscriptions(&sea));
        }
        check_events(&sea, &scene, text, &told);
    }
}

#[test]
fn each_client_has_a_stream_of_its_own_session() {
    let sea = sea();
    let scene = Scene::start(json!([remote(sea.address, prefixed(), json!({}))]), json!({}), &[]);
    let text = body("subscription { ship(order_by: {id: asc}) { name owner } }");
    let mut sockets: Vec<_> = ["4", "5"]
        .iter()
        .map(|user| {
            let mut socket = socket(&scene.weir, "/v1/graphql", NEW);
            say(&mut socket, &login(user));
            assert_eq!(hear(&mut socket), ACK);
            say(&mut socket, &begin(NEW, "1", &text));
            socket
        })
        .collect();
    let first = hear(&mut sockets[0]);
    assert!(first.contains(r#"[{"name":"Argo","owner":"4"}]"#), "{first}");
    let second = hear(&mut sockets[1]);
    assert!(second.contains(r#"[{"name":"Fram","owner":"5"},{"name":"Vega","owner":"5"}]"#), "{second}");
    rename(&sea, 3, "Erebus");
    let second = hear(&mut sockets[1]);
    assert!(second.contains("Erebus"), "{second}");
    rename(&sea, 1, "Terror");
    let first = hear(&mut sockets[0]);
    assert!(first.contains("Terror") && !first.contains("Erebus"), "{first}");
}

/// Hasura refuses both with "Remote relationships are not allowed in subscriptions".
#[test]
fn relationships_lead_on_from_subscriptions() {
    let sea = sea();
    let to_boat = json!({ "name": "boat", "definition": { "to_source": { "source": "fleet", "table": "boat",
        "relationship_type": "object", "field_mapping": { "id": "id" } } } });
    let types = json!([{ "type_name": "ship", "relationships": [to_boat] }]);
    let to_ship = json!({ "name": "ship", "definition": { "to_remote_schema": { "remote_schema": "sea", "lhs_fields": ["id"],
        "remote_field": { "ship_by_pk": { "arguments": { "id": "$id" } } } } } });
    let entry = remote(sea.address, prefixed(), json!({ "remote_relationships": types }));
    let scene = Scene::start(json!([entry]), json!({ "remote_relationships": [to_ship] }), &[]);
    let mut socket = socket(&scene.weir, "/v1/graphql", NEW);
    say(&mut socket, &login("4"));
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "1", &body("subscription { ship { name boat { name } } }")));
    let told = hear(&mut socket);
    assert!(
        told.contains(r#"{"ship":[{"name":"Argo","boat":{"name":"Argo"}}]}"#),
        "{told}\n{}",
        scene.weir.log()
    );
    rename(&sea, 1, "Terror");
    let told = hear(&mut socket);
    assert!(told.contains(r#"{"ship":[{"name":"Terror","boat":{"name":"Argo"}}]}"#), "{told}");
    say(&mut socket, r#"{"type":"complete","id":"1"}"#);
    say(&mut socket, &begin(NEW, "2", &body("subscription { boat(limit: 2) { id ship { name } } }")));
    let told = hear(&mut socket);
    assert!(told.contains(r#"{"boat":[{"id":1,"ship":{"name":"Terror"}},{"id":2,"ship":null}]}"#), "{told}");
}

#[test]
fn the_permission_of_a_role_holds_for_subscriptions() {
    let sea = sea();
    let sdl = "schema { query: query_root subscription: subscription_root }
        type query_root { ship_by_pk(id: Int!): ship }
        type subscription_root { ship_by_pk(id: Int! @preset(value: \"x-hasura-ship-id\")): ship }
        type ship { name: String! }";
    let lost = "schema { query: query_root subscription: Gone } type query_root { ship_by_pk(id: Int!): ship } type Gone { ship: Int } type ship { name: String! }";
    let permissions = json!([{ "role": "user", "definition": { "schema": sdl } },
        { "role": "lost", "definition": { "schema": lost } }]);
    let entry = remote(sea.address, prefixed(), json!({ "permissions": permissions }));
    let scene = Scene::start(json!([entry]), json!({}), &[]);
    let words = scene.inconsistent().to_string();
    assert!(
        words.contains(r#"subscription root \"Gone\" does not exist in the upstream remote schema"#),
        "{words}"
    );
    let mut socket = socket(&scene.weir, "/graphql", NEW);
    let headers = json!({ "x-hasura-admin-secret": "hush", "x-hasura-role": "user", "x-hasura-user-id": "5", "x-hasura-ship-id": "3" });
    say(&mut socket, &json!({ "type": "connection_init", "payload": { "headers": headers } }).to_string());
    assert_eq!(hear(&mut socket), ACK);
    for (text, name) in [
        ("subscription { ship_by_pk(id: 2) { name } }", "id"),
        ("subscription { ship_by_pk { owner } }", "owner"),
        ("subscription { ship { name } }", "ship"),
    ] {
        say(&mut socket, &begin(NEW, "1", &body(text)));
        let error = hear(&mut socket);
        assert!(error.starts_with(r#"{"type":"error""#) && error.contains(name), "{error}");
    }
    say(&mut socket, &begin(NEW, "1", &body("subscription { ship_by_pk { name } }")));
    let told = hear(&mut socket);
    assert!(told.contains(r#"{"data":{"ship_by_pk":{"name":"Vega"}}}"#), "{told}\n{}", scene.weir.log());
}

#[test]
fn the_end_of_a_session_and_of_a_remote_schema_end_the_stream() {
    let sea = sea();
    let secret = json!({ "type": "HS256", "key": "0123456789abcdef0123456789abcdef" }).to_string();
    let scene = Scene::start(
        json!([remote(sea.address, prefixed(), json!({}))]),
        json!({}),
        &[("HASURA_GRAPHQL_JWT_SECRET", &secret)],
    );
    let text = body("subscription { ship { name } }");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs();
    let soon = token(&["user"], &format!(r#","exp":{}"#, now + 4));
    let authorization = json!({ "authorization": format!("Bearer {soon}") });
    let mut brief = socket(&scene.weir, "/v1/graphql", NEW);
    say(
        &mut brief,
        &json!({ "type": "connection_init", "payload": { "headers": authorization } }).to_string(),
    );
    assert_eq!(hear(&mut brief), ACK);
    say(&mut brief, &begin(NEW, "1", &text));
    assert!(hear(&mut brief).contains("\"next\""));
    until("the session is over", || has_no_subscriptions(&sea));
    let mut socket = socket(&scene.weir, "/v1/graphql", NEW);
    say(&mut socket, &login("4"));
    assert_eq!(hear(&mut socket), ACK);
    say(&mut socket, &begin(NEW, "1", &text));
    assert!(hear(&mut socket).contains("Argo"));
    let sent = br#"{"type":"remove_remote_schema","args":{"name":"sea"}}"#;
    let answer = scene.weir.post("/v1/metadata", &[SECRET], sent);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let end = hear(&mut socket);
    assert!(end.starts_with(r#"{"type":"error","id":"1""#) && end.contains("ship"), "{end}");
    until("the server has no subscription any more", || has_no_subscriptions(&sea));
}

/// Opening of a socket of a [`Harbour`]: headers of the handshake, the login and the operation.
type Opened = (Vec<(String, String)>, Value, Value);

/// Messages of a server once it has the operation.
type Script = fn(&mut WebSocket<TcpStream>);

/// A server of GraphQL whose subscriptions go by a script.
struct Harbour {
    address: SocketAddr,
    opened: Receiver<Opened>,
}

const TIDES: &str =
    "type Query { tide: Tide } type Subscription { tide(at: Int): Tide } type Tide { height: Int }";

impl Harbour {
    fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let (sender, opened) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || serve(stream, script, &sender));
            }
        });
        Self { address, opened }
    }
}

fn serve(mut stream: TcpStream, script: Script, opened: &Sender<Opened>) {
    let mut first = [0; 4];
    if stream.peek(&mut first).is_err() {
        return;
    }
    if &first == b"POST" {
        let mut seen = Vec::new();
        let mut chunk = [0; 4096];
        // The question ends with the last brace of its JSON.
        while !seen.ends_with(b"\"}") {
            let Ok(count @ 1..) = stream.read(&mut chunk) else { return };
            seen.extend_from_slice(&chunk[..count]);
        }
        let text = String::from_utf8_lossy(&seen).into_owned();
        let sent = text.split_once("\r\n\r\n").map_or("{}", |it| it.1);
        let sent: Value = serde_json::from_str(sent).expect("it is JSON");
        let answer = introspect(TIDES, sent["query"].as_str().expect("it is a text"));
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
        drop(write!(stream, "{head}content-length: {}\r\n\r\n{answer}", answer.len()));
        return;
    }
    let mut headers = Vec::new();
    #[allow(clippy::result_large_err, reason = "the handshake of the library wants it so")]
    let note = |request: &Request, mut answer: Response| -> Result<Response, ErrorResponse> {
        for (name, value) in request.headers() {
            headers.push((name.as_str().to_owned(), value.to_str().unwrap_or_default().to_owned()));
        }
        answer.headers_mut().insert("sec-websocket-protocol", NEW.parse().expect("it is a value"));
        Ok(answer)
    };
    let Ok(mut socket) = accept_hdr(stream, note) else { return };
    let read = |socket: &mut WebSocket<TcpStream>| -> Option<Value> {
        serde_json::from_str(socket.read().ok()?.to_text().ok()?).ok()
    };
    let Some(login) = read(&mut socket) else { return };
    say(&mut socket, ACK);
    let Some(operation) = read(&mut socket) else { return };
    drop(opened.send((headers, login, operation)));
    script(&mut socket);
}

fn tide(height: u32) -> String {
    json!({ "id": "1", "type": "next", "payload": { "data": { "r0_0": { "height": height } } } }).to_string()
}

/// Subscribes to the tide at `/graphql`, with a header of the client.
fn watch_tide(scene: &Scene) -> WebSocket<TcpStream> {
    let mut socket = socket(&scene.weir, "/graphql", NEW);
    let headers = json!({ "x-hasura-admin-secret": "hush", "x-hasura-role": "user", "x-shop": "a", "authorization": "Bearer b" });
    say(&mut socket, &json!({ "type": "connection_init", "payload": { "headers": headers } }).to_string());
    assert_eq!(hear(&mut socket), ACK);
    let sent = json!({ "query": "subscription ($at: Int) { now: tide(at: $at) { height } }", "variables": { "at": 5 } });
    say(&mut socket, &begin(NEW, "1", &sent.to_string()));
    socket
}

fn harbour_entry(harbour: &Harbour) -> Value {
    let definition = json!({ "url": format!("http://{}/graphql", harbour.address), "forward_client_headers": true,
        "headers": [{ "name": "x-key", "value": "k" }], "timeout_seconds": 20 });
    json!({ "name": "harbour", "definition": definition })
}

#[test]
fn the_operation_goes_with_its_headers_and_variables_and_the_end_comes_through() {
    let harbour = Harbour::start(|socket| {
        say(socket, r#"{"type":"ping"}"#);
        assert_eq!(hear(socket), r#"{"type":"pong"}"#);
        say(socket, &tide(1));
        say(
            socket,
            r#"{"id":"1","type":"next","payload":{"errors":[{"message":"ebb","path":["r0_0"]},{"message":"low"}],"data":null}}"#,
        );
        say(socket, &tide(2));
        say(socket, r#"{"id":"1","type":"complete"}"#);
        drop(socket.read());
    });
    let scene = Scene::start(json!([harbour_entry(&harbour)]), json!({}), &[]);
    let mut socket = watch_tide(&scene);
    assert!(hear(&mut socket).contains(r#"{"data":{"now":{"height":1}}}"#), "{}", scene.weir.log());
    let failed = hear(&mut socket);
    assert!(
        failed.contains(r#""message":"ebb""#)
            && failed.contains(r#""path":["now"]"#)
            && failed.contains("low"),
        "{failed}"
    );
    assert!(hear(&mut socket).contains(r#"{"data":{"now":{"height":2}}}"#));
    assert_eq!(hear(&mut socket), r#"{"type":"complete","id":"1"}"#);
    let (headers, login, operation) = harbour.opened.recv_timeout(PATIENCE).expect("it was opened");
    let has = |name: &str, value: &str| headers.iter().any(|it| it.0 == name && it.1 == value);
    assert!(
        has("x-key", "k")
            && has("x-shop", "a")
            && has("x-hasura-role", "user")
            && has("authorization", "Bearer b"),
        "{headers:?}"
    );
    assert!(!headers.iter().any(|it| it.0 == "x-hasura-admin-secret"), "{headers:?}");
    assert_eq!(headers.iter().filter(|it| it.0 == "sec-websocket-key").count(), 1);
    let said = &login["payload"]["headers"];
    assert_eq!([&said["x-key"], &said["x-shop"], &said["x-hasura-role"]], ["k", "a", "user"], "{login}");
    assert_eq!(operation["payload"]["query"], "subscription($v0:Int){ r0_0:tide(at:$v0){ height}}");
    assert_eq!(operation["payload"]["variables"], json!({ "v0": 5 }));
}

#[test]
fn a_server_that_fails_is_told_and_not_asked_again() {
    let scripts: [(Script, &str); 3] = [
        (|socket| drop(socket.close(None)), "SOURCE_UNAVAILABLE"),
        (
            |socket| {
                say(
                    socket,
                    r#"{"id":"1","type":"error","payload":[{"message":"no tide"},{"message":"no sea","extensions":{"code":"DRY"}}]}"#,
                )
            },
            "DRY",
        ),
        (|socket| say(socket, "{"), "SOURCE_UNAVAILABLE"),
    ];
    for (script, code) in scripts {
        let harbour = Harbour::start(script);
        let scene = Scene::start(json!([harbour_entry(&harbour)]), json!({}), &[]);
        let mut socket = watch_tide(&scene);
        let error = hear(&mut socket);
        assert!(error.contains("\"errors\"") && error.contains(code), "{error}");
        assert!(code != "DRY" || error.contains("no tide"), "{error}");
        assert_eq!(hear(&mut socket), r#"{"type":"complete","id":"1"}"#);
        assert!(harbour.opened.recv_timeout(PATIENCE).is_ok());
        assert!(harbour.opened.try_recv().is_err());
    }
    // A server without sockets.
    let upstream = crate::remote_kit::server(TIDES, |_, _| (404, json!({})));
    let definition = json!({ "url": crate::remote_kit::url(&upstream) });
    let scene = Scene::start(json!([{ "name": "harbour", "definition": definition }]), json!({}), &[]);
    let mut socket = watch_tide(&scene);
    let error = hear(&mut socket);
    assert!(error.contains("SOURCE_UNAVAILABLE") && !error.contains("127.0.0.1"), "{error}");
    assert_eq!(hear(&mut socket), r#"{"type":"complete","id":"1"}"#);
}

/// Bytes that a server would have to keep somewhere if nothing held it back.
const FLOOD: usize = 256 << 20;

/// True if the server could not send the flood.
static HELD_BACK: OnceLock<bool> = OnceLock::new();

#[test]
fn a_client_that_does_not_read_holds_the_server_back() {
    let harbour = Harbour::start(|socket| {
        let limit = Duration::from_secs(3);
        socket.get_mut().set_write_timeout(Some(limit)).expect("it has a limit");
        let text = json!({ "id": "1", "type": "next", "payload": { "data": { "r0_0": { "height": 1 } }, "extensions": "x".repeat(60_000) } }).to_string();
        let sent = (0..FLOOD / text.len()).take_while(|_| socket.send(Message::text(text.as_str())).is_ok());
        HELD_BACK.get_or_init(|| sent.count() < FLOOD / text.len());
    });
    let scene = Scene::start(json!([harbour_entry(&harbour)]), json!({}), &[]);
    let mut socket = socket(&scene.weir, "/graphql", NEW);
    say(&mut socket, &login("4"));
    assert_eq!(hear(&mut socket), ACK);
    // Each result is as long as the server's.
    let aliases: String =
        (0..150).map(|it| format!(" {}_{it}: height", "height_of_the_tide".repeat(5))).collect();
    say(&mut socket, &begin(NEW, "1", &body(&format!("subscription {{ tide {{ {aliases} }} }}"))));
    harbour.opened.recv_timeout(PATIENCE).expect("it was opened");
    until("the server is held back", || HELD_BACK.get().is_some());
    assert_eq!(HELD_BACK.get(), Some(&true));
}
