//! The border: what a source promises and what it is asked.
//!
//! The granularity is one round trip: [`PreparedFetch::run`] is the only dynamic call on the warm path. A source never
//! sees another source; what children in other sources need of its rows it gives as hidden columns.
//!
//! **Invariant:** a fetch belongs to one plan, and a plan to one schema.

mod change_feed;
mod fetch_body;
mod field_resolution;
mod headers;
mod intercept;
mod kept_objects;
mod request_scope;
mod service_calls;
mod stream_read;

pub use change_feed::{ChangeFeed, ChangeSink, Coverage, FeedCounts, OthersChanges};
pub use fetch_body::{BATCH_ITEMS_MAX, Chunk, Chunks, FetchBody, Finished, ItemBatch};
pub use field_resolution::{FieldResolution, FieldResolver, NodeId, SeparateFetch, SeparateFetchId};
pub use headers::{Headers, NoHeaders, WithData};
pub(crate) use intercept::bound as intercepted;
pub use intercept::{Interceptor, PlannedStep, StepCall, StepInterceptor};
pub(crate) use kept_objects::RequestObjects;
pub use kept_objects::{KeptObjects, NodeObjects, OBJECT_KEY};
pub(crate) use request_scope::RequestCaches;
pub use request_scope::{BatchBarrier, RequestCache, RequestScope};
pub use service_calls::{CallerCalls, ServiceCalls};
pub use stream_read::{StreamEnd, StreamHold, StreamRead};

use crate::call_span::FetchSpan;
pub use crate::caller::Caller;
use crate::caller::{Facts, Identity};
use crate::lifetime::HintAt;
use crate::observer::DatabaseAddress;
use crate::plan::output_plan::{OutputPlan, SelectionSetId};
use crate::rows::Column;
use crate::tag_versions::{ChangeRecord, RowKey, TagSnapshot};
use futures_util::stream::BoxStream;
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use weir_language::ast::OperationKind;
use weir_language::error::Error;
use weir_language::schema::{EnumValueId, FieldId, InputId, Schema, TypeId, Visibility};
use weir_language::value::Variables;

/// A future on the heap.
pub type BoxFuture<'r, T> = Pin<Box<dyn Future<Output = T> + Send + 'r>>;

/// Answers fields of a graph. One per configured source and schema generation.
pub trait Source: Send + Sync {
    /// A short name for logs, metrics and explanations: the key in the configuration.
    fn name(&self) -> &str;
    /// The types and fields this source brings, as a schema of its own.
    fn schema(&self) -> &Arc<Schema>;
    /// The root field that holds those of this source; `None`: they stand in the graph's roots.
    fn namespace(&self) -> Option<&str> {
        None
    }
    /// Gets one node of a plan ready: SQL is rendered here, once.
    /// # Errors
    /// Errors of the operation, found before anything is sent to the store.
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError>;
    /// The source's division of its types into parts, if one fetch does not bring all of it.
    fn field_resolver(&self) -> Option<&dyn FieldResolver> {
        None
    }
    /// Appends the facts of `identity` that decide what plans this source makes for it and what it shows. None: everything
    /// may be seen and done. The number of different facts is bounded by the configuration, not by the values of claims.
    /// A source that says nothing of roles is the admin's alone.
    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        only_admin(identity, facts);
    }
    /// The members of [`Source::schema`] that callers with these facts see; `None`: all. Without permissions it is none.
    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        let _ = facts;
        Some(nothing(self.schema()))
    }
    /// The same rows in Relay's form, as a source of its own over the same store. `None`: it has no such form. It is made at each call:
    /// callers keep it.
    /// # Errors
    /// The names of that form make no sound schema.
    fn relay(&self) -> Option<Result<Arc<dyn Source>, Vec<Error>>> {
        None
    }
    /// True if its query field `field` may be subscribed to though its schema has no root of subscriptions: the graph has the field under
    /// that root too, and plans it as the query.
    fn is_live(&self, field: FieldId) -> bool {
        let _ = field;
        false
    }
    /// Cache hints for types and fields, its own and others'.
    fn hints(&self) -> &[HintAt] {
        &[]
    }
    /// The database behind it, for those who trace its fetches; `None`: it is none.
    fn database(&self) -> Option<DatabaseAddress> {
        None
    }
    /// The product behind it and its version, such as `Citus 13.2`, for operators; `None`: it is no server, or was not reached yet.
    fn product(&self) -> Option<String> {
        None
    }
    /// Of a database whose rows are spread over shards: the numbers of statements since it was opened, by the shards that they asked.
    /// The names are the same for all sources. Empty for others.
    fn statements_by_shards(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Conditions of requests since it was opened that no index could answer, as they are asked only of rows which a policy shows.
    fn unindexed_conditions(&self) -> u64 {
        0
    }
    /// True if each of its root fields of a mutation is a node of its own, so that all below one is done before the next begins.
    fn separates_mutations(&self) -> bool {
        false
    }
    /// Its feed of changes that others make. `None`: nobody tells, so what depends on it is read at intervals.
    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        None
    }
    /// How live queries find out that others changed its data.
    fn others_changes(&self) -> OthersChanges {
        OthersChanges::of_feed(self.change_feed())
    }
    /// The services that it calls, and how their calls went since it was opened. Empty for others.
    fn calls(&self) -> Vec<ServiceCalls> {
        Vec::new()
    }
    /// Checks that the source can answer now, until `deadline`, without blocking the thread. A source that cannot be down is
    /// always ready.
    fn health(&self, deadline: Instant) -> BoxFuture<'_, Result<(), SourceError>> {
        let _ = deadline;
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Events of a subscription: each is data for one run of its operation ([`Headers::data`]).
pub type EventStream = BoxStream<'static, Arc<dyn Any + Send + Sync>>;

