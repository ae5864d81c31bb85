//! Derived interfaces: their fields with arguments, and the interfaces that they implement.

use crate::kit::{built, json, run};
use weir_runtime::{Context, Input, Interface, Object, Schema, SchemaBuilder, batch, root};

const SDL: &str = r#"
type Query {
  named: [Named!]!
  node: Node
  user: User!
}

interface Node {
  id: ID!
}

interface Entity implements Node {
  id: ID!
  age: Int
}

"Has a name and friends."
interface Named implements Entity & Node {
  id: ID!
  age: Int
  name: String!
  "The best first."
  friends(
    "At most."
    first: Int! = 2 @validate(max: 3)
    nameContains: String
  ): [User!]!
}

type User implements Named & Entity & Node {
  id: ID!
  age: Int
  name: String!
  friends(
    "At most."
    first: Int! = 2 @validate(max: 3)
    nameContains: String
  ): [User!]!
}

type Team implements Named & Entity & Node {
  id: ID!
  age: Int
  name: String!
  friends(
    "At most."
    first: Int! = 2 @validate(max: 3)
    nameContains: String
  ): [User!]!
}
"#;

#[derive(Object)]
struct User {
    #[graphql(id)]
    id: String,
    age: Option<i32>,
    name: String,
}

#[derive(Object)]
struct Team {
    #[graphql(id)]
    id: String,
    age: Option<i32>,
    name: String,
}

#[derive(Input)]
struct FriendsArguments {
    /// At most.
    #[graphql(default = "2", validate(max = 3))]
    first: i32,
    name_contains: Option<String>,
}

// The type `Team` is no variant: it implements `Node` as it implements `Named`.
#[derive(Interface)]
#[graphql(fields(#[graphql(id)] id: String))]
enum Node {
    User(User),
}

#[derive(Interface)]
#[graphql(implements(Node), fields(#[graphql(id)] id: String, age: Option<i32>))]
enum Entity {
    User(User),
}

/// Has a name and friends.
#[derive(Interface)]
#[graphql(
    implements(Entity),
    fields(
        #[graphql(id)]
        id: String,
        age: Option<i32>,
        name: String,
        /// The best first.
        #[graphql(arguments = FriendsArguments)]
        friends: Vec<User>,
    )
)]
enum Named {
    Team(Team),
    User(User),
}

fn user(id: usize) -> User {
    User { id: id.to_string(), age: Some(30), name: format!("user {id}") }
}

fn friends_of(arguments: &FriendsArguments) -> Vec<User> {
    let part = arguments.name_contains.as_deref().unwrap_or_default();
    (1..).map(user).filter(|it| it.name.contains(part)).take(arguments.first as usize).collect()
}

fn named(_: &(), _: &Context) -> Vec<Named> {
    let team = Team { id: "7".into(), age: None, name: "team".into() };
    vec![Named::Team(team), Named::User(user(1))]
}

fn friends<P>(parents: &[&P], arguments: &FriendsArguments, _: &Context) -> Vec<Vec<User>> {
    parents.iter().map(|_| friends_of(arguments)).collect()
}

fn by_derive() -> SchemaBuilder {
    Schema::code_first()
        .field("Query.named", root(named))
        .field("Query.node", root(|_: &(), _: &Context| Some(Node::User(user(2)))))
        .field("Query.user", root(|_: &(), _: &Context| user(3)))
        .add_type::<Entity>()
        .field("Team.friends", batch(friends::<Team>))
        .field("User.friends", batch(friends::<User>))
}

fn by_sdl() -> Schema {
    built(
        Schema::builder(SDL)
            .resolve("Query.named", root(named))
            .resolve("Query.node", root(|_: &(), _: &Context| Some(Node::User(user(2)))))
            .resolve("Query.user", root(|_: &(), _: &Context| user(3)))
            .resolve("Team.friends", batch(friends::<Team>))
            .resolve("User.friends", batch(friends::<User>)),
    )
}

#[test]
fn a_derived_interface_is_printed_as_that_of_its_sdl() {
    assert_eq!(built(by_derive()).sorted_sdl(), by_sdl().sorted_sdl());
}

#[test]
fn fields_of_a_derived_interface_take_arguments() {
    let code = built(by_derive());
    let sdl = by_sdl();
    for query in [
        "{ named { __typename id age friends(first: 1) { name } } }",
        "{ named { name friends(nameContains: \"2\") { id } } node { id ... on Named { name friends { id } } } }",
        "{ user { friends(first: 3) { id } ... on Node { id } ... on Entity { age } } }",
        "{ named { friends(first: 4) { id } } }",
        "{ __type(name: \"Named\") { interfaces { name } possibleTypes { name } fields { args { name } } } }",
    ] {
        assert_eq!(json(&code, query), json(&sdl, query), "{query}");
    }
    let friends = "{ named { ... on Team { friends { id } } ... on User { age } } }";
    assert_eq!(run(&code, friends), r#"{"data":{"named":[{"friends":[{"id":"1"},{"id":"2"}]},{"age":30}]}}"#);
    let refused = json(&code, "{ user { ... on Named { friends(first: 4) { id } } } }");
    assert_eq!(refused["errors"][0]["message"], "`first`: it is above 3");
    assert_eq!(refused["errors"][0]["path"], serde_json::json!(["user", "friends"]));
}

fn refused(builder: SchemaBuilder) -> String {
    builder.build().err().expect("it is refused").to_string()
}

#[derive(Interface)]
#[graphql(implements(User), fields(name: String))]
enum OfObject {
    Team(Team),
}

#[derive(Interface)]
#[graphql(implements(Second), fields(name: String))]
enum First {
    Team(Team),
}

#[derive(Interface)]
#[graphql(implements(First), fields(name: String))]
enum Second {
    Team(Team),
}

#[derive(Interface)]
#[graphql(implements(Node), fields(name: String))]
enum WithoutId {
    Team(Team),
}

#[test]
fn an_interface_that_does_not_fit_is_found_when_the_schema_is_built() {
    let found = refused(by_derive().add_type::<OfObject>());
    assert!(
        found.contains("Type OfObject must only implement Interface types, it cannot implement User."),
        "{found}"
    );
    let found = refused(by_derive().add_type::<First>());
    assert!(found.contains("Type First cannot implement itself"), "{found}");
    let found = refused(by_derive().add_type::<WithoutId>());
    assert!(found.contains("Interface field Node.id expected but WithoutId does not provide it."), "{found}");
    let lacking = Schema::code_first().field("Query.named", root(named));
    let found = refused(lacking.field("User.friends", batch(friends::<User>)));
    assert!(
        found.contains("Interface field Named.friends expected but Team does not provide it."),
        "{found}"
    );
}
