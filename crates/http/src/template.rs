//! Request templates: method, path, query, headers and body, with expressions in braces.
//!
//! A value becomes one segment of the path or one value of the query: all but letters, digits and `-._~` is
//! percent-encoded, and a segment that would be empty, `.` or `..` is refused, as it would name another resource. A value in
//! a header may not hold control characters. The host stands in `baseURL` alone, so no value can choose it.
//!
//! **Invariant:** [`Rendered`] is the sharing key of its call: two callers share an answer only if all bytes are equal.
//!
//! **Cost:** one pass over the template; arguments, keys and headers are copied from where they are into buffers that are
//! used again. Bodies and `queryParams` are evaluated.
//! Source: RFC 3986, sections 2.3 and 3.3; RFC 9110, sections 5.5 and 7.6.1.

mod base;
mod fixed;
mod form;
mod parse;
mod render;
mod tag_name;
#[cfg(test)]
mod tests;

pub use base::Base;
pub(crate) use fixed::{Fixed, fill_settings, required_slots};
pub(crate) use parse::find_fragment;
pub(crate) use parse::is_dropped;
pub use render::RenderError;
pub use tag_name::NameTemplate;

use crate::selection::{Selection, SelectionError, Variable};
use http::header::CONTENT_TYPE;
use http::{HeaderName, Method};
use std::ops::Range;

/// Request template of one connector.
#[derive(Clone, Debug)]
pub struct Request {
    /// GET, POST, PUT, PATCH or DELETE.
    pub method: Method,
    /// Path of the base URL, without a final slash.
    prefix: Box<str>,
    segments: Vec<Segment>,
    /// True if the path ends with a slash.
    slash: bool,
    /// `path` of the source and of the connector: lists of segments before and after those of the URL.
    paths: [Vec<Selection>; 2],
    /// Query of the base URL as written; may be empty.
    base_query: Box<str>,
    /// `name=value` pairs of the URL; both may contain expressions.
    query: Vec<(Parts, Parts)>,
    /// `queryParams`; those of the source come first.
    params: Vec<Selection>,
    headers: Vec<Header>,
    body: Option<Selection>,
}

/// A text with expressions.
pub(crate) type Parts = Vec<Part>;

/// A part of a template.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Constant text.
    Text(Box<str>),
    /// `{…}`.
    Value(Slot),
}

/// One segment of a path.
#[derive(Clone, Debug)]
struct Segment {
    parts: Parts,
    /// True if it contains an expression.
    open: bool,
}

impl Segment {
    /// Constant bytes of the segment.
    fn text(&self) -> impl Iterator<Item = u8> + '_ {
        self.parts.iter().flat_map(|part| match part {
            Part::Text(text) => text.bytes(),
            Part::Value(_) => "".bytes(),
        })
    }
}

/// An expression in braces, with a fast path for simple ones.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) expr: Selection,
    /// Offset of the expression in its text.
    pub(crate) at: u32,
    fast: Fast,
}

/// Values that are copied without evaluation.
#[derive(Clone, Debug)]
enum Fast {
    /// `$args.name`.
    Arg(Box<str>),
    /// `$this.name`.
    This(Box<str>),
    /// `$request.headers.name`, in lower case.
    Header(Box<str>),
    /// Any other expression.
    No,
}

/// A header of a call.
#[derive(Clone, Debug)]
pub struct Header {
    pub name: HeaderName,
    pub(crate) value: HeaderValue,
}

/// Source of a header's value.
#[derive(Clone, Debug)]
pub(crate) enum HeaderValue {
    /// All values of this client header.
    From(Box<str>),
    /// A template.
    Text(Parts),
}

/// A rendered request. Its buffers are reused.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// Path and query.
    pub target: Vec<u8>,
    /// The body; may be empty.
    pub body: Vec<u8>,
    headers: Vec<(HeaderName, Range<usize>)>,
    header_bytes: Vec<u8>,
}

impl Rendered {
    /// The headers in order.
    pub fn headers(&self) -> impl Iterator<Item = (&HeaderName, &[u8])> {
        self.headers.iter().map(|(name, range)| (name, &self.header_bytes[range.clone()]))
    }

    /// Appends everything that distinguishes this call from others of the same service and method, so equal bytes mean equal calls.
    pub fn key(&self, out: &mut Vec<u8>) {
        let mut part = |bytes: &[u8]| {
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            out.extend_from_slice(bytes);
        };
        part(&self.target);
        part(&self.body);
        for (name, value) in self.headers() {
            part(name.as_str().as_bytes());
            part(value);
        }
    }

