//! Reads a document: one file (JSON or YAML), or a folder as the CLI writes it.
//!
//! `folder` puts the files of a folder together and follows `!include`; `yaml` and `json_text` make nodes of text;
//! `deserialize` makes typed entries of nodes; `settings` reads
//! files like `weir.yaml` in the same way.
//!
//! **Invariant:** reading ends: sizes, depth, files and aliases are bounded, and no file includes itself.

pub(crate) mod deserialize;
mod folder;
mod json_text;
mod settings;
mod yaml;

use crate::check;
use crate::document::Metadata;
use crate::places::{Fault, Places, Step, render_location};
use crate::tree::{Member, Node, Place, Value};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use settings::{SettingFault, settings};
pub use yaml::Fill;

/// Something wrong at a place of the text.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) place: Place,
    pub(crate) message: String,
}

/// A document that was read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The entries.
    pub document: Metadata,
    /// Places of the document's entries.
    pub places: Places,
    /// The files that were read, and those whose appearance would change the document.
    pub watched: Vec<PathBuf>,
    /// Files of the folder that have no meaning here.
    pub unknown: Vec<Fault>,
    /// The text has no `sources`, as in versions 1 and 2: its tables are those of source `default`, whose connection it does not say.
    pub lacks_sources: bool,
}

/// Reads the file or folder at `path`.
/// # Errors
/// All that is wrong with the document's shape; or the first text that is no YAML or JSON.
pub fn path(path: &Path) -> Result<Loaded, Vec<Fault>> {
    let mut files = folder::Files::default();
    let read = if path.is_dir() { folder::read(path, &mut files) } else { folder::file(path, &mut files) };
    finish(read, files)
}

/// Reads `text` as a file called `name`.
/// # Errors
/// See [`path`].
pub fn text(text: &str, name: &Path) -> Result<Loaded, Vec<Fault>> {
    let mut files = folder::Files::default();
    let read = files.parse(name, text);
    finish(read, files)
}

/// The tree of a text of JSON or YAML, without files that it includes.
/// # Errors
/// The text is neither.
pub fn tree(text: &str, name: &Path) -> Result<Node, Fault> {
    let mut files = folder::Files::default();
    files.parse(name, text).map_err(|wrong| fault(&files, wrong))
}

fn fault(files: &folder::Files, wrong: Wrong) -> Fault {
    Fault { place: render_location(&files.paths, wrong.place, &[]), message: wrong.message }
}

fn finish(read: Result<Node, Wrong>, files: folder::Files) -> Result<Loaded, Vec<Fault>> {
    let (root, lacks_sources) = match read.and_then(current) {
        Ok(read) => read,
        Err(wrong) => return Err(vec![fault(&files, wrong)]),
    };
    let document = Metadata::deserialize(deserialize::Reader::new(&root));
    let places = Places { files: files.paths.clone().into(), root: Arc::new(root) };
    let document = document.map_err(|error| {
        let path = error.path();
        let place = error.place;
        let words = places.describe_place(&path);
        let words = match place {
            // The place of the key or value itself; the path has that of the entry.
            Some(place) => prefix_location(&files.paths, place, &words, &path),
            None => words,
        };
        vec![Fault { place: words, message: error.message }]
    })?;
    let faults: Vec<Fault> =
        check::faults(&document).into_iter().map(|(path, message)| places.fault(&path, message)).collect();
    if faults.is_empty() {
        let watched = files.watched;
        let unknown = files.unknown;
        Ok(Loaded { document, places, watched, unknown, lacks_sources })
    } else {
        Err(faults)
    }
}

/// `message` with the line and column of `place` in front of its path.
fn prefix_location(files: &[PathBuf], place: Place, message: &str, path: &[Step]) -> String {
    let front = render_location(files, place, &[]);
    let rest = message.split_once(": ").map_or(if front.is_empty() { message } else { "" }, |it| it.1);
    match (front.is_empty(), rest.is_empty() || path.is_empty()) {
        (true, _) => rest.to_owned(),
        (false, true) => front,
        (false, false) => format!("{front}: {rest}"),
    }
}

/// The document as one of version 3: without the envelope of `export_metadata`, and with a source `default` around the tables of older
/// versions; true beside it for those.
fn current(root: Node) -> Result<(Node, bool), Wrong> {
    let Value::Object(mut members) = root.value else {
        let message = format!("metadata is an object, and this is {}", root.kind());
        return Err(Wrong { place: root.place, message });
    };
    let has = |members: &[Member], key: &str| members.iter().any(|it| &*it.key == key);
    if has(&members, "resource_version") && has(&members, "metadata") {
        let inner = members.into_iter().find(|it| &*it.key == "metadata");
        return current(inner.map(|it| it.node).unwrap_or_default());
    }
    let version = members.iter().position(|it| &*it.key == "version").map(|at| members.remove(at));
    let number = match version.as_ref().map(|it| (&it.node.value, it.node.place)) {
        None | Some((Value::Null, _)) if has(&members, "sources") => {
            let message = "`version` is missing: it is 3 for metadata with `sources`";
            return Err(Wrong { place: root.place, message: message.into() });
        }
        None | Some((Value::Null, _)) => 1,
        Some((Value::Number(digits), _)) if ["1", "2", "3"].contains(&&**digits) => {
            digits.parse().unwrap_or(3)
        }
        Some((_, place)) => {
            return Err(Wrong {
                place,
                message: "unexpected metadata version from storage: it has to be 3, 2 or 1".into(),
            });
        }
    };
    let place = root.place;
    let lacks_sources = number < 3;
    if lacks_sources {
        let (mut own, rest): (Vec<Member>, Vec<Member>) =
            members.into_iter().partition(|it| ["tables", "functions"].contains(&&*it.key));
        if number == 1 {
            own.iter_mut().filter(|it| &*it.key == "functions").for_each(with_function_keys);
        }
        if !has(&own, "tables") {
            own.push(Member { key: "tables".into(), place, node: Node::new(place, Value::List(Vec::new())) });
        }
        let name = Node::new(place, Value::Text("default".into()));
        own.insert(0, Member { key: "name".into(), place, node: name });
        let source = Node::new(place, Value::Object(own));
        members = rest;
        members.insert(
            0,
            Member { key: "sources".into(), place, node: Node::new(place, Value::List(vec![source])) },
        );
    }
    let number = Node::new(version.map_or(place, |it| it.node.place), Value::Number("3".into()));
    members.insert(0, Member { key: "version".into(), place, node: number });
    Ok((Node::new(place, Value::Object(members)), lacks_sources))
}

/// Functions of version 1, which are listed by their names, as entries.
fn with_function_keys(functions: &mut Member) {
    let Value::List(items) = &mut functions.node.value else { return };
    for item in items {
        let is_entry = match &item.value {
            Value::Object(members) => members.iter().any(|it| &*it.key == "function"),
            _ => false,
        };
        if !is_entry {
            let place = item.place;
            let member = Member { key: "function".into(), place, node: std::mem::take(item) };
            *item = Node::new(place, Value::Object(vec![member]));
        }
    }
}
