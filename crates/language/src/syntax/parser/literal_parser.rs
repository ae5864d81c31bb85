//! Literals and types as written.
//!
//! **Invariant:** items of a list literal, and fields of an object literal, lie side by side in their arenas:
//! while a literal is open its members wait on a stack, below those of the literals inside it.

use super::{Parsed, Parser, VariableUse, close_list};
use crate::error::Code;
use crate::span::Span;
use crate::syntax::ast::{Description, ObjectField, TypeExpr, Value, ValueId, ValueKind};
use crate::syntax::lexer::TokenKind;
use crate::syntax::wraps::Wraps;

/// A list or object literal that is not closed yet.
pub(super) enum OpenLiteral {
    /// `[`: its items wait from `items` on.
    List { items: usize, start: u32 },
    /// `{`: its fields wait from `members` on; the value of `name` is being read.
    Object { members: usize, start: u32, name: Span },
}

impl Parser<'_, '_> {
    /// Any literal or variable.
    pub(super) fn value(&mut self, variables: VariableUse) -> Parsed<ValueId> {
        loop {
            let value = match self.token.kind {
                TokenKind::BracketL => {
                    let items = self.items.len();
                    let start = self.token.start;
                    self.open()?;
                    self.literals.push(OpenLiteral::List { items, start });
                    match self.close_literal()? {
                        Some(value) => value,
                        None => continue,
                    }
                }
                TokenKind::BraceL => {
                    let members = self.members.len();
                    let start = self.token.start;
                    self.open()?;
                    self.literals.push(OpenLiteral::Object { members, start, name: Span::default() });
                    match self.close_literal()? {
                        Some(value) => value,
                        None => continue,
                    }
                }
                _ => self.scalar(variables)?,
            };
            if let Some(id) = self.settle(value)? {
                return Ok(id);
            }
        }
    }

    /// Puts a whole value where it belongs, and closes the literals that end with it. Gives the id of the
    /// outermost value once that is whole.
    fn settle(&mut self, mut value: Value) -> Parsed<Option<ValueId>> {
        loop {
            match self.literals.last() {
                None => return Ok(Some(self.store(value))),
                Some(&OpenLiteral::List { items, .. }) => {
                    self.items.push(value);
                    let max = self.limits.list_items_max;
                    if self.items.len() - items > max as usize {
                        return Err(self.too_many(Code::LimitList, value.span, max, "items in one list"));
                    }
                }
                Some(&OpenLiteral::Object { name, .. }) => {
                    let span = Span::new(name.start, value.span.end);
                    let value = self.store(value);
                    self.members.push(ObjectField { name, value, span });
                }
            }
            match self.close_literal()? {
                Some(closed) => value = closed,
                None => return Ok(None),
            }
        }
    }

    /// Closes the innermost literal if it ends here; else gets ready for its next member.
    fn close_literal(&mut self) -> Parsed<Option<Value>> {
        let (kind, start) = match self.literals.last() {
            Some(&OpenLiteral::List { items, start }) => {
                if !self.take_close(TokenKind::BracketR) {
                    return Ok(None);
                }
                (ValueKind::List(close_list(&mut self.items, items, &mut self.document.values)), start)
            }
            Some(&OpenLiteral::Object { members, start, .. }) => {
                if !self.take_close(TokenKind::BraceR) {
                    let written = self.name()?;
                    self.expect(TokenKind::Colon)?;
                    if let Some(OpenLiteral::Object { name, .. }) = self.literals.last_mut() {
                        *name = written;
                    }
                    return Ok(None);
                }
                let fields = close_list(&mut self.members, members, &mut self.document.object_fields);
                (ValueKind::Object(fields), start)
            }
            None => return Ok(None),
        };
        self.literals.pop();
        Ok(Some(Value { kind, span: self.span_since(start) }))
    }

    fn store(&mut self, value: Value) -> ValueId {
        let id = ValueId(self.document.values.len() as u32);
        self.document.values.push(value);
        id
    }

    /// A value that holds no other.
    fn scalar(&mut self, variables: VariableUse) -> Parsed<Value> {
        let token = self.token;
        let span = Span::new(token.start, token.end);
        let kind = match token.kind {
            TokenKind::Int => ValueKind::Int,
            TokenKind::Float => ValueKind::Float,
            TokenKind::String => ValueKind::String { escapes: token.escapes },
            TokenKind::Block => ValueKind::Block,
            TokenKind::Name => match self.str(span) {
                "true" => ValueKind::Boolean(true),
                "false" => ValueKind::Boolean(false),
                "null" => ValueKind::Null,
                _ => ValueKind::Enum,
            },
            TokenKind::Dollar => return self.variable(variables),
            _ => return Err(self.fail_unexpected(token)),
        };
        self.advance();
        Ok(Value { kind, span })
    }

    fn variable(&mut self, variables: VariableUse) -> Parsed<Value> {
        let dollar = self.token;
        self.advance();
        if variables == VariableUse::Refused {
            if self.token.kind != TokenKind::Name {
                return Err(self.fail_unexpected(dollar));
            }
            let name = self.str(Span::new(self.token.start, self.token.end));
            return Err(self.fail_at(dollar, &format!("Unexpected variable \"${name}\" in constant value.")));
        }
        let name = self.name()?;
        Ok(Value { kind: ValueKind::Variable(name), span: self.span_since(dollar.start) })
    }

    /// A string before a definition, if there is one.
    pub(super) fn description(&mut self) -> Description {
        let kind = match self.token.kind {
            TokenKind::String => ValueKind::String { escapes: self.token.escapes },
            TokenKind::Block => ValueKind::Block,
            _ => return None,
        };
        let span = Span::new(self.token.start, self.token.end);
        self.advance();
        Some(self.store(Value { kind, span }))
    }

    /// `[Int!]!`
    pub(super) fn type_expr(&mut self) -> Parsed<TypeExpr> {
        let start = self.token.start;
        let mut lists = 0;
        while self.token.kind == TokenKind::BracketL {
            lists += 1;
            if lists > Wraps::LISTS_MAX {
                let span = Span::new(self.token.start, self.token.end);
                let message = format!("Type nests lists deeper than {}.", Wraps::LISTS_MAX);
                return Err(self.fail(Code::LimitNesting, span, message));
            }
            self.open()?;
        }
        let name = self.name()?;
        let mut wraps = Wraps::default();
        loop {
            if self.take(TokenKind::Bang) {
                wraps = wraps.non_null();
            }
            if lists == 0 {
                break;
            }
            if !self.take_close(TokenKind::BracketR) {
                return Err(self.fail_expected(TokenKind::BracketR.text()));
            }
            wraps = wraps.list().unwrap_or(wraps);
            lists -= 1;
        }
        Ok(TypeExpr { name, wraps, span: self.span_since(start) })
    }
}
