//! The modules of a crate against each other: imports in one direction, and one meaning for each name of a type.

use crate::rules::{all_files, none};
use std::collections::{BTreeMap, BTreeSet};

/// Source files that may stand in one folder.
const FOLDER_FILES_MAX: usize = 15;

/// Crates in which no two types have one name.
const UNIQUE_NAMES: &[&str] = &[
    "crates/actions/src/",
    "crates/database/src/",
    "crates/derive/src/",
    "crates/engine/src/",
    "crates/events/src/",
    "crates/hasura/src/",
    "crates/http/src/",
    "crates/kriti/src/",
    "crates/language/src/",
    "crates/load/src/",
    "crates/metadata/src/",
    "crates/native/src/",
    "crates/postgres/src/",
    "crates/python/src/",
    "crates/relational/src/",
    "crates/runtime/src/",
    "crates/sqlite/src/",
    "crates/transport/src/",
    "crates/webhook/src/",
    "crates/weir/src/",
];

/// Modules, each with the modules that it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// The code of a file without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let uncommented = |line: &str| match line.find("//") {
        Some(at) if !line[..at].ends_with(':') => line[..at].to_owned(),
        Some(_) | None => line.to_owned(),
    };
    text.lines().map(uncommented).collect::<Vec<_>>().join("\n")
}

/// Appends the paths of a `use` tree: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn flatten(before: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((prefix, list)) = tree.split_once('{') else {
        paths.push(format!("{before}{tree}"));
        return;
    };
    let before = format!("{before}{}", prefix.trim());
    let list = list.rsplit_once('}').map_or(list, |it| it.0);
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                flatten(&before, &list[start..at], paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !list[start..].trim().is_empty() {
        flatten(&before, &list[start..], paths);
    }
}

/// Every path in `code` that begins with `crate` or `super`: those of `use`, and those within the code.
fn paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for statement in code.split(';') {
        let line = statement.rfind("use ").map(|at| (&statement[..at], &statement[at + 4..]));
        let tree = line.filter(|(before, _)| {
            let word = before.rsplit('\n').next().unwrap_or_default().trim();
            word.is_empty() || word.starts_with("pub")
        });
        match tree {
            Some((_, tree)) => flatten("", tree, &mut paths),
            None => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                let words = statement.split(|c: char| !is_part(c));
                paths.extend(words.filter(|it| it.contains("::")).map(str::to_owned));
            }
        }
    }
    paths.retain(|it| it.starts_with("crate::") || it.starts_with("super::"));
    paths
}

/// The path from the crate's root of what `path` means in the module `own`.
fn absolute<'p>(own: &[&'p str], path: &'p str) -> Vec<&'p str> {
    let mut found: Vec<&str> = if path.starts_with("crate::") { Vec::new() } else { own.to_vec() };
    for segment in path.split("::") {
        match segment {
            "crate" => {}
            "super" => drop(found.pop()),
            _ => found.push(segment),
        }
    }
    found
}

/// The imports between the modules right below `folder`, which is the source of a crate or a folder in one. Tests may import any.
fn imports(folder: &str, files: &[(String, String)]) -> Imports {
    let (source, below) = folder.split_once("/src").unwrap_or((folder, ""));
    let source = format!("{source}/src/");
    let prefix: Vec<&str> = below.split('/').filter(|it| !it.is_empty()).collect();
    let module = |path: &str| -> Vec<String> {
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').map(str::to_owned).collect()
    };
    let inner = files.iter().filter_map(|(path, text)| {
        let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
        let own = module(path.strip_prefix(&source).filter(|_| !is_test)?);
        let is_inside = own.len() > prefix.len() && own.iter().zip(&prefix).all(|(one, other)| one == other);
        let is_root = prefix.is_empty() && matches!(own[0].as_str(), "lib" | "main");
        (is_inside && !is_root).then_some((own, text))
    });
    let inner: Vec<(Vec<String>, &String)> = inner.collect();
    let names: BTreeSet<&str> = inner.iter().map(|it| it.0[prefix.len()].as_str()).collect();
    let mut found = Imports::new();
    for (own, text) in &inner {
        let name = own[prefix.len()].as_str();
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let known = found.entry(name.to_owned()).or_default();
        for path in paths(&code(text)) {
            let path = absolute(&own, &path);
            let other = path.strip_prefix(prefix.as_slice()).and_then(<[&str]>::first);
            if let Some(other) = other.filter(|it| **it != name && names.contains(*it)) {
                known.insert((*other).to_owned());
            }
        }
    }
    found
}

