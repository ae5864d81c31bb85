//! Reads a document of files part by part: what does not fit is taken out of the tree and reported, and the rest is served.
//!
//! An unknown key is taken out alone, but within a permission it takes the permission with it: what it would have narrowed is not known.
//! Within an action it takes the action: what it would have changed in the call is not known.
//! A wrong value takes out the smallest entry that can be left out.
//!
//! **Invariant:** a role never gets more than the whole document would give it: no part of a permission is left out without the permission.
//!
//! **Cost:** a document without faults is deserialized once, another one once more for each kind of fault.

use super::actions_sdl::Misfit;
use super::{deserialize, folder, locate_fault};
use crate::aside::Aside;
use crate::check;
use crate::document::Metadata;
use crate::inconsistent::{Inconsistent, inconsistent};
use crate::json::Json;
use crate::places::{Fault, Places, Step, render_location};
use crate::tree::{Node, Value};
use std::sync::Arc;

/// Maximum number of rounds, each of which takes out one kind of fault.
const ROUNDS_MAX: usize = 300;

/// The document of what fits, and what does not.
pub(super) struct Pruned {
    pub(super) document: Metadata,
    /// The document's tree without what does not fit.
    pub(super) places: Places,
    /// Unknown keys; their entries are served.
    pub(super) unknown: Vec<Fault>,
    /// Entries that are not in the document.
    pub(super) left_out: Vec<Inconsistent>,
    /// All that was taken out.
    pub(super) aside: Aside,
}

/// Deserializes the tree of `places` as far as it fits, without the entries of `misfits`.
/// # Errors
/// Faults outside of all entries that can be left out.
pub(super) fn deserialize_parts(places: Places, misfits: &[Misfit]) -> Result<Pruned, Vec<Fault>> {
    let mut pruned = Pruned {
        document: Metadata::default(),
        places,
        unknown: Vec::new(),
        left_out: Vec::new(),
        aside: Aside::default(),
    };
    pruned.remove_broken()?;
    for misfit in misfits.iter().rev() {
        pruned.leave_out_misfit(misfit)?;
    }
    for _ in 0..ROUNDS_MAX {
        let document = Metadata::deserialize_node(&pruned.places.root);
        let faults = match document {
            Ok(document) => {
                pruned.document = document;
                check::faults(&pruned.document)
            }
            Err(error) => {
                pruned.remove_error(&error)?;
                continue;
            }
        };
        if faults.is_empty() {
            return Ok(pruned);
        }
        for (path, message) in order_faults(faults) {
            let fault = pruned.places.fault(&path, message);
            pruned.leave_out(&path, fault)?;
        }
    }
    let message = format!("more than {ROUNDS_MAX} kinds of mistakes: mend those that are reported first");
    Err(vec![pruned.places.fault(&[], message)])
}

/// The faults from the last entry to the first, as items behind one that is taken out move up. Of an item the first fault counts, as the
/// next one would take out its successor.
fn order_faults(mut faults: Vec<(Vec<Step>, String)>) -> Vec<(Vec<Step>, String)> {
    let unit = |path: &[Step]| unit_length(path).map_or_else(Vec::new, |it| path[..it].to_vec());
    faults.sort_by_cached_key(|it| unit(&it.0));
    faults.dedup_by(|later, earlier| {
        let of = unit(&later.0);
        matches!(of.last(), Some(Step::Item(_))) && of == unit(&earlier.0)
    });
    faults.reverse();
    faults
}

impl Pruned {
    /// Takes out the entries around files that cannot be read.
    fn remove_broken(&mut self) -> Result<(), Vec<Fault>> {
        let mut found = Vec::new();
        find_broken(&self.places.root, &mut Vec::new(), &mut found);
        // From the last to the first, as items behind a removed one move up.
        while let Some((path, message)) = found.pop() {
            let fault = self.places.fault(&path, message);
            let unit = unit_length(&path);
            let is_section =
                matches!(&path[..], [Step::Key(section)] if folder::OPTIONAL.contains(&&**section));
            if is_section {
                self.leave_out_section(&path, fault);
            } else {
                self.leave_out(&path, fault)?;
                // Files within an entry that is gone.
                found.retain(|(other, _)| unit.is_none_or(|it| !other.starts_with(&path[..it])));
            }
        }
        Ok(())
    }

