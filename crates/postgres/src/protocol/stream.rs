//! A way to a server: TCP, a Unix socket, or TLS over TCP.

use crate::address::Host;
use rustls_pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// When a silent connection is asked whether it lives, and how often then.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_AGAIN: Duration = Duration::from_secs(10);

/// A server that refuses a connection in words has so long to end them.
const DRAIN_MAX: Duration = Duration::from_millis(100);

/// Asks for TLS. Source: the manual of PostgreSQL, "Message Formats", SSLRequest.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Bytes to and from a server.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Address that a server name resolved to, so that a cancel request goes to the same server.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    place: Place,
    name: String,
}

#[derive(Clone, Debug)]
enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// Encryption of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    Never,
    IfOffered,
    Always,
}

/// All addresses of a host.
pub(crate) async fn resolve(host: &Host) -> io::Result<Vec<Address>> {
    match host {
        Host::Unix(path) => Ok(vec![Address { place: Place::Unix(path.clone()), name: String::new() }]),
        Host::Tcp { name, port } => {
            let found = tokio::net::lookup_host((name.as_str(), *port)).await?;
            Ok(found.map(|it| Address { place: Place::Tcp(it), name: name.clone() }).collect())
        }
    }
}

impl Address {
    /// Connects, and encrypts as asked.
    pub(crate) async fn connect(
        &self,
        encryption: Encryption,
        tls: Option<&TlsConnector>,
    ) -> io::Result<Stream> {
        let mut tcp = match &self.place {
            Place::Unix(path) => return UnixStream::connect(path).await.map(Stream::Unix),
            Place::Tcp(address) => TcpStream::connect(address).await?,
        };
        tcp.set_nodelay(true)?;
        let keepalive = socket2::TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE_AGAIN);
        socket2::SockRef::from(&tcp).set_tcp_keepalive(&keepalive)?;
        let Some(tls) = tls.filter(|_| encryption != Encryption::Never) else { return Ok(Stream::Tcp(tcp)) };
        tcp.write_all(&TLS_REQUEST).await?;
        // Read exactly one byte: bytes that follow it before the handshake would not be encrypted.
        match (tcp.read_u8().await?, encryption) {
            (b'S', _) => {
                let name = ServerName::try_from(self.name.clone()).map_err(io::Error::other)?;
                Ok(Stream::Tls(Box::new(tls.connect(name, tcp).await?)))
            }
            (b'N', Encryption::IfOffered) => Ok(Stream::Tcp(tcp)),
            (b'N', _) => Err(io::Error::other("the server does not offer TLS")),
            _ => {
                // A socket that is closed before all is read resets the connection, which servers of one connection take badly.
                let _ = tokio::time::timeout(DRAIN_MAX, drain(&mut tcp)).await;
                Err(io::Error::other("the server answers the question for TLS wrongly"))
            }
        }
    }

    /// True for TCP: local sockets are never encrypted.
    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.place, Place::Tcp(_))
    }
}

/// Reads away the end of what a server says before it hangs up.
async fn drain(tcp: &mut TcpStream) -> io::Result<()> {
    let mut rest = [0; 1024];
    tcp.shutdown().await?;
    while tcp.read(&mut rest).await? > 0 {}
    Ok(())
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(it) => Pin::new(it).poll_read(context, buffer),
            Self::Unix(it) => Pin::new(it).poll_read(context, buffer),
            Self::Tls(it) => Pin::new(it).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(it) => Pin::new(it).poll_write(context, bytes),
            Self::Unix(it) => Pin::new(it).poll_write(context, bytes),
            Self::Tls(it) => Pin::new(it).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(it) => Pin::new(it).poll_flush(context),
            Self::Unix(it) => Pin::new(it).poll_flush(context),
            Self::Tls(it) => Pin::new(it).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(it) => Pin::new(it).poll_shutdown(context),
            Self::Unix(it) => Pin::new(it).poll_shutdown(context),
            Self::Tls(it) => Pin::new(it).poll_shutdown(context),
        }
    }
}
