//! The last pass: names that the API makes of the types may not be those of others.

use super::SdlReader;
use crate::api::member_names;
use crate::model::{FieldKind, TypeId, TypeKind};
use hashbrown::HashMap;
use weir_language::error::{Code, Error};
use weir_language::span::Span;

impl SdlReader<'_> {
    pub(super) fn clashes(&mut self) {
        let mut taken: HashMap<String, Span> = HashMap::new();
        taken.extend(self.types.iter().map(|it| (it.ty.name.clone(), it.span)));
        taken.extend(self.enums.iter().map(|it| it.name.clone()).zip(self.enum_spans.iter().copied()));
        for (at, named) in self.enums.iter().enumerate() {
            let made = member_names::of_enum(&named.name);
            let complaints = take(&mut taken, &named.name, self.enum_spans[at], made);
            self.errors.extend(complaints);
        }
        for id in self.type_ids() {
            let ty = &self.draft(id).ty;
            let span = self.draft(id).span;
            let complaints = take(&mut taken, &ty.name, span, member_names::of_type(&ty.name, ty.kind));
            self.errors.extend(complaints);
            self.fields_beside_fields(id);
            self.fields_beside_words(id);
            self.fields_of_payloads(id);
            self.members_of_unions(id);
        }
    }

    /// The API puts an aggregate beside each list of objects.
    fn fields_beside_fields(&mut self, id: TypeId) {
        let mut clashes = Vec::new();
        for (_, draft) in self.fields_of(id) {
            if !draft.field.is_list || !matches!(draft.field.kind, FieldKind::Edge { .. }) {
                continue;
            }
            let made = member_names::edge_aggregate(&draft.field.name);
            if let Some(field) = self.find_field(id, &made) {
                let message =
                    format!("the API makes a field `{made}` for `{}`: rename one of them", draft.field.name);
                clashes.push((vec![self.field(field).span, draft.span], message));
            }
        }
        for (spans, message) in clashes {
            self.complain_of(spans, message);
        }
    }

    /// Filters and orders have members of their own beside those for fields.
    fn fields_beside_words(&mut self, id: TypeId) {
        let mut notes = Vec::new();
        for (_, draft) in self.fields_of(id).filter(|it| it.1.origin.is_none()) {
            let field = &draft.field;
            let is_edge = matches!(field.kind, FieldKind::Edge { .. });
            let is_filtered = is_edge || field.kind == FieldKind::Id || !field.search.is_empty();
            let inputs = [
                ("filters", member_names::FILTER_WORDS, is_filtered),
                ("orders", member_names::ORDER_WORDS, is_edge && !field.is_list),
            ];
            for (input, words, _) in
                inputs.into_iter().filter(|it| it.2 && it.1.contains(&field.name.as_str()))
            {
                let made = member_names::member(&field.name, words, |it| self.find_field(id, it).is_some());
                let name = &field.name;
                notes.push((
                    draft.span,
                    format!("in {input} the field `{name}` is `{made}`: `{name}` is a word of theirs"),
                ));
            }
        }
        for (span, note) in notes {
            self.warn(span, note);
        }
    }

    /// Payloads have the objects under the type's name, beside fields of their own.
    fn fields_of_payloads(&mut self, id: TypeId) {
        let ty = &self.draft(id).ty;
        let made = member_names::lower_first(&ty.name);
        if ty.kind != TypeKind::Union && ["numUids", "msg"].contains(&made.as_str()) {
            let message = format!("payloads have a field `{made}` of their own: rename the type");
            self.complain(self.draft(id).span, message);
        }
    }

    /// Filters and references of a union have a field per member.
    fn members_of_unions(&mut self, id: TypeId) {
        let ty = &self.draft(id).ty;
        if ty.kind != TypeKind::Union {
            return;
        }
        let mut seen: HashMap<String, TypeId> = HashMap::new();
        let mut clashes = Vec::new();
        for &member in &ty.members {
            let name = &self.draft(member).ty.name;
            if let Some(other) = seen.insert(member_names::lower_first(name), member) {
                clashes.push(format!(
                    "`{}` and `{name}` differ in the case of their first letter alone, so that their filters would have one name: rename one of them",
                    self.draft(other).ty.name
                ));
            }
        }
        for message in clashes {
            self.complain(self.draft(id).span, message);
        }
    }
}

/// Takes the names `made` for `owner` at `span`; returns an error for each that is taken already.
fn take(taken: &mut HashMap<String, Span>, owner: &str, span: Span, made: Vec<String>) -> Vec<Error> {
    let mut errors = Vec::new();
    for made in made {
        if let Some(first) = taken.insert(made.clone(), span) {
            let message = format!(
                "the API makes a type `{made}` for `{owner}`, and one of that name is there already: rename one of them"
            );
            errors.push(Error { message, spans: vec![first, span], code: Code::Schema });
        }
    }
    errors
}
