//! Data that a role does not see changes no byte of its answers, whoever asks before it or at the same time.

use crate::role_kit::asker::INTROSPECTION;
use crate::role_kit::fleet::{ANN, ask_with, fleet, fleet_with};
use crate::role_kit::side::{Database, Side, ask, caller_with};
use serde_json::json;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Request;
use weir_engine::source::Protocol;

/// Operations of a sailor: answers, errors, suggestions, and refusals.
const ASKED: &[&str] = &[
    "{ boat(order_by: {id: asc}) { id name owner harbour { name boats { id } } } }",
    "{ a: boat_by_pk(id: 1) { name } b: boat_by_pk(id: 2) { name } c: boat_by_pk(id: 7) { name } }",
    "{ harbour(order_by: {boats_aggregate: {count: desc}}) { name boats_aggregate { aggregate { count } } } }",
    "{ harbour(where: {_not: {boats: {}}}, order_by: {id: asc}) { id } }",
    "{ boat_aggregate { aggregate { count max { name } min { name } } nodes { id } } }",
    "{ boat_group_by(by: [owner]) { key { owner } aggregate { count } } }",
    "{ crew(order_by: [{boat: {name: desc_nulls_last}}, {id: asc}]) { id boat { id } } }",
    "{ boat(where: {id: {_in: [1, 2, 7]}}) { id } }",
    "query @cached { boat(order_by: {id: asc}) { id name } harbour(order_by: {id: asc}) { boats { name } } }",
    "{ boat { code } }",
    "{ boat { pric } }",
    "{ boat(where: {cod: {_eq: \"x\"}}) { id } }",
    "{ boat(order_by: {prices: asc}) { id } }",
    "{ boat(distinct_on: price) { id } }",
    "{ vault_by_pk(id: 1) { id } }",
    "{ __type(name: \"vault\") { name } }",
    "query ($w: vaultbool_exp) { boat { id } }",
    "{ boat { nam } }",
    "{ vaults { id } }",
    "{ boats { id } }",
    "{ harbour { secret } }",
    "{ __schema { types { name fields { name } inputFields { name } enumValues { name } } } }",
    "mutation { update_boat(where: {id: {_gt: 1}}, _set: {name: \"z\"}) { affected_rows } }",
    "mutation { delete_boat(where: {id: {_gt: 1}}) { affected_rows } }",
    "mutation { update_boat(where: {id: {_eq: 1}}, _set: {harbour_id: 2}) { affected_rows } }",
    "mutation { insert_vault(objects: []) { affected_rows } }",
];

/// Changes what a sailor called ann does not see.
const HIDDEN: &str = "UPDATE harbour SET secret = 'other'; UPDATE boat SET price = 77, code = 'other' WHERE id = 1;
    UPDATE boat SET name = 'Zzz', price = 1, owner = 'eve' WHERE id = 2; DELETE FROM vault WHERE id = 2;
    DELETE FROM boat WHERE id = 3; INSERT INTO boat VALUES (7, 'Aaa', 'ben', 1, 'q', 2), (8, 'Abc', NULL, NULL, 'q', 1);
    INSERT INTO vault VALUES (9, 8);";

/// A plan for people, or the refusal to make one.
fn explained(
    side: &Side,
    identity: &Identity,
    operation: &str,
    protocol: Protocol,
) -> Result<String, Vec<u8>> {
    let request = Request { protocol, ..Request::new(operation, Instant::now() + Duration::from_secs(60)) };
    let made = side.engine.explain(request, &side.engine.caller(identity))?;
    Ok(format!("{made:?}"))
}

#[test]
fn hidden_rows_change_no_byte_of_any_answer() {
    for database in [Database::Sqlite, Database::Postgres] {
        let one = fleet(database);
        let mut other = fleet(database);
        (other.beside)(HIDDEN);
        let ann = caller_with("sailor", false, ANN);
        let ben = caller_with("sailor", false, &[("x-hasura-user", "ben")]);
        // The second time all plans are warm, and others have asked the same between.
        for _ in 0..2 {
            for operation in ASKED {
                for protocol in [Protocol::Hasura, Protocol::GraphqlOverHttp] {
                    let [found, expected] =
                        [&one, &other].map(|it| ask(&it.engine, &ann, operation, protocol));
                    assert_eq!(found, expected, "{database:?}: {operation}");
                    let [found, expected] = [&one, &other].map(|it| explained(it, &ann, operation, protocol));
                    assert_eq!(found, expected, "{database:?}: {operation}");
                    if operation.starts_with('{') {
                        ask(&one.engine, &ben, operation, protocol);
                        ask(&other.engine, &Identity::admin(), operation, protocol);
                    }
                }
            }
        }
    }
}

/// Tables and columns that no role sees, with names like those that roles see and ask for.
const HIDDEN_SCHEMA: &str = "ALTER TABLE boat ADD COLUMN prices INTEGER; ALTER TABLE boat ADD COLUMN nam TEXT;
    ALTER TABLE harbour ADD COLUMN secrets TEXT; CREATE TABLE vaults (id INTEGER PRIMARY KEY, boat_id INTEGER REFERENCES boat (id));
    CREATE TABLE boats (id INTEGER PRIMARY KEY, name TEXT);";

