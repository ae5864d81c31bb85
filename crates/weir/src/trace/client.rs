//! HTTP client of the exporter: the client for services, on the exporting thread.

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use std::fmt;
use std::future::{Future, ready};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use weir_http::call::{Ask, CallPolicy, Peer, Protocol, Upstream, UpstreamSettings};

/// Time for one batch. Source: OTLP, `OTEL_EXPORTER_OTLP_TIMEOUT`.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends batches to the collector with the HTTP client for services.
pub(super) struct OtlpClient {
    runtime: Runtime,
    /// The collector, after the first call.
    collector: Mutex<Option<(String, Upstream)>>,
}

impl OtlpClient {
    /// # Errors
    /// No event loop can be created.
    pub(super) fn new() -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| format!("`tracing`: no event loop: {cause}"))?;
        Ok(Self { runtime, collector: Mutex::new(None) })
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let scheme = head.uri.scheme_str();
        let authority = head.uri.authority();
        let base = format!("{}://{}", scheme.unwrap_or("http"), authority.ok_or("no host")?);
        let mut collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner);
        if collector.as_ref().is_none_or(|it| it.0 != base) {
            let certificate = ["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"];
            let ca = certificate.iter().find_map(std::env::var_os).map(PathBuf::from);
            let policy = CallPolicy { timeout: TIMEOUT, ..CallPolicy::USUAL };
            let settings =
                UpstreamSettings { base: base.parse()?, ca, protocol: Protocol::Negotiated, policy };
            *collector = Some((base, Upstream::new(&settings)?));
        }
        let (_, upstream) = collector.as_ref().ok_or("no collector")?;
        let path_and_query = head.uri.path_and_query().ok_or("no path")?.clone();
        let headers = head.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let method = head.method;
        let deadline = Instant::now() + TIMEOUT;
        let ask = Ask {
            method,
            path_and_query,
            headers,
            body,
            deadline,
            timeout: None,
            idempotent: false,
            span: None,
            peer: Peer::Service,
        };
        let answer = self.runtime.block_on(upstream.call(&ask))?;
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

impl HttpClient for OtlpClient {
    fn send_bytes<'c, 'f>(
        &'c self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        'c: 'f,
        Self: 'f,
    {
        // The exporting thread has nothing else to do, so it may block.
        Box::pin(ready(self.send(request)))
    }
}

impl fmt::Debug for OtlpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpClient").finish_non_exhaustive()
    }
}
