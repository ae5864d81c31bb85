//! Mutations under policies made by hand: what is answered, and what is in the database after.

use crate::policy_kit::{ByHand, Names, READS, check};
use weir_relational::passes::policy::{Preset, WriteKind};
use weir_relational::plan::operators::Comparison;
use weir_relational::plan::{Filter, Purpose};

const ADA: &[(&str, &str)] = &[("x-hasura-user", "ada")];
const NAMES: &str = "{ boat(order_by: {id: asc}) { name } }";
const UNCHANGED: &str = r#"{"data":{"boat":[{"name":"ant"},{"name":"bee"},{"name":"cat"},{"name":"dog"}]}}"#;

fn filters(names: &Names<'_>) -> ByHand {
    let own = || names.eq("boat", "owner", "x-hasura-user");
    let short = names.compare("boat", "length", Comparison::Lt, "25");
    let rows = vec![
        (names.table("boat"), vec![Purpose::Update], own()),
        (names.table("boat"), vec![Purpose::Delete], Filter::All(vec![own(), short])),
        (names.table("harbour"), READS.to_vec(), names.eq("harbour", "owner", "x-hasura-user")),
    ];
    ByHand { rows, ..ByHand::default() }
}

#[test]
fn rows_outside_a_filter_are_not_touched() {
    check(
        &filters,
        &[
            (
                "mutation { update_boat(where: {}, _inc: {length: 1}) { affected_rows } }",
                ADA,
                r#"{"data":{"update_boat":{"affected_rows":2}}}"#,
            ),
            (
                "mutation { update_boat_by_pk(pk_columns: {id: 2}, _set: {length: 1}) { id } delete_boat_by_pk(id: 3) { id } }",
                ADA,
                r#"{"data":{"update_boat_by_pk":null,"delete_boat_by_pk":null}}"#,
            ),
            (
                "mutation { update_boat_many(updates: [{where: {id: {_eq: 1}}, _set: {owner: \"bob\"}}, {where: {id: {_eq: 2}}, _set: {name: \"x\"}}]) { affected_rows returning { id owner harbour { id } } } }",
                ADA,
                r#"{"data":{"update_boat_many":[{"affected_rows":1,"returning":[{"id":1,"owner":"bob","harbour":{"id":1}}]},{"affected_rows":0,"returning":[]}]}}"#,
            ),
            (
                "mutation { update_boat(where: {id: {_eq: 3}}, _set: {owner: null}) { returning { id owner harbour { id } } } }",
                ADA,
                r#"{"data":{"update_boat":{"returning":[{"id":3,"owner":null,"harbour":null}]}}}"#,
            ),
            (
                "mutation { delete_boat(where: {}) { affected_rows } }",
                ADA,
                r#"{"data":{"delete_boat":{"affected_rows":0}}}"#,
            ),
            (NAMES, ADA, UNCHANGED),
        ],
    );
}

/// New boats are their owner's, in a harbour of his, and short; changed ones are no longer than 50.
fn checks(names: &Names<'_>) -> ByHand {
    let own = names.eq("boat", "owner", "x-hasura-user");
    let harbour = names.related("boat", "harbour", names.eq("harbour", "owner", "x-hasura-user"));
    let generated = names.compare("boat", "twice", Comparison::Lt, "40");
    let updated = names.compare("boat", "length", Comparison::Lte, "50");
    let adult = names.compare("crew", "age", Comparison::Gte, "18");
    let checks = vec![
        (names.table("boat"), WriteKind::Insert, Filter::All(vec![own, harbour, generated])),
        (names.table("boat"), WriteKind::Update, updated),
        (names.table("crew"), WriteKind::Insert, adult),
    ];
    ByHand { checks, ..ByHand::default() }
}

fn failed(path: &str) -> String {
    format!(
        r#"{{"errors":[{{"message":"check constraint of an insert/update permission has failed","extensions":{{"path":"{path}","code":"permission-error"}}}}]}}"#
    )
}

