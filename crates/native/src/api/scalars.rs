//! Scalars, shapes and the filters over values: made where something uses them.

use super::core::{Core, list, plain, scalar_name};
use super::meaning::{FieldMeaning, Geo, InputMeaning, Operator};
use crate::model::{Field, FieldKind, Scalar, Search};
use weir_language::schema::{self, ScalarReader};

/// An operator: its name, its meaning, and the type that it takes.
type OperatorRow = (&'static str, Operator, Takes);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// A value.
    Own,
    /// A list of values.
    Owns,
    /// `{min, max}`.
    Range,
}

const EQUAL: [OperatorRow; 2] = [("eq", Operator::Eq, Takes::Own), ("in", Operator::In, Takes::Owns)];
const ORDERED: [OperatorRow; 6] = [
    EQUAL[0],
    EQUAL[1],
    ("le", Operator::Le, Takes::Own),
    ("lt", Operator::Lt, Takes::Own),
    ("ge", Operator::Ge, Takes::Own),
    ("gt", Operator::Gt, Takes::Own),
];
const COMPARED: [OperatorRow; 7] = [
    ORDERED[0],
    ORDERED[1],
    ORDERED[2],
    ORDERED[3],
    ORDERED[4],
    ORDERED[5],
    ("between", Operator::Between, Takes::Range),
];
const TERM: [OperatorRow; 2] =
    [("allofterms", Operator::AllOfTerms, Takes::Own), ("anyofterms", Operator::AnyOfTerms, Takes::Own)];
const FULLTEXT: [OperatorRow; 2] =
    [("alloftext", Operator::AllOfText, Takes::Own), ("anyoftext", Operator::AnyOfText, Takes::Own)];
const REGEXP: [OperatorRow; 1] = [("regexp", Operator::Regexp, Takes::Own)];
const NGRAM: [OperatorRow; 1] = [("ngram", Operator::Ngram, Takes::Own)];

/// The filter of one kind of search.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SearchFilter {
    name: String,
    /// The type of the values it compares with.
    values: String,
    rows: &'static [OperatorRow],
}

/// A filter of values: one part, or several put together.
#[derive(Debug)]
struct ValueFilter {
    name: String,
    parts: Vec<SearchFilter>,
}

/// Scalars and filters in use.
#[derive(Debug, Default)]
pub(super) struct Needed {
    leaves: Vec<Scalar>,
    filters: Vec<ValueFilter>,
    /// Names of ranges that are defined.
    ranges: Vec<String>,
    /// Names of [`SHAPES`].
    shapes: Vec<&'static str>,
}

/// A member of a shape or of an input about shapes.
#[derive(Clone, Copy)]
enum Member {
    Geo(Geo),
    Compare(Operator),
}

/// A type about shapes: its name and its members, with the type and the meaning of each.
type Shape = (&'static str, &'static [(&'static str, &'static str, Member)]);

const RINGS: &[(&str, &str, Member)] = &[("points", "[Point!]!", Member::Geo(Geo::Points))];
const NEAR: (&str, &str, Member) = ("near", "NearFilter", Member::Compare(Operator::Near));
const WITHIN: (&str, &str, Member) = ("within", "WithinFilter", Member::Compare(Operator::Within));
const PLACE: &[(&str, &str, Member)] = &[
    ("longitude", "Float!", Member::Geo(Geo::Longitude)),
    ("latitude", "Float!", Member::Geo(Geo::Latitude)),
];

