//! Says of which mutations the answer may have a value that cannot be given.
//!
//! Such answers are made before the commit, for one trip more. Of all others the catalog promises that each value fits its place. Where
//! it does not because the database was changed since, the mutation was done, and its error says so.
//!
//! **Cost:** one walk over the members of a mutation, when it is planned.

use weir_relational::catalog::facts::Cell;
use weir_relational::catalog::{Relations, RelationshipKind, Table, TableKind};
use weir_relational::dialect::Floats;
use weir_relational::plan::write::{Change, Work, Write, WriteAnswer};
use weir_relational::plan::{Expr, Level, Member, MemberKind, Output, Plan, Run};

/// The statement that gives the row of some members.
#[derive(Clone, Copy)]
enum RowOrigin<'p> {
    /// None: the members are of a program's answer.
    Program,
    Change(&'p Change),
    Level(&'p Level),
}

/// Members that are still to be looked at.
struct WaitingMembers<'p> {
    run: Run,
    origin: RowOrigin<'p>,
    /// An output column that is not null in their row.
    known: Option<u16>,
}

struct FallibleWalk<'p> {
    plan: &'p Plan,
    relations: &'p Relations,
    floats: Floats,
    waiting: Vec<WaitingMembers<'p>>,
}

/// True if a value in the answer of `write` may not fit its place.
pub(crate) fn may_fail<'p>(
    plan: &'p Plan,
    relations: &'p Relations,
    floats: Floats,
    write: &'p Write,
) -> bool {
    let (WriteAnswer::Row(run)
    | WriteAnswer::Rows(run)
    | WriteAnswer::Response(run)
    | WriteAnswer::Responses(run)) = write.answer;
    let waiting = |origin| WaitingMembers { run, origin, known: None };
    let origins = write.works.iter().flat_map(|work| match work {
        Work::Nothing => Vec::new(),
        Work::Program { .. } => vec![RowOrigin::Program],
        Work::Change(change) => vec![RowOrigin::Change(&plan.changes[*change as usize])],
        Work::Insert(steps) | Work::Each { steps, .. } => {
            let shown = steps.iter().filter(|it| it.shown);
            shown.map(|it| RowOrigin::Change(&plan.changes[it.change as usize])).collect()
        }
    });
    let mut walk = FallibleWalk { plan, relations, floats, waiting: origins.map(waiting).collect() };
    while let Some(next) = walk.waiting.pop() {
        if plan.members[next.run.range()].iter().any(|it| walk.member(it, &next)) {
            return true;
        }
    }
    false
}

impl<'p> FallibleWalk<'p> {
    fn member(&mut self, member: &Member, of: &WaitingMembers<'p>) -> bool {
        let WaitingMembers { origin, known, .. } = *of;
        match member.kind {
            MemberKind::Leaf { column, cell } => {
                let can_be_null = member.nullable || known == Some(column);
                self.value(origin, column, cell, can_be_null)
            }
            MemberKind::Values { level, cell } => {
                let origin = RowOrigin::Level(&self.plan.levels[level as usize]);
                self.value(origin, 0, cell, member.null_items)
            }
            MemberKind::Inline(run) | MemberKind::Returned(run) => {
                self.waiting.push(WaitingMembers { run, origin, known });
                false
            }
            MemberKind::Maybe { column, run } => {
                self.waiting.push(WaitingMembers { run, origin, known: Some(column) });
                !member.nullable && !self.is_not_null(origin, column)
            }
            MemberKind::One(level) => {
                let level = &self.plan.levels[level as usize];
                self.push_level(level);
                level.choice.is_some() || (!member.nullable && !self.is_there(level))
            }
            MemberKind::Many(level) => {
                let level = &self.plan.levels[level as usize];
                self.push_level(level);
                level.choice.is_some()
            }
            // A text of coordinates.
            MemberKind::Shape { .. } => true,
            MemberKind::Items(_)
            | MemberKind::Ordinate(_)
            | MemberKind::Coded(_)
            | MemberKind::End { .. }
            | MemberKind::Beyond { .. }
            | MemberKind::Constant
            | MemberKind::Foreign
            | MemberKind::Write(_)
            | MemberKind::Affected
            | MemberKind::Message => false,
        }
    }

    fn push_level(&mut self, level: &'p Level) {
        self.waiting.push(WaitingMembers {
            run: level.members,
            origin: RowOrigin::Level(level),
            known: None,
        });
    }

    /// True if the row of a level is always there.
    fn is_there(&self, level: &Level) -> bool {
        // An aggregate over all rows is one row.
        if matches!(level.query.output, Output::Aggregate(_)) {
            return true;
        }
        let is_whole = level.query.filter.is_true() && !level.query.scan.is_restricted();
        is_whole
            && level.by.map(|it| self.relations.relationship(it)).is_some_and(|it| {
                it.enforced && !it.deferrable && it.kind == (RelationshipKind::Object { certain: true })
            })
    }

    /// True if a value of an output column may not fit.
    fn value(&self, origin: RowOrigin<'p>, column: u16, cell: Cell, can_be_null: bool) -> bool {
        if !can_be_null && !self.is_not_null(origin, column) {
            return true;
        }
        if cell == Cell::Float && self.floats == Floats::AsElsewhere {
            return true;
        }
        match self.column(origin, column) {
            Some(Expr::Column(of) | Expr::Key(of)) => {
                let bits = self.table(origin).and_then(|it| it.column(*of).ty.facts().bits);
                cell == Cell::Int && bits.is_none_or(|it| it > 32)
            }
            Some(Expr::Function(..)) => matches!(cell, Cell::Int | Cell::BigInt),
            Some(_) | None => false,
        }
    }

    fn column(&self, origin: RowOrigin<'p>, column: u16) -> Option<&'p Expr> {
        let columns = match origin {
            RowOrigin::Program => return None,
            RowOrigin::Change(change) => change.returning(),
            RowOrigin::Level(level) => level.query.columns(),
        };
        columns.get(usize::from(column))
    }

    /// The table whose rows an origin gives as they are stored.
    fn table(&self, origin: RowOrigin<'p>) -> Option<&'p Table> {
        let id = match origin {
            RowOrigin::Program | RowOrigin::Change(Change::Call(_)) => return None,
            RowOrigin::Change(change) => change.table(),
            RowOrigin::Level(level) if level.query.call.is_some() => return None,
            RowOrigin::Level(level) => level.query.table(),
        };
        Some(self.relations.catalog.table(id)).filter(|it| it.kind == TableKind::Table)
    }

    fn is_not_null(&self, origin: RowOrigin<'p>, column: u16) -> bool {
        match self.column(origin, column) {
            Some(Expr::Column(of) | Expr::Key(of)) => {
                self.table(origin).is_some_and(|it| !it.column(*of).nullable)
            }
            Some(Expr::Count { .. }) => true,
            Some(_) | None => false,
        }
    }
}
