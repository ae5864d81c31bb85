//! The mapping language of `@connect`: what is taken of a service's answer and under which names.
//!
//! [`Selection::parse`] reads a text into an arena of expressions, [`Selection::print`] writes it back, [`eval`] finds the
//! values. Most selections are never evaluated: [`crate::project`] compiles plain paths to looks at the answer's tape, and
//! evaluates only what has methods, literals or variables.
//!
//! **Invariant:** an [`ExprId`] is only used with the selection that made it; an expression comes after those it is made
//! of, and nests at most [`DEPTH_MAX`] deep, so walking may recurse.
//!
//! Source: the public documentation of the mapping language of connect, versions 0.1 to 0.4.

mod claim;
pub mod eval;
pub mod inputs;
mod lex;
mod method;
mod number;
mod parse;
mod print;
#[cfg(test)]
pub(crate) mod tests;
pub mod value;

pub(crate) use claim::{claim_names, session_variable};
pub use method::{Call, Method};

use weir_language::span::Span;

/// Maximum nesting of brackets.
pub const DEPTH_MAX: usize = 32;

/// Maximum length of a selection, in bytes.
pub const BYTES_MAX: usize = 64 * 1024;

/// A parsed selection or expression: an arena of expressions.
#[derive(Clone, Debug)]
pub struct Selection {
    exprs: Vec<Expr>,
    spans: Vec<Span>,
    root: ExprId,
    /// Uses of newer syntax, in source order.
    newer: Vec<(Syntax, Span)>,
    grammar: Grammar,
}

/// The grammar of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// Before v0.4: a text among members is a name, and written-out values stand in `$(…)`.
    Early,
    /// From v0.4 on: values and selections are one language, of which JSON is a part.
    Unified,
}

impl Grammar {
    /// The grammar of connect v0.`version`.
    pub const fn of(version: u8) -> Self {
        if version < 4 { Self::Early } else { Self::Unified }
    }
}

/// Syntax added after v0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `?` behind a step.
    Optional,
    /// `??` and `?!`.
    Otherwise,
    /// `... path` among members.
    Spread,
    /// `{a}` for `{a: a}`.
    Shorthand,
}

impl Syntax {
    /// The syntax as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Optional => "?",
            Self::Otherwise => "??",
            Self::Spread => "...",
            Self::Shorthand => "{a}",
        }
    }

    /// Minor version 0.x that introduced it.
    pub const fn since_version(self) -> u8 {
        match self {
            Self::Optional | Self::Otherwise => 3,
            Self::Spread | Self::Shorthand => 4,
        }
    }
}

/// Index of an expression in its selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprId(u32);

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// Digits, as JSON writes them.
    Number(Box<str>),
    /// `"text"` or `'text'`, decoded.
    Text(Box<str>),
    /// `[a, b]`.
    Array(Vec<ExprId>),
    /// `{name: a, "other": b}` where a value is expected.
    Object(Vec<(Box<str>, ExprId)>),
    /// `{name: a, ...b}` where a value is expected: the members of several objects, of which the last to have a name counts.
    Merged(Vec<ExprId>),
    /// `id name: title items { id }`: an object with members of the current value; for a list, one object per item.
    Members(Vec<Member>),
    /// A value and the steps applied to it.
    Path {
        /// First value of the path.
        start: Start,
        /// Steps in order.
        steps: Vec<Step>,
    },
    /// `a ?? b`: the first that is neither null nor missing.
    Coalesce(Vec<ExprId>),
    /// `a ?! b`: the first that is not missing.
    IfMissing(Vec<ExprId>),
}

/// One member of [`Expr::Members`].
#[derive(Clone, Debug)]
pub struct Member {
    /// Name of the member; `None` for a path whose own members are merged here: `$.address { street }`.
    pub name: Option<Box<str>>,
    /// Value of the member.
    pub value: ExprId,
    /// True if `...` stands before a path without a name.
    pub is_spread: bool,
    /// Span of the name, or of the path if there is none.
    pub span: Span,
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.value, self.is_spread) == (&other.name, other.value, other.is_spread)
    }
}

/// First value of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// `$`: the value of the innermost braces, or the whole answer outside of braces. Method arguments do not change it.
    Scope,
    /// `@`: the current value; in a method's arguments, its input or the item.
    Current,
    /// `name`: the member `name` of `$`.
    Key(Box<str>),
    /// `$name`, defined by `->as($name)`.
    Local(Box<str>),
    /// `$args` and others.
    Variable(Variable),
    /// `$(…)`, or a literal with steps.
    Value(ExprId),
}

/// Variables other than the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// `$args`: the field's arguments.
    Args,
    /// `$this`: fields of the parent.
    This,
    /// `$batch`: fields of all parents of one call.
    Batch,
    /// `$config`: the operator's settings.
    Config,
    /// `$context`: values from the embedding program.
    Context,
    /// `$request`: the client's request.
    Request,
    /// `$env`: the environment.
    Env,
    /// `$status`: HTTP status of the answer.
    Status,
    /// `$response`: headers of the answer.
    Response,
    /// `$claims`: authenticated claims of the caller.
    Claims,
    /// `$role`: role of the caller.
    Role,
    /// `$selection`: the client's selection below the field, as GraphQL. Only generated text uses it.
    Selection,
}

