//! A gRPC server as a source: unary methods are root fields, messages are types, both read from a description of the server.
//!
//! Methods that only read (`idempotency_level = NO_SIDE_EFFECTS`, or a name that says so) are queries, all others mutations.
//!
//! Answers to queries are cached and shared by the rules for services (`crate::passthrough::answer_keeper`): as JSON, so that they are
//! decoded once.
//!
//! **Invariant:** a method that may change something is called once.
//!
//! Source: gRPC over HTTP2, `docs/sources/graphql-and-grpc.md`.

mod editions;
mod frame;
mod grpc_answer;
mod grpc_fetch;
mod grpc_schema;
mod message;
mod status;

use crate::call::{CallCounts, Protocol, Upstream, UpstreamSettings};
use crate::passthrough::answer_keeper::Keeper;
use crate::passthrough::{OpenError, Server, Shown};
use grpc_schema::Model;
use prost_reflect::DescriptorPool;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;
use weir_engine::caller::{Facts, Identity};
use weir_engine::source::{
    BoxFuture, OthersChanges, PlanError, PlanNode, PreparedFetch, ServiceCalls, ServiceCheck, Source,
};
use weir_language::schema::print::{Order, print};
use weir_language::schema::{FieldId, Schema, Visibility};

/// A gRPC server.
pub struct GrpcSource {
    model: Arc<Model>,
    shown: Shown,
    link: Arc<GrpcLink>,
}

/// Connection to the server, shared by its fetches.
struct GrpcLink {
    server: Server,
    upstream: Upstream,
    counts: CallCounts,
    keeper: Keeper,
}

impl GrpcSource {
    /// Opens `server` with `description`: a `.proto` file, whose imports are searched beside it, or a descriptor set. The server is not
    /// called.
    /// # Errors
    /// The description or the server's settings are invalid.
    pub fn open(server: Server, description: &Path) -> Result<Self, OpenError> {
        let (model, pool) = model(description, &server.prefix)?;
        let base = server.url.clone();
        let policy = server.policy.clone();
        let settings = UpstreamSettings { base, tls: server.tls.clone(), protocol: Protocol::Http2, policy };
        let upstream = Upstream::new(&settings).map_err(|it| OpenError::Unfit(it.to_string()))?;
        // The digest is part of the key, because another description would decode cached bytes differently.
        let keeper = Keeper::new(&server, &Sha256::digest(pool.encode_to_vec()));
        let shown = Shown::new(server.audience.as_ref(), &model.schema);
        let counts = CallCounts::new(Arc::from(&*server.name));
        let link = Arc::new(GrpcLink { server, upstream, counts, keeper });
        Ok(Self { model: Arc::new(model), shown, link })
    }
}

/// Types and fields of a description as SDL, after a comment that lists the methods left out.
/// # Errors
/// The description is invalid.
pub fn sdl(description: &Path, prefix: &str) -> Result<String, OpenError> {
    let model = model(description, prefix)?.0;
    let mut sdl = String::new();
    if !model.streaming.is_empty() {
        sdl.push_str(&format!("# Left out, as they stream: {}\n\n", model.streaming.join(", ")));
    }
    sdl.push_str(&print(&model.schema, Order::Defined));
    Ok(sdl)
}

/// Reads a description.
fn model(file: &Path, prefix: &str) -> Result<(Model, DescriptorPool), OpenError> {
    let unfit = |words: String| OpenError::Unfit(format!("{}: {words}", file.display()));
    let pool = describe(file).map_err(unfit)?;
    Ok((Model::new(&pool, prefix).map_err(unfit)?, pool))
}

fn describe(file: &Path) -> Result<DescriptorPool, String> {
    if file.extension().is_some_and(|it| it == "proto") {
        let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        editions::check(file)?;
        let mut compiler = protox::Compiler::new([folder]).map_err(|error| error.to_string())?;
        compiler.include_imports(true).open_file(file).map_err(|error| error.to_string())?;
        return Ok(compiler.descriptor_pool());
    }
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    editions::decode(&bytes)
}

impl Source for GrpcSource {
    fn name(&self) -> &str {
        &self.link.server.name
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.model.schema
    }

    fn prepare(&self, node: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        Ok(Box::new(grpc_fetch::Calls::new(Arc::clone(&self.model), Arc::clone(&self.link), node)))
    }

    fn calls(&self) -> Vec<ServiceCalls> {
        let GrpcLink { upstream, counts, server, .. } = &*self.link;
        vec![upstream.load().calls(Arc::from(&*server.tag), [counts])]
    }

    fn check_services(&self) -> BoxFuture<'_, Vec<ServiceCheck>> {
        Box::pin(async { vec![self.link.upstream.check(Arc::from(&*self.link.server.tag)).await] })
    }

    fn others_changes(&self) -> OthersChanges {
        OthersChanges::Lifetimes
    }

    /// Every query is live by polling, since servers do not report changes.
    fn is_live(&self, _: FieldId) -> bool {
        true
    }

    fn profile(&self, identity: &Identity, facts: &mut Facts) {
        self.shown.profile(identity, facts);
    }

    fn visibility(&self, facts: &[u64]) -> Option<Visibility> {
        self.shown.visibility(self.schema(), facts)
    }
}
