//! `Query`, `Mutation` and `Subscription`.

use super::core::{Core, list, non_null, plain, with_required};
use super::meaning::{FieldMeaning, InputMeaning};
use crate::model::{FieldId, TypeId};
use weir_language::schema::TypeRef;

impl Core<'_> {
    pub(super) fn roots(&mut self) {
        let query = self.b.object("Query", "");
        for id in self.model.type_ids() {
            self.reads(id);
            self.password(id);
        }
        self.b.query(query);
        let changes = |it: &super::present::Present| it.add || it.update || it.delete;
        if self.present.iter().any(changes) {
            let mutation = self.b.object("Mutation", "");
            for id in self.model.type_ids() {
                self.mutations(id);
            }
            self.b.mutation(mutation);
        }
        let is_read = |it: &super::present::Present| it.get || it.query || it.aggregate;
        let is_live = |id: &TypeId| self.model.ty(*id).generate.subscription && is_read(&self.present(*id));
        let live: Vec<TypeId> = self.model.type_ids().filter(is_live).collect();
        if !live.is_empty() {
            let subscription = self.b.object("Subscription", "");
            live.into_iter().for_each(|id| self.reads(id));
            self.b.subscription(subscription);
        }
    }

    /// The fields of the open root that show objects, which can be subscribed to.
    fn reads(&mut self, id: TypeId) {
        let name = &self.model.ty(id).name;
        let present = self.present(id);
        let object = plain(self.objects[id.index()]);
        if present.get {
            self.field(&format!("get{name}"), "", object, FieldMeaning::Get(id));
            let keys: Vec<FieldId> = self.model.id_of(id).into_iter().chain(self.model.keys_of(id)).collect();
            let only = keys.len() == 1;
            for key in keys {
                self.name_argument(key, only);
            }
        }
        if present.query {
            self.field(&format!("query{name}"), "", list(object), FieldMeaning::Query(id));
            self.list_arguments(id);
        }
        if present.aggregate {
            let result = plain(self.type_named("", id, "AggregateResult"));
            self.field(&format!("aggregate{name}"), "", result, FieldMeaning::Aggregate(id));
            self.filter_argument(id, false);
        }
    }

    fn password(&mut self, id: TypeId) {
        let name = &self.model.ty(id).name;
        if !self.present(id).password {
            return;
        }
        let object = plain(self.objects[id.index()]);
        self.field(&format!("check{name}Password"), "", object, FieldMeaning::CheckPassword(id));
        if let Some(key) = self.model.id_of(id).or_else(|| self.model.keys_of(id).next()) {
            self.name_argument(key, true);
        }
        if let Some(secret) = &self.model.ty(id).secret {
            let string = non_null(self.common.string);
            self.argument(&secret.name, string, InputMeaning::Secret(id));
        }
    }

    /// The argument that names an object by a key.
    fn name_argument(&mut self, key: FieldId, is_required: bool) {
        let field = self.model.field(key);
        let ty = self.type_of(field, true);
        self.argument(&field.name, with_required(ty, is_required), InputMeaning::Field(key));
    }

    fn mutations(&mut self, id: TypeId) {
        let name = &self.model.ty(id).name;
        let present = self.present(id);
        if present.add {
            let payload = plain(self.type_named("Add", id, "Payload"));
            self.field(&format!("add{name}"), "", payload, FieldMeaning::Add(id));
            let input = self.type_named("Add", id, "Input");
            let inputs = with_required(list(non_null(input)), true);
            self.argument("input", inputs, InputMeaning::Input(id));
            if self.has_keys(id) {
                let boolean = plain(self.common.boolean);
                self.argument("upsert", boolean, InputMeaning::Upsert);
            }
        }
        if present.update {
            let payload = plain(self.type_named("Update", id, "Payload"));
            self.field(&format!("update{name}"), "", payload, FieldMeaning::Update(id));
            let input = non_null(self.type_named("Update", id, "Input"));
            self.argument("input", input, InputMeaning::Input(id));
        }
        if present.delete {
            let payload = plain(self.type_named("Delete", id, "Payload"));
            self.field(&format!("delete{name}"), "", payload, FieldMeaning::Delete(id));
            self.filter_argument(id, true);
        }
    }

    /// `filter` of the field added last.
    pub(super) fn filter_argument(&mut self, id: TypeId, is_required: bool) {
        let filter = self.type_named("", id, "Filter");
        let ty: TypeRef = if is_required { non_null(filter) } else { plain(filter) };
        self.argument("filter", ty, InputMeaning::Filter(id));
    }

    /// The arguments of a list of objects.
    pub(super) fn list_arguments(&mut self, id: TypeId) {
        self.filter_argument(id, false);
        if self.present(id).order {
            let order = plain(self.type_named("", id, "Order"));
            self.argument("order", order, InputMeaning::Order(id));
        }
        let int = plain(self.common.int);
        self.argument("first", int, InputMeaning::First);
        self.argument("offset", int, InputMeaning::Offset);
    }
}
