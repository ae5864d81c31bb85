//! One open connection, and one exchange over it.
//!
//! A connection of HTTP/1 is driven by the task that asks over it, together with its request: nothing is handed from task to
//! task, and dropping the question closes the connection. One of HTTP/2 is shared and has a task of its own.

use super::Answer;
use super::error::{CallError, Cause};
use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A body that is sent.
pub(super) type Sent = Full<Bytes>;

/// An exchange that came to nothing.
#[derive(Debug)]
pub(super) struct Failure {
    /// Why.
    pub(super) error: CallError,
    /// It is certain that the service did not get the request.
    pub(super) is_unsent: bool,
    /// Nothing of an answer had come.
    pub(super) is_unanswered: bool,
}

impl Failure {
    /// The connection broke before anything of an answer came.
    fn before_head(mut refused: TrySendError<Request<Sent>>) -> Self {
        let is_unsent = refused.take_message().is_some();
        Self { is_unsent, is_unanswered: true, ..Self::later(refused.error()) }
    }

    /// The connection broke, or what came cannot be used.
    fn later(words: &dyn fmt::Display) -> Self {
        CallError::unavailable(Cause::Connection, words).into()
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self { error, is_unsent: false, is_unanswered: false }
    }
}

async fn read(answer: Response<Incoming>, bytes_max: usize) -> Result<Answer, Failure> {
    let (head, body) = answer.into_parts();
    let is_plain = |it: &HeaderValue| it.as_bytes().eq_ignore_ascii_case(b"identity");
    if !head.headers.get_all(CONTENT_ENCODING).iter().all(is_plain) {
        return Err(Failure::later(&"the body is compressed, which was not asked for"));
    }
    let (body, trailers) = super::body::read(body, bytes_max).await?;
    Ok(Answer { status: head.status, headers: head.headers, body, trailers })
}

/// A connection, however it is shared.
pub(super) enum Kept {
    Http1(Box<Http1>),
    Http2(Http2),
}

/// Bytes to and from a service.
pub(super) enum Stream {
    Plain(TcpStream),
    Private(Box<TlsStream<TcpStream>>),
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

/// A connection that carries one question at a time.
pub(super) struct Http1 {
    sender: http1::SendRequest<Sent>,
    connection: http1::Connection<TokioIo<Stream>, Sent>,
}

impl Http1 {
    pub(super) async fn begin(stream: Stream) -> Result<Self, CallError> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broke)?;
        Ok(Self { sender, connection })
    }

    /// Sends `request` and reads the answer, whose body may have `bytes_max`.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Sent>,
        bytes_max: usize,
    ) -> Result<Answer, Failure> {
        let asked = self.sender.try_send_request(request);
        let mut work = pin!(async move {
            let answer = asked.await.map_err(Failure::before_head)?;
            read(answer, bytes_max).await
        });
        let mut end = None;
        poll_fn(|cx| {
            if end.is_none()
                && let Poll::Ready(ended) = Pin::new(&mut self.connection).poll(cx)
            {
                end = Some(ended);
            }
            match (work.as_mut().poll(cx), &end) {
                (Poll::Ready(done), _) => Poll::Ready(done),
                (Poll::Pending, None) => Poll::Pending,
                (Poll::Pending, Some(Ok(()))) => Poll::Ready(Err(Failure::later(&"it was closed"))),
                (Poll::Pending, Some(Err(error))) => Poll::Ready(Err(Failure::later(error))),
            }
        })
        .await
    }

    /// Whether it can carry another question, as far as is known.
    pub(super) async fn is_open(&mut self) -> bool {
        let looked = poll_fn(|cx| Poll::Ready(Pin::new(&mut self.connection).poll(cx).is_pending()));
        looked.await && self.sender.is_ready()
    }
}

/// A connection that carries many questions at once. Its task ends with the runtime that began it.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: http2::SendRequest<Sent>,
}

impl Http2 {
    pub(super) async fn begin(stream: Stream) -> Result<Self, CallError> {
        let shaken = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(broke)?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to a service ended");
            }
        });
        Ok(Self { sender })
    }

    /// Sends `request` and reads the answer, whose body may have `bytes_max`.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Sent>,
        bytes_max: usize,
    ) -> Result<Answer, Failure> {
        self.sender.ready().await.map_err(|it| Failure { is_unsent: true, ..Failure::later(&it) })?;
        let answer = self.sender.try_send_request(request).await.map_err(Failure::before_head)?;
        read(answer, bytes_max).await
    }

    /// Whether it can carry another question, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }
}

fn broke(error: hyper::Error) -> CallError {
    CallError::unavailable(Cause::Connection, &error)
}
