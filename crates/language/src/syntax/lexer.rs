//! Cuts a text into tokens, one at a time, by a table of bytes.
//!
//! The lexer never fails: invalid text becomes [`TokenKind::Bad`], and [`fault`] finds the message when the parser gets there. So
//! the hot path carries no errors.
//!
//! **Invariant:** tokens begin and end on character boundaries, because every byte that begins or ends one is
//! ASCII or the byte order mark.
//!
//! **Cost:** one pass, one table look-up per byte, no allocation.
//! Source: GraphQL specification, section 2.1.

use crate::string_value;
use memchr::{memchr2, memmem};

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Eof,
    Bang,
    Dollar,
    Amp,
    ParenL,
    ParenR,
    Spread,
    Colon,
    Equals,
    At,
    BracketL,
    BracketR,
    BraceL,
    Pipe,
    BraceR,
    Name,
    Int,
    Float,
    String,
    Block,
    /// No token of the language begins here.
    Bad,
}

impl TokenKind {
    /// graphql-js's name of the kind in messages.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Eof => "<EOF>",
            Self::Bang => "\"!\"",
            Self::Dollar => "\"$\"",
            Self::Amp => "\"&\"",
            Self::ParenL => "\"(\"",
            Self::ParenR => "\")\"",
            Self::Spread => "\"...\"",
            Self::Colon => "\":\"",
            Self::Equals => "\"=\"",
            Self::At => "\"@\"",
            Self::BracketL => "\"[\"",
            Self::BracketR => "\"]\"",
            Self::BraceL => "\"{\"",
            Self::Pipe => "\"|\"",
            Self::BraceR => "\"}\"",
            Self::Name => "Name",
            Self::Int => "Int",
            Self::Float => "Float",
            Self::String => "String",
            Self::Block => "BlockString",
            Self::Bad => "Bad",
        }
    }
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// True if a string contains a `\`.
    pub(crate) escapes: bool,
    /// First byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

/// Classes of bytes by the token that they can begin.
#[derive(Clone, Copy)]
enum Class {
    /// Space, tab, line end, comma.
    Ignored,
    /// `#`.
    Comment,
    /// First byte of the byte order mark.
    Mark,
    Name,
    Number,
    Quote,
    Dot,
    Punctuator(TokenKind),
    Other,
}

static CLASS: [Class; 256] = classes();
/// True for bytes that a name may contain.
pub(crate) static NAME_CONTINUE: [bool; 256] = name_bytes();
const MARK: &[u8] = "\u{FEFF}".as_bytes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => Class::Ignored,
            b'#' => Class::Comment,
            0xEF => Class::Mark,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => Class::Name,
            b'0'..=b'9' | b'-' => Class::Number,
            b'"' => Class::Quote,
            b'.' => Class::Dot,
            b'!' => Class::Punctuator(TokenKind::Bang),
            b'$' => Class::Punctuator(TokenKind::Dollar),
            b'&' => Class::Punctuator(TokenKind::Amp),
            b'(' => Class::Punctuator(TokenKind::ParenL),
            b')' => Class::Punctuator(TokenKind::ParenR),
            b':' => Class::Punctuator(TokenKind::Colon),
            b'=' => Class::Punctuator(TokenKind::Equals),
            b'@' => Class::Punctuator(TokenKind::At),
            b'[' => Class::Punctuator(TokenKind::BracketL),
            b']' => Class::Punctuator(TokenKind::BracketR),
            b'{' => Class::Punctuator(TokenKind::BraceL),
            b'|' => Class::Punctuator(TokenKind::Pipe),
            b'}' => Class::Punctuator(TokenKind::BraceR),
            _ => Class::Other,
        };
        byte += 1;
    }
    table
}

const fn name_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric() || letter == b'_';
        byte += 1;
    }
    table
}