impl Variable {
    /// All variables except `$selection`.
    pub const ALL: [Self; 11] = [
        Self::Args,
        Self::This,
        Self::Batch,
        Self::Config,
        Self::Context,
        Self::Request,
        Self::Env,
        Self::Status,
        Self::Response,
        Self::Claims,
        Self::Role,
    ];

    /// Name without `$`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Args => "args",
            Self::This => "this",
            Self::Batch => "batch",
            Self::Config => "config",
            Self::Context => "context",
            Self::Request => "request",
            Self::Env => "env",
            Self::Status => "status",
            Self::Response => "response",
            Self::Claims => "claims",
            Self::Role => "role",
            Self::Selection => "selection",
        }
    }
}

/// One step of a path, with its span.
#[derive(Clone, Debug)]
pub struct Step {
    pub kind: StepKind,
    /// Span without the dot or arrow.
    pub span: Span,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// `.name`: a member; for a list, the member of each item.
    Key(Box<str>),
    /// `?`: ends the path without a value if the value is null or missing.
    Optional,
    /// `->as($name)` or `->as($name, value)`: keeps the value, and names it, or `value`, for the rest of the path.
    Bind {
        /// Name without `$`.
        name: Box<str>,
        /// The value to name, if it is not the current one.
        value: Option<ExprId>,
    },
    /// `->name(arguments)`.
    Call(Call),
    /// `->name(arguments)` of an unknown method: yields nothing.
    UnknownCall {
        /// Name of the method.
        name: Box<str>,
        /// Arguments in source order.
        arguments: Vec<ExprId>,
    },
    /// `{ … }`: always the last step.
    Members(Vec<Member>),
}

/// An error in a selection, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionError {
    /// The cause and how to fix it.
    pub message: String,
    /// Span in the decoded text.
    pub span: Span,
}

/// Result of parsing a selection or a template.
pub(crate) type Parsed<T> = Result<T, SelectionError>;

impl SelectionError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), span }
    }
}

impl Selection {
    /// Parses a selection: members (`id name`) or one path (`$.items { id }`).
    ///
    /// # Errors
    /// The first syntax error.
    pub fn parse(text: &str) -> Result<Self, SelectionError> {
        parse::selection(text, Grammar::Early)
    }

    /// Parses a selection by `grammar`.
    ///
    /// # Errors
    /// The first syntax error.
    pub fn parse_by(text: &str, grammar: Grammar) -> Result<Self, SelectionError> {
        parse::selection(text, grammar)
    }

    /// Parses the expression between the braces of a template.
    ///
    /// # Errors
    /// The first syntax error.
    pub fn parse_expression(text: &str) -> Result<Self, SelectionError> {
        parse::expression(text)
    }

    /// Prints the selection in canonical form.
    pub fn print(&self) -> String {
        print::print(self)
    }

    /// The root expression.
    pub const fn root(&self) -> ExprId {
        self.root
    }

