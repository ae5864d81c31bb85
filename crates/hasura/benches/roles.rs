//! Cost of permissions: 5,000 tables, 11 roles with all four permissions on each.
//!
//! `cargo bench -p weir-hasura --bench roles`: milliseconds of each step, and the memory of the process after it. With `-- distinct` no two
//! roles have a permission in common.

use std::sync::Arc;
use std::time::Instant;
use weir_database::frontend::ApiFrontend;
use weir_engine::caller::{Claims, Facts, Identity, Token};
use weir_hasura::api::generate;
use weir_hasura::model::{Model, ModelOptions};
use weir_hasura::permission;
use weir_metadata::document::table::TableEntry;
use weir_sqlite::introspect::SqliteOptions;

const TABLES: usize = 5_000;
const ROLES: usize = 11;

/// Megabytes that the process holds.
fn held() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or_default() / 1024
}

fn step<T>(name: &str, run: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let made = run();
    println!("{name:<12} {:>7} ms {:>6} MB", started.elapsed().as_millis(), held());
    made
}

/// The entry of a table; `OWN` in it is the condition of each role.
fn entry(table: usize, is_distinct: bool) -> String {
    let own = |role: usize| {
        if is_distinct {
            format!(r#"{{"owner": {{"_eq": "X-Hasura-User-Id"}}, "id": {{"_gt": {role}}}}}"#)
        } else {
            r#"{"owner": {"_eq": "X-Hasura-User-Id"}}"#.to_owned()
        }
    };
    let rules = |permission: &str| {
        let entry = |role| {
            let permission = permission.replace("OWN", &own(role));
            format!(r#"{{"role": "role{role}", "permission": {permission}}}"#)
        };
        (0..ROLES).map(entry).collect::<Vec<_>>().join(", ")
    };
    format!(
        r#"{{"table": "t{table}", "select_permissions": [{}], "insert_permissions": [{}], "update_permissions": [{}], "delete_permissions": [{}]}}"#,
        rules(r#"{"columns": ["id", "name", "owner"], "filter": OWN, "allow_aggregations": true}"#),
        rules(r#"{"columns": ["id", "name"], "check": OWN, "set": {"owner": "x-hasura-user-id"}}"#),
        rules(r#"{"columns": ["name"], "filter": OWN, "check": OWN}"#),
        rules(r#"{"filter": OWN}"#),
    )
}

fn main() {
    let connection = rusqlite::Connection::open_in_memory().expect("a database");
    let create = |at: usize| {
        format!(
            "CREATE TABLE t{at} (id INTEGER PRIMARY KEY, name TEXT, owner TEXT, next INTEGER REFERENCES t{at});"
        )
    };
    connection.execute_batch(&(0..TABLES).map(create).collect::<String>()).expect("sound statements");
    let is_distinct = std::env::args().any(|it| it == "distinct");
    let entries = (0..TABLES).map(|it| entry(it, is_distinct)).collect::<Vec<_>>().join(",");
    let entries = step("text", || format!("[{entries}]"));
    let tables: Vec<TableEntry> = step("metadata", || serde_json::from_str(&entries).expect("sound entries"));
    drop(entries);
    let (catalog, _) = step("catalog", || {
        weir_sqlite::introspect::read(&connection, SqliteOptions::default()).expect("tables")
    });
    let options = || ModelOptions { tables: &tables, ..ModelOptions::default() };
    let (model, _) =
        step("model", || Model::build(catalog, options(), &mut |_| Err("no SQL is asked".into())));
    let (permissions, warnings) = step("permissions", || permission::build(&model, &options()));
    assert!(warnings.is_empty() && permissions.roles().len() == ROLES, "{warnings:?}");
    let api = step("schema", || generate(model, permissions).expect("a sound schema"));
    let seen = step("visibility", || {
        let of = |role: usize| {
            let claims = Arc::new(Claims::new([], Token::Absent));
            let identity = Identity {
                role: format!("role{role}").into(),
                is_backend: false,
                is_anonymous: false,
                claims,
            };
            let mut facts = Facts::default();
            api.profile(&identity, &mut facts);
            (api.visibility(&facts), api.policy(&facts))
        };
        (0..ROLES).map(of).collect::<Vec<_>>()
    });
    assert_eq!(seen.len(), ROLES);
}
