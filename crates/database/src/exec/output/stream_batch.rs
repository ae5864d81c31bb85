//! The end of a batch of a stream: the position of the last row that was written or collected.
//!
//! PostgreSQL shows rows in the order of their commits, which is not that of their numbers or times: a row with a smaller value may be
//! committed after one with a greater value was seen. So a batch that was read while transactions ran is held back until they have ended,
//! and read again up to its last row.
//!
//! **Invariant:** what is told as read was seen by a statement that also saw all that transactions had written which ran when the last of
//! it was first seen, unless they ran longer than [`HELD_MAX`].
//!
//! **Cost:** a buffer that each row overwrites; one or two texts per batch.

use super::row_code::write_code;
use super::row_source::{RowSource, SourceRow, Walk};
use crate::exec::bindings::Bindings;
use crate::exec::cell_value::Fault;
use crate::exec::encoded;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::source::{StreamEnd, StreamHold, StreamRead};
use weir_engine::write::out::Out;
use weir_relational::plan::{MemberKind, Plan, Reader};

/// Longest time for which rows wait for transactions that run.
const HELD_MAX: Duration = Duration::from_secs(30);

/// The transactions that run while a statement sees the database, as PostgreSQL writes a snapshot: `xmin:xmax:xid,…`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Snapshot {
    /// No transaction with this number or a greater one is seen.
    end: u64,
    running: Vec<u64>,
}

impl Snapshot {
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(':').skip(1);
        let end = parts.next()?.parse().ok()?;
        let running = parts.next()?.split(',').filter(|it| !it.is_empty());
        Some(Self { end, running: running.map(|it| it.parse().ok()).collect::<Option<_>>()? })
    }

    /// True if none of the transactions `of` runs.
    fn is_past(&self, of: Range<u64>) -> bool {
        !self.running.iter().any(|it| of.contains(it))
    }
}

/// The rows of a batch so far.
#[derive(Default)]
pub(crate) struct Batch {
    rows: i64,
    /// JSON of the position of the last row.
    last: Out,
    /// The snapshot in which the rows were read, if the database reports it.
    snapshot: Option<Snapshot>,
    /// The row that the batch ends with, if it comes.
    until: Option<Arc<str>>,
    has_come_to_it: bool,
}

impl Batch {
    /// None of the rows of the read `stream`.
    pub(crate) fn of(stream: Option<&Arc<StreamRead>>) -> Self {
        Self { until: stream.and_then(|it| it.hold().until.clone()), ..Self::default() }
    }

    /// Counts `row`, the next of the rows of the plan.
    /// # Errors
    /// A value of its position cannot be read.
    pub(crate) fn count<S: RowSource>(
        &mut self,
        source: &mut S,
        plan: &Plan,
        row: S::Row<'_>,
    ) -> Result<Walk, Fault> {
        let Some(stream) = plan.stream else { return Ok(Walk::On) };
        write_code(source, &plan.codes[stream.code as usize], row, &mut self.last)?;
        if self.rows == 0 {
            let text = row.text(stream.snapshot).and_then(|it| std::str::from_utf8(it).ok());
            self.snapshot = text.and_then(Snapshot::read);
        }
        self.rows += 1;
        self.has_come_to_it = self.until.as_ref().is_some_and(|it| it.as_bytes() == self.last.bytes());
        Ok(if self.has_come_to_it { Walk::Stop } else { Walk::On })
    }

    /// Forgets the rows, as an error took them out of the answer.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
    }

    /// Tells `stream` the end of a batch of at most `rows_max` rows.
    pub(crate) fn report_end(&self, stream: &StreamRead, rows_max: Option<i64>) {
        let (end, hold) = self.end(stream.hold(), rows_max, Instant::now());
        stream.ends(end, hold);
    }

    fn end(&self, hold: &StreamHold, rows_max: Option<i64>, now: Instant) -> (StreamEnd, StreamHold) {
        let sent = |ignored| {
            let is_full = self.has_come_to_it || rows_max.is_some_and(|it| self.rows >= it);
            let end = StreamEnd::Rows { position: self.position(), is_full };
            (end, StreamHold { ignored, ..StreamHold::default() })
        };
        let ignored = hold.ignored;
        if self.rows == 0 {
            return (StreamEnd::Empty, StreamHold { ignored, ..StreamHold::default() });
        }
        let Some(snapshot) = &self.snapshot else { return sent(ignored) };
        let is_settled = snapshot.is_past(ignored..hold.horizon);
        if snapshot.is_past(ignored..u64::MAX) || self.has_come_to_it && is_settled {
            return sent(ignored);
        }
        let since = hold.since.unwrap_or(now);
        if now.duration_since(since) >= HELD_MAX {
            return sent(snapshot.end);
        }
        let hold = if hold.until.is_some() && !is_settled {
            hold.clone()
        } else {
            // Rows that are seen for the first time; or the last one of those before is gone.
            let until = String::from_utf8_lossy(self.last.bytes());
            StreamHold { until: Some(until.into()), horizon: snapshot.end, since: Some(since), ignored }
        };
        (StreamEnd::Held, hold)
    }

    /// The text of the position of the last row.
    fn position(&self) -> Arc<str> {
        let mut text = Out::default();
        encoded::push(self.last.bytes(), &mut text);
        String::from_utf8_lossy(text.bytes()).trim_matches('"').into()
    }
}

