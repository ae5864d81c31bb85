//! The names that the API makes of those of types and fields.

use crate::model::TypeKind;

/// `Restaurant` as payloads call it: `restaurant`.
pub fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + chars.as_str())
}

/// `dishes` counted and summed up: `dishesAggregate`.
pub fn edge_aggregate(field: &str) -> String {
    format!("{field}Aggregate")
}

/// Members of filters beside those for fields.
pub(crate) const FILTER_WORDS: &[&str] = &["and", "or", "not", "has"];

/// Members of orders beside those for fields.
pub(crate) const ORDER_WORDS: &[&str] = &["asc", "desc", "then"];

/// The member for the field `name` beside the members `words`: `has_` for `has`, with more of `_` if a field is called so.
pub(crate) fn member(name: &str, words: &[&str], is_field: impl Fn(&str) -> bool) -> String {
    let mut made = name.to_owned();
    while words.contains(&made.as_str()) || (made != name && is_field(&made)) {
        made.push('_');
    }
    made
}

/// The names of all types that a type can get, whether this one does or not.
pub(crate) fn of_type(name: &str, kind: TypeKind) -> Vec<String> {
    let suffixes: &[&str] = match kind {
        TypeKind::Object | TypeKind::Interface => {
            &["Filter", "Order", "Orderable", "HasFilter", "Ref", "Patch", "AggregateResult"]
        }
        TypeKind::Union => &["Filter", "Ref", "Type"],
    };
    let affixes: &[(&str, &str)] = match kind {
        TypeKind::Object => &[
            ("Add", "Input"),
            ("Update", "Input"),
            ("Add", "Payload"),
            ("Update", "Payload"),
            ("Delete", "Payload"),
        ],
        TypeKind::Interface => &[("Update", "Input"), ("Update", "Payload"), ("Delete", "Payload")],
        TypeKind::Union => &[],
    };
    let suffixed = suffixes.iter().map(|suffix| format!("{name}{suffix}"));
    suffixed.chain(affixes.iter().map(|(before, after)| format!("{before}{name}{after}"))).collect()
}

/// Names that are generated for an enum, see [`of_type`].
pub(crate) fn of_enum(name: &str) -> Vec<String> {
    ["_hash", "_exact", "_hash_StringRegExpFilter", "_exact_StringRegExpFilter"]
        .map(|suffix| format!("{name}{suffix}"))
        .into()
}
