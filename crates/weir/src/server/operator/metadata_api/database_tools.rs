//! Commands that tell what a database has, tracked or not: its tables and functions, one table, the statement of a view.

use super::replace_metadata::document;
use super::sql::{ask, database, default_schema};
use super::{Done, Work, text};
use crate::config::Source;
use crate::config::source::address;
use crate::server::request::hasura_error::HasuraError;
use crate::sources::databases;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use weir_language::json::JsonRef;
use weir_metadata::document::source::SourceEntry;
use weir_metadata::document::table::TableName;
use weir_postgres::script::ScriptAnswer;
use weir_relational::catalog::{Catalog, Column, ForeignKey, Table, TableKind, Volatility};

/// Schema, name and statement of each view of PostgreSQL.
const POSTGRES_VIEWS: &str = "SELECT s.nspname, c.relname, pg_get_viewdef(c.oid, true) \
 FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE c.relkind IN ('v', 'm') ORDER BY s.nspname = 'public' DESC, s.nspname";
/// Views of SQLite, whose statement begins with `CREATE VIEW`.
const SQLITE_VIEWS: &str = "SELECT 'main', name, sql FROM sqlite_schema WHERE type = 'view'";

impl Work {
    /// Runs the command `verb`, if it is one of these.
    pub(super) fn database_command(&self, verb: &str, args: JsonRef<'_>) -> Option<Done> {
        Some(match verb {
            "get_source_tables" => self.catalog(args).map(|it| names(&it).to_string()),
            "get_source_trackables" => self.catalog(args).map(|it| trackables(&it).to_string()),
            "get_table_info" => self.table_info(args),
            "get_viewdef" => self.view_definition(args),
            "get_native_query" => self.source_entries(args, |it| json!(it.native_queries)),
            "get_logical_model" => self.source_entries(args, |it| json!(it.logical_models)),
            _ => return None,
        })
    }

    /// Entries of the source that `args` name, as the metadata has them.
    fn source_entries(&self, args: JsonRef<'_>, entries: impl Fn(&SourceEntry) -> Value) -> Done {
        let name = text(args, "source")?;
        let name = name.as_deref().unwrap_or("default");
        let document = document(&self.live.current());
        let source = document.sources.iter().find(|it| it.name == name).ok_or_else(|| {
            HasuraError::new("not-exists", "$.args", format!("source with name \"{name}\" does not exist"))
        })?;
        Ok(entries(source).to_string())
    }

    /// The catalog of the database that `args` name.
    fn catalog(&self, args: JsonRef<'_>) -> Result<Catalog, HasuraError> {
        let generation = self.live.current();
        let source = database(&generation, text(args, "source")?.as_deref())?;
        let wrong = |message: String| HasuraError::new("unexpected", "$.args", message);
        let address = address::parse(&source.url).map_err(wrong)?;
        let whole = Source {
            name: source.name.clone(),
            url: source.url.clone(),
            kind: source.kind,
            postgres: source.postgres.clone(),
            integers: source.integers,
            ..Source::default()
        };
        databases::catalog(&whole, &address, &generation.config).map_err(wrong)
    }

    fn table_info(&self, args: JsonRef<'_>) -> Done {
        let wanted = table_name(args, &["table"])?;
        let catalog = self.catalog(args)?;
        let (schema, name) = wanted.parts();
        let schema = if schema.is_empty() { catalog.default_schema } else { schema };
        let found = catalog.tables.iter().find(|it| it.name == name && it.schema == schema);
        let table = found.ok_or_else(|| absent("table", &wanted))?;
        Ok(description(&catalog, table).to_string())
    }

