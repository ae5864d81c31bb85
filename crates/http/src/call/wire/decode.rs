//! Decompresses response bodies.
//!
//! **Invariant:** no more is unpacked than a plain body may have, however little was sent for it.

use crate::call::Answer;
use crate::call::call_error::CallError;
use flate2::read::MultiGzDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue};
use std::io::{ErrorKind, Read};

/// Value of `Accept-Encoding` in every call.
pub(crate) const ACCEPTED: HeaderValue = HeaderValue::from_static("gzip");

/// Typical compression ratio, to size the buffer.
const USUAL_RATIO: usize = 4;

/// Decompresses the body of `answer`, to at most `bytes_max`. An empty body is returned as it is.
/// # Errors
/// The body has another coding, is not valid gzip, or is too long.
pub(crate) fn plain(mut answer: Answer, bytes_max: usize) -> Result<Answer, CallError> {
    let Some(is_gzip) = is_gzip(&answer.headers)? else { return Ok(answer) };
    if is_gzip && !answer.body.is_empty() {
        answer.body = unpack(&answer.body, bytes_max)?.into();
    }
    answer.headers.remove(CONTENT_ENCODING);
    answer.headers.remove(CONTENT_LENGTH);
    Ok(answer)
}

/// True if a body is gzip; `None` if it has no coding.
fn is_gzip(headers: &HeaderMap) -> Result<Option<bool>, CallError> {
    let mut found = None;
    for value in headers.get_all(CONTENT_ENCODING) {
        for coding in value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let is = |name: &str| coding.eq_ignore_ascii_case(name.as_bytes());
            found = match (is("gzip") || is("x-gzip"), found) {
                (true, None | Some(false)) => Some(true),
                (false, found) if is("identity") || coding.is_empty() => found.or(Some(false)),
                _ => return Err(CallError::Coded(String::from_utf8_lossy(value.as_bytes()).into())),
            };
        }
    }
    Ok(found)
}

/// Decompresses the gzip data `packed`, to at most `bytes_max`.
/// # Errors
/// The data is not valid gzip, or is longer.
pub(crate) fn unpack(packed: &[u8], bytes_max: usize) -> Result<Vec<u8>, CallError> {
    let mut plain = Vec::with_capacity((packed.len() * USUAL_RATIO).min(bytes_max));
    let bound = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    match MultiGzDecoder::new(packed).take(bound).read_to_end(&mut plain) {
        Ok(_) if plain.len() > bytes_max => Err(CallError::TooLarge { bytes_max }),
        Ok(_) => Ok(plain),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(CallError::Packed("it ends too early".into()))
        }
        Err(error) => Err(CallError::Packed(error.to_string().into())),
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
    use std::io::Write;

    fn pack(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
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
    fn gzip_is_read_and_nothing_else() {
        let body = pack(b"well");
        check(&[], b"well", Ok(b"well"));
        check(&["identity"], b"well", Ok(b"well"));
        check(&["gzip"], &body, Ok(b"well"));
        check(&["X-GZIP, identity"], &body, Ok(b"well"));
        check(&["gzip"], &[&*body, &pack(b" done")].concat(), Ok(b"well done"));
        check(&["gzip"], b"", Ok(b""));
        check(&["br"], &body, Err("Content-Encoding: br"));
        check(&["gzip, gzip"], &body, Err("Content-Encoding: gzip, gzip"));
        check(&["gzip", "br"], &body, Err("Content-Encoding: br"));
        check(&["gzip"], b"well", Err("gzip"));
        check(&["gzip"], &body[..body.len() - 1], Err("it ends too early"));
        check(&["gzip"], &[&*body, b"junk behind it"].concat(), Err("gzip"));
    }

    #[test]
    fn a_bomb_is_unpacked_up_to_the_bound() {
        check(&["gzip"], &pack(&[b' '; 1000]), Ok(&[b' '; 1000]));
        check(&["gzip"], &pack(&[b' '; 1001]), Err("more than 1000 bytes"));
        check(&["gzip"], &pack(&vec![b' '; 50_000_000]), Err("more than 1000 bytes"));
        let many: Vec<u8> = (0..2000).flat_map(|_| pack(b"a")).collect();
        check(&["gzip"], &many, Err("more than 1000 bytes"));
    }

    proptest! {
        #[test]
        fn whatever_is_said_to_be_gzip_is_read_or_refused(
            body in proptest::collection::vec(any::<u8>(), 0..600), flips in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..3)
        ) {
            let mut sent = pack(&body);
            for (at, by) in &flips {
                let at = at % sent.len();
                sent[at] ^= by;
            }
            let found = plain(answer(&["gzip"], &sent), 1000);
            match found {
                Ok(found) => prop_assert!(found.body.len() <= 1000 && (!flips.is_empty() || found.body == body)),
                Err(error) => prop_assert!(!flips.is_empty() && error.code().starts_with("SOURCE_")),
            }
        }
    }
}
