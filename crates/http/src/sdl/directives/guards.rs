//! `@authenticated`, `@requiresScopes`, `@allow` and `@inaccessible`: which callers see a type or field.
//!
//! Of several at one place all have to hold. A type that is hidden hides the fields that give it, wherever they are. A type or field that
//! the text does not have may be one of its GraphQL and gRPC servers: which of them has it is known once they are open.

use super::fields::Fields;
use super::links::{GuardKind, Known};
use crate::sdl::{Condition, Guard, Guarded, Reader, ScopeGroups, ServerGuard};
use weir_language::ast::{Directive, TypeBody, TypeDefinition, ValueId};
use weir_language::schema::TypeId;

impl<'d> Reader<'d> {
    /// Adds a guard of a type. `id` is `None` if the file only extends a type of another source without adding a field.
    pub(crate) fn guard_type(&mut self, kind: GuardKind, directive: &'d Directive, ty: &'d TypeDefinition) {
        let name = self.str(ty.name);
        let id = self.mapping.schema.type_by_name(name);
        let id = id.filter(|id| !self.mapping.foreign.contains(id));
        match (ty.body, id) {
            (TypeBody::Union { .. } | TypeBody::Input { .. }, _) => {
                self.report_misplaced(directive, Known::Guard(kind));
            }
            (_, None) if self.links.has_servers => self.guard_server(kind, directive, name, None),
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

    /// Adds a guard of the field `name` of a type.
    pub(crate) fn guard_field(
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
        let Some(condition) = self.condition(kind, directive) else { return };
        let condition = place(&mut self.mapping.conditions, condition);
        self.mapping.guards.push(Guard { guarded, condition });
    }

    /// Adds the guards of a field that belongs to a server.
    pub(crate) fn guard_server_field(&mut self, directives: &'d [Directive], ty: &str, field: &str) {
        for directive in directives {
            if let Some(Known::Guard(kind)) = self.resolve_directive(directive) {
                self.guard_server(kind, directive, ty, Some(field));
            }
        }
    }

    /// Adds a guard of a server's type, or of a field of it.
    fn guard_server(&mut self, kind: GuardKind, directive: &'d Directive, ty: &str, field: Option<&str>) {
        let Some(condition) = self.condition(kind, directive) else { return };
        let condition = place(&mut self.mapping.server_conditions, condition);
        let location = self.location(directive.span);
        let ty = ty.into();
        let field = field.map(Into::into);
        self.mapping.server_guards.push(ServerGuard { ty, field, condition, location });
    }

    /// Reads `visible: {authenticated: true, scopes: [["a"]], roles: ["b"]}` of a server. All conditions must hold.
    pub(crate) fn visible(&mut self, fields: &mut Fields<'d>) -> Option<Vec<u32>> {
        let value = self.take(fields, "visible")?;
        let mut fields = self.object(value, "visible")?;
        let mut conditions = Vec::new();
        if self.take(&mut fields, "authenticated").and_then(|it| self.boolean(it)) == Some(true) {
            conditions.push(Condition::Authenticated);
        }
        let scopes = self.take(&mut fields, "scopes").and_then(|it| self.scopes(it));
        conditions.extend(scopes.map(Condition::Scopes));
        let roles = self.take(&mut fields, "roles").map(|it| self.role_names(it));
        conditions.extend(roles.map(Condition::Roles));
        self.finish(fields);
        let all = &mut self.mapping.server_conditions;
        Some(conditions.into_iter().map(|it| place(all, it)).collect())
    }

    fn condition(&mut self, kind: GuardKind, directive: &'d Directive) -> Option<Condition> {
        let mut fields = self.fields(directive);
        let condition = match kind {
            GuardKind::Authenticated => Some(Condition::Authenticated),
            GuardKind::Scopes => {
                self.need(&mut fields, "scopes").and_then(|it| self.scopes(it)).map(Condition::Scopes)
            }
            GuardKind::Roles => self.roles(&mut fields).map(Condition::Roles),
            GuardKind::Hidden => Some(Condition::Nobody),
        };
        self.finish(fields);
        condition
    }

    /// Reads `[["a", "b"], ["c"]]`: `a` and `b`, or `c`.
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
        Some(self.role_names(value))
    }

    fn role_names(&mut self, value: ValueId) -> Box<[Box<str>]> {
        let roles = self.strings(value);
        if roles.is_empty() {
            self.complain_of(value, "only `admin` would see this: name roles, as in `[\"editor\"]`");
        }
        if let Some((_, span)) = roles.iter().find(|it| it.0.trim().is_empty()) {
            self.complain(*span, "a role has a name");
        }
        roles.into_iter().map(|it| it.0.into()).collect()
    }
}

/// Index of `condition` in `all`, where it is added if absent.
fn place(all: &mut Vec<Condition>, condition: Condition) -> u32 {
    let known = all.iter().position(|it| *it == condition);
    let at = known.unwrap_or_else(|| {
        all.push(condition);
        all.len() - 1
    });
    at as u32
}