    fn view_definition(&self, args: JsonRef<'_>) -> Done {
        let wanted = table_name(args, &["view", "table", "name"])?;
        let generation = self.live.current();
        let source = text(args, "source")?;
        let (schema, name) = wanted.parts();
        let usual = default_schema(database(&generation, source.as_deref())?);
        let schema = if schema.is_empty() { usual } else { schema };
        let rows = match ask(&generation, source.as_deref(), POSTGRES_VIEWS, SQLITE_VIEWS)? {
            ScriptAnswer::Rows(_, rows) => rows,
            ScriptAnswer::Done => Vec::new(),
        };
        let is_wanted = |row: &Vec<Option<String>>| match row.as_slice() {
            [Some(of), Some(it), _] => it == name && of == schema,
            _ => false,
        };
        let found = rows.into_iter().find(is_wanted).ok_or_else(|| absent("view", &wanted))?;
        Ok(json!({ "viewdef": found.last() }).to_string())
    }
}

/// The name of a table in the first of `keys` that is there.
fn table_name(args: JsonRef<'_>, keys: &[&str]) -> Result<TableName, HasuraError> {
    let value = keys.iter().find_map(|it| args.get(it).filter(|it| !it.is_null()));
    let wrong = |message: String| HasuraError::new("parse-failed", "$.args", message);
    let value = value.ok_or_else(|| wrong(format!("key \"{}\" not found", keys[0])))?;
    serde_json::from_str(value.raw())
        .map_err(|_| wrong(format!("`{}` is a name, or an object with `schema` and `name`", keys[0])))
}

fn absent(kind: &str, name: &TableName) -> HasuraError {
    HasuraError::new(
        "not-exists",
        "$.args",
        format!("no such {kind} exists: {}", super::tools::show_table(name)),
    )
}

fn qualified_name(schema: &str, name: &str) -> Value {
    json!({ "schema": schema, "name": name })
}

fn names(catalog: &Catalog) -> Value {
    catalog.tables.iter().map(|it| qualified_name(&it.schema, &it.name)).collect()
}

/// Tables, and functions that return rows of one.
fn trackables(catalog: &Catalog) -> Value {
    let tables = catalog.tables.iter().map(|it| json!({ "name": qualified_name(&it.schema, &it.name) }));
    let functions = catalog.functions.iter().filter(|it| it.table.is_some()).map(|it| {
        let volatility = match it.volatility {
            Volatility::Immutable => "IMMUTABLE",
            Volatility::Stable => "STABLE",
            Volatility::Volatile => "VOLATILE",
        };
        json!({ "name": qualified_name(&it.schema, &it.name), "volatility": volatility })
    });
    json!({ "tables": tables.collect::<Vec<_>>(), "functions": functions.collect::<Vec<_>>() })
}

fn description(catalog: &Catalog, table: &Table) -> Value {
    let named =
        |columns: &[_]| -> Vec<&str> { columns.iter().map(|it| table.column(*it).name.as_str()).collect() };
    let key = |it: &ForeignKey| {
        let target = catalog.table(it.target);
        let columns = it.columns.iter().zip(&it.target_columns);
        let mapping: BTreeMap<&str, &str> = columns
            .map(|(own, other)| (table.column(*own).name.as_str(), target.column(*other).name.as_str()))
            .collect();
        let description = json!({ "foreign_table": qualified_name(&target.schema, &target.name), "column_mapping": mapping });
        (it.name.clone(), description)
    };
    let is_stored = table.kind == TableKind::Table;
    let mut description = json!({
        "name": qualified_name(&table.schema, &table.name),
        "type": if is_stored { "table" } else { "view" },
        "columns": table.columns.iter().map(describe_column).collect::<Vec<_>>(),
        "foreign_keys": table.foreign_keys.iter().map(key).collect::<serde_json::Map<_, _>>(),
        "insertable": table.insertable,
        "updatable": table.updatable,
        "deletable": table.deletable,
    });
    if let Some(key) = &table.primary_key {
        description["primary_key"] = json!(named(&key.columns));
    }
    if !table.comment.is_empty() {
        description["description"] = json!(table.comment);
    }
    description
}

fn describe_column(column: &Column) -> Value {
    let mut description = json!({
        "name": column.name,
        "type": column.declared,
        "nullable": column.nullable,
        "insertable": column.insertable && !column.generated,
        "updatable": column.updatable && !column.generated,
    });
    if !column.comment.is_empty() {
        description["description"] = json!(column.comment);
    }
    description
}
