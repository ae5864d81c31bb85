//! A role's answers are those of the admin on a database that holds only the rows and cells of the role.
//!
//! Permissions, rows and operations are random. A judge in this test says by the permissions' JSON, row by row, what the role sees
//! and may write; it knows nothing of the product. Operations are written by the role's own introspection.

use crate::postgres_kit::release::on_one_release;
use crate::role_kit::asker::{Asker, INTROSPECTION, Known, RETURNED, View};
use crate::role_kit::grant::{Grants, ROLES, is_alone, lists};
use crate::role_kit::judge::{Judge, Row, SESSION, TABLES, World, table};
use crate::role_kit::members::members;
use crate::role_kit::side::{Database, Side, caller, fill, world};
use crate::wall::JOINS;
use crate::wall_kit::sorted;
use serde_json::Value;
use weir_engine::caller::Identity;

/// Permissions for each database; `WEIR_ROLE_CASES` asks for more.
const CASES: u64 = 4;
const OPERATIONS: u64 = 30;

fn cases() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let from = number("WEIR_ROLE_FROM").unwrap_or(0);
    from..from + number("WEIR_ROLE_CASES").unwrap_or(CASES)
}

/// Asks as every role, and as the admin of what the role sees. Gives the numbers of answers and of errors.
fn reads(database: Database, seed: u64) -> (u64, u64) {
    let grants = Grants::new(seed);
    let rows = world(seed);
    let mut answers = 0;
    let mut errors = 0;
    for role in ROLES {
        let known: Known =
            TABLES.iter().map(|it| (it.0, (grants.is_keyed(role, it.0), grants.limit(role, it.0)))).collect();
        let is_target = |target: &str| {
            let of = target.trim_end_matches("_by_pk").trim_end_matches("_aggregate");
            known[of].0
        };
        // A join that compares a column which the role does not see is absent for it.
        let joins: Vec<_> = JOINS.iter().copied().filter(|it| is_target(it.0)).collect();
        let mut whole = Side::new(database, &grants, None, (!seed.is_multiple_of(3), &joins));
        let mut seen = Side::new(database, &grants, Some(&|table| known[table].0), (false, &joins));
        (whole.beside)(&fill(&rows));
        (seen.beside)(&fill(&grants.seen(role, &rows)));
        let identity = caller(role, grants.is_backend);
        let view = View::new(&whole.ask(&identity, INTROSPECTION));
        for at in 0..OPERATIONS {
            let mut asker = Asker::new(&view, seed * 1_000 + at, &known);
            let (asked, capped) = asker.operation(false);
            let found = whole.ask(&identity, &asked);
            let expected = seen.ask(&Identity::admin(), &capped);
            let told = || TABLES.iter().map(|it| grants.tell(role, it.0, "select")).collect::<String>();
            let what = || format!("seed {seed}, {role} on {database:?}: {asked}\n{}", told());
            if found.contains("\"errors\"") || expected.contains("\"errors\"") {
                let both = found.contains("\"errors\"") && expected.contains("\"errors\"");
                assert!(both, "{}\n{found:.700}\n{expected:.700}", what());
                errors += 1;
                continue;
            }
            answers += 1;
            if asker.exact {
                assert!(found == expected, "{}\n{found}\n{expected}", what())
            } else {
                assert!(sorted(&found) == sorted(&expected), "{}\n{found}\n{expected}", what())
            }
        }
    }
    (answers, errors)
}

fn all_reads(database: Database) {
    let sum = cases().map(|seed| reads(database, seed)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    println!("{} answers, {} errors", sum.0, sum.1);
    assert!(sum.0 > 4 * sum.1, "too many errors: {sum:?}");
}

#[test]
fn a_role_reads_what_the_admin_reads_of_its_rows_on_sqlite() {
    all_reads(Database::Sqlite);
}

#[test]
fn a_role_reads_what_the_admin_reads_of_its_rows_on_postgres() {
    on_one_release("reads of roles", || all_reads(Database::Postgres));
}

/// A table's row before and after.
struct Changed<'w> {
    of: &'static str,
    before: Option<&'w Row>,
    after: Option<&'w Row>,
}

fn changes<'w>(before: &'w World, after: &'w World) -> Vec<Changed<'w>> {
    let mut all = Vec::new();
    for (of, _, key) in TABLES {
        let find =
            |rows: &'w World, row: &Row| rows[*of].iter().find(|it| key.iter().all(|k| it[*k] == row[*k]));
        for row in &before[*of] {
            let now = find(after, row);
            if now != Some(row) {
                all.push(Changed { of, before: Some(row), after: now });
            }
        }
        let new = after[*of].iter().filter(|row| find(before, row).is_none());
        all.extend(new.map(|row| Changed { of, before: None, after: Some(row) }));
    }
    all
}

