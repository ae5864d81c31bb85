//! Locations of the entries of `weir.yaml`, for errors found only after the database was opened.
//!
//! Holds keys, lines and columns but no values, so that it holds no secrets.

use std::path::PathBuf;
use std::sync::Arc;
use weir_metadata::{Node as Tree, Value};
use weir_relational::catalog::ConfigStep;

/// A place in a file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The line.
    pub line: u64,
    /// The column, in characters.
    pub column: u64,
}

/// Locations of one file; empty if there is no file.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub(crate) file: PathBuf,
    pub(crate) root: Node,
}

/// Entries below an entry, with their locations. Keys are those of the tree, where each stands once.
#[derive(Clone, Debug, Default)]
pub(crate) enum Node {
    #[default]
    Leaf,
    List(Box<[(LinePlace, Node)]>),
    Object(Box<[(Arc<str>, LinePlace, Node)]>),
}

/// Line and column, as the tree has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinePlace(u32, u32);

impl From<weir_metadata::Place> for LinePlace {
    fn from(it: weir_metadata::Place) -> Self {
        Self(it.line, it.column)
    }
}

impl From<&Tree> for Node {
    fn from(tree: &Tree) -> Self {
        match &tree.value {
            Value::List(items) => Self::List(items.iter().map(|it| (it.place.into(), it.into())).collect()),
            Value::Object(members) => {
                let members = members.iter();
                let located = members.map(|it| (Arc::clone(&it.key), it.place.into(), (&it.node).into()));
                Self::Object(located.collect())
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Include(_)
            | Value::Broken(_) => Self::Leaf,
        }
    }
}

impl Node {
    /// The entry called or numbered `step`, and its location.
    fn entry_below(&self, step: &ConfigStep) -> Option<(LinePlace, &Self)> {
        match (self, step) {
            (Self::List(items), ConfigStep::Item(at)) => items.get(*at).map(|it| (it.0, &it.1)),
            (Self::Object(members), ConfigStep::Key(key)) => {
                members.iter().find(|it| &*it.0 == key.as_str()).map(|it| (it.1, &it.2))
            }
            (Self::Leaf | Self::List(_) | Self::Object(_), _) => None,
        }
    }
}

impl Places {
    /// Forgets all locations; the file is still known.
    pub(crate) fn forget(&mut self) {
        self.root = Node::Leaf;
    }

    /// Formats `weir.yaml:12:9: sources[0].tables[2].table`, with the parts that are known.
    pub fn words(&self, path: &[ConfigStep]) -> String {
        let mut out = String::new();
        if !self.file.as_os_str().is_empty() {
            out.push_str(&self.file.display().to_string());
            if let Some(FilePlace { line, column }) = self.find(path) {
                out.push_str(&format!(":{line}:{column}"));
            }
            out.push_str(": ");
        }
        out.push_str(&path_text(path));
        out
    }

    /// Line and column of the entry at `path`, or of its nearest ancestor.
    pub(crate) fn find(&self, path: &[ConfigStep]) -> Option<FilePlace> {
        let mut node = &self.root;
        let mut found = None;
        for step in path {
            let Some((LinePlace(line, column), below)) = node.entry_below(step) else { break };
            node = below;
            found = Some(FilePlace { line: line.into(), column: column.into() });
        }
        found
    }
}

/// Formats a path as `sources[0].tables[2].table`.
pub(crate) fn path_text(path: &[ConfigStep]) -> String {
    let mut out = String::new();
    for (place, step) in path.iter().enumerate() {
        match step {
            ConfigStep::Key(key) if place > 0 => out.push_str(&format!(".{key}")),
            ConfigStep::Key(key) => out.push_str(key),
            ConfigStep::Item(item) => out.push_str(&format!("[{item}]")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = "sources:\n  - name: a\n    tables:\n      - table: T\n        configuration:\n          column_config: {Titel: {comment: c}}\n";

    fn check(path: &[ConfigStep], expected: &str) {
        let tree = weir_metadata::read::tree(YAML, "weir.yaml".as_ref()).expect("it is YAML");
        let places = Places { file: "weir.yaml".into(), root: (&tree).into() };
        assert_eq!(places.words(path), expected);
    }

    #[test]
    fn an_entry_has_a_line_and_a_column() {
        let table = ["sources".into(), 0.into(), "tables".into(), 0.into()];
        check(&table, "weir.yaml:4:9: sources[0].tables[0]");
        let column = ["configuration", "column_config", "Titel"].map(ConfigStep::from);
        let all: Vec<ConfigStep> = table.iter().cloned().chain(column).collect();
        check(&all, "weir.yaml:6:27: sources[0].tables[0].configuration.column_config.Titel");
    }

    #[test]
    fn what_is_not_there_has_the_place_of_what_is_above() {
        check(&["sources".into(), 7.into()], "weir.yaml:1:1: sources[7]");
        assert_eq!(Places::default().words(&["a".into(), "b".into()]), "a.b");
    }
}
