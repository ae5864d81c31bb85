//! Arguments as JSON: literals, variables and the parents' keys are written as what they stand for.
//!
//! **Cost:** one pass over the tape of a value, without recursion into it; texts are escaped while they are copied.

use weir_engine::plan::shape::ShapeArgument;
use weir_engine::rows::{Column, Data};
use weir_engine::source::{FetchInput, Ids};
use weir_language::schema::Schema;
use weir_language::value::{Node, Values};

/// What arguments are made of.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'r> {
    /// The source's own.
    pub(crate) schema: &'r Schema,
    pub(crate) ids: &'r Ids,
    pub(crate) input: &'r FetchInput<'r>,
    /// Which of the parents' keys is meant.
    pub(crate) row: usize,
}

impl Arguments<'_> {
    /// Appends the value of `argument`; `false`, with nothing written, if there is none.
    pub(crate) fn write(&self, argument: ShapeArgument, out: &mut Vec<u8>) -> bool {
        let literals = &self.input.shape.literals;
        match (literals.nodes[argument.value as usize], argument.default) {
            (Node::Variable(number), default) if self.is_absent(number) => match default {
                None => return false,
                Some(default) => self.value(literals, default as usize, out),
            },
            _ => self.value(literals, argument.value as usize, out),
        }
        true
    }

    fn is_absent(&self, variable: u32) -> bool {
        self.input.variables.node(variable) == Node::Absent
    }

    /// Appends the value at `start`. Each value is written with a comma, and what closes a list or object takes the last away.
    fn value(&self, values: &Values, start: usize, out: &mut Vec<u8>) {
        let end = values.end(start);
        let mut open: Vec<(usize, u8)> = Vec::new();
        let mut at = start;
        loop {
            while let Some(&(_, close)) = open.last().filter(|it| it.0 == at) {
                cut_comma(out);
                out.extend([close, b',']);
                open.pop();
            }
            if at >= end {
                break;
            }
            match values.nodes[at] {
                Node::Key(_) if self.is_gap(values.nodes[at + 1]) => at += 1,
                Node::Key(input) => {
                    out.push(b'"');
                    out.extend_from_slice(self.schema.input_name(self.ids.input(input)).as_bytes());
                    out.extend_from_slice(b"\":");
                }
                Node::List { end, .. } => {
                    out.push(b'[');
                    open.push((end as usize, b']'));
                }
                Node::Object { end, .. } => {
                    out.push(b'{');
                    open.push((end as usize, b'}'));
                }
                leaf => {
                    self.leaf(values, leaf, out);
                    out.push(b',');
                }
            }
            at += 1;
        }
        cut_comma(out);
    }

    /// Whether a member of an object is not there, because its variable was not sent.
    fn is_gap(&self, node: Node) -> bool {
        matches!(node, Node::Variable(number) if self.is_absent(number))
    }

    fn leaf(&self, values: &Values, node: Node, out: &mut Vec<u8>) {
        match node {
            Node::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Node::Int(value) | Node::QuotedInt(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Node::Float(value) => out.extend_from_slice(zmij::Buffer::new().format(value).as_bytes()),
            Node::Number(span) | Node::Json(span) => out.extend_from_slice(values.str(span).as_bytes()),
            Node::Text(span) => text(values.str(span), out),
            Node::Enum(id) => {
                let id = self.ids.enum_value(id);
                text(self.schema.str(self.schema.enum_value(id).name), out);
            }
            Node::Variable(number) => {
                let variables = &self.input.variables;
                self.value(&variables.values, variables.starts[number as usize] as usize, out);
            }
            Node::Parent(column) => match self.input.parent_keys.and_then(|it| it.get(column as usize)) {
                Some(column) => cell(column, self.row, out),
                None => out.extend_from_slice(b"null"),
            },
            Node::Absent | Node::Null | Node::List { .. } | Node::Object { .. } | Node::Key(_) => {
                out.extend_from_slice(b"null");
            }
        }
    }
}

fn cut_comma(out: &mut Vec<u8>) {
    if out.last() == Some(&b',') {
        out.pop();
    }
}

/// Appends `value` as a JSON string.
pub(crate) fn text(value: &str, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    drop(serde_json::to_writer(out, value));
}

/// Appends a key of the parents'.
fn cell(column: &Column, row: usize, out: &mut Vec<u8>) {
    match &column.data {
        _ if column.nulls.get(row) => out.extend_from_slice(b"null"),
        Data::Bool(values) => out.extend_from_slice(if values[row] { b"true" } else { b"false" }),
        Data::Int(values) => out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes()),
        Data::Float(values) => out.extend_from_slice(zmij::Buffer::new().format(values[row]).as_bytes()),
        Data::Text(texts) => text(&String::from_utf8_lossy(texts.get(row)), out),
        Data::Json(texts) => out.extend_from_slice(texts.get(row)),
        Data::Empty | Data::List { .. } | Data::Object(_) | Data::Abstract(_) | Data::Foreign(_) => {
            out.extend_from_slice(b"null");
        }
    }
}
