//! Unions, interfaces and enums in answers.

use crate::kit::{Log, built, json, note, noted, run};
use serde_json::json as value;
use std::sync::Arc;
use weir_runtime::{Context, Schema, SchemaBuilder, batch, each, enumeration, leaf, record, root, union};

#[derive(Clone)]
struct Cat {
    name: String,
    lives: i32,
}
record!(Cat { name, lives });

#[derive(Clone)]
struct Dog {
    name: String,
}
record!(Dog { name });

#[derive(Clone)]
enum Pet {
    Cat(Cat),
    Dog(Dog),
}
union!(Pet { Cat, Dog });

const SDL: &str = "
type Query { pets: [Pet]! named: [Named!]! favourite: Named }
union Pet = Cat | Dog
interface Named { name: String! }
type Cat implements Named { name: String! lives: Int! enemies: [Pet!]! mood: Mood! }
type Dog implements Named { name: String! enemies: [Pet!]! mood: Mood! }
enum Mood { CALM WILD }
";

#[derive(Clone, Copy)]
enum Mood {
    Calm,
    Wild,
}
enumeration!(Mood { Calm => "CALM", Wild => "WILD" });

fn pets() -> Vec<Option<Pet>> {
    let cat = |name: &str| Pet::Cat(Cat { name: name.into(), lives: 9 });
    let dog = |name: &str| Pet::Dog(Dog { name: name.into() });
    vec![Some(cat("Tom")), None, Some(dog("Rex")), Some(cat("Kit"))]
}

fn schema(log: &Log) -> SchemaBuilder {
    let cats = Arc::clone(log);
    let dogs = Arc::clone(log);
    Schema::builder(SDL)
        .resolve("Query.pets", root(|_: &(), _: &Context| pets()))
        .resolve("Query.named", root(|_: &(), _: &Context| pets().into_iter().flatten().collect::<Vec<_>>()))
        .resolve("Query.favourite", root(|_: &(), _: &Context| Dog { name: "Rex".into() }))
        .resolve(
            "Cat.enemies",
            batch(move |cats_here: &[&Cat], _: &(), _: &Context| {
                note(&cats, format!("cats {:?}", cats_here.iter().map(|it| &*it.name).collect::<Vec<_>>()));
                cats_here
                    .iter()
                    .map(|cat| vec![Pet::Dog(Dog { name: format!("foe of {}", cat.name) })])
                    .collect::<Vec<_>>()
            }),
        )
        .resolve(
            "Dog.enemies",
            batch(move |dogs_here: &[&Dog], _: &(), _: &Context| {
                note(&dogs, format!("dogs {:?}", dogs_here.iter().map(|it| &*it.name).collect::<Vec<_>>()));
                vec![vec![pets().remove(0).unwrap()]; dogs_here.len()]
            }),
        )
        .resolve("Cat.mood", each(|_: &Cat, _: &(), _: &Context| Mood::Wild))
        .resolve("Dog.mood", leaf(|_: &Dog| Mood::Calm))
}

#[test]
fn each_type_of_an_abstract_place_has_its_own_step() {
    let log = Log::default();
    let schema = built(schema(&log));
    let found = json(
        &schema,
        "{ pets { __typename ... on Cat { lives enemies { __typename ... on Named { name } } } \
           ... on Dog { name enemies { ... on Cat { lives mood } ... on Dog { mood } } } } }",
    );
    assert_eq!(
        found["data"]["pets"],
        value!([
            {"__typename": "Cat", "lives": 9, "enemies": [{"__typename": "Dog", "name": "foe of Tom"}]},
            null,
            {"__typename": "Dog", "name": "Rex", "enemies": [{"lives": 9, "mood": "WILD"}]},
            {"__typename": "Cat", "lives": 9, "enemies": [{"__typename": "Dog", "name": "foe of Kit"}]},
        ])
    );
    let mut calls = noted(&log);
    calls.sort();
    assert_eq!(calls, ["cats [\"Tom\", \"Kit\"]", "dogs [\"Rex\"]"]);
}

#[test]
fn one_field_of_an_interface_is_resolved_by_the_objects_type() {
    let log = Log::default();
    let schema = built(schema(&log));
    assert_eq!(
        run(
            &schema,
            "{ named { name ... on Cat { mood } ... on Dog { mood } } favourite { __typename name } }"
        ),
        r#"{"data":{"named":[{"name":"Tom","mood":"WILD"},{"name":"Rex","mood":"CALM"},{"name":"Kit","mood":"WILD"}],"favourite":{"__typename":"Dog","name":"Rex"}}}"#
    );
}

#[test]
fn a_type_that_cannot_stand_there_is_found_when_the_schema_is_built() {
    let sdl = "type Query { pet: Pet } union Pet = Dog type Dog { name: String! } type Cat { name: String! lives: Int! }";
    let refused = Schema::builder(sdl)
        .resolve("Query.pet", root(|_: &(), _: &Context| Cat { name: "Tom".into(), lives: 9 }))
        .build();
    let Err(error) = refused else { panic!("it is sound") };
    assert!(error.to_string().starts_with("error: `pet` is `Pet`, not Cat"), "{error}");
}
