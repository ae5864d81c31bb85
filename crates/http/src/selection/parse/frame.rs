//! Open frames of the parser of selections, and its next steps.

use super::super::method::Method;
use super::super::{ExprId, Member, Start, Step};
use weir_language::span::Span;

/// An open construct.
pub(super) enum Frame {
    /// `id name: …`, up to `}` or the end.
    Members(Members),
    /// `{a: …, b: …}`.
    Object { start: u32, members: Vec<(Box<str>, ExprId)>, key: Box<str> },
    /// `[a, b]`.
    Array { start: u32, items: Vec<ExprId> },
    /// `->name(a, b)` of the path below it.
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
    /// The name before the value that is being read.
    pub(super) name: Option<Box<str>>,
    /// `...` stands before it.
    pub(super) is_spread: bool,
    pub(super) span: Span,
    /// True if a path stands before the brace.
    pub(super) of_path: bool,
    /// The whole selection, which no brace opens.
    pub(super) whole: bool,
}

pub(super) struct Path {
    pub(super) span: Span,
    pub(super) start: Start,
    pub(super) steps: Vec<Step>,
    /// Names that `->as` gave to values on the way.
    pub(super) locals: Vec<Box<str>>,
}

/// Next step of the loop.
pub(super) enum Next {
    /// A value begins.
    Value,
    /// A member begins, or its object ends.
    Member,
    /// The steps of the path on top.
    Steps,
    /// A value is whole.
    Whole(ExprId),
}
