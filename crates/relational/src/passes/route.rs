//! Repeats known values of a distribution column wherever a relationship ties it, so that a sharded database sees that a single
//! shard answers.
//!
//! Citus decides by the conditions of each table for itself: with `orders.tenant_id = $1` and lines tied by
//! `lines.tenant_id = orders.tenant_id` it asks one shard of `orders` and all of `lines`. The pass adds
//! `lines.tenant_id = $1`, which changes no answer.
//!
//! **Invariant:** a condition is added only where the tie and a conjunct of the row above imply it, for columns of one type:
//! where the conjunct is not true, the row above is none of the answer.
//!
//! **Cost:** one walk over the plan; nothing where no table has shards.

use crate::catalog::{Column, ColumnAt, ColumnId, ColumnType, Placement, Relations, RelationshipId, TableId};
use crate::plan::operators::Comparison;
use crate::plan::write::{Assign, Change, Given, Work, WriteAnswer};
use crate::plan::{Expr, Filter, Origin, Output, Parameter, Plan, Query, Reader, Scan, Tie};

/// Columns of a row whose values are known.
pub(super) type Known = Vec<(ColumnId, Parameter)>;

/// The rows above a level.
#[derive(Clone)]
struct Above {
    table: TableId,
    known: Known,
    /// The column behind each output column.
    columns: Vec<Option<ColumnId>>,
}

/// Adds the conditions to `plan`.
pub fn route(plan: &mut Plan, relations: &Relations) {
    if !relations.catalog.has_shards() {
        return;
    }
    let router = Router { relations };
    plan.changes.iter_mut().for_each(|it| router.change(it));
    let roots = plan.levels_below(plan.root);
    let only = if let [only] = roots.as_slice() { Some(*only) } else { None };
    let mut waiting: Vec<(u32, Option<Above>)> = roots.into_iter().map(|it| (it, None)).collect();
    for write in &plan.writes {
        let (WriteAnswer::Row(run)
        | WriteAnswer::Rows(run)
        | WriteAnswer::Response(run)
        | WriteAnswer::Responses(run)) = write.answer;
        let above = router.rows_of_mutation(plan, &write.works);
        waiting.extend(plan.levels_below(run).into_iter().map(|it| (it, above.clone())));
    }
    while let Some((level, above)) = waiting.pop() {
        let query = &mut plan.levels[level as usize].query;
        let known = router.query(query, above.as_ref());
        let mut above = Above { table: query.table(), known, columns: sources(query.columns()) };
        let below = plan.levels_of(level);
        if only == Some(level) && router.is_single(&plan.levels[level as usize].query, &above.known) {
            let missing = router.missing(plan, &below, &above);
            plan.first = (!missing.is_empty()).then_some(level);
            above.known.extend(missing);
        }
        waiting.extend(below.into_iter().map(|it| (it, Some(above.clone()))));
    }
}

pub(super) struct Router<'r> {
    pub(super) relations: &'r Relations,
}

