//! Functions of the database that are served, and those of them that are root fields, by the configuration's entries.
//!
//! An entry that cannot be honoured is left out, with a warning that holds its path.
//!
//! **Invariant:** a served function is the only one of its name, and its arguments have names of their own, so that a call can leave out any that has a default and no argument without a name behind it; at a root it gives rows of a tracked table.

use super::Model;
use super::building::Building;
use super::convention;
use super::graphql_names::graphql_name;
use super::reserved;
use hashbrown::HashSet;
use std::borrow::Cow;
use weir_metadata::document::function::{ExposedAs, FunctionEntry};
use weir_metadata::document::table::TableName;
use weir_relational::catalog::{
    Argument, Callable, ColumnType, Function, FunctionId, TableId, Volatility, Warning,
};

/// A function that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedFunction {
    /// The name of the type of its arguments.
    pub arguments_type: String,
    /// The places of the arguments that clients give.
    pub arguments: Vec<u32>,
    /// Roles that may call it, where that is said.
    pub roles: Vec<String>,
    /// The fields that it is.
    pub serves: Serves,
}

/// Kinds of fields of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serves {
    /// Fields of a root.
    Root {
        /// The table whose rows it gives.
        table: TableId,
        /// The name of the field of its rows.
        select: String,
        /// The name of the field of aggregates over them; `None` where a call must not be made twice.
        aggregate: Option<String>,
        /// On which root it stands.
        root: ExposedAs,
        /// The description of the field of its rows, if it is not the usual one.
        words: Option<String>,
    },
    /// A field of the rows of a table: a value, or a relationship to the rows it gives.
    Row {
        /// The field's name.
        name: String,
        /// Description of the field.
        words: String,
    },
}

impl TrackedFunction {
    /// True if it is the field `name` of rows.
    pub(super) fn is_called(&self, wanted: &str) -> bool {
        matches!(&self.serves, Serves::Row { name, .. } if name == wanted)
    }

    /// The name in the API of the argument of `function` at `place`; the arguments of clients that have none are numbered from 1.
    pub fn argument_name<'f>(&self, function: &'f Function, place: u32) -> Cow<'f, str> {
        let is_unnamed = |it: &&u32| function.arguments[**it as usize].name.is_empty();
        match function.arguments[place as usize].name.as_str() {
            "" => {
                let before = self.arguments.iter().take_while(|it| **it <= place).filter(is_unnamed);
                Cow::Owned(format!("arg_{}", before.count()))
            }
            name => Cow::Borrowed(name),
        }
    }

    /// True if it is a field of the root `wanted`.
    pub fn is_on(&self, wanted: ExposedAs) -> bool {
        matches!(self.serves, Serves::Root { root, .. } if root == wanted)
    }
}

impl Model {
    /// The function with this id, and its entry in the catalog.
    pub fn function(&self, id: FunctionId) -> (&TrackedFunction, &Function) {
        (&self.functions[id.0 as usize], self.relations.function(id).1)
    }

    /// Adds a function, and gives its id.
    pub(super) fn add_function(&mut self, tracked: TrackedFunction, callable: Callable) -> FunctionId {
        self.functions.push(tracked);
        self.relations.functions.push(callable);
        FunctionId(self.functions.len() as u32 - 1)
    }
}

/// Tracks the functions of the entries.
pub(super) fn build(building: &mut Building<'_>) {
    let mut taken = root_fields(&building.model);
    for (at, entry) in building.options.functions.iter().enumerate() {
        match track_function(building, entry, &mut taken) {
            Ok((function, callable)) => {
                building.model.add_function(function, callable);
            }
            Err(reason) => {
                let place = entry.function.parts().1.to_owned();
                let entry = vec!["functions".into(), at.into()];
                building.warnings.push(Warning { place, reason, entry });
            }
        }
    }
}

/// Root fields that tables were given by name, and those of native queries.
fn root_fields(model: &Model) -> HashSet<String> {
    let tables = model.tables.iter().flatten();
    let natives = model.functions.iter().filter_map(|it| match &it.serves {
        Serves::Root { select, .. } => Some(select.as_str()),
        Serves::Row { .. } => None,
    });
    tables.flat_map(|it| it.root_fields.names()).chain(natives).map(str::to_owned).collect()
}

