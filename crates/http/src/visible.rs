//! Visibility of members with guards, for a caller.
//!
//! **Invariant:** the facts of a caller are one bit for each condition, the first in the lowest place; a text without conditions has none,
//! and neither has the admin, unless something is hidden from everybody.

use crate::sdl::{Condition, Guard, Guarded};
use weir_engine::caller::{Claims, Facts, Identity};
use weir_language::json::Json;
use weir_language::schema::{Schema, Visibility};

/// Maximum nesting of a claim with scopes.
const DEPTH_MAX: u32 = 8;

/// Appends the facts of `identity`.
pub(crate) fn profile(conditions: &[Condition], identity: &Identity, facts: &mut Facts) {
    if conditions.is_empty() || identity.is_admin() && !conditions.contains(&Condition::Nobody) {
        return;
    }
    let start = facts.len();
    facts.resize(start + conditions.len().div_ceil(64), 0);
    for (at, condition) in conditions.iter().enumerate() {
        facts[start + at / 64] |= u64::from(holds(condition, identity)) << (at % 64);
    }
}

fn holds(condition: &Condition, identity: &Identity) -> bool {
    match condition {
        Condition::Nobody => false,
        _ if identity.is_admin() => true,
        Condition::Authenticated => !identity.is_anonymous,
        Condition::Roles(roles) => roles.iter().any(|it| **it == *identity.role),
        Condition::Scopes(groups) => {
            groups.iter().any(|group| group.iter().all(|it| has_scope(&identity.claims, it)))
        }
    }
}

/// True if the token's `scope` or `scp` contains `scope`: a space-separated text or a list. Source: RFC 8693, section 4.2.
fn has_scope(claims: &Claims, scope: &str) -> bool {
    let has = |claim: &str| {
        let Ok(json) = Json::parse(claim.as_bytes(), DEPTH_MAX) else { return false };
        let root = json.root();
        match root.as_str() {
            Some(words) => words.split_ascii_whitespace().any(|it| it == scope),
            None => root.is_array() && root.items().any(|it| it.as_str().is_some_and(|it| it == scope)),
        }
    };
    ["scope", "scp"].iter().filter_map(|it| claims.claim(it)).any(has)
}

/// The members of `schema` visible to callers with these facts.
pub(crate) fn visibility(schema: &Schema, guards: &[Guard], facts: &[u64]) -> Option<Visibility> {
    let holds = |at: u32| facts.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
    let mut hidden = guards.iter().filter(|it| !holds(it.condition)).peekable();
    hidden.peek()?;
    let mut seen = Visibility::everything(schema);
    for guard in hidden {
        match guard.guarded {
            Guarded::Type(id) => seen.show_type(id, false),
            Guarded::Field(id) => seen.show_field(id, false),
        }
    }
    seen.close(schema);
    Some(seen)
}
