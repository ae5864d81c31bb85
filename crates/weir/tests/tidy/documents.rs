//! The Markdown of the repository: links lead somewhere, pages have a length that is read to its end, and a sentence has a line.

use crate::root;
use crate::rules::none;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Words of a page of the manual, of the page on the architecture, and of a line of the change log.
const PAGE_MAX: usize = 2_500;
const ARCHITECTURE_MAX: usize = 3_000;
const CHANGE_MAX: usize = 25;

/// Folders with Markdown of ours.
const FOLDERS: &[&str] = &["docs", "examples", "findings"];

fn collect_markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository can be read") {
        let path = entry.expect("an entry can be read").path();
        let is_installed = path.file_name().is_some_and(|it| it == "node_modules" || it == "target");
        if path.is_dir() && !is_installed {
            collect_markdown(&path, found);
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
}

/// Path below the root and text of each page.
fn read_pages() -> BTreeMap<PathBuf, String> {
    let root = root();
    let mut found = Vec::new();
    FOLDERS.iter().for_each(|it| collect_markdown(&root.join(it), &mut found));
    let entries = fs::read_dir(&root).expect("the root can be read");
    let files = entries.map(|it| it.expect("an entry can be read").path());
    found.extend(files.filter(|it| it.extension().is_some_and(|it| it == "md")));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a page is text");
        (path.strip_prefix(&root).expect("below the root").to_owned(), text)
    };
    found.into_iter().map(read).collect()
}

/// The lines of `text` that are no code, with their numbers.
fn list_prose(text: &str) -> Vec<(usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        match fence {
            Some(end) => fence = (!start.starts_with(end)).then_some(end),
            None if start.starts_with("```") => fence = Some("```"),
            None => found.push((at + 1, line)),
        }
    }
    found
}

/// The anchor of a heading.
fn derive_anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).map(|it| if it == ' ' { '-' } else { it }).collect()
}

fn collect_anchors(text: &str) -> BTreeSet<String> {
    let headings = list_prose(text).into_iter().filter_map(|(_, line)| {
        let heading = line.trim_start_matches('#');
        (heading.len() < line.len()).then(|| derive_anchor(heading))
    });
    headings.collect()
}

/// The targets of the links of a line that lead to files of the repository or to places in the page.
fn find_links(line: &str) -> Vec<&str> {
    let targets = line.split("](").skip(1).filter_map(|it| it.split(')').next());
    targets.filter(|it| !it.contains(' ') && !it.contains("://") && !it.is_empty()).collect()
}

/// `path` without `.` and `..`.
fn normalise_path(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => found.push(part),
        }
    }
    found
}

#[test]
fn links_lead_to_files_and_headings() {
    let pages = read_pages();
    let mut complaints = Vec::new();
    for (page, text) in &pages {
        for (at, line) in list_prose(text) {
            for link in find_links(line) {
                let (path, place) = link.split_once('#').unwrap_or((link, ""));
                let folder = page.parent().unwrap_or(Path::new(""));
                let target = if path.is_empty() { page.clone() } else { normalise_path(&folder.join(path)) };
                let is_there = root().join(&target).exists();
                let has_place = || pages.get(&target).is_none_or(|it| collect_anchors(it).contains(place));
                if !is_there || !place.is_empty() && !has_place() {
                    complaints.push(format!("{}:{at}: nothing is at {link}", page.display()));
                }
            }
        }
    }
    none(complaints);
}

#[test]
fn pages_have_a_length_that_is_read_to_its_end() {
    let mut complaints = Vec::new();
    for (page, text) in read_pages() {
        let words = text.split_whitespace().count();
        let most = match page.to_str() {
            Some("ARCHITECTURE.md") => ARCHITECTURE_MAX,
            // It grows with each release; its lines are short instead.
            Some("CHANGELOG.md") => usize::MAX,
            Some(_) | None => PAGE_MAX,
        };
        if words > most {
            complaints.push(format!("{}: {words} words, at most {most}", page.display()));
        }
    }
    none(complaints);
}

#[test]
fn a_line_of_the_change_log_is_short() {
    let pages = read_pages();
    let text = &pages[Path::new("CHANGELOG.md")];
    let lines = list_prose(text).into_iter().filter_map(|(at, line)| Some((at, line.strip_prefix("- ")?)));
    let long = lines.filter(|it| it.1.split_whitespace().count() > CHANGE_MAX);
    none(long.map(|(at, line)| format!("CHANGELOG.md:{at}: {line}")).collect());
}

/// True if a full stop behind `letter` ends a sentence: behind digits it may be that of a list, behind capitals that of a name.
fn ends_sentence(letter: char) -> bool {
    letter.is_lowercase() || matches!(letter, ')' | '`')
}

/// True if a sentence ends within `line`: a full stop, and a capital letter behind it, outside of code, brackets and quotes.
fn has_two_sentences(line: &str) -> bool {
    let mut depth = 0_i32;
    let mut is_quote = false;
    let mut is_code = false;
    // Code between double marks may hold single ones.
    let outside: Vec<&str> = line.split("``").step_by(2).collect();
    let letters: Vec<char> = outside.join("`code`").chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        match letter {
            '`' => is_code = !is_code,
            _ if is_code => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '"' => is_quote = !is_quote,
            '.' if depth == 0 && !is_quote && at > 0 && ends_sentence(letters[at - 1]) => {
                let next = (letters.get(at + 1), letters.get(at + 2));
                if matches!(next, (Some(' '), Some(it)) if it.is_uppercase()) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[test]
fn a_sentence_has_a_line() {
    let mut complaints = Vec::new();
    for (page, text) in read_pages() {
        // A licence of others.
        if page.ends_with("LICENSE.md") {
            continue;
        }
        for (at, line) in list_prose(&text) {
            if !line.starts_with('|') && has_two_sentences(line) {
                complaints.push(format!("{}:{at}: {line}", page.display()));
            }
        }
    }
    none(complaints);
}

#[test]
fn places_and_ends_of_sentences_are_found() {
    assert_eq!(derive_anchor(" `@cache` and `@policy`: what's new?"), "cache-and-policy-whats-new");
    assert_eq!(find_links("[a](b.md#c), `x](y z)` and [d](https://e.example)"), ["b.md#c"]);
    assert_eq!(normalise_path(Path::new("docs/live/../caching.md")), Path::new("docs/caching.md"));
    assert!(has_two_sentences("It is here. It stays.") && has_two_sentences("It is [here](a.md). It stays."));
    for one in [
        "It is `here. It` stays.",
        "It is (here. It stays).",
        "``It `is` here. It`` stays.",
        "By e.g. a file.",
    ] {
        assert!(!has_two_sentences(one), "{one}");
    }
}
