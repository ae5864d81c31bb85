//! Writes the operation that fetches the selection of a plan node.
//!
//! A member stands under its own name where that says which it is, as servers bound the aliases of an operation, and what is
//! selected is asked once for each key. Elsewhere it stands under `f` and its place in the output plan.
//!
//! **Invariant:** members of one set have keys of their own, whatever the server and the client call them.

use crate::passthrough::answer_columns::{ResponseKeys, TYPENAME};
use std::fmt::Write;
use weir_engine::plan::output_plan::{OutputArgument, OutputKind, SelectionSetId};
use weir_engine::source::PlanNode;
use weir_language::schema::{Schema, TypeId, TypeRef, builtin};
use weir_language::value::Node;

/// Placeholder of the key's number in texts that are repeated per key.
pub(super) const NUMBER: char = '\0';

/// A variable of the operation.
#[derive(Debug)]
pub(super) struct TextVariable {
    /// Name without `$`. Ends with [`NUMBER`] if each key has its own variable.
    pub(super) name: String,
    /// Type in the server's names.
    pub(super) ty: String,
    /// The argument.
    pub(super) argument: OutputArgument,
}

impl TextVariable {
    /// True if the value differs per key.
    pub(super) fn is_keyed(&self) -> bool {
        self.name.ends_with(NUMBER)
    }
}

/// Operation of a node.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// Text of each member of the node: `name(arguments) { … }` without an alias; empty if nothing has to be fetched.
    pub(super) members: Vec<String>,
    pub(super) variables: Vec<TextVariable>,
    pub(super) keys: ResponseKeys,
}

/// Names used as response keys of a selection set.
#[derive(Debug, Default)]
struct Names<'n> {
    /// Each name with whether it is a leaf without arguments.
    taken: Vec<(&'n str, bool)>,
    /// True if every member needs an alias.
    are_refused: bool,
}

impl<'n> Names<'n> {
    /// Reserves `name` as a response key. Fails if it is in use or looks like a generated alias.
    fn take(&mut self, name: &'n str, is_bare: bool) -> bool {
        let is_alias =
            name.strip_prefix(['f', 'h']).is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
        let is_free = !self.are_refused && !is_alias && self.taken.iter().all(|it| it.0 != name);
        if is_free {
            self.taken.push((name, is_bare));
        }
        is_free
    }

    /// True if `name` is the response key of a leaf without arguments.
    fn has_bare(&self, name: &str) -> bool {
        self.taken.contains(&(name, true))
    }
}

/// Writer of an operation's text.
struct DocumentWriter<'p> {
    node: &'p PlanNode<'p>,
    /// Schema of the source.
    schema: &'p Schema,
    prefix: &'p str,
    text: Text,
    out: String,
}

impl Text {
    /// Writes the operation of `node`.
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
        self.out.push_str(if is_root { strip_prefix_of(name, self.prefix) } else { name });
        let mut between = '(';
        for argument in self.node.output.arguments(of) {
            // Arguments of directives follow those of the field and are skipped here.
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
                    let name = strip_prefix_of(self.node.schema.type_name(ty), self.prefix);
                    self.text.keys.types.insert(name.into(), ty);
                    let _ = write!(self.out, " ...on {name}");
                    // Fields with one name may have different types in two concrete types, which a server refuses under one response key.
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
                let key = if names.take(name, is_bare) { name.to_owned() } else { format!("f{place}") };
                self.begin(&key, name);
                self.text.keys.members.insert(place as u32, key.into());
                self.member(place as u32, false);
            }
        }
        let mut keys = Vec::new();
        for (at, field) in node.output.set(set).hidden.iter().enumerate() {
            let name = node.schema.field_name(*field);
            let is_there = names.has_bare(name);
            let key = if is_there || names.take(name, true) { name.to_owned() } else { format!("h{at}") };
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

    /// Writes ` key:`, or only the space if the name is the key.
    fn begin(&mut self, key: &str, name: &str) {
        self.out.push(' ');
        if key != name {
            let _ = write!(self.out, "{key}:");
        }
    }

    /// Writes `name: $v0` and declares the variable.
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

    /// A type reference in the server's names.
    fn server_type(&self, ty: TypeRef) -> String {
        let name = self.schema.type_name(ty.base);
        let text = self.schema.type_text(ty);
        text.replacen(name, server_name(ty.base, name, self.prefix), 1)
    }
}

fn server_name<'n>(ty: TypeId, name: &'n str, prefix: &str) -> &'n str {
    if builtin::is_built_in(ty) { name } else { strip_prefix_of(name, prefix) }
}

/// `name` without the prefix, as in the server's schema.
fn strip_prefix_of<'n>(name: &'n str, prefix: &str) -> &'n str {
    name.strip_prefix(prefix).unwrap_or(name)
}
