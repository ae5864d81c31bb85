//! Event triggers of the metadata that are not in their databases, by the last look at each source.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The end of words about a reason that passes.
pub(super) const TRIED_AGAIN: &str = "tried again every 5 s";

/// A reason why a trigger is not made.
#[derive(Clone, Debug)]
struct UnmadeReason {
    words: String,
    /// True if it may pass by itself, as a lock does: the trigger is tried again.
    is_passing: bool,
}

/// Reasons by the names of triggers, by the names of sources.
type Reasons = BTreeMap<String, BTreeMap<String, UnmadeReason>>;

/// Triggers that are not made, told by the thread of the service to all others.
#[derive(Clone, Debug, Default)]
pub struct UnmadeTriggers(Arc<Mutex<Reasons>>);

impl UnmadeTriggers {
    fn lock(&self) -> MutexGuard<'_, Reasons> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reason why the trigger `name` of `source` is not made; `None` if it is.
    pub fn find(&self, source: &str, name: &str) -> Option<String> {
        self.lock().get(source)?.get(name).map(|it| it.words.clone())
    }

    /// The reason in words about a trigger that is kept: one that passes is tried again.
    pub fn describe(&self, source: &str, name: &str) -> Option<String> {
        let UnmadeReason { words, is_passing } = self.lock().get(source)?.get(name)?.clone();
        Some(if is_passing { format!("{words}; {TRIED_AGAIN}") } else { words })
    }

    /// The reason why the trigger `name` of `source` cannot be made before somebody mends something; `None` if it is made, or may be soon.
    pub fn find_lasting(&self, source: &str, name: &str) -> Option<String> {
        self.lock().get(source)?.get(name).filter(|it| !it.is_passing).map(|it| it.words.clone())
    }

    /// Notes the triggers of `source` that are not made, with reasons that last and that pass; of a trigger the first one counts.
    pub(super) fn replace(&self, source: &str, lasting: &[(String, String)], passing: &[(String, String)]) {
        let mut reasons = BTreeMap::new();
        for (is_passing, list) in [(false, lasting), (true, passing)] {
            for (name, words) in list {
                let reason = UnmadeReason { words: words.clone(), is_passing };
                reasons.entry(name.clone()).or_insert(reason);
            }
        }
        self.lock().insert(source.to_owned(), reasons);
    }

    /// Forgets all sources but those that `is_served` names.
    pub(super) fn retain(&self, is_served: impl Fn(&str) -> bool) {
        self.lock().retain(|source, _| is_served(source));
    }
}
