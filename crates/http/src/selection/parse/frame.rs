//! Stack frames of the parser, and its next actions.

use super::super::method::Method;
use super::super::{ExprId, Grammar, Member, Start, Step};
use weir_language::span::Span;

/// An open construct.
pub(super) enum Frame {
    /// `id name: …`, up to `}` or the end of the text.
    Members(Members),
    /// `{a: …, b: …}`.
    Object { start: u32, members: Vec<(Box<str>, ExprId)>, key: Box<str> },
    /// `[a, b]`.
    Array { start: u32, items: Vec<ExprId> },
    /// `->name(a, b)` of the path in the frame below.
    Arguments { method: CalledMethod, span: Span, items: Vec<ExprId> },
    /// `$(a)`.
    Paren { start: u32 },
    /// A path whose steps are being read.
    Path(Path),
    /// `a ?? b` and, if `missing`, `a ?! b`.
    Choices { start: u32, choices: Vec<ExprId>, missing: bool },
}

/// The method of a call, by its name.
pub(super) enum CalledMethod {
    Known(Method),
    Unknown(Box<str>),
    /// `->as($name, …)`.
    Binding(Box<str>),
}

pub(super) struct Members {
    pub(super) start: u32,
    pub(super) members: Vec<Member>,
    /// Name of the member whose value is being parsed.
    pub(super) name: Option<Box<str>>,
    /// True if `...` precedes it.
    pub(super) is_spread: bool,
    pub(super) span: Span,
    pub(super) kind: MembersKind,
    /// Once there are two members: true if commas stand between them.
    pub(super) has_commas: Option<bool>,
}

/// Places of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MembersKind {
    /// The root selection, which has no braces.
    Whole,
    /// The value of a member.
    Group,
    /// Braces that follow a path.
    Path,
    /// An object where a value is expected.
    Object,
}

impl Members {
    pub(super) const fn new(start: u32, kind: MembersKind) -> Self {
        let span = Span::new(0, 0);
        Self { start, members: Vec::new(), name: None, is_spread: false, span, kind, has_commas: None }
    }

    /// True if the value that is being read may be one of several after `??` or `?!`.
    pub(super) fn may_choose(&self, grammar: Grammar) -> bool {
        grammar == Grammar::Unified && (self.name.is_some() || self.is_spread)
    }
}

pub(super) struct Path {
    pub(super) span: Span,
    pub(super) start: Start,
    pub(super) steps: Vec<Step>,
    /// Names that `->as` defined in this path.
    pub(super) locals: Vec<Box<str>>,
}

/// Next action of the loop.
pub(super) enum Next {
    /// Parse a value.
    Value,
    /// Parse a member or the end of its object.
    Member,
    /// Parse the steps of the innermost path.
    Steps,
    /// A value is complete.
    Whole(ExprId),
}
