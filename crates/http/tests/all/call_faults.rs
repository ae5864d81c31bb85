//! Calls to services that reset, go away, hang up in the handshake, or say things that no service says.

use crate::http2_kit::{
    Http2Service, INTERNAL_ERROR, NO_ERROR, Play, REFUSED_STREAM, data, go_away, headers, last_data,
    last_headers, reset, whole,
};
use crate::wire_kit::{Reply, Service, answer, get, listen, post};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use weir_http::call::{Ask, CallError, CallPolicy, Failure, Protocol, TlsFiles, Upstream, UpstreamSettings};

/// Calls and says what came of it in few words: status and body, or the error.
async fn call(upstream: &Upstream, ask: &Ask) -> String {
    match upstream.call(ask).await {
        Ok(answer) => format!("{} {}", answer.status.as_u16(), String::from_utf8_lossy(&answer.body)),
        Err(Failure { error: CallError::Unavailable(cause, _), .. }) => format!("{cause:?}"),
        Err(failure) => format!("{:?}", failure.error),
    }
}

fn calling(base: &str, protocol: Protocol, retries: u32, timeout: Duration) -> Upstream {
    let policy = CallPolicy { retries, timeout, body_bytes_max: 1000, ..CallPolicy::USUAL };
    let ca = base.starts_with("https").then(|| {
        // Any will do: nobody is asked who shows one of its own.
        let key = rcgen::KeyPair::generate().unwrap();
        let names = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        let file = std::env::temp_dir().join(format!("weir-faults-{}-{retries}.pem", std::process::id()));
        std::fs::write(&file, names.self_signed(&key).unwrap().pem()).unwrap();
        file
    });
    let settings = UpstreamSettings {
        base: base.parse().unwrap(),
        tls: TlsFiles { ca: ca.clone(), client: None },
        protocol,
        policy,
    };
    let upstream = Upstream::new(&settings).unwrap();
    ca.map(std::fs::remove_file).transpose().unwrap();
    upstream
}

/// Time that no answer needs.
const PATIENCE: Duration = Duration::from_secs(50);
/// Time for what never comes.
const SHORT: Duration = Duration::from_millis(50);

fn by_http2(service: &Http2Service, retries: u32) -> Upstream {
    calling(&format!("http://{}", service.address), Protocol::Http2, retries, PATIENCE)
}

#[tokio::test]
async fn a_server_that_says_goodbye_is_asked_over_another_connection() {
    let service = Http2Service::start(|_, stream| {
        Play::Send([whole(stream, b"well"), go_away(stream, NO_ERROR)].concat())
    });
    let upstream = by_http2(&service, 0);
    for _ in 0..3 {
        assert_eq!(call(&upstream, &post("/", "{}")).await, "200 well");
    }
    assert_eq!(service.counts(), (3, 3));
    // Calls in flight are completed.
    let service = Http2Service::start(|_, stream| {
        Play::Send([go_away(stream, NO_ERROR), whole(stream, b"well")].concat())
    });
    assert_eq!(call(&by_http2(&service, 0), &post("/", "{}")).await, "200 well");
}

#[tokio::test]
async fn a_stream_that_comes_to_nothing_is_made_up_for_once_where_that_is_allowed() {
    let faults: [fn(u32) -> Play; 4] = [
        |stream| Play::Send(reset(stream, REFUSED_STREAM)),
        |stream| Play::Send(reset(stream, INTERNAL_ERROR)),
        |stream| Play::Close(go_away(stream - 2, NO_ERROR)),
        |_| Play::Close(Vec::new()),
    ];
    for fault in faults {
        let script = move |nth: usize, stream: u32| match nth {
            1 => fault(stream),
            _ => Play::Send(whole(stream, b"well")),
        };
        let service = Http2Service::start(script);
        let upstream = by_http2(&service, 0);
        for _ in 0..2 {
            assert_eq!(call(&upstream, &get("/")).await, "200 well");
        }
        assert_eq!(service.counts(), (3, 2));
        let service = Http2Service::start(script);
        let upstream = by_http2(&service, 3);
        assert_eq!(call(&upstream, &get("/")).await, "200 well");
        assert_eq!(call(&upstream, &post("/", "{}")).await, "Connection", "it may have been done");
        assert_eq!(service.counts(), (2, 1));
    }
}

