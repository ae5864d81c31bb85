//! Traces: what a collector of OpenTelemetry is sent, what services are told, and that nothing waits for either.

use crate::postgres_kit::database;
use crate::service_kit::{Service, reply};
use crate::support::{Folder, Weir, body, command, until};
use crate::upstream_kit::{Upstream, answers};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

/// A collector: takes OTLP over HTTP, and keeps what it got.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    got: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
    _service: Service,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let got = Arc::<Mutex<Vec<ExportTraceServiceRequest>>>::default();
        let kept = Arc::clone(&got);
        let service = Service::start(move |asked| {
            assert_eq!((&*asked.method, &*asked.path), ("POST", "/v1/traces"));
            assert_eq!(asked.header("content-type"), "application/x-protobuf");
            let request =
                ExportTraceServiceRequest::decode(&asked.body[..]).expect("it is in the protocol's form");
            kept.lock().expect("nobody panics with it").push(request);
            let answer = ExportTraceServiceResponse::default().encode_to_vec();
            reply(200, "content-type: application/x-protobuf\r\n", &answer)
        });
        Self { address: service.address, got, _service: service }
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let got = self.got.lock().expect("nobody panics with it");
        let scopes = got.iter().flat_map(|it| &it.resource_spans).flat_map(|it| &it.scope_spans);
        scopes.flat_map(|it| it.spans.clone()).collect()
    }

    /// The spans of the trace of an operation, once the request's own has come, which is the last.
    fn trace(&self, operation: &str) -> Vec<Span> {
        until("the request's span has come", || self.spans().iter().any(|it| is_of(it, operation)));
        let all = self.spans();
        let trace = all.iter().find(|it| is_of(it, operation)).expect("it has come").trace_id.clone();
        all.into_iter().filter(|it| it.trace_id == trace).collect()
    }

    fn resource(&self, key: &str) -> Option<String> {
        let got = self.got.lock().expect("nobody panics with it");
        let resource = got.first()?.resource_spans.first()?.resource.clone()?;
        text(&resource.attributes.into_iter().map(|it| (it.key, it.value)).collect::<Vec<_>>(), key)
    }
}

type Attributes = Vec<(String, Option<opentelemetry_proto::tonic::common::v1::AnyValue>)>;

fn text(attributes: &Attributes, key: &str) -> Option<String> {
    match attributes.iter().find(|it| it.0 == key)?.1.as_ref()?.value.as_ref()? {
        Any::StringValue(text) => Some(text.clone()),
        Any::IntValue(number) => Some(number.to_string()),
        other => panic!("{key} is {other:?}"),
    }
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let all = span.attributes.iter().map(|it| (it.key.clone(), it.value.clone()));
    text(&all.collect(), key)
}

/// True for the span of a request that ran the operation.
fn is_of(span: &Span, operation: &str) -> bool {
    attribute(span, "graphql.operation.name").as_deref() == Some(operation)
}

fn find_span<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    spans.iter().find(|it| it.name == name).unwrap_or_else(|| panic!("{name} is not in {spans:#?}"))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// The server and a collector that gets its spans at once.
fn serve(yaml: &str, folder: Folder, collector: &Collector) -> Weir {
    let yaml = format!("tracing: {{endpoint: 'http://{}', ratio: 1}}\n{yaml}", collector.address);
    let file = folder.write("weir.yaml", &yaml);
    let mut command = command();
    command.args(["serve", file.to_str().expect("it is UTF-8")]).env("OTEL_BSP_SCHEDULE_DELAY", "20");
    Weir::run(&mut command, folder)
}

fn pets(collector: &Collector) -> Weir {
    let folder = Folder::new();
    folder.pets();
    serve("listen: 127.0.0.1:0\nsources: [{name: pets, url: pets.db}]\n", folder, collector)
}

