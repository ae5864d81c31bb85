//! A service whose every byte is scripted: what it does to a connection is what the tests are about.
#![allow(dead_code, reason = "every test that has it uses a part of it")]

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use weir_engine::caller::Identity;
use weir_engine::engine::{Body, Engine, Request};
use weir_engine::source::{CacheScope, Headers};
use weir_http::cache::{self, Cache, Clock};
use weir_http::call::{Ask, CallPolicy, Peer, Protocol, TlsFiles, Upstream, UpstreamSettings};

/// Responses to a request.
pub(crate) enum Reply {
    /// These bytes; the connection goes on.
    Send(Vec<u8>),
    /// These bytes, then the connection is closed.
    Close(Vec<u8>),
    /// Nothing, for ever.
    Hang,
    /// These bytes, and more of them one by one for ever.
    Drip(Vec<u8>),
    /// These bytes, then chunks without end.
    Flood(Vec<u8>),
}

/// A cache with a clock that is moved by hand.
pub(crate) fn cache(clock: &Clock) -> Arc<Cache> {
    let clock = clock.clone();
    let changes = Arc::default();
    Arc::new(Cache::new(cache::CacheSettings { bytes_max: 1 << 20, clock, remote: None, changes }).unwrap())
}

/// A caller, with all headers that a test uses.
pub(crate) struct User(pub(crate) &'static str);

impl Headers for User {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        if matches!(name, "authorization" | "cookie" | "x-client") && !self.0.is_empty() {
            take(self.0.as_bytes());
        }
    }
}

/// Answer of `engine` for a user, and its lifetime: true if it is public, and the seconds.
pub(crate) async fn ask(engine: &Engine, user: User, query: &str) -> (String, Option<(bool, u64)>) {
    let request = Request { headers: &user, ..Request::new(query, Instant::now() + Duration::from_secs(30)) };
    let response = engine.execute(request, &engine.caller(&Identity::admin())).await;
    let told = response.lifetime.map(|it| it.cache_control);
    let told = told.map(|it| (it.scope == CacheScope::Public, it.remaining_ms.div_ceil(1000)));
    let body = match response.body {
        Body::Whole(bytes) => bytes,
        Body::Shared(bytes) => bytes.to_vec(),
        Body::Stream { .. } | Body::Increments { .. } => panic!("nothing here is long"),
    };
    (String::from_utf8(body).unwrap(), told)
}

/// An answer that is whole.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Reply {
    Reply::Send(format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into())
}

/// A running service.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

/// The answer to the n-th request, whose head and body this is.
type Script = Arc<dyn Fn(usize, &str) -> Reply + Send + Sync>;

impl Service {
    /// Answers the n-th request, from 0, by `script`.
    pub(crate) fn start(script: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::begin(Arc::new(move |nth, _| script(nth)), None)
    }

    /// Answers by the head and body of each request.
    pub(crate) fn start_by(script: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::begin(Arc::new(move |_, head| script(head)), None)
    }

    /// The same with TLS.
    pub(crate) fn start_private(
        tls: TlsAcceptor,
        script: impl Fn(usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::begin(Arc::new(move |nth, _| script(nth)), Some(tls))
    }

    fn begin(script: Script, tls: Option<TlsAcceptor>) -> Self {
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let connections = Arc::<AtomicUsize>::default();
        let seen = Arc::clone(&heads);
        let opened = Arc::clone(&connections);
        let address = listen(move |socket| {
            opened.fetch_add(1, Ordering::SeqCst);
            let script = Arc::clone(&script);
            let seen = Arc::clone(&seen);
            let tls = tls.clone();
            async move {
                match tls {
                    None => converse(socket, &script, &seen).await,
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(socket).await {
                            converse(stream, &script, &seen).await;
                        }
                    }
                }
            }
        });
        Self { address, heads, connections }
    }

    /// Number of requests.
    pub(crate) fn calls(&self) -> usize {
        self.heads.lock().unwrap().len()
    }

    /// The head of the n-th request.
    pub(crate) fn head(&self, at: usize) -> String {
        self.heads.lock().unwrap()[at].clone()
    }

    /// The body of the n-th request.
    pub(crate) fn body(&self, at: usize) -> String {
        let request = self.head(at);
        request.split_once("\r\n\r\n").map(|it| it.1.to_owned()).unwrap_or_default()
    }

    /// Number of opened connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Calls it, with what goes without saying changed by `change`.
    pub(crate) fn upstream(&self, change: impl FnOnce(&mut CallPolicy)) -> Upstream {
        upstream(&format!("http://{}", self.address), change)
    }
}

/// Accepts connections on a thread and a runtime of its own, so that those of a test may end.
pub(crate) fn listen<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(socket));
            }
        });
    });
    address
}

/// Calls `base`, with what goes without saying changed by `change`.
pub(crate) fn upstream(base: &str, change: impl FnOnce(&mut CallPolicy)) -> Upstream {
    let mut policy = CallPolicy::USUAL;
    change(&mut policy);
    let settings = UpstreamSettings {
        base: base.parse().unwrap(),
        tls: TlsFiles::default(),
        protocol: Protocol::Negotiated,
        policy,
    };
    Upstream::new(&settings).unwrap()
}

/// A GET of `path`, with time enough.
pub(crate) fn get(path: &'static str) -> Ask {
    Ask {
        method: http::Method::GET,
        path_and_query: http::uri::PathAndQuery::from_static(path),
        headers: Vec::new(),
        body: bytes::Bytes::new(),
        deadline: Instant::now() + Duration::from_secs(60),
        timeout: None,
        idempotent: true,
        span: None,
        peer: Peer::Service,
    }
}

/// A POST that may change something.
pub(crate) fn post(path: &'static str, body: &'static str) -> Ask {
    Ask { method: http::Method::POST, body: body.into(), idempotent: false, ..get(path) }
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    script: &Script,
    seen: &Mutex<Vec<String>>,
) {
    while let Some(head) = request(&mut stream).await {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(head.clone());
            seen.len() - 1
        };
        match script(number, &head) {
            Reply::Send(bytes) => stream.write_all(&bytes).await.unwrap_or_default(),
            Reply::Close(bytes) => {
                stream.write_all(&bytes).await.unwrap_or_default();
                return stream.shutdown().await.unwrap_or_default();
            }
            Reply::Hang => std::future::pending().await,
            Reply::Drip(bytes) => return repeat(&mut stream, &bytes, b" ", Duration::from_millis(2)).await,
            Reply::Flood(bytes) => {
                return repeat(&mut stream, &bytes, b"4\r\n1234\r\n", Duration::from_nanos(1)).await;
            }
        }
    }
}

/// Writes `first`, then `next` at every tick until nobody reads any more.
async fn repeat<S: AsyncWrite + Unpin>(stream: &mut S, first: &[u8], next: &[u8], every: Duration) {
    let mut ticks = tokio::time::interval(every);
    let mut written = stream.write_all(first).await;
    while written.is_ok() {
        ticks.tick().await;
        written = stream.write_all(next).await;
    }
}

/// Reads a request, and gives its head with the body behind it; `None` at the end of the connection.
async fn request<S: AsyncRead + Unpin>(stream: &mut S) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |it| it.parse().unwrap()) {
                return Some(text.into_owned());
            }
        }
        if stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
}
