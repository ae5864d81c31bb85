//! Event triggers of a server: the service that captures and delivers, fed by the generation in service.

use super::delivery_spans::DeliverySpans;
use crate::config::{Config, Events};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_events::dispatch::{DispatchSettings, DispatchTools};
use weir_events::service::{EventService, EventSource, Request, RequestError, ServiceSettings, SourceReport};
use weir_webhook::{WebhookClient, WebhookLimits};

/// The service, if some generation needed it.
#[derive(Debug, Default)]
pub(crate) struct EventKeeper {
    service: Mutex<Option<EventService>>,
    reports: Mutex<Vec<SourceReport>>,
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
            match EventService::start(tools()) {
                Ok(started) => *service = Some(started),
                Err(error) => tracing::error!(%error, "event triggers are not served: there is no thread"),
            }
        }
        if let Some(service) = &*service {
            let reports = service.apply(sources.to_vec(), settings(config));
            *self.reports.lock().unwrap_or_else(PoisonError::into_inner) = reports;
        }
    }

    /// The reason why the trigger `name` of the source `source` was not made; `None` if it was.
    pub(crate) fn find_failure(&self, source: &str, name: &str) -> Option<String> {
        let reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        let report = reports.iter().find(|it| it.source == source)?;
        let failed = report.difference.failed.iter().find(|it| it.0 == name);
        failed.map(|it| it.1.clone()).or_else(|| report.error.clone())
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
