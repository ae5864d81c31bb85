//! Resolvers of both kinds under one name.

use super::leaf_resolver::{Leaf, TypedLeaf};
use super::{Resolver, TypedResolver};

/// The resolver of a field: a [`Resolver`] for all parents of a step, or a [`Leaf`] of one object.
///
/// ```
/// use weir_runtime::{AnyResolver, Context, leaf, root};
/// let resolvers: [AnyResolver; 2] = [root(|_: &(), _: &Context| 1).into(), leaf(|number: &i32| number + 1).into()];
/// # let _ = resolvers;
/// ```
pub enum AnyResolver {
    /// For all parents of a step.
    Step(Resolver),
    /// A resolver of one object, synchronous.
    Leaf(Leaf),
}

impl<I, A> From<TypedResolver<I, A>> for AnyResolver {
    fn from(typed: TypedResolver<I, A>) -> Self {
        Self::Step(typed.resolver)
    }
}

impl<A: ?Sized> From<TypedLeaf<A>> for AnyResolver {
    fn from(typed: TypedLeaf<A>) -> Self {
        Self::Leaf(typed.leaf)
    }
}
