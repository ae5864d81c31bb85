//! Definitions and extensions of the type system.
//!
//! **Invariant:** what is defined by a definition (fields, arguments, values) lies side by side; definitions do not
//! nest, so nothing has to wait here.
//! Source: GraphQL specification, section 3.

use super::{Edition, Parsed, Parser, VariableUse, list_from};
use crate::span::Span;
use crate::syntax::ast::{
    Definition, Description, Directive, DirectiveDefinition, EnumValueDefinition, FieldDefinition,
    InputDefinition, List, NameNode, OperationKind, RootOperation, SchemaDefinition, TypeBody,
    TypeDefinition,
};
use crate::syntax::lexer::{Token, TokenKind};

/// Locations of directives. Source: GraphQL specification, section 3.13; the last one is of the 2026 edition.
const LOCATIONS: [&str; 20] = [
    "QUERY",
    "MUTATION",
    "SUBSCRIPTION",
    "FIELD",
    "FRAGMENT_DEFINITION",
    "FRAGMENT_SPREAD",
    "INLINE_FRAGMENT",
    "VARIABLE_DEFINITION",
    "SCHEMA",
    "SCALAR",
    "OBJECT",
    "FIELD_DEFINITION",
    "ARGUMENT_DEFINITION",
    "INTERFACE",
    "UNION",
    "ENUM",
    "ENUM_VALUE",
    "INPUT_OBJECT",
    "INPUT_FIELD_DEFINITION",
    "DIRECTIVE_DEFINITION",
];

/// Directives and members of a type: the part behind its name.
type Body = (List<Directive>, TypeBody);

/// Start of a definition.
#[derive(Clone, Copy)]
struct Head {
    description: Description,
    extend: bool,
    start: u32,
}

impl Parser<'_, '_> {
    /// A definition that begins with `word`, the current token, after an optional description.
    pub(super) fn type_system_definition(
        &mut self,
        word: &str,
        description: Description,
        first: Token,
    ) -> Parsed<()> {
        let head = Head { description, extend: word == "extend", start: first.start };
        if !head.extend {
            return if self.definition_of(word, head)? { Ok(()) } else { Err(self.not_described(first)) };
        }
        if description.is_some() {
            return Err(self.not_described(first));
        }
        self.advance();
        let known = self.token.kind == TokenKind::Name && {
            let word = self.str(Span::new(self.token.start, self.token.end));
            let editions = word != "directive" || self.edition == Edition::September2026;
            editions && self.definition_of(word, head)?
        };
        if known { Ok(()) } else { Err(self.fail_unexpected(self.token)) }
    }

    /// Complains of a word that begins no definition.
    fn not_described(&mut self, first: Token) -> super::Failed {
        if first.kind == TokenKind::Name {
            return self.fail_unexpected(first);
        }
        self.fail_at(first, "Unexpected description, only GraphQL definitions support descriptions.")
    }

    /// Reads the definition or extension that the keyword `word` begins; `false`, and nothing read, if none does.
    fn definition_of(&mut self, word: &str, head: Head) -> Parsed<bool> {
        let body: fn(&mut Self) -> Parsed<Body> = match word {
            "schema" => return self.schema(head).map(|()| true),
            "directive" => return self.directive_definition(head).map(|()| true),
            "scalar" => Self::scalar_body,
            "type" => Self::object_body,
            "interface" => Self::interface_body,
            "union" => Self::union_body,
            "enum" => Self::enum_body,
            "input" => Self::input_body,
            _ => return Ok(false),
        };
        self.advance();
        let name = self.name()?;
        let after_name = self.token.start;
        let (directives, body) = body(self)?;
        if head.extend && self.token.start == after_name {
            // An extension must contain something after the name.
            return Err(self.fail_unexpected(self.token));
        }
        let Head { description, extend, start } = head;
        let span = self.span_since(start);
        let definition = TypeDefinition { description, extend, name, directives, body, span };
        self.document.definitions.push(Definition::Type(definition));
        Ok(true)
    }

