//! The statements of a load: one per row on SQLite, one per batch on PostgreSQL.
//!
//! **Invariant:** values are bound; only names of the layout are part of a statement.

use super::batch::{Batch, Cell, Edge, Target};
use crate::layout::Storage;
use crate::model::{FieldId, FieldKind, TypeId};
use crate::store::database::{Database, Value};
use crate::store::ddl::{list, quoted};
use crate::store::{Error, Types};
use hashbrown::HashSet;
use rusqlite::types::ToSqlOutput;
use rusqlite::{CachedStatement, Connection, ErrorCode};
use weir_postgres::Parameters;
use weir_relational::catalog::{Column, ColumnId};

/// A line and why it is not taken.
pub(crate) type Rejected = (u64, String);

/// The numbers of `ids` that a table has.
pub(crate) fn existing(
    database: &mut Database,
    table: &str,
    column: &str,
    ids: &[i64],
) -> Result<HashSet<i64>, Error> {
    match database {
        Database::Sqlite(connection) => {
            let sql = format!("SELECT 1 FROM {table} WHERE {column} = ?1");
            let mut statement = connection.prepare_cached(&sql).map_err(failed)?;
            let mut found = HashSet::new();
            for &id in ids {
                if statement.exists([id]).map_err(failed)? {
                    found.insert(id);
                }
            }
            Ok(found)
        }
        Database::Postgres(_) => {
            let sql = format!("SELECT {column} FROM {table} WHERE {column} = ANY($1::bigint[])");
            let rows = database.query(&sql, &[Value::Text(numbers(ids.iter().copied()))], 1)?;
            Ok(rows.iter().map(|row| row[0].int()).collect())
        }
    }
}

fn failed(error: rusqlite::Error) -> Error {
    Error::Database(error.to_string())
}

/// A table that objects of a type have a row in: the type's own, or a registry.
struct Rows {
    table: String,
    columns: Vec<Column>,
    /// By column: the place in the batch's row; `None` is the number.
    from: Vec<From>,
}

/// Source of a column's values.
enum From {
    Number,
    Cell(usize),
    Words(String),
}

fn tables(types: &Types, batch: &Batch) -> Vec<Rows> {
    let (model, layout, catalog) = (&types.model, &types.layout, &types.layout.relations.catalog);
    let own = catalog.table(layout.tables[batch.ty.index()]);
    let mut columns = vec![own.column(layout.ids[batch.ty.index()]).clone()];
    columns.extend(batch.columns.iter().map(|it| own.column(*it).clone()));
    let from = std::iter::once(From::Number).chain((0..batch.columns.len()).map(From::Cell)).collect();
    let mut all = vec![Rows { table: own.name.clone(), columns, from }];
    for (id, ty) in model.type_ids().zip(&model.types) {
        let Some(kind) = layout.kinds[id.index()].filter(|_| ty.members.contains(&batch.ty)) else {
            continue;
        };
        let registry = catalog.table(layout.tables[id.index()]);
        let fill = |at: usize| {
            let column = ColumnId(at as u32);
            if column == kind {
                return From::Words(model.ty(batch.ty).name.clone());
            }
            let key = model.fields_of(id).find(|it| layout.registry_keys[it.0.index()] == Some(column));
            let copy = key.and_then(|it| model.field_by_name(batch.ty, &it.1.name));
            let place = match copy.map(|it| layout.fields[it.index()]) {
                Some(Storage::Column(own)) => batch.columns.iter().position(|it| *it == own),
                Some(_) | None => None,
            };
            place.map_or(From::Number, From::Cell)
        };
        let from = (0..registry.columns.len()).map(fill).collect();
        all.push(Rows { table: registry.name.clone(), columns: registry.columns.clone(), from });
    }
    all
}

/// Writes the rows of `batch` that are not `gone`; those that break a rule are gone then.
pub(crate) fn insert(
    types: &Types,
    database: &mut Database,
    batch: &Batch,
    gone: &mut [bool],
    refused: &mut Vec<Rejected>,
) -> Result<(), Error> {
    let tables = tables(types, batch);
    match database {
        Database::Sqlite(connection) => insert_sqlite(connection, &tables, batch, gone, refused),
        Database::Postgres(_) => insert_postgres(database, &tables, batch, gone, refused),
    }
}

