//! A schema of resolvers in Rust behind the server: queries, roles and subscriptions over real sockets.

use crate::support::{Answer, body, connect, message};
use serde_json::{Value as Json, json};
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::OnceLock;
use tokio_tungstenite::tungstenite::client::client_with_config;
use tokio_tungstenite::tungstenite::http::Request;
use tokio_tungstenite::tungstenite::{Message, WebSocket};
use weir::config::{Config, Listen};
use weir::server::Server;
use weir_runtime::{Context, Schema, batch, constant, input, record, root, stream};

struct User {
    name: String,
    mail: String,
}
record!(User { name, mail });

struct From {
    from: i32,
}
input!(From { from });

const SDL: &str = "
type Query { users: [User!]! secret: Int }
type User { name: String! mail: String! posts: [String!]! }
type Subscription { count(from: Int!): Int! closed: Int users: User }
";

fn user(name: &str) -> User {
    User { name: name.to_owned(), mail: format!("{name}@x") }
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let library = Schema::builder(SDL)
            .resolve("Query.users", root(|_: &(), _: &Context| vec![user("Ada"), user("Bob")]))
            .resolve("Query.secret", constant(7))
            .resolve(
                "User.posts",
                batch(|users: &[&User], _: &(), _: &Context| {
                    users.iter().map(|it| vec![format!("of {}", it.name)]).collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Subscription.count",
                stream(|it: &From, _: &Context| futures_util::stream::iter(it.from..it.from + 3)),
            )
            .resolve("Subscription.closed", stream(|_: &(), _: &Context| futures_util::stream::iter([1])))
            .resolve(
                "Subscription.users",
                stream(|_: &(), _: &Context| futures_util::stream::iter([user("Ada"), user("Bob")])),
            )
            .authorize("Query.secret", |_: &[&()], context| vec![context.caller().role() == "staff"])
            .authorize("Subscription.closed", |_: &[&()], context| vec![context.caller().role() == "staff"])
            .visible_if("User.mail", |role| role == "staff")
            .build_source()
            .unwrap_or_else(|error| panic!("{error}"));
        let listen = Listen("127.0.0.1:0".parse().expect("an address"));
        let config = Config { listen, threads: Some(1), ..Config::default() };
        weir::Weir::builder().config(config).source(library).serve().unwrap_or_else(|error| panic!("{error}"))
    })
}

fn ask(role: &str, query: &str) -> Json {
    let mut socket = connect(server().listen());
    let headers = [("content-type", "application/json"), ("x-hasura-role", role)];
    socket
        .write_all(&message("POST", "/graphql", &headers, Some(body(query).as_bytes())))
        .expect("it is sent");
    Answer::read(&mut BufReader::new(socket)).json()
}

#[test]
fn the_server_answers_queries_of_a_library_as_each_role_may() {
    let posts = |name: &str| json!({"name": name, "posts": [format!("of {name}")]});
    assert_eq!(
        ask("guest", "{ users { name posts } }"),
        json!({"data": {"users": [posts("Ada"), posts("Bob")]}})
    );
    assert_eq!(ask("staff", "{ users { mail } secret }")["data"]["secret"], 7);
    let hidden = ask("guest", "{ users { mail } }");
    assert!(
        hidden["errors"][0]["message"].as_str().is_some_and(|it| it.contains("Cannot query field")),
        "{hidden}"
    );
    let refused = ask("guest", "{ secret }");
    assert_eq!(refused["errors"][0]["extensions"]["code"], "ACCESS_DENIED");
    assert_eq!(refused["data"], json!({"secret": null}));
}

fn socket(role: &str) -> WebSocket<TcpStream> {
    let address = server().listen();
    let request = Request::builder()
        .uri(format!("ws://{address}/graphql"))
        .header("host", address.to_string())
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
        .header("sec-websocket-protocol", "graphql-transport-ws")
        .body(())
        .expect("it is a request");
    let (mut socket, _) = client_with_config(request, connect(address), None).expect("a socket");
    let init = json!({"type": "connection_init", "payload": {"headers": {"x-hasura-role": role}}});
    socket.send(Message::text(init.to_string())).expect("it is sent");
    assert_eq!(hear(&mut socket)["type"], "connection_ack");
    socket
}

fn hear(socket: &mut WebSocket<TcpStream>) -> Json {
    loop {
        if let Message::Text(text) = socket.read().expect("there is a message") {
            return serde_json::from_str(&text).expect("it is JSON");
        }
    }
}

/// The messages of a subscription, to its end.
fn subscribe(role: &str, query: &str) -> Vec<Json> {
    let mut socket = socket(role);
    let message = json!({"type": "subscribe", "id": "1", "payload": {"query": query}});
    socket.send(Message::text(message.to_string())).expect("it is sent");
    let mut heard = Vec::new();
    loop {
        let message = hear(&mut socket);
        match message["type"].as_str() {
            Some("next") => heard.push(message["payload"].clone()),
            Some("complete") => return heard,
            _ => return vec![message],
        }
    }
}

#[test]
fn events_of_a_library_are_results_over_a_websocket_to_their_end() {
    let counts: Vec<Json> = (5..8).map(|it| json!({"data": {"count": it}})).collect();
    assert_eq!(subscribe("guest", "subscription { count(from: 5) }"), counts);
    let users = |name: &str| json!({"data": {"users": {"name": name, "posts": [format!("of {name}")]}}});
    assert_eq!(subscribe("guest", "subscription { users { name posts } }"), [users("Ada"), users("Bob")]);
    assert_eq!(subscribe("staff", "subscription { closed }"), [json!({"data": {"closed": 1}})]);
    let refused = subscribe("guest", "subscription { closed }");
    assert_eq!(refused[0]["type"], "error", "{refused:?}");
    assert_eq!(refused[0]["payload"][0]["extensions"]["code"], "ACCESS_DENIED");
}

#[test]
fn events_of_a_library_are_server_sent_events_too() {
    let mut socket = connect(server().listen());
    let headers = [
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
        ("connection", "close"),
        ("x-hasura-role", "guest"),
    ];
    let query = body("subscription { count(from: 1) }");
    socket.write_all(&message("POST", "/graphql", &headers, Some(query.as_bytes()))).expect("it is sent");
    let answer = Answer::read(&mut BufReader::new(socket));
    let events = (1..4).map(|it| format!("event: next\ndata: {{\"data\":{{\"count\":{it}}}}}\n\n"));
    let events: String = events.collect();
    // A sign of life goes ahead.
    assert_eq!(answer.text(), format!(":\n\n{events}event: complete\ndata:\n\n"));
}

#[test]
fn a_reload_keeps_the_sources_of_the_program() {
    server().reload();
    assert_eq!(ask("staff", "{ secret }"), json!({"data": {"secret": 7}}));
}
