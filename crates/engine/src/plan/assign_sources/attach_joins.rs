//! Puts nodes below a set: its members become foreign, and what they ask for moves into a set of the node's own.
//!
//! **Invariant:** the members of a node below the root are the members of its set, in order, so that the columns of its
//! reply are.

use super::assigned_node::AssignedNode;
use crate::answer::field_error::FieldError;
use crate::answer::output_plan::{
    OutputArgument, OutputField, OutputKind, OutputPlan, PlanNodeId, SelectionSet, SelectionSetId,
};
use crate::compose::Joined;
use crate::plan::ParentKeys;
use crate::source::{AnswerForm, SeparateFetchId};
use weir_language::schema::{FieldId, TypeId};

/// Position of a node below its parent.
#[derive(Clone, Copy)]
pub(super) struct Attachment {
    /// The set whose rows are the parents.
    pub(super) set: SelectionSetId,
    /// The set's node.
    pub(super) parent: PlanNodeId,
    /// The new one.
    pub(super) node: PlanNodeId,
}

impl Attachment {
    /// The keys as hidden fields of the set, each once.
    fn parent_keys(self, output: &mut OutputPlan, keys: &[FieldId], required: usize) -> ParentKeys {
        let hidden = &mut output.sets[self.set.0 as usize].hidden;
        let places = keys.iter().map(|key| {
            let known = hidden.iter().position(|it| it == key);
            known.unwrap_or_else(|| {
                hidden.push(*key);
                hidden.len() - 1
            }) as u32
        });
        ParentKeys { node: self.parent, set: self.set, hidden: places.collect(), required }
    }

    /// Makes the member at `at` foreign: the new node answers it in `column` by the member that is pushed next.
    fn make_foreign(self, output: &mut OutputPlan, at: usize, column: u32) {
        let field = output.fields.len() as u32;
        output.fields[at].member = OutputKind::Foreign { node: self.node, field, column };
    }
}

/// A set of the last `len` members, which stand on objects of type `on`.
pub(super) fn own_set(output: &mut OutputPlan, on: TypeId, len: u32) -> SelectionSetId {
    let start = output.fields.len() as u32 - len;
    output.sets.push(SelectionSet { on, start, len, hidden: Vec::new(), is_entity: false });
    SelectionSetId(output.sets.len() as u32 - 1)
}

/// Has a root field of a source answer the member at `at`.
pub(super) fn attach_join(
    join: &Joined,
    output: &mut OutputPlan,
    at: usize,
    hanging: Attachment,
) -> AssignedNode {
    let parent = Some(hanging.parent_keys(output, &join.keys, join.keys.len()));
    let arguments_start = output.arguments.len() as u32;
    for index in 0..output.fields[at].arguments_len {
        let given = output.arguments[(output.fields[at].arguments_start + index) as usize];
        let input = join.target_input(given.input);
        output.arguments.push(OutputArgument { input, ..given });
    }
    for &(input, value) in &join.arguments {
        let copied = output.literals.nodes.len() as u32;
        output.literals.push_copy(&join.values, value as usize);
        output.arguments.push(OutputArgument { input, value: copied, default: None });
    }
    let arguments_len = output.arguments.len() as u32 - arguments_start;
    let asked = output.fields[at].clone();
    hanging.make_foreign(output, at, 0);
    output.fields.push(OutputField {
        field: join.target,
        arguments_start,
        arguments_len,
        same_as: None,
        ..asked
    });
    let set = own_set(output, join.root, 1);
    let fields = vec![output.fields.len() as u32 - 1];
    AssignedNode {
        source: Some(join.source),
        set,
        fields,
        parent,
        part: None,
        answer: AnswerForm::Rows,
        refused: None,
    }
}

/// A separate fetch of a source and its keys.
pub(super) struct SeparateCall<'k> {
    pub(super) source: u16,
    pub(super) part: SeparateFetchId,
    pub(super) keys: &'k [FieldId],
    /// Number of leading keys that must not be null.
    pub(super) required: usize,
}

/// Has one part of a source answer the members at `members`.
pub(super) fn attach_separate(
    call: &SeparateCall<'_>,
    output: &mut OutputPlan,
    members: &[u32],
    hanging: Attachment,
) -> AssignedNode {
    let SeparateCall { source, part, keys, required } = *call;
    let parent = Some(hanging.parent_keys(output, keys, required));
    for (column, &at) in members.iter().enumerate() {
        let asked = output.fields[at as usize].clone();
        hanging.make_foreign(output, at as usize, column as u32);
        output.fields.push(OutputField { same_as: None, ..asked });
    }
    let set = own_set(output, output.set(hanging.set).on, members.len() as u32);
    let fields = output.set(set).range().map(|it| it as u32).collect();
    AssignedNode {
        source: Some(source),
        set,
        fields,
        parent,
        part: Some(part),
        answer: AnswerForm::Rows,
        refused: None,
    }
}

/// Makes the member at `at` foreign, in a node that always fails.
pub(super) fn refuse(
    error: FieldError,
    output: &mut OutputPlan,
    at: usize,
    hanging: Attachment,
) -> AssignedNode {
    let parent = Some(hanging.parent_keys(output, &[], 0));
    let asked = output.fields[at].clone();
    hanging.make_foreign(output, at, 0);
    output.fields.push(OutputField { member: OutputKind::Leaf, same_as: None, ..asked });
    let set = own_set(output, output.set(hanging.set).on, 1);
    let fields = vec![output.fields.len() as u32 - 1];
    AssignedNode {
        source: None,
        set,
        fields,
        parent,
        part: None,
        answer: AnswerForm::Rows,
        refused: Some(error),
    }
}
