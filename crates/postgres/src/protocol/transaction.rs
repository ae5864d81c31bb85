//! Statements that begin, end and restart transactions.

use crate::protocol::statement::Statement;
use std::sync::{Arc, LazyLock};

/// Isolation levels. Source: the manual of PostgreSQL, "Transaction Isolation".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Each statement sees all earlier commits.
    ReadCommitted,
    /// All statements see the same.
    RepeatableRead,
    /// Transactions behave as if they had run one after another.
    Serializable,
}

/// A kind of transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// A transaction that changes data.
    ReadWrite(Isolation),
    /// Several reads of one state.
    Snapshot,
}

fn control(sql: &str) -> Arc<Statement> {
    Statement::new(sql, [], [], [], None)
}

pub(crate) static BEGIN: LazyLock<Arc<Statement>> = LazyLock::new(|| control("BEGIN"));
static READ_COMMITTED: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("BEGIN ISOLATION LEVEL READ COMMITTED"));
static REPEATABLE_READ: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("BEGIN ISOLATION LEVEL REPEATABLE READ"));
static SERIALIZABLE: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("BEGIN ISOLATION LEVEL SERIALIZABLE"));
static SNAPSHOT: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
pub(crate) static MAY_REST: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("SET LOCAL idle_in_transaction_session_timeout = '15min'"));
pub(crate) static PATIENT: LazyLock<Arc<Statement>> = LazyLock::new(|| control("SET LOCAL lock_timeout = 0"));
pub(crate) static IN_SEQUENCE: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'"));
/// Checks what is deferrable after each statement, as its own commit would.
pub(crate) static CHECK_AT_ONCE: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("SET CONSTRAINTS ALL IMMEDIATE"));
pub(crate) static COMMIT: LazyLock<Arc<Statement>> = LazyLock::new(|| control("COMMIT"));
pub(crate) static ROLLBACK: LazyLock<Arc<Statement>> = LazyLock::new(|| control("ROLLBACK"));

// A transaction that loses a race returns to this savepoint, and is not committed before its release. Source: the manual of
// CockroachDB, "Advanced Client-side Transaction Retries".
pub(crate) static SAVEPOINT: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("SAVEPOINT cockroach_restart"));
pub(crate) static RELEASE: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("RELEASE SAVEPOINT cockroach_restart"));
pub(crate) static RESTART: LazyLock<Arc<Statement>> =
    LazyLock::new(|| control("ROLLBACK TO SAVEPOINT cockroach_restart"));

pub(crate) fn begin(mode: Transaction) -> &'static Arc<Statement> {
    match mode {
        Transaction::ReadWrite(Isolation::ReadCommitted) => &READ_COMMITTED,
        Transaction::ReadWrite(Isolation::RepeatableRead) => &REPEATABLE_READ,
        Transaction::ReadWrite(Isolation::Serializable) => &SERIALIZABLE,
        Transaction::Snapshot => &SNAPSHOT,
    }
}
