//! Derive macros: a schema of Rust types is the schema of its SDL.

use crate::kit::{built, run};
use std::sync::Arc;
use weir_runtime::{
    Context, Enum, Input, Interface, Maybe, Object, OneOf, ResolveError, Scalar, ScalarValue, ScalarWriter,
    Schema, SchemaBuilder, Union, batch, each, enumeration, input, input_one_of, leaf, leaf_option_ref,
    leaf_ref, record, root, scalar, stream, union,
};

const SDL: &str = r#"
type Query {
  "All pets, or some of them."
  pets(filter: PetFilter, first: Int! = 10): [Pet!]!
  named(by: PetBy!): Named
  price(of: Money!): Money!
  old: Int @deprecated(reason: "use `pets`")
}

union Pet = Cat | Dog

"""
A cat.

It says "miau".
"""
type Cat implements Named {
  id: ID!
  name: String!
  "Of nine."
  livesLeft: Int!
  type: String @deprecated
  mood: Mood!
  friends: [Cat!]!
  shout(times: Int! = 2): String!
}

enum Mood {
  "Asleep."
  CALM
  VERY_WILD @deprecated(reason: "they calm down")
}

type Dog implements Named {
  name: String!
  weight: Float
}

"Which pets."
input PetFilter {
  "Part of the name."
  nameContains: String
  moods: [Mood!]! = [CALM]
  and: [PetFilter!]
}

interface Named {
  "What it is called by."
  name: String!
}

input PetBy @oneOf {
  id: ID
  fullName: String
}

scalar Money @specifiedBy(url: "https://example.com/money")

type Subscription {
  ticks: Int!
}
"#;

fn name_of(pet_by: Result<&str, &str>) -> String {
    match pet_by {
        Ok(id) => format!("number {id}"),
        Err(name) => name.to_uppercase(),
    }
}

fn cents(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "it is no whole number of cents".to_owned())
}

/// The types by hand and by derive have the same fields: the resolvers are written once.
macro_rules! resolvers {
    () => {
        fn cat(name: &str, friends: &[Arc<Cat>]) -> Cat {
            let id = name.len().to_string();
            let name = name.to_owned();
            Cat {
                id,
                name,
                lives_left: 9,
                kind: Some("tabby".into()),
                mood: Mood::VeryWild,
                friends: friends.into(),
            }
        }

        fn pets(arguments: &PetsArguments, _: &Context) -> Vec<Pet> {
            let kit = Arc::new(cat("Kit", &[]));
            let all = [Pet::Cat(cat("Tom", &[kit])), Pet::Dog(Dog { name: "Rex".into(), weight: None })];
            let filter = arguments.filter.as_ref();
            let part = filter.and_then(|it| match &it.name_contains {
                Maybe::Value(part) => Some(part.clone()),
                Maybe::Null | Maybe::Absent => None,
            });
            let is_calm_only = filter.is_some_and(|it| {
                it.moods == [Mood::Calm] && it.and.as_ref().is_some_and(|it| !it.is_empty())
            });
            let fits = |it: &Pet| match it {
                Pet::Cat(cat) => !is_calm_only && part.as_ref().is_none_or(|part| cat.name.contains(part)),
                Pet::Dog(dog) => part.as_ref().is_none_or(|part| dog.name.contains(part)),
            };
            all.into_iter().filter(fits).take(arguments.first as usize).collect()
        }

        fn named(arguments: &NamedArguments, _: &Context) -> Option<Named> {
            let name = name_of(match &arguments.by {
                PetBy::Id(id) => Ok(id),
                PetBy::FullName(name) => Err(name),
            });
            Some(if name.len() > 5 {
                Named::Dog(Dog { name, weight: Some(1.5) })
            } else {
                Named::Cat(cat(&name, &[]))
            })
        }

        fn price(arguments: &PriceArguments, _: &Context) -> Result<Money, ResolveError> {
            Ok(Money(arguments.of.0 * 2))
        }

        fn shouts(cats: &[&Cat], arguments: &ShoutArguments, _: &Context) -> Vec<String> {
            cats.iter().map(|cat| cat.name.repeat(arguments.times as usize)).collect()
        }
    };
}

