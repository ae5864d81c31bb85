//! Lifetimes of the parts of an answer, per source, for live queries that poll.
//!
//! The lifetime of a whole answer ([`crate::caching::lifetime`]) is for caches: one part without a lifetime ends it at once. A live query
//! must know for each source whether it gave a lifetime.

use crate::answer::output_plan::PlanNodeId;
use crate::caching::cache_control::CacheControl;
use crate::caching::tag_versions::TagSnapshot;
use crate::plan::Plan;

/// Lifetime of a part that was fetched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartLifetime {
    pub(crate) source: u16,
    /// Lifetime in milliseconds; `None`: the source gave none.
    pub(crate) remaining_ms: Option<u64>,
}

/// Tags and lifetimes of the parts of an answer.
#[derive(Debug, Default)]
pub(crate) struct LiveParts {
    /// Lifetime of each part that was fetched.
    pub(crate) lifetimes: Vec<PartLifetime>,
    /// Versions of the tags that were computed from values of the request.
    pub(crate) ages: TagSnapshot,
}

impl LiveParts {
    /// Records the nodes of `plan` that were fetched; `said` holds the cache control that sources returned.
    pub(super) fn note(
        &mut self,
        plan: &Plan,
        said: &[(PlanNodeId, CacheControl)],
        was_asked: impl Fn(usize) -> bool,
    ) {
        for (at, node) in plan.nodes.iter().enumerate() {
            let Some(source) = node.source.filter(|_| was_asked(at)) else { continue };
            let told = said.iter().find(|it| it.0.0 as usize == at).map(|it| &it.1);
            let own = told.filter(|it| !it.is_silent && it.remaining_ms < CacheControl::ENDLESS_MS);
            let hinted = node.hints.least.as_ref().map(|it| u64::from(it.0) * 1000);
            let remaining_ms = match own {
                Some(own) => Some(own.remaining_ms.min(hinted.unwrap_or(u64::MAX))),
                None => hinted.filter(|_| node.hints.covers),
            };
            self.lifetimes.push(PartLifetime { source, remaining_ms });
            if let Some(told) = told {
                self.ages.join(&told.ages);
            }
        }
    }
}
