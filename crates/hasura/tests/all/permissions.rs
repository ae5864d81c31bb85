//! Permissions of roles, from Hasura's metadata to answers: what a role sees, reads and writes.

use crate::fleet_kit::{Fleet, ann, both, on_postgres};
use crate::postgres_kit::database;
use serde_json::json;
use std::time::Duration;
use weir_engine::caller::Identity;
use weir_hasura::model::{ModelOptions, Track};
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::table::TableEntry;
use weir_postgres::Settings;
use weir_relational::catalog::Warning;

const FLEET: &str = "
    CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, secret TEXT);
    CREATE TABLE boat (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT, price INTEGER, code TEXT DEFAULT 'none',
        harbour_id INTEGER NOT NULL REFERENCES harbour (id)
    );
    CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT NOT NULL, boat_id INTEGER REFERENCES boat (id));
    INSERT INTO harbour VALUES (1, 'Oslo', 'a'), (2, 'Rio', 'b');
    INSERT INTO boat VALUES (1, 'Ada', 'ann', 10, 'x', 1), (2, 'Bel', 'ben', 20, 'y', 2), (3, 'Cid', NULL, 30, 'z', 1);
    INSERT INTO crew VALUES (1, 'Zoe', 1), (2, 'Yan', 2), (3, 'Xia', NULL);
";

const TABLES: &str = r#"[
  {"table": "harbour",
   "array_relationships": [{"name": "boats", "using": {"foreign_key_constraint_on": {"table": "boat", "column": "harbour_id"}}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name"], "filter": {"boats": {"owner": {"_eq": "X-Hasura-User"}}}}},
     {"role": "guest", "permission": {"columns": ["name"], "filter": {}, "limit": 1}}]},
  {"table": "boat",
   "object_relationships": [{"name": "harbour", "using": {"foreign_key_constraint_on": "harbour_id"}}],
   "array_relationships": [{"name": "crews", "using": {"foreign_key_constraint_on": {"table": "crew", "column": "boat_id"}}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name", "owner", "harbour_id"], "filter": {"owner": {"_eq": "x-hasura-user"}}, "allow_aggregations": true}},
     {"role": "buyer", "permission": {"columns": ["id", "name", "price"], "filter": {"price": {"_lte": 20}}, "query_root_fields": ["select"]}}],
   "insert_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name", "harbour_id", "price"], "check": {"price": {"_lt": 100}, "harbour": {"name": {"_eq": "Oslo"}}}, "set": {"owner": "x-hasura-user", "code": "new"}}}],
   "update_permissions": [
     {"role": "sailor", "permission": {"columns": ["name", "owner"], "filter": {"owner": {"_eq": "x-hasura-user"}}, "check": {"owner": {"_eq": "x-hasura-user"}}}}],
   "delete_permissions": [{"role": "sailor", "permission": {"filter": {"owner": "X-Hasura-User"}, "backend_only": true}}]},
  {"table": "crew",
   "select_permissions": [{"role": "sailor", "permission": {"columns": "*", "filter": {}}}],
   "insert_permissions": [{"role": "sailor", "permission": {"check": {"name": {"_ne": "Bad"}}}}]}
]"#;

fn ships() -> [Fleet; 2] {
    let tables: Vec<TableEntry> = serde_json::from_str(TABLES).unwrap();
    let inherited =
        [InheritedRole { role_name: "trader".into(), role_set: vec!["buyer".into(), "sailor".into()] }];
    let options = ModelOptions {
        track: Track::Listed,
        tables: &tables,
        inherited_roles: &inherited,
        ..ModelOptions::default()
    };
    both(FLEET, options)
}

