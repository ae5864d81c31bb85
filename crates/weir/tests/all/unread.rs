//! Clients that do not read: a stream of HTTP/2 without window is reset while its connection goes on, and the bytes that wait for
//! readers have a bound.

use crate::postgres_kit;
use crate::support::{Folder, Weir, body, message, until};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io::{Read, Write};
use std::net::TcpStream;

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
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
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
    let weir = notes("write_s: 10, unread_connection_bytes_max: 1000000");
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
    let weir = notes("write_s: 6, unread_bytes_max: 2000000");
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

/// The notes in PostgreSQL, with four sessions, three of them for reads.
fn notes_in_postgres(limits: &str) -> Weir {
    let database = postgres_kit::database(
        "CREATE TABLE note (id int PRIMARY KEY, text text NOT NULL);
         INSERT INTO note SELECT i, repeat('n', 10000) FROM generate_series(1, 2000) i;
         CREATE TABLE word (note_id int PRIMARY KEY REFERENCES note);",
    );
    let folder = Folder::new();
    let yaml = format!(
        "listen: 127.0.0.1:0\nthreads: 1\nlimits: {{{limits}}}\nsources:\n  - name: notes\n    url: {}\n    postgres: {{sessions_max: 4, wait_ms_max: 2000}}\n",
        database.url()
    );
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

/// Writes and reads of another client are answered, however many streams stand still.
fn check_others(weir: &Weir) {
    for id in 3000..3003 {
        let add = format!(r#"mutation {{ insert_note_one(object: {{id: {id}, text: "x"}}) {{ id }} }}"#);
        assert_eq!(weir.query(&add).text(), format!(r#"{{"data":{{"insert_note_one":{{"id":{id}}}}}}}"#));
        let read = "{ note(where: {id: {_gt: 2999}}, order_by: {id: asc}) { id } }";
        let answer = weir.query(read);
        assert!(answer.text().ends_with(&format!(r#"{{"id":{id}}}]}}}}"#)), "{}", answer.text());
    }
}

/// Twice as many streams as sessions, of one list or of lists with something below, whose clients read nothing.
fn check_unread(query: &str) {
    let weir = notes_in_postgres("write_s: 600");
    run(async {
        let mut unread = Vec::new();
        for _ in 0..8 {
            let mut send = connect(&weir, 0).await;
            let answer = ask(&mut send, query).await;
            assert_eq!(
                (answer.status().as_u16(), answer.headers().contains_key("retry-after")),
                (200, false)
            );
            unread.push((send, answer));
        }
        tokio::task::block_in_place(|| check_others(&weir));
    });
}

#[test]
fn streams_that_nobody_reads_give_their_sessions_to_those_who_wait() {
    check_unread(LONG);
}

#[test]
fn so_do_streams_of_nested_lists() {
    check_unread("{ note { id text words { note_id } } }");
}

#[test]
fn a_stream_that_hurried_is_whole_for_a_client_that_begins_to_read() {
    let weir = notes_in_postgres("write_s: 600");
    run(async {
        let mut begun = Vec::new();
        for _ in 0..6 {
            let mut send = connect(&weir, 1000).await;
            begun.push((ask(&mut send, "{ note(order_by: {id: asc}) { id text } }").await, send));
        }
        tokio::task::block_in_place(|| check_others(&weir));
        for (answer, _send) in begun {
            let all = answer.into_body().collect().await.expect("it comes whole").to_bytes();
            let json: serde_json::Value = serde_json::from_slice(&all).expect("it is whole");
            let ids: Vec<u64> = json["data"]["note"]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(|it| it["id"].as_u64())
                .collect();
            assert_eq!(ids, (1..=2000).collect::<Vec<_>>());
        }
    });
}

#[test]
fn beyond_the_bound_streams_that_nobody_reads_are_cut_off_where_others_wait() {
    // No room for even one of the answers, but for the beginnings of many.
    let weir = notes_in_postgres("write_s: 600, unread_connection_bytes_max: 12000000");
    run(async {
        let mut unread = Vec::new();
        for _ in 0..3 {
            let mut send = connect(&weir, 1000).await;
            unread.push((ask(&mut send, LONG).await, send));
        }
        until("reads get sessions", || {
            tokio::task::block_in_place(|| {
                weir.query("{ note(where: {id: {_lt: 2}}) { id } }").text().ends_with(r#"[{"id":1}]}}"#)
            })
        });
        let mut cut = 0;
        for (answer, _send) in unread {
            cut += u32::from(answer.into_body().collect().await.is_err());
        }
        assert!(cut > 0, "one was cut off");
    });
}
