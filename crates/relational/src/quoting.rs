//! Names and texts as SQL has them.

/// Writes `name` as an SQL identifier, in double quotes.
pub fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `text` as a literal.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `names` as identifiers with commas between.
pub fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quote_identifier).collect::<Vec<_>>().join(", ")
}

/// `names` as identifiers with commas between.
pub(crate) fn all(names: &[String]) -> String {
    list(names.iter().map(String::as_str))
}