#[test]
fn hidden_tables_and_columns_change_no_byte_of_any_answer() {
    for database in [Database::Sqlite, Database::Postgres] {
        let one = fleet(database);
        let other = fleet_with(database, HIDDEN_SCHEMA, &[], &|tables| {
            let by_boat = json!({"table": "vaults", "column": "boat_id"});
            let vaults = json!({"name": "nams", "using": {"foreign_key_constraint_on": by_boat}});
            tables[1]["array_relationships"].as_array_mut().unwrap().push(vaults);
            let all = tables.as_array_mut().unwrap();
            all.push(json!({"table": "vaults", "select_permissions": [
                {"role": "keeper", "permission": {"columns": "*", "filter": {}, "allow_aggregations": true}}]}));
            all.insert(0, json!({"table": "boats"}));
        });
        for role in ["sailor", "buyer", "trader", "writer", "empty", "nobody"] {
            let caller = caller_with(role, false, ANN);
            for operation in ASKED.iter().chain([&INTROSPECTION, &"{ boat { nams { id } vaults { id } } }"]) {
                for protocol in [Protocol::Hasura, Protocol::GraphqlOverHttp] {
                    let [found, expected] =
                        [&one, &other].map(|it| ask(&it.engine, &caller, operation, protocol));
                    assert_eq!(found, expected, "{database:?} {role}: {operation}");
                    let [found, expected] =
                        [&one, &other].map(|it| explained(it, &caller, operation, protocol).err());
                    assert_eq!(found, expected, "{database:?} {role}: {operation}");
                }
            }
        }
        assert_ne!(
            ask(&one.engine, &Identity::admin(), INTROSPECTION, Protocol::Hasura),
            ask(&other.engine, &Identity::admin(), INTROSPECTION, Protocol::Hasura)
        );
    }
}

#[test]
fn a_hidden_row_and_a_missing_row_share_one_plan() {
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet(database);
        let ann = caller_with("sailor", false, ANN);
        let text = "query ($id: Int!) { boat_by_pk(id: $id) { id } }";
        let answers = [2, 99].map(|id| ask_with(&side, &ann, text, &format!("{{\"id\": {id}}}")));
        assert_eq!(answers[0], answers[1]);
        assert_eq!(side.engine.plan_cache().built, 1, "{database:?}");
    }
}

#[test]
fn callers_of_one_role_share_a_plan_but_no_answer() {
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet(database);
        let callers = if database == Database::Sqlite { 10_000 } else { 1_000 };
        for number in 0..callers {
            let user = if number % 1_000 == 7 { "ann".to_owned() } else { format!("user{number}") };
            let caller = caller_with("sailor", false, &[("x-hasura-user", &user)]);
            let found = ask(&side.engine, &caller, "{ boat { id } }", Protocol::Hasura);
            let expected =
                if user == "ann" { r#"{"data":{"boat":[{"id":1}]}}"# } else { r#"{"data":{"boat":[]}}"# };
            assert_eq!(found, expected, "{database:?} {user}");
        }
        assert_eq!(side.engine.plan_cache().built, 1, "{database:?}");
    }
}

