//! Plan of incremental delivery: late fragments, streamed lists, and the nodes that only late fragments wait for.
//!
//! A fragment with `@defer` is late if one of its fields comes by a node of its own that nothing else waits for: a join, a part of a
//! service, or a field of the query's root. Any other fragment costs nothing to wait for and is inlined.
//!
//! A list with `@stream` is streamed in a query if it stands in one part of the answer only: items of a list that two parts write
//! would belong to both. Its node answers in rows, and nodes below it are asked for the first items alone, then for the others. Of a node of
//! the root one list *flows*: its source may read the later items while the first ones are on their way. The node has it as its last member.
//!
//! **Invariant:** a set with a member in a late fragment belongs to a node that answers in rows, or is the root's.
//!
//! **Cost:** at most [`FRAGMENTS_MAX`] fragments of an operation come late, and so many lists are streamed; those after them are inlined.

use super::assign_sources::assigned_node::AssignedNode;
use crate::answer::output_plan::{Membership, OutputKind, OutputPlan, SelectionSetId};
use crate::source::AnswerForm;
use weir_language::ast::OperationKind;
use weir_language::value::{Node, Variables};

/// The most fragments of an operation that may come later: one bit of a word each.
const FRAGMENTS_MAX: usize = u64::BITS as usize;

/// The most sets of fragments that members may stand in together. A member of another set is in the first part of the answer.
const MEMBERSHIPS_MAX: usize = 1024;

/// The innermost deferred fragment around a selection: its number and one, or 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Within(pub(super) u8);

impl Within {
    /// Outside of all deferred fragments.
    pub(super) const INITIAL: Self = Self(0);

    /// The fragment's number.
    const fn fragment(self) -> Option<u8> {
        self.0.checked_sub(1)
    }
}

/// A fragment with `@defer`, found while fields are collected.
#[derive(Debug)]
struct FoundFragment {
    /// Selection, place and outer fragment.
    key: (u32, u32, Within),
    label: Option<Box<str>>,
}

/// All fragments with `@defer` of an operation with the sets they begin in, and all lists with `@stream`.
#[derive(Debug, Default)]
pub(crate) struct DeferredFragments {
    found: Vec<FoundFragment>,
    begins: Vec<(SelectionSetId, u8)>,
    /// The streams and the selections they were written at.
    streams: Vec<(u32, LateItems)>,
}

impl DeferredFragments {
    /// True if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.streams.is_empty()
    }

    /// Notes a list with `@stream` that was written at the selection `at`. Returns one more than the number of its stream; 0 if
    /// there are too many.
    pub(super) fn stream(&mut self, at: u32, label: Option<Box<str>>, count: InitialCount) -> u8 {
        let known = self.streams.iter().position(|it| it.0 == at);
        let number = known.unwrap_or(self.streams.len());
        if number == FRAGMENTS_MAX {
            return 0;
        }
        if known.is_none() {
            self.streams.push((at, LateItems { label, count }));
        }
        number as u8 + 1
    }

    /// Notes that the fragment `key` begins in `set`.
    pub(super) fn begin(
        &mut self,
        key: (u32, u32, Within),
        set: SelectionSetId,
        label: Option<Box<str>>,
    ) -> Within {
        let known = self.found.iter().position(|it| it.key == key);
        let number = known.unwrap_or(self.found.len());
        if number == FRAGMENTS_MAX {
            return key.2;
        }
        if known.is_none() {
            self.found.push(FoundFragment { key, label });
        }
        if self.begins.last() != Some(&(set, number as u8)) {
            self.begins.push((set, number as u8));
        }
        Within(number as u8 + 1)
    }

    /// The place among `memberships` of a member that was written in `within`; `stream` as in [`Membership::stream`].
    pub(super) fn membership(
        &self,
        within: impl Iterator<Item = Within>,
        stream: u8,
        memberships: &mut Vec<Membership>,
    ) -> u32 {
        let mut membership = Membership { is_initial: false, fragments: 0, stream };
        for within in within {
            match within.fragment() {
                Some(number) => membership.fragments |= 1 << number,
                None => membership.is_initial = true,
            }
        }
        if membership == Membership::INITIAL {
            return 0;
        }
        if memberships.is_empty() {
            memberships.push(Membership::INITIAL);
        }
        match memberships.iter().position(|it| *it == membership) {
            Some(known) => known as u32,
            None if memberships.len() == MEMBERSHIPS_MAX => 0,
            None => {
                memberships.push(membership);
                memberships.len() as u32 - 1
            }
        }
    }
}

