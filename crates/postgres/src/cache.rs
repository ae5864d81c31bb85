//! Prepared statements of a connection: each statement is parsed once.
//!
//! Statements are known by their numbers. What was sent counts as done; what an error made the server pass over is taken
//! back when the server is ready again.
//!
//! **Invariant:** a statement in [`Prepared`] is prepared on the server, or will be before anything that is written later.

use foldhash::HashMap;
use foldhash::HashMapExt;
use std::collections::VecDeque;

/// The statements of one connection, at most `max`, the longest unused closed first.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// When each was used last.
    used: HashMap<u64, u64>,
    clock: u64,
    max: usize,
    /// Sent and not confirmed yet, in order.
    sent: VecDeque<Sent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Parse(u64),
    Close(u64),
}

/// Messages to write before a statement can be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// It is there.
    Nothing,
    /// It has to be parsed, after the other is closed.
    Parse { close: Option<u64> },
}

impl Prepared {
    pub(crate) fn new(max: usize) -> Self {
        Self { used: HashMap::new(), clock: 0, max: max.max(1), sent: VecDeque::new() }
    }

    /// True if `id` is prepared, or will be.
    pub(crate) fn has(&self, id: u64) -> bool {
        self.used.contains_key(&id)
    }

    /// Says what `id` needs, and counts it as done.
    pub(crate) fn use_statement(&mut self, id: u64) -> Need {
        self.clock += 1;
        if let Some(used) = self.used.get_mut(&id) {
            *used = self.clock;
            return Need::Nothing;
        }
        let is_full = self.used.len() >= self.max;
        let close = is_full.then(|| self.used.iter().min_by_key(|it| *it.1).map(|it| *it.0)).flatten();
        if let Some(oldest) = close {
            self.used.remove(&oldest);
            self.sent.push_back(Sent::Close(oldest));
        }
        self.used.insert(id, self.clock);
        self.sent.push_back(Sent::Parse(id));
        Need::Parse { close }
    }

    /// The server confirmed the first of what was sent.
    pub(crate) fn confirm(&mut self) {
        self.sent.pop_front();
    }

    /// The server is ready: what it did not confirm it passed over.
    pub(crate) fn settle(&mut self) {
        for sent in self.sent.drain(..).rev() {
            match sent {
                Sent::Parse(id) => drop(self.used.remove(&id)),
                Sent::Close(id) => drop(self.used.insert(id, 0)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARSE: Need = Need::Parse { close: None };

    #[test]
    fn a_statement_is_parsed_once_and_the_longest_unused_closed() {
        let mut prepared = Prepared::new(2);
        let needs: Vec<Need> = [1, 2, 1, 3, 1, 2].map(|id| prepared.use_statement(id)).into();
        let closing = |id| Need::Parse { close: Some(id) };
        assert_eq!(needs, [PARSE, PARSE, Need::Nothing, closing(2), Need::Nothing, closing(3)]);
    }

    #[test]
    fn what_an_error_made_the_server_pass_over_is_taken_back() {
        let mut prepared = Prepared::new(2);
        assert_eq!([1, 2].map(|id| prepared.use_statement(id)), [PARSE; 2]);
        prepared.confirm();
        prepared.settle();
        assert_eq!(prepared.use_statement(1), Need::Nothing);
        assert_eq!(prepared.use_statement(2), PARSE);
    }

    #[test]
    fn a_statement_that_was_not_closed_is_known_again() {
        let mut prepared = Prepared::new(1);
        prepared.use_statement(1);
        prepared.confirm();
        assert_eq!(prepared.use_statement(2), Need::Parse { close: Some(1) });
        prepared.settle();
        assert_eq!(prepared.use_statement(1), Need::Nothing);
    }
}
