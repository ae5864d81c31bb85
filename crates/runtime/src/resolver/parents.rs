//! Parents of a step as objects: found by number among the values that the step above keeps.
//!
//! **Invariant:** the walk meets objects in the order in which the step above numbered them.
//!
//! **Cost:** one pass over the objects above, which makes no columns; one pointer per parent.

use super::answers::Answers;
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use weir_engine::memory::{Bindings, ObjectNumbers, ObjectVisitor, Scope, Spot};
use weir_engine::plan::output_plan::{OutputKind, OutputPlan, SelectionSetId};
use weir_engine::rows::{Column, Data};
use weir_engine::source::PlanNode;

/// Values of a step that steps below see.
pub(crate) struct Kept {
    pub(crate) bindings: Arc<Bindings>,
    pub(crate) answers: Vec<(u32, Box<dyn Answers>)>,
}

/// Position of a step's parents in the values of the step above.
pub(crate) struct ObjectParents {
    /// Selection set of the parents.
    set: SelectionSetId,
    /// By set: true if the parents stand below it.
    above: Vec<bool>,
}

/// Receives some of the parents: their rows, and the objects.
pub(crate) type SeeParents<'s> = dyn FnMut(&[u32], &[&dyn Any]) + 's;

impl ObjectParents {
    pub(crate) fn new(node: &PlanNode<'_>) -> Self {
        let output = node.output;
        let first = node.fields.first().copied().unwrap_or(u32::MAX);
        let asks = |set: SelectionSetId| {
            let is_own = |it: OutputKind| matches!(it, OutputKind::Foreign { field, .. } if field == first);
            output.members(set).iter().any(|it| is_own(it.member))
        };
        let sets = || (0..output.sets.len() as u32).map(SelectionSetId);
        let set = sets().find(|it| asks(*it)).unwrap_or(node.set);
        Self { set, above: sets_above(output, set) }
    }

    /// Shows the objects with the numbers `wanted` to `see`.
    pub(crate) fn each(&self, kept: &Kept, output: &OutputPlan, wanted: &[i64], see: &mut SeeParents<'_>) {
        let finder = Finder { parents: self, wanted, see: RefCell::new(see) };
        let numbers = ObjectNumbers::default();
        let scope = Scope::new(output, &kept.bindings).with_numbers(&numbers).with_visitor(&finder);
        for (field, answers) in &kept.answers {
            let output_field = &output.fields[*field as usize];
            if leads(output, output_field.member, |it| finder.is_target(it) || finder.is_above(it)) {
                answers.column(Spot { field: *field, output_field, ty: output_field.ty }, scope);
            }
        }
    }
}

/// By set: true if objects of `set` stand below it.
pub(crate) fn sets_above(output: &OutputPlan, set: SelectionSetId) -> Vec<bool> {
    let sets = || (0..output.sets.len() as u32).map(SelectionSetId);
    let mut above = vec![false; output.sets.len()];
    loop {
        let is_on_way = |it: SelectionSetId| it == set || above[it.0 as usize];
        let next = sets().find(|it| !above[it.0 as usize] && has_below(output, *it, is_on_way));
        match next {
            Some(next) => above[next.0 as usize] = true,
            None => return above,
        }
    }
}

/// True if a set on the way stands at `member`.
pub(crate) fn leads(
    output: &OutputPlan,
    member: OutputKind,
    is_on_way: impl Fn(SelectionSetId) -> bool,
) -> bool {
    match member {
        OutputKind::Object(set) => is_on_way(set),
        OutputKind::Abstract(choice) => {
            output.type_switches[choice.0 as usize].sets.iter().any(|it| is_on_way(it.1))
        }
        OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => false,
    }
}

fn has_below(output: &OutputPlan, set: SelectionSetId, is_on_way: impl Fn(SelectionSetId) -> bool) -> bool {
    output.members(set).iter().any(|it| it.same_as.is_none() && leads(output, it.member, &is_on_way))
}

/// The numbers of the parents in their keys.
pub(crate) fn parent_numbers(keys: &[Column]) -> Option<&[i64]> {
    match &keys.first()?.data {
        Data::Int(numbers) => Some(numbers),
        _ => None,
    }
}

struct Finder<'f, 's> {
    parents: &'f ObjectParents,
    wanted: &'f [i64],
    see: RefCell<&'f mut SeeParents<'s>>,
}

impl ObjectVisitor for Finder<'_, '_> {
    fn is_target(&self, set: SelectionSetId) -> bool {
        set == self.parents.set
    }
    fn is_above(&self, set: SelectionSetId) -> bool {
        self.parents.above[set.0 as usize]
    }
    fn visit(&self, first: u32, objects: &[Option<&dyn Any>]) {
        let numbers = i64::from(first)..;
        let are_all = self.wanted.len() == objects.len()
            && self.wanted.iter().zip(numbers).all(|it| *it.0 == it.1)
            && objects.iter().all(Option::is_some);
        if are_all {
            // The wanted objects are all objects in order, as in a list without nulls.
            let rows: Vec<u32> = (0..objects.len() as u32).collect();
            let all: Vec<&dyn Any> = objects.iter().flatten().copied().collect();
            return (self.see.borrow_mut())(&rows, &all);
        }
        let mut rows = Vec::with_capacity(objects.len());
        let mut found = Vec::with_capacity(objects.len());
        for (row, number) in self.wanted.iter().enumerate() {
            let at = number.checked_sub(i64::from(first)).and_then(|it| usize::try_from(it).ok());
            if let Some(object) = at.and_then(|at| objects.get(at).copied().flatten()) {
                rows.push(row as u32);
                found.push(object);
            }
        }
        if !found.is_empty() {
            (self.see.borrow_mut())(&rows, &found);
        }
    }
}
