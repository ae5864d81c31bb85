//! Arguments: typed, with defaults, checked before the resolver is called.

use crate::kit::{built, json, run, run_with};
use weir_runtime::{
    Check, Context, Maybe, RawJson, Scalar, ScalarValue, ScalarWriter, Schema, enumeration, input,
    input_one_of, root, scalar,
};

struct Everything {
    int: i32,
    wide: Option<i64>,
    ratio: Option<f64>,
    flag: bool,
    text: String,
    tags: Vec<String>,
    grid: Option<Vec<Vec<Option<i32>>>>,
    filter: Option<Filter>,
    order: Order,
    any: Option<RawJson>,
}
input!(Everything { int, wide, ratio, flag, text, tags, grid, filter, order, any });

#[derive(Debug)]
struct Filter {
    name: Maybe<String>,
    min_stars: i32,
    and: Option<Vec<Filter>>,
}
input!(Filter { name, min_stars as "minStars", and });

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Up,
    Down,
}
enumeration!(Order { Up => "ASC", Down => "DESC" });

const EVERYTHING: &str = "
type Query {
  echo(int: Int!, wide: Int, ratio: Float, flag: Boolean! = true, text: String! = \"none\", tags: [String!]! = [],
       grid: [[Int]!], filter: Filter, order: Order! = ASC, any: Any): String!
}
input Filter { name: String  minStars: Int! = 3  and: [Filter!] }
enum Order { ASC DESC }
scalar Any
";

fn echo() -> Schema {
    built(Schema::builder(EVERYTHING).resolve(
        "Query.echo",
        root(|all: &Everything, _: &Context| {
            format!(
                "{} {:?} {:?} {} {} {:?} {:?} {:?} {:?} {:?}",
                all.int,
                all.wide,
                all.ratio,
                all.flag,
                all.text,
                all.tags,
                all.grid,
                all.filter,
                all.order,
                all.any.as_ref().map(|it| &*it.0)
            )
        }),
    ))
}