    /// Takes out all entries of the section at `path`.
    fn leave_out_section(&mut self, path: &[Step], fault: Fault) {
        let mut object = inconsistent(&self.places, path, &fault.message);
        object.place = fault.place;
        self.left_out.push(object);
        if let [Step::Key(section)] = path {
            self.take_member(&[], section);
        }
    }

    /// Takes the member `key` out of the object at `path`; false if there is none.
    fn take_member(&mut self, path: &[Step], key: &str) -> bool {
        let Some(Value::Object(members)) = node_mut(root_mut(&mut self.places), path).map(|it| &mut it.value)
        else {
            return false;
        };
        let Some(at) = members.iter().position(|it| &*it.key == key) else { return false };
        let member = members.remove(at);
        self.aside.keep_member(path, member);
        true
    }

    /// Takes out what `error` is about.
    fn remove_error(&mut self, error: &deserialize::Error) -> Result<(), Vec<Fault>> {
        let path = error.path();
        let fault = locate_fault(&self.places, error);
        let is_strict = unit_length(&path).is_some_and(|length| is_strict_list(&path[..length]));
        match &error.key {
            Some(key) if !is_strict => self.remove_key(&path, key, &fault.message),
            Some(_) | None => self.leave_out(&path, fault)?,
        }
        Ok(())
    }

    /// Takes the unknown key `key` out of the object at `path` and of all objects at like paths.
    fn remove_key(&mut self, path: &[Step], key: &str, message: &str) {
        for path in like_paths(&self.places.root, path) {
            let member: Vec<Step> = path.iter().cloned().chain([Step::from(key)]).collect();
            let place = self.places.describe_place(&member);
            if self.take_member(&path, key) {
                self.unknown.push(Fault { place, path: path.clone(), message: message.to_owned() });
            }
        }
    }

    /// Takes out an entry of actions. One that is in no list is reported only.
    fn leave_out_misfit(&mut self, misfit: &Misfit) -> Result<(), Vec<Fault>> {
        let place = render_location(&self.places.files, misfit.place, &[]);
        let path = misfit.path.clone().unwrap_or_default();
        let fault = Fault { place, path, message: misfit.message.clone() };
        match &misfit.path {
            Some(path) => self.leave_out(path, fault),
            None => {
                let object = inconsistent(&self.places, &["custom_types".into()], &fault.message);
                let object =
                    Inconsistent { place: fault.place, definition: Json::Null, entry: Vec::new(), ..object };
                self.left_out.push(object);
                if let Some((list, item)) = &misfit.apart {
                    self.aside.keep_item(&["custom_types".into(), (*list).into()], usize::MAX, item.clone());
                }
                Ok(())
            }
        }
    }

    /// Takes out the entry around `path`.
    fn leave_out(&mut self, path: &[Step], fault: Fault) -> Result<(), Vec<Fault>> {
        let Some(length) = unit_length(path) else { return Err(vec![fault]) };
        let unit = &path[..length];
        let mut object = inconsistent(&self.places, unit, &fault.message);
        object.place = fault.place;
        object.entry = Vec::new();
        self.left_out.push(object);
        if let [Step::Key(section)] = unit {
            self.take_member(&[], section);
        }
        if let [list @ .., Step::Item(at)] = unit
            && let Some(Value::List(items)) =
                node_mut(root_mut(&mut self.places), list).map(|it| &mut it.value)
            && *at < items.len()
        {
            let item = items.remove(*at);
            self.aside.keep_item(list, *at, item);
            self.unknown.iter_mut().for_each(|it| follow_removal(&mut it.path, list, *at));
        }
        Ok(())
    }
}

/// Changes `path` to what it is without the item `at` of `list`: empty, if it leads into that item.
fn follow_removal(path: &mut Vec<Step>, list: &[Step], at: usize) {
    let item = path.strip_prefix(list).and_then(|it| it.first());
    match item {
        Some(Step::Item(item)) if *item == at => path.clear(),
        Some(Step::Item(item)) if *item > at => path[list.len()] = Step::Item(item - 1),
        _ => {}
    }
}

