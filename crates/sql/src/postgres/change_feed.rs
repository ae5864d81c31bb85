//! The changes that anybody makes in a PostgreSQL database, from logical decoding.
//!
//! **Invariant:** the tags and keys are those of our own mutations; what is not told (views, tables that cannot be published) is said with the
//! coverage, and polled.
//!
//! **Cost:** nothing without subscribers; see [`weir_postgres::replication`].

use super::source::PostgresDriver;
use crate::frontend::tags;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use weir_engine::source::{BoxFuture, ChangeFeed, ChangeSink, Coverage, FeedCounts, OthersChanges, Tag};
use weir_engine::tag_versions::{Change, RowKey};
use weir_postgres::replication::{self, ChangeEvent, Prospect, StreamState, TableChange, TableName};
use weir_postgres::{Pool, Settings};
use weir_relational::catalog::{Catalog, TableId, TableKind};
use weir_relational::passes::row_keys::has_certain_key;

/// Description of this feed for operators.
const WORDS: &str = "logical decoding tells each commit";

/// State of the driver's change feed, and its settings.
#[derive(Debug)]
pub(super) struct Decoding {
    settings: Settings,
    tables: FedTables,
    prospect: Prospect,
    /// Number of watchers whose stream reports changes.
    telling: AtomicUsize,
    /// Number of reported transactions.
    transactions: AtomicU64,
}

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

/// Tables and views by their names.
pub(super) type FedTables = BTreeMap<TableName, FedTable>;

/// A table or view of the catalog.
#[derive(Debug)]
pub(super) struct FedTable {
    tag: Tag,
    kind: TableKind,
    /// Columns of the primary key, if it identifies rows by text; else empty.
    key: Vec<String>,
}

impl Decoding {
    /// `prospect`: changes that the server can report.
    pub(super) fn new(settings: &Settings, catalog: &Catalog, prospect: Prospect) -> Self {
        let telling = AtomicUsize::new(0);
        let transactions = AtomicU64::new(0);
        Self { settings: settings.clone(), tables: fed_tables(catalog), prospect, telling, transactions }
    }

    /// True if the server should report changes, now or once an operator has removed an obstacle.
    pub(super) fn is_wanted(&self) -> bool {
        self.settings.decoding.is_wanted
    }

    /// Text for operators: how subscriptions find out about changes by others.
    pub(super) fn others_changes(&self) -> OthersChanges {
        let at_once = "and they are told at once";
        match &self.prospect {
            _ if !self.settings.replicas.is_empty() => OthersChanges::Reported(
                format!("{WORDS}; as replicas may be behind, read at intervals too: without `replicas` they would not be").into(),
            ),
            Prospect::Everything => OthersChanges::Reported(WORDS.into()),
            Prospect::Except(left_out) => {
                OthersChanges::Reported(format!("{WORDS}; read at intervals: {left_out}").into())
            }
            Prospect::Nothing(obstacle) => OthersChanges::Polled(format!("{obstacle}, {at_once}").into()),
            Prospect::Never(reason) => OthersChanges::Polled(reason.clone().into()),
        }
    }

    /// Coverage of a stream in this state.
    fn coverage(&self, state: &StreamState) -> Coverage {
        match state {
            // Reads from a replica may not see a reported change yet.
            _ if !self.settings.replicas.is_empty() => Coverage::Nothing,
            StreamState::Down => Coverage::Nothing,
            StreamState::Told(told) => {
                let untold = self.tables.iter().filter(|it| !told.contains(it.0));
                Coverage::Except(Arc::new(untold.map(|it| Arc::clone(&it.1.tag.0)).collect()))
            }
        }
    }

    fn notify_sink(&self, change: &TableChange, sink: &dyn ChangeSink) {
        let Some(table) = self.tables.get(&change.table.name) else { return };
        match &change.keys {
            Some(keys) if !table.key.is_empty() && table.key == change.table.key => {
                for key in keys {
                    let row = RowKey::new(table.tag.clone(), key.iter().map(|it| &**it));
                    sink.notify_change(&Change { tag: &table.tag.0, key: Some(&row.key) });
                }
            }
            _ => sink.notify_change(&Change { tag: &table.tag.0, key: None }),
        }
    }
}

/// The tables and views of `catalog` whose changes have a tag.
pub(super) fn fed_tables(catalog: &Catalog) -> FedTables {
    let table = |at: usize| {
        let id = TableId(at as u32);
        let table = &catalog.tables[at];
        let columns = table.primary_key.iter().flat_map(|it| &it.columns).filter(|_| has_certain_key(table));
        let key = columns.map(|it| table.column(*it).name.clone()).collect();
        let tag = tags(catalog, Some(vec![id])).pop()?;
        let name = TableName { schema: table.schema.clone(), name: table.name.clone() };
        Some((name, FedTable { tag, kind: table.kind, key }))
    };
    (0..catalog.tables.len()).filter_map(table).collect()
}

/// Finds out which changes of `tables` the server of `pool` can report.
pub(super) async fn prospect(
    settings: &Settings,
    tables: &FedTables,
    pool: &Pool,
    deadline: Instant,
) -> Prospect {
    match pool.facts() {
        _ if !settings.decoding.is_wanted => Prospect::Nothing("`postgres.logical_decoding` is off".into()),
        None => Prospect::Nothing("the server is not known yet".into()),
        Some(facts) => {
            match replication::prospect(settings, pool, facts, &watched_tables(tables), deadline).await {
                Ok(prospect) => prospect,
                Err(error) => Prospect::Nothing(error.to_string()),
            }
        }
    }
}

/// Tables whose changes the server can report.
fn watched_tables(tables: &FedTables) -> BTreeSet<TableName> {
    tables.iter().filter(|it| it.1.kind == TableKind::Table).map(|it| it.0.clone()).collect()
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
