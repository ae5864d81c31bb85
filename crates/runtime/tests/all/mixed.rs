//! Resolvers beside other sources: on their types, before their types, and with their permissions.

use crate::kit::{Log, block_on, built, note, noted};
use std::sync::Arc;
use weir_engine::memory::Memory;
use weir_language::schema::Schema as LanguageSchema;
use weir_runtime::{Context, Identity, Join, Request, Schema, batch, keyed, record, root};

struct Album {
    id: i32,
    title: String,
    artist: i32,
}
record!(Album { id, title, artist });

/// A source that shows its rows to the admin only, as a table without permissions.
fn table(log: &Log) -> Memory {
    let sdl = "type Query { albums: [Album!]! album(id: Int!): Album } type Album { id: Int! title: String! artist: Int! }";
    let album = |id: i32| Album { id, title: format!("album {id}"), artist: id % 2 };
    let log = Arc::clone(log);
    Memory::new("table", Arc::new(LanguageSchema::from_sdl(sdl).unwrap()))
        .field("albums", move |_| (1..=3).map(album).collect::<Vec<_>>())
        .field_many("album", move |calls| {
            note(&log, format!("album by {} keys", calls.len()));
            let id = |value| match value {
                Some(weir_engine::memory::Value::Int(id)) => id as i32,
                other => panic!("{other:?}"),
            };
            calls.iter().map(|call| Some(album(id(call.argument("id"))))).collect()
        })
}

struct Fan {
    album: i32,
}
record!(Fan { album });

const SDL: &str = "
        type Query { fans: [Fan!]! }
        type Fan { album: Int! stars: Int! }
        type Album { rating: Float! reviews(top: Int = 1): [Review!]! }
        type Review { text: String! words: Int! }";

struct Review(String);
record!(Review { text = |review| review.0.as_str() });

struct Top {
    top: Option<i32>,
}
weir_runtime::input!(Top { top });

/// Fields of fans that the table answers.
fn joins() -> [Join; 2] {
    let join = Join {
        on: "Fan".into(),
        name: "loves".into(),
        description: String::new(),
        source: "table".into(),
        target: "album".into(),
        arguments: "(id: $this.album)".into(),
    };
    let starred = Join { name: "starred".into(), arguments: "(id: $this.stars)".into(), ..join.clone() };
    [join, starred]
}

fn schema(log: &Log) -> Schema {
    let own_log = Arc::clone(log);
    let by_artist = Arc::clone(log);
    let [join, starred] = joins();
    built(
        Schema::builder(SDL)
            .source(Arc::new(table(log)))
            .join(join)
            .join(starred)
            .extends("Album")
            .resolve(
                "Query.fans",
                root(|_: &(), _: &Context| vec![Fan { album: 2 }, Fan { album: 3 }, Fan { album: 2 }]),
            )
            .resolve(
                "Fan.stars",
                batch(|fans: &[&Fan], _: &(), _: &Context| {
                    fans.iter().map(|it| it.album - 1).collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Album.rating",
                keyed(["artist", "id"], move |keys: &[(i64, i32)], _: &(), _: &Context| {
                    note(&by_artist, format!("rating by {keys:?}"));
                    keys.iter().map(|(artist, id)| *artist as f64 + f64::from(*id) / 10.0).collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Album.reviews",
                keyed(["id"], move |ids: &[i64], top: &Top, _: &Context| {
                    note(&own_log, format!("reviews by {ids:?}"));
                    ids.iter()
                        .map(|id| {
                            (0..top.top.unwrap_or(0))
                                .map(|at| Review(format!("{id}/{at}")))
                                .collect::<Vec<_>>()
                        })
                        .collect::<Vec<_>>()
                }),
            )
            .resolve(
                "Review.words",
                batch(|reviews: &[&Review], _: &(), _: &Context| {
                    reviews.iter().map(|it| it.0.len() as i32).collect::<Vec<_>>()
                }),
            ),
    )
}

fn run(schema: &Schema, query: &str, identity: Identity) -> String {
    block_on(schema.execute(Request::new(query).identity(identity))).text().to_owned()
}

#[test]
fn resolvers_add_fields_to_the_type_of_another_source() {
    let log = Log::default();
    let schema = schema(&log);
    assert_eq!(
        run(&schema, "{ albums { title rating reviews(top: 2) { words text } } }", Identity::admin()),
        r#"{"data":{"albums":[{"title":"album 1","rating":1.1,"reviews":[{"words":3,"text":"1/0"},{"words":3,"text":"1/1"}]},{"title":"album 2","rating":0.2,"reviews":[{"words":3,"text":"2/0"},{"words":3,"text":"2/1"}]},{"title":"album 3","rating":1.3,"reviews":[{"words":3,"text":"3/0"},{"words":3,"text":"3/1"}]}]}}"#
    );
    assert_eq!(noted(&log), ["rating by [(1, 1), (0, 2), (1, 3)]", "reviews by [1, 2, 3]"]);
}

#[test]
fn a_table_stands_behind_a_resolver_s_type_by_a_field_or_by_a_resolved_one() {
    let log = Log::default();
    let schema = schema(&log);
    assert_eq!(
        run(&schema, "{ fans { album loves { title rating } starred { id } } }", Identity::admin()),
        r#"{"data":{"fans":[{"album":2,"loves":{"title":"album 2","rating":0.2},"starred":{"id":1}},{"album":3,"loves":{"title":"album 3","rating":1.3},"starred":{"id":2}},{"album":2,"loves":{"title":"album 2","rating":0.2},"starred":{"id":1}}]}}"#
    );
    assert_eq!(noted(&log), ["album by 2 keys", "rating by [(0, 2), (1, 3)]", "album by 2 keys"]);
}

#[test]
fn permissions_of_the_other_source_hold() {
    let schema = schema(&Log::default());
    let reader = || Identity { role: "reader".into(), ..Identity::admin() };
    assert_eq!(
        run(&schema, "{ fans { album stars } }", reader()),
        r#"{"data":{"fans":[{"album":2,"stars":1},{"album":3,"stars":2},{"album":2,"stars":1}]}}"#
    );
    assert!(run(&schema, "{ albums { title } }", reader()).contains("Cannot query field"));
    assert!(run(&schema, "{ fans { loves { title } } }", reader()).contains("Cannot query field"));
}
