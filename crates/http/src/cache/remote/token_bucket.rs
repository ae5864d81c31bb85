//! Token buckets that processes share: one decision is one script, by the clock of the server that keeps the bucket.
//!
//! **Invariant:** a decision that is not answered in time is nobody's: the caller decides by itself.
//!
//! **Cost:** one round trip per decision; a bucket that is full again is no key.

use super::Remote;
use super::format::{EntryKind, EntryName};
use crate::cache::second_level::{BucketTake, SharedBucket};
use redis::Script;
use std::sync::LazyLock;

/// Takes `ARGV[3]` tokens of a bucket, kept as the time at which it is full, in microseconds since 1970. A negative number gives back.
///
/// A bucket that other terms emptied lacks no more than `ARGV[2]`, or a raised rate would refuse its callers as long as the earlier one.
static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = tonumber(redis.call('GET', KEYS[1]) or now)
if full < now then full = now end
local latest = now + ARGV[2]
if full > latest then
  full = latest
  redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.floor(ARGV[2] / 1000) + 1)
end
local after = full + ARGV[1] * ARGV[3]
if after > latest then return {0, full - now} end
local left = math.max(after - now, 0)
redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.floor(left / 1000) + 1)
return {1, left}",
    )
});

impl Remote {
    /// Takes `tokens` of the bucket of `key`, or gives back if they are negative; `None` if there is no answer in time.
    pub(in crate::cache) async fn take_tokens(
        &self,
        key: &[u8],
        bucket: SharedBucket,
        tokens: i32,
    ) -> Option<BucketTake> {
        let shared = &*self.shared;
        let connection = shared.usable_connection(&[])?;
        let name = EntryName::new(&shared.settings.namespace, EntryKind::Bucket, &[key]);
        let mut call = TAKE.key(&name.text);
        call.arg(bucket.interval_us).arg(bucket.capacity_us).arg(tokens);
        let (is_taken, missing_us): (u8, i64) = shared.in_budget(connection.run(&call)).await?;
        let missing_us = u64::try_from(missing_us).unwrap_or(0);
        Some(BucketTake { is_taken: is_taken == 1, missing_us })
    }
}
