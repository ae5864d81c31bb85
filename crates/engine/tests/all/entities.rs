//! Entities of a subgraph: several keys of a type, joins below them, sources that fail, and names that no subgraph can have.

use crate::kit::{Documents, answer, settings};
use serde_json::{Value, json};
use std::sync::Arc;
use weir_engine::compose::{FederationSettings, Graph, Join};
use weir_engine::engine::Engine;
use weir_engine::source::{
    EntityKey, EntityLookup, KeyForm, PlanError, PlanNode, PreparedFetch, Source, SourceError,
};
use weir_language::schema::Schema;

const MUSIC: &str = "
    type Album { id: Int!  code: String!  title: String  artistId: Int  parts: [Part!]! }
    type Part { name: String!  long: Boolean }
    type Query { album(id: Int, code: String): Album  albums: [Album!]! }";
const PEOPLE: &str = "
    type Artist { id: Int!  name: String! }
    type Query { artist(id: Int!): Artist }";

/// Documents with lookups.
struct Keyed {
    documents: Arc<Documents>,
    lookups: Vec<EntityLookup>,
}

impl Source for Keyed {
    fn name(&self) -> &str {
        self.documents.name()
    }
    fn schema(&self) -> &Arc<Schema> {
        self.documents.schema()
    }
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        self.documents.prepare(node)
    }
    fn entity_lookups(&self) -> &[EntityLookup] {
        &self.lookups
    }
}

fn lookup(on: &str, target: &str, keys: &[(&str, KeyForm)]) -> EntityLookup {
    let key = |&(name, form): &(&str, KeyForm)| EntityKey { field: name.into(), argument: name.into(), form };
    EntityLookup { on: on.into(), target: Some(target.into()), keys: keys.iter().map(key).collect() }
}

struct Scene {
    engine: Engine,
    music: Arc<Documents>,
    people: Arc<Documents>,
}

