//! Names and texts as SQL has them.

/// `name` as an identifier.
#[must_use]
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `text` as a literal.
#[must_use]
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `names` as identifiers with commas between.
pub fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// `names` as identifiers with commas between.
pub(crate) fn all(names: &[String]) -> String {
    list(names.iter().map(String::as_str))
}
