//! Inputs of mutations: objects to add, patches, references.

use super::core::{Core, non_null, plain, with_required};
use super::meaning::InputMeaning;
use super::present::{is_in_reference, is_input};
use crate::model::{Field, FieldId, FieldKind, TypeId, TypeKind};

impl<'m> Core<'m> {
    pub(super) fn inputs(&mut self, id: TypeId) {
        let present = self.present(id);
        if present.add {
            self.open_input("Add", id, "Input");
            for (field, it) in self.input_fields(id) {
                let ty = self.type_of(it, true);
                let ty = with_required(ty, it.is_required && it.default_add.is_none());
                self.input_field(&it.name, &it.description, ty, InputMeaning::Field(field));
            }
            self.secret_field(id, true);
        }
        if present.update {
            self.update(id);
        }
        if present.reference {
            self.reference(id);
        }
    }

    /// Fields that inputs have: all but the object's number and edges to objects that cannot be referred to.
    fn input_fields(&self, id: TypeId) -> Vec<(FieldId, &'m Field)> {
        let given = |it: &(FieldId, &Field)| it.1.kind != FieldKind::Id && is_input(&self.present, it.1);
        self.model.fields_of(id).filter(given).collect()
    }

    fn update(&mut self, id: TypeId) {
        self.open_input("Update", id, "Input");
        let filter = non_null(self.type_named("", id, "Filter"));
        self.input_field("filter", "", filter, InputMeaning::Filter(id));
        let patch = plain(self.type_named("", id, "Patch"));
        self.input_field("set", "", patch, InputMeaning::Set(id));
        self.input_field("remove", "", patch, InputMeaning::Remove(id));

        self.open_input("", id, "Patch");
        for (field, it) in self.input_fields(id) {
            let ty = self.type_of(it, true);
            self.input_field(&it.name, &it.description, with_required(ty, false), InputMeaning::Field(field));
        }
        self.secret_field(id, false);
    }

    fn reference(&mut self, id: TypeId) {
        let model = self.model;
        let fields = model.fields_of(id).filter(|it| is_in_reference(model, &self.present, it.1));
        let fields: Vec<(FieldId, &Field)> = fields.collect();
        let secret = model.ty(id).kind == TypeKind::Object && model.ty(id).secret.is_some();
        let only = fields.len() == 1 && !secret;
        self.open_input("", id, "Ref");
        for (field, it) in fields {
            let ty = self.type_of(it, true);
            self.input_field(&it.name, &it.description, with_required(ty, only), InputMeaning::Field(field));
        }
        if secret {
            self.secret_field(id, false);
        }
    }

    fn secret_field(&mut self, id: TypeId, is_required: bool) {
        if let Some(secret) = &self.model.ty(id).secret {
            let string = with_required(plain(self.common.string), is_required);
            self.input_field(&secret.name, "", string, InputMeaning::Secret(id));
        }
    }
}
