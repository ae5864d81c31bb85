//! The second level: entries in a Redis or Valkey, for all processes that serve the same.
//!
//! It can only help. A look is given up after a few milliseconds, and after some in a row nothing is looked up for a while;
//! what is written is queued and never waited for; what comes back is a miss unless it is exactly what was written.
//! Private answers are never written there.
//!
//! **Tags** have versions there, random numbers. An entry is written with the versions that were read before its upstream was
//! asked, and serves while they are the same, so no clock decides whether it is older than an invalidation. A version that
//! is lost is made anew, which makes everything with that tag a miss.
//!
//! After a reconnect the versions are compared with the known ones, as messages may have been missed; if the server lost its
//! versions, all tagged entries are dropped. Results made of several answers are always dropped.
//!
//! **Leases** say that a process asks an upstream already: the others serve what is stale or wait a few milliseconds.
//!
//! **Cost:** one round trip for all keys of a batch, one more for the leases of those that are missing.

mod format;
mod keeper;
mod link;
mod message;
mod pending_notices;
mod text;
mod token_bucket;

pub(super) use link::parse_address;

use super::clock::Clock;
use super::entry::Entry;
use super::rule::Rule;
use super::second_level::{RemoteCounts, RemoteLookup, RemoteSettings, Ticket};
use super::tags::{Registry, Tags};
use arc_swap::ArcSwapOption;
use format::{EntryKind, Instants};
use futures_util::future::join_all;
use link::Connection;
use pending_notices::{ChangedRows, PendingNotices};
use redis::{Cmd, RedisError, RedisResult, cmd};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use text::TextWrite;
use tokio::sync::{Notify, mpsc};
use weir_engine::keys::{Interner, KeyRef};

pub(super) use format::{EntryName, is_public};

/// Maximum number of queued writes; more are dropped.
const WRITES_MAX: usize = 1024;
/// Maximum size of queued writes, in bytes; more are dropped.
const WRITE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Entries above this size are not written to the second level.
const VALUE_BYTES_MAX: usize = 1024 * 1024;
/// A lease expires after this time, even if its holder died.
const LEASE_MS: u64 = 2000;
/// Versions of tags expire after this time; entries expire earlier.
const TAG_MS: u64 = 7 * 86_400_000;
const ENTRY_MS_MAX: u64 = 86_400_000;
/// After this many lookups in a row missed their budget, lookups pause for [`PAUSE`].
const LATE_MAX: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// The tag that all tagged entries share.
const ALL: &str = "";
/// Placeholder version that no tag has.
const NO_VERSION: u64 = 0;

#[derive(Debug, Default)]
struct RemoteCounters {
    looked: AtomicU64,
    found: AtomicU64,
    corrupt: AtomicU64,
    late: AtomicU64,
    failed: AtomicU64,
    written: AtomicU64,
    dropped: AtomicU64,
    leased: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Handle of the second level. Its connections belong to a thread that ends when the handle is dropped.
pub(super) struct Remote {
    shared: Arc<RemoteState>,
    writes: mpsc::Sender<Write>,
}

/// State shared between the connections' thread and all others.
struct RemoteState {
    settings: RemoteSettings,
    clock: Clock,
    tags: Arc<Registry>,
    /// Distinguishes this process's messages from others'.
    instance: u64,
    connection: ArcSwapOption<Connection>,
    /// Signals that the connection must be replaced.
    broken: Notify,
    /// Signals that invalidations are pending.
    invalidated: Notify,
    pending: Mutex<PendingNotices>,
    /// Last version of `ALL` that this process received; 0 if none.
    all_received: AtomicU64,
    queued_bytes: AtomicUsize,
    late_in_a_row: AtomicU32,
    paused_until: Mutex<Option<Instant>>,
    paused: AtomicBool,
    counters: RemoteCounters,
}

/// A task for the connections' thread.
enum Write {
    /// Write an entry and release its lease.
    Keep { name: EntryName, entry: Arc<Entry>, versions: Arc<[u64]>, bytes: usize },
    /// Release a lease.
    Release(EntryName),
    /// Write a text.
    Text(TextWrite),
}

/// Distinct tags of several entries, and `ALL` if any entry has a tag.
struct Distinct<'t> {
    names: Vec<&'t str>,
    /// Maps a tag to its index in `names`.
    places: Interner,
}

