//! Scalars, shapes and filters that are in use, and what they consist of.

use super::meaning::{Geo, Operator};
use crate::model::Scalar;

/// An operator: its name, its meaning, and the type that it takes.
pub(super) type OperatorRow = (&'static str, Operator, Takes);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// A value.
    Own,
    /// A list of values.
    Owns,
    /// `{min, max}`.
    Range,
}

pub(super) const EQUAL: [OperatorRow; 2] =
    [("eq", Operator::Eq, Takes::Own), ("in", Operator::In, Takes::Owns)];
pub(super) const ORDERED: [OperatorRow; 6] = [
    EQUAL[0],
    EQUAL[1],
    ("le", Operator::Le, Takes::Own),
    ("lt", Operator::Lt, Takes::Own),
    ("ge", Operator::Ge, Takes::Own),
    ("gt", Operator::Gt, Takes::Own),
];
pub(super) const COMPARED: [OperatorRow; 7] = [
    ORDERED[0],
    ORDERED[1],
    ORDERED[2],
    ORDERED[3],
    ORDERED[4],
    ORDERED[5],
    ("between", Operator::Between, Takes::Range),
];
pub(super) const TERM: [OperatorRow; 2] =
    [("allofterms", Operator::AllOfTerms, Takes::Own), ("anyofterms", Operator::AnyOfTerms, Takes::Own)];
pub(super) const FULLTEXT: [OperatorRow; 2] =
    [("alloftext", Operator::AllOfText, Takes::Own), ("anyoftext", Operator::AnyOfText, Takes::Own)];
pub(super) const REGEXP: [OperatorRow; 1] = [("regexp", Operator::Regexp, Takes::Own)];
pub(super) const NGRAM: [OperatorRow; 1] = [("ngram", Operator::Ngram, Takes::Own)];

/// The filter of one kind of search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchFilter {
    pub(super) name: String,
    /// The type of the values it compares with.
    pub(super) values: String,
    pub(super) rows: &'static [OperatorRow],
}

/// A filter of values: one part, or several put together.
#[derive(Debug)]
pub(super) struct ValueFilter {
    pub(super) name: String,
    pub(super) parts: Vec<SearchFilter>,
}

/// Scalars and filters in use.
#[derive(Debug, Default)]
pub(super) struct Needed {
    pub(super) leaves: Vec<Scalar>,
    pub(super) filters: Vec<ValueFilter>,
    /// Names of ranges that are defined.
    pub(super) ranges: Vec<String>,
    /// Names of [`SHAPES`].
    pub(super) shapes: Vec<&'static str>,
}

/// A member of a shape or of an input about shapes.
#[derive(Clone, Copy)]
pub(super) enum Member {
    Geo(Geo),
    Compare(Operator),
}

/// A type about shapes: its name and its members, with the type and the meaning of each.
pub(super) type Shape = (&'static str, &'static [(&'static str, &'static str, Member)]);

const RINGS: &[(&str, &str, Member)] = &[("points", "[Point!]!", Member::Geo(Geo::Points))];
const NEAR: (&str, &str, Member) = ("near", "NearFilter", Member::Compare(Operator::Near));
const WITHIN: (&str, &str, Member) = ("within", "WithinFilter", Member::Compare(Operator::Within));
const PLACE: &[(&str, &str, Member)] = &[
    ("longitude", "Float!", Member::Geo(Geo::Longitude)),
    ("latitude", "Float!", Member::Geo(Geo::Latitude)),
];

/// Number of output types, which come first in [`SHAPES`]; inputs follow.
pub(super) const OUTPUTS: usize = 4;
pub(super) const SHAPES: [Shape; 14] = [
    ("Point", PLACE),
    ("PointList", RINGS),
    ("Polygon", &[("coordinates", "[PointList!]!", Member::Geo(Geo::Coordinates))]),
    ("MultiPolygon", &[("polygons", "[Polygon!]!", Member::Geo(Geo::Polygons))]),
    ("PointRef", PLACE),
    ("PointListRef", &[("points", "[PointRef!]!", Member::Geo(Geo::Points))]),
    ("PolygonRef", &[("coordinates", "[PointListRef!]!", Member::Geo(Geo::Coordinates))]),
    ("MultiPolygonRef", &[("polygons", "[PolygonRef!]!", Member::Geo(Geo::Polygons))]),
    (
        "NearFilter",
        &[
            ("distance", "Float!", Member::Geo(Geo::Distance)),
            ("coordinate", "PointRef!", Member::Geo(Geo::Coordinate)),
        ],
    ),
    ("WithinFilter", &[("polygon", "PolygonRef!", Member::Geo(Geo::Polygon))]),
    (
        "ContainsFilter",
        &[
            ("point", "PointRef", Member::Geo(Geo::Point)),
            ("polygon", "PolygonRef", Member::Geo(Geo::Polygon)),
        ],
    ),
    (
        "IntersectsFilter",
        &[
            ("polygon", "PolygonRef", Member::Geo(Geo::Polygon)),
            ("multiPolygon", "MultiPolygonRef", Member::Geo(Geo::MultiPolygon)),
        ],
    ),
    ("PointGeoFilter", &[NEAR, WITHIN]),
    (
        "PolygonGeoFilter",
        &[
            NEAR,
            WITHIN,
            ("contains", "ContainsFilter", Member::Compare(Operator::Contains)),
            ("intersects", "IntersectsFilter", Member::Compare(Operator::Intersects)),
        ],
    ),
];

impl Needed {
    pub(super) fn leaf(&mut self, scalar: Scalar) {
        if !self.leaves.contains(&scalar) {
            self.leaves.push(scalar);
        }
    }

    /// Notes the shape called `name`, and the shapes of its members.
    pub(super) fn shape(&mut self, name: &str) {
        let mut waiting = vec![name.to_owned()];
        while let Some(name) = waiting.pop() {
            let Some((name, members)) = SHAPES.iter().find(|it| it.0 == name) else { continue };
            if !self.shapes.contains(name) {
                self.shapes.push(name);
                waiting.extend(members.iter().map(|it| it.1.trim_matches(['[', ']', '!']).to_owned()));
            }
        }
    }
}
