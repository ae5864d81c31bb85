//! A store in PostgreSQL.

use super::{Bulk, BulkCell, BulkSource, BulkTable, QueryRows, Session, Value};
use crate::store::Error;
use hashbrown::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use weir_postgres::{
    Buffer, Error as PostgresError, Format, Isolation, Parameters, Pool, Purpose, Rows,
    Session as Connection, Settings, Statement, Transaction, array_literal::quote,
};
use weir_relational::quoting::{list, quote_identifier};

/// A statement that builds an index of a large table may take so long.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// The advisory lock of a load.
const LOAD_LOCK: i64 = 1_464_158_547;

/// A session of PostgreSQL, and the runtime that drives it.
#[derive(Debug)]
pub(super) struct Postgres {
    // The order matters: the session is dropped before `runtime`, which it needs to close the connection. `None` after a failure.
    session: Option<Connection>,
    pool: Arc<Pool>,
    connect_max: Duration,
    runtime: Runtime,
}

impl Session for Postgres {
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Error> {
        Ok(self.run(sql, values, 0)?.affected)
    }

    fn query(&mut self, sql: &str, values: &[Value], width: usize) -> Result<QueryRows, Error> {
        let rows = self.run(sql, values, width)?;
        let value = |it: Option<&[u8]>| match it {
            None => Value::Null,
            Some(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        };
        Ok(rows.iter().map(|row| row.columns().map(value).collect()).collect())
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.session()?.begin(Transaction::ReadWrite(Isolation::ReadCommitted));
        self.run("SELECT pg_catalog.pg_advisory_xact_lock(1464158546)", &[], 1).map(drop)
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.session()?.commit();
        self.flush("COMMIT").map(drop)
    }

    fn rollback(&mut self) {
        if let Some(session) = self.session.take() {
            self.runtime.block_on(session.rollback());
        }
    }

    fn is_writable(&mut self) -> Result<bool, Error> {
        let sql = "SELECT (current_setting('transaction_read_only') = 'off' \
                   AND has_table_privilege('weir_store', 'UPDATE'))::int";
        self.is_one(sql, &[])
    }

    fn data_version(&mut self) -> Result<i64, Error> {
        Ok(0)
    }

    fn file(&self) -> Option<PathBuf> {
        None
    }

    fn lock_load(&mut self) -> Result<bool, Error> {
        self.is_one("SELECT pg_catalog.pg_try_advisory_lock($1)::int", &[LOAD_LOCK.into()])
    }

    fn existing(&mut self, table: &str, column: &str, ids: &[i64]) -> Result<HashSet<i64>, Error> {
        let sql = format!("SELECT {column} FROM {table} WHERE {column} = ANY($1::bigint[])");
        let rows = self.query(&sql, &[Value::Text(numbers(ids.iter().copied()))], 1)?;
        Ok(rows.iter().map(|row| row[0].int()).collect())
    }

    fn insert(
        &mut self,
        tables: &[BulkTable],
        bulk: Bulk<'_>,
        gone: &mut [bool],
    ) -> Result<Vec<(usize, String)>, Error> {
        let mut refused = Vec::new();
        for (at, table) in tables.iter().enumerate() {
            let there: Vec<usize> = (0..bulk.ids.len()).filter(|row| !gone[*row]).collect();
            let mut parameters = Parameters::new();
            for from in &table.from {
                parameters.push_with(|out| {
                    let cells = there.iter().map(|&row| match from {
                        BulkSource::Number => Literal::Cell(BulkCell::Int(bulk.ids[row])),
                        BulkSource::Words(words) => Literal::Words(words),
                        BulkSource::Cell(place) => Literal::Cell(bulk.row(row)[*place]),
                    });
                    array(bulk, cells, out);
                });
            }
            let names = list(table.columns.iter().map(|it| it.name.as_str()));
            let arrays: Vec<String> = table
                .columns
                .iter()
                .enumerate()
                .map(|(at, it)| format!("${}::{}[]", at + 1, it.declared))
                .collect();
            let sql = format!(
                "INSERT INTO {} ({names}) SELECT * FROM unnest({}) ON CONFLICT DO NOTHING RETURNING {}",
                quote_identifier(&table.name),
                arrays.join(", "),
                quote_identifier(&table.columns[0].name)
            );
            let made = self.run_with(&sql, &parameters, 1)?;
            if made.affected == there.len() as u64 {
                continue;
            }
            let number = |it: Option<&[u8]>| std::str::from_utf8(it?).ok()?.parse::<i64>().ok();
            // If two lines have the same number, only one was inserted.
            let mut made: HashSet<i64> =
                made.iter().filter_map(|row| number(row.column(0).flatten())).collect();
            let lost: Vec<usize> = there.into_iter().filter(|&row| !made.remove(&bulk.ids[row])).collect();
            for before in &tables[..at] {
                let name = quote_identifier(&before.name);
                let id = quote_identifier(&before.columns[0].name);
                let ids = Value::Text(numbers(lost.iter().map(|&row| bulk.ids[row])));
                self.execute(&format!("DELETE FROM {name} WHERE {id} = ANY($1::bigint[])"), &[ids])?;
            }
            for row in lost {
                gone[row] = true;
                refused.push((row, format!("its ID or a key of `{}` is taken already", table.name)));
            }
        }
        Ok(refused)
    }

    fn insert_pairs(&mut self, table: &str, names: &str, pairs: &[(i64, i64)]) -> Result<(), Error> {
        let sql = format!(
            "INSERT INTO {table} ({names}) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING"
        );
        let one = numbers(pairs.iter().map(|it| it.0));
        let other = numbers(pairs.iter().map(|it| it.1));
        self.execute(&sql, &[Value::Text(one), Value::Text(other)]).map(drop)
    }
}

impl Postgres {
    pub(super) fn connect(settings: &Settings) -> Result<Self, Error> {
        let mut settings = settings.clone();
        settings.limits.sessions_max = 1;
        settings.limits.lanes = Some(1);
        settings.limits.statement_timeout = PATIENCE;
        // Waits for locks are waits for other stores that do the same.
        settings.limits.session_lock_timeout = Duration::ZERO;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|cause| Error::Database(cause.to_string()))?;
        let connect_max = settings.connect_timeout;
        let pool = Pool::new(settings);
        let mut made = Self { session: None, pool, connect_max, runtime };
        made.session()?;
        Ok(made)
    }

