//! Shapes that are answered find their rows: by equality, list and key, for updates and deletes, also those of which GeoJSON shows a part.

use crate::hasura_kit::{Served, serve};
use crate::postgres_kit::database;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use weir_engine::source::Protocol;

const PROTOCOLS: [Protocol; 2] = [Protocol::GraphqlOverHttp, Protocol::Hasura];

/// Shapes on a plane: several that are shown alike, of systems of several authorities and of none, with all their digits. Empty ones are refused with words.
const GEOMETRIES: &[&str] = &[
    "SRID=4326;POINT(1 2)",
    "SRID=4326;POINT M (1 2 3)",
    "SRID=4326;POINT M (1 2 4)",
    "SRID=4326;POINT Z (1 2 3)",
    "SRID=4326;POINT ZM (1 2 3 4)",
    "POINT(1 2)",
    "POINT M (1 2 3)",
    "SRID=3857;POINT(1 2)",
    "SRID=102100;POINT(1 2)",
    "SRID=4326;POINT(0.30000000000000004 1e-20)",
    "SRID=4326;POINT(1.2345678901234567e-8 123456789.12345678)",
    "SRID=4326;POINT(1e20 -1e300)",
    "SRID=4326;POINT(-0 0)",
    "SRID=4326;POINT(0 0)",
    "LINESTRING M (0 0 1, -0 5 2, 5 5 3)",
    "LINESTRING(0 0, 0 5, 5 5)",
    "SRID=4326;POLYGON ZM ((0 0 0 1, 1 0 0 1, 1 1 0 1, 0 0 0 1))",
    "SRID=4326;MULTIPOINT Z ((1 2 3))",
    "GEOMETRYCOLLECTION M (POINT M (1 2 3), LINESTRING M (-0 1 2, 3 4 5))",
];

const GEOGRAPHIES: &[&str] = &[
    "POINT(1 2)",
    "SRID=4267;POINT(1 2)",
    "SRID=4269;POINT M (1 2 3)",
    "POINT M (1 2 3)",
    "POINT Z (1 2 3)",
    "POINT(0.30000000000000004 1e-20)",
    "POINT(-0 0)",
    "LINESTRING ZM (0 0 1 1, 1 1 1 1)",
];

fn create_tables() -> String {
    let mut sql = "CREATE EXTENSION postgis;".to_owned();
    for (ty, values) in [("geometry", GEOMETRIES), ("geography", GEOGRAPHIES)] {
        let _ = write!(
            sql,
            "CREATE TABLE {ty}_row (id int PRIMARY KEY, v {ty}, n int); CREATE TABLE {ty}_key (v {ty} PRIMARY KEY, n int);
             CREATE INDEX ON {ty}_row USING gist (v);"
        );
        for (id, value) in values.iter().enumerate() {
            let _ = write!(
                sql,
                "INSERT INTO {ty}_row VALUES ({id}, '{value}'); INSERT INTO {ty}_key VALUES ('{value}');"
            );
        }
        let _ = write!(sql, "INSERT INTO {ty}_row VALUES (99, NULL);");
    }
    sql
}

async fn ask(served: &Served, protocol: Protocol, query: &str, variables: &str) -> Value {
    serde_json::from_str(&served.ask_in(protocol, query, variables).await).unwrap()
}

fn list_ids(rows: &Value) -> BTreeSet<i64> {
    let rows = rows.as_array().unwrap_or_else(|| panic!("no rows: {rows}"));
    rows.iter().map(|it| it["id"].as_i64().unwrap()).collect()
}

/// True if `given` GeoJSON stands for a shape that is shown so: without a system it is one without, or of WGS 84.
fn stands_for(given: &Value, shown: &Value) -> bool {
    let mut plain = shown.clone();
    let is_usual = shown["crs"]["properties"]["name"] == "urn:ogc:def:crs:EPSG::4326";
    if let Some(members) = plain.as_object_mut().filter(|_| is_usual) {
        members.remove("crs");
    }
    given == shown || *given == plain
}

