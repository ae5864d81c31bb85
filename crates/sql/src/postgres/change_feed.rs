//! Changes of a PostgreSQL database that anybody makes, as logical decoding tells them.
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

/// Its way of finding out.
const WORDS: &str = "logical decoding tells each commit";

/// The driver's telling of changes, and its settings.
#[derive(Debug)]
pub(super) struct Decoding {
    settings: Settings,
    tables: FedTables,
    prospect: Prospect,
    /// Watchers whose stream tells.
    telling: AtomicUsize,
    /// Transactions that were told.
    transactions: AtomicU64,
}

/// Whether the stream of a watcher tells, counted.
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
    /// The columns of the primary key, if rows can be told by it.
    key: Vec<String>,
}

impl Decoding {
    /// Of a server that can tell as much as `prospect` says.
    pub(super) fn new(settings: &Settings, catalog: &Catalog, prospect: Prospect) -> Self {
        let (telling, transactions) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { settings: settings.clone(), tables: fed_tables(catalog), prospect, telling, transactions }
    }

    /// True if the server is to tell, now or when an operator has done something.
    pub(super) fn is_wanted(&self) -> bool {
        self.settings.decoding.is_wanted
    }

    /// How subscriptions find out what others changed, for operators.
    pub(super) fn others_changes(&self) -> OthersChanges {
        let at_once = "and they are told at once";
        match &self.prospect {
            _ if !self.settings.replicas.is_empty() => OthersChanges::Told(
                format!("{WORDS}; as replicas may be behind, read at intervals too: without `replicas` they would not be").into(),
            ),
            Prospect::Everything => OthersChanges::Told(WORDS.into()),
            Prospect::Except(left_out) => {
                OthersChanges::Told(format!("{WORDS}; read at intervals: {left_out}").into())
            }
            Prospect::Nothing(obstacle) => OthersChanges::Polled(format!("{obstacle}, {at_once}").into()),
            Prospect::Never(reason) => OthersChanges::Polled(reason.clone().into()),
        }
    }

    /// Coverage of a stream in this state.
    fn coverage(&self, state: &StreamState) -> Coverage {
        match state {
            // Reads from a replica may not see yet what was told.
            _ if !self.settings.replicas.is_empty() => Coverage::Nothing,
            StreamState::Down => Coverage::Nothing,
            StreamState::Told(told) => {
                let untold = self.tables.iter().filter(|it| !told.contains(it.0));
                Coverage::Except(Arc::new(untold.map(|it| Arc::clone(&it.1.tag.0)).collect()))
            }
        }
    }

    fn tell(&self, change: &TableChange, sink: &dyn ChangeSink) {
        let Some(table) = self.tables.get(&change.table.name) else { return };
        match &change.keys {
            Some(keys) if !table.key.is_empty() && table.key == change.table.key => {
                for key in keys {
                    let row = RowKey::new(table.tag.clone(), key.iter().map(|it| &**it));
                    sink.changed(&Change { tag: &table.tag.0, key: Some(&row.key) });
                }
            }
            _ => sink.changed(&Change { tag: &table.tag.0, key: None }),
        }
    }
}

/// The tables and views of `catalog` whose changes have a tag.
pub(super) fn fed_tables(catalog: &Catalog) -> FedTables {
    let table = |at: usize| {
        let (id, table) = (TableId(at as u32), &catalog.tables[at]);
        let columns = table.primary_key.iter().flat_map(|it| &it.columns).filter(|_| has_certain_key(table));
        let key = columns.map(|it| table.column(*it).name.clone()).collect();
        let tag = tags(catalog, Some(vec![id])).pop()?;
        let name = TableName { schema: table.schema.clone(), name: table.name.clone() };
        Some((name, FedTable { tag, kind: table.kind, key }))
    };
    (0..catalog.tables.len()).filter_map(table).collect()
}

/// Asks the server of `pool` which changes of `tables` it can tell.
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
            match replication::prospect(settings, (pool, facts), &wanted(tables), deadline).await {
                Ok(prospect) => prospect,
                Err(error) => Prospect::Nothing(error.to_string()),
            }
        }
    }
}

/// The tables whose changes can be told.
fn wanted(tables: &FedTables) -> BTreeSet<TableName> {
    tables.iter().filter(|it| it.1.kind == TableKind::Table).map(|it| it.0.clone()).collect()
}

impl ChangeFeed for PostgresDriver {
    fn words(&self) -> &'static str {
        WORDS
    }

    fn watch<'w>(&'w self, sink: &'w dyn ChangeSink) -> BoxFuture<'w, ()> {
        Box::pin(async move {
            let decoding = &self.decoding;
            let mut watcher = replication::watch(&decoding.settings, wanted(&decoding.tables));
            let mut telling = Telling { decoding, is_telling: false };
            loop {
                match watcher.next().await {
                    ChangeEvent::State(state) => {
                        telling.set(state != StreamState::Down);
                        sink.covers(decoding.coverage(&state));
                    }
                    ChangeEvent::Commit(commit) => {
                        decoding.transactions.fetch_add(1, Ordering::Relaxed);
                        commit.changes.iter().for_each(|it| decoding.tell(it, sink));
                        if commit.is_unknown {
                            sink.source_changed();
                        }
                    }
                }
            }
        })
    }

    fn counts(&self) -> Option<FeedCounts> {
        let is_telling = self.decoding.telling.load(Ordering::Relaxed) > 0;
        Some(FeedCounts { is_telling, transactions: self.decoding.transactions.load(Ordering::Relaxed) })
    }
}
