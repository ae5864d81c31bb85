//! Addresses of a service: looked up periodically, used in turn while they are healthy.
//!
//! A name is looked up before the first call, and again in the background once the answer is no longer fresh: no later call
//! waits for a lookup. If a lookup fails the addresses known so far stay. An address that takes no connections, breaks them,
//! or lets several calls in a row time out is left out for a pause that doubles; then one call finds out how it is.
//!
//! **Invariant:** there is always an address to call: if all are left out, the one whose pause ends first.
//!
//! **Cost:** a call reads the list without a lock and adds one to a counter.

use super::call_error::{CallError, Cause};
use arc_swap::ArcSwapOption;
use futures_util::future::BoxFuture;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Lifetime of a result of the system resolver, which states none.
const FRESH_FOR: Duration = Duration::from_secs(5);

/// Pause after a failed lookup.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Maximum number of addresses used per name.
const ADDRESSES_MAX: usize = 64;

/// Pause after the first failure of an address, in milliseconds; it doubles with each further failure.
const PAUSE_MIN_MS: u64 = 1000;

/// The longest pause.
const PAUSE_MAX_MS: u64 = 30_000;

/// Number of consecutive timeouts of an address that count as a failure.
const TIMEOUTS_MAX: u32 = 3;

/// Resolves host names.
pub trait Lookup: Send + Sync {
    /// The addresses of `host`, each with `port`.
    fn lookup<'l>(&'l self, host: &'l str, port: u16) -> BoxFuture<'l, io::Result<Found>>;
}

/// Result of a lookup.
#[derive(Clone, Debug)]
pub struct Found {
    /// Addresses in the order of the resolver.
    pub addresses: Vec<SocketAddr>,
    /// Lifetime of the result.
    pub fresh_for: Duration,
}

/// The resolver of the operating system.
pub(super) struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup<'l>(&'l self, host: &'l str, port: u16) -> BoxFuture<'l, io::Result<Found>> {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, port)).await?.collect();
            Ok(Found { addresses, fresh_for: FRESH_FOR })
        })
    }
}

/// One address of a service and its recent health.
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    /// Failures since the last answer.
    failures: AtomicU32,
    /// Timeouts since the last answer or failure.
    timeouts: AtomicU32,
    /// When the pause after the last failure ends, in milliseconds after `begun`.
    resumes_ms: AtomicU64,
    begun: Instant,
}

impl Endpoint {
    pub(super) fn new(address: SocketAddr) -> Self {
        let (failures, timeouts, resumes_ms) = Default::default();
        Self { address, failures, timeouts, resumes_ms, begun: Instant::now() }
    }

    fn ms(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.begun).as_millis()).unwrap_or(u64::MAX)
    }

    /// Records an answer: the address is healthy.
    pub(super) fn note_answer(&self) {
        self.timeouts.store(0, Ordering::Relaxed);
        if !self.is_healthy() && self.failures.swap(0, Ordering::Relaxed) > 0 {
            tracing::info!(address = %self.address, "an address of a service answers again");
        }
    }

    /// Records a refused or broken connection. Concurrent failures count once.
    pub(super) fn note_failure(&self, now: Instant, reason: &dyn std::fmt::Display) {
        if self.is_left_out(now) {
            return;
        }
        let failures = self.failures.fetch_add(1, Ordering::Relaxed);
        self.timeouts.store(0, Ordering::Relaxed);
        self.resumes_ms.store(self.ms(now) + pause_ms(failures), Ordering::Relaxed);
        tracing::warn!(address = %self.address, %reason, "an address of a service failed");
    }

    /// Records a timeout of a call.
    pub(super) fn timed_out(&self, now: Instant) {
        if self.timeouts.fetch_add(1, Ordering::Relaxed) + 1 >= TIMEOUTS_MAX {
            self.note_failure(now, &"calls time out");
        }
    }

    fn is_left_out(&self, now: Instant) -> bool {
        !self.is_healthy() && self.left_ms(now) > 0
    }

    /// Time left of the current pause, in milliseconds.
    fn left_ms(&self, now: Instant) -> u64 {
        self.resumes_ms.load(Ordering::Relaxed).saturating_sub(self.ms(now))
    }

    fn is_healthy(&self) -> bool {
        self.failures.load(Ordering::Relaxed) == 0
    }

    /// True for the one call per pause that probes the address again.
    fn begins_trial(&self, now: Instant) -> bool {
        let failures = self.failures.load(Ordering::Relaxed);
        if failures == 0 {
            return false;
        }
        let resumes_ms = self.resumes_ms.load(Ordering::Relaxed);
        let now_ms = self.ms(now);
        let next_ms = now_ms + pause_ms(failures);
        let stored = Ordering::Relaxed;
        let read = Ordering::Relaxed;
        let is_first = now_ms >= resumes_ms
            && self.resumes_ms.compare_exchange(resumes_ms, next_ms, stored, read).is_ok();
        if is_first {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        is_first
    }
}

