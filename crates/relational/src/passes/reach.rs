//! Estimates the shards that a statement reads, as far as its conditions show.
//!
//! Each access to a distributed table is judged by its own conjuncts, which [`super::route`] has completed: one value of the
//! distribution column is one shard, a list of values several, anything else all.
//!
//! **Cost:** planning only; one walk over the parts of the statement.

use super::route::{Known, direct};
use crate::catalog::{ColumnId, Placement, Relations};
use crate::plan::operators::Comparison;
use crate::plan::write::Change;
use crate::plan::{Children, Expr, Filter, Output, Parameter, Plan, Query, Reader, Scan};

/// Shards that a statement asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// None: its tables are on every node, or on the node that answers.
    #[default]
    None,
    /// The shard of one value.
    One,
    /// The shards of some values.
    Several,
    /// All shards of a table.
    All,
}

impl Reach {
    /// All reaches, in order.
    pub const EVERY: [Self; 4] = [Self::None, Self::One, Self::Several, Self::All];

    /// The name, in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::One => "one",
            Self::Several => "several",
            Self::All => "all",
        }
    }

    /// Words for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::None => "no shard",
            Self::One => "one shard",
            Self::Several => "several shards",
            Self::All => "all shards",
        }
    }
}

/// The shards that a statement of the levels `tops` and all below them asks; `has_keys`: lists of the keys of their parents are bound.
pub fn of_levels(relations: &Relations, plan: &Plan, tops: &[u32], has_keys: bool) -> Reach {
    let mut asked = Asked::new(relations);
    let mut waiting = tops.to_vec();
    while let Some(level) = waiting.pop() {
        asked.has_keys = has_keys && tops.contains(&level);
        asked.query(&plan.levels[level as usize].query);
        waiting.extend(plan.levels_of(level));
    }
    asked.reach()
}

/// The shards that a statement of the level `only` alone asks.
pub fn of_level(relations: &Relations, plan: &Plan, only: u32) -> Reach {
    let mut asked = Asked::new(relations);
    asked.query(&plan.levels[only as usize].query);
    asked.reach()
}

/// The shards that the statement of a change asks.
pub fn of_change(relations: &Relations, change: &Change) -> Reach {
    let mut asked = Asked::new(relations);
    match change {
        Change::Insert(insert) => {
            // The row has one value.
            let is_sharded = asked.distribution(&insert.scan).is_some();
            asked.least = if is_sharded { Reach::One } else { Reach::None };
            asked.single(&insert.scan);
            asked.restrictions(&insert.scan);
            if let Some(conflict) = &insert.conflict {
                asked.restrictions(&conflict.scan);
                asked.filter(&conflict.filter);
            }
            asked.exprs(&insert.returning);
        }
        Change::Update(update) => {
            asked.rows(&update.scan, &update.filter);
            asked.exprs(&update.returning);
        }
        Change::Delete(delete) => {
            asked.rows(&delete.scan, &delete.filter);
            asked.exprs(&delete.returning);
        }
        Change::Call(query) => asked.query(query),
    }
    asked.reach()
}

/// True if one transaction of `plan` changes several shards, or reads them, and a table that is on every node, or changes such a table by
/// a condition on rows of shards: a database of shards opens connections for the one that do not see the other.
pub fn mixes(relations: &Relations, plan: &Plan) -> bool {
    let is_reference = |it: &Change| relations.catalog.table(it.table()).placement == Placement::Reference;
    let is_wide = |it: Reach| it > Reach::One;
    let is_mixed = |it: &Change| is_reference(it) && of_change(relations, it) > Reach::None;
    relations.catalog.has_shards()
        && plan.changes.iter().any(is_reference)
        && (plan.changes.iter().any(is_mixed)
            || plan.changes.iter().any(|it| is_wide(of_change(relations, it)))
            || (0..plan.levels.len() as u32).any(|it| is_wide(of_level(relations, plan, it))))
}

/// State while the parts of a statement are visited.
struct Asked<'r> {
    relations: &'r Relations,
    /// Different values of distribution columns.
    values: Vec<Parameter>,
    /// Colocations of tables with one shard.
    singles: Vec<u32>,
    least: Reach,
    /// The current query is below parents whose keys are bound as lists.
    has_keys: bool,
}

