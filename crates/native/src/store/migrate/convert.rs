//! Conversions of values when a field changes its type, as SQL.
//!
//! **Invariant:** a converted value keeps its meaning to the last digit; rows with other values are a refusal.

use crate::layout::Database;
use crate::model::{FieldKind, Model, Scalar};
use weir_relational::catalog::ColumnType;

/// Conversion of a field's values to another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conversion {
    /// The new value, from the old one.
    pub(super) value: String,
    /// Holds for old values that no new one can be made of.
    pub(super) unfit: Option<String>,
}

/// A field's type and the model it belongs to.
pub(super) type FieldType<'m> = (FieldKind, &'m Model);

/// Conversion of an `old` value in `cell` to a `new` one. `None` if there is none.
pub(super) fn convert(
    database: Database,
    old: FieldType<'_>,
    new: FieldType<'_>,
    cell: &str,
) -> Option<Conversion> {
    let plain = |value: String| Some(Conversion { value, unfit: None });
    match (old.0, new.0) {
        (FieldKind::Id, FieldKind::Id) => plain(cell.into()),
        (FieldKind::Scalar(old), FieldKind::Scalar(new)) if old == new => plain(cell.into()),
        (FieldKind::Scalar(old), FieldKind::Scalar(new)) => scalar(database, old, new, cell),
        (FieldKind::Enum(_), FieldKind::Scalar(Scalar::String)) => plain(cell.into()),
        (FieldKind::Enum(_) | FieldKind::Scalar(Scalar::String), FieldKind::Enum(to)) => {
            let values = &new.1.enumeration(to).values;
            let known: Vec<String> = values.iter().map(|it| crate::store::ddl::literal(&it.name)).collect();
            let is_superset = match old.0 {
                FieldKind::Enum(from) => {
                    let old = &old.1.enumeration(from).values;
                    old.iter().all(|it| values.iter().any(|new| new.name == it.name))
                }
                FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Edge { .. } => false,
            };
            let unfit = (!is_superset).then(|| format!("{cell} NOT IN ({})", known.join(", ")));
            Some(Conversion { value: cell.into(), unfit })
        }
        (FieldKind::Id | FieldKind::Scalar(_) | FieldKind::Enum(_) | FieldKind::Edge { .. }, _) => None,
    }
}

fn scalar(database: Database, old: Scalar, new: Scalar, cell: &str) -> Option<Conversion> {
    let dialect = database.store_dialect();
    let name = match new {
        Scalar::Int => dialect.type_declaration(&ColumnType::Int).0,
        Scalar::Int64 => dialect.type_declaration(&ColumnType::BigInt).0,
        Scalar::Float => dialect.type_declaration(&ColumnType::Double).0,
        Scalar::String => "text",
        Scalar::Boolean | Scalar::DateTime | Scalar::Point | Scalar::Polygon | Scalar::MultiPolygon => {
            return None;
        }
    };
    let cast = format!("CAST({cell} AS {name})");
    let unfit = match (old, new) {
        (Scalar::Int, Scalar::Int64 | Scalar::Float | Scalar::String) => None,
        (Scalar::Int64, Scalar::String) => None,
        (Scalar::Float, Scalar::String) => {
            return Some(Conversion { value: dialect.float_text(cell), unfit: None });
        }
        (Scalar::Int64, Scalar::Int) => Some(format!("{cell} NOT BETWEEN -2147483648 AND 2147483647")),
        // Greater ones would lose digits.
        (Scalar::Int64, Scalar::Float) => {
            Some(format!("{cell} NOT BETWEEN -9007199254740992 AND 9007199254740992"))
        }
        (Scalar::Float, Scalar::Int) => {
            Some(format!("NOT ({cell} BETWEEN -2147483648 AND 2147483647 AND {cell} = round({cell}))"))
        }
        (Scalar::Float, Scalar::Int64) => Some(format!(
            "NOT ({cell} BETWEEN -9007199254740992 AND 9007199254740992 AND {cell} = round({cell}))"
        )),
        (Scalar::Boolean, Scalar::String) => {
            return Some(Conversion { value: dialect.boolean_text(cell), unfit: None });
        }
        (Scalar::DateTime, Scalar::String) => return Some(Conversion { value: cell.into(), unfit: None }),
        (
            Scalar::String
            | Scalar::Int
            | Scalar::Int64
            | Scalar::Float
            | Scalar::Boolean
            | Scalar::DateTime
            | Scalar::Point
            | Scalar::Polygon
            | Scalar::MultiPolygon,
            _,
        ) => return None,
    };
    Some(Conversion { value: cast, unfit })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: Scalar, new: Scalar, expected: Option<(&str, Option<&str>)>) {
        let model = Model::default();
        let old = (FieldKind::Scalar(old), &model);
        let new = (FieldKind::Scalar(new), &model);
        let found = convert(Database::Sqlite, old, new, "x");
        let found = found.as_ref().map(|it| (it.value.as_str(), it.unfit.as_deref()));
        assert_eq!(found, expected);
    }

    #[test]
    fn digits_are_kept_or_the_rows_are_named() {
        check(Scalar::Int, Scalar::Int64, Some(("CAST(x AS INTEGER)", None)));
        check(Scalar::Int, Scalar::Float, Some(("CAST(x AS REAL)", None)));
        check(
            Scalar::Int64,
            Scalar::Int,
            Some(("CAST(x AS INTEGER)", Some("x NOT BETWEEN -2147483648 AND 2147483647"))),
        );
        check(Scalar::DateTime, Scalar::String, Some(("x", None)));
        check(Scalar::Float, Scalar::String, Some(("weir_float_text(x)", None)));
        check(Scalar::String, Scalar::Int, None);
        check(Scalar::Point, Scalar::Polygon, None);
    }
}
