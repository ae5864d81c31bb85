//! Measures answers, for the observer and for clients that may know the cost.

use super::answer_meter::AnswerMeter;
use crate::answer::response::Body;
use crate::plan::Plan;
use crate::request::demand::OperationCost;
use crate::request::demand::weights::Weights;
use crate::telemetry::observer::Observer;
use std::sync::Arc;
use weir_language::value::Variables;

/// Everything that is needed to measure an answer.
#[derive(Clone, Copy)]
pub(crate) struct Metering<'m> {
    pub(crate) weights: &'m Weights,
    pub(crate) cost: OperationCost,
    pub(crate) observer: Option<&'m Arc<dyn Observer>>,
    /// True to tell the client.
    pub(crate) shows_cost: bool,
}

impl Metering<'_> {
    /// Measures an answer that is complete. One that is streamed is measured while it is sent.
    pub(crate) fn measure(&self, plan: &Arc<Plan>, variables: &Variables, body: Body) -> Body {
        let bytes: &[u8] = match &body {
            Body::Whole(bytes) => bytes,
            Body::Shared(bytes) => bytes,
            Body::Stream { .. } | Body::Increments { .. } => return body,
        };
        let Some(mut meter) = AnswerMeter::new(plan, self.weights, variables) else { return body };
        meter.read(bytes);
        let cost = meter.finish(self.cost);
        if let Some(observer) = self.observer {
            observer.cost(plan.number, &cost);
        }
        if !self.shows_cost {
            return body;
        }
        let mut shown = match body {
            Body::Whole(bytes) => bytes,
            Body::Shared(bytes) => bytes.to_vec(),
            Body::Stream { .. } | Body::Increments { .. } => return body,
        };
        show(&mut shown, cost);
        Body::Whole(shown)
    }

    /// A meter for an answer that is streamed.
    pub(crate) fn of_stream(&self, plan: &Arc<Plan>, variables: &Variables) -> Option<StreamMeter> {
        let meter = AnswerMeter::new(plan, self.weights, variables)?;
        let Self { cost, shows_cost, .. } = *self;
        Some(StreamMeter { meter, cost, observer: self.observer.cloned(), number: plan.number, shows_cost })
    }
}

/// Measures an answer while it is sent.
pub(crate) struct StreamMeter {
    meter: AnswerMeter,
    cost: OperationCost,
    observer: Option<Arc<dyn Observer>>,
    number: Option<u64>,
    shows_cost: bool,
}

impl StreamMeter {
    /// Reads bytes that are sent.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        self.meter.read(bytes);
    }

    /// Reads `last`, the last bytes of the answer, reports the cost, and tells it the client if that may know it.
    pub(crate) fn finish(mut self, last: &mut Vec<u8>) {
        self.meter.read(last);
        let cost = self.meter.finish(self.cost);
        if let Some(observer) = &self.observer {
            observer.cost(self.number, &cost);
        }
        if self.shows_cost {
            show(last, cost);
        }
    }
}

/// Adds `extensions.cost` to an answer that ends with its brace.
fn show(answer: &mut Vec<u8>, cost: OperationCost) {
    if answer.pop_if(|it| *it == b'}').is_some() {
        answer.extend_from_slice(format!(",\"extensions\":{{{}}}}}", cost.member()).as_bytes());
    }
}
