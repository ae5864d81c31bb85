//! Reads a text of services: types with `@source` and `@connect`; text in, a [`Mapping`] out, or all that is wrong with it.
//!
//! The directives are known rather than defined. What clients may see is the same text with the directives blanked out, so
//! the language reads it and its complaints keep their places. Passes: links and names; the schema; services; what stands on
//! types and fields; what selections give; whether every field is brought by something.
//!
//! **Invariant:** a mapping that comes out can be planned: every name in a selection or template is checked, and every
//! field of every type is brought where it can be asked for.
//!
//! **Cost:** linear in the text, but for the fields of a type per place where a selection gives it.
//! Source: the public documentation of connect, v0.1 to v0.4; `docs/sources/services.md`.

mod abstract_types;
mod alternatives;
mod client_text;
mod directives;
mod expression_keys;
mod item_paths;
mod mapping;
mod nodes;
mod outside;
mod reach;
mod settings;
mod single;
mod strings;
#[cfg(test)]
mod tests;

pub use crate::selection::inputs::KeyField;
pub use mapping::*;
pub use outside::{Embedding, Outside, Replaced};

use directives::fields::Fields;
use directives::links::Links;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_engine::demand::read_cost_rules;
use weir_language::ast::{
    Definition, Directive, Document, FieldDefinition, InputDefinition, List, TypeBody, TypeDefinition,
    ValueId,
};
use weir_language::error::{Code, Error};
use weir_language::limits::Limits;
use weir_language::report;
use weir_language::schema::sdl::parse_sdl;
use weir_language::schema::{FieldId, Schema, TypeId, TypeKind};
use weir_language::span::{Location, Span};
use weir_language::suggest;

use crate::selection::{Grammar, Selection, SelectionError};

/// Parses `text` without settings; `file` is its name in messages.
///
/// # Errors
/// All mistakes, in file order, within the bounds of [`Limits::STANDARD`].
pub fn read(text: &str, file: &str) -> Result<Mapping, Vec<Mistake>> {
    let none = |_: &str| None;
    let config = BTreeMap::new();
    let services = BTreeMap::new();
    let outside =
        Outside { config: &config, env: &none, env_shown: &[], services: &services, embedding: None };
    read_with(text, file, &outside)
}

/// Like [`read`], with settings from outside the file.
///
/// # Errors
/// See [`read`].
pub fn read_with(text: &str, file: &str, outside: &Outside<'_>) -> Result<Mapping, Vec<Mistake>> {
    let mistakes = |errors: Vec<Error>| mistakes(text, file, errors);
    let document = parse_sdl(text).map_err(|error| mistakes(vec![error]))?;
    let mut errors = Vec::new();
    let mut notes = Vec::new();
    let links = Links::read(&document, &mut errors, &mut notes);
    let visible = client_text::visible(&document, &links);
    let schema = match visible.schema() {
        Ok(schema) => apply_embedding(schema, outside),
        Err(more) => {
            errors.extend(more);
            return Err(mistakes(errors));
        }
    };
    let mut reader = Reader::new(&document, &links, outside, schema, errors);
    reader.notes = notes;
    reader.facts(&visible);
    reader.cost_rules(file);
    if !reader.errors.is_empty() {
        return Err(mistakes(reader.errors));
    }
    reader.mapping.notes = mistakes(reader.notes);
    Ok(reader.mapping)
}

/// Applies the scalars and the wording of the surrounding types to `schema`.
fn apply_embedding(mut schema: Schema, outside: &Outside<'_>) -> Schema {
    if let Some(embedding) = outside.embedding {
        schema.wording = embedding.wording;
        for &(name, reader) in embedding.scalars {
            if let Some(id) = schema.type_by_name(name) {
                schema.types[id.0 as usize].kind = TypeKind::Scalar(reader);
            }
        }
    }
    schema
}

fn mistakes(text: &str, file: &str, mut errors: Vec<Error>) -> Vec<Mistake> {
    errors.sort_by_key(|error| error.spans.first().map_or(0, |span| span.start));
    errors.dedup();
    errors.truncate(Limits::STANDARD.errors_max as usize);
    let file: Arc<str> = file.into();
    let places = report::locations(text, &errors);
    let mistake = |(error, places): (Error, Vec<Location>)| Mistake {
        file: Arc::clone(&file),
        location: places.first().copied().unwrap_or(Location { line: 1, column: 1 }),
        message: error.message,
    };
    errors.into_iter().zip(places).map(mistake).collect()
}

/// State of the passes.
struct Reader<'d> {
    document: &'d Document<'d>,
    links: &'d Links<'d>,
    outside: &'d Outside<'d>,
    /// Strings of the configuration; their literals are numbered after those of the document.
    puts: Vec<outside::Put>,
    mapping: Mapping,
    /// Per service: headers and parameters of `@source`, which start every call.
    defaults: Vec<directives::services::Defaults>,
    /// Per connector: the literal of its selection.
    selections: Vec<Option<ValueId>>,
    /// `@cacheTag` directives, resolved to connectors after all were read.
    tags: Vec<directives::tags::AppliedTag<'d>>,
    /// `@external` fields, which no connector here has to return.
    external: Vec<FieldId>,
    /// `id`s of `@connect` directives.
    labels: Vec<String>,
    errors: Vec<Error>,
    notes: Vec<Error>,
}

