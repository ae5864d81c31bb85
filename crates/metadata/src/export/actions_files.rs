//! Actions as the command line writes them: types in `actions.graphql`, all else in `actions.yaml`.
//!
//! **Invariant:** reading the two files gives the same document. What SDL cannot say stands whole in `actions.yaml`, without a file
//! beside it.

use crate::document::Metadata;
use crate::document::action::{ActionEntry, ActionKind, ActionOperation};
use crate::document::custom_types::{CustomTypes, EnumTypeValue, InputField, ObjectField};
use crate::document::type_text::TypeText;
use crate::names::is_name;
use crate::tree::{Member, Node, Value};
use weir_language::string_value::{is_block_printable, write_block, write_graphql};

/// Lists of `custom_types`, in the order of the file.
const LISTS: [&str; 4] = ["enums", "input_objects", "objects", "scalars"];

/// Members of a definition that SDL does not say, in the order of the file.
const DEFINITION: [&str; 8] = [
    "kind",
    "handler",
    "forward_client_headers",
    "headers",
    "ignored_client_headers",
    "timeout",
    "request_transform",
    "response_transform",
];

/// The text of `actions.graphql`; `None` if it cannot say all types.
pub(super) fn print_sdl(document: &Metadata) -> Option<String> {
    let types = &document.custom_types;
    if !document.actions.iter().all(is_sayable_action) || !are_sayable(types) {
        return None;
    }
    let mut out = String::new();
    for (operation, root) in [(ActionOperation::Mutation, "Mutation"), (ActionOperation::Query, "Query")] {
        let is_of_root = |it: &&ActionEntry| it.definition.operation == operation;
        let actions: Vec<&ActionEntry> = document.actions.iter().filter(is_of_root).collect();
        if !actions.is_empty() {
            out.push_str(&format!("type {root}"));
            write_members(&actions, |it, out| write_action(it, out), &mut out);
        }
    }
    write_types(types, &mut out);
    Some(out)
}

fn write_action(action: &ActionEntry, out: &mut String) {
    let definition = &action.definition;
    write_description(&action.comment, "  ", out);
    out.push_str(&format!("  {}", action.name));
    if !definition.arguments.is_empty() {
        out.push_str("(\n");
        definition
            .arguments
            .iter()
            .for_each(|it| write_field(&it.name, &it.description, &it.ty, "    ", out));
        out.push_str("  )");
    }
    out.push_str(&format!(": {}\n", definition.output_type));
}

fn is_sayable_action(action: &ActionEntry) -> bool {
    is_name(&action.name) && action.definition.arguments.iter().all(|it| is_name(&it.name))
}

/// True if SDL can say all of `types`.
fn are_sayable(types: &CustomTypes) -> bool {
    let CustomTypes { input_objects, objects, scalars, enums } = types;
    let is_root = |name: &str| ["Query", "Mutation", "Subscription"].contains(&name);
    let names = input_objects.iter().map(|it| &it.name).chain(objects.iter().map(|it| &it.name));
    let names = names.chain(scalars.iter().map(|it| &it.name)).chain(enums.iter().map(|it| &it.name));
    let fields = input_objects.iter().flat_map(|it| &it.fields).map(|it| &it.name);
    let fields = fields.chain(objects.iter().flat_map(|it| &it.fields).map(|it| &it.name));
    let mut values = enums.iter().flat_map(|it| &it.values);
    let is_value = |name: &str| is_name(name) && !["true", "false", "null"].contains(&name);
    names.chain(fields).all(|it| is_name(it) && !is_root(it))
        && objects.iter().flat_map(|it| &it.fields).all(|it| it.arguments.is_none())
        && values.all(|it| is_value(&it.value) && it.is_deprecated.is_none())
}

