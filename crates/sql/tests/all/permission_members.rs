//! Members of upserts that a role sees, and cells that inherited roles hide where a value of a related row is read.

use crate::role_kit::fleet::check;

#[test]
fn row_71_what_upserts_name_is_there_for_who_inserts() {
    let values = |ty: &str| format!("{{ __type(name: \"{ty}\") {{ enumValues {{ name }} }} }}");
    let inputs = |ty: &str| format!("{{ __type(name: \"{ty}\") {{ inputFields {{ name }} }} }}");
    let none = r#"{"data":{"__type":null}}"#;
    let arguments = "{ __type(name: \"mutation_root\") { fields { name args { name } } } }";
    let (constraints, columns, conflict) =
        (values("boat_constraint"), values("boat_update_column"), inputs("boat_on_conflict"));
    check(&[
        // Inserts and updates; the key is not seen by a writer and named all the same.
        ("sailor", &constraints, "~boat_pkey"),
        ("writer", &constraints, "~boat_pkey"),
        ("sailor", &columns, r#"{"data":{"__type":{"enumValues":[{"name":"harbour_id"},{"name":"name"}]}}}"#),
        (
            "sailor",
            &conflict,
            r#"{"data":{"__type":{"inputFields":[{"name":"constraint"},{"name":"update_columns"},{"name":"where"}]}}}"#,
        ),
        // Inserts and does not update, nor read.
        ("writer", &columns, r#"{"data":{"__type":{"enumValues":[{"name":"_PLACEHOLDER"}]}}}"#),
        (
            "writer",
            &conflict,
            r#"{"data":{"__type":{"inputFields":[{"name":"constraint"},{"name":"update_columns"},{"name":"where"}]}}}"#,
        ),
        (
            "writer",
            arguments,
            r#"{"data":{"__type":{"fields":[{"name":"insert_boat","args":[{"name":"objects"},{"name":"on_conflict"}]}]}}}"#,
        ),
        ("sailor", &values("crew_update_column"), r#"~[{"name":"_PLACEHOLDER"}]"#),
        // Neither reader nor remover inserts.
        ("remover", &constraints, none),
        ("remover", &columns, none),
        ("remover", &conflict, none),
        ("buyer", &constraints, none),
        ("buyer", &columns, none),
        ("buyer", &conflict, none),
        ("sailor", &values("vault_constraint"), none),
        // The admin never sees what stands for roles.
        ("admin", &columns, "~\"price\""),
    ]);
}

#[test]
fn row_71_an_upsert_without_columns_only_inserts() {
    let insert = |id: u32, columns: &str| {
        format!(
            "mutation {{ insert_crew(objects: [{{id: {id}, name: \"new\"}}], on_conflict: {{constraint: crew_pkey, update_columns: {columns}}}) {{ \
             affected_rows returning {{ name }} }} }}"
        )
    };
    let harbour = "mutation { insert_harbour(objects: [{id: 1, name: \"x\"}], on_conflict: {constraint: harbour_pkey, update_columns: [_PLACEHOLDER]}) \
                   { affected_rows } }";
    check(&[
        ("sailor", &insert(1, "[]"), r#"{"data":{"insert_crew":{"affected_rows":0,"returning":[]}}}"#),
        (
            "sailor",
            &insert(9, "[]"),
            r#"{"data":{"insert_crew":{"affected_rows":1,"returning":[{"name":"new"}]}}}"#,
        ),
        (
            "sailor",
            &insert(1, "[_PLACEHOLDER]"),
            r#"~"message":"erroneous column name","extensions":{"path":"$.selectionSet.insert_crew.args.on_conflict.update_columns""#,
        ),
        ("sailor", &insert(1, "[name]"), "~but found 'name'"),
        // A role that updates a column has no placeholder.
        ("sailor", harbour, "~but found '_PLACEHOLDER'"),
        ("admin", harbour, "~but found '_PLACEHOLDER'"),
    ]);
}

#[test]
fn row_76_values_of_related_rows_are_hidden_as_their_cells_are() {
    // A trader sees boats 1 and 2, and the owner of boat 1 alone: ben's name must not put boat 2 behind ann's.
    check(&[
        (
            "trader",
            "{ boat(order_by: {id: asc}) { id owner } }",
            r#"{"data":{"boat":[{"id":1,"owner":"ann"},{"id":null,"owner":null}]}}"#,
        ),
        (
            "trader",
            "{ crew(order_by: [{boat: {owner: desc_nulls_last}}, {id: asc}]) { id } }",
            r#"{"data":{"crew":[{"id":1},{"id":2},{"id":3}]}}"#,
        ),
        (
            "trader",
            "{ harbour(order_by: [{boats_aggregate: {max: {owner: desc_nulls_last}}}, {id: asc}]) { id } }",
            r#"{"data":{"harbour":[{"id":1},{"id":2}]}}"#,
        ),
        (
            "trader",
            "{ harbour(order_by: [{boats_aggregate: {min: {owner: asc_nulls_first}}}, {id: asc}]) { id } }",
            r#"{"data":{"harbour":[{"id":2},{"id":1}]}}"#,
        ),
        (
            "trader",
            "{ harbour(where: {boats_aggregate: {count: {arguments: [owner], predicate: {_gt: 0}}}}) { id } }",
            r#"{"data":{"harbour":[{"id":1}]}}"#,
        ),
        (
            "trader",
            "{ harbour(where: {boats_aggregate: {count: {filter: {owner: {_eq: \"ben\"}}, predicate: {_gt: 0}}}}) { id } }",
            r#"{"data":{"harbour":[]}}"#,
        ),
    ]);
}

#[test]
fn row_81_subscriptions_have_no_place_where_one_answer_is_given() {
    let words = "~a subscription has many results";
    check(&[
        ("sailor", "subscription { boat { id } }", words),
        ("sailor", "subscription { vault { id } }", words),
        ("nobody", "subscription { boat { id } }", words),
        ("admin", "subscription { boat { id } }", words),
    ]);
}

#[test]
fn row_82_entities_and_texts_of_the_schema_are_no_fields() {
    check(&[
        ("sailor", "{ _service { sdl } }", "~field '_service' not found in type: 'query_root'"),
        (
            "sailor",
            "{ _entities(representations: [{__typename: \"boat\", id: 2}]) { __typename } }",
            "~field '_entities' not found in type: 'query_root'",
        ),
        ("sailor", "query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }", "~_Any"),
        ("admin", "{ _service { sdl } }", "~field '_service' not found in type: 'query_root'"),
    ]);
}