impl<'d> Reader<'d> {
    fn new(
        document: &'d Document<'d>,
        links: &'d Links<'d>,
        outside: &'d Outside<'d>,
        schema: Schema,
        errors: Vec<Error>,
    ) -> Self {
        let mapping = Mapping {
            schema: Arc::new(schema),
            services: Vec::new(),
            connectors: Vec::new(),
            places: Places::default(),
            nodes: Vec::new(),
            foreign: Vec::new(),
            entity_fields: Vec::new(),
            entity_nodes: Vec::new(),
            stub: None,
            joins: Vec::new(),
            hints: Vec::new(),
            cost_rules: Vec::new(),
            graphql: Vec::new(),
            grpc: Vec::new(),
            type_tags: Vec::new(),
            type_tags_at: Vec::new(),
            config: Vec::new(),
            env: Vec::new(),
            conditions: Vec::new(),
            guards: Vec::new(),
            server_conditions: Vec::new(),
            server_guards: Vec::new(),
            notes: Vec::new(),
        };
        Self {
            document,
            links,
            outside,
            puts: Vec::new(),
            mapping,
            defaults: Vec::new(),
            selections: Vec::new(),
            tags: Vec::new(),
            external: Vec::new(),
            labels: Vec::new(),
            errors,
            notes: Vec::new(),
        }
    }

    fn facts(&mut self, visible: &client_text::Visible) {
        let schema = Arc::clone(&self.mapping.schema);
        let foreign = visible.foreign.iter().filter_map(|name| schema.type_by_name(name));
        self.mapping.foreign =
            foreign.filter(|&id| id != schema.query && Some(id) != schema.mutation).collect();
        self.mapping.stub = visible.stub.and_then(|name| schema.field_by_name(schema.query, name));
        self.services();
        for definition in &self.document.definitions {
            if let Definition::Type(ty) = definition {
                self.of_type(ty);
            }
        }
        self.tags();
        self.nodes();
        if self.errors.is_empty() {
            self.reach();
            self.entity_nodes();
        }
        for names in [&mut self.mapping.config, &mut self.mapping.env] {
            // A use that requires the setting sorts first, so its location is the one that is kept.
            names.sort();
            names.dedup_by(|later, first| later.name == first.name);
        }
    }

    /// Reads `@cost` and `@listSize`, also those on inputs.
    fn cost_rules(&mut self, file: &str) {
        use directives::links::Known;
        let directive_of = |it: &Directive| match self.resolve_directive(it) {
            Some(Known::Cost(directive)) => Some(directive),
            Some(_) | None => None,
        };
        match read_cost_rules(self.document, file, &directive_of) {
            Ok(rules) => self.mapping.cost_rules = rules,
            Err(errors) => self.errors.extend(errors),
        }
    }

    /// Reads the directives of a type and its fields.
    fn of_type(&mut self, ty: &'d TypeDefinition) {
        let name = self.str(ty.name);
        let directives = self.document.list(ty.directives);
        for directive in directives {
            self.on_type(directive, ty, name, directives);
        }
        let fields = match ty.body {
            TypeBody::Object { fields, .. } | TypeBody::Interface { fields, .. } => fields,
            TypeBody::Input { fields } => return self.reject_input_guards(fields),
            TypeBody::Enum { values } => {
                let values = self.document.list(values).iter();
                return values.for_each(|it| self.misplaced_guards(it.directives));
            }
            TypeBody::Scalar | TypeBody::Union { .. } => return,
        };
        let id = self.mapping.schema.type_by_name(name);
        for field in self.document.list(fields) {
            self.on_field(id, ty, field);
        }
    }

    /// Reports guards on arguments and input fields.
    fn reject_input_guards(&mut self, inputs: List<InputDefinition>) {
        self.document.list(inputs).iter().for_each(|it| self.misplaced_guards(it.directives));
    }

    fn misplaced_guards(&mut self, directives: List<Directive>) {
        for directive in self.document.list(directives) {
            if let Some(it @ directives::links::Known::Guard(_)) = self.resolve_directive(directive) {
                self.report_misplaced(directive, it);
            }
        }
    }

    fn on_type(
        &mut self,
        directive: &'d Directive,
        ty: &'d TypeDefinition,
        name: &'d str,
        beside: &'d [Directive],
    ) {
        use directives::links::Known;
        match self.resolve_directive(directive) {
            Some(Known::Connect) => {
                if let Some(id) = self.mapping.schema.type_by_name(name) {
                    self.connect_type(directive, id, beside);
                }
            }
            Some(Known::Cache) if self.has_connector(beside) => {}
            Some(Known::CacheControl) => self.hint(directive, name, None),
            Some(Known::CacheTag) => self.tag(directive, name, None),
            Some(Known::Guard(kind)) => self.guard_type(kind, directive, ty),
            Some(Known::Federation(_) | Known::Cost(_)) | None => {}
            Some(it) => self.report_misplaced(directive, it),
        }
    }

