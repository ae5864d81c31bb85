//! Renames a relationship in the conditions that follow it.

use super::conditions::{Targets, walk};
use super::lookup::display_name;
use crate::document::table::TableEntry;
use crate::json::Json;

/// Gives the relationship `name` of the table at `at` the name `new` in the conditions of all permissions of `tables`.
///
/// The target of a foreign key of the table's own column is known to the database alone, so what lies behind it keeps the old name.
pub(super) fn relationship(tables: &mut [TableEntry], at: usize, name: &str, new: &str) {
    let of = display_name(&tables[at].table);
    let targets = Targets::of(tables, |_, _| None);
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
