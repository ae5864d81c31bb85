//! Lifetime and scope of an answer: the minimum over its parts.
//!
//! A part is one round trip. A source may give the lifetime of its answer ([`CacheControl`]); hints in the schema (`@cacheControl`)
//! shorten that lifetime, and give one to parts that have none. A part without a lifetime makes the whole answer uncacheable, as in
//! Apollo Server; `@cached(ttl:)` of an operation applies to such parts only.
//!
//! **Invariant:** the whole never outlives a part, and is private as soon as one part is.
//!
//! Sources: RFC 9111, RFC 5861; `docs/caching.md`.

pub use super::cache_control::{Hint, HintAt};

use super::cache_control::{CacheControl, CacheScope};
use super::tag_versions::TagSnapshot;
use std::sync::Arc;

/// The hints that hold for one node of a plan, computed once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeHints {
    /// True if every member has a hint of its own, so that a source without lifetimes has one.
    pub covers: bool,
    /// Smallest `maxAge` of the node's fields, in seconds, and the type or field that sets it.
    pub least: Option<(u32, Arc<str>)>,
    /// Private if any part is private.
    pub scope: CacheScope,
}

/// Combines the lifetimes of the parts of one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CachePolicy {
    /// The least so far; `None` before the first part.
    least: Option<CacheControl>,
    scope: CacheScope,
    /// True if a hint made a part private that its source gives to everyone.
    is_alone: bool,
    /// True if a source, a hint or the operation set a lifetime.
    is_set: bool,
}

impl CachePolicy {
    /// Policy before the first part; `is_set`: a lifetime is reported even if no part sets one.
    pub(crate) fn new(is_set: bool) -> Self {
        Self { is_set, ..Self::default() }
    }

    /// Adds a part: the cache control of its source and its hints; `directive_s` is the operation's TTL for parts without either.
    pub(crate) fn add(
        &mut self,
        cache_control: Option<&CacheControl>,
        hints: &NodeHints,
        directive_s: Option<u32>,
    ) {
        self.scope = self.scope.max(hints.scope).max(cache_control.map_or(CacheScope::Public, |it| it.scope));
        self.is_set |= cache_control.is_some() || hints.least.is_some() || self.scope == CacheScope::Private;
        // A part that a hint makes private is cached for one caller only, unless its source separates callers by headers.
        let keeps_apart = cache_control.is_some_and(|it| it.scope == CacheScope::Private && it.by_headers);
        self.is_alone |= hints.scope == CacheScope::Private && !keeps_apart;
        let hinted = hints.least.as_ref().map(|(least_s, by)| by_hint(*least_s, by));
        let is_silent = cache_control.is_none_or(|it| it.is_silent);
        let unsaid = (is_silent && !hints.covers).then(|| match directive_s {
            Some(directive_s) => {
                self.is_set = true;
                by_hint(directive_s, &Arc::from("the operation"))
            }
            None => match cache_control {
                Some(it) if it.remaining_ms == CacheControl::ENDLESS_MS => by_hint(0, &it.set_by),
                Some(_) | None => by_hint(0, &Arc::from("a part without a lifetime")),
            },
        });
        let said =
            cache_control.cloned().into_iter().chain(hinted).chain(unsaid).reduce(CacheControl::shorten_to);
        // A part that inherits its lifetime does not shorten its parent's.
        self.least = match (self.least.take(), said) {
            (Some(least), Some(said)) => Some(least.and(said)),
            (least, said) => least.or(said),
        };
    }

    /// Makes the answer uncacheable: a part failed.
    pub(crate) fn fail(&mut self) {
        if self.is_set {
            self.scope = CacheScope::Private;
            // A failed part gives no scope, so the error is not separated by headers.
            self.least = Some(CacheControl { by_headers: false, ..by_hint(0, &Arc::from("an error")) });
        }
    }

    /// The resulting lifetime, if any was set.
    pub(crate) fn resolve(self) -> Option<CacheControl> {
        let least = self.least.filter(|it| self.is_set && it.remaining_ms < CacheControl::ENDLESS_MS)?;
        let by_headers = least.by_headers && !self.is_alone;
        let told = CacheControl { scope: self.scope, by_headers, is_silent: false, ..least };
        Some(told.at_least_a_second())
    }
}

