//! Places of entries: file, line, column and path.
//!
//! **Invariant:** what is shown holds keys and places but no values, so that it holds no secrets.

use crate::tree::{Node, Place, Value};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One step on the way to an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A key of an object.
    Key(Box<str>),
    /// An item of a list, counted from 0.
    Item(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.into())
    }
}

impl From<usize> for Step {
    fn from(item: usize) -> Self {
        Self::Item(item)
    }
}

/// Joins two paths: `below` is relative to `above`.
pub fn join_paths(above: &[Step], below: &[Step]) -> Vec<Step> {
    above.iter().chain(below).cloned().collect()
}

/// Something wrong at one place, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// File, line, column and path within the file.
    pub place: String,
    /// Path of the entry from the document; empty where there is none.
    pub path: Vec<Step>,
    /// The cause and, where there is one, the way out.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.place, self.message)
        }
    }
}

/// Places of all entries of a document.
#[derive(Clone, Default)]
pub struct Places {
    pub(crate) files: Arc<[PathBuf]>,
    pub(crate) root: Arc<Node>,
}

impl fmt::Debug for Places {
    /// Without values, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Places {
    /// Forgets the document, once all that is wrong with it has been said.
    pub fn forget(&mut self) {
        self.root = Arc::default();
    }

    /// `tables/public_boat.yaml:12:3: select_permissions[0].permission.filter`, with as much of it as is known. The path
    /// begins at the file that holds the entry.
    pub fn describe_place(&self, path: &[Step]) -> String {
        let mut node = &*self.root;
        let mut shown = self.root.place;
        let mut begin = 0;
        for (at, step) in path.iter().enumerate() {
            let (place, below) = match (step, &node.value) {
                (Step::Key(key), Value::Object(members)) => {
                    match members.iter().find(|it| *it.key == **key) {
                        Some(member) => (member.place, &member.node),
                        None => break,
                    }
                }
                (Step::Item(item), Value::List(items)) => match items.get(*item) {
                    Some(item) => (item.place, item),
                    None => break,
                },
                _ => break,
            };
            if below.place.file == shown.file {
                shown = place;
            } else {
                (shown, begin) = (below.place, at + 1);
            }
            node = below;
        }
        render_location(&self.files, shown, &path[begin..])
    }

    /// `message` at `path`.
    pub fn fault(&self, path: &[Step], message: impl Into<String>) -> Fault {
        Fault { place: self.describe_place(path), path: path.to_vec(), message: message.into() }
    }
}

/// `file:12:3: path`.
pub(crate) fn render_location(files: &[PathBuf], place: Place, path: &[Step]) -> String {
    let mut out = String::new();
    if let Some(file) = files.get(place.file as usize).map(PathBuf::as_path).filter(|it| *it != Path::new(""))
    {
        out.push_str(&file.display().to_string());
        if place.line > 0 {
            out.push_str(&format!(":{}:{}", place.line, place.column));
        }
    }
    if !path.is_empty() {
        out.push_str(if out.is_empty() { "" } else { ": " });
        out.push_str(&render_path(path));
    }
    out
}

/// `sources[0].tables[2].table`.
pub fn render_path(path: &[Step]) -> String {
    let mut out = String::new();
    for (place, step) in path.iter().enumerate() {
        match step {
            Step::Key(key) if place > 0 => out.push_str(&format!(".{key}")),
            Step::Key(key) => out.push_str(key),
            Step::Item(item) => out.push_str(&format!("[{item}]")),
        }
    }
    out
}
