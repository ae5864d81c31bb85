//! Properties of a column type: its scalar, input and output formats, operators and aggregates.
//!
//! One row per type, so that a new type is one line here. Every other room asks this table and names no type itself,
//! but where a database writes one type in a way of its own.
//!
//! **Cost:** a jump; looked up while planning and binding, never per row.

use super::ColumnType;

/// Properties of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The scalar's name in an API; `None`: the database's own name, where it can be one.
    pub scalar: Option<&'static str>,
    /// Form of a client's value; `None`: that of the built-in scalar of the same name.
    pub input: Option<InputForm>,
    /// Output format of a value.
    pub cell: Cell,
    /// The width of an integer.
    pub bits: Option<u8>,
    /// Comparisons of its values.
    pub operators: &'static [Operators],
    /// Aggregates of its values.
    pub aggregates: Aggregates,
    /// Why comparing two of its values can fail.
    pub failing: Failing,
}

/// Forms of a client's value. A front end chooses a reader of its own language for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputForm {
    /// An integer of 64 bits, as a number or as a text of digits.
    BigInt,
    /// A decimal number whose digits are kept, as a number or as a text.
    Decimal,
    /// Text of a format that the database checks.
    Text,
    /// Any JSON value.
    Json,
}

/// How an operation on the values of a row can end in an error, or take so long that it ends in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// The operation cannot fail.
    Never,
    /// The operation fails by its argument alone, on all rows alike. The argument is judged before a row is read.
    ByArgument,
    /// Fails by its argument, a pattern or a list. One with look-around or back references, or a long one, may also fail by the row.
    ByPattern,
    /// The operation may fail by the row: only rows that the policy shows are tested.
    ByRow,
}

impl Failing {
    /// How two operations in a row can fail.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::ByRow, _) | (_, Self::ByRow) => Self::ByRow,
            (Self::ByPattern, _) | (_, Self::ByPattern) => Self::ByPattern,
            (Self::ByArgument, _) | (_, Self::ByArgument) => Self::ByArgument,
            (Self::Never, Self::Never) => Self::Never,
        }
    }
}

/// Output formats of the database's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `Int`: 32 bits.
    Int,
    /// 64 bits.
    BigInt,
    /// Floating point.
    Float,
    /// Decimal digits.
    Numeric,
    /// `true`, `false`.
    Boolean,
    /// The number of an object, as a text of hexadecimal digits.
    Id,
    /// Text and everything that comes as text.
    Text,
    /// A UUID, as text.
    Uuid,
    /// Text whose letters become capitals: a value of an enum table by the convention `graphql-default`.
    Capitals,
    /// JSON, copied.
    Json,
    /// Bytes, as PostgreSQL writes them: `\x…`.
    Bytes,
}

/// Comparison operators that come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operators {
    /// `_eq _neq _in _nin _is_null`.
    Equality,
    /// `_gt _gte _lt _lte`.
    Order,
    /// `_like`, `_regex` and the like.
    Text,
    /// `_contains`, `_has_key` and the like, `_cast`.
    Jsonb,
    /// Operators of arrays: `_contains _contained_in`.
    Array,
    /// Operators of paths of labels: `_ancestor`, `_matches` and the like.
    Tree,
    /// Operators of all shapes: `_st_intersects`.
    Shape,
    /// Operators of shapes on a plane: `_st_contains`, `_st_within` and the like, `_cast`.
    Plane,
    /// Operators of shapes on the globe: its own `_st_d_within`, `_cast`.
    Globe,
    /// Operators of rasters: `_st_intersects_rast` and the like.
    Raster,
}

/// Aggregates that come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregates {
    /// `count` alone.
    None,
    /// Also `max` and `min`.
    Extremes,
    /// Also `sum`, `avg` and the deviations.
    Sums,
}

const ORDERED: &[Operators] = &[Operators::Equality, Operators::Order];
const TEXT: &[Operators] = &[Operators::Equality, Operators::Order, Operators::Text];
const JSONB: &[Operators] = &[Operators::Equality, Operators::Order, Operators::Jsonb];
const ARRAY: &[Operators] = &[Operators::Equality, Operators::Order, Operators::Array];

