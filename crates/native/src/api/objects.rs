//! Objects and interfaces, aggregates over them, payloads of their mutations.

use super::core::{Core, is_union, list, plain, scalar_name};
use super::meaning::FieldMeaning;
use super::member_names::{edge_aggregate, lower_first};
use super::present::is_orderable;
use crate::model::{Field, FieldId, FieldKind, Scalar, TypeId, TypeKind};

impl Core<'_> {
    pub(super) fn object(&mut self, id: TypeId) {
        let ty = self.model.ty(id);
        match ty.kind {
            TypeKind::Interface => self.b.interface(&ty.name, &ty.description),
            TypeKind::Object | TypeKind::Union => self.b.object(&ty.name, &ty.description),
        };
        for interface in &ty.interfaces {
            self.b.implement(self.objects[interface.index()]);
        }
        for (field, it) in self.model.fields_of(id) {
            let ty = self.type_of(it, false);
            self.field(&it.name, &it.description, ty, FieldMeaning::Field(field));
            if let Some(reason) = &it.deprecated {
                self.b.deprecate(reason);
            }
            if let FieldKind::Edge { to, .. } = it.kind {
                if it.is_list { self.list_arguments(to) } else { self.filter_argument(to, false) }
            }
        }
        for (field, it) in self.model.fields_of(id) {
            self.edge_aggregate(field, it);
        }
    }

    fn edge_aggregate(&mut self, id: FieldId, field: &Field) {
        let FieldKind::Edge { to, .. } = field.kind else { return };
        if field.is_list && !is_union(self.model, to) {
            let result = plain(self.type_named("", to, "AggregateResult"));
            self.field(&edge_aggregate(&field.name), "", result, FieldMeaning::EdgeAggregate(id));
            self.filter_argument(to, false);
        }
    }

    pub(super) fn aggregate_result(&mut self, id: TypeId) {
        let name = format!("{}AggregateResult", self.model.ty(id).name);
        self.b.object(&name, "");
        let int = plain(self.common.int);
        self.field("count", "", int, FieldMeaning::Count(id));
        for (field, it) in self.model.fields_of(id) {
            let FieldKind::Scalar(scalar) = it.kind else { continue };
            if !is_orderable(it) {
                continue;
            }
            let own = plain(self.b.reference(scalar_name(scalar)));
            self.field(&format!("{}Min", it.name), "", own, FieldMeaning::Min(field));
            self.field(&format!("{}Max", it.name), "", own, FieldMeaning::Max(field));
            if matches!(scalar, Scalar::Int | Scalar::Int64 | Scalar::Float) {
                let float = plain(self.common.float);
                self.field(&format!("{}Sum", it.name), "", own, FieldMeaning::Sum(field));
                self.field(&format!("{}Avg", it.name), "", float, FieldMeaning::Avg(field));
            }
        }
    }

    pub(super) fn payloads(&mut self, id: TypeId) {
        let present = self.present(id);
        for (made, verb) in [(present.add, "Add"), (present.update, "Update"), (present.delete, "Delete")] {
            if made {
                self.payload(id, verb);
            }
        }
    }

    fn payload(&mut self, id: TypeId, verb: &str) {
        let name = &self.model.ty(id).name;
        self.b.object(&format!("{verb}{name}Payload"), "");
        let objects = list(plain(self.objects[id.index()]));
        self.field(&lower_first(name), "", objects, FieldMeaning::PayloadObjects(id));
        self.list_arguments(id);
        if verb == "Delete" {
            let string = plain(self.common.string);
            self.field("msg", "", string, FieldMeaning::Msg);
        }
        let int = plain(self.common.int);
        self.field("numUids", "", int, FieldMeaning::NumUids);
    }
}
