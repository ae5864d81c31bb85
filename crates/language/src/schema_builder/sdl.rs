//! Reads type system definitions: one or several documents in, a [`Schema`] out.
//!
//! Names come first, so that types get their ids in the order they are defined; then directives, so that their uses
//! can be checked; then each type at once with all its extensions, so that its members lie side by side.
//!
//! **Invariant:** spans of several documents count on: a span of the second one begins where the first text ends.
//! [`place`] takes them apart.
//!
//! **Cost:** linear in the documents.
//! Source: GraphQL specification, sections 3.3 to 3.13.

mod applied;
mod type_members;

use super::build::SchemaBuilder;
use super::finish;
use crate::error::Error;
use crate::ids::TypeId;
use crate::limits::Limits;
use crate::span::Span;
use crate::syntax::ast::{
    Definition, Description, DirectiveDefinition, Document, OperationKind, SchemaDefinition, TypeBody,
    TypeDefinition,
};
use crate::syntax::parser::{self, Edition};
use crate::type_system::{Place, Schema, builtin};
use crate::{string_value, suggest};
use std::borrow::Cow;

impl Schema {
    /// Reads a schema from SDL.
    ///
    /// ```
    /// use weir_language::schema::Schema;
    /// let schema = Schema::from_sdl("type Query { album(id: ID!): String }").unwrap();
    /// assert_eq!(schema.type_name(schema.query), "Query");
    /// let errors = Schema::from_sdl("type Query { album: Album }").unwrap_err();
    /// assert_eq!(errors[0].message, "Unknown type \"Album\".");
    /// ```
    ///
    /// # Errors
    /// A syntax error, or all violations of the rules of the type system, with their places in `text`.
    pub fn from_sdl(text: &str) -> Result<Self, Vec<Error>> {
        let document = parse_sdl(text).map_err(|error| vec![error])?;
        from_documents(&[document])
    }
}

/// Parses a text of types by the newest edition: directives may stand on definitions of directives. There are no limits, as the text is
/// the owner's.
/// # Errors
/// A syntax error.
pub fn parse_sdl(text: &str) -> Result<Document<'_>, Error> {
    parser::parse_edition(text, &Limits::NONE, Edition::September2026)
}

/// Reads a schema from several documents, as if they were one.
/// # Errors
/// Everything that breaks a rule; [`place`] says in which document.
pub fn from_documents(documents: &[Document<'_>]) -> Result<Schema, Vec<Error>> {
    let mut reader = SdlReader::new(documents);
    let all = reader.declare();
    reader.directive_definitions();
    reader.types(&all);
    reader.schema_definitions();
    finish::finish(reader.b, documents)
}

/// The document that a span of an error belongs to, and the span within it.
pub fn place(documents: &[Document<'_>], span: Span) -> (usize, Span) {
    let mut base = 0;
    for (number, document) in documents.iter().enumerate() {
        let end = base + document.text.len() as u32;
        if span.start < end || number + 1 == documents.len() {
            return (number, Span::new(span.start.saturating_sub(base), span.end.saturating_sub(base)));
        }
        base = end;
    }
    (0, span)
}

/// Builds from documents.
struct SdlReader<'d> {
    b: SchemaBuilder,
    documents: &'d [Document<'d>],
    /// Offset to add to the spans of each document.
    bases: Vec<u32>,
    /// The document being read.
    current: usize,
    /// A text that is being put together.
    buffer: String,
    /// By directive: the last place it was applied at.
    applied_at: Vec<u32>,
    /// The number of places so far.
    applied_places: u32,
}

/// The definitions and extensions of all types: a list in document order, and for each type the first and, from
/// one to the next, the rest.
struct AllTypes<'d> {
    definitions: Vec<(usize, &'d TypeDefinition)>,
    /// By place in `definitions`: the next one of the same type.
    next: Vec<Option<usize>>,
    /// By type: the definition, and the last one so far.
    ends: Vec<Option<(usize, usize)>>,
}

