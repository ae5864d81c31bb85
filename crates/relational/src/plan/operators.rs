//! The operators of a plan: comparisons, aggregate functions and casts. What each is in SQL is the dialect's business.
//!
//! Each says how it can fail ([`Failing`]): a database may ask a client's condition of rows that a policy hides, before it asks the
//! policy.

use crate::catalog::ColumnType;
use crate::catalog::facts::Failing;
use crate::values::plain_pattern::Notation;

/// The aggregate functions over one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Aggregation {
    Avg,
    Max,
    Min,
    Stddev,
    StddevPop,
    StddevSamp,
    Sum,
    VarPop,
    VarSamp,
    Variance,
}

impl Aggregation {
    /// True if it takes values in an order; else it takes numbers.
    pub const fn is_extreme(self) -> bool {
        matches!(self, Self::Max | Self::Min)
    }

    /// True if it returns the column's type; else it returns a floating-point number.
    pub const fn keeps_type(self) -> bool {
        self.is_extreme() || matches!(self, Self::Sum)
    }
}

impl Aggregation {
    /// How it can fail over rows: a sum may leave the range of its type, and SQLite may hold texts where numbers are meant.
    pub const fn failing(self) -> Failing {
        if self.is_extreme() { Failing::Never } else { Failing::ByRow }
    }
}

/// A function of an aggregate predicate, over one or two columns of `float8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statistic {
    /// An aggregate function.
    Of(Aggregation),
    /// Correlation of two columns.
    Corr,
    /// Covariance of two columns in a sample.
    CovarSamp,
}

impl Statistic {
    /// How it can fail over rows.
    pub const fn failing(self) -> Failing {
        match self {
            Self::Of(function) => function.failing(),
            Self::Corr | Self::CovarSamp => Failing::ByRow,
        }
    }
}

/// Comparisons of a column with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Sign {
    Eq,
    Neq,
    Gt,
    Gte,
    Lt,
    Lte,
}

impl Sign {
    /// The operator's text, equal in all databases.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Neq => "<>",
            Self::Gt => ">",
            Self::Gte => ">=",
            Self::Lt => "<",
            Self::Lte => "<=",
        }
    }
}

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    Neq,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    Nin,
    IsNull,
    Like,
    Nlike,
    Ilike,
    Nilike,
    Similar,
    Nsimilar,
    Regex,
    Nregex,
    Iregex,
    Niregex,
    Contains,
    ContainedIn,
    HasKey,
    HasKeysAny,
    HasKeysAll,
    /// On the paths of PostgreSQL's `ltree`.
    Tree(Tree),
    /// On PostGIS's shapes.
    Spatial(Spatial),
}

/// Comparisons of label paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Tree {
    Ancestor,
    AncestorAny,
    Descendant,
    DescendantAny,
    Matches,
    MatchesAny,
    MatchesFulltext,
}

/// Comparisons of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Spatial {
    Contains,
    Crosses,
    Equals,
    Intersects,
    Intersects3d,
    Overlaps,
    Touches,
    Within,
}

/// Comparisons of PostGIS values with several arguments; the arguments are in alphabetical order here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// A distance and a shape on the same plane.
    Within,
    /// A distance and a shape in three dimensions.
    Within3d,
    /// A distance, a shape on the globe, and whether that is a spheroid.
    WithinOnGlobe,
    /// A shape and the number of a band of a raster.
    BandMeets,
    /// A shape and perhaps the number of a band.
    RasterMeets,
}

/// Casts in conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cast {
    /// The value as text.
    Text,
    /// The shape on a plane.
    Geometry,
    /// The shape on the globe.
    Geography,
}

impl Comparison {
    /// How it can fail on values of a type that fails as `values` says, in SQLite or elsewhere. Equality and order are asked of the
    /// type; the rest is the operator's own.
    pub const fn failing(self, values: Failing, is_sqlite: bool) -> Failing {
        match self {
            Self::Eq | Self::Neq | Self::Gt | Self::Gte | Self::Lt | Self::Lte | Self::In | Self::Nin => {
                values
            }
            Self::IsNull => Failing::Never,
            // The time grows with the stored value times the argument; SQLite has no index for any of these.
            Self::Like | Self::Nlike | Self::Ilike | Self::Nilike | Self::Contains if is_sqlite => {
                Failing::ByRow
            }
            Self::Contains => values.and(Failing::ByPattern),
            Self::ContainedIn => Failing::ByRow,
            Self::Like
            | Self::Nlike
            | Self::Ilike
            | Self::Nilike
            | Self::Similar
            | Self::Nsimilar
            | Self::Regex
            | Self::Nregex
            | Self::Iregex
            | Self::Niregex => Failing::ByPattern,
            // SQLite stores any text in a column of documents.
            Self::HasKey | Self::HasKeysAny | Self::HasKeysAll if is_sqlite => Failing::ByRow,
            Self::HasKey => Failing::Never,
            Self::HasKeysAny | Self::HasKeysAll => Failing::ByPattern,
            Self::Tree(tree) => tree.failing(),
            // Shapes of two systems of coordinates, shapes that cross themselves.
            Self::Spatial(_) => Failing::ByRow,
        }
    }

