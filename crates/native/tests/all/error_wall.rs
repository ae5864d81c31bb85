//! Errors tell nothing of objects that a rule of `@auth` hides: in no position, of no filter that can fail.
//!
//! Two stores of the same types get the same operations of the same caller. One has all objects, the other those that the caller
//! sees. No filter fails on an object that is seen, and many on those that are not: the answers are equal, byte by byte.

use crate::auth_wall::{Asker, Numbers};
use crate::kit::{self, in_postgres};
use weir_engine::caller::Identity;

/// A caller who sees the notes by people whose rank is less than 2: the database has to look for them.
const CALLER: Asker = Asker { is_a: false, n: Some(2) };

const RULE: &str =
    r#"{ rule: """query($N: Int!) { queryNote { by(filter: { rank: { lt: $N } }) { nick } } }""" }"#;

/// A store that answers a document, for a caller if there is one.
type Answering = Box<dyn Fn(&str, Option<&Identity>) -> String>;

fn types() -> String {
    format!(
        "type Note @auth(query: {RULE}, update: {RULE}, delete: {RULE}) {{ name: String! @id  n: Int @search  size: Float @search
           body: String @search(by: [regexp, fulltext, term, ngram])  at: Point @search  area: Polygon @search
           by: Person @hasInverse(field: notes) }}
         type Person {{ nick: String! @id  rank: Int @search  notes: [Note] }}"
    )
}

/// Objects; the hidden ones lie so near the point where both coordinates are zero that their distance is too small for a number, and
/// their sizes add up to more than one can be.
fn added(is_whole: bool) -> Vec<String> {
    let polygon = |side: &str| {
        format!(
            "{{coordinates: [{{points: [{{longitude: 0, latitude: 0}}, {{longitude: {side}, latitude: 0}}, {{longitude: {side}, latitude: {side}}}]}}]}}"
        )
    };
    let mut notes = String::new();
    for at in 0..8 {
        let is_seen = at % 2 == 1;
        if !is_seen && !is_whole {
            continue;
        }
        let (n, place, size, body) =
            if is_seen { (1, "1.5", "2.5", "b c") } else { (3, "1e-200", "1e308", "secret aaaaaaaaaaaa") };
        notes.push_str(&format!(
            "{{name: \"note{at}\", n: {n}, size: {size}, body: \"{body} {at}\", at: {{longitude: {place}, latitude: {place}}}, \
             area: {}, by: {{nick: \"person{}\"}}}} ",
            polygon(if is_seen { place } else { "1e-150" }),
            if is_seen { at % 3 } else { 3 }
        ));
    }
    let people = (0..4).map(|at| format!("{{nick: \"person{at}\", rank: {}}}", if at == 3 { 9 } else { 1 }));
    let people: Vec<String> = people.collect();
    vec![
        format!("mutation {{ addPerson(input: [{}]) {{ numUids }} }}", people.join(" ")),
        format!("mutation {{ addNote(input: [{notes}]) {{ numUids }} }}"),
    ]
}

/// A filter of notes.
fn filter(numbers: &mut Numbers, depth: usize) -> String {
    const PATTERNS: [&str; 7] = ["/sec/", "/(/", "/^b.*c/i", "/a{300}/", "/(a)\\\\1/", "/[z-a]/", "secret"];
    const POINT: &str = "{longitude: 0, latitude: 0}";
    const AROUND: &str = "{polygon: {coordinates: [{points: [{longitude: -1e-150, latitude: -1e-150}, \
        {longitude: 1e-150, latitude: -1e-150}, {longitude: 1e-150, latitude: 1e-150}, {longitude: -1e-150, latitude: 1e-150}]}]}}";
    match numbers.below(if depth == 0 { 7 } else { 10 }) {
        0 | 1 => format!("{{ body: {{ regexp: \"{}\" }} }}", PATTERNS[numbers.below(PATTERNS.len())]),
        2 => format!("{{ at: {{ near: {{ distance: {}, coordinate: {POINT} }} }} }}", numbers.below(3)),
        3 => format!("{{ at: {{ within: {AROUND} }} }}"),
        4 => format!("{{ area: {{ contains: {{ point: {POINT} }} }} }}"),
        5 => format!("{{ area: {{ intersects: {AROUND} }} }}"),
        6 if numbers.below(2) == 0 => "{ body: { alloftext: \"secret\" } }".to_owned(),
        6 => "{ body: { ngram: \"secret (aaa\" } }".to_owned(),
        7 => format!("{{ not: {} }}", filter(numbers, depth - 1)),
        8 => format!("{{ or: [{}, {}] }}", filter(numbers, depth - 1), filter(numbers, depth - 1)),
        _ => format!("{{ by: {{ notes: {} }} }}", filter(numbers, depth - 1)),
    }
}

