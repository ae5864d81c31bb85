//! Joins `actions.graphql`, which has the types of actions, with `actions.yaml`, which has what SDL cannot say.
//!
//! The result is the document's one form: actions with arguments and output types, custom types with fields.
//!
//! **Invariant:** a type of the text is in the document once; an entry of `actions.yaml` that the text lacks is told.

use super::Wrong;
use crate::places::Step;
use crate::tree::{Member, Node, Place, Value};
use weir_language::ast::{
    Definition, Description, Document, EnumValueDefinition, FieldDefinition, InputDefinition, List, TypeBody,
    TypeDefinition, TypeExpr,
};
use weir_language::limits::Limits;
use weir_language::parser;
use weir_language::span::Span;

/// Name of the file that has the types.
pub(super) const FILE: &str = "actions.graphql";

/// Lists of `custom_types`, in the order of the command line's files.
const LISTS: [&str; 4] = ["enums", "input_objects", "objects", "scalars"];

/// Something that keeps an entry out of the document.
pub(super) struct Misfit {
    /// Path of the entry; `None`: the entry is in no list of the document.
    pub(super) path: Option<Vec<Step>>,
    pub(super) place: Place,
    pub(super) message: String,
    /// The entry that is in no list, with the list of `custom_types` that it came from.
    pub(super) apart: Option<(&'static str, Node)>,
}

/// The text of the types, with the number of its file.
pub(super) struct ActionsText<'t> {
    pub(super) text: &'t str,
    pub(super) file: u32,
}

/// True if `text` has no definitions, as in a new project.
pub(super) fn is_blank(text: &str) -> bool {
    text.lines().all(|line| line.trim_start().split('#').next().unwrap_or_default().trim().is_empty())
}

/// Adds the types of `sdl` to `members`, the members of the document, and returns what does not fit.
/// # Errors
/// The text cannot be read; `members` are as before.
pub(super) fn join(members: &mut Vec<Member>, sdl: &ActionsText<'_>) -> Result<Vec<Misfit>, Wrong> {
    let types = read_types(sdl)?;
    let mut misfits = join_actions(members, types.actions);
    let start = Place { file: sdl.file, line: 1, column: 1 };
    misfits.extend(join_custom_types(members, types.lists, start));
    Ok(misfits)
}

/// Refuses all actions and types of `members`, because the text is not there.
pub(super) fn refuse_all(members: &[Member], wrong: &Wrong) -> Vec<Misfit> {
    let message = format!("{FILE}: {}", wrong.message);
    let misfit = |path: Vec<Step>| {
        let message = message.clone();
        Misfit { path: Some(path), place: wrong.place, message, apart: None }
    };
    let actions = (0..list_len(members, "actions")).map(|at| misfit(vec!["actions".into(), at.into()]));
    actions.chain([misfit(vec!["custom_types".into()])]).collect()
}

/// Refuses the actions of `members` that do not say their types, where the text that would say them `lacks`.
pub(super) fn refuse_untyped(members: &[Member], lacks: &str) -> Vec<Misfit> {
    let actions = members.iter().find(|it| &*it.key == "actions").map(|it| &it.node.value);
    let Some(Value::List(actions)) = actions else { return Vec::new() };
    let is_untyped =
        |action: &Node| action.get("definition").is_some_and(|it| it.get("output_type").is_none());
    let untyped = actions.iter().enumerate().filter(|it| is_untyped(it.1));
    let misfit = |(at, action): (usize, &Node)| Misfit {
        path: Some(vec!["actions".into(), at.into()]),
        place: action.place,
        message: format!("key \"output_type\" not found, and the file that has the types of actions {lacks}"),
        apart: None,
    };
    untyped.map(misfit).collect()
}

/// Definitions of the text as nodes of the document.
#[derive(Default)]
struct SdlTypes {
    /// Entries of `actions` without handlers.
    actions: Vec<Node>,
    /// Entries of the lists of `custom_types`, in the order of [`LISTS`].
    lists: [Vec<Node>; 4],
}