pub(crate) const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[test]
fn a_request_is_a_span_with_its_planning_and_its_fetches() {
    let collector = Collector::start();
    let weir = pets(&collector);
    let query = r#"query TracedPet($secret: String!) { pet(where: {name: {_in: [$secret, "a literal secret"]}}) { name } }"#;
    let sent = serde_json::json!({"query": query, "variables": {"secret": "a bound secret"}}).to_string();
    let answer = weir.post("/graphql", &[("traceparent", PARENT)], sent.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let spans = collector.trace("TracedPet");
    let request = find_span(&spans, "query");
    assert_eq!(
        (hex(&request.trace_id), hex(&request.parent_span_id)),
        (PARENT[3..35].into(), PARENT[36..52].into())
    );
    assert_eq!(attribute(request, "graphql.operation.name").as_deref(), Some("TracedPet"));
    assert_eq!(attribute(request, "graphql.operation.type").as_deref(), Some("query"));
    assert_eq!(attribute(request, "http.response.status_code").as_deref(), Some("200"));
    assert_eq!(attribute(request, "url.scheme").as_deref(), Some("http"));
    assert_eq!(attribute(request, "network.protocol.version").as_deref(), Some("1.1"));
    assert_eq!(attribute(request, "weir.role").as_deref(), Some("admin"));
    assert_eq!(attribute(request, "weir.fetches").as_deref(), Some("1"));
    for part in ["parse", "validate", "plan", "fetch pets"] {
        let span = find_span(&spans, part);
        assert_eq!(span.parent_span_id, request.span_id, "{part}");
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
    }
    let fetch = find_span(&spans, "fetch pets");
    assert_eq!((fetch.kind, request.kind), (SpanKind::Client as i32, SpanKind::Server as i32));
    assert_eq!(attribute(fetch, "db.system.name").as_deref(), Some("sqlite"));
    assert_eq!(attribute(fetch, "db.namespace").as_deref(), Some("pets.db"));
    assert_eq!(attribute(fetch, "server.address"), None, "a file has no server");
    let statement = attribute(fetch, "db.query.text").expect("it has a statement");
    assert!(statement.contains("SELECT") && statement.contains("\"pet\""), "{statement}");
    let all = format!("{spans:?}");
    assert!(!all.contains("bound secret") && !all.contains("literal secret"), "{all}");
    assert_eq!(collector.resource("service.name").as_deref(), Some("weir"));
    until("the metrics tell it", || {
        let page = weir.get("/metrics", &[]);
        !page.text().contains("weir_trace_spans_total{result=\"exported\"} 0")
    });
}

#[test]
fn errors_are_told_by_code_and_the_clients_decision_counts() {
    let collector = Collector::start();
    let weir = pets(&collector);
    let not_sampled = PARENT.replace("-01", "-00");
    let ask = |text: &str, headers: &[(&str, &str)]| weir.post("/graphql", headers, body(text).as_bytes());
    ask("query Unsampled { pet { name } }", &[("traceparent", &not_sampled)]);
    ask("mutation TracedTwice { insert_pet(objects: [{id: 1, name: \"x\"}]) { affected_rows } }", &[]);
    let spans = collector.trace("TracedTwice");
    let request = find_span(&spans, "mutation");
    assert_eq!(attribute(request, "error.type").as_deref(), Some("UNIQUE_VIOLATION"));
    assert_eq!(request.status.as_ref().map(|it| it.code), Some(2));
    assert!(request.parent_span_id.is_empty());
    assert!(collector.spans().iter().all(|it| !is_of(it, "Unsampled")));
}

#[test]
fn an_operation_without_a_name_has_none_and_a_clients_mistake_is_no_error() {
    let collector = Collector::start();
    let weir = pets(&collector);
    let answer = weir.post("/graphql", &[("traceparent", PARENT)], body("{ pet { name } }").as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let refused = weir.post("/graphql", &[("content-type", "text/plain")], b"{}");
    assert!((400..500).contains(&refused.status), "{}", refused.status);
    let status = refused.status.to_string();
    let of_status = |it: &Span| attribute(it, "http.response.status_code") == Some(status.clone());
    until("both spans have come", || {
        let spans = collector.spans();
        spans.iter().any(of_status) && spans.iter().any(|it| it.name == "query")
    });
    let spans = collector.spans();
    let request = find_span(&spans, "query");
    assert_eq!(attribute(request, "graphql.operation.name"), None);
    let refused = spans.iter().find(|it| of_status(it)).expect("it has come");
    assert_eq!((refused.name.as_str(), attribute(refused, "error.type")), ("GraphQL Operation", None));
    assert_eq!(refused.status.as_ref().map_or(0, |it| it.code), 0);
}

#[test]
fn a_fetch_names_the_server_of_its_database() {
    let database = database("CREATE TABLE pet (id int PRIMARY KEY, name text)");
    let url = database.url();
    let (place, name) = url.rsplit_once('/').expect("it names a database");
    let port = place.rsplit_once(':').expect("it names a port").1;
    let check = |url: &str, address: &dyn Fn(&str) -> bool, port: Option<&str>| {
        let collector = Collector::start();
        let yaml = format!("listen: 127.0.0.1:0\nsources: [{{name: pets, url: '{url}'}}]\n");
        let weir = serve(&yaml, Folder::new(), &collector);
        let answer = weir.query("query Served { pet { name } }");
        assert_eq!(answer.text(), r#"{"data":{"pet":[]}}"#);
        let spans = collector.trace("Served");
        let fetch = find_span(&spans, "fetch pets");
        assert_eq!(attribute(fetch, "db.system.name").as_deref(), Some("postgresql"));
        assert_eq!(attribute(fetch, "db.namespace").as_deref(), Some(name));
        assert!(attribute(fetch, "server.address").is_some_and(|it| address(&it)), "{fetch:?}");
        assert_eq!(attribute(fetch, "server.port").as_deref(), port);
    };
    check(&url, &|it| it == "127.0.0.1", Some(port));
    check(&database.socket_url(), &|it| it.starts_with('/') && it.ends_with(port), None);
}

const SERVICES: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "plain", http: {baseURL: "http://upstream", headers: [{name: "traceparent", from: "traceparent"}]})
type Query {
  user(id: Int!): User @connect(source: "plain", http: {GET: "/users/{$args.id}"}, selection: "name friends { id }")
}
type User { name: String friends: [Friend] }
type Friend
  @connect(source: "plain", http: {GET: "/friends", queryParams: "id: $batch.id"}, batch: {maxSize: 10}, selection: "id name") {
  id: Int!
  name: String
}
"#;

const KNOWN: &str = "
- {ask: GET /users/4711, answer: {name: Ada, friends: [{id: 1}, {id: 2}]}}
- {ask: GET /friends?id=1&id=2, answer: [{id: 1, name: Bob}, {id: 2, name: Cyd}]}
";

fn over_services(collector: &Collector) -> (Upstream, Weir) {
    let upstream = Upstream::start(answers(KNOWN));
    let folder = Folder::new();
    folder.write("services.graphql", &SERVICES.replace("upstream", &upstream.address.to_string()));
    let yaml = "listen: 127.0.0.1:0\nsources: [{name: users, file: services.graphql}]\n";
    let weir = serve(yaml, folder, collector);
    (upstream, weir)
}

#[test]
fn services_are_told_the_trace_of_the_request_they_are_called_for() {
    let collector = Collector::start();
    let (upstream, weir) = over_services(&collector);
    let query = body("query TracedUser { user(id: 4711) { name friends { name } } }");
    let sent =
        [("traceparent", PARENT), ("tracestate", "vendor=1,other=2"), ("baggage", "shop=7;private,user=ann")];
    let answer = weir.post("/graphql", &sent, query.as_bytes());
    assert!(answer.text().contains("Cyd"), "{}", answer.text());
    let spans = collector.trace("TracedUser");
    assert!(spans.iter().all(|it| it.trace_state == "vendor=1,other=2"), "{spans:#?}");
    let calls = upstream.take_requests();
    assert_eq!(calls.len(), 2);
    for call in &calls {
        let told = |name: &str| {
            let found: Vec<&str> =
                call.headers.iter().filter(|it| it.0 == name).map(|it| it.1.as_str()).collect();
            assert_eq!(found.len(), 1, "{name} of {call:?}");
            found[0].to_owned()
        };
        assert_eq!(told("tracestate"), "vendor=1,other=2");
        assert_eq!(told("baggage"), "shop=7;private,user=ann");
        let parent = told("traceparent");
        assert_eq!((&parent[..36], &parent[52..]), (&PARENT[..36], "-01"));
        let own = spans.iter().find(|it| hex(&it.span_id) == parent[36..52]);
        let own = own.unwrap_or_else(|| panic!("{parent} is no span of {spans:#?}"));
        let fetch = spans.iter().find(|it| it.span_id == own.parent_span_id).expect("it is within a fetch");
        assert_eq!((fetch.name.as_str(), fetch.kind), ("fetch users", SpanKind::Internal as i32));
        let calls = attribute(fetch, "weir.calls").expect("it has calls");
        assert!(calls.starts_with("plain: GET ") && !calls.contains("4711"), "{calls}");
        let address = upstream.address;
        for (key, value) in [
            ("http.request.method", "GET".to_owned()),
            ("http.response.status_code", "200".to_owned()),
            ("server.address", address.ip().to_string()),
            ("server.port", address.port().to_string()),
            ("url.scheme", "http".to_owned()),
        ] {
            assert_eq!(attribute(own, key).as_ref(), Some(&value), "{key}");
        }
        let template = attribute(own, "url.template").expect("it has a template");
        assert!(["/users/{$args.id}", "/friends"].contains(&template.as_str()), "{template}");
        assert_eq!((own.name.clone(), own.kind), (format!("GET {template}"), SpanKind::Client as i32));
        assert_eq!(own.status.as_ref().map_or(0, |it| it.code), 0);
    }
    let page = weir.get("/metrics", &[]);
    let of = r#"source="users",service="plain""#;
    for line in [
        format!(r#"weir_service_calls_total{{{of},connector="Query.user",outcome="2xx"}} 1"#),
        format!(r#"weir_service_calls_total{{{of},connector="Friend",outcome="2xx"}} 1"#),
        format!(r#"weir_service_call_duration_seconds_count{{{of},connector="Friend"}} 1"#),
        format!("weir_service_attempts_in_flight{{{of}}} 0"),
        r#"weir_fetch_duration_seconds_count{source="users"} 2"#.to_owned(),
    ] {
        assert!(page.text().lines().any(|it| it == line), "{line} is not in\n{}", page.text());
    }
}

const FAILING: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @source(name: "plain", http: {baseURL: "http://upstream"})
  @source(name: "gone", http: {baseURL: "http://127.0.0.1:1"})
type Query {
  users(ids: [Int!]!): [User] @connect(source: "plain", http: {GET: "/list"}, selection: "id")
  gone: String @connect(source: "gone", http: {GET: "/gone"}, selection: "$")
}
type User @connect(source: "plain", http: {GET: "/users/{$this.id}"}, selection: "id name") { id: Int! name: String }
"#;

#[test]
fn each_call_of_a_level_has_its_span_and_its_error() {
    let collector = Collector::start();
    let known = "
- {ask: GET /list, answer: [{id: 1}, {id: 2}]}
- {ask: GET /users/1, answer: {id: 1, name: Ada}}
";
    let upstream = Upstream::start(answers(known));
    let folder = Folder::new();
    folder.write("services.graphql", &FAILING.replace("upstream", &upstream.address.to_string()));
    let yaml = "listen: 127.0.0.1:0\nsources: [{name: users, file: services.graphql}]\n";
    let weir = serve(yaml, folder, &collector);
    let answer = weir.query("query Level { users(ids: [1, 2]) { name } gone }");
    assert!(answer.text().contains("Ada"), "{}", answer.text());
    let spans = collector.trace("Level");
    let calls: Vec<&Span> = spans.iter().filter(|it| attribute(it, "url.template").is_some()).collect();
    let users: Vec<&&Span> = calls.iter().filter(|it| it.name == "GET /users/{$this.id}").collect();
    let statuses: Vec<_> = users.iter().map(|it| attribute(it, "http.response.status_code")).collect();
    assert!(statuses.len() == 2 && statuses.contains(&Some("200".into())), "{statuses:?}");
    let failed = users.iter().find(|it| it.status.as_ref().is_some_and(|it| it.code == 2));
    let failed = failed.expect("the service does not know the second user");
    assert_eq!(attribute(failed, "error.type"), attribute(failed, "http.response.status_code"));
    let gone = find_span(&spans, "GET /gone");
    assert_eq!(attribute(gone, "error.type").as_deref(), Some("SOURCE_UNAVAILABLE"));
    assert_eq!(attribute(gone, "http.response.status_code"), None);
}

#[test]
fn log_lines_have_the_trace_of_their_request() {
    let collector = Collector::start();
    let folder = Folder::new();
    folder.pets();
    let yaml = format!(
        "tracing: {{endpoint: 'http://{}', ratio: 1}}\nlisten: 127.0.0.1:0\nlog: {{format: json, access: true, slow_ms: 0}}\nsources: [{{name: pets, url: pets.db}}]\n",
        collector.address
    );
    let file = folder.write("weir.yaml", &yaml);
    let mut weir = Weir::by_file(&file, folder);
    weir.post("/graphql", &[("traceparent", PARENT)], body("{ pet { name } }").as_bytes());
    weir.signal("-TERM");
    assert!(weir.child.wait().expect("it ends").success());
    let log = weir.log();
    let lines: Vec<serde_json::Value> = log.lines().filter_map(|it| serde_json::from_str(it).ok()).collect();
    for target in ["weir::access", "weir::slow"] {
        let line = lines.iter().find(|it| it["target"] == target);
        let line = line.unwrap_or_else(|| panic!("{target} is not in {log}"));
        assert_eq!(line["trace_id"], PARENT[3..35], "{line}");
        assert!(line["span_id"].as_str().is_some_and(|it| it.len() == 16 && it != &PARENT[36..52]), "{line}");
        assert_eq!(line.get("operation"), None, "an operation without a name has none: {line}");
    }
}

#[test]
fn without_a_collector_log_lines_have_the_clients_trace() {
    let folder = Folder::new();
    folder.pets();
    let yaml = "listen: 127.0.0.1:0\nthreads: 1\nlog: {format: json, access: true}\nsources: [{name: pets, url: pets.db}]\n";
    let file = folder.write("weir.yaml", yaml);
    let mut weir = Weir::by_file(&file, folder);
    weir.post("/graphql", &[("traceparent", PARENT)], body("{ pet { name } }").as_bytes());
    weir.query("query Untraced { pet { name } }");
    weir.signal("-TERM");
    assert!(weir.child.wait().expect("it ends").success());
    let log = weir.log();
    let lines: Vec<serde_json::Value> = log.lines().filter_map(|it| serde_json::from_str(it).ok()).collect();
    let access: Vec<_> = lines.iter().filter(|it| it["target"] == "weir::access").collect();
    assert_eq!(access.len(), 2, "{log}");
    assert_eq!((&access[0]["trace_id"], access[0].get("span_id")), (&PARENT[3..35].into(), None));
    assert_eq!((&access[1]["operation"], access[1].get("trace_id")), (&"Untraced".into(), None));
}

#[test]
fn without_a_collector_services_are_told_what_the_mapping_says() {
    let upstream = Upstream::start(answers(KNOWN));
    let folder = Folder::new();
    folder.write("services.graphql", &SERVICES.replace("upstream", &upstream.address.to_string()));
    let file =
        folder.write("weir.yaml", "listen: 127.0.0.1:0\nsources: [{name: users, file: services.graphql}]\n");
    let weir = Weir::by_file(&file, folder);
    weir.post("/graphql", &[("traceparent", PARENT)], body("{ user(id: 4711) { name } }").as_bytes());
    let calls = upstream.take_requests();
    let told: Vec<_> = calls[0].headers.iter().filter(|it| it.0.starts_with("trace")).collect();
    assert_eq!(told, [&("traceparent".to_owned(), PARENT.to_owned())]);
}

#[test]
fn a_collector_that_takes_nothing_costs_spans_and_no_requests() {
    // It accepts no connection, and its backlog says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = silent.local_addr().expect("it has an address");
    let folder = Folder::new();
    folder.pets();
    let yaml = format!(
        "tracing: {{endpoint: 'http://{address}', ratio: 1}}\nlisten: 127.0.0.1:0\nsources: [{{name: pets, url: pets.db}}]\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    let mut command = command();
    command.args(["serve", file.to_str().expect("it is UTF-8")]);
    command.env("OTEL_BSP_SCHEDULE_DELAY", "10").env("OTEL_BSP_MAX_QUEUE_SIZE", "8");
    let weir = Weir::run(&mut command, folder);
    for _ in 0..50 {
        assert_eq!(weir.query("{ pet { name } }").status, 200);
    }
    let page = weir.get("/metrics", &[]);
    let line = page.text().lines().find(|it| it.starts_with("weir_trace_spans_total{result=\"dropped\"}"));
    let dropped: u64 = line.and_then(|it| it.split(' ').nth(1)?.parse().ok()).expect("it is a number");
    // Two spans of each request, and those of the first plan.
    assert!(dropped >= 100 - 8, "{dropped}");
}

#[test]
fn the_standard_variables_name_the_collector_and_the_service() {
    let collector = Collector::start();
    let folder = Folder::new();
    let target = format!("sqlite:{}", folder.pets().display());
    let mut command = command();
    command.args(["serve", &target, "--listen", "127.0.0.1:0"]).env("OTEL_BSP_SCHEDULE_DELAY", "20");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", collector.address));
    command.env("OTEL_SERVICE_NAME", "shop-api");
    let weir = Weir::run(&mut command, folder);
    // Loopback is dev mode, in which all is traced.
    weir.query("query FromVariables { pet { name } }");
    collector.trace("FromVariables");
    assert_eq!(collector.resource("service.name").as_deref(), Some("shop-api"));
}

#[test]
fn the_last_spans_are_sent_when_the_server_ends() {
    let collector = Collector::start();
    let folder = Folder::new();
    folder.pets();
    let yaml = format!(
        "tracing: {{endpoint: 'http://{}', ratio: 1}}\nlisten: 127.0.0.1:0\nsources: [{{name: pets, url: pets.db}}]\n",
        collector.address
    );
    let file = folder.write("weir.yaml", &yaml);
    let mut weir = Weir::by_file(&file, folder);
    weir.query("query BeforeTheEnd { pet { name } }");
    weir.signal("-TERM");
    assert!(weir.child.wait().expect("it ends").success());
    assert!(collector.spans().iter().any(|it| is_of(it, "BeforeTheEnd")));
}

#[test]
fn a_share_of_the_requests_is_traced() {
    let collector = Collector::start();
    let folder = Folder::new();
    folder.pets();
    let yaml = format!(
        "tracing: {{endpoint: 'http://{}', ratio: '${{SHARE}}'}}\nlisten: 127.0.0.1:0\nsources: [{{name: pets, url: pets.db}}]\n",
        collector.address
    );
    let file = folder.write("weir.yaml", &yaml);
    let mut command = command();
    command.args(["serve", file.to_str().expect("it is UTF-8")]);
    command.env("OTEL_BSP_SCHEDULE_DELAY", "20").env("SHARE", "0.5");
    let weir = Weir::run(&mut command, folder);
    for _ in 0..200 {
        weir.query("query Shared { pet { name } }");
    }
    // The client's decision comes before the share.
    weir.post("/graphql", &[("traceparent", PARENT)], body("query Last { pet { name } }").as_bytes());
    collector.trace("Last");
    let traced = collector.spans().iter().filter(|it| is_of(it, "Shared")).count();
    // Beyond seven standard deviations.
    assert!((50..150).contains(&traced), "{traced} of 200");
}
