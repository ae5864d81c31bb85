//! Fetches the deferred nodes and sends the parts that are complete.

use super::flow::{Flow, arrival, silence_deadline};
use super::ledger::Ledger;
use super::payload::Payload;
use super::world::{ItemChunk, World};
use super::{Progress, root_nodes};
use crate::answer::field_error::SourceError;
use crate::answer::output_plan::PlanNodeId;
use crate::answer::unread::{Aborted, Sender};
use crate::caching::tag_versions::TagVersions;
use crate::engine::bound_operation::BoundOperation;
use crate::engine::increments::late_items::{arrived_items, next_items};
use crate::engine::planner::Planner;
use crate::execute::committed::CommittedFields;
use crate::execute::gather_keys::Gather;
use crate::execute::{BatchContext, ExecutionContext, Observation};
use crate::plan::deferral::Deferral;
use crate::request::engine_settings::Settings;
use crate::source::{FetchResult, RequestCaches, RequestObjects};
use crate::telemetry::span::SpanContext;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::sync::Arc;
use std::time::Instant;

/// Bound on worlds: items of further lists are taken only below it, or if nothing else is running.
const WORLDS_MAX: usize = 8;

/// Everything that an operation needs after its request is gone.
pub(super) struct Job {
    pub(super) planner: Arc<Planner>,
    pub(super) changes: Arc<TagVersions>,
    pub(super) operation: BoundOperation,
    pub(super) deadline: Instant,
    pub(super) request: Option<SpanContext>,
}

/// A deferred node that is ready to be fetched, in a world.
struct Askable {
    world: usize,
    node: PlanNodeId,
    /// Keys; `None` for a node of the root.
    gather: Option<Gather>,
}

/// Fetches one deferred node.
async fn ask(
    run: &ExecutionContext<'_>,
    caches: Option<&RequestCaches>,
    objects: Option<Arc<RequestObjects>>,
    askable: Askable,
) -> (Askable, Result<FetchResult, SourceError>) {
    let batch = BatchContext { caches, objects: objects.as_deref(), ..BatchContext::default() };
    let node = run.plan.node(askable.node);
    let reply = match &askable.gather {
        None => run.ask_root(node, batch).await,
        Some(gather) => run.ask(node, Some(gather.keys()), batch).await,
    };
    (askable, reply)
}

/// The worlds of an answer, by number, and the parts of them that are still to be sent.
struct Delivery<'d> {
    run: &'d ExecutionContext<'d>,
    deferral: &'d Deferral,
    ledger: Ledger,
    /// Each world, with the number of the world that holds the list of its items.
    worlds: Vec<Option<(World, usize)>>,
    flows: Vec<Flow>,
}

