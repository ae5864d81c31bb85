//! The types of `mid.graphql` for juniper, which has no schemas in SDL: only their introspection is asked for.

#![expect(
    dead_code,
    reason = "juniper's macro makes types of the interfaces' traits; nothing implements the traits"
)]

use crate::juniper::text;
use futures_util::stream::{self, BoxStream};
use juniper::{
    GraphQLEnum, GraphQLInputObject, GraphQLScalar, GraphQLUnion, ID, RootNode, Variables, graphql_interface,
    graphql_object, graphql_subscription,
};

/// Comes from a place
#[graphql_interface]
#[graphql(for = [Boat, Raft])]
trait Local {
    /// The place
    fn origin(&self) -> String;
}

/// Does not sink
#[graphql_interface]
#[graphql(for = [Boat, Raft, Timber])]
trait Floating {
    /// Load over water
    fn draught(&self) -> f64;
    /// The place the thing comes from
    fn origin(&self) -> String;
    #[graphql(name = "self")]
    fn itself(&self) -> Option<FloatingValue>;
}

/// Made from timber
#[graphql_interface]
#[graphql(for = [Boat, Raft, Timber])]
trait Timbered {
    /// The yard that made it
    fn yard(&self) -> Yard;
}

/// Where craft are made
#[derive(Clone, Copy, GraphQLEnum)]
enum Yard {
    /// Hard wood
    Oak,
    /// Soft wood
    Pine,
    /// Rare wood
    #[graphql(deprecated = "Not in use")]
    Ebony,
}

/// Seconds since the start
#[derive(GraphQLScalar)]
#[graphql(transparent)]
struct Moment(i32);

/// How to sort
#[derive(GraphQLInputObject)]
struct Sorting {
    /// UP or DOWN
    direction: String,
}

/// How to find craft
#[derive(GraphQLInputObject)]
struct CraftFilter {
    /// Its yard
    yard: Yard,
    /// Its owner
    #[graphql(default = Some("Port Authority".to_owned()))]
    owner: Option<String>,
    /// Its depth
    #[graphql(default = Some(0.3))]
    draught: Option<f64>,
    #[graphql(default = Some(false))]
    certified: Option<bool>,
    #[graphql(name = "order_by", default = Some(Sorting { direction: "UP".to_owned() }))]
    order_by: Option<Sorting>,
}

/// A filter as a default.
fn from_yard(yard: Yard) -> CraftFilter {
    CraftFilter { yard, owner: None, draught: None, certified: None, order_by: None }
}

struct Boat;
struct Raft;
struct Timber;
struct Harbour;
struct Tug;
struct Sailor;
struct Strict;
struct Query;
struct Mutation;
struct Subscription;

/// Any craft
#[derive(GraphQLUnion)]
enum Craft {
    Raft(Raft),
    Boat(Boat),
}

/// All working things
#[derive(GraphQLUnion)]
enum Vessel {
    Tug(Tug),
    Sailor(Sailor),
}

/// A craft with a keel
#[graphql_object]
#[graphql(impl = [FloatingValue, TimberedValue, LocalValue])]
impl Boat {
    /// Key of the boat
    fn id() -> i32 {
        1
    }
    /// Kind of boat
    #[graphql(deprecated = "Named otherwise")]
    fn kind() -> &'static str {
        "ketch"
    }
    /// Its home
    fn origin() -> &'static str {
        "Hull"
    }
    /// Its yard
    fn yard() -> Yard {
        Yard::Oak
    }
    /// Boats like it
    fn similar(
        yard: Vec<Yard>,
        #[graphql(default = Some(vec![Some(Yard::Oak)]))] other_yards: Option<Vec<Option<Yard>>>,
    ) -> Option<Boat> {
        (yard.len() == other_yards?.len()).then_some(Boat)
    }
    /// A craft that goes with it
    fn companion(input: Option<CraftFilter>) -> Option<Craft> {
        input.map(|_| Craft::Raft(Raft))
    }
    /// Depth under water
    fn draught() -> f64 {
        1.5
    }
    #[graphql(name = "self")]
    fn itself() -> Option<FloatingValue> {
        None
    }
}

