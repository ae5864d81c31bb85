//! A source that never answers.

use std::sync::Arc;
use weir_engine::source::{
    BoxFuture, ExplainInput, FetchInput, FetchResult, PlanError, PlanNode, PreparedFetch, Source,
    SourceError, Tag,
};
use weir_language::schema::Schema;

pub struct Silent(Arc<Schema>);

impl Silent {
    pub fn new(sdl: &str) -> Self {
        Self(Arc::new(super::schema(sdl)))
    }
}

impl Source for Silent {
    fn name(&self) -> &str {
        "silent"
    }
    fn schema(&self) -> &Arc<Schema> {
        &self.0
    }
    fn prepare(&self, _: &PlanNode<'_>) -> Result<Box<dyn PreparedFetch>, PlanError> {
        Ok(Box::new(Never))
    }
}

struct Never;

impl PreparedFetch for Never {
    fn run<'r>(&'r self, _: FetchInput<'r>) -> BoxFuture<'r, Result<FetchResult, SourceError>> {
        Box::pin(std::future::pending())
    }
    fn touches(&self) -> &[Tag] {
        &[]
    }
    fn explain(&self, _: ExplainInput<'_>, out: &mut String) {
        out.push_str("nothing");
    }
}
