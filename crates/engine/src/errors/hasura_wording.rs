//! Hasura v2's messages, codes and paths for errors that do not come from a source.
//!
//! The validator uses graphql-js's messages. Where Hasura has its own message for an error, it is built from the quoted names;
//! other messages stay unchanged.
//!
//! Source: `docs/endpoints.md`.

use super::{Failure, PathStep};
use weir_language::ast::{Argument, Definition, Document, List, Selection, ValueId, ValueKind};
use weir_language::error::Code;
use weir_language::limits::Limits;
use weir_language::parser;

/// Upper bound of fragments in a path: each costs a search of the document, and fragments may form a cycle.
const FRAGMENTS_SHOWN_MAX: u32 = 20;

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
    let mut path = failure.hasura_path.clone().unwrap_or_else(|| path(text, failure));
    let mut message = hasura_message(&failure.message).map_or_else(|| failure.message.clone(), Into::into);
    if let Some(name) = input_named(&message) {
        let is_inside = path.contains(".args") || path.starts_with("$.variables.");
        let args = if is_inside { "" } else { ".args" };
        path = format!("{path}{args}.{name}").into();
    }
    if path.ends_with(".args.limit") && message.starts_with("expected a 32-bit integer") {
        message = message.replacen("a 32-bit", "a non-negative 32-bit", 1).into();
    }
    let outside = number_outside(&message);
    if let (Some(number), true) = (outside, path.ends_with(".args.limit")) {
        let found = if number.ends_with(".0") || number.contains('e') { "an integer" } else { "a float" };
        message = format!("expected a non-negative 32-bit integer for type 'Int', but found {found}").into();
        return Words { message, path, code: code(failure.code) };
    }
    let code = if outside.is_some() { "parse-failed" } else { code(failure.code) };
    Words { message, path, code }
}

/// The number in a message about an integer out of range.
fn number_outside(message: &str) -> Option<&str> {
    let (number, rest) = message.strip_prefix("The value ")?.split_once(' ')?;
    rest.starts_with("lies outside the bounds").then_some(number)
}

/// The argument or input field whose place is one step below the value that is complained about.
fn input_named(message: &str) -> Option<&str> {
    let missing = message.strip_prefix("missing required field '").and_then(|it| it.strip_suffix('\''));
    missing.or_else(|| {
        let (name, ty) = message.strip_prefix("field '")?.split_once("' not found in type: '")?;
        let inputs = ["_input'", "_bool_exp'", "_exp'", "_order_by'", "_on_conflict'", "_updates'"];
        inputs.iter().any(|it| ty.ends_with(it)).then_some(name)
    })
}

