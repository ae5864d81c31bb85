//! What differs between databases when SQL is written.
//!
//! **Invariant:** every function appends whole tokens; names go through [`Dialect::identifier`].

use crate::api::meaning::{Aggregation, Comparison};
use crate::relational::change::Operator;
use crate::relational::{Order, Reader};

/// The right side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The placeholder of the bound value.
    pub placeholder: &'s str,
    /// How it is read.
    pub reader: &'s Reader,
    /// The left side is no column, so the database does not know its type.
    pub bare: bool,
    /// The left side is a column declared so.
    pub declared: Option<&'s str>,
}

/// One database's way of writing.
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
    /// A table.
    fn table(&self, out: &mut String, schema: &str, name: &str);
    /// The placeholder of parameter `number`, from one.
    fn placeholder(&self, number: usize) -> String;
    /// Limit and offset.
    fn page(&self, out: &mut String, limit: Option<&str>, offset: Option<&str>);
    /// What follows an expression that is sorted by. Default: ascending, and for what cannot be null nothing more.
    fn direction(&self, out: &mut String, order: &Order) {
        out.push_str(if order.descending { " DESC" } else { "" });
        if order.nullable {
            out.push_str(if order.nulls_first { " NULLS FIRST" } else { " NULLS LAST" });
        }
    }
    /// A comparison.
    fn compare(&self, out: &mut String, left: &str, by: Comparison, right: Side<'_>);
    /// The name of an aggregate function.
    fn function(&self, function: Aggregation) -> &'static str;
    /// `count(…)` of rows in which no column of `columns` is null.
    fn count(&self, out: &mut String, columns: &[String], distinct: bool);
    /// The part of a JSON column under a bound path.
    fn json_path(&self, out: &mut String, column: &str, path: &str);
    /// The new value of a column whose old one is `old`. What leaves the column's type has to fail, not to be rounded.
    fn assign(&self, out: &mut String, operator: Operator, old: &str, value: Side<'_>);
}
