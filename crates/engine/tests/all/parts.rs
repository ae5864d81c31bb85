//! A source that divides what it answers: what is asked apart, by which keys, and what never is.

use crate::kit;
use crate::kit::{Documents, answer, engine_of, rows, schema};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use weir_engine::compose::{Graph, Join};
use weir_engine::engine::Engine;
use weir_engine::plan::output_plan::{OutputField, OutputKind};
use weir_engine::rows::{CellError, Column, Data, Table};
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchBody, FetchInput, FetchResult, FieldResolution, FieldResolver, Ids, NodeId,
    PlanError, PlanNode, PreparedFetch, SeparateFetch, SeparateFetchId, Source, SourceError, Tag,
};
use weir_language::schema::{FieldId, Schema, TypeId};

const MATCHES: &str = "
    type Query { match: Match  teams: [Team!] }
    type Match { id: Int!  name: String  slots: [Slot!]  best: Player  contests(top: Int): [Contest!]  weather: String!  riddle: Int  answer: Int }
    type Slot { slot: Int  player: Player }
    type Player { id: Int!  name: String  role: String!  teamId: Int  team: Team }
    type Team { id: Int!  name: String  flag: String  country: String }
    type Contest { id: Int!  prize: Int }
    type Album { reviews(top: Int): [Review!] }
    type Review { stars: Int  match: Match }";

/// Nodes: 1 the match, 2 a slot, 3 a player by id, 4 a player by part, 5 a team by id, 6 a team by part, 7 what has no
/// parts, 8 the best player, who comes with a name, 9 what never comes, 10 and 11 what fields with
/// calls of their own bring.
fn place(node: u32, field: &str) -> FieldResolution {
    match (node, field) {
        (0, "Query.match") => FieldResolution::Inline(NodeId(1)),
        (0, "Query.teams") => FieldResolution::Inline(NodeId(5)),
        (0, "Album.reviews") => FieldResolution::Separate(SeparateFetchId(5)),
        (1, "Match.slots") => FieldResolution::Inline(NodeId(2)),
        (1, "Match.best") => FieldResolution::Inline(NodeId(8)),
        (1, "Match.contests") => FieldResolution::Separate(SeparateFetchId(2)),
        (1, "Match.weather") => FieldResolution::Separate(SeparateFetchId(4)),
        (1 | 9, "Match.riddle") => FieldResolution::Separate(SeparateFetchId(7)),
        (1 | 9, "Match.answer") => FieldResolution::Separate(SeparateFetchId(8)),
        (2, "Slot.player") => FieldResolution::Inline(NodeId(3)),
        (8, "Player.name") => FieldResolution::Inline(NodeId(7)),
        (3 | 8, "Player.name" | "Player.role" | "Player.teamId") => {
            FieldResolution::Separate(SeparateFetchId(0))
        }
        (3 | 4 | 8, "Player.team") => FieldResolution::Separate(SeparateFetchId(3)),
        (10, "Player.team") => FieldResolution::Inline(NodeId(5)),
        (5, "Team.name" | "Team.flag") => FieldResolution::Separate(SeparateFetchId(1)),
        (5 | 6, "Team.country") => FieldResolution::Separate(SeparateFetchId(6)),
        (6, "Team.flag") => FieldResolution::Inline(NodeId(7)),
        (11, "Album.reviews") => FieldResolution::Inline(NodeId(7)),
        (7, "Review.match") => FieldResolution::Inline(NodeId(1)),
        _ => FieldResolution::Inline(NodeId(7)),
    }
}

/// Name, keys, node, together.
const PARTS: [(&str, &str, u32, bool); 9] = [
    ("player", "id", 4, true),
    ("team", "id", 6, true),
    ("contests", "id", 7, false),
    ("teamOf", "teamId", 10, false),
    ("weather", "id", 7, false),
    ("reviews", "id", 11, false),
    ("countryOf", "flag", 7, false),
    ("riddle", "answer", 9, true),
    ("answer", "riddle", 9, true),
];

type Resolve = dyn Fn(&str, &Value) -> Result<Value, SourceError> + Send + Sync;

