//! Incremental parser of HTTP/1.1 responses.
//!
//! Strict where leniency would let two readers see different responses: two lengths that differ, a length beside chunks, or an
//! encoding of transfer that is not `chunked` alone are refused. Interim responses (1xx) are passed over.
//!
//! **Invariant:** what is taken from the bytes belongs to this response; what stands behind it is left.
//!
//! **Cost:** a response that comes in one piece is parsed where it lies; its body is copied once, into memory of its own: slices
//! of what was read would keep all of it alive for as long as a cache keeps a small answer.
//! Source: RFC 9112, 4 to 7.

use crate::call::call_error::{CallError, Cause};
use crate::call::{Answer, Went};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use httparse::Status;

/// Maximum number of headers, and of trailers.
const HEADERS_MAX: usize = 100;

/// Maximum size of a head, a line before a chunk, or the trailers, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of interim responses before the response itself.
const INTERIM_MAX: u32 = 32;

/// Maximum size allocated for an announced body length before any byte has arrived.
const TRUSTED_BYTES: usize = 64 * 1024;

/// Part of the response that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponsePart {
    Head,
    /// This many bytes of a body with a known length.
    Body(usize),
    /// The line with a chunk's length.
    ChunkSize,
    /// This many bytes of a chunk.
    Chunk(usize),
    /// The line end after a chunk.
    ChunkEnd,
    Trailers,
    /// A body that ends with the connection.
    UntilClose,
    Nothing,
}

/// Parser state of one response.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    next: ResponsePart,
    has_no_body: bool,
    bytes_max: usize,
    /// Bytes of an incomplete head, line or trailer section.
    part: Vec<u8>,
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
    trailers: HeaderMap,
    /// True if the connection can be reused.
    stays: bool,
    has_begun: bool,
    /// Number of interim (1xx) responses so far.
    interim: u32,
}

type Read<T> = Result<T, CallError>;

impl ResponseReader {
    /// Starts a response to a request of `method`, with a body of at most `bytes_max`.
    pub(crate) fn new(method: &Method, bytes_max: usize) -> Self {
        Self {
            next: ResponsePart::Head,
            has_no_body: *method == Method::HEAD,
            bytes_max,
            part: Vec::new(),
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body: Vec::new(),
            trailers: HeaderMap::new(),
            stays: true,
            has_begun: false,
            interim: 0,
        }
    }

    /// True if the response is complete.
    pub(crate) fn is_whole(&self) -> bool {
        self.next == ResponsePart::Nothing
    }

    /// True if any byte has arrived.
    pub(crate) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The response, and whether the connection can be reused.
    pub(crate) fn finish(self) -> (Answer, bool) {
        let Self { status, headers, body, trailers, stays, .. } = self;
        (Answer { status, headers, body: body.into(), trailers, went: Went::default() }, stays)
    }

    /// Reports that the connection ended.
    /// # Errors
    /// The response is incomplete.
    pub(crate) fn end(&mut self) -> Read<()> {
        match self.next {
            ResponsePart::UntilClose | ResponsePart::Nothing => {
                self.next = ResponsePart::Nothing;
                Ok(())
            }
            ResponsePart::Head
            | ResponsePart::Body(_)
            | ResponsePart::ChunkSize
            | ResponsePart::Chunk(_)
            | ResponsePart::ChunkEnd
            | ResponsePart::Trailers => Err(wrong("it was closed before the answer's end")),
        }
    }

