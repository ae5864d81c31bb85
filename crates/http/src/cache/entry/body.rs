//! Bodies of answers: read by their media type, once.
//!
//! JSON becomes a tape. A plain text becomes a tape that is one string, decoded from its charset. Nothing is taken of other types, such as
//! the pages that proxies answer with.
//!
//! Source: RFC 9110, section 8.3; RFC 6838, section 4.2.8 (`+json`); Encoding Standard (labels of charsets).

use super::tape::{Tape, Unread};
use crate::cache::rule::{BodyReading, Rule};
use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use std::fmt;
use weir_language::json::{JsonError, JsonErrorKind};
use weir_language::string_value::write_json;

/// Bytes of a `Content-Type` that are shown to operators.
const CONTENT_TYPE_BYTES_MAX: usize = 100;

/// Body of an upstream's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Json(Tape),
    /// The upstream sent no body, or the batch has no value for the id.
    Absent,
    /// A body of another media type, or one that cannot be parsed.
    Unreadable(NoJson),
}

/// Why a body cannot be read, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoJson {
    /// Position of the first JSON error. For plain text: of the first bytes that are invalid in its charset.
    pub error: JsonError,
    /// True if it was read as a plain text.
    pub is_text: bool,
    /// True if a trailing comma stands at that position.
    pub is_trailing_comma: bool,
    /// The `Content-Type`, unless that says JSON in UTF-8.
    pub content_type: Option<Box<str>>,
}

impl fmt::Display for NoJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_text, self.is_trailing_comma) {
            (true, _) => f.write_str("the body is no text of its charset")?,
            (false, true) => write!(f, "the body is no JSON: trailing comma before byte {}", self.error.at)?,
            (false, false) => write!(f, "the body is no JSON: {}", self.error)?,
        }
        match &self.content_type {
            Some(it) => write!(f, " (Content-Type: {it})"),
            None => Ok(()),
        }
    }
}

impl Body {
    /// Reads `body`, which came with `headers`, as `rule` says.
    pub fn read(body: Bytes, headers: &HeaderMap, rule: &Rule) -> Self {
        if body.is_empty() {
            return Self::Absent;
        }
        match (rule.reading, MediaType::of(headers)) {
            (BodyReading::Json, _) | (_, MediaType::Json) => Self::read_json(body, headers, rule.depth_max),
            (BodyReading::ByType, MediaType::Text(charset)) => Self::read_text(&body, headers, charset),
            (BodyReading::ByType, MediaType::Other) => Self::Absent,
        }
    }

    fn read_json(body: Bytes, headers: &HeaderMap, depth_max: u32) -> Self {
        match Tape::parse(body, depth_max) {
            Ok(tape) => Self::Json(tape),
            Err(Unread { error, body }) => {
                let is_trailing_comma = is_trailing_comma(&body, error);
                let content_type = other_type(headers);
                Self::Unreadable(NoJson { error, is_text: false, is_trailing_comma, content_type })
            }
        }
    }

    fn read_text(body: &[u8], headers: &HeaderMap, charset: &'static Encoding) -> Self {
        let (text, _, has_errors) = charset.decode(body);
        let mut json = String::with_capacity(text.len() + 2);
        write_json(&text, &mut json);
        match Tape::parse(json.into(), 1) {
            Ok(tape) if !has_errors => Self::Json(tape),
            _ => {
                let error = JsonError { at: 0, kind: JsonErrorKind::BadUtf8 };
                let content_type = other_type(headers);
                Self::Unreadable(NoJson { error, is_text: true, is_trailing_comma: false, content_type })
            }
        }
    }

