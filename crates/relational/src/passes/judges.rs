//! Gathers the arguments by which a plan can fail whatever its rows are: patterns.
//!
//! A driver judges them before a row is read, so that a broken one is the same error over any rows and over none.
//!
//! **Invariant:** a pattern is the right side of a comparison, wherever that stands in the plan.

use crate::plan::comparison_table::Takes;
use crate::plan::write::Change;
use crate::plan::{Children, Expr, Filter, Judged, Output, Plan, Query, Scan};

/// Notes the patterns of `plan`, its policy's among them.
pub(super) fn gather(plan: &mut Plan) {
    let mut judges = Judges { judged: Vec::new(), level: None };
    for (at, level) in plan.levels.iter().enumerate() {
        judges.level = Some(at as u32);
        judges.query(&level.query);
    }
    judges.level = None;
    for change in &plan.changes {
        judges.change(change);
    }
    plan.judged = judges.judged;
}

struct Judges {
    judged: Vec<Judged>,
    /// The current level.
    level: Option<u32>,
}

impl Judges {
    fn query(&mut self, query: &Query) {
        self.scan(&query.scan);
        self.filter(&query.filter);
        query.order.iter().for_each(|it| self.expr(&it.of));
        match &query.output {
            Output::Rows(columns) | Output::Aggregate(columns) => self.exprs(columns),
            Output::Groups { by: _, columns, having } => {
                self.exprs(columns);
                self.filter(having);
            }
        }
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::Insert(insert) => {
                self.scan(&insert.scan);
                if let Some(conflict) = &insert.conflict {
                    self.scan(&conflict.scan);
                    self.filter(&conflict.filter);
                }
            }
            Change::Update(update) => {
                self.scan(&update.scan);
                self.filter(&update.filter);
            }
            Change::Delete(delete) => {
                self.scan(&delete.scan);
                self.filter(&delete.filter);
            }
            Change::Call(query) => return self.query(query),
        }
        self.exprs(change.returning());
    }

    fn scan(&mut self, scan: &Scan) {
        scan.policy().into_iter().chain(scan.check()).chain(scan.shown_ifs()).for_each(|it| self.filter(it));
    }

    fn filter(&mut self, filter: &Filter) {
        if let Filter::Compare { of: _, by, with } = filter {
            let judged = Judged { by: by.positive(), with: with.clone(), level: self.level };
            if by.takes() == Takes::Pattern && !self.judged.contains(&judged) {
                self.judged.push(judged);
            }
        }
        self.children(filter.children());
    }

    fn children(&mut self, below: Children<'_>) {
        below.scan.into_iter().for_each(|it| self.scan(it));
        below.filters.iter().for_each(|it| self.filter(it));
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
