//! Statements of subject, predicate and object, and how a line of N-Quads says one.

use super::cell_values;
use std::borrow::Cow;

/// A statement: subject, predicate, object.
#[derive(Debug, PartialEq)]
pub(super) struct Quad<'q> {
    pub(super) subject: i64,
    pub(super) predicate: Cow<'q, str>,
    pub(super) object: QuadObject<'q>,
    /// The statement has facets, which a store does not keep.
    pub(super) has_facets: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum QuadObject<'q> {
    Id(i64),
    Text(Cow<'q, str>),
}

/// Reads a line; nothing for an empty one or a comment.
pub(super) fn parse_line(line: &str) -> Result<Option<Quad<'_>>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (subject, rest) = node(line)?;
    let (predicate, rest) =
        split_angled(rest.trim_start()).ok_or("a predicate stands between `<` and `>`")?;
    let rest = rest.trim_start();
    let (object, rest) = match rest.strip_prefix('"') {
        Some(quoted) => literal(quoted)?,
        None => node(rest).map(|(id, rest)| (QuadObject::Id(id), rest))?,
    };
    let mut rest = rest.trim_start();
    if let Some((_, after)) = split_angled(rest) {
        // The namespace, which a store has none of.
        rest = after.trim_start();
    }
    let predicate = Cow::Borrowed(predicate);
    let facets = rest.strip_suffix('.').map(str::trim_end);
    match facets {
        Some("") => Ok(Some(Quad { subject, predicate, object, has_facets: false })),
        Some(facets) if facets.starts_with('(') && facets.ends_with(')') => {
            Ok(Some(Quad { subject, predicate, object, has_facets: true }))
        }
        _ => Err("a statement ends with ` .`".into()),
    }
}

fn split_angled(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('<')?.split_once('>')
}

fn node(text: &str) -> Result<(i64, &str), String> {
    match split_angled(text) {
        Some((name, rest)) => cell_values::id(name).map(|id| (id, rest)),
        None if text.starts_with("_:") => {
            Err("blank nodes have no number; load what `dgraph export` writes".into())
        }
        None => Err("a number stands between `<` and `>`".into()),
    }
}

/// A text behind its opening quote, with its type.
fn literal(quoted: &str) -> Result<(QuadObject<'_>, &str), String> {
    let bytes = quoted.as_bytes();
    let mut at = 0;
    let mut escapes = false;
    while at < bytes.len() && bytes[at] != b'"' {
        escapes |= bytes[at] == b'\\';
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    let inner = quoted.get(..at).ok_or("a text is not closed")?;
    let rest = quoted.get(at + 1..).ok_or("a text is not closed")?;
    let text = if escapes { Cow::Owned(unescape(inner)?) } else { Cow::Borrowed(inner) };
    if rest.starts_with('@') {
        return Err("texts of a language are not stored".into());
    }
    let rest = match rest.strip_prefix("^^") {
        Some(typed) => split_angled(typed).ok_or("a type stands between `<` and `>`")?.1,
        None => rest,
    };
    Ok((QuadObject::Text(text), rest))
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        let digits = match characters.next() {
            Some('n') => ('\n', 0),
            Some('r') => ('\r', 0),
            Some('t') => ('\t', 0),
            Some('b') => ('\u{8}', 0),
            Some('f') => ('\u{c}', 0),
            Some(same @ ('"' | '\'' | '\\')) => (same, 0),
            Some('u') => (' ', 4),
            Some('U') => (' ', 8),
            Some(_) | None => return Err("a `\\` stands before what is no escape".into()),
        };
        if digits.1 == 0 {
            out.push(digits.0);
            continue;
        }
        let hex: String = characters.by_ref().take(digits.1).collect();
        let found = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
        out.push(found.ok_or("an escape is no character")?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<(i64, &str, QuadObject<'_>), &str>) {
        match (parse_line(line), expected) {
            (Ok(Some(quad)), Ok((subject, predicate, object))) => {
                let has_facets = line.contains('(');
                let predicate = predicate.into();
                assert_eq!(quad, Quad { subject, predicate, object, has_facets }, "{line}");
            }
            (Err(why), Err(part)) => assert!(why.contains(part), "{line}: {why}"),
            (found, _) => panic!("{line}: {found:?}"),
        }
    }

    #[test]
    fn a_line_is_a_statement() {
        check("<0x1> <Dish.cuisine> <0x1f> .", Ok((1, "Dish.cuisine", QuadObject::Id(31))));
        check(
            "<0x1> <Dish.price> \"12.5\"^^<xs:float> <0x0> .",
            Ok((1, "Dish.price", QuadObject::Text("12.5".into()))),
        );
        check(r#"<0x2> <A.b> "x \"y\" \u00e9\n" ."#, Ok((2, "A.b", QuadObject::Text("x \"y\" é\n".into()))));
    }

    #[test]
    fn facets_are_left_out() {
        check("<0x1> <A.b> <0x2> <0x0> (since=2006-01-02T15:04:05) .", Ok((1, "A.b", QuadObject::Id(2))));
        check(
            r#"<0x1> <A.b> "x"^^<xs:string> (a="b) .",c=true) ."#,
            Ok((1, "A.b", QuadObject::Text("x".into()))),
        );
    }

    #[test]
    fn what_has_no_place_in_a_store_is_refused() {
        check("<0x1> <A.b> \"x\"@en .", Err("language"));
        check("<0x1> <A.b> <0x2> (since=2006 .", Err("ends with"));
        check("_:b <A.b> \"x\" .", Err("blank nodes"));
        check("<0x1> <A.b> \"x", Err("not closed"));
        check("<0x1> <A.b> \"x\"", Err("ends with"));
    }
}
