//! YAML text to nodes with places.
//!
//! Scalars are typed as in JSON: a plain scalar is a number if JSON knows it as one, and a text if it is nothing else. Aliases are
//! copied, `<<` merges.
//!
//! **Invariant:** nodes, bytes and depth are bounded over all files of a document, aliases included.

use super::Wrong;
use crate::json::is_number;
use crate::tree::{Member, Node, Place, Value};
use hashbrown::HashSet;
use serde_saphyr::granit_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use std::collections::HashMap;
use std::sync::Arc;

/// Open brackets and indentations.
const DEPTH_MAX: usize = 128;
/// Nodes of all files together; fewer than a hundred bytes each, and their texts.
const NODES_MAX: u32 = 4_000_000;
/// Longest text that is looked for among those that stand in the document already, in bytes.
const SHARED_BYTES_MAX: usize = 64;

/// The nodes that may still be made, and the texts of those that were.
pub(super) struct Budget {
    nodes: u32,
    texts: HashSet<Arc<str>>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { nodes: NODES_MAX, texts: HashSet::new() }
    }
}

impl Budget {
    /// Takes one node at `depth`.
    pub(super) fn node(&mut self, place: Place, depth: usize) -> Result<(), Wrong> {
        if depth > DEPTH_MAX {
            return Err(Wrong { place, message: format!("it is nested deeper than {DEPTH_MAX} levels") });
        }
        self.take(place, 1)
    }

    /// `text`, which the document holds once if it is short.
    pub(super) fn text(&mut self, text: &str) -> Arc<str> {
        if text.len() > SHARED_BYTES_MAX {
            return text.into();
        }
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let made: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&made));
        made
    }

    fn take(&mut self, place: Place, count: u32) -> Result<(), Wrong> {
        let left = self.nodes.checked_sub(count);
        let message = || format!("the metadata has more than {NODES_MAX} values, aliases included");
        self.nodes = left.ok_or_else(|| Wrong { place, message: message() })?;
        Ok(())
    }
}

/// Adds `key` to the keys of `members`, which `keys` holds once there are many: true if it is not there yet.
fn is_new(members: &[Member], keys: &mut HashSet<Arc<str>>, key: &Arc<str>) -> bool {
    /// Members that are searched one by one.
    const SEARCHED_MAX: usize = 16;
    if members.len() < SEARCHED_MAX {
        return members.iter().all(|it| it.key != *key);
    }
    if keys.is_empty() {
        keys.extend(members.iter().map(|it| Arc::clone(&it.key)));
    }
    keys.insert(Arc::clone(key))
}

/// Adds a member, whose key must not be there yet.
pub(super) fn add(
    members: &mut Vec<Member>,
    keys: &mut HashSet<Arc<str>>,
    member: Member,
) -> Result<(), Wrong> {
    if !is_new(members, keys, &member.key) {
        return Err(Wrong { place: member.place, message: format!("the key `{}` stands twice", member.key) });
    }
    members.push(member);
    Ok(())
}

/// A collection whose end is not read yet.
struct Open {
    place: Place,
    anchor: usize,
    kind: Kind,
}

enum Kind {
    List(Vec<Node>),
    Object { members: Vec<Member>, keys: HashSet<Arc<str>>, merged: Vec<Node>, key: Option<(KeyName, Place)> },
}

/// A key as it is written.
enum KeyName {
    Text(Arc<str>),
    /// `<<` without quotes: its value is merged.
    Merge,
}

struct Builder<'b> {
    file: u32,
    budget: &'b mut Budget,
    fill: Fill<'b>,
    open: Vec<Open>,
    root: Option<Node>,
    /// Nodes with an anchor, and how many nodes each holds.
    anchors: HashMap<usize, (Node, u32)>,
}

/// Fills the variables of a scalar: its new text, or none if it has no variables.
pub type Fill<'f> = &'f dyn Fn(&str) -> Result<Option<String>, String>;

/// Reads `text`, the file of index `file`. An empty text is null.
pub(super) fn parse(text: &str, file: u32, budget: &mut Budget) -> Result<Node, Wrong> {
    parse_with_variables(text, file, budget, &|_| Ok(None))
}

/// Parses YAML like [`parse`] and fills variables in values, which makes them texts. Variables in keys are not filled.
pub(super) fn parse_with_variables(
    text: &str,
    file: u32,
    budget: &mut Budget,
    fill: Fill<'_>,
) -> Result<Node, Wrong> {
    let mut builder = Builder { file, budget, fill, open: Vec::new(), root: None, anchors: HashMap::new() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Wrong {
            place: builder.place(*error.marker()),
            message: format!("this is no YAML: {}", error.info()),
        })?;
        let place = builder.place(span.start);
        builder.event(event, place)?;
    }
    Ok(builder.root.unwrap_or_else(|| Node::new(Place { file, line: 1, column: 1 }, Value::Null)))
}

