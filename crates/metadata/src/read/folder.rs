//! Files of a document, and `!include` between them.
//!
//! **Invariant:** an included file lies in the folder of the document; no file is open twice on one way of includes.

use super::actions_sdl::{self, ActionsText, Misfit};
use super::yaml::Budget;
use super::{Wrong, json_text, yaml};
use crate::names::hint;
use crate::places::{Fault, render_location};
use crate::tree::{Member, Node, Place, Value};
use std::path::{Path, PathBuf};

/// Size of one file, in bytes.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Size of all files, in bytes.
const ALL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Files of one document.
const FILES_MAX: usize = 20_000;
/// Includes within includes.
const INCLUDES_MAX: usize = 16;

/// Prefix of an include that is written as a text.
const INCLUDE: &str = "!include ";

/// Keys of the document and the files of the folder that hold their values.
const SECTIONS: [(&str, &str); 14] = [
    ("sources", "databases/databases.yaml"),
    ("remote_schemas", "remote_schemas.yaml"),
    ("cron_triggers", "cron_triggers.yaml"),
    ("query_collections", "query_collections.yaml"),
    ("allowlist", "allow_list.yaml"),
    ("rest_endpoints", "rest_endpoints.yaml"),
    ("inherited_roles", "inherited_roles.yaml"),
    ("api_limits", "api_limits.yaml"),
    ("metrics_config", "metrics_config.yaml"),
    ("graphql_schema_introspection", "graphql_schema_introspection.yaml"),
    ("network", "network.yaml"),
    ("opentelemetry", "opentelemetry.yaml"),
    ("backend_configs", "backend_configs.yaml"),
    // An empty key: the members of this file are members of the document.
    ("", "actions.yaml"),
];

/// Keys of the document without which a role gets less and never more: a file of one that cannot be read does not stop the rest.
pub(super) const OPTIONAL: [&str; 7] = [
    "remote_schemas",
    "actions",
    "cron_triggers",
    "query_collections",
    "allowlist",
    "rest_endpoints",
    "inherited_roles",
];

/// Files that were read.
#[derive(Default)]
pub(super) struct Files {
    pub(super) paths: Vec<PathBuf>,
    pub(super) watched: Vec<PathBuf>,
    pub(super) unknown: Vec<Fault>,
    /// Files that cannot be read, with the reasons.
    pub(super) broken: Vec<(PathBuf, String)>,
    /// Entries of actions that do not fit each other.
    pub(super) misfits: Vec<Misfit>,
    bytes: u64,
    budget: Budget,
}

impl Files {
    /// Reads `text`, which stands in `path`.
    pub(super) fn parse(&mut self, path: &Path, text: &str) -> Result<Node, Wrong> {
        let file = self.paths.len() as u32;
        self.paths.push(path.to_path_buf());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_json = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"))
            || text.trim_start().starts_with('{');
        if is_json {
            json_text::parse(text, file, &mut self.budget)
        } else {
            yaml::parse(text, file, &mut self.budget)
        }
    }

    /// Reads the file at `path`; `from` stands in messages.
    fn open(&mut self, path: &Path, from: Place) -> Result<Node, Wrong> {
        let text = self.read_text(path, from)?;
        self.parse(path, &text)
    }

    /// The text of the file at `path`, within the bounds of all files.
    fn read_text(&mut self, path: &Path, from: Place) -> Result<String, Wrong> {
        let wrong = |message: String| Wrong { place: from, message };
        let shown = path.display();
        let bytes =
            std::fs::metadata(path).map_err(|cause| wrong(format!("{shown} cannot be read: {cause}")))?.len();
        self.bytes += bytes;
        if bytes > FILE_BYTES_MAX || self.bytes > ALL_BYTES_MAX || self.paths.len() >= FILES_MAX {
            return Err(wrong(format!(
                "{shown} goes beyond the bounds of metadata: {FILE_BYTES_MAX} bytes for a file, {ALL_BYTES_MAX} for all, \
                 {FILES_MAX} files"
            )));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|cause| wrong(format!("{shown} cannot be read: {cause}")))?;
        Ok(text)
    }

