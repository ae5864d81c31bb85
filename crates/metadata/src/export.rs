//! Writes a document as Hasura does: without defaults, `version` and `sources` first; as one file or as the command line's folder.
//!
//! `order` puts lists and members in Hasura's order, `folder` has the files of the command line, `actions_files` those of actions,
//! `yaml_text` writes YAML as the command line's library does.
//!
//! **Invariant:** reading what was written gives the same document in Hasura's order, and what the files hold beside it ([`Aside`])
//! stands in it as it was.

mod actions_files;
mod folder;
mod order;
mod yaml_text;

use crate::aside::Aside;
use crate::document::Metadata;
use crate::inconsistent::to_json;
use crate::read;
use crate::tree::{Node, Value};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A document as it is exported.
pub struct Export {
    root: Node,
    /// True if `actions.graphql` could lack nothing of the actions and types.
    are_actions_whole: bool,
}

impl Export {
    /// The document `document` with the parts of its files that it lacks.
    /// # Errors
    /// A number is none of JSON, or a part has no place.
    pub fn of(document: &Metadata, aside: &Aside) -> Result<Self, String> {
        let mut document = document.clone();
        order::order_conditions(&mut document);
        let mut root = to_node(&document)?;
        aside.put_back(&mut root)?;
        order::sort_lists(&mut root);
        let are_actions_whole = !["actions", "custom_types"].iter().any(|it| aside.is_of_section(it));
        Ok(Self { root, are_actions_whole })
    }

    /// Leaves out cron triggers that say so.
    pub fn hide_triggers(&mut self) {
        let Value::Object(members) = &mut self.root.value else { return };
        let is_hidden =
            |it: &Node| matches!(it.get("include_in_metadata").map(|it| &it.value), Some(Value::Bool(false)));
        for list in members.iter_mut().filter(|it| &*it.key == "cron_triggers") {
            if let Value::List(triggers) = &mut list.node.value {
                triggers.retain(|it| !is_hidden(it));
            }
        }
        members.retain(|it| {
            !(&*it.key == "cron_triggers" && matches!(&it.node.value, Value::List(it) if it.is_empty()))
        });
    }

    /// The document as JSON text, indented, with a line feed at its end.
    /// # Errors
    /// A number is none of JSON.
    pub fn json(&self) -> Result<String, String> {
        let text = serde_json::to_string_pretty(&to_json(&self.root));
        text.map(|it| it + "\n").map_err(|error| error.to_string())
    }

    /// The document as YAML text.
    pub fn yaml(&self) -> String {
        yaml_text::write(&self.root)
    }

    /// Files of the folder: paths below it and texts.
    pub fn folder(&self) -> Vec<(PathBuf, String)> {
        folder::files(self)
    }
}

/// The document as JSON text, indented, with a line feed at its end.
/// # Errors
/// A number is none of JSON.
pub fn json(document: &Metadata) -> Result<String, String> {
    Export::of(document, &Aside::default())?.json()
}

/// The tree of `entry`, with the digits of its numbers.
fn to_node(entry: &impl Serialize) -> Result<Node, String> {
    let text = serde_json::to_string(entry).map_err(|error| error.to_string())?;
    read::tree(&text, Path::new("export.json")).map_err(|fault| fault.to_string())
}
