//! Rules for the names that the types and fields of a server have in the graph.
//!
//! Source: Hasura v2, `customization` of remote schemas. `@graphql(prefix:)` is a naming too.

use std::collections::BTreeMap;
use weir_language::schema::builtin;

/// Names of a kind: the ones in the mapping, others with prefix and suffix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameRule {
    /// Put before names that are not in `mapping`.
    pub prefix: String,
    /// Put behind names that are not in `mapping`.
    pub suffix: String,
    /// Names in the graph by those of the server.
    pub mapping: BTreeMap<String, String>,
}

impl NameRule {
    fn apply(&self, own: &str) -> String {
        match self.mapping.get(own) {
            Some(name) => name.clone(),
            None => format!("{}{own}{}", self.prefix, self.suffix),
        }
    }
}

/// Rule for the names of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// Names of types. Built-in scalars keep theirs.
    pub types: NameRule,
    /// True if the rule of types is for root types too.
    pub renames_roots: bool,
    /// Names of fields by the server's names of the types that have them.
    pub fields: BTreeMap<String, NameRule>,
    /// Put before the names of root fields without a rule of their own.
    pub root_fields_prefix: String,
    /// Field of the graph's roots that holds the root fields.
    pub namespace: Option<String>,
}

impl Naming {
    /// All types and root fields have `prefix`.
    pub fn with_prefix(prefix: &str) -> Self {
        let types = NameRule { prefix: prefix.to_owned(), ..NameRule::default() };
        Self { types, renames_roots: true, root_fields_prefix: prefix.to_owned(), ..Self::default() }
    }

    /// The graph's name of the type that the server calls `own`.
    pub(crate) fn type_name(&self, own: &str, is_root: bool) -> String {
        if builtin::is_built_in_name(own) || is_root && !self.renames_roots {
            own.to_owned()
        } else {
            self.types.apply(own)
        }
    }

    /// The graph's name of the field that the server calls `own`, of the type that it calls `parent`.
    pub(crate) fn field_name(&self, parent: &str, own: &str, is_root: bool) -> String {
        match self.fields.get(parent) {
            _ if own.starts_with("__") => own.to_owned(),
            Some(rule) => rule.apply(own),
            None if is_root => format!("{}{own}", self.root_fields_prefix),
            None => own.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(prefix: &str, suffix: &str, mapping: &[(&str, &str)]) -> NameRule {
        let mapping = mapping.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        NameRule { prefix: prefix.into(), suffix: suffix.into(), mapping }
    }

    #[test]
    fn a_mapping_wins_over_prefix_and_suffix() {
        let naming = Naming {
            types: rule("pay_", "_t", &[("Bill", "Invoice")]),
            fields: [("Bill".to_owned(), rule("p_", "", &[("id", "number")]))].into(),
            ..Naming::default()
        };
        for (own, expected) in [("Bill", "Invoice"), ("Sum", "pay_Sum_t"), ("Int", "Int"), ("ID", "ID")] {
            assert_eq!(naming.type_name(own, false), expected);
        }
        assert_eq!(naming.type_name("Query", true), "Query");
        for (parent, own, expected) in [
            ("Bill", "id", "number"),
            ("Bill", "sum", "p_sum"),
            ("Sum", "id", "id"),
            ("Bill", "__typename", "__typename"),
        ] {
            assert_eq!(naming.field_name(parent, own, false), expected);
        }
    }

    #[test]
    fn a_prefix_is_for_types_and_root_fields() {
        let naming = Naming::with_prefix("shop_");
        assert_eq!(naming.type_name("Query", true), "shop_Query");
        assert_eq!(naming.field_name("Query", "product", true), "shop_product");
        assert_eq!(naming.field_name("Product", "name", false), "name");
    }
}
