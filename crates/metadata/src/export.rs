//! Writes a document as Hasura does: without defaults, `version` and `sources` first; as one file or as the CLI's folder.
//!
//! **Invariant:** reading what was written gives the same document in Hasura's order ([`to_export_order`]).

mod actions_files;
mod order;

pub use order::to_export_order;

use crate::document::Metadata;
use crate::document::source::{SourceEntry, WrittenSource};
use crate::document::table::TableName;
use crate::tree::{Member, Node, Place, Value};
use crate::{json, read};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The document as JSON text, indented, with a line feed at its end.
/// # Errors
/// A number is none of JSON.
pub fn json(document: &Metadata) -> Result<String, String> {
    let text = serde_json::to_string_pretty(&to_export_order(document));
    text.map(|it| it + "\n").map_err(|error| error.to_string())
}

/// The document as YAML text.
/// # Errors
/// See [`json()`].
pub fn yaml(document: &Metadata) -> Result<String, String> {
    Ok(yaml_text(&node(&to_export_order(document))?))
}

/// Files of the folder: paths below it and texts.
/// # Errors
/// See [`json()`].
pub fn folder(document: &Metadata) -> Result<Vec<(PathBuf, String)>, String> {
    let document = &to_export_order(document);
    let mut files = vec![(PathBuf::from("version.yaml"), "version: 3\n".to_owned())];
    let mut sources = String::new();
    let mut folders = HashSet::new();
    for source in &document.sources {
        let name = distinct(&safe(&source.name), &mut folders);
        let alone = SourceEntry { tables: Vec::new(), functions: Vec::new(), ..source.clone() };
        let mut text = yaml_text(&tables_last(node(&WrittenSource(&alone))?));
        text = text.replace("tables: []\n", &format!("tables: \"!include {name}/tables/tables.yaml\"\n"));
        if !source.functions.is_empty() {
            text.push_str(&format!("functions: \"!include {name}/functions/functions.yaml\"\n"));
        }
        for (at, line) in text.lines().enumerate() {
            sources.push_str(&format!("{}{line}\n", if at == 0 { "- " } else { "  " }));
        }
        let folder = Path::new("databases").join(&name);
        write_entry_files(&folder.join("tables"), "tables.yaml", &source.tables, |it| &it.table, &mut files)?;
        if !source.functions.is_empty() {
            write_entry_files(
                &folder.join("functions"),
                "functions.yaml",
                &source.functions,
                |it| &it.function,
                &mut files,
            )?;
        }
    }
    let sources = if sources.is_empty() { "[]\n".to_owned() } else { sources };
    files.push((PathBuf::from("databases/databases.yaml"), sources));
    let rest = node(&Metadata { sources: Vec::new(), ..document.clone() })?;
    if let Value::Object(members) = &rest.value {
        let is_apart = |key: &str| ["version", "sources", "actions", "custom_types"].contains(&key);
        for member in members.iter().filter(|it| !is_apart(&it.key)) {
            match &*member.key {
                "allowlist" => files.push((PathBuf::from("allow_list.yaml"), yaml_text(&member.node))),
                key => files.push((PathBuf::from(format!("{key}.yaml")), yaml_text(&member.node))),
            }
        }
    }
    write_actions(document, &rest, &mut files);
    Ok(files)
}

/// Writes `actions.yaml`, and `actions.graphql` if SDL can say the types; nothing without actions and types.
fn write_actions(document: &Metadata, rest: &Node, files: &mut Vec<(PathBuf, String)>) {
    let (actions, types) = (rest.get("actions"), rest.get("custom_types"));
    if actions.is_none() && types.is_none() {
        return;
    }
    let sdl = actions_files::print_sdl(document);
    let actions = match actions {
        Some(node) if sdl.is_some() => actions_files::strip_actions(node, &document.actions),
        Some(node) => node.clone(),
        None => Node::new(Place::default(), Value::List(Vec::new())),
    };
    let types = match types {
        Some(node) if sdl.is_none() => node.clone(),
        node => actions_files::strip_custom_types(node),
    };
    let member = |key: &str, node: Node| Member { key: key.into(), place: node.place, node };
    let whole = Value::Object(vec![member("actions", actions), member("custom_types", types)]);
    files.push((PathBuf::from("actions.yaml"), yaml_text(&Node::new(Place::default(), whole))));
    files.extend(sdl.map(|text| (PathBuf::from("actions.graphql"), text)));
}

