//! HTTP/1.1 with keep-alive, one request at a time.
//!
//! **Cost:** a request is one write and, for a small answer, one read; buffers live as long as their connection.

use super::connect::{Dialer, Stream};
use super::{ANSWER_BYTES_MAX, Answer, CacheOutcome, WireError};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};

/// Headers of an answer that are read.
const HEADERS_MAX: usize = 96;

/// Bytes that one read may take.
const READ_BYTES: usize = 16 * 1024;

/// A connection that is opened again when it has ended.
#[derive(Default)]
pub(crate) struct Http1 {
    stream: Option<Box<dyn Stream>>,
    buffer: Vec<u8>,
}

/// The head of an answer.
struct Head {
    length: usize,
    body: BodyLength,
    is_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyLength {
    Known(usize),
    Chunked,
    UntilClosed,
}

impl Http1 {
    /// Opens the connection if it is not open.
    pub(crate) async fn open(&mut self, dialer: &Dialer) -> Result<(), WireError> {
        if let Some(stream) = &mut self.stream
            && is_idle(stream).await
        {
            return Ok(());
        }
        self.buffer.clear();
        self.stream = None;
        self.stream = Some(dialer.dial().await?);
        Ok(())
    }

    /// Sends a request and reads its answer. Dropping the future leaves the connection unusable: call [`Self::close`].
    pub(crate) async fn exchange(
        &mut self,
        dialer: &Dialer,
        request: &[u8],
        answer: &mut Answer,
    ) -> Result<(), WireError> {
        self.open(dialer).await?;
        let result = self.try_exchange(request, answer).await;
        if !matches!(result, Ok(false)) {
            self.close();
        }
        result.map(|_| ())
    }

    /// Closes the connection.
    pub(crate) fn close(&mut self) {
        self.stream = None;
        self.buffer.clear();
    }

    /// True if the connection must be closed after this answer.
    async fn try_exchange(&mut self, request: &[u8], answer: &mut Answer) -> Result<bool, WireError> {
        let Some(stream) = &mut self.stream else {
            return Err(WireError::new("closed", "the connection is not open"));
        };
        let closed = |cause: std::io::Error| WireError::new("closed", cause);
        stream.write_all(request).await.map_err(closed)?;
        let buffer = &mut self.buffer;
        let mut head = None;
        while head.is_none() {
            if read(stream, buffer).await? == 0 {
                return Err(WireError::new("closed", "the server closed the connection before it answered"));
            }
            head = parse(buffer, answer)?;
            // An interim answer such as 103 is followed by the real one.
            while let Some(it) = &head
                && (100..200).contains(&answer.status)
            {
                buffer.drain(..it.length);
                head = parse(buffer, answer)?;
            }
        }
        let Some(Head { length, body, is_last }) = head else { return Ok(true) };
        let end = match body {
            BodyLength::Known(size) => {
                while buffer.len() < length + size {
                    more(stream, buffer).await?;
                }
                answer.body.extend_from_slice(&buffer[length..length + size]);
                length + size
            }
            BodyLength::Chunked => chunks(stream, buffer, length, &mut answer.body).await?,
            BodyLength::UntilClosed => {
                while read(stream, buffer).await? > 0 {}
                answer.body.extend_from_slice(&buffer[length..]);
                buffer.len()
            }
        };
        answer.bytes = end as u64;
        buffer.drain(..end);
        Ok(is_last || body == BodyLength::UntilClosed)
    }
}

/// False if the server has closed the connection or sent unrequested data.
async fn is_idle(stream: &mut Box<dyn Stream>) -> bool {
    let mut byte = [0; 1];
    let mut byte = ReadBuf::new(&mut byte);
    poll_fn(|context| Poll::Ready(Pin::new(&mut *stream).poll_read(context, &mut byte).is_pending())).await
}

async fn read(stream: &mut Box<dyn Stream>, buffer: &mut Vec<u8>) -> Result<usize, WireError> {
    if buffer.len() > ANSWER_BYTES_MAX {
        return Err(WireError::new("protocol", format!("an answer is longer than {ANSWER_BYTES_MAX} bytes")));
    }
    buffer.reserve(READ_BYTES);
    stream.read_buf(buffer).await.map_err(|cause| WireError::new("closed", cause))
}

async fn more(stream: &mut Box<dyn Stream>, buffer: &mut Vec<u8>) -> Result<(), WireError> {
    match read(stream, buffer).await? {
        0 => Err(WireError::new("closed", "the server closed the connection within an answer")),
        _ => Ok(()),
    }
}

/// The head, once it is there as a whole.
fn parse(buffer: &[u8], answer: &mut Answer) -> Result<Option<Head>, WireError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(buffer).map_err(|cause| WireError::new("protocol", cause))?;
    let httparse::Status::Complete(length) = parsed else { return Ok(None) };
    answer.status = response.code.unwrap_or(0);
    answer.cache = CacheOutcome::default();
    answer.body.clear();
    let mut body = BodyLength::UntilClosed;
    let mut is_last = response.version == Some(0);
    for header in response.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        match header.name.len() {
            14 if body != BodyLength::Chunked && is("content-length") => {
                let size = std::str::from_utf8(header.value).ok().and_then(|it| it.trim().parse().ok());
                body = BodyLength::Known(
                    size.ok_or_else(|| WireError::new("protocol", "`content-length` is no number"))?,
                );
            }
            17 if is("transfer-encoding") => body = BodyLength::Chunked,
            10 if is("connection") => is_last = header.value.eq_ignore_ascii_case(b"close"),
            _ => answer.cache.note(header.name.as_bytes(), header.value),
        }
    }
    if matches!(answer.status, 100..200 | 204 | 304) {
        body = BodyLength::Known(0);
    }
    if matches!(body, BodyLength::Known(it) if it > ANSWER_BYTES_MAX) {
        return Err(WireError::new("protocol", format!("an answer is longer than {ANSWER_BYTES_MAX} bytes")));
    }
    Ok(Some(Head { length, body, is_last }))
}

/// Reads a chunked body that begins at `at`; returns its end.
async fn chunks(
    stream: &mut Box<dyn Stream>,
    buffer: &mut Vec<u8>,
    mut at: usize,
    body: &mut Vec<u8>,
) -> Result<usize, WireError> {
    loop {
        let parsed = httparse::parse_chunk_size(&buffer[at..]);
        let parsed = parsed.map_err(|_| WireError::new("protocol", "a chunk has no size"))?;
        let httparse::Status::Complete((head, size)) = parsed else {
            more(stream, buffer).await?;
            continue;
        };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > ANSWER_BYTES_MAX {
            return Err(WireError::new(
                "protocol",
                format!("a chunk is longer than {ANSWER_BYTES_MAX} bytes"),
            ));
        }
        if size == 0 {
            return trailers(stream, buffer, at + head).await;
        }
        while buffer.len() < at + head + size + 2 {
            more(stream, buffer).await?;
        }
        body.extend_from_slice(&buffer[at + head..at + head + size]);
        at += head + size + 2;
    }
}

/// Reads past the trailers, which end with an empty line.
async fn trailers(
    stream: &mut Box<dyn Stream>,
    buffer: &mut Vec<u8>,
    mut at: usize,
) -> Result<usize, WireError> {
    loop {
        match memchr::memchr(b'\n', &buffer[at..]) {
            Some(end) => {
                let is_empty = end == 0 || (end == 1 && buffer[at] == b'\r');
                at += end + 1;
                if is_empty {
                    return Ok(at);
                }
            }
            None => more(stream, buffer).await?,
        }
    }
}
