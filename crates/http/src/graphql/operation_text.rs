//! Writes the operation that fetches the selection of a plan node.
//!
//! A member stands under its own name where that says which it is, as servers bound the aliases of an operation, and what is
//! selected is asked once for each key. Elsewhere it stands under `f` and its place in the output plan.
//!
//! **Invariant:** members of one set have keys of their own, whatever the server and the client call them.

use super::Contents;
use super::lookups::{FixedArgument, ResolvedLookup};
use super::presets::Preset;
use super::roles::RoleView;
use super::template::Template;
use crate::passthrough::KEY_PREFIX;
use crate::passthrough::answer_columns::{ResponseKeys, TYPENAME};
use std::fmt::Write;
use weir_engine::plan::output_plan::{OutputArgument, OutputField, OutputKind, SelectionSetId};
use weir_engine::source::PlanNode;
use weir_language::schema::{FieldId, InputId, Schema, TypeId, TypeRef};
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
    pub(super) value: VariableValue,
}

#[derive(Debug)]
pub(super) enum VariableValue {
    /// The value of an argument.
    Argument(OutputArgument),
    /// The value that a relationship sets, and the client's argument with which it is merged.
    Fixed {
        template: Template,
        /// Columns of the parents' keys, by number of the key.
        columns: Vec<u32>,
        client: Option<OutputArgument>,
        /// The type of the argument, inside of which a permission may set values.
        ty: Option<TypeId>,
    },
    /// The value that a permission sets.
    Preset(Preset),
}

/// A member of an operation.
#[derive(Debug, Default)]
pub(super) struct TextMember {
    /// `name(arguments) { … }` without an alias; empty if nothing has to be fetched.
    pub(super) text: String,
    /// Fields below it on the way to the member's value.
    pub(super) below: Vec<Box<str>>,
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
    /// Each member of the node.
    pub(super) members: Vec<TextMember>,
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
    contents: &'p Contents,
    /// The view of the callers' role, if roles differ.
    role: Option<&'p RoleView>,
    text: Text,
    out: String,
    /// Fields on the way to the current member's value.
    below: Vec<Box<str>>,
}

impl Text {
    /// Writes the operation of `node`.
    pub(super) fn of(node: &PlanNode<'_>, contents: &Contents, role: Option<&RoleView>) -> Self {
        let text = Self::default();
        let mut writer = DocumentWriter { node, contents, role, text, out: String::new(), below: Vec::new() };
        for &place in node.fields {
            let output_field = &node.output.fields[place as usize];
            if output_field.same_as.is_none() {
                writer.member(place);
            }
            let text = std::mem::take(&mut writer.out);
            let below = std::mem::take(&mut writer.below);
            writer.text.members.push(TextMember { text, below });
        }
        writer.text
    }
}

