//! `@custom` and `@remote`: the fields of the text that services answer, and the types that are not stored.
//!
//! Passes: names put types aside that are not stored; own fields put fields aside that are; when all stored fields are known
//! each template is read and checked against them.
//!
//! **Invariant:** what comes out holds for every request: no template names what may not be there.

mod request;
mod result;
mod template;
mod url;

use super::{SdlReader, hint};
use crate::custom::{CustomField, Customs, Owner, TypeUse};
use crate::model::{FieldKind, Scalar, TypeId, TypeKind};
use weir_language::ast::{
    Directive, FieldDefinition, InputDefinition, List, TypeBody, TypeDefinition, TypeExpr,
};
use weir_language::report;
use weir_language::span::{Location, Span};

/// Prefixes of the names of generated queries.
const QUERIES: [&str; 4] = ["get", "query", "aggregate", "querySimilar"];
/// Prefixes of the names of generated mutations.
const MUTATIONS: [&str; 3] = ["add", "update", "delete"];

/// A field with `@custom`, before its type's fields are known.
#[derive(Clone, Copy)]
pub(super) struct CustomDraft<'d> {
    /// `None`: of a root.
    ty: Option<TypeId>,
    is_mutation: bool,
    definition: &'d FieldDefinition,
}

/// All that the first passes put aside, but for types.
#[derive(Default)]
pub(super) struct CustomParts<'d> {
    fields: Vec<CustomDraft<'d>>,
    secrets: Vec<(String, String)>,
}

/// The variables that a template may use.
struct Scope<'d> {
    owner: Owner,
    field: &'d str,
    ty: Option<TypeId>,
    arguments: &'d [InputDefinition],
}

/// Facts of one variable of a template.
#[derive(Clone, Copy)]
struct Known {
    is_list: bool,
    is_required: bool,
    /// True for an ID or a field with `@id`.
    is_key: bool,
}

impl<'d> SdlReader<'d> {
    /// Puts a root type's fields aside.
    pub(super) fn root(&mut self, definition: &'d TypeDefinition) {
        let name = self.str(definition.name);
        self.none_allowed(definition.directives, "a root type");
        let TypeBody::Object { fields, .. } = definition.body else {
            return self.complain(definition.name, format!("`{name}` is a type: write `type {name}`"));
        };
        for field in self.document.list(fields) {
            if self.has_directive(field.directives, "custom") {
                let is_mutation = name == "Mutation";
                self.customs.fields.push(CustomDraft { ty: None, is_mutation, definition: field });
                continue;
            }
            let before = self.errors.len();
            let known = ["custom", "deprecated", "withSubscription", "cost", "listSize"];
            self.directives(field.directives, &known, "a field of a root type");
            if self.errors.len() == before {
                let message = format!(
                    "`{name}` has fields of one's own only with `@custom(http: …)`; the others are made of the types: remove it"
                );
                self.complain(field.name, message);
            }
        }
    }

    fn has_directive(&self, list: List<Directive>, name: &str) -> bool {
        self.document.list(list).iter().any(|it| self.str(it.name) == name)
    }

    /// True if `definition` is not stored: it is put aside.
    pub(super) fn is_remote(&self, definition: &TypeDefinition) -> bool {
        self.has_directive(definition.directives, "remote")
    }

    /// Puts the field of a stored type aside if it has `@custom`.
    pub(super) fn is_custom(&mut self, owner: TypeId, definition: &'d FieldDefinition) -> bool {
        if !self.has_directive(definition.directives, "custom") {
            return false;
        }
        self.customs.fields.push(CustomDraft { ty: Some(owner), is_mutation: false, definition });
        true
    }

