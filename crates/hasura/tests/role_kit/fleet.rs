//! A small fleet with permissions, on both databases.

use super::side::{Database, Side, ask, caller_with};
use crate::answer_kit::{execute, whole};
use crate::policy_kit::runtime;
use serde_json::Value;
use weir_engine::caller::Identity;
use weir_engine::source::Protocol;
use weir_hasura::model::{ModelOptions, Track};
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::function::FunctionEntry;
use weir_metadata::document::table::TableEntry;

const FLEET: &str = "
CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, secret TEXT);
CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, owner TEXT, price INTEGER, code TEXT NOT NULL DEFAULT 'none',
  harbour_id INTEGER NOT NULL REFERENCES harbour (id));
CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT NOT NULL, boat_id INTEGER REFERENCES boat (id));
CREATE TABLE vault (id INTEGER PRIMARY KEY, boat_id INTEGER NOT NULL REFERENCES boat (id));
INSERT INTO harbour VALUES (1, 'Oslo', 'a'), (2, 'Rio', 'b');
INSERT INTO boat VALUES (1, 'Ada', 'ann', 10, 'x', 1), (2, 'Bel', 'ben', 20, 'y', 2), (3, 'Cid', NULL, 30, 'z', 1);
INSERT INTO crew VALUES (1, 'Zoe', 1), (2, 'Yan', 2), (3, 'Xia', NULL);
INSERT INTO vault VALUES (1, 1), (2, 3);
";

const TABLES: &str = r#"[
  {"table": "harbour",
   "array_relationships": [{"name": "boats", "using": {"foreign_key_constraint_on": {"table": "boat", "column": "harbour_id"}}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name"], "filter": {}, "allow_aggregations": true}},
     {"role": "master", "permission": {"columns": ["id", "name"], "filter": {}, "allow_aggregations": true}},
     {"role": "noroot", "permission": {"columns": ["id", "name"], "filter": {}, "allow_aggregations": true, "query_root_fields": []}},
     {"role": "empty", "permission": {"columns": [], "filter": {}, "allow_aggregations": true}}],
   "insert_permissions": [{"role": "master", "permission": {"columns": ["id", "name"], "check": {}}}, {"role": "sailor", "permission": {"columns": ["id", "name"], "check": {"name": {"_ne": "Hell"}}}}],
   "update_permissions": [{"role": "sailor", "permission": {"columns": ["name"], "filter": {"id": {"_eq": 1}}}}]},
  {"table": "boat",
   "object_relationships": [{"name": "harbour", "using": {"foreign_key_constraint_on": "harbour_id"}}],
   "array_relationships": [{"name": "crews", "using": {"foreign_key_constraint_on": {"table": "crew", "column": "boat_id"}}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name", "owner", "harbour_id"], "filter": {"owner": {"_eq": "x-hasura-user"}}, "allow_aggregations": true}},
     {"role": "buyer", "permission": {"columns": ["name", "price"], "filter": {"price": {"_lte": 20}}}},
     {"role": "keyed", "permission": {"columns": ["id", "price"], "filter": {"price": {"_lte": 10}}}},
     {"role": "narrow", "permission": {"columns": ["name"], "filter": {"id": {"_eq": 3}}}},
     {"role": "noroot", "permission": {"columns": ["id", "name"], "filter": {}, "limit": 1}},
     {"role": "empty", "permission": {"columns": [], "filter": {}, "allow_aggregations": true}}],
   "insert_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name", "harbour_id"], "check": {"harbour_id": {"_eq": 1}}, "set": {"owner": "x-hasura-user"}}},
     {"role": "writer", "permission": {"columns": ["id", "name", "harbour_id", "owner"], "check": {}, "set": {"code": null}}}],
   "update_permissions": [
     {"role": "sailor", "permission": {"columns": ["name", "harbour_id"], "filter": {"owner": {"_eq": "x-hasura-user"}}, "check": {"harbour_id": {"_eq": 1}}}}],
   "delete_permissions": [{"role": "sailor", "permission": {"filter": {"owner": "X-Hasura-User"}}}, {"role": "remover", "permission": {"filter": {}}}]},
  {"table": "crew",
   "object_relationships": [{"name": "boat", "using": {"foreign_key_constraint_on": "boat_id"}}],
   "select_permissions": [{"role": "sailor", "permission": {"columns": "*", "filter": {}, "allow_aggregations": true}}],
   "insert_permissions": [{"role": "sailor", "permission": {"columns": ["id", "name"], "check": {"name": {"_ne": "Bad"}}, "set": {"boat_id": 1}}}]},
  {"table": "vault", "object_relationships": [{"name": "boat", "using": {"foreign_key_constraint_on": "boat_id"}}]}
]"#;

const INHERITED: &[(&str, &[&str])] = &[
    ("trader", &["sailor", "buyer"]),
    ("narrow", &["sailor", "buyer"]),
    ("inner", &["keyed", "narrow"]),
    ("broken", &["sailor", "nobody"]),
    ("outer", &["broken", "buyer"]),
    ("mixed", &["keyed", "buyer"]),
];

pub const ANN: &[(&str, &str)] = &[("x-hasura-user", "ann")];

/// Asks both databases each operation as a role, in turn; an answer has to be `expected`, or hold what stands after `~`.
#[track_caller]
pub fn check_as(session: &[(&str, &str)], asked: &[(&str, &str, &str)]) {
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet(database);
        for (role, operation, expected) in asked {
            let found = ask(&side.engine, &caller_with(role, false, session), operation, Protocol::Hasura);
            let is_right = match expected.strip_prefix('~') {
                Some(part) => found.contains(part),
                None => found == *expected,
            };
            assert!(is_right, "{database:?}, {role}: {operation}\n{found}\n{expected}");
        }
    }
}

pub fn check(asked: &[(&str, &str, &str)]) {
    check_as(ANN, asked);
}

pub fn fleet(database: Database) -> Side {
    fleet_with(database, "", &[], &|_| {})
}

/// With more statements, functions, and changed entries of the tables.
pub fn fleet_with(
    database: Database,
    sql: &str,
    functions: &[FunctionEntry],
    change: &dyn Fn(&mut Value),
) -> Side {
    let mut tables: Value = serde_json::from_str(TABLES).unwrap();
    change(&mut tables);
    let tables: Vec<TableEntry> = serde_json::from_value(tables).unwrap();
    let role = |(name, set): &(&str, &[&str])| InheritedRole {
        role_name: (*name).into(),
        role_set: set.iter().map(|it| (*it).into()).collect(),
    };
    let inherited_roles: Vec<InheritedRole> = INHERITED.iter().map(role).collect();
    let model = ModelOptions {
        track: Track::Listed,
        tables: &tables,
        functions,
        inherited_roles: &inherited_roles,
        ..ModelOptions::default()
    };
    Side::serve(database, &[FLEET, sql].concat(), model, &[])
}

pub fn ask_with(side: &Side, identity: &Identity, text: &str, variables: &str) -> String {
    whole(runtime().block_on(execute(&side.engine, identity, Protocol::GraphqlOverHttp, (text, variables))))
}