    fn schema(&mut self, head: Head) -> Parsed<()> {
        self.advance();
        let after_keyword = self.token.start;
        let directives = self.directives(VariableUse::Refused)?;
        let start = self.document.root_operations.len();
        if !head.extend || self.token.kind == TokenKind::BraceL {
            self.expect_open(TokenKind::BraceL)?;
            loop {
                self.root_operation()?;
                if self.take_close(TokenKind::BraceR) {
                    break;
                }
            }
        }
        if head.extend && self.token.start == after_keyword {
            return Err(self.fail_unexpected(self.token));
        }
        let operations = list_from(start, &self.document.root_operations);
        let Head { description, extend, start } = head;
        let span = self.span_since(start);
        let definition = SchemaDefinition { description, extend, directives, operations, span };
        self.document.definitions.push(Definition::Schema(definition));
        Ok(())
    }

    fn root_operation(&mut self) -> Parsed<()> {
        let word = self.token;
        let span = self.name()?;
        let kind = match self.str(span) {
            "query" => OperationKind::Query,
            "mutation" => OperationKind::Mutation,
            "subscription" => OperationKind::Subscription,
            _ => return Err(self.fail_unexpected(word)),
        };
        self.expect(TokenKind::Colon)?;
        let ty = self.name()?;
        self.document.root_operations.push(RootOperation { kind, ty, span: self.span_since(word.start) });
        Ok(())
    }

    fn directive_definition(&mut self, head: Head) -> Parsed<()> {
        self.advance();
        self.expect(TokenKind::At)?;
        let name = self.name()?;
        let Head { description, extend, start } = head;
        let mut definition = DirectiveDefinition {
            description,
            name,
            arguments: List::default(),
            directives: List::default(),
            repeatable: false,
            locations: List::default(),
            extend,
            span: Span::default(),
        };
        if !extend {
            definition.arguments = self.input_definitions(TokenKind::ParenL, TokenKind::ParenR)?;
        }
        if self.edition == Edition::September2026 {
            definition.directives = self.directives(VariableUse::Refused)?;
        }
        if !extend {
            definition.repeatable = self.take_keyword("repeatable");
            self.expect_keyword("on")?;
            definition.locations = self.names(TokenKind::Pipe, Self::location)?;
        } else if definition.directives.is_empty() {
            return Err(self.fail_unexpected(self.token));
        }
        definition.span = self.span_since(start);
        self.document.definitions.push(Definition::Directive(definition));
        Ok(())
    }

    fn location(&mut self) -> Parsed<Span> {
        let token = self.token;
        let name = self.name()?;
        let known = match self.edition {
            Edition::September2025 => &LOCATIONS[..LOCATIONS.len() - 1],
            Edition::September2026 => &LOCATIONS[..],
        };
        if known.contains(&self.str(name)) { Ok(name) } else { Err(self.fail_unexpected(token)) }
    }

    /// Names between `delimiter`s, which may also stand before the first.
    fn names(&mut self, delimiter: TokenKind, name: fn(&mut Self) -> Parsed<Span>) -> Parsed<List<NameNode>> {
        let start = self.document.names.len();
        self.take(delimiter);
        loop {
            let name = name(self)?;
            self.document.names.push(NameNode(name));
            if !self.take(delimiter) {
                return Ok(list_from(start, &self.document.names));
            }
        }
    }

    fn scalar_body(&mut self) -> Parsed<Body> {
        Ok((self.directives(VariableUse::Refused)?, TypeBody::Scalar))
    }

    fn object_body(&mut self) -> Parsed<Body> {
        let interfaces = self.interfaces()?;
        let directives = self.directives(VariableUse::Refused)?;
        Ok((directives, TypeBody::Object { interfaces, fields: self.fields()? }))
    }

    fn interface_body(&mut self) -> Parsed<Body> {
        let interfaces = self.interfaces()?;
        let directives = self.directives(VariableUse::Refused)?;
        Ok((directives, TypeBody::Interface { interfaces, fields: self.fields()? }))
    }

