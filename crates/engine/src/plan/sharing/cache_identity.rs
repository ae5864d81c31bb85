//! Identity of an operation, without its request for a fresh answer.
//!
//! A request with `@cached(refresh: true)` refreshes the entry of requests without it, so both need one key. The identity is the
//! text without that argument, and without a variable that is used only there.
//!
//! **Invariant:** operations of one engine with equal identities have plans with equal answers for equal values of the remaining
//! variables.
//!
//! **Cost:** one pass over the text, once per plan of an operation with a cache directive.

use crate::request::protocol::Protocol;
use sha2::{Digest, Sha256};
use weir_language::ast::{Argument, Directive, Document, ValueId, VariableDefinition};
use weir_language::span::Span;
use weir_language::validate::Selected;

/// Part of a cache key that identifies an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheIdentity {
    /// SHA-256 of the remaining text. Collisions cannot be constructed, so no text gets another's answers.
    pub(crate) digest: [u8; 32],
    /// Number of the variable that is left out.
    pub(crate) idle: Option<u32>,
}

/// Identity of the operation with the directive `directive`, without its argument `refresh`.
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
    add(&mut hasher, &split_around(document, selected.variables(), directive));
    CacheIdentity { digest: hasher.finalize().into(), idle }
}

/// The variable at the argument `refresh`, if it stands nowhere else.
fn idle_variable(selected: &Selected<'_, '_>, refresh: &Argument) -> Option<u32> {
    let wanted = selected.variable(refresh.value)?;
    let values = selected.valid().document().values.len() as u32;
    let uses = (0..values).filter(|&it| selected.variable(ValueId(it)) == Some(wanted)).count();
    (uses == 1).then_some(wanted)
}

/// Text before the variables, between them and `directive`, and after it. An empty variable list equals none.
fn split_around<'t>(
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

/// Adds `texts` with their lengths, so that different lists never hash alike.
fn add(hasher: &mut Sha256, texts: &[&str]) {
    hasher.update((texts.len() as u64).to_le_bytes());
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
}
