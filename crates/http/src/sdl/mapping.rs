//! A parsed file of services: tables addressed by four-byte ids.
//!
//! **Invariant:** ids are only used with the [`Mapping`] that made them; types and fields are those of [`Mapping::schema`].

use crate::cache::Overruled;
use crate::call::AnswerRule;
use crate::selection::inputs::KeyField;
use crate::selection::{ExprId, Selection};
use crate::template::{Base, NameTemplate, Request};
use http::HeaderName;
use std::collections::HashMap;
use std::sync::Arc;
use weir_engine::compose::join_keys;
use weir_engine::demand::CostRule;
use weir_language::schema::{FieldId, Schema, TypeId};
use weir_language::span::Location;

/// Connectors of each place, in file order.
#[derive(Debug, Default)]
pub struct Places {
    pub(super) fields: HashMap<FieldId, Vec<ConnectorId>>,
    pub(super) types: HashMap<TypeId, Vec<ConnectorId>>,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index.
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )* };
}
ids! {
    /// Index into [`Mapping::services`].
    ServiceId,
    /// Index into [`Mapping::connectors`].
    ConnectorId,
    /// Index into [`Mapping::nodes`].
    NodeId,
}

/// A parsed and checked file of services.
#[derive(Debug)]
pub struct Mapping {
    /// Schema for clients, without the directives of this module and without the fields of `joins`.
    pub schema: Arc<Schema>,
    /// One per `@source`, then one per host of `@connect` URLs without a source.
    pub services: Vec<Service>,
    /// One per `@connect`.
    pub connectors: Vec<Connector>,
    /// Connectors by place.
    pub places: Places,
    /// Fields that connectors' selections return, by type.
    pub nodes: Vec<Node>,
    /// Object types of other sources that the file extends. In `schema` they have only the added fields, each resolved by a connector of
    /// [`Place::Extension`].
    pub foreign: Vec<TypeId>,
    /// Query fields with `entity: true` that find the objects of a type.
    pub entity_fields: Vec<FieldId>,
    /// Positions of objects of which only the key is known, by type: the keys are those of the connector, which is of the type.
    pub entity_nodes: Vec<(TypeId, ConnectorId, NodeId)>,
    /// A hidden query field that exists only because every schema needs one.
    pub stub: Option<FieldId>,
    /// Fields resolved by other sources (`@join`).
    pub joins: Vec<Join>,
    /// `@cacheControl` directives.
    pub hints: Vec<Hint>,
    /// `@cost` and `@listSize` directives.
    pub cost_rules: Vec<CostRule>,
    /// GraphQL servers.
    pub graphql: Vec<GraphqlServer>,
    /// gRPC servers.
    pub grpc: Vec<GrpcServer>,
    /// `@cacheTag` on types of these servers: type name and tag.
    pub type_tags: Vec<(Box<str>, Arc<str>)>,
    /// Location of each of `type_tags`.
    pub type_tags_at: Vec<Location>,
    /// Settings read as `$config`, sorted by name.
    pub config: Vec<Setting>,
    /// Settings read as `$env`, sorted by name.
    pub env: Vec<Setting>,
    /// Conditions of guards, each once.
    pub conditions: Vec<Condition>,
    /// Guards of types and fields.
    pub guards: Vec<Guard>,
    /// Conditions of servers and of guards of their types and fields, each once.
    pub server_conditions: Vec<Condition>,
    /// Guards of types and fields of servers.
    pub server_guards: Vec<ServerGuard>,
    /// Warnings: parts without effect or with an unexpected one.
    pub notes: Vec<Mistake>,
}

/// Alternative groups of scopes: a caller needs all scopes of one group.
pub type ScopeGroups = Box<[Box<[Box<str>]>]>;

/// A condition on callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `@authenticated`: any credential.
    Authenticated,
    /// `@requiresScopes`: all scopes of one of the groups.
    Scopes(ScopeGroups),
    /// `@allow`: one of the roles.
    Roles(Box<[Box<str>]>),
    /// `@inaccessible`: not even the admin.
    Nobody,
}