/// True if `from` imports `to`, by itself or through others.
fn reaches(imports: &Imports, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        let next = imports.get(module).into_iter().flatten().map(String::as_str);
        for next in next.filter(|it| seen.insert(*it)).collect::<Vec<_>>() {
            open.push(next);
        }
    }
    seen.contains(to)
}

/// The imports that belong to a circle.
fn circles(imports: &Imports) -> Vec<String> {
    let arrows = imports.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    let closed = arrows.filter(|(from, to)| reaches(imports, to, from));
    closed.map(|(from, to)| format!("{from} -> {to}")).collect()
}

/// The folders of a crate's source that hold the file at `path`.
fn source_folders(path: &str) -> impl Iterator<Item = &str> {
    let source = path.find("/src/").map_or(path.len(), |at| at + 1);
    let ends = path.char_indices().filter(move |it| it.0 > source && it.1 == '/').map(|it| it.0);
    ends.map(|at| &path[..at])
}

#[test]
fn modules_import_in_one_direction() {
    let files = all_files();
    let folders: BTreeSet<&str> = files.iter().flat_map(|it| source_folders(&it.0)).collect();
    let found = folders.iter().map(|folder| (folder, circles(&imports(folder, &files))));
    let found = found.filter(|it| !it.1.is_empty());
    none(
        found
            .map(|(folder, arrows)| format!("{folder}: imports in a circle: {}", arrows.join(", ")))
            .collect(),
    );
}

#[test]
fn folders_hold_few_files() {
    let files = all_files();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in files.iter().filter_map(|it| source_folders(&it.0).last()) {
        *counts.entry(folder).or_default() += 1;
    }
    let crowded = counts.into_iter().filter(|it| it.1 > FOLDER_FILES_MAX);
    none(
        crowded
            .map(|(folder, count)| format!("{folder}: {count} files, at most {FOLDER_FILES_MAX}"))
            .collect(),
    );
}

#[test]
fn a_name_means_one_type_in_its_crate() {
    let files = all_files();
    let mut complaints = Vec::new();
    for folder in UNIQUE_NAMES {
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        // Tests quote SDL, whose types are none of Rust's.
        let is_code = |path: &str| path.starts_with(folder) && !path.ends_with("/tests.rs");
        let files = files.iter().filter(|it| is_code(&it.0));
        // A feature chooses between `absent.rs` and the module that it stands in for.
        let (stand_ins, modules): (Vec<_>, Vec<_>) = files.partition(|it| it.0.ends_with("/absent.rs"));
        for (path, text) in modules {
            for name in text.lines().filter_map(declared_type) {
                if let Some(other) = known.insert(name, path) {
                    complaints.push(format!("{path}: {other} has a type `{name}` too"));
                }
            }
        }
        for (path, text) in stand_ins {
            let unknown = text.lines().filter_map(declared_type).filter(|name| !known.contains_key(name));
            complaints.extend(unknown.map(|name| format!("{path}: no other module has a type `{name}`")));
        }
    }
    none(complaints);
}

/// The name of the struct, enum, trait or alias that `line` declares. Aliases inside of an `impl` or a function are indented
/// and do not count.
fn declared_type(line: &str) -> Option<&str> {
    let is_indented = line.starts_with(' ');
    let line = line.trim_start();
    let scope = line.strip_prefix("pub(").and_then(|it| it.split_once(')'));
    let rest = scope.map_or_else(|| line.strip_prefix("pub").unwrap_or(line), |it| it.1);
    let mut words = rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|it| !it.is_empty());
    let declares = match words.next()? {
        "struct" | "enum" | "trait" => true,
        "type" => !is_indented && line.contains(" = "),
        _ => false,
    };
    words.next().filter(|_| declares && !line.starts_with("//"))
}

#[test]
fn a_circle_is_found_through_trees_inline_paths_and_others() {
    let file = |path: &str, text: &str| (format!("crates/x/src/{path}"), text.to_owned());
    let files = [
        file("lib.rs", "mod a;\nmod b;\nmod c;\nuse crate::a::A;"),
        file("a/mod.rs", "pub(crate) use crate::{c, b::{self, B}};"),
        file("b.rs", "// crate::a\nfn f() { super::c::g(1); }"),
        file("b/tests.rs", "use crate::d::D;"),
        file("d.rs", "use crate::b::B;"),
        file(
            "c/d.rs",
            "use super::e;\nfn g() -> super::super::a::A { a }\n#[cfg(test)]\nmod tests { use crate::b; }",
        ),
    ];
    let expected = ["a -> b", "a -> c", "b -> c", "c -> a"];
    assert_eq!(circles(&imports("crates/x/src", &files)), expected);
    assert_eq!(circles(&imports("crates/x/src/c", &files)), Vec::<String>::new());
}