fn echoed(query: &str, variables: &str) -> String {
    let found: serde_json::Value = serde_json::from_str(&run_with(&echo(), query, variables)).unwrap();
    found["data"]["echo"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned()
}

#[test]
fn literals_have_their_types_and_defaults_stand_for_what_is_absent() {
    assert_eq!(echoed("{ echo(int: 1) }", "{}"), "1 None None true none [] None None Up None");
    assert_eq!(
        echoed(
            "{ echo(int: 2, wide: null, ratio: 3, flag: false, text: \"a\", tags: \"one\", grid: [[1, null], []], \
             filter: {name: null, and: [{minStars: 5}]}, order: DESC, any: {a: [1.50]}) }",
            "{}"
        ),
        "2 None Some(3.0) false a [\"one\"] Some([[Some(1), None], []]) \
         Some(Filter { name: Null, min_stars: 3, and: Some([Filter { name: Absent, min_stars: 5, and: None }]) }) \
         Down Some(\"{\\\"a\\\":[1.50]}\")"
    );
}

#[test]
fn variables_stand_anywhere_and_absent_ones_leave_the_default() {
    let query = "query ($int: Int!, $tag: String!, $filter: Filter, $text: String! = \"v\", $any: Any, $flag: Boolean) {
        echo(int: $int, tags: [$tag, \"b\"], filter: $filter, text: $text, any: $any, flag: $flag) }";
    assert_eq!(
        echoed(query, r#"{"int": 7, "tag": "a", "filter": {"name": "x"}, "any": 12345678901234567890.5}"#),
        "7 None None true v [\"a\", \"b\"] None Some(Filter { name: Value(\"x\"), min_stars: 3, and: None }) Up \
         Some(\"12345678901234567890.5\")"
    );
}

#[test]
fn an_absent_variable_in_a_literal_object_leaves_the_default_of_the_field() {
    let query = "query ($stars: Int, $name: String) { \
                 echo(int: 1, filter: {name: $name, minStars: $stars, and: [{minStars: $stars}]}) }";
    let expected = |stars| {
        format!(
            "1 None None true none [] None Some(Filter {{ name: Absent, min_stars: {stars}, \
             and: Some([Filter {{ name: Absent, min_stars: {stars}, and: None }}]) }}) Up None"
        )
    };
    assert_eq!(echoed(query, "{}"), expected(3));
    assert_eq!(echoed(query, r#"{"stars": 8}"#), expected(8));
}

#[test]
fn checks_of_the_sdl_and_of_the_builder_refuse_before_the_resolver_is_called() {
    struct Arguments {
        first: Option<i32>,
        name: Option<String>,
        tags: Option<Vec<String>>,
        by: Option<By>,
    }
    input!(Arguments { first, name, tags, by });
    struct By {
        code: Option<String>,
    }
    input!(By { code });
    let sdl = "type Query {
        f(first: Int @validate(min: 1, max: 100), name: String @validate(minLength: 2, maxLength: 4),
          tags: [String!] @validate(maxLength: 2, oneOf: [\"a\", \"b\"]), by: By): Int }
      input By { code: String @validate(pattern: \"^[A-Z]{2}$\") }";
    let schema = built(
        Schema::builder(sdl)
            .resolve(
                "Query.f",
                root(|all: &Arguments, _: &Context| {
                    let lens = [all.name.as_ref().map(String::len), all.tags.as_ref().map(Vec::len)];
                    let codes = all.by.as_ref().and_then(|it| it.code.as_ref()).map_or(0, String::len);
                    all.first.unwrap_or(0) + lens.into_iter().flatten().sum::<usize>() as i32 + codes as i32
                }),
            )
            .validate("Query.f(first:)", Check::max("50").unwrap()),
    );
    assert_eq!(
        run(&schema, "{ f(first: 50, name: \"äöü\", tags: [\"a\"], by: {code: \"DE\"}) }"),
        r#"{"data":{"f":59}}"#
    );
    for (arguments, message) in [
        ("first: 0", "`first`: it is below 1"),
        ("first: 51", "`first`: it is above 50"),
        ("name: \"ä\"", "`name`: it has 1 characters, at least 2 are needed"),
        ("name: \"abcde\"", "`name`: it has 5 characters, at most 4 are taken"),
        ("tags: [\"a\", \"b\", \"a\"]", "`tags`: it has 3 items, at most 2 are taken"),
        ("tags: [\"a\", \"c\"]", "`tags`: it is none of a, b"),
        ("by: {code: \"de\"}", "`by.code`: it does not match `^[A-Z]{2}$`"),
    ] {
        let found = json(&schema, &format!("{{ f({arguments}) }}"));
        assert_eq!(found["errors"][0]["message"], message, "{found}");
        assert_eq!(found["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
        assert_eq!(found["errors"][0]["path"], serde_json::json!(["f"]));
    }
    assert!(schema.sdl().contains("directive @validate("), "{}", schema.sdl());
}

#[test]
fn exactly_one_field_of_a_one_of_object_is_a_variant() {
    #[derive(Debug)]
    enum UserBy {
        Id(i32),
        Mail(String),
    }
    input_one_of!(UserBy { Id => "id", Mail => "mail" });
    struct Arguments {
        by: UserBy,
    }
    input!(Arguments { by });
    let sdl = "type Query { user(by: UserBy!): String } input UserBy @oneOf { id: Int mail: String }";
    let schema = built(Schema::builder(sdl).resolve(
        "Query.user",
        root(|Arguments { by }: &Arguments, _: &Context| match by {
            UserBy::Id(id) => format!("id {id}"),
            UserBy::Mail(mail) => format!("mail {mail}"),
        }),
    ));
    assert_eq!(run(&schema, "{ user(by: {id: 7}) }"), r#"{"data":{"user":"id 7"}}"#);
    assert_eq!(
        run_with(&schema, "query ($by: UserBy!) { user(by: $by) }", r#"{"by": {"mail": "a@b"}}"#),
        r#"{"data":{"user":"mail a@b"}}"#
    );
    assert!(run(&schema, "{ user(by: {id: 7, mail: \"a\"}) }").contains("GRAPHQL_VALIDATION_FAILED"));
}

#[test]
fn a_custom_scalar_is_read_and_written_by_its_functions() {
    /// Cents, written with a point.
    #[derive(Debug, PartialEq)]
    struct Money(i64);
    impl Scalar for Money {
        const NAME: &'static str = "Money";
        fn read(value: ScalarValue<'_>) -> Result<Self, String> {
            let text = value.text().ok_or("it is no text")?;
            let (whole, cents) = text.split_once('.').ok_or("it has no point")?;
            match (whole.parse::<i64>(), cents.parse::<i64>()) {
                (Ok(whole), Ok(cents)) => Ok(Self(whole * 100 + cents)),
                _ => Err("it is no amount".into()),
            }
        }
        fn write(&self, writer: &mut ScalarWriter<'_>) {
            writer.text(&format!("{}.{:02}", self.0 / 100, self.0 % 100));
        }
    }
    scalar!(Money);
    struct Arguments {
        of: Money,
        all: Option<Vec<Money>>,
    }
    input!(Arguments { of, all });
    let sdl = "scalar Money type Query { double(of: Money!, all: [Money!]): [Money]! }";
    let schema = built(Schema::builder(sdl).resolve(
        "Query.double",
        root(|all: &Arguments, _: &Context| {
            let rest = all.all.iter().flatten().map(|it| Some(Money(it.0 * 2)));
            std::iter::once(Some(Money(all.of.0 * 2))).chain(rest).chain([None]).collect::<Vec<_>>()
        }),
    ));
    assert_eq!(
        run_with(&schema, "query ($m: Money!) { double(of: $m, all: [\"0.07\"]) }", r#"{"m": "1.50"}"#),
        r#"{"data":{"double":["3.00","0.14",null]}}"#
    );
    let found = json(&schema, "{ double(of: 7) }");
    assert_eq!(found["errors"][0]["message"], "`of`: it is no text");
    assert_eq!(found["data"], serde_json::Value::Null);
}
