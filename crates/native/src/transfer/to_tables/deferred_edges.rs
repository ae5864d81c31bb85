//! Edges that had to wait until all objects were read.
//!
//! Edges that name their target by a key get its number; edges without a target are rejected with their line; the others are
//! written set-wise where the layout stores them.
//!
//! **Invariant:** the edges of one field are settled and forgotten in one transaction.
//!
//! **Cost:** some statements for each field, linear in its edges but for the indexes they are looked up in.

use super::unknown;
use crate::layout::{IndexKind, Storage};
use crate::model::{FieldId, FieldKind, Scalar, TypeId, TypeKind};
use crate::store::database::{Database, QueryRows, Value};
use crate::store::ddl::quote_identifier;
use crate::store::{Error, Types};
use crate::transfer::edge_fields::{field_name, is_mutual, target_type};
use crate::transfer::reject::{Reject, RejectKind};
use weir_relational::catalog::{ColumnId, TableId};

/// Settles all edges that wait and gives those that lead nowhere.
pub(crate) fn write_deferred_edges(
    types: &Types,
    database: &mut Database,
    edges: &str,
) -> Result<Vec<Reject>, Error> {
    for (field, name) in waiting(types, database, edges)? {
        if let Some(field) = field.filter(|it| is_mutual(types, *it)) {
            mirror(types, database, edges, field, &name)?;
        }
    }
    let mut rejects = Vec::new();
    for (field, name) in waiting(types, database, edges)? {
        database.begin()?;
        let done = match field {
            Some(field) => settle_field(types, database, edges, field, &name),
            None => Ok(Vec::new()),
        };
        let done = done.and_then(|found| {
            let settled = format!("DELETE FROM {edges} WHERE field = $1");
            database.execute(&settled, &[name.as_str().into()])?;
            database.commit()?;
            Ok(found)
        });
        match done {
            Ok(found) => rejects.extend(found),
            Err(error) => {
                database.rollback();
                return Err(error);
            }
        }
    }
    Ok(rejects)
}

/// The fields whose edges wait, with their names.
fn waiting(
    types: &Types,
    database: &mut Database,
    edges: &str,
) -> Result<Vec<(Option<FieldId>, String)>, Error> {
    let rows = database.query(&format!("SELECT DISTINCT field FROM {edges} ORDER BY 1"), &[], 1)?;
    let model = &types.model;
    // Names with a mark are no edges, but required edges to check, or counts.
    let names = rows.iter().map(|it| it[0].text()).filter(|it| !it.ends_with(['!', unknown::MARK]));
    let find = |name: String| {
        let field = name
            .split_once('.')
            .and_then(|(owner, field)| model.field_by_name(model.type_by_name(owner)?, field));
        (field, name)
    };
    Ok(names.map(find).collect())
}

/// Adds the other side of edges that are their own other side: one line is enough for both. Each line adds its own, so that both sides
/// have the same place in the order of lines.
fn mirror(
    types: &Types,
    database: &mut Database,
    edges: &str,
    field: FieldId,
    name: &str,
) -> Result<(), Error> {
    let Some(to) = target_type(types, field) else { return Ok(()) };
    resolve_keys(types, database, edges, to, &name.into())?;
    let model = &types.model;
    for &member in &model.ty(to).members {
        let Some(copy) = model.field_by_name(member, &model.field(field).name) else { continue };
        let (table, id) = id_column(types, member);
        let sql = format!(
            "INSERT INTO {edges} (field, owner, target, file, line) SELECT $2, e.target, e.owner, e.file, e.line FROM {edges} e \
             WHERE e.field = $1 AND EXISTS (SELECT 1 FROM {table} t WHERE t.{id} = e.target) AND NOT EXISTS \
             (SELECT 1 FROM {edges} o WHERE o.field = $2 AND o.owner = e.target AND o.target = e.owner \
             AND (o.file, o.line) = (e.file, e.line))"
        );
        database.execute(&sql, &[name.into(), field_name(types, copy).as_str().into()])?;
    }
    Ok(())
}

/// The table of `ty` and its column of object numbers, both quoted.
pub(super) fn id_column(types: &Types, ty: TypeId) -> (String, String) {
    let table = types.layout.relations.catalog.table(types.layout.tables[ty.index()]);
    (quote_identifier(&table.name), quote_identifier(&table.column(types.layout.ids[ty.index()]).name))
}