impl CacheControl {
    /// Shortens the lifetime, including the stale period, to `other`; the scope stays.
    fn shorten_to(self, other: Self) -> Self {
        match other.remaining_ms.checked_sub(self.remaining_ms) {
            None => {
                let Self { by_headers, ages, must_revalidate, .. } = self;
                Self { by_headers, ages, must_revalidate, ..other }
            }
            Some(beyond_ms) => Self { stale_ms: self.stale_ms.min(beyond_ms), ..self },
        }
    }

    /// Lends up to a second of the stale period to the remaining lifetime, for clients that count in seconds: with `max-age=0` all of
    /// them would ask again at once.
    pub(crate) fn at_least_a_second(self) -> Self {
        let lent_ms = 1000_u64.saturating_sub(self.remaining_ms).min(self.stale_ms);
        Self { remaining_ms: self.remaining_ms + lent_ms, stale_ms: self.stale_ms - lent_ms, ..self }
    }

    /// Minimum of the lifetimes of two parts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let until_ms = |it: &Self| it.remaining_ms.saturating_add(it.stale_ms);
        let until_ms = until_ms(&self).min(until_ms(&other));
        let scope = self.scope.max(other.scope);
        let by_headers = self.by_headers && other.by_headers;
        let is_silent = self.is_silent || other.is_silent;
        let must_revalidate = self.must_revalidate || other.must_revalidate;
        let (mut shorter, longer) =
            if other.remaining_ms < self.remaining_ms { (other, self) } else { (self, other) };
        shorter.ages.join(&longer.ages);
        Self {
            stale_ms: until_ms.saturating_sub(shorter.remaining_ms),
            scope,
            by_headers,
            is_silent,
            must_revalidate,
            ..shorter
        }
    }
}

