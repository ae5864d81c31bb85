//! Restricts a plan to the rights in a policy: rows, columns, numbers of rows, and written values.
//!
//! **Invariant:** every [`Scan`] of the plan is asked about, once; scans inside the conditions of the policy itself are
//! not, as a condition sees the tables whole. A column that the policy hides in some rows is hidden wherever a client's
//! argument or selection reads it; what ties related rows to a row reads the stored value, as [`Expr::Key`].
//!
//! **Cost:** one walk over the plan; run once per plan and shape of variables.

pub mod row_questions;

use super::claims::Claims;
use crate::catalog::{ColumnId, Relations, TableId};
use crate::plan::write::{Assign, Change, Given, Step, Work};
use crate::plan::{
    Expr, Filter, GuardedCall, GuardedColumn, Member, MemberKind, Output, Page, Parameter, Plan, Purpose,
    Query, Reader, Scan,
};
use std::fmt::Debug;

/// A kind of row that a check or a preset is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteKind {
    /// Rows that are inserted.
    Insert,
    /// Rows that are updated, by an upsert too.
    Update,
}

impl WriteKind {
    const ALL: [Self; 2] = [Self::Insert, Self::Update];
}

/// A value that the policy gives a column, whatever the client says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preset {
    /// `null`.
    Null,
    /// A constant or a session variable.
    Value(Parameter),
}

/// Rights on rows and columns.
///
/// Conditions are on a row of the table. Values of a request in them are [`crate::plan::Origin::Claim`] and
/// [`crate::plan::Origin::Constant`] alone.
pub trait Policy: Debug + Send + Sync {
    /// Name of the policy in the text form of plans: the role.
    fn name(&self) -> &str {
        ""
    }

    /// The condition on rows of `table` that are accessed for `purpose`; `None`: all rows.
    fn rows(&self, table: TableId, purpose: Purpose) -> Option<Filter>;

    /// Maximum number of rows of each list of `table` that is shown for `purpose`: the root's or one below each parent.
    fn limit(&self, _table: TableId, _purpose: Purpose) -> Option<u32> {
        None
    }

    /// The columns of `table` that are shown in some rows only.
    fn cells(&self, _table: TableId) -> &[GuardedColumn] {
        &[]
    }

    /// Functions of a row of `table` whose values are hidden in some rows.
    fn calls(&self, _table: TableId) -> &[GuardedCall] {
        &[]
    }

    /// The condition that has to be true of a row of `table` after it was written.
    fn check(&self, _table: TableId, _kind: WriteKind) -> Option<Filter> {
        None
    }

    /// The condition that has to be true of a row of `table` after an upsert updated it. Without one it has to fulfil that for
    /// inserts.
    fn upsert_check(&self, table: TableId) -> Option<Filter> {
        self.check(table, WriteKind::Update)
    }

    /// The values that every written row of `table` gets.
    fn presets(&self, _table: TableId, _kind: WriteKind) -> &[(ColumnId, Preset)] {
        &[]
    }

    /// Names of the session variables that it reads for any table of `relations`, each once, sorted.
    fn claims(&self, relations: &Relations) -> Vec<Box<str>> {
        claims_of(self, relations)
    }
}

/// Allows all rows.
#[derive(Clone, Copy, Debug)]
pub struct Everything;

impl Policy for Everything {
    fn rows(&self, _table: TableId, _purpose: Purpose) -> Option<Filter> {
        None
    }
}

/// Allows no row.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Policy for Nothing {
    fn rows(&self, _table: TableId, _purpose: Purpose) -> Option<Filter> {
        Some(Filter::Any(Vec::new()))
    }

    fn check(&self, _table: TableId, _kind: WriteKind) -> Option<Filter> {
        Some(Filter::Any(Vec::new()))
    }
}

/// Restricts `plan`, and notes the session variables that it reads then and the functions that it calls.
pub fn restrict(plan: &mut Plan, relations: &Relations, policy: &dyn Policy) {
    let mut claims = Claims::default();
    plan.scans(&mut |scan| restrict_scan(scan, policy, &mut claims));
    for at in 0..plan.changes.len() {
        restrict_write(&mut plan.changes[at], policy, &mut claims);
        preset_rows(plan, at as u32, policy, &mut claims);
    }
    for level in &mut plan.levels {
        mark_nullable(&mut level.query);
    }
    limit_lists(plan, policy);
    super::stored_keys::keep(plan);
    super::barrier::raise(plan, relations);
    plan.policy = policy.name().into();
    plan.functions.extend(claims.functions(relations));
    plan.claims = claims.names();
}

/// Restricts a query that is no level of a plan.
pub fn restrict_query(query: &mut Query, policy: &dyn Policy) {
    query.scans(&mut |scan| restrict_scan(scan, policy, &mut Claims::default()));
    mark_nullable(query);
}

/// Restricts a change that is no part of a plan. The columns of a row that is inserted stay: its values are bound elsewhere.
pub fn restrict_change(change: &mut Change, policy: &dyn Policy) {
    change.scans(&mut |scan| restrict_scan(scan, policy, &mut Claims::default()));
    restrict_write(change, policy, &mut Claims::default());
}

/// Names of the session variables that `policy` reads for any table of `relations`, each once, sorted.
///
/// **Cost:** one walk over all tables.
pub fn claims_of<P: Policy + ?Sized>(policy: &P, relations: &Relations) -> Vec<Box<str>> {
    let mut claims = Claims::default();
    for table in (0..relations.catalog.tables.len() as u32).map(TableId) {
        let rows = Purpose::ALL.into_iter().filter_map(|purpose| policy.rows(table, purpose));
        let checks = WriteKind::ALL.into_iter().filter_map(|kind| policy.check(table, kind));
        rows.chain(checks).for_each(|it| claims.note(&it));
        policy.cells(table).iter().for_each(|it| claims.note(&it.shown_if));
        policy.calls(table).iter().for_each(|it| claims.note(&it.shown_if));
        WriteKind::ALL.into_iter().for_each(|kind| note_presets(policy.presets(table, kind), &mut claims));
    }
    claims.names()
}

