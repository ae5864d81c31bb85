//! Access to the rows of a table.
//!
//! A plan reads or changes rows through a [`Scan`] and in no other way, so that a policy on rows is one pass over the
//! scans of a finished plan ([`crate::passes::policy`]).
//!
//! **Invariant:** fields are private and [`Scan::of`] is the only constructor; only the pass restricts a scan, and the
//! renderer writes the restriction wherever it writes the scan.

use super::Filter;
use crate::catalog::TableId;

/// The rows of one table that a part of a plan may see or change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    table: TableId,
    purpose: Purpose,
    policy: Option<Box<Filter>>,
}

/// The reason for which rows are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The rows of a root field.
    Root,
    /// The rows of a field below another row.
    Related,
    /// A condition: is there a related row.
    Exists,
    /// A value of related rows: in an order, or compared in a condition.
    Value,
    /// Aggregates and groups over the rows.
    Aggregate,
    /// Rows that are updated or deleted, among them those an upsert finds.
    Target,
    /// Rows that are inserted.
    Insert,
    /// Rows whose reference to a deleted row is cleared, as by `ON DELETE SET NULL`.
    Reference,
    /// Rows that a mutation looks up by number or key before it changes anything.
    Lookup,
}

impl Purpose {
    /// The name in the text form of a plan.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Related => "related",
            Self::Exists => "exists",
            Self::Value => "value",
            Self::Aggregate => "aggregate",
            Self::Target => "target",
            Self::Insert => "insert",
            Self::Reference => "reference",
            Self::Lookup => "lookup",
        }
    }
}

impl Scan {
    /// All rows of `table`.
    #[must_use]
    pub const fn of(table: TableId, purpose: Purpose) -> Self {
        Self { table, purpose, policy: None }
    }

    /// The table.
    #[must_use]
    pub const fn table(&self) -> TableId {
        self.table
    }

    /// The reason for which its rows are accessed.
    #[must_use]
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// The condition that the policy puts on its rows; `None`: all rows.
    #[must_use]
    pub fn policy(&self) -> Option<&Filter> {
        self.policy.as_deref()
    }

    /// Leaves only the rows that also fulfil `filter`.
    pub(crate) fn restrict(&mut self, filter: Filter) {
        let all = self.policy.take().map(|it| *it).into_iter().chain([filter]).collect::<Vec<_>>();
        self.policy = Some(Box::new(match <[Filter; 1]>::try_from(all) {
            Ok([only]) => only,
            Err(all) => Filter::All(all),
        }));
    }
}
