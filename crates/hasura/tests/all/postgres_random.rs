//! Random questions over Chinook and over tables with odd names, each answered by plain SQL too.

mod types;

use crate::hasura_kit::{Served, serve_with};
use crate::postgres_kit::hand::Hand;
use crate::postgres_kit::{Database, chinook, database};
use crate::random_kit::{Column, Relation, Style, Table, Values, write};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::Value;
use weir_engine::source::Protocol;

pub(crate) const fn number(sql: &'static str, field: &'static str, end: u32) -> Column {
    Column { sql, field, values: Values::Int(end) }
}

pub(crate) const fn text(sql: &'static str, field: &'static str, texts: &'static [&'static str]) -> Column {
    Column { sql, field, values: Values::Texts(texts) }
}

pub(crate) const fn one(
    field: &'static str,
    to: usize,
    on: &'static [(&'static str, &'static str)],
) -> Relation {
    Relation { field, to, many: false, on }
}

pub(crate) const fn many(
    field: &'static str,
    to: usize,
    on: &'static [(&'static str, &'static str)],
) -> Relation {
    Relation { field, to, many: true, on }
}

pub(crate) const CHINOOK: &[Table] = &[
    Table {
        sql: r#""Artist""#,
        root: "Artist",
        columns: &[
            number(r#""ArtistId""#, "ArtistId", 276),
            text(r#""Name""#, "Name", &["AC/DC", "Iron Maiden", "Os Paralamas Do Sucesso", ""]),
        ],
        keys: 1,
        relations: &[many("Albums", 1, &[(r#""ArtistId""#, r#""ArtistId""#)])],
    },
    Table {
        sql: r#""Album""#,
        root: "Album",
        columns: &[
            number(r#""AlbumId""#, "AlbumId", 348),
            text(r#""Title""#, "Title", &["Let There Be Rock", "Ac\u{fa}stico", "A%"]),
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
            text(r#""Name""#, "Name", &["Balls to the Wall", "Princess of the Dawn", "~"]),
            number(r#""GenreId""#, "GenreId", 26),
            text(r#""Composer""#, "Composer", &["U2", "AC/DC", "Steve Harris"]),
            number(r#""Milliseconds""#, "Milliseconds", 400_000),
            number(r#""UnitPrice""#, "UnitPrice", 3),
        ],
        keys: 1,
        relations: &[
            one("Album", 1, &[(r#""AlbumId""#, r#""AlbumId""#)]),
            many("PlaylistTracks", 3, &[(r#""TrackId""#, r#""TrackId""#)]),
        ],
    },
    Table {
        sql: r#""PlaylistTrack""#,
        root: "PlaylistTrack",
        columns: &[number(r#""PlaylistId""#, "PlaylistId", 18), number(r#""TrackId""#, "TrackId", 3504)],
        keys: 2,
        relations: &[one("Track", 2, &[(r#""TrackId""#, r#""TrackId""#)])],
    },
    Table {
        sql: r#""Employee""#,
        root: "Employee",
        columns: &[
            number(r#""EmployeeId""#, "EmployeeId", 9),
            text(r#""LastName""#, "LastName", &["King", "Adams"]),
            number(r#""ReportsTo""#, "ReportsTo", 9),
        ],
        keys: 1,
        relations: &[
            one("Employee", 4, &[(r#""ReportsTo""#, r#""EmployeeId""#)]),
            many("Employees", 4, &[(r#""EmployeeId""#, r#""ReportsTo""#)]),
        ],
    },
];

/// Compares answers to random questions until `cases` of them are equal.
fn check(database: Database, schemas: &[&str], tables: &[Table], cases: u32) {
    let serve = serve_with(database, schemas, |_| {});
    check_served(serve, tables, Style::default(), cases);
}

/// The same of what `serve` serves, in a style.
pub(crate) fn check_served(serve: impl Future<Output = Served>, tables: &[Table], style: Style, cases: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (served, hand) = runtime.block_on(async {
        let served = serve.await;
        let hand = served.hand().await;
        (served, std::cell::RefCell::new(hand))
    });
    run_tapes(cases, |tape| {
        runtime.block_on(compare(&served, &mut hand.borrow_mut(), (tables, style), tape))
    });
}

/// Runs `test` with random tapes until `cases` of them passed.
pub(crate) fn run_tapes(cases: u32, test: impl Fn(&[u32]) -> Result<(), TestCaseError>) {
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let tapes = proptest::collection::vec(0..10_000_u32, 0..60);
    let done = TestRunner::new(config).run(&tapes, |tape| test(&tape));
    done.unwrap_or_else(|error| panic!("{error}"));
}

async fn compare(
    served: &Served,
    hand: &mut Hand,
    (tables, style): (&[Table], Style),
    tape: &[u32],
) -> Result<(), TestCaseError> {
    let asked = write(tables, tape, style);
    let expected: Value = serde_json::from_str(&hand.run(&asked.sql).await).unwrap();
    for protocol in [Protocol::GraphqlOverHttp, Protocol::Hasura] {
        let answer = served.ask_in(protocol, &asked.graphql, &asked.variables.to_string()).await;
        let json: Value = serde_json::from_str(&answer).unwrap();
        if json["data"] == expected && json.get("errors").is_none() {
            continue;
        }
        let shown = |text: &str| text.chars().take(2000).collect::<String>();
        return Err(TestCaseError::fail(format!(
            "{protocol:?} {}\n{}\n{}\n{}\n{}",
            asked.graphql,
            asked.variables,
            asked.sql,
            shown(&expected.to_string()),
            shown(&answer)
        )));
    }
    Ok(())
}

#[test]
fn questions_about_chinook_are_answered_as_plain_sql_says() {
    check(chinook(), &["public"], CHINOOK, 100);
}

const ODD: &str = r#"
CREATE SCHEMA "Odd ""Schema""";
SET search_path = "Odd ""Schema""";
CREATE TABLE "select" ("order" int4, "it's ""quoted""" text, "Group" numeric, PRIMARY KEY ("order", "it's ""quoted"""));
CREATE TABLE "🏷 label" ("from" int4 PRIMARY KEY, "GROUP" text, "group" text, "select order" int4, "select.text" text,
    FOREIGN KEY ("select order", "select.text") REFERENCES "select");
CREATE TABLE public.a234567890123456789012345678901234567890123456789012345678901_3 (
    a234567890123456789012345678901234567890123456789012345678901_3 int4 PRIMARY KEY,
    a234567890123456789012345678901234567890123456789012345678901_4 int4 REFERENCES "🏷 label",
    "table" text);
CREATE VIEW "a view" AS SELECT "from" AS "id", "GROUP" AS "Name$" FROM "🏷 label" WHERE "from" < 20;
INSERT INTO "select" SELECT i % 5, chr(97 + i % 7) || CASE WHEN i % 3 = 0 THEN '''"' ELSE '' END, i / 10.0 FROM generate_series(1, 35) AS i
    ON CONFLICT DO NOTHING;
INSERT INTO "🏷 label" SELECT n, CASE WHEN n % 4 > 0 THEN 'é' || n % 6 END, repeat('🏷', (n % 3)::int4), "order", "it's ""quoted""" FROM
    (SELECT row_number() OVER () AS n, * FROM "select", generate_series(1, 3)) AS s;
UPDATE "🏷 label" SET "select.text" = NULL WHERE "from" % 9 = 0;
INSERT INTO public.a234567890123456789012345678901234567890123456789012345678901_3
    SELECT i, CASE WHEN i % 5 > 0 THEN i % 40 + 1 END, 'x' || i % 4 FROM generate_series(1, 120) AS i;
"#;

const WORDS: &[&str] = &["a'\"", "b", "g'\"", "é1", "🏷🏷", "x1", "'; --", ""];
const LABEL_KEY: &[(&str, &str)] =
    &[(r#""select order""#, r#""order""#), (r#""select.text""#, r#""it's ""quoted""""#)];
const KEY_LABEL: &[(&str, &str)] =
    &[(r#""order""#, r#""select order""#), (r#""it's ""quoted""""#, r#""select.text""#)];
const LONG: &str = "a234567890123456789012345678901234567890123456789012345678901_3";
const LONGER: &str = "a234567890123456789012345678901234567890123456789012345678901_4";
const LONGS: &str = "a234567890123456789012345678901234567890123456789012345678901_3s";

const ODD_TABLES: &[Table] = &[
    Table {
        sql: r#""Odd ""Schema"""."select""#,
        root: "Odd_Schema__select",
        columns: &[
            number(r#""order""#, "order", 6),
            text(r#""it's ""quoted""""#, "it_s_quoted", WORDS),
            number(r#""Group""#, "Group", 4),
        ],
        keys: 2,
        relations: &[many("Odd_Schema___labels", 1, KEY_LABEL)],
    },
    Table {
        sql: r#""Odd ""Schema"""."🏷 label""#,
        root: "Odd_Schema___label",
        columns: &[
            number(r#""from""#, "from", 110),
            text(r#""GROUP""#, "GROUP", WORDS),
            text(r#""group""#, "group", WORDS),
            number(r#""select order""#, "select_order", 6),
            text(r#""select.text""#, "select_text", WORDS),
        ],
        keys: 1,
        relations: &[one("Odd_Schema__select", 0, LABEL_KEY), many(LONGS, 2, &[(r#""from""#, LONGER)])],
    },
    Table {
        sql: LONG,
        root: LONG,
        columns: &[number(LONG, LONG, 125), number(LONGER, LONGER, 45), text(r#""table""#, "table", WORDS)],
        keys: 1,
        relations: &[one("Odd_Schema___label", 1, &[(LONGER, r#""from""#)])],
    },
    Table {
        sql: r#""Odd ""Schema"""."a view""#,
        root: "Odd_Schema__a_view",
        columns: &[number(r#""id""#, "id", 25), text(r#""Name$""#, "Name", WORDS)],
        keys: 1,
        relations: &[],
    },
];

#[test]
fn questions_about_odd_names_are_answered_as_plain_sql_says() {
    check(database(ODD), &["public", "Odd \"Schema\""], ODD_TABLES, 100);
}