struct Services {
    schema: Arc<Schema>,
    keys: Vec<Vec<Box<str>>>,
    extended: Vec<TypeId>,
    resolve: Arc<Resolve>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Source for Services {
    fn name(&self) -> &str {
        "matches"
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }
    fn field_resolver(&self) -> Option<&dyn FieldResolver> {
        Some(self)
    }
    fn prepare(&self, piece: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        Ok(Box::new(ServiceFetch {
            schema: Arc::clone(&self.schema),
            ids: Arc::clone(piece.ids),
            fields: piece.fields.to_vec(),
            hidden: piece.output.set(piece.set).hidden.clone(),
            part: piece.part,
            resolve: Arc::clone(&self.resolve),
            log: Arc::clone(&self.log),
        }))
    }
}

impl FieldResolver for Services {
    fn resolution(&self, node: NodeId, field: FieldId) -> FieldResolution {
        let parent = self.schema.type_name(self.schema.field(field).parent);
        place(node.0, &format!("{parent}.{}", self.schema.field_name(field)))
    }
    fn separate_fetch(&self, id: SeparateFetchId) -> SeparateFetch<'_> {
        let (_, _, node, is_together) = PARTS[id.0 as usize];
        let keys = &self.keys[id.0 as usize];
        SeparateFetch { keys, required: keys.len(), node: NodeId(node), is_together }
    }
    fn extended_types(&self) -> &[TypeId] {
        &self.extended
    }
}

struct ServiceFetch {
    schema: Arc<Schema>,
    ids: Arc<Ids>,
    fields: Vec<u32>,
    hidden: Vec<FieldId>,
    part: Option<SeparateFetchId>,
    resolve: Arc<Resolve>,
    log: Arc<Mutex<Vec<String>>>,
}

impl ServiceFetch {
    /// Result of one call: the objects of a part, or the values of one field.
    fn values(&self, name: &str, input: &FetchInput<'_>) -> (Vec<Value>, Vec<CellError>) {
        let rows = input.parent_keys.map_or(1, |keys| rows::len(&keys[0]));
        let mut values = Vec::new();
        let mut errors = Vec::new();
        for row in 0..rows {
            let key = input.parent_keys.map_or(Value::Null, |keys| match &keys[0].data {
                Data::Int(values) => json!(values[row]),
                Data::Text(texts) => json!(std::str::from_utf8(texts.get(row)).unwrap()),
                other => panic!("no key: {other:?}"),
            });
            self.log.lock().unwrap().push(format!("{name}({key})"));
            match (self.resolve)(name, &key) {
                Ok(value) => values.push(value),
                Err(error) => {
                    values.push(Value::Null);
                    errors.push(CellError { row: row as u32, error: error.for_client() });
                }
            }
        }
        (values, errors)
    }

    fn column(&self, input: &FetchInput<'_>, field: u32, values: &[&Value], errors: &[CellError]) -> Column {
        let member = input.output.fields[field as usize].member;
        let column = rows::column(&self.schema, &self.ids, input.output, member, values);
        Column { errors: errors.to_vec(), ..column }
    }
}

