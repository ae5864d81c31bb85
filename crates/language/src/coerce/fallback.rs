//! Variables in fields of input objects that have a default: when such a variable was not sent, the field has its default, as if it had not
//! been written.
//!
//! A field with its variable is one more variable of the plan, numbered behind the operation's own and its JSON literals, so that no source
//! knows of defaults within literals.
//!
//! **Cost:** found once, while planning. A variable that was sent is not copied: both numbers lead to one value.
//! Source: GraphQL specification, section 3.10 (input coercion of input objects).

use super::input_walk::NODES_MAX;
use crate::ids::InputId;
use crate::syntax::ast::ValueId;
use crate::value::{Node, Values, Variables};

/// A variable of the operation and the input field whose default stands in for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// The number of the variable.
    pub variable: u32,
    /// The field that has the default.
    pub input: InputId,
    /// The default's place in the schema's defaults.
    pub(super) default: u32,
}

/// The fallbacks of an operation: each pair of variable and field once.
#[derive(Clone, Debug, Default)]
pub(super) struct Fallbacks {
    pub(super) all: Vec<Fallback>,
    /// The places of the variables in the document, sorted, each with its fallback.
    places: Vec<(ValueId, u32)>,
}

impl Fallbacks {
    pub(super) fn new(found: impl Iterator<Item = (ValueId, Fallback)>) -> Self {
        let mut found: Vec<(ValueId, Fallback)> = found.collect();
        found.sort_unstable_by_key(|it| (it.1.variable, it.1.input.0));
        let mut all = Vec::new();
        let mut places = Vec::with_capacity(found.len());
        for (value, fallback) in found {
            if all.last() != Some(&fallback) {
                all.push(fallback);
            }
            places.push((value, all.len() as u32 - 1));
        }
        places.sort_unstable_by_key(|it| it.0.0);
        Self { all, places }
    }

    /// The number among the fallbacks of the variable at `value`.
    pub(super) fn position(&self, value: ValueId) -> Option<u32> {
        let at = self.places.binary_search_by_key(&value.0, |it| it.0.0).ok()?;
        Some(self.places[at].1)
    }

    /// Appends the value of each to `out`.
    /// # Errors
    /// The fallback whose default has no room.
    pub(super) fn fill(&self, defaults: &Values, out: &mut Variables) -> Result<(), Fallback> {
        for fallback in &self.all {
            let start = match out.node(fallback.variable) {
                Node::Absent => {
                    let at = fallback.default as usize;
                    let start = out.values.nodes.len();
                    if start + defaults.end(at) - at > NODES_MAX {
                        return Err(*fallback);
                    }
                    out.values.push_copy(defaults, at);
                    start as u32
                }
                _ => out.starts[fallback.variable as usize],
            };
            out.starts.push(start);
        }
        Ok(())
    }
}