    /// The JSON, if that is what was sent.
    pub const fn tape(&self) -> Option<&Tape> {
        match self {
            Self::Json(tape) => Some(tape),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }
}

/// Media types that decide how a body is read.
enum MediaType {
    Json,
    /// A plain text in this charset.
    Text(&'static Encoding),
    Other,
}

impl MediaType {
    /// The type that `headers` say. Without one, or with one that cannot be read, a body is JSON.
    fn of(headers: &HeaderMap) -> Self {
        let Some(text) = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()) else { return Self::Json };
        let mut parts = text.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
        let Some((kind, subtype)) = essence.split_once('/') else { return Self::Json };
        match (kind, subtype) {
            _ if subtype == "json" || subtype.ends_with("+json") => Self::Json,
            ("text", "plain") => {
                let parameters = parts.filter_map(|it| it.split_once('='));
                let mut charsets = parameters.filter(|it| it.0.trim().eq_ignore_ascii_case("charset"));
                let label = charsets.next().map_or("", |it| it.1.trim().trim_matches('"'));
                Self::Text(Encoding::for_label(label.as_bytes()).unwrap_or(UTF_8))
            }
            _ => Self::Other,
        }
    }
}

fn is_trailing_comma(body: &[u8], error: JsonError) -> bool {
    let (before, after) = body.split_at(body.len().min(error.at as usize));
    error.kind == JsonErrorKind::UnexpectedByte
        && matches!(after.first(), Some(b']' | b'}'))
        && before.trim_ascii_end().ends_with(b",")
}

/// `Content-Type`, cut to what fits a log, unless it is `application/json`, by itself or in UTF-8.
fn other_type(headers: &HeaderMap) -> Option<Box<str>> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let usual = text.to_ascii_lowercase().replace([' ', '"'], "");
    let is_usual = matches!(&*usual, "application/json" | "application/json;charset=utf-8");
    (!is_usual).then(|| text.get(..CONTENT_TYPE_BYTES_MAX).unwrap_or(text).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::kit::Kit;

    fn read(body: &'static [u8], content_type: &'static str, reading: BodyReading) -> Body {
        let rule = Rule { reading, depth_max: 8, ..Kit::new().rule };
        let headers = [(CONTENT_TYPE, http::HeaderValue::from_static(content_type))];
        let headers = if content_type.is_empty() { HeaderMap::new() } else { headers.into_iter().collect() };
        Body::read(Bytes::from_static(body), &headers, &rule)
    }

    #[test]
    fn a_body_is_what_its_type_says() {
        let check = |body: &'static [u8], content_type, expected: Option<&str>| {
            let found = read(body, content_type, BodyReading::ByType);
            assert_eq!(found.tape().map(Tape::text), expected, "{content_type}: {found:?}");
            assert!(!matches!(found, Body::Unreadable(_)), "{content_type}: {found:?}");
        };
        for json in [
            "",
            "none",
            "application/json",
            "Application/JSON;charset=utf-8",
            "text/json",
            "application/problem+json; a=b",
            "application/vnd.api+json",
        ] {
            check(b"42", json, Some("42"));
        }
        check(b"42", "text/plain", Some("\"42\""));
        check(b"{\"a\": 1}", "TEXT/Plain; charset=utf-8", Some(r#""{\"a\": 1}""#));
        check(b"caf\xe9\n", "text/plain; format=flowed; Charset=\"ISO-8859-1\"", Some("\"caf\u{e9}\\n\""));
        check(b"\x82\xa0", "text/plain;charset=shift_jis", Some("\"\u{3042}\""));
        check(b"a\0b", "text/plain;charset=nonsense", Some("\"a\\u0000b\""));
        check(b"", "text/plain", None);
        for other in ["text/html", "application/xml", "application/octet-stream", "application/x-ndjson"] {
            check(b"{}", other, None);
            assert_eq!(read(b"[1]", other, BodyReading::Json).tape().map(Tape::text), Some("[1]"), "{other}");
        }
    }

    #[test]
    fn operators_are_told_why_a_body_is_no_json() {
        let check = |body: &'static [u8], content_type: &'static str, expected: &str| match read(
            body,
            content_type,
            BodyReading::Json,
        ) {
            Body::Unreadable(words) => {
                assert_eq!(words.to_string(), format!("the body is no JSON: {expected}"));
            }
            other => panic!("{other:?}"),
        };
        check(br#"{"a":1,"a":2}"#, "application/json", "duplicate key at byte 8");
        check(b"[1, 2, ]", "application/json; charset=UTF-8", "trailing comma before byte 7");
        check(b"{\"a\":1,}", "", "trailing comma before byte 7");
        check(b"[1 2]", "", "unexpected character at byte 3");
        check(
            b"\"caf\xe9\"",
            "application/json; charset=iso-8859-1",
            "invalid UTF-8 at byte 4 (Content-Type: application/json; charset=iso-8859-1)",
        );
        check(b"<html>", "text/html", "unexpected character at byte 0 (Content-Type: text/html)");
        assert_eq!(read(b"", "", BodyReading::Json), Body::Absent);
        let text = read(b"caf\xe9", "text/plain", BodyReading::ByType);
        let Body::Unreadable(words) = text else { panic!("{text:?}") };
        assert_eq!(words.to_string(), "the body is no text of its charset (Content-Type: text/plain)");
    }
}