fn write_types(types: &CustomTypes, out: &mut String) {
    for input in &types.input_objects {
        write_description(&input.description, "", out);
        out.push_str(&format!("input {}", input.name));
        let field =
            |it: &InputField, out: &mut String| write_field(&it.name, &it.description, &it.ty, "  ", out);
        write_members(&input.fields, field, out);
    }
    for object in &types.objects {
        write_description(&object.description, "", out);
        out.push_str(&format!("type {}", object.name));
        let field =
            |it: &ObjectField, out: &mut String| write_field(&it.name, &it.description, &it.ty, "  ", out);
        write_members(&object.fields, field, out);
    }
    for scalar in &types.scalars {
        write_description(&scalar.description, "", out);
        out.push_str(&format!("scalar {}\n\n", scalar.name));
    }
    for of in &types.enums {
        write_description(&of.description, "", out);
        out.push_str(&format!("enum {}", of.name));
        let value = |it: &EnumTypeValue, out: &mut String| {
            write_description(&it.description, "  ", out);
            out.push_str(&format!("  {}\n", it.value));
        };
        write_members(&of.values, value, out);
    }
}

/// Appends the members of a type in braces, if it has any, and an empty line.
fn write_members<T>(members: &[T], write: impl Fn(&T, &mut String), out: &mut String) {
    if !members.is_empty() {
        out.push_str(" {\n");
        members.iter().for_each(|it| write(it, out));
        out.push('}');
    }
    out.push_str("\n\n");
}

fn write_field(name: &str, description: &Option<String>, ty: &TypeText, indent: &str, out: &mut String) {
    write_description(description, indent, out);
    out.push_str(&format!("{indent}{name}: {ty}\n"));
}

/// Appends a description, each of its lines behind `indent`.
fn write_description(description: &Option<String>, indent: &str, out: &mut String) {
    let Some(text) = description else { return };
    let mut literal = String::new();
    if is_block_printable(text) {
        write_block(text, &mut literal)
    } else {
        write_graphql(text, &mut literal)
    }
    for line in literal.split('\n') {
        if !line.is_empty() {
            out.push_str(indent);
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// The actions of `node`, a list of entries, without what SDL says.
pub(super) fn strip_actions(node: &Node, actions: &[ActionEntry]) -> Node {
    let Value::List(items) = &node.value else { return node.clone() };
    let items = items.iter().zip(actions).map(|(item, action)| strip_action(item, action));
    Node::new(node.place, Value::List(items.collect()))
}

fn strip_action(node: &Node, action: &ActionEntry) -> Node {
    let mut members = Vec::new();
    for key in ["name", "definition", "permissions", "comment"] {
        let Some(value) = node.get(key) else { continue };
        let value = if key == "definition" { strip_definition(value, action) } else { value.clone() };
        members.push(member(key, value));
    }
    Node::new(node.place, Value::Object(members))
}

fn strip_definition(node: &Node, action: &ActionEntry) -> Node {
    let kind = match (action.definition.operation, action.definition.kind) {
        (ActionOperation::Query, _) => "",
        (ActionOperation::Mutation, ActionKind::Synchronous) => "synchronous",
        (ActionOperation::Mutation, ActionKind::Asynchronous) => "asynchronous",
    };
    let mut members = Vec::new();
    for key in DEFINITION {
        match (key, node.get(key)) {
            ("kind", _) => members.push(member(key, Node::new(node.place, Value::Text(kind.into())))),
            (_, Some(value)) => members.push(member(key, value.clone())),
            (_, None) => {}
        }
    }
    Node::new(node.place, Value::Object(members))
}

/// The custom types of `node` without what SDL says, each list in its place.
pub(super) fn strip_custom_types(node: Option<&Node>) -> Node {
    let list = |key: &str| {
        let items = match node.and_then(|it| it.get(key)).map(|it| &it.value) {
            Some(Value::List(items)) => items.iter().map(strip_type).collect(),
            _ => Vec::new(),
        };
        member(key, Node::new(node.map(|it| it.place).unwrap_or_default(), Value::List(items)))
    };
    Node::new(Default::default(), Value::Object(LISTS.into_iter().map(list).collect()))
}

fn strip_type(node: &Node) -> Node {
    let keys = ["name", "relationships"].into_iter();
    let members = keys.filter_map(|key| Some(member(key, node.get(key)?.clone())));
    Node::new(node.place, Value::Object(members.collect()))
}

fn member(key: &str, node: Node) -> Member {
    Member { key: key.into(), place: node.place, node }
}
