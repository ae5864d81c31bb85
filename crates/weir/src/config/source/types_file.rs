//! Files of native types: SDL, optionally gzip-compressed, and the schema file of a Dgraph export, which contains SDL in JSON.
//!
//! **Cost:** an unpacked text has at most [`TEXT_BYTES_MAX`].

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};

/// File endings of native types.
const ENDINGS: [&str; 4] = ["graphql", "gql", "graphqls", "gql_schema"];

/// Maximum size of a file, in bytes.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// The first bytes of a gzip file. Source: RFC 1952, section 2.3.1.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Types of one Dgraph namespace.
#[derive(Deserialize)]
struct Exported {
    #[serde(rename = "Namespace")]
    namespace: u64,
    #[serde(rename = "Schema")]
    schema: String,
}

/// True if `path` has the ending of a file of types.
pub(crate) fn is_named(path: &Path) -> bool {
    let path = without_gz(path);
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default().to_ascii_lowercase();
    ENDINGS.contains(&ending.as_str())
}

/// `path` without `.gz`.
pub(crate) fn without_gz(path: &Path) -> PathBuf {
    let is_packed = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("gz"));
    if is_packed { path.with_extension("") } else { path.to_owned() }
}

/// Reads the SDL of the file at `path`.
/// # Errors
/// The file cannot be read, or contains several namespaces.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let told = |cause: &dyn std::fmt::Display| format!("{}: {cause}", path.display());
    let bytes = std::fs::read(path).map_err(|cause| told(&cause))?;
    let text = if bytes.starts_with(&GZIP) {
        unpack(&bytes).map_err(|cause| told(&cause))?
    } else {
        String::from_utf8(bytes).map_err(|_| told(&"it is not in UTF-8"))?
    };
    sdl_of(text).map_err(|why| told(&why))
}

fn unpack(bytes: &[u8]) -> Result<String, String> {
    let mut text = String::new();
    let mut unpacked = MultiGzDecoder::new(bytes).take(TEXT_BYTES_MAX + 1);
    unpacked.read_to_string(&mut text).map_err(|cause| cause.to_string())?;
    if text.len() as u64 > TEXT_BYTES_MAX {
        Err(format!("it unpacks to more than {TEXT_BYTES_MAX} bytes"))
    } else {
        Ok(text)
    }
}

/// `text`, or the SDL in a Dgraph export: `[{"Namespace": 0, "Schema": "…"}]`.
/// # Errors
/// It contains several namespaces.
pub(crate) fn sdl_of(text: String) -> Result<String, String> {
    // SDL never begins with `[`.
    if !text.trim_start().starts_with('[') {
        return Ok(text);
    }
    let all: Vec<Exported> = serde_json::from_str(&text)
        .map_err(|cause| format!("it begins as an export of types by Dgraph and is none: {cause}"))?;
    let mut some: Vec<Exported> = all.into_iter().filter(|it| !it.schema.trim().is_empty()).collect();
    match some.len() {
        0 => Err("it is an export of Dgraph without types".into()),
        1 => Ok(some.remove(0).schema),
        _ => {
            let names: Vec<String> = some.iter().map(|it| it.namespace.to_string()).collect();
            let names = names.join(", ");
            Err(format!(
                "it holds the types of the namespaces {names}: export one, by `namespace` in the mutation"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (sdl_of(text.to_owned()), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(why), Err(part)) => assert!(why.contains(part), "{text}: {why}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn types_of_dgraph_s_export_are_found() {
        check("type A { a: Int }", Ok("type A { a: Int }"));
        check("# [\ntype A { a: Int }", Ok("# [\ntype A { a: Int }"));
        check("[\n{\"Namespace\":0,\"Schema\":\"type A {\\n  a: Int }\"}\n]\n", Ok("type A {\n  a: Int }"));
        check(
            "[{\"Namespace\":0,\"Schema\":\"\"},{\"Namespace\":2,\"Schema\":\"type B { a: Int }\"}]",
            Ok("type B { a: Int }"),
        );
        let two = "[{\"Namespace\":1,\"Schema\":\"type A { a: Int }\"},{\"Namespace\":2,\"Schema\":\"type A { a: Int }\"}]";
        check(two, Err("the namespaces 1, 2"));
        check("[]", Err("without types"));
        check("[1]", Err("is none"));
    }

    #[test]
    fn a_file_of_types_is_known_by_its_name() {
        for (name, expected) in [
            ("a.graphql", true),
            ("g01.gql_schema.gz", true),
            ("a.GQL", true),
            ("a.rdf.gz", false),
            ("gz", false),
        ] {
            assert_eq!(is_named(Path::new(name)), expected, "{name}");
        }
    }
}
