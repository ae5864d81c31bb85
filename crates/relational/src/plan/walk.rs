//! Visits every [`Scan`] of a plan.
//!
//! **Invariant:** a part of a plan that may hold a scan is matched by name, here or in [`super::children`], so that a new one stops the
//! build.

use super::children::ChildrenMut;
use super::write::Change;
use super::{Expr, Filter, Output, Plan, Query, Scan};
use crate::catalog::TableId;

/// Receives each scan.
type Visit<'v> = dyn FnMut(&mut Scan) + 'v;

impl Plan {
    /// Calls `visit` with each scan: of levels, of writes, and inside conditions, orders and columns.
    pub fn scans(&mut self, visit: &mut Visit<'_>) {
        for level in &mut self.levels {
            level.query.scans(visit);
        }
        for change in &mut self.changes {
            change.scans(visit);
        }
    }
}

impl Plan {
    /// Tables of all scans, with those in policy conditions. A table that is scanned twice is listed twice.
    pub(crate) fn scanned_tables(&mut self) -> Vec<TableId> {
        let mut tables = Vec::new();
        let mut pending: Vec<Filter> = Vec::new();
        let mut note = |scan: &mut Scan, pending: &mut Vec<Filter>| {
            tables.push(scan.table());
            pending.extend(scan.conditions().map(|it| it.clone()));
        };
        self.scans(&mut |scan| note(scan, &mut pending));
        while let Some(mut condition) = pending.pop() {
            condition.scans(&mut |scan| note(scan, &mut pending));
        }
        tables
    }
}

impl Change {
    pub(crate) fn scans(&mut self, visit: &mut Visit<'_>) {
        match self {
            Self::Insert(insert) => {
                visit(&mut insert.scan);
                if let Some(conflict) = &mut insert.conflict {
                    visit(&mut conflict.scan);
                    conflict.filter.scans(visit);
                }
                each(&mut insert.returning, visit);
            }
            Self::Update(update) => {
                visit(&mut update.scan);
                update.filter.scans(visit);
                each(&mut update.returning, visit);
            }
            Self::Delete(delete) => {
                visit(&mut delete.scan);
                delete.filter.scans(visit);
                each(&mut delete.returning, visit);
            }
            Self::Call(query) => query.scans(visit),
        }
    }
}

impl Query {
    pub(crate) fn scans(&mut self, visit: &mut Visit<'_>) {
        visit(&mut self.scan);
        self.filter.scans(visit);
        for term in &mut self.order {
            term.of.scans(visit);
        }
        match &mut self.output {
            Output::Rows(columns) | Output::Aggregate(columns) => each(columns, visit),
            Output::Groups { by: _, columns, having } => {
                each(columns, visit);
                having.scans(visit);
            }
        }
    }
}

impl Filter {
    fn scans(&mut self, visit: &mut Visit<'_>) {
        self.children_mut().scans(visit);
    }
}

impl Expr {
    fn scans(&mut self, visit: &mut Visit<'_>) {
        self.children_mut().scans(visit);
    }
}

impl ChildrenMut<'_> {
    fn scans(self, visit: &mut Visit<'_>) {
        let Self { scan, filters, of, query } = self;
        if let Some(scan) = scan {
            visit(scan);
        }
        filters.iter_mut().for_each(|it| it.scans(visit));
        if let Some(of) = of {
            of.scans(visit);
        }
        if let Some(query) = query {
            query.scans(visit);
        }
    }
}

fn each(columns: &mut [Expr], visit: &mut Visit<'_>) {
    columns.iter_mut().for_each(|it| it.scans(visit));
}
