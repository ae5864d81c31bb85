//! Builds a model: names of tracked tables and columns, enum tables, then relationships.
//!
//! Nothing here fails as a whole: an entry that does not fit is left out or renamed, with a warning.

use super::building::Building;
use super::convention;
use super::graphql_names::{assign, graphql_name, hint, no_table};
use super::lookups;
use super::model_options::{EnumReader, Groups, ModelOptions, Track};
use super::native_queries;
use super::relationships;
use super::reserved;
use super::tracked_functions;
use super::{Model, RootField, RootFields, Tracked};
use hashbrown::{HashMap, HashSet};
use weir_metadata::document::table::{RootFieldEntries, RootFieldEntry, TableEntry};
use weir_relational::catalog::facts::Operators;
use weir_relational::catalog::{Catalog, ConfigStep, EnumTableValue, Relations, Table, TableId, Warning};

impl Model {
    /// Makes the model of `catalog`. What was left out or renamed stands in the warnings.
    pub fn build(
        catalog: Catalog,
        options: ModelOptions<'_>,
        read_enum: &mut EnumReader<'_>,
    ) -> (Self, Vec<Warning>) {
        let tables = vec![None; catalog.tables.len()];
        let missing_row = options.missing_row;
        let messages = options.messages.cloned().unwrap_or_default();
        let relations = Relations { catalog, relationships: Vec::new(), functions: Vec::new() };
        let functions = Vec::new();
        let customization = options.customization.cloned().unwrap_or_default();
        let lookups = Vec::new();
        let entities = Vec::new();
        let models = Vec::new();
        let model = Self {
            relations,
            tables,
            functions,
            missing_row,
            models,
            messages,
            customization,
            lookups,
            entities,
        };
        let mut building = Building {
            model,
            options,
            warnings: Vec::new(),
            entries: Vec::new(),
            models: Vec::new(),
            natives: HashMap::new(),
        };
        building.find_entries();
        building.track();
        building.root_fields();
        building.enum_tables(read_enum);
        native_queries::build(&mut building);
        relationships::build(&mut building);
        tracked_functions::build(&mut building);
        lookups::build(&mut building);
        lookups::entities::build(&mut building);
        building.model.models = building.models;
        (building.model, building.warnings)
    }
}

impl<'o> Building<'o> {
    fn find_entries(&mut self) {
        let mut seen = HashSet::new();
        for (at, entry) in self.options.tables.iter().enumerate() {
            let (schema, name) = entry.table.parts();
            let reason = match self.model.relations.catalog.find(schema, name) {
                Some(table) if seen.insert(table) => {
                    self.entries.push((at, table));
                    continue;
                }
                Some(_) => "it has an entry already: the first counts".to_owned(),
                None => no_table(&self.model.relations.catalog, schema, name),
            };
            let entry = vec!["tables".into(), at.into(), "table".into()];
            self.warnings.push(Warning { place: name.to_owned(), reason, entry });
        }
    }

    /// The entry of `table` and its place among the entries.
    pub(super) fn entry(&self, table: TableId) -> Option<(usize, &'o TableEntry)> {
        let entry = self.entries.iter().find(|(_, at)| *at == table);
        entry.map(|&(entry, _)| (entry, &self.options.tables[entry]))
    }

    /// Gives every served table and its columns their names.
    fn track(&mut self) {
        let catalog = &self.model.relations.catalog;
        let by_table: Vec<Option<(usize, &TableEntry)>> = if self.entries.is_empty() {
            vec![None; catalog.tables.len()]
        } else {
            (0..catalog.tables.len()).map(|at| self.entry(TableId(at as u32))).collect()
        };
        let served = |at: &usize| self.options.track == Track::All || by_table[*at].is_some();
        let served: Vec<usize> = (0..catalog.tables.len()).filter(served).collect();
        let wanted: Vec<String> = served
            .iter()
            .map(|&at| base_name(catalog, TableId(at as u32), by_table[at].map(|it| it.1)))
            .collect();
        let all: HashSet<&str> = wanted.iter().map(String::as_str).collect();
        let scalars: HashSet<String> =
            catalog.tables.iter().flat_map(|table| &table.columns).filter_map(other).collect();
        let fits = |name: &str| {
            !reserved::is_type(name)
                && !scalars.contains(name)
                && !reserved::clashes_with_table(name, |table| all.contains(table))
        };
        let mut warnings = std::mem::take(&mut self.warnings);
        let names = assign(wanted.iter().map(String::as_str), fits, str::to_owned, &mut warnings);
        let mut comments = Vec::new();
        for (&at, name) in served.iter().zip(names) {
            let Some(name) = name else { continue };
            let table = &catalog.tables[at];
            let is_camel = self.model.is_camel();
            let tracked =
                track_table(table, name, by_table[at], is_camel, &mut warnings, |column, comment| {
                    comments.push((at, column, comment));
                });
            let is_named = by_table[at]
                .is_some_and(|(_, it)| it.configuration.custom_root_fields.select_group_by.is_some());
            let tracked = Tracked { has_groups: is_named || self.options.groups == Groups::All, ..tracked };
            if tracked.columns.iter().all(Option::is_none) {
                let reason = "none of its columns can be served".to_owned();
                warnings.push(Warning::new(table.name.clone(), reason));
                continue;
            }
            self.model.tables[at] = Some(tracked);
        }
        for (at, column, comment) in comments {
            self.model.relations.catalog.tables[at].columns[column].comment = comment;
        }
        self.warnings = warnings;
    }