impl<'d> SdlReader<'d> {
    fn new(documents: &'d [Document<'d>]) -> Self {
        let mut b = SchemaBuilder::new();
        b.keep_places();
        let mut bases = Vec::with_capacity(documents.len());
        let mut base = 0;
        for document in documents {
            bases.push(base);
            base += document.text.len() as u32;
            b.reserve(document);
        }
        let buffer = String::new();
        Self { b, documents, bases, current: 0, buffer, applied_at: Vec::new(), applied_places: 0 }
    }

    fn document(&self) -> &'d Document<'d> {
        &self.documents[self.current]
    }

    fn str(&self, span: Span) -> &'d str {
        self.document().str(span)
    }

    /// Sets the place of what comes next.
    fn set_place(&mut self, span: Span) {
        let base = self.bases[self.current];
        self.b.places.at = Span::new(span.start + base, span.end + base);
    }

    fn complain(&mut self, span: Span, message: String) {
        self.set_place(span);
        self.b.complain(message);
    }

    fn description(&self, description: Description) -> Cow<'d, str> {
        match description {
            Some(value) => string_value::decode(self.str(self.document().value(value).span)),
            None => Cow::Borrowed(""),
        }
    }

    /// Gives each type its id, in the order of definition, and finds its extensions.
    fn declare(&mut self) -> AllTypes<'d> {
        let mut all = AllTypes { definitions: Vec::new(), next: Vec::new(), ends: Vec::new() };
        for extend in [false, true] {
            for number in 0..self.documents.len() {
                self.current = number;
                for definition in &self.documents[number].definitions {
                    match definition {
                        Definition::Type(ty) if ty.extend == extend => self.declare_type(&mut all, ty),
                        Definition::Operation(it) if !extend => self.refuse(it.span, "an operation"),
                        Definition::Fragment(it) if !extend => self.refuse(it.span, "a fragment"),
                        Definition::Operation(_)
                        | Definition::Fragment(_)
                        | Definition::Type(_)
                        | Definition::Schema(_)
                        | Definition::Directive(_) => {}
                    }
                }
            }
        }
        all
    }

    fn refuse(&mut self, span: Span, what: &str) {
        self.complain(span, format!("A schema cannot hold {what}."));
    }

    fn declare_type(&mut self, all: &mut AllTypes<'d>, ty: &'d TypeDefinition) {
        let name = self.str(ty.name);
        self.set_place(ty.name);
        // Built-in types may be written out; they are what they are.
        if builtin::is_built_in_name(name) && !ty.extend {
            return;
        }
        let known = self.b.schema.type_by_name(name);
        if ty.extend && known.is_none() {
            let known = self.b.schema.types.iter().map(|it| self.b.schema.str(it.name));
            let suggestion = suggest::did_you_mean("", &suggest::find_near(name, known));
            self.b.complain(format!("Cannot extend type \"{name}\" because it is not defined.{suggestion}"));
            return;
        }
        if !ty.extend && known.is_some() {
            self.b.complain(format!("There can be only one type named \"{name}\"."));
            return;
        }
        let id = self.b.reference(name);
        all.ends.resize(all.ends.len().max(id.index() + 1), None);
        let at = all.definitions.len();
        if let Some((first, last)) = all.ends[id.index()] {
            if !same_kind(&all.definitions[first].1.body, &ty.body) {
                let wanted = kind_name(&ty.body);
                self.b.complain(format!("Cannot extend non-{wanted} type \"{name}\"."));
                return;
            }
            all.next[last] = Some(at);
            all.ends[id.index()] = Some((first, at));
        } else if ty.extend && !(matches!(ty.body, TypeBody::Scalar) && id <= builtin::ID) {
            let wanted = kind_name(&ty.body);
            self.b.complain(format!("Cannot extend non-{wanted} type \"{name}\"."));
            return;
        } else {
            all.ends[id.index()] = Some((at, at));
        }
        all.definitions.push((self.current, ty));
        all.next.push(None);
    }

    /// Definitions of directives, or extensions, each with the number of its document.
    fn written_directives(&self, are_extensions: bool) -> Vec<(usize, &'d DirectiveDefinition)> {
        let documents = self.documents.iter().enumerate();
        let all =
            documents.flat_map(|(number, document)| document.definitions.iter().map(move |it| (number, it)));
        let directive = |(number, definition): (usize, &'d Definition)| match definition {
            Definition::Directive(directive) => Some((number, directive)),
            Definition::Operation(_)
            | Definition::Fragment(_)
            | Definition::Schema(_)
            | Definition::Type(_) => None,
        };
        all.filter_map(directive).filter(|it| it.1.extend == are_extensions).collect()
    }

    fn directive_definitions(&mut self) {
        let definitions = self.written_directives(false);
        let mut extensions = self.written_directives(true);
        let name = |it: &(usize, &DirectiveDefinition)| self.documents[it.0].str(it.1.name).to_owned();
        let named: Vec<String> = definitions.iter().map(name).collect();
        let of_extensions: Vec<String> = extensions.iter().map(name).collect();
        let parts = named.iter().map(|named| {
            let own = extensions.iter().zip(&of_extensions).filter(|it| it.1 == named);
            own.map(|it| *it.0).collect::<Vec<_>>()
        });
        let parts: Vec<Vec<(usize, &DirectiveDefinition)>> = parts.collect();
        for ((number, directive), extensions) in definitions.iter().zip(&parts) {
            self.current = *number;
            self.directive_definition(directive, extensions);
        }
        self.applied_at.resize(self.b.schema.directives.len(), 0);
        // Apply them last: directives on directives and on their arguments may be defined later in the text.
        for ((number, directive), extensions) in definitions.iter().zip(&parts) {
            self.current = *number;
            self.check_directive_definition(directive, extensions);
        }
        extensions.retain(|it| !named.iter().any(|named| named == self.documents[it.0].str(it.1.name)));
        for (number, extension) in extensions {
            self.current = number;
            let name = self.str(extension.name);
            let message = format!("Cannot extend directive \"@{name}\" because it is not defined.");
            self.complain(extension.span, message);
        }
    }

    fn directive_definition(
        &mut self,
        directive: &DirectiveDefinition,
        extensions: &[(usize, &DirectiveDefinition)],
    ) {
        let mut places = 0;
        for name in self.document().list(directive.locations) {
            let location = self.str(name.0);
            match Place::ALL.iter().find(|place| place.name() == location) {
                Some(place) => places |= place.bit(),
                None => self.complain(name.0, format!("Unexpected directive location \"{location}\".")),
            }
        }
        self.set_place(directive.name);
        let description = self.description(directive.description);
        self.b.directive(self.str(directive.name), &description, directive.repeatable, places);
        self.keep_all(directive.directives);
        let own = self.current;
        for (number, extension) in extensions {
            self.current = *number;
            self.keep_all(extension.directives);
        }
        self.current = own;
        for input in self.document().list(directive.arguments) {
            self.input(input, false, None);
        }
    }

    fn types(&mut self, all: &AllTypes<'d>) {
        for (at, ends) in all.ends.iter().enumerate() {
            let Some((first, _)) = *ends else { continue };
            let id = TypeId(at as u32);
            let mut parts: smallvec::SmallVec<[(usize, &'d TypeDefinition); 4]> = smallvec::SmallVec::new();
            let mut next = Some(first);
            while let Some(place) = next {
                parts.push(all.definitions[place]);
                next = all.next[place];
            }
            if builtin::is_built_in(id) {
                self.extend_built_in(id, &parts);
            } else {
                self.define(&parts);
            }
        }
    }

    fn schema_definitions(&mut self) {
        let mut defined = false;
        for extend in [false, true] {
            for number in 0..self.documents.len() {
                self.current = number;
                for definition in &self.documents[number].definitions {
                    let Definition::Schema(schema) = definition else { continue };
                    if schema.extend != extend {
                        continue;
                    }
                    if !extend && std::mem::replace(&mut defined, true) {
                        self.complain(schema.span, "Must provide only one schema definition.".into());
                        continue;
                    }
                    self.schema_definition(schema);
                }
            }
        }
        self.apply_on_schema();
        if defined {
            return;
        }
        for (kind, name) in [
            (OperationKind::Query, "Query"),
            (OperationKind::Mutation, "Mutation"),
            (OperationKind::Subscription, "Subscription"),
        ] {
            if let Some(id) = self.b.schema.type_by_name(name)
                && self.b.roots[kind as usize].is_none()
            {
                self.b.places.at = self.b.places.types[id.index()];
                self.b.root(kind, id);
            }
        }
    }

    fn schema_definition(&mut self, schema: &SchemaDefinition) {
        if !schema.extend {
            self.set_place(schema.span);
            self.b.places.schema = self.b.places.at;
            let description = self.description(schema.description);
            self.b.description(&description);
        }
        for operation in self.document().list(schema.operations) {
            self.set_place(operation.span);
            if self.b.roots[operation.kind as usize].is_some() {
                let kind = ["query", "mutation", "subscription"][operation.kind as usize];
                self.b.complain(if schema.extend {
                    format!("Type for {kind} already defined in the schema. It cannot be redefined.")
                } else {
                    format!("There can be only one {kind} type in schema.")
                });
                continue;
            }
            self.set_place(operation.ty);
            let root = self.b.reference(self.str(operation.ty));
            self.b.root(operation.kind, root);
        }
    }
}

fn same_kind(one: &TypeBody, other: &TypeBody) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Name of the kind in messages.
fn kind_name(body: &TypeBody) -> &'static str {
    match body {
        TypeBody::Scalar => "scalar",
        TypeBody::Object { .. } => "object",
        TypeBody::Interface { .. } => "interface",
        TypeBody::Union { .. } => "union",
        TypeBody::Enum { .. } => "enum",
        TypeBody::Input { .. } => "input object",
    }
}
