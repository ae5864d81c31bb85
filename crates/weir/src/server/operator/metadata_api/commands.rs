//! Commands by their names.

use super::edit_entries::{Edit, refuse_partial};
use super::inconsistent::MetadataState;
use super::replace_metadata::{DEFAULT, document, refuse_unread_files, unread_files};
use super::{Done, Door, SUCCESS, Work, flag, text};
use crate::server::operator::reload;
use crate::server::request::hasura_error::HasuraError;
use hyper::StatusCode;
use serde_json::json;
use weir_language::json::JsonRef;
use weir_metadata::edit;
use weir_postgres::script::Manner;
use weir_webhook::transform::test_transform;

/// Session of `run_sql`, which only the admin may ask for.
const ADMIN_SESSION: &str = r#"{"x-hasura-role":"admin"}"#;

/// Prefixes of commands about databases.
const BACKENDS: [(&str, &str); 6] = [
    ("pg", "postgres"),
    ("sqlite", "sqlite"),
    ("citus", "citus"),
    ("cockroach", "cockroach"),
    ("mssql", "mssql"),
    ("bigquery", "bigquery"),
];
/// Commands of Hasura about databases that Weir does not support.
const ENTRIES: &[&str] = &["track_stored_procedure", "untrack_stored_procedure"];
/// First words of commands that are not about a backend.
const VERBS: [&str; 18] = [
    "add", "bulk", "check", "clear", "create", "delete", "drop", "dump", "export", "get", "list", "reload",
    "remove", "rename", "replace", "set", "test", "update",
];
/// Further unsupported commands.
const OTHERS: &[&str] = &[
    "add_host_to_tls_allowlist",
    "drop_host_from_tls_allowlist",
    "set_metrics_config",
    "remove_metrics_config",
    "set_opentelemetry_config",
    "set_opentelemetry_status",
    "dc_add_agent",
    "dc_delete_agent",
    "set_query_tags",
];

impl Work {
    /// Runs one command, found at `path` of the request.
    pub(super) fn command(&self, command: JsonRef<'_>, path: &str) -> Done {
        let wrong = |message: &str| HasuraError::new("parse-failed", path, message);
        let name = command.get("type").and_then(|it| it.as_str().map(std::borrow::Cow::into_owned));
        let name = name.ok_or_else(|| wrong("key \"type\" not found"))?;
        let args = command.get("args").unwrap_or(command);
        let is_second = command.get("version").and_then(JsonRef::as_number) == Some("2");
        let is_of_metadata = self.door != Door::Query;
        let (backend, verb) = name.split_once('_').unwrap_or(("", &name));
        match name.as_str() {
            "bulk" | "bulk_atomic" | "concurrent_bulk" => self.bulk(args, path),
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
            "check_metadata_warnings" if is_of_metadata => {
                self.metadata_warnings(args.get("metadata").unwrap_or(args).raw())
            }
            "clear_metadata" if is_of_metadata => self.clear(),
            "reload_metadata" if is_of_metadata => self.reload(),
            "reload_remote_schema" if is_of_metadata => {
                self.told_of_remote_schema(args)?;
                self.reload()
            }
            "introspect_remote_schema" if is_of_metadata => self.told_of_remote_schema(args),
            "drop_inconsistent_metadata" if is_of_metadata => self.drop_inconsistent(),
            "test_webhook_transform" if is_of_metadata => test_transform(args).map_err(|it| {
                let error = HasuraError::new(it.code, &format!("$.args{}", it.member), it.message);
                HasuraError { internal: it.internal, ..error }
            }),
            "get_catalog_state" if is_of_metadata => self.catalog_state(),
            "set_catalog_state" if is_of_metadata => self.set_catalog_state(args),
            "get_inconsistent_metadata" if is_of_metadata => {
                Ok(format!("{{{}}}", MetadataState::of_served(&self.live.current(), &self.live).members()))
            }
            "cleanup_event_trigger_logs" if is_of_metadata => self.clean_event_logs(args),
            _ if is_of_metadata && edit::is_edit(&name) => {
                Ok(self.edit(&[self.entry_edit(name, args, path.to_owned())])?.concat())
            }
            _ => match self.other_command(&name, args).filter(|_| is_of_metadata) {
                Some(done) => done,
                None => Err(unknown(&name, path, self.door)),
            },
        }
    }

    /// A command of tools, or about scheduled events.
    fn other_command(&self, name: &str, args: JsonRef<'_>) -> Option<Done> {
        self.schedule_command(name, args).or_else(|| self.tool_command(name, args))
    }

