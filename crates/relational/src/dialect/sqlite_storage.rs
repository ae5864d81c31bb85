//! Conditions on SQLite columns that may store a value in several forms: they compare values as clients see them.
//!
//! An equality asks for each way in which its value may be stored, so that an index of the column answers it. What sorts, groups or
//! counts values, and a comparison of their order, reads each as one that compares as what is given (`weir_comparable_…`).
//!
//! **Invariant:** no list holds a null: what has no other way of being stored stands for itself.

use super::Side;
use super::sqlite_comparison::{comparison, items};
use crate::catalog::Storage;
use crate::plan::operators::Comparison;

/// The alias under which the words of a truth are opened: few rows that are read once.
pub const TRUTH_WORDS: &str = "truth";

/// Converts a stored `value` to the form by which it compares as clients see it.
pub(super) fn comparable(value: String, storage: Storage) -> String {
    match storage {
        // Bytes in a column of texts stand behind all texts.
        Storage::Exact | Storage::Texts => value,
        Storage::Truths => format!("weir_comparable_truth({value})"),
        Storage::Uuids => format!("weir_comparable_uuid({value})"),
        Storage::Bytes => format!("weir_comparable_bytes({value})"),
        Storage::Documents => format!("weir_json({value})"),
        Storage::Anything => format!("weir_comparable({value})"),
    }
}

/// The new `value` of a column in the form in which the `old` one is stored.
pub(super) fn match_storage(value: String, old: &str, storage: Storage, finds_bytes: bool) -> String {
    match storage {
        Storage::Exact => value,
        Storage::Texts if !finds_bytes => value,
        Storage::Texts => format!("weir_kept_text({value}, {old})"),
        Storage::Truths => format!("weir_kept_truth({value}, {old})"),
        Storage::Uuids => format!("weir_kept_uuid({value}, {old})"),
        Storage::Bytes => format!("weir_kept_bytes({value}, {old})"),
        Storage::Documents => {
            format!("iif(weir_is_binary_json({old}), jsonb({value}), weir_kept_document({value}, {old}))")
        }
        Storage::Anything => format!("weir_kept({value}, {old})"),
    }
}

/// `left by value` for a column that may be stored in several ways; `None`: it compares as any other.
pub(super) fn compare(left: &str, by: Comparison, right: &Side<'_>, finds_bytes: bool) -> Option<String> {
    let storage = match right.storage {
        Storage::Exact | Storage::Documents => return None,
        Storage::Texts if !finds_bytes => return None,
        storage => storage,
    };
    let value = right.placeholder;
    let own = || comparable(left.to_owned(), storage);
    // The column's affinity may turn a form into another value, so these compare both the value and the form.
    let is_exact = matches!(storage, Storage::Bytes | Storage::Anything);
    let given =
        || if storage == Storage::Bytes { value.to_owned() } else { comparable(value.to_owned(), storage) };
    Some(match by {
        Comparison::Eq if is_exact => {
            format!("({} = {} AND {left} IN ({}))", own(), given(), forms(value, storage))
        }
        Comparison::Neq if is_exact => format!("{} <> {}", own(), given()),
        Comparison::Eq => format!("{left} IN ({})", forms(value, storage)),
        Comparison::Neq => format!("{left} NOT IN ({})", forms(value, storage)),
        Comparison::In | Comparison::Nin => compare_with_list(left, by == Comparison::In, right, storage),
        Comparison::Gt | Comparison::Gte | Comparison::Lt | Comparison::Lte => match storage {
            Storage::Uuids | Storage::Anything => {
                comparison(&own(), by, &comparable(value.to_owned(), storage), right)
            }
            // In the order of texts and bytes, digits of bytes stand for the bytes.
            Storage::Texts => comparison(left, by, &other(value, storage), right),
            _ => comparison(&own(), by, value, right),
        },
        _ => return None,
    })
}

/// The condition that `left` is in the bound list, or is not.
fn compare_with_list(left: &str, is_in: bool, right: &Side<'_>, storage: Storage) -> String {
    let word = if is_in { "IN" } else { "NOT IN" };
    let value = right.placeholder;
    let list = items(right.placeholder, right.reader);
    let own = comparable(left.to_owned(), storage);
    let both = || format!("{list} UNION ALL SELECT {} FROM ({list})", other("value", storage));
    match storage {
        Storage::Anything => format!("{own} {word} (SELECT weir_comparable(value) FROM ({list}))"),
        Storage::Truths => format!(
            "{left} {word} (SELECT {TRUTH_WORDS}.value FROM json_each({value}) AS item, \
             json_each(weir_truth_words(item.value)) AS {TRUTH_WORDS})"
        ),
        Storage::Bytes if is_in => format!("({own} IN ({list}) AND {left} IN ({}))", both()),
        Storage::Bytes => format!("{own} NOT IN ({list})"),
        _ => format!("{left} {word} ({})", both()),
    }
}

/// The condition that ties a column to a `value` of another row. Truths have several forms, all other storages one.
pub(super) fn tie_condition(left: &str, value: &str, storage: Storage) -> String {
    match storage {
        Storage::Truths => format!("{left} IN ({})", forms(value, storage)),
        _ => format!("{left} = {value}"),
    }
}

/// All ways in which `value` may be stored, as the inside of a list.
fn forms(value: &str, storage: Storage) -> String {
    match storage {
        Storage::Truths => {
            format!("SELECT {TRUTH_WORDS}.value FROM json_each(weir_truth_words({value})) AS {TRUTH_WORDS}")
        }
        Storage::Anything => {
            format!("{value}, weir_as_integer({value}), weir_as_real({value}), weir_as_bytes({value})")
        }
        _ => format!("{value}, {}", other(value, storage)),
    }
}

/// The other way in which `value` may be stored, or itself.
fn other(value: &str, storage: Storage) -> String {
    match storage {
        Storage::Uuids => format!("weir_uuid_bytes({value})"),
        Storage::Bytes => format!("weir_as_text({value})"),
        Storage::Exact | Storage::Texts | Storage::Truths | Storage::Documents | Storage::Anything => {
            format!("weir_as_bytes({value})")
        }
    }
}
