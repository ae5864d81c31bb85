//! Names that GraphQL takes, and hints for those that are unknown.

/// True if `text` is a name of GraphQL that is not one of introspection's.
pub fn is_name(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_');
    first && is_end_of_name(text) && !text.starts_with("__")
}

/// True if `text` may stand behind the first letter of a name.
pub fn is_end_of_name(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// `; did you mean `column`?` if one of `names` is near `name`, else nothing.
pub fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let near = names.map(|it| (strsim::osa_distance(name, it), it));
    let nearest = near.filter(|it| it.0 <= name.chars().count() * 2 / 5 + 1).min();
    nearest.map_or_else(String::new, |it| format!("; did you mean `{}`?", it.1))
}