/// One round trip, prepared.
pub trait PreparedFetch: Send + Sync {
    /// Asks the source. Dropping the future cancels.
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>>;
    /// Names that it reads or writes, such as tables, for caches and invalidation.
    fn touches(&self) -> &[Tag];
    /// The rows by key to which its use of some of the tables in [`PreparedFetch::touches`] is confined, with these variables and this
    /// caller: a read shows nothing else of the table, a change changes nothing else. Any row of the other tables counts.
    fn rows(&self, input: FetchInput<'_>) -> Vec<RowKey> {
        let _ = input;
        Vec::new()
    }
    /// True if it may read data that has none of the tags in [`PreparedFetch::touches`], as functions of a database do.
    fn reads_untagged(&self) -> bool {
        false
    }
    /// True if a run may change data although it is part of a query or a subscription, as a volatile function of a database does: no web
    /// page may have it run that may not call.
    fn may_change_data(&self) -> bool {
        false
    }
    /// True if it shows rows in the order of a cursor, batch by batch: each run reads those that follow the position of
    /// [`FetchInput::stream`] and notes the end of its batch there.
    fn is_stream(&self) -> bool {
        false
    }
    /// The client's headers it reads or passes on, in lower case: what is shared between clients has to tell them apart by these.
    fn reads_headers(&self) -> &[Box<str>] {
        &[]
    }
    /// The session variables it reads, in lower case, the role among them as `x-hasura-role` and all of them as `x-hasura-*`, and
    /// the claims of the token, by their names: what is shared between callers has to tell them apart by these.
    fn reads_claims(&self) -> &[Box<str>] {
        &[]
    }
    /// True if the answer to a request with these headers depends on a credential: it is private to the client, whatever its
    /// scope.
    fn is_personal(&self, headers: &dyn Headers) -> bool {
        self.reads_headers().iter().any(|it| is_credential(it) && headers.get(it).is_some())
    }
    /// Numbers of the calls, unique in the source: two calls with one number may be equal, or go together. Empty if no other
    /// fetch can make the same calls.
    fn asks(&self) -> &[u32] {
        &[]
    }
    /// True if it keeps objects for fetches below, or reads those of the node above ([`FetchInput::objects`]).
    fn has_objects(&self) -> bool {
        false
    }
    /// True if its answers come with a lifetime and may be shared. Equal requests in flight, all of whose parts may be
    /// shared, are coalesced.
    fn has_lifetime(&self) -> bool {
        false
    }
    /// The error of each of its fields for a caller whose credential does not hold: nothing is subscribed to for him.
    fn refusal(&self, input: FetchInput<'_>) -> Option<FieldError> {
        let _ = input;
        None
    }
    /// Opens the events of a field of the subscription root, for each of which its operation is run once; `None`: results are read.
    fn events(&self, input: FetchInput<'_>) -> Option<Result<EventStream, FieldError>> {
        let _ = input;
        None
    }
    /// Appends the calls it makes (SQL text, URL template), one statement per paragraph.
    fn explain(&self, input: ExplainInput<'_>, out: &mut String);
    /// Appends the text form of its own plan, one step per line. Default: there is none.
    fn describe(&self, _input: ExplainInput<'_>, _out: &mut String) {}
}

/// A request that is explained and not run. Variables can choose the statements.
#[derive(Clone, Copy)]
pub struct ExplainInput<'r> {
    /// As in [`FetchInput`].
    pub output: &'r Arc<OutputPlan>,
    /// As in [`FetchInput`].
    pub variables: &'r Arc<Variables>,
}

/// The facts of callers where the admin alone sees anything.
pub fn only_admin(identity: &Identity, facts: &mut Facts) {
    facts.extend((!identity.is_admin()).then_some(0));
}

/// The visibility of a schema that shows nothing.
#[must_use]
pub fn nothing(schema: &Schema) -> Visibility {
    let mut seen = Visibility::everything(schema);
    (0..schema.fields.len() as u32).for_each(|it| seen.show_field(FieldId(it), false));
    seen.close(schema);
    seen
}

/// True if the header `name`, in lower case, is a credential. Source: RFC 9110, 11.6.2 and 11.7.2; RFC 6265, 5.4.
#[must_use]
pub fn is_credential(name: &str) -> bool {
    matches!(name, "authorization" | "cookie" | "proxy-authorization")
}

/// A name of something a fetch reads or writes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tag(pub Arc<str>);

/// All that one source answers under one parent: at the root of a query, *all* its root fields; in a
/// mutation a maximal run of them; below, one foreign field, or the members of one part of a type.
#[derive(Clone, Copy)]
pub struct PlanNode<'p> {
    /// The graph's schema, whose ids the output plan holds.
    pub schema: &'p Schema,
    /// From the graph's ids to the ids of [`Source::schema`].
    pub ids: &'p Arc<Ids>,
    /// The output plan of the whole answer.
    pub output: &'p OutputPlan,
    /// The set the node's fields are members of.
    pub set: SelectionSetId,
    /// Places of the node's members in [`OutputPlan::fields`], in order. Those that are foreign are not asked of the source.
    pub fields: &'p [u32],
    /// Query or mutation.
    pub kind: OperationKind,
    /// Below the root: how many key columns `FetchInput::parent_keys` has. `Node::Parent(i)` in the arguments
    /// means column `i`.
    pub parent_keys: Option<u32>,
    /// The part of the source, if it is one: the keys are the part's, in its order.
    pub part: Option<SeparateFetchId>,
    /// The form of the answer.
    pub answer: AnswerForm,
    /// The source's facts of the callers the plan is for ([`Source::profile`]); none: they see and may do everything.
    pub facts: &'p [u64],
    /// Rules for scalars and wording of errors.
    pub protocol: Protocol,
    /// Parts that one condition of its arguments may have.
    pub conditions_max: u32,
    /// The operation's variables, in order: name, type, and whether a value is certain. Its JSON literals with variables inside follow;
    /// they are bound like variables of a non-null type. Then variables once more with the default of an input field where they stand.
    pub variables: &'p [PlanVariable],
    /// A memory of the source that all its nodes of the plan share while they are prepared.
    pub cache: &'p RequestCache,
}

