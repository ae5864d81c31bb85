//! The contents of a database as they were read: all that an API is made of, also at a time when the database cannot be reached.
//!
//! **Invariant:** nothing here depends on permissions, so an API made of old contents has the permissions of today.

use std::collections::BTreeMap;
use weir_relational::catalog::{Catalog, CodePart, ColumnType, EnumTableValue, Table, Warning};

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
    /// Native queries that were looked at.
    pub natives: Natives,
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

/// A statement of the configuration that gives rows, to be looked at by the database.
#[derive(Clone, Debug)]
pub struct NativeStatement<'n> {
    /// Name of the statement.
    pub name: &'n str,
    /// Names of its arguments with the database's names for their types.
    pub arguments: Vec<(&'n str, &'n str)>,
    /// The code; the places of arguments are those of the list.
    pub code: Vec<CodePart>,
    /// Names of its columns with the database's names for their types.
    pub columns: Vec<(&'n str, String)>,
}

impl NativeStatement<'_> {
    /// The statement with arguments as `placeholder` writes them, counted from one: all that the code gives.
    pub(crate) fn select_all(&self, placeholder: impl Fn(u32) -> String) -> String {
        let mut sql = String::from("WITH q AS (\n");
        for part in &self.code {
            match part {
                CodePart::Text(text) => sql.push_str(text),
                CodePart::Argument(place) => sql.push_str(&format!("({})", placeholder(place + 1))),
            }
        }
        sql.push_str("\n) SELECT * FROM q");
        sql
    }
}

/// The database's verdict on a statement of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedNative {
    /// Name of the statement.
    pub name: String,
    /// It may change data, or give other rows each time.
    pub is_volatile: bool,
    /// The fault, if the statement does not give what it says.
    pub fault: Option<String>,
}

/// Types and statements of native queries, as the database knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Natives {
    /// The types that are named, by the names; 0 where the database knows none.
    pub types: BTreeMap<String, (u32, ColumnType)>,
    /// The statements.
    pub checked: Vec<CheckedNative>,
}

/// A fault of a statement, as Hasura words it.
pub(crate) fn missing_column(name: &str) -> String {
    format!("Column named '{name}' is not returned from the query.")
}