impl Router<'_> {
    /// Completes the conditions of a query, and returns what is known of its rows.
    fn query(&self, query: &mut Query, above: Option<&Above>) -> Known {
        let table = query.table();
        let mut known = self.of_scan(&query.scan, &query.filter);
        if let (Some(above), None) = (above, &query.through) {
            for &(tie, column) in &query.nest {
                let from = above.columns.get(usize::from(column)).copied().flatten();
                if let (Tie::Column(to), Some(from)) = (tie, from)
                    && let Some(value) =
                        self.carry_value(&above.known, column_at(above.table, from), column_at(table, to))
                {
                    learn(&mut known, to, value);
                }
            }
        }
        self.pin(table, &query.scan, &mut query.filter, &known);
        self.restrictions(&mut query.scan, &known);
        self.filter(&mut query.filter, table, &known);
        query.order.iter_mut().for_each(|it| self.expr(&mut it.of, table, &known));
        match &mut query.output {
            Output::Rows(columns) | Output::Aggregate(columns) => self.exprs(columns, table, &known),
            Output::Groups { by: _, columns, having } => {
                self.exprs(columns, table, &known);
                self.filter(having, table, &known);
            }
        }
        known
    }

    /// True if `query` has at most one row, which is found by values of the request.
    fn is_single(&self, query: &Query, known: &Known) -> bool {
        let columns: Vec<ColumnId> = known.iter().map(|it| it.0).collect();
        let is_plain = query.call.is_none() && query.nest.is_empty() && !of_parents(&query.filter);
        let is_row = matches!(query.output, Output::Rows(_));
        is_plain && is_row && self.relations.catalog.table(query.table()).is_unique(&columns)
    }

    /// Columns of the row `above` that say on which shard the rows of the levels `below` are, and are not known.
    fn missing(&self, plan: &Plan, below: &[u32], above: &Above) -> Known {
        let mut missing = Known::new();
        for query in below.iter().map(|it| &plan.levels[*it as usize].query) {
            let table = self.relations.catalog.table(query.table());
            let Placement::Sharded { column: distribution, .. } = table.placement else { continue };
            let mut ties = query.nest.iter().filter(|_| query.through.is_none());
            let Some(&(_, at)) = ties.find(|it| it.0 == Tie::Column(distribution)) else { continue };
            let Some(column) = above.columns.get(usize::from(at)).copied().flatten() else { continue };
            if above.known.iter().all(|it| it.0 != column)
                && !self.of_scan(&query.scan, &query.filter).iter().any(|it| it.0 == distribution)
            {
                let reader = Reader::Column(table.column(distribution).ty.clone());
                learn(
                    &mut missing,
                    column,
                    Parameter { origin: Origin::Before(at), reader, path: "".into() },
                );
            }
        }
        missing
    }

    /// Completes the conditions of a change.
    fn change(&self, change: &mut Change) {
        // The row of a conflict is found by its key.
        let is_conflict = matches!(change, Change::Insert(_));
        let (scan, filter, set): (_, _, Vec<ColumnId>) = match change {
            Change::Update(update) => {
                (&mut update.scan, &mut update.filter, update.set.iter().map(|it| it.0).collect())
            }
            Change::Delete(delete) => (&mut delete.scan, &mut delete.filter, Vec::new()),
            Change::Insert(insert) => {
                self.restrictions(&mut insert.scan, &Known::new());
                let Some(conflict) = &mut insert.conflict else { return };
                let presets = conflict.presets.iter().map(|it| it.0);
                let set = conflict.update.iter().copied().chain(presets).collect();
                (&mut conflict.scan, &mut conflict.filter, set)
            }
            Change::Call(query) => {
                self.query(query, None);
                return;
            }
        };
        let mut known = self.of_scan(scan, filter);
        if !is_conflict {
            self.pin(scan.table(), scan, filter, &known);
        }
        self.filter(filter, scan.table(), &known);
        // The policy's conditions are on the row before and after the change.
        known.retain(|it| !set.contains(&it.0));
        self.restrictions(scan, &known);
    }

    /// Completes the conditions of the policy on rows of a scan.
    fn restrictions(&self, scan: &mut Scan, known: &Known) {
        let table = scan.table();
        scan.conditions().for_each(|it| self.filter(it, table, known));
    }

    /// The value of the rows of a scan in `column`.
    pub(super) fn value(&self, scan: &Scan, filter: &Filter, column: ColumnId) -> Option<Parameter> {
        self.of_scan(scan, filter).into_iter().find(|it| it.0 == column).map(|it| it.1)
    }

    /// The rows that a root field of a mutation shows, if all have one value in some column: of an insert alone, of an update or
    /// a delete by it. Nothing where a trigger may change the row.
    fn rows_of_mutation(&self, plan: &Plan, works: &[Work]) -> Option<Above> {
        let [work] = works else { return None };
        let (change, inserted) = match work {
            Work::Change(at) => (&plan.changes[*at as usize], None),
            Work::Insert(steps) => {
                let mut shown = steps.iter().filter(|it| it.shown);
                let step = shown.next().filter(|_| shown.next().is_none())?;
                (&plan.changes[step.change as usize], Some(step))
            }
            Work::Nothing | Work::Each { .. } | Work::Program { .. } => return None,
        };
        let table = self.relations.catalog.table(change.table());
        let stays = |column: ColumnId| is_stored_as_given(table.column(column));
        let mut known: Known = match change {
            Change::Insert(insert) => {
                let of_conflict = |column: &ColumnId| {
                    insert
                        .conflict
                        .as_ref()
                        .is_none_or(|it| it.shared_columns().contains(column) || it.update.contains(column))
                };
                let values = insert.columns.iter().zip(&inserted?.values).filter(|it| of_conflict(it.0));
                let given = values.filter_map(|(column, given)| match given {
                    Given::Parameter(value) if is_plain(value) && stays(*column) => {
                        Some((*column, value.clone()))
                    }
                    Given::Parameter(_) | Given::Null | Given::Returned { .. } => None,
                });
                given.collect()
            }
            Change::Update(update) => self.of_scan(&update.scan, &update.filter),
            Change::Delete(delete) => self.of_scan(&delete.scan, &delete.filter),
            Change::Call(query) => self.of_scan(&query.scan, &query.filter),
        };
        if let Change::Update(update) = change {
            known.retain(|(column, _)| update.set.iter().all(|it| it.0 != *column));
            for (column, assign) in &update.set {
                if let Assign::Value(value) = assign
                    && is_plain(value)
                    && stays(*column)
                {
                    learn(&mut known, *column, value.clone());
                }
            }
        }
        if table.acts && !matches!(change, Change::Delete(_)) {
            known.clear();
        }
        Some(Above { table: change.table(), known, columns: sources(change.returning()) })
    }

    /// The columns that the conditions of a scan tie to values.
    fn of_scan(&self, scan: &Scan, filter: &Filter) -> Known {
        let mut known = Known::new();
        if let Some(policy) = scan.policy() {
            self.conjuncts(policy, scan.table(), &mut known);
        }
        self.conjuncts(filter, scan.table(), &mut known);
        known
    }

    fn conjuncts(&self, filter: &Filter, table: TableId, known: &mut Known) {
        for part in filter.conjuncts() {
            if let Some((column, value)) = equality(part) {
                learn(known, column, value.clone());
            } else if let Filter::Exists { by, scan, filter } = part {
                let related = self.relations.relationship(*by);
                let below = self.of_scan(scan, filter);
                for &(ours, theirs) in related.on.iter().filter(|_| related.through.is_none()) {
                    if let Some(value) =
                        self.carry_value(&below, column_at(scan.table(), theirs), column_at(table, ours))
                    {
                        learn(known, ours, value);
                    }
                }
            }
        }
    }

    /// The known value of `from`, if a column `to` with an equal value compares the same way.
    fn carry_value(&self, known: &Known, from: ColumnAt, to: ColumnAt) -> Option<Parameter> {
        let column = |at: ColumnAt| self.relations.catalog.table(at.table).column(at.column);
        let is_same = column(from).oid == column(to).oid && column(from).folds == column(to).folds;
        known.iter().find(|it| it.0 == from.column).filter(|_| is_same).map(|it| it.1.clone())
    }

    /// Adds the known value of the distribution column of `table` to `filter`, unless a conjunct has it.
    fn pin(&self, table: TableId, scan: &Scan, filter: &mut Filter, known: &Known) {
        let Placement::Sharded { column, .. } = self.relations.catalog.table(table).placement else { return };
        let Some((_, value)) = known.iter().find(|it| it.0 == column) else { return };
        let mut said = Known::new();
        scan.policy().into_iter().for_each(|it| direct(it, &mut said));
        direct(filter, &mut said);
        if said.iter().any(|it| it.0 == column) {
            return;
        }
        let pinned = Filter::Compare { of: Expr::Key(column), by: Comparison::Eq, with: value.clone() };
        *filter = match std::mem::take(filter) {
            Filter::All(mut parts) => {
                parts.push(pinned);
                Filter::All(parts)
            }
            other => Filter::All(vec![other, pinned]),
        };
    }

    /// Completes the conditions on related rows in `filter`, a condition on a row of `table`.
    fn filter(&self, filter: &mut Filter, table: TableId, known: &Known) {
        match filter {
            Filter::All(parts) => {
                let mut known = known.clone();
                parts.iter().for_each(|it| self.conjuncts(it, table, &mut known));
                parts.iter_mut().for_each(|it| self.filter(it, table, &known));
            }
            Filter::Any(parts) => parts.iter_mut().for_each(|it| self.filter(it, table, known)),
            Filter::Not(part) | Filter::NotTrue(part) | Filter::Behind { filter: part, .. } => {
                self.filter(part, table, known);
            }
            Filter::Null { of, .. }
            | Filter::Compare { of, .. }
            | Filter::Measure { of, .. }
            | Filter::Columns { of, .. } => self.expr(of, table, known),
            Filter::Exists { by, scan, filter } => {
                self.complete_related_filter(*by, scan, filter, table, known);
            }
            Filter::Somewhere { scan, filter } => {
                let known = self.of_scan(scan, filter);
                self.restrictions(scan, &known);
                self.filter(filter, scan.table(), &known);
            }
            // The row is one of a page: a condition more would make another page.
            Filter::Among { key: _, query } => _ = self.query(query, None),
            _ => {}
        }
    }

    fn exprs(&self, columns: &mut [Expr], table: TableId, known: &Known) {
        columns.iter_mut().for_each(|it| self.expr(it, table, known));
    }

    fn expr(&self, of: &mut Expr, table: TableId, known: &Known) {
        match of {
            Expr::JsonPath(of, _) | Expr::Cast(of, _) => self.expr(of, table, known),
            Expr::Related { by, scan, filter, of } => {
                let known = self.complete_related_filter(*by, scan, filter, table, known);
                self.expr(of, scan.table(), &known);
            }
            _ => {}
        }
    }

    /// Adds known values to the conditions on rows along `by`, and returns what is known of these rows.
    fn complete_related_filter(
        &self,
        by: RelationshipId,
        scan: &mut Scan,
        filter: &mut Filter,
        table: TableId,
        above: &Known,
    ) -> Known {
        let related = self.relations.relationship(by);
        let mut known = self.of_scan(scan, filter);
        for &(ours, theirs) in related.on.iter().filter(|_| related.through.is_none()) {
            if let Some(value) =
                self.carry_value(above, column_at(table, ours), column_at(scan.table(), theirs))
            {
                learn(&mut known, theirs, value);
            }
        }
        self.pin(scan.table(), scan, filter, &known);
        self.restrictions(scan, &known);
        self.filter(filter, scan.table(), &known);
        known
    }
}

