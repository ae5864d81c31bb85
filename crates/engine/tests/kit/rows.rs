//! JSON to rows and back to JSON.

use serde_json::{Value, json};
use weir_engine::plan::output_plan::{OutputArgument, OutputKind, OutputPlan, SelectionSetId};
use weir_engine::rows::{Bitmap, Column, Data, Table, Texts, Variants};
use weir_engine::source::{FetchInput, FieldError, Finished, Ids, PathError, Step};
use weir_engine::write::out::Out;
use weir_engine::write::rows::{Writing, member};
use weir_language::schema::{Schema, TypeId};
use weir_language::value::{Node, Values};

/// The values of one member in all rows.
pub fn column(
    schema: &Schema,
    ids: &Ids,
    shape: &OutputPlan,
    member: OutputKind,
    values: &[&Value],
) -> Column {
    let mut nulls = Bitmap::default();
    for (row, _) in values.iter().enumerate().filter(|it| it.1.is_null()) {
        nulls.set(row);
    }
    let data = if values.iter().any(|it| it.is_array()) && !matches!(member, OutputKind::Constant { .. }) {
        let mut offsets = vec![0];
        let mut items = Vec::new();
        for value in values {
            items.extend(value.as_array().into_iter().flatten());
            offsets.push(items.len() as u32);
        }
        Data::List { offsets, items: Box::new(column(schema, ids, shape, member, &items)) }
    } else {
        match member {
            OutputKind::Object(set) => Data::Object(Box::new(table(schema, ids, shape, set, values))),
            OutputKind::Abstract(choice) => {
                let mut variants = Variants::default();
                let sets = &shape.type_switches[choice.0 as usize].sets;
                let mut rows: Vec<(TypeId, SelectionSetId, Vec<&Value>)> =
                    sets.iter().map(|it| (it.0, it.1, Vec::new())).collect();
                for value in values {
                    let name = value["__typename"].as_str();
                    let found = rows.iter_mut().find(|it| Some(schema.type_name(ids.ty(it.0))) == name);
                    let (ty, place) = found.map_or((TypeId(0), 0), |it| {
                        it.2.push(value);
                        (it.0, it.2.len() - 1)
                    });
                    variants.types.push(ty);
                    variants.places.push(place as u32);
                }
                variants.tables =
                    rows.iter().map(|it| (it.0, table(schema, ids, shape, it.1, &it.2))).collect();
                Data::Abstract(Box::new(variants))
            }
            OutputKind::Leaf => leaves(values),
            OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Data::Empty,
        }
    };
    Column { nulls, data, ..Column::default() }
}

fn table(schema: &Schema, ids: &Ids, shape: &OutputPlan, set: SelectionSetId, values: &[&Value]) -> Table {
    let of = |name: &str| -> Vec<&Value> { values.iter().map(|it| &it[name]).collect() };
    let columns = shape.members(set).iter().map(|it| match it.member {
        OutputKind::Constant { .. } | OutputKind::Foreign { .. } => Column::default(),
        below => column(schema, ids, shape, below, &of(schema.field_name(ids.field(it.field)))),
    });
    let hidden =
        shape.set(set).hidden.iter().map(|&field| {
            column(schema, ids, shape, OutputKind::Leaf, &of(schema.field_name(ids.field(field))))
        });
    Table { rows: values.len() as u32, columns: columns.collect(), hidden: hidden.collect() }
}

fn leaves(values: &[&Value]) -> Data {
    match values.iter().find(|it| !it.is_null()) {
        None => Data::Empty,
        Some(Value::Number(number)) if number.is_i64() => {
            Data::Int(values.iter().map(|it| it.as_i64().unwrap_or(0)).collect())
        }
        Some(Value::Number(_)) => Data::Float(values.iter().map(|it| it.as_f64().unwrap_or(0.0)).collect()),
        Some(Value::Bool(_)) => Data::Bool(values.iter().map(|it| *it == &json!(true)).collect()),
        Some(Value::String(_)) => {
            let mut texts = Texts::default();
            values.iter().for_each(|it| texts.push(it.as_str().unwrap_or("").as_bytes()));
            Data::Text(texts)
        }
        Some(_) => {
            let mut texts = Texts::default();
            values.iter().for_each(|it| texts.push(it.to_string().as_bytes()));
            Data::Json(texts)
        }
    }
}

