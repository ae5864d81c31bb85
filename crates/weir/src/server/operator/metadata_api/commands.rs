//! Commands by their names.

use super::{Done, Door, Work, flag, text};
use crate::generation::Generation;
use crate::server::operator::reload;
use crate::server::request::hasura_error::HasuraError;
use serde_json::json;
use weir_language::json::JsonRef;
use weir_metadata::Inconsistent;

/// Success of a change.
pub(super) const SUCCESS: &str = r#"{"message":"success"}"#;
/// Beginnings of commands about databases.
const BACKENDS: [(&str, &str); 6] = [
    ("pg", "postgres"),
    ("sqlite", "sqlite"),
    ("citus", "citus"),
    ("cockroach", "cockroach"),
    ("mssql", "mssql"),
    ("bigquery", "bigquery"),
];
/// Commands of Hasura's about one entry of a database.
const ENTRIES: &[&str] = &[
    "track_table",
    "untrack_table",
    "track_tables",
    "untrack_tables",
    "set_table_customization",
    "set_table_is_enum",
    "track_function",
    "untrack_function",
    "set_function_customization",
    "create_insert_permission",
    "create_select_permission",
    "create_update_permission",
    "create_delete_permission",
    "drop_insert_permission",
    "drop_select_permission",
    "drop_update_permission",
    "drop_delete_permission",
    "set_permission_comment",
    "create_object_relationship",
    "create_array_relationship",
    "drop_relationship",
    "rename_relationship",
    "add_computed_field",
    "drop_computed_field",
    "create_function_permission",
    "drop_function_permission",
    "add_source",
    "drop_source",
    "update_source",
    "get_source_tables",
    "create_event_trigger",
    "delete_event_trigger",
    "create_remote_relationship",
    "delete_remote_relationship",
];
/// Commands of Hasura's about other entries.
const OTHERS: &[&str] = &[
    "add_inherited_role",
    "drop_inherited_role",
    "create_query_collection",
    "rename_query_collection",
    "drop_query_collection",
    "add_query_to_collection",
    "drop_query_from_collection",
    "add_collection_to_allowlist",
    "update_scope_of_collection_in_allowlist",
    "drop_collection_from_allowlist",
    "create_rest_endpoint",
    "drop_rest_endpoint",
    "set_graphql_schema_introspection_options",
    "set_api_limits",
    "remove_api_limits",
    "set_custom_types",
    "create_action",
    "update_action",
    "drop_action",
    "add_remote_schema",
    "update_remote_schema",
    "remove_remote_schema",
    "reload_remote_schema",
    "introspect_remote_schema",
    "create_cron_trigger",
    "delete_cron_trigger",
    "add_host_to_tls_allowlist",
    "drop_host_from_tls_allowlist",
    "set_metrics_config",
    "drop_inconsistent_metadata",
    "rename_source",
];

impl Work {
    /// Runs one command, which stands at `path`.
    pub(super) fn command(&self, command: JsonRef<'_>, path: &str) -> Done {
        let wrong = |message: &str| HasuraError::new("parse-failed", path, message);
        let name = command.get("type").and_then(|it| it.as_str().map(std::borrow::Cow::into_owned));
        let name = name.ok_or_else(|| wrong("key \"type\" not found"))?;
        let args = command.get("args").unwrap_or(command);
        let is_second = command.get("version").and_then(JsonRef::as_number) == Some("2");
        let is_of_metadata = self.door != Door::Query;
        let (backend, verb) = name.split_once('_').unwrap_or(("", &name));
        match name.as_str() {
            "bulk" | "bulk_atomic" => self.bulk(args, path),
            "bulk_keep_going" => self.bulk_keep_going(args, path),
            "run_sql" if self.door != Door::Metadata => self.run_sql(args),
            _ if self.door != Door::Metadata
                && verb == "run_sql"
                && ["pg", "sqlite", "citus", "cockroach"].contains(&backend) =>
            {
                self.run_sql(args)
            }
            "export_metadata" if is_of_metadata => self.export(is_second),
            "replace_metadata" if is_of_metadata => self.replace_command(args, is_second),
            "clear_metadata" if is_of_metadata => self.clear(),
            "reload_metadata" if is_of_metadata => self.reload(),
            "get_inconsistent_metadata" if is_of_metadata => {
                Ok(format!("{{{}}}", MetadataState::of(&self.live.current()).members()))
            }
            _ => Err(unknown(&name, path, self.door)),
        }
    }

    fn export(&self, is_second: bool) -> Done {
        let metadata = self.exported()?;
        match is_second {
            true => {
                Ok(format!("{{\"resource_version\":{},\"metadata\":{metadata}}}", self.resource_version()?))
            }
            false => Ok(metadata),
        }
    }

    fn reload(&self) -> Done {
        let turn = self.live.turn();
        reload::take_over(&turn, &self.metrics)
            .map_err(|message| HasuraError::new("unexpected", "$", message))?;
        let state = MetadataState::of(&turn.current());
        Ok(match state.objects.is_empty() {
            true => r#"{"message":"success","is_consistent":true}"#.to_owned(),
            false => format!("{{\"message\":\"success\",{}}}", state.members()),
        })
    }

    /// Runs a list of commands up to the first that fails; then the metadata is as before.
    fn bulk(&self, args: JsonRef<'_>, path: &str) -> Done {
        let before = self.live.current();
        let mut answers = Vec::new();
        for (at, item) in items(args, path)?.enumerate() {
            match self.command(item, &format!("{path}.args[{at}]")) {
                Ok(answer) => answers.push(answer),
                Err(error) => {
                    self.undo(&before)?;
                    let below = error.path.strip_prefix('$').unwrap_or_default();
                    let place = format!("{path}.args[{at}]");
                    let path = if error.path.starts_with(&place) {
                        error.path.clone()
                    } else {
                        format!("{place}{below}")
                    };
                    return Err(HasuraError { path, ..error });
                }
            }
        }
        Ok(format!("[{}]", answers.join(",")))
    }

