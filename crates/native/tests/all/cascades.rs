//! `@cascade` with fields as in Dgraph: a listed field is tested where it is selected, and the list goes on to all objects below that
//! have the field. Random selections over random objects give what maps say, in both databases.

use crate::kit;
use crate::kit::in_postgres;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

/// Asks both stores of `sdl` each of `requests` in turn and compares the data.
fn check(sdl: &str, requests: &[(&str, &str)]) {
    let sqlite = kit::serve(sdl, "");
    let postgres = in_postgres::serve(sdl, "");
    for &(request, expected) in requests {
        let expected = format!(r#"{{"data":{{{expected}}}}}"#);
        assert_eq!(sqlite.ask(request, ""), expected, "SQLite: {request}");
        assert_eq!(postgres.ask(request, ""), expected, "PostgreSQL: {request}");
    }
}

#[test]
fn a_listed_field_is_tested_where_it_is_selected_and_below() {
    let sdl = "type Song { isrc: String! @id, lyrics: String, covers: [Song] @hasInverse(field: coverOf), coverOf: Song }";
    check(
        sdl,
        &[
            (
                r#"mutation { addSong(input: [{isrc: "a"}, {isrc: "b", lyrics: "la", coverOf: {isrc: "a"}}, {isrc: "c", lyrics: "lo", coverOf: {isrc: "b"}}]) { numUids } }"#,
                r#""addSong":{"numUids":3}"#,
            ),
            (
                r#"{ querySong @cascade(fields: ["lyrics"]) { isrc } }"#,
                r#""querySong":[{"isrc":"a"},{"isrc":"b"},{"isrc":"c"}]"#,
            ),
            (
                r#"{ querySong @cascade(fields: ["lyrics"]) { isrc lyrics coverOf { isrc lyrics } } }"#,
                r#""querySong":[{"isrc":"b","lyrics":"la","coverOf":null},{"isrc":"c","lyrics":"lo","coverOf":{"isrc":"b","lyrics":"la"}}]"#,
            ),
            (
                r#"{ querySong @cascade(fields: ["lyrics", "coverOf"]) { isrc lyrics coverOf { isrc lyrics } } }"#,
                r#""querySong":[{"isrc":"c","lyrics":"lo","coverOf":{"isrc":"b","lyrics":"la"}}]"#,
            ),
            // Another `@cascade` takes the place of the one above.
            (
                r#"{ querySong @cascade(fields: ["lyrics"]) { isrc lyrics coverOf @cascade(fields: ["isrc"]) { isrc lyrics } } }"#,
                r#""querySong":[{"isrc":"b","lyrics":"la","coverOf":{"isrc":"a","lyrics":null}},{"isrc":"c","lyrics":"lo","coverOf":{"isrc":"b","lyrics":"la"}}]"#,
            ),
            (
                r#"{ getSong(isrc: "b") @cascade(fields: ["lyrics"]) { coverOf { isrc lyrics } } none: getSong(isrc: "a") @cascade(fields: ["lyrics"]) { lyrics } }"#,
                r#""getSong":{"coverOf":null},"none":null"#,
            ),
            (
                r#"mutation { updateSong(input: {filter: {}, set: {lyrics: null}}) { song @cascade(fields: ["coverOf"]) { isrc } } }"#,
                r#""updateSong":{"song":[]}"#,
            ),
            (
                r#"mutation { updateSong(input: {filter: {}, set: {covers: []}}) { song @cascade(fields: ["coverOf", "lyrics"]) { isrc coverOf { isrc } } } }"#,
                r#""updateSong":{"song":[{"isrc":"b","coverOf":{"isrc":"a"}},{"isrc":"c","coverOf":{"isrc":"b"}}]}"#,
            ),
            (
                "{ aggregateSong @cascade(fields: [\"count\"]) { count } querySong { coversAggregate @cascade(fields: [\"count\"]) { count } } }",
                r#""aggregateSong":{"count":3},"querySong":[{"coversAggregate":{"count":1}},{"coversAggregate":{"count":1}},{"coversAggregate":{"count":0}}]"#,
            ),
        ],
    );
}

#[test]
fn an_aggregate_has_no_fields_of_objects_for_a_cascade() {
    let sdl = "type Song { isrc: String! @id, lyrics: String, covers: [Song] }";
    let words = "Field `lyrics` is not present in type `SongAggregateResult`. You can only use fields in cascade which are in type `SongAggregateResult`";
    let served = kit::serve(sdl, "");
    for query in [
        r#"{ aggregateSong @cascade(fields: ["lyrics"]) { count } }"#,
        r#"{ querySong { coversAggregate @cascade(fields: ["lyrics"]) { count } } }"#,
    ] {
        let refused = served.ask(query, "");
        assert!(refused.contains(words), "{refused}");
    }
}

const TYPES: &str = "
interface Thing { id: ID!, name: String, next: Thing }
type A implements Thing { n: Int, b: B, as: [A] }
type B implements Thing { n: Int, a: A, things: [Thing] }
";

/// Fields of values, then edges: name, target, list or not.
struct ModelType {
    name: &'static str,
    values: &'static [&'static str],
    edges: &'static [(&'static str, usize, bool)],
}

