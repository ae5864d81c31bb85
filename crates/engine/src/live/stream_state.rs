//! Progress of one stream: its position, rows that are held back, and whether its subscriber took the last batch.

use super::LiveSettings;
use super::live_result::LiveResult;
use crate::source::{StreamEnd, StreamHold};
use std::sync::Arc;
use std::time::Instant;

/// Outcome of a read of a stream, and what it holds back.
pub(super) type StreamOutcome = (StreamEnd, StreamHold);

/// Progress of a stream.
#[derive(Debug)]
pub(super) struct StreamState {
    /// Position behind the rows that were read; `None`: the client's initial position.
    pub(super) position: Option<Arc<str>>,
    /// Rows that the last read held back.
    pub(super) hold: StreamHold,
    /// True while the subscriber has not taken the last batch: no other batch is read.
    pub(super) is_untaken: bool,
    /// True if more rows may be available right after the last batch.
    pub(super) is_full: bool,
}

impl StreamState {
    pub(super) fn at_position(position: Option<Arc<str>>) -> Self {
        Self { position, hold: StreamHold::default(), is_untaken: false, is_full: false }
    }

    /// Records a read. True if subscribers get a result: rows, or an error that differs from that of `before`.
    pub(super) fn accept_batch(
        &mut self,
        result: &LiveResult,
        end: Option<StreamOutcome>,
        before: Option<&LiveResult>,
    ) -> bool {
        let (end, hold) = end.map_or((None, None), |it| (Some(it.0), Some(it.1)));
        if let Some(hold) = hold {
            self.hold = hold;
        }
        if end == Some(StreamEnd::Held) {
            return false;
        }
        let has_rows = result.position.is_some();
        if has_rows {
            self.position.clone_from(&result.position);
        }
        self.is_full = has_rows && matches!(end, Some(StreamEnd::Rows { is_full: true, .. }));
        self.is_untaken = has_rows || result.has_errors && before.is_none_or(|it| it.body != result.body);
        self.is_untaken
    }

    /// Next read of rows that are held back; the interval grows with the wait.
    pub(super) fn reread_at(&self, settings: &LiveSettings, now: Instant) -> Option<Instant> {
        let waited = now.duration_since(self.hold.since?);
        Some(now + (waited / 4).min(settings.poll).max(settings.floor))
    }
}
