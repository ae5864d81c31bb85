//! Spans of deliveries of events, for the collector of traces.

use crate::observer::observer;
use crate::trace::{self, Kind, SpanHead};
use std::sync::Arc;
use weir_engine::observer::Observer;
use weir_engine::span::SpanContext;
use weir_events::delivery::{DeliveryTracer, TracedDelivery};

/// Passes spans to the collector, if there is one. Without it a change's own trace is continued all the same.
#[derive(Debug)]
pub(super) struct DeliverySpans;

impl DeliveryTracer for DeliverySpans {
    fn begin(&self, parent: Option<SpanContext>) -> Option<SpanContext> {
        match parent {
            Some(parent) => Some(trace::child(parent)),
            None => trace::request(|| None).map(|it| it.own),
        }
    }

    fn end(&self, delivery: &TracedDelivery<'_>) {
        let &TracedDelivery { name, span, parent, began, is_success } = delivery;
        if !span.is_sampled {
            return;
        }
        let head = SpanHead {
            context: span,
            parent,
            trace_state: None,
            kind: Kind::Internal,
            began,
            took: began.elapsed(),
        };
        trace::record(&head, |span| {
            span.name(&["event ", name]);
            if !is_success {
                span.fail("not delivered");
            }
        });
    }

    fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(observer()) as Arc<dyn Observer>
    }
}