fn by_hint(fresh_s: u32, by: &Arc<str>) -> CacheControl {
    let remaining_ms = u64::from(fresh_s) * 1000;
    let scope = CacheScope::Public;
    let ages = TagSnapshot::default();
    let set_by = Arc::clone(by);
    CacheControl {
        remaining_ms,
        stale_ms: 0,
        scope,
        by_headers: true,
        is_silent: false,
        must_revalidate: false,
        ages,
        set_by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(fresh_s: u32, stale_s: u32, scope: CacheScope, by: &str) -> CacheControl {
        let remaining_ms = 1000 * u64::from(fresh_s);
        let stale_ms = 1000 * u64::from(stale_s);
        CacheControl {
            remaining_ms,
            stale_ms,
            scope,
            by_headers: true,
            is_silent: false,
            must_revalidate: false,
            ages: TagSnapshot::default(),
            set_by: by.into(),
        }
    }

    fn hints(covers: bool, least: Option<u32>, scope: CacheScope) -> NodeHints {
        NodeHints { covers, least: least.map(|it| (it, Arc::from("T.f"))), scope }
    }

    type Part = (Option<CacheControl>, NodeHints);

    fn check(parts: &[Part], directive_s: Option<u32>, expected: Option<CacheControl>) {
        let mut all = CachePolicy::default();
        for (cache_control, hints) in parts {
            all.add(cache_control.as_ref(), hints, directive_s);
        }
        assert_eq!(all.resolve(), expected);
    }

    #[test]
    fn the_least_of_all_parts_holds_and_one_private_part_makes_all_private() {
        let none = NodeHints::default();
        let long = known(60, 10, CacheScope::Private, "users");
        let short = known(5, 30, CacheScope::Public, "matches");
        check(
            &[(Some(long), none.clone()), (Some(short), none)],
            None,
            Some(known(5, 30, CacheScope::Private, "matches")),
        );
    }

    #[test]
    fn what_is_stale_ends_with_the_part_that_ends_first() {
        let none = NodeHints::default();
        let first = known(5, 100, CacheScope::Public, "a");
        let second = known(50, 0, CacheScope::Public, "b");
        check(
            &[(Some(first), none.clone()), (Some(second), none)],
            None,
            Some(known(5, 45, CacheScope::Public, "a")),
        );
    }

    #[test]
    fn hints_shorten_and_never_lengthen() {
        let by_source = known(60, 10, CacheScope::Public, "s");
        let year_s = 365 * 86_400;
        let year = Some(known(year_s, 0, CacheScope::Public, "T.f"));
        check(&[(None, hints(true, Some(year_s), CacheScope::Public))], None, year);
        check(
            &[(Some(by_source.clone()), hints(false, Some(1), CacheScope::Public))],
            None,
            Some(known(1, 0, CacheScope::Public, "T.f")),
        );
        check(&[(Some(by_source.clone()), hints(true, Some(90), CacheScope::Public))], None, Some(by_source));
        let is_stale = || Some(known(0, 10, CacheScope::Public, "s"));
        check(
            &[(is_stale(), hints(false, Some(0), CacheScope::Public))],
            None,
            Some(known(0, 0, CacheScope::Public, "s")),
        );
        check(
            &[(is_stale(), hints(false, Some(4), CacheScope::Public))],
            None,
            Some(known(1, 3, CacheScope::Public, "s")),
        );
    }

    #[test]
    fn what_is_for_one_request_alone_stays_so_under_a_hint() {
        let alone = |it| Some(CacheControl { by_headers: false, ..it });
        let theirs = alone(known(60, 10, CacheScope::Private, "users"));
        let expected = alone(known(10, 0, CacheScope::Private, "T.f"));
        check(&[(theirs, hints(false, Some(10), CacheScope::Public))], None, expected);
    }

    #[test]
    fn what_makes_a_part_old_makes_the_whole_old() {
        let changes = crate::caching::tag_versions::TagVersions::default();
        let of = |fresh_s, tag| {
            let ages = changes.versions([tag]);
            Some(CacheControl { ages, ..known(fresh_s, 0, CacheScope::Public, "s") })
        };
        for changed in ["player-1", "player-2"] {
            let mut all = CachePolicy::default();
            for (fresh_s, tag) in [(5, "player-1"), (9, "player-2")] {
                all.add(of(fresh_s, tag).as_ref(), &hints(false, Some(7), CacheScope::Public), None);
            }
            let told = all.resolve().expect("it lives");
            changes.invalidate_from_remote("player-3", []);
            assert!(changes.are_current(&told.ages));
            changes.invalidate_from_remote(changed, []);
            assert!(!changes.are_current(&told.ages), "{changed}");
        }
    }

    #[test]
    fn a_part_without_a_lifetime_counts_nothing_unless_hints_cover_it() {
        let silent = hints(false, None, CacheScope::Public);
        check(&[(None, silent.clone())], None, None);
        check(
            &[(None, hints(true, Some(7), CacheScope::Public))],
            None,
            Some(known(7, 0, CacheScope::Public, "T.f")),
        );
        let inherits = hints(true, None, CacheScope::Private);
        let lasting = known(60, 0, CacheScope::Public, "s");
        let both = Some(CacheControl { scope: CacheScope::Private, by_headers: false, ..lasting.clone() });
        check(&[(Some(lasting), silent.clone()), (None, inherits)], None, both);
        let by_source = known(60, 0, CacheScope::Public, "s");
        let nothing = known(0, 0, CacheScope::Public, "a part without a lifetime");
        check(&[(Some(by_source), silent.clone()), (None, silent)], None, Some(nothing));
    }

    /// An answer of a service without a lifetime.
    fn silent(scope: CacheScope) -> CacheControl {
        let remaining_ms = CacheControl::ENDLESS_MS;
        CacheControl { remaining_ms, is_silent: true, ..known(0, 0, scope, "s") }
    }

    #[test]
    fn what_says_nothing_has_the_lifetime_that_a_hint_or_the_operation_gives_it_and_else_none() {
        let none = NodeHints::default();
        let nothing = known(0, 0, CacheScope::Public, "a part without a lifetime");
        let part = |it: &CacheControl, hints: NodeHints| [(Some(it.clone()), hints)];
        let public = silent(CacheScope::Public);
        let never = known(0, 0, CacheScope::Public, "s");
        check(&part(&public, none.clone()), None, Some(never.clone()));
        check(
            &part(&public, hints(true, Some(60), CacheScope::Public)),
            None,
            Some(known(60, 0, CacheScope::Public, "T.f")),
        );
        check(
            &part(&public, none.clone()),
            Some(30),
            Some(known(30, 0, CacheScope::Public, "the operation")),
        );
        // A hint further down covers nothing, and holds for what the operation says.
        check(&part(&public, hints(false, Some(60), CacheScope::Public)), None, Some(never));
        check(
            &part(&public, hints(false, Some(5), CacheScope::Public)),
            Some(30),
            Some(known(5, 0, CacheScope::Public, "T.f")),
        );
        check(&part(&public, hints(true, None, CacheScope::Public)), None, None);
        // Some of it says how long: nothing else does so for the rest.
        let mixed = public.clone().and(known(20, 5, CacheScope::Public, "other"));
        check(&part(&mixed, none.clone()), None, Some(nothing));
        check(
            &part(&mixed, hints(true, Some(60), CacheScope::Public)),
            None,
            Some(known(20, 5, CacheScope::Public, "other")),
        );
        // A source's separation by headers stays; an answer that is private by its source gets no lifetime by a hint.
        let theirs = silent(CacheScope::Private);
        check(
            &part(&theirs, hints(true, Some(60), CacheScope::Public)),
            None,
            Some(known(60, 0, CacheScope::Private, "T.f")),
        );
        let alone = CacheControl { by_headers: false, ..known(0, 0, CacheScope::Private, "s") };
        let both = public.and(alone.clone());
        check(&part(&both, hints(true, Some(60), CacheScope::Public)), Some(60), Some(alone));
    }

    #[test]
    fn what_a_hint_makes_private_is_for_one_caller_alone() {
        let private = hints(true, Some(60), CacheScope::Private);
        let expected = Some(CacheControl { by_headers: false, ..known(60, 0, CacheScope::Private, "T.f") });
        check(&[(None, private.clone())], None, expected.clone());
        check(&[(Some(silent(CacheScope::Public)), private.clone())], None, expected.clone());
        check(&[(Some(known(90, 0, CacheScope::Public, "s")), private.clone())], None, expected);
        let theirs = known(90, 0, CacheScope::Private, "s");
        check(&[(Some(theirs), private)], None, Some(known(60, 0, CacheScope::Private, "T.f")));
    }

    #[test]
    fn what_may_not_be_shown_once_it_is_over_binds_the_whole() {
        let strict = CacheControl { must_revalidate: true, ..known(90, 0, CacheScope::Public, "s") };
        let none = NodeHints::default();
        let of = |it: CacheControl| Some(CacheControl { must_revalidate: true, ..it });
        let other = known(60, 0, CacheScope::Public, "other");
        check(&[(Some(strict.clone()), none.clone()), (Some(other.clone()), none.clone())], None, of(other));
        let hinted = of(known(5, 0, CacheScope::Public, "T.f"));
        check(&[(Some(strict), hints(false, Some(5), CacheScope::Public))], None, hinted.clone());
        let says_only_that = CacheControl { must_revalidate: true, ..silent(CacheScope::Public) };
        check(&[(Some(says_only_that), hints(true, Some(5), CacheScope::Public))], None, hinted);
    }

    #[test]
    fn what_may_be_shown_stale_is_told_as_a_second_of_that() {
        let check = |(fresh_ms, stale_ms), (remaining_ms, left_ms)| {
            let part =
                CacheControl { remaining_ms: fresh_ms, stale_ms, ..known(0, 0, CacheScope::Public, "s") };
            let expected = CacheControl { remaining_ms, stale_ms: left_ms, ..part.clone() };
            super::tests::check(&[(Some(part), NodeHints::default())], None, Some(expected));
        };
        check((0, 10_000), (1000, 9000));
        check((300, 10_000), (1000, 9300));
        check((300, 0), (300, 0));
        check((0, 400), (400, 0));
        check((0, 0), (0, 0));
        check((2000, 10_000), (2000, 10_000));
    }

    #[test]
    fn the_operation_speaks_for_parts_that_have_no_lifetime_and_no_others() {
        let silent = NodeHints::default();
        check(&[(None, silent.clone())], Some(30), Some(known(30, 0, CacheScope::Public, "the operation")));
        let never = known(0, 0, CacheScope::Private, "wallet");
        check(&[(Some(never.clone()), silent)], Some(30), Some(never));
    }

    #[test]
    fn a_failed_answer_is_kept_by_nobody() {
        let mut all = CachePolicy::default();
        all.add(Some(&known(60, 10, CacheScope::Public, "s")), &NodeHints::default(), None);
        all.fail();
        let expected = CacheControl { by_headers: false, ..known(0, 0, CacheScope::Private, "an error") };
        assert_eq!(all.resolve(), Some(expected));
    }
}
