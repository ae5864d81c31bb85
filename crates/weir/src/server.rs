//! The server: hyper on one event loop per thread, all on the same port.
//!
//! `worker` accepts connections and `router` finds the handler of a request; both see all folders. Among these, arrows point down
//! only:
//!
//! - `graphql`: the endpoints for clients. `operator`: the pages for operators. Neither knows the other.
//! - `request`: what every handler does with a request: context, authentication, negotiation, body, response.
//! - `connection`: sockets, the guards of HTTP/1.1 and HTTP/2, timeouts, unread bytes.
//! - `telemetry`: counters and logs.
//!
//! **Invariant:** [`Server::stop`] answers everything that was accepted, or says that it could not.

mod connection;
mod graphql;
mod operator;
mod request;
mod router;
mod telemetry;
#[cfg(test)]
mod tests;
mod worker;

/// Decompresses a gzip file to at most `bytes_max` bytes; `None` if it is invalid or larger.
pub(crate) fn unpack_gzip(packed: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    unpack(Coding::Gzip, packed, bytes_max).ok()
}

use crate::generation::Live;
use crate::log_throttle::LogThrottle;
use crate::trace;
use connection::descriptors;
use connection::listener::{ListenerRole, listeners};
use operator::reload;
use request::answer::content_coding::{Coding, unpack};
use request::auth_throttle::AuthThrottle;
use request::context::ServerPhase;
use request::reserved_streams::ReservedStreams;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
pub(crate) use telemetry::log;
pub(crate) use telemetry::metrics::Metrics;
use tokio::sync::watch;
use weir_postgres::replication;
use worker::WorkerSeed;

/// Time for databases to drop slots and publications of replication streams.
const STREAMS_END: Duration = Duration::from_secs(2);

/// A running server.
pub struct Server {
    live: Arc<Live>,
    metrics: Arc<Metrics>,
    phase: watch::Sender<ServerPhase>,
    workers: Vec<JoinHandle<std::io::Result<()>>>,
    listen: SocketAddr,
    admin_listen: Option<SocketAddr>,
}

impl Server {
    /// Listens on the configured addresses and serves on threads of its own.
    /// # Errors
    /// An address cannot be listened on.
    pub fn start(live: Arc<Live>) -> Result<Self, String> {
        let generation = live.current();
        let config = &generation.config;
        config.check()?;
        let metrics = Arc::new(Metrics::new());
        log::start(&config.log, &metrics)?;
        trace::start(&config.tracing, config.is_dev())?;
        generation.findings.log();
        let threads = config.worker_threads();
        let connections_max =
            descriptors::limit_connections(config.limits.connections_max, descriptors::raise_limit());
        if connections_max < config.limits.connections_max as usize {
            tracing::warn!(
                connections_max,
                "the limit of open files allows fewer connections than `limits.connections_max`: raise it (`ulimit -n`)"
            );
        }
        let (listen, public) = listeners(config.listen.0, threads)?;
        let (admin_listen, admin) = match config.admin_listen {
            None => (None, Vec::new()),
            Some(address) => {
                let (address, sockets) = listeners(address.0, threads)?;
                (Some(address), sockets)
            }
        };
        let (phase, _) = watch::channel(ServerPhase::Serving);
        let place = if admin_listen.is_some() { ListenerRole::Public } else { ListenerRole::Only };
        let auth_throttle = Arc::new(AuthThrottle::new());
        let accept_failures = Arc::new(LogThrottle::every_second());
        let ignored_headers = Arc::new(LogThrottle::every_minute());
        let reserved_streams = Arc::new(ReservedStreams::default());
        live.serve_state();
        let mut admin = admin.into_iter();
        let mut workers = Vec::with_capacity(threads);
        for (number, socket) in public.into_iter().enumerate() {
            let listeners =
                std::iter::once((socket, place)).chain(admin.next().map(|it| (it, ListenerRole::Admin)));
            let seed = WorkerSeed {
                live: Arc::clone(&live),
                metrics: Arc::clone(&metrics),
                auth_throttle: Arc::clone(&auth_throttle),
                reserved_streams: Arc::clone(&reserved_streams),
                accept_failures: Arc::clone(&accept_failures),
                ignored_headers: Arc::clone(&ignored_headers),
                phase: phase.subscribe(),
                listeners: listeners.collect(),
                connections_max: connections_max.div_ceil(threads),
                number,
                threads,
            };
            let thread = std::thread::Builder::new().name(format!("weir-{number}"));
            workers
                .push(thread.spawn(move || worker::run(seed)).map_err(|cause| format!("a thread: {cause}"))?);
        }
        live.serve_events();
        Ok(Self { live, metrics, phase, workers, listen, admin_listen })
    }

    /// The address that the server listens on; with port 0 in the configuration, the chosen port.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The operators' address, if it is separate.
    pub fn admin_listen(&self) -> Option<SocketAddr> {
        self.admin_listen
    }

    /// Reads configuration and sources again. An error is logged and the previous generation stays; no request is dropped.
    pub fn reload(&self) {
        // The error is logged; a signal has no recipient for it.
        let _ = reload::reload_and_log(&self.live.turn(), &self.metrics);
    }

    /// The generation in service and its origin.
    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Answers 503 to `/readyz` for `limits.drain_delay_s`, so that load balancers stop sending requests; then closes the listeners,
    /// finishes requests in flight, and ends.
    /// # Errors
    /// A worker failed or panicked.
    pub fn stop(self) -> Result<(), String> {
        self.phase.send_replace(ServerPhase::Leaving);
        std::thread::sleep(Duration::from_secs(self.live.current().config.limits.drain_delay_s.into()));
        self.phase.send_replace(ServerPhase::Draining);
        self.live.stop_events();
        let mut failed = None;
        for worker in self.workers {
            match worker.join() {
                Ok(Ok(())) => {}
                Ok(Err(cause)) => failed = Some(format!("a worker failed: {cause}")),
                Err(_) => failed = Some("a worker panicked".to_string()),
            }
        }
        replication::end_all(Instant::now() + STREAMS_END);
        telemetry::log::drain();
        trace::stop();
        failed.map_or(Ok(()), Err)
    }
}
