//! Removes updates that set nothing: neither the client nor the policy gives a column a value.
//!
//! **Cost:** one walk over the works of a mutation; nothing for other plans.

use crate::plan::Plan;
use crate::plan::write::{Change, Step, Work};

/// Makes nothing of every update that sets nothing, but for those of [`Plan::unset`], which are errors.
pub(super) fn remove(plan: &mut Plan) {
    let sets_nothing = |it: &Change| matches!(it, Change::Update(update) if update.set.is_empty());
    let changes = &plan.changes;
    plan.unset.retain(|it| sets_nothing(&changes[it.change as usize]));
    if !plan.changes.iter().any(sets_nothing) || !plan.unset.is_empty() {
        return;
    }
    let idle: Vec<bool> = plan.changes.iter().map(sets_nothing).collect();
    let mut next = 0;
    let places: Vec<u32> = idle
        .iter()
        .map(|gone| {
            next += u32::from(!gone);
            next.saturating_sub(1)
        })
        .collect();
    for work in plan.writes.iter_mut().flat_map(|it| &mut it.works) {
        match work {
            Work::Change(change) if idle[*change as usize] => *work = Work::Nothing,
            Work::Change(change) => *change = places[*change as usize],
            Work::Insert(steps) | Work::Each { steps, .. } => {
                steps.iter_mut().for_each(|it: &mut Step| it.change = places[it.change as usize]);
            }
            Work::Nothing | Work::Program { .. } => {}
        }
    }
    let mut at = 0;
    plan.changes.retain(|_| {
        at += 1;
        !idle[at - 1]
    });
}