fn compose(sources: Vec<Arc<dyn Source>>, joins: &[Join]) -> Result<Graph, String> {
    let settings = FederationSettings { role: "admin".into(), representations_max: 50 };
    let graph = Graph::compose_subgraph(sources, joins, &settings, false);
    graph.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// Albums by two keys, each with an artist of another source.
fn scene() -> Scene {
    let music = Documents::new("music", MUSIC, |field, arguments| {
        let album = |id: i64| {
            json!({ "id": id, "code": format!("c{id}"), "title": format!("T{id}"), "artistId": id + 10,
                "parts": [{ "name": "a", "long": true }, { "name": "b", "long": null }] })
        };
        let coded = |code: &str| code.strip_prefix('c').and_then(|it| it.parse().ok());
        let id = arguments["id"].as_i64().or_else(|| arguments["code"].as_str().and_then(coded));
        match (field, id) {
            ("albums", _) => Ok(json!([album(1)])),
            (_, Some(13)) => Err(SourceError::Timeout),
            (_, Some(id)) if id < 9 => Ok(album(id)),
            _ => Ok(Value::Null),
        }
    });
    let people = Documents::new("people", PEOPLE, |_, arguments| {
        Ok(json!({ "id": arguments["id"], "name": format!("A{}", arguments["id"]) }))
    });
    let keyed = |documents: &Arc<Documents>, lookups| -> Arc<dyn Source> {
        Arc::new(Keyed { documents: Arc::clone(documents), lookups })
    };
    let albums = vec![
        lookup("Album", "album", &[("id", KeyForm::Int(32))]),
        lookup("Album", "album", &[("code", KeyForm::Text)]),
    ];
    let artists = vec![lookup("Artist", "artist", &[("id", KeyForm::Int(32))])];
    let join = Join {
        on: "Album".into(),
        name: "artist".into(),
        description: String::new(),
        source: "people".into(),
        target: "artist".into(),
        arguments: "(id: $this.artistId)".into(),
    };
    let graph = compose(vec![keyed(&music, albums), keyed(&people, artists)], &[join]);
    Scene { engine: Engine::new(graph.unwrap_or_else(|it| panic!("{it}")), settings()), music, people }
}

async fn entities(scene: &Scene, selection: &str, representations: &Value) -> Value {
    let query = format!("query ($r: [_Any!]!) {{ _entities(representations: $r) {{ {selection} }} }}");
    let text = answer(&scene.engine, &query, &json!({ "r": representations }).to_string()).await;
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
}

#[tokio::test]
async fn each_key_is_a_fetch_and_joins_below_are_one() {
    let scene = scene();
    let representations = json!([
        { "__typename": "Album", "code": "c2" }, { "__typename": "Album", "id": 1 }, { "__typename": "Artist", "id": 7 },
        { "__typename": "Album", "id": 4, "code": "c3" }, { "__typename": "Album", "code": "none" },
        { "__typename": "Album", "code": "c2" },
    ]);
    let selection = "... on Album { title again: title parts { name long } all: parts { name long } artist { name } } ... on Artist { name }";
    let json = entities(&scene, selection, &representations).await;
    let parts = json!([{ "name": "a", "long": true }, { "name": "b", "long": null }]);
    let album = |id: i64| {
        json!({ "title": format!("T{id}"), "again": format!("T{id}"), "parts": parts, "all": parts,
            "artist": { "name": format!("A{}", id + 10) } })
    };
    let expected = json!([album(2), album(1), { "name": "A7" }, album(4), null, album(2)]);
    assert_eq!(json, json!({ "data": { "_entities": expected } }));
    let mut asked = scene.music.asked();
    asked.sort();
    assert_eq!(
        asked,
        [
            "2 keys",
            "2 keys",
            r#"album{"code":"c2"}"#,
            r#"album{"code":"none"}"#,
            r#"album{"id":1}"#,
            r#"album{"id":4}"#
        ]
    );
    assert!(scene.people.asked().iter().filter(|it| it.ends_with("keys")).count() <= 3);
}

#[tokio::test]
async fn a_source_that_fails_is_an_error_of_each_item() {
    let scene = scene();
    let representations = json!([{ "__typename": "Artist", "id": 7 }, { "__typename": "Album", "id": 13 }, { "__typename": "Album", "code": "c1" }]);
    let json = entities(&scene, "... on Album { title } ... on Artist { name }", &representations).await;
    assert_eq!(json["data"], json!({ "_entities": [{ "name": "A7" }, null, { "title": "T1" }] }), "{json}");
    assert_eq!(json["errors"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(json["errors"][0]["path"], json!(["_entities", 1]), "{json}");
}

#[tokio::test]
async fn a_type_that_is_not_selected_is_not_asked() {
    let scene = scene();
    let representations = json!([{ "__typename": "Artist", "id": 7 }, { "__typename": "Album", "id": 1 }]);
    let json = entities(&scene, "__typename ... on Artist { name }", &representations).await;
    assert_eq!(json["data"]["_entities"], json!([{ "__typename": "Artist", "name": "A7" }, null]), "{json}");
    assert_eq!(json["errors"][0]["path"], json!(["_entities", 1]), "{json}");
    assert_eq!(scene.music.asked(), Vec::<String>::new());
    let json = entities(&scene, "__typename", &representations).await;
    assert_eq!(
        json["data"]["_entities"],
        json!([{ "__typename": "Artist" }, { "__typename": "Album" }]),
        "{json}"
    );
}

#[tokio::test]
async fn the_text_names_each_key_and_refuses_names_of_composers() {
    let scene = scene();
    let text = answer(&scene.engine, "{ _service { sdl } }", "{}").await;
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    let sdl = json["data"]["_service"]["sdl"].as_str().unwrap_or_default().to_owned();
    assert!(sdl.contains("type Album @key(fields: \"id\") @key(fields: \"code\") {"), "{sdl}");
    assert!(
        Schema::from_sdl(
            &sdl.replace("extend schema @link", "directive @key(fields: String) repeatable on OBJECT #")
        )
        .is_ok(),
        "{sdl}"
    );
    for name in ["Mutation", "Subscription", "FieldSet", "join__Type", "federation__Scope"] {
        let documents = Documents::new(
            "one",
            &format!("schema {{ query: Q }} type Q {{ a: {name} }} type {name} {{ b: Int }}"),
            |_, _| Ok(Value::Null),
        );
        let error = compose(vec![documents], &[]).err().unwrap_or_default();
        assert!(error.contains(&format!("`{name}`")) && error.contains("rename"), "{name}: {error}");
    }
}

#[test]
fn names_of_federation_are_refused_with_a_way_out() {
    for (source, sdl, words) in [
        (
            "one",
            "type Query { a: _Service } type _Service { b: Int }",
            "source `one` has `_Service`, a name of federation's own",
        ),
        ("one", "type Query { _service: Int }", "source `one` has `_service`, a name of federation's own"),
        ("federation", "type Query { a: Int }", "no source may be called `federation`"),
    ] {
        let documents = Documents::new(source, sdl, |_, _| Ok(Value::Null));
        let error = compose(vec![documents], &[]).err().unwrap_or_default();
        assert!(error.contains(words) && error.contains("rename it"), "{sdl}: {error}");
    }
}
