//! Another GraphQL server as a source: its schema is read from itself, and what clients select of it is passed on.
//!
//! All root fields of a query, or all keys of a level, are one operation: each under an alias of its own, all arguments as
//! variables. What comes back has the shape of what was asked.
//!
//! Answers to queries are cached and shared by the rules for services (`crate::passthrough::answer_keeper`).
//!
//! **Invariant:** no value stands in the text of an operation, so the server can know the text.

mod check_response;
mod forward;
mod introspect;
mod operation_text;

use crate::call::{CallCounts, Upstream, UpstreamSettings};
use crate::passthrough::answer_keeper::Keeper;
use crate::passthrough::{OpenError, Server, Shown};
use http::uri::PathAndQuery;
use std::sync::Arc;
use weir_engine::caller::{Facts, Identity};
use weir_engine::source::{OthersChanges, PlanError, PlanNode, PreparedFetch, ServiceCalls, Source};
use weir_language::schema::{FieldId, Schema, Visibility};

/// Maximum nesting of an answer: deeper than a selection.
const DEPTH_MAX: u32 = 200;

/// A GraphQL server.
pub struct GraphqlSource {
    schema: Arc<Schema>,
    shown: Shown,
    link: Arc<GraphqlLink>,
}

/// Connection to the server, shared by its fetches.
pub(crate) struct GraphqlLink {
    pub(crate) server: Server,
    pub(crate) upstream: Upstream,
    counts: CallCounts,
    path: PathAndQuery,
    pub(crate) keeper: Keeper,
}

impl GraphqlLink {
    /// # Errors
    /// The settings are invalid.
    pub(crate) fn new(server: Server) -> Result<Self, OpenError> {
        let protocol = server.protocol;
        let policy = server.policy.clone();
        let settings = UpstreamSettings { base: server.url.clone(), ca: server.ca.clone(), protocol, policy };
        let upstream = Upstream::new(&settings).map_err(|it| OpenError::Unfit(it.to_string()))?;
        let path = server.url.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        let keeper = Keeper::new(&server, b"graphql");
        let counts = CallCounts::new(Arc::from(&*server.name));
        Ok(Self { server, upstream, counts, path, keeper })
    }
}

impl GraphqlSource {
    /// Opens a server and reads its schema.
    /// # Errors
    /// The server does not answer, or its schema is invalid.
    pub async fn open(server: Server) -> Result<Self, OpenError> {
        let link = Arc::new(GraphqlLink::new(server)?);
        let schema = Arc::new(introspect::ask(&link).await?);
        let shown = Shown::new(link.server.audience.as_ref(), &schema);
        Ok(Self { schema, shown, link })
    }

    /// A server with the schema from an earlier introspection.
    /// # Errors
    /// The settings are invalid.
    pub fn of(server: Server, schema: Arc<Schema>) -> Result<Self, OpenError> {
        let link = Arc::new(GraphqlLink::new(server)?);
        let shown = Shown::new(link.server.audience.as_ref(), &schema);
        Ok(Self { schema, shown, link })
    }
}

impl Source for GraphqlSource {
    fn name(&self) -> &str {
        &self.link.server.name
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn others_changes(&self) -> OthersChanges {
        OthersChanges::Lifetimes
    }

    /// Every query is live by polling, since servers do not report changes.
    fn is_live(&self, _: FieldId) -> bool {
        true
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        Ok(Box::new(forward::ForwardedFetch::new(Arc::clone(&self.schema), Arc::clone(&self.link), node)))
    }

    fn calls(&self) -> Vec<ServiceCalls> {
        let GraphqlLink { upstream, counts, server, .. } = &*self.link;
        vec![upstream.load().calls(Arc::from(&*server.tag), [counts])]
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        self.shown.profile(identity, facts);
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        self.shown.visibility(self.schema(), facts)
    }
}