    fn clear(&mut self) {
        self.target.clear();
        self.body.clear();
        self.headers.clear();
        self.header_bytes.clear();
    }
}

impl Request {
    /// Expressions in the URL, for checks of their names.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        let query = self.query.iter().flat_map(|(name, value)| name.iter().chain(value));
        slots(self.segments.iter().flat_map(|it| &it.parts).chain(query))
    }

    /// True if a request may have the same method and path as one of `other`.
    pub(crate) fn may_equal(&self, other: &Self) -> bool {
        let mut segments = self.segments.iter().zip(&other.segments);
        let has_paths = |it: &Self| !it.paths.concat().is_empty();
        (&self.method, &self.prefix, self.slash) == (&other.method, &other.prefix, other.slash)
            && !has_paths(self)
            && !has_paths(other)
            && self.segments.len() == other.segments.len()
            && segments.all(|(a, b)| a.open || b.open || a.text().eq(b.text()))
    }

    /// True if the body is always sent as a form.
    pub(crate) fn is_form(&self) -> bool {
        let header = self.headers.iter().find(|it| it.name == CONTENT_TYPE);
        match header.map(|it| &it.value) {
            Some(HeaderValue::Text(parts)) => matches!(parts.first(), Some(Part::Text(text))
                if form::is_form_type(text) && (parts.len() == 1 || text.contains(';'))),
            Some(HeaderValue::From(_)) | None => false,
        }
    }

    /// Headers that the template sets.
    pub(crate) fn own_headers(&self) -> &[Header] {
        &self.headers
    }

    /// Path with expressions as written: `/teams/{$args.id}`.
    pub(crate) fn explain_path(&self) -> String {
        let mut out = self.prefix.to_string();
        let path = |it: &Selection| format!("/{{{}}}", it.print());
        out.extend(self.paths[0].iter().map(path));
        for segment in &self.segments {
            out.push('/');
            explain(&segment.parts, &mut out);
        }
        out.extend(self.paths[1].iter().map(path));
        if self.slash {
            out.push('/');
        }
        out
    }

    /// The request as users write it: `GET /teams?id={$batch.id}`.
    pub fn explain(&self) -> String {
        let mut out = format!("{} {}", self.method, self.explain_path());
        let mut between = '?';
        if !self.base_query.is_empty() {
            out.push_str(&format!("{}{}", std::mem::replace(&mut between, '&'), self.base_query));
        }
        for (name, value) in &self.query {
            out.push(std::mem::replace(&mut between, '&'));
            explain(name, &mut out);
            out.push('=');
            explain(value, &mut out);
        }
        for params in &self.params {
            out.push_str(&format!("{}{{{}}}", std::mem::replace(&mut between, '&'), params.print()));
        }
        if let Some(body) = &self.body {
            out.push_str(&format!(" body {}", body.print()));
        }
        out
    }
}

impl Header {
    /// Expressions in it.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        slots(match &self.value {
            HeaderValue::Text(parts) => parts.iter(),
            HeaderValue::From(_) => [].iter(),
        })
    }

    /// True if it contains no client data.
    pub(crate) fn is_operators(&self) -> bool {
        let mut used = self.slots().flat_map(|slot| slot.expr.variables());
        self.client_header().is_none()
            && used.all(|it| matches!(it.variable, Variable::Config | Variable::Env))
    }

    /// Client header that is copied unchanged, in lower case.
    pub(crate) fn client_header(&self) -> Option<&str> {
        match &self.value {
            HeaderValue::From(name) => Some(name),
            HeaderValue::Text(_) => None,
        }
    }
}

/// Parses a template.
///
/// # Errors
/// An unmatched brace, or the first error within braces.
pub(crate) fn parts_of(text: &str) -> Result<Parts, SelectionError> {
    parse::parts(text, 0, text.len(), parse::Constant::Text)
}

/// Expressions in `parts`.
pub(crate) fn slots<'p>(parts: impl Iterator<Item = &'p Part>) -> impl Iterator<Item = &'p Slot> {
    parts.filter_map(|part| match part {
        Part::Value(slot) => Some(slot),
        Part::Text(_) => None,
    })
}

fn explain(parts: &[Part], out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Value(slot) => out.push_str(&format!("{{{}}}", slot.expr.print())),
        }
    }
}
