//! Opens connections to a service, racing its addresses.

use super::call_error::{CallError, Cause};
use super::connection::{Http1, Http2, Kept, Opened, Stream};
use super::endpoint::Endpoint;
use super::settings::{Protocol, SettingsError, UpstreamSettings};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::uri::{Authority, Scheme};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// Time until the next address is tried in parallel (Happy Eyeballs).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// Timeout of opening a connection, including all addresses and the handshake.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Address and protocol of a service.
pub(super) struct Dialer {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
    pub(super) host: String,
    pub(super) port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    protocol: Protocol,
    connection_age: Duration,
}

impl Dialer {
    /// # Errors
    /// A base that names no service, or certificates that cannot be read.
    pub(super) fn new(settings: &UpstreamSettings) -> Result<Self, SettingsError> {
        let wrong = |words: &str| SettingsError(format!("base URL `{}`: {words}", settings.base).into());
        let scheme = settings.base.scheme().ok_or_else(|| wrong("it names no scheme"))?.clone();
        let authority = settings.base.authority().ok_or_else(|| wrong("it names no host"))?.clone();
        if authority.as_str().contains('@') {
            return Err(wrong("send credentials in a header"));
        }
        let is_private = scheme == Scheme::HTTPS;
        if !is_private && settings.tls.client.is_some() {
            return Err(wrong("a client certificate is shown to `https` alone"));
        }
        if !is_private && scheme != Scheme::HTTP {
            return Err(wrong("only `http` and `https` are called"));
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let tls = if is_private {
            let name = ServerName::try_from(host.clone()).map_err(|_| wrong("no certificate can name it"))?;
            Some((super::tls::connector(settings)?, name))
        } else {
            None
        };
        let port = authority.port_u16().unwrap_or(if is_private { 443 } else { 80 });
        let protocol = settings.protocol;
        let connection_age = settings.policy.connection_age;
        Ok(Self { scheme, authority, host, port, tls, protocol, connection_age })
    }

    /// Opens a connection to one of `endpoints`, preferring the first. Failures are recorded per endpoint.
    pub(super) async fn open(&self, endpoints: &[Arc<Endpoint>]) -> Result<Kept, CallError> {
        match timeout(CONNECT_TIMEOUT, self.connect(endpoints)).await {
            Ok(done) => done,
            Err(_) => {
                let words = &"it does not answer";
                endpoints.iter().take(1).for_each(|it| it.note_failure(Instant::now(), words));
                Err(CallError::unavailable(Cause::Connect, words))
            }
        }
    }

    /// Opens a byte stream to one of `endpoints`, for what is no call.
    pub(super) async fn open_stream(&self, endpoints: &[Arc<Endpoint>]) -> Result<Stream, CallError> {
        let opened = timeout(CONNECT_TIMEOUT, async {
            let connected = first_of(endpoints).await;
            let (socket, _) = connected.map_err(|it| CallError::unavailable(Cause::Connect, &it))?;
            self.secure(socket).await
        });
        opened
            .await
            .map_err(|_| CallError::unavailable(Cause::Connect, &"it does not answer"))?
            .map(|it| it.0)
    }

    async fn connect(&self, endpoints: &[Arc<Endpoint>]) -> Result<Kept, CallError> {
        let connected = first_of(endpoints).await;
        let (socket, endpoint) = connected.map_err(|it| CallError::unavailable(Cause::Connect, &it))?;
        let begun = self.begin(socket, Arc::clone(&endpoint)).await;
        begun.inspect_err(|error| endpoint.note_failure(Instant::now(), error))
    }

    /// Does the TLS handshake over `socket`; true if HTTP/2 is spoken then.
    async fn secure(&self, socket: TcpStream) -> Result<(Stream, bool), CallError> {
        socket.set_nodelay(true).map_err(|it| CallError::unavailable(Cause::Connect, &it))?;
        match &self.tls {
            None => Ok((Stream::Plain(socket), self.protocol == Protocol::Http2)),
            Some((tls, name)) => {
                let stream = tls.connect(name.clone(), socket).await;
                let stream = stream.map_err(|it| CallError::unavailable(handshake_cause(&it), &it))?;
                let speaks_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                Ok((Stream::Private(Box::new(stream)), speaks_http2 || self.protocol == Protocol::Http2))
            }
        }
    }

    /// Does the TLS and HTTP/2 handshakes with `endpoint` over `socket`.
    async fn begin(&self, socket: TcpStream, endpoint: Arc<Endpoint>) -> Result<Kept, CallError> {
        let (stream, speaks_http2) = self.secure(socket).await?;
        // A random lifetime, so that connections opened together are not replaced together.
        let age = self.connection_age.mul_f64(0.9 + 0.2 * fastrand::f64());
        let opened = Opened { endpoint, until: Instant::now() + age };
        if speaks_http2 {
            Http2::begin(stream, opened).await.map(Kept::Http2)
        } else {
            Ok(Kept::Http1(Http1::new(stream, opened)))
        }
    }
}

/// Cause of a failed handshake. A service that hangs up may be shutting down, so a retry may reach its successor.
fn handshake_cause(error: &io::Error) -> Cause {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => Cause::Connection,
        _ => Cause::Encryption,
    }
}

