//! Data that a role does not see changes no byte of its answers, whoever asks before it or at the same time.

use crate::role_kit::fleet::{ANN, ask_with, fleet};
use crate::role_kit::side::{Database, ask, caller_with};
use weir_engine::caller::Identity;
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
    "{ boat { code } }",
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

#[test]
fn row_78_what_a_role_does_not_see_changes_no_byte_of_any_answer() {
    for database in [Database::Sqlite, Database::Postgres] {
        let (one, mut other) = (fleet(database), fleet(database));
        (other.beside)(HIDDEN);
        let (ann, ben) =
            (caller_with("sailor", false, ANN), caller_with("sailor", false, &[("x-hasura-user", "ben")]));
        // The second time all plans are warm, and others have asked the same between.
        for _ in 0..2 {
            for operation in ASKED {
                for protocol in [Protocol::Hasura, Protocol::GraphqlOverHttp] {
                    let [found, expected] =
                        [&one, &other].map(|it| ask(&it.engine, &ann, operation, protocol));
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

#[test]
fn row_79_a_hidden_row_and_a_missing_one_have_one_plan() {
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
fn row_80_callers_of_one_role_share_a_plan_and_no_answer() {
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
fn row_80_requests_in_flight_at_once_never_mix_users_or_roles() {
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
        let (engine, callers) = (&side.engine, &callers);
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
