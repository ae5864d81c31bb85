//! The interface between the engine and its sources.
//!
//! One fetch is one round trip: [`PreparedFetch::run`] is the only dynamic call on the warm path. A source never sees another
//! source; keys that other sources need are returned as hidden columns.
//!
//! **Invariant:** a fetch belongs to one plan, and a plan to one schema.

mod change_feed;
mod entity_lookup;
mod fetch_body;
mod field_resolution;
mod intercept;
mod kept_objects;
mod request_scope;
mod row_judgement;
mod service_calls;
mod service_checks;
mod stream_read;

pub use change_feed::{ChangeFeed, ChangeSink, Coverage, FeedCounts, OthersChanges};
pub use entity_lookup::{EntityKey, EntityLookup, KeyForm};
pub use fetch_body::{Chunks, FetchBody, Finished};
pub use field_resolution::{FieldResolution, FieldResolver, NodeId, SeparateFetch, SeparateFetchId};
pub(crate) use intercept::intercept_fetch as intercepted;
pub use intercept::{Interceptor, PlannedStep, StepCall, StepInterceptor};
pub(crate) use kept_objects::RequestObjects;
pub use kept_objects::{KeptObjects, NodeObjects, OBJECT_KEY};
pub(crate) use request_scope::RequestCaches;
pub use request_scope::{BatchBarrier, RequestCache, RequestScope};
pub use row_judgement::{JudgedColumn, JudgedCondition, NoJudgement, RowJudgement, RowQuestion, Truth};
pub use service_calls::{CallerCalls, ServiceCalls};
pub use service_checks::{AddressCheck, AddressState, ServiceCheck};
pub use stream_read::{StreamEnd, StreamHold, StreamRead};

pub use crate::answer::chunk::{BATCH_ITEMS_MAX, Chunk, ItemBatch};
pub use crate::answer::field_error::{Extensions, FieldError, PathError, PlanError, SourceError, Step};
pub use crate::caching::cache_control::{CacheControl, CacheScope};
pub use crate::caching::tag_versions::Tag;
pub use crate::caller::Caller;
pub use crate::request::answer_notes::{AnswerNotes, ForwardedHeader, HandlerRefusal, HeaderMerge};
pub use crate::request::protocol::Protocol;
pub use crate::request::request_headers::{EnrichedHeaders, Headers, NoHeaders};

