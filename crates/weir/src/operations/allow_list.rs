//! The allow list: the documents that roles other than admin may send.
//!
//! Documents are compared in their normal form ([`weir_language::normal_form`]), as SHA-256 digests.
//!
//! **Invariant:** a text that is not parsed is not allowed, but for one that the engine refuses to parse too.
//!
//! **Cost:** one hash of a text that was allowed before, and one lock of a shard; nothing is parsed or allocated.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use weir_language::limits::Limits;
use weir_language::normal_form::normal_form;
use weir_language::parser::{self, Edition};

/// Maximum size of cached texts, in bytes.
pub(super) const TEXTS_BYTES_MAX: u64 = 16 << 20;

/// Digest of a normal form.
pub(super) type Form = [u8; 32];

/// Roles that may send a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Every role.
    pub(crate) is_global: bool,
    /// These roles.
    pub(crate) roles: Vec<String>,
}

impl Scope {
    fn has(&self, role: &str) -> bool {
        self.is_global || self.roles.iter().any(|it| it == role)
    }
    fn add(&mut self, other: &Self) {
        self.is_global |= other.is_global;
        self.roles
            .extend(other.roles.iter().filter(|it| !self.roles.contains(it)).cloned().collect::<Vec<_>>());
    }
}

/// Weight of a cached text: its bytes.
#[derive(Clone)]
pub(super) struct TextBytes;

impl<V> Weighter<Box<str>, V> for TextBytes {
    fn weight(&self, text: &Box<str>, _: &V) -> u64 {
        /// Overhead per cache entry, in bytes; an estimate.
        const ENTRY_BYTES: u64 = 128;
        text.len() as u64 + ENTRY_BYTES
    }
}

/// Documents of all listed collections.
pub(crate) struct AllowList {
    allowed: HashMap<Form, Arc<Scope>>,
    /// Cache of texts that matched.
    known: Cache<Box<str>, Arc<Scope>, TextBytes>,
    limits: Limits,
}

impl std::fmt::Debug for AllowList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AllowList").field("documents", &self.allowed.len()).finish_non_exhaustive()
    }
}

impl AllowList {
    /// Builds a list of `documents` with the roles that may send each. Requests are parsed within `limits`. Invalid documents are skipped.
    pub(crate) fn new<'d>(documents: impl Iterator<Item = (&'d str, Scope)>, limits: Limits) -> Self {
        let mut scopes: HashMap<Form, Scope> = HashMap::new();
        for (text, scope) in documents {
            if let Some(form) = form(text, &Limits::NONE) {
                scopes.entry(form).or_default().add(&scope);
            }
        }
        let allowed = scopes.into_iter().map(|(form, scope)| (form, Arc::new(scope))).collect();
        Self { allowed, known: Cache::with_weighter(1024, TEXTS_BYTES_MAX, TextBytes), limits }
    }

    /// True if `role` may send `text`, or if the engine will refuse to parse it.
    pub(crate) fn allows(&self, text: &str, role: &str) -> bool {
        if let Some(scope) = self.known.get(text) {
            return scope.has(role);
        }
        let Some(form) = form(text, &self.limits) else { return true };
        let Some(scope) = self.allowed.get(&form) else { return false };
        // Only matching texts are cached, so clients cannot evict them with others.
        self.known.insert(text.into(), Arc::clone(scope));
        scope.has(role)
    }
}

/// Digest of the normal form of `text`.
pub(super) fn form(text: &str, limits: &Limits) -> Option<Form> {
    // The widest grammar that the engine takes: a text that this cannot parse would pass the list unread.
    let document = parser::parse_edition(text, limits, Edition::September2026).ok()?;
    Some(Sha256::digest(normal_form(&document)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> AllowList {
        let global = || Scope { is_global: true, roles: Vec::new() };
        let of =
            |roles: &[&str]| Scope { is_global: false, roles: roles.iter().map(|it| (*it).into()).collect() };
        let documents = [
            ("query A { boat { name } }", global()),
            ("{ crew { id __typename } }", of(&["captain"])),
            ("{ crew { id } }", of(&["mate"])),
            ("{ broken", global()),
        ];
        AllowList::new(documents.into_iter(), Limits::STANDARD)
    }

    #[test]
    fn documents_are_compared_and_roles_are_exact() {
        let list = list();
        for (text, role, expected) in [
            ("query A { boat { name } }", "user", true),
            ("query A { __typename boat { __typename, name } } # a", "user", true),
            ("query B { boat { name } }", "user", false),
            ("{ crew { id } }", "captain", true),
            ("{ crew { __typename id } }", "mate", true),
            ("{ crew { id } }", "user", false),
            ("{ crew { id } }", "Mate", false),
            ("{ __schema { types { name } } }", "user", false),
            // The engine takes empty sets over `/graphql`, so the list has to.
            ("{ other {} }", "user", false),
            ("query A { boat { name } crew {} }", "user", false),
            // The engine says what is wrong with it.
            ("{ broken", "user", true),
        ] {
            // The second time by the text that is known.
            assert_eq!([list.allows(text, role), list.allows(text, role)], [expected; 2], "{role}: {text}");
        }
    }

    #[test]
    fn only_texts_of_the_list_are_kept() {
        let list = list();
        for number in 0..100 {
            assert!(!list.allows(&format!("{{ other{number} }}"), "user"));
        }
        assert_eq!(list.known.len(), 0);
    }
}
