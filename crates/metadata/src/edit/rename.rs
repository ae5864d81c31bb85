//! Renames a relationship in the conditions that follow it.

use super::conditions::{Targets, walk};
use super::foreign_keys::KeyBefore;
use super::lookup::display_name;
use crate::document::table::TableEntry;
use crate::json::Json;

/// Gives the relationship `name` of the table at `at` the name `new` in the conditions of all permissions of `tables`, also behind the
/// foreign `keys` of the database.
pub(super) fn relationship(tables: &mut [TableEntry], keys: &[KeyBefore], at: usize, name: &str, new: &str) {
    let of = display_name(&tables[at].table);
    let targets = Targets::of(tables, keys);
    for table in tables {
        let own = display_name(&table.table);
        let mut visit = |table: &str, key: &mut Box<str>, _: &mut Json| {
            if *table == *of && **key == *name {
                *key = new.into();
            }
        };
        table.each_condition(|_| true, |it| walk(it, &own, &targets, &mut visit));
    }
}
