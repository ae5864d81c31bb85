//! Messages of rows between processes of this release, and of ones before it.

use super::kit::{Kit, PATIENCE};
use super::redis_kit::Redis;
use crate::cache::Clock;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use weir_engine::source::Tag;
use weir_engine::tag_versions::{Change, ChangeListener, InvalidationSink, RowKey};

/// Changes that a process received, by tag and key.
#[derive(Default)]
struct ReceivedChanges(Mutex<Vec<(String, Option<Vec<u8>>)>>);

impl ChangeListener for ReceivedChanges {
    fn on_change(&self, change: &Change<'_>) {
        self.0.lock().unwrap().push((change.tag.to_owned(), change.key.map(<[u8]>::to_vec)));
    }

    fn on_unknown_change(&self) {
        self.0.lock().unwrap().push(("everything".to_owned(), None));
    }

    fn on_unconfirmed_change(&self, _: &Change<'_>) {}
}

fn listen(kit: &Kit) -> Arc<ReceivedChanges> {
    let received = Arc::new(ReceivedChanges::default());
    let listener: Weak<dyn ChangeListener> =
        Arc::downgrade(&(Arc::clone(&received) as Arc<dyn ChangeListener>));
    kit.changes.listen(listener);
    received
}

fn rows(tag: &Tag, ids: std::ops::Range<u32>) -> Vec<RowKey> {
    ids.map(|id| RowKey::new(tag.clone(), [&*id.to_string()])).collect()
}

#[tokio::test]
async fn rows_are_told_to_other_processes_and_their_table_to_those_of_an_older_release() {
    let redis = Redis::start();
    let clock = Clock::new_simulated();
    let one = redis.process(&clock).await;
    let other = redis.process(&clock).await;
    let client = redis::Client::open(format!("redis://127.0.0.1:{}", redis.port)).unwrap();
    let mut older = client.get_connection().unwrap();
    let mut older = older.as_pubsub();
    older.subscribe("test:invalidate").unwrap();
    older.set_read_timeout(Some(PATIENCE)).unwrap();
    let received = listen(&other);
    let [boat, buoy] = ["boat", "buoy"].map(|it| Tag(it.into()));
    // One after the other, as equal tags that wait are told as one.
    let change = async |tag: &Tag, rows: &[RowKey], changes: usize| {
        one.cache.invalidate_rows(tag, rows);
        let begun = Instant::now();
        while received.0.lock().unwrap().len() < changes {
            assert!(begun.elapsed() < PATIENCE, "{:?}", received.0.lock().unwrap());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    change(&boat, &[rows(&boat, 1..3), rows(&buoy, 9..10)].concat(), 2).await;
    change(&boat, &rows(&boat, 0..1000), 3).await;
    change(&buoy, &[], 4).await;
    redis.ask::<()>(&[b"PUBLISH", b"test:invalidate", b"8 bytes.8 bytes.boat"]);
    change(&buoy, &rows(&buoy, 7..8), 6).await;
    change(&boat, &rows(&boat, 8..9), 7).await;
    let row = |tag: &str, id: &str| {
        let key = RowKey::new(Tag(tag.into()), [id]).key;
        (tag.to_owned(), Some(key.to_vec()))
    };
    let table = |tag: &str| (tag.to_owned(), None);
    let expected = [
        row("boat", "1"),
        row("boat", "2"),
        table("boat"),
        table("buoy"),
        table("boat"),
        row("buoy", "7"),
        row("boat", "8"),
    ];
    assert_eq!(*received.0.lock().unwrap(), expected);
    // As a release reads them that knows tags alone.
    let mut tags = Vec::new();
    while tags.len() < 6 {
        let payload: Vec<u8> = older.get_message().unwrap().get_payload().unwrap();
        tags.extend(std::str::from_utf8(&payload[16..]).map(str::to_owned));
    }
    assert_eq!(tags, ["boat", "boat", "buoy", "boat", "buoy", "boat"]);
}
