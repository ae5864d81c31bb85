//! A few threads for statements that may take long, so that the event loop never waits for one.
//!
//! A job that waits for a slow reader of its answer steps aside ([`Turns`]): as many more threads may then work as wait,
//! so that clients who read nothing stop nobody else. A job that has worked for long steps aside too, as one of a bounded number; where
//! there is no room, the job starts again when there is ([`Turns::queue_long_job`]). So long jobs leave all threads to the others.
//!
//! **Invariant:** at most `JOBS_MAX` jobs wait; more are refused at once, and so are those that come while the first of the queue has
//! waited longer than `WAIT_MAX`. At most `ASIDE_MAX` jobs stand aside for their
//! readers, and as many as the pool has threads because they take long. Threads end with the pool.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum length of the queue.
const JOBS_MAX: usize = 1024;
/// Longest wait of the first job of the queue: beyond it more are taken than worked off, so further ones are refused.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// Maximum number of jobs that wait for readers, beside those that run.
const ASIDE_MAX: usize = 64;
/// Time that a stand-in thread waits for another job.
const STAND_IN: Duration = Duration::from_secs(2);

/// Work for a thread.
pub type ReadJob = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
pub struct Pool {
    queue: Arc<ReadQueue>,
}

struct ReadQueue {
    name: String,
    /// Maximum number of long jobs that run at once.
    long_max: usize,
    state: Mutex<PoolState>,
    filled: Condvar,
}

impl std::fmt::Debug for ReadQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadQueue")
    }
}

#[derive(Default)]
struct PoolState {
    /// Jobs that wait, with the time at which they came.
    jobs: VecDeque<(Instant, ReadJob)>,
    /// Long jobs that have to restart.
    later: VecDeque<ReadJob>,
    closed: bool,
    /// Threads that wait for a job.
    idle: usize,
    /// Jobs that stand aside for their readers.
    aside: usize,
    /// Jobs that stand aside because they take long.
    long: usize,
    /// Threads that stand in.
    stand_ins: usize,
}

/// Lets a job of the pool step aside.
#[derive(Clone, Debug)]
pub struct Turns(Arc<ReadQueue>);

/// Jobs and threads of a pool at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Jobs that wait for a thread.
    pub waiting: usize,
    /// Threads without a job.
    pub idle: usize,
    /// Jobs that wait for slow readers of their answers.
    pub aside: usize,
}

impl Pool {
    /// Jobs and threads at this moment.
    pub fn counts(&self) -> ReadCounts {
        let state = self.queue.lock();
        ReadCounts { waiting: state.jobs.len() + state.later.len(), idle: state.idle, aside: state.aside }
    }
}

/// Why a job stands aside.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// The client reads slowly.
    Reader,
    /// The job takes long.
    Long,
}

/// Ends a job's standing aside.
#[derive(Debug)]
pub struct Aside {
    queue: Arc<ReadQueue>,
    why: Why,
}

impl Turns {
    /// Makes room for another job while this one waits; `None` if too many stand aside already.
    pub fn step_aside(&self) -> Option<Aside> {
        self.take_room(Why::Reader)
    }

    /// Makes room for another job while this one, which has worked for long, goes on; `None` if too many do already.
    pub fn go_on(&self) -> Option<Aside> {
        self.take_room(Why::Long)
    }

    fn take_room(&self, why: Why) -> Option<Aside> {
        let mut state = self.0.lock();
        let (count, max) = match why {
            Why::Reader => (&mut state.aside, ASIDE_MAX),
            Why::Long => (&mut state.long, self.0.long_max),
        };
        if *count >= max {
            return None;
        }
        *count += 1;
        start_substitute(&self.0, state);
        Some(Aside { queue: Arc::clone(&self.0), why })
    }

    /// True if the queue of long jobs is full.
    pub fn is_full(&self) -> bool {
        self.0.lock().later.len() >= JOBS_MAX
    }

    /// Queues `job`, which takes long, until fewer of its kind work.
    pub fn queue_long_job(&self, job: ReadJob) {
        self.0.lock().later.push_back(job);
        self.0.filled.notify_one();
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        match self.why {
            Why::Reader => state.aside -= 1,
            Why::Long => state.long -= 1,
        }
    }
}

/// Starts a thread if jobs wait for those that stand aside.
fn start_substitute(queue: &Arc<ReadQueue>, mut state: MutexGuard<'_, PoolState>) {
    if state.jobs.len() <= state.idle || state.stand_ins >= state.aside + state.long {
        return;
    }
    state.stand_ins += 1;
    drop(state);
    let own = Arc::clone(queue);
    let started =
        std::thread::Builder::new().name(format!("{}-more", queue.name)).spawn(move || own.run_jobs(true));
    if started.is_err() {
        // The machine has no thread left: the jobs wait for those that there are.
        queue.lock().stand_ins -= 1;
    }
}

