//! Calls over real sockets: what services do wrong, and what becomes of it.

use crate::wire_kit::{Reply, Service, answer, get, listen, post, upstream};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use weir_http::call::{
    Ask, BreakerPolicy, CallError, CallPolicy, Failure, Protocol, TlsFiles, Upstream, UpstreamSettings,
};

/// An answer by which everything is well.
fn well() -> Reply {
    answer("200 OK", "", "well")
}

/// Calls and says what came of it in few words: status and body, or the error.
async fn call(upstream: &Upstream, ask: &Ask) -> String {
    match upstream.call(ask).await {
        Ok(answer) => format!("{} {}", answer.status.as_u16(), String::from_utf8_lossy(&answer.body)),
        Err(Failure { error: CallError::Unavailable(cause, _), .. }) => format!("{cause:?}"),
        Err(failure) => format!("{:?}", failure.error),
    }
}

/// Nothing is tried again.
fn once(policy: &mut CallPolicy) {
    policy.retries = 0;
}

#[tokio::test]
async fn calls_one_after_the_other_share_a_connection() {
    let service = Service::start(|_| well());
    let upstream = service.upstream(once);
    for _ in 0..5 {
        assert_eq!(call(&upstream, &get("/a?b=c")).await, "200 well");
        assert_eq!(call(&upstream, &post("/d", "{}")).await, "200 well");
    }
    assert_eq!((service.calls(), service.connections()), (10, 1));
    assert!(service.head(0).starts_with("GET /a?b=c HTTP/1.1\r\n"), "{}", service.head(0));
    assert!(service.head(1).starts_with("POST /d HTTP/1.1\r\n") && service.head(1).ends_with("\r\n\r\n{}"));
}

#[tokio::test]
async fn headers_that_belong_to_a_connection_or_a_caller_are_not_sent() {
    let service = Service::start(|_| well());
    let mut ask = get("/");
    for (name, value) in [
        ("host", "evil"),
        ("connection", "x-a"),
        ("transfer-encoding", "chunked"),
        ("content-length", "7"),
        ("x-forwarded-for", "10.0.0.1"),
        ("te", "trailers"),
        ("accept-encoding", "gzip"),
        ("x-a", "kept"),
        ("cookie", "a=b"),
    ] {
        ask.headers.push((name.parse().unwrap(), value.parse().unwrap()));
    }
    assert_eq!(call(&service.upstream(once), &ask).await, "200 well");
    let mut lines: Vec<String> = service.head(0).lines().skip(1).map(String::from).collect();
    lines.sort();
    let host = format!("host: {}", service.address);
    assert_eq!(lines, ["", "accept-encoding: zstd, br, gzip", "cookie: a=b", &host, "x-a: kept"]);
}

#[tokio::test]
async fn a_status_is_an_answer_and_only_what_may_pass_is_tried_again() {
    for (status, calls) in
        [("404 Not Found", 1), ("429 Too Many Requests", 1), ("500 Oops", 2), ("503 Busy", 2)]
    {
        let service = Service::start(move |_| answer(status, "", "no"));
        let said = call(&service.upstream(|_| ()), &get("/")).await;
        assert_eq!((said, service.calls()), (format!("{} no", &status[..3]), calls), "{status}");
    }
    let service = Service::start(|nth| if nth == 0 { answer("500 Oops", "", "") } else { well() });
    assert_eq!(call(&service.upstream(|_| ()), &get("/")).await, "200 well");
    let service = Service::start(|_| answer("500 Oops", "", "no"));
    assert_eq!(call(&service.upstream(|_| ()), &post("/", "{}")).await, "500 no");
    assert_eq!(service.calls(), 1, "what may change something is sent once");
}

#[tokio::test]
async fn a_service_that_names_a_time_is_asked_again_then_or_not_at_all() {
    for (after, calls) in [("0", 2), ("3600", 1), ("Sun, 06 Nov 1994 08:49:37 GMT", 2)] {
        let headers = format!("retry-after: {after}\r\n");
        let service = Service::start(move |nth| match nth {
            0 => answer("429 Too Many Requests", &headers, ""),
            _ => well(),
        });
        let said = call(&service.upstream(|_| ()), &get("/")).await;
        let expected = if calls == 2 { "200 well" } else { "429 " };
        assert_eq!((said.as_str(), service.calls()), (expected, calls), "{after}");
    }
}

