//! A few threads for statements that may take long, so that the event loop never waits for one.
//!
//! **Invariant:** at most [`JOBS_MAX`] jobs wait; more are refused at once. Threads end with the pool.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How many jobs may wait.
const JOBS_MAX: usize = 1024;

/// Work for a thread.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The pool.
#[derive(Debug)]
pub(super) struct Pool {
    queue: Arc<Queue>,
}

struct Queue {
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
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut state = self.lock();
            let job = loop {
                match state.jobs.pop_front() {
                    Some(job) => break job,
                    None if state.closed => return,
                    None => state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(state);
            // A job that panics answers nobody, which its caller sees; the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    }
}

impl Pool {
    /// Starts `threads` threads.
    pub(super) fn new(name: &str, threads: usize) -> std::io::Result<Self> {
        let queue = Arc::new(Queue { state: Mutex::default(), filled: Condvar::new() });
        let pool = Self { queue };
        for at in 0..threads.max(1) {
            let queue = Arc::clone(&pool.queue);
            std::thread::Builder::new().name(format!("{name}-{at}")).spawn(move || queue.work())?;
        }
        Ok(pool)
    }

    /// Queues `job`; `false` if too many wait.
    #[must_use]
    pub(super) fn submit(&self, job: Job) -> bool {
        let mut state = self.queue.lock();
        if state.jobs.len() >= JOBS_MAX {
            return false;
        }
        state.jobs.push_back(job);
        drop(state);
        self.queue.filled.notify_one();
        true
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.filled.notify_all();
    }
}
