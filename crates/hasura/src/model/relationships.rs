//! Relationships: one each way for every foreign key, and those of the configuration.
//!
//! [`super::naming`] has the rules of their names. An entry of the configuration takes the place of the relationship the rule gives for the
//! same columns.

use super::building::Building;
use super::computed;
use super::graphql_names::{UniqueNames, hint, no_table};
use super::model_options::Track;
use super::naming::Way;
use hashbrown::HashMap;
use weir_metadata::document::table::{
    ForeignKeyOn, InsertionOrder, Manual, RelationshipEntry, RemoteKey, TableName,
};
use weir_relational::catalog::{
    ColumnId, ConfigStep, ForeignKey, Relationship, RelationshipKind, Table, TableId,
};

/// Kinds of relationships: to one row, or to many.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Object,
    Array,
}

/// Fills the model's relationships.
pub(super) fn build(building: &mut Building<'_>) {
    let explicit = explicit(building);
    let mut found: Vec<(Relationship, String)> = Vec::new();
    let replaced = |new: &Relationship| explicit.iter().any(|(old, _)| same_way(old, new));
    for proposal in by_keys(building) {
        if !replaced(&proposal.0) {
            found.push(proposal);
        }
    }
    let mut names: HashMap<TableId, UniqueNames> = HashMap::new();
    for (relationship, entry) in explicit {
        let is_known = building.model.is_model(relationship.from)
            && building.model.relations.relationships.contains(&relationship);
        if is_known {
            // Native queries of one model may say the same.
            continue;
        }
        let taken =
            names.entry(relationship.from).or_insert_with(|| columns_taken(building, relationship.from));
        if free(taken, &relationship.name, relationship.kind) {
            building.add_relationship(relationship);
        } else {
            let reason = format!("there is another field called `{}`", relationship.name);
            building.warn_at(relationship.from, &relationship.name, reason, entry);
        }
    }
    computed::build(building, |building, table, name, is_list| {
        let taken = names.entry(table).or_insert_with(|| columns_taken(building, table));
        let kind =
            if is_list { RelationshipKind::Array } else { RelationshipKind::Object { certain: false } };
        free(taken, name, kind)
    });
    found.sort_by_key(|(relationship, _)| (relationship.from, relationship.kind == RelationshipKind::Array));
    for (mut relationship, appendix) in found {
        let from = relationship.from;
        let taken = names.entry(from).or_insert_with(|| columns_taken(building, from));
        if !free(taken, &relationship.name, relationship.kind) {
            let wanted = relationship.name.clone();
            let mut name = format!("{wanted}_{appendix}");
            let mut number = 2_u32;
            while !free(taken, &name, relationship.kind) {
                name = format!("{wanted}_{appendix}_{number}");
                number += 1;
            }
            building.warn_at(
                from,
                &wanted,
                format!("there is another field of that name: it is called `{name}`"),
                Vec::new(),
            );
            relationship.name = name;
        }
        building.add_relationship(relationship);
    }
}

/// The names a relationship of `table` cannot have.
fn columns_taken(building: &Building<'_>, table: TableId) -> UniqueNames {
    let mut names = UniqueNames::default();
    for word in ["_and", "_or", "_not"] {
        names.take(word);
    }
    let columns = building.model.tracked_table(table).map(|tracked| tracked.columns.iter().flatten());
    for column in columns.into_iter().flatten() {
        names.take(column);
    }
    names
}

/// Takes the name, with the aggregate beside it; nothing if one of both is taken.
fn free(names: &mut UniqueNames, name: &str, kind: RelationshipKind) -> bool {
    match kind {
        RelationshipKind::Object { .. } => names.take(name),
        RelationshipKind::Array => names.take_both(name, &format!("{name}_aggregate")),
    }
}

fn same_way(one: &Relationship, other: &Relationship) -> bool {
    let arrays = |kind| kind == RelationshipKind::Array;
    one.from == other.from
        && one.to == other.to
        && arrays(one.kind) == arrays(other.kind)
        && one.on.len() == other.on.len()
        && one.on.iter().all(|pair| other.on.contains(pair))
}