/// The late fragments of a plan.
#[derive(Debug)]
pub(crate) struct Deferral {
    /// By number. Those that are inlined are listed too.
    pub(crate) fragments: Vec<LateFragment>,
    /// By set.
    pub(crate) sets: Vec<SetDeferral>,
    /// By node: the late fragments that wait for it; 0 for a node that the first part of the answer waits for.
    pub(crate) waiting: Vec<u64>,
    /// The streamed lists, by number.
    pub(crate) streams: Vec<LateItems>,
    /// By node: the number of the stream that is its last member, if that list flows.
    flowing: Vec<Option<u8>>,
}

/// The items of a list that come later.
#[derive(Debug)]
pub(crate) struct LateItems {
    pub(crate) label: Option<Box<str>>,
    count: InitialCount,
}

/// Number of items that come with the list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InitialCount {
    Given(i32),
    /// The value of the variable with this number.
    Variable(u32),
}

impl LateItems {
    /// Number of items in the part that has the list. `None`: the count is negative, or null.
    pub(crate) fn initial(&self, variables: &Variables) -> Option<u32> {
        match self.count {
            InitialCount::Given(count) => count.try_into().ok(),
            InitialCount::Variable(number) => match variables.node(number) {
                Node::Int(count) => count.try_into().ok(),
                Node::Absent => Some(0),
                _ => None,
            },
        }
    }
}

/// A fragment that comes later.
#[derive(Debug)]
pub(crate) struct LateFragment {
    pub(crate) label: Option<Box<str>>,
    /// The late fragment it stands in.
    pub(crate) parent: Option<u8>,
}

/// Late fragments in a set.
#[derive(Clone, Debug, Default)]
pub(crate) struct SetDeferral {
    /// Late fragments that begin in the set: bits.
    pub(crate) begins: u64,
    /// The memberships of its members that are not outside of all fragments.
    pub(crate) memberships: Vec<Membership>,
}

impl Deferral {
    /// Finds the late fragments and streamed lists among those that were `found`, and inlines the others in `output`. `None`:
    /// nothing is late.
    pub(super) fn of(
        found: DeferredFragments,
        output: &mut OutputPlan,
        nodes: &mut [AssignedNode],
        kind: OperationKind,
    ) -> Option<Self> {
        if output.memberships.is_empty() {
            return None;
        }
        let waiting: Vec<u64> = nodes.iter().map(|it| waiting_fragments(output, it)).collect();
        let late = waiting.iter().fold(0, |all, it| all | it);
        let outer = |number: u8| found.found[usize::from(number)].key.2.fragment();
        // The nearest late fragment that is `within` or around it.
        let nearest = |mut within: Option<u8>| {
            while let Some(number) = within.filter(|it| late >> it & 1 == 0) {
                within = outer(number);
            }
            within
        };
        resolve(&mut output.memberships, nearest, kind);
        if late == 0 && output.memberships.iter().all(|it| it.stream == 0) {
            output.memberships = Vec::new();
            output.fields.iter_mut().for_each(|it| it.membership = 0);
            return None;
        }
        let flowing = answer_in_rows(output, nodes, &waiting);
        let mut fragments: Vec<LateFragment> = Vec::with_capacity(found.found.len());
        for FoundFragment { key, label } in &found.found {
            let parent = nearest(key.2.fragment());
            fragments.push(LateFragment { label: label.clone(), parent });
        }
        let mut sets = vec![SetDeferral::default(); output.sets.len()];
        for (set, number) in found.begins {
            sets[set.0 as usize].begins |= (1 << number) & late;
        }
        for (set, deferral) in output.sets.iter().zip(&mut sets) {
            let members = output.fields[set.range()].iter().filter(|it| it.membership != 0);
            for membership in members.map(|it| output.memberships[it.membership as usize]) {
                if !deferral.memberships.contains(&membership) {
                    deferral.memberships.push(membership);
                }
            }
        }
        let streams = found.streams.into_iter().map(|it| it.1).collect();
        Some(Self { fragments, sets, waiting, streams, flowing })
    }

    /// Number of the stream that is the last member of the node at `at`, if the list flows.
    pub(crate) fn flowing_stream(&self, at: usize) -> Option<u8> {
        self.flowing[at]
    }

