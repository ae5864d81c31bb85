//! Cost of permissions: 5,000 tables, 11 roles with all four permissions on each.
//!
//! `cargo bench -p weir-sql --bench roles`: milliseconds of each step, and the memory of the process after it.

use std::sync::Arc;
use std::time::Instant;
use weir_engine::caller::{Claims, Facts, Identity, Token};
use weir_metadata::document::table::TableEntry;
use weir_sql::api::generate;
use weir_sql::frontend::ApiFrontend;
use weir_sql::model::{Model, ModelOptions};
use weir_sql::permission;
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

fn entry(table: usize) -> String {
    let rules = |permission: &str| {
        let entry = |role| format!(r#"{{"role": "role{role}", "permission": {permission}}}"#);
        (0..ROLES).map(entry).collect::<Vec<_>>().join(", ")
    };
    let own = r#"{"owner": {"_eq": "X-Hasura-User-Id"}}"#;
    format!(
        r#"{{"table": "t{table}", "select_permissions": [{}], "insert_permissions": [{}], "update_permissions": [{}], "delete_permissions": [{}]}}"#,
        rules(&format!(
            r#"{{"columns": ["id", "name", "owner"], "filter": {own}, "allow_aggregations": true}}"#
        )),
        rules(&format!(
            r#"{{"columns": ["id", "name"], "check": {own}, "set": {{"owner": "x-hasura-user-id"}}}}"#
        )),
        rules(&format!(r#"{{"columns": ["name"], "filter": {own}, "check": {own}}}"#)),
        rules(&format!(r#"{{"filter": {own}}}"#)),
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
    let entries = format!("[{}]", (0..TABLES).map(entry).collect::<Vec<_>>().join(","));
    let tables: Vec<TableEntry> = step("metadata", || serde_json::from_str(&entries).expect("sound entries"));
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
