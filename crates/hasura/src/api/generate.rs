//! Makes the whole API of a model.

use super::meaning::{Api, EnumMeaning, FieldMeaning, InputMeaning};
use super::schema_core::{Core, Style};
use super::table_types::{TableApi, tables};
use crate::model::{Entity, Model};
use crate::permission::Permissions;
use std::sync::Arc;
use weir_engine::source::{EntityKey, EntityLookup};
use weir_language::error::Error;
use weir_language::schema::{Schema, TypeId};
use weir_relational::catalog::TableId;

/// All tables of a model, to look others up while one is written.
pub(super) struct Tables<'m>(Vec<Option<TableApi<'m>>>);

impl<'m> Tables<'m> {
    /// A tracked table.
    pub(super) fn get(&self, id: TableId) -> Option<&TableApi<'m>> {
        self.0[id.0 as usize].as_ref()
    }
    /// All tracked tables.
    pub(super) fn iter(&self) -> impl Iterator<Item = &TableApi<'m>> {
        self.0.iter().flatten()
    }
}

/// Generates schema and meanings of `model`.
/// # Errors
/// The schema is unsound: names that the model should have kept apart.
pub fn generate(model: Model, permissions: Permissions) -> Result<Api, Vec<Error>> {
    make(Arc::new(model), Arc::new(permissions), Style::Lists)
}

/// The API of the same tables whose lists are Relay's connections.
/// # Errors
/// See [`generate`].
pub fn generate_relay(of: &Api) -> Result<Api, Vec<Error>> {
    let made = make(Arc::clone(&of.model), Arc::clone(&of.permissions), Style::Connections)?;
    Ok(Api { row_security: of.row_security.clone(), ..made })
}

fn make(model: Arc<Model>, permissions: Arc<Permissions>, style: Style) -> Result<Api, Vec<Error>> {
    let columns = model.relations.catalog.tables.iter().map(|table| table.columns.len()).sum();
    let mut core = Core::new(model.relations.catalog.tables.len(), columns, &model, style);
    let tables = Tables(tables(&model, &mut core));
    core.roots(&model, &tables);
    core.join_root(&model, &tables);
    core.order_by_enum();
    if style == Style::Lists && tables.iter().next().is_some() {
        core.stream_ordering();
        tables.iter().filter(|it| !it.is_model).for_each(|table| core.stream_inputs(table));
    }
    for table in tables.iter() {
        core.rows(&model, &tables, table);
        if !table.is_model {
            core.aggregates(table);
        }
        core.groups(table);
        core.connection(table);
        core.filters(&model, &tables, table);
        core.orders(&model, &tables, table);
        core.writes(&model, &tables, table, !permissions.is_empty());
        core.enum_table(table);
    }
    core.function_arguments(&model);
    core.page_types();
    core.define_cached_directive();
    core.define_scalars();
    let objects: Vec<Option<TypeId>> = tables.0.iter().map(|it| Some(it.as_ref()?.types.object)).collect();
    let Core { b, mut fields, mut inputs, mut enum_values, .. } = core;
    let schema = Arc::new(b.build()?);
    fields.resize(schema.fields.len(), FieldMeaning::None);
    inputs.resize(schema.inputs.len(), InputMeaning::None);
    enum_values.resize(schema.enum_values.len(), EnumMeaning::None);
    let entity_lookups =
        if style == Style::Lists { entity_lookups(&model, &schema, &objects) } else { Vec::new() };
    let enum_texts = if model.is_camel() { enum_texts(&model, &enum_values) } else { Vec::new() };
    Ok(Api {
        schema,
        model,
        permissions,
        row_security: None,
        is_relay: style == Style::Connections,
        fields,
        inputs,
        enum_values,
        enum_texts,
        entity_lookups,
    })
}

/// The lookups of entities; `objects` are the types of rows by table.
fn entity_lookups(model: &Model, schema: &Schema, objects: &[Option<TypeId>]) -> Vec<EntityLookup> {
    let lookup = |entity: &Entity| {
        let object = objects.get(entity.table.0 as usize).copied().flatten()?;
        let tracked = model.tracked_table(entity.table)?;
        let keys = entity.keys.iter().enumerate().map(|(at, &(column, form))| {
            let field = tracked.columns.get(column.0 as usize)?.as_deref()?;
            Some(EntityKey { field: field.into(), argument: format!("key{at}").into(), form })
        });
        let keys = keys.collect::<Option<_>>()?;
        Some(EntityLookup {
            on: schema.type_name(object).into(),
            target: Some(entity.lookup.as_str().into()),
            keys,
        })
    };
    model.entities.iter().filter_map(lookup).collect()
}

/// The database's texts of the values of enum tables, whose names are in capitals.
fn enum_texts(model: &Model, meanings: &[EnumMeaning]) -> Vec<Option<Box<str>>> {
    let text = |it: &EnumMeaning| match *it {
        EnumMeaning::TableValue(table, at) => {
            let value = &model.tracked_table(table)?.enum_values.get(at as usize)?.value;
            Some(value.as_str().into())
        }
        _ => None,
    };
    meanings.iter().map(text).collect()
}