/// Rows a column has, of the leaves that can be keys.
pub fn len(column: &Column) -> usize {
    match &column.data {
        Data::Bool(values) => values.len(),
        Data::Int(values) => values.len(),
        Data::Float(values) => values.len(),
        Data::Text(texts) | Data::Json(texts) => texts.ends.len(),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
            panic!("no key")
        }
    }
}

fn cell(column: &Column, row: usize) -> Value {
    match &column.data {
        Data::Bool(values) => json!(values[row]),
        Data::Int(values) => json!(values[row]),
        Data::Float(values) => json!(values[row]),
        Data::Text(texts) => json!(std::str::from_utf8(texts.get(row)).expect("UTF-8")),
        Data::Json(_)
        | Data::Empty
        | Data::List { .. }
        | Data::Object(_)
        | Data::Abstract(_)
        | Data::Foreign(_) => panic!("no key"),
    }
}

/// The value of an argument, variables and parents' keys put in; `None` if it was not sent.
pub fn argument(
    schema: &Schema,
    ids: &Ids,
    input: &FetchInput<'_>,
    argument: &OutputArgument,
    row: Option<usize>,
) -> Option<Value> {
    let reader = Reader { schema, ids, input, row };
    reader.value(&input.output.literals, argument.value as usize).or_else(|| {
        argument.default.and_then(|default| reader.value(&input.output.literals, default as usize))
    })
}

struct Reader<'r> {
    schema: &'r Schema,
    ids: &'r Ids,
    input: &'r FetchInput<'r>,
    row: Option<usize>,
}

impl Reader<'_> {
    fn value(&self, values: &Values, at: usize) -> Option<Value> {
        Some(match values.nodes[at] {
            Node::Absent => return None,
            Node::Null => Value::Null,
            Node::Bool(is) => json!(is),
            Node::Int(value) | Node::QuotedInt(value) => json!(value),
            Node::Float(value) => json!(value),
            Node::Number(text) | Node::Json(text) => serde_json::from_str(values.str(text)).expect("JSON"),
            Node::Text(text) => json!(values.str(text)),
            Node::Enum(value) => {
                let name = self.schema.enum_value(self.ids.enum_value(value)).name;
                json!(self.schema.str(name))
            }
            Node::List { .. } => values.items(at).filter_map(|item| self.value(values, item)).collect(),
            Node::Object { .. } => {
                let mut object = json!({});
                for (input, place) in values.members(at) {
                    if let Some(value) = self.value(values, place) {
                        object[self.schema.input_name(self.ids.input(input))] = value;
                    }
                }
                object
            }
            Node::Key(_) => panic!("no value"),
            Node::Variable(number) => {
                let variables = self.input.variables;
                return self.value(&variables.values, variables.starts[number as usize] as usize);
            }
            Node::Parent(number) => {
                let keys = self.input.parent_keys.expect("keys below the root");
                cell(&keys[number as usize], self.row.expect("a row below the root"))
            }
        })
    }
}

/// The bytes of a root answer, as a source that writes for itself gives them.
pub fn finish(
    fetch: &super::DocumentFetch,
    input: &FetchInput<'_>,
    table: &Table,
) -> (Finished, Vec<PathError>) {
    let writing = Writing { schema: &fetch.schema, output: input.output, children: &[] };
    let mut out = Out::default();
    let mut errors = Vec::new();
    let mut ends = Vec::new();
    for (&field, column) in fetch.fields.iter().zip(&table.columns) {
        // Words of the writer would need names of the graph, not of the source.
        if column.nulls.get(0) && input.output.fields[field as usize].ty.is_non_null() {
            let error = FieldError {
                code: "NULL_FOR_NON_NULL",
                message: "a null".into(),
                hasura_path: None,
                extensions: None,
            };
            let null = PathError { error, path: vec![Step::Field(field)], field, is_undone: false };
            return (Finished { bytes: out.into_bytes(), ends, failed: true, rest: None }, vec![null]);
        }
        assert!(member(&writing, &mut out, field, column, 0, &mut errors));
        ends.push(out.len() as u32);
    }
    assert!(errors.is_empty());
    (Finished { bytes: out.into_bytes(), ends, failed: false, rest: None }, errors)
}
