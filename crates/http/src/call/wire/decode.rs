//! Decompresses response bodies.
//!
//! **Invariant:** no more is unpacked than a plain body may have, however little was sent for it.

use crate::call::Answer;
use crate::call::call_error::CallError;
use brotli::DecompressorWriter;
use flate2::read::MultiGzDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue};
use std::io::{self, ErrorKind, Read, Write};
use zstd::stream::read::Decoder;

/// Value of `Accept-Encoding` in every call.
pub(crate) const ACCEPTED: HeaderValue = HeaderValue::from_static("zstd, br, gzip");

/// Typical compression ratio, to size the buffer.
const USUAL_RATIO: usize = 4;

/// Size of the buffer between a packed body and the decoder of brotli, in bytes.
const BROTLI_BUFFER_BYTES: usize = 4096;

/// The largest window of zstd that is accepted, as a power of two of bytes.
/// Source: RFC 9659, 3.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Codings of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Brotli,
    Zstd,
}

impl Coding {
    /// The coding that `Content-Encoding` calls `name`.
    fn of(name: &[u8]) -> Option<Self> {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        match () {
            () if is("gzip") || is("x-gzip") => Some(Self::Gzip),
            () if is("br") => Some(Self::Brotli),
            () if is("zstd") => Some(Self::Zstd),
            () => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// Decompresses the body of `answer`, to at most `bytes_max`. An empty body is returned as it is.
/// # Errors
/// The body has another coding or more than one, cannot be unpacked, or is too long.
pub(crate) fn plain(mut answer: Answer, bytes_max: usize) -> Result<Answer, CallError> {
    let Some(coding) = find_coding(&answer.headers)? else { return Ok(answer) };
    if let Some(coding) = coding.filter(|_| !answer.body.is_empty()) {
        answer.body = unpack(coding, &answer.body, bytes_max)?.into();
    }
    answer.headers.remove(CONTENT_ENCODING);
    answer.headers.remove(CONTENT_LENGTH);
    Ok(answer)
}

/// The coding that the headers name: `Some(None)` for `identity`, `None` without a header.
fn find_coding(headers: &HeaderMap) -> Result<Option<Option<Coding>>, CallError> {
    let mut found = None;
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let is_identity = name.is_empty() || name.eq_ignore_ascii_case(b"identity");
            found = match (Coding::of(name), found) {
                (Some(coding), None | Some(None)) => Some(Some(coding)),
                (None, found) if is_identity => found.or(Some(None)),
                (Some(_) | None, _) => {
                    return Err(CallError::Coded(String::from_utf8_lossy(value.as_bytes()).into()));
                }
            };
        }
    }
    Ok(found)
}

/// Decompresses `packed`, to at most `bytes_max`.
/// # Errors
/// The data is not valid in this coding, or is longer.
pub(crate) fn unpack(coding: Coding, packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, CallError> {
    let mut plain = Vec::with_capacity((packed.len() * USUAL_RATIO).min(bytes_max));
    let bound = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let read = match coding {
        Coding::Gzip => MultiGzDecoder::new(packed).take(bound).read_to_end(&mut plain),
        Coding::Brotli => unpack_brotli(packed, &mut Bounded { plain: &mut plain, bytes_max }),
        Coding::Zstd => Decoder::with_buffer(packed).and_then(|mut decoder| {
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            decoder.take(bound).read_to_end(&mut plain)
        }),
    };
    let wrong = |reason: &str| CallError::Packed(format!("{}: {reason}", coding.name()).into());
    match read {
        _ if plain.len() > bytes_max => Err(CallError::TooLarge { bytes_max }),
        Ok(_) => Ok(plain),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(wrong("it ends too early")),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

/// Decompresses `packed` into `plain`; bytes behind the end of the stream are an error. Returns the size of `packed`.
fn unpack_brotli(packed: &[u8], plain: &mut Bounded<'_>) -> io::Result<usize> {
    let mut writer = DecompressorWriter::new(plain, BROTLI_BUFFER_BYTES);
    let taken = writer.write(packed)?;
    if taken < packed.len() {
        return Err(io::Error::new(ErrorKind::InvalidData, "bytes stand behind its end"));
    }
    writer.close()?;
    Ok(taken)
}

/// Memory that takes one byte more than `bytes_max`, and then fails.
struct Bounded<'p> {
    plain: &'p mut Vec<u8>,
    bytes_max: usize,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = (self.bytes_max - self.plain.len().min(self.bytes_max)).saturating_add(1);
        self.plain.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if self.plain.len() > self.bytes_max {
            return Err(io::Error::other("there is no more room"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use http::StatusCode;
    use proptest::prelude::*;

    const ALL: [Coding; 3] = [Coding::Gzip, Coding::Brotli, Coding::Zstd];

    fn pack(coding: Coding, plain: &[u8]) -> Vec<u8> {
        match coding {
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
            Coding::Brotli => {
                let mut packed = Vec::new();
                let mut encoder = brotli::CompressorWriter::new(&mut packed, 4096, 5, 22);
                encoder.write_all(plain).unwrap();
                drop(encoder);
                packed
            }
            Coding::Zstd => {
                // With the checksum that a changed byte does not pass.
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
                encoder.include_checksum(true).unwrap();
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn answer(codings: &[&'static str], body: &[u8]) -> Answer {
        let headers =
            codings.iter().map(|it| (CONTENT_ENCODING, HeaderValue::from_static(it))).collect::<HeaderMap>();
        let status = StatusCode::OK;
        let body = Bytes::copy_from_slice(body);
        Answer { status, headers, body, trailers: HeaderMap::new(), went: Default::default() }
    }

    fn check(codings: &[&'static str], body: &[u8], expected: Result<&[u8], &str>) {
        match (plain(answer(codings, body), 1000), expected) {
            (Ok(found), Ok(expected)) => {
                assert_eq!(&*found.body, expected, "{codings:?}");
                assert!(!found.headers.contains_key(CONTENT_ENCODING), "it is plain now");
            }
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{codings:?}: {error}"),
            (found, _) => panic!("{codings:?}: {found:?}"),
        }
    }

    #[test]
    fn each_coding_is_read_and_no_other() {
        for coding in ALL {
            let name = coding.name();
            let body = pack(coding, b"well");
            check(&[name], &body, Ok(b"well"));
            check(&[name], b"", Ok(b""));
            check(&[name], b"well", Err(name));
            check(&[name], &body[..body.len() - 1], Err(name));
            check(&[name], &[&*body, b"junk behind it"].concat(), Err(name));
            check(&["identity", name], &body, Ok(b"well"));
        }
        let body = pack(Coding::Gzip, b"well");
        check(&[], b"well", Ok(b"well"));
        check(&["identity"], b"well", Ok(b"well"));
        check(&["X-GZIP, identity"], &body, Ok(b"well"));
        check(&["BR"], &pack(Coding::Brotli, b"well"), Ok(b"well"));
        check(&["gzip"], &[&*body, &pack(Coding::Gzip, b" done")].concat(), Ok(b"well done"));
        let frames = [pack(Coding::Zstd, b"well"), pack(Coding::Zstd, b" done")].concat();
        check(&["zstd"], &frames, Ok(b"well done"));
        check(&["deflate"], &body, Err("Content-Encoding: deflate"));
        check(&["gzip, gzip"], &body, Err("Content-Encoding: gzip, gzip"));
        check(&["gzip", "br"], &body, Err("Content-Encoding: br"));
        check(&["gzip"], &body[..body.len() - 1], Err("it ends too early"));
    }

    #[test]
    fn a_bomb_is_unpacked_up_to_the_bound() {
        for coding in ALL {
            let name = [coding.name()];
            check(&name, &pack(coding, &[b' '; 1000]), Ok(&[b' '; 1000]));
            check(&name, &pack(coding, &[b' '; 1001]), Err("more than 1000 bytes"));
            check(&name, &pack(coding, &vec![b' '; 50_000_000]), Err("more than 1000 bytes"));
        }
        for coding in [Coding::Gzip, Coding::Zstd] {
            let many: Vec<u8> = (0..2000).flat_map(|_| pack(coding, b"a")).collect();
            check(&[coding.name()], &many, Err("more than 1000 bytes"));
        }
    }

    #[test]
    fn a_window_beyond_the_limit_is_refused() {
        let packed = |log| {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
            encoder.window_log(log).unwrap();
            encoder.write_all(b"well").unwrap();
            encoder.flush().unwrap();
            encoder.write_all(b" done").unwrap();
            encoder.finish().unwrap()
        };
        check(&["zstd"], &packed(ZSTD_WINDOW_LOG_MAX), Ok(b"well done"));
        check(&["zstd"], &packed(ZSTD_WINDOW_LOG_MAX + 1), Err("zstd"));
    }

    proptest! {
        #[test]
        fn whatever_is_said_to_be_packed_is_read_or_refused(
            body in proptest::collection::vec(any::<u8>(), 0..600), flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..3)
        ) {
            for coding in ALL {
                let mut sent = pack(coding, &body);
                for (at, by) in &flips {
                    let at = at % sent.len();
                    sent[at] ^= by;
                }
                let found = plain(answer(&[coding.name()], &sent), 1000);
                match found {
                    Ok(found) => prop_assert!(found.body.len() <= 1000 && (!flips.is_empty() || found.body == body)),
                    Err(error) => prop_assert!(!flips.is_empty() && error.code().starts_with("SOURCE_")),
                }
            }
        }
    }
}
