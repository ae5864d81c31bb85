//! Parts of an answer on their way to its client, paced by the client as long as nobody else needs the session they come from.
//!
//! A client that does not read stops the stream, which keeps its session. When callers wait for a session and none is free, a stream that
//! stands still *hurries*: it reads the rest of its rows into memory and gives the session back. It hurries up to a bound of its own and one
//! of all unread answers in the process. Beyond them it holds its session; one whose client then takes nothing for as long as callers wait
//! for a session is ended for the sake of one.
//!
//! **Invariant:** each caller that begins to wait lets one stream hurry, and so does each stream that gives its session back or cannot go on
//! while callers wait still.
//!
//! **Cost:** nothing while the client reads.

use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::Instant;
use weir_engine::source::{Chunk, Chunks};
use weir_engine::unread::{Gone, Measured, Sender, channel, in_process};
use weir_postgres::session::Sessions;

/// Maximum number of chunks in the channel while the client sets the pace.
const CHUNKS_MAX: usize = 4;

/// The side that sets the pace of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Client,
    /// Requests that wait for the session.
    Hurry,
    /// The client, as there is no room to hurry.
    Full,
}

/// The parts of a streamed answer on their way to the client.
#[derive(Debug)]
pub(crate) struct Outflow {
    chunks: Sender<Chunk>,
    /// Chunks that found no room in the channel; their bytes count as unread like those in it.
    backlog: VecDeque<Chunk>,
    pace: Pace,
    /// When the client was last seen to take something.
    taken: Instant,
    sessions: Arc<Sessions>,
}

impl Outflow {
    /// The way of an answer that comes from one of `sessions`.
    pub(crate) fn of(sessions: &Arc<Sessions>) -> (Self, Chunks) {
        let (chunks, receiver) = channel(CHUNKS_MAX);
        let sessions = Arc::clone(sessions);
        let backlog = VecDeque::new();
        let taken = Instant::now();
        (Self { chunks, backlog, pace: Pace::Client, taken, sessions }, Chunks { receiver })
    }

    /// Hands `chunk` over when the client has taken enough earlier chunks, or when others need the session.
    ///
    /// # Errors
    /// The client is gone, or others need the session more.
    pub(crate) async fn push(&mut self, chunk: Chunk) -> Result<(), Gone> {
        self.chunks.unread_count().add(chunk.bytes());
        self.backlog.push_back(chunk);
        loop {
            self.fill()?;
            if self.backlog.is_empty() {
                return Ok(());
            }
            match self.pace {
                Pace::Client => tokio::select! {
                    biased;
                    sent = Self::send_first(&self.chunks, &mut self.backlog) => {
                        sent?;
                        self.taken = Instant::now();
                    }
                    () = self.sessions.demand.wait_for_call() => self.pace = Pace::Hurry,
                },
                Pace::Hurry if !self.sessions.demand.is_there() => self.pace = Pace::Client,
                Pace::Hurry if self.has_room() => return Ok(()),
                Pace::Hurry => {
                    self.pace = Pace::Full;
                    self.sessions.demand.pass_on();
                }
                Pace::Full => self.hold().await?,
            }
        }
    }

    /// Waits for the client, though there is no room; not for ever, if others need the session.
    async fn hold(&mut self) -> Result<(), Gone> {
        let deadline_of_turn = self.taken + self.sessions.limits().wait_max;
        let demand = &self.sessions.demand;
        let needed = async {
            tokio::time::sleep_until(deadline_of_turn).await;
            demand.wait_for_call().await;
        };
        tokio::select! {
            biased;
            sent = Self::send_first(&self.chunks, &mut self.backlog) => sent?,
            () = needed => {
                tracing::warn!("an answer was cut off: its client does not read, and others need its session");
                demand.pass_on();
                return Err(Gone);
            }
        }
        (self.pace, self.taken) = (Pace::Client, Instant::now());
        Ok(())
    }

    /// Hands over the backlog and then `rest`, as the client takes them. The session is not needed any more.
    ///
    /// # Errors
    /// The client is gone.
    pub(crate) async fn finish(mut self, rest: impl Iterator<Item = Chunk>) -> Result<(), Gone> {
        if self.pace == Pace::Hurry {
            self.sessions.demand.pass_on();
        }
        for chunk in rest {
            self.chunks.unread_count().add(chunk.bytes());
            self.backlog.push_back(chunk);
        }
        while !self.backlog.is_empty() {
            Self::send_first(&self.chunks, &mut self.backlog).await?;
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        let limits = self.sessions.limits();
        self.chunks.unread_count().bytes() <= limits.unread_answer_bytes_max
            && in_process() <= limits.unread_bytes_max
    }

    /// Fills the channel from the backlog.
    fn fill(&mut self) -> Result<(), Gone> {
        while let Some(chunk) = self.backlog.pop_front() {
            let bytes = chunk.bytes();
            match self.chunks.try_send(chunk) {
                // The channel counts the sent chunk itself.
                Ok(()) => {
                    self.chunks.unread_count().take(bytes);
                    self.taken = Instant::now();
                }
                Err(TrySendError::Full(chunk)) => {
                    self.backlog.push_front(chunk);
                    break;
                }
                Err(TrySendError::Closed(_)) => return Err(Gone),
            }
        }
        Ok(())
    }

    /// Waits for the client to make room for the first of the backlog.
    async fn send_first(chunks: &Sender<Chunk>, backlog: &mut VecDeque<Chunk>) -> Result<(), Gone> {
        let room = chunks.reserve().await?;
        if let Some(chunk) = backlog.pop_front() {
            room.send(chunk);
        }
        Ok(())
    }
}
