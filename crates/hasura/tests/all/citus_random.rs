//! Random requests to a database that says it is Citus: the answers are those of plain SQL, no statement breaks a rule of the planner's
//! model, and one shard answers a tenant.

use crate::answer_kit::ask_whole;
use crate::citus::{SHOP, SHOP_ROWS, judged_as, shop, spread_chinook};
use crate::citus_model::Reach;
use crate::citus_served::{CATALOGS, serve_citus};
use crate::hasura_kit::{engine_settings, serve_with};
use crate::postgres_kit::{Database, chinook, database};
use crate::postgres_random::{check_served, many, number, one, run_tapes, text};
use crate::random_kit::{Style, Table, write, write_change};
use crate::role_kit::side::caller_with;
use crate::texts::api_with;
use proptest::test_runner::TestCaseError;
use std::sync::Arc;
use std::time::Duration;
use weir_engine::caller::Identity;
use weir_engine::compose::Graph;
use weir_engine::engine::Engine;
use weir_engine::source::Source;
use weir_hasura::api::meaning::Api;
use weir_hasura::model::{ModelOptions, RelationshipNames};
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_metadata::document::table::TableEntry;
use weir_postgres::Settings;
use weir_relational::catalog::Catalog;
use weir_relational::dialect::flavour::Flavour;

/// The tables of [`spread_chinook`], as Citus tells them.
pub(crate) const SPREAD: &str = r#"
INSERT INTO dist.pg_dist_partition VALUES ('"Artist"', 'h', 'ArtistId', 1, 's'), ('"Album"', 'h', 'AlbumId', 2, 's'),
  ('"Track"', 'h', 'AlbumId', 2, 's'), ('"Invoice"', 'h', 'InvoiceId', 3, 's'), ('"InvoiceLine"', 'h', 'InvoiceId', 3, 's'),
  ('"Genre"', 'n', NULL, 4, 't'), ('"MediaType"', 'n', NULL, 4, 't'), ('"Customer"', 'n', NULL, 4, 't'),
  ('"Employee"', 'n', NULL, 4, 't'), ('"Playlist"', 'n', NULL, 4, 't');
"#;

/// The tables of [`shop`], as Citus tells them.
const SHARDS: &str = "
INSERT INTO dist.pg_dist_partition VALUES ('tenant', 'h', 'tenant_id', 1, 's'), ('customer', 'h', 'tenant_id', 1, 's'),
  ('product', 'h', 'tenant_id', 1, 's'), ('purchase', 'h', 'tenant_id', 1, 's'), ('line', 'h', 'tenant_id', 1, 's'),
  ('country', 'n', NULL, 2, 't');
";

