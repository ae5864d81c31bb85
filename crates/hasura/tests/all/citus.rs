//! Statements to Citus: its planner accepts them, and one shard answers those of a tenant's request.
//!
//! There is no cluster here. The planner is the model of [`crate::citus_model`]; that the statements give the right rows is seen
//! on plain PostgreSQL, which takes them all.

use crate::citus_model::{Model, Reach};
use crate::flavours::{answer, cases};
use crate::postgres_kit::{Database, chinook as chinook_database, database};
use crate::role_kit::side::caller_with;
use crate::texts::{Sent, api, api_over, api_with, catalog, chinook, sent, sent_as};
use serde_json::{Value, json};
use std::sync::Arc;
use weir_engine::caller::Identity;
use weir_hasura::api::meaning::Api;
use weir_metadata::document::table::TableEntry;
use weir_relational::catalog::{Catalog, Placement};
use weir_relational::dialect::flavour::Flavour;

/// Spreads `tables` by the columns beside them, each group over shards of its own; `references` are everywhere.
fn place(catalog: &mut Catalog, groups: &[&[(&str, &str)]], references: &[&str]) {
    for table in &mut catalog.tables {
        for (colocation, group) in groups.iter().enumerate() {
            if let Some((_, column)) = group.iter().find(|it| it.0 == table.name) {
                let column = table.find(column).unwrap();
                table.placement = Placement::Sharded { column, colocation: colocation as u32 };
            }
        }
        if references.contains(&table.name.as_str()) {
            table.placement = Placement::Reference;
        }
    }
}

/// Chinook as a cluster held it: artists apart from albums and tracks, invoices with their lines.
pub(crate) fn spread_chinook() -> Catalog {
    let mut catalog = chinook();
    place(
        &mut catalog,
        &[
            &[("Artist", "ArtistId")],
            &[("Album", "AlbumId"), ("Track", "AlbumId")],
            &[("Invoice", "InvoiceId"), ("InvoiceLine", "InvoiceId")],
        ],
        &["Genre", "MediaType", "Customer", "Employee", "Playlist"],
    );
    catalog
}

/// The rules that the statements of `question` break, and the shards that each asks.
fn judged(catalog: &Catalog, api: &Arc<Api>, flavour: Flavour, question: &str) -> (Vec<String>, Vec<Reach>) {
    judged_as(&Identity::admin(), (catalog, api), flavour, question)
}

/// The same for another caller.
pub(crate) fn judged_as(
    identity: &Identity,
    (catalog, api): (&Catalog, &Arc<Api>),
    flavour: Flavour,
    question: &str,
) -> (Vec<String>, Vec<Reach>) {
    judged_sent(&Model::new(catalog), question, &sent_as(identity, api, flavour, question))
}

/// The same of what is sent for `question`.
pub(crate) fn judged_sent(
    model: &Model<'_>,
    question: &str,
    Sent { changes, reads, .. }: &Sent,
) -> (Vec<String>, Vec<Reach>) {
    let mut broken = Vec::new();
    let mut reached = Vec::new();
    let mut judge = |sql: &str, first: usize, values: &[String]| {
        let value = |name: &str| {
            let at = name[1..].parse::<usize>().unwrap() - 1;
            at.checked_sub(first).and_then(|it| values.get(it)).cloned().unwrap_or_else(|| name.to_owned())
        };
        match model.check(sql, &value) {
            Ok(reach) => reached.push(reach),
            Err(rules) => broken.push(format!("{question}\n{sql}\n{}", rules.join("\n"))),
        }
    };
    for (change, values) in changes {
        judge(&change.sql, change.values, values);
    }
    for read in reads {
        judge(&read.assembly.sql, read.assembly.oids.len() - read.values.len(), &read.values);
    }
    (broken, reached)
}