#[tokio::test]
async fn retries_are_a_share_of_the_calls() {
    let service = Service::start(|_| answer("500 Oops", "", ""));
    let upstream = service.upstream(|it| {
        it.retries = 3;
        it.retry_budget_percent = 20;
    });
    for _ in 0..50 {
        assert_eq!(call(&upstream, &get("/")).await, "500 ");
    }
    assert_eq!(service.calls(), 50 + 10 + 50 / 5);
}

#[tokio::test]
async fn a_deadline_ends_whatever_is_going_on() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n".to_vec();
    let scripts: [fn(&[u8]) -> Reply; 3] = [
        |_| Reply::Hang,
        |head| Reply::Drip(head.to_vec()),
        |_| Reply::Drip(b"HTTP/1.1 200 OK\r\nx: ".to_vec()),
    ];
    for script in scripts {
        let head = head.clone();
        let service = Service::start(move |_| script(&head));
        let timeout = Duration::from_millis(50);
        let upstream = service.upstream(|it| it.timeout = timeout);
        assert_eq!(call(&upstream, &get("/")).await, "Timeout");
        let upstream = service.upstream(|_| ());
        assert_eq!(call(&upstream, &Ask { timeout: Some(timeout), ..get("/") }).await, "Timeout");
        let deadline = std::time::Instant::now() + timeout;
        assert_eq!(call(&upstream, &Ask { deadline, ..get("/") }).await, "Timeout");
        assert_eq!(service.calls(), 3, "there is no time to try again");
    }
}

#[tokio::test]
async fn what_is_cut_off_is_no_answer() {
    for bytes in [
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfive5",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n1234\r\n",
        "HTTP/1.1 200",
        "",
        "<html>no HTTP</html>\r\n\r\n",
    ] {
        let service = Service::start(move |_| Reply::Close(bytes.into()));
        assert_eq!(call(&service.upstream(once), &get("/")).await, "Connection", "{bytes}");
        assert_eq!(call(&service.upstream(|_| ()), &get("/")).await, "Connection", "{bytes}");
        assert_eq!(service.calls(), 3, "{bytes}: tried again where that is allowed");
    }
    let service = Service::start(|_| Reply::Close(b"HTTP/1.1 200 OK\r\n\r\nto the end".into()));
    assert_eq!(call(&service.upstream(once), &get("/")).await, "200 to the end");
}

#[tokio::test]
async fn gzip_is_read_up_to_the_bound_of_a_plain_body() {
    for (plain, expected) in
        [("well".to_owned(), "200 well"), (" ".repeat(1 << 20), "TooLarge { bytes_max: 1000 }")]
    {
        let packed = gzip(&plain);
        let length = packed.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n");
        let reply = [head.as_bytes(), &packed].concat();
        let service = Service::start(move |_| Reply::Send(reply.clone()));
        let upstream = service.upstream(|it| it.body_bytes_max = 2000);
        let bounded = service.upstream(|it| it.body_bytes_max = 1000);
        assert_eq!(call(&bounded, &get("/")).await, expected);
        let is_bomb = expected.starts_with("TooLarge");
        let said = call(&upstream, &get("/")).await;
        assert_eq!(said, if is_bomb { "TooLarge { bytes_max: 2000 }" } else { "200 well" });
        assert_eq!((service.calls(), service.connections()), (2, 2));
    }
}

