//! Answers in parts over real sockets: the first part leaves while a service is still silent.

use crate::live::{read_until, stream};
use crate::service_kit::{Service, reply};
use crate::sockets::{ACK, INIT, NEW, begin, hear, say, socket};
use crate::support::{Weir, body, message};
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

const SDL: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "s", http: {baseURL: "http://upstream"})
type Query { brief: Brief @connect(source: "s", http: {GET: "/brief"}, selection: "word") }
type Brief { word: String }
extend type pet { note: String @connect(source: "s", http: {GET: "/notes/{$this.id}"}, selection: "$.word") }
"#;
const QUERY: &str = "{ pet_by_pk(id: 1) { name } ... @defer(label: \"b\") { brief { word } } }";
const STREAM: &str = "{ pet(order_by: {id: asc}) @stream(initialCount: 1, label: \"p\") { name note } }";
const JSON: (&str, &str) = ("content-type", "application/json");

/// A service that answers a request when it is told to.
struct Silent {
    address: SocketAddr,
    answer: Sender<()>,
    _service: Service,
}

impl Silent {
    fn start() -> Self {
        let (answer, told) = channel();
        let told = Mutex::new(told);
        let service = Service::start(move |_| {
            let is_told = told.lock().expect("no test panics with it").recv();
            let headers = "content-type: application/json\r\n";
            is_told.map_or(Vec::new(), |()| reply(200, headers, r#"{"word":"one"}"#))
        });
        Self { address: service.address, answer, _service: service }
    }
}

fn scene() -> (Silent, Weir) {
    let silent = Silent::start();
    let weir = Weir::with_services(SDL, silent.address, "");
    (silent, weir)
}

fn post(accept: &str, query: &str) -> Vec<u8> {
    message("POST", "/graphql", &[JSON, ("accept", accept)], Some(body(query).as_bytes()))
}

/// The first and the second of two parts as they are on the wire.
fn multipart(first: &str, second: &str) -> [String; 2] {
    let head = "\r\ncontent-type: application/json\r\n\r\n";
    [format!("\r\n---{head}{first}\r\n---"), format!("{head}{second}\r\n-----\r\n")]
}

fn events(first: &str, second: &str) -> [String; 2] {
    [
        format!("event: next\ndata: {first}\n\n"),
        format!("event: next\ndata: {second}\n\nevent: complete\ndata:\n\n"),
    ]
}

const FIRST: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}},"hasNext":true}"#;
const SECOND: &str =
    r#"{"incremental":[{"path":[],"label":"b","data":{"brief":{"word":"one"}}}],"hasNext":false}"#;
const FIRST_WITH_ID: &str =
    r#"{"data":{"pet_by_pk":{"name":"Ada"}},"pending":[{"id":"0","path":[],"label":"b"}],"hasNext":true}"#;
const SECOND_WITH_ID: &str = r#"{"incremental":[{"id":"0","data":{"brief":{"word":"one"}}}],"completed":[{"id":"0"}],"hasNext":false}"#;

#[test]
fn the_first_part_leaves_while_a_service_is_silent() {
    let (silent, weir) = scene();
    let by_path = multipart(FIRST, SECOND);
    let by_id = multipart(FIRST_WITH_ID, SECOND_WITH_ID);
    let events = events(FIRST, SECOND);
    for (accept, media, [first, second]) in [
        (
            "multipart/mixed;deferSpec=20220824,application/json",
            "multipart/mixed; boundary=\"-\"; deferSpec=20220824",
            &by_path,
        ),
        (
            "multipart/mixed;incrementalSpec=v0.2, application/graphql-response+json",
            "multipart/mixed; boundary=\"-\"; incrementalSpec=v0.2",
            &by_id,
        ),
        (
            "application/json, text/event-stream, multipart/mixed",
            "multipart/mixed; boundary=\"-\"\r\n",
            &by_path,
        ),
        ("text/event-stream", "text/event-stream; charset=utf-8", &events),
        ("application/json, text/event-stream", "text/event-stream; charset=utf-8", &events),
    ] {
        let (head, mut reader) = stream(&weir, &post(accept, QUERY));
        assert!(
            head.starts_with("HTTP/1.1 200") && head.contains(&format!("content-type: {media}")),
            "{head}"
        );
        let seen = chunks(&mut reader, first.len());
        assert_eq!(&seen, first, "{accept}");
        silent.answer.send(()).expect("the service runs");
        assert_eq!(&chunks(&mut reader, second.len()), second, "{accept}");
        assert_eq!(read_until(&mut reader, "0\r\n\r\n"), "0\r\n\r\n", "{accept}");
    }
}