const fn column_at(table: TableId, column: ColumnId) -> ColumnAt {
    ColumnAt { table, column }
}

/// True if a conjunct of `filter` compares with keys of parents in another source, of which there may be many.
fn of_parents(filter: &Filter) -> bool {
    let of_parents =
        |it: &Filter| matches!(it, Filter::Compare { with, .. } if matches!(with.origin, Origin::Parent(_)));
    filter.conjuncts().into_iter().any(of_parents)
}

fn learn(known: &mut Known, column: ColumnId, value: Parameter) {
    if known.iter().all(|it| it.0 != column) {
        known.push((column, value));
    }
}

/// The columns that `filter` compares with a value of a request itself.
pub(super) fn direct(filter: &Filter, known: &mut Known) {
    for (column, value) in filter.conjuncts().into_iter().filter_map(equality) {
        learn(known, column, value.clone());
    }
}

/// The column and the value of a request that it has to equal, if `filter` says that.
fn equality(filter: &Filter) -> Option<(ColumnId, &Parameter)> {
    filter.as_column_comparison(Comparison::Eq).filter(|it| is_plain(it.1))
}

/// True for one value of the request or of the policy, which the whole statement shares.
pub(super) const fn is_plain(with: &Parameter) -> bool {
    let is_shared = matches!(
        with.origin,
        Origin::Literal(_)
            | Origin::Variable(_)
            | Origin::Inside { .. }
            | Origin::Claim(_)
            | Origin::Before(_)
            | Origin::Constant(_)
    );
    is_shared && matches!(with.reader, Reader::Column(_))
}

/// True if the database stores a value of the column's type without rounding or cutting it.
fn is_stored_as_given(column: &Column) -> bool {
    match column.ty {
        ColumnType::SmallInt
        | ColumnType::Int
        | ColumnType::BigInt
        | ColumnType::Boolean
        | ColumnType::Uuid => true,
        ColumnType::Text => column.declared == "text",
        _ => false,
    }
}

/// The columns behind `columns`.
fn sources(columns: &[Expr]) -> Vec<Option<ColumnId>> {
    let source = |of: &Expr| match of {
        Expr::Column(id) | Expr::Key(id) => Some(*id),
        _ => None,
    };
    columns.iter().map(source).collect()
}