fn gzip(plain: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn another_coding_is_told_and_not_asked_again() {
    for (coding, expected) in [
        (
            "deflate",
            "the answer is coded (`Content-Encoding: deflate`), though it was asked for with `Accept-Encoding: zstd, br, gzip`",
        ),
        ("gzip", "the answer cannot be unpacked: gzip: it ends too early"),
    ] {
        let coded = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: 1\r\n\r\n1");
        let service = Service::start(move |_| Reply::Close(coded.clone().into()));
        let failure = service.upstream(|_| ()).call(&get("/")).await.unwrap_err();
        assert_eq!((failure.error.code(), service.calls()), ("SOURCE_ANSWER", 1));
        assert_eq!(failure.to_string(), expected);
    }
}

#[tokio::test]
async fn a_body_is_read_up_to_its_bound() {
    let said = Service::start(|_| Reply::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 52428800\r\n\r\n".into()));
    let endless =
        Service::start(|_| Reply::Flood(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".into()));
    let exact = Service::start(|_| answer("200 OK", "", "0123456789"));
    for (service, expected) in [
        (said, "TooLarge { bytes_max: 10 }"),
        (endless, "TooLarge { bytes_max: 10 }"),
        (exact, "200 0123456789"),
    ] {
        let upstream = service.upstream(|it| it.body_bytes_max = 10);
        assert_eq!(call(&upstream, &get("/")).await, expected);
        assert_eq!(service.calls(), 1);
    }
}

#[tokio::test]
async fn redirects_are_followed_within_the_host_and_not_for_ever() {
    let service = Service::start(|nth| match nth {
        0 => answer("302 Found", "location: b?c\r\n", ""),
        _ => well(),
    });
    assert_eq!(call(&service.upstream(once), &get("/x/a")).await, "200 well");
    assert!(service.head(1).starts_with("GET /x/b?c HTTP/1.1"));
    let service = Service::start(|_| answer("302 Found", "location: /\r\n", ""));
    assert_eq!(call(&service.upstream(once), &get("/")).await, "Redirected");
    assert_eq!(service.calls(), 4);
    let other = Service::start(|_| well());
    let elsewhere = format!("location: http://{}/\r\n", other.address);
    for location in [elsewhere, "location: file:///etc/passwd\r\n".into(), String::new()] {
        let service = Service::start(move |_| answer("301 Moved Permanently", &location, ""));
        assert_eq!(call(&service.upstream(once), &get("/")).await, "Redirected");
    }
    assert_eq!(other.calls(), 0);
}

#[tokio::test]
async fn a_connection_that_is_closed_when_it_is_used_again_is_made_up_for_once() {
    let script = |nth| if nth == 1 { Reply::Close(Vec::new()) } else { well() };
    let service = Service::start(script);
    let upstream = service.upstream(once);
    assert_eq!(call(&upstream, &get("/")).await, "200 well");
    assert_eq!(call(&upstream, &get("/")).await, "200 well");
    assert_eq!((service.calls(), service.connections()), (3, 2));
    let service = Service::start(script);
    let upstream = service.upstream(|_| ());
    assert_eq!(call(&upstream, &get("/")).await, "200 well");
    assert_eq!(call(&upstream, &post("/", "{}")).await, "Connection", "nobody knows whether it was done");
    assert_eq!(service.calls(), 2);
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_is_told_by_what_is_in_the_way() {
    assert_eq!(call(&upstream("http://nowhere.invalid", once), &get("/")).await, "Name");
    let gone = std::net::SocketAddr::from(([127, 0, 0, 1], crate::port_kit::free_port()));
    assert_eq!(call(&upstream(&format!("http://{gone}"), once), &get("/")).await, "Connect");
}

#[tokio::test]
async fn a_service_that_fails_is_left_alone_until_one_call_finds_it_well() {
    let service = Service::start(|nth| if nth < 11 { answer("500 Oops", "", "") } else { well() });
    let opens = |pause| {
        move |it: &mut CallPolicy| {
            it.retries = 0;
            it.breaker = Some(BreakerPolicy { errors_percent: 50, window: Duration::from_secs(3600), pause });
        }
    };
    let upstream = service.upstream(opens(Duration::from_secs(3600)));
    for _ in 0..10 {
        assert_eq!(call(&upstream, &get("/")).await, "500 ");
    }
    for _ in 0..10 {
        assert_eq!(call(&upstream, &get("/")).await, "Broken");
    }
    assert_eq!(service.calls(), 10);
    let service = Service::start(|nth| if nth < 11 { answer("500 Oops", "", "") } else { well() });
    let upstream = service.upstream(opens(Duration::ZERO));
    for _ in 0..11 {
        assert_eq!(call(&upstream, &get("/")).await, "500 ");
    }
    assert_eq!(call(&upstream, &get("/")).await, "200 well");
    assert_eq!(call(&upstream, &get("/")).await, "200 well");
}

#[tokio::test]
async fn while_one_call_finds_out_nobody_else_is_let_through() {
    let service = Service::start(|nth| match nth {
        0..10 => answer("500 Oops", "", ""),
        10 => Reply::Hang,
        _ => well(),
    });
    let upstream = service.upstream(|it| {
        let window = Duration::from_secs(3600);
        let pause = Duration::ZERO;
        it.retries = 0;
        it.breaker = Some(BreakerPolicy { errors_percent: 50, window, pause });
    });
    for _ in 0..10 {
        assert_eq!(call(&upstream, &get("/")).await, "500 ");
    }
    let asked = get("/");
    let mut probe = Box::pin(call(&upstream, &asked));
    while service.calls() < 11 {
        assert!(futures_util::poll!(probe.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    assert_eq!(call(&upstream, &get("/")).await, "Broken");
    assert_eq!(service.calls(), 11, "nothing was sent");
    // A cancelled probe has no result: the next call probes.
    drop(probe);
    assert_eq!(call(&upstream, &get("/")).await, "200 well");
    assert_eq!(call(&upstream, &get("/")).await, "200 well");
}

#[tokio::test]
async fn what_takes_longer_than_usual_is_asked_a_second_time() {
    let hangs = |nth: usize| if nth == 128 { Reply::Hang } else { well() };
    let learned = |service: &Service, budget| {
        service.upstream(move |it| {
            it.hedge_percentile = Some(95);
            it.retry_budget_percent = budget;
            it.timeout = Duration::from_secs(if budget == 0 { 1 } else { 60 });
        })
    };
    let service = Service::start(hangs);
    let upstream = learned(&service, 20);
    for _ in 0..128 {
        assert_eq!(call(&upstream, &Ask { idempotent: false, ..get("/") }).await, "200 well");
    }
    assert_eq!(service.calls(), 128, "nothing is usual yet");
    assert_eq!(call(&upstream, &get("/")).await, "200 well");
    assert_eq!(service.calls(), 130);
    let service = Service::start(hangs);
    let upstream = learned(&service, 0);
    for _ in 0..128 {
        assert_eq!(call(&upstream, &get("/")).await, "200 well");
    }
    assert_eq!(call(&upstream, &get("/")).await, "Timeout", "there is no budget");
    assert_eq!(service.calls(), 129);
    let service = Service::start(hangs);
    let upstream = learned(&service, 20);
    for _ in 0..128 {
        assert_eq!(call(&upstream, &get("/")).await, "200 well");
    }
    let changes = Ask { timeout: Some(Duration::from_millis(200)), ..post("/", "{}") };
    assert_eq!(call(&upstream, &changes).await, "Timeout", "what may change something is asked once");
    assert_eq!(service.calls(), 129);
}

#[tokio::test]
async fn calls_beyond_those_under_way_wait_or_are_turned_away() {
    let service = Service::start(|nth| if nth == 0 { Reply::Hang } else { well() });
    let upstream = service.upstream(|it| {
        it.retries = 0;
        it.calls_max = 1;
        it.queue_max = 1;
    });
    let first = Ask { timeout: Some(Duration::from_millis(200)), ..get("/") };
    let ask = get("/");
    let third = get("/");
    let said = tokio::join!(call(&upstream, &first), call(&upstream, &ask), call(&upstream, &third));
    assert_eq!(said, ("Timeout".into(), "200 well".into(), "Busy".into()));
}

/// Serves HTTP/2, says what was asked for and counts connections by the port they come from.
async fn speak_http2<S>(stream: S)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(async |request: http::Request<hyper::body::Incoming>| {
        let words = format!("{} {}", request.uri(), request.headers().len());
        Ok::<_, std::convert::Infallible>(http::Response::new(http_body_util::Full::new(bytes::Bytes::from(
            words,
        ))))
    });
    let executor = hyper_util::rt::TokioExecutor::new();
    let connection = hyper::server::conn::http2::Builder::new(executor);
    connection.serve_connection(hyper_util::rt::TokioIo::new(stream), service).await.unwrap_or_default();
}

/// A certificate for `localhost` that is valid until `year`, as a file to trust and as a server shows it.
fn certificate(name: &str, year: i32, protocols: &[&[u8]]) -> (std::path::PathBuf, TlsAcceptor) {
    certificate_for("localhost", name, year, protocols)
}

/// The same for another host.
fn certificate_for(
    host: &str,
    name: &str,
    year: i32,
    protocols: &[&[u8]],
) -> (std::path::PathBuf, TlsAcceptor) {
    let mut parameters = rcgen::CertificateParams::new([host.to_owned()]).unwrap();
    parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    let file = std::env::temp_dir().join(format!("weir-call-{name}-{}.pem", std::process::id()));
    std::fs::write(&file, certificate.pem()).unwrap();
    let key = rustls_pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    server.alpn_protocols = protocols.iter().map(|it| it.to_vec()).collect();
    (file, TlsAcceptor::from(Arc::new(server)))
}

fn trusting(port: u16, ca: Option<std::path::PathBuf>) -> Upstream {
    let policy = CallPolicy { retries: 0, ..CallPolicy::USUAL };
    let base = format!("https://localhost:{port}").parse().unwrap();
    Upstream::new(&UpstreamSettings {
        base,
        tls: TlsFiles { ca, client: None },
        protocol: Protocol::Negotiated,
        policy,
    })
    .unwrap()
}

#[tokio::test]
async fn only_who_shows_a_certificate_that_is_trusted_and_valid_is_asked() {
    let (file, tls) = certificate("valid", 2999, &[b"http/1.1"]);
    let service = Service::start_private(tls, |_| well());
    let port = service.address.port();
    assert_eq!(call(&trusting(port, Some(file.clone())), &get("/")).await, "200 well");
    let (expired, tls) = certificate("expired", 2020, &[b"http/1.1"]);
    let old = Service::start_private(tls, |_| well());
    assert_eq!(call(&trusting(old.address.port(), Some(expired.clone())), &get("/")).await, "Encryption");
    assert_eq!(
        call(&trusting(port, Some(expired.clone())), &get("/")).await,
        "Encryption",
        "another is trusted"
    );
    let (other, tls) = certificate_for("shop.test", "other", 2999, &[b"http/1.1"]);
    let named = Service::start_private(tls, |_| well());
    assert_eq!(
        call(&trusting(named.address.port(), Some(other.clone())), &get("/")).await,
        "Encryption",
        "it is another's"
    );
    assert_eq!((service.calls(), old.calls(), named.calls()), (1, 0, 0));
    [file, expired, other].into_iter().try_for_each(std::fs::remove_file).unwrap();
}

#[tokio::test]
async fn many_calls_share_a_connection_of_http2() {
    let (file, tls) = certificate("http2", 2999, &[b"h2", b"http/1.1"]);
    let port = listen(move |socket| {
        let tls = tls.clone();
        async move {
            if let Ok(stream) = tls.accept(socket).await {
                speak_http2(stream).await;
            }
        }
    })
    .port();
    let upstream = trusting(port, Some(file.clone()));
    std::fs::remove_file(file).unwrap();
    assert_eq!(call(&upstream, &get("/a")).await, format!("200 https://localhost:{port}/a 2"));
    let many = (0..50).map(|_| async { call(&upstream, &get("/b")).await });
    for said in futures_util::future::join_all(many).await {
        assert_eq!(said, format!("200 https://localhost:{port}/b 2"));
    }
}

#[test]
fn a_runtime_that_ends_takes_nothing_from_others() {
    let scripted = Service::start(|_| well());
    let http2 = listen(speak_http2);
    let settings = |protocol, address| UpstreamSettings {
        base: format!("http://{address}").parse().unwrap(),
        tls: TlsFiles::default(),
        protocol,
        policy: CallPolicy { retries: 0, ..CallPolicy::USUAL },
    };
    let one = Upstream::new(&settings(Protocol::Negotiated, scripted.address)).unwrap();
    let other = Upstream::new(&settings(Protocol::Http2, http2)).unwrap();
    for _ in 0..3 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for _ in 0..2 {
            assert_eq!(runtime.block_on(call(&one, &post("/", "{}"))), "200 well");
            assert_eq!(runtime.block_on(call(&other, &post("/", "{}"))), format!("200 http://{http2}/ 3"));
        }
    }
    assert_eq!((scripted.calls(), scripted.connections()), (6, 3));
}