fn track_function(
    building: &Building<'_>,
    entry: &FunctionEntry,
    taken: &mut HashSet<String>,
) -> Result<(TrackedFunction, Callable), String> {
    let (at, function) = find(&building.model.relations.catalog.functions, &entry.function)?;
    let table = function.table.filter(|it| building.model.tracked_table(*it).is_some());
    let table = table.ok_or("it has to return rows of a table that is served")?;
    let settings = &entry.configuration;
    let session = session(function, settings.session_argument.as_deref())?;
    let arguments = list_client_arguments(&building.model, function, &[session])?;
    let volatile = function.volatility == Volatility::Volatile;
    let root = match (settings.exposed_as, volatile) {
        (None | Some(ExposedAs::Mutation), true) => ExposedAs::Mutation,
        (None | Some(ExposedAs::Query), _) => ExposedAs::Query,
        (Some(ExposedAs::Mutation), false) => return Err("only a VOLATILE function can be a mutation".into()),
    };
    let base = match &settings.custom_name {
        Some(name) => name.clone(),
        None if function.schema == "public" => function.name.clone(),
        None => format!("{}_{}", function.schema, function.name),
    };
    let fields = &settings.custom_root_fields;
    let is_camel = building.model.is_camel();
    let is_custom = settings.custom_name.is_some();
    let usual = |end: &str| match (is_camel, is_custom) {
        (false, _) => format!("{base}{end}"),
        (true, false) => convention::field(&format!("{base}{end}")),
        (true, true) => convention::with_custom(&base, end),
    };
    let select = fields.function.clone().unwrap_or_else(|| usual(""));
    let aggregate = fields.function_aggregate.clone().unwrap_or_else(|| usual("_aggregate"));
    let aggregate = (!volatile).then_some(aggregate);
    let arguments_type = usual("_args");
    for name in std::iter::once(&select).chain(&aggregate) {
        let valid = graphql_name(name).is_some_and(|valid| valid == name.as_str());
        if !valid || building.is_root(name) || !taken.insert(name.clone()) {
            return Err(format!("`{name}` is no GraphQL name that is free: give it a `custom_name`"));
        }
    }
    if !is_free_type(&building.model, &arguments_type) {
        return Err(format!("`{arguments_type}` is no name that is free: give it a `custom_name`"));
    }
    let words = description(entry.comment.as_ref(), function);
    let serves = Serves::Root { table, select, aggregate, root, words };
    let callable = Callable { function: at, row: None, session };
    let roles = entry.permissions.iter().map(|it| it.role.clone()).collect();
    Ok((TrackedFunction { arguments_type, arguments, roles, serves }, callable))
}

/// Description of a function, from the configuration or else the database; an empty `comment` in the configuration removes
/// it.
pub(super) fn description(comment: Option<&String>, function: &Function) -> Option<String> {
    comment.cloned().or_else(|| Some(function.comment.clone()).filter(|it| !it.is_empty()))
}

/// True if the type of a function's arguments can be called `name`.
pub(super) fn is_free_type(model: &Model, name: &str) -> bool {
    let is_table = |name: &str| model.tables.iter().flatten().any(|it| it.name == name);
    graphql_name(name).is_some_and(|valid| valid == name)
        && !reserved::is_type(name)
        && !is_table(name)
        && !reserved::clashes_with_table(name, is_table)
        && !model.functions.iter().any(|it| it.arguments_type == name)
}

/// The places of the arguments that clients give: all but `others`.
pub(super) fn list_client_arguments(
    model: &Model,
    function: &Function,
    others: &[Option<u32>],
) -> Result<Vec<u32>, String> {
    let arguments = 0..function.arguments.len() as u32;
    let arguments: Vec<u32> = arguments.filter(|it| !others.contains(&Some(*it))).collect();
    let mut names = HashSet::new();
    for &place in &arguments {
        let argument = &function.arguments[place as usize];
        check_argument(model, argument)?;
        if !argument.name.is_empty() && !names.insert(argument.name.as_str()) {
            return Err(format!("two of its arguments are called `{}`", argument.name));
        }
    }
    // Arguments without a name are called `arg_1` and so on, which must not clash with names of the database.
    let is_numbered = |name: &&str| name.strip_prefix("arg_").is_some_and(|it| it.parse::<u32>().is_ok());
    let has_unnamed = arguments.iter().any(|it| function.arguments[*it as usize].name.is_empty());
    if let Some(name) = names.iter().find(|it| has_unnamed && is_numbered(it)) {
        return Err(format!("its argument `{name}` is called as those without a name are"));
    }
    Ok(arguments)
}

