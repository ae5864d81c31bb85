//! Reports of a server, by logical decoding, of the changes that anybody makes in its database.
//!
//! **Invariant:** the tags and keys are those of our own mutations; what is not told (views, tables that cannot be published) is said with the
//! coverage, and polled.

use crate::frontend::tags;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Instant;
use weir_engine::source::{ChangeSink, Coverage, OthersChanges, Tag};
use weir_engine::tag_versions::{Change, RowKey};
use weir_postgres::replication::{self, Prospect, StreamState, TableChange, TableName};
use weir_postgres::{Pool, Settings};
use weir_relational::catalog::{Catalog, TableId, TableKind};
use weir_relational::passes::row_keys::has_certain_key;

/// Description of this feed for operators.
pub(super) const WORDS: &str = "logical decoding tells each commit";

/// State of the driver's change feed, and its settings.
#[derive(Debug)]
pub(super) struct Decoding {
    pub(super) settings: Settings,
    pub(super) tables: FedTables,
    prospect: Prospect,
    /// Number of watchers whose stream reports changes.
    pub(super) telling: AtomicUsize,
    /// Number of reported transactions.
    pub(super) transactions: AtomicU64,
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

    pub(super) fn coverage(&self, state: &StreamState) -> Coverage {
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

    pub(super) fn notify_sink(&self, change: &TableChange, sink: &dyn ChangeSink) {
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
pub(super) fn watched_tables(tables: &FedTables) -> BTreeSet<TableName> {
    tables.iter().filter(|it| it.1.kind == TableKind::Table).map(|it| it.0.clone()).collect()
}
