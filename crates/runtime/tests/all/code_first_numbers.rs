//! Derived types whose fields are integers of any width, single precision and single characters; types with parameters; flattened fields.

use crate::kit::{built, run};
use serde_json::json;
use weir_runtime::{Context, Input, Object, Schema, batch, root};

#[derive(Clone, Object)]
struct Sizes {
    tiny: i8,
    small: i16,
    byte: u8,
    port: u16,
    count: u32,
    total: u64,
    len: usize,
    offset: isize,
    ratio: f32,
    grade: char,
    bytes: Vec<u8>,
    none: Option<u32>,
}

fn sizes() -> Sizes {
    Sizes {
        tiny: -128,
        small: i16::MIN,
        byte: 255,
        port: u16::MAX,
        count: 2_147_483_647,
        total: 5,
        len: 6,
        offset: -7,
        ratio: 0.1,
        grade: 'é',
        bytes: vec![0, 255],
        none: None,
    }
}

const ALL: &str = "tiny small byte port count total len offset ratio grade bytes none";

fn all() -> serde_json::Value {
    json!({
        "tiny": -128, "small": -32768, "byte": 255, "port": 65535, "count": 2_147_483_647, "total": 5, "len": 6,
        "offset": -7, "ratio": 0.1, "grade": "é", "bytes": [0, 255], "none": null,
    })
}

fn answer(schema: &Schema, query: &str) -> serde_json::Value {
    serde_json::from_str(&run(schema, query)).expect("it is JSON")
}

#[test]
fn numbers_and_characters_of_any_width_are_written() {
    let schema = built(
        Schema::code_first()
            .field("Query.sizes", root(|_: &(), _: &Context| sizes()))
            // Below a batch the same fields stand in columns.
            .field(
                "Sizes.again",
                batch(|of: &[&Sizes], _: &(), _: &Context| {
                    of.iter().map(|it| (*it).clone()).collect::<Vec<_>>()
                }),
            )
            .field(
                "Sizes.grades",
                batch(|of: &[&Sizes], _: &(), _: &Context| {
                    of.iter().map(|it| vec![it.grade, '"']).collect::<Vec<_>>()
                }),
            ),
    );
    let sdl = schema.sdl();
    for line in
        ["tiny: Int!", "total: Int!", "ratio: Float!", "grade: String!", "bytes: [Int!]!", "none: Int"]
    {
        assert!(sdl.contains(&format!("  {line}\n")), "{line}: {sdl}");
    }
    let found =
        answer(&schema, &format!("{{ sizes {{ {ALL} again {{ {ALL} again {{ {ALL} }} }} grades }} }}"));
    let mut expected = all();
    expected["again"] = all();
    expected["again"]["again"] = all();
    expected["grades"] = json!(["é", "\""]);
    assert_eq!(found, json!({ "data": { "sizes": expected } }));
}

