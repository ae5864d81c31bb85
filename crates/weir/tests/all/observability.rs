//! Metrics (against OpenMetrics' rules, the manual and the board), logs and profiles of a running server.

use crate::support::{Answer, Folder, Weir, body, command, config, message, read, until};
use crate::upstream_kit::{Upstream, answers};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

const SERVICES: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache", "@policy"])
  @source(name: "plain", http: {baseURL: "http://upstream"})
  @cache(source: "plain", default: 60)
  @policy(source: "plain", retries: 1, breaker: {errors: 50, window: 10})
type Query {
  user(id: Int!): User @connect(source: "plain", http: {GET: "/users/{$args.id}"}, selection: "name")
}
type User { name: String }
"#;

/// A server of everything that has metrics, after requests of all kinds.
fn busy() -> (Upstream, Weir) {
    let upstream = Upstream::start(answers(
        "- {ask: GET /users/1, answer: {name: Ada}}\n- {ask: GET /users/2, status: 500, answer: {}}",
    ));
    let folder = Folder::new();
    folder.pets();
    folder.write("services.graphql", &SERVICES.replace("upstream", &upstream.address.to_string()));
    let yaml = "listen: 127.0.0.1:0\nlimits: {depth_max: 2}\n\
                sources:\n  - {name: pets, url: pets.db}\n  - {name: users, file: services.graphql}\n";
    let file = folder.write("weir.yaml", yaml);
    let weir = Weir::by_file(&file, folder);
    let busy = "query Busy { pet { name } user(id: 1) { name } }";
    for query in [busy, busy, "query Failing { user(id: 2) { name } }"] {
        assert_eq!(weir.query(query).status, 200);
    }
    let unfit = "query Unfit { pet(where: {name: {_regex: \"(\"}}) { name } }";
    assert_eq!(weir.query(unfit).code(), "INVALID_PATTERN");
    let deep = "{ pet_aggregate { aggregate { count } } }";
    assert_eq!(weir.query(deep).code(), "LIMIT_DEPTH");
    (upstream, weir)
}

/// A family of metrics.
#[derive(Debug, Default)]
struct Family {
    ty: String,
    help: String,
    unit: Option<String>,
    samples: BTreeSet<String>,
}

/// The families of a page, by name.
fn families(page: &str) -> BTreeMap<String, Family> {
    let mut found: BTreeMap<String, Family> = BTreeMap::new();
    let mut last = String::new();
    for line in page.lines().filter(|it| *it != "# EOF") {
        if let Some(told) = line.strip_prefix("# ") {
            let mut words = told.splitn(3, ' ');
            let what = words.next();
            let name = words.next();
            let text = words.next();
            let name = name.expect("it has a name");
            let text = text.unwrap_or_default();
            let family = found.entry(name.to_owned()).or_default();
            match what {
                Some("HELP") => {
                    assert!(family.help.is_empty(), "{name} stands twice on the page");
                    family.help = text.to_owned();
                }
                Some("TYPE") => family.ty = text.to_owned(),
                Some("UNIT") => family.unit = Some(text.to_owned()),
                other => panic!("{other:?} in {line}"),
            }
            last = name.to_owned();
        } else {
            let name = line.split(['{', ' ']).next().expect("a line has a name");
            assert!(name.starts_with(&last), "{name} is not of {last}");
            found.get_mut(&last).expect("it is the last").samples.insert(name.to_owned());
        }
    }
    found
}

/// Every name that a query may use.
fn samples(families: &BTreeMap<String, Family>) -> BTreeSet<&str> {
    families.values().flat_map(|it| &it.samples).map(String::as_str).collect()
}

/// The names of metrics in `text`.
fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let found = text.match_indices("weir_").map(|(at, _)| {
        let rest = &text[at..];
        &rest[..rest.find(|it| !is_part(it)).unwrap_or(rest.len())]
    });
    found.collect()
}

/// `Accept` of Prometheus 3.
const OPENMETRICS: &str = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
    application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

