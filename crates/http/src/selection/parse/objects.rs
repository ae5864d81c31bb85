//! Parses objects where a value is expected: `{name: a, other: b}`.
//!
//! Before v0.4 members are pairs, set apart by commas. Since then they are what members of a selection are, over the values
//! around the braces: `$` and `@` stay what they are. Braces as the value of such a member select of `@`.

use super::super::lex::TokenKind;
use super::super::{Expr, ExprId, Grammar, Member, Start, Syntax};
use super::frame::{Frame, MembersKind, Next};
use super::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn open_object(&mut self, start: u32) -> Parsed<Next> {
        if self.grammar == Grammar::Unified {
            return self.open_members(start, MembersKind::Object);
        }
        self.open(Frame::Object { start, members: Vec::new(), key: "".into() })?;
        self.object_member()
    }

    /// Next member of the innermost object, or its end.
    pub(super) fn object_member(&mut self) -> Parsed<Next> {
        let span = self.token.span;
        if self.token.kind == TokenKind::CloseBrace {
            self.advance()?;
            self.brackets -= 1;
            let Some(Frame::Object { start, members, .. }) = self.open.pop() else {
                return self.fail_unexpected("a value");
            };
            let id = self.push(Expr::Object(members), start);
            return Ok(self.after_value(id, start));
        }
        let is_word = self.token.kind == TokenKind::Name;
        let name = self.key()?;
        if let Some(Frame::Object { members, key, .. }) = self.open.last_mut() {
            if members.iter().any(|it| it.0 == name) {
                return self.wrong(span, format!("`{name}` is given twice"));
            }
            key.clone_from(&name);
        }
        match self.token.kind {
            TokenKind::Colon => {
                self.advance()?;
                Ok(Next::Value)
            }
            TokenKind::Comma | TokenKind::CloseBrace if is_word => {
                self.newer.push((Syntax::Shorthand, span));
                let value = Expr::Path { start: Start::Key(name), steps: Vec::new() };
                Ok(Next::Whole(self.push(value, span.start)))
            }
            _ => self.fail_unexpected("`:` and a value"),
        }
    }

    /// The object of `members`: one of pairs or, where a member has no name of its own, several that are merged.
    pub(super) fn make_object(&mut self, members: Vec<Member>, start: u32) -> ExprId {
        let mut parts = Vec::new();
        let mut pairs: Vec<(Box<str>, ExprId)> = Vec::new();
        for member in members {
            match member.name {
                Some(name) if pairs.iter().all(|it| it.0 != name) => pairs.push((name, member.value)),
                Some(name) => {
                    parts.push(self.push(Expr::Object(std::mem::take(&mut pairs)), start));
                    pairs.push((name, member.value));
                }
                None => {
                    if !pairs.is_empty() {
                        parts.push(self.push(Expr::Object(std::mem::take(&mut pairs)), start));
                    }
                    parts.push(member.value);
                }
            }
        }
        if parts.is_empty() {
            return self.push(Expr::Object(pairs), start);
        }
        if !pairs.is_empty() {
            parts.push(self.push(Expr::Object(pairs), start));
        }
        self.push(Expr::Merged(parts), start)
    }
}
