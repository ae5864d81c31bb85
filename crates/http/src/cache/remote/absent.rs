//! Replaces the second level in a build without the feature `redis`: every address is refused.

use super::clock::Clock;
use super::entry::Entry;
use super::rule::Rule;
use super::second_level::{
    Address, BucketTake, RemoteCounts, RemoteLookup, RemoteSettings, SharedBucket, Ticket,
};
use super::tags::{Registry, Tags};
use std::sync::Arc;
use std::time::Duration;

/// Says which feature to build with.
const REFUSAL: &str =
    "is not in this build of Weir: build it with the feature `redis`, which is on by default";

/// Refuses any address.
///
/// # Errors
/// Always, with the feature to build Weir with.
pub(in crate::cache) fn parse_address(_: &str) -> Result<Address, String> {
    Err(REFUSAL.to_owned())
}

/// The second level.
#[derive(Debug)]
pub(super) enum Remote {}

/// Name in the second level.
#[derive(Clone, Debug)]
pub(super) enum EntryName {}

/// True if entries under `rule` may be in a second level.
pub(super) fn is_public(_: &Rule) -> bool {
    false
}

impl Remote {
    pub(super) fn start(_: RemoteSettings, _: Clock, _: Arc<Registry>) -> std::io::Result<Self> {
        Err(std::io::Error::other(format!("a second level of the cache {REFUSAL}")))
    }

    pub(super) fn patience(&self) -> Duration {
        match *self {}
    }

    pub(super) fn name(&self, _: &Rule, _: &[u8]) -> EntryName {
        match *self {}
    }

    pub(super) async fn lookup(&self, _: &[EntryName], _: &Rule, _: &[&Tags]) -> RemoteLookup {
        match *self {}
    }

    pub(super) async fn lease(&self, _: &[EntryName]) -> Vec<bool> {
        match *self {}
    }

    pub(super) fn keep(&self, _: EntryName, _: &Arc<Entry>, _: &Ticket) {
        match *self {}
    }

    pub(super) fn release(&self, _: EntryName) {
        match *self {}
    }

    pub(super) fn invalidate<'k>(&self, _: &str, _: impl IntoIterator<Item = &'k [u8]>) {
        match *self {}
    }

    pub(super) async fn text(&self, _: &str, _: usize) -> Option<String> {
        match *self {}
    }

    pub(super) fn keep_text(&self, _: &str, _: Arc<str>, _: u64) {
        match *self {}
    }

    pub(super) async fn take_tokens(&self, _: &[u8], _: SharedBucket, _: i32) -> Option<BucketTake> {
        match *self {}
    }

    pub(super) fn counts(&self) -> RemoteCounts {
        match *self {}
    }
}

#[cfg(test)]
mod without_feature {
    use super::*;

    #[test]
    fn the_address_of_a_redis_is_refused_by_the_name_of_the_feature() {
        let refused = parse_address("redis://127.0.0.1:6379").unwrap_err();
        assert!(refused.contains("feature `redis`"), "{refused}");
    }
}
