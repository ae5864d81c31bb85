//! Texts that come to stand in an index, whole or by their words, which takes so many bytes and no more.
//!
//! **Invariant:** a migration that is not refused builds its indexes; the database would say in the middle of it what does not fit.
//!
//! **Cost:** the lengths of all texts of a field that gets an index are read, and the words of those that may be too many.

use super::data_check::{Change, DataCheck, NAMED_MAX, Verdict, field_name, values};
use super::plan::Refusal;
use super::renames::{FieldPair, Renames};
use crate::layout::IndexKind;
use crate::model::{FieldId, FieldKind, Scalar, TypeKind};
use crate::store::database::Database;
use crate::store::{Error, Types};
use weir_relational::values::text_search::{EXCESS_BYTES_MIN, WORDS_BYTES_MAX, excess};

/// New length limits of keys: a description of each, and checks for longer values.
pub(super) fn find_new_limits(old: &Types, new: &Types, renames: Renames<'_>) -> Vec<Change> {
    let all = (0..new.model.fields.len() as u32).map(FieldId);
    let pairs = all.filter_map(|now| Some(FieldPair { before: renames.old_field(now)?, now }));
    pairs.filter_map(|it| find_new_limit(old, new, it)).collect()
}

fn find_new_limit(old: &Types, new: &Types, field: FieldPair) -> Option<Change> {
    let FieldPair { before, now } = field;
    let was = old.layout.bytes_max[before.index()];
    let max = new.layout.bytes_max[now.index()].filter(|it| was.is_none_or(|was| was > *it))?;
    let field = old.model.field(before);
    let is_text = field.kind == FieldKind::Scalar(Scalar::String);
    if !is_text || old.model.ty(field.owner).kind != TypeKind::Object {
        return None;
    }
    let name = field_name(&new.model, now);
    let (table, id, value) = values(old, before)?;
    let question = DataCheck {
        sql: format!(
            "SELECT {id} FROM {table} WHERE octet_length({value}) > {max} ORDER BY 1 LIMIT {NAMED_MAX}"
        ),
        verdict: Verdict::Forbidden {
            what: format!("there are objects with a longer `{name}`"),
            mend: "shorten it, or search it by `hash`, which takes any length".into(),
            by_id: true,
        },
    };
    Some(Change { words: format!("`{name}` takes {max} bytes at most"), questions: vec![question] })
}

/// Checks that no text has more words than a new index can hold.
pub(super) fn check_word_count(
    old: &Types,
    new: &Types,
    field: FieldPair,
    kind: IndexKind,
) -> Option<DataCheck> {
    let FieldPair { before, now } = field;
    let field = old.model.field(before);
    // Lists of an interface are in one table for all its types.
    let has_texts = field.kind == FieldKind::Scalar(Scalar::String)
        && (field.is_list || old.model.ty(field.owner).kind == TypeKind::Object)
        && matches!(kind, IndexKind::Terms | IndexKind::Fulltext);
    let (table, id, value) = values(old, before).filter(|_| has_texts)?;
    let are_long = format!("octet_length({value}) >= {EXCESS_BYTES_MIN}");
    Some(DataCheck {
        sql: format!("SELECT DISTINCT {id} FROM {table} WHERE {are_long} ORDER BY 1"),
        verdict: Verdict::Wordy {
            texts: format!("SELECT {value} FROM {table} WHERE {id} = $1 AND {are_long}"),
            name: field_name(&new.model, now),
        },
    })
}

/// Why an index of words cannot be, if one of the texts of the objects `ids` has too many.
pub(super) fn check_words(
    database: &mut Database,
    ids: &[i64],
    texts: &str,
    name: &str,
) -> Result<Option<Refusal>, Error> {
    let mut named: Vec<String> = Vec::new();
    for id in ids {
        let texts = database.query(texts, &[(*id).into()], 1)?;
        if texts.iter().any(|it| excess(&it[0].text()).is_some()) {
            named.push(format!("{id:#x}"));
        }
        if named.len() == NAMED_MAX {
            break;
        }
    }
    Ok((!named.is_empty()).then(|| Refusal {
        what: format!(
            "there are objects whose words of `{name}` take more than the {WORDS_BYTES_MAX} bytes that an index of words holds of a text ({})",
            named.join(", ")
        ),
        mend: "shorten it, or leave `term` and `fulltext` out of its `@search`".into(),
        allow: None,
    }))
}
