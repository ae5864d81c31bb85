//! Reads under policies made by hand: the same answers from SQLite and from PostgreSQL.

use crate::policy_kit::{ByHand, Names, READS, check, check_at_once, claims};
use weir_relational::plan::operators::{Comparison, Sign};
use weir_relational::plan::{Expr, Filter, GuardedColumn};

const ADA: &[(&str, &str)] = &[("x-hasura-user", "ada")];
const BOB: &[(&str, &str)] = &[("x-hasura-user", "bob")];

/// Boats are their owner's.
fn own(names: &Names<'_>) -> ByHand {
    let boats = names.eq("boat", "owner", "x-hasura-user");
    ByHand { rows: vec![(names.table("boat"), READS.to_vec(), boats)], ..ByHand::default() }
}

#[test]
fn a_session_variable_restricts_rows_wherever_they_are_read() {
    check(
        &own,
        &[
            ("{ boat { id } }", ADA, r#"{"data":{"boat":[{"id":1},{"id":3}]}}"#),
            ("{ boat { id } }", BOB, r#"{"data":{"boat":[{"id":2}]}}"#),
            ("{ boat { id } }", &[("x-hasura-user", "' OR 1=1 --")], r#"{"data":{"boat":[]}}"#),
            (
                "{ a: boat_by_pk(id: 1) { id } b: boat_by_pk(id: 2) { id } }",
                ADA,
                r#"{"data":{"a":{"id":1},"b":null}}"#,
            ),
            (
                "{ harbour(order_by: {id: asc}) { boats { id } boats_aggregate { aggregate { count } } } }",
                ADA,
                r#"{"data":{"harbour":[{"boats":[{"id":1}],"boats_aggregate":{"aggregate":{"count":1}}},{"boats":[{"id":3}],"boats_aggregate":{"aggregate":{"count":1}}}]}}"#,
            ),
            (
                "{ harbour(where: {boats: {length: {_lt: 15}}}) { id } none: harbour(where: {_not: {boats: {}}}) { id } }",
                BOB,
                r#"{"data":{"harbour":[],"none":[{"id":2}]}}"#,
            ),
            (
                "{ crew(order_by: [{boat: {length: desc_nulls_last}}, {id: asc}]) { id boat { id } } }",
                ADA,
                r#"{"data":{"crew":[{"id":4,"boat":{"id":3}},{"id":1,"boat":{"id":1}},{"id":2,"boat":{"id":1}},{"id":3,"boat":null}]}}"#,
            ),
            (
                "{ boat_aggregate { aggregate { count sum { length } } nodes { id } } }",
                BOB,
                r#"{"data":{"boat_aggregate":{"aggregate":{"count":1,"sum":{"length":20}},"nodes":[{"id":2}]}}}"#,
            ),
            (
                "{ harbour(order_by: {boats_aggregate: {count: desc}}) { id } }",
                BOB,
                r#"{"data":{"harbour":[{"id":1},{"id":2}]}}"#,
            ),
        ],
    );
    assert_eq!(claims(&own), ["x-hasura-user"]);
}

/// Equal statements of one moment share their work, but only if all their values are equal.
#[test]
fn callers_with_other_variables_never_share_an_answer() {
    let all = "{ boat(order_by: {id: asc}) { id } }";
    let one = "{ boat_by_pk(id: 2) { id harbour { name } } }";
    check_at_once(
        &own,
        &[
            (all, ADA, r#"{"data":{"boat":[{"id":1},{"id":3}]}}"#),
            (one, BOB, r#"{"data":{"boat_by_pk":{"id":2,"harbour":{"name":"north"}}}}"#),
            (all, BOB, r#"{"data":{"boat":[{"id":2}]}}"#),
            (one, ADA, r#"{"data":{"boat_by_pk":null}}"#),
            (all, &[("x-hasura-user", "")], r#"{"data":{"boat":[]}}"#),
        ],
    );
}

#[test]
fn a_missing_variable_is_an_error_even_where_nothing_would_come_of_it() {
    let make = |names: &Names<'_>| {
        let needless = Filter::Any(vec![Filter::TRUE, names.eq("boat", "owner", "x-hasura-user")]);
        ByHand { rows: vec![(names.table("boat"), READS.to_vec(), needless)], ..ByHand::default() }
    };
    check(
        &make,
        &[
            ("{ harbour(order_by: {id: asc}, limit: 1) { id } }", &[], r#"{"data":{"harbour":[{"id":1}]}}"#),
            (
                "hasura { boat { id } harbour { id } }",
                &[("x-hasura-role", "sailor")],
                r#"{"errors":[{"message":"missing session variable: \"x-hasura-user\"","extensions":{"path":"$","code":"not-found"}}]}"#,
            ),
            ("{ boat(where: {id: {_eq: 4}}) { id } }", ADA, r#"{"data":{"boat":[{"id":4}]}}"#),
        ],
    );
}

#[test]
fn texts_are_cast_to_the_type_of_the_operand() {
    let make = |names: &Names<'_>| {
        let least = names.compare("boat", "length", Comparison::Gte, "x-hasura-least");
        let named = names.compare("boat", "name", Comparison::In, "x-hasura-names");
        let ids = names.compare("boat", "id", Comparison::Nin, "{7, 8}");
        let all = Filter::All(vec![least, named, ids]);
        ByHand { rows: vec![(names.table("boat"), READS.to_vec(), all)], ..ByHand::default() }
    };
    let boats = "{ boat(order_by: {id: asc}) { id } }";
    check(
        &make,
        &[
            (
                boats,
                &[("x-hasura-least", " +20 "), ("x-hasura-names", r#"{ant,"bee",  cat}"#)],
                r#"{"data":{"boat":[{"id":2},{"id":3}]}}"#,
            ),
            (boats, &[("x-hasura-least", "0"), ("x-hasura-names", "{}")], r#"{"data":{"boat":[]}}"#),
        ],
    );
    for (least, names, message) in [
        ("x", "{}", "invalid input syntax for type integer"),
        ("", "{}", "invalid input syntax for type integer"),
        ("1", "ant", "malformed array literal"),
    ] {
        let error = format!(
            r#"{{"errors":[{{"message":"{message}","extensions":{{"path":"$.selectionSet.boat","code":"data-exception"}}}}]}}"#
        );
        let session = [("x-hasura-least", least), ("x-hasura-names", names)];
        check(&make, &[("hasura { boat { id } }", &session, &error)]);
    }
}

#[test]
fn any_table_is_compared_with_the_restricted_row() {
    let make = |names: &Names<'_>| {
        let own = names.eq("member", "who", "x-hasura-user");
        let here = names.root(("member", "boat_id"), Sign::Eq, ("boat", "id"));
        let boats = Filter::any_row(names.table("member"), Filter::All(vec![own, here]));
        // A crew that stands on a boat whose length is less than its age.
        let shorter =
            names.related("crew", "boat", names.root(("boat", "length"), Sign::Lt, ("crew", "age")));
        let rows = vec![
            (names.table("boat"), READS.to_vec(), boats),
            (names.table("crew"), READS.to_vec(), shorter),
        ];
        ByHand { rows, ..ByHand::default() }
    };
    check(
        &make,
        &[
            (
                "{ boat(order_by: {id: asc}) { id crews(order_by: {id: asc}) { id } } }",
                ADA,
                r#"{"data":{"boat":[{"id":1,"crews":[{"id":1},{"id":2}]},{"id":3,"crews":[]}]}}"#,
            ),
            (
                "{ harbour(where: {boats: {crews: {}}}) { id boats { id } } }",
                BOB,
                r#"{"data":{"harbour":[{"id":1,"boats":[{"id":2}]}]}}"#,
            ),
        ],
    );
}

#[test]
fn columns_of_one_row_are_compared_and_nulls_are_values() {
    let make = |names: &Names<'_>| {
        let owner = || Expr::Column(names.column("boat", "owner"));
        let value = || Some(names.value("boat", "owner", "x-hasura-user"));
        let not = |it| Filter::Not(Box::new(it));
        let both = Filter::Any(vec![
            Filter::differs(owner(), true, value()),
            // Of a null it is false, not unknown.
            not(Filter::Any(vec![
                Filter::same(owner(), true, value()),
                not(Filter::same(owner(), true, None)),
            ])),
        ]);
        let here = Filter::Columns {
            of: Expr::Column(names.column("boat", "length")),
            by: Sign::Lt,
            row: weir_relational::plan::RowAt::Here,
            with: names.column("boat", "twice"),
        };
        let all = Filter::All(vec![both, here]);
        ByHand { rows: vec![(names.table("boat"), READS.to_vec(), all)], ..ByHand::default() }
    };
    check(
        &make,
        &[("{ boat(order_by: {id: asc}) { id } }", ADA, r#"{"data":{"boat":[{"id":2},{"id":4}]}}"#)],
    );
}

#[test]
fn limits_hold_for_each_list_and_not_for_aggregates() {
    let make = |names: &Names<'_>| {
        let limits = vec![(names.table("boat"), 2), (names.table("crew"), 1)];
        ByHand { limits, ..ByHand::default() }
    };
    check(
        &make,
        &[
            (
                "{ a: boat(order_by: {id: asc}) { id } b: boat(order_by: {id: asc}, limit: 9) { id } c: boat(order_by: {id: asc}, limit: 1) { id } d: boat(limit: 0) { id } }",
                &[],
                r#"{"data":{"a":[{"id":1},{"id":2}],"b":[{"id":1},{"id":2}],"c":[{"id":1}],"d":[]}}"#,
            ),
            (
                "query ($n: Int) { boat(order_by: {id: asc}, limit: $n) { id } }",
                &[],
                r#"{"data":{"boat":[{"id":1},{"id":2}]}}"#,
            ),
            (
                "{ boat(order_by: {id: asc}) { crews(order_by: {id: asc}, limit: 7) { id } } boat_by_pk(id: 4) { id } }",
                &[],
                r#"{"data":{"boat":[{"crews":[{"id":1}]},{"crews":[{"id":3}]}],"boat_by_pk":{"id":4}}}"#,
            ),
            (
                "{ boat_aggregate(order_by: {id: desc}) { aggregate { count } nodes { id } } }",
                &[],
                r#"{"data":{"boat_aggregate":{"aggregate":{"count":4},"nodes":[{"id":4},{"id":3}]}}}"#,
            ),
            (
                "mutation { update_boat(where: {}, _inc: {length: 1}) { affected_rows returning { id } } }",
                &[],
                r#"{"data":{"update_boat":{"affected_rows":4,"returning":[{"id":1},{"id":2},{"id":3},{"id":4}]}}}"#,
            ),
        ],
    );
}

/// The length and the harbour of a boat are its owner's to see.
fn guarded(names: &Names<'_>) -> ByHand {
    let cell = |column| GuardedColumn {
        column: names.column("boat", column),
        shown_if: names.eq("boat", "owner", "x-hasura-user"),
    };
    let cells = [(names.table("boat"), vec![cell("length"), cell("harbour_id")])];
    ByHand { cells: cells.into_iter().collect(), ..ByHand::default() }
}

#[test]
fn a_hidden_cell_is_null_wherever_a_client_reads_it() {
    check(
        &guarded,
        &[
            (
                "{ boat(order_by: {id: asc}) { id length harbour_id harbour { name } } }",
                ADA,
                r#"{"data":{"boat":[{"id":1,"length":10,"harbour_id":1,"harbour":{"name":"north"}},{"id":2,"length":null,"harbour_id":null,"harbour":{"name":"north"}},{"id":3,"length":30,"harbour_id":2,"harbour":{"name":"south"}},{"id":4,"length":null,"harbour_id":null,"harbour":{"name":"south"}}]}}"#,
            ),
            (
                "{ a: boat(where: {length: {_gt: 15}}) { id } b: boat(where: {length: {_is_null: true}}, order_by: {id: asc}) { id } c: boat(where: {length: {_in: [10, 20]}}) { id } d: boat(where: {_not: {length: {_eq: 40}}}, order_by: {id: asc}) { id } }",
                ADA,
                r#"{"data":{"a":[{"id":3}],"b":[{"id":2},{"id":4}],"c":[{"id":1}],"d":[{"id":1},{"id":3}]}}"#,
            ),
            (
                "{ boat(order_by: [{length: desc_nulls_last}, {id: asc}]) { id } }",
                ADA,
                r#"{"data":{"boat":[{"id":3},{"id":1},{"id":2},{"id":4}]}}"#,
            ),
            (
                "{ boat(order_by: [{length: desc}, {id: asc}]) { id } }",
                ADA,
                r#"{"data":{"boat":[{"id":2},{"id":4},{"id":3},{"id":1}]}}"#,
            ),
            (
                "{ boat(distinct_on: length, order_by: [{length: asc_nulls_first}, {id: desc}]) { id length } }",
                ADA,
                r#"{"data":{"boat":[{"id":4,"length":null},{"id":1,"length":10},{"id":3,"length":30}]}}"#,
            ),
            (
                "{ boat_aggregate { aggregate { count n: count(columns: length) max { length } min { length } sum { length } } } }",
                ADA,
                r#"{"data":{"boat_aggregate":{"aggregate":{"count":4,"n":2,"max":{"length":30},"min":{"length":10},"sum":{"length":40}}}}}"#,
            ),
            (
                "{ harbour(order_by: {id: asc}) { boats_aggregate(order_by: {id: asc}, limit: 9) { aggregate { count n: count(columns: length) max { length } } } } }",
                ADA,
                r#"{"data":{"harbour":[{"boats_aggregate":{"aggregate":{"count":2,"n":1,"max":{"length":10}}}},{"boats_aggregate":{"aggregate":{"count":2,"n":1,"max":{"length":30}}}}]}}"#,
            ),
            (
                "{ harbour(order_by: {id: asc}) { boats_aggregate { aggregate { max { length } } } boats(order_by: {id: asc}, limit: 1) { length } } }",
                BOB,
                r#"{"data":{"harbour":[{"boats_aggregate":{"aggregate":{"max":{"length":20}}},"boats":[{"length":null}]},{"boats_aggregate":{"aggregate":{"max":{"length":null}}},"boats":[{"length":null}]}]}}"#,
            ),
            (
                "{ boat_group_by(by: [length], order_by: {key: {length: asc_nulls_first}}) { key { length } aggregate { count } } }",
                ADA,
                r#"{"data":{"boat_group_by":[{"key":{"length":null},"aggregate":{"count":2}},{"key":{"length":10},"aggregate":{"count":1}},{"key":{"length":30},"aggregate":{"count":1}}]}}"#,
            ),
            ("{ crew(where: {boat: {length: {_gte: 20}}}) { id } }", ADA, r#"{"data":{"crew":[{"id":4}]}}"#),
        ],
    );
}

/// A column without nulls has some as soon as its cells are hidden.
#[test]
fn hidden_cells_of_a_column_without_nulls_are_ordered_as_nulls() {
    let named = |names: &Names<'_>| {
        let shown_if = names.eq("boat", "owner", "x-hasura-user");
        let cell = GuardedColumn { column: names.column("boat", "name"), shown_if };
        ByHand { cells: [(names.table("boat"), vec![cell])].into_iter().collect(), ..ByHand::default() }
    };
    let answers = [
        ("asc_nulls_first", [2, 4, 1, 3]),
        ("asc_nulls_last", [1, 3, 2, 4]),
        ("desc_nulls_first", [2, 4, 3, 1]),
        ("desc_nulls_last", [3, 1, 2, 4]),
        // As PostgreSQL does, on both databases.
        ("asc", [1, 3, 2, 4]),
        ("desc", [2, 4, 3, 1]),
    ];
    let asked = answers.map(|(order, ids)| {
        let rows = ids.map(|id| format!(r#"{{"id":{id}}}"#)).join(",");
        let query = format!("{{ boat(order_by: [{{name: {order}}}, {{id: asc}}]) {{ id }} }}");
        (query, format!(r#"{{"data":{{"boat":[{rows}]}}}}"#))
    });
    check(&named, &asked.each_ref().map(|(query, answer)| (&**query, ADA, &**answer)));
}

#[test]
fn a_hidden_cell_is_hidden_from_mutations_too() {
    check(
        &guarded,
        &[
            (
                "mutation { update_boat(where: {id: {_lte: 2}}, _set: {name: \"new\"}) { affected_rows } }",
                &[],
                r#"{"errors":[{"message":"missing session variable: \"x-hasura-user\"","locations":[{"line":1,"column":12}],"path":["update_boat"],"extensions":{"code":"SESSION_VARIABLE_MISSING"}}],"data":{"update_boat":null}}"#,
            ),
            (
                "mutation { update_boat(where: {length: {_gte: 20}}, _inc: {length: 1}) { returning { id length harbour { id } } } }",
                ADA,
                r#"{"data":{"update_boat":{"returning":[{"id":3,"length":31,"harbour":{"id":2}}]}}}"#,
            ),
            (
                "mutation { update_boat(where: {id: {_eq: 2}}, _inc: {length: 1}) { returning { id length harbour_id harbour { id } } } }",
                ADA,
                r#"{"data":{"update_boat":{"returning":[{"id":2,"length":null,"harbour_id":null,"harbour":{"id":1}}]}}}"#,
            ),
            (
                "mutation { insert_boat(objects: [{id: 8, name: \"p\", owner: \"bob\", length: 7, harbour_id: 2}, {id: 9, name: \"q\", owner: \"ada\", length: 8, harbour_id: 1}]) { returning { id length harbour_id harbour { name } } } }",
                ADA,
                r#"{"data":{"insert_boat":{"returning":[{"id":8,"length":null,"harbour_id":null,"harbour":{"name":"south"}},{"id":9,"length":8,"harbour_id":1,"harbour":{"name":"north"}}]}}}"#,
            ),
            (
                "mutation { insert_boat_one(object: {id: 8, name: \"p\", length: 70}, on_conflict: {constraint: boat_pkey, update_columns: [length]}) { id length } }",
                ADA,
                r#"{"data":{"insert_boat_one":{"id":8,"length":null}}}"#,
            ),
            (
                "mutation { a: delete_boat(where: {id: {_eq: 8}}) { returning { id length } } b: delete_boat(where: {id: {_eq: 9}}) { returning { id length } } }",
                ADA,
                r#"{"data":{"a":{"returning":[{"id":8,"length":null}]},"b":{"returning":[{"id":9,"length":8}]}}}"#,
            ),
        ],
    );
}
