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

/// The most brackets that may be open at once.
pub const DEPTH_MAX: usize = 32;

/// The longest text.
pub const BYTES_MAX: usize = 64 * 1024;

/// A parsed selection or expression: an arena of expressions.
#[derive(Clone, Debug)]
pub struct Selection {
    exprs: Vec<Expr>,
    spans: Vec<Span>,
    root: ExprId,
    /// Syntax that not every version has, in the order of the text.
    newer: Vec<(Syntax, Span)>,
}

/// Syntax that came after v0.1.
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
    /// `->as($name)`.
    Local,
}

impl Syntax {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Optional => "?",
            Self::Otherwise => "??",
            Self::Spread => "...",
            Self::Shorthand => "{a}",
            Self::Local => "->as",
        }
    }

    /// The first version 0.x that has it.
    #[must_use]
    pub const fn since(self) -> u8 {
        match self {
            Self::Optional | Self::Otherwise => 3,
            Self::Spread | Self::Shorthand | Self::Local => 4,
        }
    }
}

/// The place of an expression in its selection.
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
    /// `id name: title items { id }`: an object made of what the current value has; of a list, one of each item.
    Members(Vec<Member>),
    /// A value and what is taken of it.
    Path {
        /// Its start.
        start: Start,
        /// Its steps, in order.
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
    /// Under which name; `None` for a path whose own members become members here: `$.address { street }`.
    pub name: Option<Box<str>>,
    /// Its value.
    pub value: ExprId,
    /// True if `...` stands before a path without a name.
    pub is_spread: bool,
    /// The name, or the path that has none.
    pub span: Span,
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.value, self.is_spread) == (&other.name, other.value, other.is_spread)
    }
}

/// Starts of paths.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// `$`: the value of the innermost braces; outside of braces, the whole answer. Arguments of methods do not change it.
    Scope,
    /// `@`: the value at hand, which in a method's arguments is its input or the item.
    Current,
    /// `name`: the member `name` of `$`.
    Key(Box<str>),
    /// `$name` behind `->as($name)`.
    Local(Box<str>),
    /// `$args` and others.
    Variable(Variable),
    /// `$(…)`, or a literal with something behind it.
    Value(ExprId),
}

/// Variables beside the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// `$args`: the field's arguments.
    Args,
    /// `$this`: fields of the parent.
    This,
    /// `$batch`: fields of all parents that are asked for together.
    Batch,
    /// `$config`: the operator's settings.
    Config,
    /// `$context`: what the embedding program hands in.
    Context,
    /// `$request`: the client's request.
    Request,
    /// `$env`: the environment.
    Env,
    /// `$status`: the answer's status.
    Status,
    /// `$response`: the answer's headers.
    Response,
    /// `$claims`: what authentication vouches for.
    Claims,
    /// `$role`: the caller's role.
    Role,
    /// `$selection`: what the client selects of the field, as GraphQL. Generated texts have it.
    Selection,
}

impl Variable {
    /// All of them but `$selection`.
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

    /// Without `$`.
    #[must_use]
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

/// One step of a path, and where it is written.
#[derive(Clone, Debug)]
pub struct Step {
    /// Kind of the step.
    pub kind: StepKind,
    /// Without the dot or arrow.
    pub span: Span,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// Kinds of steps.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// `.name`: a member; of a list, that of each item.
    Key(Box<str>),
    /// `?`: ends here without a value if there is none or null.
    Optional,
    /// `->as($name)` or `->as($name, value)`: passes its value on, and names it or the other for the rest of the path.
    Bind {
        /// Without `$`.
        name: Box<str>,
        /// The value that is named, if it is another.
        value: Option<ExprId>,
    },
    /// `->name(arguments)`.
    Call(Call),
    /// `->name(arguments)` of a method that is not known: gives nothing.
    UnknownCall {
        /// Its name.
        name: Box<str>,
        /// As written, in order.
        arguments: Vec<ExprId>,
    },
    /// `{ … }`: always the last.
    Members(Vec<Member>),
}

/// An error of a selection, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionError {
    /// The cause and how to fix it.
    pub message: String,
    /// Place in the decoded text.
    pub span: Span,
}

/// Result of reading a selection or a template.
pub(crate) type Parsed<T> = Result<T, SelectionError>;

impl SelectionError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), span }
    }
}

impl Selection {
    /// Reads a selection: members (`id name`) or one path (`$.items { id }`).
    ///
    /// # Errors
    /// The first place where `text` is none.
    pub fn parse(text: &str) -> Result<Self, SelectionError> {
        parse::selection(text)
    }

    /// Reads what stands between the braces of a template: any expression.
    ///
    /// # Errors
    /// As [`Selection::parse`].
    pub fn parse_expression(text: &str) -> Result<Self, SelectionError> {
        parse::expression(text)
    }

    /// The text of it, in one form whatever the spaces and quotes it was written with.
    #[must_use]
    pub fn print(&self) -> String {
        print::print(self)
    }

    /// The whole.
    #[must_use]
    pub const fn root(&self) -> ExprId {
        self.root
    }

