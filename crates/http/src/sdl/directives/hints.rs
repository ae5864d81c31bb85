//! `@join` and `@cacheControl`, which other modules apply; their names are checked here.

use crate::sdl::expression_keys::added_key_message;
use crate::sdl::{Hint, Join, Reader, hint};
use weir_language::ast::{Directive, FieldDefinition};
use weir_language::schema::FieldId;

impl<'d> Reader<'d> {
    pub(crate) fn join(&mut self, directive: &'d Directive, on: &'d str, field: &'d FieldDefinition) {
        let mut fields = self.fields(directive);
        let target = self.need(&mut fields, "field").and_then(|it| self.string(it));
        let literal = self.need(&mut fields, "arguments");
        let arguments = literal.and_then(|it| self.string(it));
        self.finish(fields);
        let (Some(target), Some(arguments), Some(literal)) = (target, arguments, literal) else { return };
        let text = arguments.trim();
        let text = if text.starts_with('(') { text.to_owned() } else { format!("({text})") };
        let description = field.description.map(|it| self.document.string(it).into_owned());
        let join = Join {
            on: on.into(),
            name: self.str(field.name).into(),
            description: description.unwrap_or_default().into(),
            ty: self.str(field.ty.span).into(),
            target: target.into(),
            arguments: text.into(),
            location: self.location(directive.span),
        };
        let span = self.document.value(literal).span;
        if let Some(lost) = self.invalid_key_message(&join) {
            return self.complain(span, lost);
        }
        if join.keys().next().is_none() {
            return self
                .complain(span, "a join depends on its parent: write a field of it, as in `id: $this.id`");
        }
        if !self.document.list(field.arguments).is_empty() {
            let message = "a joined field has the arguments of the field that answers it: write none here";
            return self.complain(field.name, message);
        }
        self.mapping.joins.push(join);
    }

    /// Message about the first invalid key of `join`.
    fn invalid_key_message(&self, join: &Join) -> Option<String> {
        let schema = &self.mapping.schema;
        let ty = schema.type_by_name(&join.on)?;
        let is_foreign = self.mapping.foreign.contains(&ty);
        join.keys().find_map(|key| match (schema.field_by_name(ty, key), is_foreign) {
            (Some(_), false) | (None, true) => None,
            (Some(_), true) => Some(added_key_message(&join.on, key)),
            (None, false) => {
                let run = schema.ty(ty).fields;
                let names = (run.start..run.start + run.len).map(|at| schema.field_name(FieldId(at)));
                Some(format!("`{}` has no field `{key}`{}", join.on, hint(key, names)))
            }
        })
    }

    pub(crate) fn hint(&mut self, directive: &'d Directive, ty: &'d str, field: Option<&'d str>) {
        let mut fields = self.fields(directive);
        let max_age_s = self.take(&mut fields, "maxAge").and_then(|it| self.whole(it, 365 * 86_400));
        let private = self.take(&mut fields, "scope").and_then(|it| self.scope(it));
        let inherit =
            self.take(&mut fields, "inheritMaxAge").and_then(|it| self.boolean(it)).unwrap_or(false);
        let span = fields.span;
        self.finish(fields);
        if inherit && max_age_s.is_some() {
            self.complain(span, "`inheritMaxAge` and `maxAge` say different things: write one of them");
        }
        self.mapping.hints.push(Hint {
            ty: ty.into(),
            field: field.map(Into::into),
            max_age_s,
            private,
            inherit,
            location: self.location(directive.span),
        });
    }
}