/// The one function that is meant.
pub(super) fn find<'c>(functions: &'c [Function], name: &TableName) -> Result<(u32, &'c Function), String> {
    let (schema, name) = name.parts();
    let meant = |it: &(usize, &Function)| {
        it.1.name == name && (schema.is_empty() || it.1.schema == schema) && it.1.code.is_none()
    };
    if functions.is_empty() {
        return Err("this database has no functions that can be served".into());
    }
    let mut found = functions.iter().enumerate().filter(meant);
    match (found.next(), found.next()) {
        (None, _) => {
            Err("there is no such function in the schemas that are served, or the role may not execute it"
                .into())
        }
        (Some((at, function)), None) => Ok((at as u32, function)),
        (Some(_), Some(_)) => Err("there are several of this name: name its schema, or rename one".into()),
    }
}

/// The place of the argument `name`.
pub(super) fn session(function: &Function, name: Option<&str>) -> Result<Option<u32>, String> {
    let Some(name) = name else { return Ok(None) };
    let found = function.arguments.iter().position(|it| it.name == name);
    let at = found.ok_or_else(|| format!("it has no argument `{name}` for the session"))?;
    if !matches!(function.arguments[at].ty, ColumnType::Json | ColumnType::Jsonb) {
        return Err(format!("its argument `{name}` has to be json to take the session"));
    }
    Ok(Some(at as u32))
}

