//! Invalidates the tags of a field when a call changes data.
//!
//! A service that says no has changed nothing, so nobody can empty the cache by asking for what he may not have. Whatever
//! else comes of the call, also if nobody waits for it any more, may have changed something.
//!
//! **Invariant:** what has the tags is invalid before the client that changed something gets its answer.
//! Source: RFC 9111, section 4.4.

use crate::cache::{Cache, Failure, Served};
use crate::call::CallError;
use std::borrow::Cow;
use std::sync::Arc;

/// A change in flight. Dropping it invalidates its tags, unless the call certainly changed nothing.
pub(crate) struct Change<'c> {
    cache: &'c Cache,
    tags: Cow<'c, [Arc<str>]>,
}

impl<'c> Change<'c> {
    /// Starts a change; must run before the call.
    pub(crate) fn begin(cache: &'c Cache, tags: Cow<'c, [Arc<str>]>) -> Self {
        Self { cache, tags }
    }

    /// Ends a change with the outcome of its call.
    pub(crate) fn end(mut self, outcome: &Result<Served, Failure>) {
        let is_none = match outcome.as_ref().map_err(|it| &it.error) {
            Ok(served) => (400..500).contains(&served.entry.status),
            // The call was never sent.
            Err(CallError::Busy | CallError::Broken | CallError::Unmade { .. }) => true,
            Err(
                CallError::Timeout
                | CallError::Unavailable(..)
                | CallError::TooLarge { .. }
                | CallError::Coded(_)
                | CallError::Packed(_)
                | CallError::Redirected,
            ) => false,
        };
        if is_none {
            self.tags = Cow::Borrowed(&[]);
        }
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.tags.iter().for_each(|tag| self.cache.invalidate(tag));
    }
}
