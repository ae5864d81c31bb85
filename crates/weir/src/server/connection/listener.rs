//! Listening sockets: one per thread on each address, and the errors of an address that cannot be listened on.

use socket2::{Domain, Protocol, Socket, Type};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

/// Connections that may wait to be accepted, per thread.
const BACKLOG: i32 = 1024;

/// Listener of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerRole {
    /// The only one: everything is here.
    Only,
    /// The one for data, beside an admin listener.
    Public,
    /// The one for operators.
    Admin,
}

/// One listening socket per thread on the same address; the kernel spreads connections over them.
pub(crate) fn listeners(
    address: SocketAddr,
    threads: usize,
) -> Result<(SocketAddr, Vec<TcpListener>), String> {
    // Sharing a port is for our own threads: another process on it is found out by a socket that does not share.
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
