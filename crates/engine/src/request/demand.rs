//! Demand control: what an operation may cost, by `@cost` and `@listSize`, before any source is asked.
//!
//! `rules` are the directives as data, `weights` those of a graph, `formula` is arithmetic over variables. `plan/plan_cost` compiles an
//! output plan to a formula, and `execute/answer_meter` reads the actual cost from the bytes of an answer.
//!
//! **Invariant:** the same rules make estimate and actual cost; an estimate never wraps, it stops at [`COST_MAX`].
//!
//! **Cost:** nothing where no demand control is set. Else a comparison per request, and a few operations where variables decide; the
//! actual cost is one pass over the answer.
//! Source: the cost directive specification (IBM), with one measure and the weights of Federation's `@cost`.

mod directives;
pub(crate) mod formula;
pub(crate) mod list_argument;
pub(crate) mod resolve_rules;
mod rules;
pub(crate) mod units;
pub(crate) mod weights;

pub use crate::telemetry::operation_cost::OperationCost;
pub use directives::{CostDirective, read_cost_rules};
pub use rules::{CostRule, CostWeight, ListSize, Rule};
pub use units::COST_MAX;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Treatment of an operation whose cost exceeds its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemandMode {
    /// It runs and is counted.
    Measure,
    /// It is refused.
    Enforce,
}

/// Limits on the cost of operations.
#[derive(Clone, Debug)]
pub struct DemandControl {
    /// Treatment of operations that exceed a limit.
    pub mode: DemandMode,
    /// The greatest estimate of callers whose role has no limit of its own; `None`: any.
    pub max: Option<u64>,
    /// Limits of roles, in place of `max`.
    pub role_max: BTreeMap<Box<str>, u64>,
    /// Roles that `max` does not concern.
    pub exempt_roles: Vec<Box<str>>,
    /// Size of a list that nothing else limits.
    pub list_size: u32,
    /// Weight of a mutation, whatever it asks for.
    pub mutation_weight: u32,
    /// Weights and list sizes, which overrule those of sources. Those that fit nothing are ignored; [`Graph::check_cost_rules`]
    /// finds them.
    ///
    /// [`Graph::check_cost_rules`]: crate::compose::Graph::check_cost_rules
    pub rules: Vec<CostRule>,
}

impl DemandControl {
    /// Counts without a limit.
    pub const STANDARD: Self = Self {
        mode: DemandMode::Enforce,
        max: None,
        role_max: BTreeMap::new(),
        exempt_roles: Vec::new(),
        list_size: 100,
        mutation_weight: 10,
        rules: Vec::new(),
    };

    /// The limit of `role`.
    pub fn max(&self, role: &str) -> Option<u64> {
        let own = if self.role_max.is_empty() { None } else { self.role_max.get(role).copied() };
        own.or_else(|| self.max.filter(|_| !self.exempt_roles.iter().any(|it| &**it == role)))
    }
}

/// Cost of the requests of one list that ran so far.
#[derive(Debug, Default)]
pub struct SpentCost(AtomicU64);

impl SpentCost {
    /// Adds the estimate of a request that runs.
    pub(crate) fn add(&self, cost: u64) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| Some(it.saturating_add(cost)));
    }

    /// The sum.
    pub(crate) fn sum(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