use crate::answer::output_plan::{OutputPlan, SelectionSetId};
use crate::answer::rows::Column;
use crate::caching::cache_control::HintAt;
use crate::caching::tag_versions::{ChangeRecord, RowKey};
use crate::caller::{Facts, Identity};
use crate::request::demand::{CostRule, ListSize};
use crate::telemetry::call_span::FetchSpan;
use crate::telemetry::observer::DatabaseAddress;
use futures_util::stream::BoxStream;
use std::any::Any;
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
    /// Root field that contains the fields of this source; `None`: its fields stand in the graph's roots.
    fn namespace(&self) -> Option<&str> {
        None
    }
    /// Prepares one node of a plan: SQL is rendered here, once.
    /// # Errors
    /// Errors of the operation, found before anything is sent to the store.
    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError>;
    /// The division of its types into separate fetches, if one fetch cannot return all fields.
    fn field_resolver(&self) -> Option<&dyn FieldResolver> {
        None
    }
    /// Appends the facts of `identity` that decide its plans and its visibility. No facts: full access. The number of different facts
    /// is bounded by the configuration, not by the values of claims. By default only the admin has access.
    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        only_admin(identity, facts);
    }
    /// Members of [`Source::schema`] that callers with these facts see; `None`: all. By default callers with facts see nothing.
    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        let _ = facts;
        Some(nothing(self.schema()))
    }
    /// Returns a source with the Relay API over the same store; `None` if the source has no such API. Each call makes a new source,
    /// which callers should keep.
    /// # Errors
    /// The names of the Relay API conflict in its schema.
    fn relay(&self) -> Option<Result<Arc<dyn Source>, Vec<Error>>> {
        None
    }
    /// True if clients may subscribe to the query field `field`: the graph offers the field under its subscription root, and plans it
    /// like the query.
    fn is_live(&self, field: FieldId) -> bool {
        let _ = field;
        false
    }
    /// Ways to single objects of its types, for a graph that is a subgraph. Of several for one type the first that fits is used.
    fn entity_lookups(&self) -> &[EntityLookup] {
        &[]
    }
    /// Cache hints for types and fields, its own and others'.
    fn hints(&self) -> &[HintAt] {
        &[]
    }
    /// Weights and list sizes that its types declare, by `@cost` and `@listSize`.
    fn cost_rules(&self) -> &[CostRule] {
        &[]
    }
    /// Size of the list that `field` of [`Source::schema`] returns to callers with these facts, by arguments that the source knows;
    /// `None`: it knows nothing of it. Asked while planning, if the engine estimates costs.
    fn list_size(&self, field: FieldId, facts: &[u64]) -> Option<ListSize> {
        let _ = (field, facts);
        None
    }
    /// Address of the database, for traces; `None` if the source is no database.
    fn database(&self) -> Option<DatabaseAddress> {
        None
    }
    /// Product and version, such as `Citus 13.2`, for operators; `None` if there is no server or it was not reached yet.
    fn product(&self) -> Option<String> {
        None
    }
    /// Statement counts of a sharded database since it was opened, by the shards that the statements used. All sources use the same
    /// labels. Empty for other sources.
    fn statements_by_shards(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Connections, threads and queues at this moment, by names for operators. Empty for sources without any.
    fn gauges(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
    /// Number of conditions, since it was opened, that could use no index because they run behind a policy.
    fn unindexed_conditions(&self) -> u64 {
        0
    }
    /// True if each root field of a mutation is a node of its own: everything below one field finishes before the next field begins.
    fn separates_mutations(&self) -> bool {
        false
    }
    /// Feed of changes that others make. `None`: live queries poll.
    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        None
    }
    /// Mechanism by which live queries detect changes that others made.
    fn others_changes(&self) -> OthersChanges {
        OthersChanges::of_feed(self.change_feed())
    }
    /// True if an object, interface or union that is identical in another such source is one type with it: each of them answers all
    /// fields of its own objects, and every caller sees all of them.
    fn shares_objects(&self) -> bool {
        false
    }
    /// Services that it calls, with counts since it was opened. Empty for sources without services.
    fn calls(&self) -> Vec<ServiceCalls> {
        Vec::new()
    }
    /// Opens a connection to each address of its services. Empty for sources without services.
    fn check_services(&self) -> BoxFuture<'_, Vec<ServiceCheck>> {
        Box::pin(std::future::ready(Vec::new()))
    }
    /// Judges one row for an operator, by the policy that reads have; `None`: the source has no tables.
    fn judge_row<'r>(
        &'r self,
        question: RowQuestion<'r>,
    ) -> Option<BoxFuture<'r, Result<RowJudgement, NoJudgement>>> {
        let _ = question;
        None
    }
    /// Checks until `deadline` that the source can answer, without blocking the thread. Sources that cannot fail are always ready.
    fn health(&self, deadline: Instant) -> BoxFuture<'_, Result<(), SourceError>> {
        let _ = deadline;
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Events of a subscription: each is data for one run of its operation ([`Headers::data`]).
pub type EventStream = BoxStream<'static, Arc<dyn Any + Send + Sync>>;

