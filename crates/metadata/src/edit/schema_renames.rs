//! Follows tables and columns that got other names in their database into all entries that name them.
//!
//! **Invariant:** all names of one step change at once, so that two that take each other's place are told apart.

use super::conditions::{Targets, walk};
use super::foreign_keys::{KeyBefore, TableKey, display_table};
use super::lookup::display_name;
use crate::document::Metadata;
use crate::document::event_trigger::EventTriggerEntry;
use crate::document::permission::Columns;
use crate::document::remote_relationship::{RemoteDefinition, ToSource};
use crate::document::source::SourceEntry;
use crate::document::table::{ForeignKeyOn, Manual, RelationshipEntry, TableEntry, TableName, each_table};
use crate::json::{Json, Members};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Names that changed in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaRenames {
    /// New names of tables by those before.
    pub tables: BTreeMap<TableKey, TableKey>,
    /// New names of columns by the names of table and column before.
    pub columns: BTreeMap<(TableKey, String), String>,
    /// Foreign keys, along which conditions lead to other tables.
    pub keys: Vec<KeyBefore>,
    /// Tables that are gone, by their names before.
    pub dropped_tables: BTreeSet<TableKey>,
    /// Columns that are gone from tables that stay, by the names before.
    pub dropped_columns: BTreeSet<(TableKey, String)>,
}

/// Ending of the name of something gone.
const GONE: &str = " (dropped)";

