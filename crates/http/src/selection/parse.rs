//! Text to [`Selection`]: a loop over words with a stack of what is open, so that no text costs stack.
//!
//! There are two places for values. In members a name is a member's name, a quoted text is one too, and `{` begins members
//! (`player: { id: playerId }`); elsewhere (in `$(…)`, arguments, lists and objects) a quoted text is a text, and `{` begins
//! an object.
//!
//! **Invariant:** an expression is put into the arena when it ends, so inner ones come first.

mod frame;

use super::lex::{Lexer, Token, TokenKind, decode};
use super::method::{Call, Method};
use super::{
    BYTES_MAX, DEPTH_MAX, Expr, ExprId, Member, Selection, SelectionError, Start, Step, StepKind, Variable,
};
use frame::{Frame, Members, Next, Path};
use weir_language::span::Span;

type Parsed<T> = Result<T, SelectionError>;

struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token,
    /// Where the word before ended.
    end: u32,
    open: Vec<Frame>,
    brackets: usize,
    exprs: Vec<Expr>,
    spans: Vec<Span>,
}

/// Reads a selection.
pub(super) fn selection(text: &str) -> Parsed<Selection> {
    let mut parser = Parser::new(text)?;
    if parser.token.kind == TokenKind::End {
        let span = Span::new(0, text.len() as u32);
        return Err(SelectionError::new(
            span,
            "nothing is selected: name the members to take, or write `$` for all",
        ));
    }
    let whole = Members {
        start: 0,
        members: Vec::new(),
        name: None,
        span: Span::default(),
        of_path: false,
        whole: true,
    };
    parser.open.push(Frame::Members(whole));
    parser.run(Next::Member)
}

