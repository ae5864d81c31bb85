//! The second pass: the fields that each type has itself.

use super::directives::{ON_FIELDS, Written};
use super::named_types::{self, Named};
use super::{FieldDraft, SdlReader, hint};
use crate::model::{Field, FieldKind, Key, Scalar, Search, TypeId, TypeKind};
use weir_language::ast::{Directive, FieldDefinition, List, TypeBody};
use weir_language::span::{Location, Span};

/// Words that no value of an enum can be. Filters and orders name fields by such values.
const NO_ENUM_VALUES: [&str; 3] = ["true", "false", "null"];

impl<'d> SdlReader<'d> {
    pub(super) fn own_fields(&mut self) {
        for id in self.type_ids() {
            let draft = self.draft(id);
            match draft.definition.body {
                TypeBody::Object { interfaces, fields } | TypeBody::Interface { interfaces, fields } => {
                    let interfaces = self.resolve_names(interfaces, TypeKind::Interface, "interface");
                    self.types[id.index()].interfaces = interfaces;
                    self.fields_as_written(id, fields);
                }
                TypeBody::Union { members } => {
                    let members = self.resolve_names(members, TypeKind::Object, "object type");
                    self.types[id.index()].ty.members = members;
                }
                // Scalars, enums and inputs never become types of the model.
                TypeBody::Scalar | TypeBody::Enum { .. } | TypeBody::Input { .. } => {}
            }
        }
    }

    fn fields_as_written(&mut self, owner: TypeId, fields: List<FieldDefinition>) {
        let mut own: Vec<FieldDraft> = Vec::new();
        for definition in self.document.list(fields) {
            let name = self.str(definition.name);
            if self.is_custom(owner, definition) {
                continue;
            }
            if let Some(first) = own.iter().find(|draft| draft.field.name == name) {
                let spans = vec![definition.name, first.span];
                self.complain_of(spans, format!("the field `{name}` is there already"));
                continue;
            }
            if let Some(draft) = self.own_field(owner, definition) {
                own.push(draft);
            }
        }
        self.types[owner.index()].own = own;
    }

    fn own_field(&mut self, owner: TypeId, definition: &FieldDefinition) -> Option<FieldDraft> {
        let name = self.str(definition.name);
        let span = definition.name;
        if NO_ENUM_VALUES.contains(&name) {
            let message = format!("`has` and orders could not name a field `{name}`: choose another name");
            self.complain(span, message);
        }
        if name.starts_with("__") {
            let message =
                format!("`{name}` begins with `__`, which belongs to introspection: choose another name");
            self.complain(span, message);
        }
        if let Some(argument) = self.document.list(definition.arguments).first() {
            let message = format!(
                "the arguments of `{name}` are ignored: Weir makes those of fields (`filter`, `order`, `first`, `offset`)"
            );
            self.warn(argument.span, message);
        }
        // Directives that are refused are said even where the type is unknown.
        let directives = self.directives(definition.directives, &ON_FIELDS, "a field");
        let kind = self.kind(definition)?;
        let wraps = definition.ty.wraps;
        let item = wraps.item().unwrap_or(wraps);
        let mut draft = FieldDraft {
            field: Field {
                owner,
                name: name.to_owned(),
                description: self.description(definition.description),
                kind,
                is_list: wraps.is_list(),
                is_required: wraps.is_non_null(),
                items_required: wraps.is_list() && item.is_non_null(),
                key: None,
                search: Vec::new(),
                default_add: None,
                default_update: None,
                inherited_from: None,
                renamed_from: None,
                deprecated: None,
                place: Location { line: 1, column: 1 },
            },
            span,
            inverse: None,
            written: Written::default(),
            origin: None,
            root: span,
        };
        for (name, directive) in directives {
            self.field_directive(&mut draft, name, directive);
        }
        add_implied_search(&mut draft.field);
        Some(draft)
    }