impl SchemaRenames {
    /// True if no name changed.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.columns.is_empty()
    }

    /// Gives the entries of `document` that name tables and columns of the source `source` their new names. Entries of something gone
    /// whose name is taken get a name that nothing has, so that their permissions do not pass to what took it.
    pub fn follow(&self, document: &mut Metadata, source: &str) {
        let parted = self.part(document, source);
        if !parted.is_empty() {
            parted.rename(document, source);
        }
        self.rename(document, source);
    }

    /// Names that tables and columns take over from something gone that `document` still names, in words.
    pub fn list_taken(&self, document: &Metadata, source: &str) -> Vec<String> {
        let parted = self.part(document, source);
        let tables = parted.tables.keys().map(|it| format!("table \"{}\"", display_table(it)));
        let columns = parted
            .columns
            .keys()
            .map(|(table, name)| format!("column \"{name}\" of table \"{}\"", display_table(table)));
        tables.chain(columns).collect()
    }

    /// New names, which nothing has, of what is gone or unknown to the database and whose name is taken, though `document` names it.
    fn part(&self, document: &Metadata, source: &str) -> Self {
        let mut all = self.without_names();
        for (old, new) in &self.tables {
            let is_taken = !self.tables.contains_key(new) && old != new;
            let names_old = || self.of_table(old).is_named(document, source);
            if is_taken && (self.dropped_tables.contains(new) || names_old()) {
                all.tables.extend(self.of_table(new).tables);
            }
        }
        for ((table, old), new) in &self.columns {
            let taken = (table.clone(), new.clone());
            let is_taken = !self.columns.contains_key(&taken) && old != new;
            let names_old = || self.of_column(&(table.clone(), old.clone())).is_named(document, source);
            if is_taken && (self.dropped_columns.contains(&taken) || names_old()) {
                all.columns.extend(self.of_column(&taken).columns);
            }
        }
        if all.is_empty() || !all.is_named(document, source) {
            return self.without_names();
        }
        all.tables.retain(|it, _| self.of_table(it).is_named(document, source));
        all.columns.retain(|it, _| self.of_column(it).is_named(document, source));
        all
    }

    fn without_names(&self) -> Self {
        Self { keys: self.keys.clone(), ..Self::default() }
    }

    /// A step that gives `table` alone a name that nothing has.
    fn of_table(&self, table: &TableKey) -> Self {
        let free = (table.0.clone(), format!("{}{GONE}", table.1));
        Self { tables: [(table.clone(), free)].into(), ..self.without_names() }
    }

    /// A step that gives `column` alone a name that nothing has.
    fn of_column(&self, column: &(TableKey, String)) -> Self {
        let free = format!("{}{GONE}", column.1);
        Self { columns: [(column.clone(), free)].into(), ..self.without_names() }
    }

    /// True if `document` names a table or column that has another name now.
    fn is_named(&self, document: &Metadata, source: &str) -> bool {
        let mut next = document.clone();
        self.rename(&mut next, source);
        next != *document
    }

    fn rename(&self, document: &mut Metadata, source: &str) {
        for entry in document.sources.iter_mut().filter(|it| it.name == source) {
            self.follow_source(entry);
        }
        for target in document.remote_targets_mut().filter(|it| it.source == source) {
            self.follow_target(target);
        }
        for relationship in document.custom_types.objects.iter_mut().flat_map(|it| &mut it.relationships) {
            if relationship.source == source {
                let key = key_of(&relationship.remote_table);
                for (_, column) in &mut relationship.field_mapping.0 {
                    let new = column.text().and_then(|it| self.columns.get(&(key.clone(), it.to_owned())));
                    if let Some(new) = new {
                        *column = Json::Text(new.as_str().into());
                    }
                }
                self.rename_table(&mut relationship.remote_table);
            }
        }
    }

    fn follow_target(&self, target: &mut ToSource) {
        self.rename_values(&mut target.field_mapping, &target.table);
        self.rename_table(&mut target.table);
    }

    fn follow_source(&self, source: &mut SourceEntry) {
        let targets = Targets::of(&source.tables, &self.keys);
        for table in &mut source.tables {
            self.follow_conditions(table, &targets);
            self.follow_table(table);
        }
        for query in &mut source.native_queries {
            let relationships = query.object_relationships.iter_mut().chain(&mut query.array_relationships);
            let manual = relationships.flatten().filter_map(|it| it.using.manual_configuration.as_mut());
            manual.for_each(|it| self.follow_manual(it));
        }
        for response in source.functions.iter_mut().filter_map(|it| it.configuration.response.as_mut()) {
            self.rename_table(&mut response.table);
        }
    }

    fn follow_conditions(&self, table: &mut TableEntry, targets: &Targets) {
        let own = display_name(&table.table);
        let mut visit = |table: &str, key: &mut Box<str>, value: &mut Json| {
            self.follow_compared(value, table, &own);
            if let Some(new) = self.shown_column(table, key) {
                *key = new.into();
            }
        };
        let follow = |condition: &mut Json| {
            walk(condition, &own, targets, &mut visit);
            each_table(condition, &mut |it| self.rename_table(it));
        };
        table.each_condition(|_| true, follow);
    }

    /// Columns that a column of `table` is compared with: of the same table, or behind `$` of the permission's.
    fn follow_compared(&self, comparisons: &mut Json, table: &str, own: &str) {
        const COMPARISONS: [&str; 6] = ["ceq", "cne", "cgt", "clt", "cgte", "clte"];
        let Json::Object(Members(members)) = comparisons else { return };
        for (operator, value) in members {
            let is_comparison = operator.strip_prefix(['_', '$']).is_some_and(|it| COMPARISONS.contains(&it));
            let (table, column) = match value {
                Json::Text(_) => (table, value),
                Json::List(items) => match items.as_mut_slice() {
                    [Json::Text(root), column] if **root == *"$" => (own, column),
                    [column] => (table, column),
                    _ => continue,
                },
                _ => continue,
            };
            if let (true, Json::Text(name)) = (is_comparison, &*column)
                && let Some(new) = self.shown_column(table, name)
            {
                *column = Json::Text(new.into());
            }
        }
    }

    /// Follows the columns of `table`, whose name is still the one before, and then its name.
    fn follow_table(&self, table: &mut TableEntry) {
        let key = key_of(&table.table);
        let new_of = |column: &str| self.columns.get(&(key.clone(), column.to_owned())).cloned();
        for entry in &mut table.select_permissions {
            rename_listed(&mut Arc::make_mut(&mut entry.permission).columns, new_of);
        }
        for entry in &mut table.insert_permissions {
            let permission = Arc::make_mut(&mut entry.permission);
            rename_listed(&mut permission.columns, new_of);
            rename_members(&mut permission.set, new_of);
        }
        for entry in &mut table.update_permissions {
            let permission = Arc::make_mut(&mut entry.permission);
            rename_listed(&mut permission.columns, new_of);
            rename_members(&mut permission.set, new_of);
        }
        for entry in table.object_relationships.iter_mut().chain(&mut table.array_relationships) {
            self.follow_relationship(entry, new_of);
        }
        rename_keys(&mut table.configuration.column_config, new_of);
        rename_keys(&mut table.configuration.custom_column_names, new_of);
        table.event_triggers.iter_mut().for_each(|it| follow_trigger(it, new_of));
        for entry in &mut table.remote_relationships {
            follow_own_fields(&mut entry.definition, new_of);
        }
        self.rename_table(&mut table.table);
    }

    fn follow_relationship(&self, entry: &mut RelationshipEntry, new_of: impl Fn(&str) -> Option<String>) {
        match &mut entry.using.foreign_key_constraint_on {
            Some(ForeignKeyOn::Column(column)) => rename_text(column, new_of),
            Some(ForeignKeyOn::Columns(columns)) => {
                columns.iter_mut().for_each(|it| rename_text(it, &new_of))
            }
            Some(ForeignKeyOn::Remote(key)) => {
                let table = key_of(&key.table);
                let new_of = |column: &str| self.columns.get(&(table.clone(), column.to_owned())).cloned();
                key.column.iter_mut().chain(&mut key.columns).for_each(|it| rename_text(it, new_of));
                self.rename_table(&mut key.table);
            }
            None => {
                let Some(manual) = &mut entry.using.manual_configuration else { return };
                rename_keys(&mut manual.column_mapping, new_of);
                self.follow_manual(manual);
            }
        }
    }

    /// Follows the target of a relationship and its columns.
    fn follow_manual(&self, manual: &mut Manual) {
        if let Some(table) = &mut manual.remote_table {
            self.rename_values(&mut manual.column_mapping, table);
            self.rename_table(table);
        }
    }

    fn rename_values(&self, mapping: &mut BTreeMap<String, String>, table: &TableName) {
        let key = key_of(table);
        for column in mapping.values_mut() {
            rename_text(column, |it| self.columns.get(&(key.clone(), it.to_owned())).cloned());
        }
    }

    /// The new name of a column of the table that is shown as `table`.
    fn shown_column(&self, table: &str, column: &str) -> Option<&str> {
        let is_it = |it: &(&(TableKey, String), &String)| display_table(&it.0.0) == table && it.0.1 == column;
        self.columns.iter().find(is_it).map(|it| it.1.as_str())
    }

    fn rename_table(&self, table: &mut TableName) {
        let key = key_of(table);
        let Some(new) = self.tables.get(&key) else { return };
        let (schema, name) = new.clone();
        match table {
            TableName::Qualified(table) => {
                table.name = name;
                if key.0 != schema {
                    table.schema = schema;
                }
            }
            TableName::Name(_) => {
                *table = TableName::Name(name);
                if key.0 != schema {
                    table.in_schema(&schema);
                }
            }
        }
    }
}