    /// A node at `place` that stands for the file at `path`, which cannot be read.
    fn make_broken(&mut self, path: &Path, place: Place, wrong: &Wrong) -> Node {
        // The place of the include is known; the one in a file that was opened is not.
        let inner =
            if wrong.place == place { String::new() } else { render_location(&self.paths, wrong.place, &[]) };
        let reason =
            if inner.is_empty() { wrong.message.clone() } else { format!("{inner}: {}", wrong.message) };
        self.broken.push((path.to_path_buf(), reason.clone()));
        Node::new(place, Value::Broken(reason.into()))
    }

    /// A node that stands for the section in the file at `path`, which cannot be read.
    fn make_broken_section(&mut self, path: &Path, wrong: &Wrong) -> Node {
        let known = self.paths.iter().position(|it| it == path);
        let file = known.unwrap_or_else(|| {
            self.paths.push(path.to_path_buf());
            self.paths.len() - 1
        });
        self.make_broken(path, Place { file: file as u32, ..Place::default() }, wrong)
    }

    /// Puts the files that `node` includes in the places of their includes, those that cannot be read as broken. `way` holds the files
    /// that are open, of which the last one has `node`.
    fn include(&mut self, node: &mut Node, root: &Path, way: &mut Vec<PathBuf>) {
        let target = match &node.value {
            Value::Include(file) => Some(file.trim()),
            Value::Text(text) => text.strip_prefix(INCLUDE).map(str::trim),
            _ => None,
        };
        if let Some(target) = target {
            let from = way.last().and_then(|it| it.parent()).unwrap_or(root);
            let path = from.join(target);
            let place = node.place;
            // A file that is missing may appear.
            self.watched.push(path.clone());
            let opened = check_include(&path, root, way).map_err(|message| Wrong { place, message });
            match opened.and_then(|()| self.open(&path, place)) {
                Ok(opened) => {
                    *node = opened;
                    way.push(path);
                    self.include(node, root, way);
                    way.pop();
                }
                Err(wrong) => *node = self.make_broken(&path, place, &wrong),
            }
            return;
        }
        match &mut node.value {
            Value::List(items) => items.iter_mut().for_each(|it| self.include(it, root, way)),
            Value::Object(members) => members.iter_mut().for_each(|it| self.include(&mut it.node, root, way)),
            _ => {}
        }
    }

    /// Reads the file at `path`, with all that it includes.
    fn whole(&mut self, path: &Path, root: &Path) -> Result<Node, Wrong> {
        self.watched.push(path.to_path_buf());
        let mut node = self.open(path, Place { file: u32::MAX, ..Place::default() })?;
        self.include(&mut node, root, &mut vec![path.to_path_buf()]);
        Ok(node)
    }
}

fn check_include(path: &Path, root: &Path, way: &[PathBuf]) -> Result<(), String> {
    let real = |path: &Path| {
        path.canonicalize().map_err(|cause| format!("{} cannot be read: {cause}", path.display()))
    };
    let real_path = real(path)?;
    let real_root = real(if root == Path::new("") { Path::new(".") } else { root })?;
    if !real_path.starts_with(&real_root) {
        return Err(format!(
            "{} lies outside of {}, the folder of the metadata",
            path.display(),
            root.display()
        ));
    }
    if way.iter().any(|it| it.canonicalize().is_ok_and(|it| it == real_path)) {
        return Err(format!("{} includes itself", path.display()));
    }
    if way.len() < INCLUDES_MAX {
        Ok(())
    } else {
        Err(format!("more than {INCLUDES_MAX} files include each other in a row"))
    }
}

/// Reads one file, with all that it includes.
pub(super) fn file(path: &Path, files: &mut Files) -> Result<Node, Wrong> {
    files.whole(path, path.parent().unwrap_or(Path::new("")))
}

