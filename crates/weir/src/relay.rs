//! Relay's API: a second engine over the same database, created on demand.
//!
//! Without such a request there is no second schema: it costs neither time nor memory. Connections, pools and the writer of the
//! database are shared with the other form, and a mutation of either makes kept answers of both stale.
//!
//! **Invariant:** an engine is made at most once per generation, whether that succeeds or not.

use crate::config::Config;
use crate::sources;
use crate::sources::services;
use std::sync::{Arc, OnceLock};
use weir_actions::SOURCE_NAME as ACTIONS;
use weir_engine::compose::Graph;
use weir_engine::engine::{Engine, Settings};
use weir_engine::live::{LiveQueries, LiveSettings};
use weir_engine::source::Source;
use weir_language::error::Error;

/// Engine with Relay's API, created by the first request for it.
pub(crate) struct RelayGraph {
    /// The database; `None` if this API is off or has no source.
    source: Option<Arc<dyn Source>>,
    /// Actions, whose mutations this API has.
    actions: Option<Arc<dyn Source>>,
    settings: Settings,
    made: OnceLock<Result<Engine, String>>,
    live_settings: LiveSettings,
    live: OnceLock<LiveQueries>,
}

impl RelayGraph {
    /// Prepares the API for the source of `graph` that `config` names.
    pub(crate) fn new(config: &Config, graph: &Graph, settings: Settings) -> Self {
        let names = config.sources.iter().filter(|it| it.has_tables()).map(|it| it.name.as_str());
        let is_wanted = |name: &str| config.relay.source.as_deref().is_none_or(|it| it == name);
        let name = names.into_iter().find(|it| is_wanted(it)).filter(|_| config.relay.enabled);
        let sources = graph.sources().iter().map(|it| &it.0);
        let find = |name: &str| sources.clone().find(|it| it.name() == name).cloned();
        let source = name.and_then(find);
        let actions = find(ACTIONS);
        let made = OnceLock::new();
        let live = OnceLock::new();
        let live_settings = config.live_settings();
        Self { source, actions, settings, made, live_settings, live }
    }

    /// True if there is no database for this API.
    pub(crate) const fn is_absent(&self) -> bool {
        self.source.is_none()
    }

    /// The engine, if it was created already.
    pub(crate) fn existing_engine(&self) -> Option<Result<&Engine, &str>> {
        self.made.get().map(|it| it.as_ref().map_err(String::as_str))
    }

    /// Subscriptions to the engine, if it was created already.
    pub(crate) fn live(&self) -> Option<&LiveQueries> {
        let engine = self.made.get()?.as_ref().ok()?;
        Some(self.live.get_or_init(|| LiveQueries::of(engine, self.live_settings)))
    }

    /// Returns the engine. The first call creates it, which takes time in proportion to the schema.
    /// # Errors
    /// No database has this API, or its names make the schema invalid.
    pub(crate) fn engine(&self) -> Result<&Engine, &str> {
        self.made.get_or_init(|| self.make()).as_ref().map_err(String::as_str)
    }

    fn make(&self) -> Result<Engine, String> {
        let made = self.source.as_ref().and_then(|it| it.relay());
        let Some(made) = made else { return Err("no database is served in Relay's form".into()) };
        let tell = |errors: Vec<Error>| {
            let lines: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
            format!("Relay's form makes no sound schema: {}", lines.join("; "))
        };
        let actions = self.actions.as_ref().and_then(|it| it.relay());
        let made = std::iter::once(made).chain(actions).map(|it| it.map_err(tell));
        let graph = sources::compose(made.collect::<Result<_, _>>()?, &[], &[], None)?;
        Ok(Engine::new(graph, self.settings.clone()).with_tag_versions(services::changes()))
    }
}
