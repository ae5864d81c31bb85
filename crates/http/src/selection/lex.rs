//! Tokens of the mapping language: names, texts, numbers, punctuation. `#` starts a comment.
//!
//! **Invariant:** spans lie on character boundaries; every call moves on or says what is wrong.

use super::SelectionError;
use std::borrow::Cow;
use weir_language::span::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    End,
    Name,
    /// A string with its quotes.
    Text,
    Number,
    /// `$name`, with the dollar.
    Variable,
    /// `$` alone.
    Dollar,
    At,
    Dot,
    Arrow,
    Question,
    /// `??`
    Coalesce,
    /// `?!`
    IfMissing,
    /// `...`
    Ellipsis,
    Colon,
    Comma,
    OpenBrace,
    CloseBrace,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
}

pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    at: usize,
    /// True if a following `.` continues the previous value.
    is_behind_value: bool,
}

impl<'t> Lexer<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, at: 0, is_behind_value: false }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => {
                    let rest = &self.text.as_bytes()[self.at..];
                    self.at += rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    pub(super) fn next(&mut self) -> Result<Token, SelectionError> {
        self.skip();
        let start = self.at;
        let kind = self.kind()?;
        self.is_behind_value = !matches!(
            kind,
            TokenKind::OpenParen
                | TokenKind::OpenBracket
                | TokenKind::Comma
                | TokenKind::Colon
                | TokenKind::Coalesce
                | TokenKind::IfMissing
                | TokenKind::End
        );
        Ok(Token { kind, span: Span::new(start as u32, self.at as u32) })
    }

    fn take(&mut self, bytes: usize, kind: TokenKind) -> TokenKind {
        self.at += bytes;
        kind
    }

    fn kind(&mut self) -> Result<TokenKind, SelectionError> {
        use TokenKind as Kind;
        if self.at >= self.text.len() {
            return Ok(Kind::End);
        }
        Ok(match self.byte(0) {
            b'$' if is_name_start(self.byte(1)) => {
                self.at += 1;
                self.name();
                Kind::Variable
            }
            b'$' => self.take(1, Kind::Dollar),
            b'@' => self.take(1, Kind::At),
            b'.' if self.byte(1) == b'.' && self.byte(2) == b'.' => self.take(3, Kind::Ellipsis),
            b'.' if self.byte(1).is_ascii_digit() && !self.is_behind_value => self.number()?,
            b'.' => self.take(1, Kind::Dot),
            b'-' if self.byte(1) == b'>' => self.take(2, Kind::Arrow),
            b'?' if self.byte(1) == b'?' => self.take(2, Kind::Coalesce),
            b'?' if self.byte(1) == b'!' => self.take(2, Kind::IfMissing),
            b'?' => self.take(1, Kind::Question),
            b':' => self.take(1, Kind::Colon),
            b',' => self.take(1, Kind::Comma),
            b'{' => self.take(1, Kind::OpenBrace),
            b'}' => self.take(1, Kind::CloseBrace),
            b'(' => self.take(1, Kind::OpenParen),
            b')' => self.take(1, Kind::CloseParen),
            b'[' => self.take(1, Kind::OpenBracket),
            b']' => self.take(1, Kind::CloseBracket),
            b'"' | b'\'' => self.string()?,
            b'-' | b'0'..=b'9' => self.number()?,
            byte if is_name_start(byte) => {
                self.name();
                Kind::Name
            }
            _ => {
                let letter = self.text[self.at..].chars().next().unwrap_or(' ');
                let message = format!("`{}` cannot stand here", letter.escape_debug());
                return Err(self.wrong(letter.len_utf8(), message));
            }
        })
    }

    fn wrong(&self, bytes: usize, message: impl Into<String>) -> SelectionError {
        SelectionError::new(Span::new(self.at as u32, (self.at + bytes) as u32), message)
    }

    fn name(&mut self) {
        while is_name_start(self.byte(0)) || self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<TokenKind, SelectionError> {
        let start = self.at;
        let quote = self.byte(0);
        self.at += 1;
        while self.at < self.text.len() {
            match self.byte(0) {
                b'\\' => self.at += 2,
                byte if byte == quote => return Ok(self.take(1, TokenKind::Text)),
                _ => self.at += 1,
            }
        }
        self.at = start;
        Err(self.wrong(1, "this text has no end: its quote is missing"))
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
        self.at > start
    }

    /// Reads `1`, `-0.5`, `.5`, `5.` and, as an extension, `1e3`.
    fn number(&mut self) -> Result<TokenKind, SelectionError> {
        let start = self.at;
        self.at += usize::from(self.byte(0) == b'-');
        let mut sound = self.digits();
        if self.byte(0) == b'.' && (self.byte(1).is_ascii_digit() || sound && !is_name_start(self.byte(1))) {
            self.at += 1;
            sound |= self.digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(0), b'+' | b'-'));
            sound &= self.digits();
        }
        if sound && !is_name_start(self.byte(0)) {
            return Ok(TokenKind::Number);
        }
        let len = (self.at - start).max(1);
        self.at = start;
        Err(self.wrong(len, "this is no number"))
    }
}

const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Decodes the text between the quotes of `raw`: `\n` is a line end; a backslash before any other character is dropped.
pub(super) fn decode(raw: &str) -> Cow<'_, str> {
    let inner = &raw[1..raw.len() - 1];
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut letters = inner.chars();
    let mut text = String::with_capacity(inner.len());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next().map(|it| if it == 'n' { '\n' } else { it })),
            letter => text.push(letter),
        }
    }
    Cow::Owned(text)
}

/// Normalizes digits to JSON: `.5` becomes `0.5`, `007` becomes `7`, `5.` becomes `5.0`.
pub(super) fn json_digits(raw: &str) -> String {
    let (sign, digits) = raw.strip_prefix('-').map_or(("", raw), |it| ("-", it));
    let (number, exponent) = digits.find(['e', 'E']).map_or((digits, ""), |at| digits.split_at(at));
    let (whole, fraction) = number.split_once('.').map_or((number, None), |it| (it.0, Some(it.1)));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    match fraction {
        None => format!("{sign}{whole}{exponent}"),
        Some("") => format!("{sign}{whole}.0{exponent}"),
        Some(fraction) => format!("{sign}{whole}.{fraction}{exponent}"),
    }
}
