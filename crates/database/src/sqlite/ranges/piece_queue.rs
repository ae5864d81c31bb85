//! Pieces of an answer on their way from several readers to the one who sends them, in the order of their ranges.
//!
//! **Invariant:** a piece leaves only when all pieces of earlier ranges have left; a failure takes the place of the piece that it prevented.
//! Readers wait while [`WINDOW`] ranges or [`RANGE_BYTES_MAX`] bytes of a range have not left.

use super::cuts::Cuts;
use crate::exec::output::row_source::Piece;
use crate::sqlite::runs::run_failure::RunFailure;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of ranges that are read or wait to leave.
const WINDOW: usize = 8;

/// Bytes of one range that may wait.
const RANGE_BYTES_MAX: usize = 512 << 10;

/// Time after which those who wait look whether they still should.
const LOOK: Duration = Duration::from_millis(20);

/// A range that a reader has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenRange {
    number: u64,
    /// First key and last one.
    pub(super) keys: (i64, i64),
}

/// What a reader has made of a range so far.
#[derive(Debug, Default)]
struct Slot {
    pieces: VecDeque<Piece>,
    /// Bytes that wait.
    bytes: usize,
    /// Bytes of all pieces.
    all_bytes: u64,
    /// How the range ended, once it has.
    end: Option<Result<(), RunFailure>>,
}

#[derive(Debug)]
struct QueueState {
    cuts: Cuts,
    /// Number of the range whose pieces leave next: that of the first slot.
    head: u64,
    slots: VecDeque<Slot>,
    readers: u32,
    /// Nobody takes pieces any more.
    is_over: bool,
}

/// The pieces.
#[derive(Debug)]
pub(super) struct PieceQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

/// The state of the queue's front.
#[derive(Debug)]
pub(super) enum Front {
    /// The next piece.
    Piece(Piece),
    /// There was none for a while.
    Waiting,
    /// All pieces have left.
    End,
}