/// Reads tokens from a text of at most `u32::MAX` bytes.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'t> {
    pub(crate) text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) const fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token; at the end, and from then on, [`TokenKind::Eof`].
    #[inline]
    pub(crate) fn next(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            let Some(&byte) = bytes.get(at) else {
                return self.token(TokenKind::Eof, at, at);
            };
            match CLASS[byte as usize] {
                Class::Ignored => at += 1,
                Class::Name => {
                    let mut end = at + 1;
                    while bytes.get(end).is_some_and(|&byte| NAME_CONTINUE[byte as usize]) {
                        end += 1;
                    }
                    return self.token(TokenKind::Name, at, end);
                }
                Class::Punctuator(kind) => return self.token(kind, at, at + 1),
                Class::Comment => at = memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |n| at + n),
                Class::Dot if bytes[at..].starts_with(b"...") => {
                    return self.token(TokenKind::Spread, at, at + 3);
                }
                Class::Number => return self.number(at),
                Class::Quote => return self.string(at),
                Class::Mark if bytes[at..].starts_with(MARK) => at += MARK.len(),
                Class::Dot | Class::Mark | Class::Other => return self.token(TokenKind::Bad, at, at),
            }
        }
    }

    #[inline]
    fn token(&mut self, kind: TokenKind, start: usize, end: usize) -> Token {
        self.at = end;
        Token { kind, escapes: false, start: start as u32, end: end as u32 }
    }

    fn number(&mut self, start: usize) -> Token {
        match number(self.text.as_bytes(), start) {
            Ok((end, false)) => self.token(TokenKind::Int, start, end),
            Ok((end, true)) => self.token(TokenKind::Float, start, end),
            Err(_) => self.token(TokenKind::Bad, start, start),
        }
    }

    fn string(&mut self, start: usize) -> Token {
        let bytes = self.text.as_bytes();
        if bytes[start..].starts_with(br#"""""#) {
            return match block(bytes, start) {
                Ok(end) => self.token(TokenKind::Block, start, end),
                Err(_) => self.token(TokenKind::Bad, start, start),
            };
        }
        match string(bytes, start) {
            Ok((end, escapes)) => Token { escapes, ..self.token(TokenKind::String, start, end) },
            Err(_) => self.token(TokenKind::Bad, start, start),
        }
    }
}

/// Error at an invalid token: its byte, and the message of graphql-js.
pub(crate) struct LexFault {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Message for the [`TokenKind::Bad`] at `start`.
#[cold]
pub(crate) fn fault(text: &str, start: usize) -> LexFault {
    let bytes = text.as_bytes();
    let found = match bytes.get(start).map_or(Class::Other, |&byte| CLASS[byte as usize]) {
        Class::Number => number(bytes, start).err().map(|bad| number_fault(text, bad)),
        Class::Quote if bytes[start..].starts_with(br#"""""#) => {
            block(bytes, start).err().map(unterminated_string)
        }
        Class::Quote => string(bytes, start).err().map(|bad| match bad {
            BadString::Unterminated(at) => unterminated_string(at),
            BadString::Escape(at) => escape_fault(text, at),
        }),
        Class::Dot => dot_fault(text, start),
        Class::Ignored | Class::Comment | Class::Mark | Class::Name | Class::Punctuator(_) | Class::Other => {
            None
        }
    };
    found.unwrap_or_else(|| {
        let message = if bytes.get(start) == Some(&b'\'') {
            "Unexpected single quote character ('), did you mean to use a double quote (\")?".to_owned()
        } else {
            format!("Unexpected character: {}.", character(text, start))
        };
        LexFault { at: start, message }
    })
}

const fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at].is_ascii_digit() {
        at += 1;
    }
    at
}

/// The first error of a number.
enum BadNumber {
    DigitAfterZero(usize),
    DigitExpected(usize),
}

/// The end of the number at `start`, and whether it has a fraction or an exponent.
fn number(bytes: &[u8], start: usize) -> Result<(usize, bool), BadNumber> {
    let digits = |at: usize| match digits_end(bytes, at) {
        end if end > at => Ok(end),
        end => Err(BadNumber::DigitExpected(end)),
    };
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
    let mut at = start + usize::from(byte(start) == b'-');
    let mut float = false;
    if byte(at) == b'0' {
        at += 1;
        if byte(at).is_ascii_digit() {
            return Err(BadNumber::DigitAfterZero(at));
        }
    } else {
        at = digits(at)?;
    }
    if byte(at) == b'.' {
        float = true;
        at = digits(at + 1)?;
    }
    if matches!(byte(at), b'e' | b'E') {
        float = true;
        at += 1 + usize::from(matches!(byte(at + 1), b'+' | b'-'));
        at = digits(at)?;
    }
    // Neither may a name follow at once, nor a second fraction: `0xF`, `1.2.3`.
    if byte(at) == b'.' || matches!(CLASS[byte(at) as usize], Class::Name) {
        return Err(BadNumber::DigitExpected(at));
    }
    Ok((at, float))
}

