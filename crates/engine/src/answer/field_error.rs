//! Errors of sources: of a field, with its path, of a member that cannot be planned, of a whole fetch.
//!
//! **Invariant:** what a client sees of them has no SQL, no host and no hidden name.

use std::fmt;

/// Error of a field, as the client sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Stable code of `extensions.code`.
    pub code: &'static str,
    /// Message without SQL, hosts or hidden names.
    pub message: Box<str>,
    /// Hasura's `extensions.path` for this error, if it is not derived from the field.
    pub hasura_path: Option<Box<str>>,
    /// Further `extensions`.
    pub extensions: Option<Box<Extensions>>,
}

/// Members of `extensions` that a source is configured to pass on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extensions {
    /// JSON, without the braces around it: at least one member.
    pub members: Box<str>,
    /// True if `extensions` has a `code`, which overrules [`FieldError::code`].
    pub has_code: bool,
    /// True if `members` is the value of `extensions` itself, whatever JSON it is: nothing is added to it.
    pub is_whole: bool,
}

/// A failed field and where it is in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// The error.
    pub error: FieldError,
    /// Path from the root of the node's set.
    pub path: Vec<Step>,
    /// Place of the failed member in [`OutputPlan::fields`](super::output_plan::OutputPlan::fields), for its location.
    pub field: u32,
    /// True if the error is of a mutation and nothing of its root field was committed.
    pub is_undone: bool,
}

/// One step of a response path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A member, by its index in [`OutputPlan::fields`](super::output_plan::OutputPlan::fields); the path shows its key.
    Field(u32),
    /// An item of a list.
    Index(u32),
}

/// Error of the client that prevents the planning of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// Error for the client.
    pub error: FieldError,
    /// Index of the affected member, for location and path.
    pub field: u32,
}

/// Why a source could not answer a fetch at all.
#[derive(Debug)]
pub enum SourceError {
    /// The client asked for something the data forbids (unique key, check, foreign key), or sent a value that does not
    /// fit. In a mutation everything is rolled back.
    Rejected {
        /// Code and words.
        error: FieldError,
        /// Place of the member that failed, if one did.
        field: Option<u32>,
    },
    /// Values that a mutation would have returned cannot be given, so everything is rolled back. At least one error, each with its path.
    Undone(Vec<PathError>),
    /// A server refused with these errors, which the client gets as the server said them: at least one. Paths that it did not say are
    /// empty.
    Passed(Vec<PathError>),
    /// The source did not answer before the deadline.
    Timeout,
    /// The source is there but has no capacity left: queue or pool full.
    Busy,
    /// The source cannot be reached or failed while answering. Trying again may help.
    Unavailable(Box<dyn std::error::Error + Send + Sync>),
    /// The source broke its own contract. A bug: ours or theirs.
    Broken(Box<str>),
}

impl SourceError {
    /// The stable code in `extensions.code` under [`Protocol::GraphqlOverHttp`](crate::request::protocol::Protocol::GraphqlOverHttp).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rejected { error, .. } => error.code,
            Self::Undone(errors) | Self::Passed(errors) => {
                errors.first().map_or("INTERNAL", |it| it.error.code)
            }
            Self::Timeout => "SOURCE_TIMEOUT",
            Self::Busy => "POOL_TIMEOUT",
            Self::Unavailable(_) => "SOURCE_UNAVAILABLE",
            Self::Broken(_) => "INTERNAL",
        }
    }

    /// Client error for a source that returned nothing.
    pub fn for_client(&self) -> FieldError {
        let message = match self {
            Self::Rejected { error, .. } => return error.clone(),
            Self::Undone(errors) | Self::Passed(errors) => match errors.first() {
                Some(first) => return first.error.clone(),
                None => "Internal error.",
            },
            Self::Timeout => "The source did not answer in time.",
            Self::Busy => "The source has no capacity left.",
            Self::Unavailable(_) => "The source is unavailable.",
            Self::Broken(_) => "Internal error.",
        };
        FieldError { code: self.code(), message: message.into(), hasura_path: None, extensions: None }
    }

    /// Logs the details that clients do not see.
    pub fn tell_operator(&self) {
        match self {
            Self::Rejected { .. } | Self::Undone(_) | Self::Passed(_) => {}
            Self::Timeout | Self::Busy => tracing::warn!(error = %self, "a source did not answer"),
            Self::Unavailable(_) | Self::Broken(_) => tracing::error!(error = %self, "a source failed"),
        }
    }
}

impl fmt::Display for SourceError {
    /// Formats the error for logs only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected { error, .. } => f.write_str(&error.message),
            Self::Undone(errors) => match errors.first() {
                Some(first) => f.write_str(&first.error.message),
                None => f.write_str("a mutation was undone"),
            },
            Self::Passed(errors) => match errors.first() {
                Some(first) => f.write_str(&first.error.message),
                None => f.write_str("a server refused"),
            },
            Self::Timeout => f.write_str("the source did not answer before the deadline"),
            Self::Busy => f.write_str("the source has no capacity left"),
            Self::Unavailable(cause) => write!(f, "the source is unavailable: {cause}"),
            Self::Broken(what) => write!(f, "the source broke its contract: {what}"),
        }
    }
}

impl std::error::Error for SourceError {}
