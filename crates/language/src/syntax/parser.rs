//! Turns text into a [`Document`]: executable and type system definitions by one grammar.
//!
//! The parser walks; it never calls itself. Selection sets and literals that nest are kept on stacks of its own,
//! where the members of what is still open wait, so that the members of one list end up side by side.
//! Syntax errors have the messages of graphql-js, version 17.
//!
//! **Invariant:** no bound of [`Limits`] that a text alone can break is broken by a document that comes out.
//!
//! **Cost:** one pass; memory in proportion to the tokens.
//! Source: GraphQL specification, sections 2 and 3, September 2025 edition.

mod executable;
mod literal_parser;
mod schema_definitions;

use super::ast::{Document, List, ObjectField, Selection, Value};
use super::lexer::{self, Lexer, Token, TokenKind};
use crate::error::{Code, Error};
use crate::limits::Limits;
use crate::span::Span;
use crate::string_value;

/// The edition of the specification a text is read by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// September 2025.
    #[default]
    September2025,
    /// September 2026: empty selection sets, directives on directive definitions, `extend directive`.
    September2026,
}

/// Parses `text` by the September 2025 edition.
///
/// # Errors
/// The first place where `text` is no document, or goes beyond `limits`.
pub fn parse<'t>(text: &'t str, limits: &Limits) -> Result<Document<'t>, Error> {
    parse_edition(text, limits, Edition::September2025)
}

/// Parses `text` by the given edition.
///
/// # Errors
/// The first place where `text` is no document, or goes beyond `limits`.
pub fn parse_edition<'t>(text: &'t str, limits: &Limits, edition: Edition) -> Result<Document<'t>, Error> {
    if text.len() > limits.bytes_max as usize {
        let message = format!("Document contains more than {} bytes. Parsing aborted.", limits.bytes_max);
        return Err(Error::new(Code::LimitBytes, Span::default(), message));
    }
    let mut parser = Parser::new(text, limits, edition);
    match parser.document() {
        Ok(()) => Ok(parser.document),
        Err(Failed) => Err(parser
            .error
            .unwrap_or_else(|| Error::new(Code::Syntax, Span::default(), "Syntax Error: Unexpected <EOF>."))),
    }
}

/// Marks a failure. The error itself is in [`Parser::error`], so that results on the hot path stay small.
#[derive(Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// True if a literal may contain variables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VariableUse {
    Allowed,
    Refused,
}

struct Parser<'t, 'l> {
    lexer: Lexer<'t>,
    /// The token to be read next.
    token: Token,
    /// End of the previous token.
    end: u32,
    /// Tokens so far, with `token`.
    tokens: u32,
    /// Brackets open before `token`.
    nesting: u32,
    aliases: u32,
    limits: &'l Limits,
    edition: Edition,
    document: Document<'t>,
    /// Members of the selection sets that are open, outermost first.
    selections: Vec<Selection>,
    /// Start of the members of each open set in `selections`.
    sets: Vec<usize>,
    /// Items of the list literals that are open.
    items: Vec<Value>,
    /// Fields of the object literals that are open.
    members: Vec<ObjectField>,
    /// The list and object literals that are open.
    literals: Vec<literal_parser::OpenLiteral>,
    error: Option<Error>,
}

impl<'t, 'l> Parser<'t, 'l> {
    fn new(text: &'t str, limits: &'l Limits, edition: Edition) -> Self {
        let mut lexer = Lexer::new(text);
        let token = lexer.next();
        let mut parser = Self {
            lexer,
            token,
            end: 0,
            tokens: u32::from(token.kind != TokenKind::Eof),
            nesting: 0,
            aliases: 0,
            limits,
            edition,
            document: Document { text, ..Document::default() },
            selections: Vec::new(),
            sets: Vec::new(),
            items: Vec::new(),
            members: Vec::new(),
            literals: Vec::new(),
            error: None,
        };
        parser.stop_at_token_limit();
        parser
    }

    /// At least one definition, to the end.
    fn document(&mut self) -> Parsed<()> {
        loop {
            self.definition()?;
            if self.token.kind == TokenKind::Eof {
                return Ok(());
            }
        }
    }

    #[inline]
    fn advance(&mut self) {
        self.end = self.token.end;
        self.token = self.lexer.next();
        self.tokens = self.tokens.saturating_add(1);
        if self.tokens > self.limits.tokens_max {
            self.stop_at_token_limit();
        }
    }

    /// A token too many becomes a bad one, so that nothing accepts it; [`Self::fail_at`] sees the reason.
    fn stop_at_token_limit(&mut self) {
        if self.tokens > self.limits.tokens_max && self.token.kind != TokenKind::Eof {
            self.token.kind = TokenKind::Bad;
        }
    }