/// Requests over rows of other shards, in every place where a statement may look for them.
pub(crate) const FAR: &[&str] = &[
    r#"{ Album(where: {Album_Artist: {Name: {_like: "A%"}}}, order_by: {AlbumId: asc}) { AlbumId } }"#,
    r#"{ Artist(where: {_not: {Artist_Albums: {Title: {_like: "B%"}}}}, order_by: {ArtistId: asc}) { ArtistId } }"#,
    r#"{ Artist(where: {Artist_Albums: {Album_Tracks: {Milliseconds: {_gt: 400000}}}}, order_by: {ArtistId: asc}) { Name } }"#,
    r#"{ Track(where: {_not: {Track_Album: {Album_Artist: {Name: {_eq: "AC/DC"}}}}}, order_by: {TrackId: asc}, limit: 20) { TrackId } }"#,
    r#"{ Genre(where: {Genre_Tracks: {Composer: {_is_null: true}}}, order_by: {GenreId: asc}) { Name } }"#,
    r#"{ Artist(where: {Artist_Albums_aggregate: {count: {predicate: {_gt: 2}}}}, order_by: {ArtistId: asc}) { Name } }"#,
    r#"{ Artist(where: {Artist_Albums_aggregate: {count: {predicate: {_eq: 0}}}}, order_by: {ArtistId: asc}) { Name } }"#,
    r#"{ Album(order_by: [{Album_Artist: {Name: desc}}, {AlbumId: asc}], limit: 30) { AlbumId Title } }"#,
    r#"{ Album(where: {Album_Tracks: {Track_InvoiceLines_aggregate: {count: {predicate: {_gt: 1}}}}}, order_by: {AlbumId: asc}) { AlbumId } }"#,
    r#"{ Artist(where: {Artist_Albums: {_not: {Album_Tracks: {Track_InvoiceLines_aggregate: {count: {predicate: {_gt: 0}}}}}}}, order_by: {ArtistId: asc}) { ArtistId } }"#,
    r#"{ Album(order_by: [{Album_Tracks_aggregate: {max: {Name: desc}}}, {AlbumId: asc}], limit: 3) { Album_Tracks(order_by: [{Track_Album: {Album_Artist: {Name: desc}}}, {TrackId: asc}], limit: 2) { Name } } }"#,
    r#"{ Track(order_by: [{Track_Album: {Album_Artist: {Name: asc}}}, {TrackId: asc}], limit: 30, offset: 100) { TrackId } }"#,
    r#"{ Artist(order_by: [{Artist_Albums_aggregate: {count: desc}}, {ArtistId: asc}], limit: 10) { Name } }"#,
    r#"{ Artist(order_by: [{Artist_Albums_aggregate: {max: {Title: desc_nulls_last}}}, {ArtistId: asc}], limit: 10) { Name } }"#,
    r#"{ Artist(order_by: {ArtistId: asc}, limit: 5) { Artist_Albums(order_by: {Title: asc}, limit: 2) { Title Album_Tracks(where: {Track_InvoiceLines: {Quantity: {_gt: 0}}}, order_by: {TrackId: asc}) { Name } } } }"#,
    r#"{ Artist(order_by: {ArtistId: asc}, limit: 5) { Artist_Albums(order_by: [{Album_Artist: {Name: asc}}, {Title: desc}], limit: 2) { Title } } }"#,
    r#"{ Album_aggregate(where: {Album_Artist: {Name: {_like: "A%"}}}) { aggregate { count max { Title } } } }"#,
    r#"{ Artist(distinct_on: Name, order_by: [{Name: asc}, {Artist_Albums_aggregate: {count: desc}}, {ArtistId: asc}]) { ArtistId } }"#,
    r#"{ Invoice(where: {Invoice_Customer: {Country: {_eq: "Brazil"}}}, order_by: {InvoiceId: asc}) { Invoice_InvoiceLines(order_by: {InvoiceLineId: asc}) { InvoiceLine_Track { Name Track_Album { Title } } } } }"#,
    r#"mutation { delete_Album(where: {Album_Artist: {Name: {_eq: "nobody"}}}) { affected_rows } }"#,
    r#"mutation { delete_Artist(where: {Artist_Albums_aggregate: {count: {predicate: {_gt: 1000}}}}) { affected_rows } }"#,
    r#"mutation { update_Artist(where: {ArtistId: {_eq: 3}, _not: {Artist_Albums_aggregate: {count: {predicate: {_eq: 0}}}}}, _set: {Name: "x"}) { affected_rows } }"#,
    r#"mutation { update_Track(where: {Track_Album: {Album_Artist: {Name: {_eq: "nobody"}}}}, _set: {Composer: "x"}) { affected_rows } }"#,
];

