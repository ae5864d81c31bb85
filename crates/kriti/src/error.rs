//! Errors of templates, as Hasura writes them.

use std::fmt;
use weir_language::json::quote;

/// Kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// A text that is no part of the language.
    Lex,
    /// Parts in an order that the language does not have.
    Parse,
    /// A variable or function that is not there.
    Name,
    /// A key that an object lacks.
    Attribute,
    /// A value of the wrong kind.
    Type,
    /// An index outside of an array.
    Index,
    /// An argument that a function does not take.
    Function,
    /// A limit of Weir: depth, steps or bytes.
    Limit,
}

impl ErrorCode {
    /// The code as it is written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Lex => "Lex Error",
            Self::Parse => "Parse Error",
            Self::Name => "Name Error",
            Self::Attribute => "Attribute Error",
            Self::Type => "Type Error",
            Self::Index => "Index Error",
            Self::Function => "Function Error",
            Self::Limit => "Limit Error",
        }
    }
}

/// A place in a template, counted from 0 in lines and code points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// Bytes of a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        // A template has fewer bytes than fit.
        let byte = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        Self { start: byte(start), end: byte(end) }
    }

    /// The bytes from the start of `self` to the end of `last`.
    pub(crate) fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end }
    }
}

/// An error within a template whose text is not at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) span: Span,
}

impl Fault {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>, span: Span) -> Self {
        Self { code, message: message.into(), span }
    }

    /// A value of another kind than the one that is needed.
    pub(crate) fn wrong_kind(expected: &str, actual: &str, span: Span) -> Self {
        let message = format!("Couldn't match expected type '{expected}' with actual type '{actual}'");
        Self::new(ErrorCode::Type, message, span)
    }

    /// The error with its place in `source`.
    pub(crate) fn locate(self, source: &str) -> KritiError {
        let Self { code, message, span } = self;
        KritiError { code, message, start: position(source, span.start), end: position(source, span.end) }
    }
}

fn position(source: &str, at: u32) -> Position {
    let before = source.get(..at as usize).unwrap_or(source);
    let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    let line = before.rsplit('\n').next().unwrap_or_default();
    Position {
        line: count(before.bytes().filter(|it| *it == b'\n').count()),
        column: count(line.chars().count()),
    }
}

/// An error of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KritiError {
    /// Kind of the error.
    pub code: ErrorCode,
    /// Message, in Kriti's words where it has any.
    pub message: String,
    /// First place.
    pub start: Position,
    /// One past the last place.
    pub end: Position,
}

impl KritiError {
    /// Appends the error as JSON: `{"error_code", "message", "source_position"}`.
    pub fn write_json(&self, out: &mut String) {
        out.push_str("{\"error_code\":");
        quote(self.code.text(), out);
        out.push_str(",\"message\":");
        quote(&self.message, out);
        let Self { start, end, .. } = self;
        out.push_str(&format!(
            ",\"source_position\":{{\"start_line\":{},\"start_column\":{},\"end_line\":{},\"end_column\":{}}}}}",
            start.line, start.column, end.line, end.column
        ));
    }
}

/// Words for operators, who count lines and columns from 1.
impl fmt::Display for KritiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at line {}, column {}: {}",
            self.code.text(),
            self.start.line.saturating_add(1),
            self.start.column.saturating_add(1),
            self.message
        )
    }
}

impl std::error::Error for KritiError {}
