//! An event trigger as its database has to capture it: the table, the operations, the columns.

use weir_metadata::document::event_trigger::{EventTriggerEntry, OperationSpec};
use weir_metadata::document::permission::Columns;
use weir_metadata::document::table::TableName;

/// Beginning of the names of all triggers, and on PostgreSQL of their functions.
pub const NAME_PREFIX: &str = "notify_hasura_";

/// A change of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A new row.
    Insert,
    /// A changed row.
    Update,
    /// A deleted row.
    Delete,
}

impl Operation {
    /// The word of SQL, which events have as `op`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// True if the change has a row from before.
    pub const fn has_old(self) -> bool {
        matches!(self, Self::Update | Self::Delete)
    }

    /// True if the change leaves a row.
    pub const fn has_new(self) -> bool {
        matches!(self, Self::Insert | Self::Update)
    }
}

/// One operation of a trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedOperation {
    pub operation: Operation,
    /// Columns whose change fires, of updates alone.
    pub listened: Columns,
    /// Columns that are told.
    pub payload: Columns,
}

/// The part of an event trigger that its database knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedTrigger {
    /// Name, unique in its source; letters, digits, `_` and `-`.
    pub name: String,
    /// Schema of the table; empty on SQLite.
    pub schema: String,
    pub table: String,
    /// Operations, in the order of [`Operation`].
    pub operations: Vec<CapturedOperation>,
    /// True if events carry the key of their row.
    pub is_ordered: bool,
    /// True if rows fire that come by logical replication.
    pub on_replication: bool,
}

impl CapturedTrigger {
    /// The trigger of an entry of `table`.
    pub fn new(table: &TableName, entry: &EventTriggerEntry) -> Self {
        let (schema, name) = table.parts();
        let definition = &entry.definition;
        let all = [
            (Operation::Insert, &definition.insert),
            (Operation::Update, &definition.update),
            (Operation::Delete, &definition.delete),
        ];
        let capture = |(operation, spec): (Operation, &Option<OperationSpec>)| {
            let spec = spec.as_ref()?;
            let payload = spec.payload.clone().unwrap_or(Columns::All);
            let listened = spec.columns.clone();
            Some(CapturedOperation { operation, listened, payload })
        };
        Self {
            name: entry.name.clone(),
            schema: schema.to_owned(),
            table: name.to_owned(),
            operations: all.into_iter().filter_map(capture).collect(),
            is_ordered: entry.ordered.unwrap_or_default(),
            on_replication: entry.trigger_on_replication.unwrap_or_default(),
        }
    }

    /// The name of the trigger, and on PostgreSQL of the function, of `operation`.
    pub fn object_name(&self, operation: Operation) -> String {
        format!("{NAME_PREFIX}{}_{}", self.name, operation.word())
    }
}
