//! The thread that has the connections: makes them, writes, listens, tells, and makes them anew when they break.
//!
//! **Invariant:** nobody looks anything up over a connection before what may have been missed without it is made good: it is
//! listened to first, then versions are compared.
//!
//! **Cost:** one thread that sleeps when nothing is to be done.

use super::format::{self, EntryKind, EntryName};
use super::link::{Connection, await_within};
use super::message::{ExactMessages, Message};
use super::pending_notices::ChangedRows;
use super::text::TextWrite;
use super::{ALL, ENTRY_MS_MAX, NO_VERSION, RemoteState, Write, count, new_version, version_of};
use crate::cache::entry::Entry;
use crate::cache::tags::Registry;
use futures_util::StreamExt;
use futures_util::future::join_all;
use redis::aio::{PubSubSink, PubSubStream};
use redis::{RedisResult, cmd};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Maximum number of concurrent writes.
const WRITES_AT_ONCE: usize = 64;
/// Maximum number of tag versions per lookup.
const TAGS_AT_ONCE: usize = 512;
/// Interval of pings to the server.
const PING: Duration = Duration::from_secs(1);
/// Shortest and longest pause between attempts to connect.
const RETRY: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// Break: the senders of writes are gone, so the thread ends.
type Ended = ControlFlow<()>;

/// Starts the thread; it ends when the sender of `writes` is dropped.
pub(super) fn start(shared: Arc<RemoteState>, writes: mpsc::Receiver<Write>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new()
        .name("weir-cache".into())
        .spawn(move || runtime.block_on(run(&shared, writes)))
        .map(drop)
}

async fn run(shared: &RemoteState, mut writes: mpsc::Receiver<Write>) {
    let mut pause = RETRY[0];
    let mut told = false;
    loop {
        let begun = Instant::now();
        let connecting = async {
            let (sink, stream) = shared.settings.address.listen(&channel(shared)).await?;
            let connection = shared.settings.address.connect().await?;
            notify_all(shared, &connection).await?;
            catch_up(shared, &connection).await?;
            RedisResult::Ok((connection, sink, stream))
        };
        match connecting.await {
            Ok((connection, sink, stream)) => {
                told = false;
                // Consume permits of the previous connection: they do not concern the new one.
                shared.broken.notify_one();
                shared.broken.notified().await;
                let connection = Arc::new(connection);
                shared.connection.store(Some(Arc::clone(&connection)));
                let ended = serve(shared, &connection, sink, stream, &mut writes).await;
                shared.connection.store(None);
                if ended.is_break() {
                    return;
                }
                tracing::warn!("the connection to the cache's second level broke");
                // A connection that breaks immediately is retried with the same backoff as one that cannot be made.
                if begun.elapsed() > RETRY[1] {
                    pause = RETRY[0];
                    continue;
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut told, true) {
                    tracing::warn!(%error, "the cache's second level cannot be reached");
                }
            }
        }
        // Drop queued writes: they would only be older later.
        while let Ok(write) = writes.try_recv() {
            forget(shared, &write);
        }
        if writes.is_closed() {
            return;
        }
        tokio::time::sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        pause = (pause * 2).min(RETRY[1]);
    }
}

fn channel(shared: &RemoteState) -> String {
    format!("{}:invalidate", shared.settings.namespace)
}

/// Runs all tasks of one connection until it breaks or the thread ends.
async fn serve(
    shared: &RemoteState,
    connection: &Connection,
    sink: PubSubSink,
    stream: PubSubStream,
    writes: &mut mpsc::Receiver<Write>,
) -> Ended {
    tokio::select! {
        ended = write(shared, connection, writes) => ended,
        () = listen(shared, stream) => Ended::Continue(()),
        () = tell(shared, connection) => Ended::Continue(()),
        () = ping(shared, connection, sink) => Ended::Continue(()),
        () = shared.broken.notified() => Ended::Continue(()),
    }
}

async fn write(shared: &RemoteState, connection: &Connection, writes: &mut mpsc::Receiver<Write>) -> Ended {
    let mut batch = Vec::with_capacity(WRITES_AT_ONCE);
    while writes.recv_many(&mut batch, WRITES_AT_ONCE).await > 0 {
        join_all(batch.drain(..).map(|write| write_one(shared, connection, write))).await;
    }
    Ended::Break(())
}

async fn write_one(shared: &RemoteState, connection: &Connection, write: Write) {
    let name = match &write {
        Write::Keep { name, entry, versions, .. } => {
            match set(shared, connection, name, entry, versions).await {
                Ok(()) => {}
                Err(error) => shared.note_redis_error(&error),
            }
            name
        }
        Write::Release(name) => name,
        Write::Text(TextWrite { name, text, ttl_ms }) => {
            let mut command = cmd("SET");
            command.arg(&name.text).arg(&**text).arg("PX").arg(*ttl_ms);
            match connection.ask::<()>(&command).await {
                Ok(()) => count(&shared.counters.written),
                Err(error) => shared.note_redis_error(&error),
            }
            return forget(shared, &write);
        }
    };
    // Release the lease whether the write succeeded or not, so that no process waits for it.
    let mut release = cmd("DEL");
    release.arg(name.of_kind(&shared.settings.namespace, EntryKind::Lease));
    if let Err(error) = connection.ask::<()>(&release).await {
        shared.note_redis_error(&error);
    }
    forget(shared, &write);
}