/// Reads the folder `root`.
pub(super) fn read(root: &Path, files: &mut Files) -> Result<Node, Wrong> {
    let nowhere = Place { file: u32::MAX, ..Place::default() };
    let wrong = |message: String| Wrong { place: nowhere, message };
    let named = |name: &str| root.join(name);
    files.watched.extend([named("version.yaml"), named("tables.yaml"), named("functions.yaml")]);
    files.watched.extend(SECTIONS.map(|it| named(it.1)));
    files.watched.push(named(actions_sdl::FILE));
    let version = named("version.yaml");
    if !version.is_file() {
        let below = named("metadata").join("version.yaml").is_file();
        let hint =
            if below { format!("; did you mean {}?", named("metadata").display()) } else { String::new() };
        return Err(wrong(format!("{} holds no version.yaml{hint}", root.display())));
    }
    let mut members = match files.whole(&version, root)?.value {
        Value::Object(members) => members,
        _ => return Err(wrong(format!("{} has to say `version: 3`", version.display()))),
    };
    let is_old =
        members.iter().any(|it| matches!(&it.node.value, Value::Number(it) if **it == *"2" || **it == *"1"));
    let old = [("tables", "tables.yaml"), ("functions", "functions.yaml")];
    let sections = old.into_iter().filter(|_| is_old).chain(SECTIONS);
    for (key, name) in sections.filter(|it| !is_old || it.0 != "sources") {
        let path = named(name);
        if !path.is_file() {
            continue;
        }
        let node = match files.whole(&path, root) {
            // A client misses the actions of `actions.yaml`.
            Err(wrong) if key.is_empty() || OPTIONAL.contains(&key) => {
                files.make_broken_section(&path, &wrong)
            }
            read => read?,
        };
        let key = if matches!(node.value, Value::Broken(_)) && key.is_empty() { "actions" } else { key };
        match (key, node.value) {
            // An empty file.
            ("sources", Value::Null) => {
                let node = Node::new(node.place, Value::List(Vec::new()));
                members.push(Member { key: key.into(), place: node.place, node });
            }
            (_, Value::Null) => {}
            // The command line writes all sections.
            (key, Value::Object(inner)) if !key.is_empty() && inner.is_empty() => {}
            ("", Value::Object(inner)) => members.extend(inner),
            (key, value) => {
                let node = Node { value, ..node };
                members.push(Member { key: key.into(), place: node.place, node });
            }
        }
    }
    if !is_old && !members.iter().any(|it| &*it.key == "sources") {
        return Err(wrong(format!("{} is missing", named("databases/databases.yaml").display())));
    }
    join_actions(&named(actions_sdl::FILE), &mut members, files);
    report_unknown_files(root, is_old, files);
    let place = Place { file: 0, line: 1, column: 1 };
    Ok(Node::new(place, Value::Object(members)))
}

/// Adds the types in the file at `path`, if there is one with definitions, to `members`.
fn join_actions(path: &Path, members: &mut Vec<Member>, files: &mut Files) {
    if !path.is_file() {
        files.misfits = actions_sdl::refuse_untyped(members, &format!("is missing: {}", path.display()));
        return;
    }
    let joined = match files.read_text(path, Place { file: u32::MAX, ..Place::default() }) {
        Ok(text) if actions_sdl::is_blank(&text) => {
            files.misfits = actions_sdl::refuse_untyped(members, &format!("is empty: {}", path.display()));
            return;
        }
        Ok(text) => {
            let file = files.paths.len() as u32;
            files.paths.push(path.to_path_buf());
            actions_sdl::join(members, &ActionsText { text: &text, file })
        }
        Err(wrong) => Err(wrong),
    };
    files.misfits = joined.unwrap_or_else(|wrong| {
        let at = render_location(&files.paths, wrong.place, &[]);
        let reason = if at.is_empty() { wrong.message.clone() } else { format!("{at}: {}", wrong.message) };
        files.broken.push((path.to_path_buf(), reason));
        actions_sdl::refuse_all(members, &wrong)
    });
}

/// Finds YAML files at the top of `root` that no section is in.
fn report_unknown_files(root: &Path, is_old: bool, files: &mut Files) {
    let known = || SECTIONS.iter().map(|it| it.1).chain(["version.yaml", "tables.yaml", "functions.yaml"]);
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    for name in names {
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        let is_known =
            known().any(|it| it == name) && (is_old || !["tables.yaml", "functions.yaml"].contains(&&*name));
        if is_yaml && !is_known {
            let message =
                format!("no section of the metadata is in a file of this name{}", hint(&name, known()));
            let place = root.join(&name).display().to_string();
            files.unknown.push(Fault { place, path: Vec::new(), message });
        }
    }
}
