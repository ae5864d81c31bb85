//! Each file of `tests/golden/flavours` is a question and what every flavour is sent for it: flavours that are sent the
//! same share a heading. `WEIR_BLESS=1` writes what stands below the question.

use crate::hasura_kit::{Served, engine_settings};
use crate::postgres_kit::{Database, chinook};
use crate::texts::{Read, Sent, api, sent};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use weir_engine::compose::Graph;
use weir_engine::engine::Engine;
use weir_engine::source::Source;
use weir_hasura::model::ModelOptions;
use weir_hasura::open::{PostgresOptions, open_postgres};
use weir_postgres::Settings;
use weir_relational::catalog::postgres_types::Types;
use weir_relational::dialect::flavour::Flavour;
use weir_relational::sql::assemble::Arm;

/// Each statement, and what it binds: the types are declared when it is prepared.
fn said(sent: &Sent) -> String {
    let mut out = String::new();
    let mut say = |words: &str, sql: &str, oids: &[u32], values: &[String]| {
        out.push_str(&format!("{words}{sql}\n"));
        let first = oids.len() - values.len();
        let types = Types::builtin();
        for (at, &oid) in oids.iter().enumerate() {
            let ty = types.by_oid(oid).map_or("any", |it| &it.cast);
            let value = at.checked_sub(first).and_then(|it| values.get(it));
            let value = value.map_or_else(String::new, |it| format!(" = {it}"));
            out.push_str(&format!("-- ${} {ty}{value}\n", at + 1));
        }
    };
    for (change, values) in &sent.changes {
        say("", &change.sql, &change.types, values);
    }
    for read in &sent.reads {
        say("", &read.assembly.sql, &read.assembly.oids, &read.values);
        if let Some(merged) = &read.assembly.merged {
            say("-- for many at once:\n", &merged.sql, &merged.oids, &[]);
        }
    }
    out
}

/// The questions, by file.
pub(crate) fn cases() -> Vec<(PathBuf, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/flavours");
    let paths = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
    let cases = paths.map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let question: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("-- ")).collect();
        let question = question.join("\n");
        (path, text, question)
    });
    let cases: Vec<_> = cases.collect();
    assert!(cases.len() > 10, "the cases are there");
    cases
}

