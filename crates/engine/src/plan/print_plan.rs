//! A plan for people: an indented tree of nodes and members. Golden files and `weir explain` show it.

use super::{Plan, PreparedNode};
use crate::answer::output_plan::{OutputArgument, OutputField, OutputKind, SelectionSetId};
use crate::compose::Graph;
use crate::source::ExplainInput;
use std::fmt::Write;
use weir_language::ast::OperationKind;
use weir_language::schema::{FieldId, Schema};
use weir_language::value::{Node, Values};

/// Lines after which a tree is cut off: what is larger no one reads.
const LINES_MAX: usize = 10_000;

/// Shows `plan`, which was made for `graph`, as it is run with the variables of `input`.
pub(crate) fn print(graph: &Graph, plan: &Plan, input: ExplainInput<'_>) -> String {
    let mut printer = Printer { schema: graph.schema(), plan, input, out: String::new(), lines: 0 };
    let kind = match plan.kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation",
        OperationKind::Subscription => "subscription",
    };
    printer.line(0, kind);
    for member in plan.output.members(plan.root) {
        if matches!(member.member, OutputKind::Constant { .. }) {
            printer.member(1, member);
        }
    }
    for (at, node) in plan.nodes.iter().enumerate() {
        printer.node(graph, at, node);
    }
    printer.out
}

struct Printer<'p> {
    schema: &'p Schema,
    plan: &'p Plan,
    input: ExplainInput<'p>,
    out: String,
    lines: usize,
}

/// Parts still to be shown, with their indentation.
enum Task<'p> {
    Member(&'p OutputField),
    Set(SelectionSetId),
    On(SelectionSetId),
}