mod by_hand {
    use super::*;

    pub(super) struct Cat {
        id: String,
        name: String,
        lives_left: i32,
        kind: Option<String>,
        mood: Mood,
        friends: Vec<Arc<Cat>>,
    }
    record!(Cat { id, name, lives_left as "livesLeft", kind, mood, friends });
    pub(super) struct Dog {
        name: String,
        weight: Option<f64>,
    }
    record!(Dog { name, weight });
    pub(super) enum Pet {
        Cat(Cat),
        Dog(Dog),
    }
    union!(Pet { Cat, Dog });
    pub(super) enum Named {
        Cat(Cat),
        Dog(Dog),
    }
    union!(Named { Cat, Dog });
    #[derive(Clone, Copy, PartialEq)]
    pub(super) enum Mood {
        Calm,
        VeryWild,
    }
    enumeration!(Mood { Calm => "CALM", VeryWild => "VERY_WILD" });
    struct PetFilter {
        name_contains: Maybe<String>,
        moods: Vec<Mood>,
        and: Option<Vec<PetFilter>>,
    }
    input!(PetFilter { name_contains as "nameContains", moods, and });
    enum PetBy {
        Id(String),
        FullName(String),
    }
    input_one_of!(PetBy { Id => "id", FullName => "fullName" });
    struct Money(i64);
    impl Scalar for Money {
        const NAME: &'static str = "Money";
        fn read(value: ScalarValue<'_>) -> Result<Self, String> {
            cents(value.number().unwrap_or_default()).map(Money)
        }
        fn write(&self, writer: &mut ScalarWriter<'_>) {
            writer.int(self.0);
        }
    }
    scalar!(Money);
    struct PetsArguments {
        filter: Option<PetFilter>,
        first: i32,
    }
    input!(PetsArguments { filter, first });
    struct NamedArguments {
        by: PetBy,
    }
    input!(NamedArguments { by });
    struct PriceArguments {
        of: Money,
    }
    input!(PriceArguments { of });
    struct ShoutArguments {
        times: i32,
    }
    input!(ShoutArguments { times });
    resolvers!();

    pub(super) fn schema() -> Schema {
        built(
            Schema::builder(SDL)
                .resolve("Query.pets", root(pets))
                .resolve("Query.named", root(named))
                .resolve("Query.price", root(price))
                .resolve("Query.old", root(|_: &(), _: &Context| None::<i32>))
                .resolve("Cat.type", each(|cat: &Cat, _: &(), _: &Context| cat.kind.clone()))
                .resolve("Cat.shout", batch(shouts))
                .resolve("Subscription.ticks", stream(|_: &(), _: &Context| futures_util::stream::iter([1]))),
        )
    }
}

mod by_derive {
    use super::*;