    fn union_body(&mut self) -> Parsed<Body> {
        let directives = self.directives(VariableUse::Refused)?;
        let mut members = List::default();
        if self.take(TokenKind::Equals) {
            members = self.names(TokenKind::Pipe, Self::name)?;
        }
        Ok((directives, TypeBody::Union { members }))
    }

    fn enum_body(&mut self) -> Parsed<Body> {
        let directives = self.directives(VariableUse::Refused)?;
        let start = self.document.enum_value_definitions.len();
        if self.token.kind == TokenKind::BraceL {
            self.open()?;
            loop {
                self.enum_value()?;
                if self.take_close(TokenKind::BraceR) {
                    break;
                }
            }
        }
        Ok((directives, TypeBody::Enum { values: list_from(start, &self.document.enum_value_definitions) }))
    }

    fn input_body(&mut self) -> Parsed<Body> {
        let directives = self.directives(VariableUse::Refused)?;
        let fields = self.input_definitions(TokenKind::BraceL, TokenKind::BraceR)?;
        Ok((directives, TypeBody::Input { fields }))
    }

    fn interfaces(&mut self) -> Parsed<List<NameNode>> {
        if self.take_keyword("implements") {
            self.names(TokenKind::Amp, Self::name)
        } else {
            Ok(List::default())
        }
    }

    fn fields(&mut self) -> Parsed<List<FieldDefinition>> {
        let start = self.document.field_definitions.len();
        if self.token.kind == TokenKind::BraceL {
            self.open()?;
            loop {
                self.field_definition()?;
                if self.take_close(TokenKind::BraceR) {
                    break;
                }
            }
        }
        Ok(list_from(start, &self.document.field_definitions))
    }

    fn field_definition(&mut self) -> Parsed<()> {
        let start = self.token.start;
        let description = self.description();
        let name = self.name()?;
        let arguments = self.input_definitions(TokenKind::ParenL, TokenKind::ParenR)?;
        self.expect(TokenKind::Colon)?;
        let ty = self.type_expr()?;
        let directives = self.directives(VariableUse::Refused)?;
        let span = self.span_since(start);
        let field = FieldDefinition { description, name, arguments, ty, directives, span };
        self.document.field_definitions.push(field);
        Ok(())
    }

    /// Arguments or input fields between brackets; none if the opening one is not there.
    fn input_definitions(&mut self, open: TokenKind, close: TokenKind) -> Parsed<List<InputDefinition>> {
        let start = self.document.input_definitions.len();
        if self.token.kind == open {
            self.open()?;
            loop {
                self.input_definition()?;
                if self.take_close(close) {
                    break;
                }
            }
        }
        Ok(list_from(start, &self.document.input_definitions))
    }

    fn input_definition(&mut self) -> Parsed<()> {
        let start = self.token.start;
        let description = self.description();
        let name = self.name()?;
        self.expect(TokenKind::Colon)?;
        let ty = self.type_expr()?;
        let default = self.default_value()?;
        let directives = self.directives(VariableUse::Refused)?;
        let span = self.span_since(start);
        let input = InputDefinition { description, name, ty, default, directives, span };
        self.document.input_definitions.push(input);
        Ok(())
    }

    fn enum_value(&mut self) -> Parsed<()> {
        let start = self.token.start;
        let description = self.description();
        let token = self.token;
        if self.is_keyword("true") || self.is_keyword("false") || self.is_keyword("null") {
            let message =
                format!("{} is reserved and cannot be used for an enum value.", self.describe(token));
            return Err(self.fail_at(token, &message));
        }
        let name = self.name()?;
        let directives = self.directives(VariableUse::Refused)?;
        let span = self.span_since(start);
        self.document.enum_value_definitions.push(EnumValueDefinition {
            description,
            name,
            directives,
            span,
        });
        Ok(())
    }
}