    /// Exports the metadata. Files that cannot be read are named: tools write files of the answer, in whose place those would be lost.
    /// The command line writes them of a bare answer at `/v1/metadata`, so that is refused; elsewhere it wants a document.
    fn export(&self, is_second: bool) -> Done {
        let mut metadata = self.export_json()?;
        let generation = self.live.current();
        if !is_second && self.door == Door::Metadata {
            refuse_unread_files(&generation)?;
        }
        let unread = unread_files(&generation);
        let unread =
            if unread.is_empty() { String::new() } else { format!(",\"unread_files\":{}", json!(unread)) };
        if is_second {
            Ok(format!(
                "{{\"resource_version\":{},\"metadata\":{metadata}{unread}}}",
                self.resource_version()?
            ))
        } else {
            let end = metadata.len() - usize::from(metadata.ends_with('}'));
            metadata.insert_str(end, &unread);
            Ok(metadata)
        }
    }

    fn reload(&self) -> Done {
        let turn = self.live.turn();
        reload::reload_and_log(&turn, &self.metrics)
            .map_err(|message| HasuraError::new("unexpected", "$", message))?;
        let state = MetadataState::of_served(&turn.current(), &self.live);
        Ok(if state.objects.is_empty() {
            r#"{"message":"success","is_consistent":true}"#.to_owned()
        } else {
            format!("{{\"message\":\"success\",{}}}", state.members())
        })
    }

    /// The answer of a remote schema to the introspection query; an empty object if it gave none.
    fn told_of_remote_schema(&self, args: JsonRef<'_>) -> Done {
        let missing = || HasuraError::new("parse-failed", "$.args", "key \"name\" not found");
        let name = text(args, "name")?.ok_or_else(missing)?;
        let generation = self.live.current();
        let watched = generation.remotes.iter().find(|it| it.name == name);
        if let Some(told) = watched.and_then(|it| it.told.as_ref()) {
            return Ok(String::from_utf8_lossy(told).into_owned());
        }
        let described = generation.config.described.as_ref();
        let mut entries = described.into_iter().flat_map(|it| &it.loaded.document.remote_schemas);
        if entries.any(|it| it.name == name) {
            return Ok("{}".to_owned());
        }
        let message = format!("remote schema with name \"{name}\" does not exist");
        Err(HasuraError::new("not-exists", "$.args.name", message))
    }

