//! Values that differ from request to request: where each is found, and how it is read.

use super::comparison_table::Takes;
use super::operators::Comparison;
use crate::catalog::ColumnType;
use crate::values::plain_pattern::{Half, Notation};
use crate::values::text_search::Words;
use crate::values::trigram::Written;
use std::sync::Arc;

/// A value that differs from request to request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Origin of the value.
    pub origin: Origin,
    /// Reader of the value.
    pub reader: Reader,
    /// The argument's path in Hasura's words, for errors; empty for a value that is not the client's.
    pub path: Box<str>,
}

impl Parameter {
    /// The caller's session variable `name`, in lower case.
    pub fn claim(name: impl Into<Box<str>>, reader: Reader) -> Self {
        Self { origin: Origin::Claim(name.into()), reader, path: "".into() }
    }

    /// A value of a policy or of the API that is the same for all requests, as text: a list is the text of an array, as in PostgreSQL.
    pub fn constant(text: impl Into<Box<str>>, reader: Reader) -> Self {
        Self { origin: Origin::Constant(text.into()), reader, path: "".into() }
    }
}

/// Origin of a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A node of the output plan's literals.
    Literal(u32),
    /// The whole of a variable.
    Variable(u32),
    /// A leaf of a structural variable.
    Inside {
        /// Index of the structural variable in the plan node.
        slot: u32,
        /// Index of the leaf, in the order of the tape.
        leaf: u32,
    },
    /// A column of the parent's keys, from another source.
    Parent(u32),
    /// The numbers of the objects that a program shows, in a list.
    Shown,
    /// The number of the object that one of [`super::Plan::lookups`] found, or 0.
    LookedUp(u32),
    /// An output column of the row of the level above.
    ParentColumn(u16),
    /// An output column of the one row that was read before the statement ([`super::Plan::first`]).
    Before(u16),
    /// Value `i` of those that a mutation's program gives along with the statement.
    Bound(u16),
    /// A session variable of the caller, by its name in lower case: a text, which the reader converts as a cast of SQL does.
    Claim(Box<str>),
    /// All session variables of the caller, as the text of a JSON object.
    Session,
    /// This text of a policy or of the API, converted as that of a session variable.
    Constant(Box<str>),
    /// A part of a text that an earlier answer held: of a cursor, or of the identifier of a row.
    Encoded(Box<Encoded>),
    /// A part of the position of a stream.
    Position(Box<Position>),
}

impl Origin {
    /// True if the value is one of a row above, which differs from row to row.
    pub const fn is_of_row(&self) -> bool {
        matches!(self, Self::Parent(_) | Self::ParentColumn(_) | Self::Before(_))
    }
}

/// A value of the row that a stream has reached. The position is a cursor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The paths of all its values.
    pub paths: Arc<[CursorPath]>,
    /// The place of this one among them.
    pub at: u16,
    /// Origin of the value before the first batch; `None`: it is null.
    pub first: Option<Origin>,
}

/// A value inside a text that is JSON in base64.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Encoded {
    pub text: Origin,
    /// The place of the value in it.
    pub part: EncodedPart,
}

/// The keys that lead from the object of a cursor down to one value.
pub type CursorPath = Box<[Box<str>]>;

/// The place of a value in an encoded text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EncodedPart {
    /// In a cursor, an object with exactly the values at `paths`.
    Cursor {
        /// The paths of all its values.
        paths: Arc<[CursorPath]>,
        /// The place of this one among them.
        at: u16,
        /// True if the value may be null.
        nullable: bool,
    },
    /// In the identifier of a row, a list.
    Identifier {
        /// The place among the values of the key.
        at: u16,
        /// The name of the column, for messages.
        column: Box<str>,
    },
}

/// Conversion of a node to a value of the database.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    /// A value that is compared with a column of this type.
    Column(ColumnType),
    /// A list of such, bound as one value.
    Each(ColumnType),
    /// A list made of values that stand apart, bound as one value: of equalities, lists of numbers among them.
    Gathered {
        /// Type of its items.
        ty: ColumnType,
        /// The values, each with a reader of its own.
        values: Box<[Parameter]>,
    },
    /// A non-negative 32-bit integer; null is no limit.
    Limit,
    /// A positive 32-bit integer: rows of a batch.
    BatchSize,
    /// A 64-bit integer; null is none.
    Offset,
    /// Number of rows, from either end; null is no limit.
    First,
    /// After how many rows; fewer than none are none.
    Skip,
    /// The number of an object, as hexadecimal digits after `0x`, or decimal ones.
    Id,
    /// A list of object numbers; other values are left out.
    Ids,
    /// The words of a text, as a question to an index of words.
    Words {
        /// All have to be there, or one.
        all: bool,
        /// Rules for the words.
        kind: Words,
    },
    /// `/pattern/flags` as a regular expression.
    Pattern,
    /// A pattern, list or document that is asked in two halves ([`crate::values::plain_pattern::half`]).
    Half {
        /// Reader of the whole pattern.
        reader: Box<Reader>,
        /// First or second half.
        half: Half,
        /// Notation of the pattern.
        notation: Notation,
    },
    /// Words of a text, each as a separate query of an index of words.
    EachWord(Words),
    /// Consecutive words, compared by their stems.
    Sequence,
    /// Necessary parts of a text for a pattern or a sequence: for SQLite a query to an index of trigrams, for PostgreSQL a
    /// regular expression for a sequence.
    Grams(Written),
    /// A place, as a text of its coordinates.
    Place {
        /// Origin of the distance, in metres.
        metres: Option<Origin>,
    },
    /// A point in time, as microseconds since 1970.
    Instant,
    /// A list of such.
    Instants,
    /// A path into a JSON document.
    JsonPath,
    /// The value in the parent's row, unchanged.
    AsIs,
    /// A number of rows as `reader` says, [`Reader::Limit`], [`Reader::BatchSize`] or [`Reader::First`], but never more than `rows_max`.
    Capped {
        /// The reader of the client's limit.
        reader: Box<Reader>,
        /// The policy's limit.
        rows_max: u32,
    },
}

impl Reader {
    /// The reader of the right side when a column of type `ty` is compared by `by`.
    pub fn for_comparison(by: Comparison, ty: &ColumnType) -> Self {
        match by.takes() {
            Takes::Own | Takes::Boolean => Self::Column(ty.clone()),
            Takes::Owns => Self::Each(ty.clone()),
            Takes::Pattern | Takes::Text => Self::Column(ColumnType::Text),
            Takes::Texts => Self::Each(ColumnType::Text),
            Takes::Question(name) => Self::Column(ColumnType::Other(name.into())),
            Takes::Questions(name) => Self::Each(ColumnType::Other(name.into())),
        }
    }
}
