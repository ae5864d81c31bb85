//! Access to the rows of a table.
//!
//! A plan reads or changes rows through a [`Scan`] and in no other way, so that a policy on rows is one pass over the
//! scans of a finished plan ([`crate::passes::policy`]).
//!
//! **Invariant:** fields are private and [`Scan::of`] is the only constructor; only the pass restricts a scan, and the
//! renderer writes the restriction wherever it writes the scan.

use super::Filter;
use crate::catalog::{ColumnId, FunctionId, TableId};

/// The rows of one table that a part of a plan may see or change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    table: TableId,
    purpose: Purpose,
    restriction: Option<Box<Restriction>>,
}

/// The policy's conditions on the rows of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Restriction {
    rows: Option<Filter>,
    cells: Vec<GuardedColumn>,
    calls: Vec<GuardedCall>,
    check: Option<Filter>,
    is_walled: bool,
}

/// A column and the condition under which clients see it; where that is not true, the column is null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedColumn {
    pub column: ColumnId,
    /// Condition on the row.
    pub shown_if: Filter,
}

/// A function of the row, and the condition under which clients see its result; otherwise it is null and is not called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedCall {
    pub function: FunctionId,
    /// Condition on the row.
    pub shown_if: Filter,
}

/// The reason for which rows are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The rows of a root field.
    Root,
    /// The row of a root field that a password opened.
    Opened,
    /// The rows of a field below another row.
    Related,
    /// A condition: is there a related row.
    Exists,
    /// A value of related rows: in an order, or compared in a condition.
    Value,
    /// Aggregates and groups over the rows.
    Aggregate,
    /// Rows that are updated, among them those an upsert finds.
    Update,
    /// Rows that are deleted.
    Delete,
    /// Rows that are inserted.
    Insert,
    /// Rows whose reference to a deleted row is cleared, as by `ON DELETE SET NULL`.
    Reference,
    /// Rows that a mutation looks up by number or key before it changes anything.
    Lookup,
}

impl Purpose {
    /// All purposes.
    pub(crate) const ALL: [Self; 11] = [
        Self::Root,
        Self::Opened,
        Self::Related,
        Self::Exists,
        Self::Value,
        Self::Aggregate,
        Self::Update,
        Self::Delete,
        Self::Insert,
        Self::Reference,
        Self::Lookup,
    ];

    /// The name in the text form of a plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Opened => "opened",
            Self::Related => "related",
            Self::Exists => "exists",
            Self::Value => "value",
            Self::Aggregate => "aggregate",
            Self::Update | Self::Delete => "target",
            Self::Insert => "insert",
            Self::Reference => "reference",
            Self::Lookup => "lookup",
        }
    }
}

impl Scan {
    /// All rows of `table`.
    pub const fn of(table: TableId, purpose: Purpose) -> Self {
        Self { table, purpose, restriction: None }
    }

    pub const fn table(&self) -> TableId {
        self.table
    }

    /// The reason for which its rows are accessed.
    pub const fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// The condition that the policy puts on its rows; `None`: all rows.
    pub fn policy(&self) -> Option<&Filter> {
        self.restriction.as_ref()?.rows.as_ref()
    }

    /// The columns that clients see only in some of the rows.
    pub fn cells(&self) -> &[GuardedColumn] {
        self.restriction.as_ref().map_or(&[], |it| &it.cells)
    }

    /// The functions whose values clients see only in some of the rows.
    pub fn calls(&self) -> &[GuardedCall] {
        self.restriction.as_ref().map_or(&[], |it| &it.calls)
    }

    /// The conditions under which clients see such columns and values.
    pub fn shown_ifs(&self) -> impl Iterator<Item = &Filter> {
        let calls = self.calls().iter().map(|it| &it.shown_if);
        self.cells().iter().map(|it| &it.shown_if).chain(calls)
    }

    /// The condition on rows after they are inserted or updated: unless it is true, the mutation fails.
    pub fn check(&self) -> Option<&Filter> {
        self.restriction.as_ref()?.check.as_ref()
    }

    /// True if the policy hides rows or columns.
    pub fn is_restricted(&self) -> bool {
        self.policy().is_some() || !self.cells().is_empty() || !self.calls().is_empty()
    }

    /// Shows a column only where `cell` says so.
    pub(crate) fn guard(&mut self, cell: GuardedColumn) {
        self.restriction.get_or_insert_default().cells.push(cell);
    }

    /// Hides the result of a function, unless the condition in `call` is true.
    pub(crate) fn guard_call(&mut self, call: GuardedCall) {
        self.restriction.get_or_insert_default().calls.push(call);
    }

    /// True if values of its rows are read that may fail by the row: they are computed of rows alone that the policy shows.
    pub fn is_walled(&self) -> bool {
        self.restriction.as_ref().is_some_and(|it| it.is_walled && it.rows.is_some())
    }

    /// Puts computed values of the rows behind the policy, if there is one.
    pub(crate) fn wall(&mut self) {
        if let Some(restriction) = &mut self.restriction {
            restriction.is_walled = true;
        }
    }

    /// Lets a change fail unless `filter` is true of the row as it is stored.
    pub(crate) fn demand(&mut self, filter: Filter) {
        self.restriction.get_or_insert_default().check = Some(filter);
    }

    /// Drops the check set by [`Self::demand`]: it is judged elsewhere.
    pub(crate) fn release(&mut self) {
        if let Some(restriction) = &mut self.restriction {
            restriction.check = None;
        }
    }

    /// The restrictions of the policy, to add conditions that follow from others: the set of rows must stay the same.
    pub(crate) fn conditions(&mut self) -> impl Iterator<Item = &mut Filter> {
        let restriction = self.restriction.iter_mut();
        restriction.flat_map(|it| {
            let cells = it.cells.iter_mut().map(|it| &mut it.shown_if);
            let calls = it.calls.iter_mut().map(|it| &mut it.shown_if);
            it.rows.iter_mut().chain(it.check.iter_mut()).chain(cells).chain(calls)
        })
    }

    /// Leaves only the rows that also fulfil `filter`.
    pub(crate) fn restrict(&mut self, filter: Filter) {
        let restriction = self.restriction.get_or_insert_default();
        restriction.rows = Some(match restriction.rows.take() {
            None => filter,
            Some(before) => Filter::All(vec![before, filter]),
        });
    }
}