impl ReadQueue {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, and its room if it takes long; `None` when the thread is to end.
    fn next_job(self: &Arc<Self>, stands_in: bool) -> Option<(ReadJob, Option<Aside>)> {
        let mut state = self.lock();
        let mut waited = false;
        loop {
            if state.long < self.long_max
                && let Some(job) = state.later.pop_front()
            {
                state.long += 1;
                start_substitute(self, state);
                return Some((job, Some(Aside { queue: Arc::clone(self), why: Why::Long })));
            }
            if let Some((_, job)) = state.jobs.pop_front() {
                return Some((job, None));
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

    fn run_jobs(self: &Arc<Self>, stands_in: bool) {
        while let Some((job, _room)) = self.next_job(stands_in) {
            // A panicking job drops its answer channel, which the caller notices; the thread continues.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    }
}

impl Pool {
    /// Starts `threads` threads; as many jobs that take long may work beside them.
    pub fn new(name: &str, threads: usize) -> std::io::Result<Self> {
        let long_max = threads.max(1);
        let queue =
            ReadQueue { name: name.into(), long_max, state: Mutex::default(), filled: Condvar::new() };
        let pool = Self { queue: Arc::new(queue) };
        for at in 0..long_max {
            let queue = Arc::clone(&pool.queue);
            std::thread::Builder::new().name(format!("{name}-{at}")).spawn(move || queue.run_jobs(false))?;
        }
        Ok(pool)
    }

    /// Gives access to the queue, for jobs that may have to wait.
    pub fn turns(&self) -> Turns {
        Turns(Arc::clone(&self.queue))
    }

    /// Queues `job`; `false` if too many wait, or for too long.
    pub fn submit(&self, job: ReadJob) -> bool {
        self.submit_at(job, Instant::now())
    }

    fn submit_at(&self, job: ReadJob, now: Instant) -> bool {
        let mut state = self.queue.lock();
        let waits_long = |it: &(Instant, ReadJob)| now.saturating_duration_since(it.0) > WAIT_MAX;
        if state.jobs.len() >= JOBS_MAX || state.jobs.front().is_some_and(waits_long) {
            return false;
        }
        state.jobs.push_back((now, job));
        self.queue.filled.notify_one();
        start_substitute(&self.queue, state);
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
            let turns = pool.turns();
            let released = Arc::clone(&released);
            let tell = tell.clone();
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
    fn a_queue_that_stands_takes_no_more_jobs() {
        let pool = Pool::new("test", 1).expect("threads start");
        let (release, released) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let began = Instant::now();
        let holds = tell.clone();
        assert!(pool.submit_at(
            Box::new(move || {
                holds.send("works").expect("the test listens");
                let _ = released.recv();
            }),
            began
        ));
        assert_eq!(told.recv(), Ok("works"));
        let job = |word: &'static str| -> ReadJob {
            let tell = tell.clone();
            Box::new(move || tell.send(word).expect("the test listens"))
        };
        assert!(pool.submit_at(job("first"), began));
        assert!(pool.submit_at(job("second"), began + WAIT_MAX));
        let late = began + WAIT_MAX + Duration::from_millis(1);
        assert!(!pool.submit_at(job("refused"), late));
        drop(release);
        assert_eq!((told.recv(), told.recv()), (Ok("first"), Ok("second")));
        assert!(pool.submit_at(job("third"), late), "what waited is done");
        assert_eq!(told.recv(), Ok("third"));
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

    #[test]
    fn jobs_that_take_long_leave_the_threads_to_others_and_wait_for_each_other() {
        let pool = Pool::new("test", 1).expect("threads start");
        let (release, released) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let say = |word: &'static str| {
            let tell = tell.clone();
            move || tell.send(word).expect("the test listens")
        };
        let turns = pool.turns();
        let works = say("works");
        let ended = say("ended");
        assert!(pool.submit(Box::new(move || {
            let room = turns.go_on();
            assert!(room.is_some() && turns.go_on().is_none());
            works();
            let _ = released.recv();
            ended();
        })));
        assert_eq!(told.recv(), Ok("works"));
        pool.turns().queue_long_job(Box::new(say("later")));
        assert!(pool.submit(Box::new(say("short"))));
        assert_eq!(told.recv(), Ok("short"));
        drop(release);
        assert_eq!([told.recv(), told.recv()], [Ok("ended"), Ok("later")]);
    }
}
