//! How long an answer may be kept, and by whom: the least of what its parts allow.
//!
//! A part is one round trip. A source that knows says how long its answer stays true ([`Freshness`]); hints in the schema
//! (`@cacheControl`) shorten that, and give a lifetime to parts that have none. A part without either makes the whole
//! answer one that nobody keeps, as in Apollo Server; an operation's own `@cached(ttl:)` speaks for such parts alone.
//!
//! **Invariant:** the whole never outlives a part, and is private as soon as one part is.
//!
//! Sources: RFC 9111, RFC 5861; `docs/caching.md`.

use crate::source::{Freshness, Scope};
use std::sync::Arc;

/// What a schema says of a type or field: `@cacheControl(maxAge, scope, inheritMaxAge)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// Seconds.
    pub max_age_s: Option<u32>,
    /// Whether it lives as long as what it hangs on.
    pub inherits: bool,
    /// `PRIVATE` binds the whole answer.
    pub scope: Scope,
}

/// A [`Hint`] and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintAt {
    /// A type, of whatever source.
    pub on: String,
    /// One of its fields; without, all fields that give the type.
    pub field: Option<String>,
    /// What it says.
    pub hint: Hint,
}

/// The hints that hold for one piece of a plan, computed once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PieceHints {
    /// Whether every member has a hint of its own, so that a source that knows nothing of lifetimes has one.
    pub covers: bool,
    /// The least `maxAge` of all fields in the piece, and what has it.
    pub least: Option<(u32, Arc<str>)>,
    /// Whether any is private.
    pub scope: Scope,
}

/// The lifetime of a whole answer, while its parts come in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Least {
    /// The least so far; `None` before the first part.
    least: Option<Freshness>,
    scope: Scope,
    /// Whether anything was said of lifetimes at all: by a source, a hint or the operation.
    is_told: bool,
}

impl Least {
    /// Before the first part.
    pub(crate) fn new(is_told: bool) -> Self {
        Self { is_told, ..Self::default() }
    }

    /// Takes in a part: what its source said and what the hints say; `wish_s` is the operation's own word for parts without either.
    pub(crate) fn part(&mut self, freshness: Option<&Freshness>, hints: &PieceHints, wish_s: Option<u32>) {
        self.scope = self.scope.max(hints.scope).max(freshness.map_or(Scope::Public, |it| it.scope));
        self.is_told |= freshness.is_some() || hints.least.is_some() || self.scope == Scope::Private;
        let hinted = hints.least.as_ref().map(|(least_s, by)| by_hint(*least_s, by));
        let said = match (freshness, hinted) {
            (Some(known), Some(hinted)) if hinted.remaining_ms < known.remaining_ms => hinted,
            (Some(known), _) => known.clone(),
            (None, Some(hinted)) if hints.covers => hinted,
            (None, None) if hints.covers => return,
            (None, _) => match wish_s {
                Some(wish_s) => {
                    self.is_told = true;
                    by_hint(wish_s, &Arc::from("the operation"))
                }
                None => by_hint(0, &Arc::from("a part without a lifetime")),
            },
        };
        self.least = Some(match self.least.take() {
            None => said,
            Some(least) => least.and(said),
        });
    }

    /// Nobody keeps it: something failed.
    pub(crate) fn fail(&mut self) {
        if self.is_told {
            self.scope = Scope::Private;
            // Whose it is, the part that failed did not say.
            self.least = Some(Freshness { by_headers: false, ..by_hint(0, &Arc::from("an error")) });
        }
    }

    /// What is told of it, if anything is.
    pub(crate) fn told(self) -> Option<Freshness> {
        let least = self.least.filter(|_| self.is_told)?;
        Some(Freshness { scope: self.scope, ..least })
    }
}

impl Freshness {
    /// What holds for two parts together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let until_ms = |it: &Self| it.remaining_ms.saturating_add(it.stale_ms);
        let until_ms = until_ms(&self).min(until_ms(&other));
        let scope = self.scope.max(other.scope);
        let by_headers = self.by_headers && other.by_headers;
        let shorter = if other.remaining_ms < self.remaining_ms { other } else { self };
        Self { stale_ms: until_ms.saturating_sub(shorter.remaining_ms), scope, by_headers, ..shorter }
    }
}

