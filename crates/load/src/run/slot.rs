//! A place for one request at a time: a connection of its own, or a stream of a shared one.

use crate::plan::{Flow, Operation, Over, Plan, Protocol, RunValues, Share, parse_captured};
use crate::wire::{Answer, Dialer, Http1, Http2, WireError};
use std::rc::Rc;
use std::sync::Arc;

/// Prepares connections to the target of a plan.
pub(super) async fn dialer(plan: &Plan) -> Result<Dialer, String> {
    let protocol: &[u8] = match plan.protocol {
        Protocol::Http1 => b"http/1.1",
        Protocol::Http2 => b"h2",
    };
    Dialer::new(plan.target.clone(), plan.ca.as_deref(), protocol).await
}

pub(super) struct Slot<'p> {
    http1: Http1,
    http2: Option<Rc<Http2>>,
    pub values: RunValues<'p>,
    pub answer: Answer,
    request: Vec<u8>,
}

impl<'p> Slot<'p> {
    pub(super) fn new(plan: &'p Plan, http2: Option<Rc<Http2>>) -> Self {
        let values = RunValues::new(&plan.generators, plan.captures);
        Self { http1: Http1::default(), http2, values, answer: Answer::default(), request: Vec::new() }
    }

    /// Opens the connection early. A failure shows again at the first request, which counts it.
    pub(super) async fn open(&mut self, dialer: &Dialer) {
        match &self.http2 {
            Some(it) => drop(it.open(dialer).await),
            None => drop(self.http1.open(dialer).await),
        }
    }

    /// Draws the values of a run.
    pub(super) fn draw(&mut self, plan: &Plan, flow: &Flow, share: Share, number: u64) {
        plan.generators.draw(&flow.used, share, number, plan.seed, &mut self.values);
    }

    /// Sends the request of an operation and reads its answer. Without one, the answer's status is 0.
    pub(super) async fn exchange(
        &mut self,
        dialer: &Dialer,
        operation: &Operation,
        replayed: &str,
    ) -> Result<(), WireError> {
        debug_assert_eq!(operation.over, Over::Http);
        let exchange = async {
            if let Some(http2) = &self.http2 {
                let request = operation.render(&self.values, replayed);
                return http2.exchange(dialer, request, &mut self.answer).await;
            }
            if let Some(request) = &operation.constant {
                return self.http1.exchange(dialer, request, &mut self.answer).await;
            }
            self.request.clear();
            operation.render(&self.values, replayed).write_http1(&dialer.target, &mut self.request);
            self.http1.exchange(dialer, &self.request, &mut self.answer).await
        };
        let result = match tokio::time::timeout(operation.timeout, exchange).await {
            Ok(result) => result,
            Err(_) => Err(WireError::new("timeout", format!("no answer within {:?}", operation.timeout))),
        };
        if result.is_err() {
            self.http1.close();
            self.answer.status = 0;
            self.answer.bytes = 0;
        }
        result
    }

    /// Checks the answer and captures from it. Returns the label of the check that failed. An answer to a request of a log has the
    /// status that was `logged`, if that is known.
    pub(super) fn judge(&mut self, operation: &Operation, logged: Option<u16>) -> Option<String> {
        let status = self.answer.status;
        let body = self.answer.body.as_slice();
        if let Some(logged) = logged {
            return (status != logged).then(|| format!("status {status}, not {logged} as logged"));
        }
        let failure = operation.checks.failure(status, body, &self.values);
        if failure.is_some() {
            return failure;
        }
        for (slot, path) in &operation.captures {
            match path.find(body) {
                Some(raw) => self.values.capture(*slot, parse_captured(raw)),
                None => return Some(format!("capture {}", path.text())),
            }
        }
        None
    }
}

/// An answer to a request that is sent outside of a measured run.
pub(crate) struct Answered {
    pub operation: String,
    pub status: u16,
    pub body: Vec<u8>,
}

/// Runs every flow of a plan this many times, one request after the other. A flow ends at the first failed check.
/// # Errors
/// A request without an answer.
pub(crate) fn answers(plan: &Arc<Plan>, runs: u32) -> Result<Vec<Answered>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| format!("the runtime: {cause}"))?;
    runtime.block_on(async {
        let dialer = dialer(plan).await?;
        let http2 = (plan.protocol == Protocol::Http2).then(Rc::default);
        let mut slot = Slot::new(plan, http2);
        let mut found = Vec::new();
        for (flow, number) in plan.flows.iter().flat_map(|it| (0..runs).map(move |run| (it, run))) {
            slot.draw(plan, flow, Share::WHOLE, number.into());
            for step in &flow.steps {
                let operation = &plan.operations[*step];
                slot.exchange(&dialer, operation, "/").await.map_err(|it| {
                    format!("`{}` got no answer: {}: {}", operation.name, it.label, it.cause)
                })?;
                let status = slot.answer.status;
                let body = slot.answer.body.clone();
                found.push(Answered { operation: operation.name.clone(), status, body });
                if slot.judge(operation, None).is_some() {
                    break;
                }
            }
        }
        Ok(found)
    })
}
