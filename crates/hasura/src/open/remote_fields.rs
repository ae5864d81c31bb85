//! Fields of tables that other sources answer: `remote_relationships`, with the names that clients see.
//!
//! The target is not looked at: it is another source's.

use crate::api::meaning::{Api, FieldMeaning};
use crate::model::graphql_names::graphql_name;
use crate::model::{ModelOptions, Serves};
use std::collections::HashSet;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind};
use weir_metadata::document::remote_relationship::{RelationshipType, RemoteTarget};
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::{ConfigStep, TableId, Warning};

/// A field that another source answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteField {
    /// Number of the table's entry.
    pub table: usize,
    /// Number of the relationship's entry among those of the table.
    pub relationship: usize,
    /// The type that gets the field.
    pub on: String,
    /// The fields of the type that have the values of the target's arguments.
    pub keys: Vec<RemoteKey>,
}

/// A field whose value is an argument of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteKey {
    /// Name of the column or computed field in the metadata.
    pub lhs: String,
    /// Name of the field in the schema.
    pub field: String,
    /// Name of its scalar or enum.
    pub scalar: String,
}

impl RemoteField {
    /// The place of the relationship in the source's entry.
    pub fn entry(&self) -> Vec<ConfigStep> {
        entry_path(self.table, self.relationship)
    }
}

fn entry_path(table: usize, relationship: usize) -> Vec<ConfigStep> {
    vec!["tables".into(), table.into(), "remote_relationships".into(), relationship.into()]
}

/// The remote fields of the tables of `options`. Those that do not fit are left out, with a warning.
pub(super) fn find_remote_fields(
    api: &Api,
    options: &ModelOptions<'_>,
    warnings: &mut Vec<Warning>,
) -> Vec<RemoteField> {
    let mut found = Vec::new();
    for (at, entry) in options.tables.iter().enumerate().filter(|it| !it.1.remote_relationships.is_empty()) {
        let (schema, name) = entry.table.parts();
        // A table that is not there is reported with its entry.
        let Some(table) = api.model.relations.catalog.find(schema, name) else { continue };
        let Some(on) = row_type(api, table) else { continue };
        let remote = RemoteTable { api, table, on };
        remote.find(at, entry, &mut found, warnings);
    }
    found
}

/// The type of the rows of `table`, if it is served.
fn row_type(api: &Api, table: TableId) -> Option<TypeId> {
    let at = api.fields.iter().position(|it| *it == FieldMeaning::Select(table))?;
    Some(api.schema.field(FieldId(at as u32)).ty.base)
}

struct RemoteTable<'a> {
    api: &'a Api,
    table: TableId,
    on: TypeId,
}

impl RemoteTable<'_> {
    fn find(&self, at: usize, entry: &TableEntry, found: &mut Vec<RemoteField>, warnings: &mut Vec<Warning>) {
        let schema = &*self.api.schema;
        let mut names = HashSet::new();
        for (number, relationship) in entry.remote_relationships.iter().enumerate() {
            let name = relationship.name.as_str();
            let target = relationship.definition.target();
            let is_list = matches!(&target, Ok(RemoteTarget::Source(it)) if it.relationship_type == RelationshipType::Array);
            let aggregate = is_list.then(|| format!("{name}_aggregate"));
            let wanted = || std::iter::once(name).chain(aggregate.as_deref());
            let is_taken = |it: &str| schema.field_by_name(self.on, it).is_some() || names.contains(it);
            let taken = wanted().find(|it| is_taken(it));
            let keys = if graphql_name(name).is_none_or(|it| it != name) {
                Err("a relationship's name has to be a GraphQL name".to_owned())
            } else if let Some(taken) = taken {
                Err(format!("there is another field called `{taken}`"))
            } else {
                names.extend(wanted().map(str::to_owned));
                let lhs = target.map(|it| it.lhs_fields()).unwrap_or_default();
                lhs.into_iter().map(|it| self.find_key(it)).collect()
            };
            match keys {
                Ok(keys) => {
                    let type_name = schema.type_name(self.on).to_owned();
                    found.push(RemoteField { table: at, relationship: number, on: type_name, keys });
                }
                Err(reason) => {
                    let place = format!("{}.{name}", entry.table.parts().1);
                    warnings.push(Warning { place, reason, entry: entry_path(at, number) });
                }
            }
        }
    }

    /// The field of the column or scalar computed field called `lhs`.
    fn find_key(&self, lhs: &str) -> Result<RemoteKey, String> {
        let model = &self.api.model;
        let table = model.relations.catalog.table(self.table);
        let tracked = model.tracked_table(self.table);
        let column = table.columns.iter().position(|it| it.name == lhs);
        let column = column.and_then(|at| tracked?.columns[at].as_deref());
        let mut computed = tracked.into_iter().flat_map(|it| &it.computed);
        let computed = computed.find_map(|it| match &model.function(*it).0.serves {
            Serves::Row { name, .. } if name == lhs => Some(name.as_str()),
            Serves::Row { .. } | Serves::Root { .. } => None,
        });
        let schema: &Schema = &self.api.schema;
        let field = column.or(computed).and_then(|it| schema.field_by_name(self.on, it));
        let field = field.ok_or_else(|| format!("`{}` has no field `{lhs}`", table.name))?;
        let ty = schema.field(field).ty;
        let is_leaf = matches!(schema.ty(ty.base).kind, TypeKind::Scalar(_) | TypeKind::Enum);
        if !is_leaf || ty.wraps.is_list() {
            return Err(format!("`{lhs}` is no single scalar"));
        }
        Ok(RemoteKey {
            lhs: lhs.to_owned(),
            field: schema.field_name(field).to_owned(),
            scalar: schema.type_name(ty.base).to_owned(),
        })
    }
}
