//! Values that become unique, with the questions whether they are, and those that need not be any more.

use super::data_check::{DataCheck, NAMED_MAX, Verdict, field_name, values};
use super::differences::Differences;
use crate::model::{FieldId, Key, TypeId, TypeKind};

impl Differences<'_> {
    /// Keys that values have to be unique for from now on.
    pub(super) fn keys(&mut self) {
        for (at, field) in self.new.model.fields.iter().enumerate() {
            let id = FieldId(at as u32);
            let Some(before) = self.renames.old_field(id) else { continue };
            let was = self.old.model.field(before).key;
            let words = format!("values of `{}` become unique", field_name(&self.new.model, id));
            match (was, field.key) {
                (Some(Key::Type) | None, Some(Key::Interface)) => {
                    let questions = self.duplicates_over_members(id);
                    self.add(words, questions);
                }
                (None, Some(Key::Type)) if Self::is_object(&self.new.model, field) => {
                    let question = self.duplicates(&[before], &field_name(&self.new.model, id));
                    self.add(words, question.into_iter().collect());
                }
                (Some(_), None) => {
                    self.add(words.replace("become unique", "need not be unique any more"), Vec::new());
                }
                (Some(Key::Interface), Some(Key::Type)) => {
                    self.add(words.replace("become unique", "become unique in each type alone"), Vec::new());
                }
                (_, _) => {}
            }
        }
        self.keys_together();
    }

    /// Notes groups of fields whose values become unique together, or need not be any more.
    fn keys_together(&mut self) {
        for (id, ty) in self.new.model.type_ids().zip(&self.new.model.types) {
            let Some(before) = self.renames.old_type(id).filter(|_| ty.kind == TypeKind::Object) else {
                continue;
            };
            for key in &ty.unique {
                let was: Vec<FieldId> = key.iter().filter_map(|&it| self.renames.old_field(it)).collect();
                let names: Vec<&str> = key.iter().map(|&it| self.new.model.field(it).name.as_str()).collect();
                let name = format!("{}({})", ty.name, names.join(", "));
                if was.len() == key.len() && !self.old.model.ty(before).unique.contains(&was) {
                    let question = self.duplicates(&was, &name);
                    self.add(format!("values of `{name}` become unique"), question.into_iter().collect());
                }
            }
            let before = self.old.model.ty(before);
            for key in &before.unique {
                let is: Vec<FieldId> = key.iter().filter_map(|&it| self.renames.new_field(it)).collect();
                if is.len() == key.len() && !ty.unique.contains(&is) {
                    let names: Vec<&str> =
                        is.iter().map(|&it| self.new.model.field(it).name.as_str()).collect();
                    let name = format!("{}({})", ty.name, names.join(", "));
                    self.add(format!("values of `{name}` need not be unique any more"), Vec::new());
                }
            }
        }
    }

    fn duplicates(&self, fields: &[FieldId], name: &str) -> Option<DataCheck> {
        let places: Vec<_> = fields.iter().filter_map(|&it| values(self.old, it)).collect();
        let table = &places.first()?.0;
        let cells: Vec<&str> = places.iter().map(|it| it.2.as_str()).collect();
        let filled: Vec<String> = cells.iter().map(|it| format!("{it} IS NOT NULL")).collect();
        let cells = cells.join(", ");
        Some(DataCheck {
            sql: format!(
                "SELECT {cells} FROM {table} WHERE {} GROUP BY {cells} HAVING count(*) > 1 ORDER BY 1 LIMIT {NAMED_MAX}",
                filled.join(" AND ")
            ),
            verdict: duplicate(name),
        })
    }

    /// Checks for duplicates among all objects of an interface.
    fn duplicates_over_members(&self, id: FieldId) -> Vec<DataCheck> {
        let field = self.new.model.field(id);
        let owner = self.new.model.ty(field.owner);
        if owner.kind != TypeKind::Interface {
            return Vec::new();
        }
        let of_member = |&member: &TypeId| {
            let copy = self.new.model.field_by_name(member, &field.name)?;
            let (table, _, value) = values(self.old, self.renames.old_field(copy)?)?;
            Some(format!("SELECT {value} AS v FROM {table} WHERE {value} IS NOT NULL"))
        };
        let selects: Vec<String> = owner.members.iter().filter_map(of_member).collect();
        if selects.is_empty() {
            return Vec::new();
        }
        let sql = format!(
            "SELECT v FROM ({}) AS every GROUP BY v HAVING count(*) > 1 ORDER BY 1 LIMIT {NAMED_MAX}",
            selects.join(" UNION ALL ")
        );
        vec![DataCheck { sql, verdict: duplicate(&field_name(&self.new.model, id)) }]
    }
}

fn duplicate(name: &str) -> Verdict {
    Verdict::Forbidden {
        what: format!("values of `{name}` stand more than once"),
        mend: "make them different first".into(),
        by_id: false,
    }
}
