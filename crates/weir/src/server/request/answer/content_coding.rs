//! Compression of answers and decompression of requests.
//!
//! **Invariant:** unpacking stops at the bound; a bomb costs what a body of the bound costs.

use brotli::enc::BrotliEncoderParams;
use brotli::{CompressorWriter, DecompressorWriter};
use flate2::Compression;
use flate2::write::{GzDecoder, GzEncoder};
use std::io::{self, Write};
use zstd::stream::write::{Decoder as ZstdDecoder, Encoder as ZstdEncoder};

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

/// Size of the buffer between a Brotli coder and memory, in bytes.
const BROTLI_BUFFER_BYTES: usize = 4096;

/// Compressor of one answer. Levels favour speed, since most of the gain is in the first level.
pub(crate) enum Encoder {
    Zstd(Box<ZstdEncoder<'static, Vec<u8>>>),
    Brotli(Box<CompressorWriter<Vec<u8>>>),
    Gzip(Box<GzEncoder<Vec<u8>>>),
}

impl Encoder {
    /// Nothing if there is no memory for its state: the answer is sent as it is then.
    pub(crate) fn new(coding: Coding) -> Option<Self> {
        Some(match coding {
            Coding::Zstd => Self::Zstd(Box::new(ZstdEncoder::new(Vec::new(), 1).ok()?)),
            Coding::Brotli => {
                let params = BrotliEncoderParams { quality: 2, ..BrotliEncoderParams::default() };
                Self::Brotli(Box::new(CompressorWriter::with_params(
                    Vec::new(),
                    BROTLI_BUFFER_BYTES,
                    &params,
                )))
            }
            Coding::Gzip => Self::Gzip(Box::new(GzEncoder::new(Vec::new(), Compression::new(2)))),
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Zstd(it) => it,
            Self::Brotli(it) => it,
            Self::Gzip(it) => it,
        }
    }

    /// Compresses `plain` and flushes, so that chunks of a slow stream are sent at once.
    pub(crate) fn chunk(&mut self, plain: &[u8]) -> Vec<u8> {
        let writer = self.writer();
        // Output to memory does not fail.
        let _ = writer.write_all(plain).and_then(|()| writer.flush());
        std::mem::take(match self {
            Self::Zstd(it) => it.get_mut(),
            Self::Brotli(it) => it.get_mut(),
            Self::Gzip(it) => it.get_mut(),
        })
    }

    /// End of the compressed data.
    pub(crate) fn finish(self) -> Vec<u8> {
        let ended = match self {
            Self::Zstd(it) => it.finish(),
            Self::Brotli(it) => Ok(it.into_inner()),
            Self::Gzip(it) => it.finish(),
        };
        ended.unwrap_or_default()
    }

    /// Compresses all of `plain`; nothing as with [`Self::new`].
    pub(crate) fn whole(coding: Coding, plain: &[u8]) -> Option<Vec<u8>> {
        let mut encoder = Self::new(coding)?;
        encoder.writer().write_all(plain).ok()?;
        Some(encoder.finish())
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

/// A buffer with a size limit.
struct Bounded {
    bytes: Vec<u8>,
    bytes_max: usize,
    overrun: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.bytes_max {
            self.overrun = true;
            return Err(io::Error::other("longer than allowed"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decompresses `packed` to at most `bytes_max` bytes.
pub(crate) fn unpack(coding: Coding, packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, UnpackError> {
    let mut out = Bounded { bytes: Vec::new(), bytes_max, overrun: false };
    let done = match coding {
        Coding::Zstd => unpack_zstd(packed, &mut out),
        Coding::Brotli => {
            let mut decoder = DecompressorWriter::new(&mut out, BROTLI_BUFFER_BYTES);
            decoder.write_all(packed).and_then(|()| decoder.close())
        }
        Coding::Gzip => {
            let mut decoder = GzDecoder::new(&mut out);
            decoder.write_all(packed).and_then(|()| decoder.try_finish())
        }
    };
    match (out.overrun, done) {
        (true, _) => Err(UnpackError::TooLong),
        (false, Ok(())) => Ok(out.bytes),
        (false, Err(_)) => Err(UnpackError::Broken),
    }
}

fn unpack_zstd(packed: &[u8], out: &mut Bounded) -> io::Result<()> {
    let mut decoder = ZstdDecoder::new(out)?;
    decoder.write_all(packed)?;
    decoder.finish().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(coding: Coding, plain: &[u8], bytes_max: usize, expected: Result<(), UnpackError>) {
        let packed = Encoder::whole(coding, plain).expect("there is memory");
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
            let packed = Encoder::whole(coding, &b"abc".repeat(100)).expect("there is memory");
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
            let mut encoder = Encoder::new(coding).expect("there is memory");
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
