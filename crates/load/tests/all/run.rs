//! Runs against servers over sockets: every request is counted, and latencies begin at the schedule.

use crate::server::PushServer;
use crate::service_kit::{Asked, Service, reply};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use weir_load::result::{OperationResult, RunResult};
use weir_load::{LoadOptions, Plan, RunOptions, run};

fn plan(yaml: &str, url: &str) -> Arc<Plan> {
    let plan = Plan::read(yaml, Path::new("."), Some(url), LoadOptions::default());
    Arc::new(plan.unwrap_or_else(|mistake| panic!("{mistake}")))
}

fn result(yaml: &str, url: &str) -> RunResult {
    run(&plan(yaml, url), RunOptions::default(), &mut |_| {}).expect("it runs")
}

fn operation<'r>(result: &'r RunResult, name: &str) -> &'r OperationResult {
    result.operations.iter().find(|it| it.name == name).unwrap_or_else(|| panic!("no operation {name}"))
}

#[test]
fn an_open_loop_sends_each_request_of_its_schedule_once() {
    let seen = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&seen);
    let server = Service::start(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        reply(200, "age: 3\r\n", "{}")
    });
    let yaml = "load: {points: [[0s, 100], [500ms, 300], [500ms, 0], [700ms, 0]], arrivals: constant}\noperations: {a: {get: /a}}";
    let result = result(yaml, &server.url("/"));
    assert_eq!(seen.load(Ordering::SeqCst), 100);
    let total = &result.total;
    assert_eq!((total.scheduled, total.sent, total.completed), (100, 100, 100));
    assert_eq!((total.latency.count, total.service.count), (100, 100));
    assert_eq!(total.cache["hit"], 100);
    assert_eq!(result.timeline.iter().map(|it| it.offered).sum::<u64>(), 100);
    assert_eq!(result.timeline.iter().flat_map(|it| &it.heat).map(|it| it.1).sum::<u64>(), 100);
    let json = serde_json::to_string(&result).expect("it is written");
    let read: RunResult = serde_json::from_str(&json).expect("it is read");
    assert_eq!(read.total.latency.histogram().expect("a histogram").len(), 100);
}

#[test]
fn a_closed_loop_counts_what_the_server_counts() {
    let seen = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&seen);
    let server = Service::start(move |asked: &Asked| {
        counted.fetch_add(1, Ordering::SeqCst);
        assert_eq!(asked.text(), r#"{"query":"{ a }"}"#);
        reply(200, "x-weir-cache: miss;ttl=2\r\n", r#"{"data":{"a":1}}"#)
    });
    let result = result(
        "load: {closed: 4, duration: 300ms}\noperations: {a: {query: '{ a }'}}",
        &server.url("/graphql"),
    );
    assert!(result.total.sent >= 4);
    assert_eq!(seen.load(Ordering::SeqCst), result.total.sent);
    assert_eq!(result.total.cache["miss"], result.total.sent);
    assert_eq!((result.setup.connections, result.total.error_count()), (4, 0));
    let own = result.processes.last().expect("the generator itself");
    assert_eq!(own.name, "generator");
    assert!(own.samples[0].rss_bytes > 0);
}

/// The server takes 20 ms for each request and the only connection takes one at a time: of 100 requests scheduled within 0.5 s, the
/// k-th cannot end before 20 k ms. A generator that waits before it sends would see 20 ms each.
#[test]
fn a_stalling_server_shows_in_the_latency_from_the_schedule() {
    let scenario =
        weir_load::Scenario::read("endpoints:\n  GET /a: {latency: 20ms, body: {}}\n").expect("a scenario");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server =
        std::thread::spawn(move || weir_load::serve(scenario, listener, async { drop(stopped.await) }));
    let result =
        result("load: {rate: 200, duration: 500ms}\nconnections: 1\noperations: {a: {get: /a}}", &url);
    let total = &result.total;
    assert_eq!(total.completed, 100);
    assert!(total.latency.p50_us >= 750_000, "{}", total.latency.p50_us);
    assert!(total.latency.max_us >= 1_450_000, "{}", total.latency.max_us);
    assert!(total.service.min_us >= 20_000);
    assert!(total.service.p50_us < total.latency.p50_us, "{}", total.service.p50_us);
    drop(stop);
    server.join().expect("no panic").expect("it served");
}

#[test]
fn a_flow_carries_values_from_answer_to_request() {
    let wrong = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&wrong);
    let server = Service::start(move |asked: &Asked| {
        let user = asked.header("x-user");
        let body = match asked.path.as_str() {
            "/login" => {
                let body: Value = serde_json::from_str(asked.text()).expect("JSON");
                format!(r#"{{"token":"t-{}/\u0026","role":{{"id":12345678901234567890.50}}}}"#, body["user"])
            }
            "/list" => r#"{"items":[{"id":"a b"},{"id":"c/d"}]}"#.to_owned(),
            path => {
                let right = path == "/items/c%2Fd?user=1" || path == "/items/c%2Fd?user=2";
                let is_own = asked.header("authorization") == format!("Bearer t-{user}/&");
                if !right || !is_own || asked.text() != r#"{"role":{"id":12345678901234567890.50},"n":true}"# {
                    noted.lock().expect("no panic").push(format!("{path} {user} {}", asked.text()));
                }
                "{}".to_owned()
            }
        };
        reply(200, "", &body)
    });
    let yaml = "
load: {rate: 100, duration: 200ms}
headers: {x-user: $(user)}
values: {user: {choice: [1, 2]}}
operations:
  login: {post: /login, body: {user: $(user)}, capture: {token: $.token, role: role}}
  list: {get: /list, capture: {item: 'items[1].id'}}
  detail:
    post: /items/$(item)?user=$(user)
    headers: {authorization: Bearer $(token)}
    body: {role: $(role), n: $(1 == 1)}
flows:
  visit: {steps: [login, list, detail]}
";
    let result = result(yaml, &server.url("/"));
    assert_eq!(*wrong.lock().expect("no panic"), Vec::<String>::new());
    for name in ["login", "list", "detail"] {
        let found = operation(&result, name);
        assert_eq!((found.completed, found.error_count()), (20, 0), "{name}: {:?}", found.error_samples);
    }
}

