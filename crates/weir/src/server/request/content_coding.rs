//! Compression of answers and decompression of requests.
//!
//! **Invariant:** unpacking stops at the bound; a bomb costs what a body of the bound costs.

use super::cache_headers;
use super::response_body::ResponseBody;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use hyper::Response;
use hyper::header::{CONTENT_ENCODING, HeaderValue};
use std::io::{self, Read, Write};

/// All codings, preferred first. Zstandard is last, because some clients announce it without support in their runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
    Zstd,
}

impl Coding {
    pub(crate) const ALL: [Self; 3] = [Self::Brotli, Self::Gzip, Self::Zstd];

    /// The name in `Content-Encoding`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }
}

/// Compressor of one answer. Levels favour speed, since most of the gain is in the first level.
pub(crate) enum Encoder {
    Zstd(zstd::Encoder<'static, Vec<u8>>),
    /// Ends when it is dropped only, so it is taken to be ended.
    Brotli(Option<Box<brotli::CompressorWriter<Vec<u8>>>>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl Encoder {
    pub(crate) fn new(coding: Coding) -> Self {
        const BROTLI_BUFFER_BYTES: usize = 8192;
        const BROTLI_WINDOW_BITS: u32 = 22;
        match coding {
            Coding::Zstd => {
                let encoder = zstd::Encoder::new(Vec::new(), 1);
                Self::Zstd(encoder.unwrap_or_else(|_| unreachable!("the level exists")))
            }
            Coding::Brotli => Self::Brotli(Some(Box::new(brotli::CompressorWriter::new(
                Vec::new(),
                BROTLI_BUFFER_BYTES,
                2,
                BROTLI_WINDOW_BITS,
            )))),
            Coding::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), Compression::new(2))),
        }
    }

    /// Compresses `plain` and flushes, so that chunks of a slow stream are sent at once.
    pub(crate) fn chunk(&mut self, plain: &[u8]) -> Vec<u8> {
        self.write(plain);
        // Output to memory does not fail.
        let out = match self {
            Self::Zstd(it) => it.flush().map(|()| it.get_mut()),
            Self::Brotli(Some(it)) => it.flush().map(|()| it.get_mut()),
            Self::Brotli(None) => return Vec::new(),
            Self::Gzip(it) => it.flush().map(|()| it.get_mut()),
        };
        out.map(std::mem::take).unwrap_or_default()
    }

    /// End of the compressed data.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        match self {
            Self::Zstd(it) => it.do_finish().map(|()| std::mem::take(it.get_mut())).unwrap_or_default(),
            Self::Brotli(it) => it.take().map(|it| it.into_inner()).unwrap_or_default(),
            Self::Gzip(it) => it.try_finish().map(|()| std::mem::take(it.get_mut())).unwrap_or_default(),
        }
    }

    /// Compresses all of `plain`.
    pub(crate) fn whole(coding: Coding, plain: &[u8]) -> Vec<u8> {
        let mut encoder = Self::new(coding);
        encoder.write(plain);
        encoder.finish()
    }

    fn write(&mut self, plain: &[u8]) {
        // Memory takes all of it.
        let _ = match self {
            Self::Zstd(it) => it.write_all(plain),
            Self::Brotli(Some(it)) => it.write_all(plain),
            Self::Brotli(None) => Ok(()),
            Self::Gzip(it) => it.write_all(plain),
        };
    }
}

/// Reason why a body cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnpackError {
    /// The result exceeds the limit.
    TooLong,
    /// The data is invalid.
    Broken,
}

/// Decompresses `packed` to at most `bytes_max` bytes.
pub(crate) fn unpack(coding: Coding, packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, UnpackError> {
    match coding {
        Coding::Zstd => zstd::Decoder::with_buffer(packed).and_then(|it| read(it, bytes_max)),
        // A buffer of all bytes: what follows the end is seen by it alone.
        Coding::Brotli => read(brotli::Decompressor::new(packed, packed.len()), bytes_max),
        Coding::Gzip => read(MultiGzDecoder::new(packed), bytes_max),
    }
    .map_err(|_| UnpackError::Broken)?
    .ok_or(UnpackError::TooLong)
}

/// Reads to the end; `None` if that is after `bytes_max` bytes.
fn read(decoder: impl Read, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    let mut plain = Vec::new();
    let bound = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bounded = decoder.take(bound);
    bounded.read_to_end(&mut plain)?;
    if plain.len() > bytes_max {
        return Ok(None);
    }
    // A decoder that came to an end may refuse what follows only when it is asked again.
    match bounded.into_inner().read(&mut [0])? {
        0 => Ok(Some(plain)),
        _ => Err(io::Error::other("the end was not the end")),
    }
}

/// Sets `Content-Encoding`.
pub(crate) fn mark_coding(response: &mut Response<ResponseBody>, coding: Option<Coding>) {
    if let Some(coding) = coding {
        let headers = response.headers_mut();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        cache_headers::differs_by(headers, "accept-encoding");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(coding: Coding, plain: &[u8], bytes_max: usize, expected: Result<(), UnpackError>) {
        let packed = Encoder::whole(coding, plain);
        assert_eq!(unpack(coding, &packed, bytes_max), expected.map(|()| plain.to_vec()), "{coding:?}");
    }

    #[test]
    fn what_is_packed_is_unpacked_the_same() {
        for coding in Coding::ALL {
            check(coding, b"", 10, Ok(()));
            check(coding, &b"{\"data\":null}".repeat(1000), 13_000, Ok(()));
        }
    }

    #[test]
    fn a_bomb_stops_at_the_bound() {
        for coding in Coding::ALL {
            check(coding, &vec![b'a'; 4_000_000], 2_000_000, Err(UnpackError::TooLong));
        }
    }

    #[test]
    fn noise_halves_and_what_follows_the_end_are_broken() {
        for coding in Coding::ALL {
            assert_eq!(unpack(coding, b"{\"query\":\"{a}\"}", 100), Err(UnpackError::Broken), "{coding:?}");
            let packed = Encoder::whole(coding, &b"abc".repeat(100));
            let half = &packed[..packed.len() / 2];
            let followed = [&packed[..], b"more"].concat();
            for broken in [b"", half, &followed] {
                assert_eq!(unpack(coding, broken, 1000), Err(UnpackError::Broken), "{coding:?} {broken:?}");
            }
        }
    }

    #[test]
    fn each_chunk_can_be_read_before_the_next_comes() {
        for coding in Coding::ALL {
            let mut encoder = Encoder::new(coding);
            let first = encoder.chunk(b"first half, ");
            assert!(!first.is_empty(), "{coding:?}");
            let all = [first, encoder.chunk(b"second half"), encoder.finish()].concat();
            assert_eq!(
                unpack(coding, &all, 100).as_deref(),
                Ok(&b"first half, second half"[..]),
                "{coding:?}"
            );
        }
    }
}
