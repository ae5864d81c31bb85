//! The rows that the root fields of a mutation wrote.

use super::decode::Decoder;
use super::prepared::Ready;
use weir_postgres::rows::{Row, Rows};

/// Result of a root field.
#[derive(Default)]
pub(super) struct Done<'r> {
    pub(super) works: Vec<WorkDone<'r>>,
    /// The answer of the levels below the rows that came back.
    pub(super) below: Option<Rows>,
}

/// Result of a work.
#[derive(Default)]
pub(super) struct WorkDone<'r> {
    /// Rows of all tables together.
    pub(super) affected: i64,
    /// Number of rows that the works before it returned.
    pub(super) first: usize,
    /// Answers, one per statement, in order.
    pub(super) answers: Vec<Answered<'r>>,
}

/// The answer of a statement.
#[derive(Clone)]
pub(super) struct Answered<'r> {
    pub(super) rows: Option<Rows>,
    pub(super) ready: &'r Ready,
    /// The place of the statement in the plan's changes.
    pub(super) change: u32,
    /// The rows are the field's own, not nested inserts.
    pub(super) shown: bool,
}

impl<'r> Answered<'r> {
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> + Clone {
        self.rows.iter().flat_map(Rows::iter)
    }

    pub(super) const fn decoders(&self) -> &'r [Decoder] {
        self.ready.decoders.as_slice()
    }
}

impl<'r> WorkDone<'r> {
    /// The answers of the statement number `change` of the plan, with their places.
    pub(super) fn answers_of(&self, change: u32) -> impl Iterator<Item = (usize, &Answered<'r>)> {
        self.answers.iter().enumerate().filter(move |it| it.1.change == change)
    }

    /// The rows of the field's own table, with their decoders.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Row<'_>, &[Decoder])> + Clone {
        let shown = self.answers.iter().filter(|it| it.shown);
        shown.flat_map(|it| it.rows().map(|row| (row, it.decoders())))
    }
}
