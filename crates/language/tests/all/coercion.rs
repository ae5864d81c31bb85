//! Input coercion, row by row: numbers, strings, enums, nulls, lists, input objects, in both readings.

use weir_language::ast::{List, ValueKind};
use weir_language::coerce::{Reading, Settings, VariableTypes, literal};
use weir_language::error::Code;
use weir_language::json::{Json, JsonRef};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::schema::build::SchemaBuilder;
use weir_language::schema::{ScalarReader, Schema};
use weir_language::value::{Node, Values, Variables};

/// A schema with a scalar of every reader.
fn schema() -> Schema {
    let mut b = SchemaBuilder::new();
    let query = b.object("Query", "");
    let int = b.type_ref("Int");
    b.field("a", "", int);
    b.query(query);
    b.scalar("bigint", "", ScalarReader::BigInt);
    b.scalar("numeric", "", ScalarReader::Decimal);
    b.scalar("date", "", ScalarReader::Text);
    b.scalar("jsonb", "", ScalarReader::Json);
    b.enumeration("Order", "");
    b.enum_value("asc", "");
    b.enum_value("desc", "");
    b.input_object("Where", "");
    for (name, ty) in [("_and", "[Where!]"), ("eq", "Int"), ("order", "Order"), ("must", "Int!")] {
        let ty = b.type_ref(ty);
        b.input_field(name, "", ty);
        if name == "must" {
            b.default("7");
        }
    }
    b.input_object("One", "");
    b.one_of();
    for name in ["a", "b"] {
        b.input_field(name, "", int);
    }
    b.build().expect("a sound schema")
}

