//! Commands that edit single entries: applied to the document, which is then installed like a replaced one.
//!
//! **Invariant:** an edit makes nothing inconsistent that was not before; one that would is refused, and nothing has changed.

use super::inconsistent::{MetadataState, describe_down, object};
use super::replace_metadata::{
    MetadataPlace, document, draft_generation, load_metadata, newly_down, refuse_unread_files,
    unexpected_error,
};
use super::{Done, SUCCESS, Work};
use crate::generation::{Generation, Turn};
use crate::server::request::hasura_error::HasuraError;
use serde_json::json;
use weir_metadata::edit::{self, Edited, KeyBefore};
use weir_metadata::{Inconsistent, Metadata, Step, export};

/// Maximum number of rounds that remove dependent entries.
const ROUNDS_MAX: usize = 32;

/// A command with its JSON arguments.
pub(super) struct Edit<'c> {
    pub(super) name: String,
    pub(super) args: &'c str,
    /// Path of the command in the request.
    pub(super) path: String,
    /// Foreign keys of the source, for a command that follows them.
    pub(super) keys: Vec<KeyBefore>,
}

/// Treatment of entries that depend on a removed one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dependants {
    /// New inconsistencies are an error.
    Forbidden,
    /// New inconsistencies are an error of a removal, which names the dependents.
    Kept,
    /// Dependent entries are removed too.
    Dropped,
}