    /// The session, or a new one in place of one that failed.
    fn session(&mut self) -> Result<&mut Connection, Error> {
        let session = match self.session.take() {
            Some(session) => session,
            None => {
                let opening = self.pool.session(Purpose::Write, Instant::now() + self.connect_max);
                self.runtime.block_on(opening).map_err(|error| match error.remedy() {
                    Some(remedy) => Error::Database(format!("{error}: {remedy}")),
                    None => Error::Unreachable(error.to_string()),
                })?
            }
        };
        Ok(self.session.insert(session))
    }

    fn is_one(&mut self, sql: &str, values: &[Value]) -> Result<bool, Error> {
        Ok(self.query(sql, values, 1)?.first().is_some_and(|row| row[0].int() == 1))
    }

    fn run(&mut self, sql: &str, values: &[Value], width: usize) -> Result<Rows, Error> {
        let mut parameters = Parameters::new();
        for value in values {
            match value {
                Value::Null => parameters.push_null(),
                other => parameters.push(other.text().as_bytes()),
            }
        }
        self.run_with(sql, &parameters, width)
    }

    /// Runs a query like [`Session::query`] whose values are encoded already.
    fn run_with(&mut self, sql: &str, parameters: &Parameters, width: usize) -> Result<Rows, Error> {
        let types = vec![0; parameters.count() as usize];
        let statement = Statement::new(sql, types, vec![Format::Text; width], [], None);
        self.session()?.push(&statement, parameters);
        Ok(self.flush(sql)?.pop().unwrap_or_default())
    }

    fn flush(&mut self, sql: &str) -> Result<Vec<Rows>, Error> {
        let Some(session) = &mut self.session else {
            return Err(Error::Database("the session is gone".into()));
        };
        let done = self.runtime.block_on(session.flush(Instant::now() + PATIENCE));
        done.map_err(|error| {
            let words = format!("{error}, in: {sql}");
            match error {
                // A value, a constraint, a bound of the database.
                PostgresError::Database { error, .. }
                    if matches!(error.sqlstate, [b'2', b'2' | b'3', ..] | [b'5', b'4', ..]) =>
                {
                    Error::Unfit(words)
                }
                _ => Error::Database(words),
            }
        })
    }
}

enum Literal<'l> {
    Cell(BulkCell),
    Words(&'l str),
}

/// PostgreSQL's text of an array; texts stand between quotes, so none is taken for anything else.
fn array<'l>(bulk: Bulk<'_>, cells: impl Iterator<Item = Literal<'l>>, out: &mut Buffer) {
    out.push(b'{');
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        match cell {
            Literal::Words(words) => quote(words.as_bytes(), out),
            Literal::Cell(BulkCell::Null) => out.extend_from_slice(b"NULL"),
            Literal::Cell(BulkCell::Text(from, to)) => quote(bulk.slice(from, to).as_bytes(), out),
            Literal::Cell(BulkCell::Real(number)) => out.extend_from_slice(format!("{number:?}").as_bytes()),
            Literal::Cell(BulkCell::Int(number)) => out.extend_from_slice(number.to_string().as_bytes()),
            Literal::Cell(BulkCell::Bool(value)) => out.extend_from_slice(value.to_string().as_bytes()),
        }
    }
    out.push(b'}');
}

/// An array of numbers.
fn numbers(ids: impl Iterator<Item = i64>) -> String {
    let ids: Vec<String> = ids.map(|it| it.to_string()).collect();
    format!("{{{}}}", ids.join(","))
}
