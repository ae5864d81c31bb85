//! Methods that change the names of members.
//!
//! **Invariant:** depth is that of a tape or an expression, both bounded.

use super::{Eval, Evaluated, Fault, put};
use crate::selection::method::{Call, Method};
use crate::selection::value::Value;
use std::borrow::Cow;

impl<'v> Eval<'_, 'v> {
    /// An object, or a list of objects, with other names: of all objects in it if the method says so. Of names that become one the
    /// values are merged.
    pub(super) fn rename_keys(&self, call: &Call, value: &Value<'v>) -> Evaluated<'v> {
        let method = call.method;
        let is_deep = method == Method::KeysToCamelCaseDeep;
        if !(value.is_object() || value.items().is_some()) {
            return Err(Fault::Kind { method, given: value.kind() });
        }
        self.spend_budget(value.weight())?;
        Ok(camel(value, is_deep))
    }
}

/// `value` with the names of its members in camel case; of a list, those of its items.
fn camel<'v>(value: &Value<'v>, is_deep: bool) -> Value<'v> {
    if let Some(items) = value.items() {
        return Value::Array(items.iter().map(|it| camel(it, is_deep)).collect());
    }
    let Some(members) = value.members() else { return value.clone() };
    let mut object = Vec::with_capacity(members.len());
    for (name, value) in members {
        let value = if is_deep { camel(&value, true) } else { value };
        put(&mut object, camel_name(name), value);
    }
    Value::Object(object)
}

/// `user_id`, `user-id`, `USER_ID` and `UserId` as `userId`. Underscores at the start stay.
fn camel_name(name: Cow<'_, str>) -> Cow<'_, str> {
    let rest = name.trim_start_matches('_');
    let start = &name[..name.len() - rest.len()];
    let mut out = start.to_owned();
    for word in rest.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()) {
        let is_loud = !word.chars().any(char::is_lowercase);
        let mut letters = word.chars();
        let is_first = out.len() == start.len();
        if let Some(first) = letters.next() {
            if is_first { out.extend(first.to_lowercase()) } else { out.extend(first.to_uppercase()) }
        }
        if is_loud { out.extend(letters.flat_map(char::to_lowercase)) } else { out.extend(letters) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::camel_name;

    #[test]
    fn names_become_camel_case() {
        for (name, expected) in [
            ("user_id", "userId"),
            ("user-id", "userId"),
            ("USER_ID", "userId"),
            ("UserId", "userId"),
            ("userId", "userId"),
            ("ID", "id"),
            ("first name", "firstName"),
            ("a_1_b", "a1B"),
            ("__typename", "__typename"),
            ("_id", "_id"),
            ("größe_der_box", "größeDerBox"),
            ("", ""),
            ("--", ""),
        ] {
            assert_eq!(camel_name(name.into()), expected, "{name}");
        }
    }
}
