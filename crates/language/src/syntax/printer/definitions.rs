//! Definitions and extensions of the type system as text.
//!
//! **Invariant:** the parts stand in the order of the grammar, so what is printed parses again.

use super::{DocumentPrinter, keyword};
use crate::syntax::ast::{
    Directive, DirectiveDefinition, EnumValueDefinition, FieldDefinition, InputDefinition, List, NameNode,
    SchemaDefinition, TypeBody, TypeDefinition,
};

impl DocumentPrinter<'_> {
    pub(super) fn schema(&mut self, schema: &SchemaDefinition) {
        self.description(schema.description);
        self.out.push_str(if schema.extend { "extend schema" } else { "schema" });
        self.directives(schema.directives);
        let document = self.document;
        self.block(document.list(schema.operations), |printer, operation| {
            printer.words(&[keyword(operation.kind), ": ", document.str(operation.ty)]);
        });
    }

    pub(super) fn type_definition(&mut self, definition: &TypeDefinition) {
        let document = self.document;
        self.description(definition.description);
        let word = match definition.body {
            TypeBody::Scalar => "scalar ",
            TypeBody::Object { .. } => "type ",
            TypeBody::Interface { .. } => "interface ",
            TypeBody::Union { .. } => "union ",
            TypeBody::Enum { .. } => "enum ",
            TypeBody::Input { .. } => "input ",
        };
        let extend = if definition.extend { "extend " } else { "" };
        self.words(&[extend, word, document.str(definition.name)]);
        match definition.body {
            TypeBody::Scalar => self.directives(definition.directives),
            TypeBody::Object { interfaces, fields } | TypeBody::Interface { interfaces, fields } => {
                self.names(interfaces, " implements ", " & ");
                self.directives(definition.directives);
                self.block(document.list(fields), Self::field_definition);
            }
            TypeBody::Union { members } => {
                self.directives(definition.directives);
                self.names(members, " = ", " | ");
            }
            TypeBody::Enum { values } => {
                self.directives(definition.directives);
                self.block(document.list(values), Self::enum_value);
            }
            TypeBody::Input { fields } => {
                self.directives(definition.directives);
                self.block(document.list(fields), Self::input_definition);
            }
        }
    }

    pub(super) fn directive_definition(&mut self, definition: &DirectiveDefinition) {
        self.description(definition.description);
        self.out.push_str(if definition.extend { "extend directive @" } else { "directive @" });
        self.out.push_str(self.document.str(definition.name));
        self.argument_definitions(definition.arguments);
        self.directives(definition.directives);
        if definition.repeatable {
            self.out.push_str(" repeatable");
        }
        self.names(definition.locations, " on ", " | ");
    }

    /// Names with `first` before them and `between` them; nothing if there are none.
    fn names(&mut self, names: List<NameNode>, first: &str, between: &str) {
        for (number, name) in self.document.list(names).iter().enumerate() {
            let before = if number == 0 { first } else { between };
            self.words(&[before, self.document.str(name.0)]);
        }
    }

    /// ` { … }` with a line for each member; nothing if there are none.
    fn block<T>(&mut self, members: &[T], write: impl Fn(&mut Self, &T)) {
        if members.is_empty() {
            return;
        }
        self.out.push_str(" {");
        self.lines(members, write);
        self.out.push('}');
    }

    /// Each member on a line of its own, indented.
    fn lines<T>(&mut self, members: &[T], write: impl Fn(&mut Self, &T)) {
        self.depth += 1;
        for member in members {
            self.line();
            write(self, member);
        }
        self.depth -= 1;
        self.line();
    }

    fn field_definition(&mut self, field: &FieldDefinition) {
        self.description(field.description);
        self.out.push_str(self.document.str(field.name));
        self.argument_definitions(field.arguments);
        self.out.push_str(": ");
        field.ty.wraps.write(self.document.str(field.ty.name), &mut self.out);
        self.directives(field.directives);
    }

    fn argument_definitions(&mut self, arguments: List<InputDefinition>) {
        let arguments = self.document.list(arguments);
        let tall = arguments.iter().any(|argument| {
            let InputDefinition { description, default, directives, .. } = *argument;
            self.is_tall(description, default, directives)
        });
        if tall {
            self.out.push('(');
            self.lines(arguments, Self::input_definition);
            self.out.push(')');
            return;
        }
        for (number, argument) in arguments.iter().enumerate() {
            self.out.push_str(if number == 0 { "(" } else { ", " });
            self.input_definition(argument);
        }
        if !arguments.is_empty() {
            self.out.push(')');
        }
    }

    fn input_definition(&mut self, input: &InputDefinition) {
        self.description(input.description);
        self.words(&[self.document.str(input.name), ": "]);
        input.ty.wraps.write(self.document.str(input.ty.name), &mut self.out);
        self.default(input.default);
        self.directives(input.directives);
    }

    fn enum_value(&mut self, value: &EnumValueDefinition) {
        self.description(value.description);
        self.out.push_str(self.document.str(value.name));
        let directives: List<Directive> = value.directives;
        self.directives(directives);
    }
}
