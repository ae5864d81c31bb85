//! Reads root lists with nested levels in parts: some rows of a list, with the levels below these rows.
//!
//! A list's own rows come from a portal, so many at a time; the levels below them are one statement, which is given the keys of these
//! rows. All of it is one transaction that sees one state. What is below some rows is asked together with the rows after them.
//!
//! **Invariant:** what is asked next has left before a part is given: the database works while the part is written, and one part
//! ahead at the most.
//!
//! **Cost:** a trip for each part; parts become longer or shorter until one has about [`PART_BYTES`]. Memory for two parts.

use crate::postgres::statements::prepared::{Children, List};
use crate::postgres::values::key_text;
use std::sync::Arc;
use std::time::Instant;
use weir_postgres::bulkhead::Patience;
use weir_postgres::error::Error;
use weir_postgres::reads::Reads;
use weir_postgres::rows::Rows;
use weir_postgres::session::Session;
use weir_postgres::statement::{Parameters, Statement};

/// Rows of a list's first part.
const FIRST_ROWS: u32 = 32;
/// Rows of a part at most: their keys are an array.
const ROWS_MAX: u32 = 4096;
/// Maximum growth factor from one part to the next.
const GROWTH_MAX: usize = 4;
/// Bytes that a part should have.
const PART_BYTES: usize = 256 << 10;

pub(crate) type Bound = (Arc<Statement>, Parameters);

#[derive(Clone)]
pub(crate) struct ListParameters {
    /// Parameters of its own statement.
    pub(crate) own: Parameters,
    /// Parameters of the statement below it, behind the keys.
    pub(crate) below: Parameters,
}

/// Portals of root lists that are read in parts.
pub(crate) struct Portals {
    session: Session,
    values: Vec<ListParameters>,
    /// Index of the current list.
    at: usize,
    /// Rows of the current list that are not written yet; the levels below them are being read.
    rows: Rows,
    /// Answer of the first statement below a list.
    answers: Option<Vec<Rows>>,
    /// No others of the list come after them.
    is_last: bool,
    /// Number of rows being fetched.
    fetching: u32,
    /// The part that was given last was the last of its list.
    is_over: bool,
    /// Nothing was asked below a list yet.
    is_first: bool,
}

/// Rows of a list, and the rows below them.
pub(crate) struct Part {
    pub(crate) rows: Rows,
    pub(crate) below: Option<Rows>,
}

impl Portals {
    /// The session that reads the rows.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Opens `lists` and waits for the first part: for locks with `patience`. Returns the rows of `beside`, a read in the
    /// same snapshot.
    pub(crate) async fn open(
        reads: Reads<'_>,
        patience: Patience,
        lists: &[List],
        values: &[ListParameters],
        beside: Option<&Bound>,
        deadline: Instant,
    ) -> Result<(Self, Rows), Error> {
        let push = |session: &mut Session| {
            if let Some((statement, parameters)) = beside {
                session.push(statement, parameters);
            }
            for ((portal, list), values) in (0..).zip(lists).zip(values) {
                session.open(portal, &list.own.statement, &values.own);
            }
            session.fetch(0, FIRST_ROWS);
        };
        let (session, mut answers) = reads.snapshot(push, patience, deadline).await?;
        let rows = answers.pop().unwrap_or_default();
        let beside = answers.pop().unwrap_or_default();
        let values = values.to_vec();
        let fetching = FIRST_ROWS;
        let at = 0;
        let is_last = false;
        let is_over = false;
        let is_first = true;
        let rows_now = Rows::default();
        let mut it =
            Self { session, values, at, rows: rows_now, answers: None, is_last, fetching, is_over, is_first };
        it.ask(lists, rows, FIRST_ROWS)?;
        let end = it.session.statement_end(deadline);
        it.answers = Some(it.session.answers(end).await?);
        Ok((it, beside))
    }

    /// The next part of the current list. `None`: the list has ended, and the next one is current.
    pub(crate) async fn next(&mut self, lists: &[List], deadline: Instant) -> Result<Option<Part>, Error> {
        if std::mem::take(&mut self.is_over) {
            return Ok(None);
        }
        let answers = match self.answers.take() {
            Some(answers) => answers,
            None => self.session.answers(deadline).await?,
        };
        let mut answers = answers.into_iter();
        let rows = std::mem::take(&mut self.rows);
        let below = lists[self.at].children_of(&rows).and_then(|_| answers.next());
        let part = Part { rows, below };
        self.is_over = self.is_last;
        self.at += usize::from(self.is_last);
        if let Some(rows) = answers.next() {
            self.ask(lists, rows, part.rows_next())?;
        }
        Ok(Some(part))
    }

    /// Takes `rows` of the current list and asks for the levels below them, and for the rows that come after them: `rows_next` of the
    /// same list, or the first of the next list.
    fn ask(&mut self, lists: &[List], rows: Rows, rows_next: u32) -> Result<(), Error> {
        let list = &lists[self.at];
        self.rows = rows;
        self.is_last = self.rows.iter().count() < self.fetching as usize;
        if let Some(children) = list.children_of(&self.rows) {
            let mut parameters = Parameters::default();
            for &column in &children.keys {
                let column = usize::from(list.own.arms[0].columns[usize::from(column)]);
                let decoder = &list.own.decoders[column];
                let values = self.rows.iter().map(|row| (decoder, row.column(column).flatten()));
                key_text::push_array(values, &mut parameters);
            }
            parameters.append(&self.values[self.at].below);
            self.session.push(&children.asked.statement, &parameters);
        }
        if self.is_first && lists.len() > 1 {
            // Once a part was sent, the lists cannot be reopened after a lock timeout.
            self.session.wait_for_locks();
        }
        self.is_first = false;
        let next = self.at + usize::from(self.is_last);
        self.fetching = if self.is_last || self.is_over { FIRST_ROWS } else { rows_next };
        if next < lists.len() {
            self.session.fetch(next as u32, self.fetching)
        } else {
            self.session.commit()
        }
        self.session.send()
    }
}

impl Part {
    /// Number of rows of the next part, for rows of the same size as in this one.
    fn rows_next(&self) -> u32 {
        let bytes = self.rows.bytes_len() + self.below.as_ref().map_or(0, Rows::bytes_len);
        let rows = self.rows.iter().count();
        let wanted = (rows * PART_BYTES / bytes.max(1)).clamp(1, (rows * GROWTH_MAX).max(1));
        u32::try_from(wanted).map_or(ROWS_MAX, |it| it.min(ROWS_MAX))
    }
}

impl List {
    /// Statement below `rows`, if any.
    fn children_of(&self, rows: &Rows) -> Option<&Children> {
        self.below.as_ref().filter(|_| rows.bytes_len() > 0)
    }
}