#[test]
fn citus_takes_every_statement_over_rows_of_other_shards() {
    let catalog = spread_chinook();
    let api = api_over(catalog.clone());
    let of_flavours = cases().into_iter().map(|it| it.2);
    let questions: Vec<String> = FAR.iter().map(|&it| it.to_owned()).chain(of_flavours).collect();
    let broken: Vec<String> =
        questions.iter().flat_map(|it| judged(&catalog, &api, Flavour::Citus, it).0).collect();
    assert!(broken.is_empty(), "{} of {}:\n{}", broken.len(), questions.len(), broken.join("\n\n"));
    let is_refused = |it: &&&str| !judged(&catalog, &api, Flavour::Postgres, it).0.is_empty();
    let refused = FAR.iter().filter(is_refused).count();
    assert!(
        refused >= 16,
        "the model refuses the statements for plain PostgreSQL: {refused} of {}",
        FAR.len()
    );
}

#[test]
fn the_statements_for_shards_give_the_rows_of_plain_ones() {
    let plain = api();
    let spread = api_over(spread_chinook());
    let database = chinook_database();
    let of_flavours = cases().into_iter().map(|it| it.2);
    let reads =
        FAR.iter().map(|&it| it.to_owned()).chain(of_flavours).filter(|it| !it.starts_with("mutation"));
    for question in reads {
        let rows = |api, flavour| -> Vec<_> {
            sent(api, flavour, &question).reads.iter().map(|it| answer(&database, it)).collect()
        };
        // Rows that are read before others are those of `citus_served`.
        if sent(&spread, Flavour::Citus, &question).reads.len() > 1 {
            continue;
        }
        assert_eq!(rows(&spread, Flavour::Citus), rows(&plain, Flavour::Postgres), "{question}");
    }
}

/// Changes whose rows have rows below them that are found by the distribution column, and by others.
const BELOW_ROWS: &[&str] = &[
    "mutation { delete_Album(where: {Title: {_eq: \"x\"}}) { returning { Title Album_Tracks(order_by: {TrackId: asc}, limit: 2) { Name Track_Genre { Name } } Album_Artist { Name } } } }",
    "mutation { delete_Album(where: {Title: {_eq: \"x\"}}) { returning { Album_Tracks(order_by: {TrackId: asc}) { Name } Album_Artist { Artist_Albums { Title } } } } }",
    "mutation { delete_Album(where: {Title: {_eq: \"x\"}}) { returning { Album_Tracks_aggregate { aggregate { count max { Name } } } Album_Artist { Name } } } }",
    "mutation { delete_Album(where: {Title: {_eq: \"x\"}}) { returning { Album_Tracks_aggregate(order_by: {TrackId: asc}, limit: 3) { aggregate { count } nodes { Name } } } } }",
];

#[test]
fn rows_below_changed_rows_are_found_on_their_own_shards() {
    let plain = api();
    let catalog = spread_chinook();
    let database = chinook_database();
    let spread = api_over(catalog.clone());
    for question in BELOW_ROWS {
        let (broken, _) = judged(&catalog, &spread, Flavour::Citus, question);
        assert!(broken.is_empty(), "{}", broken.join("\n"));
        assert!(!judged(&catalog, &spread, Flavour::Cockroach, question).0.is_empty(), "{question}");
        let rows = |api, flavour| -> Vec<_> {
            sent(api, flavour, question).reads.iter().map(|it| answer(&database, it)).collect()
        };
        let expected = rows(&plain, Flavour::Postgres);
        assert!(expected.iter().flatten().all(|it| !it.is_empty()), "{question}");
        assert_eq!(rows(&spread, Flavour::Citus), expected, "{question}");
    }
}

/// A shop of many tenants, each of whose rows are on one shard.
pub(crate) const SHOP: &str = "
CREATE TABLE tenant (tenant_id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE country (code INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE customer (tenant_id INTEGER NOT NULL REFERENCES tenant (tenant_id), id INTEGER NOT NULL, name TEXT NOT NULL,
  country INTEGER REFERENCES country (code), PRIMARY KEY (tenant_id, id));
CREATE TABLE product (tenant_id INTEGER NOT NULL REFERENCES tenant (tenant_id), id INTEGER NOT NULL, title TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id));
CREATE TABLE purchase (tenant_id INTEGER NOT NULL, id INTEGER NOT NULL, customer_id INTEGER NOT NULL, note TEXT,
  PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, customer_id) REFERENCES customer (tenant_id, id));
