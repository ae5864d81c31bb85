//! A text of services, served by an engine of its own.

use super::wire_kit::Service;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings};
use weir_http::cache::{self, Cache, Clock};
use weir_http::selection::value::Value;
use weir_http::source::{Options, open};

/// An engine over the services of `sdl`, whose `upstream` is `service`.
pub(crate) fn engine(sdl: &str, service: &Service) -> Engine {
    engine_with(sdl, service, "{}", &[])
}

/// Like [`engine`], with `$config`, a JSON object, and variables of the environment that clients may see.
pub(crate) fn engine_with(sdl: &str, service: &Service, config: &str, shown: &[(&str, &str)]) -> Engine {
    let config = Value::read(config, 9).and_then(|it| it.members()).unwrap();
    let config: BTreeMap<String, Value<'static>> =
        config.into_iter().map(|it| (it.0.into_owned(), it.1)).collect();
    let names: Vec<String> = shown.iter().map(|it| it.0.to_owned()).collect();
    let clock = Clock::system();
    let changes = Arc::default();
    let cache = cache::CacheSettings { bytes_max: 1 << 26, clock, remote: None, changes };
    let options = Options {
        name: "services",
        cache: Arc::new(Cache::new(cache).unwrap()),
        config: &config,
        env: &|name| shown.iter().find(|it| it.0 == name).map(|it| it.1.to_owned()),
        env_allowed: (!names.is_empty()).then_some(&*names),
        services: &BTreeMap::new(),
        ca: None,
        embedding: None,
    };
    let text = sdl.replace("upstream", &service.address.to_string());
    let source = open(&text, "services.graphql", &options).unwrap();
    let graph = Graph::compose(vec![Arc::new(source)], &[]).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    Engine::new(graph, Settings::STANDARD)
}
