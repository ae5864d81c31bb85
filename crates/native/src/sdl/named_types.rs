//! The first pass: collects the types, and refuses definitions that a text may not have.

use super::{Draft, SdlReader, authorization};
use crate::model::{Auth, Enum, EnumId, EnumValue, Generate, Scalar, Type, TypeId, TypeKind};
use weir_language::ast::{
    Definition, Description, EnumValueDefinition, List, NameNode, TypeBody, TypeDefinition, ValueKind,
};
use weir_language::span::{Location, Span};

/// Meanings of a name in the text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Type(TypeId),
    Enum(EnumId),
    /// An input of one's own: its place in `SdlReader::not_stored`.
    Input(usize),
    /// A type with `@remote`, likewise.
    Remote(usize),
}

pub(super) const SCALARS: [(&str, Scalar); 9] = [
    ("String", Scalar::String),
    ("Int", Scalar::Int),
    ("Int64", Scalar::Int64),
    ("Float", Scalar::Float),
    ("Boolean", Scalar::Boolean),
    ("DateTime", Scalar::DateTime),
    ("Point", Scalar::Point),
    ("Polygon", Scalar::Polygon),
    ("MultiPolygon", Scalar::MultiPolygon),
];

/// The scalar called `name`.
pub(super) fn scalar(name: &str) -> Option<Scalar> {
    SCALARS.iter().find(|(known, _)| *known == name).map(|&(_, scalar)| scalar)
}

/// Names that the API has whatever the types are.
const TAKEN: [&str; 38] = [
    "Query",
    "Mutation",
    "Subscription",
    "ID",
    "PointList",
    "PointRef",
    "PointListRef",
    "PolygonRef",
    "MultiPolygonRef",
    "NearFilter",
    "WithinFilter",
    "ContainsFilter",
    "IntersectsFilter",
    "PointGeoFilter",
    "PolygonGeoFilter",
    "IntRange",
    "Int64Range",
    "FloatRange",
    "DateTimeRange",
    "StringRange",
    "IntFilter",
    "Int64Filter",
    "FloatFilter",
    "DateTimeFilter",
    "StringTermFilter",
    "StringRegExpFilter",
    "StringNgramFilter",
    "StringFullTextFilter",
    "StringExactFilter",
    "StringHashFilter",
    "String",
    "Int",
    "Int64",
    "Float",
    "Boolean",
    "DateTime",
    "Point",
    "Polygon",
];

/// Comments to which Dgraph gives a meaning.
const SPEAKING_COMMENT: &str = "Dgraph.";

impl<'d> SdlReader<'d> {
    pub(super) fn names(&mut self) {
        self.comments();
        for definition in &self.document.definitions {
            match definition {
                Definition::Operation(operation) => {
                    self.complain(
                        operation.span,
                        "a query cannot stand among types: keep it in a file of its own",
                    );
                }
                Definition::Fragment(fragment) => {
                    self.complain(
                        fragment.span,
                        "a fragment cannot stand among types: keep it in a file of its own",
                    );
                }
                Definition::Schema(schema) => {
                    self.complain(
                        schema.span,
                        "Weir makes the roots of the schema: remove this `schema` definition",
                    );
                }
                Definition::Directive(directive) => {
                    let name = self.str(directive.name);
                    self.defined.insert(name);
                    let message = format!(
                        "this definition of `@{name}` is ignored: directives that have a meaning are known already"
                    );
                    self.warn(directive.name, message);
                }
                Definition::Type(definition) => self.name(definition),
            }
        }
        if self.types.is_empty() && self.errors.is_empty() {
            self.complain(Span::default(), "no type is defined: nothing could be stored");
        }
    }

    fn name(&mut self, definition: &'d TypeDefinition) {
        let name = self.str(definition.name);
        let span = definition.name;
        if ["Query", "Mutation"].contains(&name) {
            return self.root(definition);
        }
        if definition.extend {
            return self.complain(
                span,
                format!("`extend` is not served: write all of `{name}` where it is defined"),
            );
        }
        match definition.body {
            TypeBody::Scalar => {
                return self.warn(
                    span,
                    format!("this definition of `{name}` is ignored: scalars are known already"),
                );
            }
            TypeBody::Input { .. } => return self.add_not_stored(definition, Named::Input),
            _ => {}
        }
        if let Some(message) = refused_name(name) {
            return self.complain(span, message);
        }
        if self.is_remote(definition) {
            return self.add_not_stored(definition, Named::Remote);
        }
        let kind = match definition.body {
            TypeBody::Object { .. } => TypeKind::Object,
            TypeBody::Interface { .. } => TypeKind::Interface,
            TypeBody::Union { .. } => TypeKind::Union,
            TypeBody::Enum { values } => return self.enumeration(definition, values),
            // These are handled above.
            TypeBody::Scalar | TypeBody::Input { .. } => return,
        };
        let id = TypeId(self.types.len() as u32);
        if !self.take(name, span, Named::Type(id)) {
            return;
        }
        let ty = Type {
            name: name.to_owned(),
            description: self.description(definition.description),
            kind,
            fields: 0..0,
            interfaces: Vec::new(),
            members: Vec::new(),
            secret: None,
            unique: Vec::new(),
            auth: Auth::default(),
            generate: Generate::USUAL,
            renamed_from: None,
            place: Location { line: 1, column: 1 },
        };
        self.types.push(Draft { ty, span, definition, interfaces: Vec::new(), own: Vec::new() });
    }