/// Both directions of every foreign key between tracked tables, with the suffix for a name that is taken.
fn by_keys(building: &Building<'_>) -> Vec<(Relationship, String)> {
    let model = &building.model;
    let mut out = Vec::new();
    if building.options.track == Track::Listed {
        return out;
    }
    for (at, table, tracked) in model.all() {
        for key in &table.foreign_keys {
            let Some(target) = model.tracked_table(key.target) else { continue };
            let is_single = table.is_unique(&key.columns);
            let way = Way::of(at, table, tracked, target, key);
            let [there, back] = way.names(building.options.relationship_names, is_single);
            let there = forward(at, table, key, there);
            let back = Relationship {
                name: back,
                from: key.target,
                to: at,
                comment: None,
                on: there.on.iter().map(|&(ours, theirs)| (theirs, ours)).collect(),
                through: None,
                kind: if is_single {
                    RelationshipKind::Object { certain: false }
                } else {
                    RelationshipKind::Array
                },
                call: None,
                insert_first: false,
                enforced: false,
                deferrable: false,
            };
            out.push((there, way.appendix.clone()));
            out.push((back, way.appendix));
        }
    }
    out
}

/// Along a foreign key of `table` itself.
fn forward(from: TableId, table: &Table, key: &ForeignKey, name: String) -> Relationship {
    let certain = key.holds && key.columns.iter().all(|&column| !table.column(column).nullable);
    Relationship {
        name,
        from,
        to: key.target,
        comment: None,
        on: key.columns.iter().copied().zip(key.target_columns.iter().copied()).collect(),
        through: None,
        kind: RelationshipKind::Object { certain },
        call: None,
        insert_first: true,
        enforced: key.enforced,
        deferrable: key.deferrable,
    }
}

/// Relationships of the configuration that are valid, with their places.
fn explicit(building: &mut Building<'_>) -> Vec<(Relationship, Vec<ConfigStep>)> {
    let mut out = Vec::new();
    let entries = building.options.tables;
    for (place, at) in building.entries.clone() {
        let entry = &entries[place];
        let objects = entry.object_relationships.iter().enumerate();
        let objects = objects.map(|(number, entry)| ("object_relationships", number, entry, Wanted::Object));
        let arrays = entry.array_relationships.iter().enumerate();
        let arrays = arrays.map(|(number, entry)| ("array_relationships", number, entry, Wanted::Array));
        for (block, number, entry, wanted) in objects.chain(arrays) {
            let path = vec!["tables".into(), place.into(), block.into(), number.into()];
            match resolve(building, at, entry, wanted) {
                Ok(relationship) => {
                    let comment = entry.comment.clone();
                    out.push((Relationship { comment, ..relationship }, path));
                }
                Err(reason) => building.warn_at(at, &entry.name, reason, path),
            }
        }
    }
    for (place, native) in building.options.native_queries.iter().enumerate() {
        let Some(&(_, at)) = building.natives.get(&native.root_field_name) else { continue };
        let mut number = HashMap::new();
        for (block, entry) in native.relationships() {
            let number: &mut usize = number.entry(block).or_default();
            let path = vec!["native_queries".into(), place.into(), block.into(), (*number).into()];
            *number += 1;
            let wanted = if block == "object_relationships" { Wanted::Object } else { Wanted::Array };
            match resolve(building, at, entry, wanted) {
                Ok(relationship) => {
                    let comment = entry.comment.clone();
                    out.push((Relationship { comment, ..relationship }, path));
                }
                Err(reason) => building.warn_at(at, &entry.name, reason, path),
            }
        }
    }
    out
}

fn resolve(
    building: &Building<'_>,
    at: TableId,
    entry: &RelationshipEntry,
    wanted: Wanted,
) -> Result<Relationship, String> {
    let valid =
        super::graphql_names::graphql_name(&entry.name).is_some_and(|name| name == entry.name.as_str());
    if !valid {
        return Err("a relationship's name has to be a GraphQL name".into());
    }
    let using = &entry.using;
    match (&using.foreign_key_constraint_on, &using.manual_configuration) {
        (Some(key), None) => by_constraint(building, at, &entry.name, key, wanted),
        (None, Some(manual)) => by_mapping(building, at, &entry.name, manual, wanted),
        (Some(_), Some(_)) | (None, None) => {
            Err("`using` needs one of `foreign_key_constraint_on` and `manual_configuration`".into())
        }
    }
}

