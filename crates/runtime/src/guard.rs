//! Authorization of fields in batch form: a guard says for all parents of a step which of them the caller may ask.
//!
//! **Invariant:** the resolver never sees a parent that its guard refused; a guard that panics or gives another number of answers
//! refuses all.
//!
//! **Cost:** one call per step.

use crate::context::Context;
use crate::resolver::Parents;
use std::panic::AssertUnwindSafe;

/// Says of each parent whether the field may be resolved; `None`: it does not know such parents.
pub(crate) type Guard = Box<dyn Fn(Parents<'_>, &Context) -> Option<Vec<bool>> + Send + Sync>;

/// The guard that `allows` is, on parents of type `P`.
pub(crate) fn guard<P: 'static>(
    allows: impl Fn(&[&P], &Context) -> Vec<bool> + Send + Sync + 'static,
) -> Guard {
    Box::new(move |parents, context| {
        let parents = parents.of::<P>()?;
        let allowed = std::panic::catch_unwind(AssertUnwindSafe(|| allows(&parents, context))).ok()?;
        (allowed.len() == parents.len()).then_some(allowed)
    })
}
