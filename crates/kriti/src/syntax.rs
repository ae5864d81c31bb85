//! A parsed template.

use crate::error::Span;
use std::fmt;
use std::sync::Arc;

pub struct Template {
    pub(crate) source: Box<str>,
    pub(crate) root: Expression,
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Template").field(&self.source).finish()
    }
}

/// An expression and its place.
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum ExpressionKind {
    Null,
    Bool(bool),
    Number(Arc<str>),
    /// A text with the expressions in it.
    Text(Vec<TextPart>),
    Array(Vec<Expression>),
    Object(Vec<(Arc<str>, Expression)>),
    Variable(Box<str>),
    /// A value within another.
    Path {
        base: Box<Expression>,
        steps: Vec<Step>,
    },
    /// A value within another, or null.
    OptionalPath {
        base: Box<Expression>,
        steps: Vec<Step>,
    },
    Binary {
        operator: Operator,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    Not(Box<Expression>),
    Call {
        function: Box<str>,
        argument: Box<Expression>,
    },
    If {
        branches: Vec<(Expression, Expression)>,
        otherwise: Box<Expression>,
    },
    Range {
        index: Option<Box<str>>,
        item: Box<str>,
        list: Box<Expression>,
        body: Box<Expression>,
    },
}

#[derive(Debug)]
pub(crate) enum TextPart {
    Literal(Box<str>),
    Expression(Expression),
}

/// One step into a value.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum StepKind {
    /// `.key` or `['key']`.
    Key(Box<str>),
    /// `[expression]`.
    Index(Expression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
    In,
    Default,
}
