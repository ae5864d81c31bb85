//! One connection, and one exchange over it.
//!
//! A connection of HTTP/1 is driven by the task that asks over it: nothing is handed from task to task, and dropping the question
//! closes the connection. One of HTTP/2 is shared and has a task of its own.
//!
//! **Cost:** a call of HTTP/1 is one write and one read, through memory that the thread's calls share. The usual client holds
//! channels and buffers for each connection instead, which with hundreds of calls under way fall out of the processor's cache.

use super::call_error::{CallError, Cause};
use super::endpoint::Endpoint;
use super::wire::decode::plain;
use super::wire::request;
use super::wire::response::ResponseReader;
use super::{Answer, Ask, Went};
use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request};
use http_body_util::Full;
use hyper::client::conn::{TrySendError, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

/// Body of a request.
pub(super) type Sent = Full<Bytes>;

/// An exchange that failed.
#[derive(Debug)]
pub(super) struct FailedAttempt {
    /// The cause.
    pub(super) error: CallError,
    /// True if the service certainly did not receive the request.
    pub(super) is_unsent: bool,
    /// True if no byte of a response arrived.
    pub(super) is_unanswered: bool,
}

impl FailedAttempt {
    /// Failure before any byte of the response.
    fn before_head(mut refused: TrySendError<Request<Sent>>) -> Self {
        let is_unsent = refused.take_message().is_some();
        Self { is_unsent, is_unanswered: true, ..Self::later(refused.error()) }
    }

    /// Failure after the response began, or an invalid response.
    fn later(words: &dyn fmt::Display) -> Self {
        CallError::unavailable(Cause::Connection, words).into()
    }
}

impl From<CallError> for FailedAttempt {
    fn from(error: CallError) -> Self {
        Self { error, is_unsent: false, is_unanswered: false }
    }
}

/// Peer of a connection, and the end of its use for new calls.
#[derive(Clone)]
pub(super) struct Opened {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) until: Instant,
}

impl Opened {
    pub(super) fn address(&self) -> SocketAddr {
        self.endpoint.address
    }

    /// True if the connection is too old for another call.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now >= self.until
    }
}

/// A connection of either protocol version.
pub(super) enum Kept {
    Http1(Http1),
    Http2(Http2),
}

/// A byte stream to a service.
pub(crate) enum Stream {
    Plain(TcpStream),
    Private(Box<TlsStream<TcpStream>>),
}

impl Kept {
    pub(super) fn opening(&self) -> &Opened {
        match self {
            Self::Http1(it) => &it.opened,
            Self::Http2(it) => &it.opened,
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(it) => Pin::new(it).poll_read(cx, into),
            Self::Private(it) => Pin::new(it).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(it) => Pin::new(it).poll_write(cx, bytes),
            Self::Private(it) => Pin::new(it).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(it) => Pin::new(it).poll_write_vectored(cx, parts),
            Self::Private(it) => Pin::new(it).poll_write_vectored(cx, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(it) => it.is_write_vectored(),
            Self::Private(it) => it.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(it) => Pin::new(it).poll_flush(cx),
            Self::Private(it) => Pin::new(it).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(it) => Pin::new(it).poll_shutdown(cx),
            Self::Private(it) => Pin::new(it).poll_shutdown(cx),
        }
    }
}

/// A connection that carries one request at a time.
pub(super) struct Http1 {
    stream: Stream,
    pub(super) opened: Opened,
}

thread_local! {
    /// Buffers for writing requests and reading responses, shared per thread: an idle connection holds no memory, and the buffers stay in
    /// the processor's cache.
    static WRITE_IN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static READ_IN: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into());
}

/// Size of the read buffer, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// Longest write buffer that a thread keeps, in bytes.
const WRITE_BYTES_KEPT: usize = 64 * 1024;

impl Http1 {
    pub(super) const fn new(stream: Stream, opened: Opened) -> Self {
        Self { stream, opened }
    }

