//! Attacks on permissions, sessions and statements, each with the tests that hold it off.
//!
//! **Invariant:** every attack has a test, and every test named here is there: a renamed one breaks the build.

use crate::rules::{all_files, none};

/// Number and name of an attack, and the functions that test it.
const ATTACKS: &[(u32, &str, &[&str])] = &[
    (52, "SQL in texts", &["client_texts_are_never_sql_or_names_of_session_variables"]),
    (53, "SQL in paths, keys and documents", &["json_paths_and_keys_are_never_sql"]),
    (
        54,
        "SQL in session variables, and variables that are not there",
        &[
            "session_variables_are_bound_whatever_their_text",
            "session_variables_of_presets_and_checks_are_required",
        ],
    ),
    (
        55,
        "altered cursors and identifiers",
        &[
            "forged_cursors_are_refused",
            "forged_identifiers_are_refused",
            "pages_are_those_of_a_list_on_postgres",
        ],
    ),
    (56, "SQL in names of the database", &["database_names_are_quoted_mapped_or_left_out"]),
    (57, "aliases beyond 63 bytes", &["long_aliases_that_differ_in_the_last_byte_stay_distinct"]),
    (58, "orders that are unknown, long or through relationships", &["order_by_is_well_defined_or_refused"]),
    (
        65,
        "tokens without or with a foreign algorithm or signature",
        &["jwt_attack_alg_none_or_of_another_family_is_refused", "jwt_attack_on_the_signature_is_refused"],
    ),
    (
        66,
        "keys and addresses in the head of a token",
        &["jwt_attack_through_the_head_is_refused_or_without_effect"],
    ),
    (
        67,
        "times, audience, issuer, duplicates and size of a token",
        &[
            "jwt_times_audience_and_issuer_are_checked",
            "jwt_times_have_the_edge_of_the_skew",
            "jwt_audience_and_issuer_have_to_be_there_and_right",
            "jwt_attack_by_size_nesting_or_duplicates_is_refused",
            "jwt_place_is_exactly_the_configured_one",
        ],
    ),
    (
        68,
        "roles and session headers of clients",
        &[
            "jwt_role_is_one_of_the_token_s",
            "the_unauthorized_role_has_no_session_of_its_own",
            "session_headers_that_do_not_count_are_logged_and_counted",
        ],
    ),
    (
        69,
        "guessed secrets",
        &["every_secret_is_compared_whole", "who_guesses_the_secret_is_not_listened_to_for_a_while"],
    ),
    (
        70,
        "addresses of operators",
        &[
            "every_address_denies_whoever_is_not_admin",
            "no_page_of_another_origin_reaches_an_operator_s_address",
            "nobody_but_the_admin_asks_and_no_page_of_another_origin",
        ],
    ),
    (
        71,
        "hidden columns, relationships and members of upserts",
        &[
            "hidden_columns_are_unknown_everywhere",
            "relationships_to_hidden_tables_are_unknown_everywhere",
            "upsert_types_are_visible_only_to_roles_that_insert",
            "introspection_lists_exactly_what_a_role_may_name",
        ],
    ),
    (
        72,
        "conditions, orders and aggregates over hidden rows",
        &[
            "conditions_over_relationships_see_no_hidden_row",
            "conditions_of_writes_see_no_hidden_row",
            "nested_conditions_and_orders_see_no_hidden_row",
            "a_role_reads_what_the_admin_reads_of_its_rows_on_sqlite",
            "a_role_reads_what_the_admin_reads_of_its_rows_on_postgres",
            "filters_and_orders_through_edges_tell_nothing_of_hidden_objects",
            "a_caller_reads_what_the_admin_reads_where_only_that_is_on_sqlite",
            "a_caller_reads_what_the_admin_reads_where_only_that_is_on_postgres",
        ],
    ),
    (
        73,
        "a filtered row by its key",
        &["a_filtered_row_looks_missing", "tables_that_a_role_does_not_see_are_no_nodes"],
    ),
    (
        74,
        "writes beyond check, filter and preset",
        &[
            "no_write_violates_its_check_or_presets",
            "rows_passed_as_variables_are_checked_and_preset",
            "an_upsert_passes_the_check_of_its_branch",
            "an_update_without_check_keeps_rows_in_the_filter",
            "an_upsert_without_update_check_passes_the_insert_check_and_stays_in_the_filter",
            "a_partner_that_is_taken_has_to_be_one_the_caller_may_update",
            "a_role_writes_what_it_may_on_sqlite",
            "a_role_writes_what_it_may_on_postgres",
            "no_write_touches_or_leaves_what_the_rules_forbid",
        ],
    ),
    (75, "nested rows without permission", &["nested_rows_pass_their_own_permissions"]),
    (
        76,
        "inherited and unknown roles",
        &[
            "inherited_roles_get_exactly_the_union",
            "inherited_roles_agree_on_a_write_in_any_order_of_its_parts",
            "orders_and_aggregates_of_related_rows_ignore_hidden_cells",
        ],
    ),
    (77, "types of hidden tables", &["types_of_hidden_tables_are_unknown"]),
    (
        78,
        "names and values of what is hidden, in errors, suggestions and plans",
        &[
            "errors_name_nothing_hidden",
            "suggestions_and_refusals_name_nothing_hidden",
            "hidden_rows_change_no_byte_of_any_answer",
            "hidden_tables_and_columns_change_no_byte_of_any_answer",
            "a_violated_constraint_reads_the_same_for_hidden_and_visible_rows",
            "a_hidden_object_in_the_way_is_answered_as_one_that_is_seen",
        ],
    ),
    (79, "time of a filtered and of a missing row", &["a_hidden_row_and_a_missing_row_share_one_plan"]),
    (
        80,
        "answers that are kept or shared in flight",
        &[
            "callers_of_one_role_share_a_plan_but_no_answer",
            "concurrent_requests_never_mix_users_or_roles",
            "concurrent_users_get_the_answers_they_get_alone",
            "users_who_ask_the_same_at_once_never_get_the_answers_of_each_other",
            "answers_kept_for_the_holder_of_a_token_are_nobody_else_s",
        ],
    ),
    (81, "subscriptions of many callers", &["subscriptions_are_refused_on_single_result_requests"]),
    (82, "entities and texts of federation", &["federation_fields_do_not_exist"]),
];

#[test]
fn every_attack_has_tests_that_are_there() {
    let texts: Vec<String> = all_files().into_iter().map(|it| it.1).collect();
    let is_there = |name: &str| {
        let function = format!("fn {name}(");
        texts.iter().any(|it| it.contains(&function))
    };
    let mut missing = Vec::new();
    for (number, attack, tests) in ATTACKS {
        assert!(!tests.is_empty(), "{number}, {attack}: no test");
        missing.extend(
            tests.iter().filter(|it| !is_there(it)).map(|it| format!("{number}, {attack}: no test `{it}`")),
        );
    }
    none(missing);
}
