//! Functions and computed fields under the permissions of roles: who may call them, what of their rows is shown, and the session they get.

use crate::fleet_kit::{Fleet, ann, caller, on_postgres};
use weir_engine::caller::Identity;
use weir_hasura::model::{ModelOptions, Track};
use weir_metadata::document::api::InheritedRole;
use weir_metadata::document::function::FunctionEntry;
use weir_metadata::document::table::TableEntry;

const FLEET: &str = "
    CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT, price INTEGER, harbour_id INTEGER REFERENCES harbour (id));
    INSERT INTO harbour VALUES (1, 'Oslo'), (2, 'Rio');
    INSERT INTO boat VALUES (1, 'Ada', 'ann', 10, 1), (2, 'Bel', 'ben', 20, 1), (3, 'Cid', 'ann', 30, 2), (4, 'Dot', 'ann', 40, 2);
    CREATE FUNCTION find_boat(word text) RETURNS SETOF boat STABLE LANGUAGE sql AS
      $$ SELECT * FROM boat WHERE name LIKE '%' || word || '%' ORDER BY id $$;
    CREATE FUNCTION cheapest() RETURNS boat STABLE LANGUAGE sql AS $$ SELECT * FROM boat ORDER BY price LIMIT 1 $$;
    CREATE FUNCTION rename_all(name text) RETURNS SETOF boat LANGUAGE sql AS
      $$ UPDATE boat SET name = rename_all.name RETURNING * $$;
    CREATE FUNCTION raise_all(by int) RETURNS SETOF boat LANGUAGE sql AS $$ UPDATE boat SET price = price + by RETURNING * $$;
    CREATE FUNCTION session_of(session json) RETURNS SETOF harbour STABLE LANGUAGE sql AS
      $$ SELECT 0, (SELECT string_agg(key || '=' || value, ' ' ORDER BY key) FROM json_each_text(session)) $$;
    CREATE FUNCTION may_board(it boat, session json) RETURNS text STABLE LANGUAGE sql AS
      $$ SELECT CASE WHEN it.owner = session ->> 'x-hasura-user' THEN 'yes, ' || (session ->> 'x-hasura-role') ELSE 'no' END $$;
    CREATE FUNCTION greeting(it boat, word text, session jsonb) RETURNS text STABLE LANGUAGE sql AS
      $$ SELECT word || ' ' || (session ->> 'x-hasura-role') $$;
    CREATE FUNCTION secret(it boat) RETURNS text STABLE LANGUAGE sql AS $$ SELECT it.price::text $$;
    CREATE FUNCTION mine(it harbour, session json) RETURNS SETOF boat STABLE LANGUAGE sql AS
      $$ SELECT * FROM boat WHERE harbour_id = it.id AND owner = session ->> 'x-hasura-user' ORDER BY id $$;
";

const TABLES: &str = r#"[
  {"table": "harbour",
   "computed_fields": [{"name": "mine", "definition": {"function": "mine", "session_argument": "session"}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name"], "filter": {}}},
     {"role": "porter", "permission": {"columns": ["id", "name"], "filter": {}}}]},
  {"table": "boat",
   "computed_fields": [
     {"name": "may_board", "definition": {"function": "may_board", "table_argument": "it", "session_argument": "session"}},
     {"name": "greeting", "definition": {"function": "greeting", "session_argument": "session"}},
     {"name": "secret", "definition": {"function": "secret"}}],
   "select_permissions": [
     {"role": "sailor", "permission": {"columns": ["id", "name"], "filter": {"price": {"_lt": 40}}, "limit": 2, "allow_aggregations": true,
       "computed_fields": ["may_board", "greeting"]}},
     {"role": "guest", "permission": {"columns": "*", "filter": {"may_board": {"_eq": "yes, guest"}}}}]}
]"#;

const FUNCTIONS: &str = r#"[
  {"function": "find_boat"},
  {"function": "cheapest"},
  {"function": "rename_all", "permissions": [{"role": "sailor"}, {"role": "porter"}]},
  {"function": "raise_all"},
  {"function": "session_of", "configuration": {"session_argument": "session"}}
]"#;

fn ship() -> Fleet {
    ship_by(false)
}

/// Functions are inferred from the permissions of their tables, unless `explicit`.
fn ship_by(explicit_functions: bool) -> Fleet {
    let tables: Vec<TableEntry> = serde_json::from_str(TABLES).unwrap();
    let functions: Vec<FunctionEntry> = serde_json::from_str(FUNCTIONS).unwrap();
    let options = ModelOptions {
        track: Track::Listed,
        tables: &tables,
        functions: &functions,
        explicit_functions,
        ..ModelOptions::default()
    };
    on_postgres(FLEET, options)
}

