//! Directives applied in SDL: checks that they may stand there, honours the built-in ones, keeps the others.
//!
//! Values of arguments are checked at the end, when all types are known: see [`crate::schema_builder::applied_values`].

use super::SdlReader;
use crate::coerce::literal_text::{self, Style};
use crate::ids::{DirectiveId, InputId};
use crate::syntax::ast::{Definition, Directive, DirectiveDefinition, List, ValueKind};
use crate::type_system::{Place, builtin};
use crate::{string_value, suggest};

impl SdlReader<'_> {
    /// Begins a place: directives that are not repeatable may stand there once.
    pub(super) fn begin_place(&mut self) {
        self.applied_places += 1;
    }

    /// Checks and keeps `directives` of the thing added last.
    pub(super) fn apply(&mut self, directives: List<Directive>, place: Place) {
        for directive in self.document().list(directives) {
            if self.check_applied(directive, place) {
                self.keep(directive);
            }
        }
    }

    /// Keeps directives on directive definitions and their arguments.
    pub(super) fn keep_all(&mut self, directives: List<Directive>) {
        for directive in self.document().list(directives) {
            self.keep(directive);
        }
    }

    /// Checks what [`Self::keep_all`] kept, now that all directives are known.
    pub(super) fn check_directive_definition(
        &mut self,
        directive: &DirectiveDefinition,
        extensions: &[(usize, &DirectiveDefinition)],
    ) {
        self.begin_place();
        let own = self.current;
        for (number, part) in [(own, directive)].iter().chain(extensions) {
            self.current = *number;
            for applied in self.document().list(part.directives) {
                self.check_applied(applied, Place::DirectiveDefinition);
            }
        }
        self.current = own;
        for argument in self.document().list(directive.arguments) {
            self.begin_place();
            for applied in self.document().list(argument.directives) {
                self.check_applied(applied, Place::ArgumentDefinition);
            }
        }
    }

    /// Directives of the schema definition and its extensions.
    pub(super) fn apply_on_schema(&mut self) {
        self.begin_place();
        self.b.select_schema();
        for number in 0..self.documents.len() {
            self.current = number;
            for definition in &self.documents[number].definitions {
                if let Definition::Schema(schema) = definition {
                    self.apply(schema.directives, Place::Schema);
                }
            }
        }
    }

    fn keep(&mut self, directive: &Directive) {
        self.set_place(directive.span);
        match self.str(directive.name) {
            "deprecated" => {
                let reason = self.argument_text(directive, "reason");
                self.b.deprecate(reason.as_deref().unwrap_or(builtin::DEPRECATED_REASON));
            }
            "specifiedBy" => {
                let url = self.argument_text(directive, "url");
                self.b.specified_by(&url.unwrap_or_default());
            }
            "oneOf" => {
                self.b.one_of();
            }
            name => {
                let document = self.document();
                self.buffer.clear();
                for argument in document.list(directive.arguments) {
                    let separator = if self.buffer.is_empty() { "(" } else { ", " };
                    self.buffer.extend([separator, document.str(argument.name), ": "]);
                    // Constants hold no variables, so rendering them cannot fail.
                    let rendered =
                        literal_text::literal(document, argument.value, Style::GraphQl, &mut self.buffer);
                    debug_assert!(rendered.is_ok(), "the parser refuses variables in SDL");
                }
                self.buffer.push_str(if self.buffer.is_empty() { "" } else { ")" });
                self.b.apply(name, &self.buffer);
            }
        }
    }

    /// The text of a string argument.
    fn argument_text(&self, directive: &Directive, name: &str) -> Option<String> {
        let document = self.document();
        let argument = document.list(directive.arguments).iter().find(|it| document.str(it.name) == name)?;
        let value = document.value(argument.value);
        match value.kind {
            ValueKind::String { .. } | ValueKind::Block => {
                Some(string_value::decode(document.str(value.span)).into_owned())
            }
            ValueKind::Variable(_)
            | ValueKind::Int
            | ValueKind::Float
            | ValueKind::Boolean(_)
            | ValueKind::Null
            | ValueKind::Enum
            | ValueKind::List(_)
            | ValueKind::Object(_) => None,
        }
    }

    /// Checks name, place, repetition and the names of arguments.
    fn check_applied(&mut self, directive: &Directive, place: Place) -> bool {
        let name = self.str(directive.name);
        let Some(id) = self.b.schema.directive_by_name(name) else {
            self.complain(directive.span, format!("Unknown directive \"@{name}\"."));
            return false;
        };
        let definition = self.b.schema.directives[id.index()];
        if definition.places & place.bit() == 0 {
            let place = place.name();
            self.complain(directive.span, format!("Directive \"@{name}\" may not be used on {place}."));
            return false;
        }
        let last = std::mem::replace(&mut self.applied_at[id.index()], self.applied_places);
        if last == self.applied_places && !definition.repeatable {
            let message = format!("The directive \"@{name}\" can only be used once at this location.");
            self.complain(directive.span, message);
            return false;
        }
        self.check_arguments(directive, name, id);
        true
    }

    fn check_arguments(&mut self, directive: &Directive, name: &str, id: DirectiveId) {
        let document = self.document();
        let run = self.b.schema.directives[id.index()].arguments;
        let given = document.list(directive.arguments);
        let mut known: Vec<InputId> = Vec::with_capacity(given.len());
        for argument in given {
            let argument_name = document.str(argument.name);
            // The indexes over names come when the schema is finished.
            let found = run.range().map(|at| InputId(at as u32));
            match found.into_iter().find(|&id| self.b.schema.input_name(id) == argument_name) {
                None => {
                    let all = run.range().map(|at| self.b.schema.str(self.b.schema.inputs.get(at).name));
                    let suggestion = suggest::did_you_mean("", &suggest::find_near(argument_name, all));
                    let message =
                        format!("Unknown argument \"{argument_name}\" on directive \"@{name}\".{suggestion}");
                    self.complain(argument.span, message);
                }
                Some(id) if known.contains(&id) => {
                    let message = format!("There can be only one argument named \"{argument_name}\".");
                    self.complain(argument.span, message);
                }
                Some(id) => known.push(id),
            }
        }
        for at in run.range() {
            let input = self.b.schema.inputs.get(at);
            if input.ty.is_non_null() && input.default.is_none() && !known.contains(&InputId(at as u32)) {
                let argument = self.b.schema.str(input.name);
                let ty = self.b.schema.type_text(input.ty);
                let message = format!(
                    "Argument \"@{name}({argument}:)\" of type \"{ty}\" is required, but it was not provided."
                );
                self.complain(directive.span, message);
            }
        }
    }
}
