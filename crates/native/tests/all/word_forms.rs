//! Words in the form in which they are compared: the same in both databases, whoever wrote them, and in stores that were made before.

use crate::kit;
use crate::kit::in_postgres;
use crate::postgres_kit::database;
use crate::transfer::{Folder, loaded, source};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use weir_native::layout::Database;
use weir_native::store::{Pace, Place, Store, Types, open_and_migrate};
use weir_postgres::Settings;
use weir_relational::values::word_form::fold;

const NOTES: &str =
    "type Note { key: String! @id, term: String @search(by: [term]), full: String @search(by: [fulltext]),
    gram: String @search(by: [ngram]), tags: [String] @search(by: [term]) }";

/// Adds notes with these texts, whose keys count from zero.
fn add(texts: &[&str]) -> String {
    let note = |(at, text): (usize, &&str)| json!({ "key": at.to_string(), "term": text, "full": text, "gram": text, "tags": [text, "x"] });
    let notes: Vec<Value> = texts.iter().enumerate().map(note).collect();
    json!({ "notes": notes }).to_string()
}

const ADD: &str = "mutation ($notes: [AddNoteInput!]!) { addNote(input: $notes) { numUids } }";

const ASK: &str = "query ($w: String!) {
    all: queryNote(filter: {term: {allofterms: $w}}) { key } any: queryNote(filter: {term: {anyofterms: $w}}) { key }
    full: queryNote(filter: {full: {alloftext: $w}}) { key } tags: queryNote(filter: {tags: {allofterms: $w}}) { key }
    gram: queryNote(filter: {gram: {ngram: $w}}) { key } }";

/// Keys that a field of an answer has.
fn keys(answer: &Value, field: &str) -> String {
    let objects = answer["data"][field].as_array().unwrap_or_else(|| panic!("{answer}"));
    objects.iter().filter_map(|it| it["key"].as_str()).collect::<Vec<_>>().join(" ")
}

fn asked(answer: &str) -> Value {
    serde_json::from_str(answer).expect("JSON")
}

