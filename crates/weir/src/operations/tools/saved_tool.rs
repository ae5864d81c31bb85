//! The operations of a saved document that could be tools: names and descriptions that agents take.

use weir_engine::source::Protocol;
use weir_language::ast::{Definition, Document, Operation, OperationKind};
use weir_language::limits::Limits;
use weir_language::parser::{self, Edition};

/// Longest name of a tool, in bytes: longer ones are refused by interfaces of models. Source: Anthropic's API.
const NAME_BYTES_MAX: usize = 64;

/// A query that could be a tool.
pub(crate) struct SavedQuery<'c> {
    pub(crate) name: &'c str,
    pub(crate) text: &'c str,
    /// Description by the operator.
    pub(crate) comment: Option<&'c str>,
    /// Edition of the language and reading rules of the document.
    pub(crate) protocol: Protocol,
}

/// One operation that could be a tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SavedTool {
    pub(super) name: Box<str>,
    pub(super) text: Box<str>,
    /// Name of the operation, if the document has several.
    pub(super) operation_name: Option<Box<str>>,
    pub(super) description: Option<Box<str>>,
    /// Names of its variables.
    pub(super) arguments: Box<[Box<str>]>,
    pub(super) is_mutation: bool,
    pub(super) protocol: Protocol,
}

/// The tools of one document: one of each operation but subscriptions.
pub(super) fn read_tools(query: &SavedQuery<'_>) -> Vec<SavedTool> {
    let Ok(document) = parser::parse_edition(query.text, &Limits::NONE, Edition::September2026) else {
        return Vec::new();
    };
    let operations: Vec<Operation> = document
        .definitions
        .iter()
        .filter_map(|it| match it {
            Definition::Operation(operation) => Some(*operation),
            Definition::Fragment(_)
            | Definition::Schema(_)
            | Definition::Type(_)
            | Definition::Directive(_) => None,
        })
        .collect();
    let is_only = operations.len() == 1;
    let served = operations.iter().filter(|it| it.kind != OperationKind::Subscription);
    let tools = served.filter_map(|operation| {
        let own_name = document.str(operation.name);
        let variables = document.list(operation.variables);
        let name = tool_name(if is_only { query.name } else { own_name })?;
        let comment = query.comment.map(str::trim).filter(|it| !it.is_empty());
        let description =
            comment.map(str::to_owned).or_else(|| written_description(&document, operation)).map(Into::into);
        Some(SavedTool {
            name,
            text: query.text.into(),
            operation_name: (!is_only).then(|| own_name.into()),
            description,
            arguments: variables.iter().map(|it| document.str(it.name).into()).collect(),
            is_mutation: operation.kind == OperationKind::Mutation,
            protocol: query.protocol,
        })
    });
    tools.collect()
}

/// The name of a tool for the operation `name`: letters, digits, `_` and `-`.
fn tool_name(name: &str) -> Option<Box<str>> {
    let allowed = |it: char| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' };
    let name: String = name.chars().map(allowed).take(NAME_BYTES_MAX).collect();
    (!name.trim_matches('_').is_empty()).then(|| name.into())
}

/// The description of an operation, or the comment before it.
fn written_description(document: &Document<'_>, operation: &Operation) -> Option<String> {
    let text = match operation.description {
        Some(description) => document.string(description).into_owned(),
        None => {
            let before = &document.text[..operation.span.start as usize];
            let comment = |it: &str| it.trim().strip_prefix('#').map(|it| it.trim().to_owned());
            let lines = before.lines().rev().skip_while(|it| it.trim().is_empty()).map_while(comment);
            let mut lines: Vec<String> = lines.collect();
            lines.reverse();
            lines.join("\n")
        }
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
