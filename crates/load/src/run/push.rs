//! Subscribers: connections that stay open, and the time from a mutation to each push of it.

use super::state::GeneratorState;
use crate::notation::expression_text::write_value;
use crate::plan::{Mark, Over, RunValues, parse_captured};
use crate::wire::{Subscription, sse, websocket};
use std::rc::Rc;
use std::time::Instant;
use tokio::task::JoinSet;

/// Opens all subscriptions of the plan and waits until they are open or have failed.
pub(super) async fn subscribe(shared: &Rc<GeneratorState>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let (opened, mut openings) = tokio::sync::mpsc::channel::<bool>(64);
    let mut count = 0;
    for (at, operation) in shared.plan.operations.iter().enumerate() {
        if operation.over == Over::Http {
            continue;
        }
        for _ in 0..shared.share.part(operation.clients) {
            count += 1;
            let shared = Rc::clone(shared);
            let opened = opened.clone();
            tasks.spawn_local(async move { subscriber(&shared, at, opened).await });
        }
    }
    for _ in 0..count {
        let is_open = openings.recv().await == Some(true);
        shared.marks.borrow_mut().add_subscribers(u32::from(is_open));
    }
    tasks
}

async fn subscriber(shared: &GeneratorState, at: usize, opened: tokio::sync::mpsc::Sender<bool>) {
    let plan = &shared.plan;
    let operation = &plan.operations[at];
    let mut values = RunValues::new(&plan.generators, plan.captures);
    let number = shared.next_number();
    plan.generators.draw(&operation.used, shared.share, number, plan.seed, &mut values);
    let request = operation.render(&values, "");
    let begun = Instant::now();
    let opening = async {
        match operation.over {
            Over::Websocket => websocket(&shared.dialer, request).await,
            Over::Sse | Over::Http => sse(&shared.dialer, request).await,
        }
    };
    let result = tokio::time::timeout(operation.timeout, opening).await;
    {
        let mut recorder = shared.recorder.borrow_mut();
        let tally = &mut recorder.operations[at];
        tally.push.get_or_insert_default();
        tally.scheduled += 1;
        tally.sent += 1;
        tally.latency.record(begun.elapsed());
        tally.service.record(begun.elapsed());
        match &result {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tally.fail(error.label, 0, error.cause.as_bytes()),
            Err(_) => tally.fail("timeout", 0, b"the subscription was not acknowledged in time"),
        }
    }
    let subscription = result.ok().and_then(Result::ok);
    // The receiver waits for each of them.
    let _ = opened.send(subscription.is_some()).await;
    if let Some(subscription) = subscription {
        receive(shared, at, subscription).await;
    }
}

/// Counts pushes until the subscription ends.
async fn receive(shared: &GeneratorState, at: usize, mut subscription: Subscription) {
    let operation = &shared.plan.operations[at];
    let values = RunValues::new(&shared.plan.generators, shared.plan.captures);
    loop {
        let push = match subscription.next().await {
            Ok(Some(push)) => push,
            Ok(None) => return,
            Err(error) => {
                shared.recorder.borrow_mut().operations[at].fail(error.label, 0, error.cause.as_bytes());
                return;
            }
        };
        let received = Instant::now();
        let start = match &operation.mark {
            Some(Mark::Pushed(path)) => path.find(&push).and_then(|raw| {
                let mut text = String::new();
                write_value(&parse_captured(raw), &mut text);
                shared.marks.borrow_mut().record_push(&text)
            }),
            Some(Mark::Sent(_)) | None => None,
        };
        let failure = operation.checks.failure(200, &push, &values);
        let mut recorder = shared.recorder.borrow_mut();
        let tally = &mut recorder.operations[at];
        tally.completed += 1;
        tally.bytes += push.len() as u64;
        if let Some(label) = failure {
            tally.fail(&label, 200, &push);
        }
        if let Some(start) = start.filter(|it| shared.measured_time(*it).is_some()) {
            tally.push.get_or_insert_default().record(received.saturating_duration_since(start));
        }
    }
}