#[test]
fn words_are_found_by_what_they_mean() {
    let texts = [
        "東京タワー",
        "ﬁne print",
        "ｆｕｌｌ　ｗｉｄｔｈ",
        "İstanbul",
        "e\u{301}tude",
        "すしを食べる",
        "ΟΔΟΣ",
        "서울 시",
    ];
    let stores = (kit::serve(NOTES, ""), in_postgres::serve(NOTES, ""));
    let given = add(&texts);
    let added = format!(r#"{{"data":{{"addNote":{{"numUids":{}}}}}}}"#, texts.len());
    assert_eq!(stores.0.ask(ADD, &given), added);
    assert_eq!(stores.1.ask(ADD, &given), added);
    for (words, found, in_a_row) in [
        ("東京", "0", "0"),
        ("京東", "0", ""),
        ("タワー", "0", "0"),
        ("ﾀﾜｰ", "0", ""),
        ("タワ", "", ""),
        ("東京タワー", "0", "0"),
        ("大東", "", ""),
        ("fine", "1", ""),
        ("ﬁne", "1", "1"),
        ("full", "2", ""),
        ("WIDTH", "2", ""),
        ("ｗｉｄｔｈ", "2", "2"),
        ("istanbul", "3", ""),
        ("İSTANBUL", "3", "3"),
        ("ISTANBUL", "3", ""),
        ("étude", "4", ""),
        ("E\u{301}TUDE", "4", "4"),
        ("食べる", "5", "5"),
        ("すし", "5", "5"),
        ("οδος", "6", "6"),
        ("서울", "7", "7"),
        ("서", "", ""),
    ] {
        let given = json!({ "w": words }).to_string();
        for (name, answer) in
            [("SQLite", stores.0.ask(ASK, &given)), ("PostgreSQL", stores.1.ask(ASK, &given))]
        {
            let answer = asked(&answer);
            for field in ["all", "full", "tags"] {
                assert_eq!(keys(&answer, field), found, "{name}: {field}: {words}");
            }
            assert_eq!(keys(&answer, "gram"), in_a_row, "{name}: {words}");
        }
    }
}

#[test]
fn words_that_another_program_wrote_are_found_as_it_wrote_them() {
    let fill = r#"INSERT INTO "Note" (key, term) VALUES ('0', 'CAFÉ 東京'), ('1', 'étude')"#
        .replace("étude", "e\u{301}tude");
    let stores = (kit::serve(NOTES, &fill), in_postgres::serve(NOTES, &fill));
    for (words, found) in [("café", "0"), ("東京", "0"), ("e\u{301}tude", "1"), ("cafe", "")] {
        let given = json!({ "w": words }).to_string();
        assert_eq!(keys(&asked(&stores.0.ask(ASK, &given)), "all"), found, "SQLite: {words}");
        assert_eq!(keys(&asked(&stores.1.ask(ASK, &given)), "all"), found, "PostgreSQL: {words}");
    }
}

const TERMS: &str =
    "type Note { id: ID!, text: String @search(by: [term, fulltext]), tags: [String] @search(by: [term]) }";

#[test]
fn a_load_beside_a_server_folds_words_too() {
    let folder = Folder::new();
    let place = folder.store("a.db", TERMS);
    let server = rusqlite::Connection::open(folder.0.join("a.db")).unwrap();
    let found = |index: &str, word: &str| {
        let sql = format!("SELECT count(*) FROM {index}(?1)");
        server.query_row(&sql, [word], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(found("Note_text_terms", "x"), 0);
    let lines = "{\"id\":1,\"text\":\"東京タワー\",\"tags\":[\"ﬁne\"]}\n{\"id\":2,\"text\":\"tower\"}\n";
    let file = folder.write("Note.ndjson", lines);
    assert_eq!(loaded(&place, &[source(&file, None)]).0.count.objects, 2);
    assert_eq!([found("Note_text_terms", "東"), found("Note_text_fulltext", "京")], [1, 1]);
    assert_eq!([found("Note_tags_value_terms", "fine"), found("Note_text_terms", "tower")], [1, 1]);
}

#[test]
fn a_store_of_the_second_format_gets_folded_words() {
    let folder = Folder::new();
    let place = folder.store("a.db", TERMS);
    let database = rusqlite::Connection::open(folder.0.join("a.db")).unwrap();
    let old = "INSERT INTO Note (id, text) VALUES (1, '東京タワー'), (2, 'tower'); INSERT INTO Note_tags (id, value) VALUES (1, 'ﬁne');
        UPDATE weir_store SET format = 2";
    database.execute_batch(old).unwrap();
    let found = |index: &str, word: &str| {
        let sql = format!("SELECT count(*) FROM {index}(?1)");
        database.query_row(&sql, [word], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(found("Note_text_terms", "東"), 0);
    let plan = open_and_migrate(&place, &Types::read(TERMS, Database::Sqlite).unwrap()).unwrap();
    assert!(plan.changes.iter().any(|it| it.starts_with("indexes of words are made anew")), "{plan}");
    let counts = [
        ("Note_text_terms", "東"),
        ("Note_text_fulltext", "京"),
        ("Note_tags_value_terms", "fine"),
        ("Note_text_terms", "tower"),
    ];
    assert_eq!(counts.map(|(index, word)| found(index, word)), [1, 1, 1, 1]);
    assert_eq!(folder.rows("a.db", "SELECT format FROM weir_store"), "3");
    let again = open_and_migrate(&place, &Types::read(TERMS, Database::Sqlite).unwrap()).unwrap();
    assert!(again.is_nothing, "{again}");
}

#[test]
fn a_store_of_the_second_format_in_postgresql_gets_its_indexes_anew() {
    let database = database("");
    let place = Place::Postgres(Box::new(Settings::parse(&database.url(), |_| None).unwrap()));
    let types = Types::read(TERMS, Database::Postgres).unwrap();
    open_and_migrate(&place, &types).unwrap();
    let old = r#"INSERT INTO "Note" (id, text) SELECT g, 'tower ' || g FROM generate_series(1, 10100) g;
        DROP INDEX "Note_text_terms"; CREATE INDEX "Note_text_terms" ON "Note" USING gin (to_tsvector('simple', text));
        DROP INDEX "Note_tags_value_terms"; CREATE INDEX "Note_tags_value_terms" ON "Note_tags" USING gin (to_tsvector('simple', value));
        UPDATE weir_store SET format = 2"#;
    database.run(old);
    let plan = open_and_migrate(&place, &types).unwrap();
    assert_eq!(plan.builds, ["Note_text_fulltext", "Note_text_terms"], "{plan}");
    let mut store = Store::open(&place).unwrap();
    while store.build_next(&types, Pace::Beside, &mut |_, _, _| true).unwrap() {}
    let asked = "SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%weir_words%' ORDER BY 1";
    assert_eq!(
        database.run(asked).trim().replace('\n', " "),
        "Note_tags_value_terms Note_text_fulltext Note_text_terms"
    );
}

/// Pieces of many scripts, in several forms of the same.
const PIECES: [&str; 48] = [
    "a",
    "B",
    "ab",
    "é",
    "e\u{301}",
    "É",
    "ﬁ",
    "fi",
    "ｆ",
    "Ｆ",
    "İ",
    "i",
    "ı",
    "ß",
    "\u{212a}",
    "k",
    "Å",
    "\u{212b}",
    "å",
    "²",
    "2",
    "½",
    "Σ",
    "ς",
    "σ",
    "Ж",
    "ж",
    "東",
    "京",
    "都",
    "の",
    "ﾀ",
    "タ",
    "ワー",
    "서울",
    "ไทย",
    "ش",
    "क",
    "कि",
    "、",
    "。",
    "-",
    " ",
    " ",
    " ",
    "！",
    "😀",
    "々",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(select(&PIECES[..]), 0..6).prop_map(|it| it.concat())
}

/// Runs of letters and digits, and of the marks on them.
fn words(text: &str) -> BTreeSet<String> {
    let is_part = |it: char| {
        it.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&it) || ('\u{900}'..='\u{94d}').contains(&it)
    };
    let folded = fold(text).to_lowercase();
    folded.split(|it| !is_part(it)).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

fn compare(texts: &[String], searches: &[String]) -> Result<(), TestCaseError> {
    let stores = (kit::serve(NOTES, ""), in_postgres::serve(NOTES, ""));
    let given = add(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    prop_assert!(!stores.0.ask(ADD, &given).contains("errors"));
    prop_assert!(!stores.1.ask(ADD, &given).contains("errors"));
    for search in searches {
        let given = json!({ "w": search }).to_string();
        let sqlite = asked(&stores.0.ask(ASK, &given));
        let postgres = asked(&stores.1.ask(ASK, &given));
        // `ngram` takes letters as they are written, of which PostgreSQL's parser knows fewer.
        for field in ["all", "any", "full", "tags"] {
            let [one, other] = [&sqlite, &postgres].map(|it| keys(it, field));
            prop_assert_eq!(one, other, "{}: {:?} in {:?}", field, search, texts);
        }
        let asked = words(search);
        let found = |fits: &dyn Fn(&BTreeSet<String>) -> bool| {
            let texts = texts.iter().enumerate().filter(|it| fits(&words(it.1)));
            texts.map(|it| it.0.to_string()).collect::<Vec<_>>().join(" ")
        };
        let all = found(&|own| !asked.is_empty() && asked.is_subset(own));
        let any = found(&|own| !asked.is_disjoint(own));
        prop_assert_eq!(keys(&sqlite, "all"), all, "all of {:?} in {:?}", search, texts);
        prop_assert_eq!(keys(&sqlite, "any"), any, "any of {:?} in {:?}", search, texts);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_databases_find_the_same_words(texts in prop::collection::vec(text(), 1..40), searches in prop::collection::vec(text(), 30)) {
        compare(&texts, &searches)?;
    }
}