    #[inline]
    fn str(&self, span: Span) -> &'t str {
        span.of(self.lexer.text)
    }

    /// From `start` to the end of the token before the current one.
    #[inline]
    const fn span_since(&self, start: u32) -> Span {
        Span::new(start, self.end)
    }

    /// Reads the current token if it is of `kind`.
    #[inline]
    fn take(&mut self, kind: TokenKind) -> bool {
        let is = self.token.kind == kind;
        if is {
            self.advance();
        }
        is
    }

    #[inline]
    fn expect(&mut self, kind: TokenKind) -> Parsed<Span> {
        if self.token.kind != kind {
            return Err(self.fail_expected(kind.text()));
        }
        let span = Span::new(self.token.start, self.token.end);
        self.advance();
        Ok(span)
    }

    #[inline]
    fn name(&mut self) -> Parsed<Span> {
        self.expect(TokenKind::Name)
    }

    fn is_keyword(&self, word: &str) -> bool {
        self.token.kind == TokenKind::Name && self.str(Span::new(self.token.start, self.token.end)) == word
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let is = self.is_keyword(word);
        if is {
            self.advance();
        }
        is
    }

    fn expect_keyword(&mut self, word: &str) -> Parsed<()> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.fail_expected(&format!("\"{word}\""))) }
    }

    /// Reads the opening bracket that is the current token.
    #[inline]
    fn open(&mut self) -> Parsed<()> {
        self.nesting += 1;
        if self.nesting > self.limits.nesting_max {
            return Err(self.too_deep(self.token));
        }
        self.advance();
        Ok(())
    }

    /// Reads `kind` as an opening bracket, or reports the expected token.
    fn expect_open(&mut self, kind: TokenKind) -> Parsed<()> {
        if self.token.kind == kind { self.open() } else { Err(self.fail_expected(kind.text())) }
    }

    /// Reads the closing bracket `kind` if it is there.
    #[inline]
    fn take_close(&mut self, kind: TokenKind) -> bool {
        let is = self.take(kind);
        self.nesting -= u32::from(is);
        is
    }

    #[cold]
    fn fail(&mut self, code: Code, span: Span, message: String) -> Failed {
        self.error = Some(Error::new(code, span, message));
        Failed
    }

    #[cold]
    fn too_deep(&mut self, token: Token) -> Failed {
        let message = format!("Document nests brackets deeper than {}.", self.limits.nesting_max);
        self.fail(Code::LimitNesting, Span::new(token.start, token.end), message)
    }

    /// Says that there are more than `max` of `what`, the last at `span`.
    #[cold]
    fn too_many(&mut self, code: Code, span: Span, max: u32, what: &str) -> Failed {
        self.fail(code, span, format!("Document contains more than {max} {what}."))
    }

    #[cold]
    fn fail_expected(&mut self, what: &str) -> Failed {
        let message = format!("Expected {what}, found {}.", self.describe(self.token));
        self.fail_at(self.token, &message)
    }

    #[cold]
    fn fail_unexpected(&mut self, token: Token) -> Failed {
        let message = format!("Unexpected {}.", self.describe(token));
        self.fail_at(token, &message)
    }

    /// A syntax error at `token`, unless a better reason hides in it or behind it.
    #[cold]
    fn fail_at(&mut self, token: Token, message: &str) -> Failed {
        // The lexer comes first: graphql-js stops where there is no token before it asks which token it is.
        if self.token.kind == TokenKind::Bad {
            return self.fail_lexing();
        }
        if let Some(deep) = self.flood() {
            return self.too_deep(deep);
        }
        let span = Span::new(token.start, token.end);
        self.fail(Code::Syntax, span, format!("Syntax Error: {message}"))
    }

    #[cold]
    fn fail_lexing(&mut self) -> Failed {
        let start = self.token.start;
        if self.tokens > self.limits.tokens_max {
            let max = self.limits.tokens_max;
            let message = format!("Syntax Error: Document contains more than {max} tokens. Parsing aborted.");
            return self.fail(Code::LimitTokens, Span::new(start, self.token.end), message);
        }
        let fault = lexer::fault(self.lexer.text, start as usize);
        let span = Span::new(fault.at as u32, fault.at as u32);
        self.fail(Code::Syntax, span, format!("Syntax Error: {}", fault.message))
    }

    /// The bracket that goes beyond the nesting bound in what is left, if any: a flood of brackets is named by
    /// its bound also where it is no grammar either.
    fn flood(&self) -> Option<Token> {
        let mut lexer = self.lexer.clone();
        let mut token = self.token;
        let mut nesting = self.nesting;
        for _ in self.tokens..=self.limits.tokens_max {
            match token.kind {
                TokenKind::ParenL | TokenKind::BracketL | TokenKind::BraceL => nesting += 1,
                TokenKind::ParenR | TokenKind::BracketR | TokenKind::BraceR => {
                    nesting = nesting.saturating_sub(1);
                }
                TokenKind::Eof | TokenKind::Bad => return None,
                TokenKind::Bang
                | TokenKind::Dollar
                | TokenKind::Amp
                | TokenKind::Spread
                | TokenKind::Colon
                | TokenKind::Equals
                | TokenKind::At
                | TokenKind::Pipe
                | TokenKind::Name
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::String
                | TokenKind::Block => {}
            }
            if nesting > self.limits.nesting_max {
                return Some(token);
            }
            token = lexer.next();
        }
        None
    }

    fn describe(&self, token: Token) -> String {
        let raw = self.str(Span::new(token.start, token.end));
        let kind = token.kind.text();
        match token.kind {
            TokenKind::Name | TokenKind::Int | TokenKind::Float => format!("{kind} \"{raw}\""),
            TokenKind::String | TokenKind::Block => format!("{kind} \"{}\"", string_value::decode(raw)),
            TokenKind::Eof
            | TokenKind::Bang
            | TokenKind::Dollar
            | TokenKind::Amp
            | TokenKind::ParenL
            | TokenKind::ParenR
            | TokenKind::Spread
            | TokenKind::Colon
            | TokenKind::Equals
            | TokenKind::At
            | TokenKind::BracketL
            | TokenKind::BracketR
            | TokenKind::BraceL
            | TokenKind::Pipe
            | TokenKind::BraceR
            | TokenKind::Bad => kind.to_owned(),
        }
    }
}