CREATE TABLE line (tenant_id INTEGER NOT NULL, purchase_id INTEGER NOT NULL, number INTEGER NOT NULL, product_id INTEGER NOT NULL,
  quantity INTEGER NOT NULL, PRIMARY KEY (tenant_id, purchase_id, number),
  FOREIGN KEY (tenant_id, purchase_id) REFERENCES purchase (tenant_id, id),
  FOREIGN KEY (tenant_id, product_id) REFERENCES product (tenant_id, id));
";

pub(crate) fn shop() -> Catalog {
    let mut catalog = catalog(SHOP);
    let group = ["tenant", "customer", "product", "purchase", "line"].map(|it| (it, "tenant_id"));
    place(&mut catalog, &[&group], &["country"]);
    catalog
}

pub(crate) fn shop_database() -> Database {
    database(&[SHOP, SHOP_ROWS].concat())
}

pub(crate) const SHOP_ROWS: &str = "
INSERT INTO tenant SELECT i, 'tenant ' || i FROM generate_series(1, 4) AS i;
INSERT INTO country SELECT i, 'country ' || i FROM generate_series(1, 3) AS i;
INSERT INTO customer SELECT t, i, 'customer ' || i, nullif(i % 4, 0) FROM generate_series(1, 4) AS t, generate_series(1, 6) AS i;
INSERT INTO product SELECT t, i, 'product ' || (i * 7 % 5) FROM generate_series(1, 4) AS t, generate_series(1, 5) AS i;
INSERT INTO purchase SELECT t, i, 1 + i % 6, nullif('note ' || i % 3, 'note 0') FROM generate_series(1, 4) AS t, generate_series(1, 12) AS i;
INSERT INTO line SELECT t, i, n, 1 + (i + n) % 5, i + n FROM generate_series(1, 4) AS t, generate_series(1, 12) AS i, generate_series(1, 3) AS n;
";

/// Requests of tenant 3 alone.
pub(crate) const OF_A_TENANT: &[&str] = &[
    "{ purchase_by_pk(tenant_id: 3, id: 2) { note } }",
    "{ purchase_by_pk(tenant_id: 3, id: 2) { purchase_customer { name } purchase_lines { quantity } } }",
    "{ customer(where: {tenant_id: {_eq: 3}}, order_by: {id: asc}) { name customer_purchases(order_by: {id: asc}, limit: 2) { note purchase_lines { quantity line_product { title } } } } }",
    "{ customer(where: {_and: [{tenant_id: {_eq: 3}}, {customer_purchases: {purchase_lines: {quantity: {_gt: 4}}}}]}, order_by: {id: asc}) { name } }",
    "{ customer(where: {tenant_id: {_eq: 3}, _not: {customer_purchases: {note: {_is_null: true}}}}, order_by: {id: asc}) { name } }",
    "{ purchase(where: {tenant_id: {_eq: 3}}, order_by: [{purchase_customer: {name: asc}}, {id: asc}]) { id } }",
    "{ customer(where: {tenant_id: {_eq: 3}}, order_by: [{customer_purchases_aggregate: {count: desc}}, {id: asc}]) { id customer_purchases_aggregate { aggregate { count } } } }",
    "{ customer(where: {tenant_id: {_eq: 3}}, order_by: {id: asc}) { id customer_purchases_aggregate(order_by: {id: asc}, limit: 1) { aggregate { max { id } } nodes { note } } } }",
    "{ purchase_aggregate(where: {tenant_id: {_eq: 3}, purchase_lines: {quantity: {_gt: 3}}}) { aggregate { count } nodes { id purchase_customer { name } } } }",
    "{ tenant_by_pk(tenant_id: 3) { name tenant_customers(order_by: {id: asc}) { name customer_country: customer_country { name } customer_purchases { purchase_lines { line_product { title } } } } } }",
    "{ customer(where: {customer_tenant: {tenant_id: {_eq: 3}}}, order_by: {id: asc}) { name customer_purchases { id } } }",
    "mutation { update_purchase_by_pk(pk_columns: {tenant_id: 3, id: 2}, _set: {note: \"x\"}) { note purchase_customer { name } purchase_lines { quantity } } }",
    "mutation { insert_purchase_one(object: {tenant_id: 3, id: 99, customer_id: 2}) { id purchase_customer { name customer_purchases_aggregate { aggregate { count } } } } }",
    "mutation { delete_line(where: {tenant_id: {_eq: 3}, line_purchase: {purchase_customer: {name: {_eq: \"nobody\"}}}}) { affected_rows returning { line_product { title } } } }",
];

