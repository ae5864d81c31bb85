//! A text of services, served by an engine of its own.

use super::wire_kit::Service;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings};
use weir_http::cache::{self, Cache, Clock};
use weir_http::source::{Options, open};

/// An engine over the services of `sdl`, whose `upstream` is `service`.
pub(crate) fn engine(sdl: &str, service: &Service) -> Engine {
    let clock = Clock::system();
    let changes = Arc::default();
    let cache = cache::CacheSettings { bytes_max: 1 << 26, clock, remote: None, changes };
    let options = Options {
        name: "services",
        cache: Arc::new(Cache::new(cache).unwrap()),
        config: &BTreeMap::new(),
        env: &|_| None,
        env_allowed: None,
        services: &BTreeMap::new(),
        ca: None,
        embedding: None,
    };
    let text = sdl.replace("upstream", &service.address.to_string());
    let source = open(&text, "services.graphql", &options).unwrap();
    let graph = Graph::compose(vec![Arc::new(source)], &[]).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    Engine::new(graph, Settings::STANDARD)
}