    /// `# Dgraph.Secret name "value"`.
    pub(super) fn secret_line(&mut self, text: &str, span: Span) {
        let (name, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let value = rest.trim().strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        let name = name.trim_matches('"');
        let Some(value) = value.filter(|_| !name.is_empty()) else {
            return self.complain(span, "a secret is written `# Dgraph.Secret name \"value\"`");
        };
        if self.customs.secrets.iter().any(|it| it.0 == name) {
            return self.complain(span, format!("there is a secret `{name}` already"));
        }
        self.customs.secrets.push((name.to_owned(), value.to_owned()));
    }

    /// Reads all that was put aside, when all stored fields are known.
    pub(super) fn customs(&mut self) -> Customs {
        let mut parts = std::mem::take(&mut self.customs);
        parts.fields.sort_by_key(|it| it.definition.name.start);
        let mut made = Customs { secrets: parts.secrets, ..Customs::default() };
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for draft in &parts.fields {
            let name = self.str(draft.definition.name);
            let owner = self.owner(draft);
            let owner_name = self.owner_name(draft);
            if seen.contains(&(owner_name, name)) {
                self.complain(draft.definition.name, format!("the field `{name}` is there already"));
                continue;
            }
            seen.push((owner_name, name));
            if let Some(field) = self.custom(draft, owner, &made.secrets) {
                made.fields.push(field);
            }
        }
        self.definitions(&parts.fields, &mut made);
        made
    }

    fn owner_name(&self, draft: &CustomDraft<'d>) -> &'d str {
        match draft.ty {
            Some(id) => self.str(self.draft(id).span),
            None if draft.is_mutation => "Mutation",
            None => "Query",
        }
    }

    fn owner(&self, draft: &CustomDraft<'d>) -> Owner {
        match draft.ty {
            Some(id) => Owner::Type(self.draft(id).ty.name.clone()),
            None if draft.is_mutation => Owner::Mutation,
            None => Owner::Query,
        }
    }

    fn custom(
        &mut self,
        draft: &CustomDraft<'d>,
        owner: Owner,
        secrets: &[(String, String)],
    ) -> Option<CustomField> {
        let definition = draft.definition;
        let name = self.str(definition.name);
        let errors = self.errors.len();
        self.custom_name(draft, name);
        self.result(definition.ty);
        let known = ["custom", "deprecated", "withSubscription", "cost", "listSize"];
        let directives = self.directives(definition.directives, &known, "a custom field");
        let subscribed = directives.iter().find(|it| it.0 == "withSubscription").map(|it| it.1);
        if let Some(directive) = subscribed {
            self.custom_subscribed(directive, &owner);
        }
        let deprecated = directives.iter().find(|it| it.0 == "deprecated");
        let deprecated = deprecated.and_then(|it| self.reason(it.1));
        let directive = directives.iter().find(|it| it.0 == "custom")?.1;
        let arguments = self.custom_arguments(draft);
        let scope = Scope { owner: owner.clone(), field: name, ty: draft.ty, arguments };
        let mut used = Vec::new();
        let request = self.request(directive, &scope, secrets, &mut used);
        if self.errors.len() > errors {
            return None;
        }
        let optional = used.into_iter().filter(|it| {
            draft.ty.is_some()
                && self.find_variable(&scope, it).is_some_and(|it| !it.is_required && !it.is_key)
        });
        let mut optional: Vec<String> = optional.collect();
        optional.sort();
        optional.dedup();
        let ty = self.type_use(definition.ty);
        let signature = self.signature(definition, arguments, deprecated.as_deref());
        let place = self.place_of(directive.span);
        let name = name.to_owned();
        let is_live = subscribed.is_some();
        Some(CustomField { owner, name, ty, signature, request: request?, optional, is_live, place })
    }

    /// `@withSubscription` on a custom field: only a query can be subscribed to.
    fn custom_subscribed(&mut self, directive: Directive, owner: &Owner) {
        self.arguments(directive, []);
        let message = match owner {
            Owner::Query => return,
            Owner::Mutation => "a mutation cannot be subscribed to: remove `@withSubscription`",
            Owner::Type(_) => {
                "subscriptions to the type bring this field: write `@withSubscription` on the type"
            }
        };
        self.complain(directive.span, message);
    }

    /// Checks the name of a custom field against those that Weir makes and those that are stored.
    fn custom_name(&mut self, draft: &CustomDraft<'d>, name: &str) {
        let span = draft.definition.name;
        if name.starts_with("__") {
            let message =
                format!("`{name}` begins with `__`, which belongs to introspection: choose another name");
            return self.complain(span, message);
        }
        let Some(ty) = draft.ty else {
            if self.is_generated(name, draft.is_mutation) {
                let root = if draft.is_mutation { "Mutation" } else { "Query" };
                let message =
                    format!("`{root}.{name}` is a name that Weir makes of a type: choose another name");
                self.complain(span, message);
            }
            return;
        };
        let owner = self.draft(ty).ty.name.clone();
        if self.draft(ty).ty.kind != TypeKind::Object {
            let message = "`@custom` stands on fields of types, not of interfaces: write the field in the types that implement it";
            return self.complain(span, message);
        }
        let is_aggregate = |it: &super::FieldDraft| {
            it.field.is_list
                && matches!(it.field.kind, FieldKind::Edge { .. })
                && crate::api::member_names::edge_aggregate(&it.field.name) == name
        };
        if let Some(stored) = self.find_field(ty, name) {
            let spans = vec![span, self.field(stored).span];
            self.complain_of(spans, format!("the field `{name}` is there already"));
        } else if self.fields_of(ty).any(|it| is_aggregate(it.1)) {
            self.complain(span, format!("Weir makes a field `{name}` of `{owner}`: choose another name"));
        }
        let has_key = self
            .fields_of(ty)
            .any(|(_, draft)| draft.field.kind == FieldKind::Id || draft.field.key.is_some());
        if !has_key {
            let message = format!(
                "Type {owner}; Field {name}: @custom directive is only allowed on fields where the type definition has a field with type ID! or a field with @id directive."
            );
            self.complain(span, message);
        }
    }

    /// True if the API of a type has a root field called `name`.
    fn is_generated(&self, name: &str, is_mutation: bool) -> bool {
        let prefixes: &[&str] = if is_mutation { &MUTATIONS } else { &QUERIES };
        let of = |ty: &str| {
            prefixes.iter().any(|prefix| name.strip_prefix(prefix) == Some(ty))
                || !is_mutation && name == format!("check{ty}Password")
        };
        let is_asked = |it: &super::Draft<'_>| it.ty.kind != TypeKind::Union && of(&it.ty.name);
        self.types.iter().any(is_asked)
    }

    /// The arguments of a root field; those of a type's field could not be read by its templates.
    fn custom_arguments(&mut self, draft: &CustomDraft<'d>) -> &'d [InputDefinition] {
        let arguments = self.document.list(draft.definition.arguments);
        if draft.ty.is_none() {
            for argument in arguments {
                self.none_allowed(argument.directives, "an argument");
                self.input_type(argument.ty);
            }
            return arguments;
        }
        if let Some(first) = arguments.first() {
            let name = self.str(draft.definition.name);
            let message = format!(
                "the arguments of `{name}` are ignored: templates of a type's field read the fields of the type"
            );
            self.warn(first.span, message);
        }
        &[]
    }

    /// Properties of `$name` in a template; `None` if there is no such value.
    fn find_variable(&self, scope: &Scope<'_>, name: &str) -> Option<Known> {
        let Some(ty) = scope.ty else {
            let argument = scope.arguments.iter().find(|it| self.str(it.name) == name)?;
            let wraps = argument.ty.wraps;
            let is_required = wraps.is_non_null() || argument.default.is_some();
            return Some(Known { is_list: wraps.is_list(), is_required, is_key: false });
        };
        let field = &self.field(self.find_field(ty, name)?).field;
        let is_single = match field.kind {
            FieldKind::Id | FieldKind::Enum(_) => !field.is_list,
            FieldKind::Scalar(Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon) => false,
            FieldKind::Scalar(_) => !field.is_list,
            FieldKind::Edge { .. } => false,
        };
        let is_key = field.kind == FieldKind::Id || field.key.is_some();
        let is_required = field.is_required || field.kind == FieldKind::Id;
        is_single.then_some(Known { is_list: false, is_required, is_key })
    }

    /// Finds `$name` like [`Self::find_variable`], and reports an error if it is missing.
    fn variable(&mut self, scope: &Scope<'d>, name: &str, span: Span) -> Option<Known> {
        if let Some(known) = self.find_variable(scope, name) {
            return Some(known);
        }
        let field = scope.field;
        let message = match scope.ty {
            None => {
                let names = scope.arguments.iter().map(|it| self.str(it.name));
                format!("`${name}` is no argument of `{field}`{}", hint(name, names))
            }
            Some(ty) => {
                let owner = scope.owner.name();
                let is_there = self.find_field(ty, name).is_some() || name == field;
                let names = self.fields_of(ty).map(|it| it.1.field.name.as_str());
                if is_there {
                    format!(
                        "`${name}`: a template reads stored single values of `{owner}`, and `{name}` is none"
                    )
                } else {
                    format!("`{owner}` has no stored field `{name}`{}", hint(name, names))
                }
            }
        };
        self.complain(span, message);
        None
    }

    /// A type as written.
    fn type_use(&self, ty: TypeExpr) -> TypeUse {
        TypeUse { name: self.str(ty.name).to_owned(), wraps: ty.wraps }
    }

    fn place_of(&self, span: Span) -> Location {
        let error = super::Error::new(super::Code::Schema, span, "");
        report::locations(self.document.text, &[error])[0][0]
    }

    /// Reads the directives of a `@remote` type.
    pub(super) fn remote(&mut self, definition: &TypeDefinition) {
        for (name, directive) in self.directives(definition.directives, &["remote", "auth"], "a remote type")
        {
            if name == "auth" {
                let name = self.str(definition.name);
                let message = format!("Type {name}; cannot have both @auth and @remote directive");
                self.complain(directive.span, message);
            } else {
                self.arguments(directive, []);
            }
        }
    }
}
