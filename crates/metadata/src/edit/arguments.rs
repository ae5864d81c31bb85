//! Members of a command's arguments.

use super::Refused;
use super::foreign_keys::KeyBefore;
use crate::document::table::TableName;
use crate::places::render_path;
use crate::read::deserialize::Reader;
use crate::tree::{Member, Node, Place, Value};
use serde::de::DeserializeOwned;

/// Arguments whose members are taken one by one; the rest is an entry.
pub(super) struct Arguments<'k> {
    place: Place,
    /// The arguments themselves, if they are no object: the short form of a name.
    short: Option<Node>,
    members: Vec<Member>,
    /// Kind of a source that the command would add.
    pub(super) kind: &'static str,
    /// Foreign keys of the source, as far as the caller knows them.
    pub(super) keys: &'k [KeyBefore],
}

impl<'k> Arguments<'k> {
    pub(super) fn new(node: Node, kind: &'static str, keys: &'k [KeyBefore]) -> Self {
        let place = node.place;
        match node.value {
            Value::Object(members) => Self { place, short: None, members, kind, keys },
            value => Self { place, short: Some(Node::new(place, value)), members: Vec::new(), kind, keys },
        }
    }

    /// Takes the member `key`; null is none.
    pub(super) fn take(&mut self, key: &str) -> Option<Node> {
        let at = self.members.iter().position(|it| *it.key == *key)?;
        Some(self.members.remove(at).node).filter(|it| !matches!(it.value, Value::Null))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.members.iter().any(|it| *it.key == *key && !matches!(it.node.value, Value::Null))
    }

    /// Takes the member `key` as a `T`.
    pub(super) fn read<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, Refused> {
        self.take(key).map(|node| read(&node, &format!("args.{key}"))).transpose()
    }

    /// Reads a required key, see [`Self::read`].
    pub(super) fn need<T: DeserializeOwned>(&mut self, key: &str) -> Result<T, Refused> {
        let missing = || Refused::new("parse-failed", format!("key \"{key}\" not found"));
        self.read(key)?.ok_or_else(missing)
    }

    /// Takes the member `key` as a boolean that is false if it is not given.
    pub(super) fn flag(&mut self, key: &str) -> Result<bool, Refused> {
        Ok(self.read(key)?.unwrap_or_default())
    }

    /// Takes the name of the source.
    pub(super) fn source(&mut self) -> Result<String, Refused> {
        Ok(self.read("source")?.unwrap_or_else(|| "default".to_owned()))
    }

    /// Takes the table or function under `key`, or the whole where that is a name alone.
    pub(super) fn take_table_name(&mut self, key: &str) -> Result<TableName, Refused> {
        if let Some(short) = self.short.take() {
            return read(&short, "args");
        }
        if self.has("name") && !self.has(key) { self.rest() } else { self.need(key) }
    }

    /// Takes all that is left as a `T`.
    pub(super) fn rest<T: DeserializeOwned>(&mut self) -> Result<T, Refused> {
        let node = Node::new(self.place, Value::Object(std::mem::take(&mut self.members)));
        read(&self.short.take().unwrap_or(node), "args")
    }

    /// Takes the members `keys` as a `T`.
    pub(super) fn only<T: DeserializeOwned>(&mut self, keys: &[&str]) -> Result<T, Refused> {
        self.members.retain(|it| keys.contains(&&*it.key));
        self.rest()
    }

    /// Takes the items of the list `key`, each as arguments of its own.
    pub(super) fn list(&mut self, key: &str) -> Result<Vec<Self>, Refused> {
        match self.take(key).map(|it| it.value) {
            Some(Value::List(items)) => {
                Ok(items.into_iter().map(|it| Self::new(it, self.kind, self.keys)).collect())
            }
            _ => Err(Refused::new("parse-failed", format!("key \"{key}\" is no list"))),
        }
    }
}

fn read<T: DeserializeOwned>(node: &Node, path: &str) -> Result<T, Refused> {
    T::deserialize(Reader::new(node)).map_err(|error| {
        let below = render_path(&error.path());
        let dot = if below.is_empty() || below.starts_with('[') { "" } else { "." };
        Refused { code: "parse-failed", path: format!("{path}{dot}{below}"), message: error.message }
    })
}