    /// The command `name` with what it has to know of its database.
    fn entry_edit<'c>(&self, name: String, args: JsonRef<'c>, path: String) -> Edit<'c> {
        let keys = if edit::follows_keys(&name) { self.keys_before(args) } else { Vec::new() };
        Edit { name, args: args.raw(), path, keys }
    }

    /// Runs a list of commands that edit single entries as one change; `None` if it contains other commands.
    fn bulk_edit(&self, args: JsonRef<'_>, path: &str) -> Option<Done> {
        let edits = args.items().enumerate().map(|(at, item)| {
            let name = item.get("type").and_then(|it| it.as_str().map(std::borrow::Cow::into_owned))?;
            let args = item.get("args").unwrap_or(item);
            edit::is_edit(&name).then(|| self.entry_edit(name, args, format!("{path}.args[{at}]")))
        });
        let edits: Vec<Edit<'_>> = edits.collect::<Option<_>>()?;
        let is_edit = self.door != Door::Query && !edits.is_empty();
        is_edit.then(|| self.edit(&edits).map(|it| format!("[{}]", it.join(","))))
    }

    /// Runs commands up to the first failure, after which the metadata is restored.
    fn bulk(&self, args: JsonRef<'_>, path: &str) -> Done {
        let commands = items(args, path)?;
        if let Some(done) = self.bulk_edit(args, path) {
            return done;
        }
        let before = self.live.current();
        let mut answers = Vec::new();
        for (at, item) in commands.enumerate() {
            let place = self.place_of(path, at);
            match self.command(item, &place) {
                Ok(answer) => answers.push(answer),
                Err(error) => {
                    self.undo(&before)?;
                    let below = error.path.strip_prefix('$').unwrap_or_default();
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

    /// Path of command number `at` in a list at `path`.
    fn place_of(&self, path: &str, at: usize) -> String {
        match self.door {
            Door::Query => format!("{path}[{at}]"),
            Door::Metadata | Door::Both => format!("{path}.args[{at}]"),
        }
    }

    /// Runs all commands; a failed one has its error as the answer.
    fn bulk_keep_going(&self, args: JsonRef<'_>, path: &str) -> Done {
        let run = |(at, item)| match self.command(item, &self.place_of(path, at)) {
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
        if is_second { Ok(made) } else { Ok(SUCCESS.to_owned()) }
    }

    fn clear(&self) -> Done {
        // Only the connection of source `default` is kept.
        let before = document(&self.live.current());
        let is_default = before.sources.iter().any(|it| it.name == DEFAULT);
        let empty = if is_default { r#"{"version":2,"tables":[]}"# } else { r#"{"version":3,"sources":[]}"# };
        self.replace(empty, true, false)?;
        Ok(SUCCESS.to_owned())
    }

    fn run_sql(&self, args: JsonRef<'_>) -> Done {
        let wrong = || HasuraError::new("parse-failed", "$.args", "key \"sql\" not found");
        let sql = text(args, "sql")?.ok_or_else(wrong)?;
        let source = text(args, "source")?;
        // The reload checks consistency in any case. Migrations say false: the metadata of their project has the new names.
        let is_followed = flag(args, "check_metadata_consistency", true)?;
        let before = self.live.current();
        let is_read_only = flag(args, "read_only", false)?;
        let is_stepwise = flag(args, "no_transaction", false)?;
        let manner = Manner { is_read_only, is_stepwise, session: Some(ADMIN_SESSION) };
        let is_cascade = flag(args, "cascade", false)?;
        if is_cascade && !is_read_only {
            // Committed statements would be told as an error, and a client that repeats it would run them twice.
            refuse_partial(&before)?;
        }
        let done = super::sql::run(self, source.as_deref(), &sql, manner, is_followed);
        // `/v2/query` reports errors without the path of a member.
        let done = done.map_err(|it| match self.door {
            Door::Query => HasuraError { path: "$".to_owned(), ..it },
            Door::Metadata | Door::Both => it,
        })?;
        if is_cascade {
            self.drop_dependants(&before)?;
        }
        Ok(done)
    }
}

fn items<'t>(args: JsonRef<'t>, path: &str) -> Result<impl Iterator<Item = JsonRef<'t>>, HasuraError> {
    if args.is_array() {
        Ok(args.items())
    } else {
        Err(HasuraError::new("parse-failed", &format!("{path}.args"), "expected a list of commands"))
    }
}

/// Error for the unsupported command `name`.
fn unknown(name: &str, path: &str, door: Door) -> HasuraError {
    let (prefix, verb) = name.split_once('_').unwrap_or(("", name));
    let backend = BACKENDS.iter().find(|it| it.0 == prefix).map(|it| it.1);
    let of_database = |verb: &str| ENTRIES.contains(&verb) || edit::is_edit(verb);
    let is_known =
        OTHERS.contains(&name) || ENTRIES.contains(&name) || (backend.is_some() && of_database(verb));
    let place = format!("{path}.type");
    if is_known && door != Door::Query {
        let message = format!("`{name}` is not supported: Weir has nothing of the kind");
        return HasuraError::new("not-supported", &place, message);
    }
    let (kind, elsewhere) = match door {
        Door::Metadata => ("metadata", verb == "run_sql" || name == "run_sql"),
        Door::Query | Door::Both => ("query", name.ends_with("_metadata") || edit::is_edit(name)),
    };
    if elsewhere {
        let other = if door == Door::Metadata { "/v2/query" } else { "/v1/metadata" };
        return HasuraError::new("parse-failed", &place, format!("`{name}` is run at {other}"));
    }
    let is_verb = VERBS.contains(&prefix);
    let message = match backend {
        Some(backend) => format!("unknown {kind} command \"{verb}\" for backend {backend}"),
        None if prefix.is_empty() || is_verb => format!("unknown {kind} command \"{name}\""),
        None => format!(
            "unknown {kind} command \"{name}\"; \"{prefix}\" was not recognized as a valid backend name"
        ),
    };
    // Hasura answers 400 here: a tool that tries what it may use reads from 501 that there is no such command.
    HasuraError::new("parse-failed", &place, message).with_status(StatusCode::NOT_IMPLEMENTED)
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
            ("get_wings", "parse-failed", "unknown metadata command \"get_wings\""),
            ("mssql_track_table", "not-supported", "`mssql_track_table` is not supported"),
            ("run_sql", "parse-failed", "`run_sql` is run at /v2/query"),
        ] {
            let error = unknown(name, "$", Door::Metadata);
            assert_eq!((error.code.as_str(), error.path.as_str()), (code, "$.type"), "{name}");
            assert!(error.message.contains(part), "{name}: {}", error.message);
            let is_unknown = error.message.starts_with("unknown ");
            assert_eq!(error.status == StatusCode::NOT_IMPLEMENTED, is_unknown, "{name}");
        }
        assert!(unknown("export_metadata", "$", Door::Query).message.contains("/v1/metadata"));
    }
}
