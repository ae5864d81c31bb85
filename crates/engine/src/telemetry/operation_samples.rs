//! Samples of an operation for its operators: its text, its slowest execution, and the kinds of its errors; all without values.
//!
//! **Cost:** bounded by `ERRORS_MAX` and the lengths of texts; touched by executions with errors and by new slowest ones alone.

use crate::answer::response::{Execution, Timing};
use std::time::SystemTime;

/// Kinds of errors that are kept of an operation.
const ERRORS_MAX: usize = 8;
/// Executions below this time are no slow ones, in microseconds.
pub(super) const SLOW_US: u64 = 1_000;

/// Errors of one kind: those with one code at one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSample {
    /// The code; empty if the first error has none.
    pub code: Box<str>,
    /// Response names of the fields that lead to it, without positions in lists.
    pub path: Option<Box<str>>,
    /// Executions whose first error it was.
    pub count: u64,
    /// When it last happened.
    pub at: SystemTime,
}

/// The slowest execution of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowExecution {
    /// Time from the request's head to the answer.
    pub total_us: u64,
    /// Duration of each stage.
    pub timing: Timing,
    /// When it ended.
    pub at: SystemTime,
    /// The role of its caller.
    pub role: Box<str>,
    /// Statements and call templates of its plan, by source.
    pub steps: Vec<(Box<str>, Box<str>)>,
}

impl Default for SlowExecution {
    fn default() -> Self {
        Self {
            total_us: 0,
            timing: Timing::default(),
            at: SystemTime::UNIX_EPOCH,
            role: "".into(),
            steps: Vec::new(),
        }
    }
}

/// Samples of one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationSamples {
    /// The document without its values; `None` if it is too long.
    pub text: Option<Box<str>>,
    /// Kinds of errors, the last one first.
    pub errors: Vec<ErrorSample>,
    /// The slowest execution, if one took a millisecond.
    pub slowest: Option<SlowExecution>,
}

impl OperationSamples {
    /// Counts the first error of `execution`. A new kind displaces the one that was not seen for the longest time.
    pub(super) fn note_error(&mut self, execution: &Execution) {
        let code = execution.code.as_deref().unwrap_or_default();
        let path = execution.path.as_deref();
        let at = SystemTime::now();
        let known = self.errors.iter().position(|it| *it.code == *code && it.path.as_deref() == path);
        let sample = match known.map(|at| self.errors.remove(at)) {
            Some(sample) => ErrorSample { count: sample.count + 1, at, ..sample },
            None => ErrorSample { code: code.into(), path: path.map(Into::into), count: 1, at },
        };
        self.errors.truncate(ERRORS_MAX - 1);
        self.errors.insert(0, sample);
    }
}
