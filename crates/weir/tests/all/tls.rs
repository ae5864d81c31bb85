//! HTTPS and HTTP/2 over real sockets, and a certificate that is changed while serving.

use crate::support::{Folder, Weir, body, message, until};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};

const ADA: &str = r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#;
const ASK: &str = "{ pet_by_pk(id: 1) { name } }";

/// A certificate for `localhost` in the folder of `weir.yaml`, and what trusts it.
fn certificate(folder: &Folder) -> ClientConfig {
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate can be made");
    folder.write("server.crt", &made.cert.pem());
    folder.write("server.key", &made.signing_key.serialize_pem());
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("it is a certificate");
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has them")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[test]
fn tls_serves_http_2_and_http_1() {
    let folder = Folder::new();
    folder.pets();
    let trust = certificate(&folder);
    let weir = Weir::in_folder(folder, "tls: {certificate: server.crt, key: server.key}");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    for protocol in [&b"h2"[..], b"http/1.1"] {
        let mut trust = trust.clone();
        trust.alpn_protocols = vec![protocol.to_vec()];
        let answer = runtime.block_on(async {
            let socket = tokio::net::TcpStream::connect(weir.address).await.expect("the server accepts");
            let name = ServerName::try_from("localhost").expect("it is a name");
            let connector = tokio_rustls::TlsConnector::from(Arc::new(trust));
            let socket = connector.connect(name, socket).await.expect("the handshake is made");
            assert_eq!(socket.get_ref().1.alpn_protocol(), Some(protocol));
            ask(TokioIo::new(socket), protocol == b"h2").await
        });
        assert_eq!(answer, ADA);
    }
    // Whoever speaks no TLS, or none that we know, gets nothing.
    assert_eq!(weir.query(ASK).status, 0);
}

#[test]
fn http_2_without_tls_carries_many_requests_at_once() {
    let weir = Weir::pets(&[]);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let answer = runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(weir.address).await.expect("the server accepts");
        ask(TokioIo::new(socket), true).await
    });
    assert_eq!(answer, ADA);
}

/// The path of a POST, its headers, and the status of the answer.
type Case<'t> = (&'t str, &'t [(&'t str, &'t str)], u16);

#[test]
fn guards_and_codings_hold_over_http_2_too() {
    let weir = Weir::pets(&[]);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let own = format!("http://{}", weir.address);
    let cases: [Case<'_>; 5] = [
        ("/graphql", &[("content-type", "application/json"), ("content-type", "text/plain")], 400),
        ("/graphql", &[("content-type", "application/json"), ("origin", "http://evil.com")], 200),
        ("/v1/graphql", &[("origin", "http://evil.com")], 415),
        ("/v1/reload", &[("origin", "http://evil.com")], 403),
        ("/v1/reload", &[("origin", &own)], 200),
    ];
    runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(weir.address).await.expect("the server accepts");
        let (mut send, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(socket))
                .await
                .expect("it is HTTP/2");
        tokio::spawn(connection);
        for (path, headers, status) in cases {
            let mut request = hyper::Request::post(format!("{own}{path}"));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let text = Full::new(bytes::Bytes::from(body(ASK)));
            let answer = send.send_request(request.body(text).expect("it is well formed")).await;
            assert_eq!(answer.expect("it is answered").status(), status, "{path} {headers:?}");
        }
    });
}

/// Asks twenty times over one connection, at once where that is possible; all answers have to be the same.
async fn ask<S>(socket: S, http_2: bool) -> String
where
    S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let request = || {
        let text = Full::new(bytes::Bytes::from(body(ASK)));
        hyper::Request::post("https://localhost/graphql")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(text)
            .expect("it is well formed")
    };
    let mut answers = Vec::new();
    if http_2 {
        let (send, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), socket).await.expect("it is HTTP/2");
        tokio::spawn(connection);
        let calls = (0..20).map(|_| send.clone().send_request(request()));
        for answer in futures_util::future::join_all(calls).await {
            answers.push(answer.expect("it is answered").into_body().collect().await);
        }
    } else {
        let (mut send, connection) =
            hyper::client::conn::http1::handshake(socket).await.expect("it is HTTP/1");
        tokio::spawn(connection);
        for _ in 0..20 {
            let answer = send.send_request(request()).await.expect("it is answered");
            answers.push(answer.into_body().collect().await);
        }
    }
    let text = |it: Result<http_body_util::Collected<bytes::Bytes>, hyper::Error>| {
        String::from_utf8(it.expect("the body is whole").to_bytes().to_vec()).expect("it is UTF-8")
    };
    let texts: Vec<String> = answers.into_iter().map(text).collect();
    assert!(texts.windows(2).all(|it| it[0] == it[1]), "{texts:?}");
    texts[0].clone()
}

#[test]
fn a_new_certificate_takes_over_and_open_connections_go_on() {
    let folder = Folder::new();
    folder.pets();
    let before = certificate(&folder);
    let weir = Weir::in_folder(folder, "tls: {certificate: server.crt, key: server.key}");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let address = weir.address;
    let open = |trust: &ClientConfig| {
        let connector = tokio_rustls::TlsConnector::from(Arc::new(trust.clone()));
        runtime.block_on(async move {
            let socket = tokio::net::TcpStream::connect(address).await.expect("the server accepts");
            connector.connect(ServerName::try_from("localhost").expect("it is a name"), socket).await.ok()
        })
    };
    let mut old = open(&before).expect("the first certificate is served");
    let exchange = |socket: &mut tokio_rustls::client::TlsStream<tokio::net::TcpStream>| {
        runtime.block_on(async {
            let raw = message("GET", "/livez", &[], None);
            socket.write_all(&raw).await.expect("the connection is open");
            let mut answer = vec![0; 12];
            socket.read_exact(&mut answer).await.expect("it is answered");
            // The rest of this answer, up to its body.
            while !answer.ends_with(b"ok\n") {
                answer.push(socket.read_u8().await.expect("it is whole"));
            }
            String::from_utf8(answer).expect("it is text")
        })
    };
    assert!(exchange(&mut old).starts_with("HTTP/1.1 200"));
    let after = certificate(weir.folder());
    until("the new certificate is served", || open(&after).is_some());
    assert!(open(&before).is_none());
    assert!(exchange(&mut old).starts_with("HTTP/1.1 200"));
}
