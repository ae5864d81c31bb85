//! A database that says it is Citus: PostgreSQL with catalogs that tell of shards, which runs every statement that Citus is sent,
//! and raises the errors that Citus raises.

use crate::answer_kit::ask_whole;
use crate::citus_random::SPREAD;
use crate::hasura_kit::{Served, engine_settings, serve_as, serve_with};
use crate::postgres_kit::{Database, chinook, database};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Request};
use weir_engine::source::{Protocol, Source};
use weir_hasura::model::{ModelOptions, RelationshipNames};
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_metadata::document::function::FunctionEntry;
use weir_postgres::Settings;
use weir_relational::dialect::flavour::Flavour;

/// The catalogs of Citus, beside the tables: what Weir asks of them.
pub(crate) const CATALOGS: &str = r#"
CREATE SCHEMA dist;
CREATE TABLE dist.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL, partkey text, colocationid int NOT NULL, repmodel "char" NOT NULL);
CREATE TABLE dist.pg_dist_local_group (groupid int NOT NULL);
INSERT INTO dist.pg_dist_local_group VALUES (0);
CREATE FUNCTION dist.column_to_column_name(oid, text) RETURNS text LANGUAGE sql AS 'SELECT $2';
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, dist', current_database()); END $$;
"#;

/// A shop of many tenants.
const SHOP: &str = "
CREATE TABLE country (code int PRIMARY KEY, name text NOT NULL);
CREATE TABLE customer (tenant_id int NOT NULL, id int NOT NULL, name text NOT NULL UNIQUE, country int REFERENCES country (code), PRIMARY KEY (tenant_id, id));
CREATE TABLE purchase (tenant_id int NOT NULL, id int NOT NULL, customer_id int NOT NULL, note text,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customer (tenant_id, id));
CREATE TABLE tenant_flag (tenant_id int PRIMARY KEY, flag text, changed int NOT NULL DEFAULT 0);
INSERT INTO country VALUES (1, 'one'), (2, 'two');
INSERT INTO customer SELECT t, i, 'customer ' || t || i, 1 FROM generate_series(1, 4) AS t, generate_series(1, 3) AS i;
INSERT INTO purchase SELECT t, i, 1 + i % 3, 'note ' || i FROM generate_series(1, 4) AS t, generate_series(1, 6) AS i;
INSERT INTO tenant_flag SELECT t, 'a' FROM generate_series(1, 4) AS t;
CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.changed := old.changed + 1; RETURN new; END $$;
CREATE TRIGGER touched BEFORE UPDATE ON tenant_flag FOR EACH ROW EXECUTE FUNCTION touched();
";

const PLACEMENTS: &str = "
INSERT INTO dist.pg_dist_partition VALUES ('customer', 'h', 'tenant_id', 1, 's'), ('purchase', 'h', 'tenant_id', 1, 's'),
  ('tenant_flag', 'h', 'tenant_id', 1, 's'), ('country', 'n', NULL, 2, 't');
";

/// The word by which a server is known to be Citus.
const EXTENSION: &str = "SET allow_system_table_mods = on; INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    SELECT 99999, 'citus', 10, oid, false, '13.2-1' FROM pg_namespace WHERE nspname = 'dist'";

async fn shop(more: &str) -> Served {
    serve_citus(database(&[CATALOGS, SHOP, PLACEMENTS, more].concat())).await
}

/// Serves a database as Citus.
pub(crate) async fn serve_citus(database: Database) -> Served {
    serve_with(database, &["public"], |it| it.flavour = Some(Flavour::Citus)).await
}