#[test]
fn an_insert_is_checked_as_it_is_stored() {
    let objects = failed("$.selectionSet.insert_boat.args.objects");
    let object = failed("$.selectionSet.insert_boat_one.args.object");
    check(
        &checks,
        &[
            (
                "mutation { insert_boat_one(object: {id: 5, name: \"eel\", owner: \"ada\", harbour_id: 1}) { id length twice harbour { name } } }",
                ADA,
                r#"{"data":{"insert_boat_one":{"id":5,"length":5,"twice":10,"harbour":{"name":"north"}}}}"#,
            ),
            (
                "hasura mutation { insert_boat_one(object: {id: 6, name: \"fox\", owner: \"bob\", harbour_id: 1}) { id } }",
                ADA,
                &object,
            ),
            (
                "hasura mutation { insert_boat_one(object: {id: 6, name: \"fox\", harbour_id: 1}) { id } }",
                ADA,
                &object,
            ),
            (
                "hasura mutation { insert_boat_one(object: {id: 6, name: \"fox\", owner: \"ada\", harbour_id: 2}) { id } }",
                ADA,
                &object,
            ),
            (
                "hasura mutation { insert_boat(objects: [{id: 6, name: \"fox\", owner: \"ada\", harbour_id: 1}, {id: 7, name: \"gnu\", owner: \"ada\", harbour_id: 1, length: 20}]) { affected_rows } }",
                ADA,
                &objects,
            ),
            (
                "mutation { a: update_harbour(where: {}, _set: {name: \"lost\"}) { affected_rows } insert_boat(objects: [{id: 6, name: \"fox\"}]) { affected_rows } }",
                ADA,
                r#"{"errors":[{"message":"check constraint of an insert/update permission has failed","locations":[{"line":1,"column":81}],"path":["insert_boat"],"extensions":{"code":"PERMISSION"}}],"data":{"a":null,"insert_boat":null}}"#,
            ),
            (
                "{ boat(where: {id: {_gt: 5}}) { id } harbour { name } }",
                ADA,
                r#"{"data":{"boat":[],"harbour":[{"name":"north"},{"name":"south"}]}}"#,
            ),
        ],
    );
}

#[test]
fn nested_rows_have_checks_of_their_own() {
    let crews = failed("$.selectionSet.insert_boat.args.objects[1].crews.data");
    check(
        &checks,
        &[
            (
                "mutation { insert_boat(objects: [{id: 6, name: \"fox\", owner: \"ada\", harbour: {data: {id: 3, name: \"new\", owner: \"ada\"}}, crews: {data: [{id: 7, name: \"q\", age: 18}]}}]) { affected_rows returning { harbour { name } crews { id } } } }",
                ADA,
                r#"{"data":{"insert_boat":{"affected_rows":3,"returning":[{"harbour":{"name":"new"},"crews":[{"id":7}]}]}}}"#,
            ),
            (
                "hasura mutation { insert_boat(objects: [{id: 7, name: \"gnu\", owner: \"ada\", harbour_id: 1, crews: {data: [{id: 8, name: \"q\", age: 18}]}}, {id: 8, name: \"hen\", owner: \"ada\", harbour_id: 1, crews: {data: [{id: 9, name: \"r\", age: 17}]}}]) { affected_rows } }",
                ADA,
                &crews,
            ),
            (
                "{ boat(where: {id: {_gt: 6}}) { id } crew(where: {id: {_gt: 7}}) { id } }",
                ADA,
                r#"{"data":{"boat":[],"crew":[]}}"#,
            ),
        ],
    );
}

#[test]
fn an_update_is_checked_on_the_new_row() {
    check(
        &checks,
        &[
            (
                "hasura mutation { update_boat(where: {}, _inc: {length: 15}) { affected_rows } }",
                ADA,
                &failed("$"),
            ),
            (
                "hasura mutation { update_boat_by_pk(pk_columns: {id: 1}, _set: {length: null}) { id } }",
                ADA,
                &failed("$"),
            ),
            (
                "mutation { update_boat(where: {id: {_lt: 3}}, _inc: {length: 15}) { affected_rows returning { length } } }",
                ADA,
                r#"{"data":{"update_boat":{"affected_rows":2,"returning":[{"length":25},{"length":35}]}}}"#,
            ),
            (
                "mutation { update_boat(where: {id: {_gt: 9}}, _set: {length: 99}) { affected_rows } }",
                ADA,
                r#"{"data":{"update_boat":{"affected_rows":0}}}"#,
            ),
        ],
    );
    let never = |names: &Names<'_>| {
        let nothing = || Filter::Any(Vec::new());
        let checks = vec![(names.table("boat"), WriteKind::Update, nothing())];
        ByHand { checks, ..ByHand::default() }
    };
    check(
        &never,
        &[
            (
                "mutation { update_boat(where: {id: {_gt: 9}}, _set: {length: 99}) { affected_rows } }",
                &[],
                r#"{"data":{"update_boat":{"affected_rows":0}}}"#,
            ),
            (
                "hasura mutation { update_boat(where: {id: {_eq: 1}}, _set: {length: 9}) { affected_rows } }",
                &[],
                &failed("$"),
            ),
        ],
    );
}

/// An upsert of boat 2 or 5.
fn upsert(id: u32, name: &str, length: u32, end: &str) -> String {
    let object = format!("{{id: {id}, name: \"{name}\", owner: \"ada\", harbour_id: 1, length: {length}}}");
    format!(
        "hasura mutation {{ insert_boat_one(object: {object}, on_conflict: {{constraint: boat_pkey, update_columns: [name, length]{end}}}) {{ id name length }} }}"
    )
}

