//! Input that the macros refuse, and the place of the error.

use crate::{Expand, abstract_derive, graphql_names, input_derive, leaf_derive, object_derive};
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
        refused(object_derive::object, source),
        [
            "nmae = \": unknown option; known: `name`, `deprecated`, `skip`, `id`, `flatten`",
            "\"1\")] a:: `1` is no GraphQL name"
        ]
    );
    let source = "struct User { a: i32, #[graphql(name = \"a\")] b: i32 }";
    assert_eq!(refused(object_derive::object, source), ["\"a\")] b:: `a` is there twice"]);
    let source = "struct User { __a: i32, #[graphql(name = \"__b\")] b: i32 }";
    assert_eq!(
        refused(object_derive::object, source),
        ["\"__b\")]: `__b` is reserved: names with `__` belong to GraphQL"]
    );
}

#[test]
fn a_macro_takes_its_kind_of_type_only() {
    assert_eq!(
        refused(object_derive::object, "enum E { A }"),
        ["E { A }: an object is a struct with named fields"]
    );
    assert_eq!(
        refused(object_derive::object, "struct P(i32);"),
        ["P(i32);: an object is a struct with named fields"]
    );
    assert_eq!(
        refused(input_derive::input, "enum E { A }"),
        ["E { A }: an input is a struct with named fields"]
    );
    assert_eq!(refused(leaf_derive::enumeration, "struct S;"), ["S;: an enum is an enum with variants"]);
    assert_eq!(refused(leaf_derive::enumeration, "enum E {}"), ["E {}: an enum is an enum with variants"]);
    assert_eq!(
        refused(leaf_derive::enumeration, "enum E { A(i32) }"),
        ["(i32) }: a value of an enum holds nothing"]
    );
    let one = "a variant holds exactly one value: `Cat(Cat)`";
    assert_eq!(
        refused(abstract_derive::union, "enum E { A, B(X, Y) }"),
        [format!("A, B(X,: {one}"), format!("B(X, Y): {one}")]
    );
    assert_eq!(refused(input_derive::one_of, "enum E { A }"), [format!("A }}: {one}")]);
}

