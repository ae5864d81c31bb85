//! Ports for servers that must be told theirs before they listen, and for those that are not there.

#![allow(unreachable_pub, reason = "a module of tests")]

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that Linux and macOS give to sockets that ask for any, so that no such socket takes one meanwhile. So are the
/// ports of a Redis cluster's own talk, 10,000 above.
const FIRST: u16 = 20_000;
const COUNT: u16 = 2_700;

/// A port on which nobody listens. It is this caller's alone in this process.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Processes that run side by side begin at different places.
    let begin = u16::try_from(std::process::id() % 27).unwrap_or_default() * 100;
    (0..COUNT)
        .map(|_| FIRST + (begin + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT) % COUNT)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a port is free")
}
