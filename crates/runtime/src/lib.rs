//! Weir as a library: a GraphQL schema with resolvers in Rust, executed as a compiled plan.
//!
//! An SDL says what there is, resolvers say where it comes from. A resolver is called once for all parents of a step ([`batch`]),
//! never once per object, so there is no N + 1 problem and no loader to write for most fields; [`leaf()`] fields are written straight
//! from the object into the response.
//!
//! ```
//! use weir_runtime::{Context, Request, Schema, batch, leaf, record, root};
//!
//! struct User { id: i32, name: String }
//! record!(User { id, name });
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Schema::builder(
//!     "type Query { users: [User!]! } type User { id: ID! name: String! initial: String posts: [String!]! }",
//! )
//! .resolve("Query.users", root(|_: &(), _: &Context| vec![User { id: 1, name: "Ada".into() }]))
//! .resolve("User.id", leaf(|user: &User| user.id.to_string()))
//! .resolve("User.initial", leaf(|user: &User| user.name.get(..1).map(str::to_owned)))
//! .resolve("User.posts", batch(|users: &[&User], _: &(), _: &Context| {
//!     users.iter().map(|user| vec![format!("post of {}", user.name)]).collect::<Vec<_>>()
//! }))
//! .build()?;
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! let response = runtime.block_on(schema.execute(Request::new("{ users { id initial posts } }")));
//! assert_eq!(response.text(), r#"{"data":{"users":[{"id":"1","initial":"A","posts":["post of Ada"]}]}}"#);
//! # Ok(())
//! # }
//! ```
//!
//! [`Schema::code_first`] makes the SDL from Rust types with derive macros.
//!
//! The manual is `docs/library.md`.
//!
//! **Invariant:** everything that can be wrong with a schema and the types of its resolvers is an error of
//! [`SchemaBuilder::build`].
//!
//! **Cost:** per request a fixed number of allocations, per step a few, per field and row none.

// The derive macros name the crate, which uses them itself.
extern crate self as weir_runtime;

mod context;
#[cfg(feature = "http")]
pub mod http;
mod input;
mod library;
pub mod relay;
mod request;
mod resolve_error;
mod resolver;
mod rust_types;
mod schema;
mod step;
mod testing;

pub use context::Context;
pub use context::batch_loader::{BoxFuture, LoadKey, Loader, LoaderReply};
pub use context::data::Data;
pub use context::hook::{HookCall, PlannedCall, StepHook};
pub use context::lookahead::{Lookahead, SelectedField, SelectedType};
#[doc(hidden)]
pub use input::input_macros::{bind_input_by, bind_input_variant};
pub use input::input_types::Maybe;
pub use input::uploaded_file::Upload;
pub use input::value_checks::Check;
pub use input::{
    BoundInput, Input, InputBinder, InputError, InputFields, InputObject, InputValue, Shape, Shapes,
};
pub use library::request_hooks::{RequestCall, RequestHook};
pub use request::{IncrementalResponse, Request, Response};
pub use resolve_error::{BuildError, RESOLVER_FAILED, ResolveError};
pub use resolver::any_resolver::AnyResolver;
pub use resolver::leaf_resolver::{Leaf, TypedLeaf, leaf, leaf_option_ref, leaf_ref};
pub use resolver::load_batch::{BatchKeys, load_batch};
pub use resolver::parent_keys::{KeyRow, async_keyed, keyed};
pub use resolver::{
    BatchReply, LoadKeys, Resolver, TypedResolver, async_batch, async_each, async_root, batch, constant,
    each, load, root,
};
pub use rust_types::any_input::{AnyArguments, AnyInput};
pub use rust_types::custom_scalar::{Enumeration, Scalar, ScalarValue, ScalarWriter};
pub use rust_types::type_definitions::{DefinitionKind, Member, TypeDefinition, TypeDefinitions};
pub use rust_types::typed::{GraphqlFields, GraphqlType};
pub use rust_types::uploads::Uploads;
pub use schema::Schema;
pub use schema::builder::SchemaBuilder;
pub use schema::typed_fields::TypedField;
pub use step::subscription_events::stream;
pub use testing::FieldRun;

/// Derive macros of code-first schemas; the rules are in `docs/library/code-first.md`.
///
/// ```
/// use weir_runtime::{Context, Enum, Input, Interface, Object, OneOf, Request, Scalar, ScalarValue, ScalarWriter, Schema, Union, root};
///
/// /// A cat.
/// #[derive(Object)]
/// struct Cat { name: String, #[graphql(deprecated = "count them")] lives: i32, #[graphql(skip)] secret: i32 }
/// #[derive(Object)]
/// struct Dog { name: String }
///
/// #[derive(Clone, Copy, Enum)]
/// enum Mood { Calm, VeryWild }
///
/// #[derive(Union)]
/// enum Pet { Cat(Cat), Dog(Dog) }
///
/// #[derive(Interface)]
/// #[graphql(fields(name: String))]
/// enum Named { Cat(Cat), Dog(Dog) }
///
/// #[derive(Scalar)]
/// #[graphql(name = "Money", read = read_money, write = write_money)]
/// struct Cents(i64);
/// fn read_money(value: ScalarValue<'_>) -> Result<Cents, String> {
///     value.number().and_then(|it| it.parse().ok()).map(Cents).ok_or_else(|| "it is no number".into())
/// }
/// fn write_money(money: &Cents, writer: &mut ScalarWriter<'_>) {
///     writer.int(money.0);
/// }
///
/// #[derive(OneOf)]
/// enum PetBy { #[graphql(id)] Id(String), #[graphql(validate(max_length = 10))] FullName(String) }
/// #[derive(Input)]
/// struct PetArguments { by: PetBy, #[graphql(default = "[CALM]")] moods: Vec<Mood> }
///
/// fn pet(arguments: &PetArguments, _: &Context) -> Pet {
///     let name = match &arguments.by {
///         PetBy::Id(id) => format!("number {id}"),
///         PetBy::FullName(name) => name.clone(),
///     };
///     match arguments.moods[..] {
///         [Mood::VeryWild, ..] => Pet::Dog(Dog { name }),
///         _ => {
///             let cat = Cat { name, lives: 9, secret: 1 };
///             assert_eq!(cat.secret, 1);
///             Pet::Cat(cat)
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = Schema::code_first()
///     .field("Query.pet", root(pet))
///     .field("Query.named", root(|_: &(), _: &Context| Named::Dog(Dog { name: "Rex".into() })))
///     .field("Query.price", root(|_: &(), _: &Context| Cents(5)))
///     .field("Query.mood", root(|_: &(), _: &Context| Mood::VeryWild))
///     .build()?;
/// let query = r#"{ pet(by: { fullName: "Tom" }) { ... on Cat { name } } named { name } price mood }"#;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// let answer = runtime.block_on(schema.execute(Request::new(query)));
/// let expected = r#"{"data":{"pet":{"name":"Tom"},"named":{"name":"Rex"},"price":5,"mood":"VERY_WILD"}}"#;
/// assert_eq!(answer.text(), expected);
/// let query = r#"{ pet(by: { fullName: "Rumpelstilzchen" }) { __typename } }"#;
/// let refused = runtime.block_on(schema.execute(Request::new(query))).at("errors.0.message");
/// assert_eq!(refused.as_deref(), Some("\"`by.fullName`: it has 15 characters, at most 10 are taken\""));
/// # Ok(())
/// # }
/// ```
pub use weir_derive::{Enum, Input, Interface, Object, OneOf, Scalar, Union};

pub use weir_engine::caller::Identity;
pub use weir_engine::compose::Join;
pub use weir_engine::demand::{CostWeight, DemandControl, DemandMode, ListSize};
pub use weir_engine::engine::{IncrementForm, Outcome, Settings};
pub use weir_engine::memory::{Answer, Object, RawJson, Records, Value};
pub use weir_engine::observer::{
    DatabaseAddress, FetchOutcome, ObservedCall, ObservedFetch, ObservedOperation, ObservedStage, Observer,
    Stage,
};
/// Makes an enum of records a union or interface; see [`weir_engine::one_of`].
pub use weir_engine::one_of as union;
/// Makes a struct an object type; see [`weir_engine::record`].
pub use weir_engine::record;
pub use weir_engine::source::{Headers, PlannedStep, Source};
pub use weir_engine::span::SpanContext;
pub use weir_engine::usage::{CountedOperation, OperationCounts, OperationName, Usage};
pub use weir_language::limits::Limits;
pub use weir_language::schema::TypeRef;

/// Items that the macros of this crate expand to.
#[doc(hidden)]
pub mod macros {
    pub use crate::rust_types::custom_scalar::{
        bind_enumeration, bind_scalar, enumeration_column, enumeration_shape, read_enumeration, read_scalar,
        scalar_column, scalar_shape, write_enumeration, write_scalar,
    };
    pub use crate::rust_types::type_definitions::{DefinitionKind, Member, TypeDefinition, TypeDefinitions};
    pub use crate::rust_types::typed::{ObjectFields, as_id, reference_by};
    pub use weir_engine::memory::{Answer, Binder, Scope, Spot, Unbound, Writer, join_names};
    pub use weir_engine::rows::Column;
}
