//! Direct children of conditions and values, for walks that only recurse.
//!
//! **Invariant:** each part that may hold a condition, a value, a scan or a query is matched here by name, so that a new one stops the
//! build. Parameters are no parts: who looks for them matches on its own.
//!
//! **Cost:** nothing is allocated.

use super::{Expr, Filter, Query, Scan};
use crate::catalog::RelationshipId;

/// The parts right below a condition or a value. The filters are conditions on the rows of the scan, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Children<'p> {
    /// The way to the rows of the scan.
    pub by: Option<RelationshipId>,
    /// Other rows.
    pub scan: Option<&'p Scan>,
    /// Conditions.
    pub filters: &'p [Filter],
    /// A value; with a scan, one of its rows.
    pub of: Option<&'p Expr>,
    /// A query over rows of its own.
    pub query: Option<&'p Query>,
}

/// [`Children`] that may be changed.
#[derive(Debug, Default)]
pub(crate) struct ChildrenMut<'p> {
    pub(crate) scan: Option<&'p mut Scan>,
    pub(crate) filters: &'p mut [Filter],
    pub(crate) of: Option<&'p mut Expr>,
    pub(crate) query: Option<&'p mut Query>,
}

impl Filter {
    /// The parts right below the filter.
    pub fn children(&self) -> Children<'_> {
        let none = Children::default();
        match self {
            Self::All(parts) | Self::Any(parts) => Children { filters: parts, ..none },
            Self::Not(part)
            | Self::NotTrue(part)
            | Self::Each { with: _, filter: part }
            | Self::Behind { filter: part, .. } => Children { filters: std::slice::from_ref(part), ..none },
            Self::Null { of, .. }
            | Self::Compare { of, .. }
            | Self::Measure { of, .. }
            | Self::Columns { of, .. } => Children { of: Some(of), ..none },
            Self::Exists { by, scan, filter } => {
                Children { by: Some(*by), scan: Some(scan), filters: std::slice::from_ref(filter), ..none }
            }
            Self::Somewhere { scan, filter } => {
                Children { scan: Some(scan), filters: std::slice::from_ref(filter), ..none }
            }
            Self::Among { key: _, query } => Children { query: Some(query), ..none },
            Self::Missing { .. } | Self::Named { .. } | Self::Words { .. } | Self::Place { .. } => none,
        }
    }

    pub(crate) fn children_mut(&mut self) -> ChildrenMut<'_> {
        let none = ChildrenMut::default();
        match self {
            Self::All(parts) | Self::Any(parts) => ChildrenMut { filters: parts, ..none },
            Self::Not(part)
            | Self::NotTrue(part)
            | Self::Each { with: _, filter: part }
            | Self::Behind { filter: part, .. } => {
                ChildrenMut { filters: std::slice::from_mut(part), ..none }
            }
            Self::Null { of, .. }
            | Self::Compare { of, .. }
            | Self::Measure { of, .. }
            | Self::Columns { of, .. } => ChildrenMut { of: Some(of), ..none },
            Self::Exists { by: _, scan, filter } | Self::Somewhere { scan, filter } => {
                ChildrenMut { scan: Some(scan), filters: std::slice::from_mut(filter), ..none }
            }
            Self::Among { key: _, query } => ChildrenMut { query: Some(query), ..none },
            Self::Missing { .. } | Self::Named { .. } | Self::Words { .. } | Self::Place { .. } => none,
        }
    }

    /// True if the filter reads rows other than the current one.
    pub(crate) fn reads_rows(&self) -> bool {
        self.children().read_rows()
    }
}

impl Expr {
    /// The parts right below the expression.
    pub fn children(&self) -> Children<'_> {
        let none = Children::default();
        match self {
            Self::JsonPath(of, _) | Self::Cast(of, _) => Children { of: Some(of), ..none },
            Self::Related { by, scan, filter, of } => Children {
                by: Some(*by),
                scan: Some(scan),
                filters: std::slice::from_ref(filter),
                of: Some(of),
                query: None,
            },
            Self::Column(_)
            | Self::Key(_)
            | Self::Computed(_)
            | Self::Row
            | Self::Snapshot
            | Self::Null
            | Self::Count { .. }
            | Self::Function(..)
            | Self::Instant { .. }
            | Self::Statistic { .. } => none,
        }
    }

    pub(crate) fn children_mut(&mut self) -> ChildrenMut<'_> {
        let none = ChildrenMut::default();
        match self {
            Self::JsonPath(of, _) | Self::Cast(of, _) => ChildrenMut { of: Some(of), ..none },
            Self::Related { by: _, scan, filter, of } => ChildrenMut {
                scan: Some(scan),
                filters: std::slice::from_mut(filter),
                of: Some(of),
                query: None,
            },
            Self::Column(_)
            | Self::Key(_)
            | Self::Computed(_)
            | Self::Row
            | Self::Snapshot
            | Self::Null
            | Self::Count { .. }
            | Self::Function(..)
            | Self::Instant { .. }
            | Self::Statistic { .. } => none,
        }
    }

    /// True if the expression reads rows other than the current one.
    pub(crate) fn reads_rows(&self) -> bool {
        self.children().read_rows()
    }
}

impl Children<'_> {
    fn read_rows(&self) -> bool {
        self.scan.is_some()
            || self.query.is_some()
            || self.filters.iter().any(Filter::reads_rows)
            || self.of.is_some_and(Expr::reads_rows)
    }
}