    /// A cat.
    ///
    /// It says "miau".
    #[derive(Object)]
    pub(super) struct Cat {
        #[graphql(id)]
        id: String,
        name: String,
        /// Of nine.
        lives_left: i32,
        #[graphql(name = "type", deprecated)]
        kind: Option<String>,
        mood: Mood,
        friends: Vec<Arc<Cat>>,
    }
    #[derive(Object)]
    pub(super) struct Dog {
        name: String,
        weight: Option<f64>,
    }
    #[derive(Union)]
    pub(super) enum Pet {
        Cat(Cat),
        Dog(Dog),
    }
    #[derive(Interface)]
    #[graphql(fields(
        /// What it is called by.
        name: String
    ))]
    pub(super) enum Named {
        Cat(Cat),
        Dog(Dog),
    }
    #[derive(Clone, Copy, PartialEq, Enum)]
    pub(super) enum Mood {
        /// Asleep.
        Calm,
        #[graphql(deprecated = "they calm down")]
        VeryWild,
    }
    /// Which pets.
    #[derive(Input)]
    struct PetFilter {
        /// Part of the name.
        name_contains: Maybe<String>,
        #[graphql(default = "[CALM]")]
        moods: Vec<Mood>,
        and: Option<Vec<PetFilter>>,
    }
    #[derive(OneOf)]
    enum PetBy {
        #[graphql(id)]
        Id(String),
        FullName(String),
    }
    #[derive(Scalar)]
    #[graphql(read = read_money, write = write_money, specified_by = "https://example.com/money")]
    struct Money(i64);
    fn read_money(value: ScalarValue<'_>) -> Result<Money, String> {
        cents(value.number().unwrap_or_default()).map(Money)
    }
    fn write_money(money: &Money, writer: &mut ScalarWriter<'_>) {
        writer.int(money.0);
    }
    #[derive(Input)]
    struct PetsArguments {
        filter: Option<PetFilter>,
        #[graphql(default = "10")]
        first: i32,
    }
    #[derive(Input)]
    struct NamedArguments {
        by: PetBy,
    }
    #[derive(Input)]
    struct PriceArguments {
        of: Money,
    }
    #[derive(Input)]
    struct ShoutArguments {
        #[graphql(default = "2")]
        times: i32,
    }
    resolvers!();

    pub(super) fn schema() -> Schema {
        built(
            Schema::code_first()
                .field("Query.pets", root(pets))
                .describe("Query.pets", "All pets, or some of them.")
                .field("Query.named", root(named))
                .field("Query.price", root(price))
                .field("Query.old", root(|_: &(), _: &Context| None::<i32>))
                .deprecate("Query.old", "use `pets`")
                .field("Cat.shout", batch(shouts))
                .field("Subscription.ticks", stream(|_: &(), _: &Context| futures_util::stream::iter([1]))),
        )
    }
}

#[test]
fn a_schema_of_types_is_printed_as_that_of_its_sdl() {
    assert_eq!(by_derive::schema().sorted_sdl(), by_hand::schema().sorted_sdl());
}

