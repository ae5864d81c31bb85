//! The life of a server over real sockets: secrets, probes, drain, reload, compression, CORS.

use crate::support;
use crate::support::{Answer, Folder, PATIENCE, Weir, body, command, config, connect, message, until};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

const ADA: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#;
const ASK: &str = "{ pet_by_pk(id: 1) { name } }";

fn check(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
}

#[test]
fn with_a_secret_only_its_holder_is_served() {
    let weir = Weir::pets(&["--admin-secret", "hush"]);
    let ask = |headers: &[(&str, &str)]| weir.post("/graphql", headers, body(ASK).as_bytes());
    check(&ask(&[]), 401, "ACCESS_DENIED");
    check(&ask(&[("x-weir-admin-secret", "husk")]), 401, "ACCESS_DENIED");
    check(&ask(&[("x-weir-admin-secret", "hush")]), 200, ADA);
    check(&ask(&[("x-hasura-admin-secret", "hush")]), 200, ADA);
    let hidden = r#"Cannot query field \"pet_by_pk\" on type"#;
    check(&ask(&[("x-hasura-admin-secret", "hush"), ("x-hasura-role", "user")]), 200, hidden);
    check(&weir.post("/v1/graphql", &[], body(ASK).as_bytes()), 200, r#""code":"access-denied""#);
    for path in ["/metrics", "/v1/explain", "/v1/invalidate"] {
        let raw = message(if path == "/metrics" { "GET" } else { "POST" }, path, &[], Some(b"{}"));
        check(&weir.raw(&raw), 401, "ACCESS_DENIED");
    }
    check(&weir.get("/metrics", &[("authorization", "Bearer hush")]), 200, "weir_requests_total counter");
    for headers in
        [&[("x-weir-admin-secret", "hush"), ("x-hasura-role", "user")][..], &[("x-hasura-role", "user")]]
    {
        check(&weir.get("/metrics", headers), 403, "not in allowed roles");
        check(&weir.post("/v1/explain", headers, body(ASK).as_bytes()), 403, "not in allowed roles");
    }
    check(&weir.get("/readyz", &[]), 200, r#""status":"ok""#);
    assert!(!weir.log().contains("hush"), "{}", weir.log());
}

#[test]
fn who_guesses_the_secret_is_not_listened_to_for_a_while() {
    let weir = Weir::with_settings("admin_secret: hush\nlimits: {wrong_secrets_per_minute: 3}");
    let ask = |secret: &str| weir.post("/graphql", &[("x-weir-admin-secret", secret)], body(ASK).as_bytes());
    check(&ask("hush"), 200, ADA);
    check(&ask("a"), 401, "ACCESS_DENIED");
    check(&weir.get("/metrics", &[("authorization", "Bearer b")]), 401, "ACCESS_DENIED");
    let hasura = weir.post("/v1/graphql", &[("x-hasura-admin-secret", "c")], body(ASK).as_bytes());
    check(&hasura, 200, "access-denied");
    check(&ask("hush"), 429, "LIMIT_SECRET");
    check(
        &weir.post("/v1/graphql", &[("x-hasura-admin-secret", "c")], body(ASK).as_bytes()),
        429,
        "LIMIT_SECRET",
    );
    // A request without a secret is refused; probes need none.
    check(&weir.post("/graphql", &[], body(ASK).as_bytes()), 401, "ACCESS_DENIED");
    check(&weir.get("/readyz", &[]), 200, "ok");
}

#[test]
fn readiness_names_the_source_that_cannot_answer() {
    let weir = Weir::with_settings("");
    check(&weir.get("/readyz", &[]), 200, r#"{"status":"ok","sources":[{"name":"pets","ready":true}]}"#);
    let file = weir.folder().file("pets.db");
    let aside = weir.folder().file("aside.db");
    std::fs::rename(&file, &aside).expect("it can be moved");
    until("it is missed", || weir.get("/readyz", &[]).status == 503);
    let answer = weir.get("/readyz", &[]);
    check(&answer, 503, r#"{"name":"pets","ready":false,"code":"SOURCE_UNAVAILABLE","reason":""#);
    assert!(!answer.text().contains(".db"), "{answer:?}");
    // The process lives and its configuration is as it was.
    check(&weir.get("/livez", &[]), 200, "ok");
    check(&weir.get("/healthz", &[]), 200, "OK");
    std::fs::write(&file, "this is no database at all, however long one looks at it")
        .expect("it can be written");
    until("it is looked at again", || {
        weir.get("/readyz", &[]).status == 503 && weir.log().contains("not a database")
    });
    check(&weir.get("/readyz", &[]), 503, "STORE_DAMAGED");
    std::fs::rename(&aside, &file).expect("it can be moved back");
    until("it is found again", || weir.get("/readyz", &[]).status == 200);
}

#[test]
fn entries_for_what_is_not_there_are_told_with_their_places_and_the_rest_serves() {
    let folder = Folder::new();
    folder.pets();
    let yaml = "listen: 127.0.0.1:0\nsources:\n  - name: pets\n    url: pets.db\n    tables:\n      - table: pett\n      \
                - table: pet\n        configuration:\n          column_config:\n            nam: {custom_name: title}\n";
    let file = folder.write("weir.yaml", yaml);
    let file = file.to_str().expect("it is UTF-8").to_string();
    let run = command().args(["check", &file]).output().expect("it runs");
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(1), "{words}");
    let table =
        "weir.yaml:6:9: sources[0].tables[0].table: `pett`: there is no table `pett`; did you mean `pet`?";
    let column = "weir.yaml:10:13: sources[0].tables[1].configuration.column_config.nam: `pet.nam`: \
                  there is no such column; did you mean `name`?";
    assert!(words.contains(table) && words.contains(column), "{words}");
    let weir = Weir::start(&["serve", &file], folder);
    check(&weir.query(ASK), 200, ADA);
    check(&weir.get("/healthz", &[]), 200, "WARN: entries of the configuration");
    until("the mistakes are logged", || weir.log().contains(column));
}

#[test]
fn out_of_dev_mode_there_is_no_console() {
    let weir = Weir::with_settings("dev: false\nadmin_secret: hush");
    for path in ["/", "/console", "/console/"] {
        check(&weir.get(path, &[]), 404, "NOT_FOUND");
    }
    let answer = weir.post("/graphql", &[("x-weir-admin-secret", "hush")], body(ASK).as_bytes());
    check(&answer, 200, ADA);
    assert_eq!(answer.header("server-timing"), None);
}

#[test]
fn an_open_listener_without_a_secret_is_refused_at_start() {
    let folder = Folder::new();
    let target = format!("sqlite:{}", folder.pets().display());
    let run = command().args(["serve", &target, "--listen", "0.0.0.0:0"]).output().expect("it runs");
    assert_eq!(run.status.code(), Some(1));
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(words.contains("without an admin secret"), "{words}");
}

#[test]
fn a_port_in_use_is_said() {
    let weir = Weir::pets(&[]);
    let target = format!("sqlite:{}", weir.folder().file("pets.db").display());
    let run =
        command().args(["serve", &target, "--listen", &weir.address.to_string()]).output().expect("it runs");
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(words.contains("another program listens there"), "{words}");
}

#[test]
fn an_admin_listener_takes_the_metrics_with_it() {
    let weir = Weir::pets(&["--admin-listen", "127.0.0.1:0"]);
    let admin = weir.admin.expect("it is named at start");
    let get = |address: SocketAddr, path: &str| {
        let mut socket = connect(address);
        socket.write_all(&message("GET", path, &[], None)).expect("it is sent");
        Answer::read(&mut BufReader::new(socket))
    };
    check(&get(admin, "/metrics"), 200, "weir_requests_total counter");
    check(&get(weir.address, "/metrics"), 404, "NOT_FOUND");
    check(&get(admin, "/graphql?query=%7B__typename%7D"), 404, "NOT_FOUND");
}

/// Waits for the process to end.
fn await_end(weir: &mut Weir) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = weir.child.try_wait().expect("it is our child") {
            return status;
        }
        assert!(begun.elapsed() < PATIENCE, "it did not end: {}", weir.log());
        std::thread::yield_now();
    }
}

#[test]
fn a_signal_drains_and_ends_with_success() {
    let mut weir = Weir::pets(&[]);
    // A request whose body is not complete is in flight.
    let text = body(ASK);
    let headers = [("content-type", "application/json"), ("expect", "100-continue")];
    let raw = message("POST", "/graphql", &headers, Some(text.as_bytes()));
    let (first, last) = raw.split_at(raw.len() - 5);
    let mut slow = weir.connect();
    slow.write_all(first).expect("it is sent");
    let mut goes_on = [0; 25];
    slow.read_exact(&mut goes_on).expect("the server waits for the body");
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    let mut idle = weir.connect();
    idle.write_all(&message("GET", "/readyz", &[], None)).expect("it is sent");
    let mut idle = BufReader::new(idle);
    check(&Answer::read(&mut idle), 200, "ok");
    weir.signal("-TERM");
    // The idle connection is closed, the one in flight is answered.
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).expect("it is closed in order");
    assert!(rest.is_empty());
    slow.write_all(last).expect("it is still open");
    check(&Answer::read(&mut BufReader::new(slow)), 200, ADA);
    assert_eq!(await_end(&mut weir).code(), Some(0), "{}", weir.log());
}

