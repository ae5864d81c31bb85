//! The socket as hyper sees it: heads are checked and frames counted before they pass, and the connection's clock hears when bytes come and
//! when the client stops reading.
//!
//! **Invariant:** what [`HeadGuard`] refuses never reaches hyper; [`STAND_IN`] does, in its place.
//! **Cost:** a request that comes whole is copied once, from the worker's memory into hyper's; a short answer once, back
//! into the worker's.

use super::head_guard::{HeadGuard, HeadVerdict, STAND_IN};
use super::http2_guard;
use super::timeouts::ConnectionState;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum size of one read, in bytes.
const READ_BYTES_MAX: usize = 16 * 1024;
/// Size of a read where hyper asks for less, in bytes: it peeks at the first bytes of a connection.
const READ_BYTES_MIN: usize = 4 * 1024;
/// Head and body up to this many bytes are joined into one write, which is faster than two.
const JOINED_BYTES_MAX: usize = 4 * 1024;
/// Maximum size of one write to an HTTP/2 stream, in bytes.
const STREAM_PIECE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a refused request that are still read, so that the client receives the response before the connection is closed.
pub(crate) const REST_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A worker's buffer for reading sockets and for joining short answers.
pub(crate) type ReadBuffer = Rc<RefCell<Box<[u8]>>>;

/// Buffer of one worker.
pub(crate) fn read_buffer() -> ReadBuffer {
    Rc::new(RefCell::new(vec![0; READ_BYTES_MAX].into_boxed_slice()))
}

/// A socket with timeouts and checked heads.
pub(crate) struct GuardedIo<S> {
    socket: TokioIo<S>,
    watched: Rc<ConnectionState>,
    heads: HeadGuard,
    read_buffer: ReadBuffer,
    /// Bytes read but not passed to hyper yet: an incomplete head, or more than hyper had room for.
    kept: Vec<u8>,
    /// Number of these bytes that may pass.
    passed: usize,
    last: HeadVerdict,
    /// After the response to a refused request: number of bytes read of its rest.
    rest: Option<usize>,
}

impl<S: AsyncRead + Unpin> GuardedIo<S> {
    /// Guards `socket`.
    pub(crate) fn new(
        socket: S,
        watched: Rc<ConnectionState>,
        heads: HeadGuard,
        read_buffer: ReadBuffer,
    ) -> Self {
        let socket = TokioIo::new(socket);
        let kept = Vec::new();
        Self { socket, watched, heads, read_buffer, kept, passed: 0, last: HeadVerdict::Pass, rest: None }
    }

    /// The socket, with the bytes received after a head that asked for a WebSocket.
    pub(crate) fn into_held(self) -> (TimedIo<S>, Vec<u8>) {
        (TimedIo::new(self.socket.into_inner(), self.watched), self.kept)
    }

    /// Passes kept bytes to hyper, as far as its buffer has room.
    fn hand_on(&mut self, buf: &mut ReadBufCursor<'_>) {
        let now = self.passed.min(buf.remaining());
        buf.put_slice(&self.kept[..now]);
        self.kept.drain(..now);
        self.passed -= now;
        if self.kept.is_empty() {
            self.kept = Vec::new();
        }
    }

    /// Checks `bytes` and passes to hyper what may pass at once.
    fn take_in(&mut self, bytes: &[u8], buf: &mut ReadBufCursor<'_>) {
        if self.kept.is_empty() {
            (self.passed, self.last) = self.heads.follow(bytes);
            let now = self.passed.min(buf.remaining());
            buf.put_slice(&bytes[..now]);
            self.passed -= now;
            self.kept.extend_from_slice(&bytes[now..]);
        } else {
            let before = self.kept.len();
            self.kept.extend_from_slice(bytes);
            if !self.heads.may_go_on(&self.kept, before) {
                return;
            }
            (self.passed, self.last) = self.heads.follow(&self.kept);
        }
        match self.last {
            HeadVerdict::Refuse(flaw) => {
                self.watched.refuse(flaw);
                self.replace_rest(STAND_IN);
            }
            HeadVerdict::Flood => {
                self.replace_rest(&http2_guard::oversized_head(self.heads.list_bytes_max()))
            }
            HeadVerdict::Pass | HeadVerdict::Wait | HeadVerdict::Lost | HeadVerdict::Hold => {}
        }
    }

    /// Replaces the bytes that must not pass by `stand_in`.
    fn replace_rest(&mut self, stand_in: &[u8]) {
        self.kept.truncate(self.passed);
        self.kept.extend_from_slice(stand_in);
        self.passed = self.kept.len();
    }

    /// True after the client exceeded the rate of frames.
    pub(crate) fn is_flooded(&self) -> bool {
        self.last == HeadVerdict::Flood
    }

    /// The head that accepts a WebSocket, rewritten by [`with_protocol_in_title_case`]; `None` for other bytes.
    fn upgrade_in_title_case(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.heads.is_offered() { with_protocol_in_title_case(bytes) } else { None }
    }

    /// Records the result of writing a part of an answer.
    fn wrote(&mut self, written: &Poll<io::Result<usize>>) {
        self.watched.await_reader(written.is_pending());
        if let Poll::Ready(Ok(bytes)) = written {
            self.heads.note_sent(*bytes);
        }
    }

