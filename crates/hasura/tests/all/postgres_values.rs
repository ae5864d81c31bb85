//! The decoders' output equals that of PostgreSQL's `to_json`: value by value, on a real server.
//!
//! A value comes back as hexadecimal digits, in binary (`record_send`) and as text, so that each decoder reads what it would
//! ask for.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::fmt::Write as _;
use weir_database::exec::cell_value::CellValue;
use weir_database::postgres::values::decode::{Choices, Decoder};
use weir_database::postgres::values::json_literal::write;
use weir_postgres::introspect::{Functions, ReadRelations, Shards, assemble, questions, schemas_array};
use weir_postgres::statement::{Buffer, Format};
use weir_relational::catalog::postgres_types::{Kind, Type, Types};
use weir_relational::dialect::Floats;

pub(crate) mod corpus;

use crate::postgres_kit::release::on_each_release;
use crate::postgres_kit::{Database, database};

/// UTC, UTF-8, numbers as numbers.
const USUAL: Choices = Choices { utc: true, stringify: false, floats: Floats::AsPostgres, utf8: true };

/// A value as the server gave it.
struct Sample {
    oid: u32,
    binary: Vec<u8>,
    text: Vec<u8>,
    json: String,
}

impl Sample {
    /// The bytes that `decoder` asks for.
    fn bytes(&self, decoder: &Decoder) -> &[u8] {
        match decoder.format() {
            Format::Binary => &self.binary,
            Format::Text => &self.text,
        }
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
    (0..digits.len()).step_by(2).map(digit).collect()
}

/// Asks for `values`: SQL expressions, none of them null.
fn ask(database: &Database, zone: &str, values: &[String]) -> Vec<Sample> {
    let mut sql = format!("SET timezone = '{zone}';\n");
    for value in values {
        let _ = writeln!(
            sql,
            "SELECT pg_typeof(v)::oid::int8, encode(record_send(row(v)), 'hex'), \
             encode(convert_to(format('%s', v), 'UTF8'), 'hex'), encode(convert_to(to_json(v)::text, 'UTF8'), 'hex') \
             FROM (SELECT {value} AS v) AS it;"
        );
    }
    let answer = database.run(&sql);
    let samples = answer.lines().filter(|line| line.contains('|')).map(|line| {
        let mut parts = line.split('|');
        let mut part = || parts.next().expect("four columns");
        let oid = part().parse().expect("a number");
        // Number of fields, type and length come before the value.
        let binary = unhex(part()).split_off(12);
        let text = unhex(part());
        let json = String::from_utf8(unhex(part())).expect("UTF-8");
        Sample { oid, binary, text, json }
    });
    let samples: Vec<Sample> = samples.collect();
    assert_eq!(samples.len(), values.len(), "an answer for each value");
    samples
}

/// The types of the database, those of [`corpus::TYPES`] among them.
fn types(database: &Database) -> Types {
    let schemas = schemas_array(&["public".to_owned()]);
    let answers = questions(Functions::Ignored, Shards::None, ReadRelations::Own)
        .map(|question| database.rows(&format!("PREPARE q(text[]) AS {question}; EXECUTE q('{schemas}')")));
    let rows =
        answers.each_ref().map(|rows| rows.iter().map(|row| row.iter().map(Option::as_deref)).collect());
    assemble(rows).1
}

/// The JSON of `value`.
fn shown(value: &CellValue<'_>) -> String {
    match value {
        CellValue::Null => "null".to_owned(),
        CellValue::Bool(value) => value.to_string(),
        CellValue::Int(value) => value.to_string(),
        CellValue::Float(value) => value.to_string(),
        CellValue::Json(json) => String::from_utf8_lossy(json).into_owned(),
        CellValue::Text(text) => {
            let mut out = weir_engine::write::out::Out::default();
            out.text(text);
            String::from_utf8(out.into_bytes()).expect("UTF-8")
        }
    }
}

/// PostgreSQL does not take a number that lies just on the bound between two floats for either of them; we do, as
/// IEEE 754 has it read back. So ours may have a digit less.
fn same_float(ours: &str, theirs: &str, oid: u32) -> bool {
    const FLOAT4: u32 = 700;
    const FLOAT8: u32 = 701;
    let same = match oid {
        FLOAT4 => ours.parse::<f32>() == theirs.parse::<f32>(),
        FLOAT8 => ours.parse::<f64>() == theirs.parse::<f64>(),
        _ => false,
    };
    same && ours.len() < theirs.len()
}

fn check(types: &Types, samples: &[Sample], choices: Choices) {
    let mut scratch = Vec::new();
    for sample in samples {
        let decoder = Decoder::new(types, sample.oid, choices);
        let value = decoder.read(sample.bytes(&decoder), &mut scratch).expect("a value");
        let ours = shown(&value);
        let same = ours == sample.json || same_float(&ours, &sample.json, sample.oid);
        assert!(same, "type {} {choices:?}: {ours} is not {}", sample.oid, sample.json);
    }
}

fn every_value_is_what_to_json_prints() {
    let database = database(corpus::TYPES);
    let types = types(&database);
    let values = corpus::values();
    let samples = ask(&database, "UTC", &values);
    check(&types, &samples, USUAL);
    check(&types, &samples, Choices { utf8: false, ..USUAL });
    for zone in ["Europe/Rome", "Asia/Kolkata", "America/St_Johns"] {
        check(&types, &ask(&database, zone, &values), Choices { utc: false, ..USUAL });
    }
}

/// So many of what `strategy` makes, always the same.
fn some<T>(count: usize, strategy: impl Strategy<Value = T>) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn random_values_are_what_to_json_prints() {
    let database = database(corpus::TYPES);
    let text = || "[^\0]{0,12}";
    let mut values = Vec::new();
    values.extend(some(600, "-?[0-9]{1,40}(\\.[0-9]{1,40})?").iter().map(|it| format!("numeric '{it}'")));
    values.extend(some(200, "-?[0-9]{1,5}e-?[0-9]{1,2}").iter().map(|it| format!("numeric '{it}'")));
    values.extend(some(600, any::<f64>()).iter().map(|it| format!("float8 '{it:?}'")));
    values.extend(some(600, any::<f32>()).iter().map(|it| format!("float4 '{it:?}'")));
    let us = -200_000_000_000_000_000..9_000_000_000_000_000_000_i64;
    values.extend(some(600, us.clone()).iter().map(|it| {
        format!(
            "timestamp '2000-01-01' + interval '{} hours {} microseconds'",
            it / 3_600_000_000,
            it % 3_600_000_000
        )
    }));
    values.extend(some(300, us).iter().map(|it| {
        format!(
            "timestamptz '2000-01-01' + interval '{} hours {} microseconds'",
            it / 3_600_000_000,
            it % 3_600_000_000
        )
    }));
    values.extend(
        some(300, -2_400_000..2_000_000_000_i32).iter().map(|it| format!("date '2000-01-01' + {it}")),
    );
    let parts = (-30..30_i32, -40..40_i32, -100_000_000_000..100_000_000_000_i64);
    values.extend(
        some(600, parts)
            .iter()
            .map(|(months, days, us)| format!("interval '{months} months {days} days {us} microseconds'")),
    );
    values.extend(some(400, text()).iter().map(|it| format!("{}::text", quoted(it))));
    values.extend(some(300, proptest::collection::vec(proptest::option::of(text()), 0..5)).iter().map(
        |items| {
            let items = items.iter().map(|it| it.as_ref().map_or("NULL".to_owned(), |it| quoted(it)));
            format!("ARRAY[{}]::text[]", items.collect::<Vec<_>>().join(", "))
        },
    ));
    values.extend(some(200, (text(), text(), any::<i32>())).iter().map(|(one, two, number)| {
        format!("ARRAY[row({}, row({}, '(1,2)', {number}, NULL))]::outer_row[]", quoted(one), quoted(two))
    }));
    let types = types(&database);
    let samples = ask(&database, "UTC", &values);
    check(&types, &samples, USUAL);
    check(&types, &samples, Choices { utf8: false, ..USUAL });
}

/// JSON that stands for a value of a type.
const GIVEN: &[(&str, &str)] = &[
    ("int4[]", "[[1, 2], [3, null]]"),
    ("text[]", r#"["", "NULL", null, "\"", "\\", "{a,b}", "é", " ", "a\nb"]"#),
    ("jsonb[]", r#"[{"a": [1, null]}, [1, 2], "x", 1.50, true]"#),
    ("numeric[]", "[]"),
    ("box[]", r#"["(3,4),(1,2)", "(5,6),(1,2)"]"#),
    ("words", r#"["a", "b c"]"#),
    ("mood", r#""o\"k""#),
    ("numeric", "12345678901234567890.50"),
    ("bool", "true"),
    ("pair", r#"{"the \"n\"": "a\"b\\c,(d)", "at": "2015-10-17T14:42:43+00:00", "n": 1.5, "l": [1, null]}"#),
    ("pair[]", r#"[{"the \"n\"": null, "at": null, "n": null, "l": [[1], [2]]}, null]"#),
    ("outer_row[]", r#"[{"t": "(\"", "r": {"t": "\\,", "p": "(1,2)", "n": 5, "nothing": null}}]"#),
];

fn json_comes_back_from_its_literal_as_it_was() {
    let database = database(corpus::TYPES);
    let types = types(&database);
    let mut given: Vec<(String, String)> =
        GIVEN.iter().map(|&(ty, json)| (ty.to_owned(), json.to_owned())).collect();
    for texts in some(300, proptest::collection::vec(proptest::option::of("[^\0]{0,12}"), 0..5)) {
        given.push(("text[]".to_owned(), serde_json::to_string(&texts).expect("JSON")));
        let json = serde_json::json!([{"t": texts.first(), "r": {"t": texts.last(), "p": null, "n": 1, "nothing": null}}]);
        given.push(("outer_row[]".to_owned(), json.to_string()));
    }
    let asked: String = given.iter().map(|(ty, _)| format!("SELECT '{ty}'::regtype::oid::int8;\n")).collect();
    let oids = database.run(&asked);
    let mut sql = "SET timezone = 'UTC';\n".to_owned();
    for ((ty, json), oid) in given.iter().zip(oids.lines()) {
        let mut literal = Buffer::new();
        write(&types, oid.parse().expect("a number"), json, &mut literal).expect("it fits");
        let literal = String::from_utf8(literal.to_vec()).expect("UTF-8");
        let literal = quoted(&literal);
        let json = quoted(json);
        let _ = writeln!(sql, "SELECT to_jsonb({literal}::{ty}) = {json}::jsonb;");
    }
    let answers = database.run(&sql);
    assert_eq!(answers.lines().count(), given.len(), "an answer for each");
    let wrong = given.iter().zip(answers.lines()).find(|(_, answer)| *answer != "t");
    assert_eq!(wrong, None);
}

#[test]
fn json_that_fits_no_literal_is_told() {
    let mut types = Types::builtin();
    let fields = vec![("a".to_owned(), 23)];
    let name = "one".to_owned();
    let schema = "public".to_owned();
    types.add(Type {
        oid: 90_000,
        array_oid: 0,
        cast: name.clone(),
        name,
        schema,
        kind: Kind::Composite { fields },
    });
    for (oid, json, words) in [
        (90_000, r#"{"a": 1, "b": 2}"#, "field 'b' not found in the composite type"),
        (90_000, "[1]", "expected a value of type \"one\""),
        (23, "{}", "expected a value of type \"int4\""),
        (1007, "[[[[[[[1]]]]]]]", "the number of array dimensions exceeds the maximum allowed (6)"),
        (1009, r#"["a\u0000"]"#, "a text must not contain the character U+0000"),
    ] {
        assert_eq!(write(&types, oid, json, &mut Buffer::new()), Err(words.to_owned()), "{json}");
    }
}

fn large_numbers_are_strings_when_asked() {
    let database = database(corpus::TYPES);
    let types = types(&database);
    let expected = [
        ("9223372036854775807::int8", "\"9223372036854775807\""),
        ("1.50::numeric", "\"1.50\""),
        ("'NaN'::numeric", "\"NaN\""),
        ("1e30::float8", "\"1e+30\""),
        ("'{1,NULL}'::int8[]", "[\"1\",null]"),
        ("7::int4", "7"),
        ("1.5::float4", "1.5"),
        ("'1.5'::money", "\"$1.50\""),
    ];
    let values: Vec<String> = expected.iter().map(|it| it.0.to_owned()).collect();
    for utf8 in [true, false] {
        let choices = Choices { stringify: true, utf8, ..USUAL };
        for (sample, (value, json)) in ask(&database, "UTC", &values).iter().zip(expected) {
            let decoder = Decoder::new(&types, sample.oid, choices);
            let mut scratch = Vec::new();
            let value_read = decoder.read(sample.bytes(&decoder), &mut scratch).expect("a value");
            assert_eq!(shown(&value_read), json, "{value}");
        }
    }
}

fn bytes_of_another_form_are_a_fault_and_nothing_else() {
    let database = database(corpus::TYPES);
    let types = types(&database);
    let samples = ask(&database, "UTC", &corpus::values());
    let mut faults = 0;
    let mut scratch = Vec::new();
    for sample in &samples {
        let decoder = Decoder::new(&types, sample.oid, USUAL);
        let bytes = sample.bytes(&decoder);
        for end in 0..bytes.len().min(64) {
            faults += usize::from(decoder.read(&bytes[..end], &mut scratch).is_err());
            let mut changed = bytes.to_vec();
            changed[end] ^= 0x81;
            faults += usize::from(decoder.read(&changed, &mut scratch).is_err());
        }
    }
    assert!(faults > samples.len(), "{faults} faults");
}

#[test]
fn texts_of_a_database_without_an_encoding_are_checked() {
    let types = Types::builtin();
    let loose = Choices { utf8: false, ..USUAL };
    const TEXT: u32 = 25;
    let decoder = Decoder::new(&types, TEXT, loose);
    let fault = decoder.read(b"na\xefve", &mut Vec::new()).expect_err("no UTF-8");
    assert_eq!(fault.code, "INVALID_TEXT");
    let mut scratch = Vec::new();
    let value = decoder.read("naïve".as_bytes(), &mut scratch).expect("UTF-8");
    assert_eq!(shown(&value), "\"naïve\"");
}

on_each_release! {
    every_value_is_what_to_json_prints,
    random_values_are_what_to_json_prints,
    json_comes_back_from_its_literal_as_it_was,
    large_numbers_are_strings_when_asked,
    bytes_of_another_form_are_a_fault_and_nothing_else,
}
