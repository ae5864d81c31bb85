//! Nothing is lost in a load without a word: what a line says is in the store, or the line or its object is rejected.

use crate::postgres_kit::database;
use crate::transfer::{Folder, exported, loaded, source};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use std::path::Path;
use weir_native::layout::Database;
use weir_native::store::{Place, Types, open_and_migrate};
use weir_native::transfer::{Count, Format, Source, Unknown};
use weir_postgres::Settings;

const TYPES: &str = "
interface Work { title: String, tags: [String] }
type Song implements Work { isrc: String! @id, plays: Int, covers: [Song] @hasInverse(field: coverOf), coverOf: Song,
  album: Album, likes: [Song], twin: Song @hasInverse(field: twin), friends: [Song] @hasInverse(field: friends) }
type Album { name: String! @id, songs: [Song] @hasInverse(field: album), cover: Picture }
type Picture { alt: String, of: Album @hasInverse(field: cover) }
";

/// A new store in PostgreSQL.
fn in_postgres(url: &str, sdl: &str) -> Place {
    let place = Place::Postgres(Box::new(Settings::parse(url, |_| None).unwrap()));
    open_and_migrate(&place, &Types::read(sdl, Database::Postgres).unwrap()).unwrap();
    place
}

/// The statements of a store, as an export has them: `0x1 Song.isrc "a"`.
fn statements(folder: &Folder, place: &Place, name: &str) -> BTreeSet<String> {
    let to = folder.0.join(name);
    std::fs::create_dir_all(&to).unwrap();
    let files = exported(place, Format::Nquads, &to);
    let text: String = files.iter().map(|it| std::fs::read_to_string(it).unwrap()).collect();
    let plain = |line: &str| {
        let mut words = line.trim_end_matches(" .").splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default();
        let [subject, predicate, object] = [next(), next(), next()];
        let object = object.split("^^").next().unwrap_or_default();
        format!("{} {} {object}", subject.trim_matches(['<', '>']), predicate.trim_matches(['<', '>']))
    };
    text.lines().map(plain).collect()
}

/// Loads files into both databases, compares what is not taken and what is there, and gives both.
fn check(sdl: &str, files: &[(&str, &str, Option<&str>)], count: Count, rejects: &[&str], there: &[&str]) {
    let folder = Folder::new();
    let database = database("");
    let stores = [("SQLite", folder.store("a.db", sdl)), ("PostgreSQL", in_postgres(&database.url(), sdl))];
    let sources: Vec<Source> =
        files.iter().map(|(name, text, target)| source(&folder.write(name, text), *target)).collect();
    for (name, place) in stores {
        let (report, found) = loaded(&place, &sources);
        assert_eq!(found, rejects, "{name}");
        assert_eq!(report.count, count, "{name}");
        let statements = statements(&folder, &place, name);
        let is_asked = |it: &&str| there.iter().any(|is| it.split(' ').nth(1) == is.split(' ').nth(1));
        let found: Vec<&str> = statements.iter().map(String::as_str).filter(is_asked).collect();
        assert_eq!(found, there, "{name}");
    }
}

const SONGS: &str = "<0x1> <dgraph.type> \"Song\" .\n<0x1> <Song.isrc> \"a\" .\n<0x2> <dgraph.type> \"Song\" .\n<0x2> <Song.isrc> \"b\" .\n\
                     <0x3> <dgraph.type> \"Song\" .\n<0x3> <Song.isrc> \"c\" .\n";

