//! Readers of ranges, and the one who takes their pieces.
//!
//! A list is read side by side if its table has many keys, or if an answer of the plan was long, and if the pool has room for two long
//! jobs. Otherwise one reader reads it, also when the readers do not begin in one state of the file in time.
//!
//! **Invariant:** the readers stop when the one who takes their pieces is dropped. While other long jobs wait, all readers but one leave.

use super::cuts::Cuts;
use super::piece_queue::{Front, PieceQueue, TakenRange};
use crate::exec::output::answer::CHUNK_BYTES;
use crate::exec::output::response_writer::ResponseWriter;
use crate::exec::output::row_source::Piece;
use crate::sqlite::owned_run::OwnedRun;
use crate::sqlite::runs::run_failure::RunFailure;
use crate::sqlite::runs::sink::{PROGRESS_MAX, PieceSource};
use crate::sqlite::runs::statements::{KeyRange, Statements};
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use weir_sqlite::connection::{Reader, Watch, reader};
use weir_sqlite::pool::{Aside, Turns};
use weir_sqlite::same_state::{SameState, leave};

/// Maximum number of readers of one answer.
const READERS_MAX: usize = 4;

/// What the readers share.
struct Shared {
    run: Arc<OwnedRun>,
    queue: PieceQueue,
    state: SameState,
    /// Stops their statements.
    is_stopped: Arc<AtomicBool>,
    /// A part of the answer was sent: from now on progress is checked instead of the request's deadline.
    has_begun: AtomicBool,
    turns: Turns,
    /// Watches of the readers' connections.
    watches: Mutex<Vec<Arc<Watch>>>,
}

/// Takes the pieces of the readers.
pub(in crate::sqlite) struct RangeReaders {
    shared: Arc<Shared>,
    /// The request was given up.
    cancelled: Arc<AtomicBool>,
    /// Taking pieces is waiting: it leaves its place to others.
    _aside: Aside,
}

impl RangeReaders {
    /// Starts readers for `run`, if its list is long; `idle` is a connection without a transaction.
    pub(in crate::sqlite) fn start(
        run: &Arc<OwnedRun>,
        idle: &Connection,
        turns: &Turns,
        cancelled: &Arc<AtomicBool>,
    ) -> Option<Self> {
        let ranged = run.prepared.ranged.as_ref()?;
        let (least, greatest) = ranged.read_borders(idle).ok()??;
        let is_large = greatest.abs_diff(least) >= run.fetch.state.driver.database.range_keys_min();
        if !(is_large || run.prepared.is_long.load(Ordering::Relaxed)) {
            return None;
        }
        let rooms: Vec<Aside> = std::iter::from_fn(|| turns.go_on()).take(READERS_MAX).collect();
        let aside = turns.step_aside().filter(|_| rooms.len() > 1)?;
        let readers = rooms.len() as u32;
        let shared = Arc::new(Shared {
            run: Arc::clone(run),
            queue: PieceQueue::new(Cuts::new(least, greatest), readers),
            state: SameState::default(),
            is_stopped: Arc::default(),
            has_begun: AtomicBool::new(false),
            turns: turns.clone(),
            watches: Mutex::default(),
        });
        let started = Self { shared: Arc::clone(&shared), cancelled: Arc::clone(cancelled), _aside: aside };
        for room in rooms {
            let shared = Arc::clone(&shared);
            let job = Box::new(move || {
                shared.read();
                drop(room);
            });
            if !turns.submit(job) {
                started.shared.state.cancel();
            }
        }
        if !started.shared.state.agree(idle, readers) {
            return None;
        }
        run.fetch.state.driver.database.count_answer_side_by_side();
        Some(started)
    }
}

impl std::fmt::Debug for RangeReaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RangeReaders")
    }
}

impl PieceSource for RangeReaders {
    fn begin(&self) {
        self.shared.has_begun.store(true, Ordering::Relaxed);
        let end = Instant::now() + PROGRESS_MAX;
        self.shared.watches().iter().for_each(|it| it.extend(end));
    }

    fn next_piece(&self) -> Result<Option<Piece>, RunFailure> {
        loop {
            match self.shared.queue.front()? {
                Front::Piece(piece) => return Ok(Some(piece)),
                Front::End => return Ok(None),
                Front::Waiting if self.cancelled.load(Ordering::Relaxed) => return Err(RunFailure::Gone),
                Front::Waiting => {}
            }
        }
    }
}

impl Drop for RangeReaders {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        self.shared.state.cancel();
        self.shared.queue.close();
    }
}

/// A reader's seat at the queue, which it leaves however it ends.
struct Seat<'s> {
    queue: &'s PieceQueue,
    range: Option<TakenRange>,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.queue.leave(self.range);
    }
}

impl Shared {
    fn watches(&self) -> MutexGuard<'_, Vec<Arc<Watch>>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads ranges on the connection of this thread until there are none.
    fn read(&self) {
        let mut seat = Seat { queue: &self.queue, range: None };
        let database = &self.run.fetch.state.driver.database;
        let Ok(reader) = reader(database) else { return self.state.cancel() };
        reader.watch.set(Some(self.run.deadline), Some(&self.is_stopped));
        // A run that panicked has left its snapshot open.
        if leave(&reader.connection).is_err() {
            return self.state.cancel();
        }
        if self.state.join(&reader.connection) {
            self.watches().push(Arc::clone(&reader.watch));
            self.read_ranges(&reader, &mut seat);
            let _ = leave(&reader.connection);
            // The connection's next run has a deadline of its own.
            self.watches().retain(|it| !Arc::ptr_eq(it, &reader.watch));
        }
        reader.watch.set(None, None);
    }

    fn read_ranges(&self, reader: &Reader, seat: &mut Seat<'_>) {
        let run = &self.run;
        let plan = &run.prepared.plan;
        let Some(ranged) = &run.prepared.ranged else { return };
        let member = &plan.members[ranged.member as usize];
        let bindings = run.bindings();
        let statements = Statements::new(&reader.connection, &run.prepared, bindings);
        let names = run.fetch.names(bindings.output);
        let mut writer = ResponseWriter::new(statements, plan, names, CHUNK_BYTES + CHUNK_BYTES / 4);
        while let Some(range) = self.queue.take(|| self.turns.are_long_jobs_waiting()) {
            seat.range = Some(range);
            self.note_progress(reader);
            writer.source.range = Some(KeyRange { level: ranged.level, keys: range.keys });
            let written = writer.write_range(ranged.level, member, |piece| {
                self.queue.push(range, piece)?;
                self.note_progress(reader);
                Ok(())
            });
            let has_failed = written.is_err();
            self.queue.end(range, written);
            if has_failed {
                return;
            }
        }
    }

    fn note_progress(&self, reader: &Reader) {
        if self.has_begun.load(Ordering::Relaxed) {
            reader.watch.extend(Instant::now() + PROGRESS_MAX);
        }
    }
}