    /// The expression with this id.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// Span of the expression.
    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.0 as usize]
    }

    /// All expressions, inner ones first.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = (ExprId, &Expr)> {
        self.exprs.iter().enumerate().map(|(at, expr)| (ExprId(at as u32), expr))
    }

    /// Uses of newer syntax, with spans.
    pub fn newer(&self) -> &[(Syntax, Span)] {
        &self.newer
    }

    /// Calls of unknown methods, with spans.
    pub fn unknown_calls(&self) -> impl Iterator<Item = (&str, Span)> {
        self.steps().filter_map(|step| match &step.kind {
            StepKind::UnknownCall { name, .. } => Some((&**name, step.span)),
            _ => None,
        })
    }

    /// Arguments of `->match` that are not pairs, and therefore never match.
    pub fn idle_arguments(&self) -> impl Iterator<Item = Span> {
        let arguments = self.steps().filter_map(|step| match &step.kind {
            StepKind::Call(call) if call.method == Method::Match => Some(&call.arguments),
            _ => None,
        });
        let is_pair = |id: ExprId| matches!(self.expr(id), Expr::Array(items) if items.len() == 2);
        arguments.flatten().filter(move |id| !is_pair(**id)).map(|id| self.span(*id))
    }

    /// True if the whole is one name, with `?` or braces behind it at most, which names what it gives.
    fn names_itself(&self) -> bool {
        matches!(self.expr(self.root), Expr::Path { start: Start::Key(_), steps } if steps.iter().all(print::names_itself))
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.exprs.iter().flat_map(|expr| match expr {
            Expr::Path { steps, .. } => steps.as_slice(),
            _ => &[],
        })
    }

    /// The member selection at the end of `id`: `a { b }` and, among members, `x: { b }`. `None` if a value is named before it, because
    /// then it cannot be separated from the path.
    pub(crate) fn group(&self, id: ExprId) -> Option<&[Member]> {
        match self.expr(id) {
            Expr::Members(members) => Some(members),
            Expr::Path { steps, .. } if steps.iter().any(|it| matches!(it.kind, StepKind::Bind { .. })) => {
                None
            }
            Expr::Path { steps, .. } => match steps.last().map(|it| &it.kind) {
                Some(StepKind::Members(members)) => Some(members),
                _ => None,
            },
            _ => None,
        }
    }

    /// True if a scalar may have one of `members`; false if all of them begin with a name.
    pub(crate) fn may_take_scalars(&self, members: &[Member]) -> bool {
        members.iter().any(|member| match self.expr(member.value) {
            Expr::Path { start: Start::Key(_), .. } => false,
            Expr::Path { start: Start::Scope | Start::Current, steps } => {
                !matches!(steps.first(), Some(Step { kind: StepKind::Key(_), .. }))
            }
            Expr::Members(inner) => self.may_take_scalars(inner),
            _ => true,
        })
    }

    /// True if one of `members` selects the value itself (`$` or `@`), which a null item has too.
    pub(crate) fn takes_itself(&self, members: &[Member]) -> bool {
        members.iter().any(|member| match self.expr(member.value) {
            Expr::Path { start: Start::Scope | Start::Current, steps } => {
                !matches!(steps.first(), Some(Step { kind: StepKind::Key(_), .. }))
            }
            Expr::Members(inner) => self.takes_itself(inner),
            _ => false,
        })
    }

    /// Variables read, each with the names after it (`$args.a.b`: `a`, `b`) and its span.
    pub fn variables(&self) -> impl Iterator<Item = Use<'_>> {
        self.exprs().filter_map(|(id, expr)| match expr {
            Expr::Path { start: Start::Variable(variable), steps } => {
                let keys = leading_keys(steps).collect();
                Some(Use { variable: *variable, expr: id, keys, span: self.span(id) })
            }
            _ => None,
        })
    }
}

/// The names at the start of `steps`, with their spans.
pub(crate) fn leading_keys(steps: &[Step]) -> impl Iterator<Item = (&str, Span)> {
    steps.iter().map_while(|it| match &it.kind {
        StepKind::Key(key) => Some((&**key, it.span)),
        _ => None,
    })
}

/// One use of a variable.
#[derive(Clone, Debug)]
pub struct Use<'s> {
    pub variable: Variable,
    /// The path that starts with it.
    pub expr: ExprId,
    /// Names after it, up to the first step that is not a name.
    pub keys: Vec<(&'s str, Span)>,
    /// Span of the whole path.
    pub span: Span,
}

impl Selection {
    /// True if `id` has an alternative after `??` or `?!`.
    pub(crate) fn has_other(&self, id: ExprId) -> bool {
        self.exprs().any(|(_, expr)| match expr {
            Expr::Coalesce(choices) | Expr::IfMissing(choices) => {
                choices.split_last().is_some_and(|(_, all)| all.contains(&id))
            }
            _ => false,
        })
    }

    /// Keys of a path that consists only of keys in its first `steps_max` steps.
    pub(crate) fn plain_path(&self, id: ExprId, steps_max: usize) -> Option<Vec<Box<str>>> {
        let Expr::Path { start, steps } = self.expr(id) else { return None };
        let mut path = match start {
            Start::Key(key) => vec![key.clone()],
            Start::Scope | Start::Current => Vec::new(),
            Start::Local(_) | Start::Variable(_) | Start::Value(_) => return None,
        };
        for step in steps.iter().take(steps_max) {
            let StepKind::Key(key) = &step.kind else { return None };
            path.push(key.clone());
        }
        Some(path)
    }

    /// Number of a path's steps before the member selection at its end; `None` if there is none.
    pub(crate) fn steps_before_members(&self, id: ExprId) -> Option<usize> {
        self.group(id)?;
        match self.expr(id) {
            Expr::Path { steps, .. } => Some(steps.len() - 1),
            _ => Some(0),
        }
    }

    /// A copy in which reads of arguments are reads of the parent's fields.
    pub(crate) fn of_parent(&self) -> Self {
        let mut own = self.clone();
        for expr in &mut own.exprs {
            if let Expr::Path { start: start @ Start::Variable(Variable::Args), .. } = expr {
                *start = Start::Variable(Variable::This);
            }
        }
        own
    }
}

/// Integral value of a number (`1.0`, `2e3`), if it is in the supported range.
pub(crate) fn whole_number(digits: &str) -> Option<i128> {
    number::Decimal::read(digits)?.whole()
}

/// Canonical digits of a number: `1` for `1.0`.
pub(crate) fn canonical_number(digits: &str) -> std::borrow::Cow<'_, str> {
    number::canonical(digits)
}
