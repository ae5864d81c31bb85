//! More requests than one thread works off: what waits too long is refused at once, over each transport and in its form; all else is
//! answered, and operators always are.

use crate::persisted::{Transport, ask};
use crate::sockets::{ACK, INIT, NEW, OLD, say, socket};
use crate::support::{Answer, Folder, Weir, body, connect, message, until};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_tungstenite::tungstenite::WebSocket;

/// A page that one thread reads by itself.
const TABLES: &str = "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
    INSERT INTO pet SELECT i, 'Ada' FROM n;";
const LONG: &str = "{ pet(limit: 100) { id name } }";
const SHORT: &str = "{ pet_by_pk(id: 1) { name } }";
/// Clients of a flood, by threads.
const THREADS: usize = 4;
const CLIENTS: usize = 64;

fn serve(limits: &str) -> Weir {
    let folder = Folder::new();
    rusqlite::Connection::open(folder.file("pets.db"))
        .and_then(|it| it.execute_batch(TABLES))
        .expect("the statements are right");
    let yaml = format!(
        "listen: 127.0.0.1:0\nadmin_listen: 127.0.0.1:0\nthreads: 1\nlimits: {{{limits}}}\nsources: [{{name: pets, url: pets.db}}]\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    Weir::by_file(&file, folder)
}

/// True if `answer` is the refusal of an overloaded server; any other has to be whole.
fn is_refused(answer: &Answer) -> bool {
    if answer.status == 200 {
        assert_eq!(answer.text().matches("Ada").count(), 100);
        return false;
    }
    let found = (answer.status, answer.code(), answer.header("retry-after"));
    assert_eq!(found, (503, "LIMIT_QUEUE".to_owned(), Some("1")), "{answer:?}");
    assert!(answer.json().get("data").is_none(), "{answer:?}");
    true
}

/// Asks by many clients until `is_over`; the number of refusals.
fn flood(address: SocketAddr, is_over: &AtomicBool) -> usize {
    let mut clients: Vec<BufReader<TcpStream>> =
        std::iter::repeat_with(|| BufReader::new(connect(address))).take(CLIENTS).collect();
    let request =
        message("POST", "/graphql", &[("content-type", "application/json")], Some(body(LONG).as_bytes()));
    let mut refused = 0;
    while !is_over.load(Ordering::Relaxed) {
        for client in &mut clients {
            client.get_mut().write_all(&request).expect("the connection stays");
        }
        refused += clients.iter_mut().map(|it| is_refused(&Answer::read(it))).filter(|it| *it).count();
    }
    refused
}

/// Runs `test` while `weir` is flooded; the refusals of the flood.
fn during_flood(weir: &Weir, test: impl FnOnce()) -> usize {
    /// Ends the flood, also where the test panics.
    struct End<'e>(&'e AtomicBool);
    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let floods: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| flood(weir.address, &is_over))).collect();
        let end = End(&is_over);
        test();
        drop(end);
        floods.into_iter().map(|it| it.join().expect("each answer is right")).sum()
    })
}

/// Value of the counter of refusals.
fn count_refusals(weir: &Weir) -> usize {
    let address = weir.admin.expect("it listens for operators");
    let mut client = connect(address);
    client.write_all(&message("GET", "/metrics", &[], None)).expect("it is sent");
    let page = Answer::read(&mut BufReader::new(client));
    assert_eq!(page.status, 200);
    let name = "weir_limit_refusals_total{limit=\"LIMIT_QUEUE\"} ";
    let count = page.text().lines().find_map(|it| it.strip_prefix(name)).map(str::to_owned);
    count.map_or(0, |it| it.parse().expect("it is a number"))
}

