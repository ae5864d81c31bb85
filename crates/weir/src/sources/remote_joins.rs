//! Joins of the metadata's relationships to other sources.

use crate::config::Config;
use crate::config::source::lookups::lookup_name;
use crate::metadata::remote_relationships::table_path;
use std::sync::Arc;
use weir_engine::compose::Join;
use weir_engine::source::Source as EngineSource;
use weir_hasura::open::RemoteField;
use weir_http::passthrough::KEY_PREFIX;
use weir_metadata::Step;
use weir_metadata::document::remote_relationship::{RelationshipType, RemoteTarget, ToSource};

/// A field of a table that another source answers, and the place of its source in the configuration.
pub(crate) type TableField = (usize, RemoteField);

/// A join of a relationship of the metadata.
#[derive(Clone, Debug)]
pub struct RemoteJoin {
    pub(crate) join: Join,
    /// The relationship.
    pub(crate) path: Vec<Step>,
}

/// The join of the type `on` by its field `name`, with the values of `fields`, to the lookup `target` of the remote schema `source`.
pub(super) fn field_join((on, name): (&str, &str), fields: &[String], source: &str, target: &str) -> Join {
    let keys = fields.iter().enumerate().map(|(at, it)| format!("{KEY_PREFIX}{at}: $this.{it}"));
    let arguments = format!("({})", keys.collect::<Vec<_>>().join(", "));
    Join {
        on: on.to_owned(),
        name: name.to_owned(),
        description: String::new(),
        source: source.to_owned(),
        target: target.to_owned(),
        arguments,
    }
}

/// The joins of `fields` to tables of `sources`. Fields whose target is not there, or down, have none.
pub(super) fn table_joins(
    config: &Config,
    fields: &[TableField],
    sources: &[Arc<dyn EngineSource>],
) -> Vec<RemoteJoin> {
    let mut joins = Vec::new();
    for (place, field) in fields {
        let source = &config.sources[*place];
        let entry = &source.tables[field.table].remote_relationships[field.relationship];
        let (Ok(RemoteTarget::Source(target)), Some(at)) = (entry.definition.target(), source.of_metadata)
        else {
            continue;
        };
        let keys: Vec<&str> = field.keys.iter().map(|it| it.field.as_str()).collect();
        let path = table_path(at, field.table, field.relationship);
        let relation = Relation { on: &field.on, name: &entry.name, keys: &keys, path: &path };
        joins.extend(relation.joins(target, sources));
    }
    joins
}

/// A relationship of a type to a table.
pub(super) struct Relation<'r> {
    /// The type that gets the field.
    pub(super) on: &'r str,
    /// The field.
    pub(super) name: &'r str,
    /// Fields of the type with the values of the table's columns, in their order.
    pub(super) keys: &'r [&'r str],
    /// The relationship in the metadata.
    pub(super) path: &'r [Step],
}

impl Relation<'_> {
    /// The joins to the table of `target`, with that of aggregates; none if its source is not among `sources`.
    pub(super) fn joins(&self, target: &ToSource, sources: &[Arc<dyn EngineSource>]) -> Vec<RemoteJoin> {
        let lookup = lookup_name(self.path);
        let has_lookup = |it: &Arc<dyn EngineSource>| {
            let schema = it.schema();
            it.name() == target.source
                && schema.join_roots.iter().any(|root| schema.field_by_name(*root, &lookup).is_some())
        };
        if !sources.iter().any(has_lookup) {
            return Vec::new();
        }
        let keys = self.keys.iter().enumerate().map(|(at, it)| format!("key{at}: $this.{it}"));
        let arguments = format!("({})", keys.collect::<Vec<_>>().join(", "));
        let join = |suffix: &str| {
            let join = Join {
                on: self.on.to_owned(),
                name: format!("{}{suffix}", self.name),
                description: String::new(),
                source: target.source.clone(),
                target: format!("{lookup}{suffix}"),
                arguments: arguments.clone(),
            };
            RemoteJoin { join, path: self.path.to_vec() }
        };
        match target.relationship_type {
            RelationshipType::Object => vec![join("")],
            RelationshipType::Array => vec![join(""), join("_aggregate")],
        }
    }
}
