//! Stands in for gRPC servers in a build without the feature `grpc`: none can be opened, and the error says why.

use crate::passthrough::{OpenError, Server};
use std::path::Path;
use std::sync::Arc;
use weir_engine::source::{PlanError, PlanNode, PreparedFetch, Source};
use weir_language::schema::Schema;

/// A gRPC server, of which this build has none.
#[derive(Debug)]
pub enum GrpcSource {}

fn absent() -> OpenError {
    let words = "this build of Weir has no gRPC: build it with the feature `grpc`, which is on by default";
    OpenError::Unfit(words.to_owned())
}

impl GrpcSource {
    /// Refuses any server.
    /// # Errors
    /// Always.
    pub fn open(_: Server, _: &Path) -> Result<Self, OpenError> {
        Err(absent())
    }
}

/// Refuses any description.
/// # Errors
/// Always.
pub fn sdl(_: &Path, _: &str) -> Result<String, OpenError> {
    Err(absent())
}

impl Source for GrpcSource {
    fn name(&self) -> &str {
        match *self {}
    }

    fn schema(&self) -> &Arc<Schema> {
        match *self {}
    }

    fn prepare(&self, _: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        match *self {}
    }
}
