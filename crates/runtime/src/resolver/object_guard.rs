//! Authorization in batch form: a guard decides for all objects of a step which of them are allowed. It is attached to a field, for
//! its parents, to a type, for its objects, or to a list, for its items.
//!
//! **Invariant:** the resolver never sees a parent that its guard refused; a guard that panics, gives another number of answers or
//! gets objects of another Rust type refuses all.
//!
//! **Cost:** one call per step.

use super::Parents;
use crate::context::Context;
use std::panic::AssertUnwindSafe;

/// Decides for each object whether it is allowed; `None`: objects of an unknown type.
pub(crate) type Guard = Box<dyn Fn(Parents<'_>, &Context) -> Option<Vec<bool>> + Send + Sync>;

/// Type-erased guard of `allows`, for objects of type `P`.
pub(crate) fn guard<P: 'static>(
    allows: impl Fn(&[&P], &Context) -> Vec<bool> + Send + Sync + 'static,
) -> Guard {
    Box::new(move |parents, context| {
        let Some(parents) = parents.downcast::<P>() else {
            let expected = std::any::type_name::<P>();
            tracing::error!(expected, "a guard got objects of another Rust type");
            return None;
        };
        let allowed = std::panic::catch_unwind(AssertUnwindSafe(|| allows(&parents, context))).ok()?;
        (allowed.len() == parents.len()).then_some(allowed)
    })
}