#[test]
fn one_shard_answers_a_tenants_request_at_any_depth() {
    let catalog = shop();
    let api = api_over(catalog.clone());
    for question in OF_A_TENANT {
        let (broken, reached) = judged(&catalog, &api, Flavour::Citus, question);
        assert!(broken.is_empty(), "{}", broken.join("\n"));
        assert!(!reached.is_empty());
        for reach in reached {
            // An insert names its shard by the row it has.
            let is_insert = question.contains("insert_") && reach == Reach::Coordinator;
            assert!(is_insert || reach == Reach::One("3".into()), "{question}: {reach:?}");
        }
    }
}

#[test]
fn a_tenants_conditions_change_no_rows() {
    let database = shop_database();
    let spread = api_over(shop());
    let plain = api_over(catalog(SHOP));
    for question in OF_A_TENANT.iter().filter(|it| !it.starts_with("mutation")) {
        let rows = |api, flavour| -> Vec<_> {
            sent(api, flavour, question).reads.iter().map(|it| answer(&database, it)).collect()
        };
        let expected = rows(&plain, Flavour::Postgres);
        assert!(expected.iter().flatten().any(|it| !it.is_empty()), "{question}");
        assert_eq!(rows(&spread, Flavour::Citus), expected, "{question}");
    }
}

#[test]
fn a_key_on_a_distributed_table_is_asked_alone() {
    let of = |api: &Arc<Api>, question: &str| {
        sent(api, Flavour::Citus, question).reads[0].assembly.merged.is_some()
    };
    let spread = api_over(spread_chinook());
    assert!(!of(&spread, "{ Album_by_pk(AlbumId: 1) { Title } }"));
    assert!(of(&spread, "{ Genre_by_pk(GenreId: 1) { Name } }"), "a reference table");
    assert!(of(&api(), "{ Album_by_pk(AlbumId: 1) { Title } }"), "no table is distributed");
}

/// The shop, whose clerks may write what keeps their tenant and a check that reads the row and others.
fn clerks() -> (Catalog, Arc<Api>) {
    let catalog = shop();
    let own = json!({"tenant_id": {"_eq": "X-Hasura-Tenant-Id"}});
    let check = json!({"_and": [own, {"_or": [{"note": {"_is_null": true}}, {"note": {"_neq": "closed"}}]}]});
    let related = json!({"_and": [own, {"purchase": {"note": {"_neq": "closed"}}}]});
    let entry = |table: &str, insert: &Value, update: &Value| {
        json!({"table": table,
            "select_permissions": [{"role": "clerk", "permission": {"columns": "*", "filter": own}}],
            "insert_permissions": [{"role": "clerk", "permission": {"columns": "*", "check": insert}}],
            "update_permissions": [{"role": "clerk", "permission": {"columns": "*", "filter": own, "check": update}}]})
    };
    let tables =
        json!([entry("purchase", &check, &check), entry("line", &own, &related), {"table": "customer"}]);
    let api = api_with(catalog.clone(), &serde_json::from_value::<Vec<TableEntry>>(tables).unwrap());
    (catalog, api)
}

