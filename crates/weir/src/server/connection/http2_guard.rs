//! HTTP/2 guard: limits frames without requests, and checks heads like those of HTTP/1.1.
//!
//! The library bounds streams, header lists, CONTINUATION and small DATA frames. SETTINGS, PING, PRIORITY, WINDOW_UPDATE,
//! RST_STREAM and frames of unknown types cost it work without end, so their heads are read along.
//!
//! **Invariant:** a connection over [`FRAMES_PER_SECOND_MAX`] ends with GOAWAY, and none of the frames behind is read.
//! **Cost:** nine bytes of each frame are looked at; nothing is allocated.
//!
//! Sources: RFC 9113, sections 4.1, 6, 8.3.1 and 10.5; RFC 9110, 4.2.3.

use super::head_error::HeadError;
use crate::config::Limits;
use hyper::header::{COOKIE, HOST};
use hyper::http::request::Parts;
use hyper::http::uri::{Authority, Scheme};
use hyper::{HeaderMap, Version};

/// Maximum number of frames without a request per second.
pub(crate) const FRAMES_PER_SECOND_MAX: u32 = 2_000;
/// One WINDOW_UPDATE per this many written bytes is not counted: some clients send two for each short answer.
const BYTES_PER_UPDATE: u32 = 64;
/// Maximum credit for written bytes, more than a client has in flight.
const CREDIT_BYTES_MAX: u32 = 4 * 1024 * 1024;
/// Size of a frame header: length, type, flags, stream.
const HEAD_BYTES: u8 = 9;
/// Overhead of a header line as defined by the RFC, in bytes.
const LINE_BYTES: u32 = 32;
/// Number of pseudo-header lines.
const PSEUDO_LINES: u32 = 5;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;

/// Parser position in a connection's frames, with counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameCounter {
    /// Number of bytes seen of the current frame's header.
    seen: u8,
    payload_bytes: u32,
    kind: u8,
    second: u32,
    counted: u32,
    credit_bytes: u32,
}

impl FrameCounter {
    /// Position after the preface.
    pub(crate) const FIRST: Self =
        Self { seen: 0, payload_bytes: 0, kind: 0, second: 0, counted: 0, credit_bytes: 0 };

    /// Starts a new second of the counters.
    pub(crate) fn at_second(&mut self, second: u32) {
        if self.second != second {
            (self.second, self.counted) = (second, 0);
        }
    }

    /// Adds credit for `bytes` written to the client.
    pub(crate) fn credit_sent(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.credit_bytes = self.credit_bytes.saturating_add(bytes).min(CREDIT_BYTES_MAX);
    }

    /// Counts the frames in `bytes`.
    /// # Errors
    /// Number of bytes up to the frame that exceeds the limit.
    pub(crate) fn follow(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut rest = bytes;
        loop {
            if self.seen == HEAD_BYTES {
                let here = rest.len().min(self.payload_bytes as usize);
                rest = &rest[here..];
                self.payload_bytes -= here as u32;
                if self.payload_bytes > 0 {
                    return Ok(());
                }
                self.seen = 0;
                if self.counted > FRAMES_PER_SECOND_MAX {
                    return Err(bytes.len() - rest.len());
                }
            }
            let Some((byte, after)) = rest.split_first() else { return Ok(()) };
            rest = after;
            self.step(*byte);
        }
    }

    /// Advances by one byte in a frame header.
    fn step(&mut self, byte: u8) {
        match self.seen {
            0..=2 => self.payload_bytes = self.payload_bytes << 8 | u32::from(byte),
            3 => self.kind = byte,
            4 => self.count(byte & END_STREAM != 0),
            _ => {}
        }
        self.seen += 1;
    }

    /// Counts the current frame, unless it belongs to a request or is covered by credit.
    fn count(&mut self, ends_stream: bool) {
        match self.kind {
            HEADERS | CONTINUATION => {}
            DATA if ends_stream || self.payload_bytes > 0 => {}
            WINDOW_UPDATE if self.credit_bytes >= BYTES_PER_UPDATE => self.credit_bytes -= BYTES_PER_UPDATE,
            _ => self.counted = self.counted.saturating_add(1),
        }
    }
}

