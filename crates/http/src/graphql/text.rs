//! The text of the operation that fetches the selection of a plan node.
//!
//! A member stands under its own name where that says which it is, as servers bound the aliases of an operation, and what is
//! selected is asked once for each key. Elsewhere it stands under `f` and its place in the output plan.
//!
//! **Invariant:** members of one set have keys of their own, whatever the server and the client call them.

use crate::passthrough::columns::{ResponseKeys, TYPENAME};
use std::fmt::Write;
use weir_engine::plan::output_plan::{OutputArgument, OutputKind, SelectionSetId};
use weir_engine::source::PlanNode;
use weir_language::schema::{Schema, TypeId, TypeRef, builtin};
use weir_language::value::Node;

/// Stands for the number of a key in texts that are repeated for each.
pub(super) const NUMBER: char = '\0';

/// A variable of the operation.
#[derive(Debug)]
pub(super) struct TextVariable {
    /// Without `$`; ends with [`NUMBER`] if each key has one of its own.
    pub(super) name: String,
    /// Its type by the server's names.
    pub(super) ty: String,
    /// The argument.
    pub(super) argument: OutputArgument,
}

impl TextVariable {
    /// True if its value differs by key.
    pub(super) fn is_keyed(&self) -> bool {
        self.name.ends_with(NUMBER)
    }
}

/// Operation of a node.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// Of each member of the node: `name(arguments) { … }`, without an alias; empty where nothing is asked.
    pub(super) members: Vec<String>,
    pub(super) variables: Vec<TextVariable>,
    pub(super) keys: ResponseKeys,
}

/// Names in use as response keys of a set.
#[derive(Debug, Default)]
struct Names<'n> {
    /// With whether each is a leaf without arguments.
    taken: Vec<(&'n str, bool)>,
    /// True if all members need aliases.
    are_refused: bool,
}

impl<'n> Names<'n> {
    /// True if `name` can be the response key of a member: no other has it, and it looks unlike a generated alias.
    fn take(&mut self, name: &'n str, is_bare: bool) -> bool {
        let is_alias =
            name.strip_prefix(['f', 'h']).is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
        let is_free = !self.are_refused && !is_alias && self.taken.iter().all(|it| it.0 != name);
        if is_free {
            self.taken.push((name, is_bare));
        }
        is_free
    }

    /// True if a leaf without arguments has the key `name`.
    fn has_bare(&self, name: &str) -> bool {
        self.taken.contains(&(name, true))
    }
}

/// Writes a text.
struct DocumentWriter<'p> {
    node: &'p PlanNode<'p>,
    /// The source's own.
    schema: &'p Schema,
    prefix: &'p str,
    text: Text,
    out: String,
}

impl Text {
    /// The text of `node`.
    pub(super) fn of(node: &PlanNode<'_>, schema: &Schema, prefix: &str) -> Self {
        let mut writer = DocumentWriter { node, schema, prefix, text: Self::default(), out: String::new() };
        for &place in node.fields {
            let of = &node.output.fields[place as usize];
            if of.same_as.is_none() {
                writer.member(place, true);
            }
            let member = std::mem::take(&mut writer.out);
            writer.text.members.push(member);
        }
        writer.text
    }
}

