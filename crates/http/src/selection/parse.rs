//! Parses text to a [`Selection`] in a loop with an explicit stack, so nesting uses no machine stack.
//!
//! There are two places for values. In members a name is a member's name, a quoted text is one too, and `{` begins members
//! (`player: { id: playerId }`); elsewhere (in `$(…)`, arguments, lists and objects) a quoted text is a text, and `{` begins
//! an object. From v0.4 on the second place is everywhere but before the name of a member, and an object has what members
//! have: names alone, `...` and braces ([`Grammar`]).
//!
//! **Invariant:** an expression is put into the arena when it ends, so inner ones come first.

mod frame;
mod members;
mod objects;

use super::lex::{Lexer, Token, TokenKind, decode, json_digits};
use super::method::{Call, Method};
use super::{
    BYTES_MAX, DEPTH_MAX, Expr, ExprId, Grammar, Parsed, Selection, SelectionError, Start, Step, StepKind,
    Syntax, Variable,
};
use frame::{CalledMethod, Frame, MembersKind, Next, Path};
use weir_language::span::Span;

struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token,
    /// End of the previous token.
    end: u32,
    open: Vec<Frame>,
    brackets: usize,
    exprs: Vec<Expr>,
    spans: Vec<Span>,
    newer: Vec<(Syntax, Span)>,
    grammar: Grammar,
}

pub(super) fn selection(text: &str, grammar: Grammar) -> Parsed<Selection> {
    let as_value = match grammar {
        Grammar::Early => None,
        Grammar::Unified => parse_value(text).ok(),
    };
    match as_value {
        Some(value) if !value.names_itself() => Ok(value),
        _ => parse_members(text, grammar),
    }
}

/// Parses a whole text as one value.
fn parse_value(text: &str) -> Parsed<Selection> {
    Parser::new(text, Grammar::Unified)?.run(Next::Value)
}

fn parse_members(text: &str, grammar: Grammar) -> Parsed<Selection> {
    let mut parser = Parser::new(text, grammar)?;
    if parser.token.kind == TokenKind::End {
        let span = Span::new(0, text.len() as u32);
        return Err(SelectionError::new(
            span,
            "nothing is selected: name the members to take, or write `$` for all",
        ));
    }
    parser.open.push(Frame::Members(frame::Members::new(0, MembersKind::Whole)));
    parser.run(Next::Member)
}