#[test]
fn an_edge_to_an_object_that_has_another_is_rejected() {
    check(
        TYPES,
        &[(
            "g01.rdf",
            &format!(
                "{SONGS}<0x1> <Song.covers> <0x3> .\n<0x2> <Song.covers> <0x3> .\n<0x3> <Song.coverOf> <0x1> .\n"
            ),
            None,
        )],
        Count { objects: 3, edges_refused: 1, ..Count::default() },
        &["g01.rdf:8: Song.covers: 0x3 has another already"],
        &["0x1 Song.covers <0x3>", "0x3 Song.coverOf <0x1>"],
    );
    let songs = "{\"id\":1,\"isrc\":\"a\",\"covers\":[\"0x3\"]}\n{\"id\":2,\"isrc\":\"b\",\"covers\":[{\"isrc\":\"c\"}]}\n{\"id\":3,\"isrc\":\"c\"}\n";
    check(
        TYPES,
        &[("Song.ndjson", songs, None)],
        Count { objects: 3, edges_refused: 1, ..Count::default() },
        &["Song.ndjson:2: Song.covers: 0x3 has another already"],
        &["0x1 Song.covers <0x3>", "0x3 Song.coverOf <0x1>"],
    );
    // Pairs from either side, beside an object's own column.
    check(
        TYPES,
        &[
            ("Song.csv", "id,isrc,coverOf_id\n1,a,\n2,b,\n3,c,1\n", None),
            ("covers.csv", "a,b\n1,3\n2,3\n2,1\n", Some("Song.covers")),
            ("of.csv", "a,b\n1,2\n1,3\n", Some("Song.coverOf")),
        ],
        Count { objects: 3, pairs: 3, pairs_refused: 2, ..Count::default() },
        &[
            "of.csv:3: Song.coverOf: 0x1 has another already",
            "covers.csv:3: Song.covers: 0x3 has another already",
        ],
        &[
            "0x1 Song.coverOf <0x2>",
            "0x1 Song.covers <0x3>",
            "0x2 Song.covers <0x1>",
            "0x3 Song.coverOf <0x1>",
        ],
    );
}

#[test]
fn one_side_of_an_edge_that_is_its_own_other_side_is_enough() {
    check(
        TYPES,
        &[(
            "Song.ndjson",
            "{\"id\":1,\"isrc\":\"a\",\"twin\":\"0x2\",\"friends\":[\"0x2\",{\"isrc\":\"c\"}]}\n{\"id\":2,\"isrc\":\"b\"}\n{\"id\":3,\"isrc\":\"c\",\"twin\":{\"isrc\":\"b\"}}\n",
            None,
        )],
        Count { objects: 3, edges_refused: 1, ..Count::default() },
        &["Song.ndjson:3: Song.twin: 0x2 has another already"],
        &[
            "0x1 Song.friends <0x2>",
            "0x1 Song.friends <0x3>",
            "0x1 Song.twin <0x2>",
            "0x2 Song.friends <0x1>",
            "0x2 Song.twin <0x1>",
            "0x3 Song.friends <0x1>",
        ],
    );
}

#[test]
fn a_statement_that_an_object_cannot_take_is_rejected_alone() {
    let more = "<0x1> <Song.mood> \"dark\" .\n<0x1> <Song.isrc> \"z\" .\n<0x1> <Song.plays> \"x\" .\n<0x2> <Song.mood> \"light\" .\n\
                <0x2> <Song.year> \"1999\" .\n<0x2> <Song.coverOf> \"0x1\" .\n<0x2> <Work.title> <0x1> .\n<0x3> <dgraph.type> \"Album\" .\n\
                <0x3> <dgraph.type> \"Work\" .\n<0x3> <Work.tags> \"[\\\"x\\\"]\" .\n<0x3> <Song.isrc> \"c\" .\n<0x3> <Song.likes> <0x1> .\n";
    check(
        TYPES,
        &[("g01.rdf", &format!("{SONGS}{more}"), None)],
        Count { objects: 3, statements_refused: 7, edges_refused: 1, ..Count::default() },
        &[
            "g01.rdf:7: `Song.mood` is no field of `Song`; map it to one, or to null to leave it out",
            "g01.rdf:8: Song.isrc: it has another value already",
            "g01.rdf:9: Song.plays: `x` is no Int",
            "g01.rdf:10: `Song.mood` is no field of `Song`; map it to one, or to null to leave it out",
            "g01.rdf:11: `Song.year` is no field of `Song`; map it to one, or to null to leave it out",
            "g01.rdf:12: Song.coverOf: it leads to an object, which stands between `<` and `>`",
            "g01.rdf:13: Work.title: it has values, and leads to no object",
            "g01.rdf:14: dgraph.type: it is a `Song`, and so no `Album`",
        ],
        &[
            "0x1 Song.isrc \"a\"",
            "0x2 Song.isrc \"b\"",
            "0x3 Song.isrc \"c\"",
            "0x3 Song.likes <0x1>",
            "0x3 Work.tags \"[\\\"x\\\"]\"",
        ],
    );
}

