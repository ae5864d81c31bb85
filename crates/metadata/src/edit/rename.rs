//! Renames a relationship in the conditions that follow it.
//!
//! A condition is followed along the relationships whose target the document says: a foreign key of the table's own column is known to
//! the database alone, and what lies behind it keeps the old name.

use super::lookup::display_name;
use crate::document::table::{ForeignKeyOn, RelationshipEntry, TableEntry, TableName};
use crate::json::Json;

/// Targets of relationships: table, relationship name, and the target table if the document says it.
type Targets = Vec<(String, String, Option<String>)>;

/// Gives the relationship `name` of the table at `at` the name `new` in the conditions of all permissions of `tables`.
pub(super) fn relationship(tables: &mut [TableEntry], at: usize, name: &str, new: &str) {
    let of = display_name(&tables[at].table);
    let targets = tables.iter().flat_map(targets).collect();
    let renaming = Renaming { of, name, new, targets };
    for table in tables {
        let own = display_name(&table.table);
        table.each_condition(|_| true, |it| renaming.condition(it, &own));
    }
}

fn targets(table: &TableEntry) -> Targets {
    let all = table.object_relationships.iter().chain(&table.array_relationships);
    let of = |entry: &RelationshipEntry| {
        let by_key = match &entry.using.foreign_key_constraint_on {
            Some(ForeignKeyOn::Remote(key)) => Some(&key.table),
            Some(ForeignKeyOn::Column(_) | ForeignKeyOn::Columns(_)) | None => None,
        };
        let by_hand = entry.using.manual_configuration.as_ref().and_then(|it| it.remote_table.as_ref());
        (display_name(&table.table), entry.name.clone(), by_key.or(by_hand).map(display_name))
    };
    all.map(of).collect()
}

struct Renaming<'r> {
    of: String,
    name: &'r str,
    new: &'r str,
    targets: Targets,
}

impl Renaming<'_> {
    /// A condition on rows of `table`.
    fn condition(&self, json: &mut Json, table: &str) {
        match json {
            Json::List(items) => items.iter_mut().for_each(|it| self.condition(it, table)),
            Json::Object(members) => {
                for (key, value) in &mut members.0 {
                    self.member(key, value, table);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
        }
    }

    fn member(&self, key: &mut Box<str>, value: &mut Json, table: &str) {
        if matches!(&**key, "_and" | "_or" | "_not" | "$and" | "$or" | "$not") {
            return self.condition(value, table);
        }
        if matches!(&**key, "_exists" | "$exists") {
            return self.exists(value);
        }
        let target = self.targets.iter().find(|it| it.0 == table && *it.1 == **key);
        if let Some((_, _, Some(target))) = target {
            self.condition(value, target);
        }
        if table == self.of && **key == *self.name {
            *key = self.new.into();
        }
    }

    fn exists(&self, value: &mut Json) {
        let Json::Object(members) = value else { return };
        let of = members.get("_table").or_else(|| members.get("$table"));
        let Some(table) = of.and_then(TableName::of_json) else { return };
        let table = display_name(&table);
        let inside = members.0.iter_mut().filter(|it| matches!(&*it.0, "_where" | "$where"));
        inside.for_each(|it| self.condition(&mut it.1, &table));
    }
}
