//! Automatic persisted queries: texts that clients send once with their hash, and then name by it.
//!
//! **Invariant:** a text stands under its own hash and nothing else, so nobody can put a text in place of another's; what came from
//! Redis is compared with its hash before it is used.
//!
//! **Cost:** a look into a cache per request with a hash that no file has, and a round trip to Redis if the process does not know it.

use crate::config::Config;
use crate::sources::services;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;
use weir_transport::document_id::text_hash;

/// Longer texts are not kept, in bytes.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// Weight of a text: its bytes.
#[derive(Clone)]
struct StoredTextBytes;

impl Weighter<Box<str>, Arc<str>> for StoredTextBytes {
    fn weight(&self, hash: &Box<str>, text: &Arc<str>) -> u64 {
        /// Overhead per cache entry, in bytes; an estimate.
        const ENTRY_BYTES: usize = 96;
        (hash.len() + text.len() + ENTRY_BYTES) as u64
    }
}

/// Texts by hash, in the process and in Redis.
pub(crate) struct AutomaticDocuments {
    texts: Arc<Cache<Box<str>, Arc<str>, StoredTextBytes>>,
    bytes_max: u64,
    shared: Option<Arc<weir_http::cache::Cache>>,
    ttl_ms: u64,
}

impl std::fmt::Debug for AutomaticDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AutomaticDocuments").field("texts", &self.texts.len()).finish_non_exhaustive()
    }
}

impl AutomaticDocuments {
    /// The store of `config`; `None` if it has none.
    /// # Errors
    /// Its Redis cannot be used.
    pub(super) fn new(config: &Config) -> Result<Option<Self>, String> {
        let persisted = &config.operations.persisted;
        if !persisted.has_apq() {
            return Ok(None);
        }
        let apq = &persisted.apq;
        let shared = config.cache.redis.as_ref().map(|_| services::keep(&config.cache)).transpose()?;
        let texts = Cache::with_weighter(1024, apq.bytes_max, StoredTextBytes);
        let ttl_ms = u64::from(apq.redis_ttl_s.max(1)) * 1000;
        Ok(Some(Self { texts: texts.into(), bytes_max: apq.bytes_max, shared, ttl_ms }))
    }

    /// Takes over the texts of the configuration before.
    pub(super) fn keep_texts_of(&mut self, before: &Self) {
        if self.bytes_max == before.bytes_max {
            self.texts = Arc::clone(&before.texts);
        }
    }

    /// The text with this hash, if the process knows it.
    pub(crate) fn find(&self, hash: &str) -> Option<Arc<str>> {
        self.texts.get(hash)
    }

    /// The text with this hash, if another process shared it.
    pub(crate) async fn find_shared(&self, hash: &str) -> Option<Arc<str>> {
        let text = self.shared.as_ref()?.shared_text(hash, TEXT_BYTES_MAX).await?;
        if text_hash(&text) != hash {
            return None;
        }
        let text: Arc<str> = text.into();
        self.texts.insert(hash.into(), Arc::clone(&text));
        Some(text)
    }

    /// Keeps `text`, whose hash this is.
    pub(crate) fn keep(&self, hash: &str, text: &str) {
        if text.len() > TEXT_BYTES_MAX {
            return;
        }
        let text: Arc<str> = text.into();
        self.texts.insert(hash.into(), Arc::clone(&text));
        if let Some(shared) = &self.shared {
            shared.share_text(hash, text, self.ttl_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_take_no_more_room_than_there_is() {
        let mut config = Config::default();
        config.operations.persisted.apq.bytes_max = 64 << 10;
        let store = AutomaticDocuments::new(&config).unwrap().unwrap();
        for number in 0..10_000 {
            let text = format!("{{ field{number} }}");
            store.keep(&text_hash(&text), &text);
        }
        assert!(store.texts.weight() <= 64 << 10, "{}", store.texts.weight());
        let long = "a".repeat(TEXT_BYTES_MAX + 1);
        store.keep("long", &long);
        assert_eq!(store.find("long"), None);
    }

    #[test]
    fn a_mode_of_stored_documents_alone_has_no_such_store() {
        let mut config = Config::default();
        assert!(AutomaticDocuments::new(&config).unwrap().is_some());
        config.operations.persisted.require_id = true;
        assert!(AutomaticDocuments::new(&config).unwrap().is_none());
    }
}
