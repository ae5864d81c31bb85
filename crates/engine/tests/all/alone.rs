//! Members of a query's root that share a source with one that is refused: they are answered as if they had been asked alone.

use crate::kit::{Documents, engine, run, text};
use serde_json::{Value, json};
use std::sync::Arc;
use weir_engine::compose::Join;
use weir_engine::engine::Engine;
use weir_engine::source::{FieldError, Protocol, SourceError};

const SDL: &str = "
    type Album { id: Int!  title: String!  artist: Int! }
    type Query { album(id: Int!): Album  number(id: Int!): Int  sure(id: Int!): Album! }
    type Mutation { add(id: Int!): Album }";

const ARTISTS: &str = "type Artist { name: String } type Query { artist(id: Int!): Artist }";

/// Refuses albums with negative numbers, saying only that some field is to blame.
fn resolve(field: &str, arguments: &Value) -> Result<Value, SourceError> {
    let id = arguments["id"].as_i64().unwrap_or(0);
    let message = match id {
        0.. if field == "artist" => return Ok(json!({"name": format!("Artist {id}")})),
        0.. if field == "number" => return Ok(json!(id)),
        0.. => return Ok(json!({"id": id, "title": format!("Album {id}"), "artist": 10 * id})),
        -9.. => format!("no {id}").into(),
        // No field is to blame: the source as a whole does not want it.
        _ => "not at all".into(),
    };
    let error = FieldError { code: "BAD_USER_INPUT", message, hasura_path: None, extensions: None };
    Err(SourceError::Rejected { error, field: (id >= -9).then_some(0) })
}

fn zoo(name: &'static str) -> (Arc<Documents>, Arc<Documents>, Engine) {
    let albums = Documents::new(name, SDL, resolve);
    let artists = Documents::new("artists", ARTISTS, resolve);
    let engine = engine(&[Arc::clone(&albums), Arc::clone(&artists)], &[]);
    (albums, artists, engine)
}

