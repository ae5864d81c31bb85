//! Texts that processes share under the name of each, such as documents under their hashes.
//!
//! **Invariant:** what is read may be anything; who reads compares it with its name.

use super::format::{EntryKind, EntryName};
use super::{Remote, Write, count};
use redis::cmd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A text that waits to be written.
pub(super) struct TextWrite {
    pub(super) name: EntryName,
    pub(super) text: Arc<str>,
    pub(super) ttl_ms: u64,
}

impl Remote {
    /// The text that a process kept under `name`, of at most `bytes_max`.
    pub(in crate::cache) async fn text(&self, name: &str, bytes_max: usize) -> Option<String> {
        let shared = &*self.shared;
        let connection = shared.usable_connection(&[])?;
        let name = EntryName::new(&shared.settings.namespace, EntryKind::Text, &[name.as_bytes()]);
        shared.counters.looked.fetch_add(1, Ordering::Relaxed);
        let mut command = cmd("GETRANGE");
        command.arg(&name.text).arg(0).arg(bytes_max);
        let found = shared.in_budget(async { connection.ask::<Vec<u8>>(&command).await }).await?;
        // An absent text is an empty range, and one that fills the range is too long.
        let text = String::from_utf8(found).ok().filter(|it| !it.is_empty() && it.len() <= bytes_max)?;
        count(&shared.counters.found);
        Some(text)
    }

    /// Queues a write of `text` under `name`.
    pub(in crate::cache) fn keep_text(&self, name: &str, text: Arc<str>, ttl_ms: u64) {
        let shared = &*self.shared;
        let name = EntryName::new(&shared.settings.namespace, EntryKind::Text, &[name.as_bytes()]);
        let bytes = text.len();
        if shared.queued_bytes.load(Ordering::Relaxed) + bytes > super::WRITE_BYTES_MAX {
            return count(&shared.counters.dropped);
        }
        shared.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.writes.try_send(Write::Text(TextWrite { name, text, ttl_ms })).is_err() {
            shared.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            count(&shared.counters.dropped);
        }
    }
}
