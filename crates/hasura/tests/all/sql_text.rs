//! The statements that questions become, as `explain` says them.

use crate::kit::{CHINOOK, Served, serve};
use std::time::{Duration, Instant};
use weir_engine::caller::Identity;
use weir_engine::engine::Request;

fn check(served: &Served, query: &str, expected: &[&str]) {
    let request = Request::new(query, Instant::now() + Duration::from_secs(60));
    let explanation =
        served.engine.explain(request, &served.engine.caller(&Identity::admin())).expect("it can be planned");
    let shown: Vec<&str> = explanation.steps[0].1.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(shown, expected, "{query}");
}

#[test]
fn each_level_is_one_statement_over_one_table() {
    let served = serve(CHINOOK);
    check(
        &served,
        "{ Album_by_pk(AlbumId: 1) { Title AlbumId } }",
        &["-- Album_by_pk", r#"SELECT t0."Title", t0."AlbumId" FROM "Album" AS t0 WHERE t0."AlbumId" = ?1"#],
    );
    check(
        &served,
        "{ Album(limit: 30) { Title Album_Artist { Name } Album_Tracks { Name } } }",
        &[
            "-- Album",
            r#"SELECT t0."Title", t0."ArtistId", t0."AlbumId" FROM "Album" AS t0 LIMIT ?1"#,
            "-- Album.Album_Artist",
            r#"SELECT t0."Name" FROM "Artist" AS t0 WHERE t0."ArtistId" = ?1"#,
            "-- Album.Album_Tracks",
            r#"SELECT t0."Name" FROM "Track" AS t0 WHERE t0."AlbumId" = ?1"#,
        ],
    );
}

#[test]
fn conditions_orders_and_pages_are_bound_and_quoted() {
    let served = serve(CHINOOK);
    check(
        &served,
        r#"{ Album(where: {_or: [{Title: {_ilike: "%a%"}}, {AlbumId: {_in: [1, 2]}}], Album_Artist: {Name: {_is_null: false}}},
            order_by: [{Album_Artist: {Name: desc}}, {Album_Tracks_aggregate: {count: asc}}, {AlbumId: asc}],
            limit: 5, offset: 2) { AlbumId } }"#,
        &[
            "-- Album",
            concat!(
                r#"SELECT t0."AlbumId" FROM "Album" AS t0 WHERE "#,
                r#"((weir_ilike(?1, t0."Title") OR t0."AlbumId" IN (SELECT value FROM json_each(?2)))"#,
                r#" AND EXISTS (SELECT 1 FROM "Artist" AS t1 WHERE t1."ArtistId" = t0."ArtistId" AND t1."Name" IS NOT NULL))"#,
                r#" ORDER BY (SELECT t2."Name" FROM "Artist" AS t2 WHERE t2."ArtistId" = t0."ArtistId" LIMIT 1) DESC NULLS FIRST,"#,
                r#" (SELECT count(*) FROM "Track" AS t3 WHERE t3."AlbumId" = t0."AlbumId"), t0."AlbumId" LIMIT ?3 OFFSET ?4"#,
            ),
        ],
    );
}

#[test]
fn aggregates_groups_and_distinct_rows_are_one_statement_each() {
    let served = serve(CHINOOK);
    check(
        &served,
        "{ Track_aggregate(limit: 5) { aggregate { count sum { Bytes } stddev { Bytes } } } }",
        &[
            "-- Track_aggregate.aggregate",
            r#"SELECT count(*), weir_of_numbers(sum(t2."Bytes"), max(t2."Bytes")), weir_stddev_samp(t2."Bytes") FROM (SELECT t0.* FROM "Track" AS t0 LIMIT ?1) AS t2"#,
        ],
    );
    check(
        &served,
        "{ Album(distinct_on: ArtistId, order_by: [{ArtistId: asc}, {Title: desc}], limit: 3) { Title } }",
        &[
            "-- Album",
            concat!(
                r#"SELECT t1."Title" FROM (SELECT t0.*, t0."ArtistId" AS weir_order_0, t0."Title" AS weir_order_1,"#,
                r#" row_number() OVER (PARTITION BY t0."ArtistId" ORDER BY t0."ArtistId", t0."Title" DESC) AS weir_place"#,
                r#" FROM "Album" AS t0) AS t1 WHERE t1.weir_place = 1 ORDER BY t1.weir_order_0, t1.weir_order_1 DESC LIMIT ?1"#,
            ),
        ],
    );
    check(
        &served,
        "{ Album_group_by(by: ArtistId, having: {count: {_gt: 8}}, order_by: {count: desc}) { key { ArtistId Title } aggregate { count(columns: [Title, ArtistId], distinct: true) } } }",
        &[
            "-- Album_group_by",
            concat!(
                r#"SELECT t0."ArtistId", NULL, count(DISTINCT quote(t0."Title") || ',' || quote(t0."ArtistId")) FROM "Album" AS t0"#,
                r#" GROUP BY t0."ArtistId" HAVING count(*) > ?1 ORDER BY count(*) DESC"#,
            ),
        ],
    );
}
