//! The contents of a file as they were read: all that its API is made of, also at a time when it cannot be read.
//!
//! **Invariant:** nothing here depends on permissions, so an API made of old contents has the permissions of today.

use crate::model::{Model, ModelOptions};
use crate::permission::{self, Permissions};
use weir_relational::catalog::{Catalog, EnumTableValue, Table, Warning};

/// Tables of a file.
#[derive(Clone, Debug)]
pub struct SqliteContents {
    pub(super) catalog: Catalog,
    /// Values of tables that the configuration calls enums, by name.
    pub(super) enums: Vec<(String, Result<Vec<EnumTableValue>, String>)>,
    pub(super) warnings: Vec<Warning>,
}

impl SqliteContents {
    /// The served tables with their permissions, and warnings about those that cannot be served.
    pub(super) fn model(&self, options: ModelOptions<'_>) -> (Model, Permissions, Vec<Warning>) {
        let mut values = |table: &Table| {
            let found = self.enums.iter().find(|it| it.0 == table.name);
            found.map_or_else(|| Err("its values were not read".into()), |it| it.1.clone())
        };
        let mut warnings = self.warnings.clone();
        let (model, more) = Model::build(self.catalog.clone(), options, &mut values);
        warnings.extend(more);
        let (permissions, more) = permission::build(&model, &options);
        warnings.extend(more);
        (model, permissions, warnings)
    }
}
