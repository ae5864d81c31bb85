//! Renders introspection that depends on nothing but the schema while planning.
//!
//! Parts that depend on variables stay a node of the engine.

use super::plan_context::PlanContext;
use crate::answer::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use crate::compose::Owner;
use crate::introspect;

/// Makes constants of the members of `root` that can be.
pub(crate) fn const_fold(context: &PlanContext<'_>, output: &mut OutputPlan, root: SelectionSetId) {
    let PlanContext { graph, view, protocol, .. } = *context;
    for at in output.set(root).range() {
        let member = &output.fields[at];
        let is_open = matches!(member.member, OutputKind::Object(_)) && member.same_as.is_none();
        if !is_open || graph.owner(member.field) != Owner::Introspection {
            continue;
        }
        if let Some(bytes) = introspect::fold(view, output, at as u32, protocol) {
            let start = output.constants.len() as u32;
            output.constants.extend_from_slice(&bytes);
            output.fields[at].member = OutputKind::Constant { start, end: output.constants.len() as u32 };
        }
    }
}