const TREE: &[Operators] = &[Operators::Equality, Operators::Order, Operators::Tree];
const GLOBE: &[Operators] = &[Operators::Equality, Operators::Order, Operators::Shape, Operators::Globe];
const RASTER: &[Operators] = &[Operators::Equality, Operators::Raster];
const PLANE: &[Operators] = &[Operators::Equality, Operators::Order, Operators::Shape, Operators::Plane];

impl ColumnType {
    /// One of each kind of type, for tests that may leave none out.
    pub fn every() -> impl Iterator<Item = Self> {
        std::iter::successors(Some(Self::SmallInt), Self::next)
    }

    /// The type after this one.
    fn next(&self) -> Option<Self> {
        Some(match self {
            Self::SmallInt => Self::Int,
            Self::Int => Self::BigInt,
            Self::BigInt => Self::Real,
            Self::Real => Self::Double,
            Self::Double => Self::Numeric,
            Self::Numeric => Self::Money,
            Self::Money => Self::Boolean,
            Self::Boolean => Self::Text,
            Self::Text => Self::Char,
            Self::Char => Self::CiText,
            Self::CiText => Self::Uuid,
            Self::Uuid => Self::Date,
            Self::Date => Self::Timestamp,
            Self::Timestamp => Self::TimestampTz,
            Self::TimestampTz => Self::Time,
            Self::Time => Self::TimeTz,
            Self::TimeTz => Self::Interval,
            Self::Interval => Self::Json,
            Self::Json => Self::Jsonb,
            Self::Jsonb => Self::Bytes,
            Self::Bytes => Self::Ltree,
            Self::Ltree => Self::Geometry,
            Self::Geometry => Self::Geography,
            Self::Geography => Self::Raster,
            Self::Raster => Self::Enum("label".to_owned()),
            Self::Enum(_) => Self::Composite("composite".to_owned()),
            Self::Composite(_) => Self::Array(Box::new(Self::Text)),
            Self::Array(_) => Self::Other("other".to_owned()),
            Self::Other(_) => return None,
        })
    }