#[tokio::test]
async fn a_distribution_column_that_stays_is_left_out() {
    let shop = shop("").await;
    for (mutation, variables, expected) in [
        (
            r#"mutation { update_purchase_by_pk(pk_columns: {tenant_id: 3, id: 2}, _set: {tenant_id: 3, note: "x"}) { tenant_id note } }"#,
            "",
            r#"{"data":{"update_purchase_by_pk":{"tenant_id":3,"note":"x"}}}"#,
        ),
        (
            "mutation ($t: Int!, $s: purchase_set_input) { update_purchase(where: {tenant_id: {_eq: $t}, id: {_lt: 3}}, _set: $s) { affected_rows } }",
            r#"{"t": 3, "s": {"tenant_id": 3, "note": "y"}}"#,
            r#"{"data":{"update_purchase":{"affected_rows":2}}}"#,
        ),
        // Nothing else is set: the row is written unchanged, and its trigger runs.
        (
            "mutation { update_tenant_flag_by_pk(pk_columns: {tenant_id: 3}, _set: {tenant_id: 3}) { tenant_id flag changed } }",
            "",
            r#"{"data":{"update_tenant_flag_by_pk":{"tenant_id":3,"flag":"a","changed":1}}}"#,
        ),
        (
            r#"mutation { insert_tenant_flag_one(object: {tenant_id: 3, flag: "b"}, on_conflict: {constraint: tenant_flag_pkey, update_columns: [tenant_id, flag]}) { flag changed } }"#,
            "",
            r#"{"data":{"insert_tenant_flag_one":{"flag":"b","changed":2}}}"#,
        ),
        (
            r#"mutation { insert_tenant_flag_one(object: {tenant_id: 3, flag: "c"}, on_conflict: {constraint: tenant_flag_pkey, update_columns: [tenant_id]}) { flag changed } }"#,
            "",
            r#"{"data":{"insert_tenant_flag_one":{"flag":"b","changed":3}}}"#,
        ),
    ] {
        assert_eq!(shop.ask_with(mutation, variables).await, expected, "{mutation}");
    }
}

#[tokio::test]
async fn a_row_that_would_leave_its_shard_is_refused_with_words() {
    let shop = shop("").await;
    let moves = "NOT_SUPPORTED: the rows of `purchase` are spread over shards by `tenant_id`, which a change cannot set to another \
                 value: leave `tenant_id` out, or set it to the value by which the rows are found; to move a row, delete it and insert \
                 it anew";
    let before =
        shop.ask("{ purchase(order_by: [{tenant_id: asc}, {id: asc}]) { tenant_id id note } }").await;
    for (mutation, variables) in [
        (
            "mutation { update_purchase_by_pk(pk_columns: {tenant_id: 3, id: 2}, _set: {tenant_id: 4}) { id } }",
            "",
        ),
        ("mutation { update_purchase(where: {id: {_eq: 2}}, _set: {tenant_id: 3}) { affected_rows } }", ""),
        (
            "mutation { update_purchase(where: {tenant_id: {_eq: 3}}, _inc: {tenant_id: 1}) { affected_rows } }",
            "",
        ),
        (
            "mutation ($t: Int!, $s: purchase_set_input) { update_purchase(where: {tenant_id: {_eq: $t}}, _set: $s) { affected_rows } }",
            r#"{"t": 3, "s": {"tenant_id": 4}}"#,
        ),
        (
            "mutation ($t: Int!, $s: purchase_set_input) { update_purchase(where: {tenant_id: {_eq: $t}}, _set: $s) { affected_rows } }",
            r#"{"t": 3, "s": {"tenant_id": null}}"#,
        ),
    ] {
        assert_eq!(shop.error(mutation, variables).await, moves, "{mutation}");
    }
    let upsert = r#"mutation { insert_purchase_one(object: {tenant_id: 3, id: 2, customer_id: 1}, on_conflict: {constraint: purchase_pkey,
        update_columns: [note], where: {customer: {name: {_eq: "x"}}}}) { id } }"#;
    let refused = shop.error(upsert, "").await;
    assert!(
        refused.starts_with(
            "NOT_SUPPORTED: the rows of `purchase` are spread over shards, where the condition of"
        ),
        "{refused}"
    );
    let after = shop.ask("{ purchase(order_by: [{tenant_id: asc}, {id: asc}]) { tenant_id id note } }").await;
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_change_of_all_shards_and_a_reference_table_is_told_to_go_in_sequence() {
    let seen = "CREATE TABLE seen (said text); CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO seen VALUES (coalesce(nullif(current_setting('citus.multi_shard_modify_mode', true), ''), 'parallel')); RETURN NULL; END $$;
        CREATE TRIGGER see AFTER UPDATE ON purchase FOR EACH STATEMENT EXECUTE FUNCTION see();
        CREATE TRIGGER see AFTER UPDATE ON country FOR EACH STATEMENT EXECUTE FUNCTION see();";
    let shop = shop(seen).await;
    let all = r#"update_purchase(where: {note: {_eq: "note 1"}}, _set: {note: "z"}) { affected_rows }"#;
    let one = r#"update_purchase(where: {tenant_id: {_eq: 1}}, _set: {note: "z"}) { affected_rows }"#;
    let reference = r#"update_country(where: {code: {_eq: 1}}, _set: {name: "uno"}) { affected_rows }"#;
    let other = "delete_customer(where: {tenant_id: {_eq: 9}}) { affected_rows }";
    let by_tenant =
        r#"update_country(where: {customers: {tenant_id: {_eq: 3}}}, _set: {name: "tre"}) { affected_rows }"#;
    for (mutation, expected) in [
        (format!("mutation {{ {all} {reference} }}"), "sequential"),
        (format!("mutation {{ {all} {other} }}"), "parallel"),
        (format!("mutation {{ {one} {reference} }}"), "parallel"),
        (format!("mutation {{ {by_tenant} }}"), "sequential"),
        (format!("mutation {{ {reference} }}"), "parallel"),
    ] {
        let answer = shop.ask(&mutation).await;
        assert!(!answer.contains("errors"), "{answer}");
        let said = shop.database.rows("SELECT said FROM seen");
        assert!(
            said.iter().all(|it| *it == vec![Some(expected.as_bytes().to_vec())]),
            "{mutation}: {said:?}"
        );
        assert!(!said.is_empty(), "{mutation}");
        shop.database.run("DELETE FROM seen");
    }
}

