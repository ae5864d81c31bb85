//! A server in front of PostgreSQL: it waits for a database that is down, and does as it is configured.

use crate::cluster_kit;
use crate::postgres_kit::database;
use crate::support;
use crate::support::{Answer, Folder, Weir, body, command};
use std::time::{Duration, Instant};

/// Nothing that is waited for takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks until the answer holds `part`.
fn await_answer(weir: &Weir, query: &str, part: &str) {
    let begun = Instant::now();
    loop {
        let answer = weir.query(query);
        if answer.text().contains(part) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{part} never comes, only {}; {}", answer.text(), weir.log());
        std::thread::yield_now();
    }
}

fn check(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.text().contains(part), "{part} is not in {}", answer.text());
}

#[test]
fn a_database_that_comes_later_is_served_when_it_is_there() {
    let mut cluster = cluster_kit::Cluster::new();
    cluster.start();
    cluster.stop();
    let weir = Weir::serving(&format!("postgres://postgres@127.0.0.1:{}/postgres", cluster.port));
    check(
        &weir.get("/readyz", &[]),
        503,
        r#""sources":[{"name":"postgres","ready":false,"code":"SOURCE_UNAVAILABLE""#,
    );
    check(&weir.get("/livez", &[]), 200, "ok");
    let ask = "{ thing_by_pk(id: 7) { name } }";
    check(&weir.query(ask), 503, r#""code":"SOURCE_UNAVAILABLE""#);
    check(&weir.post("/v1/graphql", &[], body(ask).as_bytes()), 200, r#""code":"unexpected""#);
    cluster.start();
    let begun = Instant::now();
    while weir.get("/readyz", &[]).status != 200 {
        assert!(begun.elapsed() < PATIENCE, "it is never ready: {}", weir.log());
        std::thread::yield_now();
    }
    check(&weir.query(ask), 200, r#"{"data":{"thing_by_pk":{"name":"thing 7"}}}"#);
}

#[test]
fn what_waiting_does_not_mend_ends_the_start_and_says_how_to_mend_it() {
    let database = database("CREATE TABLE a (id int PRIMARY KEY)");
    let url = database.url();
    let rest = url.strip_prefix("postgres://postgres:").expect("user and password");
    let (password, rest) = rest.split_once('@').expect("a password");
    for (url, part) in [
        (format!("postgres://postgres:not{password}@{rest}"), "28P01"),
        (format!("postgres://postgres@{rest}"), "PGPASSWORD"),
        (format!("{url}_missing"), "create the database, or correct its name"),
    ] {
        let output = command().args(["serve", &url, "--listen", "127.0.0.1:0"]).output().expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(words.contains(part) && !words.contains(password), "{words}");
    }
}

#[test]
fn a_source_that_lets_nobody_in_keeps_no_other_from_being_served() {
    let open = database("CREATE TABLE open (id int PRIMARY KEY); INSERT INTO open VALUES (1)");
    let url = open.url();
    let (_, host) = url.split_once('@').expect("a host");
    let yaml = format!(
        "listen: 127.0.0.1:0\nsources:\n  - name: open\n    url: {}\n  - name: shut\n    url: postgres://postgres:wrong@{host}\n",
        open.url()
    );
    let folder = Folder::new();
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    check(&weir.query("{ open { id } }"), 200, r#"{"data":{"open":[{"id":1}]}}"#);
    check(&weir.get("/readyz", &[]), 503, "it does not let Weir in");
    assert!(weir.log().contains("28P01"), "{}", weir.log());
}

#[test]
fn a_source_that_lets_weir_in_later_is_served_beside_the_others() {
    let database = database(
        "CREATE TABLE late (id int PRIMARY KEY, name text); INSERT INTO late VALUES (7, 'Lea');
         CREATE ROLE latecomer LOGIN PASSWORD 'another'; GRANT SELECT ON late TO latecomer;",
    );
    let url = database.url();
    let (_, host) = url.split_once('@').expect("a host");
    let folder = Folder::new();
    folder.pets();
    let yaml = format!(
        "listen: 127.0.0.1:0\nsources: [{{name: pets, url: pets.db}}, {{name: late, url: \"postgres://latecomer:mine@{host}\"}}]\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    check(&weir.query("{ pet_by_pk(id: 1) { name } }"), 200, r#"{"data":{"pet_by_pk":{"name":"Ada"}}}"#);
    check(&weir.query("{ late { name } }"), 200, "Cannot query field");
    database.run("ALTER ROLE latecomer PASSWORD 'mine'");
    let both = "{ late(order_by: {name: asc}) { name } pet_by_pk(id: 1) { name } }";
    await_answer(&weir, both, r#"{"data":{"late":[{"name":"Lea"}],"pet_by_pk":{"name":"Ada"}}}"#);
    check(&weir.get("/readyz", &[]), 200, r#""status":"ok""#);
}

#[test]
fn a_database_that_goes_away_takes_no_other_with_it() {
    let mut cluster = cluster_kit::Cluster::new();
    cluster.start();
    let folder = Folder::new();
    folder.pets();
    let things = format!("postgres://postgres@127.0.0.1:{}/postgres", cluster.port);
    let yaml = format!(
        "listen: 127.0.0.1:0\nsources: [{{name: pets, url: pets.db}}, {{name: things, url: \"{things}\"}}]\n"
    );
    let file = folder.write("weir.yaml", &yaml);
    let weir = Weir::by_file(&file, folder);
    // `order_by`, `Int_comparison_exp` and their kin are one type for both.
    let both = "query { thing(where: {id: {_eq: 7}}, order_by: {id: asc}) { name } \
                pet(where: {id: {_lt: 3}}, order_by: {id: desc}) { name } }";
    let pets = r#""pet":[{"name":"Bob"},{"name":"Ada"}]"#;
    check(&weir.query(both), 200, &format!(r#"{{"data":{{"thing":[{{"name":"thing 7"}}],{pets}}}}}"#));
    cluster.stop();
    check(
        &weir.query("{ pet(order_by: {id: asc}, limit: 1) { name } }"),
        200,
        r#"{"data":{"pet":[{"name":"Ada"}]}}"#,
    );
    check(
        &weir.query("{ thing_by_pk(id: 7) { name } pet_by_pk(id: 2) { name } }"),
        200,
        r#""data":{"thing_by_pk":null,"pet_by_pk":{"name":"Bob"}}"#,
    );
    check(&weir.query("{ thing_by_pk(id: 7) { name } }"), 200, r#""code":"SOURCE_UNAVAILABLE""#);
    cluster.start();
    await_answer(&weir, both, &format!(r#"{{"data":{{"thing":[{{"name":"thing 7"}}],{pets}}}}}"#));
}

#[test]
fn tables_of_one_name_are_a_clash_that_names_a_way_out_which_is_one() {
    let folder = Folder::new();
    let file = folder.pets();
    std::fs::copy(&file, folder.file("more.db")).expect("it can be copied");
    let yaml = |more: &str| {
        format!(
            "listen: 127.0.0.1:0\nsources: [{{name: a, url: pets.db}}, {{name: b, url: more.db{more}}}]\n"
        )
    };
    let refused = |more: &str, parts: &[&str]| {
        let file = folder.write("refused.yaml", &yaml(more));
        let output = command().arg("serve").arg(file).output().expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(parts.iter().all(|it| words.contains(it)), "{words}");
    };
    let types = "sources `a` and `b` both have a type `pet`";
    let fields = "sources `a` and `b` both have the field `query_root.pet`";
    refused(
        "",
        &[
            "and 2",
            " more like these",
            types,
            "`customization: {type_names: {prefix: b_}}`",
            fields,
            "`customization: {root_fields: {prefix: b_}}`",
        ],
    );
    refused(", customization: {type_names: {prefix: b_}}", &[fields]);
    refused(", customization: {root_fields: {namespace: 1st}}", &["a namespace has to be a GraphQL name"]);
    refused(
        ", customization: {root_fields: {namespace: pet}, type_names: {prefix: b_}}",
        &["sources `a` and `b` both have the field `query_root.pet`"],
    );
    refused(
        ", customization: {naming_convention: camel}",
        &["`camel` is none of: hasura-default, graphql-default"],
    );
    refused(", customization: {type_names: {prefix: 1st}}", &["a prefix has to begin with a letter"]);
    let file = folder
        .write("weir.yaml", &yaml(", customization: {root_fields: {prefix: b_}, type_names: {prefix: b_}}"));
    let weir = Weir::by_file(&file, folder);
    check(
        &weir.query("{ pet_by_pk(id: 1) { __typename name } b_pet_by_pk(id: 2) { __typename name } }"),
        200,
        r#"{"data":{"pet_by_pk":{"__typename":"pet","name":"Ada"},"b_pet_by_pk":{"__typename":"b_pet","name":"Bob"}}}"#,
    );
}

#[test]
fn a_reload_finds_what_is_new_asked_for_by_request_or_signal() {
    let database = database("CREATE TABLE old (id int PRIMARY KEY)");
    let weir = Weir::serving(&database.url());
    database.run("CREATE TABLE fresh (id int PRIMARY KEY); INSERT INTO fresh VALUES (7)");
    check(&weir.query("{ fresh { id } }"), 200, "Cannot query field");
    check(&weir.post("/v1/reload", &[], b""), 200, r#"{"generation":2}"#);
    check(&weir.query("{ fresh { id } }"), 200, r#"{"data":{"fresh":[{"id":7}]}}"#);
    database.run("ALTER TABLE fresh ADD name text");
    weir.signal("-HUP");
    await_answer(&weir, "{ fresh { id name } }", r#"{"data":{"fresh":[{"id":7,"name":null}]}}"#);
}

#[test]
fn a_table_that_is_created_appears_where_the_schema_is_watched() {
    let database = database("CREATE TABLE old (id int PRIMARY KEY)");
    let folder = Folder::new();
    let source = format!("  - name: main\n    url: {}\n    postgres: {{watch_ddl: true}}\n", database.url());
    let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\nsources:\n{source}"));
    let weir = Weir::by_file(&file, folder);
    check(&weir.query("{ fresh { id } }"), 200, "Cannot query field");
    database.run("CREATE TABLE fresh (id int PRIMARY KEY); INSERT INTO fresh VALUES (7)");
    await_answer(&weir, "{ fresh { id } }", r#"{"data":{"fresh":[{"id":7}]}}"#);
    database.run("ALTER TABLE fresh ADD name text");
    await_answer(&weir, "{ fresh { id name } }", r#"{"data":{"fresh":[{"id":7,"name":null}]}}"#);
}

#[test]
fn the_configuration_says_which_schemas_and_how_numbers_look() {
    let database = database(
        "CREATE SCHEMA shop; CREATE TABLE shop.item (id int8 PRIMARY KEY, price numeric(9, 2));
         CREATE TABLE unseen (id int PRIMARY KEY); INSERT INTO shop.item VALUES (9007199254740993, 1.50)",
    );
    let folder = Folder::new();
    let url = database.url();
    let block = "{schemas: [shop], stringify_numeric_types: true, lanes: 1, flavour: citus}";
    let yaml =
        format!("listen: 127.0.0.1:0\nsources:\n  - name: shop\n    url: {url}\n    postgres: {block}\n");
    let file = folder.write("weir.yaml", &yaml);
    let output = command().args(["schema"]).arg(&file).output().expect("it runs");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("unseen"));
    let weir = Weir::by_file(&file, folder);
    let answer = weir.query("{ shop_item { id price } }");
    check(&answer, 200, r#"{"data":{"shop_item":[{"id":"9007199254740993","price":"1.50"}]}}"#);
}

#[test]
fn keys_that_do_not_fit_the_address_are_refused() {
    let folder = Folder::new();
    folder.pets();
    for (keys, part) in [("kind: postgres", "leave `kind` out"), ("postgres: {}", "is not for SQLite")] {
        let file =
            folder.write("weir.yaml", &format!("sources:\n  - name: a\n    url: pets.db\n    {keys}\n"));
        let output = command().arg("check").arg(&file).output().expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && words.contains(part), "{words}");
    }
}

#[test]
fn a_missing_row_and_a_violated_constraint_are_told_as_configured() {
    let database = database(
        "CREATE TABLE pet (id int PRIMARY KEY, name text NOT NULL UNIQUE, age int CONSTRAINT alive CHECK (age >= 0));
         INSERT INTO pet VALUES (1, 'Ada', 3)",
    );
    let folder = Folder::new();
    let words = "{pet_name_key: this name is taken, pet_name_not_null: a pet needs a name, alive: unborn}";
    let file = folder.write(
        "weir.yaml",
        &format!(
            "listen: 127.0.0.1:0\nsources:\n  - name: pets\n    url: {}\n    missing_row: error\n    constraint_messages: {words}\n",
            database.url()
        ),
    );
    let weir = Weir::start(&["serve", file.to_str().expect("it is UTF-8")], folder);
    let age =
        |id: u32| format!("a{id}: update_pet_by_pk(pk_columns: {{id: {id}}}, _set: {{age: 9}}) {{ age }}");
    let missing = r#""message":"no row of `pet` has this key""#;
    check(&weir.query(&format!("mutation {{ {} {} }}", age(1), age(2))), 200, missing);
    check(&weir.query("mutation { delete_pet_by_pk(id: 2) { id } }"), 200, r#""code":"ROW_NOT_FOUND""#);
    check(&weir.query("{ pet { age } }"), 200, r#"{"data":{"pet":[{"age":3}]}}"#);
    for (row, words) in [
        (r#"{id: 2, name: "Ada"}"#, "this name is taken"),
        ("{id: 2}", "a pet needs a name"),
        (r#"{id: 2, name: "Bo", age: -1}"#, "unborn"),
    ] {
        let insert = format!("mutation {{ insert_pet_one(object: {row}) {{ id }} }}");
        check(&weir.query(&insert), 200, &format!("\"message\":\"{words}\""));
    }
}

/// Sends what is `wrong`, which the last of has `words` in the log, or nothing; no line of it is an error.
fn check_log(weir: &Weir, wrong: &[&str], words: &str) {
    for query in wrong {
        for path in ["/graphql", "/v1/graphql"] {
            let answer = weir.post(path, &[], body(query).as_bytes());
            assert!(answer.text().contains("\"errors\""), "{query}: {}", answer.text());
            assert!(!answer.text().contains("BAD_REQUEST"), "{query}: {}", answer.text());
        }
    }
    support::until("the last is logged", || weir.log().contains(words));
    let log = weir.log();
    let errors: Vec<&str> = log.lines().filter(|it| it.split_whitespace().nth(1) == Some("ERROR")).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn what_a_client_did_wrong_is_no_error_in_the_log() {
    let database = database(
        "CREATE EXTENSION ltree;
         CREATE TABLE thing (id int PRIMARY KEY, name text, tags jsonb, path ltree, at date, small smallint);
         INSERT INTO thing VALUES (1, 'a', '3', 'a.b', '2000-01-01', 1);
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
         CREATE TRIGGER refuse BEFORE DELETE ON thing FOR EACH ROW EXECUTE FUNCTION refuse();",
    );
    let condition = |it: &str| format!("{{ thing(where: {{{it}}}) {{ id }} }}");
    let wrong = [
        condition(r#"path: {_eq: "a..b"}"#),
        condition(r#"path: {_matches: "a.{"}"#),
        condition(r#"path: {_matches_fulltext: "a &"}"#),
        condition(r#"at: {_eq: "never"}"#),
        condition(r#"small: {_eq: "99999"}"#),
        condition(r#"name: {_regex: "("}"#),
        r#"{ thing { tags(path: "a..b") } }"#.into(),
        "{ thing(limit: -1) { id } }".into(),
        "{ nothing { id } }".into(),
        "{".into(),
        r#"mutation { update_thing(where: {}, _delete_key: {tags: "a"}) { affected_rows } }"#.into(),
        "mutation { insert_thing_one(object: {id: 1}) { id } }".into(),
        "mutation { delete_thing_by_pk(id: 1) { id } }".into(),
    ];
    let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
    check_log(&Weir::serving(&database.url()), &wrong, "not today");
    let wrong = [
        r#"{ pet(where: {name: {_regex: "("}}) { id } }"#,
        r#"{ pet(where: {name: {_regex: "(?=("}}) { id } }"#,
        r#"{ pet(where: {name: {_like: "a\\"}}) { id } }"#,
        "{ pet(limit: -1) { id } }",
        "mutation { insert_pet(objects: [{id: 1, name: \"a\"}, {id: 1, name: \"a\"}]) { affected_rows } }",
        "{",
    ];
    check_log(&Weir::pets(&[]), &wrong, "");
}

#[test]
fn an_aggregate_below_a_row_without_a_key_counts_nothing() {
    let database = database(
        "CREATE TABLE team (id int PRIMARY KEY, code text UNIQUE);
         CREATE TABLE player (id int PRIMARY KEY, team_code text REFERENCES team (code));
         INSERT INTO team VALUES (1, 'a'), (2, NULL), (3, ''); INSERT INTO player VALUES (1, 'a'), (2, NULL)",
    );
    let weir = Weir::serving(&database.url());
    for page in ["", "(limit: 5)"] {
        let query = format!(
            "{{ team(order_by: {{id: asc}}) {{ n: team_players_aggregate{page} {{ aggregate {{ count }} nodes {{ id }} }} }} }}"
        );
        let expected = r#"{"data":{"team":[{"n":{"aggregate":{"count":1},"nodes":[{"id":1}]}},{"n":{"aggregate":{"count":0},"nodes":[]}},{"n":{"aggregate":{"count":0},"nodes":[]}}]}}"#;
        check(&weir.query(&query), 200, expected);
    }
}

#[test]
fn a_store_of_types_is_made_served_and_changed() {
    let database = database("");
    let folder = Folder::new();
    let file = folder.write("shop.graphql", "type Dish { id: ID!, name: String! @search(by: [term]) }");
    let file = file.to_str().expect("it is UTF-8");
    let weir = Weir::start(&["serve", file, "--store", &database.url(), "--listen", "127.0.0.1:0"], folder);
    database.run(r#"INSERT INTO "Dish" (name) VALUES ('Pho with mint'), ('Pie')"#);
    let found = r#"{"data":{"queryDish":[{"id":"0x1","name":"Pho with mint"}]}}"#;
    check(&weir.query("{ queryDish(filter: {name: {anyofterms: \"mint\"}}) { id name } }"), 200, found);
    let more = "type Dish { id: ID!, title: String! @renamedFrom(name: \"name\"), price: Float }";
    check(&weir.post("/admin/schema", &[], more.as_bytes()), 200, "rename field `Dish.name` to `title`");
    check(
        &weir.query("{ queryDish(first: 1) { title price } }"),
        200,
        r#"[{"title":"Pho with mint","price":null}]"#,
    );
    let less = "type Dish { id: ID!, price: Float }";
    check(
        &weir.post("/admin/schema", &[], less.as_bytes()),
        422,
        "2 values or objects of `Dish.title` would be lost",
    );
}

const NOTES: &str = "interface Place { name: String! @id(interface: true) }\n\
    type Park implements Place { trees: Int }\n\
    type Note { key: String! @id, text: String, of: Person @hasInverse(field: notes) }\n\
    type Person @secret(field: \"pwd\") { email: String! @id, notes: [Note], likes: [Liked] }\n\
    union Liked = Note | Park\n";

/// Mutations and the cached query that each invalidates: the query runs before, so that its answer is cached, and after.
const KEPT: [(&str, &str, &str); 8] = [
    (
        r#"getNote(key: "a") { key }"#,
        r#"addNote(input: [{key: "a", text: "one"}]) { numUids }"#,
        r#"{"key":"a"}"#,
    ),
    (
        r#"getNote(key: "a") { text }"#,
        r#"addNote(input: [{key: "a", text: "two"}], upsert: true) { numUids }"#,
        "two",
    ),
    (
        r#"getNote(key: "b") { of { email } }"#,
        r#"addPerson(input: [{email: "ada", pwd: "first1", notes: [{key: "b"}]}]) { numUids }"#,
        "ada",
    ),
    (
        r#"getNote(key: "c") { key }"#,
        r#"updatePerson(input: {filter: {email: {eq: "ada"}}, set: {notes: [{key: "c"}]}}) { numUids }"#,
        r#"{"key":"c"}"#,
    ),
    (r#"queryPlace { name }"#, r#"addPark(input: [{name: "elm", trees: 1}]) { numUids }"#, "elm"),
    (
        r#"queryPark { trees }"#,
        r#"updatePlace(input: {filter: {name: {eq: "elm"}}, set: {name: "oak"}}) { numUids }"#,
        "1",
    ),
    (r#"queryPlace { name }"#, r#"deletePark(filter: {}) { msg }"#, r#""queryPlace":[]"#),
    (
        r#"getPerson(email: "ada") { notes { key } }"#,
        r#"deleteNote(filter: {key: {eq: "b"}}) { msg }"#,
        r#"[{"key":"c"}]"#,
    ),
];

#[test]
fn what_a_native_store_was_asked_is_old_when_it_is_changed() {
    let database = database("");
    let serve = |store: &[&str]| {
        let folder = Folder::new();
        let file = folder.write("notes.graphql", NOTES).display().to_string();
        Weir::start(&[&["serve", &file, "--listen", "127.0.0.1:0"], store].concat(), folder)
    };
    for weir in [serve(&[]), serve(&["--store", &database.url()])] {
        for (question, mutation, shown) in KEPT {
            let query = format!("query @cacheControl(maxAge: 60) {{ {question} }}");
            let before = weir.query(&query);
            assert_eq!(before.text(), weir.query(&query).text());
            let changed = weir.query(&format!("mutation {{ {mutation} }}"));
            assert!(
                changed.status == 200 && !changed.text().contains("errors"),
                "{mutation}: {}",
                changed.text()
            );
            let now = weir.query(&query);
            assert!(now.text().contains(shown), "{mutation}: {} is {}", question, now.text());
        }
        let password = |text: &str| {
            let query = format!(
                "query @cacheControl(maxAge: 60) {{ checkPersonPassword(email: \"ada\", pwd: {text:?}) {{ email }} }}"
            );
            weir.query(&query).text().contains("ada")
        };
        assert!(password("first1") && !password("second"));
        let change = r#"mutation { updatePerson(input: {filter: {email: {eq: "ada"}}, set: {pwd: "second"}}) { numUids } }"#;
        check(&weir.query(change), 200, "numUids");
        assert!(!password("first1") && password("second"));
    }
}

#[test]
fn a_native_store_may_have_a_schema_of_its_own() {
    let database = database("CREATE SCHEMA fleet; CREATE TABLE other (id int)");
    let folder = Folder::new();
    let types = "type Boat @withSubscription { reg: String! @id, tags: [String], mate: Boat @hasInverse(field: mate) }";
    let file = folder.write("fleet.graphql", types).display().to_string();
    let url = database.url();
    let mark = if url.contains('?') { '&' } else { '?' };
    let store = format!("{url}{mark}options=-csearch_path=fleet");
    let weir = Weir::start(&["serve", &file, "--listen", "127.0.0.1:0", "--store", &store], folder);
    let add = r#"mutation { addBoat(input: [{reg: "A1", tags: ["a"], mate: {reg: "B2"}}]) { boat { reg tags mate { reg } } } }"#;
    check(
        &weir.query(add),
        200,
        r#"{"data":{"addBoat":{"boat":[{"reg":"A1","tags":["a"],"mate":{"reg":"B2"}}]}}}"#,
    );
    let read = "query @cacheControl(maxAge: 60) { queryBoat(order: {asc: reg}) { reg mate { reg } } }";
    check(&weir.query(read), 200, r#"[{"reg":"A1","mate":{"reg":"B2"}},{"reg":"B2","mate":{"reg":"A1"}}]"#);
    check(
        &weir.query("mutation { deleteBoat(filter: {reg: {eq: \"B2\"}}) { numUids } }"),
        200,
        r#""numUids":1"#,
    );
    check(&weir.query(read), 200, r#"{"data":{"queryBoat":[{"reg":"A1","mate":null}]}}"#);
    let tables = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE relname = 'Boat' AND nspname = 'fleet'";
    assert_eq!(database.run(tables).trim(), "1");
}

/// A shop whose purchases are told to be spread over shards, as Citus tells it.
const SHARDS: &str = r#"
CREATE SCHEMA dist;
CREATE TABLE dist.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL, partkey text, colocationid int NOT NULL, repmodel "char" NOT NULL);
CREATE TABLE dist.pg_dist_local_group (groupid int NOT NULL);
CREATE FUNCTION dist.column_to_column_name(oid, text) RETURNS text LANGUAGE sql AS 'SELECT $2';
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, dist', current_database()); END $$;
CREATE TABLE purchase (tenant_id int, id int, note text, PRIMARY KEY (tenant_id, id));
INSERT INTO purchase VALUES (3, 1, 'a');
INSERT INTO dist.pg_dist_partition VALUES ('purchase', 'h', 'tenant_id', 1, 's');
"#;

#[test]
fn a_distributed_database_is_told_and_counted_by_shards() {
    let database = database(SHARDS);
    let source = |more: &str| {
        let folder = Folder::new();
        let block = format!("{{name: shop, url: {}, postgres: {{flavour: citus{more}}}}}", database.url());
        let file = folder.write("weir.yaml", &format!("listen: 127.0.0.1:0\nsources: [{block}]\n"));
        (folder, file)
    };
    let (folder, file) = source("");
    let checked = command().arg("check").arg(&file).output().expect("it runs");
    let out = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(out.starts_with("ok: shop (Citus)"), "{out}");
    for of in [
        "may see half of a transaction",
        "a unique constraint holds",
        "a foreign key holds",
        "sequences of `bigint`",
    ] {
        assert!(out.contains(of), "{of}: {out}");
    }
    let ask = "{ purchase_by_pk(tenant_id: 3, id: 1) { note } }";
    let explained = command().args(["explain", ask]).arg(&file).output().expect("it runs");
    let out = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(out.contains("-- purchase_by_pk (one shard)"), "{out}");
    let weir = Weir::by_file(&file, folder);
    check(&weir.query(ask), 200, r#"{"data":{"purchase_by_pk":{"note":"a"}}}"#);
    check(&weir.query("{ purchase(limit: 1) { note } }"), 200, r#"[{"note":"a"}]"#);
    check(&weir.get("/readyz", &[]), 200, r#"{"name":"shop","server":"Citus","ready":true}"#);
    let page = weir.get("/metrics", &[]);
    check(&page, 200, r#"weir_server_info{source="shop",product="Citus",version=""} 1"#);
    check(&page, 200, r#"weir_statements_by_shards_total{source="shop",shards="one"} 1"#);
    check(&page, 200, r#"weir_statements_by_shards_total{source="shop",shards="all"} 1"#);
    let (_folder, file) = source(", batch_mutations: true");
    let refused =
        command().arg("check").arg(&file).stderr(std::process::Stdio::piped()).output().expect("it runs");
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(words.contains("`postgres.batch_mutations` does not go with distributed tables"), "{words}");
}
