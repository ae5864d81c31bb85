//! Reads a document: one file (JSON or YAML), or a folder as the CLI writes it.
//!
//! `prune` leaves out parts that do not fit, for files; a document that a program sends has to fit as a whole.
//! `folder` puts the files of a folder together and follows `!include`, `actions_sdl` adds the types of `actions.graphql`; `yaml` and `json_text` make nodes of text;
//! `deserialize` makes typed entries of nodes; `settings` reads
//! files like `weir.yaml` in the same way.
//!
//! **Invariant:** reading ends: sizes, depth, files and aliases are bounded, and no file includes itself.

mod actions_sdl;
pub(crate) mod deserialize;
mod folder;
mod json_text;
mod prune;
mod settings;
mod yaml;

use crate::aside::Aside;
use crate::check;
use crate::document::Metadata;
use crate::document::source::{SourceKind, UNSERVED};
use crate::inconsistent::Inconsistent;
use crate::json::Json;
use crate::places::{Fault, Places, Step, render_location};
use crate::tree::{Member, Node, Place, Value};
use serde::Deserialize;
use serde::de::DeserializeOwned;
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
    /// Files and keys that have no meaning here; the rest of their entries is served.
    pub unknown: Vec<Fault>,
    /// Entries that do not fit and are not in the document.
    pub left_out: Vec<Inconsistent>,
    /// Parts of the files that are not in the document, for exports.
    pub aside: Aside,
    /// Files that cannot be read, with the reasons: the entries around them are left out.
    pub broken: Vec<(PathBuf, String)>,
    /// True if the files have keys or entries that the document lacks: writing it would remove them.
    pub is_partial: bool,
    /// The text has no `sources`, as in versions 1 and 2: its tables are those of source `default`, whose connection it does not say.
    pub lacks_sources: bool,
}

/// Reads the file or folder at `path`. Entries that do not fit are left out, so that one mistake does not stop the rest.
/// # Errors
/// Faults outside of all entries that can be left out; or the first text that is not YAML or JSON.
pub fn path(path: &Path) -> Result<Loaded, Vec<Fault>> {
    let mut files = folder::Files::default();
    let read = if path.is_dir() { folder::read(path, &mut files) } else { folder::file(path, &mut files) };
    finish_parts(read, files)
}

/// Reads `text` as a file called `name`. It has to fit as a whole.
/// # Errors
/// All that is wrong with the document's shape; or a text that is no YAML or JSON.
pub fn text(text: &str, name: &Path) -> Result<Loaded, Vec<Fault>> {
    let mut files = folder::Files::default();
    let read = files.parse(name, text);
    finish(read, files)
}

/// Reads `text` like [`text`], but leaves out entries that do not fit, like [`path`].
/// # Errors
/// See [`path`].
pub fn parts(text: &str, name: &Path) -> Result<Loaded, Vec<Fault>> {
    let mut files = folder::Files::default();
    let read = files.parse(name, text);
    finish_parts(read, files)
}

/// The tree of a text of JSON or YAML, without files that it includes.
/// # Errors
/// The text is neither.
pub fn tree(text: &str, name: &Path) -> Result<Node, Fault> {
    let mut files = folder::Files::default();
    files.parse(name, text).map_err(|wrong| fault(&files, wrong))
}

/// The entry that a text of JSON or YAML is, as of a command's arguments.
/// # Errors
/// A message; the text is neither, or does not fit.
pub fn entry<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let node = tree(text, Path::new("")).map_err(|fault| fault.message)?;
    T::deserialize(deserialize::Reader::new(&node)).map_err(|error| error.message)
}

/// The value of a text of JSON or YAML, with its digits.
/// # Errors
/// A message; the text is neither.
pub fn value(text: &str) -> Result<Json, String> {
    entry(text)
}

fn fault(files: &folder::Files, wrong: Wrong) -> Fault {
    Fault { place: render_location(&files.paths, wrong.place, &[]), path: Vec::new(), message: wrong.message }
}

