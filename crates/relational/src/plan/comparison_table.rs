//! The comparisons by family: name, argument, words in plans and in APIs.
//!
//! One home of names: APIs and permissions look them up here, by [`Facts::operators`](crate::catalog::facts::Facts::operators) of
//! the compared type.

use super::operators::{Comparison, Measure, Spatial, Tree};
use crate::catalog::facts::Operators;
use crate::catalog::{LQUERY, LTXTQUERY};

/// Argument of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A value of the column's type.
    Own,
    /// A list of such.
    Owns,
    /// `true` or `false`.
    Boolean,
    /// A text with a notation, of the column's type in APIs.
    Pattern,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A question that is a text in APIs, and a type in the database.
    Question(&'static str),
    /// A list of such.
    Questions(&'static str),
}

/// A comparison of a family: name in conditions, meaning, and description in APIs.
pub type NamedComparison = (&'static str, Comparison, &'static str);

const EQUALITY: &[NamedComparison] = &[
    ("_eq", Comparison::Eq, ""),
    ("_neq", Comparison::Neq, ""),
    ("_in", Comparison::In, ""),
    ("_nin", Comparison::Nin, ""),
    ("_is_null", Comparison::IsNull, ""),
];

const ORDER: &[NamedComparison] = &[
    ("_gt", Comparison::Gt, ""),
    ("_gte", Comparison::Gte, ""),
    ("_lt", Comparison::Lt, ""),
    ("_lte", Comparison::Lte, ""),
];

const TEXT: &[NamedComparison] = {
    use Comparison::{Ilike, Iregex, Like, Nilike, Niregex, Nlike, Nregex, Nsimilar, Regex, Similar};
    &[
        ("_ilike", Ilike, "does the column match the given case-insensitive pattern"),
        ("_iregex", Iregex, "does the column match the given POSIX regular expression, case insensitive"),
        ("_like", Like, "does the column match the given pattern"),
        ("_nilike", Nilike, "does the column NOT match the given case-insensitive pattern"),
        (
            "_niregex",
            Niregex,
            "does the column NOT match the given POSIX regular expression, case insensitive",
        ),
        ("_nlike", Nlike, "does the column NOT match the given pattern"),
        ("_nregex", Nregex, "does the column NOT match the given POSIX regular expression, case sensitive"),
        ("_nsimilar", Nsimilar, "does the column NOT match the given SQL regular expression"),
        ("_regex", Regex, "does the column match the given POSIX regular expression, case sensitive"),
        ("_similar", Similar, "does the column match the given SQL regular expression"),
    ]
};

const JSONB: &[NamedComparison] = {
    use Comparison::{ContainedIn, Contains, HasKey, HasKeysAll, HasKeysAny};
    &[
        ("_contained_in", ContainedIn, "is the column contained in the given json value"),
        ("_contains", Contains, "does the column contain the given json value at the top level"),
        ("_has_key", HasKey, "does the string exist as a top-level key in the column"),
        ("_has_keys_all", HasKeysAll, "do all of these strings exist as top-level keys in the column"),
        ("_has_keys_any", HasKeysAny, "do any of these strings exist as top-level keys in the column"),
    ]
};

const ARRAY: &[NamedComparison] = &[
    ("_contained_in", Comparison::ContainedIn, "is the array contained in the given array value"),
    ("_contains", Comparison::Contains, "does the array contain the given value"),
];

const TREE: &[NamedComparison] = {
    use Comparison::Tree as Of;
    &[
        ("_ancestor", Of(Tree::Ancestor), "is the left argument an ancestor of right (or equal)?"),
        ("_ancestor_any", Of(Tree::AncestorAny), "does array contain an ancestor of `ltree`?"),
        ("_descendant", Of(Tree::Descendant), "is the left argument a descendant of right (or equal)?"),
        ("_descendant_any", Of(Tree::DescendantAny), "does array contain a descendant of `ltree`?"),
        ("_matches", Of(Tree::Matches), "does `ltree` match `lquery`?"),
        ("_matches_any", Of(Tree::MatchesAny), "does `ltree` match any `lquery` in array?"),
        ("_matches_fulltext", Of(Tree::MatchesFulltext), "does `ltree` match `ltxtquery`?"),
    ]
};

const SHAPE: &[NamedComparison] = &[(
    "_st_intersects",
    Comparison::Spatial(Spatial::Intersects),
    "does the column spatially intersect the given value",
)];

const PLANE: &[NamedComparison] = {
    use Comparison::Spatial as Of;
    const OVERLAPS: &str =
        "does the column 'spatially overlap' (intersect but not completely contain) the given geometry value";
    const TOUCHES: &str = "does the column have at least one point in common with the given geometry value";
    const EQUALS: &str = "is the column equal to given geometry value (directionality is ignored)";
    const MEETS: &str = "does the column spatially intersect the given geometry value in 3D";
    &[
        ("_st_3d_intersects", Of(Spatial::Intersects3d), MEETS),
        ("_st_contains", Of(Spatial::Contains), "does the column contain the given geometry value"),
        ("_st_crosses", Of(Spatial::Crosses), "does the column cross the given geometry value"),
        ("_st_equals", Of(Spatial::Equals), EQUALS),
        ("_st_overlaps", Of(Spatial::Overlaps), OVERLAPS),
        ("_st_touches", Of(Spatial::Touches), TOUCHES),
        ("_st_within", Of(Spatial::Within), "is the column contained in the given geometry value"),
    ]
};

const RASTER: &[NamedComparison] = &[("_st_intersects_rast", Comparison::Spatial(Spatial::Intersects), "")];

/// Tells if an argument is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// It has to be given.
    Yes,
    /// It may be absent.
    No,
    /// It may be absent, which means this.
    Default(&'static str),
}

/// The arguments of a comparison that takes several, as an object: its name in APIs, and its members by the places of their values.
pub type MeasureInput = (&'static str, &'static [(&'static str, Needed)]);

const WITHIN: MeasureInput = ("st_d_within_input", &[("distance", Needed::Yes), ("from", Needed::Yes)]);
const WITHIN_ON_GLOBE: MeasureInput = (
    "st_d_within_geography_input",
    &[("distance", Needed::Yes), ("from", Needed::Yes), ("use_spheroid", Needed::Default("true"))],
);
const BAND: MeasureInput =
    ("st_intersects_nband_geom_input", &[("geommin", Needed::Yes), ("nband", Needed::Yes)]);
const RASTER_AND_SHAPE: MeasureInput =
    ("st_intersects_geom_nband_input", &[("geommin", Needed::Yes), ("nband", Needed::No)]);

/// Comparisons with several arguments: family, name in conditions, meaning, arguments, and description in APIs.
pub const MEASURES: [(Operators, &str, Measure, MeasureInput, &str); 5] = [
    (
        Operators::Plane,
        "_st_3d_d_within",
        Measure::Within3d,
        WITHIN,
        "is the column within a given 3D distance from the given geometry value",
    ),
    (
        Operators::Plane,
        "_st_d_within",
        Measure::Within,
        WITHIN,
        "is the column within a given distance from the given geometry value",
    ),
    (
        Operators::Globe,
        "_st_d_within",
        Measure::WithinOnGlobe,
        WITHIN_ON_GLOBE,
        "is the column within a given distance from the given geography value",
    ),
    (Operators::Raster, "_st_intersects_geom_nband", Measure::RasterMeets, RASTER_AND_SHAPE, ""),
    (Operators::Raster, "_st_intersects_nband_geom", Measure::BandMeets, BAND, ""),
];

impl Operators {
    /// All families.
    pub const ALL: [Self; 10] = [
        Self::Equality,
        Self::Order,
        Self::Text,
        Self::Jsonb,
        Self::Array,
        Self::Tree,
        Self::Shape,
        Self::Plane,
        Self::Globe,
        Self::Raster,
    ];

    /// The comparisons with one argument.
    pub const fn comparisons(self) -> &'static [NamedComparison] {
        match self {
            Self::Equality => EQUALITY,
            Self::Order => ORDER,
            Self::Text => TEXT,
            Self::Jsonb => JSONB,
            Self::Array => ARRAY,
            Self::Tree => TREE,
            Self::Shape => SHAPE,
            Self::Plane => PLANE,
            Self::Globe => &[],
            Self::Raster => RASTER,
        }
    }
}

impl Comparison {
    /// The argument.
    pub const fn takes(self) -> Takes {
        self.row().0
    }

    /// The operator in the text form of a plan.
    pub const fn plan_text(self) -> &'static str {
        self.row().1
    }

    const fn row(self) -> (Takes, &'static str) {
        match self {
            Self::Eq => (Takes::Own, "="),
            Self::Neq => (Takes::Own, "<>"),
            Self::Gt => (Takes::Own, ">"),
            Self::Gte => (Takes::Own, ">="),
            Self::Lt => (Takes::Own, "<"),
            Self::Lte => (Takes::Own, "<="),
            Self::In => (Takes::Owns, "in"),
            Self::Nin => (Takes::Owns, "not in"),
            Self::IsNull => (Takes::Boolean, "is null"),
            Self::Like => (Takes::Pattern, "like"),
            Self::Nlike => (Takes::Pattern, "not like"),
            Self::Ilike => (Takes::Pattern, "ilike"),
            Self::Nilike => (Takes::Pattern, "not ilike"),
            Self::Similar => (Takes::Pattern, "similar to"),
            Self::Nsimilar => (Takes::Pattern, "not similar to"),
            Self::Regex => (Takes::Pattern, "~"),
            Self::Nregex => (Takes::Pattern, "!~"),
            Self::Iregex => (Takes::Pattern, "~*"),
            Self::Niregex => (Takes::Pattern, "!~*"),
            Self::Contains => (Takes::Own, "contains"),
            Self::ContainedIn => (Takes::Own, "is contained in"),
            Self::HasKey => (Takes::Text, "has key"),
            Self::HasKeysAny => (Takes::Texts, "has any key of"),
            Self::HasKeysAll => (Takes::Texts, "has all keys of"),
            Self::Tree(Tree::Ancestor) => (Takes::Own, "is ancestor of"),
            Self::Tree(Tree::AncestorAny) => (Takes::Owns, "is ancestor of any of"),
            Self::Tree(Tree::Descendant) => (Takes::Own, "is descendant of"),
            Self::Tree(Tree::DescendantAny) => (Takes::Owns, "is descendant of any of"),
            Self::Tree(Tree::Matches) => (Takes::Question(LQUERY), "matches"),
            Self::Tree(Tree::MatchesAny) => (Takes::Questions(LQUERY), "matches any of"),
            Self::Tree(Tree::MatchesFulltext) => (Takes::Question(LTXTQUERY), "matches text"),
            Self::Spatial(Spatial::Contains) => (Takes::Own, "st_contains"),
            Self::Spatial(Spatial::Crosses) => (Takes::Own, "st_crosses"),
            Self::Spatial(Spatial::Equals) => (Takes::Own, "st_equals"),
            Self::Spatial(Spatial::Intersects) => (Takes::Own, "st_intersects"),
            Self::Spatial(Spatial::Intersects3d) => (Takes::Own, "st_3d_intersects"),
            Self::Spatial(Spatial::Overlaps) => (Takes::Own, "st_overlaps"),
            Self::Spatial(Spatial::Touches) => (Takes::Own, "st_touches"),
            Self::Spatial(Spatial::Within) => (Takes::Own, "st_within"),
        }
    }
}
