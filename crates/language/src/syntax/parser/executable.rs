//! Operations, fragments, selection sets, arguments, directives.
//!
//! **Invariant:** one function, [`Parser::selection_set`], reads all the sets below one operation; its depth is the
//! length of [`Parser::sets`], never the machine's stack.

use super::{Edition, Failed, Parsed, Parser, VariableUse, close_list, list_from};
use crate::error::Code;
use crate::span::Span;
use crate::syntax::ast::{
    Argument, Definition, Description, Directive, Field, Fragment, Inline, List, Operation, OperationKind,
    Selection, Spread, ValueId, VariableDefinition,
};
use crate::syntax::lexer::{Token, TokenKind};

impl Parser<'_, '_> {
    /// One definition of either kind.
    pub(super) fn definition(&mut self) -> Parsed<()> {
        let first = self.token;
        if first.kind == TokenKind::BraceL {
            return self.operation(OperationKind::Query, None, first);
        }
        let description = self.description();
        if description.is_some() && self.token.kind == TokenKind::BraceL {
            let message = "Unexpected description, descriptions are not supported on shorthand queries.";
            return Err(self.fail_at(first, message));
        }
        if self.token.kind != TokenKind::Name {
            return Err(self.fail_unexpected(self.token));
        }
        match self.str(Span::new(self.token.start, self.token.end)) {
            "query" => self.operation(OperationKind::Query, description, first),
            "mutation" => self.operation(OperationKind::Mutation, description, first),
            "subscription" => self.operation(OperationKind::Subscription, description, first),
            "fragment" => self.fragment(description, first.start),
            word => self.type_system_definition(word, description, first),
        }
    }

    /// An operation from its keyword on, or from its `{` when it has none.
    fn operation(&mut self, kind: OperationKind, description: Description, first: Token) -> Parsed<()> {
        let mut operation = Operation {
            kind,
            description,
            name: Span::default(),
            variables: List::default(),
            directives: List::default(),
            selections: List::default(),
            span: Span::default(),
        };
        if first.kind != TokenKind::BraceL {
            self.advance();
            if self.token.kind == TokenKind::Name {
                operation.name = self.name()?;
            }
            operation.variables = self.variable_definitions()?;
            operation.directives = self.directives(VariableUse::Allowed)?;
        }
        operation.selections = self.selection_set()?;
        operation.span = self.span_since(first.start);
        self.document.definitions.push(Definition::Operation(operation));
        Ok(())
    }

    fn fragment(&mut self, description: Description, start: u32) -> Parsed<()> {
        self.advance();
        if self.is_keyword("on") {
            return Err(self.fail_unexpected(self.token));
        }
        let name = self.name()?;
        self.expect_keyword("on")?;
        let on = self.name()?;
        let directives = self.directives(VariableUse::Allowed)?;
        let selections = self.selection_set()?;
        let span = self.span_since(start);
        let fragment = Fragment { description, name, on, directives, selections, span };
        self.document.definitions.push(Definition::Fragment(fragment));
        Ok(())
    }

    fn variable_definitions(&mut self) -> Parsed<List<VariableDefinition>> {
        let start = self.document.variables.len();
        if self.token.kind == TokenKind::ParenL {
            self.open()?;
            loop {
                self.variable_definition(start)?;
                if self.take_close(TokenKind::ParenR) {
                    break;
                }
            }
        }
        Ok(list_from(start, &self.document.variables))
    }

    fn variable_definition(&mut self, list_start: usize) -> Parsed<()> {
        let start = self.token.start;
        let description = self.description();
        self.expect(TokenKind::Dollar)?;
        let name = self.name()?;
        self.expect(TokenKind::Colon)?;
        let ty = self.type_expr()?;
        let default = self.default_value()?;
        let directives = self.directives(VariableUse::Refused)?;
        let span = self.span_since(start);
        let variable = VariableDefinition { description, name, ty, default, directives, span };
        self.document.variables.push(variable);
        let max = self.limits.variables_max;
        if self.document.variables.len() - list_start > max as usize {
            return Err(self.too_many(Code::LimitVariables, span, max, "variables in one operation"));
        }
        Ok(())
    }

    /// `{ … }` with all sets inside.
    fn selection_set(&mut self) -> Parsed<List<Selection>> {
        self.open_set()?;
        loop {
            match self.token.kind {
                TokenKind::Name => self.field()?,
                TokenKind::Spread => self.fragment_use()?,
                TokenKind::BraceR => {
                    if let Some(outermost) = self.close_set()? {
                        return Ok(outermost);
                    }
                }
                _ => return Err(self.fail_expected(TokenKind::Name.text())),
            }
        }
    }

