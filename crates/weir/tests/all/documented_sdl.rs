//! Every text of GraphQL in the documentation is one that Weir takes as it stands: files of services and types for a store are loaded,
//! operations parsed.

use crate::support::Folder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use weir_engine::tag_versions::TagVersions;
use weir_http::cache::{Cache, CacheSettings, Clock};
use weir_http::source::{Options, is_services, open};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_native::layout::Database;
use weir_native::store::Types;

/// First words of documents of clients.
const OPERATIONS: [&str; 4] = ["query", "mutation", "subscription", "{"];
/// First line of a text of another product's.
const OTHERS: &str = "# before";
/// First line of the types of a project's actions.
const ACTIONS: &str = "# metadata/actions.graphql";

/// Files in Markdown below `folder`.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("it is a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
}

/// The texts of a page that are said to be GraphQL, each with its place.
fn texts(page: &Path) -> Vec<(String, String)> {
    let all = std::fs::read_to_string(page).expect("it is a text");
    let mut found = Vec::new();
    let mut open = None;
    for (at, line) in all.lines().enumerate() {
        match &mut open {
            None if line == "```graphql" => {
                open = Some((format!("{}:{}", page.display(), at + 2), String::new()));
            }
            Some(_) if line == "```" => found.extend(open.take()),
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    found
}

/// Opens a file of services, as a server does before it asks anything.
fn load_services(place: &str, text: &str) {
    let settings = CacheSettings {
        bytes_max: 1 << 20,
        clock: Clock::system(),
        remote: None,
        changes: Arc::new(TagVersions::default()),
    };
    let options = Options {
        name: "s",
        cache: Arc::new(Cache::new(settings).expect("it needs no thread")),
        config: &BTreeMap::new(),
        env: &|_| Some("value".into()),
        env_allowed: None,
        services: &BTreeMap::new(),
        ca: None,
        embedding: None,
    };
    let opened = open(text, place, &options).unwrap_or_else(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", lines.join("\n"))
    });
    assert!(opened.servers(place).is_ok(), "{place}");
}

/// Reads the types of actions, with the entries that the page shows before them.
fn load_actions(place: &str, text: &str) {
    let page = place.rsplit_once(':').expect("a place has a line").0;
    let page = std::fs::read_to_string(page).expect("it is a text");
    let entries =
        page.split("```yaml\n").nth(1).and_then(|it| it.split("```").next()).expect("it has entries");
    let folder = Folder::new();
    folder.write("version.yaml", "version: 3\n");
    let source = "- {name: default, kind: sqlite, configuration: {connection_info: {database_url: a.db}}, tables: []}\n";
    std::fs::create_dir(folder.file("databases")).expect("it can be made");
    folder.write("databases/databases.yaml", source);
    folder.write("actions.yaml", entries);
    folder.write("actions.graphql", text);
    let loaded =
        weir_metadata::read::path(&folder.file("")).unwrap_or_else(|faults| panic!("{place}: {faults:?}"));
    assert!(loaded.left_out.is_empty() && loaded.broken.is_empty(), "{place}: {loaded:?}");
    assert_eq!(loaded.document.actions.len(), 1, "{place}");
}

#[test]
fn every_text_of_graphql_in_the_documentation_is_loaded() {
    let mut all = Vec::new();
    pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs"), &mut all);
    let mut counts = [0; 3];
    for (place, text) in all.iter().flat_map(|it| texts(it)) {
        let is_comment = |it: &&str| it.starts_with('#') || it.trim().is_empty();
        let first = text.lines().find(|it| !is_comment(it)).and_then(|it| it.split([' ', '(']).next());
        // Directives of the library are read by its own tests.
        if text.starts_with(OTHERS) || text.contains("@validate(") {
            continue;
        }
        if text.starts_with(ACTIONS) {
            load_actions(&place, &text);
        } else if first.is_some_and(|it| OPERATIONS.contains(&it)) {
            parser::parse(&text, &Limits::STANDARD).unwrap_or_else(|error| panic!("{place}: {error:?}"));
            counts[0] += 1;
        } else if is_services(&text) {
            load_services(&place, &text);
            counts[1] += 1;
        } else {
            Types::read(&text, Database::Sqlite).unwrap_or_else(|errors| panic!("{place}: {errors:?}"));
            counts[2] += 1;
        }
    }
    assert!(counts.iter().all(|it| *it >= 3), "{counts:?}");
}