/// True if clients can give a value for `argument`.
fn check_argument(model: &Model, argument: &Argument) -> Result<(), String> {
    let name = &argument.name;
    if argument.is_variadic {
        return Err(format!("its argument `{name}` is VARIADIC"));
    }
    if let (Some(_), ColumnType::Other(scalar)) = (argument.table, &argument.ty)
        && !is_free_type(model, scalar)
    {
        return Err(format!("its argument `{name}` is a row, whose type cannot be called `{scalar}`"));
    }
    // Numbers below are those of types PostgreSQL brings.
    let built_in = argument.oid < 16_384;
    if matches!(&argument.ty, ColumnType::Other(ty) if built_in && ty.starts_with("any")) {
        return Err(format!("its argument `{name}` is of any type"));
    }
    if !name.is_empty() && graphql_name(name).is_none_or(|valid| valid != name.as_str()) {
        return Err(format!("its argument `{name}` needs a name that is one in GraphQL too"));
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::ModelOptions;
    use weir_relational::catalog::{Catalog, Column, Placement, Storage, Table, TableKind};

    pub(in crate::model) fn argument(name: &str, ty: ColumnType) -> Argument {
        Argument { name: name.into(), oid: 25, ty, table: None, has_default: false, is_variadic: false }
    }

    pub(in crate::model) fn function(
        name: &str,
        arguments: Vec<Argument>,
        volatility: Volatility,
    ) -> Function {
        Function {
            schema: "public".into(),
            name: name.into(),
            arguments,
            returns: 1,
            ty: None,
            table: Some(TableId(0)),
            is_set: true,
            volatility,
            comment: String::new(),
            code: None,
        }
    }

    pub(in crate::model) fn catalog() -> Catalog {
        let column = Column {
            name: "id".into(),
            declared: "integer".into(),
            ty: ColumnType::Int,
            oid: 23,
            nullable: false,
            has_default: false,
            generated: false,
            insertable: true,
            updatable: true,
            derived: false,
            folds: false,
            by_prefix: false,
            is_loose: false,
            storage: Storage::Exact,
            comment: String::new(),
        };
        let table = Table {
            schema: "public".into(),
            name: "album".into(),
            kind: TableKind::View,
            columns: vec![column],
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
        let text = |name: &str| argument(name, ColumnType::Text);
        let variadic = Argument { is_variadic: true, ..text("words") };
        let scalar = Function { table: None, ..function("scalar", vec![], Volatility::Stable) };
        let functions = vec![
            function("find", vec![text("word"), argument("session", ColumnType::Json)], Volatility::Stable),
            function("twice", vec![], Volatility::Stable),
            function("twice", vec![text("a")], Volatility::Stable),
            function("add", vec![text("word")], Volatility::Volatile),
            function("nameless", vec![text(""), text("word"), text("")], Volatility::Stable),
            function("numbered", vec![text("arg_1"), text("")], Volatility::Stable),
            function("spaced", vec![text("a b")], Volatility::Stable),
            function("many", vec![variadic], Volatility::Stable),
            scalar,
        ];
        Catalog { tables: vec![table], functions, default_schema: "public", ..Catalog::default() }
    }

    type Served<'s> = (&'s str, Option<&'s str>, ExposedAs, &'s [u32]);

    /// Checks the result of one entry: the root fields with the root, or a part of the warning.
    fn check(entry: &str, expected: Result<Served<'_>, &str>) {
        let entries: Vec<FunctionEntry> = vec![serde_json::from_str(entry).unwrap()];
        let options = ModelOptions { functions: &entries, ..ModelOptions::default() };
        let (model, warnings) = Model::build(catalog(), options, &mut |_| Err("none".into()));
        match (model.functions.first(), expected) {
            (Some(it), Ok(expected)) => {
                let Serves::Root { select, aggregate, root, .. } = &it.serves else { panic!("{entry}") };
                let found = (select.as_str(), aggregate.as_deref(), *root, &it.arguments[..]);
                assert_eq!(found, expected, "{entry}");
            }
            (None, Err(part)) => {
                assert_eq!(warnings[0].entry, ["functions".into(), 0.into()], "{entry}");
                assert!(warnings[0].reason.contains(part), "{entry}: {}", warnings[0].reason);
            }
            (found, expected) => panic!("{entry}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn a_function_becomes_root_fields_under_the_names_that_it_is_given() {
        let whole: &[u32] = &[0, 1];
        check(r#"{"function": "find"}"#, Ok(("find", Some("find_aggregate"), ExposedAs::Query, whole)));
        check(
            r#"{"function": {"schema": "public", "name": "find"}, "configuration": {"custom_name": "f",
            "session_argument": "session", "custom_root_fields": {"function_aggregate": "sums"}}}"#,
            Ok(("f", Some("sums"), ExposedAs::Query, &[0])),
        );
        check(r#"{"function": "add"}"#, Ok(("add", None, ExposedAs::Mutation, &[0])));
        check(
            r#"{"function": "add", "configuration": {"exposed_as": "query"}}"#,
            Ok(("add", None, ExposedAs::Query, &[0])),
        );
    }

    #[test]
    fn arguments_without_a_name_are_numbered() {
        let entries: Vec<FunctionEntry> = vec![serde_json::from_str(r#"{"function": "nameless"}"#).unwrap()];
        let options = ModelOptions { functions: &entries, ..ModelOptions::default() };
        let (model, _) = Model::build(catalog(), options, &mut |_| Err("none".into()));
        let (tracked, function) = model.function(FunctionId(0));
        let names = tracked.arguments.iter().map(|it| tracked.argument_name(function, *it));
        assert_eq!(names.collect::<Vec<_>>(), ["arg_1", "word", "arg_2"]);
    }

    #[test]
    fn what_cannot_be_served_is_left_out_with_its_path() {
        check(r#"{"function": "nowhere"}"#, Err("there is no such function"));
        check(r#"{"function": "twice"}"#, Err("there are several of this name"));
        check(r#"{"function": "scalar"}"#, Err("rows of a table that is served"));
        check(r#"{"function": "many"}"#, Err("VARIADIC"));
        check(r#"{"function": "numbered"}"#, Err("`arg_1` is called as those without a name are"));
        check(r#"{"function": "spaced"}"#, Err("needs a name"));
        check(r#"{"function": "find", "configuration": {"exposed_as": "mutation"}}"#, Err("only a VOLATILE"));
        check(
            r#"{"function": "find", "configuration": {"session_argument": "word"}}"#,
            Err("has to be json"),
        );
        check(
            r#"{"function": "find", "configuration": {"custom_name": "album"}}"#,
            Err("`album` is no GraphQL"),
        );
    }
}