fn number_fault(text: &str, bad: BadNumber) -> LexFault {
    match bad {
        BadNumber::DigitAfterZero(at) => {
            let message = format!("Invalid number, unexpected digit after 0: {}.", character(text, at));
            LexFault { at, message }
        }
        BadNumber::DigitExpected(at) => {
            let message = format!("Invalid number, expected digit but got: {}.", character(text, at));
            LexFault { at, message }
        }
    }
}

/// The first error of a string.
enum BadString {
    Unterminated(usize),
    Escape(usize),
}

/// One past the closing quote of the string at `start`, and whether there is a `\` in it.
fn string(bytes: &[u8], start: usize) -> Result<(usize, bool), BadString> {
    let mut at = start + 1;
    let mut escapes = false;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok((at + 1, escapes)),
            b'\n' | b'\r' => break,
            b'\\' => {
                escapes = true;
                at += string_value::escape(bytes, at).ok_or(BadString::Escape(at))?.1;
            }
            _ => at += 1,
        }
    }
    Err(BadString::Unterminated(at))
}

/// One past the closing quotes of the block string at `start`, or where the text ends without them.
fn block(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let mut from = start + 3;
    while let Some(found) = memmem::find(&bytes[from..], br#"""""#) {
        let at = from + found;
        // `\"""` does not close; a `\` before other quotes is plain text. The opening quotes hold no `\`.
        if bytes[at - 1] != b'\\' {
            return Ok(at + 3);
        }
        from = at + 3;
    }
    Err(bytes.len())
}

fn unterminated_string(at: usize) -> LexFault {
    LexFault { at, message: "Unterminated string.".to_owned() }
}

fn escape_fault(text: &str, at: usize) -> LexFault {
    let bytes = &text.as_bytes()[at..];
    let (what, units) = match (bytes.get(1), bytes.get(2)) {
        (Some(b'u'), Some(b'{')) => ("Unicode", variable_escape_units(bytes)),
        (Some(b'u'), _) => ("Unicode", 6),
        _ => ("character", 2),
    };
    let message = format!("Invalid {what} escape sequence: \"{}\".", units_of(&text[at..], units));
    LexFault { at, message }
}

/// Number of characters of a bad `\u{…}` that graphql-js shows: up to the first invalid one.
fn variable_escape_units(bytes: &[u8]) -> usize {
    let mut point = 0_i32;
    let mut size = 3;
    while size < 12 {
        let digit = bytes.get(size).and_then(|&byte| (byte as char).to_digit(16));
        size += 1;
        let Some(digit) = digit else { break };
        point = (point << 4) | digit as i32;
        if point < 0 {
            break;
        }
    }
    size
}

/// The first `units` UTF-16 code units of `text`, rounded up to whole characters.
fn units_of(text: &str, units: usize) -> &str {
    let mut left = units;
    for (at, letter) in text.char_indices() {
        if left == 0 {
            return &text[..at];
        }
        left = left.saturating_sub(letter.len_utf16());
    }
    text
}

fn dot_fault(text: &str, at: usize) -> Option<LexFault> {
    let bytes = text.as_bytes();
    let message = match bytes.get(at + 1)? {
        b'.' => "Unexpected \"..\", did you mean \"...\"?".to_owned(),
        b'0'..=b'9' => {
            let digits = &text[at + 1..digits_end(bytes, at + 1)];
            format!("Invalid number, expected digit before \".\", did you mean \"0.{digits}\"?")
        }
        _ => return None,
    };
    Some(LexFault { at, message })
}

/// The character at `at` as graphql-js prints it.
fn character(text: &str, at: usize) -> String {
    match text[at..].chars().next() {
        None => TokenKind::Eof.text().to_owned(),
        Some('"') => "'\"'".to_owned(),
        Some(letter @ ' '..='~') => format!("\"{letter}\""),
        Some(letter) => format!("U+{:04X}", letter as u32),
    }
}
