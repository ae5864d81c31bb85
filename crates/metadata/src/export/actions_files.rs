//! Actions as the command line writes them: types in `actions.graphql`, all else in `actions.yaml`.
//!
//! **Invariant:** reading the two files gives the same document. What SDL cannot say stands whole in `actions.yaml`, without a file
//! beside it.

use super::{Export, yaml_text};
use crate::document::action::{ActionEntry, ActionOperation};
use crate::document::custom_types::{CustomTypes, EnumTypeValue, InputField, ObjectField};
use crate::document::type_text::TypeText;
use crate::names::is_name;
use crate::read::deserialize::Reader;
use crate::tree::{Member, Node, Place, Value};
use serde::Deserialize;
use std::path::PathBuf;
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

/// Adds `actions.yaml` and `actions.graphql`. Where SDL cannot say the types, `actions.yaml` has them, without a file beside it.
pub(super) fn write(export: &Export, files: &mut Vec<(PathBuf, String)>) {
    let (actions, types) = (export.root.get("actions"), export.root.get("custom_types"));
    let typed = TypedActions::of(actions, types).filter(|_| export.are_actions_whole);
    let sdl = typed.as_ref().and_then(TypedActions::print_sdl);
    let actions = match actions {
        Some(node) if sdl.is_some() => strip_actions(node),
        Some(node) => node.clone(),
        None => Node::new(Place::default(), Value::List(Vec::new())),
    };
    let types = match types {
        Some(node) if sdl.is_none() => node.clone(),
        node => strip_custom_types(node),
    };
    let whole = Value::Object(vec![member("actions", actions), member("custom_types", types)]);
    files.push((PathBuf::from("actions.yaml"), yaml_text::write(&Node::new(Place::default(), whole))));
    files.extend(sdl.map(|text| (PathBuf::from("actions.graphql"), text)));
}

/// Actions and types of a document.
struct TypedActions {
    actions: Vec<ActionEntry>,
    types: CustomTypes,
}

impl TypedActions {
    /// The entries of two nodes; `None` if they do not fit.
    fn of(actions: Option<&Node>, types: Option<&Node>) -> Option<Self> {
        let actions = actions.map_or(Ok(Vec::new()), |it| Vec::deserialize(Reader::new(it)));
        let types = types.map_or(Ok(CustomTypes::default()), |it| CustomTypes::deserialize(Reader::new(it)));
        Some(Self { actions: actions.ok()?, types: types.ok()? })
    }

    /// The text of `actions.graphql`; `None` if it cannot say all types.
    fn print_sdl(&self) -> Option<String> {
        if !self.actions.iter().all(is_sayable_action) || !are_sayable(&self.types) {
            return None;
        }
        let mut out = String::new();
        for action in &self.actions {
            let root = match action.definition.operation {
                ActionOperation::Mutation => "Mutation",
                ActionOperation::Query => "Query",
            };
            out.push_str(&format!("type {root}"));
            write_members(std::slice::from_ref(action), write_action, &mut out);
        }
        write_types(&self.types, &mut out);
        Some(out)
    }
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
fn strip_actions(node: &Node) -> Node {
    let Value::List(items) = &node.value else { return node.clone() };
    Node::new(node.place, Value::List(items.iter().map(strip_action).collect()))
}

fn strip_action(node: &Node) -> Node {
    let mut members = Vec::new();
    for key in ["name", "definition", "permissions", "comment"] {
        let Some(value) = node.get(key) else { continue };
        let value = if key == "definition" { strip_definition(value) } else { value.clone() };
        members.push(member(key, value));
    }
    Node::new(node.place, Value::Object(members))
}

fn strip_definition(node: &Node) -> Node {
    let text = |key: &str| match node.get(key).map(|it| &it.value) {
        Some(Value::Text(text)) => &**text,
        _ => "",
    };
    // Queries have no kind.
    let kind = if text("type") == "query" { "" } else { text("kind") };
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
fn strip_custom_types(node: Option<&Node>) -> Node {
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
