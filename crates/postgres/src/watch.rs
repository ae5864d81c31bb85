//! Detects changes of a database's schema since it was read.
//!
//! One statement sums up the system catalogs of the schemas that are served, and what it says is compared. Versions of
//! rows (`xmin`) are summed where only DDL writes them; of relations, which `TRUNCATE` and `REFRESH MATERIALIZED VIEW`
//! write too, what is served is hashed. A difference may come without cause, which costs a reload; it never goes away by
//! itself. On Citus the placements of tables are summed too: distributing a table changes no other catalog that is.
//!
//! **Invariant:** the sum is older than what was read after it, so no change falls between.
//!
//! **Cost:** no lock, one connection for each watch; the server walks the rows of the catalogs once.

use crate::address::Settings;
use crate::error::Error;
use crate::introspect::schemas_array;
use crate::pool::Pool;
use crate::protocol::rows::Rows;
use crate::protocol::statement::{Format, Parameters, Statement};
use std::sync::{Arc, LazyLock};
use std::time::Instant;
use weir_relational::catalog::postgres_types::oid;

static SUM: LazyLock<Arc<Statement>> = LazyLock::new(|| {
    Statement::new(include_str!("watch.sql"), [oid::TEXT_ARRAY], [Format::Text], [oid::TEXT], None)
});

/// The sum of the definitions and of the placements of tables on shards.
static SUM_OF_SHARDS: LazyLock<Arc<Statement>> = LazyLock::new(|| {
    let sql = concat!(
        "SELECT (",
        include_str!("watch.sql"),
        ") || (SELECT concat_ws(':', ' 12', count(*), sum(xmin::text::numeric)) FROM pg_dist_partition)"
    );
    Statement::new(sql, [oid::TEXT_ARRAY], [Format::Text], [oid::TEXT], None)
});

static HAS_SHARDS: LazyLock<Arc<Statement>> = LazyLock::new(|| {
    let sql = "SELECT CASE WHEN to_regclass('pg_dist_partition') IS NOT NULL THEN 'true' END";
    Statement::new(sql, [], [], [oid::TEXT], None)
});

/// A checksum of the schema, taken when the watch began, and the connection to compare it.
#[derive(Debug)]
pub struct Watch {
    pool: Arc<Pool>,
    schemas: Parameters,
    statement: &'static Arc<Statement>,
    sum: Box<[u8]>,
}

impl Watch {
    /// Takes the sum, before the catalog is read.
    /// # Errors
    /// The database cannot be asked, or has no such catalogs.
    pub async fn begin(settings: &Settings, schemas: &[String], deadline: Instant) -> Result<Self, Error> {
        let mut settings = settings.clone();
        settings.limits.lanes = Some(1);
        settings.replicas.clear();
        let mut parameters = Parameters::new();
        parameters.push(schemas_array(schemas).as_bytes());
        // Connections belong to the runtime that made them, which is not the one that looks later.
        let first = Pool::new(settings.clone());
        let has_shards = !ask(&first, &HAS_SHARDS, &Parameters::new(), deadline).await?.is_empty();
        let statement = if has_shards { &*SUM_OF_SHARDS } else { &*SUM };
        let sum = ask(&first, statement, &parameters, deadline).await?;
        Ok(Self { pool: Pool::new(settings), schemas: parameters, statement, sum })
    }

    /// True if the schema has changed since the watch began.
    /// # Errors
    /// The database cannot be asked.
    pub async fn is_changed(&self, deadline: Instant) -> Result<bool, Error> {
        Ok(ask(&self.pool, self.statement, &self.schemas, deadline).await? != self.sum)
    }
}

/// The one value that `statement` gives; empty for null.
async fn ask(
    pool: &Pool,
    statement: &Arc<Statement>,
    parameters: &Parameters,
    deadline: Instant,
) -> Result<Box<[u8]>, Error> {
    let rows: Rows = pool.read(statement, parameters.clone(), deadline).await?;
    let value = rows.iter().next().and_then(|it| it.column(0).flatten());
    Ok(value.unwrap_or_default().into())
}
