//! The words of mutations: Insert, Update, Delete over one table, and the order in which a field runs them.
//!
//! A nested insert is flat: a list of [`Step`]s, parents before children, in which a value is bound from the request or
//! taken from what an earlier step returned. So running it needs no recursion, and every parent is matched with its own
//! children whatever the database returns in which order.
//!
//! **Invariant:** a step takes values only from earlier steps of its work.

use super::{Expr, Filter, Parameter, Query, Run, Scan};
use crate::catalog::{Arbiter, ColumnId, ConflictTarget, TableId};

/// A root field of a mutation, and its answer.
#[derive(Clone, Debug)]
pub struct Write {
    /// Steps, in order: several only in an update_many.
    pub works: Vec<Work>,
    /// Answer of the field.
    pub answer: WriteAnswer,
    /// Message if a change finds no row; `None`: the answer is null then.
    pub missing: Option<Box<str>>,
    /// Index of the field in the output plan.
    pub field: u32,
    /// Response key, for messages and the text form.
    pub path: String,
}

/// The answer of a root field of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAnswer {
    /// The first row, or null.
    Row(Run),
    Rows(Run),
    /// An object of affected rows and rows.
    Response(Run),
    /// One object like [`Self::Response`] per work.
    Responses(Run),
}

/// A unit of work of a root field.
#[derive(Clone, Debug)]
pub enum Work {
    /// Nothing to do: no row is affected.
    Nothing,
    /// A change of all rows that fit.
    Change(u32),
    /// Rows, with those nested in them.
    Insert(Vec<Step>),
    /// An insert repeated for each row of a variable: the steps are written for the first row.
    Each {
        /// Index of the structural variable in the plan node.
        slot: u32,
        /// The first row, with those nested in it.
        steps: Vec<Step>,
    },
    /// A program (`super::program`).
    Program {
        /// Level whose first output column has the numbers of the objects that the field's filter finds.
        find: Option<u32>,
        /// Conditions that the program may ask of objects that it names.
        checks: Vec<ObjectCheck>,
    },
}

/// A condition that a program asks of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectCheck {
    /// The program's number for it.
    pub number: u32,
    /// Level whose first output column has the numbers of those objects in [`super::Origin::Shown`] that fulfil the condition.
    pub level: u32,
}

/// A check of the policy on the rows that a change wrote, judged after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCheck {
    /// The place of the change in the plan's changes.
    pub change: u32,
    /// Level below the written rows: its rows break the check.
    pub level: u32,
}

/// A row to insert.
#[derive(Clone, Debug)]
pub struct Step {
    /// The place of its [`Insert`] in the plan's changes.
    pub change: u32,
    /// Parallel to the columns of the insert.
    pub values: Vec<Given>,
    /// True for a row of the field itself, false for a nested one.
    pub shown: bool,
    /// Message if no row is returned though others need its key.
    pub needed: Option<Box<str>>,
    /// The place of its row's list in the arguments, in Hasura's words, for errors of the row.
    pub path: Box<str>,
}

impl Step {
    /// True if others of `steps` take values of the row of step `at`.
    pub fn is_needed(steps: &[Self], at: usize) -> bool {
        let takes = |it: &Given| matches!(it, Given::Returned { step, .. } if *step as usize == at);
        steps.iter().any(|step| step.values.iter().any(takes))
    }
}

/// Source of an inserted column's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// `null`.
    Null,
    /// The request.
    Parameter(Parameter),
    /// A value that an earlier step returned.
    Returned {
        /// Number of the step, from the first of its work.
        step: u32,
        /// The place in its returned columns.
        column: u16,
    },
}

/// A statement that changes rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Inserts one row.
    Insert(Insert),
    /// Updates rows.
    Update(Update),
    /// Deletes rows.
    Delete(Delete),
    /// A call of a function that may change data, with the rows it returns.
    Call(Box<Query>),
}

