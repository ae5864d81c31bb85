//! Event triggers of the metadata that are not in their databases, by the last look at each source.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reasons by the names of triggers, by the names of sources.
type Reasons = BTreeMap<String, BTreeMap<String, String>>;

/// Triggers that are not made, told by the thread of the service to all others.
#[derive(Clone, Debug, Default)]
pub struct UnmadeTriggers(Arc<Mutex<Reasons>>);

impl UnmadeTriggers {
    fn lock(&self) -> MutexGuard<'_, Reasons> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reason why the trigger `name` of `source` is not made; `None` if it is.
    pub fn find(&self, source: &str, name: &str) -> Option<String> {
        self.lock().get(source)?.get(name).cloned()
    }

    /// Notes the triggers of `source` that are not made, with the reasons; of a trigger the first one counts.
    pub(super) fn replace<'n>(&self, source: &str, failed: impl Iterator<Item = (&'n str, &'n str)>) {
        let mut reasons = BTreeMap::new();
        for (name, reason) in failed {
            reasons.entry(name.to_owned()).or_insert_with(|| reason.to_owned());
        }
        self.lock().insert(source.to_owned(), reasons);
    }

    /// Forgets all sources but those that `is_served` names.
    pub(super) fn retain(&self, is_served: impl Fn(&str) -> bool) {
        self.lock().retain(|source, _| is_served(source));
    }
}