impl PreparedFetch for ServiceFetch {
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        let name_of = |field: FieldId| self.schema.field_name(self.ids.field(field));
        let names = self.fields.iter().map(|&it| match &input.output.fields[it as usize] {
            // Another piece's.
            OutputField { member: OutputKind::Foreign { .. }, .. } => "",
            own => name_of(own.field),
        });
        let names: Vec<&str> = names.collect();
        let part = self.part.map(|it| PARTS[it.0 as usize]);
        self.log
            .lock()
            .unwrap()
            .push(format!("{}: {}", part.map_or("root", |it| it.0), names.join(" ")).trim_end().to_owned());
        let mut table = Table { rows: 1, ..Table::default() };
        if let Some((name, _, _, true)) = part {
            let (objects, errors) = self.values(name, &input);
            let of = |name: &str| -> Vec<&Value> { objects.iter().map(|it| &it[name]).collect() };
            table.rows = objects.len() as u32;
            let columns = self.fields.iter().zip(&names);
            table.columns =
                columns.map(|(&field, name)| self.column(&input, field, &of(name), &errors)).collect();
            let hidden = self.hidden.iter().map(|&it| of(name_of(it)));
            table.hidden = hidden
                .map(|it| rows::column(&self.schema, &self.ids, input.output, OutputKind::Leaf, &it))
                .collect();
        } else {
            for (&field, name) in self.fields.iter().zip(&names) {
                let (values, errors) = self.values(part.map_or(name, |it| it.0), &input);
                let values: Vec<&Value> = values.iter().collect();
                table.rows = values.len() as u32;
                table.columns.push(self.column(&input, field, &values, &errors));
            }
        }
        let reply = FetchResult { body: FetchBody::Rows(table), errors: Vec::new(), cache_control: None };
        Box::pin(std::future::ready(Ok(reply)))
    }
    fn touches(&self) -> &[Tag] {
        &[]
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("services");
    }
}

fn player(id: &Value) -> Value {
    json!({"id": id, "name": format!("Player {id}"), "role": "bat", "teamId": if id == 3 { 2 } else { 1 }})
}

fn resolve(name: &str, key: &Value) -> Result<Value, SourceError> {
    Ok(match name {
        "match" => json!({"id": 9, "name": "Final", "best": {"id": 3, "name": "Best"},
            "slots": [{"slot": 1, "player": {"id": 1}}, {"slot": 2, "player": {"id": 3}},
                {"slot": 3, "player": {"id": 1}}, {"slot": 4, "player": null}]}),
        "teams" => json!([{"id": 1}, {"id": 2}]),
        "player" => player(key),
        "team" => json!({"name": format!("Team {key}"), "flag": format!("flag {key}")}),
        "teamOf" => json!({"id": key}),
        "contests" => json!([{"id": 1, "prize": 100}, {"id": 2, "prize": 50}]),
        "reviews" => json!([{"stars": key, "match": {"id": 9, "best": {"id": 3, "name": "Best"}}}]),
        "countryOf" => json!("Somewhere"),
        "weather" => return Err(SourceError::Timeout),
        _ => Value::Null,
    })
}

/// The source, whose type `Album` is another's.
fn services(
    resolve: impl Fn(&str, &Value) -> Result<Value, SourceError> + Send + Sync + 'static,
) -> Arc<Services> {
    let schema = Arc::new(schema(MATCHES));
    let keys = PARTS.iter().map(|it| it.1.split(' ').map(Box::from).collect()).collect();
    let extended = vec![schema.type_by_name("Album").unwrap()];
    Arc::new(Services { schema, keys, extended, resolve: Arc::new(resolve), log: Arc::default() })
}

fn music() -> Arc<Documents> {
    let sdl =
        "type Query { albums: [Album!]  album(id: Int!): Album }  type Album { id: Int!  title: String! }";
    Documents::new("music", sdl, |field, arguments| {
        Ok(match field {
            "albums" => json!([{"id": 1, "title": "A"}, {"id": 2, "title": "B"}]),
            _ => json!({"id": arguments["id"], "title": format!("Album {}", arguments["id"])}),
        })
    })
}

fn engine(services: &Arc<Services>) -> Engine {
    let join = |on: &str, name: &str, arguments: &str| Join {
        on: on.into(),
        name: name.into(),
        description: String::new(),
        source: "music".into(),
        target: "album".into(),
        arguments: arguments.into(),
    };
    let joins = [join("Player", "song", "(id: $this.teamId)"), join("Slot", "album", "(id: $this.slot)")];
    engine_of(vec![music(), Arc::clone(services) as Arc<dyn Source>], &joins)
}

/// Checks the answer and the fetches: a line per piece, then one per call.
async fn check(query: &str, expected: &str, asked: &[&str]) {
    let services = services(resolve);
    let engine = engine(&services);
    assert_eq!(answer(&engine, query, "{}").await, expected);
    assert_eq!(*services.log.lock().unwrap(), asked);
}

