//! Identity of an operation, without its request for a fresh answer.
//!
//! Whoever asks with `@cached(refresh: true)` makes the answer for those who ask without, so both need one key. The stem is
//! that key's part of the text: all of it but the argument, and the variable that is used for nothing else.
//!
//! **Invariant:** operations of one engine with equal stems have plans that answer alike for equal values of the variables
//! that are left.
//!
//! **Cost:** one pass over the text, once per plan of an operation that has a wish.

use crate::source::Protocol;
use sha2::{Digest, Sha256};
use weir_language::ast::{Argument, Directive, Document, ValueId, VariableDefinition};
use weir_language::span::Span;
use weir_language::validate::Selected;

/// The part of a cache key that stands for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheIdentity {
    /// Of all that is left. Nobody can find two texts with one, so none gets another's answers.
    pub(crate) digest: [u8; 32],
    /// The variable that is left out.
    pub(crate) idle: Option<u32>,
}

/// The stem of the operation with the directive `directive`, whose argument `refresh` is left out.
pub(super) fn cache_identity(
    selected: &Selected<'_, '_>,
    directive: &Directive,
    refresh: Option<&Argument>,
    protocol: Protocol,
) -> CacheIdentity {
    let document = selected.valid().document();
    let idle = refresh.and_then(|it| idle_variable(selected, it));
    let mut hasher = Sha256::new();
    let protocol = match protocol {
        Protocol::GraphqlOverHttp => "spec",
        Protocol::Hasura => "hasura",
    };
    // The name selects one of several operations in the text.
    add(&mut hasher, &[protocol, document.str(selected.operation().ast.name)]);
    let variables = selected.variables().iter().enumerate();
    let variables = variables.filter(|it| idle != Some(it.0 as u32));
    add(&mut hasher, &variables.map(|it| document.str(it.1.span)).collect::<Vec<_>>());
    let arguments = document.list(directive.arguments).iter();
    let arguments = arguments.filter(|it| refresh.is_none_or(|refresh| refresh.span != it.span));
    add(&mut hasher, &arguments.map(|it| document.str(it.span)).collect::<Vec<_>>());
    add(&mut hasher, &around(document, selected.variables(), directive));
    CacheIdentity { digest: hasher.finalize().into(), idle }
}

/// The variable at the argument `refresh`, if it stands nowhere else.
fn idle_variable(selected: &Selected<'_, '_>, refresh: &Argument) -> Option<u32> {
    let wanted = selected.variable(refresh.value)?;
    let values = selected.valid().document().values.len() as u32;
    let uses = (0..values).filter(|&it| selected.variable(ValueId(it)) == Some(wanted)).count();
    (uses == 1).then_some(wanted)
}

/// The text before the variables, between them and `directive`, and after that. A list of no variables and none are the same.
fn around<'t>(
    document: &Document<'t>,
    variables: &[VariableDefinition],
    directive: &Directive,
) -> Vec<&'t str> {
    let list = variables.first().zip(variables.last()).map(|it| (it.0.span.start, it.1.span.end));
    let mut at = 0;
    let mut out = Vec::with_capacity(3);
    let text_end = document.text.len() as u32;
    let cuts = list.into_iter().chain([(directive.span.start, directive.span.end), (text_end, text_end)]);
    for (start, end) in cuts {
        let bracket = |it: char| it.is_whitespace() || matches!(it, '(' | ')' | ',');
        out.push(document.str(Span::new(at, start)).trim_matches(bracket));
        at = end;
    }
    out.retain(|it| !it.is_empty());
    out
}

/// Adds `texts` so that no other list of texts adds the same.
fn add(hasher: &mut Sha256, texts: &[&str]) {
    hasher.update((texts.len() as u64).to_le_bytes());
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
}
