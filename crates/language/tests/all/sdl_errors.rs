//! Errors of SDL have graphql-js's messages, with their places.

use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::{Schema, sdl};

/// Reads `text` as SDL; says each complaint with its first place.
fn complaints(text: &str) -> Vec<String> {
    match Schema::from_sdl(text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors
            .iter()
            .map(|error| {
                let place = error.locations(text).first().map(|it| format!("{}:{} ", it.line, it.column));
                format!("{}{}", place.unwrap_or_default(), error.message)
            })
            .collect(),
    }
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(complaints(text), expected, "{text}");
}

const QUERY: &str = "type Query { a: Int }\n";

fn check_types(text: &str, expected: &[&str]) {
    check(&format!("{QUERY}{text}"), expected);
}

#[test]
fn a_schema_of_every_kind_of_type_is_sound() {
    check_types(
        "interface Node { id: ID! }\n\
         interface Named implements Node { id: ID! name(upper: Boolean = false): String }\n\
         type Album implements Node & Named @tag(name: \"x\") @tag(name: \"y\") { id: ID! name(upper: Boolean = false, n: Int): String! }\n\
         union Any = Album\n\
         enum Order { asc desc @deprecated }\n\
         input Where { a: [Where!] = [] b: Int o: Order = asc s: String = \"\"\"a\"\"\" }\n\
         input One @oneOf { a: Int b: String }\n\
         scalar Date @specifiedBy(url: \"https://example.org\")\n\
         directive @tag(name: String!) repeatable on OBJECT | ENUM\n\
         extend type Query { w(where: Where = {}): Any o: Date x(one: One): Named }\n\
         extend enum Order @tag(name: \"z\") { none }",
        &[],
    );
}

#[test]
fn roots_are_objects_and_differ() {
    check("type A { a: Int }", &["1:1 Query root type must be provided."]);
    check(
        "schema { query: A } input A { a: Int }",
        &["1:17 Query root type must be Object type, it cannot be A."],
    );
    check(
        "schema { query: A mutation: A } type A { a: Int }",
        &["1:17 All root types must be different, \"A\" type is used as query and mutation root types."],
    );
    check("schema { query: B } type A { a: Int }", &["1:17 Unknown type \"B\". Did you mean \"A\"?"]);
    check(
        "schema { query: Albun } type Album { a: Strin }",
        &[
            "1:41 Unknown type \"Strin\". Did you mean \"String\"?",
            "1:17 Unknown type \"Albun\". Did you mean \"Album\"?",
        ],
    );
    check(
        "schema { query: A query: A } type A { a: Int }",
        &["1:19 There can be only one query type in schema."],
    );
    check(
        "schema { query: A } schema { query: A } type A { a: Int }",
        &["1:21 Must provide only one schema definition."],
    );
}

#[test]
fn names_are_unique_and_not_reserved() {
    check_types("type A { a: Int } type A { a: Int }", &["2:24 There can be only one type named \"A\"."]);
    check_types(
        "type __A { a: Int }",
        &["2:6 Name \"__A\" must not begin with \"__\", which is reserved by GraphQL introspection."],
    );
    check_types("type A { a: Int a: Int }", &["2:17 Field \"A.a\" can only be defined once."]);
    check_types("type A { a(x: Int x: Int): Int }", &["2:19 Argument \"A.a(x:)\" can only be defined once."]);
    check_types("enum A { a a }", &["2:12 Enum value \"A.a\" can only be defined once."]);
    check_types("input A { a: Int a: Int }", &["2:18 Field \"A.a\" can only be defined once."]);
    check_types(
        "directive @a on FIELD directive @a on FIELD",
        &["2:34 There can be only one directive named \"@a\"."],
    );
}

#[test]
fn types_are_not_empty_and_stand_where_their_kind_may() {
    check_types("type A", &["2:6 Type A must define one or more fields."]);
    check_types("union A", &["2:7 Union type A must define one or more member types."]);
    check_types("enum A", &["2:6 Enum type A must define one or more values."]);
    check_types("input A", &["2:7 Input Object type A must define one or more fields."]);
    check_types(
        "input I { a: Int } type A { a: [I!] }",
        &["2:29 The type of A.a must be Output Type but got: [I!]."],
    );
    check_types("type A { a(x: A): Int }", &["2:12 The type of A.a(x:) must be Input Type but got: A."]);
    check_types("union U = Query | Query", &["2:19 Union type U can only include type Query once."]);
    check_types(
        "union U = Int",
        &["2:11 Union type U can only include Object types, it cannot include Int."],
    );
}

#[test]
fn implementations_keep_the_promises_of_their_interfaces() {
    let interface = "interface I { f(a: Int): [I] }\n";
    let with = |text: &str, expected: &[&str]| check_types(&format!("{interface}{text}"), expected);
    with("type A implements I { f(a: Int): [A!]! }", &[]);
    with("type A implements I { g: Int }", &["3:6 Interface field I.f expected but A does not provide it."]);
    with(
        "type A implements I { f(a: Int): A }",
        &["3:23 Interface field I.f expects type [I] but A.f is type A."],
    );
    with(
        "type A implements I { f: [A] }",
        &["3:23 Interface field argument I.f(a:) expected but A.f does not provide it."],
    );
    with(
        "type A implements I { f(a: Int!): [A] }",
        &["3:25 Interface field argument I.f(a:) expects type Int but A.f(a:) is type Int!."],
    );
    with(
        "type A implements I { f(a: Int, b: Int!): [A] }",
        &["3:33 Object field A.f includes required argument b that is missing from the Interface field I.f."],
    );
    with("type A implements I & I { f(a: Int): [A] }", &["3:23 Type A can only implement I once."]);
    with(
        "type A implements Query { f(a: Int): [A] }",
        &["3:19 Type A must only implement Interface types, it cannot implement Query."],
    );
    with(
        "interface J implements I { f(a: Int): [I] } type A implements J { f(a: Int): [I] }",
        &["3:63 Type A must implement I because it is implemented by J."],
    );
    with(
        "type A implements I { f(a: Int): [A] @deprecated }",
        &["3:23 Interface field I.f is not deprecated, so implementation field A.f must not be deprecated."],
    );
    check_types(
        "interface A implements A { a: Int }",
        &["2:24 Type A cannot implement itself because it would create a circular reference."],
    );
}

