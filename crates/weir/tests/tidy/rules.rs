//! The house rules that a machine can check: which crate may know which, headers, lengths, where `unsafe` may stand.
//!
//! Reads the source as rustfmt leaves it, so a function ends at the first line that is its indentation and `}`.

use crate::root;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 60;

/// Allowed dependencies of each crate on other crates of the workspace; without cycles.
const DIRECTIONS: &[(&str, &[&str])] = &[
    ("language", &[]),
    ("engine", &["weir-language"]),
    ("metadata", &["weir-language"]),
    ("relational", &[]),
    ("postgres", &["weir-relational"]),
    ("sqlite", &["weir-language", "weir-relational"]),
    ("database", &["weir-language", "weir-engine", "weir-relational", "weir-postgres", "weir-sqlite"]),
    (
        "hasura",
        &[
            "weir-language",
            "weir-engine",
            "weir-metadata",
            "weir-relational",
            "weir-postgres",
            "weir-sqlite",
            "weir-database",
        ],
    ),
    (
        "native",
        &["weir-language", "weir-engine", "weir-relational", "weir-postgres", "weir-sqlite", "weir-database"],
    ),
    ("http", &["weir-language", "weir-engine"]),
    ("kriti", &["weir-language"]),
    ("webhook", &["weir-language", "weir-engine", "weir-http", "weir-kriti", "weir-metadata"]),
    (
        "actions",
        &["weir-language", "weir-engine", "weir-http", "weir-kriti", "weir-metadata", "weir-webhook"],
    ),
    (
        "events",
        &[
            "weir-language",
            "weir-engine",
            "weir-metadata",
            "weir-relational",
            "weir-postgres",
            "weir-sqlite",
            "weir-database",
            "weir-webhook",
        ],
    ),
    ("derive", &[]),
    ("transport", &["weir-language", "weir-engine"]),
    ("runtime", &["weir-language", "weir-engine", "weir-derive", "weir-transport"]),
    ("python", &["weir-language", "weir-engine", "weir-runtime", "weir-transport"]),
    ("load", &[]),
    (
        "weir",
        &[
            "weir-language",
            "weir-engine",
            "weir-metadata",
            "weir-relational",
            "weir-postgres",
            "weir-sqlite",
            "weir-database",
            "weir-hasura",
            "weir-native",
            "weir-http",
            "weir-webhook",
            "weir-actions",
            "weir-events",
            "weir-transport",
            "weir-load",
        ],
    ),
];

/// The crates that may have one module with `unsafe` each. Kits of tests are not looked at.
const UNSAFE_ALLOWED: &[&str] = &["crates/language/src", "crates/engine/src"];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

pub(crate) fn all_files() -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    rust_files(&root.join("crates"), &mut found);
    found.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source file is text");
        (path.strip_prefix(&root).expect("below the root").display().to_string(), text)
    };
    found.into_iter().map(read).collect()
}

pub(crate) fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn crates_depend_in_one_direction() {
    let mut complaints = Vec::new();
    for (name, allowed) in DIRECTIONS {
        let manifest =
            fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).expect("a manifest");
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or("");
        let dependencies = dependencies.split("\n[").next().unwrap_or("");
        for line in dependencies.lines().filter(|line| line.starts_with("weir")) {
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or("");
            if !allowed.contains(&dependency) {
                complaints.push(format!("crates/{name} may not depend on {dependency}"));
            }
        }
    }
    none(complaints);
}

#[test]
fn every_file_begins_with_its_job_and_fits() {
    let mut complaints = Vec::new();
    for (path, text) in all_files() {
        if !text.starts_with("//! ") {
            complaints.push(format!("{path}: the first line is not a `//!` header"));
        }
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            complaints.push(format!("{path}: {lines} lines, at most {FILE_LINES_MAX}"));
        }
    }
    none(complaints);
}

/// Indentation of the function whose body begins after `line`; nothing if none does.
fn function_indentation(line: &str) -> Option<usize> {
    let rest = line.trim_start();
    let mut words = rest.split_whitespace();
    let qualifiers = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe"];
    let begins = words.by_ref().find(|word| !qualifiers.contains(word)) == Some("fn");
    (begins && !line.ends_with(';')).then_some(line.len() - rest.len())
}

#[test]
fn every_function_fits_on_a_screen() {
    let mut complaints = Vec::new();
    for (path, text) in all_files() {
        let lines: Vec<&str> = text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            let Some(indentation) = function_indentation(line) else { continue };
            let end = format!("{}}}", " ".repeat(indentation));
            let declared = |it: &&str| {
                it.trim_end().ends_with(';')
                    && it.starts_with(&" ".repeat(indentation))
                    && !it[indentation..].starts_with(' ')
            };
            let length =
                lines[start..].iter().position(|it| *it == end || declared(it)).map_or(1, |at| at + 1);
            if length > FUNCTION_LINES_MAX && !line.ends_with('}') {
                complaints
                    .push(format!("{path}:{}: {length} lines, at most {FUNCTION_LINES_MAX}", start + 1));
            }
        }
    }
    none(complaints);
}

#[test]
fn unsafe_stands_in_one_module_of_few_crates() {
    let mut complaints = Vec::new();
    let holders: Vec<String> = all_files()
        .into_iter()
        .filter(|(path, text)| path.contains("/src/") && text.contains("allow(unsafe_code)"))
        .map(|(path, _)| path)
        .collect();
    for path in &holders {
        let home = UNSAFE_ALLOWED.iter().find(|home| path.starts_with(*home));
        match home {
            None => complaints.push(format!("{path}: no `unsafe` in this crate")),
            Some(home) if holders.iter().filter(|it| it.starts_with(home)).count() > 1 => {
                complaints.push(format!("{path}: one module with `unsafe` per crate"));
            }
            Some(_) => {}
        }
    }
    none(complaints);
}

