//! Golden cases of imports: a description and the types it becomes, side by side. `WEIR_BLESS=1` writes the types anew.
//! Imported descriptions, shipped examples and benchmarks are valid mappings.

use crate::served_kit::engine;
use crate::wire_kit::{self, Service, User, ask};
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
fn golden_styles_of_parameters_and_media_types() {
    golden("styles.yaml", "styles.yaml");
}

#[test]
fn golden_what_newer_versions_say_and_what_is_said_nowhere() {
    golden("modern.yaml", "modern.yaml");
}

#[test]
fn golden_services_that_only_write_have_a_query_too() {
    golden("writing.yaml", "writing.yaml");
}

/// Heads and bodies of the calls that a query of an imported text makes.
async fn make_calls(file: &str, query: &str) -> Vec<String> {
    let (calls, answer) = record_calls(file, query).await;
    assert!(!answer.contains("errors"), "{answer}");
    calls
}

/// Records the calls, and the answer, whatever it is.
async fn record_calls(file: &str, query: &str) -> (Vec<String>, String) {
    let service = Service::start(|_| wire_kit::answer("200 OK", "", r#"{"said":"yes"}"#));
    let text = std::fs::read_to_string(folder().join(file)).expect("the description is there");
    let engine = engine(&openapi::sdl(&text, file).expect("it can be imported"), &service);
    let (answer, _) = ask(&engine, User(""), query).await;
    ((0..service.calls()).map(|it| service.head(it)).collect(), answer)
}

#[tokio::test]
async fn styles_are_sent_as_the_description_says() {
    let list = |arguments: &str| format!("{{ list({arguments}) {{ said }} }}");
    for (arguments, query) in [
        (r#"exploded: ["a", "b c"]"#, "exploded=a&exploded=b%20c"),
        (r#"commas: ["a", "b"]"#, "commas=a%2Cb"),
        (r#"pipes: ["a", "b"]"#, "pipes=a%7Cb"),
        ("spaces: [1, 2]", "spaces=1%202"),
        (r#"repeated: ["a", "b"]"#, "repeated=a&repeated=b"),
        (r#"filter: {colour: "red", maxSize: 3, tags: ["x", "y"]}"#, "colour=red&max-size=3&tags=x&tags=y"),
        (r#"filter: {colour: "red"}, pipes: ["a"]"#, "pipes=a&colour=red"),
    ] {
        let calls = make_calls("styles.yaml", &list(arguments)).await;
        let expected = format!("GET /api/list?{query} ");
        assert!(calls[0].starts_with(&expected), "{expected}: {}", calls[0]);
    }
    let none = make_calls("styles.yaml", "{ list { said } }").await;
    assert!(none[0].starts_with("GET /api/list "), "{}", none[0]);
}

#[tokio::test]
async fn whole_numbers_have_as_many_digits_as_the_description_allows() {
    let arguments = r#"small: 7, seen: 5000000000, codes: [12345678901234, 2], range: {from: 4294967296, to: {day: "mon"}}, xList: ["a", "b"], sid: "s""#;
    let (calls, _) = record_calls("modern.yaml", &format!("{{ numbers({arguments}) {{ kind }} }}")).await;
    let query = "page=1&seen=5000000000&codes=12345678901234%2C2&range%5Bfrom%5D=4294967296&range%5Bto%5D%5Bday%5D=mon";
    assert!(calls[0].starts_with(&format!("GET /other/numbers/7?{query} ")), "{}", calls[0]);
    for line in ["x-list: a,b\r\n", "cookie: sid=s\r\n"] {
        assert!(calls[0].contains(line), "{line}: {}", calls[0]);
    }
}

#[tokio::test]
async fn a_query_has_a_body_and_changes_nothing() {
    let (calls, _) = record_calls("modern.yaml", r#"{ search(input: {name: "x"}) { id } }"#).await;
    assert!(calls[0].starts_with("QUERY /v2/live/things "), "{}", calls[0]);
    assert!(calls[0].ends_with(r#"{"name":"x"}"#), "{}", calls[0]);
    let (calls, _) =
        record_calls("modern.yaml", r#"{ list(all: {pageSize: 5, tags: ["a", "b"]}) { id } }"#).await;
    assert!(calls[0].starts_with("GET /v2/live/things?page-size=5&tags=a&tags=b "), "{}", calls[0]);
}

#[tokio::test]
async fn styles_of_paths_are_sent_as_the_description_says() {
    let query = r#"{ labels(a: ["x", "y"], b: ["1", "2"], c: {x: 1, y: "z"}) done unsaid }"#;
    let (mut calls, _) = record_calls("modern.yaml", query).await;
    calls.sort();
    let paths: Vec<&str> = calls.iter().filter_map(|it| it.split(' ').nth(1)).collect();
    assert_eq!(paths, ["/v2/live/done", "/v2/live/labels/.x.y/;b=1%2C2/x%3D1%2Cy%3Dz", "/v2/live/unsaid"]);
    let placeholder = make_calls("writing.yaml", "{ placeholder }").await;
    assert!(placeholder[0].starts_with("GET /events "), "{}", placeholder[0]);
}

#[tokio::test]
async fn a_body_is_sent_in_the_media_type_of_the_description() {
    let patched = make_calls("styles.yaml", r#"mutation { patch(input: {name: "n"}) { said } }"#).await;
    assert!(patched[0].contains("content-type: application/merge-patch+json\r\n"), "{}", patched[0]);
    assert!(patched[0].ends_with(r#"{"name":"n"}"#), "{}", patched[0]);
    let form = |input: &str| format!("mutation {{ form(input: {{{input}}}) {{ said }} }}");
    for (input, body) in [
        (
            r#"name: "n", cardNo: 7, tags: ["x", "y z"], flags: ["a", "b"]"#,
            "card-no=7&flags=a%2Cb&name=n&tags=x&tags=y+z",
        ),
        (r#"tags: []"#, ""),
        (r#"tags: null, name: "n""#, "name=n&tags="),
    ] {
        let sent = make_calls("styles.yaml", &form(input)).await;
        let (head, found) = sent[0].split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-type: application/x-www-form-urlencoded"), "{head}");
        let mut pairs: Vec<&str> = found.split('&').collect();
        pairs.sort_unstable();
        assert_eq!(pairs.join("&"), body, "{input}");
    }
    let plain = make_calls("styles.yaml", r#"mutation { plain(input: {name: "n"}) { said } }"#).await;
    assert!(plain[0].contains("content-type: application/json\r\n"), "{}", plain[0]);
}

#[test]
fn what_is_no_description_is_refused() {
    let check = |text: &str, expected: ImportError| assert_eq!(openapi::sdl(text, "a"), Err(expected));
    let other = |words: &str| ImportError::Other(words.into());
    check("swagger: '2.0'", other("is Swagger 2.0; convert it to OpenAPI 3 first, by `npx swagger2openapi`"));
    check(r#"{"openapi": "4.0"}"#, other("is OpenAPI 4.0; 3.0, 3.1 and 3.2 can be read"));
    check("info: {}", other("is no OpenAPI description: it has no `openapi: 3.…`"));
    check("openapi: 3.0.0\npaths: {}", ImportError::Nothing(Vec::new()));
    let head = "openapi: 3.1.0\npaths: {/a: {head: {responses: {}}}}";
    check(head, ImportError::Nothing(vec!["HEAD /a: answers without a body".into()]));
    let words = openapi::sdl(head, "a").unwrap_err().to_string();
    assert_eq!(words, "has no operation that can be asked: HEAD /a: answers without a body");
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
