//! Judgement of one row: may a caller see it, and which conditions of the policy decide.
//!
//! **Invariant:** for operators. A judgement tells of rows that the caller may not see, so no answer to a caller holds one.

use super::{Caller, FieldError, Headers, SourceError};
use crate::caller::Identity;
use std::time::Instant;

/// A question about one row.
#[derive(Clone, Copy)]
pub struct RowQuestion<'r> {
    /// The table, as `schema.name` or `name`.
    pub table: &'r str,
    /// Columns of a key with the texts of their values.
    pub key: &'r [(String, String)],
    /// A condition on rows to be judged in place of the one that is served, as the JSON of a permission's filter.
    pub filter: Option<&'r str>,
    /// The one who wants to see the row.
    pub identity: &'r Identity,
    /// The caller of that identity.
    pub caller: &'r Caller,
    /// Headers of the operator's request.
    pub headers: &'r dyn Headers,
    /// Deadline of the answer.
    pub deadline: Instant,
}

/// Why a row is not judged.
#[derive(Debug)]
pub enum NoJudgement {
    /// The question names what is not there, or the source does not choose rows itself.
    Question(Box<str>),
    /// The source failed.
    Source(SourceError),
}

impl From<FieldError> for NoJudgement {
    fn from(error: FieldError) -> Self {
        Self::Source(SourceError::Rejected { error, field: None })
    }
}

/// Truth of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It is null, because a value is.
    Unknown,
    /// It was not asked: a session variable is missing, or there are too many conditions.
    Unasked,
}

impl Truth {
    /// Name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Unknown => "unknown",
            Self::Unasked => "unasked",
        }
    }
}

/// The judgement of a row.
#[derive(Clone, Debug)]
pub struct RowJudgement {
    /// True if there is a row with the key.
    pub exists: bool,
    /// True if the caller sees it.
    pub is_visible: bool,
    /// True if the caller has a right to read the table at all.
    pub is_granted: bool,
    /// Session variables that reading the table needs and the caller does not have: it is refused.
    pub missing: Vec<Box<str>>,
    /// The condition on rows.
    pub condition: JudgedCondition,
    /// True if the condition has more parts than are shown.
    pub is_cut: bool,
    /// Columns, in the order of the table.
    pub columns: Vec<JudgedColumn>,
    /// Rows that a list shows at most.
    pub limit: Option<u32>,
}

/// A condition with its truth for the row.
#[derive(Clone, Debug)]
pub struct JudgedCondition {
    /// `all`, `any`, `not`, `exists` or `test`.
    pub kind: &'static str,
    /// Text form.
    pub text: String,
    /// The role whose permission it is, if it is one of several.
    pub role: Option<Box<str>>,
    /// Truth of the condition for the row.
    pub truth: Truth,
    /// Session variables that it needs and the caller does not have.
    pub missing: Vec<Box<str>>,
    /// Parts. Below `exists`, each tells whether some other row fulfils it.
    pub parts: Vec<JudgedCondition>,
}

/// A column of the table, and whether the caller sees its value in this row.
#[derive(Clone, Debug)]
pub struct JudgedColumn {
    /// Name.
    pub name: String,
    /// True if the caller may name it.
    pub is_granted: bool,
    /// The condition under which its value is shown, if that depends on the row.
    pub shown_if: Option<JudgedCondition>,
}
