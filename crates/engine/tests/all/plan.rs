//! Planning: schema and text in, printed plan out.

use crate::kit::{Documents, engine, print};
use serde_json::Value;
use weir_engine::compose::Join;

const SDL: &str = r#"
    interface Named { name: String! }
    type Cat implements Named { name: String!  lives: Int!  friends(first: Int = 3): [Named!] }
    type Dog implements Named { name: String!  tricks: [String!]!  owner: Person }
    type Person { id: Int!  name: String!  pets(kind: Kind): [Pet!]! }
    union Pet = Cat | Dog
    enum Kind { CAT DOG }
    input Filter { name: String  any: [Filter!]  age: Range }
    input Range { from: Int = 0  to: Int }
    type Query { person(id: Int!): Person  people(where: Filter, limit: Int): [Person!]!  named: [Named!] }
    type Mutation { add(name: String!): Person  drop(id: Int!): Boolean }
"#;

fn explain(query: &str, variables: &str) -> String {
    let source = Documents::new("zoo", SDL, |_, _| Ok(Value::Null));
    print(&engine(&[source], &[]), query, variables)
}

#[track_caller]
fn check(query: &str, expected: &str) {
    check_with(query, "{}", expected);
}

#[track_caller]
fn check_with(query: &str, variables: &str, expected: &str) {
    let expected: Vec<&str> = expected.lines().skip(1).map(|it| it.get(8..).unwrap_or("")).collect();
    let plan = explain(query, variables);
    assert_eq!(plan.trim_end(), expected.join("\n").trim_end(), "\n{plan}");
}

#[test]
fn fields_of_one_key_are_merged_in_the_order_they_first_appear() {
    check(
        "{ person(id: 1) { name } people { id } person(id: 1) { id ...P } } fragment P on Person { name id2: id }",
        "
        query
          piece 0 of zoo
            person(id: 1): Person
              name: String!
              id: Int!
              id2: id: Int! = id
            people: [Person!]!
              id: Int!",
    );
}

#[test]
fn fragments_are_expanded_per_concrete_type_and_type_names_are_constants() {
    check(
        "{ __typename named { __typename name ... on Cat { lives } ... on Dog { n: name tricks } } }",
        "
        query
          __typename: String! = \"Query\"
          piece 0 of zoo
            named: [Named!]
              on Cat
                __typename: String! = \"Cat\"
                name: String!
                lives: Int!
              on Dog
                __typename: String! = \"Dog\"
                name: String!
                n: name: String! = name
                tricks: [String!]!",
    );
}

#[test]
fn equal_work_under_other_names_is_marked_however_deep() {
    check(
        "{ a: person(id: 1) { name pets { ...C } } b: person(id: 1) { name pets { ...C } } c: person(id: 2) { name }
           d: person(id: 1) { name p: pets { ...C } } }
         fragment C on Cat { lives x: lives }",
        "
        query
          piece 0 of zoo
            a: person(id: 1): Person
              name: String!
              pets: [Pet!]!
                on Cat
                  lives: Int!
                  x: lives: Int! = lives
            c: person(id: 2): Person
              name: String!
            d: person(id: 1): Person
              name: String!
              p: pets: [Pet!]!
                on Cat
                  lives: Int!
                  x: lives: Int! = lives",
    );
}

#[test]
fn members_of_a_mutation_are_all_done() {
    check(
        r#"mutation { a: add(name: "x") { id } b: add(name: "x") { id } drop(id: 1) }"#,
        r#"
        mutation
          piece 0 of zoo
            a: add(name: "x"): Person
              id: Int!
            b: add(name: "x"): Person
              id: Int!
            drop(id: 1): Boolean"#,
    );
}

#[test]
fn literals_defaults_and_variables_are_arguments() {
    check_with(
        r#"query ($n: String, $k: Kind = DOG, $l: Int) {
             people(where: {any: [{name: $n}, {age: {to: 5}}]}, limit: $l) { pets(kind: $k) { ... on Cat { friends { name } } } }
           }"#,
        r#"{}"#,
        r#"
        query
          piece 0 of zoo
            people(where: {any: [{name: $n} {age: {from: 0 to: 5}}]} limit: $l): [Person!]!
              pets(kind: $k): [Pet!]!
                on Cat
                  friends(first: 3): [Named!]
                    on Cat
                      name: String!
                    on Dog
                      name: String!"#,
    );
}

