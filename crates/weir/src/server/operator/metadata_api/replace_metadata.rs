//! The metadata as a whole: exported, replaced, and put back.

use super::inconsistent::MetadataState;
use super::{Done, Work};
use crate::generation::{Generation, Turn};
use crate::metadata::store;
use crate::server::request::hasura_error::HasuraError;
use crate::sources::Down;
use crate::sources::services;
use hyper::StatusCode;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use weir_metadata::export::Export;
use weir_metadata::{Aside, Fault, Loaded, Metadata, read};

/// Location of the metadata, and its files.
pub(super) struct MetadataPlace {
    pub(super) path: PathBuf,
    read_before: Vec<PathBuf>,
}

impl Work {
    /// Metadata in service, as JSON, with the parts of its files that are not served.
    pub(super) fn export_json(&self) -> Result<String, HasuraError> {
        let generation = self.live.current();
        let mut export = export_of(&document(&generation), &generation).map_err(unexpected_error)?;
        export.hide_triggers();
        export.json().map(|it| it.trim_end().to_owned()).map_err(unexpected_error)
    }

    /// Version number, which changes with the metadata: a part of its digest.
    pub(super) fn resource_version(&self) -> Result<u32, HasuraError> {
        let digest = Sha256::digest(self.export_json()?);
        Ok(u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) >> 1)
    }

    /// Refuses a change based on an outdated version. It is checked once per request, before the client's own changes.
    pub(super) fn check_version(&self) -> Result<(), HasuraError> {
        let Some(sent) = self.version.take() else { return Ok(()) };
        if sent == self.resource_version()?.to_string() {
            return Ok(());
        }
        let message = format!("metadata resource version referenced ({sent}) did not match current version");
        Err(HasuraError::new("conflict", "$", message).with_status(StatusCode::CONFLICT))
    }

    /// Location of the metadata; an error if there is none.
    pub(super) fn place(&self, turn: &Turn<'_>) -> Result<MetadataPlace, HasuraError> {
        let generation = turn.current();
        let Some(path) = generation.config.metadata.clone() else {
            let message = "there is no place for metadata: name a folder or file by `metadata` in weir.yaml or --metadata";
            return Err(HasuraError::new("not-supported", "$.args", message));
        };
        let described = generation.config.described.as_ref();
        Ok(MetadataPlace {
            path,
            read_before: described.map(|it| it.loaded.watched.clone()).unwrap_or_default(),
        })
    }

    /// Replaces the metadata by the document `text`: builds a generation, writes the files, and serves it. With `is_dry` only the first
    /// step. Returns the inconsistent objects. A source that went down does not block the change, because the document did not cause it,
    /// and may revoke permissions.
    pub(super) fn replace(&self, text: &str, allow_inconsistent: bool, is_dry: bool) -> Done {
        let loaded = load_metadata(text, "$.args.metadata")?;
        let turn = self.live.turn();
        self.check_version()?;
        let place = self.place(&turn)?;
        let (document, draft) = draft_whole(&turn, &place, loaded)?;
        let state = MetadataState::of_draft(&draft);
        let is_wrong = !draft.findings.inconsistent.is_empty()
            || state.has_unmade_triggers
            || newly_down(&draft, &turn.current()).count() > 0;
        if is_wrong && !allow_inconsistent {
            let message = "cannot continue due to inconsistent metadata";
            return Err(HasuraError::new("unexpected", "$.args", message).with_internal(state.list()));
        }
        let warnings = warnings(&draft);
        if is_dry {
            return Ok(format!("{{{}{warnings}}}", state.members()));
        }
        self.install(&turn, &place, &document, draft)?;
        let state = MetadataState::of_served(&turn.current(), &self.live);
        Ok(format!("{{{}{warnings}}}", state.members()))
    }

    /// Says what of the document `text` Weir would not honour, and takes nothing over.
    pub(super) fn metadata_warnings(&self, text: &str) -> Done {
        let loaded = load_metadata(text, "$.args.metadata")?;
        let turn = self.live.turn();
        let (_, draft) = draft_whole(&turn, &self.place(&turn)?, loaded)?;
        Ok(json!({ "message": "success", "warnings": list_warnings(&draft) }).to_string())
    }

    /// Writes `document`, of which `draft` was made, and puts that into service.
    pub(super) fn install(
        &self,
        turn: &Turn<'_>,
        place: &MetadataPlace,
        document: &Metadata,
        draft: Generation,
    ) -> Result<(), HasuraError> {
        let written = export_of(document, &draft)
            .and_then(|export| store::write(&place.path, &export, &place.read_before));
        written.map_err(|message| {
            let error = HasuraError::new("unexpected", "$.args", message);
            error.with_status(StatusCode::INTERNAL_SERVER_ERROR)
        })?;
        let number = turn.publish(draft);
        self.metrics.reloads.inc();
        services::notify_configuration_change();
        turn.current().findings.log();
        tracing::info!(generation = number, "the metadata was changed");
        Ok(())
    }

    /// Restores the metadata of `before`, if it changed.
    pub(super) fn undo(&self, before: &Generation) -> Result<(), HasuraError> {
        let Some(described) = &before.config.described else { return Ok(()) };
        let document = &described.loaded.document;
        let current = self.live.current();
        if current.config.described.as_ref().is_some_and(|it| it.loaded.document == *document) {
            return Ok(());
        }
        let text = export_of(document, before).and_then(|it| it.json()).map_err(unexpected_error)?;
        let loaded = read::parts(&text, Path::new(SENT)).map_err(|faults| shape_error(&faults, "$.args"))?;
        let turn = self.live.turn();
        let place = self.place(&turn)?;
        let (document, draft) = draft_whole(&turn, &place, loaded)?;
        self.install(&turn, &place, &document, draft)
    }
}

