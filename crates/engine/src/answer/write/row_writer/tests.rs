//! Tests of writing rows: members, errors and lists in parts.

use super::*;
use crate::answer::field_error::FieldError;
use crate::answer::output_plan::{PlanNodeId, ResponseKey, SelectionSet};
use crate::answer::rows::{CellError, Texts};

/// A root member `a: [T]` or what `ty` says, whose objects have one member `b`.
fn output(schema: &Schema, below: OutputKind) -> OutputPlan {
    let query = schema.query;
    let object = schema.type_by_name("T").unwrap();
    let member = |parent, name: &str, member, start| {
        let field = schema.field_by_name(parent, name).unwrap();
        let ty = schema.field(field).ty;
        OutputField {
            key: ResponseKey::new(name),
            field,
            ty,
            arguments_start: 0,
            arguments_len: 0,
            member,
            same_as: None,
            offset: start,
            membership: 0,
        }
    };
    let set = |on, start| SelectionSet { on, start, len: 1, hidden: Vec::new(), is_entity: false };
    OutputPlan {
        sets: vec![set(query, 0), set(object, 1), set(object, 2)],
        fields: vec![
            member(query, "a", OutputKind::Object(SelectionSetId(1)), 0),
            member(object, "b", below, 1),
            member(object, "b", OutputKind::Leaf, 2),
        ],
        ..OutputPlan::default()
    }
}

/// Writes `a` of the type `[T]`, whose `rows` have `b` of type `ty` in `column`.
fn written(
    ty: &str,
    below: OutputKind,
    column: &Column,
    rows: u32,
    children: &[Option<Rows>],
) -> (String, Vec<PathError>) {
    let sdl = format!("type Query {{ a: [T] }} type T {{ b: {ty} }} enum E {{ RED BLUE }} scalar J");
    let schema = Schema::from_sdl(&sdl).unwrap();
    let table = Table { rows, columns: vec![column.clone()], hidden: Vec::new() };
    let items = Box::new(Column { data: Data::Object(Box::new(table)), ..Column::default() });
    let list = Column { data: Data::List { offsets: vec![0, rows], items }, ..Column::default() };
    let output = output(&schema, below);
    let writing = Writing { schema: &schema, output: &output, children };
    let mut out = Out::default();
    let mut errors = Vec::new();
    assert!(member(&writing, &mut out, 0, &list, 0, &mut errors));
    (String::from_utf8(out.into_bytes()).unwrap(), errors)
}

/// As [`written`], whose text has to be `expected`. Returns the errors.
fn check(
    ty: &str,
    below: OutputKind,
    column: Column,
    children: &[Option<Rows>],
    expected: &str,
) -> Vec<PathError> {
    let (text, errors) = written(ty, below, &column, column.len() as u32, children);
    assert_eq!(text, expected);
    errors
}

fn ints(values: &[i64]) -> Column {
    Column { data: Data::Int(values.to_vec()), ..Column::default() }
}