    /// Kind of the field's values; nothing if the type is not allowed.
    fn kind(&mut self, definition: &FieldDefinition) -> Option<FieldKind> {
        let name = self.str(definition.ty.name);
        let span = definition.ty.span;
        let kind = match (name, named_types::scalar(name), self.names.get(name)) {
            ("ID", _, _) => FieldKind::Id,
            (_, Some(scalar), _) => FieldKind::Scalar(scalar),
            (_, None, Some(&(Named::Enum(id), _))) => FieldKind::Enum(id),
            (_, None, Some(&(Named::Type(to), _))) => FieldKind::Edge { to, inverse: None },
            (_, None, Some(&(Named::Remote(_), _))) => {
                let message = format!(
                    "`{name}` is not stored (`@remote`): only a field with `@custom` can be one; write the directive here"
                );
                self.complain(span, message);
                return None;
            }
            (_, None, Some(&(Named::Input(_), _))) => {
                self.complain(span, format!("`{name}` is an input, which no field can hold: use a type"));
                return None;
            }
            (_, None, None) => {
                let known =
                    self.names.keys().copied().chain(named_types::SCALARS.map(|it| it.0)).chain(["ID"]);
                let hint = hint(name, known);
                self.complain(span, format!("there is no type `{name}`{hint}"));
                return None;
            }
        };
        let wraps = definition.ty.wraps;
        let problem = match kind {
            _ if wraps.lists() > 1 => {
                Some("a list of lists cannot be stored: use a list, or a type of its own")
            }
            FieldKind::Id if wraps.is_list() => Some("an `ID` names the object itself: it cannot be a list"),
            FieldKind::Scalar(Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon) if wraps.is_list() => {
                Some("a list of shapes cannot be stored: use a type with one shape, and a list of that type")
            }
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) | FieldKind::Edge { .. } => None,
        };
        match problem {
            Some(problem) => {
                self.complain(span, problem);
                None
            }
            None => Some(kind),
        }
    }

    fn field_directive(&mut self, draft: &mut FieldDraft, name: &'static str, directive: Directive) {
        match name {
            "id" => self.key(draft, directive),
            "search" => {
                draft.written.search = true;
                draft.field.search = self.search(&draft.field, directive);
            }
            "hasInverse" => {
                draft.inverse = self.name_argument(directive, "field");
                let is_edge = matches!(draft.field.kind, FieldKind::Edge { .. });
                if draft.inverse.is_some() && !is_edge {
                    self.complain(
                        directive.span,
                        "only an edge to another type has an inverse: remove `@hasInverse`",
                    );
                    draft.inverse = None;
                }
            }
            "default" => {
                draft.written.default = true;
                self.defaults(&mut draft.field, directive);
            }
            "deprecated" => draft.field.deprecated = self.reason(directive),
            "renamedFrom" => {
                draft.field.renamed_from = self.former_name(directive, &draft.field.name);
            }
            // Rules of costs are read from the whole text.
            "cost" | "listSize" => {}
            _ => self.not_subscribed(directive),
        }
    }

    /// `@id`.
    fn key(&mut self, draft: &mut FieldDraft, directive: Directive) {
        let [across] = self.arguments(directive, ["interface"]);
        let across = across.and_then(|value| Some((self.boolean(value)?, self.document.value(value).span)));
        let keyed = match draft.field.kind {
            FieldKind::Scalar(Scalar::String | Scalar::Int | Scalar::Int64) => !draft.field.is_list,
            FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) | FieldKind::Edge { .. } => false,
        };
        if !keyed {
            let message = match draft.field.kind {
                FieldKind::Id => "an `ID` is unique by itself: remove `@id`",
                FieldKind::Scalar(_) | FieldKind::Enum(_) | FieldKind::Edge { .. } => {
                    "`@id` stands on a String, Int or Int64, not on this: use another field as the key"
                }
            };
            return self.complain(directive.span, message);
        }
        let in_interface = self.draft(draft.field.owner).ty.kind == TypeKind::Interface;
        if let Some((true, span)) = across
            && !in_interface
        {
            self.complain(span, "`interface: true` stands on a field of an interface: move the field there");
        }
        draft.written.key = true;
        draft.field.key = Some(if across.is_some_and(|it| it.0) { Key::Interface } else { Key::Type });
    }
}

/// A key can be searched by its value without `@search`.
fn add_implied_search(field: &mut Field) {
    if field.key.is_none() {
        return;
    }
    let implied = match field.kind {
        FieldKind::Scalar(Scalar::String) => Search::Hash,
        FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) | FieldKind::Edge { .. } => Search::Number,
    };
    if !field.search.contains(&implied) && !field.search.contains(&Search::Exact) {
        // `fulltext` is the only word before `hash`.
        let at = usize::from(field.search.first() == Some(&Search::Fulltext));
        field.search.insert(at, implied);
    }
}

/// Spans of an error about `draft`: its own, and that of the repetition.
pub(super) fn both(draft: &FieldDraft, other: &FieldDraft) -> Vec<Span> {
    vec![draft.span, other.span]
}