    /// Sends `ask` for `path` and reads the response, with a body of at most `bytes_max`. Also returns whether the connection can carry
    /// another request.
    pub(super) async fn exchange(
        &mut self,
        ask: &Ask,
        path: &PathAndQuery,
        host: &HeaderValue,
        bytes_max: usize,
    ) -> Result<(Answer, bool), FailedAttempt> {
        let mut response = ResponseReader::new(&ask.method, bytes_max);
        // A service may respond and close before it read the whole request. Its response counts.
        let sent = self.send(|out| request::write(ask, path, host, out)).await;
        if let Err(failure @ FailedAttempt { is_unsent: true, .. }) = sent {
            return Err(failure);
        }
        let is_unanswered = |response: &ResponseReader| !response.has_begun();
        while !response.is_whole() {
            let came = self.receive(&mut response).await;
            let ended = match came {
                Ok(0) => response.end(),
                Ok(_) => continue,
                Err(error) => Err(error),
            };
            if let Err(error) = ended {
                let is_unanswered = is_unanswered(&response);
                sent?;
                return Err(FailedAttempt { error, is_unsent: false, is_unanswered });
            }
        }
        let (answer, stays) = response.finish();
        Ok((plain(answer, bytes_max)?, stays && sent.is_ok()))
    }

    /// Sends the bytes that `write` produces. Usually one write suffices; the rest is sent when the socket is writable.
    async fn send(&mut self, write: impl Fn(&mut Vec<u8>)) -> Result<(), FailedAttempt> {
        let first = poll_fn(|cx| {
            WRITE_IN.with_borrow_mut(|out| {
                out.clear();
                write(out);
                let written = match Pin::new(&mut self.stream).poll_write(cx, out) {
                    Poll::Ready(Ok(written)) => written,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => 0,
                };
                let left = if written < out.len() { out[written..].to_vec() } else { Vec::new() };
                if out.capacity() > WRITE_BYTES_KEPT {
                    *out = Vec::new();
                }
                Poll::Ready(Ok(left))
            })
        });
        let left = first.await.map_err(|error| FailedAttempt {
            is_unsent: true,
            is_unanswered: true,
            ..FailedAttempt::later(&error)
        })?;
        let rest = async {
            if !left.is_empty() {
                self.stream.write_all(&left).await?;
            }
            self.stream.flush().await
        };
        rest.await.map_err(|error| FailedAttempt { is_unanswered: true, ..FailedAttempt::later(&error) })
    }

    /// Reads available or arriving bytes into `response`; returns their number.
    async fn receive(&mut self, response: &mut ResponseReader) -> Result<usize, CallError> {
        poll_fn(|cx| {
            READ_IN.with_borrow_mut(|space| {
                let mut space = ReadBuf::new(space);
                match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut space)) {
                    Ok(()) => Poll::Ready(response.feed(space.filled()).map(|()| space.filled().len())),
                    Err(error) => Poll::Ready(Err(CallError::unavailable(Cause::Connection, &error))),
                }
            })
        })
        .await
    }

    /// True if the connection looks reusable: it was not closed and received no unexpected bytes.
    pub(super) async fn is_open(&mut self) -> bool {
        poll_fn(|cx| {
            let mut byte = [0];
            let read = Pin::new(&mut self.stream).poll_read(cx, &mut ReadBuf::new(&mut byte));
            Poll::Ready(read.is_pending())
        })
        .await
    }
}

/// A connection that carries many requests at once. Its task ends with the runtime that started it.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: http2::SendRequest<Sent>,
    pub(super) opened: Opened,
}

impl Http2 {
    pub(super) async fn begin(stream: Stream, opened: Opened) -> Result<Self, CallError> {
        let shaken = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(broke)?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to a service ended");
            }
        });
        Ok(Self { sender, opened })
    }

    /// Sends `request` and reads the response, with a body of at most `bytes_max`.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Sent>,
        bytes_max: usize,
    ) -> Result<Answer, FailedAttempt> {
        self.sender
            .ready()
            .await
            .map_err(|it| FailedAttempt { is_unsent: true, ..FailedAttempt::later(&it) })?;
        let answer = self.sender.try_send_request(request).await.map_err(FailedAttempt::before_head)?;
        let (head, body) = answer.into_parts();
        let (body, trailers) = super::wire::body::read(body, bytes_max).await?;
        let status = head.status;
        let headers = head.headers;
        let went = Went::default();
        Ok(plain(Answer { status, headers, body, trailers, went }, bytes_max)?)
    }

    /// True if the connection looks reusable.
    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }
}

fn broke(error: hyper::Error) -> CallError {
    CallError::unavailable(Cause::Connection, &error)
}