const ITEM: &str = r#"{"data":{"pet":[{"name":"Ada","note":"one"}]},"hasNext":true}"#;
const ITEMS: &str = r#"{"incremental":[{"path":["pet",1],"label":"p","items":[{"name":"Bob","note":"one"},{"name":"Cyd","note":"one"}]}],"hasNext":false}"#;
const ITEM_WITH_ID: &str = r#"{"data":{"pet":[{"name":"Ada","note":"one"}]},"pending":[{"id":"0","path":["pet"],"label":"p"}],"hasNext":true}"#;
const ITEMS_WITH_ID: &str = r#"{"incremental":[{"id":"0","items":[{"name":"Bob","note":"one"},{"name":"Cyd","note":"one"}]}],"completed":[{"id":"0"}],"hasNext":false}"#;

#[test]
fn the_first_items_leave_while_a_service_is_silent_about_the_others() {
    let (silent, weir) = scene();
    for (accept, [first, second]) in [
        ("multipart/mixed;deferSpec=20220824", multipart(ITEM, ITEMS)),
        ("multipart/mixed;incrementalSpec=v0.2", multipart(ITEM_WITH_ID, ITEMS_WITH_ID)),
        ("multipart/mixed", multipart(ITEM, ITEMS)),
        ("text/event-stream", events(ITEM, ITEMS)),
        ("text/event-stream;incrementalSpec=v0.2", events(ITEM_WITH_ID, ITEMS_WITH_ID)),
    ] {
        silent.answer.send(()).expect("the service runs");
        let (head, mut reader) = stream(&weir, &post(accept, STREAM));
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert_eq!(chunks(&mut reader, first.len()), first, "{accept}");
        for _ in 0..2 {
            silent.answer.send(()).expect("the service runs");
        }
        assert_eq!(chunks(&mut reader, second.len()), second, "{accept}");
        assert_eq!(read_until(&mut reader, "0\r\n\r\n"), "0\r\n\r\n", "{accept}");
    }
}

#[test]
fn parts_are_messages_of_a_socket_that_asks_for_them() {
    let (silent, weir) = scene();
    let message = |part: &str| format!(r#"{{"type":"next","id":"a","payload":{part}}}"#);
    let end = r#"{"type":"complete","id":"a"}"#;
    for (accept, first, second) in [
        ("multipart/mixed;deferSpec=20220824", ITEM, ITEMS),
        ("multipart/mixed;incrementalSpec=v0.2", ITEM_WITH_ID, ITEMS_WITH_ID),
    ] {
        let mut socket = socket(&weir, "/graphql", NEW);
        let login = r#"{"type":"connection_init","payload":{"headers":{"accept":"ACCEPT"}}}"#;
        say(&mut socket, &login.replace("ACCEPT", accept));
        assert_eq!(hear(&mut socket), ACK);
        silent.answer.send(()).expect("the service runs");
        say(&mut socket, &begin(NEW, "a", &body(STREAM)));
        assert_eq!(hear(&mut socket), message(first));
        for _ in 0..2 {
            silent.answer.send(()).expect("the service runs");
        }
        assert_eq!(hear(&mut socket), message(second));
        assert_eq!(hear(&mut socket), end);
    }
    let mut socket = socket(&weir, "/graphql", NEW);
    say(&mut socket, INIT);
    assert_eq!(hear(&mut socket), ACK);
    for _ in 0..3 {
        silent.answer.send(()).expect("the service runs");
    }
    say(&mut socket, &begin(NEW, "a", &body(STREAM)));
    let whole = r#"{"data":{"pet":[{"name":"Ada","note":"one"},{"name":"Bob","note":"one"},{"name":"Cyd","note":"one"}]}}"#;
    assert_eq!(hear(&mut socket), message(whole));
    assert_eq!(hear(&mut socket), end);
}

/// The next `len` bytes of a chunked body, without the borders of its chunks.
fn chunks(reader: &mut BufReader<TcpStream>, len: usize) -> String {
    let mut seen = Vec::new();
    while seen.len() < len {
        let mut size = String::new();
        reader.read_line(&mut size).expect("a chunk comes");
        let size = usize::from_str_radix(size.trim(), 16).expect("a chunk has a size");
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).expect("it is whole");
        seen.extend_from_slice(&chunk[..size]);
    }
    String::from_utf8(seen).expect("it is UTF-8")
}

#[test]
fn who_takes_no_parts_gets_one_answer() {
    let (silent, weir) = scene();
    for accept in ["application/json", "*/*", "multipart/mixed;subscriptionSpec=1.0, application/json"] {
        silent.answer.send(()).expect("the service runs");
        let (head, mut reader) = stream(&weir, &post(accept, QUERY));
        assert!(head.contains("content-type: application/json"), "{head}");
        let all = r#"{"data":{"pet_by_pk":{"name":"Ada"},"brief":{"word":"one"}}}"#;
        assert_eq!(read_until(&mut reader, "}}}"), all, "{accept}");
    }
}
