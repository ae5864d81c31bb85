//! Input types that say what a relationship leaves open of an input object: the members that it does not set.

use super::SchemaReader;
use crate::graphql::lookups::{OpenRest, RestType, Told, base_type};
use weir_language::json::{Json, JsonRef};
use weir_language::schema::TypeRef;

/// A member of a type that is made: its name, where the server tells it, and what is left open of it if something of it is set.
type OpenMember<'t> = (String, JsonRef<'t>, Option<OpenRest>);

impl SchemaReader<'_> {
    /// The part of `argument` that `fixed`, JSON, leaves open. `label` tells the types of relationships apart.
    pub(super) fn rest(
        &mut self,
        told: Told<'_>,
        argument: JsonRef<'_>,
        fixed: &str,
        label: &str,
    ) -> OpenRest {
        let Ok(json) = Json::parse(fixed.as_bytes(), super::DEPTH_MAX) else { return OpenRest::Nothing };
        let ty = argument.get("type").and_then(base_type);
        self.rest_of(told, ty, json.root(), label)
    }

    /// The type of `of`, an argument or input field, of which only `rest` is left open: what is set needs not be given.
    pub(super) fn open_type(&mut self, of: JsonRef<'_>, rest: Option<&OpenRest>) -> TypeRef {
        let whole = self.type_of(of);
        match rest {
            None => whole,
            Some(OpenRest::List | OpenRest::Nothing) => TypeRef { wraps: whole.wraps.nullable(), ..whole },
            Some(OpenRest::Type(made)) => self.builder.type_ref(made),
        }
    }

    /// The recursion is as deep as the value, which was read with a bound.
    fn rest_of(
        &mut self,
        told: Told<'_>,
        ty: Option<(String, String, bool)>,
        fixed: JsonRef<'_>,
        label: &str,
    ) -> OpenRest {
        match ty {
            Some((_, _, true)) if fixed.is_array() => OpenRest::List,
            Some((kind, name, false)) if kind == "INPUT_OBJECT" && fixed.is_object() => {
                self.rest_of_object(told, &name, fixed, label)
            }
            _ => OpenRest::Nothing,
        }
    }

    fn rest_of_object(&mut self, told: Told<'_>, whole: &str, fixed: JsonRef<'_>, label: &str) -> OpenRest {
        let fields = told.ty(whole).and_then(|it| it.get("inputFields"));
        let mut members: Vec<OpenMember<'_>> = Vec::new();
        for field in fields.into_iter().flat_map(JsonRef::items) {
            let name = field.get("name").and_then(JsonRef::as_str).unwrap_or_default().into_owned();
            let ty = field.get("type").and_then(base_type);
            let rest = fixed.get(&name).map(|value| self.rest_of(told, ty, value, label));
            if !matches!(rest, Some(OpenRest::Nothing)) {
                members.push((name, field, rest));
            }
        }
        if members.is_empty() {
            return OpenRest::Nothing;
        }
        let whole = self.name(whole);
        let wanted = format!("{whole}_remote_rel_{label}");
        let taken = self.rest_names.iter().filter(|it| **it == wanted).count();
        self.rest_names.push(wanted.clone());
        let name = if taken == 0 { wanted } else { format!("{wanted}_{taken}") };
        let ty = self.builder.input_object(&name, "");
        for (name, field, rest) in members {
            let ty = self.open_type(field, rest.as_ref());
            let words = field.get("description").and_then(JsonRef::as_str).unwrap_or_default();
            self.builder.input_field(&name, &words, ty);
            if rest.is_none() {
                self.default(field);
            }
        }
        let whole = self.builder.reference(&whole);
        self.rest_types.push(RestType { ty, whole });
        OpenRest::Type(name)
    }
}
