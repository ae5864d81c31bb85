//! Errors of names without effect: `@renamedFrom` with a name that is still in use, permission to lose data that does not
//! exist.
//!
//! A name that is in use keeps its values, so such a rename would do nothing, and nobody would see it. What the old text said
//! already has been done, or was refused.

use super::data_check::{Change, DataCheck, Verdict};
use super::plan::Refusal;
use super::renames::Renames;
use crate::model::{FieldId, Model};
use crate::store::ddl::literal;
use weir_language::suggest::find_near;

/// Renames from a name that stays, in words, each with a question that is answered.
pub(super) fn find_stale_renames(renames: Renames<'_>) -> Vec<Change> {
    let old = renames.old;
    let new = renames.new;
    let mut found = Vec::new();
    for ty in &new.types {
        let Some(from) = ty.renamed_from.as_deref().filter(|it| new.type_by_name(it).is_some()) else {
            continue;
        };
        let was = old.type_by_name(&ty.name).and_then(|it| old.ty(it).renamed_from.as_deref());
        if was != Some(from) && old.type_by_name(from).is_some() {
            found.push(refuse_rename(&ty.name, from));
        }
    }
    for field in &new.fields {
        let in_use = |it: &&str| new.field_by_name(field.owner, it).is_some();
        let Some(from) = field.renamed_from.as_deref().filter(in_use) else { continue };
        let Some(owner) = renames.old_type(field.owner) else { continue };
        let before = old.field_by_name(owner, &field.name);
        let was = before.and_then(|it| old.field(it).renamed_from.as_deref());
        if was != Some(from) && old.field_by_name(owner, from).is_some() && field.inherited_from.is_none() {
            found.push(refuse_rename(&format!("{}.{}", new.ty(field.owner).name, field.name), from));
        }
    }
    found
}

/// A rename of `from`, which has a name of its own still, to `name`.
fn refuse_rename(name: &str, from: &str) -> Change {
    let question = DataCheck {
        sql: format!("SELECT {}", literal(from)),
        verdict: Verdict::Forbidden {
            what: format!("`{name}` cannot be renamed from a name that is in use"),
            mend: "give that one a name of its own first, and this one its name with a second migration, or take `@renamedFrom` away".into(),
            by_id: false,
        },
    };
    Change { words: format!("rename `{from}` to `{name}`"), questions: vec![question] }
}

/// Refusals for allowed losses that name no type or field of the store.
pub(super) fn check_allowed_names(model: &Model, allowed: &[String]) -> Vec<Refusal> {
    let types = model.types.iter().map(|it| it.name.clone());
    let field = |at: u32| {
        let field = model.field(FieldId(at));
        format!("{}.{}", model.ty(field.owner).name, field.name)
    };
    let fields = (0..model.fields.len() as u32).map(field);
    let secrets =
        model.types.iter().filter_map(|it| Some(format!("{}.{}", it.name, it.secret.as_ref()?.name)));
    let known: Vec<String> = types.chain(fields).chain(secrets).collect();
    let unknown = allowed.iter().filter(|it| !known.contains(it));
    let refusal = |name: &String| Refusal {
        what: format!("`{name}`, which may be lost, is no type and no field of the store"),
        mend: match find_near(name, known.iter().map(String::as_str)).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name a type, or a field as `Dish.pic`".into(),
        },
        allow: None,
    };
    unknown.map(refusal).collect()
}