#[test]
fn an_overloaded_server_refuses_over_each_transport_and_answers_operators() {
    let weir = serve("queue_ms: 2");
    let refused = during_flood(&weir, || {
        for (transport, code) in [
            (Transport::Post("/graphql"), "LIMIT_QUEUE"),
            (Transport::Get, "LIMIT_QUEUE"),
            (Transport::List("/graphql"), "LIMIT_QUEUE"),
            (Transport::Events("/graphql"), "LIMIT_QUEUE"),
            (Transport::Post("/v1/graphql"), "queue-limit-exceeded"),
            (Transport::Post("/v1alpha1/graphql"), "queue-limit-exceeded"),
            (Transport::List("/v1/graphql"), "queue-limit-exceeded"),
            (Transport::Events("/v1/graphql"), "queue-limit-exceeded"),
        ] {
            let is_refused = || {
                let answer = ask(&weir, transport, &[], &body(SHORT));
                assert!(answer.contains(code) || answer.contains("Ada"), "{transport:?}: {answer}");
                answer.contains(code)
            };
            until(&format!("a refusal by {transport:?}"), is_refused);
            for page in ["/livez", "/readyz", "/healthz", "/v1/version"] {
                assert_eq!(weir.get(page, &[]).status, 200, "{page}");
            }
        }
        let is_refused = || {
            let answer = weir.post("/v1/graphql", &[], body(SHORT).as_bytes());
            if answer.status == 503 {
                let error = &answer.json()["errors"][0]["extensions"];
                assert_eq!((error["path"].as_str(), answer.header("retry-after")), (Some("$"), Some("1")));
            }
            answer.status == 503
        };
        until("a refusal in Hasura's form", is_refused);
        let is_refused = || {
            let answer = weir.get("/api/rest/none", &[]);
            if answer.status == 503 {
                let code = &answer.json()["code"];
                assert_eq!(
                    (code.as_str(), answer.header("retry-after")),
                    (Some("queue-limit-exceeded"), Some("1"))
                );
            }
            answer.status == 503
        };
        until("a refusal of a REST endpoint", is_refused);
        assert!(count_refusals(&weir) > 0);
    });
    assert!(refused > 0 && count_refusals(&weir) >= refused, "{refused} refusals");
    until("the queue is short again", || weir.query(LONG).status == 200);
    assert!(weir.log().contains("the server is overloaded: requests were refused"), "{}", weir.log());
}

/// The answer to the operation `id`.
fn operate(socket: &mut WebSocket<TcpStream>, kind: &str, id: usize) -> String {
    say(
        socket,
        &format!(
            r#"{{"type":"{kind}","id":"{id}","payload":{{"query":"{{ pet_by_pk(id: 1) {{ name }} }}"}}}}"#
        ),
    );
    let own = format!("\"id\":\"{id}\"");
    loop {
        let text = socket.read().expect("the socket stays open").into_text().expect("it is text").to_string();
        if text.contains(&own) && !text.contains("complete") {
            return text;
        }
    }
}

#[test]
fn an_overloaded_server_answers_operations_of_sockets_by_errors() {
    let weir = serve("queue_ms: 2, socket_init_s: 60, socket_messages_per_second: 100000");
    let mut sockets = [
        ("/graphql", NEW, "subscribe", "LIMIT_QUEUE"),
        ("/graphql", OLD, "start", "LIMIT_QUEUE"),
        ("/v1/graphql", NEW, "subscribe", "queue-limit-exceeded"),
        ("/v1/graphql", OLD, "start", "queue-limit-exceeded"),
    ]
    .map(|(path, subprotocol, kind, code)| {
        let mut socket = socket(&weir, path, subprotocol);
        say(&mut socket, INIT);
        until("the socket is open", || {
            socket.read().is_ok_and(|it| it.to_text().is_ok_and(|text| text == ACK))
        });
        (socket, kind, code)
    });
    during_flood(&weir, || {
        for (socket, kind, code) in &mut sockets {
            let mut id = 0;
            let is_refused = || {
                id += 1;
                let answer = operate(socket, kind, id);
                assert!(answer.contains(*code) || answer.contains("Ada"), "{answer}");
                answer.contains(*code)
            };
            until(&format!("{code} by {kind}"), is_refused);
        }
    });
    for (socket, kind, _) in &mut sockets {
        let mut id = 1_000_000;
        until("an answer by the same socket", || {
            id += 1;
            operate(socket, kind, id).contains("Ada")
        });
    }
}

#[test]
fn an_overloaded_server_refuses_streams_of_http2() {
    let weir = serve("queue_ms: 2");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let (send, connection) = runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(weir.address).await.expect("the server accepts");
        Builder::new(TokioExecutor::new()).handshake(TokioIo::new(socket)).await.expect("it is HTTP/2")
    });
    runtime.spawn(connection);
    during_flood(&weir, || {
        until("a refusal", || {
            let request =
                hyper::Request::post("http://localhost/graphql").header("content-type", "application/json");
            let request = request.body(Full::new(Bytes::from(body(LONG)))).expect("it is well formed");
            let answer = runtime.block_on(send.clone().send_request(request)).expect("it is answered");
            answer.status() == 503 && answer.headers()["retry-after"] == "1"
        });
    });
}

#[test]
fn a_server_without_the_limit_refuses_nothing() {
    let weir = serve("queue_ms: 0");
    let refused = during_flood(&weir, || {
        (0..20).for_each(|_| assert!(!is_refused(&weir.query(LONG))));
    });
    assert_eq!((refused, count_refusals(&weir)), (0, 0));
}