    /// The row of this type.
    #[inline]
    pub fn facts(&self) -> Facts {
        use Aggregates::{Extremes, None as Nothing, Sums};
        use InputForm as Take;
        match self {
            Self::SmallInt => row("smallint", Cell::Int, ORDERED, Sums).with_input(Take::BigInt).wide(16),
            Self::Int => row("Int", Cell::Int, ORDERED, Sums).wide(32),
            Self::BigInt => row("bigint", Cell::BigInt, ORDERED, Sums).with_input(Take::BigInt).wide(64),
            Self::Real => row("Float", Cell::Float, ORDERED, Sums),
            Self::Double => row("float8", Cell::Float, ORDERED, Sums).with_input(Take::Decimal),
            Self::Numeric => row("numeric", Cell::Numeric, ORDERED, Sums).with_input(Take::Decimal),
            Self::Money => row("money", Cell::Numeric, ORDERED, Sums).with_input(Take::Text),
            Self::Boolean => row("Boolean", Cell::Boolean, ORDERED, Nothing),
            Self::Text => row("String", Cell::Text, TEXT, Extremes),
            Self::Char => row("bpchar", Cell::Text, TEXT, Extremes).with_input(Take::Text),
            Self::CiText => row("citext", Cell::Text, TEXT, Extremes).with_input(Take::Text),
            Self::Uuid => row("uuid", Cell::Uuid, ORDERED, Extremes).with_input(Take::Text),
            Self::Date => row("date", Cell::Text, ORDERED, Extremes).with_input(Take::Text),
            Self::Timestamp => row("timestamp", Cell::Text, ORDERED, Extremes).with_input(Take::Text),
            Self::TimestampTz => row("timestamptz", Cell::Text, ORDERED, Extremes).with_input(Take::Text),
            Self::Time => row("time", Cell::Text, ORDERED, Extremes).with_input(Take::Text),
            Self::TimeTz => row("timetz", Cell::Text, ORDERED, Extremes).with_input(Take::Text),
            Self::Interval => row("interval", Cell::Text, ORDERED, Extremes).with_input(Take::Text),
            // PostgreSQL compares `json` as `jsonb`, which cannot represent every document.
            Self::Json => {
                row("json", Cell::Json, ORDERED, Nothing).with_input(Take::Json).fails(Failing::ByRow)
            }
            Self::Jsonb => row("jsonb", Cell::Json, JSONB, Nothing).with_input(Take::Json),
            Self::Bytes => row("bytea", Cell::Bytes, ORDERED, Nothing).with_input(Take::Text),
            Self::Ltree => row("ltree", Cell::Text, TREE, Nothing).with_input(Take::Text),
            Self::Geometry => {
                row("geometry", Cell::Json, PLANE, Nothing).with_input(Take::Json).read_by_database()
            }
            Self::Geography => {
                row("geography", Cell::Json, GLOBE, Nothing).with_input(Take::Json).read_by_database()
            }
            Self::Raster => {
                row("raster", Cell::Text, RASTER, Nothing).with_input(Take::Text).fails(Failing::ByRow)
            }
            Self::Enum(_) => {
                row("", Cell::Text, ORDERED, Extremes).with_input(Take::Text).with_database_name()
            }
            // A field of the type may have no order.
            Self::Composite(_) => row("", Cell::Json, ORDERED, Nothing)
                .with_input(Take::Json)
                .with_database_name()
                .fails(Failing::ByRow),
            Self::Array(element) => element.facts().many(),
            // Lists of numbers, which PostgreSQL writes without braces.
            Self::Other(name) if matches!(name.as_str(), "int2vector" | "oidvector") => {
                row("", Cell::Json, ORDERED, Nothing).with_input(Take::Json).with_database_name()
            }
            Self::Other(name) => {
                // PostgreSQL has `max` and `min` for `inet`, but for no other type that only PostgreSQL has.
                let aggregates = if name == "inet" { Extremes } else { Nothing };
                let facts =
                    row("", Cell::Text, ORDERED, aggregates).with_input(Take::Text).with_database_name();
                if is_computed_shape(name) { facts.fails(Failing::ByRow) } else { facts }
            }
        }
    }
}

const fn row(
    scalar: &'static str,
    cell: Cell,
    operators: &'static [Operators],
    aggregates: Aggregates,
) -> Facts {
    let failing = Failing::Never;
    Facts { scalar: Some(scalar), input: None, cell, bits: None, operators, aggregates, failing }
}

/// PostgreSQL compares values of these types by areas, lengths or distances, which may leave the range of a number. What an index's
/// order rests on cannot fail, and the other types have such an order.
fn is_computed_shape(name: &str) -> bool {
    matches!(name, "point" | "line" | "lseg" | "box" | "path" | "polygon" | "circle")
}

impl Facts {
    const fn with_input(self, form: InputForm) -> Self {
        Self { input: Some(form), ..self }
    }
    const fn wide(self, bits: u8) -> Self {
        Self { bits: Some(bits), ..self }
    }
    const fn fails(self, failing: Failing) -> Self {
        Self { failing, ..self }
    }
    /// The database reads a client's value from another notation.
    const fn read_by_database(self) -> Self {
        self.fails(Failing::ByArgument)
    }
    /// The GraphQL scalar is named as the database names the type.
    const fn with_database_name(self) -> Self {
        Self { scalar: None, ..self }
    }
    /// Properties of arrays of this type.
    const fn many(self) -> Self {
        let aggregates = match self.aggregates {
            Aggregates::None => Aggregates::None,
            Aggregates::Extremes | Aggregates::Sums => Aggregates::Extremes,
        };
        // Items are compared by the order of their type, which is looked for when there are two.
        let failing = match (self.cell, self.failing) {
            (Cell::Json, _) | (_, Failing::ByRow | Failing::ByArgument | Failing::ByPattern) => {
                Failing::ByRow
            }
            (_, Failing::Never) => Failing::Never,
        };
        Self { cell: Cell::Json, bits: None, operators: ARRAY, aggregates, failing, ..self }
    }
}
