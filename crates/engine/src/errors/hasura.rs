//! Hasura v2's words, codes and paths for errors that are not a source's own.
//!
//! The validator speaks graphql-js's words; where Hasura has words of its own for the same fact they are made from the names
//! between the quotes. Anything else keeps its words.
//!
//! Source: `docs/accents.md`.

use super::{Failure, PathStep};
use std::borrow::Cow;
use weir_language::ast::{Definition, Document, List, Selection};
use weir_language::error::Code;
use weir_language::limits::Limits;
use weir_language::parser;

/// An error as Hasura says it.
pub(super) struct Words {
    pub(super) message: Box<str>,
    pub(super) path: Box<str>,
    pub(super) code: &'static str,
}

/// Says `failure` of a request with `text`.
pub(super) fn words(text: &str, failure: &Failure) -> Words {
    if failure.code == Code::Syntax.text() {
        let message = "not a valid graphql query".into();
        return Words { message, path: "$.query".into(), code: "validation-failed" };
    }
    let message = reworded(&failure.message).map_or_else(|| failure.message.clone(), Into::into);
    let path = failure.hasura_path.clone().unwrap_or_else(|| path(text, failure));
    Words { message, path, code: code(failure.code) }
}

/// The stable codes of this engine in Hasura's; what a source says in Hasura's own stays.
fn code(code: &'static str) -> &'static str {
    match code {
        "SOURCE_TIMEOUT" => "timeout",
        "INTROSPECTION_DISABLED" => "validation-failed",
        _ if code.starts_with("GRAPHQL_") || code.starts_with("LIMIT_") => "validation-failed",
        "BAD_USER_INPUT" | "OPERATION_RESOLUTION_FAILURE" => "validation-failed",
        "METHOD_NOT_ALLOWED" | "SUBSCRIPTIONS_UNSUPPORTED" => "not-supported",
        _ if code.bytes().all(|it| it.is_ascii_uppercase() || it == b'_') => "unexpected",
        _ => code,
    }
}

/// The same fact in Hasura's words, if it has some.
fn reworded(message: &str) -> Option<String> {
    let names: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
    let begins = |start: &str| message.starts_with(start);
    match *names.as_slice() {
        [field, ty, ..] if begins("Cannot query field") => {
            Some(format!("field '{field}' not found in type: '{ty}'"))
        }
        [argument, place, ..] if begins("Unknown argument") => {
            let field = place.rsplit('.').next().unwrap_or(place);
            Some(format!("'{field}' has no argument named '{argument}'"))
        }
        [field, ty, ..] if begins("Field ") && message.contains("is not defined by type") => {
            Some(format!("field '{field}' not found in type: '{ty}'"))
        }
        [_, ty, ..] if begins("Field ") && message.contains("must have a selection of subfields") => {
            Some(format!("missing selection set for '{}'", ty.trim_matches(['[', ']', '!'])))
        }
        [..] if begins("Field ") && message.contains("must not have a selection") => {
            Some("unexpected subselection set for non-object field".into())
        }
        [name, is, wanted, ..] if begins("Variable ") && message.contains("used in position expecting") => {
            let name = name.trim_start_matches('$');
            Some(format!("variable '{name}' is declared as '{is}', but used where '{wanted}' is expected"))
        }
        [name, ..] if begins("Variable ") && message.ends_with("was not provided.") => {
            Some(format!("expecting a value for non-nullable variable: \"{}\"", name.trim_start_matches('$')))
        }
        [name, ty, ..] if begins("Variable ") && message.ends_with("must not be null.") => {
            let _ = name;
            Some(format!("null value found for non-nullable type: \"{ty}\""))
        }
        _ => None,
    }
}

/// `$.selectionSet.album.selectionSet.title`, by the path in the answer or by the place in the text.
fn path(text: &str, failure: &Failure) -> Box<str> {
    if failure.path.is_empty() {
        return path_to(text, failure).unwrap_or_else(|| "$".into());
    }
    let mut path = String::from("$");
    for step in &failure.path {
        match step {
            PathStep::Key(key) => {
                path.push_str(".selectionSet.");
                path.push_str(key);
            }
            PathStep::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path.into()
}

/// The selections around the failure's first place. Parses once more: for errors only.
fn path_to(text: &str, failure: &Failure) -> Option<Box<str>> {
    let at = failure.spans.first()?.start;
    let document = parser::parse(text, &Limits::NONE).ok()?;
    let definition = document.definitions.iter().find_map(|it| match it {
        Definition::Operation(operation) if holds(operation.span, at) => Some((None, operation.selections)),
        Definition::Fragment(fragment) if holds(fragment.span, at) => {
            Some((Some(fragment.name), fragment.selections))
        }
        Definition::Operation(_)
        | Definition::Fragment(_)
        | Definition::Schema(_)
        | Definition::Type(_)
        | Definition::Directive(_) => None,
    })?;
    let mut path = String::from("$");
    if let Some(fragment) = definition.0 {
        path.push('.');
        path.push_str(document.str(fragment));
    }
    let mut list = definition.1;
    while let Some((name, below)) = step(&document, list, at) {
        path.push_str(".selectionSet");
        if let Some(name) = name {
            path.push('.');
            path.push_str(&name);
        }
        list = below;
    }
    Some(path.into())
}

/// The selection of `list` that holds byte `at`: its name and what is below it.
fn step<'d>(
    document: &'d Document<'_>,
    list: List<Selection>,
    at: u32,
) -> Option<(Option<Cow<'d, str>>, List<Selection>)> {
    document.list(list).iter().find_map(|selection| match selection {
        Selection::Field(field) => {
            holds(field.span, at).then(|| (Some(document.str(field.key()).into()), field.selections))
        }
        Selection::Inline(inline) => holds(inline.span, at).then_some((None, inline.selections)),
        Selection::Spread(spread) => {
            holds(spread.span, at).then(|| (Some(document.str(spread.name).into()), List::default()))
        }
    })
}

fn holds(span: weir_language::span::Span, at: u32) -> bool {
    (span.start..span.end).contains(&at)
}
