//! A parsed file of services: tables addressed by four-byte ids.
//!
//! **Invariant:** ids are only used with the [`Mapping`] that made them; types and fields are those of [`Mapping::schema`].

use crate::cache::Overruled;
use crate::inputs::KeyField;
use crate::selection::{ExprId, Selection};
use crate::template::{Base, NameTemplate, Request};
use http::HeaderName;
use std::collections::HashMap;
use std::sync::Arc;
use weir_engine::compose::join_keys;
use weir_language::schema::{FieldId, Schema, TypeId};
use weir_language::span::Location;

/// The connectors of each place, in the order of the text.
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
            /// As an index.
            #[must_use]
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )* };
}
ids! {
    /// The place of a service in [`Mapping::services`].
    ServiceId,
    /// The place of a connector in [`Mapping::connectors`].
    ConnectorId,
    /// The place of a node in [`Mapping::nodes`].
    NodeId,
}

/// A text of services, read and checked.
#[derive(Debug)]
pub struct Mapping {
    /// The types as clients see them, without the directives that are read here and without the fields of `joins`.
    pub schema: Arc<Schema>,
    /// One per `@source`, then one per host that a `@connect` without source names.
    pub services: Vec<Service>,
    /// One per `@connect`.
    pub connectors: Vec<Connector>,
    /// Which of them stand where.
    pub places: Places,
    /// Results of the connectors' selections, by type.
    pub nodes: Vec<Node>,
    /// Object types of other sources that this text extends. In `schema` they have the added fields only, each answered
    /// by a connector of [`Place::Extension`].
    pub foreign: Vec<TypeId>,
    /// A query field that no one may see: it stands only because every schema needs one.
    pub stub: Option<FieldId>,
    /// Fields answered by other sources.
    pub joins: Vec<Join>,
    /// Hints of `@cacheControl`.
    pub hints: Vec<Hint>,
    /// GraphQL servers.
    pub graphql: Vec<GraphqlServer>,
    /// gRPC servers.
    pub grpc: Vec<GrpcServer>,
    /// `@cacheTag` on types of these servers: name of the type, and the tag.
    pub type_tags: Vec<(Box<str>, Arc<str>)>,
    /// Place of each of them.
    pub type_tags_at: Vec<Location>,
    /// Settings of `$config`, each name once, in order.
    pub config: Vec<Setting>,
    /// The same of `$env`.
    pub env: Vec<Setting>,
    /// The conditions of guards, each once.
    pub conditions: Vec<Condition>,
    /// Types and fields that not every caller sees.
    pub guards: Vec<Guard>,
    /// The conditions of servers, and of guards of their types and fields, each once.
    pub server_conditions: Vec<Condition>,
    /// Types and fields of servers that not every caller sees.
    pub server_guards: Vec<ServerGuard>,
    /// Warnings: parts without effect or with an unexpected one, with their places.
    pub notes: Vec<Mistake>,
}

/// Scopes of which all of one group are needed.
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
}

/// A type or field that is shown to callers for whom a condition is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The visible members.
    pub guarded: Guarded,
    /// The place of the condition in [`Mapping::conditions`].
    pub condition: u32,
}

/// A type or field of a server that is shown to callers for whom a condition is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerGuard {
    /// Name of the type, with the server's prefix; of a root `Query` or `Mutation`.
    pub ty: Box<str>,
    /// Name of the field, where it is one.
    pub field: Option<Box<str>>,
    /// The place of the condition in [`Mapping::server_conditions`].
    pub condition: u32,
    /// Its place in the text.
    pub location: Location,
}

/// Parts of a schema that have guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// A type of the text.
    Type(TypeId),
    /// A field.
    Field(FieldId),
}

/// A setting that is read somewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// Its name.
    pub name: Box<str>,
    /// True if `??` follows at each use; else the setting is required at the start.
    pub may_be_unset: bool,
    /// The first place where it has to be known, or where it is read.
    pub location: Location,
}

impl Mapping {
    /// One service.
    #[must_use]
    pub fn service(&self, id: ServiceId) -> &Service {
        &self.services[id.index()]
    }

    /// One connector.
    #[must_use]
    pub fn connector(&self, id: ConnectorId) -> &Connector {
        &self.connectors[id.index()]
    }

