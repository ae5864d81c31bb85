//! Scalars, shapes and the filters over values: made where something uses them.

use super::core::{Core, list, plain, scalar_name};
use super::meaning::{FieldMeaning, InputMeaning};
use super::needed::{
    COMPARED, EQUAL, FULLTEXT, Member, NGRAM, ORDERED, OUTPUTS, REGEXP, SHAPES, SearchFilter, TERM, Takes,
    ValueFilter,
};
use crate::model::{Field, FieldKind, Scalar, Search};
use weir_language::schema::{self, ScalarReader};

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
                _ => {}
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
