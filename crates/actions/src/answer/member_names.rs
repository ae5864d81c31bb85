//! Names of the members of a plan in a handler's answer: those of fields, whatever a client calls them.

use foldhash::HashMap;
use weir_engine::plan::output_plan::{OutputKind, SelectionSetId};
use weir_engine::source::PlanNode;

/// Names by the places of members.
#[derive(Debug, Default)]
pub(crate) struct MemberNames {
    /// By place in the output plan.
    pub(crate) fields: HashMap<u32, Box<str>>,
    /// Fields that other sources need, by set.
    pub(crate) hidden: HashMap<SelectionSetId, Vec<Box<str>>>,
}

impl MemberNames {
    /// Adds the members of `set` and below.
    pub(crate) fn add(&mut self, node: &PlanNode<'_>, set: SelectionSetId) {
        for place in node.output.set(set).range() {
            let of = &node.output.fields[place];
            match of.member {
                OutputKind::Object(below) => self.add(node, below),
                OutputKind::Leaf => {}
                OutputKind::Abstract(_) | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {
                    continue;
                }
            }
            if of.same_as.is_none() {
                self.fields.insert(place as u32, node.schema.field_name(of.field).into());
            }
        }
        let hidden = node.output.set(set).hidden.iter();
        self.hidden.insert(set, hidden.map(|it| node.schema.field_name(*it).into()).collect());
    }
}
