//! A few threads for statements that may take long, so that the event loop never waits for one.
//!
//! A job that waits for a slow reader of its answer steps aside ([`Turns`]): as many more threads may then work as wait,
//! so that clients who read nothing stop nobody else.
//!
//! **Invariant:** at most [`JOBS_MAX`] jobs wait; more are refused at once. At most [`ASIDE_MAX`] jobs stand aside. Threads
//! end with the pool.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum length of the queue.
const JOBS_MAX: usize = 1024;
/// Maximum number of jobs that wait for readers, beside those that run.
const ASIDE_MAX: usize = 64;
/// Time that a stand-in thread waits for another job.
const STAND_IN: Duration = Duration::from_secs(2);

/// Work for a thread.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The pool.
#[derive(Debug)]
pub(super) struct Pool {
    queue: Arc<Queue>,
}

struct Queue {
    name: String,
    state: Mutex<State>,
    filled: Condvar,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Queue")
    }
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    closed: bool,
    /// Threads that wait for a job.
    idle: usize,
    /// Jobs that stand aside.
    aside: usize,
    /// Threads that stand in.
    stand_ins: usize,
}

/// Lets a job of the pool step aside.
#[derive(Clone, Debug)]
pub(super) struct Turns(Arc<Queue>);

/// Ends a job's standing aside.
pub(super) struct Aside<'q>(&'q Queue);

impl Turns {
    /// Makes room for another job while this one waits; `None` if too many stand aside already.
    pub(super) fn step_aside(&self) -> Option<Aside<'_>> {
        let mut state = self.0.lock();
        if state.aside >= ASIDE_MAX {
            return None;
        }
        state.aside += 1;
        stand_in(&self.0, state);
        Some(Aside(&self.0))
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        self.0.lock().aside -= 1;
    }
}

/// Starts a thread if jobs wait for those that stand aside.
fn stand_in(queue: &Arc<Queue>, mut state: MutexGuard<'_, State>) {
    if state.jobs.len() <= state.idle || state.stand_ins >= state.aside {
        return;
    }
    state.stand_ins += 1;
    drop(state);
    let own = Arc::clone(queue);
    let started =
        std::thread::Builder::new().name(format!("{}-more", queue.name)).spawn(move || own.work(true));
    if started.is_err() {
        // The machine has no thread left: the jobs wait for those that there are.
        queue.lock().stand_ins -= 1;
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job; `None` when the thread is to end.
    fn next(&self, stands_in: bool) -> Option<Job> {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed || (stands_in && waited) {
                state.stand_ins -= usize::from(stands_in);
                return None;
            }
            state.idle += 1;
            state = if stands_in {
                let woken = self.filled.wait_timeout(state, STAND_IN);
                woken.unwrap_or_else(PoisonError::into_inner).0
            } else {
                self.filled.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
            state.idle -= 1;
            waited = true;
        }
    }

    fn work(&self, stands_in: bool) {
        while let Some(job) = self.next(stands_in) {
            // A job that panics answers nobody, which its caller sees; the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    }
}

impl Pool {
    /// Starts `threads` threads.
    pub(super) fn new(name: &str, threads: usize) -> std::io::Result<Self> {
        let queue = Queue { name: name.into(), state: Mutex::default(), filled: Condvar::new() };
        let pool = Self { queue: Arc::new(queue) };
        for at in 0..threads.max(1) {
            let queue = Arc::clone(&pool.queue);
            std::thread::Builder::new().name(format!("{name}-{at}")).spawn(move || queue.work(false))?;
        }
        Ok(pool)
    }

    /// For jobs that may have to wait.
    pub(super) fn turns(&self) -> Turns {
        Turns(Arc::clone(&self.queue))
    }

    /// Queues `job`; `false` if too many wait.
    #[must_use]
    pub(super) fn submit(&self, job: Job) -> bool {
        let mut state = self.queue.lock();
        if state.jobs.len() >= JOBS_MAX {
            return false;
        }
        state.jobs.push_back(job);
        self.queue.filled.notify_one();
        stand_in(&self.queue, state);
        true
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.filled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Runs one more job while as many as there are threads, and `aside` of them, wait.
    fn check(threads: usize, aside: usize, expected: bool) {
        let pool = Pool::new("test", threads).expect("threads start");
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let (tell, told) = mpsc::channel();
        for at in 0..threads {
            let (turns, released, tell) = (pool.turns(), Arc::clone(&released), tell.clone());
            assert!(pool.submit(Box::new(move || {
                let turn = (at < aside).then(|| turns.step_aside());
                tell.send("waits").expect("the test listens");
                // The end of the channel releases all.
                let _ = released.lock().map(|it| it.recv());
                drop(turn);
            })));
        }
        for _ in 0..threads {
            assert_eq!(told.recv(), Ok("waits"));
        }
        assert!(pool.submit(Box::new(move || tell.send("ran").expect("the test listens"))));
        let ran_beside = if expected { told.recv() } else { told.try_recv().map_err(|_| mpsc::RecvError) };
        assert_eq!(ran_beside.is_ok(), expected);
        drop(release);
        assert_eq!(told.recv().is_ok(), !expected);
    }

    #[test]
    fn jobs_that_stand_aside_stop_nobody() {
        check(2, 2, true);
        check(2, 1, true);
        check(1, 1, true);
    }

    #[test]
    fn without_room_a_job_waits_its_turn() {
        check(2, 0, false);
    }
}