#[test]
fn a_schema_of_types_answers_as_that_of_its_sdl() {
    let code = by_derive::schema();
    let sdl = by_hand::schema();
    let fields = "__typename ... on Cat { id name livesLeft type mood friends { name shout } shout(times: 1) } ... on Dog { name weight }";
    let queries = [
        format!("{{ pets {{ {fields} }} }}"),
        format!("{{ pets(first: 1) {{ {fields} }} }}"),
        format!("{{ pets(filter: {{nameContains: \"Re\", moods: [VERY_WILD]}}) {{ {fields} }} }}"),
        format!("{{ pets(filter: {{nameContains: null, and: [{{}}]}}) {{ {fields} }} }}"),
        "{ pets(filter: {moods: null}) { __typename } }".into(),
        "{ named(by: {id: 7}) { name __typename } }".into(),
        "{ named(by: {fullName: \"tom\"}) { name __typename } }".into(),
        "{ named(by: {}) { name } }".into(),
        "{ price(of: 21) }".into(),
        "{ price(of: 2.5) }".into(),
        "{ old __type(name: \"PetFilter\") { description inputFields { name defaultValue type { kind } } } }"
            .into(),
    ];
    for query in &queries {
        assert_eq!(run(&code, query), run(&sdl, query), "{query}");
    }
    assert_eq!(
        run(&code, &queries[0]),
        r#"{"data":{"pets":[{"__typename":"Cat","id":"3","name":"Tom","livesLeft":9,"type":"tabby","mood":"VERY_WILD","friends":[{"name":"Kit","shout":"KitKit"}],"shout":"Tom"},{"__typename":"Dog","name":"Rex","weight":null}]}}"#
    );
    assert_eq!(run(&code, "{ price(of: 21) }"), r#"{"data":{"price":42}}"#);
}

fn refused(builder: SchemaBuilder) -> String {
    builder.build().err().expect("it is refused").to_string()
}

mod other {
    #[derive(weir_runtime::Object)]
    pub(super) struct Thing {
        pub(super) size: i32,
    }
}

/// Fields that GraphQL does not see are those that are skipped.
#[derive(Object)]
#[graphql(name = "Thing")]
struct Item {
    size: i32,
    #[graphql(skip)]
    secret: i32,
}

fn item() -> Item {
    Item { size: 1, secret: 2 }
}

#[test]
fn a_skipped_field_is_there_for_resolvers_only() {
    let schema = built(
        Schema::code_first()
            .field("Query.item", root(|_: &(), _: &Context| item()))
            .field("Thing.double", each(|item: &Item, _: &(), _: &Context| item.secret * 2)),
    );
    assert_eq!(run(&schema, "{ item { size double } }"), r#"{"data":{"item":{"size":1,"double":4}}}"#);
    assert!(run(&schema, "{ item { secret } }").contains("Cannot query field"));
}

#[derive(Input)]
struct ByType {
    r#type: String,
    #[graphql(name = "in")]
    inside: Option<ByPlace>,
}

#[derive(OneOf)]
enum ByPlace {
    HomeTown(String),
    PostalCode(i32),
}

#[derive(Object)]
struct Place {
    r#type: String,
    r#in: Vec<Option<i32>>,
}

#[test]
fn names_may_be_words_of_rust() {
    let place = |by: &ByType, _: &Context| {
        let r#in = match &by.inside {
            Some(ByPlace::PostalCode(code)) => vec![Some(*code), None],
            Some(ByPlace::HomeTown(name)) => vec![Some(name.len() as i32)],
            None => Vec::new(),
        };
        Place { r#type: by.r#type.clone(), r#in }
    };
    let schema = built(Schema::code_first().field("Query.place", root(place)));
    assert!(schema.sdl().contains("place(type: String!, in: ByPlace): Place!"), "{}", schema.sdl());
    assert!(schema.sdl().contains("type Place {\n  type: String!\n  in: [Int]!\n}"), "{}", schema.sdl());
    let query = "{ a: place(type: \"x\", in: {postalCode: 7}) { type in } b: place(type: \"y\", in: {homeTown: \"Ulm\"}) { in } }";
    assert_eq!(run(&schema, query), r#"{"data":{"a":{"type":"x","in":[7,null]},"b":{"in":[3]}}}"#);
}

#[test]
fn leaves_have_the_types_of_their_closures() {
    let schema = built(
        Schema::code_first()
            .field("Query.item", root(|_: &(), _: &Context| item()))
            .field("Thing.half", leaf(|item: &Item| f64::from(item.size) / 2.0))
            .field("Thing.secret", leaf_ref(|item: &Item| &item.secret))
            .field("Thing.word", leaf_option_ref(|item: &Item| (item.size > 1).then_some("big"))),
    );
    let fields = "type Thing {\n  size: Int!\n  half: Float!\n  secret: Int!\n  word: String\n}";
    assert!(schema.sdl().contains(fields), "{}", schema.sdl());
    assert_eq!(
        run(&schema, "{ item { half secret word } }"),
        r#"{"data":{"item":{"half":0.5,"secret":2,"word":null}}}"#
    );
}

#[test]
fn an_sdl_is_extended_by_fields_of_code() {
    let schema = built(
        Schema::builder("type Query { hello: String! } type Mutation { a: Int }")
            .resolve("Query.hello", root(|_: &(), _: &Context| "world"))
            .resolve("Mutation.a", root(|_: &(), _: &Context| 1))
            .field("Query.item", root(|_: &(), _: &Context| item())),
    );
    assert_eq!(run(&schema, "{ hello item { size } }"), r#"{"data":{"hello":"world","item":{"size":1}}}"#);
}

#[test]
fn errors_of_a_schema_of_types_are_found_when_it_is_built() {
    let items = || Schema::code_first().field("Query.item", root(|_: &(), _: &Context| item()));
    let found = refused(items().field("Query.other", root(|_: &(), _: &Context| other::Thing { size: 1 })));
    assert!(found.contains("`Thing` is the name of several Rust types"), "{found}");
    let found = refused(items().field("Itm.name", each(|_: &Item, _: &(), _: &Context| 1)));
    assert!(found.contains("Cannot extend type \"Itm\" because it is not defined."), "{found}");
    let found = refused(items().describe("Query.itm", "An item."));
    assert!(found.contains("`Query.itm` is no field that code adds"), "{found}");
    let found = refused(items().field("Thing.size", each(|_: &Item, _: &(), _: &Context| 1)));
    assert!(found.contains("size"), "{found}");
}
