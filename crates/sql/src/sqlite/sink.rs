//! The way out for long answers: the first part as the reply, the rest through a bounded channel.
//!
//! **Invariant:** the channel gets its end only when the answer is whole; dropping the sink before tells the reader
//! that the source died.

use super::run::RunFailure;
use crate::exec::answer::pieces;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;
use weir_engine::source::{Chunk, Chunks, FetchBody, FetchResult, Finished, PathError, SourceError};
use weir_engine::unread::{Sender, channel};
use weir_sqlite::connection::Watch;
use weir_sqlite::pool::Turns;

/// Maximum number of queued chunks: a slow client slows the statement.
const CHUNKS_MAX: usize = 4;

/// Timeout of a statement from one part to the next, if its own timeout is longer.
const PROGRESS_MAX: Duration = Duration::from_secs(30);

/// Receiver of a job's answer.
pub(super) type AnswerSender = oneshot::Sender<Result<FetchResult, SourceError>>;

/// Takes the parts of a long answer.
#[derive(Debug)]
pub(super) struct Sink {
    answer: Option<AnswerSender>,
    chunks: Option<Sender<Chunk>>,
    /// Of the connection that answers.
    watch: Option<Arc<Watch>>,
    /// Of the pool that answers.
    pub(super) turns: Turns,
    /// Bytes that are buffered before the first part is sent.
    pub(super) hold_back_bytes: usize,
}

impl Sink {
    pub(super) const fn new(answer: AnswerSender, turns: Turns, hold_back_bytes: usize) -> Self {
        Self { answer: Some(answer), chunks: None, watch: None, turns, hold_back_bytes }
    }

    /// From the first part on `watch` only asks for progress: the request's deadline is for its first byte.
    pub(super) fn watched(&mut self, watch: &Arc<Watch>) {
        self.watch = Some(Arc::clone(watch));
    }

    fn progress(&self) {
        if let Some(watch) = &self.watch {
            watch.extend(Instant::now() + PROGRESS_MAX);
        }
    }

    pub(super) const fn has_flushed(&self) -> bool {
        self.chunks.is_some()
    }

    /// Answers with the first part.
    pub(super) fn begin(&mut self, bytes: Vec<u8>, errors: Vec<PathError>) -> Result<(), RunFailure> {
        let (sender, receiver) = channel(CHUNKS_MAX);
        self.chunks = Some(sender);
        let finished = Finished { bytes, ends: Vec::new(), failed: false, rest: Some(Chunks { receiver }) };
        let reply = FetchResult { body: FetchBody::Finished(finished), errors, cache_control: None };
        self.progress();
        if let Some(watch) = &self.watch {
            watch.keep();
        }
        let answer = self.answer.take();
        if answer.is_some_and(|it| it.send(Ok(reply)).is_ok()) { Ok(()) } else { Err(RunFailure::Gone) }
    }

    /// Sends a further part, standing aside while the channel is full. When too many do, the answer ends here.
    pub(super) fn send(&mut self, bytes: Vec<u8>) -> Result<(), RunFailure> {
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
    pub(super) fn end(&mut self, bytes: Vec<u8>, errors: Vec<PathError>) -> Result<(), RunFailure> {
        self.send(bytes)?;
        self.pass(Chunk::End(errors))
    }

    /// Answers all at once; after the first part that is too late, and the channel closes without an end.
    pub(super) fn answer(self, reply: Result<FetchResult, SourceError>) {
        if let Some(answer) = self.answer {
            // Nobody waiting is no failure: the request was cancelled.
            let _ = answer.send(reply);
        }
    }
}
