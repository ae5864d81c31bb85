//! Documents as text in one line: each token and a space.
//!
//! Documents parsed from the output print the same again, and are the same document apart from its spans. Strings lose the form of a
//! block, comments and commas are not kept.

use weir_language::ast::{
    Argument, Definition, Description, Directive, DirectiveDefinition, Document, EnumValueDefinition,
    FieldDefinition, InputDefinition, List, NameNode, Operation, OperationKind, RootOperation,
    SchemaDefinition, Selection, TypeBody, TypeDefinition, TypeExpr, ValueId, ValueKind, VariableDefinition,
};
use weir_language::string_value::write_graphql;

/// The text of `document`. It nests as deeply in calls as the document does.
pub(crate) fn print(document: &Document<'_>) -> String {
    let mut printer = DocumentPrinter { document, out: String::with_capacity(document.text.len()) };
    document.definitions.iter().for_each(|it| printer.definition(it));
    printer.out
}

struct DocumentPrinter<'d> {
    document: &'d Document<'d>,
    out: String,
}

impl<'d> DocumentPrinter<'d> {
    fn tokens(&mut self, tokens: &[&str]) {
        for token in tokens.iter().filter(|it| !it.is_empty()) {
            self.out.push_str(token);
            self.out.push(' ');
        }
    }

    /// The items between brackets; nothing if there are none.
    fn group<T>(&mut self, brackets: [&str; 2], items: &[T], write: impl Fn(&mut Self, &T)) {
        if !items.is_empty() {
            self.tokens(&brackets[..1]);
            items.iter().for_each(|it| write(self, it));
            self.tokens(&brackets[1..]);
        }
    }

    fn definition(&mut self, definition: &Definition) {
        let document = self.document;
        match definition {
            Definition::Operation(it) => self.operation(it),
            Definition::Fragment(it) => {
                self.description(it.description);
                self.tokens(&["fragment", document.str(it.name), "on", document.str(it.on)]);
                self.directives(it.directives);
                self.selections(it.selections);
            }
            Definition::Schema(it) => self.schema(it),
            Definition::Type(it) => self.type_definition(it),
            Definition::Directive(it) => self.directive_definition(it),
        }
    }

    fn operation(&mut self, operation: &Operation) {
        let document = self.document;
        self.description(operation.description);
        self.tokens(&[keyword(operation.kind), document.str(operation.name)]);
        self.group(["(", ")"], document.list(operation.variables), Self::variable);
        self.directives(operation.directives);
        self.selections(operation.selections);
    }

    fn variable(&mut self, variable: &VariableDefinition) {
        self.description(variable.description);
        self.tokens(&["$", self.document.str(variable.name), ":"]);
        self.typed(&variable.ty, variable.default, variable.directives);
    }

    fn typed(&mut self, ty: &TypeExpr, default: Option<ValueId>, directives: List<Directive>) {
        ty.wraps.write(self.document.str(ty.name), &mut self.out);
        self.out.push(' ');
        if let Some(value) = default {
            self.tokens(&["="]);
            self.value(value);
        }
        self.directives(directives);
    }

    /// A selection set, which may be empty.
    fn selections(&mut self, selections: List<Selection>) {
        self.tokens(&["{"]);
        self.document.list(selections).iter().for_each(|it| self.selection(it));
        self.tokens(&["}"]);
    }

    fn selection(&mut self, selection: &Selection) {
        let document = self.document;
        match selection {
            Selection::Field(it) => {
                let colon = if it.alias.is_empty() { "" } else { ":" };
                self.tokens(&[document.str(it.alias), colon, document.str(it.name)]);
                self.group(["(", ")"], document.list(it.arguments), Self::argument);
                self.directives(it.directives);
                if it.braces {
                    self.selections(it.selections);
                }
            }
            Selection::Spread(it) => {
                self.tokens(&["...", document.str(it.name)]);
                self.directives(it.directives);
            }
            Selection::Inline(it) => {
                let on = if it.on.is_empty() { "" } else { "on" };
                self.tokens(&["...", on, document.str(it.on)]);
                self.directives(it.directives);
                self.selections(it.selections);
            }
        }
    }

    fn argument(&mut self, argument: &Argument) {
        self.tokens(&[self.document.str(argument.name), ":"]);
        self.value(argument.value);
    }

    fn directives(&mut self, directives: List<Directive>) {
        let document = self.document;
        for it in document.list(directives) {
            self.tokens(&["@", document.str(it.name)]);
            self.group(["(", ")"], document.list(it.arguments), Self::argument);
        }
    }