/// A variable of a planned operation.
#[derive(Clone, Debug)]
pub struct PlanVariable {
    /// Without `$`; of a JSON literal with variables inside its text.
    pub name: Box<str>,
    /// Its type in the graph's schema.
    pub ty: weir_language::schema::TypeRef,
    /// True if it has a default, its own or that of its place, so that it is never absent.
    pub has_default: bool,
}

/// The form in which a source has to answer a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// No children in other sources: [`FetchBody::Finished`] or [`FetchBody::Rows`] as the source likes.
    Any {
        /// True if the members are adjacent in the response, so that one stream can carry them.
        contiguous: bool,
    },
    /// Children hang below: [`FetchBody::Rows`] it must be.
    Rows,
    /// As [`Self::Rows`]; the last member is a list whose later items may follow in batches ([`FetchInput::first_items`]).
    Items,
}

impl AnswerForm {
    /// True if the answer must be rows.
    #[must_use]
    pub const fn is_rows(self) -> bool {
        match self {
            Self::Any { .. } => false,
            Self::Rows | Self::Items => true,
        }
    }
}

/// Protocols of clients. Source: `docs/endpoints.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// `/graphql`: the specification GraphQL over HTTP to the letter.
    GraphqlOverHttp,
    /// `/v1/graphql`: as Hasura v2 answers.
    Hasura,
}

/// Translates the graph's ids into a source's own. The identity when the graph has one source.
#[derive(Debug, Default)]
pub struct Ids {
    /// By graph id; `u32::MAX` where the source has no such thing. Empty: identity.
    pub types: Vec<u32>,
    /// As `types`.
    pub fields: Vec<u32>,
    /// As `types`.
    pub inputs: Vec<u32>,
    /// As `types`.
    pub enum_values: Vec<u32>,
}

