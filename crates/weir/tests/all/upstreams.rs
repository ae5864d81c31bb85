//! Upstreams behind a running server: addresses that are checked, headers that are passed on, certificates that are shown.

use crate::support::{Folder, Weir, command};
use crate::upstream_kit::{Upstream, answers};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, ServerConnection, Stream};

const LINKS: &str = r#"extend schema
  @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])
  @link(url: "https://weir.example/spec/v1", import: ["@cache", "@policy"])
"#;

const TEXT: &str = r#"
  @source(name: "s", http: {baseURL: "http://upstream"})
  @policy(source: "s", answerHeaders: [{name: "X-Total", merge: "join"}, {name: "Set-Cookie"}])
  @cache(source: "s", freshness: ["X-TTL"])
type Query {
  a: Text @connect(source: "s", http: {GET: "/a"}, selection: "text")
  b: Text @connect(source: "s", http: {GET: "/b"}, selection: "text")
  kept: Text @connect(source: "s", http: {GET: "/kept"}, selection: "text")
}
type Text { text: String }
"#;

const KNOWN: &str = "
- {ask: GET /a, headers: {x-total: 'a', set-cookie: 's=a; Domain=internal', x-hidden: 'x'}, answer: {text: a}}
- {ask: GET /b, headers: {x-total: 'b', set-cookie: 's=b'}, answer: {text: b}}
- {ask: GET /kept, headers: {x-total: 'kept', x-ttl: '600'}, answer: {text: kept}}
";

fn serve() -> (Upstream, Weir) {
    let upstream = Upstream::start(answers(KNOWN));
    let folder = Folder::new();
    let text = format!("{LINKS}{TEXT}").replace("http://upstream", &format!("http://{}", upstream.address));
    let file = folder.write("services.graphql", &text).display().to_string();
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], folder);
    (upstream, weir)
}

#[test]
fn headers_and_cookies_of_services_reach_the_client_by_rule() {
    let (_upstream, weir) = serve();
    let answer = weir.query("{ b { text } a { text } }");
    assert_eq!(answer.header("x-total"), Some("b, a"), "in the order of the fields");
    assert_eq!(answer.header("x-hidden"), None);
    let cookies: Vec<&str> =
        answer.headers.iter().filter(|it| it.0 == "set-cookie").map(|it| &*it.1).collect();
    assert_eq!(cookies, ["s=b", "s=a"]);
    let first = weir.query("{ kept { text } }");
    let second = weir.query("{ kept { text } }");
    assert_eq!(first.json(), second.json());
    assert_eq!((first.header("x-total"), second.header("x-total")), (Some("kept"), None), "of its own call");
}

#[test]
fn addresses_of_services_are_checked_on_request() {
    let (upstream, weir) = serve();
    let check = || weir.post("/admin/services/check", &[], b"{}").json();
    let checked = check();
    let service = &checked["services"][0];
    assert_eq!((&service["service"], &service["error"]), (&json!("s"), &json!(null)), "{checked}");
    let address = &service["addresses"][0];
    assert_eq!((&address["error"], &address["state"]), (&json!(null), &json!("used")), "{checked}");
    assert_eq!(address["address"], json!(upstream.address.to_string()));
    drop(upstream);
    let nowhere = Folder::new();
    let text = format!("{LINKS}{TEXT}").replace("http://upstream", "http://127.0.0.1:1");
    let file = nowhere.write("services.graphql", &text).display().to_string();
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0"], nowhere);
    let checked = weir.post("/admin/services/check", &[], b"{}").json();
    let address = &checked["services"][0]["addresses"][0];
    assert!(address["error"].as_str().is_some_and(|it| it.contains("cannot be reached")), "{checked}");
    assert_eq!(address["state"], "left_out");
}

/// A certificate for `localhost` with its key, as texts in PEM.
fn certificate() -> (rcgen::Certificate, String, String) {
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate can be made");
    let certificate = made.cert.pem();
    let key = made.signing_key.serialize_pem();
    (made.cert, certificate, key)
}

/// A service that answers to who shows `client`, with its own certificate in the folder; its port.
fn guarded(folder: &Folder, client: &rcgen::Certificate) -> u16 {
    let own =
        rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate can be made");
    folder.write("service.pem", &own.cert.pem());
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(client.der().clone()).expect("it is a certificate");
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).expect("it is a key");
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has them")
        .with_client_cert_verifier(verifier.build().expect("it has a root"))
        .with_single_cert(vec![own.cert.der().clone()], key)
        .expect("the key fits");
    let server = Arc::new(server);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let Ok(mut connection) = ServerConnection::new(Arc::clone(&server)) else { continue };
            let mut stream = Stream::new(&mut connection, &mut socket);
            let mut read = [0; 4096];
            if stream.read(&mut read).is_ok_and(|it| it > 0) {
                let body = r#"{"text": "well"}"#;
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
                let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes()).and_then(|()| stream.flush());
            }
        }
    });
    port
}

#[test]
fn a_client_certificate_is_shown_and_read_again_by_a_reload() {
    let folder = Folder::new();
    let (client, client_pem, client_key) = certificate();
    let (_, stranger_pem, stranger_key) = certificate();
    let port = guarded(&folder, &client);
    let source = format!(r#"@source(name: "s", http: {{baseURL: "https://localhost:{port}"}})"#);
    let field = r#"type Query { a: String @connect(source: "s", http: {GET: "/"}, selection: "$.text") }"#;
    folder.write("services.graphql", &format!("{LINKS}{source}\n{field}"));
    let certificate = folder.write("client.pem", &stranger_pem);
    let key = folder.write("client.key", &stranger_key);
    let yaml = "
    file: services.graphql
    services: {s: {tls: {certificate: client.pem, key: client.key, ca: service.pem}}}";
    let yaml = format!("listen: 127.0.0.1:0\nsources:\n  - name: x{yaml}\n");
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::run(command().arg("serve").arg(file), folder);
    let refused = weir.query("{ a }").json();
    assert_eq!(refused["errors"][0]["extensions"]["code"], "SOURCE_UNAVAILABLE", "{refused}");
    std::fs::write(&certificate, client_pem).expect("the file is written");
    // A certificate without its key is refused, and the message names the file.
    let half = weir.post("/v1/reload", &[], b"");
    assert_eq!(half.status, 422, "{}", half.text());
    assert!(half.text().contains("client.key") && half.text().contains("does not fit"), "{}", half.text());
    std::fs::write(&key, client_key).expect("the file is written");
    assert_eq!(weir.post("/v1/reload", &[], b"").status, 200);
    assert_eq!(weir.query("{ a }").json(), json!({"data": {"a": "well"}}));
}
