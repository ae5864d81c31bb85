//! An answer as it is kept: its bytes, read once into a tape, and the instants up to which it serves.
//!
//! **Invariant:** times are absolute; every answer gets the remaining times, so that levels never add up.
//!
//! **Cost:** a body is read once, when it comes; serving it again borrows the text and the tape.

use super::rule::Scope;
use super::tags::Tags;
use crate::call::Went;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use weir_language::json::{Json, JsonBuffer, JsonError, JsonErrorKind, JsonNode, JsonRef};

/// A thread keeps the memory that it reads answers in, if it is no longer than this.
const KEPT_NODES_MAX: usize = 64 * 1024;

/// As much of a `Content-Type` is shown to operators.
const CONTENT_TYPE_BYTES_MAX: usize = 100;

thread_local! {
    /// Buffer for parsing: the length of a tape is known only afterwards.
    static READ_IN: RefCell<JsonBuffer> = RefCell::default();
}

/// A JSON text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape {
    text: Box<str>,
    nodes: Box<[JsonNode]>,
}

impl Tape {
    /// Reads `body`, with at most `depth_max` brackets open at once.
    ///
    /// # Errors
    /// The first place where it is not JSON.
    pub fn parse(body: Bytes, depth_max: u32) -> Result<Self, JsonError> {
        let nodes = nodes(&body, depth_max)?;
        Ok(Self::of(body, nodes))
    }

    /// `body` with what was read of it.
    fn of(body: Bytes, nodes: Box<[JsonNode]>) -> Self {
        // Checked when it was read; without a copy if nobody else holds the bytes.
        let text = String::from_utf8(Vec::from(body)).unwrap_or_default();
        Self { text: text.into(), nodes }
    }

    /// The value, to be looked at.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        Json::known(&self.text, &self.nodes)
    }

    /// The bytes as they came.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value at node `at` as a text of its own.
    #[must_use]
    pub fn part(&self, at: u32) -> Self {
        let json = self.json();
        let raw = JsonRef { json: &json, at }.raw();
        let nodes = &self.nodes[at as usize..self.nodes[at as usize].next as usize];
        // A string's text stands within its quotes, its node begins behind the first.
        let start = (raw.as_ptr() as usize - self.text.as_ptr() as usize) as u32;
        let moved = |node: &JsonNode| JsonNode {
            kind: node.kind,
            start: node.start - start,
            end: node.end - start,
            next: node.next - at,
        };
        Self { text: raw.into(), nodes: nodes.iter().map(moved).collect() }
    }

    pub(super) fn bytes_held(&self) -> usize {
        self.text.len() + size_of_val(&*self.nodes)
    }
}

fn nodes(body: &[u8], depth_max: u32) -> Result<Box<[JsonNode]>, JsonError> {
    READ_IN.with_borrow_mut(|buffer| {
        let json = Json::parse_in(std::mem::take(buffer), body, depth_max)?;
        let nodes = Box::from(&*json.nodes);
        if json.nodes.len() <= KEPT_NODES_MAX {
            *buffer = json.into_buffer();
        }
        Ok(nodes)
    })
}

/// Body of an upstream's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON.
    Json(Tape),
    /// Nothing, or an id that the batch does not have.
    Absent,
    /// Something else.
    Unreadable(NoJson),
}

/// Why a body is no JSON, for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoJson {
    /// The first place where it is none.
    pub error: JsonError,
    /// True if a comma stands there before a closing bracket.
    pub is_trailing_comma: bool,
    /// Its `Content-Type`, unless that says JSON in UTF-8.
    pub content_type: Option<Box<str>>,
}

impl fmt::Display for NoJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_trailing_comma {
            true => write!(f, "the body is no JSON: trailing comma before byte {}", self.error.at)?,
            false => write!(f, "the body is no JSON: {}", self.error)?,
        }
        match &self.content_type {
            Some(it) => write!(f, " (Content-Type: {it})"),
            None => Ok(()),
        }
    }
}

impl Body {
    /// Reads `body`, which came with `headers`, with at most `depth_max` brackets open at once.
    #[must_use]
    pub fn read(body: Bytes, headers: &HeaderMap, depth_max: u32) -> Self {
        if body.is_empty() {
            return Self::Absent;
        }
        match nodes(&body, depth_max) {
            Ok(nodes) => Self::Json(Tape::of(body, nodes)),
            Err(error) => {
                let (is_trailing_comma, content_type) =
                    (is_trailing_comma(&body, error), other_type(headers));
                Self::Unreadable(NoJson { error, is_trailing_comma, content_type })
            }
        }
    }

