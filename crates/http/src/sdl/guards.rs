//! `@authenticated`, `@requiresScopes` and `@allow`: which callers see a type or field.
//!
//! Of several at one place all have to hold. A type that is hidden hides the fields that give it, wherever they are.

use super::fields::Fields;
use super::{Condition, Guard, Guarded, Reader, ScopeGroups};
use weir_language::ast::{Directive, TypeBody, TypeDefinition, ValueId};
use weir_language::schema::TypeId;

/// The directives that guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuardKind {
    Authenticated,
    Scopes,
    Roles,
}

impl GuardKind {
    /// Without `@`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Authenticated => "authenticated",
            Self::Scopes => "requiresScopes",
            Self::Roles => "allow",
        }
    }
}

impl<'d> Reader<'d> {
    /// A guard of a type. `id`: none where the text only extends a type of another source without adding a field.
    pub(super) fn guard_type(&mut self, kind: GuardKind, directive: &'d Directive, ty: &'d TypeDefinition) {
        let name = self.str(ty.name);
        let id = self.mapping.schema.type_by_name(name);
        let id = id.filter(|id| !self.mapping.foreign.contains(id));
        match (ty.body, id) {
            (TypeBody::Union { .. } | TypeBody::Input { .. }, _) => {
                self.misplaced(directive, super::links::Known::Guard(kind));
            }
            (_, None) => {
                let message = format!(
                    "`{name}` is a type of another source, which says who sees it: guard the fields that are added here"
                );
                self.complain(directive.span, message);
            }
            (_, Some(id)) if self.is_root(id) => {
                self.complain(directive.span, format!("`{name}` is everybody's: guard its fields"));
            }
            (_, Some(id)) => self.guard(kind, directive, Guarded::Type(id)),
        }
    }

    /// A guard of the field `name` of a type.
    pub(super) fn guard_field(
        &mut self,
        kind: GuardKind,
        directive: &'d Directive,
        ty: Option<TypeId>,
        name: &str,
    ) {
        match ty.and_then(|it| self.mapping.schema.field_by_name(it, name)) {
            Some(field) => self.guard(kind, directive, Guarded::Field(field)),
            None => {
                let message = format!(
                    "`{name}` is asked of another source, and whoever sees the field that is asked sees it: guard that one"
                );
                self.complain(directive.span, message);
            }
        }
    }

    fn guard(&mut self, kind: GuardKind, directive: &'d Directive, guarded: Guarded) {
        let mut fields = self.fields(directive);
        let condition = match kind {
            GuardKind::Authenticated => Some(Condition::Authenticated),
            GuardKind::Scopes => {
                self.need(&mut fields, "scopes").and_then(|it| self.scopes(it)).map(Condition::Scopes)
            }
            GuardKind::Roles => self.roles(&mut fields).map(Condition::Roles),
        };
        self.finish(fields);
        let Some(condition) = condition else { return };
        let conditions = &mut self.mapping.conditions;
        let known = conditions.iter().position(|it| *it == condition);
        let at = known.unwrap_or_else(|| {
            conditions.push(condition);
            conditions.len() - 1
        });
        self.mapping.guards.push(Guard { guarded, condition: at as u32 });
    }

    /// `[["a", "b"], ["c"]]`: `a` and `b`, or `c`.
    fn scopes(&mut self, value: ValueId) -> Option<ScopeGroups> {
        let groups = self.items(value);
        if groups.is_empty() {
            self.complain_of(value, "nobody would see this: name scopes, as in `[[\"read:users\"]]`");
            return None;
        }
        let mut all = Vec::new();
        for group in groups {
            let scopes = self.strings(group);
            if scopes.is_empty() {
                self.complain_of(group, "everybody would see this: name scopes, or take the guard out");
            }
            let spaced = scopes.iter().find(|it| it.0.is_empty() || it.0.contains(char::is_whitespace));
            if let Some(&(_, span)) = spaced {
                self.complain(
                    span,
                    "a scope is one word: scopes that are needed together are `[[\"a\", \"b\"]]`",
                );
            }
            all.push(scopes.into_iter().map(|it| it.0.into()).collect());
        }
        Some(all.into())
    }

    fn roles(&mut self, fields: &mut Fields<'d>) -> Option<Box<[Box<str>]>> {
        let value = self.need(fields, "roles")?;
        let roles = self.strings(value);
        if roles.is_empty() {
            self.complain_of(value, "only `admin` would see this: name roles, as in `[\"editor\"]`");
        }
        if let Some((_, span)) = roles.iter().find(|it| it.0.trim().is_empty()) {
            self.complain(*span, "a role has a name");
        }
        Some(roles.into_iter().map(|it| it.0.into()).collect())
    }
}