/// Maximum size of a header list for the library. It exceeds our own limit, so that slightly larger heads get a readable error.
pub(crate) fn list_bytes_max(limits: &Limits) -> u32 {
    let lines = LINE_BYTES * (u32::from(limits.headers_max) + PSEUDO_LINES);
    limits.head_bytes_max.saturating_add(lines).saturating_mul(2)
}

/// Replaces the bytes after too many frames: a header list larger than `list_bytes_max`, which the library answers with GOAWAY
/// (ENHANCE_YOUR_CALM).
pub(crate) fn oversized_head(list_bytes_max: u32) -> Vec<u8> {
    const STREAM: [u8; 4] = [0x7f, 0xff, 0xff, 0xff];
    let part = |kind: u8| [[0, 0, 0, kind, 0].as_slice(), &STREAM].concat();
    let parts = list_bytes_max as usize / 8192 + 8;
    [part(HEADERS), part(CONTINUATION).repeat(parts)].concat()
}

/// Checks a head that the library parsed: for HTTP/2 like [`super::head_guard`] does for HTTP/1.1, and for both whether `Host` matches the
/// URL.
pub(crate) fn find_head_error(head: &Parts, limits: &Limits) -> Option<HeadError> {
    let headers = &head.headers;
    let authority = head.uri.authority();
    if head.version == Version::HTTP_2 {
        if count_header_lines(headers) > usize::from(limits.headers_max) {
            return Some(HeadError::Lines);
        }
        if bytes(head) > limits.head_bytes_max as usize {
            return Some(HeadError::Long);
        }
        let hosts = headers.get_all(HOST).iter().count();
        if hosts > 1 || hosts == 0 && authority.is_none() {
            return Some(HeadError::Host);
        }
    }
    let authority = authority?;
    let host = headers.get(HOST)?;
    let agree = is_same(host.as_bytes(), authority, head.uri.scheme());
    (!agree).then_some(HeadError::OtherHost)
}

/// Number of header lines; split cookies count as one. Source: RFC 9113, 8.2.3.
fn count_header_lines(headers: &HeaderMap) -> usize {
    headers.len() - headers.get_all(COOKIE).iter().count().saturating_sub(1)
}

/// Size of the head in HTTP/1.1 syntax, in bytes.
fn bytes(head: &Parts) -> usize {
    let target = head.uri.path_and_query().map_or(0, |it| it.as_str().len());
    let host = head.uri.authority().map_or(0, |it| "host: \r\n".len() + it.as_str().len());
    let lines = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    head.method.as_str().len() + target + host + "  HTTP/2.0\r\n\r\n".len() + lines.sum::<usize>()
}