/// Connects to the first of `endpoints` that accepts. The next one is tried when the previous one fails or takes long.
async fn first_of(endpoints: &[Arc<Endpoint>]) -> io::Result<(TcpStream, Arc<Endpoint>)> {
    let mut attempts = FuturesUnordered::new();
    let mut tried: Vec<&Arc<Endpoint>> = Vec::with_capacity(endpoints.len());
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut left = endpoints.iter();
    loop {
        let next = left.next();
        if let Some(endpoint) = next {
            tried.push(endpoint);
            attempts.push(async move { (TcpStream::connect(endpoint.address).await, endpoint) });
        }
        let done = match next {
            Some(_) => timeout(NEXT_ADDRESS_AFTER, attempts.next()).await,
            None => Ok(attempts.next().await),
        };
        let Ok(done) = done else { continue };
        let Some((connected, endpoint)) = done else { return Err(last) };
        tried.retain(|it| !Arc::ptr_eq(it, endpoint));
        match connected {
            Ok(socket) => {
                // The addresses tried so far had their time; stop waiting for them.
                let now = Instant::now();
                tried.iter().for_each(|it| it.note_failure(now, &"it takes long to connect"));
                return Ok((socket, Arc::clone(endpoint)));
            }
            Err(error) => {
                endpoint.note_failure(Instant::now(), &error);
                last = error;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{CallPolicy, ClientCertificate, TlsFiles};
    use std::net::SocketAddr;
    use tokio::net::TcpListener;

    async fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// An address that refuses: nobody listens there any more.
    async fn refusing() -> SocketAddr {
        listener().await.1
    }

    /// An address that says nothing: as many wait to be accepted there as may. Those who wait do so as long as the second part lives.
    async fn silent() -> (SocketAddr, impl Sized) {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let at = listener.local_addr().unwrap();
        let mut waiting: Vec<_> = (0..8).map(|_| Box::pin(TcpStream::connect(at))).collect();
        for attempt in &mut waiting {
            let _begun = futures_util::poll!(attempt.as_mut());
        }
        (at, (listener, waiting))
    }

    fn dialer() -> Dialer {
        let base = "http://shop.test".parse().unwrap();
        let settings = UpstreamSettings {
            base,
            tls: TlsFiles::default(),
            protocol: Protocol::Negotiated,
            policy: CallPolicy::USUAL,
        };
        Dialer::new(&settings).unwrap()
    }

    /// Opens a connection by the first of `all` that takes one, and says which that was.
    async fn open_first(all: &[SocketAddr]) -> Result<SocketAddr, CallError> {
        let endpoints: Vec<_> = all.iter().map(|it| Arc::new(Endpoint::new(*it, Instant::now()))).collect();
        let opened = dialer().open(&endpoints).await;
        opened.map(|it| it.opening().address())
    }

    #[tokio::test]
    async fn an_address_that_takes_no_connection_leads_to_the_next() {
        let (silent, _waiting) = silent().await;
        let (_listens, at) = listener().await;
        let gone = refusing().await;
        for all in [&[at][..], &[gone, at], &[silent, at], &[gone, silent, at], &[at, gone]] {
            assert_eq!(open_first(all).await, Ok(at), "{all:?}");
        }
        for all in [&[gone][..], &[gone, gone], &[]] {
            let error = open_first(all).await.unwrap_err();
            assert!(matches!(error, CallError::Unavailable(Cause::Connect, _)), "{error:?}");
        }
    }

    #[test]
    fn a_base_names_a_service() {
        let check = |base: &str, expected: &str| {
            let base = base.parse().unwrap();
            let settings = UpstreamSettings {
                base,
                tls: TlsFiles::default(),
                protocol: Protocol::Negotiated,
                policy: CallPolicy::USUAL,
            };
            let words = Dialer::new(&settings).err().map_or(String::new(), |it| it.to_string());
            assert!(words.ends_with(expected), "{words}");
        };
        check("ftp://shop", "only `http` and `https` are called");
        check("http://ada:secret@shop", "send credentials in a header");
        check("/shop", "it names no scheme");
        check("http://[::1]:8080", "");
        let client = ClientCertificate { certificate: "shop.pem".into(), key: "shop.key".into() };
        let tls = TlsFiles { ca: None, client: Some(client) };
        let base = "http://shop".parse().unwrap();
        let settings =
            UpstreamSettings { base, tls, protocol: Protocol::Negotiated, policy: CallPolicy::USUAL };
        let words = Dialer::new(&settings).err().map_or(String::new(), |it| it.to_string());
        assert!(words.ends_with("a client certificate is shown to `https` alone"), "{words}");
    }
}