fn note_presets(presets: &[(ColumnId, Preset)], claims: &mut Claims) {
    for (_, preset) in presets {
        if let Preset::Value(value) = preset {
            claims.note_parameter(value);
        }
    }
}

fn restrict_scan(scan: &mut Scan, policy: &dyn Policy, claims: &mut Claims) {
    let table = scan.table();
    if let Some(filter) = policy.rows(table, scan.purpose()) {
        claims.note(&filter);
        scan.restrict(filter);
    }
    for cell in policy.cells(table) {
        claims.note(&cell.shown_if);
        scan.guard(cell.clone());
    }
    for call in policy.calls(table) {
        claims.note(&call.shown_if);
        scan.guard_call(call.clone());
    }
}

/// A hidden cell is null.
fn mark_nullable(query: &mut Query) {
    let cells = query.scan.cells();
    let calls = query.scan.calls();
    let is_hidden = |of: &Expr| match of {
        Expr::Column(column) => cells.iter().any(|it| it.column == *column),
        Expr::Computed(call) => calls.iter().any(|it| it.function == call.function),
        _ => false,
    };
    query.order.iter_mut().for_each(|term| term.nullable |= is_hidden(&term.of));
}

/// Adds checks of written rows, and the values that updates set.
fn restrict_write(change: &mut Change, policy: &dyn Policy, claims: &mut Claims) {
    let table = change.table();
    let mut check = |scan: &mut Scan, filter: Option<Filter>| {
        if let Some(filter) = filter {
            claims.note(&filter);
            scan.demand(filter);
        }
    };
    let presets = policy.presets(table, WriteKind::Update);
    let values = || presets.iter().map(|(column, value)| (*column, assign(value)));
    match change {
        Change::Insert(insert) => {
            check(&mut insert.scan, policy.check(table, WriteKind::Insert));
            if let Some(conflict) = &mut insert.conflict {
                check(&mut conflict.scan, policy.upsert_check(table));
                conflict.update.retain(|it| presets.iter().all(|preset| preset.0 != *it));
                conflict.presets.extend(values());
                note_presets(presets, claims);
            }
        }
        // A reference that is cleared is no update of a client's.
        Change::Update(update) if update.scan.purpose() == Purpose::Update => {
            check(&mut update.scan, policy.check(table, WriteKind::Update));
            update.set.retain(|it| presets.iter().all(|preset| preset.0 != it.0));
            update.set.extend(values());
            note_presets(presets, claims);
        }
        Change::Update(_) | Change::Delete(_) | Change::Call(_) => {}
    }
}

fn assign(preset: &Preset) -> Assign {
    match preset {
        Preset::Null => Assign::Null,
        Preset::Value(value) => Assign::Value(value.clone()),
    }
}

fn preset_to_given(preset: &Preset) -> Given {
    match preset {
        Preset::Null => Given::Null,
        Preset::Value(value) => Given::Parameter(value.clone()),
    }
}

/// Gives the rows of the insert `at` their presets, in place of the client's values and of keys of other rows.
fn preset_rows(plan: &mut Plan, at: u32, policy: &dyn Policy, claims: &mut Claims) {
    let Change::Insert(insert) = &mut plan.changes[at as usize] else { return };
    let presets = policy.presets(insert.scan.table(), WriteKind::Insert);
    note_presets(presets, claims);
    for (column, value) in presets {
        let known = insert.columns.iter().position(|it| it == column);
        let place = known.unwrap_or(insert.columns.len());
        if known.is_none() {
            insert.columns.push(*column);
        }
        for step in plan.writes.iter_mut().flat_map(|it| &mut it.works).flat_map(steps) {
            if step.change == at {
                match step.values.get_mut(place) {
                    Some(old) => *old = preset_to_given(value),
                    None => step.values.push(preset_to_given(value)),
                }
            }
        }
    }
}

fn steps(work: &mut Work) -> &mut [Step] {
    match work {
        Work::Insert(steps) | Work::Each { steps, .. } => steps,
        Work::Nothing | Work::Change(_) | Work::Program { .. } => &mut [],
    }
}

/// Caps every list of rows that is shown.
fn limit_lists(plan: &mut Plan, policy: &dyn Policy) {
    let cap = |query: &mut Query| {
        let most = policy.limit(query.table(), query.scan.purpose());
        if let (Some(rows_max), Output::Rows(_)) = (most, &query.output) {
            cap_page(&mut query.page, rows_max);
        }
    };
    let list = |it: &Member| match it.kind {
        MemberKind::Many(level) | MemberKind::End { level, .. } => Some(level),
        MemberKind::Beyond { page, .. } => page,
        _ => None,
    };
    let mut lists: Vec<u32> = plan.members.iter().filter_map(list).collect();
    // Several members may show the rows of one level.
    lists.sort_unstable();
    lists.dedup();
    for level in lists {
        cap(&mut plan.levels[level as usize].query);
    }
    for change in &mut plan.changes {
        if let Change::Call(query) = change {
            cap(query);
        }
    }
}

fn cap_page(page: &mut Page, rows_max: u32) {
    page.limit = Some(match page.limit.take() {
        None => Parameter::constant(rows_max.to_string(), Reader::Limit),
        Some(limit) => {
            let reader = Reader::Capped { reader: Box::new(limit.reader), rows_max };
            Parameter { reader, ..limit }
        }
    });
}