/// True if `host` matches the URL's authority; the default port of the scheme may be omitted.
fn is_same(host: &[u8], authority: &Authority, scheme: Option<&Scheme>) -> bool {
    let implied = match scheme {
        Some(it) if *it == Scheme::HTTPS => ":443",
        Some(_) => ":80",
        None => "",
    };
    let authority = authority.as_str().strip_suffix(implied).unwrap_or(authority.as_str());
    let host = host.strip_suffix(implied.as_bytes()).unwrap_or(host);
    host.eq_ignore_ascii_case(authority.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    const SETTINGS: u8 = 4;
    const PING: u8 = 6;

    fn frame(kind: u8, flags: u8, bytes: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, bytes, kind, flags, 0, 0, 0, 1];
        frame.resize(9 + usize::from(bytes), 0xff);
        frame
    }

    /// Follows `bytes` in pieces of `size`; how many may pass.
    fn count_passed(frames: &mut FrameCounter, bytes: &[u8], size: usize) -> usize {
        let mut passed = 0;
        for piece in bytes.chunks(size) {
            match frames.follow(piece) {
                Ok(()) => passed += piece.len(),
                Err(here) => return passed + here,
            }
        }
        passed
    }

    #[test]
    fn frames_without_a_request_are_bounded_in_each_second_however_they_are_cut() {
        let most = FRAMES_PER_SECOND_MAX as usize;
        for frame in
            [frame(SETTINGS, 0, 0), frame(PING, 1, 8), frame(2, 0, 5), frame(3, 0, 4), frame(8, 0, 4)]
                .into_iter()
                .chain([frame(0xfa, 0, 3), frame(DATA, 0, 0), frame(7, 0, 8)])
        {
            let flood = frame.repeat(5 * most);
            for size in [1, 7, 9, 4096, flood.len()] {
                let mut frames = FrameCounter::FIRST;
                assert_eq!(
                    count_passed(&mut frames, &frame.repeat(most), size),
                    most * frame.len(),
                    "{frame:?}"
                );
                frames.at_second(1);
                // The one too many ends before the rest is kept back.
                assert_eq!(
                    count_passed(&mut frames, &flood, size),
                    (most + 1) * frame.len(),
                    "{frame:?} {size}"
                );
            }
        }
    }

    #[test]
    fn requests_bodies_and_what_answers_need_are_not_counted() {
        let mut frames = FrameCounter::FIRST;
        let request = [frame(HEADERS, 4, 30), frame(DATA, 0, 40), frame(DATA, END_STREAM, 0)].concat();
        // Two updates for an answer of 150 bytes.
        let thanks = frame(WINDOW_UPDATE, 0, 4).repeat(2);
        for _ in 0..20 * FRAMES_PER_SECOND_MAX {
            assert_eq!(frames.follow(&request), Ok(()));
            frames.credit_sent(150);
            assert_eq!(frames.follow(&thanks), Ok(()));
        }
        assert_eq!(frames.counted, 0);
        frames.credit_sent(usize::MAX);
        let saved = CREDIT_BYTES_MAX / BYTES_PER_UPDATE + FRAMES_PER_SECOND_MAX;
        let flood = frame(WINDOW_UPDATE, 0, 4).repeat(2 * saved as usize);
        assert_eq!(count_passed(&mut frames, &flood, flood.len()), 13 * (saved as usize + 1));
    }

    fn check(url: &str, lines: &[(&str, &str)], version: Version, expected: Option<HeadError>) {
        let limits = Limits { head_bytes_max: 200, headers_max: 3, ..Limits::default() };
        let mut request = Request::get(url).version(version);
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("it is a request").into_parts();
        assert_eq!(find_head_error(&head, &limits), expected, "{url} {lines:?}");
    }

    #[test]
    fn a_host_is_given_once_and_is_the_url_s() {
        let two = |url, lines: &[(&str, &str)], expected| check(url, lines, Version::HTTP_2, expected);
        two("http://a/", &[], None);
        two("/", &[("host", "a")], None);
        two("/", &[], Some(HeadError::Host));
        two("http://a/", &[("host", "a"), ("host", "a")], Some(HeadError::Host));
        for (url, host, same) in [
            ("http://a:1/", "A:1", true),
            ("http://a/", "a:80", true),
            ("https://a:443/", "a", true),
            ("https://a/", "a:80", false),
            ("http://a/", "b", false),
            ("http://a/", "a:8080", false),
            ("http://a/", "", false),
            ("http://a@b/", "b", false),
        ] {
            for version in [Version::HTTP_2, Version::HTTP_11] {
                check(url, &[("host", host)], version, (!same).then_some(HeadError::OtherHost));
            }
        }
    }

    #[test]
    fn a_head_has_the_bounds_of_http_1() {
        let two = |lines: &[(&str, &str)], expected| check("http://a/", lines, Version::HTTP_2, expected);
        two(&[("a", "b"); 3], None);
        two(&[("a", "b"); 4], Some(HeadError::Lines));
        two(&[("cookie", "b"); 9], None);
        two(&[("a", &"b".repeat(200))], Some(HeadError::Long));
    }
}
