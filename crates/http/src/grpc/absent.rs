//! Replaces gRPC servers in a build without the feature `grpc`: opening one fails with the reason.

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

#[cfg(test)]
mod without_feature {
    use super::*;
    use crate::cache::{Cache, CacheSettings, Clock};
    use crate::source::{self, RemoteServer};
    use std::collections::BTreeMap;

    #[test]
    fn a_grpc_server_of_a_text_is_refused_by_the_name_of_the_feature() {
        let text = r#"extend schema
            @link(url: "https://weir.example/spec/v1", import: ["@grpc"])
            @grpc(url: "http://stock.internal:50051", proto: "stock.proto")"#;
        let bytes_max = 1024;
        let clock = Clock::system();
        let settings = CacheSettings { bytes_max, clock, remote: None, changes: Arc::default() };
        let options = source::Options {
            name: "stock",
            cache: Arc::new(Cache::new(settings).unwrap()),
            config: &BTreeMap::new(),
            env: &|_| None,
            env_allowed: None,
            services: &BTreeMap::new(),
            ca: None,
            embedding: None,
        };
        let servers =
            source::open(text, "stock.graphql", &options).unwrap().servers("stock.graphql").unwrap();
        let [RemoteServer::Grpc(server, proto, _)] = <[_; 1]>::try_from(servers).unwrap() else {
            panic!("the text names one gRPC server");
        };
        let refused = GrpcSource::open(server, Path::new(&*proto)).unwrap_err();
        assert!(matches!(&refused, OpenError::Unfit(words) if words.contains("feature `grpc`")), "{refused}");
    }

    #[test]
    fn types_of_a_description_are_refused_by_the_name_of_the_feature() {
        let refused = sdl(Path::new("stock.proto"), "").unwrap_err();
        assert!(refused.to_string().contains("feature `grpc`"), "{refused}");
    }
}