/// A craft of logs
#[graphql_object]
#[graphql(impl = [FloatingValue, TimberedValue, LocalValue])]
impl Raft {
    fn id() -> ID {
        ID::from("1".to_owned())
    }
    /// The yard of the logs
    fn yard() -> Yard {
        Yard::Pine
    }
    /// Its home
    fn origin() -> &'static str {
        "Hull"
    }
    /// Loads it can take
    fn loads(limit: Option<i32>) -> Option<Vec<Option<String>>> {
        limit.map(|_| Vec::new())
    }
    fn draught() -> f64 {
        0.5
    }
    fn all_craft() -> Option<Vec<Option<Craft>>> {
        None
    }
    #[graphql(name = "self")]
    fn itself() -> Option<FloatingValue> {
        None
    }
}

/// Wood for sale
#[graphql_object]
#[graphql(impl = [FloatingValue, TimberedValue])]
impl Timber {
    /// Which tree it was
    fn tree() -> Option<&'static str> {
        None
    }
    fn draught() -> f64 {
        0.5
    }
    fn origin() -> &'static str {
        "Hull"
    }
    #[graphql(name = "self")]
    fn itself() -> Option<FloatingValue> {
        None
    }
    fn yard() -> Yard {
        Yard::Pine
    }
}

/// A place for craft
#[graphql_object]
impl Harbour {
    fn id() -> ID {
        ID::from("1".to_owned())
    }
    fn boat() -> Option<Boat> {
        None
    }
    fn rafts() -> Option<Vec<Option<Raft>>> {
        None
    }
}

/// A strong small ship
#[graphql_object]
impl Tug {
    fn id() -> ID {
        ID::from("1".to_owned())
    }
    fn name() -> Option<&'static str> {
        None
    }
    fn last_tow() -> Option<Craft> {
        Some(Craft::Boat(Boat))
    }
}

/// A person at sea
#[graphql_object]
impl Sailor {
    fn id() -> ID {
        ID::from("1".to_owned())
    }
    fn name() -> Option<&'static str> {
        None
    }
    fn last_tow() -> Option<Craft> {
        None
    }
}

#[graphql_object]
impl Strict {
    fn count(returning: Option<i32>) -> i32 {
        returning.unwrap_or(1)
    }
    fn deep() -> Strict {
        Strict
    }
}

/// Root of all reads
#[graphql_object]
impl Query {
    fn boat(id: i32) -> Option<Boat> {
        (id == 1).then_some(Boat)
    }
    fn crew(id: ID) -> Option<Sailor> {
        (&*id == "1").then_some(Sailor)
    }
    fn harbour() -> Option<Harbour> {
        Some(Harbour)
    }
    /// Boats that were built in a yard
    fn boats_from(#[graphql(default = Some(Yard::Oak))] yard: Option<Yard>) -> Option<Vec<Option<Boat>>> {
        yard.map(|_| Vec::new())
    }
    /// What the port captain likes
    fn favourite() -> Option<FloatingValue> {
        None
    }
    fn tug() -> Option<Tug> {
        None
    }
    /// Look for any craft
    fn find_craft(
        #[graphql(default = Some(vec![Some(from_yard(Yard::Pine))]))] query: Option<Vec<Option<CraftFilter>>>,
        former_query: Option<Vec<CraftFilter>>,
        one: Option<CraftFilter>,
        before: Option<Moment>,
    ) -> Craft {
        match (query, former_query, one, before) {
            (None, None, None, None) => Craft::Raft(Raft),
            _ => Craft::Boat(Boat),
        }
    }
    fn all_vessels() -> Vec<Option<Vessel>> {
        vec![Some(Vessel::Tug(Tug)), Some(Vessel::Sailor(Sailor))]
    }
    fn all_craft(fail_at: Option<i32>) -> Option<Vec<Option<Craft>>> {
        fail_at.map(|_| Vec::new())
    }
    fn all_floating() -> Option<Vec<Option<FloatingValue>>> {
        Some(vec![Some(Timber.into())])
    }
    /// Always fails
    fn strict() -> Strict {
        Strict
    }
}

/// Root of all writes
#[graphql_object]
impl Mutation {
    /// Adds one number
    fn push(value: i32, former_input: Option<CraftFilter>) -> Vec<i32> {
        former_input.map(|_| value).into_iter().collect()
    }
}

#[graphql_subscription]
impl Subscription {
    async fn tide() -> BoxStream<'static, Option<String>> {
        Box::pin(stream::empty())
    }
}

pub fn introspection(query: &str) -> Box<dyn Fn() -> Vec<u8>> {
    let (schema, query) = (RootNode::new(Query, Mutation, Subscription), query.to_owned());
    Box::new(move || text(juniper::execute_sync(&query, None, &schema, &Variables::new(), &())))
}
