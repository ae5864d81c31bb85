//! Objects that lack an edge with `!` when all is read: they are not taken, and neither is what cannot be without them.
//!
//! Whether an edge is there is known when the last file is read, since its other side may give it. Objects that have none when
//! they are written are noted with their line, and looked at again at the end.
//!
//! **Invariant:** a load leaves no object of its own without an edge that has to be there.
//!
//! **Cost:** a row for each object whose edge is given elsewhere; nothing for those that bring it along.

use super::batch::{Batch, Cell};
use super::rows::{field_name, target_type};
use super::settle::{known, partners};
use super::sink::{Reject, place};
use crate::layout::Storage;
use crate::model::{Field, FieldId, FieldKind, TypeId, TypeKind};
use crate::store::database::{Database, Value};
use crate::store::ddl::quoted;
use crate::store::{Error, Types};
use crate::write::facts::Facts;

/// What the table calls objects whose edge has to be looked at.
fn lacking(types: &Types, field: FieldId) -> String {
    format!("{}!", field_name(types, field))
}

/// What the table calls objects of a type that are not taken.
fn refused(types: &Types, ty: TypeId) -> String {
    types.model.ty(ty).name.clone()
}

/// The edges to one object that every object of `ty` has to have.
fn required(types: &Types, ty: TypeId) -> impl Iterator<Item = (FieldId, &Field)> {
    let is_edge = |field: &Field| matches!(field.kind, FieldKind::Edge { .. });
    types.model.fields_of(ty).filter(move |(_, it)| it.is_required && !it.is_list && is_edge(it))
}

/// Notes the objects of `batch` that do not have their edges yet.
pub(super) fn note(
    types: &Types,
    database: &mut Database,
    (table, names): (&str, &[String]),
    batch: &Batch,
    gone: &[bool],
) -> Result<(), Error> {
    let sql = format!("INSERT INTO {table} (field, owner, file, line) VALUES ($1, $2, $3, $4)");
    for (field, _) in required(types, batch.ty) {
        let at = match types.layout.fields[field.index()] {
            Storage::ToOne { column, .. } => batch.columns.iter().position(|it| *it == column),
            Storage::Id(_)
            | Storage::Column(_)
            | Storage::Instant { .. }
            | Storage::Point { .. }
            | Storage::Shape { .. }
            | Storage::Values { .. }
            | Storage::ToOneBack { .. }
            | Storage::ToMany { .. }
            | Storage::Join { .. } => None,
        };
        let name = lacking(types, field);
        for row in (0..batch.ids.len()).filter(|row| !gone[*row]) {
            if at.is_some_and(|at| batch.row(row)[at] != Cell::Null) {
                continue;
            }
            let (file, line) = place(names, batch.lines[row]);
            let values = [name.as_str().into(), batch.ids[row].into(), file.into(), Value::Int(line as i64)];
            database.execute(&sql, &values)?;
        }
    }
    Ok(())
}

/// Takes out the objects that lack an edge, and those that need them, and says why.
pub(super) fn refuse(types: &Types, database: &mut Database, table: &str) -> Result<Vec<Reject>, Error> {
    let objects: Vec<TypeId> =
        types.model.type_ids().filter(|it| types.model.ty(*it).kind == TypeKind::Object).collect();
    database.begin()?;
    let done = find(types, database, table, &objects).and_then(|rejects| {
        if !rejects.is_empty() {
            let facts = Facts::new(&types.model, &types.layout);
            objects.iter().try_for_each(|ty| delete(types, database, table, &facts, *ty))?;
        }
        database.commit()?;
        Ok(rejects)
    });
    if done.is_err() {
        database.rollback();
    }
    done
}

/// Writes down all objects that are not taken.
fn find(
    types: &Types,
    database: &mut Database,
    table: &str,
    objects: &[TypeId],
) -> Result<Vec<Reject>, Error> {
    let mut rejects = Vec::new();
    // What is asked below looks for few among many, and no statistics say so.
    database.execute(&format!("CREATE INDEX IF NOT EXISTS {table}_owners ON {table} (field, owner)"), &[])?;
    let fields: Vec<(TypeId, FieldId)> =
        objects.iter().flat_map(|ty| required(types, *ty).map(|it| (*ty, it.0))).collect();
    for (ty, field) in &fields {
        let Some(to) = target_type(types, *field) else { continue };
        let why = format!("`{}` needs a `{}`", types.model.field(*field).name, types.model.ty(to).name);
        let (given, note) = (is_given(types, *field, "e.owner"), lacking(types, *field));
        let some =
            format!("SELECT e.owner, e.file, e.line FROM {table} e WHERE e.field = $1 AND NOT {given}");
        rejects.extend(take(database, table, &refused(types, *ty), &some, &note, &|_| why.clone())?);
    }
    if rejects.is_empty() {
        return Ok(rejects);
    }
    // What needs one of those goes with it, and so on.
    loop {
        let before = rejects.len();
        for (ty, field) in &fields {
            let name = &types.model.field(*field).name;
            let why = |id: i64| {
                format!("`{}` {id:#x} goes with it, which has it as its `{name}`", types.model.ty(*ty).name)
            };
            for (holder, some) in needing(types, table, *field) {
                let gone = refused(types, holder);
                rejects.extend(take(database, table, &refused(types, *ty), &some, &gone, &why)?);
            }
        }
        if rejects.len() == before {
            return Ok(rejects);
        }
    }
}

