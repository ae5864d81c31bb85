//! Texts within SQL.

/// `text` as a literal that means the same whatever `standard_conforming_strings` says.
pub(super) fn literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if doubled.contains('\\') {
        format!(" E'{}'", doubled.replace('\\', "\\\\"))
    } else {
        format!("'{doubled}'")
    }
}

/// `texts` as an array of texts.
pub(super) fn text_array<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    format!("ARRAY[{}]::text[]", texts.map(literal).collect::<Vec<_>>().join(", "))
}
