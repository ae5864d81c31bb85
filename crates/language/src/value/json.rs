//! Writes values as JSON.
//!
//! **Cost:** one pass over the tape of a value, without recursion into it; texts are escaped while they are copied.

use super::{Node, Values};
use crate::ids::{EnumValueId, InputId};
use crate::string_value::write_json;
use std::fmt::Write;

/// Data outside of a tape: the names of ids, and the values of a plan's variables and parents.
pub trait Environment {
    /// The name of an input field.
    fn input_name(&self, id: InputId) -> &str;
    /// The name of an enum value.
    fn enum_name(&self, id: EnumValueId) -> &str;
    /// True if the variable with this number was not sent and has no default.
    fn is_absent(&self, variable: u32) -> bool;
    /// Appends the value of a [`Node::Variable`] or [`Node::Parent`].
    fn write_outer(&self, node: Node, out: &mut String);
}

/// Appends the value at `start` of `values`. Each value is written with a comma, which what closes a list or object takes away. A member whose variable is absent is left out.
pub fn write(values: &Values, start: usize, environment: &impl Environment, out: &mut String) {
    let end = values.end(start);
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut at = start;
    loop {
        while let Some((_, close)) = open.pop_if(|it| it.0 == at) {
            cut_comma(out);
            out.extend([close, ',']);
        }
        if at >= end {
            break;
        }
        match values.nodes[at] {
            Node::Key(_) if is_gap(environment, values.nodes[at + 1]) => at += 1,
            Node::Key(input) => out.extend(["\"", environment.input_name(input), "\":"]),
            Node::List { end, .. } => {
                out.push('[');
                open.push((end as usize, ']'));
            }
            Node::Object { end, .. } => {
                out.push('{');
                open.push((end as usize, '}'));
            }
            leaf => {
                self::leaf(values, leaf, environment, out);
                out.push(',');
            }
        }
        at += 1;
    }
    cut_comma(out);
}

/// Takes the comma behind the last value away.
fn cut_comma(out: &mut String) {
    if out.ends_with(',') {
        out.pop();
    }
}

fn is_gap(environment: &impl Environment, node: Node) -> bool {
    matches!(node, Node::Variable(number) if environment.is_absent(number))
}

fn leaf(values: &Values, node: Node, environment: &impl Environment, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match node {
        Node::Bool(value) => write!(out, "{value}"),
        Node::Int(value) | Node::QuotedInt(value) => write!(out, "{value}"),
        Node::Float(value) => write!(out, "{value:?}"),
        Node::Number(span) | Node::Json(span) => out.write_str(values.str(span)),
        Node::Text(span) => {
            write_json(values.str(span), out);
            Ok(())
        }
        Node::Enum(id) => {
            write_json(environment.enum_name(id), out);
            Ok(())
        }
        outer @ (Node::Variable(_) | Node::Parent(_)) => {
            environment.write_outer(outer, out);
            Ok(())
        }
        Node::Absent | Node::Null | Node::List { .. } | Node::Object { .. } | Node::Key(_) => {
            out.write_str("null")
        }
    };
}