fn finish(read: Result<Node, Wrong>, files: folder::Files) -> Result<Loaded, Vec<Fault>> {
    let (root, lacks_sources) = current_tree(read, &files)?;
    let document = Metadata::deserialize_node(&root);
    let places = Places { files: files.paths.clone().into(), root: Arc::new(root) };
    let document = document.map_err(|error| vec![locate_fault(&places, &error)])?;
    let faults: Vec<Fault> =
        check::faults(&document).into_iter().map(|(path, message)| places.fault(&path, message)).collect();
    if faults.is_empty() {
        let watched = files.watched;
        let unknown = files.unknown;
        Ok(Loaded {
            document,
            places,
            watched,
            unknown,
            left_out: Vec::new(),
            aside: Aside::default(),
            broken: Vec::new(),
            is_partial: false,
            lacks_sources,
        })
    } else {
        Err(faults)
    }
}

/// Like [`finish`], without what does not fit.
fn finish_parts(read: Result<Node, Wrong>, files: folder::Files) -> Result<Loaded, Vec<Fault>> {
    let (root, lacks_sources) = current_tree(read, &files)?;
    let places = Places { files: files.paths.clone().into(), root: Arc::new(root) };
    let prune::Pruned { document, places, unknown: unknown_keys, left_out, aside } =
        prune::deserialize_parts(places, &files.misfits)?;
    let is_partial = !unknown_keys.is_empty() || !left_out.is_empty();
    let watched = files.watched;
    let broken = files.broken;
    let mut unknown = files.unknown;
    unknown.extend(unknown_keys);
    Ok(Loaded { document, places, watched, unknown, left_out, aside, broken, is_partial, lacks_sources })
}

fn current_tree(read: Result<Node, Wrong>, files: &folder::Files) -> Result<(Node, bool), Vec<Fault>> {
    read.and_then(current).map_err(|wrong| vec![fault(files, wrong)])
}

impl Metadata {
    /// The document that `root` is.
    fn deserialize_node(root: &Node) -> Result<Self, deserialize::Error> {
        Self::deserialize(deserialize::Reader::new(root))
    }
}

/// `error` with its place.
fn locate_fault(places: &Places, error: &deserialize::Error) -> Fault {
    let path = error.path();
    let words = places.describe_place(&path);
    let place = match error.place {
        // The place of the key or value itself; the path has that of the entry.
        Some(place) => prefix_location(&places.files, place, &words, &path),
        None => words,
    };
    Fault { place, path, message: error.message.clone() }
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
    set_unserved_aside(&mut members);
    let number = Node::new(version.map_or(place, |it| it.node.place), Value::Number("3".into()));
    members.insert(0, Member { key: "version".into(), place, node: number });
    Ok((Node::new(place, Value::Object(members)), lacks_sources))
}

/// Puts the members of each source whose kind is not served, but for its name and kind, below one key.
pub(crate) fn set_unserved_aside(members: &mut [Member]) {
    let sources = members.iter_mut().find(|it| &*it.key == "sources").map(|it| &mut it.node.value);
    let Some(Value::List(sources)) = sources else { return };
    for source in sources {
        let is_unserved = match source.get("kind").map(|it| &it.value) {
            Some(Value::Text(kind)) => matches!(SourceKind::from(kind.to_string()), SourceKind::Other(_)),
            _ => false,
        };
        let Value::Object(members) = &mut source.value else { continue };
        if is_unserved {
            let place = source.place;
            let is_own = |it: &Member| ["name", "kind", UNSERVED].contains(&&*it.key);
            let (own, rest): (Vec<Member>, Vec<Member>) =
                std::mem::take(members).into_iter().partition(is_own);
            *members = own;
            members.push(Member {
                key: "tables".into(),
                place,
                node: Node::new(place, Value::List(Vec::new())),
            });
            members.push(Member { key: UNSERVED.into(), place, node: Node::new(place, Value::Object(rest)) });
        }
    }
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