    /// The notation of the argument that a value of type `ty` is compared with, if it is tested in halves.
    pub const fn notation(self, ty: &ColumnType) -> Option<Notation> {
        Some(match (self.positive(), ty) {
            (Self::Regex | Self::Iregex, _) => Notation::Regex,
            (Self::Similar, _) => Notation::Similar,
            (Self::Like | Self::Ilike, _) => Notation::Like,
            (Self::Contains, ColumnType::Jsonb) => Notation::Document,
            (Self::Contains, ColumnType::Array(_)) | (Self::HasKeysAll, _) => Notation::Items,
            (Self::HasKeysAny, _) => Notation::AnyOf,
            _ => return None,
        })
    }

    /// The operator that this one negates, or itself if it negates none.
    #[must_use]
    pub const fn positive(self) -> Self {
        match self {
            Self::Nlike => Self::Like,
            Self::Nilike => Self::Ilike,
            Self::Nsimilar => Self::Similar,
            Self::Nregex => Self::Regex,
            Self::Niregex => Self::Iregex,
            other => other,
        }
    }
}

impl Tree {
    /// How it can fail. The database reads questions before it reads rows; those of labels in an order may take long.
    const fn failing(self) -> Failing {
        match self {
            Self::Ancestor
            | Self::AncestorAny
            | Self::Descendant
            | Self::DescendantAny
            | Self::MatchesFulltext => Failing::ByArgument,
            Self::Matches | Self::MatchesAny => Failing::ByRow,
        }
    }
}

impl Aggregation {
    /// The function in the text form of a plan.
    pub const fn plan_text(self) -> &'static str {
        match self {
            Self::Avg => "avg",
            Self::Max => "max",
            Self::Min => "min",
            Self::Stddev => "stddev",
            Self::StddevPop => "stddev_pop",
            Self::StddevSamp => "stddev_samp",
            Self::Sum => "sum",
            Self::VarPop => "var_pop",
            Self::VarSamp => "var_samp",
            Self::Variance => "variance",
        }
    }
}

impl Measure {
    /// How it can fail: as [`Comparison::Spatial`].
    pub const fn failing(self) -> Failing {
        match self {
            Self::Within | Self::Within3d | Self::WithinOnGlobe | Self::BandMeets | Self::RasterMeets => {
                Failing::ByRow
            }
        }
    }

    /// The operator in the text form of a plan.
    pub const fn plan_text(self) -> &'static str {
        match self {
            Self::Within | Self::WithinOnGlobe => "st_d_within",
            Self::Within3d => "st_3d_d_within",
            Self::BandMeets => "st_intersects_nband_geom",
            Self::RasterMeets => "st_intersects_geom_nband",
        }
    }

    /// The types of its values.
    pub const fn types(self) -> &'static [ColumnType] {
        match self {
            Self::Within | Self::Within3d => &[ColumnType::Double, ColumnType::Geometry],
            Self::WithinOnGlobe => &[ColumnType::Double, ColumnType::Geography, ColumnType::Boolean],
            Self::BandMeets | Self::RasterMeets => &[ColumnType::Geometry, ColumnType::Int],
        }
    }
}

impl Cast {
    /// How it can fail: only coordinates on the globe become a place on it.
    pub const fn failing(self) -> Failing {
        match self {
            Self::Text | Self::Geometry => Failing::Never,
            Self::Geography => Failing::ByRow,
        }
    }

    /// The type in the text form of a plan.
    pub const fn plan_text(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Geometry => "geometry",
            Self::Geography => "geography",
        }
    }

    /// The type it gives.
    pub const fn result_type(self) -> ColumnType {
        match self {
            Self::Text => ColumnType::Text,
            Self::Geometry => ColumnType::Geometry,
            Self::Geography => ColumnType::Geography,
        }
    }
}