/// Lines of `native` that may name a database, by file: where a store's address chooses the driver, and the drivers. Fewer are
/// welcome.
const DATABASES_NAMED: &[(&str, usize)] = &[
    ("crates/native/src/store/database.rs", 16),
    ("crates/native/src/store/database/postgres.rs", 9),
    ("crates/native/src/store/database/sqlite.rs", 40),
];

#[test]
fn native_names_databases_only_where_it_opens_them() {
    let mut complaints = Vec::new();
    for (path, text) in all_files() {
        if !path.starts_with("crates/native/src/") || path.contains("/tests") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_ascii_lowercase();
        let names = |line: &&str| line.contains("sqlite") || line.contains("postgres");
        let found = code.lines().filter(names).count();
        let max = DATABASES_NAMED.iter().find(|it| it.0 == path).map_or(0, |it| it.1);
        if found > max {
            complaints.push(format!("{path}: {found} lines name a database, at most {max}"));
        }
    }
    none(complaints);
}

/// The files in which the admin, or a caller with permissions of backends, may be made: authentication, and the type itself.
const ADMIN_MADE: [&str; 2] = ["crates/weir/src/session/", "crates/engine/src/caller.rs"];

#[test]
fn only_authentication_makes_an_admin() {
    let marks = ["Identity::admin(", "is_backend: true", " Identity {", "(Identity {"];
    let mut complaints = Vec::new();
    for (path, text) in all_files() {
        let is_test = ["/tests/", "/tests.rs", "/benches/", "/examples/"].iter().any(|it| path.contains(it));
        if is_test || ADMIN_MADE.iter().any(|it| path.starts_with(it)) {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (at, line) in code.lines().enumerate() {
            let is_pattern = line.contains("let Identity {") || line.contains("-> Identity {");
            let is_other = !path.starts_with("crates/weir/") && line.contains("Identity {");
            if marks.iter().any(|mark| line.contains(mark)) && !is_pattern && !is_other {
                complaints.push(format!("{path}:{}: only `weir/src/session` makes callers", at + 1));
            }
        }
    }
    none(complaints);
}

/// The places that ask an engine: that of the server, that of agents of this machine, which both hold the allow list, and that of
/// programs, which are the admin.
const EXECUTED: [&str; 3] = [
    "crates/weir/src/server/graphql/execute.rs",
    "crates/weir/src/cli/serve/stdio.rs",
    "crates/weir/src/facade.rs",
];

#[test]
fn every_request_passes_the_allow_list() {
    let mut complaints = Vec::new();
    for (path, text) in all_files().into_iter().filter(|it| it.0.starts_with("crates/weir/src/")) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if !EXECUTED.contains(&path.as_str()) && code.contains("engine.execute(") {
            complaints.push(format!("{path}: requests are executed in {}", EXECUTED[0]));
        }
    }
    none(complaints);
}

#[test]
fn nothing_is_left_for_later() {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("#[ig", "nore"), concat!("todo", "!(")];
    let mut complaints = Vec::new();
    for (path, text) in all_files() {
        for (at, line) in text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark)) {
                complaints.push(format!("{path}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    none(complaints);
}

/// True if the file is a kit: a module of several test binaries, of which each uses a part. One that a single binary has lies
/// below that binary's `main.rs`, and the compiler sees all of its uses.
fn is_kit(path: &str) -> bool {
    let folder = path.split_once("/tests/").and_then(|it| it.1.strip_suffix("/mod.rs"));
    folder.is_some_and(|it| it == "support" || it == "kit" || it.ends_with("_kit"))
}

/// Only a kit may hold what its binary does not use, because the compiler sees one binary at a time; what a kit offers has to
/// be used by some test.
#[test]
fn no_code_is_dead_and_kits_are_used() {
    let mark = concat!("dead", "_code");
    let files = all_files();
    let mut complaints = Vec::new();
    for (path, text) in &files {
        let allowed = text.lines().filter(|line| line.contains("allow(") && line.contains(mark)).count();
        if allowed > usize::from(is_kit(path)) {
            complaints.push(format!("{path}: dead code is deleted, not allowed"));
        }
    }
    // Tests of one crate may have a kit of another.
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for (_, text) in files.iter().filter(|it| it.0.contains("/tests/")) {
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
            *uses.entry(word).or_default() += 1;
        }
    }
    for (kit, _) in files.iter().filter(|(path, _)| is_kit(path)) {
        let folder = kit.trim_end_matches("mod.rs");
        for (path, text) in files.iter().filter(|it| it.0.starts_with(folder)) {
            for name in text.lines().filter_map(offered_name).filter(|name| uses[name] < 2) {
                complaints.push(format!("{path}: no test uses `{name}`"));
            }
        }
    }
    none(complaints);
}

/// The name of the public function, type or constant that `line` begins.
fn offered_name(line: &str) -> Option<&str> {
    let mut words = line.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_');
    let kinds = ["fn", "struct", "enum", "const", "static", "type", "async", "mod", "crate", "super"];
    (words.next()? == "pub").then_some(())?;
    words.find(|word| !word.is_empty() && !kinds.contains(word))
}
