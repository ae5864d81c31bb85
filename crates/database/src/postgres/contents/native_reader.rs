//! Looks at native queries: whether the database takes them, and gives the columns that they say.

use crate::contents::{CheckedNative, NativeStatement, Natives, missing_column};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use weir_postgres::address::Settings;
use weir_postgres::error::Error;
use weir_postgres::introspect::column_type;
use weir_postgres::pool::Pool;
use weir_postgres::script::describe::{Described, describe};
use weir_postgres::statement::{Format, Parameters, Statement};
use weir_relational::catalog::CodePart;
use weir_relational::catalog::postgres_types::{Types, oid};

/// Statements that change data when they are part of another.
const CHANGES: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "MERGE"];

/// Reads the types that `statements` name, and checks them unless `is_unchecked`.
/// # Errors
/// The database cannot be reached.
pub(crate) async fn read(
    pool: &Pool,
    settings: &Settings,
    types: &Types,
    (statements, is_unchecked): (&[NativeStatement<'_>], bool),
    deadline: Instant,
) -> Result<Natives, Error> {
    let mut natives = Natives::default();
    let names: BTreeSet<&str> = statements
        .iter()
        .flat_map(|it| it.arguments.iter().map(|it| it.1).chain(it.columns.iter().map(|it| it.1.as_str())))
        .collect();
    for name in names {
        let oid = type_number(pool, name, deadline).await?;
        natives.types.insert(name.to_owned(), (oid, column_type(types, oid)));
    }
    let asked = statements.iter().map(|it| {
        let types = it.arguments.iter().map(|it| natives.types[it.1].0).collect();
        (it.select_all(|place| format!("${place}")), types)
    });
    let asked: Vec<_> = if is_unchecked { Vec::new() } else { asked.collect() };
    let described = describe(settings, &asked, deadline).await?;
    for (at, statement) in statements.iter().enumerate() {
        let fault = described.get(at).and_then(|it| fault(statement, it, &natives.types, types));
        let is_volatile = is_volatile(pool, statement, deadline).await?;
        natives.checked.push(CheckedNative { name: statement.name.to_owned(), is_volatile, fault });
    }
    Ok(natives)
}

/// The number of the type with this name; 0 if there is none.
async fn type_number(pool: &Pool, name: &str, deadline: Instant) -> Result<u32, Error> {
    let sql = "SELECT to_regtype($1)::oid::text";
    let statement = Statement::new(sql, [oid::TEXT], [Format::Text], [], None);
    let mut parameters = Parameters::new();
    parameters.push(name.as_bytes());
    match pool.read(&statement, parameters, deadline).await {
        Ok(rows) => {
            let row = rows.iter().next();
            let text = row.as_ref().and_then(|it| it.column(0).flatten()).map(String::from_utf8_lossy);
            Ok(text.and_then(|it| it.parse().ok()).unwrap_or(0))
        }
        // A text that is no name of a type at all.
        Err(error) if error.sqlstate().is_some() => Ok(0),
        Err(error) => Err(error),
    }
}

/// The fault of a statement of which the server says `described`.
fn fault(
    statement: &NativeStatement<'_>,
    described: &Described,
    named: &BTreeMap<String, (u32, weir_relational::catalog::ColumnType)>,
    types: &Types,
) -> Option<String> {
    let columns = match described {
        Ok(columns) => columns,
        Err(message) => return Some(message.clone()),
    };
    for (name, ty) in &statement.columns {
        let Some((_, found)) = columns.iter().find(|it| it.0 == *name) else {
            return Some(missing_column(name));
        };
        if named.get(ty).is_none_or(|it| types.base(it.0) != *found) {
            let found = types.by_oid(*found).map_or("unknown", |it| it.name.as_str());
            return Some(format!(
                "Return column '{name}' has a type mismatch. The expected type is '{ty}', but the actual type is '{found}'."
            ));
        }
    }
    None
}

/// True if the code has a word of a change, or calls something that has the name of a volatile function.
async fn is_volatile(pool: &Pool, statement: &NativeStatement<'_>, deadline: Instant) -> Result<bool, Error> {
    let mut called = Vec::new();
    for part in &statement.code {
        let CodePart::Text(text) = part else { continue };
        let mut rest = &**text;
        while let Some(start) = rest.find(|it: char| it.is_alphabetic() || it == '_') {
            rest = &rest[start..];
            let end = rest.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if CHANGES.iter().any(|it| it.eq_ignore_ascii_case(word)) {
                return Ok(true);
            }
            if after.trim_start_matches('"').trim_start().starts_with('(') {
                // A name in quotes has its own case.
                called.extend([word.to_lowercase(), word.to_owned()]);
            }
            rest = after;
        }
    }
    let sql = "SELECT 1 FROM pg_catalog.pg_proc WHERE proname = ANY ($1) AND provolatile = 'v' LIMIT 1";
    let statement = Statement::new(sql, [oid::TEXT_ARRAY], [Format::Text], [], None);
    let mut parameters = Parameters::new();
    parameters.push(weir_postgres::introspect::schemas_array(&called).as_bytes());
    Ok(pool.read(&statement, parameters, deadline).await?.iter().next().is_some())
}
