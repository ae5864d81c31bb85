//! Parses templates by recursive descent, down to [`DEPTH_MAX`].
//!
//! An operand is an atom, so operators do not chain; `not` takes the whole expression behind it.

use crate::error::{ErrorCode, Fault, KritiError, Span};
use crate::syntax::{Expression, ExpressionKind, Operator, Step, StepKind, Template, TextPart};
use crate::{DEPTH_MAX, TEMPLATE_BYTES_MAX};
use weir_language::json::is_number;

/// Words that are no names.
const KEYWORDS: [&str; 10] = ["if", "elif", "else", "end", "null", "range", "in", "not", "true", "false"];

impl Template {
    /// Parses a template of JSON.
    /// # Errors
    /// The first place that does not fit the language.
    pub fn parse(text: &str) -> Result<Self, KritiError> {
        let root = parse_document(text).map_err(|it| it.locate(text))?;
        Ok(Self { source: text.into(), root })
    }

    /// Parses a template of a text that stands without its quotes, as those of addresses and headers. Places count the quote in front.
    /// # Errors
    /// The first place that does not fit the language.
    pub fn parse_quoted(text: &str) -> Result<Self, KritiError> {
        let quoted = format!("\"{text}\"");
        let root = parse_document(&quoted).map_err(|it| it.locate(&quoted))?;
        match root.kind {
            ExpressionKind::Text(_) => Ok(Self { source: quoted.into(), root }),
            _ => Err(unexpected("\"", root.span).locate(&quoted)),
        }
    }
}

fn unexpected(token: &str, span: Span) -> Fault {
    Fault::new(ErrorCode::Parse, format!("Unexpected token '{token}'."), span)
}

fn parse_document(text: &str) -> Result<Expression, Fault> {
    if text.len() > TEMPLATE_BYTES_MAX {
        let message = format!("A template has at most {TEMPLATE_BYTES_MAX} bytes.");
        return Err(Fault::new(ErrorCode::Limit, message, Span::default()));
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    let root = parser.parse_expression()?;
    parser.skip_space();
    if parser.at < text.len() { Err(parser.unexpected_here()) } else { Ok(root) }
}

pub(crate) struct Parser<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
    depth: u32,
}