/// Number of output types, which come first in [`SHAPES`]; inputs follow.
const OUTPUTS: usize = 4;
const SHAPES: [Shape; 14] = [
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

impl Core<'_> {
    /// The filter over the values of a field, if it has a `@search`. A Boolean's is the value itself.
    pub(super) fn value_filter(&mut self, field: &Field) -> Option<schema::TypeId> {
        let first = field.search.first()?;
        if *first == Search::Bool {
            return Some(self.common.boolean);
        }
        if *first == Search::Geo {
            let is_point = field.kind == FieldKind::Scalar(Scalar::Point);
            let name = if is_point { "PointGeoFilter" } else { "PolygonGeoFilter" };
            self.needed.shape(name);
            return Some(self.b.reference(name));
        }
        let mut parts: Vec<SearchFilter> = Vec::new();
        for search in &field.search {
            let part = self.part(field, *search);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        let name = names.join("_");
        let id = self.b.reference(&name);
        if !self.needed.filters.iter().any(|it| it.name == name) {
            self.needed.filters.push(ValueFilter { name, parts });
        }
        Some(id)
    }

    fn part(&mut self, field: &Field, search: Search) -> SearchFilter {
        let values = match field.kind {
            FieldKind::Enum(id) => self.model.enumeration(id).name.clone(),
            FieldKind::Scalar(scalar) => scalar_name(scalar).to_owned(),
            FieldKind::Id | FieldKind::Edge { .. } => String::new(),
        };
        let text =
            |name: &str, rows| SearchFilter { name: name.to_owned(), values: "String".to_owned(), rows };
        match search {
            Search::Hash => text("StringHashFilter", &EQUAL),
            Search::Exact => text("StringExactFilter", &COMPARED),
            Search::Term => text("StringTermFilter", &TERM),
            Search::Fulltext => text("StringFullTextFilter", &FULLTEXT),
            Search::Trigram | Search::EnumTrigram => text("StringRegExpFilter", &REGEXP),
            Search::Ngram => text("StringNgramFilter", &NGRAM),
            Search::EnumHash => SearchFilter { name: format!("{values}_hash"), values, rows: &EQUAL },
            Search::EnumExact => SearchFilter { name: format!("{values}_exact"), values, rows: &ORDERED },
            Search::Number
            | Search::Bool
            | Search::Year
            | Search::Month
            | Search::Day
            | Search::Hour
            | Search::Geo => SearchFilter { name: format!("{values}Filter"), values, rows: &COMPARED },
        }
    }

    /// Defines the scalars and filters in use.
    pub(super) fn scalars(&mut self) {
        for filter in std::mem::take(&mut self.needed.filters) {
            self.b.input_object(&filter.name, "");
            let mut ranges: Vec<String> = Vec::new();
            for part in filter.parts {
                let own = plain(self.b.reference(&part.values));
                for (name, operator, takes) in part.rows {
                    let ty = match takes {
                        Takes::Own => own,
                        Takes::Owns => list(own),
                        Takes::Range => {
                            ranges.push(part.values.clone());
                            plain(self.b.reference(&format!("{}Range", part.values)))
                        }
                    };
                    self.input_field(name, "", ty, InputMeaning::Compare(*operator));
                }
            }
            for values in ranges {
                self.range(&values);
            }
        }
        for scalar in std::mem::take(&mut self.needed.leaves) {
            match scalar {
                Scalar::Int64 => {
                    self.b.scalar("Int64", "An integer of 64 bits.", ScalarReader::BigInt);
                }
                Scalar::DateTime => {
                    let words =
                        "A point in time, as RFC 3339 writes it, a date, or a number of seconds since 1970.";
                    self.b.scalar("DateTime", words, ScalarReader::Moment);
                }
                Scalar::String
                | Scalar::Int
                | Scalar::Float
                | Scalar::Boolean
                | Scalar::Point
                | Scalar::Polygon
                | Scalar::MultiPolygon => {}
            }
        }
        self.shapes();
    }

    /// `{min, max}` of a scalar, once.
    fn range(&mut self, values: &str) {
        let name = format!("{values}Range");
        if self.needed.ranges.contains(&name) {
            return;
        }
        let value = self.b.type_ref(&format!("{values}!"));
        self.b.input_object(&name, "");
        self.input_field("min", "", value, InputMeaning::Min);
        self.input_field("max", "", value, InputMeaning::Max);
        self.needed.ranges.push(name);
    }

    fn shapes(&mut self) {
        let needed = std::mem::take(&mut self.needed.shapes);
        for (at, (name, members)) in SHAPES.into_iter().enumerate().filter(|it| needed.contains(&it.1.0)) {
            let is_output = at < OUTPUTS;
            if is_output {
                self.b.object(name, "")
            } else {
                self.b.input_object(name, "")
            };
            for (member, ty, meaning) in members {
                let ty = self.b.type_ref(ty);
                match meaning {
                    Member::Geo(geo) if is_output => self.field(member, "", ty, FieldMeaning::Geo(*geo)),
                    Member::Geo(geo) => self.input_field(member, "", ty, InputMeaning::Geo(*geo)),
                    Member::Compare(operator) => {
                        self.input_field(member, "", ty, InputMeaning::Compare(*operator));
                    }
                }
            }
        }
    }
}