/// Collects the paths and reasons of the files below `node` that cannot be read.
fn find_broken(node: &Node, path: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, String)>) {
    let mut below = |step: Step, node: &Node| {
        path.push(step);
        find_broken(node, path, found);
        path.pop();
    };
    match &node.value {
        Value::Broken(reason) => found.push((path.clone(), reason.to_string())),
        Value::List(items) => items.iter().enumerate().for_each(|(at, it)| below(at.into(), it)),
        Value::Object(members) => members.iter().for_each(|it| below((&*it.key).into(), &it.node)),
        _ => {}
    }
}

/// The tree, which nobody else has yet.
fn root_mut(places: &mut Places) -> &mut Node {
    Arc::make_mut(&mut places.root)
}

/// The length of the path to the smallest entry around `path` that can be left out.
fn unit_length(path: &[Step]) -> Option<usize> {
    const SECTIONS: [&str; 8] = [
        "actions",
        "sources",
        "cron_triggers",
        "remote_schemas",
        "inherited_roles",
        "query_collections",
        "allowlist",
        "rest_endpoints",
    ];
    if matches!(path, [Step::Key(section), ..] if **section == *"custom_types") {
        return Some(1);
    }
    let [Step::Key(section), Step::Item(_), below @ ..] = path else { return None };
    if !SECTIONS.contains(&&**section) {
        return None;
    }
    match (&**section, below) {
        ("actions", [Step::Key(list), Step::Item(_), ..]) if **list == *"permissions" => Some(4),
        // A permission that is gone would show the server to all roles, so it takes the server with it.
        ("remote_schemas", [Step::Key(_), Step::Item(_), Step::Key(list), Step::Item(_), ..])
            if **list == *"relationships" =>
        {
            Some(6)
        }
        ("query_collections", [Step::Key(_), Step::Key(queries), Step::Item(_), ..])
            if **queries == *"queries" =>
        {
            Some(5)
        }
        ("sources", [Step::Key(list), Step::Item(_), rest @ ..])
            if matches!(&**list, "tables" | "functions" | "native_queries" | "logical_models") =>
        {
            match rest {
                [Step::Key(member), Step::Item(_), ..] if is_member_list(member) => Some(6),
                _ => Some(4),
            }
        }
        _ => Some(2),
    }
}

/// True if `list` is one of a table or function whose items can be left out.
fn is_member_list(list: &str) -> bool {
    ["permissions", "computed_fields", "event_triggers"].contains(&list)
        || list.ends_with("_permissions")
        || list.ends_with("_relationships")
}

/// True if an unknown key takes out the item at `unit`: a permission, an action, or something of other servers.
fn is_strict_list(unit: &[Step]) -> bool {
    const LISTS: [&str; 4] = ["actions", "remote_schemas", "remote_relationships", "relationships"];
    matches!(unit, [.., Step::Key(list), Step::Item(_)] if list.ends_with("permissions") || LISTS.contains(&&**list))
}

/// Paths that differ from `path` at most in the items of lists.
fn like_paths(root: &Node, path: &[Step]) -> Vec<Vec<Step>> {
    let mut open = vec![(root, Vec::new())];
    for step in path {
        let mut next = Vec::new();
        for (node, path) in open {
            match (step, &node.value) {
                (Step::Key(key), _) => {
                    next.extend(node.get(key).map(|it| (it, with_step(&path, step.clone()))))
                }
                (Step::Item(_), Value::List(items)) => {
                    next.extend(items.iter().enumerate().map(|(at, it)| (it, with_step(&path, at.into()))));
                }
                (Step::Item(_), _) => {}
            }
        }
        open = next;
    }
    open.into_iter().map(|it| it.1).collect()
}

fn with_step(path: &[Step], step: Step) -> Vec<Step> {
    path.iter().cloned().chain([step]).collect()
}

/// The node at `path`.
fn node_mut<'n>(root: &'n mut Node, path: &[Step]) -> Option<&'n mut Node> {
    path.iter().try_fold(root, |node, step| match (step, &mut node.value) {
        (Step::Key(key), Value::Object(members)) => {
            members.iter_mut().find(|it| *it.key == **key).map(|it| &mut it.node)
        }
        (Step::Item(item), Value::List(items)) => items.get_mut(*item),
        _ => None,
    })
}
