//! Autoscaling against a burst: machines that are ordered when the load is measured, and serve once they have booted.
//!
//! The scaler is one that tracks a target: at the end of each period it orders as many machines as would bring the mean
//! utilisation of that period to its target. Measured utilisation ends at 100 %, so a load of three times the capacity
//! looks like one of once; this is why a follower needs several periods.

use super::queue::{Course, Interval, Patience, Queue};
use serde::Serialize;
use std::collections::VecDeque;

/// A burst and the scaler that follows it. Times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// Load before the burst, as a part of the load at its end.
    pub from: f64,
    /// Time in which the load rises, evenly.
    pub over: f64,
    /// Time over which the scaler's metric is a mean; it decides once in each.
    pub period: f64,
    /// Time from a decision to a machine that serves.
    pub boot: f64,
    /// Utilisation that the scaler aims at, from 0 to 1.
    pub target: f64,
    /// Most machines ordered by one decision, as a part of those there are.
    pub growth: f64,
    /// Time after which clients give up.
    pub timeout: f64,
    /// Wait from which on an answer is late.
    pub late: f64,
}

/// Load, machines and queue of a fleet that follows the load, and of one that was ready before it.
#[derive(Clone, Debug, Serialize)]
pub struct ScalingResult {
    /// The fleet that starts at the size for the load before the burst.
    pub following: Course,
    /// The fleet that has the size of the sum from the start.
    pub ahead: Course,
    /// Machines that the following fleet starts with.
    pub machines_before: u64,
    /// Machines of the other one.
    pub machines_ahead: u64,
}

/// The fleet that is tried. Rates in requests per second.
pub(super) struct Fleet {
    pub rate: f64,
    /// Requests per second that one machine answers at full use.
    pub machine: f64,
    /// Machines of the fleet that was ready before.
    pub ahead: u64,
}

const POINTS: usize = 600;

impl Scaling {
    pub(super) fn simulate(&self, fleet: &Fleet) -> ScalingResult {
        let before = (fleet.rate * self.from / fleet.machine / self.target).ceil().max(1.0);
        ScalingResult {
            following: self.course(fleet, before, true),
            ahead: self.course(fleet, fleet.ahead as f64, false),
            machines_before: before as u64,
            machines_ahead: fleet.ahead,
        }
    }

    /// The time that is simulated: a quiet period, the rise, and enough for the scaler to come after it.
    fn horizon(&self) -> f64 {
        self.period + self.over + 6.0 * (self.period + self.boot)
    }

    fn load(&self, fleet: &Fleet, second: f64) -> f64 {
        let risen = if self.over > 0.0 {
            ((second - self.period) / self.over).clamp(0.0, 1.0)
        } else {
            f64::from(second >= self.period)
        };
        fleet.rate * (self.from + (1.0 - self.from) * risen)
    }

    fn course(&self, fleet: &Fleet, start: f64, follows: bool) -> Course {
        let length = (self.horizon() / POINTS as f64).min(self.period / 4.0).max(0.05);
        let steps = (self.horizon() / length).ceil() as usize;
        let mut queue = Queue::new(Patience { timeout: self.timeout, late: self.late });
        let mut scaler = Scaler { serving: start, booting: VecDeque::new(), busy: 0.0, time: 0.0 };
        for index in 0..steps {
            let second = index as f64 * length;
            scaler.boot(second);
            let machines = scaler.serving;
            let capacity = machines * fleet.machine;
            let offered = self.load(fleet, second);
            let used = queue.step(Interval { second, length, offered, astray: 0.0, machines, capacity });
            if follows {
                scaler.observe(self, second + length, length, used);
            }
        }
        queue.finish()
    }
}

/// The scaler while it is simulated.
struct Scaler {
    serving: f64,
    /// Machines ordered, by the second in which they serve.
    booting: VecDeque<(f64, f64)>,
    /// Utilisation times seconds in this period.
    busy: f64,
    time: f64,
}

impl Scaler {
    fn boot(&mut self, second: f64) {
        while self.booting.front().is_some_and(|it| it.0 <= second) {
            self.serving += self.booting.pop_front().map_or(0.0, |it| it.1);
        }
    }

    fn observe(&mut self, scaling: &Scaling, now: f64, length: f64, used: f64) {
        self.busy += used * length;
        self.time += length;
        if self.time + 1e-9 < scaling.period {
            return;
        }
        let mean = self.busy / self.time;
        (self.busy, self.time) = (0.0, 0.0);
        let ordered: f64 = self.booting.iter().map(|it| it.1).sum();
        let needed = (self.serving * mean / scaling.target - 1e-9).ceil() - self.serving - ordered;
        let most = (self.serving * scaling.growth).ceil().max(1.0);
        let order = needed.min(most);
        if order > 0.0 {
            self.booting.push_back((now + scaling.boot, order));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(boot: f64) -> Scaling {
        Scaling {
            from: 0.5,
            over: 120.0,
            period: 60.0,
            boot,
            target: 0.6,
            growth: 1.0,
            timeout: 2.0,
            late: 0.2,
        }
    }

    fn fleet() -> Fleet {
        Fleet { rate: 100_000.0, machine: 1_000.0, ahead: 167 }
    }

    #[test]
    fn a_fleet_that_is_ready_loses_nothing_and_one_that_boots_slowly_does() {
        let slow = burst(300.0).simulate(&fleet());
        assert_eq!(slow.machines_before, 84);
        assert!(slow.ahead.lost == 0.0 && slow.ahead.late == 0.0);
        assert!(slow.following.lost > 0.0, "84 machines answer 84,000 a second, 100,000 come for minutes");
        let end = slow.following.moments.last().expect("moments");
        assert!(end.utilisation < 0.65 && end.wait == 0.0, "it recovers: {end:?}");
        let machines = end.machines;
        assert!(
            (167.0..=250.0).contains(&machines),
            "more than needed, as a full queue looks like load: {machines}"
        );
    }

    #[test]
    fn faster_boots_lose_fewer() {
        let lost = |boot| burst(boot).simulate(&fleet()).following.lost;
        assert!(lost(600.0) > lost(300.0) && lost(300.0) > lost(120.0));
        assert!(lost(1.0) == 0.0, "machines that boot at once keep up with a rise of two minutes");
    }
}
