//! A mock asked over a socket: bodies, batches, lifetimes, failures, counts.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use tokio::sync::oneshot;
use weir_load::{Scenario, serve};

const SCENARIO: &str = "
seed: 7
headers: {X-TTL: 2, X-Version: v$(version)}
objects:
  player:
    id: $(id)
    name: Player $(words 2)
    points: $(id * 37 % 900)
    credits: $(7 + id % 4 + 0.5)
    form: {$list: 3, $item: $(id * at)}
    playing: $(id % 2 == 0)
endpoints:
  GET /players/{id}:
    known: 1..99
    body: {$of: player}
  GET /players:
    known: 1..99
    headers: {X-TTL: 60}
    body: {$ids: query.id, $of: player}
  POST /players:
    status: 201
    body: {got: $(body.name), ids: {$ids: body.ids, $item: $(id)}}
  GET /matches/{match}/score:
    body:
      note: 'costs $$(1) \"quoted\"'
      version: $(version)
      innings:
        $list: 2
        $as: innings
        batters: {$list: 2, player: $(match * 22 + innings * 11 + at)}
  GET /me:
    body: {user: $(header.x-user-id), tag: $(query.tag)}
  GET /flaky:
    errors: {rate: 0.5, statuses: [500, 429], retry_after: 1s}
    body: {}
";

struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let scenario = Scenario::read(SCENARIO).expect("the scenario is sound");
            // The sender going away is the sign.
            serve(scenario, listener, async { drop(stopped.await) }).expect("it serves");
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    /// Status line, headers and body.
    fn ask(&self, request: &str, headers: &str, body: &str) -> (String, String) {
        let mut socket = TcpStream::connect(self.address).expect("it listens");
        let length = body.len();
        write!(socket, "{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
            .expect("it reads");
        let mut text = String::new();
        socket.read_to_string(&mut text).expect("it answers");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        (head.to_string(), body.trim_end().to_string())
    }

    fn get(&self, target: &str, expected: &str) {
        assert_eq!(self.ask(&format!("GET {target}"), "", "").1, expected, "{target}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(std::thread::panicking() || ended.is_ok());
        }
    }
}

const SEVEN: &str =
    r#"{"id":7,"name":"Player NAMES","points":259,"credits":10.5,"form":[0,7,14],"playing":false}"#;