fn by_hint(fresh_s: u32, by: &Arc<str>) -> Freshness {
    let remaining_ms = fresh_s.saturating_mul(1000);
    Freshness { remaining_ms, stale_ms: 0, scope: Scope::Public, by_headers: true, set_by: Arc::clone(by) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(fresh_s: u32, stale_s: u32, scope: Scope, by: &str) -> Freshness {
        let (remaining_ms, stale_ms) = (1000 * fresh_s, 1000 * stale_s);
        Freshness { remaining_ms, stale_ms, scope, by_headers: true, set_by: by.into() }
    }

    fn hints(covers: bool, least: Option<u32>, scope: Scope) -> PieceHints {
        PieceHints { covers, least: least.map(|it| (it, Arc::from("T.f"))), scope }
    }

    type Part = (Option<Freshness>, PieceHints);

    fn check(parts: &[Part], wish_s: Option<u32>, expected: Option<Freshness>) {
        let mut all = Least::default();
        for (freshness, hints) in parts {
            all.part(freshness.as_ref(), hints, wish_s);
        }
        assert_eq!(all.told(), expected);
    }

    #[test]
    fn the_least_of_all_parts_holds_and_one_private_part_makes_all_private() {
        let none = PieceHints::default();
        let long = known(60, 10, Scope::Private, "users");
        let short = known(5, 30, Scope::Public, "matches");
        check(
            &[(Some(long), none.clone()), (Some(short), none)],
            None,
            Some(known(5, 30, Scope::Private, "matches")),
        );
    }

    #[test]
    fn what_is_stale_ends_with_the_part_that_ends_first() {
        let none = PieceHints::default();
        let first = known(5, 100, Scope::Public, "a");
        let second = known(50, 0, Scope::Public, "b");
        check(
            &[(Some(first), none.clone()), (Some(second), none)],
            None,
            Some(known(5, 45, Scope::Public, "a")),
        );
    }

    #[test]
    fn hints_shorten_and_never_lengthen() {
        let by_source = known(60, 10, Scope::Public, "s");
        check(
            &[(Some(by_source.clone()), hints(false, Some(1), Scope::Public))],
            None,
            Some(known(1, 0, Scope::Public, "T.f")),
        );
        check(&[(Some(by_source.clone()), hints(true, Some(90), Scope::Public))], None, Some(by_source));
    }

    #[test]
    fn a_part_without_a_lifetime_counts_nothing_unless_hints_cover_it() {
        let silent = hints(false, None, Scope::Public);
        check(&[(None, silent.clone())], None, None);
        check(&[(None, hints(true, Some(7), Scope::Public))], None, Some(known(7, 0, Scope::Public, "T.f")));
        let inherits = hints(true, None, Scope::Private);
        let lasting = known(60, 0, Scope::Public, "s");
        let both = Some(Freshness { scope: Scope::Private, ..lasting.clone() });
        check(&[(Some(lasting), silent.clone()), (None, inherits)], None, both);
        let by_source = known(60, 0, Scope::Public, "s");
        let nothing = known(0, 0, Scope::Public, "a part without a lifetime");
        check(&[(Some(by_source), silent.clone()), (None, silent)], None, Some(nothing));
    }

    #[test]
    fn the_operation_speaks_for_parts_that_have_no_lifetime_and_no_others() {
        let silent = PieceHints::default();
        check(&[(None, silent.clone())], Some(30), Some(known(30, 0, Scope::Public, "the operation")));
        let never = known(0, 0, Scope::Private, "wallet");
        check(&[(Some(never.clone()), silent)], Some(30), Some(never));
    }

    #[test]
    fn a_failed_answer_is_kept_by_nobody() {
        let mut all = Least::default();
        all.part(Some(&known(60, 10, Scope::Public, "s")), &PieceHints::default(), None);
        all.fail();
        let expected = Freshness { by_headers: false, ..known(0, 0, Scope::Private, "an error") };
        assert_eq!(all.told(), Some(expected));
    }
}
