//! Caches the prepared statements of a connection: each statement is parsed once.
//!
//! Statements are known by their numbers, and prepared under the number of their latest preparation: what the server cannot run any
//! more is closed and parsed anew. What was sent counts as done; what an error made the server pass over is taken back when the
//! server is ready again.
//!
//! **Invariant:** a statement in [`Prepared`] is prepared on the server, or will be before anything that is written later.

use foldhash::HashMap;
use foldhash::HashMapExt;
use std::collections::VecDeque;

/// The statements of one connection, at most `max`, the longest unused closed first.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Prepared statements, by statement number.
    known: HashMap<u64, Known>,
    clock: u64,
    max: usize,
    /// Messages that are sent and not confirmed yet, in order.
    sent: VecDeque<Sent>,
}

/// A statement that is prepared.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The number of its preparation.
    preparation: u64,
    /// When it was used last.
    used: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Parse(u64),
    /// A statement and its preparation.
    Close(u64, u64),
}

/// Messages to write before a statement can be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The statement is prepared.
    Nothing,
    /// The statement has to be parsed, after the preparation `close` is closed.
    Parse { close: Option<u64> },
}

impl Prepared {
    pub(crate) fn new(max: usize) -> Self {
        Self { known: HashMap::new(), clock: 0, max: max.max(1), sent: VecDeque::new() }
    }

    /// True if `id` is prepared under the number `preparation`, or will be.
    pub(crate) fn has(&self, id: u64, preparation: u64) -> bool {
        self.known.get(&id).is_some_and(|it| it.preparation == preparation)
    }

    /// Returns the messages needed to prepare `id` under the number `preparation`, and counts them as sent.
    pub(crate) fn use_statement(&mut self, id: u64, preparation: u64) -> Need {
        self.clock += 1;
        let known = self.known.get_mut(&id);
        if let Some(known) = known.filter(|it| it.preparation == preparation) {
            known.used = self.clock;
            return Need::Nothing;
        }
        let is_stale = self.known.contains_key(&id);
        let is_full = self.known.len() >= self.max;
        let oldest = || self.known.iter().min_by_key(|it| it.1.used).map(|it| *it.0);
        let leaves = if is_stale { Some(id) } else { is_full.then(oldest).flatten() };
        let close = leaves.and_then(|it| Some((it, self.known.remove(&it)?.preparation)));
        if let Some((id, preparation)) = close {
            self.sent.push_back(Sent::Close(id, preparation));
        }
        self.known.insert(id, Known { preparation, used: self.clock });
        self.sent.push_back(Sent::Parse(id));
        Need::Parse { close: close.map(|it| it.1) }
    }

    /// The server confirmed the oldest message in `sent`.
    pub(crate) fn confirm(&mut self) {
        self.sent.pop_front();
    }

    /// Takes back messages that the server skipped after an error; it is ready again.
    pub(crate) fn undo_unconfirmed(&mut self) {
        for sent in self.sent.drain(..).rev() {
            match sent {
                Sent::Parse(id) => drop(self.known.remove(&id)),
                Sent::Close(id, preparation) => {
                    let _ = self.known.insert(id, Known { preparation, used: 0 });
                }
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
        let needs: Vec<Need> = [1, 2, 1, 3, 1, 2].map(|id| prepared.use_statement(id, id)).into();
        let closing = |id| Need::Parse { close: Some(id) };
        assert_eq!(needs, [PARSE, PARSE, Need::Nothing, closing(2), Need::Nothing, closing(3)]);
    }

    #[test]
    fn what_an_error_made_the_server_pass_over_is_taken_back() {
        let mut prepared = Prepared::new(2);
        assert_eq!([1, 2].map(|id| prepared.use_statement(id, id)), [PARSE; 2]);
        prepared.confirm();
        prepared.undo_unconfirmed();
        assert_eq!(prepared.use_statement(1, 1), Need::Nothing);
        assert_eq!(prepared.use_statement(2, 2), PARSE);
    }

    #[test]
    fn a_statement_that_was_not_closed_is_known_again() {
        let mut prepared = Prepared::new(1);
        prepared.use_statement(1, 1);
        prepared.confirm();
        assert_eq!(prepared.use_statement(2, 2), Need::Parse { close: Some(1) });
        prepared.undo_unconfirmed();
        assert_eq!(prepared.use_statement(1, 1), Need::Nothing);
    }

    #[test]
    fn a_stale_preparation_is_closed_and_replaced_alone() {
        let mut prepared = Prepared::new(2);
        assert_eq!([1, 2].map(|id| prepared.use_statement(id, id)), [PARSE; 2]);
        [(); 2].iter().for_each(|()| prepared.confirm());
        let anew = Need::Parse { close: Some(1) };
        assert_eq!(prepared.use_statement(1, 7), anew);
        assert!(prepared.has(1, 7) && prepared.has(2, 2) && !prepared.has(1, 1));
        prepared.undo_unconfirmed();
        assert_eq!(prepared.use_statement(1, 7), anew, "the server passed the first attempt over");
        assert_eq!(prepared.use_statement(2, 2), Need::Nothing);
    }
}
