//! Read-only commands for the console and other tools.

use super::inconsistent::MetadataState;
use super::replace_metadata::document;
use super::sql::{ask, database, default_schema};
use super::{Done, Work, flag, text};
use crate::config::Source;
use crate::generation::{Generation, Live};
use crate::server::operator::tools::HASURA_VERSION;
use crate::server::request::hasura_error::HasuraError;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use weir_language::json::JsonRef;
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::function::FunctionEntry;
use weir_metadata::document::source::SourceEntry;
use weir_metadata::document::table::{ForeignKeyOn, RelationshipEntry, TableEntry, TableName};
use weir_metadata::edit::KeyBefore;
use weir_postgres::script::ScriptAnswer;

/// Kinds of sources, which are prefixes of their commands.
const KINDS: [&str; 4] = ["pg", "citus", "cockroach", "sqlite"];

/// Foreign keys of PostgreSQL: name, table, columns, target, its columns, and whether the columns are unique. Names of columns are lists in JSON.
const POSTGRES_KEYS: &str = "SELECT k.conname, s.nspname, t.relname, \
 (SELECT json_agg(a.attname ORDER BY u.at) FROM unnest(k.conkey) WITH ORDINALITY u(n, at) JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n), \
 g.nspname, f.relname, \
 (SELECT json_agg(a.attname ORDER BY u.at) FROM unnest(k.confkey) WITH ORDINALITY u(n, at) JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.n), \
 EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conrelid = k.conrelid AND o.contype IN ('p', 'u') AND o.conkey <@ k.conkey AND k.conkey <@ o.conkey) \
 FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid JOIN pg_namespace s ON s.oid = t.relnamespace \
 JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace g ON g.oid = f.relnamespace \
 WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY s.nspname, t.relname, k.conname";
/// Foreign keys of SQLite, which has no schemas and unnamed keys.
const SQLITE_KEYS: &str = "SELECT NULL, '', m.name, json_group_array(k.\"from\"), '', k.\"table\", json_group_array(k.\"to\"), \
 EXISTS (SELECT 1 FROM pragma_index_list(m.name) i WHERE i.\"unique\" AND NOT i.partial \
  AND (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY name)) \
   = (SELECT group_concat(\"from\") FROM (SELECT \"from\" FROM pragma_foreign_key_list(m.name) o WHERE o.id = k.id ORDER BY \"from\"))) \
 FROM sqlite_schema m, pragma_foreign_key_list(m.name) k WHERE m.type = 'table' AND k.\"to\" IS NOT NULL GROUP BY m.name, k.id ORDER BY m.name, k.id";

/// A foreign key of a database.
struct KnownKey {
    name: Option<String>,
    table: TableName,
    columns: Vec<String>,
    target: TableName,
    target_columns: Vec<String>,
    is_unique: bool,
}

impl KnownKey {
    /// The key as edits follow it.
    fn before(self) -> KeyBefore {
        let key_of = |table: &TableName| match table.parts() {
            ("", name) => ("public".to_owned(), name.to_owned()),
            (schema, name) => (schema.to_owned(), name.to_owned()),
        };
        KeyBefore {
            table: key_of(&self.table),
            target: key_of(&self.target),
            columns: self.columns.into_iter().collect(),
        }
    }
}

impl Work {
    /// Runs the command `name`, if it belongs to this module.
    pub(super) fn tool_command(&self, name: &str, args: JsonRef<'_>) -> Option<Done> {
        let verb = name.split_once('_').filter(|it| KINDS.contains(&it.0)).map(|it| it.1);
        Some(match (name, verb) {
            ("list_source_kinds", _) => Ok(kinds()),
            ("get_source_kind_capabilities", _) => Err(HasuraError::new(
                "not-supported",
                "$.args",
                "sources of all kinds are built in: none is described by capabilities",
            )),
            ("get_feature_flag" | "set_feature_flag", _) => feature_flag(args),
            ("dump_internal_state", _) => Ok(internal_state(&self.live)),
            (_, Some("suggest_relationships")) => self.suggestions(args),
            (_, verb) => {
                let verb = verb.unwrap_or(name);
                return self.database_command(verb, args).or_else(|| self.event_command(verb, args));
            }
        })
    }

