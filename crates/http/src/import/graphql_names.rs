//! Derives GraphQL names from arbitrary names.

use std::collections::HashSet;

/// Type names that the SDL already uses.
const TAKEN: [&str; 8] = ["Query", "Mutation", "Subscription", "Int", "Float", "String", "Boolean", "ID"];

/// True if `name` is a valid name in a schema.
pub(super) fn is_valid(name: &str) -> bool {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_');
    first && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_') && !name.starts_with("__")
}

/// Turns `pet-type` into `petType`; valid names stay.
pub(super) fn field(name: &str) -> String {
    if is_valid(name) { name.to_string() } else { to_camel_case(name, false) }
}

/// `name` as a member in a mapping, quoted if it is not an identifier.
pub(super) fn member(name: &str) -> String {
    if is_valid(name) { name.to_string() } else { quote_mapping_text(name) }
}

/// `text` as a quoted string of a mapping.
pub(super) fn quote_mapping_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Turns `pet_store item` into `PetStoreItem`.
pub(super) fn type_name(name: &str) -> String {
    let made = to_camel_case(name, true);
    if TAKEN.contains(&made.as_str()) { format!("{made}Type") } else { made }
}

/// The words of `name` in camel case; the first letter is upper case if `great`.
fn to_camel_case(name: &str, great: bool) -> String {
    let mut out = String::new();
    for word in name.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty()) {
        let (first, rest) = word.split_at(1);
        if out.is_empty() && !great {
            out.push_str(&first.to_ascii_lowercase());
        } else {
            out.push_str(&first.to_ascii_uppercase());
        }
        out.push_str(rest);
    }
    if !out.starts_with(|it: char| it.is_ascii_alphabetic()) {
        out.insert(0, '_');
    }
    out
}

/// Names in use within one scope.
#[derive(Default)]
pub(super) struct TakenNames(HashSet<String>);

impl TakenNames {
    /// Reserves `wanted`, or `wanted2` and so on if it is in use.
    pub(super) fn fresh(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        let mut number = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }

    /// Releases a name.
    pub(super) fn free(&mut self, name: &str) {
        self.0.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_one_of_graphql() {
        let check = |name: &str, as_field: &str, as_type: &str| {
            assert_eq!((field(name).as_str(), type_name(name).as_str()), (as_field, as_type));
        };
        check("pet", "pet", "Pet");
        check("pet-type", "petType", "PetType");
        check("page[size]", "pageSize", "PageSize");
        check("2fa", "_2fa", "_2fa");
        check("__typename", "typename", "Typename");
        check("größe", "grE", "GrE");
        check("query", "query", "QueryType");
        check("$", "_", "_");
    }
}
