//! Subscribers: connections that stay open, and the time from a mutation to each push of it.

use super::generator::GeneratorState;
use crate::plan::{Mark, Over, RunValues, parse_captured};
use crate::text::write_value;
use crate::wire::{Subscription, sse, websocket};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Instant;
use tokio::task::JoinSet;

/// Mutations whose pushes are awaited.
const MARKS_MAX: usize = 100_000;

/// Mutations by the value that their pushes hold.
#[derive(Default)]
pub(super) struct Marks {
    /// The start of the mutation, and subscribers that have not seen it.
    sent: HashMap<String, (Instant, u32)>,
    order: VecDeque<String>,
    subscribers: u32,
    unseen: u64,
}

impl Marks {
    /// A mutation begins.
    pub(super) fn record_sent(&mut self, mark: String) {
        if self.subscribers == 0 {
            return;
        }
        if self.order.len() == MARKS_MAX
            && let Some((_, left)) = self.order.pop_front().and_then(|it| self.sent.remove(&it))
        {
            self.unseen -= u64::from(left);
        }
        if let Some((_, left)) = self.sent.insert(mark.clone(), (Instant::now(), self.subscribers)) {
            self.unseen -= u64::from(left);
        } else {
            self.order.push_back(mark);
        }
        self.unseen += u64::from(self.subscribers);
    }

    /// The start of the mutation whose push was received.
    fn record_push(&mut self, mark: &str) -> Option<Instant> {
        let (start, left) = self.sent.get_mut(mark)?;
        if *left > 0 {
            *left -= 1;
            self.unseen -= 1;
        }
        Some(*start)
    }

    /// True if every subscriber has seen every mutation.
    pub(super) fn all_seen(&self) -> bool {
        self.unseen == 0
    }
}

/// Opens all subscriptions of the plan and waits until they are open or have failed.
pub(super) async fn subscribe(shared: &Rc<GeneratorState>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let (opened, mut openings) = tokio::sync::mpsc::channel::<bool>(64);
    let mut count = 0;
    for (at, operation) in shared.plan.operations.iter().enumerate() {
        if operation.over == Over::Http {
            continue;
        }
        for _ in 0..shared.share().part(operation.clients) {
            count += 1;
            let shared = Rc::clone(shared);
            let opened = opened.clone();
            tasks.spawn_local(async move { subscriber(&shared, at, opened).await });
        }
    }
    for _ in 0..count {
        let is_open = openings.recv().await == Some(true);
        shared.marks.borrow_mut().subscribers += u32::from(is_open);
    }
    tasks
}

async fn subscriber(shared: &GeneratorState, at: usize, opened: tokio::sync::mpsc::Sender<bool>) {
    let plan = &shared.plan;
    let operation = &plan.operations[at];
    let mut values = RunValues::new(&plan.generators, plan.captures);
    let number = shared.next_number();
    plan.generators.draw(&operation.used, shared.share(), number, plan.seed, &mut values);
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