impl<'t> Parser<'t> {
    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(crate) fn span_from(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    /// Passes white space and comments.
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start().len();
            self.at += space;
            match rest[space..].strip_prefix('#') {
                Some(comment) => self.at += 1 + comment.find('\n').unwrap_or(comment.len()),
                None => return,
            }
        }
    }

    /// Passes `token`, if it stands here behind white space.
    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let is_here = self.rest().starts_with(token);
        if is_here {
            self.at += token.len();
        }
        is_here
    }

    fn expect(&mut self, token: &str) -> Result<(), Fault> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected_here()) }
    }

    /// The error of the token that stands here.
    fn unexpected_here(&mut self) -> Fault {
        self.skip_space();
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            let message = "Unexpected end of the template.";
            return Fault::new(ErrorCode::Parse, message, self.span_from(self.at));
        };
        let word = name_length(rest);
        let length = if word > 0 { word } else { first.len_utf8() };
        let span = Span::new(self.at, self.at + length);
        let is_known = word > 0 || first.is_ascii_digit() || "{}[]()\"'.,:?<>=!&|-_".contains(first);
        if is_known {
            unexpected(&rest[..length], span)
        } else {
            Fault::new(ErrorCode::Lex, format!("Invalid Lexeme: '{first}'."), span)
        }
    }

    /// The name or keyword that stands here; empty for none.
    fn peek_word(&mut self) -> &'t str {
        self.skip_space();
        let rest = self.rest();
        &rest[..name_length(rest)]
    }

    /// Passes the keyword `word`, if it stands here.
    fn eat_word(&mut self, word: &str) -> bool {
        let is_here = self.peek_word() == word;
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Fault> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected_here()) }
    }

    fn parse_name(&mut self) -> Result<&'t str, Fault> {
        let word = self.peek_word();
        if word.is_empty() || KEYWORDS.contains(&word) {
            return Err(self.unexpected_here());
        }
        self.at += word.len();
        Ok(word)
    }

    /// The keyword behind `{{`, if that stands here.
    fn peek_tag(&mut self) -> Option<&'t str> {
        self.skip_space();
        let before = self.at;
        let word = self.eat("{{").then(|| self.peek_word());
        self.at = before;
        word
    }

    /// `{{ word }}`.
    fn expect_tag(&mut self, word: &str) -> Result<(), Fault> {
        self.expect("{{")?;
        self.expect_word(word)?;
        self.expect("}}")
    }

    pub(crate) fn parse_expression(&mut self) -> Result<Expression, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("A template is nested at most {DEPTH_MAX} deep.");
            return Err(Fault::new(ErrorCode::Limit, message, self.span_from(self.at)));
        }
        let made = self.parse_expression_within();
        self.depth -= 1;
        made
    }

    fn parse_expression_within(&mut self) -> Result<Expression, Fault> {
        let tag = self.peek_tag();
        let start = self.at;
        if tag.is_some_and(|it| it != "if" && it != "range") {
            self.expect("{{")?;
            let inner = self.parse_expression()?;
            self.expect("}}")?;
            return Ok(inner);
        }
        if tag.is_none() && self.eat_word("not") {
            let inner = self.parse_expression()?;
            let span = self.span_from(start);
            return Ok(Expression { kind: ExpressionKind::Not(Box::new(inner)), span });
        }
        if let Some(call) = self.parse_call()? {
            return Ok(call);
        }
        let left = self.parse_atom()?;
        let Some(operator) = self.parse_operator() else { return Ok(left) };
        let right = self.parse_atom()?;
        let span = left.span.to(right.span);
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(Expression { kind: ExpressionKind::Binary { operator, left, right }, span })
    }

    /// `name(argument)`; `None` if no name with a bracket stands here.
    fn parse_call(&mut self) -> Result<Option<Expression>, Fault> {
        let word = self.peek_word();
        let start = self.at;
        if word.is_empty() || KEYWORDS.contains(&word) {
            return Ok(None);
        }
        self.at += word.len();
        if !self.eat("(") {
            self.at = start;
            return Ok(None);
        }
        let argument = Box::new(self.parse_expression()?);
        self.expect(")")?;
        let kind = ExpressionKind::Call { function: word.into(), argument };
        Ok(Some(Expression { kind, span: self.span_from(start) }))
    }

    fn parse_operator(&mut self) -> Option<Operator> {
        const SIGNS: [(&str, Operator); 9] = [
            (">=", Operator::GreaterOrEqual),
            ("<=", Operator::LessOrEqual),
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("&&", Operator::And),
            ("||", Operator::Or),
            ("??", Operator::Default),
            (">", Operator::Greater),
            ("<", Operator::Less),
        ];
        if self.eat_word("in") {
            return Some(Operator::In);
        }
        SIGNS.iter().find(|it| self.eat(it.0)).map(|it| it.1)
    }

    fn parse_atom(&mut self) -> Result<Expression, Fault> {
        let base = self.parse_primary()?;
        let start = base.span.start as usize;
        let mut base = base;
        let steps = self.parse_steps()?;
        if !steps.is_empty() {
            let kind = ExpressionKind::Path { base: Box::new(base), steps };
            base = Expression { kind, span: self.span_from(start) };
        }
        self.skip_space();
        if self.rest().starts_with('?') && !self.rest().starts_with("??") {
            self.at += 1;
            let steps = self.parse_steps()?;
            let kind = ExpressionKind::OptionalPath { base: Box::new(base), steps };
            base = Expression { kind, span: self.span_from(start) };
        }
        Ok(base)
    }

    /// `.name`, `['text']` and `[atom]`, as many as there are.
    fn parse_steps(&mut self) -> Result<Vec<Step>, Fault> {
        let mut steps = Vec::new();
        loop {
            let end = self.at;
            self.skip_space();
            let start = self.at;
            let kind = if self.eat(".") {
                StepKind::Key(self.parse_name()?.into())
            } else if self.eat("[") {
                let kind = if self.eat("'") {
                    StepKind::Key(self.parse_single_quoted(start)?.into())
                } else {
                    StepKind::Index(self.parse_index()?)
                };
                self.expect("]")?;
                kind
            } else {
                // White space behind an atom is no part of it.
                self.at = end;
                return Ok(steps);
            };
            steps.push(Step { kind, span: self.span_from(start) });
        }
    }

    /// An index, which is an atom and so may be nested without an expression around it.
    fn parse_index(&mut self) -> Result<Expression, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("A template is nested at most {DEPTH_MAX} deep.");
            return Err(Fault::new(ErrorCode::Limit, message, self.span_from(self.at)));
        }
        let made = self.parse_atom();
        self.depth -= 1;
        made
    }

    /// The text up to the next single quote.
    fn parse_single_quoted(&mut self, start: usize) -> Result<&'t str, Fault> {
        match self.rest().split_once('\'') {
            Some((text, _)) => {
                self.at += text.len() + 1;
                Ok(text)
            }
            None => {
                self.at = self.text.len();
                let message = "A text in single quotes does not end.";
                Err(Fault::new(ErrorCode::Lex, message, self.span_from(start)))
            }
        }
    }

    fn parse_primary(&mut self) -> Result<Expression, Fault> {
        match self.peek_tag() {
            Some("if") => return self.parse_if(),
            Some("range") => return self.parse_range(),
            Some(_) => return Err(self.unexpected_here()),
            None => {}
        }
        let start = self.at;
        let rest = self.rest();
        let kind = match rest.bytes().next() {
            Some(b'"') => self.parse_text()?,
            Some(b'[') => self.parse_array()?,
            Some(b'{') => self.parse_object()?,
            Some(b'(') => {
                self.at += 1;
                let inner = self.parse_expression()?;
                self.expect(")")?;
                return Ok(Expression { kind: inner.kind, span: self.span_from(start) });
            }
            Some(b'-' | b'0'..=b'9') => self.parse_number()?,
            _ => self.parse_word()?,
        };
        Ok(Expression { kind, span: self.span_from(start) })
    }

    fn parse_word(&mut self) -> Result<ExpressionKind, Fault> {
        let kind = match self.peek_word() {
            "null" => ExpressionKind::Null,
            "true" => ExpressionKind::Bool(true),
            "false" => ExpressionKind::Bool(false),
            _ => return Ok(ExpressionKind::Variable(self.parse_name()?.into())),
        };
        self.at += self.peek_word().len();
        Ok(kind)
    }

    fn parse_number(&mut self) -> Result<ExpressionKind, Fault> {
        let rest = self.rest();
        let is_part = |it: char| it.is_ascii_digit() || "+-.eE".contains(it);
        let length = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        let digits = &rest[..length];
        let span = Span::new(self.at, self.at + length);
        if !is_number(digits.as_bytes()) {
            return Err(Fault::new(ErrorCode::Lex, format!("Invalid Lexeme: '{digits}'."), span));
        }
        self.at += length;
        Ok(ExpressionKind::Number(digits.into()))
    }

    fn parse_array(&mut self) -> Result<ExpressionKind, Fault> {
        self.expect("[")?;
        let mut items = Vec::new();
        if self.eat("]") {
            return Ok(ExpressionKind::Array(items));
        }
        loop {
            items.push(self.parse_expression()?);
            if self.eat("]") {
                return Ok(ExpressionKind::Array(items));
            }
            self.expect(",")?;
        }
    }

    fn parse_object(&mut self) -> Result<ExpressionKind, Fault> {
        self.expect("{")?;
        let mut members = Vec::new();
        if self.eat("}") {
            return Ok(ExpressionKind::Object(members));
        }
        loop {
            self.skip_space();
            if !self.rest().starts_with('"') {
                return Err(self.unexpected_here());
            }
            let key = self.parse_key()?;
            self.expect(":")?;
            members.push((key.into(), self.parse_expression()?));
            if self.eat("}") {
                return Ok(ExpressionKind::Object(members));
            }
            self.expect(",")?;
        }
    }

    /// A key, which is a text without expressions.
    fn parse_key(&mut self) -> Result<Box<str>, Fault> {
        let start = self.at;
        let ExpressionKind::Text(mut parts) = self.parse_text()? else { return Ok(Box::default()) };
        match (parts.pop(), parts.is_empty()) {
            (None, _) => Ok(Box::default()),
            (Some(TextPart::Literal(key)), true) => Ok(key),
            (Some(_), _) => {
                let message = "A key of an object is a text without expressions.";
                Err(Fault::new(ErrorCode::Parse, message, self.span_from(start)))
            }
        }
    }

    /// Passes `{{`, an expression and `}}` within a text.
    pub(crate) fn parse_interpolation(&mut self) -> Result<Expression, Fault> {
        // Expressions in a text are one level below it, and the text one below its expression.
        match self.peek_tag() {
            Some("if" | "range") => self.parse_expression(),
            Some(_) | None => {
                self.expect("{{")?;
                let inner = self.parse_expression()?;
                self.expect("}}")?;
                Ok(inner)
            }
        }
    }

    fn parse_if(&mut self) -> Result<Expression, Fault> {
        let start = self.at;
        let mut branches = Vec::new();
        let mut word = "if";
        loop {
            self.expect("{{")?;
            self.expect_word(word)?;
            let condition = self.parse_expression()?;
            self.expect("}}")?;
            branches.push((condition, self.parse_expression()?));
            match self.peek_tag() {
                Some("elif") => word = "elif",
                _ => break,
            }
        }
        self.expect_tag("else")?;
        let otherwise = Box::new(self.parse_expression()?);
        self.expect_tag("end")?;
        let kind = ExpressionKind::If { branches, otherwise };
        Ok(Expression { kind, span: self.span_from(start) })
    }

    fn parse_range(&mut self) -> Result<Expression, Fault> {
        let start = self.at;
        self.expect("{{")?;
        self.expect_word("range")?;
        let index = if self.eat("_") { None } else { Some(self.parse_name()?.into()) };
        self.expect(",")?;
        let item = self.parse_name()?.into();
        self.expect(":=")?;
        let list = Box::new(self.parse_expression()?);
        self.expect("}}")?;
        let body = Box::new(self.parse_expression()?);
        self.expect_tag("end")?;
        let kind = ExpressionKind::Range { index, item, list, body };
        Ok(Expression { kind, span: self.span_from(start) })
    }
}

/// Number of bytes of the name or keyword at the start of `text`.
fn name_length(text: &str) -> usize {
    let after = text.strip_prefix('$').unwrap_or(text);
    let sign = text.len() - after.len();
    if !after.starts_with(|it: char| it.is_ascii_alphabetic()) {
        return sign;
    }
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '$');
    sign + after.find(|it| !is_part(it)).unwrap_or(after.len())
}
