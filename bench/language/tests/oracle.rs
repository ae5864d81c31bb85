//! Holds the language crate against apollo-compiler on its corpora and on random documents.
//!
//! Where apollo-compiler's verdict is another, the `disagreements.md` beside a corpus argues why, and only there. `make test` runs
//! this; it stands here because apollo-compiler brings forty packages.

#[path = "../../../crates/language/tests/verdict_kit/mod.rs"]
mod verdict_kit;

use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema as TheirSchema};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use verdict_kit::corpus::{Case, documents, type_systems};
use verdict_kit::typed;
use weir_language::limits::Limits;
use weir_language::parser::parse;
use weir_language::schema::Schema;
use weir_language::validate::{Options, validate};

const OPTIONS: Options =
    Options { limits: Limits::NONE, suggestions: true, edition_2026: false, subscriptions_beside: false };

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/language/tests")
}

/// The cases that are argued and the reason below their list.
fn argued(corpus: &str) -> BTreeMap<String, String> {
    let mut argued = BTreeMap::new();
    let text = std::fs::read_to_string(tests().join(corpus).join("disagreements.md")).expect("it is there");
    for section in text.split("\n## ").skip(1) {
        let (names, reason): (Vec<&str>, Vec<&str>) =
            section.lines().skip(1).partition(|it| it.starts_with("- "));
        for name in names {
            let name = name.trim_start_matches("- ").trim_matches('`').to_owned();
            assert!(argued.insert(name.clone(), reason.concat()).is_none(), "{name} is argued twice");
        }
    }
    argued
}

/// Compares the verdict of a corpus with theirs; what is argued is taken out of `argued`.
fn complain(
    case: &Case,
    theirs: Result<(), String>,
    argued: &mut BTreeMap<String, String>,
) -> Option<String> {
    let Case { name, is_valid, text, .. } = case;
    match (theirs.is_ok() == *is_valid, argued.remove(name)) {
        (true, None) => None,
        (true, Some(_)) => Some(format!("{name}: argued, but there is no disagreement")),
        (false, Some(reason)) if !reason.trim().is_empty() => None,
        (false, _) => Some(format!("{name}: apollo-compiler disagrees\n{text}{theirs:?}")),
    }
}

fn hold(complaints: Vec<String>, argued: BTreeMap<String, String>) {
    let unknown = argued.keys().map(|name| format!("{name}: argued, but not in the corpus"));
    let complaints: Vec<String> = complaints.into_iter().chain(unknown).collect();
    assert!(complaints.is_empty(), "{} complaints\n{}", complaints.len(), complaints.join("\n"));
}

/// apollo-compiler 1.33 does not know OneOf input objects.
fn their_schema(sdl: &str) -> Valid<TheirSchema> {
    let sdl = format!("directive @oneOf on INPUT_OBJECT\n{sdl}");
    TheirSchema::parse_and_validate(sdl, "schema.graphql").expect("a schema")
}

fn their_verdict(schema: &Valid<TheirSchema>, text: &str) -> Result<(), String> {
    let verdict = ExecutableDocument::parse_and_validate(schema, text, "q.graphql");
    verdict.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn verdicts_of_documents_are_those_of_apollo_compiler_unless_argued() {
    let mut argued = argued("corpus");
    let mut complaints = Vec::new();
    for folder in documents(&tests()) {
        let schema = their_schema(&folder.sdl);
        for case in &folder.cases {
            complaints.extend(complain(case, their_verdict(&schema, &case.text), &mut argued));
        }
    }
    hold(complaints, argued);
}

#[test]
fn verdicts_of_type_systems_are_those_of_apollo_compiler_unless_argued() {
    let mut argued = argued("sdl");
    let mut complaints = Vec::new();
    for case in type_systems(&tests()) {
        let theirs = TheirSchema::parse_and_validate(case.text.as_str(), "schema.graphql");
        let theirs = theirs.map(|_| ()).map_err(|error| error.to_string());
        complaints.extend(complain(&case, theirs, &mut argued));
    }
    hold(complaints, argued);
}

/// The schema of the random documents, theirs and ours.
fn schemas() -> &'static (Valid<TheirSchema>, Schema) {
    static SCHEMAS: OnceLock<(Valid<TheirSchema>, Schema)> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let sdl = include_str!("../../../crates/language/tests/corpus/music/schema.graphql");
        (their_schema(sdl), Schema::from_sdl(sdl).expect("the schema is sound"))
    })
}

/// Our errors, none if `text` is valid.
fn our_messages(text: &str) -> Vec<String> {
    let errors = match parse(text, &Limits::NONE) {
        Err(error) => vec![error],
        Ok(document) => validate(&schemas().1, &document, &OPTIONS).err().unwrap_or_default(),
    };
    errors.into_iter().map(|error| error.message).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_of_random_documents_are_those_of_apollo_compiler(choices in proptest::collection::vec(any::<u16>(), 0..1_500)) {
        let text = typed::document(&schemas().1, &choices);
        let ours = our_messages(&text);
        let theirs = their_verdict(&schemas().0, &text);
        prop_assert_eq!(ours.is_empty(), theirs.is_ok(), "{}\nours: {:?}\ntheirs: {:?}", text, ours, theirs);
    }
}