/// Reads an expression.
pub(super) fn expression(text: &str) -> Parsed<Selection> {
    Parser::new(text)?.run(Next::Value)
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Parsed<Self> {
        if text.len() > BYTES_MAX {
            let span = Span::new(0, 0);
            return Err(SelectionError::new(span, format!("a selection has at most {BYTES_MAX} bytes")));
        }
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        let (open, exprs, spans) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { lexer, token, end: 0, open, brackets: 0, exprs, spans })
    }

    fn run(mut self, first: Next) -> Parsed<Selection> {
        let mut next = first;
        loop {
            next = match next {
                Next::Value => self.value()?,
                Next::Member => self.member()?,
                Next::Steps => self.steps()?,
                Next::Whole(root) if self.open.is_empty() && self.token.kind != TokenKind::Coalesce => {
                    if self.token.kind != TokenKind::End {
                        return self.unexpected("the end");
                    }
                    return Ok(Selection { exprs: self.exprs, spans: self.spans, root });
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

    fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
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

    fn in_members(&self) -> bool {
        matches!(self.open.last(), Some(Frame::Members(_)))
    }

    /// A value begins.
    fn value(&mut self) -> Parsed<Next> {
        let in_members = self.in_members();
        let token = self.token;
        let start = token.span.start;
        match token.kind {
            TokenKind::Dollar | TokenKind::Variable | TokenKind::At => self.path_start(),
            TokenKind::Text if !in_members => {
                self.advance()?;
                let text = decode(self.str(token.span)).into();
                self.literal(Expr::Text(text), start)
            }
            TokenKind::Name if !in_members && self.keyword(token).is_some() => {
                self.advance()?;
                let keyword = self.keyword(token).unwrap_or(Expr::Null);
                self.literal(keyword, start)
            }
            TokenKind::Name | TokenKind::Text => {
                let key = self.key()?;
                Ok(self.path(token.span, Start::Key(key)))
            }
            TokenKind::Number if !in_members => {
                self.advance()?;
                self.literal(Expr::Number(self.str(token.span).into()), start)
            }
            TokenKind::OpenBrace if in_members => {
                self.advance()?;
                self.open_members(start, false)
            }
            TokenKind::OpenBrace => {
                self.advance()?;
                self.open(Frame::Object { start, members: Vec::new(), key: "".into() })?;
                self.object_member()
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
            | TokenKind::Colon
            | TokenKind::Comma
            | TokenKind::CloseBrace
            | TokenKind::OpenParen
            | TokenKind::CloseParen
            | TokenKind::CloseBracket => self.unexpected("a value"),
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

    /// A literal, which steps may follow.
    fn literal(&mut self, expr: Expr, start: u32) -> Parsed<Next> {
        let id = self.push(expr, start);
        Ok(self.after_value(id, start))
    }

    /// Steps of a value that is no path, if there are some.
    fn after_value(&mut self, id: ExprId, start: u32) -> Next {
        let steps = [TokenKind::Dot, TokenKind::Arrow, TokenKind::Question, TokenKind::OpenBrace];
        if steps.contains(&self.token.kind) {
            self.path(Span::new(start, self.end), Start::Value(id))
        } else {
            Next::Whole(id)
        }
    }

    fn path(&mut self, span: Span, start: Start) -> Next {
        self.open.push(Frame::Path(Path { span, start, steps: Vec::new() }));
        Next::Steps
    }

    /// `$`, `$name`, `@`, `$(`.
    fn path_start(&mut self) -> Parsed<Next> {
        let token = self.advance()?;
        let start = match token.kind {
            TokenKind::At => Start::Current,
            TokenKind::Variable => {
                let name = &self.str(token.span)[1..];
                match Variable::ALL.iter().find(|it| it.name() == name) {
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

    /// A name or quoted text as a key.
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
            _ => self.unexpected("a name"),
        }
    }

    fn open_members(&mut self, start: u32, of_path: bool) -> Parsed<Next> {
        let span = Span::default();
        let frame = Members { start, members: Vec::new(), name: None, span, of_path, whole: false };
        self.open(Frame::Members(frame))?;
        Ok(Next::Member)
    }

    /// The next step of the path on top, or its end.
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
                return self.open_members(token.span.start, true);
            }
            _ => return Ok(self.end_path()),
        };
        self.add_step(step);
        Ok(Next::Steps)
    }

    fn add_step(&mut self, step: Step) {
        if let Some(Frame::Path(path)) = self.open.last_mut() {
            path.steps.push(step);
        }
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

    /// The name of a method; the step, if nothing stands in its parentheses.
    fn method(&mut self) -> Parsed<Option<Step>> {
        let span = self.token.span;
        if self.token.kind != TokenKind::Name {
            return self.unexpected("the name of a method");
        }
        let name = self.str(span);
        self.advance()?;
        let Some(method) = Method::by_name(name) else {
            let near = weir_language::validate::suggest::near(name, Method::ALL.iter().map(|it| it.name()));
            let hint = near.first().map_or(String::new(), |it| format!("; did you mean `->{it}`?"));
            return self.wrong(span, format!("there is no method `->{name}`{hint}"));
        };
        if self.token.kind == TokenKind::OpenParen {
            self.advance()?;
            self.open(Frame::Arguments { method, span, items: Vec::new() })?;
            return Ok(None);
        }
        self.call(method, Vec::new(), span).map(Some)
    }

    fn call(&self, method: Method, arguments: Vec<ExprId>, span: Span) -> Parsed<Step> {
        let (min, max) = method.arguments();
        let (name, given) = (method.name(), arguments.len());
        if given < min || given > max {
            let wanted = match (min, max) {
                (0, 0) => "no argument".to_owned(),
                (1, 1) => "one argument".to_owned(),
                (min, usize::MAX) => format!("at least {min} argument"),
                (min, max) => format!("{min} to {max} arguments"),
            };
            return self.wrong(span, format!("`->{name}` takes {wanted}, not {given}"));
        }
        if method == Method::Match {
            for &argument in &arguments {
                let pair = matches!(&self.exprs[argument.0 as usize], Expr::Array(items) if items.len() == 2);
                if !pair {
                    let span = self.spans[argument.0 as usize];
                    return self
                        .wrong(span, "`->match` takes pairs: `[\"a\", 1]`, and `[@, 0]` for all the rest");
                }
            }
        }
        Ok(Step { kind: StepKind::Call(Call { method, arguments }), span })
    }

    /// The next member of the innermost members, or their end.
    fn member(&mut self) -> Parsed<Next> {
        let token = self.token;
        match token.kind {
            TokenKind::CloseBrace | TokenKind::End => self.end_members(),
            TokenKind::Name | TokenKind::Text => {
                let key = self.key()?;
                if self.token.kind == TokenKind::Colon {
                    self.advance()?;
                    self.begin_member(Some(key), token.span)?;
                    return Ok(Next::Value);
                }
                // Only a plain name, with or without members of its own, names itself.
                let steps = [TokenKind::Dot, TokenKind::Arrow, TokenKind::Question];
                let name = (!steps.contains(&self.token.kind)).then(|| key.clone());
                self.begin_member(name, token.span)?;
                Ok(self.path(token.span, Start::Key(key)))
            }
            TokenKind::Dollar | TokenKind::Variable | TokenKind::At => {
                self.begin_member(None, token.span)?;
                self.path_start()
            }
            TokenKind::Comma => self.wrong(token.span, "members are set apart by spaces, not commas"),
            TokenKind::Number
            | TokenKind::Dot
            | TokenKind::Arrow
            | TokenKind::Question
            | TokenKind::Coalesce
            | TokenKind::Colon
            | TokenKind::OpenBrace
            | TokenKind::OpenParen
            | TokenKind::CloseParen
            | TokenKind::OpenBracket
            | TokenKind::CloseBracket => self.unexpected("a member"),
        }
    }

    fn begin_member(&mut self, name: Option<Box<str>>, span: Span) -> Parsed<()> {
        if let Some(Frame::Members(members)) = self.open.last_mut() {
            if name.is_some() && members.members.iter().any(|it| it.name == name) {
                let message = format!("`{}` is selected twice", name.unwrap_or_default());
                return self.wrong(span, message);
            }
            members.name = name;
            members.span = span;
        }
        Ok(())
    }

    fn end_members(&mut self) -> Parsed<Next> {
        let Some(Frame::Members(members)) = self.open.pop() else { return self.unexpected("a value") };
        if members.whole != (self.token.kind == TokenKind::End) {
            return self.unexpected(if members.whole { "a member" } else { "`}`" });
        }
        if members.members.is_empty() {
            return self.wrong(self.token.span, "nothing is selected between these braces");
        }
        if !members.whole {
            self.brackets -= 1;
            self.advance()?;
        }
        // One path without a name is the whole answer, not a member of it.
        if let [Member { name: None, value, .. }] = members.members.as_slice()
            && members.whole
        {
            return Ok(Next::Whole(*value));
        }
        for member in members.members.iter().filter(|it| it.name.is_none()) {
            let spread = matches!(&self.exprs[member.value.0 as usize], Expr::Path { steps, .. }
                if matches!(steps.last(), Some(Step { kind: StepKind::Members(_), .. })));
            if !spread {
                return self.wrong(
                    member.span,
                    "this path needs a name (`name: a.b`), or members of its own in braces",
                );
            }
        }
        if members.of_path {
            let span = Span::new(members.start, self.end);
            self.add_step(Step { kind: StepKind::Members(members.members), span });
            return Ok(self.end_path());
        }
        Ok(Next::Whole(self.push(Expr::Members(members.members), members.start)))
    }

    /// The next item of the innermost list or arguments, or their end.
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
            _ => self.unexpected("a value"),
        }
    }

    /// The next member of the innermost object, or its end.
    fn object_member(&mut self) -> Parsed<Next> {
        let span = self.token.span;
        if self.token.kind == TokenKind::CloseBrace {
            self.advance()?;
            self.brackets -= 1;
            let Some(Frame::Object { start, members, .. }) = self.open.pop() else {
                return self.unexpected("a value");
            };
            let id = self.push(Expr::Object(members), start);
            return Ok(self.after_value(id, start));
        }
        let name = self.key()?;
        if self.token.kind != TokenKind::Colon {
            return self.unexpected("`:` and a value");
        }
        self.advance()?;
        if let Some(Frame::Object { members, key, .. }) = self.open.last_mut() {
            if members.iter().any(|it| it.0 == name) {
                return self.wrong(span, format!("`{name}` is given twice"));
            }
            *key = name;
        }
        Ok(Next::Value)
    }

    /// Hands a whole value to what is open.
    fn whole(&mut self, value: ExprId) -> Parsed<Next> {
        let start = self.spans[value.0 as usize].start;
        let coalesces = self.token.kind == TokenKind::Coalesce;
        match self.open.pop() {
            Some(Frame::Coalesce { start, mut choices }) => {
                choices.push(value);
                if coalesces {
                    self.advance()?;
                    self.open.push(Frame::Coalesce { start, choices });
                    return Ok(Next::Value);
                }
                Ok(Next::Whole(self.push(Expr::Coalesce(choices), start)))
            }
            Some(Frame::Members(_)) if coalesces => {
                self.wrong(self.token.span, "`??` stands in `$(…)`: write `$(a ?? b)`")
            }
            frame if coalesces => {
                self.open.extend(frame);
                self.open.push(Frame::Coalesce { start, choices: vec![value] });
                self.advance()?;
                Ok(Next::Value)
            }
            Some(Frame::Members(mut members)) => {
                let name = members.name.take();
                members.members.push(Member { name, value, span: members.span });
                self.open.push(Frame::Members(members));
                Ok(Next::Member)
            }
            Some(Frame::Paren { start }) => {
                if self.token.kind != TokenKind::CloseParen {
                    return self.unexpected("`)`");
                }
                self.advance()?;
                self.brackets -= 1;
                Ok(self.after_value(value, start))
            }
            Some(frame) => self.after_item(frame, value),
            None => self.unexpected("the end"),
        }
    }

    /// The comma or bracket behind an item.
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
            Frame::Members(_) | Frame::Paren { .. } | Frame::Path(_) | Frame::Coalesce { .. } => {
                return self.unexpected("a value");
            }
        };
        self.open.push(frame);
        match self.token.kind {
            TokenKind::Comma => {
                self.advance()?;
            }
            kind if kind == close => {}
            _ => return self.unexpected("`,` or the closing bracket"),
        }
        if close == TokenKind::CloseBrace { self.object_member() } else { self.item(close) }
    }
}
