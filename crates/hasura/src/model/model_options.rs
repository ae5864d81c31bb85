//! Configuration of a model's tables.

use super::lookups::LookupEntry;
use super::lookups::entities::Entities;
use std::collections::BTreeMap;
use weir_database::contents::Natives;
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::customization::Customization;
use weir_metadata::document::function::FunctionEntry;
use weir_metadata::document::logical_model::LogicalModelEntry;
use weir_metadata::document::native_query::NativeQueryEntry;
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::{EnumTableValue, Table};

/// Configuration of tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelOptions<'o> {
    /// Tables to serve.
    pub track: Track,
    /// Tables that can be asked for groups of rows.
    pub groups: Groups,
    /// Rule for default relationship names.
    pub relationship_names: RelationshipNames,
    /// Entries for single tables.
    pub tables: &'o [TableEntry],
    /// Functions that are served.
    pub functions: &'o [FunctionEntry],
    /// Native queries that are served.
    pub native_queries: &'o [NativeQueryEntry],
    /// The models of their rows.
    pub logical_models: &'o [LogicalModelEntry],
    /// The database's words about them.
    pub natives: Option<&'o Natives>,
    /// True if native queries are served as they are, without a look at their columns.
    pub trusts_natives: bool,
    /// Answer of a change by key that finds no row.
    pub missing_row: MissingRow,
    /// Messages of violated constraints, by name.
    pub messages: Option<&'o BTreeMap<String, String>>,
    /// Roles made of others.
    pub inherited_roles: &'o [InheritedRole],
    /// Roles with permissions, here or in another source.
    pub roles: &'o [String],
    /// True if a function that reads needs a permission of its own beside that on its table.
    pub explicit_functions: bool,
    /// Prefixes and suffixes of the names of types and root fields.
    pub customization: Option<&'o Customization>,
    /// Ways into its tables for joins of other sources.
    pub lookups: &'o [LookupEntry],
    /// Tables that are entities of a federation.
    pub entities: Entities,
}

/// Answers of `update_…_by_pk` and `delete_…_by_pk` if no row has the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingRow {
    /// Null, and the mutation goes on.
    #[default]
    Null,
    /// An error, and the mutation is undone.
    Error,
}

/// Tables to serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Track {
    /// All; entries only change them.
    #[default]
    All,
    /// Tables with an entry, and only the relationships that entries name.
    Listed,
}

/// Tables with a root field `_group_by`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Groups {
    /// All.
    #[default]
    All,
    /// Tables whose entry names the field.
    Named,
}

/// Rules for default relationship names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RelationshipNames {
    /// `Album_Artist`, `Artist_Albums`.
    #[default]
    Long,
    /// `Artist`, `Albums`.
    Short,
    /// The names that Hasura's console suggests: `author` by `author_id`, `articles` by the table's name.
    Hasura,
}

/// Reads the values of an enum table from the database; the error is for the operator.
pub type EnumReader<'r> = dyn FnMut(&Table) -> Result<Vec<EnumTableValue>, String> + 'r;