/// Writes an entry with the expiry of its last useful instant.
async fn set(
    shared: &RemoteState,
    connection: &Connection,
    name: &EntryName,
    entry: &Entry,
    versions: &[u64],
) -> RedisResult<()> {
    let at = shared.instants();
    let lifetime = entry.lifetime;
    let until_ms = lifetime.fresh_until_ms.max(lifetime.stale_until_ms).max(lifetime.error_until_ms);
    let left_ms = until_ms.saturating_sub(at.now_ms).min(ENTRY_MS_MAX);
    if left_ms > 0 {
        let mut command = cmd("SET");
        command.arg(&name.text).arg(format::encode(name, entry, versions, at)).arg("PX").arg(left_ms);
        connection.ask::<()>(&command).await?;
        count(&shared.counters.written);
    }
    Ok(())
}

/// Removes a finished or dropped write from the count of queued bytes.
fn forget(shared: &RemoteState, write: &Write) {
    let bytes = match write {
        Write::Keep { bytes, .. } => *bytes,
        Write::Text(TextWrite { text, .. }) => text.len(),
        Write::Release(_) => 0,
    };
    shared.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
}

/// Applies invalidations of other processes until the connection ends.
async fn listen(shared: &RemoteState, mut stream: PubSubStream) {
    let mut exact = ExactMessages::default();
    let mut is_logged = false;
    while let Some(message) = stream.next().await {
        let Some(Message { instance, version, tag, keys }) = Message::read(message.get_payload_bytes())
        else {
            if !std::mem::replace(&mut is_logged, true) {
                let channel = channel(shared);
                tracing::warn!(%channel, "ignored a message in Redis that this version does not know; others like it are not logged");
            }
            continue;
        };
        if instance == shared.instance || exact.is_known(version, &keys) {
            continue;
        }
        match tag {
            ALL => forget_all(shared, version),
            tag => shared.tags.invalidate_from_remote(tag, version, keys),
        }
    }
}

/// Invalidates everything that has a tag, as of this version of the tag `ALL`.
fn forget_all(shared: &RemoteState, version: u64) {
    shared.all_received.store(version, Ordering::Relaxed);
    shared.tags.invalidate_all();
}

/// Catches up with invalidations missed while disconnected: compares tag versions and invalidates tags that changed. A server that lost
/// the version of `ALL` has lost others too, so then everything is invalidated.
async fn catch_up(shared: &RemoteState, connection: &Connection) -> RedisResult<()> {
    let all = shared.tag_name(ALL);
    // A full server stores no version; the lookup below then finds none.
    let _marked = connection.ask::<Option<String>>(&new_version(&all, true).0).await;
    let value: Option<Vec<u8>> = connection.ask(cmd("GET").arg(all.text)).await?;
    let version = version_of(value).unwrap_or(NO_VERSION);
    if version == NO_VERSION || shared.all_received.load(Ordering::Relaxed) != version {
        forget_all(shared, version);
    }
    for tags in shared.tags.all().chunks(TAGS_AT_ONCE) {
        let mut command = cmd("MGET");
        for tag in tags {
            command.arg(shared.tag_name(tag.name()).text);
        }
        let values = connection.values(&command, tags.len()).await?;
        Registry::compare(tags, values.into_iter().map(|it| version_of(it).unwrap_or(NO_VERSION)));
    }
    // Results built from several answers have no entry to compare.
    shared.tags.invalidate_made();
    Ok(())
}

/// Publishes invalidations of this process until that fails.
async fn tell(shared: &RemoteState, connection: &Connection) {
    loop {
        shared.invalidated.notified().await;
        if let Err(error) = notify_all(shared, connection).await {
            shared.note_redis_error(&error);
            return;
        }
    }
}

/// Publishes all pending invalidations. Versions are written before messages, so that receivers find them changed. What fails stays
/// pending for the next connection.
async fn notify_all(shared: &RemoteState, connection: &Connection) -> RedisResult<()> {
    loop {
        let notices = shared.lock_pending().next(WRITES_AT_ONCE);
        if notices.is_empty() {
            return Ok(());
        }
        for sent in
            join_all(notices.iter().map(|(tag, rows)| notify_one(shared, connection, tag, rows))).await
        {
            sent?;
        }
        shared.lock_pending().confirm_sent();
    }
}

async fn notify_one(
    shared: &RemoteState,
    connection: &Connection,
    tag: &str,
    rows: &ChangedRows,
) -> RedisResult<()> {
    let name = shared.tag_name(tag);
    let (command, version) = new_version(&name, false);
    match connection.ask::<()>(&command).await {
        // On a full server delete the version instead, which needs no memory: entries without a version are misses too.
        Err(error) if error.code() == Some("OOM") => connection.ask::<()>(cmd("DEL").arg(&name.text)).await?,
        sent => sent?,
    }
    let keys = rows.keys();
    let message = Message { instance: shared.instance, version, tag, keys };
    for payload in message.payloads() {
        connection.ask::<()>(cmd("PUBLISH").arg(channel(shared)).arg(payload)).await?;
    }
    match tag {
        ALL => forget_all(shared, version),
        // Local entries were invalidated when the change happened; newer ones have this version.
        tag => shared.tags.set_own_version(tag, version),
    }
    Ok(())
}

/// Pings both connections until one fails. A cluster client replaces single connections itself.
async fn ping(shared: &RemoteState, connection: &Connection, mut sink: PubSubSink) {
    loop {
        tokio::time::sleep(PING).await;
        let answered = async {
            if !shared.settings.address.is_cluster() {
                connection.ask::<()>(&cmd("PING")).await?;
            }
            sink.ping::<redis::Value>().await.map(drop)
        };
        if await_within(PING, answered).await.is_err() {
            return;
        }
    }
}
