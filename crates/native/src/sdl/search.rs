//! `@search`: which kinds a field may have.

use super::{SdlReader, hint};
use crate::model::{Field, FieldKind, Scalar, Search};
use weir_language::ast::Directive;

/// A word of `@search(by:)` and the kind it asks for.
type Word = (&'static str, Search);

const STRING: &[Word] = &[
    ("term", Search::Term),
    ("hash", Search::Hash),
    ("exact", Search::Exact),
    ("fulltext", Search::Fulltext),
    ("trigram", Search::Trigram),
    ("regexp", Search::Trigram),
    ("ngram", Search::Ngram),
];
const DATE_TIME: &[Word] =
    &[("year", Search::Year), ("month", Search::Month), ("day", Search::Day), ("hour", Search::Hour)];
const ENUM: &[Word] = &[
    ("hash", Search::EnumHash),
    ("exact", Search::EnumExact),
    ("regexp", Search::EnumTrigram),
    ("trigram", Search::EnumTrigram),
];

/// Words of which a field can have one only, because their filters mean the same.
const EXCLUSIVE: [(&str, &str); 2] = [("hash", "exact"), ("trigram", "regexp")];

/// The words for a field, the one that is meant when none is given first.
fn search_words(kind: FieldKind) -> &'static [Word] {
    match kind {
        FieldKind::Id | FieldKind::Edge { .. } => &[],
        FieldKind::Enum(_) => ENUM,
        FieldKind::Scalar(scalar) => match scalar {
            Scalar::String => STRING,
            Scalar::Int => &[("int", Search::Number)],
            Scalar::Int64 => &[("int64", Search::Number)],
            Scalar::Float => &[("float", Search::Number)],
            Scalar::Boolean => &[("bool", Search::Bool)],
            Scalar::DateTime => DATE_TIME,
            Scalar::Point => &[("point", Search::Geo), ("geo", Search::Geo)],
            Scalar::Polygon => &[("polygon", Search::Geo), ("geo", Search::Geo)],
            Scalar::MultiPolygon => &[("multiPolygon", Search::Geo), ("geo", Search::Geo)],
        },
    }
}

impl SdlReader<'_> {
    /// The kinds that `directive` asks for, ordered by their words.
    pub(super) fn search(&mut self, field: &Field, directive: Directive) -> Vec<Search> {
        let known = search_words(field.kind);
        let [by] = self.arguments(directive, ["by"]);
        let Some(default) = known.first() else {
            let message = match field.kind {
                FieldKind::Id => "an `ID` can be searched by itself: remove `@search`",
                FieldKind::Edge { .. } | FieldKind::Scalar(_) | FieldKind::Enum(_) => {
                    "an edge can be filtered through by itself: remove `@search`"
                }
            };
            self.complain(directive.span, message);
            return Vec::new();
        };
        let Some(by) = by else { return vec![default.1] };
        let mut found: Vec<Word> = Vec::new();
        for (word, span) in self.read_names(by) {
            let Some(&kind) = known.iter().find(|it| it.0 == word) else {
                let all: Vec<String> = known.iter().map(|it| format!("`{}`", it.0)).collect();
                let hint = hint(&word, known.iter().map(|it| it.0));
                let message = if word == "hnsw" {
                    "vectors are not served: remove the field".to_owned()
                } else {
                    format!("`{word}` is no way to search this field; there is {}{hint}", all.join(", "))
                };
                self.complain(span, message);
                continue;
            };
            if found.contains(&kind) {
                self.complain(span, format!("`{word}` is there already"));
                continue;
            }
            let excluded = EXCLUSIVE.iter().find_map(|&(a, b)| match word.as_str() {
                it if it == a => Some(b),
                it if it == b => Some(a),
                _ => None,
            });
            if let Some(other) = excluded.filter(|other| found.iter().any(|it| it.0 == *other)) {
                self.complain(span, format!("`{word}` and `{other}` exclude each other: keep one"));
                continue;
            }
            found.push(kind);
        }
        if found.is_empty() {
            return vec![default.1];
        }
        found.sort_unstable_by_key(|it| it.0);
        found.dedup_by_key(|it| it.1);
        found.into_iter().map(|it| it.1).collect()
    }
}
