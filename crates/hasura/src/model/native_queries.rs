//! Native queries and their logical models, as functions that give rows of tables which no database has.
//!
//! An entry that does not fit is left out, with a warning that holds its path.
//!
//! **Invariant:** the database has looked at each statement that is served, unless the configuration says that it need not.

use super::RootFields;
use super::Tracked;
use super::building::Building;
use super::graphql_names::graphql_name;
use super::model_options::ModelOptions;
use super::tracked_functions::{Serves, TrackedFunction, is_free_type};
use hashbrown::{HashMap, HashSet};
use weir_database::contents::{NativeStatement, Natives};
use weir_metadata::document::function::ExposedAs;
use weir_metadata::document::logical_model::{LogicalField, LogicalModelEntry};
use weir_metadata::document::native_query::{
    CodePart as EntryPart, NativeArgument, NativeQueryEntry, Returns,
};
use weir_relational::catalog::{
    Argument, Callable, CodePart, Column, ColumnType, Function, FunctionId, Placement, Storage, Table,
    TableId, TableKind, Volatility, Warning,
};
use weir_relational::dialect::sqlite_type;

/// Reason for leaving out an entry of a database that could not be asked.
const UNSEEN: &str = "the database has not looked at it yet";

/// The columns of a native query's rows.
fn fields_of<'o>(
    entry: &'o NativeQueryEntry,
    models: &'o [LogicalModelEntry],
) -> Result<&'o [LogicalField], String> {
    match &entry.returns {
        Returns::Inline(inline) => Ok(&inline.fields),
        Returns::Model(name) => {
            let model = models.iter().find(|it| it.name == *name);
            model.map(|it| it.fields.as_slice()).ok_or_else(|| format!("Logical model '{name}' not found."))
        }
    }
}

/// The code of an entry with the places of its arguments among all by name.
fn code_of(entry: &NativeQueryEntry) -> Result<Vec<CodePart>, String> {
    let names: Vec<&String> = entry.arguments.iter().flat_map(|it| it.keys()).collect();
    let place = |name: &String| names.iter().position(|it| *it == name).map_or(0, |it| it as u32);
    let part = |it| match it {
        EntryPart::Text(text) => CodePart::Text(text.into()),
        EntryPart::Argument(name) => CodePart::Argument(place(&name)),
    };
    Ok(entry.parts()?.into_iter().map(part).collect())
}

/// The statements of `options` that the database is to look at: those that are sound by themselves.
pub(crate) fn statements<'o>(options: &ModelOptions<'o>) -> Vec<NativeStatement<'o>> {
    let statement = |entry: &'o NativeQueryEntry| {
        let fields = fields_of(entry, options.logical_models).ok()?;
        let columns = fields.iter().map(|it| Some((it.name.as_str(), it.type_name().ok()?)));
        let arguments = entry.arguments.iter().flatten();
        Some(NativeStatement {
            name: &entry.root_field_name,
            arguments: arguments.map(|it| (it.0.as_str(), it.1.ty.as_str())).collect(),
            code: code_of(entry).ok()?,
            columns: columns.collect::<Option<_>>()?,
        })
    };
    options.native_queries.iter().filter_map(statement).collect()
}

/// Tracks the native queries of the entries.
pub(super) fn build(building: &mut Building<'_>) {
    let options = building.options;
    let used: HashSet<&str> = options
        .native_queries
        .iter()
        .filter_map(|it| match &it.returns {
            Returns::Model(name) => Some(name.as_str()),
            Returns::Inline(_) => None,
        })
        .collect();
    let mut models: HashMap<&str, TableId> = HashMap::new();
    for (at, entry) in
        options.logical_models.iter().enumerate().filter(|it| used.contains(it.1.name.as_str()))
    {
        match add_model(building, &entry.name, entry.description.as_deref(), &entry.fields) {
            Ok(table) => {
                models.insert(&entry.name, table);
                building.models.push((at, table));
            }
            Err(reason) => warn(building, &entry.name, reason, "logical_models", at),
        }
    }
    let mut taken = HashSet::new();
    for (at, entry) in options.native_queries.iter().enumerate() {
        if let Err(reason) = track(building, entry, &models, &mut taken) {
            warn(building, &entry.root_field_name, reason, "native_queries", at);
        }
    }
}

fn warn(building: &mut Building<'_>, name: &str, reason: String, list: &str, at: usize) {
    building.warnings.push(Warning { place: name.to_owned(), reason, entry: vec![list.into(), at.into()] });
}

/// The type called `name`, as the database knows it.
fn type_called(natives: &Natives, name: &str) -> Result<(u32, ColumnType), String> {
    match natives.types.get(name) {
        Some((_, ColumnType::Other(other))) if other == "unknown" => {
            Err(format!("the database has no type `{name}`"))
        }
        Some(known) => Ok(known.clone()),
        None => Err(UNSEEN.to_owned()),
    }
}

/// The columns of a model's table.
fn columns_of(building: &Building<'_>, fields: &[LogicalField]) -> Result<Vec<Column>, String> {
    let natives = building.options.natives.ok_or(UNSEEN)?;
    let is_sqlite = building.model.relations.catalog.is_sqlite();
    let column = |field: &LogicalField| {
        if !is_name(&field.name) {
            return Err(format!("`{}` is no name of a field in GraphQL", field.name));
        }
        let declared = field.type_name()?;
        let (oid, ty) = type_called(natives, &declared)?;
        let storage = if is_sqlite { sqlite_type::storage(&declared, &ty, false) } else { Storage::Exact };
        Ok(Column {
            name: field.name.clone(),
            declared,
            ty,
            oid,
            nullable: field.is_nullable(),
            has_default: false,
            generated: true,
            insertable: false,
            updatable: false,
            // Each is computed by its author's statement.
            derived: true,
            folds: false,
            by_prefix: false,
            storage,
            // A statement of SQLite may return values of any type.
            is_loose: is_sqlite,
            comment: field.description.clone().unwrap_or_default(),
        })
    };
    fields.iter().map(column).collect()
}