/// An operation with a filter that can fail, in one of all positions.
fn operation(numbers: &mut Numbers) -> String {
    let filter = filter(numbers, 2);
    match numbers.below(9) {
        0 | 1 => format!("{{ queryNote(filter: {filter}, order: {{ asc: name }}) {{ name body }} }}"),
        2 => format!(
            "{{ queryPerson(order: {{ asc: nick }}) {{ nick notes(filter: {filter}, order: {{ asc: name }}) {{ name }} }} }}"
        ),
        3 => format!("{{ queryPerson(filter: {{ notes: {filter} }}, order: {{ asc: nick }}) {{ nick }} }}"),
        4 => format!("{{ aggregateNote(filter: {filter}) {{ count sizeSum sizeAvg }} }}"),
        5 => format!(
            "{{ queryPerson(order: {{ asc: nick }}) {{ notesAggregate(filter: {filter}) {{ count sizeSum }} }} }}"
        ),
        6 => format!(
            "{{ queryPerson(order: {{ asc: nick }}) @cascade {{ nick notes(filter: {filter}) {{ name }} }} }}"
        ),
        7 => {
            format!("mutation {{ updateNote(input: {{ filter: {filter}, set: {{ n: 1 }} }}) {{ numUids }} }}")
        }
        _ => format!("mutation {{ deleteNote(filter: {filter}) {{ numUids msg }} }}"),
    }
}

fn run(cases: usize, store: &dyn Fn(&str) -> Answering) {
    let sdl = types();
    let caller = CALLER.identity(&sdl);
    let mut numbers = Numbers(0x00e4_4045);
    let mut answered = 0;
    let mut refused = 0;
    let mut sides: Option<[Answering; 2]> = None;
    for _ in 0..cases {
        let [whole, seen] = sides.get_or_insert_with(|| {
            [true, false].map(|is_whole| {
                let store = store(&sdl);
                for mutation in added(is_whole) {
                    let answer = store(&mutation, None);
                    assert!(!answer.contains("errors"), "{answer}");
                }
                store
            })
        });
        let operation = operation(&mut numbers);
        let found = whole(&operation, Some(&caller));
        let expected = seen(&operation, Some(&caller));
        assert_eq!(found, expected, "{operation}");
        *if expected.contains("\"errors\"") { &mut refused } else { &mut answered } += 1;
        if operation.starts_with("mutation") && !expected.contains("\"errors\"") {
            sides = None;
        }
    }
    println!("answered: {answered}, refused: {refused}");
    assert!(answered > refused && refused * 20 > answered, "one kind of answer is rare");
}

#[test]
fn errors_tell_nothing_of_hidden_objects_on_sqlite() {
    run(150, &|sdl| {
        let served = kit::serve(sdl, "");
        Box::new(move |document, caller| match caller {
            Some(caller) => served.ask_as(document, caller),
            None => served.ask(document, ""),
        })
    });
}

#[test]
fn errors_tell_nothing_of_hidden_objects_on_postgres() {
    run(80, &|sdl| {
        let served = in_postgres::serve(sdl, "");
        Box::new(move |document, caller| match caller {
            Some(caller) => served.ask_as(document, caller),
            None => served.ask(document, ""),
        })
    });
}
