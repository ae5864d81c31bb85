//! Values as they are bound.

use super::*;
use crate::exec::bindings::SlotRow;
use crate::frontend::form::Form;
use weir_engine::plan::output_plan::OutputPlan;
use weir_engine::source::{Ids, Protocol};
use weir_language::schema::Schema;
use weir_language::value::{Values, Variables};
use weir_relational::plan::Origin;

/// Binds the value that `build` writes to a parameter of type `oid`; `null` stands for null.
fn check(build: impl Fn(&mut Values), reader: Reader, oid: u32, expected: Result<&str, &str>) {
    let mut shape = OutputPlan::default();
    build(&mut shape.literals);
    let schema = Schema::from_sdl("type Query { a: Int }").unwrap();
    let bindings = Bindings {
        schema: &schema,
        enum_texts: &[],
        ids: &Ids::default(),
        output: &shape,
        variables: &Variables::default(),
        form: &Form::default(),
        row: SlotRow::default(),
        parent_keys: &[],
        shown: &[],
        claims: &weir_engine::caller::Claims::default(),
        stream: None,
        protocol: Protocol::Hasura,
    };
    let parameter = Parameter { origin: Origin::Literal(0), reader, path: "$".into() };
    let types = Types::builtin();
    let mut parameters = Parameters::new();
    let pushed = push(&bindings, Target { types: &types, oid }, &parameter, &mut parameters);
    let bound = match (&pushed, parameters.as_bytes().split_first_chunk::<4>()) {
        (Err(error), _) => Err(&*error.message),
        (Ok(()), Some(([0xff, ..], _))) => Ok("null"),
        (Ok(()), text) => Ok(std::str::from_utf8(text.unwrap().1).unwrap()),
    };
    assert_eq!(bound, expected);
}

fn node(node: Node) -> impl Fn(&mut Values) {
    move |values| values.nodes.push(node)
}

fn text(text: &'static str) -> impl Fn(&mut Values) {
    move |values| {
        let span = values.push_text(text);
        values.nodes.push(Node::Text(span));
    }
}

fn json(json: &'static str) -> impl Fn(&mut Values) {
    move |values| {
        let span = values.push_text(json);
        values.nodes.push(Node::Json(span));
    }
}

fn list(texts: &'static [&'static str]) -> impl Fn(&mut Values) {
    move |values| {
        let len = texts.len() as u32;
        values.nodes.push(Node::List { len, end: len + 1 });
        texts.iter().for_each(|it| text(it)(values));
    }
}

fn column(ty: ColumnType) -> Reader {
    Reader::Column(ty)
}

#[test]
fn scalars_are_bound_as_they_were_sent() {
    check(node(Node::Int(-5)), column(ColumnType::Int), oid::INT4, Ok("-5"));
    check(text("0.10"), column(ColumnType::Numeric), oid::NUMERIC, Ok("0.10"));
    check(node(Node::Bool(true)), column(ColumnType::Boolean), oid::BOOL, Ok("true"));
    check(node(Node::Float(0.1)), column(ColumnType::Real), oid::FLOAT4, Ok("0.1"));
    check(node(Node::Null), column(ColumnType::Text), oid::TEXT, Ok("null"));
    check(text("null"), column(ColumnType::Text), oid::TEXT, Ok("null"));
    check(json("{ \"a\": 1.50 }"), column(ColumnType::Jsonb), oid::JSONB, Ok("{ \"a\": 1.50 }"));
    let nul = "a text must not contain the character U+0000";
    check(text("a\0b"), column(ColumnType::Text), oid::TEXT, Err(nul));
}

#[test]
fn an_integer_too_large_for_its_column_is_refused_in_hasuras_words() {
    let words = |shown: &str| {
        format!(
            "The value {shown} lies outside the bounds or is not an integer. \
             Maybe it is a float, or is there integer overflow?"
        )
    };
    let small = words("32768.0");
    let large = words("2.147483648e9");
    check(node(Node::Int(32_768)), column(ColumnType::SmallInt), oid::INT2, Err(&small));
    check(node(Node::Int(2_147_483_648)), column(ColumnType::Int), oid::INT4, Err(&large));
    check(node(Node::Int(2_147_483_648)), column(ColumnType::BigInt), oid::INT8, Ok("2147483648"));
}

#[test]
fn lists_are_array_literals_and_no_item_is_more_than_an_item() {
    let each = || Reader::Each(ColumnType::Text);
    let quoted = r#"{"a","NULL","{\"b\\c,\"}",""}"#;
    check(list(&["a", "NULL", "{\"b\\c,\"}", ""]), each(), oid::TEXT_ARRAY, Ok(quoted));
    check(list(&[]), each(), oid::TEXT_ARRAY, Ok("{}"));
    check(text("a"), each(), oid::TEXT_ARRAY, Ok("{\"a\"}"));
    let hole = |values: &mut Values| {
        values.nodes.extend([Node::List { len: 1, end: 2 }, Node::Null]);
    };
    check(hole, each(), oid::TEXT_ARRAY, Err("unexpected null value in a list"));
    check(hole, column(ColumnType::Text), oid::TEXT_ARRAY, Ok("{NULL}"));
}

#[test]
fn an_array_in_postgresqls_own_form_is_taken_where_it_can_be_no_element() {
    let whole = list(&["{1,2}"]);
    check(whole, column(ColumnType::BigInt), oid::INT8_ARRAY, Ok("{1,2}"));
    check(list(&["{1,2}"]), column(ColumnType::Text), oid::TEXT_ARRAY, Ok("{\"{1,2}\"}"));
    check(text("{a,b}"), column(ColumnType::Text), oid::TEXT_ARRAY, Ok("{a,b}"));
    check(
        json("[[1, null], [2, 3]]"),
        column(ColumnType::BigInt),
        oid::INT8_ARRAY,
        Ok("{{\"1\",NULL},{\"2\",\"3\"}}"),
    );
}

#[test]
fn pages_and_paths_have_readers_of_their_own() {
    check(node(Node::Int(7)), Reader::Limit, oid::INT8, Ok("7"));
    check(node(Node::Null), Reader::Limit, oid::INT8, Ok("null"));
    let words = "expected a non-negative 32-bit integer for type 'Int', but found an integer";
    check(node(Node::Int(-1)), Reader::Limit, oid::INT8, Err(words));
    check(node(Node::Int(7)), Reader::BatchSize, oid::INT8, Ok("7"));
    check(node(Node::Int(0)), Reader::BatchSize, oid::INT8, Err("`batch_size` must be at least 1"));
    check(text("3"), Reader::Offset, oid::INT8, Ok("3"));
    check(text("$.a['o\"k'][0]"), Reader::JsonPath, oid::TEXT_ARRAY, Ok(r#"{"a","o\"k","0"}"#));
    check(text("a..b"), Reader::JsonPath, oid::TEXT_ARRAY, Err("parse json path error: \"a..b\""));
}
