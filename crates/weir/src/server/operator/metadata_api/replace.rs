//! The metadata as a whole: exported, replaced, and put back.

use super::commands::MetadataState;
use super::{Done, Work};
use crate::generation::Generation;
use crate::metadata::store;
use crate::server::request::hasura_error::HasuraError;
use crate::sources::Down;
use hyper::StatusCode;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::Path;
use weir_metadata::{Metadata, export, read};

impl Work {
    /// The metadata that serves, as JSON.
    pub(super) fn exported(&self) -> Result<String, HasuraError> {
        let generation = self.live.current();
        let described = generation.config.described.as_ref().map(|it| &it.loaded.document);
        let text = match described {
            Some(document) => export::json(document),
            None => export::json(&Metadata::default()),
        };
        text.map(|it| it.trim_end().to_owned()).map_err(unexpected)
    }

    /// A number that is another one when the metadata is another: a part of its digest.
    pub(super) fn resource_version(&self) -> Result<u32, HasuraError> {
        let digest = Sha256::digest(self.exported()?);
        Ok(u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) >> 1)
    }

    /// Takes the document `text` as metadata: makes a generation of it, writes it to the folder or file, and swaps the
    /// generation in; with `is_dry` the first only. Says what of it is inconsistent.
    pub(super) fn replace(&self, text: &str, allow_inconsistent: bool, is_dry: bool) -> Done {
        let loaded = read::text(text, Path::new("metadata.json")).map_err(|faults| {
            let words: Vec<String> = faults.iter().map(ToString::to_string).collect();
            HasuraError::new("parse-failed", "$.args.metadata", words.join("\n"))
        })?;
        let turn = self.live.turn();
        let config = &turn.current().config;
        let Some(path) = config.metadata.clone() else {
            let message = "there is no place for metadata: name a folder or file by `metadata` in weir.yaml or --metadata";
            return Err(HasuraError::new("not-supported", "$.args", message));
        };
        let read_before = config.described.as_ref().map(|it| it.loaded.watched.clone()).unwrap_or_default();
        let document = loaded.document.clone();
        let draft =
            turn.draft(&path, loaded).map_err(|message| HasuraError::new("unexpected", "$.args", message))?;
        let mut state = MetadataState::of(&draft);
        state.objects.extend(draft.findings.down.iter().map(down));
        if !state.objects.is_empty() && !allow_inconsistent {
            let message = "cannot continue due to inconsistent metadata";
            return Err(HasuraError::new("unexpected", "$.args", message).with_internal(state.list()));
        }
        let told = format!("{{{}{}}}", state.members(), warnings(&draft));
        if is_dry {
            return Ok(told);
        }
        store::write(&path, &document, &read_before).map_err(|message| {
            let error = HasuraError::new("unexpected", "$.args", message);
            error.with_status(StatusCode::INTERNAL_SERVER_ERROR)
        })?;
        let number = turn.publish(draft);
        self.metrics.reloads.inc();
        turn.current().findings.log();
        tracing::info!(generation = number, "the metadata was replaced");
        Ok(told)
    }

    /// Puts the metadata of `before` back, if it is another now.
    pub(super) fn undo(&self, before: &Generation) -> Result<(), HasuraError> {
        let Some(described) = &before.config.described else { return Ok(()) };
        let document = &described.loaded.document;
        let current = self.live.current();
        if current.config.described.as_ref().is_some_and(|it| it.loaded.document == *document) {
            return Ok(());
        }
        self.replace(&export::json(document).map_err(unexpected)?, true, false).map(|_| ())
    }
}

fn unexpected(message: String) -> HasuraError {
    HasuraError::new("unexpected", "$", message).with_status(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A source that cannot be reached, as an inconsistent object.
fn down(down: &Down) -> String {
    let object = json!({
        "type": "source",
        "name": format!("source {}", down.name),
        "reason": format!("Inconsistent object: {}", down.message),
        "definition": down.name,
    });
    object.to_string()
}

/// Entries that Weir does not honour, as the member `warnings`; nothing without any.
fn warnings(draft: &Generation) -> String {
    let found = draft.findings.unsupported.iter();
    let found =
        found.map(|it| json!({ "type": "metadata", "code": "not-supported", "message": it }).to_string());
    let found: Vec<String> = found.collect();
    if found.is_empty() { String::new() } else { format!(",\"warnings\":[{}]", found.join(",")) }
}
