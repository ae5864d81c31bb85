//! Lines and columns of the entries of `weir.yaml`, for errors that are found only when the database is open.
//!
//! Holds keys, lines and columns but no values, so that it holds no secrets.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use std::fmt;
use std::path::PathBuf;
use weir_relational::catalog::ConfigStep;

/// The places of one file; none where there is no file.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub(super) file: PathBuf,
    pub(super) root: Node,
}

/// An entry and those below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    members: Vec<(ConfigStep, (u64, u64), Node)>,
}

impl Places {
    /// `weir.yaml:12:9: sources[0].tables[2].table`, with as much of it as is known.
    #[must_use]
    pub fn words(&self, path: &[ConfigStep]) -> String {
        let mut out = String::new();
        if !self.file.as_os_str().is_empty() {
            out.push_str(&self.file.display().to_string());
            if let Some((line, column)) = self.find(path) {
                out.push_str(&format!(":{line}:{column}"));
            }
            out.push_str(": ");
        }
        out.push_str(&dotted(path));
        out
    }

    /// The path of the entry that holds the text at `place`, a line and a column: `limits`, `depth_max`.
    #[must_use]
    pub(super) fn at(&self, place: (u64, u64)) -> String {
        let (mut node, mut path) = (&self.root, Vec::new());
        while let Some((step, _, below)) = node.members.iter().rev().find(|it| it.1 <= place) {
            path.push(step.clone());
            node = below;
        }
        dotted(&path)
    }

    /// The line and column of the entry at `path`, or of the nearest one above it.
    pub(super) fn find(&self, path: &[ConfigStep]) -> Option<(u64, u64)> {
        let (mut node, mut found) = (&self.root, None);
        for step in path {
            let Some((_, place, below)) = node.members.iter().find(|it| it.0 == *step) else { break };
            (node, found) = (below, Some(*place));
        }
        found
    }
}

/// `sources[0].tables[2].table`
pub(super) fn dotted(path: &[ConfigStep]) -> String {
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

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Entries)
    }
}

/// Keeps the keys and drops the values.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut node = Node::default();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let place = (key.referenced.line(), key.referenced.column());
            node.members.push((ConfigStep::Key(key.value), place, map.next_value()?));
        }
        Ok(node)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut node = Node::default();
        while let Some(item) = list.next_element::<Spanned<Node>>()? {
            let place = (item.referenced.line(), item.referenced.column());
            node.members.push((ConfigStep::Item(node.members.len()), place, item.value));
        }
        Ok(node)
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        Node::deserialize(inner)
    }
    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        Node::deserialize(inner)
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Node, E> {
        Ok(Node::default())
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Node, E> {
        Ok(Node::default())
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Node, E> {
        Ok(Node::default())
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Node, E> {
        Ok(Node::default())
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<Node, E> {
        Ok(Node::default())
    }
    fn visit_unit<E: de::Error>(self) -> Result<Node, E> {
        Ok(Node::default())
    }
    fn visit_none<E: de::Error>(self) -> Result<Node, E> {
        Ok(Node::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = "sources:\n  - name: a\n    tables:\n      - table: T\n        configuration:\n          column_config: {Titel: {comment: c}}\n";

    fn check(path: &[ConfigStep], expected: &str) {
        let root = serde_saphyr::from_str(YAML).expect("it is YAML");
        let places = Places { file: "weir.yaml".into(), root };
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
