//! Turns a [`Document`] back into text, in the canonical form of graphql-js `print`.
//!
//! Printing what was parsed from the output gives the output again, and the same document apart from its spans.
//! Comments and commas are not kept.
//!
//! **Invariant:** selections and literals that nest are written from a stack of steps, never by recursion.
//!
//! **Cost:** linear in the output; indentation makes that the text times its nesting at worst.

mod definitions;
mod literal_layout;
mod string_literals;

pub use string_literals::{block_string, is_block_printable, string};

use super::ast::{
    Argument, Definition, Description, Directive, Document, List, Operation, OperationKind, Selection,
    ValueId, ValueKind, VariableDefinition,
};
use literal_layout::{LINE_MAX, Layout, layouts};

/// The canonical text of `document`, without a line end after the last definition.
#[must_use]
pub fn print(document: &Document<'_>) -> String {
    let mut printer = DocumentPrinter::new(document);
    for (number, definition) in document.definitions.iter().enumerate() {
        if number > 0 {
            printer.out.push_str("\n\n");
        }
        printer.definition(definition);
    }
    printer.out
}

/// The canonical text of one literal.
#[must_use]
pub fn print_value(document: &Document<'_>, value: ValueId) -> String {
    let mut printer = DocumentPrinter::new(document);
    printer.value(value);
    printer.out
}

/// Parts still to be written, the next one last.
enum Step {
    /// A member of a selection set, on a line of its own.
    Selection(usize),
    /// The value at this place.
    Value(usize),
    /// The object field at this place.
    Member(usize),
    /// Literally.
    Text(&'static str),
    /// A line end and the indentation.
    Line,
    /// A line end, one step less indented, and a bracket.
    Close(&'static str),
}

struct DocumentPrinter<'d> {
    document: &'d Document<'d>,
    /// Runs parallel to the arena of values.
    layouts: Vec<Layout>,
    out: String,
    depth: usize,
    steps: Vec<Step>,
}

impl<'d> DocumentPrinter<'d> {
    fn new(document: &'d Document<'_>) -> Self {
        let out = String::with_capacity(document.text.len());
        Self { document, layouts: layouts(document), out, depth: 0, steps: Vec::new() }
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }

    /// Writes the steps above `floor`.
    fn run(&mut self, floor: usize) {
        while self.steps.len() > floor {
            let Some(step) = self.steps.pop() else { return };
            match step {
                Step::Selection(place) => self.selection(place),
                Step::Value(place) => self.value_step(place),
                Step::Member(place) => {
                    let member = self.document.object_fields[place];
                    self.out.push_str(self.document.str(member.name));
                    self.out.push_str(": ");
                    self.steps.push(Step::Value(member.value.0 as usize));
                }
                Step::Text(text) => self.out.push_str(text),
                Step::Line => self.line(),
                Step::Close(bracket) => {
                    self.depth -= 1;
                    self.line();
                    self.out.push_str(bracket);
                }
            }
        }
    }

    fn definition(&mut self, definition: &Definition) {
        match definition {
            Definition::Operation(operation) => self.operation(operation),
            Definition::Fragment(fragment) => {
                self.description(fragment.description);
                self.words(&["fragment ", self.document.str(fragment.name), " on "]);
                self.out.push_str(self.document.str(fragment.on));
                self.directives(fragment.directives);
                self.selection_set(fragment.selections);
            }
            Definition::Schema(schema) => self.schema(schema),
            Definition::Type(definition) => self.type_definition(definition),
            Definition::Directive(definition) => self.directive_definition(definition),
        }
    }

    fn words(&mut self, words: &[&str]) {
        self.out.extend(words.iter().copied());
    }

    fn operation(&mut self, operation: &Operation) {
        let document = self.document;
        self.description(operation.description);
        let bare = operation.kind == OperationKind::Query
            && operation.description.is_none()
            && operation.name.is_empty()
            && operation.variables.is_empty()
            && operation.directives.is_empty();
        if bare {
            return self.braces(operation.selections);
        }
        self.out.push_str(keyword(operation.kind));
        if !operation.name.is_empty() || !operation.variables.is_empty() {
            self.words(&[" ", document.str(operation.name)]);
        }
        self.variables(operation.variables);
        self.directives(operation.directives);
        self.selection_set(operation.selections);
    }

    fn variables(&mut self, variables: List<VariableDefinition>) {
        let document = self.document;
        let variables = document.list(variables);
        if variables.is_empty() {
            return;
        }
        let tall = variables.iter().any(|variable| {
            let VariableDefinition { description, default, directives, .. } = *variable;
            self.is_tall(description, default, directives)
        });
        self.out.push_str(if tall { "(\n" } else { "(" });
        for (number, variable) in variables.iter().enumerate() {
            if number > 0 {
                self.out.push_str(if tall { "\n" } else { ", " });
            }
            self.description(variable.description);
            self.words(&["$", document.str(variable.name), ": "]);
            variable.ty.wraps.write(document.str(variable.ty.name), &mut self.out);
            self.default(variable.default);
            self.directives(variable.directives);
        }
        self.out.push_str(if tall { "\n)" } else { ")" });
    }

    /// True if a definition with these parts takes more than one line.
    fn is_tall(&self, above: Description, default: Option<ValueId>, directives: List<Directive>) -> bool {
        let is_tall = |value: ValueId| self.layouts[value.0 as usize].line_ends > 0;
        let directives = self.document.list(directives).iter();
        let mut arguments = directives.flat_map(|directive| self.document.list(directive.arguments));
        above.is_some() || default.is_some_and(is_tall) || arguments.any(|argument| is_tall(argument.value))
    }

    /// ` {`, the members, `}`.
    fn selection_set(&mut self, selections: List<Selection>) {
        self.out.push(' ');
        self.braces(selections);
    }