async fn ask(engine: &Engine, query: &str) -> Value {
    let answer = text(run(engine, Protocol::GraphqlOverHttp, query, "{}").await);
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// The keys of the members with errors, with their words.
fn blamed(answer: &Value) -> Vec<(String, String)> {
    let text = |it: &Value| it.as_str().expect("a text").to_owned();
    let errors = answer["errors"].as_array().into_iter().flatten();
    errors.map(|it| (text(&it["path"][0]), text(&it["message"]))).collect()
}

#[tokio::test]
async fn others_are_answered_wherever_the_refused_ones_stand() {
    // Rows, and bytes that the source finished itself.
    for name in ["zoo", "finished"] {
        let (_, _, engine) = zoo(name);
        for refused in [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
            let members = (0..3).map(|at| {
                let id = if refused.contains(&at) { -1 - at } else { at };
                format!("m{at}: album(id: {id}) {{ title }} ")
            });
            let answer = ask(&engine, &format!("{{ {} }}", members.collect::<String>())).await;
            let words: Vec<_> =
                refused.iter().map(|at| (format!("m{at}"), format!("no {}", -1 - at))).collect();
            assert_eq!(blamed(&answer), words, "{name}: {refused:?}");
            for at in 0..3 {
                let expected =
                    if refused.contains(&at) { json!(null) } else { json!({"title": format!("Album {at}")}) };
                assert_eq!(answer["data"][format!("m{at}")], expected, "{name}: {refused:?}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_stays_in_its_order_with_all_that_stands_between() {
    for name in ["zoo", "finished"] {
        let (_, _, engine) = zoo(name);
        let query = "{ a: number(id: 1) __typename b: number(id: -2) artist(id: 5) { name } c: number(id: 3) d: number(id: 1) e: number(id: -2) }";
        let answer = text(run(&engine, Protocol::GraphqlOverHttp, query, "{}").await);
        let data = r#""data":{"a":1,"__typename":"Query","b":null,"artist":{"name":"Artist 5"},"c":3,"d":1,"e":null}}"#;
        assert!(answer.ends_with(data), "{name}: {answer}");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let blamed = blamed(&answer);
        let expected =
            [("b", "no -2"), ("e", "no -2")].map(|(key, words)| (key.to_owned(), words.to_owned()));
        assert_eq!(blamed, expected, "{name}");
    }
}

#[tokio::test]
async fn a_refused_member_that_may_not_be_null_takes_data_along() {
    for name in ["zoo", "finished"] {
        let (_, _, engine) = zoo(name);
        for query in [
            "{ a: album(id: 1) { id } sure(id: -2) { id } }",
            "{ sure(id: -2) { id } a: album(id: 1) { id } }",
        ] {
            let answer = ask(&engine, query).await;
            assert_eq!(answer["data"], json!(null), "{name}: {answer}");
            assert_eq!(blamed(&answer), [("sure".to_owned(), "no -2".to_owned())], "{name}");
        }
        let answer = ask(&engine, "{ sure(id: 2) { id } a: album(id: -1) { id } }").await;
        assert_eq!(answer["data"], json!({"sure": {"id": 2}, "a": null}), "{name}: {answer}");
    }
}

#[tokio::test]
async fn what_hangs_below_is_asked_for_those_that_are_answered() {
    let albums = Documents::new("zoo", SDL, resolve);
    let artists = Documents::new("artists", ARTISTS, resolve);
    let join = Join {
        on: "Album".into(),
        name: "by".into(),
        description: String::new(),
        source: "artists".into(),
        target: "artist".into(),
        arguments: "(id: $this.artist)".into(),
    };
    let engine = engine(&[albums, Arc::clone(&artists)], &[join]);
    let query = "{ a: album(id: 1) { by { name } } b: album(id: -1) { by { name } } n: number(id: -2) c: album(id: 2) { by { name } } }";
    let answer = ask(&engine, query).await;
    let by = |id: u8| json!({"by": {"name": format!("Artist {id}")}});
    assert_eq!(answer["data"], json!({"a": by(10), "b": null, "n": null, "c": by(20)}));
    assert_eq!(blamed(&answer).len(), 2);
    let asked = artists.asked();
    // Each member has a place of its own below which artists hang.
    assert_eq!(asked.iter().filter(|it| *it == "1 keys").count(), 2, "{asked:?}");
    assert_eq!(asked.len(), 4, "{asked:?}");
}

#[tokio::test]
async fn nothing_but_the_refused_piece_is_asked_again() {
    let (albums, artists, engine) = zoo("zoo");
    ask(&engine, "{ a: album(id: 1) { id } artist(id: 5) { name } b: album(id: -1) { id } }").await;
    assert_eq!(artists.asked(), [r#"artist{"id":5}"#]);
    let first = r#"album{"id":1}"#;
    let second = r#"album{"id":-1}"#;
    assert_eq!(albums.asked(), [first, second, first, second]);
    // Alone already; refused as a whole; over a protocol that has no data then; or done, in or out.
    ask(&engine, "{ a: album(id: -1) { id } }").await;
    assert_eq!(albums.asked(), [second]);
    let answer = ask(&engine, "{ a: album(id: 1) { id } b: album(id: -10) { id } }").await;
    assert_eq!(blamed(&answer).len(), 2);
    assert_eq!(albums.asked().len(), 2);
    let answer = text(
        run(&engine, Protocol::Hasura, "{ b: album(id: -1) { id } a: album(id: 1) { id } }", "{}").await,
    );
    assert!(answer.starts_with(r#"{"errors":[{"message":"no -1","#) && !answer.contains("data"), "{answer}");
    assert_eq!(albums.asked(), [second]);
    let answer = ask(&engine, "mutation { b: add(id: -1) { id } a: add(id: 1) { id } }").await;
    assert_eq!(answer["data"], json!({"b": null, "a": null}));
    assert_eq!(albums.asked(), [r#"add{"id":-1}"#]);
}
