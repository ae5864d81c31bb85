//! Entries removed by their places.

use crate::document::Metadata;
use crate::export;
use crate::places::Step;
use crate::read::{self, deserialize::Reader};
use crate::tree::{Node, Value};
use serde::Deserialize;
use std::path::Path;

/// `document` without the entries at `paths`; those of them that are not there are passed over.
/// # Errors
/// The rest is no document: a path names a required part of an entry.
pub fn remove_paths(document: &Metadata, paths: &[Vec<Step>]) -> Result<Metadata, String> {
    let mut root = read::tree(&export::json(document)?, Path::new("metadata.json"))
        .map_err(|fault| fault.to_string())?;
    let mut paths: Vec<&Vec<Step>> = paths.iter().collect();
    // Later items of a list first, so that the remaining paths stay valid.
    paths.sort_by_key(|it| std::cmp::Reverse(it.iter().map(order).collect::<Vec<_>>()));
    paths.dedup();
    for path in paths {
        remove(&mut root, path);
    }
    if let Value::Object(members) = &mut root.value {
        read::set_unserved_aside(members);
    }
    Metadata::deserialize(Reader::new(&root)).map_err(|error| error.message)
}

fn order(step: &Step) -> (usize, &str) {
    match step {
        Step::Item(item) => (*item, ""),
        Step::Key(key) => (0, key),
    }
}

fn remove(node: &mut Node, path: &[Step]) {
    let Some((first, rest)) = path.split_first() else { return };
    match (first, &mut node.value) {
        (Step::Key(key), Value::Object(members)) => match members.iter().position(|it| *it.key == **key) {
            Some(at) if rest.is_empty() => drop(members.remove(at)),
            Some(at) => remove(&mut members[at].node, rest),
            None => {}
        },
        (Step::Item(at), Value::List(items)) if *at < items.len() => {
            if rest.is_empty() {
                drop(items.remove(*at))
            } else {
                remove(&mut items[*at], rest)
            }
        }
        _ => {}
    }
}