    /// One expression.
    #[must_use]
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// Span of the expression.
    #[must_use]
    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.0 as usize]
    }

    /// All expressions, inner ones first.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = (ExprId, &Expr)> {
        self.exprs.iter().enumerate().map(|(at, expr)| (ExprId(at as u32), expr))
    }

    /// Syntax that not every version has, and where it stands.
    #[must_use]
    pub fn newer(&self) -> &[(Syntax, Span)] {
        &self.newer
    }

    /// Calls of methods that are not known, and where they stand.
    pub fn unknown_calls(&self) -> impl Iterator<Item = (&str, Span)> {
        self.steps().filter_map(|step| match &step.kind {
            StepKind::UnknownCall { name, .. } => Some((&**name, step.span)),
            StepKind::Key(_)
            | StepKind::Optional
            | StepKind::Bind { .. }
            | StepKind::Call(_)
            | StepKind::Members(_) => None,
        })
    }

    /// Arguments of `->match` that are no pair, so that they are never chosen.
    pub fn idle_arguments(&self) -> impl Iterator<Item = Span> {
        let arguments = self.steps().filter_map(|step| match &step.kind {
            StepKind::Call(call) if call.method == Method::Match => Some(&call.arguments),
            StepKind::Call(_)
            | StepKind::Key(_)
            | StepKind::Optional
            | StepKind::Bind { .. }
            | StepKind::UnknownCall { .. }
            | StepKind::Members(_) => None,
        });
        let is_pair = |id: ExprId| matches!(self.expr(id), Expr::Array(items) if items.len() == 2);
        arguments.flatten().filter(move |id| !is_pair(**id)).map(|id| self.span(*id))
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.exprs.iter().flat_map(|expr| match expr {
            Expr::Path { steps, .. } => steps.as_slice(),
            _ => &[],
        })
    }

    /// The members that end `id`, if some do: `a { b }` and, among members, `x: { b }`. Where a value is named before them they cannot be
    /// taken apart from the path, and are none.
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

    /// True if a scalar may have one of `members`: false if all begin with a name.
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

    /// True if one of `members` takes the value itself (`$` or `@`), which also an item that is null has.
    pub(crate) fn takes_itself(&self, members: &[Member]) -> bool {
        members.iter().any(|member| match self.expr(member.value) {
            Expr::Path { start: Start::Scope | Start::Current, steps } => {
                !matches!(steps.first(), Some(Step { kind: StepKind::Key(_), .. }))
            }
            Expr::Members(inner) => self.takes_itself(inner),
            _ => false,
        })
    }

    /// The variables it reads, each with the names behind it (`$args.a.b`: `a`, `b`) and where it stands.
    pub fn variables(&self) -> impl Iterator<Item = Use<'_>> {
        self.exprs().filter_map(|(id, expr)| match expr {
            Expr::Path { start: Start::Variable(variable), steps } => {
                let keys = steps.iter().map_while(|step| match &step.kind {
                    StepKind::Key(key) => Some((&**key, step.span)),
                    StepKind::Optional
                    | StepKind::Bind { .. }
                    | StepKind::Call(_)
                    | StepKind::UnknownCall { .. }
                    | StepKind::Members(_) => None,
                });
                Some(Use { variable: *variable, expr: id, keys: keys.collect(), span: self.span(id) })
            }
            Expr::Null
            | Expr::Bool(_)
            | Expr::Number(_)
            | Expr::Text(_)
            | Expr::Array(_)
            | Expr::Object(_)
            | Expr::Members(_)
            | Expr::Path { .. }
            | Expr::Coalesce(_)
            | Expr::IfMissing(_) => None,
        })
    }
}

/// One place where a variable is read.
#[derive(Clone, Debug)]
pub struct Use<'s> {
    /// The variable.
    pub variable: Variable,
    /// The path that begins with it.
    pub expr: ExprId,
    /// The names that follow it, up to the first step that is none.
    pub keys: Vec<(&'s str, Span)>,
    /// The whole path.
    pub span: Span,
}

impl Selection {
    /// True if `id` is followed by `??` or `?!` and an alternative.
    pub(crate) fn has_other(&self, id: ExprId) -> bool {
        self.exprs().any(|(_, expr)| match expr {
            Expr::Coalesce(choices) | Expr::IfMissing(choices) => {
                choices.split_last().is_some_and(|(_, all)| all.contains(&id))
            }
            Expr::Null
            | Expr::Bool(_)
            | Expr::Number(_)
            | Expr::Text(_)
            | Expr::Array(_)
            | Expr::Object(_)
            | Expr::Members(_)
            | Expr::Path { .. } => false,
        })
    }

    /// The keys of a path that is nothing but keys, as far as its first `steps_max` steps go.
    pub(crate) fn plain_path(&self, id: ExprId, steps_max: usize) -> Option<Vec<Box<str>>> {
        let Expr::Path { start, steps } = self.expr(id) else { return None };
        let mut path = match start {
            Start::Key(key) => vec![key.clone()],
            Start::Scope | Start::Current => Vec::new(),
            Start::Local(_) | Start::Variable(_) | Start::Value(_) => return None,
        };
        for step in steps.iter().take(steps_max) {
            match &step.kind {
                StepKind::Key(key) => path.push(key.clone()),
                StepKind::Optional
                | StepKind::Bind { .. }
                | StepKind::Call(_)
                | StepKind::UnknownCall { .. }
                | StepKind::Members(_) => return None,
            }
        }
        Some(path)
    }

    /// The steps of a path before its members, if it ends with some; of all else `None`.
    pub(crate) fn steps_before_members(&self, id: ExprId) -> Option<usize> {
        self.group(id)?;
        match self.expr(id) {
            Expr::Path { steps, .. } => Some(steps.len() - 1),
            _ => Some(0),
        }
    }

    /// The same where what was an argument is a field of the parent.
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

/// The whole number that digits mean (`1.0`, `2e3`), if they mean one that can be reckoned with.
pub(crate) fn whole_number(digits: &str) -> Option<i128> {
    number::Decimal::read(digits)?.whole()
}

/// The one form of all digits that mean the same number: `1` for `1.0`.
pub(crate) fn canonical_number(digits: &str) -> std::borrow::Cow<'_, str> {
    number::canonical(digits)
}
