//! Sockets that listen, one per thread and address, with readable errors; and options of accepted sockets.

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::Duration;

/// Backlog of unaccepted connections per thread.
const BACKLOG: i32 = 1024;

/// Limit of unsent bytes that the kernel buffers beyond the client's window. The default is megabytes: slow readers would exhaust the
/// kernel's memory for all connections, and subscribers would receive outdated results.
#[cfg(target_os = "linux")]
const UNSENT_BYTES_MAX: u32 = 128 * 1024;

/// Role of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerRole {
    /// The only listener.
    Only,
    /// The listener for clients, beside an admin listener.
    Public,
    /// The listener for operators.
    Admin,
}

/// Opens one listening socket per thread on the same address; the kernel distributes connections.
pub(crate) fn listeners(
    address: SocketAddr,
    threads: usize,
) -> Result<(SocketAddr, Vec<TcpListener>), String> {
    // `SO_REUSEPORT` is for our own threads. A test bind without it detects other processes on the port.
    if address.port() != 0 {
        drop(listener(address, false).map_err(|cause| words(address, &cause))?);
    }
    let first = listener(address, true).map_err(|cause| words(address, &cause))?;
    let found = first.local_addr().map_err(|cause| words(address, &cause))?;
    let mut all = vec![first];
    while all.len() < threads {
        all.push(listener(found, true).map_err(|cause| words(found, &cause))?);
    }
    Ok((found, all))
}

fn listener(address: SocketAddr, shared: bool) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Sets options of an accepted socket. Failures are ignored.
pub(crate) fn prepare(socket: &impl AsFd, write_timeout: Duration) {
    let socket = SockRef::from(socket);
    // Disable Nagle's algorithm.
    let _ = socket.set_tcp_nodelay(true);
    // Detects a vanished peer: keep-alive messages fit into the send buffer, so writes succeed, and TCP itself retries for a quarter of an
    // hour.
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(write_timeout));
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
    #[cfg(not(target_os = "linux"))]
    let _ = write_timeout;
}

fn words(address: SocketAddr, cause: &std::io::Error) -> String {
    let way_out = match cause.kind() {
        ErrorKind::AddrInUse => {
            "; another program listens there: stop it or choose another address with --listen"
        }
        ErrorKind::PermissionDenied => "; ports below 1024 need a privilege: choose a higher one",
        ErrorKind::AddrNotAvailable => "; this machine has no such address",
        _ => "",
    };
    format!("cannot listen on {address}: {cause}{way_out}")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpStream;

    #[test]
    fn a_client_that_does_not_read_is_held_little() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let client = TcpStream::connect(listener.local_addr().expect("it listens")).expect("it accepts");
        SockRef::from(&client).set_recv_buffer_size(4096).expect("it is TCP");
        let (mut accepted, _) = listener.accept().expect("there is one");
        prepare(&accepted, Duration::from_secs(30));
        accepted.set_nonblocking(true).expect("it is a socket");
        let mut held = 0;
        while let Ok(count) = accepted.write(&[0; 10_000]) {
            held += count;
        }
        assert!(held < 1_000_000, "{held} bytes");
    }

    #[test]
    fn an_accepted_socket_ends_when_its_peer_acknowledges_nothing_for_the_write_timeout() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let _client = TcpStream::connect(listener.local_addr().expect("it listens")).expect("it accepts");
        let (accepted, _) = listener.accept().expect("there is one");
        prepare(&accepted, Duration::from_secs(30));
        let socket = SockRef::from(&accepted);
        assert_eq!(socket.tcp_user_timeout().expect("it is TCP"), Some(Duration::from_secs(30)));
        assert!(socket.tcp_nodelay().expect("it is TCP"));
    }
}