    /// Parses `bytes`. Bytes after the end of the response are dropped, and the connection is not reused.
    /// # Errors
    /// The bytes are no valid response, or exceed a limit.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Read<()> {
        self.has_begun |= !bytes.is_empty();
        while !bytes.is_empty() {
            let taken = match self.next {
                ResponsePart::Head => self.read_whole_part(bytes, Self::head)?,
                ResponsePart::Body(left) => {
                    let taken = self.copy(bytes, left)?;
                    self.next =
                        if taken == left { ResponsePart::Nothing } else { ResponsePart::Body(left - taken) };
                    taken
                }
                ResponsePart::ChunkSize => self.read_whole_part(bytes, Self::chunk_size)?,
                ResponsePart::Chunk(left) => {
                    let taken = self.copy(bytes, left)?;
                    self.next = if taken == left {
                        ResponsePart::ChunkEnd
                    } else {
                        ResponsePart::Chunk(left - taken)
                    };
                    taken
                }
                ResponsePart::ChunkEnd => self.read_whole_part(bytes, Self::chunk_end)?,
                ResponsePart::Trailers => self.read_whole_part(bytes, Self::trailers)?,
                ResponsePart::UntilClose => self.copy(bytes, bytes.len())?,
                ResponsePart::Nothing => {
                    self.stays = false;
                    return Ok(());
                }
            };
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    /// Parses a part that must be complete with `read`; incomplete bytes are buffered. Returns the number of bytes consumed.
    fn read_whole_part(
        &mut self,
        bytes: &[u8],
        read: impl Fn(&mut Self, &[u8]) -> Read<Option<usize>>,
    ) -> Read<usize> {
        if self.part.is_empty() {
            if let Some(taken) = read(self, bytes)? {
                return Ok(taken);
            }
            self.part.extend_from_slice(bytes);
        } else {
            let before = self.part.len();
            let mut part = std::mem::take(&mut self.part);
            part.extend_from_slice(bytes);
            // All these parts end with a line, so without a new line end there is nothing to parse. Parsing at every byte would take
            // quadratic time.
            if bytes.contains(&b'\n')
                && let Some(taken) = read(self, &part)?
            {
                return Ok(taken - before);
            }
            self.part = part;
        }
        match self.part.len() {
            0..HEAD_BYTES_MAX => Ok(bytes.len()),
            HEAD_BYTES_MAX.. => Err(wrong("the answer's head is too long")),
        }
    }

    fn head(&mut self, bytes: &[u8]) -> Read<Option<usize>> {
        let mut lines = [const { std::mem::MaybeUninit::uninit() }; HEADERS_MAX];
        let mut head = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut head, bytes, &mut lines)
            .map_err(|error| wrong(&format!("the answer is no HTTP: {error}")))?;
        let Status::Complete(size) = parsed else { return Ok(None) };
        let status = head.code.and_then(|it| StatusCode::from_u16(it).ok());
        let status = status.ok_or_else(|| wrong("the answer's status is none"))?;
        if status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(wrong("the answer changes the protocol"));
        }
        if status.is_informational() {
            self.interim += 1;
            return match self.interim {
                0..=INTERIM_MAX => Ok(Some(size)),
                _ => Err(wrong("the answer is announced without end")),
            };
        }
        self.status = status;
        self.headers = map(head.headers)?;
        self.frame(head.version == Some(1))?;
        Ok(Some(size))
    }

    /// Determines the length of the body. Source: RFC 9112, 6.3.
    fn frame(&mut self, is_1_1: bool) -> Read<()> {
        let closes = |it: &HeaderValue| {
            let options = it.as_bytes().split(|byte| *byte == b',');
            options.map(<[u8]>::trim_ascii).any(|it| it.eq_ignore_ascii_case(b"close"))
        };
        self.stays = is_1_1 && !self.headers.get_all(CONNECTION).iter().any(closes);
        let length = length(&self.headers)?;
        let mut encodings = self.headers.get_all(TRANSFER_ENCODING).iter();
        let encoding = encodings.next();
        let is_chunked = match encoding {
            None => false,
            Some(encoding)
                if encodings.next().is_none()
                    && length.is_none()
                    && encoding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked") =>
            {
                true
            }
            Some(_) => return Err(wrong("the answer's transfer encoding is not understood")),
        };
        let has_no_body =
            self.has_no_body || matches!(self.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        // A service that announces a body may send it although none is allowed, and the next response would start with it.
        let is_framed = is_chunked || length.is_some_and(|it| it > 0);
        self.stays &= !(self.status == StatusCode::NO_CONTENT && is_framed);
        self.next = match length {
            _ if has_no_body => ResponsePart::Nothing,
            _ if is_chunked => ResponsePart::ChunkSize,
            Some(0) => ResponsePart::Nothing,
            Some(length) if length > self.bytes_max => {
                return Err(CallError::TooLarge { bytes_max: self.bytes_max });
            }
            Some(length) => {
                self.body.reserve_exact(length.min(TRUSTED_BYTES));
                ResponsePart::Body(length)
            }
            None => {
                self.stays = false;
                ResponsePart::UntilClose
            }
        };
        Ok(())
    }

    /// Copies up to `most` bytes of the body.
    fn copy(&mut self, bytes: &[u8], most: usize) -> Read<usize> {
        let taken = bytes.len().min(most);
        if taken > self.bytes_max - self.body.len() {
            return Err(CallError::TooLarge { bytes_max: self.bytes_max });
        }
        self.body.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn chunk_size(&mut self, bytes: &[u8]) -> Read<Option<usize>> {
        let parsed = httparse::parse_chunk_size(bytes).map_err(|_| wrong("a chunk's length is none"))?;
        let Status::Complete((taken, size)) = parsed else { return Ok(None) };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > self.bytes_max - self.body.len() {
            return Err(CallError::TooLarge { bytes_max: self.bytes_max });
        }
        self.next = if size == 0 { ResponsePart::Trailers } else { ResponsePart::Chunk(size) };
        Ok(Some(taken))
    }

    fn chunk_end(&mut self, bytes: &[u8]) -> Read<Option<usize>> {
        match bytes {
            [b'\r', b'\n', ..] => {
                self.next = ResponsePart::ChunkSize;
                Ok(Some(2))
            }
            [b'\r'] => Ok(None),
            _ => Err(wrong("a chunk is longer than it says")),
        }
    }

    fn trailers(&mut self, bytes: &[u8]) -> Read<Option<usize>> {
        let mut lines = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let parsed = httparse::parse_headers(bytes, &mut lines)
            .map_err(|error| wrong(&format!("what stands behind the answer is no HTTP: {error}")))?;
        let Status::Complete((taken, lines)) = parsed else { return Ok(None) };
        self.trailers = map(lines)?;
        self.next = ResponsePart::Nothing;
        Ok(Some(taken))
    }
}

/// Copies the headers; one allocation holds all values.
fn map(lines: &[httparse::Header<'_>]) -> Read<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(lines.len());
    let size = lines.iter().map(|it| it.value.len()).sum();
    let mut values = Vec::with_capacity(size);
    lines.iter().for_each(|it| values.extend_from_slice(it.value));
    let mut values = Bytes::from(values);
    for line in lines {
        let name = HeaderName::from_bytes(line.name.as_bytes());
        let value = HeaderValue::from_maybe_shared(values.split_to(line.value.len()));
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(wrong("the answer has a header that is none"));
        };
        headers.append(name, value);
    }
    Ok(headers)
}

/// Value of `Content-Length`.
fn length(headers: &HeaderMap) -> Read<Option<usize>> {
    let mut length = None;
    for value in headers.get_all(CONTENT_LENGTH) {
        for part in value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let is_number = !part.is_empty() && part.iter().all(u8::is_ascii_digit);
            let digits = std::str::from_utf8(part).ok().filter(|_| is_number);
            let known = digits.and_then(|it| it.parse().ok());
            match (known, length) {
                (Some(known), None) => length = Some(known),
                (Some(known), Some(earlier)) if known == earlier => {}
                (Some(_), Some(_)) | (None, _) => return Err(wrong("the answer's length is none")),
            }
        }
    }
    Ok(length)
}

