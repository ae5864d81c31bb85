//! The fourth pass: which edges are two sides of one.

use super::fields::both;
use super::{SdlReader, hint};
use crate::model::{FieldId, FieldKind, TypeId, TypeKind};
use weir_language::span::Span;

impl SdlReader<'_> {
    pub(super) fn edges(&mut self) {
        for at in 0..self.fields.len() as u32 {
            let id = FieldId(at);
            if let Some((name, span)) = self.field(id).inverse.clone()
                && let Some(other) = self.other_side(id, &name, span)
            {
                self.link(id, other);
                self.link(other, id);
            }
        }
        for at in 0..self.fields.len() as u32 {
            self.inherit_inverse(FieldId(at));
        }
        for at in 0..self.fields.len() as u32 {
            self.stand_apart(FieldId(at));
        }
    }

    /// The field `name` of the type to which `id` leads, if it leads back.
    fn other_side(&mut self, id: FieldId, name: &str, span: Span) -> Option<FieldId> {
        let owner = self.field(id).field.owner;
        let to = target(self.field(id).field.kind)?;
        let to_name = self.draft(to).ty.name.clone();
        if self.draft(to).ty.kind == TypeKind::Union {
            let message = format!("`{to_name}` is a union, which has no fields: remove `@hasInverse`");
            self.complain(span, message);
            return None;
        }
        let Some(other) = self.find_field(to, name) else {
            let hint = hint(name, self.fields_of(to).map(|it| it.1.field.name.as_str()));
            self.complain(span, format!("`{to_name}` has no field `{name}`{hint}"));
            return None;
        };
        let ours = &self.draft(owner).ty.name;
        let theirs = &self.field(other).field;
        let message = match target(theirs.kind) {
            Some(back) if back == owner => None,
            Some(back) => {
                let back = &self.draft(back).ty.name;
                Some(format!("`{to_name}.{name}` leads to `{back}`, not back to `{ours}`"))
            }
            None => Some(format!("`{to_name}.{name}` is no edge back to `{ours}`")),
        };
        let own_name = &self.field(id).field.name;
        let declared = self.field(other).inverse.as_ref();
        let message = message.or_else(|| match declared {
            Some((back, _)) if back != own_name => {
                Some(format!("`{to_name}.{name}` says that its inverse is `{back}`, not `{own_name}`"))
            }
            Some(_) | None => None,
        });
        if let Some(message) = message {
            self.complain_of(vec![span, self.field(other).span], message);
            return None;
        }
        Some(other)
    }

    /// Notes that the other side of `id` is `other`.
    fn link(&mut self, id: FieldId, other: FieldId) {
        let FieldKind::Edge { to, inverse } = self.field(id).field.kind else { return };
        match inverse {
            None => {
                self.fields[id.index()].field.kind = FieldKind::Edge { to, inverse: Some(other) };
            }
            Some(known) if known == other => {}
            Some(known) => {
                let name = &self.field(id).field.name;
                let one = self.full_name(known);
                let two = self.full_name(other);
                let message = format!("`{name}` cannot be the inverse of both `{one}` and `{two}`");
                let mut spans = both(self.field(other), self.field(known));
                spans.push(self.field(id).span);
                self.complain_of(spans, message);
            }
        }
    }

    /// The copy of an interface's edge has the inverse that the interface's has.
    fn inherit_inverse(&mut self, id: FieldId) {
        let mut from = self.field(id).field.inherited_from;
        while let Some(interface) = from {
            if let FieldKind::Edge { inverse: Some(other), .. } = self.field(interface).field.kind {
                return self.link(id, other);
            }
            from = self.field(interface).field.inherited_from;
        }
    }

    /// An implementer's edge may have an inverse that the interface's has not if it is kept in a column of its own.
    fn stand_apart(&mut self, id: FieldId) {
        let FieldKind::Edge { inverse: Some(other), .. } = self.field(id).field.kind else { return };
        if !self.is_apart(id) {
            return;
        }
        let ours = &self.field(id).field;
        let theirs = &self.field(other).field;
        if ours.is_list || (!theirs.is_list && self.is_apart(other)) {
            let message = format!(
                "`{}` is an edge of an interface, which has to have the inverse `{}` itself: write `@hasInverse` there",
                ours.name,
                self.full_name(other)
            );
            self.complain_of(both(self.field(id), self.field(other)), message);
        }
    }

    fn is_apart(&self, id: FieldId) -> bool {
        let inverse = |id: FieldId| match self.field(id).field.kind {
            FieldKind::Edge { inverse, .. } => inverse,
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
        };
        let mut root = id;
        while let Some(from) = self.field(root).field.inherited_from {
            root = from;
        }
        inverse(root) != inverse(id)
    }

    fn full_name(&self, id: FieldId) -> String {
        let field = &self.field(id).field;
        format!("{}.{}", self.draft(field.owner).ty.name, field.name)
    }
}

fn target(kind: FieldKind) -> Option<TypeId> {
    match kind {
        FieldKind::Edge { to, .. } => Some(to),
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
    }
}