/// Pause after a failure that follows `earlier` others.
fn pause_ms(earlier: u32) -> u64 {
    (PAUSE_MIN_MS << earlier.min(16)).min(PAUSE_MAX_MS)
}

/// Addresses of one lookup.
struct KnownAddresses {
    endpoints: Vec<Arc<Endpoint>>,
    /// Time of the next lookup; `None` if the host is an address itself.
    stale_at: Option<Instant>,
}

/// The addresses of one service.
pub(super) struct Addresses {
    host: String,
    port: u16,
    lookup: Arc<dyn Lookup>,
    known: ArcSwapOption<KnownAddresses>,
    /// The first lookup; concurrent calls wait for it.
    first: tokio::sync::Mutex<()>,
    is_refreshing: AtomicBool,
    turn: AtomicUsize,
}

impl Addresses {
    pub(super) fn new(host: &str, port: u16, lookup: Arc<dyn Lookup>) -> Arc<Self> {
        let literal = host.parse::<IpAddr>().ok().map(|ip| {
            let endpoints = vec![Arc::new(Endpoint::new((ip, port).into()))];
            Arc::new(KnownAddresses { endpoints, stale_at: None })
        });
        Arc::new(Self {
            host: host.to_owned(),
            port,
            lookup,
            known: ArcSwapOption::from(literal),
            first: tokio::sync::Mutex::new(()),
            is_refreshing: AtomicBool::new(false),
            turn: AtomicUsize::new(0),
        })
    }

    /// Returns the address for the next call, at the instant `now`.
    /// # Errors
    /// The name has no address.
    pub(super) async fn next(self: &Arc<Self>, now: Instant) -> Result<Arc<Endpoint>, CallError> {
        let known = self.known_addresses(now).await?;
        let all = &known.endpoints;
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        if let [only] = all.as_slice() {
            return Ok(Arc::clone(only));
        }
        let healthy = || all.iter().filter(|it| it.is_healthy());
        let tried = all.iter().find(|it| it.begins_trial(now));
        let chosen = tried.or_else(|| match healthy().count() {
            0 => all.iter().min_by_key(|it| it.left_ms(now)),
            count => healthy().nth(turn % count),
        });
        // An endpoint may have failed since the healthy ones were counted.
        chosen.or_else(|| all.first()).map(Arc::clone).ok_or_else(no_address)
    }

    /// `first`, then the other addresses in the order to try them.
    pub(super) fn starting_with(&self, first: &Arc<Endpoint>) -> Vec<Arc<Endpoint>> {
        let mut all = vec![Arc::clone(first)];
        if let Some(known) = &*self.known.load() {
            let others = known.endpoints.iter().filter(|it| it.address != first.address);
            all.extend(others.cloned());
        }
        all[1..].sort_by_key(|it| !it.is_healthy());
        all
    }

    /// Returns the known addresses, and starts a background lookup if they are stale.
    async fn known_addresses(self: &Arc<Self>, now: Instant) -> Result<Arc<KnownAddresses>, CallError> {
        if let Some(known) = self.known.load_full() {
            let is_stale = known.stale_at.is_some_and(|it| now >= it);
            if is_stale && !self.is_refreshing.swap(true, Ordering::AcqRel) {
                let refresh = Refresh(Arc::clone(self));
                tokio::spawn(async move { refresh.run(now).await });
            }
            return Ok(known);
        }
        let _only = self.first.lock().await;
        match self.known.load_full() {
            Some(known) => Ok(known),
            None => self.look_up(now).await,
        }
    }