fn read_types(sdl: &ActionsText<'_>) -> Result<SdlTypes, Wrong> {
    let text = SdlText::new(sdl);
    let document = parser::parse(sdl.text, &Limits::NONE).map_err(|error| Wrong {
        place: text.place(error.spans.first().copied().unwrap_or_default()),
        message: error.message,
    })?;
    let reader = SdlReader { text, document };
    let mut types = SdlTypes::default();
    reader.refuse_directives()?;
    for definition in &reader.document.definitions {
        match definition {
            Definition::Type(definition) => reader.read_type(definition, &mut types)?,
            Definition::Schema(schema) => return Err(reader.refuse(schema.span, "Schema definitions are")),
            Definition::Directive(directive) => {
                return Err(reader.refuse(directive.span, "Directive definitions are"));
            }
            Definition::Operation(operation) => return Err(reader.refuse(operation.span, "Operations are")),
            Definition::Fragment(fragment) => return Err(reader.refuse(fragment.span, "Fragments are")),
        }
    }
    Ok(types)
}

/// Offsets of a text as lines and columns.
struct SdlText<'t> {
    text: &'t str,
    file: u32,
    line_starts: Vec<usize>,
}

impl<'t> SdlText<'t> {
    fn new(sdl: &ActionsText<'t>) -> Self {
        let ends = sdl.text.match_indices('\n').map(|it| it.0 + 1);
        Self { text: sdl.text, file: sdl.file, line_starts: std::iter::once(0).chain(ends).collect() }
    }

    fn place(&self, span: Span) -> Place {
        let at = (span.start as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|it| *it <= at);
        let start = self.line_starts[line - 1];
        let column = self.text[start..at].chars().count() + 1;
        Place { file: self.file, line: line as u32, column: column as u32 }
    }
}

/// Makes nodes of definitions.
struct SdlReader<'t> {
    text: SdlText<'t>,
    document: Document<'t>,
}