#[tokio::test]
async fn an_answer_of_http2_that_is_not_whole_is_none() {
    let long = [(":status", "200"), ("content-length", "9")];
    let well = [(":status", "200")];
    type Way = Box<dyn Fn(u32) -> Play + Send + Sync>;
    let ways: [(Way, &str); 8] = [
        (
            Box::new(move |at| Play::Send([headers(at, &well), reset(at, INTERNAL_ERROR)].concat())),
            "Connection",
        ),
        (Box::new(move |at| Play::Close([headers(at, &well), data(at, b"half")].concat())), "Connection"),
        (
            Box::new(move |at| Play::Send([headers(at, &long), last_data(at, b"short")].concat())),
            "Connection",
        ),
        (
            Box::new(move |at| Play::Send([headers(at, &long), last_data(at, b"far too long")].concat())),
            "Connection",
        ),
        (Box::new(move |at| Play::Send(last_headers(at, &[("x", "no status")]))), "Connection"),
        (Box::new(move |at| Play::Send(data(at, b"no head"))), "Connection"),
        (Box::new(|_| Play::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".into())), "Connection"),
        (
            Box::new(move |at| Play::Send([headers(at, &well), data(at, &[b'x'; 1001])].concat())),
            "TooLarge { bytes_max: 1000 }",
        ),
    ];
    for (nth, (way, expected)) in ways.into_iter().enumerate() {
        let service = Http2Service::start(move |_, stream| way(stream));
        assert_eq!(call(&by_http2(&service, 0), &get("/")).await, expected, "way {nth}");
        assert_eq!(service.counts(), (1, 1), "way {nth}");
    }
    let early = |at| [headers(at, &[(":status", "103")]), whole(at, b"well")].concat();
    let service = Http2Service::start(move |_, at| Play::Send(early(at)));
    assert_eq!(call(&by_http2(&service, 0), &get("/")).await, "200 well");
}

#[tokio::test]
async fn a_stream_that_is_reset_leaves_the_others_of_its_connection() {
    let service = Http2Service::start(|nth, stream| match nth {
        0 => Play::Send(Vec::new()),
        _ => Play::Send([reset(stream - 2, INTERNAL_ERROR), whole(stream, b"well")].concat()),
    });
    let upstream = by_http2(&service, 0);
    // The first is not answered before the second has come, over its connection.
    let asked = post("/", "a");
    let beside = post("/", "b");
    let first = call(&upstream, &asked);
    let second = async {
        while service.counts().0 == 0 {
            tokio::task::yield_now().await;
        }
        call(&upstream, &beside).await
    };
    assert_eq!(tokio::join!(first, second), ("Connection".into(), "200 well".into()));
    assert_eq!(service.counts(), (2, 1));
}

/// Ends connections by a reset: the n-th request is answered so if `at` says so, others are answered well.
fn resetting(at: usize) -> std::net::SocketAddr {
    let calls = Arc::<AtomicUsize>::default();
    listen(move |mut socket: TcpStream| {
        let calls = Arc::clone(&calls);
        async move {
            let mut read = [0; 4096];
            while let Ok(1..) = socket.read(&mut read).await {
                if calls.fetch_add(1, Ordering::SeqCst) == at {
                    return socket.set_zero_linger().unwrap_or_default();
                }
                let well = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell";
                socket.write_all(well).await.unwrap_or_default();
            }
        }
    })
}

#[tokio::test]
async fn a_connection_that_is_reset_when_it_is_used_again_is_made_up_for_once() {
    for (ask, expected) in [(get("/"), "200 well"), (post("/", "{}"), "Connection")] {
        let upstream = calling(&format!("http://{}", resetting(1)), Protocol::Negotiated, 0, PATIENCE);
        assert_eq!(call(&upstream, &get("/")).await, "200 well");
        assert_eq!(call(&upstream, &ask).await, expected);
    }
}

#[tokio::test]
async fn what_a_service_says_too_much_is_nobody_elses_answer() {
    let evil = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
    for first in [
        format!("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell{evil}"),
        format!("HTTP/1.1 304 Not Modified\r\ncontent-length: 45\r\n\r\n{evil}"),
        "HTTP/1.1 204 No Content\r\ncontent-length: 45\r\n\r\n".into(),
        format!("HTTP/1.1 204 No Content\r\n\r\n{evil}"),
    ] {
        let begins = first.clone();
        let service = Service::start(move |nth| match nth {
            0 => Reply::Send(begins.clone().into()),
            _ => answer("200 OK", "", "well"),
        });
        let upstream = service.upstream(|it| it.retries = 0);
        upstream.call(&get("/")).await.unwrap();
        assert_eq!(call(&upstream, &get("/")).await, "200 well", "{first}");
        assert_eq!((service.calls(), service.connections()), (2, 2), "{first}");
    }
}

#[tokio::test]
async fn an_answer_that_is_announced_without_end_is_none() {
    let early = "HTTP/1.1 103 Early Hints\r\n\r\n";
    for (count, expected) in [(32, "200 well"), (33, "Connection")] {
        let text = format!("{}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell", early.repeat(count));
        let service = Service::start(move |_| Reply::Send(text.clone().into()));
        assert_eq!(call(&service.upstream(|it| it.retries = 0), &get("/")).await, expected);
    }
}

/// Behaviour of connections before HTTP.
#[derive(Clone, Copy)]
enum Door {
    /// Nothing is read.
    Deaf,
    /// All is read, and nothing is said.
    Mute,
    /// Closed when the first bytes have come.
    Shut,
    /// These bytes are said at once.
    Says(&'static [u8]),
}

/// Opens connections that come to nothing, and counts them.
fn door(door: Door) -> (u16, Arc<AtomicUsize>) {
    let opened = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&opened);
    let address = listen(move |mut socket: TcpStream| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            let mut read = [0; 4096];
            match door {
                Door::Deaf => std::future::pending().await,
                Door::Mute => while let Ok(1..) = socket.read(&mut read).await {},
                Door::Shut => drop(socket.read(&mut read).await),
                Door::Says(bytes) => {
                    socket.write_all(bytes).await.unwrap_or_default();
                    while let Ok(1..) = socket.read(&mut read).await {}
                }
            }
        }
    });
    (address.port(), opened)
}

