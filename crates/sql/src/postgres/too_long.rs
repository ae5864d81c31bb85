//! Answers that are put together whole and get longer than one may.

use weir_engine::source::{FieldError, SourceError};

/// An answer that is put together whole may have so many bytes.
pub(super) const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The answer is too long.
#[derive(Debug)]
pub(super) struct TooLong {
    /// The place of the field in the shape.
    pub(super) field: u32,
}

impl TooLong {
    pub(super) fn field_error(&self) -> FieldError {
        let message =
            format!("one item of the answer is longer than {ANSWER_BYTES_MAX} bytes; ask for less at a time");
        FieldError { code: "LIMIT_RESPONSE", message: message.into(), hasura_path: None }
    }

    /// As [`Self::field_error`], where the answer is one of a mutation that is committed.
    pub(super) fn of_mutation(&self) -> FieldError {
        let message = format!(
            "the mutation was done, but its answer is longer than {ANSWER_BYTES_MAX} bytes: ask for what it changed in a query"
        );
        FieldError { code: "WRITE_UNANSWERED", message: message.into(), hasura_path: None }
    }

    pub(super) fn into_error(self) -> SourceError {
        SourceError::Rejected { error: self.field_error(), field: Some(self.field) }
    }
}
