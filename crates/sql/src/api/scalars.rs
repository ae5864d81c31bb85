//! Scalars of column types, and the inputs that compare them.

use super::core::{Core, LIST, NULLABLE, plain};
use super::meaning::{Comparison, InputMeaning};
use crate::catalog::ColumnType;
use crate::model::names::graphql_name;
use std::borrow::Cow;
use weir_language::schema::{ScalarReader, TypeId};

/// The GraphQL name of a column type. Unknown types keep their own name where it can be one.
#[must_use]
pub fn scalar_name(ty: &ColumnType) -> &str {
    match ty {
        ColumnType::SmallInt => "smallint",
        ColumnType::Int => "Int",
        ColumnType::BigInt => "bigint",
        ColumnType::Real => "Float",
        ColumnType::Double => "float8",
        ColumnType::Numeric => "numeric",
        ColumnType::Money => "money",
        ColumnType::Boolean => "Boolean",
        ColumnType::Text => "String",
        ColumnType::Char => "bpchar",
        ColumnType::CiText => "citext",
        ColumnType::Uuid => "uuid",
        ColumnType::Date => "date",
        ColumnType::Timestamp => "timestamp",
        ColumnType::TimestampTz => "timestamptz",
        ColumnType::Time => "time",
        ColumnType::TimeTz => "timetz",
        ColumnType::Interval => "interval",
        ColumnType::Json => "json",
        ColumnType::Jsonb => "jsonb",
        ColumnType::Bytes => "bytea",
        ColumnType::Other(name) => match graphql_name(name) {
            Some(Cow::Borrowed(name)) if !crate::model::is_reserved_type(name) => name,
            Some(Cow::Borrowed(_) | Cow::Owned(_)) | None => "String",
        },
    }
}

/// How a scalar is read; `None` for those every schema has.
fn reader(ty: &ColumnType) -> Option<ScalarReader> {
    match ty {
        ColumnType::Int | ColumnType::Real | ColumnType::Boolean | ColumnType::Text => None,
        ColumnType::SmallInt | ColumnType::BigInt => Some(ScalarReader::BigInt),
        ColumnType::Double | ColumnType::Numeric | ColumnType::Money => Some(ScalarReader::Decimal),
        ColumnType::Json | ColumnType::Jsonb => Some(ScalarReader::Json),
        ColumnType::Other(_) if scalar_name(ty) == "String" => None,
        ColumnType::Char
        | ColumnType::CiText
        | ColumnType::Uuid
        | ColumnType::Date
        | ColumnType::Timestamp
        | ColumnType::TimestampTz
        | ColumnType::Time
        | ColumnType::TimeTz
        | ColumnType::Interval
        | ColumnType::Bytes
        | ColumnType::Other(_) => Some(ScalarReader::Text),
    }
}

/// Whether values can be added up.
pub(super) fn is_numeric(ty: &ColumnType) -> bool {
    match ty {
        ColumnType::SmallInt
        | ColumnType::Int
        | ColumnType::BigInt
        | ColumnType::Real
        | ColumnType::Double
        | ColumnType::Numeric
        | ColumnType::Money => true,
        ColumnType::Boolean
        | ColumnType::Text
        | ColumnType::Char
        | ColumnType::CiText
        | ColumnType::Uuid
        | ColumnType::Date
        | ColumnType::Timestamp
        | ColumnType::TimestampTz
        | ColumnType::Time
        | ColumnType::TimeTz
        | ColumnType::Interval
        | ColumnType::Json
        | ColumnType::Jsonb
        | ColumnType::Bytes
        | ColumnType::Other(_) => false,
    }
}

/// Whether there is a largest value.
pub(super) fn is_comparable(ty: &ColumnType) -> bool {
    match ty {
        ColumnType::Boolean
        | ColumnType::Json
        | ColumnType::Jsonb
        | ColumnType::Bytes
        | ColumnType::Other(_) => false,
        ColumnType::Text
        | ColumnType::Char
        | ColumnType::CiText
        | ColumnType::Uuid
        | ColumnType::Date
        | ColumnType::Timestamp
        | ColumnType::TimestampTz
        | ColumnType::Time
        | ColumnType::TimeTz
        | ColumnType::Interval => true,
        ColumnType::SmallInt
        | ColumnType::Int
        | ColumnType::BigInt
        | ColumnType::Real
        | ColumnType::Double
        | ColumnType::Numeric
        | ColumnType::Money => true,
    }
}

/// Operators that take a value of the column's type.
const ORDERED: [(&str, Comparison); 6] = [
    ("_eq", Comparison::Eq),
    ("_gt", Comparison::Gt),
    ("_gte", Comparison::Gte),
    ("_lt", Comparison::Lt),
    ("_lte", Comparison::Lte),
    ("_neq", Comparison::Neq),
];

