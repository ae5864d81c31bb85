//! One graph of several sources: what children ask, how clashes are reported.

use crate::kit::{Documents, answer, engine};
use serde_json::{Value, json};
use std::sync::Arc;
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::Engine;
use weir_engine::source::{Source, SourceError};

const MUSIC: &str = "
    type Album { id: Int!  title: String!  artistId: Int  tracks: [Track!]! }
    type Track { name: String!  composer: String }
    type Query { albums: [Album!]!  album(id: Int!): Album  shelves: [[Album!]!]! }";
const PEOPLE: &str = "
    type Artist { id: Int!  name: String!  kin: [Artist!]! }
    type Query { artist(id: Int!): Artist  artistByName(name: String!, upper: Boolean = false): Artist  artists: [Artist!]! }";

fn join(on: &str, name: &str, source: &str, target: &str, arguments: &str) -> Join {
    let text = str::to_owned;
    Join {
        on: text(on),
        name: text(name),
        description: String::new(),
        source: text(source),
        target: text(target),
        arguments: text(arguments),
    }
}

fn album(id: i64) -> Value {
    let artist = [json!(7), json!(8), json!(7), Value::Null][(id - 1) as usize % 4].clone();
    json!({"id": id, "title": format!("Album {id}"), "artistId": artist,
        "tracks": [{"name": "a", "composer": "Ann"}, {"name": "b", "composer": if id == 1 { "Bob" } else { "Ann" }}]})
}

fn artist(id: i64) -> Value {
    json!({"id": id, "name": format!("Artist {id}"), "kin": [{"id": id + 1, "name": "Kin", "kin": []}]})
}

struct Two {
    music: Arc<Documents>,
    people: Arc<Documents>,
    engine: Engine,
}

fn two() -> Two {
    let music = Documents::new("music", MUSIC, |field, arguments| {
        Ok(match field {
            "albums" => (1..=4).map(album).collect(),
            "shelves" => json!([[album(1), album(2)], [], [album(3)]]),
            _ => album(arguments["id"].as_i64().unwrap()),
        })
    });
    let people = Documents::new("people", PEOPLE, |field, arguments| match field {
        "artists" => Ok(json!([artist(7), artist(8)])),
        "artistByName" => {
            let name = arguments["name"].as_str().unwrap();
            let upper = arguments["upper"] == true;
            let name = if upper { name.to_uppercase() } else { name.to_owned() };
            Ok(json!({"id": 1, "name": name, "kin": []}))
        }
        _ if arguments["id"] == 99 => Err(SourceError::Busy),
        _ => Ok(artist(arguments["id"].as_i64().unwrap())),
    });
    let joins = [
        join("Album", "artist", "people", "artist", "(id: $this.artistId)"),
        join("Track", "by", "people", "artistByName", "(name: $this.composer)"),
        join("Artist", "first", "music", "album", "(id: $this.id)"),
    ];
    let engine = engine(&[Arc::clone(&music), Arc::clone(&people)], &joins);
    Two { music, people, engine }
}

