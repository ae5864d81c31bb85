//! `@auth`: from rules over claims and objects to the rows that a caller may see and change.
//!
//! A rule is a tree of leaves. A leaf is a test of a claim, which is decided per caller, or a query, which is a condition on the
//! row once its claims are there. Which tests hold, and which queries have their claims, are the facts of a caller: equal facts
//! are one `AuthPolicy`. Values of claims are bound per request, as session variables that [`claims::variables`] makes of a
//! token.
//!
//! **Invariant:** a query whose claims are not there grants nothing, under `not` neither.
//!
//! **Cost:** facts are computed once per request, a test per leaf; policies are made once per combination of facts.

pub mod claims;
pub(crate) mod graph;
pub(crate) mod policy;
pub(crate) mod rule_tree;
mod rules;

use crate::model::TypeId;
pub use claims::TokenVariable;
pub(crate) use rule_tree::FoundRows;
pub(crate) use rules::{Rules, reachable};

/// Operations on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Right {
    Query,
    Add,
    Update,
    Delete,
    Password,
}

impl Right {
    pub(crate) const ALL: [Self; 5] = [Self::Query, Self::Add, Self::Update, Self::Delete, Self::Password];

    /// The number of the check of objects of `ty` in a plan.
    pub(crate) const fn number(self, ty: TypeId) -> u32 {
        ty.0 * Self::ALL.len() as u32 + self as u32
    }
}