fn settle_field(
    types: &Types,
    database: &mut Database,
    edges: &str,
    field: FieldId,
    name: &str,
) -> Result<Vec<Reject>, Error> {
    let Some(to) = target_type(types, field) else { return Ok(Vec::new()) };
    let it: Value = name.into();
    resolve_keys(types, database, edges, to, &it)?;
    let owner = types.model.field(field).owner;
    let (table, id) = id_column(types, owner);
    let unowned = format!("field = $1 AND NOT EXISTS (SELECT 1 FROM {table} t WHERE t.{id} = {edges}.owner)");
    let owner = &types.model.ty(owner).name;
    let mut rejects = reject(database, edges, &unowned, &it, |row| {
        format!("{name}: there is no `{owner}` {:#x}", row[5].int())
    })?;
    let (table, id) = id_column(types, to);
    let nowhere = format!(
        "field = $1 AND (target IS NULL OR NOT EXISTS (SELECT 1 FROM {table} t WHERE t.{id} = {edges}.target))"
    );
    let target = &types.model.ty(to).name;
    rejects.extend(reject(database, edges, &nowhere, &it, |row| match row[3].text().as_str() {
        "" => format!("{name}: there is no `{target}` {:#x}", row[2].int()),
        key => format!("{name}: there is no `{target}` with {} {key:?}", row[4].text()),
    })?);
    match types.layout.fields[field.index()] {
        Storage::Join { table, ours, theirs, .. } => {
            let table = types.layout.relations.catalog.table(table);
            let names = [ours, theirs].map(|it| quote_identifier(&table.column(it).name)).join(", ");
            let sql = format!(
                "INSERT INTO {} ({names}) SELECT owner, target FROM {edges} WHERE field = $1 ON CONFLICT DO NOTHING",
                quote_identifier(&table.name)
            );
            database.execute(&sql, &[it])?;
        }
        Storage::ToOne { column, .. } => {
            let owner = types.model.field(field).owner;
            let table = types.layout.tables[owner.index()];
            let to = EdgeColumn { ty: owner, table, column };
            rejects.extend(put(types, database, edges, to, &it, Ends { row: "owner", value: "target" })?);
        }
        Storage::ToOneBack { .. } | Storage::ToMany { .. } => {
            for to in partners(types, field) {
                rejects.extend(put(types, database, edges, to, &it, Ends { row: "target", value: "owner" })?);
            }
        }
        _ => {}
    }
    Ok(rejects)
}

/// A column that has the edges of the objects of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeColumn {
    ty: TypeId,
    pub(super) table: TableId,
    pub(super) column: ColumnId,
}

/// The ends of waiting edges: whose row is written, and whose number is the value.
#[derive(Clone, Copy, Debug)]
struct Ends<'e> {
    row: &'e str,
    value: &'e str,
}

/// The columns of the objects at the other end of `field` that have its edges.
pub(super) fn partners(types: &Types, field: FieldId) -> Vec<EdgeColumn> {
    let model = &types.model;
    let FieldKind::Edge { inverse: Some(other), .. } = model.field(field).kind else { return Vec::new() };
    let other = model.field(other);
    let owner = model.ty(other.owner);
    let members = match owner.kind {
        TypeKind::Interface => owner.members.clone(),
        TypeKind::Object | TypeKind::Union => vec![other.owner],
    };
    let place = |member: TypeId| {
        let copy = model.field_by_name(member, &other.name)?;
        let column = types.layout.fields[copy.index()].to_one()?;
        Some(EdgeColumn { ty: member, table: types.layout.tables[member.index()], column })
    };
    members.into_iter().filter_map(place).collect()
}

fn resolve_keys(
    types: &Types,
    database: &mut Database,
    edges: &str,
    to: TypeId,
    field: &Value,
) -> Result<(), Error> {
    let sql = format!("SELECT DISTINCT key_field FROM {edges} WHERE field = $1 AND key_field IS NOT NULL");
    for row in database.query(&sql, std::slice::from_ref(field), 1)? {
        let key = row[0].text();
        let Some(id) = types.model.field_by_name(to, &key) else { continue };
        let column = match types.layout.fields[id.index()] {
            Storage::Column(column) => types.layout.registry_keys[id.index()].unwrap_or(column),
            _ => continue,
        };
        let table = types.layout.relations.catalog.table(types.layout.tables[to.index()]);
        let value = match types.model.field(id).kind {
            FieldKind::Scalar(Scalar::Int | Scalar::Int64) => format!("CAST({edges}.key_value AS bigint)"),
            FieldKind::Scalar(_) | FieldKind::Id | FieldKind::Enum(_) | FieldKind::Edge { .. } => {
                format!("{edges}.key_value")
            }
        };
        let (name, number) = id_column(types, to);
        let sql = format!(
            "UPDATE {edges} SET target = (SELECT t.{number} FROM {name} t WHERE t.{} = {value}) \
             WHERE field = $1 AND key_field = $2",
            quote_identifier(&table.column(column).name)
        );
        database.execute(&sql, &[field.clone(), key.as_str().into()])?;
    }
    Ok(())
}

