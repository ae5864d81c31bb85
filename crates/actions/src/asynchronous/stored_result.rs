//! The result of a stored call as its reader sees it.

use super::LoggedCall;
use std::collections::BTreeMap;
use weir_engine::caller::ADMIN;
use weir_engine::source::Caller;
use weir_language::json::{Json, JsonRef};
use weir_language::string_value::write_json;

/// Nesting of what Weir itself wrote.
const NESTING_MAX: u32 = 1000;

/// The JSON object that `caller`, whose session variables are `session`, reads of a call; `None` if it is another session's.
pub(crate) fn write_result(
    id: &str,
    logged: &LoggedCall,
    caller: &Caller,
    session: &str,
    shows_internal: bool,
) -> Option<String> {
    let is_admin = caller.role() == ADMIN;
    if !is_admin && !are_same(session, &logged.session_variables) {
        return None;
    }
    let mut out = String::from("{\"id\":");
    write_json(id, &mut out);
    out.push_str(",\"created_at\":");
    write_json(&logged.created_at, &mut out);
    out.push_str(",\"errors\":");
    match &logged.errors {
        None => out.push_str("null"),
        Some(errors) => write_errors(errors, is_admin && shows_internal, &mut out),
    }
    out.push_str(",\"output\":");
    out.push_str(logged.response.as_deref().unwrap_or("null"));
    out.push('}');
    Some(out)
}

/// Appends the object `errors`, without details unless it `shows_internal`.
fn write_errors(errors: &str, shows_internal: bool, out: &mut String) {
    let Ok(json) = Json::parse(errors.as_bytes(), NESTING_MAX) else { return out.push_str("null") };
    out.push('{');
    let start = out.len();
    for (name, value) in json.root().members().filter(|it| shows_internal || it.0 != "internal") {
        if out.len() > start {
            out.push(',');
        }
        write_json(&name, out);
        out.push(':');
        out.push_str(value.raw());
    }
    out.push('}');
}

/// True if both objects have the same texts under the same keys.
fn are_same(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) =
        (Json::parse(one.as_bytes(), NESTING_MAX), Json::parse(other.as_bytes(), NESTING_MAX))
    else {
        return false;
    };
    let texts = |object: JsonRef<'_>| -> BTreeMap<String, Option<String>> {
        let text = |it: JsonRef<'_>| it.as_str().map(std::borrow::Cow::into_owned);
        object.members().map(|(name, value)| (name.into_owned(), text(value))).collect()
    };
    one.root().is_object() && other.root().is_object() && texts(one.root()) == texts(other.root())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_compared_whole() {
        let check = |one: &str, other: &str, expected: bool| {
            assert_eq!(are_same(one, other), expected, "{one} {other}")
        };
        check(r#"{"a":"1","b":"2"}"#, r#"{ "b": "2", "a": "1" }"#, true);
        check(r#"{"a":"1"}"#, r#"{"a":"1","b":"2"}"#, false);
        check(r#"{"a":"1"}"#, r#"{"a":"2"}"#, false);
        check(r#"{"a":"1"}"#, r#"{"a":1}"#, false);
        check("{}", "null", false);
        check("null", "null", false);
        check("{", "{", false);
    }

    #[test]
    fn details_of_errors_are_left_out() {
        let written = |shows_internal: bool| {
            let mut out = String::new();
            write_errors(
                r#"{"path":"$","internal":{"a":1},"error":"no","n":1.50}"#,
                shows_internal,
                &mut out,
            );
            out
        };
        assert_eq!(written(false), r#"{"path":"$","error":"no","n":1.50}"#);
        assert_eq!(written(true), r#"{"path":"$","internal":{"a":1},"error":"no","n":1.50}"#);
    }
}
