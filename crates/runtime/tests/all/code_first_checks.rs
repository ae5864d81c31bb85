//! Checks of derived inputs: those of the directive `@validate`.

use crate::kit::{built, json, run};
use weir_runtime::{Check, Context, Input, OneOf, Schema, root};

const SDL: &str = r#"
type Query {
  posts(first: Int! = 10 @validate(min: 1, max: 100), by: PostBy, filter: PostFilter): String!
}

input PostBy @oneOf {
  id: Int @validate(min: -2.5)
  slug: String @validate(pattern: "^[a-z\"\\\\]+$")
}

input PostFilter {
  "Part of the title."
  title: String @deprecated(reason: "use `tags`") @validate(minLength: 2, maxLength: 4)
  tags: [String!]! = [] @validate(maxLength: 2, oneOf: ["a", "b\n"])
  and: [PostFilter!] @validate(minLength: 1)
}
"#;

#[derive(Input)]
struct PostsArguments {
    #[graphql(default = "10", validate(min = 1, max = 100))]
    first: i32,
    by: Option<PostBy>,
    filter: Option<PostFilter>,
}

#[derive(OneOf)]
enum PostBy {
    #[graphql(validate(min = -2.5))]
    Id(i32),
    #[graphql(validate(pattern = "^[a-z\"\\\\]+$"))]
    Slug(String),
}

#[derive(Input)]
struct PostFilter {
    /// Part of the title.
    #[graphql(deprecated = "use `tags`", validate(min_length = 2, max_length = 4))]
    title: Option<String>,
    #[graphql(default = "[]", validate(max_length = 2, one_of = ["a", "b\n"]))]
    tags: Vec<String>,
    #[graphql(validate(min_length = 1))]
    and: Option<Vec<PostFilter>>,
}

fn described(filter: &PostFilter) -> String {
    let title = filter.title.as_deref().unwrap_or_default();
    let below: Vec<String> = filter.and.iter().flatten().map(described).collect();
    format!("{title}{}{}", filter.tags.concat(), below.concat())
}

fn posts(arguments: &PostsArguments, _: &Context) -> String {
    let by = match &arguments.by {
        Some(PostBy::Id(id)) => id.to_string(),
        Some(PostBy::Slug(slug)) => slug.clone(),
        None => String::new(),
    };
    format!("{}{by}{}", arguments.first, arguments.filter.as_ref().map(described).unwrap_or_default())
}

fn by_derive() -> Schema {
    built(Schema::code_first().field("Query.posts", root(posts)))
}

fn by_sdl() -> Schema {
    built(Schema::builder(SDL).resolve("Query.posts", root(posts)))
}

#[test]
fn checks_of_derived_inputs_are_printed_as_those_of_an_sdl() {
    let printed = by_derive().sorted_sdl();
    assert_eq!(printed, by_sdl().sorted_sdl());
    assert!(printed.contains("first: Int! = 10 @validate(min: 1, max: 100)"), "{printed}");
    assert!(printed.contains("directive @validate("), "{printed}");
    let read_again = built(Schema::builder(&printed).resolve("Query.posts", root(posts)));
    assert_eq!(read_again.sorted_sdl(), printed);
}

#[test]
fn checks_of_derived_inputs_refuse_as_those_of_an_sdl() {
    let code = by_derive();
    let sdl = by_sdl();
    for (arguments, message) in [
        ("first: 0", "`first`: it is below 1"),
        ("first: 101", "`first`: it is above 100"),
        ("by: {id: -3}", "`by.id`: it is below -2.5"),
        ("by: {slug: \"A\"}", "`by.slug`: it does not match `^[a-z\"\\\\]+$`"),
        ("filter: {title: \"ä\"}", "`filter.title`: it has 1 characters, at least 2 are needed"),
        ("filter: {title: \"abcde\"}", "`filter.title`: it has 5 characters, at most 4 are taken"),
        ("filter: {tags: [\"a\", \"a\", \"a\"]}", "`filter.tags`: it has 3 items, at most 2 are taken"),
        ("filter: {tags: [\"b\"]}", "`filter.tags`: it is none of a, b\n"),
        ("filter: {and: []}", "`filter.and`: it has 0 items, at least 1 are needed"),
        (
            "filter: {and: [{and: [{title: \"a\"}]}]}",
            "`filter.and.and.title`: it has 1 characters, at least 2 are needed",
        ),
    ] {
        let query = format!("{{ posts({arguments}) }}");
        let found = json(&code, &query);
        assert_eq!(found["errors"][0]["message"], message, "{found}");
        assert_eq!(found["errors"][0]["path"], serde_json::json!(["posts"]));
        assert_eq!(found, json(&sdl, &query));
    }
    let query = r#"{ a: posts b: posts(first: 100, by: {slug: "a\"\\"}, filter: {title: null, tags: ["b\n"], and: [{title: "abcd"}]}) c: posts(by: {id: -2}) }"#;
    let answer = r#"{"data":{"a":"10","b":"100a\"\\b\nabcd","c":"10-2"}}"#;
    assert_eq!(run(&code, query), answer);
    assert_eq!(run(&sdl, query), answer);
}

#[test]
fn checks_by_coordinate_stand_beside_those_of_a_derived_input() {
    let schema = Schema::code_first().field("Query.posts", root(posts));
    let schema = built(schema.validate("Query.posts(first:)", Check::max("50").unwrap()));
    let message = |query| json(&schema, query)["errors"][0]["message"].clone();
    assert_eq!(message("{ posts(first: 0) }"), "`first`: it is below 1");
    assert_eq!(message("{ posts(first: 51) }"), "`first`: it is above 50");
    assert_eq!(schema.sorted_sdl(), by_derive().sorted_sdl());
}

#[derive(Input)]
struct BadPattern {
    #[graphql(validate(pattern = "("))]
    name: String,
}

#[test]
fn a_pattern_of_a_derived_input_that_is_none_is_found_when_the_schema_is_built() {
    let name = |by: &BadPattern, _: &Context| by.name.clone();
    let refused = Schema::code_first().field("Query.name", root(name)).build();
    let error = refused.err().expect("it is refused").to_string();
    assert!(error.contains("@validate of `name`: regex parse error"), "{error}");
}
