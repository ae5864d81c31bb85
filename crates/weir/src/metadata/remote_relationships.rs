//! Relationships of tables and remote schemas to tables of other sources: each needs a way into its target by columns.

use crate::config::source::address;
use crate::config::source::address::Address;
use crate::config::source::lookups::lookup_name;
use crate::config::{Config, Described, Source};
use weir_hasura::model::LookupEntry;
use weir_metadata::Step;
use weir_metadata::document::remote_relationship::{
    RelationshipType, RemoteRelationshipEntry, RemoteTarget, ToSource,
};

/// Gives the targets of `remote_relationships` of tables and remote schemas their lookups. A relationship to a source that is not there is inconsistent.
pub(super) fn add_lookups(config: &mut Config, described: &mut Described) {
    for at in 0..config.sources.len() {
        let Some(of_metadata) = config.sources[at].of_metadata else { continue };
        for table in 0..config.sources[at].tables.len() {
            let entries = config.sources[at].tables[table].remote_relationships.clone();
            for (number, entry) in entries.iter().enumerate() {
                let path = table_path(of_metadata, table, number);
                if let Err(reason) = add_lookup(config, entry, &path) {
                    described.inconsistent.push(described.inconsistent(&path, &reason));
                }
            }
        }
    }
    for (at, schema) in described.loaded.document.remote_schemas.clone().iter().enumerate() {
        for (number, of_type) in schema.remote_relationships.iter().enumerate() {
            for (relationship, entry) in of_type.relationships.iter().enumerate() {
                let path = type_path(at, number, relationship);
                if let Err(reason) = add_lookup(config, entry, &path) {
                    described.inconsistent.push(described.inconsistent(&path, &reason));
                }
            }
        }
    }
}

/// The path of a relationship of a type of a remote schema.
pub(crate) fn type_path(schema: usize, ty: usize, relationship: usize) -> Vec<Step> {
    let steps: [Step; 6] = [
        "remote_schemas".into(),
        schema.into(),
        "remote_relationships".into(),
        ty.into(),
        "relationships".into(),
        relationship.into(),
    ];
    steps.into()
}

/// Gives the targets of relationships of actions' types their lookups. A relationship to a source that is not there is inconsistent.
pub(super) fn add_type_lookups(config: &mut Config, described: &mut Described) {
    for (at, object) in described.loaded.document.custom_types.objects.clone().iter().enumerate() {
        for (number, relationship) in object.relationships.iter().enumerate() {
            let path = object_path(at, number);
            if let Err(reason) = push_lookup(config, &relationship.target(), &path) {
                described.inconsistent.push(described.inconsistent(&path, &reason));
            }
        }
    }
}

/// The path of a relationship of an object of `custom_types`.
pub(crate) fn object_path(object: usize, relationship: usize) -> Vec<Step> {
    let steps: [Step; 5] =
        ["custom_types".into(), "objects".into(), object.into(), "relationships".into(), relationship.into()];
    steps.into()
}

/// The path of a relationship of a table.
pub(crate) fn table_path(source: usize, table: usize, relationship: usize) -> Vec<Step> {
    let steps: [Step; 6] = [
        "sources".into(),
        source.into(),
        "tables".into(),
        table.into(),
        "remote_relationships".into(),
        relationship.into(),
    ];
    steps.into()
}

/// Gives the target of the relationship `entry` at `path` a lookup, if it is a table.
fn add_lookup(config: &mut Config, entry: &RemoteRelationshipEntry, path: &[Step]) -> Result<(), String> {
    let Ok(RemoteTarget::Source(target)) = entry.definition.target() else { return Ok(()) };
    push_lookup(config, target, path)
}

/// Gives the table of `target` a lookup for the relationship at `path`.
/// # Errors
/// There is no such source of the metadata.
pub(crate) fn push_lookup(config: &mut Config, target: &ToSource, path: &[Step]) -> Result<(), String> {
    let source = config.sources.iter_mut().find(|it| it.name == target.source && it.of_metadata.is_some());
    let source = source.ok_or_else(|| format!("source with name \"{}\" does not exist", target.source))?;
    let mut table = target.table.clone();
    if is_sqlite(source) {
        table.out_of_schema("public");
    } else {
        table.in_schema("public");
    }
    let entry = LookupEntry {
        name: lookup_name(path),
        table,
        columns: target.field_mapping.values().cloned().collect(),
        is_list: target.relationship_type == RelationshipType::Array,
    };
    source.lookups.push(entry, path.to_vec());
    Ok(())
}

fn is_sqlite(source: &Source) -> bool {
    matches!(address::parse(&source.url), Ok(Address::Sqlite(_)))
}
