//! Work that another server left in the tables of the state, and its take-over by Weir.

use super::database::{Query, StateAddress, StateDatabase, StateError};
use super::schema::Ownership;
use crate::own_loop::run_apart;
use crate::shared_schema::foreign_words;
use std::fmt;

const TABLES: Query = Query {
    sql: "SELECT to_regclass('hdb_catalog.hdb_cron_events') IS NOT NULL, to_regclass('hdb_catalog.hdb_scheduled_events') IS NOT NULL, \
          to_regclass('hdb_catalog.hdb_action_log') IS NOT NULL",
    columns: 3,
};
const COUNT_EVENTS: Query = Query {
    sql: "SELECT count(*) FROM hdb_catalog.hdb_scheduled_events WHERE status = 'scheduled'",
    columns: 1,
};
const COUNT_CALLS: Query =
    Query { sql: "SELECT count(*) FROM hdb_catalog.hdb_action_log WHERE status = 'created'", columns: 1 };

/// One text: what the role may not do that Weir's state needs, if anything: make its tables, or write them.
const MISSING_RIGHT: Query = Query {
    sql: "SELECT CASE WHEN to_regclass('hdb_catalog.weir_lease') IS NOT NULL THEN \
          (SELECT CASE WHEN NOT bool_and(has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') \
          AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')) THEN 'write' END FROM pg_class c \
          WHERE c.relnamespace = to_regnamespace('hdb_catalog')::oid AND c.relname IN ('hdb_cron_events', \
          'hdb_cron_event_invocation_logs', 'hdb_scheduled_events', 'hdb_scheduled_event_invocation_logs', 'hdb_action_log', \
          'weir_cron_schedules', 'weir_lease')) \
          WHEN to_regnamespace('hdb_catalog') IS NULL THEN CASE WHEN NOT has_database_privilege(current_database(), 'CREATE') THEN 'make' END \
          WHEN NOT has_schema_privilege(to_regnamespace('hdb_catalog')::oid, 'CREATE') THEN 'make' END",
    columns: 1,
};

/// The reason why a role that may not make the tables keeps no state.
const MAKE_WORDS: &str = "the role may not make the tables of the state in the schema `hdb_catalog`: GRANT CREATE ON DATABASE to it, \
                          or make the schema and give it to the role";
/// The reason why a role that may not write the tables keeps no state.
const WRITE_WORDS: &str = "the role may not write the tables of the state: \
                           GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hdb_catalog to it";

/// Work that another server left. Events of cron triggers are stored ahead and made anew, so they do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftWork {
    /// Pending one-off events.
    pub events: u64,
    /// Calls of asynchronous actions that are not made yet.
    pub calls: u64,
}

impl LeftWork {
    /// True if nothing is left.
    pub const fn is_empty(self) -> bool {
        self.events == 0 && self.calls == 0
    }

    /// The line about schedules and asynchronous actions that wait for an operator.
    pub fn waiting_words(self) -> String {
        foreign_words("scheduled events and asynchronous actions", &format!(": {self} to deliver"))
    }
}

impl fmt::Display for LeftWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, calls } = self;
        let many = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "{events} one-off event{} and {calls} stored call{}", many(*events), many(*calls))
    }
}

impl StateDatabase {
    /// True if another server's table of events is there; it may be read.
    /// # Errors
    /// The database cannot be reached.
    pub async fn has_foreign_events(&self) -> Result<bool, StateError> {
        Ok(self.look_for_tables().await?[0])
    }

    async fn look_for_tables(&self) -> Result<[bool; 3], StateError> {
        let found = self.run(TABLES, Vec::new()).await?;
        Ok([0, 1, 2].map(|at| found.first().and_then(|it| it.get(at)?.as_deref()) == Some("t")))
    }

    /// The work that another server left.
    pub(crate) async fn count_left_work(&self) -> Result<LeftWork, StateError> {
        let [_, has_events, has_calls] = self.look_for_tables().await?;
        let count = async |has_table: bool, query: Query| {
            if !has_table {
                return Ok::<u64, StateError>(0);
            }
            let rows = self.run(query, Vec::new()).await?;
            Ok(rows.first().and_then(|it| it.first()?.as_deref()?.parse().ok()).unwrap_or_default())
        };
        let events = count(has_events, COUNT_EVENTS).await?;
        Ok(LeftWork { events, calls: count(has_calls, COUNT_CALLS).await? })
    }
}

/// The work that waits in the state at `address` for an operator, as its tables are another server's; `None` if they are not. Blocks the
/// thread.
/// # Errors
/// The database cannot be asked.
pub fn find_left_work(address: &StateAddress) -> Result<Option<LeftWork>, String> {
    ask_apart(address, async |database| match database.look().await? {
        Ownership::Foreign => database.count_left_work().await.map(Some),
        Ownership::Absent | Ownership::Own => Ok(None),
    })
}

/// The reason why the role may not keep the state at `address`, if it may not. Blocks the thread.
/// # Errors
/// The database cannot be asked.
pub fn find_missing_right(address: &StateAddress) -> Result<Option<&'static str>, String> {
    ask_apart(address, async |database| {
        let rows = database.run(MISSING_RIGHT, Vec::new()).await?;
        Ok(match rows.first().and_then(|it| it.first()?.as_deref()) {
            Some("make") => Some(MAKE_WORDS),
            Some(_) => Some(WRITE_WORDS),
            None => None,
        })
    })
}

/// Makes the tables of the state at `address` Weir's, with the work that is left there; `None` if nobody else's are there. Blocks the
/// thread.
/// # Errors
/// The database cannot be asked or changed.
pub fn take_over(address: &StateAddress) -> Result<Option<LeftWork>, String> {
    ask_apart(address, async |database| {
        if database.look().await? != Ownership::Foreign {
            return Ok(None);
        }
        let left = database.count_left_work().await?;
        database.prepare(true).await?;
        Ok(Some(left))
    })
}

/// Runs `work` on the database at `address`, unless that is a file, which nobody else has.
fn ask_apart<T: Default + Send>(
    address: &StateAddress,
    work: impl AsyncFnOnce(&StateDatabase) -> Result<T, StateError> + Send,
) -> Result<T, String> {
    let StateAddress::Postgres(_) = address else { return Ok(T::default()) };
    let address = address.clone();
    run_apart(async || work(&StateDatabase::new(address)).await)?.map_err(|it| it.to_string())
}
