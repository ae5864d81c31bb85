//! Objects that lack a required edge when all files are read: they are accepted, counted and reported.
//!
//! A store has such objects where the other end of an edge was deleted, and Dgraph, which checks no `!` but in its mutations, exports
//! them. What they hold otherwise would be lost, and what comes out of a store could not go in again.
//!
//! A required edge may be given by its other side, so its presence is known only after the last file. Objects without it are
//! recorded with their line when they are written, and checked again at the end.
//!
//! **Cost:** a row for each object whose edge is given elsewhere; nothing for those that bring it along.

use super::deferred_edges::{id_column, partners};
use crate::layout::Storage;
use crate::model::{Field, FieldId, FieldKind, TypeId, TypeKind};
use crate::store::database::{Database, Value};
use crate::store::ddl::quote_identifier;
use crate::store::{Error, Types};
use crate::transfer::edge_fields::field_name;
use crate::transfer::file_line::DeferredTable;
use crate::transfer::parcel::{Batch, BulkCell};

/// Objects of a load that lack an edge that has a `!`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// The edge, as `Dish.cook`.
    pub field: String,
    /// Number of objects.
    pub objects: u64,
    /// The file of the first.
    pub file: String,
    /// The line of the first.
    pub line: u64,
}

/// Name of the table of objects whose edge has to be checked.
fn edge_key(types: &Types, field: FieldId) -> String {
    format!("{}!", field_name(types, field))
}

/// Required to-one edges of objects of type `ty`.
fn required_edges(types: &Types, ty: TypeId) -> impl Iterator<Item = (FieldId, &Field)> {
    let is_edge = |field: &Field| matches!(field.kind, FieldKind::Edge { .. });
    types.model.fields_of(ty).filter(move |(_, it)| it.is_required && !it.is_list && is_edge(it))
}

/// Notes the objects of `batch` that do not have their edges yet.
pub(crate) fn note(
    types: &Types,
    database: &mut Database,
    deferred: DeferredTable<'_>,
    batch: &Batch,
    gone: &[bool],
) -> Result<(), Error> {
    let sql = format!("INSERT INTO {} (field, owner, file, line) VALUES ($1, $2, $3, $4)", deferred.name);
    for (field, _) in required_edges(types, batch.ty) {
        let column = types.layout.fields[field.index()].to_one();
        let at = column.and_then(|column| batch.columns.iter().position(|it| *it == column));
        let name = edge_key(types, field);
        for row in (0..batch.ids.len()).filter(|row| !gone[*row]) {
            if at.is_some_and(|at| batch.row(row)[at] != BulkCell::Null) {
                continue;
            }
            let from = deferred.find_line(batch.lines[row]);
            let values =
                [name.as_str().into(), batch.ids[row].into(), from.file.into(), Value::Int(from.line as i64)];
            database.execute(&sql, &values)?;
        }
    }
    Ok(())
}

/// Counts the objects that lack an edge.
pub(crate) fn count(types: &Types, database: &mut Database, table: &str) -> Result<Vec<Lacking>, Error> {
    let objects = types.model.type_ids().filter(|it| types.model.ty(*it).kind == TypeKind::Object);
    let mut found = Vec::new();
    for (field, _) in objects.flat_map(|ty| required_edges(types, ty)) {
        let sql = format!(
            "SELECT count(*) OVER (), e.file, e.line FROM {table} e WHERE e.field = $1 AND NOT {} ORDER BY 2, 3 LIMIT 1",
            is_given(types, field, "e.owner")
        );
        let first = database.query(&sql, &[edge_key(types, field).as_str().into()], 3)?;
        found.extend(first.iter().map(|row| Lacking {
            field: field_name(types, field),
            objects: row[0].int() as u64,
            file: row[1].text(),
            line: row[2].int() as u64,
        }));
    }
    Ok(found)
}

/// SQL condition: the object with the number `id` has the edge `field`.
fn is_given(types: &Types, field: FieldId, id: &str) -> String {
    let owner = types.model.field(field).owner;
    if let Storage::ToOne { column, .. } = types.layout.fields[field.index()] {
        let own = types.layout.relations.catalog.table(types.layout.tables[owner.index()]);
        let (name, number) = id_column(types, owner);
        let column = quote_identifier(&own.column(column).name);
        return format!("EXISTS (SELECT 1 FROM {name} t WHERE t.{number} = {id} AND t.{column} IS NOT NULL)");
    }
    let any = partners(types, field).into_iter().map(|it| {
        let table = types.layout.relations.catalog.table(it.table);
        let name = quote_identifier(&table.name);
        let column = quote_identifier(&table.column(it.column).name);
        format!("EXISTS (SELECT 1 FROM {name} t WHERE t.{column} = {id})")
    });
    format!("({})", any.chain(["FALSE".to_owned()]).collect::<Vec<_>>().join(" OR "))
}
