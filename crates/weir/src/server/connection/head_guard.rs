//! Reads along: finds each HTTP/1 head in a connection's bytes and checks it before hyper sees it.
//!
//! hyper answers a head it cannot read with an empty body, and takes some that two readers read differently: two lengths,
//! a bare LF as the end of a line. Behind a proxy that reads them the other way, a part of one caller's request becomes
//! another's. So the bytes are followed from head to body to head.
//!
//! **Invariant:** a head that passes is read by hyper, and as here: the parser is the same, and what admits two readings
//! does not pass.
//! **Cost:** one pass over the head without allocating, and one comparison of bytes where a connection repeats its last head; of bodies
//! only the size lines of chunks are looked at.

use super::head_error::HeadError;
use super::http2_guard::{self, FrameCounter};
use crate::config::Limits;
use httparse::{Header, Request, Status};
use hyper::Uri;
use std::mem::MaybeUninit;

/// First bytes of an HTTP/2 connection. Source: RFC 9113, section 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Method of [`STAND_IN`].
pub(crate) const STAND_IN_METHOD: &str = "-";
/// Replaces a refused head in hyper's input, so that the refusal is sent in order with other responses.
pub(crate) const STAND_IN: &[u8] = b"- * HTTP/1.1\r\nconnection: close\r\n\r\n";
/// Number of header lines parsed without a heap allocation.
const LINES_AT_HAND: usize = 128;
/// Maximum size of a head that is remembered, in bytes.
const KEPT_BYTES_MAX: usize = 1024;

/// How to treat bytes after those that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadVerdict {
    /// No such bytes.
    Pass,
    /// An incomplete head: wait for the rest.
    Wait,
    /// A head that must be refused.
    Refuse(HeadError),
    /// An invalid body: the next head cannot be located.
    Lost,
    /// Bytes after a request for a WebSocket, which are not HTTP if it is granted.
    Hold,
    /// Too many HTTP/2 frames within a second.
    Flood,
}

/// Parser position in a connection's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadPosition {
    /// At the start of the connection, or within [`PREFACE`].
    Start,
    /// Before a head.
    Head,
    /// In a body with this many bytes left.
    Body(u64),
    /// In a chunked body.
    Chunks(ChunkPosition),
    /// In HTTP/2, whose heads are framed.
    Multiplexed(FrameCounter),
    /// After the last head that passes.
    Over,
    /// After a request for a WebSocket. If it is refused, the connection ends.
    Offered,
}

/// Position in a chunked body. Source: RFC 9112, section 7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkPosition {
    Size { bytes: u64, digits: u8 },
    Extension { bytes: u64 },
    SizeLf { bytes: u64 },
    Data { bytes: u64 },
    DataCr,
    DataLf,
    LineBegin,
    Line,
    LineLf,
    EndLf,
}

/// Guard of one connection.
#[derive(Debug)]
pub(crate) struct HeadGuard {
    at: ReadPosition,
    bytes_max: usize,
    lines_max: usize,
    list_bytes_max: u32,
    kept: KeptHead,
}

/// Last head that passed. Clients often repeat a head, and equal bytes need no second parse.
#[derive(Debug)]
struct KeptHead {
    /// Bytes of the head; empty if none is remembered.
    bytes: Vec<u8>,
    next: ReadPosition,
}

impl KeptHead {
    /// Length of the head at the start of `bytes` and the position after it, if it is the remembered head.
    fn know(&self, bytes: &[u8]) -> Option<(usize, ReadPosition)> {
        let is_known = !self.bytes.is_empty() && bytes.starts_with(&self.bytes);
        is_known.then_some((self.bytes.len(), self.next))
    }

    fn keep(&mut self, head: &[u8], next: ReadPosition) {
        if head.len() <= KEPT_BYTES_MAX {
            self.bytes.clear();
            self.bytes.extend_from_slice(head);
            self.next = next;
        }
    }
}