impl<'t> Distinct<'t> {
    fn of(tags: &[&'t Tags]) -> Self {
        let mut distinct = Self { names: Vec::new(), places: Interner::default() };
        let own = tags.iter().flat_map(|it| it.names()).map(|it| &**it);
        let all = tags.iter().any(|it| it.names().len() > 0).then_some(ALL);
        for name in own.chain(all) {
            if distinct.places.intern(KeyRef::of(name.as_bytes())).1 {
                distinct.names.push(name);
            }
        }
        distinct
    }

    /// Selects the versions of `tags` from `versions`, which are in the order of `names`.
    fn ticket(&self, tags: &Tags, versions: &[u64]) -> Ticket {
        let all = (tags.names().len() > 0).then_some(ALL);
        let names = tags.names().map(|it| &**it).chain(all);
        let places = names.filter_map(|name| self.places.find(KeyRef::of(name.as_bytes())));
        Ticket(places.map(|place| versions[place as usize]).collect())
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Remote {
    /// Starts the connections' thread. Until it is connected every lookup misses.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(
        settings: RemoteSettings,
        clock: Clock,
        tags: Arc<Registry>,
    ) -> std::io::Result<Self> {
        let (writes, queue) = mpsc::channel(WRITES_MAX);
        let shared = Arc::new(RemoteState {
            settings,
            clock,
            tags,
            instance: fastrand::u64(..),
            connection: ArcSwapOption::empty(),
            broken: Notify::new(),
            invalidated: Notify::new(),
            pending: Mutex::default(),
            all_received: AtomicU64::new(0),
            queued_bytes: AtomicUsize::new(0),
            late_in_a_row: AtomicU32::new(0),
            paused_until: Mutex::new(None),
            paused: AtomicBool::new(false),
            counters: RemoteCounters::default(),
        });
        keeper::start(Arc::clone(&shared), queue)?;
        Ok(Self { shared, writes })
    }

    /// Maximum time to wait for another process's call.
    pub(super) fn patience(&self) -> Duration {
        self.shared.settings.patience
    }

    /// Name of the entry for `key` under `rule`.
    pub(super) fn name(&self, rule: &Rule, key: &[u8]) -> EntryName {
        // The rule's `sharing` is part of the name, so entries that are shared by declaration are separate from others.
        EntryName::new(&self.shared.settings.namespace, EntryKind::Entry, &[&[rule.sharing as u8], key])
    }

    /// Looks up all `names` within the time budget; `tags` has the tags of each.
    pub(super) async fn lookup(&self, names: &[EntryName], rule: &Rule, tags: &[&Tags]) -> RemoteLookup {
        let shared = &*self.shared;
        let nothing = || RemoteLookup { entries: names.iter().map(|_| None).collect(), tickets: Vec::new() };
        let distinct = Distinct::of(tags);
        let Some(connection) = shared.usable_connection(&distinct.names) else { return nothing() };
        shared.counters.looked.fetch_add(names.len() as u64, Ordering::Relaxed);
        let tag_names: Vec<EntryName> = distinct.names.iter().map(|it| shared.tag_name(it)).collect();
        let mut command = cmd("MGET");
        names.iter().chain(&tag_names).for_each(|name| {
            command.arg(&name.text);
        });
        let looked = async {
            let mut values = connection.values(&command, names.len() + tag_names.len()).await?;
            let versions = shared.versions(&connection, &tag_names, values.split_off(names.len())).await?;
            Ok((values, versions))
        };
        let Some((values, Some(versions))) = shared.in_budget(looked).await else { return nothing() };
        let at = shared.instants();
        let read = |name: &EntryName, value: Option<Vec<u8>>, tags: &Tags, ticket: &Ticket| {
            tags.note_remote_versions(&ticket.0);
            let entry = format::decode(name, &value?, &ticket.0, at, rule, tags);
            entry.unwrap_or_else(|format::Corrupt| {
                count(&shared.counters.corrupt);
                None
            })
        };
        let tickets: Vec<Ticket> = tags.iter().map(|tags| distinct.ticket(tags, &versions)).collect();
        let each = names.iter().zip(values).zip(tags.iter().zip(&tickets));
        let entries = each.map(|((name, value), (tags, ticket))| read(name, value, tags, ticket));
        let entries: Vec<Option<Entry>> = entries.collect();
        shared.counters.found.fetch_add(entries.iter().flatten().count() as u64, Ordering::Relaxed);
        RemoteLookup { entries, tickets }
    }

    /// For each name: true if this process may make the call because no other holds the lease. Also true if Redis does not answer.
    pub(super) async fn lease(&self, names: &[EntryName]) -> Vec<bool> {
        let shared = &*self.shared;
        let all = || vec![true; names.len()];
        let Some(connection) = shared.usable_connection(&[]) else { return all() };
        let leases = join_all(names.iter().map(|name| {
            let mut command = cmd("SET");
            command.arg(name.of_kind(&shared.settings.namespace, EntryKind::Lease)).arg(shared.instance);
            command.arg("NX").arg("PX").arg(LEASE_MS);
            let connection = &connection;
            async move { connection.ask::<Option<String>>(&command).await }
        }));
        let Some(leases) = shared.in_budget(async { Ok(leases.await) }).await else { return all() };
        let won = |lease: RedisResult<Option<String>>| match lease {
            Ok(lease) => lease.is_some(),
            Err(error) => {
                shared.note_redis_error(&error);
                true
            }
        };
        let won: Vec<bool> = leases.into_iter().map(won).collect();
        shared.counters.leased.fetch_add(won.iter().filter(|won| !**won).count() as u64, Ordering::Relaxed);
        won
    }

    /// Queues a write of `entry`.
    pub(super) fn keep(&self, name: EntryName, entry: &Arc<Entry>, ticket: &Ticket) {
        let shared = &*self.shared;
        let bytes = entry.bytes_held();
        if bytes > VALUE_BYTES_MAX || shared.queued_bytes.load(Ordering::Relaxed) + bytes > WRITE_BYTES_MAX {
            count(&shared.counters.dropped);
            return self.release(name);
        }
        shared.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        let write = Write::Keep { name, entry: Arc::clone(entry), versions: Arc::clone(&ticket.0), bytes };
        if self.writes.try_send(write).is_err() {
            shared.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            count(&shared.counters.dropped);
        }
    }

    /// Releases a lease without writing an entry.
    pub(super) fn release(&self, name: EntryName) {
        // A full queue drops the release; the lease expires by itself.
        let _ = self.writes.try_send(Write::Release(name));
    }

    /// Queues the invalidation of a tag in all processes. `keys` are the changed rows; empty means any row.
    pub(super) fn invalidate<'k>(&self, tag: &str, keys: impl IntoIterator<Item = &'k [u8]>) {
        let rows = ChangedRows::of(keys);
        self.shared.lock_pending().add(tag, rows);
        self.shared.invalidated.notify_one();
    }

    /// Current counters.
    pub(super) fn counts(&self) -> RemoteCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.shared.counters;
        RemoteCounts {
            connected: self.shared.connection.load().is_some(),
            looked: of(&counters.looked),
            found: of(&counters.found),
            corrupt: of(&counters.corrupt),
            late: of(&counters.late),
            failed: of(&counters.failed),
            written: of(&counters.written),
            dropped: of(&counters.dropped),
            leased: of(&counters.leased),
        }
    }
}

