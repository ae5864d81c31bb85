//! Visits every [`Scan`] of a plan.
//!
//! **Invariant:** a part of a plan that may hold a scan is matched here by name, so that a new one stops the build.

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
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter_mut().for_each(|it| it.scans(visit)),
            Self::Not(part) | Self::NotTrue(part) => part.scans(visit),
            Self::Each { with: _, filter } | Self::Behind { filter, .. } => filter.scans(visit),
            Self::Null { of, .. }
            | Self::Compare { of, .. }
            | Self::Measure { of, .. }
            | Self::Columns { of, .. } => of.scans(visit),
            Self::Exists { by: _, scan, filter } | Self::Somewhere { scan, filter } => {
                visit(scan);
                filter.scans(visit);
            }
            Self::Among { key: _, query } => query.scans(visit),
            Self::Missing { .. } | Self::Named { .. } | Self::Words { .. } | Self::Place { .. } => {}
        }
    }
}

impl Expr {
    fn scans(&mut self, visit: &mut Visit<'_>) {
        match self {
            Self::JsonPath(of, _) | Self::Cast(of, _) => of.scans(visit),
            Self::Related { by: _, scan, filter, of } => {
                visit(scan);
                filter.scans(visit);
                of.scans(visit);
            }
            Self::Column(_)
            | Self::Key(_)
            | Self::Computed(_)
            | Self::Row
            | Self::Snapshot
            | Self::Null
            | Self::Count { .. }
            | Self::Function(..)
            | Self::Instant { .. }
            | Self::Statistic { .. } => {}
        }
    }
}

fn each(columns: &mut [Expr], visit: &mut Visit<'_>) {
    columns.iter_mut().for_each(|it| it.scans(visit));
}