/// Adds the table that stands for a model.
fn add_model(
    building: &mut Building<'_>,
    name: &str,
    description: Option<&str>,
    fields: &[LogicalField],
) -> Result<TableId, String> {
    if !is_name(name) || !is_free_type(&building.model, name) {
        return Err(format!("`{name}` is no name of a type that is free"));
    }
    if fields.is_empty() {
        return Err("a model needs at least one field".to_owned());
    }
    let table = Table {
        schema: String::new(),
        name: name.to_owned(),
        kind: TableKind::Model,
        columns: columns_of(building, fields)?,
        primary_key: None,
        unique_keys: Vec::new(),
        arbiters: Vec::new(),
        foreign_keys: Vec::new(),
        comment: String::new(),
        insertable: false,
        updatable: false,
        deletable: false,
        rows_estimate: None,
        is_whole: true,
        acts: false,
        acts_late: false,
        has_broken_index: false,
        placement: Placement::Local,
    };
    let comment = description.map_or_else(|| format!("rows of the logical model \"{name}\""), str::to_owned);
    let tracked = Tracked {
        name: name.to_owned(),
        columns: fields.iter().map(|it| Some(it.name.clone())).collect(),
        relationships: Vec::new(),
        computed: Vec::new(),
        enum_values: Vec::new(),
        enums: vec![None; fields.len()],
        has_custom_name: true,
        has_groups: false,
        root_fields: RootFields::default(),
        comment: Some(comment),
    };
    building.model.relations.catalog.tables.push(table);
    building.model.tables.push(Some(tracked));
    Ok(TableId(building.model.tables.len() as u32 - 1))
}

/// The arguments of a native query, by their names.
fn arguments_of(entry: &NativeQueryEntry, natives: &Natives) -> Result<Vec<Argument>, String> {
    let argument = |(name, it): (&String, &NativeArgument)| {
        if !is_name(name) {
            return Err(format!("its argument `{name}` needs a name that is one in GraphQL too"));
        }
        let (oid, ty) = type_called(natives, &it.ty)?;
        let has_default = it.nullable.unwrap_or(false);
        Ok(Argument { name: name.clone(), oid, ty, table: None, has_default, is_variadic: false })
    };
    entry.arguments.iter().flatten().map(argument).collect()
}

/// True if a member of a schema may be called `name`.
fn is_name(name: &str) -> bool {
    graphql_name(name).is_some_and(|valid| valid == name)
}

fn track<'o>(
    building: &mut Building<'o>,
    entry: &'o NativeQueryEntry,
    models: &HashMap<&str, TableId>,
    taken: &mut HashSet<String>,
) -> Result<(), String> {
    let name = &entry.root_field_name;
    if !is_name(name) || building.is_root(name) || !taken.insert(name.clone()) {
        return Err(format!("`{name}` is no GraphQL name that is free"));
    }
    let arguments_type = format!("{name}_arguments");
    if !is_free_type(&building.model, &arguments_type) {
        return Err(format!("`{arguments_type}` is no name that is free"));
    }
    let code = code_of(entry)?;
    let fields = fields_of(entry, building.options.logical_models)?;
    if let Returns::Model(model) = &entry.returns
        && !models.contains_key(model.as_str())
    {
        // The cause is told of the model.
        return Err(format!("its logical model '{model}' is left out"));
    }
    let natives = building.options.natives.ok_or(UNSEEN)?;
    let checked = natives.checked.iter().find(|it| it.name == *name);
    let checked = checked.ok_or(UNSEEN)?;
    if let Some(fault) = checked.fault.as_ref().filter(|_| !building.options.trusts_natives) {
        return Err(format!("Failed to validate query: {fault}"));
    }
    let arguments = arguments_of(entry, natives)?;
    let volatility = if checked.is_volatile { Volatility::Volatile } else { Volatility::Stable };
    let table = match &entry.returns {
        Returns::Model(model) => {
            *models.get(model.as_str()).ok_or_else(|| format!("Logical model '{model}' not found."))?
        }
        Returns::Inline(_) => add_model(building, name, None, fields)?,
    };
    let function = Function {
        schema: String::new(),
        name: name.clone(),
        arguments,
        returns: 0,
        ty: None,
        table: Some(table),
        is_set: true,
        volatility,
        comment: String::new(),
        code: Some(code.into()),
    };
    let id = add_function(building, entry, function, arguments_type, table);
    building.natives.insert(name.clone(), (id, table));
    Ok(())
}

fn add_function(
    building: &mut Building<'_>,
    entry: &NativeQueryEntry,
    function: Function,
    arguments_type: String,
    table: TableId,
) -> FunctionId {
    let words =
        entry.description.clone().or_else(|| Some(format!("rows of the native query \"{}\"", function.name)));
    let serves =
        Serves::Root { table, select: function.name.clone(), aggregate: None, root: ExposedAs::Query, words };
    let arguments = (0..function.arguments.len() as u32).collect();
    let tracked = TrackedFunction { arguments_type, arguments, roles: Vec::new(), serves };
    let functions = &mut building.model.relations.catalog.functions;
    functions.push(function);
    let callable = Callable { function: functions.len() as u32 - 1, row: None, session: None };
    building.model.add_function(tracked, callable)
}
