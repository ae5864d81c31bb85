//! The corpora of documents and of type systems, with our verdict of each.
//!
//! `tests/corpus/<name>/schema.graphql` is a schema, the other files beside it hold documents for it, each after a line
//! `#: valid: <name>` or `#: invalid: <name>` and a line `#! <line>:<column> … <message>` for each error.
//! `tests/sdl/corpus.graphql` holds type systems after lines of the same form.

use std::fs;
use std::path::{Path, PathBuf};

/// A schema and the documents for it.
pub(crate) struct Folder {
    pub(crate) sdl: String,
    pub(crate) cases: Vec<Case>,
}

/// One document of a corpus.
pub(crate) struct Case {
    /// `music/merging: the same field twice`.
    pub(crate) name: String,
    pub(crate) is_valid: bool,
    /// Places and message of each error; none are written for type systems.
    pub(crate) errors: Vec<String>,
    pub(crate) text: String,
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The documents of one file; `prefix` begins their names.
fn cases(prefix: &str, path: &Path) -> Vec<Case> {
    let text = read(path);
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let head = line.strip_prefix("#: ").and_then(|head| head.split_once(": "));
        match (head, cases.last_mut()) {
            (Some((verdict, name)), _) => {
                assert!(matches!(verdict, "valid" | "invalid"), "{}: {line}", path.display());
                let name = format!("{prefix}{name}");
                let is_valid = verdict == "valid";
                cases.push(Case { name, is_valid, errors: Vec::new(), text: String::new() });
            }
            (None, Some(case)) if line.starts_with("#! ") => case.errors.push(line[3..].to_owned()),
            (None, Some(case)) => {
                case.text.push_str(line);
                case.text.push('\n');
            }
            (None, None) => {}
        }
    }
    cases
}

/// The corpus of documents; `tests` is the folder of the tests of this crate.
pub(crate) fn documents(tests: &Path) -> Vec<Folder> {
    let folders = sorted(&tests.join("corpus")).into_iter().filter(|path| path.is_dir());
    let read_folder = |path: PathBuf| {
        let folder = path.file_name().expect("a name").to_string_lossy().into_owned();
        let files = sorted(&path).into_iter().filter(|path| !path.ends_with("schema.graphql"));
        let cases = files.flat_map(|path| {
            let file = path.file_stem().expect("a file has a name").to_string_lossy();
            cases(&format!("{folder}/{file}: "), &path)
        });
        Folder { sdl: read(&path.join("schema.graphql")), cases: cases.collect() }
    };
    folders.map(read_folder).collect()
}

/// The corpus of type systems.
pub(crate) fn type_systems(tests: &Path) -> Vec<Case> {
    let mut cases = cases("", &tests.join("sdl/corpus.graphql"));
    for Case { text, .. } in &mut cases {
        if !text.contains("Query {") && !text.contains("NoQuery") && !text.contains("query: Q") {
            text.insert_str(0, "type Query { q: Int }\n");
        }
    }
    cases
}
