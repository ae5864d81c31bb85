//! Reads the catalog of a database, over a connection of its own.
//!
//! **Invariant:** all is of one moment: one transaction that sees one state.

use super::ReadTables;
use crate::contents::{EnumTable, NamedTable};
use std::sync::Arc;
use std::time::Instant;
use weir_postgres::address::CallerSettings;
use weir_postgres::error::Error;
use weir_postgres::introspect::grants::{GRANTS, RoleGrant, grant};
use weir_postgres::introspect::setting_readers::{SETTING_READERS, judge_reader};
use weir_postgres::introspect::{Functions, Shards, assemble, questions, schemas_array};
use weir_postgres::pool::Pool;
use weir_postgres::rows::Rows;
use weir_postgres::session::Purpose;
use weir_postgres::statement::{Parameters, Statement};
use weir_postgres::transaction::Transaction;
use weir_relational::catalog::postgres_types::{Types, oid};
use weir_relational::catalog::{Catalog, EnumTableValue, Table, Warning};
use weir_relational::quoting::quote_identifier;

/// Reads tables, types and keys of the schemas of `tables`, and functions if the flavour lists them as PostgreSQL does.
/// # Errors
/// The database cannot be reached.
pub(crate) async fn read(
    pool: &Pool,
    tables: ReadTables<'_>,
    deadline: Instant,
) -> Result<(Catalog, Types, Vec<Warning>), Error> {
    let mut session = pool.session(Purpose::Read, deadline).await?;
    let facts = pool.facts();
    let flavour = facts.as_ref().map(|it| it.flavour).unwrap_or_default();
    let shards = if facts.is_some_and(|it| it.tells_shards) { Shards::Read } else { Shards::None };
    let functions = if flavour.abilities().lists_functions { Functions::Read } else { Functions::Ignored };
    session.begin(Transaction::Snapshot);
    let mut parameters = Parameters::new();
    parameters.push(schemas_array(tables.schemas).as_bytes());
    for question in questions(functions, shards, tables.relations) {
        session.push(&text_statement(question, &[oid::TEXT_ARRAY]), &parameters);
    }
    session.commit();
    let answers = session.flush(deadline).await?;
    let rows =
        |at: usize| answers.get(at).map(Rows::iter).into_iter().flatten().map(|row| row.columns()).collect();
    Ok(assemble([rows(0), rows(1), rows(2), rows(3)]))
}

/// Rights on the tables of `schemas` of the roles that the login may take.
/// # Errors
/// The database cannot be reached.
pub(crate) async fn grants(
    pool: &Pool,
    schemas: &[String],
    deadline: Instant,
) -> Result<Vec<RoleGrant>, Error> {
    let mut parameters = Parameters::new();
    parameters.push(schemas_array(schemas).as_bytes());
    let answer = pool.read(&text_statement(GRANTS, &[oid::TEXT_ARRAY]), parameters, deadline).await?;
    Ok(answer.iter().map(|row| grant(row.columns())).collect())
}

/// Warnings about functions, policies and views that read a setting which is not set when they run. A database with another catalog
/// has none.
pub(crate) async fn setting_readers(
    pool: &Pool,
    caller: &CallerSettings,
    schemas: &[String],
    deadline: Instant,
) -> Vec<Warning> {
    if !pool.facts().is_some_and(|it| it.flavour.abilities().lists_functions) {
        return Vec::new();
    }
    let mut parameters = Parameters::new();
    parameters.push(schemas_array(schemas).as_bytes());
    let statement = text_statement(SETTING_READERS, &[oid::TEXT_ARRAY]);
    match pool.read(&statement, parameters, deadline).await {
        Ok(answer) => answer.iter().flat_map(|row| judge_reader(row.columns(), caller)).collect(),
        Err(error) => {
            tracing::info!(%error, "the readers of settings cannot be listed");
            Vec::new()
        }
    }
}

/// The values of the tables that are called enums.
pub(crate) async fn enums(
    pool: &Pool,
    catalog: &Catalog,
    tables: &[NamedTable<'_>],
    deadline: Instant,
) -> Vec<EnumTable> {
    let mut out = Vec::new();
    for table in tables.iter().filter_map(|it| catalog.find(it.schema, it.name)) {
        let table = catalog.table(table);
        out.push(EnumTable::new(table, enum_values(pool, table, deadline).await));
    }
    out
}

async fn enum_values(pool: &Pool, table: &Table, deadline: Instant) -> Result<Vec<EnumTableValue>, String> {
    let key = table.primary_key.as_ref().and_then(|key| key.columns.first().copied());
    let key = key.ok_or("it has no primary key")?;
    let comment = table.columns.iter().find(|column| column.name != table.column(key).name);
    let comment = comment
        .map_or("''".into(), |column| format!("coalesce({}::text, '')", quote_identifier(&column.name)));
    let key = quote_identifier(&table.column(key).name);
    let name = format!("{}.{}", quote_identifier(&table.schema), quote_identifier(&table.name));
    let sql = format!("SELECT {key}::text, {comment} FROM {name} WHERE {key} IS NOT NULL ORDER BY 1");
    let answer = pool.read(&text_statement(sql, &[]), Parameters::new(), deadline).await;
    let answer = answer.map_err(|error| error.to_string())?;
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let value = |row: weir_postgres::Row<'_>| {
        let mut columns = row.columns();
        let value = columns.next().flatten();
        let comment = columns.next().flatten();
        EnumTableValue { value: text(value), comment: text(comment) }
    };
    Ok(answer.iter().map(value).collect())
}

/// A statement whose answer is text.
fn text_statement(sql: impl Into<Box<str>>, parameters: &[u32]) -> Arc<Statement> {
    Statement::new(sql, parameters, [], [], None)
}