impl Ids {
    fn own(table: &[u32], id: u32) -> u32 {
        if table.is_empty() { id } else { table[id as usize] }
    }
    /// True if the source has the type.
    #[must_use]
    pub fn has_type(&self, id: TypeId) -> bool {
        Self::own(&self.types, id.0) != u32::MAX
    }
    /// True if the source has the argument or input field.
    #[must_use]
    pub fn has_input(&self, id: InputId) -> bool {
        Self::own(&self.inputs, id.0) != u32::MAX
    }
    /// True if the source has the enum value.
    #[must_use]
    pub fn has_enum_value(&self, id: EnumValueId) -> bool {
        Self::own(&self.enum_values, id.0) != u32::MAX
    }
    /// The source's own id of a type.
    #[must_use]
    pub fn ty(&self, id: TypeId) -> TypeId {
        TypeId(Self::own(&self.types, id.0))
    }
    /// The source's own id of a field.
    #[must_use]
    pub fn field(&self, id: FieldId) -> FieldId {
        FieldId(Self::own(&self.fields, id.0))
    }
    /// The source's own id of an argument or input field.
    #[must_use]
    pub fn input(&self, id: InputId) -> InputId {
        InputId(Self::own(&self.inputs, id.0))
    }
    /// The source's own id of an enum value.
    #[must_use]
    pub fn enum_value(&self, id: EnumValueId) -> EnumValueId {
        EnumValueId(Self::own(&self.enum_values, id.0))
    }
}

/// Request-specific input of a fetch.
#[derive(Clone, Copy)]
pub struct FetchInput<'r> {
    /// The output plan, literals included.
    pub output: &'r Arc<OutputPlan>,
    /// The variables, coerced.
    pub variables: &'r Arc<Variables>,
    /// The caller.
    pub caller: &'r Caller,
    /// Below the root: the keys of the parents, made unique; one column per key field, equally long. The reply's
    /// table then has one row per key.
    pub parent_keys: Option<&'r [Column]>,
    /// The client's headers.
    pub headers: &'r dyn Headers,
    /// When the whole request must have its first byte.
    pub deadline: Instant,
    /// Up to this many bytes are held back whole, so that a late failure can still be told; more may leave in chunks.
    pub hold_back_bytes: usize,
    /// State shared with fetches of the same request that may make the same calls, if there are any.
    pub request_scope: Option<RequestScope<'r>>,
    /// Objects of its node and of the node above, if a fetch of the plan has any.
    pub objects: Option<NodeObjects<'r>>,
    /// Of a change: where the source may record what it did, if that is less than [`PreparedFetch::touches`] says.
    pub changes: Option<&'r ChangeRecord>,
    /// Span of the fetch, for those whom the source calls.
    pub span: Option<&'r FetchSpan<'r>>,
    /// Other reads of its plan may be under way with other variables or callers, and nobody waits for one of them alone: the source may ask
    /// them as one.
    pub may_join: bool,
    /// Of a stream: the batch that is read. `None`: its first one, whose end nobody asks for.
    pub stream: Option<&'r Arc<StreamRead>>,
    /// Where the answer is [`AnswerForm::Items`]: so many items of the list may come with the rows, as [`FetchBody::FirstItems`]. `None`: all come
    /// at once.
    pub first_items: Option<u32>,
}

/// Result of a fetch.
#[derive(Debug)]
pub struct FetchResult {
    /// The answer.
    pub body: FetchBody,
    /// Fields that failed; their values are null (and nulls are already bubbled in `Finished`).
    pub errors: Vec<PathError>,
    /// Lifetime of the result; `None` if the source gives none.
    pub cache_control: Option<CacheControl>,
}

/// Lifetime of an answer, counted from now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheControl {
    /// Remaining lifetime, so that levels never add up. [`CacheControl::ENDLESS_MS`] if none is given.
    pub remaining_ms: u64,
    /// Stale period behind it: the answer may be shown while a new one is fetched.
    pub stale_ms: u64,
    /// By whom.
    pub scope: CacheScope,
    /// True if callers with the same values of the headers that the fetch reads may share it. An answer that is neither
    /// public nor separated by headers is for the one request only.
    pub by_headers: bool,
    /// True if a part has no lifetime: hints or the operation set one, else the answer is not cached.
    pub is_silent: bool,
    /// `must-revalidate`: never serve stale.
    pub must_revalidate: bool,
    /// Versions of the tags computed from request values, read before fetching; beside those of [`PreparedFetch::touches`].
    pub ages: TagSnapshot,
    /// Origin of the lifetime, for operators: a source and a field.
    pub set_by: Arc<str>,
}

