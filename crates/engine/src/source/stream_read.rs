//! A read of a stream: rows that follow a position, and the position that they lead to.
//!
//! **Invariant:** a position is the source's own text, made and read by one plan; clients never see it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Outcome of a read of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// No row follows the position.
    Empty,
    /// A batch.
    Rows {
        /// The position of its last row.
        position: Arc<str>,
        /// More rows may follow at once.
        is_full: bool,
    },
    /// Rows before which uncommitted transactions may still insert others: they are not sent, and read again later.
    Held,
}

/// Rows that a stream holds back, in the source's terms; the engine stores the hold between two reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamHold {
    /// The last of the rows, if any are held back.
    pub until: Option<Arc<str>>,
    /// The rows wait for transactions with smaller numbers.
    pub horizon: u64,
    /// Start of the wait.
    pub since: Option<Instant>,
    /// Transactions with smaller numbers took too long: rows no longer wait for them.
    pub ignored: u64,
}

/// One read of a stream, shared by the engine and the source that makes it.
#[derive(Default)]
pub struct StreamRead {
    after: Option<Arc<str>>,
    hold: StreamHold,
    end: Mutex<Option<(StreamEnd, StreamHold)>>,
}

impl StreamRead {
    /// Reads what follows the position `after`; `None`: what follows the values that the client gave.
    pub fn after(after: Option<Arc<str>>, hold: StreamHold) -> Self {
        Self { after, hold, end: Mutex::default() }
    }

    /// The position that the rows have to follow.
    pub fn position(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// The rows that the read before held back.
    pub fn hold(&self) -> &StreamHold {
        &self.hold
    }

    /// Records the outcome and the new hold. A restarted read records them again.
    pub fn ends(&self, end: StreamEnd, hold: StreamHold) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some((end, hold));
    }

    /// The outcome; `None`: the read failed.
    pub(crate) fn take_end(&self) -> Option<(StreamEnd, StreamHold)> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for StreamRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamRead").finish_non_exhaustive()
    }
}