async fn find_each(served: &Served, protocol: Protocol, ty: &str) {
    let rows = ask(served, protocol, &format!("{{ {ty}_row {{ id v }} }}"), "").await["data"]
        [format!("{ty}_row")]
    .clone();
    let shown: Vec<(i64, Value)> =
        rows.as_array().unwrap().iter().map(|it| (it["id"].as_i64().unwrap(), it["v"].clone())).collect();
    assert!(shown.len() > GEOGRAPHIES.len(), "{rows}");
    for (_, value) in shown.iter().filter(|it| !it.1.is_null()) {
        let same: BTreeSet<i64> = shown.iter().filter(|it| stands_for(value, &it.1)).map(|it| it.0).collect();
        let others: BTreeSet<i64> =
            shown.iter().filter(|it| !it.1.is_null() && !stands_for(value, &it.1)).map(|it| it.0).collect();
        let query = format!(
            "query ($v: {ty}!) {{ eq: {ty}_row(where: {{v: {{_eq: $v}}}}) {{ id }} in: {ty}_row(where: {{v: {{_in: [$v]}}}}) {{ id }} \
             neq: {ty}_row(where: {{v: {{_neq: $v}}}}) {{ id }} nin: {ty}_row(where: {{v: {{_nin: [$v]}}}}) {{ id }} \
             not: {ty}_row(where: {{_not: {{v: {{_eq: $v}}}}}}) {{ id }} key: {ty}_key_by_pk(v: $v) {{ v }} }}"
        );
        let answer = ask(served, protocol, &query, &format!("{{\"v\": {value}}}")).await;
        let data = &answer["data"];
        for (key, expected) in
            [("eq", &same), ("in", &same), ("neq", &others), ("nin", &others), ("not", &others)]
        {
            assert!(data[key].is_array(), "{ty} {key} {value}: {answer}");
            assert_eq!(list_ids(&data[key]), *expected, "{ty} {key} {value}: {answer}");
        }
        assert!(stands_for(value, &data["key"]["v"]), "{ty}: {answer}");
    }
}

async fn change_each(served: &Served, protocol: Protocol, ty: &str) {
    let query = format!("{{ {ty}_row(where: {{v: {{_is_null: false}}}}) {{ id v }} }}");
    let rows = ask(served, protocol, &query, "").await["data"][format!("{ty}_row")].clone();
    for row in rows.as_array().unwrap() {
        let variables = format!("{{\"v\": {}}}", row["v"]);
        let update = format!(
            "mutation ($v: {ty}!) {{ update_{ty}_row(where: {{v: {{_eq: $v}}}}, _set: {{n: 1}}) {{ returning {{ id v }} }} \
             update_{ty}_key_by_pk(pk_columns: {{v: $v}}, _set: {{n: 1}}) {{ v }} }}"
        );
        let answer = ask(served, protocol, &update, &variables).await;
        let data = &answer["data"];
        assert!(
            list_ids(&data[format!("update_{ty}_row")]["returning"]).contains(&row["id"].as_i64().unwrap()),
            "{answer}"
        );
        assert!(stands_for(&row["v"], &data[format!("update_{ty}_key_by_pk")]["v"]), "{answer}");
    }
    for row in rows.as_array().unwrap() {
        let variables = format!("{{\"v\": {}}}", row["v"]);
        let delete = format!(
            "mutation ($v: {ty}!) {{ delete_{ty}_row(where: {{v: {{_in: [$v]}}}}) {{ affected_rows }} delete_{ty}_key_by_pk(v: $v) {{ n }} }}"
        );
        ask(served, protocol, &delete, &variables).await;
        let gone = ask(
            served,
            protocol,
            &format!("{{ {ty}_row(where: {{id: {{_eq: {}}}}}) {{ id }} }}", row["id"]),
            "",
        )
        .await;
        assert_eq!(gone["data"][format!("{ty}_row")], serde_json::json!([]), "{ty} {}", row["v"]);
    }
}

#[tokio::test]
async fn shapes_that_are_answered_find_their_rows() {
    let served = serve(database(&create_tables())).await;
    for ty in ["geometry", "geography"] {
        for protocol in PROTOCOLS {
            find_each(&served, protocol, ty).await;
        }
    }
    change_each(&served, Protocol::GraphqlOverHttp, "geometry").await;
    change_each(&served, Protocol::Hasura, "geography").await;
}