    /// Assigns custom names of root fields, if they are free.
    fn root_fields(&mut self) {
        let mut taken: HashSet<String> = HashSet::new();
        for (at, table) in self.entries.clone() {
            let entry = &self.options.tables[at].configuration.custom_root_fields;
            let Some(tracked) = &self.model.tables[table.0 as usize] else { continue };
            let mut fields = RootFields::default();
            let base = tracked.name.clone();
            for (slot, entry) in slots(&mut fields, entry) {
                let Some(entry) = entry else { continue };
                let (name, comment) = match entry {
                    RootFieldEntry::Name(name) => (Some(name), None),
                    RootFieldEntry::Full(full) => (full.name.as_ref(), full.comment.clone()),
                };
                slot.comment = comment;
                let Some(name) = name else { continue };
                let valid = graphql_name(name).is_some_and(|valid| valid == name.as_str());
                if !valid || self.is_root(name) || !taken.insert(name.clone()) {
                    let reason =
                        "the name of a root field has to be a GraphQL name that is free: the usual one stays";
                    let entry = ["configuration", "custom_root_fields"].map(ConfigStep::from);
                    let entry = ["tables".into(), at.into()].into_iter().chain(entry).collect();
                    self.warnings.push(Warning {
                        place: format!("{base}.{name}"),
                        reason: reason.into(),
                        entry,
                    });
                } else {
                    slot.name = Some(name.clone());
                }
            }
            if let Some(tracked) = &mut self.model.tables[table.0 as usize] {
                tracked.root_fields = fields;
            }
        }
    }

    /// Reads the values of enum tables and finds the columns that hold them.
    fn enum_tables(&mut self, read: &mut EnumReader<'_>) {
        for (at, id) in self.entries.clone() {
            if !self.options.tables[at].is_enum {
                continue;
            }
            let table = self.model.relations.catalog.table(id);
            let values = enum_shape(table)
                .map_or_else(Err, |()| read(table))
                .and_then(|it| checked_values(it, self.model.is_camel()));
            match (values, &mut self.model.tables[id.0 as usize]) {
                (Ok(values), Some(tracked)) => tracked.enum_values = values,
                (Err(reason), _) => {
                    let place = table.name.clone();
                    let reason = format!("it cannot be an enum and is served as a table: {reason}");
                    let entry = vec!["tables".into(), at.into(), "is_enum".into()];
                    self.warnings.push(Warning { place, reason, entry });
                }
                (Ok(_), None) => {}
            }
        }
        for at in 0..self.model.tables.len() {
            for key in &self.model.relations.catalog.tables[at].foreign_keys {
                let target = self.model.tables[key.target.0 as usize].as_ref();
                let is_enum = target.is_some_and(|target| !target.enum_values.is_empty());
                let target_key = &self.model.relations.catalog.table(key.target).primary_key;
                let on_key = target_key.as_ref().is_some_and(|primary| primary.columns == key.target_columns);
                if let (true, true, Some(tracked)) = (is_enum, on_key, &mut self.model.tables[at]) {
                    tracked.enums[key.columns[0].0 as usize] = Some(key.target);
                }
            }
        }
    }
}

/// The name of a table without others around it.
pub(super) fn base_name(catalog: &Catalog, at: TableId, entry: Option<&TableEntry>) -> String {
    let table = catalog.table(at);
    match entry.and_then(|entry| entry.configuration.custom_name.clone()) {
        Some(name) => name,
        None if table.schema == catalog.default_schema => table.name.clone(),
        None => format!("{}_{}", table.schema, table.name),
    }
}

/// The scalar an unknown type brings: no table can have its name.
fn other(column: &weir_relational::catalog::Column) -> Option<String> {
    column.ty.own_name().map(str::to_owned)
}

