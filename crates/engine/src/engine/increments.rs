//! Incremental delivery: the first part has everything but the plan's late fragments and items, which follow as their sources
//! answer.
//!
//! The first part is fetched and written like any answer, except that nothing is fetched below the later items of streamed lists. A
//! separate task then fetches the deferred nodes, concurrently where possible, and sends each fragment once it is complete. Later
//! items are copied out of their rows, some at a time, into a `World`, where their child nodes are fetched; complete items are sent
//! before the next ones are taken. The source of a list at the root may read later items in batches meanwhile ([`flow`]). The task
//! ends with the last part, or when the receiver is dropped; running fetches are then cancelled.
//!
//! **Invariant:** a part belongs to an object or list that was sent; a null that propagates removes the parts below it.
//!
//! **Memory:** at most two parts wait for a slow client, of 64 KiB plus one item or fragment; items of eight worlds at a time are
//! copied. Of a list that arrives in batches, one batch is being sent and one waits, beside those in its source's channel.
//!
//! Source: the specification's draft on incremental delivery, section 6.

mod flow;
mod increment_job;
mod late_items;
mod ledger;
mod locate_sets;
mod pass;
mod payload;
mod world;

use super::bound_operation::{BoundOperation, KeptHeaders};
use super::{Engine, RunInput};
use crate::answer::output_plan::PlanNodeId;
use crate::answer::response::{Body, Outcome, Response, Timing};
use crate::answer::unread::channel;
use crate::answer::write::out::Out;
use crate::errors;
use crate::execute::gather_keys::{self, Gather};
use crate::execute::{BatchContext, ExecutionContext, FetchResults, assemble_answer};
use crate::plan::Plan;
use crate::plan::deferral::Deferral;
use crate::request::IncrementForm;
use crate::request::consistency::Positions;
use crate::source::{RequestCaches, RequestObjects};
use crate::telemetry::observer::Stage;
use flow::Flow;
use futures_util::future::join_all;
use increment_job::Job;
use ledger::Ledger;
use pass::Pass;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use weir_language::ast::OperationKind;
use world::World;

/// Parts on their way to a slow client.
const PARTS_MAX: usize = 2;

/// The results so far, and what is still to be asked.
struct Progress {
    world: World,
    /// Keys of late nodes whose parents are there.
    held: Vec<Gather>,
    caches: Option<RequestCaches>,
    flows: Vec<Flow>,
}

impl Engine {
    /// Runs a plan with late fragments: the first part, and the others from a task of its own.
    pub(crate) async fn answer_in_parts(
        &self,
        input: &RunInput<'_>,
        deferral: &Deferral,
        form: IncrementForm,
        started: Instant,
        timing: &mut Timing,
    ) -> Response {
        let RunInput { bound, caller, headers, protocol, text, deadline, observation, .. } = *input;
        let plan = &bound.plan;
        self.report_cost(plan, bound.cost);
        let variables = self.planner.values(bound.variables.as_ref());
        let operation = BoundOperation {
            plan: Arc::clone(plan),
            variables: Arc::clone(variables),
            caller: caller.clone(),
            headers: KeptHeaders::of(plan, headers).with_trace(headers),
            protocol,
            text: text.into(),
        };
        let planner = Arc::clone(&self.planner);
        let changes = Arc::clone(&self.responses.changes);
        let request = observation.and_then(|it| it.request);
        let job = Job { planner, changes, operation, deadline, request };
        let run = ExecutionContext { headers, ..job.context(observation) };
        let world = World::first(FetchResults::none(plan), run.objects().map(Arc::new));
        let mut progress = Progress { world, held: Vec::new(), caches: run.caches(), flows: Vec::new() };
        ask_initial(&run, deferral, &mut progress).await;
        let mut ledger = Ledger::new(form);
        let (bytes, failures) = first_part(&run, deferral, form, &mut progress, &mut ledger);
        timing.execute = started.elapsed();
        if let Some(observation) = observation {
            timing.fetches = observation.fetches.load(Ordering::Relaxed);
            observation.stage(Stage::Execute, started, timing.execute);
        }
        let body = if ledger.is_done() {
            Body::Whole(bytes)
        } else {
            let (sender, mut rest) = channel(PARTS_MAX);
            rest.fed_by(progress.flows.iter().map(Flow::unread_count));
            tokio::spawn(job.deliver(progress, ledger, sender));
            Body::Increments { first: bytes, rest }
        };
        Response {
            outcome: Outcome::Executed,
            capacity: assemble_answer::capacity(&failures),
            lifetime: None,
            body,
            timing: *timing,
            position: headers.positions().and_then(Positions::token),
            operation: plan.number,
        }
    }
}

/// Asks all that the first part waits for.
async fn ask_initial(run: &ExecutionContext<'_>, deferral: &Deferral, progress: &mut Progress) {
    let Progress { world: World { results, objects, .. }, held, caches, flows } = progress;
    let objects: Option<&RequestObjects> = objects.as_deref();
    if run.plan.kind == OperationKind::Mutation {
        return run.ask_in_turn(results, objects, Some(held)).await;
    }
    let roots = root_nodes(run.plan).filter(|it| !deferral.is_late(it.0 as usize));
    let level: Vec<PlanNodeId> = roots.collect();
    let batch = BatchContext { caches: caches.as_ref(), objects, ..BatchContext::default() };
    let replies = level.iter().map(|it| {
        let first_items = deferral.first_items(it.0 as usize, run.variables);
        run.ask_root(run.plan.node(*it), BatchContext { first_items, ..batch })
    });
    for (node, reply) in level.iter().zip(join_all(replies).await) {
        results.put(*node, reply);
    }
    *flows = Flow::of(deferral, std::mem::take(&mut results.later_items));
    gather_keys::ask_below(run, results, level, batch, Some(held)).await;
}

fn root_nodes(plan: &Plan) -> impl Iterator<Item = PlanNodeId> {
    (0..plan.root_nodes).map(PlanNodeId)
}

/// The first part, and what failed in it.
fn first_part(
    run: &ExecutionContext<'_>,
    deferral: &Deferral,
    form: IncrementForm,
    progress: &mut Progress,
    ledger: &mut Ledger,
) -> (Vec<u8>, Vec<errors::Failure>) {
    let output = &run.plan.output;
    let mut pass = Pass::new(run, deferral, form, None).with_flowing(Flow::streams(&progress.flows));
    let mut data = Out::default();
    let results = &mut progress.world.results;
    let (is_whole, failures) = assemble_answer::root_part(run, results, &mut pass, &mut data);
    let announced = ledger.note(deferral, pass.into_notes(), 0);
    let mut out = Out::default();
    out.open(b'{');
    if !failures.is_empty() {
        errors::append(&mut out, run.protocol, run.text, &failures);
    }
    out.raw(b"\"data\":");
    out.raw(if is_whole { data.bytes() } else { b"null" });
    out.comma();
    if !ledger.is_done() {
        if form == IncrementForm::Ids {
            payload::write_pending(&mut out, deferral, output, &announced);
        }
        out.raw(b"\"hasNext\":true");
    }
    out.close(b'}');
    (out.into_bytes(), failures)
}
