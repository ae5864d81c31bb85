//! Sends batches of spans to the collector with the HTTP client for services, on the exporting thread.

use super::otlp_settings::OtlpSettings;
use super::span_queue::Batch;
use super::span_writer::{push_bytes, push_varint, varint_bytes};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::Method;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use hyper::http::uri::PathAndQuery;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use weir_http::call::{Ask, CallPolicy, Peer, Protocol, TlsFiles, Upstream, UpstreamSettings};

/// Fields with a length in `ExportTraceServiceRequest`, `ResourceSpans`, `ScopeSpans`, `InstrumentationScope` and `KeyValue`.
const FIRST: u8 = 0x0a;
const SECOND: u8 = 0x12;

/// A collector.
pub(super) struct OtlpClient {
    runtime: Runtime,
    upstream: Upstream,
    path_and_query: PathAndQuery,
    headers: Vec<(HeaderName, HeaderValue)>,
    is_compressed: bool,
    timeout: Duration,
    /// The resource, as a field of `ResourceSpans`.
    resource: Vec<u8>,
    /// The scope, as a field of `ScopeSpans`.
    scope: Vec<u8>,
}

impl OtlpClient {
    /// # Errors
    /// No event loop can be created, or the certificates cannot be read.
    pub(super) fn new(settings: OtlpSettings) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| format!("`tracing`: no event loop: {cause}"))?;
        let OtlpSettings { endpoint, mut headers, is_compressed, certificate, timeout, resource, .. } =
            settings;
        let path_and_query =
            endpoint.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        let mut base = endpoint.into_parts();
        base.path_and_query = Some(PathAndQuery::from_static("/"));
        let base = base.try_into().map_err(|cause| format!("`tracing`: {cause}"))?;
        let policy = CallPolicy { timeout, ..CallPolicy::USUAL };
        let tls = TlsFiles { ca: certificate, client: None };
        let settings = UpstreamSettings { base, tls, protocol: Protocol::Negotiated, policy };
        let upstream = Upstream::new(&settings).map_err(|cause| format!("`tracing`: {cause}"))?;
        let agent = HeaderValue::from_static(concat!("weir/", env!("CARGO_PKG_VERSION")));
        headers.push((USER_AGENT, agent));
        headers.push((CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf")));
        headers.extend(is_compressed.then(|| (CONTENT_ENCODING, HeaderValue::from_static("gzip"))));
        let resource = encode_resource(&resource);
        let scope = encode_scope();
        Ok(Self { runtime, upstream, path_and_query, headers, is_compressed, timeout, resource, scope })
    }

    /// Sends a batch.
    /// # Errors
    /// The collector did not take it.
    pub(super) fn send(&self, batch: &Batch) -> Result<(), String> {
        let body = self.encode_request(batch);
        let ask = Ask {
            method: Method::POST,
            path_and_query: self.path_and_query.clone(),
            headers: self.headers.clone(),
            body: if self.is_compressed { compress(&body)? } else { body.into() },
            deadline: Instant::now() + self.timeout,
            timeout: None,
            idempotent: false,
            span: None,
            peer: Peer::Service,
        };
        let answer = self.runtime.block_on(self.upstream.call(&ask)).map_err(|cause| cause.to_string())?;
        if answer.status.is_success() { Ok(()) } else { Err(format!("it answers {}", answer.status)) }
    }

    /// The message `ExportTraceServiceRequest`.
    fn encode_request(&self, batch: &Batch) -> Vec<u8> {
        let scope_spans = self.scope.len() + batch.bytes.len();
        let resource_spans = self.resource.len() + 1 + varint_bytes(scope_spans as u64) + scope_spans;
        let mut body = Vec::with_capacity(resource_spans + 16);
        body.push(FIRST);
        push_varint(&mut body, resource_spans as u64);
        body.extend_from_slice(&self.resource);
        body.push(SECOND);
        push_varint(&mut body, scope_spans as u64);
        body.extend_from_slice(&self.scope);
        body.extend_from_slice(&batch.bytes);
        body
    }
}

fn encode_resource(resource: &BTreeMap<String, String>) -> Vec<u8> {
    let mut attributes = Vec::new();
    for (key, value) in resource {
        let mut text = Vec::new();
        push_bytes(&mut text, FIRST, value.as_bytes());
        let mut attribute = Vec::new();
        push_bytes(&mut attribute, FIRST, key.as_bytes());
        push_bytes(&mut attribute, SECOND, &text);
        push_bytes(&mut attributes, FIRST, &attribute);
    }
    let mut field = Vec::new();
    push_bytes(&mut field, FIRST, &attributes);
    field
}

fn encode_scope() -> Vec<u8> {
    let mut scope = Vec::new();
    push_bytes(&mut scope, FIRST, b"weir");
    push_bytes(&mut scope, SECOND, env!("CARGO_PKG_VERSION").as_bytes());
    let mut field = Vec::new();
    push_bytes(&mut field, FIRST, &scope);
    field
}

fn compress(body: &[u8]) -> Result<Bytes, String> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    let packed = packed.write_all(body).and_then(|()| packed.finish());
    packed.map(Bytes::from).map_err(|cause| cause.to_string())
}
