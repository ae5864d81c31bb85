//! Lets a function of SQL be stopped: SQLite looks at the clock between steps of its machine, and a function is one step.

use std::sync::Arc;

/// True once the running statement has to stop.
pub(crate) type IsOver = Arc<dyn Fn() -> bool + Send + Sync>;

/// Steps of a function between two looks at the clock: some tens of microseconds.
const STEPS_PER_LOOK: usize = 1 << 15;

/// The statement has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

impl From<Stopped> for rusqlite::Error {
    fn from(_: Stopped) -> Self {
        Self::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT), None)
    }
}

/// Counts the steps of a function.
pub(crate) struct Steps<'w> {
    left: usize,
    is_over: &'w dyn Fn() -> bool,
}

impl<'w> Steps<'w> {
    /// Begins to count.
    pub(crate) fn new(is_over: &'w dyn Fn() -> bool) -> Self {
        Self { left: STEPS_PER_LOOK, is_over }
    }

    /// Counts `number` steps.
    pub(crate) fn take(&mut self, number: usize) -> Result<(), Stopped> {
        if self.left > number {
            self.left -= number;
            return Ok(());
        }
        self.left = STEPS_PER_LOOK;
        if (self.is_over)() { Err(Stopped) } else { Ok(()) }
    }
}
