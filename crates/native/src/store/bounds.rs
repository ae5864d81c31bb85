//! Texts that come to stand whole in an index, which takes so many bytes and no more.
//!
//! **Invariant:** a migration that is not refused builds its trees; PostgreSQL would say in the middle of it what does not fit.

use super::Types;
use super::changes::{NAMED_MAX, Question, Verdict, field_name, values};
use super::renames::Renames;
use crate::model::{FieldId, FieldKind, Scalar, TypeKind};

/// New length limits of keys, in words, with queries for longer values.
pub(super) fn bounded(old: &Types, new: &Types, renames: Renames<'_>) -> Vec<(String, Vec<Question>)> {
    let all = (0..new.model.fields.len() as u32).map(FieldId);
    all.filter_map(|now| one(old, new, (renames.old_field(now)?, now))).collect()
}

fn one(old: &Types, new: &Types, (before, now): (FieldId, FieldId)) -> Option<(String, Vec<Question>)> {
    let was = old.layout.bytes_max[before.index()];
    let max = new.layout.bytes_max[now.index()].filter(|it| was.is_none_or(|was| was > *it))?;
    let field = old.model.field(before);
    let is_text = field.kind == FieldKind::Scalar(Scalar::String);
    if !is_text || old.model.ty(field.owner).kind != TypeKind::Object {
        return None;
    }
    let name = field_name(&new.model, now);
    let (table, id, value) = values(old, before)?;
    let question = Question {
        sql: format!(
            "SELECT {id} FROM {table} WHERE octet_length({value}) > {max} ORDER BY 1 LIMIT {NAMED_MAX}"
        ),
        verdict: Verdict::Forbidden {
            what: format!("there are objects with a longer `{name}`"),
            mend: "shorten it, or search it by `hash`, which takes any length".into(),
            by_id: true,
        },
    };
    Some((format!("`{name}` takes {max} bytes at most"), vec![question]))
}
