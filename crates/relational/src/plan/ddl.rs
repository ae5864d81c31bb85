//! Definitions of indexes, and the source of numbers of a store.

/// Kinds of indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// Equal values and ranges.
    Tree,
    /// Equal texts of any length, by how they begin: PostgreSQL's trees take short ones only.
    Prefix,
    /// As a tree; values are unique.
    Unique,
    /// Words as they are, but for case: `term`.
    Terms,
    /// Words by their stems: `fulltext`.
    Fulltext,
    /// Any three letters in a row: `trigram`, `regexp`, `ngram`.
    Trigrams,
    /// Boxes that overlap: geo.
    Boxes,
}

/// The source of new numbers: a sequence, or in databases without sequences a column of a table with one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The sequence.
    pub sequence: &'static str,
    /// The table.
    pub table: &'static str,
    /// Its column with the next number.
    pub column: &'static str,
}
