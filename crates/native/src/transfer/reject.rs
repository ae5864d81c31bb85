//! Lines that are not taken, and why.

/// Kinds of rejected lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectKind {
    Object,
    /// An edge of an object that was accepted.
    Edge,
    /// A line of a file of pairs.
    Pair,
    /// A statement that cannot be read, or that does not fit its object.
    Statement,
}

/// Why a line is not in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    pub file: String,
    pub line: u64,
    /// Kind of the rejected item.
    pub part: RejectKind,
    pub why: String,
}

/// A line and why it is not taken.
pub(crate) type Rejected = (u64, String);