/// A guard: the type or field is visible if the condition is true for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The guarded type or field.
    pub guarded: Guarded,
    /// Index into [`Mapping::conditions`].
    pub condition: u32,
}

/// A guard of a server's type or field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerGuard {
    /// Type name with the server's prefix; `Query` or `Mutation` for roots.
    pub ty: Box<str>,
    /// Field name; `None` for a guard of the type.
    pub field: Option<Box<str>>,
    /// Index into [`Mapping::server_conditions`].
    pub condition: u32,
    /// Location of the guard.
    pub location: Location,
}

/// The guarded part of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// A type of the text.
    Type(TypeId),
    Field(FieldId),
}

/// A setting that the file reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// Name of the setting.
    pub name: Box<str>,
    /// True if every use has a `??` alternative. Otherwise the setting is required at startup.
    pub may_be_unset: bool,
    /// First location that requires it, else the first that reads it.
    pub location: Location,
}

impl Mapping {
    pub fn service(&self, id: ServiceId) -> &Service {
        &self.services[id.index()]
    }

    pub fn connector(&self, id: ConnectorId) -> &Connector {
        &self.connectors[id.index()]
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}

/// A REST service: `@source` with its `@cache` and `@policy`.
#[derive(Clone, Debug)]
pub struct Service {
    /// Name in the file; without `@source`, the origin of the URL.
    pub name: Box<str>,
    /// Base URL.
    pub base: Base,
    /// True for what stands for the service of connectors that make no call.
    pub is_none: bool,
    /// `@cache`; without it only the standard headers of answers count.
    pub cache: Option<CacheRule>,
    /// `@policy`.
    pub policy: Policy,
    /// Location of `@source`.
    pub location: Location,
}

/// `@cache(source:, …)`. All times are in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheRule {
    /// Headers that state a lifetime; the first one present decides.
    pub cache_control: Vec<Box<str>>,
    /// Lifetime if none of them is present; 0 disables caching.
    pub default_s: Option<u32>,
    /// Length of stale-while-revalidate; `None`: as the answer states.
    pub stale_s: Option<u32>,
    /// Length of stale-if-error; `None`: as the answer states.
    pub stale_if_error_s: Option<u32>,
    /// Maximum percentage by which lifetimes are shortened at random.
    pub jitter_percent: u8,
    /// Lifetime of "not found".
    pub negative_s: u32,
    /// True if answers are private to a caller (`scope: PRIVATE`).
    pub private: bool,
    /// True if answers are public even if calls send credentials (`scope: PUBLIC`).
    pub public: bool,
    /// Client headers that identify callers, in lower case.
    pub key: Vec<Box<str>>,
    /// True if POST is safe for this service.
    pub post: bool,
    /// Directives of the answers' `Cache-Control` to ignore (`ignore`).
    pub overruled: Overruled,
}

/// `@policy(source:, …)`; `None` for what is not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Timeout of a call including retries, in milliseconds.
    pub timeout_ms: Option<u32>,
    /// Maximum number of retries of an idempotent call.
    pub retries: Option<u32>,
    /// Retry budget: retries and hedges as a percentage of calls.
    pub retry_budget_percent: Option<u8>,
    /// Latency percentile after which a second call is started.
    pub hedge_percentile: Option<u8>,
    /// Circuit breaker.
    pub breaker: Option<BreakerSettings>,
    /// Maximum number of calls in flight.
    pub concurrency_max: Option<u32>,
    /// Maximum number of queued calls.
    pub queue_max: Option<u32>,
    /// Maximum size of an answer, in bytes.
    pub bytes_max: Option<u32>,
    /// Maximum age of a connection, in seconds.
    pub connection_age_s: Option<u32>,
    /// True for HTTP/2 without TLS.
    pub h2c: bool,
    /// Name of the header with the time left, in milliseconds.
    pub deadline_header: Option<HeaderName>,
    /// Headers of answers that reach the client.
    pub answer_rules: Vec<AnswerRule>,
}

