//! REST services as a [`Source`]: plan nodes become calls, answers become rows.
//!
//! A text of services is opened once per generation: its [`Mapping`] is checked, each service gets its connections and each
//! connector its rule of caching. The planner asks the source's `division` which members come with which call; each node
//! is then a `fetch` of one call, of one call per key, or of batches of keys.
//!
//! **Invariant:** what is shared between clients is kept under a key that holds every header and claim the call sends or reads.

mod ask;
mod check_response;
mod connector_call;
mod connector_fetch;
mod division;
mod entities;
mod key_batch;
mod loader;
mod memo;
mod named;
mod open;
mod personal;
mod remote_server;
mod selection_text;
mod service_tls;

pub use open::{Options, is_services, open};
pub use remote_server::RemoteServer;

use crate::cache::{Cache, Failure, Rule};
use crate::caching::client_key::ClientKey;
use crate::call::{CallCounts, Upstream};
use crate::error_report::CallLabel;
use crate::sdl::{Connector, ConnectorId, Join, Mapping};
use crate::selection::inputs::ConfigValues;
use crate::template::NameTemplate;
use crate::visible;
use division::Division;
use futures_util::future::join_all;
use personal::Personal;
use service_tls::ServiceTls;
use std::sync::Arc;
use weir_engine::caller::{Facts, Identity};
use weir_engine::demand::CostRule;
use weir_engine::lifetime::HintAt;
use weir_engine::source::{
    BoxFuture, EntityLookup, FieldError, FieldResolver, Headers, OthersChanges, PlanError, PlanNode,
    PreparedFetch, ServiceCalls, ServiceCheck, Source,
};
use weir_language::schema::{FieldId, Schema, Visibility};

/// The services of one file.
pub struct HttpSource {
    name: Box<str>,
    shared: Arc<Shared>,
    division: Division,
    hints: Vec<HintAt>,
    entity_lookups: Vec<EntityLookup>,
    /// Files of certificates of its services and servers.
    tls: ServiceTls,
}

/// State that calls need beyond their request; it lives until the last call ends.
struct Shared {
    mapping: Arc<Mapping>,
    /// One per service.
    upstreams: Vec<Arc<Upstream>>,
    /// One per connector.
    runtimes: Vec<ConnectorRuntime>,
    cache: Arc<Cache>,
    settings: Arc<ConfigValues>,
}

/// Cache rules, tags and counters of one connector's calls.
struct ConnectorRuntime {
    /// Rule for answers whose key identifies the caller.
    rule: Arc<Rule>,
    /// Rule for uncached answers: the caller lacks an identifying header.
    alone: Arc<Rule>,
    /// Rule for callers who send nothing that becomes `Authorization`.
    anonymous: Arc<Rule>,
    /// Headers and claims that identify callers, beyond those that calls send.
    key: ClientKey,
    /// All client headers it reads, in lower case.
    reads_headers: Vec<Box<str>>,
    reads_claims: Vec<Box<str>>,
    /// Client credentials that become part of calls.
    personal: Personal,
    /// Group of an idempotent call: only calls with equal numbers can be equal.
    asks: Option<u32>,
    /// Separates its cache entries from those of other connectors and of other versions of the file.
    fingerprint: [u8; 32],
    /// Separates its answers from those of other services or cache rules. Connectors of one service share it, because equal calls have
    /// equal answers.
    service_fingerprint: [u8; 32],
    /// `service Type.field`, for logs and as the origin of a lifetime.
    shown: Arc<str>,
    /// Tags that invalidate its answers. For a mutation: tags that its call invalidates.
    tags: Vec<Arc<str>>,
    /// Further tags whose names contain values of the call.
    named: Vec<NameTemplate>,
    /// Tag of all answers of the service.
    service: Arc<str>,
    /// Counters of its calls.
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
    /// Label of a call for a request with these headers.
    fn call_label<'c>(&'c self, headers: &'c dyn Headers) -> CallLabel<'c> {
        CallLabel { shown: &self.shown, headers }
    }

    /// Logs that there was no answer, and returns the error for clients.
    fn no_answer(&self, headers: &dyn Headers, failure: &Failure) -> FieldError {
        self.call_label(headers).no_answer(failure);
        check_response::client_error(failure.error.code(), failure.error.for_client())
    }
}

impl HttpSource {
    /// The parsed file.
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.shared.mapping
    }

    /// Fields of its types that other sources resolve.
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

    fn entity_lookups(&self) -> &[EntityLookup] {
        &self.entity_lookups
    }

    fn others_changes(&self) -> OthersChanges {
        OthersChanges::Lifetimes
    }

    /// Every query is live: it runs again when its lifetime ends, when its tags change, or at intervals.
    fn is_live(&self, _: FieldId) -> bool {
        true
    }

    fn cost_rules(&self) -> &[CostRule] {
        &self.shared.mapping.cost_rules
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
        let services = upstreams.iter().zip(&mapping.services).enumerate().filter(|it| !it.1.1.is_none);
        let calls = services.map(|(at, (upstream, service))| {
            let connectors = mapping.connectors.iter().zip(runtimes);
            let own = connectors.filter(|it| it.0.service.index() == at).map(|it| &*it.1.counts);
            upstream.load().calls(Arc::from(&*service.name), own)
        });
        calls.collect()
    }

    fn check_services(&self) -> BoxFuture<'_, Vec<ServiceCheck>> {
        let Shared { mapping, upstreams, .. } = &*self.shared;
        let services = upstreams.iter().zip(&mapping.services).filter(|it| !it.1.is_none);
        let checks = services.map(|(upstream, service)| upstream.check(Arc::from(&*service.name)));
        Box::pin(join_all(checks))
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        connector_fetch::prepare(&self.shared, node)
    }
}
