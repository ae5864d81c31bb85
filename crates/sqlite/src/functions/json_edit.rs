//! PostgreSQL's operators that make new JSON of old: `||`, `-` by key and by place, `#-`.
//!
//! Values are spliced as they were written, so digits and escapes stay. What the operators cannot do is an error in
//! PostgreSQL's words.
//!
//! **Cost:** linear in the documents.

use crate::functions::json_writer::JsonText;
use std::collections::HashSet;
use weir_language::json::{Json, JsonRef};

const DEPTH_MAX: u32 = 100;

const NO_JSON: &str = "invalid input syntax for type json";
const SCALAR: &str = "cannot delete from scalar";
const OBJECT: &str = "cannot delete from object using integer index";
const NO_PLACE: &str = "path element is not an integer";
/// Error messages for clients.
pub(crate) const COMPLAINTS: [&str; 4] = [NO_JSON, SCALAR, OBJECT, NO_PLACE];

/// The result, or one of [`COMPLAINTS`].
type Edited = Result<String, &'static str>;

fn parse(text: &str) -> Result<Json<'_>, &'static str> {
    Json::parse(text.as_bytes(), DEPTH_MAX).map_err(|_| NO_JSON)
}

fn root<'j>(json: &'j Json<'j>) -> JsonRef<'j> {
    JsonRef { json, at: 0 }
}

/// `left || right`: objects are merged, with the right one winning; otherwise arrays are joined, and any other value counts
/// as an array of one item.
pub(crate) fn concat(left: &str, right: &str) -> Edited {
    let left = parse(left)?;
    let right = parse(right)?;
    let left = root(&left);
    let right = root(&right);
    let mut out = JsonText::default();
    if left.is_object() && right.is_object() {
        out.open('{');
        let new: HashSet<_> = right.members().map(|(key, _)| key).collect();
        let kept = left.members().filter(|(key, _)| !new.contains(key));
        kept.chain(right.members()).for_each(|(key, value)| member(&mut out, &key, value.raw()));
        out.close('}');
    } else {
        out.open('[');
        for side in [left, right] {
            if !side.is_array() {
                item(&mut out, side.raw());
            }
            side.items().for_each(|value| item(&mut out, value.raw()));
        }
        out.close(']');
    }
    Ok(out.finish())
}

/// `document - key`: the member of an object, the equal texts of an array.
pub(crate) fn delete_key(document: &str, key: &str) -> Edited {
    let document = parse(document)?;
    let document = root(&document);
    let mut out = JsonText::default();
    if document.is_object() {
        out.open('{');
        let kept = document.members().filter(|(name, _)| name != key);
        kept.for_each(|(name, value)| member(&mut out, &name, value.raw()));
        out.close('}');
    } else if document.is_array() {
        out.open('[');
        let kept = document.items().filter(|value| value.as_str().is_none_or(|text| text != key));
        kept.for_each(|value| item(&mut out, value.raw()));
        out.close(']');
    } else {
        return Err(SCALAR);
    }
    Ok(out.finish())
}

/// `document - place`: the item of an array; a negative place counts from the end.
pub(crate) fn delete_elem(document: &str, place: i64) -> Edited {
    let document = parse(document)?;
    let document = root(&document);
    if document.is_object() {
        return Err(OBJECT);
    }
    if !document.is_array() {
        return Err(SCALAR);
    }
    let mut out = JsonText::default();
    remove_item(&mut out, document, place, None).map(|()| out.finish())
}

/// `document #- path`; a path that leads nowhere changes nothing. `path` is a JSON list of texts.
pub(crate) fn delete_path(document: &str, path: &str) -> Edited {
    let document = parse(document)?;
    let path = parse(path)?;
    let steps: Vec<_> = root(&path).items().filter_map(JsonRef::as_str).collect();
    let steps: Vec<&str> = steps.iter().map(AsRef::as_ref).collect();
    let mut out = JsonText::default();
    let document = root(&document);
    match steps.as_slice() {
        [] => item(&mut out, document.raw()),
        _ if !document.is_object() && !document.is_array() => return Err(SCALAR),
        [step, rest @ ..] => {
            remove_path(&mut out, document, step, rest)?;
            out.comma();
        }
    }
    let mut text = out.finish();
    text.pop();
    Ok(text)
}

