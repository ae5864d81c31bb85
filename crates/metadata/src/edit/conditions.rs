//! Conditions of permissions, walked with the table that each member is about.

use super::foreign_keys::{KeyBefore, find_target};
use super::lookup::display_name;
use crate::document::table::{ForeignKeyOn, RelationshipEntry, TableEntry, TableName};
use crate::json::Json;

/// Tables that relationships lead to, as far as they are known.
pub(super) struct Targets {
    /// Table, relationship, target.
    all: Vec<(String, String, String)>,
}

impl Targets {
    /// Targets of the relationships of `tables`; those of a table's own columns are known by `keys` alone.
    pub(super) fn of(tables: &[TableEntry], keys: &[KeyBefore]) -> Self {
        let mut all = Vec::new();
        for table in tables {
            let own = display_name(&table.table);
            for entry in table.object_relationships.iter().chain(&table.array_relationships) {
                let target = target_of(entry, |columns| find_target(keys, &own, columns));
                all.extend(target.map(|it| (own.clone(), entry.name.clone(), it)));
            }
        }
        Self { all }
    }

    fn find(&self, table: &str, name: &str) -> Option<&str> {
        self.all.iter().find(|it| it.0 == table && it.1 == name).map(|it| it.2.as_str())
    }
}

fn target_of(entry: &RelationshipEntry, by_key: impl Fn(&[String]) -> Option<String>) -> Option<String> {
    match &entry.using.foreign_key_constraint_on {
        Some(ForeignKeyOn::Remote(key)) => Some(display_name(&key.table)),
        Some(ForeignKeyOn::Column(column)) => by_key(std::slice::from_ref(column)),
        Some(ForeignKeyOn::Columns(columns)) => by_key(columns),
        None => entry.using.manual_configuration.as_ref()?.remote_table.as_ref().map(display_name),
    }
}

/// Runs `visit` on the members of a condition on rows of `table`, each with its table and behind what stands below it.
pub(super) fn walk(
    condition: &mut Json,
    table: &str,
    targets: &Targets,
    visit: &mut impl FnMut(&str, &mut Box<str>, &mut Json),
) {
    match condition {
        Json::List(items) => items.iter_mut().for_each(|it| walk(it, table, targets, visit)),
        Json::Object(members) => {
            for (key, value) in &mut members.0 {
                match &**key {
                    "_and" | "_or" | "_not" | "$and" | "$or" | "$not" => walk(value, table, targets, visit),
                    "_exists" | "$exists" => walk_exists(value, targets, visit),
                    name => {
                        if let Some(target) = targets.find(table, name) {
                            walk(value, target, targets, visit);
                        }
                        visit(table, key, value);
                    }
                }
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

fn walk_exists(value: &mut Json, targets: &Targets, visit: &mut impl FnMut(&str, &mut Box<str>, &mut Json)) {
    let Json::Object(members) = value else { return };
    let of = members.get("_table").or_else(|| members.get("$table"));
    let Some(table) = of.and_then(TableName::of_json) else { return };
    let table = display_name(&table);
    let inside = members.0.iter_mut().filter(|it| matches!(&*it.0, "_where" | "$where"));
    inside.for_each(|it| walk(&mut it.1, &table, targets, visit));
}
