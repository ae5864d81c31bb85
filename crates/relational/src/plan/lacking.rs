//! Operators that types of PostgreSQL's own lack.
//!
//! A statement with one of them fails as one whose column changed its type does, so it is refused before. Types of extensions that lack
//! operators are not known here: the database refuses them.
//!
//! Source: `pg_operator` and `pg_opclass` of PostgreSQL 15.

use super::operators::Comparison;
use crate::catalog::ColumnType;

/// The comparisons that a type lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lack {
    /// Nothing is missing.
    Nothing,
    /// Sorting alone.
    Order,
    /// Sorting, and `<>`.
    Inequality,
    /// Sorting, and all but `=` and `<>`.
    Comparing,
    /// Sorting, and all but `=`.
    AllButEquality,
    /// Sorting, and all but `<>`.
    AllButInequality,
    /// Sorting, and all.
    All,
}

impl ColumnType {
    fn lack(&self) -> Lack {
        match self {
            // Compared as `jsonb`.
            Self::Json => Lack::Order,
            Self::Other(name) => match name.as_str() {
                "xml" | "polygon" | "jsonpath" | "pg_snapshot" | "txid_snapshot" | "refcursor" => Lack::All,
                "point" => Lack::AllButInequality,
                "line" | "cid" | "aclitem" => Lack::AllButEquality,
                "box" | "path" => Lack::Inequality,
                "xid" => Lack::Comparing,
                "lseg" | "circle" => Lack::Order,
                _ => Lack::Nothing,
            },
            Self::Array(element) if element.is_hashed() => Lack::Comparing,
            // Its comparisons are those of sorting.
            Self::Array(element) if element.is_unsorted() => Lack::All,
            _ => Lack::Nothing,
        }
    }

    /// Says whether PostgreSQL has hashes of values of this type, and no order.
    fn is_hashed(&self) -> bool {
        matches!(self, Self::Other(name) if matches!(name.as_str(), "xid" | "cid" | "aclitem"))
    }

    /// Says whether PostgreSQL can put values of this type in no order.
    #[must_use]
    pub fn is_unsorted(&self) -> bool {
        self.lack() != Lack::Nothing
    }

    /// Says whether PostgreSQL cannot group values of this type.
    #[must_use]
    pub fn is_untold(&self) -> bool {
        self.is_unsorted() && !self.element().unwrap_or(self).is_hashed()
    }

    /// The operator of `by`, if PostgreSQL has none for values of this type.
    #[must_use]
    pub fn lacks(&self, by: Comparison) -> Option<&'static str> {
        let operator = match by {
            Comparison::Eq | Comparison::In => "=",
            Comparison::Neq | Comparison::Nin => "<>",
            Comparison::Gt => ">",
            Comparison::Gte => ">=",
            Comparison::Lt => "<",
            Comparison::Lte => "<=",
            _ => return None,
        };
        let is_missing = match self.lack() {
            Lack::Nothing | Lack::Order => false,
            Lack::Inequality => operator == "<>",
            Lack::Comparing => !matches!(operator, "=" | "<>"),
            Lack::AllButEquality => operator != "=",
            Lack::AllButInequality => operator != "<>",
            Lack::All => true,
        };
        is_missing.then_some(operator)
    }

    /// PostgreSQL's name for a type that lacks a comparison.
    #[must_use]
    pub fn words(&self) -> String {
        let name = self.own_name().unwrap_or("json");
        if self.element().is_some() { format!("{name}[]") } else { name.to_owned() }
    }
}
