//! The server: hyper on one event loop per thread, all on the same port.
//!
//! The file list is the way of a request: `worker` accepts, `clock`, `io`, `heads` and `http2` watch the connection, `route`
//! finds the page, `graphql` and `hasura` speak the two accents (`negotiate`, `receive`, `encode`), `socket` WebSockets, `finish`
//! completes the head.
//!
//! **Invariant:** [`Server::stop`] answers everything that was accepted, or says that it could not.

mod admin;
mod auth;
mod body;
mod cached;
mod client;
mod clock;
mod console;
mod cors;
mod encode;
mod exchange;
#[cfg(test)]
mod faults;
mod finish;
mod graphql;
#[cfg(test)]
mod guards;
mod guesses;
mod hasura;
mod heads;
mod health;
mod http2;
mod io;
mod lifetime;
mod log;
mod metrics;
mod negotiate;
mod receive;
mod route;
mod schema;
mod socket;
mod tls;
mod unread;
mod worker;

pub(crate) use cors::Cors;
pub(crate) use health::Readiness;
pub(crate) use tls::acceptor;

/// The plain form of a gzip file, at most `bytes_max` bytes; nothing if it is broken or longer.
pub(crate) fn unpack_gzip(packed: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    encode::unpack(encode::Coding::Gzip, packed, bytes_max).ok()
}

use crate::generation::{Live, Turn};
use guesses::Guesses;
use metrics::Metrics;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;
use worker::{Phase, Place, Seed};

/// Connections that may wait to be accepted, per thread.
const BACKLOG: i32 = 1024;

/// A running server.
pub struct Server {
    live: Arc<Live>,
    metrics: Arc<Metrics>,
    phase: watch::Sender<Phase>,
    workers: Vec<JoinHandle<std::io::Result<()>>>,
    listen: SocketAddr,
    admin_listen: Option<SocketAddr>,
}

impl Server {
    /// Listens on what the current generation's configuration says and serves from threads of its own.
    /// # Errors
    /// An address that cannot be listened on, in words for the operator.
    pub fn start(live: Arc<Live>) -> Result<Self, String> {
        let generation = live.current();
        let config = &generation.config;
        config.check()?;
        let metrics = Arc::new(Metrics::new());
        log::start(&config.log, &metrics)?;
        generation.findings.log();
        let threads = config.worker_threads();
        let (listen, public) = listeners(config.listen.0, threads)?;
        let (admin_listen, admin) = match config.admin_listen {
            None => (None, Vec::new()),
            Some(address) => {
                let (address, sockets) = listeners(address.0, threads)?;
                (Some(address), sockets)
            }
        };
        let (phase, _) = watch::channel(Phase::Serving);
        let place = if admin_listen.is_some() { Place::Public } else { Place::Only };
        let (guesses, accept_failures) = (Arc::new(Guesses::new()), Arc::new(log::Seldom::new()));
        let mut admin = admin.into_iter();
        let mut workers = Vec::with_capacity(threads);
        for (number, socket) in public.into_iter().enumerate() {
            let listeners = std::iter::once((socket, place)).chain(admin.next().map(|it| (it, Place::Admin)));
            let seed = Seed {
                live: Arc::clone(&live),
                metrics: Arc::clone(&metrics),
                guesses: Arc::clone(&guesses),
                accept_failures: Arc::clone(&accept_failures),
                phase: phase.subscribe(),
                listeners: listeners.collect(),
                connections_max: (config.limits.connections_max as usize).div_ceil(threads),
                number,
                threads,
            };
            let thread = std::thread::Builder::new().name(format!("weir-{number}"));
            workers
                .push(thread.spawn(move || worker::run(seed)).map_err(|cause| format!("a thread: {cause}"))?);
        }
        Ok(Self { live, metrics, phase, workers, listen, admin_listen })
    }

    /// The address that the server listens on; with port 0 in the configuration, the chosen port.
    #[must_use]
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The operators' address, if it is a separate one.
    #[must_use]
    pub fn admin_listen(&self) -> Option<SocketAddr> {
        self.admin_listen
    }

    /// Reads the configuration and inspects the sources again. What cannot be taken over is logged and the generation
    /// before goes on; no request is dropped either way.
    pub fn reload(&self) {
        // It is logged; a signal has nobody to tell.
        let _ = reload(&self.live.turn(), &self.metrics);
    }

    /// The state that serves.
    #[must_use]
    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Answers 503 to `/readyz` for `limits.drain_delay_s`, so that whoever spreads requests sends no more; then takes no
    /// more connections, answers what is in flight, and ends.
    /// # Errors
    /// A worker that failed or panicked.
    pub fn stop(self) -> Result<(), String> {
        self.phase.send_replace(Phase::Leaving);
        std::thread::sleep(Duration::from_secs(self.live.current().config.limits.drain_delay_s.into()));
        self.phase.send_replace(Phase::Draining);
        let mut failed = None;
        for worker in self.workers {
            match worker.join() {
                Ok(Ok(())) => {}
                Ok(Err(cause)) => failed = Some(format!("a worker failed: {cause}")),
                Err(_) => failed = Some("a worker panicked".to_string()),
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

/// Reloads, logs and counts it.
fn reload(turn: &Turn<'_>, metrics: &Metrics) -> Result<u64, String> {
    let made = turn.reload();
    match &made {
        Ok(number) => {
            metrics.reloads.inc();
            turn.current().findings.log();
            tracing::info!(generation = number, "the configuration was taken over");
        }
        Err(message) => {
            metrics.reload_failures.inc();
            tracing::error!("the configuration was not taken over, the one before serves on: {message}");
        }
    }
    made
}

/// One listening socket per thread on the same address; the kernel spreads connections over them.
fn listeners(address: SocketAddr, threads: usize) -> Result<(SocketAddr, Vec<TcpListener>), String> {
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
