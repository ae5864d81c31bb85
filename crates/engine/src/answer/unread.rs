//! Channels for parts of answers, with counters of the bytes that clients have not read yet.
//!
//! **Invariant:** a part counts from its send until it is received or its answer is dropped.
//!
//! **Cost:** four additions to counters for each part, of 64 KiB and more.

use super::chunk::Chunk;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

static IN_PROCESS: AtomicU64 = AtomicU64::new(0);

/// Unread bytes of all channels in the process.
pub fn in_process() -> u64 {
    IN_PROCESS.load(Ordering::Relaxed)
}

/// Counter of the unread bytes of one channel.
#[derive(Clone, Debug, Default)]
pub struct UnreadCount(Arc<Count>);

#[derive(Debug, Default)]
struct Count(AtomicU64);

impl Drop for Count {
    fn drop(&mut self) {
        IN_PROCESS.fetch_sub(*self.0.get_mut(), Ordering::Relaxed);
    }
}

impl UnreadCount {
    /// Adds `bytes` that were sent.
    pub fn add(&self, bytes: usize) {
        IN_PROCESS.fetch_add(bytes as u64, Ordering::Relaxed);
        self.0.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Subtracts `bytes` that were received.
    pub fn take(&self, bytes: usize) {
        self.0.0.fetch_sub(bytes as u64, Ordering::Relaxed);
        IN_PROCESS.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Number of unread bytes.
    pub fn bytes(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }
}

/// A part of an answer with a size in bytes.
pub trait Measured {
    /// Bytes it holds.
    fn bytes(&self) -> usize;
}

impl Measured for Chunk {
    fn bytes(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Items(batch) => batch.bytes,
            Self::End(_) | Self::Failed(_) => 0,
        }
    }
}

impl Measured for Result<Vec<u8>, Aborted> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Vec::len)
    }
}

/// The source died in the middle of a long answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aborted;

/// The receiver was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// A channel of `parts_max` parts.
pub fn channel<T: Measured>(parts_max: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(parts_max);
    let waiting = UnreadCount::default();
    let receiver = Receiver { receiver, waiting: waiting.clone(), behind: Vec::new() };
    (Sender { sender, waiting }, receiver)
}

/// Sends parts.
#[derive(Debug)]
pub struct Sender<T> {
    sender: mpsc::Sender<T>,
    waiting: UnreadCount,
}

impl<T: Measured> Sender<T> {
    /// Waits until there is room for `part`, which counts meanwhile.
    ///
    /// # Errors
    /// The receiver was dropped.
    pub async fn send(&self, part: T) -> Result<(), Gone> {
        self.waiting.add(part.bytes());
        self.sender.send(part).await.map_err(|_| Gone)
    }

    /// Sends like [`Self::send`], from a thread that may block.
    ///
    /// # Errors
    /// See [`Self::send`].
    pub fn blocking_send(&self, part: T) -> Result<(), Gone> {
        self.waiting.add(part.bytes());
        self.sender.blocking_send(part).map_err(|_| Gone)
    }

    /// Sends `part` if there is room.
    ///
    /// # Errors
    /// The channel is full, or the receiver was dropped.
    pub fn try_send(&self, part: T) -> Result<(), TrySendError<T>> {
        let bytes = part.bytes();
        self.waiting.add(bytes);
        self.sender.try_send(part).inspect_err(|_| self.waiting.take(bytes))
    }

    /// Waits until the receiver is dropped.
    pub async fn wait_until_closed(&self) {
        self.sender.closed().await;
    }

    /// Waits until there is room for a part that is already counted.
    ///
    /// # Errors
    /// The receiver was dropped.
    pub async fn reserve(&self) -> Result<mpsc::Permit<'_, T>, Gone> {
        self.sender.reserve().await.map_err(|_| Gone)
    }

    /// Counter of the channel, for parts that wait before it.
    pub fn unread_count(&self) -> &UnreadCount {
        &self.waiting
    }
}

/// Receives parts.
#[derive(Debug)]
pub struct Receiver<T> {
    receiver: mpsc::Receiver<T>,
    waiting: UnreadCount,
    /// Counters of the channels that feed this one.
    behind: Vec<UnreadCount>,
}

impl<T: Measured> Receiver<T> {
    /// The next part; `None` after the last.
    pub async fn recv(&mut self) -> Option<T> {
        std::future::poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// Polls for the next part, see [`Self::recv`].
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let part = std::task::ready!(self.receiver.poll_recv(cx));
        if let Some(part) = &part {
            self.waiting.take(part.bytes());
        }
        Poll::Ready(part)
    }

    /// Counter of the channel, for parts that wait behind it.
    pub fn unread_count(&self) -> &UnreadCount {
        &self.waiting
    }

    /// Adds channels that feed this one: their unread bytes count here too.
    pub fn fed_by(&mut self, others: impl IntoIterator<Item = UnreadCount>) {
        self.behind.extend(others);
    }

    /// Counters of this channel and of those that feed it.
    pub fn counts(&self) -> impl Iterator<Item = &UnreadCount> {
        std::iter::once(&self.waiting).chain(&self.behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: usize) -> Result<Vec<u8>, Aborted> {
        Ok(vec![0; bytes])
    }

    #[tokio::test]
    async fn parts_count_until_they_are_taken_or_dropped() {
        let (sender, mut receiver) = channel(2);
        let waiting = sender.unread_count().clone();
        sender.send(part(5)).await.unwrap();
        assert!(sender.try_send(part(7)).is_ok() && sender.try_send(part(11)).is_err());
        assert_eq!(waiting.bytes(), 12);
        assert!(in_process() >= 12);
        assert_eq!(receiver.recv().await, Some(part(5)));
        assert_eq!(waiting.bytes(), 7);
        sender.unread_count().add(100);
        sender.reserve().await.unwrap().send(part(100));
        assert_eq!(receiver.counts().map(UnreadCount::bytes).sum::<u64>(), 107);
        let mut outer = channel::<Result<Vec<u8>, Aborted>>(1).1;
        outer.fed_by([waiting]);
        assert_eq!(outer.counts().map(UnreadCount::bytes).sum::<u64>(), 107);
    }
}