impl<'p> Printer<'p> {
    fn line(&mut self, indent: usize, text: &str) {
        self.lines += 1;
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 2 * indent);
    }

    fn node(&mut self, graph: &Graph, at: usize, node: &'p PreparedNode) {
        let source = node.source.map_or("introspection", |it| graph.sources()[usize::from(it)].0.name());
        let mut text = format!("piece {at} of {source}");
        if let Some(keys) = &node.parent {
            let hidden = &self.plan.output.set(keys.set).hidden;
            let names: Vec<&str> = keys.hidden.iter().map(|&it| self.key(hidden[it as usize])).collect();
            let on = self.schema.type_name(self.plan.output.set(keys.set).on);
            let _ = write!(text, ", once for all {on} of piece {} by {}", keys.node.0, names.join(", "));
        }
        if let Some(namespace) = self.plan.namespace_of(node) {
            let _ = write!(text, ", in {}", self.plan.output.fields[namespace as usize].key.name());
        }
        if node.must_be_rows {
            text.push_str(", as rows");
        }
        self.line(1, &text);
        if node.parent.is_some() {
            self.print_hidden(2, node.set);
        }
        let fields =
            node.fields.iter().rev().map(|&it| (2, Task::Member(&self.plan.output.fields[it as usize])));
        let mut tasks: Vec<(usize, Task<'p>)> = fields.collect();
        while let Some((indent, task)) = tasks.pop() {
            if self.lines >= LINES_MAX {
                self.out.push_str("…\n");
                return;
            }
            match task {
                Task::Member(member) => {
                    self.member(indent, member);
                    self.push_below(indent + 1, member, &mut tasks);
                }
                Task::On(set) => {
                    let text = format!("on {}", self.schema.type_name(self.plan.output.set(set).on));
                    self.line(indent, &text);
                    tasks.push((indent + 1, Task::Set(set)));
                }
                Task::Set(set) => {
                    self.print_hidden(indent, set);
                    let members = self.plan.output.members(set).iter().rev();
                    tasks.extend(members.map(|it| (indent, Task::Member(it))));
                }
            }
        }
        let mut own = String::new();
        node.fetch.describe(self.input, &mut own);
        if !own.is_empty() {
            self.line(2, "plan");
        }
        for line in own.lines() {
            self.line(3, line);
        }
    }

    /// The name of a key: a field, or the object itself.
    fn key(&self, field: FieldId) -> &'p str {
        if field == self.schema.meta.typename { "object" } else { self.schema.field_name(field) }
    }

    /// Shows members that are fetched only for other nodes.
    fn print_hidden(&mut self, indent: usize, set: SelectionSetId) {
        for &hidden in &self.plan.output.set(set).hidden {
            let text = format!("({})", self.key(hidden));
            self.line(indent, &text);
        }
    }

    fn push_below(&self, indent: usize, member: &OutputField, tasks: &mut Vec<(usize, Task<'p>)>) {
        match member.member {
            _ if member.same_as.is_some() => {}
            OutputKind::Object(set) => tasks.push((indent, Task::Set(set))),
            OutputKind::Abstract(choice) => {
                let sets = &self.plan.output.type_switches[choice.0 as usize].sets;
                let shown = sets.iter().filter(|it| self.plan.output.set(it.1).len > 0);
                tasks.extend(shown.rev().map(|it| (indent, Task::On(it.1))));
            }
            OutputKind::Leaf | OutputKind::Constant { .. } | OutputKind::Foreign { .. } => {}
        }
    }

    fn member(&mut self, indent: usize, member: &OutputField) {
        let output = &self.plan.output;
        let mut text = String::new();
        let key = member.key.name();
        let name = self.schema.field_name(member.field);
        if key != name {
            let _ = write!(text, "{key}: ");
        }
        text.push_str(name);
        let own = |it: &OutputArgument| self.schema.arguments(member.field).any(|own| own == it.input);
        let (own, of_directives): (Vec<_>, Vec<_>) = output.arguments(member).iter().partition(|it| own(it));
        self.arguments(&own, &mut text);
        let _ = write!(text, ": {}", self.schema.type_text(member.ty));
        self.directives(&of_directives, &mut text);
        if let Some(same) = member.same_as {
            let _ = write!(text, " = {}", output.fields[same as usize].key.name());
        } else if let OutputKind::Foreign { node, .. } = member.member {
            let _ = write!(text, " = piece {}", node.0);
        } else if let OutputKind::Constant { start, end } = member.member {
            /// Longer constants are introspection.
            const SHOWN_MAX: u32 = 100;
            let key = member.key.len;
            if end - start - key > SHOWN_MAX {
                let _ = write!(text, " = {} bytes", end - start);
            } else {
                let value = &output.constants[(start + key) as usize..end as usize - 1];
                let _ = write!(text, " = {}", String::from_utf8_lossy(value));
            }
        }
        self.line(indent, &text);
    }

    fn arguments(&self, arguments: &[&OutputArgument], out: &mut String) {
        let mut separator = '(';
        for argument in arguments {
            let _ = write!(out, "{separator}{}: ", self.schema.input_name(argument.input));
            self.value(argument.value as usize, out);
            if let Some(default) = argument.default {
                out.push_str(" else ");
                self.value(default as usize, out);
            }
            separator = ' ';
        }
        if separator == ' ' {
            out.push(')');
        }
    }

    /// Directives by their arguments, which stand behind the field's own. An argument that was not given is null.
    fn directives(&self, arguments: &[&OutputArgument], out: &mut String) {
        for directive in &self.schema.directives {
            let range = directive.arguments.range();
            let is_given = |it: &&OutputArgument| range.contains(&it.input.index());
            let all: Vec<&OutputArgument> = arguments.iter().copied().filter(is_given).collect();
            if all.is_empty() {
                continue;
            }
            let _ = write!(out, " @{}", self.schema.str(directive.name));
            let is_null = |it: &OutputArgument| {
                it.default.is_none() && self.plan.output.literals.nodes[it.value as usize] == Node::Null
            };
            let given: Vec<&OutputArgument> = all.into_iter().filter(|it| !is_null(it)).collect();
            self.arguments(&given, out);
        }
    }

    /// A value as GraphQL writes it; `$this.…` are the parent's columns by number.
    fn value(&self, at: usize, out: &mut String) {
        let values: &Values = &self.plan.output.literals;
        let mut open: Vec<(usize, char)> = Vec::new();
        for at in at..values.end(at) {
            while open.last().is_some_and(|it| it.0 == at) {
                out.extend(open.pop().map(|it| it.1));
            }
            if !out.ends_with(['[', '{', ' ']) {
                out.push(' ');
            }
            let _ = match values.nodes[at] {
                Node::Absent => write!(out, "absent"),
                Node::Null => write!(out, "null"),
                Node::Bool(is) => write!(out, "{is}"),
                Node::Int(value) => write!(out, "{value}"),
                Node::QuotedInt(value) => write!(out, "\"{value}\""),
                Node::Float(value) => write!(out, "{value:?}"),
                Node::Number(text) | Node::Json(text) => write!(out, "{}", values.str(text)),
                Node::Text(text) => write!(out, "{:?}", values.str(text)),
                Node::Enum(value) => {
                    write!(out, "{}", self.schema.str(self.schema.enum_value(value).name))
                }
                Node::List { end, .. } => {
                    open.push((end as usize, ']'));
                    write!(out, "[")
                }
                Node::Object { end, .. } => {
                    open.push((end as usize, '}'));
                    write!(out, "{{")
                }
                Node::Key(input) => write!(out, "{}:", self.schema.input_name(input)),
                Node::Variable(number) => {
                    let name = &self.plan.operation.variables[number as usize].name;
                    // A JSON literal with variables inside is named as it was written.
                    let sign = if name.starts_with(['[', '{']) { "" } else { "$" };
                    out.extend([sign, name]);
                    let fallback = self.plan.operation.types.fallback_of(number);
                    match fallback.and_then(|it| self.schema.input(it.input).default) {
                        Some(default) => write!(out, " else {}", self.schema.str(default.literal)),
                        None => Ok(()),
                    }
                }
                Node::Parent(number) => write!(out, "$this.{number}"),
            };
        }
        out.extend(open.into_iter().rev().map(|it| it.1));
    }
}
