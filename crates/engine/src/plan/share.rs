//! What the answers of a plan may be shared by: which headers tell callers apart, which tags make them old.
//!
//! **Invariant:** the key holds every header a source of the plan reads, forwards or is told apart by.

use super::PlannedPiece;
use super::keep::Wish;
use crate::responses::Responses;
use crate::source::Headers;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_language::ast::OperationKind;
use weir_language::value::Variables;

/// See the module.
#[derive(Debug)]
pub(crate) struct Sharing {
    /// No two plans of the process have the same.
    id: u64,
    /// Lower case, each once, in order.
    headers: Vec<Box<str>>,
    /// The same in one line.
    pub(crate) vary: Arc<str>,
    /// Places of the tags that the parts touch.
    pub(crate) tags: Vec<u16>,
    /// Whether equal requests in flight are answered once.
    pub(crate) flights: bool,
}

/// Numbers of plans.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Whether and by what the answers of a query of these pieces may be shared.
pub(super) fn sharing(kind: OperationKind, wish: Option<Wish>, pieces: &[PlannedPiece]) -> Option<Sharing> {
    let lives = |it: &PlannedPiece| it.fetch.has_lifetime() || it.hints.covers;
    let asked = || pieces.iter().filter(|it| it.source.is_some());
    if kind != OperationKind::Query || asked().next().is_none() {
        return None;
    }
    // One part that says nothing, and no word of the operation for it: nobody ever keeps the whole.
    let keeps = wish.is_some() || asked().all(lives);
    if !keeps {
        return None;
    }
    let mut headers: Vec<Box<str>> = pieces.iter().flat_map(|it| it.fetch.reads_headers()).cloned().collect();
    headers.sort_unstable();
    headers.dedup();
    let vary = headers.join(", ").into();
    let flights = asked().all(|it| it.fetch.has_lifetime());
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    Some(Sharing { id, headers, vary, tags: tags(pieces), flights })
}

/// Places of all tags the pieces touch, each once.
pub(super) fn tags(pieces: &[PlannedPiece]) -> Vec<u16> {
    let mut tags: Vec<u16> = pieces.iter().flat_map(|it| it.fetch.touches()).map(Responses::place).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

impl Sharing {
    /// The key for these variables and headers.
    pub(crate) fn key(&self, variables: &Variables, headers: &dyn Headers) -> Vec<u8> {
        let mut key =
            Vec::with_capacity(64 + 16 * variables.values.nodes.len() + variables.values.text.len());
        key.extend_from_slice(&self.id.to_le_bytes());
        variables.write_key(&mut key);
        for name in &self.headers {
            headers.each(name, &mut |value| {
                key.push(1);
                key.extend_from_slice(&(value.len() as u32).to_le_bytes());
                key.extend_from_slice(value);
            });
            key.push(0);
        }
        key
    }
}
