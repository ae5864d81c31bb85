//! Changes of data that a page of another site asks for, at every address, by every request that a browser sends without asking first.

use crate::config::Config;
use crate::generation::{Generation, Live};
use crate::server::Server;
use crate::server::router::ROUTES;
use crate::sources::Findings;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use weir_engine::compose::Graph;
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, Finished, PlanError, PlanNode,
    PreparedFetch, Source, SourceError, Tag,
};
use weir_language::schema::Schema;

/// Counts the runs of its field `changes`, which changes data in a query too.
struct Changing(Arc<Schema>, Arc<AtomicUsize>);

struct Change {
    key: Vec<u8>,
    changes: Option<Arc<AtomicUsize>>,
}

impl Source for Changing {
    fn name(&self) -> &str {
        "changing"
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.0
    }
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let key = node.output.fields[node.fields[0] as usize].key.bytes().to_vec();
        let changes = (key == b"\"changes\":").then(|| Arc::clone(&self.1));
        Ok(Box::new(Change { key, changes }))
    }
}

impl PreparedFetch for Change {
    fn run<'r>(&'r self, _: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async {
            if let Some(count) = &self.changes {
                count.fetch_add(1, Ordering::Relaxed);
            }
            let bytes = [&self.key[..], b"1"].concat();
            let ends = vec![bytes.len() as u32];
            let finished = Finished { bytes, ends, failed: false, rest: None };
            Ok(FetchResult { body: FetchBody::Finished(finished), errors: Vec::new(), cache_control: None })
        })
    }
    fn may_change_data(&self) -> bool {
        self.changes.is_some()
    }
    fn touches(&self) -> &[Tag] {
        &[]
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("changes");
    }
}

const YAML: &str = "
listen: 127.0.0.1:0
threads: 1
dev: true
operations:
  mcp: {enabled: true, schema_tools: [execute], execute_mutations: true}
  collections:
    - name: all
      definition:
        queries:
          - {name: changes, query: 'query { changes }'}
          - {name: reads, query: 'query { reads }'}
          - {name: mutates, query: 'mutation { changes }'}
  rest_endpoints:
    - {name: changes, url: changes, methods: [GET, POST], definition: {query: {collection_name: all, query_name: changes}}}
    - {name: reads, url: reads, methods: [GET, POST], definition: {query: {collection_name: all, query_name: reads}}}
    - {name: mutates, url: mutates, methods: [GET, POST], definition: {query: {collection_name: all, query_name: mutates}}}
";

/// A server, and the number of changes that it made.
fn start_server() -> (Server, Arc<AtomicUsize>) {
    let sdl = "type Query { changes: Int reads: Int } type Mutation { changes: Int }";
    let schema = Schema::from_sdl(sdl).unwrap_or_else(|errors| panic!("{errors:?}"));
    let changes = Arc::new(AtomicUsize::new(0));
    let graph = Graph::compose(vec![Arc::new(Changing(Arc::new(schema), Arc::clone(&changes)))], &[]);
    let graph = graph.unwrap_or_else(|errors| panic!("{errors:?}"));
    let config: Config = serde_saphyr::from_str(YAML).expect("it is a configuration");
    let generation = Generation::of(config, 1, graph, Findings::default()).expect("it is complete");
    (Server::start(Arc::new(Live::of(generation))).expect("it listens"), changes)
}