#[test]
fn every_predicate_that_is_no_field_is_named_and_counted_once() {
    let folder = Folder::new();
    let database = database("");
    let songs: String = (1..=20_000)
        .map(|it| {
            format!("<{it:#x}> <dgraph.type> \"Song\" .\n<{it:#x}> <Song.isrc> \"{it}\" .\n<{it:#x}> <Song.mood> \"x\" .\n")
        })
        .collect();
    let file = folder.write("g01.rdf", &format!("{songs}<0x1> <Song.year> \"1999\" .\n"));
    let unknown = |predicate: &str, statements: u64, line: u64| Unknown {
        predicate: predicate.into(),
        statements,
        file: file.display().to_string(),
        line,
    };
    for place in [folder.store("a.db", TYPES), in_postgres(&database.url(), TYPES)] {
        let (report, _) = loaded(&place, &[source(&file, None)]);
        assert_eq!(report.unknown, [unknown("Song.mood", 20_000, 3), unknown("Song.year", 1, 60_001)]);
        assert_eq!(report.count, Count { objects: 20_000, statements_refused: 20_001, ..Count::default() });
    }
}

#[test]
fn edges_to_objects_of_an_earlier_load_are_taken() {
    let folder = Folder::new();
    let place = folder.store("a.db", TYPES);
    let first = folder.write("a.rdf", SONGS);
    assert_eq!(loaded(&place, &[source(&first, None)]).1, Vec::<String>::new());
    let more = "<0x4> <dgraph.type> \"Song\" .\n<0x4> <Song.isrc> \"d\" .\n<0x4> <Song.covers> <0x3> .\n<0x4> <Song.covers> <0x9> .\n";
    let second = folder.write("b.rdf", more);
    let (report, rejects) = loaded(&place, &[source(&second, None)]);
    assert_eq!(report.count, Count { objects: 1, edges_refused: 1, ..Count::default() });
    assert_eq!(rejects, ["b.rdf:4: Song.covers: there is no `Song` 0x9"]);
    assert!(statements(&folder, &place, "out").contains("0x3 Song.coverOf <0x4>"));
}

#[test]
fn a_line_that_says_two_things_of_one_value_is_rejected() {
    check(
        TYPES,
        &[(
            "Song.ndjson",
            "{\"id\":1,\"isrc\":\"a\",\"isrc\":\"b\"}\n{\"id\":2,\"isrc\":\"c\",\"plays\":1,\"Song.plays\":2}\n{\"id\":3,\"uid\":4,\"isrc\":\"d\"}\n\
             {\"isrc\":\"e\",\"coverOf\":\"0x1\",\"coverOf_id\":{\"isrc\":\"z\"}}\n{\"isrc\":\"f\",\"tags\":[[\"x\"]]}\n{\"isrc\":\"g\",\"tags\":[1]}\n\
             {\"__typename\":\"Album\",\"isrc\":\"h\"}\n{\"__typename\":[\"Work\",\"Song\"],\"isrc\":\"i\",\"tags\":[\"[1]\",null]}\n",
            None,
        )],
        Count { objects: 1, objects_refused: 7, ..Count::default() },
        &[
            "Song.ndjson:1: duplicate key at byte 20",
            "Song.ndjson:2: Song.plays: it has another value already",
            "Song.ndjson:3: uid: its ID is 0x3 already",
            "Song.ndjson:4: coverOf_id: it has another already",
            "Song.ndjson:5: tags: `[\"x\"]` is no String",
            "Song.ndjson:6: tags: `1` is no String",
            "Song.ndjson:7: __typename: it is a `Song`, and so no `Album`",
        ],
        &["0x1 Work.tags \"[1]\""],
    );
    check(
        TYPES,
        &[("Song.csv", "id,isrc,coverOf,coverOf_id\n1,a,,\n2,b,1,1\n3,c,1,2\n", None)],
        Count { objects: 2, objects_refused: 1, ..Count::default() },
        &["Song.csv:4: 0x3 has another already"],
        &["0x2 Song.coverOf <0x1>"],
    );
}

