//! GraphQL over HTTP for Python servers: a request of bytes, and the response that their protocols send.
//!
//! **Invariant:** a body that is whole is there at once; a stream is read chunk by chunk, so nothing is held for a slow client but
//! the chunk that it reads.

use super::{Run, RunFuture, RunOutput};
use crate::run_state::RunState;
use bytes::Bytes;
use futures_util::FutureExt;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http_body::Body;
use http_body_util::{BodyExt, Full};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use weir_runtime::Schema;
use weir_runtime::http::{HttpBody, HttpOptions, UploadLimits, answer};
use weir_transport::media::Media;
use weir_transport::refusal::Refusal;

/// A request over HTTP as the package hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct HttpRequestSpec {
    method: String,
    /// Behind `?`.
    query_string: PyBackedBytes,
    headers: Vec<(PyBackedBytes, PyBackedBytes)>,
    body: PyBackedBytes,
    pub(crate) context: Py<PyAny>,
    timeout: f64,
    body_bytes_max: usize,
    batch_max: usize,
    /// Files, bytes of one, bytes of all.
    uploads: Option<(usize, u64, u64)>,
}

/// A request that is ready to run.
pub(crate) struct HttpCall {
    /// An error if the server passed on a head that is not valid HTTP.
    head: Result<Parts, http::Error>,
    body: Bytes,
    options: HttpOptions,
    patience: Duration,
}

/// Headers that a response depends on.
const READ: [&str; 5] =
    ["accept", "content-type", "apollo-require-preflight", "graphql-preflight", "x-apollo-operation-name"];

impl HttpRequestSpec {
    /// The request.
    pub(crate) fn call(self, patience: Duration) -> HttpCall {
        let query = String::from_utf8_lossy(&self.query_string);
        let target = if query.is_empty() { "/".to_owned() } else { format!("/?{}", escape_query(&query)) };
        let mut request = http::Request::builder().method(self.method.as_str()).uri(target);
        for (name, value) in &self.headers {
            if let Some(name) = READ.iter().find(|it| name.eq_ignore_ascii_case(it.as_bytes())) {
                request = request.header(*name, &value[..]);
            }
        }
        let head = request.body(()).map(|it| it.into_parts().0);
        let uploads = self.uploads.map(|(files_max, file_bytes_max, bytes_max)| UploadLimits {
            files_max,
            file_bytes_max,
            bytes_max,
        });
        let body_bytes_max = self.body_bytes_max;
        let batch_max = self.batch_max;
        let options = HttpOptions { body_bytes_max, batch_max, patience, uploads };
        HttpCall { head, body: Bytes::from_owner(self.body), options, patience }
    }

    /// Seconds for the answer.
    pub(crate) fn timeout(&self) -> f64 {
        self.timeout
    }
}

/// Escapes the characters of a query string that a URL cannot contain.
fn escape_query(query: &str) -> String {
    let mut out = String::with_capacity(query.len());
    for byte in query.bytes() {
        match byte {
            b'!'..=b'~'
                if !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'`' | b'\\' | b'^' | b'{' | b'|' | b'}') =>
            {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

impl HttpCall {
    /// Answers the request.
    pub(crate) async fn answer(
        self,
        schema: Arc<Schema>,
        state: Arc<RunState>,
    ) -> Option<Box<dyn RunOutput>> {
        let Self { head, body, options, patience } = self;
        let head = match head {
            Ok(head) => head,
            Err(error) => {
                let refusal = Refusal::bad_request(format!("the head cannot be read: {error}"));
                return Some(Box::new(refusal_response(&refusal)));
            }
        };
        let request = http::Request::from_parts(head, Full::new(body));
        let deadline = Instant::now() + patience;
        let response = answer(&schema, request, &options, move |it| it.data(state).deadline(deadline));
        Some(Box::new(response.await))
    }
}

/// The response to a request that does not reach the schema.
fn refusal_response(refusal: &Refusal) -> http::Response<HttpBody> {
    let body = Full::new(Bytes::from(refusal.body())).boxed_unsync();
    let mut response = http::Response::new(body);
    *response.status_mut() = refusal.status;
    let content_type = HeaderValue::from_static(Media::GraphqlResponse.content_type());
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

/// A response: status, headers, and a body or a stream of chunks.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct HttpAnswer {
    #[pyo3(get)]
    status: u16,
    #[pyo3(get)]
    headers: Vec<(Py<PyBytes>, Py<PyBytes>)>,
    /// The whole body; `None`: it comes in chunks.
    #[pyo3(get)]
    body: Option<Py<PyBytes>>,
    rest: Arc<Mutex<Option<HttpBody>>>,
}

impl HttpAnswer {
    pub(crate) fn new(py: Python<'_>, response: http::Response<HttpBody>) -> PyResult<Self> {
        let (head, body) = response.into_parts();
        let bytes = |it: &[u8]| PyBytes::new(py, it).unbind();
        let headers =
            head.headers.iter().map(|(name, value)| (bytes(name.as_ref()), bytes(value.as_bytes())));
        let headers = headers.collect();
        let is_whole = body.size_hint().exact().is_some();
        let (whole, rest) = if is_whole {
            let collected = body.collect().now_or_never().and_then(Result::ok);
            (Some(bytes(&collected.map(|it| it.to_bytes()).unwrap_or_default())), None)
        } else {
            (None, Some(body))
        };
        let rest = Arc::new(Mutex::new(rest));
        Ok(Self { status: head.status.as_u16(), headers, body: whole, rest })
    }
}

impl RunOutput for http::Response<HttpBody> {
    fn into_object(self: Box<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(Py::new(py, HttpAnswer::new(py, *self)?)?.into_any())
    }
}

impl RunOutput for Bytes {
    fn into_object(self: Box<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(PyBytes::new(py, &self).into_any().unbind())
    }
}

/// The next chunk of a body.
async fn next_chunk(rest: Arc<Mutex<Option<HttpBody>>>) -> Option<Box<dyn RunOutput>> {
    let mut rest = rest.lock().await;
    let body = rest.as_mut()?;
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(bytes) = frame.into_data() {
            return Some(Box::new(bytes));
        }
    }
    None
}

#[pymethods]
impl HttpAnswer {
    /// A run that ends with the next chunk, or with nothing behind the last; `run` is that of the request.
    fn next(&self, run: &Run) -> Run {
        let rest = Arc::clone(&self.rest);
        let future: RunFuture = Box::pin(next_chunk(rest));
        Run::new(future, run.state())
    }

    /// Ends the stream: gives the iterators that are to be closed.
    fn close(&self, run: &Run) -> Vec<Py<PyAny>> {
        if let Ok(mut rest) = self.rest.try_lock() {
            drop(rest.take());
        }
        let state = run.state();
        state.forget();
        state.take_iterators()
    }
}