/// A function that raises `message` with `state` where a purchase is inserted.
fn raising(state: &str, message: &str, detail: &str) -> String {
    format!(
        "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION USING ERRCODE = '{state}', MESSAGE = $m${message}$m$, DETAIL = $m${detail}$m$; END $f$;
         CREATE TRIGGER fail BEFORE INSERT ON purchase FOR EACH ROW EXECUTE FUNCTION fail();"
    )
}

#[tokio::test]
async fn errors_of_workers_are_those_of_tables() {
    let insert = "mutation { insert_purchase_one(object: {tenant_id: 3, id: 99, customer_id: 2}) { id } }";
    for (state, message, expected) in [
        (
            "23505",
            "duplicate key value violates unique constraint \"purchase_pkey_102041\"",
            "UNIQUE_VIOLATION: Uniqueness violation. duplicate key value violates unique constraint \"purchase_pkey\"",
        ),
        (
            "22004",
            "cannot perform an INSERT with NULL in the partition column",
            "NOT_NULL_VIOLATION: Not-NULL violation. null value in column \"tenant_id\" of relation \"purchase\" violates not-null constraint",
        ),
        (
            "0A000",
            "cannot perform an INSERT without a partition column value",
            "NOT_NULL_VIOLATION: Not-NULL violation. null value in column \"tenant_id\" of relation \"purchase\" violates not-null constraint",
        ),
        (
            "0A000",
            "subqueries are not supported within INSERT queries",
            "NOT_SUPPORTED: an insert into a distributed table cannot read other tables: let the permission to insert compare columns of the row alone, or the session's variables",
        ),
        (
            "XX000",
            "failure on connection marked as essential: worker-1:5432",
            "SOURCE_UNAVAILABLE: the source is not available",
        ),
    ] {
        let shop = shop(&raising(state, message, "")).await;
        let said = shop.error(insert, "").await;
        assert!(said.starts_with(expected.split(": the source").next().unwrap()), "{said}");
        if !expected.starts_with("SOURCE") {
            assert_eq!(said, expected);
        }
    }
}

