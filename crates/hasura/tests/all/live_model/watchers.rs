//! Watchers of the model: subscribers with the results that they got, and followers of a stream.

use super::WATCHED;
use std::sync::{Arc, Mutex};

/// The results of a subscriber, each with the number of states that there were when it came.
pub(super) type Results = Arc<Mutex<Vec<(String, usize)>>>;

/// A subscriber.
pub(super) struct Subscriber {
    pub(super) query: usize,
    /// The number of states at its beginning.
    pub(super) from: usize,
    pub(super) results: Results,
    pub(super) task: tokio::task::JoinHandle<()>,
}

/// A stream: the numbers that it told.
pub(super) struct Follower {
    pub(super) told: Arc<Mutex<Vec<u32>>>,
    pub(super) task: tokio::task::JoinHandle<()>,
}

impl Subscriber {
    /// Checks that results are answers in states that do not go back.
    pub(super) fn check_order(&self, states: &[[String; 4]]) {
        let query = self.query;
        let results = self.results.lock().unwrap();
        let mut at = self.from;
        let mut before = "";
        for (body, known) in &*results {
            assert_ne!(body, before, "a result comes twice in a row: {results:?}");
            before = body;
            if body.contains("\"errors\"") {
                continue;
            }
            let found = (at..*known).find(|it| states[*it][query] == *body);
            at = found
                .unwrap_or_else(|| panic!("{}: {body} goes back or never was: {results:?}", WATCHED[query]));
        }
    }
}