/// Chinook: distributed by several columns, with reference tables and a local one.
const MUSIC: &[Table] = &[
    Table {
        sql: r#""Artist""#,
        root: "Artist",
        columns: &[number(r#""ArtistId""#, "ArtistId", 276), text(r#""Name""#, "Name", &["AC/DC", ""])],
        keys: 1,
        relations: &[many("Albums", 1, &[(r#""ArtistId""#, r#""ArtistId""#)])],
    },
    Table {
        sql: r#""Album""#,
        root: "Album",
        columns: &[
            number(r#""AlbumId""#, "AlbumId", 348),
            text(r#""Title""#, "Title", &["A%"]),
            number(r#""ArtistId""#, "ArtistId", 276),
        ],
        keys: 1,
        relations: &[
            one("Artist", 0, &[(r#""ArtistId""#, r#""ArtistId""#)]),
            many("Tracks", 2, &[(r#""AlbumId""#, r#""AlbumId""#)]),
        ],
    },
    Table {
        sql: r#""Track""#,
        root: "Track",
        columns: &[
            number(r#""TrackId""#, "TrackId", 3504),
            text(r#""Composer""#, "Composer", &["U2", "AC/DC"]),
            number(r#""GenreId""#, "GenreId", 26),
            number(r#""AlbumId""#, "AlbumId", 348),
        ],
        keys: 1,
        relations: &[
            one("Album", 1, &[(r#""AlbumId""#, r#""AlbumId""#)]),
            one("Genre", 3, &[(r#""GenreId""#, r#""GenreId""#)]),
            many("InvoiceLines", 4, &[(r#""TrackId""#, r#""TrackId""#)]),
            many("PlaylistTracks", 7, &[(r#""TrackId""#, r#""TrackId""#)]),
        ],
    },
    Table {
        sql: r#""Genre""#,
        root: "Genre",
        columns: &[number(r#""GenreId""#, "GenreId", 26), text(r#""Name""#, "Name", &["Rock"])],
        keys: 1,
        relations: &[many("Tracks", 2, &[(r#""GenreId""#, r#""GenreId""#)])],
    },
    Table {
        sql: r#""InvoiceLine""#,
        root: "InvoiceLine",
        columns: &[
            number(r#""InvoiceLineId""#, "InvoiceLineId", 2241),
            number(r#""InvoiceId""#, "InvoiceId", 413),
        ],
        keys: 1,
        relations: &[
            one("Track", 2, &[(r#""TrackId""#, r#""TrackId""#)]),
            one("Invoice", 5, &[(r#""InvoiceId""#, r#""InvoiceId""#)]),
        ],
    },
    Table {
        sql: r#""Invoice""#,
        root: "Invoice",
        columns: &[
            number(r#""InvoiceId""#, "InvoiceId", 413),
            text(r#""BillingCity""#, "BillingCity", &["Paris"]),
        ],
        keys: 1,
        relations: &[
            one("Customer", 6, &[(r#""CustomerId""#, r#""CustomerId""#)]),
            many("InvoiceLines", 4, &[(r#""InvoiceId""#, r#""InvoiceId""#)]),
        ],
    },
    Table {
        sql: r#""Customer""#,
        root: "Customer",
        columns: &[number(r#""CustomerId""#, "CustomerId", 60), text(r#""Country""#, "Country", &["Brazil"])],
        keys: 1,
        relations: &[many("Invoices", 5, &[(r#""CustomerId""#, r#""CustomerId""#)])],
    },
    Table {
        sql: r#""PlaylistTrack""#,
        root: "PlaylistTrack",
        columns: &[number(r#""PlaylistId""#, "PlaylistId", 18), number(r#""TrackId""#, "TrackId", 3504)],
        keys: 2,
        relations: &[one("Track", 2, &[(r#""TrackId""#, r#""TrackId""#)])],
    },
];

/// The shop. No column says which tenant a row is of: that is the style's.
const TENANTS: &[Table] = &[
    Table {
        sql: "customer",
        root: "customer",
        columns: &[number(r#""id""#, "id", 7), text(r#""name""#, "name", &["customer 2"])],
        keys: 1,
        relations: &[
            one("tenant", 4, &[(r#""tenant_id""#, r#""tenant_id""#)]),
            many("purchases", 1, &[(r#""tenant_id""#, r#""tenant_id""#), (r#""id""#, r#""customer_id""#)]),
            one("country_country", 5, &[(r#""country""#, r#""code""#)]),
        ],
    },
    Table {
        sql: "purchase",
        root: "purchase",
        columns: &[number(r#""id""#, "id", 13), text(r#""note""#, "note", &["note 1"])],
        keys: 1,
        relations: &[
            one("customer", 0, &[(r#""tenant_id""#, r#""tenant_id""#), (r#""customer_id""#, r#""id""#)]),
            many("lines", 2, &[(r#""tenant_id""#, r#""tenant_id""#), (r#""id""#, r#""purchase_id""#)]),
        ],
    },
    Table {
        sql: "line",
        root: "line",
        columns: &[
            number(r#""purchase_id""#, "purchase_id", 13),
            number(r#""number""#, "number", 4),
            number(r#""quantity""#, "quantity", 9),
        ],
        keys: 2,
        relations: &[
            one("purchase", 1, &[(r#""tenant_id""#, r#""tenant_id""#), (r#""purchase_id""#, r#""id""#)]),
            one("product", 3, &[(r#""tenant_id""#, r#""tenant_id""#), (r#""product_id""#, r#""id""#)]),
        ],
    },
    Table {
        sql: "product",
        root: "product",
        columns: &[number(r#""id""#, "id", 6), text(r#""title""#, "title", &["product 1"])],
        keys: 1,
        relations: &[
            one("tenant", 4, &[(r#""tenant_id""#, r#""tenant_id""#)]),
            many("lines", 2, &[(r#""tenant_id""#, r#""tenant_id""#), (r#""id""#, r#""product_id""#)]),
        ],
    },
    Table {
        sql: "tenant",
        root: "tenant",
        columns: &[text(r#""name""#, "name", &["tenant 3", "tenant 1"])],
        keys: 1,
        relations: &[
            many("customers", 0, &[(r#""tenant_id""#, r#""tenant_id""#)]),
            many("products", 3, &[(r#""tenant_id""#, r#""tenant_id""#)]),
        ],
    },
    Table {
        sql: "country",
        root: "country",
        columns: &[number(r#""code""#, "code", 4), text(r#""name""#, "name", &["country 1"])],
        keys: 1,
        relations: &[],
    },
];

#[test]
fn random_requests_over_shards_are_answered_as_plain_sql_says() {
    let database = chinook();
    database.run(&[CATALOGS, SPREAD].concat());
    check_served(serve_citus(database), MUSIC, Style::default(), 150);
}

#[test]
fn no_statement_of_a_random_request_breaks_a_rule_of_the_planner() {
    let catalog = spread_chinook();
    let of = (&catalog, &api_with(catalog.clone(), &[]));
    let style = Style { literals: true, ..Style::default() };
    run_tapes(300, |tape| {
        let question = write(MUSIC, tape, style).graphql;
        let (broken, _) = judged_as(&Identity::admin(), of, Flavour::Citus, &question);
        if broken.is_empty() { Ok(()) } else { Err(TestCaseError::fail(broken.join("\n"))) }
    });
}

#[test]
fn no_statement_of_a_random_change_breaks_a_rule_of_the_planner() {
    let catalog = spread_chinook();
    let of = (&catalog, &api_with(catalog.clone(), &[]));
    run_tapes(300, |tape| {
        let question = write_change(MUSIC, tape, Style::default(), true);
        let (broken, _) = judged_as(&Identity::admin(), of, Flavour::Citus, &question);
        if broken.is_empty() { Ok(()) } else { Err(TestCaseError::fail(broken.join("\n"))) }
    });
}

/// An answer whose returned rows, which have no order, are sorted.
fn sorted(answer: &str) -> serde_json::Value {
    let mut answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let fields = answer["data"].as_object_mut().into_iter().flat_map(|it| it.values_mut());
    for rows in fields.filter_map(|it| it.get_mut("returning")?.as_array_mut()) {
        rows.sort_by_cached_key(ToString::to_string);
    }
    answer
}

#[test]
fn random_changes_over_shards_do_what_plain_ones_do() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let database = chinook();
    database.run(&[CATALOGS, SPREAD].concat());
    let (spread, plain) = runtime
        .block_on(async { (serve_citus(database).await, serve_with(chinook(), &["public"], |_| {}).await) });
    let changed = std::cell::Cell::new(0);
    run_tapes(120, |tape| {
        let question = write_change(MUSIC, tape, Style::default(), false);
        let (one, other) =
            runtime.block_on(async { (spread.ask(&question).await, plain.ask(&question).await) });
        let one = sorted(&one);
        let other = sorted(&other);
        changed.set(changed.get() + u32::from(one.to_string().contains(r#""returning":[{"#)));
        let is_same = one == other && one.get("errors").is_none();
        if is_same { Ok(()) } else { Err(TestCaseError::fail(format!("{question}\n{one}\n{other}"))) }
    });
    assert!(changed.get() > 20, "rows were changed by {}", changed.get());
}

const OF_TENANT: Style =
    Style { literals: true, roots: 5, pinned: Some(("tenant_id", "tenant_id", 3)), is_policy: false };

/// One shard answers each statement of random requests of one tenant, whose value is `value`.
fn check_reach(identity: &Identity, of: (&Catalog, &Arc<Api>), style: Style, value: &str) {
    check_reach_of(identity, of, value, |tape| write(TENANTS, tape, style).graphql);
    check_reach_of(identity, of, value, |tape| write_change(TENANTS, tape, style, !style.is_policy));
}

fn check_reach_of(
    identity: &Identity,
    of: (&Catalog, &Arc<Api>),
    value: &str,
    question: impl Fn(&[u32]) -> String,
) {
    run_tapes(300, |tape| {
        let question = question(tape);
        let (broken, reached) = judged_as(identity, of, Flavour::Citus, &question);
        let is_one = |it: &Reach| *it == Reach::One(value.into());
        // Below the rows that a change returns there may be rows of reference tables alone.
        let is_near = reached.iter().all(|it| is_one(it) || *it == Reach::Coordinator);
        if broken.is_empty() && is_near && reached.first().is_some_and(is_one) {
            return Ok(());
        }
        Err(TestCaseError::fail(format!("{question}: {reached:?}\n{}", broken.join("\n"))))
    });
}

#[test]
fn one_shard_answers_a_random_request_of_a_tenant() {
    let catalog = shop();
    check_reach(&Identity::admin(), (&catalog, &api_with(catalog.clone(), &[])), OF_TENANT, "3");
}

#[test]
fn random_requests_of_a_tenant_are_answered_as_plain_sql_says() {
    let database = database(&[CATALOGS, SHOP, SHOP_ROWS, SHARDS].concat());
    check_served(serve_citus(database), TENANTS, Style { literals: false, ..OF_TENANT }, 150);
}

/// Tables whose rows are those of the caller's tenant: by themselves, or by a row that they belong to.
fn entries() -> Vec<TableEntry> {
    let own = r#"{"tenant_id": {"_eq": "X-Hasura-Tenant-Id"}}"#;
    let of_customer = r#"{"customer": {"tenant_id": {"_eq": "X-Hasura-Tenant-Id"}}}"#;
    let of_purchase = r#"{"_and": [{"purchase": {"customer": {"name": {"_neq": "customer 5"}}}}, {"tenant_id": {"_eq": "X-Hasura-Tenant-Id"}}]}"#;
    let tables = [
        entry("tenant", own),
        entry("customer", own),
        entry("product", own),
        entry("purchase", of_customer),
        entry("line", of_purchase),
        entry("country", "{}"),
    ];
    serde_json::from_str(&format!("[{}]", tables.join(","))).unwrap()
}

fn entry(table: &str, filter: &str) -> String {
    let set = match table {
        "country" => "{}",
        _ => r#"{"tenant_id": "X-Hasura-Tenant-Id"}"#,
    };
    format!(
        r#"{{"table": "{table}",
          "select_permissions": [{{"role": "clerk", "permission": {{"columns": "*", "filter": {filter}, "allow_aggregations": true}}}}],
          "insert_permissions": [{{"role": "clerk", "permission": {{"columns": "*", "check": {{}}, "set": {set}}}}}],
          "update_permissions": [{{"role": "clerk", "permission": {{"columns": "*", "filter": {filter}, "check": null}}}}]}}"#
    )
}

fn clerk() -> Identity {
    caller_with("clerk", false, &[("x-hasura-tenant-id", "3")])
}

#[test]
fn one_shard_answers_a_random_request_of_a_role_that_sees_one_tenant() {
    let catalog = shop();
    let style = Style { is_policy: true, ..OF_TENANT };
    let of = (&catalog, &api_with(catalog.clone(), &entries()));
    check_reach(&clerk(), of, style, "claim x-hasura-tenant-id");
}

/// Serves the shop to roles, with or without shards.
async fn serve_roles(more: &[&str], flavour: Flavour) -> (Engine, Database) {
    let database = database(&[&[SHOP, SHOP_ROWS], more].concat().concat());
    let mut settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
    settings.flavour = Some(flavour);
    let tables = entries();
    let model = ModelOptions {
        relationship_names: RelationshipNames::Short,
        tables: &tables,
        ..ModelOptions::default()
    };
    let options = PostgresOptions { model, schemas: &["public".to_owned()], stringify: false };
    let opened = open_postgres("main", settings, options, Duration::from_secs(60)).await;
    let graph = Graph::compose(vec![Arc::new(opened.unwrap().0) as Arc<dyn Source>], &[]).unwrap();
    (Engine::new(graph, engine_settings(256 << 10)), database)
}

async fn answer(engine: &Engine, query: &str) -> String {
    ask_whole(engine, &clerk(), query).await
}

#[test]
fn random_requests_of_a_role_give_the_same_rows_with_shards() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (spread, _one) = runtime.block_on(serve_roles(&[CATALOGS, SHARDS], Flavour::Citus));
    let (plain, _other) = runtime.block_on(serve_roles(&[], Flavour::Postgres));
    let style = Style { is_policy: true, ..OF_TENANT };
    run_tapes(150, |tape| {
        let question = write(TENANTS, tape, style).graphql;
        let (one, other) =
            runtime.block_on(async { (answer(&spread, &question).await, answer(&plain, &question).await) });
        let is_same = one == other && !one.contains("errors");
        if is_same { Ok(()) } else { Err(TestCaseError::fail(format!("{question}\n{one}\n{other}"))) }
    });
}

#[tokio::test]
async fn a_role_may_name_its_tenant_and_no_other() {
    let (engine, database) = serve_roles(&[CATALOGS, SHARDS], Flavour::Citus).await;
    let update = |tenant: u32| {
        format!(
            r#"mutation {{ update_purchase(where: {{id: {{_eq: 2}}}}, _set: {{tenant_id: {tenant}, note: "x"}}) {{ affected_rows }} }}"#
        )
    };
    assert_eq!(answer(&engine, &update(3)).await, r#"{"data":{"update_purchase":{"affected_rows":1}}}"#);
    let refused = answer(&engine, &update(4)).await;
    assert!(refused.contains(r#""code":"NOT_SUPPORTED""#), "{refused}");
    let upsert = r#"mutation { insert_product_one(object: {id: 2, title: "y"},
        on_conflict: {constraint: product_pkey, update_columns: [tenant_id, title]}) { title } }"#;
    assert_eq!(answer(&engine, upsert).await, r#"{"data":{"insert_product_one":{"title":"y"}}}"#);
    let rows = "SELECT (SELECT count(*) FROM purchase WHERE note = 'x')::text, (SELECT string_agg(tenant_id::text, ',') FROM product WHERE title = 'y')";
    let text = |it: &str| Some(it.as_bytes().to_vec());
    assert_eq!(database.rows(rows), vec![vec![text("1"), text("3")]]);
}