#[test]
fn types_with_parameters_name_their_uses() {
    let one = |source: &str| {
        let found = refused(object_derive::object, source);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    let needs = "a GraphQL type has no parameters: name each use of this one by \
        `#[graphql(concrete(name = \"UserPage\", params(User)))]`";
    assert_eq!(one("struct S<T> { a: T }"), format!("T> {{ a:: {needs}"));
    assert_eq!(
        one("#[graphql(concrete(name = \"P\", params(A, B)))] struct S<T> { a: T }"),
        "concrete: `S` has 1 parameters, and here are 2"
    );
    assert_eq!(
        one("#[graphql(concrete(name = \"P\", params(A)))] struct S { a: i32 }"),
        "concrete: `concrete` is for types with parameters"
    );
    assert_eq!(
        one("#[graphql(name = \"X\", concrete(name = \"P\", params(A)))] struct S<T> { a: T }"),
        "\"X\", con: a type with parameters is named by `concrete`"
    );
    assert_eq!(
        one("#[graphql(concrete(name = \"P\", params(A)))] struct S<'a> { a: &'a str }"),
        "'a> { a:: a GraphQL type has no parameters but types"
    );
    assert_eq!(
        one("#[graphql(concrete(params(A)))] struct S<T> { a: T }"),
        "concrete: `concrete` names a use: `concrete(name = \"UserPage\", params(User))`"
    );
    assert_eq!(
        one("#[graphql(concrete(name = \"P\", of(A)))] struct S<T> { a: T }"),
        "of(A)))]: unknown option; known: `name`, `params`"
    );
    let found = refused(leaf_derive::enumeration, "#[graphql(concrete(name = \"P\"))] enum E { A }");
    assert_eq!(found, ["concrete: unknown option; known: `name`"]);
    let found = refused(abstract_derive::union, "enum U<T> { A(T) }");
    assert_eq!(found, ["T> { A(T: a GraphQL type has no parameters"]);
}

#[test]
fn a_flattened_field_stands_for_its_fields_alone() {
    let alone = "a flattened field has no name and no options of its own";
    for option in ["name = \"x\"", "deprecated", "id"] {
        let source = format!("struct O {{ #[graphql({option}, flatten)] a: A }}");
        assert_eq!(refused(object_derive::object, &source), [format!("flatten): {alone}")], "{option}");
    }
    let source = "#[graphql(concrete(name = \"P\", params(A)))] struct S<T> { #[graphql(flatten)] a: T }";
    assert_eq!(
        refused(input_derive::input, source),
        ["a: T }: a type with parameters has no flattened field"]
    );
}

#[test]
fn options_are_refused_where_they_mean_nothing() {
    let found = refused(input_derive::input, "struct I { #[graphql(skip)] a: i32 }");
    assert_eq!(
        found,
        ["skip)] a: unknown option; known: `name`, `deprecated`, `default`, `id`, `validate`, `flatten`"]
    );
    let found = refused(abstract_derive::union, "enum U { #[graphql(name = \"x\")] A(A) }");
    assert_eq!(found, ["name = \": unknown option; there are none here"]);
}

#[test]
fn scalars_and_interfaces_need_their_options() {
    let found = refused(leaf_derive::scalar, "#[graphql(read = a)] struct S;");
    assert!(found[0].starts_with("S;: a scalar needs `#[graphql(read = path, write = path)]`"), "{found:?}");
    let found = refused(abstract_derive::interface, "enum I { A(A) }");
    assert_eq!(found, ["I { A(A): an interface needs `#[graphql(fields(name: String))]`"]);
    let found = refused(abstract_derive::interface, "#[graphql(fields(a: i32, a: i32))] enum I { A(A) }");
    assert_eq!(found, ["a: i32)): `a` is there twice"]);
}

#[test]
fn checks_are_refused_where_they_stand() {
    let of = |checks: &str| {
        let found = refused(input_derive::input, &format!("struct I {{ #[graphql({checks})] a: i32 }}"));
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    let needs = "validate` needs a check: `validate(min = 1, max = 10)`";
    assert_eq!(of("validate"), format!("validate: `{needs}"));
    assert_eq!(of("validate()"), format!("validate: `{needs}"));
    assert_eq!(
        of("validate(minLength = 1)"),
        "minLengt: unknown check; known: `min_length`, `max_length`, `min`, `max`, `pattern`, `one_of`"
    );
    assert_eq!(of("validate(min = 1, min = 2)"), "min = 2): `min` is there twice");
    assert_eq!(
        of("validate(min = 1), validate(max = 2)"),
        "validate: `validate` is there twice: put all checks into one"
    );
    let length = "the value of this check is a whole number that is not negative";
    assert_eq!(of("validate(min_length = -1)"), format!("-1))] a:: {length}: `min_length = 1`"));
    assert_eq!(of("validate(max_length = 9999999999)"), format!("99999999: {length}: `max_length = 80`"));
    assert_eq!(of("validate(max_length = \"x\")"), format!("\"x\"))] a: {length}: `max_length = 80`"));
    assert_eq!(of("validate(min = \"0\")"), "\"0\"))] a: the value of this check is a number: `min = 0`");
    assert_eq!(of("validate(max)"), "))] a: i: the value of this check is a number: `max = 9.5`");
    let texts = "the value of this check is a list of texts: `one_of = [\"a\", \"b\"]`";
    assert_eq!(of("validate(one_of = \"a\")"), format!("\"a\"))] a: {texts}"));
    assert_eq!(of("validate(one_of = [1])"), format!("1]))] a:: {texts}"));
    let found = refused(object_derive::object, "struct O { #[graphql(validate(min = 1))] a: i32 }");
    assert_eq!(found, ["validate: unknown option; known: `name`, `deprecated`, `skip`, `id`, `flatten`"]);
}

#[test]
fn checks_become_arguments_of_the_directive() {
    let source = r#"struct I { #[graphql(validate(
        min_length = 1_0, max_length = 0x10, min = -1, max = 2., pattern = "\\d\"", one_of = ["a\n", "é"],
    ))] a: i32 }"#;
    let expanded = input_derive::input(&syn::parse_str(source).expect("it is Rust")).expect("it is accepted");
    let expected =
        r#"minLength: 10, maxLength: 16, min: -1, max: 2.0, pattern: "\\d\"", oneOf: ["a\u000A", "é"]"#;
    let expected = quote::quote!(.with_checks(#expected)).to_string();
    assert!(expanded.to_string().contains(&expected), "{expanded}");
}

#[test]
fn interfaces_say_how_their_options_are_written() {
    let of = |options: &str| {
        let found = refused(abstract_derive::interface, &format!("#[graphql({options})] enum I {{ A(A) }}"));
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    let interfaces = "`implements` names interfaces: `implements(Node, Named)`";
    assert_eq!(of("implements = Node"), format!("implemen: {interfaces}"));
    assert_eq!(of("implements()"), format!("implemen: {interfaces}"));
    assert_eq!(
        of("fields(a(first: i32): i32)"),
        "(first:: expected `:`; a field is `posts: Vec<Post>`, one with arguments \
         `#[graphql(arguments = PostsArguments)] posts: Vec<Post>`"
    );
    assert_eq!(
        of("fields(#[graphql(arguments(first: i32))] a: i32)"),
        "argument: `arguments` names a struct that derives `Input`: `arguments = PostsArguments`"
    );
    let found = refused(object_derive::object, "struct O { #[graphql(arguments = A)] a: i32 }");
    assert_eq!(found, ["argument: unknown option; known: `name`, `deprecated`, `skip`, `id`, `flatten`"]);
}

#[test]
fn names_of_rust_become_names_of_graphql() {
    let ident = |name: &str| Ident::new(name, Span::call_site());
    let camel = |name: &str| graphql_names::camel(&ident(name));
    assert_eq!(
        ["min_stars", "_id", "id", "http2_port", "MinStars", "HTTPStatus", "ID"].map(camel),
        ["minStars", "id", "id", "http2Port", "minStars", "httpStatus", "id"]
    );
    assert_eq!(graphql_names::camel(&Ident::new_raw("type", Span::call_site())), "type");
    let screaming = |name: &str| graphql_names::to_screaming_snake(&ident(name));
    assert_eq!(
        ["NewHope", "HTTPStatus", "Calm", "V2"].map(screaming),
        ["NEW_HOPE", "HTTP_STATUS", "CALM", "V2"]
    );
}