#[test]
fn digits_that_an_int_cannot_hold_are_errors_and_wide_scalars_have_all() {
    let sdl = "scalar BigInt type Query { count: Int total: Int wide: Wide! } type Wide { low: BigInt high: BigInt }";
    #[derive(Clone)]
    struct Wide {
        low: u32,
        high: u64,
    }
    weir_runtime::record!(Wide { low, high });
    let schema = Schema::builder(sdl)
        .resolve("Query.count", root(|_: &(), _: &Context| u32::MAX))
        .resolve("Query.total", root(|_: &(), _: &Context| u64::MAX))
        .resolve("Query.wide", root(|_: &(), _: &Context| Wide { low: u32::MAX, high: u64::MAX }))
        .build();
    let schema = match schema {
        Ok(schema) => schema,
        Err(error) => panic!("{error}"),
    };
    let found = answer(&schema, "{ count total wide { low high } }");
    let text = run(&schema, "{ wide { low high } }");
    assert_eq!(text, r#"{"data":{"wide":{"low":4294967295,"high":18446744073709551615}}}"#);
    let codes: Vec<&serde_json::Value> =
        found["errors"].as_array().expect("two errors").iter().map(|it| &it["extensions"]["code"]).collect();
    assert_eq!(codes, ["INT_RANGE", "INT_RANGE"], "{found}");
    assert_eq!((&found["data"]["count"], &found["data"]["total"]), (&json!(null), &json!(null)));
    assert!(found.to_string().contains("18446744073709551615"), "{found}");
}

#[derive(Input)]
struct Taken {
    tiny: i8,
    byte: u8,
    port: u16,
    count: u32,
    len: usize,
    ratio: f32,
    grade: char,
    more: Option<Vec<u16>>,
}

#[test]
fn arguments_of_any_width_are_read_or_refused_with_their_range() {
    let schema = built(Schema::code_first().field(
        "Query.take",
        root(|it: &Taken, _: &Context| {
            let Taken { tiny, byte, port, count, len, ratio, grade, more } = it;
            format!("{tiny} {byte} {port} {count} {len} {ratio} {grade} {more:?}")
        }),
    ));
    let ask = |change: (&str, &str)| {
        let usual = [
            ("tiny", "-1"),
            ("byte", "255"),
            ("port", "65535"),
            ("count", "7"),
            ("len", "0"),
            ("ratio", "0.1"),
            ("grade", "\"é\""),
            ("more", "[1, 2]"),
        ];
        let arguments =
            usual.map(|(name, value)| format!("{name}: {}", if name == change.0 { change.1 } else { value }));
        answer(&schema, &format!("{{ take({}) }}", arguments.join(", ")))
    };
    assert_eq!(ask(("", "")), json!({ "data": { "take": "-1 255 65535 7 0 0.1 é Some([1, 2])" } }));
    let check = |argument: &str, value: &str, words: &str| {
        let found = ask((argument, value));
        assert_eq!(found["errors"][0]["message"], format!("`{argument}`: it is no {words}"), "{found}");
        assert_eq!(found["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
    };
    check("tiny", "128", "integer of 8 bits");
    check("byte", "256", "integer from 0 to 255");
    check("byte", "-1", "integer from 0 to 255");
    check("port", "65536", "integer from 0 to 65535");
    check("count", "-1", "integer from 0 to 4294967295");
    check("len", "-1", "integer that is not negative");
    check("ratio", "1e39", "number of 32 bits");
    check("grade", "\"ab\"", "single character");
    check("grade", "\"\"", "single character");
    check("more", "[1, 70000]", "integer from 0 to 65535");
}

#[derive(Clone, Object)]
struct User {
    name: String,
}

/// Some of many.
#[derive(Clone, Object)]
#[graphql(concrete(name = "UserPage", params(User)), concrete(name = "NumberPage", params(i32)))]
struct Page<T> {
    items: Vec<T>,
    /// The number of all items.
    total: u32,
}

#[derive(Clone, Input)]
#[graphql(concrete(name = "IntRange", params(i32)), concrete(name = "TextRange", params(String)))]
struct RangeOf<T> {
    from: Option<T>,
    to: Option<T>,
}

#[derive(Input)]
struct Within {
    numbers: RangeOf<i32>,
    texts: Option<RangeOf<String>>,
}

#[test]
fn a_type_with_parameters_is_a_type_for_each_use() {
    let schema = built(
        Schema::code_first()
            .field(
                "Query.users",
                root(|_: &(), _: &Context| Page { items: vec![User { name: "Ada".into() }], total: 9 }),
            )
            .field(
                "Query.numbers",
                root(|it: &Within, _: &Context| {
                    let from = it.numbers.from.unwrap_or(1);
                    Page { items: vec![from, it.numbers.to.unwrap_or(from)], total: 2 }
                }),
            )
            .field(
                "UserPage.first",
                batch(|of: &[&Page<User>], _: &(), _: &Context| {
                    of.iter().map(|it| it.items.first().cloned()).collect::<Vec<_>>()
                }),
            ),
    );
    let sdl = schema.sorted_sdl();
    for part in [
        "Some of many.\n\"\"\"\ntype NumberPage {\n  items: [Int!]!\n",
        "type UserPage {\n  first: User\n  items: [User!]!\n",
        "input IntRange {\n  from: Int\n  to: Int\n}",
        "input TextRange {\n  from: String\n  to: String\n}",
        "numbers(numbers: IntRange!, texts: TextRange): NumberPage!",
    ] {
        assert!(sdl.contains(part), "{part} is not in\n{sdl}");
    }
    let query = "{ users { items { name } total first { name } } numbers(numbers: {from: 3, to: 5}, texts: {from: \"a\"}) { items } }";
    assert_eq!(
        answer(&schema, query),
        json!({ "data": {
            "users": { "items": [{ "name": "Ada" }], "total": 9, "first": { "name": "Ada" } },
            "numbers": { "items": [3, 5] },
        } })
    );
}

#[derive(Clone, Object)]
struct Stamps {
    created: String,
    /// Last change.
    changed: Option<String>,
}

#[derive(Clone, Object)]
struct Place {
    city: String,
}

#[derive(Clone, Object)]
struct Shop {
    name: String,
    #[graphql(flatten)]
    stamps: Stamps,
    open: bool,
    #[graphql(flatten)]
    place: Place,
}

fn shop() -> Shop {
    let stamps = Stamps { created: "2026".into(), changed: None };
    Shop { name: "Tea".into(), stamps, open: true, place: Place { city: "Ulm".into() } }
}

#[derive(Input)]
struct Paging {
    #[graphql(default = "10", validate(max = 20))]
    first: u32,
    after: Option<String>,
}

#[derive(Input)]
struct ShopsBy {
    city: String,
    #[graphql(flatten)]
    paging: Paging,
    open: Option<bool>,
}

#[derive(Input)]
struct ShopsArguments {
    by: Option<ShopsBy>,
    #[graphql(flatten)]
    paging: Paging,
}

#[test]
fn flattened_fields_stand_among_those_of_their_owner() {
    let schema = built(Schema::code_first().field("Query.shop", root(|_: &(), _: &Context| shop())).field(
        "Shop.again",
        batch(|of: &[&Shop], _: &(), _: &Context| of.iter().map(|it| (*it).clone()).collect::<Vec<_>>()),
    ));
    let sdl = schema.sdl();
    let expected = "type Shop {\n  name: String!\n  created: String!\n\n  \"\"\"\n  Last change.\n  \"\"\"\n  changed: String\n  open: Boolean!\n  city: String!\n  again: Shop!\n}";
    assert!(sdl.contains(expected) && !sdl.contains("type Stamps"), "{sdl}");
    let fields = "city open changed created name";
    let found = answer(&schema, &format!("{{ shop {{ {fields} again {{ {fields} }} }} }}"));
    let own = json!({ "city": "Ulm", "open": true, "changed": null, "created": "2026", "name": "Tea" });
    let mut expected = own.clone();
    expected["again"] = own;
    assert_eq!(found, json!({ "data": { "shop": expected } }));
}

#[test]
fn flattened_fields_of_inputs_are_read_into_their_struct() {
    let schema = built(Schema::code_first().field(
        "Query.shops",
        root(|it: &ShopsArguments, _: &Context| {
            let by =
                it.by.as_ref().map(|it| (it.city.clone(), it.paging.first, it.paging.after.clone(), it.open));
            format!("{by:?} {} {:?}", it.paging.first, it.paging.after)
        }),
    ));
    let sdl = schema.sdl();
    assert!(sdl.contains("input ShopsBy {\n  city: String!\n  first: Int! = 10 @validate(max: 20)\n  after: String\n  open: Boolean\n}"), "{sdl}");
    let ask = |arguments: &str| answer(&schema, &format!("{{ shops{arguments} }}"));
    assert_eq!(ask("")["data"]["shops"], "None 10 None");
    assert_eq!(
        ask("(first: 3, by: {open: true, after: \"x\", city: \"Ulm\"})")["data"]["shops"],
        "Some((\"Ulm\", 10, Some(\"x\"), Some(true))) 3 None"
    );
    let refused = ask("(by: {city: \"Ulm\", first: 21})");
    let words = refused["errors"][0]["message"].as_str().expect("it is refused");
    assert!(words.starts_with("`by.first`: "), "{words}");
}

#[derive(Object)]
struct Twice {
    created: String,
    #[graphql(flatten)]
    stamps: Stamps,
}

#[test]
fn two_fields_of_one_name_are_an_error_of_the_schema() {
    let make = |_: &(), _: &Context| Twice {
        created: String::new(),
        stamps: Stamps { created: String::new(), changed: None },
    };
    let error = Schema::code_first().field("Query.twice", root(make)).build().err().expect("it is refused");
    assert!(error.to_string().contains("Field \"Twice.created\" can only be defined once."), "{error}");
}