impl Change {
    /// The table that is changed.
    pub const fn table(&self) -> TableId {
        match self {
            Self::Insert(insert) => insert.scan.table(),
            Self::Update(update) => update.scan.table(),
            Self::Delete(delete) => delete.scan.table(),
            Self::Call(query) => query.table(),
        }
    }

    /// Expressions returned for each changed row.
    pub fn returning(&self) -> &[Expr] {
        match self {
            Self::Insert(insert) => &insert.returning,
            Self::Update(update) => &update.returning,
            Self::Delete(delete) => &delete.returning,
            Self::Call(query) => query.columns(),
        }
    }
}

/// Inserts one row; its values are bound first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insert {
    /// The rows.
    pub scan: Scan,
    /// The columns that are given; others take their defaults.
    pub columns: Vec<ColumnId>,
    /// Action if a key exists already.
    pub conflict: Option<Conflict>,
    /// Expressions returned for each inserted row.
    pub returning: Vec<Expr>,
}

/// Action if a key exists already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The key; `None`: any key of the table.
    pub arbiter: Option<Arbiter>,
    /// Columns that take the new values; none: the row stays as it is.
    pub update: Vec<ColumnId>,
    /// Values that the policy sets where the row is updated.
    pub presets: Vec<(ColumnId, Assign)>,
    /// The rows that are updated.
    pub scan: Scan,
    /// Only rows that fit are updated.
    pub filter: Filter,
}

impl Conflict {
    /// Columns in which the new row and the conflicting one are equal; empty for an index over expressions.
    pub fn shared_columns(&self) -> &[ColumnId] {
        match &self.arbiter {
            Some(Arbiter {
                columns, target: ConflictTarget::Constraint | ConflictTarget::Columns, ..
            }) => columns,
            Some(Arbiter { target: ConflictTarget::Index(_), .. }) | None => &[],
        }
    }

    /// True if a row that exists already is updated.
    pub fn updates(&self) -> bool {
        !self.update.is_empty() || self.presets.iter().any(|it| it.1 == Assign::Kept)
    }
}

/// Updates rows.
///
/// A front end may leave `set` empty: the policy adds its values, or [`crate::passes::finish`] makes nothing of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The rows.
    pub scan: Scan,
    /// Changed columns with their new values.
    pub set: Vec<(ColumnId, Assign)>,
    /// Condition on the rows.
    pub filter: Filter,
    /// Expressions returned for each updated row.
    pub returning: Vec<Expr>,
}

/// A column's new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assign {
    /// `null`.
    Null,
    /// The old one.
    Kept,
    Value(Parameter),
    /// The old one and this value, by that operator.
    Operator(Operator, Parameter),
}

/// Operators of updates over the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `_inc`.
    Increment,
    /// `_append`.
    Append,
    /// `_prepend`.
    Prepend,
    /// `_delete_key`.
    DeleteKey,
    /// `_delete_elem`.
    DeleteElem,
    /// `_delete_at_path`.
    DeleteAtPath,
}

/// Deletes rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// The rows.
    pub scan: Scan,
    /// Condition on the rows.
    pub filter: Filter,
    /// Expressions returned for each deleted row.
    pub returning: Vec<Expr>,
}

/// A change that a database of shards refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Index of the root field in the output plan.
    pub field: u32,
    /// The changed table.
    pub table: TableId,
    /// Distribution column of the table.
    pub column: ColumnId,
    pub reason: Refusal,
}

/// Reasons for which a database of shards refuses a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The distribution column is set, and nothing says that the value is the row's own.
    Moves,
    /// The condition of an upsert reads other rows.
    UpsertReads,
}

/// Two values of a request that have to be equal, as a row cannot leave its shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmoved {
    /// The refusal if they differ.
    pub refusal: Unsupported,
    /// The value by which the rows are found.
    pub found_by: Parameter,
    /// The value that the distribution column is set to.
    pub set_to: Parameter,
}
