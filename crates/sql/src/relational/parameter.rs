//! Values that differ from request to request: where each is found, and how it is read.

use super::Words;
use crate::catalog::ColumnType;
use crate::grams::Written;

/// A value that differs from request to request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Where it is.
    pub origin: Origin,
    /// How it is read.
    pub reader: Reader,
    /// The argument's path in Hasura's words, for errors.
    pub path: Box<str>,
}

/// Where a parameter's value is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A node of the shape's literals.
    Literal(u32),
    /// The whole of a variable.
    Variable(u32),
    /// A leaf of a structural variable.
    Inside {
        /// Which of the piece's structural variables.
        slot: u32,
        /// Its leaf, counted in the order of the tape.
        leaf: u32,
    },
    /// A column of the parent's keys, from another source.
    Parent(u32),
    /// The numbers of the objects that a program shows, in a list.
    Shown,
    /// The number of the object that the password of one of [`super::Plan::checks`] opened, or 0.
    Checked(u32),
    /// An output column of the row of the level above.
    ParentColumn(u16),
}

/// How a node becomes a value of the database.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    /// For comparison with a column of this type.
    Column(ColumnType),
    /// A list of such, bound as one value.
    Each(ColumnType),
    /// A list made of values that stand apart, bound as one value: of equalities, lists of numbers among them.
    Gathered {
        /// What its items are.
        ty: ColumnType,
        /// The values, each with a reader of its own.
        values: Box<[Parameter]>,
    },
    /// A non-negative 32-bit integer; null is no limit.
    Limit,
    /// A 64-bit integer; null is none.
    Offset,
    /// How many rows, from either end; none is no limit.
    First,
    /// After how many rows; fewer than none are none.
    Skip,
    /// The number of an object, as hexadecimal digits after `0x`, or decimal ones.
    Id,
    /// A list of such; what is no number is left out.
    Ids,
    /// The words of a text, as a question to an index of words.
    Words {
        /// All have to be there, or one.
        all: bool,
        /// How they are told.
        kind: Words,
    },
    /// `/pattern/flags` as a regular expression.
    Pattern,
    /// The words of a text, each as a question of its own to an index of words.
    EachWord(Words),
    /// Words that follow each other, told by their stems.
    Sequence,
    /// What a pattern or a sequence needs of a text: for SQLite a question to an index of trigrams, for PostgreSQL of a sequence a
    /// regular expression.
    Grams(Written),
    /// A place, as a text of its coordinates.
    Place {
        /// Where the distance to it is found, in metres.
        metres: Option<Origin>,
    },
    /// A point in time, as microseconds since 1970.
    Instant,
    /// A list of such.
    Instants,
    /// A path into a JSON document.
    JsonPath,
    /// Stays what the parent's row holds.
    AsIs,
}
