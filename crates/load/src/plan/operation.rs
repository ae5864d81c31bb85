//! One operation: how its request is written, and which parts of its answer are checked.
//!
//! **Invariant:** a value never ends a header or leaves its place in a path: control characters become spaces there, and bytes of
//! paths are percent-encoded.
//!
//! **Cost:** a request without expressions is written once, when the plan is read.

use super::check::Checks;
use super::generators::{RunValues, ValueName};
use super::json_path::JsonPath;
use crate::notation::expression_text::{Piece, write_text};
use crate::notation::json_template::JsonTemplate;
use crate::result::OperationKind;
use crate::wire::{HttpRequest, Target};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write;
use std::time::Duration;

/// All that RFC 3986 does not leave unreserved.
pub(super) const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The transport of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Over {
    Http,
    Websocket,
    Sse,
}

/// The value by which a push is matched to its mutation.
#[derive(Debug)]
pub(crate) enum Mark {
    /// The value that a mutation sends.
    Sent(Vec<Piece<ValueName>>),
    /// The place of that value in a push.
    Pushed(JsonPath),
}

#[derive(Debug)]
pub(crate) enum PathTemplate {
    Pieces(Vec<Piece<ValueName>>),
    /// The path as far as `variables=`, and the variables, encoded behind it.
    Query(String, JsonTemplate<ValueName>),
    /// The path of an access log's entry.
    Replayed,
}

pub(crate) type HeaderTemplate = (HeaderName, Vec<Piece<ValueName>>);

/// An operation of a plan.
#[derive(Debug)]
pub(crate) struct Operation {
    pub name: String,
    pub kind: OperationKind,
    pub weight: f64,
    pub over: Over,
    /// Subscribers that stay connected.
    pub clients: u32,
    pub method: Method,
    pub path: PathTemplate,
    pub headers: Vec<HeaderTemplate>,
    pub body: Option<JsonTemplate<ValueName>>,
    /// The GraphQL document.
    pub document: Option<String>,
    pub checks: Checks,
    pub captures: Vec<(usize, JsonPath)>,
    pub mark: Option<Mark>,
    pub timeout: Duration,
    /// The generators that its expressions name.
    pub used: Vec<usize>,
    /// The captured values that its expressions name.
    pub needs: Vec<usize>,
    /// The request for HTTP/1.1 if it is always the same.
    pub constant: Option<Bytes>,
}

impl Operation {
    /// Makes the constant request, if it is one.
    pub(super) fn prepare(&mut self, target: &Target) {
        let plain = |it: &[Piece<ValueName>]| it.iter().all(|it| matches!(it, Piece::Plain(_)));
        let is_path = match &self.path {
            PathTemplate::Pieces(pieces) => plain(pieces),
            PathTemplate::Query(_, variables) => variables.is_constant(),
            PathTemplate::Replayed => false,
        };
        let is_body = self.body.as_ref().is_none_or(JsonTemplate::is_constant);
        if is_path && is_body && self.headers.iter().all(|it| plain(&it.1)) {
            let generators = super::generators::Generators::default();
            let request = self.render(&RunValues::new(&generators, 0), "");
            let mut out = Vec::new();
            request.write_http1(target, &mut out);
            self.constant = Some(out.into());
        }
    }

    /// Moves a GraphQL operation from the path of one target to that of another.
    pub(super) fn repath(&mut self, old: &str, new: &str) {
        if self.document.is_none() {
            return;
        }
        match &mut self.path {
            PathTemplate::Pieces(pieces) => *pieces = vec![Piece::Plain(new.to_owned())],
            PathTemplate::Query(before, _) => {
                if let Some(rest) = before.strip_prefix(old) {
                    let rest = rest.trim_start_matches(['?', '&']);
                    *before = format!("{new}{}{rest}", if new.contains('?') { '&' } else { '?' });
                }
            }
            PathTemplate::Replayed => {}
        }
    }

    /// The request with the values of a run; `replayed` is the path of a log's entry.
    pub(crate) fn render(&self, values: &RunValues<'_>, replayed: &str) -> HttpRequest {
        let path = match &self.path {
            PathTemplate::Replayed => replayed.to_owned(),
            PathTemplate::Query(before, variables) => {
                let mut json = Vec::new();
                variables.write(values, &mut json);
                let encoded = percent_encoding::percent_encode(&json, ENCODED);
                format!("{before}{encoded}")
            }
            PathTemplate::Pieces(pieces) => {
                let mut path = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Plain(it) => path.push_str(it),
                        Piece::Value(_) => {
                            let mut text = String::new();
                            write_text(std::slice::from_ref(piece), values, &mut text);
                            // Writing to memory cannot fail.
                            let _ = write!(path, "{}", utf8_percent_encode(&text, ENCODED));
                        }
                    }
                }
                path
            }
        };
        let headers = self.headers.iter().map(|(name, pieces)| (name.clone(), header(pieces, values)));
        let headers = headers.collect();
        let body = self.body.as_ref().map(|template| {
            let mut body = Vec::new();
            template.write(values, &mut body);
            body
        });
        HttpRequest { method: self.method.clone(), path, headers, body: body.unwrap_or_default() }
    }

    /// The value that identifies the push of this mutation.
    pub(crate) fn sent_mark(&self, values: &RunValues<'_>) -> Option<String> {
        let Some(Mark::Sent(pieces)) = &self.mark else { return None };
        let mut text = String::new();
        write_text(pieces, values, &mut text);
        Some(text)
    }
}

fn header(pieces: &[Piece<ValueName>], values: &RunValues<'_>) -> HeaderValue {
    let mut text = String::new();
    write_text(pieces, values, &mut text);
    HeaderValue::from_str(&text).unwrap_or_else(|_| {
        let cleaned: String = text.chars().map(|it| if it.is_ascii_control() { ' ' } else { it }).collect();
        HeaderValue::from_bytes(cleaned.as_bytes()).unwrap_or_else(|_| HeaderValue::from_static(""))
    })
}
