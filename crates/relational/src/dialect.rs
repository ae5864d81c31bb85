//! SQL dialects of databases.
//!
//! **Invariant:** every function appends whole tokens; names go through [`Dialect::identifier`].

mod database;
pub mod flavour;
pub mod name_rules;
pub mod postgres;
mod postgres_place;
mod postgres_shapes;
pub mod sqlite;
mod sqlite_comparison;
pub mod sqlite_storage;
pub mod sqlite_type;
pub mod store;

pub use database::Database;

use crate::catalog::Storage;
use crate::plan::operators::{Aggregation, Cast, Comparison, Measure, Statistic};
use crate::plan::write::Operator;
use crate::plan::{Order, Reader};
use crate::values::geometry::Placed;
use crate::values::text_search::Words;

/// The right side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The placeholder of the bound value.
    pub placeholder: &'s str,
    /// Reader of the bound value.
    pub reader: &'s Reader,
    /// The comparison runs only on rows that the policy shows.
    pub behind: bool,
    /// The left side is no column, so the database does not know its type.
    pub bare: bool,
    /// Ways in which the left side may be stored.
    pub storage: Storage,
    /// The number of the left side's type, or 0.
    pub ty: u32,
}

/// A place of a row, and the comparison with it.
#[derive(Debug)]
pub struct Place<'s> {
    /// The row's number, by which `indexes` know it.
    pub key: String,
    /// The names of indexes apart from the table.
    pub indexes: &'s [Box<str>],
    /// West, south, east and north.
    pub bounds: [String; 4],
    /// Longitude and latitude, or a text of coordinates.
    pub of: Vec<String>,
    /// Relation to the other place.
    pub by: Placed,
    /// The placeholders of the other place and of the distance.
    pub with: Vec<String>,
    /// The condition of the policy, if the part that may fail has to stand behind it.
    pub behind: Option<&'s str>,
}

/// Types that values have whatever the columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Counts, limits and offsets.
    Integer,
    Text,
    /// A list of texts: keys, paths.
    Texts,
}

/// Error message of a statement whose rows violate the policy's condition.
pub const CHECK_FAILED: &str = "weir: a written row breaks the check of a permission";

/// The current query of a list of queries for words.
pub(super) const EACH_WORD: &str = "word.value";

/// Formats of floating point numbers, both with the fewest digits that read back as the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// PostgreSQL's format: `1e+15`.
    AsPostgres,
    /// The format of all other answers: `1000000000000000`.
    AsElsewhere,
}

