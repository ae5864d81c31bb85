//! The documentation of the library: each type, function and macro that its users name has an example, or names one that has.
//! Methods are shown by the example of their type.

use crate::rules::{all_files, none};
use std::collections::BTreeSet;

const FOLDER: &str = "crates/runtime/src/";

/// Words that name the item whose example is meant: `` [`batch`] has an example. ``
const ELSEWHERE: &str = " has an example.";

/// An item and its documentation.
struct Documented<'t> {
    name: &'t str,
    documentation: String,
    /// True if it may be named from outside of its module.
    is_public: bool,
    /// True if it is a method or an associated function.
    is_method: bool,
    /// Macros stand at the root of the crate, wherever they are written.
    is_macro: bool,
}

/// The name of the item that `line` declares, and whether it is public.
fn declared<'t>(line: &'t str, attributes: &str) -> Option<(&'t str, bool)> {
    let (rest, is_public) = match line.trim_start().strip_prefix("macro_rules! ") {
        Some(name) => (name, attributes.contains("macro_export")),
        None => {
            let rest = line.trim_start().strip_prefix("pub ")?;
            let rest = rest.strip_prefix("async ").unwrap_or(rest);
            let kinds = ["struct ", "enum ", "trait ", "fn "];
            (kinds.iter().find_map(|it| rest.strip_prefix(it))?, true)
        }
    };
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some((name, is_public && !attributes.contains("doc(hidden)")))
}

/// The items of a file.
fn list_documented(text: &str) -> Vec<Documented<'_>> {
    let mut found = Vec::new();
    let mut documentation = String::new();
    let mut attributes = String::new();
    let mut is_in_attribute = false;
    for line in text.lines() {
        let start = line.trim_start();
        if let Some(words) = start.strip_prefix("///") {
            documentation.push_str(words);
            documentation.push('\n');
        } else if is_in_attribute || start.starts_with("#[") {
            attributes.push_str(start);
            is_in_attribute = !start.ends_with(']');
        } else {
            let documentation = std::mem::take(&mut documentation);
            let attributes = std::mem::take(&mut attributes);
            if let Some((name, is_public)) = declared(line, &attributes) {
                let is_method = line.starts_with(' ');
                let is_macro = line.starts_with("macro_rules!");
                found.push(Documented { name, documentation, is_public, is_method, is_macro });
            }
        }
    }
    found
}

/// The names that `lib.rs` offers: those of `pub use` but for hidden ones.
fn list_offered(lib: &str) -> BTreeSet<&str> {
    let before_macros = lib.split("pub mod macros").next().unwrap_or_default();
    let statements = before_macros.split(';').filter(|it| !it.contains("#[doc(hidden)]"));
    let trees = statements.filter_map(|it| it.split("pub use ").nth(1));
    trees.flat_map(|it| it.split(|c: char| !c.is_alphanumeric() && c != '_')).collect()
}

/// The name of the item to whose example `documentation` leads.
fn elsewhere(documentation: &str) -> Option<&str> {
    let before = documentation.split(ELSEWHERE).next().filter(|it| it.len() < documentation.len())?;
    let link = before.rsplit("[`").next()?.split("`]").next()?;
    link.rsplit("::").next().map(|it| it.trim_end_matches(['!', '(', ')']))
}

#[test]
fn what_users_of_the_library_name_has_an_example() {
    let files = all_files();
    let files: Vec<_> = files.iter().filter(|it| it.0.starts_with(FOLDER)).collect();
    let lib = files.iter().find(|it| it.0.ends_with("/lib.rs")).expect("the library has a root");
    let offered = list_offered(&lib.1);
    let items: Vec<_> =
        files.iter().flat_map(|it| list_documented(&it.1).into_iter().map(|item| (&it.0, item))).collect();
    let shown = |it: &Documented<'_>| it.documentation.contains("```");
    let examples: BTreeSet<&str> = items.iter().filter(|it| shown(&it.1)).map(|it| it.1.name).collect();
    let mut complaints = Vec::new();
    for (path, item) in &items {
        // These modules are public themselves.
        let is_open = ["http/", "relay"].iter().any(|it| path[FOLDER.len()..].starts_with(it));
        let is_named = is_open || item.is_macro || offered.contains(item.name);
        if item.is_method || !item.is_public || !is_named || shown(item) {
            continue;
        }
        match elsewhere(&item.documentation) {
            None => complaints.push(format!("{path}: `{}` has no example", item.name)),
            Some(other) if !examples.contains(other) => {
                complaints.push(format!("{path}: `{}` leads to `{other}`, which has no example", item.name));
            }
            Some(_) => {}
        }
    }
    none(complaints);
}

#[test]
fn an_item_without_an_example_is_found() {
    let text = "/// A.\n/// ```\n/// a();\n/// ```\n#[must_use]\npub fn a() {}\n/// [`a()`] has an example.\npub struct B;\n\
                /// C.\n#[doc(hidden)]\n#[a(\n  b\n)]\npub trait C {}\n    /// D.\n    pub async fn d() {}\n/// E.\n#[macro_export]\nmacro_rules! e {";
    let found = list_documented(text);
    let all: Vec<_> = found.iter().map(|it| (it.name, it.is_public, it.is_method)).collect();
    let expected =
        [("a", true, false), ("B", true, false), ("C", false, false), ("d", true, true), ("e", true, false)];
    assert_eq!(all, expected);
    assert_eq!(elsewhere(&found[1].documentation), Some("a"));
    assert_eq!(elsewhere(&found[4].documentation), None);
    let lib = "pub use a::{A, B};\n#[doc(hidden)]\npub use c::D;\npub mod macros { pub use e::E; }";
    assert_eq!(list_offered(lib).into_iter().filter(|it| it.len() == 1).collect::<Vec<_>>(), ["A", "B", "a"]);
}