#[tokio::test]
async fn refusals_of_the_planner_name_the_relationship() {
    let view = |state: &str, message: &str| {
        format!(
            "CREATE FUNCTION refuse() RETURNS int LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION USING ERRCODE = '{state}', MESSAGE = $m${message}$m$; END $f$;
             CREATE VIEW broken AS SELECT 1 AS id, refuse() AS value;"
        )
    };
    let joins = "complex joins are only supported when all distributed tables are co-located and joined on their distribution columns";
    let shop = shop(&view("0A000", joins)).await;
    let said = shop.error("{ broken { value } }", "").await;
    assert!(
        said.starts_with(
            "NOT_SUPPORTED: the database cannot answer this from several shards at once: distribute"
        ),
        "{said}"
    );
    assert!(!said.contains("complex joins"), "{said}");
    let hasura = shop.ask_in(Protocol::Hasura, "{ broken { value } }", "").await;
    assert!(hasura.contains(r#""code":"not-supported""#), "{hasura}");
}

#[tokio::test]
async fn a_read_that_lost_a_worker_is_repeated_once() {
    let lost = "CREATE SEQUENCE tries; CREATE FUNCTION lost(upto int) RETURNS int LANGUAGE plpgsql AS $f$ BEGIN
          IF nextval('tries') <= upto THEN RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = 'failure on connection marked as essential: worker-1:5432'; END IF;
          RETURN 7; END $f$;
        CREATE VIEW once AS SELECT 1 AS id, lost(1) AS value; CREATE VIEW twice AS SELECT 1 AS id, lost(9) AS value;";
    let shop = shop(lost).await;
    assert_eq!(shop.ask("{ once { value } }").await, r#"{"data":{"once":[{"value":7}]}}"#);
    let tries =
        |shop: &Served| shop.database.rows("SELECT last_value::text FROM tries")[0][0].clone().unwrap();
    assert_eq!(tries(&shop), b"2");
    let said = shop.error("{ twice(limit: 1) { value } }", "").await;
    assert!(said.starts_with("SOURCE_UNAVAILABLE"), "{said}");
    assert_eq!(tries(&shop), b"4", "asked twice");
}

#[tokio::test]
async fn shards_of_a_worker_that_is_down_are_unavailable_and_others_are_served() {
    let down = "CREATE FUNCTION on_worker(tenant int) RETURNS int LANGUAGE plpgsql AS $f$ BEGIN
          IF tenant = 2 THEN RAISE EXCEPTION USING ERRCODE = '08006', MESSAGE = 'connection to the remote node worker-1:5432 failed with the following error: Connection refused'; END IF;
          RETURN tenant; END $f$;
        CREATE VIEW shard AS SELECT tenant_id, on_worker(tenant_id) AS value FROM tenant_flag;";
    let shop = shop(down).await;
    let of = |tenant: u32| format!("{{ shard(where: {{tenant_id: {{_eq: {tenant}}}}}) {{ value }} }}");
    for _ in 0..3 {
        let said = shop.error(&of(2), "").await;
        assert!(said.starts_with("SOURCE_UNAVAILABLE") && !said.contains("worker-1"), "{said}");
        assert_eq!(shop.ask(&of(3)).await, r#"{"data":{"shard":[{"value":3}]}}"#);
    }
}

/// A database, told that it is the node of `group`, whose foreign keys hold for new rows alone.
fn node(group: u32) -> Database {
    let key = "FOREIGN KEY (tenant_id, customer_id) REFERENCES customer (tenant_id, id)";
    let tables = SHOP.replace(&format!(", {key}"), "");
    let later = format!(
        "ALTER TABLE purchase ADD {key} NOT VALID; UPDATE dist.pg_dist_local_group SET groupid = {group};"
    );
    database(&[CATALOGS, &tables, PLACEMENTS, &later].concat())
}

#[tokio::test]
async fn a_worker_has_the_schema_of_the_coordinator_and_is_told() {
    let purchase = "{ __type(name: \"purchase\") { fields { name type { kind } } } }";
    let kind = r#"{"name":"customer","type":{"kind":"NON_NULL"}}"#;
    for (group, is_told) in [(0, false), (7, true)] {
        let database = node(group);
        let mut settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
        settings.flavour = Some(Flavour::Citus);
        let model = ModelOptions { relationship_names: RelationshipNames::Short, ..ModelOptions::default() };
        let options = PostgresOptions { model, schemas: &["public".to_owned()], stringify: false };
        let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
        let (source, warnings) = opened.unwrap();
        let told: Vec<&str> = warnings.iter().map(|it| it.reason.as_str()).collect();
        assert_eq!(told.iter().any(|it| it.contains("worker of Citus")), is_told, "{told:?}");
        assert!(source.has_shards());
        let graph = Graph::compose(vec![Arc::new(source) as Arc<dyn Source>], &[]).unwrap();
        let engine = Engine::new(graph, engine_settings(1 << 16));
        let answer = ask_whole(&engine, &Identity::admin(), purchase).await;
        assert_eq!(answer.contains(kind), is_told, "{answer}");
    }
}

#[tokio::test]
async fn statements_are_explained_and_counted_by_the_shards_that_they_ask() {
    let shop = shop("").await;
    let explained = |query: &str| {
        let request = Request::new(query, Instant::now() + Duration::from_secs(60));
        let explained = shop.engine.explain(request, &shop.engine.caller(&Identity::admin()));
        explained.unwrap().steps.into_iter().map(|it| it.1).collect::<String>()
    };
    for (query, words) in [
        ("{ purchase_by_pk(tenant_id: 3, id: 2) { note customer { name } } }", "(one shard)"),
        ("{ purchase(where: {tenant_id: {_in: [1, 3]}}, limit: 3) { note } }", "(several shards)"),
        ("{ purchase(limit: 3) { note } }", "(all shards)"),
        ("{ country_by_pk(code: 1) { name } }", "(no shard)"),
        ("{ country_by_pk(code: 1) { customers { name } } }", "(all shards)"),
        (
            "mutation { insert_purchase_one(object: {tenant_id: 3, id: 99, customer_id: 2}) { customer { name } } }",
            "purchase (one shard)",
        ),
        (
            "mutation { update_purchase(where: {note: {_eq: \"x\"}}, _set: {note: \"y\"}) { returning { customer { name } } } }",
            "(several shards)",
        ),
        (
            "mutation { delete_purchase(where: {note: {_eq: \"x\"}}) { affected_rows } }",
            "purchase (all shards)",
        ),
    ] {
        let text = explained(query);
        assert!(text.contains(words), "{words}: {text}");
    }
    for query in [
        "{ purchase_by_pk(tenant_id: 3, id: 2) { note } }",
        "{ purchase(limit: 3) { note } }",
        "{ country(limit: 3) { name } }",
        "mutation { insert_purchase_one(object: {tenant_id: 3, id: 99, customer_id: 2}) { customer { name } } }",
    ] {
        let answer = shop.ask(query).await;
        assert!(!answer.contains("errors"), "{answer}");
    }
    let expected = vec![("none", 1), ("one", 3), ("several", 0), ("all", 1)];
    assert_eq!(shop.source.statements_by_shards(), expected);
    let product = shop.source.product().unwrap();
    assert!(product.starts_with("Citus"), "{product}");
}

#[tokio::test]
async fn a_table_of_a_schema_that_is_spread_as_a_whole_has_one_shard() {
    let more = "CREATE TABLE flag (id int PRIMARY KEY, customer_id int); INSERT INTO flag VALUES (1, 2);
        INSERT INTO dist.pg_dist_partition VALUES ('flag', 'n', NULL, 9, 's');
        CREATE TABLE kept (id int PRIMARY KEY); INSERT INTO kept VALUES (1);
        INSERT INTO dist.pg_dist_partition VALUES ('kept', 'n', NULL, 0, 's');";
    let shop = shop(more).await;
    for query in [
        "{ flag { id } }",
        "mutation { update_flag(where: {}, _set: {customer_id: 3}) { affected_rows } }",
        "{ kept { id } }",
    ] {
        assert!(!shop.ask(query).await.contains("errors"), "{query}");
    }
    assert_eq!(shop.source.statements_by_shards(), [("none", 1), ("one", 2), ("several", 0), ("all", 0)]);
}

#[tokio::test]
async fn rows_that_a_function_gives_are_tied_to_shards_by_their_keys() {
    let function = "CREATE FUNCTION regulars() RETURNS SETOF customer STABLE LANGUAGE plpgsql AS
        $$ BEGIN RETURN QUERY SELECT * FROM customer WHERE id > 1; END $$;";
    let functions: Vec<FunctionEntry> = serde_json::from_str(r#"[{"function": "regulars"}]"#).unwrap();
    let model = ModelOptions {
        relationship_names: RelationshipNames::Short,
        functions: &functions,
        ..ModelOptions::default()
    };
    let database = database(&[CATALOGS, SHOP, PLACEMENTS, EXTENSION, function].join(";"));
    let shop = serve_as(database, model).await;
    for (query, expected) in [
        (
            r#"{ regulars(where: {purchases: {note: {_eq: "note 1"}}}, order_by: {tenant_id: asc}) { tenant_id id } }"#,
            r#"[{"tenant_id":1,"id":2},{"tenant_id":2,"id":2},{"tenant_id":3,"id":2},{"tenant_id":4,"id":2}]"#,
        ),
        (
            r#"{ regulars(where: {tenant_id: {_eq: 3}}, order_by: [{purchases_aggregate: {max: {note: desc}}}]) { id } }"#,
            r#"[{"id":3},{"id":2}]"#,
        ),
    ] {
        let request = Request::new(query, Instant::now() + Duration::from_secs(60));
        let explained = shop.engine.explain(request, &shop.engine.caller(&Identity::admin()));
        let text = explained.unwrap().steps.into_iter().map(|it| it.1).collect::<String>();
        assert!(!text.contains("EXISTS") && !text.contains("(SELECT max("), "{text}");
        assert_eq!(shop.ask(query).await, format!(r#"{{"data":{{"regulars":{expected}}}}}"#));
    }
}

#[tokio::test]
async fn a_server_with_the_extension_is_citus_of_its_version() {
    let database = database(&[CATALOGS, SHOP, PLACEMENTS, EXTENSION].concat());
    let served = serve_with(database, &["public"], |_| {}).await;
    assert_eq!(served.source.product().as_deref(), Some("Citus 13.2"));
    let answer = served.ask("{ purchase_by_pk(tenant_id: 3, id: 2) { note } }").await;
    assert_eq!(answer, r#"{"data":{"purchase_by_pk":{"note":"note 2"}}}"#);
    assert_eq!(served.source.statements_by_shards()[1], ("one", 1));
}

#[tokio::test]
async fn a_distribution_column_with_a_default_is_known_only_where_it_is_given() {
    let shop = shop("ALTER TABLE purchase ALTER tenant_id SET DEFAULT 1").await;
    let mutation = "mutation ($t: Int, $id: Int!) { insert_purchase_one(object: {tenant_id: $t, id: $id, customer_id: 2}) { tenant_id customer { name } } }";
    for (variables, tenant) in [(r#"{"id": 90}"#, 1), (r#"{"id": 91, "t": 3}"#, 3)] {
        let expected = format!(
            r#"{{"data":{{"insert_purchase_one":{{"tenant_id":{tenant},"customer":{{"name":"customer {tenant}2"}}}}}}}}"#
        );
        assert_eq!(shop.ask_with(mutation, variables).await, expected);
    }
}

/// Requests for one row and what is below it, on other shards.
const BELOW_A_KEY: &[(&str, usize)] = &[
    ("{ Album_by_pk(AlbumId: 1) { Title Artist { Name } } }", 2),
    (
        "{ Album_by_pk(AlbumId: 1) { Title Artist { Name Albums(order_by: {Title: desc}) { Title Artist { ArtistId } } } Tracks(limit: 2, order_by: {TrackId: asc}) { Name } } }",
        2,
    ),
    ("{ Album_by_pk(AlbumId: 999999) { Title Artist { Name } } }", 2),
    ("{ Album(where: {AlbumId: {_eq: 4}, Title: {_like: \"L%\"}}) { Title Artist { Name } } }", 2),
    ("{ Album(where: {AlbumId: {_eq: 4}, Title: {_like: \"X%\"}}) { Title Artist { Name } } }", 2),
    (
        "{ Album_by_pk(AlbumId: 1) { a: Artist { Name } b: Artist { ArtistId Albums_aggregate { aggregate { count max { Title } } nodes { Title } } } } }",
        2,
    ),
    ("{ Employee_by_pk(EmployeeId: 1) { LastName Employee { LastName } } }", 1),
    ("{ Album_by_pk(AlbumId: 1) { Title Tracks(order_by: {TrackId: asc}) { Name } } }", 1),
    (
        "{ one: Album_by_pk(AlbumId: 1) { Artist { Name } } two: Album_by_pk(AlbumId: 2) { Artist { Name } } }",
        1,
    ),
    (
        "query ($id: Int!) { Album_by_pk(AlbumId: $id) { Artist { Name Albums(where: {Tracks: {Milliseconds: {_gt: 1}}}, order_by: {AlbumId: asc}, limit: 3) { AlbumId } } } }",
        2,
    ),
];

#[tokio::test]
async fn a_row_of_another_colocation_is_read_before_what_is_below_it() {
    let database = chinook();
    database.run(&[CATALOGS, SPREAD].concat());
    let plain = serve_with(chinook(), &["public"], |_| {}).await;
    let spread = serve_citus(database).await;
    let sum = |served: &Served| served.source.statements_by_shards().iter().map(|it| it.1).sum::<u64>();
    for &(query, statements) in BELOW_A_KEY {
        let variables = if query.starts_with("query") { r#"{"id": 5}"# } else { "" };
        let before = sum(&spread);
        let answer = spread.ask_with(query, variables).await;
        assert_eq!(answer, plain.ask_with(query, variables).await, "{query}");
        // Nothing is below a row that is not there.
        let is_there = !answer.contains("_by_pk\":null") && !answer.contains("[]");
        let expected = if is_there { statements } else { 1 };
        assert_eq!(sum(&spread) - before, expected as u64, "{query}");
    }
    let request = Request::new(BELOW_A_KEY[1].0, Instant::now() + Duration::from_secs(60));
    let explained = spread.engine.explain(request, &spread.engine.caller(&Identity::admin())).unwrap();
    let text = &explained.steps[0].1;
    assert!(text.starts_with("-- Album_by_pk (one shard)\n"), "{text}");
    assert!(!text.contains("unnest"), "{text}");
}

#[tokio::test]
async fn a_null_key_of_a_row_that_is_read_before_has_nothing_below() {
    let more = "CREATE TABLE visit (id int PRIMARY KEY, guest int); CREATE TABLE guest (id int PRIMARY KEY, name text);
        ALTER TABLE visit ADD FOREIGN KEY (guest) REFERENCES guest (id); INSERT INTO guest VALUES (7, 'Ada'); INSERT INTO visit VALUES (1, 7), (2, NULL);
        INSERT INTO dist.pg_dist_partition VALUES ('visit', 'h', 'id', 5, 's'), ('guest', 'h', 'id', 6, 's');";
    let shop = shop(more).await;
    let query = |id: u32| {
        format!(
            "{{ visit_by_pk(id: {id}) {{ id guest_guest {{ name visits {{ id }} visits_aggregate {{ aggregate {{ count }} }} }} }} }}"
        )
    };
    let expected = r#"{"data":{"visit_by_pk":{"id":1,"guest_guest":{"name":"Ada","visits":[{"id":1}],"visits_aggregate":{"aggregate":{"count":1}}}}}}"#;
    assert_eq!(shop.ask(&query(1)).await, expected);
    assert_eq!(shop.ask(&query(2)).await, r#"{"data":{"visit_by_pk":{"id":2,"guest_guest":null}}}"#);
}