impl Delivery<'_> {
    /// Takes the next items out of waiting lists, the newest lists first, so that no list is read far ahead of the lists inside it.
    /// `None`: a list is not where it was written. `is_idle`: no fetch is running, so one list may begin even at the bound of worlds.
    fn begin_items(&mut self, mut is_idle: bool) -> Option<Vec<Askable>> {
        // A list that ended, or went with a null around it, flows no longer.
        self.flows.retain(|flow| self.ledger.queues.iter().any(|it| flow.feeds(it)));
        let mut begun = Vec::new();
        for at in (0..self.ledger.queues.len()).rev() {
            let alive = self.worlds.iter().flatten().count();
            if self.ledger.queues[at].is_taken || (alive >= WORLDS_MAX && !is_idle) {
                continue;
            }
            let queue = &mut self.ledger.queues[at];
            let parent = queue.world as usize;
            let rows = &self.worlds[parent].as_ref()?.0;
            let (mut world, gathers) = match self.flows.iter_mut().find(|it| it.feeds(queue)) {
                None => next_items(self.run, rows, queue)?,
                Some(flow) => match flow.take_items() {
                    Some((node, batch)) => arrived_items(self.run, rows, queue, node, batch)?,
                    None => continue,
                },
            };
            (is_idle, queue.is_taken) = (false, true);
            let free = self.worlds.iter().position(Option::is_none).unwrap_or(self.worlds.len());
            begun.extend(askable(&mut world, free, gathers));
            if free == self.worlds.len() {
                self.worlds.push(None);
            }
            self.worlds[free] = Some((world, parent));
        }
        Some(begun)
    }

    /// Stores the reply of a node. Returns the nodes to fetch next.
    fn store_reply(&mut self, asked: &Askable, reply: Result<FetchResult, SourceError>) -> Vec<Askable> {
        let Some((world, _)) = &mut self.worlds[asked.world] else { return Vec::new() };
        let below = world.store_reply(self.run, asked.node, asked.gather.as_ref(), reply);
        askable(world, asked.world, below)
    }

    /// A part with all fragments and items that the client waits for and that wait for no node, items up to a length.
    fn ready_part(&mut self) -> Option<Vec<u8>> {
        let Self { run, deferral, ledger, worlds, flows } = self;
        let root = worlds.first().and_then(|it| it.as_ref());
        let committed = root.and_then(|it| CommittedFields::of(run.plan, &it.0.results));
        let mut payload = Payload::new(run, deferral, ledger.form(), committed);
        for (at, (world, parent)) in
            worlds.iter_mut().enumerate().filter_map(|(at, it)| Some((at, it.as_mut()?)))
        {
            let at = at as u32;
            let open = world.open(run.plan, deferral);
            let waits =
                world.chunk.as_ref().is_some_and(|it| !it.is_sent() && !open.has_items_in(it.fragment));
            if waits && payload.has_room() {
                payload.items(world, at, *parent as u32, ledger);
            }
            let is_ready =
                |ledger: &Ledger, it: &u8| open.fragments >> it & 1 == 0 && ledger.waits_for(*it, at);
            // A fragment may let those within it begin.
            while let Some(fragment) = (0..deferral.fragments.len() as u8).find(|it| is_ready(ledger, it)) {
                payload.fragment(world, at, ledger, fragment);
            }
        }
        for flow in flows {
            if let Some((stream, error)) = flow.take_end(ledger) {
                payload.end_list(stream, error.as_ref(), ledger);
            }
        }
        payload.into_bytes(!ledger.is_done())
    }

    /// Lets go of the worlds of which all was sent.
    fn end_worlds(&mut self) {
        for at in 1..self.worlds.len() {
            let is_over = self.worlds[at].as_ref().is_some_and(|(world, _)| {
                let is_sent = world.chunk.as_ref().is_none_or(ItemChunk::is_sent);
                is_sent && !world.is_asking() && !self.ledger.uses(at as u32)
            });
            if is_over {
                self.worlds[at] = None;
            }
        }
    }
}

/// Marks the nodes of `gathers` as being fetched for `world`, numbered `at`.
fn askable(world: &mut World, at: usize, gathers: Vec<Gather>) -> Vec<Askable> {
    let asked = gathers.into_iter().map(|gather| {
        world.ask(gather.node);
        Askable { world: at, node: gather.node, gather: Some(gather) }
    });
    asked.collect()
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
            metering: None,
        }
    }

    /// Sends the later parts to `sender`, until the last is sent or the receiver is dropped.
    pub(super) async fn deliver(
        self,
        progress: Progress,
        ledger: Ledger,
        sender: Sender<Result<Vec<u8>, Aborted>>,
    ) {
        let planner = &self.planner;
        let observer = planner.settings.observer.as_ref();
        let headers = &self.operation.headers;
        let observation = Observation::after(observer, &planner.source_numbers, self.request, headers);
        let run = self.context(observation.as_ref());
        let Some(deferral) = run.plan.deferral.as_deref() else { return };
        let Progress { world: mut first, held, caches, flows } = progress;
        let mut next = askable(&mut first, 0, held);
        for node in root_nodes(run.plan).filter(|it| deferral.is_late(it.0 as usize)) {
            first.ask(node);
            next.push(Askable { world: 0, node, gather: None });
        }
        let worlds = vec![Some((first, 0))];
        let mut delivery = Delivery { run: &run, deferral, ledger, worlds, flows };
        let mut flying = FuturesUnordered::new();
        loop {
            let Some(begun) = delivery.begin_items(flying.is_empty() && next.is_empty()) else {
                let _ = sender.send(Err(Aborted)).await;
                return;
            };
            for askable in next.drain(..).chain(begun) {
                let objects = delivery.worlds[askable.world].as_ref().and_then(|it| it.0.objects.clone());
                flying.push(ask(&run, caches.as_ref(), objects, askable));
            }
            if let Some(part) = delivery.ready_part() {
                delivery.end_worlds();
                if sender.send(Ok(part)).await.is_err() || delivery.ledger.is_done() {
                    return;
                }
                continue;
            }
            let flows = delivery.flows.iter().any(Flow::is_awaited);
            if flying.is_empty() && !flows {
                return;
            }
            tokio::select! {
                Some((asked, reply)) = flying.next() => next.extend(delivery.store_reply(&asked, reply)),
                () = arrival(&mut delivery.flows, silence_deadline(self.deadline)), if flows => {}
                () = sender.wait_until_closed() => return,
            }
        }
    }
}