#[test]
fn no_request_is_dropped_while_draining_under_load() {
    let mut weir = Weir::pets(&[]);
    let address = weir.address;
    let answered = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let answered = Arc::clone(&answered);
            std::thread::spawn(move || load(address, &answered, &AtomicBool::new(false)))
        })
        .collect();
    until("the load runs", || answered.load(Ordering::Relaxed) > 200);
    weir.signal("-TERM");
    for client in clients {
        client.join().expect("each request was answered or its connection closed before it was sent");
    }
    assert_eq!(await_end(&mut weir).code(), Some(0), "{}", weir.log());
}

/// Asks over one connection until `stop`, or until the server closes it between two requests.
fn load(address: SocketAddr, answered: &AtomicU64, stop: &AtomicBool) {
    let text = body(ASK);
    let raw = message("POST", "/graphql", &[("content-type", "application/json")], Some(text.as_bytes()));
    let mut socket = connect(address);
    let mut answers = BufReader::new(socket.try_clone().expect("a socket can be shared"));
    while !stop.load(Ordering::Relaxed) {
        if socket.write_all(&raw).is_err() {
            return;
        }
        let answer = Answer::read(&mut answers);
        if answer.status == 0 {
            return;
        }
        check(&answer, 200, ADA);
        answered.fetch_add(1, Ordering::Relaxed);
        if answer.header("connection") == Some("close") {
            return;
        }
    }
}