/// The export of `document`, of which `generation` was made, with what its files hold beside it.
fn export_of(document: &Metadata, generation: &Generation) -> Result<Export, String> {
    let described = generation.config.described.as_ref();
    Export::of(document, described.map_or(&Aside::default(), |it| &it.loaded.aside))
}

/// Files of the metadata that cannot be read, with their faults.
pub(super) fn unread_files(generation: &Generation) -> Vec<&str> {
    let broken = generation.config.described.iter().flat_map(|it| &it.loaded.broken);
    broken.map(|it| it.1.as_str()).collect()
}

/// Refuses to write all files anew, here or by a tool, while some cannot be read: what they hold would be lost.
pub(super) fn refuse_unread_files(generation: &Generation) -> Result<(), HasuraError> {
    let unread = unread_files(generation);
    if unread.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the metadata would lack what these files hold, which cannot be read: {}; mend them, and reload",
        unread.join("; ")
    );
    Err(HasuraError::new("unexpected", "$.args", message))
}

/// The metadata of a generation.
pub(super) fn document(generation: &Generation) -> Metadata {
    let described = generation.config.described.as_ref();
    described.map_or_else(Metadata::default, |it| it.loaded.document.clone())
}

/// Source name for documents without `sources`.
pub(super) const DEFAULT: &str = "default";

/// Copies the connection of source `default` from `before` to a `document` without one; false if there is none.
fn connect(document: &mut Metadata, before: &Metadata) -> bool {
    let known = before.sources.iter().find(|it| it.name == DEFAULT);
    for (source, known) in document.sources.iter_mut().zip(known) {
        source.kind = known.kind.clone();
        source.configuration.clone_from(&known.configuration);
    }
    known.is_some()
}

/// Keeps cron triggers of `before` that exports leave out, unless `document` has one of that name.
fn keep_hidden_triggers(document: &mut Metadata, before: &Metadata) {
    for hidden in before.cron_triggers.iter().filter(|it| !it.include_in_metadata) {
        if document.cron_triggers.iter().all(|it| it.name != hidden.name) {
            document.cron_triggers.push(hidden.clone());
        }
    }
}

/// Name in places of a document that a client sends.
const SENT: &str = "metadata.json";

/// Parses a metadata document.
pub(super) fn load_metadata(text: &str, path: &str) -> Result<Loaded, HasuraError> {
    read::text(text, Path::new(SENT)).map_err(|faults| shape_error(&faults, path))
}

fn shape_error(faults: &[Fault], path: &str) -> HasuraError {
    let words: Vec<String> = faults.iter().map(ToString::to_string).collect();
    HasuraError::new("parse-failed", path, words.join("\n"))
}

/// The document of `loaded`, whose source may be that of before, and the generation of it.
fn draft_whole(
    turn: &Turn<'_>,
    place: &MetadataPlace,
    mut loaded: Loaded,
) -> Result<(Metadata, Generation), HasuraError> {
    let is_connected = !loaded.lacks_sources || connect(&mut loaded.document, &document(&turn.current()));
    keep_hidden_triggers(&mut loaded.document, &document(&turn.current()));
    let document = loaded.document.clone();
    let draft = draft_generation(turn, place, loaded)?;
    // The server's own configuration may know the source.
    if !is_connected && draft.config.sources.iter().all(|it| it.name != DEFAULT) {
        let message = "cannot import metadata without sources since no default source is defined";
        return Err(HasuraError::new("not-supported", "$.args", message));
    }
    Ok((document, draft))
}

/// The next generation, of `loaded`. It does not serve yet.
pub(super) fn draft_generation(
    turn: &Turn<'_>,
    place: &MetadataPlace,
    loaded: Loaded,
) -> Result<Generation, HasuraError> {
    let made = turn.draft(&place.path, loaded);
    made.map_err(|message| HasuraError::new("unexpected", "$.args", message))
}

pub(super) fn unexpected_error(message: String) -> HasuraError {
    HasuraError::new("unexpected", "$", message).with_status(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Sources that are down in `draft` but were not, or did not exist, `before`.
pub(super) fn newly_down<'g>(
    draft: &'g Generation,
    before: &'g Generation,
) -> impl Iterator<Item = &'g Down> {
    draft.findings.down.iter().filter(|it| !it.is_known && !before.findings.is_down(&it.name))
}

/// Entries that Weir does not honour.
fn list_warnings(draft: &Generation) -> Vec<Value> {
    let entries = draft.findings.unsupported.iter();
    entries.map(|it| json!({ "type": "metadata", "code": "not-supported", "message": it })).collect()
}

/// The warnings as the member `warnings`; nothing without any.
fn warnings(draft: &Generation) -> String {
    let warnings = list_warnings(draft);
    if warnings.is_empty() { String::new() } else { format!(",\"warnings\":{}", Value::Array(warnings)) }
}