/// One round trip, prepared.
pub trait PreparedFetch: Send + Sync {
    /// Runs the round trip. Dropping the future cancels it.
    fn run<'r>(&'r self, input: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>>;
    /// Tags of the data that it reads or writes, such as tables, for caches and invalidation.
    fn touches(&self) -> &[Tag];
    /// Row keys to which its use of some tables in [`PreparedFetch::touches`] is limited, for these variables and this caller. Of other
    /// tables it may use any row.
    fn rows(&self, input: FetchInput<'_>) -> Vec<RowKey> {
        let _ = input;
        Vec::new()
    }
    /// True if it may read data that has none of the tags in [`PreparedFetch::touches`], as functions of a database do.
    fn reads_untagged(&self) -> bool {
        false
    }
    /// True if a run may change data although it belongs to a query or subscription, like a volatile database function. Pages of other
    /// origins must not trigger such a run.
    fn may_change_data(&self) -> bool {
        false
    }
    /// True if it returns rows in the order of a cursor, batch by batch: each run reads the rows behind the position of
    /// [`FetchInput::stream`] and records the end of its batch there.
    fn is_stream(&self) -> bool {
        false
    }
    /// Client headers that it reads or forwards, in lower case: shared results must be separated by them.
    fn reads_headers(&self) -> &[Box<str>] {
        &[]
    }
    /// Session variables that it reads, in lower case (the role as `x-hasura-role`, all of them as `x-hasura-*`), and claims of the
    /// token by name (all of them as `token:*`): shared results must be separated by them.
    fn reads_claims(&self) -> &[Box<str>] {
        &[]
    }
    /// True if the answer to a request with these headers depends on a credential: then it is private to the client, whatever its
    /// scope.
    fn is_personal(&self, headers: &dyn Headers) -> bool {
        self.reads_headers().iter().any(|it| is_credential(it) && headers.get(it).is_some())
    }
    /// Numbers of its calls, unique in the source: calls with the same number may be equal or batched. Empty if no other fetch can make
    /// the same calls.
    fn asks(&self) -> &[u32] {
        &[]
    }
    /// True if it keeps objects for child fetches, or reads objects of the parent node ([`FetchInput::objects`]).
    fn has_objects(&self) -> bool {
        false
    }
    /// True if its answers have a lifetime and may be shared. Equal requests in flight are coalesced if all their parts may be shared.
    fn has_lifetime(&self) -> bool {
        false
    }
    /// Error of each field for a caller with an invalid credential; such a caller cannot subscribe.
    fn refusal(&self, input: FetchInput<'_>) -> Option<FieldError> {
        let _ = input;
        None
    }
    /// True if it passes on headers of the client that it cannot name: an operation that is run again keeps all of them.
    fn reads_all_headers(&self) -> bool {
        false
    }
    /// Opens the events of a subscription field; its operation runs once per event. `None`: the subscription polls results instead.
    fn events(&self, input: FetchInput<'_>) -> Option<Result<EventStream, FieldError>> {
        let _ = input;
        None
    }
    /// Appends the calls it makes (SQL text, URL template), one statement per paragraph.
    fn explain(&self, input: ExplainInput<'_>, out: &mut String);
    /// Appends the text form of its own plan, one step per line. Default: nothing.
    fn describe(&self, _input: ExplainInput<'_>, _out: &mut String) {}
}

/// Input of `explain`: the request is not run. Variables can decide the statements.
#[derive(Clone, Copy)]
pub struct ExplainInput<'r> {
    /// Output plan, see [`FetchInput::output`].
    pub output: &'r Arc<OutputPlan>,
    /// Variables of the operation, see [`FetchInput::variables`].
    pub variables: &'r Arc<Variables>,
}

/// Default facts for sources that only the admin may use.
pub fn only_admin(identity: &Identity, facts: &mut Facts) {
    facts.extend((!identity.is_admin()).then_some(0));
}

/// Visibility that hides the whole schema.
pub fn nothing(schema: &Schema) -> Visibility {
    let mut seen = Visibility::everything(schema);
    (0..schema.fields.len() as u32).for_each(|it| seen.show_field(FieldId(it), false));
    seen.close(schema);
    seen
}

/// True if the header `name`, in lower case, is a credential. Source: RFC 9110, 11.6.2 and 11.7.2; RFC 6265, 5.4.
pub fn is_credential(name: &str) -> bool {
    matches!(name, "authorization" | "cookie" | "proxy-authorization")
}

/// The work of one source below one parent: at the root of a query *all* its root fields, in a mutation a maximal run of them;
/// below the root one foreign field, or the members of one separate fetch of a type.
#[derive(Clone, Copy)]
pub struct PlanNode<'p> {
    /// The graph's schema, whose ids the output plan holds.
    pub schema: &'p Schema,
    /// Maps the graph's ids to the ids of [`Source::schema`].
    pub ids: &'p Arc<Ids>,
    /// The output plan of the whole answer.
    pub output: &'p OutputPlan,
    /// The set the node's fields are members of.
    pub set: SelectionSetId,
    /// Indexes of the node's members in [`OutputPlan::fields`], in order. Foreign members are not fetched from the source.
    pub fields: &'p [u32],
    /// Query or mutation.
    pub kind: OperationKind,
    /// Below the root: how many key columns `FetchInput::parent_keys` has. `Node::Parent(i)` in the arguments
    /// means column `i`.
    pub parent_keys: Option<u32>,
    /// The separate fetch, if the node is one: its keys are those of [`SeparateFetch::keys`], in order.
    pub part: Option<SeparateFetchId>,
    /// The form of the answer.
    pub answer: AnswerForm,
    /// Facts of the callers for whom the plan is made ([`Source::profile`]); empty: full access.
    pub facts: &'p [u64],
    /// Rules for scalars and wording of errors.
    pub protocol: Protocol,
    /// The client's document, as it was sent.
    pub text: &'p str,
    /// Parts that one condition of its arguments may have.
    pub conditions_max: u32,
    /// Variables of the operation, in order: name, type, and whether a value is certain. JSON literals that contain variables follow;
    /// they are bound like variables of a non-null type. Then come variables that use the default of an input field, once more with
    /// that default.
    pub variables: &'p [PlanVariable],
    /// Storage of the source, shared by all its nodes of the plan while they are prepared.
    pub cache: &'p RequestCache,
}

/// A variable of a planned operation.
#[derive(Clone, Debug)]
pub struct PlanVariable {
    /// Name without `$`; for a JSON literal with variables inside: its text.
    pub name: Box<str>,
    /// Type of the variable in the graph's schema.
    pub ty: weir_language::schema::TypeRef,
    /// True if it is never absent: it or its position has a default.
    pub has_default: bool,
}

/// The form in which a source has to answer a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// No child nodes: the source may choose [`FetchBody::Finished`] or [`FetchBody::Rows`].
    Any {
        /// True if the members are adjacent in the response, so that one stream can carry them.
        contiguous: bool,
    },
    /// There are child nodes: the answer must be [`FetchBody::Rows`].
    Rows,
    /// Rows as for [`Self::Rows`]; the last member is a list whose later items may follow in batches ([`FetchInput::first_items`]).
    Items,
}