fn insert_sqlite(
    connection: &Connection,
    tables: &[Rows],
    batch: &Batch,
    gone: &mut [bool],
    refused: &mut Vec<Rejected>,
) -> Result<(), Error> {
    let mut statements = Vec::new();
    for rows in tables {
        let marks = vec!["?"; rows.columns.len()].join(", ");
        let names = list(rows.columns.iter().map(|it| it.name.as_str()));
        let sql = format!("INSERT INTO {} ({names}) VALUES ({marks})", quoted(&rows.table));
        statements.push(connection.prepare_cached(&sql).map_err(failed)?);
    }
    for (row, is_gone) in gone.iter_mut().enumerate().filter(|it| !*it.1) {
        for (at, rows) in tables.iter().enumerate() {
            let Err(error) = insert_row(&mut statements[at], rows, batch, row) else { continue };
            let Some(why) = broken_rule(&error) else { return Err(failed(error)) };
            for before in &tables[..at] {
                let id = quoted(&before.columns[0].name);
                let sql = format!("DELETE FROM {} WHERE {id} = ?1", quoted(&before.table));
                connection.execute(&sql, [batch.ids[row]]).map_err(failed)?;
            }
            *is_gone = true;
            refused.push((batch.lines[row], why));
            break;
        }
    }
    Ok(())
}

fn insert_row(
    statement: &mut CachedStatement<'_>,
    rows: &Rows,
    batch: &Batch,
    row: usize,
) -> rusqlite::Result<()> {
    let cells = batch.row(row);
    for (at, from) in rows.from.iter().enumerate() {
        let value = match from {
            From::Number => ToSqlOutput::from(batch.ids[row]),
            From::Words(words) => ToSqlOutput::from(words.as_str()),
            From::Cell(place) => sqlite_cell(batch, cells[*place]),
        };
        statement.raw_bind_parameter(at + 1, value)?;
    }
    statement.raw_execute().map(drop)
}

fn sqlite_cell(batch: &Batch, cell: Cell) -> ToSqlOutput<'_> {
    match cell {
        Cell::Null => ToSqlOutput::from(rusqlite::types::Null),
        Cell::Int(number) => ToSqlOutput::from(number),
        Cell::Real(number) => ToSqlOutput::from(number),
        Cell::Bool(value) => ToSqlOutput::from(value),
        Cell::Text(from, to) => ToSqlOutput::from(batch.slice(from, to)),
    }
}

/// The violated constraint of an error, in words without SQL.
fn broken_rule(error: &rusqlite::Error) -> Option<String> {
    if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
        return None;
    }
    let words = error.to_string();
    Some(match words.strip_prefix("UNIQUE constraint failed: ") {
        Some(columns) => format!("`{columns}` is taken already"),
        None => words,
    })
}

fn insert_postgres(
    database: &mut Database,
    tables: &[Rows],
    batch: &Batch,
    gone: &mut [bool],
    refused: &mut Vec<Rejected>,
) -> Result<(), Error> {
    for (at, rows) in tables.iter().enumerate() {
        let there: Vec<usize> = (0..batch.ids.len()).filter(|row| !gone[*row]).collect();
        let mut parameters = Parameters::new();
        for from in &rows.from {
            parameters.push_with(|out| {
                let cells = there.iter().map(|&row| match from {
                    From::Number => Literal::Cell(Cell::Int(batch.ids[row])),
                    From::Words(words) => Literal::Words(words),
                    From::Cell(place) => Literal::Cell(batch.row(row)[*place]),
                });
                array(batch, cells, out);
            });
        }
        let names = list(rows.columns.iter().map(|it| it.name.as_str()));
        let arrays: Vec<String> = rows
            .columns
            .iter()
            .enumerate()
            .map(|(at, it)| format!("${}::{}[]", at + 1, it.declared))
            .collect();
        let sql = format!(
            "INSERT INTO {} ({names}) SELECT * FROM unnest({}) ON CONFLICT DO NOTHING RETURNING {}",
            quoted(&rows.table),
            arrays.join(", "),
            quoted(&rows.columns[0].name)
        );
        let Database::Postgres(postgres) = &mut *database else { return Ok(()) };
        let made = postgres.run_with(&sql, &parameters, 1)?;
        if made.affected == there.len() as u64 {
            continue;
        }
        let number = |it: Option<&[u8]>| std::str::from_utf8(it?).ok()?.parse::<i64>().ok();
        // Of two lines with one number, one is made.
        let mut made: HashSet<i64> = made.iter().filter_map(|row| number(row.column(0).flatten())).collect();
        let lost: Vec<usize> = there.into_iter().filter(|&row| !made.remove(&batch.ids[row])).collect();
        for before in &tables[..at] {
            let (table, id) = (quoted(&before.table), quoted(&before.columns[0].name));
            let ids = Value::Text(numbers(lost.iter().map(|&row| batch.ids[row])));
            database.execute(&format!("DELETE FROM {table} WHERE {id} = ANY($1::bigint[])"), &[ids])?;
        }
        for row in lost {
            gone[row] = true;
            refused.push((batch.lines[row], format!("its ID or a key of `{}` is taken already", rows.table)));
        }
    }
    Ok(())
}

enum Literal<'l> {
    Cell(Cell),
    Words(&'l str),
}