#[test]
fn a_changed_file_takes_over_and_a_broken_one_does_not() {
    let weir = Weir::with_settings("");
    check(&weir.query(ASK), 200, ADA);
    let depth = "limits: {depth_max: 1}";
    weir.folder().write("weir.yaml", &config(depth));
    until("the new limit holds", || weir.query(ASK).text().contains("LIMIT_DEPTH"));
    weir.folder().write("weir.yaml", &config("limitz: {}"));
    until("the broken file is reported", || {
        weir.log().contains("unknown key `limitz`; did you mean `limits`?")
    });
    check(&weir.query(ASK), 200, "LIMIT_DEPTH");
    check(&weir.get("/healthz", &[]), 200, "WARN");
    weir.folder().write("weir.yaml", &config(""));
    until("the mended file takes over", || weir.query(ASK).text().contains(ADA));
    check(&weir.get("/healthz", &[]), 200, "OK");
}

#[test]
fn the_bound_on_conditions_can_be_set() {
    let weir = Weir::with_settings("limits: {conditions_max: 2}");
    let query = |parts: &str| format!("{{ pet(where: {{_and: [{parts}]}}) {{ id }} }}");
    let two = query("{id: {_gt: 1}}, {id: {_in: [1, 2, 3]}}");
    let three = query("{id: {_gt: 1, _lt: 3, _neq: 9}}");
    assert!(!weir.query(&two).text().contains("errors"));
    check(&weir.query(&three), 200, "LIMIT_CONDITIONS");
    check(&weir.post("/v1/graphql", &[], body(&three).as_bytes()), 200, "validation-failed");
}

