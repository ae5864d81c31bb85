//! Holds the estimate of an operation against the limit of its caller, and reports costs to the observer.

use super::Engine;
use super::planner::{Bound, Planner, Refusal};
use crate::answer::field_error::Extensions;
use crate::errors::Failure;
use crate::execute::metering::Metering;
use crate::plan::Plan;
use crate::plan::plan_cost::Estimate;
use crate::request::Request;
use crate::request::demand::{DemandControl, DemandMode, OperationCost};

/// Code of an operation that costs more than its caller may spend.
const TOO_EXPENSIVE: &str = "COST_ESTIMATED_TOO_EXPENSIVE";
/// Code of slicing arguments of which not exactly one is given.
const INVALID_SLICING: &str = "COST_INVALID_SLICING_ARGUMENTS";

impl Planner {
    /// The cost of `bound` for a caller of `role`.
    /// # Errors
    /// It is too expensive, or its arguments contradict each other.
    pub(super) fn check_cost(
        &self,
        demand: &DemandControl,
        bound: &Bound,
        request: &Request<'_>,
        role: &str,
    ) -> Result<Option<OperationCost>, Refusal> {
        let Some((cost, weights)) = bound.plan.cost.as_deref().zip(self.weights.as_ref()) else {
            return Ok(None);
        };
        let Estimate { cost: estimated, fault } =
            cost.estimate(weights, self.values(bound.variables.as_ref()));
        let cost = OperationCost { estimated, max: demand.max(role), actual: None };
        match demand.mode {
            DemandMode::Measure => return Ok(Some(cost)),
            DemandMode::Enforce => {}
        }
        if let Some(fault) = fault {
            return Err(vec![Failure::request(INVALID_SLICING, &fault.message())].into());
        }
        let spent = request.spent.map_or(0, |it| it.sum());
        if cost.max.is_some_and(|max| estimated.saturating_add(spent) > max) {
            return Err(Refusal::Expensive(Box::new((cost, refuse_cost(cost, spent)))));
        }
        Ok(Some(cost))
    }

    /// Measures the cost of the answer to `bound`, if somebody gets to know it.
    pub(super) fn metering(&self, bound: &Bound, shows_cost: bool) -> Option<Metering<'_>> {
        let cost = bound.cost?;
        let observer = self.settings.observer.as_ref();
        let weights = self.weights.as_ref().filter(|_| shows_cost || observer.is_some())?;
        Some(Metering { weights, cost, observer, shows_cost })
    }
}

impl Engine {
    /// Tells the observer of an operation that was refused for its cost.
    pub(super) fn report_refusal(&self, refusal: &Refusal) {
        if let (Refusal::Expensive(refused), Some(observer)) = (refusal, &self.planner.settings.observer) {
            observer.cost(None, &refused.0);
        }
    }

    /// Tells the observer the cost of an operation whose answer is not measured.
    pub(super) fn report_cost(&self, plan: &Plan, cost: Option<OperationCost>) {
        if let (Some(cost), Some(observer)) = (cost, &self.planner.settings.observer) {
            observer.cost(plan.number, &cost);
        }
    }
}

/// The error of an operation of this cost, after requests of one list that cost `spent`.
fn refuse_cost(cost: OperationCost, spent: u64) -> Failure {
    let OperationCost { estimated, max, .. } = cost;
    let max = max.unwrap_or_default();
    let before =
        if spent == 0 { String::new() } else { format!(" after {spent} of earlier requests in the list") };
    let message = format!(
        "the operation may cost {estimated}{before}, {max} are allowed: ask for fewer fields, or for shorter lists"
    );
    let extensions = Extensions { members: cost.member().into(), has_code: false, is_whole: false };
    Failure { extensions: Some(Box::new(extensions)), ..Failure::request(TOO_EXPENSIVE, &message) }
}
