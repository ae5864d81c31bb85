//! Restricts a plan to the rows that a policy allows.
//!
//! **Invariant:** every [`Scan`] of the plan is asked about, once; scans inside the conditions of the policy itself are
//! not, as a condition sees the tables whole.
//!
//! **Cost:** one walk over the plan; run once per plan and shape of variables.

use crate::catalog::TableId;
use crate::plan::{Filter, Plan, Purpose};

/// The rows that may be seen or changed.
pub trait Policy {
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

/// Restricts every scan of `plan`.
pub fn restrict(plan: &mut Plan, policy: &dyn Policy) {
    plan.scans(&mut |scan| {
        if let Some(filter) = policy.rows(scan.table(), scan.purpose()) {
            scan.restrict(filter);
        }
    });
}