impl Work {
    /// Runs `edits` as one change; returns the answer of each.
    pub(super) fn edit(&self, edits: &[Edit<'_>]) -> Result<Vec<String>, HasuraError> {
        let turn = self.live.turn();
        self.check_version()?;
        let place = self.place(&turn)?;
        let mut next = document(&turn.current());
        let mut answers = Vec::new();
        let mut dependants = Dependants::Forbidden;
        for Edit { name, args, path, keys } in edits {
            let edited = edit::edit(&next, name, args, keys).map_err(|refused| {
                HasuraError::new(refused.code, &format!("{path}.{}", refused.path), refused.message)
            })?;
            let Edited { document, cascade, message } = edited;
            next = document;
            dependants = match (cascade, dependants) {
                (Some(true), _) | (_, Dependants::Dropped) => Dependants::Dropped,
                (Some(false), _) | (_, Dependants::Kept) => Dependants::Kept,
                (None, Dependants::Forbidden) => Dependants::Forbidden,
            };
            answers
                .push(message.map_or_else(|| SUCCESS.to_owned(), |it| json!({ "message": it }).to_string()));
        }
        let path = match edits {
            [only] => format!("{}.args", only.path),
            _ => "$.args".to_owned(),
        };
        let before = document(&turn.current());
        let installed = self.install_metadata(&turn, &place, next, dependants);
        installed.map_err(|it| HasuraError { path: path.clone(), ..it })?;
        match self.find_unmade_trigger(edits) {
            None => {
                self.clear_dropped_actions(edits, &before);
                Ok(answers)
            }
            Some(reason) => {
                self.install_metadata(&turn, &place, before, Dependants::Forbidden)?;
                Err(HasuraError::new("unexpected", &path, reason))
            }
        }
    }

    /// The reason why an event trigger that one of `edits` makes is not in its database.
    fn find_unmade_trigger(&self, edits: &[Edit<'_>]) -> Option<String> {
        edits.iter().filter(|it| it.name.ends_with("create_event_trigger")).find_map(|it| {
            let args: serde_json::Value = serde_json::from_str(it.args).ok()?;
            let source = args["source"].as_str().unwrap_or("default");
            self.live.events().find_failure(source, args["name"].as_str()?)
        })
    }

    /// Removes the stored calls of asynchronous actions of `before` that `edits` drop, unless they say otherwise.
    fn clear_dropped_actions(&self, edits: &[Edit<'_>], before: &Metadata) {
        for Edit { args, .. } in edits.iter().filter(|it| it.name == "drop_action") {
            let Ok(args) = serde_json::from_str::<serde_json::Value>(args) else { continue };
            let name = args["name"].as_str().unwrap_or_default();
            let mut dropped = before.actions.iter().filter(|it| it.name == name);
            if dropped.any(|it| it.definition.is_asynchronous()) && args["clear_data"] != json!(false) {
                self.clear_calls(name);
            }
        }
    }

    /// Installs `next` as the metadata, subject to `dependants`.
    fn install_metadata(
        &self,
        turn: &Turn<'_>,
        place: &MetadataPlace,
        mut next: Metadata,
        dependants: Dependants,
    ) -> Result<(), HasuraError> {
        let before = turn.current();
        refuse_partial(&before)?;
        for _ in 0..ROUNDS_MAX {
            let text = export::json(&next).map_err(unexpected_error)?;
            let draft = draft_generation(turn, place, load_metadata(&text, "$.args")?)?;
            let fresh: Vec<&Inconsistent> =
                draft.findings.inconsistent.iter().filter(|it| is_new(it, &before)).collect();
            let lost: Vec<String> = newly_down(&draft, &before).map(describe_down).collect();
            if fresh.is_empty() && lost.is_empty() {
                return self.install(turn, place, &next, draft);
            }
            let paths: Vec<Vec<Step>> =
                fresh.iter().map(|it| it.entry.clone()).filter(|it| !it.is_empty()).collect();
            if dependants != Dependants::Dropped || paths.is_empty() || !lost.is_empty() {
                return Err(inconsistency_error(&fresh, lost, dependants));
            }
            // The paths refer to the printed document, whose order may differ.
            next = edit::remove_paths(&document(&draft), &paths).map_err(unexpected_error)?;
        }
        Err(unexpected_error("what depends on it does not end".into()))
    }

    /// Removes inconsistent entries and their dependents. A source that is down is kept.
    pub(super) fn drop_inconsistent(&self) -> Done {
        let turn = self.live.turn();
        self.check_version()?;
        refuse_unread_files(&turn.current())?;
        let place = self.place(&turn)?;
        let mut next = document(&turn.current());
        for _ in 0..ROUNDS_MAX {
            let text = export::json(&next).map_err(unexpected_error)?;
            let draft = draft_generation(&turn, &place, load_metadata(&text, "$.args")?)?;
            let unmade = self.live.events().list_lasting(&draft);
            let found = draft.findings.inconsistent.iter().chain(&unmade).map(|it| it.entry.clone());
            let paths: Vec<Vec<Step>> = found.filter(|it| !it.is_empty()).collect();
            if paths.is_empty() {
                self.install(&turn, &place, &next, draft)?;
                return Ok(SUCCESS.to_owned());
            }
            next = edit::remove_paths(&document(&draft), &paths).map_err(unexpected_error)?;
        }
        Err(unexpected_error("what depends on the inconsistent objects does not end".into()))
    }

    /// Removes entries that became inconsistent since `before`, after SQL was run.
    pub(super) fn drop_dependants(&self, before: &Generation) -> Result<(), HasuraError> {
        let turn = self.live.turn();
        let current = turn.current();
        let found = current.findings.inconsistent.iter().filter(|it| is_new(it, before));
        let paths: Vec<Vec<Step>> = found.map(|it| it.entry.clone()).filter(|it| !it.is_empty()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let place = self.place(&turn)?;
        let next = edit::remove_paths(&document(&current), &paths).map_err(unexpected_error)?;
        self.install_metadata(&turn, &place, next, Dependants::Dropped)
    }
}

/// Words for a change of a document that lacks parts of its files.
const PARTIAL: &str = "the files of the metadata have keys or entries that Weir leaves out, and a change would remove them: mend what \
                       `weir check` reports, or send the whole by replace_metadata";

/// Refuses a change of a document that lacks parts of its files.
pub(super) fn refuse_partial(generation: &Generation) -> Result<(), HasuraError> {
    if generation.config.described.as_ref().is_some_and(|it| it.loaded.is_partial) {
        return Err(HasuraError::new("not-supported", "$.args", PARTIAL));
    }
    Ok(())
}

/// True if `object` was consistent or absent `before`.
fn is_new(object: &Inconsistent, before: &Generation) -> bool {
    let mut known = before.findings.inconsistent.iter();
    !known.any(|it| (it.kind, &it.name) == (object.kind, &object.name))
}

/// Message and errors of an action whose templates are none.
fn split_transform_reason(object: &Inconsistent) -> Option<(&'static str, &str)> {
    let messages = ["request transform validation failed", "response transform validation failed"];
    let find = |it: &'static str| Some((it, object.reason.split_once(it)?.1.strip_prefix(": ")?));
    (object.kind == "action").then(|| messages.into_iter().find_map(find)).flatten()
}

/// Error of a change that would make `fresh` inconsistent and disconnect `lost`.
fn inconsistency_error(fresh: &[&Inconsistent], lost: Vec<String>, dependants: Dependants) -> HasuraError {
    let objects: Vec<String> = fresh.iter().map(|it| object(it)).chain(lost).collect();
    let internal = MetadataState { objects, has_unmade_triggers: false }.list();
    let (code, message) = match (dependants, fresh) {
        (Dependants::Kept, _) => {
            let names: Vec<&str> = fresh.iter().map(|it| it.name.as_str()).collect();
            let names = names.join(", ");
            ("dependency-error", format!("cannot drop due to the following dependent objects: {names}"))
        }
        (_, [only]) if let Some((message, errors)) = split_transform_reason(only) => {
            return HasuraError::new("validation-failed", "$.args", message).with_internal(errors.to_owned());
        }
        (_, [only]) => {
            let is_relation = matches!(only.kind, "object_relation" | "array_relation");
            let is_key = is_relation && only.reason.contains("foreign key");
            let code = match only.kind {
                "table" if only.entry.len() == 4 => "not-exists",
                _ if is_key => "constraint-error",
                _ => "invalid-configuration",
            };
            (code, only.reason.clone())
        }
        _ => ("unexpected", "cannot continue due to new inconsistent metadata".to_owned()),
    };
    HasuraError::new(code, "$.args", message).with_internal(internal)
}
