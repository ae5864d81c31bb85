//! Sends long answers: the first part as the reply, the rest through a bounded channel.
//!
//! **Invariant:** the channel gets its end, or the last batch of items, only when the answer is whole; a failure, or dropping the sink
//! before, tells the reader that it is not.

use super::run_failure::RunFailure;
use crate::exec::output::answer::pieces;
use crate::exec::output::item_batches::RowsPart;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;
use weir_engine::source::{
    Chunk, Chunks, FetchBody, FetchInput, FetchResult, Finished, PathError, SourceError,
};
use weir_engine::unread::{Sender, channel};
use weir_sqlite::connection::Watch;
use weir_sqlite::pool::Turns;

/// Maximum number of queued chunks: a slow client slows the statement.
const CHUNKS_MAX: usize = 4;

/// Timeout of a statement from one part to the next, if its own timeout is longer.
const PROGRESS_MAX: Duration = Duration::from_secs(30);

/// Receiver of a job's answer.
pub(crate) type AnswerSender = oneshot::Sender<Result<FetchResult, SourceError>>;

/// Takes the parts of a long answer.
#[derive(Debug)]
pub(crate) struct Sink {
    answer: Option<AnswerSender>,
    chunks: Option<Sender<Chunk>>,
    /// Watch of the connection that answers.
    watch: Option<Arc<Watch>>,
    /// Queue of the pool that answers.
    pub(crate) turns: Turns,
    /// Bytes that are buffered before the first part is sent.
    pub(crate) hold_back_bytes: usize,
    /// Number of items in the first part, if rows are streamed.
    pub(crate) first_items: Option<u32>,
}

impl Sink {
    pub(crate) const fn new(answer: AnswerSender, turns: Turns, input: &FetchInput<'_>) -> Self {
        let hold_back_bytes = input.hold_back_bytes;
        let first_items = input.first_items;
        Self { answer: Some(answer), chunks: None, watch: None, turns, hold_back_bytes, first_items }
    }

    /// Sets the watch. After the first part it only checks progress: the request's deadline applies to the first byte.
    pub(crate) fn set_watch(&mut self, watch: &Arc<Watch>) {
        self.watch = Some(Arc::clone(watch));
    }

    fn progress(&self) {
        if let Some(watch) = &self.watch {
            watch.extend(Instant::now() + PROGRESS_MAX);
        }
    }

    pub(crate) const fn has_flushed(&self) -> bool {
        self.chunks.is_some()
    }

    /// Answers with the first part.
    pub(crate) fn begin(&mut self, bytes: Vec<u8>, errors: Vec<PathError>) -> Result<(), RunFailure> {
        self.begin_with(errors, |rest| {
            FetchBody::Finished(Finished { bytes, ends: Vec::new(), failed: false, rest: Some(rest) })
        })
    }

    /// Answers with the first rows, or sends further items.
    pub(crate) fn send_rows(&mut self, part: RowsPart) -> Result<(), RunFailure> {
        match part {
            RowsPart::First(rows) => self.begin_with(Vec::new(), |rest| FetchBody::FirstItems(rows, rest)),
            RowsPart::Items(batch) => {
                self.pass(Chunk::Items(batch))?;
                self.progress();
                Ok(())
            }
        }
    }

    fn begin_with(
        &mut self,
        errors: Vec<PathError>,
        body: impl FnOnce(Chunks) -> FetchBody,
    ) -> Result<(), RunFailure> {
        let (sender, receiver) = channel(CHUNKS_MAX);
        self.chunks = Some(sender);
        let reply = FetchResult { body: body(Chunks { receiver }), errors, cache_control: None };
        self.progress();
        if let Some(watch) = &self.watch {
            watch.keep();
        }
        let answer = self.answer.take();
        if answer.is_some_and(|it| it.send(Ok(reply)).is_ok()) { Ok(()) } else { Err(RunFailure::Gone) }
    }

    /// Sends a further part, standing aside while the channel is full. When too many do, the answer ends here.
    pub(crate) fn send(&mut self, bytes: Vec<u8>) -> Result<(), RunFailure> {
        for piece in pieces(bytes) {
            self.pass(Chunk::Bytes(piece))?;
            self.progress();
        }
        Ok(())
    }

    fn pass(&self, chunk: Chunk) -> Result<(), RunFailure> {
        let Some(chunks) = &self.chunks else { return Err(RunFailure::Gone) };
        match chunks.try_send(chunk) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(_)) => Err(RunFailure::Gone),
            Err(TrySendError::Full(chunk)) => {
                let Some(_aside) = self.turns.step_aside() else { return Err(RunFailure::Gone) };
                chunks.blocking_send(chunk).map_err(|_| RunFailure::Gone)
            }
        }
    }

    /// Sends the last part and the end.
    pub(crate) fn end(&mut self, bytes: Vec<u8>, errors: Vec<PathError>) -> Result<(), RunFailure> {
        self.send(bytes)?;
        self.pass(Chunk::End(errors))
    }

    /// Sends the whole answer; after the first part only a failure can be sent.
    pub(crate) fn answer(mut self, reply: Result<FetchResult, SourceError>) {
        // Nobody waiting is no failure: the request was cancelled.
        match (self.answer.take(), reply) {
            (Some(answer), reply) => {
                let _ = answer.send(reply);
            }
            (None, Err(error)) => {
                let _ = self.pass(Chunk::Failed(error));
            }
            (None, Ok(_)) => {}
        }
    }
}