/// The status of the answer to a request with these lines.
fn status(server: &Server, method: &str, path: &str, lines: &str, body: &str) -> u16 {
    let mut socket = TcpStream::connect(server.listen()).expect("the server accepts");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("it is a duration");
    let length = body.len();
    let raw = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{lines}content-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(raw.as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    // A connection that is cut ends in an error; what came before counts.
    let _ = socket.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    answer.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// The words of a browser on a page of another site. A GET for an image or a link has no origin.
const OTHERS: [&str; 5] = [
    "origin: http://evil.com\r\n",
    "origin: null\r\n",
    "sec-fetch-site: cross-site\r\n",
    "sec-fetch-site: same-site\r\n",
    "origin: http://evil.com\r\nsec-fetch-site: cross-site\r\n",
];

/// The types of bodies that it sends without asking. Source: Fetch, CORS-safelisted request-header.
const TYPES: [&str; 4] = [
    "",
    "content-type: text/plain\r\n",
    "content-type: application/x-www-form-urlencoded\r\n",
    "content-type: multipart/form-data; boundary=x\r\n",
];

/// The header `Accept`: anything, or the stream of an `EventSource`.
const TAKES: [&str; 2] = ["", "accept: text/event-stream\r\n"];

/// Every way to change something by a request of a browser to `path`: rest of the path, and body.
fn attempts(path: &str, method: &str) -> Vec<(String, &'static str)> {
    let body = |text: &'static str| vec![(path.to_owned(), text)];
    match (path, method) {
        ("/graphql", "GET") => ["query=%7Bchanges%7D", "query=mutation%7Bchanges%7D"]
            .map(|it| (format!("{path}?{it}"), ""))
            .to_vec(),
        ("/api/rest/", "GET") => vec![(format!("{path}changes"), ""), (format!("{path}mutates"), "")],
        ("/api/rest/", _) => ["changes", "reads", "mutates"].map(|it| (format!("{path}{it}"), "{}")).to_vec(),
        ("/v1/metadata", _) => body(r#"{"type":"reload_metadata","args":{}}"#),
        ("/v2/query" | "/v1/query", _) => body(r#"{"type":"run_sql","args":{"sql":"SELECT 1"}}"#),
        ("/mcp", _) => vec![(path.to_owned(), CALLS[0]), (path.to_owned(), CALLS[1])],
        (_, "POST") => body(r#"{"query":"mutation { changes }"}"#),
        _ => body(""),
    }
}

/// Calls of tools that change something.
const CALLS: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mutates"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"query":"mutation { changes }"}}}"#,
];

/// Addresses whose GET shows something, and that is all.
const SHOW_ONLY: [&str; 23] = [
    "/v1/graphql",
    "/v1alpha1/graphql",
    "/v1beta1/relay",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/livez",
    "/readyz",
    "/healthz",
    "/hasura/healthz",
    "/v1/version",
    "/metrics",
    "/admin/operations",
    "/admin/live",
    "/admin/mirror",
    "/admin/state",
    "/admin/services",
    "/admin/profile",
    "/api/swagger/json",
    "/v1alpha1/config",
    "/console",
    "/console/",
    "/favicon.ico",
    "/",
];

#[test]
fn no_page_of_another_site_changes_anything_at_any_address() {
    let (server, changes) = start_server();
    let mut shown: Vec<&str> = Vec::new();
    for route in ROUTES {
        for method in route.methods.split(", ").filter(|it| matches!(*it, "GET" | "HEAD" | "POST")) {
            if method != "POST" && SHOW_ONLY.contains(&route.path) {
                shown.push(route.path);
                continue;
            }
            for (path, body) in attempts(route.path, method) {
                let lines = OTHERS.iter().flat_map(|it| TYPES.map(|ty| format!("{it}{ty}")));
                for lines in lines.flat_map(|it| TAKES.map(|takes| format!("{it}{takes}"))) {
                    let found = status(&server, method, &path, &lines, body);
                    // Without a database there is nothing of Relay's.
                    let is_refused =
                        matches!(found, 403 | 405 | 415) || path.ends_with("relay") && found == 404;
                    assert!(is_refused, "{method} {path} {lines}: {found}");
                    assert_eq!(changes.load(Ordering::Relaxed), 0, "{method} {path} {lines}");
                }
            }
        }
    }
    shown.dedup();
    assert_eq!(shown, SHOW_ONLY);
    assert_eq!(server.live().current().number, 1);
    assert_eq!(server.stop(), Ok(()));
}

#[test]
fn a_socket_is_opened_for_no_page_of_another_site() {
    let (server, _) = start_server();
    let handshake = "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n\
                     sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n";
    let open = |path: &str, lines: &str| {
        let mut socket = TcpStream::connect(server.listen()).expect("the server accepts");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("it is a duration");
        let raw = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{handshake}{lines}\r\n");
        socket.write_all(raw.as_bytes()).expect("it is sent");
        let mut head = [0; 12];
        socket.read_exact(&mut head).expect("it answers");
        String::from_utf8_lossy(&head[9..]).into_owned()
    };
    for path in ["/graphql", "/v1/graphql", "/v1alpha1/graphql"] {
        for other in OTHERS {
            assert_eq!(open(path, other), "403", "{path} {other}");
        }
        assert_eq!(
            open(path, "sec-fetch-site: same-origin\r\norigin: http://localhost\r\n"),
            "101",
            "{path}"
        );
    }
    assert_eq!(server.stop(), Ok(()));
}

#[test]
fn the_own_page_and_who_is_no_page_change_what_they_may_and_every_page_reads() {
    let (server, changes) = start_server();
    let json = "content-type: application/json\r\n";
    let own = "origin: http://localhost\r\nsec-fetch-site: same-origin\r\n";
    let mut expected = 0;
    for lines in ["", own, "sec-fetch-site: same-origin\r\n", "sec-fetch-site: none\r\n"] {
        for path in ["/graphql?query=%7Bchanges%7D", "/api/rest/changes", "/api/rest/mutates"] {
            assert_eq!(status(&server, "GET", path, lines, ""), 200, "{path} {lines}");
            expected += 1;
        }
        for path in ["/graphql", "/v1/graphql", "/v1alpha1/graphql"] {
            let body = r#"{"query":"mutation { changes }"}"#;
            assert_eq!(status(&server, "POST", path, &format!("{lines}{json}"), body), 200, "{path} {lines}");
            expected += 1;
        }
        for body in CALLS {
            assert_eq!(
                status(&server, "POST", "/mcp", &format!("{lines}{json}"), body),
                200,
                "{body} {lines}"
            );
            expected += 1;
        }
        assert_eq!(changes.load(Ordering::Relaxed), expected, "{lines}");
    }
    for other in OTHERS {
        for path in ["/graphql?query=%7Breads%7D", "/api/rest/reads"] {
            assert_eq!(status(&server, "GET", path, other, ""), 200, "{path} {other}");
        }
    }
    assert_eq!(server.stop(), Ok(()));
}
