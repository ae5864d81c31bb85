//! Counts the entries of a document by kind: those that are served as they were, and those that are served differently.
//!
//! An entry is a thing that an operator names: a table, a relationship, a permission, an action.

use crate::places::{Places, Step};
use crate::tree::{Node, Value};
use std::collections::HashSet;
use std::fmt;

/// Kinds of entries in the order of a report: one and many of them.
const KINDS: [(&str, &str); 18] = [
    ("source", "sources"),
    ("table", "tables"),
    ("relationship", "relationships"),
    ("computed field", "computed fields"),
    ("permission", "permissions"),
    ("function", "functions"),
    ("native query", "native queries"),
    ("logical model", "logical models"),
    ("stored procedure", "stored procedures"),
    ("event trigger", "event triggers"),
    ("action", "actions"),
    ("custom type", "custom types"),
    ("cron trigger", "cron triggers"),
    ("remote schema", "remote schemas"),
    ("saved query", "saved queries"),
    ("entry of the allow list", "entries of the allow list"),
    ("REST endpoint", "REST endpoints"),
    ("inherited role", "inherited roles"),
];

/// Lists of entries: the keys on the way to them, and the kind. A star stands for any key.
const LISTS: [(&[&str], &str); 31] = [
    (&["sources"], "source"),
    (&["sources", "tables"], "table"),
    (&["sources", "tables", "object_relationships"], "relationship"),
    (&["sources", "tables", "array_relationships"], "relationship"),
    (&["sources", "tables", "remote_relationships"], "relationship"),
    (&["sources", "tables", "computed_fields"], "computed field"),
    (&["sources", "tables", "select_permissions"], "permission"),
    (&["sources", "tables", "insert_permissions"], "permission"),
    (&["sources", "tables", "update_permissions"], "permission"),
    (&["sources", "tables", "delete_permissions"], "permission"),
    (&["sources", "tables", "event_triggers"], "event trigger"),
    (&["sources", "functions"], "function"),
    (&["sources", "functions", "permissions"], "permission"),
    (&["sources", "native_queries"], "native query"),
    (&["sources", "native_queries", "object_relationships"], "relationship"),
    (&["sources", "native_queries", "array_relationships"], "relationship"),
    (&["sources", "logical_models"], "logical model"),
    (&["sources", "logical_models", "select_permissions"], "permission"),
    (&["sources", "stored_procedures"], "stored procedure"),
    (&["actions"], "action"),
    (&["actions", "permissions"], "permission"),
    (&["custom_types", "*"], "custom type"),
    (&["custom_types", "objects", "relationships"], "relationship"),
    (&["cron_triggers"], "cron trigger"),
    (&["remote_schemas"], "remote schema"),
    (&["remote_schemas", "permissions"], "permission"),
    (&["remote_schemas", "remote_relationships", "relationships"], "relationship"),
    (&["query_collections", "definition", "queries"], "saved query"),
    (&["allowlist"], "entry of the allow list"),
    (&["rest_endpoints"], "REST endpoint"),
    (&["inherited_roles"], "inherited role"),
];

/// Number of entries of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindCount {
    /// Name of one entry: `table`.
    pub one: &'static str,
    /// Name of many entries: `tables`.
    pub many: &'static str,
    /// Number of entries.
    pub entries: usize,
}

impl fmt::Display for KindCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.entries, if self.entries == 1 { self.one } else { self.many })
    }
}

/// Counts the entries of the document that are served whole: without those at or below the paths of `not_served`, and those around the
/// paths of `different`. Kinds without such entries are left out.
pub fn count_served(places: &Places, not_served: &[Vec<Step>], different: &[Vec<Step>]) -> Vec<KindCount> {
    let different: HashSet<&[Step]> = different.iter().filter_map(|it| find_entry(it)).collect();
    let not_served: HashSet<&[Step]> = not_served.iter().map(Vec::as_slice).collect();
    let mut kinds = Vec::new();
    let mut path = Vec::new();
    count(&places.root, &mut path, &mut |path| {
        if not_served.contains(path) {
            return false;
        }
        kinds.extend(entry_kind(path).filter(|_| !different.contains(path)));
        true
    });
    count_kinds(&kinds)
}

/// Counts the entries at `paths`. Kinds without entries are left out.
pub fn count_entries(paths: &[Vec<Step>]) -> Vec<KindCount> {
    let kinds: Vec<&str> = paths.iter().filter_map(|it| entry_kind(it)).collect();
    count_kinds(&kinds)
}

fn count_kinds(kinds: &[&str]) -> Vec<KindCount> {
    let count = |one: &str| kinds.iter().filter(|it| **it == one).count();
    let counts = KINDS.map(|(one, many)| KindCount { one, many, entries: count(one) });
    counts.into_iter().filter(|it| it.entries > 0).collect()
}

/// Calls `visit` for each node from the top, and goes on below those for which it is true.
fn count(node: &Node, path: &mut Vec<Step>, visit: &mut impl FnMut(&[Step]) -> bool) {
    if !visit(path) {
        return;
    }
    let mut below = |step: Step, node: &Node| {
        path.push(step);
        count(node, path, visit);
        path.pop();
    };
    match &node.value {
        Value::List(items) => items.iter().enumerate().for_each(|(at, it)| below(at.into(), it)),
        Value::Object(members) => members.iter().for_each(|it| below((&*it.key).into(), &it.node)),
        _ => {}
    }
}

/// The path of the smallest entry that holds `path`.
fn find_entry(path: &[Step]) -> Option<&[Step]> {
    (1..=path.len()).rev().map(|length| &path[..length]).find(|it| entry_kind(it).is_some())
}

/// The kind of the entry at `path`, if there is one.
fn entry_kind(path: &[Step]) -> Option<&'static str> {
    let [.., Step::Item(_)] = path else { return None };
    let keys = || {
        path.iter().filter_map(|it| match it {
            Step::Key(key) => Some(&**key),
            Step::Item(_) => None,
        })
    };
    let is_list = |list: &&[&str]| {
        list.len() == keys().count() && list.iter().zip(keys()).all(|(it, key)| *it == "*" || *it == key)
    };
    LISTS.iter().find(|it| is_list(&it.0)).map(|it| it.1)
}
