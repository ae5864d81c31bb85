//! An operation that owns all it is run with, so that it can be run again.
//!
//! **Invariant:** of the client's headers it keeps those that its plan reads, and no others; all where the plan passes them on.

use super::planner::Bound;
use super::{Engine, RunInput, refusal_response};
use crate::answer::field_error::FieldError;
use crate::answer::response::{Response, Timing};
use crate::caller::Caller;
use crate::plan::Plan;
use crate::request::Request;
use crate::request::consistency::Consistency;
use crate::request::protocol::Protocol;
use crate::request::request_headers::{EnrichedHeaders, Headers};
use crate::source::{EventStream, FetchInput};
use crate::telemetry::span::{BAGGAGE, TRACE_STATE};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use weir_language::ast::OperationKind;
use weir_language::value::Variables;

/// A planned operation with its variables, its caller and the headers it reads.
#[derive(Clone)]
pub struct BoundOperation {
    pub(crate) plan: Arc<Plan>,
    pub(crate) variables: Arc<Variables>,
    pub(crate) caller: Caller,
    pub(crate) headers: KeptHeaders,
    pub(crate) protocol: Protocol,
    /// The document, for the locations of errors.
    pub(crate) text: Arc<str>,
}

impl fmt::Debug for BoundOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundOperation").field("kind", &self.plan.kind).finish_non_exhaustive()
    }
}

impl Engine {
    /// Plans `request` and binds its variables, so that it can be run again, or subscribed to.
    ///
    /// # Errors
    /// The response to a request that is refused.
    pub async fn bind(&self, request: Request<'_>, caller: &Caller) -> Result<BoundOperation, Response> {
        let mut timing = Timing::default();
        let planner = &self.planner;
        let ready = planner.plan_and_bind(&request, caller, true, &mut timing).await;
        let Bound { plan, variables, cost } = ready.map_err(|refusal| {
            self.report_refusal(&refusal);
            refusal_response(refusal, &request, timing)
        })?;
        if plan.kind == OperationKind::Subscription {
            self.report_cost(&plan, cost);
        }
        let headers = KeptHeaders::of(&plan, request.headers);
        let variables = Arc::clone(planner.values(variables.as_ref()));
        let caller = caller.clone();
        let protocol = request.protocol;
        let text = request.query.into();
        Ok(BoundOperation { plan, variables, caller, headers, protocol, text })
    }

    /// Runs `operation` once more; its first byte has to be out before `deadline`.
    pub async fn run(&self, operation: &BoundOperation, deadline: Instant) -> Response {
        self.run_with_headers(operation, &operation.headers, deadline).await
    }

    /// Runs like [`Engine::run`], with values of the embedding program for its own resolvers.
    pub async fn run_with_data(
        &self,
        operation: &BoundOperation,
        data: Arc<dyn Any + Send + Sync>,
        deadline: Instant,
    ) -> Response {
        let headers = EnrichedHeaders::with_data(&operation.headers, data);
        self.run_with_headers(operation, &headers, deadline).await
    }

    async fn run_with_headers(
        &self,
        operation: &BoundOperation,
        headers: &dyn Headers,
        deadline: Instant,
    ) -> Response {
        let BoundOperation { plan, variables, caller, protocol, text, .. } = operation;
        let bound = Bound { plan: Arc::clone(plan), variables: Some(Arc::clone(variables)), cost: None };
        let bound = &bound;
        let protocol = *protocol;
        let observation = self.observation(headers);
        let observation = observation.as_ref();
        let shows_cost = false;
        let input = RunInput { bound, caller, headers, protocol, text, deadline, observation, shows_cost };
        self.answer(&input, Instant::now(), &mut Timing::default()).await
    }
}

impl BoundOperation {
    /// True if a run may change data: a mutation, or a query that calls what changes some.
    pub fn may_change_data(&self) -> bool {
        self.plan.may_change_data()
    }

    /// Query, mutation or subscription.
    pub fn kind(&self) -> OperationKind {
        self.plan.kind
    }

    /// Number of the operation, if an observer knows it.
    pub fn number(&self) -> Option<u64> {
        self.plan.number
    }

    /// True if it shows rows batch by batch, in the order of a cursor.
    pub fn is_stream(&self) -> bool {
        self.plan.nodes.iter().any(|it| it.parent.is_none() && it.fetch.is_stream())
    }

