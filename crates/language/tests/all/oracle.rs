//! Holds the validator against apollo-compiler on a corpus of documents.
//!
//! `tests/corpus/<name>/schema.graphql` is a schema, the other files beside it hold documents for it, each after a line
//! `#: valid: <name>` or `#: invalid: <name>` and a line `#! <line>:<column> … <message>` for each error. Our errors must be
//! those of the file. Where apollo-compiler's verdict is another, `tests/corpus/disagreements.md` argues why, and only there.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::validation::Valid;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use weir_language::error::Error;
use weir_language::limits::Limits;
use weir_language::parser::parse;
use weir_language::schema::Schema;
use weir_language::validate::{Options, validate};

const OPTIONS: Options =
    Options { limits: Limits::NONE, suggestions: true, edition_2026: false, subscriptions_beside: false };

/// One document of the corpus.
struct Case {
    /// `music/merging: the same field twice`.
    name: String,
    is_valid: bool,
    /// Places and message.
    errors: Vec<String>,
    text: String,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
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

/// The documents of one file.
fn cases(folder: &str, path: &Path) -> Vec<Case> {
    let file = path.file_stem().expect("a file has a name").to_string_lossy();
    let text = read(path);
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let head = line.strip_prefix("#: ").and_then(|head| head.split_once(": "));
        match (head, cases.last_mut()) {
            (Some((verdict, name)), _) => {
                assert!(matches!(verdict, "valid" | "invalid"), "{}: {line}", path.display());
                let name = format!("{folder}/{file}: {name}");
                cases.push(Case {
                    name,
                    is_valid: verdict == "valid",
                    errors: Vec::new(),
                    text: String::new(),
                });
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

/// Weir's errors: places and message of each, none if the document is valid.
fn ours(schema: &Schema, text: &str) -> Vec<String> {
    let errors = match parse(text, &Limits::NONE) {
        Err(error) => vec![error],
        Ok(document) => validate(schema, &document, &OPTIONS).err().unwrap_or_default(),
    };
    let line = |error: &Error| {
        let places = error.locations(text);
        let places: String = places.iter().map(|at| format!("{}:{} ", at.line, at.column)).collect();
        places + &error.message
    };
    errors.iter().map(line).collect()
}

/// The disagreements that are argued: `## <case>` and below it the reason.
fn argued() -> BTreeMap<String, String> {
    let mut argued: BTreeMap<String, String> = BTreeMap::new();
    let text = read(&corpus().join("disagreements.md"));
    let mut names: Vec<String> = Vec::new();
    let mut is_list = false;
    for line in text.lines() {
        if let Some(reason) = line.strip_prefix("## ") {
            names.clear();
            is_list = true;
            assert!(!reason.is_empty());
        } else if let (true, Some(name)) = (is_list, line.strip_prefix("- ")) {
            let name = name.trim_matches('`').to_owned();
            assert!(argued.insert(name.clone(), String::new()).is_none(), "{name} is argued twice");
            names.push(name);
        } else {
            for name in &names {
                argued.get_mut(name).expect("just put in").push_str(line);
            }
        }
    }
    argued
}

/// Holds one case against ours and theirs; `reason` is why they may differ.
fn judge(
    case: &Case,
    schema: &Schema,
    theirs: &Valid<apollo_compiler::Schema>,
    reason: Option<String>,
) -> Vec<String> {
    let Case { name, is_valid, errors, text } = case;
    let mut complaints = Vec::new();
    let found = ours(schema, text);
    if *is_valid != errors.is_empty() || found != *errors {
        complaints.push(format!("{name}\n{text}expected {errors:#?}\nfound {found:#?}"));
    }
    let apollo =
        ExecutableDocument::parse_and_validate(theirs, text, "q.graphql").map_err(|error| error.to_string());
    match (apollo.is_ok() == found.is_empty(), reason) {
        (true, None) => {}
        (true, Some(_)) => complaints.push(format!("{name}: argued, but there is no disagreement")),
        (false, Some(reason)) if !reason.trim().is_empty() => {}
        (false, _) => complaints.push(format!("{name}: apollo-compiler disagrees\n{text}{:?}", apollo.err())),
    }
    complaints
}

#[test]
fn errors_are_those_of_the_corpus_and_verdicts_those_of_apollo_compiler_unless_argued() {
    let mut argued = argued();
    let mut complaints = Vec::new();
    let mut count = 0;
    let mut valid = 0;
    for folder in sorted(&corpus()).iter().filter(|path| path.is_dir()) {
        let sdl = read(&folder.join("schema.graphql"));
        let schema = Schema::from_sdl(&sdl).expect("a schema");
        // apollo-compiler 1.33 does not know OneOf input objects.
        let theirs = format!("directive @oneOf on INPUT_OBJECT\n{sdl}");
        let theirs = apollo_compiler::Schema::parse_and_validate(theirs, "schema.graphql").expect("a schema");
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        for file in sorted(folder).iter().filter(|path| !path.ends_with("schema.graphql")) {
            for case in cases(&name, file) {
                count += 1;
                valid += usize::from(case.is_valid);
                let reason = argued.remove(&case.name);
                complaints.extend(judge(&case, &schema, &theirs, reason));
            }
        }
    }
    complaints.extend(argued.keys().map(|name| format!("{name}: argued, but not in the corpus")));
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
    assert!(count >= 400 && valid >= 100, "{count} documents, {valid} of them valid");
}
