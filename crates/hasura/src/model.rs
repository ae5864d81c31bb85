//! The exposed tables of a catalog, their GraphQL names, and their relationships.
//!
//! Source: the catalog alone, where every table is tracked and every foreign key is a relationship; or also the entries of a
//! configuration in Hasura's metadata keys.
//!
//! **Invariant:** names are valid GraphQL names and unique where they have to be; relationships point to tracked
//! tables.

use std::collections::BTreeMap;
use weir_metadata::document::customization::{Customization, NamingConvention};
use weir_relational::catalog::{
    EnumTableValue, FunctionId, Relations, RelationshipId, Table, TableId, TableKind, Warning,
};

mod build_model;
mod building;
mod computed;
pub(crate) mod convention;
mod entries;
pub mod graphql_names;
pub mod inflect;
mod lookups;
mod model_options;
mod naming;
mod native_queries;
mod proposal;
mod relationships;
mod reserved;
mod tracked_functions;

pub(crate) use lookups::Lookup;
pub use lookups::entities::Entities;
pub(crate) use lookups::entities::Entity;
pub use lookups::{LOOKUPS, LookupEntry};
pub use model_options::{EnumReader, Groups, MissingRow, ModelOptions, RelationshipNames, Track};
pub(crate) use native_queries::statements;
pub(crate) use reserved::is_type as is_reserved_type;
pub use tracked_functions::{Serves, TrackedFunction};

/// The tracked part of a database.
#[derive(Clone, Debug)]
pub struct Model {
    /// The database's catalog.
    pub relations: Relations,
    /// Parallel to the catalog's tables; `None` where a table is not tracked.
    pub tables: Vec<Option<Tracked>>,
    /// Functions that are root fields or fields of rows, parallel to those of the relations.
    pub functions: Vec<TrackedFunction>,
    /// Answer of a change by key that finds no row.
    pub missing_row: MissingRow,
    /// Places of the entries of logical models, with the tables that stand for them.
    pub models: Vec<(usize, TableId)>,
    /// Messages of violated constraints, by name.
    pub messages: BTreeMap<String, String>,
    /// Prefixes and suffixes of the names of types and root fields.
    pub customization: Customization,
    /// Ways into tables for joins.
    pub(crate) lookups: Vec<Lookup>,
    /// Tables that are entities of a federation.
    pub(crate) entities: Vec<Entity>,
}

/// A tracked table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// The base name of its types and root fields.
    pub name: String,
    /// GraphQL names of its columns, parallel to the catalog's; `None` where a column is not exposed.
    pub columns: Vec<Option<String>>,
    /// Relationships of the table: indexes into `Model::relationships`.
    pub relationships: Vec<RelationshipId>,
    /// Functions that make a value of a row, as [`Model::functions`] places.
    pub computed: Vec<FunctionId>,
    /// Values of an enum table; else empty.
    pub enum_values: Vec<EnumTableValue>,
    /// Parallel to the catalog's columns: the enum table whose values a column holds.
    pub enums: Vec<Option<TableId>>,
    /// True if `name` is given by an entry.
    pub has_custom_name: bool,
    /// True if it can be asked for groups of rows.
    pub has_groups: bool,
    /// Names of root fields that differ from the rule.
    pub root_fields: RootFields,
    /// A description instead of the usual one; an empty one is none.
    pub comment: Option<String>,
}

/// `custom_root_fields`: each follows the rule where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RootFields {
    pub select: RootField,
    pub select_by_pk: RootField,
    pub select_aggregate: RootField,
    pub select_group_by: RootField,
    pub select_stream: RootField,
    pub insert: RootField,
    pub insert_one: RootField,
    pub update: RootField,
    pub update_by_pk: RootField,
    pub update_many: RootField,
    pub delete: RootField,
    pub delete_by_pk: RootField,
}

impl RootFields {
    /// The names that differ from the rule.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let Self { select, select_by_pk, select_aggregate, select_group_by, select_stream, .. } = self;
        let Self { insert, insert_one, update, update_by_pk, update_many, delete, delete_by_pk, .. } = self;
        let reads = [select, select_by_pk, select_aggregate, select_group_by, select_stream];
        let writes = [insert, insert_one, update, update_by_pk, update_many, delete, delete_by_pk];
        reads.into_iter().chain(writes).filter_map(|it| it.name.as_deref())
    }
}

/// Configuration of a root field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootField {
    /// Name instead of the default.
    pub name: Option<String>,
    /// Description instead of the default.
    pub comment: Option<String>,
}

impl Model {
    /// True if generated names follow the convention `graphql-default`.
    pub fn is_camel(&self) -> bool {
        self.customization.naming_convention == Some(NamingConvention::GraphqlDefault)
    }

    /// A tracked table's names; `None` if it is not tracked.
    pub fn tracked_table(&self, id: TableId) -> Option<&Tracked> {
        self.tables[id.0 as usize].as_ref()
    }
    /// True if the table stands for a logical model, whose rows native queries give.
    pub fn is_model(&self, id: TableId) -> bool {
        self.relations.catalog.table(id).kind == TableKind::Model
    }
    /// All tracked tables, with their entries in the catalog and the model.
    pub fn all(&self) -> impl Iterator<Item = (TableId, &Table, &Tracked)> {
        let pairs = self.relations.catalog.tables.iter().zip(&self.tables).enumerate();
        pairs.filter_map(|(at, (table, tracked))| Some((TableId(at as u32), table, tracked.as_ref()?)))
    }
}