#[tokio::test]
async fn members_of_one_part_come_with_one_call_per_key() {
    check(
        "{ match { slots { player { name id role } } } }",
        r#"{"data":{"match":{"slots":[{"player":{"name":"Player 1","id":1,"role":"bat"}},{"player":{"name":"Player 3","id":3,"role":"bat"}},{"player":{"name":"Player 1","id":1,"role":"bat"}},{"player":null}]}}}"#,
        &["root: match", "match(null)", "player: name role", "player(1)", "player(3)"],
    )
    .await;
}

#[tokio::test]
async fn what_comes_with_the_parent_is_not_asked() {
    check(
        "{ match { best { id name } slots { slot player { id } } } }",
        r#"{"data":{"match":{"best":{"id":3,"name":"Best"},"slots":[{"slot":1,"player":{"id":1}},{"slot":2,"player":{"id":3}},{"slot":3,"player":{"id":1}},{"slot":4,"player":null}]}}}"#,
        &["root: match", "match(null)"],
    )
    .await;
}

#[tokio::test]
async fn one_fragment_in_two_places_is_divided_by_the_place() {
    check(
        "{ match { best { ...P } slots { player { ...P } } } } fragment P on Player { name }",
        r#"{"data":{"match":{"best":{"name":"Best"},"slots":[{"player":{"name":"Player 1"}},{"player":{"name":"Player 3"}},{"player":{"name":"Player 1"}},{"player":null}]}}}"#,
        &["root: match", "match(null)", "player: name", "player(1)", "player(3)"],
    )
    .await;
}

#[tokio::test]
async fn a_key_that_a_part_brings_chains_the_pieces() {
    check(
        "{ match { best { team { name country } song { title } } } }",
        r#"{"data":{"match":{"best":{"team":{"name":"Team 2","country":"Somewhere"},"song":{"title":"Album 2"}}}}}"#,
        &[
            "root: match",
            "match(null)",
            // Only the hidden `teamId`, by which team and song are asked.
            "player:",
            "player(3)",
            "teamOf: team",
            "teamOf(2)",
            "team: name",
            "team(2)",
            "countryOf: country",
            "countryOf(\"flag 2\")",
        ],
    )
    .await;
}

#[tokio::test]
async fn fields_with_arguments_are_calls_of_their_own() {
    check(
        "{ match { a: contests(top: 1) { prize } b: contests(top: 2) { id } c: contests(top: 1) { prize } } }",
        r#"{"data":{"match":{"a":[{"prize":100},{"prize":50}],"b":[{"id":1},{"id":2}],"c":[{"prize":100},{"prize":50}]}}}"#,
        &["root: match", "match(null)", "contests: contests", "contests(9)", "contests: contests", "contests(9)"],
    )
    .await;
}

#[tokio::test]
async fn a_part_that_fails_takes_along_what_may_not_be_null() {
    check(
        "{ match { name weather } }",
        r#"{"errors":[{"message":"The source did not answer in time.","locations":[{"line":1,"column":16}],"path":["match","weather"],"extensions":{"code":"SOURCE_TIMEOUT"}}],"data":{"match":null}}"#,
        &["root: match", "match(null)", "weather: weather", "weather(9)"],
    )
    .await;
}