fn by_constraint(
    building: &Building<'_>,
    at: TableId,
    name: &str,
    on: &ForeignKeyOn,
    wanted: Wanted,
) -> Result<Relationship, String> {
    let own = |columns: &[String]| {
        let table = building.model.relations.catalog.table(at);
        let key = key_on(table, columns, None)?;
        if wanted == Wanted::Array {
            return Err(
                "an array relationship needs a foreign key of the other table: `table` and `column`".into()
            );
        }
        check_tracked(building, key.target)?;
        Ok(forward(at, table, key, name.to_owned()))
    };
    match on {
        ForeignKeyOn::Column(column) => own(std::slice::from_ref(column)),
        ForeignKeyOn::Columns(columns) => own(columns),
        ForeignKeyOn::Remote(RemoteKey { table, column, columns }) => {
            let other = find_tracked(building, table)?;
            let columns: Vec<String> = column.iter().chain(columns).cloned().collect();
            let key = key_on(building.model.relations.catalog.table(other), &columns, Some(at))?;
            Ok(Relationship {
                name: name.to_owned(),
                from: at,
                to: other,
                comment: None,
                on: key.target_columns.iter().copied().zip(key.columns.iter().copied()).collect(),
                through: None,
                kind: match wanted {
                    Wanted::Object => RelationshipKind::Object { certain: false },
                    Wanted::Array => RelationshipKind::Array,
                },
                call: None,
                insert_first: false,
                enforced: false,
                deferrable: false,
            })
        }
    }
}

fn by_mapping(
    building: &Building<'_>,
    at: TableId,
    name: &str,
    manual: &Manual,
    wanted: Wanted,
) -> Result<Relationship, String> {
    let (to, call) = match (&manual.remote_table, &manual.remote_native_query) {
        (Some(table), _) => (find_tracked(building, table)?, None),
        (None, Some(native)) => {
            let found = building.natives.get(native);
            let (call, table) = found.ok_or_else(|| format!("native query `{native}` is not tracked"))?;
            (*table, Some(*call))
        }
        (None, None) => return Err("`remote_table` is missing".into()),
    };
    let column = |table: TableId, name: &str| -> Result<ColumnId, String> {
        let table = building.model.relations.catalog.table(table);
        table.find(name).ok_or_else(|| no_column(table, name))
    };
    let mut on = Vec::with_capacity(manual.column_mapping.len());
    for (ours, theirs) in &manual.column_mapping {
        on.push((column(at, ours)?, column(to, theirs)?));
    }
    if on.is_empty() {
        return Err("`column_mapping` needs at least one column".into());
    }
    let after = manual.insertion_order == Some(InsertionOrder::AfterParent);
    Ok(Relationship {
        name: name.to_owned(),
        from: at,
        to,
        comment: None,
        on,
        through: None,
        kind: match wanted {
            Wanted::Object => RelationshipKind::Object { certain: false },
            Wanted::Array => RelationshipKind::Array,
        },
        call,
        insert_first: wanted == Wanted::Object && !after && call.is_none(),
        enforced: false,
        deferrable: false,
    })
}

/// The foreign key on exactly `columns`, of which the order does not matter.
fn key_on<'t>(
    table: &'t Table,
    columns: &[String],
    target: Option<TableId>,
) -> Result<&'t ForeignKey, String> {
    let same = |key: &&ForeignKey| {
        key.columns.len() == columns.len()
            && key.columns.iter().all(|&column| columns.contains(&table.column(column).name))
            && target.is_none_or(|target| key.target == target)
    };
    let mut found = table.foreign_keys.iter().filter(same);
    let first = found.next();
    if first.is_some_and(|first| found.any(|it| it.target != first.target)) {
        return Err("more than one foreign key constraint exists on the given column(s)".into());
    }
    first.ok_or_else(|| {
        if let Some(unknown) = columns.iter().find(|it| table.find(it).is_none()) {
            return no_column(table, unknown);
        }
        format!("`{}` has no such foreign key on column `{}`", table.name, columns.join("`, `"))
    })
}

fn no_column(table: &Table, name: &str) -> String {
    let columns = table.columns.iter().map(|column| column.name.as_str());
    format!("`{}` has no column `{name}`{}", table.name, hint(name, columns))
}

fn find_tracked(building: &Building<'_>, name: &TableName) -> Result<TableId, String> {
    let (schema, name) = name.parts();
    let catalog = &building.model.relations.catalog;
    let found = catalog.find(schema, name);
    check_tracked(building, found.ok_or_else(|| no_table(catalog, schema, name))?)
}

fn check_tracked(building: &Building<'_>, table: TableId) -> Result<TableId, String> {
    match building.model.tracked_table(table) {
        Some(_) => Ok(table),
        None => Err(format!("table `{}` is not tracked", building.model.relations.catalog.table(table).name)),
    }
}
