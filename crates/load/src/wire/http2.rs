//! HTTP/2: several requests at a time on each connection.

use super::connect::Dialer;
use super::{ANSWER_BYTES_MAX, Answer, HttpRequest, WireError};
use bytes::Bytes;
use http::{Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::Mutex;

/// A connection that is opened again when it has ended.
#[derive(Default)]
pub(crate) struct Http2 {
    sender: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Http2 {
    /// Opens the connection if it is not open.
    pub(crate) async fn open(&self, dialer: &Dialer) -> Result<SendRequest<Full<Bytes>>, WireError> {
        let mut sender = self.sender.lock().await;
        if let Some(it) = sender.as_ref().filter(|it| !it.is_closed()) {
            return Ok(it.clone());
        }
        let wrong = |cause: hyper::Error| WireError::new("connect", cause);
        let stream = dialer.dial().await?;
        let (opened, connection) =
            handshake(TokioExecutor::new(), TokioIo::new(stream)).await.map_err(wrong)?;
        // Errors of the connection show up as errors of its requests.
        tokio::spawn(async { drop(connection.await) });
        Ok(sender.insert(opened).clone())
    }

    /// Sends a request and reads its answer.
    pub(crate) async fn exchange(
        &self,
        dialer: &Dialer,
        request: HttpRequest,
        answer: &mut Answer,
    ) -> Result<(), WireError> {
        let mut sender = self.open(dialer).await?;
        let wrong = |cause: hyper::Error| WireError::new("closed", cause);
        sender.ready().await.map_err(wrong)?;
        let request = into_http(request, dialer, &dialer.target.origin())?;
        let (head, body) = sender.send_request(request).await.map_err(wrong)?.into_parts();
        answer.status = head.status.as_u16();
        let mut bytes = 0;
        answer.cache = super::CacheOutcome::default();
        for (name, value) in &head.headers {
            answer.cache.note(name.as_str().as_bytes(), value.as_bytes());
            bytes += name.as_str().len() + value.len() + 4;
        }
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|cause| WireError::new("closed", cause))?.to_bytes();
        answer.bytes = (bytes + body.len()) as u64;
        answer.body.clear();
        answer.body.extend_from_slice(&body);
        Ok(())
    }
}

/// A request for hyper; `origin` is empty for HTTP/1.1, whose target is the path alone.
pub(super) fn into_http(
    request: HttpRequest,
    dialer: &Dialer,
    origin: &str,
) -> Result<Request<Full<Bytes>>, WireError> {
    let uri: Uri = format!("{origin}{}", request.path)
        .parse()
        .map_err(|cause: http::uri::InvalidUri| WireError::new("protocol", cause))?;
    let mut made = Request::new(Full::new(request.body.into()));
    *made.method_mut() = request.method;
    *made.uri_mut() = uri;
    for (name, value) in request.headers {
        made.headers_mut().append(name, value);
    }
    if origin.is_empty() && !made.headers().contains_key(http::header::HOST) {
        let host = http::HeaderValue::from_str(&dialer.target.authority());
        made.headers_mut()
            .insert(http::header::HOST, host.map_err(|cause| WireError::new("protocol", cause))?);
    }
    Ok(made)
}
