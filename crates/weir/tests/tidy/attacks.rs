//! Attacks on permissions, sessions and statements, each with the tests that hold it off.
//!
//! **Invariant:** every attack has a test, and every test named here is there: a renamed one breaks the build.

use crate::rules::{all_files, none};

/// Number and name of an attack, and the functions that test it.
const ATTACKS: &[(u32, &str, &[&str])] = &[
    (52, "SQL in texts", &["row_52_texts_of_clients_are_never_sql_and_never_names_of_variables"]),
    (53, "SQL in paths, keys and documents", &["row_53_paths_and_keys_of_documents_are_never_sql"]),
    (
        54,
        "SQL in session variables, and variables that are not there",
        &[
            "row_54_session_variables_are_bound_whatever_they_hold",
            "row_54_variables_of_presets_and_checks_have_to_be_there",
        ],
    ),
    (
        55,
        "altered cursors and identifiers",
        &[
            "row_55_altered_cursors_are_refused",
            "row_55_altered_identifiers_are_refused",
            "pages_are_those_of_a_list_on_postgres",
        ],
    ),
    (56, "SQL in names of the database", &["row_56_names_of_the_database_are_quoted_mapped_or_left_out"]),
    (57, "aliases beyond 63 bytes", &["row_57_long_keys_that_differ_in_their_last_byte_stay_apart"]),
    (58, "orders that are unknown, long or through relationships", &["row_58_orders_are_defined_or_refused"]),
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
        ],
    ),
    (
        71,
        "hidden columns, relationships and members of upserts",
        &[
            "row_71_hidden_columns_are_unknown_in_every_place",
            "row_71_relationships_to_hidden_tables_are_unknown_in_every_place",
            "row_71_what_upserts_name_is_there_for_who_inserts",
            "row_71_introspection_lists_what_a_role_may_name_and_nothing_else",
        ],
    ),
    (
        72,
        "conditions, orders and aggregates over hidden rows",
        &[
            "row_72_conditions_over_relationships_see_no_hidden_row",
            "row_72_conditions_of_writes_see_no_hidden_row",
            "row_72_conditions_and_orders_in_others_see_no_hidden_row",
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
        &["row_73_a_filtered_row_is_as_if_it_were_not_there", "tables_that_a_role_does_not_see_are_no_nodes"],
    ),
    (
        74,
        "writes beyond check, filter and preset",
        &[
            "row_74_no_write_ends_outside_the_check_and_presets_hold",
            "row_74_rows_by_variables_are_checked_and_preset_too",
            "row_74_an_upsert_passes_the_check_of_its_branch",
            "row_74_without_a_check_no_update_moves_a_row_out_of_the_filter",
            "row_74_an_upsert_without_a_check_on_updates_passes_that_on_inserts_and_stays_in_the_filter",
            "a_partner_that_is_taken_has_to_be_one_the_caller_may_update",
            "a_role_writes_what_it_may_on_sqlite",
            "a_role_writes_what_it_may_on_postgres",
            "no_write_touches_or_leaves_what_the_rules_forbid",
        ],
    ),
    (75, "nested rows without permission", &["row_75_nested_rows_pass_their_own_permissions"]),
    (
        76,
        "inherited and unknown roles",
        &[
            "row_76_inherited_roles_get_the_union_and_no_more",
            "row_76_roles_agree_on_a_write_whatever_the_order_of_its_parts",
            "row_76_values_of_related_rows_are_hidden_as_their_cells_are",
        ],
    ),
    (77, "types of hidden tables", &["row_77_types_of_hidden_tables_are_unknown"]),
    (
        78,
        "names and values of what is hidden, in errors, suggestions and plans",
        &[
            "row_78_errors_name_nothing_that_is_hidden",
            "row_78_suggestions_and_refusals_name_nothing_that_is_hidden",
            "row_78_what_a_role_does_not_see_changes_no_byte_of_any_answer",
            "row_78_tables_and_columns_that_no_role_sees_change_no_byte_of_any_answer",
            "row_78_a_violated_constraint_tells_of_a_hidden_row_what_it_tells_of_a_seen_one",
            "a_hidden_object_in_the_way_is_answered_as_one_that_is_seen",
        ],
    ),
    (79, "time of a filtered and of a missing row", &["row_79_a_hidden_row_and_a_missing_one_have_one_plan"]),
    (
        80,
        "answers that are kept or shared in flight",
        &[
            "row_80_callers_of_one_role_share_a_plan_and_no_answer",
            "row_80_requests_in_flight_at_once_never_mix_users_or_roles",
            "row_80_users_who_ask_at_once_get_what_each_gets_alone",
            "users_who_ask_the_same_at_once_never_get_the_answers_of_each_other",
            "answers_kept_for_the_holder_of_a_token_are_nobody_else_s",
        ],
    ),
    (81, "subscriptions of many callers", &["row_81_subscriptions_have_no_place_where_one_answer_is_given"]),
    (82, "entities and texts of federation", &["row_82_entities_and_texts_of_the_schema_are_no_fields"]),
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