#[test]
fn an_object_is_the_same_alone_and_in_a_batch() {
    let mock = Running::start();
    let alone = mock.ask("GET /players/7", "", "").1;
    let name =
        alone.split('"').nth(5).expect("a name").strip_prefix("Player ").expect("the prefix").to_string();
    assert_eq!(alone, SEVEN.replace("NAMES", &name));
    let batch = mock.ask("GET /players?id=8&id=7,100", "", "").1;
    assert!(batch.starts_with(r#"[{"id":8,"#) && batch.ends_with(&format!(",{alone}]")), "{batch}");
    mock.get("/players", "[]");
    let again = Running::start();
    again.get("/players/7", &alone);
}

#[test]
fn unknown_ids_and_paths_are_not_found() {
    let mock = Running::start();
    for target in ["/players/100", "/players/x", "/nothing", "/players/7/"] {
        let (head, body) = mock.ask(&format!("GET {target}"), "", "");
        assert!(head.starts_with("HTTP/1.1 404 "), "{target}: {head}");
        assert!(body.starts_with(r#"{"error":""#), "{target}: {body}");
    }
}

#[test]
fn lists_nest_and_texts_are_escaped() {
    let mock = Running::start();
    let innings = r#"[{"batters":[{"player":44},{"player":45}]},{"batters":[{"player":55},{"player":56}]}]"#;
    mock.get(
        "/matches/2/score",
        &format!(r#"{{"note":"costs $(1) \"quoted\"","version":1,"innings":{innings}}}"#),
    );
}

#[test]
fn bodies_queries_and_headers_can_be_read() {
    let mock = Running::start();
    let (head, body) = mock.ask("POST /players", "", r#"{"name": "a \"b\"", "ids": [3, "x"]}"#);
    assert!(head.starts_with("HTTP/1.1 201 "), "{head}");
    assert_eq!(body, r#"{"got":"a \"b\"","ids":[3,"x"]}"#);
    let ask = |user: &str| mock.ask("GET /me?tag=a%20b+c", &format!("x-user-id: {user}\r\n"), "").1;
    assert_eq!(ask("17"), r#"{"user":17,"tag":"a b c"}"#);
    // An answer that depends on a header is written anew each time.
    assert_eq!(ask("18"), r#"{"user":18,"tag":"a b c"}"#);
}

#[test]
fn the_version_shows_in_bodies_and_headers_and_an_endpoint_s_headers_win() {
    let mock = Running::start();
    mock.ask("GET /matches/2/score", "", "");
    mock.ask("GET /__set?version=3", "", "");
    let (head, body) = mock.ask("GET /matches/2/score", "", "");
    assert!(head.contains("x-ttl: 2\r\n") && head.contains("x-version: v3\r\n"), "{head}");
    assert!(body.contains(r#""version":3"#), "{body}");
    let (head, _) = mock.ask("GET /players?id=1", "", "");
    assert!(head.contains("x-ttl: 60\r\n"), "{head}");
}

#[test]
fn failures_come_in_the_same_order_after_a_reset() {
    let mock = Running::start();
    let run = || {
        (0..20).map(|_| mock.ask("GET /flaky", "", "").0).map(|it| it[9..12].to_string()).collect::<Vec<_>>()
    };
    let first = run();
    assert!(["200", "500", "429"].iter().all(|it| first.iter().any(|status| status == it)), "{first:?}");
    mock.ask("GET /__reset", "", "");
    assert_eq!(run(), first);
    mock.ask("GET /__set?errors=1", "", "");
    let (head, _) = mock.ask("GET /flaky", "", "");
    assert!(head.contains("retry-after: 1\r\n"), "{head}");
}

#[test]
fn calls_are_counted_by_endpoint_and_batches_by_id() {
    let mock = Running::start();
    for target in ["/players/7", "/players/7", "/players?id=1&id=2", "/nothing"] {
        mock.ask(&format!("GET {target}"), "", "");
    }
    let stats: serde_json::Value =
        serde_json::from_str(&mock.ask("GET /__stats", "", "").1).expect("it is JSON");
    assert_eq!((&stats["calls"], &stats["unmatched"]), (&3.into(), &1.into()));
    assert_eq!(stats["endpoints"]["GET /players/{id}"]["calls"], 2);
    assert_eq!(stats["endpoints"]["GET /players"]["ids"], 2);
    let (head, body) = mock.ask("GET /__set?latenzy=1ms", "", "");
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    assert_eq!(body, r#"{"error":"unknown parameter `latenzy`; did you mean `latency`?"}"#);
}

#[test]
fn the_example_and_the_manual_can_be_served() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("it is there");
    let manual = read("docs/mock.md");
    let manual = manual.split("```yaml\n").nth(1).and_then(|it| it.split("```").next()).expect("a scenario");
    for (text, endpoints) in [(read("examples/gateway/mock.yaml").as_str(), 10), (manual, 3)] {
        let scenario = Scenario::read(text).unwrap_or_else(|mistake| panic!("{mistake}"));
        assert_eq!(scenario.names().count(), endpoints);
    }
}

#[test]
fn a_body_that_is_no_json_is_refused_where_it_is_read() {
    let mock = Running::start();
    let (head, body) = mock.ask("POST /players", "", "{name");
    assert!(head.starts_with("HTTP/1.1 400") && body.contains("the body is no JSON: "), "{head} {body}");
    let (head, body) = mock.ask("POST /players", "", "");
    assert!(head.starts_with("HTTP/1.1 201"), "{head}");
    assert_eq!(body, r#"{"got":null,"ids":[]}"#);
}
