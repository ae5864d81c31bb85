//! Shapes that clients send, as the text of their coordinates.

use weir_language::value::{Node, Values, Variables};

/// The shape at `at` as GeoJSON's `coordinates`. Members of a point have the order of its type, longitude first; an object of one
/// member is only a name for it.
pub fn write_coordinates(values: &Values, at: usize, variables: &Variables) -> String {
    let mut out = String::new();
    let mut waiting = vec![Some((values, at))];
    while let Some(next) = waiting.pop() {
        let Some((mut values, mut at)) = next else {
            out.push(']');
            continue;
        };
        if let Node::Variable(number) = values.nodes[at] {
            (values, at) = (&variables.values, variables.starts[number as usize] as usize);
        }
        let nested: Vec<usize> = match values.nodes[at] {
            Node::List { .. } => values.items(at).collect(),
            Node::Object { .. } => values.members(at).map(|it| it.1).collect(),
            Node::Float(number) => {
                separate(&mut out);
                let mut buffer = zmij::Buffer::new();
                let digits = buffer.format(number);
                out.push_str(digits.strip_suffix(".0").unwrap_or(digits));
                continue;
            }
            Node::Int(number) => {
                separate(&mut out);
                out.push_str(&number.to_string());
                continue;
            }
            _ => continue,
        };
        if !matches!(values.nodes[at], Node::Object { len: 1, .. }) {
            separate(&mut out);
            out.push('[');
            waiting.push(None);
        }
        waiting.extend(nested.into_iter().rev().map(|at| Some((values, at))));
    }
    out
}

fn separate(out: &mut String) {
    if !matches!(out.as_bytes().last(), None | Some(b'[')) {
        out.push(',');
    }
}