#[test]
fn inputs_can_be_given_at_all() {
    check_types(
        "input A { b: B! } input B { a: A! }",
        &[
            "2:11 Cannot reference Input Object \"A\" within itself through a series of non-null fields: \"b.a\".",
        ],
    );
    check_types("input A { a: [A!]! }", &[]);
    check_types(
        "input A @oneOf { a: Int! b: Int = 1 }",
        &[
            "2:18 OneOf input field A.a must be nullable.",
            "2:26 OneOf input field A.b cannot have a default value.",
        ],
    );
    check_types(
        "type A { a(x: Int! @deprecated): Int }",
        &["2:12 Required argument A.a(x:) cannot be deprecated."],
    );
    check_types("input A { a: Int! @deprecated }", &["2:11 Required input field A.a cannot be deprecated."]);
    check_types(
        "directive @a(x: Int! @deprecated) on FIELD",
        &["2:14 Required argument @a(x:) cannot be deprecated."],
    );
}

#[test]
fn defaults_fit_and_do_not_need_themselves() {
    check_types(
        "input A { a: Int = \"x\" }",
        &["2:20 A.a has invalid default value: Int cannot represent non-integer value: \"x\""],
    );
    check_types(
        "type A { a(x: A1 = { c: 1 }): Int } input A1 { b: Int! }",
        &[
            "2:20 A.a(x:) has invalid default value: Field \"c\" is not defined by type \"A1\".",
            "2:20 A.a(x:) has invalid default value: Field \"A1.b\" of required type \"Int!\" was not provided.",
        ],
    );
    check_types(
        "input A { a: A = {} }",
        &["2:11 Invalid circular reference. The default value of Input Object field A.a references itself."],
    );
    check_types(
        "input A { b: B = {} } input B { a: A = {} }",
        &[
            "2:11 Invalid circular reference. The default value of Input Object field A.b references itself via the \
         default values of: B.a.",
        ],
    );
    check_types("input A { b: B = {} } input B { a: A = null, n: Int = 2 }", &[]);
}

#[test]
fn directives_are_known_and_stand_where_they_may() {
    check_types("type A @a { a: Int }", &["2:8 Unknown directive \"@a\"."]);
    check_types(
        "type A @deprecated { a: Int }",
        &["2:8 Directive \"@deprecated\" may not be used on OBJECT."],
    );
    check_types(
        "type A { a: Int @deprecated @deprecated }",
        &["2:29 The directive \"@deprecated\" can only be used once at this location."],
    );
    check_types(
        "type A { a: Int @deprecated(why: 1) }",
        &["2:29 Unknown argument \"why\" on directive \"@deprecated\"."],
    );
    check_types(
        "type A { a: Int @deprecated(reason: 1) }",
        &["2:37 String cannot represent a non string value: an integer"],
    );
    check_types(
        "scalar A @specifiedBy",
        &["2:10 Argument \"@specifiedBy(url:)\" of type \"String!\" is required, but it was not provided."],
    );
    check_types(
        "directive @a(x: Int @a) on ARGUMENT_DEFINITION",
        &["2:12 Directive \"@a\" cannot reference itself, directly or through its arguments."],
    );
    check_types(
        "directive @a(x: I) on INPUT_FIELD_DEFINITION input I { x: I y: Int @a }",
        &["2:12 Directive \"@a\" cannot reference itself, directly or through its arguments."],
    );
    check_types(
        "directive @a(x: I) on FIELD input I { x: I y: Int @b } directive @b on INPUT_FIELD_DEFINITION",
        &[],
    );
}

#[test]
fn extensions_extend_what_is_there() {
    check_types("extend type A { a: Int }", &["2:13 Cannot extend type \"A\" because it is not defined."]);
    check_types(
        "extend type Quer { b: Int }",
        &["2:13 Cannot extend type \"Quer\" because it is not defined. Did you mean \"Query\"?"],
    );
    check_types(
        "directive @dir(reason: Int) on OBJECT type A @dir(reasn: 1) { a: Int }",
        &["2:51 Unknown argument \"reasn\" on directive \"@dir\". Did you mean \"reason\"?"],
    );
    check_types("extend input Query { a: Int }", &["2:14 Cannot extend non-input object type \"Query\"."]);
    check_types("extend type Query { a: Int }", &["2:21 Field \"Query.a\" can only be defined once."]);
    check_types("{ a }", &["2:1 A schema cannot hold an operation."]);
}

#[test]
fn several_documents_are_one_schema_and_errors_say_which() {
    let texts = [QUERY, "extend type Query { b: B }", "type B { c: C }"];
    let documents = texts.map(|text| parser::parse(text, &Limits::NONE).expect("a document"));
    let errors = sdl::from_documents(&documents).expect_err("C is unknown");
    assert_eq!(errors.len(), 1);
    let (document, span) = sdl::place(&documents, errors[0].spans[0]);
    assert_eq!((document, span.of(texts[document])), (2, "C"));
    assert!(sdl::from_documents(&documents[..1]).is_ok());
}
