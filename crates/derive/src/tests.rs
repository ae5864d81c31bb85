//! Input that the macros refuse, and the place of the error.

use crate::{Expand, abstract_types, inputs, leaves, names, objects};
use proc_macro2::{Ident, Span};

/// `column: message` of each error.
fn refused(expand: Expand, source: &str) -> Vec<String> {
    let input = syn::parse_str(source).expect("it is Rust");
    let error = expand(&input).expect_err("it is refused");
    let line = |it: syn::Error| {
        let start = it.span().start();
        let text = source.lines().nth(start.line - 1).unwrap_or_default();
        let rest: String = text.chars().skip(start.column).take(8).collect();
        format!("{}: {it}", rest.trim())
    };
    error.into_iter().map(line).collect()
}

#[test]
fn errors_stand_where_their_cause_is() {
    let source = "struct User { #[graphql(nmae = \"x\")] id: i32, #[graphql(name = \"1\")] a: i32 }";
    assert_eq!(
        refused(objects::object, source),
        [
            "nmae = \": unknown option; known: `name`, `deprecated`, `skip`, `id`",
            "\"1\")] a:: `1` is no GraphQL name"
        ]
    );
    let source = "struct User { a: i32, #[graphql(name = \"a\")] b: i32 }";
    assert_eq!(refused(objects::object, source), ["\"a\")] b:: `a` is there twice"]);
    let source = "struct User { __a: i32, #[graphql(name = \"__b\")] b: i32 }";
    assert_eq!(
        refused(objects::object, source),
        ["\"__b\")]: `__b` is reserved: names with `__` belong to GraphQL"]
    );
}

#[test]
fn a_macro_takes_its_kind_of_type_only() {
    assert_eq!(
        refused(objects::object, "enum E { A }"),
        ["E { A }: an object is a struct with named fields"]
    );
    assert_eq!(
        refused(objects::object, "struct P(i32);"),
        ["P(i32);: an object is a struct with named fields"]
    );
    assert_eq!(refused(inputs::input, "enum E { A }"), ["E { A }: an input is a struct with named fields"]);
    assert_eq!(refused(leaves::enumeration, "struct S;"), ["S;: an enum is an enum with variants"]);
    assert_eq!(refused(leaves::enumeration, "enum E {}"), ["E {}: an enum is an enum with variants"]);
    assert_eq!(
        refused(leaves::enumeration, "enum E { A(i32) }"),
        ["(i32) }: a value of an enum holds nothing"]
    );
    let one = "a variant holds exactly one value: `Cat(Cat)`";
    assert_eq!(
        refused(abstract_types::union, "enum E { A, B(X, Y) }"),
        [format!("A, B(X,: {one}"), format!("B(X, Y): {one}")]
    );
    assert_eq!(refused(inputs::one_of, "enum E { A }"), [format!("A }}: {one}")]);
    assert_eq!(
        refused(objects::object, "struct S<T> { a: T }"),
        ["T> { a:: a GraphQL type has no parameters"]
    );
}

#[test]
fn options_are_refused_where_they_mean_nothing() {
    let found = refused(inputs::input, "struct I { #[graphql(skip)] a: i32 }");
    assert_eq!(found, ["skip)] a: unknown option; known: `name`, `deprecated`, `default`, `id`"]);
    let found = refused(abstract_types::union, "enum U { #[graphql(name = \"x\")] A(A) }");
    assert_eq!(found, ["name = \": unknown option; there are none here"]);
}

#[test]
fn scalars_and_interfaces_need_their_options() {
    let found = refused(leaves::scalar, "#[graphql(read = a)] struct S;");
    assert!(found[0].starts_with("S;: a scalar needs `#[graphql(read = path, write = path)]`"), "{found:?}");
    let found = refused(abstract_types::interface, "enum I { A(A) }");
    assert_eq!(found, ["I { A(A): an interface needs `#[graphql(fields(name: String))]`"]);
    let found = refused(abstract_types::interface, "#[graphql(fields(a: i32, a: i32))] enum I { A(A) }");
    assert_eq!(found, ["a: i32)): `a` is there twice"]);
}

#[test]
fn names_of_rust_become_names_of_graphql() {
    let ident = |name: &str| Ident::new(name, Span::call_site());
    let camel = |name: &str| names::camel(&ident(name));
    assert_eq!(
        ["min_stars", "_id", "id", "http2_port", "MinStars", "HTTPStatus", "ID"].map(camel),
        ["minStars", "id", "id", "http2Port", "minStars", "httpStatus", "id"]
    );
    assert_eq!(names::camel(&Ident::new_raw("type", Span::call_site())), "type");
    let screaming = |name: &str| names::screaming(&ident(name));
    assert_eq!(
        ["NewHope", "HTTPStatus", "Calm", "V2"].map(screaming),
        ["NEW_HOPE", "HTTP_STATUS", "CALM", "V2"]
    );
}