impl PieceQueue {
    /// Waits for the pieces of `readers` readers.
    pub(super) fn new(cuts: Cuts, readers: u32) -> Self {
        let state = QueueState { cuts, head: 0, slots: VecDeque::new(), readers, is_over: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(&self, state: MutexGuard<'q, QueueState>) -> MutexGuard<'q, QueueState> {
        self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
    }

    /// The next range for a reader, which leaves when there is none, or when `may_leave` and others are left.
    pub(super) fn take(&self, may_leave: impl Fn() -> bool) -> Option<TakenRange> {
        let mut state = self.lock();
        loop {
            if state.is_over || (state.readers > 1 && may_leave()) {
                return None;
            }
            if state.slots.len() < WINDOW {
                let keys = state.cuts.take()?;
                let number = state.head + state.slots.len() as u64;
                state.slots.push_back(Slot::default());
                return Some(TakenRange { number, keys });
            }
            state = self.wait(state);
        }
    }

    /// Adds a piece of `range`, when there is room for it.
    pub(super) fn push(&self, range: TakenRange, piece: Piece) -> Result<(), RunFailure> {
        let mut state = self.lock();
        loop {
            let Some(slot) = state.slot(range) else { return Err(RunFailure::Gone) };
            if slot.bytes == 0 || slot.bytes + piece.bytes.len() <= RANGE_BYTES_MAX {
                slot.bytes += piece.bytes.len();
                slot.all_bytes += piece.bytes.len() as u64;
                slot.pieces.push_back(piece);
                self.changed.notify_all();
                return Ok(());
            }
            state = self.wait(state);
        }
    }

    /// Ends `range`.
    pub(super) fn end(&self, range: TakenRange, end: Result<(), RunFailure>) {
        let mut state = self.lock();
        if let Some(slot) = state.slot(range) {
            let bytes = slot.all_bytes;
            slot.end = Some(end);
            state.cuts.fit(range.keys, bytes);
        }
        self.changed.notify_all();
    }

    /// A reader has left; without an end of its range the answer fails.
    pub(super) fn leave(&self, unfinished: Option<TakenRange>) {
        let mut state = self.lock();
        state.readers -= 1;
        if let Some(slot) = unfinished.and_then(|it| state.slot(it)) {
            slot.end.get_or_insert(Err(RunFailure::Gone));
        }
        self.changed.notify_all();
    }

    /// What is next.
    /// # Errors
    /// That of the reader whose range is next.
    pub(super) fn front(&self) -> Result<Front, RunFailure> {
        let mut state = self.lock();
        let mut has_waited = false;
        loop {
            if let Some(slot) = state.slots.front_mut() {
                if let Some(piece) = slot.pieces.pop_front() {
                    slot.bytes -= piece.bytes.len();
                    self.changed.notify_all();
                    return Ok(Front::Piece(piece));
                }
                if let Some(end) = slot.end.take() {
                    end?;
                    state.slots.pop_front();
                    state.head += 1;
                    self.changed.notify_all();
                    continue;
                }
            } else if state.cuts.are_all_taken() {
                return Ok(Front::End);
            } else if state.readers == 0 {
                return Err(RunFailure::Gone);
            }
            if has_waited {
                return Ok(Front::Waiting);
            }
            has_waited = true;
            state = self.wait(state);
        }
    }

    /// Lets all readers leave.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.slots.clear();
        self.changed.notify_all();
    }
}

impl QueueState {
    fn slot(&mut self, range: TakenRange) -> Option<&mut Slot> {
        if self.is_over {
            return None;
        }
        let at = range.number.checked_sub(self.head)?;
        self.slots.get_mut(usize::try_from(at).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(bytes: &[u8]) -> Piece {
        Piece { bytes: bytes.to_vec(), errors: Vec::new(), rows: 1, stands: true }
    }

    fn next(queue: &PieceQueue) -> String {
        match queue.front() {
            Ok(Front::Piece(piece)) => String::from_utf8(piece.bytes).unwrap(),
            Ok(Front::Waiting) => "waiting".into(),
            Ok(Front::End) => "end".into(),
            Err(failure) => format!("{failure:?}"),
        }
    }

    /// A queue of two ranges, both taken.
    fn queue() -> (PieceQueue, TakenRange, TakenRange) {
        let queue = PieceQueue::new(Cuts::new(1, 128), 2);
        let stays = || false;
        let taken = (queue.take(stays).unwrap(), queue.take(stays).unwrap());
        assert!(queue.take(stays).is_none());
        (queue, taken.0, taken.1)
    }

    #[test]
    fn pieces_leave_in_the_order_of_their_ranges() {
        let (queue, first, second) = queue();
        queue.push(second, piece(b"c")).unwrap();
        queue.end(second, Ok(()));
        assert_eq!(next(&queue), "waiting");
        queue.push(first, piece(b"a")).unwrap();
        queue.push(first, piece(b"b")).unwrap();
        assert_eq!(next(&queue), "a");
        queue.end(first, Ok(()));
        assert_eq!([next(&queue), next(&queue), next(&queue)], ["b", "c", "end"]);
    }

    #[test]
    fn a_failure_stands_where_its_pieces_would() {
        let (queue, first, second) = queue();
        queue.end(second, Err(RunFailure::Late));
        queue.push(first, piece(b"a")).unwrap();
        queue.end(first, Ok(()));
        assert_eq!([next(&queue), next(&queue)], ["a", "Late"]);
    }

    #[test]
    fn a_reader_that_leaves_in_a_range_ends_the_answer() {
        let (queue, first, _) = queue();
        queue.push(first, piece(b"a")).unwrap();
        queue.leave(Some(first));
        assert_eq!([next(&queue), next(&queue)], ["a", "Gone"]);
    }

    #[test]
    fn readers_end_when_nobody_takes_their_pieces() {
        let (queue, first, _) = queue();
        queue.close();
        assert!(matches!(queue.push(first, piece(b"a")), Err(RunFailure::Gone)));
        assert!(queue.take(|| false).is_none());
    }

    #[test]
    fn the_last_reader_stays_when_others_wait() {
        let queue = PieceQueue::new(Cuts::new(1, 1000), 2);
        assert!(queue.take(|| true).is_none());
        queue.leave(None);
        assert!(queue.take(|| true).is_some());
    }
}
