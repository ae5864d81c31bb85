//! Forms of manifests and folders, and what is wrong with them.

use super::*;
use std::path::Path;

const ONE: &str = "query One { a }";

/// Names of the queries of a collection with their texts.
type Read = Result<Vec<(String, String)>, String>;

fn read_path(path: &Path) -> Read {
    let file = PersistedFile { path: path.to_path_buf(), collection: Some("web".into()) };
    let settings = Persisted { files: vec![file], documents_max: 3, bytes_max: 1000, ..Persisted::default() };
    let found = read_files(&settings)?;
    let queries = found.collections[0].definition.queries.iter();
    Ok(queries.map(|it| (it.name.clone(), it.query.clone())).collect())
}

/// Reads a file of this content.
fn check(content: &str, expected: Result<&[(&str, &str)], &str>) {
    let name = format!("weir-persisted-{}-{:x}.json", std::process::id(), fastrand::u64(..));
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, content).unwrap();
    let read = read_path(&path);
    std::fs::remove_file(path).unwrap();
    match (read, expected) {
        (Ok(queries), Ok(pairs)) => {
            let found: Vec<(&str, &str)> = queries.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
            assert_eq!(found, pairs, "{content}");
        }
        (Err(message), Err(part)) => assert!(message.contains(part), "{message}"),
        (found, _) => panic!("{content}: {found:?}"),
    }
}

#[test]
fn every_form_of_a_manifest_is_read() {
    let one = [("One", ONE)];
    let apollo = r#"{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"x","name":"One","type":"query","body":"query One { a }"}]}"#;
    check(apollo, Ok(&one));
    check(r#"{"0cc175b9c0f1b6a831c399e269772661":"query One { a }"}"#, Ok(&one));
    check(r#"{"sha256:ab":"query One { a }"}"#, Ok(&one));
    check(r#"[["x","query One { a }"]]"#, Ok(&one));
    check(r#"{"x":"{ a }"}"#, Ok(&[("x", "{ a }")]));
    check(r#"{"format":"query One { a }"}"#, Ok(&one));
    check("{}", Ok(&[]));
}

#[test]
fn a_name_of_two_texts_is_that_of_the_first() {
    let both = r#"{"a":"query One { a }","b":"query One { b }","c":"query One { a }"}"#;
    check(both, Ok(&[("One", ONE), ("b", "query One { b }")]));
    // The identifier may be that name, too.
    check(
        r#"{"a":"query One { a }","One":"query One { b }"}"#,
        Ok(&[("One", ONE), ("One (2)", "query One { b }")]),
    );
}

#[test]
fn what_is_no_manifest_is_refused() {
    check("", Err("it is not valid JSON"));
    check("7", Err("neither an object nor a list"));
    check(r#"{"a":7}"#, Err("`a` has no text"));
    check(r#"{"":"{ a }"}"#, Err("empty identifier"));
    check(r#"{"a":"{ a"}"#, Err("the document `a`: it is no GraphQL"));
    check(r#"{"a":"fragment F on T { a }"}"#, Err("it has no operation"));
    check(r#"{"a":"{ a }","a":"{ b }"}"#, Err("duplicate key"));
    check(r#"[["a","{ a }"],["a","{ b }"]]"#, Err("two documents have the identifier `a`"));
    check(r#"[["a"]]"#, Err("item 0 is no pair"));
    check(r#"[7]"#, Err("item 0 is no pair"));
    check(r#"{"format":"x","version":1,"operations":[]}"#, Err("its `format` is not"));
    let apollo = |rest: &str| format!(r#"{{"format":"apollo-persisted-query-manifest",{rest}}}"#);
    check(&apollo(r#""version":2,"operations":[]"#), Err("its `version` is not 1"));
    check(&apollo(r#""version":1,"operations":{}"#), Err("`operations` is no list"));
    check(&apollo(r#""version":1,"operations":[{"id":"a"}]"#), Err("`operations[0].body` is no string"));
    check(&apollo(r#""version":1,"operations":[7]"#), Err("`operations[0].id` is no string"));
    check(&format!(r#"{{"a":{}1{}}}"#, "[".repeat(100), "]".repeat(100)), Err("not valid JSON"));
}

#[test]
fn a_manifest_that_is_cut_off_anywhere_is_refused() {
    let apollo = r#"{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"x","body":"{ é }"}]}"#;
    for whole in [apollo, r#"{"a":"{ a }","b":"{ b }"}"#, r#"[["a","{ a }"],["b","{ b }"]]"#] {
        assert!(manifest::read_manifest(whole.as_bytes()).is_ok(), "{whole}");
        for end in 0..whole.len() {
            assert!(manifest::read_manifest(&whole.as_bytes()[..end]).is_err(), "{end} of {whole}");
        }
    }
}

#[test]
fn limits_hold() {
    check(r#"{"a":"{ a }","b":"{ b }","c":"{ c }","d":"{ d }"}"#, Err("documents_max`, 3"));
    check(&format!(r#"{{"a":"{{ {} }}"}}"#, "a ".repeat(600)), Err("bytes_max`, 1000"));
    assert!(read_path(Path::new("/nowhere/documents.json")).is_err_and(|it| it.contains("cannot be read")));
}

#[test]
fn files_of_a_folder_are_documents() {
    let folder = std::env::temp_dir().join(format!("weir-persisted-folder-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("Albums.graphql"), ONE).unwrap();
    std::fs::write(folder.join("more.json"), r#"{"x":"{ a }"}"#).unwrap();
    std::fs::write(folder.join("readme.md"), "no document").unwrap();
    let file = PersistedFile { path: folder.clone(), collection: None };
    let settings = Persisted { files: vec![file], ..Persisted::default() };
    let found = read_files(&settings).unwrap();
    let text = |id: &str| found.documents.find(id).map(|it| it.text.to_string());
    assert_eq!((text("Albums").as_deref(), text("x").as_deref()), (Some(ONE), Some("{ a }")));
    assert_eq!(found.collections[0].name, folder.file_name().unwrap().to_string_lossy());
    assert_eq!(find_files(&settings).len(), 3);
    std::fs::remove_dir_all(folder).unwrap();
}
