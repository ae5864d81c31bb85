//! Event triggers of a server: the service that captures and delivers, fed by the generation in service.

use super::Generation;
use super::delivery_spans::DeliverySpans;
use crate::config::{Config, Events};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_events::dispatch::{DispatchSettings, DispatchTools};
use weir_events::service::{
    EventService, EventSource, Request, RequestError, ServiceSettings, SourceReport, UnmadeTriggers, preview,
};
use weir_metadata::Inconsistent;
use weir_webhook::{WebhookClient, WebhookLimits};

/// The service, if some generation needed it.
#[derive(Debug, Default)]
pub(crate) struct EventKeeper {
    service: Mutex<Option<EventService>>,
    unmade: UnmadeTriggers,
}

/// Settings of the service.
pub(crate) fn settings(config: &Config) -> ServiceSettings {
    let delivery = config.event_delivery;
    ServiceSettings {
        slots: delivery.slots.max(1),
        dispatch: DispatchSettings { batch: delivery.batch.max(1), interval: delivery.interval },
        stop_max: delivery.stop_max,
        captures: config.events != Events::Off,
        delivers: config.events != Events::Off && delivery.batch > 0 && !delivery.interval.is_zero(),
        takes_over: config.events == Events::TakeOver,
    }
}

/// The client and the tracer of all sources.
fn tools() -> DispatchTools {
    let client = Arc::new(WebhookClient::new(WebhookLimits::USUAL));
    DispatchTools { client, tracer: Arc::new(DeliverySpans) }
}

/// Event triggers of `generation` that are not in their databases, as inconsistent objects; `find_failure` gives the reason for a source
/// and a trigger. Those of a source that is down, and those that are inconsistent anyway, are left out.
pub(crate) fn list_unmade(
    generation: &Generation,
    find_failure: impl Fn(&str, &str) -> Option<String>,
) -> Vec<Inconsistent> {
    let findings = &generation.findings;
    let find = |source: &str, trigger: &str| {
        if findings.is_down(source) { None } else { find_failure(source, trigger) }
    };
    let unmade = generation.event_entries.iter().filter_map(|it| it.to_object(find));
    let is_known = |it: &Inconsistent| findings.inconsistent.iter().any(|known| known.entry == it.entry);
    unmade.filter(|it| !is_known(it)).collect()
}

/// Event triggers of `generation`, which is not served, that could not be made in their databases. Those are asked, and the thread waits.
pub(crate) fn preview_unmade(generation: &Generation) -> Vec<Inconsistent> {
    let settings = settings(&generation.config);
    let asked = generation.events.iter().filter(|it| !it.triggers.is_empty() && !it.is_down);
    let reports: Vec<SourceReport> = asked.map(|it| preview(it, &settings)).collect();
    list_unmade(generation, |source, name| find_failure(reports.iter().find(|it| it.source == source)?, name))
}

/// The reason why the trigger `name` cannot be made, by `report`.
pub(crate) fn find_failure(report: &SourceReport, name: &str) -> Option<String> {
    let failed = report.difference.failed.iter().find(|it| it.0 == name);
    failed.map(|it| it.1.clone())
}

impl EventKeeper {
    fn lock(&self) -> MutexGuard<'_, Option<EventService>> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Captures and delivers the events of `sources` from now on. Waits until the triggers are made.
    pub(super) fn apply(&self, sources: &[EventSource], config: &Config) {
        let mut service = self.lock();
        if service.is_none() && sources.is_empty() {
            return;
        }
        if service.is_none() {
            match EventService::start(tools(), self.unmade.clone()) {
                Ok(started) => *service = Some(started),
                Err(error) => tracing::error!(%error, "event triggers are not served: there is no thread"),
            }
        }
        if let Some(service) = &*service {
            service.apply(sources.to_vec(), settings(config));
        }
    }

    /// The reason why the trigger `name` of the source `source` is not in its database; `None` if it is.
    pub(crate) fn find_failure(&self, source: &str, name: &str) -> Option<String> {
        self.unmade.find(source, name)
    }

    /// Event triggers of `generation`, which is served, that are not in their databases.
    pub(crate) fn list_unmade(&self, generation: &Generation) -> Vec<Inconsistent> {
        list_unmade(generation, |source, name| self.unmade.describe(source, name))
    }

    /// Event triggers of `generation` that their databases refuse until somebody mends something: no lock, and no silence.
    pub(crate) fn list_lasting(&self, generation: &Generation) -> Vec<Inconsistent> {
        list_unmade(generation, |source, name| self.unmade.find_lasting(source, name))
    }

    /// Asks about the events of `source`.
    pub(crate) fn ask(&self, source: &str, request: Request) -> Result<String, RequestError> {
        // The lock is free while the service works.
        let asker = self.lock().as_ref().map(EventService::asker);
        asker.ok_or(RequestError::NoSource)?.ask(source, request)
    }

    /// Ends delivery.
    pub(super) fn stop(&self, config: &Config) {
        if let Some(service) = self.lock().take() {
            service.stop(config.event_delivery.stop_max);
        }
    }
}
