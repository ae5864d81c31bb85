//! Leaves out a level that would only give back what its parent's row already holds.
//!
//! An enforced foreign key without nullable columns guarantees the related row. For queries that select only the row's key,
//! or relationships by that key, our own columns give the answer.
//!
//! **Invariant:** only keys whose equal values are the same bytes: under a collation two texts can be equal and differ.

use super::Compiler;
use weir_relational::catalog::{ColumnId, ColumnType, RelationshipId, RelationshipKind, TableId};
use weir_relational::plan::{Expr, MemberKind, Output, Run, Tie};

impl Compiler<'_> {
    /// `kind`, the rows along `by`, or an object made of the row at hand that is the same.
    pub(super) fn elided(&mut self, kind: MemberKind, by: RelationshipId) -> MemberKind {
        let related = self.api.model.relations.relationship(by);
        let surely = related.enforced && related.kind == (RelationshipKind::Object { certain: true });
        let MemberKind::One(level) = kind else { return kind };
        if !surely || level as usize + 1 != self.plan.levels.len() {
            return kind;
        }
        let Some(known) = self.known(level, related.from, &related.on) else { return kind };
        let members = self.plan.levels[level as usize].members;
        self.plan.levels.pop();
        self.take_from_parent(members, &known);
        MemberKind::Inline(members)
    }

    /// For each output column of a level the column of its parent's row that has the same value; `None` if one has
    /// not.
    fn known(&self, level: u32, from: TableId, on: &[(ColumnId, ColumnId)]) -> Option<Vec<u16>> {
        let level = &self.plan.levels[level as usize];
        let Output::Rows(columns) = &level.query.output else { return None };
        if !level.hidden.is_empty() || !level.query.filter.is_true() {
            return None;
        }
        let catalog = &self.api.model.relations.catalog;
        let same = |column: &Expr| {
            let Expr::Column(theirs) = column else { return None };
            let (ours, _) = on.iter().find(|it| it.1 == *theirs)?;
            let (ours, of) =
                (catalog.table(from).column(*ours), catalog.table(level.query.table()).column(*theirs));
            let one_form = matches!(
                of.ty,
                ColumnType::SmallInt | ColumnType::Int | ColumnType::BigInt | ColumnType::Uuid
            );
            let nest = level.query.nest.iter().find(|it| it.0 == Tie::Column(*theirs))?;
            (one_form && ours.ty == of.ty && ours.oid == of.oid).then_some(nest.1)
        };
        columns.iter().map(same).collect()
    }

    /// Lets members read the parent's row: `known` says where it holds each of their columns.
    fn take_from_parent(&mut self, members: Run, known: &[u16]) {
        let mut waiting = vec![members];
        while let Some(run) = waiting.pop() {
            for member in &mut self.plan.members[run.range()] {
                match &mut member.kind {
                    MemberKind::Leaf { column, .. } | MemberKind::Shape { column, .. } => {
                        *column = known[usize::from(*column)];
                    }
                    MemberKind::Inline(run) | MemberKind::Returned(run) => waiting.push(*run),
                    MemberKind::Maybe { column, run } => {
                        *column = known[usize::from(*column)];
                        waiting.push(*run);
                    }
                    MemberKind::One(level) | MemberKind::Many(level) | MemberKind::Values { level, .. } => {
                        let nest = &mut self.plan.levels[*level as usize].query.nest;
                        nest.iter_mut().for_each(|it| it.1 = known[usize::from(it.1)]);
                    }
                    MemberKind::Text(_)
                    | MemberKind::Items(_)
                    | MemberKind::Ordinate(_)
                    | MemberKind::Constant
                    | MemberKind::Foreign
                    | MemberKind::Write(_)
                    | MemberKind::Affected
                    | MemberKind::Message => {}
                }
            }
        }
    }
}