    /// Number of first items of the list that flows at the node at `at`.
    pub(crate) fn first_items(&self, at: usize, variables: &Variables) -> Option<u32> {
        self.streams[usize::from(self.flowing_stream(at)?)].initial(variables)
    }

    /// True if the first part of the answer does not wait for the node at `at`.
    pub(crate) fn is_late(&self, at: usize) -> bool {
        self.waiting[at] != 0
    }
}

/// Puts late fragments into the `memberships`, by the `nearest` late fragment of a fragment, and keeps the streams of lists that
/// stand in one part of the answer.
fn resolve(memberships: &mut [Membership], nearest: impl Fn(Option<u8>) -> Option<u8>, kind: OperationKind) {
    for membership in memberships {
        let mut inner = 0_u64;
        let mut rest = membership.fragments;
        while rest != 0 {
            let number = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            match nearest(Some(number)) {
                Some(number) => inner |= 1 << number,
                None => membership.is_initial = true,
            }
        }
        membership.fragments = inner;
        let is_once = membership.fragments.count_ones() + u32::from(membership.is_initial) == 1;
        if kind != OperationKind::Query || !is_once {
            membership.stream = 0;
        }
    }
}

/// Late fragments that wait for `node`, as bits; 0 if the first part of the answer waits for it.
fn waiting_fragments(output: &OutputPlan, node: &AssignedNode) -> u64 {
    let mut fragments = 0;
    for &field in &node.fields {
        let membership = output.memberships[output.fields[field as usize].membership as usize];
        if membership.is_initial {
            return 0;
        }
        fragments |= membership.fragments;
    }
    fragments
}

/// Makes the nodes with streamed lists answer in rows. Returns by node the stream of its list that flows: none of a node that is late,
/// as `waiting` says.
fn answer_in_rows(output: &OutputPlan, nodes: &mut [AssignedNode], waiting: &[u64]) -> Vec<Option<u8>> {
    let mut flowing = vec![None; nodes.len()];
    for (at, node) in nodes.iter_mut().enumerate() {
        if node.parent.is_some() || !has_stream(output, node) {
            continue;
        }
        node.answer = AnswerForm::Rows;
        if let Some(place) = flowing_member(output, node).filter(|_| waiting[at] == 0) {
            let field = node.fields.remove(place);
            node.fields.push(field);
            node.answer = AnswerForm::Items;
            flowing[at] = output.membership(&output.fields[field as usize]).stream.checked_sub(1);
        }
    }
    flowing
}

/// The place among the members of `node`, of the root, of the first streamed list that is written once.
fn flowing_member(output: &OutputPlan, node: &AssignedNode) -> Option<usize> {
    let stream = |it: u32| output.membership(&output.fields[it as usize]).stream;
    let is_once = |it: &u32| {
        let stands = output.fields.iter().filter(|of| output.membership(of).stream == stream(*it)).count();
        stands == 1 && output.fields.iter().all(|of| of.same_as != Some(*it))
    };
    node.fields.iter().position(|it| stream(*it) != 0 && is_once(it))
}

/// True if a streamed list is among what `node` answers.
fn has_stream(output: &OutputPlan, node: &AssignedNode) -> bool {
    let mut seen = vec![false; output.sets.len()];
    let mut stack = Vec::new();
    for &field in &node.fields {
        if is_streamed_or_above(output, field as usize, &mut stack) {
            return true;
        }
    }
    while let Some(set) = stack.pop() {
        if std::mem::replace(&mut seen[set.0 as usize], true) {
            continue;
        }
        for field in output.set(set).range() {
            if is_streamed_or_above(output, field, &mut stack) {
                return true;
            }
        }
    }
    false
}

/// True if the member at `field` is a streamed list; else puts the sets below it on the `stack`.
fn is_streamed_or_above(output: &OutputPlan, field: usize, stack: &mut Vec<SelectionSetId>) -> bool {
    let field = &output.fields[field];
    match field.member {
        OutputKind::Object(set) => stack.push(set),
        OutputKind::Abstract(choice) => {
            stack.extend(output.type_switches[choice.0 as usize].sets.iter().map(|it| it.1));
        }
        OutputKind::Foreign { .. } => return false,
        OutputKind::Leaf | OutputKind::Constant { .. } => {}
    }
    output.membership(field).stream != 0
}
