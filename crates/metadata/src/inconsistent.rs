//! Entries that do not resolve, in the words of Hasura's `get_inconsistent_metadata`.

use crate::document::table_name::TableName;
use crate::json::{Json, Members};
use crate::places::{Places, Step};
use crate::tree::{Node, Value};

/// An entry that is left out because it refers to something that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistent {
    /// File, line, column and path.
    pub place: String,
    /// `table`, `object_relation`, `select_permission` …
    pub kind: &'static str,
    /// Hasura's name of the entry: `object_relation harbour in table boat in source default`.
    pub name: String,
    /// The cause.
    pub reason: String,
    /// The entry.
    pub definition: Json,
    /// Path of the entry that is left out, from the document; empty if the entry is served all the same.
    pub entry: Vec<Step>,
}

/// Kinds of entries by the lists of a table that hold them.
const MEMBERS: [(&str, &str); 9] = [
    ("object_relationships", "object_relation"),
    ("array_relationships", "array_relation"),
    ("computed_fields", "computed_field"),
    ("event_triggers", "event_trigger"),
    ("remote_relationships", "remote_relationship"),
    ("insert_permissions", "insert_permission"),
    ("select_permissions", "select_permission"),
    ("update_permissions", "update_permission"),
    ("delete_permissions", "delete_permission"),
];

/// Kinds of entries by the lists of the document that hold them, with the key of their names.
const SECTIONS: [(&str, &str, &str); 6] = [
    ("allowlist", "allowlist", "collection"),
    ("cron_triggers", "cron_trigger", "name"),
    ("inherited_roles", "inherited_role", "role_name"),
    ("query_collections", "query_collections", "name"),
    ("remote_schemas", "remote_schema", "name"),
    ("rest_endpoints", "rest_endpoint", "name"),
];

/// The entry at `path`, or the one that holds it, which is left out because of `reason`.
pub fn inconsistent(places: &Places, path: &[Step], reason: &str) -> Inconsistent {
    let made = |kind, name, reason, definition, depth| Inconsistent {
        place: places.describe_place(path),
        kind,
        name,
        reason,
        definition,
        entry: path[..depth].to_vec(),
    };
    let plain = format!("Inconsistent object: {reason}");
    if let [Step::Key(section), below @ ..] = path
        && **section == *"custom_types"
    {
        return custom_types(places, below, reason, made);
    }
    let [Step::Key(section), Step::Item(_), rest @ ..] = path else {
        return made("metadata", "metadata".into(), plain, Json::Null, 0);
    };
    let entry = node(&places.root, &path[..2]);
    if **section == *"actions" {
        return action(entry, rest, reason, made);
    }
    if let Some((_, kind, key)) = SECTIONS.iter().find(|it| *it.0 == **section) {
        return section_entry((section, kind, key), entry, rest, reason, made);
    }
    let source = text(entry, "name");
    match rest {
        [Step::Key(list), Step::Item(at), below @ ..] if **list == *"tables" => {
            table(entry, *at, below, reason, made)
        }
        [Step::Key(list), Step::Item(at), below @ ..] if **list == *"functions" => {
            function(entry, *at, below, reason, made)
        }
        [Step::Key(list), Step::Item(at), below @ ..]
            if matches!(&**list, "native_queries" | "logical_models") =>
        {
            native(entry, (list, *at), below, reason, made)
        }
        _ => made("source", format!("source {source}"), plain, Json::Text(source.clone().into()), 2),
    }
}

