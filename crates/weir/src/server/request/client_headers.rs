//! The client's headers as sources see them, and what they say of the consistency of reads.

use super::refusal::Refusal;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use std::sync::Arc;
use weir_engine::consistency::{Consistency, Positions};
use weir_engine::source::Headers;
use weir_engine::span::SpanContext;

/// Required consistency: `strong` or `eventual`.
const CONSISTENCY: HeaderName = HeaderName::from_static("x-weir-consistency");
/// The token of log positions, in requests and answers.
pub(crate) const POSITION: HeaderName = HeaderName::from_static("x-weir-position");

/// The trace and the span of the client. Source: W3C Trace Context, section 3.2.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Headers of one request, and its name.
pub(crate) struct ClientHeaders<'r> {
    headers: &'r HeaderMap,
    request_id: &'r str,
    consistency: Consistency,
    positions: Positions,
    span: Option<SpanContext>,
    /// Those of all operations of a socket, in place of the request's own.
    of_socket: Option<Arc<Positions>>,
}

impl<'r> ClientHeaders<'r> {
    /// The `headers` of the request `request_id`, whose span is `span`.
    pub(crate) fn new(
        headers: &'r HeaderMap,
        request_id: &'r str,
        span: Option<SpanContext>,
    ) -> Result<Self, Refusal> {
        let consistency = match rare(headers, &CONSISTENCY) {
            None => Consistency::Bounded,
            Some(name) => Consistency::named(name.as_bytes()).ok_or_else(|| {
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
        Ok(Self { headers, request_id, consistency, positions, span, of_socket: None })
    }

    /// The same for an operation of a socket, whose later operations see what its earlier ones did.
    pub(crate) fn sharing(self, positions: &Arc<Positions>) -> Self {
        Self { of_socket: Some(Arc::clone(positions)), ..self }
    }
}

/// The header `name`, which few requests have. To find that a name of Weir's own is not among the names of a head takes less than its hash.
pub(crate) fn rare<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    headers.keys().any(|it| it == name).then(|| headers.get(name)).flatten()
}

/// The `headers` of a request that outlive it, in memory of their own: hyper's are parts of the block that was read with them, which stays as
/// long as one of them.
pub(crate) fn kept(headers: &HeaderMap) -> HeaderMap {
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