    /// Puts a type aside that is not stored.
    fn add_not_stored(&mut self, definition: &'d TypeDefinition, named: fn(usize) -> Named) {
        let named = named(self.not_stored.len());
        if self.take(self.str(definition.name), definition.name, named) {
            if matches!(named, Named::Remote(_)) {
                self.remote(definition);
            }
            self.not_stored.push(definition);
        }
    }

    fn enumeration(&mut self, definition: &'d TypeDefinition, values: List<EnumValueDefinition>) {
        let name = self.str(definition.name);
        let span = definition.name;
        if !self.take(name, span, Named::Enum(EnumId(self.enums.len() as u32))) {
            return;
        }
        self.none_allowed(definition.directives, "an enum");
        let mut made: Vec<EnumValue> = Vec::new();
        for value in self.document.list(values) {
            let name = self.str(value.name);
            if made.iter().any(|it| it.name == name) {
                self.complain(value.name, format!("the value `{name}` is there already"));
            }
            let deprecated = self.only_deprecated(value.directives);
            let description = self.description(value.description);
            made.push(EnumValue { name: name.to_owned(), description, deprecated });
        }
        let description = self.description(definition.description);
        let place = Location { line: 1, column: 1 };
        self.enums.push(Enum { name: name.to_owned(), description, values: made, place });
        self.enum_spans.push(span);
    }

    /// Registers `name` for the definition at `span`, if it is free.
    fn take(&mut self, name: &'d str, span: Span, named: Named) -> bool {
        if let Some(&(_, first)) = self.names.get(name) {
            self.complain_of(vec![span, first], format!("`{name}` is defined twice"));
            return false;
        }
        self.names.insert(name, (named, span));
        true
    }

    /// Resolves the names in `list` to types of kind `fits`, each once. `what` is the kind's name in errors.
    pub(super) fn resolve_names(&mut self, list: List<NameNode>, fits: TypeKind, what: &str) -> Vec<TypeId> {
        let mut found: Vec<TypeId> = Vec::new();
        for NameNode(span) in self.document.list(list).iter().copied() {
            let name = self.str(span);
            match self.names.get(name) {
                Some(&(Named::Type(id), _)) if self.draft(id).ty.kind == fits => {
                    if found.contains(&id) {
                        self.complain(span, format!("`{name}` is named twice"));
                    } else {
                        found.push(id);
                    }
                }
                Some(_) => self.complain(span, format!("`{name}` is no {what}")),
                None => {
                    let fitting = self.types.iter().filter(|draft| draft.ty.kind == fits);
                    let hint = super::hint(name, fitting.map(|draft| draft.ty.name.as_str()));
                    self.complain(span, format!("there is no {what} `{name}`{hint}"));
                }
            }
        }
        found
    }

    pub(super) fn description(&self, description: Description) -> String {
        description.map_or_else(String::new, |id| self.document.string(id).into_owned())
    }

    /// Complains of comments that would mean something to Dgraph: to us they are comments, so they would do nothing.
    fn comments(&mut self) {
        let text = self.document.text;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let words = line.trim_start();
            let at = start + (line.len() - words.len()) as u32;
            start += line.len() as u32;
            let Some(words) = words.strip_prefix('#') else { continue };
            let Some(rest) = words.trim_start().strip_prefix(SPEAKING_COMMENT) else { continue };
            if self.is_in_text(at) {
                continue;
            }
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            let instead = match name.as_str() {
                "Authorization" => {
                    self.authorize(line, &rest[name.len()..], at);
                    continue;
                }
                "Secret" => {
                    let span = Span::new(at, at + line.trim().len() as u32);
                    self.secret_line(&rest[name.len()..], span);
                    continue;
                }
                "Allow-Origin" => "allow origins in the server's configuration",
                _ => "it has no meaning here",
            };
            let span = Span::new(at, at + 1);
            self.complain(
                span,
                format!("`# {SPEAKING_COMMENT}{name}` is not served: {instead}; remove the comment"),
            );
        }
    }

    /// `# Dgraph.Authorization …`, which begins at `at`.
    fn authorize(&mut self, line: &str, settings: &str, at: u32) {
        let span = Span::new(at, at + line.trim().len() as u32);
        if self.authorization.is_some() {
            let line = line.trim();
            let words = format!(
                "Dgraph.Authorization should be only be specified once in a schema, found second mention: {line}"
            );
            return self.complain(span, words);
        }
        match authorization::settings(settings.trim()) {
            Ok(settings) => self.authorization = Some(settings),
            Err(words) => self.complain(span, words),
        }
    }

    /// True if byte `at` is inside a string, where `#` begins no comment.
    fn is_in_text(&self, at: u32) -> bool {
        self.document.values.iter().any(|value| {
            matches!(value.kind, ValueKind::String { .. } | ValueKind::Block)
                && (value.span.start..value.span.end).contains(&at)
        })
    }
}

/// Why no type may have this name, if so.
fn refused_name(name: &str) -> Option<String> {
    if name.starts_with("__") {
        return Some(format!(
            "`{name}` begins with `__`, which belongs to introspection: choose another name"
        ));
    }
    if name == "Subscription" {
        return Some("Weir makes `Subscription`, and has no fields of one's own in it: remove it".to_owned());
    }
    let is_filter = name.starts_with("String") && name.ends_with("Filter");
    if TAKEN.contains(&name) || is_filter || name == "MultiPolygon" {
        return Some(format!("the API has a type `{name}` of its own: choose another name"));
    }
    None
}
