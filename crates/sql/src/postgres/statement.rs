//! Statements and the values that are bound to them.

/// How a value of a result column travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum Format {
    /// PostgreSQL's own text.
    Text = 0,
    /// The type's binary form.
    Binary = 1,
}