impl<'p> DocumentWriter<'p> {
    /// `name(argument: $v0) { … }`.
    fn member(&mut self, place: u32, is_root: bool) {
        let of = &self.node.output.fields[place as usize];
        let field = self.node.schema.field(of.field);
        let name = self.node.schema.str(field.name);
        self.out.push_str(if is_root { without(name, self.prefix) } else { name });
        let mut between = '(';
        for argument in self.node.output.arguments(of) {
            // Those of directives follow the field's own.
            if field.arguments.range().contains(&argument.input.index()) {
                self.out.push(between);
                self.argument(*argument);
                between = ',';
            }
        }
        if between == ',' {
            self.out.push(')');
        }
        match of.member {
            OutputKind::Object(set) => self.set(set, Names::default()),
            OutputKind::Abstract(choice) => {
                let _ = write!(self.out, "{{{TYPENAME}:__typename");
                for &(ty, set) in &self.node.output.type_switches[choice.0 as usize].sets {
                    let name = without(self.node.schema.type_name(ty), self.prefix);
                    self.text.keys.types.insert(name.into(), ty);
                    let _ = write!(self.out, " ...on {name}");
                    // Of two types fields of one name may differ in type, which operations must not ask for under one key.
                    self.set(set, Names { are_refused: true, ..Names::default() });
                }
                self.out.push('}');
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
        }
    }

    /// `{ name other { … } f3:name(in: $v0) }`. Depth is that of the output plan, which validation bounds.
    fn set(&mut self, set: SelectionSetId, mut names: Names<'p>) {
        let node = self.node;
        self.out.push('{');
        let begin = self.out.len();
        for place in node.output.set(set).range() {
            let of = &node.output.fields[place];
            let is_asked = match of.member {
                OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_) => of.same_as.is_none(),
                OutputKind::Constant { .. } | OutputKind::Foreign { .. } => false,
            };
            if is_asked {
                let name = node.schema.field_name(of.field);
                let is_bare =
                    of.member == OutputKind::Leaf && node.schema.field(of.field).arguments.range().is_empty();
                let key = match names.take(name, is_bare) {
                    true => name.to_owned(),
                    false => format!("f{place}"),
                };
                self.begin(&key, name);
                self.text.keys.members.insert(place as u32, key.into());
                self.member(place as u32, false);
            }
        }
        let mut keys = Vec::new();
        for (at, field) in node.output.set(set).hidden.iter().enumerate() {
            let name = node.schema.field_name(*field);
            let is_there = names.has_bare(name);
            let key = match is_there || names.take(name, true) {
                true => name.to_owned(),
                false => format!("h{at}"),
            };
            if !is_there {
                self.begin(&key, name);
                self.out.push_str(name);
            }
            keys.push(key.into());
        }
        self.text.keys.hidden.insert(set, keys);
        if self.out.len() == begin {
            let _ = write!(self.out, "{TYPENAME}:__typename");
        }
        self.out.push('}');
    }

    /// ` key:`, or nothing but the space where the key is the name.
    fn begin(&mut self, key: &str, name: &str) {
        self.out.push(' ');
        if key != name {
            let _ = write!(self.out, "{key}:");
        }
    }

    /// `name: $v0`, and the variable.
    fn argument(&mut self, argument: OutputArgument) {
        let input = self.node.schema.input(argument.input);
        let values = &self.node.output.literals;
        let value = argument.value as usize;
        let nodes = &values.nodes[value..values.end(value)];
        let is_keyed = nodes.iter().any(|it| matches!(it, Node::Parent(_)));
        let mut name = format!("v{}", self.text.variables.len());
        if is_keyed {
            let _ = write!(name, "_{NUMBER}");
        }
        let _ = write!(self.out, "{}:${name}", self.node.schema.str(input.name));
        let own = self.schema.input(self.node.ids.input(argument.input)).ty;
        let ty = self.server_type(own);
        self.text.variables.push(TextVariable { name, ty, argument });
    }

    /// A type as the server calls it.
    fn server_type(&self, ty: TypeRef) -> String {
        let name = self.schema.type_name(ty.base);
        let text = self.schema.type_text(ty);
        text.replacen(name, server_name(ty.base, name, self.prefix), 1)
    }
}

fn server_name<'n>(ty: TypeId, name: &'n str, prefix: &str) -> &'n str {
    if builtin::is_built_in(ty) { name } else { without(name, prefix) }
}

/// `name` as the server calls it.
fn without<'n>(name: &'n str, prefix: &str) -> &'n str {
    name.strip_prefix(prefix).unwrap_or(name)
}