#[tokio::test]
async fn one_key_that_fails_fails_its_rows_only() {
    let services = services(|name, key| match (name, key.as_i64()) {
        ("player", Some(1)) => Err(SourceError::Busy),
        _ => resolve(name, key),
    });
    let text = answer(&engine(&services), "{ match { slots { player { name } } } }", "{}").await;
    let error = |at: usize| {
        format!(
            r#"{{"message":"The source has no capacity left.","locations":[{{"line":1,"column":28}}],"path":["match","slots",{at},"player","name"],"extensions":{{"code":"POOL_TIMEOUT"}}}}"#
        )
    };
    let data = r#"{"match":{"slots":[{"player":{"name":null}},{"player":{"name":"Player 3"}},{"player":{"name":null}},{"player":null}]}}"#;
    assert_eq!(text, format!(r#"{{"errors":[{},{}],"data":{data}}}"#, error(0), error(2)));
}

#[tokio::test]
async fn what_is_asked_by_the_keys_of_a_part_fails_with_it() {
    let services = services(|name, key| match (name, key.as_i64()) {
        ("player", Some(1)) => Err(SourceError::Busy),
        _ => resolve(name, key),
    });
    let text = answer(&engine(&services), "{ match { slots { player { team { id } } } } }", "{}").await;
    let error = |at: usize| {
        format!(
            r#"{{"message":"The source has no capacity left.","locations":[{{"line":1,"column":28}}],"path":["match","slots",{at},"player","team"],"extensions":{{"code":"POOL_TIMEOUT"}}}}"#
        )
    };
    let data = r#"{"match":{"slots":[{"player":{"team":null}},{"player":{"team":{"id":2}}},{"player":{"team":null}},{"player":null}]}}"#;
    assert_eq!(text, format!(r#"{{"errors":[{},{}],"data":{data}}}"#, error(0), error(2)));
}

#[tokio::test]
async fn a_type_of_another_source_is_extended_and_joined_back() {
    check(
        "{ albums { title reviews(top: 3) { stars match { best { name role } } } } match { slots { album { title } } } }",
        r#"{"data":{"albums":[{"title":"A","reviews":[{"stars":1,"match":{"best":{"name":"Best","role":"bat"}}}]},{"title":"B","reviews":[{"stars":2,"match":{"best":{"name":"Best","role":"bat"}}}]}],"match":{"slots":[{"album":{"title":"Album 1"}},{"album":{"title":"Album 2"}},{"album":{"title":"Album 3"}},{"album":{"title":"Album 4"}}]}}}"#,
        &[
            "root: match",
            "match(null)",
            "reviews: reviews",
            "reviews(1)",
            "reviews(2)",
            "player: role",
            "player(3)",
        ],
    )
    .await;
}

#[test]
fn the_plan_says_what_is_asked_apart() {
    let engine = engine(&services(resolve));
    let query = "{ match { name slots { player { name team { flag } } } } }";
    let explained = kit::print(&engine, query, "{}");
    let expected = "\
query
  piece 0 of matches, as rows
    match: Match
      name: String
      slots: [Slot!]
        player: Player
          (id)
          name: String = piece 1
          team: Team = piece 1
  piece 1 of matches, once for all Player of piece 0 by id, as rows
    (teamId)
    name: String
    team: Team = piece 2
  piece 2 of matches, once for all Player of piece 1 by teamId, as rows
    team: Team
      (id)
      flag: String = piece 3
  piece 3 of matches, once for all Team of piece 2 by id, as rows
    flag: String
";
    assert_eq!(explained, expected);
}

#[test]
fn what_cannot_be_added_to_a_type_is_said() {
    let services = services(resolve);
    let compose = |sdl: &str| -> Vec<String> {
        let other = Documents::new("music", sdl, |_, _| Ok(Value::Null));
        let sources: Vec<Arc<dyn Source>> = vec![other, Arc::clone(&services) as Arc<dyn Source>];
        Graph::compose(sources, &[]).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        compose("type Query { albums: Int }"),
        ["source `matches` adds the field `Album.reviews`: no other source has an object type of that name"]
    );
    assert_eq!(
        compose("type Query { a: Album } type Album { title: String }"),
        ["source `matches` adds the field `Album.reviews`: `Album` has no field `id`"]
    );
    assert_eq!(
        compose("type Query { a: Album } type Album { id: [Int] }"),
        ["source `matches` adds the field `Album.reviews`: `Album.id` is no single scalar"]
    );
}

#[tokio::test]
async fn a_key_that_is_never_given_fails_the_field() {
    // The riddle is asked by its answer, and the answer by the riddle.
    check(
        "{ match { id riddle } }",
        r#"{"errors":[{"message":"Internal error.","locations":[{"line":1,"column":14}],"path":["match","riddle"],"extensions":{"code":"INTERNAL"}}],"data":{"match":{"id":9,"riddle":null}}}"#,
        &["root: match", "match(null)"],
    )
    .await;
}
