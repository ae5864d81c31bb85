//! Makes the plan to run from the front end's plan: the policy restricts it, the other passes finish it.

use super::shard_refusals;
use crate::exec::errors::error_with_code;
use crate::frontend::form::Form;
use crate::frontend::{ApiFrontend, Ask};
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{FieldError, Ids, PlanError, Protocol};
use weir_language::value::Variables;
use weir_relational::passes;
use weir_relational::plan::{Plan, Unset};

/// The plan of `ask`, restricted by the front end's policy and finished by the other passes.
///
/// # Errors
/// Errors of the operation.
pub fn plan(
    frontend: &dyn ApiFrontend,
    ids: &Ids,
    output: &OutputPlan,
    ask: &Ask,
    variables: Option<(&Variables, &Form)>,
) -> Result<Plan, PlanError> {
    let mut plan = frontend.compile(ids, output, ask, variables)?;
    passes::finish(&mut plan, frontend.relations(), &*frontend.policy(&ask.facts));
    if let Some(unset) = plan.unset.first() {
        return Err(sets_nothing(unset, ask.protocol));
    }
    match plan.unsupported.first() {
        Some(refusal) => {
            let error = shard_refusals::shard_refusal(refusal, frontend, &ask.facts, ask.protocol);
            Err(PlanError { error, field: refusal.field })
        }
        None => Ok(plan),
    }
}

/// The error of an update for which neither the client nor the policy sets a value.
#[cold]
fn sets_nothing(unset: &Unset, protocol: Protocol) -> PlanError {
    let message = "an update needs at least one operator, such as `_set`";
    let error = error_with_code(protocol, "BAD_USER_INPUT", "validation-failed", message);
    PlanError { error: FieldError { hasura_path: Some(unset.path.clone()), ..error }, field: unset.field }
}