/// The entry of a section, by the section's key, the kind of its entries and the key of their names; or the member of it at `below`.
fn section_entry(
    (section, kind, key): (&str, &'static str, &str),
    entry: &Node,
    below: &[Step],
    reason: &str,
    made: impl Fn(&'static str, String, String, Json, usize) -> Inconsistent,
) -> Inconsistent {
    let plain = format!("Inconsistent object: {reason}");
    let depth = match (section, below) {
        // A single query of a collection.
        ("query_collections", [_, _, _, ..]) => 5,
        // A single permission or relationship of a remote schema.
        ("remote_schemas", [Step::Key(list), Step::Item(_), ..]) if **list == *"permissions" => {
            return remote_permission(entry, below, &plain, made);
        }
        ("remote_schemas", [_, _, Step::Key(list), Step::Item(_), ..]) if **list == *"relationships" => {
            return remote_relationship(entry, below, reason, made);
        }
        // Roles that disagree are inherited as far as they agree.
        ("inherited_roles", [_, ..]) => 0,
        _ => 2,
    };
    let name = text(entry, key);
    let reason = match kind {
        "cron_trigger" if !name.is_empty() => {
            format!("Inconsistent object: in cron trigger \"{name}\": {reason}")
        }
        _ => plain,
    };
    made(kind, format!("{kind} {name}"), reason, to_json(entry), depth)
}

/// All custom types, or the relationship at `below`, which goes alone.
fn custom_types(
    places: &Places,
    below: &[Step],
    reason: &str,
    made: impl Fn(&'static str, String, String, Json, usize) -> Inconsistent,
) -> Inconsistent {
    let types = places.root.get("custom_types");
    match (below, types) {
        ([Step::Key(_), Step::Item(_), Step::Key(list), Step::Item(_), ..], Some(types))
            if **list == *"relationships" =>
        {
            let relationship = node(types, &below[..4]);
            let name = text(relationship, "name");
            let of = text(node(types, &below[..2]), "name");
            let reason =
                format!("Inconsistent object: in object type \"{of}\": in relationship \"{name}\": {reason}");
            let name = format!("custom_types relationship {name} in object type {of}");
            made("custom_types", name, reason, to_json(relationship), 5)
        }
        _ => {
            let reason = format!("Inconsistent object: {reason}");
            let definition = types.map_or(Json::Null, to_json);
            made("custom_types", "custom_types custom_types".into(), reason, definition, 1)
        }
    }
}

/// The action `entry`, or the permission of it at `below`.
fn action(
    entry: &Node,
    below: &[Step],
    reason: &str,
    made: impl Fn(&'static str, String, String, Json, usize) -> Inconsistent,
) -> Inconsistent {
    let name = text(entry, "name");
    let reason = format!("Inconsistent object: in action \"{name}\"; {reason}");
    match below {
        [Step::Key(list), Step::Item(_), ..] if **list == *"permissions" => {
            let permission = node(entry, &below[..2]);
            let shown = format!("action_permission {} permission in {name}", text(permission, "role"));
            made("action_permission", shown, reason, to_json(permission), 4)
        }
        _ => made("action", format!("action {name}"), reason, to_json(entry), 2),
    }
}

/// The permission at `below` of a remote schema. Without it the server would be shown to all roles, so the whole entry goes.
fn remote_permission(
    entry: &Node,
    below: &[Step],
    reason: &str,
    made: impl Fn(&'static str, String, String, Json, usize) -> Inconsistent,
) -> Inconsistent {
    let permission = node(entry, &below[..2]);
    let role = text(permission, "role");
    let name = format!("{role} permission in remote schema {}", text(entry, "name"));
    made("remote_schema_permission", name, reason.to_owned(), to_json(permission), 2)
}

/// The relationship at `below` of a type of a remote schema.
fn remote_relationship(
    entry: &Node,
    below: &[Step],
    reason: &str,
    made: impl Fn(&'static str, String, String, Json, usize) -> Inconsistent,
) -> Inconsistent {
    let ty = text(node(entry, &below[..2]), "type_name");
    let relationship = node(entry, &below[..4]);
    let name = text(relationship, "name");
    let schema = text(entry, "name");
    let reason = format!(
        "Inconsistent object: in remote schema \"{schema}\": in type \"{ty}\": in relationship \"{name}\": {reason}"
    );
    let name = format!("remote_relationship {name} on type {ty} in remote schema {schema}");
    made("remote_schema_remote_relationship", name, reason, to_json(relationship), 6)
}

/// The function at `at` of `source`, or the permission of it at `below`.
fn function(
    source: &Node,
    at: usize,
    below: &[Step],
    reason: &str,
    made: impl Fn(&'static str, String, String, Json, usize) -> Inconsistent,
) -> Inconsistent {
    let function = node(source, &["functions".into(), at.into()]);
    let shown = listed_display_name(function, "function", at);
    let source = text(source, "name");
    let name = format!("function {shown} in source {source}");
    let reason = format!("Inconsistent object: in function \"{shown}\": {reason}");
    match below {
        [Step::Key(list), Step::Item(_), ..] if **list == *"permissions" => {
            let permission = node(function, &below[..2]);
            let role = text(permission, "role");
            let name = format!("function_permission {role} permission in {name}");
            made("function_permission", name, reason, to_json(permission), 6)
        }
        _ => made("function", name, reason, to_json(function), 4),
    }
}

/// The native query or logical model at `at` of its list in `source`, or the member of it at `below`.
fn native(
    source: &Node,
    (list, at): (&str, usize),
    below: &[Step],
    reason: &str,
    made: impl Fn(&'static str, String, String, Json, usize) -> Inconsistent,
) -> Inconsistent {
    let entry = node(source, &[list.into(), at.into()]);
    let (kind, key, what) = match list {
        "native_queries" => ("native_query", "root_field_name", "native query"),
        _ => ("logical_model", "name", "logical model"),
    };
    let shown = text(entry, key);
    let source = text(source, "name");
    let name = format!("{kind} {shown} in source {source}");
    let prefix = format!("Inconsistent object: in {what} \"{shown}\": ");
    let member = match below {
        [Step::Key(list), Step::Item(_), ..] => MEMBERS.iter().find(|it| *it.0 == **list),
        _ => None,
    };
    let Some((_, member)) = member else {
        return made(kind, name, format!("{prefix}{reason}"), to_json(entry), 4);
    };
    let definition = node(entry, &below[..2]);
    let key = if member.ends_with("_permission") { "role" } else { "name" };
    let shown = text(definition, key);
    made(member, format!("{member} {shown} in {name}"), format!("{prefix}{reason}"), to_json(definition), 6)
}

/// The table at `at` of `source`, or the member of it at `below`.
fn table(
    source: &Node,
    at: usize,
    below: &[Step],
    reason: &str,
    made: impl Fn(&'static str, String, String, Json, usize) -> Inconsistent,
) -> Inconsistent {
    let table = node(source, &["tables".into(), at.into()]);
    let shown = listed_display_name(table, "table", at);
    let source = text(source, "name");
    let member = match below {
        [Step::Key(list), Step::Item(_), ..] => MEMBERS.iter().find(|it| *it.0 == **list),
        _ => None,
    };
    let Some((_, kind)) = member else {
        let definition = to_json(table.get("table").unwrap_or(table));
        let name = format!("table {shown} in source {source}");
        // The table is served where only a key of its entry does not fit.
        let depth = match below {
            [] => 4,
            [Step::Key(key)] if **key == *"table" => 4,
            key => 4 + key.len(),
        };
        let reason = match absent_table(reason) {
            Some(hint) if depth == 4 => format!("no such table/view exists in source: \"{shown}\"{hint}"),
            _ => reason.to_owned(),
        };
        return made("table", name, format!("Inconsistent object: {reason}"), definition, depth);
    };
    let member = node(table, &below[..2]);
    let definition = definition(member, &source, table);
    if kind.ends_with("_permission") {
        let role = text(member, "role");
        let name = format!("{kind} {role} in table {shown} in source {source}");
        let prefix = format!("in permission for role \"{role}\": ");
        let reason = reason.strip_prefix(&prefix).unwrap_or(reason);
        let reason = format!("Inconsistent object: in table \"{shown}\": {prefix}{reason}");
        return made(kind, name, reason, definition, 6);
    }
    let name = text(member, "name");
    let reason = match unknown_target(member, &source, reason) {
        Some((reason, true)) => format!("Inconsistent object: {reason}"),
        Some((reason, false)) => {
            format!("Inconsistent object: in table \"{shown}\": in relationship \"{name}\": {reason}")
        }
        None => {
            let what = match *kind {
                "computed_field" => "computed field",
                "event_trigger" => "event trigger",
                _ => "relationship",
            };
            format!("Inconsistent object: in table \"{shown}\": in {what} \"{name}\": {reason}")
        }
    };
    made(kind, format!("{kind} {name} in table {shown} in source {source}"), reason, definition, 6)
}

/// The part of `reason` behind the table, if it says that a table is not in the database.
fn absent_table(reason: &str) -> Option<&str> {
    let rest = reason.strip_prefix("there is no table `")?;
    Some(rest.find(';').map_or("", |at| &rest[at..]))
}

/// The reason why a relationship's target table is unknown, if `reason` is one, and true if the place is not shown with it.
fn unknown_target(member: &Node, source: &str, reason: &str) -> Option<(String, bool)> {
    let hint = absent_table(reason).or_else(|| reason.ends_with("is not tracked").then_some(""))?;
    let using = member.get("using")?;
    if let Some(manual) = using.get("manual_configuration") {
        return Some((
            format!("table \"{}\" is not tracked{hint}", entry_display_name(manual, "remote_table")),
            true,
        ));
    }
    let key = using.get("foreign_key_constraint_on").filter(|it| it.get("table").is_some())?;
    Some((
        format!("table \"{}\" does not exist in source: {source}{hint}", entry_display_name(key, "table")),
        false,
    ))
}

/// The node at `path`, or the last one on the way to it.
fn node<'n>(root: &'n Node, path: &[Step]) -> &'n Node {
    let mut node = root;
    for step in path {
        let below = match (step, &node.value) {
            (Step::Key(key), _) => node.get(key),
            (Step::Item(item), Value::List(items)) => items.get(*item),
            (Step::Item(_), _) => None,
        };
        let Some(below) = below else { break };
        node = below;
    }
    node
}

fn text(node: &Node, key: &str) -> String {
    match node.get(key).map(|it| &it.value) {
        Some(Value::Text(text)) => text.to_string(),
        _ => String::new(),
    }
}

/// The name of a table or function: with its schema, unless that is `public`.
fn entry_display_name(entry: &Node, key: &str) -> String {
    let name = entry.get(key).map(to_json).and_then(|it| TableName::of_json(&it));
    name.map(|it| it.display_name()).unwrap_or_default()
}

/// The name of the table or function `entry` at `at` of its list; its index where the name cannot be read.
fn listed_display_name(entry: &Node, key: &str, at: usize) -> String {
    let name = entry_display_name(entry, key);
    if name.is_empty() { format!("[{at}]") } else { name }
}

/// A member of a table, with the names of both around it; members that are not there and that Hasura shows are null.
fn definition(member: &Node, source: &str, table: &Node) -> Json {
    let mut members = match to_json(member) {
        Json::Object(members) => members.0,
        _ => Vec::new(),
    };
    if let Some(Json::Object(using)) = members.iter_mut().find(|it| *it.0 == *"using").map(|it| &mut it.1) {
        for (_, manual) in using.0.iter_mut().filter(|it| *it.0 == *"manual_configuration") {
            show_member(manual, "insertion_order");
        }
    }
    if !members.iter().any(|it| *it.0 == *"comment") {
        members.push(("comment".into(), Json::Null));
    }
    members.push(("source".into(), Json::Text(source.into())));
    members.push(("table".into(), table.get("table").map_or(Json::Null, to_json)));
    Json::Object(Members(members))
}

/// Gives an object the member `key`.
fn show_member(object: &mut Json, key: &str) {
    if let Json::Object(members) = object
        && members.get(key).is_none()
    {
        members.0.push((key.into(), Json::Null));
    }
}

/// `node` as JSON.
pub(crate) fn to_json(node: &Node) -> Json {
    match &node.value {
        Value::Null | Value::Broken(_) => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(digits) => Json::Number(digits.clone()),
        Value::Text(text) => Json::Text((&**text).into()),
        Value::Include(text) => Json::Text(text.clone()),
        Value::List(items) => Json::List(items.iter().map(to_json).collect()),
        Value::Object(members) => {
            Json::Object(Members(members.iter().map(|it| ((&*it.key).into(), to_json(&it.node))).collect()))
        }
    }
}
