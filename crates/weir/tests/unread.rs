//! Clients that do not read: a stream of HTTP/2 without window is reset while its connection goes on, and the bytes that wait for
//! readers have a bound.

#[path = "../../sql/tests/postgres_kit/mod.rs"]
mod postgres_kit;
mod support;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io::{Read, Write};
use std::net::TcpStream;
use support::{Folder, Weir, body, message, until};

/// 2,000 notes of 10 kB: 20 MB, more than sockets and channels hold.
const NOTES: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO note SELECT i, replace(hex(zeroblob(5000)), '0', 'n') FROM n";
const LONG: &str = "{ note { id text } }";
const SHORT: &str = "{ note_by_pk(id: 1) { id } }";

/// The notes, served by one thread.
fn notes(limits: &str) -> Weir {
    let folder = Folder::new();
    let database = rusqlite::Connection::open(folder.file("notes.db")).expect("SQLite makes a file");
    database.execute_batch(NOTES).expect("the statements are right");
    let yaml = format!(
        "listen: 127.0.0.1:0\nthreads: 1\nlimits: {{{limits}}}\nsources: [{{name: notes, url: notes.db}}]\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

/// A connection of HTTP/2 whose streams may be sent `window` bytes.
async fn connect(weir: &Weir, window: u32) -> SendRequest<Full<Bytes>> {
    let socket = tokio::net::TcpStream::connect(weir.address).await.expect("the server accepts");
    let mut builder = Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window);
    let (send, connection) = builder.handshake(TokioIo::new(socket)).await.expect("it is HTTP/2");
    tokio::spawn(connection);
    send
}

async fn ask(send: &mut SendRequest<Full<Bytes>>, query: &str) -> hyper::Response<Incoming> {
    let request = hyper::Request::post("http://localhost/graphql").header("content-type", "application/json");
    let request = request.body(Full::new(Bytes::from(body(query)))).expect("it is well formed");
    send.send_request(request).await.expect("it is answered")
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts")
        .block_on(test);
}

#[test]
fn a_stream_without_window_is_reset_and_its_connection_goes_on() {
    let weir = notes("write_s: 2");
    run(async {
        let mut send = connect(&weir, 0).await;
        for query in [LONG, SHORT] {
            let answer = ask(&mut send, query).await;
            assert_eq!(answer.status(), 200);
            let end = answer.into_body().collect().await;
            assert!(end.is_err(), "the stream of {query} is reset");
        }
        assert_eq!(ask(&mut send, SHORT).await.status(), 200, "the connection goes on");
    });
}

#[test]
fn a_client_that_reads_slowly_gets_all() {
    let weir = notes("write_s: 10");
    run(async {
        let mut send = connect(&weir, 1000).await;
        let whole =
            ask(&mut send, LONG).await.into_body().collect().await.expect("it comes whole").to_bytes();
        assert!(whole.len() > 20_000_000 && whole.ends_with(b"]}}"), "{} bytes", whole.len());
    });
}

#[test]
fn a_connection_has_a_bound_of_unread_bytes() {
    let weir = notes("write_s: 10, unread_connection_bytes_max: 5000000");
    run(async {
        let mut send = connect(&weir, 0).await;
        let first = ask(&mut send, LONG).await;
        assert_eq!(first.status(), 200);
        let second = ask(&mut send, LONG).await;
        assert_eq!((second.status().as_u16(), second.headers()["retry-after"].as_bytes()), (503, &b"1"[..]));
        assert_eq!(
            ask(&mut connect(&weir, 0).await, LONG).await.status(),
            200,
            "others have bounds of their own"
        );
        drop(first);
        let mut status = 503;
        while status == 503 {
            status = ask(&mut send, LONG).await.status().as_u16();
        }
        assert_eq!(status, 200, "what is dropped makes room");
    });
}

#[test]
fn the_process_has_a_bound_of_unread_bytes() {
    let weir = notes("write_s: 6, unread_bytes_max: 9000000");
    let begin = |weir: &Weir| {
        let mut socket = weir.connect();
        let raw =
            message("POST", "/graphql", &[("content-type", "application/json")], Some(body(LONG).as_bytes()));
        socket.write_all(&raw).expect("it is sent");
        let mut status = [0; 12];
        socket.read_exact(&mut status).expect("it is answered");
        (status[9..].to_vec(), socket)
    };
    let lazy: Vec<(Vec<u8>, TcpStream)> = (0..3).map(|_| begin(&weir)).collect();
    let statuses: Vec<&[u8]> = lazy.iter().map(|it| it.0.as_slice()).collect();
    assert_eq!(statuses, [b"200", b"200", b"503"]);
    assert_eq!(weir.query(SHORT).status, 200, "short answers still fit");
    until("those who do not read are cut off", || begin(&weir).0 == b"200");
}

#[test]
fn long_reads_that_nobody_reads_leave_sessions_to_writes() {
    let database = postgres_kit::database(
        "CREATE TABLE note (id int PRIMARY KEY, text text NOT NULL);
         INSERT INTO note SELECT i, repeat('n', 10000) FROM generate_series(1, 2000) i",
    );
    let folder = Folder::new();
    let yaml = format!(
        "listen: 127.0.0.1:0\nthreads: 1\nlimits: {{write_s: 20}}\nsources:\n  - name: notes\n    url: {}\n    postgres: {{sessions_max: 4, wait_ms_max: 100}}\n",
        database.url()
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    run(async {
        let mut send = connect(&weir, 0).await;
        let mut unread = Vec::new();
        for _ in 0..6 {
            unread.push(ask(&mut send, LONG).await);
        }
        let begun = unread
            .iter()
            .filter(|it| it.status() == 200 && !it.headers().contains_key("retry-after"))
            .count();
        assert_eq!(begun, 3, "three of four sessions are for reads");
        let add = r#"mutation { insert_note_one(object: {id: 0, text: "x"}) { id } }"#;
        for id in 3000..3003 {
            let added = weir.query(&add.replace("id: 0", &format!("id: {id}")));
            assert_eq!(added.text(), format!(r#"{{"data":{{"insert_note_one":{{"id":{id}}}}}}}"#));
        }
    });
}