/// The tape in words.
fn said(schema: &Schema, values: &Values) -> String {
    let words = values.nodes.iter().map(|node| match *node {
        Node::Absent => "absent".into(),
        Node::Null => "null".into(),
        Node::Bool(truth) => truth.to_string(),
        Node::Int(int) | Node::QuotedInt(int) => int.to_string(),
        Node::Float(float) => format!("{float:?}f"),
        Node::Number(span) => format!("#{}", values.str(span)),
        Node::Text(span) => format!("{:?}", values.str(span)),
        Node::Json(span) => format!("json {}", values.str(span)),
        Node::Enum(id) => schema.str(schema.enum_value(id).name).to_owned(),
        Node::List { len, .. } => format!("[{len}]"),
        Node::Object { len, .. } => format!("{{{len}}}"),
        Node::Key(id) => format!("{}:", schema.input_name(id)),
        Node::Variable(number) => format!("${number}"),
        Node::Parent(column) => format!("parent {column}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn settings(reading: Reading) -> Settings {
    Settings::new(reading, &Limits::STANDARD)
}

/// As [`complaints`], as one line without the complaints' common beginning.
fn variable(reading: Reading, ty: &str, json: &str) -> String {
    complaints(reading, ty, json).unwrap_or_else(|errors| {
        let words = errors.iter().map(|it| it.split_once("; ").map_or(&**it, |(_, words)| words));
        words.collect::<Vec<_>>().join(" | ")
    })
}

/// Coerces `json`, the value of `$x`, and says what came of it, or the complaints.
fn complaints(reading: Reading, ty: &str, json: &str) -> Result<String, Vec<String>> {
    let schema = schema();
    let text = format!("query ($x: {ty}) {{ a }}");
    let document = parser::parse(&text, &Limits::STANDARD).expect("a document");
    let definitions = List::new(0, document.variables.len() as u32);
    let types =
        VariableTypes::new(&schema, &document, definitions, settings(reading), &[]).expect("known types");
    let body = format!("{{\"x\": {json}}}");
    let json = Json::parse(body.as_bytes(), 200).expect("JSON");
    let mut out = Variables::default();
    match types.coerce(&schema, Some(JsonRef { json: &json, at: 0 }), settings(reading), &mut out) {
        Ok(()) => Ok(said(&schema, &out.values)),
        Err(errors) => Err(errors.into_iter().map(|it| it.error.message).collect()),
    }
}

/// Coerces a literal; `$x` is variable 0.
fn written(ty: &str, value: &str) -> String {
    let schema = schema();
    let text = format!("query ($t: {ty}) {{ a(x: {value}) }}");
    let document = parser::parse(&text, &Limits::STANDARD).expect("a document");
    let ty = document.variables[0].ty;
    let base = schema.type_by_name(document.str(ty.name)).expect("a type");
    let ty = weir_language::schema::TypeRef { base, wraps: ty.wraps };
    let mut out = Values::default();
    let number = |value| match document.value(value).kind {
        ValueKind::Variable(name) => (document.str(name) == "x").then_some(0),
        _ => None,
    };
    let value = document.arguments[0].value;
    match literal(&schema, &document, value, ty, settings(Reading::Strict), &number, &mut out) {
        Ok(at) => {
            assert_eq!(at, 0);
            said(&schema, &out)
        }
        Err(errors) => errors.into_iter().map(|it| it.message).collect::<Vec<_>>().join(" | "),
    }
}

fn strict(ty: &str, json: &str, expected: &str) {
    assert_eq!(variable(Reading::Strict, ty, json), expected, "strict {ty}: {json}");
}
fn lenient(ty: &str, json: &str, expected: &str) {
    assert_eq!(variable(Reading::Lenient, ty, json), expected, "lenient {ty}: {json}");
}
fn check(ty: &str, value: &str, expected: &str) {
    assert_eq!(written(ty, value), expected, "literal {ty}: {value}");
}

#[test]
fn int_takes_32_bits_and_no_fraction_exponent_or_string() {
    strict("Int", "2147483647", "2147483647");
    strict("Int", "1.0", "1");
    strict("Int", "2147483648", "Int cannot represent non 32-bit signed integer value: 2147483648");
    strict("Int", "-2147483649", "Int cannot represent non 32-bit signed integer value: -2147483649");
    strict("Int", "1.5", "Int cannot represent non-integer value: 1.5");
    strict("Int", "1e2", "Int cannot represent non-integer value: 1e2");
    strict("Int", "\"1\"", "Int cannot represent non-integer value: \"1\"");
    strict("Int", "true", "Int cannot represent non-integer value: true");
    check("Int", "-5", "-5");
    check("Int", "2147483648", "Int cannot represent non 32-bit signed integer value: 2147483648");
    check("Int", "1.0", "Int cannot represent non-integer value: 1.0");
    check("Int", "1e2", "Int cannot represent non-integer value: 1e2");
    check("Int", "\"1\"", "Int cannot represent non-integer value: \"1\"");
    lenient("Int", "\"32767\"", "32767");
    lenient("Int", "1e2", "100");
    lenient("Int", "\"x\"", "expected a 32-bit integer for type 'Int', but found a string");
}

#[test]
fn float_is_finite() {
    strict("Float", "1e400", "Float cannot represent non numeric value: 1e400");
    check("Float", "1e400", "Float cannot represent non numeric value: 1e400");
    strict("Float", "-0", "-0.0f");
    strict("Float", "3", "3.0f");
    check("Float", "3", "3.0f");
    strict("Float", "\"NaN\"", "Float cannot represent non numeric value: \"NaN\"");
    lenient("Float", "\"2.5\"", "2.5f");
    lenient("Float", "-1e400", "The value -1e400 lies outside the range of type 'Float'");
    lenient("Float", "\"Infinity\"", "expected a float for type 'Float', but found a string");
    strict("Float", &"9".repeat(300), "1e300f");
}

#[test]
fn large_numbers_keep_their_digits_or_are_refused() {
    strict("bigint", "9223372036854775807", "9223372036854775807");
    strict("bigint", "\"-9223372036854775808\"", "-9223372036854775808");
    strict(
        "bigint",
        "9223372036854775808",
        "bigint cannot represent non 64-bit signed integer value: 9223372036854775808",
    );
    check("bigint", "9007199254740993", "9007199254740993");
    let digits = format!("0.{}", "7".repeat(100_000));
    strict("numeric", &digits, &format!("#{digits}"));
    strict("numeric", "\"12344.5700\"", "#12344.5700");
    check("numeric", "1.10", "#1.10");
    strict("numeric", "\"NaN\"", "\"NaN\"");
    check("numeric", "\" -infinity\"", "\"-infinity\"");
    strict("numeric", "\"-NaN\"", "numeric cannot represent non numeric value: \"-NaN\"");
    strict("numeric", "\"1,5\"", "numeric cannot represent non numeric value: \"1,5\"");
}

#[test]
fn strings_enums_and_ids_are_what_they_are() {
    strict("String", "\"a\\u00e9\\n\"", "\"aé\\n\"");
    strict("ID", "\"\\\\\\ud83d\\ude00\"", "\"\\\\😀\"");
    strict("String", "1", "String cannot represent a non string value: an integer");
    check("String", "\"\"\"\n  a\n   b\n\"\"\"", "\"a\\n b\"");
    check("String", "asc", "String cannot represent a non string value: an enum value");
    strict("ID", "7", "\"7\"");
    strict("ID", "1.5", "ID cannot represent value: 1.5");
    check("ID", "7", "\"7\"");
    strict("Boolean", "\"true\"", "Boolean cannot represent a non boolean value: \"true\"");
    lenient("Boolean", "\"t\"", "true");
    strict("Order", "\"desc\"", "desc");
    strict("Order", "\"DESC\"", "Value \"DESC\" does not exist in \"Order\" enum.");
    strict("Order", "1", "Enum \"Order\" cannot represent non-string value: 1.");
    strict("Order", "\"__proto__\"", "Value \"__proto__\" does not exist in \"Order\" enum.");
    check("Order", "asc", "asc");
    check("Order", "\"asc\"", "Enum \"Order\" cannot represent non-enum value: \"asc\".");
    lenient("Order", "\"up\"", "expected one of the values ['asc', 'desc'] for type 'Order', but found 'up'");
    strict("date", "\"2024-01-01\"", "\"2024-01-01\"");
    strict("date", "20240101", "\"20240101\"");
    strict("date", "[]", "date cannot represent value: []");
}

#[test]
fn json_is_kept_as_it_was_written() {
    strict("jsonb", "{\"a\": [1.50, null]}", "json {\"a\": [1.50, null]}");
    check("jsonb", "{ a: [1.50, null, asc, \"q\\\"\"] }", r#"json {"a":[1.50,null,"asc","q\""]}"#);
    check("jsonb", "{ a: $x }", "jsonb cannot represent a variable inside a literal: {…}");
    check("jsonb", "$x", "$0");
    check("jsonb", "{}", "json {}");
}

#[test]
fn null_missing_and_default_differ() {
    strict("Int!", "null", "Variable \"$x\" of non-null type \"Int!\" must not be null.");
    strict("Int", "null", "null");
    strict("Int = 3", "null", "null");
    check("Int!", "null", "Expected value of type \"Int!\", found null.");
    strict("Where", "{\"must\": null}", "Expected non-nullable type \"Int!\" not to be null.");
    strict("Where", "{\"eq\": null}", "{2} eq: null must: 7");
    lenient("Where", "{\"must\": null}", "unexpected null value for type 'Int'");
    lenient("Int!", "null", "null value found for non-nullable type: \"Int!\"");
}

#[test]
fn one_value_is_a_list_of_one_and_lists_are_bounded() {
    strict("[Int]", "1", "[1] 1");
    strict("[[Int]]", "1", "[1] [1] 1");
    strict("[[Int]]", "[1, [2, null]]", "[2] [1] 1 [2] 2 null");
    strict("[Int]", "[[1]]", "Int cannot represent non-integer value: […]");
    strict("[Int]", "null", "null");
    strict("[Int!]", "[null]", "Expected non-nullable type \"Int!\" not to be null.");
    check("[Int]", "[1, $x]", "[2] 1 $0");
    check("[Where!]", "{ eq: 1 }", "[1] {2} eq: 1 must: 7");
    let items = vec!["1"; 10_001].join(",");
    strict("[Int]", &format!("[{items}]"), "List contains more than 10000 items.");
    strict("jsonb", &format!("[{items}]"), &format!("json [{items}]"));
}

#[test]
fn input_objects_refuse_what_they_do_not_know() {
    strict("Where", "{\"__proto__\": 1}", "Field \"__proto__\" is not defined by type \"Where\".");
    strict("Where", "[]", "Expected type \"Where\" to be an object.");
    check("Where", "{ constructor: 1 }", "Field \"constructor\" is not defined by type \"Where\".");
    check("Where", "1", "Expected value of type \"Where\", found 1.");
    check("Where", "{ must: $x, eq: 1 }", "{2} eq: 1 must: $0");
    check("Where", "{ eq: 1, eq: 2 }", "There can be only one input field named \"eq\".");
    lenient("Where", "{\"zz\": 1}", "field 'zz' not found in type: 'Where'");
}

#[test]
fn what_stands_beside_a_mistake_is_not_told() {
    for body in [
        r#"{"secret": "hush", "eq": 1}"#,
        r#"{"eq": {"secret": "hush"}}"#,
        r#"{"eq": ["hush"]}"#,
        r#"{"_and": [{"zz": "hush"}, "x"], "must": null}"#,
        r#"{"order": {"a": ["hush"]}}"#,
        r#"["hush", "hush"]"#,
    ] {
        for reading in [Reading::Strict, Reading::Lenient] {
            let all = complaints(reading, "Where", body).expect_err(body).join("\n");
            assert!(!all.contains("hush"), "{body}: {all}");
        }
    }
    for body in
        ["{secret: \"hush\", eq: 1}", "{eq: {secret: \"hush\"}}", "{eq: [\"hush\"]}", "[{must: [[hush]]}]"]
    {
        assert!(!written("Where", body).contains("hush"), "{body}: {}", written("Where", body));
    }
    let whole =
        complaints(Reading::Strict, "Where", r#"{"_and": [{"secret": "hush"}]}"#).expect_err("unknown");
    let words = "Variable \"$x\" got invalid value {…} at \"x._and[0]\"; Field \"secret\" is not defined by type \"Where\".";
    assert_eq!(whole, [words]);
}

#[test]
fn one_of_wants_exactly_one_member_that_is_not_null() {
    strict("One", "{\"a\": 1}", "{1} a: 1");
    strict("One", "{}", "Exactly one key must be specified for OneOf type \"One\".");
    strict("One", "{\"a\": 1, \"b\": 2}", "Exactly one key must be specified for OneOf type \"One\".");
    strict("One", "{\"a\": null}", "Field \"a\" must be non-null.");
    check("One", "{ a: 1, b: 2 }", "OneOf Input Object \"One\" must specify exactly one key.");
    check("One", "{ b: null }", "Field \"One.b\" must be non-null.");
    check("One", "{ b: $x }", "{1} b: $0");
}

#[test]
fn nesting_costs_no_stack_and_errors_stay_few_and_short() {
    let open = "{\"_and\":[".repeat(60);
    let close = "]}".repeat(60);
    assert!(variable(Reading::Strict, "Where", &format!("{open}{close}")).starts_with("{2} _and: [1] {2}"));
    let bad = vec!["\"x\""; 9_000].join(",");
    assert_eq!(variable(Reading::Strict, "[Int]", &format!("[{bad}]")).matches(" | ").count(), 49);
    let long = format!("\"{}\"", "é".repeat(100_000));
    assert!(variable(Reading::Strict, "Int", &long).len() < 1_000);
}

#[test]
fn five_hundred_variables_are_found_by_name() {
    let schema = schema();
    let names: Vec<_> = (0..500).map(|number| format!("v{number}")).collect();
    let definitions: Vec<_> = names.iter().map(|name| format!("${name}: Int")).collect();
    let text = format!("query ({}) {{ a }}", definitions.join(" "));
    let document = parser::parse(&text, &Limits::STANDARD).expect("a document");
    let definitions = List::new(0, document.variables.len() as u32);
    let types =
        VariableTypes::new(&schema, &document, definitions, settings(Reading::Strict), &[]).expect("types");
    let members: Vec<_> = names.iter().rev().map(|name| format!("\"{name}\": {}", &name[1..])).collect();
    let body = format!("{{{}}}", members.join(","));
    let json = Json::parse(body.as_bytes(), 10).expect("JSON");
    let mut out = Variables::default();
    let json = JsonRef { json: &json, at: 0 };
    types.coerce(&schema, Some(json), settings(Reading::Strict), &mut out).expect("all fit");
    assert!((0..500).all(|number| out.node(number) == Node::Int(i64::from(number))));
    assert_eq!(types.number("v499"), Some(499));
    assert_eq!(types.number("v500"), None);
}

#[test]
fn a_list_that_is_too_long_has_its_own_code() {
    let schema = schema();
    let document = parser::parse("query ($x: [Int]) { a }", &Limits::STANDARD).expect("a document");
    let definitions = List::new(0, 1);
    let few = Settings { list_items_max: 2, ..settings(Reading::Lenient) };
    let types = VariableTypes::new(&schema, &document, definitions, few, &[]).expect("types");
    let json = Json::parse(br#"{"x": [1, 2, 3]}"#, 10).expect("JSON");
    let mut out = Variables::default();
    let errors =
        types.coerce(&schema, Some(JsonRef { json: &json, at: 0 }), few, &mut out).expect_err("too long");
    assert_eq!(errors.iter().map(|it| it.error.code).collect::<Vec<_>>(), [Code::LimitList]);
}

#[test]
fn lists_of_scalars_take_deeper_lists_and_array_texts_leniently() {
    lenient("[Int!]", "[[1, \"2\"], [3]]", "[2] [2] 1 2 [1] 3");
    lenient("[Int!]", "\"{1,2}\"", "\"{1,2}\"");
    lenient("[String!]", "\"{a,b}\"", "\"{a,b}\"");
    lenient("[String!]", "\"a\"", "[1] \"a\"");
    lenient("[String!]", "[\"{a}\"]", "[1] \"{a}\"");
    lenient("[Int!]", "[\"{1,2}\"]", "expected a 32-bit integer for type 'Int', but found a string");
    lenient("[Int!]", "[[null]]", "unexpected null value for type 'Int'");
    lenient("Int", "[1]", "expected a 32-bit integer for type 'Int', but found a list");
    strict("[Int!]", "[[1]]", "Int cannot represent non-integer value: […]");
    strict("[Int!]", "\"{1}\"", "Int cannot represent non-integer value: \"{1}\"");
}