/// `breaker: {errors: 50, window: 10}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    /// Percentage of failed calls that opens the breaker.
    pub errors_percent: u8,
    /// Length of the window, in seconds.
    pub window_s: u32,
}

/// Location of a `@connect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A field of the query or mutation root.
    Root(FieldId),
    /// A field of a type, fetched with the parent's keys.
    Field(FieldId),
    /// A type: fetches all fields beyond the keys.
    Entity(TypeId),
    /// A field added to a type of another source.
    Extension(FieldId),
}

impl Place {
    /// The field; `None` for a type.
    pub const fn field(self) -> Option<FieldId> {
        match self {
            Self::Root(field) | Self::Field(field) | Self::Extension(field) => Some(field),
            Self::Entity(_) => None,
        }
    }
}

/// One `@connect`.
#[derive(Clone, Debug)]
pub struct Connector {
    /// Location in the schema.
    pub place: Place,
    /// Service to call.
    pub service: ServiceId,
    /// Template of the request.
    pub request: Request,
    /// True without `http`: no call is made, and the selection maps variables alone. Service and request stand for none.
    pub is_local: bool,
    /// Maximum number of keys per call; `None`: one call per key.
    pub batch_max: Option<u32>,
    /// Parent fields read by `$this` and `$batch`, each once. Below the root they are the columns of `FetchInput::parent_keys`, in this
    /// order.
    pub keys: Vec<KeyField>,
    /// Selection over the answer.
    pub selection: Selection,
    /// Fields of the result; `None` if the field is a leaf.
    pub node: Option<NodeId>,
    /// How to split a batch answer; `None` without batches.
    pub items: Option<Items>,
    /// `isSuccess` of the connector or its service. Default: status 200 to 299.
    pub success: Option<Selection>,
    /// Field of a GraphQL server to call; its result is in the answer's `data`.
    pub graphql: Option<Box<str>>,
    /// `errors: {message}`: error message for the client.
    pub error_message: Option<Selection>,
    /// `errors: {extensions}` of the service and the connector. For equal names the last one counts.
    pub error_extensions: Vec<Selection>,
    /// `@cacheTag` of the field, its type, or the entity.
    pub tags: Vec<Tag>,
    /// `@cache` beside it, completed by that of the service.
    pub cache: Option<CacheRule>,
    /// `@policy(timeout:)` on the field.
    pub timeout_ms: Option<u32>,
    /// Client headers that request or selection read, in lower case, each once.
    pub reads_headers: Vec<Box<str>>,
    /// Headers of the answer that the selection, `isSuccess` or `errors` read, in lower case, each once.
    pub answer_headers: Vec<Box<str>>,
    /// Session variables and claims that they read, by the names of `PreparedFetch::reads_claims`, each once.
    pub reads_claims: Vec<Box<str>>,
    /// Location of the `@connect`.
    pub location: Location,
}

/// How to split an answer for many parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    /// Member names from the answer to the list, or to a single object.
    pub path: Vec<Box<str>>,
    /// How an item finds its parent.
    pub matching: Matching,
}

/// Ways to match items to parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matching {
    /// By keys: where each is within an item.
    Keys(Vec<ItemKey>),
    /// By position: one item per parent.
    Order,
}

/// A key of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKey {
    /// The member that these names lead to.
    At(Vec<Box<str>>),
    /// An expression of the selection, whose `$` is the item.
    Made(ExprId),
}

/// Fields of an object type that a selection returns at one place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Connector with the selection.
    pub connector: ConnectorId,
    /// Type of the objects.
    pub ty: TypeId,
    /// Fields returned, in the order of the selection.
    pub given: Vec<Given>,
    /// True if the selection builds the objects, as in `player: {id: playerId}`.
    pub is_made: bool,
    /// True if the selection is evaluated as a whole, as the type of each object is among what it makes.
    pub is_evaluated: bool,
    /// The expression whose members these are, if they make objects of other values too, as in `playerIds { id: $ }`.
    pub of_scalars: Option<ExprId>,
}

