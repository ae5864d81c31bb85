//! `$selection`: the client's selection below a field, as GraphQL text for a server.
//!
//! Fields stand under their own names, without aliases: the answer is read by names, and values are written under the client's.
//!
//! **Cost:** once per plan.

use crate::sdl::Connector;
use weir_engine::plan::output_plan::{OutputKind, SelectionSetId};
use weir_engine::source::PlanNode;

/// Text such as ` { id crew { login } }` for the member at `member`; empty for a leaf, or if no GraphQL server is called.
pub(super) fn of(connector: &Connector, node: &PlanNode<'_>, member: u32) -> String {
    let mut out = String::new();
    if connector.graphql.is_none() {
        return out;
    }
    append_below(node, node.output.fields[member as usize].member, &mut out);
    out
}

/// Appends the selection below a member. Recursion is bounded by the depth of the output plan.
fn append_below(node: &PlanNode<'_>, member: OutputKind, out: &mut String) {
    match member {
        OutputKind::Object(set) => {
            out.push_str(" {");
            write(node, set, out);
            out.push_str(" }");
        }
        OutputKind::Abstract(choice) => {
            out.push_str(" { __typename");
            for &(ty, set) in &node.output.type_switches[choice.0 as usize].sets {
                out.push_str(" ... on ");
                out.push_str(node.schema.type_name(ty));
                out.push_str(" {");
                write(node, set, out);
                out.push_str(" }");
            }
            out.push_str(" }");
        }
        OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
    }
}

fn write(node: &PlanNode<'_>, set: SelectionSetId, out: &mut String) {
    let start = out.len();
    let mut leaves: Vec<&str> = Vec::new();
    let members = node.output.set(set).range().map(|at| &node.output.fields[at]);
    for of in members {
        let name = node.schema.field_name(of.field);
        match of.member {
            OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
            OutputKind::Leaf if leaves.contains(&name) => {}
            OutputKind::Leaf => {
                out.push(' ');
                out.push_str(name);
                leaves.push(name);
            }
            // A field with two aliases is requested once, with the selections of both.
            OutputKind::Object(_) | OutputKind::Abstract(_) => {
                out.push(' ');
                out.push_str(name);
                append_below(node, of.member, out);
            }
        }
    }
    for &field in &node.output.set(set).hidden {
        let name = node.schema.field_name(field);
        if !leaves.contains(&name) {
            out.push(' ');
            out.push_str(name);
            leaves.push(name);
        }
    }
    if out.len() == start {
        out.push_str(" __typename");
    }
}