    /// Foreign keys of the source that `args` name. A database that cannot be asked has none: what then keeps an old name is refused as
    /// inconsistent.
    pub(super) fn keys_before(&self, args: JsonRef<'_>) -> Vec<KeyBefore> {
        let source = text(args, "source").ok().flatten();
        let keys = known_keys(&self.live.current(), source.as_deref()).unwrap_or_default();
        keys.into_iter().map(KnownKey::before).collect()
    }

    /// Relationships suggested by foreign keys between tracked tables.
    fn suggestions(&self, args: JsonRef<'_>) -> Done {
        let generation = self.live.current();
        let source = text(args, "source")?;
        let found = database(&generation, source.as_deref())?;
        let document = document(&generation);
        let entry = document.sources.into_iter().find(|it| it.name == found.name);
        let entry = entry.unwrap_or_else(|| SourceEntry {
            tables: found.tables.clone(),
            ..SourceEntry::new(found.name.clone())
        });
        let wanted: Option<Vec<TableName>> = match args.get("tables").filter(|it| !it.is_null()) {
            None => None,
            Some(list) => Some(serde_json::from_str(list.raw()).map_err(|_| {
                HasuraError::new("parse-failed", "$.args.tables", "expected a list of tables")
            })?),
        };
        let schema = default_schema(found);
        let is_wanted = |table: &TableName| {
            entry.tables.iter().any(|it| is_same(&it.table, table, schema))
                && wanted.as_ref().is_none_or(|it| it.iter().any(|it| is_same(it, table, schema)))
        };
        let omits_tracked = flag(args, "omit_tracked", false)?;
        let keys = known_keys(&generation, source.as_deref())?;
        let mut suggested = Vec::new();
        for key in keys.iter().filter(|it| is_wanted(&it.table) && is_wanted(&it.target)) {
            let own = entry.tables.iter().find(|it| is_same(&it.table, &key.table, schema));
            let other = entry.tables.iter().find(|it| is_same(&it.table, &key.target, schema));
            if !(omits_tracked && own.is_some_and(|it| tracks(it, key, false, schema))) {
                suggested.push(suggestion("object", key, false));
            }
            if !(omits_tracked && other.is_some_and(|it| tracks(it, key, true, schema))) {
                let kind = if key.is_unique { "object" } else { "array" };
                suggested.push(suggestion(kind, key, true));
            }
        }
        Ok(json!({ "relationships": suggested }).to_string())
    }
}

fn kinds() -> String {
    let kind = |it: &&str| json!({ "kind": it, "builtin": true, "available": true });
    json!({ "sources": KINDS.iter().map(kind).collect::<Vec<_>>() }).to_string()
}

fn feature_flag(args: JsonRef<'_>) -> Done {
    let name = text(args, "identifier")?.or(text(args, "name")?).unwrap_or_default();
    let message = format!("there is no feature flag \"{name}\"");
    Err(HasuraError::new("not-found", "$.args", message))
}

/// Internal state for developers: sources, roles, inconsistent objects.
fn internal_state(live: &Live) -> String {
    let generation = live.current();
    let sources = generation.config.sources.iter().map(|it| &it.name);
    let roles: HashSet<&String> = generation.config.sources.iter().flat_map(|it| &it.roles).collect();
    let mut roles: Vec<&String> = roles.into_iter().collect();
    roles.sort_unstable();
    let objects = MetadataState::of_served(&generation, live).list();
    let inconsistent: Value = serde_json::from_str(&objects).unwrap_or_default();
    let state = json!({
        "version": HASURA_VERSION,
        "generation": generation.number,
        "sources": sources.collect::<Vec<_>>(),
        "roles": roles,
        "inconsistent_objects": inconsistent,
        "warnings": generation.findings.warnings,
    });
    // Digits of numbers stay as they are written, which a `Value` does not promise.
    let served = serde_json::to_string(&Served::of(&generation)).unwrap_or_else(|_| "null".to_owned());
    let mut text = state.to_string();
    text.pop();
    text.push_str(&format!(",\"served\":{served}}}"));
    text
}