/// SQL of one kind of database.
pub trait Dialect: Send + Sync {
    /// A quoted name.
    fn identifier(&self, out: &mut String, name: &str) {
        out.push('"');
        for part in name.split_inclusive('"') {
            out.push_str(part);
            if part.ends_with('"') {
                out.push('"');
            }
        }
        out.push('"');
    }
    fn table(&self, out: &mut String, schema: &str, name: &str);
    /// The placeholder of parameter `number`, from one.
    fn placeholder(&self, number: usize) -> String;
    fn page(&self, out: &mut String, limit: Option<&str>, offset: Option<&str>);
    /// Appends the direction of a sorted expression. Default: ascending, with nothing more for NOT NULL expressions.
    fn direction(&self, out: &mut String, order: &Order) {
        out.push_str(if order.descending { " DESC" } else { "" });
        if order.nullable {
            out.push_str(if order.nulls_first { " NULLS FIRST" } else { " NULLS LAST" });
        }
    }
    fn compare(&self, out: &mut String, left: &str, by: Comparison, right: Side<'_>);
    /// An expression of the value alone that fails if a comparison with it fails on every row. Default: values are judged elsewhere.
    fn judge_value(&self, _by: Comparison, _right: Side<'_>) -> Option<String> {
        None
    }
    /// An expression that fails if value `at` of a comparison with several values fails on every row. Default: none.
    fn judge_measure_value(&self, _by: Measure, _at: usize, _value: &str, _ty: u32) -> Option<String> {
        None
    }
    /// True if the planner may make a join of a condition on other rows, and compute values of a row below it. Default: conditions of a
    /// row are asked before anything is computed of it.
    fn joins_conditions(&self) -> bool {
        false
    }
    /// Writes a policy in front of a condition that may fail, so that the planner does not reorder them. Default: unchanged.
    fn seal_policy(&self, policy: &str) -> String {
        policy.to_owned()
    }
    /// Converts a stored value to the form by which it compares as clients see it. Default: unchanged.
    fn comparable(&self, value: String, _storage: Storage) -> String {
        value
    }
    /// The new value of a column, stored in the same form as the `old` one. Default: there is one form.
    fn match_storage(&self, value: String, _old: &str, _storage: Storage) -> String {
        value
    }
    /// The condition that ties a column of a row to a `value` of another row. Default: the values are equal.
    fn tie_condition(&self, left: &str, value: &str, _storage: Storage) -> String {
        format!("{left} = {value}")
    }
    /// Text after a table none of whose indexes may be used. Default: all indexes may be used.
    fn without_indexes(&self) -> &'static str {
        ""
    }
    /// Appends a condition for an index over prefixes, beside an equality. Default: there is no such index.
    fn prefix_condition(&self, out: &mut String, _left: &str, _by: Comparison, _right: &str) {
        out.push_str("true");
    }
    /// A comparison of a value of type `ty` with several others. Default: no column has a type that is compared so.
    fn measure(&self, _left: &str, _by: Measure, _values: &[Option<String>], _ty: u32) -> String {
        "NULL".to_owned()
    }
    /// The number of the type in which value `at` of such a comparison is bound.
    fn measured_type(&self, _ty: u32, _by: Measure, _at: usize) -> u32 {
        0
    }
    /// Appends a test for words in a text: `row` is the row's number and the text, `words` the bound words.
    fn word_test(&self, out: &mut String, row: [&str; 2], indexes: &[Box<str>], kind: Words, words: &str);
    /// A list of questions for words as the relation of `EACH_WORD`.
    fn each_word(&self, list: &str) -> String;
    /// Appends a test of the relation between two places.
    fn place(&self, out: &mut String, place: &Place<'_>);
    /// A function over the column written `column`, whose type is `ty`.
    fn function(&self, out: &mut String, function: Aggregation, column: &str, ty: u32);
    /// A function over one or two columns of type `ty`; with `distinct` each value, or pair of values, counts once. Default: as
    /// the SQL standard has them.
    fn statistic(&self, out: &mut String, function: Statistic, columns: &[String], distinct: bool, ty: u32) {
        let columns = format!("{}{}", if distinct { "DISTINCT " } else { "" }, columns.join(", "));
        match function {
            Statistic::Of(function) => self.function(out, function, &columns, ty),
            Statistic::Corr => out.push_str(&format!("corr({columns})")),
            Statistic::CovarSamp => out.push_str(&format!("covar_samp({columns})")),
        }
    }
    /// `sum`, a sum or average of `column`, which may hold what is no number: that fails then. Default: columns hold what their types say.
    fn sum_of_numbers(&self, sum: String, _column: &str) -> String {
        sum
    }
    /// The sum of the 64-bit integers of a column as it is given to clients, also one that has more bits. Default: that of the SQL
    /// standard.
    fn wide_sum(&self, column: &str) -> String {
        format!("sum({column})")
    }
    /// A text that is compared byte by byte. Default: all are.
    fn in_order_of_bytes(&self, text: String) -> String {
        text
    }
    /// `count(…)`: of all rows, of those in which the one column is not null, or of rows of several columns, which are
    /// never null as a whole; `distinct` ones, nulls being equal.
    fn count(&self, out: &mut String, columns: &[String], distinct: bool);
    /// The part of a JSON column under a bound path.
    fn json_path(&self, out: &mut String, column: &str, path: &str);
    /// The new value of a column whose old one is `old`. What leaves the column's type has to fail, not to be rounded.
    fn assign(&self, out: &mut String, operator: Operator, old: &str, value: Side<'_>);
    /// A value of type `ty` as another type. Default: values have no types of their own.
    fn cast(&self, of: String, _ty: u32, _to: Cast) -> String {
        of
    }
    /// A column of type `ty` in the form that clients receive.
    fn output_form(&self, column: String, _ty: u32) -> String {
        column
    }
    /// A bound value in the form of a value of type `ty`.
    fn input_form(&self, placeholder: String, _ty: u32) -> String {
        placeholder
    }
    /// A null as a value of a type.
    fn typed_null(&self, _ty: u32) -> String {
        "NULL".to_owned()
    }
    /// A column of parents' keys that came in type `first`, used as type `ty`.
    fn parent_key(&self, column: String, _first: u32, _ty: u32) -> String {
        column
    }
    /// Maximum number of `EXISTS` of one condition that the planner may turn into joins. Default: no limit.
    fn semi_joins_max(&self) -> u32 {
        u32::MAX
    }
    /// True if a statement may look for related rows of another shard row by row. Default: there are no shards.
    fn correlates_shards(&self) -> bool {
        true
    }
    /// True if a row as a whole has its table's type. Default: there are no shards with types of their own.
    fn has_row_types(&self) -> bool {
        true
    }
    /// A returned column that makes the statement fail with [`CHECK_FAILED`] unless `condition` is true.
    fn check_column(&self, condition: &str) -> String;
    /// The number of its type. Default: types have no numbers.
    fn checked_type(&self) -> u32 {
        0
    }
    /// After an upsert of a row: the condition `inserted` if the row is new, `updated` if it was there. `alias` is that of a table;
    /// `None` for a view. Default: both.
    fn by_branch(&self, _alias: Option<&String>, inserted: &str, updated: &str) -> String {
        format!("(({inserted}) AND ({updated}))")
    }
    /// The first value of an upsert that has to know its branch. Default: nothing is to be noted.
    fn begin_upsert(&self, value: String) -> String {
        value
    }
    /// A true condition with the side effect of noting that an upsert updates its row. Default: the row itself shows it.
    fn mark_update(&self) -> Option<&'static str> {
        None
    }
    /// True if after `RETURNING` the changed table is known by its own name, not by its alias.
    fn returns_by_name(&self) -> bool {
        false
    }
    /// True if the change of a view knows it by its own name, not by an alias.
    fn changes_views_by_name(&self) -> bool {
        false
    }
    /// True if the database has `SELECT DISTINCT ON`.
    fn distinct_on(&self) -> bool {
        false
    }
    /// True if an upsert names the constraint instead of its columns.
    fn conflict_by_name(&self) -> bool {
        false
    }
    /// The snapshot of the statement ([`crate::plan::Expr::Snapshot`]).
    fn snapshot(&self) -> &'static str {
        "NULL"
    }
    /// The number of a usual type. Default, as for all that follow: types have no numbers.
    fn usual(&self, _ty: Usual) -> u32 {
        0
    }
    /// The number of the type in which a column of type `ty` is given to clients.
    fn shown_type(&self, ty: u32) -> u32 {
        ty
    }
    /// The number of the type of `function` over a column of type `ty`.
    fn function_type(&self, _function: Aggregation, _ty: u32) -> u32 {
        0
    }
    /// The number of the type of a cast of a value of type `ty`.
    fn cast_type(&self, _ty: u32, _to: Cast) -> u32 {
        0
    }
    /// The number of the type in which a value is bound that is compared with one of type `left`.
    fn compared_type(&self, _left: u32, _by: Comparison) -> u32 {
        0
    }
    /// The number of the type in which a value is bound that becomes a column of type `ty`.
    fn given_type(&self, _ty: u32) -> u32 {
        0
    }
    /// The number of the type in which the right side of an operator of an update is bound.
    fn assigned_type(&self, _operator: Operator, _ty: u32) -> u32 {
        0
    }
}
