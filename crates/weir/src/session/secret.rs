//! Admin secrets: their headers and their verification.
//!
//! **Invariant:** secrets are held and compared as SHA-256 digests, all of them every time, so the time of a comparison
//! depends on neither the length nor the beginning nor the place of the right one.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

/// Weir's header.
const WEIR_SECRET: HeaderName = HeaderName::from_static("x-weir-admin-secret");
/// Hasura's header.
const HASURA_SECRET: HeaderName = HeaderName::from_static("x-hasura-admin-secret");
/// Hasura's former header.
const HASURA_ACCESS_KEY: HeaderName = HeaderName::from_static("x-hasura-access-key");

/// Headers with a secret, in order of precedence.
pub const SECRET_HEADERS: [HeaderName; 3] = [WEIR_SECRET, HASURA_SECRET, HASURA_ACCESS_KEY];

/// The admin secrets of a configuration.
#[derive(Default)]
pub(super) struct Secrets(Vec<[u8; 32]>);

impl Secrets {
    /// Stores digests of `secrets`.
    pub(super) fn new<'s>(secrets: impl Iterator<Item = &'s str>) -> Self {
        Self(secrets.map(|it| Sha256::digest(it).into()).collect())
    }

    /// True if no secret is set.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if `sent` is an admin secret.
    pub(super) fn is_right(&self, sent: &[u8]) -> bool {
        let sent: [u8; 32] = Sha256::digest(sent).into();
        self.0.iter().fold(Choice::from(0), |any, it| any | it.ct_eq(&sent)).into()
    }
}

/// The secret in a request, valid or not.
pub(crate) fn sent_secret(headers: &HeaderMap) -> Option<&[u8]> {
    SECRET_HEADERS.iter().find_map(|it| headers.get(it)).map(HeaderValue::as_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_is_compared_whole() {
        let secrets = Secrets::new(["old", "new"].into_iter());
        for (sent, expected) in
            [("old", true), ("new", true), ("ne", false), ("neww", false), ("", false), ("NEW", false)]
        {
            assert_eq!(secrets.is_right(sent.as_bytes()), expected, "{sent}");
        }
        assert!(!Secrets::default().is_right(b""));
    }

    #[test]
    fn weir_s_header_goes_before_hasura_s() {
        let mut headers = HeaderMap::new();
        assert_eq!(sent_secret(&headers), None);
        for (name, expected) in [(HASURA_ACCESS_KEY, "c"), (HASURA_SECRET, "b"), (WEIR_SECRET, "a")] {
            headers.insert(name, HeaderValue::from_static(expected));
            assert_eq!(sent_secret(&headers), Some(expected.as_bytes()));
        }
    }
}