/// The reason for which a role may not make a change.
fn fault(grants: &Grants, role: &str, [before, after]: [&World; 2], change: &Changed<'_>) -> Option<String> {
    let rule = |kind| grants.write(role, change.of, kind);
    let refused = |why: &str| Some(why.to_owned());
    match (change.before, change.after) {
        (Some(row), None) => match rule("delete") {
            Some(rule) if Judge(before).holds(&rule["filter"], change.of, row) => None,
            _ => refused("deletes it"),
        },
        (None, Some(row)) => {
            let Some(rule) = rule("insert") else { return refused("inserts it") };
            if !Judge(after).holds(&rule["check"], change.of, row) {
                return refused("breaks the check");
            }
            // Keys may come from the row that this one is nested in, or from the database.
            let is_tie = |column: &str| column.ends_with("id");
            let free = |column: &str| lists(rule, column) || is_tie(column);
            let mut columns = table(change.of).1.iter().map(|it| it.0);
            columns
                .find(|it| !is_preset(rule, it, &row[*it], || free(it) || row[*it].is_null()))
                .map(Into::into)
        }
        (Some(old), Some(row)) => {
            let Some(rule) = rule("update") else { return refused("updates it") };
            if !Judge(before).holds(&rule["filter"], change.of, old) {
                return refused("updates it outside the filter");
            }
            // Without a check the filter has to hold afterwards too; where it walks to other rows, these may have changed since.
            let check = if rule["check"].is_null() { &rule["filter"] } else { &rule["check"] };
            if is_alone(check) && !Judge(after).holds(check, change.of, row) {
                return refused("breaks the check of updates");
            }
            let mut columns = table(change.of).1.iter().map(|it| it.0);
            let free = |it: &str| lists(rule, it) || old[it] == row[it];
            columns.find(|it| !is_preset(rule, it, &row[*it], || free(it))).map(Into::into)
        }
        (None, None) => None,
    }
}

/// True if a column has its preset; without one, what `other` says.
fn is_preset(rule: &Value, column: &str, cell: &Value, other: impl Fn() -> bool) -> bool {
    let Some(preset) = rule["set"].get(column) else { return other() };
    let text = preset.as_str().map(str::to_ascii_lowercase).unwrap_or_default();
    match SESSION.iter().find(|it| it.0 == text) {
        Some((_, value)) => cell.as_str().map_or_else(|| cell.to_string(), str::to_owned) == *value,
        None => cell == preset,
    }
}

/// The rows in an answer that a mutation returned, by table.
fn returned<'a>(answer: &'a Value, out: &mut Vec<(&'a str, Vec<(&'a str, &'a Value)>)>) {
    match answer {
        Value::Object(members) => {
            let cells: Vec<_> =
                members.iter().filter_map(|(key, cell)| Some((key.strip_prefix(RETURNED)?, cell))).collect();
            if !cells.is_empty() {
                out.push((members["__typename"].as_str().unwrap(), cells));
            }
            members.values().for_each(|it| returned(it, out));
        }
        Value::Array(items) => items.iter().for_each(|it| returned(it, out)),
        _ => {}
    }
}

/// Checks that what a mutation returned are rows that it wrote, and cells that the role sees. Their filter is that of the mutation.
fn check_returned(grants: &Grants, role: &str, [before, after]: [&World; 2], asked: &str, answer: &str) {
    // A row that is written twice is returned as it was between.
    if asked.contains("_many(") || asked.contains("on_conflict") {
        return;
    }
    let answer = serde_json::from_str(answer).unwrap();
    let mut rows = Vec::new();
    returned(&answer, &mut rows);
    let world = if asked.contains(": delete_") { before } else { after };
    for (of, cells) in rows {
        // Other rows may have changed after the row was returned. Computed values are judged where rows are read.
        if grants.is_alone(role, of) {
            let is_shown = |row: &Row| {
                let cell = |name: &str| {
                    row.contains_key(name).then(|| grants.returned(role, of, name, (world, row)))
                };
                cells.iter().all(|(name, found)| cell(name).is_none_or(|it| it == *found))
            };
            let told = grants.tell(role, of, "select");
            assert!(world[of].iter().any(is_shown), "{role}: {asked}\n{answer}\n{of} {cells:?}\n{told}");
        }
    }
}