#[test]
fn citus_takes_the_checks_of_permissions() {
    let (catalog, api) = clerks();
    let clerk = caller_with("clerk", false, &[("x-hasura-tenant-id", "3")]);
    for question in [
        "mutation { insert_purchase_one(object: {tenant_id: 3, id: 99, customer_id: 2, note: \"x\"}) { note } }",
        "mutation { update_purchase(where: {note: {_eq: \"x\"}}, _set: {note: \"y\"}) { affected_rows returning { id } } }",
        "mutation { insert_purchase_one(object: {tenant_id: 3, id: 2, customer_id: 2}, on_conflict: {constraint: purchase_pkey, update_columns: [note]}) { note } }",
        "mutation { update_line(where: {number: {_eq: 1}}, _set: {quantity: 5}) { affected_rows } }",
    ] {
        let (broken, _) = judged_as(&clerk, (&catalog, &api), Flavour::Citus, question);
        assert!(broken.is_empty(), "{}", broken.join("\n"));
        let sent = sent_as(&clerk, &api, Flavour::Citus, question);
        // A check that reads other rows is judged by a statement of its own.
        let is_read_later = question.contains("update_line");
        assert!(sent.changes.iter().all(|it| it.0.sql.contains("END)::int4") != is_read_later), "{question}");
    }
}

/// Pairs of tables that are tied by the distribution columns of both, whose shards are elsewhere.
fn apart() -> Catalog {
    let mut catalog = chinook();
    place(&mut catalog, &[&[("Artist", "ArtistId")], &[("Album", "ArtistId")]], &["Genre"]);
    catalog
}

/// Chinook in two schemas that are spread as wholes.
fn in_schemas() -> Catalog {
    let mut catalog = chinook();
    for table in &mut catalog.tables {
        let colocation = if matches!(table.name.as_str(), "Artist" | "Invoice") { 7 } else { 8 };
        table.placement = match table.name.as_str() {
            "Genre" => Placement::Reference,
            _ => Placement::Single { colocation },
        };
    }
    catalog
}

const OF_ARTISTS: &[&str] = &[
    r#"{ Artist(where: {Artist_Albums: {Title: {_like: "B%"}}}, order_by: {ArtistId: asc}) { Name } }"#,
    r#"{ Album(where: {_not: {Album_Artist: {Name: {_like: "A%"}}}}, order_by: {AlbumId: asc}) { Title } }"#,
    r#"{ Artist(order_by: [{Artist_Albums_aggregate: {count: desc}}, {ArtistId: asc}], limit: 5) { Name } }"#,
    r#"{ Artist(order_by: {ArtistId: asc}, limit: 5) { Name Artist_Albums(order_by: {AlbumId: asc}) { Title } } }"#,
    r#"mutation { update_Artist(where: {Artist_Albums: {Title: {_eq: "x"}}}, _set: {Name: "y"}) { affected_rows } }"#,
    r#"mutation { delete_Album(where: {Album_Artist: {Name: {_eq: "x"}}}) { affected_rows } }"#,
];

#[test]
fn rows_tied_by_distribution_columns_are_found_where_shards_are_elsewhere() {
    let plain = api();
    let database = chinook_database();
    for catalog in [apart(), in_schemas()] {
        let spread = api_over(catalog.clone());
        for question in OF_ARTISTS {
            let (broken, _) = judged(&catalog, &spread, Flavour::Citus, question);
            assert!(broken.is_empty(), "{}", broken.join("\n"));
            let rows = |api, flavour| -> Vec<_> {
                sent(api, flavour, question).reads.iter().map(|it| answer(&database, it)).collect()
            };
            assert_eq!(rows(&spread, Flavour::Citus), rows(&plain, Flavour::Postgres), "{question}");
        }
    }
}

#[test]
fn a_table_of_one_shard_is_asked_there() {
    let catalog = in_schemas();
    let api = api_over(catalog.clone());
    for (question, expected) in [
        ("{ Track(limit: 3) { Name } }", vec![Reach::One("shard 8".into())]),
        (
            "{ Track(where: {Track_Album: {Title: {_like: \"A%\"}}}, limit: 3) { Name Track_Genre { Name } } }",
            vec![Reach::One("shard 8".into())],
        ),
        ("{ Genre(limit: 3) { Name } }", vec![Reach::Coordinator]),
        ("{ Artist(limit: 3) { Artist_Albums { Title } } }", vec![Reach::Several]),
    ] {
        let (broken, reached) = judged(&catalog, &api, Flavour::Citus, question);
        assert!(broken.is_empty(), "{}", broken.join("\n"));
        assert_eq!(reached, expected, "{question}");
    }
}