#[test]
fn who_does_not_ask_for_openmetrics_gets_the_text_format() {
    let (_upstream, weir) = busy();
    for headers in [&[][..], &[("accept", "text/plain")], &[("accept", "*/*")]] {
        let page = weir.get("/metrics", headers);
        assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        assert!(!page.text().contains("# EOF") && !page.text().contains("# UNIT"));
        let families = families(page.text());
        for (name, family) in &families {
            let of_kind = match family.ty.as_str() {
                "counter" => name.ends_with("_total") && family.samples.iter().all(|it| it == name),
                "gauge" => family.samples.iter().all(|it| it == name),
                "histogram" => family
                    .samples
                    .iter()
                    .all(|it| ["_bucket", "_sum", "_count"].iter().any(|end| *it == format!("{name}{end}"))),
                other => panic!("{name} is a {other}"),
            };
            assert!(of_kind && !family.help.is_empty(), "{name}: {family:?}");
        }
        assert!(families.contains_key("weir_requests_total") && families.len() > 30, "{}", families.len());
    }
}

/// As `promtool check metrics` has it, of the names of Prometheus' best practices.
#[test]
fn names_types_and_units_of_metrics_keep_the_rules() {
    let (_upstream, weir) = busy();
    let page = weir.get("/metrics", &[("accept", OPENMETRICS)]);
    assert_eq!(
        page.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    assert!(page.text().ends_with("# EOF\n"));
    let families = families(page.text());
    assert!(families.len() > 30, "{}", families.len());
    for (name, family) in &families {
        assert!(!family.help.is_empty(), "{name} has no help: {family:?}");
        assert!(!family.samples.is_empty() || family.ty != "gauge", "{name} has no sample");
        assert!(name.starts_with("weir_") && !name.contains("__"), "{name}");
        let ends = |ends: &[&str]| ends.iter().any(|it| name.ends_with(it));
        assert!(!ends(&["_total", "_count", "_sum", "_bucket"]), "{name} ends as a sample does");
        assert!(
            !ends(&["_milliseconds", "_ms", "_us", "_micros", "_kilobytes", "_kb", "_percent"]),
            "{name} has no base unit"
        );
        match family.ty.as_str() {
            "counter" => {
                assert!(family.samples.iter().all(|it| *it == format!("{name}_total")), "{family:?}")
            }
            "histogram" => {
                assert!(ends(&["_seconds"]) && family.unit.as_deref() == Some("seconds"), "{name}")
            }
            "gauge" => assert!(family.samples.iter().all(|it| it == name), "{family:?}"),
            other => panic!("{name} is a {other}"),
        }
    }
}

#[test]
fn failures_and_retries_are_told_by_connector_and_source() {
    let (_upstream, weir) = busy();
    let page = weir.get("/metrics", &[]);
    let of = r#"source="users",service="plain""#;
    for line in [
        format!(r#"weir_service_calls_total{{{of},connector="Query.user",outcome="2xx"}} 1"#),
        format!(r#"weir_service_calls_total{{{of},connector="Query.user",outcome="5xx"}} 1"#),
        format!(r#"weir_service_retries_total{{{of},connector="Query.user"}} 1"#),
        format!(r#"weir_service_breaker_open{{{of}}} 0"#),
        r#"weir_cache_answers_total{source="plain",connector="Query.user",outcome="hit"} 1"#.to_owned(),
        r#"weir_fetch_failures_total{source="pets",code="INVALID_PATTERN"} 1"#.to_owned(),
        r#"weir_fetches_in_flight{source="pets"} 0"#.to_owned(),
    ] {
        assert!(page.text().lines().any(|it| it == line), "{line} is not in\n{}", page.text());
    }
}

#[test]
fn every_metric_that_the_board_names_is_told() {
    let (_upstream, weir) = busy();
    let page = weir.get("/metrics", &[]);
    let families = families(page.text());
    let known = samples(&families);
    let board: Value =
        serde_json::from_str(&read(&file("examples/observability/weir-dashboard.json"))).expect("it is JSON");
    let mut expressions = Vec::new();
    let panels = board["panels"].as_array().expect("it has panels");
    for panel in panels.iter().filter(|it| it["type"] != "row") {
        let targets = panel["targets"].as_array().expect("a panel has targets");
        expressions.extend(targets.iter().map(|it| it["expr"].as_str().expect("it is a text")));
    }
    for variable in board["templating"]["list"].as_array().expect("it has variables") {
        expressions.extend(variable["query"]["query"].as_str());
    }
    assert!(expressions.len() > 30, "{}", expressions.len());
    for expression in expressions {
        let names = names(expression);
        assert!(!names.is_empty(), "{expression}");
        for name in names {
            assert!(known.contains(name), "{name} is not told: {expression}\n{known:#?}");
        }
    }
}

#[test]
fn the_page_and_its_documentation_name_the_same_metrics() {
    let (_upstream, weir) = busy();
    let page = weir.get("/metrics", &[("accept", OPENMETRICS)]);
    let families = families(page.text());
    let manual = ["docs/observability.md", "docs/caching.md", "docs/live.md", "docs/live/postgresql.md"]
        .map(|it| read(&file(it)))
        .join("\n");
    let documented = names(&manual);
    for (name, family) in &families {
        let told = match family.ty.as_str() {
            "counter" => format!("{name}_total"),
            _ => name.clone(),
        };
        assert!(documented.contains(told.as_str()), "{told} is in no page of the manual");
    }
}

const SECRET: &[(&str, &str)] = &[("x-hasura-admin-secret", "the secret of the test")];

/// The lines of a log in JSON with this target.
fn lines(weir: &Weir, target: &str) -> Vec<Value> {
    let log = weir.log();
    let lines = log.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    lines.filter(|it| it["target"] == target).collect()
}

#[test]
fn the_logs_tell_an_operation_without_its_values() {
    let weir = Weir::with_settings(
        "admin_secret: the secret of the test\nlog: {format: json, access: true, slow_ms: 0}",
    );
    let query =
        r#"query Logged($v: String!) { pet(where: {name: {_in: [$v, "a literal secret"]}}) { name } }"#;
    let sent = serde_json::json!({"query": query, "variables": {"v": "a bound secret"}}).to_string();
    weir.post("/graphql", SECRET, sent.as_bytes());
    weir.post("/graphql", SECRET, body("query Wrong { nothing }").as_bytes());
    until("both lines are written", || {
        lines(&weir, "weir::access").len() == 2 && lines(&weir, "weir::slow").len() == 2
    });
    // Each thread writes its own.
    let access = lines(&weir, "weir::access");
    let logged = access.iter().find(|it| it["code"].is_null()).expect("one has no error");
    let text = |key: &str| logged[key].as_str().unwrap_or_else(|| panic!("{key} of {logged}"));
    assert_eq!((text("operation"), text("role"), text("method")), ("Logged", "admin", "POST"));
    assert_eq!((logged["status"].as_u64(), logged["fetches"].as_u64()), (Some(200), Some(1)));
    for key in ["parse_us", "validate_us", "plan_us", "bind_us", "execute_us", "cpu_us", "total_us", "bytes"]
    {
        assert!(logged[key].is_u64(), "{key} of {logged}");
    }
    assert!(logged["code"].is_null() && text("hash").len() == 16);
    assert!(access.iter().any(|it| it["code"] == "GRAPHQL_VALIDATION_FAILED"), "{access:?}");
    let slow = lines(&weir, "weir::slow");
    let plan =
        slow.iter().find_map(|it| it["plan"].as_str()).unwrap_or_else(|| panic!("no plan in {slow:?}"));
    assert!(plan.starts_with("pets: ") && plan.contains("SELECT"), "{plan}");
    let log = weir.log();
    assert!(!log.contains("bound secret") && !log.contains("literal secret"), "{log}");
}

#[test]
fn a_flood_of_equal_lines_is_a_few_and_their_number() {
    let weir = Weir::with_settings("log: {format: json, slow_ms: 0}");
    for _ in 0..200 {
        weir.query("query Flood { pet { name } }");
    }
    let held = || lines(&weir, "weir::flood").iter().filter_map(|it| it["times"].as_u64()).sum::<u64>();
    until("all lines are written or counted", || held() + lines(&weir, "weir::slow").len() as u64 >= 200);
    assert_eq!(held() + lines(&weir, "weir::slow").len() as u64, 200, "none is lost");
    assert!(held() > 0 && lines(&weir, "weir::flood")[0]["of"] == "slow operation");
}

/// Asks for queries until it is dropped, so that there is something to profile.
struct Load(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Load {
    fn start(weir: &Weir) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut socket = weir.connect();
        let told = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let sent = body("query Profiled { pet(order_by: {name: asc}) { id name } }");
            let headers = [("content-type", "application/json")];
            let request = message("POST", "/graphql", &headers, Some(sent.as_bytes()));
            while !told.load(Ordering::Relaxed) {
                socket.write_all(&request).expect("it is sent");
                assert_eq!(Answer::read(&mut BufReader::new(&socket)).status, 200);
            }
        });
        Self(is_over, Some(thread))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        let ended = self.1.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|it| it.is_ok()));
    }
}

#[test]
fn a_profile_is_a_file_of_pprof_or_a_picture() {
    let weir = Weir::pets(&[]);
    let _load = Load::start(&weir);
    let profile = weir.get("/admin/profile?seconds=1", &[]);
    assert_eq!((profile.status, profile.header("content-type")), (200, Some("application/octet-stream")));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&profile.body[..]).read_to_end(&mut bytes).expect("it is packed by gzip");
    let profile = pprof_file::Profile::decode(&bytes);
    assert!(profile.samples > 0 && profile.names.iter().any(|it| it.contains("weir")), "{profile:?}");
    let picture = weir.get("/admin/profile?seconds=1&format=flamegraph", &[]);
    assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    assert!(picture.text().contains("<svg") && picture.text().contains("<title>weir-"), "{}", picture.text());
}

