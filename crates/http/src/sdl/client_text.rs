//! Produces the text of the client schema: Weir's directives are replaced by spaces, so that positions stay.
//!
//! `extend type` of a type that the text does not have becomes its definition; fields with `@join` go, as another source
//! answers them, and so do those that only guard a field of a server; a text without queries gets a field that no one may see.

use super::directives::links::{Known, Links};
use weir_language::ast::{
    Definition, Directive, Document, FieldDefinition, InputDefinition, List, TypeBody, TypeDefinition,
};
use weir_language::error::Error;
use weir_language::schema::Schema;
use weir_language::span::Span;

/// Name of the query field added if there is none.
const STUB: &str = "_services";

/// Directives that clients may use in queries.
const FOR_QUERIES: &str = "
\"Keeps the answer for so many seconds, unless a mutation made here changes what it shows.\"
directive @cached(ttl: Int! = 60, \"Asks anew and keeps what comes.\" refresh: Boolean! = false) on QUERY
\"Keeps the answer for so many seconds, unless a mutation made here changes what it shows.\"
directive @cacheControl(maxAge: Int!) on QUERY
";

/// Client-visible part of a file.
pub(super) struct Visible {
    text: String,
    /// Names of types that are only extended.
    pub(super) foreign: Vec<String>,
    /// Name of the placeholder query field, if one was added.
    pub(super) stub: Option<&'static str>,
}

impl Visible {
    /// Parses the schema. Locations of errors are valid in the original file.
    pub(super) fn schema(&self) -> Result<Schema, Vec<Error>> {
        Schema::from_sdl(&self.text)
    }
}

/// Blanks out the parts of `document` that are for Weir.
pub(super) fn visible(document: &Document<'_>, links: &Links<'_>) -> Visible {
    let mut blanks = Blanks { document, links, spans: Vec::new(), own: Vec::new() };
    let mut foreign: Vec<String> = Vec::new();
    let mut has_query = false;
    for definition in &document.definitions {
        match definition {
            Definition::Schema(schema) => {
                blanks.directives(schema.directives);
                let all = document.list(schema.directives).iter().all(|it| blanks.is_ours(it));
                if schema.operations.is_empty() && all {
                    blanks.spans.push(schema.span);
                }
                has_query |= !schema.operations.is_empty();
            }
            Definition::Directive(it) if links.resolve_directive(document.str(it.name)).is_some() => {
                blanks.spans.push(it.span)
            }
            Definition::Type(ty) => {
                let is_left = blanks.ty(ty, &mut foreign);
                has_query |= is_left && document.str(ty.name) == "Query";
            }
            Definition::Directive(_) | Definition::Operation(_) | Definition::Fragment(_) => {}
        }
    }
    let mut bytes = document.text.as_bytes().to_vec();
    for span in blanks.spans {
        for byte in &mut bytes[span.start as usize..span.end as usize] {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    // Spans of blanks are whole characters, so the bytes are valid UTF-8.
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    text.push_str(FOR_QUERIES);
    let stub = (!has_query).then_some(STUB);
    if let Some(stub) = stub {
        text.push_str(&format!("\ntype Query {{ {stub}: Boolean }}\n"));
    }
    Visible { text, foreign, stub }
}

struct Blanks<'d> {
    document: &'d Document<'d>,
    links: &'d Links<'d>,
    spans: Vec<Span>,
    /// Names of types that are extended here but belong to this file.
    own: Vec<String>,
}

impl Blanks<'_> {
    fn is_ours(&self, directive: &Directive) -> bool {
        self.links.resolve_directive(self.document.str(directive.name)).is_some()
    }

    fn directives(&mut self, list: List<Directive>) {
        for directive in self.document.list(list) {
            if self.is_ours(directive) {
                self.spans.push(directive.span);
            }
        }
    }

    fn inputs(&mut self, list: List<InputDefinition>) {
        self.document.list(list).iter().for_each(|it| self.directives(it.directives));
    }

    /// Blanks out a type's directives; true if a part of the type remains visible.
    fn ty(&mut self, ty: &TypeDefinition, foreign: &mut Vec<String>) -> bool {
        self.directives(ty.directives);
        let fields = match ty.body {
            TypeBody::Object { fields, .. } | TypeBody::Interface { fields, .. } => fields,
            TypeBody::Input { fields } => {
                self.inputs(fields);
                return true;
            }
            TypeBody::Enum { values } => {
                self.document.list(values).iter().for_each(|it| self.directives(it.directives));
                return true;
            }
            TypeBody::Scalar | TypeBody::Union { .. } => return true,
        };
        self.object(ty, fields, foreign)
    }

    fn is_joined(&self, field: &FieldDefinition) -> bool {
        let is_join =
            |it: &Directive| self.links.resolve_directive(self.document.str(it.name)) == Some(Known::Join);
        self.document.list(field.directives).iter().any(is_join)
    }

    /// Like [`Self::ty`], for an object or interface.
    fn object(
        &mut self,
        ty: &TypeDefinition,
        fields: List<FieldDefinition>,
        foreign: &mut Vec<String>,
    ) -> bool {
        let name = self.document.str(ty.name);
        let fields = self.document.list(fields);
        // An extension that only annotates a type of another source adds no field.
        let is_about = |it: &Directive| {
            let known = self.links.resolve_directive(self.document.str(it.name));
            matches!(known, Some(Known::CacheControl | Known::CacheTag | Known::Cost(_) | Known::Guard(_)))
        };
        let says_only = fields.is_empty() && self.document.list(ty.directives).iter().all(is_about);
        let is_gone =
            |it: &&FieldDefinition| self.is_joined(it) || self.links.guards_server(self.document, ty, it);
        let gone: Vec<Span> = fields.iter().filter(is_gone).map(|it| it.span).collect();
        if ty.extend && (says_only || !fields.is_empty() && gone.len() == fields.len()) {
            self.spans.push(ty.span);
            return false;
        }
        self.spans.extend(gone);
        for field in fields {
            self.directives(field.directives);
            self.inputs(field.arguments);
        }
        let object = matches!(ty.body, TypeBody::Object { .. });
        let is_definition = |it: &Definition| matches!(it, Definition::Type(other) if !other.extend && self.document.str(other.name) == name);
        let known = foreign.iter().chain(&self.own).any(|it| it == name);
        if ty.extend && object && !known && !self.document.definitions.iter().any(is_definition) {
            let start = self.document.text[ty.span.start as usize..].find("extend").unwrap_or(0) as u32;
            let start = ty.span.start + start;
            self.spans.push(Span::new(start, start + "extend".len() as u32));
            if self.is_entity(ty, fields) {
                self.own.push(name.to_owned())
            } else {
                foreign.push(name.to_owned())
            }
        }
        true
    }

    /// True for a Federation entity of another graph: its part here is a type of its own.
    fn is_entity(&self, ty: &TypeDefinition, fields: &[FieldDefinition]) -> bool {
        let has = |list: List<Directive>, name: &str| {
            self.document.list(list).iter().any(|it| {
                match self.links.resolve_directive(self.document.str(it.name)) {
                    Some(Known::Federation(it)) => it.name == name,
                    _ => false,
                }
            })
        };
        has(ty.directives, "key") || fields.iter().any(|it| has(it.directives, "external"))
    }
}