/// Removes the value at a path. The path is no deeper than the document, whose depth is bounded.
fn remove_path(
    out: &mut JsonText,
    value: JsonRef<'_>,
    step: &str,
    rest: &[&str],
) -> Result<(), &'static str> {
    if value.is_object() {
        out.open('{');
        for (key, inner) in value.members() {
            match rest {
                _ if key != step => member(out, &key, inner.raw()),
                [] => {}
                [next, rest @ ..] => {
                    out.key(&key);
                    remove_path(out, inner, next, rest)?;
                    out.comma();
                }
            }
        }
        out.close('}');
        Ok(())
    } else if value.is_array() {
        let place = step.parse().map_err(|_| NO_PLACE)?;
        remove_item(out, value, place, rest.split_first())
    } else {
        out.raw(value.raw());
        Ok(())
    }
}

/// Removes the item at `place` of an array, or the value at `rest` within that item.
fn remove_item(
    out: &mut JsonText,
    array: JsonRef<'_>,
    place: i64,
    rest: Option<(&&str, &[&str])>,
) -> Result<(), &'static str> {
    let len = array.items().count() as i64;
    let place = if place < 0 { len.saturating_add(place) } else { place };
    out.open('[');
    for (at, value) in array.items().enumerate() {
        match rest {
            _ if at as i64 != place => item(out, value.raw()),
            None => {}
            Some((next, rest)) => {
                remove_path(out, value, next, rest)?;
                out.comma();
            }
        }
    }
    out.close(']');
    Ok(())
}

fn member(out: &mut JsonText, key: &str, value: &str) {
    out.key(key);
    item(out, value);
}

fn item(out: &mut JsonText, value: &str) {
    out.raw(value);
    out.comma();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edited: Edited, expected: Result<&str, &'static str>) {
        assert_eq!(edited.as_deref().map_err(|words| *words), expected);
    }

    #[test]
    fn documents_are_joined_as_postgresql_joins_them() {
        check(
            concat(r#"{"a": 1.50, "b": 2}"#, r#"{"b": [3], "c": "x"}"#),
            Ok(r#"{"a":1.50,"b":[3],"c":"x"}"#),
        );
        check(concat("[1, 2]", "[3]"), Ok("[1,2,3]"));
        check(concat("[1]", r#"{"a": 1}"#), Ok(r#"[1,{"a": 1}]"#));
        check(concat("1", "2"), Ok("[1,2]"));
        check(concat("{}", "{}"), Ok("{}"));
        check(concat("{", "1"), Err(NO_JSON));
    }

    #[test]
    fn members_and_items_are_deleted() {
        check(delete_key(r#"{"a": 1, "b": 2}"#, "a"), Ok(r#"{"b":2}"#));
        check(delete_key(r#"["a", "b", 1, "a"]"#, "a"), Ok(r#"["b",1]"#));
        check(delete_key("1", "a"), Err(SCALAR));
        check(delete_elem("[1, 2, 3]", 1), Ok("[1,3]"));
        check(delete_elem("[1, 2, 3]", -1), Ok("[1,2]"));
        check(delete_elem("[1]", -9), Ok("[1]"));
        check(delete_elem("{}", 0), Err(OBJECT));
        check(delete_elem("\"x\"", 0), Err(SCALAR));
    }

    #[test]
    fn what_a_path_leads_to_is_deleted() {
        let document = r#"{"a": {"b": [1, {"c": 2}, 3]}, "d": 1}"#;
        check(delete_path(document, r#"["a", "b", "1", "c"]"#), Ok(r#"{"a":{"b":[1,{},3]},"d":1}"#));
        check(delete_path(document, r#"["a", "b", "-1"]"#), Ok(r#"{"a":{"b":[1,{"c": 2}]},"d":1}"#));
        check(delete_path(document, r#"["d"]"#), Ok(r#"{"a":{"b": [1, {"c": 2}, 3]}}"#));
        check(delete_path(document, r#"["x", "y"]"#), Ok(r#"{"a":{"b": [1, {"c": 2}, 3]},"d":1}"#));
        check(delete_path(document, r#"["d", "y"]"#), Ok(r#"{"a":{"b": [1, {"c": 2}, 3]},"d":1}"#));
        check(delete_path(document, "[]"), Ok(document));
        check(delete_path(document, r#"["a", "b", "c"]"#), Err(NO_PLACE));
        check(delete_path("1", r#"["a"]"#), Err(SCALAR));
    }
}