impl HeadGuard {
    /// Starts at the beginning of a connection.
    pub(crate) fn new(limits: &Limits) -> Self {
        let bytes_max = limits.head_bytes_max as usize;
        let lines_max = usize::from(limits.headers_max);
        Self {
            at: ReadPosition::Start,
            bytes_max,
            lines_max,
            list_bytes_max: http2_guard::list_bytes_max(limits),
            kept: KeptHead { bytes: Vec::new(), next: ReadPosition::Over },
        }
    }

    /// True within a request, or after a refused one, so more bytes may arrive.
    pub(crate) fn is_within(&self) -> bool {
        match self.at {
            ReadPosition::Body(_) | ReadPosition::Chunks(_) | ReadPosition::Over | ReadPosition::Offered => {
                true
            }
            ReadPosition::Start | ReadPosition::Head | ReadPosition::Multiplexed(_) => false,
        }
    }

    /// True if the last head asked for a WebSocket.
    pub(crate) fn is_offered(&self) -> bool {
        matches!(self.at, ReadPosition::Offered)
    }

    /// Sets the current second, by which frames are counted.
    pub(crate) fn at_second(&mut self, second: u32) {
        if let ReadPosition::Multiplexed(frames) = &mut self.at {
            frames.at_second(second);
        }
    }

    /// Maximum size of an HTTP/2 header list.
    pub(crate) fn list_bytes_max(&self) -> u32 {
        self.list_bytes_max
    }

    /// Records `bytes` written to the client.
    pub(crate) fn note_sent(&mut self, bytes: usize) {
        if let ReadPosition::Multiplexed(frames) = &mut self.at {
            frames.credit_sent(bytes);
        }
    }

    /// True if parsing `kept` again may succeed, after its part from `new` on arrived.
    pub(crate) fn may_go_on(&self, kept: &[u8], new: usize) -> bool {
        let recent = &kept[new.saturating_sub(3)..];
        kept.len() >= self.bytes_max
            || (self.at == ReadPosition::Start && PREFACE.starts_with(&kept[..kept.len().min(PREFACE.len())]))
            || memchr::memchr_iter(b'\n', recent)
                .any(|at| recent[at + 1..].starts_with(b"\n") || recent[at + 1..].starts_with(b"\r\n"))
    }

    /// Number of leading bytes of `bytes` that may pass, and the treatment of the rest. `bytes` continue the bytes that passed before.
    pub(crate) fn follow(&mut self, bytes: &[u8]) -> (usize, HeadVerdict) {
        let mut passed = 0;
        while passed < bytes.len() {
            let rest = &bytes[passed..];
            match self.at {
                ReadPosition::Multiplexed(ref mut frames) => {
                    let Err(here) = frames.follow(rest) else { return (bytes.len(), HeadVerdict::Pass) };
                    self.at = ReadPosition::Over;
                    return (passed + here, HeadVerdict::Flood);
                }
                ReadPosition::Over => return (passed, HeadVerdict::Lost),
                ReadPosition::Offered => return (passed, HeadVerdict::Hold),
                ReadPosition::Start if PREFACE.starts_with(rest) && rest.len() < PREFACE.len() => {
                    return (passed, HeadVerdict::Wait);
                }
                ReadPosition::Start if rest.starts_with(PREFACE) => {
                    passed += PREFACE.len();
                    self.at = ReadPosition::Multiplexed(FrameCounter::FIRST);
                }
                ReadPosition::Start | ReadPosition::Head => match self.next_head(rest) {
                    Ok(Some((length, next))) => {
                        passed += length;
                        self.at = next;
                    }
                    Ok(None) => return (passed, HeadVerdict::Wait),
                    Err(flaw) => {
                        self.at = ReadPosition::Over;
                        return (passed, HeadVerdict::Refuse(flaw));
                    }
                },
                ReadPosition::Body(left) => {
                    let here = left.min(rest.len() as u64);
                    passed += here as usize;
                    self.at = if here == left { ReadPosition::Head } else { ReadPosition::Body(left - here) };
                }
                ReadPosition::Chunks(chunk) => match chunk.follow(rest) {
                    Some((length, next)) => {
                        passed += length;
                        self.at = next.map_or(ReadPosition::Head, ReadPosition::Chunks);
                    }
                    None => {
                        self.at = ReadPosition::Over;
                        return (passed, HeadVerdict::Lost);
                    }
                },
            }
        }
        (passed, HeadVerdict::Pass)
    }