fn wrong(words: &str) -> CallError {
    CallError::unavailable(Cause::Connection, &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Result of parsing `text` in pieces of `piece` bytes, with an end if `ends`.
    fn read(method: &Method, text: &[u8], piece: usize, ends: bool) -> Read<Option<(Answer, bool)>> {
        let mut response = ResponseReader::new(method, 1000);
        text.chunks(piece).try_for_each(|it| response.feed(it))?;
        if ends {
            response.end()?;
        }
        Ok(response.is_whole().then(|| response.finish()))
    }

    /// Checks the body, the trailers and whether the connection stays, however the bytes are cut.
    fn check(text: &str, expected: Option<(&str, bool)>) {
        for piece in 1..=text.len() {
            let found = read(&Method::GET, text.as_bytes(), piece, false).unwrap();
            let found = found.map(|(answer, stays)| (answer.body, stays));
            let expected = expected.map(|(body, stays)| (Bytes::from(body.to_owned()), stays));
            assert_eq!(found, expected, "{text:?} in pieces of {piece}");
        }
    }

    fn check_refused(text: &str, expected: &str) {
        for piece in 1..=text.len() {
            let error = read(&Method::GET, text.as_bytes(), piece, true).unwrap_err();
            assert!(format!("{error:?}").contains(expected), "{text:?} in pieces of {piece}: {error:?}");
        }
    }

    #[test]
    fn a_body_is_as_long_as_its_head_says() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Some(("hello", true)));
        check("HTTP/1.1 200\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\nhello", Some(("hello", true)));
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", None);
        check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, Close\r\n\r\n", Some(("", false)));
        check("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab", Some(("ab", false)));
        check("HTTP/1.1 204 No\r\n\r\n", Some(("", true)));
        check("HTTP/1.1 304 No\r\nContent-Length: 7\r\n\r\n", Some(("", true)));
        check("HTTP/1.1 200 OK\r\n", None);
    }

    #[test]
    fn what_stands_behind_a_response_makes_its_connection_useless() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 200 OK\r\n", Some(("ab", false)));
        check("HTTP/1.1 204 No\r\n\r\nx", Some(("", false)));
        check("HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\n", Some(("", false)));
        check("HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n", Some(("", false)));
        check("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", Some(("", true)));
    }

    #[test]
    fn chunks_are_put_together() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        check(&format!("{head}3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"), Some(("abcde", true)));
        check(&format!("{head}3\r\nabc\r\n0\r\nA: b\r\n\r\n"), Some(("abc", true)));
        check(&format!("{head}0\r\n\r\n"), Some(("", true)));
        check(&format!("{head}3\r\nabc\r\n"), None);
        let text = format!("{head}1\r\na\r\n0\r\nGrpc-Status: 0\r\n\r\n");
        let (answer, _) = read(&Method::GET, text.as_bytes(), 7, false).unwrap().unwrap();
        assert_eq!(answer.trailers["grpc-status"], "0");
    }

    #[test]
    fn interim_responses_are_passed_over() {
        let early = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
        check(&format!("{early}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"), Some(("ab", true)));
        let last = "HTTP/1.1 204 No\r\n\r\n";
        let many = |count| "HTTP/1.1 103 E\r\n\r\n".repeat(count);
        check(&format!("{}{last}", many(INTERIM_MAX as usize)), Some(("", true)));
        check_refused(&many(INTERIM_MAX as usize + 1), "without end");
    }

    #[test]
    fn a_body_without_a_length_ends_with_the_connection() {
        let text = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nabc";
        check(text, None);
        for piece in 1..=text.len() {
            let (answer, stays) = read(&Method::GET, text.as_bytes(), piece, true).unwrap().unwrap();
            assert_eq!((&*answer.body, stays), (b"abc".as_slice(), false));
        }
    }

    #[test]
    fn the_response_to_head_has_no_body() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n";
        let (answer, stays) = read(&Method::HEAD, text, 10, false).unwrap().unwrap();
        assert!(answer.body.is_empty() && stays);
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        let head = |lines: &str| format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n0\r\n\r\n");
        check_refused(&head("Content-Length: 5\r\nContent-Length: 6"), "length is none");
        check_refused(&head("Content-Length: 5, 6"), "length is none");
        check_refused(&head("Content-Length: +5"), "length is none");
        check_refused(&head("Content-Length: 99999999999999999999"), "length is none");
        check_refused(&head("Content-Length: 5\r\nTransfer-Encoding: chunked"), "transfer encoding");
        check_refused(&head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), "transfer encoding");
        check_refused(&head("Transfer-Encoding: gzip, chunked"), "transfer encoding");
        check_refused(&head("Transfer-Encoding: identity"), "transfer encoding");
        check_refused(&head("A : b"), "no HTTP");
        check_refused(&head("A: b\r\n c: d"), "no HTTP");
        check_refused("HTTP/1.1 101 Up\r\n\r\n", "changes the protocol");
        check_refused("SSH-2.0-x\r\n\r\n", "no HTTP");
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        check_refused(&format!("{head}3\r\nabcd\r\n"), "longer than it says");
        check_refused(&format!("{head}-3\r\nabc\r\n"), "chunk's length");
        check_refused(&format!("{head}fffffffffffffffff\r\n"), "chunk's length");
    }

    #[test]
    fn what_breaks_off_is_refused() {
        check_refused("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "before the answer's end");
        check_refused(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "before the answer",
        );
        check_refused("HTTP/1.1 200", "before the answer's end");
    }

    #[test]
    fn nothing_grows_beyond_its_bound() {
        let head = "HTTP/1.1 200 OK\r\n";
        let long = "x".repeat(1001);
        for text in [
            format!("{head}Content-Length: 1001\r\n\r\n"),
            format!("{head}Transfer-Encoding: chunked\r\n\r\n3e9\r\n"),
            format!("{head}\r\n{long}"),
        ] {
            let error = read(&Method::GET, text.as_bytes(), 100, false).unwrap_err();
            assert_eq!(error, CallError::TooLarge { bytes_max: 1000 }, "{text}");
        }
        let many = "a: b\r\n".repeat(HEADERS_MAX + 1);
        check_refused(&format!("{head}{many}\r\n"), "no HTTP");
        let wide = format!("{head}a: {}", "b".repeat(HEAD_BYTES_MAX));
        let error = read(&Method::GET, wide.as_bytes(), 4096, false).unwrap_err();
        assert!(format!("{error:?}").contains("too long"), "{error:?}");
    }
}