#[test]
fn failed_checks_are_told_apart_with_samples() {
    let server = Service::start(|asked: &Asked| match asked.path.as_str() {
        "/down" => reply(503, "", "try later"),
        "/graphql" => reply(200, "", r#"{"data":{"a":{"id":7}},"errors":[{"message":"no"}]}"#),
        "/cut" => b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nabc".to_vec(),
        _ => reply(200, "", r#"{"a":{"id":7,"none":null}}"#),
    });
    let yaml = "
load: {rate: 100, duration: 200ms}
operations:
  down: {get: /down}
  graphql: {query: '{ a { id } }'}
  allowed: {query: '{ a { id } }', check: {errors: true, equals: {data.a: {id: 7}}}}
  cut: {get: /cut}
  missing: {get: /x, check: {exists: [a.id, a.none]}}
  other: {get: /x, check: {equals: {a.id: 8}}}
  wanted: {get: /down, check: {status: 503}}
";
    let result = result(yaml, &server.url("/graphql"));
    let check = |name: &str, label: Option<&str>| {
        let found = operation(&result, name);
        assert!(found.sent > 0, "{name} was drawn");
        let labels: Vec<(&str, u64)> = found.errors.iter().map(|it| (it.0.as_str(), *it.1)).collect();
        let expected: Vec<(&str, u64)> = label.into_iter().map(|it| (it, found.sent)).collect();
        assert_eq!(labels, expected, "{name}");
    };
    check("down", Some("status 503"));
    check("graphql", Some("graphql"));
    check("allowed", None);
    check("cut", Some("closed"));
    check("missing", Some("check exists a.none"));
    check("other", Some("check equals a.id"));
    check("wanted", None);
    let sample = &operation(&result, "down").error_samples[0];
    assert_eq!((sample.status, sample.body.as_str()), (503, "try later"));
}

#[test]
fn answers_of_every_framing_are_read() {
    let server = Service::start(|asked: &Asked| {
        match asked.path.as_str() {
        "/chunked" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\nx: y\r\n\r\n".to_vec(),
        "/closed" => b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"a\":1}".to_vec(),
        "/hinted" => [b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".to_vec(), reply(200, "", "{\"a\":1}")].concat(),
        _ => reply(200, "Connection: Keep-Alive\r\n", "{\"a\":1}"),
    }
    });
    let yaml = "
load: {closed: 2, duration: 200ms}
operations:
  chunked: {get: /chunked, check: {equals: {a: 1}}}
  closed: {get: /closed, check: {equals: {a: 1}}}
  hinted: {get: /hinted, check: {equals: {a: 1}}}
  known: {get: /known, check: {equals: {a: 1}}}
";
    let result = result(yaml, &server.url("/"));
    for name in ["chunked", "closed", "hinted", "known"] {
        let found = operation(&result, name);
        assert!(found.completed > 0 && found.error_count() == 0, "{name}: {:?}", found.error_samples);
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error_of_each_request() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    drop(listener);
    let result = result("load: {rate: 100, duration: 100ms}\noperations: {a: {get: /}}", &url);
    assert_eq!((result.total.sent, result.total.completed, result.total.errors["connect"]), (10, 0, 10));
    assert!(result.total.error_samples[0].body.contains("refused"), "{:?}", result.total.error_samples);
}

#[test]
fn http2_shares_connections() {
    let scenario =
        weir_load::Scenario::read("endpoints:\n  GET /p/{id}: {body: {id: $(id)}}\n").expect("a scenario");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server =
        std::thread::spawn(move || weir_load::serve(scenario, listener, async { drop(stopped.await) }));
    let yaml = "
protocol: http2
streams: 4
connections: 2
load: {rate: 500, duration: 200ms}
values: {id: {sequence: 1..9}}
operations: {a: {get: /p/$(id), check: {equals: {id: $(id)}}}}
";
    let result = result(yaml, &url);
    assert_eq!(
        (result.total.completed, result.total.error_count()),
        (100, 0),
        "{:?}",
        result.total.error_samples
    );
    assert_eq!((result.setup.connections, result.setup.protocol.as_str()), (2, "http2"));
    drop(stop);
    server.join().expect("no panic").expect("it served");
}

#[test]
fn every_mutation_is_timed_to_each_push() {
    let server = PushServer::start();
    let yaml = "
load: {rate: 100, duration: 300ms}
values: {n: {sequence: 1}}
operations:
  set: {query: 'mutation ($n: Int!) { set(n: $n) }', variables: {n: $(n)}, mark: $(n)}
  socket: {query: 'subscription { score { value } }', clients: 3, mark: data.score.value}
  events: {query: 'subscription { score { value } }', over: sse, clients: 2, mark: data.score.value}
";
    let result = result(yaml, &format!("http://{}/graphql", server.address));
    assert_eq!(
        (operation(&result, "set").completed, result.total.error_count()),
        (30, 0),
        "{:?}",
        result.total.errors
    );
    for (name, clients) in [("socket", 3), ("events", 2)] {
        let found = operation(&result, name);
        assert_eq!(
            (found.sent, found.completed),
            (clients, 30 * clients),
            "{name}: {:?}",
            found.error_samples
        );
        assert_eq!(found.push.as_ref().expect("a subscription").count, 30 * clients, "{name}");
    }
    assert_eq!(result.total.push.as_ref().expect("pushes").count, 150);
}

#[test]
fn a_log_is_replayed_with_its_paths() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let server = Service::start(move |asked: &Asked| {
        noted.lock().expect("no panic").push(format!("{} {}", asked.method, asked.path));
        reply(if asked.path.starts_with("/gone") { 404 } else { 200 }, "", r#"{"data":{}}"#)
    });
    let folder = std::env::temp_dir().join(format!("weir-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("it is made");
    let log = "\
10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] \"GET /a?x=1 HTTP/1.1\" 200 1
10.0.0.1 - - [02/Jan/2026:03:04:06 +0000] \"GET /gone/\\xC3\\xA9 HTTP/1.1\" 404 1
10.0.0.1 - - [02/Jan/2026:03:04:06 +0000] \"GET /b HTTP/1.1\" 404 1
10.0.0.1 - - [02/Jan/2026:03:04:06 +0000] \"GET /gone HTTP/1.1\" 200 1
{\"timestamp\":\"2026-01-02T03:04:07Z\",\"operation\":\"M\",\"total_us\":0}
";
    std::fs::write(folder.join("access.log"), log).expect("it is written");
    let yaml = "load: {replay: access.log, speed: 20}\noperations: {M: {query: 'query M { m }'}}";
    let plan =
        Plan::read(yaml, &folder, Some(&server.url("/graphql")), LoadOptions::default()).expect("a plan");
    let result = run(&Arc::new(plan), RunOptions::default(), &mut |_| {}).expect("it runs");
    std::fs::remove_dir_all(&folder).expect("it was there");
    let paths = ["GET /a?x=1", "GET /gone/%C3%A9", "GET /b", "GET /gone", "POST /graphql"];
    assert_eq!(*seen.lock().expect("no panic"), paths);
    assert_eq!((result.total.sent, result.total.error_count()), (5, 2));
    let errors: Vec<&str> = result.total.errors.keys().map(String::as_str).collect();
    assert_eq!(errors, ["status 200, not 404 as logged", "status 404, not 200 as logged"]);
}