    /// Like [`HeadGuard::head`], but a repeated head is not parsed again.
    fn next_head(&mut self, bytes: &[u8]) -> Result<Option<(usize, ReadPosition)>, HeadError> {
        if let Some(known) = self.kept.know(bytes) {
            return Ok(Some(known));
        }
        let found = self.head(bytes)?;
        // The first head is not remembered, because most idle connections sent only one.
        if let (ReadPosition::Head, Some((length, next))) = (self.at, found) {
            self.kept.keep(&bytes[..length], next);
        }
        Ok(found)
    }

    /// Length of the head at the start of `bytes` and the position after it; `None` while it is incomplete.
    fn head(&self, bytes: &[u8]) -> Result<Option<(usize, ReadPosition)>, HeadError> {
        let mut at_hand = [const { MaybeUninit::uninit() }; LINES_AT_HAND];
        let mut more = Vec::new();
        let lines: &mut [MaybeUninit<Header<'_>>] = match at_hand.get_mut(..self.lines_max) {
            Some(lines) => lines,
            None => {
                more.resize(self.lines_max, MaybeUninit::uninit());
                &mut more
            }
        };
        let mut request = Request::new(&mut []);
        let length = match request.parse_with_uninit_headers(bytes, lines) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) if bytes.len() < self.bytes_max => return Ok(None),
            Ok(Status::Partial) if memchr::memchr(b'\n', bytes).is_none() => return Err(HeadError::LongUrl),
            Ok(Status::Partial) => return Err(HeadError::Long),
            Err(httparse::Error::TooManyHeaders) => return Err(HeadError::Lines),
            Err(error) => return Err(HeadError::Syntax(error)),
        };
        if length > self.bytes_max {
            return Err(HeadError::Long);
        }
        // The parser already refuses CR without LF, and LF inside a line.
        let head = &bytes[..length];
        if memchr::memchr_iter(b'\n', head).count() != memchr::memchr_iter(b'\r', head).count() {
            return Err(HeadError::BareLf);
        }
        if !is_target(request.path.unwrap_or_default()) {
            return Err(HeadError::Target);
        }
        body_of(&request).map(|next| Some((length, next)))
    }
}

/// Determines the framing of the body. Ambiguous framing is refused, although servers may repair it. Source: RFC 9112, section 6.3.
fn body_of(request: &Request<'_, '_>) -> Result<ReadPosition, HeadError> {
    let mut length = None;
    let mut chunked = false;
    let mut hosts = 0;
    let mut names_websocket = false;
    let mut names_upgrade = false;
    let is_latest = request.version == Some(1);
    for header in request.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        // Compare lengths first, which differ for most names.
        match header.name.len() {
            4 if is("host") => hosts += 1,
            7 if is("upgrade") => names_websocket |= is_websocket(header.value),
            10 if is("connection") => names_upgrade |= has_upgrade(header.value),
            14 if is("content-length") => {
                let before = length.replace(number(header.value).ok_or(HeadError::Length)?);
                if before.is_some() {
                    return Err(HeadError::TwoLengths);
                }
            }
            17 if is("transfer-encoding") => {
                let known = header.value.trim_ascii().eq_ignore_ascii_case(b"chunked");
                if !known || chunked || !is_latest {
                    return Err(HeadError::Coding);
                }
                chunked = true;
            }
            _ => {}
        }
    }
    if is_latest && hosts != 1 {
        return Err(HeadError::Host);
    }
    match (length, chunked) {
        (Some(_), true) => Err(HeadError::TwoLengths),
        (None, true) => Ok(ReadPosition::Chunks(ChunkPosition::FIRST)),
        (None | Some(0), false) if names_websocket && names_upgrade => Ok(ReadPosition::Offered),
        (None | Some(0), false) => Ok(ReadPosition::Head),
        (Some(bytes), false) => Ok(ReadPosition::Body(bytes)),
    }
}

