//! Builds computed fields: functions of the database that take a row of a table, as the configuration's entries name them.
//!
//! One that gives a value is a field of the row. One that gives rows of a served table is a relationship.
//!
//! **Invariant:** none is `VOLATILE`: reads may run it as often as they like, or not at all.

use super::building::Building;
use super::convention;
use super::graphql_names::graphql_name;
use super::tracked_functions::{description, find, is_free_type, list_client_arguments, session};
use super::{Serves, TrackedFunction};
use weir_metadata::document::table::ComputedFieldEntry;
use weir_relational::catalog::{
    Callable, Function, FunctionId, Relationship, RelationshipKind, TableId, Volatility,
};

/// Adds computed fields of the entries; `take` claims the name of a field, if it is free, and knows whether it is a list of rows.
pub(super) fn build(
    building: &mut Building<'_>,
    mut take: impl FnMut(&Building<'_>, TableId, &str, bool) -> bool,
) {
    let entries = building.options.tables;
    for (place, table) in building.entries.clone() {
        for (number, entry) in entries[place].computed_fields.iter().enumerate() {
            if let Err(reason) = add_computed_field(building, table, entry, &mut take) {
                let path = vec!["tables".into(), place.into(), "computed_fields".into(), number.into()];
                building.warn_at(table, &entry.name, reason, path);
            }
        }
    }
}

fn add_computed_field(
    building: &mut Building<'_>,
    table: TableId,
    entry: &ComputedFieldEntry,
    take: &mut impl FnMut(&Building<'_>, TableId, &str, bool) -> bool,
) -> Result<(), String> {
    let Some(tracked) = building.model.tracked_table(table) else { return Ok(()) };
    let definition = &entry.definition;
    let (at, function) = find(&building.model.relations.catalog.functions, &definition.function)?;
    if function.volatility == Volatility::Volatile {
        return Err("its function is VOLATILE: declare it STABLE or IMMUTABLE".into());
    }
    if !building.model.relations.catalog.table(table).is_whole {
        return Err("it needs the whole row, and the role may not read all columns of its table".into());
    }
    let row = row(function, definition.table_argument.as_deref(), table)?;
    let session = session(function, definition.session_argument.as_deref())?;
    let arguments = list_client_arguments(&building.model, function, &[Some(row), session])?;
    let rows = function.table.filter(|it| building.model.tracked_table(*it).is_some());
    if rows.is_none() && (function.is_set || function.ty.is_none()) {
        return Err("its function has to return one value, or rows of a table that is served".into());
    }
    let name = entry.name.clone();
    let is_list = rows.is_some() && function.is_set;
    if graphql_name(&name).is_none_or(|valid| valid != name.as_str())
        || !take(building, table, &name, is_list)
    {
        return Err(format!("`{name}` is no GraphQL name that is free among the fields of its table"));
    }
    let arguments_type = if building.model.is_camel() {
        convention::with_custom(&name, &format!("_{}_args", tracked.name))
    } else {
        format!("{name}_{}_args", tracked.name)
    };
    if !arguments.is_empty() && !is_free_type(&building.model, &arguments_type) {
        return Err(format!("`{arguments_type}` is no name that is free for the type of its arguments"));
    }
    let words = description(entry.comment.as_ref(), function)
        .unwrap_or_else(|| format!("A computed field, executes function \"{}\"", function.name));
    let serves = Serves::Row { name: name.clone(), words };
    let kind = if is_list { RelationshipKind::Array } else { RelationshipKind::Object { certain: false } };
    let function = TrackedFunction { arguments_type, arguments, roles: Vec::new(), serves };
    let model = &mut building.model;
    let id = model.add_function(function, Callable { function: at, row: Some(row), session });
    match (rows, &mut model.tables[table.0 as usize]) {
        (Some(to), _) => {
            building.add_relationship(called_relationship(name, table, to, id, kind));
        }
        (None, Some(tracked)) => tracked.computed.push(id),
        (None, None) => {}
    }
    Ok(())
}

/// The place of the argument that takes a row of `table`.
fn row(function: &Function, name: Option<&str>, table: TableId) -> Result<u32, String> {
    let at = match name {
        None => 0,
        Some(name) => function
            .arguments
            .iter()
            .position(|it| it.name == name)
            .ok_or_else(|| format!("it has no argument `{name}` for the row"))?,
    };
    match function.arguments.get(at) {
        Some(argument) if argument.table == Some(table) => Ok(at as u32),
        Some(_) | None => Err(match name {
            None => "its first argument has to take a row of this table, or `table_argument` says which does"
                .into(),
            Some(name) => format!("its argument `{name}` has to take a row of this table"),
        }),
    }
}

/// The way from rows of one table to those that a function gives of another.
fn called_relationship(
    name: String,
    from: TableId,
    to: TableId,
    call: FunctionId,
    kind: RelationshipKind,
) -> Relationship {
    Relationship {
        name,
        from,
        to,
        comment: None,
        on: Vec::new(),
        call: Some(call),
        through: None,
        kind,
        insert_first: false,
        enforced: false,
        deferrable: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tracked_functions::tests::{argument, catalog, function};
    use crate::model::{Model, ModelOptions};
    use weir_metadata::document::table::TableEntry;
    use weir_relational::catalog::{Argument, Catalog, ColumnType};

    /// The table `album`, and functions of its rows.
    fn with_rows() -> Catalog {
        let row = |name: &str| Argument { table: Some(TableId(0)), ..argument(name, ColumnType::Text) };
        let text = |name: &str| argument(name, ColumnType::Text);
        let value = |name: &str, arguments: Vec<Argument>, volatility| Function {
            table: None,
            is_set: false,
            ty: Some(ColumnType::Text),
            ..function(name, arguments, volatility)
        };
        let mut catalog = catalog();
        catalog.functions = vec![
            value("words", vec![row("")], Volatility::Stable),
            value("about", vec![text("word"), row("a")], Volatility::Immutable),
            value("changing", vec![row("")], Volatility::Volatile),
            Function { ty: None, ..value("nothing", vec![row("")], Volatility::Stable) },
            function("alike", vec![row("a"), text("word")], Volatility::Stable),
        ];
        catalog
    }

    /// Checks the result of one entry: the row's argument and the others, or a part of the warning.
    fn check(entry: &str, expected: Result<(u32, &[u32], bool), &str>) {
        let table = format!(r#"{{"table": "album", "computed_fields": [{entry}]}}"#);
        let tables: Vec<TableEntry> = vec![serde_json::from_str(&table).unwrap()];
        let options = ModelOptions { tables: &tables, ..ModelOptions::default() };
        let (model, warnings) = Model::build(with_rows(), options, &mut |_| Err("none".into()));
        match (model.functions.first(), expected) {
            (Some(it), Ok((row, arguments, is_rows))) => {
                let found = model.relations.functions[0].row;
                assert_eq!((found, &it.arguments[..]), (Some(row), arguments), "{entry}");
                assert_eq!(model.relations.relationships.len(), usize::from(is_rows), "{entry}");
            }
            (None, Err(part)) => {
                let path = ["tables".into(), 0.into(), "computed_fields".into(), 0.into()];
                assert_eq!(warnings[0].entry, path, "{entry}");
                assert!(warnings[0].reason.contains(part), "{entry}: {}", warnings[0].reason);
            }
            (found, expected) => panic!("{entry}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn a_function_of_a_row_is_a_field_or_a_relationship() {
        check(r#"{"name": "w", "definition": {"function": "words"}}"#, Ok((0, &[], false)));
        check(
            r#"{"name": "w", "definition": {"function": "about", "table_argument": "a"}}"#,
            Ok((1, &[0], false)),
        );
        check(r#"{"name": "w", "definition": {"function": "alike"}}"#, Ok((0, &[1], true)));
    }

    #[test]
    fn what_cannot_be_served_is_left_out_with_its_path() {
        let of = |function: &str| format!(r#"{{"name": "w", "definition": {{"function": "{function}"}}}}"#);
        check(&of("nowhere"), Err("there is no such function"));
        check(&of("changing"), Err("VOLATILE"));
        check(&of("nothing"), Err("one value, or rows of a table"));
        check(&of("about"), Err("its first argument has to take a row"));
        check(
            r#"{"name": "w", "definition": {"function": "about", "table_argument": "word"}}"#,
            Err("`word` has to take a row"),
        );
        check(
            r#"{"name": "id", "definition": {"function": "words"}}"#,
            Err("`id` is no GraphQL name that is free"),
        );
    }
}
