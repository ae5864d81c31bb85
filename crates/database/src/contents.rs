//! The contents of a database as they were read: all that an API is made of, also at a time when the database cannot be reached.
//!
//! **Invariant:** nothing here depends on permissions, so an API made of old contents has the permissions of today.

use weir_relational::catalog::{Catalog, EnumTableValue, Table, Warning};

/// The name of a table; where the schema is empty, any has it.
#[derive(Clone, Copy, Debug)]
pub struct NamedTable<'n> {
    /// The table's schema.
    pub schema: &'n str,
    /// The name within the schema.
    pub name: &'n str,
}

/// A table whose rows are the values of an enum.
#[derive(Clone, Debug)]
pub(crate) struct EnumTable {
    schema: String,
    name: String,
    /// The values, or why they were not read.
    values: Result<Vec<EnumTableValue>, String>,
}

impl EnumTable {
    pub(crate) fn new(table: &Table, values: Result<Vec<EnumTableValue>, String>) -> Self {
        Self { schema: table.schema.clone(), name: table.name.clone(), values }
    }
}

/// Tables and functions of a database.
#[derive(Clone, Debug)]
pub struct Contents {
    /// All tables and functions.
    pub catalog: Catalog,
    pub(crate) enums: Vec<EnumTable>,
    /// Parts that cannot be served.
    pub warnings: Vec<Warning>,
}

impl Contents {
    /// The values of a table that was read as an enum.
    /// # Errors
    /// The reason for which there are none.
    pub fn enum_values(&self, table: &Table) -> Result<Vec<EnumTableValue>, String> {
        let found = self.enums.iter().find(|it| it.schema == table.schema && it.name == table.name);
        found.map_or_else(|| Err("its values were not read".into()), |it| it.values.clone())
    }
}
