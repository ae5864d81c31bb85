//! Names the generated API takes for itself.
//!
//! A table `Album` brings `Album_bool_exp`, `insert_Album` and some fifty more. A second table whose own names would
//! meet those has to be called something else.

use hashbrown::HashSet;
use std::sync::LazyLock;

/// Suffixes behind a table's name in the names of its types and root fields.
pub(super) const SUFFIXES: [&str; 72] = [
    "",
    "_aggregate",
    "_aggregate_bool_exp",
    "_aggregate_bool_exp_avg",
    "_aggregate_bool_exp_bool_and",
    "_aggregate_bool_exp_bool_or",
    "_aggregate_bool_exp_corr",
    "_aggregate_bool_exp_corr_arguments",
    "_aggregate_bool_exp_count",
    "_aggregate_bool_exp_covar_samp",
    "_aggregate_bool_exp_covar_samp_arguments",
    "_aggregate_bool_exp_max",
    "_aggregate_bool_exp_min",
    "_aggregate_bool_exp_stddev_samp",
    "_aggregate_bool_exp_sum",
    "_aggregate_bool_exp_var_samp",
    "_aggregate_fields",
    "_aggregate_order_by",
    "_append_input",
    "_arr_rel_insert_input",
    "_avg_fields",
    "_avg_order_by",
    "_bool_exp",
    "_by_pk",
    "_constraint",
    "_delete_at_path_input",
    "_delete_elem_input",
    "_delete_key_input",
    "_enum",
    "_enum_comparison_exp",
    "_group",
    "_group_by",
    "_group_having",
    "_group_having_float",
    "_group_having_max",
    "_group_having_sum",
    "_group_key",
    "_group_key_order_by",
    "_group_order_by",
    "_inc_input",
    "_insert_input",
    "_many",
    "_max_fields",
    "_max_order_by",
    "_min_fields",
    "_min_order_by",
    "_mutation_response",
    "_obj_rel_insert_input",
    "_on_conflict",
    "_one",
    "_order_by",
    "_pk_columns_input",
    "_prepend_input",
    "_select_column",
    "_set_input",
    "_stddev_fields",
    "_stddev_order_by",
    "_stddev_pop_fields",
    "_stddev_pop_order_by",
    "_stddev_samp_fields",
    "_stddev_samp_order_by",
    "_stream_cursor_input",
    "_stream_cursor_value_input",
    "_sum_fields",
    "_sum_order_by",
    "_update_column",
    "_updates",
    "_var_pop_fields",
    "_var_pop_order_by",
    "_var_samp_fields",
    "_var_samp_order_by",
    "_variance_fields",
];

/// Types that belong to no table.
const TYPES: [&str; 45] = [
    "Boolean",
    "Boolean_comparison_exp",
    "Float",
    "Float_comparison_exp",
    "ID",
    "Int",
    "Int_comparison_exp",
    "Mutation",
    "Query",
    "String",
    "String_comparison_exp",
    "Subscription",
    "bigint",
    "bpchar",
    "bytea",
    "citext",
    "cursor_ordering",
    "date",
    "float8",
    "interval",
    "json",
    "jsonb",
    "jsonb_cast_exp",
    "geography_cast_exp",
    "geometry_cast_exp",
    "st_d_within_geography_input",
    "st_d_within_input",
    "st_intersects_geom_nband_input",
    "st_intersects_nband_geom_input",
    "money",
    "mutation_root",
    "no_queries_available",
    "numeric",
    "order_by",
    "query_root",
    "smallint",
    "String_array_comparison_exp",
    "subscription_root",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "uuid",
    "Node",
    "PageInfo",
];

/// Texts between two tables' names that cause a clash: if `Album` is a table, `Album_max` would clash in
/// `Album_max_order_by`.
static BETWEEN: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let of = |long: &'static str| SUFFIXES.iter().filter_map(move |short| long.strip_suffix(short));
    SUFFIXES.iter().flat_map(|&long| of(long)).filter(|between| !between.is_empty()).collect()
});

/// True if no table may be called `name`.
pub(crate) fn is_type(name: &str) -> bool {
    TYPES.contains(&name) || name.ends_with("_comparison_exp")
}

/// True if types of a table called `name` would clash with those of another table; `is_table` tests for table names.
pub(super) fn clashes_with_table(name: &str, is_table: impl Fn(&str) -> bool) -> bool {
    let cuts = name.bytes().enumerate().skip(1).filter(|&(_, byte)| byte == b'_');
    cuts.into_iter().any(|(at, _)| BETWEEN.contains(&name[at..]) && is_table(&name[..at]))
}

/// True if a column can be called `name`: the name stands beside `_and` in inputs and as a value in enums.
pub(super) fn fits_column(name: &str) -> bool {
    !["_and", "_or", "_not", "true", "false", "null"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: bool) {
        assert_eq!(clashes_with_table(name, |table| table == "Album" || table == "a_b"), expected, "{name}");
    }

    #[test]
    fn tables_that_would_share_a_generated_name_are_told_apart() {
        check("Album_aggregate", true);
        check("Album_max", true);
        check("Album_by_pk", true);
        check("Album_one", true);
        check("a_b_bool_exp", true);
        check("Album_cover", false);
        check("Track_max", false);
        check("Album", false);
        check("a_b", false);
    }

    #[test]
    fn suffixes_and_types_stand_once() {
        let unique: HashSet<&str> = SUFFIXES.iter().chain(&TYPES).copied().collect();
        assert_eq!(unique.len(), SUFFIXES.len() + TYPES.len());
    }
}
