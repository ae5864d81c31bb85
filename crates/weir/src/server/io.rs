//! The socket as hyper sees it: reports to the connection's clock when bytes come and when the client stops reading.

use super::clock::Watched;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};

/// A socket under the clock.
pub(crate) struct Guarded<S> {
    socket: TokioIo<S>,
    watched: Rc<Watched>,
}

impl<S> Guarded<S> {
    /// Puts `socket` under the clock.
    pub(crate) fn new(socket: S, watched: Rc<Watched>) -> Self {
        Self { socket: TokioIo::new(socket), watched }
    }
}

impl<S: AsyncRead + Unpin> Read for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.socket).poll_read(cx, buf);
        if read.is_ready() {
            self.watched.heard();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> Write for Guarded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.watched.await_reader(written.is_pending());
        written
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, parts);
        self.watched.await_reader(written.is_pending());
        written
    }
}