#[test]
fn concurrent_requests_never_mix_users_or_roles() {
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet(database);
        let text = "{ boat(order_by: {name: asc}) { name } }";
        let boats = |names: &str| format!(r#"{{"data":{{"boat":[{names}]}}}}"#);
        let [ada, bel, cid] = ["Ada", "Bel", "Cid"].map(|it| format!(r#"{{"name":"{it}"}}"#));
        let callers = [
            (caller_with("sailor", false, ANN), boats(&ada)),
            (caller_with("sailor", false, &[("x-hasura-user", "ben")]), boats(&bel)),
            (caller_with("sailor", true, &[("x-hasura-user", "eve")]), boats("")),
            (caller_with("buyer", false, ANN), boats(&format!("{ada},{bel}"))),
            (caller_with("narrow", false, ANN), boats(&cid)),
            (Identity::admin(), boats(&format!("{ada},{bel},{cid}"))),
        ];
        let engine = &side.engine;
        let callers = &callers;
        std::thread::scope(|threads| {
            for first in 0..4 {
                threads.spawn(move || {
                    for at in 0..300 {
                        let (caller, expected) = &callers[(first + at) % callers.len()];
                        let found = ask(engine, caller, text, Protocol::Hasura);
                        assert_eq!(found, *expected, "{database:?}: {caller:?}");
                    }
                });
            }
        });
    }
}

#[test]
fn suggestions_and_refusals_name_nothing_hidden() {
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet(database);
        let ann = caller_with("sailor", false, ANN);
        for (operation, hidden) in [
            ("{ boat { pric } }", "price"),
            ("{ boat { cod } }", "code"),
            ("{ harbour { secre } }", "secret"),
            ("{ vaul { id } }", "vault"),
            ("{ boat(where: {pric: {_eq: 1}}) { id } }", "price"),
            ("{ boat(order_by: {pric: asc}) { id } }", "price"),
            ("{ boat(distinct_on: pric) { id } }", "price"),
            ("{ boat_group_by(by: [pric]) { key { id } } }", "price"),
            ("{ boat_aggregate { aggregate { max { pric } } } }", "price"),
            ("mutation { insert_boat(objects: [{pric: 1}]) { affected_rows } }", "price"),
            ("mutation { update_boat(where: {}, _set: {pric: 1}) { affected_rows } }", "price"),
            ("mutation { insert_vaul(objects: []) { affected_rows } }", "vault"),
            ("query ($w: vault_bool_ex) { boat { id } }", "vault_bool_exp"),
            ("{ boat { ... on vaul { id } } }", "vault\\\""),
        ] {
            for protocol in [Protocol::Hasura, Protocol::GraphqlOverHttp] {
                let answer = ask(&side.engine, &ann, operation, protocol);
                let refusal = explained(&side, &ann, operation, protocol).unwrap_err();
                let refusal = String::from_utf8(refusal).unwrap();
                for told in [&answer, &refusal].map(|it| it.replace("\"code\":", "")) {
                    let is_silent = told.contains("\"errors\"") && !told.contains(hidden);
                    assert!(is_silent, "{database:?}: {operation}\n{told}");
                }
            }
        }
    }
}

/// A violated key reveals that the value exists, which cannot be avoided; nothing else is revealed.
#[test]
fn a_violated_constraint_reads_the_same_for_hidden_and_visible_rows() {
    for database in [Database::Sqlite, Database::Postgres] {
        let side = fleet(database);
        let insert =
            |object: &str| format!("mutation {{ insert_boat(objects: [{object}]) {{ affected_rows }} }}");
        let upsert = |object: &str| {
            format!(
                "mutation {{ insert_boat(objects: [{object}], on_conflict: {{constraint: boat_pkey, update_columns: [name]}}) {{ affected_rows returning {{ id }} }} }}"
            )
        };
        for (role, seen, hidden) in [
            // Boat 1 is ann's, boats 2 and 3 are not.
            (
                "sailor",
                insert("{id: 9, name: \"Ada\", harbour_id: 1}"),
                insert("{id: 9, name: \"Bel\", harbour_id: 1}"),
            ),
            (
                "sailor",
                insert("{id: 1, name: \"N\", harbour_id: 1}"),
                insert("{id: 2, name: \"N\", harbour_id: 1}"),
            ),
            (
                "sailor",
                insert("{id: 1, name: \"N\", harbour_id: 1}"),
                insert("{id: 3, name: \"N\", harbour_id: 1}"),
            ),
            (
                "sailor",
                upsert("{id: 9, name: \"Ada\", harbour_id: 1}"),
                upsert("{id: 9, name: \"Cid\", harbour_id: 1}"),
            ),
            (
                "writer",
                insert("{id: 1, name: \"N\", harbour_id: 1}"),
                insert("{id: 2, name: \"N\", harbour_id: 1}"),
            ),
        ] {
            let caller = caller_with(role, false, ANN);
            for protocol in [Protocol::Hasura, Protocol::GraphqlOverHttp] {
                let [of_seen, of_hidden] =
                    [&seen, &hidden].map(|it| ask(&side.engine, &caller, it, protocol));
                assert!(of_seen.contains("\"errors\""), "{database:?} {role}: {seen}\n{of_seen}");
                assert_eq!(of_seen, of_hidden, "{database:?} {role}: {hidden}");
                for value in ["Ada", "Bel", "Cid", "ben", "vault"] {
                    assert!(!of_hidden.contains(value), "{database:?} {role}: {hidden}\n{of_hidden}");
                }
            }
        }
    }
}

#[test]
fn concurrent_users_get_the_answers_they_get_alone() {
    for database in [Database::Sqlite, Database::Postgres] {
        let sailor = |user: &str| caller_with("sailor", false, &[("x-hasura-user", user)]);
        let callers = [sailor("ann"), sailor("ben"), caller_with("trader", false, ANN), Identity::admin()];
        let reads: Vec<String> = ASKED
            .iter()
            .filter(|it| it.starts_with('{'))
            .flat_map(|it| [(*it).to_owned(), format!("query @cached {it}")])
            .collect();
        // Each alone, on a server that nobody else asks.
        let alone: Vec<Vec<String>> = callers
            .iter()
            .map(|caller| {
                let side = fleet(database);
                reads.iter().map(|it| ask(&side.engine, caller, it, Protocol::Hasura)).collect()
            })
            .collect();
        let side = fleet(database);
        let engine = &side.engine;
        let callers = &callers;
        let reads = &reads;
        let alone = &alone;
        std::thread::scope(|threads| {
            for first in 0..4 {
                threads.spawn(move || {
                    // Callers walk over the same operations at the same time, and twice: of plans and answers that are kept.
                    for at in 0..2 * reads.len() * callers.len() {
                        let caller = (first + at) % callers.len();
                        let read = at / callers.len() % reads.len();
                        let found = ask(engine, &callers[caller], &reads[read], Protocol::Hasura);
                        assert_eq!(found, alone[caller][read], "{database:?} {caller}: {}", reads[read]);
                    }
                });
            }
        });
    }
}
