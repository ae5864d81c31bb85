//! Addresses of a service: looked up periodically, and called by the power of two choices while they are healthy.
//!
//! A name is looked up before the first call, and again in the background once the answer is no longer fresh: no later call
//! waits for a lookup. If a lookup fails the addresses known so far stay. A call goes to the less busy of two healthy addresses that
//! are drawn at random: unlike turns that spares a slow one, and unlike the least busy of all it does not send every burst to one.
//!
//! **Invariant:** there is always an address to call: if all are left out, the one whose pause ends first.
//!
//! **Cost:** a call reads the list without a lock and adds one to a counter.
//! Source: Mitzenmacher, The Power of Two Choices in Randomized Load Balancing (1996).

use super::call_error::{CallError, Cause};
use super::endpoint::{DRAWS, Endpoint};
use arc_swap::ArcSwapOption;
use futures_util::future::BoxFuture;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Lifetime of a result of the system resolver, which states none.
const FRESH_FOR: Duration = Duration::from_secs(5);

/// Pause after a failed lookup.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Maximum number of addresses used per name.
const ADDRESSES_MAX: usize = 64;

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
    draws: Draws,
}

/// Random numbers that all threads draw.
///
/// Source: Steele and others, Fast Splittable Pseudorandom Number Generators (2014).
struct Draws(AtomicU64);

impl Draws {
    fn draw(&self) -> u64 {
        let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Addresses {
    pub(super) fn new(host: &str, port: u16, lookup: Arc<dyn Lookup>) -> Arc<Self> {
        Self::with_seed(host, port, lookup, fastrand::u64(..))
    }

    /// Like [`Addresses::new`], with draws that follow from `seed`.
    fn with_seed(host: &str, port: u16, lookup: Arc<dyn Lookup>, seed: u64) -> Arc<Self> {
        let now = Instant::now();
        let literal = host.parse::<IpAddr>().ok().map(|ip| {
            let endpoints = vec![Arc::new(Endpoint::new((ip, port).into(), now))];
            Arc::new(KnownAddresses { endpoints, stale_at: None })
        });
        Arc::new(Self {
            host: host.to_owned(),
            port,
            lookup,
            known: ArcSwapOption::from(literal),
            first: tokio::sync::Mutex::new(()),
            is_refreshing: AtomicBool::new(false),
            draws: Draws(AtomicU64::new(seed)),
        })
    }

    /// Returns the address for the next call, at the instant `now`.
    /// # Errors
    /// The name has no address.
    pub(super) async fn next(self: &Arc<Self>, now: Instant) -> Result<Arc<Endpoint>, CallError> {
        let known = self.known_addresses(now).await?;
        let all = &known.endpoints;
        if let [only] = all.as_slice() {
            return Ok(Arc::clone(only));
        }
        let tried = all.iter().find(|it| it.begins_trial(now));
        let chosen = tried.or_else(|| self.choose(all, now));
        let chosen = chosen.or_else(|| all.iter().min_by_key(|it| it.left_ms(now)));
        chosen.map(Arc::clone).ok_or_else(no_address)
    }

    /// The less busy of two healthy addresses; `None` if there is none. One that warms up steps back for the other with a probability
    /// that shrinks.
    fn choose<'e>(&self, all: &'e [Arc<Endpoint>], now: Instant) -> Option<&'e Arc<Endpoint>> {
        let mut healthy = all.iter().filter(|it| it.is_healthy());
        let count = healthy.clone().count();
        let draw = self.draws.draw();
        let place = |bits: u64, count: usize| (bits & 0xffff) as usize % count.max(1);
        let first_at = place(draw, count);
        let second_at = (first_at + 1 + place(draw >> 16, count.saturating_sub(1))) % count.max(1);
        // An endpoint may have failed since the healthy ones were counted.
        let first = healthy.clone().nth(first_at).or_else(|| healthy.next())?;
        let second = healthy.nth(second_at).filter(|it| !Arc::ptr_eq(it, first));
        let Some(second) = second else { return Some(first) };
        let is_second = second.is_less_busy(first, now);
        let less_busy = if is_second { second } else { first };
        let other = if is_second { first } else { second };
        let is_ready = ((draw >> 32) & (DRAWS - 1)) < less_busy.warmth(now);
        Some(if is_ready || other.warmth(now) < DRAWS { less_busy } else { other })
    }

