//! How long caches between us and the client may keep an answer: `query @cacheControl(maxAge: 60)`.
//!
//! A source whose schema has the directive lets its clients say so; the engine reads it and the transport writes it.

use weir_language::ast::ValueKind;
use weir_language::validate::Selected;
use weir_language::value::{Node, Variables};

/// The seconds that an operation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Written in the request.
    Seconds(u32),
    /// In this variable.
    Variable(u32),
}

/// What the operation says, if it says anything.
pub(super) fn keep(selected: &Selected<'_, '_>) -> Option<Keep> {
    let document = selected.valid().document();
    let directives = document.list(selected.operation().ast.directives);
    let directive = directives.iter().find(|it| document.str(it.name) == "cacheControl")?;
    let argument = document.list(directive.arguments).first()?;
    if let ValueKind::Variable(_) = document.value(argument.value).kind {
        return selected.variable(argument.value).map(Keep::Variable);
    }
    document.string(argument.value).parse().ok().map(seconds).map(Keep::Seconds)
}

impl Keep {
    /// The seconds, for these variables.
    pub(crate) fn seconds(self, variables: &Variables) -> Option<u32> {
        match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::Variable(number) => match variables.node(number) {
                Node::Int(value) => Some(seconds(value)),
                _ => None,
            },
        }
    }
}

/// Less than none is none.
fn seconds(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}
