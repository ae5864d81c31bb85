//! Asks the nodes that were held back, and sends the parts that are whole.

use super::ledger::Ledger;
use super::payload::Payload;
use super::{Progress, root_nodes};
use crate::bound_operation::BoundOperation;
use crate::engine::{Aborted, Settings};
use crate::execute::gather::{self, Gather};
use crate::execute::{BatchContext, ExecutionContext, FetchResults, FetchState, Observation};
use crate::plan::Plan;
use crate::plan::deferral::Deferral;
use crate::plan::output_plan::PlanNodeId;
use crate::planner::Planner;
use crate::source::{FetchResult, SourceError};
use crate::span::SpanContext;
use crate::tag_versions::TagVersions;
use crate::unread::Sender;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::sync::Arc;
use std::time::Instant;

/// All that an operation is run with after its request is gone.
pub(super) struct Job {
    pub(super) planner: Arc<Planner>,
    pub(super) changes: Arc<TagVersions>,
    pub(super) operation: BoundOperation,
    pub(super) deadline: Instant,
    pub(super) request: Option<SpanContext>,
}

/// A late node that can be asked.
enum Askable {
    Root(PlanNodeId),
    Below(Gather),
}

impl Askable {
    const fn node(&self) -> PlanNodeId {
        match self {
            Self::Root(node) => *node,
            Self::Below(gather) => gather.node,
        }
    }
}

/// Asks one late node.
async fn ask(
    run: &ExecutionContext<'_>,
    batch: BatchContext<'_>,
    askable: Askable,
) -> (Askable, Result<FetchResult, SourceError>) {
    let reply = match &askable {
        Askable::Root(node) => run.ask_root(run.plan.node(*node), batch).await,
        Askable::Below(gather) => run.ask(run.plan.node(gather.node), Some(gather.keys()), batch).await,
    };
    (askable, reply)
}

impl Job {
    /// The operation, to be run with `observation`. Nothing is streamed: parts are whole.
    pub(super) fn context<'r>(&'r self, observation: Option<&'r Observation<'r>>) -> ExecutionContext<'r> {
        let Settings { conditions_max, .. } = self.planner.settings;
        ExecutionContext {
            graph: &self.planner.graph,
            plan: &self.operation.plan,
            variables: &self.operation.variables,
            changes: &self.changes,
            caller: &self.operation.caller,
            headers: &self.operation.headers,
            protocol: self.operation.protocol,
            text: &self.operation.text,
            deadline: self.deadline,
            hold_back_bytes: usize::MAX,
            conditions_max,
            observation,
            may_join: false,
            stream: None,
        }
    }

    /// Sends the later parts to `sender`, until the last is sent or nobody takes them.
    pub(super) async fn deliver(
        self,
        progress: Progress,
        mut ledger: Ledger,
        sender: Sender<Result<Vec<u8>, Aborted>>,
    ) {
        let planner = &self.planner;
        let observer = planner.settings.observer.as_deref();
        let observation = Observation::of(observer, &planner.source_numbers, self.request);
        let run = self.context(observation.as_ref());
        let Some(deferral) = run.plan.deferral.as_deref() else { return };
        let Progress { mut results, held, caches, objects } = progress;
        let batch = BatchContext { caches: caches.as_ref(), level: None, objects: objects.as_ref() };
        let mut asked = vec![false; run.plan.nodes.len()];
        let roots = root_nodes(run.plan).filter(|it| deferral.is_late(it.0 as usize)).map(Askable::Root);
        let mut flying = FuturesUnordered::new();
        for askable in roots.chain(held.into_iter().map(Askable::Below)) {
            asked[askable.node().0 as usize] = true;
            flying.push(ask(&run, batch, askable));
        }
        loop {
            if let Some(part) = ready_part(&run, deferral, &mut results, &mut ledger, &asked)
                && sender.send(Ok(part)).await.is_err()
            {
                return;
            }
            if ledger.is_done() {
                return;
            }
            let (askable, reply) = tokio::select! {
                next = flying.next() => match next {
                    Some(next) => next,
                    None => return,
                },
                () = sender.gone() => return,
            };
            let node = askable.node();
            asked[node.0 as usize] = false;
            let answered = match &askable {
                Askable::Root(_) => {
                    results.put(node, reply);
                    Some(node)
                }
                Askable::Below(gather) => gather::take_in(&run, &mut results, gather, reply),
            };
            for gather in answered.into_iter().flat_map(|it| gather::of_level(&run, &mut results, &[it])) {
                asked[gather.node.0 as usize] = true;
                flying.push(ask(&run, batch, Askable::Below(gather)));
            }
        }
    }
}

/// A part with all fragments that the client waits for and that wait for no node.
fn ready_part(
    run: &ExecutionContext<'_>,
    deferral: &Deferral,
    results: &mut FetchResults,
    ledger: &mut Ledger,
    asked: &[bool],
) -> Option<Vec<u8>> {
    let open = open(run.plan, deferral, results, asked);
    let mut payload = Payload::new(run, deferral);
    let is_ready = |ledger: &Ledger, it: &u8| open >> it & 1 == 0 && ledger.waits_for(*it);
    // A fragment may let those within it begin.
    while let Some(fragment) = (0..deferral.fragments.len() as u8).find(|it| is_ready(ledger, it)) {
        payload.fragment(results, ledger, fragment);
    }
    payload.into_bytes(!ledger.is_done())
}

/// The fragments that wait for a node: one that is being asked, or that stands below such a one.
fn open(plan: &Plan, deferral: &Deferral, results: &FetchResults, asked: &[bool]) -> u64 {
    let (mut nodes, mut fragments) = (vec![false; plan.nodes.len()], 0);
    for (at, node) in plan.nodes.iter().enumerate().filter(|it| deferral.is_late(it.0)) {
        let is_unasked = matches!(results.asked[at], FetchState::Waiting);
        let parent = node.parent.as_ref().filter(|_| is_unasked);
        nodes[at] = asked[at] || parent.is_some_and(|it| nodes[it.node.0 as usize]);
        if nodes[at] {
            fragments |= deferral.waiting[at];
        }
    }
    fragments
}
