//! Loss of a zone: which requests fail until health checks and DNS have turned clients away, and what the machines that
//! remain have to carry.

use super::queue::{Course, Interval, Patience, Queue};
use serde::Serialize;

/// Detection of a loss. Times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct ZoneLoss {
    /// Time until health checks take the zone's machines out.
    pub detect: f64,
    /// Lifetime of DNS answers; clients that hold an address of the zone keep it until it expires. 0 where balancers
    /// stand outside the zones.
    pub ttl: f64,
    /// Time after which clients give up.
    pub timeout: f64,
    /// Wait from which on an answer is late.
    pub late: f64,
}

/// The fleet that loses zones. Rates in requests per second.
pub(super) struct ZonedFleet {
    pub rate: f64,
    pub machine: f64,
    pub machines: u64,
    pub zones: u64,
    pub lost: u64,
}

/// Seconds before the loss.
const BEFORE: f64 = 10.0;

impl ZoneLoss {
    pub(super) fn simulate(&self, fleet: &ZonedFleet) -> Course {
        let gone = fleet.lost as f64 / fleet.zones as f64;
        let horizon = BEFORE + 2.0 * (self.detect + self.ttl) + 20.0;
        let length = (horizon / 600.0).max(0.05);
        let mut queue = Queue::new(Patience { timeout: self.timeout, late: self.late });
        for index in 0..(horizon / length).ceil() as usize {
            let second = index as f64 * length;
            let machines = fleet.machines as f64 * if second < BEFORE { 1.0 } else { 1.0 - gone };
            queue.step(Interval {
                second,
                length,
                offered: fleet.rate,
                astray: gone * self.misdirected_share(second - BEFORE),
                machines,
                capacity: machines * fleet.machine,
            });
        }
        queue.finish()
    }

    /// Share of the zone's clients that still use it `since` seconds after the loss. DNS answers expire evenly over their lifetime, as
    /// clients have asked at different times.
    fn misdirected_share(&self, since: f64) -> f64 {
        if since < 0.0 {
            0.0
        } else if since < self.detect {
            1.0
        } else if since < self.detect + self.ttl {
            1.0 - (since - self.detect) / self.ttl
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_fail_until_the_loss_is_known_and_addresses_have_expired() {
        let loss = ZoneLoss { detect: 30.0, ttl: 60.0, timeout: 2.0, late: 0.2 };
        let fleet = ZonedFleet { rate: 900.0, machine: 10.0, machines: 150, zones: 3, lost: 1 };
        let course = loss.simulate(&fleet);
        // 300 a second for 30 s, and half of them for 60 s.
        let expected = 300.0 * 30.0 + 300.0 * 30.0;
        assert!((course.lost - expected).abs() < expected * 0.02, "{}", course.lost);
        assert!(course.late == 0.0);
        let end = course.moments.last().expect("moments");
        assert!((end.utilisation - 0.9).abs() < 1e-9, "100 machines answer 1,000 a second: {end:?}");
    }

    #[test]
    fn a_fleet_without_room_for_the_loss_goes_on_losing() {
        let loss = ZoneLoss { detect: 1.0, ttl: 0.0, timeout: 2.0, late: 0.2 };
        let fleet = ZonedFleet { rate: 900.0, machine: 10.0, machines: 100, zones: 2, lost: 1 };
        let end = *loss.simulate(&fleet).moments.last().expect("moments");
        assert!((end.lost - 400.0).abs() < 1.0 && end.utilisation == 1.0, "{end:?}");
    }
}