    fn braces(&mut self, selections: List<Selection>) {
        let floor = self.steps.len();
        self.open_set(selections);
        self.run(floor);
    }

    fn open_set(&mut self, selections: List<Selection>) {
        if selections.is_empty() {
            return self.out.push_str("{}");
        }
        self.out.push('{');
        self.depth += 1;
        self.steps.push(Step::Close("}"));
        self.steps.extend(selections.range().rev().map(Step::Selection));
    }

    fn selection(&mut self, place: usize) {
        let document = self.document;
        self.line();
        match &document.selections[place] {
            Selection::Field(field) => {
                let start = self.out.len();
                if !field.alias.is_empty() {
                    self.words(&[document.str(field.alias), ": "]);
                }
                self.out.push_str(document.str(field.name));
                self.field_arguments(field.arguments, self.out.len() - start);
                self.directives(field.directives);
                if field.braces {
                    self.out.push(' ');
                    self.open_set(field.selections);
                }
            }
            Selection::Spread(spread) => {
                self.words(&["...", document.str(spread.name)]);
                self.directives(spread.directives);
            }
            Selection::Inline(inline) => {
                self.out.push_str("...");
                if !inline.on.is_empty() {
                    self.words(&[" on ", document.str(inline.on)]);
                }
                self.directives(inline.directives);
                self.out.push(' ');
                self.open_set(inline.selections);
            }
        }
    }

    /// Arguments of a field whose name took `prefix` characters: one below the other where the line gets long.
    fn field_arguments(&mut self, arguments: List<Argument>, prefix: usize) {
        let list = self.document.list(arguments);
        if list.is_empty() {
            return;
        }
        let length = |argument: &Argument| {
            let name = argument.name.end - argument.name.start;
            name as usize + 2 + self.layouts[argument.value.0 as usize].length
        };
        let joined = list.iter().map(length).sum::<usize>() + 2 * (list.len() - 1);
        if prefix + joined + 2 <= LINE_MAX {
            return self.arguments(arguments);
        }
        self.out.push('(');
        self.depth += 1;
        for argument in list {
            self.line();
            self.argument(argument);
        }
        self.depth -= 1;
        self.line();
        self.out.push(')');
    }

    /// Arguments in one line.
    fn arguments(&mut self, arguments: List<Argument>) {
        for (number, argument) in self.document.list(arguments).iter().enumerate() {
            self.out.push_str(if number == 0 { "(" } else { ", " });
            self.argument(argument);
        }
        if !arguments.is_empty() {
            self.out.push(')');
        }
    }

    fn argument(&mut self, argument: &Argument) {
        self.words(&[self.document.str(argument.name), ": "]);
        self.value(argument.value);
    }

    fn directives(&mut self, directives: List<Directive>) {
        for directive in self.document.list(directives) {
            self.words(&[" @", self.document.str(directive.name)]);
            self.arguments(directive.arguments);
        }
    }

    fn default(&mut self, default: Option<ValueId>) {
        if let Some(value) = default {
            self.out.push_str(" = ");
            self.value(value);
        }
    }

    /// A description and a line end, if there is one.
    fn description(&mut self, description: Description) {
        if let Some(value) = description {
            self.value(value);
            self.line();
        }
    }

    fn value(&mut self, value: ValueId) {
        let floor = self.steps.len();
        self.steps.push(Step::Value(value.0 as usize));
        self.run(floor);
    }

    fn value_step(&mut self, place: usize) {
        let document = self.document;
        let value = &document.values[place];
        match value.kind {
            ValueKind::String { .. } => {
                string(&document.string(ValueId(place as u32)), &mut self.out);
            }
            ValueKind::Block => {
                let mut block = String::new();
                block_string(&document.string(ValueId(place as u32)), &mut block);
                for (number, line) in block.split('\n').enumerate() {
                    if number > 0 {
                        self.line();
                    }
                    self.out.push_str(line);
                }
            }
            ValueKind::List(items) => {
                let members = items.range().map(Step::Value);
                self.container(members, self.layouts[place].broken, ("[", "]"));
            }
            ValueKind::Object(fields) => {
                let members = fields.range().map(Step::Member);
                let broken = self.layouts[place].broken;
                self.container(members, broken, if broken { ("{", "}") } else { ("{ ", " }") });
            }
            ValueKind::Variable(_)
            | ValueKind::Int
            | ValueKind::Float
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::Enum => self.scalar(place),
        }
    }

    fn scalar(&mut self, place: usize) {
        let value = &self.document.values[place];
        match value.kind {
            // Between `$` and the name there may have been spaces.
            ValueKind::Variable(name) => self.words(&["$", self.document.str(name)]),
            ValueKind::Int
            | ValueKind::Float
            | ValueKind::String { .. }
            | ValueKind::Block
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::Enum
            | ValueKind::List(_)
            | ValueKind::Object(_) => self.out.push_str(self.document.str(value.span)),
        }
    }

    /// A list or object: in one line, or `broken` into one line per member.
    fn container(
        &mut self,
        members: impl DoubleEndedIterator<Item = Step>,
        broken: bool,
        brackets: (&'static str, &'static str),
    ) {
        self.out.push_str(brackets.0);
        if broken {
            self.depth += 1;
            self.steps.push(Step::Close(brackets.1));
            self.steps.extend(members.rev().flat_map(|member| [member, Step::Line]));
            return;
        }
        self.steps.push(Step::Text(brackets.1));
        let first = self.steps.len();
        self.steps.extend(members.rev().flat_map(|member| [member, Step::Text(", ")]));
        if self.steps.len() > first {
            // No comma before the first member.
            self.steps.pop();
        }
    }
}

const fn keyword(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation",
        OperationKind::Subscription => "subscription",
    }
}
