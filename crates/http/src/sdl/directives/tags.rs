//! `@cacheTag`: names by which answers and changes invalidate cached answers.
//!
//! On a field it is of the answers to the field's own call; on a type, of all calls that answer with the type. A name with
//! values is made for each call: of arguments on a field, of keys on a type, where calls are made by keys.
//!
//! **Invariant:** what a name is made of is part of what the call is kept under, so no two calls share what has another name.

use crate::sdl::expression_keys::{Seen, Where};
use crate::sdl::{Connector, Place, Reader, Tag};
use crate::template::NameTemplate;
use weir_language::ast::{Directive, ValueId};
use weir_language::schema::FieldId;

/// A `@cacheTag` directive as written.
pub(crate) struct AppliedTag<'d> {
    directive: &'d Directive,
    ty: &'d str,
    field: Option<&'d str>,
    format: String,
    literal: ValueId,
}

impl<'d> Reader<'d> {
    pub(crate) fn tag(&mut self, directive: &'d Directive, ty: &'d str, field: Option<&'d str>) {
        let mut fields = self.fields(directive);
        let literal = self.need(&mut fields, "format");
        let format = literal.and_then(|it| self.string(it));
        self.finish(fields);
        if let (Some(format), Some(literal)) = (format, literal) {
            self.tags.push(AppliedTag { directive, ty, field, format, literal });
        }
    }

    /// Resolves tags to their connectors.
    pub(crate) fn tags(&mut self) {
        for written in std::mem::take(&mut self.tags) {
            self.add_tag(&written);
        }
    }

    fn add_tag(&mut self, written: &AppliedTag<'d>) {
        // `$key` is Federation's name for the keys of a type.
        let format = written.format.replace("{$key.", "{$this.");
        let name = match NameTemplate::read(&format) {
            Ok(name) => name,
            Err(error) => return self.complain_within(written.literal, error),
        };
        if name.as_fixed() == Some("") {
            return self.complain(written.directive.span, "a tag has a name");
        }
        let has_values = name.as_fixed().is_none();
        let is_of = |it: &Connector| self.is_of(it, written, has_values);
        let places: Vec<usize> =
            (0..self.mapping.connectors.len()).filter(|&at| is_of(&self.mapping.connectors[at])).collect();
        if places.is_empty() && self.add_tag_to_servers(written, &name) {
            return;
        }
        if places.is_empty() {
            let message = match (written.field, has_values) {
                (Some(_), _) => "`@cacheTag` on a field stands beside its `@connect`".to_owned(),
                (None, true) => format!(
                    "a tag with values stands on a type that is asked for by its keys, and `{}` has no \
                     `@connect`: write it on the fields that give it",
                    written.ty
                ),
                (None, false) => {
                    format!("no call answers with `{}`: write the tag on a field that has one", written.ty)
                }
            };
            return self.complain(written.directive.span, message);
        }
        for at in places {
            self.add_tag_to_connector(at, written, &name);
        }
    }

    /// Adds a tag to the file's GraphQL and gRPC servers, if it is on a type of another source.
    fn add_tag_to_servers(&mut self, written: &AppliedTag<'_>, name: &NameTemplate) -> bool {
        let location = self.location(written.directive.span);
        let mapping = &mut self.mapping;
        let Some(tag) = name.as_fixed().filter(|_| written.field.is_none()) else { return false };
        let id = mapping.schema.type_by_name(written.ty);
        let is_foreign = id.is_none_or(|it| mapping.foreign.contains(&it));
        let has_servers = !(mapping.graphql.is_empty() && mapping.grpc.is_empty());
        if is_foreign && has_servers {
            mapping.type_tags.push((written.ty.into(), tag.into()));
            mapping.type_tags_at.push(location);
        }
        is_foreign && has_servers
    }

    fn is_of(&self, connector: &Connector, written: &AppliedTag<'_>, has_values: bool) -> bool {
        let schema = &self.mapping.schema;
        let parent = |field: FieldId| schema.type_name(schema.field(field).parent);
        match (connector.place, written.field) {
            (Place::Root(field) | Place::Field(field) | Place::Extension(field), Some(name)) => {
                schema.field_name(field) == name && parent(field) == written.ty
            }
            (Place::Root(field) | Place::Field(field) | Place::Extension(field), None) => {
                !has_values && schema.type_name(schema.field(field).ty.base) == written.ty
            }
            (Place::Entity(ty), None) => schema.type_name(ty) == written.ty,
            (Place::Entity(_), Some(_)) => false,
        }
    }

    /// Checks the variables of a tag's name where the connector stands.
    fn add_tag_to_connector(&mut self, at: usize, written: &AppliedTag<'_>, name: &NameTemplate) {
        let schema = &self.mapping.schema;
        let scope = match self.mapping.connectors[at].place {
            Place::Entity(ty) => Where { this: Some(ty), ..Where::SOURCE },
            Place::Root(field) => Where { args: Some(field), ..Where::SOURCE },
            Place::Field(field) | Place::Extension(field) => {
                Where { args: Some(field), this: Some(schema.field(field).parent), ..Where::SOURCE }
            }
        };
        let mut seen = Seen::default();
        for slot in name.slots() {
            self.check(&slot.expr, written.literal, slot.at, &scope, &mut seen);
        }
        let connector = &mut self.mapping.connectors[at];
        let is_key = |name: &str| connector.keys.iter().any(|it| &*it.name == name);
        if let Some(lost) = seen.keys.iter().find(|it| !is_key(&it.name)) {
            let message = format!("the call is not made by `{}`, so no tag can be made of it", lost.name);
            return self.complain(written.directive.span, message);
        }
        let reads =
            [(&mut connector.reads_headers, seen.headers), (&mut connector.reads_claims, seen.claims)];
        for (all, more) in reads {
            for name in more {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
        }
        connector.tags.push(Tag { name: name.clone(), on_field: written.field.is_some() });
    }
}
