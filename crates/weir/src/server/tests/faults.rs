//! Tests of what no database does on order: a panic inside a request, and a source that dies in the middle of its answer.

use crate::config::{Config, Listen};
use crate::generation::{Generation, Live};
use crate::server::Server;
use crate::sources::Findings;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::compose::Graph;
use weir_engine::source::{
    BoxFuture, Chunk, Chunks, ExplainInput, FetchBody, FetchInput, FetchResult, Finished, PlanError,
    PlanNode, PreparedFetch, Source, SourceError, Tag,
};
use weir_engine::unread::channel;
use weir_language::schema::Schema;

/// Has a field for each way to fail.
struct Faulty(Arc<Schema>);

impl Source for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.0
    }
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        let key = node.output.fields[node.fields[0] as usize].key.bytes().to_vec();
        assert!(key != b"\"unplanned\":", "a bug while planning");
        Ok(Box::new(Fault { key }))
    }
}

/// Fails as its field's name says.
struct Fault {
    key: Vec<u8>,
}

impl PreparedFetch for Fault {
    fn run<'r>(&'r self, _: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(async {
            assert!(self.key != b"\"panics\":", "a bug while running");
            let (sender, receiver) = channel(2);
            // All there will ever be: the end of the channel without a last word is the source's death.
            let sent = sender.try_send(Chunk::Bytes(b"[1,2,".to_vec()));
            assert!(sent.is_ok());
            if self.key == b"\"whole\":" {
                let ended = sender.try_send(Chunk::Bytes(b"3],".to_vec()));
                assert!(ended.is_ok());
                tokio::task::spawn_local(async move { sender.send(Chunk::End(Vec::new())).await });
            }
            let bytes = self.key.clone();
            let rest = Some(Chunks { receiver });
            let finished = Finished { bytes, ends: Vec::new(), failed: false, rest };
            Ok(FetchResult { body: FetchBody::Finished(finished), errors: Vec::new(), cache_control: None })
        })
    }
    fn touches(&self) -> &[Tag] {
        &[]
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("faults");
    }
}

pub(super) fn server() -> Server {
    start_configured(Config::default())
}

/// Serves [`Faulty`] by `config`, on a port of its own.
pub(super) fn start_configured(config: Config) -> Server {
    let sdl = "type Query { whole: [Int!] dies: [Int!] panics: [Int!] unplanned: [Int!] }";
    let schema = Schema::from_sdl(sdl).unwrap_or_else(|errors| panic!("{errors:?}"));
    let graph = Graph::compose(vec![Arc::new(Faulty(Arc::new(schema)))], &[]);
    let graph = graph.unwrap_or_else(|errors| panic!("{errors:?}"));
    let listen = Listen(SocketAddr::from(([127, 0, 0, 1], 0)));
    let config = Config { listen, threads: Some(1), ..config };
    let generation = Generation::of(config, 1, graph, Findings::default()).expect("it is complete");
    Server::start(Arc::new(Live::of(generation))).expect("it listens")
}

/// Sends one request on a connection of its own and reads to its end. `head` has the first line, and further ones if need be.
pub(super) fn ask(server: &Server, head: &str, host: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(server.listen()).expect("the server accepts");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("it is a duration");
    let length = body.len();
    let raw = format!(
        "{head}\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(raw.as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    // A connection that is cut ends in an error; what came before counts.
    let _ = socket.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn query(server: &Server, text: &str) -> String {
    ask(server, "POST /graphql HTTP/1.1", "localhost", &format!("{{\"query\":\"{text}\"}}"))
}

/// The body of an answer in chunks.
fn join_chunks(answer: &str) -> String {
    let (_, mut rest) = answer.split_once("\r\n\r\n").expect("it has a head");
    let mut body = String::new();
    while let Some((size, from)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or_else(|_| panic!("no chunks: {answer}"));
        body.push_str(&from[..size]);
        rest = &from[size + 2..];
    }
    body
}

#[test]
fn a_panic_costs_its_request_only() {
    let server = server();
    for round in 1..=3 {
        for (text, end) in [
            ("{ panics }", r#""extensions":{"code":"INTERNAL"}}],"data":{"panics":null}}"#),
            ("{ unplanned }", r#""extensions":{"code":"INTERNAL"}}],"data":null}"#),
        ] {
            let answer = query(&server, text);
            assert!(answer.contains("x-request-id") && answer.ends_with(end), "{answer}");
            assert!(!answer.contains("a bug while"), "{answer}");
        }
        assert_eq!(join_chunks(&query(&server, "{ whole }")), r#"{"data":{"whole":[1,2,3]}}"#);
        let metrics = ask(&server, "GET /metrics HTTP/1.1", "localhost", "");
        // Those inside sources the engine catches itself.
        assert!(metrics.contains(&format!("weir_panics_total {round}\n")), "{metrics}");
        assert!(metrics.contains("weir_connections 1\n"), "{metrics}");
    }
    assert_eq!(server.stop(), Ok(()));
}

#[test]
fn a_source_that_dies_in_the_middle_cuts_the_connection() {
    let server = server();
    for _ in 0..3 {
        let answer = query(&server, "{ dies }");
        // Its beginning may have left, or not.
        assert!(answer.is_empty() || answer.contains("transfer-encoding: chunked"), "{answer}");
        // Without its last chunk nobody takes the part for the whole.
        assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
        assert!(query(&server, "{ whole }").contains("0\r\n\r\n"));
    }
    let metrics = ask(&server, "GET /metrics HTTP/1.1", "localhost", "");
    assert!(
        metrics.contains("weir_connections 1\n") && metrics.contains("weir_panics_total 0\n"),
        "{metrics}"
    );
    assert_eq!(server.stop(), Ok(()));
}
