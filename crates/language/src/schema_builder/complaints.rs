//! Errors of a schema: at most `errors_max` of [`Limits::STANDARD`].
//!
//! **Invariant:** once [`Complaints::are_enough`], what is added is dropped and loops over the schema stop, so that a
//! schema with a thousand faults costs no more than one with fifty.

use crate::error::Error;
use crate::limits::Limits;

/// Errors in the order they were found.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    errors: Vec<Error>,
}

impl Complaints {
    /// Notes `error`, unless enough is said.
    pub(super) fn push(&mut self, error: Error) {
        if !self.are_enough() {
            self.errors.push(error);
        }
    }

    /// True if the limit of errors is reached.
    pub(super) fn are_enough(&self) -> bool {
        self.errors.len() >= Limits::STANDARD.errors_max as usize
    }

    pub(super) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(super) fn into_errors(self) -> Vec<Error> {
        self.errors
    }
}