    /// Looks the name up. Addresses found again keep their health.
    async fn look_up(&self, now: Instant) -> Result<Arc<KnownAddresses>, CallError> {
        let found = self.lookup.lookup(&self.host, self.port).await;
        let Found { mut addresses, fresh_for } =
            found.map_err(|error| CallError::unavailable(Cause::Name, &error))?;
        addresses.truncate(ADDRESSES_MAX);
        let before = self.known.load_full();
        let mut endpoints: Vec<Arc<Endpoint>> = Vec::with_capacity(addresses.len());
        for address in addresses {
            if endpoints.iter().any(|it| it.address == address) {
                continue;
            }
            let known = before.iter().flat_map(|it| &it.endpoints).find(|it| it.address == address);
            endpoints.push(known.map_or_else(|| Arc::new(Endpoint::new(address)), Arc::clone));
        }
        if endpoints.is_empty() {
            return Err(no_address());
        }
        let known = Arc::new(KnownAddresses { endpoints, stale_at: now.checked_add(fresh_for) });
        self.known.store(Some(Arc::clone(&known)));
        Ok(known)
    }
}

fn no_address() -> CallError {
    CallError::unavailable(Cause::Name, &"the name has no address")
}

/// A lookup in the background; dropping it clears `is_refreshing`.
struct Refresh(Arc<Addresses>);

impl Refresh {
    async fn run(&self, now: Instant) {
        let addresses = &self.0;
        let Err(error) = addresses.look_up(now).await else { return };
        tracing::warn!(host = addresses.host, %error, "a name is not found again; its addresses so far are used");
        if let Some(known) = addresses.known.load_full() {
            let endpoints = known.endpoints.clone();
            let stale_at = Some(now + RETRY_AFTER);
            addresses.known.store(Some(Arc::new(KnownAddresses { endpoints, stale_at })));
        }
    }
}