#[test]
fn all_unknown_columns_of_a_file_are_named_together() {
    let folder = Folder::new();
    let place = folder.store("a.db", TYPES);
    let file = folder.write("Song.csv", "isrc,mood,year\na,x,1\n");
    let mut hooks =
        weir_native::transfer::Hooks { progress: &mut |_| {}, reject: &mut |_| panic!("nothing is read") };
    let words =
        weir_native::transfer::load(&place, &[source(&file, None)], &mut hooks).unwrap_err().to_string();
    assert!(words.contains("`mood` is no field") && words.contains("`year` is no field"), "{words}");
}

/// A predicate of the types: its type, what it holds, and its other side.
struct Predicate {
    name: &'static str,
    of: &'static str,
    holds: Holds,
    inverse: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    Texts,
    Int,
    Key,
    One(&'static str),
    Many(&'static str),
}

const fn predicate(
    name: &'static str,
    of: &'static str,
    holds: Holds,
    inverse: Option<&'static str>,
) -> Predicate {
    Predicate { name, of, holds, inverse }
}

const PREDICATES: &[Predicate] = &[
    predicate("Work.title", "Song", Holds::Text, None),
    predicate("Work.tags", "Song", Holds::Texts, None),
    predicate("Song.isrc", "Song", Holds::Key, None),
    predicate("Song.plays", "Song", Holds::Int, None),
    predicate("Song.covers", "Song", Holds::Many("Song"), Some("Song.coverOf")),
    predicate("Song.coverOf", "Song", Holds::One("Song"), Some("Song.covers")),
    predicate("Song.album", "Song", Holds::One("Album"), Some("Album.songs")),
    predicate("Song.likes", "Song", Holds::Many("Song"), None),
    predicate("Song.twin", "Song", Holds::One("Song"), Some("Song.twin")),
    predicate("Song.friends", "Song", Holds::Many("Song"), Some("Song.friends")),
    predicate("Album.name", "Album", Holds::Key, None),
    predicate("Album.songs", "Album", Holds::Many("Song"), Some("Song.album")),
    predicate("Album.cover", "Album", Holds::One("Picture"), Some("Picture.of")),
    predicate("Picture.alt", "Picture", Holds::Text, None),
    predicate("Picture.of", "Picture", Holds::One("Album"), Some("Album.cover")),
    predicate("Song.mood", "", Holds::Text, None),
];

/// The types that objects mostly have, by number from one.
const OBJECTS: [&str; 8] = ["Song", "Song", "Song", "Song", "Album", "Album", "Picture", "Picture"];

#[derive(Clone, Debug)]
enum Line {
    Kind(usize, &'static str),
    Said(usize, usize, Object),
    Garbage(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Object {
    Id(usize),
    Text(&'static str),
}

impl Object {
    fn text(&self) -> String {
        match self {
            Self::Id(id) => format!("<{id:#x}>"),
            Self::Text(text) => format!("\"{text}\""),
        }
    }
}

impl Line {
    fn text(&self) -> String {
        match self {
            Self::Kind(id, name) => format!("<{id:#x}> <dgraph.type> \"{name}\" ."),
            Self::Said(id, of, object) => format!("<{id:#x}> <{}> {} .", PREDICATES[*of].name, object.text()),
            Self::Garbage(text) => (*text).to_owned(),
        }
    }
}

fn line() -> impl Strategy<Value = Line> {
    let id = || 1..=OBJECTS.len();
    let object = |of: usize| {
        let all = |name: &'static str| (1..=OBJECTS.len()).filter(move |it| OBJECTS[it - 1] == name);
        match PREDICATES[of].holds {
            Holds::One(to) | Holds::Many(to) => {
                select(all(to).collect::<Vec<_>>()).prop_map(Object::Id).boxed()
            }
            Holds::Int => select(vec!["1", "2", "x"]).prop_map(Object::Text).boxed(),
            Holds::Text | Holds::Texts | Holds::Key => {
                select(vec!["a", "b", "c", "d", "e"]).prop_map(Object::Text).boxed()
            }
        }
    };
    let own = |of: usize| {
        let name = PREDICATES[of].of;
        let all: Vec<usize> =
            (1..=OBJECTS.len()).filter(|it| name.is_empty() || OBJECTS[it - 1] == name).collect();
        select(all)
    };
    let said = (0..PREDICATES.len())
        .prop_flat_map(move |of| (own(of), Just(of), object(of)))
        .prop_map(|(id, of, object)| Line::Said(id, of, object));
    let any = prop_oneof![id().prop_map(Object::Id), select(vec!["a", "1", "0x1"]).prop_map(Object::Text)];
    prop_oneof![
        20 => said,
        1 => (id(), 0..PREDICATES.len(), any).prop_map(|(id, of, object)| Line::Said(id, of, object)),
        1 => (id(), select(vec!["Song", "Album", "Work", "Gone"])).prop_map(|(id, name)| Line::Kind(id, name)),
        1 => select(vec!["x", "<0x1> <Song.isrc> \"a\"@en .", "_:b <Song.isrc> \"a\" ."]).prop_map(Line::Garbage),
    ]
}

/// Statements in any order: most objects have their type and a key.
fn lines() -> impl Strategy<Value = Vec<Line>> {
    let whole = prop::collection::vec(prop::bool::weighted(0.9), OBJECTS.len() * 2);
    (whole, prop::collection::vec(line(), 0..40))
        .prop_map(|(whole, mut lines)| {
            for (at, name) in OBJECTS.iter().enumerate() {
                let id = at + 1;
                if whole[at * 2] {
                    lines.push(Line::Kind(id, name));
                }
                let key = PREDICATES.iter().position(|it| it.of == *name && it.holds == Holds::Key);
                let text = ["k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"][at];
                if let Some(key) = key.filter(|_| whole[at * 2 + 1]) {
                    lines.push(Line::Said(id, key, Object::Text(text)));
                }
            }
            lines
        })
        .prop_shuffle()
}

/// True if the statement fits its predicate's type and value.
fn is_fit(id: usize, of: usize, object: &Object, kind: &dyn Fn(usize) -> Option<&'static str>) -> bool {
    let of = &PREDICATES[of];
    let fits = match (of.holds, object) {
        (Holds::One(to) | Holds::Many(to), Object::Id(id)) => kind(*id) == Some(to),
        (Holds::Int, Object::Text(text)) => text.parse::<i32>().is_ok(),
        (Holds::Text | Holds::Texts | Holds::Key, Object::Text(_)) => true,
        (_, _) => false,
    };
    fits && kind(id) == Some(of.of)
}

/// What a statement says, and what its other side says of the same.
fn facts(id: usize, of: usize, object: &Object) -> Vec<(usize, &'static str, Object)> {
    let of = &PREDICATES[of];
    let back = match (of.inverse, object) {
        (Some(inverse), Object::Id(to)) => Some((*to, inverse, Object::Id(id))),
        (_, _) => None,
    };
    std::iter::once((id, of.name, object.clone())).chain(back).collect()
}

fn is_single(name: &str) -> bool {
    let of = PREDICATES.iter().find(|it| it.name == name).expect("a predicate");
    !matches!(of.holds, Holds::Many(_) | Holds::Texts)
}

fn conflict(one: &[(usize, &'static str, Object)], other: &[(usize, &'static str, Object)]) -> bool {
    one.iter().any(|(id, name, object)| {
        is_single(name) && other.iter().any(|it| it.0 == *id && it.1 == *name && it.2 != *object)
    })
}

/// Loads `lines` and checks each of them against what is in the store afterwards.
fn run(folder: &Folder, place: &Place, lines: &[Line]) -> Result<(), TestCaseError> {
    let text: String = lines.iter().map(|it| it.text() + "\n").collect();
    let file = folder.write("g01.rdf", &text);
    let (report, rejects) = loaded(place, &[source(Path::new(&file), None)]);
    prop_assert_eq!(report.count.refused_count(), rejects.len() as u64, "{:?}\n{}", rejects, text);
    let there = statements(folder, place, "out");
    let has =
        |fact: &(usize, &str, Object)| there.contains(&format!("{:#x} {} {}", fact.0, fact.1, fact.2.text()));
    let is_loaded = |id: usize| there.iter().any(|it| it.starts_with(&format!("{id:#x} dgraph.type ")));
    let loaded_objects = (1..=OBJECTS.len()).filter(|it| is_loaded(*it)).count();
    prop_assert_eq!(report.count.objects, loaded_objects as u64, "{}", text);
    let number = |it: &String| it.split(':').nth(1).and_then(|it| it.parse::<usize>().ok()).expect("a line");
    let rejected: Vec<usize> = rejects.iter().map(number).collect();
    let is_rejected = |at: usize| rejected.contains(&(at + 1));
    let kind = |id: usize| {
        lines.iter().find_map(|it| match it {
            Line::Kind(of, name @ ("Song" | "Album" | "Picture")) if *of == id => Some(*name),
            _ => None,
        })
    };
    let mut said = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let told = format!("line {}: {}\n{rejects:#?}\n{there:#?}\n{text}", at + 1, line.text());
        let Line::Said(id, of, object) = line else {
            let is_taken = match line {
                Line::Kind(id, name) => there.contains(&format!("{id:#x} dgraph.type \"{name}\"")),
                _ => false,
            };
            let belongs = matches!(line, Line::Kind(id, _) if !is_loaded(*id));
            prop_assert!(is_taken || is_rejected(at) || belongs, "{}", told);
            continue;
        };
        let facts_of = facts(*id, *of, object);
        let is_taken = facts_of.iter().all(has);
        // A line of an object that is not taken goes with it.
        prop_assert!(is_taken || is_rejected(at) || !is_loaded(*id), "lost in silence: {}", told);
        if is_taken && !is_rejected(at) {
            said.extend(facts_of.iter().map(|it| format!("{:#x} {} {}", it.0, it.1, it.2.text())));
        }
        let ends_are_there = match object {
            Object::Id(to) => is_loaded(*id) && is_loaded(*to),
            Object::Text(_) => is_loaded(*id),
        };
        let conflicts = lines.iter().any(|it| match it {
            Line::Said(id, of, object) => conflict(&facts_of, &facts(*id, *of, object)),
            Line::Kind(..) | Line::Garbage(_) => false,
        });
        if ends_are_there && is_fit(*id, *of, object, &kind) && !conflicts {
            prop_assert!(is_taken, "rejected without need: {}", told);
        }
    }
    for it in there.iter().filter(|it| !it.contains(" dgraph.type ")) {
        prop_assert!(said.contains(it), "{} was never said\n{:#?}\n{}", it, rejects, text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn what_a_line_says_is_there_or_the_line_is_told(lines in lines()) {
        let folder = Folder::new();
        let place = folder.store("a.db", TYPES);
        run(&folder, &place, &lines)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_a_line_says_is_in_postgresql_or_the_line_is_told(lines in lines()) {
        let folder = Folder::new();
        let database = database("");
        let place = in_postgres(&database.url(), TYPES);
        run(&folder, &place, &lines)?;
    }
}
