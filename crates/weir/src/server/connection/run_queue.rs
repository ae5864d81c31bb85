//! Load shedding by queue time: while too much waits for a worker, requests of clients are refused as soon as they are seen.
//!
//! Requests queue where connections whose bytes arrived wait for their turn on the worker's thread, first in, first out. *Marks* measure
//! this: a mark is a task with the time at which it joined the queue, so whatever runs before it waited longer than the mark has by then.
//!
//! As in CoDel a burst is no overload: the shortest wait of an interval has to exceed the bound. From then on each request that waited
//! longer than half of the bound is refused, which keeps the queue short but never empty, until none was refused for an interval.
//!
//! **Invariant:** none is refused within an interval of a request that waited no longer than the bound, unless the worker is overloaded
//! already; who is asked about is a request that nothing worked for yet.
//! **Cost:** without a bound, a comparison; with one, a look at the oldest mark, and a task for each sixteenth of the bound in which
//! requests come. An idle worker has none.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Shortest interval over which a wait has to stand. Source: CoDel (RFC 8289), section 4.3.
const INTERVAL_MIN: Duration = Duration::from_millis(100);
/// Marks that are sent within the bound.
const MARKS: u32 = 16;
/// Marks that may wait at once, far more than within a wait that is allowed.
const MARKS_MAX: usize = 1024;

/// Load of a worker, as its requests find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// The last request waited no longer than the bound.
    Calm,
    /// All requests from `since` to `seen` waited longer.
    Standing { since: Instant, seen: Instant },
    /// Requests are refused, the last one at this time.
    Overloaded { refused: Instant },
}

/// Queue of the requests that wait for a worker, measured by marks.
#[derive(Debug)]
pub(crate) struct RunQueue {
    /// Times of the marks in the queue, oldest first.
    marks: RefCell<VecDeque<Instant>>,
    /// Time of the youngest mark.
    marked: Cell<Option<Instant>>,
    load: Cell<Load>,
}

impl RunQueue {
    /// An empty queue.
    pub(crate) fn new() -> Self {
        Self { marks: RefCell::default(), marked: Cell::new(None), load: Cell::new(Load::Calm) }
    }

    /// Time for which the request that runs at `now` waited, and a mark for those behind it.
    pub(crate) fn measure(self: &Rc<Self>, now: Instant, bound: Duration) -> Duration {
        if self.wants_mark(now, bound) {
            self.add_mark(now);
            let queue = Rc::clone(self);
            tokio::task::spawn_local(async move { queue.pass_mark() });
        }
        self.wait(now)
    }

    /// Time for which what runs at `now` waited at least.
    fn wait(&self, now: Instant) -> Duration {
        self.marks.borrow().front().map_or(Duration::ZERO, |it| now.saturating_duration_since(*it))
    }

    /// True if a mark is due.
    fn wants_mark(&self, now: Instant, bound: Duration) -> bool {
        let is_due = self.marked.get().is_none_or(|it| now.saturating_duration_since(it) >= bound / MARKS);
        is_due && self.marks.borrow().len() < MARKS_MAX
    }

    /// Adds a mark at the end of the queue.
    fn add_mark(&self, now: Instant) {
        self.marked.set(Some(now));
        self.marks.borrow_mut().push_back(now);
    }

    /// Takes the mark whose turn it is.
    fn pass_mark(&self) {
        self.marks.borrow_mut().pop_front();
    }

