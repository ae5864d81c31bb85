//! Dialects of databases in which Weir creates tables: what a store needs beyond queries and changes of rows.
//!
//! **Invariant:** texts depend on names and definitions alone; what a client sends is bound.

mod postgres;
mod sqlite;

use super::Dialect;
use crate::catalog::ColumnType;
use crate::plan::ddl::{ColumnSource, Index, IndexKind, Numbers, TableDefinition};

/// A statement that reserves new numbers. The rows of all such statements of a database, in their order, are the numbers;
/// one row alone is the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// The text.
    pub sql: String,
    /// Number of columns of its rows.
    pub width: usize,
    /// True if it binds how many numbers are reserved.
    pub binds_count: bool,
}

/// An extension of a database that a kind of index needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Creates it.
    pub create: &'static str,
    /// Query for a number: 0 if it neither exists nor can be created.
    pub is_there: &'static str,
    /// Advice for a database without it.
    pub fix: &'static str,
}

/// The statements that keep an index up to date that is a separate table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideIndex {
    /// Name of the index.
    pub name: Box<str>,
    /// The table whose rows it finds.
    pub table: Box<str>,
    /// Reads the indexed columns of the row with a number; no row if there is nothing to index.
    pub read: Box<str>,
    /// Number of those columns.
    pub width: usize,
    /// Inserts the number and the columns of a row that is not in the index.
    pub add: Box<str>,
    /// Inserts the number and the columns of a row, or replaces them.
    pub put: Box<str>,
    /// Removes the row with a number.
    pub remove: Box<str>,
}

/// Definitions and maintenance of a store in one kind of database.
pub trait StoreDialect: Dialect {
    /// The schema that the tables are in where a session names none.
    fn schema(&self) -> &'static str;
    /// Asks for the schema in which a session makes its tables; nothing if there is just one.
    fn session_schema(&self) -> Option<&'static str>;
    /// The declaration of a type, and its number.
    fn type_declaration(&self, ty: &ColumnType) -> (&'static str, u32);
    /// Maximum length of a text in an index of order or equality, in bytes; `None`: no limit.
    fn tree_bytes_max(&self) -> Option<usize>;
    /// True if the database guarantees references in every snapshot.
    fn enforces_references(&self) -> bool;
    /// True if a truth value is a number.
    fn booleans_are_numbers(&self) -> bool;

    /// The end of the creation of `table`.
    fn table_end(&self, table: &TableDefinition) -> &'static str;
    /// True if references are created with their column; otherwise on their own, after all tables.
    fn refers_inline(&self) -> bool;
    /// A column's clause for values that are not given.
    fn column_source(&self, source: &ColumnSource) -> String;
    /// The end of the removal of a table.
    fn drop_end(&self) -> &'static str;
    /// Creates an index and the triggers that keep it up to date; `beside` lets others write meanwhile.
    fn create_index(&self, index: &Index, beside: bool) -> Vec<String>;
    /// Removes an index, if it exists.
    fn drop_index(&self, index: &Index) -> Vec<String>;
    /// True if an index is a separate table that has to be filled.
    fn index_is_table(&self, kind: IndexKind) -> bool;
    /// Fills an index that is a separate table with the rows whose keys are greater than `$1`, at most `$2` of them; a row
    /// that is there already is replaced.
    fn fill_index(&self, index: &Index) -> Option<String>;
    /// The statements that keep an index up to date that is a separate table.
    fn side_index(&self, index: &Index) -> Option<SideIndex>;
    /// The extension that an index needs.
    fn extension(&self, kind: IndexKind) -> Option<Extension>;

    /// The statement that puts rows into an index of words anew: those whose `owner` is in `$1`, a list of numbers as JSON, and
    /// whose words triggers put there as they are written.
    fn refill_index(&self, index: &Index, owner: &str) -> Option<String>;

    /// A query for facts of the database that decide how an index of words is created; `None` if there are none.
    fn word_abilities(&self) -> Option<&'static str>;
    /// Lets a column that the database fills go on after its greatest value, where the database does not by itself.
    fn continue_identity(&self, table: &str, column: &str) -> Option<String>;
    /// A query for rows of `table` that refer to nothing, in tables that refer inline: the row's table, the row, and the
    /// table referred to.
    fn check_references(&self, table: &str) -> Option<String>;
    /// Statements that suspend and resume the check of references during a migration, outside of its transaction.
    fn suspend_references(&self) -> Option<[&'static str; 2]>;

    /// Creates the source of new numbers, if that is no column.
    fn create_numbers(&self, numbers: &Numbers) -> Option<String>;
    /// The statements that reserve new numbers.
    fn reserve(&self, numbers: &Numbers) -> Vec<Reserve>;
    /// Makes new numbers greater than `$1`.
    fn advance(&self, numbers: &Numbers) -> String;

    /// The current time as an instant's text, in seconds.
    fn now(&self) -> &'static str;
    /// The current time in microseconds since 1970.
    fn now_micros(&self) -> &'static str;
    /// The text of a floating point number, as answers have it.
    fn float_text(&self, cell: &str) -> String;
    /// The text of a truth value.
    fn boolean_text(&self, cell: &str) -> String;
    /// The values of `value` in the rows of `rows` (from the table's name on), by `order`, as a JSON array.
    fn json_list(&self, value: &str, rows: &str, order: &str) -> String;

    /// A query for the number of tables called `$1`.
    fn has_table(&self) -> &'static str;
    /// A query for the name of one table.
    fn any_table(&self) -> &'static str;
    /// Tells other processes that the tables have version `number`.
    fn announce_version(&self, number: i64) -> Option<String>;
    /// Begins a transaction that sees one state and changes nothing.
    fn begin_reading(&self) -> &'static str;
    /// Settings of a session that loads much.
    fn before_load(&self) -> Vec<String>;
    /// Advice for a backup of a store that is no file.
    fn backup_hint(&self) -> &'static str;
    /// Maintenance of `tables` after a load, which the database would do only later.
    fn after_load(&self, tables: &[&str]) -> Vec<String>;
}