    /// The JSON, if that is what was sent.
    #[must_use]
    pub const fn tape(&self) -> Option<&Tape> {
        match self {
            Self::Json(tape) => Some(tape),
            Self::Absent | Self::Unreadable(_) => None,
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

/// Up to when an answer serves, in milliseconds of the cache's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// When the upstream was asked for it.
    pub origin_ms: u64,
    /// Served as it is before.
    pub fresh_until_ms: u64,
    /// Served before while a new one is fetched.
    pub stale_until_ms: u64,
    /// Served before if the upstream fails.
    pub error_until_ms: u64,
}

/// An answer. The same whether it is kept or not.
#[derive(Debug)]
pub struct Entry {
    /// The status of HTTP; 404 for an id that a batch does not have.
    pub status: u16,
    /// The body.
    pub body: Body,
    /// Up to when it serves.
    pub lifetime: Lifetime,
    /// For whom it is.
    pub scope: Scope,
    /// True if the answer gives no lifetime: it is not cached, and results made of it live as long as other settings say.
    pub is_silent: bool,
    /// True if `CDN-Cache-Control` allows only caches like this one: clients get `no-store`.
    pub is_inner: bool,
    /// True if it must never be served stale (`must-revalidate`, `proxy-revalidate`).
    pub must_revalidate: bool,
    /// Duration of the call, in milliseconds.
    pub took_ms: u32,
    /// Attempts and timing of the call, for logs; empty for a call of another process.
    pub went: Went,
    /// Tags that invalidate it.
    pub(super) tags: Tags,
    /// After a refresh failed, the next one is not tried before.
    pub(super) retry_at_ms: AtomicU64,
}

impl Entry {
    /// The JSON, if that is what was sent.
    #[must_use]
    pub fn json(&self) -> Option<Json<'_>> {
        self.body.tape().map(Tape::json)
    }

    /// True if it says that the object does not exist.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        matches!(self.status, 404 | 410)
    }

    /// True if the upstream failed: a server error, overload, or a body that is not JSON.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.status >= 500
            || self.status == 429
            || matches!(self.body, Body::Unreadable(_)) && !self.is_negative()
    }

    /// Remaining lifetime, in milliseconds.
    #[must_use]
    pub fn fresh_ms(&self, now_ms: u64) -> u64 {
        self.lifetime.fresh_until_ms.saturating_sub(now_ms)
    }

    /// Remaining stale period behind the lifetime, in milliseconds.
    #[must_use]
    pub fn stale_ms(&self, now_ms: u64) -> u64 {
        self.lifetime.stale_until_ms.saturating_sub(now_ms.max(self.lifetime.fresh_until_ms))
    }

    /// True if a fresh entry is to be refreshed early: the closer to its end and the slower the call, the more probably, so
    /// that one of many requests does so in time. Never in the first half of its life.
    ///
    /// Source: Vattani and others, Optimal Probabilistic Cache Stampede Prevention (VLDB 2015).
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        let lifetime = self.lifetime;
        let (whole_ms, left_ms) = (lifetime.fresh_until_ms - lifetime.origin_ms, self.fresh_ms(now_ms));
        let took_ms = u64::from(self.took_ms);
        // Beyond this the chance is one in a thousand million.
        if left_ms > took_ms * 20 || left_ms * 2 > whole_ms || !self.may_retry(now_ms) {
            return false;
        }
        let ahead = -(1.0 - fastrand::f64()).ln();
        left_ms as f64 <= took_ms as f64 * ahead
    }

    /// A failure without its body, for requests other than the one that caused the call.
    pub(super) fn without_body(&self) -> Self {
        let status = if self.status == 429 { 429 } else { self.status.max(502) };
        Self {
            status,
            body: Body::Absent,
            lifetime: self.lifetime,
            scope: Scope::Public,
            is_silent: false,
            is_inner: false,
            must_revalidate: false,
            took_ms: self.took_ms,
            went: self.went,
            tags: Tags::default(),
            retry_at_ms: AtomicU64::new(0),
        }
    }

    pub(super) fn may_retry(&self, now_ms: u64) -> bool {
        self.retry_at_ms.load(Ordering::Relaxed) <= now_ms
    }

    /// About how many bytes of memory it takes.
    pub(super) fn bytes_held(&self) -> usize {
        size_of::<Self>() + self.body.tape().map_or(0, Tape::bytes_held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_tape_reads_like_a_text_of_its_own() {
        let text = br#" {"a":[{"id":1,"name":"x\u0041"},"sol\n",[],-0.10,null], "b":{}}"#;
        let tape = Tape::parse(Bytes::from_static(text), 8).unwrap();
        for at in 0..tape.nodes.len() as u32 {
            let part = tape.part(at);
            assert_eq!(part, Tape::parse(Bytes::from(part.text.to_string()), 8).unwrap(), "{at}");
        }
        assert_eq!(tape.part(2).text(), r#"[{"id":1,"name":"x\u0041"},"sol\n",[],-0.10,null]"#);
    }

    #[test]
    fn operators_are_told_why_a_body_is_no_json() {
        let check = |body: &'static [u8], content_type: &'static str, expected: &str| {
            let headers = [(CONTENT_TYPE, http::HeaderValue::from_static(content_type))];
            let headers =
                if content_type.is_empty() { HeaderMap::new() } else { headers.into_iter().collect() };
            match Body::read(Bytes::from_static(body), &headers, 8) {
                Body::Unreadable(words) => {
                    assert_eq!(words.to_string(), format!("the body is no JSON: {expected}"));
                }
                other => panic!("{other:?}"),
            }
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
        assert_eq!(Body::read(Bytes::new(), &HeaderMap::new(), 8), Body::Absent);
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        assert_eq!(Tape::parse(Bytes::from_static(b"<html>"), 8).unwrap_err().at, 0);
        assert!(Tape::parse(Bytes::from_static(b"[[[]]]"), 2).is_err());
    }
}