/// The nodes from place `start` of an arena to its end. All empty lists are the same.
#[inline]
fn list_from<T>(start: usize, arena: &[T]) -> List<T> {
    if start == arena.len() { List::default() } else { List::new(start as u32, (arena.len() - start) as u32) }
}

/// Moves what lies from `start` on in `open` to the end of `arena`.
#[inline]
fn close_list<T: Copy>(open: &mut Vec<T>, start: usize, arena: &mut Vec<T>) -> List<T> {
    let first = arena.len();
    arena.extend_from_slice(&open[start..]);
    open.truncate(start);
    list_from(first, arena)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ast::{Definition, ValueKind};

    fn check(text: &str, message: &str) {
        let found = match parse(text, &Limits::STANDARD) {
            Ok(_) => "ok".to_owned(),
            Err(error) => error.message,
        };
        assert_eq!(found, message, "{text}");
    }

    #[test]
    fn members_of_one_list_lie_side_by_side_however_deep_they_nest() {
        let text = "{ a { b { c d } e } f(x: [1, [2, 3], {k: [4], l: 5}]) { g } }";
        let document = parse(text, &Limits::STANDARD).unwrap();
        let Definition::Operation(operation) = document.definitions[0] else { panic!("an operation") };
        let names = |list| {
            let name = |selection: &Selection| match selection {
                Selection::Field(field) => document.str(field.name),
                Selection::Spread(_) | Selection::Inline(_) => "fragment",
            };
            document.list(list).iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(names(operation.selections), ["a", "f"]);
        let [Selection::Field(a), Selection::Field(f)] = document.list(operation.selections) else {
            panic!("two fields")
        };
        assert_eq!(names(a.selections), ["b", "e"]);
        assert_eq!(document.str(a.span), "a { b { c d } e }");
        let argument = document.list(f.arguments)[0];
        assert_eq!(document.str(argument.span), "x: [1, [2, 3], {k: [4], l: 5}]");
        let ValueKind::List(items) = document.value(argument.value).kind else { panic!("a list") };
        let items: Vec<_> = document.list(items).iter().map(|item| document.str(item.span)).collect();
        assert_eq!(items, ["1", "[2, 3]", "{k: [4], l: 5}"]);
    }

    #[test]
    fn faults_are_told_in_the_words_of_graphql_js() {
        check("{", "Syntax Error: Expected Name, found <EOF>.");
        check("", "Syntax Error: Unexpected <EOF>.");
        check("{ }", "Syntax Error: Expected Name, found \"}\".");
        check("{ a(b: 01) }", "Syntax Error: Invalid number, unexpected digit after 0: \"1\".");
        check("fragment on on T { a }", "Syntax Error: Unexpected Name \"on\".");
        check(
            "\"\" { a }",
            "Syntax Error: Unexpected description, descriptions are not supported on shorthand queries.",
        );
    }

    #[test]
    fn every_bound_has_its_code() {
        let code = |text: &str| parse(text, &Limits::STANDARD).map(|_| ()).map_err(|error| error.code);
        assert_eq!(code(&"{".repeat(100_000)), Err(Code::LimitNesting));
        assert_eq!(code(&"{a".repeat(100_000)), Err(Code::LimitNesting));
        assert_eq!(code(&format!("{{ {} }}", "a ".repeat(15_000))), Err(Code::LimitTokens));
        assert_eq!(code(&format!("{{ {} }}", "a ".repeat(14_998))), Ok(()));
        assert_eq!(code(&" ".repeat(2_000_001)), Err(Code::LimitBytes));
    }
}
