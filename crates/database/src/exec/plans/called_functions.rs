//! Functions of the database that a plan calls: they read what they like, and volatile ones may change it.

use weir_relational::catalog::{FunctionId, Relations, Volatility};
use weir_relational::plan::Plan;

/// Kinds of functions among those that are called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalledFunctions {
    /// True if any function is called.
    pub(crate) any: bool,
    /// True if a function is called that may change data.
    pub(crate) volatile: bool,
}

impl CalledFunctions {
    /// The functions that `plan` calls; without a plan, which variables decide, all functions of the source.
    pub(crate) fn of(relations: &Relations, plan: Option<&Plan>) -> Self {
        let is_volatile = |it: FunctionId| relations.function(it).1.volatility == Volatility::Volatile;
        match plan {
            Some(plan) => {
                let volatile = plan.functions.iter().any(|it| is_volatile(*it));
                Self { any: !plan.functions.is_empty(), volatile }
            }
            None => {
                let mut all = (0..relations.functions.len() as u32).map(FunctionId);
                Self { any: !relations.functions.is_empty(), volatile: all.any(is_volatile) }
            }
        }
    }
}
