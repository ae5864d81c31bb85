//! Cache directive of an operation: Hasura's `query @cached(ttl: 60)`, or Dgraph's `@cacheControl(maxAge: 60)`.
//!
//! The directive applies if a source's schema has it. It sets the lifetime of parts that have none, up to [`TTL_S_MAX`].

use super::cache_identity::{CacheIdentity, cache_identity};
use crate::request::protocol::Protocol;
use weir_language::ast::{Argument, ValueKind};
use weir_language::validate::Selected;
use weir_language::value::{Node, Variables};

/// Upper bound of the TTL, in seconds.
const TTL_S_MAX: u32 = 3600;
/// TTL of `@cached` without `ttl`. Source: Hasura's documentation of the directive.
const TTL_S_DEFAULT: i64 = 60;

/// Cache directive of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheDirective {
    seconds: DirectiveValue<i64>,
    refresh: DirectiveValue<bool>,
    /// The operation but for `refresh`.
    pub(crate) cache_identity: CacheIdentity,
}

/// A value of a directive's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DirectiveValue<T> {
    /// A literal in the request.
    Literal(T),
    /// A variable, by number.
    Variable(u32),
}

/// The operation's cache directive, if it has one.
pub(in crate::plan) fn cache_directive(
    selected: &Selected<'_, '_>,
    protocol: Protocol,
) -> Option<CacheDirective> {
    let document = selected.valid().document();
    let directives = document.list(selected.operation().ast.directives);
    let directive =
        directives.iter().find(|it| matches!(document.str(it.name), "cached" | "cacheControl"))?;
    let arguments = document.list(directive.arguments);
    let given = |names: &[&str]| arguments.iter().find(|it| names.contains(&document.str(it.name)));
    let variable = |it: &Argument| match document.value(it.value).kind {
        ValueKind::Variable(_) => selected.variable(it.value),
        _ => None,
    };
    let seconds = match given(&["ttl", "maxAge"]) {
        None => DirectiveValue::Literal(TTL_S_DEFAULT),
        Some(argument) => match variable(argument) {
            Some(number) => DirectiveValue::Variable(number),
            None => DirectiveValue::Literal(document.string(argument.value).parse().unwrap_or(TTL_S_DEFAULT)),
        },
    };
    let argument = given(&["refresh"]);
    let refresh = match argument {
        None => DirectiveValue::Literal(false),
        Some(argument) => match variable(argument) {
            Some(number) => DirectiveValue::Variable(number),
            None => DirectiveValue::Literal(matches!(
                document.value(argument.value).kind,
                ValueKind::Boolean(true)
            )),
        },
    };
    Some(CacheDirective {
        seconds,
        refresh,
        cache_identity: cache_identity(selected, directive, argument, protocol),
    })
}

impl CacheDirective {
    /// The seconds, for these variables.
    pub(crate) fn seconds(self, variables: &Variables) -> u32 {
        let seconds = match self.seconds {
            DirectiveValue::Literal(seconds) => seconds,
            DirectiveValue::Variable(number) => match variables.node(number) {
                Node::Int(seconds) => seconds,
                _ => TTL_S_DEFAULT,
            },
        };
        u32::try_from(seconds.max(0)).map_or(TTL_S_MAX, |it| it.min(TTL_S_MAX))
    }

    /// True if a cached answer has to be replaced.
    pub(crate) fn refreshes(self, variables: &Variables) -> bool {
        match self.refresh {
            DirectiveValue::Literal(refresh) => refresh,
            DirectiveValue::Variable(number) => variables.node(number) == Node::Bool(true),
        }
    }
}
