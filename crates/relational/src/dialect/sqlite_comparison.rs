//! Comparisons in SQLite's words: of values that compare as they are stored.

use super::Side;
use crate::catalog::facts::Cell;
use crate::plan::Reader;
use crate::plan::operators::Comparison;

/// `left by value`.
pub(super) fn comparison(left: &str, by: Comparison, value: &str, right: &Side<'_>) -> String {
    let reader = right.reader;
    // Behind a policy a text that takes too many steps fits nothing.
    let regex = if right.behind { "weir_try" } else { "weir" };
    match by {
        Comparison::Eq => format!("{left} = {value}"),
        Comparison::Neq => format!("{left} <> {value}"),
        Comparison::Gt => format!("{left} > {value}"),
        Comparison::Gte => format!("{left} >= {value}"),
        Comparison::Lt => format!("{left} < {value}"),
        Comparison::Lte => format!("{left} <= {value}"),
        Comparison::In => format!("{left} IN ({})", items(value, reader)),
        Comparison::Nin => format!("{left} NOT IN ({})", items(value, reader)),
        Comparison::IsNull => format!("({left} IS NULL) = {value}"),
        Comparison::Like => format!("weir_like({value}, {left})"),
        Comparison::Nlike => format!("NOT weir_like({value}, {left})"),
        Comparison::Ilike => format!("weir_ilike({value}, {left})"),
        Comparison::Nilike => format!("NOT weir_ilike({value}, {left})"),
        Comparison::Similar => format!("weir_similar({value}, {left})"),
        Comparison::Nsimilar => format!("NOT weir_similar({value}, {left})"),
        Comparison::Regex => format!("{regex}_regex({value}, {left})"),
        Comparison::Nregex => format!("NOT {regex}_regex({value}, {left})"),
        Comparison::Iregex => format!("{regex}_iregex({value}, {left})"),
        Comparison::Niregex => format!("NOT {regex}_iregex({value}, {left})"),
        Comparison::Contains => format!("weir_json_contains({left}, {value})"),
        Comparison::ContainedIn => format!("weir_json_contains({value}, {left})"),
        // No column of SQLite has such a type; this condition is neither true nor false, so no row fits.
        Comparison::Tree(_) | Comparison::Spatial(_) => format!("({left} IS NULL AND NULL)"),
        Comparison::HasKey => {
            format!(
                "iif({left} IS NULL, NULL, EXISTS (SELECT 1 FROM json_each({left}) AS j WHERE {} = {value}))",
                key_of(left)
            )
        }
        Comparison::HasKeysAny => format!(
            "iif({left} IS NULL, NULL, EXISTS (SELECT 1 FROM json_each({left}) AS j \
             WHERE {} IN (SELECT value FROM json_each({value}))))",
            key_of(left)
        ),
        Comparison::HasKeysAll => format!(
            "iif({left} IS NULL, NULL, NOT EXISTS (SELECT 1 FROM json_each({value}) AS k WHERE k.value NOT IN \
             (SELECT {} FROM json_each({left}) AS j WHERE {} IS NOT NULL)))",
            key_of(left),
            key_of(left)
        ),
    }
}

/// The items of a bound list. Bytes travel as hexadecimal digits, as JSON has none.
pub(super) fn items(list: &str, reader: &Reader) -> String {
    match item_cell(reader) {
        Some(Cell::Json) => format!("SELECT weir_json(value) FROM json_each({list})"),
        Some(Cell::Bytes) => format!("SELECT weir_unhex(value) AS value FROM json_each({list})"),
        _ => format!("SELECT value FROM json_each({list})"),
    }
}

/// Output format of a single compared value.
pub(super) fn column_cell(reader: &Reader) -> Option<Cell> {
    if let Reader::Column(ty) = reader { Some(ty.facts().cell) } else { None }
}

/// Output format of the items of a compared list.
pub(super) fn item_cell(reader: &Reader) -> Option<Cell> {
    match reader {
        Reader::Each(ty) | Reader::Gathered { ty, .. } => Some(ty.facts().cell),
        _ => None,
    }
}

/// The keys of an object, the texts of an array.
fn key_of(document: &str) -> String {
    format!(
        "CASE json_type({document}) WHEN 'object' THEN j.key WHEN 'array' THEN iif(j.type = 'text', j.value, NULL) END"
    )
}