#[tokio::test]
async fn keys_of_a_list_are_made_unique_and_asked_in_one_call() {
    let Two { music, people, engine } = two();
    let text = answer(&engine, "{ albums { title artist { name } } }", "{}").await;
    assert_eq!(
        text,
        r#"{"data":{"albums":[{"title":"Album 1","artist":{"name":"Artist 7"}},{"title":"Album 2","artist":{"name":"Artist 8"}},{"title":"Album 3","artist":{"name":"Artist 7"}},{"title":"Album 4","artist":null}]}}"#
    );
    assert_eq!(music.asked(), ["albums{}"]);
    assert_eq!(people.asked(), ["2 keys", r#"artist{"id":7}"#, r#"artist{"id":8}"#]);
}

#[tokio::test]
async fn lists_of_lists_and_nested_lists_are_gathered_at_once() {
    let Two { music, people, engine } = two();
    let text = answer(&engine, "{ shelves { id artist { id } tracks { by { name } } } }", "{}").await;
    assert_eq!(
        text,
        r#"{"data":{"shelves":[[{"id":1,"artist":{"id":7},"tracks":[{"by":{"name":"Ann"}},{"by":{"name":"Bob"}}]},{"id":2,"artist":{"id":8},"tracks":[{"by":{"name":"Ann"}},{"by":{"name":"Ann"}}]}],[],[{"id":3,"artist":{"id":7},"tracks":[{"by":{"name":"Ann"}},{"by":{"name":"Ann"}}]}]]}}"#
    );
    assert_eq!(music.asked(), ["shelves{}"]);
    assert_eq!(people.asked().iter().filter(|it| it.ends_with("keys")).count(), 2);
}

#[tokio::test]
async fn children_of_children_go_back_to_the_first_source() {
    let Two { music, people, engine } = two();
    let query = "{ artists { name first { title artist { name } } kin { first { id } } } }";
    let text = answer(&engine, query, "{}").await;
    assert_eq!(
        text,
        r#"{"data":{"artists":[{"name":"Artist 7","first":{"title":"Album 7","artist":{"name":"Artist 7"}},"kin":[{"first":{"id":8}}]},{"name":"Artist 8","first":{"title":"Album 8","artist":null},"kin":[{"first":{"id":9}}]}]}}"#
    );
    assert_eq!(people.asked(), ["artists{}", "1 keys", r#"artist{"id":7}"#]);
    assert_eq!(music.asked().len(), 2 + 4);
}

#[tokio::test]
async fn arguments_the_join_leaves_open_are_arguments_of_the_new_field() {
    let Two { engine, people, .. } = two();
    let query = "query ($u: Boolean) { album(id: 1) { tracks { a: by(upper: true) { name } b: by(upper: $u) { name } } } }";
    let text = answer(&engine, query, "{}").await;
    assert_eq!(
        text,
        r#"{"data":{"album":{"tracks":[{"a":{"name":"ANN"},"b":{"name":"Ann"}},{"a":{"name":"BOB"},"b":{"name":"Bob"}}]}}}"#
    );
    assert_eq!(people.asked().iter().filter(|it| it.ends_with("keys")).count(), 2);
}

#[tokio::test]
async fn equal_children_under_two_names_are_asked_once() {
    let Two { engine, people, .. } = two();
    let text = answer(&engine, "{ album(id: 2) { a: artist { name } b: artist { name } } }", "{}").await;
    assert_eq!(text, r#"{"data":{"album":{"a":{"name":"Artist 8"},"b":{"name":"Artist 8"}}}}"#);
    assert_eq!(people.asked(), ["1 keys", r#"artist{"id":8}"#]);
}

#[tokio::test]
async fn both_sources_at_the_root_keep_the_order_of_the_text() {
    let Two { engine, .. } = two();
    let text = answer(
        &engine,
        "{ a: artist(id: 7) { id } album(id: 1) { id } b: artist(id: 8) { id } __typename }",
        "{}",
    );
    assert_eq!(text.await, r#"{"data":{"a":{"id":7},"album":{"id":1},"b":{"id":8},"__typename":"Query"}}"#);
}

#[tokio::test]
async fn a_child_that_fails_is_null_with_an_error_at_each_parent() {
    let music = Documents::new("music", MUSIC, |_, _| {
        Ok(
            json!([{"id": 1, "artistId": 99, "tracks": []}, {"id": 2, "artistId": null}, {"id": 3, "artistId": 1}]),
        )
    });
    let people = Documents::new("people", PEOPLE, |_, _| Err(SourceError::Busy));
    let joins = [join("Album", "artist", "people", "artist", "(id: $this.artistId)")];
    let engine = engine(&[music, people], &joins);
    let text = answer(&engine, "{ albums { artist { id } } }", "{}").await;
    let error = |at: usize| {
        format!(
            r#"{{"message":"The source has no capacity left.","locations":[{{"line":1,"column":12}}],"path":["albums",{at},"artist"],"extensions":{{"code":"POOL_TIMEOUT"}}}}"#
        )
    };
    assert_eq!(
        text,
        format!(
            r#"{{"errors":[{},{}],"data":{{"albums":[{{"artist":null}},{{"artist":null}},{{"artist":null}}]}}}}"#,
            error(0),
            error(2)
        )
    );
}

#[tokio::test]
async fn many_variables_steer_children_too() {
    let Two { engine, people, .. } = two();
    let query = "query ($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!, $e: Boolean!) {
        album(id: 1) { id @include(if: $a) title @include(if: $b) artist @include(if: $c) { name @include(if: $d) id @include(if: $e) } } }";
    let text = answer(&engine, query, r#"{"a": true, "b": false, "c": true, "d": false, "e": true}"#).await;
    assert_eq!(text, r#"{"data":{"album":{"id":1,"artist":{"id":7}}}}"#);
    assert_eq!(people.asked().len(), 2);
    let text = answer(&engine, query, r#"{"a": true, "b": false, "c": false, "d": false, "e": true}"#).await;
    assert_eq!(text, r#"{"data":{"album":{"id":1}}}"#);
    assert!(people.asked().is_empty());
    assert_eq!(engine.plan_cache().built, 2);
}

#[track_caller]
fn check(sources: &[(&'static str, &str)], joins: &[Join], expected: &[&str]) {
    let sources =
        sources.iter().map(|it| Documents::new(it.0, it.1, |_, _| Ok(Value::Null)) as Arc<dyn Source>);
    let errors = match Graph::compose(sources.collect(), joins) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(errors, expected);
}

#[test]
fn names_that_two_sources_have_are_reported_with_both_places() {
    check(
        &[("a", "type T { x: Int } type Query { t: T }"), ("b", "type T { y: Int } type Query { t: T }")],
        &[],
        &[
            "sources `a` and `b` both have a type `T` (only scalars, enums and inputs can be shared): `a` keeps the name; \
             if `b` is a database, give it a `customization: {type_names: {prefix: b_}}`",
            "sources `a` and `b` both have the field `Query.t`: `a` keeps it; \
             if `b` is a database, give it a `customization: {root_fields: {prefix: b_}}`",
        ],
    );
    check(
        &[("a", "type Query { t: Int }"), ("a", "type Query { u: Int }")],
        &[],
        &["there are two sources called `a`"],
    );
    check(&[], &[], &["there is no source"]);
}

/// Two sources that both have `T`, defined once as `one` and once as `other`.
#[track_caller]
fn check_shared(one: &str, other: &str, difference: Option<&str>) {
    let sdl =
        |name: &str, ty: &str| format!("{ty} input U {{ x: Int }} type Query {{ {name}(t: T, u: U): Int }}");
    let words = difference.map(|it| {
        format!(
            "sources `a` and `b` both have a type `T` ({it}): `a` keeps the name; \
             if `b` is a database, give it a `customization: {{type_names: {{prefix: b_}}}}`"
        )
    });
    let expected: Vec<&str> = words.iter().map(String::as_str).collect();
    check(&[("a", &sdl("a", one)), ("b", &sdl("b", other))], &[], &expected);
}

#[test]
fn enums_and_inputs_of_one_name_are_shared_when_they_are_the_same() {
    check_shared("enum T { A B }", "enum T { B A }", None);
    check_shared("enum T { A B }", "enum T { A }", Some("one has no value `B`"));
    check_shared("enum T { A }", "enum T { A B }", Some("one has no value `B`"));
    check_shared("input T { x: Int = 1 t: [T!] u: U }", "input T { u: U t: [T!] x: Int = 1 }", None);
    check_shared("input T { x: Int }", "input T { x: Int y: Int }", Some("one has no field `y`"));
    check_shared("input T { x: Int }", "input T { x: Float }", Some("their fields `x` are of two types"));
    check_shared("input T { x: Int }", "input T { x: [Int] }", Some("their fields `x` are of two types"));
    check_shared(
        "input T { x: Int = 1 }",
        "input T { x: Int = 2 }",
        Some("their fields `x` have two defaults"),
    );
    check_shared("input T { x: Int }", "input T @oneOf { x: Int }", Some("they are of two kinds"));
    check_shared("input T { x: Int }", "enum T { x }", Some("they are of two kinds"));
}

#[test]
fn scalars_merge_when_they_are_read_alike_and_roots_are_called_as_tables_call_them() {
    let one = Documents::new("one", "scalar J type Query { a: J }", |_, _| Ok(Value::Null));
    let two =
        Documents::new("two", "scalar J type query_root { b: J } schema { query: query_root }", |_, _| {
            Ok(Value::Null)
        });
    let graph = Graph::compose(vec![one, two], &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let schema = graph.schema();
    assert_eq!(schema.type_name(schema.query), "query_root");
    assert!(
        schema.field_by_name(schema.query, "a").is_some()
            && schema.field_by_name(schema.query, "b").is_some()
    );
    assert!(schema.type_by_name("Query").is_none());
}

#[test]
fn joins_that_name_what_is_not_there_are_reported() {
    let sources = [("music", MUSIC), ("people", PEOPLE)];
    let with = |it: Join, reason: &str| {
        let place = format!("join `{}.{}`: {reason}", it.on, it.name);
        check(&sources, &[it], &[&place]);
    };
    with(join("Album", "x", "nobody", "artist", "(id: $this.id)"), "there is no source `nobody`");
    with(join("Song", "x", "people", "artist", "(id: $this.id)"), "there is no object type `Song`");
    with(join("Query", "x", "people", "artist", "(id: $this.id)"), "joins hang on types, not on roots");
    with(
        join("Album", "x", "people", "album", "(id: $this.id)"),
        "source `people` has no query field `album`",
    );
    with(join("Album", "x", "people", "artist", "(id: $this.gone)"), "`Album` has no field `gone`");
    with(join("Album", "x", "people", "artist", "(id: $this.tracks)"), "`Album.tracks` is no single scalar");
    let added = join("Album", "x", "people", "age", "(id: $this.artistId)");
    let keyed = join("Album", "y", "people", "artist", "(id: $this.x)");
    check(
        &[("music", MUSIC), ("people", &PEOPLE.replace("artists:", "age(id: Int!): Int artists:"))],
        &[added, keyed],
        &[
            "join `Album.y`: `Album.x` is answered by another source, so it cannot be a key: name a field that `Album` has of its own source",
        ],
    );
    with(
        join("Album", "x", "people", "artist", "(id: $id)"),
        "`$id` is no field of the parent: write `$this.id`",
    );
    with(
        join("Album", "x", "people", "artist", "(id: 5)"),
        "no argument depends on the parent: name one of its fields as `$this.field`",
    );
    with(join("Album", "x", "people", "artist", "(nope: $this.id)"), "`artist` has no argument `nope`");
    with(
        join("Album", "x", "people", "artistByName", "(name: {a: $this.title})"),
        "String cannot represent a non string value: an object",
    );
}