#[test]
fn golden_each_flavour_is_sent_what_it_is_good_at() {
    let api = api();
    let bless = std::env::var("WEIR_BLESS").is_ok_and(|it| it == "1");
    let mut wrong = Vec::new();
    for (path, text, question) in cases() {
        let mut said_to: Vec<(String, Vec<&str>)> = Vec::new();
        for flavour in Flavour::ALL {
            let said = said(&sent(&api, flavour, &question));
            match said_to.iter_mut().find(|it| it.0 == said) {
                Some(known) => known.1.push(flavour.name()),
                None => said_to.push((said, vec![flavour.name()])),
            }
        }
        let mut expected: String = question.lines().map(|line| format!("-- {line}\n")).collect();
        for (said, flavours) in said_to {
            expected.push_str(&format!("\n-- {}\n{said}", flavours.join(", ")));
        }
        if bless {
            std::fs::write(&path, expected).unwrap();
        } else if text != expected {
            wrong.push(format!("{}: expected\n{text}\nbut found\n{expected}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Values of columns and of keys.
pub(crate) type Rows = Vec<(Vec<Option<String>>, Vec<Option<String>>)>;

/// Runs a statement with its parameters in the types it declares.
fn run(database: &Database, sql: &str, oids: &[u32], values: &[String]) -> Vec<Vec<Option<String>>> {
    let types = Types::builtin();
    let names: Vec<&str> = oids.iter().map(|&it| types.by_oid(it).unwrap().cast.as_str()).collect();
    let quoted: Vec<String> = values.iter().map(|it| format!("'{}'", it.replace('\'', "''"))).collect();
    let brackets = |all: &str| if all.is_empty() { String::new() } else { format!("({all})") };
    let names = brackets(&names.join(", "));
    let quoted = brackets(&quoted.join(", "));
    rows(database, &format!("PREPARE q{names} AS {sql}; EXECUTE q{quoted}"))
}

/// Result of plain SQL, as text.
fn rows(database: &Database, sql: &str) -> Vec<Vec<Option<String>>> {
    let text = |cell: Option<Vec<u8>>| cell.map(|it| String::from_utf8(it).unwrap());
    database.rows(sql).into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

/// The rows of each arm: together by parent, and in no order where none was asked.
pub(crate) fn answer(database: &Database, read: &Read) -> Vec<Rows> {
    let assembly = &read.assembly;
    // The parents in memory are three artists, one of them twice, and none.
    let keys = assembly.oids.len() - read.values.len();
    let parents = (0..keys).map(|_| "{1,2,1,90,NULL}".to_owned());
    let values: Vec<String> = parents.chain(read.values.iter().cloned()).collect();
    let rows = run(database, &assembly.sql, &assembly.oids, &values);
    let plain = assembly.arms.len() == 1 && keys == 0;
    let take = |row: &[Option<String>], of: &[u16]| -> Vec<Option<String>> {
        of.iter().map(|&it| row[usize::from(it)].clone()).collect()
    };
    let arm = |(at, arm): (usize, &Arm)| {
        let own = rows.iter().filter(|row| plain || row[0].as_deref() == Some(at.to_string().as_str()));
        let mut own: Rows = own.map(|row| (take(row, &arm.columns), take(row, &arm.keys))).collect();
        if read.ordered[at] {
            own.sort_by(|one, other| one.1.cmp(&other.1));
        } else {
            own.sort();
        }
        own
    };
    assembly.arms.iter().enumerate().map(arm).collect()
}

#[test]
fn every_flavours_statements_give_the_same_rows_on_postgresql() {
    let api = api();
    let database = chinook();
    for (path, _, question) in cases() {
        let ask = |flavour| -> Vec<Vec<Rows>> {
            sent(&api, flavour, &question).reads.iter().map(|it| answer(&database, it)).collect()
        };
        let expected = ask(Flavour::Postgres);
        for flavour in Flavour::ALL {
            assert_eq!(ask(flavour), expected, "{} on {}", path.display(), flavour.name());
        }
    }
}

/// Serves Chinook as if it were `flavour`, under the names of the questions.
async fn serve(flavour: Flavour) -> Served {
    let database = chinook();
    let settings = Settings::parse(&database.socket_url(), |_| None).unwrap();
    let settings = Settings { flavour: Some(flavour), ..settings };
    let schemas = ["public".to_owned()];
    let options = PostgresOptions { model: ModelOptions::default(), schemas: &schemas, stringify: false };
    let opened = open_postgres("chinook", settings, options, Duration::from_secs(60)).await;
    let source = Arc::new(opened.unwrap().0);
    let graph = Graph::compose(vec![Arc::clone(&source) as Arc<dyn Source>], &[]).unwrap();
    Served { engine: Engine::new(graph, engine_settings(256 << 10)), source, database }
}

/// Contents of the tables that the questions change.
fn state(database: &Database) -> Vec<String> {
    let tables = ["Artist", "Album", "Track", "PlaylistTrack"];
    let rows = |table: &str| database.run(&format!("SELECT * FROM \"{table}\" AS t ORDER BY t::text"));
    tables.map(rows).into()
}

#[tokio::test]
async fn every_flavours_changes_do_the_same_on_postgresql() {
    let mutations: Vec<String> =
        cases().into_iter().map(|it| it.2).filter(|it| it.starts_with("mutation")).collect();
    assert!(mutations.len() > 7, "the cases are there");
    let before = state(&chinook());
    let mut expected = None;
    for flavour in Flavour::ALL {
        let served = serve(flavour).await;
        let mut answers = Vec::new();
        for mutation in &mutations {
            let answer = served.ask(mutation).await;
            assert!(answer.starts_with(r#"{"data""#), "{mutation} on {}: {answer}", flavour.name());
            answers.push(answer);
        }
        let after = state(&served.database);
        assert!(before.iter().zip(&after).all(|(before, after)| before != after), "a table is as before");
        let (known, states) = expected.get_or_insert_with(|| (answers.clone(), after.clone()));
        assert_eq!(answers, *known, "{}", flavour.name());
        assert_eq!(after, *states, "{}", flavour.name());
    }
}

/// Checks the rows of one arm, columns before keys, against plain SQL.
fn check(question: &str, arm: usize, plain: &str) {
    let api = api();
    let database = chinook();
    let mut expected = rows(&database, plain);
    expected.sort();
    for flavour in Flavour::ALL {
        let sent = sent(&api, flavour, question);
        let rows = answer(&database, &sent.reads[0]).swap_remove(arm);
        let mut found: Vec<Vec<Option<String>>> =
            rows.into_iter().map(|(columns, keys)| [columns, keys].concat()).collect();
        found.sort();
        assert!(!found.is_empty());
        assert_eq!(found, expected, "{question} on {}", flavour.name());
    }
}

#[test]
fn rows_below_parents_are_those_of_plain_sql() {
    check(
        "{ Album(limit: 30) { Album_Artist { Artist_Albums { Title } } } }",
        1,
        r#"SELECT "Title", "ArtistId" FROM "Album" WHERE "ArtistId" IN (SELECT "ArtistId" FROM "Album" LIMIT 30)"#,
    );
    check(
        "{ Artist { Artist_Albums(order_by: {Title: desc}, limit: 2, offset: 1) { Title } } }",
        1,
        r#"SELECT x."Title", a."ArtistId" FROM "Artist" AS a, LATERAL (SELECT * FROM "Album" AS b
           WHERE b."ArtistId" = a."ArtistId" ORDER BY b."Title" DESC LIMIT 2 OFFSET 1) AS x"#,
    );
    check(
        "{ Artist { Artist_Albums(distinct_on: Title, order_by: [{Title: desc}, {AlbumId: asc}], limit: 2) { AlbumId } } }",
        1,
        r#"SELECT x."AlbumId", a."ArtistId" FROM "Artist" AS a, LATERAL (SELECT DISTINCT ON ("Title") * FROM "Album" AS b
           WHERE b."ArtistId" = a."ArtistId" ORDER BY b."Title" DESC, b."AlbumId" LIMIT 2) AS x"#,
    );
}

#[test]
fn aggregates_below_parents_are_those_of_plain_sql() {
    let aggregate = "{ count more: count(columns: [Title, ArtistId], distinct: true) max { Title } }";
    check(
        &format!("{{ Artist {{ Artist_Albums_aggregate {{ aggregate {aggregate} }} }} }}"),
        1,
        r#"SELECT count(b."AlbumId"), count(DISTINCT b."Title"), max(b."Title"), a."ArtistId"
           FROM "Artist" AS a LEFT JOIN "Album" AS b ON b."ArtistId" = a."ArtistId" GROUP BY a."ArtistId""#,
    );
    check(
        &format!(
            "{{ Artist {{ Artist_Albums_aggregate(order_by: {{AlbumId: desc}}, limit: 3) {{ aggregate {aggregate} }} }} }}"
        ),
        1,
        r#"SELECT x.n, x.m, x.t, a."ArtistId" FROM "Artist" AS a, LATERAL (SELECT count(*) AS n, count(DISTINCT "Title") AS m,
           max("Title") AS t FROM (SELECT * FROM "Album" AS b WHERE b."ArtistId" = a."ArtistId" ORDER BY "AlbumId" DESC LIMIT 3) AS y) AS x"#,
    );
    // Below a row that is itself left out.
    check(
        "{ Track { Track_MediaType { MediaType_Tracks_aggregate { aggregate { count } } } } }",
        1,
        r#"SELECT count(*), "MediaTypeId" FROM "Track" GROUP BY "MediaTypeId""#,
    );
}

#[test]
fn rows_below_memory_say_which_parent_is_theirs() {
    let below = "Artist_Albums(order_by: {Title: asc}, limit: 2) { Title } Artist_Albums_aggregate { aggregate { count } }";
    let question = format!("mutation {{ delete_Artist(where: {{}}) {{ returning {{ {below} }} }} }}");
    check(
        &question,
        0,
        r#"SELECT x."Title", p.n FROM unnest('{1,2,1,90,NULL}'::int[]) WITH ORDINALITY AS p(k, n),
           LATERAL (SELECT * FROM "Album" WHERE "ArtistId" = p.k ORDER BY "Title" LIMIT 2) AS x"#,
    );
    check(
        &question,
        1,
        r#"SELECT (SELECT count(*) FROM "Album" WHERE "ArtistId" = p.k), p.n
           FROM unnest('{1,2,1,90,NULL}'::int[]) WITH ORDINALITY AS p(k, n)"#,
    );
}

#[test]
fn a_merged_question_gives_each_asker_its_row() {
    let api = api();
    let database = chinook();
    let sent = sent(&api, Flavour::Postgres, "{ Album_by_pk(AlbumId: 1) { Title AlbumId } }");
    let merged = sent.reads[0].assembly.merged.as_ref().unwrap();
    let found = run(&database, &merged.sql, &merged.oids, &["{3,1000000,1,3}".to_owned()]);
    let mut numbers: Vec<_> =
        found.iter().map(|row| (row[0].clone().unwrap(), row[2].clone().unwrap())).collect();
    numbers.sort();
    let expected = [("1", "3"), ("3", "1"), ("4", "3")].map(|it| (it.0.to_owned(), it.1.to_owned()));
    assert_eq!(numbers, expected);
}