/// A field that a selection returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    pub field: FieldId,
    /// Paths before the value, for members merged from a path (`$.address { street }`).
    pub within: Vec<ExprId>,
    /// Source of the value.
    pub value: Taken,
    /// Fields of the value, if it is an object.
    pub below: Option<NodeId>,
}

/// Source of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    /// An expression of the selection.
    Expr(ExprId),
    /// The member with the field's name, in an object that an expression built.
    Own,
    /// The member with this name.
    Named(Box<str>),
}

impl Node {
    /// Entry of `field`, if the selection returns it.
    pub fn find(&self, field: FieldId) -> Option<&Given> {
        self.given.iter().find(|it| it.field == field)
    }
}

/// `@join(field:, arguments:)`: a field of a type in this file, resolved by a root field of any source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// Name of the type.
    pub on: Box<str>,
    /// Name of the field.
    pub name: Box<str>,
    /// Description; may be empty.
    pub description: Box<str>,
    /// Type as written.
    pub ty: Box<str>,
    /// Root query field that resolves it.
    pub target: Box<str>,
    /// Arguments of the target in parentheses, with `$this.name` for values of the parent.
    pub arguments: Box<str>,
    /// Location of the `@join`.
    pub location: Location,
}

impl Join {
    /// Fields of the type that the arguments read.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        join_keys(&self.arguments)
    }
}

/// `@cacheControl(maxAge:, scope:, inheritMaxAge:)` on a type or field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Name of the type, which may belong to another source.
    pub ty: Box<str>,
    /// Field name; `None` if the directive is on the type.
    pub field: Option<Box<str>>,
    /// Lifetime in seconds.
    pub max_age_s: Option<u32>,
    /// `scope`: true for private, false for public.
    pub private: Option<bool>,
    /// `inheritMaxAge`: the parent's lifetime applies.
    pub inherit: bool,
    /// Location of the directive.
    pub location: Location,
}

/// `@cacheTag(format:)`.
#[derive(Clone, Debug)]
pub struct Tag {
    /// Template of the tag's name.
    pub name: NameTemplate,
    /// True if the directive is on a field, false if on a type.
    pub on_field: bool,
}

/// Name of a server among the sources of its file: its prefix, or else its kind.
pub fn server_name<'n>(prefix: &'n str, kind: &'n str) -> &'n str {
    if prefix.is_empty() { kind } else { prefix }
}

/// `@graphql(url:, prefix:, headers:)`.
#[derive(Clone, Debug)]
pub struct GraphqlServer {
    /// URL of the server.
    pub base: Base,
    /// Prefix of the server's types and root fields; may be empty.
    pub prefix: Box<str>,
    /// Headers of every call.
    pub headers: Vec<crate::template::Header>,
    /// Indices into [`Mapping::server_conditions`]; callers must meet all. `None`: only the admin sees the server.
    pub visible: Option<Vec<u32>>,
    /// `@cache`; without it only the standard headers of answers count.
    pub cache: Option<CacheRule>,
    /// `@policy`.
    pub policy: Policy,
    /// Location of the directive.
    pub location: Location,
}

/// `@grpc(url:, proto:, prefix:, headers:)`.
#[derive(Clone, Debug)]
pub struct GrpcServer {
    /// URL of the server.
    pub base: Base,
    /// Path of its description, as written.
    pub proto: Box<str>,
    /// Prefix of the server's types and root fields; may be empty.
    pub prefix: Box<str>,
    /// Metadata of every call.
    pub headers: Vec<crate::template::Header>,
    /// Indices into [`Mapping::server_conditions`]; callers must meet all. `None`: only the admin sees the server.
    pub visible: Option<Vec<u32>>,
    /// `@cache`; without it only the standard headers of answers count.
    pub cache: Option<CacheRule>,
    /// `@policy`.
    pub policy: Policy,
    /// Location of the directive.
    pub location: Location,
}

/// An error or warning with its location and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Name of the file.
    pub file: Arc<str>,
    /// Line and column, from 1; within strings too.
    pub location: Location,
    pub message: String,
}

impl Mistake {
    /// Formats the mistake with file, line and column.
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.location.line, self.location.column)
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place(), self.message)
    }
}