fn track_table(
    table: &Table,
    name: String,
    entry: Option<(usize, &TableEntry)>,
    is_camel: bool,
    warnings: &mut Vec<Warning>,
    mut comment: impl FnMut(usize, String),
) -> Tracked {
    let configuration = entry.map(|(_, entry)| &entry.configuration);
    let entry_at = entry.map_or(0, |(at, _)| at);
    let usual = |name: &str| if is_camel { convention::field(name) } else { name.to_owned() };
    let mut wanted: Vec<String> = table.columns.iter().map(|column| usual(&column.name)).collect();
    if let Some(configuration) = configuration {
        let older = configuration
            .custom_column_names
            .iter()
            .map(|(column, name)| ("custom_column_names", column, Some(name), None));
        let newer = configuration.column_config.iter();
        let newer = newer.map(|(column, config)| {
            ("column_config", column, config.custom_name.as_ref(), config.comment.as_ref())
        });
        for (block, column, name, words) in older.chain(newer) {
            let Some(at) = table.find(column) else {
                let columns = table.columns.iter().map(|column| column.name.as_str());
                let reason = format!("there is no such column{}", hint(column, columns));
                let entry = vec![
                    "tables".into(),
                    entry_at.into(),
                    "configuration".into(),
                    block.into(),
                    column.as_str().into(),
                ];
                warnings.push(Warning { place: format!("{}.{column}", table.name), reason, entry });
                continue;
            };
            if let Some(name) = name {
                wanted[at.0 as usize] = name.clone();
            }
            if let Some(words) = words {
                comment(at.0 as usize, words.clone());
            }
        }
    }
    let place = |column: &str| format!("{}.{column}", table.name);
    let columns = assign(wanted.iter().map(String::as_str), reserved::fits_column, place, warnings);
    let words = configuration.and_then(|configuration| configuration.comment.clone());
    Tracked {
        name,
        enums: vec![None; columns.len()],
        columns,
        relationships: Vec::new(),
        computed: Vec::new(),
        enum_values: Vec::new(),
        has_custom_name: configuration.is_some_and(|it| it.custom_name.is_some()),
        has_groups: true,
        root_fields: RootFields::default(),
        comment: words.or_else(|| Some(table.comment.clone()).filter(|it| !it.is_empty())),
    }
}

/// Pairs of a setting and its value in the configuration.
fn slots<'f, 'e>(
    fields: &'f mut RootFields,
    entry: &'e RootFieldEntries,
) -> [(&'f mut RootField, Option<&'e RootFieldEntry>); 12] {
    [
        (&mut fields.select, entry.select.as_ref()),
        (&mut fields.select_by_pk, entry.select_by_pk.as_ref()),
        (&mut fields.select_aggregate, entry.select_aggregate.as_ref()),
        (&mut fields.select_group_by, entry.select_group_by.as_ref()),
        (&mut fields.select_stream, entry.select_stream.as_ref()),
        (&mut fields.insert, entry.insert.as_ref()),
        (&mut fields.insert_one, entry.insert_one.as_ref()),
        (&mut fields.update, entry.update.as_ref()),
        (&mut fields.update_by_pk, entry.update_by_pk.as_ref()),
        (&mut fields.update_many, entry.update_many.as_ref()),
        (&mut fields.delete, entry.delete.as_ref()),
        (&mut fields.delete_by_pk, entry.delete_by_pk.as_ref()),
    ]
}

/// An enum table has a text as its key and at most one other column, its comment.
fn enum_shape(table: &Table) -> Result<(), String> {
    let text = |at: usize| table.columns[at].ty.facts().operators.contains(&Operators::Text);
    let key = table.primary_key.as_ref().filter(|key| key.columns.len() == 1);
    let key = key.ok_or("it needs a primary key of one column")?.columns[0];
    if !text(key.0 as usize) {
        return Err("its primary key has to be a text".into());
    }
    let others: Vec<usize> = (0..table.columns.len()).filter(|&at| at != key.0 as usize).collect();
    match others[..] {
        [] => Ok(()),
        [comment] if text(comment) => Ok(()),
        _ => Err("beside its key it may have one text column, the comment".into()),
    }
}

/// `values`, if they can be names of one enum, in capitals where `is_camel`.
fn checked_values(values: Vec<EnumTableValue>, is_camel: bool) -> Result<Vec<EnumTableValue>, String> {
    if values.is_empty() {
        return Err("it has no rows".into());
    }
    let mut names = HashSet::new();
    let twice = values.iter().find(|it| is_camel && !names.insert(it.value.to_ascii_uppercase()));
    if let Some(twice) = twice {
        return Err(format!("in capitals its value `{}` is another one's", twice.value));
    }
    let valid = |name: &str| {
        graphql_name(name).is_some_and(|valid| valid == name) && !["true", "false", "null"].contains(&name)
    };
    match values.iter().find(|value| !valid(&value.value)) {
        Some(value) => Err(format!("its value `{}` is no GraphQL name", value.value)),
        None => Ok(values),
    }
}
