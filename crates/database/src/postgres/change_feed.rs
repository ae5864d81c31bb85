//! Reports the changes that anybody makes in a PostgreSQL database to subscriptions.
//!
//! **Cost:** nothing without subscribers; see [`weir_postgres::replication`].

use super::decoding::{Decoding, WORDS, watched_tables};
use super::driver::PostgresDriver;
use std::sync::atomic::Ordering;
use weir_engine::source::{BoxFuture, ChangeFeed, ChangeSink, FeedCounts};
use weir_postgres::replication::{self, ChangeEvent, StreamState};

/// Counts the watcher while its stream reports changes.
struct Telling<'d> {
    decoding: &'d Decoding,
    is_telling: bool,
}

impl Telling<'_> {
    fn set(&mut self, is_telling: bool) {
        match (std::mem::replace(&mut self.is_telling, is_telling), is_telling) {
            (false, true) => self.decoding.telling.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.decoding.telling.fetch_sub(1, Ordering::Relaxed),
            (true, true) | (false, false) => return,
        };
    }
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.set(false);
    }
}

impl ChangeFeed for PostgresDriver {
    fn words(&self) -> &'static str {
        WORDS
    }

    fn watch<'w>(&'w self, sink: &'w dyn ChangeSink) -> BoxFuture<'w, ()> {
        Box::pin(async move {
            let decoding = &self.decoding;
            let mut watcher = replication::watch(&decoding.settings, watched_tables(&decoding.tables));
            let mut telling = Telling { decoding, is_telling: false };
            loop {
                match watcher.next().await {
                    ChangeEvent::State(state) => {
                        telling.set(state != StreamState::Down);
                        sink.set_coverage(decoding.coverage(&state));
                    }
                    ChangeEvent::Commit(commit) => {
                        decoding.transactions.fetch_add(1, Ordering::Relaxed);
                        commit.changes.iter().for_each(|it| decoding.notify_sink(it, sink));
                        if commit.is_unknown {
                            sink.notify_source_change();
                        }
                    }
                }
            }
        })
    }

    fn counts(&self) -> Option<FeedCounts> {
        let is_telling = self.decoding.telling.load(Ordering::Relaxed) > 0;
        Some(FeedCounts {
            is_connected: is_telling,
            transactions: self.decoding.transactions.load(Ordering::Relaxed),
        })
    }
}