/// Tables with their permissions, and functions, as they are served, whichever file says so, and where changes of them are written.
#[derive(Serialize)]
struct Served<'g> {
    /// `None`: nowhere.
    metadata: Option<&'g Path>,
    sources: Vec<ServedSource<'g>>,
    inherited_roles: &'g [InheritedRole],
}

#[derive(Serialize)]
struct ServedSource<'g> {
    name: &'g str,
    native: bool,
    /// Tables without an entry are not served.
    tracked_only: bool,
    tables: &'g [TableEntry],
    functions: &'g [FunctionEntry],
}

impl<'g> Served<'g> {
    fn of(generation: &'g Generation) -> Self {
        let config = &generation.config;
        let source = |it: &'g Source| ServedSource {
            name: &it.name,
            native: it.native.is_some(),
            tracked_only: it.tracked_only,
            tables: &it.tables,
            functions: &it.functions,
        };
        Self {
            metadata: config.metadata.as_deref(),
            sources: config.sources.iter().map(source).collect(),
            // Every source has those of all files.
            inherited_roles: config.sources.first().map_or(&config.inherited_roles, |it| &it.inherited_roles),
        }
    }
}

/// True if both names denote one table, where `default_schema` may be left out.
fn is_same(one: &TableName, other: &TableName, default_schema: &str) -> bool {
    fn parts<'n>(name: &'n TableName, default_schema: &str) -> (&'n str, &'n str) {
        match name.parts() {
            (schema, name) if schema == "public" || schema == default_schema => ("", name),
            parts => parts,
        }
    }
    parts(one, default_schema) == parts(other, default_schema)
}

/// The foreign keys of a source.
fn known_keys(generation: &Generation, source: Option<&str>) -> Result<Vec<KnownKey>, HasuraError> {
    let ScriptAnswer::Rows(_, rows) = ask(generation, source, POSTGRES_KEYS, SQLITE_KEYS)? else {
        return Ok(Vec::new());
    };
    let key = |row: Vec<Option<String>>| {
        let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
        let list = |at: usize| serde_json::from_str::<Vec<String>>(&text(at)).unwrap_or_default();
        let table = |at: usize| {
            let mut name = TableName::Name(text(at + 1));
            if !text(at).is_empty() {
                name.in_schema(&text(at));
            }
            name
        };
        KnownKey {
            name: row.first().cloned().flatten(),
            table: table(1),
            columns: list(3),
            target: table(4),
            target_columns: list(6),
            is_unique: matches!(text(7).as_str(), "t" | "1"),
        }
    };
    Ok(rows.into_iter().map(key).collect())
}

/// True if a relationship of `table` uses `key`, in reverse if `is_back`.
fn tracks(table: &TableEntry, key: &KnownKey, is_back: bool, default_schema: &str) -> bool {
    let same = |columns: &[String]| {
        columns.len() == key.columns.len() && columns.iter().all(|it| key.columns.contains(it))
    };
    let follows = |it: &RelationshipEntry| match (&it.using.foreign_key_constraint_on, is_back) {
        (Some(ForeignKeyOn::Column(column)), false) => same(std::slice::from_ref(column)),
        (Some(ForeignKeyOn::Columns(columns)), false) => same(columns),
        (Some(ForeignKeyOn::Remote(remote)), true) => {
            is_same(&remote.table, &key.table, default_schema)
                && (same(&remote.column) || same(&remote.columns))
        }
        (Some(_) | None, _) => false,
    };
    table.object_relationships.iter().chain(&table.array_relationships).any(follows)
}

fn suggestion(kind: &str, key: &KnownKey, is_back: bool) -> Value {
    let mut own = json!({ "table": show_table(&key.table), "columns": key.columns });
    if let Some(name) = &key.name {
        own["constraint_name"] = json!(name);
    }
    let target = json!({ "table": show_table(&key.target), "columns": key.target_columns });
    if is_back {
        json!({ "type": kind, "from": target, "to": own })
    } else {
        json!({ "type": kind, "from": own, "to": target })
    }
}

/// `table` as tools write it.
pub(super) fn show_table(table: &TableName) -> Value {
    match table.parts() {
        ("", name) => json!(name),
        (schema, name) => json!({ "name": name, "schema": schema }),
    }
}