#[test]
fn an_upsert_is_checked_by_the_branch_it_takes() {
    let object = failed("$.selectionSet.insert_boat_one.args.object");
    let row = |id, name, length| {
        format!(r#"{{"data":{{"insert_boat_one":{{"id":{id},"name":"{name}","length":{length}}}}}}}"#)
    };
    let none = r#"{"data":{"insert_boat_one":null}}"#;
    check(
        &checks,
        &[
            (&upsert(5, "eel", 19, ""), ADA, &row(5, "eel", 19)),
            (&upsert(6, "fox", 45, ""), ADA, &object),
            (&upsert(2, "owl", 45, ""), ADA, &row(2, "owl", 45)),
            (&upsert(2, "owl", 51, ""), ADA, &object),
            (&upsert(6, "fox", 45, ""), ADA, &object),
            (&upsert(2, "elk", 50, ", where: {length: {_lt: 40}}"), ADA, none),
            (&upsert(7, "gnu", 45, ", where: {length: {_lt: 40}}"), ADA, &object),
        ],
    );
    // Without a check of updates, that of inserts holds for both.
    let one = |names: &Names<'_>| {
        let mut made = checks(names);
        made.checks.retain(|it| it.1 == WriteKind::Insert);
        made.rows =
            vec![(names.table("boat"), vec![Purpose::Update], names.eq("boat", "owner", "x-hasura-user"))];
        made
    };
    check(
        &one,
        &[
            (&upsert(1, "owl", 45, ""), ADA, &object),
            (&upsert(1, "owl", 15, ""), ADA, &row(1, "owl", 15)),
            (&upsert(2, "elk", 15, ""), ADA, none),
            ("{ boat_by_pk(id: 2) { name } }", ADA, r#"{"data":{"boat_by_pk":{"name":"bee"}}}"#),
        ],
    );
}

fn presets(names: &Names<'_>) -> ByHand {
    let value =
        |table, column, text| (names.column(table, column), Preset::Value(names.value(table, column, text)));
    let presets = [
        (
            (names.table("boat"), WriteKind::Insert),
            vec![value("boat", "owner", "x-hasura-user"), value("boat", "harbour_id", "2")],
        ),
        (
            (names.table("boat"), WriteKind::Update),
            vec![(names.column("boat", "owner"), Preset::Null), value("boat", "length", "7")],
        ),
        ((names.table("crew"), WriteKind::Insert), vec![value("crew", "boat_id", "1")]),
    ];
    ByHand { presets: presets.into_iter().collect(), ..ByHand::default() }
}

#[test]
fn presets_beat_what_the_client_and_other_rows_say() {
    check(
        &presets,
        &[
            (
                "mutation { insert_boat(objects: [{id: 5, name: \"eel\", owner: \"bob\"}, {id: 6, name: \"fox\", harbour: {data: {id: 9, name: \"new\"}}, crews: {data: [{id: 9, name: \"q\"}]}}]) { affected_rows returning { id owner harbour_id length } } }",
                ADA,
                r#"{"data":{"insert_boat":{"affected_rows":4,"returning":[{"id":5,"owner":"ada","harbour_id":2,"length":5},{"id":6,"owner":"ada","harbour_id":2,"length":5}]}}}"#,
            ),
            ("{ crew_by_pk(id: 9) { boat_id } }", ADA, r#"{"data":{"crew_by_pk":{"boat_id":1}}}"#),
            (
                "mutation ($rows: [boat_insert_input!]! = [{id: 7, name: \"gnu\"}]) { insert_boat(objects: $rows) { returning { owner } } }",
                ADA,
                r#"{"data":{"insert_boat":{"returning":[{"owner":"ada"}]}}}"#,
            ),
            (
                "mutation { update_boat(where: {id: {_eq: 5}}, _set: {name: \"owl\", owner: \"bob\"}) { returning { name owner length } } }",
                ADA,
                r#"{"data":{"update_boat":{"returning":[{"name":"owl","owner":null,"length":7}]}}}"#,
            ),
            (
                "mutation { update_boat(where: {id: {_eq: 6}}) { returning { owner length } } update_boat_by_pk(pk_columns: {id: 7}, _set: {}) { length } }",
                ADA,
                r#"{"data":{"update_boat":{"returning":[{"owner":null,"length":7}]},"update_boat_by_pk":{"length":7}}}"#,
            ),
            (
                &upsert(2, "elk", 15, "")["hasura ".len()..],
                ADA,
                r#"{"data":{"insert_boat_one":{"id":2,"name":"elk","length":7}}}"#,
            ),
            (
                "{ boat_by_pk(id: 2) { owner harbour_id } }",
                ADA,
                r#"{"data":{"boat_by_pk":{"owner":null,"harbour_id":1}}}"#,
            ),
            (
                "mutation { update_crew(where: {}) { affected_rows } }",
                ADA,
                r#"{"errors":[{"message":"an update needs at least one operator, such as `_set`","locations":[{"line":1,"column":12}],"extensions":{"code":"BAD_USER_INPUT"}}]}"#,
            ),
            (
                "mutation { update_crew(where: {}, _set: {}) { affected_rows } }",
                ADA,
                r#"{"data":{"update_crew":{"affected_rows":0}}}"#,
            ),
        ],
    );
}
