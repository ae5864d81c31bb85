//! Mutations on their way to subscribers: each is known by the value that its pushes hold.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

/// Mutations whose pushes are awaited.
const MARKS_MAX: usize = 100_000;

/// Mutations by the value that their pushes hold.
#[derive(Default)]
pub(super) struct Marks {
    /// The start of the mutation, and subscribers that have not seen it.
    sent: HashMap<String, (Instant, u32)>,
    order: VecDeque<String>,
    subscribers: u32,
    unseen: u64,
}

impl Marks {
    /// Counts subscribers that are open.
    pub(super) fn add_subscribers(&mut self, count: u32) {
        self.subscribers += count;
    }

    /// A mutation begins.
    pub(super) fn record_sent(&mut self, mark: String) {
        if self.subscribers == 0 {
            return;
        }
        if self.order.len() == MARKS_MAX
            && let Some((_, left)) = self.order.pop_front().and_then(|it| self.sent.remove(&it))
        {
            self.unseen -= u64::from(left);
        }
        if let Some((_, left)) = self.sent.insert(mark.clone(), (Instant::now(), self.subscribers)) {
            self.unseen -= u64::from(left);
        } else {
            self.order.push_back(mark);
        }
        self.unseen += u64::from(self.subscribers);
    }

    /// The start of the mutation whose push was received.
    pub(super) fn record_push(&mut self, mark: &str) -> Option<Instant> {
        let (start, left) = self.sent.get_mut(mark)?;
        if *left > 0 {
            *left -= 1;
            self.unseen -= 1;
        }
        Some(*start)
    }

    /// True if every subscriber has seen every mutation.
    pub(super) fn all_seen(&self) -> bool {
        self.unseen == 0
    }
}
