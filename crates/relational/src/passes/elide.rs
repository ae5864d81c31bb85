//! Removes a level whose columns the parent's row already holds.
//!
//! Where a foreign key of columns that are never null is enforced, the related row exists; if only its key is selected,
//! or fields below that key, the parent's own columns give the same values.
//!
//! **Invariant:** only keys whose equal values are the same bytes: under a collation two texts can be equal and differ.
//! A level whose rows the policy restricts stays: the related row may be hidden.
//!
//! **Cost:** one walk over the members, a second one if a level was removed.

use crate::catalog::{ColumnType, Relations, Relationship, RelationshipKind};
use crate::plan::write::Work;
use crate::plan::{CodePiece, Expr, MemberKind, Object, Output, Plan, Run, Tie};

/// Removes every level of `plan` that can be removed.
pub fn elide(plan: &mut Plan, relations: &Relations) {
    let mut removed = vec![false; plan.levels.len()];
    for at in 0..plan.members.len() {
        let MemberKind::One(level) = plan.members[at].kind else { continue };
        let Some(by) = plan.levels[level as usize].by else { continue };
        if let Some(known) = parent_columns(plan, level, relations, relations.relationship(by)) {
            let members = plan.levels[level as usize].members;
            take_from_parent(plan, members, &known);
            plan.members[at].kind = MemberKind::Inline(members);
            removed[level as usize] = true;
            plan.elided.push(plan.levels[level as usize].path.clone());
        }
    }
    if removed.contains(&true) {
        renumber(plan, &removed);
    }
}

/// For each output column of `level`, the column of the parent's row with the same value; `None` if one has none.
fn parent_columns(
    plan: &Plan,
    level: u32,
    relations: &Relations,
    related: &Relationship,
) -> Option<Vec<u16>> {
    let level = &plan.levels[level as usize];
    let Output::Rows(columns) = &level.query.output else { return None };
    let is_certain = related.enforced && related.kind == (RelationshipKind::Object { certain: true });
    // Within a mutation a deferred foreign key may be violated.
    let exists = is_certain && (!related.deferrable || plan.writes.is_empty());
    let all = level.query.filter.is_true() && !level.query.scan.is_restricted();
    if !exists || !all || !level.hidden.is_empty() {
        return None;
    }
    let from = relations.catalog.table(related.from);
    let to = relations.catalog.table(related.to);
    let same = |column: &Expr| {
        let Expr::Column(theirs) = column else { return None };
        let (ours, _) = related.on.iter().find(|it| it.1 == *theirs)?;
        let ours = from.column(*ours);
        let of = to.column(*theirs);
        let has_one_form =
            matches!(of.ty, ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt | ColumnType::Uuid);
        let nest = level.query.nest.iter().find(|it| it.0 == Tie::Column(*theirs))?;
        (has_one_form && ours.ty == of.ty && ours.oid == of.oid).then_some(nest.1)
    };
    columns.iter().map(same).collect()
}

/// Lets members read the parent's row: `known` maps their columns to its columns.
fn take_from_parent(plan: &mut Plan, members: Run, known: &[u16]) {
    let mut waiting = vec![members];
    let mut nested: Vec<u32> = Vec::new();
    while let Some(run) = waiting.pop() {
        for member in &mut plan.members[run.range()] {
            match &mut member.kind {
                MemberKind::Leaf { column, .. } | MemberKind::Shape { column, .. } => {
                    *column = known[usize::from(*column)];
                }
                MemberKind::Inline(run) | MemberKind::Returned(run) => waiting.push(*run),
                MemberKind::Maybe { column, run } => {
                    *column = known[usize::from(*column)];
                    waiting.push(*run);
                }
                MemberKind::Coded(code) => {
                    for piece in &mut plan.codes[*code as usize].pieces {
                        if let CodePiece::Value { column, .. } = piece {
                            *column = known[usize::from(*column)];
                        }
                    }
                }
                MemberKind::One(_)
                | MemberKind::Many(_)
                | MemberKind::Values { .. }
                | MemberKind::End { .. }
                | MemberKind::Beyond { .. } => nested.extend(member.kind.levels()),
                MemberKind::Items(_)
                | MemberKind::Ordinate(_)
                | MemberKind::Constant
                | MemberKind::Foreign
                | MemberKind::Write(_)
                | MemberKind::Affected
                | MemberKind::Message => {}
            }
        }
    }
    // Several members may show the rows of one level.
    nested.sort_unstable();
    nested.dedup();
    for level in nested {
        let nest = &mut plan.levels[level as usize].query.nest;
        nest.iter_mut().for_each(|it| it.1 = known[usize::from(it.1)]);
    }
}

/// Closes the gaps that removed levels leave.
fn renumber(plan: &mut Plan, removed: &[bool]) {
    let mut next = 0;
    let places: Vec<u32> = removed
        .iter()
        .map(|gone| {
            next += u32::from(!gone);
            next.saturating_sub(1)
        })
        .collect();
    let mut at = 0;
    plan.levels.retain(|_| {
        at += 1;
        !removed[at - 1]
    });
    let place = |level: &mut u32| *level = places[*level as usize];
    for member in &mut plan.members {
        member.kind.renumber(place);
    }
    for variant in plan.levels.iter_mut().flat_map(|it| &mut it.choice).flat_map(|it| &mut it.variants) {
        if let Object::Level(level) = &mut variant.object {
            place(level);
        }
    }
    plan.row_checks.iter_mut().for_each(|it| place(&mut it.level));
    for work in plan.writes.iter_mut().flat_map(|it| &mut it.works) {
        if let Work::Program { find, checks } = work {
            find.iter_mut().for_each(place);
            checks.iter_mut().for_each(|it| place(&mut it.level));
        }
    }
}
