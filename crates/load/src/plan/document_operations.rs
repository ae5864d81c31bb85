//! The operations of a GraphQL document: a scan of its top level, without a parser.
//!
//! Comments above an operation may say more of it: `# variables: {"id": "$(between 1 500)"}`, `# weight: 3`.

use crate::result::OperationKind;

/// An operation of a document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// Empty if the document does not name it.
    pub name: String,
    pub kind: OperationKind,
    /// The text behind `# variables:` above it.
    pub variables: Option<String>,
    /// The text behind `# weight:` above it.
    pub weight: Option<String>,
}

/// The operations, in their order.
pub(super) fn operations(text: &str) -> Result<Vec<Definition>, String> {
    let mut found: Vec<Definition> = Vec::new();
    let mut depth = 0_usize;
    let mut rest = text;
    let mut variables = None;
    let mut weight = None;
    let mut is_ended = true;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '#' => {
                length = rest.find('\n').unwrap_or(rest.len());
                let comment = rest[1..length].trim();
                if depth == 0 && is_ended {
                    variables = comment.strip_prefix("variables:").map(|it| it.trim().into()).or(variables);
                    weight = comment.strip_prefix("weight:").map(|it| it.trim().into()).or(weight);
                }
            }
            '"' => length = string_length(rest)?,
            '{' | '(' | '[' => {
                if depth == 0 && first == '{' && is_ended {
                    let variables = variables.take();
                    let weight = weight.take();
                    found.push(Definition {
                        name: String::new(),
                        kind: OperationKind::Query,
                        variables,
                        weight,
                    });
                }
                is_ended = false;
                depth += 1;
            }
            '}' | ')' | ']' => {
                depth = depth.checked_sub(1).ok_or_else(|| format!("a `{first}` closes nothing"))?;
                is_ended = depth == 0 && first == '}';
            }
            _ if depth == 0 && is_ended && first.is_alphabetic() => {
                length = word(rest).len();
                let kind = operation_kind(&rest[..length])?;
                let variables = variables.take();
                let weight = weight.take();
                if let Some(kind) = kind {
                    let name = word(rest[length..].trim_start()).to_owned();
                    found.push(Definition { name, kind, variables, weight });
                }
                is_ended = false;
            }
            _ => {}
        }
        rest = &rest[length..];
    }
    match depth {
        0 if found.is_empty() => Err("there is no operation in it".into()),
        0 => Ok(found),
        _ => Err("a `}` is missing at the end".into()),
    }
}

/// The kind of the operation that begins with `word`; nothing for a fragment.
fn operation_kind(word: &str) -> Result<Option<OperationKind>, String> {
    match word {
        "query" => Ok(Some(OperationKind::Query)),
        "mutation" => Ok(Some(OperationKind::Mutation)),
        "subscription" => Ok(Some(OperationKind::Subscription)),
        "fragment" => Ok(None),
        other => Err(format!("`{other}` begins no operation and no fragment")),
    }
}

fn word(text: &str) -> &str {
    &text[..text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len())]
}

/// Length of the string that `text` begins with, quotes included.
fn string_length(text: &str) -> Result<usize, String> {
    let (quote, escape) = if text.starts_with("\"\"\"") { ("\"\"\"", "\\\"\"\"") } else { ("\"", "\\") };
    let mut at = quote.len();
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(escape) {
            at += if quote.len() == 3 { 4 } else { 1 + rest[1..].chars().next().map_or(0, char::len_utf8) };
        } else if rest.starts_with(quote) {
            return Ok(at + quote.len());
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    Err("a string is not closed".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[(&str, OperationKind, &str)], &str>) {
        match (operations(text), expected) {
            (Ok(found), Ok(expected)) => {
                let found: Vec<_> = found
                    .iter()
                    .map(|it| (it.name.as_str(), it.kind, it.variables.as_deref().unwrap_or("")))
                    .collect();
                assert_eq!(found, expected, "{text}");
            }
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
            (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn operations_are_found_at_the_top_only() {
        use OperationKind::{Mutation, Query, Subscription};
        check("{ a }", Ok(&[("", Query, "")]));
        check(
            "query A($i: Int = 1, $o: O = {a: 1}) @x(b: {c: 1}) { query mutation }",
            Ok(&[("A", Query, "")]),
        );
        check(
            "# variables: {\"i\": 1}\n# weight: 2\nquery A { a(s: \"} \\\" query\") }\nfragment F on T { b }\nmutation M { m }",
            Ok(&[("A", Query, "{\"i\": 1}"), ("M", Mutation, "")]),
        );
        check("subscription S { s(t: \"\"\"} \"\" \\\"\"\" \"\"\") }", Ok(&[("S", Subscription, "")]));
        check("fragment F on T { a }", Err("no operation"));
        check("{ a", Err("`}` is missing"));
        check("} a", Err("closes nothing"));
        check("{ a(s: \"x) }", Err("not closed"));
        check("type A { a: Int }", Err("`type` begins no operation"));
    }
}
