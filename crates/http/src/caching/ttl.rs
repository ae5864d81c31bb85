//! Computes the lifetime of answers for the engine.

use crate::cache::{Rule, Scope as Kept, Served, Sharing};
use std::sync::Arc;
use weir_engine::source::{CacheControl, CacheScope};
use weir_engine::tag_versions::TagSnapshot;

/// The shortest lifetime of several answers.
#[derive(Default)]
pub(crate) struct Shortest(pub(crate) Option<CacheControl>);

impl Shortest {
    pub(crate) fn add(&mut self, other: CacheControl) {
        self.0 = Some(match self.0.take() {
            None => other,
            Some(known) => known.and(other),
        });
    }
}

/// Fresh time left of an answer under `rule`. `ages` are the versions of its request-specific tags; `shown` names it for operators.
pub(crate) fn ttl(served: &Served, rule: &Rule, ages: TagSnapshot, shown: &Arc<str>) -> CacheControl {
    let scope = match served.entry.scope {
        Kept::Public => CacheScope::Public,
        Kept::Private => CacheScope::Private,
    };
    let is_silent = served.entry.is_silent;
    let (fresh_ms, stale_ms) =
        if served.entry.is_inner { (0, 0) } else { (served.fresh_ms, served.stale_ms) };
    CacheControl {
        remaining_ms: if is_silent { CacheControl::ENDLESS_MS } else { fresh_ms },
        stale_ms,
        scope,
        by_headers: scope == CacheScope::Public || rule.sharing == Sharing::Keyed,
        is_silent,
        must_revalidate: served.entry.must_revalidate,
        ages,
        set_by: Arc::clone(shown),
    }
}