    /// True if a request that waited for `wait` at `now` has to be refused.
    pub(crate) fn refuses(&self, wait: Duration, now: Instant, bound: Duration) -> bool {
        let interval = bound.max(INTERVAL_MIN);
        let is_recent = |it: Instant| now.saturating_duration_since(it) < interval;
        let load = match self.load.get() {
            Load::Overloaded { .. } if wait > bound / 2 => Load::Overloaded { refused: now },
            Load::Overloaded { refused } if is_recent(refused) => return false,
            Load::Calm | Load::Standing { .. } | Load::Overloaded { .. } if wait <= bound => Load::Calm,
            // Nobody knows what waited meanwhile.
            Load::Standing { seen, .. } if !is_recent(seen) => Load::Standing { since: now, seen: now },
            Load::Standing { since, .. } if is_recent(since) => Load::Standing { since, seen: now },
            Load::Standing { .. } => Load::Overloaded { refused: now },
            Load::Calm | Load::Overloaded { .. } => Load::Standing { since: now, seen: now },
        };
        self.load.set(load);
        load == Load::Overloaded { refused: now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Duration = Duration::from_millis(200);

    /// Asks about requests that come at these milliseconds and waited these; the times at which they are refused.
    fn refusals(
        queue: &RunQueue,
        began: Instant,
        requests: impl IntoIterator<Item = (u64, u64)>,
    ) -> Vec<u64> {
        let ms = Duration::from_millis;
        let is_refused = |(at, wait): &(u64, u64)| queue.refuses(ms(*wait), began + ms(*at), BOUND);
        requests.into_iter().filter(is_refused).map(|it| it.0).collect()
    }

    fn check(requests: &[(u64, u64)], expected: &[u64]) {
        let found = refusals(&RunQueue::new(), Instant::now(), requests.iter().copied());
        assert_eq!(found, expected, "{requests:?}");
    }

    #[test]
    fn a_wait_that_stands_for_an_interval_is_an_overload() {
        check(&[(0, 201), (100, 900), (199, 900), (200, 201), (210, 500)], &[200, 210]);
    }

    #[test]
    fn a_burst_is_no_overload() {
        check(&[(0, 900), (100, 900), (150, 200), (210, 900), (409, 900)], &[]);
    }

    #[test]
    fn a_pause_without_requests_is_no_overload() {
        check(&[(0, 900), (5000, 900), (5100, 900)], &[]);
    }

    #[test]
    fn an_overloaded_worker_keeps_the_queue_at_half_of_the_bound() {
        check(
            &[(0, 300), (150, 300), (200, 300), (210, 101), (220, 100), (230, 99), (240, 101)],
            &[200, 210, 240],
        );
    }

    #[test]
    fn an_overload_ends_after_an_interval_without_refusals() {
        let overload = [(0, 300), (150, 300), (200, 300)];
        check(&[overload.as_slice(), &[(399, 50), (400, 50), (410, 150), (420, 900)]].concat(), &[200]);
        check(&[overload.as_slice(), &[(399, 101), (598, 50), (610, 101)]].concat(), &[200, 399, 610]);
    }

    #[test]
    fn a_short_bound_stands_for_a_tenth_of_a_second() {
        let queue = RunQueue::new();
        let began = Instant::now();
        let ms = Duration::from_millis;
        let is_refused = |at| queue.refuses(ms(2), began + ms(at), ms(1));
        assert_eq!([0, 50, 99, 100].map(is_refused), [false, false, false, true]);
    }

    #[test]
    fn what_runs_before_a_mark_waited_longer_than_it() {
        let queue = RunQueue::new();
        let began = Instant::now();
        let ms = Duration::from_millis;
        assert_eq!(queue.wait(began), Duration::ZERO);
        queue.add_mark(began);
        queue.add_mark(began + ms(20));
        assert_eq!(queue.wait(began + ms(30)), ms(30));
        queue.pass_mark();
        assert_eq!(queue.wait(began + ms(30)), ms(10));
        queue.pass_mark();
        assert_eq!(queue.wait(began + ms(30)), Duration::ZERO);
    }

    #[test]
    fn marks_are_bounded() {
        let queue = RunQueue::new();
        let began = Instant::now();
        for at in 0..100_000 {
            let now = began + Duration::from_millis(at);
            if queue.wants_mark(now, BOUND) {
                queue.add_mark(now);
            }
        }
        assert_eq!(queue.marks.borrow().len(), MARKS_MAX);
        assert_eq!(queue.wait(began + ms_of(100_000)), ms_of(100_000));
    }

    fn ms_of(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn marks_are_a_sixteenth_of_the_bound_apart() {
        let queue = RunQueue::new();
        let began = Instant::now();
        let adds = |at_us: u64| {
            let now = began + Duration::from_micros(at_us);
            let wants = queue.wants_mark(now, BOUND);
            if wants {
                queue.add_mark(now);
            }
            wants
        };
        assert_eq!([0, 1, 12_499, 12_500, 12_501, 25_000].map(adds), [true, false, false, true, false, true]);
    }

    #[test]
    fn what_came_before_others_runs_before_their_mark() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let queue = Rc::new(RunQueue::new());
            let began = Instant::now();
            assert_eq!(queue.measure(began, BOUND), Duration::ZERO);
            let later = Rc::clone(&queue);
            let behind = tokio::task::spawn_local(async move { later.wait(began + BOUND) });
            assert_eq!(queue.wait(began + BOUND), BOUND, "the mark is in the queue");
            assert_eq!(behind.await.expect("it runs"), Duration::ZERO, "the mark has passed");
        });
    }
}
