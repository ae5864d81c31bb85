//! Parses members of objects: `id name: path { … }`, separated by spaces.

use super::super::lex::TokenKind;
use super::super::print::names_itself;
use super::super::{Expr, ExprId, Member, Start, Step, StepKind, Syntax};
use super::frame::{Frame, Members, MembersKind, Next};
use super::{Parsed, Parser};
use weir_language::span::Span;

impl Parser<'_> {
    pub(super) fn open_members(&mut self, start: u32, kind: MembersKind) -> Parsed<Next> {
        self.open(Frame::Members(Members::new(start, kind)))?;
        Ok(Next::Member)
    }

    /// Takes the comma before the next member, if there is one. All members are set apart by commas, or none.
    fn separate(&mut self) -> Parsed<()> {
        let is_unified = self.is_unified();
        let token = self.token;
        let is_comma = token.kind == TokenKind::Comma;
        let Some(Frame::Members(members)) = self.open.last_mut() else { return Ok(()) };
        if !is_unified || members.members.is_empty() {
            return Ok(());
        }
        let is_end = matches!(token.kind, TokenKind::CloseBrace | TokenKind::End);
        if is_end || is_comma == *members.has_commas.get_or_insert(is_comma) {
            if is_comma {
                self.advance()?;
            }
            return Ok(());
        }
        self.wrong(token.span, "commas stand between all members of these braces, or between none")
    }

    /// Next member of the innermost member selection, or its end.
    pub(super) fn member(&mut self) -> Parsed<Next> {
        self.separate()?;
        let token = self.token;
        match token.kind {
            TokenKind::CloseBrace | TokenKind::End => self.end_members(),
            TokenKind::Name | TokenKind::Text => {
                let key = self.key()?;
                if self.token.kind == TokenKind::Colon {
                    self.advance()?;
                    self.begin_member(Some(key), token.span);
                    return Ok(Next::Value);
                }
                self.begin_member(None, token.span);
                Ok(self.path(token.span, Start::Key(key)))
            }
            TokenKind::Dollar | TokenKind::Variable | TokenKind::At => {
                self.begin_member(None, token.span);
                self.path_start()
            }
            TokenKind::Ellipsis => self.parse_spread(),
            TokenKind::Comma => self.wrong(token.span, "members are set apart by spaces, not commas"),
            TokenKind::Number
            | TokenKind::Dot
            | TokenKind::Arrow
            | TokenKind::Question
            | TokenKind::Coalesce
            | TokenKind::IfMissing
            | TokenKind::Colon
            | TokenKind::OpenBrace
            | TokenKind::OpenParen
            | TokenKind::CloseParen
            | TokenKind::OpenBracket
            | TokenKind::CloseBracket => self.fail_unexpected("a member"),
        }
    }

    /// Parses `... path`, whose value's members are merged here.
    pub(super) fn parse_spread(&mut self) -> Parsed<Next> {
        let token = self.advance()?;
        self.newer.push((Syntax::Spread, token.span));
        self.begin_member(None, token.span);
        if let Some(Frame::Members(members)) = self.open.last_mut() {
            members.is_spread = true;
        }
        match self.token.kind {
            TokenKind::Dollar | TokenKind::Variable | TokenKind::At => self.path_start(),
            TokenKind::OpenBrace if self.is_unified() => Ok(Next::Value),
            _ => {
                let span = self.token.span;
                let key = self.key()?;
                Ok(self.path(span, Start::Key(key)))
            }
        }
    }

    pub(super) fn begin_member(&mut self, name: Option<Box<str>>, span: Span) {
        if let Some(Frame::Members(members)) = self.open.last_mut() {
            members.name = name;
            members.is_spread = false;
            members.span = span;
        }
    }

    /// Adds a member with its complete value. A name followed only by `?` and members names itself.
    pub(super) fn add_member(&mut self, mut members: Members, value: ExprId) -> Parsed<Next> {
        let span = members.span;
        let is_spread = members.is_spread;
        let mut name = members.name.take();
        if let Expr::Path { start: Start::Key(key), steps } = &self.exprs[value.0 as usize]
            && name.is_none()
            && !is_spread
            && steps.iter().all(names_itself)
        {
            name = Some(key.clone());
        }
        members.members.push(Member { name, value, is_spread, span });
        self.open.push(Frame::Members(members));
        Ok(Next::Member)
    }

    pub(super) fn end_members(&mut self) -> Parsed<Next> {
        let Some(Frame::Members(members)) = self.open.pop() else { return self.fail_unexpected("a value") };
        let is_whole = members.kind == MembersKind::Whole;
        if is_whole != (self.token.kind == TokenKind::End) {
            return self.fail_unexpected(if is_whole { "a member" } else { "`}`" });
        }
        if members.members.is_empty() && (is_whole || !self.is_unified()) {
            return self.wrong(self.token.span, "nothing is selected between these braces");
        }
        if !is_whole {
            self.brackets -= 1;
            self.advance()?;
        }
        // A single path without a name is the whole answer, not a member.
        if let [Member { name: None, value, is_spread: false, .. }] = members.members.as_slice()
            && is_whole
        {
            return Ok(Next::Whole(*value));
        }
        for member in members.members.iter().filter(|it| it.name.is_none() && !it.is_spread) {
            let spread = matches!(&self.exprs[member.value.0 as usize], Expr::Path { steps, .. }
                if matches!(steps.last(), Some(Step { kind: StepKind::Members(_), .. })));
            if !spread {
                return self.wrong(
                    member.span,
                    "this path needs a name (`name: a.b`), or members of its own in braces",
                );
            }
        }
        match members.kind {
            MembersKind::Path => {
                let span = Span::new(members.start, self.end);
                self.add_step(Step { kind: StepKind::Members(members.members), span });
                Ok(self.end_path())
            }
            MembersKind::Object => {
                let object = self.make_object(members.members, members.start);
                Ok(self.after_value(object, members.start))
            }
            // What is a part of a value is no group, whose members are known by themselves.
            MembersKind::Group if self.is_unified() && (self.is_step() || self.is_choice()) => {
                let object = self.make_object(members.members, members.start);
                Ok(self.after_value(object, members.start))
            }
            MembersKind::Whole | MembersKind::Group => {
                Ok(Next::Whole(self.push(Expr::Members(members.members), members.start)))
            }
        }
    }
}