/// True for an `upgrade` value that asks for a WebSocket. An offer of cleartext HTTP/2 may be ignored.
pub(crate) fn is_websocket(value: &[u8]) -> bool {
    value.trim_ascii().eq_ignore_ascii_case(b"websocket")
}

/// True for a `connection` value that lists `upgrade`; without it `upgrade` has no effect.
pub(crate) fn has_upgrade(value: &[u8]) -> bool {
    value.split(|it| *it == b',').any(|it| it.trim_ascii().eq_ignore_ascii_case(b"upgrade"))
}

/// Parses digits only.
fn number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    text.bytes().all(|it| it.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// True if hyper accepts the target.
fn is_target(text: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&it);
    text.starts_with('/') && text.bytes().all(is_plain) || Uri::try_from(text).is_ok()
}

impl ChunkPosition {
    const FIRST: Self = Self::Size { bytes: 0, digits: 0 };

    /// Number of bytes consumed and the next position (`None` after the body). `None` if the chunks are invalid.
    fn follow(mut self, bytes: &[u8]) -> Option<(usize, Option<Self>)> {
        let mut at = 0;
        while at < bytes.len() {
            if let Self::Data { bytes: left } = self {
                let here = left.min((bytes.len() - at) as u64);
                at += here as usize;
                self = if here == left { Self::DataCr } else { Self::Data { bytes: left - here } };
                continue;
            }
            at += 1;
            match self.step(bytes[at - 1])? {
                Some(next) => self = next,
                None => return Some((at, None)),
            }
        }
        Some((at, Some(self)))
    }

