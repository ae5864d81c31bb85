//! Locations of the entries of `weir.yaml`, for errors found only after the database was opened.
//!
//! Holds keys, lines and columns but no values, so that it holds no secrets.

use std::path::PathBuf;
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

/// Location of an entry, with those below it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    members: Vec<(ConfigStep, FilePlace, Node)>,
}

impl From<&Tree> for Node {
    fn from(tree: &Tree) -> Self {
        let place = |it: weir_metadata::Place| FilePlace { line: it.line.into(), column: it.column.into() };
        let members = match &tree.value {
            Value::List(items) => {
                items.iter().enumerate().map(|(at, it)| (at.into(), place(it.place), it.into())).collect()
            }
            Value::Object(members) => members
                .iter()
                .map(|it| (ConfigStep::Key(it.key.to_string()), place(it.place), (&it.node).into()))
                .collect(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Include(_)
            | Value::Broken(_) => Vec::new(),
        };
        Self { members }
    }
}

impl Places {
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
            let Some((_, place, below)) = node.members.iter().find(|it| it.0 == *step) else { break };
            (node, found) = (below, Some(*place));
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