/// Takes out the edges for which `condition` holds and says why in the words of `why`.
fn reject(
    database: &mut Database,
    edges: &str,
    condition: &str,
    field: &Value,
    why: impl Fn(&[Value]) -> String,
) -> Result<Vec<Reject>, Error> {
    let sql = format!(
        "SELECT file, line, target, key_value, key_field, owner FROM {edges} WHERE {condition} ORDER BY file, line, target"
    );
    let rows: QueryRows = database.query(&sql, std::slice::from_ref(field), 6)?;
    if !rows.is_empty() {
        database.execute(&format!("DELETE FROM {edges} WHERE {condition}"), std::slice::from_ref(field))?;
    }
    let one = |row: &Vec<Value>| Reject {
        file: row[0].text(),
        line: row[1].int() as u64,
        part: RejectKind::Edge,
        why: why(row),
    };
    Ok(rows.iter().map(one).collect())
}

/// Writes edges into a column: that of the row in `edges` gets the number that is the value.
fn put(
    types: &Types,
    database: &mut Database,
    edges: &str,
    to: EdgeColumn,
    field: &Value,
    ends: Ends<'_>,
) -> Result<Vec<Reject>, Error> {
    let Ends { row, value } = ends;
    let table = types.layout.relations.catalog.table(to.table);
    let name = quote_identifier(&table.name);
    let column = quote_identifier(&table.column(to.column).name);
    let (_, id) = id_column(types, to.ty);
    let is_unique = types
        .layout
        .indexes
        .iter()
        .any(|it| it.kind == IndexKind::Unique && it.table == to.table && it.columns == [to.column]);
    index_ends(database, edges)?;
    // All edges are judged against the same state: an edge and its other side are accepted or refused together.
    let mut taken = format!(
        "EXISTS (SELECT 1 FROM {name} t WHERE t.{id} = {edges}.{row} AND t.{column} <> {edges}.{value}) OR {}",
        conflicts_with_earlier(edges, row, value)
    );
    if is_unique {
        taken = format!(
            "{taken} OR EXISTS (SELECT 1 FROM {name} t WHERE t.{column} = {edges}.{value} AND t.{id} <> {edges}.{row}) OR {}",
            conflicts_with_earlier(edges, value, row)
        );
    }
    let has_one = if is_unique || row == "target" { 2 } else { 5 };
    let mut rejects = reject(database, edges, &format!("field = $1 AND ({taken})"), field, |edge| {
        format!("{}: {:#x} has another already", field.text(), edge[has_one].int())
    })?;
    // Both sides of one edge are one line.
    rejects.dedup_by(|it, before| (&it.file, it.line) == (&before.file, before.line));
    let sql = format!(
        "UPDATE {name} SET {column} = e.{value} FROM {edges} e WHERE e.field = $1 AND e.{row} = {name}.{id}"
    );
    database.execute(&sql, std::slice::from_ref(field))?;
    Ok(rejects)
}

/// Makes the edges of an object be found at once, from either end: each of many is compared with those of its object.
fn index_ends(database: &mut Database, edges: &str) -> Result<(), Error> {
    for end in ["owner", "target"] {
        database
            .execute(&format!("CREATE INDEX IF NOT EXISTS {edges}_{end} ON {edges} (field, {end})"), &[])?;
    }
    Ok(())
}

/// SQL condition: an edge that was first read before this one was gives the same `end` another object at its `other` end.
fn conflicts_with_earlier(edges: &str, end: &str, other: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM {edges} o WHERE o.field = {edges}.field AND o.{end} = {edges}.{end} \
         AND o.{other} <> {edges}.{other} AND (o.file, o.line) < ({edges}.file, {edges}.line) AND NOT EXISTS \
         (SELECT 1 FROM {edges} s WHERE s.field = o.field AND s.{end} = o.{end} AND s.{other} = {edges}.{other} \
         AND (s.file, s.line) < (o.file, o.line)))"
    )
}