    /// One node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}

/// A REST service: `@source`, `@cache` and `@policy` of one name.
#[derive(Clone, Debug)]
pub struct Service {
    /// As written; of a host without `@source` its origin.
    pub name: Box<str>,
    /// Its address.
    pub base: Base,
    /// `@cache`; without it the standard headers of answers say how long they are kept.
    pub cache: Option<CacheRule>,
    /// `@policy`.
    pub policy: Policy,
    /// Its name in the text.
    pub location: Location,
}

/// `@cache(source:, …)`. Times are seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheRule {
    /// Headers that say for how long an answer is fresh, first match first.
    pub cache_control: Vec<Box<str>>,
    /// When none of them is there; 0 is never.
    pub default_s: Option<u32>,
    /// Stale period while a new answer is fetched; `None`: by the answer.
    pub stale_s: Option<u32>,
    /// Stale period while the service fails; `None`: by the answer.
    pub stale_if_error_s: Option<u32>,
    /// Percent by which lifetimes are shortened at random, at most.
    pub jitter_percent: u8,
    /// Lifetime of "not found".
    pub negative_s: u32,
    /// True if answers are private to a caller.
    pub private: bool,
    /// True if answers are declared public, whatever the calls send.
    pub public: bool,
    /// Headers of the client's request that tell callers apart, in lower case.
    pub key: Vec<Box<str>>,
    /// True if POST is as safe as GET here.
    pub post: bool,
    /// Ignored directives of the answers' `Cache-Control`: `ignore`.
    pub overruled: Overruled,
}

/// `@policy(source:, …)`; what is not written is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// For one call, retries included, in milliseconds.
    pub timeout_ms: Option<u32>,
    /// Maximum number of retries of an idempotent call.
    pub retries: Option<u32>,
    /// Percent of calls that may be retries or hedges.
    pub retry_budget_percent: Option<u8>,
    /// The percentile of latency after which a second call is made.
    pub hedge_percentile: Option<u8>,
    /// When calls are not tried any more.
    pub breaker: Option<BreakerFacts>,
    /// Calls at once.
    pub concurrency_max: Option<u32>,
    /// Calls that wait for their turn.
    pub queue_max: Option<u32>,
    /// The longest answer.
    pub bytes_max: Option<u32>,
    /// Seconds after which a connection takes no more calls.
    pub connection_age_s: Option<u32>,
    /// True for HTTP/2 without TLS.
    pub h2c: bool,
    /// The header that tells the service how many milliseconds it has.
    pub deadline_header: Option<HeaderName>,
}

/// `breaker: {errors: 50, window: 10}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerFacts {
    /// Percent of failed calls from which on none is made.
    pub errors_percent: u8,
    /// Seconds over which they are counted.
    pub window_s: u32,
}

/// Location of a `@connect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A field of the query or mutation root.
    Root(FieldId),
    /// A field of a type, asked with the parent's keys.
    Field(FieldId),
    /// A type: brings all that the keys do not say.
    Entity(TypeId),
    /// A field that is added to a type of another source.
    Extension(FieldId),
}

impl Place {
    /// The field, unless it is a type.
    #[must_use]
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
    /// Its location.
    pub place: Place,
    /// Whom it asks.
    pub service: ServiceId,
    /// The request.
    pub request: Request,
    /// Maximum number of keys per call; `None`: one call for each key.
    pub batch_max: Option<u32>,
    /// The parent's fields that `$this` and `$batch` name, each once. Below the root they are the columns of
    /// `FetchInput::parent_keys` in this order.
    pub keys: Vec<KeyField>,
    /// Selection of the answer.
    pub selection: Selection,
    /// Result of the selection, of the field's type or of the entity; `None` if the field is a leaf.
    pub node: Option<NodeId>,
    /// Of what is asked for in batches: how an answer is taken apart.
    pub items: Option<Items>,
    /// `isSuccess`, its own or the service's: whether the answer is one. Without it, statuses 200 to 299 are.
    pub success: Option<Selection>,
    /// The field of a GraphQL server that is asked: it is in the answer's `data`.
    pub graphql: Option<Box<str>>,
    /// `errors: {message}`: what the client is told when it is none.
    pub error_message: Option<Selection>,
    /// `errors: {extensions}` of the service, and of the connector: of one name the last counts.
    pub error_extensions: Vec<Selection>,
    /// `@cacheTag` of its field, of its type, or of the entity.
    pub tags: Vec<Tag>,
    /// `@cache` beside it, with what it leaves to that of the service.
    pub cache: Option<CacheRule>,
    /// `@policy(timeout:)` on the field.
    pub timeout_ms: Option<u32>,
    /// Headers of the client's request that the request or the selection reads, in lower case, each once.
    pub reads_headers: Vec<Box<str>>,
    /// Headers of the answer that the selection, `isSuccess` or `errors` read, in lower case, each once.
    pub answer_headers: Vec<Box<str>>,
    /// Session variables and claims that they read, by the names of `PreparedFetch::reads_claims`, each once.
    pub reads_claims: Vec<Box<str>>,
    /// Its `@` in the text.
    pub location: Location,
}

/// Items of an answer for many parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items {
    /// Members to go down from the answer to the list (or the one object).
    pub path: Vec<Box<str>>,
    /// The parent that an item belongs to.
    pub matching: Matching,
}

/// Ways to find the parent of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matching {
    /// By its keys: where the value of each stands in an item.
    Keys(Vec<Vec<Box<str>>>),
    /// By its place: there are as many items as parents.
    Order,
}