fn writes(database: Database, seed: u64) -> (u64, u64) {
    let grants = Grants::new(seed);
    let rows = world(seed);
    let mut changed = 0;
    let mut errors = 0;
    let mut whole = Side::new(database, &grants, None, (seed.is_multiple_of(2), &[]));
    for role in ROLES {
        let known: Known = TABLES.iter().map(|it| (it.0, (false, None))).collect();
        let identity = caller(role, grants.is_backend);
        let view = View::new(&whole.ask(&identity, INTROSPECTION));
        if !view.mutates() {
            continue;
        }
        (whole.beside)(&fill(&rows));
        let mut before = whole.read();
        for at in 0..OPERATIONS * 2 {
            let (asked, _) = Asker::new(&view, seed * 1_000 + at, &known).operation(true);
            let answer = whole.ask(&identity, &asked);
            let after = whole.read();
            let what = format!("seed {seed}, {role} on {database:?}: {asked}\n{answer}");
            if answer.contains("\"errors\"") {
                assert_eq!(before, after, "{what} failed, and changed something");
                errors += 1;
                continue;
            }
            check_returned(&grants, role, [&before, &after], &asked, &answer);
            for change in changes(&before, &after) {
                let fault = fault(&grants, role, [&before, &after], &change);
                let pair = (change.of, change.before, change.after);
                let told =
                    || ["insert", "update", "delete"].map(|it| grants.tell(role, change.of, it)).concat();
                assert!(fault.is_none(), "{what}\n{pair:?}: {fault:?}\n{}", told());
                changed += 1;
            }
            if before != after {
                (whole.beside)(&fill(&rows));
                before = whole.read();
            }
        }
    }
    (changed, errors)
}

fn all_writes(database: Database) {
    let sum = cases().map(|seed| writes(database, seed)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    println!("{} changed rows, {} errors", sum.0, sum.1);
    assert!(sum.0 * 4 > sum.1, "too many errors: {sum:?}");
}

#[test]
fn a_role_writes_what_it_may_on_sqlite() {
    all_writes(Database::Sqlite);
}

#[test]
fn a_role_writes_what_it_may_on_postgres() {
    on_one_release("writes of roles", || all_writes(Database::Postgres));
}

/// Compares what a role sees of the schema with what its permissions say.
fn introspection(database: Database, seed: u64) {
    let grants = Grants::new(seed);
    let side = Side::new(database, &grants, None, (true, &[]));
    let whole = View::new(&side.ask(&Identity::admin(), INTROSPECTION));
    for role in ROLES {
        let identity = caller(role, grants.is_backend);
        let view = View::new(&side.ask(&identity, INTROSPECTION));
        let what = format!("seed {seed}, {role} on {database:?}");
        assert!(view.dangling().is_empty(), "{what}: {:?}", view.dangling());
        for (ty, expected) in members(&grants, role, database == Database::Postgres) {
            let mut found = view.members(&ty);
            if let Some(found) = &mut found {
                found.remove("no_queries_available");
                found.remove("shelf");
            }
            let is_right = match (&found, expected.is_empty()) {
                (Some(found), _) => *found == expected,
                // Nothing leads to the type, or nothing of it is seen.
                (None, is_empty) => is_empty || !ty.ends_with("_root"),
            };
            let told = ["select", "insert", "update", "delete"];
            let told =
                || told.map(|it| TABLES.iter().map(|of| grants.tell(role, of.0, it)).collect::<String>());
            assert!(is_right, "{what}, {ty}: {found:?}\n{expected:?}\n{}", told().concat());
        }
        let names: Vec<&String> = whole.types().collect();
        for names in names.chunks(10) {
            let asked = names.iter().enumerate().map(|(at, name)| {
                format!("t{at}: __type(name: \"{name}\") {{ name fields {{ name }} inputFields {{ name }} enumValues {{ name }} }} ")
            });
            let answer = side.ask(&identity, &format!("{{ {} }}", asked.collect::<String>()));
            let answer: Value = serde_json::from_str(&answer).unwrap();
            for (at, name) in names.iter().enumerate() {
                let ty = &answer["data"][format!("t{at}")];
                let lists = ["fields", "inputFields", "enumValues"].map(|it| ty[it].as_array().cloned());
                let found = lists.into_iter().flatten().flatten();
                let found = found.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
                let found = (!ty.is_null()).then_some(found);
                assert_eq!(found, view.members(name), "{what}: {name}");
            }
        }
    }
}

#[test]
fn a_role_sees_the_members_that_its_permissions_list() {
    on_one_release("members of roles", || {
        for database in [Database::Sqlite, Database::Postgres] {
            cases().for_each(|seed| introspection(database, seed));
        }
    });
}