impl SdlReader<'_> {
    fn refuse(&self, span: Span, what: &str) -> Wrong {
        Wrong { place: self.text.place(span), message: format!("{what} not supported") }
    }

    fn refuse_directives(&self) -> Result<(), Wrong> {
        match self.document.directives.first() {
            Some(directive) => Err(self.refuse(directive.span, "Directives are")),
            None => Ok(()),
        }
    }

    fn read_type(&self, definition: &TypeDefinition, types: &mut SdlTypes) -> Result<(), Wrong> {
        let name = self.document.str(definition.name);
        let [enums, input_objects, objects, scalars] = &mut types.lists;
        let is_root = ["Query", "Mutation"].contains(&name);
        if definition.extend && !is_root {
            return Err(self.refuse(definition.span, "Extensions of types other than Query and Mutation are"));
        }
        match definition.body {
            TypeBody::Object { interfaces, .. } if !interfaces.is_empty() => {
                return Err(self.refuse(definition.span, "Interface types are"));
            }
            TypeBody::Object { fields, .. } if is_root => {
                let operation = if name == "Query" { "query" } else { "mutation" };
                types.actions.extend(self.document.list(fields).iter().map(|it| self.action(it, operation)));
            }
            TypeBody::Object { .. } if name == "Subscription" => {
                return Err(self.refuse(definition.span, "Actions as subscriptions are"));
            }
            TypeBody::Object { fields, .. } => {
                let fields = self.document.list(fields).iter().map(|it| self.object_field(it));
                objects.push(self.custom_type(definition, Some(("fields", fields.collect()))));
            }
            TypeBody::Input { fields } => {
                let fields = self.inputs(fields);
                input_objects.push(self.custom_type(definition, Some(("fields", fields))));
            }
            TypeBody::Enum { values } => {
                let values = self.document.list(values).iter().map(|it| self.enum_value(it));
                enums.push(self.custom_type(definition, Some(("values", values.collect()))));
            }
            TypeBody::Scalar => scalars.push(self.custom_type(definition, None)),
            TypeBody::Interface { .. } => return Err(self.refuse(definition.span, "Interface types are")),
            TypeBody::Union { .. } => return Err(self.refuse(definition.span, "Union types are")),
        }
        Ok(())
    }

    fn text_node(&self, span: Span, text: &str) -> Node {
        Node::new(self.text.place(span), Value::Text(text.into()))
    }

    fn type_node(&self, ty: TypeExpr) -> Node {
        let mut text = String::new();
        ty.wraps.write(self.document.str(ty.name), &mut text);
        self.text_node(ty.span, &text)
    }

    /// An object called `name`, with a description if it has one.
    fn named(&self, span: Span, key: &str, name: Span, description: Description) -> Vec<Member> {
        let mut members = vec![member(key, self.text_node(name, self.document.str(name)))];
        if let Some(id) = description {
            let text = self.document.string(id);
            members.push(member("description", self.text_node(span, &text)));
        }
        members
    }

    fn object(&self, span: Span, members: Vec<Member>) -> Node {
        Node::new(self.text.place(span), Value::Object(members))
    }

    fn inputs(&self, list: List<InputDefinition>) -> Vec<Node> {
        let node = |it: &InputDefinition| {
            let mut members = self.named(it.span, "name", it.name, it.description);
            members.push(member("type", self.type_node(it.ty)));
            self.object(it.span, members)
        };
        self.document.list(list).iter().map(node).collect()
    }

    fn object_field(&self, field: &FieldDefinition) -> Node {
        let mut members = self.named(field.span, "name", field.name, field.description);
        members.push(member("type", self.type_node(field.ty)));
        if !field.arguments.is_empty() {
            let arguments = Node::new(self.text.place(field.span), Value::List(self.inputs(field.arguments)));
            members.push(member("arguments", arguments));
        }
        self.object(field.span, members)
    }

    fn enum_value(&self, value: &EnumValueDefinition) -> Node {
        let members = self.named(value.span, "value", value.name, value.description);
        self.object(value.span, members)
    }

    fn custom_type(&self, definition: &TypeDefinition, list: Option<(&str, Vec<Node>)>) -> Node {
        let mut members = self.named(definition.span, "name", definition.name, definition.description);
        if let Some((key, items)) = list {
            members.push(member(key, Node::new(self.text.place(definition.span), Value::List(items))));
        }
        self.object(definition.span, members)
    }

    /// The action that `field` of a root is.
    fn action(&self, field: &FieldDefinition, operation: &str) -> Node {
        let mut members = self.named(field.span, "name", field.name, field.description);
        members.iter_mut().filter(|it| &*it.key == "description").for_each(|it| it.key = "comment".into());
        let place = self.text.place(field.span);
        let arguments = Node::new(place, Value::List(self.inputs(field.arguments)));
        let definition = vec![
            member("output_type", self.type_node(field.ty)),
            member("arguments", arguments),
            member("type", self.text_node(field.span, operation)),
        ];
        members.push(member("definition", Node::new(place, Value::Object(definition))));
        self.object(field.span, members)
    }
}

fn member(key: &str, node: Node) -> Member {
    Member { key: key.into(), place: node.place, node }
}

fn name_of(node: &Node) -> &str {
    match node.get("name").map(|it| &it.value) {
        Some(Value::Text(name)) => name,
        _ => "",
    }
}

fn list_len(members: &[Member], key: &str) -> usize {
    match members.iter().find(|it| &*it.key == key).map(|it| &it.node.value) {
        Some(Value::List(items)) => items.len(),
        _ => 0,
    }
}

/// The list `key` of `members`, which is made if it is missing or null; `None` if it is something else.
fn list_mut<'m>(members: &'m mut Vec<Member>, key: &str, place: Place) -> Option<&'m mut Vec<Node>> {
    if !members.iter().any(|it| &*it.key == key) {
        members.push(Member { key: key.into(), place, node: Node::new(place, Value::Null) });
    }
    let node = members.iter_mut().find(|it| &*it.key == key).map(|it| &mut it.node)?;
    if matches!(node.value, Value::Null) {
        node.value = Value::List(Vec::new());
    }
    match &mut node.value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// Adds the types of `known`, in order, to the actions of `actions.yaml`.
