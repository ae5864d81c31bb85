//! The operators of comparison inputs, by family, with their descriptions.

use weir_relational::plan::operators::{Comparison, Tree};

/// Argument type of an operator.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    /// A value of the column's type.
    Own,
    /// A list of such.
    Owns,
    /// `true` or `false`.
    Boolean,
    String,
    Strings,
}

/// An operator: name, meaning, argument and description.
pub(super) type Operator = (&'static str, Comparison, Takes, &'static str);

pub(super) const EQUALITY: [Operator; 5] = [
    ("_eq", Comparison::Eq, Takes::Own, ""),
    ("_neq", Comparison::Neq, Takes::Own, ""),
    ("_in", Comparison::In, Takes::Owns, ""),
    ("_nin", Comparison::Nin, Takes::Owns, ""),
    ("_is_null", Comparison::IsNull, Takes::Boolean, ""),
];

pub(super) const ORDER: [Operator; 4] = [
    ("_gt", Comparison::Gt, Takes::Own, ""),
    ("_gte", Comparison::Gte, Takes::Own, ""),
    ("_lt", Comparison::Lt, Takes::Own, ""),
    ("_lte", Comparison::Lte, Takes::Own, ""),
];

pub(super) const TEXT: [Operator; 10] = [
    ("_ilike", Comparison::Ilike, Takes::Own, "does the column match the given case-insensitive pattern"),
    (
        "_iregex",
        Comparison::Iregex,
        Takes::Own,
        "does the column match the given POSIX regular expression, case insensitive",
    ),
    ("_like", Comparison::Like, Takes::Own, "does the column match the given pattern"),
    (
        "_nilike",
        Comparison::Nilike,
        Takes::Own,
        "does the column NOT match the given case-insensitive pattern",
    ),
    (
        "_niregex",
        Comparison::Niregex,
        Takes::Own,
        "does the column NOT match the given POSIX regular expression, case insensitive",
    ),
    ("_nlike", Comparison::Nlike, Takes::Own, "does the column NOT match the given pattern"),
    (
        "_nregex",
        Comparison::Nregex,
        Takes::Own,
        "does the column NOT match the given POSIX regular expression, case sensitive",
    ),
    (
        "_nsimilar",
        Comparison::Nsimilar,
        Takes::Own,
        "does the column NOT match the given SQL regular expression",
    ),
    (
        "_regex",
        Comparison::Regex,
        Takes::Own,
        "does the column match the given POSIX regular expression, case sensitive",
    ),
    ("_similar", Comparison::Similar, Takes::Own, "does the column match the given SQL regular expression"),
];

pub(super) const JSONB: [Operator; 5] = [
    ("_contained_in", Comparison::ContainedIn, Takes::Own, "is the column contained in the given json value"),
    (
        "_contains",
        Comparison::Contains,
        Takes::Own,
        "does the column contain the given json value at the top level",
    ),
    ("_has_key", Comparison::HasKey, Takes::String, "does the string exist as a top-level key in the column"),
    (
        "_has_keys_all",
        Comparison::HasKeysAll,
        Takes::Strings,
        "do all of these strings exist as top-level keys in the column",
    ),
    (
        "_has_keys_any",
        Comparison::HasKeysAny,
        Takes::Strings,
        "do any of these strings exist as top-level keys in the column",
    ),
];

pub(super) const ARRAY: [Operator; 2] = [
    ("_contained_in", Comparison::ContainedIn, Takes::Own, "is the array contained in the given array value"),
    ("_contains", Comparison::Contains, Takes::Own, "does the array contain the given value"),
];

pub(super) const TREE: [Operator; 7] = [
    (
        "_ancestor",
        Comparison::Tree(Tree::Ancestor),
        Takes::Own,
        "is the left argument an ancestor of right (or equal)?",
    ),
    (
        "_ancestor_any",
        Comparison::Tree(Tree::AncestorAny),
        Takes::Owns,
        "does array contain an ancestor of `ltree`?",
    ),
    (
        "_descendant",
        Comparison::Tree(Tree::Descendant),
        Takes::Own,
        "is the left argument a descendant of right (or equal)?",
    ),
    (
        "_descendant_any",
        Comparison::Tree(Tree::DescendantAny),
        Takes::Owns,
        "does array contain a descendant of `ltree`?",
    ),
    ("_matches", Comparison::Tree(Tree::Matches), Takes::String, "does `ltree` match `lquery`?"),
    (
        "_matches_any",
        Comparison::Tree(Tree::MatchesAny),
        Takes::Strings,
        "does `ltree` match any `lquery` in array?",
    ),
    (
        "_matches_fulltext",
        Comparison::Tree(Tree::MatchesFulltext),
        Takes::String,
        "does `ltree` match `ltxtquery`?",
    ),
];
