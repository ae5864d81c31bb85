//! Body of an answer: complete bytes, or a stream of chunks.
//!
//! **Invariant:** an aborted stream ends in an error, so hyper cuts the connection: a part never looks like the whole.

use super::content_coding::Encoder;
use crate::server::connection::timeouts::InFlight;
use crate::server::request::negotiate::Media;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use weir_engine::engine::Aborted;
use weir_engine::unread::Receiver;

/// Maximum size of a frame; the rest of a whole answer waits in the body, where it is counted.
const FRAME_BYTES_MAX: usize = 128 * 1024;

/// Body of a response.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    form: BodyForm,
    /// Keeps the connection in the phase `InFlight` until the last byte was passed to hyper.
    guard: Option<InFlight>,
}

#[derive(Debug)]
enum BodyForm {
    Whole(Option<Bytes>),
    Stream(Box<BodyStream>),
}

/// Rest of a streamed answer.
struct BodyStream {
    head: Option<Bytes>,
    rest: Receiver<Result<Vec<u8>, Aborted>>,
    encoder: Option<Encoder>,
    ended: bool,
    /// True if the last byte is dropped.
    is_cut: bool,
    /// The last byte so far of such a stream.
    held: Option<u8>,
}

impl fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyStream").field("ended", &self.ended).finish_non_exhaustive()
    }
}

/// The source failed in the middle of the stream.
#[derive(Debug)]
pub(crate) struct CutOff;

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer was cut off")
    }
}

impl std::error::Error for CutOff {}

impl From<Infallible> for CutOff {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl ResponseBody {
    /// An empty body.
    pub(crate) const fn empty() -> Self {
        Self { form: BodyForm::Whole(None), guard: None }
    }
    /// A complete body.
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { form: BodyForm::Whole((!bytes.is_empty()).then_some(bytes)), guard: None }
    }
    /// A body with the bytes of `head` and the following chunks, compressed by an optional encoder.
    pub(crate) fn stream(
        head: Vec<u8>,
        rest: Receiver<Result<Vec<u8>, Aborted>>,
        encoder: Option<Encoder>,
    ) -> Self {
        rest.unread_count().add(head.len());
        let head = (!head.is_empty()).then(|| Bytes::from(head));
        Self {
            form: BodyForm::Stream(Box::new(BodyStream {
                head,
                rest,
                encoder,
                ended: false,
                is_cut: false,
                held: None,
            })),
            guard: None,
        }
    }
    /// Drops the last byte of a stream; a complete body is unchanged.
    pub(crate) fn drop_last_byte_of_stream(&mut self) {
        match &mut self.form {
            BodyForm::Stream(stream) => stream.is_cut = true,
            BodyForm::Whole(_) => {}
        }
    }
    /// Holds `guard` until the body is dropped.
    pub(crate) fn with_guard(mut self, mut guard: InFlight) -> Self {
        match &self.form {
            BodyForm::Whole(bytes) => guard.begin_answer(bytes.as_ref().map_or(0, |it| it.len() as u64)),
            BodyForm::Stream(stream) => guard.answers_in_parts(stream.rest.counts().cloned().collect()),
        }
        self.guard = Some(guard);
        self
    }
    /// Length in bytes, if known.
    pub(crate) fn len(&self) -> Option<u64> {
        match &self.form {
            BodyForm::Whole(bytes) => Some(bytes.as_ref().map_or(0, |it| it.len() as u64)),
            BodyForm::Stream(_) => None,
        }
    }
}

/// Takes the next frame from `bytes`.
fn next_frame(bytes: &mut Option<Bytes>) -> Option<Bytes> {
    match bytes {
        Some(rest) if rest.len() > FRAME_BYTES_MAX => Some(rest.split_to(FRAME_BYTES_MAX)),
        Some(_) | None => bytes.take(),
    }
}

impl BodyStream {
    /// Returns the held byte and `bytes` without their last one, which is held next.
    fn hold_last(&mut self, bytes: &[u8]) -> Bytes {
        let Some((last, before)) = bytes.split_last() else { return Bytes::new() };
        let held = self.held.replace(*last);
        held.iter().chain(before).copied().collect::<Vec<u8>>().into()
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutOff>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            let plain = match self.head.take() {
                Some(head) => {
                    self.rest.unread_count().take(head.len());
                    Some(head)
                }
                None => match std::task::ready!(self.rest.poll_recv(cx)) {
                    Some(Ok(bytes)) => Some(Bytes::from(bytes)),
                    Some(Err(Aborted)) => {
                        self.ended = true;
                        return Poll::Ready(Some(Err(CutOff)));
                    }
                    None => None,
                },
            };
            let plain = if self.is_cut { plain.map(|it| self.hold_last(&it)) } else { plain };
            if plain.as_ref().is_some_and(Bytes::is_empty) {
                continue;
            }
            let Some(encoder) = &mut self.encoder else {
                self.ended = plain.is_none();
                return Poll::Ready(plain.map(Ok));
            };
            let encoded = match plain {
                Some(plain) => encoder.chunk(&plain),
                None => {
                    self.ended = true;
                    self.encoder.take().map(Encoder::finish).unwrap_or_default()
                }
            };
            // An encoder may buffer its input, so there may be nothing to send.
            if !encoded.is_empty() {
                return Poll::Ready(Some(Ok(Bytes::from(encoded))));
            }
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        let this = &mut *self;
        let next = match &mut this.form {
            BodyForm::Whole(bytes) => Poll::Ready(next_frame(bytes).map(Ok)),
            BodyForm::Stream(stream) => stream.poll(cx),
        };
        if let Some(guard) = &mut this.guard {
            let is_ready = matches!(next, Poll::Ready(Some(_)));
            guard.await_reader(is_ready);
            if let (BodyForm::Whole(_), Poll::Ready(Some(Ok(bytes)))) = (&this.form, &next) {
                guard.note_written(bytes.len() as u64);
            }
        }
        next.map(|it| it.map(|it| it.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.form {
            BodyForm::Whole(bytes) => bytes.is_none(),
            BodyForm::Stream(stream) => stream.ended,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.form {
            BodyForm::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |it| it.len() as u64)),
            BodyForm::Stream(_) => SizeHint::new(),
        }
    }
}

/// A JSON response.
pub(crate) fn json(status: StatusCode, media: Media, body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    response
}
