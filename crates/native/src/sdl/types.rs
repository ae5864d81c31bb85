//! The fifth pass: directives of types.

use super::directives::ON_TYPES;
use super::{SdlReader, hint};
use crate::model::{Auth, FieldId, FieldKind, Generate, Scalar, Secret, Type, TypeId, TypeKind};
use weir_language::ast::{Directive, ValueId};
use weir_language::report;
use weir_language::span::Span;

impl SdlReader<'_> {
    pub(super) fn types(&mut self) {
        let mut secrets: Vec<Option<(Secret, Span)>> = vec![None; self.types.len()];
        self.own_auth = vec![Auth::default(); self.types.len()];
        for id in self.type_ids() {
            let draft = self.draft(id);
            let (known, owner): (&[&str], _) = match draft.ty.kind {
                TypeKind::Object => (&ON_TYPES, "a type"),
                TypeKind::Interface => {
                    (&["auth", "secret", "generate", "withSubscription", "renamedFrom"], "an interface")
                }
                TypeKind::Union => (&["renamedFrom"], "a union"),
            };
            for (name, directive) in self.directives(draft.definition.directives, known, owner) {
                match name {
                    "auth" => self.auth(id, directive),
                    "secret" => secrets[id.index()] = self.secret(id, directive),
                    "unique" => self.unique(id, directive),
                    "generate" => self.generate(id, directive),
                    "cost" => {}
                    "renamedFrom" => {
                        let name = self.draft(id).ty.name.clone();
                        self.types[id.index()].ty.renamed_from = self.former_name(directive, &name);
                    }
                    _ => {
                        self.arguments(directive, []);
                        self.types[id.index()].ty.generate.subscription = true;
                    }
                }
            }
            self.subscribable(id);
        }
        self.inherit_secrets(&secrets);
        self.inherit_auth();
        self.queryable();
    }

    /// A schema has at least one query.
    fn queryable(&mut self) {
        let asked = |ty: &Type| ty.kind != TypeKind::Union && (ty.generate.query || ty.generate.aggregate);
        if self.errors.is_empty()
            && !self.types.iter().any(|draft| asked(&draft.ty))
            && let Some(first) = self.types.first()
        {
            let message = "nothing can be queried: let `@generate` leave `query` or `aggregate` of a type";
            self.complain(first.span, message);
        }
    }

    /// Warns of a type that may be subscribed to and has no field for it.
    fn subscribable(&mut self, id: TypeId) {
        let Generate { get, query, aggregate, subscription, .. } = self.draft(id).ty.generate;
        if subscription && !(get || query || aggregate) {
            let name = &self.draft(id).ty.name;
            let message = format!(
                "`{name}` has nothing to subscribe to: let `@generate` leave `get`, `query` or `aggregate`"
            );
            self.warn(self.draft(id).span, message);
        }
    }

    fn secret(&mut self, id: TypeId, directive: Directive) -> Option<(Secret, Span)> {
        let [field, pred] = self.arguments(directive, ["field", "pred"]);
        if let Some(pred) = pred {
            let span = self.document.value(pred).span;
            self.complain(span, "`pred` names Dgraph's storage: remove it, the name of the field is enough");
        }
        let Some((name, span)) = field.and_then(|value| self.string(value)) else {
            self.complain(
                directive.span,
                "`@secret` needs `(field: \"…\")`: the name of the password in inputs",
            );
            return None;
        };
        if !is_name(&name) {
            self.complain(span, format!("`{name}` is no name a field can have"));
            return None;
        }
        if let Some(field) = self.find_field(id, &name) {
            let spans = vec![span, self.field(field).span];
            self.complain_of(
                spans,
                format!("`{name}` is a field already: the password needs a name of its own"),
            );
            return None;
        }
        let place =
            report::locations(self.document.text, &[super::Error::new(super::Code::Schema, span, "")]);
        Some((Secret { name, place: place[0][0] }, span))
    }

    /// An interface's password is one of its implementers too.
    fn inherit_secrets(&mut self, secrets: &[Option<(Secret, Span)>]) {
        for id in self.type_ids() {
            let mut all = vec![id];
            all.extend(&self.draft(id).ty.interfaces);
            let found: Vec<&(Secret, Span)> =
                all.iter().filter_map(|it| secrets[it.index()].as_ref()).collect();
            if let [one, other, ..] = found.as_slice() {
                let spans = vec![one.1, other.1, self.draft(id).span];
                self.complain_of(spans, "an object has one password: keep one `@secret`");
            }
            let secret = found.first().map(|it| it.0.clone());
            if let Some(field) = secret.as_ref().and_then(|it| self.find_field(id, &it.name)) {
                let message = "a password of the interface has this name: rename one of them";
                let spans = vec![self.field(field).span, found[0].1];
                if secrets[id.index()].is_none() {
                    self.complain_of(spans, message);
                }
            }
            self.types[id.index()].ty.secret = secret;
        }
    }

    /// `@unique(fields: [...])`.
    fn unique(&mut self, id: TypeId, directive: Directive) {
        let [fields] = self.arguments(directive, ["fields"]);
        let Some(fields) = fields else {
            return self.complain(directive.span, "`@unique` needs `(fields: [\"…\", \"…\"])`");
        };
        let mut together: Vec<FieldId> = Vec::new();
        let words = self.read_names(fields);
        let given = words.len();
        for (name, span) in words {
            let Some(field) = self.find_field(id, &name) else {
                let hint = hint(&name, self.fields_of(id).map(|it| it.1.field.name.as_str()));
                let owner = &self.draft(id).ty.name;
                self.complain(span, format!("`{owner}` has no field `{name}`{hint}"));
                continue;
            };
            if together.contains(&field) {
                self.complain(span, format!("`{name}` is named twice"));
            } else if let Some(problem) = self.not_comparable(field) {
                self.complain(span, format!("`{name}` {problem}"));
            } else {
                together.push(field);
            }
        }
        if given < 2 {
            let message =
                "`@unique` is for two or more fields together; one alone is a key: write `@id` on it";
            self.complain(directive.span, message);
        }
        self.types[id.index()].ty.unique.push(together);
    }

    /// Why a field cannot be part of a key, if so.
    fn not_comparable(&self, id: FieldId) -> Option<&'static str> {
        let field = &self.field(id).field;
        match field.kind {
            _ if field.is_list => Some("is a list: only single values can be unique together"),
            FieldKind::Id => Some("is unique by itself: leave it out"),
            FieldKind::Scalar(Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon) => {
                Some("is a shape: shapes cannot be unique")
            }
            FieldKind::Scalar(_) | FieldKind::Enum(_) => None,
            FieldKind::Edge { inverse, .. } => {
                let is_single = inverse.is_some_and(|it| !self.field(it).field.is_list);
                is_single.then_some("is one to one, and so unique by itself: leave it out")
            }
        }
    }

    /// `@generate`.
    fn generate(&mut self, id: TypeId, directive: Directive) {
        let [query, mutation, subscription] =
            self.arguments(directive, ["query", "mutation", "subscription"]);
        // `@withSubscription` may stand before it, and holds whatever is said here.
        let mut generate =
            Generate { subscription: self.draft(id).ty.generate.subscription, ..Generate::USUAL };
        if let Some(query) = query {
            let given = self.object_fields(query, ["get", "query", "password", "aggregate"]);
            let Generate { get, query, password, aggregate, .. } = &mut generate;
            self.switch(given, [get, query, password, aggregate]);
        }
        if let Some(mutation) = mutation {
            let given = self.object_fields(mutation, ["add", "update", "delete"]);
            let Generate { add, update, delete, .. } = &mut generate;
            self.switch(given, [add, update, delete]);
        }
        generate.subscription |= subscription.and_then(|value| self.boolean(value)) == Some(true);
        self.types[id.index()].ty.generate = generate;
    }

    fn switch<const N: usize>(&mut self, given: [Option<ValueId>; N], switches: [&mut bool; N]) {
        for (value, switch) in given.into_iter().zip(switches) {
            if let Some(value) = value.and_then(|value| self.boolean(value)) {
                *switch = value;
            }
        }
    }
}

/// True if GraphQL allows a field called `name` and introspection has none.
fn is_name(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with("__")
}