impl<'p> DocumentWriter<'p> {
    fn schema(&self) -> &'p Schema {
        &self.contents.schema
    }

    /// `name(argument: $v0) { … }`.
    fn member(&mut self, place: u32) {
        let output_field = &self.node.output.fields[place as usize];
        let own = self.node.ids.field(output_field.field);
        if let Some(lookup) = self.contents.lookups.iter().find(|it| it.field == own) {
            return self.lookup(output_field, lookup);
        }
        self.out.push_str(self.contents.names.field_name(self.schema(), own));
        let mut between = '(';
        for argument in self.arguments_of(output_field) {
            self.begin_argument(&mut between);
            self.argument(argument);
        }
        self.presets(own, &mut between);
        if between == ',' {
            self.out.push(')');
        }
        self.selection(output_field);
    }

    /// The arguments of a field. Those of directives, which follow them, are left out, and defaults of those that a permission sets.
    fn arguments_of(&self, output_field: &'p OutputField) -> Vec<OutputArgument> {
        let range = self.node.schema.field(output_field.field).arguments.range();
        let is_preset = |it: &OutputArgument| self.preset(self.node.ids.input(it.input)).is_some();
        let arguments = self.node.output.arguments(output_field).iter().copied();
        arguments.filter(|it| range.contains(&it.input.index()) && !is_preset(it)).collect()
    }

    /// The preset of a permission at an argument of the source's schema.
    fn preset(&self, input: InputId) -> Option<&'p Preset> {
        self.role?.preset(input)
    }

    /// True if a permission sets the argument `name` of the field `own`.
    fn is_preset(&self, own: Option<FieldId>, name: &str) -> bool {
        let schema = self.schema();
        let input = own.and_then(|it| schema.input_by_name(schema.field(it).arguments, name));
        input.is_some_and(|it| self.preset(it).is_some())
    }

    fn begin_argument(&mut self, between: &mut char) {
        self.out.push(*between);
        *between = ',';
    }

    /// The arguments of the field `own` that a permission sets.
    fn presets(&mut self, own: FieldId, between: &mut char) {
        for input in self.schema().arguments(own) {
            let Some(preset) = self.preset(input) else { continue };
            self.begin_argument(between);
            let name = format!("p{}", self.text.variables.len());
            let _ = write!(self.out, "{}:${name}", self.schema().input_name(input));
            let ty = self.server_type(self.schema().input(input).ty);
            let value = VariableValue::Preset(preset.clone());
            self.text.variables.push(TextVariable { name, ty, value });
        }
    }

    /// The path of a lookup, with the client's selection at its end.
    fn lookup(&mut self, output_field: &'p OutputField, lookup: &'p ResolvedLookup) {
        let client = self.arguments_of(output_field);
        let name = |it: &OutputArgument| self.node.schema.input_name(it.input);
        let is_key = |it: &&OutputArgument| name(it).starts_with(KEY_PREFIX);
        let column = |it: &OutputArgument| match self.node.output.literals.nodes[it.value as usize] {
            Node::Parent(column) => column,
            _ => u32::MAX,
        };
        let mut keys: Vec<(usize, u32)> =
            client.iter().filter(is_key).map(|it| (it.input.index(), column(it))).collect();
        keys.sort_unstable();
        let columns: Vec<u32> = keys.into_iter().map(|it| it.1).collect();
        let mut rest: Vec<OutputArgument> = client.iter().filter(|it| !is_key(it)).copied().collect();
        for (at, step) in lookup.steps.iter().enumerate() {
            let is_last = at + 1 == lookup.steps.len();
            if at > 0 {
                self.out.push('{');
                self.below.push(step.field.as_str().into());
            }
            self.out.push_str(&step.field);
            let mut between = '(';
            for fixed in
                step.arguments.iter().filter(|it| !self.is_preset(step.own, &it.name)).collect::<Vec<_>>()
            {
                self.begin_argument(&mut between);
                let same = |it: &OutputArgument| self.node.schema.input_name(it.input) == fixed.name;
                let own = rest.iter().position(same).filter(|_| is_last);
                let own = own.map(|it| rest.remove(it));
                let ty = step.own.and_then(|it| {
                    let input =
                        self.schema().input_by_name(self.schema().field(it).arguments, &fixed.name)?;
                    Some(self.schema().input(input).ty.base)
                });
                self.fixed_argument(fixed, ty, &columns, own);
            }
            if is_last {
                for argument in std::mem::take(&mut rest) {
                    if !self.is_preset(step.own, self.node.schema.input_name(argument.input)) {
                        self.begin_argument(&mut between);
                        self.argument(argument);
                    }
                }
            }
            if let Some(field) = step.own {
                self.presets(field, &mut between);
            }
            if between == ',' {
                self.out.push(')');
            }
        }
        self.selection(output_field);
        (1..lookup.steps.len()).for_each(|_| self.out.push('}'));
    }

    /// Writes `name: $v0` for what a relationship sets.
    fn fixed_argument(
        &mut self,
        fixed: &FixedArgument,
        ty: Option<TypeId>,
        columns: &[u32],
        client: Option<OutputArgument>,
    ) {
        let is_keyed = fixed.value.keys().next().is_some();
        let name = self.variable_name(is_keyed);
        let _ = write!(self.out, "{}:${name}", fixed.name);
        let (template, columns) = (fixed.value.clone(), columns.to_vec());
        let value = VariableValue::Fixed { template, columns, client, ty };
        self.text.variables.push(TextVariable { name, ty: fixed.ty.clone(), value });
    }

    fn variable_name(&self, is_keyed: bool) -> String {
        let mut name = format!("v{}", self.text.variables.len());
        if is_keyed {
            let _ = write!(name, "_{NUMBER}");
        }
        name
    }

    /// The selection of a member.
    fn selection(&mut self, output_field: &'p OutputField) {
        match output_field.member {
            OutputKind::Object(set) => self.set(set, Names::default()),
            OutputKind::Abstract(choice) => {
                let _ = write!(self.out, "{{{TYPENAME}:__typename");
                for &(ty, set) in &self.node.output.type_switches[choice.0 as usize].sets {
                    let name = self.contents.names.type_name(self.schema(), self.node.ids.ty(ty));
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
            let output_field = &node.output.fields[place];
            let is_asked = match output_field.member {
                OutputKind::Leaf | OutputKind::Object(_) | OutputKind::Abstract(_) => {
                    output_field.same_as.is_none()
                }
                OutputKind::Constant { .. } | OutputKind::Foreign { .. } => false,
            };
            if is_asked {
                let name = self.contents.names.field_name(self.schema(), node.ids.field(output_field.field));
                let is_bare = output_field.member == OutputKind::Leaf
                    && node.schema.field(output_field.field).arguments.range().is_empty();
                let key = if names.take(name, is_bare) { name.to_owned() } else { format!("f{place}") };
                self.begin(&key, name);
                self.text.keys.members.insert(place as u32, key.into());
                self.member(place as u32);
            }
        }
        let mut keys = Vec::new();
        for (at, field) in node.output.set(set).hidden.iter().enumerate() {
            let name = self.contents.names.field_name(self.schema(), node.ids.field(*field));
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
        let name = self.variable_name(is_keyed);
        let _ = write!(self.out, "{}:${name}", self.node.schema.str(input.name));
        let own = self.schema().input(self.node.ids.input(argument.input)).ty;
        let ty = self.server_type(own);
        self.text.variables.push(TextVariable { name, ty, value: VariableValue::Argument(argument) });
    }

    /// A type reference in the server's names.
    fn server_type(&self, ty: TypeRef) -> String {
        let name = self.schema().type_name(ty.base);
        let text = self.schema().type_text(ty);
        text.replacen(name, self.contents.names.type_name(self.schema(), ty.base), 1)
    }
}