impl CacheControl {
    /// Remaining lifetime of an answer without one.
    pub const ENDLESS_MS: u64 = u64::MAX;
}

/// Caches that may store an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheScope {
    /// Everyone.
    #[default]
    Public,
    /// Only the client that asked.
    Private,
}

/// Why a field has no value, for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Stable code of `extensions.code`.
    pub code: &'static str,
    /// Words without SQL, hosts or hidden names.
    pub message: Box<str>,
    /// Hasura's `extensions.path` for this error, if it is not derived from the field.
    pub hasura_path: Option<Box<str>>,
    /// Further `extensions`.
    pub extensions: Option<Box<Extensions>>,
}

/// Members of `extensions` that a source has been told to pass on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extensions {
    /// JSON, without the braces around it: at least one member.
    pub members: Box<str>,
    /// True if `extensions` has a `code`, which overrules [`FieldError::code`].
    pub has_code: bool,
}

/// A failed field and where it is in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// Why.
    pub error: FieldError,
    /// From the root of the node's set.
    pub path: Vec<Step>,
    /// Place of the failed member in [`OutputPlan::fields`], for its location.
    pub field: u32,
    /// Of a mutation: true if nothing of its root field was done.
    pub is_undone: bool,
}

/// One step of a response path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A member: its place in [`OutputPlan::fields`], whose key is meant.
    Field(u32),
    /// An item of a list.
    Index(u32),
}

/// A reason for which a node cannot be planned. The client is to blame and can mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// Code and words.
    pub error: FieldError,
    /// Place of the member that is meant, for its location and path.
    pub field: u32,
}

/// Why a source could not answer a fetch at all.
#[derive(Debug)]
pub enum SourceError {
    /// The client asked for something the data forbids (unique key, check, foreign key), or sent a value that does not
    /// fit. In a mutation everything is rolled back.
    Rejected {
        /// Code and words.
        error: FieldError,
        /// Place of the member that failed, if one did.
        field: Option<u32>,
    },
    /// Values that a mutation would have returned cannot be given, so everything is rolled back. At least one error, each with its path.
    Undone(Vec<PathError>),
    /// The source did not answer before the deadline.
    Timeout,
    /// The source is there but has no capacity left: queue or pool full.
    Busy,
    /// The source cannot be reached or failed while answering. Trying again may help.
    Unavailable(Box<dyn std::error::Error + Send + Sync>),
    /// The source broke its own contract. A bug: ours or theirs.
    Broken(Box<str>),
}

impl SourceError {
    /// The stable code in `extensions.code` under [`Protocol::GraphqlOverHttp`].
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rejected { error, .. } => error.code,
            Self::Undone(errors) => errors.first().map_or("INTERNAL", |it| it.error.code),
            Self::Timeout => "SOURCE_TIMEOUT",
            Self::Busy => "POOL_TIMEOUT",
            Self::Unavailable(_) => "SOURCE_UNAVAILABLE",
            Self::Broken(_) => "INTERNAL",
        }
    }

    /// Why a source gave nothing, in words for clients.
    #[must_use]
    pub fn for_client(&self) -> FieldError {
        let message = match self {
            Self::Rejected { error, .. } => return error.clone(),
            Self::Undone(errors) => match errors.first() {
                Some(first) => return first.error.clone(),
                None => "Internal error.",
            },
            Self::Timeout => "The source did not answer in time.",
            Self::Busy => "The source has no capacity left.",
            Self::Unavailable(_) => "The source is unavailable.",
            Self::Broken(_) => "Internal error.",
        };
        FieldError { code: self.code(), message: message.into(), hasura_path: None, extensions: None }
    }

    /// Tells the operator what the client is not told.
    pub fn tell_operator(&self) {
        match self {
            Self::Rejected { .. } | Self::Undone(_) => {}
            Self::Timeout | Self::Busy => tracing::warn!(error = %self, "a source did not answer"),
            Self::Unavailable(_) | Self::Broken(_) => tracing::error!(error = %self, "a source failed"),
        }
    }
}

impl fmt::Display for SourceError {
    /// Words for operators: logs only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected { error, .. } => f.write_str(&error.message),
            Self::Undone(errors) => match errors.first() {
                Some(first) => f.write_str(&first.error.message),
                None => f.write_str("a mutation was undone"),
            },
            Self::Timeout => f.write_str("the source did not answer before the deadline"),
            Self::Busy => f.write_str("the source has no capacity left"),
            Self::Unavailable(cause) => write!(f, "the source is unavailable: {cause}"),
            Self::Broken(what) => write!(f, "the source broke its contract: {what}"),
        }
    }
}

impl std::error::Error for SourceError {}
