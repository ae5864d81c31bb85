//! Sharing of a plan's answers: headers that separate callers, tags that invalidate.
//!
//! A plan shares answers only with itself, unless the operation has `@cached`: then all operations with the same [`CacheIdentity`]
//! share them.
//!
//! **Invariant:** the key holds every header that a source of the plan reads, forwards or varies by, every session variable and
//! claim it reads, and the profile of the caller: through the plan, or by its number.

use super::cache_directive::CacheDirective;
use super::cache_identity::CacheIdentity;
use crate::caching::tag_versions;
use crate::caller::{Caller, Profile};
use crate::plan::PreparedNode;
use crate::request::request_headers::Headers;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_language::ast::OperationKind;
use weir_language::value::Variables;

/// Rules for sharing the answers of one plan.
#[derive(Debug)]
pub(crate) struct ResponseSharing {
    id: Id,
    /// Lower case, each once, in order.
    headers: Vec<Box<str>>,
    /// Session variables and claims that the nodes read, each once, in order.
    pub(crate) claims: Arc<[Box<str>]>,
    /// The headers in one line.
    pub(crate) vary: Arc<str>,
    /// Slots of the tags that the nodes touch.
    pub(crate) tags: Vec<u16>,
    /// True if equal requests in flight are coalesced.
    pub(crate) flights: bool,
}

/// Operations that share the answers.
#[derive(Debug)]
enum Id {
    /// Only the plan with this number.
    Plan(u64),
    /// All operations with this identity, for the profile with this number.
    Operation(CacheIdentity, u64),
}

/// Numbers of plans: no two of the process have the same.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Rules for sharing the answers of a query with these nodes; `None` if they may not be shared.
pub(in crate::plan) fn sharing_rules(
    kind: OperationKind,
    cache_directive: Option<CacheDirective>,
    profile: &Profile,
    nodes: &[PreparedNode],
) -> Option<ResponseSharing> {
    let lives = |it: &PreparedNode| it.fetch.has_lifetime() || it.hints.covers;
    let asked = || nodes.iter().filter(|it| it.source.is_some());
    if kind != OperationKind::Query || asked().next().is_none() {
        return None;
    }
    // If one part has no lifetime and the operation sets none, the whole answer cannot be cached.
    let keeps = cache_directive.is_some() || asked().all(lives);
    if !keeps {
        return None;
    }
    let mut headers: Vec<Box<str>> = nodes.iter().flat_map(|it| it.fetch.reads_headers()).cloned().collect();
    headers.sort_unstable();
    headers.dedup();
    let mut claims: Vec<Box<str>> = nodes.iter().flat_map(|it| it.fetch.reads_claims()).cloned().collect();
    claims.sort_unstable();
    claims.dedup();
    let vary = headers.join(", ").into();
    let flights = asked().all(|it| it.fetch.has_lifetime());
    let id = match cache_directive {
        Some(cache_directive) => Id::Operation(cache_directive.cache_identity, profile.number()),
        None => Id::Plan(NEXT.fetch_add(1, Ordering::Relaxed)),
    };
    Some(ResponseSharing { id, headers, claims: claims.into(), vary, tags: tags(nodes), flights })
}

/// Places of all tags the nodes touch, each once.
fn tags(nodes: &[PreparedNode]) -> Vec<u16> {
    let mut tags: Vec<u16> =
        nodes.iter().flat_map(|it| it.fetch.touches()).map(|it| tag_versions::place(&it.0)).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

impl ResponseSharing {
    /// The key for these variables and headers of `caller`.
    pub(crate) fn key(&self, variables: &Variables, headers: &dyn Headers, caller: &Caller) -> Vec<u8> {
        let mut key =
            Vec::with_capacity(96 + 16 * variables.values.nodes.len() + variables.values.text.len());
        match &self.id {
            Id::Plan(number) => {
                key.push(0);
                key.extend_from_slice(&number.to_le_bytes());
                variables.write_key(None, &mut key);
            }
            Id::Operation(stem, profile) => {
                key.push(1);
                key.extend_from_slice(&profile.to_le_bytes());
                key.extend_from_slice(&stem.digest);
                variables.write_key(stem.idle, &mut key);
            }
        }
        for name in &self.headers {
            headers.each(name, &mut |value| {
                key.push(1);
                key.extend_from_slice(&(value.len() as u32).to_le_bytes());
                key.extend_from_slice(value);
            });
            key.push(0);
        }
        for name in &*self.claims {
            let value = caller.value(name);
            key.push(u8::from(value.is_some()));
            let value = value.unwrap_or_default().as_bytes();
            key.extend_from_slice(&(value.len() as u32).to_le_bytes());
            key.extend_from_slice(value);
        }
        key
    }
}
