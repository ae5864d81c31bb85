//! Writes arguments as JSON, with literals, variables and parent keys replaced by their values.

use weir_engine::plan::output_plan::OutputArgument;
use weir_engine::rows::{Column, Data};
use weir_engine::source::{FetchInput, Ids};
use weir_language::schema::{EnumValueId, InputId, Schema};
use weir_language::string_value::write_json;
use weir_language::value::json::{self, Environment};
use weir_language::value::{Node, Values};

/// Sources of argument values.
#[derive(Clone, Copy)]
pub struct Arguments<'r> {
    /// Schema of the source.
    pub schema: &'r Schema,
    /// Ids of the source by those of the graph.
    pub ids: &'r Ids,
    pub input: &'r FetchInput<'r>,
    /// Row of the parent keys.
    pub row: usize,
}

impl Arguments<'_> {
    /// Appends the value of `argument`. Returns `false` and writes nothing if it has no value.
    pub fn write(&self, argument: OutputArgument, out: &mut Vec<u8>) -> bool {
        let literals = &self.input.output.literals;
        match (literals.nodes[argument.value as usize], argument.default) {
            (Node::Variable(number), default) if self.is_absent(number) => match default {
                None => return false,
                Some(default) => self.value(literals, default as usize, out),
            },
            _ => self.value(literals, argument.value as usize, out),
        }
        true
    }

    /// Appends the value of the parent key in `column`.
    pub(crate) fn write_key(&self, column: u32, out: &mut String) {
        self.write_outer(Node::Parent(column), out);
    }

    fn value(&self, values: &Values, start: usize, out: &mut Vec<u8>) {
        let mut text = String::new();
        json::write(values, start, self, &mut text);
        out.extend_from_slice(text.as_bytes());
    }
}

impl Environment for Arguments<'_> {
    fn input_name(&self, id: InputId) -> &str {
        self.schema.input_name(self.ids.input(id))
    }

    fn enum_name(&self, id: EnumValueId) -> &str {
        self.schema.str(self.schema.enum_value(self.ids.enum_value(id)).name)
    }

    fn is_absent(&self, variable: u32) -> bool {
        self.input.variables.node(variable) == Node::Absent
    }

    fn write_outer(&self, node: Node, out: &mut String) {
        match node {
            Node::Variable(number) => {
                let variables = &self.input.variables;
                json::write(&variables.values, variables.starts[number as usize] as usize, self, out);
            }
            Node::Parent(column) => match self.input.parent_keys.and_then(|it| it.get(column as usize)) {
                Some(column) => cell(column, self.row, out),
                None => out.push_str("null"),
            },
            _ => out.push_str("null"),
        }
    }
}

/// Appends `value` as a JSON string.
pub(crate) fn text(value: &str, out: &mut Vec<u8>) {
    // Serialization to memory cannot fail.
    drop(serde_json::to_writer(out, value));
}

/// Appends a parent key.
fn cell(column: &Column, row: usize, out: &mut String) {
    match &column.data {
        _ if column.nulls.get(row) => out.push_str("null"),
        Data::Bool(values) => out.push_str(if values[row] { "true" } else { "false" }),
        Data::Int(values) => out.push_str(itoa::Buffer::new().format(values[row])),
        Data::Float(values) => out.push_str(zmij::Buffer::new().format(values[row])),
        Data::Text(texts) => write_json(&String::from_utf8_lossy(texts.get(row)), out),
        Data::Json(texts) => out.push_str(&String::from_utf8_lossy(texts.get(row))),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
            out.push_str("null");
        }
    }
}
