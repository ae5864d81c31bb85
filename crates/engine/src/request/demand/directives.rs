//! Reads `@cost` and `@listSize` from type definitions.

use super::rules::{CostRule, CostWeight, ListSize, Rule};
use weir_language::ast::{
    Definition, Directive, Document, FieldDefinition, InputDefinition, List, TypeBody, TypeDefinition,
    ValueId, ValueKind,
};
use weir_language::error::{Code, Error};
use weir_language::span::{Location, Span};

/// The directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostDirective {
    /// `@cost(weight:)`.
    Cost,
    /// `@listSize(assumedSize:, slicingArguments:, sizedFields:, requireOneSlicingArgument:)`.
    ListSize,
}

impl CostDirective {
    /// Name without `@`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cost => "cost",
            Self::ListSize => "listSize",
        }
    }

    /// The directive that is called `name`.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "cost" => Some(Self::Cost),
            "listSize" => Some(Self::ListSize),
            _ => None,
        }
    }
}

/// The rules that the types of `document` say; `directive_of` knows the names of the directives, which a link may change.
/// # Errors
/// Arguments that are wrong.
pub fn read_cost_rules(
    document: &Document<'_>,
    file: &str,
    directive_of: &dyn Fn(&Directive) -> Option<CostDirective>,
) -> Result<Vec<CostRule>, Vec<Error>> {
    let mut reader = Reader { document, file, directive_of, rules: Vec::new(), errors: Vec::new() };
    for definition in &document.definitions {
        match definition {
            Definition::Type(ty) => reader.ty(ty),
            Definition::Directive(directive) => {
                let place = format!("@{}", document.str(directive.name));
                reader.arguments(&place, directive.arguments);
            }
            Definition::Schema(_) | Definition::Operation(_) | Definition::Fragment(_) => {}
        }
    }
    if reader.errors.is_empty() { Ok(reader.rules) } else { Err(reader.errors) }
}

struct Reader<'d> {
    document: &'d Document<'d>,
    file: &'d str,
    directive_of: &'d dyn Fn(&Directive) -> Option<CostDirective>,
    rules: Vec<CostRule>,
    errors: Vec<Error>,
}

impl Reader<'_> {
    fn ty(&mut self, ty: &TypeDefinition) {
        let name = self.document.str(ty.name);
        self.place(name, ty.directives);
        match ty.body {
            TypeBody::Object { fields, .. } | TypeBody::Interface { fields, .. } => self.fields(name, fields),
            TypeBody::Input { fields } => {
                for field in self.document.list(fields) {
                    self.place(&format!("{name}.{}", self.document.str(field.name)), field.directives);
                }
            }
            TypeBody::Scalar | TypeBody::Union { .. } | TypeBody::Enum { .. } => {}
        }
    }

    fn fields(&mut self, ty: &str, fields: List<FieldDefinition>) {
        for field in self.document.list(fields) {
            let place = format!("{ty}.{}", self.document.str(field.name));
            self.place(&place, field.directives);
            self.arguments(&place, field.arguments);
        }
    }

    fn arguments(&mut self, place: &str, arguments: List<InputDefinition>) {
        for argument in self.document.list(arguments) {
            let place = format!("{place}({}:)", self.document.str(argument.name));
            self.place(&place, argument.directives);
        }
    }

    fn place(&mut self, place: &str, directives: List<Directive>) {
        for directive in self.document.list(directives) {
            let rule = match (self.directive_of)(directive) {
                Some(CostDirective::Cost) => self.weight(directive).map(Rule::Weight),
                Some(CostDirective::ListSize) => self.list_size(directive).map(Rule::ListSize),
                None => continue,
            };
            let Location { line, column } = Location::of(self.document.text, directive.span.start);
            let written = format!("{}:{line}:{column}", self.file);
            self.rules.extend(rule.map(|rule| CostRule { place: place.into(), rule, written }));
        }
    }

    fn weight(&mut self, directive: &Directive) -> Option<CostWeight> {
        let mut weight = None;
        for argument in self.document.list(directive.arguments) {
            let name = self.document.str(argument.name);
            if name != "weight" {
                self.complain(argument.span, format!("@cost has no argument `{name}`"));
                continue;
            }
            // A weight is a text in IBM's specification, an integer in Federation.
            weight = CostWeight::parse(&self.document.string(argument.value));
        }
        if weight.is_none() {
            let message = "@cost needs a weight: a number of at most three decimals that is not negative, \
                           `weight: 5` or `weight: \"2.5\"`";
            self.complain(directive.span, message.into());
        }
        weight
    }

    fn list_size(&mut self, directive: &Directive) -> Option<ListSize> {
        let mut size = ListSize { requires_one: true, ..ListSize::default() };
        let errors = self.errors.len();
        for argument in self.document.list(directive.arguments) {
            let kind = self.document.value(argument.value).kind;
            match (self.document.str(argument.name), kind) {
                (_, ValueKind::Null) => {}
                ("assumedSize", _) => match self.document.string(argument.value).parse() {
                    Ok(assumed) => size.assumed = Some(assumed),
                    Err(_) => self.complain(argument.span, "`assumedSize` is no number of items".into()),
                },
                ("slicingArguments", _) => size.slicing = self.names(argument.value),
                ("sizedFields", _) => size.sized = self.names(argument.value),
                ("requireOneSlicingArgument", ValueKind::Boolean(is)) => size.requires_one = is,
                ("requireOneSlicingArgument", _) => {
                    self.complain(argument.span, "`requireOneSlicingArgument` is true or false".into());
                }
                (name, _) => self.complain(argument.span, format!("@listSize has no argument `{name}`")),
            }
        }
        size.requires_one &= !size.slicing.is_empty();
        (self.errors.len() == errors).then_some(size)
    }

    /// The texts of a list, or of one text.
    fn names(&mut self, value: ValueId) -> Vec<Box<str>> {
        let document = self.document;
        let items: Vec<ValueId> = match document.value(value).kind {
            ValueKind::List(items) => items.range().map(|it| ValueId(it as u32)).collect(),
            _ => vec![value],
        };
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            match document.value(item).kind {
                ValueKind::String { .. } | ValueKind::Block => names.push(document.string(item).into()),
                _ => self.complain(document.value(item).span, "a name in quotes is expected here".into()),
            }
        }
        names
    }

    fn complain(&mut self, span: Span, message: String) {
        self.errors.push(Error::new(Code::Schema, span, message));
    }
}