/// The largest number of rows of a batch of `plan`, by the values of the request.
pub(crate) fn rows_max(plan: &Plan, bindings: &Bindings<'_>) -> Option<i64> {
    let list = plan.members[plan.root.range()].iter().find_map(|it| match it.kind {
        MemberKind::Many(level) => Some(level),
        _ => None,
    });
    let limit = plan.levels[list? as usize].query.page.limit.as_ref()?;
    let found = bindings.find(limit, 0);
    match &limit.reader {
        Reader::Capped { reader, rows_max } => bindings.cap_rows(limit, reader, *rows_max, found).ok(),
        _ => bindings.batch_size(limit, found).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch of rows up to `last`, seen in `snapshot`.
    fn batch(last: &str, snapshot: &str, until: Option<&str>) -> Batch {
        let mut out = Out::default();
        out.raw(last.as_bytes());
        let has_come_to_it = until == Some(last);
        let snapshot = Snapshot::read(snapshot);
        let until = until.map(Into::into);
        Batch { rows: 3, last: out, snapshot, until, has_come_to_it }
    }

    fn held(until: &str, horizon: u64, since: Instant) -> StreamHold {
        StreamHold { until: Some(until.into()), horizon, since: Some(since), ignored: 0 }
    }

    #[test]
    fn snapshots_are_read_as_postgresql_writes_them() {
        let read = |it| Snapshot::read(it).map(|it| (it.end, it.running));
        assert_eq!(read("10:10:"), Some((10, vec![])));
        assert_eq!(read("10:14:10,12"), Some((14, vec![10, 12])));
        assert_eq!(read("10:14"), None);
        assert_eq!(read("10:x:"), None);
    }

    #[test]
    fn rows_wait_for_the_transactions_that_run_and_for_no_later_ones() {
        let now = Instant::now();
        let is_sent = |it: &(StreamEnd, StreamHold)| matches!(it.0, StreamEnd::Rows { .. });
        assert!(is_sent(&batch("c", "10:10:", None).end(&StreamHold::default(), None, now)));
        let (end, first) = batch("c", "10:14:10,12", None).end(&StreamHold::default(), None, now);
        assert_eq!((end, &first), (StreamEnd::Held, &held("c", 14, now)));
        // One of them still runs: the same rows go on waiting, whatever was read.
        let later = now + Duration::from_secs(5);
        let (end, hold) = batch("d", "12:20:12,15", Some("c")).end(&first, None, later);
        assert_eq!((end, &hold), (StreamEnd::Held, &first));
        // Transactions that began afterwards do not matter to the rows up to the last one.
        let sent = batch("c", "15:20:15", Some("c")).end(&first, None, later);
        assert!(is_sent(&sent) && matches!(sent.0, StreamEnd::Rows { is_full: true, .. }));
        // Where that row is gone, the rows at hand wait in its place.
        let (end, hold) = batch("b", "15:20:15", Some("c")).end(&first, None, later);
        assert_eq!((end, hold), (StreamEnd::Held, held("b", 20, now)));
    }

    #[test]
    fn a_transaction_that_does_not_end_is_waited_for_once() {
        let now = Instant::now();
        let first = held("c", 14, now);
        let (end, hold) = batch("c", "10:20:10", Some("c")).end(&first, None, now + HELD_MAX);
        assert!(matches!(end, StreamEnd::Rows { .. }));
        assert_eq!(hold, StreamHold { ignored: 20, ..StreamHold::default() });
        let (end, _) = batch("e", "10:20:10", None).end(&hold, None, now + HELD_MAX);
        assert!(matches!(end, StreamEnd::Rows { .. }), "{end:?}");
        let (end, _) = batch("e", "10:22:10,21", None).end(&hold, None, now + HELD_MAX);
        assert_eq!(end, StreamEnd::Held);
    }
}