    /// All addresses, looked up if that was not done yet.
    /// # Errors
    /// The name has no address.
    pub(super) async fn all(self: &Arc<Self>, now: Instant) -> Result<Vec<Arc<Endpoint>>, CallError> {
        Ok(self.known_addresses(now).await?.endpoints.clone())
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
        let is_first = before.is_none();
        let mut endpoints: Vec<Arc<Endpoint>> = Vec::with_capacity(addresses.len());
        for address in addresses {
            if endpoints.iter().any(|it| it.address == address) {
                continue;
            }
            let known = before.iter().flat_map(|it| &it.endpoints).find(|it| it.address == address);
            let opened = || {
                let make = if is_first { Endpoint::new } else { Endpoint::joining };
                Arc::new(make(address, now))
            };
            endpoints.push(known.map_or_else(opened, Arc::clone));
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
    use crate::call::endpoint::{EndpointCall, TIMEOUTS_MAX};
    use std::sync::Mutex;
    use weir_engine::source::AddressState;

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
        Addresses::with_seed("shop.test", 80, Listed::new(lists, fresh_for), 7)
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

        /// The address with this last number.
        async fn endpoint(&self, last: u8) -> Arc<Endpoint> {
            let all = self.0.all(self.1).await.unwrap();
            all.into_iter().find(|it| it.address == at(last)).unwrap()
        }

        /// The last numbers of the addresses of the next calls.
        async fn next(&self, calls: usize) -> Vec<u8> {
            let mut all = Vec::new();
            for _ in 0..calls {
                let endpoint = self.one().await;
                all.push(last(&endpoint));
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

        /// Lets `clients` call without a pause for so many milliseconds, where an address takes as long as `latency_ms` says for its last
        /// number; `None` refuses, after which the client calls again in a millisecond. Returns the calls and their latencies.
        async fn run(
            &mut self,
            clients: usize,
            for_ms: u64,
            latency_ms: impl Fn(u8) -> Option<u64>,
        ) -> Vec<(u8, u64)> {
            let mut calls = Vec::new();
            let mut under_way: Vec<Option<(EndpointCall, u64)>> = (0..clients).map(|_| None).collect();
            for _ in 0..for_ms {
                for client in &mut under_way {
                    if let Some((_, left_ms)) = client {
                        *left_ms -= 1;
                    }
                    if let Some((call, _)) = client.take_if(|it| it.1 == 0) {
                        let took_ms = latency_ms(last(call.endpoint())).unwrap_or_default();
                        call.endpoint().note_answer(self.1);
                        call.endpoint().note_latency(self.1, Duration::from_millis(took_ms));
                        calls.push((last(call.endpoint()), took_ms));
                    }
                    if client.is_none() {
                        let endpoint = self.one().await;
                        match latency_ms(last(&endpoint)) {
                            Some(took_ms) => *client = Some((EndpointCall::begin(endpoint), took_ms)),
                            None => {
                                self.fail(&endpoint);
                                calls.push((last(&endpoint), 0));
                            }
                        }
                    }
                }
                self.pass(1);
            }
            calls
        }
    }

    fn last(endpoint: &Endpoint) -> u8 {
        let SocketAddr::V4(address) = endpoint.address else { panic!("IPv6") };
        address.ip().octets()[3]
    }

    fn count(tried: &[u8], last: u8) -> usize {
        tried.iter().filter(|it| **it == last).count()
    }

    /// Percentage of the calls that went to the address with this last number.
    fn share(calls: &[(u8, u64)], last: u8) -> usize {
        calls.iter().filter(|it| it.0 == last).count() * 100 / calls.len()
    }

    #[tokio::test]
    async fn addresses_are_used_alike_and_each_once() {
        let tried = Scene::new(&[&[1, 2, 2, 3]], HOUR).next(3000).await;
        for last in [1, 2, 3] {
            assert!((900..1100).contains(&count(&tried, last)), "{}", count(&tried, last));
        }
        let literal = Addresses::new("::1", 80, Listed::new(Vec::new(), HOUR));
        assert_eq!(literal.next(Instant::now()).await.unwrap().address, "[::1]:80".parse().unwrap());
    }

    #[tokio::test]
    async fn the_one_with_fewer_calls_in_flight_is_called() {
        let scene = Scene::new(&[&[1, 2]], HOUR);
        let call = EndpointCall::begin(scene.endpoint(1).await);
        assert_eq!(scene.next(20).await, [2; 20]);
        let more = [(); 2].map(|()| scene.0.known.load_full().unwrap().endpoints[1].clone());
        let more = more.map(EndpointCall::begin);
        assert_eq!(scene.next(20).await, [1; 20]);
        drop((call, more));
        assert!((5..16).contains(&count(&scene.next(20).await, 1)), "a call that ended counts no more");
    }

    #[tokio::test]
    async fn a_slow_address_gets_few_calls_and_more_once_it_is_fast() {
        let mut scene = Scene::new(&[&[1, 2, 3]], HOUR);
        let slow = |last| Some(if last == 1 { 200 } else { 10 });
        for clients in [2, 16] {
            scene.run(clients, 1000, slow).await;
            let calls = scene.run(clients, 20_000, slow).await;
            assert!(share(&calls, 1) < 1, "{} % of {} calls", share(&calls, 1), calls.len());
            assert!((40..60).contains(&share(&calls, 2)), "{} %", share(&calls, 2));
            let mut latencies: Vec<u64> = calls.iter().map(|it| it.1).collect();
            latencies.sort_unstable();
            assert_eq!(latencies[latencies.len() * 99 / 100], 10, "with {clients} clients");
            assert!(calls.iter().any(|it| it.0 == 1), "it is tried again");
        }
        scene.run(4, 30_000, |_| Some(10)).await;
        let calls = scene.run(4, 1000, |_| Some(10)).await;
        assert!((25..42).contains(&share(&calls, 1)), "{} %", share(&calls, 1));
    }

    #[tokio::test]
    async fn an_address_that_died_costs_few_calls_and_returns_slowly() {
        let mut scene = Scene::new(&[&[1, 2, 3]], HOUR);
        let alive = |_| Some(5);
        scene.run(6, 1000, alive).await;
        let dead = |last| (last != 1).then_some(5);
        let calls = scene.run(6, 15_000, dead).await;
        let failed = calls.iter().filter(|it| it.0 == 1 && it.1 == 0).count();
        assert!((1..=6 + 4).contains(&failed), "{failed}: once each, and after 1, 2, 4 and 8 seconds");
        scene.run(6, 30_000, dead).await;
        // Its pause is 30 seconds by now at most, then one call finds it alive.
        while !scene.endpoint(1).await.is_healthy() {
            scene.run(6, 100, alive).await;
        }
        let mut shares = Vec::new();
        for _ in 0..6 {
            shares.push(share(&scene.run(6, 2000, alive).await, 1));
        }
        assert!(shares[0] < 15 && shares[2] > shares[0] && shares[5] > 25, "{shares:?}");
    }

    #[tokio::test]
    async fn an_address_that_joins_others_gets_its_share_slowly() {
        let mut scene = Scene::new(&[&[1, 2], &[3, 2]], Duration::from_secs(5));
        let alive = |_| Some(5);
        scene.run(6, 100, alive).await;
        scene.look_up_after(5).await;
        let calls = scene.run(6, 1000, alive).await;
        assert_eq!(share(&calls, 1), 0, "the name has it no more");
        assert!((1..30).contains(&share(&calls, 3)), "{} %", share(&calls, 3));
        scene.run(6, 9500, alive).await;
        let calls = scene.run(6, 1000, alive).await;
        assert!((40..60).contains(&share(&calls, 3)), "{} %", share(&calls, 3));
    }

    #[tokio::test]
    async fn an_address_that_failed_is_left_out_for_a_pause_that_doubles_and_then_tried_once() {
        let mut scene = Scene::new(&[&[1, 2]], HOUR);
        let first = scene.endpoint(1).await;
        (0..5).for_each(|_| scene.fail(&first));
        for pause_s in [1, 2, 4, 8, 16, 30, 30] {
            scene.pass(pause_s * 1000 - 10);
            assert_eq!(scene.next(3).await, [2, 2, 2], "{pause_s} s are not over");
            scene.pass(20);
            let tried = scene.next(4).await;
            assert_eq!(count(&tried, 1), 1, "{tried:?} after {pause_s} s");
            scene.fail(&first);
        }
        first.note_answer(scene.1);
        assert_eq!(first.state(scene.1), AddressState::WarmingUp);
        scene.pass(10_000);
        assert_eq!(first.state(scene.1), AddressState::Used);
        let tried = scene.next(100).await;
        assert!((35..65).contains(&count(&tried, 1)), "{tried:?}");
    }

    #[tokio::test]
    async fn a_check_that_connects_ends_the_pause() {
        let scene = Scene::new(&[&[1, 2]], HOUR);
        let first = scene.endpoint(1).await;
        (0..5).for_each(|_| scene.fail(&first));
        assert_eq!((first.state(scene.1), count(&scene.next(9).await, 1)), (AddressState::LeftOut, 0));
        first.note_connection(scene.1);
        assert_eq!(count(&scene.next(9).await, 1), 1, "one call tries it");
    }

    #[tokio::test]
    async fn three_timeouts_in_a_row_are_a_failure() {
        let scene = Scene::new(&[&[1, 2]], HOUR);
        let first = scene.endpoint(1).await;
        for _ in 0..2 {
            first.note_timeout(scene.1);
            first.note_timeout(scene.1);
            first.note_answer(scene.1);
        }
        assert_ne!(count(&scene.next(20).await, 1), 0);
        (0..TIMEOUTS_MAX).for_each(|_| first.note_timeout(scene.1));
        assert_eq!(scene.next(2).await, [2, 2]);
    }

    #[tokio::test]
    async fn where_all_failed_the_one_whose_pause_ends_first_is_called() {
        let mut scene = Scene::new(&[&[1, 2]], HOUR);
        let first = scene.endpoint(1).await;
        let second = scene.endpoint(2).await;
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