    /// Advances by one byte outside of chunk data.
    fn step(self, byte: u8) -> Option<Option<Self>> {
        let next = match (self, byte) {
            (Self::Size { bytes, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') if digits < 15 => {
                let digit = u64::from(char::from(byte).to_digit(16)?);
                Self::Size { bytes: bytes * 16 + digit, digits: digits + 1 }
            }
            (Self::Size { bytes, digits: 1.. } | Self::Extension { bytes }, b'\r') => Self::SizeLf { bytes },
            (Self::Size { bytes, digits: 1.. }, b';' | b' ' | b'\t') => Self::Extension { bytes },
            (Self::Size { .. }, _) | (Self::Extension { .. } | Self::LineBegin | Self::Line, b'\n') => {
                return None;
            }
            (Self::Extension { bytes }, _) => Self::Extension { bytes },
            (Self::SizeLf { bytes: 0 }, b'\n') => Self::LineBegin,
            (Self::SizeLf { bytes }, b'\n') => Self::Data { bytes },
            (Self::DataCr, b'\r') => Self::DataLf,
            (Self::DataLf, b'\n') => Self::FIRST,
            (Self::LineBegin, b'\r') => Self::EndLf,
            (Self::Line, b'\r') => Self::LineLf,
            (Self::LineBegin | Self::Line, _) => Self::Line,
            (Self::LineLf, b'\n') => Self::LineBegin,
            (Self::EndLf, b'\n') => return Some(None),
            (Self::SizeLf { .. } | Self::DataCr | Self::DataLf | Self::LineLf | Self::EndLf, _) => {
                return None;
            }
            (Self::Data { .. }, _) => return None,
        };
        Some(Some(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::connection::http2_guard::FRAMES_PER_SECOND_MAX;

    /// Follows `bytes`, of which all but `refused` may pass, however they are cut.
    fn check(bytes: &str, verdict: HeadVerdict, refused: &str) {
        let limits = Limits { head_bytes_max: 200, headers_max: 3, ..Limits::default() };
        for cut in 0..bytes.len() {
            let mut heads = HeadGuard::new(&limits);
            let (first, found) = heads.follow(&bytes.as_bytes()[..cut]);
            let (passed, found) = match found {
                HeadVerdict::Pass | HeadVerdict::Wait => {
                    let (more, found) = heads.follow(&bytes.as_bytes()[first..]);
                    (first + more, found)
                }
                HeadVerdict::Refuse(_) | HeadVerdict::Lost | HeadVerdict::Hold | HeadVerdict::Flood => {
                    (first, found)
                }
            };
            assert_eq!(found, verdict, "{bytes:?} cut at {cut}");
            assert_eq!(&bytes[passed..], refused, "{bytes:?} cut at {cut}");
        }
    }

    const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    const POST: &str = "POST /a?b HTTP/1.1\r\nHost: a\r\n";

    fn refuses(head: &str, flaw: HeadError) {
        check(head, HeadVerdict::Refuse(flaw), head);
        // Behind another request, which passes.
        check(&format!("{GET}{head}"), HeadVerdict::Refuse(flaw), head);
    }

    #[test]
    fn requests_follow_each_other() {
        check(&GET.repeat(3), HeadVerdict::Pass, "");
        check(&format!("{POST}content-length: 5\r\n\r\nhello{GET}"), HeadVerdict::Pass, "");
        check(&format!("{POST}content-length: 0\r\n\r\n{GET}"), HeadVerdict::Pass, "");
        check(&format!("\r\n{GET}\r\n{GET}"), HeadVerdict::Pass, "");
        check(&format!("{GET}GET / HT"), HeadVerdict::Wait, "GET / HT");
    }

    #[test]
    fn a_head_that_comes_again_is_followed_by_what_it_announces() {
        let post = format!("{POST}content-length: 5\r\n\r\n");
        let chunked = format!("{POST}transfer-encoding: chunked\r\n\r\n0\r\n\r\n");
        let long = format!("{POST}a: {}\r\ncontent-length: 5\r\n\r\n", "b".repeat(90));
        for [one, other] in
            [[GET, &chunked], [&format!("{post}hello"), &chunked], [&format!("{long}hello"), GET]]
        {
            let again = [one, one, one, other, one, one, other, other].concat();
            check(&again, HeadVerdict::Pass, "");
            check(&format!("{again}{}", &one[..20]), HeadVerdict::Wait, &one[..20]);
            check(
                &format!("{again}GET / HTTP/1.1\r\n\r\n"),
                HeadVerdict::Refuse(HeadError::Host),
                "GET / HTTP/1.1\r\n\r\n",
            );
        }
        // A kept head that is the beginning of another, smuggled one.
        let two = format!("{POST}content-length: 5\r\ncontent-length: 6\r\n\r\n");
        let sent = format!("{}{two}", format!("{post}hello").repeat(3));
        check(&sent, HeadVerdict::Refuse(HeadError::TwoLengths), &two);
    }

    #[test]
    fn chunks_are_followed_to_their_end() {
        let chunked = format!("{POST}Transfer-Encoding: Chunked\r\n\r\n");
        check(&format!("{chunked}5\r\nhello\r\n0\r\n\r\n{GET}"), HeadVerdict::Pass, "");
        check(&format!("{chunked}0A ;x=y\r\n0123456789\r\n0\r\na: b\r\n\r\n{GET}"), HeadVerdict::Pass, "");
        for broken in [
            "\r\n",
            "5\nhello",
            "5\r\nhello!\r\n",
            "g\r\n",
            "-1\r\n",
            "1;\n",
            "0\r\n\n",
            "fffffffffffffffff\r\n",
        ] {
            let mut heads = HeadGuard::new(&Limits::default());
            let (_, verdict) = heads.follow(format!("{chunked}{broken}").as_bytes());
            assert_eq!(verdict, HeadVerdict::Lost, "{broken:?}");
        }
    }

    #[test]
    fn what_admits_two_readings_is_refused() {
        refuses(&format!("{POST}content-length: 5\r\ncontent-length: 5\r\n\r\nhello"), HeadError::TwoLengths);
        refuses(
            &format!("{POST}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n"),
            HeadError::TwoLengths,
        );
        refuses(
            &format!("{POST}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n"),
            HeadError::TwoLengths,
        );
        refuses(&format!("{POST}transfer-encoding: gzip, chunked\r\n\r\n"), HeadError::Coding);
        refuses(
            &format!("{POST}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n"),
            HeadError::Coding,
        );
        refuses("POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n", HeadError::Coding);
        for length in ["-1", "+1", "1,1", "0x1", "", "99999999999999999999"] {
            refuses(&format!("{POST}content-length: {length}\r\n\r\n"), HeadError::Length);
        }
        refuses("GET / HTTP/1.1\r\nhost: a\r\n\n", HeadError::BareLf);
        refuses("GET / HTTP/1.1\nhost: a\r\n\r\n", HeadError::BareLf);
        refuses("GET / HTTP/1.1\r\nhost: a\nb: c\r\n\r\n", HeadError::BareLf);
        refuses("GET / HTTP/1.1\r\n\r\n", HeadError::Host);
        refuses("GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n", HeadError::Host);
        refuses("GET http:/// HTTP/1.1\r\nhost: a\r\n\r\n", HeadError::Target);
    }

    #[test]
    fn a_head_has_bounds() {
        let limits = Limits { head_bytes_max: 200, headers_max: 3, ..Limits::default() };
        let verdict = |text: String| HeadGuard::new(&limits).follow(text.as_bytes()).1;
        assert_eq!(
            verdict(format!("{GET}GET /{}", "a".repeat(200))),
            HeadVerdict::Refuse(HeadError::LongUrl)
        );
        assert_eq!(verdict(format!("{POST}a: {}", "a".repeat(200))), HeadVerdict::Refuse(HeadError::Long));
        assert_eq!(
            verdict(format!("{POST}a: {}\r\n\r\n", "a".repeat(200))),
            HeadVerdict::Refuse(HeadError::Long)
        );
        assert_eq!(
            verdict(format!("{POST}{}\r\n", "a: b\r\n".repeat(3))),
            HeadVerdict::Refuse(HeadError::Lines)
        );
        let many = Limits { headers_max: 300, ..Limits::default() };
        let text = format!("{POST}{}\r\n", "a: b\r\n".repeat(200));
        assert_eq!(HeadGuard::new(&many).follow(text.as_bytes()), (text.len(), HeadVerdict::Pass));
    }

    #[test]
    fn what_is_no_http_is_refused_at_once() {
        for text in
            ["\x16\x03\x01", "GET  / HTTP/1.1\r\n", "GET / HTTP/2.0\r\n", "GET / HTTP/1.1\r\na : b\r\n"]
        {
            let (_, verdict) = HeadGuard::new(&Limits::default()).follow(text.as_bytes());
            assert!(matches!(verdict, HeadVerdict::Refuse(HeadError::Syntax(_))), "{text:?}: {verdict:?}");
        }
    }

    #[test]
    fn what_follows_an_offered_websocket_is_held() {
        let limits = Limits::default();
        let offer = "GET /graphql HTTP/1.1\r\nhost: a\r\nupgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n\r\n";
        let follow = |text: &str| HeadGuard::new(&limits).follow(text.as_bytes());
        assert_eq!(follow(offer), (offer.len(), HeadVerdict::Pass));
        assert_eq!(follow(&format!("{offer}\u{1}frame")), (offer.len(), HeadVerdict::Hold));
        for none in [offer.replace("WebSocket", "h2c"), offer.replace(", Upgrade", "")] {
            let both = format!("{none}{GET}");
            assert_eq!(follow(&both), (both.len(), HeadVerdict::Pass));
        }
    }

    #[test]
    fn http_2_is_left_to_itself_but_for_floods() {
        let text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\n\n anything";
        check(text, HeadVerdict::Pass, "");
        let ping = "\0\0\u{8}\u{6}\0\0\0\0\0pingpong";
        let most = FRAMES_PER_SECOND_MAX as usize + 1;
        let mut heads = HeadGuard::new(&Limits::default());
        let begun = format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{}", ping.repeat(most));
        let flood = format!("{begun}{}", ping.repeat(3));
        assert_eq!(heads.follow(flood.as_bytes()), (begun.len(), HeadVerdict::Flood));
        assert!(heads.is_within());
    }
}
