//! Restricts a plan to the rows that a policy allows.
//!
//! **Invariant:** every [`Scan`] of the plan is asked about, once; scans inside the conditions of the policy itself are
//! not, as a condition sees the tables whole.
//!
//! **Cost:** one walk over the plan; run once per plan and shape of variables.

use crate::catalog::TableId;
use crate::plan::write::Change;
use crate::plan::{Filter, Plan, Purpose, Query, Scan};
use std::fmt::Debug;

/// The rows that may be seen or changed.
pub trait Policy: Debug + Send + Sync {
    /// The condition on rows of `table` that are accessed for `purpose`; `None`: all rows.
    fn rows(&self, table: TableId, purpose: Purpose) -> Option<Filter>;
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
}

/// Restricts every scan of `plan`.
pub fn restrict(plan: &mut Plan, policy: &dyn Policy) {
    plan.scans(&mut |scan| restrict_scan(scan, policy));
}

/// Restricts every scan of a query that is no level of a plan.
pub fn restrict_query(query: &mut Query, policy: &dyn Policy) {
    query.scans(&mut |scan| restrict_scan(scan, policy));
}

/// Restricts every scan of a change that is no part of a plan.
pub fn restrict_change(change: &mut Change, policy: &dyn Policy) {
    change.scans(&mut |scan| restrict_scan(scan, policy));
}

fn restrict_scan(scan: &mut Scan, policy: &dyn Policy) {
    if let Some(filter) = policy.rows(scan.table(), scan.purpose()) {
        scan.restrict(filter);
    }
}