/// PostgreSQL's text of an array; texts stand between quotes, so none is taken for anything else.
fn array<'l>(batch: &Batch, cells: impl Iterator<Item = Literal<'l>>, out: &mut weir_postgres::Buffer) {
    out.push(b'{');
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        match cell {
            Literal::Words(words) => quote(words, out),
            Literal::Cell(Cell::Null) => out.extend_from_slice(b"NULL"),
            Literal::Cell(Cell::Text(from, to)) => quote(batch.slice(from, to), out),
            Literal::Cell(Cell::Real(number)) => out.extend_from_slice(format!("{number:?}").as_bytes()),
            Literal::Cell(cell @ (Cell::Int(_) | Cell::Bool(_))) => {
                out.extend_from_slice(batch.words(cell).as_bytes());
            }
        }
    }
    out.push(b'}');
}

fn quote(text: &str, out: &mut weir_postgres::Buffer) {
    out.push(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// An array of numbers.
fn numbers(ids: impl Iterator<Item = i64>) -> String {
    let ids: Vec<String> = ids.map(|it| it.to_string()).collect();
    format!("{{{}}}", ids.join(","))
}

/// Adds pairs to the table of an edge; those that are there stay.
pub(crate) fn join(
    types: &Types,
    database: &mut Database,
    field: FieldId,
    pairs: &[(i64, i64)],
) -> Result<(), Error> {
    let Storage::Join { table, ours, theirs, .. } = types.layout.fields[field.index()] else { return Ok(()) };
    let table = types.layout.relations.catalog.table(table);
    let (name, ours, theirs) = (quoted(&table.name), &table.column(ours).name, &table.column(theirs).name);
    let names = list([ours.as_str(), theirs.as_str()]);
    match database {
        Database::Sqlite(connection) => {
            let sql = format!("INSERT OR IGNORE INTO {name} ({names}) VALUES (?1, ?2)");
            let mut statement = connection.prepare_cached(&sql).map_err(failed)?;
            for pair in pairs {
                statement.execute([pair.0, pair.1]).map_err(failed)?;
            }
        }
        Database::Postgres(_) => {
            let sql = format!(
                "INSERT INTO {name} ({names}) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING"
            );
            let (one, other) = (numbers(pairs.iter().map(|it| it.0)), numbers(pairs.iter().map(|it| it.1)));
            database.execute(&sql, &[Value::Text(one), Value::Text(other)])?;
        }
    }
    Ok(())
}

/// Adds the items of the batch's lists; those that are there stay.
pub(crate) fn items(types: &Types, database: &mut Database, batch: &Batch) -> Result<(), Error> {
    for item in &batch.items {
        let Storage::Values { table, owner, value, at, .. } = types.layout.fields[item.field.index()] else {
            continue;
        };
        let table = types.layout.relations.catalog.table(table);
        let column = |it: ColumnId| table.column(it).name.as_str();
        let names = list([Some(owner), Some(value), at].into_iter().flatten().map(column));
        let marks = if at.is_some() { "$1, $2, $3" } else { "$1, $2" };
        let sql =
            format!("INSERT INTO {} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING", quoted(&table.name));
        let mut values = vec![Value::Int(batch.ids[item.row as usize]), bound(batch, item.value)];
        values.extend(at.map(|_| bound(batch, item.at)));
        database.execute(&sql, &values)?;
    }
    Ok(())
}

fn bound(batch: &Batch, cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Int(number) => Value::Int(number),
        Cell::Real(number) => Value::Real(number),
        Cell::Bool(value) => Value::Text(value.to_string()),
        Cell::Text(from, to) => Value::Text(batch.slice(from, to).to_owned()),
    }
}

/// A field as the table of what waits calls it.
pub(crate) fn field_name(types: &Types, id: FieldId) -> String {
    let field = types.model.field(id);
    format!("{}.{}", types.model.ty(field.owner).name, field.name)
}

/// Keeps edges whose other objects are not there yet.
pub(crate) fn wait(
    types: &Types,
    database: &mut Database,
    (table, names): (&str, &[String]),
    batch: &Batch,
    edges: &[Edge],
) -> Result<(), Error> {
    let sql = format!(
        "INSERT INTO {table} (field, owner, target, key_field, key_value, file, line) VALUES ($1, $2, $3, $4, $5, $6, $7)"
    );
    for edge in edges {
        let (target, key, value) = match edge.to {
            Target::Id(id) => (Value::Int(id), Value::Null, Value::Null),
            Target::Key(field, cell) => (
                Value::Null,
                types.model.field(field).name.as_str().into(),
                batch.words(cell).as_str().into(),
            ),
        };
        let (file, line) = super::sink::place(names, batch.lines[edge.row as usize]);
        let values = [
            field_name(types, edge.field).as_str().into(),
            batch.ids[edge.row as usize].into(),
            target,
            key,
            value,
            file.into(),
            Value::Int(line as i64),
        ];
        database.execute(&sql, &values)?;
    }
    Ok(())
}

/// The type an edge leads to.
pub(crate) fn target_type(types: &Types, field: FieldId) -> Option<TypeId> {
    match types.model.field(field).kind {
        FieldKind::Edge { to, .. } => Some(to),
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
    }
}