/// Fields of one object type that a selection gives in one place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Whose answer it is part of.
    pub connector: ConnectorId,
    /// The type.
    pub ty: TypeId,
    /// Its fields that are given, in the order of the selection.
    pub given: Vec<Given>,
    /// True if the selection makes the objects, as in `player: {id: playerId}`, and not the service.
    pub is_made: bool,
    /// True if the selection is evaluated as a whole, as the type of each object is among what it makes.
    pub is_evaluated: bool,
    /// The expression whose members these are, if they make objects of other values too, as in `playerIds { id: $ }`.
    pub of_scalars: Option<ExprId>,
}

/// One field that a selection gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The field.
    pub field: FieldId,
    /// Paths to go before the value, from members that were taken in (`$.address { street }`).
    pub within: Vec<ExprId>,
    /// Its value.
    pub value: Taken,
    /// Its fields, if it is an object.
    pub below: Option<NodeId>,
}

/// Origin of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    /// By an expression of the selection.
    Expr(ExprId),
    /// By its own name: it is part of a value that an expression made.
    Own,
    /// By this name.
    Named(Box<str>),
}

impl Node {
    /// Origin of `field`, if the selection gives it; other connectors bring the others.
    #[must_use]
    pub fn find(&self, field: FieldId) -> Option<&Given> {
        self.given.iter().find(|it| it.field == field)
    }
}

/// `@join(field:, arguments:)`: a field of a type of this text, answered by a root field of any source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The type.
    pub on: Box<str>,
    /// The field.
    pub name: Box<str>,
    /// Its description, or empty.
    pub description: Box<str>,
    /// Its type as written.
    pub ty: Box<str>,
    /// The root query field that answers.
    pub target: Box<str>,
    /// The target's arguments with `$this.name` for the parent's values, in parentheses.
    pub arguments: Box<str>,
    /// Its place.
    pub location: Location,
}

impl Join {
    /// The fields of the type that the arguments name.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        join_keys(&self.arguments)
    }
}

/// `@cacheControl(maxAge:, scope:, inheritMaxAge:)` on a type or field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The type, by name: it may be of another source.
    pub ty: Box<str>,
    /// The field, unless it stands on the type.
    pub field: Option<Box<str>>,
    /// Seconds.
    pub max_age_s: Option<u32>,
    /// Scope: private, or (`false`) public.
    pub private: Option<bool>,
    /// True if the parent's lifetime applies.
    pub inherit: bool,
    /// Its place.
    pub location: Location,
}

/// `@cacheTag(format:)`.
#[derive(Clone, Debug)]
pub struct Tag {
    /// The name that is made of it.
    pub name: NameTemplate,
    /// True if the directive is on the field, else it is on the type.
    pub on_field: bool,
}

/// Name of a server beside the sources of its file: its prefix, or else its kind.
#[must_use]
pub fn server_name<'n>(prefix: &'n str, kind: &'n str) -> &'n str {
    if prefix.is_empty() { kind } else { prefix }
}

/// `@graphql(url:, prefix:, headers:)`.
#[derive(Clone, Debug)]
pub struct GraphqlServer {
    /// Its address.
    pub base: Base,
    /// Prefix of its types and root fields, or empty.
    pub prefix: Box<str>,
    /// Names and values; `from` headers of the client's.
    pub headers: Vec<crate::template::Header>,
    /// Places in [`Mapping::server_conditions`] of those that a caller has to meet; `None`: the admin alone sees it.
    pub visible: Option<Vec<u32>>,
    /// `@cache`; without it the standard headers of answers say how long they are kept.
    pub cache: Option<CacheRule>,
    /// `@policy`.
    pub policy: Policy,
    /// Its place.
    pub location: Location,
}

/// `@grpc(url:, proto:, prefix:, headers:)`.
#[derive(Clone, Debug)]
pub struct GrpcServer {
    /// Its address.
    pub base: Base,
    /// The file that describes it, as written.
    pub proto: Box<str>,
    /// Prefix of its types and root fields, or empty.
    pub prefix: Box<str>,
    /// Sent as metadata.
    pub headers: Vec<crate::template::Header>,
    /// Places in [`Mapping::server_conditions`] of those that a caller has to meet; `None`: the admin alone sees it.
    pub visible: Option<Vec<u32>>,
    /// `@cache`; without it the standard headers of answers say how long they are kept.
    pub cache: Option<CacheRule>,
    /// `@policy`.
    pub policy: Policy,
    /// Its place.
    pub location: Location,
}

/// An error in a file, its place, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Name of the file.
    pub file: Arc<str>,
    /// Line and column, from 1; within strings too.
    pub location: Location,
    /// In words.
    pub message: String,
}

impl Mistake {
    /// File, line and column.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.location.line, self.location.column)
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place(), self.message)
    }
}
