//! Writes a model as entries of metadata: tracked tables, their names and relationships.
//!
//! **Invariant:** a model made of the entries of a model serves the same tables, names and relationships.

use super::build_model::base_name;
use super::convention;
use super::{Model, RootField, Tracked};
use std::collections::BTreeMap;
use weir_metadata::document::table::{
    ColumnConfig, ComputedFieldEntry, ForeignKeyOn, FullRootField, InsertionOrder, Manual, QualifiedName,
    RelationshipEntry, RemoteKey, RootFieldEntries, RootFieldEntry, TableEntry, TableName, Using,
};
use weir_relational::catalog::{ColumnId, Relationship, RelationshipKind, Table, TableId, TableKind};

impl Model {
    /// Entries of all tracked tables. `configured` are the entries that the model was made of: their other settings stay.
    pub fn entries(&self, configured: &[TableEntry]) -> Vec<TableEntry> {
        let tables = self.all().filter(|it| it.1.kind != TableKind::Model);
        tables.map(|(at, table, tracked)| self.entry(at, table, tracked, configured)).collect()
    }

    fn entry(&self, at: TableId, table: &Table, tracked: &Tracked, configured: &[TableEntry]) -> TableEntry {
        let is_meant = |it: &&TableEntry| {
            let (schema, name) = it.table.parts();
            self.relations.catalog.find(schema, name) == Some(at)
        };
        let own = configured.iter().find(is_meant).cloned();
        let mut entry = own.unwrap_or_else(|| TableEntry::new(self.name(at)));
        entry.table = self.name(at);
        entry.is_enum = !tracked.enum_values.is_empty();
        let configuration = &mut entry.configuration;
        configuration.custom_name =
            (tracked.name != base_name(&self.relations.catalog, at, None)).then(|| tracked.name.clone());
        configuration.custom_column_names = BTreeMap::new();
        configuration.custom_root_fields = root_fields(tracked);
        for (column, name) in table.columns.iter().zip(&tracked.columns) {
            let usual = if self.is_camel() { convention::field(&column.name) } else { column.name.clone() };
            let custom = name.as_ref().filter(|it| **it != usual);
            let known = configuration.column_config.get_mut(&column.name);
            match (custom, known) {
                (Some(name), None) => {
                    let config = ColumnConfig { custom_name: Some(name.clone()), comment: None };
                    configuration.column_config.insert(column.name.clone(), config);
                }
                (custom, Some(config)) => config.custom_name = custom.cloned(),
                (None, None) => {}
            }
        }
        let is_served = |it: &ComputedFieldEntry| {
            let values = tracked.computed.iter().map(|it| self.function(*it).0);
            let is_value = values.into_iter().any(|function| function.is_called(&it.name));
            is_value
                || tracked.relationships.iter().any(|way| self.relations.relationship(*way).name == it.name)
        };
        entry.computed_fields.retain(is_served);
        entry.object_relationships.clear();
        entry.array_relationships.clear();
        for way in &tracked.relationships {
            let way = self.relations.relationship(*way);
            if way.call.is_some() || self.tracked_table(way.to).is_none() {
                continue;
            }
            let is_array = way.kind == RelationshipKind::Array;
            let list =
                if is_array { &mut entry.array_relationships } else { &mut entry.object_relationships };
            list.push(RelationshipEntry {
                name: way.name.clone(),
                using: self.using(table, way),
                comment: way.comment.clone(),
            });
        }
        entry
    }

    fn name(&self, at: TableId) -> TableName {
        let table = self.relations.catalog.table(at);
        // Entries of PostgreSQL are qualified; the schema is taken off again where they are exported.
        if ["", "main"].contains(&self.relations.catalog.default_schema) {
            return TableName::Name(table.name.clone());
        }
        TableName::Qualified(QualifiedName { schema: table.schema.clone(), name: table.name.clone() })
    }

    /// The key or the columns of `way`, which begins at `table`.
    fn using(&self, table: &Table, way: &Relationship) -> Using {
        let other = self.relations.catalog.table(way.to);
        let names = |table: &Table, columns: &[ColumnId]| -> Vec<String> {
            columns.iter().map(|it| table.column(*it).name.clone()).collect()
        };
        let is_array = way.kind == RelationshipKind::Array;
        let joins = |ours: &[ColumnId], theirs: &[ColumnId]| {
            way.on.len() == ours.len()
                && ours.iter().zip(theirs).all(|(our, their)| way.on.contains(&(*our, *their)))
        };
        let own = table
            .foreign_keys
            .iter()
            .find(|it| it.target == way.to && joins(&it.columns, &it.target_columns));
        let theirs = other
            .foreign_keys
            .iter()
            .find(|it| it.target == way.from && joins(&it.target_columns, &it.columns));
        let key = match (own, theirs) {
            (Some(key), _) if !is_array && way.insert_first && alone(table, &key.columns) => {
                let mut columns = names(table, &key.columns);
                match columns.len() {
                    1 => Some(ForeignKeyOn::Column(columns.remove(0))),
                    _ => Some(ForeignKeyOn::Columns(columns)),
                }
            }
            (_, Some(key)) if !way.insert_first && alone(other, &key.columns) => {
                let columns = names(other, &key.columns);
                let (column, columns) =
                    if columns.len() == 1 { (columns, Vec::new()) } else { (Vec::new(), columns) };
                Some(ForeignKeyOn::Remote(RemoteKey { table: self.name(way.to), column, columns }))
            }
            _ => None,
        };
        let manual = key.is_none().then(|| Manual {
            remote_table: Some(self.name(way.to)),
            remote_native_query: None,
            column_mapping: way
                .on
                .iter()
                .map(|(our, their)| (table.column(*our).name.clone(), other.column(*their).name.clone()))
                .collect(),
            insertion_order: (!is_array && !way.insert_first).then_some(InsertionOrder::AfterParent),
        });
        Using { foreign_key_constraint_on: key, manual_configuration: manual }
    }
}

/// True if one foreign key alone is on these columns.
fn alone(table: &Table, columns: &[ColumnId]) -> bool {
    let same = |key: &[ColumnId]| key.len() == columns.len() && key.iter().all(|it| columns.contains(it));
    table.foreign_keys.iter().filter(|it| same(&it.columns)).count() == 1
}

fn root_fields(tracked: &Tracked) -> RootFieldEntries {
    let one = |field: &RootField| match (&field.name, &field.comment) {
        (None, None) => None,
        (Some(name), None) => Some(RootFieldEntry::Name(name.clone())),
        (name, comment) => {
            Some(RootFieldEntry::Full(FullRootField { name: name.clone(), comment: comment.clone() }))
        }
    };
    let fields = &tracked.root_fields;
    RootFieldEntries {
        select: one(&fields.select),
        select_by_pk: one(&fields.select_by_pk),
        select_aggregate: one(&fields.select_aggregate),
        select_group_by: one(&fields.select_group_by),
        select_stream: one(&fields.select_stream),
        insert: one(&fields.insert),
        insert_one: one(&fields.insert_one),
        update: one(&fields.update),
        update_by_pk: one(&fields.update_by_pk),
        update_many: one(&fields.update_many),
        delete: one(&fields.delete),
        delete_by_pk: one(&fields.delete_by_pk),
    }
}
