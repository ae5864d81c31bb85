//! Functions of the database that a plan calls: they read what they like, and volatile ones may change it.

use weir_relational::catalog::{FunctionId, Relations, Volatility};
use weir_relational::plan::Plan;

/// Kinds of functions among those that are called.
#[derive(Clone, Copy, Debug)]
pub(super) struct CalledFunctions {
    /// There is one.
    pub(super) any: bool,
    /// There is one that may change data.
    pub(super) volatile: bool,
}

impl CalledFunctions {
    /// Those of `plan`; of one that is made when variables are known, any of the source's.
    pub(super) fn of(relations: &Relations, plan: Option<&Plan>) -> Self {
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