#[test]
fn a_cell_that_failed_is_null_with_its_path() {
    let mut column = ints(&[1, 0, 3]);
    column.nulls.set(1);
    let error =
        FieldError { code: "BROKEN_LEG", message: "ouch".into(), hasura_path: None, extensions: None };
    column.errors.push(CellError { row: 1, error: error.clone() });
    let errors = check("Int", OutputKind::Leaf, column, &[], r#""a":[{"b":1},{"b":null},{"b":3}],"#);
    let path = vec![Step::Field(0), Step::Index(1), Step::Field(1)];
    assert_eq!(errors, [PathError { error, path, field: 1, is_undone: false }]);
}

#[test]
fn a_failed_cell_that_may_not_be_null_takes_its_object_along() {
    let mut column = ints(&[1, 0, i64::MAX]);
    column.nulls.set(1);
    let errors = check("Int!", OutputKind::Leaf, column, &[], r#""a":[{"b":1},null,null],"#);
    let codes: Vec<&str> = errors.iter().map(|it| it.error.code).collect();
    assert_eq!(codes, ["NULL_FOR_NON_NULL", "INT_RANGE"]);
}

#[test]
fn what_breaks_the_contract_is_an_error_and_no_panic() {
    let mut texts = Texts::default();
    texts.push(b"x");
    texts.ends[0] = 9;
    for data in [Data::Text(texts), Data::List { offsets: vec![0, 0], items: Box::default() }] {
        let rows = Column { data, ..Column::default() };
        let errors = check("String", OutputKind::Leaf, rows, &[], r#""a":[{"b":null}],"#);
        assert_eq!(errors[0].error.code, "INTERNAL");
    }
}

#[test]
fn foreign_rows_are_found_by_place() {
    let below = OutputKind::Foreign { node: PlanNodeId(1), field: 2, column: 0 };
    let places = || Column { data: Data::Foreign(vec![1, NO_PLACE, 0, 1]), ..Column::default() };
    let reply = Table { rows: 2, columns: vec![ints(&[7, 8])], hidden: Vec::new() };
    let answered = r#""a":[{"b":8},{"b":null},{"b":7},{"b":8}],"#;
    assert_eq!(check("Int", below, places(), &[None, Some(reply)], answered), []);
    // A node that failed as a whole has its error already.
    let failed = r#""a":[{"b":null},{"b":null},{"b":null},{"b":null}],"#;
    assert_eq!(check("Int", below, places(), &[None, None], failed), []);
}

/// Columns of three rows for the types of `b`: sound values, and those that fail.
fn columns() -> Vec<(&'static str, Column)> {
    let texts = |all: [&str; 3]| {
        let mut texts = Texts::default();
        all.iter().for_each(|it| texts.push(it.as_bytes()));
        texts
    };
    let lists = Data::List { offsets: vec![0, 2, 2, 3], items: Box::new(ints(&[1, 2, i64::MAX])) };
    let of = |data| Column { data, ..Column::default() };
    vec![
        ("Int", ints(&[1, i64::MAX, -3])),
        ("Float", of(Data::Float(vec![0.5, f64::NAN, 1e300]))),
        ("Boolean", of(Data::Bool(vec![true, false, true]))),
        ("String", of(Data::Text(texts(["a", "q\"\n", ""])))),
        ("ID", of(Data::Text(texts(["1", "2", "3"])))),
        ("E", of(Data::Text(texts(["RED", "GREEN", "BLUE"])))),
        ("J", of(Data::Json(texts(["{}", "[1]", "null"])))),
        ("[Int]", of(lists)),
        // Columns that a source may not answer for these types.
        ("String", of(Data::Empty)),
        ("String", of(Data::Object(Box::new(Table { rows: 3, ..Table::default() })))),
        ("[Int]", ints(&[1, 2, 3])),
        ("Int", ints(&[1])),
    ]
}

#[test]
fn leaves_that_a_node_below_answered_are_written_as_own_ones() {
    let error = FieldError { code: "OUCH", message: "ouch".into(), hasura_path: None, extensions: None };
    for (ty, mut column) in columns() {
        for (is_null, fails) in [(false, false), (true, false), (true, true)] {
            if is_null {
                column.nulls.set(0);
            }
            if fails {
                column.errors.push(CellError { row: 0, error: error.clone() });
            }
            for ty in [ty.to_owned(), format!("{ty}!")] {
                let own = written(&ty, OutputKind::Leaf, &column, 3, &[]);
                let below = OutputKind::Foreign { node: PlanNodeId(1), field: 2, column: 0 };
                let places = Column { data: Data::Foreign(vec![0, 1, 2]), ..Column::default() };
                let reply = Table { rows: 3, columns: vec![column.clone()], hidden: Vec::new() };
                let foreign = written(&ty, below, &places, 3, &[None, Some(reply)]);
                assert_eq!(foreign, own, "{ty}, {column:?}");
            }
        }
    }
}

#[test]
fn errors_are_kept_up_to_a_bound() {
    let rows = ERRORS_MAX + 5;
    let column = ints(&vec![i64::MAX; rows]);
    let items = vec![r#"{"b":null}"#; rows].join(",");
    assert_eq!(check("Int", OutputKind::Leaf, column, &[], &format!("\"a\":[{items}],")).len(), ERRORS_MAX);
}