#[test]
fn skipped_members_are_not_in_the_plan_and_up_to_four_variables_are_not_asked_again() {
    let query = "query ($a: Boolean!, $b: Boolean = true) {
        people { id @include(if: $a) name @skip(if: $b) @include(if: true) ... @include(if: $a) { n: name } }
        gone: people @skip(if: true) { id } }";
    check_with(
        query,
        r#"{"a": true}"#,
        "
        query
          piece 0 of zoo
            people: [Person!]!
              id: Int!
              n: name: String!",
    );
    check_with(
        query,
        r#"{"a": false, "b": false}"#,
        "
        query
          piece 0 of zoo
            people: [Person!]!
              name: String!",
    );
}

#[test]
fn more_steering_variables_are_specialised_too() {
    check_with(
        "query ($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!, $e: Boolean!) { people {
           id @include(if: $a) @skip(if: $b) name @include(if: $c) name @skip(if: $d) x: id @include(if: $e) y: id } }",
        r#"{"a": true, "b": true, "c": false, "d": false, "e": true}"#,
        "
        query
          piece 0 of zoo
            people: [Person!]!
              name: String!
              x: id: Int!
              y: id: Int! = x",
    );
}

#[test]
fn introspection_is_a_constant_unless_a_variable_is_in_it() {
    check_with(
        r#"query ($n: String!) { __type(name: "Cat") { name } t: __type(name: $n) { name } named { name } }"#,
        r#"{"n": "Dog"}"#,
        r#"
        query
          __type(name: "Cat"): __Type = {"name":"Cat"}
          piece 0 of introspection
            t: __type(name: $n): __Type
              name: String
          piece 1 of zoo
            named: [Named!]
              on Cat
                name: String!
              on Dog
                name: String!"#,
    );
}

#[test]
fn a_field_of_another_source_is_a_piece_below_with_the_keys_it_needs() {
    let music = Documents::new(
        "music",
        "type Album { id: Int!  title: String!  artistId: Int }  type Query { albums(limit: Int): [Album!]!  album(id: Int!): Album }",
        |_, _| Ok(Value::Null),
    );
    let people = Documents::new(
        "people",
        "type Artist { id: Int!  name: String!  favourite: Int }  type Query { artist(id: Int!, old: Boolean = false): Artist }",
        |_, _| Ok(Value::Null),
    );
    let joins = [
        Join {
            on: "Album".into(),
            name: "artist".into(),
            description: String::new(),
            source: "people".into(),
            target: "artist".into(),
            arguments: "(id: $this.artistId)".into(),
        },
        Join {
            on: "Artist".into(),
            name: "best".into(),
            description: String::new(),
            source: "music".into(),
            target: "album".into(),
            arguments: "(id: $this.favourite)".into(),
        },
    ];
    let engine = engine(&[music, people], &joins);
    let plan = print(
        &engine,
        "{ albums { title artist { name best { title } } b: artist(old: true) { name } } }",
        "{}",
    );
    let expected = "\
query
  piece 0 of music, as rows
    albums: [Album!]!
      (artistId)
      title: String!
      artist(old: false): Artist = piece 1
      b: artist(old: true): Artist = piece 2
  piece 1 of people, once for all Album of piece 0 by artistId, as rows
    artist(old: false id: $this.0): Artist
      (favourite)
      name: String!
      best: Album = piece 3
  piece 2 of people, once for all Album of piece 0 by artistId, as rows
    b: artist(old: true id: $this.0): Artist
      name: String!
  piece 3 of music, once for all Artist of piece 1 by favourite, as rows
    best: album(id: $this.0): Album
      title: String!
";
    assert_eq!(plan, expected, "\n{plan}");
}

#[test]
fn wide_interfaces_under_many_names_are_refused_before_they_fill_the_memory() {
    use std::fmt::Write;
    let mut sdl = String::from("interface Node { id: Int  next(n: Int): Node } type Query { node: Node }");
    for at in 0..2_000 {
        let _ = write!(sdl, " type T{at} implements Node {{ id: Int  next(n: Int): Node }}");
    }
    let source = Documents::new("wide", &sdl, |_, _| Ok(Value::Null));
    let engine = engine(&[source], &[]);
    let names: String = (0..150).map(|at| format!("a{at}: next(n: {at}) {{ id }} ")).collect();
    let answer = print(&engine, &format!("{{ node {{ {names} }} }}"), "{}");
    assert!(answer.contains("LIMIT_EXPANDED"), "{answer}");
    let plan = print(&engine, "{ node { next { next { next { next { id } } } } } }", "{}");
    assert!(plan.starts_with("query"), "{plan}");
}