/// Operators over texts.
const TEXT: [(&str, Comparison, &str); 10] = [
    ("_ilike", Comparison::Ilike, "does the column match the given case-insensitive pattern"),
    (
        "_iregex",
        Comparison::Iregex,
        "does the column match the given POSIX regular expression, case insensitive",
    ),
    ("_like", Comparison::Like, "does the column match the given pattern"),
    ("_nilike", Comparison::Nilike, "does the column NOT match the given case-insensitive pattern"),
    (
        "_niregex",
        Comparison::Niregex,
        "does the column NOT match the given POSIX regular expression, case insensitive",
    ),
    ("_nlike", Comparison::Nlike, "does the column NOT match the given pattern"),
    (
        "_nregex",
        Comparison::Nregex,
        "does the column NOT match the given POSIX regular expression, case sensitive",
    ),
    ("_nsimilar", Comparison::Nsimilar, "does the column NOT match the given SQL regular expression"),
    ("_regex", Comparison::Regex, "does the column match the given POSIX regular expression, case sensitive"),
    ("_similar", Comparison::Similar, "does the column match the given SQL regular expression"),
];

impl Core {
    /// The scalar of a column type and the input that compares it; [`Self::define_scalars`] defines both.
    pub(super) fn scalar_uses(&mut self, ty: &ColumnType) -> (TypeId, TypeId) {
        if let Some(&(_, scalar, comparison)) = self.scalars.iter().find(|(known, ..)| known == ty) {
            return (scalar, comparison);
        }
        let name = scalar_name(ty);
        let scalar = self.b.reference(name);
        let comparison = self.b.reference(&format!("{name}_comparison_exp"));
        self.scalars.push((ty.clone(), scalar, comparison));
        (scalar, comparison)
    }

    /// Defines all scalars that were used, and their comparisons.
    pub(super) fn define_scalars(&mut self) {
        let jsonb = self.scalars.iter().any(|(ty, ..)| *ty == ColumnType::Jsonb);
        if jsonb {
            let (_, text) = self.scalar_uses(&ColumnType::Text);
            self.b.input_object("jsonb_cast_exp", "");
            self.input_field("String", "", plain(text), InputMeaning::Cast);
        }
        let mut defined: Vec<TypeId> = Vec::new();
        for (ty, scalar, _) in std::mem::take(&mut self.scalars) {
            if defined.contains(&scalar) {
                continue;
            }
            defined.push(scalar);
            let name = scalar_name(&ty);
            if let Some(reader) = reader(&ty) {
                self.b.scalar(name, "", reader);
            }
            let text = matches!(ty, ColumnType::Char | ColumnType::CiText) || name == "String";
            let words = format!(
                "Boolean expression to compare columns of type \"{name}\". All fields are combined with logical 'AND'."
            );
            self.b.input_object(&format!("{name}_comparison_exp"), &words);
            self.comparisons(scalar, text, ty == ColumnType::Jsonb);
        }
    }

    /// The members of a comparison that is open.
    fn comparisons(&mut self, scalar: TypeId, text: bool, jsonb: bool) {
        for (name, operator) in ORDERED {
            self.input_field(name, "", plain(scalar), InputMeaning::Compare(operator));
        }
        self.equality_lists(scalar);
        if text {
            for (name, operator, words) in TEXT {
                self.input_field(name, words, plain(scalar), InputMeaning::Compare(operator));
            }
        }
        if jsonb {
            self.json_comparisons(scalar);
        }
    }

    /// `_in`, `_is_null`, `_nin`.
    fn equality_lists(&mut self, base: TypeId) {
        self.list_field("_in", base, Comparison::In);
        let boolean = self.b.reference("Boolean");
        self.input_field("_is_null", "", plain(boolean), InputMeaning::Compare(Comparison::IsNull));
        self.list_field("_nin", base, Comparison::Nin);
    }

    fn list_field(&mut self, name: &str, base: TypeId, operator: Comparison) {
        let ty = weir_language::schema::TypeRef { base, wraps: LIST };
        self.input_field(name, "", ty, InputMeaning::Compare(operator));
    }

    fn json_comparisons(&mut self, jsonb: TypeId) {
        let string = self.b.reference("String");
        let cast = self.b.reference("jsonb_cast_exp");
        let strings = weir_language::schema::TypeRef { base: string, wraps: LIST };
        let members = [
            (
                "_contained_in",
                plain(jsonb),
                Comparison::ContainedIn,
                "is the column contained in the given json value",
            ),
            (
                "_contains",
                plain(jsonb),
                Comparison::Contains,
                "does the column contain the given json value at the top level",
            ),
            (
                "_has_key",
                plain(string),
                Comparison::HasKey,
                "does the string exist as a top-level key in the column",
            ),
            (
                "_has_keys_all",
                strings,
                Comparison::HasKeysAll,
                "do all of these strings exist as top-level keys in the column",
            ),
            (
                "_has_keys_any",
                strings,
                Comparison::HasKeysAny,
                "do any of these strings exist as top-level keys in the column",
            ),
        ];
        self.input_field("_cast", "", plain(cast), InputMeaning::Cast);
        for (name, ty, operator, words) in members {
            self.input_field(name, words, ty, InputMeaning::Compare(operator));
        }
    }

    /// The comparison of an enum table's values.
    pub(super) fn enum_comparison(&mut self, name: &str, values: TypeId) {
        let words = format!(
            "Boolean expression to compare columns of type \"{name}\". All fields are combined with logical 'AND'."
        );
        self.b.input_object(&format!("{name}_comparison_exp"), &words);
        let value = weir_language::schema::TypeRef { base: values, wraps: NULLABLE };
        self.input_field("_eq", "", value, InputMeaning::Compare(Comparison::Eq));
        self.input_field("_neq", "", value, InputMeaning::Compare(Comparison::Neq));
        self.equality_lists(values);
    }
}