#[test]
fn reloads_under_load_fail_no_request() {
    let weir = Weir::with_settings("");
    let answered = Arc::new(AtomicU64::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..3)
        .map(|_| {
            let answered = Arc::clone(&answered);
            let stop = Arc::clone(&stop);
            let address = weir.address;
            std::thread::spawn(move || load(address, &answered, &stop))
        })
        .collect();
    let count = |name: &str| {
        let page = weir.get("/metrics", &[]);
        let line = page.text().lines().find_map(|it| it.strip_prefix(name)?.trim().parse::<u64>().ok());
        line.unwrap_or_default()
    };
    for round in 0..10 {
        let (text, counter) = match round % 2 {
            0 => ("", "weir_reloads_total"),
            _ => ("listen: [", "weir_reload_failures_total"),
        };
        let reloads = count(counter);
        let before = answered.load(Ordering::Relaxed);
        weir.folder().write("weir.yaml", &config(text));
        weir.signal("-HUP");
        until("the reload is over", || count(counter) > reloads);
        until("requests go on", || answered.load(Ordering::Relaxed) > before + 20);
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().expect("no request failed");
    }
    assert_eq!(count("weir_panics_total"), 0);
}

#[test]
fn a_table_added_to_the_database_is_served_after_a_hangup() {
    let weir = Weir::pets(&[]);
    check(&weir.query("{ toy { id } }"), 200, "Cannot query field");
    let database = rusqlite::Connection::open(weir.folder().file("pets.db")).expect("it can be opened");
    database.execute_batch("CREATE TABLE toy (id INTEGER PRIMARY KEY)").expect("it can be changed");
    weir.signal("-HUP");
    until("the table is served", || weir.query("{ toy { id } }").text() == r#"{"data":{"toy":[]}}"#);
}

fn unpack(coding: &str, packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let read = match coding {
        "gzip" => GzDecoder::new(packed).read_to_end(&mut plain),
        "br" => brotli::Decompressor::new(packed, 4096).read_to_end(&mut plain),
        _ => zstd::stream::read::Decoder::new(packed).and_then(|mut it| it.read_to_end(&mut plain)),
    };
    read.expect("it is whole, and in the coding it claims");
    plain
}

#[test]
fn a_long_answer_is_compressed_as_asked() {
    let weir = Weir::pets(&[]);
    let names: Vec<String> = (0..40).map(|it| format!("a{it}: pet {{ id name }}")).collect();
    let ask = body(&format!("{{ {} }}", names.join(" ")));
    let plain = weir.post("/graphql", &[], ask.as_bytes());
    assert!(plain.body.len() > 2000 && plain.header("content-encoding").is_none(), "{plain:?}");
    for coding in ["gzip", "br", "zstd"] {
        let packed = weir.post("/graphql", &[("accept-encoding", coding)], ask.as_bytes());
        assert_eq!((packed.status, packed.header("content-encoding")), (200, Some(coding)));
        assert!(packed.header("vary").is_some_and(|it| it.contains("accept-encoding")));
        assert_eq!(unpack(coding, &packed.body), plain.body, "{coding}");
    }
    let short = weir.post("/graphql", &[("accept-encoding", "gzip")], body(ASK).as_bytes());
    check(&short, 200, ADA);
}

#[test]
fn a_compressed_request_is_unpacked_within_the_limit() {
    let weir = Weir::pets(&[]);
    let pack = |plain: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(plain).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let gzip = [("content-encoding", "gzip")];
    check(&weir.post("/graphql", &gzip, &pack(body(ASK).as_bytes())), 200, ADA);
    check(&weir.post("/graphql", &gzip, &pack(&vec![b' '; 10_000_000])), 413, "LIMIT_BODY");
    check(&weir.post("/graphql", &gzip, b"no gzip at all"), 400, "not in the coding it claims");
    check(&weir.post("/graphql", &[("content-encoding", "gzip, gzip")], b"x"), 415, "UNSUPPORTED_MEDIA_TYPE");
    check(&weir.post("/graphql", &[("content-encoding", "lzma")], b"x"), 415, "UNSUPPORTED_MEDIA_TYPE");
}

#[test]
fn other_origins_are_let_in_by_name_only() {
    let weir = Weir::with_settings("cors: {origins: ['https://good.com'], credentials: true}");
    let ask = |origin: &str| weir.post("/graphql", &[("origin", origin)], body(ASK).as_bytes());
    let allowed = ask("https://good.com");
    check(&allowed, 200, ADA);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://good.com"));
    assert_eq!(allowed.header("access-control-allow-credentials"), Some("true"));
    for origin in ["null", "https://good.com.evil.com", "http://good.com"] {
        assert_eq!(ask(origin).header("access-control-allow-origin"), None, "{origin}");
    }
    let preflight = |origin: &str| {
        let headers = [("origin", origin), ("access-control-request-method", "POST")];
        weir.raw(&message("OPTIONS", "/graphql", &headers, None))
    };
    let methods = |origin| preflight(origin).header("access-control-allow-methods").map(str::to_owned);
    assert_eq!(methods("https://good.com").as_deref(), Some("GET, POST, PUT, DELETE"));
    assert_eq!(methods("https://evil.com"), None);
}

#[test]
fn a_dripped_head_is_closed() {
    let weir = Weir::with_settings("limits: {head_s: 1}");
    let mut socket = weir.connect();
    socket.write_all(b"POST /graphql HTTP/1.1\r\nhost").expect("it is sent");
    let mut rest = Vec::new();
    // Reading ends when the server closes; the socket's own patience is longer.
    let closed = socket.read_to_end(&mut rest);
    assert!(closed.is_ok_and(|_| rest.is_empty()));
    check(&weir.query(ASK), 200, ADA);
}

#[test]
fn beyond_the_bound_the_longest_idle_connection_makes_room() {
    let weir = Weir::with_settings("threads: 1\nlimits: {connections_max: 3}");
    let mut sockets: Vec<_> = (0..6).map(|_| weir.connect()).collect();
    let mut last = sockets.pop().expect("there are six");
    last.write_all(&message("GET", "/livez", &[], None)).expect("it is sent");
    check(&Answer::read(&mut BufReader::new(last)), 200, "ok");
    let mut rest = Vec::new();
    assert_eq!(sockets[0].read_to_end(&mut rest).unwrap_or(0), 0);
}

#[test]
fn access_logs_are_lines_of_json_without_values() {
    let weir = Weir::with_settings("log: {format: json, access: true}");
    let ask = r#"{"query":"query($id: Int!) { pet_by_pk(id: $id) { name } }","variables":{"id":424242}}"#;
    check(&weir.post("/graphql", &[("x-request-id", "find-me")], ask.as_bytes()), 200, "null");
    until("the line is written", || weir.log().contains("find-me"));
    let log = weir.log();
    let line = log.lines().find(|it| it.contains("find-me")).expect("it was just seen");
    let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
    assert_eq!((line["status"].as_u64(), line["path"].as_str()), (Some(200), Some("/graphql")), "{line}");
    assert!(!log.contains("424242") && !log.contains("pet_by_pk"), "{log}");
}

#[test]
fn the_command_line_answers_without_a_server() {
    let folder = Folder::new();
    let target = format!("sqlite:{}", folder.pets().display());
    let run = |arguments: &[&str]| {
        let output = command().args(arguments).stderr(Stdio::piped()).output().expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, _) = run(&["explain", ASK, &target]);
    assert!(code == Some(0) && out.contains("SELECT"), "{out}");
    let (code, out, _) = run(&["schema", &target]);
    assert!(code == Some(0) && out.contains("type pet"), "{out}");
    let (code, out, _) = run(&["check", &target]);
    assert!(code == Some(0) && out.starts_with("ok: pets"), "{out}");
    let (code, _, words) = run(&["serve", "mysql://localhost/x"]);
    assert!(code == Some(1) && words.contains("not a kind of source"), "{words}");
    let (code, _, words) = run(&["check", "nothing.db"]);
    assert!(code == Some(1) && words.contains("there is no file nothing.db; name the database"), "{words}");
    let (code, _, words) = run(&["explain", "{ pet { id nam } }", &target]);
    assert_eq!(code, Some(1));
    assert!(words.starts_with("error: query:1:12: Cannot query field \"nam\" on type \"pet\"."), "{words}");
    assert!(words.contains("[GRAPHQL_VALIDATION_FAILED]"), "{words}");
    let file = folder.file("new.yaml");
    let file = file.to_str().expect("it is UTF-8");
    assert_eq!(run(&["init", file]).0, Some(0));
    assert!(support::read(std::path::Path::new(file)).contains("listen: 127.0.0.1:8080"));
    let (code, _, words) = run(&["init", file]);
    assert!(code == Some(1) && words.contains("is there already"), "{words}");
    let proposed = folder.file("proposed.yaml");
    let proposed = proposed.to_str().expect("it is UTF-8");
    assert_eq!(run(&["init", proposed, "--url", &target]).0, Some(0));
    let text = support::read(std::path::Path::new(proposed));
    assert!(text.contains("relationship_names: ") && text.contains("  - name: pets\n"), "{text}");
    let (code, out, words) = run(&["check", proposed]);
    assert!(code == Some(0) && out.starts_with("ok: pets"), "{out}{words}");
    let (code, _, words) = run(&["init", "-", "--url", "nothing.db"]);
    assert!(code == Some(1) && words.contains("there is no file nothing.db"), "{words}");
    let (code, out, _) = run(&["completions", "bash"]);
    assert!(code == Some(0) && out.contains("_weir"), "{out}");
    assert_eq!(run(&["serve", "--listen"]).0, Some(2));
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let folder = Folder::new();
    let target = format!("sqlite:{}", folder.pets().display());
    for arguments in [&["completions", "bash"][..], &["schema", &target], &["init", "-"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe is made");
        drop(reader);
        let output = command().args(arguments).stdout(writer).output().expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!words.contains("panicked"), "{arguments:?}: {words}");
    }
}

#[test]
fn validate_reports_places_as_text_and_as_json() {
    let folder = Folder::new();
    let schema = folder.write("schema.graphql", "type Query { pet: Pet } type Pet { name: String! }");
    let good = folder.write("good.graphql", "{ pet { name } }");
    let bad = folder.write("bad.graphql", "{ pet {\n  nam } }");
    let run = |document: &std::path::Path, format: &str| {
        let arguments = ["validate", "--schema", schema.to_str().expect("UTF-8"), "--format", format];
        let output = command().args(arguments).arg(document).output().expect("it runs");
        (output.status.code(), String::from_utf8(output.stdout).expect("it is UTF-8"))
    };
    assert_eq!(run(&good, "text"), (Some(0), String::new()));
    let (code, text) = run(&bad, "text");
    assert!(code == Some(1) && text.contains("bad.graphql:2:3: Cannot query field \"nam\""), "{text}");
    let json: serde_json::Value = serde_json::from_str(&run(&bad, "json").1).expect("it is JSON");
    assert_eq!(json["errors"][0]["locations"][0]["line"], 2);
    let many = "type T { f: Nothing }\n".repeat(3);
    let broken = folder.write("broken.graphql", &format!("type Query {{ a: Int }}\n{many}"));
    let output = command().args(["validate", "--schema"]).arg(&broken).arg(&good).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("it is UTF-8");
    assert!(text.contains("broken.graphql:2:") && text.contains("broken.graphql:4:"), "{text}");
}

#[test]
fn the_published_schema_is_up_to_date() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/weir.schema.json");
    let made = weir::config::published::text();
    if std::env::var("WEIR_BLESS").is_ok_and(|it| it == "1") {
        std::fs::write(&file, &made).expect("it can be written");
    }
    let written = support::read(&file);
    assert!(written == made, "docs/weir.schema.json is old: run this test with WEIR_BLESS=1");
}