    /// Opens the events that run it; `None`: it is no subscription, or its results are read.
    ///
    /// - `data`: values of the embedding program for its own resolvers.
    pub fn events(
        &self,
        data: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Option<Result<EventStream, FieldError>> {
        if self.kind() != OperationKind::Subscription {
            return None;
        }
        let with_data = data.map(|data| EnrichedHeaders::with_data(&self.headers, data));
        let headers: &dyn Headers = match &with_data {
            Some(headers) => headers,
            None => &self.headers,
        };
        let input = FetchInput { headers, ..self.fetch_input() };
        let mut roots = self.plan.nodes.iter().filter(|it| it.parent.is_none());
        roots.find_map(|it| it.fetch.events(input))
    }

    /// The error of a caller whose credential does not hold for a source of the operation.
    pub(crate) fn refusal(&self) -> Option<FieldError> {
        let mut roots = self.plan.nodes.iter().filter(|it| it.parent.is_none());
        roots.find_map(|it| it.fetch.refusal(self.fetch_input()))
    }

    /// Input for methods of its root fetches that only ask for dependencies and run nothing.
    pub(crate) fn fetch_input(&self) -> FetchInput<'_> {
        FetchInput {
            output: &self.plan.output,
            variables: &self.variables,
            caller: &self.caller,
            parent_keys: None,
            headers: &self.headers,
            deadline: Instant::now(),
            hold_back_bytes: 0,
            request_scope: None,
            objects: None,
            changes: None,
            span: None,
            may_join: false,
            stream: None,
            first_items: None,
        }
    }

    /// Two operations of one plan with one key have the same answer at any moment.
    pub(crate) fn key(&self) -> Vec<u8> {
        let nodes = || self.plan.nodes.iter();
        let mut key = Vec::with_capacity(64);
        key.extend_from_slice(&(Arc::as_ptr(&self.plan) as usize).to_le_bytes());
        self.variables.write_key(None, &mut key);
        let mut value = |value: Option<&[u8]>| {
            key.push(u8::from(value.is_some()));
            let value = value.unwrap_or_default();
            key.extend_from_slice(&(value.len() as u32).to_le_bytes());
            key.extend_from_slice(value);
        };
        for line in &*self.headers.lines {
            value(Some(line.name.as_bytes()));
            value(Some(&line.value));
        }
        value(None);
        for name in nodes().flat_map(|it| it.fetch.reads_claims()) {
            value(self.caller.value(name).map(str::as_bytes));
        }
        key
    }
}

/// A header with one of its values.
#[derive(Clone, Debug)]
struct HeaderLine {
    /// In lower case.
    name: Box<str>,
    value: Box<[u8]>,
}

/// Headers that outlive their request.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptHeaders {
    /// By name, then in the order of the client.
    lines: Arc<[HeaderLine]>,
    request_id: Box<str>,
    /// Values of the embedding program.
    data: Option<Arc<dyn Any + Send + Sync>>,
}

impl KeptHeaders {
    /// Keeps the headers that `plan` reads.
    pub(crate) fn of(plan: &Plan, headers: &dyn Headers) -> Self {
        let mut names: Vec<&str> =
            plan.nodes.iter().flat_map(|it| it.fetch.reads_headers()).map(|it| &**it).collect();
        names.sort_unstable();
        names.dedup();
        let mut lines = Vec::new();
        let mut keep = |name: &str, value: &[u8]| {
            lines.push(HeaderLine { name: name.into(), value: value.into() });
        };
        if plan.nodes.iter().any(|it| it.fetch.reads_all_headers()) {
            headers.each_line(&mut |name, value| keep(name, value));
            lines.sort_by(|one, other| one.name.cmp(&other.name));
        } else {
            names.into_iter().for_each(|name| headers.each(name, &mut |value| keep(name, value)));
        }
        Self { lines: lines.into(), request_id: headers.request_id().into(), data: headers.data().cloned() }
    }
}

impl KeptHeaders {
    /// Keeps what belongs to the trace of the request too, for a run that is a part of it.
    pub(crate) fn with_trace(self, headers: &dyn Headers) -> Self {
        if headers.span().is_none() {
            return self;
        }
        let mut lines = self.lines.to_vec();
        let is_new = |name: &&str| self.lines.iter().all(|it| &*it.name != *name);
        for name in [TRACE_STATE, BAGGAGE].into_iter().filter(is_new) {
            headers
                .each(name, &mut |value| lines.push(HeaderLine { name: name.into(), value: value.into() }));
        }
        Self { lines: lines.into(), ..self }
    }
}

impl Headers for KeptHeaders {
    fn each<'h>(&'h self, name: &str, take: &mut dyn FnMut(&'h [u8])) {
        self.lines.iter().filter(|it| &*it.name == name).for_each(|it| take(&it.value));
    }

    fn each_line<'h>(&'h self, take: &mut dyn FnMut(&'h str, &'h [u8])) {
        self.lines.iter().for_each(|it| take(&it.name, &it.value));
    }

    fn request_id(&self) -> &str {
        &self.request_id
    }

    fn data(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.data.as_ref()
    }

    /// Results of one operation may not go back in time, as those of different replicas would.
    fn consistency(&self) -> Consistency {
        Consistency::Strong
    }
}