#[test]
fn one_profile_is_taken_at_a_time_and_by_operators_alone() {
    let weir = Weir::with_settings("admin_secret: the secret of the test");
    assert_eq!(weir.get("/admin/profile", &[]).status, 401);
    assert_eq!(weir.get("/admin/profile?seconds=600", SECRET).code(), "BAD_REQUEST");
    let mut first = weir.connect();
    until("the other is refused", || {
        // The other may have come before the first, which is refused then: both try again.
        first = weir.connect();
        first.write_all(&message("GET", "/admin/profile?seconds=60", SECRET, None)).expect("it is sent");
        weir.get("/admin/profile?seconds=1", SECRET).status == 409
    });
    drop(first);
    until("a client that went away ends its profile", || {
        weir.get("/admin/profile?seconds=1", SECRET).status == 200
    });
}

#[test]
fn a_wrong_collector_ends_the_start_with_the_way_out() {
    let folder = Folder::new();
    folder.pets();
    let check = |yaml: &str, variable: Option<(&str, &str)>, expected: &str| {
        let file = folder.write("weir.yaml", &config(yaml));
        let mut command = command();
        command.args(["serve", file.to_str().expect("it is UTF-8")]);
        command.envs(variable);
        let output = command.output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(expected), "{told}");
    };
    check("tracing: {ratio: 2}", None, "`tracing.ratio` is a share from 0 (nothing) to 1");
    check("tracing: {endpoint: 'collector:4318'}", None, "write `http://127.0.0.1:4318`");
    let endpoint = "tracing: {endpoint: 'http://127.0.0.1:4318'}";
    check(endpoint, Some(("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")), "`http/protobuf`");
}

/// As much of `profile.proto` as the test reads.
mod pprof_file {
    use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

    #[derive(Debug, Default)]
    pub(super) struct Profile {
        pub(super) samples: usize,
        pub(super) names: Vec<String>,
    }

    impl Profile {
        pub(super) fn decode(mut bytes: &[u8]) -> Self {
            let mut found = Self::default();
            while !bytes.is_empty() {
                let (tag, wire) = decode_key(&mut bytes).expect("it is a key");
                if wire != WireType::LengthDelimited {
                    skip_field(wire, tag, &mut bytes, DecodeContext::default()).expect("it is a field");
                    continue;
                }
                let length = decode_varint(&mut bytes).expect("it is a length") as usize;
                let (field, rest) = bytes.split_at(length);
                bytes = rest;
                match tag {
                    2 => found.samples += 1,
                    6 => found.names.push(String::from_utf8(field.to_vec()).expect("it is text")),
                    _ => {}
                }
            }
            found
        }
    }
}
