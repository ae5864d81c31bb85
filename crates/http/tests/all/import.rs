//! Golden cases of imports: a description and the types it becomes, side by side. `WEIR_BLESS=1` writes the types anew.
//! Imported descriptions, shipped examples and benchmarks are valid mappings.

use std::path::PathBuf;
use weir_http::import::openapi::{self, ImportError};
use weir_http::sdl;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import")
}

/// Everything that is wrong with a text of services.
fn mistakes(text: &str, file: &str) -> String {
    let mistakes = sdl::read(text, file).err().unwrap_or_default();
    mistakes.iter().map(|it| format!("{it}\n")).collect()
}

fn golden(file: &str, origin: &str) {
    let text = std::fs::read_to_string(folder().join(file)).expect("the description is there");
    let made = openapi::sdl(&text, origin).expect("it can be imported");
    let expected = folder().join(file).with_extension("graphql");
    if std::env::var_os("WEIR_BLESS").is_some() {
        std::fs::write(&expected, &made).expect("it can be written");
    }
    assert_eq!(made, std::fs::read_to_string(&expected).expect("the types are there"));
    assert_eq!(mistakes(&made, file), "");
}

#[test]
fn golden_a_pet_store_becomes_types() {
    golden("../../../../examples/petstore/petstore.yaml", "petstore.yaml");
}

#[test]
fn golden_circles_odd_names_and_what_cannot_be_had_are_told() {
    golden("nasty.json", "https://things.example:8443/docs/nasty.json");
}

#[test]
fn what_is_no_description_is_refused() {
    let check = |text: &str, expected: ImportError| assert_eq!(openapi::sdl(text, "a"), Err(expected));
    let other = |words: &str| ImportError::Other(words.into());
    check("swagger: '2.0'", other("is Swagger 2.0; convert it to OpenAPI 3 first, by `npx swagger2openapi`"));
    check(r#"{"openapi": "4.0"}"#, other("is OpenAPI 4.0; 3.0 and 3.1 can be read"));
    check("info: {}", other("is no OpenAPI description: it has no `openapi: 3.…`"));
    check("openapi: 3.0.0\npaths: {}", ImportError::Nothing);
    assert!(matches!(openapi::sdl("a: [", "a"), Err(ImportError::Unreadable(_))));
}

#[test]
fn the_example_and_what_is_measured_can_be_read() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let forwarded = r#"{name: "X-Request-Id", from: "X-Request-Id"}"#;
    for file in [
        "examples/gateway/services",
        "bench/gateway/weir/posts",
        "bench/gateway/weir/batched",
        "bench/gateway/weir/centre",
    ] {
        let file = format!("{file}.graphql");
        let text = std::fs::read_to_string(root.join(&file)).expect("it is there");
        for form in ["# public: ", "# whole: "] {
            let text = text
                .replace("UPSTREAM", "http://a.example")
                .replace("FORWARDED", forwarded)
                .replace(form, "");
            assert_eq!(mistakes(&text, &file), "");
        }
    }
}
