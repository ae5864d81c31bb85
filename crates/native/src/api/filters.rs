//! Filters and orders of objects, interfaces and unions.

use super::core::{Core, list, non_null, plain};
use super::meaning::{EnumMeaning, InputMeaning};
use super::member_names::{FILTER_WORDS, ORDER_WORDS, lower_first, member};
use super::present::{is_orderable, ordered_through};
use crate::model::{Field, FieldKind, TypeId};
use weir_language::schema::TypeRef;

impl Core<'_> {
    pub(super) fn filter(&mut self, id: TypeId) {
        self.open_input("", id, "Filter");
        for (field, it) in self.model.fields_of(id) {
            if let Some(ty) = self.filter_of(it) {
                let name = self.member(id, &it.name, FILTER_WORDS);
                self.input_field(&name, "", ty, InputMeaning::Field(field));
            }
        }
        // An interface may have nothing but an ID.
        let has_values = self.model.fields_of(id).any(|(_, it)| it.kind != FieldKind::Id);
        if has_values {
            let has = list(plain(self.type_named("", id, "HasFilter")));
            self.input_field("has", "", has, InputMeaning::Has(id));
        }
        let own = plain(self.type_named("", id, "Filter"));
        self.input_field("and", "", list(own), InputMeaning::And);
        self.input_field("or", "", list(own), InputMeaning::Or);
        self.input_field("not", "", own, InputMeaning::Not);
        if has_values {
            self.has_filter(id);
        }
    }

    fn has_filter(&mut self, id: TypeId) {
        let name = format!("{}HasFilter", self.model.ty(id).name);
        self.b.enumeration(&name, "");
        for (field, it) in self.model.fields_of(id) {
            if it.kind != FieldKind::Id {
                self.enum_value(&it.name, "", EnumMeaning::Field(field));
            }
        }
    }

    /// The name of the member for the field `name` of `id` in an input that has the members `words` too.
    fn member(&self, id: TypeId, name: &str, words: &[&str]) -> String {
        member(name, words, |it| self.model.field_by_name(id, it).is_some())
    }

    /// Filter type of a field, if it can be filtered by: a list for numbers, a value's filter, an edge's target's.
    fn filter_of(&mut self, field: &Field) -> Option<TypeRef> {
        match field.kind {
            FieldKind::Id => Some(list(non_null(self.common.id))),
            FieldKind::Edge { to, .. } => Some(plain(self.type_named("", to, "Filter"))),
            FieldKind::Scalar(_) | FieldKind::Enum(_) => self.value_filter(field).map(plain),
        }
    }

    pub(super) fn order(&mut self, id: TypeId) {
        let present = self.present(id);
        if !present.order {
            return;
        }
        self.open_input("", id, "Order");
        if present.orderable {
            let orderable = plain(self.type_named("", id, "Orderable"));
            self.input_field("asc", "", orderable, InputMeaning::Asc);
            self.input_field("desc", "", orderable, InputMeaning::Desc);
        }
        for (field, it) in self.model.fields_of(id) {
            if let Some(to) = ordered_through(it).filter(|to| self.present(*to).order) {
                let order = plain(self.type_named("", to, "Order"));
                let name = self.member(id, &it.name, ORDER_WORDS);
                self.input_field(&name, "", order, InputMeaning::Field(field));
            }
        }
        let own = plain(self.type_named("", id, "Order"));
        self.input_field("then", "", own, InputMeaning::Then);
        if present.orderable {
            let name = format!("{}Orderable", self.model.ty(id).name);
            self.b.enumeration(&name, "");
            for (field, it) in self.model.fields_of(id) {
                if is_orderable(it) {
                    self.enum_value(&it.name, "", EnumMeaning::Field(field));
                }
            }
        }
    }

    /// The filter of a union and the reference to one of its members.
    pub(super) fn union_inputs(&mut self, id: TypeId) {
        let members = &self.model.ty(id).members;
        let name = format!("{}Type", self.model.ty(id).name);
        self.b.enumeration(&name, "");
        for &member in members {
            self.enum_value(&self.model.ty(member).name, "", EnumMeaning::Member(member));
        }
        self.open_input("", id, "Filter");
        let types = list(non_null(self.type_named("", id, "Type")));
        self.input_field("memberTypes", "", types, InputMeaning::MemberTypes(id));
        for &member in members {
            let filter = plain(self.type_named("", member, "Filter"));
            let name = format!("{}Filter", lower_first(&self.model.ty(member).name));
            self.input_field(&name, "", filter, InputMeaning::Member(member));
        }
        if !self.present(id).reference {
            return;
        }
        let name = format!("{}Ref", self.model.ty(id).name);
        self.b.input_object(&name, "");
        self.b.one_of();
        for &member in members {
            if self.present(member).reference {
                let reference = plain(self.type_named("", member, "Ref"));
                let name = format!("{}Ref", lower_first(&self.model.ty(member).name));
                self.input_field(&name, "", reference, InputMeaning::Member(member));
            }
        }
    }
}
