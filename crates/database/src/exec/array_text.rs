//! PostgreSQL's text of an array, item by item, for values that are a list in every database: `{1,2,"a b"}`.
//!
//! Source: PostgreSQL's manual, 8.15.6. Dimensions are flattened: a comparison with any item does not look at them.

use std::borrow::Cow;
use std::str::Chars;

/// The items of the array `text`, `None` for a null; nothing if it is no array.
pub(crate) fn items(text: &str) -> Option<Vec<Option<Cow<'_, str>>>> {
    let text = text.trim();
    let mut rest = text.chars();
    let mut items = Vec::new();
    let mut depth = 0_u32;
    (rest.next() == Some('{')).then_some(())?;
    depth += 1;
    // An item may come, or the end of an empty array.
    let mut expects_item = true;
    while depth > 0 {
        let at = rest.as_str().trim_start();
        rest = at.chars();
        match rest.next()? {
            '{' if expects_item => depth += 1,
            '}' if !expects_item || ends_empty(text, at) => {
                depth -= 1;
                expects_item = false;
            }
            ',' if !expects_item => expects_item = true,
            '"' if expects_item => {
                items.push(Some(read_quoted_item(&mut rest)?));
                expects_item = false;
            }
            '{' | '}' | ',' | '"' => return None,
            _ if expects_item => {
                rest = at.chars();
                items.push(bare(&mut rest)?);
                expects_item = false;
            }
            _ => return None,
        }
    }
    rest.as_str().trim().is_empty().then_some(items)
}

/// True if nothing but blanks stands between the last `{` before `at` and `at`.
fn ends_empty(text: &str, at: &str) -> bool {
    text[..text.len() - at.len()].trim_end().ends_with('{')
}

/// Reads the rest of a quoted item, after the opening quote.
fn read_quoted_item<'t>(rest: &mut Chars<'t>) -> Option<Cow<'t, str>> {
    let mut out = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(out.into()),
            '\\' => out.push(rest.next()?),
            other => out.push(other),
        }
    }
}

/// An item without quotes; blanks around it do not count.
fn bare<'t>(rest: &mut Chars<'t>) -> Option<Option<Cow<'t, str>>> {
    let text = rest.as_str();
    let end = text.find(['{', '}', ',', '"', '\\'])?;
    let (item, after) = text.split_at(end);
    // A backslash is of no use in names and numbers.
    if after.starts_with(['{', '"', '\\']) {
        return None;
    }
    *rest = after.chars();
    let item = item.trim_end();
    Some((!item.eq_ignore_ascii_case("null")).then_some(item.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&[Option<&str>]>) {
        let found = items(text);
        let found: Option<Vec<Option<&str>>> =
            found.as_ref().map(|it| it.iter().map(Option::as_deref).collect());
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn items_are_those_of_postgresql() {
        check("{}", Some(&[]));
        check(" { } ", Some(&[]));
        check("{1, 2 ,-3}", Some(&[Some("1"), Some("2"), Some("-3")]));
        check(
            r#"{a b,"c, d","e\"f",NULL,"null",""}"#,
            Some(&[Some("a b"), Some("c, d"), Some("e\"f"), None, Some("null"), Some("")]),
        );
        check("{{1,2},{3,4}}", Some(&[Some("1"), Some("2"), Some("3"), Some("4")]));
        for wrong in ["", "1", "{1", "{1,}", "{,1}", "{1}2", "{1 \"2\"}", "{\"a}", "[1]", "{1}}", "{1,,2}"] {
            check(wrong, None);
        }
    }
}