#[test]
fn a_long_answer_leaves_in_chunks_plain_and_compressed() {
    let weir = Weir::with_settings("cache: {hold_back_bytes: 65536}");
    let database = rusqlite::Connection::open(weir.folder().file("pets.db")).expect("it can be opened");
    let many = "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) \
                INSERT INTO pet SELECT i, 'pet number ' || i FROM n";
    database.execute_batch(many).expect("it can be written");
    let ask = body("{ pet(order_by: {id: asc}) { id name } }");
    let plain = weir.post("/graphql", &[], ask.as_bytes());
    assert_eq!((plain.status, plain.header("transfer-encoding")), (200, Some("chunked")));
    let rows = plain.json()["data"]["pet"].as_array().map(Vec::len);
    assert_eq!(rows, Some(59_994));
    let packed = weir.post("/graphql", &[("accept-encoding", "zstd")], ask.as_bytes());
    assert_eq!(packed.header("content-encoding"), Some("zstd"));
    let bytes = unpack("zstd", &packed.body);
    assert!(bytes == plain.body && packed.body.len() * 3 < plain.body.len());
}

#[test]
fn a_client_that_reads_nothing_is_cut_off_and_others_are_served() {
    let weir = Weir::with_settings("limits: {write_s: 1}");
    let database = rusqlite::Connection::open(weir.folder().file("pets.db")).expect("it can be opened");
    let long = "INSERT INTO pet SELECT value, hex(zeroblob(100000)) FROM \
                (WITH RECURSIVE n(value) AS (SELECT 10 UNION ALL SELECT value + 1 FROM n WHERE value < 200) \
                SELECT value FROM n)";
    database.execute_batch(long).expect("it can be written");
    let ask = body("{ pet { id name } }");
    let mut lazy = weir.connect();
    let raw = message("POST", "/graphql", &[("content-type", "application/json")], Some(ask.as_bytes()));
    lazy.write_all(&raw).expect("it is sent");
    let mut answer = vec![0; 12];
    lazy.read_exact(&mut answer).expect("the answer begins");
    let connections = || {
        let page = weir.get("/metrics", &[]);
        page.text().lines().find_map(|it| it.strip_prefix("weir_connections ")?.parse::<u64>().ok())
    };
    check(&weir.query(ASK), 200, ADA);
    until("only the asking connection is left", || connections() == Some(1));
    // The bytes in the sockets' buffers still arrive; the answer is incomplete.
    let _ = lazy.read_to_end(&mut answer);
    assert!(!answer.ends_with(b"0\r\n\r\n"), "the answer came whole");
}

