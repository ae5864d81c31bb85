//! Services as a [`Source`]: what is selected becomes calls, and what is answered becomes rows.
//!
//! A text of services is opened once per generation: its [`Mapping`] is checked, each service gets its connections and each
//! connector its rule of caching. The planner asks the source's `division` which members come with which call; each node
//! is then a `fetch` of one call, of one call per key, or of batches of keys.
//!
//! **Invariant:** what is shared between clients is kept under a key that holds every header and claim the call sends or reads.

mod ask;
mod batch;
mod change;
mod check_response;
mod client_key;
mod division;
mod fetch;
mod loader;
mod memo;
mod named;
mod open;
mod personal;
mod remote_server;
mod selection;
mod ttl;
pub(crate) mod visible;

pub(crate) use change::Change;
pub(crate) use client_key::{ClientKey, push_claim, push_header};
pub(crate) use open::rule_of;
pub use open::{Options, is_services, open};
pub use remote_server::RemoteServer;
pub(crate) use ttl::{Shortest, ttl};

use crate::cache::{Cache, Failure, Rule};
use crate::call::{CallCounts, Upstream};
use crate::error_report::CallLabel;
use crate::inputs::ConfigValues;
use crate::sdl::{Connector, ConnectorId, Join, Mapping};
use crate::template::NameTemplate;
use division::Division;
use personal::Personal;
use std::path::PathBuf;
use std::sync::Arc;
use weir_engine::caller::{Facts, Identity};
use weir_engine::lifetime::HintAt;
use weir_engine::source::{
    FieldError, FieldResolver, Headers, OthersChanges, PlanError, PlanNode, PreparedFetch, ServiceCalls,
    Source,
};
use weir_language::schema::{FieldId, Schema, Visibility};

/// The services of one text.
pub struct HttpSource {
    name: Box<str>,
    shared: Arc<Shared>,
    division: Division,
    hints: Vec<HintAt>,
    /// Certificates that are trusted besides the system's.
    ca: Option<PathBuf>,
}

/// State of calls beside the request; it lives as long as the last of them.
struct Shared {
    mapping: Arc<Mapping>,
    /// By service.
    upstreams: Vec<Arc<Upstream>>,
    /// By connector.
    runtimes: Vec<ConnectorRuntime>,
    cache: Arc<Cache>,
    settings: Arc<ConfigValues>,
}

/// Sharing and separation of the calls of one connector.
struct ConnectorRuntime {
    /// For clients that are told apart by what the key holds.
    rule: Arc<Rule>,
    /// For answers that are shared with nobody, because the caller lacks a header that separates callers.
    alone: Arc<Rule>,
    /// For clients that sent nothing that becomes an `Authorization` of the calls.
    anonymous: Arc<Rule>,
    /// The names that tell clients apart beside what the call sends.
    key: ClientKey,
    /// All headers of clients that it reads, in lower case.
    reads_headers: Vec<Box<str>>,
    /// All claims of callers that it reads.
    reads_claims: Vec<Box<str>>,
    /// Credentials of the client's that take part.
    personal: Personal,
    /// Number of an idempotent call: calls with one number may be equal.
    asks: Option<u32>,
    /// Tells its entries from those of other connectors, also after a change of the text.
    fingerprint: [u8; 32],
    /// Tells answers to its calls from those that another service keeps, or kept by other rules. Connectors of one service
    /// share it: an equal call of theirs has an equal answer.
    service_fingerprint: [u8; 32],
    /// `service Type.field`: for logs, and as the origin of a lifetime.
    shown: Arc<str>,
    /// Tags that invalidate its answers; for a mutation, the tags that its call invalidates.
    tags: Vec<Arc<str>>,
    /// The same with values of the call in it.
    named: Vec<NameTemplate>,
    /// All that the service answers.
    service: Arc<str>,
    /// Its calls.
    counts: Arc<CallCounts>,
}

impl Shared {
    fn connector(&self, id: ConnectorId) -> &Connector {
        self.mapping.connector(id)
    }

    fn runtime(&self, id: ConnectorId) -> &ConnectorRuntime {
        &self.runtimes[id.index()]
    }

    fn upstream(&self, id: ConnectorId) -> &Arc<Upstream> {
        &self.upstreams[self.connector(id).service.index()]
    }
}

impl ConnectorRuntime {
    /// One of its calls, for a request with these headers.
    fn called<'c>(&'c self, headers: &'c dyn Headers) -> CallLabel<'c> {
        CallLabel { shown: &self.shown, headers }
    }

    /// Says that there was no answer.
    fn no_answer(&self, headers: &dyn Headers, failure: &Failure) -> FieldError {
        self.called(headers).no_answer(failure);
        check_response::failed(failure.error.code(), failure.error.for_client())
    }
}

impl HttpSource {
    /// The text, read.
    #[must_use]
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.shared.mapping
    }

    /// Fields of its types that other sources answer.
    #[must_use]
    pub fn joins(&self) -> &[Join] {
        &self.shared.mapping.joins
    }
}

impl Source for HttpSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.shared.mapping.schema
    }

    fn field_resolver(&self) -> Option<&dyn FieldResolver> {
        Some(&self.division)
    }

    fn others_changes(&self) -> OthersChanges {
        OthersChanges::Lifetimes
    }

    /// All of them: they are asked again at the end of an answer's lifetime, after changes of its tags, or at intervals.
    fn is_live(&self, _: FieldId) -> bool {
        true
    }

    fn hints(&self) -> &[HintAt] {
        &self.hints
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        visible::profile(&self.shared.mapping.conditions, identity, facts);
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        visible::visibility(self.schema(), &self.shared.mapping.guards, facts)
    }

    fn calls(&self) -> Vec<ServiceCalls> {
        let Shared { mapping, upstreams, runtimes, .. } = &*self.shared;
        let calls = upstreams.iter().zip(&mapping.services).enumerate().map(|(at, (upstream, service))| {
            let connectors = mapping.connectors.iter().zip(runtimes);
            let own = connectors.filter(|it| it.0.service.index() == at).map(|it| &*it.1.counts);
            upstream.load().calls(Arc::from(&*service.name), own)
        });
        calls.collect()
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        fetch::prepare(&self.shared, node)
    }
}