#[test]
fn a_role_reads_its_rows_and_columns() {
    for ship in ships() {
        ship.check("sailor", "{ boat { id name } }", r#"{"data":{"boat":[{"id":1,"name":"Ada"}]}}"#);
        ship.check(
            "sailor",
            "{ harbour { name boats { id } } }",
            r#"{"data":{"harbour":[{"name":"Oslo","boats":[{"id":1}]}]}}"#,
        );
        ship.check("guest", "{ harbour { name } }", r#"{"data":{"harbour":[{"name":"Oslo"}]}}"#);
        ship.check(
            "buyer",
            "{ boat(order_by: {id: desc}) { id price } }",
            r#"{"data":{"boat":[{"id":2,"price":20},{"id":1,"price":10}]}}"#,
        );
        ship.check("sailor", "{ boat_by_pk(id: 2) { id } }", r#"{"data":{"boat_by_pk":null}}"#);
        ship.check(
            "sailor",
            "{ boat_aggregate { aggregate { count } } }",
            r#"{"data":{"boat_aggregate":{"aggregate":{"count":1}}}}"#,
        );
    }
}

#[test]
fn what_a_role_lacks_is_absent() {
    for ship in ships() {
        for (role, query, field, ty) in [
            ("sailor", "{ boat { price } }", "price", "boat"),
            ("sailor", "{ boat { code } }", "code", "boat"),
            ("guest", "{ boat { id } }", "boat", "query_root"),
            ("guest", "{ harbour { id } }", "id", "harbour"),
            ("guest", "{ harbour { boats { id } } }", "boats", "harbour"),
            ("buyer", "{ boat_by_pk(id: 1) { id } }", "boat_by_pk", "query_root"),
            ("buyer", "{ boat_aggregate { aggregate { count } } }", "boat_aggregate", "query_root"),
            ("sailor", "{ harbour(where: {secret: {_eq: \"a\"}}) { id } }", "secret", "harbour_bool_exp"),
            ("sailor", "{ boat(order_by: {price: asc}) { id } }", "price", "boat_order_by"),
            ("nobody", "{ boat { id } }", "boat", "query_root"),
            (
                "sailor",
                "mutation { insert_harbour(objects: []) { affected_rows } }",
                "insert_harbour",
                "mutation_root",
            ),
            (
                "sailor",
                "mutation { insert_boat(objects: [{owner: \"x\"}]) { affected_rows } }",
                "owner",
                "boat_insert_input",
            ),
            (
                "sailor",
                "mutation { update_boat(where: {}, _set: {price: 1}) { affected_rows } }",
                "price",
                "boat_set_input",
            ),
            (
                "sailor",
                "mutation { delete_boat(where: {}) { affected_rows } }",
                "delete_boat",
                "mutation_root",
            ),
        ] {
            ship.refuse(role, query, &format!("field '{field}' not found in type: '{ty}'"));
        }
        ship.refuse("guest", "mutation { insert_boat(objects: []) { affected_rows } }", "no mutations exist");
    }
}

#[test]
fn inserts_are_preset_and_checked_as_they_are_stored() {
    for ship in ships() {
        ship.check(
            "sailor",
            "mutation { insert_boat_one(object: {id: 7, name: \"Neu\", harbour_id: 1, price: 5}) { id owner } }",
            r#"{"data":{"insert_boat_one":{"id":7,"owner":"ann"}}}"#,
        );
        ship.check("admin", "{ boat_by_pk(id: 7) { code } }", r#"{"data":{"boat_by_pk":{"code":"new"}}}"#);
        for object in [
            "{id: 8, name: \"dear\", harbour_id: 1, price: 100}",
            "{id: 8, name: \"unknown price\", harbour_id: 1}",
            "{id: 8, name: \"elsewhere\", harbour_id: 2, price: 1}",
            "{id: 8, name: \"nested\", harbour_id: 1, price: 1, crews: {data: [{name: \"Bad\"}]}}",
        ] {
            let query = format!("mutation {{ insert_boat(objects: [{object}]) {{ affected_rows }} }}");
            ship.refuse("sailor", &query, "check constraint of an insert/update permission has failed");
        }
        ship.check(
            "admin",
            "{ boat_aggregate { aggregate { count } } crew_aggregate { aggregate { count } } }",
            r#"{"data":{"boat_aggregate":{"aggregate":{"count":4}},"crew_aggregate":{"aggregate":{"count":3}}}}"#,
        );
    }
}

#[test]
fn updates_touch_rows_of_the_filter_and_stay_in_the_check() {
    for ship in ships() {
        ship.check(
            "sailor",
            "mutation { update_boat(where: {}, _set: {name: \"mine\"}) { affected_rows returning { id name } } }",
            r#"{"data":{"update_boat":{"affected_rows":1,"returning":[{"id":1,"name":"mine"}]}}}"#,
        );
        ship.check(
            "sailor",
            "mutation { update_boat_by_pk(pk_columns: {id: 2}, _set: {name: \"no\"}) { id } }",
            r#"{"data":{"update_boat_by_pk":null}}"#,
        );
        for owner in ["\"ben\"", "null"] {
            let query = format!(
                "mutation {{ update_boat(where: {{}}, _set: {{owner: {owner}}}) {{ affected_rows }} }}"
            );
            ship.refuse("sailor", &query, "check constraint of an insert/update permission has failed");
        }
    }
}

#[test]
fn permissions_for_backends_hold_for_backends() {
    for ship in ships() {
        let backend = Identity { is_backend: true, ..ann("sailor") };
        let answer = ship
            .ask_as(&backend, "mutation { delete_boat(where: {name: {_eq: \"Bel\"}}) { affected_rows } }");
        assert_eq!(answer, r#"{"data":{"delete_boat":{"affected_rows":0}}}"#);
    }
}

#[test]
fn an_inherited_role_sees_each_row_with_the_cells_of_who_sees_it() {
    for ship in ships() {
        // `price` is the buyer's, who sees 1 and 2; `owner` the sailor's, who sees 1.
        ship.check(
            "trader",
            "{ boat(order_by: {id: asc}) { id price owner } }",
            r#"{"data":{"boat":[{"id":1,"price":10,"owner":"ann"},{"id":2,"price":20,"owner":null}]}}"#,
        );
        ship.check("trader", "{ boat(where: {owner: {_eq: \"ben\"}}) { id } }", r#"{"data":{"boat":[]}}"#);
        ship.check(
            "trader",
            "{ boat(order_by: {owner: asc_nulls_first}) { id } }",
            r#"{"data":{"boat":[{"id":2},{"id":1}]}}"#,
        );
        let kinds =
            ship.ask_as(&ann("trader"), "{ __type(name: \"boat\") { fields { name type { kind } } } }");
        assert!(kinds.contains(r#"{"name":"name","type":{"kind":"NON_NULL"}}"#), "{kinds}");
    }
}

#[test]
fn the_admin_sees_no_trace_of_roles() {
    for ship in ships() {
        let enums = "{ __type(name: \"boat_update_column\") { enumValues { name } } }";
        let answer = ship.ask_as(&Identity::admin(), enums);
        assert!(!answer.contains("_PLACEHOLDER") && answer.contains("price"), "{answer}");
        ship.check(
            "admin",
            "{ boat_aggregate { aggregate { count } } }",
            r#"{"data":{"boat_aggregate":{"aggregate":{"count":3}}}}"#,
        );
    }
}

/// As Hasura has it. docs/permissions.md says so, and how they are hidden.
#[test]
fn the_filter_ne_shows_rows_without_a_value() {
    let filters = [
        ("ne", r#"{"owner": {"_ne": "ann"}}"#, r#"{"id":2},{"id":3}"#),
        ("neq", r#"{"owner": {"_neq": "X-Hasura-User"}}"#, r#"{"id":2},{"id":3}"#),
        ("sure", r#"{"owner": {"_ne": "ann", "_is_null": false}}"#, r#"{"id":2}"#),
        ("nin", r#"{"owner": {"_nin": ["ann"]}}"#, r#"{"id":2}"#),
        ("nlike", r#"{"owner": {"_nlike": "ann"}}"#, r#"{"id":2}"#),
    ];
    let permission = |(role, filter, _)| {
        format!(r#"{{"role": "{role}", "permission": {{"columns": ["id", "owner"], "filter": {filter}}}}}"#)
    };
    let permissions = filters.map(permission).join(", ");
    let tables = format!(r#"[{{"table": "boat", "select_permissions": [{permissions}]}}]"#);
    let tables: Vec<TableEntry> = serde_json::from_str(&tables).unwrap();
    let options = ModelOptions { track: Track::Listed, tables: &tables, ..ModelOptions::default() };
    for ship in both(FLEET, options) {
        for (role, _, rows) in filters {
            let expected = format!(r#"{{"data":{{"boat":[{rows}]}}}}"#);
            ship.check(role, "{ boat(order_by: {id: asc}) { id } }", &expected);
        }
        // A client's condition leaves them out.
        ship.check(
            "ne",
            r#"{ boat(where: {owner: {_neq: "ann"}}) { id } }"#,
            r#"{"data":{"boat":[{"id":2}]}}"#,
        );
    }
}

#[test]
fn a_filter_asks_rasters() {
    const SHEET: &str = "CREATE EXTENSION postgis; CREATE EXTENSION postgis_raster;
        CREATE TABLE sheet (id int PRIMARY KEY, image raster);
        INSERT INTO sheet VALUES
          (1, ST_AddBand(ST_MakeEmptyRaster(2, 2, 0, 2, 1, -1, 0, 0, 4326), '8BUI'::text, 1, 0)),
          (2, ST_AddBand(ST_MakeEmptyRaster(2, 2, 6, 2, 1, -1, 0, 0, 4326), '8BUI'::text, 1, 0)), (3, NULL);";
    const FIRST: &str = "0100000100000000000000F03F000000000000F0BF0000000000000000000000000000004000000000000000000000000000000000E610000002000200440001010101";
    let point = json!({"type": "Point", "coordinates": [7, 1], "crs": {"type": "name", "properties": {"name": "EPSG:4326"}}});
    let filters = [
        ("same", json!({"_st_intersects_rast": FIRST}), 1),
        ("band", json!({"_st_intersects_nband_geom": {"geommin": point, "nband": 1}}), 2),
        ("shape", json!({"_st_intersects_geom_nband": {"geommin": point}}), 2),
    ];
    let permissions = filters.each_ref().map(
        |(role, filter, _)| json!({"role": role, "permission": {"columns": ["id"], "filter": {"image": filter}}}),
    );
    let tables = json!([{"table": "sheet", "select_permissions": permissions}]);
    let tables: Vec<TableEntry> = serde_json::from_value(tables).unwrap();
    let options = ModelOptions { track: Track::Listed, tables: &tables, ..ModelOptions::default() };
    let sheets = on_postgres(SHEET, options);
    for (role, _, id) in filters {
        sheets.check(role, "{ sheet { id } }", &format!(r#"{{"data":{{"sheet":[{{"id":{id}}}]}}}}"#));
    }
}

#[tokio::test]
async fn a_filter_is_refused_whose_comparison_the_database_lacks() {
    let database = database("CREATE TABLE page (id int PRIMARY KEY, body xml)");
    for filter in [json!({"_eq": "<a/>"}), json!("<a/>"), json!({"_ne": "<a/>"}), json!({"_gt": "<a/>"})] {
        let permission =
            json!({"role": "sailor", "permission": {"columns": ["id"], "filter": {"body": filter}}});
        let tables = json!([{"table": "page", "select_permissions": [permission]}]);
        let tables: Vec<TableEntry> = serde_json::from_value(tables).unwrap();
        let model = ModelOptions { track: Track::Listed, tables: &tables, ..ModelOptions::default() };
        let settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
        let options = PostgresOptions { model, schemas: &["public".to_owned()], stringify: false };
        let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
        let (_, warnings) = opened.unwrap();
        let is_refused = |it: &Warning| it.reason.contains("which has no operator");
        assert!(warnings.iter().any(is_refused), "{filter}: {warnings:?}");
    }
}