    /// Runs a list of commands; those that fail answer their error.
    fn bulk_keep_going(&self, args: JsonRef<'_>, path: &str) -> Done {
        let run = |(at, item)| match self.command(item, &format!("{path}.args[{at}]")) {
            Ok(answer) => answer,
            Err(error) => String::from_utf8_lossy(&error.body()).into_owned(),
        };
        let answers: Vec<String> = items(args, path)?.enumerate().map(run).collect();
        Ok(format!("[{}]", answers.join(",")))
    }

    pub(super) fn replace_command(&self, args: JsonRef<'_>, is_second: bool) -> Done {
        let inner = args.get("metadata").filter(|_| args.get("sources").is_none());
        let allow = flag(args, "allow_inconsistent_metadata", false)?;
        let is_dry = flag(args, "dry_run", false)?;
        let made = self.replace(inner.unwrap_or(args).raw(), allow, is_dry)?;
        match is_second {
            true => Ok(made),
            false => Ok(SUCCESS.to_owned()),
        }
    }

    fn clear(&self) -> Done {
        self.replace(r#"{"version":3,"sources":[]}"#, true, false)?;
        Ok(SUCCESS.to_owned())
    }

    fn run_sql(&self, args: JsonRef<'_>) -> Done {
        let wrong = || HasuraError::new("parse-failed", "$.args", "key \"sql\" not found");
        let sql = text(args, "sql")?.ok_or_else(wrong)?;
        let source = text(args, "source")?;
        super::sql::run(self, source.as_deref(), &sql, flag(args, "read_only", false)?)
    }
}

/// The inconsistent objects of a generation's metadata.
pub(super) struct MetadataState {
    /// JSON of each object.
    pub(super) objects: Vec<String>,
}

impl MetadataState {
    pub(super) fn of(generation: &Generation) -> Self {
        let object = |it: &Inconsistent| {
            let [kind, name, reason] = [it.kind, &it.name, &it.reason].map(|it| json!(it));
            let definition = &it.definition;
            format!("{{\"type\":{kind},\"name\":{name},\"reason\":{reason},\"definition\":{definition}}}")
        };
        Self { objects: generation.findings.inconsistent.iter().map(object).collect() }
    }

    /// The list of objects.
    pub(super) fn list(&self) -> String {
        format!("[{}]", self.objects.join(","))
    }

    /// The two members of answers.
    pub(super) fn members(&self) -> String {
        let is_consistent = self.objects.is_empty();
        format!("\"is_consistent\":{is_consistent},\"inconsistent_objects\":{}", self.list())
    }
}

fn items<'t>(args: JsonRef<'t>, path: &str) -> Result<impl Iterator<Item = JsonRef<'t>>, HasuraError> {
    match args.is_array() {
        true => Ok(args.items()),
        false => {
            Err(HasuraError::new("parse-failed", &format!("{path}.args"), "expected a list of commands"))
        }
    }
}

/// The reason for which `name` is not run.
fn unknown(name: &str, path: &str, door: Door) -> HasuraError {
    let (prefix, verb) = name.split_once('_').unwrap_or(("", name));
    let backend = BACKENDS.iter().find(|it| it.0 == prefix).map(|it| it.1);
    let is_known =
        OTHERS.contains(&name) || ENTRIES.contains(&name) || (backend.is_some() && ENTRIES.contains(&verb));
    let place = format!("{path}.type");
    if is_known {
        let message = format!(
            "`{name}` is not supported: change the metadata's files, or send the whole by `replace_metadata`"
        );
        return HasuraError::new("not-supported", &place, message);
    }
    let (kind, elsewhere) = match door {
        Door::Metadata => ("metadata", verb == "run_sql" || name == "run_sql"),
        Door::Query | Door::Both => ("query", name.ends_with("_metadata")),
    };
    if elsewhere {
        let other = if door == Door::Metadata { "/v2/query" } else { "/v1/metadata" };
        return HasuraError::new("parse-failed", &place, format!("`{name}` is run at {other}"));
    }
    let message = match backend {
        Some(backend) => format!("unknown {kind} command \"{verb}\" for backend {backend}"),
        None if prefix.is_empty() => format!("unknown {kind} command \"{name}\""),
        None => format!(
            "unknown {kind} command \"{name}\"; \"{prefix}\" was not recognized as a valid backend name"
        ),
    };
    HasuraError::new("parse-failed", &place, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_are_not_run_are_told_apart() {
        for (name, code, part) in [
            ("pg_fly", "parse-failed", "unknown metadata command \"fly\" for backend postgres"),
            (
                "xx_fly",
                "parse-failed",
                "unknown metadata command \"xx_fly\"; \"xx\" was not recognized as a valid backend name",
            ),
            ("fly", "parse-failed", "unknown metadata command \"fly\""),
            ("pg_track_table", "not-supported", "`pg_track_table` is not supported: "),
            ("create_rest_endpoint", "not-supported", "`create_rest_endpoint` is not supported: "),
            ("run_sql", "parse-failed", "`run_sql` is run at /v2/query"),
        ] {
            let error = unknown(name, "$", Door::Metadata);
            assert_eq!((error.code.as_str(), error.path.as_str()), (code, "$.type"), "{name}");
            assert!(error.message.contains(part), "{name}: {}", error.message);
        }
        assert!(unknown("export_metadata", "$", Door::Query).message.contains("/v1/metadata"));
    }
}