/// Whether the object with the number `id` has the edge `field`, as SQL.
fn is_given(types: &Types, field: FieldId, id: &str) -> String {
    let owner = types.model.field(field).owner;
    if let Storage::ToOne { column, .. } = types.layout.fields[field.index()] {
        let own = types.layout.sql.catalog.table(types.layout.tables[owner.index()]);
        let (name, number) = known(types, owner);
        let column = quoted(&own.column(column).name);
        return format!("EXISTS (SELECT 1 FROM {name} t WHERE t.{number} = {id} AND t.{column} IS NOT NULL)");
    }
    let any = partners(types, field).into_iter().map(|(_, (table, column))| {
        let table = types.layout.sql.catalog.table(table);
        let (name, column) = (quoted(&table.name), quoted(&table.column(column).name));
        format!("EXISTS (SELECT 1 FROM {name} t WHERE t.{column} = {id})")
    });
    format!("({})", any.chain(["FALSE".to_owned()]).collect::<Vec<_>>().join(" OR "))
}

/// The objects whose edge `field` leads to one that is not taken: the type of that one, and what finds them.
fn needing(types: &Types, edges: &str, field: FieldId) -> Vec<(TypeId, String)> {
    let (model, catalog) = (&types.model, &types.layout.sql.catalog);
    let owner = model.field(field).owner;
    if let Storage::ToOne { column, .. } = types.layout.fields[field.index()] {
        let (name, number) = known(types, owner);
        let own = catalog.table(types.layout.tables[owner.index()]);
        let column = quoted(&own.column(column).name);
        let some = format!(
            "SELECT t.{number} AS owner, e.file, e.line FROM {edges} e JOIN {name} t ON t.{column} = e.owner WHERE e.field = $1"
        );
        let targets = target_type(types, field).map_or(&[][..], |it| &model.ty(it).members);
        return targets.iter().map(|it| (*it, some.clone())).collect();
    }
    let holders = partners(types, field).into_iter().map(|(holder, (table, column))| {
        let table = catalog.table(table);
        let (_, number) = known(types, holder);
        let some = format!(
            "SELECT t.{} AS owner, e.file, e.line FROM {edges} e JOIN {} t ON t.{number} = e.owner WHERE e.field = $1",
            quoted(&table.column(column).name),
            quoted(&table.name)
        );
        (holder, some)
    });
    holders.collect()
}

/// Writes down what `some` finds by `by` as objects that are not taken, called `gone`, and says why.
fn take(
    database: &mut Database,
    table: &str,
    gone: &str,
    some: &str,
    by: &str,
    why: &dyn Fn(i64) -> String,
) -> Result<Vec<Reject>, Error> {
    let fresh = format!(
        "SELECT s.owner, min(s.file), min(s.line) FROM ({some}) s WHERE s.owner IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM {table} g WHERE g.field = $2 AND g.owner = s.owner) GROUP BY s.owner ORDER BY 2, 3"
    );
    let names = [by.into(), gone.into()];
    let rows = database.query(&fresh, &names, 3)?;
    if !rows.is_empty() {
        let keep = format!(
            "WITH f AS ({fresh}) INSERT INTO {table} (owner, file, line, field) SELECT f.*, $2 FROM f"
        );
        database.execute(&keep, &names)?;
    }
    let one =
        |row: &Vec<Value>| Reject { file: row[1].text(), line: row[2].int() as u64, why: why(row[0].int()) };
    Ok(rows.iter().map(one).collect())
}

/// Deletes the objects of `ty` that are not taken, with all that refers to them.
fn delete(
    types: &Types,
    database: &mut Database,
    edges: &str,
    facts: &Facts,
    ty: TypeId,
) -> Result<(), Error> {
    let gone = [Value::from(refused(types, ty).as_str())];
    let those = format!("IN (SELECT owner FROM {edges} WHERE field = $1)");
    let (layout, of) = (&types.layout, facts.of(ty));
    let names = |(table, column)| {
        let table = layout.sql.catalog.table(table);
        (quoted(&table.name), quoted(&table.column(column).name))
    };
    for (table, column) in of.pointers.iter().copied().map(names) {
        database.execute(&format!("UPDATE {table} SET {column} = NULL WHERE {column} {those}"), &gone)?;
    }
    let own = (layout.tables[ty.index()], layout.ids[ty.index()]);
    let registries = of.registries.iter().map(|it| (it.table, it.id));
    for (table, column) in of.parts.iter().copied().chain([own]).chain(registries).map(names) {
        database.execute(&format!("DELETE FROM {table} WHERE {column} {those}"), &gone)?;
    }
    Ok(())
}
