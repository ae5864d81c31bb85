//! Lifetimes of the parts of an answer, per source, for live queries that poll.
//!
//! The lifetime of a whole answer ([`crate::lifetime`]) is for caches: one part without a lifetime ends it at once. A live query
//! must know for each source whether it gave a lifetime.

use crate::plan::Plan;
use crate::plan::output_plan::PlanNodeId;
use crate::source::CacheControl;
use crate::tag_versions::TagSnapshot;

/// Tags and lifetimes of the parts of an answer.
#[derive(Debug, Default)]
pub(crate) struct LiveParts {
    /// Source and lifetime in milliseconds of each part that was fetched; `None`: the source gave no lifetime.
    pub(crate) lifetimes: Vec<(u16, Option<u64>)>,
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
            self.lifetimes.push((source, remaining_ms));
            if let Some(told) = told {
                self.ages.join(&told.ages);
            }
        }
    }
}