pub(super) fn expression(text: &str) -> Parsed<Selection> {
    Parser::new(text, Grammar::Early)?.run(Next::Value)
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, grammar: Grammar) -> Parsed<Self> {
        if text.len() > BYTES_MAX {
            let span = Span::new(0, 0);
            return Err(SelectionError::new(span, format!("a selection has at most {BYTES_MAX} bytes")));
        }
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        let open = Vec::new();
        let exprs = Vec::new();
        let spans = Vec::new();
        let newer = Vec::new();
        Ok(Self { lexer, token, end: 0, open, brackets: 0, exprs, spans, newer, grammar })
    }

    fn run(mut self, first: Next) -> Parsed<Selection> {
        let mut next = first;
        loop {
            next = match next {
                Next::Value => self.value()?,
                Next::Member => self.member()?,
                Next::Steps => self.steps()?,
                Next::Whole(root) if self.open.is_empty() && !self.is_choice() => {
                    if self.token.kind != TokenKind::End {
                        return self.fail_unexpected("the end");
                    }
                    let Self { exprs, spans, newer, grammar, .. } = self;
                    return Ok(Selection { exprs, spans, root, newer, grammar });
                }
                Next::Whole(value) => self.whole(value)?,
            };
        }
    }

    fn advance(&mut self) -> Parsed<Token> {
        let token = self.token;
        self.end = token.span.end;
        self.token = self.lexer.next()?;
        Ok(token)
    }

    fn str(&self, span: Span) -> &'t str {
        span.of(self.lexer.text)
    }

    fn push(&mut self, expr: Expr, start: u32) -> ExprId {
        self.exprs.push(expr);
        self.spans.push(Span::new(start, self.end.max(start)));
        ExprId(self.exprs.len() as u32 - 1)
    }

    fn wrong<T>(&self, span: Span, message: impl Into<String>) -> Parsed<T> {
        Err(SelectionError::new(span, message))
    }

    fn fail_unexpected<T>(&self, expected: &str) -> Parsed<T> {
        let found = match self.token.kind {
            TokenKind::End => "the end".to_owned(),
            _ => format!("`{}`", self.str(self.token.span)),
        };
        self.wrong(self.token.span, format!("expected {expected}, found {found}"))
    }

    fn open(&mut self, frame: Frame) -> Parsed<()> {
        self.brackets += 1;
        if self.brackets > DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} brackets are open");
            return self.wrong(self.token.span, message);
        }
        self.open.push(frame);
        Ok(())
    }

    /// True if a step of a path follows, other than braces.
    const fn is_step(&self) -> bool {
        matches!(self.token.kind, TokenKind::Dot | TokenKind::Arrow | TokenKind::Question)
    }

    /// True if `??` or `?!` follows.
    const fn is_choice(&self) -> bool {
        matches!(self.token.kind, TokenKind::Coalesce | TokenKind::IfMissing)
    }

    const fn is_unified(&self) -> bool {
        matches!(self.grammar, Grammar::Unified)
    }

    /// True if a value here is among members, whose literals stand in `$(…)`.
    fn in_early_members(&self) -> bool {
        !self.is_unified() && matches!(self.open.last(), Some(Frame::Members(_)))
    }

    /// True if braces here are the value of a member: they gather members of the current value.
    fn is_member_value(&self) -> bool {
        matches!(self.open.last(), Some(Frame::Members(members)) if !members.is_spread)
    }

    /// Starts a value.
    fn value(&mut self) -> Parsed<Next> {
        let in_members = self.in_early_members();
        let token = self.token;
        let start = token.span.start;
        match token.kind {
            TokenKind::Dollar | TokenKind::Variable | TokenKind::At => self.path_start(),
            TokenKind::Text if !in_members => {
                self.advance()?;
                let text: Box<str> = decode(self.str(token.span)).into();
                self.literal_or_key(Expr::Text(text.clone()), token.span, text)
            }
            TokenKind::Name if !in_members && self.keyword(token).is_some() => {
                self.advance()?;
                let keyword = self.keyword(token).unwrap_or(Expr::Null);
                self.literal_or_key(keyword, token.span, self.str(token.span).into())
            }
            TokenKind::Name | TokenKind::Text => {
                let key = self.key()?;
                Ok(self.path(token.span, Start::Key(key)))
            }
            TokenKind::Number if !in_members => {
                self.advance()?;
                self.literal(Expr::Number(json_digits(self.str(token.span)).into()), start)
            }
            TokenKind::OpenBrace if self.is_member_value() => {
                self.advance()?;
                self.open_members(start, MembersKind::Group)
            }
            TokenKind::OpenBrace => {
                self.advance()?;
                self.open_object(start)
            }
            TokenKind::OpenBracket if !in_members => {
                self.advance()?;
                self.open(Frame::Array { start, items: Vec::new() })?;
                self.item(TokenKind::CloseBracket)
            }
            TokenKind::Number | TokenKind::OpenBracket => self.wrong(
                token.span,
                "a value that is written out stands in `$(…)`, as in `$(1)` or `$([a, b])`",
            ),
            TokenKind::End
            | TokenKind::Dot
            | TokenKind::Arrow
            | TokenKind::Question
            | TokenKind::Coalesce
            | TokenKind::IfMissing
            | TokenKind::Ellipsis
            | TokenKind::Colon
            | TokenKind::Comma
            | TokenKind::CloseBrace
            | TokenKind::OpenParen
            | TokenKind::CloseParen
            | TokenKind::CloseBracket => self.fail_unexpected("a value"),
        }
    }

    fn keyword(&self, token: Token) -> Option<Expr> {
        match self.str(token.span) {
            "true" => Some(Expr::Bool(true)),
            "false" => Some(Expr::Bool(false)),
            "null" => Some(Expr::Null),
            _ => None,
        }
    }

    /// A literal or, with braces behind it, the member called `key`.
    fn literal_or_key(&mut self, expr: Expr, span: Span, key: Box<str>) -> Parsed<Next> {
        if self.is_unified() && self.token.kind == TokenKind::OpenBrace {
            return Ok(self.path(span, Start::Key(key)));
        }
        self.literal(expr, span.start)
    }

    /// A literal, possibly followed by steps.
    fn literal(&mut self, expr: Expr, start: u32) -> Parsed<Next> {
        let id = self.push(expr, start);
        Ok(self.after_value(id, start))
    }

    /// Starts a path if steps follow a value.
    fn after_value(&mut self, id: ExprId, start: u32) -> Next {
        let steps = [TokenKind::Dot, TokenKind::Arrow, TokenKind::Question, TokenKind::OpenBrace];
        if steps.contains(&self.token.kind) {
            self.path(Span::new(start, self.end), Start::Value(id))
        } else {
            Next::Whole(id)
        }
    }

    fn path(&mut self, span: Span, start: Start) -> Next {
        self.open.push(Frame::Path(Path { span, start, steps: Vec::new(), locals: Vec::new() }));
        Next::Steps
    }

    /// `$`, `$name`, `@`, `$(`.
    fn path_start(&mut self) -> Parsed<Next> {
        let token = self.advance()?;
        let start = match token.kind {
            TokenKind::At => Start::Current,
            TokenKind::Variable => {
                let name = &self.str(token.span)[1..];
                if self.is_local(name) {
                    return Ok(self.path(token.span, Start::Local(name.into())));
                }
                let mut known = Variable::ALL.iter().chain(&[Variable::Selection]);
                match known.find(|it| it.name() == name) {
                    Some(variable) => Start::Variable(*variable),
                    None => {
                        let names: Vec<String> =
                            Variable::ALL.iter().map(|it| format!("${}", it.name())).collect();
                        let message =
                            format!("there is no variable `${name}`: there are {}", names.join(" "));
                        return self.wrong(token.span, message);
                    }
                }
            }
            _ if self.token.kind == TokenKind::OpenParen && self.token.span.start == token.span.end => {
                self.advance()?;
                self.open(Frame::Paren { start: token.span.start })?;
                return Ok(Next::Value);
            }
            _ => Start::Scope,
        };
        Ok(self.path(token.span, start))
    }

    /// A name or string as a key.
    fn key(&mut self) -> Parsed<Box<str>> {
        match self.token.kind {
            TokenKind::Name => {
                let token = self.advance()?;
                Ok(self.str(token.span).into())
            }
            TokenKind::Text => {
                let token = self.advance()?;
                Ok(decode(self.str(token.span)).into())
            }
            _ => self.fail_unexpected("a name"),
        }
    }

    /// Next step of the innermost path, or its end.
    fn steps(&mut self) -> Parsed<Next> {
        let token = self.token;
        let step = match token.kind {
            TokenKind::Dot => {
                self.advance()?;
                let span = self.token.span;
                Step { kind: StepKind::Key(self.key()?), span }
            }
            TokenKind::Question => {
                self.advance()?;
                if self.token.kind == TokenKind::Question {
                    return self.wrong(self.token.span, "one `?` is enough");
                }
                self.newer.push((Syntax::Optional, token.span));
                Step { kind: StepKind::Optional, span: token.span }
            }
            TokenKind::Arrow => {
                self.advance()?;
                match self.method()? {
                    Some(step) => step,
                    None => return self.item(TokenKind::CloseParen),
                }
            }
            TokenKind::OpenBrace => {
                self.advance()?;
                return self.open_members(token.span.start, MembersKind::Path);
            }
            _ => return Ok(self.end_path()),
        };
        self.add_step(step);
        Ok(Next::Steps)
    }

    fn add_step(&mut self, step: Step) {
        if let Some(Frame::Path(path)) = self.open.last_mut() {
            if let StepKind::Bind { name, .. } = &step.kind {
                path.locals.push(name.clone());
            }
            path.steps.push(step);
        }
    }

    /// True if an open path has named a value `name`.
    fn is_local(&self, name: &str) -> bool {
        self.open.iter().any(|it| match it {
            Frame::Path(path) => path.locals.iter().any(|it| **it == *name),
            _ => false,
        })
    }

    /// Parses `($name)` or `($name, value)` after `->as`; returns the step if there is no value.
    fn parse_binding(&mut self, span: Span) -> Parsed<Option<Step>> {
        if self.token.kind == TokenKind::OpenParen {
            self.advance()?;
        }
        if self.token.kind != TokenKind::Variable {
            return self.wrong(self.token.span, "`->as` names a value: write `->as($name)`");
        }
        let token = self.advance()?;
        let name: Box<str> = self.str(token.span)[1..].into();
        if self.token.kind == TokenKind::Comma {
            self.advance()?;
            self.open(Frame::Arguments { method: CalledMethod::Binding(name), span, items: Vec::new() })?;
            return Ok(None);
        }
        if self.token.kind != TokenKind::CloseParen {
            return self.fail_unexpected("`)`");
        }
        self.advance()?;
        Ok(Some(Step { kind: StepKind::Bind { name, value: None }, span }))
    }

    fn end_path(&mut self) -> Next {
        match self.open.pop() {
            Some(Frame::Path(path)) => {
                let expr = Expr::Path { start: path.start, steps: path.steps };
                Next::Whole(self.push(expr, path.span.start))
            }
            other => {
                self.open.extend(other);
                Next::Value
            }
        }
    }

    /// Parses a method name; returns the step if it has no arguments.
    fn method(&mut self) -> Parsed<Option<Step>> {
        let span = self.token.span;
        if self.token.kind != TokenKind::Name {
            return self.fail_unexpected("the name of a method");
        }
        let name = self.str(span);
        self.advance()?;
        if name == "as" {
            return self.parse_binding(span);
        }
        let method =
            Method::by_name(name).map_or_else(|| CalledMethod::Unknown(name.into()), CalledMethod::Known);
        if self.token.kind == TokenKind::OpenParen {
            self.advance()?;
            self.open(Frame::Arguments { method, span, items: Vec::new() })?;
            return Ok(None);
        }
        self.call(method, Vec::new(), span).map(Some)
    }

    fn call(&self, method: CalledMethod, arguments: Vec<ExprId>, span: Span) -> Parsed<Step> {
        let method = match method {
            CalledMethod::Known(method) => method,
            CalledMethod::Unknown(name) => {
                return Ok(Step { kind: StepKind::UnknownCall { name, arguments }, span });
            }
            CalledMethod::Binding(name) if arguments.len() < 2 => {
                let value = arguments.first().copied();
                return Ok(Step { kind: StepKind::Bind { name, value }, span });
            }
            CalledMethod::Binding(_) => return self.wrong(span, "`->as` names one value"),
        };
        let (min, max) = method.arguments();
        let name = method.name();
        let given = arguments.len();
        if given < min || given > max {
            let wanted = match (min, max) {
                (0, 0) => "no argument".to_owned(),
                (1, 1) => "one argument".to_owned(),
                (min, usize::MAX) => format!("at least {min} argument"),
                (min, max) => format!("{min} to {max} arguments"),
            };
            return self.wrong(span, format!("`->{name}` takes {wanted}, not {given}"));
        }
        Ok(Step { kind: StepKind::Call(Call { method, arguments }), span })
    }

    /// Next item of the innermost list or arguments, or their end.
    fn item(&mut self, close: TokenKind) -> Parsed<Next> {
        if self.token.kind != close {
            return Ok(Next::Value);
        }
        self.advance()?;
        self.brackets -= 1;
        match self.open.pop() {
            Some(Frame::Array { start, items }) => {
                let id = self.push(Expr::Array(items), start);
                Ok(self.after_value(id, start))
            }
            Some(Frame::Arguments { method, span, items }) => {
                let step = self.call(method, items, span)?;
                self.add_step(step);
                Ok(Next::Steps)
            }
            _ => self.fail_unexpected("a value"),
        }
    }

    /// Passes a complete value to the innermost frame.
    fn whole(&mut self, value: ExprId) -> Parsed<Next> {
        let start = self.spans[value.0 as usize].start;
        if self.is_choice() || matches!(self.open.last(), Some(Frame::Choices { .. })) {
            return self.choice(value, start);
        }
        match self.open.pop() {
            Some(Frame::Members(members)) => self.add_member(members, value),
            Some(Frame::Paren { start }) => {
                if self.token.kind != TokenKind::CloseParen {
                    return self.fail_unexpected("`)`");
                }
                self.advance()?;
                self.brackets -= 1;
                Ok(self.after_value(value, start))
            }
            Some(frame) => self.after_item(frame, value),
            None => self.fail_unexpected("the end"),
        }
    }

    /// Handles a value before or after `??` or `?!`.
    fn choice(&mut self, value: ExprId, start: u32) -> Parsed<Next> {
        let sign = self.token;
        let is_missing = sign.kind == TokenKind::IfMissing;
        let is_choice = self.is_choice();
        let mut open = match self.open.pop() {
            Some(Frame::Choices { start, choices, missing }) => (start, choices, missing),
            Some(Frame::Members(members)) if !members.may_choose(self.grammar) => {
                let sign = self.str(sign.span);
                return self
                    .wrong(self.token.span, format!("`{sign}` stands in `$(…)`: write `$(a {sign} b)`"));
            }
            frame => {
                self.open.extend(frame);
                (start, Vec::new(), is_missing)
            }
        };
        open.1.push(value);
        let (start, choices, missing) = open;
        if !is_choice {
            let expr = if missing { Expr::IfMissing(choices) } else { Expr::Coalesce(choices) };
            return Ok(Next::Whole(self.push(expr, start)));
        }
        if missing != is_missing {
            return self.wrong(sign.span, "`??` and `?!` are not mixed: put one of them in `$(…)`");
        }
        self.newer.push((Syntax::Otherwise, sign.span));
        self.advance()?;
        self.open.push(Frame::Choices { start, choices, missing });
        Ok(Next::Value)
    }

    /// Handles the comma or bracket after an item.
    fn after_item(&mut self, mut frame: Frame, value: ExprId) -> Parsed<Next> {
        let close = match &mut frame {
            Frame::Array { items, .. } => {
                items.push(value);
                TokenKind::CloseBracket
            }
            Frame::Arguments { items, .. } => {
                items.push(value);
                TokenKind::CloseParen
            }
            Frame::Object { members, key, .. } => {
                members.push((std::mem::take(key), value));
                TokenKind::CloseBrace
            }
            Frame::Members(_) | Frame::Paren { .. } | Frame::Path(_) | Frame::Choices { .. } => {
                return self.fail_unexpected("a value");
            }
        };
        self.open.push(frame);
        match self.token.kind {
            TokenKind::Comma => {
                self.advance()?;
            }
            kind if kind == close => {}
            _ => return self.fail_unexpected("`,` or the closing bracket"),
        }
        if close == TokenKind::CloseBrace { self.object_member() } else { self.item(close) }
    }
}