#[tokio::test]
async fn a_deadline_ends_what_goes_before_a_request_too() {
    let long = Ask { body: vec![b'x'; 32 << 20].into(), ..post("/", "") };
    for (scheme, protocol, open, ask) in [
        ("https", Protocol::Negotiated, Door::Mute, get("/")),
        ("https", Protocol::Http2, Door::Mute, get("/")),
        ("http", Protocol::Http2, Door::Mute, get("/")),
        ("http", Protocol::Negotiated, Door::Deaf, long),
    ] {
        let (port, opened) = door(open);
        let upstream = calling(&format!("{scheme}://localhost:{port}"), protocol, 3, SHORT);
        assert_eq!(call(&upstream, &ask).await, "Timeout", "{scheme} {protocol:?}");
        assert!(opened.load(Ordering::SeqCst) <= 1, "there is no time to try again");
    }
}

#[tokio::test]
async fn who_hangs_up_in_the_handshake_is_tried_again_and_who_cannot_shake_hands_is_not() {
    for (open, expected, connections) in [
        (Door::Shut, "Connection", 3),
        (Door::Says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "Encryption", 1),
        // A fatal alert: the handshake failed.
        (Door::Says(&[21, 3, 3, 0, 2, 2, 40]), "Encryption", 1),
    ] {
        let (port, opened) = door(open);
        let upstream = calling(&format!("https://localhost:{port}"), Protocol::Negotiated, 2, PATIENCE);
        // It is certain that nothing was asked: what may change something is tried again as well.
        assert_eq!(call(&upstream, &post("/", "{}")).await, expected);
        assert_eq!(opened.load(Ordering::SeqCst), connections);
    }
}
