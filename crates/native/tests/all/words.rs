//! Indexes of words, patterns and places after mutations: they find what stands in the tables, within a mutation and after
//! it, whoever wrote.

use crate::kit;

const TYPES: &str = "
type Note {
  id: ID!
  key: String! @id
  text: String @search(by: [term, trigram])
  title: String @search(by: [fulltext])
  tags: [String] @search(by: [term])
  at: Point @search
  age: Int
  topic: Topic
}
type Topic { id: ID!, name: String! @id @search(by: [hash, term]), notes: [Note] @hasInverse(field: topic) }
";

/// Runs `mutations` in turn, then gives the keys of the notes that `filter` finds.
fn check(served: &kit::Served, mutations: &[&str], filter: &str, expected: &str) {
    for mutation in mutations {
        let answer = served.ask(&format!("mutation {{ {mutation} }}"), "");
        assert!(answer.starts_with(r#"{"data""#), "{mutation}: {answer}");
    }
    let answer = served.ask(&format!("{{ queryNote(filter: {filter}) {{ key }} }}"), "");
    let keys =
        expected.split_whitespace().map(|it| format!(r#"{{"key":"{it}"}}"#)).collect::<Vec<_>>().join(",");
    assert_eq!(answer, format!(r#"{{"data":{{"queryNote":[{keys}]}}}}"#), "{mutations:?} {filter}");
}

const ADD: &str = r#"addNote(input: [
  {key: "a", text: "red apples", title: "Running", tags: ["x y", "z"], at: {longitude: 1, latitude: 1}, topic: {name: "fruit"}}
  {key: "b", text: "green pears", title: "Walks", tags: ["z"], topic: {name: "fruit"}}
  {key: "c"}
]) { numUids }"#;

#[test]
fn indexes_follow_every_kind_of_mutation() {
    let served = kit::serve(TYPES, "");
    check(&served, &[ADD], r#"{text: {anyofterms: "apples pears"}}"#, "a b");
    check(&served, &[], r#"{text: {regexp: "/gree/"}}"#, "b");
    check(&served, &[], r#"{title: {alloftext: "runs"}}"#, "a");
    check(&served, &[], r#"{tags: {anyofterms: "y"}}"#, "a");
    check(&served, &[], r#"{topic: {name: {anyofterms: "fruit"}}}"#, "a b");
    check(&served, &[], "{at: {near: {distance: 1000, coordinate: {longitude: 1, latitude: 1}}}}", "a");
    let set = r#"updateNote(input: {filter: {key: {eq: "b"}}, set: {text: "red plums", tags: ["y"], at: {longitude: 1, latitude: 1}}}) { numUids }"#;
    check(&served, &[set], r#"{text: {anyofterms: "red"}}"#, "a b");
    check(&served, &[], r#"{text: {anyofterms: "green"}}"#, "");
    check(&served, &[], r#"{tags: {anyofterms: "y"}}"#, "a b");
    check(&served, &[], "{at: {near: {distance: 1000, coordinate: {longitude: 1, latitude: 1}}}}", "a b");
    let remove = r#"updateNote(input: {filter: {key: {eq: "a"}}, remove: {text: null, tags: ["x y"], at: null}}) { numUids }"#;
    check(&served, &[remove], r#"{text: {anyofterms: "red"}}"#, "b");
    check(&served, &[], r#"{tags: {anyofterms: "y"}}"#, "b");
    check(&served, &[], "{at: {near: {distance: 1000, coordinate: {longitude: 1, latitude: 1}}}}", "b");
    check(
        &served,
        &[r#"deleteNote(filter: {key: {eq: "b"}}) { msg }"#],
        r#"{text: {anyofterms: "red"}}"#,
        "",
    );
    let upsert = r#"addNote(input: [{key: "c", text: "red figs"}], upsert: true) { numUids }"#;
    check(&served, &[upsert], r#"{text: {anyofterms: "red"}}"#, "c");
}

#[test]
fn a_mutation_finds_what_it_and_those_before_it_wrote() {
    let served = kit::serve(TYPES, "");
    let added = served.ask(
        r#"mutation { addNote(input: [{key: "a", text: "red"}, {key: "b", text: "blue"}]) { note(filter: {text: {anyofterms: "red"}}) { key } } }"#,
        "",
    );
    assert_eq!(added, r#"{"data":{"addNote":{"note":[{"key":"a"}]}}}"#);
    let both = r#"mutation {
      addNote(input: [{key: "c", text: "red"}]) { numUids }
      updateNote(input: {filter: {text: {anyofterms: "red"}}, set: {age: 1}}) { numUids }
    }"#;
    assert_eq!(served.ask(both, ""), r#"{"data":{"addNote":{"numUids":1},"updateNote":{"numUids":2}}}"#);
}

#[test]
fn what_others_write_and_what_is_refused_is_found_as_it_is() {
    let served = kit::serve(TYPES, "");
    check(&served, &[ADD], r#"{text: {anyofterms: "red"}}"#, "a");
    let others = "INSERT INTO Note (id, key, text) VALUES (900, 'o', 'red wine'); UPDATE Note SET text = 'blue' WHERE key = 'a'";
    served.beside.execute_batch(others).expect("others write");
    check(&served, &[], r#"{text: {anyofterms: "red"}}"#, "o");
    let refused = served.ask(
        r#"mutation { addNote(input: [{key: "n", text: "red"}, {key: "o", text: "red"}]) { numUids } }"#,
        "",
    );
    assert!(refused.contains("UNIQUE_VIOLATION"), "{refused}");
    check(&served, &[], r#"{text: {anyofterms: "red"}}"#, "o");
    let fits = "INSERT INTO Note_text_terms (Note_text_terms) VALUES ('integrity-check')";
    served.beside.execute_batch(fits).expect("the index is sound");
}

#[test]
fn an_index_that_a_load_took_away_is_no_hindrance() {
    let served = kit::serve(TYPES, "");
    let gone = "DROP TRIGGER Note_text_terms_insert; DROP TRIGGER Note_text_terms_update; \
                DROP TRIGGER Note_text_terms_delete; DROP TABLE Note_text_terms";
    served.beside.execute_batch(gone).expect("it is there");
    check(&served, &[ADD], r#"{title: {alloftext: "runs"}}"#, "a");
}

/// The steps of SQLite's machine that tell which of `count` notes have all of some words in their tags, and how it goes about it.
fn steps(count: usize) -> (i32, String) {
    let notes: Vec<String> =
        (0..count).map(|at| format!(r#"{{key: "{at}", tags: ["red wine", "white {at}"]}}"#)).collect();
    let served = kit::serve(TYPES, "");
    let add = format!("mutation {{ addNote(input: [{}]) {{ numUids }} }}", notes.join(","));
    assert_eq!(served.ask(&add, ""), format!(r#"{{"data":{{"addNote":{{"numUids":{count}}}}}}}"#));
    let explained = served.explain(r#"{ queryNote(filter: {tags: {allofterms: "white red"}}) { key } }"#);
    let sql = explained.lines().map(str::trim).find(|it| it.starts_with("SELECT")).expect("a statement");
    let mut plan = served.beside.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect(sql);
    let ways = plan.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<Vec<_>, _>>();
    let mut statement = served.beside.prepare(sql).expect(sql);
    for (at, words) in [(1, r#""white" OR "red""#), (2, r#"["\"white\"","\"red\""]"#)] {
        statement.raw_bind_parameter(at, words).expect("it has that many");
    }
    let found = statement.raw_query().mapped(|_| Ok(())).count();
    assert_eq!(found, count, "{sql}");
    (statement.get_status(rusqlite::StatementStatus::VmStep), ways.expect("rows").join("; "))
}

#[test]
fn words_of_lists_take_steps_for_each_object_and_not_for_each_two() {
    let (few, way) = steps(100);
    let (many, _) = steps(800);
    assert!(way.contains("Note_tags_value_terms VIRTUAL TABLE INDEX"), "{way}");
    assert_eq!(way.matches("LIST SUBQUERY").count(), 1, "the rows of all words are gathered once: {way}");
    assert!(many < 10 * few, "{few} steps for 100 objects, {many} for 800");
}
