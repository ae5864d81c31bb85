//! Parts of the files that the document lacks, kept so that an export has them as they were.
//!
//! **Invariant:** a part that is put back stands where it was cut out, in front of what stood behind it.

use crate::places::{Step, render_path};
use crate::tree::{Member, Node, Place, Value};
use std::fmt;

/// Parts that were cut out of a document, from the first to the last.
#[derive(Clone, Default)]
pub struct Aside {
    cuts: Vec<Cut>,
}

/// A part of an object or list.
#[derive(Clone)]
struct Cut {
    /// Path of the object or list, from the document as it was at the time.
    holder: Vec<Step>,
    part: Part,
}

#[derive(Clone)]
enum Part {
    Item(usize, Node),
    Member(Member),
}

impl fmt::Debug for Aside {
    /// Without values, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aside({})", self.cuts.len())
    }
}

impl Aside {
    /// True without parts.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    /// True if a part was cut out of the member `section` of the document.
    pub(crate) fn is_of_section(&self, section: &str) -> bool {
        self.cuts.iter().any(|it| match (it.holder.first(), &it.part) {
            (Some(Step::Key(key)), _) => **key == *section,
            (None, Part::Member(member)) => *member.key == *section,
            _ => false,
        })
    }

    /// Keeps the item that stood at `at` of the list `list`.
    pub(crate) fn keep_item(&mut self, list: &[Step], at: usize, item: Node) {
        if let Some(item) = without_broken(item) {
            self.cuts.push(Cut { holder: list.to_vec(), part: Part::Item(at, item) });
        }
    }

    /// Keeps a member of the object at `object`.
    pub(crate) fn keep_member(&mut self, object: &[Step], member: Member) {
        if let Some(node) = without_broken(member.node) {
            let part = Part::Member(Member { node, ..member });
            self.cuts.push(Cut { holder: object.to_vec(), part });
        }
    }

    /// Puts the parts back into `root`, the document that they were cut out of.
    /// # Errors
    /// A place that the document does not have.
    pub(crate) fn put_back(&self, root: &mut Node) -> Result<(), String> {
        // The last cut first, so that paths and places are those of its time.
        for Cut { holder, part } in self.cuts.iter().rev() {
            let empty = match part {
                Part::Item(..) => Value::List(Vec::new()),
                Part::Member(_) => Value::Object(Vec::new()),
            };
            let found = reach_node(root, holder, empty).map(|it| &mut it.value);
            match (found, part) {
                (Some(Value::List(items)), Part::Item(at, item)) => {
                    items.insert((*at).min(items.len()), item.clone());
                }
                (Some(Value::Object(members)), Part::Member(member)) => members.push(member.clone()),
                _ => return Err(format!("{} cannot be written back", render_path(holder))),
            }
        }
        Ok(())
    }
}

/// `node` without the files that cannot be read, which are told apart; `None` if it is one itself.
fn without_broken(mut node: Node) -> Option<Node> {
    match &mut node.value {
        Value::Broken(_) => return None,
        Value::List(items) => {
            *items = std::mem::take(items).into_iter().filter_map(without_broken).collect();
        }
        Value::Object(members) => {
            let whole = |it: Member| Some(Member { node: without_broken(it.node)?, ..it });
            *members = std::mem::take(members).into_iter().filter_map(whole).collect();
        }
        _ => {}
    }
    Some(node)
}

/// The node at `path`. Members on the way that are missing or null are made, as an export leaves empty ones out; the last one is `empty`.
fn reach_node<'n>(node: &'n mut Node, path: &[Step], empty: Value) -> Option<&'n mut Node> {
    let Some((step, rest)) = path.split_first() else { return Some(node) };
    let below = match (step, &mut node.value) {
        (Step::Item(at), Value::List(items)) => items.get_mut(*at)?,
        (Step::Key(key), Value::Object(members)) => {
            let at = members.iter().position(|it| *it.key == **key).unwrap_or(members.len());
            if at == members.len() {
                let node = Node::new(Place::default(), Value::Null);
                members.push(Member { key: (&**key).into(), place: Place::default(), node });
            }
            &mut members[at].node
        }
        _ => return None,
    };
    if matches!(below.value, Value::Null) {
        below.value = match rest.first() {
            Some(Step::Item(_)) => Value::List(Vec::new()),
            Some(Step::Key(_)) => Value::Object(Vec::new()),
            None => empty.clone(),
        };
    }
    reach_node(below, rest, empty)
}