#[test]
fn rows_of_functions_pass_the_filter_the_columns_and_the_limit() {
    let ship = ship();
    ship.check(
        "sailor",
        r#"{ find_boat(args: {word: "d"}) { id } all: find_boat(args: {word: ""}) { id name } }"#,
        r#"{"data":{"find_boat":[{"id":1},{"id":3}],"all":[{"id":1,"name":"Ada"},{"id":2,"name":"Bel"}]}}"#,
    );
    // The aggregate is over the rows of the filter, without the limit.
    ship.check(
        "sailor",
        r#"{ find_boat_aggregate(args: {word: ""}) { aggregate { count } nodes { id } } }"#,
        r#"{"data":{"find_boat_aggregate":{"aggregate":{"count":3},"nodes":[{"id":1},{"id":2}]}}}"#,
    );
    ship.check("sailor", "{ cheapest { id } }", r#"{"data":{"cheapest":{"id":1}}}"#);
    ship.refuse(
        "sailor",
        r#"{ find_boat(args: {word: ""}) { price } }"#,
        "field 'price' not found in type: 'boat'",
    );
}

#[test]
fn queries_are_inferred_and_mutations_are_not() {
    let ship = ship();
    let mutation = r#"mutation { rename_all(args: {name: "x"}) { id } }"#;
    for (role, query, name, root) in [
        // No permission to select from the table.
        ("porter", r#"{ find_boat(args: {word: ""}) { id } }"#, "find_boat", "query_root"),
        // No permission for aggregates.
        (
            "guest",
            r#"{ find_boat_aggregate(args: {word: ""}) { nodes { id } } }"#,
            "find_boat_aggregate",
            "query_root",
        ),
        ("sailor", "mutation { raise_all(args: {by: 1}) { id } }", "raise_all", "mutation_root"),
    ] {
        ship.refuse(role, query, &format!("field '{name}' not found in type: '{root}'"));
    }
    for role in ["porter", "guest"] {
        ship.refuse(role, mutation, "no mutations exist");
    }
    ship.check("sailor", mutation, r#"{"data":{"rename_all":[{"id":1},{"id":2}]}}"#);
    let explicit = ship_by(true);
    explicit.refuse("sailor", "{ cheapest { id } }", "field 'cheapest' not found in type: 'query_root'");
    explicit.check("sailor", mutation, r#"{"data":{"rename_all":[{"id":1},{"id":2}]}}"#);
    explicit.check("admin", "{ cheapest { id } }", r#"{"data":{"cheapest":{"id":1}}}"#);
}

#[test]
fn an_inherited_role_sees_a_computed_field_in_the_rows_of_those_that_have_it() {
    let sql = "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, bio TEXT);
        INSERT INTO author VALUES (1, 'Ada', 'a'), (2, 'Bob', 'b'), (3, 'Cyd', 'c');
        CREATE FUNCTION n2(a author) RETURNS int STABLE LANGUAGE sql AS $$ SELECT a.id * 2 $$;
        CREATE FUNCTION inverse(a author) RETURNS int STABLE LANGUAGE sql AS $$ SELECT 6 / (2 - a.id) $$;";
    let tables: Vec<TableEntry> = serde_json::from_str(
        r#"[{"table": "author",
          "computed_fields": [{"name": "n2", "definition": {"function": "n2"}}, {"name": "inverse", "definition": {"function": "inverse"}}],
          "select_permissions": [
            {"role": "a", "permission": {"columns": ["id", "name"], "filter": {}, "allow_aggregations": true}},
            {"role": "b", "permission": {"columns": ["id", "bio"], "computed_fields": ["n2", "inverse"], "filter": {"id": {"_eq": 1}}}}]}]"#,
    )
    .unwrap();
    let inherited = [InheritedRole { role_name: "ab".into(), role_set: vec!["a".into(), "b".into()] }];
    let options = ModelOptions {
        track: Track::Listed,
        tables: &tables,
        inherited_roles: &inherited,
        ..ModelOptions::default()
    };
    let shelf = on_postgres(sql, options);
    let all = "{\"id\":1,\"n2\":2},{\"id\":2,\"n2\":null},{\"id\":3,\"n2\":null}";
    for (query, expected) in [
        ("{ author(order_by: {id: asc}) { id n2 } }", all),
        ("{ author(order_by: {n2: asc_nulls_last, id: asc}) { id n2 } }", all),
        ("{ author(order_by: {n2: asc_nulls_first, id: desc}) { id } }", "{\"id\":3},{\"id\":2},{\"id\":1}"),
        ("{ author(where: {n2: {_gt: 0}}) { id } }", "{\"id\":1}"),
        ("{ author(where: {n2: {_eq: 4}}) { id } }", ""),
        ("{ author(where: {n2: {_in: []}}) { id } }", ""),
        ("{ author(where: {n2: {_is_null: true}}, order_by: {id: asc}) { id } }", "{\"id\":2},{\"id\":3}"),
        // The function is not called for a row that hides it, so it does not fail.
        (
            "{ author(order_by: {id: asc}, where: {inverse: {_is_null: true}}) { id inverse } }",
            "{\"id\":2,\"inverse\":null},{\"id\":3,\"inverse\":null}",
        ),
    ] {
        shelf.check("ab", query, &format!("{{\"data\":{{\"author\":[{expected}]}}}}"));
    }
    shelf.check(
        "ab",
        "{ author_aggregate(where: {n2: {_gt: 0}}) { aggregate { count } nodes { n2 inverse bio } } }",
        r#"{"data":{"author_aggregate":{"aggregate":{"count":1},"nodes":[{"n2":2,"inverse":6,"bio":"a"}]}}}"#,
    );
    shelf.refuse("a", "{ author { n2 } }", "field 'n2' not found in type: 'author'");
    shelf.check("b", "{ author { id n2 } }", r#"{"data":{"author":[{"id":1,"n2":2}]}}"#);
}

#[test]
fn functions_get_the_session_of_their_caller() {
    let ship = ship();
    let ask = "{ session_of { name } }";
    let is = |text: &str| format!(r#"{{"data":{{"session_of":[{{"name":"{text}"}}]}}}}"#);
    ship.check_as(&Identity::admin(), ask, &is("x-hasura-role=admin"));
    ship.check("sailor", ask, &is("x-hasura-role=sailor x-hasura-user=ann"));
    // One plan for all sailors, each with the values of his own.
    let other = [("X-Hasura-User", "b'e\\n\""), ("x-hasura-Team", "{1,2}")];
    ship.check_as(
        &caller("sailor", &other),
        ask,
        &is(r#"x-hasura-role=sailor x-hasura-team={1,2} x-hasura-user=b'e\\n\""#),
    );
}

#[test]
fn computed_fields_get_the_session_of_their_caller() {
    let ship = ship();
    ship.check(
        "sailor",
        r#"{ boat { id may_board greeting(args: {word: "hello"}) } }"#,
        r#"{"data":{"boat":[{"id":1,"may_board":"yes, sailor","greeting":"hello sailor"},{"id":2,"may_board":"no","greeting":"hello sailor"}]}}"#,
    );
    ship.check(
        "sailor",
        r#"{ boat(where: {may_board: {_neq: "no"}}, order_by: {may_board: asc, id: desc}) { id } }"#,
        r#"{"data":{"boat":[{"id":3},{"id":1}]}}"#,
    );
    ship.refuse("sailor", "{ boat { secret } }", "field 'secret' not found in type: 'boat'");
    // Rows of a computed field pass the permission of their table.
    let mine = "{ harbour(order_by: {id: asc}) { mine { id } } }";
    ship.check("sailor", mine, r#"{"data":{"harbour":[{"mine":[{"id":1}]},{"mine":[{"id":3}]}]}}"#);
    ship.check("admin", mine, r#"{"data":{"harbour":[{"mine":[{"id":1}]},{"mine":[{"id":3},{"id":4}]}]}}"#);
    ship.refuse("porter", mine, "field 'mine' not found in type: 'harbour'");
    ship.check(
        "sailor",
        r#"{ harbour(where: {mine: {name: {_eq: "Dot"}}}) { id } }"#,
        r#"{"data":{"harbour":[]}}"#,
    );
}

#[test]
fn a_filter_may_ask_a_function_that_reads_the_session() {
    let ship = ship();
    ship.check(
        "guest",
        "{ boat(order_by: {id: asc}) { id } }",
        r#"{"data":{"boat":[{"id":1},{"id":3},{"id":4}]}}"#,
    );
    let ben = caller("guest", &[("x-hasura-user", "ben")]);
    ship.check_as(&ben, "{ boat { id } }", r#"{"data":{"boat":[{"id":2}]}}"#);
    let nobody = caller("guest", &[]);
    ship.check_as(&nobody, "{ boat { id } }", r#"{"data":{"boat":[]}}"#);
}

/// Whoever keeps answers, or gives one answer to two requests, has to tell sessions apart.
#[test]
fn a_plan_that_gives_a_function_the_session_says_so() {
    let ship = ship();
    for query in
        ["query @cached { session_of { name } }", "query @cached { boat(order_by: {id: asc}) { may_board } }"]
    {
        let ann = ann("sailor");
        let ben = caller("sailor", &[("x-hasura-user", "ben")]);
        let first = ship.ask_as(&ann, query);
        let second = ship.ask_as(&ben, query);
        assert_ne!(first, second, "{query}");
        assert_eq!(ship.ask_as(&ann, query), first, "{query}");
        assert_eq!(ship.ask_as(&ben, query), second, "{query}");
    }
}
