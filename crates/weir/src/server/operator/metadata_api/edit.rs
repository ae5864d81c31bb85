//! Commands that change single entries: edits of the document, taken over as a replaced one is.
//!
//! **Invariant:** an edit makes nothing inconsistent that was not before; one that would is refused, and nothing has changed.

use super::commands::{MetadataState, SUCCESS, object};
use super::replace::{MetadataPlace, document, down, drafted, loaded, lost, unexpected};
use super::{Done, Work};
use crate::generation::{Generation, Turn};
use crate::server::request::hasura_error::HasuraError;
use serde_json::json;
use weir_metadata::edit::{self, Edited};
use weir_metadata::{Inconsistent, Metadata, Step, export};

/// Rounds in which what depends on removed entries is removed too.
const ROUNDS_MAX: usize = 32;

/// A command with its arguments, which are JSON.
pub(super) struct Edit<'c> {
    pub(super) name: String,
    pub(super) args: &'c str,
    /// Its place in the request.
    pub(super) path: String,
}

/// Treatment of entries that depend on what a change removes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dependants {
    /// Nothing new is inconsistent.
    Forbidden,
    /// The same, of a command that takes something away.
    Kept,
    /// Entries that become inconsistent are removed too.
    Dropped,
}

impl Work {
    /// Runs `edits` as one change; the answer of each.
    pub(super) fn edit(&self, edits: &[Edit<'_>]) -> Result<Vec<String>, HasuraError> {
        let turn = self.live.turn();
        self.check_version()?;
        let place = self.place(&turn)?;
        let (mut next, mut answers) = (document(&turn.current()), Vec::new());
        let mut dependants = Dependants::Forbidden;
        for Edit { name, args, path } in edits {
            let edited = edit::edit(&next, name, args).map_err(|refused| {
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
        self.take_over(&turn, &place, next, dependants).map_err(|it| HasuraError { path, ..it })?;
        Ok(answers)
    }

    /// Makes `next` the metadata, as far as `dependants` allows.
    fn take_over(
        &self,
        turn: &Turn<'_>,
        place: &MetadataPlace,
        mut next: Metadata,
        dependants: Dependants,
    ) -> Result<(), HasuraError> {
        let before = turn.current();
        for _ in 0..ROUNDS_MAX {
            let text = export::json(&next).map_err(unexpected)?;
            let draft = drafted(turn, place, loaded(&text, "$.args")?)?;
            let fresh: Vec<&Inconsistent> =
                draft.findings.inconsistent.iter().filter(|it| is_new(it, &before)).collect();
            let lost: Vec<String> = lost(&draft, &before).map(down).collect();
            if fresh.is_empty() && lost.is_empty() {
                return self.install(turn, place, &next, draft);
            }
            let paths: Vec<Vec<Step>> =
                fresh.iter().map(|it| it.entry.clone()).filter(|it| !it.is_empty()).collect();
            if dependants != Dependants::Dropped || paths.is_empty() || !lost.is_empty() {
                return Err(refused(&fresh, lost, dependants));
            }
            // The paths are those of the text, which has an order of its own.
            next = edit::without(&document(&draft), &paths).map_err(unexpected)?;
        }
        Err(unexpected("what depends on it does not end".into()))
    }

    /// Removes the entries that are left out, and what depends on them. A source that cannot be reached now stays.
    pub(super) fn drop_inconsistent(&self) -> Done {
        let turn = self.live.turn();
        self.check_version()?;
        let place = self.place(&turn)?;
        let mut next = document(&turn.current());
        for _ in 0..ROUNDS_MAX {
            let text = export::json(&next).map_err(unexpected)?;
            let draft = drafted(&turn, &place, loaded(&text, "$.args")?)?;
            let found = draft.findings.inconsistent.iter().map(|it| it.entry.clone());
            let paths: Vec<Vec<Step>> = found.filter(|it| !it.is_empty()).collect();
            if paths.is_empty() {
                self.install(&turn, &place, &next, draft)?;
                return Ok(SUCCESS.to_owned());
            }
            next = edit::without(&document(&draft), &paths).map_err(unexpected)?;
        }
        Err(unexpected("what depends on the inconsistent objects does not end".into()))
    }

    /// Removes from the metadata what `before` did not miss, after statements of SQL.
    pub(super) fn drop_dependants(&self, before: &Generation) -> Result<(), HasuraError> {
        let turn = self.live.turn();
        let current = turn.current();
        let found = current.findings.inconsistent.iter().filter(|it| is_new(it, before));
        let paths: Vec<Vec<Step>> = found.map(|it| it.entry.clone()).filter(|it| !it.is_empty()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let place = self.place(&turn)?;
        let next = edit::without(&document(&current), &paths).map_err(unexpected)?;
        self.take_over(&turn, &place, next, Dependants::Dropped)
    }
}

/// True if `object` was served `before`, or was not there.
fn is_new(object: &Inconsistent, before: &Generation) -> bool {
    let mut known = before.findings.inconsistent.iter();
    !known.any(|it| (it.kind, &it.name) == (object.kind, &object.name))
}

/// The error of a change that would leave out `fresh` and `lost`.
fn refused(fresh: &[&Inconsistent], lost: Vec<String>, dependants: Dependants) -> HasuraError {
    let objects: Vec<String> = fresh.iter().map(|it| object(it)).chain(lost).collect();
    let internal = MetadataState { objects }.list();
    let (code, message) = match (dependants, fresh) {
        (Dependants::Kept, _) => {
            let names: Vec<&str> = fresh.iter().map(|it| it.name.as_str()).collect();
            let names = names.join(", ");
            ("dependency-error", format!("cannot drop due to the following dependent objects: {names}"))
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