#[test]
fn without_descriptors_the_log_has_a_line_a_second_and_connections_wait() {
    let weir = Weir::with_settings("threads: 1");
    let process = weir.child.id().to_string();
    let limit = |files: &str| {
        let status = std::process::Command::new("prlimit").args(["--pid", &process, files]).status();
        assert!(status.expect("util-linux has it").success(), "{files}");
    };
    let begun = Instant::now();
    // Fewer than the server has open itself.
    limit("--nofile=5:");
    let mut crowd: Vec<_> = (0..20).map(|_| weir.connect()).collect();
    let lines = || weir.log().lines().filter(|it| it.contains("connections could not be accepted")).count();
    until("two lines are written", || lines() >= 2);
    assert!(lines() as u64 <= begun.elapsed().as_secs() + 1, "{}", weir.log());
    limit("--nofile=1000:");
    let mut last = crowd.pop().expect("there are twenty");
    last.write_all(&message("GET", "/livez", &[], None)).expect("it is sent");
    check(&Answer::read(&mut BufReader::new(last)), 200, "ok");
}

#[test]
fn every_code_of_the_http_layer_is_documented() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = support::read(&root.join("../../docs/server.md"));
    let mut found = 0;
    let folders = ["", "connection", "request", "graphql", "graphql/websocket", "operator", "telemetry"];
    let entries = |it: &&str| std::fs::read_dir(root.join("src/server").join(it)).expect("sources");
    let paths = folders.iter().flat_map(entries).map(|it| it.expect("an entry can be read").path());
    for path in paths.filter(|it| it.is_file()) {
        let text = support::read(&path);
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        // Escaped quotes stand in messages only, never around a code.
        let text = text.replace("\\\"", "'");
        let is_code = |it: &&str| it.len() > 5 && it.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
        let other = ["LIMIT_", "CARGO_PKG_VERSION", "OUT_DIR"];
        for code in text.split('"').filter(is_code).filter(|it| !other.contains(it)) {
            assert!(page.contains(&format!("`{code}`")), "{code} is not in docs/server.md");
            found += 1;
        }
    }
    assert!(found >= 10, "only {found} codes were found");
}
