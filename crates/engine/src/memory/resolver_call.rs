//! One asking of a root field: its arguments, with variables, defaults and the parent's keys put in.

use super::value_tree::{Object, Value};
use crate::answer::output_plan::OutputField;
use crate::answer::rows::{Column, Data};
use crate::source::{FetchInput, Ids};
use std::sync::Arc;
use weir_language::schema::Schema;
use weir_language::value::{Node, Values};

/// Input of a resolver.
#[derive(Clone, Copy)]
pub struct Call<'r> {
    pub(super) input: FetchInput<'r>,
    pub(super) output_field: &'r OutputField,
    pub(super) schema: &'r Schema,
    pub(super) ids: &'r Ids,
    /// The row of the parent's keys.
    pub(super) row: usize,
}

impl Call<'_> {
    /// The argument called `name`: as given, else its default, else `None`.
    pub fn argument(&self, name: &str) -> Option<Value> {
        let output = self.input.output;
        let arguments = output.arguments(self.output_field).iter();
        let argument = arguments
            .clone()
            .find(|argument| self.schema.input_name(self.ids.input(argument.input)) == name)?;
        let given = self.value(&output.literals, argument.value as usize);
        given.or_else(|| self.value(&output.literals, argument.default? as usize))
    }

    /// The value at `at`; `None` if it is a variable that was not sent.
    fn value(&self, values: &Values, at: usize) -> Option<Value> {
        Some(match values.nodes[at] {
            Node::Absent | Node::Key(_) => return None,
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(value),
            Node::Int(value) | Node::QuotedInt(value) => Value::Int(value),
            Node::Float(value) => Value::Float(value),
            Node::Text(text) => Value::Text(values.str(text).into()),
            Node::Number(text) | Node::Json(text) => Value::Json(values.str(text).into()),
            Node::Enum(value) => {
                let value = self.schema.enum_value(self.ids.enum_value(value));
                Value::Text(self.schema.str(value.name).into())
            }
            Node::List { .. } => {
                let items = values.items(at);
                Value::List(items.map(|item| self.value(values, item).unwrap_or(Value::Null)).collect())
            }
            Node::Object { .. } => {
                let members = values.members(at).filter_map(|(input, at)| {
                    let name = self.schema.input_name(self.ids.input(input));
                    Some((Arc::from(name), self.value(values, at)?))
                });
                Value::Object(Object { ty: "".into(), fields: members.collect() })
            }
            Node::Variable(number) => {
                let variables = self.input.variables;
                return self.value(&variables.values, variables.starts[number as usize] as usize);
            }
            Node::Parent(number) => key(&self.input.parent_keys?[number as usize], self.row),
        })
    }
}

/// The key at `row` of `column`.
fn key(column: &Column, row: usize) -> Value {
    if column.nulls.get(row) {
        return Value::Null;
    }
    let text = |bytes: &[u8]| Arc::from(String::from_utf8_lossy(bytes));
    match &column.data {
        Data::Bool(values) => Value::Bool(values[row]),
        Data::Int(values) => Value::Int(values[row]),
        Data::Float(values) => Value::Float(values[row]),
        Data::Text(texts) => Value::Text(text(texts.get(row))),
        Data::Json(texts) => Value::Json(text(texts.get(row))),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
            Value::Null
        }
    }
}