impl<'r> Asked<'r> {
    const fn new(relations: &'r Relations) -> Self {
        Self { relations, values: Vec::new(), singles: Vec::new(), least: Reach::None, has_keys: false }
    }

    fn reach(&self) -> Reach {
        let by_values = match self.values.len() + self.singles.len() {
            0 => Reach::None,
            1 => Reach::One,
            _ => Reach::Several,
        };
        self.least.max(by_values)
    }

    fn distribution(&self, scan: &Scan) -> Option<ColumnId> {
        match self.relations.catalog.table(scan.table()).placement {
            Placement::Sharded { column, .. } => Some(column),
            Placement::Local | Placement::Reference | Placement::Single { .. } => None,
        }
    }

    fn query(&mut self, query: &Query) {
        // Rows returned by a function have no shard.
        match query.call {
            Some(_) => self.restrictions(&query.scan),
            None => {
                let distribution = self.distribution(&query.scan).filter(|_| self.has_keys);
                let is_listed = distribution.is_some_and(|it| query.key_of_parents(it).is_some());
                self.own_rows(&query.scan, &query.filter, is_listed);
            }
        }
        query.order.iter().for_each(|it| self.expr(&it.of));
        match &query.output {
            Output::Rows(columns) | Output::Aggregate(columns) => self.exprs(columns),
            Output::Groups { by: _, columns, having } => {
                self.exprs(columns);
                self.filter(having);
            }
        }
    }

    /// The rows of a table that fulfil `filter`.
    fn rows(&mut self, scan: &Scan, filter: &Filter) {
        self.own_rows(scan, filter, false);
    }

    /// Notes the shard of a table that has one.
    fn single(&mut self, scan: &Scan) {
        if let Placement::Single { colocation } = self.relations.catalog.table(scan.table()).placement
            && !self.singles.contains(&colocation)
        {
            self.singles.push(colocation);
        }
    }

    /// Notes the shards of rows that fulfil `filter`; `is_listed`: the rows are found by a list of values.
    fn own_rows(&mut self, scan: &Scan, filter: &Filter, mut is_listed: bool) {
        self.single(scan);
        if let Some(column) = self.distribution(scan) {
            let mut known = Known::new();
            is_listed |= self::is_listed(filter, column);
            direct(filter, &mut known);
            if let Some(policy) = scan.policy() {
                direct(policy, &mut known);
                is_listed |= self::is_listed(policy, column);
            }
            match known.into_iter().find(|it| it.0 == column) {
                Some((_, value)) => {
                    if self.values.iter().all(|it| it.origin != value.origin) {
                        self.values.push(value);
                    }
                }
                None => self.least = self.least.max(if is_listed { Reach::Several } else { Reach::All }),
            }
        }
        self.restrictions(scan);
        self.filter(filter);
    }

    fn restrictions(&mut self, scan: &Scan) {
        scan.policy().into_iter().chain(scan.check()).chain(scan.shown_ifs()).for_each(|it| self.filter(it));
    }

    fn filter(&mut self, filter: &Filter) {
        self.children(filter.children());
    }

    fn children(&mut self, below: Children<'_>) {
        match below.scan {
            Some(scan) => below.filters.iter().for_each(|it| self.rows(scan, it)),
            None => below.filters.iter().for_each(|it| self.filter(it)),
        }
        below.of.into_iter().for_each(|it| self.expr(it));
        below.query.into_iter().for_each(|it| self.query(it));
    }

    fn exprs(&mut self, columns: &[Expr]) {
        columns.iter().for_each(|it| self.expr(it));
    }

    fn expr(&mut self, of: &Expr) {
        self.children(of.children());
    }
}

/// True if a conjunct of `filter` compares `column` with a list of values.
fn is_listed(filter: &Filter, column: ColumnId) -> bool {
    filter.conjuncts().into_iter().any(|it| {
        let compared =
            it.as_column_comparison(Comparison::In).or_else(|| it.as_column_comparison(Comparison::Eq));
        compared.is_some_and(|(of, with)| {
            of == column && matches!(with.reader, Reader::Each(_) | Reader::Gathered { .. })
        })
    })
}