impl AnswerForm {
    /// True if the answer must be rows.
    pub const fn is_rows(self) -> bool {
        match self {
            Self::Any { .. } => false,
            Self::Rows | Self::Items => true,
        }
    }
}

/// Translates the graph's ids into a source's own. The identity when the graph has one source.
#[derive(Debug, Default)]
pub struct Ids {
    /// Own type id by graph id; `u32::MAX` if the source lacks the type. Empty: the ids are equal.
    pub types: Vec<u32>,
    /// Own field ids, see `types`.
    pub fields: Vec<u32>,
    /// Own ids of arguments and input fields, see `types`.
    pub inputs: Vec<u32>,
    /// Own enum value ids, see `types`.
    pub enum_values: Vec<u32>,
}

impl Ids {
    /// Gives each table an entry for each member of `schema`: an empty table would be the identity.
    pub(crate) fn cover(&mut self, schema: &Schema) {
        self.types.resize(schema.types.len(), u32::MAX);
        self.fields.resize(schema.fields.len(), u32::MAX);
        self.inputs.resize(schema.inputs.len(), u32::MAX);
        self.enum_values.resize(schema.enum_values.len(), u32::MAX);
    }
    fn own(table: &[u32], id: u32) -> u32 {
        if table.is_empty() { id } else { table[id as usize] }
    }
    /// True if the source has the type.
    pub fn has_type(&self, id: TypeId) -> bool {
        Self::own(&self.types, id.0) != u32::MAX
    }
    /// True if the source has the argument or input field.
    pub fn has_input(&self, id: InputId) -> bool {
        Self::own(&self.inputs, id.0) != u32::MAX
    }
    /// True if the source has the enum value.
    pub fn has_enum_value(&self, id: EnumValueId) -> bool {
        Self::own(&self.enum_values, id.0) != u32::MAX
    }
    /// The source's own id of a type.
    pub fn ty(&self, id: TypeId) -> TypeId {
        TypeId(Self::own(&self.types, id.0))
    }
    /// The source's own id of a field.
    pub fn field(&self, id: FieldId) -> FieldId {
        FieldId(Self::own(&self.fields, id.0))
    }
    /// The source's own id of an argument or input field.
    pub fn input(&self, id: InputId) -> InputId {
        InputId(Self::own(&self.inputs, id.0))
    }
    /// The source's own id of an enum value.
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
    /// Keys of the parents below the root, deduplicated; one column per key field, equally long. The reply's table then has one row per
    /// key.
    pub parent_keys: Option<&'r [Column]>,
    /// The client's headers.
    pub headers: &'r dyn Headers,
    /// Deadline for the first byte of the whole response.
    pub deadline: Instant,
    /// Answers up to this size are buffered, so that a late failure can still be reported; longer ones may be sent in chunks.
    pub hold_back_bytes: usize,
    /// State shared with fetches of the same request that may make the same calls, if there are any.
    pub request_scope: Option<RequestScope<'r>>,
    /// Objects of its own and its parent node, if a fetch of the plan keeps any.
    pub objects: Option<NodeObjects<'r>>,
    /// Where a mutation may record its effect, if that is less than [`PreparedFetch::touches`] says.
    pub changes: Option<&'r ChangeRecord>,
    /// Span of the fetch, to be sent to the systems that the source calls.
    pub span: Option<&'r FetchSpan<'r>>,
    /// True if reads of the same plan with other variables or callers may be in flight and none is urgent: the source may merge them
    /// into one statement.
    pub may_join: bool,
    /// Batch of a stream to read. `None`: the first batch, whose end is not needed.
    pub stream: Option<&'r Arc<StreamRead>>,
    /// Number of list items that may come with the rows, as [`FetchBody::FirstItems`]; only with [`AnswerForm::Items`]. `None`: all
    /// items come at once.
    pub first_items: Option<u32>,
}

impl FetchResult {
    /// True if a field of a reply in rows failed.
    pub(crate) fn has_failed_fields(&self) -> bool {
        match &self.body {
            FetchBody::Rows(rows) | FetchBody::FirstItems(rows, _) => {
                rows.find_error().is_some() || !self.errors.is_empty()
            }
            FetchBody::Finished(_) => !self.errors.is_empty(),
        }
    }
}

/// Result of a fetch.
#[derive(Debug)]
pub struct FetchResult {
    /// The answer.
    pub body: FetchBody,
    /// Fields that failed; their values are null (in `Finished`, nulls have already propagated).
    pub errors: Vec<PathError>,
    /// Lifetime of the result; `None` if the source gives none.
    pub cache_control: Option<CacheControl>,
}