/// A source with its tables behind everything else, as the CLI writes it.
fn tables_last(source: Node) -> Node {
    let Value::Object(members) = source.value else { return source };
    let (tables, mut all): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|it| &*it.key == "tables");
    all.extend(tables);
    Node::new(source.place, Value::Object(all))
}

/// Writes one file for each entry, and `index` with their includes.
fn write_entry_files<T: Serialize>(
    folder: &Path,
    index: &str,
    entries: &[T],
    name: impl Fn(&T) -> &TableName,
    files: &mut Vec<(PathBuf, String)>,
) -> Result<(), String> {
    let mut names = HashSet::from([index.trim_end_matches(".yaml").to_owned()]);
    let mut includes = String::new();
    for entry in entries {
        let (schema, own) = name(entry).parts();
        let base = if schema.is_empty() { safe(own) } else { safe(&format!("{schema}_{own}")) };
        let file = format!("{}.yaml", distinct(&base, &mut names));
        includes.push_str(&format!("- \"!include {file}\"\n"));
        files.push((folder.join(file), yaml_text(&node(entry)?)));
    }
    let includes = if includes.is_empty() { "[]\n".to_owned() } else { includes };
    files.push((folder.join(index), includes));
    Ok(())
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

/// The tree of `entry`, with the digits of its numbers.
fn node(entry: &impl Serialize) -> Result<Node, String> {
    let text = serde_json::to_string(entry).map_err(|error| error.to_string())?;
    read::tree(&text, Path::new("export.json")).map_err(|fault| fault.to_string())
}

fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// A value without members or items.
fn plain(value: &Value) -> String {
    match value {
        // Exports are made of typed entries, which have no broken files.
        Value::Null | Value::Broken(_) => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(digits) => digits.to_string(),
        Value::Text(text) => scalar(text),
        Value::Include(text) => scalar(text),
        Value::List(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// `text` as a scalar of YAML, in quotes where it would be read as something else.
fn scalar(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./ ".contains(it);
    let starts = text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let word = text.to_ascii_lowercase();
    let is_word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&word.as_str());
    if starts && text.chars().all(is_plain) && !text.ends_with(' ') && !is_word && !json::is_number(text) {
        text.to_owned()
    } else {
        quote(text)
    }
}

fn yaml_text(node: &Node) -> String {
    let mut out = String::new();
    match &node.value {
        Value::List(items) if !items.is_empty() => yaml_node(node, 0, &mut out),
        Value::Object(members) if !members.is_empty() => yaml_node(node, 0, &mut out),
        value => {
            out.push_str(&plain(value));
            out.push('\n');
        }
    }
    out
}

/// Writes a list or object that is not empty, each line with `depth` times two spaces in front.
fn yaml_node(node: &Node, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match &node.value {
        Value::List(items) => {
            for item in items {
                let start = out.len();
                match &item.value {
                    Value::List(inner) if !inner.is_empty() => yaml_node(item, depth + 1, out),
                    Value::Object(inner) if !inner.is_empty() => yaml_node(item, depth + 1, out),
                    value => out.push_str(&format!("{indent}  {}\n", plain(value))),
                }
                out.replace_range(start + indent.len()..=start + indent.len(), "-");
            }
        }
        Value::Object(members) => {
            for member in members {
                out.push_str(&format!("{indent}{}:", scalar(&member.key)));
                match &member.node.value {
                    Value::List(inner) if !inner.is_empty() => {
                        out.push('\n');
                        yaml_node(&member.node, depth + 1, out);
                    }
                    Value::Object(inner) if !inner.is_empty() => {
                        out.push('\n');
                        yaml_node(&member.node, depth + 1, out);
                    }
                    value => out.push_str(&format!(" {}\n", plain(value))),
                }
            }
        }
        _ => {}
    }
}
