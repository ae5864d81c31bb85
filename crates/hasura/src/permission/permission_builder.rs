//! Roles in the making.

use super::{InheritedRows, TablePermissions};
use crate::model::Model;
use std::collections::BTreeMap;
use weir_relational::catalog::{TableId, Warning};

/// Roles in the making.
pub(super) struct PermissionBuilder<'m> {
    pub(super) model: &'m Model,
    pub(super) roles: BTreeMap<String, Vec<TablePermissions>>,
    /// By inherited role: see [`super::Role::inherited`].
    pub(super) inherited: BTreeMap<String, Vec<(TableId, Vec<InheritedRows>)>>,
    pub(super) warnings: Vec<Warning>,
}

impl PermissionBuilder<'_> {
    pub(super) fn role(&mut self, name: &str) -> &mut [TablePermissions] {
        let len = self.model.relations.catalog.tables.len();
        self.roles.entry(name.to_owned()).or_insert_with(|| vec![TablePermissions::default(); len])
    }
}
