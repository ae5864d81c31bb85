//! gRPC frame of one message: compression flag, length, bytes.
//!
//! Source: gRPC over HTTP2, "Length-Prefixed-Message".

/// Size of a frame's header, in bytes.
const HEAD_BYTES: usize = 5;

/// Puts `message` into a frame.
pub(super) fn wrap(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD_BYTES + message.len());
    out.push(0);
    out.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(message);
    out
}

/// Content of one frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Framed<'b> {
    /// An uncompressed message.
    Plain(&'b [u8]),
    /// A message compressed as `grpc-encoding` says.
    Packed(&'b [u8]),
}

/// Parses a body that must consist of one frame.
pub(super) fn unwrap(body: &[u8]) -> Option<Framed<'_>> {
    let (head, message) = body.split_first_chunk::<HEAD_BYTES>()?;
    let [flag, a, b, c, d] = *head;
    if u32::from_be_bytes([a, b, c, d]) as usize != message.len() {
        return None;
    }
    match flag {
        0 => Some(Framed::Plain(message)),
        1 => Some(Framed::Packed(message)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_one_frame() {
        assert_eq!(unwrap(&wrap(b"abc")), Some(Framed::Plain(b"abc")));
        assert_eq!(unwrap(&wrap(b"")), Some(Framed::Plain(b"")));
        assert_eq!(unwrap(b"\x01\0\0\0\x01a"), Some(Framed::Packed(b"a")));
        for body in [&b""[..], b"\0\0\0\0", b"\0\0\0\0\x02a", b"\0\0\0\0\x01ab", b"\x02\0\0\0\x01a"] {
            assert_eq!(unwrap(body), None, "{body:?}");
        }
    }
}
