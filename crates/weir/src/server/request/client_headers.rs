//! Client headers as sources see them, and the requested consistency of reads.

use super::answer::refusal::Refusal;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::answer_notes::AnswerNotes;
use weir_engine::consistency::{Consistency, Positions};
use weir_engine::source::Headers;
use weir_engine::span::SpanContext;

/// Header with the requested consistency: `strong` or `eventual`.
const CONSISTENCY: HeaderName = HeaderName::from_static("x-weir-consistency");
/// Header with log positions, in requests and answers.
pub(crate) const POSITION: HeaderName = HeaderName::from_static("x-weir-position");

/// Header with the client's trace and span. Source: W3C Trace Context, section 3.2.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Headers of one request, with its id.
pub(crate) struct ClientHeaders<'r> {
    headers: &'r HeaderMap,
    request_id: &'r str,
    consistency: Consistency,
    positions: Positions,
    span: Option<SpanContext>,
    notes: &'r AnswerNotes,
    /// Log positions of all operations of a socket, in place of the request's own.
    of_socket: Option<Arc<Positions>>,
    /// The client waits so long for an answer, counted from the request, or from the operation over a socket.
    patience: Option<Duration>,
}

impl<'r> ClientHeaders<'r> {
    /// Headers of the request `request_id`, whose span is `span`; sources leave notes about the answer in `notes`.
    pub(crate) fn new(
        headers: &'r HeaderMap,
        request_id: &'r str,
        span: Option<SpanContext>,
        notes: &'r AnswerNotes,
    ) -> Result<Self, Refusal> {
        let consistency = match rare(headers, &CONSISTENCY) {
            None => Consistency::Bounded,
            Some(name) => Consistency::from_name(name.as_bytes()).ok_or_else(|| {
                Refusal::bad_request(
                    "`x-weir-consistency` is `strong` or `eventual`; leave it out for the default",
                )
            })?,
        };
        let positions = match rare(headers, &POSITION) {
            None => Positions::default(),
            Some(token) => Positions::read(token.as_bytes()).ok_or_else(|| {
                Refusal::bad_request("`x-weir-position` is not what an answer of Weir had in this header")
            })?,
        };
        Ok(Self { headers, request_id, consistency, positions, span, notes, of_socket: None, patience: None })
    }

    /// Reads the milliseconds that the client waits, from the header `name`.
    pub(crate) fn read_patience(self, name: &str) -> Result<Self, Refusal> {
        let mut values = self.headers.get_all(name).iter();
        let patience = match (values.next(), values.next()) {
            (None, _) => None,
            (Some(value), None) => {
                Some(read_milliseconds(value.as_bytes()).ok_or_else(|| wrong_patience(name))?)
            }
            (Some(_), Some(_)) => return Err(wrong_patience(name)),
        };
        Ok(Self { patience, ..self })
    }

    /// Sets the positions of a socket, whose operations see the changes of earlier ones.
    pub(crate) fn share_positions(self, positions: &Arc<Positions>) -> Self {
        Self { of_socket: Some(Arc::clone(positions)), ..self }
    }

    /// Time for the answer: the server's `longest`, or the client's if that is shorter.
    pub(crate) fn patience(&self, longest: Duration) -> Duration {
        self.patience.map_or(longest, |it| it.min(longest))
    }
}

fn wrong_patience(name: &str) -> Refusal {
    Refusal::bad_request(format!("`{name}` is a whole number of milliseconds above 0, sent once"))
}

/// Digits of a number above 0; one that is too large is the largest.
fn read_milliseconds(digits: &[u8]) -> Option<Duration> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let number = is_number.then(|| std::str::from_utf8(digits).ok())??.parse().unwrap_or(u64::MAX);
    (number > 0).then(|| Duration::from_millis(number))
}

/// The header `name`, which is rare. Comparing with all names of a head is cheaper than hashing.
pub(crate) fn rare<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    headers.keys().any(|it| it == name).then(|| headers.get(name)).flatten()
}

/// Copies the `headers` that outlive their request. Hyper's values share one block of memory, which any of them would keep alive.
pub(crate) fn copy_headers(headers: &HeaderMap) -> HeaderMap {
    let own = |value: &HeaderValue| {
        let mut own = HeaderValue::from_bytes(value.as_bytes()).unwrap_or(HeaderValue::from_static(""));
        own.set_sensitive(value.is_sensitive());
        own
    };
    headers.iter().map(|(name, value)| (name.clone(), own(value))).collect()
}

impl Headers for ClientHeaders<'_> {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        for value in self.headers.get_all(name) {
            take(value.as_bytes());
        }
    }

    fn each_line<'h>(&'h self, take: &mut dyn FnMut(&'h str, &'h [u8])) {
        self.headers.iter().for_each(|(name, value)| take(name.as_str(), value.as_bytes()));
    }

    fn notes(&self) -> Option<&AnswerNotes> {
        Some(self.notes)
    }

    fn request_id(&self) -> &str {
        self.request_id
    }

    fn consistency(&self) -> Consistency {
        self.consistency
    }

    fn positions(&self) -> Option<&Positions> {
        Some(self.of_socket.as_deref().unwrap_or(&self.positions))
    }

    fn span(&self) -> Option<SpanContext> {
        self.span
    }
}