const THING: usize = 2;
const ALL: [ModelType; 3] = [
    ModelType {
        name: "A",
        values: &["name", "n"],
        edges: &[("next", THING, false), ("b", 1, false), ("as", 0, true)],
    },
    ModelType {
        name: "B",
        values: &["name", "n"],
        edges: &[("next", THING, false), ("a", 0, false), ("things", THING, true)],
    },
    ModelType { name: "Thing", values: &["name"], edges: &[("next", THING, false)] },
];

/// Objects of a world: the first ones are of A, the others of B.
const OF_A: usize = 3;
const OBJECTS: usize = 6;

#[derive(Clone, Debug)]
struct Node {
    has: Vec<&'static str>,
    /// By edge of its type: targets.
    to: Vec<Vec<usize>>,
}

const fn type_of(at: usize) -> usize {
    if at < OF_A { 0 } else { 1 }
}

fn node(at: usize) -> impl Strategy<Value = Node> {
    let of = &ALL[type_of(at)];
    let targets = |&(_, to, is_list): &(&str, usize, bool)| {
        let ids: Vec<usize> = (0..OBJECTS).filter(|it| to == THING || type_of(*it) == to).collect();
        let max = if is_list { 3 } else { 1 };
        subsequence(ids, 0..=max).boxed()
    };
    let to: Vec<_> = of.edges.iter().map(targets).collect();
    (subsequence(of.values.to_vec(), 0..=2), to).prop_map(|(has, to)| Node { has, to })
}

#[derive(Clone, Debug)]
struct Selection {
    of: usize,
    values: Vec<&'static str>,
    edges: Vec<(usize, Selection)>,
    /// Empty: all.
    cascade: Option<Vec<&'static str>>,
}

fn selection(of: usize, depth: u32) -> BoxedStrategy<Selection> {
    let ty = &ALL[of];
    let names: Vec<&'static str> = ty.values.iter().copied().chain(ty.edges.iter().map(|it| it.0)).collect();
    let cascade = prop::option::weighted(0.4, subsequence(names, 0..=2));
    let values = subsequence(ty.values.to_vec(), 1..=ty.values.len());
    let places: Vec<usize> = if depth == 0 { Vec::new() } else { (0..ty.edges.len()).collect() };
    let count = places.len().min(2);
    (values, subsequence(places, 0..=count), cascade)
        .prop_flat_map(move |(values, places, cascade)| {
            let below: Vec<_> = places
                .iter()
                .map(|at| {
                    let at = *at;
                    selection(ALL[of].edges[at].1, depth - 1).prop_map(move |it| (at, it))
                })
                .collect();
            below.prop_map(move |edges| Selection {
                of,
                values: values.clone(),
                edges,
                cascade: cascade.clone(),
            })
        })
        .boxed()
}

impl Selection {
    fn text(&self) -> String {
        let mut out = match &self.cascade {
            None => String::new(),
            Some(names) if names.is_empty() => " @cascade".to_owned(),
            Some(names) => format!(" @cascade(fields: {})", json!(names)),
        };
        out.push_str(" { ");
        out.push_str(&self.values.join(" "));
        for (edge, below) in &self.edges {
            out.push_str(&format!(" {}{}", ALL[self.of].edges[*edge].0, below.text()));
        }
        out + " }"
    }
}

/// Fields that are tested: `None` tests none, a list the fields in it by their first owner.
#[derive(Clone)]
enum Tested {
    None,
    All,
    Fields(Vec<String>),
}

/// The field as Dgraph stores it: inherited ones are the interface's.
fn predicate(of: usize, name: &str) -> String {
    let owner = if ["name", "next"].contains(&name) { "Thing" } else { ALL[of].name };
    format!("{owner}.{name}")
}

impl Tested {
    fn below(&self, selection: &Selection) -> Self {
        match &selection.cascade {
            None => self.clone(),
            Some(names) if names.is_empty() => Self::All,
            Some(names) => Self::Fields(names.iter().map(|it| predicate(selection.of, it)).collect()),
        }
    }

    fn tests(&self, of: usize, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Fields(all) => all.contains(&predicate(of, name)),
        }
    }
}