    fn open_set(&mut self) -> Parsed<()> {
        self.expect_open(TokenKind::BraceL)?;
        self.sets.push(self.selections.len());
        Ok(())
    }

    /// Reads `}`. Gives the set to the selection that opened it, or to the caller if none did.
    fn close_set(&mut self) -> Parsed<Option<List<Selection>>> {
        let start = self.sets.pop().ok_or(Failed)?;
        if start == self.selections.len() && self.edition == Edition::September2025 {
            return Err(self.fail_expected(TokenKind::Name.text()));
        }
        self.take_close(TokenKind::BraceR);
        let list = close_list(&mut self.selections, start, &mut self.document.selections);
        if self.sets.is_empty() {
            return Ok(Some(list));
        }
        let end = self.end;
        match self.selections.last_mut() {
            Some(Selection::Field(field)) => {
                field.selections = list;
                field.span.end = end;
            }
            Some(Selection::Inline(inline)) => {
                inline.selections = list;
                inline.span.end = end;
            }
            Some(Selection::Spread(_)) | None => return Err(Failed),
        }
        Ok(None)
    }

    fn field(&mut self) -> Parsed<()> {
        let start = self.token.start;
        let mut name = self.name()?;
        let mut alias = Span::default();
        if self.take(TokenKind::Colon) {
            alias = name;
            name = self.name()?;
            self.aliases += 1;
            let max = self.limits.aliases_max;
            if self.aliases > max {
                return Err(self.too_many(Code::LimitAliases, alias, max, "aliases"));
            }
        }
        let arguments = self.arguments(VariableUse::Allowed)?;
        let directives = self.directives(VariableUse::Allowed)?;
        let braces = self.token.kind == TokenKind::BraceL;
        let span = self.span_since(start);
        let selections = List::default();
        let field = Field { alias, name, arguments, directives, selections, braces, span };
        self.selections.push(Selection::Field(field));
        if braces { self.open_set() } else { Ok(()) }
    }

    /// Parses a fragment spread or an inline fragment, both of which begin with `...`.
    fn fragment_use(&mut self) -> Parsed<()> {
        let start = self.token.start;
        self.advance();
        let mut on = Span::default();
        if self.take_keyword("on") {
            on = self.name()?;
        } else if self.token.kind == TokenKind::Name {
            let name = self.name()?;
            let directives = self.directives(VariableUse::Allowed)?;
            let span = self.span_since(start);
            self.selections.push(Selection::Spread(Spread { name, directives, span }));
            return Ok(());
        }
        let directives = self.directives(VariableUse::Allowed)?;
        let inline = Inline { on, directives, selections: List::default(), span: self.span_since(start) };
        self.selections.push(Selection::Inline(inline));
        self.open_set()
    }

    #[inline]
    fn arguments(&mut self, variables: VariableUse) -> Parsed<List<Argument>> {
        let start = self.document.arguments.len();
        if self.token.kind == TokenKind::ParenL {
            self.open()?;
            loop {
                self.argument(variables)?;
                if self.take_close(TokenKind::ParenR) {
                    break;
                }
            }
        }
        Ok(list_from(start, &self.document.arguments))
    }

    fn argument(&mut self, variables: VariableUse) -> Parsed<()> {
        let name = self.name()?;
        self.expect(TokenKind::Colon)?;
        let value = self.value(variables)?;
        let span = self.span_since(name.start);
        self.document.arguments.push(Argument { name, value, span });
        Ok(())
    }

    #[inline]
    pub(super) fn directives(&mut self, variables: VariableUse) -> Parsed<List<Directive>> {
        let start = self.document.directives.len();
        while self.token.kind == TokenKind::At {
            self.directive(variables, start)?;
        }
        Ok(list_from(start, &self.document.directives))
    }

    fn directive(&mut self, variables: VariableUse, list_start: usize) -> Parsed<()> {
        let start = self.token.start;
        self.advance();
        let name = self.name()?;
        let arguments = self.arguments(variables)?;
        let span = self.span_since(start);
        self.document.directives.push(Directive { name, arguments, span });
        let all = self.limits.directives_max;
        let here = self.limits.directives_per_place_max;
        let count = self.document.directives.len();
        if count > all as usize {
            return Err(self.too_many(Code::LimitDirectives, span, all, "directives"));
        }
        if count - list_start > here as usize {
            return Err(self.too_many(Code::LimitDirectives, span, here, "directives in one place"));
        }
        Ok(())
    }

    /// `= literal`, if it is there.
    pub(super) fn default_value(&mut self) -> Parsed<Option<ValueId>> {
        if self.take(TokenKind::Equals) { self.value(VariableUse::Refused).map(Some) } else { Ok(None) }
    }
}