impl Builder<'_> {
    fn place(&self, marker: Marker) -> Place {
        Place { file: self.file, line: marker.line() as u32, column: marker.col() as u32 + 1 }
    }

    fn event(&mut self, event: Event<'_>, place: Place) -> Result<(), Wrong> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.budget.node(place, self.open.len())?;
                let node = self.scalar(place, &text, style, tag.as_deref())?;
                self.put(node, anchor)?;
                // In quotes it is a key as any other. A value has taken its key.
                if style == ScalarStyle::Plain
                    && &*text == "<<"
                    && let Some(Kind::Object { key: Some((name, _)), .. }) =
                        self.open.last_mut().map(|it| &mut it.kind)
                {
                    *name = KeyName::Merge;
                }
                Ok(())
            }
            Event::SequenceStart(_, anchor, _) => self.begin(place, anchor, Kind::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                let members = Vec::new();
                let keys = HashSet::new();
                let merged = Vec::new();
                self.begin(place, anchor, Kind::Object { members, keys, merged, key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => {
                let found = self.anchors.get(&anchor).cloned();
                let (node, count) = found.ok_or_else(|| Wrong {
                    place,
                    message: "the alias stands within its own anchor".into(),
                })?;
                self.budget.take(place, count)?;
                self.put(node, 0)
            }
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(Wrong { place, message: "a second document begins here; one file holds one".into() })
            }
            _ => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        place: Place,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
    ) -> Result<Node, Wrong> {
        let is_key = matches!(self.open.last().map(|it| &it.kind), Some(Kind::Object { key: None, .. }));
        let filled =
            if is_key { None } else { (self.fill)(text).map_err(|message| Wrong { place, message })? };
        Ok(match filled {
            Some(text) => Node { is_filled: true, ..Node::new(place, Value::Text(self.budget.text(&text))) },
            None => Node::new(place, scalar(text, style, tag, self.budget)),
        })
    }

    fn begin(&mut self, place: Place, anchor: usize, kind: Kind) -> Result<(), Wrong> {
        self.budget.node(place, self.open.len())?;
        self.open.push(Open { place, anchor, kind });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Wrong> {
        let Some(Open { place, anchor, kind }) = self.open.pop() else { return Ok(()) };
        let value = match kind {
            Kind::List(mut items) => {
                items.shrink_to_fit();
                Value::List(items)
            }
            Kind::Object { mut members, mut keys, merged, .. } => {
                for node in merged {
                    merge(node, &mut members, &mut keys)?;
                }
                members.shrink_to_fit();
                Value::Object(members)
            }
        };
        self.put(Node::new(place, value), anchor)
    }

    /// Puts a finished node where it belongs.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Wrong> {
        if anchor != 0 {
            let count = size(&node);
            self.budget.take(node.place, count)?;
            self.anchors.insert(anchor, (node.clone(), count));
        }
        match self.open.last_mut().map(|it| &mut it.kind) {
            None => self.root = Some(node),
            Some(Kind::List(items)) => items.push(node),
            Some(Kind::Object { members, keys, merged, key }) => match key.take() {
                Some((KeyName::Merge, _)) => merged.push(node),
                Some((KeyName::Text(name), place)) => add(members, keys, Member { key: name, place, node })?,
                None => *key = Some((KeyName::Text(name_of(&node, self.budget)?), node.place)),
            },
        }
        Ok(())
    }
}

/// A key: a scalar, as text.
fn name_of(node: &Node, budget: &mut Budget) -> Result<Arc<str>, Wrong> {
    match &node.value {
        Value::Text(text) => Ok(Arc::clone(text)),
        Value::Number(text) => Ok(budget.text(text)),
        Value::Bool(value) => Ok(budget.text(if *value { "true" } else { "false" })),
        Value::Null => Ok(budget.text("null")),
        Value::Include(_) | Value::Broken(_) | Value::List(_) | Value::Object(_) => {
            Err(Wrong { place: node.place, message: "a key has to be a text".into() })
        }
    }
}

/// Adds the members of `node` that are not there yet.
fn merge(node: Node, members: &mut Vec<Member>, keys: &mut HashSet<Arc<str>>) -> Result<(), Wrong> {
    match node.value {
        Value::Object(others) => {
            for other in others {
                if is_new(members, keys, &other.key) {
                    members.push(other);
                }
            }
            Ok(())
        }
        Value::List(items) => items.into_iter().try_for_each(|it| merge(it, members, keys)),
        _ => Err(Wrong { place: node.place, message: "`<<` takes an object or a list of objects".into() }),
    }
}

/// Number of nodes in `node`.
fn size(node: &Node) -> u32 {
    let below: u32 = match &node.value {
        Value::List(items) => items.iter().map(size).fold(0, u32::saturating_add),
        Value::Object(members) => members.iter().map(|it| size(&it.node)).fold(0, u32::saturating_add),
        _ => 0,
    };
    below.saturating_add(1)
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, budget: &mut Budget) -> Value {
    let is_tagged = |suffix: &str| tag.is_some_and(|it| it.suffix() == suffix);
    if is_tagged("include") {
        return Value::Include(text.into());
    }
    if style != ScalarStyle::Plain || is_tagged("str") {
        return Value::Text(budget.text(text));
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        digits if is_number(digits) => Value::Number(digits.into()),
        _ => Value::Text(budget.text(text)),
    }
}
