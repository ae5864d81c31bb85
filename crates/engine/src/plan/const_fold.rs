//! Renders introspection that depends on nothing but the schema while planning.
//!
//! Parts that depend on variables stay a piece of the engine.

use super::build::PlanContext;
use super::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use crate::compose::Owner;
use crate::introspect;

/// Makes constants of the members of `root` that can be.
pub(crate) fn const_fold(context: &PlanContext<'_>, shape: &mut OutputPlan, root: SelectionSetId) {
    let PlanContext { graph, view, protocol, .. } = *context;
    for at in shape.set(root).range() {
        let member = &shape.fields[at];
        let is_open = matches!(member.member, OutputKind::Object(_)) && member.same_as.is_none();
        if !is_open || graph.owner(member.field) != Owner::Introspection {
            continue;
        }
        if let Some(bytes) = introspect::fold(view, shape, at as u32, protocol) {
            let start = shape.constants.len() as u32;
            shape.constants.extend_from_slice(&bytes);
            shape.fields[at].member = OutputKind::Constant { start, end: shape.constants.len() as u32 };
        }
    }
}
