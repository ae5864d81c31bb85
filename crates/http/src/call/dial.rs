//! Opens connections to a service: its name is looked up anew for each, so a change of addresses is followed.

use super::connection::{Http1, Http2, Kept, Stream};
use super::error::{CallError, Cause};
use super::settings::{Protocol, Settings, SettingsError};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::uri::{Authority, Scheme};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long an address is waited for before the next is tried beside it.
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// How long opening a connection may take, addresses and encryption included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where a service is, and how one speaks with it.
pub(super) struct Dialer {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    protocol: Protocol,
    names: Names,
}

/// Who knows the addresses of names.
enum Names {
    System,
    /// What each question is answered by.
    #[cfg(test)]
    Told(std::sync::Mutex<Vec<Vec<SocketAddr>>>),
}

impl Names {
    async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        match self {
            Self::System => tokio::net::lookup_host((host, port)).await.map(Iterator::collect),
            #[cfg(test)]
            Self::Told(answers) => Ok(answers.lock().unwrap().remove(0)),
        }
    }
}

impl Dialer {
    /// # Errors
    /// A base that names no service, or certificates that cannot be read.
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let wrong = |words: &str| SettingsError(format!("base URL `{}`: {words}", settings.base).into());
        let scheme = settings.base.scheme().ok_or_else(|| wrong("it names no scheme"))?.clone();
        let authority = settings.base.authority().ok_or_else(|| wrong("it names no host"))?.clone();
        if authority.as_str().contains('@') {
            return Err(wrong("send credentials in a header"));
        }
        let is_private = scheme == Scheme::HTTPS;
        if !is_private && scheme != Scheme::HTTP {
            return Err(wrong("only `http` and `https` are called"));
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let tls = match is_private {
            false => None,
            true => {
                let name =
                    ServerName::try_from(host.clone()).map_err(|_| wrong("no certificate can name it"))?;
                Some((super::tls::connector(settings)?, name))
            }
        };
        let port = authority.port_u16().unwrap_or(if is_private { 443 } else { 80 });
        Ok(Self { scheme, authority, host, port, tls, protocol: settings.protocol, names: Names::System })
    }

    /// Opens a connection.
    pub(super) async fn open(&self) -> Result<Kept, CallError> {
        match timeout(CONNECT_TIMEOUT, self.connect()).await {
            Ok(done) => done,
            Err(_) => Err(CallError::unavailable(Cause::Connect, &"it does not answer")),
        }
    }

    async fn connect(&self) -> Result<Kept, CallError> {
        let unavailable = |cause, error: io::Error| CallError::unavailable(cause, &error);
        let addresses = self.names.addresses(&self.host, self.port).await;
        let addresses = addresses.map_err(|it| unavailable(Cause::Name, it))?;
        let socket = first_of(&addresses).await.map_err(|it| unavailable(Cause::Connect, it))?;
        socket.set_nodelay(true).map_err(|it| unavailable(Cause::Connect, it))?;
        let (stream, speaks_http2) = match &self.tls {
            None => (Stream::Plain(socket), self.protocol == Protocol::Http2),
            Some((tls, name)) => {
                let stream = tls.connect(name.clone(), socket).await;
                let stream = stream.map_err(|it| unavailable(handshake_cause(&it), it))?;
                let speaks_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                (Stream::Private(Box::new(stream)), speaks_http2 || self.protocol == Protocol::Http2)
            }
        };
        match speaks_http2 {
            true => Http2::begin(stream).await.map(Kept::Http2),
            false => Ok(Kept::Http1(Http1::new(stream))),
        }
    }
}

/// What was in the way of a handshake: a service that hangs up in it may just end, and another try may find its successor.
fn handshake_cause(error: &io::Error) -> Cause {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => Cause::Connection,
        _ => Cause::Encryption,
    }
}

/// Connects to whichever of `addresses` answers first; later ones are tried when those before them fail or take long.
async fn first_of(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut attempts = FuturesUnordered::new();
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        attempts.push(TcpStream::connect(*address));
        match timeout(NEXT_ADDRESS_AFTER, attempts.next()).await {
            Ok(Some(Ok(socket))) => return Ok(socket),
            Ok(Some(Err(error))) => last = error,
            Ok(None) | Err(_) => {}
        }
    }
    while let Some(done) = attempts.next().await {
        match done {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Policy;
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

    #[tokio::test]
    async fn an_address_that_says_nothing_leads_to_the_next() {
        let ((silent, _waiting), (listens, at)) = (silent().await, listener().await);
        let dialer = dialer(vec![vec![silent, at]]);
        let (opened, accepted) = tokio::join!(dialer.open(), listens.accept());
        assert!(opened.is_ok() && accepted.is_ok());
    }

    fn dialer(answers: Vec<Vec<SocketAddr>>) -> Dialer {
        let base = "http://shop.test".parse().unwrap();
        let settings = Settings { base, ca: None, protocol: Protocol::Negotiated, policy: Policy::USUAL };
        Dialer { names: Names::Told(answers.into()), ..Dialer::new(&settings).unwrap() }
    }

    #[tokio::test]
    async fn a_name_is_looked_up_for_each_connection() {
        let ((before, at), (after, then_at)) = (listener().await, listener().await);
        let dialer = dialer(vec![vec![at], vec![then_at]]);
        let (opened, accepted) = tokio::join!(dialer.open(), before.accept());
        assert!(opened.is_ok() && accepted.is_ok());
        let (opened, accepted) = tokio::join!(dialer.open(), after.accept());
        assert!(opened.is_ok() && accepted.is_ok());
    }

    #[tokio::test]
    async fn an_address_that_refuses_leads_to_the_next() {
        let (listens, at) = listener().await;
        let dialer = dialer(vec![vec![refusing().await, at], vec![refusing().await], vec![]]);
        let (opened, accepted) = tokio::join!(dialer.open(), listens.accept());
        assert!(opened.is_ok() && accepted.is_ok());
        for _ in 0..2 {
            let error = dialer.open().await.err();
            assert!(matches!(error, Some(CallError::Unavailable(Cause::Connect, _))), "{error:?}");
        }
    }

    #[test]
    fn a_base_names_a_service() {
        let check = |base: &str, expected: &str| {
            let base = base.parse().unwrap();
            let settings = Settings { base, ca: None, protocol: Protocol::Negotiated, policy: Policy::USUAL };
            let words = Dialer::new(&settings).err().map_or(String::new(), |it| it.to_string());
            assert!(words.ends_with(expected), "{words}");
        };
        check("ftp://shop", "only `http` and `https` are called");
        check("http://ada:secret@shop", "send credentials in a header");
        check("/shop", "it names no scheme");
        check("http://[::1]:8080", "");
    }
}