impl Drop for Refresh {
    fn drop(&mut self) {
        self.0.is_refreshing.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Answers each lookup by the next list, and those after the last by nothing.
    struct Listed(Mutex<Vec<Vec<SocketAddr>>>, Duration);

    impl Listed {
        fn new(mut lists: Vec<Vec<SocketAddr>>, fresh_for: Duration) -> Arc<Self> {
            lists.reverse();
            Arc::new(Self(Mutex::new(lists), fresh_for))
        }
    }

    impl Lookup for Listed {
        fn lookup<'l>(&'l self, _: &'l str, _: u16) -> BoxFuture<'l, io::Result<Found>> {
            let addresses = self.0.lock().unwrap().pop();
            let found = addresses.map(|addresses| Found { addresses, fresh_for: self.1 });
            Box::pin(std::future::ready(found.ok_or_else(|| io::Error::other("the resolver is down"))))
        }
    }

    fn at(last: u8) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, last], 80))
    }

    fn of(lists: &[&[u8]], fresh_for: Duration) -> Arc<Addresses> {
        let lists = lists.iter().map(|it| it.iter().map(|last| at(*last)).collect()).collect();
        Addresses::new("shop.test", 80, Listed::new(lists, fresh_for))
    }

    const HOUR: Duration = Duration::from_secs(3600);

    /// A service, by a clock that stands still until it is moved on.
    struct Scene(Arc<Addresses>, Instant);

    impl Scene {
        fn new(lists: &[&[u8]], fresh_for: Duration) -> Self {
            Self(of(lists, fresh_for), Instant::now())
        }

        fn pass(&mut self, ms: u64) {
            self.1 += Duration::from_millis(ms);
        }

        async fn one(&self) -> Arc<Endpoint> {
            self.0.next(self.1).await.unwrap()
        }

        /// The last numbers of the addresses of the next calls.
        async fn next(&self, calls: usize) -> Vec<u8> {
            let mut all = Vec::new();
            for _ in 0..calls {
                let SocketAddr::V4(address) = self.one().await.address else { panic!("IPv6") };
                all.push(address.ip().octets()[3]);
            }
            all
        }

        fn fail(&self, endpoint: &Endpoint) {
            endpoint.note_failure(self.1, &"it refuses");
        }

        /// After so many seconds a call begins a lookup, which is over before the next call.
        async fn look_up_after(&mut self, wait_s: u64) {
            self.pass(wait_s * 1000);
            self.one().await;
            while self.0.is_refreshing.load(Ordering::Acquire) {
                tokio::task::yield_now().await;
            }
        }
    }

    fn count(tried: &[u8], last: u8) -> usize {
        tried.iter().filter(|it| **it == last).count()
    }

    #[tokio::test]
    async fn addresses_are_used_in_turn_and_each_once() {
        assert_eq!(Scene::new(&[&[1, 2, 2, 3]], HOUR).next(6).await, [1, 2, 3, 1, 2, 3]);
        let literal = Addresses::new("::1", 80, Listed::new(Vec::new(), HOUR));
        assert_eq!(literal.next(Instant::now()).await.unwrap().address, "[::1]:80".parse().unwrap());
    }

    #[tokio::test]
    async fn an_address_that_failed_is_left_out_for_a_pause_that_doubles_and_then_tried_once() {
        let mut scene = Scene::new(&[&[1, 2]], HOUR);
        let first = scene.one().await;
        (0..5).for_each(|_| scene.fail(&first));
        for pause_s in [1, 2, 4, 8, 16, 30, 30] {
            scene.pass(pause_s * 1000 - 10);
            assert_eq!(scene.next(3).await, [2, 2, 2], "{pause_s} s are not over");
            scene.pass(20);
            let tried = scene.next(4).await;
            assert_eq!(count(&tried, 1), 1, "{tried:?} after {pause_s} s");
            scene.fail(&first);
        }
        first.note_answer();
        let tried = scene.next(4).await;
        assert_eq!(count(&tried, 1), 2, "{tried:?}");
    }

    #[tokio::test]
    async fn three_timeouts_in_a_row_are_a_failure() {
        let scene = Scene::new(&[&[1, 2]], HOUR);
        let first = scene.one().await;
        for _ in 0..2 {
            first.timed_out(scene.1);
            first.timed_out(scene.1);
            first.note_answer();
        }
        assert_eq!(count(&scene.next(2).await, 1), 1);
        (0..TIMEOUTS_MAX).for_each(|_| first.timed_out(scene.1));
        assert_eq!(scene.next(2).await, [2, 2]);
    }

    #[tokio::test]
    async fn where_all_failed_the_one_whose_pause_ends_first_is_called() {
        let mut scene = Scene::new(&[&[1, 2]], HOUR);
        let first = scene.one().await;
        let second = scene.one().await;
        scene.fail(&second);
        scene.pass(500);
        scene.fail(&first);
        assert_eq!(scene.next(2).await, [2, 2]);
        scene.pass(600);
        assert_eq!(scene.next(3).await, [2, 1, 1], "one call tried the second");
    }

    #[tokio::test]
    async fn a_name_is_looked_up_again_and_keeps_its_addresses_when_that_fails() {
        let mut scene = Scene::new(&[&[1], &[], &[2, 1]], Duration::from_secs(5));
        assert_eq!(scene.next(2).await, [1, 1]);
        scene.look_up_after(5).await;
        assert_eq!(scene.next(2).await, [1, 1], "nothing was found");
        let first = scene.one().await;
        scene.look_up_after(1).await;
        scene.fail(&first);
        assert_eq!(scene.next(3).await, [2, 2, 2]);
        let same = scene.0.starting_with(&scene.one().await).pop().unwrap();
        assert!(Arc::ptr_eq(&same, &first), "what is known of an address stays known");
        scene.look_up_after(5).await;
        scene.fail(&first);
        assert_eq!(scene.next(2).await, [2, 2], "the resolver is down");
    }

    #[tokio::test]
    async fn a_name_without_an_address_is_told() {
        for lists in [&[][..], &[&[][..]]] {
            let error = of(lists, HOUR).next(Instant::now()).await.err();
            assert!(matches!(error, Some(CallError::Unavailable(Cause::Name, _))), "{error:?}");
        }
    }
}
