//! Documents by identifier: what a request names in place of its text, or beside it.
//!
//! An identifier stands in the member `documentId`, or in `extensions.persistedQuery.sha256Hash`, where clients of Apollo's protocol send
//! it. It is opaque; 64 lower-case hexadecimal digits are the SHA-256 of a text, with or without the prefix `sha256:`.
//!
//! Sources: the appendix of GraphQL over HTTP on persisted documents; Apollo's protocol of automatic persisted queries.

use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;
use weir_language::json::JsonRef;

/// The member with an identifier.
pub const ID_MEMBER: &str = "documentId";

/// Prefix of an identifier that is the SHA-256 of the text.
const SHA256_PREFIX: &str = "sha256:";

/// Text of a document.
#[derive(Clone, Debug)]
pub enum DocumentText<'t> {
    /// It came with the request.
    Sent(Cow<'t, str>),
    /// A store has it.
    Stored(Arc<str>),
}

impl Deref for DocumentText<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Self::Sent(text) => text,
            Self::Stored(text) => text,
        }
    }
}

impl DocumentText<'_> {
    /// The text, for longer than the request.
    pub fn into_owned(self) -> String {
        match self {
            Self::Sent(text) => text.into_owned(),
            Self::Stored(text) => (*text).to_owned(),
        }
    }
}

/// Identifier in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentId<'t> {
    /// A text that is not empty.
    Named(Cow<'t, str>),
    /// A hash that is no text, or empty.
    Unreadable,
    /// `persistedQuery` without a hash.
    Missing,
}

impl<'t> SentId<'t> {
    /// The identifier `named`, or the one in `extensions`.
    pub(crate) fn of(named: Option<Cow<'t, str>>, extensions: Option<JsonRef<'t>>) -> Option<Self> {
        if let Some(named) = named.filter(|it| !it.is_empty()) {
            return Some(Self::Named(named));
        }
        let persisted = extensions?.get("persistedQuery")?;
        let Some(hash) = Some(persisted).filter(|it| it.is_object()).and_then(|it| it.get("sha256Hash"))
        else {
            return Some(Self::Missing);
        };
        Some(hash.as_str().filter(|it| !it.is_empty()).map_or(Self::Unreadable, Self::Named))
    }

    /// The identifier without its prefix, as a store has it.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Named(id) => Some(document_key(id)),
            Self::Unreadable | Self::Missing => None,
        }
    }

    /// True if `text` may come with the identifier: a hash has to be that of the text, or it would poison caches between server and
    /// client. Any other identifier says nothing about the text.
    pub fn fits(&self, text: &str) -> bool {
        let id = match self {
            Self::Named(id) => document_key(id),
            Self::Unreadable => return false,
            Self::Missing => return true,
        };
        let is_hash = id.len() == 64 && id.bytes().all(|it| it.is_ascii_hexdigit());
        !is_hash || id.eq_ignore_ascii_case(&text_hash(text))
    }
}

/// `id` as a store has it: the prefix of a hash says nothing that its digits do not say.
pub fn document_key(id: &str) -> &str {
    id.strip_prefix(SHA256_PREFIX).unwrap_or(id)
}

/// True if `key` is the SHA-256 of a text.
pub fn is_text_hash(key: &str) -> bool {
    key.len() == 64 && key.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// SHA-256 of `text` in hexadecimal digits.
pub fn text_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_beside_a_text_is_its_own() {
        let text = "{ a }";
        let own = text_hash(text);
        let named = |id: &str| SentId::Named(id.to_owned().into());
        for id in [&own, &format!("sha256:{own}"), &own.to_ascii_uppercase(), "Albums"] {
            assert!(named(id).fits(text), "{id}");
        }
        assert!(!named(&text_hash("{ b }")).fits(text));
        assert!(!SentId::Unreadable.fits(text) && SentId::Missing.fits(text));
        assert!(is_text_hash(&own) && !is_text_hash(&own.to_ascii_uppercase()) && !is_text_hash("00"));
    }
}
