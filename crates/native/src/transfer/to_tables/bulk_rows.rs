//! The statements of a load.
//!
//! **Invariant:** values are bound; only names of the layout are part of a statement.

use crate::layout::Storage;
use crate::model::FieldId;
use crate::store::database::{Bulk, BulkSource, BulkTable, Database, Value};
use crate::store::ddl::{list, quote_identifier};
use crate::store::{Error, Types};
use crate::transfer::edge_fields::field_name;
use crate::transfer::file_line::DeferredTable;
use crate::transfer::parcel::{Batch, BulkCell, Edge, LooseEdge, Target};
use crate::transfer::reject::Rejected;
use weir_relational::catalog::ColumnId;

/// The tables that objects of a type have a row in: the type's own, and registries.
fn tables(types: &Types, batch: &Batch) -> Vec<BulkTable> {
    let model = &types.model;
    let layout = &types.layout;
    let catalog = &types.layout.relations.catalog;
    let own = catalog.table(layout.tables[batch.ty.index()]);
    let mut columns = vec![own.column(layout.ids[batch.ty.index()]).clone()];
    columns.extend(batch.columns.iter().map(|it| own.column(*it).clone()));
    let from =
        std::iter::once(BulkSource::Number).chain((0..batch.columns.len()).map(BulkSource::Cell)).collect();
    let mut all = vec![BulkTable { name: own.name.clone(), columns, from }];
    for (id, ty) in model.type_ids().zip(&model.types) {
        let Some(kind) = layout.kinds[id.index()].filter(|_| ty.members.contains(&batch.ty)) else {
            continue;
        };
        let registry = catalog.table(layout.tables[id.index()]);
        let fill = |at: usize| {
            let column = ColumnId(at as u32);
            if column == kind {
                return BulkSource::Words(model.ty(batch.ty).name.clone());
            }
            let key = model.fields_of(id).find(|it| layout.registry_keys[it.0.index()] == Some(column));
            let copy = key.and_then(|it| model.field_by_name(batch.ty, &it.1.name));
            let place = match copy.map(|it| layout.fields[it.index()]) {
                Some(Storage::Column(own)) => batch.columns.iter().position(|it| *it == own),
                Some(_) | None => None,
            };
            place.map_or(BulkSource::Number, BulkSource::Cell)
        };
        let from = (0..registry.columns.len()).map(fill).collect();
        all.push(BulkTable { name: registry.name.clone(), columns: registry.columns.clone(), from });
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
    let width = batch.columns.len();
    let text = batch.text.as_str();
    let bulk = Bulk { ids: &batch.ids, cells: &batch.cells, width, text };
    let broken = database.insert(&tables(types, batch), bulk, gone)?;
    refused.extend(broken.into_iter().map(|(row, why)| (batch.lines[row], why)));
    Ok(())
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
    let names = list([ours, theirs].map(|it| table.column(it).name.as_str()));
    database.insert_pairs(&quote_identifier(&table.name), &names, pairs)
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
        let sql = format!(
            "INSERT INTO {} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING",
            quote_identifier(&table.name)
        );
        let mut values = vec![Value::Int(batch.ids[item.row as usize]), cell_value(batch, item.value)];
        values.extend(at.map(|_| cell_value(batch, item.at)));
        database.execute(&sql, &values)?;
    }
    Ok(())
}

/// Converts the words in existing indexes to the form in which they are compared: triggers store them as they are written.
pub(crate) fn refill(types: &Types, database: &mut Database, batch: &Batch) -> Result<(), Error> {
    if batch.text.is_ascii() {
        return Ok(());
    }
    let layout = &types.layout;
    let own = (layout.tables[batch.ty.index()], layout.ids[batch.ty.index()]);
    let lists = types.model.fields_of(batch.ty).filter_map(|it| match layout.fields[it.0.index()] {
        Storage::Values { table, owner, .. } => Some((table, owner)),
        _ => None,
    });
    let tables: Vec<_> = lists.chain([own]).collect();
    let ids: Vec<String> = batch.ids.iter().map(i64::to_string).collect();
    let ids = format!("[{}]", ids.join(","));
    for index in &layout.indexes {
        let Some((table, owner)) = tables.iter().find(|it| it.0 == index.table) else { continue };
        let owner = &layout.relations.catalog.table(*table).column(*owner).name;
        let defined = crate::store::ddl::index(layout, index);
        if let Some(sql) = types.kind.store_dialect().refill_index(&defined, owner)
            && database.has_table(&index.name)?
        {
            database.execute(&sql, &[ids.as_str().into()])?;
        }
    }
    Ok(())
}

fn cell_value(batch: &Batch, cell: BulkCell) -> Value {
    match cell {
        BulkCell::Null => Value::Null,
        BulkCell::Int(number) => Value::Int(number),
        BulkCell::Real(number) => Value::Real(number),
        BulkCell::Bool(value) => Value::Text(value.to_string()),
        BulkCell::Text(from, to) => Value::Text(batch.slice(from, to).to_owned()),
    }
}

/// Keeps edges whose other objects are not there yet.
pub(crate) fn wait(
    types: &Types,
    database: &mut Database,
    deferred: DeferredTable<'_>,
    batch: &Batch,
    edges: &[Edge],
) -> Result<(), Error> {
    let sql = format!(
        "INSERT INTO {} (field, owner, target, key_field, key_value, file, line) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        deferred.name
    );
    for edge in edges {
        let (target, key, value) = match edge.to {
            Target::Id(id) => (Value::Int(id), Value::Null, Value::Null),
            Target::Key(field, cell) => (
                Value::Null,
                types.model.field(field).name.as_str().into(),
                batch.render_cell(cell).as_str().into(),
            ),
        };
        let from = deferred.find_line(edge.line);
        let values = [
            field_name(types, edge.field).as_str().into(),
            batch.ids[edge.row as usize].into(),
            target,
            key,
            value,
            from.file.into(),
            Value::Int(from.line as i64),
        ];
        database.execute(&sql, &values)?;
    }
    Ok(())
}

/// Keeps an edge whose objects may both not be there.
pub(crate) fn wait_loose(
    types: &Types,
    database: &mut Database,
    deferred: DeferredTable<'_>,
    edge: &LooseEdge,
) -> Result<(), Error> {
    let sql = format!(
        "INSERT INTO {} (field, owner, target, file, line) VALUES ($1, $2, $3, $4, $5)",
        deferred.name
    );
    let from = deferred.find_line(edge.line);
    let values = [
        field_name(types, edge.field).as_str().into(),
        edge.owner.into(),
        edge.target.into(),
        from.file.into(),
        Value::Int(from.line as i64),
    ];
    database.execute(&sql, &values).map(drop)
}