impl RemoteState {
    fn instants(&self) -> Instants {
        Instants { now_ms: self.clock.now_ms(), wall_ms: self.clock.wall_ms() }
    }

    fn lock_pending(&self) -> MutexGuard<'_, PendingNotices> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tag_name(&self, tag: &str) -> EntryName {
        EntryName::new(&self.settings.namespace, EntryKind::Tag, &[tag.as_bytes()])
    }

    /// The connection; `None` if there is none, lookups are paused, or an invalidation of one of `tags` is pending.
    fn usable_connection(&self, tags: &[&str]) -> Option<Arc<Connection>> {
        let connection = self.connection.load_full()?;
        if self.paused.load(Ordering::Relaxed) {
            let mut until = self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
            if until.is_some_and(|until| Instant::now() < until) {
                return None;
            }
            // One lookup probes the connection; the others continue without it.
            *until = Some(Instant::now() + PAUSE);
        }
        if !tags.is_empty() {
            let pending = self.lock_pending();
            if tags.iter().any(|tag| pending.has(tag)) {
                return None;
            }
        }
        Some(connection)
    }

    /// Result of `asked` within the time budget.
    async fn in_budget<T>(&self, asked: impl Future<Output = RedisResult<T>>) -> Option<T> {
        match tokio::time::timeout(self.settings.budget, asked).await {
            Ok(Ok(brought)) => {
                self.late_in_a_row.store(0, Ordering::Relaxed);
                self.paused.store(false, Ordering::Relaxed);
                Some(brought)
            }
            Ok(Err(error)) => {
                self.note_redis_error(&error);
                None
            }
            Err(_) => {
                count(&self.counters.late);
                if self.late_in_a_row.fetch_add(1, Ordering::Relaxed) + 1 >= LATE_MAX {
                    *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(Instant::now() + PAUSE);
                    self.paused.store(true, Ordering::Relaxed);
                }
                None
            }
        }
    }

    fn note_redis_error(&self, error: &RedisError) {
        count(&self.counters.failed);
        // A cluster that lost one node still serves the other slots, and the client finds the replacement.
        if !self.settings.address.is_cluster()
            && (error.is_unrecoverable_error() || error.is_connection_dropped())
        {
            self.broken.notify_one();
        }
    }

    /// Parses `values` as versions of `tags` and creates missing ones. `None` if another process created one meanwhile.
    async fn versions(
        &self,
        connection: &Connection,
        tags: &[EntryName],
        values: Vec<Option<Vec<u8>>>,
    ) -> RedisResult<Option<Vec<u64>>> {
        let mut versions = Vec::with_capacity(tags.len());
        for (tag, value) in tags.iter().zip(values) {
            versions.push(match version_of(value) {
                Some(version) => version,
                None => {
                    let (command, version) = new_version(tag, true);
                    if connection.ask::<Option<String>>(&command).await?.is_none() {
                        return Ok(None);
                    }
                    version
                }
            });
        }
        Ok(Some(versions))
    }
}

/// Parses a version.
fn version_of(value: Option<Vec<u8>>) -> Option<u64> {
    Some(u64::from_le_bytes(value?.try_into().ok()?))
}

/// Command that gives a tag a new random version; with `if_none` only if it has none.
fn new_version(tag: &EntryName, if_none: bool) -> (Cmd, u64) {
    let version = fastrand::u64(1..);
    let mut command = cmd("SET");
    command.arg(&tag.text).arg(&version.to_le_bytes()).arg("PX").arg(TAG_MS);
    if if_none {
        command.arg("NX");
    }
    (command, version)
}
