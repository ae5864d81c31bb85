//! A fleet as a fluid: requests flow into one queue and out of it at the rate of the machines that are up.
//!
//! **Invariant:** every request offered is served, waiting or lost.

use serde::Serialize;

/// Patience of clients: when they give up, and when an answer is late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Seconds a client waits.
    pub timeout: f64,
    /// Seconds from which on an answer counts as late.
    pub late: f64,
}

/// One point of a simulated course.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Moment {
    /// Seconds since the start.
    pub second: f64,
    /// Requests per second that clients send.
    pub offered: f64,
    /// Requests per second that the machines serving can answer.
    pub capacity: f64,
    /// Machines serving.
    pub machines: f64,
    /// Part of the machines' CPU that is in use, from 0 to 1.
    pub utilisation: f64,
    /// Seconds a request that comes now waits in the queue.
    pub wait: f64,
    /// Requests per second that get no answer.
    pub lost: f64,
}

/// A simulated course and its sums.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Course {
    /// In order of time, at equal distances.
    pub moments: Vec<Moment>,
    /// Requests that were sent.
    pub requests: f64,
    /// Requests without an answer: timed out, or sent to machines that were gone.
    pub lost: f64,
    /// Requests that were answered late.
    pub late: f64,
    /// Longest wait in the queue, in seconds.
    pub worst_wait: f64,
    /// Seconds from the first to the last moment with lost or late requests; 0 without any.
    pub disturbed: f64,
}

/// One step's conditions.
#[derive(Clone, Copy)]
pub(super) struct Interval {
    pub second: f64,
    /// Length of the step in seconds.
    pub length: f64,
    /// Requests per second that clients send.
    pub offered: f64,
    /// Part of them that goes to machines that are gone.
    pub astray: f64,
    pub machines: f64,
    /// Requests per second that the machines can answer.
    pub capacity: f64,
}

/// The queue while it is simulated.
pub(super) struct Queue {
    patience: Patience,
    waiting: f64,
    course: Course,
    disturbed_since: Option<f64>,
}

impl Queue {
    pub(super) fn new(patience: Patience) -> Self {
        Self { patience, waiting: 0.0, course: Course::default(), disturbed_since: None }
    }

    /// Lets one step pass and returns the utilisation during it.
    pub(super) fn step(&mut self, step: Interval) -> f64 {
        let sent = step.offered * step.length;
        let astray = sent * step.astray;
        self.waiting += sent - astray;
        let served = self.waiting.min(step.capacity * step.length);
        self.waiting -= served;
        let most = self.patience.timeout * step.capacity;
        let given_up = (self.waiting - most).max(0.0);
        self.waiting -= given_up;
        let wait = if step.capacity > 0.0 { self.waiting / step.capacity } else { self.patience.timeout };
        let late = if wait > self.patience.late { served } else { 0.0 };
        let utilisation = if step.capacity > 0.0 { served / (step.capacity * step.length) } else { 1.0 };
        let lost = astray + given_up;
        let course = &mut self.course;
        course.requests += sent;
        course.lost += lost;
        course.late += late;
        course.worst_wait = course.worst_wait.max(wait);
        if lost > 0.0 || late > 0.0 {
            let since = *self.disturbed_since.get_or_insert(step.second);
            course.disturbed = step.second + step.length - since;
        }
        course.moments.push(Moment {
            second: step.second,
            offered: step.offered,
            capacity: step.capacity,
            machines: step.machines,
            utilisation,
            wait,
            lost: lost / step.length,
        });
        utilisation
    }

    pub(super) fn finish(self) -> Course {
        self.course
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { timeout: 2.0, late: 0.2 };

    fn run(seconds: u32, offered: f64, capacity: f64) -> (Course, f64) {
        let mut queue = Queue::new(PATIENCE);
        for second in 0..seconds {
            let second = f64::from(second);
            queue.step(Interval { second, length: 1.0, offered, astray: 0.0, machines: 1.0, capacity });
        }
        let course = queue.finish();
        let waiting = course.moments.last().map_or(0.0, |it| it.wait * it.capacity);
        (course, waiting)
    }

    #[test]
    fn a_queue_below_its_capacity_is_empty() {
        let (course, waiting) = run(10, 80.0, 100.0);
        assert!(waiting.abs() < 1e-9 && course.lost == 0.0 && course.late == 0.0);
        assert!((course.moments[9].utilisation - 0.8).abs() < 1e-9);
    }

    #[test]
    fn a_queue_above_its_capacity_fills_up_to_the_patience_and_then_loses_the_surplus() {
        let (course, waiting) = run(30, 150.0, 100.0);
        assert!((course.worst_wait - 2.0).abs() < 1e-9, "{}", course.worst_wait);
        // 4,500 came, 3,000 were served, 200 wait.
        assert!((course.requests - 4_500.0).abs() < 1e-6);
        assert!((course.lost - (4_500.0 - 3_000.0 - waiting)).abs() < 1e-6, "{}", course.lost);
        assert!((waiting - 200.0).abs() < 1e-6);
        assert!((course.disturbed - 30.0).abs() < 1e-9, "the first second ends with half a second of queue");
    }
}
