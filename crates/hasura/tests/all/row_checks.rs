//! Checks of permissions that read other rows are judged when their root field has run: with all that it and those before it did, what
//! triggers did included.

use crate::role_kit::fleet::{ANN, fleet_with};
use crate::role_kit::side::{Database, Side, ask, caller_with};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use weir_engine::engine::Request;
use weir_engine::source::Protocol;

const FAILED: &str = "check constraint of an insert/update permission has failed";
const BOTH: [Database; 2] = [Database::Sqlite, Database::Postgres];

/// A fleet in which the checks of sailors on boats, of inserts and updates, are `check`.
fn served(database: Database, sql: &str, check: &Value) -> Side {
    fleet_with(database, sql, &[], &|tables| {
        let boat = &mut tables[1];
        let insert = &mut boat["insert_permissions"][0]["permission"];
        insert["check"] = check.clone();
        insert["columns"] = json!(["id", "name", "harbour_id", "price"]);
        let update = &mut boat["update_permissions"][0]["permission"];
        (update["check"], update["filter"]) = (check.clone(), json!({}));
        boat["select_permissions"][0]["permission"]["filter"] = json!({});
    })
}

/// Asks each mutation as a sailor: in, with what is answered, or out, with nothing changed.
#[track_caller]
fn check(side: &Side, asked: &[(&str, bool)]) {
    let sailor = caller_with("sailor", false, ANN);
    let boats = || {
        side.ask(
            &caller_with("admin", false, &[]),
            "{ boat(order_by: {id: asc}) { id name price harbour_id } harbour { name } crew { name } }",
        )
    };
    for (fields, is_in) in asked {
        let before = boats();
        let answer = ask(&side.engine, &sailor, &format!("mutation {{ {fields} }}"), Protocol::Hasura);
        if *is_in {
            assert!(answer.starts_with(r#"{"data""#), "{fields}\n{answer}");
            assert_ne!(boats(), before, "{fields}");
        } else {
            assert!(answer.contains(FAILED), "{fields}\n{answer}");
            assert_eq!(boats(), before, "{fields}");
        }
    }
}

fn boat(id: u32, name: &str) -> String {
    format!("{{id: {id}, name: \"{name}\", harbour_id: 1}}")
}

fn insert(key: &str, boats: &[String]) -> String {
    format!("{key}: insert_boat(objects: [{}]) {{ affected_rows }}", boats.join(", "))
}

/// There is a flagship in the harbour.
#[test]
fn a_check_sees_all_that_its_root_field_and_those_before_it_did() {
    for database in BOTH {
        let side = served(database, "", &json!({"harbour": {"boats": {"name": {"_eq": "Flag"}}}}));
        let ant = insert("a", &[boat(10, "Ant")]);
        let flag = insert("b", &[boat(12, "Flag")]);
        let rename =
            |id: u32, name: &str| format!("{{where: {{id: {{_eq: {id}}}}}, _set: {{name: \"{name}\"}}}}");
        let many = |updates: &[String]| {
            format!("update_boat_many(updates: [{}]) {{ affected_rows }}", updates.join(", "))
        };
        check(
            &side,
            &[
                (&ant, false),
                (&format!("{ant} {flag}"), false),
                (&many(&[rename(1, "Ada!")]), false),
                (&many(&[rename(1, "Ada!"), rename(3, "Flag")]), true),
                (&many(&[rename(1, "Ada?"), rename(3, "Cid")]), false),
                ("update_boat(where: {id: {_eq: 3}}, _set: {name: \"Cid\"}) { affected_rows }", false),
                (&ant, true),
            ],
        );
        let side = served(database, "", &json!({"harbour": {"boats": {"name": {"_eq": "Flag"}}}}));
        check(&side, &[(&insert("a", &[boat(11, "Bee"), boat(12, "Flag")]), true)]);
        let side = served(database, "", &json!({"harbour": {"boats": {"name": {"_eq": "Flag"}}}}));
        check(
            &side,
            &[
                (&format!("{} {}", insert("a", &[boat(12, "Flag")]), insert("b", &[boat(10, "Ant")])), true),
                (&insert("a", &[boat(13, "Cat")]), true),
            ],
        );
    }
}

/// At most three boats are in a harbour, as a view counts them.
#[test]
fn a_check_sees_through_views_what_its_root_field_did() {
    let view = "CREATE VIEW crowd AS SELECT harbour_id, count(*) AS boats FROM boat GROUP BY harbour_id;";
    let there = json!({"_and": [{"boats": {"_gt": 3}}, {"harbour_id": {"_ceq": ["$", "harbour_id"]}}]});
    let few = json!({"_not": {"_exists": {"_table": "crowd", "_where": there}}});
    for database in BOTH {
        let side = fleet_with(database, view, &[], &|tables| {
            tables[1]["insert_permissions"][0]["permission"]["check"] = few.clone();
            tables.as_array_mut().unwrap().push(json!({"table": "crowd"}));
        });
        check(
            &side,
            &[
                (&insert("a", &[boat(10, "Ant"), boat(11, "Bee")]), false),
                (&format!("{} {}", insert("a", &[boat(10, "Ant")]), insert("b", &[boat(11, "Bee")])), false),
                (&insert("a", &[boat(10, "Ant")]), true),
                (&insert("a", &[boat(11, "Bee")]), false),
            ],
        );
    }
}

/// A trigger hires for boats and makes some dear.
fn triggers(database: Database) -> String {
    let hire =
        "INSERT INTO crew (id, name, boat_id) SELECT 100 + NEW.id, 'Auto', NEW.id WHERE NEW.name <> 'Empty';";
    let raise = "UPDATE boat SET price = 5000 WHERE id = NEW.id AND name = 'Dear';";
    match database {
        Database::Sqlite => format!("CREATE TRIGGER hire AFTER INSERT ON boat BEGIN {hire} {raise} END;"),
        Database::Postgres => format!(
            "CREATE FUNCTION hire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {hire} {raise} RETURN NULL; END $$;
             CREATE TRIGGER hire AFTER INSERT ON boat FOR EACH ROW EXECUTE FUNCTION hire();"
        ),
    }
}

#[test]
fn a_check_sees_what_triggers_did() {
    for database in BOTH {
        let side = served(database, &triggers(database), &json!({"crews": {"name": {"_eq": "Auto"}}}));
        check(
            &side,
            &[
                (&insert("a", &[boat(10, "Empty")]), false),
                (&insert("a", &[boat(10, "Ant"), boat(11, "Empty")]), false),
                (&insert("a", &[boat(10, "Ant")]), true),
            ],
        );
        let cheap = json!({"_or": [{"price": {"_lt": 1000}}, {"price": {"_is_null": true}}]});
        let side = served(database, &triggers(database), &cheap);
        check(&side, &[(&insert("a", &[boat(10, "Dear")]), false), (&insert("a", &[boat(10, "Ant")]), true)]);
    }
}

/// A harbour that has boats, and boats of a new harbour.
#[test]
fn a_parent_of_nested_rows_does_not_see_its_children_and_they_see_it() {
    for database in BOTH {
        let nested = |name: &str| {
            format!(
                "insert_harbour_one(object: {{id: 9, name: \"{name}\", boats: {{data: [{{id: 10, name: \"Ant\"}}]}}}}) {{ id }}"
            )
        };
        let serve = |harbour: Value, boat: Value| {
            fleet_with(database, "", &[], &|tables| {
                tables[0]["insert_permissions"][1]["permission"]["check"] = harbour.clone();
                tables[1]["insert_permissions"][0]["permission"]["check"] = boat.clone();
            })
        };
        check(&serve(json!({"boats": {}}), json!({})), &[(&nested("New"), false)]);
        check(&serve(json!({"_not": {"boats": {}}}), json!({})), &[(&nested("New"), true)]);
        let side = serve(json!({}), json!({"harbour": {"name": {"_eq": "New"}}}));
        check(&side, &[(&nested("Old"), false), (&nested("New"), true)]);
    }
}

/// A function that counts the boats of a harbour.
#[test]
fn a_check_sees_through_computed_fields_what_its_root_field_did() {
    let function = "CREATE FUNCTION mates(boat) RETURNS bigint STABLE LANGUAGE sql AS 'SELECT count(*) FROM boat WHERE harbour_id = $1.harbour_id';";
    let side = fleet_with(Database::Postgres, function, &[], &|tables| {
        let boat = &mut tables[1];
        boat["computed_fields"] = json!([{"name": "mates", "definition": {"function": "mates"}}]);
        boat["insert_permissions"][0]["permission"]["check"] = json!({"mates": {"_lte": 3}});
    });
    check(
        &side,
        &[
            (&insert("a", &[boat(10, "Ant"), boat(11, "Bee")]), false),
            (&insert("a", &[boat(10, "Ant")]), true),
            (&insert("a", &[boat(11, "Bee")]), false),
        ],
    );
}

/// The statements of a mutation of a sailor.
fn statements(side: &Side, fields: &str) -> String {
    let text = format!("mutation {{ {fields} }}");
    let request = Request::new(&text, Instant::now() + Duration::from_secs(60));
    let caller = side.engine.caller(&caller_with("sailor", false, ANN));
    let explained =
        side.engine.explain(request, &caller).map_err(|it| String::from_utf8_lossy(&it).into_owned());
    explained.expect("it is planned").steps.iter().map(|it| it.1.as_str()).collect()
}

#[test]
fn only_checks_that_read_other_rows_are_statements_of_their_own() {
    let fields = insert("a", &[boat(10, "Ant")]);
    for database in BOTH {
        let own = statements(&served(database, "", &json!({"harbour_id": {"_eq": 1}})), &fields);
        assert!(own.contains("RETURNING") && !own.contains("SELECT"), "{own}");
        let other =
            statements(&served(database, "", &json!({"harbour": {"name": {"_eq": "Oslo"}}})), &fields);
        assert!(other.contains("IS NOT TRUE"), "{other}");
    }
}
