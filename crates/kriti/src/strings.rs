//! Texts in double quotes, with escapes and with expressions in `{{ }}`.

use crate::error::{ErrorCode, Fault, Span};
use crate::parse::Parser;
use crate::syntax::{ExpressionKind, TextPart};

impl Parser<'_> {
    /// Parses a text; its first quote stands here.
    pub(crate) fn parse_text(&mut self) -> Result<ExpressionKind, Fault> {
        let start = self.at;
        self.at += 1;
        let mut parts = Vec::new();
        let mut literal = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(['"', '\\', '{']).unwrap_or(rest.len());
            literal.push_str(&rest[..plain]);
            self.at += plain;
            let rest = self.rest();
            match rest.bytes().next() {
                Some(b'"') => {
                    self.at += 1;
                    push_literal(&mut parts, &mut literal);
                    return Ok(ExpressionKind::Text(parts));
                }
                Some(b'\\') => literal.push(self.parse_escape()?),
                Some(_) if rest.starts_with("{{") => {
                    push_literal(&mut parts, &mut literal);
                    parts.push(TextPart::Expression(self.parse_interpolation()?));
                }
                Some(_) => {
                    literal.push('{');
                    self.at += 1;
                }
                None => {
                    let message = "A text in double quotes does not end.";
                    return Err(Fault::new(ErrorCode::Lex, message, self.span_from(start)));
                }
            }
        }
    }

    /// Parses an escape; its backslash stands here.
    fn parse_escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        let letter = self.rest()[1..].chars().next();
        self.at += 1 + letter.map_or(0, char::len_utf8);
        let wrong = |it: &Self| {
            let span = Span::new(start, it.at);
            let text = &it.text[start..it.at];
            Err(Fault::new(ErrorCode::Lex, format!("Invalid Lexeme: '{text}'."), span))
        };
        match letter {
            Some(letter @ ('"' | '\\' | '/' | '{')) => Ok(letter),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('u') => match self.parse_unicode() {
                Some(letter) => Ok(letter),
                None => wrong(self),
            },
            Some(_) | None => wrong(self),
        }
    }

    /// The character of the digits behind `\u`, and of a second `\u` if it needs one.
    fn parse_unicode(&mut self) -> Option<char> {
        let first = self.parse_unit()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        let rest = self.rest().strip_prefix("\\u")?;
        self.at = self.text.len() - rest.len();
        let second = self.parse_unit().filter(|it| (0xdc00..0xe000).contains(it))?;
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
    }

    fn parse_unit(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

fn push_literal(parts: &mut Vec<TextPart>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(TextPart::Literal(std::mem::take(literal).into()));
    }
}
