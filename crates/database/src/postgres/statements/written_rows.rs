//! The rows that the root fields of a mutation wrote.

use super::prepared::Ready;
use crate::postgres::values::decode::Decoder;
use weir_postgres::rows::{Row, Rows};

/// Result of a root field.
#[derive(Default)]
pub(crate) struct Done<'r> {
    pub(crate) works: Vec<WorkDone<'r>>,
    /// The answer of the levels below the rows that came back.
    pub(crate) below: Option<Rows>,
}

/// Result of a work.
#[derive(Default)]
pub(crate) struct WorkDone<'r> {
    /// Rows of all tables together.
    pub(crate) affected: i64,
    /// Number of rows that the works before it returned.
    pub(crate) first: usize,
    /// Answers, one per statement, in order.
    pub(crate) answers: Vec<Answered<'r>>,
}

/// The answer of a statement.
#[derive(Clone)]
pub(crate) struct Answered<'r> {
    pub(crate) rows: Option<Rows>,
    pub(crate) ready: &'r Ready,
    /// The place of the statement in the plan's changes.
    pub(crate) change: u32,
    /// The rows are the field's own, not nested inserts.
    pub(crate) shown: bool,
}

impl<'r> Answered<'r> {
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> + Clone {
        self.rows.iter().flat_map(Rows::iter)
    }

    pub(crate) const fn decoders(&self) -> &'r [Decoder] {
        self.ready.decoders.as_slice()
    }
}

impl<'r> WorkDone<'r> {
    /// The answers of the statement number `change` of the plan, with their places.
    pub(crate) fn answers_of(&self, change: u32) -> impl Iterator<Item = (usize, &Answered<'r>)> {
        self.answers.iter().enumerate().filter(move |it| it.1.change == change)
    }

    /// The rows of the field's own table, with their decoders.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Row<'_>, &[Decoder])> + Clone {
        let shown = self.answers.iter().filter(|it| it.shown);
        shown.flat_map(|it| it.rows().map(|row| (row, it.decoders())))
    }
}
