//! Compression of answers and decompression of requests.
//!
//! The encoders write into memory, so they are always ready: their futures are polled once, in place.
//!
//! **Invariant:** unpacking stops at the bound; a bomb costs what a body of the bound costs.

use super::cache_headers;
use super::response_body::ResponseBody;
use async_compression::Level;
use async_compression::tokio::write;
use futures_util::FutureExt;
use hyper::Response;
use hyper::header::{CONTENT_ENCODING, HeaderValue};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncWrite, AsyncWriteExt};

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
    Zstd(Box<write::ZstdEncoder<Vec<u8>>>),
    Brotli(Box<write::BrotliEncoder<Vec<u8>>>),
    Gzip(Box<write::GzipEncoder<Vec<u8>>>),
}

impl Encoder {
    pub(crate) fn new(coding: Coding) -> Self {
        match coding {
            Coding::Zstd => {
                Self::Zstd(Box::new(write::ZstdEncoder::with_quality(Vec::new(), Level::Precise(1))))
            }
            Coding::Brotli => {
                Self::Brotli(Box::new(write::BrotliEncoder::with_quality(Vec::new(), Level::Precise(2))))
            }
            Coding::Gzip => {
                Self::Gzip(Box::new(write::GzipEncoder::with_quality(Vec::new(), Level::Precise(2))))
            }
        }
    }

    /// Compresses `plain` and flushes, so that chunks of a slow stream are sent at once.
    pub(crate) fn chunk(&mut self, plain: &[u8]) -> Vec<u8> {
        match self {
            Self::Zstd(it) => chunk(it.as_mut(), write::ZstdEncoder::get_mut, plain),
            Self::Brotli(it) => chunk(it.as_mut(), write::BrotliEncoder::get_mut, plain),
            Self::Gzip(it) => chunk(it.as_mut(), write::GzipEncoder::get_mut, plain),
        }
    }

    /// End of the compressed data.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        match self {
            Self::Zstd(it) => finish(it.as_mut(), write::ZstdEncoder::get_mut),
            Self::Brotli(it) => finish(it.as_mut(), write::BrotliEncoder::get_mut),
            Self::Gzip(it) => finish(it.as_mut(), write::GzipEncoder::get_mut),
        }
    }

    /// Compresses all of `plain`.
    pub(crate) fn whole(coding: Coding, plain: &[u8]) -> Vec<u8> {
        let mut encoder = Self::new(coding);
        match &mut encoder {
            Self::Zstd(it) => whole(it.as_mut(), write::ZstdEncoder::get_mut, plain),
            Self::Brotli(it) => whole(it.as_mut(), write::BrotliEncoder::get_mut, plain),
            Self::Gzip(it) => whole(it.as_mut(), write::GzipEncoder::get_mut, plain),
        }
    }
}

fn chunk<E: AsyncWrite + Unpin>(encoder: &mut E, out: fn(&mut E) -> &mut Vec<u8>, plain: &[u8]) -> Vec<u8> {
    // Output to memory neither fails nor waits.
    let _ = encoder.write_all(plain).now_or_never();
    let _ = encoder.flush().now_or_never();
    std::mem::take(out(encoder))
}

fn finish<E: AsyncWrite + Unpin>(encoder: &mut E, out: fn(&mut E) -> &mut Vec<u8>) -> Vec<u8> {
    let _ = encoder.shutdown().now_or_never();
    std::mem::take(out(encoder))
}

fn whole<E: AsyncWrite + Unpin>(encoder: &mut E, out: fn(&mut E) -> &mut Vec<u8>, plain: &[u8]) -> Vec<u8> {
    let _ = encoder.write_all(plain).now_or_never();
    finish(encoder, out)
}

/// Reason why a body cannot be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnpackError {
    /// The result exceeds the limit.
    TooLong,
    /// The data is invalid.
    Broken,
}

/// A buffer with a size limit.
struct Bounded {
    bytes: Vec<u8>,
    bytes_max: usize,
    overrun: bool,
}

impl AsyncWrite for Bounded {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.bytes.len() + bytes.len() > self.bytes_max {
            self.overrun = true;
            return Poll::Ready(Err(io::Error::other("longer than allowed")));
        }
        self.bytes.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Decompresses `packed` to at most `bytes_max` bytes.
pub(crate) fn unpack(coding: Coding, packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, UnpackError> {
    let out = Bounded { bytes: Vec::new(), bytes_max, overrun: false };
    match coding {
        Coding::Zstd => run(write::ZstdDecoder::new(out), packed, write::ZstdDecoder::into_inner),
        Coding::Brotli => run(write::BrotliDecoder::new(out), packed, write::BrotliDecoder::into_inner),
        Coding::Gzip => run(write::GzipDecoder::new(out), packed, write::GzipDecoder::into_inner),
    }
}

fn run<D: AsyncWrite + Unpin>(
    mut decoder: D,
    packed: &[u8],
    inner: fn(D) -> Bounded,
) -> Result<Vec<u8>, UnpackError> {
    let written = decoder.write_all(packed).now_or_never().is_some_and(|it| it.is_ok());
    let ended = written && decoder.shutdown().now_or_never().is_some_and(|it| it.is_ok());
    let out = inner(decoder);
    match (out.overrun, ended) {
        (true, _) => Err(UnpackError::TooLong),
        (false, true) => Ok(out.bytes),
        (false, false) => Err(UnpackError::Broken),
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
    fn noise_and_halves_are_broken() {
        for coding in Coding::ALL {
            assert_eq!(unpack(coding, b"{\"query\":\"{a}\"}", 100), Err(UnpackError::Broken), "{coding:?}");
            let packed = Encoder::whole(coding, &b"abc".repeat(100));
            assert_eq!(
                unpack(coding, &packed[..packed.len() / 2], 1000),
                Err(UnpackError::Broken),
                "{coding:?}"
            );
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