/// Targets of an edge by its name, which an interface's has with each of its types.
fn targets<'w>(world: &'w [Node], at: usize, name: &str) -> &'w [usize] {
    let place = ALL[type_of(at)].edges.iter().position(|it| it.0 == name).expect("an edge of the type");
    &world[at].to[place]
}

/// The object as selected; `None`: it lacks what is tested.
fn answer(world: &[Node], at: usize, selection: &Selection, above: &Tested) -> Option<Value> {
    let tested = above.below(selection);
    let mut out = Map::new();
    for name in &selection.values {
        let is_there = world[at].has.contains(name);
        if !is_there && tested.tests(type_of(at), name) {
            return None;
        }
        let value = if *name == "n" { json!(at) } else { json!(format!("o{at}")) };
        out.insert((*name).to_owned(), if is_there { value } else { Value::Null });
    }
    for (edge, below) in &selection.edges {
        let (name, _, is_list) = ALL[selection.of].edges[*edge];
        let all = targets(world, at, name).iter();
        let found: Vec<Value> = all.filter_map(|to| answer(world, *to, below, &tested)).collect();
        if found.is_empty() && tested.tests(type_of(at), name) {
            return None;
        }
        let value = if is_list { json!(found) } else { found.into_iter().next().unwrap_or_default() };
        out.insert(name.to_owned(), value);
    }
    Some(Value::Object(out))
}

/// Mutations that make the objects, whose numbers count from one.
fn fill(world: &[Node]) -> Vec<String> {
    let object = |at: usize| {
        let it = &world[at];
        let name = it.has.contains(&"name").then(|| format!("name: \"o{at}\""));
        let number = it.has.contains(&"n").then(|| format!("n: {at}"));
        format!("{{{}}}", name.into_iter().chain(number).collect::<Vec<_>>().join(", "))
    };
    let add = |name: &str, range: std::ops::Range<usize>| {
        let objects: Vec<String> = range.map(object).collect();
        format!("mutation {{ add{name}(input: [{}]) {{ numUids }} }}", objects.join(", "))
    };
    let mut all = vec![add("A", 0..OF_A), add("B", OF_A..OBJECTS)];
    for (at, it) in world.iter().enumerate() {
        let of = &ALL[type_of(at)];
        let edges =
            of.edges.iter().zip(&it.to).filter(|it| !it.1.is_empty()).map(|((name, _, is_list), to)| {
                let ids: Vec<String> = to.iter().map(|it| format!("{{id: \"{:#x}\"}}", it + 1)).collect();
                let ids = ids.join(", ");
                if *is_list { format!("{name}: [{ids}]") } else { format!("{name}: {ids}") }
            });
        let edges: Vec<String> = edges.collect();
        if !edges.is_empty() {
            all.push(format!(
                "mutation {{ update{}(input: {{filter: {{id: \"{:#x}\"}}, set: {{{}}}}}) {{ numUids }} }}",
                of.name,
                at + 1,
                edges.join(", ")
            ));
        }
    }
    all
}

fn worlds() -> impl Strategy<Value = (Vec<Node>, Vec<Selection>)> {
    let nodes: Vec<_> = (0..OBJECTS).map(|at| node(at).boxed()).collect();
    let selection = select(vec![0, 1, THING]).prop_flat_map(|of| selection(of, 3));
    (nodes, prop::collection::vec(selection, 60))
}

/// Asks for every selection and compares.
fn compare(
    ask: &dyn Fn(&str) -> String,
    world: &[Node],
    selections: &[Selection],
) -> Result<(), TestCaseError> {
    for mutation in fill(world) {
        let done = ask(&mutation);
        prop_assert!(!done.contains("errors"), "{mutation}: {done}");
    }
    for selection in selections {
        let query = format!("{{ query{}{} }}", ALL[selection.of].name, selection.text());
        let found: Value = serde_json::from_str(&ask(&query)).expect("JSON");
        let own = (0..OBJECTS).filter(|at| selection.of == THING || type_of(*at) == selection.of);
        let expected: Vec<Value> = own.filter_map(|at| answer(world, at, selection, &Tested::None)).collect();
        let expected = json!({ "data": { format!("query{}", ALL[selection.of].name): expected } });
        prop_assert_eq!(found, expected, "{}\n{:?}", query, world);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn cascades_leave_out_what_they_leave_out_by_hand((world, selections) in worlds()) {
        let served = kit::serve(TYPES, "");
        compare(&|query| served.ask(query, ""), &world, &selections)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]

    #[test]
    fn cascades_in_postgresql_do_too((world, selections) in worlds()) {
        let served = in_postgres::serve(TYPES, "");
        compare(&|query| served.ask(query, ""), &world, &selections)?;
    }
}
