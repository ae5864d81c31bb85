//! Counts wrong secrets per address, to prevent guessing.
//!
//! An address has a slot by a keyed hash of it; some share one, which makes them patient together. Each slot holds the time
//! at which its debt is paid (the generic cell rate algorithm): one number, no list of addresses to grow.
//!
//! **Invariant:** bounded memory, for any number of callers. **Cost:** one lookup per request that needs a secret.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Number of slots, which take 32 KB.
const SLOTS: usize = 4096;
/// Nanoseconds of a minute.
const MINUTE_NS: u64 = 60_000_000_000;

/// Wrong secrets of the last minute, by address.
#[derive(Debug)]
pub(crate) struct AuthThrottle {
    paid_at_ns: Box<[AtomicU64]>,
    keyed: RandomState,
    started: Instant,
}

impl AuthThrottle {
    /// Creates a throttle without counts.
    pub(crate) fn new() -> Self {
        let paid_at_ns = (0..SLOTS).map(|_| AtomicU64::new(0)).collect();
        Self { paid_at_ns, keyed: RandomState::new(), started: Instant::now() }
    }

    /// True if `address` reached the limit; `per_minute` 0 means no limit.
    pub(crate) fn are_too_many(&self, address: IpAddr, per_minute: u32) -> bool {
        self.are_too_many_at(address, per_minute, self.now_ns())
    }

    /// Counts a wrong secret of `address`.
    pub(crate) fn note(&self, address: IpAddr, per_minute: u32) {
        self.note_at(address, per_minute, self.now_ns());
    }

    fn are_too_many_at(&self, address: IpAddr, per_minute: u32, now_ns: u64) -> bool {
        let Some(each_ns) = MINUTE_NS.checked_div(u64::from(per_minute)) else { return false };
        self.slot(address).load(Ordering::Relaxed) > now_ns + (MINUTE_NS - each_ns)
    }

    fn note_at(&self, address: IpAddr, per_minute: u32, now_ns: u64) {
        let Some(each_ns) = MINUTE_NS.checked_div(u64::from(per_minute)) else { return };
        let paid = |paid_ns: u64| Some(paid_ns.max(now_ns) + each_ns);
        // The closure always returns a value, so this cannot fail.
        let _ = self.slot(address).fetch_update(Ordering::Relaxed, Ordering::Relaxed, paid);
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX / 2)
    }

    /// IPv6 addresses are counted per /64, which a single customer owns.
    fn slot(&self, address: IpAddr) -> &AtomicU64 {
        let key = match address.to_canonical() {
            IpAddr::V4(it) => u64::from(it.to_bits()),
            IpAddr::V6(it) => (it.to_bits() >> 64) as u64,
        };
        &self.paid_at_ns[self.keyed.hash_one(key) as usize % SLOTS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes wrong secrets at these seconds and looks at second `at`.
    fn check(per_minute: u32, wrong_at_s: &[u64], at: u64, expected: bool) {
        let auth_throttle = AuthThrottle::new();
        let address = IpAddr::from([10, 0, 0, 1]);
        let ns = |s: u64| s * 1_000_000_000;
        wrong_at_s.iter().for_each(|it| auth_throttle.note_at(address, per_minute, ns(*it)));
        assert_eq!(
            auth_throttle.are_too_many_at(address, per_minute, ns(at)),
            expected,
            "{wrong_at_s:?} at {at}"
        );
    }

    #[test]
    fn so_many_a_minute_are_let_through() {
        check(3, &[0, 0], 0, false);
        check(3, &[0, 0, 0], 0, true);
        check(3, &[0, 0, 0], 19, true);
        check(3, &[0, 0, 0], 20, false);
        check(3, &[0, 0, 0, 20], 21, true);
    }

    #[test]
    fn zero_is_no_limit() {
        check(0, &[0; 100], 0, false);
    }

    #[test]
    fn neighbours_of_one_network_share_their_patience() {
        let auth_throttle = AuthThrottle::new();
        let [one, other] = ["2001:db8::1", "2001:db8::2"].map(|it| it.parse().expect("an address"));
        auth_throttle.note_at(one, 1, 0);
        assert!(auth_throttle.are_too_many_at(other, 1, 0));
        // Two networks share a slot once in four thousand times, eight of them hardly ever.
        let patient = (0..8).filter(|it| auth_throttle.are_too_many_at(IpAddr::from([10, 0, 0, *it]), 1, 0));
        assert!(patient.count() < 8);
    }
}