/// The stable codes of this engine in Hasura's; what a source says in Hasura's own stays.
fn code(code: &'static str) -> &'static str {
    match code {
        "SOURCE_TIMEOUT" => "timeout",
        "COST_ESTIMATED_TOO_EXPENSIVE" => "cost-limit-exceeded",
        "COST_INVALID_SLICING_ARGUMENTS" => "validation-failed",
        "INTROSPECTION_DISABLED" => "validation-failed",
        _ if code.starts_with("GRAPHQL_") || code.starts_with("LIMIT_") => "validation-failed",
        "BAD_USER_INPUT" | "OPERATION_RESOLUTION_FAILURE" => "validation-failed",
        // A deferred constraint fails at commit, where the request's protocol is not known.
        "FOREIGN_KEY_VIOLATION" => "constraint-violation",
        "METHOD_NOT_ALLOWED" | "SUBSCRIPTIONS_UNSUPPORTED" => "not-supported",
        _ if code.bytes().all(|it| it.is_ascii_uppercase() || it == b'_') => "unexpected",
        _ => code,
    }
}

/// Hasura's wording for a graphql-js message, if Hasura has one.
fn hasura_message(message: &str) -> Option<String> {
    let names: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
    let begins = |start: &str| message.starts_with(start);
    match *names.as_slice() {
        [field, ty, ..] if begins("Cannot query field") => {
            Some(format!("field '{field}' not found in type: '{ty}'"))
        }
        [place, ..] if begins("Argument ") && message.contains(" is required, but ") => {
            let name = place.split_once('(').map_or(place, |it| it.1.trim_end_matches([':', ')']));
            Some(format!("missing required field '{name}'"))
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
        [] if message == "The mutation operation is not supported by the schema." => {
            Some("no mutations exist".into())
        }
        [field, ..] if begins("GraphQL introspection has been disabled") => {
            Some(format!("field '{field}' not found in type: 'query_root'"))
        }
        [_, ty, ..] if message.ends_with("must not be null.") => {
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

/// The selections around the first of the failure's places that lies in some. Parses once more: for errors only.
fn path_to(text: &str, failure: &Failure) -> Option<Box<str>> {
    let document = parser::parse(text, &Limits::NONE).ok()?;
    // A complaint about a variable stands at its definition first and then at its use.
    let mut paths = failure.spans.iter().take(2).filter_map(|span| path_from_root(&document, span.start));
    let first = paths.next()?;
    if first == "$" { Some(paths.next().unwrap_or(first).into()) } else { Some(first.into()) }
}

/// The way from the operation to byte `at`; a fragment on it is a step with its name.
fn path_from_root(document: &Document<'_>, mut at: u32) -> Option<String> {
    let mut steps = Vec::new();
    for _ in 0..FRAGMENTS_SHOWN_MAX {
        let (fragment, selections) = definition(document, at)?;
        steps.push(path_below(document, selections, at));
        let Some(fragment) = fragment else { break };
        let mut spreads = document.selections.iter().filter_map(|it| match it {
            Selection::Spread(spread) => Some(spread),
            Selection::Field(_) | Selection::Inline(_) => None,
        });
        let Some(spread) = spreads.find(|it| document.str(it.name) == fragment) else { break };
        at = spread.span.start;
    }
    steps.push("$".into());
    steps.reverse();
    Some(steps.concat())
}

/// The definition around byte `at`: its name if it is a fragment, and its selections.
fn definition<'d>(document: &'d Document<'_>, at: u32) -> Option<(Option<&'d str>, List<Selection>)> {
    document.definitions.iter().find_map(|it| match it {
        Definition::Operation(operation) if holds(operation.span, at) => Some((None, operation.selections)),
        Definition::Fragment(fragment) if holds(fragment.span, at) => {
            Some((Some(document.str(fragment.name)), fragment.selections))
        }
        Definition::Operation(_)
        | Definition::Fragment(_)
        | Definition::Schema(_)
        | Definition::Type(_)
        | Definition::Directive(_) => None,
    })
}

/// The way through `list` to byte `at`.
fn path_below(document: &Document<'_>, mut list: List<Selection>, at: u32) -> String {
    let mut path = String::new();
    let mut arguments = List::default();
    while let Some(step) = step(document, list, at) {
        path.push_str(".selectionSet");
        if let Some(name) = step.name {
            path.push('.');
            path.push_str(name);
        }
        (list, arguments) = (step.below, step.arguments);
    }
    path_in_arguments(document, arguments, at, &mut path);
    path
}

struct PathTo<'d> {
    name: Option<&'d str>,
    below: List<Selection>,
    arguments: List<Argument>,
}

/// The selection of `list` that holds byte `at`.
fn step<'d>(document: &'d Document<'_>, list: List<Selection>, at: u32) -> Option<PathTo<'d>> {
    document.list(list).iter().find_map(|selection| match selection {
        Selection::Field(field) => holds(field.span, at).then(|| PathTo {
            name: Some(document.str(field.key())),
            below: field.selections,
            arguments: field.arguments,
        }),
        Selection::Inline(inline) => holds(inline.span, at).then(|| PathTo {
            name: None,
            below: inline.selections,
            arguments: List::default(),
        }),
        Selection::Spread(spread) => holds(spread.span, at).then(|| PathTo {
            name: Some(document.str(spread.name)),
            below: List::default(),
            arguments: List::default(),
        }),
    })
}

/// Appends `.args.where.id._eq` for a place inside the value of an argument; the name of one is its field's matter.
fn path_in_arguments(document: &Document<'_>, arguments: List<Argument>, at: u32, path: &mut String) {
    let inside = |value: ValueId| holds(document.value(value).span, at);
    let Some(argument) = document.list(arguments).iter().find(|it| inside(it.value)) else { return };
    path.push_str(".args.");
    path.push_str(document.str(argument.name));
    let mut value = argument.value;
    loop {
        match document.value(value).kind {
            ValueKind::Object(fields) => {
                let Some(field) = document.list(fields).iter().find(|it| holds(it.span, at)) else { return };
                path.push('.');
                path.push_str(document.str(field.name));
                value = field.value;
            }
            ValueKind::List(items) => {
                let mut items = items.range().map(|it| ValueId(it as u32)).enumerate();
                let Some((index, item)) = items.find(|it| inside(it.1)) else { return };
                path.push_str(&format!("[{index}]"));
                value = item;
            }
            ValueKind::Variable(_)
            | ValueKind::Int
            | ValueKind::Float
            | ValueKind::String { .. }
            | ValueKind::Block
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::Enum => return,
        }
    }
}

fn holds(span: weir_language::span::Span, at: u32) -> bool {
    (span.start..span.end).contains(&at)
}