fn join_actions(members: &mut Vec<Member>, mut known: Vec<Node>) -> Vec<Misfit> {
    let place = known.first().map(|it| it.place).unwrap_or_default();
    let Some(actions) = list_mut(members, "actions", place) else { return Vec::new() };
    let mut misfits = Vec::new();
    for (at, action) in actions.iter_mut().enumerate() {
        let path = || Some(vec!["actions".into(), at.into()]);
        let name = name_of(action).to_owned();
        match known.iter().position(|it| name_of(it) == name).map(|it| known.remove(it)) {
            Some(sdl) => add_types(action, sdl),
            None if name.is_empty() => {}
            None => {
                let message = format!("action {name} is not present in {FILE}");
                misfits.push(Misfit { path: path(), place: action.place, message, apart: None });
            }
        }
    }
    for sdl in known {
        let message =
            format!("action {} is not present in actions.yaml, so it has no handler", name_of(&sdl));
        let path = Some(vec!["actions".into(), actions.len().into()]);
        misfits.push(Misfit { path, place: sdl.place, message, apart: None });
        actions.push(sdl);
    }
    misfits
}

/// Adds the types of `sdl`, and its comment if there is no other, to `action`.
fn add_types(action: &mut Node, sdl: Node) {
    let (Value::Object(members), Value::Object(given)) = (&mut action.value, sdl.value) else { return };
    for member in given {
        let known =
            members.iter_mut().find(|it| it.key == member.key && !matches!(it.node.value, Value::Null));
        match (&*member.key, known.map(|it| &mut it.node.value), member.node.value) {
            ("definition", Some(Value::Object(definition)), Value::Object(types)) => {
                definition.retain(|it| !types.iter().any(|of| of.key == it.key));
                definition.extend(types);
            }
            ("comment", None, value) => {
                members.retain(|it| &*it.key != "comment");
                let node = Node::new(member.node.place, value);
                members.push(Member { node, ..member });
            }
            _ => {}
        }
    }
}

/// Puts the types of `lists` in the place of the custom types of `actions.yaml`, with what these have beside their fields.
fn join_custom_types(members: &mut Vec<Member>, lists: [Vec<Node>; 4], place: Place) -> Vec<Misfit> {
    if !members.iter().any(|it| &*it.key == "custom_types") {
        members.push(Member { key: "custom_types".into(), place, node: Node::new(place, Value::Null) });
    }
    let found = members.iter_mut().find(|it| &*it.key == "custom_types").map(|it| &mut it.node);
    let Some(node) = found else { return Vec::new() };
    if matches!(node.value, Value::Null) {
        node.value = Value::Object(Vec::new());
    }
    let Value::Object(custom_types) = &mut node.value else { return Vec::new() };
    let mut misfits = Vec::new();
    for (key, mut known) in LISTS.into_iter().zip(lists) {
        let Some(items) = list_mut(custom_types, key, place) else { continue };
        for item in std::mem::take(items) {
            let name = name_of(&item).to_owned();
            match known.iter_mut().find(|it| name_of(it) == name) {
                Some(sdl) => add_members(sdl, item),
                None => {
                    let message = format!("custom type {name} is not present in {FILE}");
                    let apart = Some((key, item.clone()));
                    misfits.push(Misfit { path: None, place: item.place, message, apart });
                }
            }
        }
        *items = known;
    }
    misfits
}

/// Adds the members of `yaml` to the type `sdl`; a description of `yaml` goes before that of the text.
fn add_members(sdl: &mut Node, yaml: Node) {
    let (Value::Object(members), Value::Object(given)) = (&mut sdl.value, yaml.value) else { return };
    for member in given.into_iter().filter(|it| !matches!(it.node.value, Value::Null)) {
        match &*member.key {
            "name" | "fields" | "values" => {}
            _ => {
                members.retain(|it| it.key != member.key);
                members.push(member);
            }
        }
    }
}
