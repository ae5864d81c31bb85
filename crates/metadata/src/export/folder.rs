//! Files of the command line's folder: one for each section, also where it is empty, and one for each table and function.

use super::{Export, actions_files, yaml_text};
use crate::tree::{Member, Node, Place, Value};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Sections with a file of their own, and what the file has without entries.
const SECTIONS: [(&str, &str, &str); 12] = [
    ("allowlist", "allow_list.yaml", "[]\n"),
    ("api_limits", "api_limits.yaml", "{}\n"),
    ("backend_configs", "backend_configs.yaml", "{}\n"),
    ("cron_triggers", "cron_triggers.yaml", "[]\n"),
    ("graphql_schema_introspection", "graphql_schema_introspection.yaml", "disabled_for_roles: []\n"),
    ("inherited_roles", "inherited_roles.yaml", "[]\n"),
    ("metrics_config", "metrics_config.yaml", "{}\n"),
    ("network", "network.yaml", "{}\n"),
    ("opentelemetry", "opentelemetry.yaml", "{}\n"),
    ("query_collections", "query_collections.yaml", "[]\n"),
    ("remote_schemas", "remote_schemas.yaml", "[]\n"),
    ("rest_endpoints", "rest_endpoints.yaml", "[]\n"),
];

/// Members of a source, in the order of `databases.yaml`; others follow.
const SOURCE: [&str; 8] = [
    "name",
    "kind",
    "configuration",
    "query_tags",
    "customization",
    "logical_models",
    "native_queries",
    "stored_procedures",
];

/// Paths below the folder, and texts.
pub(super) fn files(export: &Export) -> Vec<(PathBuf, String)> {
    let mut files = vec![(PathBuf::from("version.yaml"), "version: 3\n".to_owned())];
    let sources = items(export.root.get("sources"));
    let mut folders = HashSet::new();
    let entries = sources.iter().map(|it| write_source(it, &mut folders, &mut files)).collect();
    let entries = Node::new(Place::default(), Value::List(entries));
    files.push((PathBuf::from("databases/databases.yaml"), yaml_text::write(&entries)));
    for (key, name, empty) in SECTIONS {
        let text = export.root.get(key).map_or_else(|| empty.to_owned(), yaml_text::write);
        files.push((PathBuf::from(name), text));
    }
    let is_unknown = |key: &str| {
        let known = ["version", "sources", "actions", "custom_types"];
        !known.contains(&key) && SECTIONS.iter().all(|it| it.0 != key)
    };
    if let Value::Object(members) = &export.root.value {
        for member in members.iter().filter(|it| is_unknown(&it.key)) {
            files
                .push((PathBuf::from(format!("{}.yaml", safe(&member.key))), yaml_text::write(&member.node)));
        }
    }
    actions_files::write(export, &mut files);
    files
}

fn items(list: Option<&Node>) -> &[Node] {
    match list.map(|it| &it.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

/// Writes the files of `source`, and returns its entry in `databases.yaml`.
fn write_source(source: &Node, folders: &mut HashSet<String>, files: &mut Vec<(PathBuf, String)>) -> Node {
    let Value::Object(members) = &source.value else { return source.clone() };
    let name = distinct(&safe(text(source, "name")), folders);
    let folder = Path::new("databases").join(&name);
    let is_apart = |key: &str| ["tables", "functions"].contains(&key);
    let order = |key: &str| SOURCE.iter().position(|it| *it == key).unwrap_or(SOURCE.len());
    let mut entry: Vec<Member> = members.iter().filter(|it| !is_apart(&it.key)).cloned().collect();
    entry.sort_by_key(|it| order(&it.key));
    for (list, key) in [("tables", "table"), ("functions", "function")] {
        let entries = items(source.get(list));
        if entries.is_empty() && list == "functions" {
            continue;
        }
        let index = format!("{list}.yaml");
        write_entries(&folder.join(list), &index, entries, key, files);
        let include = Value::Include(format!("{name}/{list}/{index}").into());
        entry.push(Member {
            key: list.into(),
            place: Place::default(),
            node: Node::new(Place::default(), include),
        });
    }
    Node::new(source.place, Value::Object(entry))
}

/// Writes one file for each entry, and `index` with their includes.
fn write_entries(
    folder: &Path,
    index: &str,
    entries: &[Node],
    key: &str,
    files: &mut Vec<(PathBuf, String)>,
) {
    let mut names = HashSet::from([index.trim_end_matches(".yaml").to_owned()]);
    let mut includes = Vec::new();
    for entry in entries {
        let name = match entry.get(key) {
            Some(Node { value: Value::Text(name), .. }) => safe(name),
            Some(name) if text(name, "schema").is_empty() => safe(text(name, "name")),
            Some(name) => safe(&format!("{}_{}", text(name, "schema"), text(name, "name"))),
            None => safe(""),
        };
        let file = format!("{}.yaml", distinct(&name, &mut names));
        files.push((folder.join(&file), yaml_text::write(entry)));
        includes.push(Node::new(Place::default(), Value::Include(file.into())));
    }
    let includes = Node::new(Place::default(), Value::List(includes));
    files.push((folder.join(index), yaml_text::write(&includes)));
}

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    match node.get(key).map(|it| &it.value) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

/// `name` as the name of a file.
fn safe(name: &str) -> String {
    let safe = |it: char| if it.is_ascii_alphanumeric() || "_-".contains(it) { it } else { '_' };
    let made: String = name.chars().map(safe).collect();
    if made.is_empty() { "_".to_owned() } else { made }
}

/// `name`, or with a number behind it: none of `taken`, whatever the case of letters.
fn distinct(name: &str, taken: &mut HashSet<String>) -> String {
    let mut made = name.to_owned();
    let mut number = 2_u32;
    while !taken.insert(made.to_lowercase()) {
        made = format!("{name}_{number}");
        number += 1;
    }
    made
}