    /// Reads the rest of a request that was answered early. A socket closed with unread bytes is reset, and the answer would be lost.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut read_buffer = self.read_buffer.borrow_mut();
        let mut bytes = self.rest.unwrap_or_default();
        while bytes < REST_BYTES_MAX {
            let mut read = ReadBuf::new(&mut read_buffer);
            match ready!(Pin::new(self.socket.inner_mut()).poll_read(cx, &mut read)) {
                Ok(()) if !read.filled().is_empty() => bytes += read.filled().len(),
                Ok(()) | Err(_) => break,
            }
            self.rest = Some(bytes);
        }
        Poll::Ready(())
    }
}

/// The socket as lent to hyper. It is taken back for a WebSocket.
pub(crate) struct LentIo<S>(pub(crate) Rc<RefCell<GuardedIo<S>>>);

impl<S: AsyncRead + Unpin> Read for LentIo<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Write for LentIo<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write(cx, bytes)
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_flush(cx)
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_shutdown(cx)
    }
    fn is_write_vectored(&self) -> bool {
        self.0.borrow().is_write_vectored()
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write_vectored(cx, parts)
    }
}

/// A socket with timeouts that no longer carries HTTP.
pub(crate) struct TimedIo<S> {
    socket: S,
    watched: Rc<ConnectionState>,
    /// Maximum size of one write, in bytes.
    write_bytes_max: usize,
}

impl<S> TimedIo<S> {
    /// Adds the timeouts of `watched` to a socket.
    fn new(socket: S, watched: Rc<ConnectionState>) -> Self {
        Self { socket, watched, write_bytes_max: usize::MAX }
    }
    /// Adds the timeouts of `watched` to an HTTP/2 stream. Writes are split, because the library buffers several of any size before it
    /// applies back-pressure.
    pub(crate) fn of_stream(socket: S, watched: Rc<ConnectionState>) -> Self {
        Self { socket, watched, write_bytes_max: STREAM_PIECE_BYTES_MAX }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.socket).poll_read(cx, buf));
        self.watched.alive();
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let piece = &bytes[..bytes.len().min(self.write_bytes_max)];
        let written = Pin::new(&mut self.socket).poll_write(cx, piece);
        self.watched.await_reader(written.is_pending());
        written
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        self.watched.await_reader(flushed.is_pending());
        flushed
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
    fn is_write_vectored(&self) -> bool {
        self.write_bytes_max == usize::MAX && self.socket.is_write_vectored()
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

impl<S: AsyncRead + Unpin> Read for GuardedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let room = buf.remaining();
        while buf.remaining() == room {
            if this.passed > 0 {
                this.hand_on(&mut buf);
                break;
            }
            match this.last {
                HeadVerdict::Pass | HeadVerdict::Wait => {}
                // The response to this head is the last HTTP on the connection, so nothing more is read.
                HeadVerdict::Refuse(_) | HeadVerdict::Hold | HeadVerdict::Flood => return Poll::Pending,
                HeadVerdict::Lost => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
            }
            let read_buffer = Rc::clone(&this.read_buffer);
            let mut read_buffer = read_buffer.borrow_mut();
            let mut read = ReadBuf::new(&mut read_buffer[..room.clamp(READ_BYTES_MIN, READ_BYTES_MAX)]);
            let done = ready!(Pin::new(this.socket.inner_mut()).poll_read(cx, &mut read));
            this.watched.note_received();
            done?;
            if read.filled().is_empty() {
                break;
            }
            this.heads.at_second(this.watched.now_s());
            this.take_in(read.filled(), &mut buf);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Write for GuardedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let renamed = self.upgrade_in_title_case(bytes);
        let written = Pin::new(&mut self.socket).poll_write(cx, renamed.as_deref().unwrap_or(bytes));
        self.wrote(&written);
        written
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.rest.is_none() {
            ready!(Pin::new(&mut this.socket).poll_shutdown(cx))?;
            if !this.heads.is_within() {
                return Poll::Ready(Ok(()));
            }
            this.watched.linger();
            this.rest = Some(0);
        }
        this.poll_rest(cx).map(Ok)
    }
    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = parts.first()
            && self.upgrade_in_title_case(first).is_some()
        {
            return self.poll_write(cx, first);
        }
        let this = &mut *self;
        let written = match parts.iter().map(|it| it.len()).sum::<usize>() {
            bytes @ 1..=JOINED_BYTES_MAX => {
                let mut read_buffer = this.read_buffer.borrow_mut();
                let mut rest = &mut read_buffer[..bytes];
                for part in parts {
                    let (here, after) = rest.split_at_mut(part.len());
                    here.copy_from_slice(part);
                    rest = after;
                }
                Pin::new(&mut this.socket).poll_write(cx, &read_buffer[..bytes])
            }
            _ => Pin::new(&mut this.socket).poll_write_vectored(cx, parts),
        };
        this.wrote(&written);
        written
    }
}

/// The head that accepts a WebSocket, with its protocol header in title case as in RFC 6455: gql 4.0 for Python compares it
/// case-sensitively.
fn with_protocol_in_title_case(head: &[u8]) -> Option<Vec<u8>> {
    const NAME: &[u8] = b"Sec-WebSocket-Protocol";
    let lower = NAME.to_ascii_lowercase();
    let is_switch = head.starts_with(b"HTTP/1.1 101 ");
    let at = memchr::memmem::find(head, &lower).filter(|_| is_switch)?;
    let mut out = head.to_vec();
    out[at..at + NAME.len()].copy_from_slice(NAME);
    Some(out)
}