    fn description(&mut self, description: Description) {
        description.into_iter().for_each(|it| self.value(it));
    }

    fn value(&mut self, id: ValueId) {
        let document = self.document;
        let value = document.value(id);
        match value.kind {
            ValueKind::Variable(name) => self.tokens(&["$", document.str(name)]),
            ValueKind::String { .. } | ValueKind::Block => {
                write_graphql(&document.string(id), &mut self.out);
                self.out.push(' ');
            }
            ValueKind::List(items) => {
                self.tokens(&["["]);
                items.range().for_each(|it| self.value(ValueId(it as u32)));
                self.tokens(&["]"]);
            }
            ValueKind::Object(fields) => {
                self.tokens(&["{"]);
                for it in document.list(fields) {
                    self.tokens(&[document.str(it.name), ":"]);
                    self.value(it.value);
                }
                self.tokens(&["}"]);
            }
            ValueKind::Int | ValueKind::Float | ValueKind::Boolean(_) | ValueKind::Null | ValueKind::Enum => {
                self.tokens(&[document.str(value.span)]);
            }
        }
    }

    fn schema(&mut self, schema: &SchemaDefinition) {
        self.description(schema.description);
        self.tokens(&[if schema.extend { "extend" } else { "" }, "schema"]);
        self.directives(schema.directives);
        let root = |printer: &mut Self, it: &RootOperation| {
            printer.tokens(&[keyword(it.kind), ":", printer.document.str(it.ty)]);
        };
        self.group(["{", "}"], self.document.list(schema.operations), root);
    }

    fn type_definition(&mut self, definition: &TypeDefinition) {
        let document = self.document;
        let (word, interfaces) = match definition.body {
            TypeBody::Scalar => ("scalar", List::default()),
            TypeBody::Object { interfaces, .. } => ("type", interfaces),
            TypeBody::Interface { interfaces, .. } => ("interface", interfaces),
            TypeBody::Union { .. } => ("union", List::default()),
            TypeBody::Enum { .. } => ("enum", List::default()),
            TypeBody::Input { .. } => ("input", List::default()),
        };
        self.description(definition.description);
        self.tokens(&[if definition.extend { "extend" } else { "" }, word, document.str(definition.name)]);
        self.names(interfaces, ["implements", "&"]);
        self.directives(definition.directives);
        match definition.body {
            TypeBody::Scalar => {}
            TypeBody::Object { fields, .. } | TypeBody::Interface { fields, .. } => {
                self.group(["{", "}"], document.list(fields), Self::field);
            }
            TypeBody::Union { members } => self.names(members, ["=", "|"]),
            TypeBody::Enum { values } => {
                self.group(["{", "}"], document.list(values), Self::enum_value);
            }
            TypeBody::Input { fields } => self.group(["{", "}"], document.list(fields), Self::input),
        }
    }

    fn directive_definition(&mut self, definition: &DirectiveDefinition) {
        let document = self.document;
        self.description(definition.description);
        let extend = if definition.extend { "extend" } else { "" };
        self.tokens(&[extend, "directive", "@", document.str(definition.name)]);
        self.group(["(", ")"], document.list(definition.arguments), Self::input);
        self.directives(definition.directives);
        self.tokens(&[if definition.repeatable { "repeatable" } else { "" }]);
        self.names(definition.locations, ["on", "|"]);
    }

    /// Names, with one token before the first and another between them.
    fn names(&mut self, names: List<NameNode>, [first, between]: [&str; 2]) {
        for (number, name) in self.document.list(names).iter().enumerate() {
            self.tokens(&[if number == 0 { first } else { between }, self.document.str(name.0)]);
        }
    }

    fn field(&mut self, field: &FieldDefinition) {
        self.description(field.description);
        self.tokens(&[self.document.str(field.name)]);
        self.group(["(", ")"], self.document.list(field.arguments), Self::input);
        self.tokens(&[":"]);
        self.typed(&field.ty, None, field.directives);
    }

    fn input(&mut self, input: &InputDefinition) {
        self.description(input.description);
        self.tokens(&[self.document.str(input.name), ":"]);
        self.typed(&input.ty, input.default, input.directives);
    }

    fn enum_value(&mut self, value: &EnumValueDefinition) {
        self.description(value.description);
        self.tokens(&[self.document.str(value.name)]);
        self.directives(value.directives);
    }
}

const fn keyword(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation",
        OperationKind::Subscription => "subscription",
    }
}