fn key_of(table: &TableName) -> TableKey {
    let (schema, name) = table.parts();
    (if schema.is_empty() { "public" } else { schema }.to_owned(), name.to_owned())
}

fn rename_text(text: &mut String, new_of: impl Fn(&str) -> Option<String>) {
    if let Some(new) = new_of(text) {
        *text = new;
    }
}

fn rename_listed(columns: &mut Columns, new_of: impl Fn(&str) -> Option<String>) {
    if let Columns::Listed(names) = columns {
        names.iter_mut().for_each(|it| rename_text(it, &new_of));
    }
}

fn rename_members(members: &mut Members, new_of: impl Fn(&str) -> Option<String>) {
    for (key, _) in &mut members.0 {
        if let Some(new) = new_of(key) {
            *key = new.into();
        }
    }
}

fn rename_keys<V>(map: &mut BTreeMap<String, V>, new_of: impl Fn(&str) -> Option<String>) {
    let renamed = std::mem::take(map).into_iter().map(|(key, value)| (new_of(&key).unwrap_or(key), value));
    *map = renamed.collect();
}

fn follow_trigger(trigger: &mut EventTriggerEntry, new_of: impl Fn(&str) -> Option<String>) {
    let definition = &mut trigger.definition;
    for spec in [&mut definition.insert, &mut definition.update, &mut definition.delete].into_iter().flatten()
    {
        rename_listed(&mut spec.columns, &new_of);
        if let Some(payload) = &mut spec.payload {
            rename_listed(payload, &new_of);
        }
    }
}

/// Follows the columns of the table that has the relationship.
fn follow_own_fields(definition: &mut RemoteDefinition, new_of: impl Fn(&str) -> Option<String>) {
    if let Some(target) = &mut definition.to_source {
        rename_keys(&mut target.field_mapping, &new_of);
    }
    if let Some(remote) = &mut definition.to_remote_schema {
        remote.lhs_fields.iter_mut().for_each(|it| rename_text(it, &new_of));
        follow_arguments(&mut remote.remote_field, &new_of);
    }
    definition.hasura_fields.iter_mut().flatten().for_each(|it| rename_text(it, &new_of));
    definition.remote_field.iter_mut().for_each(|it| follow_arguments(it, &new_of));
}

/// Follows the texts `$column` of arguments.
fn follow_arguments(json: &mut Json, new_of: &impl Fn(&str) -> Option<String>) {
    match json {
        Json::Text(text) => {
            if let Some(new) = text.strip_prefix('$').and_then(new_of) {
                *text = format!("${new}").into();
            }
        }
        Json::List(items) => items.iter_mut().for_each(|it| follow_arguments(it, new_of)),
        Json::Object(members) => members.0.iter_mut().for_each(|it| follow_arguments(&mut it.1, new_of)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