/// A text of PostGIS's own says all of a shape, so it finds that shape alone.
#[tokio::test]
async fn texts_of_shapes_find_the_whole_shape() {
    let served = serve(database(&create_tables())).await;
    for (text, expected) in [
        ("SRID=4326;POINT M (1 2 3)", 1),
        ("SRID=4326;POINT(1 2)", 0),
        ("POINT(1 2)", 5),
        ("SRID=4326;POINT ZM (1 2 3 4)", 4),
        ("POINT M (1 2 3)", 6),
    ] {
        let query = format!(
            "{{ eq: geometry_row(where: {{v: {{_eq: \"{text}\"}}}}) {{ id }} in: geometry_row(where: {{v: {{_in: [\"{text}\"]}}}}) {{ id }} }}"
        );
        for protocol in PROTOCOLS {
            let answer = ask(&served, protocol, &query, "").await;
            for key in ["eq", "in"] {
                assert_eq!(list_ids(&answer["data"][key]), BTreeSet::from([expected]), "{text}: {answer}");
            }
        }
    }
}

/// Systems that PostGIS writes and does not read are refused wherever a shape is given; texts with their numbers find them.
#[tokio::test]
async fn a_system_that_would_be_lost_is_refused() {
    let sql = "CREATE EXTENSION postgis;
        INSERT INTO spatial_ref_sys VALUES (990001, 'my-org', 7, 'x', '+proj=longlat');
        CREATE TABLE place (id int PRIMARY KEY, v geometry);
        INSERT INTO place VALUES (1, 'SRID=900913;POINT(1 2)'), (2, 'SRID=990001;POINT(1 2)')";
    let served = serve(database(sql)).await;
    for protocol in PROTOCOLS {
        let rows =
            ask(&served, protocol, "{ place(order_by: {id: asc}) { v } }", "").await["data"]["place"].clone();
        for (row, srid) in rows.as_array().unwrap().iter().zip([900_913, 990_001]) {
            let text = Value::from(row["v"].to_string());
            for given in [&row["v"], &text] {
                for operation in [
                    "query ($v: geometry!) { place(where: {v: {_eq: $v}}) { id } }",
                    "query ($v: geometry!) { place(where: {v: {_in: [$v]}}) { id } }",
                    "query ($v: geometry!) { place(where: {v: {_st_intersects: $v}}) { id } }",
                    "mutation ($v: geometry!) { insert_place_one(object: {id: 3, v: $v}) { id } }",
                    "mutation ($v: geometry!) { update_place(where: {}, _set: {v: $v}) { affected_rows } }",
                    "mutation ($v: geometry!) { delete_place(where: {v: {_eq: $v}}) { affected_rows } }",
                ] {
                    let answer = ask(&served, protocol, operation, &format!("{{\"v\": {given}}}")).await;
                    let words = answer["errors"][0]["message"].as_str().unwrap_or_default();
                    assert!(words.contains("does not read the reference system"), "{operation}: {answer}");
                }
            }
            let found = format!("{{ place(where: {{v: {{_eq: \"SRID={srid};POINT(1 2)\"}}}}) {{ v }} }}");
            let found = ask(&served, protocol, &found, "").await;
            assert_eq!(found["data"]["place"], serde_json::json!([row]), "{found}");
        }
    }
}

/// An equality of shapes is found by an index on shapes.
#[tokio::test]
async fn equal_shapes_are_found_by_an_index() {
    let sql = "CREATE EXTENSION postgis; CREATE TABLE place (id int PRIMARY KEY, v geometry);
        INSERT INTO place SELECT g, st_makepoint(g, g) FROM generate_series(1, 2000) g;
        CREATE INDEX ON place USING gist (v); ANALYZE place";
    let served = serve(database(sql)).await;
    let query = r#"{ place(where: {v: {_eq: {type: "Point", coordinates: [7, 7]}}}) { id } }"#;
    assert_eq!(served.ask(query).await, r#"{"data":{"place":[{"id":7}]}}"#);
    let request = weir_engine::engine::Request::new(query, crate::postgres_kit::hand::soon());
    let caller = served.engine.caller(&weir_engine::caller::Identity::admin());
    let explained = served.engine.explain(request, &caller).expect("it can be planned");
    let sql: Vec<&str> = explained.steps[0].1.lines().filter(|it| !it.starts_with("--")).collect();
    let mut hand = served.hand().await;
    hand.run(&format!("PREPARE asked AS {}", sql.join(" "))).await;
    let plan =
        hand.run(r#"EXPLAIN (FORMAT JSON) EXECUTE asked('{"type": "Point", "coordinates": [7, 7]}')"#).await;
    assert!(plan.contains("place_v_idx"), "{plan}");
}