    fn on_field(&mut self, id: Option<TypeId>, owner_type: &'d TypeDefinition, field: &'d FieldDefinition) {
        use directives::links::Known;
        let ty = self.str(owner_type.name);
        let name = self.str(field.name);
        self.reject_input_guards(field.arguments);
        let directives = self.document.list(field.directives);
        if self.links.guards_server(self.document, owner_type, field) {
            return self.guard_server_field(directives, ty, name);
        }
        let mut brought = false;
        for directive in directives {
            match self.resolve_directive(directive) {
                Some(Known::Connect) => {
                    brought = true;
                    if let Some(id) = id {
                        self.connect_field(directive, id, field);
                    }
                }
                Some(Known::Join) => {
                    brought = true;
                    self.join(directive, ty, field);
                }
                Some(Known::CacheControl) => self.hint(directive, ty, Some(name)),
                Some(Known::CacheTag) => self.tag(directive, ty, Some(name)),
                Some(Known::Guard(kind)) => self.guard_field(kind, directive, id, name),
                Some(Known::Policy | Known::Cost(_)) => {}
                Some(Known::Cache) if self.has_connector(directives) => {}
                Some(Known::Federation(it)) => self.external.extend(
                    id.filter(|_| it.is_external())
                        .and_then(|id| self.mapping.schema.field_by_name(id, name)),
                ),
                None => {}
                Some(it) => self.report_misplaced(directive, it),
            }
        }
        let foreign = id.is_some_and(|id| self.mapping.foreign.contains(&id));
        let root = id.is_some_and(|id| self.is_root(id));
        if !brought && (foreign || root) {
            let owner = if root { "a root field" } else { "a field added to a type of another source" };
            let message = format!("`{ty}.{name}` is {owner} and nothing answers it: give it a `@connect`");
            self.complain(field.name, message);
        }
    }

    fn has_connector(&self, directives: &[Directive]) -> bool {
        directives.iter().any(|it| self.resolve_directive(it) == Some(directives::links::Known::Connect))
    }

    fn is_root(&self, id: TypeId) -> bool {
        let schema = &self.mapping.schema;
        id == schema.query || Some(id) == schema.mutation || Some(id) == schema.subscription
    }

    fn resolve_directive(&self, directive: &Directive) -> Option<directives::links::Known> {
        self.links.resolve_directive(self.str(directive.name))
    }

    fn report_misplaced(&mut self, directive: &Directive, known: directives::links::Known) {
        let message = format!("`@{}` cannot stand here: it stands on {}", known.name(), known.places());
        self.complain(directive.span, message);
    }

    fn str(&self, span: Span) -> &'d str {
        self.document.str(span)
    }

    fn complain(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Error::new(Code::Schema, span, message));
    }

    fn note(&mut self, span: Span, message: impl Into<String>) {
        self.notes.push(Error::new(Code::Schema, span, message));
    }

    /// Reports an error at a place within a string.
    fn complain_within(&mut self, literal: ValueId, error: SelectionError) {
        let span = self.map_to_file(literal, error.span);
        let message = self.name_configuration_key(literal, error.message);
        self.complain(span, message);
    }

    /// Reports an error of a string as a whole.
    fn complain_of(&mut self, literal: ValueId, message: impl Into<String>) {
        let message = self.name_configuration_key(literal, message.into());
        self.complain(self.span_of(literal), message);
    }

    /// Maps a span of a decoded string to the file.
    fn map_to_file(&self, literal: ValueId, span: Span) -> Span {
        if self.put_text(literal).is_some() {
            return self.span_of(literal);
        }
        let written = self.document.value(literal).span;
        let raw = self.str(written);
        let place = |offset: u32| written.start + strings::place(raw, offset as usize) as u32;
        let start = place(span.start);
        let end = place(span.end);
        Span::new(start, end.max(start))
    }

    fn location(&self, span: Span) -> Location {
        Location::of(self.document.text, span.start)
    }

    /// Arguments of a directive.
    fn fields(&mut self, directive: &'d Directive) -> Fields<'d> {
        let of = format!("@{}", self.str(directive.name));
        let list = self.document.list(directive.arguments);
        Fields::new(of, directive.span, list.iter().map(|it| (it.name, it.value)).collect())
    }

    /// Parses the selection in a string.
    fn selection(&mut self, literal: ValueId) -> Option<Selection> {
        let text = self.string(literal)?;
        match Selection::parse_by(&text, Grammar::of(self.links.version)) {
            Ok(selection) => Some(selection),
            Err(error) => {
                self.complain_within(literal, error);
                None
            }
        }
    }
}

/// `; did you mean `String`?` if one of `names` is similar to `name`, else empty.
fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let nearest = suggest::find_near(name, names).into_iter().next();
    nearest.map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}
